-- which metadata file a statement, a function, a transaction reads
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set map 'file:///srv/lake=' :lake
\set warehouse :work '/lake3'
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;

-- a table whose next metadata file is a copy of another's v1 (no rows), v2 (5)
-- or v3 (7 rows)
CREATE SEQUENCE versions;
CREATE FUNCTION become(version int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format(
    'cat >/dev/null; d="%s/lake3/ns/moving/metadata" && mkdir -p "$d" && cp "%s/cases/some_nulls/metadata/v%s.metadata.json" "$d/v%s.metadata.json"',
    current_setting('test.work'), current_setting('test.lake'), version,
    nextval('versions')));
  RETURN version;
END
$$;
SELECT set_config('test.work', :'work', false) || set_config('test.lake', :'lake', false) IS NOT NULL AS is_set \gset
SELECT become(2);
CREATE SERVER lake3 FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'warehouse', path_map :'map');
CREATE FOREIGN TABLE moving (id int, v int) SERVER lake3 OPTIONS (namespace 'ns', "table" 'moving');
CREATE FOREIGN TABLE other_name (id int) SERVER lake3 OPTIONS (namespace 'ns', "table" 'moving');
SELECT count(id) FROM moving;

-- each statement reads the newest
SELECT become(3);
SELECT count(id) FROM moving;
BEGIN;
SELECT become(2);
SELECT count(id) FROM moving;
SELECT become(3);
SELECT count(id) FROM moving;
COMMIT;

-- one statement reads one, under each name and in STABLE functions
CREATE FUNCTION count_stable() RETURNS bigint LANGUAGE plpgsql STABLE AS
  $$ BEGIN RETURN (SELECT count(id) FROM other_name); END $$;
SELECT become(2);
SELECT count(id), max(become(3)), max(count_stable()), (SELECT count(id) FROM other_name) AS other FROM moving;
SELECT count(id), count_stable() FROM moving;

-- commands of a VOLATILE function read the newest once it has changed anything
CREATE TEMP TABLE local (n int);
CREATE FUNCTION count_twice(OUT first bigint, OUT second bigint) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM become(2);
  SELECT count(id) INTO first FROM moving;
  PERFORM become(3);
  INSERT INTO local VALUES (1);
  SELECT count(id) INTO second FROM moving;
END
$$;
SELECT * FROM count_twice();

-- REPEATABLE READ: one for the transaction, from the first scan on
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT become(2);
SELECT count(id) FROM moving;
SELECT become(3);
SELECT count(id) FROM moving;
SAVEPOINT s;
SELECT count(id) FROM other_name;
ROLLBACK TO s;
SELECT count(id) FROM other_name;
COMMIT;
SELECT count(id) FROM moving;

-- a cached plan reads what is newest when it is executed
PREPARE counted AS SELECT count(id) FROM moving WHERE v > $1;
SET plan_cache_mode = force_generic_plan;
SELECT become(1);
EXECUTE counted(0);
SELECT become(2);
EXECUTE counted(0);
EXECUTE counted(40);
RESET plan_cache_mode;

-- a cursor stays with what it was opened on
SELECT become(3);
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM moving ORDER BY id;
FETCH 1 FROM c;
SELECT become(1);
SELECT count(id) FROM moving;
MOVE ALL FROM c;
CLOSE c;
COMMIT;

-- without any memory for it, metadata is parsed anew each time
SET lakefdw.metadata_cache = 0;
SELECT become(2);
SELECT count(a.id) FROM moving a JOIN other_name b USING (id);
RESET lakefdw.metadata_cache;

-- a table that is dropped and made again has the names it had, maybe the sizes
CREATE FUNCTION remake(version int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format(
    'cat >/dev/null; d="%s/lake3/ns/remade/metadata" && mkdir -p "$d" && printf %%-20000s "$(cat "%s/cases/some_nulls/metadata/v%s.metadata.json")" >"$d/new" && mv "$d/new" "$d/v1.metadata.json"',
    current_setting('test.work'), current_setting('test.lake'), version));
  RETURN version;
END
$$;
CREATE FOREIGN TABLE remade (id int) SERVER lake3 OPTIONS (namespace 'ns', "table" 'remade');
SELECT remake(2);
SELECT count(id) FROM remade;
SELECT remake(3);
SELECT count(id) FROM remade;

-- a table that is gone
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ': ' || replace(SQLERRM, current_setting('test.work'), '$WORK');
END
$$;
\set command 'cat >/dev/null; rm -r ' :work '/lake3/ns'
COPY (SELECT 1) TO PROGRAM :'command';
SELECT outcome('SELECT * FROM moving');

DROP SERVER lake3 CASCADE;
DROP SEQUENCE versions;
DROP FUNCTION become, remake, count_stable, count_twice, outcome;
