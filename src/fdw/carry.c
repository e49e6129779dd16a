/*
 * Updated rows keep what was not assigned, to the bit.
 *
 * An UPDATE hands over the numbers of rows and the values of assigned columns
 * alone.  Whole rows are put together later, by source file and position: all
 * other columns, those that no foreign table declares among them, are copied as
 * vectors and never become Datums (decisions 5.1).
 *
 * Rows that wait are a batch.  It is done before a later command looks at the
 * table, or when it has grown large: its rows are added by the command that
 * updated them either way.
 */
#include "fdw/staged_int.h"

#include "access/xact.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "server/server.h"

/* rows and bytes of values that wait at most */
#define BATCH_ROWS		(1 << 20)
#define BATCH_BYTES		((Size) 32 << 20)

/* a row that waits, and which of the values are its */
typedef struct CarriedRow
{
	RowNumber	number;
	uint64		value;			/* row of the values */
} CarriedRow;

/* which columns of a table an UPDATE gives */
typedef struct CarryColumns
{
	LakeSchema	schema;			/* of the assigned fields */
	int		   *sources;		/* by field of the whole rows: the assigned
								 * one's number, -1: kept */
} CarryColumns;

/*
 * As long as the effects of its subtransaction: another one that did it may roll
 * back, and then it is done again.
 */
typedef struct CarryBatch
{
	StagedTable *table;
	MemoryContext context;		/* of all that follows */
	SubTransactionId subtransaction;	/* that updated the rows */
	bool		is_closed;		/* no row is added any more */
	bool		is_done;		/* for good: context is gone */
	CarryColumns *columns;
	RowStore   *values;
	uint64		count;
	uint64		room;
	CarriedRow *rows;
	bool	   *changed;		/* of each row, by assigned field; NULL: all */
} CarryBatch;

/* a column that only a trigger may have changed */
typedef struct WatchedColumn
{
	int			attribute;		/* index in slots */
	int			field;			/* assigned one; -1: it cannot be written */
	bool		by_value;
	int16		length;
	const char *name;
} WatchedColumn;

struct Carry
{
	StagedTable *table;
	const LakeSchema *schema;	/* of whole rows */
	CarryColumns *columns;
	RowWriter  *writer;
	int			watched_count;	/* 0: no trigger */
	WatchedColumn *watched;
	CarryBatch *batch;			/* NULL: none yet */
};

/* ---- doing a batch ---- */

/* what is read and written while a batch is done */
typedef struct CarryRun
{
	CarryBatch *batch;
	const LakeSchema *schema;
	LakeArena  *arena;
	TaskReader *reader;
	const LakeVector **kept;	/* by field, of the reader's batch */
	/* values [first_value, end_value) */
	uint64		first_value;
	uint64		end_value;
	const LakeVector *const *given;
	RowStore   *whole;			/* rows that come from memory pass here */
} CarryRun;

static int
compare_rows(const void *a, const void *b)
{
	const CarriedRow *left = a;
	const CarriedRow *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

static void
load_values(CarryRun *run, uint64 value)
{
	if (value >= run->first_value && value < run->end_value)
		return;
	run->first_value = value;
	run->end_value = value + row_store_batch(run->batch->values, value,
											 &run->given);
}

static bool
is_given(const CarryBatch *batch, const CarriedRow *row, int source)
{
	return source >= 0 &&
		(batch->changed == NULL ||
		 batch->changed[row->value * batch->columns->schema.field_count +
						source]);
}

static void
put_row(CarryRun *run, RowStore *out, const CarriedRow *row, uint32 position)
{
	CarryBatch *batch = run->batch;

	load_values(run, row->value);
	for (int i = 0; i < run->schema->field_count; i++)
	{
		VectorBuilder *builder = row_store_column(out, i);
		int			source = batch->columns->sources[i];

		if (is_given(batch, row, source))
			vector_append_copy(builder, run->given[source],
							   (uint32) (row->value - run->first_value));
		else if (run->schema->fields[i].id == LAKE_FIELD_SEQUENCE)
			vector_append_null(builder);
		else
			vector_append_copy(builder, run->kept[i], position);
	}
	row_store_end_row(out);
}

/* whole rows join the others; source and goal may be one store otherwise */
static void
move_rows(CarryRun *run)
{
	StagedTable *table = run->batch->table;
	uint64		row = 0;
	const LakeVector *const *columns;
	uint32		count;

	while ((count = row_store_batch(run->whole, row, &columns)) > 0)
	{
		for (uint32 i = 0; i < count; i++)
		{
			RowStore   *rows = staged_rows(table);

			row_store_cancel_row(rows);
			for (int j = 0; j < run->schema->field_count; j++)
				vector_append_copy(row_store_column(rows, j), columns[j], i);
			row_store_end_row(rows);
			staged_row_added(table);
		}
		row += count;
	}
	row_store_truncate(run->whole, 0);
}

/* the rows that a task has been begun for, whose first row has this number */
static void
carry_task(CarryRun *run, const CarriedRow *rows, uint64 count,
		   RowNumber first, bool in_memory)
{
	StagedTable *table = run->batch->table;
	LakeBitmap *positions = bitmap_create(run->arena);
	LakeBatch	batch;
	uint64		done = 0;

	for (uint64 i = 0; i < count; i++)
		bitmap_add(positions, rows[i].number - first);
	task_reader_select(run->reader, positions);
	while (task_reader_next(run->reader, &batch))
	{
		for (int i = 0; i < run->schema->field_count; i++)
			run->kept[i] = task_reader_column(run->reader, i);
		for (uint32 i = 0; i < batch.selected_count; i++)
		{
			uint32		position = batch.selection[i];
			RowStore   *out = in_memory ? run->whole : staged_rows(table);

			if (done >= count || rows[done].number !=
				first + (uint64) batch.first_position + position)
				elog(ERROR, "a row to be updated is not where it was");
			row_store_cancel_row(out);
			put_row(run, out, &rows[done++], position);
			if (!in_memory)
				staged_row_added(table);
		}
		if (in_memory)
			move_rows(run);
	}
	if (done < count)
		elog(ERROR, "%llu rows to be updated are not where they were",
			 (unsigned long long) (count - done));
}

/* how many of the rows are of the same file, or in memory */
static uint64
count_neighbours(const CarryBatch *batch, uint64 first,
				 const StagedFile *file)
{
	uint64		end = first + 1;
	RowNumber	stop = file == NULL ? PG_UINT64_MAX :
		file->first + file->row_count;

	while (end < batch->count && batch->rows[end].number < stop)
		end++;
	return end - first;
}

static void
begin_run(CarryRun *run, CarryBatch *batch)
{
	StagedTable *table = batch->table;
	const LakeField **fields;
	int			count;

	memset(run, 0, sizeof *run);
	run->batch = batch;
	run->arena = lake_arena_create(lake_arena_of(batch->context),
								   "lake carry");
	run->schema = row_store_schema(staged_rows(table));
	count = run->schema->field_count;
	fields = lake_alloc_array(run->arena, count + 1, sizeof *fields);
	for (int i = 0; i < count; i++)
		fields[i] = &run->schema->fields[i];
	run->kept = lake_alloc_array(run->arena, count + 1, sizeof *run->kept);
	run->reader = scan_rewriter_create(run->arena, table->relation, fields,
									   count);
	run->whole = row_store_create(run->arena, run->schema);
}

static void
do_batch(CarryBatch *batch)
{
	CarryRun	run;
	uint64		row = 0;

	begin_run(&run, batch);
	qsort(batch->rows, batch->count, sizeof *batch->rows, compare_rows);
	while (row < batch->count)
	{
		const StagedFile *file = staged_file_of(batch->table,
												batch->rows[row].number);
		uint64		count = count_neighbours(batch, row, file);

		if (file == NULL)
			task_reader_begin_rows(run.reader, staged_rows(batch->table),
								   batch->rows[row].number - STAGED_FIRST_ROW,
								   batch->rows[row + count - 1].number -
								   STAGED_FIRST_ROW + 1);
		else
			task_reader_begin(run.reader, &file->task);
		carry_task(&run, batch->rows + row, count,
				   file == NULL ? STAGED_FIRST_ROW : file->first,
				   file == NULL);
		row += count;
	}
	lake_arena_destroy(run.arena);
}

/* staged_defer's */
static void
run_batch(void *arg)
{
	CarryBatch *batch = arg;
	LakeFrame	frame;

	if (batch->is_done)
		return;
	batch->is_closed = true;
	lake_frame_push(&frame, "carrying over updated rows of",
					batch->table->relation->name);
	do_batch(batch);
	lake_frame_pop(&frame);
	/* another subtransaction could still take it back alone */
	if (GetCurrentSubTransactionId() != batch->subtransaction &&
		GetCurrentTransactionNestLevel() > 1)
		return;
	batch->is_done = true;
	MemoryContextDelete(batch->context);
}

/* ---- filling it ---- */

static CarryColumns *
copy_columns(const CarryColumns *from, int field_count)
{
	CarryColumns *columns = palloc(sizeof *columns);
	size_t		size = sizeof(LakeField) * (from->schema.field_count + 1);

	*columns = *from;
	columns->schema.fields = memcpy(palloc(size), from->schema.fields, size);
	size = sizeof(int) * (field_count + 1);
	columns->sources = memcpy(palloc(size), from->sources, size);
	return columns;
}

static CarryBatch *
begin_batch(Carry *carry)
{
	MemoryContext caller = MemoryContextSwitchTo(CurTransactionContext);
	CarryBatch *batch = palloc0(sizeof *batch);

	batch->table = carry->table;
	batch->subtransaction = GetCurrentSubTransactionId();
	batch->context = AllocSetContextCreate(CurTransactionContext,
										   "lake updates",
										   ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(batch->context);
	batch->columns = copy_columns(carry->columns, carry->schema->field_count);
	batch->values = row_store_create(lake_arena_of(batch->context),
									 &batch->columns->schema);
	MemoryContextSwitchTo(caller);
	staged_defer(carry->table, run_batch, batch);
	return batch;
}

static void
grow(CarryBatch *batch, bool has_flags)
{
	uint64		room = Max(batch->room * 2, 64);
	Size		flags = room * batch->columns->schema.field_count;

	if (batch->room == 0)
	{
		batch->rows = MemoryContextAllocHuge(batch->context,
											 room * sizeof *batch->rows);
		if (has_flags)
			batch->changed = MemoryContextAllocHuge(batch->context, flags);
	}
	else
	{
		batch->rows = repalloc_huge(batch->rows, room * sizeof *batch->rows);
		if (has_flags)
			batch->changed = repalloc_huge(batch->changed, flags);
	}
	batch->room = room;
}

/* does a column of the new row differ from the old one's? */
static bool
has_changed(const WatchedColumn *column, const TupleTableSlot *slot,
			const TupleTableSlot *old_slot)
{
	int			i = column->attribute;

	if (slot->tts_isnull[i] || old_slot->tts_isnull[i])
		return slot->tts_isnull[i] != old_slot->tts_isnull[i];
	return !datum_image_eq(slot->tts_values[i], old_slot->tts_values[i],
						   column->by_value, column->length);
}

static void
mark_changes(const Carry *carry, TupleTableSlot *slot,
			 TupleTableSlot *old_slot, bool *changed)
{
	slot_getallattrs(slot);
	slot_getallattrs(old_slot);
	memset(changed, true, carry->columns->schema.field_count);
	for (int i = 0; i < carry->watched_count; i++)
	{
		const WatchedColumn *column = &carry->watched[i];
		bool		differs = has_changed(column, slot, old_slot);

		if (column->field >= 0)
			changed[column->field] = differs;
		else if (differs)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot write to column \"%s\", which a trigger has changed",
							column->name)));
	}
}

void
carry_add(Carry *carry, RowNumber number, TupleTableSlot *slot,
		  TupleTableSlot *old_slot)
{
	CarryBatch *batch = carry->batch;

	if (batch == NULL || batch->is_closed)
		batch = carry->batch = begin_batch(carry);
	if (batch->count == batch->room)
		grow(batch, carry->watched_count > 0);
	if (carry->watched_count > 0)
		mark_changes(carry, slot, old_slot, batch->changed +
					 batch->count * carry->columns->schema.field_count);
	row_writer_append(carry->writer, batch->values, slot);
	batch->rows[batch->count].number = number;
	batch->rows[batch->count].value = batch->count;
	batch->count++;
	if (batch->count >= BATCH_ROWS ||
		row_store_size(batch->values) >= BATCH_BYTES)
		run_batch(batch);
}

/* ---- creation ---- */

static int
field_index(const LakeSchema *schema, int32 id)
{
	for (int i = 0; i < schema->field_count; i++)
	{
		if (schema->fields[i].id == id)
			return i;
	}
	return -1;
}

/* may a trigger change the column? */
static bool
can_change(const Carry *carry, const LakeColumn *column)
{
	return column->field->id <= LAKE_MAX_USER_FIELD_ID &&
		field_index(carry->schema, column->field->id) >= 0 &&
		typemap_is_writable(column->field->type, column->type_oid,
							column->typmod);
}

static CarryColumns *
choose_columns(const Carry *carry, const LakeRelation *relation,
			   const Bitmapset *attnums)
{
	CarryColumns *columns = palloc0(sizeof *columns);
	int			count = carry->schema->field_count;

	columns->sources = palloc(sizeof(int) * (count + 1));
	columns->schema.fields = palloc0(sizeof(LakeField) * (count + 1));
	for (int i = 0; i < count; i++)
		columns->sources[i] = -1;
	for (int i = 0; i < relation->column_count; i++)
	{
		const LakeColumn *column = &relation->columns[i];
		int			field;

		if (column->field == NULL ||
			!bms_is_member(column->attnum, attnums))
			continue;
		field = field_index(carry->schema, column->field->id);
		/* the row writer says what is wrong with others */
		if (field < 0 || columns->sources[field] >= 0)
			continue;
		columns->sources[field] = columns->schema.field_count;
		columns->schema.fields[columns->schema.field_count++] =
			carry->schema->fields[field];
	}
	return columns;
}

static void
watch_columns(Carry *carry, const LakeRelation *relation,
			  const Bitmapset *assigned)
{
	carry->watched = palloc0(sizeof *carry->watched *
							 (relation->column_count + 1));
	for (int i = 0; i < relation->column_count; i++)
	{
		const LakeColumn *column = &relation->columns[i];
		WatchedColumn *watched = &carry->watched[carry->watched_count];

		if (column->field == NULL || bms_is_member(column->attnum, assigned))
			continue;
		watched->attribute = i;
		watched->name = column->name;
		watched->field = can_change(carry, column) ?
			carry->columns->sources[field_index(carry->schema,
												column->field->id)] : -1;
		get_typlenbyval(column->type_oid, &watched->length,
						&watched->by_value);
		carry->watched_count++;
	}
}

Carry *
carry_create(StagedTable *table, const LakeRelation *relation,
			 const Bitmapset *assigned, bool has_trigger)
{
	Carry	   *carry = palloc0(sizeof *carry);
	Bitmapset  *attnums = bms_copy(assigned);

	carry->table = table;
	carry->schema = row_store_schema(staged_rows(table));
	for (int i = 0; has_trigger && i < relation->column_count; i++)
	{
		const LakeColumn *column = &relation->columns[i];

		if (column->field != NULL && can_change(carry, column))
			attnums = bms_add_member(attnums, column->attnum);
	}
	carry->columns = choose_columns(carry, relation, attnums);
	carry->writer = row_writer_create(CurrentMemoryContext, relation,
									  &carry->columns->schema, attnums);
	if (has_trigger)
		watch_columns(carry, relation, assigned);
	return carry;
}
