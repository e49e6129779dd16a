-- lake.pins(): which versions a session reads
\getenv lake LAKE_DIR
\set map 'file:///srv/lake=' :lake
CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'lake', path_map :'map');
SELECT count(*) FROM lake.register_table('hosted', 'shop.orders',
  'file:///srv/lake/shop/orders/metadata/v2.metadata.json');
CREATE FOREIGN TABLE orders () SERVER hosted OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE same () SERVER hosted OPTIONS (namespace 'shop', "table" 'orders');
SELECT * FROM lake.pins();
\echo == a statement, by one name and by two, and with a version by name
SELECT p.relation, p.catalog, p.ident, p.ref, p.snapshot_id, p.metadata_location,
  p.pinned_at <= clock_timestamp() AS past, p.scope, p.staged_ops, o, s
FROM lake.pins() p, (SELECT count(id) FROM orders) o, (SELECT count(id) FROM same) s;
SELECT p.relation, p.ref, p.snapshot_id, o FROM lake.pins() p,
  (SELECT count(id) FROM lake.at(NULL::orders, ref => 'main')) o ORDER BY p.ref;
SELECT p.ident, p.snapshot_id, e FROM lake.pins() p, (SELECT count(id) FROM cases.empty) e;
SELECT p.catalog, p.ident, p.scope, e FROM lake.pins() p, (SELECT count(id) FROM cases.refs) e;
\echo == nothing is left of it, but a cursor keeps its own
SELECT count(*) FROM lake.pins();
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM orders ORDER BY id;
UPDATE lake.iceberg_tables SET metadata_location = replace(metadata_location, 'v2', 'v5');
SELECT p.relation, p.snapshot_id, p.scope FROM lake.pins() p;
SELECT p.relation, p.snapshot_id, o FROM lake.pins() p, (SELECT count(id) FROM orders) o ORDER BY p.pinned_at;
CLOSE c;
SELECT count(*) FROM lake.pins();
ROLLBACK;
\echo == a transaction, also across savepoints
BEGIN ISOLATION LEVEL REPEATABLE READ;
SAVEPOINT s;
SELECT count(id) FROM orders;
ROLLBACK TO s;
SELECT relation, snapshot_id, scope FROM lake.pins();
SELECT count(id) FROM cases.refs;
SELECT relation, scope FROM lake.pins() ORDER BY relation::text;
COMMIT;
SELECT count(*) FROM lake.pins();
\echo == rows of tables that one may not read are hidden
CREATE ROLE regress_pins;
GRANT SELECT ON orders TO regress_pins;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(id) FROM cases.refs;
SET LOCAL ROLE regress_pins;
SELECT count(id) FROM orders;
SELECT relation FROM lake.pins();
COMMIT;
DROP OWNED BY regress_pins;
DROP ROLE regress_pins;
\echo == many statements of a transaction do not pile up
CREATE FUNCTION pins_memory(tables text, times int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before bigint := (SELECT sum(used_bytes) FROM pg_backend_memory_contexts);
BEGIN
  FOR i IN 1 .. times LOOP
    EXECUTE format('SELECT count(id) FROM %s WHERE id = %s', tables, i);
  END LOOP;
  RETURN (SELECT sum(used_bytes) FROM pg_backend_memory_contexts) - before;
END $$;
SELECT pins_memory('cases.refs', 50) IS NOT NULL AS warm, pins_memory('orders', 50) IS NOT NULL AS warm;
SELECT pins_memory('cases.refs', 1000) < 100000 AS file_bounded,
  pins_memory('orders', 1000) < 100000 AS hosted_bounded;
DROP FUNCTION pins_memory;
DROP SERVER hosted CASCADE;
TRUNCATE lake.iceberg_tables, lake.iceberg_namespace_properties;
