/*
 * A scan by several processes: what leader and workers share.
 *
 * The leader tells the workers which version it reads, by metadata file and
 * selector, since a catalog may say something else by now.  Files are cut into
 * units by byte ranges, which every process works out by itself, and takes by
 * the next number.  Numbers mean the same only if all have planned the same
 * files: the first one leaves a check value, which the others compare.
 */
#include "fdw/fdw.h"

#include "access/parallel.h"
#include "optimizer/paths.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/shm_toc.h"
#include "storage/spin.h"

#include "base/hash.h"

/*
 * Units are small enough that processes end at about the same time, and large
 * enough that opening a file for each costs nothing beside: half of what is
 * worth a worker at least (min_parallel_table_scan_size).
 */
#define UNITS_PER_PROCESS	8
#define UNIT_BYTES_MAX		((int64) 64 << 20)
/* whatever a manifest says of a file's size */
#define UNITS_PER_FILE_MAX	4096
/* a lake.at below a rescan may name another ref than it did first */
#define REF_ROOM			((Size) 256)

/* in shared memory */
struct ParallelScan
{
	pg_atomic_uint64 next_unit;

	/* what a leader sets before its workers start */
	int			process_count;
	int64		unit_bytes_min;
	LakeSelector selector;		/* its ref is in texts */
	Size		ref_offset;		/* in texts */
	Size		ref_room;		/* with the terminator */

	slock_t		mutex;			/* of all that follows but texts */
	bool		is_checked;
	uint64		check;			/* of the first process that had planned */
	TaskReaderCounters counters;	/* of workers that are done */
	uint64		bytes_read;		/* of their data files */

	char		texts[FLEXIBLE_ARRAY_MEMBER];	/* metadata location, ref */
};

/* ---- units ---- */

static int64
unit_bytes_min(void)
{
	return Max((int64) min_parallel_table_scan_size * BLCKSZ / 2, 1);
}

static int64
unit_bytes(int64 bytes, int process_count, int64 least)
{
	int64		wanted = bytes / ((int64) process_count * UNITS_PER_PROCESS);

	return Min(Max(wanted, least), UNIT_BYTES_MAX);
}

/* a file is cut in two when both parts have three quarters of a unit */
static int64
units_of_file(int64 size, int64 bytes)
{
	int64		count = size / bytes + (size % bytes > bytes / 2 ? 1 : 0);

	return Max(Min(count, UNITS_PER_FILE_MAX), 1);
}

double
parallel_units(double files, double bytes, int process_count)
{
	int64		total = Min(bytes, (double) PG_INT64_MAX / 2);
	int64		size = total / Max(files, 1);

	return files * units_of_file(size, unit_bytes(total, process_count,
												  unit_bytes_min()));
}

static void
mix(uint64 *check, const void *data, Size size)
{
	*check = hash_xxh64(data, size, *check);
}

/* of all that gives units their numbers, and what is taken of them */
static uint64
check_value(const LakeScan *scan)
{
	const LakeSnapshot *snapshot = scan->relation->snapshot;
	uint64		check = scan->column_count * 2 + (scan->predicate != NULL);

	mix(&check, &scan->unit_bytes, sizeof scan->unit_bytes);
	if (snapshot != NULL)
		mix(&check, &snapshot->id, sizeof snapshot->id);
	for (int i = 0; scan->plan != NULL && i < scan->plan->task_count; i++)
	{
		const ScanTask *task = &scan->plan->tasks[i];

		mix(&check, task->path, strlen(task->path));
		mix(&check, &task->size, sizeof task->size);
	}
	return check;
}

/* agrees with the other processes on what the numbers of units mean */
static void
join_scan(LakeScan *scan)
{
	ParallelScan *parallel = scan->parallel;
	uint64		check;
	bool		is_equal;

	scan->unit_bytes = unit_bytes(scan->plan == NULL ? 0 :
								  scan->plan->bytes_planned,
								  parallel->process_count,
								  parallel->unit_bytes_min);
	check = check_value(scan);
	SpinLockAcquire(&parallel->mutex);
	if (!parallel->is_checked)
		parallel->check = check;
	parallel->is_checked = true;
	is_equal = parallel->check == check;
	SpinLockRelease(&parallel->mutex);
	if (!is_equal)
		ereport(ERROR,
				errcode(ERRCODE_INTERNAL_ERROR),
				errmsg("processes of a parallel scan of %s have planned different files",
					   scan->title),
				errhint("A condition may have another value in each process, or the table's files were changed in place."));
	scan->next_task = 0;
	scan->task_unit = 0;
	scan->has_joined = true;
}

bool
parallel_next_unit(LakeScan *scan, ScanUnit *unit)
{
	uint64		number;

	if (!scan->has_joined)
		join_scan(scan);
	if (scan->plan == NULL)
		return false;
	number = pg_atomic_fetch_add_u64(&scan->parallel->next_unit, 1);
	for (; scan->next_task < scan->plan->task_count; scan->next_task++)
	{
		const ScanTask *task = &scan->plan->tasks[scan->next_task];
		int64		count = units_of_file(task->size, scan->unit_bytes);
		int64		step = Max(task->size, 0) / count;
		int64		part;

		part = number - scan->task_unit;
		if (part < count)
		{
			unit->task = task;
			unit->from = step * part;
			unit->to = part + 1 == count ? PG_INT64_MAX : step * (part + 1);
			return true;
		}
		scan->task_unit += count;
	}
	return false;
}

/* ---- the leader ---- */

/*
 * Before its shared memory goes, workers that are done have left what they
 * counted; a LIMIT above may have stopped them after our own end.
 */
static void
leave_scan(dsm_segment *segment, Datum arg)
{
	LakeScan   *scan = (LakeScan *) DatumGetPointer(arg);

	scan_add_counters(&scan->counters, &scan->parallel->counters);
	scan->bytes_before += scan->parallel->bytes_read;
	scan->parallel = NULL;
	scan->segment = NULL;
}

/* the scan's memory goes first, after an error or at the end of a cursor */
static void
forget_segment(void *arg)
{
	LakeScan   *scan = arg;

	if (scan->segment != NULL)
		cancel_on_dsm_detach(scan->segment, leave_scan, PointerGetDatum(scan));
}

static void
watch_segment(LakeScan *scan, dsm_segment *segment)
{
	MemoryContextCallback *callback;

	callback = MemoryContextAllocZero(scan->context, sizeof *callback);
	callback->func = forget_segment;
	callback->arg = scan;
	MemoryContextRegisterResetCallback(scan->context, callback);
	on_dsm_detach(segment, leave_scan, PointerGetDatum(scan));
	scan->segment = segment;
}

static void
put_selector(ParallelScan *parallel, const LakeSelector *selector)
{
	parallel->selector = *selector;
	parallel->selector.ref = NULL;
	if (selector->kind != LAKE_SELECT_REF)
		return;
	if (strlen(selector->ref) >= parallel->ref_room)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("ref \"%s\" is too long for a parallel scan that began with another",
					   name_from_lake(selector->ref)));
	strcpy(parallel->texts + parallel->ref_offset, selector->ref);
}

static Size
location_size(const LakeScan *scan)
{
	return strlen(scan->relation->table->metadata_location) + 1;
}

static Size
ref_size(const LakeSelector *selector)
{
	Size		needed = selector->kind == LAKE_SELECT_REF ?
		strlen(selector->ref) + 1 : 0;

	return Max(needed, REF_ROOM);
}

Size
lakeEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *context)
{
	LakeScan   *scan = node->fdw_state;
	LakeSelector selector;

	scan_open(scan);
	scan_selector(scan, &selector);
	/* a volatile selector may have a longer value when it is asked again */
	scan->ref_room = ref_size(&selector);
	return offsetof(ParallelScan, texts) + location_size(scan) +
		scan->ref_room;
}

void
lakeInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *context,
							 void *coordinate)
{
	LakeScan   *scan = node->fdw_state;
	ParallelScan *parallel = coordinate;
	LakeSelector selector;

	/* without a segment there is no worker either, and nothing to share */
	if (context->seg == NULL)
		return;
	memset(parallel, 0, offsetof(ParallelScan, texts));
	pg_atomic_init_u64(&parallel->next_unit, 0);
	SpinLockInit(&parallel->mutex);
	parallel->process_count = context->nworkers + 1;
	parallel->unit_bytes_min = unit_bytes_min();
	strcpy(parallel->texts, scan->relation->table->metadata_location);
	scan_selector(scan, &selector);
	parallel->ref_offset = location_size(scan);
	parallel->ref_room = scan->ref_room;
	put_selector(parallel, &selector);
	watch_segment(scan, context->seg);
	scan->parallel = parallel;
	scan->has_joined = false;
}

/*
 * The workers of the last round are gone, the scan's own ReScan comes before or
 * after.
 */
void
lakeReInitializeDSMForeignScan(ForeignScanState *node,
							   ParallelContext *context, void *coordinate)
{
	LakeScan   *scan = node->fdw_state;
	ParallelScan *parallel = coordinate;
	LakeSelector selector;

	if (scan->parallel == NULL)
		return;
	scan_selector(scan, &selector);
	put_selector(parallel, &selector);
	parallel->is_checked = false;
	pg_atomic_write_u64(&parallel->next_unit, 0);
	scan->has_joined = false;
}

/* ---- workers ---- */

void
lakeInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
								void *coordinate)
{
	LakeScan   *scan = node->fdw_state;
	ParallelScan *parallel = coordinate;
	LakeSelector selector = parallel->selector;

	if (selector.kind == LAKE_SELECT_REF)
		selector.ref = parallel->texts + parallel->ref_offset;
	scan->parallel = parallel;
	scan_open_version(scan, &selector, parallel->texts);
}

void
lakeShutdownForeignScan(ForeignScanState *node)
{
	LakeScan   *scan = node->fdw_state;
	ParallelScan *parallel = scan->parallel;
	TaskReaderCounters counters;

	if (!IsParallelWorker() || parallel == NULL || scan->has_left)
		return;
	counters = scan_counters(scan);
	SpinLockAcquire(&parallel->mutex);
	scan_add_counters(&parallel->counters, &counters);
	parallel->bytes_read += scan_bytes_read(scan);
	SpinLockRelease(&parallel->mutex);
	scan->has_left = true;
}
