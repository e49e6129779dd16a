-- what writing needs beside the tables themselves

CREATE FUNCTION lock_table(rel regclass, nowait boolean = false) RETURNS void
  AS 'MODULE_PATHNAME', 'lakefdw_lock_table'
  LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lock_table(regclass, boolean) IS
  'locks a lake table against other sessions that lock it, to the end of the transaction';

CREATE FUNCTION lock_tables(rels regclass[]) RETURNS void
  AS 'MODULE_PATHNAME', 'lakefdw_lock_tables'
  LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION lock_tables(regclass[]) IS
  'locks several lake tables, in an order that is the same for everybody';

CREATE FUNCTION stat_get_commits(OUT scope text, OUT ident text,
    OUT commits bigint, OUT rebases bigint, OUT conflicts jsonb,
    OUT cas_losses bigint, OUT lock_wait_ms_total double precision,
    OUT lock_wait_ms_max double precision, OUT retry_ms double precision,
    OUT bytes_rewritten bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'lakefdw_stat_get_commits'
  LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION stat_get_commits() IS
  'what view stat_commits shows';

CREATE VIEW stat_commits AS
  SELECT scope, ident, commits, rebases, conflicts, cas_losses,
    lock_wait_ms_total, lock_wait_ms_max, retry_ms, bytes_rewritten
  FROM @extschema@.stat_get_commits();
COMMENT ON VIEW stat_commits IS
  'commits of lake tables, what they have met, and how long that took';
GRANT SELECT ON stat_commits TO PUBLIC;
