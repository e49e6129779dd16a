/*
 * For fuzzers: a column of a row group read in two ways, which must give the
 * same values, and by ranges, in which an offset index may lie.
 */
#ifndef LAKE_PARQUET_CHECK_H
#define LAKE_PARQUET_CHECK_H

#include "encode.h"
#include "parquet/parquet.h"
#include "vector_check.h"

/* a few bytes can announce any number of NULLs */
#define CHECK_MAX_ROWS 3000

typedef struct CheckedRows
{
	LakeBuffer	bytes;
	size_t		ends[CHECK_MAX_ROWS];
} CheckedRows;

static inline uint32_t
checked_step(uint64_t *random, uint32_t left)
{
	uint32_t	n = (uint32_t) (encode_random(random) % 700);

	return n < left ? n : left;
}

static inline void
checked_keep(CheckedRows *rows, const LakeVector *vector, uint32_t at)
{
	for (uint32_t i = 0; i < vector->count; i++)
	{
		vector_append(&rows->bytes, vector, i);
		rows->ends[at + i] = rows->bytes.len;
	}
}

static inline void
checked_compare(const CheckedRows *rows, LakeBuffer *scratch, const LakeVector *vector,
				uint32_t at)
{
	size_t		start = at == 0 ? 0 : rows->ends[at - 1];

	scratch->len = 0;
	for (uint32_t i = 0; i < vector->count; i++)
		vector_append(scratch, vector, i);
	if (vector->count == 0)
		return;
	if (rows->ends[at + vector->count - 1] - start != scratch->len ||
		(scratch->len > 0 &&
		 memcmp(rows->bytes.data + start, scratch->data, scratch->len) != 0))
		abort();
}

/* by the offset index; what it says of pages that are not read is believed */
static inline void
checked_ranges(ParquetReader *reader, int group, uint32_t row_count)
{
	ParquetRows ranges[8];
	uint64_t	random = row_count + 2;
	uint32_t	at = 0;
	int			count = 0;

	while (count < 8 && at + 2 < row_count)
	{
		uint32_t	left = row_count - at;
		uint32_t	first = at + (uint32_t) (encode_random(&random) %
											 (left / 4 + 1));
		uint32_t	n = 1 + checked_step(&random, left / 8);

		ranges[count++] = (ParquetRows) {first, first + n};
		at = first + n + 1;
	}
	parquet_reader_begin_rows(reader, group, ranges, count);
	for (int i = 0; i < count; i++)
	{
		uint32_t	n = (uint32_t) (ranges[i].end - ranges[i].first);
		const LakeVector *vector;

		parquet_reader_skip(reader, 0, (uint64_t) ranges[i].first -
							parquet_reader_position(reader, 0));
		vector = parquet_reader_read(reader, 0, n);
		if (vector->count != n)
			abort();
		vector_check(vector);
	}
	parquet_reader_end(reader);
}

/*
 * Reads the first rows three times: all of them, then some, then ranges; aborts
 * on a difference between the first two.
 */
static inline void
parquet_check_column(LakeArena *arena, const ParquetFile *file, int group,
					 const ParquetField *field, int64_t group_rows)
{
	uint32_t	row_count = group_rows < CHECK_MAX_ROWS ?
		(uint32_t) group_rows : CHECK_MAX_ROWS;
	ParquetReader *reader = parquet_reader_create(arena, file, &field, 1);
	uint64_t	random = row_count + 1;
	LakeBuffer	scratch;
	CheckedRows rows;

	buffer_init(&rows.bytes, arena);
	buffer_init(&scratch, arena);
	parquet_reader_begin(reader, group);
	for (uint32_t at = 0; at < row_count;)
	{
		uint32_t	n = checked_step(&random, row_count - at);
		const LakeVector *vector = parquet_reader_read(reader, 0, n);

		if (vector->count != n)
			abort();
		vector_check(vector);
		checked_keep(&rows, vector, at);
		at += n;
	}
	parquet_reader_begin(reader, group);
	for (uint32_t at = 0; at < row_count;)
	{
		uint32_t	skip = checked_step(&random, row_count - at);
		uint32_t	n = checked_step(&random, row_count - at - skip);
		const LakeVector *vector;

		parquet_reader_skip(reader, 0, skip);
		at += skip;
		vector = parquet_reader_read(reader, 0, n);
		vector_check(vector);
		checked_compare(&rows, &scratch, vector, at);
		at += n;
	}
	checked_ranges(reader, group, row_count);
}

#endif							/* LAKE_PARQUET_CHECK_H */
