/*
 * Rows in memory: each row's values follow from a number, so that any row can
 * be checked at any time.
 */
#include "table/row_store.h"

#include "table/task_reader.h"
#include "unit.h"

static LakeType type_long = {.kind = LAKE_LONG};
static LakeType type_int = {.kind = LAKE_INT};
static LakeType type_string = {.kind = LAKE_STRING};
static LakeField element = {.id = 5, .name = "element", .type = &type_int};
static LakeType type_list = {
	.kind = LAKE_LIST, .field_count = 1, .fields = &element
};
static LakeField members[] = {
	{.id = 7, .name = "x", .type = &type_long},
	{.id = 8, .name = "s", .type = &type_string}
};
static LakeType type_struct = {
	.kind = LAKE_STRUCT, .field_count = 2, .fields = members
};
static LakeField fields[] = {
	{.id = 1, .name = "n", .type = &type_long},
	{.id = 2, .name = "s", .type = &type_string},
	{.id = 4, .name = "l", .type = &type_list},
	{.id = 6, .name = "r", .type = &type_struct}
};
static const LakeSchema schema = {.field_count = 4, .fields = fields};

static uint64_t
mix(uint64_t n)
{
	n *= UINT64_C(0x9E3779B97F4A7C15);
	return n ^ (n >> 29);
}

static LakeBytes
text_of(LakeArena *arena, uint64_t n)
{
	size_t		len = mix(n) % 11 == 0 ? mix(n) % 5000 : mix(n) % 20;
	char	   *text = lake_alloc(arena, len + 1);
	LakeBytes	bytes = {(const uint8_t *) text, len};

	memset(text, 'a' + (int) (n % 26), len);
	return bytes;
}

static void
append_string(VectorBuilder *builder, LakeArena *arena, uint64_t n)
{
	if (mix(n) % 7 == 0)
		vector_append_null(builder);
	else
		vector_append_bytes(builder, text_of(arena, n));
}

static void
append_row(RowStore *store, uint64_t n)
{
	LakeArena  *scratch = lake_arena_create(NULL, "row");
	VectorBuilder *builder;
	uint32_t	count = (uint32_t) (mix(n) % 4);

	vector_append_i64(row_store_column(store, 0), (int64_t) n);
	append_string(row_store_column(store, 1), scratch, n);
	builder = row_store_column(store, 2);
	if (count == 3)
		vector_append_null(builder);
	else
	{
		vector_append_list(builder, count);
		for (uint32_t i = 0; i < count; i++)
			vector_append_i32(vector_child(builder, 0), (int32_t) (n + i));
	}
	builder = row_store_column(store, 3);
	if (mix(n) % 5 == 0)
		vector_append_null(builder);
	else
	{
		vector_append_struct(builder);
		vector_append_i64(vector_child(builder, 0), -(int64_t) n);
		append_string(vector_child(builder, 1), scratch, n + 1);
	}
	row_store_end_row(store);
	lake_arena_destroy(scratch);
}

static bool
is_string(const LakeVector *vector, uint32_t row, LakeArena *arena,
		  uint64_t n)
{
	const LakeBytes *value;
	LakeBytes	expected;

	if (mix(n) % 7 == 0)
		return vector_is_null(vector, row);
	if (vector_is_null(vector, row))
		return false;
	value = vector_value(vector, row);
	expected = text_of(arena, n);
	return value->len == expected.len &&
		memcmp(value->data, expected.data, value->len) == 0;
}

static bool
is_row(const LakeVector *const *columns, uint32_t row, uint64_t n)
{
	LakeArena  *scratch = lake_arena_create(NULL, "row");
	uint32_t	count = (uint32_t) (mix(n) % 4);
	const LakeVector *list = columns[2];
	const LakeVector *record = columns[3];
	bool		ok = *(const int64_t *) vector_value(columns[0], row) ==
		(int64_t) n && is_string(columns[1], row, scratch, n);

	ok = ok && vector_is_null(list, row) == (count == 3);
	if (ok && count != 3)
	{
		uint32_t	first = list->offsets[row];

		ok = list->offsets[row + 1] - first == count;
		for (uint32_t i = 0; ok && i < count; i++)
			ok = *(const int32_t *) vector_value(list->children[0],
												 first + i) ==
				(int32_t) (n + i);
	}
	ok = ok && vector_is_null(record, row) == (mix(n) % 5 == 0);
	if (ok && mix(n) % 5 != 0)
		ok = *(const int64_t *) vector_value(record->children[0], row) ==
			-(int64_t) n &&
			is_string(record->children[1], row, scratch, n + 1);
	lake_arena_destroy(scratch);
	return ok;
}

/* from any row on */
static bool
has_rows(RowStore *store, const uint64_t *numbers, uint64_t first,
		 uint64_t count)
{
	const LakeVector *const *columns;
	uint32_t	got;

	while ((got = row_store_batch(store, first, &columns)) > 0)
	{
		for (uint32_t i = 0; i < got; i++)
		{
			if (!is_row(columns, i, numbers[first + i]))
			{
				fprintf(stderr, "row %llu is wrong\n",
						(unsigned long long) (first + i));
				return false;
			}
		}
		first += got;
	}
	return first == count;
}

static void
rows_come_back_after_any_truncation(LakeArena *arena)
{
	RowStore   *store = row_store_create(arena, &schema);
	uint64_t   *numbers = lake_alloc_array(arena, 20000, sizeof(uint64_t));
	uint64_t	count = 0;

	for (uint64_t step = 0; step < 60; step++)
	{
		uint64_t	add = mix(step) % 1500;

		for (uint64_t i = 0; i < add && count < 20000; i++)
		{
			numbers[count] = step * 100000 + i;
			append_row(store, numbers[count++]);
		}
		if (mix(step) % 3 == 0)
		{
			count = count * (mix(step) % 16) / 16;
			row_store_truncate(store, count);
		}
		CHECK_INT(row_store_count(store), count);
		CHECK(has_rows(store, numbers, 0, count));
		if (count > 0)
			CHECK(has_rows(store, numbers, mix(step) % count, count));
	}
}

static void
a_canceled_row_leaves_nothing(LakeArena *arena)
{
	RowStore   *store = row_store_create(arena, &schema);
	uint64_t	numbers[] = {1, 2};

	append_row(store, 1);
	vector_append_i64(row_store_column(store, 0), 17);
	vector_append_list(row_store_column(store, 2), 2);
	vector_append_i32(vector_child(row_store_column(store, 2), 0), 5);
	row_store_cancel_row(store);
	append_row(store, 2);
	CHECK(has_rows(store, numbers, 0, 2));
}

static void
an_incomplete_row_is_refused(LakeArena *arena)
{
	RowStore   *store = row_store_create(arena, &schema);

	vector_append_i64(row_store_column(store, 0), 17);
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "values of column",
				 row_store_end_row(store));
}

static void
rows_stay_readable_while_others_are_added(LakeArena *arena)
{
	RowStore   *store = row_store_create(arena, &schema);
	const LakeVector *const *columns;
	LakeVector	before[4];
	const LakeVector *kept[4];
	uint32_t	count;

	for (uint64_t n = 0; n < 20; n++)
		append_row(store, n);
	count = row_store_batch(store, 0, &columns);
	for (int i = 0; i < 4; i++)
	{
		before[i] = *columns[i];
		kept[i] = &before[i];
	}
	for (uint64_t n = 20; n < 9000; n++)
		append_row(store, n);
	for (uint32_t i = 0; i < count; i++)
	{
		CHECK(is_row(columns, i, i));
		CHECK(is_row(kept, i, i));
	}
}

static void
copies_are_equal(LakeArena *arena)
{
	RowStore   *from = row_store_create(arena, &schema);
	RowStore   *to = row_store_create(arena, &schema);
	uint64_t	numbers[600];
	const LakeVector *const *columns;
	uint32_t	count;

	for (uint64_t n = 0; n < 600; n++)
		append_row(from, n);
	count = row_store_batch(from, 0, &columns);
	for (uint32_t i = 0; i < count; i++)
	{
		/* backwards, so that offsets differ */
		for (int c = 0; c < 4; c++)
			vector_append_copy(row_store_column(to, c), columns[c],
							   count - 1 - i);
		row_store_end_row(to);
		numbers[i] = count - 1 - i;
	}
	CHECK(has_rows(to, numbers, 0, count));
}

/* ---- read by a task reader ---- */

static int64_t
sum_rows(TaskReader *reader, uint64_t *rows)
{
	LakeBatch	batch;
	int64_t		sum = 0;

	*rows = 0;
	while (task_reader_next(reader, &batch))
	{
		const LakeVector *n = task_reader_column(reader, 0);
		const LakeVector *position = task_reader_column(reader, 1);

		for (uint32_t i = 0; i < batch.selected_count; i++)
		{
			uint32_t	row = batch.selection[i];

			CHECK_INT(*(const int64_t *) vector_value(position, row),
					  batch.first_position + row);
			sum += *(const int64_t *) vector_value(n, row);
		}
		*rows += batch.selected_count;
	}
	return sum;
}

static void
a_task_reader_filters_and_deletes(LakeArena *arena)
{
	static LakeField position = {
		.id = LAKE_FIELD_POS, .name = "_pos", .type = &type_long
	};
	const LakeField *columns[] = {&fields[0], &position};
	RowStore   *store = row_store_create(arena, &schema);
	LakeBitmap *bitmap = bitmap_create(arena);
	LakeValue	limit = {.i = 8000};
	TaskReaderOptions options = {
		.schema = &schema,
		.column_count = 2,
		.columns = columns
	};
	TaskReader *reader;
	uint64_t	rows;

	for (uint64_t n = 0; n < 10000; n++)
		append_row(store, n);
	reader = task_reader_create(arena, &options);
	task_reader_begin_rows(reader, store, 5000, 10000);
	CHECK_INT(sum_rows(reader, &rows), (5000 + 9999) * 5000 / 2);
	CHECK_INT(rows, 5000);
	for (uint64_t n = 0; n < 10000; n += 2)
		bitmap_add(bitmap, n);
	task_reader_begin_rows(reader, store, 0, 10000);
	task_reader_delete(reader, bitmap);
	CHECK_INT(sum_rows(reader, &rows), (1 + 9999) * 5000 / 2);
	task_reader_begin_rows(reader, store, 0, 9001);
	task_reader_select(reader, bitmap);
	CHECK_INT(sum_rows(reader, &rows), (0 + 9000) * 4501 / 2);
	CHECK_INT(rows, 4501);
	options.predicate = predicate_normalize(arena,
											predicate_leaf(arena, PREDICATE_GE,
														   &fields[0], &limit,
														   1));
	reader = task_reader_create(arena, &options);
	task_reader_begin_rows(reader, store, 0, 10000);
	CHECK_INT(sum_rows(reader, &rows), (8000 + 9999) * 2000 / 2);
	CHECK_INT(rows, 2000);
}

static const UnitTest tests[] = {
	UNIT(rows_come_back_after_any_truncation),
	UNIT(a_canceled_row_leaves_nothing),
	UNIT(an_incomplete_row_is_refused),
	UNIT(rows_stay_readable_while_others_are_added),
	UNIT(copies_are_equal),
	UNIT(a_task_reader_filters_and_deletes),
};

UNIT_MAIN(tests)
