/*
 * Parameterised paths: a scan for each row of another relation, whose values
 * are parameters in pushed quals.
 *
 * A join clause is pushed like any qual whose value is not known yet.  Core
 * puts parameters in the place of the other relation's columns when it makes
 * the plan.
 */
#include "fdw/fdw.h"

#include "access/sysattr.h"
#include "catalog/pg_statistic.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "parser/parse_coerce.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "server/compat.h"

/* a column that members of equivalence classes are compared with */
typedef struct ColumnMatch
{
	Index		varno;
	AttrNumber	attnum;
} ColumnMatch;

static bool
is_column(PlannerInfo *root, RelOptInfo *baserel, EquivalenceClass *class,
		  EquivalenceMember *member, void *arg)
{
	const ColumnMatch *match = arg;
	const Node *node = (Node *) member->em_expr;

	/* below casts; which of them are exact is seen later */
	if (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	else if (IsA(node, FuncExpr) &&
			 list_length(((FuncExpr *) node)->args) == 1)
		node = linitial(((FuncExpr *) node)->args);
	return IsA(node, Var) && ((Var *) node)->varno == match->varno &&
		((Var *) node)->varattno == match->attnum;
}

/* adds what other relations a pushable clause needs, unless it is listed */
static List *
add_outer(List *outers, RelOptInfo *baserel, RestrictInfo *info)
{
	Relids		outer;
	ListCell   *cell;

	if (!join_clause_is_movable_to(info, baserel) ||
		!plan_is_pushable(baserel, info))
		return outers;
	outer = bms_difference(info->clause_relids, baserel->relids);
	outer = bms_add_members(outer, baserel->lateral_relids);
	if (bms_is_empty(outer))
		return outers;
	foreach(cell, outers)
	{
		if (bms_equal(lfirst(cell), outer))
			return outers;
	}
	return lappend(outers, outer);
}

/* the sets of relations whose rows could give the scan its parameters */
static List *
find_outers(PlannerInfo *root, RelOptInfo *baserel)
{
	const LakePlan *plan = baserel->fdw_private;
	List	   *outers = NIL;
	ListCell   *cell;

	foreach(cell, baserel->joininfo)
		outers = add_outer(outers, baserel, lfirst(cell));
	if (!baserel->has_eclass_joins)
		return outers;
	for (int i = 0; i < plan->relation->column_count; i++)
	{
		ColumnMatch match = {baserel->relid, i + 1};
		List	   *clauses;

		if (plan->relation->columns[i].field == NULL ||
			bms_is_empty(baserel->attr_needed[match.attnum -
											  baserel->min_attr]))
			continue;
		clauses = generate_implied_equalities_for_column(root, baserel,
														 is_column, &match,
														 baserel->lateral_referencers);
		foreach(cell, clauses)
			outers = add_outer(outers, baserel, lfirst(cell));
	}
	return outers;
}

/* ---- what a lookup reads ---- */

/* the column of ours in a join clause, for its statistics */
typedef struct ClauseColumn
{
	PlannerInfo *root;
	RelOptInfo *baserel;
	AttrNumber	attnum;			/* 0: none, or several */
} ClauseColumn;

static void
find_clause_column(void *arg, const RestrictInfo *clause)
{
	ClauseColumn *column = arg;
	Bitmapset  *attnums = NULL;
	int			member;

	pull_varattnos((Node *) clause->clause, column->baserel->relid, &attnums);
	column->attnum = 0;
	if (bms_get_singleton_member(attnums, &member))
		column->attnum = member + FirstLowInvalidHeapAttributeNumber;
}

/* a slot of the column's statistics; false: there is none */
static bool
find_statistics(const ClauseColumn *column, int kind, int what,
				AttStatsSlot *slot)
{
	const LakePlan *plan = column->baserel->fdw_private;
	const LakeColumn *source;
	VariableStatData data;
	bool		found = false;

	if (column->attnum <= 0)
		return false;
	source = &plan->relation->columns[column->attnum - 1];
	examine_variable(column->root, (Node *)
					 makeVar(column->baserel->relid, column->attnum,
							 source->type_oid, source->typmod,
							 source->collation, 0),
					 column->baserel->relid, &data);
	if (HeapTupleIsValid(data.statsTuple))
		found = get_attstatsslot(slot, data.statsTuple, kind, InvalidOid,
								 what);
	ReleaseVariableStats(data);
	return found;
}

/* a PushValue: what is no constant is like the middle of our column's values */
static bool
typical_value(void *arg, Expr *expr, Datum *value, bool *is_null)
{
	static const int kinds[] = {STATISTIC_KIND_HISTOGRAM, STATISTIC_KIND_MCV};

	for (int i = 0; i < lengthof(kinds); i++)
	{
		AttStatsSlot slot;
		bool		fits;

		if (!find_statistics(arg, kinds[i], ATTSTATSSLOT_VALUES, &slot))
			continue;
		fits = slot.nvalues > 0 &&
			IsBinaryCoercible(slot.valuetype, exprType((Node *) expr));
		if (fits)
			*value = datumCopy(slot.values[slot.nvalues / 2],
							   get_typbyval(slot.valuetype),
							   get_typlen(slot.valuetype));
		free_attstatsslot(&slot);
		*is_null = false;
		if (fits)
			return true;
	}
	return false;
}

/* files are those that planning finds for typical values */
static void
estimate_files(ClauseColumn *column, Lookup *lookup)
{
	const LakePlan *plan = column->baserel->fdw_private;
	PushScope	scope = {
		.arena = lake_arena_of(CurrentMemoryContext),
		.relation = plan->relation,
		.varno = column->baserel->relid,
		.value = typical_value,
		.value_arg = column,
	};
	List	   *quals = list_concat_copy(plan->pushed, lookup->pushed);
	const ScanPlan *found;

	lookup->files = plan->planned_files;
	lookup->bytes_share = 1.0;
	if (!plan->knows_files || plan->planned_files <= 1)
		return;
	found = cost_plan_files(plan->relation,
							cost_known_predicate(&scope, quals,
												 find_clause_column));
	lookup->files = found->task_count;
	lookup->bytes_share = Max(found->bytes_planned, 0) /
		Max(plan->planned_bytes, 1);
}

/*
 * Within files, row groups can be left out as far as values and positions go
 * together; core estimates index scans by the same square.
 */
static void
estimate_row_groups(ClauseColumn *column, Lookup *lookup)
{
	double		share = 1.0;
	ListCell   *cell;

	foreach(cell, lookup->pushed)
	{
		RestrictInfo *clause = lfirst(cell);
		AttStatsSlot slot;
		double		found;
		double		correlation;

		find_clause_column(column, clause);
		if (!find_statistics(column, STATISTIC_KIND_CORRELATION,
							 ATTSTATSSLOT_NUMBERS, &slot))
			continue;
		correlation = slot.nnumbers > 0 ? slot.numbers[0] : 0;
		free_attstatsslot(&slot);
		found = clause_selectivity(column->root, (Node *) clause,
								   column->baserel->relid, JOIN_INNER, NULL);
		share = Min(share, 1 - correlation * correlation * (1 - found));
	}
	lookup->bytes_share = Min(lookup->bytes_share, share);
}

/* ---- paths ---- */

static void
add_lookup_path(PlannerInfo *root, RelOptInfo *baserel, Relids outer)
{
	ParamPathInfo *info = get_baserel_parampathinfo(root, baserel, outer);
	ClauseColumn column = {.root = root, .baserel = baserel};
	Lookup		lookup = {0};
	Cost		startup;
	Cost		total;
	ForeignPath *path;
	ListCell   *cell;

	foreach(cell, info->ppi_clauses)
	{
		RestrictInfo *clause = lfirst(cell);

		if (plan_is_pushable(baserel, clause))
			lookup.pushed = lappend(lookup.pushed, clause);
		else
			lookup.local = lappend(lookup.local, clause);
	}
	estimate_files(&column, &lookup);
	estimate_row_groups(&column, &lookup);
	cost_lookup(root, baserel, info->ppi_rows, &lookup, &startup, &total);
	path = compat_foreignscan_path(root, baserel, NULL, info->ppi_rows,
								   startup, total, NIL, outer, NULL, NIL);
	plan_set_parallel_safety(path, baserel->fdw_private);
	add_path(baserel, &path->path);
}

void
lookup_add_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	const LakePlan *plan = baserel->fdw_private;
	ListCell   *cell;

	/* an empty table is not worth it */
	if (plan->relation->snapshot == NULL)
		return;
	foreach(cell, find_outers(root, baserel))
		add_lookup_path(root, baserel, lfirst(cell));
}
