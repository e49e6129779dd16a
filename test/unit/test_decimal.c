/*
 * Decimals: bytes, text, exactness at the ends of the range.
 */
#include "unit.h"

#include "base/decimal.h"

/* a signed shift would be undefined */
#define LEAST ((LakeInt128) ((unsigned __int128) 1 << 127))

static void
bytes_are_minimal_and_round_trip(LakeArena *arena)
{
	static const struct
	{
		int64_t		value;
		const char *bytes;
		size_t		len;
	}			vectors[] = {
		{1420, "\x05\x8c", 2}, {0, "\0", 1}, {1, "\1", 1}, {-1, "\xff", 1},
		{127, "\x7f", 1}, {128, "\0\x80", 2}, {-128, "\x80", 1},
		{-129, "\xff\x7f", 2}, {-1420, "\xfa\x74", 2},
		{-32768, "\x80\0", 2}, {32768, "\0\x80\0", 3},
	};

	(void) arena;
	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
	{
		uint8_t		bytes[16];
		size_t		len = decimal_to_bytes(vectors[i].value, bytes);
		LakeInt128	back;

		CHECK_INT(len, vectors[i].len);
		CHECK(memcmp(bytes, vectors[i].bytes, vectors[i].len) == 0);
		CHECK(decimal_from_bytes(bytes, len, &back));
		CHECK(back == vectors[i].value);
	}
}

static void
bytes_round_trip_at_every_power(LakeArena *arena)
{
	(void) arena;
	for (int exponent = 0; exponent <= 38; exponent++)
	{
		for (int sign = -1; sign <= 1; sign += 2)
		{
			for (int off = -1; off <= 1; off++)
			{
				LakeInt128	value = sign * (decimal_power10(exponent) + off);
				LakeInt128	back;
				uint8_t		bytes[16];
				size_t		len = decimal_to_bytes(value, bytes);

				CHECK(decimal_from_bytes(bytes, len, &back));
				CHECK(back == value);
			}
		}
	}
}

static void
padded_bytes_are_read_and_wider_values_refused(LakeArena *arena)
{
	uint8_t		padded[20];
	LakeInt128	value;

	(void) arena;
	memset(padded, 0xff, sizeof padded);
	padded[19] = 0x80;
	CHECK(decimal_from_bytes(padded, sizeof padded, &value) && value == -128);
	memset(padded, 0, sizeof padded);
	padded[19] = 0x80;
	CHECK(decimal_from_bytes(padded, sizeof padded, &value) && value == 128);
	padded[4] = 0x80;
	CHECK(!decimal_from_bytes(padded, sizeof padded, &value));
	CHECK(!decimal_from_bytes(padded, 17 + 3, &value));
	CHECK(decimal_from_bytes(padded, 0, &value) && value == 0);
	memset(padded, 0, sizeof padded);
	padded[0] = 1;
	CHECK(!decimal_from_bytes(padded, 17, &value));
}

static const char *
formatted(LakeArena *arena, LakeInt128 value, int scale)
{
	char	   *out = lake_alloc(arena, 48);

	CHECK_INT(decimal_format(value, scale, out), strlen(out));
	return out;
}

static void
format_keeps_every_fraction_digit(LakeArena *arena)
{
	LakeInt128	largest = decimal_power10(38) - 1;

	CHECK_STRING(formatted(arena, 1420, 2), "14.20");
	CHECK_STRING(formatted(arena, -5, 2), "-0.05");
	CHECK_STRING(formatted(arena, 0, 0), "0");
	CHECK_STRING(formatted(arena, 0, 3), "0.000");
	CHECK_STRING(formatted(arena, largest, 0),
				 "99999999999999999999999999999999999999");
	CHECK_STRING(formatted(arena, -largest, 38),
				 "-0.99999999999999999999999999999999999999");
	CHECK_STRING(formatted(arena, decimal_power10(20), 1),
				 "10000000000000000000.0");
	CHECK_STRING(formatted(arena, LEAST, 0),
				 "-170141183460469231731687303715884105728");
}

static bool
parses(const char *text, int scale, LakeInt128 expected)
{
	LakeInt128	value;

	return decimal_parse(text, strlen(text), scale, &value) &&
		value == expected;
}

static bool
refuses(const char *text, int scale)
{
	LakeInt128	value;

	return !decimal_parse(text, strlen(text), scale, &value);
}

static void
parse_takes_what_is_exact(LakeArena *arena)
{
	(void) arena;
	CHECK(parses("14.20", 2, 1420));
	CHECK(parses("14.2", 2, 1420));
	CHECK(parses("14.2000", 2, 1420));
	CHECK(parses("+1e2", 0, 100));
	CHECK(parses("-1.5E-1", 2, -15));
	CHECK(parses("1200e-2", 0, 12));
	CHECK(parses(".5", 1, 5));
	CHECK(parses("5.", 1, 50));
	CHECK(parses("-0", 2, 0));
	CHECK(parses("0e999999999999", 2, 0));
	CHECK(parses("00000000000000000000000000000000000000000000000001", 0, 1));
	CHECK(parses("1.00000000000000000000000000000000000000000000000", 0, 1));
	CHECK(parses("99999999999999999999999999999999999999", 0,
				 decimal_power10(38) - 1));
}

static void
parse_refuses_what_is_not_exact_or_no_number(LakeArena *arena)
{
	(void) arena;
	CHECK(refuses("14.205", 2));
	CHECK(refuses("1e-3", 2));
	CHECK(refuses("", 0));
	CHECK(refuses(".", 0));
	CHECK(refuses("-", 0));
	CHECK(refuses("1.2.3", 2));
	CHECK(refuses("1e", 0));
	CHECK(refuses("1e+", 0));
	CHECK(refuses("1x", 0));
	CHECK(refuses(" 1", 0));
	CHECK(refuses("NaN", 0));
	CHECK(refuses("100000000000000000000000000000000000000", 0));
	CHECK(refuses("1e99999999999999999999", 0));
	CHECK(refuses("10", 37));
}

static void
fits_is_exclusive_of_the_power(LakeArena *arena)
{
	(void) arena;
	CHECK(decimal_fits(99, 2));
	CHECK(decimal_fits(-99, 2));
	CHECK(!decimal_fits(100, 2));
	CHECK(!decimal_fits(-100, 2));
	CHECK(!decimal_fits(decimal_power10(38), 38));
	CHECK(!decimal_fits(LEAST, 38));
}

static const UnitTest tests[] = {
	UNIT(bytes_are_minimal_and_round_trip),
	UNIT(bytes_round_trip_at_every_power),
	UNIT(padded_bytes_are_read_and_wider_values_refused),
	UNIT(format_keeps_every_fraction_digit),
	UNIT(parse_takes_what_is_exact),
	UNIT(parse_refuses_what_is_not_exact_or_no_number),
	UNIT(fits_is_exclusive_of_the_power),
};

UNIT_MAIN(tests)
