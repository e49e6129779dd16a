-- what EXPLAIN says of a lake scan, as text and as JSON
CREATE SCHEMA explain;
SET search_path = explain, shop, cases, transforms;
SET timezone = 'UTC';

-- ids, times and sizes differ each time that the sample lake is written
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS off')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
        line := regexp_replace(line, '(Snapshot Id: )\d+$', '\1id');
        line := regexp_replace(line, '(Bytes \w+: )[1-9]\d*$', '\1some');
        RETURN NEXT regexp_replace(line,
            '(Snapshot Time: )\d{4}-\d\d-\d\d [0-9:.]+\+00$', '\1time');
    END LOOP;
END $$;

SELECT * FROM plan('SELECT id FROM orders
    WHERE ordered_at >= ''2026-03-05'' AND ordered_at < ''2026-03-06''
        AND amount > 490 AND length(status) > 3');
-- the scan's rows have the shape of the target list where nothing else needs
-- columns (local conditions on the same ones may stay)
SELECT * FROM plan('SELECT status, id FROM orders WHERE length(status) > 7',
    'VERBOSE, COSTS off');
SELECT * FROM plan('SELECT status, id FROM orders WHERE id = 1',
    'VERBOSE, COSTS off');
SELECT * FROM plan(
    'SELECT id FROM pos_deletes WHERE id >= 150',
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');
SELECT * FROM plan(
    'SELECT * FROM deletion_vectors',
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');
SELECT * FROM plan('SELECT * FROM empty');
SELECT * FROM plan(
    'SELECT count(*) FROM empty',
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');
-- a node that is never executed still says what it would have done
SELECT * FROM plan(
    'SELECT * FROM empty e JOIN deletion_vectors d ON d.id = e.id + 1',
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');

CREATE FUNCTION node(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, COSTS off) ' || query INTO plan;
    plan := plan->0->'Plan';
    WHILE plan ? 'Plans' LOOP
        plan := plan->'Plans'->0;
    END LOOP;
    RETURN plan;
END $$;
SELECT key, CASE WHEN key ~ '^(Snap|Bytes)' THEN jsonb_typeof(value)
    ELSE value::text END
FROM jsonb_each(node(
    'SELECT id FROM pos_deletes WHERE id >= 150 AND val LIKE ''%9'' COLLATE "C"'))
WHERE key ~ '^(Lake|Snap|Push|Files|Delete|Bytes|Row G|Rows Removed By D)';

-- files pruned by the partition transforms, for each kind of condition
SELECT t, q, n->>'Files Skipped By Partition' AS by_partition,
    n->>'Files Skipped By Bounds' AS by_bounds, n->>'Files Total' AS total,
    n->>'Actual Rows' AS rows
FROM (VALUES
    ('bucket_int', 'i = 34'), ('bucket_int', 'i IN (34, -11)'),
    ('bucket_long', 'l = -11 OR l IS NULL'), ('bucket_text', 't = ''iceberg'''),
    ('bucket_decimal', 'dec = 14.20'), ('bucket_decimal', 'dec = 14.205'),
    ('truncate_int', 'i < 0'), ('truncate_int', 'i >= 30'),
    ('truncate_text', 't LIKE ''ice%'' COLLATE "C"'),
    ('truncate_text', 't = ''icy'''),
    ('truncate_decimal', 'dec BETWEEN 0 AND 49'),
    ('year_date', 'd < ''1970-01-01'''), ('month_date', 'd = ''2017-11-30'''),
    ('day_ts', 'ts >= ''2026-01-01'''), ('hour_ts', 'ts IS NULL'),
    ('hour_ts', 'ts < ''1970-01-01 UTC'''),
    ('identity_text', 't <> ''iceberg'''), ('identity_text', 't IS NOT NULL'),
    ('identity_decimal', 'dec NOT IN (0, 14.2)')) v (t, q),
    LATERAL node(format('SELECT id FROM %I WHERE %s', t, q)) n;

-- a count from manifests reads no data file, one with deletes does
SELECT t, n->>'Pushed Aggregate' AS aggregate, n->>'Bytes Read' = '0' AS unread,
    n->>'Rows Removed By Deletes' AS deleted
FROM unnest(ARRAY['bucket_int', 'pos_deletes', 'deletion_vectors', 'empty']) t,
    LATERAL node('SELECT count(*) FROM ' || t) n;

-- what was parsed once serves the scans after it: metadata file, list, manifest
-- (footers do not count); each rescan with another value finds list and manifest
SELECT n->>'Cache Hits' AS hits, n->>'Actual Loops' AS loops
FROM (VALUES ('SELECT id FROM bucket_int WHERE i = 34'),
    ('SELECT (SELECT count(id) FROM bucket_int WHERE i = v) FROM generate_series(1, 3) v')) q (query),
    LATERAL node(query) n;
-- a lower limit applies at once
CREATE VIEW cached AS SELECT count(*) > 0 AS has_entries
FROM pg_backend_memory_contexts WHERE parent = 'lake metadata cache';
SELECT has_entries FROM cached;
SET lakefdw.metadata_cache = 0;
SELECT has_entries FROM cached;
-- without room for more, there is what the query still holds: the metadata
SELECT node('SELECT id FROM bucket_int WHERE i = 34')->>'Cache Hits' AS hits;
RESET lakefdw.metadata_cache;

-- auto_explain shows a scan that was never executed when its query has ended
CREATE TABLE wanted AS SELECT 1 AS id;
CREATE FUNCTION wanted_id() RETURNS int LANGUAGE plpgsql STABLE AS
  'BEGIN RETURN (SELECT id FROM wanted); END';
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SELECT id FROM empty WHERE id = wanted_id() LIMIT 0;
SET auto_explain.log_min_duration = -1;

SET client_min_messages = warning;
DROP SCHEMA explain CASCADE;
