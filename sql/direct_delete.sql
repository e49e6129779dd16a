-- DELETE that drops whole files: for many tables and conditions it removes what SELECT finds, and no more
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set here :work '/direct'
\set map 'file:///srv/lake=' :here
\! cp -r "$LAKE_DIR" "$LAKE_WORK/direct" && chmod -R a+rwX "$LAKE_WORK/direct"
CREATE SERVER direct_server FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'here', path_map :'map');
SET client_min_messages = error;
SELECT count(lake.register_table('direct_server', 'dd.' || table_name, replace(metadata_location, :'lake', 'file:///srv/lake')))
FROM lake.tables('lake') t
WHERE namespace IN ('cases', 'shop', 'transforms') AND table_name IN ('floats', 'some_nulls', 'no_metrics', 'text_bounds',
  'day_boundary', 'orders', 'eq_deletes', 'pos_deletes', 'deletion_vectors', 'spec_evolution', 'identity_text', 'truncate_int',
  'bucket_int', 'month_date', 'v1_void');
CREATE SCHEMA dd;
IMPORT FOREIGN SCHEMA dd FROM SERVER direct_server INTO dd;
RESET client_min_messages;
-- checks a DELETE with a condition, in a subtransaction that is rolled back; NULL: it is right
CREATE FUNCTION dd.wrong(rel regclass, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  total bigint;
  matching bigint;
  deleted bigint;
  remaining bigint;
  still bigint;
BEGIN
  EXECUTE format('SELECT count(*), count(*) FILTER (WHERE %s) FROM %s', condition, rel) INTO total, matching;
  BEGIN
    EXECUTE format('DELETE FROM %s WHERE %s', rel, condition);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    EXECUTE format('SELECT count(*), count(*) FILTER (WHERE %s) FROM %s', condition, rel) INTO remaining, still;
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN
    NULL;
  END;
  IF (deleted, remaining, still) IS DISTINCT FROM (matching, total - matching, 0::bigint) THEN
    RETURN format('%s WHERE %s: %s of %s match, %s deleted, %s remain, %s of them match', rel, condition, matching, total,
      deleted, remaining, still);
  END IF;
  RETURN NULL;
END $$;
-- conditions of every column with some of its values
CREATE FUNCTION dd.conditions(rel regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  col record;
  value text;
BEGIN
  RETURN NEXT 'true';
  FOR col IN SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
             WHERE attrelid = rel AND attnum > 0 AND NOT attisdropped AND atttypid NOT IN ('jsonb'::regtype, 'bool'::regtype)
               AND format_type(atttypid, NULL) NOT LIKE '%[]'
  LOOP
    RETURN NEXT format('%I IS NULL', col.attname);
    RETURN NEXT format('%I IS NOT NULL', col.attname);
    FOR value IN EXECUTE format('SELECT v::text FROM (SELECT DISTINCT %1$I AS v FROM %2$s WHERE %1$I IS NOT NULL
                                 ORDER BY 1) s ORDER BY v = (SELECT max(%1$I) FROM %2$s) DESC, md5(v::text) LIMIT 4',
                                 col.attname, rel)
    LOOP
      RETURN QUERY SELECT format('%I %s %L::%s', col.attname, op, value, col.type)
        FROM unnest(ARRAY['=', '<>', '<', '<=', '>', '>=']) AS op;
      RETURN NEXT format('NOT (%1$I < %2$L::%3$s OR %1$I IS NULL)', col.attname, value, col.type);
    END LOOP;
  END LOOP;
END $$;
SELECT count(*) > 500 AS many, count(w) AS wrong, min(w) AS example
FROM (SELECT relid, c, dd.wrong(relid, c) AS w
      FROM (SELECT oid::regclass AS relid FROM pg_class WHERE relnamespace = 'dd'::regnamespace AND relkind = 'f') t,
           LATERAL dd.conditions(relid) AS c) s;

\echo == what drops whole files opens none of them
EXPLAIN (COSTS OFF) DELETE FROM dd.orders WHERE id < 0;
EXPLAIN (COSTS OFF) DELETE FROM dd.orders WHERE id < 0 RETURNING id;
EXPLAIN (COSTS OFF) DELETE FROM dd.orders WHERE id % 7 = 8;
BEGIN;
DELETE FROM dd.day_boundary;
SELECT count(*) FROM dd.day_boundary;
SAVEPOINT all_gone;
INSERT INTO dd.day_boundary DEFAULT VALUES;
DELETE FROM dd.day_boundary;
ROLLBACK TO all_gone;
SELECT count(*) FROM dd.day_boundary;
ROLLBACK;
SELECT count(*) > 0 AS is_back FROM dd.day_boundary;
DROP SERVER direct_server CASCADE;
DROP SCHEMA dd CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'dd';
