-- lake.stat_commits: what this session's commits have met, and who may see it
\getenv work LAKE_WORK
\set here :work '/stat'
\set map 'file:///srv/lake=' :here
\! cp -r "$LAKE_DIR" "$LAKE_WORK/stat" && chmod -R a+rwX "$LAKE_WORK/stat"
CREATE SERVER stat_server FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'here', path_map :'map');
SET client_min_messages = error;
SELECT count(*) FROM unnest(ARRAY['orders', 'ünlü', 'other']) name,
  lake.register_table('stat_server', 'stat.' || name, 'file:///srv/lake/shop/orders/metadata/v5.metadata.json');
RESET client_min_messages;
CREATE SCHEMA stat;
IMPORT FOREIGN SCHEMA stat FROM SERVER stat_server INTO stat;
SET search_path = stat, public;
CREATE VIEW counted AS SELECT scope, ident, commits, rebases, conflicts, cas_losses,
  lock_wait_ms_total > 0 AS waited, lock_wait_ms_max > 0 AND lock_wait_ms_max <= lock_wait_ms_total AS max,
  retry_ms > 0 AS retried, bytes_rewritten FROM lake.stat_commits ORDER BY ident;
\d lake.stat_commits

\echo == what is committed counts, when it is
SELECT * FROM counted;
BEGIN;
INSERT INTO orders (id) VALUES (1);
SELECT * FROM counted;
COMMIT;
SELECT * FROM counted;
BEGIN;
INSERT INTO orders (id) VALUES (2);
INSERT INTO other (id) VALUES (2);
SAVEPOINT s;
DELETE FROM orders;
ROLLBACK TO s;
INSERT INTO orders (id) VALUES (3);
COMMIT;
SELECT ident, commits, rebases FROM counted;
-- no change, no commit
BEGIN;
INSERT INTO orders (id) VALUES (4);
ROLLBACK;
BEGIN;
INSERT INTO orders (id) VALUES (-5);
DELETE FROM orders WHERE id = -5;
COMMIT;
DELETE FROM orders WHERE id = -5;
BEGIN;
SELECT count(*) FROM (SELECT FROM "ünlü" FOR UPDATE) t;
COMMIT;
SELECT ident, commits, rebases, conflicts FROM counted;
-- the transaction fails before the lake's part of it begins
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO orders (id) VALUES (6);
INSERT INTO child VALUES (1);
COMMIT;
SELECT ident, commits FROM counted;
-- a procedure's transactions are each their own
DO $$
BEGIN
  FOR i IN 1..3 LOOP
    INSERT INTO orders (id) VALUES (7);
    COMMIT;
  END LOOP;
END $$;
SELECT ident, commits FROM counted;

\echo == others, played by hand: rebases and conflicts
CREATE FUNCTION move_to(version text, name text) RETURNS void LANGUAGE sql AS $$
  UPDATE lake.iceberg_tables SET metadata_location = 'file:///srv/lake/shop/orders/metadata/' || version || '.metadata.json'
  WHERE table_namespace = 'stat' AND table_name = name
$$;
SELECT move_to('v4', 'orders');
BEGIN;
INSERT INTO orders (id) VALUES (8);
SELECT move_to('v5', 'orders');
COMMIT;
SELECT ident, commits, rebases, conflicts, cas_losses, bytes_rewritten FROM counted;
SELECT move_to('v4', 'orders');
\set VERBOSITY sqlstate
BEGIN;
UPDATE orders SET id = id WHERE id < 3;
SELECT move_to('v5', 'orders');
COMMIT;
BEGIN;
SELECT count(*) FROM (SELECT FROM orders FOR SHARE) t;
SELECT move_to('v3', 'orders');
COMMIT;
BEGIN;
DELETE FROM orders WHERE id = 5;
SELECT move_to('v3', 'orders');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO orders (id) VALUES (9);
SELECT move_to('v5', 'orders');
COMMIT;
\set VERBOSITY default
SELECT ident, commits, rebases, conflicts, cas_losses, bytes_rewritten FROM counted;

\echo == a lock of the table is waited for, and counts as a wait
BEGIN;
SELECT lake.lock_table('"ünlü"');
COMMIT;
SELECT ident, commits, waited, max FROM counted;

\echo == who sees what
CREATE ROLE stat_user;
GRANT USAGE ON SCHEMA stat TO stat_user;
CREATE VIEW seen AS SELECT ident FROM lake.stat_commits ORDER BY 1;
GRANT SELECT ON seen TO stat_user;
SET ROLE stat_user;
SELECT ident FROM lake.stat_commits ORDER BY 1;
RESET ROLE;
GRANT SELECT (id) ON orders TO stat_user;
GRANT TRUNCATE ON "ünlü" TO stat_user;
SET ROLE stat_user;
SELECT ident FROM lake.stat_commits ORDER BY 1;
-- whoever may call the function, not the view's owner
SELECT * FROM seen;
RESET ROLE;
-- a mapping of its own shows nothing to whoever may not map
GRANT CREATE ON SCHEMA stat TO stat_user;
GRANT USAGE ON FOREIGN SERVER stat_server TO stat_user;
SET ROLE stat_user;
CREATE FOREIGN TABLE mine (id bigint) SERVER stat_server OPTIONS (namespace 'stat', "table" 'other');
SELECT ident FROM lake.stat_commits ORDER BY 1;
RESET ROLE;
ALTER SERVER stat_server OPTIONS (ADD mapping 'usage');
SET ROLE stat_user;
SELECT ident FROM lake.stat_commits ORDER BY 1;
RESET ROLE;
DROP FOREIGN TABLE mine;
REVOKE ALL ON orders, "ünlü" FROM stat_user;
REVOKE SELECT (id) ON orders FROM stat_user;
GRANT pg_read_all_stats TO stat_user;
SET ROLE stat_user;
SELECT ident FROM lake.stat_commits ORDER BY 1;
RESET ROLE;
-- counters outlive the foreign tables
SET client_min_messages = error;
DROP SERVER stat_server CASCADE;
SELECT ident, commits FROM counted;
DROP OWNED BY stat_user;
DROP ROLE stat_user;
DROP SCHEMA stat CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'stat';
DELETE FROM lake.iceberg_namespace_properties WHERE namespace = 'stat';
