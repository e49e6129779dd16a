-- the foreign-data wrapper, its validator, the event trigger of its DDL

COMMENT ON SCHEMA @extschema@ IS
  'lakefdw: lake tables as foreign tables, their history and maintenance';
GRANT USAGE ON SCHEMA @extschema@ TO PUBLIC;

CREATE FUNCTION lakefdw_handler() RETURNS fdw_handler
  AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION lakefdw_handler() IS
  'planner and executor callbacks of foreign-data wrapper lakefdw';

CREATE FUNCTION lakefdw_validator(options text[], catalog oid) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C STRICT;
COMMENT ON FUNCTION lakefdw_validator(text[], oid) IS
  'checks the options of servers, foreign tables and columns of lakefdw';

CREATE FOREIGN DATA WRAPPER lakefdw
  HANDLER lakefdw_handler VALIDATOR lakefdw_validator;
COMMENT ON FOREIGN DATA WRAPPER lakefdw IS
  'reads Apache Iceberg tables';

CREATE FUNCTION lakefdw_ddl_end() RETURNS event_trigger
  AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION lakefdw_ddl_end() IS
  'gives CREATE FOREIGN TABLE t () the columns of the lake table';

CREATE EVENT TRIGGER lakefdw_ddl_end ON ddl_command_end
  WHEN TAG IN ('CREATE FOREIGN TABLE')
  EXECUTE FUNCTION lakefdw_ddl_end();
ALTER EVENT TRIGGER lakefdw_ddl_end ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER lakefdw_ddl_end IS
  'gives CREATE FOREIGN TABLE t () the columns of the lake table';
