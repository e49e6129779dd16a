-- lake.at and the pins of running statements

CREATE FUNCTION at(rel anyelement, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL) RETURNS SETOF anyelement
  AS 'MODULE_PATHNAME', 'lakefdw_at'
  LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 1000000;
COMMENT ON FUNCTION at(anyelement, bigint, timestamptz, text) IS
  'a version of a lake table: FROM lake.at(NULL::t, snapshot => 1)';

CREATE FUNCTION at_pin(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'lakefdw_at_pin'
  LANGUAGE C VOLATILE PARALLEL SAFE STRICT;
COMMENT ON FUNCTION at_pin(internal) IS
  'marks scans of lake.at in plans; cannot be called';
REVOKE ALL ON FUNCTION at_pin(internal) FROM PUBLIC;

CREATE FUNCTION pins(OUT relation regclass, OUT catalog text, OUT ident text,
    OUT ref text, OUT snapshot_id bigint, OUT metadata_location text,
    OUT pinned_at timestamptz, OUT scope text, OUT staged_ops int)
    RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_pins'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 10;
COMMENT ON FUNCTION pins() IS
  'versions of lake tables that statements, cursors and the transaction of this session read';
