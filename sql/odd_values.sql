-- values that a file can hold and that no row may show
\set VERBOSITY default
\set SHOW_CONTEXT never
-- the rows with and without them
SELECT id, s, da, ts, ti, n, l FROM py.odd WHERE id = 1;
SELECT s FROM py.odd WHERE id = 2;
SELECT s FROM py.odd WHERE id = 3;
SELECT da FROM py.odd WHERE id = 4;
SELECT da FROM py.odd WHERE id = 5;
SELECT ts FROM py.odd WHERE id = 6;
SELECT ts FROM py.odd WHERE id = 7;
SELECT ti FROM py.odd WHERE id = 8;
SELECT ti FROM py.odd WHERE id = 9;
SELECT n FROM py.odd WHERE id = 10;
SELECT n FROM py.odd WHERE id = 11;
SELECT l FROM py.odd WHERE id = 12;
-- where the error is, is said
DO $$
DECLARE
  context text;
BEGIN
  PERFORM s FROM py.odd WHERE id = 2;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
  RAISE NOTICE '% %', SQLSTATE, split_part(context, E'\n', 1);
END
$$;
-- in jsonb the rules are the same, where jsonb has any
CREATE FOREIGN TABLE odd_json (id int, l jsonb)
  SERVER lake OPTIONS (namespace 'py', "table" 'odd');
SELECT l FROM odd_json WHERE id = 1;
SELECT l FROM odd_json WHERE id = 12;
-- a date beyond the reach of timestamps
CREATE FOREIGN TABLE odd_wide (id int, da timestamp)
  SERVER lake OPTIONS (namespace 'py', "table" 'odd');
SELECT da FROM odd_wide WHERE id = 4;
SELECT da FROM odd_wide WHERE id = 5;
-- other columns of those rows can be read
SELECT count(id) FROM py.odd;
SELECT id FROM py.odd WHERE id = 2;
DROP FOREIGN TABLE odd_json, odd_wide;
