-- what the planner knows of lake tables: before ANALYZE, and after it
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE SCHEMA stats;
SET search_path = stats;
CREATE FOREIGN TABLE measures () SERVER lake OPTIONS (namespace 'py', "table" 'measures');
CREATE FOREIGN TABLE orders () SERVER lake OPTIONS (namespace 'shop', "table" 'orders');

CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
-- is the estimate that near to the truth?
CREATE FUNCTION near(factor float8, query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  actual float8;
  guess float8 := estimate(query);
BEGIN
  EXECUTE 'SELECT greatest(count(*), 1) FROM (' || query || ') x' INTO actual;
  IF guess BETWEEN actual / factor AND actual * factor THEN
    RETURN true;
  END IF;
  RAISE WARNING '% rows estimated, % are true: %', guess, actual, query;
  RETURN false;
END $$;

-- before the first ANALYZE: bounds of four files
CREATE TABLE conditions (n serial, factor float8, condition text);
INSERT INTO conditions (factor, condition) VALUES
  (1.1, 'id < 5000'), (1.1, 'id BETWEEN 12000 AND 12999'), (1.1, 'id >= 30000 OR id < 100'),
  (1.5, 'id = 77'), (1.5, 'batch = 77'), (1.5, 'id IN (1, 2, 30000)'), (1.1, 'NOT id < 10'),
  (1.1, 'taken < ''2026-02-01'''), (1.5, 'taken = ''2026-02-01'''),
  (1.1, 'taken > ''2026-03-01''::timestamp'), (1.1, 'zip < 10'), (1.2, 'zip = 10'),
  (1.1, 'zip <> 10'), (1.1, 'value IS NULL'), (1.1, 'value IS NOT NULL'),
  (1.1, 'value > 150'), (1.2, 'value = 7'), (1.2, 'price < 5'), (10, 'price = 5'),
  (1.1, 'unit = ''mm'''), (1.1, 'unit < ''n'''), (1.1, 'unit LIKE ''m%'''),
  (1.1, 'unit >= ''n'''), (2, 'town < ''town 15'' COLLATE "C"'), (1.1, 'id < 1000 AND value IS NULL'),
  (1.1, 'id + 0 < 5000 OR id >= 0'), (1.1, 'id > 1000000');
SELECT n, condition FROM conditions
WHERE NOT near(factor, 'SELECT FROM measures WHERE ' || condition) ORDER BY n;
-- joins, groups and parameters are estimated with them, too
SELECT near(1.2, 'SELECT FROM measures a JOIN measures b USING (id)') AS key,
  near(1.5, 'SELECT FROM measures a JOIN measures b USING (id) WHERE a.zip = 3') AS filtered,
  near(1.5, 'SELECT FROM measures a JOIN orders o ON a.zip = o.customer_id') AS reference,
  near(1.2, 'SELECT zip FROM measures GROUP BY zip') AS groups,
  near(1.2, 'SELECT DISTINCT batch FROM measures') AS "distinct",
  near(1.2, 'SELECT taken, unit FROM measures GROUP BY 1, 2') AS two;
PREPARE by_zip(int) AS SELECT FROM measures WHERE zip = $1;
SET plan_cache_mode = force_generic_plan;
SELECT estimate('EXECUTE by_zip(3)') BETWEEN 300 AND 500 AS generic;
RESET plan_cache_mode;
-- also where the column is declared with another type
CREATE DOMAIN postal AS bigint;
CREATE FOREIGN TABLE wide (id numeric, zip postal, taken timestamp, value smallint, unit varchar(4))
  SERVER lake OPTIONS (namespace 'py', "table" 'measures');
SELECT near(1.1, 'SELECT FROM wide WHERE id < 5000.5') AS "numeric",
  near(1.1, 'SELECT FROM wide WHERE zip > 49') AS domain,
  near(1.1, 'SELECT FROM wide WHERE taken < ''2026-02-01 00:00''') AS "timestamp",
  near(1.1, 'SELECT FROM wide WHERE value < 20') AS "smallint",
  near(1.1, 'SELECT FROM wide WHERE unit = ''mm''') AS "varchar";
CREATE FOREIGN TABLE types (id int, i smallint, l int, n38 numeric, da date, ts timestamp, f float8, u uuid, bi bytea, s text)
  SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT count(*) FROM (VALUES ('l < 5'), ('n38 < 0'), ('da < ''2000-01-01'''), ('ts < ''2000-01-01'''),
  ('f < 0'), ('u < ''80000000-0000-0000-0000-000000000000'''), ('bi < ''\x80'''), ('s < ''m''')) q(c)
WHERE near(3, 'SELECT id FROM types WHERE ' || replace(c, 'l < 5', 'id < 5'));
-- bounds that the declared type cannot show
SELECT estimate('SELECT FROM types WHERE i < 5') AS "smallint", estimate('SELECT FROM types WHERE l > 5') AS "integer";
CREATE FOREIGN TABLE odd (id int, da date, ts timestamp) SERVER lake OPTIONS (namespace 'py', "table" 'odd');
SELECT estimate('SELECT FROM odd WHERE da < ''2020-01-01''') > 0 AS dates;
-- a table without metrics, an empty one, one without its last rows
SELECT estimate('SELECT FROM cases.no_metrics WHERE id = 1') AS no_metrics,
  estimate('SELECT FROM cases.empty WHERE id = 1') AS empty,
  near(1.5, 'SELECT FROM orders WHERE id > 500') AS deleted;
-- who may not see the rows is not told by a plan of his own function
CREATE FUNCTION leak(int, int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN RAISE WARNING 'seen: %', $1; RETURN $1 < $2; END $$;
CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = leak, RESTRICT = scalarltsel);
CREATE ROLE stats_reader;
GRANT USAGE ON SCHEMA stats TO stats_reader;
GRANT SELECT (id) ON measures TO stats_reader;
SET ROLE stats_reader;
EXPLAIN (COSTS OFF) SELECT FROM measures WHERE zip <<< 5;
RESET ROLE;
DROP OPERATOR <<<(int, int);

-- ANALYZE: all of a table that is small; the detail has bytes
\set VERBOSITY terse
ANALYZE VERBOSE measures;
SELECT reltuples FROM pg_class WHERE oid = 'measures'::regclass;
SELECT attname, null_frac, n_distinct,
  CASE WHEN abs(correlation) > 0.8 THEN 'strong' WHEN abs(correlation) < 0.1 THEN 'none' END AS correlation
FROM pg_stats WHERE schemaname = 'stats' AND tablename = 'measures'
AND attname NOT IN ('value', 'price') ORDER BY 1;
SELECT attname, null_frac BETWEEN 0.23 AND 0.27 AS null_frac, n_distinct
FROM pg_stats WHERE schemaname = 'stats' AND tablename = 'measures' AND attname IN ('value', 'price') ORDER BY 1;
UPDATE conditions SET factor = 1.3;
SELECT n, condition FROM conditions
WHERE NOT near(factor, 'SELECT FROM measures WHERE ' || condition) ORDER BY n;
SELECT near(1.4, 'SELECT FROM measures WHERE town = ''town 3''') AS town,
  near(1.4, 'SELECT town FROM measures GROUP BY town') AS groups;

-- columns that know of each other
SELECT count(*) FROM measures WHERE zip = 17 AND town = 'town 3';
SELECT estimate('SELECT FROM measures WHERE zip = 17 AND town = ''town 3''') < 100 AS independent,
  estimate('SELECT town, zip FROM measures GROUP BY 1, 2') > 1000 AS groups;
CREATE STATISTICS places (ndistinct, dependencies, mcv) ON zip, town FROM measures;
ANALYZE measures;
SELECT near(1.5, 'SELECT FROM measures WHERE zip = 17 AND town = ''town 3''') AS dependent,
  near(1.4, 'SELECT town, zip FROM measures GROUP BY 1, 2') AS groups,
  near(1.5, 'SELECT FROM measures WHERE zip = 17 AND town = ''town 4''') AS impossible;
DROP STATISTICS places;

-- windows of a table that is larger than the sample needs
SET default_statistics_target = 1;
ANALYZE VERBOSE measures;
SELECT reltuples FROM pg_class WHERE oid = 'measures'::regclass;
-- each file is in order, and the newest comes first
SELECT attname, correlation < -0.8 AS correlation,
  CASE WHEN n_distinct < 0 THEN -n_distinct * 40000 ELSE n_distinct END
    BETWEEN 20000 AND 40000 AS "distinct"
FROM pg_stats WHERE schemaname = 'stats' AND tablename = 'measures' AND attname = 'id';
SELECT abs(null_frac - 0.25) < 0.12 AS null_frac, n_distinct BETWEEN 50 AND 400 AS "distinct"
FROM pg_stats WHERE schemaname = 'stats' AND tablename = 'measures' AND attname = 'value';
RESET default_statistics_target;

-- deletes, nothing at all, another version
CREATE FOREIGN TABLE eq_many () SERVER lake OPTIONS (namespace 'cases', "table" 'eq_many');
CREATE FOREIGN TABLE empty () SERVER lake OPTIONS (namespace 'cases', "table" 'empty');
CREATE FOREIGN TABLE all_deleted () SERVER lake OPTIONS (namespace 'cases', "table" 'all_deleted');
ANALYZE VERBOSE orders;
SELECT reltuples, (SELECT count(*) FROM orders) FROM pg_class WHERE oid = 'orders'::regclass;
SET default_statistics_target = 1;
ANALYZE eq_many;
RESET default_statistics_target;
SELECT reltuples < 50 AS equality_deletes FROM pg_class WHERE oid = 'eq_many'::regclass;
ANALYZE eq_many;
SELECT reltuples FROM pg_class WHERE oid = 'eq_many'::regclass;
ANALYZE VERBOSE empty;
ANALYZE VERBOSE all_deleted;
SELECT snapshot_id AS first_id FROM lake.snapshots('measures') ORDER BY committed_at LIMIT 1 \gset
CREATE FOREIGN TABLE first_version () SERVER lake
  OPTIONS (namespace 'py', "table" 'measures', snapshot_id :'first_id');
SELECT near(1.4, 'SELECT FROM first_version WHERE id < 5000') AS before,
  near(1.4, format('SELECT FROM lake.at(NULL::measures, snapshot => %s) WHERE value < 50', :'first_id')) AS "at";
ANALYZE first_version;
SELECT reltuples FROM pg_class WHERE oid = 'first_version'::regclass;
SELECT near(1.4, 'SELECT FROM first_version WHERE id < 5000') AS after;

-- partitions of a local table
CREATE TABLE history (LIKE measures) PARTITION BY RANGE (id);
CREATE TABLE recent PARTITION OF history FOR VALUES FROM (40000) TO (50000);
INSERT INTO recent SELECT i, i / 100, '2026-12-01', 'here', 1, NULL, NULL, 'mm' FROM generate_series(40000, 41999) i;
ALTER TABLE history ATTACH PARTITION measures FOR VALUES FROM (0) TO (40000);
ANALYZE history;
SELECT reltuples FROM pg_class WHERE oid = 'history'::regclass;
SELECT inherited, null_frac BETWEEN 0.26 AND 0.32 AS null_frac
FROM pg_stats WHERE schemaname = 'stats' AND tablename = 'history' AND attname = 'value';
SELECT near(1.4, 'SELECT FROM history WHERE town = ''here''') AS local_part,
  near(1.4, 'SELECT FROM history WHERE id >= 30000') AS both_parts;

-- a part that one row of the sample is for, most of whose rows are deleted
SET default_statistics_target = 1;
CREATE TABLE tree (id bigint) PARTITION BY RANGE (id);
CREATE TABLE large PARTITION OF tree FOR VALUES FROM (1000) TO (100000) WITH (fillfactor = 10);
INSERT INTO large SELECT generate_series(1000, 12000);
CREATE FOREIGN TABLE small PARTITION OF tree FOR VALUES FROM (0) TO (1000)
  SERVER lake OPTIONS (namespace 'cases', "table" 'deletion_vectors');
DO $$ BEGIN FOR i IN 1..100 LOOP ANALYZE tree; END LOOP; END $$;
SELECT reltuples BETWEEN 10000 AND 12000 AS near FROM pg_class WHERE oid = 'tree'::regclass;
RESET default_statistics_target;

DROP OWNED BY stats_reader;
DROP ROLE stats_reader;
DROP SCHEMA stats CASCADE;
