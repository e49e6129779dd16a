/*
 * The Parquet writer, over tables of any shape with values out of the input.
 *
 * Property: what is written is read back equal, and no bound, page or filter
 * excludes a value.
 *
 * Input: 2 bytes of the table's seed, fields, depth, codec, exponents of row
 * group, page and dictionary size, rows of a page, flags; then bytes from which
 * values are made.
 */
#include <stdio.h>
#include <stdlib.h>

#include "memory_output.h"
#include "parquet/writer.h"
#include "random_table.h"
#include "seam_std.h"
#include "vector_check.h"

#define HEADER	10
#define BATCHES	3
#define MAX_ROWS 400
#define MAX_LEAVES 200

typedef struct Input
{
	const uint8_t *data;		/* after the header */
	size_t		size;
	size_t		at;
} Input;

typedef struct Written
{
	uint32_t	rows[BATCHES];
	const LakeVector **columns[BATCHES];
} Written;

static void
take(Input *input, void *out, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *) out)[i] = input->data[input->at++ % input->size];
}

static LakeBytes
take_bytes(Input *input, const ParquetField *field)
{
	uint8_t		len;
	size_t		start = input->at % input->size;
	LakeBytes	bytes = {input->data + start, 0};

	take(input, &len, 1);
	bytes.len = len < input->size - start ? len : input->size - start;
	if (field->physical != PARQUET_BYTE_ARRAY)
		bytes.len = (size_t) field->type_length;
	return bytes;
}

/* a value of the input in the place of a random one */
static void
overlay_value(Input *input, const ParquetField *field, void *value)
{
	LakeInt128	limit = decimal_power10(field->precision > 0 ?
										field->precision : 1);
	LakeInt128	wide;
	int64_t		number;
	int32_t		small;
	LakeBytes	bytes;

	if (field->layout == VECTOR_BYTES)
	{
		if (field->physical != PARQUET_BYTE_ARRAY &&
			input->size - input->at % input->size <
			(size_t) field->type_length)
			return;
		bytes = take_bytes(input, field);
		memcpy(value, &bytes, sizeof bytes);
		return;
	}
	/* not every float is a half */
	if (field->logical == PARQUET_LOGICAL_FLOAT16)
		return;
	if (field->logical != PARQUET_LOGICAL_DECIMAL)
	{
		take(input, value, vector_layout_width(field->layout));
		if (field->layout == VECTOR_BOOL)
			*(uint8_t *) value &= 1;
		return;
	}
	take(input, &wide, sizeof wide);
	wide %= limit;
	number = (int64_t) wide;
	small = (int32_t) wide;
	memcpy(value, field->layout == VECTOR_I128 ? (void *) &wide :
		   field->layout == VECTOR_I64 ? (void *) &number : &small,
		   vector_layout_width(field->layout));
}

static void
overlay(Input *input, const ParquetField *field, LakeVector *vector)
{
	size_t		width = vector_layout_width(field->layout);
	uint32_t	count = vector->dict != NULL ? vector->dict->count :
		vector->count;
	uint8_t    *values = (uint8_t *) (uintptr_t)
	(vector->dict != NULL ? vector->dict->values : vector->values);

	for (int i = 0; i < field->child_count; i++)
		overlay(input, field->children[i], vector->children[i]);
	if (field->shape != PARQUET_PRIMITIVE || input->size == 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		overlay_value(input, field, values + i * width);
}

static void
check_equal(LakeArena *arena, const ParquetFile *file, const Written *written,
			int column, const ParquetField *field)
{
	ParquetReader *reader = parquet_reader_create(arena, file, &field, 1);
	LakeBuffer	expected;
	LakeBuffer	actual;

	buffer_init(&expected, arena);
	buffer_init(&actual, arena);
	for (int batch = 0; batch < BATCHES; batch++)
	{
		for (uint32_t i = 0; i < written->rows[batch]; i++)
			vector_append(&expected, written->columns[batch][column], i);
	}
	for (int group = 0; group < parquet_file_row_groups(file); group++)
	{
		uint32_t	rows = (uint32_t) parquet_row_group_rows(file, group);
		const LakeVector *vector;

		parquet_reader_begin(reader, group);
		vector = parquet_reader_read(reader, 0, rows);
		vector_check(vector);
		for (uint32_t i = 0; i < rows; i++)
			vector_append(&actual, vector, i);
	}
	if (actual.len != expected.len ||
		(actual.len > 0 &&
		 memcmp(actual.data, expected.data, actual.len) != 0))
		abort();
}

static void
check_bounds(const ParquetField *field, const ParquetStatistics *statistics,
			 const void *value)
{
	const uint8_t *bounds = statistics->bounds.values;

	if ((field->layout == VECTOR_F32 && isnan(*(const float *) value)) ||
		(field->layout == VECTOR_F64 && isnan(*(const double *) value)))
		return;
	if ((statistics->has_min && bounds_are_inverted(field, bounds, value)) ||
		(statistics->has_max &&
		 bounds_are_inverted(field, value, bounds +
							 vector_layout_width(field->layout))))
		abort();
}

/* of a top-level primitive, which has been read back already */
static void
check_claims(LakeArena *arena, const ParquetFile *file,
			 const ParquetField *field)
{
	ParquetReader *reader = parquet_reader_create(arena, file, &field, 1);

	for (int group = 0; group < parquet_file_row_groups(file); group++)
	{
		uint32_t	rows = (uint32_t) parquet_row_group_rows(file, group);
		ParquetPageIndex *index = parquet_page_index_read(file, arena, group,
														  field);
		ParquetBloom *bloom = parquet_bloom_read(file, arena, group, field);
		ParquetStatistics whole;
		ParquetStatistics paged;
		const LakeVector *vector;
		int			page = -1;

		parquet_statistics_get(file, arena, group, field, &whole);
		parquet_reader_begin(reader, group);
		vector = parquet_reader_read(reader, 0, rows);
		for (uint32_t i = 0; i < rows; i++)
		{
			if (index != NULL && i == parquet_page_index_row(index, page + 1))
				parquet_page_index_statistics(index, arena, ++page, &paged);
			if (vector_is_null(vector, i))
				continue;
			check_bounds(field, &whole, vector_value(vector, i));
			if (index != NULL)
				check_bounds(field, &paged, vector_value(vector, i));
			if (bloom != NULL && field->layout == VECTOR_BYTES &&
				!parquet_bloom_may_contain(bloom, *(const LakeBytes *)
										   vector_value(vector, i)))
				abort();
		}
	}
}

static void
run(LakeArena *arena, const uint8_t *head, Input *input)
{
	static const LakeCodec codecs[] = {
		CODEC_NONE, CODEC_SNAPPY, CODEC_GZIP, CODEC_LZ4_RAW, CODEC_ZSTD
	};
	bool		bloom[MAX_LEAVES];
	ParquetWriterOptions options = {
		.codec = codecs[head[4] % 5], .level = CODEC_DEFAULT_LEVEL,
		.row_group_bytes = 1u << head[5] % 20,
		.page_bytes = 1u << head[6] % 20,
		.dictionary_bytes = head[7] % 20 == 0 ? 0 : 1u << head[7] % 20,
		.page_rows = head[8], .created_by = "lakefdw version 0.0.0",
		.bloom = head[9] % 2 == 0 ? bloom : NULL, .bloom_fpp = 0.01,
		.bloom_max_bytes = 1u << head[9] % 16
	};
	RandomTable *table = random_table_create(arena, head[0] * 256u + head[1],
											 1 + head[2] % 4, head[3] % 4);
	MemoryOutput *output = memory_output_create(arena);
	ParquetWriter *writer;
	Written		written;
	const ParquetFile *file;
	const ParquetField *const *fields;

	memset(bloom, true, sizeof bloom);
	writer = parquet_writer_create(arena, &output->output, table->fields,
								   table->field_count, &options);
	for (int batch = 0; batch < BATCHES; batch++)
	{
		uint32_t	rows = RANDOM_BELOW(&table->random, MAX_ROWS);
		const LakeVector **columns =
			lake_alloc_array(arena, (size_t) table->field_count,
						 sizeof *columns);

		for (int i = 0; i < table->field_count; i++)
		{
			LakeVector *vector = random_vector(table, table->fields[i], rows);

			overlay(input, table->fields[i], vector);
			columns[i] = vector;
		}
		written.rows[batch] = rows;
		written.columns[batch] = columns;
		parquet_writer_write(writer, columns, NULL, rows);
	}
	parquet_writer_finish(writer);
	file = parquet_file_open(arena, memory_output_open(output, arena));
	parquet_file_fields(file, &fields);
	for (int i = 0; i < table->field_count; i++)
	{
		check_equal(arena, file, &written, i, fields[i]);
		if (fields[i]->shape == PARQUET_PRIMITIVE)
			check_claims(arena, file, fields[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena;
	LakeTry		try;
	Input		input = {data + HEADER, size - HEADER, 0};

	if (size < HEADER)
		return 0;
	arena = lake_arena_create(NULL, "fuzz");
	if (lake_try_begin(&try))
	{
		run(arena, data, &input);
		lake_try_end(&try);
	}
	else
	{
		/* nothing that the harness makes may be refused */
		fprintf(stderr, "%s: %s\n", lake_error_name(try.code), try.message);
		abort();
	}
	lake_arena_destroy(arena);
	return 0;
}
