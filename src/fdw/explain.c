/*
 * What EXPLAIN says of a lake scan: snapshot, pushed quals, files and bytes.
 *
 * Without ANALYZE it comes from pointer, metadata and manifests; no data file
 * is opened.
 */
#include "fdw/fdw.h"

#include "common/int.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "server/compat.h"

/*
 * The table's name in its catalog, or where its metadata is, in the database's
 * encoding.
 */
static const char *
lake_name(Oid relid)
{
	LakeTableOptions options;

	options_get_table(relid, &options);
	if (options.metadata_location != NULL)
		return name_from_lake(options.metadata_location);
	return name_from_lake(psprintf("%s.%s", options.name_space,
								   options.table));
}

static const char *
snapshot_time(int64 milliseconds)
{
	const int64 epoch = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
	TimestampTz time;

	if (pg_mul_s64_overflow(milliseconds, 1000, &time) ||
		pg_sub_s64_overflow(time, epoch * USECS_PER_DAY, &time) ||
		!IS_VALID_TIMESTAMP(time))
		return NULL;
	return timestamptz_to_str(time);
}

/*
 * Quals as SQL: pushed ones whose values are not known or change, or those
 * that could not be pushed after all.
 */
static const char *
deparsed_quals(const LakeScan *scan, bool is_local, ExplainState *es)
{
	List	   *clauses = NIL;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   scan->node->ss.ps.plan, NIL);

	for (int i = 0; i < scan->qual_count; i++)
	{
		if (scan->quals[i].is_local == is_local)
			clauses = lappend(clauses, scan->quals[i].clause);
	}
	if (clauses == NIL)
		return NULL;
	return deparse_expression((Node *) make_ands_explicit(clauses), context,
							  list_length(es->rtable) > 1 || es->verbose,
							  false);
}

/* the fields under the names of the attributes that show them */
static const LakeSchema *
declared_schema(const LakeRelation *relation)
{
	LakeSchema *schema = palloc0(sizeof *schema);

	schema->fields = palloc0(sizeof *schema->fields *
							 (relation->column_count + 1));
	for (int i = 0; i < relation->column_count; i++)
	{
		LakeField  *field = &schema->fields[schema->field_count];

		if (relation->columns[i].field == NULL)
			continue;
		*field = *relation->columns[i].field;
		field->name = relation->columns[i].name;
		schema->field_count++;
	}
	return schema;
}

static const char *
pushed_filter(const LakeScan *scan, ExplainState *es)
{
	if (scan->relation == NULL || scan->has_unknown ||
		scan->value_params != NULL)
		return deparsed_quals(scan, false, es);
	if (scan->predicate == NULL)
		return NULL;
	return predicate_text(lake_arena_of(CurrentMemoryContext), scan->predicate,
						  declared_schema(scan->relation));
}

static void
explain_files(const LakeScan *scan, ExplainState *es)
{
	static const ScanPlan no_files;
	const ScanPlan *plan = scan->plan != NULL ? scan->plan : &no_files;

	ExplainPropertyInteger("Files Total", NULL, plan->files_total, es);
	ExplainPropertyInteger("Files Skipped By Partition", NULL,
						   plan->files_skipped_by_partition, es);
	ExplainPropertyInteger("Files Skipped By Bounds", NULL,
						   plan->files_skipped_by_bounds, es);
	ExplainPropertyInteger("Delete Files", NULL, plan->delete_files, es);
	ExplainPropertyInteger("Bytes Planned", NULL, plan->bytes_planned, es);
}

static void
explain_execution(const LakeScan *scan, ExplainState *es)
{
	TaskReaderCounters counters = scan_counters(scan);

	ExplainPropertyInteger("Row Groups Total", NULL,
						   counters.row_groups_total, es);
	ExplainPropertyInteger("Row Groups Skipped", NULL,
						   counters.row_groups_skipped, es);
	if (counters.row_groups_skipped_by_bloom > 0)
		ExplainPropertyInteger("Row Groups Skipped By Bloom", NULL,
							   counters.row_groups_skipped_by_bloom, es);
	ExplainPropertyInteger("Pages Skipped", NULL, counters.pages_skipped, es);
	ExplainPropertyInteger("Bytes Read", NULL, scan_bytes_read(scan), es);
	ExplainPropertyInteger("Rows Removed By Deletes", NULL,
						   counters.rows_deleted, es);
	ExplainPropertyInteger("Cache Hits", NULL, scan_cache_hits(scan), es);
}

/*
 * For a node that was never executed.  auto_explain asks when the query has
 * ended and nobody's snapshot is active, but functions in quals may need one.
 */
static void
bind_late(LakeScan *scan)
{
	PushActiveSnapshot(scan->node->ss.ps.state->es_snapshot);
	scan->explain_only = true;
	scan_bind(scan);
	PopActiveSnapshot();
}

/* a selector that is no constant, as it is written */
static void
explain_selector(const LakeScan *scan, ExplainState *es)
{
	static const char *const labels[] = {
		[LAKE_SELECT_SNAPSHOT] = "Snapshot",
		[LAKE_SELECT_TIME] = "As Of",
		[LAKE_SELECT_REF] = "Ref",
	};
	List	   *context;
	ListCell   *cell;

	if (scan->selector == NULL || IsA(scan->selector, Const))
		return;
	context = set_deparse_context_plan(es->deparse_cxt,
									   scan->node->ss.ps.plan, NIL);
	foreach(cell, time_travel_arguments(scan->selector))
		ExplainPropertyText(labels[time_travel_kind(exprType(lfirst(cell)))],
							deparse_expression(lfirst(cell), context,
											   list_length(es->rtable) > 1 ||
											   es->verbose, false), es);
}

static void
explain_version(const LakeScan *scan, ExplainState *es)
{
	const LakeRelation *relation = scan->relation;
	const char *time;

	if (relation == NULL)
		return;
	if (relation->snapshot != NULL)
	{
		ExplainPropertyInteger("Snapshot Id", NULL, relation->snapshot->id,
							   es);
		time = snapshot_time(relation->snapshot->timestamp_ms);
		if (time != NULL)
			ExplainPropertyText("Snapshot Time", time, es);
	}
	/* else it has been shown as an expression */
	if (relation->selector.kind == LAKE_SELECT_REF &&
		(scan->selector == NULL || IsA(scan->selector, Const)))
		ExplainPropertyText("Ref", name_from_lake(relation->selector.ref), es);
}

void
lakeExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	LakeScan   *scan = node->fdw_state;
	const char *shown;

	if (!scan->is_bound)
		bind_late(scan);
	ExplainPropertyText("Lake Table", lake_name(scan_relid(scan)), es);
	explain_selector(scan, es);
	explain_version(scan, es);
	if (scan->counts)
		ExplainPropertyText("Pushed Aggregate", "count(*)", es);
	shown = pushed_filter(scan, es);
	if (shown != NULL)
		ExplainPropertyText("Pushed Filter", shown, es);
	shown = deparsed_quals(scan, true, es);
	if (shown != NULL)
		ExplainPropertyText("Local Filter", shown, es);
	if (scan->relation == NULL)
		return;
	explain_files(scan, es);
	if (es->analyze)
		explain_execution(scan, es);
}
