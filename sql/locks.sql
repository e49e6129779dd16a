-- FOR UPDATE and SHARE, lake.lock_table, lake.lock_tables, lakefdw.write_lock: one session's view
\getenv work LAKE_WORK
\set here :work '/locks'
\set map 'file:///srv/lake=' :here
\! cp -r "$LAKE_DIR" "$LAKE_WORK/locks" && chmod -R a+rwX "$LAKE_WORK/locks"
CREATE SERVER lock_server FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'here', path_map :'map');
SET client_min_messages = error;
SELECT total_records_count FROM lake.register_table('lock_server', 'lk.orders',
  'file:///srv/lake/shop/orders/metadata/v5.metadata.json');
RESET client_min_messages;
CREATE SCHEMA lk;
IMPORT FOREIGN SCHEMA lk FROM SERVER lock_server INTO lk;
SET search_path = lk, public;
-- advisory locks of our own class that this session has
CREATE VIEW held AS SELECT count(*) AS locks FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 3 AND pid = pg_backend_pid();

\echo == FOR UPDATE and SHARE: rows as they are, no lock, the table is pinned
BEGIN;
SELECT id FROM orders ORDER BY id LIMIT 2 FOR UPDATE;
SELECT id FROM orders ORDER BY id LIMIT 1 FOR SHARE NOWAIT;
SELECT locks FROM held;
SELECT relation, ident, scope, staged_ops FROM lake.pins();
INSERT INTO orders(id) VALUES (-1);
INSERT INTO orders(id) VALUES (-2);
SELECT relation, ident, scope, staged_ops FROM lake.pins();
ROLLBACK;
SELECT relation, ident, scope, staged_ops FROM lake.pins();
SELECT id FROM orders ORDER BY id LIMIT 1 FOR KEY SHARE;
SELECT id FROM orders FOR UPDATE SKIP LOCKED;
SET lakefdw.as_of = '2099-01-01';
SELECT id FROM orders FOR UPDATE;
RESET lakefdw.as_of;

\echo == a transaction that only locked rows commits nothing, one that lost commits not at all
SELECT count(*) AS snapshots FROM lake.snapshots('orders') \gset
BEGIN;
SELECT id FROM orders ORDER BY id LIMIT 1 FOR UPDATE;
COMMIT;
SELECT count(*) - :snapshots AS new_snapshots FROM lake.snapshots('orders');
-- another engine, played by hand: the pointer goes back
BEGIN;
SELECT id FROM orders ORDER BY id LIMIT 1 FOR SHARE;
UPDATE lake.iceberg_tables SET metadata_location = 'file:///srv/lake/shop/orders/metadata/v4.metadata.json'
  WHERE table_namespace = 'lk';
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
SELECT count(*) FROM lake.iceberg_tables WHERE table_namespace = 'lk' AND metadata_location LIKE '%v5.metadata.json';

\echo == locks of tables
BEGIN;
SELECT lake.lock_table('orders');
SELECT lake.lock_table('orders', nowait => true);
SELECT locks FROM held;
ROLLBACK;
SELECT locks FROM held;
BEGIN;
SELECT lake.lock_tables(ARRAY['orders', 'lk.orders']::regclass[]);
SELECT locks FROM held;
ROLLBACK;
SELECT lake.lock_tables(ARRAY[NULL]::regclass[]);
SELECT lake.lock_table('pg_class');
SELECT lake.lock_table(NULL) IS NULL AS nothing;
BEGIN READ ONLY;
SELECT lake.lock_table('orders');
ROLLBACK;

\echo == lakefdw.write_lock
SET lakefdw.write_lock = on;
BEGIN;
SELECT count(*) > 0 AS read FROM orders;
SELECT locks FROM held;
DELETE FROM orders WHERE id = -1;
SELECT locks FROM held;
ROLLBACK;
BEGIN;
SELECT id FROM orders ORDER BY id LIMIT 1 FOR UPDATE;
SELECT locks FROM held;
ROLLBACK;
RESET lakefdw.write_lock;

\echo == rights
CREATE ROLE lock_reader;
GRANT USAGE ON SCHEMA lk TO lock_reader;
GRANT SELECT ON orders TO lock_reader;
SET ROLE lock_reader;
SELECT lake.lock_table('lk.orders');
SELECT id FROM lk.orders LIMIT 1 FOR UPDATE;
RESET ROLE;
GRANT INSERT ON orders TO lock_reader;
SET ROLE lock_reader;
SELECT lake.lock_table('lk.orders');
RESET ROLE;

\echo == tables of no hosted catalog
CREATE FOREIGN TABLE static () SERVER lock_server
  OPTIONS (metadata_location 'file:///srv/lake/shop/orders/metadata/v5.metadata.json');
SELECT lake.lock_table('static');
SELECT id FROM static ORDER BY id LIMIT 1 FOR UPDATE;

RESET search_path;
DROP SERVER lock_server CASCADE;
DROP OWNED BY lock_reader;
DROP ROLE lock_reader;
DROP VIEW lk.held;
DROP SCHEMA lk CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'lk';
