-- the hosted catalog: tables that other engines share, and their functions

-- Names of rows and columns, types and keys are those of Iceberg's JDBC
-- catalog, layout V1.  Keys compare by bytes; pages are half empty, so that
-- moving a pointer stays on its page (HOT).
CREATE TABLE iceberg_tables (
  catalog_name varchar(255) COLLATE "C" NOT NULL,
  table_namespace varchar(255) COLLATE "C" NOT NULL,
  table_name varchar(255) COLLATE "C" NOT NULL,
  metadata_location varchar(1000),
  previous_metadata_location varchar(1000),
  iceberg_type varchar(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000);
COMMENT ON TABLE iceberg_tables IS
  'hosted catalog: which metadata file is the newest of each lake table (Iceberg JDBC catalog, V1)';
COMMENT ON COLUMN iceberg_tables.catalog_name IS
  'name that all engines give the catalog';
COMMENT ON COLUMN iceberg_tables.table_namespace IS
  'namespace, its levels joined by dots';
COMMENT ON COLUMN iceberg_tables.table_name IS
  'name of the table or view, case-sensitive';
COMMENT ON COLUMN iceberg_tables.metadata_location IS
  'the newest metadata file: what a commit swaps';
COMMENT ON COLUMN iceberg_tables.previous_metadata_location IS
  'the one before it';
COMMENT ON COLUMN iceberg_tables.iceberg_type IS
  'TABLE or VIEW; NULL is a table';

CREATE TABLE iceberg_namespace_properties (
  catalog_name varchar(255) COLLATE "C" NOT NULL,
  namespace varchar(255) COLLATE "C" NOT NULL,
  property_key varchar(255) COLLATE "C",
  property_value varchar(1000),
  PRIMARY KEY (catalog_name, namespace, property_key)
);
COMMENT ON TABLE iceberg_namespace_properties IS
  'hosted catalog: namespaces and their properties (Iceberg JDBC catalog)';
COMMENT ON COLUMN iceberg_namespace_properties.catalog_name IS
  'name that all engines give the catalog';
COMMENT ON COLUMN iceberg_namespace_properties.namespace IS
  'namespace, its levels joined by dots';
COMMENT ON COLUMN iceberg_namespace_properties.property_key IS
  'name of the property; "exists" marks a namespace without others';
COMMENT ON COLUMN iceberg_namespace_properties.property_value IS
  'its value';

SELECT pg_extension_config_dump('iceberg_tables', '');
SELECT pg_extension_config_dump('iceberg_namespace_properties', '');

-- Java looks for iceberg_tables in all schemas of the database at once, and may
-- take the wrong one of two.
DO $$
DECLARE
  others regclass[];
BEGIN
  SELECT array_agg(oid::regclass ORDER BY oid) INTO others
  FROM pg_class
  WHERE relname = 'iceberg_tables' AND relkind IN ('r', 'p', 'v', 'm', 'f')
    AND relpersistence <> 't' AND oid <> 'iceberg_tables'::regclass;
  IF others IS NOT NULL THEN
    RAISE WARNING USING
      MESSAGE = format('this database has another table "iceberg_tables": %s',
        array_to_string(others, ', ')),
      DETAIL = 'Other engines look for a table of that name in all schemas, and may take the wrong one.',
      HINT = 'To use the existing one, set the option catalog_schema of servers to its schema and drop the extension''s: ALTER EXTENSION lakefdw DROP TABLE @extschema@.iceberg_tables, then DROP TABLE.';
  END IF;
END $$;

CREATE FUNCTION tables(server name, namespace text = NULL,
    OUT namespace text, OUT table_name text, OUT table_type text,
    OUT metadata_location text) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_tables'
  LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION tables(name, text) IS
  'tables and views of a server''s catalog, of one namespace or of all';

CREATE FUNCTION register_table(server name, ident text,
    metadata_location text, OUT current_snapshot_id bigint,
    OUT total_records_count bigint, OUT total_data_files_count bigint)
  AS 'MODULE_PATHNAME', 'lakefdw_register_table'
  LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION register_table(name, text, text) IS
  'adds a table that exists to a hosted catalog, by its metadata file';
