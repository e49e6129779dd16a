-- nested columns as arrays and composites, beside their jsonb
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\pset null '~'
CREATE SCHEMA shapes;
SET search_path = shapes;

CREATE TYPE person AS (name text, "Age" bigint, tags text[]);
CREATE TYPE reading AS (n numeric(9,2), at timestamptz);
CREATE TYPE reading_entry AS (key bigint, value reading);
CREATE TYPE word_entry AS (key text, value int[]);
CREATE TYPE count_entry AS (key text, value int);
CREATE DOMAIN counts AS count_entry[];
CREATE TYPE leaf AS (s text, d float8);
CREATE TYPE pair AS (lo bigint, hi bigint, "inner" leaf);
CREATE FOREIGN TABLE typed (id int, grid int[], cube float8[], people person[],
  by_id reading_entry[], words word_entry[], maps counts[], pair pair)
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
CREATE FOREIGN TABLE plain (id int, grid jsonb, cube jsonb, people jsonb,
  by_id jsonb, words jsonb, maps jsonb, pair jsonb)
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
\x on
SELECT * FROM typed WHERE id < 4 ORDER BY id;
\x off

-- every row, against the jsonb of the same column; maps become objects there
CREATE FUNCTION word_map(word_entry[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE WHEN $1 IS NOT NULL THEN
       coalesce((SELECT jsonb_object_agg(e.key, e.value) FROM unnest($1) e), '{}') END $$;
CREATE FUNCTION count_maps(counts[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE WHEN $1 = '{}' THEN '[]' ELSE
       (SELECT jsonb_agg(CASE WHEN m IS NOT NULL THEN coalesce((SELECT jsonb_object_agg(e.key, e.value)
          FROM unnest(m) e), '{}') END ORDER BY n) FROM unnest($1) WITH ORDINALITY u(m, n)) END $$;
SELECT count(*),
  count(*) FILTER (WHERE to_jsonb(t.cube) IS NOT DISTINCT FROM p.cube) AS cube,
  count(*) FILTER (WHERE to_jsonb(t.people) IS NOT DISTINCT FROM p.people) AS people,
  count(*) FILTER (WHERE to_jsonb(t.by_id) IS NOT DISTINCT FROM p.by_id) AS by_id,
  count(*) FILTER (WHERE word_map(t.words) IS NOT DISTINCT FROM p.words) AS words,
  count(*) FILTER (WHERE count_maps(t.maps) IS NOT DISTINCT FROM p.maps) AS maps,
  count(*) FILTER (WHERE to_jsonb(t.pair) IS NOT DISTINCT FROM p.pair) AS pair
FROM typed t JOIN plain p USING (id) WHERE id NOT BETWEEN 4 AND 6;
SELECT count(*), count(*) FILTER (WHERE to_jsonb(t.grid) IS NOT DISTINCT FROM p.grid) AS grid,
  max(array_ndims(t.grid)) AS dimensions, sum(cardinality(t.grid)) AS elements
FROM typed t JOIN plain p USING (id) WHERE id NOT BETWEEN 4 AND 6;
SELECT array_dims(grid), array_dims(cube), cube[2][1][1] FROM typed WHERE id = 1;
SELECT (u).name, sum((u)."Age") FROM typed, unnest(people) u
WHERE id >= 100 GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1 LIMIT 3;

-- lists of lists that are no rectangle
SELECT grid FROM typed WHERE id = 4;
\echo :LAST_ERROR_SQLSTATE
SELECT grid FROM typed WHERE id = 5;
SELECT grid FROM typed WHERE id = 6;
SELECT cube FROM typed WHERE id = 4;
SELECT cube FROM typed WHERE id = 5;
-- as arrays of jsonb, or of a domain over arrays, any shape can be shown
CREATE DOMAIN ints AS int[];
CREATE FOREIGN TABLE ragged (id int, grid ints[], grids jsonb[] OPTIONS (column_name 'grid'),
  cube jsonb[], words jsonb, maps jsonb[])
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
SELECT id, grid, grids, cube, maps FROM ragged WHERE id < 100 ORDER BY id;
SELECT count(*) FROM ragged r JOIN plain p USING (id)
WHERE to_jsonb(r.grid) IS DISTINCT FROM p.grid OR to_jsonb(r.maps) IS DISTINCT FROM p.maps;

-- what Spark wrote: NULL lists and maps, a struct of NULLs
CREATE TYPE b AS (c text, d float8[]);
CREATE TYPE s AS (a int, b b);
CREATE TYPE entry AS (key int, value jsonb);
CREATE TYPE kv AS (v bigint, k text);
CREATE FOREIGN TABLE spark (id int, l smallint[], ls varchar(8)[], s s,
  m count_entry[], mi entry[], lst kv[])
  SERVER lake OPTIONS (namespace 'cases', "table" 'nested_types');
SELECT * FROM spark ORDER BY id;
SELECT id, s IS NULL AS all_null, s IS NOT DISTINCT FROM NULL AS "null", (s).b.d[1] FROM spark ORDER BY id;

-- fields in another order, in other letters, left out
CREATE TYPE older AS (age numeric);
CREATE FOREIGN TABLE half (id int, people older[])
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
SELECT people FROM half WHERE id = 1;
CREATE TYPE hi AS (hi bigint);
CREATE DOMAIN some_hi AS hi CHECK ((VALUE).hi > 0);
CREATE FOREIGN TABLE other (id int, pair some_hi)
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
SELECT pair FROM other WHERE id < 4 ORDER BY id;
SELECT count(pair) FROM other WHERE id > 100;
-- the type may change after the table was declared
ALTER TYPE hi ADD ATTRIBUTE lo bigint;
ALTER DOMAIN some_hi DROP CONSTRAINT some_hi_check;
ALTER TYPE hi DROP ATTRIBUTE hi;
ALTER TYPE hi ADD ATTRIBUTE hi numeric;
SELECT pair FROM other WHERE id < 4 ORDER BY id;
PREPARE pairs AS SELECT pair FROM other WHERE id = 1;
EXECUTE pairs;
ALTER TYPE hi DROP ATTRIBUTE lo;
EXECUTE pairs;
ALTER TYPE hi ADD ATTRIBUTE middle bigint;
EXECUTE pairs;
ALTER TYPE hi RENAME ATTRIBUTE middle TO lo;
EXECUTE pairs;

-- elements and fields follow the rules of columns
CREATE TYPE narrow_leaf AS (s varchar(4));
CREATE TYPE narrow AS (lo smallint, hi int);
CREATE TYPE narrow_pair AS ("inner" narrow_leaf);
CREATE TYPE narrow_reading AS (n numeric(9,1), at timestamptz(3));
CREATE TYPE narrow_entry AS (key int, value narrow_reading);
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
CREATE DOMAIN filled AS bigint NOT NULL;
CREATE TYPE filled_person AS ("Age" filled);
CREATE FOREIGN TABLE checked (id int, pair narrow, leaf narrow_pair OPTIONS (column_name 'pair'),
  grid small[], by_id narrow_entry[], people filled_person[])
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
SELECT pair FROM checked WHERE id = 1;
SELECT leaf FROM checked WHERE id = 1;
SELECT by_id FROM checked WHERE id = 1;
SELECT grid FROM checked WHERE id = 1;
SELECT grid FROM checked WHERE id = 7;
SELECT people FROM checked WHERE id = 1;
SELECT count(pair), count(leaf) FROM checked WHERE id > 100;
CREATE FOREIGN TABLE odd (id int, l text[]) SERVER lake OPTIONS (namespace 'py', "table" 'odd');
SELECT l FROM odd WHERE id = 12;

-- what cannot be shown
CREATE TYPE wrong_leaf AS (s text, d text);
CREATE TYPE wrong_pair AS ("inner" wrong_leaf);
CREATE TYPE unknown_field AS (lo bigint, middle bigint);
CREATE TYPE unkeyed AS (k bigint, v jsonb);
CREATE FOREIGN TABLE wrong (id int, pair wrong_pair, p2 unknown_field OPTIONS (column_name 'pair'),
  by_id unkeyed[], words text[], maps count_entry[], people person,
  p3 person[] OPTIONS (column_name 'pair'), ids leaf OPTIONS (column_name 'id'),
  cube float8, grid text[])
  SERVER lake OPTIONS (namespace 'nested.deep', "table" 'shapes');
SELECT pair FROM wrong;
SELECT p2 FROM wrong;
\echo :LAST_ERROR_SQLSTATE
SELECT by_id FROM wrong;
SELECT words FROM wrong;
SELECT maps FROM wrong;
SELECT people FROM wrong;
SELECT p3 FROM wrong;
SELECT ids FROM wrong;
SELECT cube FROM wrong;
SELECT grid FROM wrong;

-- fetched late, joined, sorted, grouped, kept
SELECT count(*) FROM (SELECT * FROM typed WHERE id > 6 OFFSET 10) x;
SELECT pair, count(*) FROM typed WHERE (pair).lo = 42 AND (pair).hi IS NULL GROUP BY 1 ORDER BY 1;
CREATE TEMP TABLE kept AS SELECT * FROM typed WHERE id > 6;
SELECT count(*) FROM kept k JOIN typed t USING (id)
WHERE (k.*) IS NOT DISTINCT FROM (t.*) AND t.id > 6;
ANALYZE spark;
SELECT attname, null_frac FROM pg_stats WHERE tablename = 'spark' AND schemaname = 'shapes' ORDER BY 1;

DROP SCHEMA shapes CASCADE;
