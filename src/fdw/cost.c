/*
 * Estimates: rows and bytes from manifests, costs from both.
 *
 * Without ANALYZE the server guesses selectivities; pruning by constants gives
 * a hard upper limit beside the guess, and the smaller of the two counts.
 * Multiplying them would count one condition twice.
 */
#include "fdw/fdw.h"

#include <math.h>

#include "access/htup_details.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "iceberg/iceberg.h"

/*
 * Tables with more files are estimated from the manifest list alone: reading
 * their manifests twice, here and when the scan starts, would cost more than a
 * better estimate gains.
 */
#define MAX_FILES_TO_PLAN 5000

/*
 * Costs in the planner's unit, about 3 microseconds on a machine where a heap
 * scan of 6 million lineitem rows takes half a second.  Decompressing and
 * decoding go at about 0.9 GB/s of file, a file needs a footer, a scan its
 * metadata.
 */
#define SCAN_START_COST 50.0
#define FILE_COST 30.0
#define BLOCK_READ_COST 3.0		/* BLCKSZ bytes of the columns read */
#define ROW_FILTER_COST 0.0005	/* a pushed qual on one row of a vector */

/* of a scan with other parameters: what binds them, and plans cached files */
#define LOOKUP_START_COST 5.0
#define FILE_PRUNE_COST 0.02
/* a row group is read for one row */
#define LOOKUP_BYTES (4.0 * 1024 * 1024)

/*
 * Starting workers takes some 30 milliseconds for the first and 20 for each
 * other, ten times as long as the default of parallel_setup_cost says.  In
 * multiples of that, which Gather adds once.
 */
#define WORKERS_START_FACTOR 2.0
#define WORKER_START_FACTOR 7.0

/* the rest of the estimates assume it when a writer left counts out */
#define BYTES_PER_UNKNOWN_ROW 100.0

const Predicate *
cost_known_predicate(PushScope *scope, const List *quals,
					 void (*prepare) (void *arg, const RestrictInfo *qual))
{
	Predicate **children;
	int			count = 0;
	ListCell   *cell;

	children = palloc(sizeof *children * (list_length(quals) + 1));
	foreach(cell, quals)
	{
		RestrictInfo *info = lfirst(cell);

		if (prepare != NULL)
			prepare(scope->value_arg, info);
		if (pushdown_qual(scope, info->clause,
						  &children[count]) == PUSH_DONE)
			count++;
	}
	if (count == 0)
		return NULL;
	return predicate_normalize(scope->arena,
							   predicate_combine(scope->arena, PREDICATE_AND,
												 children, count));
}

const ScanPlan *
cost_plan_files(const LakeRelation *relation, const Predicate *predicate)
{
	return relation->table->format->plan(lake_arena_of(CurrentMemoryContext),
										 relation->table, relation->store,
										 relation->snapshot, predicate);
}

/* from the snapshot's summary and, where that is silent, its manifest list */
static void
estimate_table(LakePlan *plan)
{
	const LakeSnapshot *snapshot = plan->relation->snapshot;
	double		rows = snapshot->total_records;
	double		files = snapshot->total_data_files;
	double		bytes = snapshot->total_size;

	if (rows < 0 || files < 0)
	{
		IcebergTotals totals;

		iceberg_totals(lake_arena_of(CurrentMemoryContext),
					   plan->relation->store, snapshot, &totals);
		if (files < 0)
			files = totals.data_files;
		if (rows < 0)
			rows = totals.data_rows;
	}
	if (rows < 0)
		rows = bytes > 0 ? bytes / BYTES_PER_UNKNOWN_ROW : 1000;
	if (bytes < 0)
		bytes = rows * BYTES_PER_UNKNOWN_ROW;
	rows -= Max(snapshot->total_position_deletes, 0);
	plan->table_rows = Max(rows, 0);
	plan->planned_rows = plan->table_rows;
	plan->planned_files = Max(files, 1);
	plan->planned_bytes = bytes;
	plan->counts_rows = snapshot->total_position_deletes == 0 &&
		snapshot->total_equality_deletes == 0;
}

/* from the manifests, by pruning as the scan will */
static void
estimate_files(LakePlan *plan, Index varno)
{
	PushScope	scope = {
		.arena = lake_arena_of(CurrentMemoryContext),
		.relation = plan->relation,
		.varno = varno,
		.value = pushdown_constant,
	};
	const ScanPlan *files;

	files = cost_plan_files(plan->relation,
							cost_known_predicate(&scope, plan->pushed, NULL));
	if (files->rows_planned >= 0)
		plan->planned_rows = Max(files->rows_planned - files->rows_deleted, 0);
	if (plan->pushed == NIL)
		plan->table_rows = plan->planned_rows;
	plan->planned_files = files->task_count;
	plan->planned_bytes = Max(files->bytes_planned, 0);
	plan->counts_rows = files->delete_files == 0 && files->rows_planned >= 0;
	plan->knows_files = true;
}

/* what the transaction itself has added and deleted since */
static void
estimate_staged(LakePlan *plan)
{
	StagedEstimate staged;

	if (!staged_scan_estimate(plan->relation, &staged))
		return;
	if (staged.hides_base)
	{
		plan->table_rows = plan->planned_rows = 0;
		plan->planned_files = plan->planned_bytes = 0;
	}
	plan->table_rows = Max(plan->table_rows + staged.added - staged.deleted,
						   0);
	plan->planned_rows += staged.added;
	plan->planned_files += staged.files;
	plan->planned_bytes += staged.bytes;
}

/* the columns of pushed quals are read whether they are returned or not */
static Bitmapset *
read_attnums(const RelOptInfo *baserel, const LakePlan *plan)
{
	Bitmapset  *attnums = bms_copy(plan->attnums);
	ListCell   *cell;

	foreach(cell, plan->pushed)
	{
		RestrictInfo *info = lfirst(cell);

		pull_varattnos((Node *) info->clause, baserel->relid, &attnums);
	}
	return attnums;
}

/* how much of a file's bytes belong to the columns that the scan reads */
static double
column_share(const RelOptInfo *baserel, const LakePlan *plan)
{
	Bitmapset  *attnums = read_attnums(baserel, plan);
	bool		whole_row =
		bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attnums);
	double		total = 0;
	double		wanted = 0;

	for (int i = 0; i < plan->relation->column_count; i++)
	{
		const LakeColumn *column = &plan->relation->columns[i];
		int			width = 0;

		if (column->field == NULL)
			continue;
		if (column->attnum <= baserel->max_attr)
			width = baserel->attr_widths[column->attnum - baserel->min_attr];
		if (width <= 0)
			width = get_typavgwidth(column->type_oid, column->typmod);
		total += width;
		if (whole_row ||
			bms_is_member(column->attnum - FirstLowInvalidHeapAttributeNumber,
						  attnums))
			wanted += width;
	}
	return total > 0 ? wanted / total : 0;
}

static Selectivity
selectivity(PlannerInfo *root, const RelOptInfo *baserel, List *quals)
{
	return clauselist_selectivity(root, quals, baserel->relid, JOIN_INNER,
								  NULL);
}

void
cost_estimate_size(PlannerInfo *root, RelOptInfo *baserel, LakePlan *plan)
{
	double		limit;

	plan->table_rows = 0;
	plan->counts_rows = true;
	if (plan->relation->snapshot != NULL)
	{
		estimate_table(plan);
		if (plan->planned_files <= MAX_FILES_TO_PLAN)
			estimate_files(plan, baserel->relid);
	}
	estimate_staged(plan);
	baserel->tuples = plan->table_rows;
	baserel->pages = Min(plan->planned_bytes / BLCKSZ, MaxBlockNumber - 1);
	set_baserel_size_estimates(root, baserel);
	limit = plan->planned_rows * selectivity(root, baserel, plan->local);
	baserel->rows = clamp_row_est(Min(baserel->rows, limit));

	plan->read_bytes = plan->planned_bytes * column_share(baserel, plan);
	plan->read_cost = plan->planned_files * FILE_COST +
		plan->read_bytes / BLCKSZ * BLOCK_READ_COST +
		plan->planned_rows * list_length(plan->pushed) * ROW_FILTER_COST;
}

void
cost_scan(PlannerInfo *root, const RelOptInfo *baserel, LakePlan *plan,
		  Cost *startup, Cost *total)
{
	QualCost	local;
	double		rows;

	cost_qual_eval(&local, extract_actual_clauses(plan->local, false), root);
	/* rows that reach the local quals */
	rows = Min(plan->planned_rows,
			   baserel->rows / Max(selectivity(root, baserel, plan->local),
								   1.0e-10));
	*startup = SCAN_START_COST + local.startup +
		baserel->reltarget->cost.startup;
	*total = *startup + plan->read_cost +
		rows * (cpu_tuple_cost + local.per_tuple) +
		baserel->rows * baserel->reltarget->cost.per_tuple;
}

int
cost_parallel_workers(RelOptInfo *baserel, const LakePlan *plan)
{
	int			workers;
	double		units;

	workers = compute_parallel_worker(baserel,
									  ceil(plan->read_bytes / BLCKSZ), -1,
									  max_parallel_workers_per_gather);
	units = parallel_units(plan->planned_files, plan->planned_bytes,
						   workers + 1);
	return Min(workers, Max(units - 1, 0));
}

/* how many processes' work the processes do: core's rule for the leader's */
static double
parallel_divisor(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return parallel_leader_participation && leader > 0 ? workers + leader :
		workers;
}

/*
 * Tables of a partition tree or UNION ALL share the workers of one Gather: each
 * bears its part of the price.
 */
static Cost
workers_start_cost(PlannerInfo *root, const RelOptInfo *baserel, int workers)
{
	Cost		cost = parallel_setup_cost *
		(WORKERS_START_FACTOR + WORKER_START_FACTOR * workers);
	int			sharers = 0;
	ListCell   *cell;
	Index		parent;

	if (baserel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return cost;
	parent = root->append_rel_array[baserel->relid]->parent_relid;
	foreach(cell, root->append_rel_list)
		sharers += lfirst_node(AppendRelInfo, cell)->parent_relid == parent;
	return cost / Max(sharers, 1);
}

void
cost_parallel_scan(PlannerInfo *root, const RelOptInfo *baserel,
				   LakePlan *plan, int workers, double *rows, Cost *startup,
				   Cost *total)
{
	double		divisor = parallel_divisor(workers);
	Cost		run_cost;

	cost_scan(root, baserel, plan, startup, total);
	run_cost = *total - *startup;
	*startup += workers_start_cost(root, baserel, workers);
	*total = *startup + run_cost / divisor;
	*rows = clamp_row_est(baserel->rows / divisor);
}

void
cost_lookup(PlannerInfo *root, const RelOptInfo *baserel, double rows,
			const Lookup *lookup, Cost *startup, Cost *total)
{
	const LakePlan *plan = baserel->fdw_private;
	List	   *quals = list_concat_copy(plan->local, lookup->local);
	double		bytes = Max(plan->read_bytes * lookup->bytes_share,
							Min(LOOKUP_BYTES, plan->planned_bytes) *
							plan->read_bytes / Max(plan->planned_bytes, 1));
	QualCost	local;

	cost_qual_eval(&local, extract_actual_clauses(quals, false), root);
	*startup = LOOKUP_START_COST + plan->planned_files * FILE_PRUNE_COST +
		local.startup + baserel->reltarget->cost.startup;
	*total = *startup + lookup->files * FILE_COST +
		bytes / BLCKSZ * BLOCK_READ_COST +
		plan->planned_rows * bytes / Max(plan->read_bytes, 1) *
		(list_length(plan->pushed) + list_length(lookup->pushed)) *
		ROW_FILTER_COST +
		rows / Max(selectivity(root, baserel, quals), 1.0e-10) *
		(cpu_tuple_cost + local.per_tuple) +
		rows * baserel->reltarget->cost.per_tuple;
}

void
cost_count(const LakePlan *plan, Cost *startup, Cost *total)
{
	*total = SCAN_START_COST + cpu_tuple_cost;
	if (!plan->counts_rows)
		*total += plan->read_cost;
	*startup = *total - cpu_tuple_cost;
}
