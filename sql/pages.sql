-- page index and bloom filters: what is skipped, and that nothing else is.
-- cases.paged has 4000 rows, pages of 100 rows, deletes, and filters on k and u.
CREATE FUNCTION skipped(query text) RETURNS TABLE (what text, number bigint)
LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query
  LOOP
    what := substring(line FROM '(Row Groups [A-Za-z ]*|Pages Skipped):');
    number := substring(line FROM ': (\d+)$');
    IF what IS NOT NULL THEN RETURN NEXT; END IF;
  END LOOP;
END $$;
SET max_parallel_workers_per_gather = 0;
-- no condition, so nothing is skipped
CREATE TABLE plain AS SELECT * FROM cases.paged;
SELECT count(*), count(k), count(tags), sum(id) FROM plain;

\echo == a row of one page; pages of other columns are passed too
SELECT * FROM skipped('SELECT * FROM cases.paged WHERE id = 1234');
SELECT id, k, t, d, u, day, tags FROM cases.paged WHERE id = 1234;
\echo == bounds say maybe, the filter says no
SELECT * FROM skipped($$SELECT id FROM cases.paged WHERE u = 'u5x'$$);
SELECT * FROM skipped($$SELECT id FROM cases.paged WHERE k IN (1000, 500) AND u = 'u7nothing'$$);
\echo == pages of NULLs
SELECT * FROM skipped('SELECT id FROM cases.paged WHERE k IS NULL AND id BETWEEN 1100 AND 1150');
SELECT count(*) FROM cases.paged WHERE k IS NULL AND id BETWEEN 1100 AND 1150;
\echo == deletes keep their places, and a deleted row is not found by its value
SELECT id FROM cases.paged WHERE id BETWEEN 1995 AND 2015;
SELECT count(*) FROM cases.paged WHERE id = 102;
\echo == a column without an index is read for the rows of the others
SELECT id, tags FROM cases.paged WHERE id IN (99, 100, 101, 3999) ORDER BY id;

\echo == random conditions, against the copy
CREATE FUNCTION random_leaf() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT (ARRAY[
    format('id %s %s', (ARRAY['=', '<', '<=', '>', '>=', '<>'])[1 + floor(random() * 6)], floor(random() * 4200) - 100),
    format('id BETWEEN %s AND %s + 130', f, f),
    format('k %s %s', (ARRAY['=', '<', '>=', '<>'])[1 + floor(random() * 4)], floor(random() * 1009)),
    format('k IN (%s, %s, %s)', floor(random() * 1009), floor(random() * 1009), floor(random() * 2000)),
    'k IS NULL', 'k IS NOT NULL',
    format('t = %L', 'text ' || floor(random() * 110)),
    format('t LIKE %L', 'text ' || floor(random() * 10) || '%'),
    format('d BETWEEN %s AND %s', floor(random() * 500), floor(random() * 500)),
    format('u = %L', 'u' || (floor(random() * 4000)::bigint * 104729 % 100003)),
    format('u = %L', 'u' || floor(random() * 100003)),
    format('day = %L', date '2026-01-01' + (random() * 85)::int)
  ])[1 + floor(random() * 12)]
  FROM (SELECT floor(random() * 4000) AS f) f
$$;
CREATE FUNCTION random_condition(depth int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF depth = 0 OR random() < 0.3 THEN RETURN random_leaf(); END IF;
  IF random() < 0.15 THEN RETURN format('NOT (%s)', random_condition(depth - 1)); END IF;
  RETURN format('(%s %s %s)', random_condition(depth - 1),
    CASE WHEN random() < 0.6 THEN 'AND' ELSE 'OR' END, random_condition(depth - 1));
END $$;
DO $$
DECLARE
  condition text;
  lake text;
  local text;
  skips bigint := 0;
  found bigint := 0;
  number bigint;
BEGIN
  PERFORM setseed(0.25);
  FOR i IN 1 .. 400 LOOP
    condition := random_condition(2);
    EXECUTE format('SELECT md5(string_agg(x::text, %L ORDER BY id)), count(*) FROM
      (SELECT id, k, t, d, u, day, tags FROM cases.paged WHERE %s) x', ',', condition)
      INTO lake, number;
    found := found + number;
    EXECUTE format('SELECT md5(string_agg(x::text, %L ORDER BY id)) FROM
      (SELECT id, k, t, d, u, day, tags FROM plain WHERE %s) x', ',', condition) INTO local;
    IF lake IS DISTINCT FROM local THEN
      RAISE WARNING 'other rows WHERE %', condition;
    END IF;
    SELECT skips + coalesce(sum(s.number), 0) INTO skips
    FROM skipped('SELECT u, tags FROM cases.paged WHERE ' || condition) s
    WHERE what = 'Pages Skipped';
  END LOOP;
  RAISE NOTICE 'pages were skipped: %, rows found: %', skips > 1000, found > 10000;
END $$;
DROP TABLE plain;
DROP FUNCTION skipped, random_leaf, random_condition;
