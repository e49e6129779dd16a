-- who may map, who may name files, which paths may be read
\getenv lake LAKE_DIR
\getenv work LAKE_WORK
\set map 'file:///srv/lake=' :lake
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;

-- the outcome of a statement, with the directories of this run made neutral
CREATE FUNCTION outcome(statement text, lake text, work text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  message text;
  hint text;
  result text;
BEGIN
  EXECUTE statement INTO result;
  RETURN coalesce(result, 'ok');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': '
    || replace(replace(message || coalesce(nullif('; ' || hint, '; '), ''),
                       lake, '$LAKE'), work, '$WORK');
END
$$;
GRANT EXECUTE ON FUNCTION outcome TO PUBLIC;

CREATE ROLE lake_owner;
CREATE ROLE lake_user;
GRANT CREATE, USAGE ON SCHEMA public TO lake_owner, lake_user;
GRANT USAGE ON FOREIGN DATA WRAPPER lakefdw TO lake_owner, lake_user;

-- naming a file of the server needs pg_read_server_files
SET ROLE lake_owner;
CREATE SERVER priv FOREIGN DATA WRAPPER lakefdw OPTIONS (warehouse '/x');
CREATE SERVER priv FOREIGN DATA WRAPPER lakefdw OPTIONS (allowed_locations '/x');
CREATE SERVER priv FOREIGN DATA WRAPPER lakefdw OPTIONS (path_map '/x=/y');
RESET ROLE;
GRANT pg_read_server_files TO lake_owner;
SET ROLE lake_owner;
CREATE SERVER priv FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake', path_map :'map');
CREATE FOREIGN TABLE owners (id bigint) SERVER priv OPTIONS (namespace 'shop', "table" 'orders');
SELECT count(id) > 0 AS owner_reads FROM owners;

-- who has a grant on the table needs nothing else
GRANT SELECT ON owners TO lake_user;
SET ROLE lake_user;
SELECT count(id) > 0 AS user_reads FROM owners;

-- USAGE on the server is not enough to map its tables
CREATE FOREIGN TABLE users (id bigint) SERVER priv OPTIONS (namespace 'shop', "table" 'orders');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER priv TO lake_user;
SET ROLE lake_user;
CREATE FOREIGN TABLE users (id bigint) SERVER priv OPTIONS (namespace 'shop', "table" 'orders');
SELECT count(id) FROM users;
CREATE FOREIGN TABLE users2 () SERVER priv OPTIONS (namespace 'shop', "table" 'orders');
IMPORT FOREIGN SCHEMA shop FROM SERVER priv INTO public;
CREATE FOREIGN TABLE users3 () SERVER priv OPTIONS (metadata_location '/etc/passwd');
RESET ROLE;
-- not even for a superuser who reads that table: the owner counts
SELECT count(id) FROM users;

-- unless the server says so, or the owner is given the server owner's role
ALTER SERVER priv OPTIONS (ADD mapping 'usage');
SET ROLE lake_user;
SELECT count(id) > 0 AS by_usage FROM users;
RESET ROLE;
REVOKE USAGE ON FOREIGN SERVER priv FROM lake_user;
SET ROLE lake_user;
SELECT count(id) FROM users;
RESET ROLE;
ALTER SERVER priv OPTIONS (SET mapping 'owner');
GRANT lake_owner TO lake_user;
SET ROLE lake_user;
SELECT count(id) > 0 AS by_membership FROM users;
RESET ROLE;

-- the server's owner must go on being allowed to read files
REVOKE pg_read_server_files FROM lake_owner;
SELECT count(id) FROM owners;
GRANT pg_read_server_files TO lake_owner;
SELECT count(id) > 0 AS again FROM owners;

-- paths: what metadata says must be below an allowed prefix after path_map
CREATE SERVER unmapped FOREIGN DATA WRAPPER lakefdw
  OPTIONS (catalog 'file', warehouse :'lake');
CREATE FOREIGN TABLE unmapped (id bigint) SERVER unmapped OPTIONS (namespace 'shop', "table" 'orders');
SELECT outcome('SELECT count(id) FROM unmapped', :'lake', :'work');
-- a table's own map is enough, and goes before the server's
ALTER FOREIGN TABLE unmapped OPTIONS (ADD path_map :'map');
SELECT count(id) > 0 AS mapped FROM unmapped;
ALTER SERVER unmapped OPTIONS (ADD path_map '/srv/lake=/nowhere');
SELECT count(id) > 0 AS mapped FROM unmapped;
ALTER FOREIGN TABLE unmapped OPTIONS (DROP path_map);
SELECT outcome('SELECT count(id) FROM unmapped', :'lake', :'work');

-- a table that is not in the catalog, by its metadata file
\set file :lake '/shop/orders/metadata/v1.metadata.json'
CREATE FOREIGN TABLE static (id bigint) SERVER lake OPTIONS (metadata_location :'file');
SELECT count(*) FROM static;
-- neither ".." nor a link leads out of the allowed directories
\set file :lake '/shop/../../data/PG_VERSION'
ALTER FOREIGN TABLE static OPTIONS (SET metadata_location :'file');
SELECT outcome('SELECT count(id) FROM static', :'lake', :'work') LIKE '%: %' AS refused;
\set command 'cat >/dev/null; mkdir -p ' :work '/out/metadata && ln -sf /etc/passwd ' :work '/out/metadata/v1.metadata.json'
COPY (SELECT 1) TO PROGRAM :'command';
\set file :work '/out/metadata/v1.metadata.json'
ALTER FOREIGN TABLE static OPTIONS (SET metadata_location :'file');
SELECT outcome('SELECT count(id) FROM static', :'lake', :'work');
\set file :work '/out/metadata/v2.metadata.json'
ALTER FOREIGN TABLE static OPTIONS (SET metadata_location :'file');
SELECT outcome('SELECT count(id) FROM static', :'lake', :'work');

DROP FOREIGN TABLE static;
DROP SERVER priv, unmapped CASCADE;
DROP FUNCTION outcome;
REVOKE ALL ON SCHEMA public FROM lake_owner, lake_user;
REVOKE ALL ON FOREIGN DATA WRAPPER lakefdw FROM lake_owner, lake_user;
DROP ROLE lake_user, lake_owner;
