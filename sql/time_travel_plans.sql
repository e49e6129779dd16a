-- plans over versions: what is pushed, pruned and counted in each
CREATE SCHEMA plans;
SET search_path = plans, shop, cases;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;

-- ids, times and sizes differ each time that the sample lake is written
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS off')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
        CONTINUE WHEN line ~ 'Cache Hits: '; -- of what was read before
        line := regexp_replace(line, '(Bytes \w+: )[1-9]\d*$', '\1some');
        line := regexp_replace(line, '''?\d{16,}''?(::bigint)?', 'id', 'g');
        RETURN NEXT regexp_replace(line,
            '(Snapshot Time: )\d{4}-\d\d-\d\d [0-9:.]+\+00$', '\1time');
    END LOOP;
END $$;
SELECT s[1] AS s1, s[2] AS s2, s[4] AS s4
FROM (SELECT array_agg(snapshot_id ORDER BY committed_at) AS s
    FROM lake.snapshots('orders')) x \gset

-- columns, conditions, partitions and bounds of the version
SELECT plan(format('SELECT id FROM lake.at(NULL::orders, snapshot => %s)
    WHERE ordered_at >= ''2026-03-05'' AND ordered_at < ''2026-03-06'' AND amount > 490 AND length(status) > 3', :s1),
    'VERBOSE, COSTS off');
SELECT plan('SELECT id FROM lake.at(NULL::orders, ref => ''end-of-week'')
    WHERE ordered_at >= ''2026-03-05'' AND ordered_at < ''2026-03-06''');
SELECT plan(format('SELECT count(*) FROM lake.at(NULL::orders, snapshot => %s)', :s1));
SELECT plan(format('SELECT count(*) FROM lake.at(NULL::orders, snapshot => %s)', :s4),
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');
SELECT plan('SELECT * FROM lake.at(NULL::refs, as_of => now() + interval ''100 years'')');
-- rows are those of the version
SELECT plan(format('SELECT * FROM lake.at(NULL::orders, snapshot => %s)', :s1), 'FORMAT text')
    LIKE '%rows=1000 %' AS estimated LIMIT 1;

-- both versions in one query
SELECT plan(format('SELECT count(*) FROM orders a FULL JOIN lake.at(NULL::orders, snapshot => %s) b USING (id)
    WHERE a.id IS NULL OR b.id IS NULL', :s1));
-- by another relation's value, from a sub-select, as a sub-plan
SELECT plan(format('SELECT o.id FROM (VALUES (%s), (%s)) v(s), lake.at(NULL::orders, snapshot => v.s) o WHERE o.id < 10', :s1, :s2));
SELECT plan(format('SELECT o.id FROM (VALUES (%s), (%s)) v(s), lake.at(NULL::orders, snapshot => v.s) o WHERE o.id < 10', :s1, :s2),
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');
SELECT plan('SELECT count(*) FROM lake.at(NULL::orders, snapshot => (SELECT max(snapshot_id) FROM lake.snapshots(''orders'')))');
SELECT plan(format('SELECT (SELECT count(*) FROM lake.at(NULL::orders, snapshot => v.s)) FROM (VALUES (%s), (%s)) v(s)', :s1, :s2));

-- generic plans
PREPARE by_id(bigint) AS SELECT id FROM lake.at(NULL::orders, snapshot => $1) WHERE id < 10;
PREPARE by_time(timestamptz) AS SELECT id FROM lake.at(NULL::orders, as_of => $1);
PREPARE by_ref(text) AS SELECT count(*) FROM lake.at(NULL::orders, ref => $1);
SET plan_cache_mode = force_generic_plan;
SELECT plan(format('EXECUTE by_id(%s)', :s1));
SELECT plan('EXECUTE by_time(''2100-01-01'')');
SELECT plan('EXECUTE by_ref(''end-of-week'')');
RESET plan_cache_mode;
SELECT plan(format('EXECUTE by_id(%s)', :s1));

-- a node that is never executed
SELECT plan(format('SELECT * FROM empty e, lake.at(NULL::orders, snapshot => %s + e.id) o', :s1),
    'ANALYZE, COSTS off, TIMING off, SUMMARY off');
-- a dead branch of a plan does not look for its version
SELECT plan('SELECT * FROM lake.at(NULL::orders, ref => ''nothing'') WHERE false');

-- the table's option and the setting
CREATE FOREIGN TABLE tagged () SERVER lake OPTIONS (namespace 'cases', "table" 'refs', ref 'v1');
SELECT plan('SELECT * FROM tagged');
SET lakefdw.as_of = '2100-01-01';
SELECT plan('SELECT id FROM refs');
RESET lakefdw.as_of;

-- called as a function where nobody asks the planner
CREATE FUNCTION inlined(s bigint) RETURNS SETOF orders LANGUAGE sql STABLE AS
    $$ SELECT * FROM lake.at(NULL::orders, snapshot => s) $$;
SELECT plan(format('SELECT id FROM inlined(%s)', :s1));

-- several processes
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT line FROM plan(format('SELECT sum(amount) FROM lake.at(NULL::orders, snapshot => %s)', :s1)) line
    WHERE line ~ 'Aggregate|Gather|Scan';
SELECT sum(amount) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT sum(amount) FROM lake.at(NULL::orders, ref => 'end-of-week');
SET plan_cache_mode = force_generic_plan;
PREPARE summed(bigint) AS SELECT sum(amount) FROM lake.at(NULL::orders, snapshot => $1);
EXECUTE summed(:s1);
EXECUTE summed(:s4);
SELECT sum(amount) FROM lake.at(NULL::orders, snapshot => (SELECT snapshot_id FROM lake.snapshots('orders') WHERE parent_id IS NULL));

SET client_min_messages = warning;
DROP SCHEMA plans CASCADE;
