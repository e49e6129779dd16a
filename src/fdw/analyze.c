/*
 * ANALYZE: a sample of rows, so that the planner has more to go by than bounds.
 *
 * The table's rows, as the manifests count them, are cut into strata of equal
 * length, and a window at a random place of each is read: whole tables where
 * they are small, else some dozens of windows over all files.  A window is wide
 * and few of its rows are taken, because rows that lie side by side are often
 * alike, and n_distinct is estimated by how seldom values repeat.
 *
 * The sample is in the order of files and rows: core takes the correlation from
 * it.
 */
#include "fdw/fdw.h"

#include <math.h>

#include "access/htup_details.h"
#include "common/int.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

/* rows that pass, for one row of the sample; beyond them windows are cut */
#define ROWS_PER_SAMPLE_ROW 100
#define MAX_WINDOWS 64
/* what files without a count are taken to have a row */
#define BYTES_PER_UNKNOWN_ROW 100
/* memory for the sample; larger rows make it smaller */
#define SAMPLE_BYTES_MAX ((Size) 256 << 20)

/* consecutive rows of the table, [first, end), some of which are drawn */
typedef struct Window
{
	int64		first;
	int64		end;
	int64		wanted;			/* of those that are still ahead */
} Window;

typedef struct Sample
{
	Relation	rel;
	LakeRelation *relation;
	TaskReader *reader;
	int			column_count;
	ScanColumn *columns;
	MemoryContext row_context;	/* Datums of one batch */
	pg_prng_state random;

	int			window_count;
	Window	   *windows;
	int			next_window;	/* those before are done */

	MemoryContext tuple_context;	/* the caller's */
	HeapTuple  *rows;
	int			capacity;		/* of rows */
	int			count;
	Size		bytes;			/* of rows */
	int			thinning;		/* only one of so many drawn rows is kept */
	uint64		drawn;

	/* of the current batch */
	uint32		chosen_count;
	uint32		chosen[BATCH_MAX_ROWS];

	/* what was read */
	int			files;
	uint64		bytes_before;	/* of the store */
	double		rows_read;		/* of windows, deleted ones too */
	double		rows_live;		/* those that are not deleted */
} Sample;

static void
create_columns(Sample *sample)
{
	const LakeRelation *relation = sample->relation;
	const LakeField **fields;

	fields = palloc(sizeof *fields * (relation->column_count + 1));
	sample->columns = palloc0(sizeof(ScanColumn) *
							  (relation->column_count + 1));
	for (int i = 0; i < relation->column_count; i++)
	{
		const LakeColumn *source = &relation->columns[i];
		ScanColumn *column = &sample->columns[sample->column_count];

		if (source->field == NULL)
			continue;
		fields[sample->column_count++] = source->field;
		column->source = source;
		column->attribute = i;
		column->converter = column_converter_create(CurrentMemoryContext,
													source->field->type,
													source->type_oid,
													source->typmod,
													source->name);
		column->values = palloc(sizeof(Datum) * BATCH_MAX_ROWS);
		column->nulls = palloc(sizeof(bool) * BATCH_MAX_ROWS);
	}
	sample->reader = scan_reader_create(lake_arena_of(CurrentMemoryContext),
										relation, fields,
										sample->column_count, NULL);
}

/* ---- which rows ---- */

/* rows of a file, deleted ones too */
static int64
task_rows(const ScanTask *task)
{
	if (task->record_count >= 0)
		return task->record_count;
	return Max(task->size, 0) / BYTES_PER_UNKNOWN_ROW + 1;
}

static double
random_fraction(Sample *sample)
{
	return sampler_random_fract(&sample->random);
}

/*
 * Windows over so many rows, of which live are not deleted.  More rows are
 * drawn than there is room for, by as many as are deleted.
 */
static void
create_windows(Sample *sample, int64 rows, double live)
{
	double		enough = (double) sample->capacity * ROWS_PER_SAMPLE_ROW;
	double		wanted = sample->capacity;
	int			count = rows > enough ? MAX_WINDOWS : 1;

	if (live > 0 && live < rows)
		wanted = Min(wanted * (rows / live), (double) rows);
	sample->window_count = count;
	sample->windows = palloc(sizeof(Window) * count);
	for (int i = 0; i < count; i++)
	{
		Window	   *window = &sample->windows[i];
		int64		first = (int64) ((double) rows / count * i);
		int64		end = (int64) ((double) rows / count * (i + 1));
		int64		length = (int64) ceil(Min(enough, (double) rows) / count);

		if (i == count - 1)
			end = rows;
		length = Min(length, end - first);
		window->first = first + (int64)
			(random_fraction(sample) * (double) (end - first - length + 1));
		window->end = window->first + length;
		sample->rows_read += (double) length;
		window->wanted = (int64) (wanted * (i + 1) / count) -
			(int64) (wanted * i / count);
	}
}

/*
 * Draws rows of the batch, whose first is row number start of the table.  Each
 * row of a window has the same chance (Knuth's algorithm S); a deleted one that
 * is drawn is not in the sample.
 */
static void
choose_rows(Sample *sample, const LakeBatch *batch, int64 start)
{
	int64		end = start + batch->row_count;
	uint32		selected = 0;

	sample->chosen_count = 0;
	while (sample->next_window < sample->window_count)
	{
		Window	   *window = &sample->windows[sample->next_window];
		int64		stop = Min(window->end, end);

		for (int64 row = Max(window->first, start); row < stop; row++)
		{
			uint32		i = (uint32) (row - start);

			while (selected < batch->selected_count &&
				   batch->selection[selected] < i)
				selected++;
			window->first = row + 1;
			if (selected < batch->selected_count &&
				batch->selection[selected] == i)
				sample->rows_live += 1;
			if (random_fraction(sample) * (double) (window->end - row) >=
				(double) window->wanted)
				continue;
			window->wanted--;
			if (selected < batch->selected_count &&
				batch->selection[selected] == i &&
				sample->drawn++ % sample->thinning == 0)
				sample->chosen[sample->chosen_count++] = i;
		}
		if (window->end > end)
			break;
		sample->next_window++;
	}
}

/* ---- keeping them ---- */

/* the first of the chosen rows from first on that fit into memory at once */
static uint32
convert_rows(Sample *sample, uint32 first)
{
	uint32		count = sample->chosen_count - first;
	MemoryContext old_context;

	MemoryContextReset(sample->row_context);
	old_context = MemoryContextSwitchTo(sample->row_context);
	for (int i = 0; i < sample->column_count; i++)
	{
		ScanColumn *column = &sample->columns[i];

		count = column_converter_convert(column->converter,
										 task_reader_column(sample->reader, i),
										 sample->chosen + first, count,
										 scan_convert_room(sample->row_context),
										 sample->row_context, column->values,
										 column->nulls);
	}
	MemoryContextSwitchTo(old_context);
	return count;
}

/*
 * Makes room: every second row goes, and of the rows to come as well.  A sample
 * of one row stays, however large that is.
 */
static void
thin_out(Sample *sample)
{
	int			kept = 0;

	for (int i = 0; i < sample->count; i++)
	{
		if (i % 2 == 0)
			sample->rows[kept++] = sample->rows[i];
		else
		{
			sample->bytes -= sample->rows[i]->t_len;
			heap_freetuple(sample->rows[i]);
		}
	}
	sample->count = kept;
	sample->thinning *= 2;
}

static void
keep_rows(Sample *sample, uint32 count)
{
	TupleDesc	desc = RelationGetDescr(sample->rel);
	int			natts = desc->natts;
	Datum	   *values = palloc(sizeof(Datum) * natts);
	bool	   *nulls = palloc(sizeof(bool) * natts);
	MemoryContext old_context = CurrentMemoryContext;

	memset(nulls, true, sizeof(bool) * natts);
	for (uint32 row = 0; row < count; row++)
	{
		HeapTuple	tuple;

		for (int i = 0; i < sample->column_count; i++)
		{
			const ScanColumn *column = &sample->columns[i];

			values[column->attribute] = column->values[row];
			nulls[column->attribute] = column->nulls[row];
		}
		while (sample->count > 1 &&
			   (sample->count == sample->capacity ||
				sample->bytes > SAMPLE_BYTES_MAX))
			thin_out(sample);
		/* the one row that a small part of a tree may have */
		if (sample->count == sample->capacity)
			break;
		MemoryContextSwitchTo(sample->tuple_context);
		tuple = heap_form_tuple(desc, values, nulls);
		MemoryContextSwitchTo(old_context);
		sample->rows[sample->count++] = tuple;
		sample->bytes += tuple->t_len;
	}
	pfree(values);
	pfree(nulls);
}

/* ---- reading ---- */

/* reads what windows have of a file, whose first row is number start */
static void
sample_task(Sample *sample, const ScanTask *task, int64 start)
{
	LakeBatch	batch;

	task_reader_begin(sample->reader, task);
	sample->files++;
	while (task_reader_next(sample->reader, &batch))
	{
		CHECK_FOR_INTERRUPTS();
		choose_rows(sample, &batch, start + batch.first_position);
		for (uint32 first = 0; first < sample->chosen_count;)
		{
			uint32		count = convert_rows(sample, first);

			keep_rows(sample, count);
			first += count;
		}
		if (sample->next_window == sample->window_count ||
			sample->windows[sample->next_window].first >=
			start + task_rows(task))
			break;
	}
}

static void
sample_files(Sample *sample, const ScanPlan *plan)
{
	int64		start = 0;

	for (int i = 0; i < plan->task_count; i++)
	{
		int64		end = start + task_rows(&plan->tasks[i]);

		/* of rows that a file turned out not to have */
		while (sample->next_window < sample->window_count &&
			   sample->windows[sample->next_window].end <= start)
			sample->next_window++;
		if (sample->next_window < sample->window_count &&
			sample->windows[sample->next_window].first < end)
			sample_task(sample, &plan->tasks[i], start);
		start = end;
	}
}

/*
 * Live rows of the table: counted where all were read, else by the manifests,
 * which do not know how many rows equality deletes remove.
 */
static double
total_rows(const Sample *sample, const ScanPlan *plan, double rows)
{
	if (sample->window_count == 1)
		return sample->rows_live;
	if (plan->has_equality_deletes)
		return rint(rows * sample->rows_live / sample->rows_read);
	return Max(rows - (double) plan->rows_deleted, 0);
}

/* what was read of how much: ANALYZE VERBOSE */
static void
report(const Sample *sample, const ScanPlan *plan, double rows, int elevel)
{
	const TaskReaderCounters *counters = task_reader_counters(sample->reader);

	ereport(elevel,
			errmsg("\"%s\": read %d of %d files, %llu of their %llu row groups, %.0f of %.0f rows",
				   RelationGetRelationName(sample->rel), sample->files,
				   plan->task_count,
				   (unsigned long long) counters->row_groups_read,
				   (unsigned long long) counters->row_groups_total,
				   sample->rows_read, rows),
			errdetail("Bytes read: %llu, bytes of data files: %lld.",
					  (unsigned long long) (sample->relation->store->bytes_read -
											sample->bytes_before),
					  (long long) plan->bytes_planned));
}

static double
sample_table(Sample *sample, int elevel)
{
	const LakeRelation *relation = sample->relation;
	const ScanPlan *plan;
	int64		rows = 0;
	double		live;

	plan = relation->table->format->plan(lake_arena_of(CurrentMemoryContext),
										 relation->table, relation->store,
										 relation->snapshot, NULL);
	for (int i = 0; i < plan->task_count; i++)
	{
		if (pg_add_s64_overflow(rows, task_rows(&plan->tasks[i]), &rows))
			lake_throw(LAKE_ERROR_LIMIT, "the table has too many rows");
	}
	if (rows == 0)
		return 0;
	live = Max((double) rows - (double) plan->rows_deleted, 0);
	sample->bytes_before = relation->store->bytes_read;
	create_columns(sample);
	create_windows(sample, rows, live);
	sample_files(sample, plan);
	report(sample, plan, (double) rows, elevel);
	return total_rows(sample, plan, (double) rows);
}

/*
 * The version that the foreign table stands for.  lakefdw.as_of is the
 * session's, but statistics are everybody's.
 */
static LakeRelation *
open_relation(Relation rel)
{
	LakeTableOptions options;
	LakeOpen	how = {
		.snapshot = GetActiveSnapshot(),
		.selector = &options.selector
	};

	options_get_table(RelationGetRelid(rel), &options);
	return lake_relation_open(RelationGetRelid(rel), &how);
}

static int
acquire_sample(Relation rel, int elevel, HeapTuple *rows, int target,
			   double *total, double *dead_rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lake sample",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	Sample	   *sample = palloc0(sizeof *sample);
	int			count;
	LakeFrame	frame;

	sample->rel = rel;
	sample->relation = open_relation(rel);
	lake_frame_push(&frame, "sampling", sample->relation->name);
	sample->rows = rows;
	sample->capacity = target;
	sample->thinning = 1;
	sample->tuple_context = old_context;
	sampler_random_init_state(pg_prng_uint32(&pg_global_prng_state),
							  &sample->random);
	sample->row_context = AllocSetContextCreate(context, "lake sample rows",
												ALLOCSET_DEFAULT_SIZES);
	*total = sample->relation->snapshot == NULL ? 0 :
		sample_table(sample, elevel);
	*dead_rows = 0;
	lake_frame_pop(&frame);
	MemoryContextSwitchTo(old_context);
	count = sample->count;
	ereport(elevel,
			errmsg("\"%s\": %d rows in sample, %.0f estimated total rows",
				   RelationGetRelationName(rel), count, *total));
	MemoryContextDelete(context);
	return count;
}

bool
lakeAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func,
						BlockNumber *total_pages)
{
	LakeRelation *lake = open_relation(relation);
	int64		size = lake->snapshot == NULL ? 0 : lake->snapshot->total_size;

	*func = acquire_sample;
	*total_pages = Min(Max(size, 0) / BLCKSZ + 1, MaxBlockNumber - 1);
	return true;
}
