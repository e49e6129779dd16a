/*
 * DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
 */
#include "unit.h"

#include "encode.h"

#define COUNT 2500

static LakeBytes
buffer_page(LakeArena *arena, const LakeBuffer *buffer)
{
	return encode_page(arena, buffer->data, buffer->len);
}

static bool
equals(LakeBytes value, const char *text)
{
	return value.len == strlen(text) &&
		memcmp(value.data, text, value.len) == 0;
}

/* ---- integers ---- */

static void
reads_the_specifications_integers(LakeArena *arena)
{
	static const uint8_t rising[] = {0x08, 0x01, 0x05, 0x02, 0x02, 0x00};
	static const uint8_t mixed[] = {
		0x08, 0x01, 0x08, 0x0E, 0x03, 0x02, 0xC0, 0x3F
	};
	static const int64_t expected[] = {7, 5, 3, 1, 2, 3, 4, 5};
	DeltaDecoder decoder;
	int64_t		out[8];
	int32_t		narrow[8];

	delta_init(&decoder, encode_page(arena, rising, sizeof rising));
	delta_read_i64(&decoder, out, 5);
	for (int i = 0; i < 5; i++)
		CHECK_INT(out[i], i + 1);
	delta_init(&decoder, encode_page(arena, mixed, sizeof mixed));
	delta_read_i64(&decoder, out, 8);
	CHECK(memcmp(out, expected, sizeof out) == 0);
	delta_init(&decoder, encode_page(arena, mixed, sizeof mixed));
	delta_read_i32(&decoder, narrow, 8);
	for (int i = 0; i < 8; i++)
		CHECK_INT(narrow[i], expected[i]);
}

/* neighbours differ by values of up to so many bits */
static void
make_integers(int64_t *values, size_t count, int bits, uint64_t *random)
{
	uint64_t	value = encode_random(random);

	for (size_t i = 0; i < count; i++)
	{
		values[i] = (int64_t) value;
		value += bits == 0 ? 3 : encode_random(random) >> (64 - bits);
	}
}

static void
reads_back_deltas_of_every_width(LakeArena *arena)
{
	static const size_t shapes[][2] = {{4, 32}, {1, 8}, {8, 128}, {2, 1000}};
	uint64_t	random = 1;

	for (int bits = 0; bits <= 64; bits++)
	{
		static int64_t values[COUNT];
		static int64_t out[COUNT];
		LakeBuffer	buffer;
		DeltaDecoder decoder;

		make_integers(values, COUNT, bits, &random);
		buffer_init(&buffer, arena);
		encode_delta(&buffer, values, COUNT, shapes[bits % 4][0],
					 shapes[bits % 4][1]);
		delta_init(&decoder, buffer_page(arena, &buffer));
		for (size_t at = 0; at < COUNT;)
		{
			size_t		n = encode_random(&random) % 300;

			n = n < COUNT - at ? n : COUNT - at;
			delta_read_i64(&decoder, out + at, n);
			at += n;
		}
		CHECK(memcmp(out, values, sizeof out) == 0);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "DELTA_BINARY_PACKED data ends",
					 delta_read_i64(&decoder, out, 1));
	}
}

static void
skips_integers_to_where_reading_would_be(LakeArena *arena)
{
	uint64_t	random = 2;

	for (int bits = 0; bits <= 64; bits += 4)
	{
		static int64_t values[COUNT];
		LakeBuffer	buffer;
		DeltaDecoder decoder;

		make_integers(values, COUNT, bits, &random);
		buffer_init(&buffer, arena);
		encode_delta(&buffer, values, COUNT, 4, 32);
		delta_init(&decoder, buffer_page(arena, &buffer));
		for (size_t at = 0; at + 400 < COUNT;)
		{
			int32_t		out[200];
			size_t		skip = encode_random(&random) % 200;
			size_t		n = encode_random(&random) % 200;

			delta_skip(&decoder, skip);
			delta_read_i32(&decoder, out, n);
			for (size_t i = 0; i < n; i++)
				CHECK_INT(out[i],
						  (int32_t) (uint32_t) (uint64_t) values[at + skip + i]);
			at += skip + n;
		}
	}
}

static void
wraps_around_at_the_ends_of_the_type(LakeArena *arena)
{
	static const int64_t values[] = {
		INT64_MIN, INT64_MAX, INT64_MIN, 0, -1, INT64_MAX, INT64_MIN, 1
	};
	LakeBuffer	buffer;
	DeltaDecoder decoder;
	int64_t		out[8];

	buffer_init(&buffer, arena);
	encode_delta(&buffer, values, 8, 4, 32);
	delta_init(&decoder, buffer_page(arena, &buffer));
	delta_read_i64(&decoder, out, 8);
	CHECK(memcmp(out, values, sizeof out) == 0);
}

static void
reads_int32_deltas_of_a_writer_that_wraps_at_32_bits(LakeArena *arena)
{
	/* 2^31 - 1, -2^31: the delta is 1 in 32 bits, with 1 value in the block */
	LakeBuffer	buffer;
	DeltaDecoder decoder;
	int32_t		out[2];

	buffer_init(&buffer, arena);
	encode_varint(&buffer, 128);
	encode_varint(&buffer, 4);
	encode_varint(&buffer, 2);
	encode_zigzag(&buffer, INT32_MAX);
	encode_zigzag(&buffer, 1);
	buffer_append(&buffer, "\0\0\0\0", 4);
	delta_init(&decoder, buffer_page(arena, &buffer));
	delta_read_i32(&decoder, out, 2);
	CHECK_INT(out[0], INT32_MAX);
	CHECK_INT(out[1], INT32_MIN);
}

static void
takes_a_sequence_of_no_values_in_any_form(LakeArena *arena)
{
	/* buglog 49: pages of NULLs only, with block sizes of 0 as well */
	static const uint8_t zeros[] = {0, 0, 0, 0};
	static const uint8_t usual[] = {0x80, 0x01, 0x04, 0x00, 0x00};
	static const uint8_t one[] = {0, 0, 1, 0x09};
	DeltaDecoder decoder;
	int64_t		out[1];

	delta_init(&decoder, encode_page(arena, zeros, sizeof zeros));
	CHECK_INT(decoder.left, 0);
	delta_init(&decoder, encode_page(arena, usual, sizeof usual));
	CHECK_INT(decoder.left, 0);
	delta_init(&decoder, encode_page(arena, NULL, 0));
	CHECK_INT(decoder.left, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends", delta_skip(&decoder, 1));
	delta_init(&decoder, encode_page(arena, one, sizeof one));
	delta_read_i64(&decoder, out, 1);
	CHECK_INT(out[0], -5);
}

static void
ignores_widths_of_miniblocks_without_values(LakeArena *arena)
{
	/* 2 values; the widths of the other 3 miniblocks are nonsense */
	static const uint8_t bytes[] = {
		0x80, 0x01, 0x04, 0x02, 0x00, 0x02, 8, 0xFF, 0xFF, 0xFF, 5
	};
	DeltaDecoder decoder;
	int64_t		out[2];

	/* and the padding of the first one is cut off */
	delta_init(&decoder, encode_page(arena, bytes, sizeof bytes));
	delta_read_i64(&decoder, out, 2);
	CHECK_INT(out[1], 6);
}

static void
refuses_malformed_blocks(LakeArena *arena)
{
	static const struct
	{
		uint64_t	block;
		uint64_t	minis;
	}			shapes[] =
	{
		{128, 0}, {0, 4}, {128, 3}, {128, 128}, {UINT64_C(1) << 32, 4},
		{UINT64_MAX, 1}, {12, 1},
	};
	static const uint8_t wide[] = {0x08, 0x01, 0x02, 0x00, 0x00, 65, 0, 0, 0};
	static const uint8_t cut[] = {0x08, 0x01, 0x02, 0x00, 0x00, 9, 0};
	static const uint8_t no_widths[] = {0x80, 0x01, 0x04, 0x02, 0x00, 0x00, 1};
	DeltaDecoder decoder;
	int64_t		out[2];

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
	{
		LakeBuffer	buffer;

		buffer_init(&buffer, arena);
		encode_varint(&buffer, shapes[i].block);
		encode_varint(&buffer, shapes[i].minis);
		encode_varint(&buffer, 2);
		encode_zigzag(&buffer, 0);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "DELTA_BINARY_PACKED blocks of",
					 delta_init(&decoder, buffer_page(arena, &buffer)));
	}
	delta_init(&decoder, encode_page(arena, wide, sizeof wide));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "65 bits",
				 delta_read_i64(&decoder, out, 2));
	delta_init(&decoder, encode_page(arena, cut, sizeof cut));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "data ends",
				 delta_read_i64(&decoder, out, 2));
	delta_init(&decoder, encode_page(arena, no_widths, sizeof no_widths));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "DELTA_BINARY_PACKED",
				 delta_read_i64(&decoder, out, 2));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "DELTA_BINARY_PACKED",
				 delta_init(&decoder, encode_page(arena, wide, 3)));
}

static void
skips_2_billion_values_of_a_few_bytes(LakeArena *arena)
{
	/* one miniblock of 2^31 - 8 values of width 0 */
	LakeBuffer	buffer;
	DeltaDecoder decoder;
	int64_t		out[1];

	buffer_init(&buffer, arena);
	encode_varint(&buffer, INT32_MAX - 7);
	encode_varint(&buffer, 1);
	encode_varint(&buffer, INT32_MAX - 7);
	encode_zigzag(&buffer, 0);
	encode_zigzag(&buffer, 5);
	buffer_append_byte(&buffer, 0);
	delta_init(&decoder, buffer_page(arena, &buffer));
	delta_skip(&decoder, INT32_MAX - 8);
	delta_read_i64(&decoder, out, 1);
	CHECK_INT(out[0], INT64_C(5) * (INT32_MAX - 8));
}

static void
finds_the_end_of_the_blocks(LakeArena *arena)
{
	for (size_t count = 0; count < 300; count += 7)
	{
		static int64_t values[300];
		LakeBuffer	buffer;
		LakeBytes	page;
		DeltaDecoder decoder;
		uint64_t	random = 7 + count;

		make_integers(values, count, 20, &random);
		buffer_init(&buffer, arena);
		encode_delta(&buffer, values, count, 4, 32);
		buffer_append_text(&buffer, "rest");
		page = buffer_page(arena, &buffer);
		delta_init(&decoder, page);
		CHECK_INT(delta_find_end(&decoder) - page.data, page.len - 4);
	}
}

/* ---- byte arrays ---- */

static void
reads_the_specifications_delta_lengths(LakeArena *arena)
{
	static const int64_t lengths[] = {5, 5, 6, 6};
	LakeBuffer	buffer;
	LakeBytes	page;
	LakeBytes	out[4];
	ValueDecoder decoder;

	buffer_init(&buffer, arena);
	encode_delta(&buffer, lengths, 4, 4, 32);
	buffer_append_text(&buffer, "HelloWorldFoobarABCDEF");
	page = buffer_page(arena, &buffer);
	value_decoder_init(&decoder, arena,
					   PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY,
					   PARQUET_BYTE_ARRAY, 0, page, 4);
	value_decoder_read(&decoder, out, 4);
	CHECK(equals(out[0], "Hello"));
	CHECK(equals(out[3], "ABCDEF"));
	CHECK(out[3].data == page.data + page.len - 6);
	value_decoder_init(&decoder, arena,
					   PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY,
					   PARQUET_BYTE_ARRAY, 0, page, 4);
	value_decoder_skip(&decoder, 2);
	value_decoder_read(&decoder, out, 1);
	CHECK(equals(out[0], "Foobar"));
}

static void
refuses_lengths_that_pass_the_contents(LakeArena *arena)
{
	static const int64_t bad[] = {5, 24, -1, INT64_MAX};

	for (size_t i = 1; i < 4; i++)
	{
		int64_t		lengths[2] = {5, bad[i]};
		LakeBuffer	buffer;
		LakeBytes	out[2];
		ValueDecoder decoder;

		buffer_init(&buffer, arena);
		encode_delta(&buffer, lengths, 2, 4, 32);
		buffer_append_text(&buffer, "HelloWorldFoobarABCDEF");
		value_decoder_init(&decoder, arena,
						   PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY,
						   PARQUET_BYTE_ARRAY, 0, buffer_page(arena, &buffer),
						   2);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "where the page has 17 left",
					 value_decoder_read(&decoder, out, 2));
	}
}

static void
start_strings(ValueDecoder *decoder, LakeArena *arena,
			  ParquetPhysical physical, int32_t type_length,
			  const int64_t *prefixes, const int64_t *suffixes, size_t count,
			  const void *contents, size_t len)
{
	LakeBuffer	buffer;

	buffer_init(&buffer, arena);
	encode_delta(&buffer, prefixes, count, 4, 32);
	encode_delta(&buffer, suffixes, count, 4, 32);
	buffer_append(&buffer, contents, len);
	value_decoder_init(decoder, arena, PARQUET_ENCODING_DELTA_BYTE_ARRAY,
					   physical, type_length, buffer_page(arena, &buffer),
					   count);
}

static void
reads_the_specifications_delta_strings(LakeArena *arena)
{
	static const int64_t prefixes[] = {0, 2, 0, 3};
	static const int64_t suffixes[] = {4, 2, 6, 5};
	LakeBytes	out[4];
	ValueDecoder decoder;

	start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes, suffixes,
				  4, "axislebabbleyhood", 17);
	value_decoder_read(&decoder, out, 4);
	CHECK(equals(out[0], "axis"));
	CHECK(equals(out[1], "axle"));
	CHECK(equals(out[2], "babble"));
	CHECK(equals(out[3], "babyhood"));
}

static void
skipping_delta_strings_keeps_prefixes(LakeArena *arena)
{
	/* buglog 50 */
	static const int64_t prefixes[] = {0, 3, 3, 3};
	static const int64_t suffixes[] = {4, 1, 1, 1};
	LakeBytes	out[1];
	ValueDecoder decoder;

	start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes, suffixes,
				  4, "aaaabcd", 7);
	value_decoder_skip(&decoder, 2);
	value_decoder_read(&decoder, out, 1);
	CHECK(equals(out[0], "aaac"));
}

/* sorted-looking random strings, many of them equal to the one before */
static size_t
make_strings(int64_t *prefixes, int64_t *suffixes, LakeBytes *values,
			 size_t count, LakeBuffer *contents, LakeArena *arena)
{
	uint64_t	random = 11;
	size_t		len = 0;

	for (size_t i = 0; i < count; i++)
	{
		size_t		prefix = encode_random(&random) % 4 == 0 ? 0 :
			encode_random(&random) % 2 == 0 ? len :
			encode_random(&random) % (len + 1);
		size_t		suffix = encode_random(&random) % 3 == 0 ? 0 :
			encode_random(&random) % 40;
		uint8_t    *value = lake_alloc(arena, prefix + suffix + 1);

		if (i > 0)
			memcpy(value, values[i - 1].data, prefix);
		for (size_t k = 0; k < suffix; k++)
			value[prefix + k] = (uint8_t) encode_random(&random);
		buffer_append(contents, value + prefix, suffix);
		prefixes[i] = (int64_t) prefix;
		suffixes[i] = (int64_t) suffix;
		len = prefix + suffix;
		values[i] = encoding_bytes(value, len);
	}
	return contents->len;
}

static void
reads_and_skips_delta_strings_in_odd_steps(LakeArena *arena)
{
	static int64_t prefixes[COUNT];
	static int64_t suffixes[COUNT];
	static LakeBytes values[COUNT];
	static LakeBytes out[COUNT];
	LakeBuffer	contents;
	ValueDecoder decoder;
	uint64_t	random = 12;

	buffer_init(&contents, arena);
	make_strings(prefixes, suffixes, values, COUNT, &contents, arena);
	for (int round = 0; round < 4; round++)
	{
		/* the first round skips nothing */
		uint64_t	most = round == 0 ? 1 : 200;

		start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes,
					  suffixes, COUNT, contents.data, contents.len);
		memset(out, 0, sizeof out);
		for (size_t at = 0; at < COUNT;)
		{
			size_t		skip = encode_random(&random) % most;
			size_t		n = encode_random(&random) % 300;

			skip = skip < COUNT - at ? skip : COUNT - at;
			value_decoder_skip(&decoder, skip);
			at += skip;
			n = n < COUNT - at ? n : COUNT - at;
			value_decoder_read(&decoder, out + at, (uint32_t) n);
			at += n;
		}
		/* values given earlier are still what they were */
		for (size_t i = 0; i < COUNT; i++)
		{
			if (out[i].data == NULL)
				CHECK(round > 0);
			else
				CHECK(out[i].len == values[i].len &&
					  memcmp(out[i].data, values[i].data, out[i].len) == 0);
		}
	}
}

static void
equal_delta_strings_share_their_bytes(LakeArena *arena)
{
	static const int64_t prefixes[] = {0, 3, 4, 4};
	static const int64_t suffixes[] = {4, 1, 0, 0};
	LakeBytes	out[4];
	ValueDecoder decoder;

	start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes, suffixes,
				  4, "aaaab", 5);
	value_decoder_read(&decoder, out, 4);
	CHECK(equals(out[3], "aaab"));
	CHECK(out[1].data == out[2].data && out[2].data == out[3].data);
	CHECK_INT(decoder.copied, 4);
}

static void
refuses_impossible_prefixes_and_suffixes(LakeArena *arena)
{
	static const int64_t bad[][4] = {
		/* prefix and suffix of two values */
		{1, 3, 0, 0},
		{0, 3, 4, 0},
		{0, 3, -1, 0},
		{0, 3, 0, 3},
		{0, 3, 0, -1},
		{0, 3, 3, INT32_MAX},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
	{
		const int64_t prefixes[2] = {bad[i][0], bad[i][2]};
		const int64_t suffixes[2] = {bad[i][1], bad[i][3]};
		LakeBytes	out[2];
		ValueDecoder decoder;

		start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes,
					  suffixes, 2, "aaabb", 5);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "fix of",
					 value_decoder_read(&decoder, out, 2));
		start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes,
					  suffixes, 2, "aaabb", 5);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "fix of",
					 value_decoder_skip(&decoder, 2));
	}
}

static void
checks_the_length_of_fixed_delta_strings(LakeArena *arena)
{
	static const int64_t prefixes[] = {0, 2};
	static const int64_t suffixes[] = {4, 2};
	LakeBytes	out[2];
	ValueDecoder decoder;

	start_strings(&decoder, arena, PARQUET_FIXED_LEN_BYTE_ARRAY, 4, prefixes,
				  suffixes, 2, "axisle", 6);
	value_decoder_read(&decoder, out, 2);
	CHECK(equals(out[1], "axle"));
	start_strings(&decoder, arena, PARQUET_FIXED_LEN_BYTE_ARRAY, 3, prefixes,
				  suffixes, 2, "axisle", 6);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "value of 4 bytes where all have 3",
				 value_decoder_read(&decoder, out, 2));
}

static void
limits_what_shared_prefixes_blow_up(LakeArena *arena)
{
	/* 1 MB, then 99 values that share all but one byte of it */
	enum
	{
		LEN = 1 << 20, VALUES = 100
	};
	int64_t		prefixes[VALUES];
	int64_t		suffixes[VALUES];
	uint8_t    *contents = lake_alloc(arena, LEN + VALUES);
	LakeBytes	out[VALUES];
	ValueDecoder decoder;

	for (int i = 0; i < VALUES; i++)
	{
		prefixes[i] = i == 0 ? 0 : LEN - 1;
		suffixes[i] = i == 0 ? LEN : 1;
	}
	start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes, suffixes,
				  VALUES, contents, LEN + VALUES);
	/* as if the page had given the rest of its limit before */
	decoder.copied = PARQUET_MAX_PAGE_BYTES - 99 * LEN + 1;
	CHECK_THROWS(LAKE_ERROR_LIMIT, "DELTA_BYTE_ARRAY",
				 value_decoder_read(&decoder, out, VALUES));
	start_strings(&decoder, arena, PARQUET_BYTE_ARRAY, 0, prefixes, suffixes,
				  VALUES, contents, LEN + VALUES);
	decoder.copied = PARQUET_MAX_PAGE_BYTES - LEN - LEN;
	value_decoder_skip(&decoder, VALUES - 1);
	value_decoder_read(&decoder, out, 1);
	CHECK_INT(out[0].len, LEN);
}

static const UnitTest tests[] = {
	UNIT(reads_the_specifications_integers),
	UNIT(reads_back_deltas_of_every_width),
	UNIT(skips_integers_to_where_reading_would_be),
	UNIT(wraps_around_at_the_ends_of_the_type),
	UNIT(reads_int32_deltas_of_a_writer_that_wraps_at_32_bits),
	UNIT(takes_a_sequence_of_no_values_in_any_form),
	UNIT(ignores_widths_of_miniblocks_without_values),
	UNIT(refuses_malformed_blocks),
	UNIT(skips_2_billion_values_of_a_few_bytes),
	UNIT(finds_the_end_of_the_blocks),
	UNIT(reads_the_specifications_delta_lengths),
	UNIT(refuses_lengths_that_pass_the_contents),
	UNIT(reads_the_specifications_delta_strings),
	UNIT(skipping_delta_strings_keeps_prefixes),
	UNIT(reads_and_skips_delta_strings_in_odd_steps),
	UNIT(equal_delta_strings_share_their_bytes),
	UNIT(refuses_impossible_prefixes_and_suffixes),
	UNIT(checks_the_length_of_fixed_delta_strings),
	UNIT(limits_what_shared_prefixes_blow_up),
};

UNIT_MAIN(tests)
