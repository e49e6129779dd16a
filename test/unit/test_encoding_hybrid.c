/*
 * Bit unpacking, the RLE / bit-packed hybrid and dictionary codes.
 */
#include "unit.h"

#include "encode.h"

#define COUNT 3000

static void
unpacks_the_specifications_example(LakeArena *arena)
{
	static const uint8_t bytes[] = {0x88, 0xC6, 0xFA};
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes);
	uint32_t	out[8];

	unpack_u32(page.data, 3, out, 8);
	for (uint32_t i = 0; i < 8; i++)
		CHECK_INT(out[i], i);
}

static void
unpacks_every_width_and_count(LakeArena *arena)
{
	uint64_t	random = 1;

	for (int width = 0; width <= 64; width++)
	{
		for (size_t count = 0; count < 70; count++)
		{
			uint64_t	values[70];
			uint64_t	wide[71] = {[70] = 0};
			uint32_t	narrow[71];
			LakeBuffer	buffer;
			LakeBytes	page;

			for (size_t i = 0; i < count; i++)
				values[i] = width == 0 ? 0 :
					encode_random(&random) >> (64 - width);
			buffer_init(&buffer, arena);
			encode_bits(&buffer, values, count, width);
			page = encode_page(arena, buffer.data, buffer.len);
			wide[count] = 77;
			unpack_u64(page.data, width, wide, count);
			CHECK(memcmp(wide, values, count * sizeof *wide) == 0);
			CHECK_INT(wide[count], 77);
			if (width > 32)
				continue;
			narrow[count] = 77;
			unpack_u32(page.data, width, narrow, count);
			for (size_t i = 0; i < count; i++)
				CHECK_INT(narrow[i], values[i]);
			CHECK_INT(narrow[count], 77);
		}
	}
}

static void
unpacks_bools_from_any_bit(LakeArena *arena)
{
	static const uint8_t bytes[] = {0xA5, 0x01, 0xFF, 0x00, 0x80, 0x7E};
	LakeBytes	page = encode_page(arena, bytes, sizeof bytes);

	for (uint64_t first = 0; first < 48; first++)
	{
		for (size_t count = 0; count <= 48 - first; count++)
		{
			uint8_t		out[49];

			out[count] = 9;
			unpack_bools(page.data, first, 1, out, count);
			CHECK_INT(out[count], 9);
			for (size_t i = 0; i < count; i++)
				CHECK_INT(out[i],
						  !(bytes[(first + i) / 8] >> (first + i) % 8 & 1));
		}
	}
}

/* values of one width, some of them in runs */
static void
make_values(uint32_t *values, size_t count, int width, uint64_t *random)
{
	for (size_t i = 0; i < count;)
	{
		uint64_t	run = encode_random(random) % 3 == 0 ?
			8 + encode_random(random) % 50 : 1;
		uint32_t	value = width == 0 ? 0 :
			(uint32_t) (encode_random(random) >> (64 - width));

		for (; run > 0 && i < count; run--)
			values[i++] = value;
	}
}

static void
reads_back_every_width_in_odd_steps(LakeArena *arena)
{
	static uint32_t values[COUNT];
	static uint32_t out[COUNT];
	uint64_t	random = 2;

	for (int width = 0; width <= 32; width++)
	{
		LakeBuffer	buffer;
		HybridDecoder decoder;

		make_values(values, COUNT, width, &random);
		buffer_init(&buffer, arena);
		encode_hybrid(&buffer, values, COUNT, width, &random);
		hybrid_init(&decoder, encode_page(arena, buffer.data, buffer.len),
					width);
		for (size_t at = 0; at < COUNT;)
		{
			size_t		n = encode_random(&random) % 37;

			n = n < COUNT - at ? n : COUNT - at;
			hybrid_read(&decoder, out + at, n);
			at += n;
		}
		CHECK(memcmp(values, out, sizeof values) == 0);
	}
}

static void
skips_to_where_reading_would_be(LakeArena *arena)
{
	static uint32_t values[COUNT];
	uint64_t	random = 3;

	for (int width = 1; width <= 32; width++)
	{
		LakeBuffer	buffer;
		HybridDecoder decoder;

		make_values(values, COUNT, width, &random);
		buffer_init(&buffer, arena);
		encode_hybrid(&buffer, values, COUNT, width, &random);
		hybrid_init(&decoder, encode_page(arena, buffer.data, buffer.len),
					width);
		for (size_t at = 0; at + 100 < COUNT;)
		{
			uint32_t	out[50];
			size_t		skip = encode_random(&random) % 50;
			size_t		n = encode_random(&random) % 50;

			hybrid_skip(&decoder, skip);
			hybrid_read(&decoder, out, n);
			CHECK(memcmp(out, values + at + skip, n * sizeof *out) == 0);
			at += skip + n;
		}
	}
}

static void
reads_bools_in_both_kinds_of_runs(LakeArena *arena)
{
	static uint32_t values[COUNT];
	static uint8_t out[COUNT];
	uint64_t	random = 4;
	LakeBuffer	buffer;
	HybridDecoder decoder;

	make_values(values, COUNT, 1, &random);
	buffer_init(&buffer, arena);
	encode_hybrid(&buffer, values, COUNT, 1, &random);
	hybrid_init(&decoder, encode_page(arena, buffer.data, buffer.len), 1);
	hybrid_read_bools(&decoder, 0, out, 13);
	hybrid_read_bools(&decoder, 1, out + 13, COUNT - 13);
	for (size_t i = 0; i < COUNT; i++)
		CHECK_INT(out[i], i < 13 ? values[i] : !values[i]);
}

static void
takes_width_0_from_no_bytes(LakeArena *arena)
{
	HybridDecoder decoder;
	uint32_t	out[3] = {1, 1, 1};
	uint32_t	value;

	(void) arena;
	hybrid_init(&decoder, encoding_bytes(NULL, 0), 0);
	hybrid_read(&decoder, out, 3);
	CHECK_INT(out[0] + out[1] + out[2], 0);
	hybrid_skip(&decoder, UINT64_MAX - 1);
	CHECK(hybrid_peek_run(&decoder, &value) > 1000);
	CHECK_INT(value, 0);
}

static void
takes_a_last_group_that_is_cut_short(LakeArena *arena)
{
	/* 1 group of 8 values of 3 bits, whose third byte is missing */
	static const uint8_t bytes[] = {0x03, 0x88, 0xC6};
	HybridDecoder decoder;
	uint32_t	out[8];

	hybrid_init(&decoder, encode_page(arena, bytes, sizeof bytes), 3);
	hybrid_read(&decoder, out, 5);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_INT(out[i], i);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "RLE data ends",
				 hybrid_read(&decoder, out, 1));
}

static void
passes_over_empty_runs(LakeArena *arena)
{
	/* an RLE run and a bit-packed run of no values, then 5 times 2 */
	static const uint8_t bytes[] = {0x00, 0x01, 0x01, 0x0A, 0x02};
	HybridDecoder decoder;
	uint32_t	out[5];

	hybrid_init(&decoder, encode_page(arena, bytes, sizeof bytes), 2);
	hybrid_read(&decoder, out, 5);
	CHECK_INT(out[0], 2);
	CHECK_INT(out[4], 2);
}

static void
peeks_at_a_repeated_run_without_consuming_it(LakeArena *arena)
{
	/* 5 times 2, then 8 packed zeros */
	static const uint8_t bytes[] = {0x0A, 0x02, 0x03, 0x00, 0x00};
	HybridDecoder decoder;
	uint32_t	value;
	uint32_t	out[13];

	hybrid_init(&decoder, encode_page(arena, bytes, sizeof bytes), 2);
	CHECK_INT(hybrid_peek_run(&decoder, &value), 5);
	CHECK_INT(value, 2);
	hybrid_read(&decoder, out, 2);
	CHECK_INT(hybrid_peek_run(&decoder, &value), 3);
	hybrid_skip(&decoder, 3);
	CHECK_INT(hybrid_peek_run(&decoder, &value), 0);
	hybrid_read(&decoder, out, 8);
	CHECK_INT(hybrid_peek_run(&decoder, &value), 0);
}

static void
refuses_input_that_ends_early(LakeArena *arena)
{
	static const uint8_t half_header[] = {0x80};
	static const uint8_t no_value[] = {0x0A, 0x02};
	HybridDecoder decoder;
	uint32_t	out[1];

	hybrid_init(&decoder, encode_page(arena, NULL, 0), 5);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "RLE data ends",
				 hybrid_read(&decoder, out, 1));
	hybrid_init(&decoder, encode_page(arena, half_header, 1), 5);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "RLE data",
				 hybrid_read(&decoder, out, 1));
	hybrid_init(&decoder, encode_page(arena, no_value, 2), 17);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "RLE data",
				 hybrid_read(&decoder, out, 1));
	hybrid_init(&decoder, encode_page(arena, no_value, 2), 8);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "RLE data ends where 1 more",
				 hybrid_skip(&decoder, 6));
}

static void
survives_the_longest_runs(LakeArena *arena)
{
	LakeBuffer	buffer;
	HybridDecoder decoder;
	uint32_t	out[3];

	buffer_init(&buffer, arena);
	encode_repeated(&buffer, 1, INT64_MAX, 32);
	hybrid_init(&decoder, encode_page(arena, buffer.data, buffer.len), 32);
	hybrid_skip(&decoder, (uint64_t) INT64_MAX - 3);
	hybrid_read(&decoder, out, 3);
	CHECK_INT(out[2], 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends", hybrid_read(&decoder, out, 1));

	/* 2^63 - 1 groups announced, one byte there */
	buffer_init(&buffer, arena);
	encode_varint(&buffer, UINT64_MAX);
	buffer_append_byte(&buffer, 0x21);
	hybrid_init(&decoder, encode_page(arena, buffer.data, buffer.len), 4);
	hybrid_read(&decoder, out, 2);
	CHECK_INT(out[1], 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends", hybrid_skip(&decoder, 1));
}

/* ---- dictionary codes ---- */

static void
reads_codes_below_the_dictionarys_count(LakeArena *arena)
{
	static uint32_t values[COUNT];
	static uint32_t out[COUNT];
	uint64_t	random = 5;
	LakeBuffer	buffer;
	CodeDecoder decoder;

	make_values(values, COUNT, 11, &random);
	buffer_init(&buffer, arena);
	buffer_append_byte(&buffer, 11);
	encode_hybrid(&buffer, values, COUNT, 11, &random);
	codes_init(&decoder, encode_page(arena, buffer.data, buffer.len), 2048);
	codes_read(&decoder, out, 1001);
	codes_skip(&decoder, 10);
	codes_read(&decoder, out + 1011, COUNT - 1011);
	CHECK(memcmp(out, values, 1001 * sizeof *out) == 0);
	CHECK(memcmp(out + 1011, values + 1011, (COUNT - 1011) * sizeof *out) == 0);
}

static void
refuses_a_code_outside_the_dictionary_wherever_it_is(LakeArena *arena)
{
	for (size_t at = 0; at < 30; at++)
	{
		uint32_t	values[30];
		uint32_t	out[30];
		LakeBuffer	buffer;
		CodeDecoder decoder;

		for (size_t i = 0; i < 30; i++)
			values[i] = i == at ? 5 : (uint32_t) i % 5;
		buffer_init(&buffer, arena);
		buffer_append_byte(&buffer, 3);
		encode_packed(&buffer, values, 30, 3);
		codes_init(&decoder, encode_page(arena, buffer.data, buffer.len), 5);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "dictionary of 5 entries",
					 codes_read(&decoder, out, 30));
		codes_init(&decoder, encode_page(arena, buffer.data, buffer.len), 6);
		codes_read(&decoder, out, 30);
		CHECK_INT(out[at], 5);
	}
}

static void
refuses_codes_with_the_top_bit_set(LakeArena *arena)
{
	static const uint8_t bytes[] = {32, 0x02, 0xFF, 0xFF, 0xFF, 0xFF};
	CodeDecoder decoder;
	uint32_t	out[1];

	codes_init(&decoder, encode_page(arena, bytes, sizeof bytes), 7);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "dictionary of 7",
				 codes_read(&decoder, out, 1));
	codes_init(&decoder, encode_page(arena, bytes, sizeof bytes), UINT32_MAX);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "dictionary of",
				 codes_read(&decoder, out, 1));
}

static void
refuses_any_code_of_an_empty_dictionary(LakeArena *arena)
{
	static const uint8_t bytes[] = {0};
	CodeDecoder decoder;
	uint32_t	out[1];

	codes_init(&decoder, encode_page(arena, bytes, sizeof bytes), 0);
	codes_read(&decoder, out, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "dictionary of 0",
				 codes_read(&decoder, out, 1));
}

static void
takes_a_page_of_codes_without_bytes_as_empty(LakeArena *arena)
{
	CodeDecoder decoder;
	uint32_t	out[1];

	codes_init(&decoder, encode_page(arena, NULL, 0), 3);
	codes_read(&decoder, out, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends", codes_read(&decoder, out, 1));
}

static void
refuses_codes_wider_than_32_bits(LakeArena *arena)
{
	static const uint8_t bytes[] = {33, 0, 0, 0, 0, 0};
	CodeDecoder decoder;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "codes of 33 bits",
				 codes_init(&decoder, encode_page(arena, bytes, 6), 3));
}

static const UnitTest tests[] = {
	UNIT(unpacks_the_specifications_example),
	UNIT(unpacks_every_width_and_count),
	UNIT(unpacks_bools_from_any_bit),
	UNIT(reads_back_every_width_in_odd_steps),
	UNIT(skips_to_where_reading_would_be),
	UNIT(reads_bools_in_both_kinds_of_runs),
	UNIT(takes_width_0_from_no_bytes),
	UNIT(takes_a_last_group_that_is_cut_short),
	UNIT(passes_over_empty_runs),
	UNIT(peeks_at_a_repeated_run_without_consuming_it),
	UNIT(refuses_input_that_ends_early),
	UNIT(survives_the_longest_runs),
	UNIT(reads_codes_below_the_dictionarys_count),
	UNIT(refuses_a_code_outside_the_dictionary_wherever_it_is),
	UNIT(refuses_codes_with_the_top_bit_set),
	UNIT(refuses_any_code_of_an_empty_dictionary),
	UNIT(takes_a_page_of_codes_without_bytes_as_empty),
	UNIT(refuses_codes_wider_than_32_bits),
};

UNIT_MAIN(tests)
