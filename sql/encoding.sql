-- databases that are not UTF8: names and text are converted or refused
\getenv lake LAKE_DIR
\set map 'file:///srv/lake=' :lake
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;
\set regression :DBNAME
CREATE DATABASE lake_latin1 TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c lake_latin1
SET client_encoding = 'UTF8';
CREATE EXTENSION lakefdw;
CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake', path_map :'map');
IMPORT FOREIGN SCHEMA py LIMIT TO (types) FROM SERVER lake INTO public;
IMPORT FOREIGN SCHEMA cases LIMIT TO (text_bounds, nested_types) FROM SERVER lake INTO public;
SELECT id, s FROM types WHERE id > 1 ORDER BY id;
-- a character that the encoding does not have
SELECT s FROM types WHERE id = 1;
-- text is not compared in the lake's encoding, so it is met there too
SELECT count(*) FROM types WHERE s = '';
SELECT count(*) FROM types WHERE s = '' AND id > 1;
SELECT l, s, m FROM nested_types WHERE id = 1;
-- names with and without an equivalent
CREATE FOREIGN TABLE "tüpes" (id int, "ü" int) SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT count(id) FROM "tüpes";
CREATE FOREIGN TABLE nowhere (id int) SERVER lake OPTIONS (namespace 'pü', "table" 'types');
DO $$
BEGIN
  PERFORM count(id) FROM nowhere;
EXCEPTION WHEN undefined_table THEN
  RAISE WARNING '%', split_part(SQLERRM, ' in warehouse', 1);
END
$$;
-- EXPLAIN names the table in the database's encoding, too
\set as_py :lake '/pü=' :lake '/py'
CREATE FOREIGN TABLE mapped (id int) SERVER lake
  OPTIONS (namespace 'pü', "table" 'types', path_map :'as_py');
DO $$
DECLARE
  line text;
BEGIN
  FOR line IN EXPLAIN SELECT id FROM mapped LOOP
    IF line LIKE '%Lake Table%' THEN
      RAISE WARNING '%', trim(line);
    END IF;
  END LOOP;
END
$$;
\c :regression
DROP DATABASE lake_latin1;

CREATE DATABASE lake_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\c lake_ascii
CREATE EXTENSION lakefdw;
CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake', path_map :'map');
IMPORT FOREIGN SCHEMA py LIMIT TO (types) FROM SERVER lake INTO public;
SELECT id, n9, u FROM types WHERE id = 1;
SELECT s FROM types WHERE id = 1;
\c :regression
DROP DATABASE lake_ascii;
