-- metadata tables that read manifests; init has mapped the lake
SET timezone = 'UTC';
\echo == files: data and deletes of the current version
SELECT content, regexp_replace(file_path, '.*\.', '') AS kind, file_format, spec_id,
  partition, record_count, column_sizes IS NOT NULL AS sizes, value_counts,
  null_value_counts, lower_bounds, sort_order_id
FROM lake.files('cases.pos_deletes') ORDER BY content, record_count, value_counts::text;
SELECT (SELECT count(*) FROM lake.files('cases.eq_deletes')) =
  (SELECT count(*) FROM lake.data_files('cases.eq_deletes')) +
  (SELECT count(*) FROM lake.delete_files('cases.eq_deletes')) AS all_of_them;
SELECT content, equality_ids, record_count FROM lake.delete_files('cases.eq_deletes')
ORDER BY equality_ids, record_count;
SELECT content, file_format, referenced_data_file IS NOT NULL AS refers,
  content_offset, content_size_in_bytes, record_count
FROM lake.delete_files('cases.deletion_vectors') ORDER BY content_offset;
\echo == bounds as values: NaN counted, nested leaves by their full names
SELECT readable_metrics FROM lake.data_files('cases.floats') ORDER BY file_path;
SELECT jsonb_object_keys(readable_metrics) AS leaf
FROM lake.data_files('cases.nested_types') ORDER BY 1;
\echo == older versions, branches and tags
SELECT s.snapshot_id, count(f.*) AS files, sum(f.record_count) AS records
FROM lake.snapshots('cases.refs') s, lake.files('cases.refs', s.snapshot_id) f
GROUP BY 1 ORDER BY 1;
SELECT r.name, count(*) FROM lake.refs('cases.refs') r, lake.files('cases.refs', ref => r.name)
GROUP BY 1 ORDER BY 1;
SET lakefdw.as_of = '1970-01-02';
SELECT count(*) FROM lake.files('cases.refs');
RESET lakefdw.as_of;
\echo == entries, deleted ones too
SELECT status, sequence_number, file_sequence_number, data_file->>'content' AS content,
  data_file->'record_count' AS records, readable_metrics IS NOT NULL AS metrics
FROM lake.entries('cases.all_deleted') ORDER BY status, sequence_number, content;
\echo == manifests
SELECT content, partition_spec_id, added_data_files_count AS data, added_delete_files_count AS deletes,
  existing_data_files_count AS existing, deleted_data_files_count AS deleted, partition_summaries
FROM lake.manifests('cases.spec_evolution') ORDER BY added_snapshot_id, partition_spec_id;
\echo == partitions, of all specs that there were
SELECT partition, spec_id, record_count, file_count, position_delete_record_count AS deleted,
  last_updated_snapshot_id IS NOT NULL AS updated
FROM lake.partitions('cases.spec_evolution') ORDER BY partition::text;
SELECT partition, record_count, file_count FROM lake.partitions('shop.orders') ORDER BY partition::text;
\echo == a table without a snapshot has nothing
SELECT (SELECT count(*) FROM lake.files('cases.empty')) AS files,
  (SELECT count(*) FROM lake.entries('cases.empty')) AS entries,
  (SELECT count(*) FROM lake.manifests('cases.empty')) AS manifests,
  (SELECT count(*) FROM lake.partitions('cases.empty')) AS partitions;
\echo == format version 1, a field of whose spec was dropped
SELECT spec_id, partition, content, sort_order_id, record_count
FROM lake.files('cases.v1_void') ORDER BY spec_id, partition::text;
SELECT status, sequence_number, file_sequence_number, data_file->>'spec_id' AS spec_id
FROM lake.entries('cases.v1_void') ORDER BY spec_id;
SELECT partition_spec_id, partition_summaries FROM lake.manifests('cases.v1_void') ORDER BY 1;
SELECT partition, spec_id, record_count, file_count FROM lake.partitions('cases.v1_void')
ORDER BY partition::text;
\echo == manifests that a snapshot lists inline: what only they say
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set map 'file:///srv/lake=' :lake
\! mkdir -p "$LAKE_WORK/inline"
\! sed -E 's|"manifest-list":"([^"]*)/snap-[^"]*"|"manifests":["\1/b6e65a7f-dab6-416a-bb72-9353abfdf987-m0.avro", "\1/2983b936-73fa-404f-8641-2e30629a0b72-m0.avro"]|g' "$LAKE_DIR/cases/v1_void/metadata/v4.metadata.json" > "$LAKE_WORK/inline/v1.metadata.json"
CREATE SERVER inline FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'work', path_map :'map');
\set location :work '/inline/v1.metadata.json'
CREATE FOREIGN TABLE inline () SERVER inline OPTIONS (metadata_location :'location');
SELECT m.content, m.length = l.length AS same_length, m.partition_spec_id, m.added_snapshot_id,
  m.added_data_files_count AS added, m.added_delete_files_count AS deletes, m.partition_summaries
FROM lake.manifests('inline') m JOIN lake.manifests('cases.v1_void') l USING (path) ORDER BY 3;
SELECT (SELECT count(*) FROM lake.files('inline')) AS files, count(*) AS others FROM (SELECT file_path, partition FROM lake.files('inline')
  EXCEPT SELECT file_path, partition FROM lake.files('cases.v1_void')) other;
SET client_min_messages = warning;
DROP SERVER inline CASCADE;
RESET client_min_messages;
\echo == row ids, inherited or kept; none before the upgrade
SELECT status, data_file->'first_row_id' AS first_row_id, data_file->'record_count' AS records
FROM lake.entries('cases.lineage') ORDER BY 1, 2;
SELECT s.operation, count(f.first_row_id) AS with_row_ids, count(*) AS files
FROM lake.snapshots('cases.upgraded_deletes') s, lake.files('cases.upgraded_deletes', s.snapshot_id) f
GROUP BY s.committed_at, s.operation ORDER BY s.committed_at;
\echo == bounds by type, exact
SELECT key, left(value->>'lower_bound', 45) AS lower, left(value->>'upper_bound', 45) AS upper
FROM lake.data_files('py.types'), jsonb_each(readable_metrics) ORDER BY key;
\echo == errors
SELECT * FROM lake.files('cases.refs', 1);
SELECT * FROM lake.files('cases.refs', snapshot => 1, ref => 'main');
SELECT * FROM lake.files('cases.refs', ref => 'no_such');
SELECT * FROM lake.manifests(NULL);
CREATE ROLE regress_files;
GRANT USAGE ON SCHEMA cases TO regress_files;
GRANT SELECT (id) ON cases.some_nulls TO regress_files;
SET ROLE regress_files;
SELECT * FROM lake.files('cases.some_nulls');
SELECT * FROM lake.partitions('cases.some_nulls');
RESET ROLE;
GRANT SELECT ON cases.some_nulls TO regress_files;
SET ROLE regress_files;
SELECT count(*) > 0 AS some FROM lake.files('cases.some_nulls');
RESET ROLE;
DROP OWNED BY regress_files;
DROP ROLE regress_files;
