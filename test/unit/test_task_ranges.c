/*
 * A file in byte ranges: whatever its footer says of offsets and however it is
 * cut, the ranges together give each row once.
 */
#include "unit.h"

#include <stdlib.h>

#include "memory_store.h"
#include "parquet_build.h"
#include "table/task_reader.h"

#define PATH			"/lake/data.parquet"
#define GROUPS			40
#define ROWS			7		/* of a row group */
#define VALUE(row)		((int64_t) (row) * 3 + 1)

static const BuildElement long_schema[] = {
	GROUP("root", 0, 1),
	FIELD("a", PARQUET_INT64, 0, .field_id = 1)
};

/* row groups of one page each; offsets, if given, are the footer's */
static LakeBytes
build_file(LakeArena *arena, const int64_t *offsets)
{
	BuildChunk	chunks[GROUPS];
	int64_t		group_rows[GROUPS];
	BuildFile	file = {.elements = long_schema, .element_count = 2,
		.chunks = chunks, .leaf_count = 1, .group_rows = group_rows,
	.group_count = GROUPS, .rows = GROUPS * ROWS};
	LakeBuffer	out;

	memset(chunks, 0, sizeof chunks);
	build_begin(&out, arena);
	for (int i = 0; i < GROUPS; i++)
	{
		int64_t		values[ROWS];

		for (int k = 0; k < ROWS; k++)
			values[k] = VALUE(i * ROWS + k);
		chunks[i].physical = PARQUET_INT64;
		chunks[i].values = group_rows[i] = ROWS;
		chunks[i].offset = offsets == NULL ? (int64_t) out.len : offsets[i];
		build_page(&out, PAGE_DATA, ROWS, PARQUET_ENCODING_PLAIN,
				   encoding_bytes((const uint8_t *) values, sizeof values));
		chunks[i].size = offsets == NULL ? (int64_t) out.len -
			chunks[i].offset : 0;
	}
	build_finish(&out, &file);
	return encoding_bytes(out.data, out.len);
}

typedef struct Ranges
{
	TaskReader *reader;
	ScanTask	task;
	size_t		size;			/* of the file */
	int			seen[GROUPS * ROWS];
} Ranges;

static LakeField *
long_field(LakeArena *arena, int32_t id)
{
	LakeField  *field = lake_alloc(arena, sizeof *field);
	LakeType   *type = lake_alloc(arena, sizeof *type);

	type->kind = LAKE_LONG;
	field->id = id;
	field->name = "column";
	field->type = type;
	return field;
}

/* stored: also read the column of the file, else positions only */
static Ranges *
open_ranges(LakeArena *arena, LakeBytes file, bool stored)
{
	Ranges	   *ranges = lake_alloc(arena, sizeof *ranges);
	MemoryStore *store = memory_store_create(arena);
	LakeSchema *schema = lake_alloc(arena, sizeof *schema);
	const LakeField **columns = lake_alloc_array(arena, 2, sizeof *columns);
	TaskReaderOptions options = {.store = &store->store, .schema = schema,
	.column_count = stored ? 2 : 1, .columns = columns};

	schema->field_count = 1;
	schema->fields = long_field(arena, 1);
	columns[0] = long_field(arena, LAKE_FIELD_POS);
	columns[1] = &schema->fields[0];
	memory_store_put(store, PATH, file);
	ranges->task.path = PATH;
	ranges->task.record_count = -1;
	ranges->task.first_row_id = -1;
	ranges->size = file.len;
	ranges->reader = task_reader_create(arena, &options);
	return ranges;
}

static void
read_range(Ranges *ranges, int64_t from, int64_t to, bool stored)
{
	LakeBatch	batch;

	task_reader_begin_range(ranges->reader, &ranges->task, from, to);
	while (task_reader_next(ranges->reader, &batch))
	{
		const LakeVector *pos = task_reader_column(ranges->reader, 0);
		const LakeVector *stored_values = stored ?
			task_reader_column(ranges->reader, 1) : NULL;

		for (uint32_t i = 0; i < batch.selected_count; i++)
		{
			uint32_t	row = batch.selection[i];
			int64_t		position = *(const int64_t *) vector_value(pos, row);

			CHECK(position >= 0 && position < GROUPS * ROWS);
			CHECK_INT(position, batch.first_position + row);
			ranges->seen[position]++;
			if (stored)
				CHECK_INT(*(const int64_t *) vector_value(stored_values, row),
						  VALUE(position));
		}
	}
}

static void
check_each_once(Ranges *ranges)
{
	for (int i = 0; i < GROUPS * ROWS; i++)
		CHECK_INT(ranges->seen[i], 1);
	memset(ranges->seen, 0, sizeof ranges->seen);
}

static int
compare_cuts(const void *a, const void *b)
{
	int64_t		left = *(const int64_t *) a;
	int64_t		right = *(const int64_t *) b;

	return (left > right) - (left < right);
}

/* cuts at random, in a random order of ranges */
static void
read_in_pieces(Ranges *ranges, bool stored)
{
	int64_t		cuts[12];
	int			count = 2 + rand() % 10;

	cuts[0] = 0;
	for (int i = 1; i < count; i++)
		cuts[i] = rand() % (int64_t) ranges->size;
	qsort(cuts, (size_t) count, sizeof *cuts, compare_cuts);
	cuts[count] = rand() % 2 == 0 ? (int64_t) ranges->size : INT64_MAX;
	if (rand() % 2 == 0)
	{
		for (int i = 0; i < count; i++)
			read_range(ranges, cuts[i], cuts[i + 1], stored);
	}
	else
	{
		for (int i = count - 1; i >= 0; i--)
			read_range(ranges, cuts[i], cuts[i + 1], stored);
	}
	check_each_once(ranges);
}

static void
any_cuts_give_each_row_once(LakeArena *arena)
{
	Ranges	   *ranges = open_ranges(arena, build_file(arena, NULL), true);

	srand(1);
	for (int i = 0; i < 300; i++)
		read_in_pieces(ranges, true);
	for (int64_t from = 0; from < (int64_t) ranges->size; from++)
		read_range(ranges, from, from + 1, true);
	check_each_once(ranges);
}

static void
a_group_belongs_where_its_first_page_begins(LakeArena *arena)
{
	LakeBytes	bytes = build_file(arena, NULL);
	Ranges	   *ranges = open_ranges(arena, bytes, true);
	ParquetFile *file = parquet_file_open(arena,
										  lake_file_from_memory(arena, "f",
																bytes));
	int64_t		offset = parquet_row_group_offset(file, 3);

	read_range(ranges, 0, offset, true);
	CHECK_INT(ranges->seen[3 * ROWS - 1], 1);
	CHECK_INT(ranges->seen[3 * ROWS], 0);
	read_range(ranges, offset, offset + 1, true);
	CHECK_INT(ranges->seen[3 * ROWS], 1);
	CHECK_INT(ranges->seen[4 * ROWS], 0);
	CHECK_INT(task_reader_counters(ranges->reader)->row_groups_total, 4);
}

static void
offsets_that_lie_lose_no_row(LakeArena *arena)
{
	static const int64_t wild[] = {
		INT64_MIN, -1, 0, 4, 5, 100, 1000, 5000, 1 << 20, INT64_MAX
	};

	srand(2);
	for (int i = 0; i < 100; i++)
	{
		int64_t		offsets[GROUPS];
		Ranges	   *ranges;

		for (int k = 0; k < GROUPS; k++)
			offsets[k] = rand() % 3 == 0 ? rand() % 6000 :
				wild[(size_t) rand() % (sizeof wild / sizeof *wild)];
		ranges = open_ranges(arena, build_file(arena, offsets), false);
		for (int k = 0; k < 10; k++)
			read_in_pieces(ranges, false);
	}
}

static void
an_empty_range_has_no_row(LakeArena *arena)
{
	Ranges	   *ranges = open_ranges(arena, build_file(arena, NULL), false);

	read_range(ranges, 0, 0, false);
	read_range(ranges, (int64_t) ranges->size, INT64_MAX, false);
	CHECK_INT(task_reader_counters(ranges->reader)->row_groups_total, 0);
	read_range(ranges, 0, INT64_MAX, false);
	check_each_once(ranges);
}

static const UnitTest tests[] = {
	UNIT(any_cuts_give_each_row_once),
	UNIT(a_group_belongs_where_its_first_page_begins),
	UNIT(offsets_that_lie_lose_no_row),
	UNIT(an_empty_range_has_no_row),
};

UNIT_MAIN(tests)
