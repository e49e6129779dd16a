/*
 * DELETE without the executor: where nothing but pushed quals decides on rows.
 *
 * Files whose rows all satisfy the quals, as their partition and bounds prove,
 * are dropped without being opened.  What is left is scanned for positions
 * alone, no column is turned into Datums.
 */
#include "fdw/staged.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "optimizer/planmain.h"
#include "utils/rel.h"

static ForeignScan *
find_scan(ModifyTable *plan, Index result_relation, int subplan_index)
{
	Plan	   *subplan = outerPlan(plan);

	if (IsA(subplan, Append))
	{
		const Append *append = (Append *) subplan;

		if (subplan_index >= list_length(append->appendplans))
			return NULL;
		subplan = list_nth(append->appendplans, subplan_index);
	}
	if (!IsA(subplan, ForeignScan) ||
		((ForeignScan *) subplan)->scan.scanrelid != result_relation)
		return NULL;
	return (ForeignScan *) subplan;
}

/*
 * Core has looked at row triggers and check options.  RETURNING wants rows, and
 * what PostgreSQL evaluates wants slots.
 */
bool
lakePlanDirectModify(PlannerInfo *root, ModifyTable *plan,
					 Index result_relation, int subplan_index)
{
	ForeignScan *scan = find_scan(plan, result_relation, subplan_index);
	List	   *target;

	if (plan->operation != CMD_DELETE || plan->returningLists != NIL ||
		scan == NULL || scan->scan.plan.qual != NIL)
		return false;
	scan->operation = CMD_DELETE;
	scan->resultRelation = result_relation;
	target = list_nth(scan->fdw_private, LAKE_PRIVATE_TARGET);
	list_nth_cell(scan->fdw_private, LAKE_PRIVATE_TARGET)->ptr_value =
		lappend_int(target, plan->canSetTag);
	return true;
}

void
lakeBeginDirectModify(ForeignScanState *node, int eflags)
{
	EState	   *estate = node->ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);

	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		modify_begin_direct_delete(node->ss.ss_currentRelation,
								   estate->es_snapshot);
	MemoryContextSwitchTo(caller);
	lakeBeginForeignScan(node, eflags);
}

static int
compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* the files that may have a row which does not satisfy the predicate */
static const char **
doubtful_paths(const LakeScan *scan, int *count)
{
	const LakeRelation *relation = scan->relation;
	LakeArena  *arena = lake_arena_of(scan->bind_context);
	const ScanPlan *plan;
	const char **paths;

	*count = 0;
	if (scan->predicate == NULL)
		return NULL;
	plan = relation->table->format->plan(arena, relation->table,
										 relation->store, relation->snapshot,
										 predicate_doubt(arena,
														 scan->predicate));
	paths = lake_alloc_array(arena, plan->task_count + 1, sizeof *paths);
	for (int i = 0; i < plan->task_count; i++)
		paths[i] = plan->tasks[i].path;
	*count = plan->task_count;
	qsort(paths, *count, sizeof *paths, compare_paths);
	return paths;
}

/* drops whole files, and leaves the others to be scanned */
static uint64
delete_files(LakeScan *scan, StagedTable *table)
{
	int			count;
	const char **doubtful = doubtful_paths(scan, &count);
	ScanPlan   *left = MemoryContextAlloc(scan->bind_context, sizeof *left);
	ScanTask   *tasks = MemoryContextAlloc(scan->bind_context,
										   sizeof(ScanTask) *
										   (scan->plan->task_count + 1));
	uint64		rows = 0;

	*left = *scan->plan;
	left->tasks = tasks;
	left->task_count = 0;
	for (int i = 0; i < scan->plan->task_count; i++)
	{
		const ScanTask *task = &scan->plan->tasks[i];

		CHECK_FOR_INTERRUPTS();
		/* rows that are deleted already must not be counted again */
		if (task->delete_count > 0 || task->record_count < 0 ||
			(count > 0 && bsearch(&task->path, doubtful, count,
								  sizeof *doubtful, compare_paths) != NULL))
			tasks[left->task_count++] = *task;
		else
			rows += staged_delete_file(table, task);
	}
	scan->plan = left;
	return rows;
}

static uint64
delete_rows(ForeignScanState *node, StagedTable *table)
{
	uint64		rows = 0;

	for (;;)
	{
		TupleTableSlot *slot = lakeIterateForeignScan(node);

		if (TupIsNull(slot))
			return rows;
		rows += staged_delete_row(table,
								  row_number_from_tid(&slot->tts_tid));
	}
}

TupleTableSlot *
lakeIterateDirectModify(ForeignScanState *node)
{
	LakeScan   *scan = node->fdw_state;
	const ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	List	   *target = list_nth(plan->fdw_private, LAKE_PRIVATE_TARGET);
	EState	   *estate = node->ss.ps.state;
	StagedTable *table;
	uint64		rows = 0;

	if (!scan->is_bound)
		scan_bind(scan);
	table = staged_find(scan->relation);
	if (scan->plan != NULL && !scan->has_local)
		rows += delete_files(scan, table);
	rows += delete_rows(node, table);
	if (lthird_int(target))
		estate->es_processed += rows;
	if (node->ss.ps.instrument != NULL)
		node->ss.ps.instrument->tuplecount += rows;
	return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}

void
lakeEndDirectModify(ForeignScanState *node)
{
	lakeEndForeignScan(node);
}
