-- what core leaves to us for foreign tables: constraints, triggers, partitions
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set here :work '/constraints'
\set map 'file:///srv/lake=' :here
SET datestyle = ISO;
\! cp -r "$LAKE_DIR" "$LAKE_WORK/constraints" && chmod -R a+rwX "$LAKE_WORK/constraints"
CREATE SERVER constraint_server FOREIGN DATA WRAPPER lakefdw
  OPTIONS (warehouse :'here', path_map :'map');
CREATE SCHEMA con;
SET search_path = con, public;
SELECT current_snapshot_id > 0 FROM lake.register_table('constraint_server', 'con.orders',
  'file:///srv/lake/shop/orders/metadata/v5.metadata.json');
IMPORT FOREIGN SCHEMA con FROM SERVER constraint_server INTO con;
\echo == NOT NULL, CHECK, defaults, generated columns
CREATE FOREIGN TABLE checked (id bigint, customer_id int CHECK (customer_id > 0), status text DEFAULT 'dflt' NOT NULL,
  amount numeric(12,2) GENERATED ALWAYS AS (customer_id * 2) STORED)
  SERVER constraint_server OPTIONS (namespace 'con', "table" 'orders');
BEGIN;
INSERT INTO checked(id, customer_id) VALUES (1, 5) RETURNING *;
UPDATE checked SET customer_id = 6 WHERE id = 1 AND status = 'dflt' RETURNING *;
SELECT * FROM orders WHERE status = 'dflt';
SAVEPOINT s;
INSERT INTO checked(id, customer_id) VALUES (1, -5);
ROLLBACK TO s;
INSERT INTO checked(id, customer_id, status) VALUES (1, 5, NULL);
ROLLBACK TO s;
UPDATE checked SET customer_id = -1 WHERE id = 1001;
ROLLBACK TO s;
COPY checked(id, customer_id) FROM stdin;
2	3
3	0
\.
ROLLBACK TO s;
INSERT INTO checked(id, amount) VALUES (1, 5);
ROLLBACK;
\echo == views
CREATE VIEW few AS SELECT * FROM checked WHERE customer_id < 100 WITH CHECK OPTION;
BEGIN;
INSERT INTO few(id, customer_id) VALUES (1, 50) ON CONFLICT DO NOTHING;
UPDATE few SET customer_id = 51 WHERE status = 'dflt' RETURNING id, customer_id, amount;
DELETE FROM few WHERE status = 'dflt' RETURNING id, customer_id, amount;
SAVEPOINT s;
INSERT INTO few(id, customer_id) VALUES (1, 500);
ROLLBACK TO s;
UPDATE few SET customer_id = 500 WHERE id = 1001;
ROLLBACK;
\echo == row triggers
CREATE TABLE log(line int GENERATED ALWAYS AS IDENTITY, t text);
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'AFTER' THEN
    INSERT INTO log(t) VALUES (concat_ws(' ', TG_OP, to_jsonb(OLD) - 'ordered_at', to_jsonb(NEW) - 'ordered_at',
      (SELECT count(*) FROM orders), (SELECT count(*) FROM orders WHERE status = 'by trigger')));
  ELSIF TG_OP = 'UPDATE' THEN
    NEW.status := 'by trigger';
  ELSIF TG_OP = 'INSERT' THEN
    NEW.customer_id := 77;
  ELSIF OLD.id = 1002 THEN
    RETURN NULL;
  ELSE
    RETURN OLD;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION watch();
CREATE TRIGGER a AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION watch();
BEGIN;
UPDATE orders SET amount = 5 WHERE id IN (1001, 1003) RETURNING id, customer_id, status, amount;
DELETE FROM orders WHERE id IN (1001, 1002) RETURNING id, status;
INSERT INTO orders VALUES (9001) RETURNING *;
SELECT t FROM log ORDER BY line;
SELECT * FROM orders WHERE id IN (1001, 1002, 1003, 9001) ORDER BY id;
ROLLBACK;
-- a trigger that changes the row that is about to be changed: as on the heap
CREATE OR REPLACE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'BEFORE' AND TG_OP = 'UPDATE' AND pg_trigger_depth() = 1 THEN
    UPDATE orders SET status = 'inner' WHERE id = OLD.id;
  END IF;
  RETURN NEW;
END $$;
UPDATE orders SET amount = 5 WHERE id = 1001 RETURNING id, status, amount;
CREATE OR REPLACE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'BEFORE' AND pg_trigger_depth() = 1 THEN
    DELETE FROM orders WHERE id = OLD.id;
    RETURN OLD;
  END IF;
  RETURN OLD;
END $$;
DELETE FROM orders WHERE id = 1001;
CREATE OR REPLACE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN coalesce(NEW, OLD); END';
BEGIN;
UPDATE orders SET amount = g FROM generate_series(1, 3) g WHERE id = 1001 RETURNING id, amount > 0 AS positive;
WITH gone AS (DELETE FROM orders WHERE id = 1002 RETURNING 1), moved AS (UPDATE orders SET id = 0 WHERE id = 1002 RETURNING 1)
SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM moved) AS once;
ROLLBACK;
DROP TRIGGER a ON orders;
DROP TRIGGER b ON orders;
-- a column that only a reader can show
CREATE FOREIGN TABLE placed (id bigint, status text, _pos bigint)
  SERVER constraint_server OPTIONS (namespace 'con', "table" 'orders');
CREATE FUNCTION misplace() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW._pos := 7; RETURN NEW; END';
CREATE TRIGGER m BEFORE UPDATE ON placed FOR EACH ROW EXECUTE FUNCTION misplace();
UPDATE placed SET status = 'x' WHERE id = 1001;
\echo == partitions
CREATE TABLE parted (LIKE orders) PARTITION BY RANGE (id);
CREATE TABLE parted_heap PARTITION OF parted FOR VALUES FROM (0) TO (5);
CREATE FOREIGN TABLE parted_lake PARTITION OF parted FOR VALUES FROM (5) TO (1000000)
  SERVER constraint_server OPTIONS (namespace 'con', "table" 'orders');
BEGIN;
INSERT INTO parted SELECT g, g, 'new' FROM generate_series(3, 6) g;
SELECT tableoid::regclass, id FROM parted WHERE status = 'new' ORDER BY id;
UPDATE parted SET id = id + 1 WHERE id IN (4, 5) AND status = 'new';
SELECT tableoid::regclass, id FROM parted WHERE status = 'new' ORDER BY 1, 2;
SAVEPOINT s;
UPDATE parted SET id = id - 3 WHERE id = 6 AND status = 'new';
ROLLBACK TO s;
UPDATE parted SET status = 'newer', customer_id = 0 WHERE status = 'new';
WITH gone AS (DELETE FROM parted WHERE status = 'newer' RETURNING tableoid::regclass, id, customer_id)
SELECT * FROM gone ORDER BY 1, 2;
COPY parted FROM stdin;
1	1	copied	1.5	\N
7	2	copied	2.5	2026-01-01
\.
COPY parted_lake(id, status) FROM stdin;
8	copied
\.
SELECT tableoid::regclass, * FROM parted WHERE status = 'copied' ORDER BY id;
SAVEPOINT s;
COPY parted_lake(id, status) FROM stdin;
2	copied
\.
ROLLBACK TO s;
INSERT INTO parted_lake(id) VALUES (2);
ROLLBACK TO s;
TRUNCATE parted;
SELECT count(*) FROM parted;
ROLLBACK;
DELETE FROM parted WHERE ctid = '(0,1)';
-- two lake tables and a heap below one parent
CREATE TABLE parent (id bigint, status text);
CREATE TABLE heir () INHERITS (parent);
CREATE FOREIGN TABLE lake_heir () INHERITS (parent)
  SERVER constraint_server OPTIONS (namespace 'con', "table" 'orders');
INSERT INTO parent VALUES (1001, 'parent');
INSERT INTO heir VALUES (1001, 'heir');
BEGIN;
UPDATE parent SET status = status || '!' WHERE id = 1001 RETURNING tableoid::regclass, *;
DELETE FROM parent WHERE id = 1001 RETURNING tableoid::regclass, *;
ROLLBACK;
