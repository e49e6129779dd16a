-- types: the map's own, widenings, checked narrowings, nested values
\getenv lake LAKE_DIR
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\pset null '~'
\x on
SELECT * FROM py.types ORDER BY id;
SELECT * FROM cases.nested_types ORDER BY id;
\x off
SELECT id, f, d, f = 'NaN' AS f_nan, d = 'Infinity' AS d_inf FROM cases.floats ORDER BY id;
-- numerics are what numeric_in makes of their text, byte for byte
SELECT count(*) AS rows,
  count(*) FILTER (WHERE numeric_send(n9) = numeric_send(n9::text::numeric)) AS same9,
  count(*) FILTER (WHERE numeric_send(n18) = numeric_send(n18::text::numeric)) AS same18,
  count(*) FILTER (WHERE numeric_send(n38) = numeric_send(n38::text::numeric)) AS same38
FROM py.types WHERE n38 IS NOT NULL;

-- widenings
CREATE FOREIGN TABLE wide (id bigint, i numeric, l numeric(30,4), f float8, n9 numeric, n18 numeric(20,8),
  da timestamp, s varchar, i2 float8 OPTIONS (column_name 'i'))
  SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT id, i, l, n9, n18, da, s, i2 FROM wide ORDER BY id;
SELECT w.id FROM wide w JOIN py.types t USING (id)
WHERE w.f IS DISTINCT FROM t.f::float8;

-- narrowings are checked, value by value
CREATE FOREIGN TABLE narrow (id int2, small int2 OPTIONS (column_name 'i'), l int, n9 numeric(9,1), n18 numeric(7,6),
  ts timestamp(0), tz timestamptz(3), ti time(2), s varchar(2), c char(40) OPTIONS (column_name 's'))
  SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT id FROM narrow ORDER BY id;
SELECT small FROM narrow WHERE id = 1;
SELECT l FROM narrow WHERE id = 1;
SELECT n9 FROM narrow WHERE id = 1;
SELECT n18 FROM narrow WHERE id = 1;
SELECT ts FROM narrow WHERE id = 1;
SELECT tz FROM narrow WHERE id = 2;
SELECT ti FROM narrow WHERE id = 1;
SELECT s FROM narrow WHERE id = 1;
SELECT id, length(c), octet_length(c) FROM narrow ORDER BY id;

-- what a column cannot show
CREATE FOREIGN TABLE wrong (id text, b int, d float4, n9 float8, da date, ts timestamptz, u text, bi text)
  SERVER lake OPTIONS (namespace 'py', "table" 'types');
SELECT id FROM wrong;
SELECT b FROM wrong;
SELECT d FROM wrong;
SELECT n9 FROM wrong;
SELECT ts FROM wrong;
SELECT u FROM wrong;
SELECT bi FROM wrong;
SELECT count(da) FROM wrong;
CREATE FOREIGN TABLE wrong_nested (l bigint[], ls int[], s text, m text[], ll int[])
  SERVER lake OPTIONS (namespace 'cases', "table" 'nested_types');
SELECT l FROM wrong_nested;
SELECT ls FROM wrong_nested;
SELECT s FROM wrong_nested;
SELECT m FROM wrong_nested;
SELECT ll FROM wrong_nested;

-- lists as jsonb too, and in domains
CREATE DOMAIN positive AS int CHECK (VALUE > 1);
CREATE DOMAIN short_list AS int[] CHECK (cardinality(VALUE) < 3);
CREATE FOREIGN TABLE domains (id positive, l short_list, ls jsonb)
  SERVER lake OPTIONS (namespace 'cases', "table" 'nested_types');
SELECT ls FROM domains ORDER BY ls;
SELECT id FROM domains;
SELECT l FROM domains;
ALTER DOMAIN positive DROP CONSTRAINT positive_check;
SELECT id, pg_typeof(id) FROM domains ORDER BY id;

-- columns that every table has
CREATE FOREIGN TABLE reserved (id int, _file text, _pos bigint, _spec_id int,
  _row_id bigint, _last_updated_sequence_number bigint)
  SERVER lake OPTIONS (namespace 'cases', "table" 'lineage');
SELECT id, _file LIKE 'file:///srv/lake/%.parquet' OR _file LIKE 'file:/srv/lake/%.parquet' AS file, _pos, _spec_id, _row_id, _last_updated_sequence_number
FROM reserved ORDER BY id;

DROP FOREIGN TABLE wide, narrow, wrong, wrong_nested, domains, reserved;
DROP DOMAIN positive, short_list;
