-- scans that take values from other relations' rows: plans, and the same
-- answers as of local tables
CREATE SCHEMA parameterised;
CREATE SCHEMA copied;
SET search_path = parameterised, shop, cases, transforms, py;
SET timezone = 'UTC';

CREATE TABLE few (k bigint, t text, n numeric, d date, s smallint, f float8,
    ks bigint[], p text, v varchar(10), tz timestamptz);
INSERT INTO few VALUES
    (150, 'paid', 99.5, '2017-11-16', 34, 3, '{1,2,NULL}', 'ice%', 'paid',
        '2026-03-05'),
    (7, 'open', 14.20, '1970-01-01', 7, 'NaN', '{}', '%', 'open',
        '2026-03-06 01:00+01'),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (300, 'café au lait', 0.001, '1582-10-15', -1, 0, '{150,151,9999999999}',
        '', '', 'infinity'),
    (100000000000, '', 1e20, 'infinity', 0, '-inf', '{7}', '_pen',
        'café au la', '-infinity');
ANALYZE few;

CREATE FUNCTION shape(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
        IF line !~ '^ *(Lake Table|Snapshot|Files|Delete Files|Bytes)' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;

-- one row looks its value up, for many one scan of all is cheaper
SELECT * FROM shape('SELECT * FROM few JOIN orders o ON o.id = k
    WHERE few.t = ''open''');
-- the key is found through an equivalence class
SELECT * FROM shape('SELECT count(*) FROM few a JOIN few b ON a.k = b.k
    JOIN orders o ON o.id = a.k WHERE o.amount < a.n AND b.t = ''open''');
SELECT * FROM shape('SELECT count(*) FROM generate_series(1, 100000) g
    JOIN orders o ON o.id = g');

SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT * FROM shape('SELECT * FROM few LEFT JOIN orders o ON o.id = k
    AND o.status = t');
-- rows of the other side are kept, whatever is found
SELECT * FROM shape('SELECT * FROM few WHERE NOT EXISTS
    (SELECT FROM orders o WHERE o.id = few.k)');
-- what cannot be pushed is evaluated by the scan
SELECT * FROM shape('SELECT * FROM few JOIN orders o
    ON o.id = k AND length(o.status) = s AND o.id IS DISTINCT FROM s');
-- a column of our own on either side is no value
SELECT * FROM shape('SELECT * FROM few JOIN orders o ON o.id = o.customer_id + k');
-- an expression of the other relation is one, unless it changes by the row
SELECT * FROM shape('SELECT * FROM few JOIN orders o ON o.id = abs(k) + 1');
SELECT * FROM shape('SELECT * FROM few JOIN orders o
    ON o.id = k + random()::bigint');
-- a partitioned table finds the files of its values
CREATE FUNCTION groups(query text) RETURNS TABLE (loops text, groups text,
    skipped text) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
    SELECT n->>'Actual Loops', n->>'Row Groups Total', n->>'Row Groups Skipped'
    INTO loops, groups, skipped
    FROM jsonb_path_query(plan, 'strict $.** ? (@."Node Type" == "Foreign Scan")') n
    LIMIT 1;
    RETURN NEXT;
END $$;
SET enable_memoize = off;
SELECT * FROM groups('SELECT * FROM few LEFT JOIN identity_text i ON i.t = few.t');
SELECT * FROM groups('SELECT * FROM few JOIN pos_deletes p ON p.id = k');
SELECT * FROM groups('SELECT * FROM few LEFT JOIN bucket_long b ON b.l = few.s');

-- ---- the same rows as of local copies ----
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY '{orders,events,products,pos_deletes,eq_deletes,
        deletion_vectors,floats,identity_text,identity_decimal,bucket_text,
        bucket_long,bucket_decimal,truncate_text,day_ts,month_date,refs,
        all_deleted,"empty",daily,types,schema_evolution}'::text[] LOOP
        EXECUTE format('CREATE TABLE copied.%I AS TABLE %1$I', t);
    END LOOP;
END $$;
CREATE FUNCTION answer(query text, path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    PERFORM set_config('search_path', path, true);
    EXECUTE format('SELECT concat_ws('' '', count(*), md5(string_agg(r::text,
        e''\n'' ORDER BY r::text))) FROM (%s) r', query) INTO result;
    RETURN result;
END $$;
-- looks: in how many scans of ours values come from other rows
CREATE FUNCTION same(query text, OUT looks int, OUT rows text, OUT same bool)
LANGUAGE plpgsql AS $$
DECLARE
    path text := current_setting('search_path');
    plan jsonb;
    serial text := answer(query, 'copied, parameterised, pg_temp');
BEGIN
    PERFORM set_config('search_path', path, true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    looks := count(*) FROM jsonb_path_query(plan,
        'strict $.**."Pushed Filter" ? (@ like_regex "\\$")');
    rows := split_part(serial, ' ', 1);
    same := serial = answer(query, path);
END $$;
CREATE TEMP TABLE queries (n serial, q text);
INSERT INTO queries (q) VALUES
    ('SELECT * FROM few JOIN orders o ON o.id = k'),
    ('SELECT * FROM few JOIN orders o ON o.id = s'),
    ('SELECT * FROM few JOIN orders o ON o.customer_id = k'),
    ('SELECT * FROM few JOIN orders o ON o.status = t'),
    ('SELECT * FROM few JOIN orders o ON o.status = v'),
    ('SELECT * FROM few JOIN orders o ON o.amount = n'),
    ('SELECT * FROM few JOIN orders o ON o.amount = s'),
    ('SELECT * FROM few JOIN orders o ON o.amount > n AND o.id < k'),
    ('SELECT * FROM few JOIN orders o ON o.id BETWEEN s AND k'),
    ('SELECT * FROM few LEFT JOIN orders o ON o.ordered_at < tz AND o.id < 50'),
    ('SELECT * FROM few JOIN orders o ON o.id = ANY (ks)'),
    ('SELECT * FROM few LEFT JOIN orders o ON o.id <> ALL (ks) AND o.id < 160'),
    ('SELECT * FROM few LEFT JOIN orders o ON o.status LIKE p AND o.id < 20'),
    ('SELECT * FROM few JOIN orders o ON o.id = k OR o.id = s'),
    ('SELECT * FROM few JOIN orders o ON o.id = k OR k IS NULL AND o.id = 9'),
    ('SELECT * FROM few JOIN orders o ON NOT (o.id <> k)'),
    ('SELECT * FROM few JOIN orders o ON o.id IS NOT DISTINCT FROM k'),
    ('SELECT * FROM few LEFT JOIN orders o ON o.id = k'),
    ('SELECT * FROM few LEFT JOIN orders o ON o.id = k AND k > 100'),
    ('SELECT * FROM few LEFT JOIN orders o ON o.id = k WHERE o.id IS NULL'),
    ('SELECT * FROM orders o LEFT JOIN few ON o.id = k'),
    ('SELECT * FROM few LEFT JOIN (few b JOIN orders o ON o.id = b.k) ON b.k = few.k'),
    ('SELECT * FROM few WHERE EXISTS (SELECT FROM orders o WHERE o.id = few.k)'),
    ('SELECT * FROM few WHERE NOT EXISTS (SELECT FROM orders o WHERE o.id = few.k)'),
    ('SELECT * FROM few WHERE k NOT IN (SELECT o.id FROM orders o)'),
    ('SELECT *, (SELECT sum(id) FROM orders o WHERE o.id < few.k) FROM few'),
    ('SELECT * FROM few, LATERAL (SELECT * FROM orders o WHERE o.id > k ORDER BY id LIMIT 2) l'),
    ('SELECT * FROM few LEFT JOIN LATERAL (SELECT count(*), max(amount) FROM orders o WHERE o.status = t) l ON true'),
    ('SELECT * FROM few, LATERAL (SELECT few.k AS outer_k, o.* FROM orders o WHERE o.id = few.k) l'),
    ('SELECT * FROM few, LATERAL (SELECT o.id FROM orders o WHERE o.id < few.s UNION ALL SELECT e.id FROM events e WHERE e.id < few.s) l'),
    ('SELECT * FROM few a JOIN few b ON a.k = b.k JOIN orders o ON o.id = a.k JOIN events e ON e.id = o.id'),
    ('SELECT o.id, p.val FROM few JOIN orders o ON o.id = k JOIN pos_deletes p ON p.id = o.id + 1'),
    ('SELECT * FROM few LEFT JOIN identity_text i ON i.t = few.t'),
    ('SELECT * FROM few LEFT JOIN identity_decimal i ON i."dec" = n'),
    ('SELECT * FROM few LEFT JOIN bucket_text b ON b.t = few.t'),
    ('SELECT * FROM few LEFT JOIN bucket_text b ON b.t LIKE p'),
    ('SELECT * FROM few LEFT JOIN bucket_decimal b ON b."dec" = n'),
    ('SELECT * FROM few LEFT JOIN bucket_long b ON b.l = few.s'),
    ('SELECT * FROM few LEFT JOIN truncate_text b ON b.t >= few.t'),
    ('SELECT * FROM few LEFT JOIN month_date m ON m.d = few.d'),
    ('SELECT * FROM few LEFT JOIN month_date m ON m.d < few.d'),
    ('SELECT * FROM few LEFT JOIN day_ts m ON m.ts < few.tz'),
    ('SELECT few.f, x.id FROM few LEFT JOIN floats x ON x.d = few.f'),
    ('SELECT few.f, x.id FROM few LEFT JOIN floats x ON x.f = few.f'),
    ('SELECT few.f, x.id FROM few LEFT JOIN floats x ON x.d > few.f'),
    ('SELECT * FROM few LEFT JOIN eq_deletes e ON e.id = s'),
    ('SELECT * FROM few LEFT JOIN deletion_vectors e ON e.id = s'),
    ('SELECT * FROM few LEFT JOIN all_deleted e ON e.id = s'),
    ('SELECT * FROM few LEFT JOIN "empty" e ON e.id = s'),
    ('SELECT * FROM few LEFT JOIN daily ON daily.at = tz'),
    ('SELECT * FROM few LEFT JOIN products p ON p.title = few.t OR p.price < few.f'),
    ('SELECT * FROM few LEFT JOIN schema_evolution x ON x.a = few.s OR x.b = few.t'),
    ('SELECT x.id, y.id FROM types x JOIN types y ON x.n38 = y.n38'),
    ('SELECT x.id, y.id FROM types x JOIN types y ON x.u = y.u'),
    ('SELECT x.id, y.id FROM types x JOIN types y ON x.bi = y.bi'),
    ('SELECT x.id, y.id FROM types x JOIN types y ON x.tz = y.tz'),
    ('SELECT x.id, y.id FROM types x JOIN types y ON x.b = y.b'),
    ('SELECT a.k, b.id, c.id FROM few a JOIN refs b ON b.id = a.s - 33 LEFT JOIN refs c ON c.id = b.id + 1'),
    ('SELECT sum(o.id) FROM few a, few b, orders o WHERE o.id = a.k AND o.status = b.t');
SELECT n, s.*, left(q, 100) AS query FROM queries, same(q) s ORDER BY n;
-- with repeated values remembered
SET enable_memoize = on;
SELECT * FROM shape('SELECT g.k, o.status FROM
    (SELECT few.* FROM few, generate_series(1, 3)) g JOIN orders o ON o.id = g.k');
SELECT count(*), count(o.status) FROM
    (SELECT few.* FROM few, generate_series(1, 3)) g JOIN orders o ON o.id = g.k;

-- a value that has no image in the lake's type ends no lookup of the others
SELECT few.k, o.id FROM few LEFT JOIN orders o ON o.id = few.n ORDER BY 1, 2;

-- a version that the other row names, and a prepared plan
SELECT n, o.count FROM (SELECT snapshot_id, row_number() OVER
        (ORDER BY committed_at) AS n FROM lake.snapshots('orders')) s,
    LATERAL (SELECT count(*) FROM lake.at(NULL::orders,
        snapshot => s.snapshot_id) a JOIN few ON a.id = few.k) o ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
PREPARE lookup(bigint) AS
    SELECT few.k, o.status FROM few JOIN orders o ON o.id = few.k + $1;
EXECUTE lookup(0);
EXECUTE lookup(1);
EXECUTE lookup(NULL);
RESET plan_cache_mode;

SET client_min_messages = warning;
DROP SCHEMA parameterised, copied CASCADE;
