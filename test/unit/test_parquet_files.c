/*
 * Files that other engines wrote, of known rows: every column by batches of any
 * size, with and without skipping.  test/data/parquet/make.py has the same
 * formulas.
 */
#include <stdio.h>

#include "base/decimal.h"
#include "parquet_build.h"
#include "unit.h"

#define ROWS 600

static const char *const files[] = {
	"v1_dictionary", "v1_fallback", "v2_delta", "v2_checksum", "duckdb"
};

#define FILES (sizeof files / sizeof files[0])

static void
close_stream(void *stream)
{
	fclose(stream);
}

static LakeBuffer
file_bytes(LakeArena *arena, const char *name)
{
	char	   *path = lake_printf(arena, "test/data/parquet/%s.parquet", name);
	FILE	   *stream = fopen(path, "rb");
	LakeBuffer	buffer;
	size_t		got;

	buffer_init(&buffer, arena);
	if (stream == NULL)
		lake_throw(LAKE_ERROR_MISSING, "cannot open %s", path);
	lake_defer(arena, close_stream, stream);
	do
	{
		buffer_reserve(&buffer, 65536);
		got = fread(buffer.data + buffer.len, 1, 65536, stream);
		buffer.len += got;
	} while (got > 0);
	return buffer;
}

static ParquetFile *
open_bytes(LakeArena *arena, LakeBuffer bytes)
{
	return parquet_file_open(arena, lake_file_from_memory(arena, "file",
														  encoding_bytes(bytes.data, bytes.len)));
}

/* ---- the formulas ---- */

static void
check_number(const LakeVector *vector, uint32_t i, int row)
{
	CHECK_INT(vector_is_null(vector, i), row % 7 == 0);
	if (row % 7 != 0)
		CHECK_INT(*(const int32_t *) vector_value(vector, i), row * 3 - 100);
}

static void
check_bytes(const LakeVector *vector, uint32_t i, const char *expected)
{
	LakeBytes	bytes = *(const LakeBytes *) vector_value(vector, i);

	CHECK_INT(bytes.len, strlen(expected));
	CHECK(memcmp(bytes.data, expected, bytes.len) == 0);
}

static void
check_text(const LakeVector *vector, uint32_t i, int row)
{
	char		expected[32];

	CHECK_INT(vector_is_null(vector, i), row % 11 == 0);
	snprintf(expected, sizeof expected, "text %d", row % 40);
	if (row % 11 != 0)
		check_bytes(vector, i, expected);
}

static void
check_amount(const LakeVector *vector, uint32_t i, int row)
{
	int64_t		cents = (row * 1000 + 25) * (1 - row % 2 * 2);

	CHECK(!vector_is_null(vector, i));
	CHECK(*(const LakeInt128 *) vector_value(vector, i) == cents);
}

static void
check_items(const LakeVector *vector, uint32_t i, int row)
{
	const LakeVector *items = vector->children[0];
	uint32_t	first = vector->offsets[i];

	CHECK_INT(vector_is_null(vector, i), row % 13 == 0);
	if (row % 13 == 0)
		return;
	CHECK_INT(vector->offsets[i + 1] - first, row % 4);
	for (uint32_t k = 0; k < (uint32_t) row % 4; k++)
	{
		CHECK_INT(vector_is_null(items, first + k), k == 2);
		if (k != 2)
			CHECK_INT(*(const int64_t *) vector_value(items, first + k),
					  row * 10 + (int) k);
	}
}

static void
check_pair(const LakeVector *vector, uint32_t i, int row)
{
	char		expected[32];

	CHECK_INT(vector_is_null(vector, i), row % 5 == 0);
	if (row % 5 == 0)
		return;
	CHECK_INT(*(const int32_t *) vector_value(vector->children[0], i), row);
	CHECK_INT(vector_is_null(vector->children[1], i), row % 3 == 0);
	snprintf(expected, sizeof expected, "b%d", row);
	if (row % 3 != 0)
		check_bytes(vector->children[1], i, expected);
}

static void (*const checks[]) (const LakeVector *, uint32_t, int) =
{
	check_number, check_text, check_amount, check_items, check_pair
};

#define COLUMNS ((int) (sizeof checks / sizeof checks[0]))

/*
 * Reads all rows of all columns, step rows at a time; every nth step is
 * skipped, none if nth is 0.
 */
static void
read_all(LakeArena *arena, const char *name, uint32_t step, int nth)
{
	ParquetFile *file = open_bytes(arena, file_bytes(arena, name));
	const ParquetField *const *fields;
	ParquetReader *reader;
	int			steps = 0;

	CHECK_INT(parquet_file_fields(file, &fields), COLUMNS);
	CHECK_INT(parquet_file_rows(file), ROWS);
	reader = parquet_reader_create(arena, file, fields, COLUMNS);
	for (int group = 0; group < parquet_file_row_groups(file); group++)
	{
		int64_t		rows = parquet_row_group_rows(file, group);
		int			first = (int) parquet_row_group_first_row(file, group);

		parquet_reader_begin(reader, group);
		for (uint32_t at = 0; at < rows;)
		{
			uint32_t	n = step < rows - at ? step : (uint32_t) rows - at;
			bool		skip = nth != 0 && ++steps % nth == 0;

			for (int c = 0; c < COLUMNS; c++)
			{
				const LakeVector *vector;

				CHECK_INT(parquet_reader_position(reader, c), at);
				if (skip)
				{
					parquet_reader_skip(reader, c, n);
					continue;
				}
				vector = parquet_reader_read(reader, c, n);
				CHECK_INT(vector->count, n);
				for (uint32_t i = 0; i < n; i++)
					checks[c] (vector, i, first + (int) (at + i));
			}
			at += n;
		}
	}
}

static void
all_rows_at_once_are_right(LakeArena *arena)
{
	for (size_t i = 0; i < FILES; i++)
		read_all(arena, files[i], ROWS, 0);
}

static void
batches_of_any_size_are_right(LakeArena *arena)
{
	static const uint32_t steps[] = {1, 7, 64, 100};

	for (size_t i = 0; i < FILES; i++)
	{
		for (size_t k = 0; k < 4; k++)
			read_all(arena, files[i], steps[k], 0);
	}
}

static void
rows_after_skipped_ones_are_right(LakeArena *arena)
{
	static const uint32_t steps[] = {1, 9, 33, 150};

	for (size_t i = 0; i < FILES; i++)
	{
		for (size_t k = 0; k < 4; k++)
		{
			read_all(arena, files[i], steps[k], 2);
			read_all(arena, files[i], steps[k], 3);
		}
	}
}

/* does reading all columns give an error with this text? */
static bool
fails_with(LakeArena *arena, LakeBuffer bytes, const char *text)
{
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		ParquetFile *file = open_bytes(arena, bytes);
		const ParquetField *const *fields;
		int			count = parquet_file_fields(file, &fields);
		ParquetReader *reader =
			parquet_reader_create(arena, file, fields, count);

		parquet_reader_begin(reader, 0);
		for (int c = 0; c < count; c++)
			parquet_reader_read(reader, c,
								(uint32_t) parquet_row_group_rows(file, 0));
		lake_try_end(&try);
		return false;
	}
	return try.code == LAKE_ERROR_CORRUPT && strstr(try.message, text) != NULL;
}

static void
changed_bytes_of_a_page_fail_its_checksum(LakeArena *arena)
{
	LakeBuffer	bytes = file_bytes(arena, "v2_checksum");

	CHECK(!fails_with(arena, bytes, ""));
	/* in the values of the first page */
	bytes.data[100] ^= 1;
	CHECK(fails_with(arena, bytes, "checksum"));
}

static void
truncated_files_are_refused(LakeArena *arena)
{
	LakeBuffer	bytes = file_bytes(arena, "v1_dictionary");

	for (size_t len = 0; len < bytes.len; len += 97)
	{
		LakeBuffer	part = bytes;

		part.len = len;
		CHECK(fails_with(arena, part, len < 12 ? "too small" : "magic"));
	}
}

static void
schema_is_that_of_the_writers(LakeArena *arena)
{
	for (size_t i = 0; i < FILES; i++)
	{
		ParquetFile *file = open_bytes(arena, file_bytes(arena, files[i]));
		const ParquetField *const *fields;

		CHECK_INT(parquet_file_fields(file, &fields), COLUMNS);
		CHECK_INT(fields[0]->layout, VECTOR_I32);
		CHECK_INT(fields[1]->logical, PARQUET_LOGICAL_STRING);
		CHECK_INT(fields[2]->layout, VECTOR_I128);
		CHECK_INT(fields[2]->precision, 20);
		CHECK_INT(fields[2]->scale, 2);
		CHECK_INT(fields[3]->shape, PARQUET_LIST);
		CHECK_INT(fields[4]->shape, PARQUET_STRUCT);
		CHECK(parquet_row_group_field_bytes(file, 0, fields[4]) > 0);
		CHECK(parquet_file_metadata(file, "no such key") == NULL);
		CHECK(parquet_file_created_by(file) != NULL);
	}
}

static const UnitTest tests[] = {
	UNIT(all_rows_at_once_are_right),
	UNIT(batches_of_any_size_are_right),
	UNIT(rows_after_skipped_ones_are_right),
	UNIT(changed_bytes_of_a_page_fail_its_checksum),
	UNIT(truncated_files_are_refused),
	UNIT(schema_is_that_of_the_writers)
};

UNIT_MAIN(tests)
