/*
 * Typed scalars: order, bounds, defaults, readable text.
 */
#include "unit.h"

#include <math.h>

#include "table/table.h"

static const LakeType boolean = {.kind = LAKE_BOOLEAN};
static const LakeType int_type = {.kind = LAKE_INT};
static const LakeType long_type = {.kind = LAKE_LONG};
static const LakeType float_type = {.kind = LAKE_FLOAT};
static const LakeType double_type = {.kind = LAKE_DOUBLE};
static const LakeType decimal_9_2 = {
	.kind = LAKE_DECIMAL, .precision = 9, .scale = 2
};
static const LakeType date_type = {.kind = LAKE_DATE};
static const LakeType time_type = {.kind = LAKE_TIME};
static const LakeType timestamp = {.kind = LAKE_TIMESTAMP};
static const LakeType timestamptz = {.kind = LAKE_TIMESTAMPTZ};
static const LakeType timestamp_ns = {.kind = LAKE_TIMESTAMP_NS};
static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType uuid_type = {.kind = LAKE_UUID};
static const LakeType fixed_4 = {.kind = LAKE_FIXED, .length = 4};
static const LakeType binary_type = {.kind = LAKE_BINARY};
static const LakeType unknown_type = {.kind = LAKE_UNKNOWN};

static LakeBytes
bytes(const char *data, size_t len)
{
	return (LakeBytes) {.data = (const uint8_t *) data, .len = len};
}

static LakeBytes
text(const char *data)
{
	return bytes(data, strlen(data));
}

static void
doubles_follow_postgresql_order(LakeArena *arena)
{
	static const double ascending[] = {
		-INFINITY, -1.5, 0.0, 1e300, INFINITY, NAN
	};
	LakeValue	zero = {.d = 0.0};
	LakeValue	minus_zero = {.d = -0.0};
	LakeValue	minus_nan = {.d = -NAN};
	LakeValue	nan = {.d = NAN};

	(void) arena;
	for (int i = 0; i < 6; i++)
	{
		for (int j = 0; j < 6; j++)
		{
			LakeValue	a = {.d = ascending[i]};
			LakeValue	b = {.d = ascending[j]};

			CHECK_INT(lake_value_compare(&double_type, &a, &b),
					  (i > j) - (i < j));
		}
	}
	CHECK_INT(lake_value_compare(&double_type, &zero, &minus_zero), 0);
	CHECK_INT(lake_value_compare(&double_type, &nan, &minus_nan), 0);
}

static void
bytes_are_compared_unsigned_and_shorter_first(LakeArena *arena)
{
	LakeValue	a = {.bytes = text("a")};
	LakeValue	ab = {.bytes = text("ab")};
	LakeValue	high = {.bytes = text("\xc3\xa9")};
	LakeValue	empty = {.bytes = {NULL, 0}};

	(void) arena;
	CHECK(lake_value_compare(&string_type, &a, &ab) < 0);
	CHECK(lake_value_compare(&string_type, &ab, &high) < 0);
	CHECK(lake_value_compare(&string_type, &empty, &a) < 0);
	CHECK(lake_value_compare(&string_type, &empty, &empty) == 0);
}

static void
integers_and_decimals_are_compared_by_value(LakeArena *arena)
{
	LakeValue	small = {.i = INT64_MIN};
	LakeValue	large = {.i = INT64_MAX};
	LakeValue	minus = {.decimal = -1};
	LakeValue	plus = {.decimal = (LakeInt128) 1 << 100};

	(void) arena;
	CHECK(lake_value_compare(&long_type, &small, &large) < 0);
	CHECK(lake_value_compare(&decimal_9_2, &minus, &plus) < 0);
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "no order",
				 lake_value_compare(&unknown_type, &small, &large));
}

static int64_t
integer_bound(const LakeType *type, const char *data, size_t len)
{
	LakeValue	value = {.i = -999};

	CHECK(lake_value_from_bound(type, bytes(data, len), &value));
	return value.i;
}

static void
bounds_are_read_in_their_binary_form(LakeArena *arena)
{
	LakeValue	value;

	(void) arena;
	CHECK_INT(integer_bound(&boolean, "\1", 1), 1);
	CHECK_INT(integer_bound(&boolean, "\7", 1), 1);
	CHECK_INT(integer_bound(&int_type, "\x22\0\0\0", 4), 34);
	CHECK_INT(integer_bound(&int_type, "\xff\xff\xff\xff", 4), -1);
	CHECK_INT(integer_bound(&date_type, "\x4e\x44\0\0", 4), 17486);
	CHECK_INT(integer_bound(&long_type, "\x22\0\0\0\0\0\0\0", 8), 34);
	CHECK_INT(integer_bound(&timestamp, "\x00\xc3\x26\x2d\x21\x5e\x05\x00", 8),
			  1510871468000000);
	CHECK(lake_value_from_bound(&float_type, bytes("\0\0\x80\x3f", 4),
								&value) && value.d == 1.0);
	CHECK(lake_value_from_bound(&double_type,
								bytes("\0\0\0\0\0\0\xf8\xbf", 8), &value) &&
		  value.d == -1.5);
	CHECK(lake_value_from_bound(&decimal_9_2, bytes("\x05\x8c", 2), &value) &&
		  value.decimal == 1420);
	CHECK(lake_value_from_bound(&string_type, text("ice"), &value) &&
		  value.bytes.len == 3);
	CHECK(lake_value_from_bound(&string_type, text(""), &value));
	CHECK(lake_value_from_bound(&fixed_4, bytes("\0\1\2\3", 4), &value));
	CHECK(lake_value_from_bound(&uuid_type, text("0123456789abcdef"), &value));
}

static void
bounds_older_than_a_promotion_are_widened(LakeArena *arena)
{
	LakeValue	value;

	(void) arena;
	CHECK_INT(integer_bound(&long_type, "\xff\xff\xff\xff", 4), -1);
	CHECK_INT(integer_bound(&timestamp, "\xff\xff\xff\xff", 4), -86400000000);
	CHECK_INT(integer_bound(&timestamp_ns, "\1\0\0\0", 4), 86400000000000);
	CHECK(lake_value_from_bound(&double_type, bytes("\0\0\x80\x3f", 4),
								&value) && value.d == 1.0);
	/* a date whose nanoseconds overflow */
	CHECK(!lake_value_from_bound(&timestamp_ns, bytes("\xff\xff\xff\x7f", 4),
								 &value));
}

static void
bounds_that_cannot_be_of_the_type_are_unknown(LakeArena *arena)
{
	LakeValue	value;

	(void) arena;
	CHECK(!lake_value_from_bound(&int_type, bytes("\0\0\0\0\0\0\0\0", 8),
								 &value));
	CHECK(!lake_value_from_bound(&int_type, text(""), &value));
	CHECK(!lake_value_from_bound(&long_type, bytes("\0\0\0", 3), &value));
	CHECK(!lake_value_from_bound(&timestamptz, bytes("\0\0\0\0", 4), &value));
	CHECK(!lake_value_from_bound(&decimal_9_2, text(""), &value));
	CHECK(!lake_value_from_bound(&decimal_9_2, bytes("\x7f\0\0\0\0", 5),
								 &value));
	/* cut inside of a character */
	CHECK(!lake_value_from_bound(&string_type, text("aaa\xe2\x80"), &value));
	CHECK(!lake_value_from_bound(&fixed_4, text("abc"), &value));
	CHECK(!lake_value_from_bound(&uuid_type, text("abc"), &value));
	CHECK(!lake_value_from_bound(&unknown_type, text("abc"), &value));
}

/* is that the bound of value, and does it lead back? */
static void
check_bound(LakeArena *arena, const LakeType *type, LakeValue value,
			LakeBytes expected)
{
	LakeBytes	bound = lake_value_to_bound(arena, type, &value);
	LakeValue	back;

	CHECK_INT(bound.len, expected.len);
	CHECK(bound.data != NULL &&
		  memcmp(bound.data, expected.data, expected.len) == 0);
	CHECK(lake_value_from_bound(type, bound, &back));
	CHECK_INT(lake_value_compare(type, &value, &back), 0);
}

static void
values_become_the_bounds_of_the_reference(LakeArena *arena)
{
	check_bound(arena, &boolean, (LakeValue) {.i = 1}, bytes("\1", 1));
	check_bound(arena, &int_type, (LakeValue) {.i = 34}, bytes("\x22\0\0\0", 4));
	check_bound(arena, &int_type, (LakeValue) {.i = -1},
				bytes("\xff\xff\xff\xff", 4));
	check_bound(arena, &date_type, (LakeValue) {.i = 17486},
				bytes("\x4e\x44\0\0", 4));
	check_bound(arena, &long_type, (LakeValue) {.i = 34},
				bytes("\x22\0\0\0\0\0\0\0", 8));
	check_bound(arena, &timestamptz, (LakeValue) {.i = 1510871468000000},
				bytes("\x00\xc3\x26\x2d\x21\x5e\x05\x00", 8));
	check_bound(arena, &float_type, (LakeValue) {.d = 1.0},
				bytes("\0\0\x80\x3f", 4));
	check_bound(arena, &double_type, (LakeValue) {.d = -1.5},
				bytes("\0\0\0\0\0\0\xf8\xbf", 8));
	check_bound(arena, &decimal_9_2, (LakeValue) {.decimal = 1420},
				bytes("\x05\x8c", 2));
	check_bound(arena, &decimal_9_2, (LakeValue) {.decimal = 128},
				bytes("\0\x80", 2));
	check_bound(arena, &decimal_9_2, (LakeValue) {.decimal = -129},
				bytes("\xff\x7f", 2));
	check_bound(arena, &string_type, (LakeValue) {.bytes = text("ice")},
				text("ice"));
	check_bound(arena, &string_type, (LakeValue) {.bytes = {NULL, 0}},
				text(""));
	check_bound(arena, &uuid_type,
				(LakeValue) {.bytes = text("0123456789abcdef")},
				text("0123456789abcdef"));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "no bounds",
				 lake_value_to_bound(arena, &unknown_type,
									 &(LakeValue) {.i = 1}));
}

/* the bound cut to width; "-" when there is none */
static const char *
truncated(LakeArena *arena, const LakeType *type, LakeBytes value, int width,
		  bool upper)
{
	LakeValue	whole = {.bytes = value};
	LakeValue	result;

	if (!lake_value_truncate_bound(arena, type, &whole, width, upper,
								   &result))
		return "-";
	CHECK(upper ? lake_value_compare(type, &result, &whole) >= 0 :
		  lake_value_compare(type, &result, &whole) <= 0);
	return lake_strndup(arena, (const char *) result.bytes.data,
						result.bytes.len);
}

#define CHECK_CUT(type, value, width, expected_lower, expected_upper) \
	do { \
		CHECK_STRING(truncated(arena, type, text(value), width, false), \
					 expected_lower); \
		CHECK_STRING(truncated(arena, type, text(value), width, true), \
					 expected_upper); \
	} while (0)

static void
text_bounds_are_cut_by_code_points(LakeArena *arena)
{
	CHECK_CUT(&string_type, "abc", 3, "abc", "abc");
	CHECK_CUT(&string_type, "abcd", 3, "abc", "abd");
	CHECK_CUT(&string_type, "\xc3\xa4\xc3\xb6\xc3\xbc", 2, "\xc3\xa4\xc3\xb6",
			  "\xc3\xa4\xc3\xb7");
	/* a code point may grow by a byte */
	CHECK_CUT(&string_type, "a\x7fz", 2, "a\x7f", "a\xc2\x80");
	CHECK_CUT(&string_type, "\xdf\xbfz", 1, "\xdf\xbf", "\xe0\xa0\x80");
	CHECK_CUT(&string_type, "\xef\xbf\xbfz", 1, "\xef\xbf\xbf",
			  "\xf0\x90\x80\x80");
	/* U+D7FF is followed by U+E000 */
	CHECK_CUT(&string_type, "\xed\x9f\xbfz", 1, "\xed\x9f\xbf",
			  "\xee\x80\x80");
	/* U+10FFFF by nothing */
	CHECK_CUT(&string_type, "a\xf4\x8f\xbf\xbfz", 2, "a\xf4\x8f\xbf\xbf", "b");
	CHECK_CUT(&string_type, "\xf4\x8f\xbf\xbfz", 1, "\xf4\x8f\xbf\xbf", "-");
	CHECK_CUT(&string_type, "\xf0\x9f\x98\x80!", 1, "\xf0\x9f\x98\x80",
			  "\xf0\x9f\x98\x81");
	CHECK_CUT(&string_type, "", 3, "", "");
}

static void
binary_bounds_are_cut_by_bytes(LakeArena *arena)
{
	CHECK_CUT(&binary_type, "\xc3\xa4z", 1, "\xc3", "\xc4");
	CHECK_CUT(&binary_type, "a\xff\xffz", 3, "a\xff\xff", "b");
	CHECK_CUT(&binary_type, "\xff\xffz", 2, "\xff\xff", "-");
	CHECK_CUT(&binary_type, "\xff\xff", 2, "\xff\xff", "\xff\xff");
}

static void
bounds_of_other_types_are_not_cut(LakeArena *arena)
{
	LakeValue	value = {.i = INT64_MAX};
	LakeValue	result;

	CHECK(lake_value_truncate_bound(arena, &long_type, &value, 1, true,
									&result));
	CHECK_INT(result.i, INT64_MAX);
	CHECK_CUT(&fixed_4, "abcd", 1, "abcd", "abcd");
	CHECK_CUT(&uuid_type, "0123456789abcdef", 1, "0123456789abcdef",
			  "0123456789abcdef");
}

static void
broken_text_has_no_upper_bound_that_lies(LakeArena *arena)
{
	char		continuation[100];

	memset(continuation, 0xbf, sizeof continuation);
	continuation[0] = (char) 0xf4;
	truncated(arena, &string_type, bytes(continuation, 100), 1, true);
	continuation[50] = 'x';
	CHECK_STRING(truncated(arena, &string_type, bytes(continuation, 100), 1,
						   true), "-");
}

static LakeValue
from_json(LakeArena *arena, const LakeType *type, const char *json)
{
	LakeValue	value;

	lake_value_from_json(arena, type, json_parse(arena, text(json), "test"),
						 &value);
	return value;
}

static void
defaults_are_read_in_their_json_form(LakeArena *arena)
{
	CHECK_INT(from_json(arena, &boolean, "true").i, 1);
	CHECK_INT(from_json(arena, &int_type, "-34").i, -34);
	CHECK_INT(from_json(arena, &long_type, "9223372036854775807").i,
			  INT64_MAX);
	CHECK(from_json(arena, &double_type, "1").d == 1.0);
	CHECK(from_json(arena, &float_type, "0.1").d == (double) 0.1f);
	CHECK(from_json(arena, &decimal_9_2, "\"14.20\"").decimal == 1420);
	CHECK_INT(from_json(arena, &date_type, "\"2017-11-16\"").i, 17486);
	CHECK_INT(from_json(arena, &time_type, "\"22:31:08.123456\"").i,
			  81068123456);
	CHECK_INT(from_json(arena, &timestamp, "\"2017-11-16T22:31:08\"").i,
			  1510871468000000);
	CHECK_INT(from_json(arena, &timestamptz,
						"\"2017-11-16T22:31:08+00:00\"").i,
			  1510871468000000);
	CHECK_INT(from_json(arena, &string_type, "\"a\\u00e9\"").bytes.len, 3);
	CHECK_INT(from_json(arena, &fixed_4, "\"00010203\"").bytes.data[3], 3);
	CHECK_INT(from_json(arena, &uuid_type,
						"\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""
						).bytes.data[15], 0xe7);
	CHECK(from_json(arena, &int_type, "null").is_null);
}

static void
defaults_that_do_not_fit_are_refused(LakeArena *arena)
{
	static const struct
	{
		const LakeType *type;
		const char *json;
	}			bad[] = {
		{&boolean, "1"}, {&int_type, "2147483648"}, {&int_type, "1.0"},
		{&long_type, "\"1\""}, {&double_type, "\"1\""},
		{&double_type, "1e999"}, {&float_type, "1e39"},
		{&decimal_9_2, "14.20"}, {&decimal_9_2, "\"14.205\""},
		{&decimal_9_2, "\"12345678.00\""}, {&date_type, "17486"},
		{&date_type, "\"2017-13-01\""}, {&timestamp, "\"2017-11-16\""},
		{&timestamptz, "\"2017-11-16T22:31:08\""},
		{&string_type, "1"}, {&string_type, "\"a\\u0000\""},
		{&fixed_4, "\"0001\""}, {&binary_type, "\"0\""},
		{&uuid_type, "\"f79c3e09\""}, {&unknown_type, "1"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "default",
					 from_json(arena, bad[i].type, bad[i].json));
}

static const char *
shown(LakeArena *arena, const LakeType *type, LakeValue value)
{
	return lake_value_text(arena, type, &value);
}

static void
text_is_what_postgresql_shows(LakeArena *arena)
{
	CHECK_STRING(shown(arena, &int_type, (LakeValue) {.is_null = true}),
				 "NULL");
	CHECK_STRING(shown(arena, &boolean, (LakeValue) {.i = 1}), "true");
	CHECK_STRING(shown(arena, &long_type, (LakeValue) {.i = INT64_MIN}),
				 "-9223372036854775808");
	CHECK_STRING(shown(arena, &double_type, (LakeValue) {.d = 0.1}), "0.1");
	CHECK_STRING(shown(arena, &double_type, (LakeValue) {.d = NAN}), "NaN");
	CHECK_STRING(shown(arena, &float_type,
					   (LakeValue) {.d = (double) 0.1f}), "0.1");
	CHECK_STRING(shown(arena, &decimal_9_2, (LakeValue) {.decimal = -5}),
				 "-0.05");
	CHECK_STRING(shown(arena, &date_type, (LakeValue) {.i = 17486}),
				 "2017-11-16");
	CHECK_STRING(shown(arena, &date_type, (LakeValue) {.i = -719529}),
				 "0002-12-31 BC");
	CHECK_STRING(shown(arena, &time_type, (LakeValue) {.i = 81068100000}),
				 "22:31:08.1");
	CHECK_STRING(shown(arena, &timestamp,
					   (LakeValue) {.i = 1510871468000000}),
				 "2017-11-16 22:31:08");
	CHECK_STRING(shown(arena, &timestamptz, (LakeValue) {.i = -1}),
				 "1969-12-31 23:59:59.999999+00");
	CHECK_STRING(shown(arena, &timestamp_ns, (LakeValue) {.i = INT64_MIN}),
				 "1677-09-21 00:12:43.145224192");
	CHECK_STRING(shown(arena, &string_type, (LakeValue) {.bytes = text("x")}),
				 "x");
	CHECK_STRING(shown(arena, &binary_type,
					   (LakeValue) {.bytes = bytes("\0\xff", 2)}), "\\x00ff");
	CHECK_STRING(shown(arena, &uuid_type,
					   (LakeValue) {.bytes = text("0123456789abcdef")}),
				 "30313233-3435-3637-3839-616263646566");
}

static const UnitTest tests[] = {
	UNIT(doubles_follow_postgresql_order),
	UNIT(bytes_are_compared_unsigned_and_shorter_first),
	UNIT(integers_and_decimals_are_compared_by_value),
	UNIT(bounds_are_read_in_their_binary_form),
	UNIT(bounds_older_than_a_promotion_are_widened),
	UNIT(bounds_that_cannot_be_of_the_type_are_unknown),
	UNIT(values_become_the_bounds_of_the_reference),
	UNIT(text_bounds_are_cut_by_code_points),
	UNIT(binary_bounds_are_cut_by_bytes),
	UNIT(bounds_of_other_types_are_not_cut),
	UNIT(broken_text_has_no_upper_bound_that_lies),
	UNIT(defaults_are_read_in_their_json_form),
	UNIT(defaults_that_do_not_fit_are_refused),
	UNIT(text_is_what_postgresql_shows),
};

UNIT_MAIN(tests)
