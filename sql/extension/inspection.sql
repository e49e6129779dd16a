-- metadata tables as functions

-- ---- what a metadata file says ----

CREATE FUNCTION snapshots(rel regclass,
    OUT committed_at timestamptz, OUT snapshot_id bigint,
    OUT parent_id bigint, OUT operation text, OUT manifest_list text,
    OUT summary jsonb)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_snapshots'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 100;
COMMENT ON FUNCTION snapshots(regclass) IS
  'all snapshots of a lake table, staged and rolled-back ones too';

CREATE FUNCTION history(rel regclass,
    OUT made_current_at timestamptz, OUT snapshot_id bigint,
    OUT parent_id bigint, OUT is_current_ancestor boolean)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_history'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 100;
COMMENT ON FUNCTION history(regclass) IS
  'which snapshot of a lake table became current when';

CREATE FUNCTION refs(rel regclass,
    OUT name text, OUT type text, OUT snapshot_id bigint,
    OUT max_reference_age_in_ms bigint, OUT min_snapshots_to_keep int,
    OUT max_snapshot_age_in_ms bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_refs'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 10;
COMMENT ON FUNCTION refs(regclass) IS
  'branches and tags of a lake table';

CREATE FUNCTION metadata_log_entries(rel regclass,
    OUT "timestamp" timestamptz, OUT file text,
    OUT latest_snapshot_id bigint, OUT latest_schema_id int,
    OUT latest_sequence_number bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_metadata_log_entries'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 100;
COMMENT ON FUNCTION metadata_log_entries(regclass) IS
  'metadata files of a lake table, the newest last';

CREATE FUNCTION properties(rel regclass,
    OUT key text, OUT value text)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_properties'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 10;
COMMENT ON FUNCTION properties(regclass) IS
  'properties of a lake table';

CREATE FUNCTION schemas(rel regclass,
    OUT schema_id int, OUT is_current boolean, OUT field_id int,
    OUT parent_field_id int, OUT path text, OUT type text,
    OUT required boolean, OUT doc text, OUT initial_default jsonb,
    OUT write_default jsonb)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_schemas'
  LANGUAGE C STABLE PARALLEL RESTRICTED STRICT ROWS 100;
COMMENT ON FUNCTION schemas(regclass) IS
  'fields of all schemas that a lake table had';
