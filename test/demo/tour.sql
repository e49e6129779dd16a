-- The guided tour.  :lake is the directory of the sample lake, whose files
-- were written by Spark, PyIceberg and DuckDB under file:///srv/lake.
\set map 'file:///srv/lake=' :lake
\echo
\echo '== 1. Connect to a lake: a directory of Iceberg tables'
CREATE EXTENSION lakefdw;
CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw
    OPTIONS (catalog 'file', warehouse :'lake', path_map :'map');
CREATE SCHEMA shop;
IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO shop;
\echo
\echo '== 2. Query it'
SELECT status, count(*), sum(amount) FROM shop.orders GROUP BY status ORDER BY status;
\echo
\echo '== 3. Join it with a local table'
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Boole'), (3, 'Codd'), (4, 'Date'),
    (5, 'Euler'), (6, 'Fagin'), (7, 'Gray');
SELECT c.name, count(*) AS orders, sum(o.amount) AS total
FROM shop.orders o JOIN customers c ON c.id = o.customer_id
WHERE o.ordered_at >= '2026-03-04' GROUP BY c.name ORDER BY total DESC LIMIT 3;
\echo
\echo '== 4. See what was pruned: partitions, files, row groups'
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
SELECT id, amount FROM shop.orders
WHERE ordered_at >= '2026-03-05' AND ordered_at < '2026-03-06' AND amount > 490;
\echo
\echo '== 5. Rows that another engine deleted stay deleted: position deletes (v2)'
SELECT count(*) FILTER (WHERE status = 'returned') AS returned_left, count(*) AS orders FROM shop.orders;
\echo '   ... and deletion vectors (v3)'
SELECT count(*), count(*) FILTER (WHERE id % 10 = 3) AS deleted_ones FROM shop.events;
\echo
\echo '== 6. A table whose columns were renamed, promoted, dropped and added'
SELECT * FROM shop.products ORDER BY title;
\echo
\echo '== 7. Structs and maps are jsonb'
SELECT id, kind, payload->>'page' AS page, labels FROM shop.events
WHERE id BETWEEN 20 AND 24 ORDER BY id;
\echo
\echo '== 8. An older version, straight from its metadata file'
\set v2 :lake '/shop/orders/metadata/v2.metadata.json'
CREATE FOREIGN TABLE orders_before () SERVER lake OPTIONS (metadata_location :'v2');
SELECT (SELECT count(*) FROM orders_before) AS before, (SELECT count(*) FROM shop.orders) AS now;
\echo
\echo '== 9. What cannot be read is refused by name, never skipped'
CREATE SCHEMA cases;
IMPORT FOREIGN SCHEMA cases LIMIT TO (orc_files) FROM SERVER lake INTO cases;
\set ON_ERROR_STOP off
SELECT * FROM cases.orc_files;
\set ON_ERROR_STOP on
\echo
\echo '== The end: that error was the last stop.  KEEP=1 make demo keeps the cluster.'
