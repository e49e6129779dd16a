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
