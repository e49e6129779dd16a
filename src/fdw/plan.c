/*
 * Planner callbacks: which quals and columns go into the scan, and the paths.
 *
 * More aggregates are further calls beside the ones here.
 */
#include "fdw/fdw.h"

#include "access/sysattr.h"
#include "catalog/heap.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "server/compat.h"

/*
 * Below a security barrier a qual runs early only if it is leakproof or no qual
 * of a lower level stays behind: core's rule for index quals.
 */
bool
plan_is_pushable(RelOptInfo *baserel, RestrictInfo *info)
{
	const LakePlan *plan = baserel->fdw_private;
	PushScope	scope = {
		.arena = lake_arena_of(CurrentMemoryContext),
		.relation = plan->relation,
		.varno = baserel->relid,
		.value = pushdown_constant,
	};
	Predicate  *predicate;

	return restriction_is_securely_promotable(info, baserel) &&
		pushdown_qual(&scope, info->clause, &predicate) != PUSH_NO;
}

/* sorts the quals into those that the scan decides and the rest */
static void
classify_quals(RelOptInfo *baserel, LakePlan *plan)
{
	ListCell   *cell;

	foreach(cell, baserel->baserestrictinfo)
	{
		RestrictInfo *info = lfirst(cell);

		/* a gating node above the scan evaluates these */
		if (info->pseudoconstant)
			continue;
		if (plan_is_pushable(baserel, info))
			plan->pushed = lappend(plan->pushed, info);
		else
			plan->local = lappend(plan->local, info);
	}
}

/*
 * The attributes that the nodes above and the local quals need.  The target
 * list that GetForeignPlan is given may be a physical one, which names all.
 */
static Bitmapset *
wanted_attnums(const RelOptInfo *baserel, List *local)
{
	Bitmapset  *attnums = NULL;
	ListCell   *cell;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid,
				   &attnums);
	foreach(cell, local)
	{
		RestrictInfo *info = lfirst(cell);

		pull_varattnos((Node *) info->clause, baserel->relid, &attnums);
	}
	return attnums;
}

void
plan_refuse_system_columns(const char *name, const Bitmapset *attnums,
						   bool allow_tid)
{
	int			member = -1;

	while ((member = bms_next_member(attnums, member)) >= 0)
	{
		int			attnum = member + FirstLowInvalidHeapAttributeNumber;
		NameData	column;

		if (attnum >= 0)
			break;
		if (attnum == TableOidAttributeNumber ||
			(allow_tid && attnum == SelfItemPointerAttributeNumber))
			continue;
		column = SystemAttributeDefinition(attnum)->attname;
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("lake table %s has no system column \"%s\"",
					   name, NameStr(column)),
				errhint("Columns named _file and _pos identify rows."));
	}
}

/* are the relation's rows updated or deleted? */
static bool
is_target(const PlannerInfo *root, const RelOptInfo *rel)
{
	return bms_is_member(rel->relid, root->all_result_relids);
}

/*
 * The version to plan with: lake.at's if its value can be told by now, else the
 * current one.
 */
static LakeRelation *
open_relation(PlannerInfo *root, Oid relid, Expr *expr)
{
	LakeSelector selector = {LAKE_SELECT_CURRENT};
	LakeOpen	how = {0};

	if (expr == NULL)
		return lake_relation_open(relid, &how);
	/* a guess may be NULL, a constant may not */
	if (IsA(expr, Const))
		time_travel_value(expr, ((Const *) expr)->constvalue,
						  ((Const *) expr)->constisnull, &selector);
	else if (!time_travel_guess((Expr *)
								estimate_expression_value(root,
														  (Node *) expr),
								&selector))
	{
		memset(&selector, 0, sizeof selector);
		how.any_version = true;
	}
	how.selector = &selector;
	return lake_relation_open(relid, &how);
}

/*
 * The executor would refuse as well, but after errors that name snapshots and
 * files.  Rights on a partition are those on what the query names, above it.
 */
static void
check_permissions(PlannerInfo *root, Index varno)
{
	const AppendRelInfo *member;

	compat_check_permissions(root->parse, planner_rt_fetch(varno, root));
	while (root->append_rel_array != NULL &&
		   (member = root->append_rel_array[varno]) != NULL)
	{
		varno = member->parent_relid;
		compat_check_permissions(root->parse, planner_rt_fetch(varno, root));
	}
}

void
lakeGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	const RangeTblEntry *rte = planner_rt_fetch(baserel->relid, root);
	LakePlan   *plan = palloc0(sizeof *plan);
	LakeFrame	frame;

	check_permissions(root, baserel->relid);
	plan->selector = time_travel_selector(rte);
	plan->selector_function = time_travel_function(rte);
	plan->relation = open_relation(root, relid, plan->selector);
	baserel->fdw_private = plan;
	lake_frame_push(&frame, "planning a scan of", plan->relation->name);
	classify_quals(baserel, plan);
	plan->attnums = wanted_attnums(baserel, plan->local);
	/* a target's ctid is the executor's; modify.c has looked at the user's */
	plan_refuse_system_columns(plan->relation->name, plan->attnums,
							   is_target(root, baserel));
	cost_estimate_size(root, baserel, plan);
	lake_frame_pop(&frame);
}

/*
 * Every process of a query can read a version that the leader has chosen for
 * it.  What a serial scan must not do is said of its paths.
 */
bool
lakeIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
							  RangeTblEntry *rte)
{
	return !staged_scan_is_serial();
}

/*
 * A serial scan within a worker takes a pin of its own, which is the leader's
 * only if the snapshot alone decides.
 */
void
plan_set_parallel_safety(ForeignPath *path, const LakePlan *plan)
{
	path->path.parallel_safe = path->path.parent->consider_parallel &&
		relation_pins_by_snapshot(plan->relation->relid);
}

static void
add_parallel_path(PlannerInfo *root, RelOptInfo *baserel)
{
	LakePlan   *plan = baserel->fdw_private;
	int			workers;
	double		rows;
	Cost		startup;
	Cost		total;
	ForeignPath *path;

	if (!baserel->consider_parallel || baserel->lateral_relids != NULL)
		return;
	workers = cost_parallel_workers(baserel, plan);
	if (workers == 0)
		return;
	cost_parallel_scan(root, baserel, plan, workers, &rows, &startup, &total);
	path = compat_foreignscan_path(root, baserel, NULL, rows, startup, total,
								   NIL, NULL, NULL, NIL);
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(baserel, &path->path);
}

void
lakeGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	Cost		startup;
	Cost		total;
	ForeignPath *path;

	cost_scan(root, baserel, baserel->fdw_private, &startup, &total);
	path = compat_foreignscan_path(root, baserel, NULL, baserel->rows,
								   startup, total, NIL,
								   baserel->lateral_relids, NULL, NIL);
	plan_set_parallel_safety(path, baserel->fdw_private);
	add_path(baserel, &path->path);
	add_parallel_path(root, baserel);
	lookup_add_paths(root, baserel);
}

/* count(*) without DISTINCT, ORDER BY, FILTER */
static bool
is_plain_count(const Aggref *aggregate)
{
	return aggregate->aggfnoid == F_COUNT_ && aggregate->aggstar &&
		aggregate->aggfilter == NULL && aggregate->agglevelsup == 0 &&
		aggregate->aggsplit == AGGSPLIT_SIMPLE;
}

/*
 * The scan's target list if all that the grouped relation wants from its input
 * is count(*); NIL otherwise.
 */
static List *
count_tlist(const PathTarget *target)
{
	List	   *tlist = NIL;
	List	   *parts = pull_var_clause((Node *) target->exprs,
										PVC_INCLUDE_AGGREGATES |
										PVC_RECURSE_WINDOWFUNCS |
										PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, parts)
	{
		Node	   *part = lfirst(cell);

		if (!IsA(part, Aggref) || !is_plain_count((Aggref *) part))
			return NIL;
	}
	tlist = add_to_flat_tlist(tlist, parts);
	return tlist;
}

/*
 * count(*) of a whole table as one row of the scan.  Whether metadata can
 * answer it is seen when the scan runs; the same node counts otherwise.
 */
static void
add_count_path(PlannerInfo *root, RelOptInfo *input_rel,
			   RelOptInfo *output_rel)
{
	LakePlan   *plan = input_rel->fdw_private;
	const Query *query = root->parse;
	List	   *tlist;
	Cost		startup;
	Cost		total;
	ForeignPath *path;

	if (!query->hasAggs || query->groupClause != NIL ||
		query->groupingSets != NIL || query->havingQual != NULL ||
		input_rel->reloptkind != RELOPT_BASEREL ||
		input_rel->baserestrictinfo != NIL ||
		input_rel->lateral_relids != NULL ||
		bms_membership(root->all_baserels) != BMS_SINGLETON)
		return;
	tlist = count_tlist(output_rel->reltarget);
	if (tlist == NIL)
		return;
	cost_count(plan, &startup, &total);
	path = compat_foreign_upper_path(root, output_rel, output_rel->reltarget,
									 1, startup, total, NIL, NULL,
									 list_make1(tlist));
	plan_set_parallel_safety(path, plan);
	add_path(output_rel, &path->path);
}

void
lakeGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage,
						 RelOptInfo *input_rel, RelOptInfo *output_rel,
						 void *extra)
{
	if (stage == UPPERREL_GROUP_AGG && input_rel->fdw_private != NULL)
		add_count_path(root, input_rel, output_rel);
}

/*
 * Attributes as a list of integers, a target's ctid first; a whole row is all
 * that exist.
 */
static List *
attnum_list(const LakePlan *plan)
{
	List	   *attnums = NIL;
	bool		whole_row =
		bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, plan->attnums);

	if (bms_is_member(SelfItemPointerAttributeNumber -
					  FirstLowInvalidHeapAttributeNumber, plan->attnums))
		attnums = list_make1_int(SelfItemPointerAttributeNumber);
	for (int i = 0; i < plan->relation->column_count; i++)
	{
		AttrNumber	attnum = i + 1;

		if (plan->relation->columns[i].field != NULL &&
			(whole_row ||
			 bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber,
						   plan->attnums)))
			attnums = lappend_int(attnums, attnum);
	}
	return attnums;
}

/*
 * The attributes in the order of the target list, if the scan's rows can have
 * that shape so that nothing is left to project: plain columns, all that the
 * scan returns, none twice.  EvalPlanQual would put whole rows in their place,
 * so no row may be locked or updated at this level of the query.
 */
static List *
exact_attnums(const PlannerInfo *root, const LakePlan *plan,
			  const List *pushed, const List *tlist)
{
	CmdType		command = root->parse->commandType;
	Bitmapset  *members = NULL;
	List	   *attnums = NIL;
	ListCell   *cell;

	if ((command != CMD_SELECT && command != CMD_INSERT) ||
		root->rowMarks != NIL || pushed != NIL)
		return NIL;
	foreach(cell, tlist)
	{
		const Var  *var = (const Var *) ((TargetEntry *) lfirst(cell))->expr;

		if (!IsA(var, Var) || var->varattno <= 0)
			return NIL;
		members = bms_add_member(members, var->varattno -
								 FirstLowInvalidHeapAttributeNumber);
		attnums = lappend_int(attnums, var->varattno);
	}
	if (list_length(attnums) != bms_num_members(plan->attnums) ||
		!bms_equal(members, plan->attnums))
		return NIL;
	return attnums;
}

/*
 * The scan node; of, the base relation's plan, gives it the selector.  Pushed
 * quals are in the plan twice: as expressions that the scan makes its predicate
 * of, and as quals that EvalPlanQual repeats.
 */
static ForeignScan *
make_scan(const LakePlan *of, List *tlist, List *local, Index relid,
		  List *pushed, List *attnums, List *scan_tlist, List *target,
		  Plan *outer_plan)
{
	List	   *exprs = pushed;
	List	   *function = NIL;

	if (of->selector != NULL)
	{
		exprs = lcons(copyObject(of->selector), list_copy(pushed));
		function = list_make1_oid(of->selector_function);
	}
	return make_foreignscan(tlist, local, relid, exprs,
							list_make3(attnums, function, target),
							scan_tlist,
							copyObject(pushed), outer_plan);
}

/*
 * What LAKE_PRIVATE_TARGET says.  A join, a qual that PostgreSQL evaluates or
 * one that gates the scan decides on rows in ways that the pushed quals do not
 * tell.
 */
static List *
target_list(const PlannerInfo *root, const RelOptInfo *rel, const List *local)
{
	bool		decides = local == NIL &&
		bms_membership(root->all_baserels) == BMS_SINGLETON &&
		!root->hasPseudoConstantQuals;

	if (!is_target(root, rel))
		return NIL;
	return list_make2_int(root->parse->commandType, decides);
}

/* the only table below count(*) */
static const LakePlan *
counted_plan(const PlannerInfo *root)
{
	int			relid = bms_singleton_member(root->all_baserels);

	return root->simple_rel_array[relid]->fdw_private;
}

ForeignScan *
lakeGetForeignPlan(PlannerInfo *root, RelOptInfo *rel, Oid relid,
				   ForeignPath *best_path, List *tlist, List *scan_clauses,
				   Plan *outer_plan)
{
	LakePlan   *plan = rel->fdw_private;
	List	   *pushed = NIL;
	List	   *local = NIL;
	List	   *attnums;
	ListCell   *cell;

	if (IS_UPPER_REL(rel))
		return make_scan(counted_plan(root), tlist, NIL, 0, NIL, NIL,
						 linitial(best_path->fdw_private), NIL, outer_plan);
	foreach(cell, scan_clauses)
	{
		RestrictInfo *info = lfirst(cell);

		if (info->pseudoconstant)
			continue;
		/* in neither list: a join clause of a parameterised path */
		if (list_member_ptr(plan->pushed, info) ||
			(!list_member_ptr(plan->local, info) &&
			 plan_is_pushable(rel, info)))
			pushed = lappend(pushed, info->clause);
		else
			local = lappend(local, info->clause);
	}
	attnums = exact_attnums(root, plan, pushed, tlist);
	return make_scan(plan, tlist, local, rel->relid, pushed,
					 attnums != NIL ? attnums : attnum_list(plan),
					 attnums != NIL ? copyObject(tlist) : NIL,
					 target_list(root, rel, local), outer_plan);
}
