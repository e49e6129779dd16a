-- a pushed qual keeps the rows that PostgreSQL's own evaluation keeps
CREATE SCHEMA pushdown;
SET search_path = pushdown, py, cases, transforms;
\set SHOW_CONTEXT never

-- the plan without what depends on the files' metadata
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
        IF line !~ '^ *(Lake Table|Snapshot|Files|Delete Files|Bytes)' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;

-- the same rows on the heap, and one qual asked of both: where was it
-- evaluated, how many rows, and are they the same ones?
CREATE FUNCTION scan_node(query text, OUT pushed text, OUT local text)
LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json, COSTS off) ' || query INTO plan;
    plan := plan->0->'Plan';
    WHILE plan->'Plans' IS NOT NULL LOOP
        plan := plan->'Plans'->0;
    END LOOP;
    pushed := plan->>'Pushed Filter';
    local := plan->>'Filter';
END $$;

CREATE FUNCTION ask(relation text, quals text[])
RETURNS TABLE (qual text, pushed text, local boolean, ids int[], same boolean)
LANGUAGE plpgsql AS $$
DECLARE
    expected int[];
    query text;
BEGIN
    EXECUTE format('CREATE TEMP TABLE heap AS TABLE %s', relation);
    FOREACH qual IN ARRAY quals LOOP
        query := 'SELECT array_agg(id ORDER BY id) FROM pg_temp.heap WHERE ' || qual;
        EXECUTE query INTO expected;
        query := replace(query, 'pg_temp.heap', relation);
        EXECUTE query INTO ids;
        SELECT n.pushed, n.local IS NOT NULL INTO pushed, local
            FROM scan_node(query) n;
        same := ids IS NOT DISTINCT FROM expected;
        RETURN NEXT;
    END LOOP;
    DROP TABLE heap;
END $$;

-- integers, and literals that no integer equals
SELECT * FROM ask('types', ARRAY[
    'i = 2147483647', 'i <> 2147483647', 'i < 0', '0 >= i', 'i > 3000000000',
    'i < 3000000000', 'i <> 3000000000', 'i = 3000000000', 'i >= -2147483648',
    'i > 1.5', 'i = 1.5', 'i <> 1.5', 'i < -2147483648.5', 'i < 1e300::float8',
    'i > ''NaN''::float8', 'i < ''NaN''::float8', 'l > i', 'l = 9223372036854775807',
    'l < 9223372036854775807.5', 'l > -1::smallint', 'l < 1e3::float8',
    'i % 2 = 1', 'i::text = ''''', 'abs(id) > 1', 'i BETWEEN -5 AND 2147483647',
    'i NOT BETWEEN -5 AND 5', 'i IN (1, 2147483647)', 'i NOT IN (1, 2147483647)',
    'i IN (1, NULL, 2147483647)', 'i NOT IN (1, NULL)', 'i = ANY (''{}'')',
    'i <> ALL (''{}'')', 'i = ANY (NULL::int[])', 'i < ANY (''{1,2}'')',
    'l IN (1.5, 9223372036854775807)', 'i IN (1, 3000000000)',
    'i IS NULL', 'i IS NOT NULL', 'NOT i IS NULL']);

-- booleans, AND, OR, NOT in SQL's three-valued logic
SELECT * FROM ask('types', ARRAY[
    'b', 'NOT b', 'b = true', 'b <> true', 'b IS TRUE', 'b IS NOT TRUE',
    'b IS FALSE', 'b IS NOT FALSE', 'b IS UNKNOWN', 'b IS NOT UNKNOWN',
    'NOT (b IS TRUE)', 'NOT (i > 0)', 'NOT (i > 0 AND b)', 'NOT (i > 0 OR b)',
    'NOT (i > NULL)', 'i > 0 OR i IS NULL', 'NOT (i > 0 OR i IS NULL)',
    'NOT (i IN (2147483647))', 'NOT (i NOT IN (2147483647))',
    'NOT (i = ANY (''{}''))', 'b OR random() < 0', '(b OR i < 0) AND id > 1',
    'i > 0 OR l % 2 = 1', 'id = 1 OR id = 3', 'i > 0 OR NULL']);

-- floats: NaN equals itself and is the greatest, -0.0 = 0.0
SELECT * FROM ask('floats', ARRAY[
    'd = ''NaN''', 'd <> ''NaN''', 'd > 3', 'd >= ''Infinity''',
    'd < ''NaN''', 'NOT (d < 1e300)', 'd = 0', 'd < 0', 'd <= -0.0', 'd >= 0',
    'f = 3', 'f > 1e300::float8', 'f >= 3.4028235e38::float8',
    'f < -1e300::float8', 'f = 0.1', 'f <> 0.1', 'f = ''NaN''::float8',
    'f IN (3, ''NaN'', ''Infinity'')', 'd NOT IN (3, ''NaN'')', 'd > f',
    'd = 3::numeric', 'f IS NULL']);

-- numeric: literals between two values, too large, not numbers
SELECT * FROM ask('types', ARRAY[
    'n9 = 1234567.89', 'n9 = 1234567.890', 'n9 = 1234567.891',
    'n9 <> 1234567.891', 'n9 < 1234567.891', 'n9 <= 1234567.889', 'n9 > -0.015',
    'n9 > -0.01', 'n9 < 1e30', 'n9 > -1e30', 'n9 < ''NaN''', 'n9 > ''NaN''',
    'n9 <> ''NaN''', 'n9 < ''Infinity''', 'n9 > ''-Infinity''', 'n9 = 0',
    'n18 = -0.000001', 'n38 > 0', 'n38 = 1234567890123456789012345678.0123456789',
    'n38 < 1e28', 'n9 IN (-0.01, 1, 0.001)', 'n9 = (-0.01)::float8']);

-- dates, times, timestamps
SELECT * FROM ask('types', ARRAY[
    'da = ''9999-12-31''', 'da < ''infinity''', 'da > ''infinity''',
    'da <> ''-infinity''', 'da >= timestamp ''0001-01-01 00:00:00.000001''',
    'da <= timestamp ''9999-12-31 12:00''', 'da < timestamptz ''2026-01-01 UTC''',
    'ti > ''12:00''', 'ti = ''24:00''', 'ts > ''2026-03-01 12:00''',
    'ts = ''2026-03-01 12:00:00.000001''', 'ts < date ''2026-01-01''',
    'ts > ''infinity''', 'tz >= ''2026-03-01 12:00 UTC''',
    'tz < ''1970-01-01 UTC''', 'tz > date ''2000-01-01''', 'ts = tz', 'extract(year FROM ts) = 2026']);

-- uuid and bytea
SELECT * FROM ask('types', ARRAY[
    'u = ''f79c3e09-677c-4bbd-a479-3f349cb785e7''',
    'u > ''00000000-0000-0000-0000-000000000000''',
    'u IN (''00000000-0000-0000-0000-000000000000'')',
    'fx = ''abcd''', 'fx < ''abcd''', 'fx > ''abc''', 'bi = ''\x00ff''',
    'bi > ''''', 'bi >= ''\x00''', 'bi < ''\x00ff00''', 'bi LIKE ''%''']);

-- text: order and LIKE only where the collation's order is that of bytes
SELECT * FROM ask('types', ARRAY[
    's = ''''', 's <> ''''', 's > ''z''', 's < ''z'' COLLATE "C"',
    's > ''z'' COLLATE "POSIX"', 's LIKE ''z_rich%'' COLLATE "C"',
    's NOT LIKE ''z%'' COLLATE "C"', 's LIKE ''%\%'' COLLATE "C"',
    's LIKE ''zu'' COLLATE "C"', 's ILIKE ''Z%''', 's ~ ''^z''',
    's IN (''a'', '''')', 's NOT IN (''a'', '''')', 's IS NULL',
    's = ''x''::char(3)', 's::varchar = ''''', 'length(s) > 0',
    's || ''x'' = ''x''']);
CREATE COLLATION loose
    (provider = icu, locale = 'und', deterministic = false);
SELECT * FROM ask('text_bounds', ARRAY[
    't = ''aaa'' COLLATE loose', 't IN (''aaa'') AND t > ''a'' COLLATE "C"',
    't >= ''aaaaaaaaaaaaaaa'' COLLATE "C"', 't LIKE ''a%'' COLLATE "C"',
    't > U&''z\+10FFFF'' COLLATE "C"', 't LIKE ''%more'' COLLATE "C"']);
SELECT * FROM plan(
    'SELECT id FROM text_bounds WHERE t = ''aaa'' COLLATE loose');

-- a pattern that ends in the escape character is PostgreSQL's to refuse
SELECT * FROM types WHERE s LIKE 'z%\' COLLATE "C";

-- a declared type that is not the field's own: widenings are compared exactly,
-- narrowings are not pushed, since they must raise their errors
CREATE FOREIGN TABLE declared (
    id bigint, i numeric, l int, f float8, n9 numeric(9,1), n18 numeric(20,6),
    ts timestamp(0), s varchar(3), b char(1) OPTIONS (column_name 's'),
    v varchar OPTIONS (column_name 's'))
SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT q, n.pushed, n.local FROM unnest(ARRAY[
    'id > 1', 'i > 1.5', 'l > 0', 'f > 0.1', 'n9 > 0', 'n18 > 0',
    'ts > ''2026-01-01''', 's = ''a''', 'b = ''a''', 'v = ''a''',
    'id::numeric > 1.5', 'id::int > 1']) q,
    scan_node('SELECT id FROM declared WHERE ' || q) n;
SELECT id FROM declared WHERE l < 0;

-- columns that are not in the files: initial defaults, file and position
CREATE FOREIGN TABLE reserved (
    id int, n int, _file text, _pos bigint, _spec_id int)
SERVER lake OPTIONS (namespace 'cases', "table" 'defaults');
SELECT * FROM ask('reserved', ARRAY[
    'n = 42', 'n <> 42', '_pos = 0', '_pos > 0', '_spec_id = 0',
    '_file IS NULL', '_file LIKE ''%.parquet'' COLLATE "C" AND id > 1',
    '_file = (SELECT _file FROM reserved WHERE id = 3)']);

-- parameters and stable expressions are evaluated when the scan starts
PREPARE by_id (int, int[], text) AS
    SELECT id, s FROM types WHERE id > $1 AND id = ANY ($2) AND s = $3;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM plan('EXECUTE by_id (0, ''{1,2}'', '''')');
EXECUTE by_id (0, '{1,2}', '');
EXECUTE by_id (1, '{1,2,NULL}', '');
EXECUTE by_id (2, '{1,2}', '');
EXECUTE by_id (NULL, '{1,2}', '');
EXECUTE by_id (0, NULL, '');
-- a value without an exact image is evaluated row by row
PREPARE matching (text) AS
    SELECT id FROM types WHERE s LIKE $1 COLLATE "C" ORDER BY id;
SELECT * FROM plan('EXECUTE matching (''z%'')');
EXECUTE matching ('z%');
SELECT * FROM plan('EXECUTE matching (''z%\'')');
EXECUTE matching ('z%\');
RESET plan_cache_mode;
SELECT * FROM plan(
    'SELECT id FROM types WHERE id > (SELECT min(v) FROM some_nulls) - 9');
SELECT id FROM types WHERE id > (SELECT min(v) FROM some_nulls) - 9;
-- ... and again for each row of a correlated sub-query
SELECT n.id, (SELECT count(*) FROM types t WHERE t.id < n.id) AS less
FROM some_nulls n ORDER BY n.id;
-- a stable expression is evaluated once, also by EXPLAIN
SELECT pushed ~ '^tz < ''2', local FROM scan_node(
    'SELECT id FROM types WHERE tz < now() + interval ''100 years''');
SELECT id FROM types WHERE tz < now() + interval '100 years' ORDER BY id;
-- a volatile function is asked for every row
SELECT * FROM plan('SELECT id FROM types WHERE id > random() * 0');

-- below a security barrier a leaky qual of the user's does not overtake
CREATE VIEW barrier WITH (security_barrier) AS
    SELECT id, i, s FROM types WHERE length(s) >= 0;
SELECT * FROM plan(
    'SELECT id FROM barrier WHERE i > 0 AND s LIKE ''z%'' COLLATE "C"');
SET client_min_messages = warning;
DROP SCHEMA pushdown CASCADE;
