-- the hosted catalog: layouts, bad rows, registering, rights
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set map 'file:///srv/lake=' :lake
\set v2 'file:///srv/lake/shop/orders/metadata/v2.metadata.json'
\set v5 'file:///srv/lake/shop/orders/metadata/v5.metadata.json'
CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw
  OPTIONS (warehouse :'lake', path_map :'map');
CREATE TABLE place AS SELECT :'lake' AS lake;
-- what a statement fails with, without the directory of this run
CREATE FUNCTION failure(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  state text;
  message text;
  hint text;
BEGIN
  EXECUTE statement;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' ', state, replace(message, (SELECT lake FROM place), 'LAKE'), '|', hint);
END $$;
CREATE FUNCTION register(location text) RETURNS text LANGUAGE sql AS
  $$SELECT failure(format('SELECT lake.register_table(''hosted'', ''shop.x'', %L)', location))$$;
\echo == registering
SELECT * FROM lake.register_table('hosted', 'shop.orders', :'v2');
SELECT catalog_name, table_namespace, table_name, metadata_location,
  previous_metadata_location, iceberg_type FROM lake.iceberg_tables;
SELECT * FROM lake.iceberg_namespace_properties;
SELECT * FROM lake.register_table('hosted', 'shop.orders', :'v2');
SELECT * FROM lake.register_table('hosted', 'orders', :'v2');
SELECT * FROM lake.register_table('hosted', 'a..b', :'v2');
SELECT register('file:///etc/passwd');
SELECT register('file:///srv/lake/shop/../../../etc/passwd');
SELECT register('file:///srv/lake/shop/orders/metadata/v99.metadata.json');
SELECT register('file:///srv/lake/shop/orders/metadata/version-hint.text');
SELECT * FROM lake.register_table('lake', 'shop.x', :'v2');
SELECT * FROM lake.register_table('nothing', 'shop.x', :'v2');
SELECT * FROM lake.register_table(NULL, 'shop.x', :'v2');
SELECT * FROM lake.register_table('hosted', NULL, :'v2');
SELECT * FROM lake.register_table('hosted', 'shop.x', NULL);
SELECT current_snapshot_id FROM lake.register_table('hosted', 'deep.er.empty',
  'file:///srv/lake/cases/empty/metadata/v1.metadata.json');
BEGIN;
SELECT count(*) FROM lake.register_table('hosted', 'shop.twin', :'v5');
SELECT count(*) FROM lake.tables('hosted', 'shop');
ROLLBACK;
BEGIN READ ONLY;
SELECT * FROM lake.register_table('hosted', 'shop.x', :'v2');
ROLLBACK;
\echo == what there is
SELECT * FROM lake.tables('hosted');
SELECT table_name FROM lake.tables('hosted', 'deep.er');
SELECT * FROM lake.tables('hosted', 'deep');
SELECT * FROM lake.tables('hosted', 'no_such');
SELECT namespace, table_name, table_type FROM lake.tables('lake', 'shop');
SELECT count(*) FROM lake.tables(NULL);
\echo == reading, and the pointer that moves in the same transaction
CREATE SCHEMA hosted_shop;
IMPORT FOREIGN SCHEMA shop FROM SERVER hosted INTO hosted_shop;
IMPORT FOREIGN SCHEMA "deep.er" FROM SERVER hosted INTO hosted_shop;
SELECT count(*) FROM hosted_shop.orders;
SELECT count(*) FROM hosted_shop.empty;
CREATE FOREIGN TABLE again () SERVER hosted OPTIONS (namespace 'shop', "table" 'orders');
\d again
BEGIN;
UPDATE lake.iceberg_tables SET metadata_location = :'v5' WHERE table_name = 'orders';
SELECT (SELECT count(*) FROM again) AS again, count(*) FROM hosted_shop.orders;
SAVEPOINT s;
DELETE FROM lake.iceberg_tables WHERE table_name = 'orders';
SELECT count(*) FROM again;
ROLLBACK TO s;
SELECT count(*) FROM again;
ROLLBACK;
SELECT count(*) FROM again;
-- a statement that moves the pointer itself does not see that
WITH moved AS (UPDATE lake.iceberg_tables SET metadata_location = :'v5'
  WHERE table_name = 'orders' RETURNING 1)
SELECT (SELECT count(*) FROM moved) AS moved, count(*) AS rows FROM again;
SELECT count(*) FROM again;
\echo == bad rows
CREATE FUNCTION with_row(location text, type text = 'TABLE') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  UPDATE lake.iceberg_tables SET metadata_location = location, iceberg_type = type
  WHERE table_name = 'orders';
  RETURN failure('SELECT count(id) FROM again');
END $$;
SELECT with_row(:'v5', NULL);
SELECT with_row(NULL);
SELECT with_row('');
SELECT with_row(:'v5', 'VIEW');
SELECT with_row(:'v5', 'what');
SELECT with_row('file:///etc/passwd');
SELECT with_row('file:///srv/lake/shop/orders/metadata/../../../../../etc/passwd');
SELECT with_row('s3://elsewhere/shop/orders/metadata/v5.metadata.json');
SELECT with_row('relative/v5.metadata.json');
SELECT with_row('file:///srv/lake/shop/orders/metadata/v99.metadata.json');
SELECT with_row('file:///srv/lake/shop/orders/metadata');
SELECT with_row('file:///srv/lake/shop/orders/metadata/version-hint.text');
-- metadata of another table: its columns are not those that were declared
SELECT with_row('file:///srv/lake/cases/floats/metadata/v4.metadata.json');
SELECT with_row(:'v5');
CREATE FOREIGN TABLE none () SERVER hosted OPTIONS (namespace 'shop', "table" 'order');
CREATE FOREIGN TABLE none (id int) SERVER hosted OPTIONS (namespace 'shop', "table" 'order');
SELECT * FROM none;
ALTER FOREIGN TABLE none OPTIONS (SET namespace 'nowhere');
SELECT * FROM none;
DROP FOREIGN TABLE none;
\echo == other schemas: layouts V0 and V1, and tables that are no catalog
CREATE SCHEMA site;
CREATE TABLE site.iceberg_tables (
  catalog_name varchar(255) NOT NULL, table_namespace varchar(255) NOT NULL,
  table_name varchar(255) NOT NULL, metadata_location varchar(1000),
  previous_metadata_location varchar(1000),
  PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE site.iceberg_namespace_properties (
  catalog_name varchar(255) NOT NULL, namespace varchar(255) NOT NULL,
  property_key varchar(255), property_value varchar(1000),
  PRIMARY KEY (catalog_name, namespace, property_key));
CREATE SERVER site FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'lake',
  path_map :'map', catalog_schema 'site', catalog_name 'prod');
SELECT total_records_count FROM lake.register_table('site', 'Ns "x".Odd''Name', :'v2');
SELECT * FROM lake.tables('site');
CREATE FOREIGN TABLE odd (id bigint) SERVER site OPTIONS (namespace 'Ns "x"', "table" 'Odd''Name');
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables ADD COLUMN iceberg_type varchar(5);
SELECT count(*) FROM odd;
UPDATE site.iceberg_tables SET iceberg_type = 'VIEW';
SELECT count(*) FROM odd;
UPDATE site.iceberg_tables SET iceberg_type = 'TABLE';
ALTER SERVER site OPTIONS (SET catalog_name 'test');
SELECT count(*) FROM odd;
ALTER SERVER site OPTIONS (SET catalog_name 'prod');
ALTER TABLE site.iceberg_tables RENAME COLUMN metadata_location TO location;
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables RENAME COLUMN location TO metadata_location;
ALTER TABLE site.iceberg_tables ALTER COLUMN metadata_location TYPE bytea USING NULL;
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables ALTER COLUMN metadata_location TYPE text USING NULL;
UPDATE site.iceberg_tables SET metadata_location = :'v2';
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables SET UNLOGGED;
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables SET LOGGED;
ALTER TABLE site.iceberg_tables DROP CONSTRAINT iceberg_tables_pkey;
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables RENAME TO tables;
SELECT count(*) FROM odd;
CREATE VIEW site.iceberg_tables AS SELECT * FROM site.tables;
SELECT count(*) FROM odd;
DROP VIEW site.iceberg_tables;
ALTER TABLE site.tables RENAME TO iceberg_tables;
ALTER TABLE site.iceberg_tables ADD PRIMARY KEY (catalog_name, table_namespace, table_name);
ALTER SERVER site OPTIONS (SET catalog_schema 'no_such');
SELECT count(*) FROM odd;
ALTER SERVER site OPTIONS (SET catalog_schema 'site');
\echo == options
CREATE SERVER wrong FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog 'file', warehouse :'lake', catalog_name 'x');
CREATE SERVER wrong FOREIGN DATA WRAPPER lakefdw OPTIONS (catalog_schema '');
CREATE SERVER bare FOREIGN DATA WRAPPER lakefdw;
SELECT * FROM lake.register_table('bare', 'a.b', :'v2');
DROP SERVER bare;
\echo == rights: a reader needs grants on the foreign table alone, the owner of the server on the catalog
CREATE ROLE regress_reader;
CREATE ROLE regress_owner IN ROLE pg_read_server_files;
GRANT SELECT ON again TO regress_reader;
SET ROLE regress_reader;
SELECT count(*) FROM again;
SELECT * FROM lake.iceberg_tables;
SELECT * FROM lake.tables('hosted');
SELECT * FROM lake.register_table('hosted', 'shop.mine', :'v2');
RESET ROLE;
GRANT USAGE ON FOREIGN DATA WRAPPER lakefdw TO regress_owner;
ALTER SERVER site OWNER TO regress_owner;
ALTER FOREIGN TABLE odd OWNER TO regress_owner;
SELECT count(*) FROM odd;
GRANT USAGE ON SCHEMA site TO regress_owner;
SELECT count(*) FROM odd;
GRANT SELECT ON site.iceberg_tables TO regress_owner;
SELECT count(*) FROM odd;
-- what row security hides from the owner must not be read, nor be missing
ALTER TABLE site.iceberg_tables ENABLE ROW LEVEL SECURITY;
SELECT count(*) FROM odd;
SET row_security = off;
SELECT * FROM lake.tables('site');
RESET row_security;
ALTER ROLE regress_owner BYPASSRLS;
SELECT count(*) FROM odd;
ALTER ROLE regress_owner NOBYPASSRLS;
ALTER TABLE site.iceberg_tables OWNER TO regress_owner;
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables FORCE ROW LEVEL SECURITY;
SELECT count(*) FROM odd;
ALTER TABLE site.iceberg_tables DISABLE ROW LEVEL SECURITY, OWNER TO CURRENT_USER;
REVOKE USAGE ON SCHEMA site FROM regress_owner;
SELECT count(*) FROM odd;
GRANT USAGE ON SCHEMA site TO regress_owner;
GRANT SELECT ON site.iceberg_tables TO regress_owner;
SET ROLE regress_owner;
SELECT * FROM lake.register_table('site', 'shop.more', :'v2');
RESET ROLE;
DROP SERVER site CASCADE;
DROP SCHEMA site CASCADE;
DROP OWNED BY regress_owner, regress_reader;
DROP ROLE regress_owner, regress_reader;
\echo == another copy in the database: CREATE EXTENSION warns
BEGIN;
SET LOCAL client_min_messages = warning;
DROP EXTENSION lakefdw CASCADE;
CREATE TABLE iceberg_tables (a int);
CREATE EXTENSION lakefdw;
ROLLBACK;
DROP SERVER hosted CASCADE;
DROP FUNCTION with_row, failure, register;
DROP TABLE place;
DROP SCHEMA hosted_shop CASCADE;
TRUNCATE lake.iceberg_tables, lake.iceberg_namespace_properties;
