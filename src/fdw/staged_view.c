/*
 * What a scan sees of a table's log: the prefix that earlier commands left.
 *
 * A view is immutable and may outlive later operations (a cursor's does), so it
 * has bitmaps of its own.  The newest one is kept, since a loop of statements
 * that only reads asks for the same prefix again and again.
 */
#include "fdw/staged_int.h"

typedef struct ViewDeletes
{
	const RegisteredFile *file;
	LakeBitmap *positions;
} ViewDeletes;

typedef struct BuiltView
{
	StagedView	view;			/* first: the two are cast to each other */
	MemoryContext context;
	StagedExtent extent;
	int			delete_count;
	int			delete_room;
	ViewDeletes *deletes;		/* sorted by path when complete */
} BuiltView;

/* counts a user of rows in memory, for as long as a context lives */
typedef struct ViewHold
{
	StagedTable *table;
	uint64		transaction;	/* that the table is of */
	MemoryContextCallback callback;
} ViewHold;

static void
release_view(void *arg)
{
	const ViewHold *hold = arg;

	/* whatever outlives the transaction finds no table */
	if (hold->transaction == staged_transaction)
		hold->table->active_views--;
}

static void
hold_view(StagedTable *table)
{
	ViewHold   *hold = palloc(sizeof *hold);

	hold->table = table;
	hold->transaction = staged_transaction;
	hold->callback.func = release_view;
	hold->callback.arg = hold;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &hold->callback);
	table->active_views++;
}

/* the log's extent before a command; false: there was nothing */
static bool
extent_before(const StagedTable *table, CommandId curcid,
			  StagedExtent *extent)
{
	int			low = 0;
	int			high = table->mark_count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (table->marks[middle].cid < curcid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*extent = low == table->mark_count ? table->extent :
		table->marks[low - 1].end;
	return true;
}

static LakeBitmap *
deletes_of(BuiltView *built, const RegisteredFile *file)
{
	LakeArena  *arena = lake_arena_of(built->context);

	for (int i = built->delete_count - 1; i >= 0; i--)
	{
		if (built->deletes[i].file == file)
			return built->deletes[i].positions;
	}
	if (built->delete_count >= built->delete_room)
	{
		int			room = Max(built->delete_room * 2, 16);
		ViewDeletes *grown = MemoryContextAlloc(built->context,
												room * sizeof *grown);

		if (built->delete_count > 0)
			memcpy(grown, built->deletes,
				   built->delete_count * sizeof *grown);
		built->deletes = grown;
		built->delete_room = room;
	}
	built->deletes[built->delete_count].file = file;
	built->deletes[built->delete_count].positions = bitmap_create(arena);
	return built->deletes[built->delete_count++].positions;
}

static int
compare_paths(const void *a, const void *b)
{
	const ViewDeletes *left = a;
	const ViewDeletes *right = b;

	return strcmp(left->file->file.task.path, right->file->file.task.path);
}

static int
compare_numbers(const void *a, const void *b)
{
	RowNumber	left = *(const RowNumber *) a;
	RowNumber	right = *(const RowNumber *) b;

	return left < right ? -1 : left > right;
}

static void
add_whole(BuiltView *built, const StagedTable *table, RowNumber first)
{
	const StagedFile *file = staged_file_of(table, first);
	LakeBitmap *positions = deletes_of(built, (const RegisteredFile *) file);

	for (uint64 i = 0; i < file->row_count; i++)
		bitmap_add(positions, i);
}

/* sorted, so that the deletes of a file follow each other */
static void
add_deletes(BuiltView *built, const StagedTable *table)
{
	uint64		count = built->extent.deletes;
	RowNumber  *numbers;
	LakeBitmap *positions = NULL;
	const StagedFile *file = NULL;

	if (count == 0)
		return;
	numbers = MemoryContextAllocHuge(CurrentMemoryContext,
									 count * sizeof *numbers);
	memcpy(numbers, table->deletes, count * sizeof *numbers);
	qsort(numbers, count, sizeof *numbers, compare_numbers);
	for (uint64 i = 0; i < count; i++)
	{
		RowNumber	number = numbers[i];

		if ((number & STAGED_WHOLE_FILE) != 0)
		{
			add_whole(built, table, number & ~STAGED_WHOLE_FILE);
			continue;
		}
		if (number >= STAGED_FIRST_ROW)
		{
			if (built->view.deleted_rows == NULL)
				built->view.deleted_rows = positions =
					bitmap_create(lake_arena_of(built->context));
			file = NULL;
			bitmap_add(positions, number - STAGED_FIRST_ROW);
			continue;
		}
		if (file == NULL || number - file->first >= file->row_count)
		{
			file = staged_file_of(table, number);
			positions = deletes_of(built, (const RegisteredFile *) file);
		}
		bitmap_add(positions, number - file->first);
	}
	pfree(numbers);
	qsort(built->deletes, built->delete_count, sizeof *built->deletes,
		  compare_paths);
}

static const BuiltView *
build_view(StagedTable *table, const StagedExtent *extent)
{
	MemoryContext context = AllocSetContextCreate(table->context,
												  "lake staged view",
												  ALLOCSET_SMALL_SIZES);
	BuiltView  *built = MemoryContextAllocZero(context, sizeof *built);
	const StagedFile **files;
	int			first = extent->is_truncated ? extent->truncated_files : 0;

	built->context = context;
	built->extent = *extent;
	built->view.hides_base = extent->is_truncated;
	built->view.first_row = extent->is_truncated ?
		extent->truncated_rows : 0;
	built->view.row_end = extent->rows;
	built->view.file_count = extent->files - first;
	files = MemoryContextAlloc(context,
							   (built->view.file_count + 1) * sizeof *files);
	for (int i = 0; i < built->view.file_count; i++)
		files[i] = &table->files[first + i]->file;
	built->view.files = files;
	add_deletes(built, table);
	return built;
}

const StagedView *
staged_view(StagedTable *table, CommandId curcid)
{
	StagedExtent extent;
	const BuiltView *newest;

	staged_settle(table);
	if (!extent_before(table, curcid, &extent))
		return NULL;
	if (table->sink != NULL &&
		table->marks[table->mark_count - 1].cid < curcid)
	{
		staged_end_sink(table);
		extent = table->extent;
	}
	newest = table->newest_view;
	if (newest == NULL ||
		memcmp(&newest->extent, &extent, sizeof extent) != 0)
	{
		/* its users may be somewhere still: memory goes when they have */
		if (newest != NULL && table->active_views == 0)
			MemoryContextDelete(newest->context);
		table->newest_view = NULL;
		table->newest_view = build_view(table, &extent);
	}
	hold_view(table);
	return &table->newest_view->view;
}

const LakeBitmap *
staged_view_deletes(const StagedView *view, const char *path)
{
	const BuiltView *built = (const BuiltView *) view;
	int			low = 0;
	int			high = built->delete_count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		int			order = strcmp(path,
								   built->deletes[middle].file->file.task.path);

		if (order == 0)
			return built->deletes[middle].positions;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
