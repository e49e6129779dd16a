-- deleted rows stay deleted, whatever kind of delete file says so
\getenv lake LAKE_DIR
CREATE SCHEMA deletes;
SET search_path = deletes, cases, shop;

-- position deletes, across row groups and pages
SELECT count(*), sum(id) FROM pos_deletes;
SELECT count(*) FROM pos_deletes WHERE id IN (0, 150, 299);
SELECT min(id), max(id) FROM pos_deletes WHERE id BETWEEN 45 AND 65;
SELECT grp, count(*) FROM pos_deletes GROUP BY grp ORDER BY grp;
SELECT count(*) FROM pos_deletes WHERE id >= 290 AND val LIKE 'value%' COLLATE "C";
-- deletion vectors
SELECT count(*), min(id), max(id) FROM deletion_vectors;
SELECT count(*) FROM events;
SELECT count(*) FROM events WHERE id % 10 = 3 OR id BETWEEN 100 AND 119;
-- position deletes of v2 beside deletion vectors of v3
SELECT count(*), string_agg(val, ' ' ORDER BY id) FROM upgraded_deletes
WHERE id < 15;
SELECT count(*) FROM upgraded_deletes;
-- all rows gone
SELECT * FROM all_deleted;
SELECT count(*) FROM all_deleted;
-- equality deletes: NULL keys, older rows only, keys in any order, a key that
-- was dropped from the table, more keys than a batch has rows
SELECT * FROM eq_deletes ORDER BY name;
SELECT count(*) FROM eq_deletes;
SELECT note FROM eq_deletes ORDER BY note;
SELECT * FROM eq_order ORDER BY payload;
SELECT payload FROM eq_order ORDER BY payload;
SELECT * FROM eq_dropped_key ORDER BY val;
SELECT * FROM eq_many ORDER BY id;
SELECT count(*) FROM eq_many WHERE id = 8;
-- older snapshots have the rows again
\set v2 :lake '/cases/pos_deletes/metadata/v2.metadata.json'
CREATE FOREIGN TABLE pos_deletes_before () SERVER lake
    OPTIONS (metadata_location :'v2');
SELECT count(*), sum(id) FROM pos_deletes_before;
SET client_min_messages = warning;
DROP SCHEMA deletes CASCADE;
