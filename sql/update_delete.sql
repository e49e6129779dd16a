-- UPDATE, DELETE and TRUNCATE: what changes, what stays, who sees it when
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set here :work '/update'
\set map 'file:///srv/lake=' :here
SET datestyle = ISO;
\! cp -r "$LAKE_DIR" "$LAKE_WORK/update" && chmod -R a+rwX "$LAKE_WORK/update"
CREATE SERVER update_server FOREIGN DATA WRAPPER lakefdw
  OPTIONS (warehouse :'here', path_map :'map');
CREATE SCHEMA upd;
SET search_path = upd, public;
-- registers the newest metadata of a table of the sample lake
CREATE FUNCTION adopt(ident text, name_space text, name text) RETURNS void LANGUAGE sql AS $$
  SELECT lake.register_table('update_server', ident,
    (SELECT 'file:///srv/lake' || regexp_replace(metadata_location, '.*/lake/', '/')
     FROM lake.tables('lake', name_space) WHERE table_name = name))
$$;
SELECT adopt('upd.orders', 'shop', 'orders'), adopt('upd.events', 'shop', 'events'),
  adopt('upd.odd', 'py', 'odd'), adopt('upd.types', 'py', 'types'),
  adopt('upd.eq', 'cases', 'eq_deletes'), adopt('upd.day', 'transforms', 'day_ts');
IMPORT FOREIGN SCHEMA upd FROM SERVER update_server INTO upd;
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  state text;
  message text;
BEGIN
  EXECUTE statement;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
  RETURN concat_ws(' ', state, message);
END $$;
CREATE FUNCTION last_snapshot(rel regclass) RETURNS text LANGUAGE sql AS $$
  SELECT concat_ws(' ', operation,
    'data +' || coalesce(summary->>'added-data-files', '0') || ' -' || coalesce(summary->>'deleted-data-files', '0'),
    'deletes +' || coalesce(summary->>'added-position-deletes', '0'),
    'rows +' || coalesce(summary->>'added-records', '0') || ' -' || coalesce(summary->>'deleted-records', '0'))
  FROM lake.snapshots(rel) ORDER BY committed_at DESC, snapshot_id LIMIT 1
$$;
CREATE TABLE copied AS SELECT * FROM orders;
CREATE VIEW difference AS SELECT count(*) FROM
  ((SELECT * FROM orders EXCEPT ALL SELECT * FROM copied) UNION ALL
   (SELECT * FROM copied EXCEPT ALL SELECT * FROM orders)) d;
\echo == one statement, one snapshot
UPDATE orders SET amount = amount + 1, status = 'more' WHERE id BETWEEN 1001 AND 1003 RETURNING id, status, amount;
SELECT last_snapshot('orders');
UPDATE copied SET amount = amount + 1, status = 'more' WHERE id BETWEEN 1001 AND 1003;
DELETE FROM orders WHERE id IN (1004, 1005) RETURNING *;
SELECT last_snapshot('orders');
DELETE FROM copied WHERE id IN (1004, 1005);
SELECT * FROM difference;
UPDATE orders SET amount = 0 WHERE id = -1;
DELETE FROM orders WHERE id = -1;
SELECT last_snapshot('orders');
\echo == joins, sub-selects, the same row twice
BEGIN;
UPDATE orders o SET customer_id = -g FROM generate_series(1, 3) g WHERE o.id = 1010 RETURNING o.id, o.customer_id = -g AS same;
DELETE FROM orders USING generate_series(1, 3) g WHERE id = 1011 RETURNING id;
UPDATE orders SET status = 'best' WHERE amount = (SELECT max(amount) FROM orders) RETURNING id;
DELETE FROM orders o USING copied c WHERE c.id = o.id AND c.id BETWEEN 1020 AND 1022 RETURNING o.id, c.status;
WITH gone AS (DELETE FROM orders WHERE id = 1030 RETURNING *), moved AS (UPDATE orders SET id = 0 WHERE id = 1030 RETURNING *)
SELECT (SELECT count(*) FROM gone) AS gone, (SELECT count(*) FROM moved) AS moved;
WITH gone AS (DELETE FROM orders WHERE id = 1031 RETURNING *) INSERT INTO orders SELECT id + 80000, customer_id FROM gone;
SELECT id, customer_id FROM orders WHERE id > 80000 OR id = 1031;
ROLLBACK;
SELECT * FROM difference;
\echo == own changes, savepoints, cursors
BEGIN;
DECLARE before CURSOR FOR SELECT id, status FROM orders WHERE id > 1005 ORDER BY id;
UPDATE orders SET status = 'first' WHERE id > 1005;
UPDATE copied SET status = 'first' WHERE id > 1005;
DECLARE between CURSOR FOR SELECT id, status FROM orders WHERE id > 1005 ORDER BY id;
SAVEPOINT s;
UPDATE orders SET status = 'second', id = id + 1000000 WHERE id > 1005;
DELETE FROM orders WHERE id % 2 = 0;
SELECT count(*), min(status), max(status) FROM orders WHERE id > 1005;
FETCH 1 FROM before;
FETCH 1 FROM between;
ROLLBACK TO s;
SELECT * FROM difference;
FETCH 1 FROM before;
FETCH 1 FROM between;
INSERT INTO orders SELECT id + 5000, customer_id, status FROM orders WHERE id > 1090;
INSERT INTO copied SELECT id + 5000, customer_id, status FROM copied WHERE id > 1090;
UPDATE orders SET amount = 7 WHERE id > 6000;
UPDATE copied SET amount = 7 WHERE id > 6000;
DELETE FROM orders WHERE id > 6095;
DELETE FROM copied WHERE id > 6095;
SELECT * FROM difference;
DO $$
BEGIN
  FOR i IN 1..6 LOOP
    BEGIN
      UPDATE orders SET amount = amount + i WHERE id % 7 = i;
      IF i % 2 = 0 THEN
        RAISE division_by_zero;
      END IF;
      UPDATE copied SET amount = amount + i WHERE id % 7 = i;
    EXCEPTION WHEN division_by_zero THEN
      NULL;
    END;
  END LOOP;
END $$;
SELECT * FROM difference;
COMMIT;
SELECT * FROM difference;
SELECT last_snapshot('orders');
-- all of it undone in the transaction that did it: no snapshot
BEGIN;
INSERT INTO orders VALUES (90000);
DELETE FROM orders WHERE id = 90000;
COMMIT;
SELECT count(*) FROM lake.snapshots('orders');
\echo == columns that are not assigned keep what they are
CREATE FOREIGN TABLE part_of_types (id int, i int, s text) SERVER update_server OPTIONS (namespace 'upd', "table" 'types');
CREATE TABLE types_before AS SELECT * FROM types;
UPDATE part_of_types SET i = 4711 WHERE id < 3;
SELECT count(*) FROM types a JOIN types_before b USING (id)
WHERE (a.b, a.l, a.f, a.d, a.n9, a.n18, a.n38, a.da, a.ti, a.ts, a.tz, a.s, a.u, a.fx, a.bi)
  IS NOT DISTINCT FROM (b.b, b.l, b.f, b.d, b.n9, b.n18, b.n38, b.da, b.ti, b.ts, b.tz, b.s, b.u, b.fx, b.bi);
SELECT id, i FROM types ORDER BY id;
-- values that no type of PostgreSQL's can hold
CREATE FOREIGN TABLE part_of_odd (id int) SERVER update_server OPTIONS (namespace 'upd', "table" 'odd');
CREATE TABLE odd_before AS SELECT id, c, refusal(format('SELECT %s FROM odd WHERE id = %s', c, id)) AS fault
FROM part_of_odd, unnest(ARRAY['s', 'da', 'ts', 'ti', 'n', 'l']) c;
SELECT * FROM odd_before WHERE fault <> 'none' ORDER BY id, c;
-- a decimal beyond its own type's digits is not written again
UPDATE part_of_odd SET id = id + 100 WHERE id = 10;
DELETE FROM part_of_odd WHERE id IN (10, 11);
UPDATE part_of_odd SET id = id + 100;
SELECT count(*), count(*) FILTER (WHERE fault IS DISTINCT FROM refusal(format('SELECT %s FROM odd WHERE id = %s', c, id + 100))) AS differ
FROM odd_before WHERE id NOT IN (10, 11);
\echo == deletion vectors, row ids, equality deletes, partitions
CREATE FOREIGN TABLE numbered (id bigint, kind text, _row_id bigint, _last_updated_sequence_number bigint)
  SERVER update_server OPTIONS (namespace 'upd', "table" 'events');
CREATE TABLE numbered_before AS SELECT * FROM numbered;
UPDATE events SET kind = 'changed' WHERE id < 5;
DELETE FROM events WHERE id = 5;
SELECT last_snapshot('events');
SELECT n.id, n.kind, n._row_id = b._row_id AS same_row_id,
  n._last_updated_sequence_number > b._last_updated_sequence_number AS later
FROM numbered n JOIN numbered_before b USING (id) WHERE id < 7 ORDER BY id;
SELECT * FROM eq ORDER BY 1, 2;
UPDATE eq SET id = id + 100;
SELECT * FROM eq ORDER BY 1, 2;
SELECT id, ts FROM day ORDER BY id;
UPDATE day SET ts = ts + interval '400 days' WHERE id IN (1, 2);
SELECT id, ts FROM day ORDER BY id;
SELECT count(*) FROM day WHERE ts > '2018-12-01';
\echo == everything goes
SELECT last_snapshot('day');
DELETE FROM day;
SELECT last_snapshot('day'), (SELECT count(*) FROM day);
BEGIN;
INSERT INTO orders VALUES (91000);
TRUNCATE orders;
SELECT count(*) FROM orders;
INSERT INTO orders SELECT * FROM copied WHERE id < 10;
SELECT count(*) FROM orders;
SAVEPOINT s;
TRUNCATE orders;
ROLLBACK TO s;
SELECT count(*) FROM orders;
COMMIT;
SELECT last_snapshot('orders'), (SELECT count(*) FROM orders) = (SELECT count(*) FROM copied WHERE id < 10);
BEGIN;
TRUNCATE orders RESTART IDENTITY CASCADE;
ROLLBACK;
SELECT count(*) > 0 FROM orders;
\echo == refused
SELECT refusal($$DELETE FROM orders WHERE ctid = '(0,1)'$$);
SELECT refusal($$UPDATE orders SET amount = 1 RETURNING ctid$$);
SELECT refusal($$DELETE FROM orders RETURNING xmin$$);
SELECT refusal($$UPDATE orders o SET amount = 1 FROM copied c WHERE o.ctid = c.ctid$$);
SELECT refusal($$UPDATE copied c SET amount = 1 FROM orders o WHERE o.ctid = c.ctid$$);
SELECT refusal($$UPDATE numbered SET _row_id = 1$$);
SELECT refusal($$UPDATE orders SET id = NULL$$);
SELECT refusal($$SELECT * FROM orders FOR UPDATE$$);
SELECT refusal($$DELETE FROM shop.orders$$);
SELECT refusal($$TRUNCATE shop.orders$$);
SET lakefdw.as_of = '2026-12-30';
SELECT refusal($$UPDATE orders SET id = 1$$);
SELECT refusal($$DELETE FROM orders$$);
SELECT refusal($$TRUNCATE orders$$);
RESET lakefdw.as_of;
BEGIN READ ONLY;
DELETE FROM orders;
ROLLBACK;
BEGIN READ ONLY;
TRUNCATE orders;
ROLLBACK;
\echo == columns that change meanwhile
SELECT count(*) FROM lake.register_table('update_server', 'upd.evolving', 'file:///srv/lake/cases/schema_evolution/metadata/v2.metadata.json');
CREATE FOREIGN TABLE evolving (a bigint) SERVER update_server OPTIONS (namespace 'upd', "table" 'evolving');
CREATE FUNCTION move_on() RETURNS void LANGUAGE sql AS $$
  UPDATE lake.iceberg_tables SET metadata_location = replace(metadata_location, 'v2', 'v10') WHERE table_name = 'evolving'
$$;
BEGIN;
INSERT INTO evolving VALUES (77);
SELECT move_on();
SELECT refusal('SELECT * FROM evolving');
SELECT refusal('DELETE FROM evolving');
ROLLBACK;
-- rows that were written by the former columns are read by the new ones
BEGIN;
INSERT INTO evolving VALUES (77);
SELECT move_on();
COMMIT;
CREATE FOREIGN TABLE evolved () SERVER update_server OPTIONS (namespace 'upd', "table" 'evolving');
SELECT * FROM evolved ORDER BY a;
UPDATE evolved SET a = a + 1;
SELECT * FROM evolved ORDER BY a;
