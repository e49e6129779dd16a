-- who may read versions: grants, columns, views of each kind, EXECUTE
CREATE SCHEMA rights;
SET search_path = rights, shop;
\set VERBOSITY terse
CREATE ROLE lake_reader;
CREATE ROLE lake_owner;
GRANT USAGE ON SCHEMA rights, shop TO lake_reader, lake_owner;
GRANT CREATE ON SCHEMA rights TO lake_owner;
SELECT snapshot_id AS s1 FROM lake.snapshots('orders') WHERE parent_id IS NULL \gset

-- no grant, also no word about versions
SET ROLE lake_reader;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT count(*) FROM lake.at(NULL::orders, ref => 'nothing');
EXPLAIN SELECT count(*) FROM lake.at(NULL::orders, ref => 'main');
SELECT lake.at(NULL::orders, ref => 'nothing');
RESET ROLE;

-- nor by lakefdw.as_of, which everybody may set, or a partition
CREATE TABLE parted (id bigint) PARTITION BY LIST (id);
CREATE FOREIGN TABLE parted_all PARTITION OF parted DEFAULT SERVER lake OPTIONS (namespace 'shop', "table" 'orders');
CREATE VIEW of_both AS SELECT id FROM orders UNION ALL SELECT id FROM parted;
GRANT SELECT ON parted TO lake_owner;
GRANT SELECT ON of_both TO lake_reader;
SET lakefdw.as_of = '2000-01-01';
SET ROLE lake_reader;
SELECT count(*) FROM orders;
SELECT id FROM parted;
SELECT id FROM orders UNION ALL SELECT id FROM parted;
EXPLAIN DELETE FROM orders;
-- who may is told more
SELECT id FROM of_both;
SET ROLE lake_owner;
SELECT id FROM parted;
RESET ROLE;
RESET lakefdw.as_of;
DROP TABLE parted CASCADE;

-- columns
GRANT SELECT (id, status) ON orders TO lake_reader;
SET ROLE lake_reader;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT max(id), max(status) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT max(o.a) FROM lake.at(NULL::orders, snapshot => :s1) o(a, b, c);
SELECT max(o.b) FROM lake.at(NULL::orders, snapshot => :s1) o(a, b, c);
SELECT 1 FROM lake.at(NULL::orders, snapshot => :s1) WHERE amount > 0;
SELECT id FROM lake.at(NULL::orders, snapshot => :s1) ORDER BY amount;
SELECT status FROM lake.at(NULL::orders, snapshot => :s1) GROUP BY status HAVING max(amount) > 1;
SELECT o FROM lake.at(NULL::orders, snapshot => :s1) o;
SELECT (SELECT o.amount) FROM lake.at(NULL::orders, snapshot => :s1) o;
SELECT 1 FROM lake.at(NULL::orders, snapshot => :s1) o, LATERAL (SELECT o.amount OFFSET 0) x;
SELECT j FROM (lake.at(NULL::orders, snapshot => :s1) a JOIN (VALUES (1)) v(n) ON n = id) j;
SELECT amount FROM lake.at(NULL::orders, snapshot => :s1) a FULL JOIN (VALUES (1.0)) v(amount) USING (amount);
SELECT 1 FROM (VALUES (1)) v LEFT JOIN lake.at(NULL::orders, snapshot => :s1) o ON o.amount = 1;
-- the function asks for all columns
SELECT count(*) FROM (SELECT lake.at(NULL::orders, snapshot => :s1)) x;
RESET ROLE;
REVOKE ALL ON orders FROM lake_reader;
GRANT SELECT (id, status) ON orders TO lake_reader;
SET ROLE lake_reader;
PREPARE ids AS SELECT max(id) FROM lake.at(NULL::orders, snapshot => :s1);
EXECUTE ids;
RESET ROLE;
REVOKE ALL (id, status) ON orders FROM lake_reader;
SET ROLE lake_reader;
EXECUTE ids;
DEALLOCATE ids;
RESET ROLE;

-- a definer's view reads as its owner, an invoker's as the user
GRANT SELECT ON orders TO lake_owner;
SET ROLE lake_owner;
CREATE VIEW definer AS SELECT * FROM lake.at(NULL::orders, ref => 'end-of-week') o;
CREATE VIEW invoker WITH (security_invoker) AS SELECT * FROM lake.at(NULL::orders, ref => 'end-of-week') o;
CREATE VIEW definer_over_invoker AS SELECT * FROM invoker;
CREATE VIEW invoker_over_definer WITH (security_invoker) AS SELECT * FROM definer;
CREATE VIEW in_cte AS WITH o AS MATERIALIZED (SELECT * FROM lake.at(NULL::orders, ref => 'end-of-week')) SELECT * FROM o;
CREATE VIEW in_sublink AS SELECT (SELECT count(*) FROM lake.at(NULL::orders, ref => 'end-of-week')) AS id;
GRANT SELECT ON definer, invoker, definer_over_invoker, invoker_over_definer, in_cte, in_sublink TO lake_reader;
SELECT count(*) FROM invoker;
SET ROLE lake_reader;
SELECT count(*) FROM definer;
SELECT count(*) FROM invoker;
SELECT count(*) FROM definer_over_invoker;
SELECT count(*) FROM invoker_over_definer;
SELECT count(*) FROM in_cte;
SELECT id FROM in_sublink;
RESET ROLE;
REVOKE SELECT ON orders FROM lake_owner;
GRANT SELECT ON orders TO lake_reader;
SET ROLE lake_reader;
SELECT count(*) FROM definer;
SELECT count(*) FROM invoker;
SELECT count(*) FROM definer_over_invoker;
SELECT count(*) FROM in_cte;
SELECT id FROM in_sublink;
RESET ROLE;

-- a security barrier: quals of the user come after the view's
GRANT SELECT ON orders TO lake_owner;
CREATE FUNCTION leak(bigint) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
    $$ BEGIN IF $1 <> 2 THEN RAISE WARNING 'saw %', $1; END IF; RETURN true; END $$;
CREATE VIEW barrier WITH (security_barrier) AS
    SELECT * FROM lake.at(NULL::orders, snapshot => :s1) o WHERE id = 2;
SELECT id FROM barrier WHERE leak(id) AND status <> 'x';

-- EXECUTE, as for any function
REVOKE EXECUTE ON FUNCTION lake.at FROM PUBLIC;
SET ROLE lake_reader;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT max(id) FROM lake.at(NULL::orders, snapshot => :s1);
SELECT count(*) FROM definer;
RESET ROLE;
GRANT EXECUTE ON FUNCTION lake.at TO lake_reader;
SET ROLE lake_reader;
SELECT count(*) FROM lake.at(NULL::orders, snapshot => :s1);
RESET ROLE;
REVOKE EXECUTE ON FUNCTION lake.at FROM lake_reader;
GRANT EXECUTE ON FUNCTION lake.at TO PUBLIC;

-- an extension's schema is not what makes a function lake.at
CREATE FUNCTION rights.at(rel anyelement, snapshot bigint = NULL) RETURNS SETOF anyelement
    LANGUAGE sql AS $$ SELECT rel $$;
SELECT count(*) FROM rights.at(NULL::orders, snapshot => :s1);

REVOKE ALL ON orders FROM lake_reader, lake_owner;
SET client_min_messages = warning;
DROP SCHEMA rights CASCADE;
REVOKE ALL ON SCHEMA shop FROM lake_reader, lake_owner;
DROP ROLE lake_reader, lake_owner;
