/*
 * lake.at() when it is called.
 *
 * It seldom is: the planner hook turns it into a scan.  A session whose first
 * query it is has planned that query before the library, and the hook, were
 * loaded; and nobody asks the hook about functions in the target list or about
 * SQL functions that core inlines.  By now the hook is there, so the same call
 * in a query of its own becomes a scan.
 */
#include "functions/functions.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "nodes/params.h"
#include "nodes/primnodes.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(lakefdw_at);
PG_FUNCTION_INFO_V1(lakefdw_at_pin);

/* by argument, from the second on */
static const struct
{
	LakeSelectorKind kind;
	Oid			type;
}			selectors[] = {
	{LAKE_SELECT_SNAPSHOT, INT8OID},
	{LAKE_SELECT_TIME, TIMESTAMPTZOID},
	{LAKE_SELECT_REF, TEXTOID},
};

/* the argument that has a value; throws unless there is one */
static int
selector_argument(FunctionCallInfo fcinfo)
{
	int			count = 0;
	int			found = 0;

	for (int i = 1; i <= lengthof(selectors); i++)
	{
		if (PG_ARGISNULL(i))
			continue;
		found = i;
		count++;
	}
	time_travel_check_count(count);
	return found;
}

/* the call as a query with the columns of the row type, dropped ones as NULL */
static char *
make_query(FunctionCallInfo fcinfo, Oid relid, TupleDesc desc,
		   const char *selector)
{
	const char *table_schema = get_namespace_name(get_rel_namespace(relid));
	const char *table = quote_qualified_identifier(table_schema,
												   get_rel_name(relid));
	Oid			own_schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT");
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		appendStringInfo(&sql, "%s %s", i == 0 ? "" : ",",
						 attribute->attisdropped ? "NULL::pg_catalog.int4" :
						 psprintf("t.%s",
								  quote_identifier(NameStr(attribute->attname))));
	}
	appendStringInfo(&sql, " FROM %s.at(NULL::%s, %s => $1) AS t",
					 quote_identifier(get_namespace_name(own_schema)), table,
					 selector);
	return sql.data;
}

/* runs the query under the caller's snapshot, its rows into the tuplestore */
static void
run_query(const char *sql, Oid type, Datum value, ReturnSetInfo *result)
{
	SPIExecuteOptions options = {0};
	ParamListInfo params = makeParamList(1);
	int			status;

	params->params[0].value = value;
	params->params[0].isnull = false;
	params->params[0].pflags = PARAM_FLAG_CONST;
	params->params[0].ptype = type;
	options.params = params;
	options.read_only = true;
	options.must_return_tuples = true;
	options.dest = CreateDestReceiver(DestTuplestore);
	SetTuplestoreDestReceiverParams(options.dest, result->setResult,
									result->econtext->ecxt_per_query_memory,
									false, NULL, NULL);
	SPI_connect();
	status = SPI_execute_extended(sql, &options);
	if (status != SPI_OK_SELECT)
		elog(ERROR, "cannot run lake.at: %s", SPI_result_code_string(status));
	SPI_finish();
}

/* without our hook the query would call the function again, for ever */
static pg_noinline void
run_query_once(const char *sql, Oid type, Datum value, ReturnSetInfo *result)
{
	static bool is_running = false;

	if (is_running)
		elog(ERROR, "the planner hook of lakefdw is not called");
	is_running = true;
	PG_TRY();
	{
		run_query(sql, type, value, result);
	}
	PG_FINALLY();
	{
		is_running = false;
	}
	PG_END_TRY();
}

Datum
lakefdw_at(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid;
	int			argument;
	char	   *sql;

	if (fcinfo->flinfo->fn_expr == NULL ||
		!IsA(fcinfo->flinfo->fn_expr, FuncExpr))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("lake.at cannot be called here"));
	argument = selector_argument(fcinfo);
	relid = time_travel_relation(get_fn_expr_argtype(fcinfo->flinfo, 0));
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	sql = make_query(fcinfo, relid, result->setDesc,
					 time_travel_name(selectors[argument - 1].kind));
	run_query_once(sql, selectors[argument - 1].type,
				   PG_GETARG_DATUM(argument), result);
	PG_RETURN_NULL();
}

/*
 * Stands for lake.at where a plan keeps its selector, with a label of its own
 * about parallel workers.  Nobody calls it.
 */
Datum
lakefdw_at_pin(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("lake.at_pin cannot be called"));
}
