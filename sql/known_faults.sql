-- faults that other readers of lake tables have had, on tables with the trait;
-- test/README.md lists them all, with the tests elsewhere
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
CREATE SCHEMA known_faults;
SET search_path = known_faults, cases, shop, transforms;
\set SHOW_CONTEXT never
SET timezone = 'UTC';

-- 19: each version of a table has its own deletion vector, not the newest one
CREATE FUNCTION map_version(name text, file text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE FOREIGN TABLE %I () SERVER lake
        OPTIONS (metadata_location %L)', name, file);
END $$;
SELECT map_version('vectors' || n, :'lake' || '/cases/deletion_vectors/metadata/v' || n || '.metadata.json')
FROM generate_series(1, 4) n \g /dev/null
SELECT (SELECT count(id) FROM vectors1) AS v1, (SELECT count(id) FROM vectors2) AS v2,
    (SELECT count(id) FROM vectors3) AS v3, (SELECT count(id) FROM vectors4) AS v4;
SELECT min(id), max(id) FROM vectors2;
SELECT min(id), max(id) FROM vectors3;
SELECT min(id), max(id) FROM vectors4;

-- 8: positions are counted before a condition of the scan, not after it
SELECT count(*), sum(id) FROM upgraded_deletes WHERE id % 10 IN (1, 2, 3);
SELECT id FROM upgraded_deletes WHERE val LIKE 'v_1' COLLATE "C" ORDER BY id;

-- 22, 25: files of which no statistic is known are read, not taken for NULL
SELECT * FROM no_metrics ORDER BY id;
SELECT t FROM no_metrics WHERE id IS NULL;
SELECT id FROM no_metrics WHERE id IS NOT NULL ORDER BY id;
SELECT id FROM no_metrics WHERE t = 'c' OR id = 1 ORDER BY id;
SELECT count(*), count(id), count(t) FROM no_metrics;

-- 23: a file with some NULLs has both kinds of rows
SELECT id, v FROM some_nulls WHERE v IS NOT NULL ORDER BY id;
SELECT id FROM some_nulls WHERE v IS NULL ORDER BY id;
SELECT id FROM some_nulls WHERE v IS NOT NULL AND id > 5;
-- 44: ... also beside values
SELECT id FROM some_nulls WHERE v = 10 OR v IS NULL ORDER BY id;
SELECT id FROM some_nulls WHERE v IN (10, NULL) ORDER BY id;

-- 26: the bounds of a file leave its NaN out, which is above them
SELECT id, d FROM floats WHERE d <> 3 AND id < 4;
SELECT id, d FROM floats WHERE d > 3 AND id < 4;
SELECT id, f FROM floats WHERE f >= 'NaN';
SELECT id, d FROM floats WHERE d = 'NaN';
SELECT id FROM floats WHERE d = 0 ORDER BY id;
SELECT id FROM floats WHERE NOT d < 0 ORDER BY id;

-- 28, 29: bounds of text that are cut, next to surrogates and at the last
-- code point
SELECT id FROM text_bounds WHERE t = U&'aaaaaaaaaaaaaaa\2022 and more';
SELECT id FROM text_bounds WHERE t = U&'aaaaaaaaaaaaaaa\D7FF and more';
SELECT id FROM text_bounds WHERE t > U&'aaaaaaaaaaaaaaa\D7FF' COLLATE "C" ORDER BY id;
SELECT id FROM text_bounds WHERE t > U&'z\+10FFFF\+10FFFF' COLLATE "C";
SELECT id FROM text_bounds WHERE t LIKE U&'aaaaaaaaaaaaaaa\2022%' COLLATE "C";
SELECT id FROM text_bounds WHERE t < 'aaaaaaaaaaaaaab' COLLATE "C" ORDER BY id;

-- 31, 32, 34: each row is found by the value that its partition was made of:
-- negative numbers round down, decimals are hashed by their shortest bytes,
-- zero and the empty text are values
CREATE TABLE heap AS TABLE identity_text;
CREATE FUNCTION lost(column_name text)
RETURNS TABLE (relation text, value text) LANGUAGE plpgsql AS $$
DECLARE
    found boolean;
BEGIN
    FOR value IN EXECUTE format('SELECT %I FROM heap', column_name) LOOP
        FOR relation IN SELECT foreign_table_name
            FROM information_schema.foreign_tables
            WHERE foreign_table_schema = 'transforms' LOOP
            EXECUTE format('SELECT array_agg(id ORDER BY id) = (SELECT
                array_agg(id ORDER BY id) FROM heap WHERE %2$s) FROM %1$I WHERE %2$s',
                relation, CASE WHEN value IS NULL THEN column_name || ' IS NULL'
                ELSE format('%s = %L', column_name, value) END) INTO found;
            IF found IS NOT TRUE THEN
                RETURN NEXT;
            END IF;
        END LOOP;
    END LOOP;
END $$;
SELECT c, l.* FROM unnest(ARRAY['i', 'l', 'dec', 't', 'd', 'ts']) c, lost(c) l;
SELECT count(*) FROM heap, information_schema.foreign_tables
WHERE foreign_table_schema = 'transforms';
-- ... in one file of those that the table has
CREATE FUNCTION files(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    plan := plan->0->'Plan';
    RETURN format('%s of %s', (plan->>'Files Total')::int
        - (plan->>'Files Skipped By Partition')::int
        - (plan->>'Files Skipped By Bounds')::int, plan->>'Files Total');
END $$;
SELECT files('SELECT id FROM truncate_int WHERE i = -1') AS truncate,
    files('SELECT id FROM bucket_decimal WHERE dec = -1.28') AS decimal,
    files('SELECT id FROM bucket_int WHERE i = 0') AS zero,
    files('SELECT id FROM identity_text WHERE t = ''''') AS empty,
    files('SELECT id FROM identity_text WHERE t IS NULL') AS null;
-- 91: NULL and '' are different partitions
SELECT id FROM identity_text WHERE t = '';
SELECT id FROM identity_text WHERE t IS NULL;

-- 35: a time within a day keeps that day
SELECT id FROM day_boundary WHERE ts < '2026-03-01 14:36:13.44+00' ORDER BY id;
SELECT id FROM day_boundary WHERE ts <= '2026-03-01 14:36:13.43+00' ORDER BY id;
SELECT id FROM day_boundary WHERE ts > '2026-03-01 14:36:13.44+00';
SELECT id FROM day_boundary WHERE ts >= '2026-03-01+00' AND ts < '2026-03-02+00' ORDER BY id;
SELECT id FROM day_ts WHERE ts < '1970-01-01+00' ORDER BY id;

-- 37: the summaries of a spec stay in step when a column of it is dropped
SELECT id FROM spec_evolution WHERE id = 4;
SELECT id FROM spec_evolution WHERE id = 5;
SELECT id FROM spec_evolution WHERE ts = '2026-01-03 11:00:00+00';
SELECT files('SELECT id FROM spec_evolution WHERE id = 5') AS one;

-- 38: a void field is not its column, though it has the name
SELECT id, a FROM v1_void WHERE a = 'x' ORDER BY id;
SELECT id, a FROM v1_void WHERE a IS NULL;
SELECT id, a FROM v1_void WHERE a IS NOT NULL AND b = 'q' ORDER BY id;

-- 56: an old version has the columns that it had
SELECT map_version('old_schema', :'lake' || '/cases/schema_evolution/metadata/v2.metadata.json');
SELECT a, b FROM old_schema;
-- 58: a table without any snapshot
SELECT map_version('no_snapshot', :'lake' || '/cases/some_nulls/metadata/v1.metadata.json');
SELECT count(*), count(v) FROM no_snapshot;
SELECT * FROM no_snapshot;

-- 59, 61: versions are counted, not sorted by name, and a hint is not believed
-- where it is wrong
CREATE SERVER hints FOREIGN DATA WRAPPER lakefdw
    OPTIONS (catalog 'file', warehouse :'work');
\set map 'file:///srv/lake=' :lake
\! mkdir -p "$LAKE_WORK/hints/t/metadata"
\! for n in 1 2 3 4 5 6 7 8 9; do cp "$LAKE_DIR/cases/some_nulls/metadata/v2.metadata.json" "$LAKE_WORK/hints/t/metadata/v$n.metadata.json"; done
\! cp "$LAKE_DIR/cases/some_nulls/metadata/v3.metadata.json" "$LAKE_WORK/hints/t/metadata/v10.metadata.json"
CREATE FOREIGN TABLE hinted (id int) SERVER hints
    OPTIONS (namespace 'hints', "table" 't');
ALTER FOREIGN TABLE hinted OPTIONS (ADD path_map :'map');
SELECT count(id) AS none FROM hinted;
\! : > "$LAKE_WORK/hints/t/metadata/version-hint.text"
SELECT count(id) AS empty FROM hinted;
\! echo garbage > "$LAKE_WORK/hints/t/metadata/version-hint.text"
SELECT count(id) AS garbage FROM hinted;
\! printf 99 > "$LAKE_WORK/hints/t/metadata/version-hint.text"
SELECT count(id) AS missing FROM hinted;
\! printf 9 > "$LAKE_WORK/hints/t/metadata/version-hint.text"
SELECT count(id) AS behind FROM hinted;
SELECT * FROM gzip_metadata;

-- 65: a pipe in place of a file is refused at once, by its name
CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '"[^"]*/([^"/]*)"', '"\1"');
END $$;
SET statement_timeout = '5s';
\! mkfifo "$LAKE_WORK/hints/t/metadata/v11.metadata.json" && printf 11 > "$LAKE_WORK/hints/t/metadata/version-hint.text"
SELECT error_of('SELECT count(id) FROM hinted');
\! rm "$LAKE_WORK/hints/t/metadata/v11.metadata.json"
RESET statement_timeout;
SELECT count(id) FROM hinted;

-- 79, refs: the current version is the one that the metadata names, whatever
-- was committed later on a branch, and no parent needs to be known
SELECT * FROM refs ORDER BY id;
\! sed 's/"parent-snapshot-id":[0-9]*,//g' "$LAKE_DIR/cases/refs/metadata/v6.metadata.json" > "$LAKE_WORK/hints/t/metadata/v20.metadata.json"
\! grep -c parent-snapshot-id "$LAKE_WORK/hints/t/metadata/v20.metadata.json"
\! printf 20 > "$LAKE_WORK/hints/t/metadata/version-hint.text"
SELECT id FROM hinted ORDER BY id;

-- 83: a declared type that is not the column's is refused, value or column
CREATE FOREIGN TABLE misdeclared (l bigint, s int[], ll int)
    SERVER lake OPTIONS (namespace 'cases', "table" 'nested_types');
SELECT l FROM misdeclared;
SELECT s FROM misdeclared;
SELECT ll FROM misdeclared;
CREATE FOREIGN TABLE misdeclared_types (ts text, l int, s bigint)
    SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT ts FROM misdeclared_types;
SELECT l FROM misdeclared_types;
SELECT s FROM misdeclared_types;

-- 86: each rescan gives the full set; system columns in conditions
SELECT s.id, count(*) FROM (VALUES (1), (2), (3)) s (id),
    LATERAL (SELECT o.id FROM pos_deletes o WHERE o.id > 100 * s.id - 100) l
GROUP BY s.id ORDER BY s.id;
SELECT count(*) FROM pos_deletes WHERE tableoid = 'pos_deletes'::regclass;
SELECT count(*) FROM pos_deletes WHERE tableoid = 'floats'::regclass;
SELECT tableoid::regclass, id FROM pos_deletes WHERE tableoid > 0 AND id = 1;

SET client_min_messages = warning;
DROP SERVER hints CASCADE;
DROP SCHEMA known_faults CASCADE;
