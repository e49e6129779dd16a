-- the objects of extension lakefdw; installed as lakefdw--VERSION.sql

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION lakefdw" to load this file. \quit

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
