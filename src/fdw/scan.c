/*
 * Executor callbacks: tasks to batches to Datums to slots.
 *
 * Rows move in three strides.  A task is a file, a batch some thousand rows of
 * it, and a run some selected rows of a batch: Datums of a column are made for
 * the whole run when its rows ask (slot.c), each row then copies one Datum a
 * column.  Runs start short, so that LIMIT 1 does not pay for rows that
 * nobody fetches.
 */
#include "fdw/fdw.h"

#include "access/parallel.h"
#include "access/sysattr.h"
#include "catalog/objectaccess.h"
#include "common/int.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "server/compat.h"

/* rows of a run: 16 columns of Datums stay in the L2 cache */
#define RUN_ROWS_FIRST 32
#define RUN_ROWS_MAX 1024
/*
 * Where by-reference Datums end a run: a few bytes of a file can put a large
 * dictionary entry into each of its rows.
 */
#define RUN_BYTES ((Size) 16 << 20)
/*
 * Scans of more files do not keep their footers: they would drive each other and
 * better things out of the session's cache.
 */
#define FOOTERS_KEPT 100

/* ---- values of expressions in pushed quals ---- */

static ExprState *
value_state(LakeScan *scan, Expr *expr)
{
	ListCell   *cell;
	ScanValue  *value;
	MemoryContext old_context;

	foreach(cell, scan->values)
	{
		value = lfirst(cell);
		if (value->expr == expr)
			return value->state;
	}
	old_context = MemoryContextSwitchTo(scan->context);
	value = palloc(sizeof *value);
	value->expr = expr;
	value->state = ExecInitExpr(expr, &scan->node->ss.ps);
	scan->values = lappend(scan->values, value);
	MemoryContextSwitchTo(old_context);
	return value->state;
}

/*
 * Is there a parameter whose value is not known without executing something?
 * EXPLAIN (GENERIC_PLAN) comes without any.
 */
static bool
has_open_parameter(Node *node, void *arg)
{
	const LakeScan *scan = arg;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC ||
			scan->node->ss.ps.state->es_param_list_info == NULL;
	return expression_tree_walker(node, has_open_parameter, arg);
}

/* the PushValue of the executor */
static bool
scan_value(void *arg, Expr *expr, Datum *value, bool *is_null)
{
	LakeScan   *scan = arg;

	if (scan->explain_only && has_open_parameter((Node *) expr, scan))
		return false;
	*value = ExecEvalExprSwitchContext(value_state(scan, expr),
									   scan->node->ss.ps.ps_ExprContext,
									   is_null);
	return true;
}

static bool
collect_parameters(Node *node, void *arg)
{
	Bitmapset **parameters = arg;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*parameters = bms_add_member(*parameters, ((Param *) node)->paramid);
	return expression_tree_walker(node, collect_parameters, arg);
}

/* ---- binding: quals to predicate, columns, files ---- */

/*
 * The predicate under the current values.  A qual that cannot be pushed after
 * all (its value has no exact image, a column's type changed since planning)
 * is evaluated here, row by row.
 */
static void
bind_quals(LakeScan *scan)
{
	PushScope	scope = {
		.arena = lake_arena_of(scan->bind_context),
		.relation = scan->relation,
		.varno = ((Scan *) scan->node->ss.ps.plan)->scanrelid,
		.value = scan_value,
		.value_arg = scan,
	};
	Predicate **children;
	Predicate  *predicate;
	int			count = 0;

	scan->has_unknown = false;
	scan->has_local = false;
	children = lake_alloc_array(scope.arena, scan->qual_count + 1,
								sizeof *children);
	for (int i = 0; i < scan->qual_count; i++)
	{
		ScanQual   *qual = &scan->quals[i];
		PushResult	result = pushdown_qual(&scope, qual->clause,
										   &children[count]);

		qual->is_local = result == PUSH_NO;
		if (result == PUSH_DONE)
			count++;
		else if (result == PUSH_LATER)
			scan->has_unknown = true;
		else
		{
			scan->has_local = true;
			if (qual->local == NULL)
			{
				MemoryContextSwitchTo(scan->context);
				qual->local = ExecInitQual(list_make1(qual->clause),
										   &scan->node->ss.ps);
				MemoryContextSwitchTo(scan->bind_context);
			}
		}
	}
	predicate = predicate_normalize(scope.arena,
									predicate_combine(scope.arena,
													  PREDICATE_AND,
													  children, count));
	scan->predicate = predicate->op == PREDICATE_TRUE ? NULL : predicate;
}

/* what the plan wants, and what quals evaluated here need */
static List *
returned_attnums(const LakeScan *scan)
{
	Index		varno = ((Scan *) scan->node->ss.ps.plan)->scanrelid;
	Bitmapset  *attnums = NULL;
	List	   *result = NIL;
	int			member = -1;
	ListCell   *cell;

	if (!scan->has_local)
		return scan->attnums;
	foreach(cell, scan->attnums)
		attnums = bms_add_member(attnums, lfirst_int(cell) -
								 FirstLowInvalidHeapAttributeNumber);
	for (int i = 0; i < scan->qual_count; i++)
	{
		if (scan->quals[i].is_local)
			pull_varattnos((Node *) scan->quals[i].clause, varno, &attnums);
	}
	while ((member = bms_next_member(attnums, member)) >= 0)
		result = lappend_int(result, member +
							 FirstLowInvalidHeapAttributeNumber);
	return result;
}

static ColumnConverter *
converter(LakeScan *scan, const LakeColumn *column)
{
	ColumnConverter **place = &scan->converters[column->attnum - 1];

	if (*place == NULL)
		*place = column_converter_create(scan->open_context, column->field->type,
										 column->type_oid, column->typmod,
										 column->name);
	return *place;
}

static void
bind_columns(LakeScan *scan)
{
	List	   *attnums = returned_attnums(scan);
	int			position = 0;
	ListCell   *cell;

	scan->column_count = 0;
	scan->columns = palloc0(sizeof(ScanColumn) * (list_length(attnums) + 1));
	foreach(cell, attnums)
	{
		int			attnum = lfirst_int(cell);
		ScanColumn *column = &scan->columns[scan->column_count];
		const LakeColumn *source;

		/* the slot has it by itself */
		if (attnum == SelfItemPointerAttributeNumber)
			continue;
		source = &scan->relation->columns[attnum - 1];
		column->attribute = scan->is_exact ? position++ : attnum - 1;
		/* a column that was dropped since planning reads as NULL */
		if (source->field == NULL)
			continue;
		column->source = source;
		column->converter = converter(scan, source);
		column->values = palloc(sizeof(Datum) * RUN_ROWS_MAX);
		column->nulls = palloc(sizeof(bool) * RUN_ROWS_MAX);
		scan->column_count++;
	}
}

static void
bind_files(LakeScan *scan)
{
	LakeRelation *relation = scan->relation;
	uint64		bytes_before = relation->store->bytes_read;
	LakeArena  *arena = lake_arena_of(scan->bind_context);

	scan->plan = NULL;
	if (relation->snapshot != NULL)
		scan->plan = relation->table->format->plan(arena, relation->table,
												   relation->store,
												   relation->snapshot,
												   scan->predicate);
	scan->plan_bytes += relation->store->bytes_read - bytes_before;
	staged_scan_bind(scan);
}

void
scan_add_counters(TaskReaderCounters *sum, const TaskReaderCounters *add)
{
	sum->row_groups_total += add->row_groups_total;
	sum->row_groups_skipped += add->row_groups_skipped;
	sum->row_groups_skipped_by_bloom += add->row_groups_skipped_by_bloom;
	sum->pages_skipped += add->pages_skipped;
	sum->rows_deleted += add->rows_deleted;
	sum->rows_filtered += add->rows_filtered;
}

TaskReaderCounters
scan_counters(const LakeScan *scan)
{
	TaskReaderCounters sum = scan->counters;

	if (scan->reader != NULL)
		scan_add_counters(&sum, task_reader_counters(scan->reader));
	return sum;
}

uint64
scan_bytes_read(const LakeScan *scan)
{
	uint64		bytes = scan->bytes_before;

	if (scan->relation != NULL)
		bytes += scan->relation->store->bytes_read;
	return bytes - scan->plan_bytes;
}

uint64
scan_cache_hits(const LakeScan *scan)
{
	return scan->hits_before +
		(scan->relation == NULL ? 0 : scan->relation->store->cache_hits);
}

static void
unbind(LakeScan *scan)
{
	scan->counters = scan_counters(scan);
	scan->reader = NULL;
	scan->plan = NULL;
	scan->staged = NULL;
	scan->columns = NULL;
	scan->is_bound = false;
	MemoryContextReset(scan->bind_context);
}

/* ---- opening: selector to version ---- */

Oid
scan_relid(const LakeScan *scan)
{
	const ForeignScanState *node = scan->node;
	const ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	int			rtindex;

	if (node->ss.ss_currentRelation != NULL)
		return RelationGetRelid(node->ss.ss_currentRelation);
	rtindex = bms_next_member(compat_scan_relids(plan), -1);
	return exec_rt_fetch(rtindex, node->ss.ps.state)->relid;
}

/* what it points to lives until the next row */
static void
evaluate_selector(LakeScan *scan, LakeSelector *selector)
{
	ExprContext *econtext = scan->node->ss.ps.ps_ExprContext;
	MemoryContext old_context =
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	bool		is_null;
	Datum		value = ExecEvalExpr(scan->selector_state, econtext, &is_null);

	time_travel_value(scan->selector, value, is_null, selector);
	MemoryContextSwitchTo(old_context);
}

static bool
is_same_selector(const LakeSelector *a, const LakeSelector *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == LAKE_SELECT_REF)
		return strcmp(a->ref, b->ref) == 0;
	return a->snapshot_id == b->snapshot_id && a->time_us == b->time_us;
}

void
scan_open_version(LakeScan *scan, const LakeSelector *selector,
				  const char *metadata_location)
{
	LakeOpen	how = {
		.snapshot = scan->node->ss.ps.state->es_snapshot,
		.selector = selector,
		.metadata_location = metadata_location
	};
	MemoryContext old_context = MemoryContextSwitchTo(scan->open_context);
	LakeRelation *relation;

	relation = lake_relation_open(scan_relid(scan), &how);
	scan->converters = palloc0(sizeof *scan->converters *
							   Max(relation->column_count, 1));
	scan->title = relation->snapshot == NULL ? relation->name :
		psprintf("%s at snapshot " INT64_FORMAT, relation->name,
				 relation->snapshot->id);
	scan->relation = relation;
	scan->plan_bytes += relation->store->bytes_read;
	MemoryContextSwitchTo(old_context);
}

static void
close_relation(LakeScan *scan)
{
	unbind(scan);
	scan->bytes_before += scan->relation->store->bytes_read;
	scan->hits_before = scan_cache_hits(scan);
	scan->relation = NULL;
	scan->title = NULL;
	scan->converters = NULL;
	scan->deletes = NULL;
	MemoryContextReset(scan->open_context);
}

/* opens the relation under the selector's value, unless it is open so */
static void
apply_selector(LakeScan *scan)
{
	LakeSelector selector;

	if (scan->explain_only &&
		(scan->selector_is_open ||
		 has_open_parameter((Node *) scan->selector, scan)))
		return;
	evaluate_selector(scan, &selector);
	if (scan->relation == NULL)
		scan_open_version(scan, &selector, NULL);
	else if (!is_same_selector(&scan->relation->selector, &selector))
	{
		close_relation(scan);
		scan_open_version(scan, &selector, NULL);
	}
	scan->selector_is_stale = false;
}

void
scan_open(LakeScan *scan)
{
	if (scan->relation == NULL || scan->selector_is_stale)
		apply_selector(scan);
}

void
scan_selector(LakeScan *scan, LakeSelector *selector)
{
	if (scan->selector_is_open)
		evaluate_selector(scan, selector);
	else
		*selector = scan->relation->selector;
}

/*
 * Takes the selector from the plan, and opens what can be opened by now.  A
 * worker's version comes later, from its leader.
 */
static void
begin_relation(LakeScan *scan)
{
	bool		is_open = IsParallelWorker() &&
		scan->node->ss.ps.plan->parallel_aware;
	const ForeignScan *plan = (ForeignScan *) scan->node->ss.ps.plan;
	List	   *function = list_nth(plan->fdw_private, LAKE_PRIVATE_SELECTOR);
	AclResult	result;

	if (function == NIL)
	{
		if (!is_open)
			scan_open_version(scan, NULL, NULL);
		return;
	}
	/* as the executor does for functions that are called */
	result = compat_function_aclcheck(linitial_oid(function), GetUserId());
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION,
					   get_func_name(linitial_oid(function)));
	InvokeFunctionExecuteHook(linitial_oid(function));
	scan->selector = linitial(plan->fdw_exprs);
	scan->selector_state = ExecInitExpr(scan->selector, &scan->node->ss.ps);
	collect_parameters((Node *) scan->selector, &scan->selector_params);
	scan->selector_is_open = is_open || scan->selector_params != NULL ||
		contain_subplans((Node *) scan->selector);
	if (!scan->selector_is_open)
		apply_selector(scan);
}

/* selector, predicate, columns and files under the current values */
void
scan_bind(LakeScan *scan)
{
	TupleTableSlot *slot = scan->slot;
	MemoryContext old_context;
	LakeFrame	frame;

	scan_open(scan);
	if (scan->relation == NULL || scan->is_bound)
		return;
	lake_frame_push(&frame, "planning the scan of", scan->title);
	old_context = MemoryContextSwitchTo(scan->bind_context);
	bind_quals(scan);
	bind_columns(scan);
	bind_files(scan);
	MemoryContextSwitchTo(old_context);
	lake_frame_pop(&frame);

	/* attributes that the scan does not return stay NULL from here on */
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	scan->is_bound = true;
}

/* ---- rows ---- */

static TaskReaderOptions
reader_options(const LakeRelation *relation, const LakeField *const *fields,
			   int count, const Predicate *predicate)
{
	TaskReaderOptions options = {
		.store = relation->store,
		.schema = relation->schema,
		.schema_count = relation->table->schema_count,
		.schemas = relation->table->schemas,
		.column_count = count,
		.columns = fields,
		.predicate = predicate,
		.name_mapping = relation->table->name_mapping,
		.truncate_nanoseconds = lake_truncate_nanoseconds,
	};

	return options;
}

TaskReader *
scan_reader_create(LakeArena *arena, const LakeRelation *relation,
				   const LakeField *const *fields, int count,
				   const Predicate *predicate)
{
	TaskReaderOptions options = reader_options(relation, fields, count,
											   predicate);

	return task_reader_create(arena, &options);
}

TaskReader *
scan_rewriter_create(LakeArena *arena, const LakeRelation *relation,
					 const LakeField *const *fields, int count)
{
	TaskReaderOptions options = reader_options(relation, fields, count, NULL);

	options.truncate_nanoseconds = false;
	return task_reader_create(arena, &options);
}

/*
 * A rescan with other values gets a reader of its own, but what deletes say
 * stays, and footers of files that it may come back to.
 */
static void
create_reader(LakeScan *scan)
{
	LakeArena  *arena = lake_arena_of(scan->bind_context);
	const LakeField **fields = lake_alloc_array(arena, scan->column_count + 1,
												sizeof *fields);
	TaskReaderOptions options;

	for (int i = 0; i < scan->column_count; i++)
		fields[i] = scan->columns[i].source->field;
	options = reader_options(scan->relation, fields, scan->column_count,
							 scan->predicate);
	if (scan->deletes == NULL)
		scan->deletes = delete_cache_create(lake_arena_of(scan->open_context),
											&options);
	options.deletes = scan->deletes;
	options.keep_footers = scan->plan != NULL &&
		scan->plan->task_count <= FOOTERS_KEPT;
	scan->reader = task_reader_create(arena, &options);
}

/* a whole file, or what a process of a parallel scan takes next */
static bool
next_planned_unit(LakeScan *scan, ScanUnit *unit)
{
	if (scan->parallel != NULL)
		return parallel_next_unit(scan, unit);
	if (scan->plan == NULL || scan->next_task >= scan->plan->task_count)
		return false;
	unit->task = &scan->plan->tasks[scan->next_task++];
	unit->from = 0;
	unit->to = PG_INT64_MAX;
	return true;
}

static bool
next_unit(LakeScan *scan, ScanUnit *unit)
{
	unit->deleted = NULL;
	if (!next_planned_unit(scan, unit) &&
		(scan->staged == NULL || !staged_scan_next_unit(scan, unit)))
		return false;
	if (scan->staged != NULL)
		staged_scan_begin_unit(scan, unit);
	return true;
}

/*
 * How many rows a unit has, if nothing else matters of them and they need not be
 * read for that; -1 otherwise.
 */
static int64
unread_rows(const LakeScan *scan, const ScanUnit *unit)
{
	const ScanTask *task = unit->task;
	int64		deleted = 0;

	if (scan->column_count > 0 || scan->predicate != NULL || task == NULL ||
		task->delete_count > 0 || task->record_count < 0)
		return -1;
	if (unit->from > 0)
		return 0;
	if (unit->deleted != NULL)
	{
		/* which ones they are matters to who deletes more of them */
		if (scan->wants_tid)
			return -1;
		deleted = bitmap_count_range(unit->deleted, 0, task->record_count);
	}
	return task->record_count - deleted;
}

/* begins the next unit; false after the last */
static bool
begin_task(LakeScan *scan)
{
	ScanUnit	unit;
	int64		rows;

	if (!next_unit(scan, &unit))
		return false;
	rows = unread_rows(scan, &unit);
	if (rows >= 0)
	{
		scan->row = 0;
		scan->row_count = rows;
		return true;
	}
	if (scan->reader == NULL)
		create_reader(scan);
	if (unit.task == NULL)
		staged_scan_begin_rows(scan, &unit);
	else
		task_reader_begin_range(scan->reader, unit.task, unit.from, unit.to);
	if (unit.deleted != NULL)
		task_reader_delete(scan->reader, unit.deleted);
	scan->in_task = true;
	return true;
}

/* where the current row is in its file */
static uint64
row_position(const LakeScan *scan)
{
	uint64		row = scan->row - 1;

	if (!scan->in_task)
		return row;
	return scan->batch.first_position +
		scan->batch.selection[scan->run_first + row];
}

/* what Datums may still take in their context */
Size
scan_convert_room(MemoryContext context)
{
	Size		used = MemoryContextMemAllocated(context, true);

	return used < RUN_BYTES ? RUN_BYTES - used : 0;
}

/*
 * The first row that asks is converted alone, since it may be the only one of
 * its run that passes a join; the second takes the others with it.  Large rows
 * end the run early, and make the next ones short.
 */
void
scan_convert_column(LakeScan *scan, ScanColumn *column)
{
	int			index = column - scan->columns;
	uint64		first = scan->row - 1;
	uint64		count = column->converted > 0 ? scan->row_count - first : 1;
	uint64		done;
	MemoryContext old_context = MemoryContextSwitchTo(scan->row_context);
	LakeFrame	frame;

	lake_frame_push(&frame, "scanning", scan->title);
	done = column_converter_convert(column->converter,
									task_reader_column(scan->reader, index),
									scan->batch.selection + scan->run_first +
									first, count,
									scan_convert_room(scan->row_context),
									scan->row_context,
									column->values + first,
									column->nulls + first);
	column->converted = first + done;
	if (done < count)
		scan->row_count = scan->run_rows = column->converted;
	lake_frame_pop(&frame);
	MemoryContextSwitchTo(old_context);
}

/* the next selected rows of the batch; false when there are none */
static bool
next_run(LakeScan *scan, uint32 first)
{
	uint32		left = scan->batch.selected_count - first;

	scan->run_first = first;
	scan->row = 0;
	scan->row_count = scan->column_count == 0 ? left :
		Min(left, scan->run_rows);
	for (int i = 0; i < scan->column_count; i++)
		scan->columns[i].converted = 0;
	scan->run_rows = Min(scan->run_rows * 4, RUN_ROWS_MAX);
	return left > 0;
}

/* makes rows row .. row_count - 1 available; false at the end */
static bool
next_rows(LakeScan *scan)
{
	LakeFrame	frame;

	if (!scan->is_bound || scan->selector_is_stale)
		scan_bind(scan);
	lake_frame_push(&frame, "scanning", scan->title);
	MemoryContextReset(scan->row_context);
	if (!scan->in_task || !next_run(scan, scan->run_first + scan->row_count))
	{
		scan->row = scan->row_count = 0;
		while (scan->row_count == 0)
		{
			CHECK_FOR_INTERRUPTS();
			if (!scan->in_task)
			{
				if (!begin_task(scan))
					break;
			}
			else if (task_reader_next(scan->reader, &scan->batch))
				next_run(scan, 0);
			else
				scan->in_task = false;
		}
	}
	lake_frame_pop(&frame);
	return scan->row < scan->row_count;
}

/* the pushed quals that turned out not to be pushable */
static bool
passes_local(LakeScan *scan, TupleTableSlot *slot)
{
	ExprContext *econtext = scan->node->ss.ps.ps_ExprContext;

	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < scan->qual_count; i++)
	{
		if (scan->quals[i].is_local &&
			!ExecQual(scan->quals[i].local, econtext))
		{
			ResetExprContext(econtext);
			return false;
		}
	}
	return true;
}

static TupleTableSlot *
return_count(LakeScan *scan, TupleTableSlot *slot)
{
	int64		count = 0;

	if (scan->is_done)
		return slot;
	while (next_rows(scan))
	{
		if (scan->row_count > PG_INT64_MAX ||
			pg_add_s64_overflow(count, scan->row_count, &count))
			ereport(ERROR,
					errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					errmsg("bigint out of range"));
	}
	scan->is_done = true;
	slot->tts_values[0] = Int64GetDatum(count);
	slot->tts_isnull[0] = false;
	return ExecStoreVirtualTuple(slot);
}

/* ---- callbacks ---- */

void
lakeBeginForeignScan(ForeignScanState *node, int eflags)
{
	const ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	EState	   *estate = node->ss.ps.state;
	MemoryContext context;
	MemoryContext old_context;
	LakeScan   *scan;
	ListCell   *cell;

	context = AllocSetContextCreate(estate->es_query_cxt, "lake scan",
									ALLOCSET_DEFAULT_SIZES);
	old_context = MemoryContextSwitchTo(context);
	scan = palloc0(sizeof *scan);
	scan->node = node;
	scan->context = context;
	scan->open_context = AllocSetContextCreate(context, "lake scan version",
											   ALLOCSET_DEFAULT_SIZES);
	scan->bind_context = AllocSetContextCreate(context, "lake scan files",
											   ALLOCSET_DEFAULT_SIZES);
	scan->row_context = AllocSetContextCreate(context, "lake scan rows",
											  ALLOCSET_DEFAULT_SIZES);
	scan->explain_only = (eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
	scan->counts = plan->scan.scanrelid == 0;
	scan->is_exact = !scan->counts && plan->fdw_scan_tlist != NIL;
	scan->run_rows = RUN_ROWS_FIRST;
	scan->slot = scan->counts ? node->ss.ss_ScanTupleSlot :
		scan_slot_create(scan);
	begin_relation(scan);
	scan->attnums = list_nth(plan->fdw_private, LAKE_PRIVATE_ATTNUMS);
	scan->wants_tid = list_member_int(scan->attnums,
									  SelfItemPointerAttributeNumber);
	scan->quals = palloc0(sizeof *scan->quals *
						  (list_length(plan->fdw_exprs) + 1));
	for_each_from(cell, plan->fdw_exprs, scan->selector != NULL ? 1 : 0)
	{
		Expr	   *clause = lfirst(cell);

		scan->quals[scan->qual_count++].clause = clause;
		collect_parameters((Node *) clause, &scan->value_params);
	}
	node->fdw_state = scan;
	if (scan->explain_only)
		scan_bind(scan);
	MemoryContextSwitchTo(old_context);
}

TupleTableSlot *
lakeIterateForeignScan(ForeignScanState *node)
{
	LakeScan   *scan = node->fdw_state;
	TupleTableSlot *slot = scan->slot;

	ExecClearTuple(slot);
	if (unlikely(scan->counts))
		return return_count(scan, slot);
	for (;;)
	{
		if (unlikely(scan->row == scan->row_count) && !next_rows(scan))
			return slot;
		scan->row++;
		/* not empty, but with no attribute filled yet */
		slot->tts_flags &= ~TTS_FLAG_EMPTY;
		if (unlikely(scan->wants_tid))
			staged_scan_set_tid(scan, row_position(scan), slot);
		if (likely(!scan->has_local) || passes_local(scan, slot))
			return slot;
		ExecClearTuple(slot);
	}
}

void
lakeReScanForeignScan(ForeignScanState *node)
{
	LakeScan   *scan = node->fdw_state;

	/* its row is of a run that is about to go */
	ExecClearTuple(scan->slot);
	if (scan->is_bound &&
		bms_overlap(node->ss.ps.chgParam, scan->value_params))
		unbind(scan);
	/* a sub-plan's parameters are its own affair */
	if (scan->selector_is_open && node->ss.ps.chgParam != NULL)
		scan->selector_is_stale = true;
	scan->next_task = 0;
	if (scan->staged != NULL)
		staged_scan_rewind(scan->staged);
	scan->has_joined = false;
	scan->in_task = false;
	scan->run_rows = RUN_ROWS_FIRST;
	scan->row = scan->row_count = 0;
	scan->is_done = false;
}

void
lakeEndForeignScan(ForeignScanState *node)
{
	LakeScan   *scan = node->fdw_state;

	if (scan == NULL)
		return;
	node->fdw_state = NULL;
	MemoryContextDelete(scan->context);
}
