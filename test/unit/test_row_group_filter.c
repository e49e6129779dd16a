/*
 * Which rows of a row group are read: by page indexes whose pages do not begin
 * at the same rows, and by bloom filters, where a value has one stored form.
 */
#include "table/table_int.h"

#include <math.h>

#include "memory_store.h"
#include "parquet_build.h"
#include "unit.h"

#define PATH		"/lake/data.parquet"
#define ROWS		40
#define MAX_PAGES	4
#define PAGE_SIZE	10

/* a column of eight-byte values, of which only indexes are looked at */
typedef struct Stored
{
	int			physical;
	int32_t		field_id;
	int			pages;			/* 0: there is no index */
	int64_t		first_rows[MAX_PAGES];
	double		mins[MAX_PAGES];
	double		maxs[MAX_PAGES];
	bool		denies;			/* has a bloom filter that nothing is in */
} Stored;

/* pages of a: 0, 10, 20, 30; of b: 0, 15, 30 */
static const Stored two_columns[] = {
	{PARQUET_INT64, 1, 4, {0, 10, 20, 30}, {0, 10, 20, 30}, {9, 19, 29, 39},
	false},
	{PARQUET_DOUBLE, 2, 3, {0, 15, 30}, {0, 2, 4}, {1, 3, 5}, false}
};

/* ---- files ---- */

/* the number as the column stores it */
static void
encode_number(const Stored *stored, double number, uint8_t *out)
{
	int64_t		integer = (int64_t) number;

	if (stored->physical == PARQUET_DOUBLE)
		memcpy(out, &number, sizeof number);
	else
		memcpy(out, &integer, sizeof integer);
}

static LakeBytes
copy_number(LakeArena *arena, const Stored *stored, double number)
{
	uint8_t    *bytes = lake_alloc(arena, 8);

	encode_number(stored, number, bytes);
	return encoding_bytes(bytes, 8);
}

static void
put_numbers(ThriftWriter *writer, int32_t id, const Stored *stored,
			const double *numbers)
{
	thrift_put_list(writer, id, THRIFT_BINARY, (size_t) stored->pages);
	for (int i = 0; i < stored->pages; i++)
	{
		uint8_t		bytes[8];

		encode_number(stored, numbers[i], bytes);
		encode_varint(writer->out, sizeof bytes);
		buffer_append(writer->out, bytes, sizeof bytes);
	}
}

static void
put_indexes(LakeBuffer *out, const Stored *stored, BuildChunk *chunk)
{
	ThriftWriter writer = {.out = out};

	chunk->offset_index.offset = (int64_t) out->len;
	thrift_put_list(&writer, 1, THRIFT_STRUCT, (size_t) stored->pages);
	for (int i = 0; i < stored->pages; i++)
	{
		thrift_begin_element(&writer);
		thrift_put_int(&writer, 1, THRIFT_I64, chunk->offset + i * PAGE_SIZE);
		thrift_put_int(&writer, 2, THRIFT_I32, PAGE_SIZE);
		thrift_put_int(&writer, 3, THRIFT_I64, stored->first_rows[i]);
		thrift_end_struct(&writer);
	}
	buffer_append_byte(out, THRIFT_STOP);
	chunk->offset_index.size = (int64_t) out->len - chunk->offset_index.offset;

	writer = (ThriftWriter) {.out = out};
	chunk->column_index.offset = (int64_t) out->len;
	thrift_put_list(&writer, 1, THRIFT_TRUE, (size_t) stored->pages);
	for (int i = 0; i < stored->pages; i++)
		buffer_append_byte(out, THRIFT_FALSE);
	put_numbers(&writer, 2, stored, stored->mins);
	put_numbers(&writer, 3, stored, stored->maxs);
	thrift_put_int(&writer, 4, THRIFT_I32, 1);
	buffer_append_byte(out, THRIFT_STOP);
	chunk->column_index.size = (int64_t) out->len - chunk->column_index.offset;
}

static void
put_bloom(LakeBuffer *out, BuildChunk *chunk)
{
	static const uint8_t block[32];
	ThriftWriter writer = {.out = out};

	chunk->bloom.offset = (int64_t) out->len;
	thrift_put_int(&writer, 1, THRIFT_I32, sizeof block);
	for (int32_t id = 2; id <= 4; id++)
	{
		thrift_begin_struct(&writer, id);
		thrift_begin_struct(&writer, 1);
		thrift_end_struct(&writer);
		thrift_end_struct(&writer);
	}
	buffer_append_byte(out, THRIFT_STOP);
	buffer_append(out, block, sizeof block);
	chunk->bloom.size = (int64_t) out->len - chunk->bloom.offset;
}

static LakeBytes
build_file(LakeArena *arena, const Stored *stored, size_t count)
{
	static const int64_t rows = ROWS;
	BuildElement elements[3] = {GROUP("root", 0, (int) count)};
	BuildChunk	chunks[2];
	BuildFile	file = {
		.elements = elements, .element_count = count + 1, .chunks = chunks,
		.leaf_count = count, .group_rows = &rows, .group_count = 1,
		.rows = rows, .ordered = true
	};
	LakeBuffer	out;

	memset(chunks, 0, sizeof chunks);
	build_begin(&out, arena);
	for (size_t i = 0; i < count; i++)
	{
		int			last = stored[i].pages == 0 ? 0 : stored[i].pages - 1;

		elements[i + 1] = (BuildElement) {.name = i == 0 ? "a" : "b",
										  .physical = stored[i].physical, .repetition = 1,
										  .field_id = stored[i].field_id};
		chunks[i].physical = stored[i].physical;
		chunks[i].values = ROWS;
		chunks[i].offset = (int64_t) out.len;
		chunks[i].size = MAX_PAGES * PAGE_SIZE;
		chunks[i].null_count = 1;
		chunks[i].min = copy_number(arena, &stored[i], stored[i].mins[0]);
		chunks[i].max = copy_number(arena, &stored[i], stored[i].maxs[last]);
		for (int k = 0; k < MAX_PAGES * PAGE_SIZE; k++)
			buffer_append_byte(&out, 0);
		if (stored[i].pages > 0)
			put_indexes(&out, &stored[i], &chunks[i]);
		if (stored[i].denies)
			put_bloom(&out, &chunks[i]);
	}
	build_finish(&out, &file);
	return encoding_bytes(out.data, out.len);
}

/* ---- questions ---- */

typedef struct Question
{
	LakeArena  *arena;
	LakeField	fields[2];
	LakeType	types[2];
	ReaderColumn columns[2];
	FileSchema *schema;
} Question;

static Question *
open_columns(LakeArena *arena, const Stored *stored, size_t count)
{
	Question   *question = lake_alloc(arena, sizeof *question);
	MemoryStore *store = memory_store_create(arena);
	ScanTask	task = {.path = PATH, .first_row_id = 0};

	question->arena = arena;
	memory_store_put(store, PATH, build_file(arena, stored, count));
	question->schema = file_schema_open(arena, &store->store, PATH, "file",
										NULL, false);
	for (size_t i = 0; i < count; i++)
	{
		question->types[i].kind = stored[i].physical == PARQUET_DOUBLE ?
			LAKE_DOUBLE : LAKE_LONG;
		question->fields[i] = (LakeField) {.id = stored[i].field_id,
										   .name = i == 0 ? "a" : "b", .type = &question->types[i]};
		question->columns[i].field = &question->fields[i];
		reader_column_begin(&question->columns[i], arena, question->schema,
							&task, false);
	}
	return question;
}

static Predicate *
leaf(Question *question, int column, PredicateOp op, double first,
	 double second)
{
	LakeValue  *values = lake_alloc_array(question->arena, 2, sizeof *values);
	double		numbers[2] = {first, second};

	for (int i = 0; i < 2; i++)
	{
		if (question->types[column].kind == LAKE_DOUBLE)
			values[i].d = numbers[i];
		else
			values[i].i = (int64_t) numbers[i];
	}
	return predicate_leaf(question->arena, op, &question->fields[column],
						  values, op == PREDICATE_IN ? 2 : 1);
}

static Predicate *
both(Question *question, PredicateOp op, Predicate *left, Predicate *right)
{
	Predicate **children = lake_alloc_array(question->arena, 2,
											sizeof *children);

	children[0] = left;
	children[1] = right;
	return predicate_combine(question->arena, op, children, 2);
}

/* "0-10 30-40", "all", "none", "bloom" */
static const char *
answer(RowGroupFilter *filter, LakeArena *arena)
{
	const ParquetRows *ranges;
	const char *text = "all";
	int			count;

	switch (row_group_filter_apply(filter, 0, &ranges, &count))
	{
		case ROW_GROUP_SKIPPED:
			return "none";
		case ROW_GROUP_SKIPPED_BY_BLOOM:
			return "bloom";
		case ROW_GROUP_WANTED:
			break;
	}
	for (int i = 0; i < count; i++)
		text = lake_printf(arena, "%s%s%d-%d", i == 0 ? "" : text,
						   i == 0 ? "" : " ", (int) ranges[i].first,
						   (int) ranges[i].end);
	return text;
}

static void
check_answer(Question *question, const Predicate *predicate,
			 const char *expected)
{
	LakeArena  *arena = question->arena;
	const LakeField *fields[] = {&question->fields[0], &question->fields[1]};
	RowGroupFilter *filter =
		row_group_filter_create(arena, predicate_normalize(arena, predicate),
							fields);

	row_group_filter_begin(filter, question->schema, question->columns);
	CHECK_STRING(answer(filter, arena), expected);
	/* nothing is left of the row group before */
	CHECK_STRING(answer(filter, arena), expected);
}

/* ---- pages ---- */

static void
pages_of_one_column_are_ranges(LakeArena *arena)
{
	Question   *q = open_columns(arena, two_columns, 2);

	check_answer(q, leaf(q, 0, PREDICATE_EQ, 25, 0), "20-30");
	check_answer(q, leaf(q, 0, PREDICATE_IN, 5, 35), "0-10 30-40");
	check_answer(q, leaf(q, 0, PREDICATE_IN, 15, 25), "10-30");
	check_answer(q, leaf(q, 0, PREDICATE_GE, 30, 0), "30-40");
	check_answer(q, leaf(q, 0, PREDICATE_GE, 0, 0), "all");
	check_answer(q, leaf(q, 0, PREDICATE_GT, 39, 0), "none");
}

static void
pages_of_two_columns_are_cut_at_all_their_borders(LakeArena *arena)
{
	Question   *q = open_columns(arena, two_columns, 2);

	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_GE, 12, 0),
						 leaf(q, 1, PREDICATE_LE, 1.5, 0)), "10-15");
	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_IN, 19, 31),
						 leaf(q, 1, PREDICATE_LT, 4.5, 0)), "10-20 30-40");
	check_answer(q, both(q, PREDICATE_OR, leaf(q, 0, PREDICATE_EQ, 35, 0),
						 leaf(q, 1, PREDICATE_EQ, 2.5, 0)), "15-40");
	check_answer(q, both(q, PREDICATE_OR, leaf(q, 0, PREDICATE_LT, 10, 0),
						 leaf(q, 1, PREDICATE_LT, 4, 0)), "0-30");
	/* each has pages that may match, but none of the same rows */
	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_LT, 10, 0),
						 leaf(q, 1, PREDICATE_LT, -1, 0)), "none");
	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_LT, 10, 0),
						 leaf(q, 1, PREDICATE_EQ, 2.5, 0)), "none");
}

static void
nan_may_be_on_any_page(LakeArena *arena)
{
	Question   *q = open_columns(arena, two_columns, 2);

	check_answer(q, leaf(q, 1, PREDICATE_LE, 1, 0), "0-15");
	check_answer(q, leaf(q, 1, PREDICATE_GT, 5, 0), "all");
	check_answer(q, leaf(q, 1, PREDICATE_EQ, NAN, 0), "all");
}

static void
a_column_without_index_has_the_bounds_of_the_group(LakeArena *arena)
{
	Stored		stored[2] = {two_columns[0], two_columns[1]};
	Question   *q;

	stored[1].pages = 0;
	q = open_columns(arena, stored, 2);
	check_answer(q, leaf(q, 1, PREDICATE_EQ, 0.5, 0), "all");
	check_answer(q, leaf(q, 1, PREDICATE_EQ, 7, 0), "none");
	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_LT, 10, 0),
						 leaf(q, 1, PREDICATE_EQ, 0.5, 0)), "0-10");
}

/* positions are known exactly, in each range between two borders */
static void
numbers_of_rows_are_bounds_of_ranges(LakeArena *arena)
{
	static const ScanTask task = {.path = PATH};
	Question   *q = open_columns(arena, two_columns, 1);

	q->types[1].kind = LAKE_LONG;
	q->fields[1] = (LakeField) {.id = LAKE_FIELD_POS, .name = "_pos",
								.type = &q->types[1]};
	q->columns[1].field = &q->fields[1];
	reader_column_begin(&q->columns[1], arena, q->schema, &task, false);
	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_LE, 29, 0),
						 leaf(q, 1, PREDICATE_GE, 20, 0)), "20-30");
	check_answer(q, both(q, PREDICATE_OR, leaf(q, 0, PREDICATE_GE, 30, 0),
						 leaf(q, 1, PREDICATE_EQ, 9, 0)), "0-10 30-40");
}

/* ---- bloom filters ---- */

static void
a_filter_denies_values_of_one_form_only(LakeArena *arena)
{
	Stored		stored[2] = {two_columns[0], two_columns[1]};
	Question   *q;

	stored[1].denies = true;
	q = open_columns(arena, stored, 2);
	check_answer(q, leaf(q, 1, PREDICATE_EQ, 0.5, 0), "bloom");
	check_answer(q, leaf(q, 1, PREDICATE_IN, 0.5, 2.5), "bloom");
	/* zero is stored in two ways, and NaN in many */
	check_answer(q, leaf(q, 1, PREDICATE_EQ, 0, 0), "0-15");
	check_answer(q, leaf(q, 1, PREDICATE_EQ, -0.0, 0), "0-15");
	check_answer(q, leaf(q, 1, PREDICATE_IN, 0, 0.5), "0-15");
	check_answer(q, leaf(q, 1, PREDICATE_EQ, NAN, 0), "all");
	check_answer(q, leaf(q, 1, PREDICATE_LE, 1, 0), "0-15");
	check_answer(q, both(q, PREDICATE_OR, leaf(q, 0, PREDICATE_EQ, 35, 0),
						 leaf(q, 1, PREDICATE_EQ, 0.5, 0)), "0-15 30-40");
	check_answer(q, both(q, PREDICATE_AND, leaf(q, 0, PREDICATE_EQ, 5, 0),
						 leaf(q, 1, PREDICATE_EQ, 0.5, 0)), "bloom");
}

static void
row_ids_that_are_made_up_are_in_no_index(LakeArena *arena)
{
	Stored		stored = two_columns[0];
	Question   *q;

	stored.field_id = LAKE_FIELD_ROW_ID;
	stored.denies = true;
	q = open_columns(arena, &stored, 1);
	check_answer(q, leaf(q, 0, PREDICATE_EQ, 35, 0), "all");
	check_answer(q, leaf(q, 0, PREDICATE_EQ, 1000, 0), "all");
}

static const UnitTest tests[] = {
	UNIT(pages_of_one_column_are_ranges),
	UNIT(pages_of_two_columns_are_cut_at_all_their_borders),
	UNIT(nan_may_be_on_any_page),
	UNIT(a_column_without_index_has_the_bounds_of_the_group),
	UNIT(numbers_of_rows_are_bounds_of_ranges),
	UNIT(a_filter_denies_values_of_one_form_only),
	UNIT(row_ids_that_are_made_up_are_in_no_index),
};

UNIT_MAIN(tests)
