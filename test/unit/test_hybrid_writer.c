/*
 * The hybrid as it is written, read by its decoder, and the shape of what is
 * written: runs where there are some.
 */
#include "parquet/writer.h"

#include "encode.h"
#include "unit.h"

static void
check_round_trip(LakeArena *arena, const uint32_t *values, size_t count,
				 int width)
{
	uint32_t   *read = lake_alloc_array(arena, count + 1, sizeof *read);
	HybridDecoder decoder;
	LakeBuffer	out;

	buffer_init(&out, arena);
	hybrid_write(&out, values, count, width);
	hybrid_init(&decoder, encode_page(arena, out.data, out.len), width);
	hybrid_read(&decoder, read, count);
	CHECK(count == 0 || memcmp(read, values, count * sizeof *read) == 0);
	/* and nothing but the padding of a last group follows */
	CHECK(width == 0 || decoder.pos == decoder.end);
	CHECK(width == 0 || decoder.run_left < 8);
}

/* runs of all lengths between values of no order */
static void
fill(uint32_t *values, size_t count, int width, uint64_t *random)
{
	uint32_t	mask = (uint32_t) ((UINT64_C(1) << width) - 1);

	for (size_t i = 0; i < count;)
	{
		size_t		n = encode_random(random) % 3 == 0 ?
			encode_random(random) % 70 : 1;
		uint32_t	value = (uint32_t) encode_random(random) & mask;

		for (; n > 0 && i < count; n--)
			values[i++] = value;
	}
}

static void
every_width_is_read_back(LakeArena *arena)
{
	uint64_t	random = 42;
	uint32_t	values[2000];

	for (int width = 0; width <= 32; width++)
	{
		for (int i = 0; i < 40; i++)
		{
			size_t		count = encode_random(&random) % 2000;

			fill(values, count, width, &random);
			check_round_trip(arena, values, count, width);
		}
		for (size_t count = 0; count < 50; count++)
		{
			fill(values, count, width, &random);
			check_round_trip(arena, values, count, width);
		}
	}
}

static void
a_long_run_takes_few_bytes(LakeArena *arena)
{
	uint32_t	values[1000];
	LakeBuffer	out;

	buffer_init(&out, arena);
	for (int i = 0; i < 1000; i++)
		values[i] = 5;
	hybrid_write(&out, values, 1000, 3);
	CHECK_INT(out.len, 3);
	out.len = 0;
	values[500] = 4;
	hybrid_write(&out, values, 1000, 3);
	CHECK(out.len <= 12);
}

static void
values_without_runs_take_their_bits(LakeArena *arena)
{
	uint32_t	values[1024];
	LakeBuffer	out;

	buffer_init(&out, arena);
	for (uint32_t i = 0; i < 1024; i++)
		values[i] = i % 7;
	hybrid_write(&out, values, 1024, 3);
	CHECK_INT(out.len, 2 + 1024 * 3 / 8);
}

static void
short_runs_of_single_bits_stay_packed(LakeArena *arena)
{
	uint32_t	values[1024];
	LakeBuffer	out;

	/* as runs, each eight values would take three bytes */
	buffer_init(&out, arena);
	for (uint32_t i = 0; i < 1024; i++)
		values[i] = i / 8 % 2;
	hybrid_write(&out, values, 1024, 1);
	CHECK_INT(out.len, 2 + 1024 / 8);
}

static void
a_run_of_known_length_needs_no_values(LakeArena *arena)
{
	HybridDecoder decoder;
	LakeBuffer	out;
	uint32_t	value;

	buffer_init(&out, arena);
	hybrid_write_run(&out, 300, UINT64_C(5000000000), 9);
	hybrid_init(&decoder, encode_page(arena, out.data, out.len), 9);
	CHECK(hybrid_peek_run(&decoder, &value) == UINT64_C(5000000000));
	CHECK_INT(value, 300);
	out.len = 0;
	hybrid_write_run(&out, 1, 0, 9);
	CHECK_INT(out.len, 0);
}

static const UnitTest tests[] = {
	UNIT(every_width_is_read_back),
	UNIT(a_long_run_takes_few_bytes),
	UNIT(values_without_runs_take_their_bits),
	UNIT(short_runs_of_single_bits_stay_packed),
	UNIT(a_run_of_known_length_needs_no_values),
};

UNIT_MAIN(tests)
