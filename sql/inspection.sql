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
  :'work' || '/summaries.metadata.json' AS summaries,
  :'work' || '/times.metadata.json' AS times,
  :'lake' || '/cases/refs/metadata/v6.metadata.json' AS source \gset
COPY (SELECT jsonb_set(jsonb_set(j, '{snapshots}',
    (SELECT jsonb_agg(s - 'parent-snapshot-id') FROM jsonb_array_elements(j->'snapshots') s)),
    '{snapshot-log}', (j->'snapshot-log') || jsonb_build_array(jsonb_build_object(
      'timestamp-ms', 1700000000000, 'snapshot-id', 77)))
  FROM (SELECT pg_read_file(:'source')::jsonb AS j) f) TO :'odd';
CREATE FOREIGN TABLE odd (id bigint) SERVER lake OPTIONS (metadata_location :'odd');
SELECT count(*), count(parent_id) FROM lake.snapshots('odd');
SELECT snapshot_id = 77 AS expired, parent_id, is_current_ancestor FROM lake.history('odd');
\echo == 79: without parents the current version is the one that the metadata names
SELECT id FROM odd EXCEPT SELECT id FROM cases.refs;
SELECT count(*) FROM odd;
SELECT count(*) FROM lake.at(NULL::odd, as_of => '2023-11-14 22:13:20+00');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM lake.at(NULL::odd, as_of => '2023-11-14 22:13:19.999999+00');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM lake.at(NULL::odd, ref => 'Audti');
SELECT count(*) FROM lake.at(NULL::odd, ref => '3582641896243530359');
SELECT count(*) FROM lake.at(NULL::odd, snapshot => 3582641896243530000);
\echo :LAST_ERROR_SQLSTATE


\echo == the whole sample lake, as PostgreSQL itself reads its metadata files
CREATE TEMP TABLE metadata AS
SELECT t.rel, pg_read_file(f.file)::jsonb AS j
FROM (SELECT ftrelid::regclass AS rel FROM pg_foreign_table JOIN pg_class ON oid = ftrelid
    WHERE relnamespace::regnamespace::text IN ('shop', 'cases', 'transforms', 'py', 'nested')) t,
  LATERAL (SELECT last_value(file) OVER () AS file FROM lake.metadata_log_entries(t.rel) LIMIT 1) f
WHERE f.file NOT LIKE '%.gz%';
SELECT count(*) > 40 AS many, count(*) FILTER (WHERE j->>'format-version' = '1') > 0 AS v1 FROM metadata;
CREATE FUNCTION pg_temp.time_of(ms jsonb) RETURNS timestamptz LANGUAGE sql AS
  $$ SELECT 'epoch'::timestamptz + ms::bigint * interval '1 ms' $$;
SELECT rel, s FROM metadata, lake.snapshots(rel) s
EXCEPT ALL
SELECT rel, (pg_temp.time_of(e->'timestamp-ms'), (e->'snapshot-id')::bigint,
    (e->'parent-snapshot-id')::bigint, e->'summary'->>'operation', e->>'manifest-list',
    (e->'summary') - 'operation')
FROM metadata, jsonb_array_elements(j->'snapshots') e;
SELECT bool_and(n = jsonb_array_length(j->'snapshots')) AS all_of_them, sum(n) > 60 AS many
FROM metadata, LATERAL (SELECT count(*) AS n FROM lake.snapshots(rel)) c;
SELECT rel, made_current_at, snapshot_id FROM metadata, lake.history(rel)
EXCEPT ALL
SELECT rel, pg_temp.time_of(e->'timestamp-ms'), (e->'snapshot-id')::bigint
FROM metadata, jsonb_array_elements(j->'snapshot-log') e;
SELECT bool_and(n = jsonb_array_length(j->'snapshot-log')) AS all_of_them
FROM metadata, LATERAL (SELECT count(*) AS n FROM lake.history(rel)) c;
SELECT rel, name, lower(type), snapshot_id FROM metadata, lake.refs(rel)
EXCEPT ALL
SELECT rel, key, value->>'type', (value->'snapshot-id')::bigint
FROM metadata, jsonb_each(j->'refs');
SELECT bool_and(p = coalesce(j->'properties', '{}')) AS all_of_them
FROM metadata, LATERAL (SELECT coalesce(jsonb_object_agg(key, value), '{}') AS p FROM lake.properties(rel)) c;
SELECT rel, schema_id, is_current, field_id, path, required, doc, initial_default, write_default
FROM metadata, lake.schemas(rel) WHERE parent_field_id IS NULL
EXCEPT ALL
SELECT rel, (s->'schema-id')::int, s->'schema-id' = j->'current-schema-id', (f->'id')::int,
  f->>'name', (f->'required')::boolean, f->>'doc', f->'initial-default', f->'write-default'
FROM metadata, jsonb_array_elements(j->'schemas') s, jsonb_array_elements(s->'fields') f;
SELECT bool_and(n = (SELECT count(*) FROM jsonb_array_elements(j->'schemas') s,
  jsonb_array_elements(s->'fields'))) AS all_of_them
FROM metadata, LATERAL (SELECT count(*) AS n FROM lake.schemas(rel) WHERE parent_field_id IS NULL) c;

\echo == summaries of different members, repeated and odd ones
CREATE FUNCTION pg_temp.with_summary(summary text, id int) RETURNS text LANGUAGE sql AS
  $$ SELECT format('{"snapshot-id": %s, "timestamp-ms": 1, "manifest-list": "l", "summary": %s}', id, summary) $$;
COPY (SELECT rtrim((j - 'snapshots' - 'refs' - 'current-snapshot-id' - 'snapshot-log')::text, '}') ||
    ', "snapshots": [' || concat_ws(', ',
      pg_temp.with_summary('{"operation": "append", "bb": "1", "a": "2", "ccc": "3"}', 1),
      pg_temp.with_summary('{"operation": "append", "bb": "4", "a": "5", "ccc": "6"}', 2),
      pg_temp.with_summary('{"ccc": "7", "bb": "8", "a": "9", "operation": "delete"}', 3),
      pg_temp.with_summary('{"a": "10", "a": "11", "b": "12"}', 4),
      pg_temp.with_summary('{"b": "13", "a": null, "b": 14}', 5),
      pg_temp.with_summary('{"a": "15", "b": "16", "c": "17"}', 6),
      pg_temp.with_summary('{}', 7),
      pg_temp.with_summary('null', 8),
      pg_temp.with_summary('{"operation": "replace"}', 9)) || ']}'
  FROM metadata WHERE rel = 'cases.refs'::regclass) TO :'summaries';
CREATE FOREIGN TABLE summaries (id bigint) SERVER lake OPTIONS (metadata_location :'summaries');
SELECT snapshot_id, operation, summary FROM lake.snapshots('summaries');

\echo == names of refs that are no text
COPY (SELECT jsonb_set(j, '{refs,NAME}', j->'refs'->'v1') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO PROGRAM
  'sed "s/NAME/$(printf "\\1\\377")/" > "$LAKE_WORK/refs.metadata.json"';
SELECT :'work' || '/refs.metadata.json' AS names \gset
CREATE FOREIGN TABLE names (id bigint) SERVER lake OPTIONS (metadata_location :'names');
SELECT * FROM lake.refs('names');
SELECT * FROM lake.at(NULL::names, ref => 'x');

\echo == times that timestamptz cannot show
COPY (SELECT jsonb_set(j, '{snapshots,0,timestamp-ms}', '9223372036854775807') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO :'times';
CREATE FOREIGN TABLE times (id bigint) SERVER lake OPTIONS (metadata_location :'times');
SELECT * FROM lake.snapshots('times');
SELECT count(*) FROM lake.history('times');
SELECT count(*) FROM times;
COPY (SELECT jsonb_set(jsonb_set(jsonb_set(j, '{snapshots}',
    (SELECT jsonb_agg(jsonb_set(s, '{timestamp-ms}', '-9223372036854775808')) FROM jsonb_array_elements(j->'snapshots') s)),
    '{snapshot-log,0,timestamp-ms}', '-9223372036854775808'),
    '{metadata-log,0}', '{"timestamp-ms": 9223372036854776, "metadata-file": "v0.metadata.json"}') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO :'times';
SELECT * FROM lake.history('times');
SELECT * FROM lake.metadata_log_entries('times');
SELECT partition, last_updated_at FROM lake.partitions('times');

\echo == properties that are no text, of which reading needs none
SELECT :'work' || '/properties.metadata.json' AS properties \gset
COPY (SELECT jsonb_set(j, '{properties}', '{"a": "1", "n": 2}') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO :'properties';
CREATE FOREIGN TABLE properties (id bigint) SERVER lake OPTIONS (metadata_location :'properties');
SELECT * FROM lake.properties('properties');
SELECT count(*) FROM properties;
COPY (SELECT jsonb_set(j, '{properties}', '{"a": "1", "c": null}') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO PROGRAM
  'sed "s/\"c\"/\"a\\\\u0000b\"/" > "$LAKE_WORK/properties.metadata.json"';
SELECT * FROM lake.properties('properties');
COPY (SELECT jsonb_set(j, '{properties}', '{"a": "1", "c": null}') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO :'properties';
SELECT * FROM lake.properties('properties');

\echo == ids above the largest bigint wrap around, and are no less ids
SELECT :'work' || '/wrapped.metadata.json' AS wrapped \gset
COPY (SELECT replace(j::text, ': 908650096998316601', ': 17538093976711235015') FROM metadata
  WHERE rel = 'cases.refs'::regclass) TO :'wrapped';
CREATE FOREIGN TABLE wrapped (id bigint) SERVER lake OPTIONS (metadata_location :'wrapped');
SELECT snapshot_id FROM lake.refs('wrapped') WHERE name = 'main';
SELECT count(*) FROM lake.at(NULL::wrapped, snapshot => -908650096998316601);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM wrapped;
SELECT snapshot_id FROM lake.pins();
COMMIT;

\echo == columns that the lake does not have do not matter
CREATE FOREIGN TABLE wrong (gone int OPTIONS (field_id '99')) SERVER lake
  OPTIONS (namespace 'cases', "table" 'refs');
SELECT count(*) FROM lake.snapshots('wrong');
SELECT * FROM wrong;

\echo == neither options nor settings choose what these functions show
SET lakefdw.as_of = '1970-01-02';
SELECT count(*) FROM lake.snapshots('cases.refs');
RESET lakefdw.as_of;
CREATE FOREIGN TABLE expired (id int) SERVER lake
  OPTIONS (namespace 'cases', "table" 'refs', snapshot_id '1');
SELECT count(*) FROM lake.snapshots('expired');
SELECT * FROM expired;

\echo == who may, and on what
SELECT * FROM lake.snapshots(NULL);
CREATE TABLE local (a int);
SELECT * FROM lake.snapshots('local');
SELECT * FROM lake.snapshots('pg_class');
SELECT * FROM lake.snapshots(0);
CREATE FOREIGN DATA WRAPPER bare;
CREATE SERVER bare FOREIGN DATA WRAPPER bare;
CREATE FOREIGN TABLE bare (a int) SERVER bare;
SELECT * FROM lake.refs('bare');
CREATE TABLE parent (id int) PARTITION BY LIST (id);
SELECT * FROM lake.schemas('parent');
DROP TABLE parent;
DROP FOREIGN DATA WRAPPER bare CASCADE;
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
DROP FOREIGN TABLE odd, wrong, expired, summaries, times, properties, wrapped, names;
DROP TABLE local;
