-- options: their names, their values, what is required
\getenv lake LAKE_DIR
\set map 'file:///srv/lake=' :lake
SET client_min_messages = warning;
\set VERBOSITY default
\set SHOW_CONTEXT never

-- unknown names, with the near one where there is one
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (warehose '/x');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (completely_else '/x');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS ("table" 'x');
ALTER FOREIGN DATA WRAPPER lakefdw OPTIONS (ADD catalog 'file');

-- values
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog 'flie');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (mapping 'everybody');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse '');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse 'relative/path');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (allowed_locations '/a,b');
CREATE SERVER s FOREIGN DATA WRAPPER lakefdw OPTIONS (path_map '/a');

CREATE SERVER s FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake', allowed_locations '/a, file:///b',
    path_map :'map', mapping 'owner');
CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (password 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER s;

-- a table has a name in the catalog or a metadata file
CREATE FOREIGN TABLE t (id int) SERVER s;
CREATE FOREIGN TABLE t (id int) SERVER s OPTIONS (namespace 'shop');
CREATE FOREIGN TABLE t (id int) SERVER s OPTIONS (namespace 'shop', "table" '');
CREATE FOREIGN TABLE t (id int) SERVER s OPTIONS (namespace 'shop', tabel 'orders');
CREATE FOREIGN TABLE t (id int) SERVER s OPTIONS (metadata_location 'x.metadata.json');
CREATE FOREIGN TABLE t (id int OPTIONS (field_id 'one')) SERVER s OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t (id int OPTIONS (field_id '-1')) SERVER s OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t (id int OPTIONS (field_id '2147483448')) SERVER s OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t (id int OPTIONS (column_nmae 'id')) SERVER s OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t (id int OPTIONS (column_name '')) SERVER s OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t (id bigint) SERVER s OPTIONS (namespace 'shop', "table" 'orders');
ALTER FOREIGN TABLE t OPTIONS (DROP "table");
ALTER FOREIGN TABLE t ALTER COLUMN id OPTIONS (ADD field_id '99');
SELECT count(id) FROM t;
ALTER FOREIGN TABLE t ALTER COLUMN id OPTIONS (SET field_id '1');
SELECT count(id) FROM t;

-- which catalogs there are, and what each needs
CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw;
CREATE SERVER s2 FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog 'file', catalog_schema 'public');
CREATE SERVER s2 FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog 'file', catalog_name 'lake');
CREATE SERVER s2 FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog_schema '');
CREATE SERVER rest FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog 'rest');
CREATE SERVER nowhere FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog 'file');
CREATE FOREIGN TABLE t_hosted (id bigint) SERVER hosted OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t_rest (id bigint) SERVER rest OPTIONS (namespace 'shop', "table" 'orders');
CREATE FOREIGN TABLE t_nowhere (id bigint) SERVER nowhere OPTIONS (namespace 'shop', "table" 'orders');
SELECT * FROM t_hosted;
SELECT * FROM t_rest;
SELECT * FROM t_nowhere;
IMPORT FOREIGN SCHEMA shop FROM SERVER rest INTO public;

-- columns are found by field id, by column_name, by name
CREATE FOREIGN TABLE t_mixed (ID int, camelcase text, "WITH space" int)
  SERVER lake OPTIONS (namespace 'cases', "table" 'MixedCase');
SELECT count(id) FROM t_mixed;
ALTER FOREIGN TABLE t_mixed DROP COLUMN "WITH space";
SELECT id, camelcase FROM t_mixed ORDER BY id LIMIT 1;
CREATE FOREIGN TABLE t_named (x int OPTIONS (column_name 'with space'), y int OPTIONS (column_name 'selec'))
  SERVER lake OPTIONS (namespace 'cases', "table" 'MixedCase');
SELECT count(x) FROM t_named;
ALTER FOREIGN TABLE t_named ALTER COLUMN y OPTIONS (SET column_name 'select');
SELECT x, y FROM t_named ORDER BY 1, 2 LIMIT 1;

-- settings
SHOW lakefdw.metadata_cache;
SHOW lakefdw.truncate_nanoseconds;
SET lakefdw.metadata_cache = -1;
SET lakefdw.metadata_cache = '1MB';
SET lakefdw.metadat_cache = 1;

DROP SERVER s, hosted, rest, nowhere CASCADE;
DROP FOREIGN TABLE t_mixed, t_named;
