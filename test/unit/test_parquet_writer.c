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
	printf("%d leaves, %d with index, %d with bounds, %d with bloom\n",
		   all.leaves, all.with_index, all.with_bounds, all.with_bloom);
}

static const UnitTest tests[] = {
	UNIT(what_is_written_is_read_back),
};

UNIT_MAIN(tests)
