-- INSERT and COPY: every type, what is refused, defaults
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set here :work '/insert'
\set map 'file:///srv/lake=' :here
SET datestyle = ISO;
\! cp -r "$LAKE_DIR" "$LAKE_WORK/insert" && chmod -R a+rwX "$LAKE_WORK/insert"
CREATE SERVER insert_server FOREIGN DATA WRAPPER lakefdw
  OPTIONS (warehouse :'here', path_map :'map');
CREATE FUNCTION adopt(server text, ident text, metadata text) RETURNS void LANGUAGE sql AS
  $$SELECT lake.register_table(server, ident, 'file:///srv/lake/' || metadata)$$;
SELECT adopt('insert_server', 'ins.types', (SELECT regexp_replace(metadata_location, '.*/lake/', '')
  FROM lake.tables('lake', 'py') WHERE table_name = 'types'));
SELECT adopt('insert_server', 'ins.nested', 'cases/nested_types/metadata/v2.metadata.json');
SELECT adopt('insert_server', 'ins.defaults', (SELECT regexp_replace(metadata_location, '.*/lake/', '')
  FROM lake.tables('lake', 'cases') WHERE table_name = 'defaults'));
SELECT adopt('insert_server', 'ins.orders', 'shop/orders/metadata/v5.metadata.json');
CREATE SCHEMA ins;
IMPORT FOREIGN SCHEMA ins FROM SERVER insert_server INTO ins;
SET search_path = ins, public;
-- what a statement fails with
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  state text;
  message text;
BEGIN
  EXECUTE statement;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
  RETURN concat_ws(' ', state, message);
END $$;
\echo == scalars, at their limits
BEGIN;
INSERT INTO types VALUES (9, true, -2147483648, 9223372036854775807, '-0', 'NaN', -9999999.99,
  -999999999999.999999, 9999999999999999999999999999.9999999999, '4713-11-24 BC', '23:59:59.999999',
  '4713-11-24 00:00:00 BC', '1969-12-31 23:59:59.999999+00', 'é€😀',
  '00112233-4455-6677-8899-aabbccddeeff', '\x00112233', '\x');
INSERT INTO types(id, f, d, n9, n18, n38, da, ts) VALUES
  (10, 'infinity', '-infinity', 0.5, 0.000001, -0.0000000001, '5874897-12-31', '294246-12-31'),
  (11, 1e-45, 5e-324, 1000, 20000000, 300000000000, '1970-01-01', '1970-01-01');
SELECT * FROM types WHERE id BETWEEN 9 AND 11 ORDER BY id;
SELECT id, f, n9 FROM types WHERE f = 'infinity' OR n9 = 1000 ORDER BY id;
COMMIT;
SELECT * FROM types WHERE id BETWEEN 9 AND 11 ORDER BY id;
SELECT id, f, n9 FROM types WHERE f = 'infinity' OR n9 = 1000 ORDER BY id;
\echo == what lake types cannot hold
SELECT refusal($$INSERT INTO types(id, fx) VALUES (1, '\x00')$$);
SELECT refusal($$INSERT INTO types(id, fx) VALUES (1, '\x0011223344')$$);
SELECT refusal($$INSERT INTO types(id, ts) VALUES (1, '294276-12-31')$$);
SELECT refusal($$INSERT INTO types(id, tz) VALUES (1, 'infinity')$$);
SELECT refusal($$INSERT INTO types(id, ti) VALUES (1, '24:00')$$);
SELECT refusal($$INSERT INTO types(id, da) VALUES (1, '-infinity')$$);
SELECT refusal($$INSERT INTO types(id, n38) VALUES (1, 'NaN')$$);
SELECT refusal($$INSERT INTO types(id, n9) VALUES (1, 'NaN')$$);
SELECT refusal($$INSERT INTO types(i) VALUES (1)$$);
\echo == other types of columns
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE FOREIGN TABLE wide (id int, i bigint, l smallint, f float8, n9 numeric, da timestamp, s varchar(5), bi bytea)
  SERVER insert_server OPTIONS (namespace 'ins', "table" 'types');
CREATE FOREIGN TABLE other (id positive, i numeric, l numeric, s char(5))
  SERVER insert_server OPTIONS (namespace 'ins', "table" 'types');
INSERT INTO wide VALUES (21, 5, 6, 1.5, 1.5, '2020-01-01', 'abc', NULL);
INSERT INTO other VALUES (22, 5, 9223372036854775807, 'ab');
SELECT id, i, l, f, n9, da, '[' || s || ']' AS s FROM types WHERE id IN (21, 22) ORDER BY id;
SELECT refusal($$INSERT INTO wide(id, i) VALUES (1, 3000000000)$$);
SELECT refusal($$INSERT INTO wide(id, f) VALUES (1, 0.1)$$);
SELECT refusal($$INSERT INTO wide(id, f) VALUES (1, 1e300)$$);
SELECT refusal($$INSERT INTO wide(id, n9) VALUES (1, 1.555)$$);
SELECT refusal($$INSERT INTO wide(id, n9) VALUES (1, 1e8)$$);
SELECT refusal($$INSERT INTO wide(id, n9) VALUES (1, 'infinity')$$);
SELECT refusal($$INSERT INTO wide(id, da) VALUES (1, '2020-01-01 10:00')$$);
SELECT refusal($$INSERT INTO other(id, i) VALUES (1, 1.5)$$);
SELECT refusal($$INSERT INTO other(id, l) VALUES (1, 1e20)$$);
SELECT refusal($$INSERT INTO other(id) VALUES (-1)$$);
\echo == undeclared columns
CREATE FOREIGN TABLE without_key (i int) SERVER insert_server OPTIONS (namespace 'ins', "table" 'types');
SELECT refusal($$INSERT INTO without_key VALUES (1)$$);
CREATE FOREIGN TABLE few (id int) SERVER insert_server OPTIONS (namespace 'ins', "table" 'defaults');
INSERT INTO few VALUES (100);
INSERT INTO defaults(id) VALUES (101);
SELECT * FROM defaults WHERE id >= 100 ORDER BY id;
CREATE FOREIGN TABLE twice (id int, also_id int OPTIONS (column_name 'id'))
  SERVER insert_server OPTIONS (namespace 'ins', "table" 'defaults');
SELECT refusal($$INSERT INTO twice VALUES (1, 2)$$);
CREATE FOREIGN TABLE placed (id int, _file text, _pos bigint)
  SERVER insert_server OPTIONS (namespace 'ins', "table" 'defaults');
INSERT INTO placed(id) VALUES (102);
SELECT id, _file IS NOT NULL AS has_file FROM placed WHERE id = 102;
SELECT refusal($$INSERT INTO placed VALUES (103, 'file', NULL)$$);
SELECT refusal($$UPDATE placed SET _pos = 1$$);
\echo == lists, structs and maps as arrays and composites
CREATE TYPE inner_struct AS (c text, d float8[]);
CREATE TYPE outer_struct AS (a int, b inner_struct);
CREATE TYPE part AS (a int);
CREATE TYPE text_entry AS (key text, value int);
CREATE TYPE dated AS (x date);
CREATE TYPE int_entry AS (key int, value dated);
CREATE TYPE item AS (k text, v bigint);
CREATE FOREIGN TABLE arrays (id int, l int[], ls text[], s outer_struct, m text_entry[], mi int_entry[], ll int[], lst item[])
  SERVER insert_server OPTIONS (namespace 'ins', "table" 'nested');
CREATE FOREIGN TABLE partly (id int, s part) SERVER insert_server OPTIONS (namespace 'ins', "table" 'nested');
BEGIN;
INSERT INTO arrays VALUES
  (10, '{1,NULL,3}', '{a,"",NULL}', '(1,"(x,""{0.5,NULL}"")")', '{"(k,1)","(l,)"}', '{"(5,\"(2020-01-01)\")","(6,)"}', '{{1,2},{3,4}}', '{"(1,9)",NULL,"(,)"}'),
  (11, '{}', NULL, '(,)', '{}', NULL, '{}', '{}');
INSERT INTO partly VALUES (12, '(5)'), (13, NULL);
SELECT * FROM arrays WHERE id >= 10 ORDER BY id;
COMMIT;
SELECT * FROM arrays WHERE id >= 10 ORDER BY id;
SELECT * FROM nested WHERE id >= 10 ORDER BY id;
SELECT refusal($$INSERT INTO arrays(l) VALUES ('{{1,2}}')$$);
SELECT refusal($$INSERT INTO arrays(l) VALUES ('[0:1]={1,2}')$$);
SELECT refusal($$INSERT INTO arrays(ll) VALUES ('{1,2}')$$);
SELECT refusal($$INSERT INTO arrays(m) VALUES ('{NULL}')$$);
SELECT refusal($$INSERT INTO arrays(m) VALUES ('{"(,1)"}')$$);
\echo == the same as jsonb
INSERT INTO nested SELECT id + 10, l, ls, s, m, mi, ll, lst FROM nested WHERE id >= 10;
SELECT count(*) FROM nested a JOIN nested b ON b.id = a.id + 10
WHERE a.id >= 10 AND (a.l, a.ls, a.s, a.m, a.mi, a.ll, a.lst)
  IS NOT DISTINCT FROM (b.l, b.ls, b.s, b.m, b.mi, b.ll, b.lst);
INSERT INTO nested(id, s, mi, ll) VALUES (30, '{"b": {"d": [1, 2.5, "NaN", "-Infinity", null]}}', '[{"key": -1}]', '[[1], null, []]');
SELECT id, s, mi, ll FROM nested WHERE id = 30;
SELECT refusal(format('INSERT INTO nested(%s) VALUES (%L)', split_part(v, ' ', 1), substr(v, strpos(v, ' ') + 1)))
FROM unnest(ARRAY['s 5', 's null', 's [1]', 's {"a": "x"}', 's {"a": 1.5}', 's {"a": 3000000000}', 's {"a": true}',
  's {"a": 1, "zzz": 1}', 's {"b": {"d": ["x"]}}', 'm []', 'm {"a": {}}', 'mi {}', 'mi [1]', 'mi [{"value": {"x": "2020-01-01"}}]',
  'mi [{"key": 1, "value": {"x": "yesterday"}}]', 'mi [{"key": 1, "value": {"x": "2020-02-30"}}]', 'll [1]', 'lst [{"v": 1e30}]']) v;
\echo == statements
BEGIN;
INSERT INTO orders VALUES (50001, 1, 'new', 1.5, '2026-01-01') RETURNING *;
INSERT INTO orders VALUES (50002) RETURNING *;
INSERT INTO orders SELECT id + 10, customer_id, status, amount FROM orders WHERE id > 50000;
COPY orders(id, status) FROM stdin;
50021	copied
50022	\N
\.
SELECT * FROM orders WHERE id > 50000 ORDER BY id;
SELECT count(*), count(customer_id) FROM orders;
INSERT INTO orders SELECT * FROM orders WHERE false;
SAVEPOINT s;
INSERT INTO orders SELECT * FROM orders;
SELECT count(*) FROM orders;
ROLLBACK TO s;
SELECT count(*) FROM orders;
COMMIT;
SELECT count(*), count(customer_id) FROM orders;
SELECT * FROM orders WHERE id > 50000 ORDER BY id;
SELECT operation, summary->>'added-records' AS added, summary->>'added-data-files' AS files
FROM lake.snapshots('orders') ORDER BY committed_at DESC LIMIT 2;
INSERT INTO orders VALUES (1) ON CONFLICT DO NOTHING;
INSERT INTO orders VALUES (1) ON CONFLICT (id) DO NOTHING;
INSERT INTO orders VALUES (1) RETURNING ctid;
BEGIN READ ONLY;
INSERT INTO orders VALUES (1);
ROLLBACK;
\echo == old versions, other catalogs
CREATE FOREIGN TABLE old () SERVER insert_server OPTIONS (namespace 'ins', "table" 'orders', as_of_timestamp '2026-12-30');
INSERT INTO old VALUES (1);
SET lakefdw.as_of = '2026-12-30';
INSERT INTO orders VALUES (1);
RESET lakefdw.as_of;
INSERT INTO shop.orders VALUES (1);
\echo == concurrent plans: parallel before, serial after
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET plan_cache_mode = force_generic_plan;
PREPARE counted AS SELECT count(*), sum(customer_id) FROM orders WHERE id > 0;
EXECUTE counted;
BEGIN;
INSERT INTO orders VALUES (60000, 1000000);
EXECUTE counted;
SELECT count(*), sum(customer_id) FROM orders WHERE id > 0;
ROLLBACK;
EXECUTE counted;
