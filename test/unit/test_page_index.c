/*
 * Page indexes and bloom filters: a sound one is read, and one that contradicts
 * itself, the footer or the file is none.
 */
#include "base/hash.h"
#include "parquet_build.h"
#include "unit.h"

#define PAGES	3
#define ROWS	30

/* the index of a required INT64 column in three pages of ten rows */
typedef struct Case
{
	int64_t		offsets[PAGES]; /* from the first page's */
	int64_t		sizes[PAGES];
	int64_t		first_rows[PAGES];
	int64_t		mins[PAGES];
	int64_t		maxs[PAGES];
	bool		nulls[PAGES];	/* pages of NULLs */
	int64_t		null_counts[PAGES];
	int64_t		group_nulls;
	int64_t		group_min;
	int64_t		group_max;
	int64_t		order;			/* 0 unordered, 1 ascending, 2 descending */
	size_t		bounds_count;	/* of each list */
	int64_t		cut;			/* bytes that the indexes are shorter */
	int64_t		beyond;			/* added to their offsets */
	bool		odd_places;
} Case;

static const Case sound = {
	.offsets = {0, 40, 80}, .sizes = {40, 40, 40}, .first_rows = {0, 10, 20},
	.mins = {1, 11, 21}, .maxs = {10, 20, 30}, .group_min = 1,
	.group_max = 30, .order = 1, .bounds_count = PAGES
};

static void
put_bounds(ThriftWriter *writer, int32_t id, const int64_t *bounds,
		   const Case *test)
{
	thrift_put_list(writer, id, THRIFT_BINARY, test->bounds_count);
	for (size_t i = 0; i < test->bounds_count; i++)
	{
		encode_varint(writer->out, test->nulls[i] ? 0 : sizeof *bounds);
		if (!test->nulls[i])
			buffer_append(writer->out, &bounds[i], sizeof *bounds);
	}
}

static ParquetPlace
put_offset_index(LakeBuffer *out, const Case *test, int64_t first_page)
{
	ThriftWriter writer = {.out = out};
	ParquetPlace place = {.offset = (int64_t) out->len};

	thrift_put_list(&writer, 1, THRIFT_STRUCT, PAGES);
	for (int i = 0; i < PAGES; i++)
	{
		thrift_begin_element(&writer);
		thrift_put_int(&writer, 1, THRIFT_I64, first_page + test->offsets[i]);
		thrift_put_int(&writer, 2, THRIFT_I32, test->sizes[i]);
		thrift_put_int(&writer, 3, THRIFT_I64, test->first_rows[i]);
		thrift_end_struct(&writer);
	}
	buffer_append_byte(out, THRIFT_STOP);
	place.size = (int64_t) out->len - place.offset;
	return place;
}

static ParquetPlace
put_column_index(LakeBuffer *out, const Case *test)
{
	ThriftWriter writer = {.out = out};
	ParquetPlace place = {.offset = (int64_t) out->len};

	thrift_put_list(&writer, 1, THRIFT_TRUE, test->bounds_count);
	for (size_t i = 0; i < test->bounds_count; i++)
		buffer_append_byte(out, test->nulls[i] ? THRIFT_TRUE : THRIFT_FALSE);
	put_bounds(&writer, 2, test->mins, test);
	put_bounds(&writer, 3, test->maxs, test);
	thrift_put_int(&writer, 4, THRIFT_I32, test->order);
	thrift_put_list(&writer, 5, THRIFT_I64, test->bounds_count);
	for (size_t i = 0; i < test->bounds_count; i++)
		encode_zigzag(out, (uint64_t) test->null_counts[i]);
	buffer_append_byte(out, THRIFT_STOP);
	place.size = (int64_t) out->len - place.offset;
	return place;
}

static ParquetFile *
finish(LakeArena *arena, LakeBuffer *out, BuildChunk *chunk, bool optional)
{
	static const int64_t rows = ROWS;
	BuildElement elements[2] = {
		GROUP("root", 0, 1), FIELD("c", PARQUET_INT64, optional)
	};
	BuildFile	file = {
		.elements = elements, .element_count = 2, .chunks = chunk,
		.leaf_count = 1, .group_rows = &rows, .group_count = 1, .rows = rows,
		.ordered = true
	};

	return parquet_file_open(arena, build_finish(out, &file));
}

/* NULL: the index is not believed */
static ParquetPageIndex *
index_of(LakeArena *arena, Case test)
{
	BuildChunk	chunk = {.physical = PARQUET_INT64, .values = ROWS};
	ParquetFile *parquet;
	LakeBuffer	out;

	build_begin(&out, arena);
	chunk.offset = (int64_t) out.len;
	chunk.size = 120;
	/* the pages themselves are not looked at */
	for (int i = 0; i < 120; i++)
		buffer_append_byte(&out, 0);
	chunk.min = encoding_bytes((const uint8_t *) &test.group_min, 8);
	chunk.max = encoding_bytes((const uint8_t *) &test.group_max, 8);
	chunk.null_count = test.group_nulls + 1;
	chunk.offset_index = put_offset_index(&out, &test, chunk.offset);
	chunk.column_index = put_column_index(&out, &test);
	chunk.offset_index.offset += test.beyond;
	chunk.column_index.offset += test.beyond;
	chunk.column_index.size -= test.cut;
	chunk.odd_places = test.odd_places;
	parquet = finish(arena, &out, &chunk, true);
	return parquet_page_index_read(parquet, arena, 0, parquet->fields[0]);
}

static void
a_sound_index_is_read(LakeArena *arena)
{
	ParquetPageIndex *index = index_of(arena, sound);
	ParquetStatistics statistics;

	CHECK(index != NULL);
	CHECK_INT(parquet_page_index_count(index), PAGES);
	for (int i = 0; i <= PAGES; i++)
		CHECK_INT(parquet_page_index_row(index, i), 10 * i);
	parquet_page_index_statistics(index, arena, 1, &statistics);
	CHECK_INT(statistics.value_count, 10);
	CHECK_INT(statistics.null_count, 0);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK_INT(((const int64_t *) statistics.bounds.values)[0], 11);
	CHECK_INT(((const int64_t *) statistics.bounds.values)[1], 20);
}

static void
pages_of_nulls_have_no_bounds(LakeArena *arena)
{
	Case		test = sound;
	ParquetPageIndex *index;
	ParquetStatistics statistics;

	test.nulls[1] = true;
	test.null_counts[1] = 10;
	test.group_nulls = 10;
	index = index_of(arena, test);
	CHECK(index != NULL);
	parquet_page_index_statistics(index, arena, 1, &statistics);
	CHECK_INT(statistics.null_count, 10);
	CHECK(!statistics.has_min && !statistics.has_max);
}

static void
pages_must_be_in_the_chunk_one_after_the_other(LakeArena *arena)
{
	Case		test = sound;

	test.offsets[0] = -1;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.sizes[2] = 41;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.offsets[1] = 39;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.sizes[0] = 0;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.offsets[1] = INT64_MAX - 4;
	CHECK(index_of(arena, test) == NULL);
}

static void
rows_must_rise_from_zero_to_the_group_s_end(LakeArena *arena)
{
	Case		test = sound;

	test.first_rows[0] = 1;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.first_rows[1] = 20;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.first_rows[2] = ROWS;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.first_rows[1] = -10;
	CHECK(index_of(arena, test) == NULL);
}

static void
bounds_must_be_those_of_all_pages(LakeArena *arena)
{
	Case		test = sound;

	test.bounds_count = 2;
	CHECK(index_of(arena, test) == NULL);
}

/* a bound that is too narrow would lose rows */
static void
bounds_must_agree_with_the_footer(LakeArena *arena)
{
	Case		test = sound;

	test.maxs[1] = 31;
	test.order = 0;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.mins[0] = 2;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.group_nulls = 1;
	CHECK(index_of(arena, test) == NULL);
}

static void
bounds_must_be_in_the_order_they_claim(LakeArena *arena)
{
	Case		test = sound;

	test.order = 2;
	CHECK(index_of(arena, test) == NULL);
	test.order = 7;
	CHECK(index_of(arena, test) == NULL);
	test.order = 0;
	CHECK(index_of(arena, test) != NULL);
}

static void
counts_of_nulls_must_agree_with_pages_of_nulls(LakeArena *arena)
{
	Case		test = sound;

	test.null_counts[1] = test.group_nulls = 10;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.nulls[1] = true;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.null_counts[1] = test.group_nulls = 11;
	CHECK(index_of(arena, test) == NULL);
	test = sound;
	test.null_counts[0] = -1;
	CHECK(index_of(arena, test) == NULL);
}

static void
bytes_that_are_no_index_are_none(LakeArena *arena)
{
	Case		test = sound;

	for (test.cut = 1; test.cut < 80; test.cut++)
		CHECK(index_of(arena, test) == NULL);
	test = sound;
	for (test.beyond = 1; test.beyond < 60; test.beyond++)
		CHECK(index_of(arena, test) == NULL);
	test.beyond = INT64_MAX / 2;
	CHECK(index_of(arena, test) == NULL);
}

/* Dremio's files have lists by those ids */
static void
other_fields_by_those_ids_are_passed_over(LakeArena *arena)
{
	Case		test = sound;

	test.odd_places = true;
	CHECK(index_of(arena, test) == NULL);
}

/* ---- bloom filters ---- */

#define BLOCK_WORDS	8
#define BLOCKS		5

/* a filter that says to have size bytes; algorithm 1 is the known one */
static ParquetBloom *
bloom_of(LakeArena *arena, const uint32_t *words, int blocks, int32_t size,
		 int algorithm, int64_t place_size)
{
	BuildChunk	chunk = {.physical = PARQUET_INT64, .values = ROWS};
	ThriftWriter writer;
	ParquetFile *parquet;
	LakeBuffer	out;

	build_begin(&out, arena);
	chunk.offset = (int64_t) out.len;
	chunk.size = 8;
	for (int i = 0; i < 8; i++)
		buffer_append_byte(&out, 0);
	chunk.bloom.offset = (int64_t) out.len;
	writer = (ThriftWriter) {.out = &out};
	thrift_put_int(&writer, 1, THRIFT_I32, size);
	for (int32_t id = 2; id <= 4; id++)
	{
		thrift_begin_struct(&writer, id);
		thrift_begin_struct(&writer, id == 2 ? algorithm : 1);
		thrift_end_struct(&writer);
		thrift_end_struct(&writer);
	}
	buffer_append_byte(&out, THRIFT_STOP);
	buffer_append(&out, words, (size_t) blocks * BLOCK_WORDS * sizeof *words);
	chunk.bloom.size = place_size != 0 ? place_size :
		(int64_t) out.len - chunk.bloom.offset;
	parquet = finish(arena, &out, &chunk, false);
	return parquet_bloom_read(parquet, arena, 0, parquet->fields[0]);
}

static bool
has(ParquetBloom *bloom, int64_t value)
{
	return parquet_bloom_may_contain(bloom, encoding_bytes((const uint8_t *) &value,
														   sizeof value));
}

/* sets the value's bits as the format's specification says it */
static void
put_value(uint32_t *words, uint64_t blocks, int64_t value)
{
	static const uint32_t salts[BLOCK_WORDS] = {
		0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
		0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
	};
	uint64_t	hash = hash_xxh64((const uint8_t *) &value, 8, 0);
	uint32_t   *block = words + BLOCK_WORDS * ((hash >> 32) * blocks >> 32);

	for (int i = 0; i < BLOCK_WORDS; i++)
		block[i] |= UINT32_C(1) << ((uint32_t) hash * salts[i] >> 27);
}

static void
a_filter_has_what_was_put_into_it(LakeArena *arena)
{
	uint32_t	words[BLOCK_WORDS] = {0};
	ParquetBloom *bloom;
	int			others = 0;

	put_value(words, 1, 7);
	bloom = bloom_of(arena, words, 1, 32, 1, 0);
	CHECK(bloom != NULL);
	CHECK(has(bloom, 7));
	for (int64_t i = 8; i < 1000; i++)
		others += has(bloom, i);
	CHECK_INT(others, 0);
}

static void
a_value_is_in_its_own_block(LakeArena *arena)
{
	for (int64_t value = 1; value <= 50; value++)
	{
		uint32_t	words[BLOCKS * BLOCK_WORDS] = {0};

		put_value(words, BLOCKS, value);
		CHECK(has(bloom_of(arena, words, BLOCKS, 32 * BLOCKS, 1, 0), value));
	}
}

static void
a_filter_of_another_kind_or_size_is_none(LakeArena *arena)
{
	static const uint32_t words[BLOCK_WORDS];

	CHECK(bloom_of(arena, words, 1, 32, 1, 0) != NULL);
	CHECK(bloom_of(arena, words, 1, 32, 2, 0) == NULL);
	CHECK(bloom_of(arena, words, 1, 31, 1, 0) == NULL);
	CHECK(bloom_of(arena, words, 1, 0, 1, 0) == NULL);
	CHECK(bloom_of(arena, words, 1, -32, 1, 0) == NULL);
	CHECK(bloom_of(arena, words, 1, 1 << 20, 1, 0) == NULL);
	CHECK(bloom_of(arena, words, 1, 32, 1, 33) == NULL);
}

static const UnitTest tests[] = {
	UNIT(a_sound_index_is_read),
	UNIT(pages_of_nulls_have_no_bounds),
	UNIT(pages_must_be_in_the_chunk_one_after_the_other),
	UNIT(rows_must_rise_from_zero_to_the_group_s_end),
	UNIT(bounds_must_be_those_of_all_pages),
	UNIT(bounds_must_agree_with_the_footer),
	UNIT(bounds_must_be_in_the_order_they_claim),
	UNIT(counts_of_nulls_must_agree_with_pages_of_nulls),
	UNIT(bytes_that_are_no_index_are_none),
	UNIT(other_fields_by_those_ids_are_passed_over),
	UNIT(a_filter_has_what_was_put_into_it),
	UNIT(a_value_is_in_its_own_block),
	UNIT(a_filter_of_another_kind_or_size_is_none)
};

UNIT_MAIN(tests)
