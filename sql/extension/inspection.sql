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

-- ---- what manifests say: files, entries, manifests, partitions ----

CREATE FUNCTION files(rel regclass, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL,
    OUT content integer, OUT file_path text, OUT file_format text,
    OUT spec_id integer, OUT partition jsonb, OUT record_count bigint,
    OUT file_size_in_bytes bigint, OUT column_sizes jsonb,
    OUT value_counts jsonb, OUT null_value_counts jsonb,
    OUT nan_value_counts jsonb, OUT lower_bounds jsonb,
    OUT upper_bounds jsonb, OUT key_metadata bytea,
    OUT split_offsets bigint[], OUT equality_ids integer[],
    OUT sort_order_id integer, OUT first_row_id bigint,
    OUT referenced_data_file text, OUT content_offset bigint,
    OUT content_size_in_bytes bigint, OUT readable_metrics jsonb)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_files'
  LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION files(regclass, bigint, timestamptz, text) IS
  'live data and delete files of a version of a lake table';

CREATE FUNCTION data_files(rel regclass, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL,
    OUT content integer, OUT file_path text, OUT file_format text,
    OUT spec_id integer, OUT partition jsonb, OUT record_count bigint,
    OUT file_size_in_bytes bigint, OUT column_sizes jsonb,
    OUT value_counts jsonb, OUT null_value_counts jsonb,
    OUT nan_value_counts jsonb, OUT lower_bounds jsonb,
    OUT upper_bounds jsonb, OUT key_metadata bytea,
    OUT split_offsets bigint[], OUT equality_ids integer[],
    OUT sort_order_id integer, OUT first_row_id bigint,
    OUT referenced_data_file text, OUT content_offset bigint,
    OUT content_size_in_bytes bigint, OUT readable_metrics jsonb)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_data_files'
  LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION data_files(regclass, bigint, timestamptz, text) IS
  'live files of a lake table that are in its data manifests';

CREATE FUNCTION delete_files(rel regclass, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL,
    OUT content integer, OUT file_path text, OUT file_format text,
    OUT spec_id integer, OUT partition jsonb, OUT record_count bigint,
    OUT file_size_in_bytes bigint, OUT column_sizes jsonb,
    OUT value_counts jsonb, OUT null_value_counts jsonb,
    OUT nan_value_counts jsonb, OUT lower_bounds jsonb,
    OUT upper_bounds jsonb, OUT key_metadata bytea,
    OUT split_offsets bigint[], OUT equality_ids integer[],
    OUT sort_order_id integer, OUT first_row_id bigint,
    OUT referenced_data_file text, OUT content_offset bigint,
    OUT content_size_in_bytes bigint, OUT readable_metrics jsonb)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_delete_files'
  LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION delete_files(regclass, bigint, timestamptz, text) IS
  'live files of a lake table that are in its delete manifests';

CREATE FUNCTION entries(rel regclass, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL,
    OUT status integer, OUT snapshot_id bigint, OUT sequence_number bigint,
    OUT file_sequence_number bigint, OUT data_file jsonb,
    OUT readable_metrics jsonb)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_entries'
  LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION entries(regclass, bigint, timestamptz, text) IS
  'entries of the manifests of a lake table: 0 existing, 1 added, 2 deleted';

CREATE FUNCTION manifests(rel regclass, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL,
    OUT content integer, OUT path text, OUT length bigint,
    OUT partition_spec_id integer, OUT added_snapshot_id bigint,
    OUT added_data_files_count integer, OUT existing_data_files_count integer,
    OUT deleted_data_files_count integer, OUT added_delete_files_count integer,
    OUT existing_delete_files_count integer,
    OUT deleted_delete_files_count integer, OUT partition_summaries jsonb[])
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_manifests'
  LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION manifests(regclass, bigint, timestamptz, text) IS
  'manifests of a version of a lake table';

CREATE FUNCTION partitions(rel regclass, snapshot bigint = NULL,
    as_of timestamptz = NULL, ref text = NULL,
    OUT partition jsonb, OUT spec_id integer, OUT record_count bigint,
    OUT file_count integer, OUT total_data_file_size_in_bytes bigint,
    OUT position_delete_record_count bigint,
    OUT position_delete_file_count integer,
    OUT equality_delete_record_count bigint,
    OUT equality_delete_file_count integer, OUT last_updated_at timestamptz,
    OUT last_updated_snapshot_id bigint)
  RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_partitions'
  LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION partitions(regclass, bigint, timestamptz, text) IS
  'partitions of a version of a lake table with counts of their files';
