-- what a transaction sees of its own changes: by which selector, in which columns, and what it does not
\getenv work LAKE_WORK
\set here :work '/own'
\set map 'file:///srv/lake=' :here
\! cp -r "$LAKE_DIR" "$LAKE_WORK/own" && chmod -R a+rwX "$LAKE_WORK/own"
CREATE SERVER own_server FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'here', path_map :'map');
SET client_min_messages = error;
SELECT total_records_count FROM lake.register_table('own_server', 'own.refs',
  'file:///srv/lake/cases/refs/metadata/v6.metadata.json');
RESET client_min_messages;
CREATE SCHEMA own;
SET search_path = own, public;
CREATE FOREIGN TABLE refs () SERVER own_server OPTIONS (namespace 'own', "table" 'refs');
SELECT name, type, snapshot_id FROM lake.refs('refs') ORDER BY name;
SELECT * FROM refs ORDER BY id;

\echo == a branch is read as this transaction has changed it, whatever names it; versions are as they were committed
CREATE FOREIGN TABLE by_option () SERVER own_server OPTIONS (namespace 'own', "table" 'refs', ref 'main');
CREATE FUNCTION at_main() RETURNS SETOF refs LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM lake.at(NULL::refs, ref => 'main');
END $$;
CREATE VIEW seen AS SELECT * FROM
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS refs FROM refs) a,
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS main FROM lake.at(NULL::refs, ref => 'main')) b,
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS option FROM by_option) c,
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS snapshot FROM lake.at(NULL::refs, snapshot => 908650096998316601)) d,
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS time FROM lake.at(NULL::refs, as_of => now())) e,
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS audit FROM lake.at(NULL::refs, ref => 'audit')) f,
  (SELECT string_agg(id || t, ' ' ORDER BY id) AS tag FROM lake.at(NULL::refs, ref => 'v1')) g;
PREPARE by_ref(text) AS SELECT count(*), min(id), max(id) FROM lake.at(NULL::refs, ref => $1);
SELECT * FROM seen;
BEGIN;
INSERT INTO refs VALUES (10, 'own');
UPDATE refs SET t = 'changed' WHERE id = 1;
SELECT * FROM seen;
SAVEPOINT s;
DELETE FROM refs WHERE id = 3;
SELECT * FROM seen;
EXECUTE by_ref('main');
EXECUTE by_ref('audit');
SELECT count(*) FROM at_main();
SELECT count(*) FROM (SELECT lake.at(NULL::refs, ref => 'main')) called;
SELECT count(*) FROM lake.at(NULL::refs, ref => 'main') WHERE id = 10;
ROLLBACK TO s;
SELECT * FROM seen;
-- not what the command itself does
INSERT INTO refs SELECT id + 100, t FROM lake.at(NULL::refs, ref => 'main');
SELECT main FROM seen;
DELETE FROM refs WHERE id IN (SELECT id FROM lake.at(NULL::refs, ref => 'main') WHERE id > 100);
SELECT main FROM seen;
DECLARE c CURSOR FOR SELECT id, t FROM lake.at(NULL::refs, ref => 'main') ORDER BY id;
DELETE FROM refs;
INSERT INTO refs VALUES (4, 'new');
SELECT * FROM seen;
FETCH ALL FROM c;
ROLLBACK;
SELECT * FROM seen;
-- the version that the transaction has fixed, and not a newer one
BEGIN;
DELETE FROM refs WHERE id = 1;
UPDATE lake.iceberg_tables SET metadata_location = 'file:///srv/lake/cases/refs/metadata/v2.metadata.json'
  WHERE table_namespace = 'own';
SELECT refs, main, option FROM seen;
ROLLBACK;
-- a time is that of what was committed
BEGIN;
INSERT INTO refs VALUES (10, 'own');
SET LOCAL lakefdw.as_of = '2099-01-01';
SELECT refs, main, option FROM seen;
ROLLBACK;

\echo == writing to what an option names
BEGIN;
INSERT INTO by_option VALUES (20, 'option');
UPDATE by_option SET t = 'changed' WHERE id = 3;
SELECT refs, main, option FROM seen;
SELECT relation, ref, scope, staged_ops FROM lake.pins();
COMMIT;
SELECT refs, main, option, snapshot FROM seen;
SET lakefdw.as_of = '2099-01-01';
DELETE FROM by_option WHERE id = 20;
DELETE FROM refs WHERE id = 1;
RESET lakefdw.as_of;
CREATE FOREIGN TABLE audit () SERVER own_server OPTIONS (namespace 'own', "table" 'refs', ref 'audit');
CREATE FOREIGN TABLE tag () SERVER own_server OPTIONS (namespace 'own', "table" 'refs', ref 'v1');
INSERT INTO audit VALUES (1, 'no');
SELECT id FROM audit FOR UPDATE;
DELETE FROM tag;
SELECT refs, main, option FROM seen;

\echo == functions that show metadata, and ANALYZE, see what is committed
BEGIN;
INSERT INTO refs SELECT g, 'many' FROM generate_series(1000, 1999) g;
DELETE FROM refs WHERE id = 3;
SELECT count(*), (SELECT count(*) FROM lake.files('refs')) AS files, (SELECT count(*) FROM lake.snapshots('refs')) AS snapshots FROM refs;
ANALYZE refs;
SELECT reltuples FROM pg_class WHERE oid = 'refs'::regclass;
SELECT count(*), min(id), max(id) FROM refs;
SELECT count(*) FROM refs WHERE t = 'many';
TRUNCATE refs;
ANALYZE refs;
SELECT reltuples FROM pg_class WHERE oid = 'refs'::regclass;
SELECT count(*) FROM refs;
INSERT INTO refs VALUES (1, 'after');
SELECT * FROM refs;
ROLLBACK;

\echo == columns that are not data: rows in memory have no file, and are numbered
CREATE FOREIGN TABLE numbered (id bigint, t text, _file text, _pos bigint, _spec_id int, _row_id bigint,
  _last_updated_sequence_number bigint) SERVER own_server OPTIONS (namespace 'own', "table" 'refs');
CREATE VIEW places AS SELECT id, t, _file IS NOT NULL AS file, _pos, _spec_id, _row_id, _last_updated_sequence_number AS sequence
  FROM numbered ORDER BY id;
SELECT * FROM places;
BEGIN;
INSERT INTO refs VALUES (30, 'a'), (31, 'b'), (32, 'c');
UPDATE refs SET t = 'moved' WHERE id = 1;
SELECT * FROM places;
-- commands that find rows by what an earlier one was shown
SELECT _file, _pos FROM numbered WHERE id = 3 \gset
DELETE FROM numbered WHERE _file = :'_file' AND _pos = :_pos;
UPDATE numbered SET t = 'again' WHERE _file IS NULL AND _pos = 1;
SELECT * FROM places;
DELETE FROM numbered WHERE _pos = 4 AND _file IS NULL;
UPDATE numbered SET t = 'last' WHERE _file IS NULL RETURNING id, t, _file, _pos;
SELECT * FROM places;
SELECT count(*) FROM numbered WHERE _spec_id IS NULL AND _row_id IS NULL AND _pos >= 0;
-- rows that have left memory before the commit are in a file that nobody else sees
SET LOCAL lakefdw.write_memory = '1MB';
INSERT INTO refs SELECT g, repeat(md5(g::text), 20) FROM generate_series(100, 3999) g;
SELECT count(*), count(DISTINCT _file) > 0 AS file, min(_pos), min(_spec_id) FROM numbered WHERE id BETWEEN 100 AND 3999;
SELECT _file, _pos FROM numbered WHERE id = 102 \gset
DELETE FROM numbered WHERE _file = :'_file' AND _pos = :_pos;
UPDATE numbered SET t = 'from file' WHERE _file = :'_file' AND _pos = :_pos + 1;
SELECT id, t FROM numbered WHERE id BETWEEN 100 AND 3999 AND (id < 102 OR t = 'from file') AND length(t) < 10 OR id = 102;
DELETE FROM refs WHERE id BETWEEN 100 AND 3999;
SELECT * FROM places;
COMMIT;
SELECT id, t, file, _spec_id FROM places;
-- version 3: rows that were updated keep their ids
CREATE FOREIGN TABLE v3 (id bigint NOT NULL, t text) SERVER own_server
  OPTIONS (namespace 'own', "table" 'v3', create_if_missing 'true', format_version '3');
CREATE FOREIGN TABLE numbered3 (id bigint, t text, _file text, _pos bigint, _spec_id int, _row_id bigint,
  _last_updated_sequence_number bigint) SERVER own_server OPTIONS (namespace 'own', "table" 'v3');
INSERT INTO v3 VALUES (1, 'a'), (2, 'b'), (3, 'c');
BEGIN;
INSERT INTO v3 VALUES (4, 'd');
UPDATE v3 SET t = 'x' WHERE id = 2;
UPDATE v3 SET t = t || 'y' WHERE id IN (2, 4);
DELETE FROM v3 WHERE id = 1;
SELECT id, t, _file IS NOT NULL AS file, _pos, _spec_id, _row_id, _last_updated_sequence_number AS sequence FROM numbered3 ORDER BY id;
COMMIT;
SELECT id, t, _file IS NOT NULL AS file, _spec_id, _row_id, _last_updated_sequence_number AS sequence FROM numbered3 ORDER BY id;
SET client_min_messages = error;
DROP SERVER own_server CASCADE;
DROP SCHEMA own CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'own';
DELETE FROM lake.iceberg_namespace_properties WHERE namespace = 'own';
