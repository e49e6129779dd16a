/*
 * Tasks to batches.
 *
 * A batch is some consecutive rows of a row group, out of those ranges that may
 * satisfy the predicate.  Deletes mark rows by their
 * physical position and by their keys, the predicate narrows what is left, and
 * only then are other columns decoded, each when it is asked for.  A column
 * that a batch did not need stays behind and skips the rows when it is needed
 * again, so pages without a selected row are never decompressed.
 *
 * Positions count all rows of the file, skipped ones included.
 *
 * Iceberg spec, "Column Projection", "Scan Planning", "Row Lineage".
 */
#include "table/task_reader.h"

#include <string.h>

#include "table/deletes.h"
#include "table/table_int.h"

/* a set of delete keys and where its parts come from */
typedef struct ReaderKeys
{
	const TaskKeys *keys;
	int		   *columns;		/* of each part */
	LakeVector *parts;
	uint8_t   **nulls;
} ReaderKeys;

struct TaskReader
{
	LakeArena  *arena;
	TaskReaderOptions options;
	TaskReaderCounters counters;
	DeleteCache *cache;
	PredicateEvaluator *evaluator;	/* NULL: no predicate */
	RowGroupFilter *filter;		/* NULL: no predicate */
	/* the asked columns, then those that only the predicate needs */
	int			fixed_count;
	const LakeField **fixed;

	/* of the current task */
	LakeArena  *task_arena;
	const ScanTask *task;		/* NULL: none */
	FileSchema *schema;
	int			column_count;	/* fixed ones, then those of delete keys */
	ReaderColumn *columns;
	ParquetReader *parquet;		/* NULL: no stored column is needed */
	uint64_t	pages_before;	/* skipped in former tasks */
	TaskDeletes deletes;
	ReaderKeys *keys;			/* deletes.key_count */
	const LakeBitmap *more_deletes; /* task_reader_delete's; NULL: none */
	const LakeBitmap *wanted;	/* task_reader_select's; NULL: all rows */
	/* rows in memory, instead of a file; NULL: it is one */
	RowStore   *rows;
	uint64_t	rows_from;
	uint64_t	rows_next;		/* where the next piece begins */
	uint64_t	rows_to;

	/* of the current row group */
	int			next_row_group;
	int			end_row_group;
	int			row_group;
	int64_t		group_first;	/* position of its first row */
	int			range_count;	/* of rows to be read, after the current one */
	const ParquetRows *ranges;
	int64_t		next_row;		/* in the row group, of the current range */
	int64_t		range_end;
	bool		group_is_read;	/* some column of it was decoded */

	/* of the current batch */
	int64_t		batch_start;	/* in the row group */
	uint32_t	batch_rows;
	uint32_t	identity[BATCH_MAX_ROWS];
	uint32_t	selection[BATCH_MAX_ROWS];
	uint8_t		mask[BATCH_MAX_ROWS];	/* 1 = deleted */
	uint8_t		no_values[BATCH_MAX_ROWS];	/* NULLs of memory_column() */
};

static const LakeVector *load_for_predicate(void *arg, int32_t field_id);

/* ---- creation ---- */

static bool
has_fixed(const TaskReader *reader, int32_t id)
{
	for (int i = 0; i < reader->fixed_count; i++)
		if (reader->fixed[i]->id == id)
			return true;
	return false;
}

/* the field of a leaf: the schema's, or a reserved one's */
static const LakeField *
leaf_field(TaskReader *reader, const Predicate *leaf)
{
	const LakeSchema *schema = reader->options.schema;
	LakeField  *field;

	for (int i = 0; i < schema->field_count; i++)
		if (schema->fields[i].id == leaf->field_id)
			return &schema->fields[i];
	field = lake_alloc(reader->arena, sizeof(LakeField));
	field->id = leaf->field_id;
	field->name = lake_printf(reader->arena, "field %d", (int) field->id);
	field->type = leaf->type;
	return field;
}

static void
add_predicate_columns(TaskReader *reader, const Predicate *predicate)
{
	for (int i = 0; i < predicate->child_count; i++)
		add_predicate_columns(reader, predicate->children[i]);
	if (predicate->op >= PREDICATE_IS_NULL &&
		!has_fixed(reader, predicate->field_id))
		reader->fixed[reader->fixed_count++] = leaf_field(reader, predicate);
}

TaskReader *
task_reader_create(LakeArena *arena, const TaskReaderOptions *options)
{
	TaskReader *reader = lake_alloc(arena, sizeof(TaskReader));
	int			leaves = options->predicate == NULL ? 0 :
		predicate_leaf_count(options->predicate);

	reader->arena = arena;
	reader->options = *options;
	reader->task_arena = lake_arena_create(arena, "scan task");
	reader->cache = options->deletes != NULL ? options->deletes :
		delete_cache_create(arena, &reader->options);
	reader->fixed_count = options->column_count;
	reader->fixed = lake_alloc_array(arena,
									 (size_t) options->column_count +
									 (size_t) leaves, sizeof(LakeField *));
	for (int i = 0; i < options->column_count; i++)
		reader->fixed[i] = options->columns[i];
	if (options->predicate != NULL)
	{
		add_predicate_columns(reader, options->predicate);
		reader->evaluator = predicate_evaluator_create(arena,
													   options->predicate,
													   load_for_predicate,
													   reader);
		reader->filter = row_group_filter_create(arena, options->predicate,
												 reader->fixed);
	}
	for (uint32_t i = 0; i < BATCH_MAX_ROWS; i++)
		reader->identity[i] = i;
	return reader;
}

/* ---- columns of a task ---- */

static void
begin_column(TaskReader *reader, ReaderColumn *column)
{
	reader_column_begin(column, reader->task_arena, reader->schema,
						reader->task, reader->options.truncate_nanoseconds);
}

static bool
is_same_type(const LakeType *a, const LakeType *b)
{
	return a->kind == b->kind && a->precision == b->precision &&
		a->scale == b->scale && a->length == b->length;
}

/* the number of the column that a key is read from, maybe a new one */
static int
key_column(TaskReader *reader, const KeyPart *part)
{
	ReaderColumn *column;

	if (part->depth == 0)
		for (int i = 0; i < reader->column_count; i++)
			if (reader->columns[i].field->id == part->field_id &&
				is_same_type(reader->columns[i].field->type,
							 part->column->type))
				return i;
	column = &reader->columns[reader->column_count];
	column->field = part->column;
	begin_column(reader, column);
	return reader->column_count++;
}

static void
begin_keys(TaskReader *reader, ReaderKeys *keys, const TaskKeys *task_keys)
{
	LakeArena  *arena = reader->task_arena;
	size_t		count = (size_t) task_keys->part_count;

	keys->keys = task_keys;
	keys->columns = lake_alloc_array(arena, count, sizeof(int));
	keys->parts = lake_alloc_array(arena, count, sizeof(LakeVector));
	keys->nulls = lake_alloc_array(arena, count, sizeof(uint8_t *));
	for (size_t i = 0; i < count; i++)
	{
		keys->columns[i] = key_column(reader, &task_keys->parts[i]);
		if (task_keys->parts[i].depth > 0)
			keys->nulls[i] = lake_alloc(arena, BATCH_MAX_ROWS);
	}
}

static void
begin_columns(TaskReader *reader)
{
	LakeArena  *arena = reader->task_arena;
	size_t		capacity = (size_t) reader->fixed_count;

	for (int i = 0; i < reader->deletes.key_count; i++)
		capacity += (size_t) reader->deletes.keys[i].part_count;
	reader->columns = lake_alloc_array(arena, capacity, sizeof(ReaderColumn));
	reader->column_count = reader->fixed_count;
	for (int i = 0; i < reader->fixed_count; i++)
	{
		reader->columns[i].field = reader->fixed[i];
		begin_column(reader, &reader->columns[i]);
	}
	reader->keys = lake_alloc_array(arena, (size_t) reader->deletes.key_count,
									sizeof(ReaderKeys));
	for (int i = 0; i < reader->deletes.key_count; i++)
		begin_keys(reader, &reader->keys[i], &reader->deletes.keys[i]);
}

/* a Parquet reader for the columns that the file has */
static void
begin_parquet(TaskReader *reader)
{
	const ParquetField **fields = lake_alloc_array(reader->task_arena,
												   (size_t) reader->column_count,
												   sizeof(ParquetField *));
	int			count = 0;

	for (int i = 0; i < reader->column_count; i++)
	{
		ReaderColumn *column = &reader->columns[i];

		column->parquet_column = -1;
		if (column->map.source == NULL)
			continue;
		fields[count] = column->map.source;
		column->parquet_column = count++;
	}
	if (count > 0)
		reader->parquet = parquet_reader_create(reader->task_arena,
												reader->schema->parquet,
												fields, count);
}

static void
count_pages(TaskReader *reader)
{
	if (reader->parquet != NULL)
		reader->counters.pages_skipped = reader->pages_before +
			parquet_reader_counters(reader->parquet)->pages_skipped;
}

static void
end_task(TaskReader *reader)
{
	if (reader->parquet != NULL)
		parquet_reader_end(reader->parquet);
	count_pages(reader);
	reader->pages_before = reader->counters.pages_skipped;
	reader->parquet = NULL;
	reader->task = NULL;
	reader->schema = NULL;
	reader->columns = NULL;
	reader->more_deletes = NULL;
	reader->wanted = NULL;
	reader->rows = NULL;
	memset(&reader->deletes, 0, sizeof reader->deletes);
	lake_arena_reset(reader->task_arena);
}

/* the row groups that begin in a range are neighbours, see their offsets */
static void
begin_row_groups(TaskReader *reader, int64_t from, int64_t to)
{
	const ParquetFile *parquet = reader->schema->parquet;
	int			count = parquet_file_row_groups(parquet);
	int			first = 0;
	int			end;

	while (first < count && parquet_row_group_offset(parquet, first) < from)
		first++;
	end = first;
	while (end < count && parquet_row_group_offset(parquet, end) < to)
		end++;
	reader->next_row_group = first;
	reader->end_row_group = end;
	reader->range_count = 0;
	reader->next_row = reader->range_end = 0;
	reader->counters.row_groups_total += (uint64_t) (end - first);
}

void
task_reader_begin(TaskReader *reader, const ScanTask *task)
{
	task_reader_begin_range(reader, task, 0, INT64_MAX);
}

void
task_reader_begin_range(TaskReader *reader, const ScanTask *task,
						int64_t from, int64_t to)
{
	LakeFrame	frame;

	end_task(reader);
	lake_frame_push(&frame, "reading data file", task->path);
	reader->schema = file_schema_open(reader->task_arena,
									  reader->options.store, task->path,
									  "data file",
									  reader->options.name_mapping,
									  reader->options.keep_footers);
	reader->task = task;
	delete_cache_load(reader->cache, reader->task_arena, task,
					  &reader->deletes);
	begin_columns(reader);
	begin_parquet(reader);
	if (reader->filter != NULL)
		row_group_filter_begin(reader->filter, reader->schema,
							   reader->columns);
	begin_row_groups(reader, from, to);
	lake_frame_pop(&frame);
}

void
task_reader_delete(TaskReader *reader, const LakeBitmap *positions)
{
	reader->more_deletes = positions;
}

void
task_reader_select(TaskReader *reader, const LakeBitmap *positions)
{
	reader->wanted = positions;
}

const LakeBitmap *
task_reader_positions(const TaskReader *reader)
{
	return reader->deletes.positions;
}

/* ---- rows in memory ---- */

/* what names them in messages */
static const ScanTask memory_task = {
	.path = "rows of this transaction",
	.record_count = -1,
	.first_row_id = -1
};

void
task_reader_begin_rows(TaskReader *reader, RowStore *rows, uint64_t from,
					   uint64_t to)
{
	end_task(reader);
	reader->task = &memory_task;
	reader->rows = rows;
	reader->rows_from = from;
	reader->rows_next = from - from % BATCH_MAX_ROWS;
	reader->rows_to = to;
	reader->group_first = 0;
	reader->columns = lake_alloc_array(reader->task_arena,
									   (size_t) reader->fixed_count,
									   sizeof(ReaderColumn));
	reader->column_count = reader->fixed_count;
	for (int i = 0; i < reader->fixed_count; i++)
		reader->columns[i].field = reader->fixed[i];
}

/* a column that rows in memory do not have: positions, or nothing */
static const LakeVector *
memory_column(TaskReader *reader, ReaderColumn *column)
{
	uint32_t	count = reader->batch_rows;
	LakeVector *vector = &column->synthesised;
	bool		is_position = column->field->id == LAKE_FIELD_POS;

	if (column->numbers == NULL)
		column->numbers = lake_alloc_array(reader->task_arena,
										   BATCH_MAX_ROWS * 2,
										   sizeof(int64_t));
	memset(vector, 0, sizeof *vector);
	vector->count = count;
	vector->layout = lake_type_layout(column->field->type);
	vector->values = column->numbers;
	if (!is_position)
	{
		memset(reader->no_values, 1, count);
		vector->nulls = reader->no_values;
	}
	for (uint32_t i = 0; is_position && i < count; i++)
		column->numbers[i] = reader->batch_start + i;
	return vector;
}

static void
load_memory(TaskReader *reader, const LakeVector *const *columns)
{
	const LakeSchema *schema = row_store_schema(reader->rows);

	for (int i = 0; i < reader->column_count; i++)
	{
		ReaderColumn *column = &reader->columns[i];

		column->vector = NULL;
		for (int j = 0; j < schema->field_count; j++)
		{
			if (schema->fields[j].id == column->field->id)
				column->vector = columns[j];
		}
		if (column->vector == NULL)
			column->vector = memory_column(reader, column);
	}
}

/* the rows of the next piece that are asked for; 0 at the end */
static bool
next_memory(TaskReader *reader)
{
	const LakeVector *const *columns;
	uint64_t	end;

	if (reader->rows_next >= reader->rows_to)
		return false;
	reader->batch_start = (int64_t) reader->rows_next;
	reader->batch_rows = row_store_batch(reader->rows, reader->rows_next,
										 &columns);
	if (reader->batch_rows == 0)
		return false;
	end = reader->rows_next + reader->batch_rows;
	if (end > reader->rows_to)
		reader->batch_rows = (uint32_t) (reader->rows_to - reader->rows_next);
	reader->rows_next = end;
	load_memory(reader, columns);
	return true;
}

/* ---- row groups ---- */

static ReaderColumn *
find_column(TaskReader *reader, int32_t field_id)
{
	for (int i = 0; i < reader->fixed_count; i++)
		if (reader->columns[i].field->id == field_id)
			return &reader->columns[i];
	lake_throw(LAKE_ERROR_INTERNAL, "predicate on the unknown field %d",
			   (int) field_id);
}

/* are there rows that may satisfy the predicate?  Sets the ranges of them. */
static bool
filter_row_group(TaskReader *reader)
{
	TaskReaderCounters *counters = &reader->counters;

	reader->ranges = NULL;
	reader->range_count = 0;
	if (reader->filter == NULL)
		return true;
	switch (row_group_filter_apply(reader->filter, reader->row_group,
								   &reader->ranges, &reader->range_count))
	{
		case ROW_GROUP_WANTED:
			return true;
		case ROW_GROUP_SKIPPED_BY_BLOOM:
			counters->row_groups_skipped_by_bloom++;
			break;
		case ROW_GROUP_SKIPPED:
			break;
	}
	counters->row_groups_skipped++;
	return false;
}

static void
begin_row_group(TaskReader *reader, int64_t rows)
{
	reader->next_row = 0;
	reader->range_end = reader->range_count == 0 ? rows : 0;
	if (reader->parquet != NULL)
		parquet_reader_begin_rows(reader->parquet, reader->row_group,
								  reader->ranges, reader->range_count);
}

/* moves to the next row group that may have rows; false at the file's end */
static bool
next_row_group(TaskReader *reader)
{
	const ParquetFile *parquet = reader->schema->parquet;

	while (reader->next_row_group < reader->end_row_group)
	{
		int64_t		rows;

		lake_check_interrupts();
		reader->row_group = reader->next_row_group++;
		reader->group_first = parquet_row_group_first_row(parquet,
														  reader->row_group);
		reader->group_is_read = false;
		rows = parquet_row_group_rows(parquet, reader->row_group);
		if (rows <= 0 || !filter_row_group(reader))
			continue;
		begin_row_group(reader, rows);
		return true;
	}
	return false;
}

/* moves to the next rows, if those of the current range were given */
static bool
next_rows(TaskReader *reader)
{
	while (reader->next_row == reader->range_end)
	{
		if (reader->range_count > 0)
		{
			reader->next_row = reader->ranges->first;
			reader->range_end = reader->ranges->end;
			reader->ranges++;
			reader->range_count--;
		}
		else if (!next_row_group(reader))
			return false;
	}
	return true;
}

/* ---- batches ---- */

static const LakeVector *
load_column(TaskReader *reader, ReaderColumn *column)
{
	if (column->vector == NULL)
	{
		if (!reader->group_is_read)
			reader->counters.row_groups_read++;
		reader->group_is_read = true;
		reader_column_load(column, reader->parquet, reader->group_first,
						   reader->batch_start, reader->batch_rows);
	}
	return column->vector;
}

static const LakeVector *
load_for_predicate(void *arg, int32_t field_id)
{
	TaskReader *reader = arg;

	return load_column(reader, find_column(reader, field_id));
}

static void
mark_keys(TaskReader *reader, ReaderKeys *keys)
{
	const TaskKeys *task_keys = keys->keys;

	for (int i = 0; i < task_keys->part_count; i++)
	{
		const LakeVector *column = load_column(reader,
											   &reader->columns[keys->columns[i]]);

		key_part_vector(&task_keys->parts[i], column, keys->nulls[i],
						&keys->parts[i]);
	}
	key_probe_mark(task_keys->probe, keys->parts, reader->batch_rows,
				   reader->mask);
}

/* marks what a caller asks for besides the task's own deletes */
static void
mark_callers(TaskReader *reader)
{
	uint32_t	count = reader->batch_rows;
	uint64_t	first = (uint64_t) (reader->group_first +
									reader->batch_start);

	if (reader->wanted != NULL)
	{
		uint32_t	found = bitmap_mark(reader->wanted, first, count,
										reader->mask);

		for (uint32_t i = 0; i < count; i++)
			reader->mask[i] = found == 0 || reader->mask[i] == 0;
	}
	if (reader->more_deletes != NULL)
		bitmap_mark(reader->more_deletes, first, count, reader->mask);
	if (reader->rows != NULL && first < reader->rows_from)
		memset(reader->mask, 1, (size_t) (reader->rows_from - first));
}

/* fills the selection with the rows that no delete removes */
static uint32_t
apply_deletes(TaskReader *reader)
{
	uint32_t	count = reader->batch_rows;
	uint32_t	marked = 0;
	uint32_t	left = 0;

	memset(reader->mask, 0, count);
	mark_callers(reader);
	if (reader->deletes.positions != NULL)
		marked = bitmap_mark(reader->deletes.positions, (uint64_t)
							 (reader->group_first + reader->batch_start),
							 count, reader->mask);
	if (marked < count)
		for (int i = 0; i < reader->deletes.key_count; i++)
			mark_keys(reader, &reader->keys[i]);
	for (uint32_t i = 0; i < count; i++)
	{
		reader->selection[left] = i;
		left += reader->mask[i] == 0;
	}
	reader->counters.rows_deleted += count - left;
	return left;
}

static uint32_t
select_rows(TaskReader *reader, const uint32_t **selection)
{
	uint32_t	count = reader->batch_rows;
	bool		has_deletes = reader->deletes.positions != NULL ||
		reader->deletes.key_count > 0 || reader->more_deletes != NULL ||
		reader->wanted != NULL ||
		(reader->rows != NULL &&
	 (uint64_t) reader->batch_start < reader->rows_from);

	*selection = reader->identity;
	if (has_deletes)
	{
		count = apply_deletes(reader);
		*selection = reader->selection;
	}
	if (reader->evaluator != NULL && count > 0)
	{
		uint32_t	before = count;

		if (!has_deletes)
			memcpy(reader->selection, reader->identity,
				   count * sizeof(uint32_t));
		count = predicate_evaluate(reader->evaluator, reader->selection,
								   count);
		reader->counters.rows_filtered += before - count;
		*selection = reader->selection;
	}
	return count;
}

static void
begin_batch(TaskReader *reader)
{
	int64_t		left = reader->range_end - reader->next_row;

	reader->batch_start = reader->next_row;
	reader->batch_rows = left < BATCH_MAX_ROWS ? (uint32_t) left :
		BATCH_MAX_ROWS;
	reader->next_row += reader->batch_rows;
	for (int i = 0; i < reader->column_count; i++)
		reader->columns[i].vector = NULL;
}

static bool
next_batch(TaskReader *reader, LakeBatch *batch)
{
	do
	{
		lake_check_interrupts();
		if (reader->rows != NULL)
		{
			if (!next_memory(reader))
				return false;
		}
		else if (!next_rows(reader))
			return false;
		else
			begin_batch(reader);
		batch->selected_count = select_rows(reader, &batch->selection);
	} while (batch->selected_count == 0);
	batch->row_count = reader->batch_rows;
	batch->first_position = reader->group_first + reader->batch_start;
	return true;
}

bool
task_reader_next(TaskReader *reader, LakeBatch *batch)
{
	LakeFrame	frame;
	bool		found;

	if (reader->task == NULL)
		return false;
	lake_frame_push(&frame, "reading data file", reader->task->path);
	found = next_batch(reader, batch);
	count_pages(reader);
	lake_frame_pop(&frame);
	if (!found)
		end_task(reader);
	return found;
}

const LakeVector *
task_reader_column(TaskReader *reader, int column)
{
	ReaderColumn *wanted = &reader->columns[column];
	const LakeVector *vector;
	LakeFrame	frame;

	if (wanted->vector != NULL)
		return wanted->vector;
	lake_frame_push(&frame, "reading data file", reader->task->path);
	vector = load_column(reader, wanted);
	lake_frame_pop(&frame);
	return vector;
}

const TaskReaderCounters *
task_reader_counters(const TaskReader *reader)
{
	return &reader->counters;
}
