-- versions of tables within queries: lake.at in every place, options, the setting
CREATE SCHEMA travel;
SET search_path = travel, shop, cases;
SET timezone = 'UTC';
SET client_min_messages = warning;
\set VERBOSITY terse

-- the sample lake's ids and times differ each time that it is written
SELECT s[1] AS s1, s[2] AS s2, s[3] AS s3, s[4] AS s4,
    t[1] AS t1, t[2] AS t2
FROM (SELECT array_agg(snapshot_id ORDER BY committed_at) AS s,
    array_agg(committed_at ORDER BY committed_at) AS t
    FROM lake.snapshots('orders')) x \gset
SELECT s[1] AS p1, s[2] AS p2, s[3] AS p3, t AS tp
FROM (SELECT array_agg(snapshot_id ORDER BY committed_at) AS s, min(committed_at) AS t
    FROM lake.snapshots('products')) x \gset

-- the three selectors, positional and with an alias list
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, as_of => :'t1');
SELECT count(*), sum(amount)
    FROM lake.at(NULL::orders, as_of => :'t2'::timestamptz - interval '1 ms');
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, as_of => now() + interval '100 years');
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, ref => 'end-of-week');
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, ref => 'main');
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, :s2);
SELECT count(b) FROM lake.at(NULL::orders, snapshot => :s1) AS x(a, b) WHERE a < 10;
SELECT id, t FROM lake.at(NULL::refs, ref => 'audit') ORDER BY 1;
SELECT id, t FROM lake.at(NULL::refs, ref => 'v1') ORDER BY 1;
-- whole rows, by function and by table
SELECT x FROM lake.at(NULL::products, snapshot => :p1) x ORDER BY 1;
SELECT to_jsonb(x) FROM lake.at(NULL::products, snapshot => :p2) x ORDER BY x.title LIMIT 1;

-- columns: added later (NULL, initial defaults), promoted, renamed, dropped
SELECT * FROM lake.at(NULL::products, snapshot => :p1) ORDER BY title;
SELECT * FROM lake.at(NULL::products, snapshot => :p2) ORDER BY title;
SELECT d.* FROM (SELECT min(snapshot_id) FILTER (WHERE parent_id IS NULL) AS first
    FROM lake.snapshots('defaults')) s, lake.at(NULL::defaults, snapshot => s.first) d ORDER BY id;
SELECT e.* FROM (SELECT snapshot_id AS first FROM lake.snapshots('schema_evolution')
    WHERE parent_id IS NULL) s, lake.at(NULL::schema_evolution, snapshot => s.first) e;
SELECT snapshot_id AS e1 FROM lake.snapshots('schema_evolution') WHERE parent_id IS NULL \gset
-- field 1 was "sku" and is dropped, field 2 was "name"
CREATE FOREIGN TABLE declared (old_sku text OPTIONS (field_id '1'), title text, tags jsonb)
    SERVER lake OPTIONS (namespace 'shop', "table" 'products');
SELECT * FROM declared;
SELECT old_sku, title, tags FROM lake.at(NULL::declared, snapshot => :p1) ORDER BY 1;
SELECT old_sku FROM lake.at(NULL::declared, snapshot => :p2) WHERE old_sku > 'A' ORDER BY 1;
SELECT v.n, d.old_sku FROM (VALUES (1, :p1), (2, :p2), (3, :p3)) v(n, s),
    lake.at(NULL::declared, snapshot => v.s) d ORDER BY 1, 2;
SELECT * FROM lake.at(NULL::declared, ref => 'main');
-- the old name means the old column where the current schema has no such name
CREATE FOREIGN TABLE old_names (name text, title text)
    SERVER lake OPTIONS (namespace 'shop', "table" 'products');
SELECT name, title FROM lake.at(NULL::old_names, snapshot => :p1) ORDER BY 1;
SELECT name FROM old_names;
-- attributes dropped here
CREATE FOREIGN TABLE narrow () SERVER lake OPTIONS (namespace 'shop', "table" 'products');
ALTER FOREIGN TABLE narrow DROP COLUMN price;
ALTER FOREIGN TABLE narrow ADD COLUMN cost float8 OPTIONS (column_name 'price');
SELECT * FROM lake.at(NULL::narrow, snapshot => :p1) ORDER BY title;
SELECT n FROM lake.at(NULL::narrow, snapshot => :p1) n ORDER BY title LIMIT 1;
SELECT (lake.at(NULL::narrow, snapshot => :p1)).cost ORDER BY 1;

-- two versions in one query
SELECT count(a.id) AS new, count(b.id) AS gone
FROM orders a FULL JOIN lake.at(NULL::orders, snapshot => :s1) b USING (id)
WHERE a.id IS NULL OR b.id IS NULL;
SELECT count(*) FROM (SELECT id FROM lake.at(NULL::orders, snapshot => :s4)
    EXCEPT SELECT id FROM lake.at(NULL::orders, snapshot => :s1)) x;
SELECT count(*) FROM lake.at(NULL::orders, ref => 'main') a
WHERE NOT EXISTS (SELECT FROM lake.at(NULL::orders, snapshot => :s1) b WHERE b.id = a.id);
WITH old AS (SELECT * FROM lake.at(NULL::orders, snapshot => :s1)),
    sums AS MATERIALIZED (SELECT status, sum(amount) FROM lake.at(NULL::orders, snapshot => :s2) GROUP BY 1)
SELECT (SELECT count(*) FROM old), count(*), sum(sum) FROM sums;
SELECT 'new' AS which, count(*) FROM orders
UNION ALL SELECT 'old', count(*) FROM lake.at(NULL::orders, as_of => :'t1') ORDER BY 1;

-- where the selector comes from: LATERAL, sub-selects, joins' columns, parameters
SELECT v.n, c.* FROM (VALUES (1, :s1), (2, :s2), (3, :s3), (4, :s4)) v(n, s),
    LATERAL (SELECT count(*), sum(amount) FROM lake.at(NULL::orders, snapshot => v.s)) c ORDER BY 1;
SELECT v.n, count(*) FROM (VALUES (1, :s1), (2, :s2), (1, :s1)) v(n, s),
    lake.at(NULL::orders, snapshot => v.s) o WHERE o.id < 100 GROUP BY 1 ORDER BY 1;
SELECT v.n, count(o.id) FROM (VALUES (1, :s1), (2, :s2)) v(n, s)
    LEFT JOIN lake.at(NULL::orders, snapshot => v.s) o ON o.id < 100 AND v.n = 2 GROUP BY 1 ORDER BY 1;
SELECT s.n, (SELECT count(*) FROM lake.at(NULL::orders, as_of => s.committed_at))
FROM (SELECT row_number() OVER (ORDER BY committed_at) AS n, committed_at FROM lake.snapshots('orders')) s ORDER BY 1;
SELECT r.name, count(x.id) FROM lake.refs('refs') r, lake.at(NULL::refs, ref => r.name) x GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => (SELECT snapshot_id FROM lake.snapshots('orders') WHERE parent_id IS NULL));
SELECT v.s = :s1 AS first, count(*) FROM (VALUES (:s1), (:s2)) v(s),
    lake.at(NULL::orders, snapshot => (SELECT max(w.s) FROM (VALUES (:s1), (:s2)) w(s) WHERE w.s = v.s)) o GROUP BY 1 ORDER BY 1;
SELECT s = :s1 AS first, count(o.id) FROM ((VALUES (:s1, 1)) a(s, x) FULL JOIN (VALUES (:s2, 2)) b(s, y) USING (s)),
    LATERAL lake.at(NULL::orders, snapshot => s) o GROUP BY 1 ORDER BY 1;
-- the selector of an outer query's group, of a recursion, below an outer join
SELECT n, (SELECT count(*) FROM lake.at(NULL::orders, snapshot => max(v.s)))
FROM (VALUES (1, :s1), (2, :s2), (2, NULL)) v(n, s) GROUP BY n ORDER BY 1;
WITH RECURSIVE r(n, c) AS (SELECT 0, 0::bigint UNION ALL
    SELECT n + 1, (SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1) o WHERE o.id <= n) FROM r WHERE n < 3)
SELECT * FROM r ORDER BY n;
SELECT a.x, c.n FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (2, :s1)) b(y, s) ON y = x
    LEFT JOIN LATERAL (SELECT count(*) AS n FROM lake.at(NULL::orders, snapshot => coalesce(b.s, :s2))) c ON true ORDER BY 1;
-- the first argument only names the table
SELECT count(*) FROM orders o, lake.at(o, snapshot => :s1) x WHERE o.id = 7 AND x.id < 10;
PREPARE counted(bigint) AS SELECT count(id) FROM lake.at(NULL::orders, snapshot => $1) WHERE id > 0;
SET plan_cache_mode = force_generic_plan;
EXECUTE counted(:s1);
EXECUTE counted(:s2);
EXECUTE counted(NULL);
EXECUTE counted(1);
SET plan_cache_mode = force_custom_plan;
EXECUTE counted(:s1);
EXECUTE counted(:s2);
EXECUTE counted(NULL);
RESET plan_cache_mode;
CREATE FUNCTION rows_at(s bigint) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RETURN (SELECT count(*) FROM lake.at(NULL::orders, snapshot => s)); END $$;
SELECT n, rows_at(s) FROM (VALUES (1, :s1), (2, :s2), (3, NULL)) v(n, s) WHERE n < 3 ORDER BY n;
DO $$
DECLARE r record; n int := 0;
BEGIN
    FOR r IN SELECT o.id FROM lake.snapshots('orders') s, lake.at(NULL::orders, s.snapshot_id) o WHERE parent_id IS NULL LOOP
        n := n + 1;
    END LOOP;
    RAISE WARNING '% rows', n;
END $$;

-- where its rows go
CREATE TABLE local AS SELECT id, status FROM lake.at(NULL::orders, snapshot => :s1) WHERE id <= 20;
SELECT count(*) FROM local;
INSERT INTO local SELECT id, status FROM lake.at(NULL::orders, snapshot => :s1) WHERE id BETWEEN 21 AND 30;
DELETE FROM local USING lake.at(NULL::orders, snapshot => :s2) o WHERE local.id = o.id;
SELECT id FROM local ORDER BY id;
UPDATE local SET status = 'was ' || o.status FROM lake.at(NULL::orders, snapshot => :s1) o WHERE o.id = local.id;
SELECT count(*) FROM local WHERE status LIKE 'was %';
MERGE INTO local USING lake.at(NULL::orders, snapshot => :s1) o ON o.id = local.id AND o.id < 20
    WHEN MATCHED THEN DELETE;
SELECT count(*) FROM local;
SELECT l.id FROM local l JOIN lake.at(NULL::orders, snapshot => :s1) o USING (id) ORDER BY 1 LIMIT 1 FOR UPDATE OF l;
COPY (SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1)) TO STDOUT;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM lake.at(NULL::orders, snapshot => :s1) ORDER BY id;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
COMMIT;
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT id FROM lake.at(NULL::orders, snapshot => :s1) WHERE id < 4 ORDER BY id;
COMMIT;
FETCH ALL FROM c;
CLOSE c;
INSERT INTO local VALUES (27) RETURNING (SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1));
CREATE TABLE ruled (n int);
CREATE TABLE log (n bigint);
CREATE RULE also AS ON INSERT TO ruled DO ALSO INSERT INTO log
    SELECT new.n + (SELECT count(*) FROM lake.at(NULL::orders, ref => 'end-of-week'));
INSERT INTO ruled VALUES (1), (2);
SELECT n FROM log ORDER BY 1;
CREATE VIEW old_orders AS SELECT * FROM lake.at(NULL::orders, ref => 'end-of-week') o;
SELECT pg_get_viewdef('old_orders');
SELECT count(*) FROM old_orders WHERE id > 1000;
CREATE MATERIALIZED VIEW kept AS SELECT status, count(*) FROM lake.at(NULL::orders, ref => 'main') GROUP BY 1;
REFRESH MATERIALIZED VIEW kept;
SELECT sum(count) FROM kept;
-- a view over it holds its column's types
ALTER FOREIGN TABLE orders ALTER COLUMN status TYPE varchar;

-- where the planner does not see it as a table
SELECT count(*) FROM (SELECT lake.at(NULL::orders, snapshot => :s1)) x;
SELECT (lake.at(NULL::products, snapshot => :p1)).title ORDER BY 1;
CREATE FUNCTION inlined(s bigint) RETURNS SETOF orders LANGUAGE sql STABLE AS
    $$ SELECT * FROM lake.at(NULL::orders, snapshot => s) $$;
SELECT count(*), sum(amount) FROM inlined(:s1);
SELECT count(*) FROM inlined(NULL);
SELECT lake.at(NULL::orders, snapshot => 1, ref => 'x');
SELECT lake.at(NULL::orders);
SELECT lake.at(NULL::local, ref => 'x');

-- which argument has the value is known when the query runs, by scan and by function
CREATE FUNCTION by_scan(s bigint, a timestamptz, r text) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RETURN (SELECT count(*) FROM lake.at(NULL::orders, snapshot => s, as_of => a, ref => r)); END $$;
CREATE FUNCTION by_call(s bigint, a timestamptz, r text) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RETURN (SELECT count(*) FROM (SELECT lake.at(NULL::orders, snapshot => s, as_of => a, ref => r)) x); END $$;
SET plan_cache_mode = force_generic_plan;
SELECT by_scan(:s1, NULL, NULL), by_scan(NULL, :'t2', NULL), by_scan(NULL, NULL, 'end-of-week');
SELECT by_call(:s1, NULL, NULL), by_call(NULL, :'t2', NULL), by_call(NULL, NULL, 'end-of-week');
SELECT by_scan(NULL, NULL, NULL);
SELECT by_call(NULL, NULL, NULL);
SELECT by_scan(:s1, NULL, 'main');
SELECT by_call(:s1, NULL, 'main');
SET plan_cache_mode = force_custom_plan;
SELECT by_scan(:s1, NULL, NULL), by_scan(NULL, :'t2', NULL), by_scan(NULL, NULL, 'end-of-week');
SELECT by_call(:s1, NULL, NULL), by_call(NULL, :'t2', NULL), by_call(NULL, NULL, 'end-of-week');
SELECT by_scan(NULL, NULL, NULL);
SELECT by_call(NULL, NULL, NULL);
SELECT by_scan(:s1, NULL, 'main');
SELECT by_call(:s1, NULL, 'main');
RESET plan_cache_mode;
-- another one in each round
SELECT v.n, (SELECT count(*) FROM lake.at(NULL::orders, snapshot => v.s, ref => v.r))
    FROM (VALUES (1, :s1, NULL), (2, NULL, 'main'), (3, :s2, NULL), (4, NULL, 'end-of-week')) v(n, s, r) ORDER BY n;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1, ref => (SELECT NULL));
EXPLAIN (COSTS OFF, TIMING OFF) SELECT (SELECT count(*) FROM lake.at(NULL::orders, snapshot => v.s, ref => v.r) WHERE id > 0)
    FROM (VALUES (1, NULL), (2, 'main')) v(s, r);

-- many rounds take no more memory than one
BEGIN;
DECLARE rounds CURSOR FOR SELECT (SELECT count(*) FROM lake.at(NULL::orders, ref => g.r))
    FROM (SELECT 'main' AS r FROM generate_series(1, 10000) OFFSET 0) g;
MOVE 9000 FROM rounds;
SELECT max(used_bytes) < 100000 AS small FROM pg_backend_memory_contexts WHERE name = 'lake scan files';
ROLLBACK;

-- inheritance children are not read
CREATE FOREIGN TABLE parent (id bigint) SERVER lake OPTIONS (namespace 'shop', "table" 'orders');
CREATE TABLE child () INHERITS (parent);
INSERT INTO child VALUES (-1);
SELECT count(*) - (SELECT count(*) FROM ONLY parent) AS more FROM parent;
SELECT min(id) FROM lake.at(NULL::parent, ref => 'main');

-- prepared statements and functions meet another table, as if they named the table itself
CREATE FOREIGN TABLE changing (id bigint, status text) SERVER lake OPTIONS (namespace 'shop', "table" 'orders');
PREPARE changed AS SELECT status, id FROM lake.at(NULL::changing, snapshot => :s1) ORDER BY id LIMIT 1;
PREPARE selected_id AS SELECT max(id) FROM lake.at(NULL::changing, snapshot => $1);
CREATE FUNCTION first_row(s bigint) RETURNS SETOF changing LANGUAGE plpgsql AS
    $$ BEGIN RETURN QUERY SELECT * FROM lake.at(NULL::changing, snapshot => s) ORDER BY id LIMIT 1; END $$;
EXECUTE changed;
EXECUTE selected_id(:s1);
SELECT * FROM first_row(:s1);
ALTER FOREIGN TABLE changing ADD COLUMN amount numeric;
EXECUTE changed;
SELECT * FROM first_row(:s1);
ALTER FOREIGN TABLE changing ALTER COLUMN id TYPE numeric;
EXECUTE changed;
SELECT * FROM first_row(:s1);
ALTER FOREIGN TABLE changing ALTER COLUMN id TYPE bigint;
EXECUTE changed;
ALTER FOREIGN TABLE changing DROP COLUMN status;
EXECUTE changed;
SELECT * FROM first_row(:s1);
DROP FUNCTION first_row;
DROP FOREIGN TABLE changing;
EXECUTE changed;
CREATE FOREIGN TABLE changing (status text, id bigint) SERVER lake OPTIONS (namespace 'shop', "table" 'orders');
EXECUTE changed;
SET plan_cache_mode = force_generic_plan;
EXECUTE selected_id(:s1);
ALTER FOREIGN TABLE changing DROP COLUMN status;
EXECUTE selected_id(:s1);
RESET plan_cache_mode;

-- what is refused
SELECT * FROM lake.at(NULL::orders);
SELECT * FROM lake.at(NULL::orders, snapshot => NULL);
SELECT * FROM lake.at(NULL::orders, snapshot => :s1, ref => 'main');
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1, ref => (SELECT 'main'));
SELECT * FROM lake.at(NULL::orders, snapshot => (SELECT NULL::bigint));
SELECT * FROM lake.at(NULL::orders, as_of => 'infinity');
SELECT * FROM lake.at(NULL::orders, as_of => '2020-01-01');
SELECT * FROM lake.at(NULL::orders, ref => 'nothing');
SELECT * FROM lake.at(NULL::orders, snapshot => 1);
SELECT * FROM lake.at(NULL::orders, snapshot => :s1) WITH ORDINALITY;
SELECT * FROM ROWS FROM (lake.at(NULL::orders, snapshot => :s1), generate_series(1, 2));
SELECT * FROM lake.at(NULL::record, snapshot => 1) AS x(a int);
SELECT * FROM lake.at(NULL::local, ref => 'main');
SELECT * FROM lake.at(NULL::pg_class, ref => 'main');
SELECT * FROM lake.at(NULL::int, ref => 'main');
SELECT * FROM local TABLESAMPLE lake.at_pin(1);
SELECT 1 FROM lake.at(NULL::orders, ref => 'main') o FOR UPDATE OF o;
-- without OF it is passed over, as core does with functions
SELECT l.id FROM local l JOIN lake.at(NULL::orders, snapshot => :s1) o USING (id) ORDER BY 1 LIMIT 1 FOR UPDATE;
SELECT ctid FROM lake.at(NULL::orders, ref => 'main');

-- lakefdw.as_of
SET lakefdw.as_of = :'t1';
SELECT count(*), sum(amount) FROM orders;
SELECT count(*), sum(amount) FROM lake.at(NULL::orders, ref => 'main');
SELECT (extract(epoch FROM :'t2'::timestamptz) * 1000)::bigint AS ms \gset
SET lakefdw.as_of = :'ms';
SELECT count(*), sum(amount) FROM orders;
BEGIN;
SET LOCAL lakefdw.as_of = '';
SELECT count(*), sum(amount) FROM orders;
ROLLBACK;
PREPARE current AS SELECT count(id) FROM orders;
SET plan_cache_mode = force_generic_plan;
EXECUTE current;
SET lakefdw.as_of = :'t1';
EXECUTE current;
RESET lakefdw.as_of;
EXECUTE current;
RESET plan_cache_mode;
-- a literal is of the session's time zone
SELECT to_char(:'t1'::timestamptz, 'YYYY-MM-DD HH24:MI:SS.MS') AS here \gset
SET lakefdw.as_of = :'here';
SELECT count(*) FROM orders;
SET timezone = '-12';
SELECT count(*) FROM orders;
SET timezone = 'UTC';
-- any text can be set, none is taken for today
SET lakefdw.as_of = 'garbage';
SELECT count(*) FROM orders;
SET lakefdw.as_of = 'infinity';
SELECT count(*) FROM orders;
SET lakefdw.as_of = '-infinity';
SELECT count(*) FROM orders;
SET lakefdw.as_of = '99999999999999999999';
SELECT count(*) FROM orders;
SET lakefdw.as_of = '2020-01-01';
SELECT count(*) FROM orders;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1);
PREPARE selected AS SELECT count(*) FROM lake.at(NULL::orders, snapshot => $1);
SET plan_cache_mode = force_generic_plan;
EXECUTE selected(:s1);
RESET plan_cache_mode;
-- statistics are of the newest version
ANALYZE orders;
SELECT reltuples FROM pg_class WHERE oid = 'orders'::regclass;
RESET lakefdw.as_of;

-- options of a table
CREATE FOREIGN TABLE at_tag () SERVER lake OPTIONS (namespace 'cases', "table" 'refs', ref 'v1');
CREATE FOREIGN TABLE at_snapshot () SERVER lake OPTIONS (namespace 'shop', "table" 'products', snapshot_id :'p1');
CREATE FOREIGN TABLE at_time () SERVER lake OPTIONS (namespace 'shop', "table" 'orders', as_of_timestamp :'t1');
SELECT * FROM at_tag;
-- the version's own columns
SELECT * FROM at_snapshot ORDER BY sku;
SELECT count(*) FROM at_time;
-- found in the newest too, by their ids
SELECT name FROM lake.at(NULL::at_snapshot, ref => 'main') ORDER BY name;
SET lakefdw.as_of = '2020-01-01';
SELECT count(*) FROM at_time;
RESET lakefdw.as_of;
ALTER FOREIGN TABLE at_time OPTIONS (ADD ref 'main');
ALTER FOREIGN TABLE at_time OPTIONS (DROP as_of_timestamp, ADD ref 'main');
SELECT count(*) FROM at_time;
ALTER FOREIGN TABLE at_time OPTIONS (SET ref 'nothing');
SELECT count(*) FROM at_time;
SELECT count(*) FROM lake.at(NULL::at_tag, ref => 'main');
CREATE FOREIGN TABLE wrong (id int) SERVER lake OPTIONS (namespace 'a', "table" 'b', snapshot_id '1', ref 'x');
CREATE FOREIGN TABLE wrong (id int) SERVER lake OPTIONS (namespace 'a', "table" 'b', snapshot_id 'x');
CREATE FOREIGN TABLE wrong (id int) SERVER lake OPTIONS (namespace 'a', "table" 'b', as_of_timestamp 'x');
CREATE FOREIGN TABLE wrong (id int) SERVER lake OPTIONS (namespace 'a', "table" 'b', as_of_timestamp 'infinity');
CREATE FOREIGN TABLE wrong (id int) SERVER lake OPTIONS (namespace 'a', "table" 'b', ref '');
CREATE FOREIGN TABLE wrong () SERVER lake OPTIONS (namespace 'cases', "table" 'refs', ref 'nothing');
-- a metadata file of its own
\getenv lake LAKE_DIR
SELECT format('%s/cases/refs/metadata/v6.metadata.json', :'lake') AS file \gset
CREATE FOREIGN TABLE fixed () SERVER lake OPTIONS (metadata_location :'file', ref 'audit');
SELECT count(*) FROM fixed;
SELECT count(*) FROM lake.at(NULL::fixed, ref => 'v1');

-- a hosted catalog, and the pins of its versions
\set map 'file:///srv/lake=' :lake
CREATE SERVER hosted_travel FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'lake', path_map :'map');
INSERT INTO lake.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location)
    VALUES ('lake', 'travel', 'hosted', :'file');
CREATE FOREIGN TABLE hosted () SERVER hosted_travel OPTIONS (namespace 'travel', "table" 'hosted', ref 'audit');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT (SELECT count(*) FROM hosted), (SELECT count(*) FROM lake.at(NULL::hosted, ref => 'v1'));
SELECT relation, ref, snapshot_id IS NOT NULL AS has_id, scope FROM lake.pins() ORDER BY ref;
COMMIT;
DROP SERVER hosted_travel CASCADE;
DELETE FROM lake.iceberg_tables WHERE table_namespace = 'travel';

-- IMPORT
IMPORT FOREIGN SCHEMA shop LIMIT TO (orders, products) FROM SERVER lake INTO travel
    OPTIONS (as_of_timestamp :'tp', suffix '_then');
SELECT count(*) FROM orders_then;
SELECT count(*) FROM products_then;
SELECT relname, array_remove(ftoptions, 'as_of_timestamp=' || :'tp') FROM pg_foreign_table JOIN pg_class c ON c.oid = ftrelid
    WHERE relname LIKE '%then' ORDER BY 1;
IMPORT FOREIGN SCHEMA shop LIMIT TO (products) FROM SERVER lake INTO travel
    OPTIONS (snapshot_id :'p1', suffix '_first');
SELECT attname FROM pg_attribute WHERE attrelid = 'products_first'::regclass AND attnum > 0 ORDER BY attnum;
SET client_min_messages = notice;
IMPORT FOREIGN SCHEMA cases LIMIT TO (refs, defaults) FROM SERVER lake INTO travel OPTIONS (ref 'v1', suffix '_v1');
SET client_min_messages = warning;
SELECT * FROM refs_v1;
IMPORT FOREIGN SCHEMA shop EXCEPT (orders, events) FROM SERVER lake INTO travel OPTIONS (ref 'main', suffix '_main');
SELECT relname FROM pg_class WHERE relnamespace = 'travel'::regnamespace AND relname LIKE '%main';
IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO travel OPTIONS (snapshot_id '1');
IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO travel OPTIONS (ref 'a', as_of_timestamp '1');
IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO travel OPTIONS (sufix 'a');

-- what other readers got wrong (test/README.md)
-- 19: the vectors of each version
SELECT row_number() OVER (ORDER BY s.committed_at), (SELECT count(id) FROM lake.at(NULL::deletion_vectors, snapshot => s.snapshot_id))
    FROM lake.snapshots('deletion_vectors') s;
-- 56: a version in today's columns
CREATE FOREIGN TABLE own_columns () SERVER lake
    OPTIONS (namespace 'cases', "table" 'schema_evolution', snapshot_id :'e1');
SELECT * FROM own_columns;
-- 58: no version
SELECT count(*) FROM lake.at(NULL::empty, ref => 'main');
SELECT count(*) FROM lake.at(NULL::empty, as_of => '2100-01-01');

-- labels
SELECT proname, provolatile, proparallel, prosecdef FROM pg_proc
WHERE pronamespace = 'lake'::regnamespace AND proname LIKE 'at%' ORDER BY 1;

DROP SCHEMA travel CASCADE;
