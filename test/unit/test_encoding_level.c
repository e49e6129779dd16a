/*
 * Repetition and definition levels.
 */
#include "unit.h"

#include "encode.h"

#define COUNT 2000

/* levels 0..max in the hybrid, and the page that has them */
static LakeBytes
make_levels(LakeArena *arena, uint32_t *levels, uint16_t max, uint64_t *random)
{
	int			width = 0;
	LakeBuffer	buffer;

	while (max >> width != 0)
		width++;
	for (size_t i = 0; i < COUNT;)
	{
		uint64_t	run = encode_random(random) % 4 == 0 ? 300 : 1;
		uint32_t	level = (uint32_t) (encode_random(random) %
										((uint32_t) max + 1));

		for (; run > 0 && i < COUNT; run--)
			levels[i++] = level;
	}
	buffer_init(&buffer, arena);
	encode_hybrid(&buffer, levels, COUNT, width, random);
	return encode_page(arena, buffer.data, buffer.len);
}

static const uint16_t maxima[] = {0, 1, 2, 3, 7, 8, 200, 255, 256, 401};

#define MAXIMA (sizeof maxima / sizeof maxima[0])

static void
reads_back_levels_of_every_width(LakeArena *arena)
{
	uint64_t	random = 1;

	for (size_t m = 0; m < MAXIMA; m++)
	{
		static uint32_t levels[COUNT];
		static uint16_t out[COUNT];
		LevelDecoder decoder;

		levels_init(&decoder, make_levels(arena, levels, maxima[m], &random),
					maxima[m]);
		levels_read(&decoder, out, 77);
		levels_read(&decoder, out + 77, COUNT - 77);
		for (size_t i = 0; i < COUNT; i++)
			CHECK_INT(out[i], levels[i]);
	}
}

static void
maps_levels_below_the_maximum_to_nulls(LakeArena *arena)
{
	uint64_t	random = 2;

	for (size_t m = 0; m < MAXIMA; m++)
	{
		static uint32_t levels[COUNT];
		uint8_t		out[COUNT];
		LevelDecoder decoder;

		levels_init(&decoder, make_levels(arena, levels, maxima[m], &random),
					maxima[m]);
		for (size_t at = 0; at < COUNT;)
		{
			size_t		n = encode_random(&random) % 90;
			size_t		present = 0;

			n = n < COUNT - at ? n : COUNT - at;
			for (size_t i = 0; i < n; i++)
				present += levels[at + i] == maxima[m];
			CHECK_INT(levels_read_nulls(&decoder, out, n), present);
			for (size_t i = 0; i < n; i++)
				CHECK_INT(out[i], levels[at + i] != maxima[m]);
			at += n;
		}
	}
}

static void
counts_present_values_that_it_skips(LakeArena *arena)
{
	uint64_t	random = 3;

	for (size_t m = 0; m < MAXIMA; m++)
	{
		static uint32_t levels[COUNT];
		LevelDecoder decoder;

		levels_init(&decoder, make_levels(arena, levels, maxima[m], &random),
					maxima[m]);
		for (size_t at = 0; at < COUNT;)
		{
			size_t		n = encode_random(&random) % 400;
			size_t		present = 0;

			n = n < COUNT - at ? n : COUNT - at;
			for (size_t i = 0; i < n; i++)
				present += levels[at + i] == maxima[m];
			CHECK_INT(levels_skip(&decoder, n), present);
			at += n;
		}
	}
}

static void
takes_v1_levels_off_the_pages_front(LakeArena *arena)
{
	static const uint8_t bytes[] = {
		2, 0, 0, 0, 0x0C, 0x01, /* 6 times 1 */
		0xAB					/* the values */
	};
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes);
	ByteCursor	cursor;
	LevelDecoder decoder;
	uint16_t	out[6];

	cursor_init(&cursor, page.data, page.len, "page");
	levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_RLE, 1, 6);
	CHECK_INT(cursor_left(&cursor), 1);
	CHECK(levels_all_max(&decoder, 6));
	CHECK(!levels_all_max(&decoder, 7));
	levels_read(&decoder, out, 6);
	CHECK_INT(out[5], 1);

	/* no levels, no bytes */
	levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_RLE, 0, 6);
	CHECK_INT(cursor_left(&cursor), 1);
	CHECK(levels_all_max(&decoder, 6));
}

static void
reads_the_specifications_bit_packed_levels(LakeArena *arena)
{
	static const uint8_t bytes[] = {0x05, 0x39, 0x77, 0xEE};
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes);
	ByteCursor	cursor;
	LevelDecoder decoder;
	uint16_t	out[8];
	uint8_t		nulls[8];

	cursor_init(&cursor, page.data, page.len, "page");
	levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_BIT_PACKED, 7, 8);
	CHECK_INT(cursor_left(&cursor), 1);
	CHECK(!levels_all_max(&decoder, 1));
	levels_read(&decoder, out, 3);
	levels_read(&decoder, out + 3, 5);
	for (int i = 0; i < 8; i++)
		CHECK_INT(out[i], i);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "BIT_PACKED data ends",
				 levels_read(&decoder, out, 1));

	cursor_init(&cursor, page.data, page.len, "page");
	levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_BIT_PACKED, 7, 8);
	CHECK_INT(levels_skip(&decoder, 5), 0);
	CHECK_INT(levels_read_nulls(&decoder, nulls, 3), 1);
	CHECK_INT(nulls[1], 1);
	CHECK_INT(nulls[2], 0);
}

static void
reads_bit_packed_levels_of_one_bit(LakeArena *arena)
{
	static const uint8_t bytes[] = {0xA0, 0x80};
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes);
	ByteCursor	cursor;
	LevelDecoder decoder;
	uint8_t		nulls[9];

	cursor_init(&cursor, page.data, page.len, "page");
	levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_BIT_PACKED, 1, 9);
	CHECK_INT(cursor_left(&cursor), 0);
	CHECK_INT(levels_read_nulls(&decoder, nulls, 9), 3);
	CHECK_INT(nulls[0], 0);
	CHECK_INT(nulls[1], 1);
	CHECK_INT(nulls[2], 0);
	CHECK_INT(nulls[8], 0);
}

static void
knows_a_page_without_nulls(LakeArena *arena)
{
	/* 100 times 1, then 100 times 0 */
	static const uint8_t bytes[] = {0xC8, 0x01, 0x01, 0xC8, 0x01, 0x00};
	LevelDecoder decoder;
	uint16_t	level;

	levels_init(&decoder, encode_page(arena, bytes, sizeof bytes), 1);
	CHECK(levels_all_max(&decoder, 100));
	CHECK(!levels_all_max(&decoder, 101));
	CHECK_INT(levels_peek_run(&decoder, &level), 100);
	CHECK_INT(level, 1);
	CHECK_INT(levels_skip(&decoder, 100), 100);
	CHECK(!levels_all_max(&decoder, 1));
	CHECK(levels_all_max(&decoder, 0));
	CHECK_INT(levels_peek_run(&decoder, &level), 100);
	CHECK_INT(level, 0);
	CHECK_INT(levels_skip(&decoder, 100), 0);
}

static void
refuses_levels_above_the_maximum(LakeArena *arena)
{
	/* 8 times 3 where 2 is the maximum, repeated and packed */
	static const uint8_t repeated[] = {0x10, 0x03};
	static const uint8_t packed[] = {0x03, 0xFF, 0xFF};
	static const uint8_t wide[] = {0x10, 0x02};
	LevelDecoder decoder;
	uint16_t	out[8];
	uint8_t		nulls[8];

	levels_init(&decoder, encode_page(arena, repeated, 2), 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "level 3 is above the maximum 2",
				 levels_read(&decoder, out, 8));
	levels_init(&decoder, encode_page(arena, repeated, 2), 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "level 3 is above",
				 levels_all_max(&decoder, 8));
	levels_init(&decoder, encode_page(arena, packed, 3), 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "level 3 is above",
				 levels_read_nulls(&decoder, nulls, 8));
	levels_init(&decoder, encode_page(arena, packed, 3), 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "level 3 is above",
				 levels_skip(&decoder, 8));
	levels_init(&decoder, encode_page(arena, wide, 2), 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "the value 2",
				 levels_read_nulls(&decoder, nulls, 8));
}

static void
refuses_v1_levels_that_pass_the_pages_end(LakeArena *arena)
{
	static const uint8_t bytes[] = {0xFF, 0xFF, 0xFF, 0xFF, 0x0C, 0x01};
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes);
	ByteCursor	cursor;
	LevelDecoder decoder;

	cursor_init(&cursor, page.data, page.len, "page");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "page",
				 levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_RLE, 1, 6));
	cursor_init(&cursor, page.data, 3, "page");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "page",
				 levels_init_v1(&decoder, &cursor, PARQUET_ENCODING_RLE, 1, 6));
	cursor_init(&cursor, page.data, page.len, "page");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "page",
				 levels_init_v1(&decoder, &cursor,
								PARQUET_ENCODING_BIT_PACKED, 401,
								UINT32_MAX));
}

static void
refuses_other_encodings_of_levels(LakeArena *arena)
{
	LakeBytes	page = encode_page(arena, "12345678", 8);
	ByteCursor	cursor;
	LevelDecoder decoder;

	cursor_init(&cursor, page.data, page.len, "page");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "encoding 5",
				 levels_init_v1(&decoder, &cursor,
								PARQUET_ENCODING_DELTA_BINARY_PACKED, 1, 6));
}

static const UnitTest tests[] = {
	UNIT(reads_back_levels_of_every_width),
	UNIT(maps_levels_below_the_maximum_to_nulls),
	UNIT(counts_present_values_that_it_skips),
	UNIT(takes_v1_levels_off_the_pages_front),
	UNIT(reads_the_specifications_bit_packed_levels),
	UNIT(reads_bit_packed_levels_of_one_bit),
	UNIT(knows_a_page_without_nulls),
	UNIT(refuses_levels_above_the_maximum),
	UNIT(refuses_v1_levels_that_pass_the_pages_end),
	UNIT(refuses_other_encodings_of_levels),
};

UNIT_MAIN(tests)
