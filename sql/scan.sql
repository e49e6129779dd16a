-- rows reach every kind of node, rescans and cursors start again, LIMIT stops
CREATE SCHEMA scan;
SET search_path = scan, shop, cases, nested;

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

SELECT count(*), sum(amount), min(ordered_at), max(ordered_at) FROM orders;
SELECT * FROM orders WHERE id IN (1, 400, 1100) ORDER BY id;
SELECT * FROM "MixedCase";
SELECT * FROM leaf ORDER BY id;
SELECT * FROM empty;
SELECT count(*), count(id) FROM empty;

-- whole rows, table oid, no columns at all
SELECT o FROM orders o WHERE id = 7;
SELECT tableoid::regclass, id FROM orders WHERE id = 7;
SELECT count(*) FROM (SELECT FROM orders) o;
SELECT 1 AS one FROM leaf;

-- joins, semi-joins, sub-queries, set operations, window functions
CREATE TABLE customers (id int PRIMARY KEY, name text);
INSERT INTO customers SELECT i, 'customer ' || i FROM generate_series(1, 7) i;
ANALYZE customers;
SELECT c.name, count(*) FROM orders o JOIN customers c ON c.id = o.customer_id
GROUP BY 1 ORDER BY 1;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT c.name, count(*) FROM customers c JOIN orders o ON c.id = o.customer_id
WHERE o.id < 100 GROUP BY 1 ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
SELECT count(*) FROM customers c
WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.amount > 495);
SELECT c.id, o.* FROM customers c,
    LATERAL (SELECT id, status FROM orders WHERE customer_id = c.id
             ORDER BY id LIMIT 1) o ORDER BY c.id;
SELECT id FROM orders WHERE id < 5 UNION ALL SELECT id FROM leaf ORDER BY 1;
SELECT id, rank() OVER (ORDER BY amount DESC) FROM orders ORDER BY 2, 1 LIMIT 3;
WITH o AS MATERIALIZED (SELECT * FROM orders WHERE id <= 4)
SELECT a.id, b.id FROM o a JOIN o b ON a.id < b.id ORDER BY 1, 2;

-- columns out of order, alone, with a local condition, into a local table
SELECT status, id FROM orders WHERE length(status) > 7 AND id % 100 = 7
ORDER BY id;
SELECT amount, customer_id, id FROM orders ORDER BY amount DESC, id LIMIT 2;
CREATE TABLE copied (s text, i bigint, n int);
INSERT INTO copied SELECT status, id FROM orders;
INSERT INTO copied (i, s) SELECT id, status FROM orders WHERE id <= 4;
SELECT s, count(*), sum(i), count(n) FROM copied GROUP BY s ORDER BY s;
SELECT status, id FROM orders EXCEPT ALL SELECT s, i FROM copied;
WITH d AS (DELETE FROM copied USING (SELECT status, id FROM orders OFFSET 0) o
    WHERE i = o.id AND s <> 'open' RETURNING s)
SELECT count(*) FROM d;

-- LIMIT and OFFSET; 10,000 rows cross batches and runs
SELECT count(*) FROM (SELECT * FROM orders LIMIT 33) o;
SELECT count(*) FROM (SELECT * FROM orders OFFSET 1000) o;
SELECT count(*), sum(id), count(DISTINCT id) FROM eq_many;

-- cursors keep their snapshot and can be read backwards when materialised
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM orders ORDER BY id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
MOVE LAST IN c;
FETCH 0 FROM c;
COMMIT;

-- count(*) in one row, from manifests where no delete applies
SELECT * FROM plan('SELECT count(*) FROM some_nulls');
SELECT count(*) FROM some_nulls;
SELECT count(*) + 1 AS more, 'x' AS x, count(*) FROM some_nulls;
SELECT count(*) FROM pos_deletes;
SELECT (SELECT count(*) FROM leaf) + (SELECT count(*) FROM leaf) AS twice;
SELECT c.id, (SELECT count(*) FROM leaf WHERE c.id > 0) FROM customers c
WHERE c.id < 3;
PREPARE counting AS SELECT count(*) FROM leaf;
EXECUTE counting;
EXECUTE counting;
SELECT sum(count(*)) OVER () FROM leaf;
SELECT count(*), generate_series(1, 2) FROM leaf;
SELECT count(*) FROM leaf LIMIT 0;
-- nothing else is answered that way
SELECT * FROM plan('SELECT count(v) FROM some_nulls');
SELECT * FROM plan('SELECT count(*) FROM some_nulls WHERE id > 1');
SELECT * FROM plan('SELECT count(DISTINCT id) FROM some_nulls');
SELECT * FROM plan('SELECT count(*) FILTER (WHERE v > 1) FROM some_nulls');
SELECT * FROM plan('SELECT count(*) FROM some_nulls HAVING count(*) > 100');
SELECT * FROM plan('SELECT count(*) FROM some_nulls GROUP BY id');
SELECT * FROM plan(
    'SELECT count(*) FROM some_nulls WHERE now() < ''2000-01-01 UTC''');
SELECT count(*) FROM some_nulls WHERE random() < 0;
SELECT count(*) FROM some_nulls WHERE now() < '2000-01-01';
SELECT count(*) FROM some_nulls HAVING count(*) > 100;

-- estimates: rows of the snapshot, and after ANALYZE those of a sample
CREATE FUNCTION estimate(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT estimate('SELECT FROM orders'), estimate('SELECT FROM pos_deletes'),
    estimate('SELECT FROM empty'),
    estimate('SELECT FROM orders WHERE status = ''open''');
ANALYZE orders, eq_many, empty;
SELECT relname, reltuples FROM pg_class
WHERE relname IN ('orders', 'eq_many', 'empty') ORDER BY 1;
SELECT attname, null_frac, n_distinct FROM pg_stats
WHERE tablename = 'orders' AND attname IN ('id', 'status') ORDER BY 1;
SELECT estimate('SELECT FROM orders'),
    estimate('SELECT FROM orders WHERE status = ''open'''),
    estimate('SELECT FROM orders WHERE ordered_at > ''2026-03-06 UTC''');

-- partitioned with local tables
CREATE TABLE history (id bigint, customer_id int, status text,
    amount numeric(12,2), ordered_at timestamptz)
PARTITION BY RANGE (ordered_at);
CREATE TABLE history_new PARTITION OF history
    FOR VALUES FROM ('2027-01-01 UTC') TO ('2028-01-01 UTC');
INSERT INTO history VALUES (5000, 1, 'open', 1, '2027-05-05 UTC');
ALTER TABLE history ATTACH PARTITION orders
    FOR VALUES FROM ('2026-01-01 UTC') TO ('2027-01-01 UTC');
SELECT count(*), max(id) FROM history;
SELECT count(*) FROM history WHERE ordered_at > '2027-01-01 UTC';
SELECT tableoid::regclass, count(*) FROM history GROUP BY 1 ORDER BY 2;
ALTER TABLE history DETACH PARTITION orders;

-- rows travel whole when a joined local row is locked or updated
WITH u AS (UPDATE customers c SET name = o.status FROM orders o
    WHERE o.id = c.id AND o.amount > 3.17 RETURNING c.*)
SELECT * FROM u ORDER BY id;
WITH d AS (DELETE FROM customers c USING leaf WHERE leaf.id = c.id
    RETURNING c.id, leaf)
SELECT * FROM d ORDER BY id;

-- views, materialised views, functions
CREATE MATERIALIZED VIEW summary AS
    SELECT status, count(*) FROM orders GROUP BY status;
REFRESH MATERIALIZED VIEW summary;
SELECT * FROM summary ORDER BY 1;
CREATE FUNCTION loop_over() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r record; total bigint := 0;
BEGIN
    FOR r IN SELECT id FROM leaf LOOP
        BEGIN
            total := total + r.id / (r.id - 1);
        EXCEPTION WHEN division_by_zero THEN
            total := total + 100;
        END;
    END LOOP;
    RETURN total;
END $$;
SELECT loop_over();

-- written to, locked, or asked for a heap's columns: refused by name
INSERT INTO orders (id) VALUES (1);
UPDATE orders SET status = 'x' WHERE id = 1;
DELETE FROM orders;
TRUNCATE orders;
COPY orders FROM stdin;
\.
SELECT id FROM orders FOR UPDATE;
SELECT c.id FROM customers c JOIN orders o ON o.id = c.id ORDER BY 1 FOR SHARE OF o;
SELECT c.id FROM customers c JOIN orders o ON o.id = c.id
WHERE c.id < 3 ORDER BY 1 FOR SHARE OF c;
SELECT ctid FROM orders;
SELECT id FROM orders WHERE xmin IS NOT NULL;

SET client_min_messages = warning;
DROP SCHEMA scan CASCADE;
