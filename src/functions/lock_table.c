/*
 * lake.lock_table() and lake.lock_tables().
 */
#include "functions/functions.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(lakefdw_lock_table);
PG_FUNCTION_INFO_V1(lakefdw_lock_tables);

static void
check_may_run(const char *function)
{
	PreventCommandIfReadOnly(function);
	PreventCommandIfParallelMode(function);
	PreventCommandDuringRecovery(function);
}

/* as LOCK TABLE asks of who may write (decisions 1.6) */
static void
check_may_lock(Oid relid)
{
	inspect_check_lake_table(relid);
	if (pg_class_aclmask(relid, GetUserId(),
						 ACL_INSERT | ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE,
						 ACLMASK_ANY) == 0)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE,
					   get_rel_name(relid));
}

Datum
lakefdw_lock_table(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);

	check_may_run("lake.lock_table()");
	check_may_lock(relid);
	lock_lake_table(relid, PG_GETARG_BOOL(1));
	PG_RETURN_VOID();
}

Datum
lakefdw_lock_tables(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	List	   *relids = NIL;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	check_may_run("lake.lock_tables()");
	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT,
					  &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("tables to lock must not be NULL")));
		check_may_lock(DatumGetObjectId(values[i]));
		relids = lappend_oid(relids, DatumGetObjectId(values[i]));
	}
	lock_lake_tables(relids);
	PG_RETURN_VOID();
}
