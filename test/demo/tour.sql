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
\echo '== 8. PostgreSQL as the catalog: Spark, Trino and PyIceberg commit to the same rows'
CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'lake', path_map :'map');
\set v3 'file:///srv/lake/shop/orders/metadata/v3.metadata.json'
SELECT * FROM lake.register_table('hosted', 'shop.orders', :'v3');
CREATE SCHEMA hosted;
IMPORT FOREIGN SCHEMA shop FROM SERVER hosted INTO hosted;
SELECT namespace, table_name, table_type FROM lake.tables('hosted');
\echo
\echo '== 9. A pin holds while another session commits: all that a commit does is to move a pointer'
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM hosted.orders;
\setenv move 'UPDATE lake.iceberg_tables SET metadata_location = replace(metadata_location, $$v3$$, $$v5$$)'
\! psql -X -d postgres -c "$move"
SELECT count(*) FROM hosted.orders;
SELECT relation, snapshot_id, scope FROM lake.pins();
COMMIT;
SELECT count(*) FROM hosted.orders;
\echo
\echo '== 10. History: what was committed, and when it became current'
SELECT snapshot_id, operation, summary->>'total-records' AS records FROM lake.snapshots('hosted.orders');
SELECT made_current_at, snapshot_id, is_current_ancestor FROM lake.history('hosted.orders');
\echo
\echo '== 11. Time travel: two versions in one query, rows that are new since the first'
SELECT snapshot_id AS first, made_current_at AS first_time
FROM lake.history('hosted.orders') ORDER BY made_current_at LIMIT 1 \gset
SELECT n.status, count(*) AS new_orders, sum(n.amount) AS amount
FROM hosted.orders n LEFT JOIN lake.at(NULL::hosted.orders, snapshot => :first) o USING (id)
WHERE o.id IS NULL GROUP BY n.status ORDER BY n.status;
\echo '   ... and every lake table as of a time'
SET lakefdw.as_of = :'first_time';
SELECT count(*) AS orders_then FROM hosted.orders;
RESET lakefdw.as_of;
SELECT count(*) AS orders_now FROM hosted.orders;
\echo
\echo '== 12. Make lake tables, partitioned'
\set made :lake '/made'
\! mkdir -m 777 "$LAKE_DIR/made"
CREATE SERVER bank FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse :'made');
CREATE SCHEMA bank;
CREATE FOREIGN TABLE bank.accounts (id bigint NOT NULL, owner text, balance numeric(12,2) NOT NULL CHECK (balance >= 0))
    SERVER bank OPTIONS (namespace 'bank', "table" 'accounts', create_if_missing 'true', format_version '3',
        properties '{"write.update.mode": "merge-on-read"}');
CREATE FOREIGN TABLE bank.transfers (at timestamptz NOT NULL, source bigint, target bigint, amount numeric(12,2))
    SERVER bank OPTIONS (namespace 'bank', "table" 'transfers', create_if_missing 'true', partition_by 'day(at)');
CREATE TABLE bank.audit (message text);
INSERT INTO bank.accounts SELECT id, name, 100 FROM customers;
\echo
\echo '== 13. One transaction over two lake tables and a local one, with a savepoint: all of it is committed, or nothing'
BEGIN;
UPDATE bank.accounts SET balance = balance - 30 WHERE id = 1;
UPDATE bank.accounts SET balance = balance + 30 WHERE id = 2;
INSERT INTO bank.transfers VALUES ('2026-06-01 12:00+00', 1, 2, 30);
INSERT INTO bank.audit VALUES ('1 pays 30 to 2');
SAVEPOINT second_thoughts;
DELETE FROM bank.accounts;
SELECT count(*) AS accounts_left FROM bank.accounts;
ROLLBACK TO second_thoughts;
SELECT count(*) AS accounts_left FROM bank.accounts;
\setenv others 'SELECT sum(balance) AS what_others_see, (SELECT count(*) FROM bank.transfers) AS transfers FROM bank.accounts WHERE id < 3'
\! psql -X -d postgres -c "$others"
COMMIT;
\! psql -X -d postgres -c "$others"
SELECT id, owner, balance FROM bank.accounts WHERE id < 3 ORDER BY id;
SELECT operation, summary->>'added-records' AS added, summary->>'added-dvs' AS vectors, summary->>'lakefdw.user' AS "user"
FROM lake.snapshots('bank.accounts');
\echo
\echo '== 14. A conflict is refused: another session changes the row before we commit'
BEGIN;
UPDATE bank.accounts SET balance = balance - 10 WHERE id = 3;
\setenv meanwhile 'UPDATE bank.accounts SET balance = 0 WHERE id = 3'
\! psql -X -d postgres -c "$meanwhile"
\set ON_ERROR_STOP off
COMMIT;
\set ON_ERROR_STOP on
SELECT id, balance FROM bank.accounts WHERE id = 3;
\echo
\echo '== 15. What cannot be read is refused by name, never skipped'
CREATE SCHEMA cases;
IMPORT FOREIGN SCHEMA cases LIMIT TO (orc_files) FROM SERVER lake INTO cases;
\set ON_ERROR_STOP off
SELECT * FROM cases.orc_files;
\set ON_ERROR_STOP on
\echo
\echo '== The end: the two errors belong to the tour.  KEEP=1 make demo keeps the cluster.'
