-- what is wrong with a table is said by name, and the session goes on
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set map 'file:///srv/lake=' :lake ',file:///srv/lake/nested/deep/leaf=' :work '/leaf'
CREATE SCHEMA errors;
SET search_path = errors;
CREATE SERVER errors FOREIGN DATA WRAPPER lakefdw
    OPTIONS (catalog 'file', warehouse :'lake', path_map :'map');
-- names and ids differ each time that the sample lake is written
CREATE FUNCTION error_of(query text, OUT code text, OUT message text,
    OUT context text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        context = PG_EXCEPTION_CONTEXT;
    message := regexp_replace(message, '[^/" ]+\.(parquet|orc|avro)', 'FILE.\1');
    context := regexp_replace(context, '\n?(SQL statement|PL/pgSQL).*', '');
    context := regexp_replace(context, '[^/" ]+\.(parquet|orc|avro)', 'FILE.\1',
                              'g');
    context := regexp_replace(context, 'snapshot \d+', 'snapshot ID');
END $$;
\x

-- a data file that is gone
\! cp -r "$LAKE_DIR/nested/deep/leaf" "$LAKE_WORK/leaf"
\! rm "$LAKE_WORK"/leaf/data/*.parquet
CREATE FOREIGN TABLE leaf () SERVER errors
    OPTIONS (namespace 'nested.deep', "table" 'leaf');
SELECT * FROM error_of('SELECT * FROM leaf');
SELECT count(*) FROM leaf;
-- a file that is cut, and one that is not what it says
\! cp "$LAKE_DIR"/nested/deep/leaf/data/*.parquet "$LAKE_WORK/leaf/data"
\! for f in "$LAKE_WORK"/leaf/data/*.parquet; do truncate -s 300 "$f"; done
SELECT * FROM error_of('SELECT * FROM leaf');
\! for f in "$LAKE_WORK"/leaf/data/*.parquet; do echo 'not a table' > "$f"; done
SELECT * FROM error_of('SELECT * FROM leaf');
\! cp "$LAKE_DIR"/nested/deep/leaf/data/*.parquet "$LAKE_WORK/leaf/data"
SELECT * FROM leaf ORDER BY id;

-- formats that are not read, and a statement that is cancelled
SELECT * FROM error_of('SELECT * FROM cases.orc_files');
SELECT * FROM error_of('SELECT * FROM cases.avro_files');
\set SHOW_CONTEXT never
SET statement_timeout = '50ms';
SELECT count(*) FROM shop.orders a, shop.orders b, shop.orders c
WHERE a.id + b.id + c.id < 0;
RESET statement_timeout;
SELECT count(*) FROM leaf;
SET client_min_messages = warning;
DROP SCHEMA errors CASCADE;
DROP SERVER errors;
