/*
 * Scans of tables that their own transaction has changed.
 *
 * After the planned files come those that the transaction has written, then its
 * rows in memory; rows that it has deleted are left out everywhere.  What earlier
 * commands did is seen, what the scan's own command does is not, however often
 * the scan begins anew.
 *
 * A scan for UPDATE or DELETE numbers its rows, files that were not changed
 * before among them, and says for conflicts what it looked for.
 */
#include "fdw/staged_int.h"

#include "executor/executor.h"
#include "utils/rel.h"

struct StagedScan
{
	StagedTable *table;
	const StagedView *view;		/* NULL: nothing to be seen */
	int			next_file;		/* of the view */
	bool		has_read_rows;
	RowNumber	first;			/* of the current unit's position 0 */
};

/* may a trigger change what the statement does with a row? */
static bool
has_before_trigger(const LakeScan *scan, CmdType command)
{
	const TriggerDesc *triggers =
		scan->node->ss.ss_currentRelation->trigdesc;

	if (triggers == NULL)
		return false;
	return command == CMD_UPDATE ? triggers->trig_update_before_row :
		triggers->trig_delete_before_row;
}

/* the filter is the predicate if that is all that decides on rows */
static void
note_read(LakeScan *scan, StagedTable *table)
{
	const ForeignScan *plan = (ForeignScan *) scan->node->ss.ps.plan;
	List	   *target = list_nth(plan->fdw_private, LAKE_PRIVATE_TARGET);
	CmdType		command = linitial_int(target);
	bool		decides = lsecond_int(target) && !scan->has_local &&
		scan->value_params == NULL && !has_before_trigger(scan, command);

	if (scan->has_noted_read)
		return;
	staged_add_read(table, command == CMD_UPDATE ? STAGED_UPDATE :
					STAGED_DELETE, decides ? scan->predicate : NULL);
	scan->has_noted_read = true;
}

void
staged_scan_bind(LakeScan *scan)
{
	LakeRelation *relation = scan->relation;
	StagedTable *table;
	const StagedView *view;

	scan->staged = NULL;
	/* old versions do not show what is done to the branch */
	if (scan->explain_only || !relation->is_main)
		return;
	table = staged_find(relation);
	if (table == NULL)
	{
		if (scan->wants_tid)
			elog(ERROR, "rows of foreign table \"%s\" are not being changed",
				 relation->name);
		return;
	}
	view = staged_view(table, scan->node->ss.ps.state->es_snapshot->curcid);
	if (view != NULL)
	{
		staged_check_schema(table, relation);
		/* files that nobody else can open yet */
		relation->store->puts = staged_store(table)->puts;
		if (view->hides_base)
			scan->plan = NULL;
	}
	if (scan->wants_tid)
		note_read(scan, table);
	if (view == NULL && !scan->wants_tid)
		return;
	scan->staged = palloc0(sizeof *scan->staged);
	scan->staged->table = table;
	scan->staged->view = view;
}

void
staged_scan_rewind(StagedScan *staged)
{
	staged->next_file = 0;
	staged->has_read_rows = false;
}

bool
staged_scan_next_unit(LakeScan *scan, ScanUnit *unit)
{
	StagedScan *staged = scan->staged;
	const StagedView *view = staged->view;

	if (view == NULL)
		return false;
	if (staged->next_file < view->file_count)
	{
		unit->task = &view->files[staged->next_file++]->task;
		unit->from = 0;
		unit->to = PG_INT64_MAX;
		return true;
	}
	if (staged->has_read_rows || view->first_row >= view->row_end)
		return false;
	staged->has_read_rows = true;
	unit->task = NULL;
	unit->from = view->first_row;
	unit->to = view->row_end;
	return true;
}

void
staged_scan_begin_unit(LakeScan *scan, ScanUnit *unit)
{
	StagedScan *staged = scan->staged;

	if (unit->task == NULL)
	{
		unit->deleted = staged->view->deleted_rows;
		staged->first = STAGED_FIRST_ROW;
		return;
	}
	if (staged->view != NULL)
		unit->deleted = staged_view_deletes(staged->view, unit->task->path);
	if (scan->wants_tid)
		staged->first = staged_register_task(staged->table, unit->task);
}

void
staged_scan_begin_rows(LakeScan *scan, const ScanUnit *unit)
{
	task_reader_begin_rows(scan->reader, staged_rows(scan->staged->table),
						   unit->from, unit->to);
}

void
staged_scan_set_tid(const LakeScan *scan, uint64 position,
					TupleTableSlot *slot)
{
	row_number_to_tid(scan->staged->first + position, &slot->tts_tid);
}

bool
staged_scan_estimate(const LakeRelation *relation, StagedEstimate *estimate)
{
	const StagedTable *table = relation->is_main ?
		staged_find(relation) : NULL;
	const StagedExtent *extent;
	int			first;

	memset(estimate, 0, sizeof *estimate);
	if (table == NULL)
		return false;
	extent = &table->extent;
	estimate->hides_base = extent->is_truncated;
	estimate->added = extent->rows;
	estimate->deleted = extent->deletes;
	if (extent->is_truncated)
		estimate->added -= extent->truncated_rows;
	first = extent->is_truncated ? extent->truncated_files : 0;
	for (int i = first; i < extent->files; i++)
	{
		estimate->added += table->files[i]->file.row_count;
		estimate->files += 1;
		estimate->bytes += table->files[i]->file.task.size;
	}
	return true;
}

/* ---- no parallel workers ---- */

static ExecutorStart_hook_type previous_executor_start = NULL;

bool
staged_scan_is_serial(void)
{
	return !dlist_is_empty(&staged_tables);
}

/*
 * A plan may be older than the changes, and a function that a worker calls may
 * read any table: so no statement is parallel once there are some.  Gather runs
 * its plan by itself then.
 */
static void
executor_start(QueryDesc *query, int eflags)
{
	if (staged_scan_is_serial() && query->plannedstmt->parallelModeNeeded)
	{
		PlannedStmt *serial = palloc(sizeof *serial);

		/* the plan may be a cached one */
		*serial = *query->plannedstmt;
		serial->parallelModeNeeded = false;
		query->plannedstmt = serial;
	}
	if (previous_executor_start != NULL)
		previous_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
staged_scan_init(void)
{
	previous_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
}
