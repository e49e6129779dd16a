/*
 * The writer, held against the reader: what is written is read back equal, and
 * nothing that the file says of its values excludes one of them.
 */
#include "parquet/writer.h"

#include "memory_output.h"
#include "random_table.h"
#include "unit.h"
#include "vector_check.h"

#define MAX_BATCHES 64

/* rows as they were given to the writer */
typedef struct Batch
{
	uint32_t	count;
	const uint32_t *selection;
	const LakeVector **columns;
} Batch;

typedef struct Written
{
	RandomTable *table;
	int			batch_count;
	Batch		batches[MAX_BATCHES];
	MemoryOutput *output;
	const ParquetTotals *totals;
	const ParquetFile *file;
	const ParquetField *const *fields;
} Written;

static const ParquetWriterOptions plain_options = {
	.codec = CODEC_NONE, .level = CODEC_DEFAULT_LEVEL,
	.row_group_bytes = 128 << 20, .page_bytes = 1 << 20, .page_rows = 20000,
	.dictionary_bytes = 2 << 20, .created_by = "lakefdw version 0.0.0",
	.bloom_fpp = 0.01, .bloom_max_bytes = 1 << 20
};

/* ---- writing ---- */

static void
add_batch(Written *written, ParquetWriter *writer, uint32_t count)
{
	RandomTable *table = written->table;
	Batch	   *batch = &written->batches[written->batch_count++];
	uint32_t	rows = count;

	batch->count = count;
	if (RANDOM_BELOW(&table->random, 2) == 0)
	{
		uint32_t   *selection = lake_alloc_array(table->arena, count,
												 sizeof *selection);

		rows = count * 2;
		for (uint32_t i = 0; i < count; i++)
			selection[i] = i * 2 + RANDOM_BELOW(&table->random, 2);
		batch->selection = selection;
	}
	batch->columns = lake_alloc_array(table->arena,
									  (size_t) table->field_count,
									  sizeof *batch->columns);
	for (int i = 0; i < table->field_count; i++)
		batch->columns[i] = random_vector(table, table->fields[i], rows);
	parquet_writer_write(writer, batch->columns, batch->selection, count);
}

static Written *
write_table(LakeArena *arena, RandomTable *table,
			const ParquetWriterOptions *options, int batches,
			uint32_t max_rows)
{
	Written    *written = lake_alloc(arena, sizeof *written);
	ParquetWriter *writer;

	written->table = table;
	written->output = memory_output_create(arena);
	writer = parquet_writer_create(arena, &written->output->output,
								   table->fields, table->field_count, options);
	for (int i = 0; i < batches; i++)
	{
		add_batch(written, writer, RANDOM_BELOW(&table->random, max_rows));
		if (RANDOM_BELOW(&table->random, 8) == 0)
			parquet_writer_flush(writer);
	}
	written->totals = parquet_writer_finish(writer);
	written->file = parquet_file_open(arena,
									  memory_output_open(written->output,
														 arena));
	parquet_file_fields(written->file, &written->fields);
	return written;
}

/* ---- reading back ---- */

typedef struct Row
{
	int			batch;
	uint32_t	at;
} Row;

/* the vector of a field and the index in it of the next row */
static const LakeVector *
next_row(const Written *written, int field, Row *row, uint32_t *index)
{
	const Batch *batch;

	while (row->at == written->batches[row->batch].count)
	{
		row->batch++;
		row->at = 0;
	}
	batch = &written->batches[row->batch];
	*index = batch->selection != NULL ? batch->selection[row->at] : row->at;
	row->at++;
	return batch->columns[field];
}

static void
check_rows(LakeArena *arena, Written *written, int field)
{
	ParquetReader *reader = parquet_reader_create(arena, written->file,
												  &written->fields[field], 1);
	LakeBuffer	expected;
	LakeBuffer	actual;
	Row			row = {0, 0};

	buffer_init(&expected, arena);
	buffer_init(&actual, arena);
	for (int group = 0; group < parquet_file_row_groups(written->file);
		 group++)
	{
		int64_t		left = parquet_row_group_rows(written->file, group);

		parquet_reader_begin(reader, group);
		while (left > 0)
		{
			uint32_t	n = 1 + RANDOM_BELOW(&written->table->random, 3000);
			const LakeVector *vector;

			n = n < left ? n : (uint32_t) left;
			vector = parquet_reader_read(reader, 0, n);
			vector_check(vector);
			expected.len = actual.len = 0;
			for (uint32_t i = 0; i < n; i++)
			{
				uint32_t	index;
				const LakeVector *source = next_row(written, field, &row,
													&index);

				vector_append(&expected, source, index);
				vector_append(&actual, vector, i);
			}
			CHECK_INT(actual.len, expected.len);
			CHECK(actual.len == expected.len &&
				  memcmp(actual.data, expected.data, actual.len) == 0);
			left -= n;
		}
	}
	lake_free(arena, expected.data);
	lake_free(arena, actual.data);
}

/* ---- what the file says of a leaf that is not in a list ---- */

/* the value of a leaf in a row of its column; NULL: it is NULL */
static const void *
leaf_value(const LakeVector *vector, const int *path, int depth, uint32_t row)
{
	for (int i = 0; i < depth; i++)
	{
		if (vector_is_null(vector, row))
			return NULL;
		vector = vector->children[path[i]];
	}
	return vector_is_null(vector, row) ? NULL : vector_value(vector, row);
}

static bool
is_nan(const ParquetField *field, const void *value)
{
	if (field->layout == VECTOR_F32)
		return isnan(*(const float *) value) != 0;
	return field->layout == VECTOR_F64 && isnan(*(const double *) value) != 0;
}

typedef struct Claim
{
	const ParquetStatistics *statistics;
	int64_t		nulls;
} Claim;

static void
check_value(const ParquetField *field, const void *value, Claim *claim)
{
	const ParquetStatistics *statistics = claim->statistics;
	const uint8_t *bounds = statistics->bounds.values;

	if (value == NULL)
		claim->nulls++;
	else if (!is_nan(field, value))
	{
		if (statistics->has_min)
			CHECK(!bounds_are_inverted(field, bounds, value));
		if (statistics->has_max)
			CHECK(!bounds_are_inverted(field, value, bounds +
									   vector_layout_width(field->layout)));
	}
}

static void
check_bloom(LakeArena *arena, ParquetBloom *bloom, const ParquetField *field,
			const void *value)
{
	LakeBuffer	out;
	size_t		skip = 0;

	if (bloom == NULL || value == NULL)
		return;
	if (field->layout == VECTOR_BYTES)
	{
		CHECK(parquet_bloom_may_contain(bloom, *(const LakeBytes *) value));
		return;
	}
	buffer_init(&out, arena);
	values_encode(field, value, 1, &out);
	skip = field->physical == PARQUET_BYTE_ARRAY ? 4 : 0;
	CHECK(parquet_bloom_may_contain(bloom, encoding_bytes(out.data + skip,
														  out.len - skip)));
	lake_free(arena, out.data);
}

typedef struct Found
{
	int			with_index;		/* leaves and row groups */
	int			with_bounds;
	int			with_bloom;
	int			leaves;
} Found;

static void
check_group(LakeArena *arena, Written *written, int column, Row *row,
			const int *path, int depth, const ParquetField *field, int group,
			Found *found)
{
	int64_t		rows = parquet_row_group_rows(written->file, group);
	ParquetPageIndex *index = parquet_page_index_read(written->file, arena,
													  group, field);
	ParquetBloom *bloom = parquet_bloom_read(written->file, arena, group,
											 field);
	ParquetStatistics whole;
	ParquetStatistics paged;
	Claim		group_claim = {&whole, 0};
	Claim		page_claim = {&paged, 0};
	int			page = -1;

	parquet_statistics_get(written->file, arena, group, field, &whole);
	found->leaves++;
	found->with_index += index != NULL;
	found->with_bounds += whole.has_min && whole.has_max;
	found->with_bloom += bloom != NULL;
	for (int64_t i = 0; i < rows; i++)
	{
		uint32_t	at;
		const LakeVector *vector = next_row(written, column, row, &at);
		const void *value = leaf_value(vector, path, depth, at);

		if (index != NULL && i == parquet_page_index_row(index, page + 1))
		{
			if (page >= 0)
				CHECK_INT(page_claim.nulls, paged.null_count);
			parquet_page_index_statistics(index, arena, ++page, &paged);
			page_claim.nulls = 0;
		}
		check_value(field, value, &group_claim);
		if (index != NULL)
			check_value(field, value, &page_claim);
		check_bloom(arena, bloom, field, value);
	}
	CHECK_INT(group_claim.nulls, whole.null_count);
}

/* goes through all leaves below field that are not in a list */
static void
check_leaves(LakeArena *arena, Written *written, int column, int *path,
			 int depth, const ParquetField *field, Found *found)
{
	if (field->shape == PARQUET_STRUCT)
	{
		for (int i = 0; i < field->child_count; i++)
		{
			path[depth] = i;
			check_leaves(arena, written, column, path, depth + 1,
						 field->children[i], found);
		}
	}
	if (field->shape == PARQUET_PRIMITIVE)
	{
		Row			row = {0, 0};

		for (int group = 0; group < parquet_file_row_groups(written->file);
			 group++)
			check_group(arena, written, column, &row, path, depth, field,
						group, found);
	}
}

/* ---- and what the writer says of the file ---- */

static void
check_leaf_totals(Written *written, int column, const int *path, int depth,
				  const ParquetField *field, int leaf)
{
	const ParquetLeafTotals *totals = &written->totals->leaves[leaf];
	size_t		width = vector_layout_width(field->layout);
	const uint8_t *bounds = totals->bounds.values;
	int64_t		nulls = 0;
	int64_t		nans = 0;
	bool		is_met[2] = {false, false};
	Row			row = {0, 0};

	for (int64_t i = 0; i < written->totals->row_count; i++)
	{
		uint32_t	at;
		const LakeVector *vector = next_row(written, column, &row, &at);
		const void *value = leaf_value(vector, path, depth, at);

		nulls += value == NULL;
		if (value == NULL)
			continue;
		nans += is_nan(field, value);
		if (is_nan(field, value) || !totals->has_bounds)
			continue;
		CHECK(!bounds_are_inverted(field, bounds, value));
		CHECK(!bounds_are_inverted(field, value, bounds + width));
		is_met[0] |= !bounds_are_inverted(field, value, bounds);
		is_met[1] |= !bounds_are_inverted(field, bounds + width, value);
	}
	CHECK_INT(totals->value_count, written->totals->row_count);
	CHECK_INT(totals->null_count, nulls);
	CHECK(totals->nan_count == nans || !bounds_have_order(field));
	CHECK_INT(totals->has_bounds, bounds_have_order(field) &&
			  nulls + nans < written->totals->row_count);
	if (totals->has_bounds)
		CHECK(is_met[0] && is_met[1]);
}

static void
check_totals(Written *written, int column, int *path, int depth,
			 const ParquetField *field, int *leaf, bool is_repeated)
{
	int64_t		size = 0;

	if (field->shape == PARQUET_PRIMITIVE)
	{
		CHECK(written->totals->leaves[*leaf].field->physical ==
			  field->physical);
		if (!is_repeated)
			check_leaf_totals(written, column, path, depth, field, *leaf);
		for (int group = 0; group < written->totals->row_group_count; group++)
			size += written->file->row_groups[group].chunks[*leaf].size;
		CHECK_INT(written->totals->leaves[*leaf].size, size);
		++*leaf;
	}
	for (int i = 0; i < field->child_count; i++)
	{
		path[depth] = i;
		check_totals(written, column, path, depth + 1, field->children[i],
					 leaf, is_repeated || field->shape != PARQUET_STRUCT);
	}
}

static Found
check_all(LakeArena *arena, Written *written)
{
	Found		found = {0};
	int			path[8];
	int			leaf = 0;

	CHECK_INT(parquet_file_rows(written->file), written->totals->row_count);
	CHECK_INT(written->output->bytes.len, written->totals->size);
	CHECK_INT(parquet_file_row_groups(written->file),
			  written->totals->row_group_count);
	for (int i = 0; i < written->totals->row_group_count; i++)
		CHECK_INT(written->totals->row_group_offsets[i],
				  parquet_row_group_offset(written->file, i));
	for (int i = 0; i < written->table->field_count; i++)
	{
		LakeArena  *work = lake_arena_create(arena, "checks");

		check_rows(work, written, i);
		check_leaves(work, written, i, path, 0, written->fields[i], &found);
		check_totals(written, i, path, 0, written->fields[i], &leaf, false);
		lake_arena_destroy(work);
	}
	CHECK_INT(leaf, written->totals->leaf_count);
	return found;
}

/* ---- the tests ---- */

static ParquetWriterOptions
random_options(LakeArena *arena, uint64_t *random)
{
	static const LakeCodec codecs[] = {
		CODEC_NONE, CODEC_SNAPPY, CODEC_GZIP, CODEC_LZ4_RAW, CODEC_ZSTD,
		CODEC_BROTLI
	};
	ParquetWriterOptions options = plain_options;
	bool	   *bloom = lake_alloc(arena, 1000);

	options.codec = codecs[RANDOM_BELOW(random, 6)];
	options.row_group_bytes = 1u << (8 + RANDOM_BELOW(random, 16));
	options.page_bytes = 1u << (4 + RANDOM_BELOW(random, 16));
	options.page_rows = 1u << RANDOM_BELOW(random, 15);
	options.dictionary_bytes = RANDOM_BELOW(random, 4) == 0 ? 0 :
		1u << (4 + RANDOM_BELOW(random, 16));
	options.bloom_max_bytes = 1u << RANDOM_BELOW(random, 16);
	for (int i = 0; i < 1000; i++)
		bloom[i] = RANDOM_BELOW(random, 2) == 0;
	if (RANDOM_BELOW(random, 2) == 0)
		options.bloom = bloom;
	return options;
}

static void
what_is_written_is_read_back(LakeArena *arena)
{
	Found		all = {0};

	for (uint64_t seed = 1; seed <= 300 && !unit_failed; seed++)
	{
		LakeArena  *work = lake_arena_create(arena, "table");
		uint64_t	random = seed * 77 + 5;
		ParquetWriterOptions options = random_options(work, &random);
		RandomTable *table =
			random_table_create(work, seed, 1 + (int) (seed % 5),
							(int) (seed % 4));
		Found		found = check_all(work,
									  write_table(work, table, &options,
												  1 + (int) (seed % 7),
												  seed % 10 == 0 ? 9000 :
												  600));

		all.leaves += found.leaves;
		all.with_index += found.with_index;
		all.with_bounds += found.with_bounds;
		all.with_bloom += found.with_bloom;
		if (unit_failed)
			fprintf(stderr, "seed %d\n", (int) seed);
		lake_arena_destroy(work);
	}
	/* the checks have seen something */
	CHECK(all.leaves > 500);
	CHECK(all.with_index * 2 > all.leaves);
	CHECK(all.with_bounds * 2 > all.leaves);
	CHECK(all.with_bloom * 10 > all.leaves);
}

/* ---- schemas ---- */

static void
check_field(const ParquetField *read, const ParquetField *written)
{
	CHECK_INT(read->field_id, written->field_id);
	CHECK_INT(read->optional, written->optional);
	CHECK_INT(read->shape, written->shape);
	CHECK_INT(read->layout, written->layout);
	CHECK_INT(read->child_count, written->child_count);
	if (read->shape != PARQUET_PRIMITIVE)
	{
		for (int i = 0; i < read->child_count; i++)
			check_field(read->children[i], written->children[i]);
		return;
	}
	CHECK_INT(read->logical, written->logical);
	CHECK_INT(read->physical, written->physical);
	if (written->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
		CHECK_INT(read->type_length, written->type_length);
	if (written->logical == PARQUET_LOGICAL_DECIMAL)
	{
		CHECK_INT(read->precision, written->precision);
		CHECK_INT(read->scale, written->scale);
	}
	if (written->logical == PARQUET_LOGICAL_TIME ||
		written->logical == PARQUET_LOGICAL_TIMESTAMP)
	{
		CHECK_INT(read->unit, written->unit);
		CHECK_INT(read->utc, written->utc);
	}
	if (written->logical == PARQUET_LOGICAL_INTEGER)
	{
		CHECK_INT(read->bits, written->bits);
		CHECK_INT(read->is_signed, written->is_signed);
	}
}

static void
fields_are_read_back(LakeArena *arena)
{
	for (uint64_t seed = 1; seed <= 100; seed++)
	{
		RandomTable *table = random_table_create(arena, seed, 8, 3);
		Written    *written = write_table(arena, table, &plain_options, 0, 1);

		CHECK_INT(parquet_file_rows(written->file), 0);
		CHECK_INT(parquet_file_row_groups(written->file), 0);
		for (int i = 0; i < 8; i++)
		{
			CHECK_STRING(written->fields[i]->name, table->fields[i]->name);
			check_field(written->fields[i], table->fields[i]);
		}
	}
}

/* a writer of one field, and rows for it that are all the same */
static ParquetWriter *
begin_writer(LakeArena *arena, const ParquetField *field,
			 const ParquetWriterOptions *options, MemoryOutput **output)
{
	const ParquetField **fields = lake_alloc(arena, sizeof *fields);

	fields[0] = field;
	*output = memory_output_create(arena);
	return parquet_writer_create(arena, &(*output)->output, fields, 1,
								 options);
}

static void
what_has_no_place_in_a_file_is_refused(LakeArena *arena)
{
	ParquetField empty = {
		.name = "s", .shape = PARQUET_STRUCT, .layout = VECTOR_STRUCT
	};
	ParquetField decimal = {
		.name = "n", .physical = PARQUET_FIXED_LEN_BYTE_ARRAY,
		.type_length = 8, .logical = PARQUET_LOGICAL_DECIMAL, .precision = 19
	};
	ParquetField fixed = {
		.name = "f", .physical = PARQUET_FIXED_LEN_BYTE_ARRAY
	};
	ParquetField *deep = lake_alloc(arena, sizeof *deep);
	MemoryOutput *output;

	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "struct without fields: \"s\"",
				 begin_writer(arena, &empty, &plain_options, &output));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "\"n\" has 8 bytes for 19 digits",
				 begin_writer(arena, &decimal, &plain_options, &output));
	decimal.physical = PARQUET_INT64;
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "too few bytes for 19 digits",
				 begin_writer(arena, &decimal, &plain_options, &output));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "\"f\" has values of 0 bytes",
				 begin_writer(arena, &fixed, &plain_options, &output));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "table without columns",
				 parquet_writer_create(arena, &output->output, NULL, 0,
									   &plain_options));
	deep->name = "leaf";
	for (int i = 0; i < 201; i++)
	{
		ParquetField *list = lake_alloc(arena, sizeof *list);
		ParquetField **children = lake_alloc(arena, sizeof *children);

		children[0] = deep;
		list->name = "l";
		list->shape = PARQUET_LIST;
		list->child_count = 1;
		list->children = children;
		deep = list;
	}
	CHECK_THROWS(LAKE_ERROR_LIMIT, "nested more than 200 levels",
				 begin_writer(arena, deep, &plain_options, &output));
}

/* ---- values ---- */

static void
a_null_in_a_required_field_is_refused(LakeArena *arena)
{
	int32_t		values[2] = {1, 2};
	uint8_t		nulls[2] = {0, 1};
	ParquetField field = {
		.name = "r", .physical = PARQUET_INT32, .field_id = 1
	};
	ParquetField *children[1] = {&field};
	ParquetField outer = {
		.name = "s", .shape = PARQUET_STRUCT, .optional = true,
		.child_count = 1, .children = children
	};
	LakeVector	vector = {
		.layout = VECTOR_I32, .count = 2, .values = values, .nulls = nulls
	};
	LakeVector *child_vectors[1] = {&vector};
	LakeVector	outer_vector = {
		.layout = VECTOR_STRUCT, .count = 2, .child_count = 1,
		.children = child_vectors
	};
	const LakeVector *columns[1] = {&vector};
	MemoryOutput *output;
	ParquetWriter *writer = begin_writer(arena, &field, &plain_options,
										 &output);

	CHECK_THROWS(LAKE_ERROR_INTERNAL, "\"r\" is required and has a NULL",
				 parquet_writer_write(writer, columns, NULL, 2));
	columns[0] = &outer_vector;
	writer = begin_writer(arena, &outer, &plain_options, &output);
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "\"r\" is required and has a NULL",
				 parquet_writer_write(writer, columns, NULL, 2));
	/* where the struct is NULL itself, its field may be */
	outer_vector.nulls = nulls;
	writer = begin_writer(arena, &outer, &plain_options, &output);
	parquet_writer_write(writer, columns, NULL, 2);
	CHECK_INT(parquet_writer_finish(writer)->leaves[0].null_count, 1);
}

static void
decimals_beyond_their_precision_are_refused(LakeArena *arena)
{
	int64_t		values[2] = {99999, -100000};
	ParquetField field = {
		.name = "n", .physical = PARQUET_INT64,
		.logical = PARQUET_LOGICAL_DECIMAL, .precision = 5, .scale = 2
	};
	LakeVector	vector = {.layout = VECTOR_I64, .count = 2, .values = values};
	const LakeVector *columns[1] = {&vector};
	MemoryOutput *output;
	ParquetWriter *writer = begin_writer(arena, &field, &plain_options,
										 &output);

	parquet_writer_write(writer, columns, NULL, 1);
	parquet_writer_flush(writer);
	parquet_writer_write(writer, columns, NULL, 2);
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "does not fit decimal(5,2)",
				 parquet_writer_finish(writer));
}

static void
bytes_of_another_length_are_refused(LakeArena *arena)
{
	LakeBytes	value = {(const uint8_t *) "123456", 6};
	ParquetField field = {
		.name = "f", .physical = PARQUET_FIXED_LEN_BYTE_ARRAY,
		.type_length = 5
	};
	LakeVector	vector = {.layout = VECTOR_BYTES, .count = 1, .values = &value};
	const LakeVector *columns[1] = {&vector};
	MemoryOutput *output;
	ParquetWriter *writer = begin_writer(arena, &field, &plain_options,
										 &output);

	CHECK_THROWS(LAKE_ERROR_INTERNAL, "\"f\" has a value of 6 bytes instead of 5",
				 parquet_writer_write(writer, columns, NULL, 1));
}

/* ---- what the footer says ---- */

/* the raw statistics of the first chunk: a field's value, or -1 */
static int
statistics_flag(const ParquetFile *file, int32_t id)
{
	LakeBytes	bytes = file->row_groups[0].chunks[0].statistics;
	ThriftField field = {0};
	ByteCursor	cursor;

	cursor_init(&cursor, bytes.data, bytes.len, "statistics");
	while (thrift_next(&cursor, &field))
	{
		if (field.id == id && field.type != THRIFT_BINARY)
			return thrift_bool(&cursor, &field);
		if (field.id == id)
			return (int) thrift_binary(&cursor, &field).len;
		thrift_skip(&cursor, &field);
	}
	return -1;
}

static const ParquetFile *
write_texts(LakeArena *arena, const char *first, const char *second)
{
	LakeBytes	values[2] = {
		{(const uint8_t *) first, strlen(first)},
		{(const uint8_t *) second, strlen(second)}
	};
	ParquetField field = {
		.name = "t", .physical = PARQUET_BYTE_ARRAY,
		.logical = PARQUET_LOGICAL_STRING
	};
	LakeVector	vector = {.layout = VECTOR_BYTES, .count = 2, .values = values};
	const LakeVector *columns[1] = {&vector};
	MemoryOutput *output;
	ParquetWriter *writer = begin_writer(arena, &field, &plain_options,
										 &output);
	const ParquetTotals *totals;

	parquet_writer_write(writer, columns, NULL, 2);
	totals = parquet_writer_finish(writer);
	/* the totals are never cut */
	CHECK_INT(((const LakeBytes *) totals->leaves[0].bounds.values)[1].len,
			  strlen(second));
	return parquet_file_open(arena, memory_output_open(output, arena));
}

static void
bounds_say_whether_they_are_exact(LakeArena *arena)
{
	char		text[101] = {0};
	const ParquetFile *file = write_texts(arena, "a", "b");

	CHECK_INT(statistics_flag(file, 7), 1);
	CHECK_INT(statistics_flag(file, 8), 1);
	memset(text, 'x', 100);
	file = write_texts(arena, "a", text);
	CHECK_INT(statistics_flag(file, 5), BOUND_BYTES);
	CHECK_INT(statistics_flag(file, 7), 0);
	CHECK_INT(statistics_flag(file, 8), 1);
	/* those that were compared in ways unknown */
	CHECK_INT(statistics_flag(file, 1), -1);
	CHECK_INT(statistics_flag(file, 2), -1);
}

static void
values_that_are_all_nan_have_no_bounds(LakeArena *arena)
{
	double		values[3] = {NAN, NAN, NAN};
	ParquetField field = {.name = "d", .physical = PARQUET_DOUBLE};
	LakeVector	vector = {.layout = VECTOR_F64, .count = 3, .values = values};
	const LakeVector *columns[1] = {&vector};
	const ParquetField *const *fields;
	const ParquetFile *file;
	const ParquetTotals *totals;
	ParquetStatistics statistics;
	MemoryOutput *output;
	ParquetWriter *writer = begin_writer(arena, &field, &plain_options,
										 &output);

	parquet_writer_write(writer, columns, NULL, 3);
	totals = parquet_writer_finish(writer);
	CHECK_INT(totals->leaves[0].nan_count, 3);
	CHECK(!totals->leaves[0].has_bounds);
	file = parquet_file_open(arena, memory_output_open(output, arena));
	parquet_file_fields(file, &fields);
	parquet_statistics_get(file, arena, 0, fields[0], &statistics);
	CHECK(!statistics.has_min && !statistics.has_max);
	CHECK_INT(statistics.null_count, 0);
	/* an index without bounds would say that the page is empty */
	CHECK(parquet_page_index_read(file, arena, 0, fields[0]) == NULL);
	CHECK(file->row_groups[0].chunks[0].offset_index.size > 0);
}

static void
metadata_is_in_the_footer(LakeArena *arena)
{
	static const char *const metadata[] = {"k", "v", "empty", ""};
	ParquetWriterOptions options = plain_options;
	ParquetField field = {.name = "i", .physical = PARQUET_INT32};
	const ParquetFile *file;
	MemoryOutput *output;
	ParquetWriter *writer;

	options.metadata_count = 2;
	options.metadata = metadata;
	writer = begin_writer(arena, &field, &options, &output);
	parquet_writer_finish(writer);
	file = parquet_file_open(arena, memory_output_open(output, arena));
	CHECK_STRING(parquet_file_metadata(file, "k"), "v");
	CHECK_STRING(parquet_file_metadata(file, "empty"), "");
	CHECK_STRING(parquet_file_created_by(file), "lakefdw version 0.0.0");
}

/* ---- bloom filters ---- */

/* writes 0, 1, ... below distinct over and over; the file's filter */
static ParquetBloom *
write_bloom(LakeArena *arena, uint32_t rows, uint32_t distinct,
			size_t max_bytes, size_t dictionary_bytes, int64_t *size)
{
	static const bool bloom[1] = {true};
	ParquetWriterOptions options = plain_options;
	int64_t    *values = lake_alloc_array(arena, rows, sizeof *values);
	ParquetField field = {.name = "i", .physical = PARQUET_INT64};
	LakeVector	vector = {
		.layout = VECTOR_I64, .count = rows, .values = values
	};
	const LakeVector *columns[1] = {&vector};
	const ParquetField *const *fields;
	const ParquetFile *file;
	MemoryOutput *output;
	ParquetWriter *writer;

	for (uint32_t i = 0; i < rows; i++)
		values[i] = i % distinct;
	options.bloom = bloom;
	options.bloom_max_bytes = max_bytes;
	options.dictionary_bytes = dictionary_bytes;
	writer = begin_writer(arena, &field, &options, &output);
	parquet_writer_write(writer, columns, NULL, rows);
	parquet_writer_finish(writer);
	file = parquet_file_open(arena, memory_output_open(output, arena));
	parquet_file_fields(file, &fields);
	*size = file->row_groups[0].chunks[0].bloom.size;
	return parquet_bloom_read(file, arena, 0, fields[0]);
}

/* of a thousand values that are absent */
static int
count_false(ParquetBloom *bloom)
{
	int			count = 0;

	for (int64_t i = 1000000000; i < 1000001000; i++)
		count += parquet_bloom_may_contain(bloom,
										   encoding_bytes((const uint8_t *) &i, 8));
	return count;
}

static void
a_filter_is_as_large_as_its_values_need(LakeArena *arena)
{
	static const size_t dictionaries[] = {0, 1 << 20};

	for (int i = 0; i < 2; i++)
	{
		int64_t		size;
		ParquetBloom *bloom = write_bloom(arena, 50000, 1000, 1 << 20,
										  dictionaries[i], &size);

		/* 1000 values at 1 %: 10 bits each, rounded up to a power of two */
		CHECK(size < 2100);
		CHECK(count_false(bloom) < 30);
		bloom = write_bloom(arena, 50000, 50000, 1 << 20, dictionaries[i],
							&size);
		CHECK(size < 132000);
		CHECK(count_false(bloom) < 30);
	}
}

static void
a_filter_is_never_larger_than_its_limit(LakeArena *arena)
{
	int64_t		size;
	ParquetBloom *bloom = write_bloom(arena, 50000, 50000, 5000, 0, &size);

	CHECK(size < 4150);
	for (int64_t i = 0; i < 50000; i++)
		CHECK(parquet_bloom_may_contain(bloom,
										encoding_bytes((const uint8_t *) &i, 8)));
	bloom = write_bloom(arena, 10, 10, 0, 0, &size);
	CHECK(bloom != NULL && size < 60);
}

static const UnitTest tests[] = {
	UNIT(what_is_written_is_read_back),
	UNIT(fields_are_read_back),
	UNIT(what_has_no_place_in_a_file_is_refused),
	UNIT(a_null_in_a_required_field_is_refused),
	UNIT(decimals_beyond_their_precision_are_refused),
	UNIT(bytes_of_another_length_are_refused),
	UNIT(bounds_say_whether_they_are_exact),
	UNIT(values_that_are_all_nan_have_no_bounds),
	UNIT(metadata_is_in_the_footer),
	UNIT(a_filter_is_as_large_as_its_values_need),
	UNIT(a_filter_is_never_larger_than_its_limit),
};

UNIT_MAIN(tests)
