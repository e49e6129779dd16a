/*
 * Partition values as Java writes them: what its own toString gives, run once.
 */
#include <math.h>

#include "base/text.h"
#include "iceberg/iceberg_int.h"
#include "unit.h"

static const char *
human(LakeArena *arena, TransformKind transform, const LakeType *type,
	  LakeValue value)
{
	PartitionField field = {.transform = {.kind = transform},
	.result_type = type};

	return iceberg_human_string(arena, &field, &value);
}

static const char *
identity(LakeArena *arena, LakeTypeKind kind, LakeValue value)
{
	LakeType	type = {.kind = kind};

	return human(arena, TRANSFORM_IDENTITY, &type, value);
}

static void
null_and_void_are_the_word_null(LakeArena *arena)
{
	LakeType	type = {.kind = LAKE_INT};

	CHECK_STRING(human(arena, TRANSFORM_IDENTITY, &type,
					   (LakeValue) {.is_null = true}), "null");
	CHECK_STRING(human(arena, TRANSFORM_VOID, &type, (LakeValue) {.i = 1}),
				 "null");
}

static void
times_are_in_the_unit_of_the_transform(LakeArena *arena)
{
	static const struct
	{
		TransformKind transform;
		int64_t		value;
		const char *text;
	}			cases[] = {
		{TRANSFORM_YEAR, 56, "2026"}, {TRANSFORM_YEAR, -1971, "-001"},
		{TRANSFORM_MONTH, 674, "2026-03"}, {TRANSFORM_MONTH, -1, "1969-12"},
		{TRANSFORM_DAY, 20513, "2026-03-01"}, {TRANSFORM_DAY, -1, "1969-12-31"},
		{TRANSFORM_HOUR, 23, "1970-01-01-23"},
		{TRANSFORM_HOUR, -1, "1969-12-31-23"},
		{TRANSFORM_BUCKET, 7, "7"},
	};
	LakeType	type = {.kind = LAKE_INT};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_STRING(human(arena, cases[i].transform, &type,
						   (LakeValue) {.i = cases[i].value}), cases[i].text);
}

static void
doubles_are_java_s(LakeArena *arena)
{
	static const struct
	{
		double		value;
		const char *text;
	}			cases[] = {
		{0.0, "0.0"}, {-0.0, "-0.0"}, {1.0, "1.0"}, {100.0, "100.0"},
		{123.456, "123.456"}, {0.001, "0.001"}, {0.0009999, "9.999E-4"},
		{9999999.0, "9999999.0"}, {1e7, "1.0E7"}, {-12345678.9, "-1.23456789E7"},
		{1e22, "1.0E22"}, {1.5e-5, "1.5E-5"}, {4.9e-324, "4.9E-324"},
		{1.7976931348623157e308, "1.7976931348623157E308"},
		{0.1 + 0.2, "0.30000000000000004"}, {NAN, "NaN"},
		{INFINITY, "Infinity"}, {-INFINITY, "-Infinity"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_STRING(identity(arena, LAKE_DOUBLE,
							  (LakeValue) {.d = cases[i].value}),
					 cases[i].text);
}

static void
floats_are_as_short_as_floats_can_be(LakeArena *arena)
{
	static const struct
	{
		float		value;
		const char *text;
	}			cases[] = {
		{1.1f, "1.1"}, {0.01f, "0.01"}, {16777216.0f, "1.6777216E7"},
		{3.4028235e38f, "3.4028235E38"}, {1.4e-45f, "1.4E-45"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_STRING(identity(arena, LAKE_FLOAT,
							  (LakeValue) {.d = (double) cases[i].value}),
					 cases[i].text);
}

static void
small_decimals_have_an_exponent(LakeArena *arena)
{
	static const struct
	{
		int			value;
		int			scale;
		const char *text;
	}			cases[] = {
		{0, 0, "0"}, {0, 6, "0.000000"}, {0, 7, "0E-7"},
		{1, 6, "0.000001"}, {1, 7, "1E-7"}, {-12345, 2, "-123.45"},
		{-12345, 8, "-0.00012345"}, {-12345, 12, "-1.2345E-8"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		LakeType	type = {.kind = LAKE_DECIMAL, .precision = 20,
		.scale = cases[i].scale};

		CHECK_STRING(human(arena, TRANSFORM_IDENTITY, &type,
						   (LakeValue) {.decimal = cases[i].value}),
					 cases[i].text);
	}
}

static void
times_of_day_leave_out_what_is_zero(LakeArena *arena)
{
	static const struct
	{
		int64_t		value;
		const char *text;
	}			cases[] = {
		{0, "00:00"}, {60000000, "00:01"}, {61000000, "00:01:01"},
		{61001000, "00:01:01.001"}, {61001001, "00:01:01.001001"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_STRING(identity(arena, LAKE_TIME,
							  (LakeValue) {.i = cases[i].value}),
					 cases[i].text);
}

static void
timestamps_are_iso_with_an_offset_if_they_have_a_zone(LakeArena *arena)
{
	CHECK_STRING(identity(arena, LAKE_TIMESTAMP, (LakeValue) {.i = 0}),
				 "1970-01-01T00:00:00");
	CHECK_STRING(identity(arena, LAKE_TIMESTAMP, (LakeValue) {.i = -880000}),
				 "1969-12-31T23:59:59.12");
	CHECK_STRING(identity(arena, LAKE_TIMESTAMPTZ, (LakeValue) {.i = 1}),
				 "1970-01-01T00:00:00.000001+00:00");
	CHECK_STRING(identity(arena, LAKE_TIMESTAMPTZ_NS, (LakeValue) {.i = 1}),
				 "1970-01-01T00:00:00.000000001+00:00");
	CHECK_STRING(identity(arena, LAKE_TIMESTAMP_NS,
						  (LakeValue) {.i = INT64_MIN}),
				 "1677-09-21T00:12:43.145224192");
}

static void
years_of_timestamps_may_have_a_sign(LakeArena *arena)
{
	CHECK_STRING(identity(arena, LAKE_TIMESTAMP,
						  (LakeValue) {.i = text_days_from_civil(12345, 1, 1) *
							  INT64_C(86400000000)}),
				 "+12345-01-01T00:00:00");
	CHECK_STRING(identity(arena, LAKE_TIMESTAMP,
						  (LakeValue) {.i = text_days_from_civil(-5, 1, 1) *
							  INT64_C(86400000000)}),
				 "-0005-01-01T00:00:00");
}

static void
bytes_are_base64(LakeArena *arena)
{
	static const char *const texts[] = {"", "TA==", "TGE=", "TGFr"};

	for (size_t i = 0; i < 4; i++)
		CHECK_STRING(identity(arena, LAKE_BINARY, (LakeValue) {
			.bytes = {(const uint8_t *) "Lak", i}}), texts[i]);
	CHECK_STRING(identity(arena, LAKE_FIXED, (LakeValue) {
		.bytes = {(const uint8_t *) "\xff\xfe\xfd", 3}}), "//79");
}

static void
other_values_are_plain(LakeArena *arena)
{
	CHECK_STRING(identity(arena, LAKE_BOOLEAN, (LakeValue) {.i = 1}), "true");
	CHECK_STRING(identity(arena, LAKE_LONG, (LakeValue) {.i = INT64_MIN}),
				 "-9223372036854775808");
	CHECK_STRING(identity(arena, LAKE_STRING, (LakeValue) {
		.bytes = {(const uint8_t *) "a b", 3}}), "a b");
}

static const UnitTest tests[] = {
	UNIT(null_and_void_are_the_word_null),
	UNIT(times_are_in_the_unit_of_the_transform),
	UNIT(doubles_are_java_s),
	UNIT(floats_are_as_short_as_floats_can_be),
	UNIT(small_decimals_have_an_exponent),
	UNIT(times_of_day_leave_out_what_is_zero),
	UNIT(timestamps_are_iso_with_an_offset_if_they_have_a_zone),
	UNIT(years_of_timestamps_may_have_a_sign),
	UNIT(bytes_are_base64),
	UNIT(other_values_are_plain),
};

UNIT_MAIN(tests)
