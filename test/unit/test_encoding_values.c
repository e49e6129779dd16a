/*
 * PLAIN and BYTE_STREAM_SPLIT values, booleans in RLE, and what every value
 * decoder has in common.
 */
#include "unit.h"

#include "encode.h"

#define COUNT 1000

static void
start(ValueDecoder *decoder, LakeArena *arena, ParquetEncoding encoding,
	  ParquetPhysical physical, int32_t type_length, const void *data,
	  size_t len, uint64_t count)
{
	value_decoder_init(decoder, arena, (int32_t) encoding, physical,
					   type_length, encode_page(arena, data, len), count);
}

static bool
equals(LakeBytes value, const char *text)
{
	return value.len == strlen(text) &&
		memcmp(value.data, text, value.len) == 0;
}

/* ---- PLAIN ---- */

static void
reads_plain_numbers_in_steps(LakeArena *arena)
{
	static const struct
	{
		ParquetPhysical physical;
		size_t		width;
	}			types[] =
	{
		{PARQUET_INT32, 4}, {PARQUET_FLOAT, 4},
		{PARQUET_INT64, 8}, {PARQUET_DOUBLE, 8},
	};
	uint8_t		bytes[80];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t) (i * 7 + 1);
	for (size_t t = 0; t < 4; t++)
	{
		uint32_t	count = (uint32_t) (80 / types[t].width);
		uint8_t		out[80];
		ValueDecoder decoder;

		start(&decoder, arena, PARQUET_ENCODING_PLAIN, types[t].physical, 0,
			  bytes, 80, count);
		value_decoder_read(&decoder, out, 3);
		CHECK(memcmp(out, bytes, 3 * types[t].width) == 0);
		value_decoder_skip(&decoder, 2);
		value_decoder_read(&decoder, out, count - 5);
		CHECK(memcmp(out, bytes + 5 * types[t].width,
					 (count - 5) * types[t].width) == 0);
	}
}

static void
reads_plain_booleans_from_any_bit(LakeArena *arena)
{
	static const uint8_t bytes[] = {0xA5, 0x01, 0xFF, 0x00, 0x80, 0x7E};

	for (uint32_t skip = 0; skip < 48; skip++)
	{
		uint8_t		out[48];
		ValueDecoder decoder;

		start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_BOOLEAN, 0,
			  bytes, 6, 1000);
		value_decoder_skip(&decoder, skip);
		value_decoder_read(&decoder, out, (48 - skip) / 2);
		value_decoder_read(&decoder, out + (48 - skip) / 2,
						   48 - skip - (48 - skip) / 2);
		for (uint32_t i = skip; i < 48; i++)
			CHECK_INT(out[i - skip], bytes[i / 8] >> i % 8 & 1);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "PLAIN data ends",
					 value_decoder_read(&decoder, out, 1));
	}
}

static void
gives_plain_byte_arrays_out_of_the_page(LakeArena *arena)
{
	static const char bytes[] = "\3\0\0\0one\0\0\0\0\5\0\0\0three";
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes - 1);
	LakeBytes	out[3];
	ValueDecoder decoder;

	value_decoder_init(&decoder, arena, PARQUET_ENCODING_PLAIN,
					   PARQUET_BYTE_ARRAY, 0, page, 3);
	value_decoder_read(&decoder, out, 3);
	CHECK(equals(out[0], "one"));
	CHECK(equals(out[1], ""));
	CHECK(equals(out[2], "three"));
	CHECK(out[0].data == page.data + 4);
	value_decoder_init(&decoder, arena, PARQUET_ENCODING_PLAIN,
					   PARQUET_BYTE_ARRAY, 0, page, 3);
	value_decoder_skip(&decoder, 2);
	value_decoder_read(&decoder, out, 1);
	CHECK(equals(out[0], "three"));
}

static void
gives_plain_fixed_bytes_and_int96(LakeArena *arena)
{
	LakeBytes	out[2];
	ValueDecoder decoder;

	start(&decoder, arena, PARQUET_ENCODING_PLAIN,
		  PARQUET_FIXED_LEN_BYTE_ARRAY, 5, "helloworldagain", 15, 3);
	value_decoder_skip(&decoder, 1);
	value_decoder_read(&decoder, out, 2);
	CHECK(equals(out[0], "world"));
	CHECK(equals(out[1], "again"));
	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_INT96, 0,
		  "abcdefghijklmnopqrstuvwx", 24, 2);
	value_decoder_read(&decoder, out, 2);
	CHECK(equals(out[0], "abcdefghijkl"));
	CHECK(equals(out[1], "mnopqrstuvwx"));
}

static void
refuses_plain_values_that_pass_the_pages_end(LakeArena *arena)
{
	uint8_t		out[128];
	ValueDecoder decoder;

	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_INT64, 0,
		  "1234567", 7, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "PLAIN data ends",
				 value_decoder_read(&decoder, out, 1));
	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_INT64, 0,
		  "12345678", 8, UINT64_MAX);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "PLAIN data ends",
				 value_decoder_skip(&decoder, UINT64_C(1) << 61 | 1));
	/* 4 bytes announced, 3 there; then the length itself cut */
	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_BYTE_ARRAY, 0,
		  "\4\0\0\0abc", 7, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "value of 4 bytes",
				 value_decoder_read(&decoder, out, 1));
	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_BYTE_ARRAY, 0,
		  "\4\0\0", 3, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "PLAIN data ends",
				 value_decoder_skip(&decoder, 1));
	/* a negative length */
	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_BYTE_ARRAY, 0,
		  "\377\377\377\377abc", 7, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "value of 4294967295 bytes",
				 value_decoder_read(&decoder, out, 1));
}

/* ---- RLE ---- */

static void
reads_rle_booleans(LakeArena *arena)
{
	/* 6 bytes: 9 times 1, then 8 packed */
	static const uint8_t bytes[] = {4, 0, 0, 0, 0x12, 0x01, 0x03, 0xA5};
	uint8_t		out[17];
	ValueDecoder decoder;

	start(&decoder, arena, PARQUET_ENCODING_RLE, PARQUET_BOOLEAN, 0,
		  bytes, sizeof bytes, 17);
	value_decoder_read(&decoder, out, 2);
	CHECK_INT(out[1], 1);
	value_decoder_skip(&decoder, 8);
	value_decoder_read(&decoder, out, 7);
	CHECK_INT(out[0], 0);
	CHECK_INT(out[1], 1);
	CHECK_INT(out[6], 1);
}

static void
refuses_rle_booleans_longer_than_the_page(LakeArena *arena)
{
	static const uint8_t bytes[] = {5, 0, 0, 0, 0x12, 0x01, 0x03, 0xA5};
	ValueDecoder decoder;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "RLE data",
				 start(&decoder, arena, PARQUET_ENCODING_RLE, PARQUET_BOOLEAN,
					   0, bytes, sizeof bytes, 17));
}

/* ---- BYTE_STREAM_SPLIT ---- */

static void
joins_the_specifications_streams(LakeArena *arena)
{
	static const uint8_t bytes[] = {
		0xAA, 0x00, 0xA3, 0xBB, 0x11, 0xB4, 0xCC, 0x22, 0xC5, 0xDD, 0x33, 0xD6
	};
	static const uint8_t joined[] = {
		0xAA, 0xBB, 0xCC, 0xDD, 0x00, 0x11, 0x22, 0x33, 0xA3, 0xB4, 0xC5, 0xD6
	};
	uint8_t		out[12];
	ValueDecoder decoder;

	/* the header counts a NULL that is not there */
	start(&decoder, arena, PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_FLOAT,
		  0, bytes, sizeof bytes, 4);
	value_decoder_read(&decoder, out, 3);
	CHECK(memcmp(out, joined, sizeof joined) == 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "BYTE_STREAM_SPLIT data ends",
				 value_decoder_read(&decoder, out, 1));
}

static void
joins_streams_of_every_type(LakeArena *arena)
{
	static const struct
	{
		ParquetPhysical physical;
		size_t		width;
	}			types[] =
	{
		{PARQUET_INT32, 4}, {PARQUET_FLOAT, 4}, {PARQUET_INT64, 8},
		{PARQUET_DOUBLE, 8}, {PARQUET_FIXED_LEN_BYTE_ARRAY, 1},
		{PARQUET_FIXED_LEN_BYTE_ARRAY, 2}, {PARQUET_FIXED_LEN_BYTE_ARRAY, 16},
		{PARQUET_FIXED_LEN_BYTE_ARRAY, 33},
	};
	static uint8_t plain[COUNT * 33];
	static uint8_t split[COUNT * 33];
	uint64_t	random = 6;

	for (size_t i = 0; i < sizeof plain; i++)
		plain[i] = (uint8_t) encode_random(&random);
	for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
	{
		size_t		width = types[t].width;
		bool		is_bytes =
			types[t].physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
		ValueDecoder decoder;

		for (size_t i = 0; i < COUNT * width; i++)
			split[i % width * COUNT + i / width] = plain[i];
		start(&decoder, arena, PARQUET_ENCODING_BYTE_STREAM_SPLIT,
			  types[t].physical, (int32_t) width, split, COUNT * width, COUNT);
		for (size_t at = 0; at + 100 < COUNT;)
		{
			uint32_t	skip = (uint32_t) (encode_random(&random) % 50);
			uint32_t	n = (uint32_t) (encode_random(&random) % 50);
			LakeBytes	values[50];
			uint8_t		numbers[50 * 8];

			value_decoder_skip(&decoder, skip);
			at += skip;
			if (is_bytes)
			{
				value_decoder_read(&decoder, values, n);
				for (uint32_t i = 0; i < n; i++)
					CHECK(values[i].len == width &&
						  memcmp(values[i].data, plain + (at + i) * width,
								 width) == 0);
			}
			else
			{
				value_decoder_read(&decoder, numbers, n);
				CHECK(memcmp(numbers, plain + at * width, n * width) == 0);
			}
			at += n;
		}
	}
}

static void
refuses_streams_of_unequal_length(LakeArena *arena)
{
	ValueDecoder decoder;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "data of 9 bytes for values of 8",
				 start(&decoder, arena, PARQUET_ENCODING_BYTE_STREAM_SPLIT,
					   PARQUET_DOUBLE, 0, "123456789", 9, 1));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "for values of 0",
				 start(&decoder, arena, PARQUET_ENCODING_BYTE_STREAM_SPLIT,
					   PARQUET_FIXED_LEN_BYTE_ARRAY, 0, "123456789", 9, 1));
}

/* ---- all ---- */

static void
takes_an_empty_page_of_any_encoding(LakeArena *arena)
{
	static const struct
	{
		ParquetEncoding encoding;
		ParquetPhysical physical;
	}			kinds[] =
	{
		{PARQUET_ENCODING_PLAIN, PARQUET_BOOLEAN},
		{PARQUET_ENCODING_PLAIN, PARQUET_BYTE_ARRAY},
		{PARQUET_ENCODING_RLE, PARQUET_BOOLEAN},
		{PARQUET_ENCODING_DELTA_BINARY_PACKED, PARQUET_INT32},
		{PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY, PARQUET_BYTE_ARRAY},
		{PARQUET_ENCODING_DELTA_BYTE_ARRAY, PARQUET_BYTE_ARRAY},
		{PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_DOUBLE},
	};

	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
	{
		uint8_t		out[16];
		ValueDecoder decoder;

		start(&decoder, arena, kinds[k].encoding, kinds[k].physical, 0,
			  NULL, 0, 10);
		value_decoder_read(&decoder, out, 0);
		value_decoder_skip(&decoder, 0);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "data ends",
					 value_decoder_read(&decoder, out, 1));
	}
}

static void
gives_no_more_values_than_the_page_counts(LakeArena *arena)
{
	int32_t		out[2];
	ValueDecoder decoder;

	start(&decoder, arena, PARQUET_ENCODING_PLAIN, PARQUET_INT32, 0,
		  "12345678", 8, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "PLAIN data ends where 1 more",
				 value_decoder_read(&decoder, out, 2));
	value_decoder_read(&decoder, out, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "PLAIN data ends",
				 value_decoder_skip(&decoder, 1));
}

static void
names_an_encoding_that_it_refuses(LakeArena *arena)
{
	ValueDecoder decoder;

	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "DELTA_BYTE_ARRAY of INT32",
				 start(&decoder, arena, PARQUET_ENCODING_DELTA_BYTE_ARRAY,
					   PARQUET_INT32, 0, "1234", 4, 1));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "BYTE_STREAM_SPLIT of BYTE_ARRAY",
				 start(&decoder, arena, PARQUET_ENCODING_BYTE_STREAM_SPLIT,
					   PARQUET_BYTE_ARRAY, 0, "1234", 4, 1));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "unknown encoding 1",
				 start(&decoder, arena, (ParquetEncoding) 1, PARQUET_INT32, 0,
					   "1234", 4, 1));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "unknown encoding 10",
				 start(&decoder, arena, (ParquetEncoding) 10, PARQUET_INT32, 0,
					   "1234", 4, 1));
	CHECK_STRING(parquet_encoding_name(9), "BYTE_STREAM_SPLIT");
	CHECK(parquet_encoding_name(-1) == NULL);
}

static const UnitTest tests[] = {
	UNIT(reads_plain_numbers_in_steps),
	UNIT(reads_plain_booleans_from_any_bit),
	UNIT(gives_plain_byte_arrays_out_of_the_page),
	UNIT(gives_plain_fixed_bytes_and_int96),
	UNIT(refuses_plain_values_that_pass_the_pages_end),
	UNIT(reads_rle_booleans),
	UNIT(refuses_rle_booleans_longer_than_the_page),
	UNIT(joins_the_specifications_streams),
	UNIT(joins_streams_of_every_type),
	UNIT(refuses_streams_of_unequal_length),
	UNIT(takes_an_empty_page_of_any_encoding),
	UNIT(gives_no_more_values_than_the_page_counts),
	UNIT(names_an_encoding_that_it_refuses),
};

UNIT_MAIN(tests)
