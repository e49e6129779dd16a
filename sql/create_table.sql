-- CREATE FOREIGN TABLE that makes the lake table
\getenv work LAKE_WORK
\! mkdir -m 777 "$LAKE_WORK/made"
\set here :work '/made'
CREATE SERVER made_server FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'here');
CREATE SCHEMA made;
SET search_path = made, public;
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
-- the newest metadata file of a table of the catalog
CREATE FUNCTION metadata(name text) RETURNS jsonb LANGUAGE sql AS
  $$SELECT pg_read_file(metadata_location)::jsonb FROM lake.iceberg_tables WHERE table_namespace = 'a.b' AND table_name = name$$;

\echo == a table with all types, partitioned and sorted
CREATE FOREIGN TABLE kinds (
  b boolean, i2 smallint, i4 integer NOT NULL, i8 bigint, f4 real, f8 double precision, n numeric(12,2), d date, t time,
  ts timestamp, tz timestamptz, s text COLLATE "C", v varchar(10), u uuid, x bytea, l integer[],
  other_name text OPTIONS (column_name 'Lake Name'), CHECK (i4 > 0))
  SERVER made_server OPTIONS (namespace 'a.b', "table" 'kinds', create_if_missing 'true',
    partition_by 'day(tz), bucket(4, i8), truncate(3, s), "Lake Name"', sort_by 'i4 DESC NULLS LAST, d',
    properties '{"write.delete.mode": "merge-on-read", "comment": "made here"}');
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'kinds'::regclass;
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'kinds'::regclass AND attnum IN (1, 16, 17) ORDER BY attnum;
SELECT field_id, path, type, required FROM lake.schemas('kinds') ORDER BY field_id;
SELECT * FROM lake.properties('kinds') ORDER BY key;
SELECT metadata('kinds') -> 'partition-specs' AS specs;
SELECT metadata('kinds') -> 'sort-orders' AS orders, metadata('kinds') ->> 'format-version' AS version,
  replace(metadata('kinds') ->> 'location', :'here', '') AS location;
SELECT property_key FROM lake.iceberg_namespace_properties WHERE namespace = 'a.b';
INSERT INTO kinds (i4, i8, s, tz, l, other_name) SELECT g, g, 'text' || g, '2026-01-01'::timestamptz + g * interval '8 h', ARRAY[g, NULL], 'x'
  FROM generate_series(1, 10) g;
SELECT count(*), sum(i8), count(DISTINCT partition) AS partitions FROM kinds, LATERAL (SELECT 1) z,
  LATERAL (SELECT partition FROM lake.files('kinds')) f;
SELECT i4, l FROM kinds WHERE tz >= '2026-01-02' AND i8 = 5;
DELETE FROM kinds WHERE i4 = 5;
SELECT content, sum(record_count) FROM lake.files('kinds') GROUP BY content ORDER BY content;
INSERT INTO kinds (i4) VALUES (-1);

\echo == it is there already: mapped, whatever is asked of it
CREATE FOREIGN TABLE again (i4 integer, s text) SERVER made_server
  OPTIONS (namespace 'a.b', "table" 'kinds', create_if_missing 'true', format_version '1');
SELECT count(*), max(s) FROM again;
CREATE FOREIGN TABLE columns_of () SERVER made_server OPTIONS (namespace 'a.b', "table" 'kinds', create_if_missing 'true');
SELECT count(*) AS columns FROM pg_attribute WHERE attrelid = 'columns_of'::regclass AND attnum > 0;

\echo == versions 1 and 3
CREATE FOREIGN TABLE v1 (a int) SERVER made_server OPTIONS (namespace 'a.b', "table" 'v1', create_if_missing 'true', format_version '1');
CREATE FOREIGN TABLE v3 (a int) SERVER made_server OPTIONS (namespace 'a.b', "table" 'v3', create_if_missing 'true', format_version '3',
  properties '{"write.update.mode": "merge-on-read"}');
INSERT INTO v1 VALUES (1), (2);
INSERT INTO v3 VALUES (1), (2);
UPDATE v1 SET a = 3 WHERE a = 1;
UPDATE v3 SET a = 3 WHERE a = 1;
SELECT array_agg(a ORDER BY a) FROM v1;
SELECT array_agg(a ORDER BY a) FROM v3;
SELECT metadata('v3') ->> 'next-row-id' AS next_row_id;

\echo == with the transaction: rolled back, in a savepoint, used at once, dropped and made again
\set files 'SELECT count(*) FROM pg_ls_dir(current_setting(''my.here'') || ''/a/b/temp/metadata'')'
SET my.here = :'here';
BEGIN;
CREATE FOREIGN TABLE temp (a int) SERVER made_server OPTIONS (namespace 'a.b', "table" 'temp', create_if_missing 'true');
INSERT INTO temp VALUES (1);
SAVEPOINT s;
CREATE FOREIGN TABLE inner_one (a int) SERVER made_server OPTIONS (namespace 'a.b', "table" 'inner_one', create_if_missing 'true');
INSERT INTO inner_one VALUES (1);
ROLLBACK TO s;
SELECT count(*) FROM lake.iceberg_tables WHERE table_name IN ('temp', 'inner_one');
SELECT * FROM temp;
ROLLBACK;
:files;
SELECT count(*) FROM lake.iceberg_tables WHERE table_name = 'temp';
BEGIN;
CREATE FOREIGN TABLE temp (a int) SERVER made_server OPTIONS (namespace 'a.b', "table" 'temp', create_if_missing 'true');
INSERT INTO temp VALUES (1);
UPDATE temp SET a = a + 1;
COMMIT;
SELECT * FROM temp;
DROP FOREIGN TABLE temp;
SELECT count(*) FROM lake.iceberg_tables WHERE table_name = 'temp';

\echo == what is refused
\set options 'SERVER made_server OPTIONS (namespace ''a.b'', "table" ''no'', create_if_missing ''true'''
SELECT refusal('CREATE FOREIGN TABLE no () ' || :'options' || ')');
SELECT refusal('CREATE FOREIGN TABLE no (a numeric) ' || :'options' || ')');
SELECT refusal('CREATE FOREIGN TABLE no (a interval) ' || :'options' || ')');
SELECT refusal('CREATE FOREIGN TABLE no (a int, "_pos" int) ' || :'options' || ')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', partition_by ''day(a)'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', partition_by ''day(b)'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', sort_by ''a a'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', format_version ''4'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', properties ''[]'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', properties ''{"a": 1}'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', properties ''{"write.delete.mode": "no"}'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', properties ''{"format-version": "2"}'')');
SELECT left(refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', location ''/nowhere'')'), 25);
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', ref ''main'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) SERVER made_server OPTIONS (namespace ''a.b'', "table" ''no'', partition_by ''a'')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) SERVER lake OPTIONS (namespace ''a.b'', "table" ''no'', create_if_missing ''true'')');
SELECT count(*) FROM lake.iceberg_tables WHERE table_name = 'no';
CREATE ROLE made_user;
GRANT USAGE ON FOREIGN SERVER made_server TO made_user;
GRANT ALL ON SCHEMA made TO made_user;
SET ROLE made_user;
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ')');
SELECT refusal('CREATE FOREIGN TABLE no (a int) ' || :'options' || ', location ''/nowhere'')');
RESET ROLE;
-- one that may map tables needs no rights on the catalog
ALTER SERVER made_server OPTIONS (ADD mapping 'usage');
SET ROLE made_user;
CREATE FOREIGN TABLE theirs (a int) SERVER made_server OPTIONS (namespace 'a.b', "table" 'theirs', create_if_missing 'true');
INSERT INTO theirs VALUES (1);
SELECT * FROM theirs;
RESET ROLE;

SET client_min_messages = error;
DROP SERVER made_server CASCADE;
RESET search_path;
DROP OWNED BY made_user;
DROP ROLE made_user;
DROP SCHEMA made CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'a.b';
DELETE FROM lake.iceberg_namespace_properties WHERE namespace = 'a.b';
