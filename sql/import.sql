-- IMPORT FOREIGN SCHEMA and CREATE FOREIGN TABLE without columns
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE SCHEMA target;

-- some of a namespace
IMPORT FOREIGN SCHEMA cases LIMIT TO ("MixedCase", empty) FROM SERVER lake INTO target;
IMPORT FOREIGN SCHEMA transforms EXCEPT (bucket_int, bucket_long, bucket_text, bucket_decimal, day_ts, hour_ts, identity_text, identity_decimal)
  FROM SERVER lake INTO target;
SELECT foreign_table_name FROM information_schema.foreign_tables
WHERE foreign_table_schema = 'target' ORDER BY foreign_table_name COLLATE "C";
\d target."MixedCase"
SET client_min_messages = warning;
DROP SCHEMA target CASCADE;
RESET client_min_messages;
CREATE SCHEMA target;

-- nested namespaces; what does not exist
IMPORT FOREIGN SCHEMA "nested.deep" FROM SERVER lake INTO target;
SELECT ftoptions FROM pg_foreign_table WHERE ftrelid = 'target.leaf'::regclass;
IMPORT FOREIGN SCHEMA nested FROM SERVER lake INTO target;
IMPORT FOREIGN SCHEMA shop LIMIT TO (nothing) FROM SERVER lake INTO target;
IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO target OPTIONS (as_of 'x');
DO $$
BEGIN
  IMPORT FOREIGN SCHEMA no_such FROM SERVER lake INTO target;
EXCEPTION WHEN invalid_schema_name THEN
  RAISE NOTICE '%', split_part(SQLERRM, ' in warehouse', 1);
END
$$;

-- a second lake, made here: tables without snapshots
CREATE FUNCTION write_metadata(name text, fields text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  directory text := current_setting('test.work') || '/lake2/ns/' || name || '/metadata';
BEGIN
  EXECUTE format('COPY (SELECT %L) TO PROGRAM %L',
    '{"format-version":3,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",'
    '"location":"/lake2/ns/x","last-sequence-number":0,"next-row-id":0,'
    '"last-updated-ms":1600000000000,"last-column-id":9,'
    '"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":['
    || fields ||
    ']}],"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],'
    '"last-partition-id":999,"default-sort-order-id":0,'
    '"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[]}',
    format('mkdir -p "%s" && cat > "%s/v1.metadata.json"', directory, directory));
END
$$;
SELECT set_config('test.work', :'work', false) IS NOT NULL AS is_set \gset
SELECT write_metadata('kinds',
  '{"id":1,"name":"id","required":true,"type":"long"},'
  '{"id":2,"name":"place","required":false,"type":"geometry"},'
  '{"id":3,"name":"nothing","required":false,"type":"unknown"},'
  '{"id":4,"name":"nanos","required":false,"type":"timestamp_ns"},'
  '{"id":5,"name":"xmin","required":false,"type":"int"},'
  '{"id":6,"name":"places","required":false,"type":{"type":"list","element-id":7,"element":"geography","element-required":false}},'
  '{"id":8,"name":"doc","required":false,"type":"variant"},'
  '{"id":9,"name":"it''s","required":false,"type":"decimal(38, 38)"}');
SELECT write_metadata('long_names',
  '{"id":1,"name":"' || repeat('n', 70) || '","required":false,"type":"int"},'
  '{"id":2,"name":"' || repeat('n', 71) || '","required":false,"type":"int"}');
SELECT write_metadata('no_columns', '');
SELECT write_metadata('wide', string_agg(
  format('{"id":%s,"name":"c%s","required":false,"type":"int"}', n, n), ','))
FROM generate_series(1, 1602) n;
SELECT write_metadata(E'not_utf8_$(printf "\\377")', '');
SELECT write_metadata('broken', '{"id":1');
SELECT write_metadata('future', '{"id":1,"name":"a","required":false,"type":"hologram"}');
\set lake2 :work '/lake2'
CREATE SERVER lake2 FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake2');
SET client_min_messages = error;
IMPORT FOREIGN SCHEMA ns LIMIT TO (broken) FROM SERVER lake2 INTO target;
RESET client_min_messages;
IMPORT FOREIGN SCHEMA ns EXCEPT (broken) FROM SERVER lake2 INTO target;
\d target.kinds
\d target.long_names
\d target.no_columns
SELECT count(*) FROM pg_attribute WHERE attrelid = 'target.wide'::regclass AND attnum > 0;
SELECT * FROM target.kinds;
SELECT count(*) FROM target.long_names;
SELECT count(*) FROM target.no_columns;
-- tables of other formats are skipped by name, not overlooked
\! mkdir -p "$LAKE_WORK/lake2/ns/delta/_delta_log"
\set VERBOSITY sqlstate
IMPORT FOREIGN SCHEMA ns LIMIT TO (delta) FROM SERVER lake2 INTO target;
\set VERBOSITY default

-- the lake's columns for a table that is declared without any, also in a
-- session that has not loaded the library yet
\c -
CREATE FOREIGN TABLE target.own () SERVER lake2 OPTIONS (namespace 'ns', "table" 'kinds');
\d target.own
CREATE FOREIGN TABLE IF NOT EXISTS target.own () SERVER lake2 OPTIONS (namespace 'ns', "table" 'nope');
CREATE FOREIGN TABLE target.bad () SERVER lake2 OPTIONS (namespace 'ns', "tabel" 'kinds');
CREATE FOREIGN TABLE target.bad () SERVER lake2 OPTIONS (namespace 'ns', "table" 'future');
\set file :lake '/py/types/metadata/' '00001-29aa5295-264c-44d4-bbe3-972007acc01a.metadata.json'
CREATE FUNCTION make_static(file text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE target.static () SERVER lake OPTIONS (metadata_location %L)', file);
END
$$;
SELECT make_static(:'file');
SELECT attname, format_type(atttypid, atttypmod), attnotnull
FROM pg_attribute WHERE attrelid = 'target.static'::regclass AND attnum > 0
ORDER BY attnum;
-- prepared, so that the statement's tree is used twice
DROP FOREIGN TABLE target.static;
SELECT make_static(:'file');
-- other wrappers are left alone
CREATE FOREIGN DATA WRAPPER inert;
CREATE SERVER inert FOREIGN DATA WRAPPER inert;
CREATE FOREIGN TABLE target.inert () SERVER inert;
-- types are the catalog's, whatever search_path offers under their names
CREATE SCHEMA shadow;
CREATE DOMAIN shadow.text AS integer;
CREATE DOMAIN shadow.jsonb AS integer;
SET search_path = shadow, pg_catalog;
IMPORT FOREIGN SCHEMA shop LIMIT TO (events) FROM SERVER lake INTO shadow;
CREATE FOREIGN TABLE shadow.products () SERVER lake
  OPTIONS (namespace 'shop', "table" 'products');
RESET search_path;
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod)
FROM pg_attribute
WHERE attrelid IN ('shadow.events'::regclass, 'shadow.products'::regclass)
  AND attnum > 0
ORDER BY attrelid::regclass::text, attnum;

SET client_min_messages = warning;
DROP SCHEMA shadow CASCADE;
DROP FOREIGN DATA WRAPPER inert CASCADE;
DROP SCHEMA target CASCADE;
DROP SERVER lake2 CASCADE;
DROP FUNCTION write_metadata, make_static;
