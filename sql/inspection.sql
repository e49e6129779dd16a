-- metadata tables that the metadata file answers; init has mapped the lake
\getenv lake LAKE_DIR
SET timezone = 'UTC';
\echo == what each function returns
SELECT p.oid::regprocedure AS function, p.provolatile AS volatility,
  p.proparallel AS parallel, p.prosecdef AS definer
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lakefdw'
WHERE d.classid = 'pg_proc'::regclass ORDER BY p.proname COLLATE "C", 1::text;

\echo == snapshots: all of them, with their summaries
SELECT snapshot_id, parent_id, operation,
  committed_at - min(committed_at) OVER () < '1 day' AS is_near,
  manifest_list LIKE '%/metadata/snap-' || snapshot_id || '-%' AS has_list,
  summary->>'total-records' AS records, summary ? 'operation' AS says_twice
FROM lake.snapshots('cases.refs');
SELECT count(*), count(parent_id), count(manifest_list)
FROM lake.snapshots('cases.empty');

\echo == history: what was current, and is an ancestor still
SELECT snapshot_id, parent_id, is_current_ancestor,
  made_current_at = (SELECT committed_at FROM lake.snapshots('cases.refs') s
    WHERE s.snapshot_id = h.snapshot_id) AS as_committed
FROM lake.history('cases.refs') h;

\echo == refs
SELECT r.*, s.operation
FROM lake.refs('cases.refs') r JOIN lake.snapshots('cases.refs') s USING (snapshot_id)
ORDER BY name;
SELECT * FROM lake.refs('cases.empty');

\echo == the metadata log: older files, and the one that is read
SELECT regexp_replace(file, '.*/', '') AS file, latest_snapshot_id,
  latest_schema_id, latest_sequence_number,
  "timestamp" >= lag("timestamp") OVER () AS is_later
FROM lake.metadata_log_entries('cases.refs');

\echo == properties and schemas
SELECT * FROM lake.properties('cases.defaults') ORDER BY key COLLATE "C";
SELECT * FROM lake.schemas('cases.defaults') ORDER BY schema_id, field_id;
SELECT schema_id, is_current, field_id, parent_field_id, path, type, required
FROM lake.schemas('cases.nested_types');

\echo == a staged snapshot, a rollback and missing parents, by hand
\set work `echo $LAKE_WORK`
SELECT :'work' || '/inspection.metadata.json' AS odd,
  :'lake' || '/cases/refs/metadata/v6.metadata.json' AS source \gset
COPY (SELECT jsonb_set(jsonb_set(j, '{snapshots}',
    (SELECT jsonb_agg(s - 'parent-snapshot-id') FROM jsonb_array_elements(j->'snapshots') s)),
    '{snapshot-log}', (j->'snapshot-log') || jsonb_build_array(jsonb_build_object(
      'timestamp-ms', 1700000000000, 'snapshot-id', 77)))
  FROM (SELECT pg_read_file(:'source')::jsonb AS j) f) TO :'odd';
CREATE FOREIGN TABLE odd (id bigint) SERVER lake OPTIONS (metadata_location :'odd');
SELECT count(*), count(parent_id) FROM lake.snapshots('odd');
SELECT snapshot_id = 77 AS expired, parent_id, is_current_ancestor FROM lake.history('odd');

\echo == columns that the lake does not have do not matter
CREATE FOREIGN TABLE wrong (gone int OPTIONS (field_id '99')) SERVER lake
  OPTIONS (namespace 'cases', "table" 'refs');
SELECT count(*) FROM lake.snapshots('wrong');
SELECT * FROM wrong;

\echo == neither options nor settings choose what these functions show
SET lakefdw.as_of = '1970-01-02';
SELECT count(*) FROM lake.snapshots('cases.refs');
RESET lakefdw.as_of;

\echo == who may, and on what
SELECT * FROM lake.snapshots(NULL);
CREATE TABLE local (a int);
SELECT * FROM lake.snapshots('local');
SELECT * FROM lake.snapshots('pg_class');
SELECT * FROM lake.snapshots(0);
CREATE ROLE regress_inspector;
GRANT USAGE ON SCHEMA cases TO regress_inspector;
SET ROLE regress_inspector;
SELECT * FROM lake.history('cases.refs');
RESET ROLE;
GRANT SELECT (id) ON cases.refs TO regress_inspector;
SET ROLE regress_inspector;
SELECT count(*) > 0 AS some FROM lake.history('cases.refs');
RESET ROLE;
DROP OWNED BY regress_inspector;
DROP ROLE regress_inspector;
DROP FOREIGN TABLE odd, wrong;
DROP TABLE local;
