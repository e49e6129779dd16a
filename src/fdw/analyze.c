/*
 * ANALYZE: a sample of rows, so that the planner has more to go by than bounds.
 *
 * Rows are drawn from whole files, in random order of files, until enough rows
 * have passed: small tables are read in full, of large ones a part.  Columns
 * are decoded where a batch has a row of the sample.
 */
#include "fdw/fdw.h"

#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"

/* rows that pass, for one row of the sample; beyond them files are left out */
#define ROWS_PER_SAMPLE_ROW 100
/* memory for the sample; larger rows make it smaller */
#define SAMPLE_BYTES_MAX ((Size) 256 << 20)

typedef struct Sample
{
	LakeRelation *relation;
	TupleDesc	desc;
	TaskReader *reader;
	int			column_count;
	ScanColumn *columns;
	MemoryContext row_context;	/* Datums of one batch */

	HeapTuple  *rows;			/* in the caller's context */
	int			target;			/* room in rows */
	int			count;
	Size		bytes;			/* of rows */
	double		seen;			/* live rows so far */
	double		skip;			/* rows to pass over; < 0: draw anew */
	ReservoirStateData state;

	/* of the current batch: rows chosen, and where they go */
	uint32		chosen_count;
	uint32		chosen[BATCH_MAX_ROWS];
	int			places[BATCH_MAX_ROWS];
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

/* Algorithm R while there is room, Vitter's skips afterwards */
static void
choose_rows(Sample *sample, const LakeBatch *batch)
{
	sample->chosen_count = 0;
	for (uint32 i = 0; i < batch->selected_count; i++)
	{
		int			place = -1;

		if (sample->count < sample->target)
			place = sample->count++;
		else
		{
			if (sample->skip < 0)
				sample->skip = reservoir_get_next_S(&sample->state,
													sample->seen,
													sample->target);
			if (sample->skip <= 0)
				place = sample->target *
					sampler_random_fract(&sample->state.randstate);
			sample->skip -= 1;
		}
		sample->seen += 1;
		if (place < 0)
			continue;
		sample->chosen[sample->chosen_count] = batch->selection[i];
		sample->places[sample->chosen_count++] = place;
	}
}

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
 * Makes the sample smaller while its rows take too much memory.  That the last
 * of the current batch's rows go first is no bias to speak of.
 */
static void
drop_rows(Sample *sample)
{
	if (sample->bytes <= SAMPLE_BYTES_MAX)
		return;
	while (sample->bytes > SAMPLE_BYTES_MAX && sample->count > 1)
	{
		HeapTuple  *last = &sample->rows[--sample->count];

		if (*last == NULL)
			continue;			/* was to come later in this batch */
		sample->bytes -= (*last)->t_len;
		heap_freetuple(*last);
		*last = NULL;
	}
	sample->target = sample->count;
	sample->skip = -1;
	reservoir_init_selection_state(&sample->state, sample->target);
}

static void
keep_rows(Sample *sample, uint32 first, uint32 count)
{
	Datum	   *values = palloc(sizeof(Datum) * sample->desc->natts);
	bool	   *nulls = palloc(sizeof(bool) * sample->desc->natts);

	memset(nulls, true, sizeof(bool) * sample->desc->natts);
	for (uint32 row = 0; row < count; row++)
	{
		int			index = sample->places[first + row];
		HeapTuple  *place = &sample->rows[index];

		if (index >= sample->count)
			continue;
		for (int i = 0; i < sample->column_count; i++)
		{
			const ScanColumn *column = &sample->columns[i];

			values[column->attribute] = column->values[row];
			nulls[column->attribute] = column->nulls[row];
		}
		if (*place != NULL)
		{
			sample->bytes -= (*place)->t_len;
			heap_freetuple(*place);
		}
		*place = heap_form_tuple(sample->desc, values, nulls);
		sample->bytes += (*place)->t_len;
		drop_rows(sample);
	}
	pfree(values);
	pfree(nulls);
}

static void
sample_task(Sample *sample, const ScanTask *task)
{
	LakeBatch	batch;

	task_reader_begin(sample->reader, task);
	while (task_reader_next(sample->reader, &batch))
	{
		CHECK_FOR_INTERRUPTS();
		choose_rows(sample, &batch);
		for (uint32 first = 0; first < sample->chosen_count;)
		{
			uint32		count = convert_rows(sample, first);

			keep_rows(sample, first, count);
			first += count;
			/* the rest has been dropped */
			while (first < sample->chosen_count &&
				   sample->places[first] >= sample->count)
				first++;
		}
	}
}

/* the order in which to read count tasks */
static int *
random_order(Sample *sample, int count)
{
	int		   *order = palloc(sizeof *order * Max(count, 1));

	for (int i = 0; i < count; i++)
	{
		int			other;

		other = (i + 1) * sampler_random_fract(&sample->state.randstate);
		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

/*
 * Reads files until enough rows have passed; returns the share of the table's
 * rows, deleted ones included, that these files have.
 */
static double
sample_files(Sample *sample, const ScanPlan *plan)
{
	int		   *order = random_order(sample, plan->task_count);
	double		enough = (double) sample->target * ROWS_PER_SAMPLE_ROW;
	double		read = 0;
	double		total = 0;
	int			done = 0;

	while (done < plan->task_count && sample->seen < enough)
	{
		const ScanTask *task = &plan->tasks[order[done++]];

		sample_task(sample, task);
		read += Max(task->record_count, 0);
	}
	if (done == plan->task_count)
		return 1;
	for (int i = 0; i < plan->task_count; i++)
		total += Max(plan->tasks[i].record_count, 0);
	return total > 0 && read > 0 ? read / total :
		(double) done / plan->task_count;
}

static int
acquire_sample(Relation relation, int elevel, HeapTuple *rows, int target,
			   double *total_rows, double *dead_rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lake sample",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	Sample	   *sample = palloc0(sizeof *sample);
	LakeOpen	how = {.snapshot = GetActiveSnapshot()};
	double		share = 1;
	int			count;
	LakeFrame	frame;

	sample->relation = lake_relation_open(RelationGetRelid(relation), &how);
	lake_frame_push(&frame, "sampling", sample->relation->name);
	sample->desc = RelationGetDescr(relation);
	sample->rows = rows;
	sample->target = target;
	sample->skip = -1;
	memset(rows, 0, sizeof *rows * target);
	reservoir_init_selection_state(&sample->state, target);
	sample->row_context = AllocSetContextCreate(context, "lake sample rows",
												ALLOCSET_DEFAULT_SIZES);
	if (sample->relation->snapshot != NULL)
	{
		const LakeTable *table = sample->relation->table;
		const ScanPlan *plan;

		create_columns(sample);
		plan = table->format->plan(lake_arena_of(context), table,
								   sample->relation->store,
								   sample->relation->snapshot, NULL);
		MemoryContextSwitchTo(old_context);
		share = sample_files(sample, plan);
	}
	lake_frame_pop(&frame);
	MemoryContextSwitchTo(old_context);

	*total_rows = rint(sample->seen / share);
	*dead_rows = 0;
	count = sample->count;
	ereport(elevel,
			errmsg("\"%s\": %.0f live rows read, %d rows in sample, %.0f estimated total rows",
				   RelationGetRelationName(relation), sample->seen, count,
				   *total_rows));
	MemoryContextDelete(context);
	return count;
}

bool
lakeAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func,
						BlockNumber *total_pages)
{
	LakeOpen	how = {.snapshot = GetActiveSnapshot()};
	LakeRelation *lake = lake_relation_open(RelationGetRelid(relation), &how);
	int64		size = lake->snapshot == NULL ? 0 : lake->snapshot->total_size;

	*func = acquire_sample;
	*total_pages = Min(Max(size, 0) / BLCKSZ + 1, MaxBlockNumber - 1);
	return true;
}
