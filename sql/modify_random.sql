-- random changes leave the same rows as on the heap, within transactions and after them
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set here :work '/random'
\set map 'file:///srv/lake=' :here
\! cp -r "$LAKE_DIR" "$LAKE_WORK/random" && chmod -R a+rwX "$LAKE_WORK/random"
CREATE SERVER random_server FOREIGN DATA WRAPPER lakefdw
  OPTIONS (warehouse :'here', path_map :'map');
CREATE SCHEMA rnd;
SET search_path = rnd, public;
-- copy-on-write, merge-on-read, deletion vectors, equality deletes, partitions
DO $$
BEGIN
  PERFORM lake.register_table('random_server', 'rnd.' || table_name,
    'file:///srv/lake' || regexp_replace(metadata_location, '.*/lake/', '/'))
  FROM (VALUES ('shop', 'orders'), ('shop', 'events'), ('cases', 'eq_many'), ('transforms', 'bucket_int'), ('py', 'types'),
    ('cases', 'nested_types')) wanted(namespace, name), LATERAL lake.tables('lake', namespace)
  WHERE table_name = name;
END $$;
IMPORT FOREIGN SCHEMA rnd FROM SERVER random_server INTO rnd;
SELECT setseed(0.5);
CREATE FUNCTION pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT choices[1 + floor(random() * cardinality(choices))] $$;
CREATE FUNCTION less_than(upto int) RETURNS int LANGUAGE sql VOLATILE AS $$ SELECT floor(random() * upto)::int $$;
-- the first column is an integer
CREATE FUNCTION condition(key text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN pick(format('%s %% %s = %s', key, 2 + less_than(7), less_than(3)), format('%s BETWEEN %s AND %s', key, less_than(500), 300 + less_than(800)),
    format('%s = %s', key, less_than(30)), format('%s IN (SELECT generate_series(%s, %s, %s))', key, less_than(20), less_than(300), 1 + less_than(5)),
    format('%s < %s', key, less_than(20)), format('hashint8(%s::bigint) %% 7 = %s', key, less_than(7)), format('%s IS NULL', key), 'true');
END $$;
-- statements with @ for the table
CREATE FUNCTION change(key text, columns text, assignments text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  kind int := less_than(12);
BEGIN
  IF kind = 0 THEN
    RETURN 'TRUNCATE @';
  ELSIF kind = 1 THEN
    RETURN 'WITH gone AS (DELETE FROM @ WHERE ' || condition(key) || ' RETURNING *) INSERT INTO @ SELECT * FROM gone';
  ELSIF kind = 2 THEN
    RETURN format('UPDATE @ t SET %s FROM (SELECT %s AS other FROM @) s WHERE other = t.%s + %s AND t.%s < %s',
      pick(VARIADIC assignments), key, key, less_than(3), key, less_than(300));
  ELSIF kind < 7 THEN
    RETURN 'UPDATE @ SET ' || pick(VARIADIC assignments) || ' WHERE ' || condition(key);
  ELSIF kind < 10 THEN
    RETURN format('INSERT INTO @ SELECT %s FROM @ WHERE %s AND (SELECT count(*) < 4000 FROM @)', columns, condition(key));
  END IF;
  RETURN 'DELETE FROM @ WHERE ' || condition(key);
END $$;
-- the text of rows: some types have no equality
CREATE FUNCTION differences(lake text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM ((SELECT t::text FROM %1$s t EXCEPT ALL SELECT t::text FROM copied t)
    UNION ALL (SELECT t::text FROM copied t EXCEPT ALL SELECT t::text FROM %1$s t)) d', lake) INTO n;
  RETURN n;
END $$;
CREATE PROCEDURE compare(lake text, steps int, key text, columns text, VARIADIC assignments text[]) LANGUAGE plpgsql AS $$
DECLARE
  statement text;
  wrong int := 0;
  commits int := 0;
  rows bigint;
BEGIN
  EXECUTE format('CREATE TABLE copied AS SELECT * FROM %s', lake);
  COMMIT;
  FOR i IN 1..steps LOOP
    IF random() < 0.3 THEN
      BEGIN
        FOR j IN 1..1 + less_than(3) LOOP
          statement := change(key, columns, assignments);
          EXECUTE replace(statement, '@', lake);
          EXECUTE replace(statement, '@', 'copied');
        END LOOP;
        IF random() < 0.5 THEN
          RAISE division_by_zero;
        END IF;
      EXCEPTION WHEN division_by_zero THEN
        NULL;
      END;
    ELSE
      statement := change(key, columns, assignments);
      EXECUTE replace(statement, '@', lake);
      EXECUTE replace(statement, '@', 'copied');
    END IF;
    IF random() < 0.7 AND differences(lake) > 0 THEN
      wrong := wrong + 1;
      RAISE NOTICE 'step %: %', i, statement;
    END IF;
    IF random() < 0.2 THEN
      commits := commits + 1;
      COMMIT;
      IF differences(lake) > 0 THEN
        wrong := wrong + 1;
        RAISE NOTICE 'commit after step %', i;
      END IF;
    ELSIF random() < 0.05 THEN
      ROLLBACK;
    END IF;
  END LOOP;
  COMMIT;
  EXECUTE format('SELECT count(*) FROM %s', lake) INTO rows;
  RAISE NOTICE '%: % wrong, % differences at the end, more than 10 commits: %', lake, wrong, differences(lake), commits > 10;
  DROP TABLE copied;
END $$;
CALL compare('orders', 80, 'id', 'id + 3, customer_id, status, amount, ordered_at', 'amount = amount + 1',
  'status = ''u'', customer_id = customer_id % 7', 'ordered_at = NULL, amount = 3', 'id = id + 1000');
CALL compare('events', 80, 'id', 'id + 3, kind, payload, labels', 'kind = left(kind || ''x'', 20)', 'payload = NULL', 'id = id + 5');
CALL compare('eq_many', 60, 'id', '*', 'id = id + 7');
CALL compare('bucket_int', 60, 'id', '*', 'id = id + 7', 'i = i / 2');
CALL compare('types', 80, 'id', 'id + 20, b, i, l, f, d, n9, n18, n38, da, ti, ts, tz, s, u, fx, bi',
  'b = NOT b, s = left(s || ''€'', 30)', 'id = id + 7', 'n38 = -n38, da = da + 1');
CALL compare('nested_types', 80, 'id', 'id + 20, l, ls, s, m, mi, ll, lst', 'l = ''{1,2,NULL}'', s = NULL', 'id = id + 7',
  'm = jsonb_build_object(''a'', 1), ll = ''[[1], [2, 3], []]''');
\echo == more rows than memory
SET lakefdw.write_memory = '1MB';
CREATE TABLE copied AS SELECT * FROM orders;
BEGIN;
INSERT INTO orders SELECT g, g % 7, 'large ' || g, g, NULL FROM generate_series(100000, 160000) g;
INSERT INTO copied SELECT g, g % 7, 'large ' || g, g, NULL FROM generate_series(100000, 160000) g;
SELECT count(*), sum(amount) FROM orders WHERE id >= 100000;
UPDATE orders SET amount = -1 WHERE id % 10 = 0;
UPDATE copied SET amount = -1 WHERE id % 10 = 0;
SAVEPOINT s;
INSERT INTO orders SELECT id + 100000, customer_id, status, amount, ordered_at FROM orders WHERE id >= 100000;
DELETE FROM orders WHERE id % 2 = 0;
SELECT count(*) FROM orders WHERE id >= 100000;
ROLLBACK TO s;
SELECT differences('orders');
COMMIT;
SELECT differences('orders'), (SELECT count(*) FROM orders WHERE amount = -1) = (SELECT count(*) FROM copied WHERE amount = -1);
