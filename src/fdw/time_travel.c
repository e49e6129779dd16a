/*
 * lake.at() as a scan: the planner hook that turns the function in FROM into the
 * foreign table itself.
 *
 * The selector rides in the range table entry's tablesample, because that is
 * the one place which every pass over the tree keeps up to date (sub-query
 * pull-up, LATERAL, constant folding, sub-selects), and which core never looks
 * at for a foreign table, but for the parallel label of its handler.
 */
#include "fdw/fdw.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "server/compat.h"

/* lake.at's arguments after the table */
#define FIRST_SELECTOR 1

static planner_hook_type previous_planner;

/* ---- the function ---- */

/*
 * Is it lake.at?  Known by its symbol, which only superusers can give to a
 * function, so that it does not matter what else is called "at".
 */
static bool
is_at(Oid function)
{
	HeapTuple	tuple;
	Form_pg_proc proc;
	bool		found = false;

	if (function < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (proc->prolang == ClanguageId && proc->proretset)
	{
		bool		is_null;
		Datum		symbol = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_prosrc, &is_null);

		found = !is_null &&
			strcmp(TextDatumGetCString(symbol), "lakefdw_at") == 0;
	}
	ReleaseSysCache(tuple);
	return found;
}

/* the marker beside it, which is parallel safe as lake.at itself is not */
static Oid
find_pin_function(Oid at)
{
	Oid			types[] = {INTERNALOID};
	Oid			pin = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
									  CStringGetDatum("at_pin"),
									  PointerGetDatum(buildoidvector(types,
																	 lengthof(types))),
									  ObjectIdGetDatum(get_func_namespace(at)));

	if (!OidIsValid(pin))
		elog(ERROR, "function at_pin(internal) of lakefdw does not exist");
	return pin;
}

Oid
time_travel_relation(Oid type)
{
	Oid			relid = get_typ_typrelid(type);
	Relation	rel;
	bool		is_lake;

	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("the table of lake.at has been dropped"));
	if (!OidIsValid(relid))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("type %s is not the row type of a lake table",
					   format_type_be(type)),
				errhint("Write lake.at(NULL::table_name, ...)."));
	/* the planner's lock; stays */
	rel = relation_open(relid, AccessShareLock);
	is_lake = rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE &&
		GetFdwRoutineForRelation(rel, false)->GetForeignRelSize ==
		lakeGetForeignRelSize;
	if (!is_lake)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a lake table",
					   RelationGetRelationName(rel)),
				errhint("Write lake.at(NULL::table_name, ...)."));
	relation_close(rel, NoLock);
	return relid;
}

/* ---- cached plans ---- */

/*
 * A plan depends on its tables, but a prepared statement's parsed query is kept
 * for as long as nothing changes that it names itself: of lake.at that is the
 * function, and a row type, which core does not track.  So when a table that
 * was read by lake.at changes, the queries with that function are made to be
 * parsed anew, as if the function had changed.
 */
typedef struct ReadTable
{
	Oid			relid;			/* the key */
	uint32		function;		/* lake.at's hash value in PROCOID */
} ReadTable;

/* those of the session; NULL until the first */
static HTAB * read_tables = NULL;

static void
remember_table(Oid relid, Oid function)
{
	uint32		hash = GetSysCacheHashValue1(PROCOID,
											 ObjectIdGetDatum(function));
	ReadTable  *entry;

	if (read_tables == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(Oid),
			.entrysize = sizeof(ReadTable)
		};

		read_tables = hash_create("tables of lake.at", 16, &control,
								  HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(read_tables, &relid, HASH_ENTER, NULL);
	entry->function = hash;
}

/* a callback for invalidated relations; relid InvalidOid: any of them */
static void
forget_queries(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS all;
	const ReadTable *entry;

	if (read_tables == NULL)
		return;
	if (OidIsValid(relid))
	{
		entry = hash_search(read_tables, &relid, HASH_FIND, NULL);
		if (entry != NULL)
			CallSyscacheCallbacks(PROCOID, entry->function);
		return;
	}
	hash_seq_init(&all, read_tables);
	while ((entry = hash_seq_search(&all)) != NULL)
		CallSyscacheCallbacks(PROCOID, entry->function);
}

/* ---- selectors ---- */

Expr *
time_travel_selector(const RangeTblEntry *rte)
{
	return rte->tablesample == NULL ? NULL : linitial(rte->tablesample->args);
}

List *
time_travel_arguments(const Expr *selector)
{
	return IsA(selector, RowExpr) ? ((const RowExpr *) selector)->args :
		list_make1((Expr *) selector);
}

LakeSelectorKind
time_travel_kind(Oid type)
{
	switch (type)
	{
		case INT8OID:
			return LAKE_SELECT_SNAPSHOT;
		case TIMESTAMPTZOID:
			return LAKE_SELECT_TIME;
		default:
			return LAKE_SELECT_REF;
	}
}

Oid
time_travel_function(const RangeTblEntry *rte)
{
	return rte->tablesample == NULL ? InvalidOid :
		DatumGetObjectId(lsecond_node(Const,
									  rte->tablesample->args)->constvalue);
}

const char *
time_travel_name(LakeSelectorKind kind)
{
	static const char *const names[] = {
		[LAKE_SELECT_CURRENT] = "",
		[LAKE_SELECT_SNAPSHOT] = "snapshot",
		[LAKE_SELECT_TIME] = "as_of",
		[LAKE_SELECT_REF] = "ref",
	};

	return names[kind];
}

void
time_travel_check_count(int count)
{
	if (count == 1)
		return;
	if (count == 0)
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("lake.at needs one of snapshot, as_of and ref that is not NULL"));
	ereport(ERROR,
			errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("lake.at takes only one of snapshot, as_of and ref"));
}

static void
set_selector(LakeSelector *selector, LakeSelectorKind kind, Datum value)
{
	memset(selector, 0, sizeof *selector);
	selector->kind = kind;
	if (kind == LAKE_SELECT_SNAPSHOT)
		selector->snapshot_id = DatumGetInt64(value);
	else if (kind == LAKE_SELECT_TIME)
		selector_set_time(selector, DatumGetTimestampTz(value));
	else
		selector->ref = name_to_lake(TextDatumGetCString(value));
}

/* how many fields of the row have a value; of the last one as a selector */
static int
read_row(HeapTupleHeader row, LakeSelector *selector)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
											  HeapTupleHeaderGetTypMod(row));
	int			count = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		bool		is_null;
		Datum		value = GetAttributeByNum(row, i + 1, &is_null);

		if (is_null)
			continue;
		set_selector(selector,
					 time_travel_kind(TupleDescAttr(desc, i)->atttypid),
					 value);
		count++;
	}
	ReleaseTupleDesc(desc);
	return count;
}

static int
read_value(const Expr *expr, Datum value, bool is_null,
		   LakeSelector *selector)
{
	Oid			type = exprType((const Node *) expr);

	if (is_null)
		return 0;
	if (type == RECORDOID)
		return read_row(DatumGetHeapTupleHeader(value), selector);
	set_selector(selector, time_travel_kind(type), value);
	return 1;
}

void
time_travel_value(const Expr *expr, Datum value, bool is_null,
				  LakeSelector *selector)
{
	time_travel_check_count(read_value(expr, value, is_null, selector));
}

bool
time_travel_guess(const Expr *guess, LakeSelector *selector)
{
	const Const *value = (const Const *) guess;

	return IsA(guess, Const) &&
		read_value(guess, value->constvalue, value->constisnull,
				   selector) == 1;
}

/*
 * The argument that is not written as NULL.  Several of them, of which one has
 * a value when the query runs, become a row.
 */
static Expr *
selector_argument(const FuncExpr *call)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(call->funcid));
	List	   *found = NIL;
	int			constants = 0;
	List	   *args;
	ListCell   *cell;
	RowExpr    *row;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", call->funcid);
	args = expand_function_arguments(call->args, false, call->funcresulttype,
									 tuple);
	ReleaseSysCache(tuple);
	for_each_from(cell, args, FIRST_SELECTOR)
	{
		Node	   *arg = lfirst(cell);
		Node	   *folded = eval_const_expressions(NULL, copyObject(arg));

		if (IsA(folded, Const) && ((Const *) folded)->constisnull)
			continue;
		if (IsA(folded, Const))
			constants++;
		found = lappend(found, arg);
	}
	if (constants > 1 || found == NIL)
		time_travel_check_count(constants);
	if (list_length(found) == 1)
		return linitial(found);
	row = makeNode(RowExpr);
	row->args = found;
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	row->location = -1;
	return (Expr *) row;
}

/* ---- permissions ---- */

/* the columns of a range table entry that a query names */
typedef struct ColumnUse
{
	const Query *query;			/* that has the entry */
	Index		varno;
	int			depth;			/* of the walk, below query */
	TupleDesc	desc;			/* of the table */
	Bitmapset  *attnums;		/* offset by
								 * FirstLowInvalidHeapAttributeNumber */
} ColumnUse;

static bool collect_columns(Node *node, void *arg);

/*
 * A join's column is some column of its inputs, the whole row of a join all of
 * theirs.
 */
static void
collect_join_columns(const Var *var, const RangeTblEntry *join, ColumnUse *use)
{
	int			depth = use->depth;
	Node	   *columns = (Node *) join->joinaliasvars;

	if (var->varattno > 0)
		columns = list_nth(join->joinaliasvars, var->varattno - 1);
	use->depth = 0;
	collect_columns(columns, use);
	use->depth = depth;
}

/*
 * The table may have changed since the query was parsed: before forget_queries
 * knew of it, or while it was waited for here.  Errors as the executor has them
 * for functions.
 */
static void
check_column(const Var *var, const ColumnUse *use)
{
	Form_pg_attribute attribute;

	if (var->varattno <= 0)
		return;
	if (var->varattno > use->desc->natts)
		elog(ERROR, "column %d of lake.at does not exist", var->varattno);
	attribute = TupleDescAttr(use->desc, var->varattno - 1);
	if (attribute->attisdropped)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("attribute %d of type %s has been dropped",
					   var->varattno, format_type_be(use->desc->tdtypeid)));
	if (attribute->atttypid != var->vartype)
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("attribute %d of type %s has wrong type",
					   var->varattno, format_type_be(use->desc->tdtypeid)),
				errdetail("Table has type %s, but query expects %s.",
						  format_type_be(attribute->atttypid),
						  format_type_be(var->vartype)));
}

static bool
collect_columns(Node *node, void *arg)
{
	ColumnUse  *use = arg;
	bool		result;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		RangeTblEntry *rte;

		if (var->varlevelsup != use->depth)
			return false;
		rte = rt_fetch(var->varno, use->query->rtable);
		if (rte->rtekind == RTE_JOIN)
			collect_join_columns(var, rte, use);
		else if (var->varno == use->varno)
		{
			check_column(var, use);
			use->attnums =
				bms_add_member(use->attnums, var->varattno -
							   FirstLowInvalidHeapAttributeNumber);
		}
		return false;
	}
	if (!IsA(node, Query))
		return expression_tree_walker(node, collect_columns, arg);
	use->depth++;
	result = query_tree_walker((Query *) node, collect_columns, arg,
							   QTW_IGNORE_JOINALIASES);
	use->depth--;
	return result;
}

/*
 * As any use of the table: SELECT on what is named, by the user or the owner of
 * the view around.
 */
static void
require_select(Query *query, RangeTblEntry *rte, Index varno, Oid view_owner)
{
	ColumnUse	use = {.query = query, .varno = varno};
	Relation	rel = relation_open(rte->relid, NoLock);

	use.desc = RelationGetDescr(rel);
	query_tree_walker(query, collect_columns, &use, QTW_IGNORE_JOINALIASES);
	relation_close(rel, NoLock);
	compat_require_select(query, rte, use.attnums, view_owner);
}

/* ---- the hook ---- */

static void
refuse_shape(const RangeTblEntry *rte)
{
	const RangeTblFunction *function = linitial(rte->functions);
	const char *shape = rte->funcordinality ? "WITH ORDINALITY" :
		list_length(rte->functions) > 1 ? "ROWS FROM" :
		function->funccolnames != NIL ? "a column definition list" : NULL;

	if (shape != NULL)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("lake.at cannot be used with %s", shape));
}

/*
 * Vars keep their numbers: columns of a function that returns a table's row
 * type are numbered as the table's attributes, dropped ones included.
 */
static void
convert_call(Query *query, RangeTblEntry *rte, Index varno,
			 const FuncExpr *call, Oid view_owner)
{
	TableSampleClause *carrier = makeNode(TableSampleClause);
	Expr	   *selector;

	refuse_shape(rte);
	rte->relid = time_travel_relation(call->funcresulttype);
	remember_table(rte->relid, call->funcid);
	selector = selector_argument(call);
	/* the planner does it for functions in FROM, but not for samples */
	selector = (Expr *) compat_flatten_join_alias_vars(query,
													   (Node *) selector);
	carrier->tsmhandler = find_pin_function(call->funcid);
	carrier->args = list_make2(selector,
							   makeConst(OIDOID, -1, InvalidOid, sizeof(Oid),
										 ObjectIdGetDatum(call->funcid),
										 false, true));
	rte->rtekind = RTE_RELATION;
	rte->relkind = RELKIND_FOREIGN_TABLE;
	rte->rellockmode = AccessShareLock;
	rte->inh = false;
	rte->tablesample = carrier;
	rte->functions = NIL;
	rte->lateral = contain_vars_of_level((Node *) selector, 0);
	require_select(query, rte, varno, view_owner);
}

static const FuncExpr *
find_call(const RangeTblEntry *rte)
{
	ListCell   *cell;

	foreach(cell, rte->functions)
	{
		const RangeTblFunction *function = lfirst(cell);
		const FuncExpr *call = (const FuncExpr *) function->funcexpr;

		if (call != NULL && IsA(call, FuncExpr) && is_at(call->funcid))
			return call;
	}
	return NULL;
}

/*
 * As whom a view's tables are read (16 and later; before, the rewriter has put
 * it into each range table entry).  A security_invoker view's are the user's,
 * also within another view.
 */
static Oid
view_owner_below(const RangeTblEntry *rte, Oid view_owner)
{
	Relation	view;

	if (!OidIsValid(rte->relid))
		return view_owner;
	view = relation_open(rte->relid, NoLock);
	view_owner = RelationHasSecurityInvoker(view) ? InvalidOid :
		view->rd_rel->relowner;
	relation_close(view, NoLock);
	return view_owner;
}

/* converts the calls in a query; arg is the enclosing view's owner */
static bool
convert_calls(Node *node, void *arg)
{
	Oid			view_owner = *(Oid *) arg;
	Query	   *query = (Query *) node;
	Index		varno = 0;
	ListCell   *cell;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, convert_calls, arg);
	foreach(cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);
		const FuncExpr *call;
		Oid			below;

		varno++;
		if (rte->rtekind == RTE_SUBQUERY)
		{
			below = view_owner_below(rte, view_owner);
			convert_calls((Node *) rte->subquery, &below);
		}
		else if (rte->rtekind == RTE_FUNCTION &&
				 (call = find_call(rte)) != NULL)
			convert_call(query, rte, varno, call, view_owner);
	}
	return query_tree_walker(query, convert_calls, arg,
							 QTW_IGNORE_RT_SUBQUERIES |
							 QTW_IGNORE_JOINALIASES);
}

static PlannedStmt *
plan_query(Query *query, const char *text, int options, ParamListInfo params)
{
	Oid			view_owner = InvalidOid;

	convert_calls((Node *) query, &view_owner);
	return previous_planner != NULL ?
		previous_planner(query, text, options, params) :
		standard_planner(query, text, options, params);
}

void
time_travel_init(void)
{
	previous_planner = planner_hook;
	planner_hook = plan_query;
	CacheRegisterRelcacheCallback(forget_queries, (Datum) 0);
}
