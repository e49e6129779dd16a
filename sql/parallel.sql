-- scans by several processes: plans, and the same answers as of one
CREATE SCHEMA parallel;
SET search_path = parallel, shop, cases, transforms;
SET timezone = 'UTC';
\getenv lake LAKE_DIR
\set map 'file:///srv/lake=' :lake

-- nothing is too small, and workers cost nothing
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;

-- a metadata file and a hosted table beside those of the file catalog
SELECT format('file://%s/cases/some_nulls/metadata/v3.metadata.json', :'lake')
    AS location \gset
CREATE FOREIGN TABLE fixed () SERVER lake
    OPTIONS (metadata_location :'location');
CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw
    OPTIONS (warehouse :'lake', path_map :'map');
INSERT INTO lake.iceberg_tables (catalog_name, table_namespace, table_name,
        metadata_location)
    VALUES ('lake', 'parallel', 'hosted', :'location');
CREATE FOREIGN TABLE hosted () SERVER hosted
    OPTIONS (namespace 'parallel', "table" 'hosted');

-- nodes only
CREATE FUNCTION shape(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
        IF line !~ '^ *(Lake Table|Snapshot|Files|Delete Files|Bytes)' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;

SELECT * FROM shape('SELECT sum(id) FROM orders WHERE amount > 100');
SELECT * FROM shape('SELECT id FROM orders WHERE length(status) > 3');
-- metadata knows it at once
SELECT * FROM shape('SELECT count(*) FROM fixed');
-- here it has to be counted
SELECT * FROM shape('SELECT count(*) FROM pos_deletes');
SELECT * FROM shape('SELECT status, count(*), avg(amount) FROM orders GROUP BY 1
    ORDER BY 1');
SELECT * FROM shape('SELECT count(*) FROM orders o JOIN events e ON e.id = o.id');
SELECT * FROM shape('SELECT sum(id) FROM
    (SELECT id FROM orders UNION ALL SELECT id FROM fixed) u');
-- small tables are not worth a worker
RESET parallel_setup_cost;
SELECT * FROM shape('SELECT sum(id) FROM orders');
SET parallel_setup_cost = 0;
RESET min_parallel_table_scan_size;
SELECT * FROM shape('SELECT sum(id) FROM orders');
SET min_parallel_table_scan_size = 0;
-- nor are restricted conditions possible in one
SELECT * FROM shape('SELECT sum(id) FROM orders WHERE id > random()');
SELECT * FROM shape('SELECT sum(id) FROM orders WHERE id > setseed(0)::text::int');
-- as a whole a scan runs in a worker if the snapshot alone says what it reads
SET parallel_setup_cost = 1000;
SELECT set_config(name, 'on', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT * FROM shape('SELECT id FROM fixed');
SELECT * FROM shape('SELECT id FROM hosted');
SELECT * FROM shape('SELECT id FROM orders');
SELECT * FROM shape('SELECT count(*) FROM orders');
SELECT count(*), sum(id) FROM fixed;
SELECT count(*), sum(id) FROM hosted;
SELECT count(*), sum(id) FROM orders;
SELECT set_config(name, 'off', false) FROM pg_settings
    WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET parallel_setup_cost = 0;

-- ---- the same rows as of one process ----
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format('SELECT concat_ws('' '', count(*), md5(string_agg(r::text,
        e''\n'' ORDER BY r::text))) FROM (%s) r', query) INTO result;
    RETURN result;
END $$;
CREATE FUNCTION same(query text, OUT gathers bool, OUT rows text, OUT same bool)
LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    serial text;
    several text := answer(query);
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    gathers := plan::text ~ '"Gather';
    SET LOCAL max_parallel_workers_per_gather = 0;
    serial := answer(query);
    SET LOCAL max_parallel_workers_per_gather = 2;
    rows := split_part(serial, ' ', 1);
    same := serial IS NOT DISTINCT FROM several;
END $$;

-- each table, whatever it has: deletes, partitions, old schemas, nested columns
WITH mapped AS MATERIALIZED (SELECT format('%I.%I', foreign_table_schema,
        foreign_table_name) AS t
    FROM information_schema.foreign_tables
    WHERE foreign_table_schema IN ('shop', 'cases', 'transforms', 'parallel',
        'py') AND foreign_table_name NOT IN ('avro_files', 'orc_files', 'odd'))
SELECT t, s.* FROM mapped, same('SELECT * FROM ' || t) s ORDER BY 1;

SELECT q, s.* FROM (VALUES
    ('SELECT id, amount FROM orders WHERE id BETWEEN 300 AND 700'),
    ('SELECT id FROM orders WHERE id % 7 = 3 AND status <> ''paid'''),
    ('SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)'),
    ('SELECT id FROM orders WHERE id IN (SELECT id FROM events)'),
    ('SELECT id FROM orders WHERE id = ANY ((SELECT array_agg(id) FROM events WHERE id < 9)::bigint[])'),
    ('SELECT count(*), sum(id) FROM orders WHERE id < 0'),
    ('SELECT count(*) FROM pos_deletes'),
    ('SELECT count(*) FROM eq_deletes'),
    ('SELECT count(*) FROM deletion_vectors'),
    ('SELECT count(id), count(*) FROM all_deleted'),
    ('SELECT count(id) FROM empty'),
    ('SELECT id FROM orders UNION ALL SELECT id FROM events UNION ALL SELECT id FROM fixed'),
    ('SELECT o.id, e.id FROM orders o JOIN events e ON e.id = o.id'),
    ('SELECT o.id, e.id FROM orders o LEFT JOIN events e ON e.id = o.id + 100'),
    ('SELECT status, sum(amount) FROM orders GROUP BY status'),
    ('SELECT DISTINCT status FROM orders'),
    -- rescans, with other values each time
    ('SELECT o, (SELECT sum(id) FROM orders WHERE id < (SELECT o * 100)) FROM generate_series(0, 11) o'),
    -- and with the same ones
    ('SELECT o, (SELECT sum(id) FROM orders WHERE id < 500) + (SELECT o) FROM generate_series(1, 3) o'),
    ('SELECT o, (SELECT sum(id) FROM (SELECT id FROM orders LIMIT 2000) l WHERE o > 1) FROM generate_series(1, 3) o'),
    ('SELECT a.id, b.id FROM lake.at(NULL::refs, ref => ''audit'') a FULL JOIN refs b USING (id)'),
    -- versions that are chosen while the scan runs
    ('SELECT n, (SELECT count(id) FROM lake.at(NULL::orders, snapshot => (SELECT s[n])))
      FROM (SELECT array_agg(snapshot_id ORDER BY committed_at) AS s FROM lake.snapshots(''orders'')) s, generate_series(1, 4) n'),
    ('SELECT r, (SELECT sum(id) FROM lake.at(NULL::refs, ref => (SELECT r))) FROM unnest(''{main,v1,audit}''::text[]) r')
    ) v (q), same(q) s;

-- without any worker, without the leader, and by a portal that asks row by row
SET max_parallel_workers = 0;
SELECT count(id), sum(id) FROM orders;
RESET max_parallel_workers;
CREATE VIEW two AS SELECT id FROM pos_deletes UNION ALL SELECT id FROM orders;
SET parallel_leader_participation = off;
SELECT * FROM shape('SELECT count(id), sum(id) FROM two');
SELECT count(id), sum(id) FROM two;
SELECT count(*) FROM (SELECT id FROM two LIMIT 5) l;
RESET parallel_leader_participation;
CREATE FUNCTION by_rows() RETURNS TABLE (n bigint, total numeric)
LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    n := 0; total := 0;
    FOR r IN SELECT id FROM orders WHERE id > 17 LOOP
        n := n + 1; total := total + r.id;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT * FROM by_rows();
SELECT count(id), sum(id) FROM orders WHERE id > 17;
BEGIN;
DECLARE c CURSOR FOR SELECT count(id) FROM orders;
FETCH ALL FROM c;
COMMIT;
-- stopped early, again and again
SELECT sum(n) FROM generate_series(1, 20) g, LATERAL
    (SELECT count(*) AS n FROM (SELECT id FROM orders WHERE id > g LIMIT 3) l) l;
CREATE TABLE copied AS SELECT id FROM orders WHERE id < 100;
SELECT count(*) FROM copied;

-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE above(bigint) AS SELECT count(id), min(id) FROM orders WHERE id > $1;
SELECT * FROM shape('EXECUTE above(10)');
EXECUTE above(10);
EXECUTE above(NULL);
-- no bigint, but a value all the same
PREPARE between_two(numeric) AS SELECT count(id) FROM orders WHERE id > $1;
EXECUTE between_two(1000.5);
RESET plan_cache_mode;

-- ---- EXPLAIN ANALYZE counts what all processes did ----
CREATE FUNCTION counted(query text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
    key text;
    sums jsonb := '{}';
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    FOREACH key IN ARRAY '{Row Groups Total,Row Groups Skipped,
        Rows Removed By Deletes}'::text[]
    LOOP
        sums := sums || (SELECT jsonb_build_object(key, sum(v::bigint))
            FROM jsonb_path_query(plan, format('strict $.**."%s"', key)::jsonpath)
                v);
    END LOOP;
    RETURN NEXT sums;
END $$;
CREATE FUNCTION counted_twice(query text) RETURNS TABLE (serial jsonb, same bool)
LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL max_parallel_workers_per_gather = 0;
    serial := counted(query);
    SET LOCAL max_parallel_workers_per_gather = 2;
    same := counted(query) = serial;
    RETURN NEXT;
END $$;
CREATE TEMP TABLE queries AS SELECT * FROM unnest(ARRAY[
    'SELECT id FROM two', 'SELECT id FROM two WHERE id >= 150',
    'SELECT count(*) FROM two',
    'SELECT id FROM eq_deletes UNION ALL SELECT id FROM deletion_vectors']) q;
SELECT q, c.* FROM queries, counted_twice(q) c;
SET parallel_leader_participation = off;
SELECT q, c.* FROM queries, counted_twice(q) c;
-- what workers read before a LIMIT stops them is counted as well
SELECT (c->>'Row Groups Total')::int > 0 AS some
FROM counted('SELECT id FROM two LIMIT 5') c;

-- ---- errors ----
\set VERBOSITY terse
SELECT sum(1 / (id - 200)) FROM two;
SELECT count(id) FROM two;
SET parallel_leader_participation = on;
-- each time that lake.at's argument is asked for it may be longer
CREATE FUNCTION growing(text) RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
    RETURN $1 || repeat('x', pg_stat_get_xact_function_calls('growing'::regproc)::int / 2 * 300);
END $$;
SET track_functions = 'all';
SELECT * FROM shape('SELECT sum(id) FROM lake.at(NULL::orders, ref => growing((SELECT ''main'')))');
\set VERBOSITY sqlstate
SELECT sum(id) FROM lake.at(NULL::orders, ref => growing((SELECT 'main')));
\set VERBOSITY terse
RESET track_functions;
-- processes that see different files must not divide them
CREATE FUNCTION own_value() RETURNS bigint LANGUAGE plpgsql
    STABLE PARALLEL SAFE COST 1000 AS $$
BEGIN
    RETURN CASE pg_backend_pid()::text
        WHEN current_setting('parallel.leader') THEN 0 ELSE 1000000 END;
END $$;
SELECT set_config('parallel.leader', pg_backend_pid()::text, false) <> '';
SELECT * FROM shape('SELECT count(id) FROM orders WHERE id > own_value()');
\set VERBOSITY sqlstate
SELECT count(id) FROM orders WHERE id > own_value();
\set VERBOSITY default
SELECT count(id) FROM orders;

SET client_min_messages = warning;
DROP SCHEMA parallel CASCADE;
DROP SERVER hosted CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'parallel';
