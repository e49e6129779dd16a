/*
 * Values as files store them: one form, none, or not known.  A wrong form would
 * make a bloom filter deny a row that is there.
 */
#include "unit.h"

#include <math.h>

#include "table/table_int.h"

#define SOURCE(physical_, ...) \
	{.shape = PARQUET_PRIMITIVE, .physical = PARQUET_##physical_, __VA_ARGS__}
#define LOGICAL(name)	.logical = PARQUET_LOGICAL_##name
#define INTEGER(bits_, signed_) \
	LOGICAL(INTEGER), .bits = (bits_), .is_signed = (signed_)
#define DECIMAL(precision_, scale_) \
	LOGICAL(DECIMAL), .precision = (precision_), .scale = (scale_)

static const LakeType int_type = {.kind = LAKE_INT};
static const LakeType long_type = {.kind = LAKE_LONG};
static const LakeType float_type = {.kind = LAKE_FLOAT};
static const LakeType double_type = {.kind = LAKE_DOUBLE};
static const LakeType date_type = {.kind = LAKE_DATE};
static const LakeType time_type = {.kind = LAKE_TIME};
static const LakeType timestamp = {.kind = LAKE_TIMESTAMP};
static const LakeType timestamptz = {.kind = LAKE_TIMESTAMPTZ};
static const LakeType timestamp_ns = {.kind = LAKE_TIMESTAMP_NS};
static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType uuid_type = {.kind = LAKE_UUID};
static const LakeType fixed_4 = {.kind = LAKE_FIXED, .length = 4};
static const LakeType binary_type = {.kind = LAKE_BINARY};
static const LakeType boolean = {.kind = LAKE_BOOLEAN};
static const LakeType decimal_38_2 = {
	.kind = LAKE_DECIMAL, .precision = 38, .scale = 2
};

static void
check_known(ParquetField source, const LakeType *type, LakeValue value,
			const char *stored, size_t len)
{
	PhysicalValue room;
	LakeBytes	bytes;

	CHECK_INT(physical_value_encode(&source, type, &value, &room, &bytes),
			  PHYSICAL_KNOWN);
	CHECK_INT(bytes.len, len);
	CHECK(len == 0 || memcmp(bytes.data, stored, len) == 0);
}

static PhysicalForm
form_of(ParquetField source, const LakeType *type, LakeValue value)
{
	PhysicalValue room;
	LakeBytes	bytes;

	return physical_value_encode(&source, type, &value, &room, &bytes);
}

static LakeValue
integer(int64_t value)
{
	return (LakeValue) {.i = value};
}

static LakeValue
real(double value)
{
	return (LakeValue) {.d = value};
}

static LakeValue
decimal(LakeInt128 value)
{
	return (LakeValue) {.decimal = value};
}

static LakeValue
string(const char *data, size_t len)
{
	return (LakeValue) {.bytes = {.data = (const uint8_t *) data, .len = len}};
}

static void
integers_are_as_wide_as_the_file_has_them(LakeArena *arena)
{
	const ParquetField narrow = SOURCE(INT32);
	const ParquetField wide = SOURCE(INT64, INTEGER(64, true));

	(void) arena;
	check_known(narrow, &int_type, integer(-2), "\xfe\xff\xff\xff", 4);
	check_known(wide, &long_type, integer(-2),
				"\xfe\xff\xff\xff\xff\xff\xff\xff", 8);
	/* int promoted to long */
	check_known(narrow, &long_type, integer(INT32_MIN), "\0\0\0\x80", 4);
	CHECK_INT(form_of(narrow, &long_type, integer(INT64_C(1) << 31)),
			  PHYSICAL_ABSENT);
	CHECK_INT(form_of(narrow, &long_type, integer(INT64_C(-1) - INT32_MAX - 1)),
			  PHYSICAL_ABSENT);
	/* no file of an int column is read that way */
	CHECK_INT(form_of(wide, &int_type, integer(1)), PHYSICAL_UNKNOWN);
}

static void
unsigned_integers_use_their_upper_half(LakeArena *arena)
{
	const ParquetField narrow = SOURCE(INT32, INTEGER(32, false));
	const ParquetField wide = SOURCE(INT64, INTEGER(64, false));

	(void) arena;
	check_known(narrow, &long_type, integer(UINT32_MAX), "\xff\xff\xff\xff",
				4);
	CHECK_INT(form_of(narrow, &long_type, integer(-1)), PHYSICAL_ABSENT);
	CHECK_INT(form_of(wide, &long_type, integer(-1)), PHYSICAL_ABSENT);
	check_known(wide, &long_type, integer(INT64_MAX),
				"\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
}

static void
times_are_in_the_unit_of_the_file(LakeArena *arena)
{
	const ParquetField millis = SOURCE(INT64, LOGICAL(TIMESTAMP),
									   .unit = PARQUET_MILLIS);
	const ParquetField micros = SOURCE(INT64, LOGICAL(TIMESTAMP),
									   .unit = PARQUET_MICROS);
	const ParquetField nanos = SOURCE(INT64, LOGICAL(TIMESTAMP),
									  .unit = PARQUET_NANOS);
	const ParquetField time_millis = SOURCE(INT32, LOGICAL(TIME),
											.unit = PARQUET_MILLIS);
	const ParquetField date = SOURCE(INT32, LOGICAL(DATE));

	(void) arena;
	check_known(date, &date_type, integer(-1), "\xff\xff\xff\xff", 4);
	check_known(micros, &timestamp, integer(258), "\2\1\0\0\0\0\0\0", 8);
	check_known(millis, &timestamptz, integer(-2000),
				"\xfe\xff\xff\xff\xff\xff\xff\xff", 8);
	check_known(micros, &timestamp_ns, integer(3000), "\3\0\0\0\0\0\0\0", 8);
	check_known(time_millis, &time_type, integer(7000), "\7\0\0\0", 4);
	CHECK_INT(form_of(millis, &timestamp, integer(-2001)), PHYSICAL_ABSENT);
	CHECK_INT(form_of(micros, &timestamp_ns, integer(1)), PHYSICAL_ABSENT);
	/* a thousand stored values are read as one */
	CHECK_INT(form_of(nanos, &timestamp, integer(1)), PHYSICAL_UNKNOWN);
	CHECK_INT(form_of((ParquetField) SOURCE(INT96), &timestamp, integer(1)),
			  PHYSICAL_UNKNOWN);
	CHECK_INT(form_of(date, &timestamp, integer(0)), PHYSICAL_UNKNOWN);
}

static void
floats_are_known_but_for_zeros_and_nan(LakeArena *arena)
{
	const ParquetField narrow = SOURCE(FLOAT);
	const ParquetField wide = SOURCE(DOUBLE);
	const ParquetField half = SOURCE(FIXED_LEN_BYTE_ARRAY, LOGICAL(FLOAT16),
									 .type_length = 2);

	(void) arena;
	check_known(narrow, &float_type, real(-2), "\0\0\0\xc0", 4);
	check_known(narrow, &double_type, real(INFINITY), "\0\0\x80\x7f", 4);
	check_known(wide, &double_type, real(-2), "\0\0\0\0\0\0\0\xc0", 8);
	for (int i = 0; i < 2; i++)
	{
		const ParquetField *source = i == 0 ? &narrow : &wide;

		CHECK_INT(form_of(*source, &double_type, real(0.0)), PHYSICAL_UNKNOWN);
		CHECK_INT(form_of(*source, &double_type, real(-0.0)),
				  PHYSICAL_UNKNOWN);
		CHECK_INT(form_of(*source, &double_type, real(NAN)), PHYSICAL_UNKNOWN);
	}
	CHECK_INT(form_of(narrow, &double_type, real(0.1)), PHYSICAL_ABSENT);
	CHECK_INT(form_of(narrow, &double_type, real(1e300)), PHYSICAL_ABSENT);
	CHECK_INT(form_of(half, &float_type, real(1)), PHYSICAL_UNKNOWN);
}

static void
decimals_are_integers_or_big_endian_bytes(LakeArena *arena)
{
	const ParquetField as_int = SOURCE(INT32, DECIMAL(9, 2));
	const ParquetField as_long = SOURCE(INT64, DECIMAL(18, 2));
	const ParquetField bytes_3 = SOURCE(FIXED_LEN_BYTE_ARRAY, DECIMAL(6, 2),
										.type_length = 3);
	const ParquetField bytes_17 = SOURCE(FIXED_LEN_BYTE_ARRAY, DECIMAL(38, 2),
										 .type_length = 17);

	(void) arena;
	check_known(as_int, &decimal_38_2, decimal(-2), "\xfe\xff\xff\xff", 4);
	check_known(as_long, &decimal_38_2, decimal(258), "\2\1\0\0\0\0\0\0", 8);
	CHECK_INT(form_of(as_int, &decimal_38_2, decimal(INT64_C(1) << 31)),
			  PHYSICAL_ABSENT);
	check_known(bytes_3, &decimal_38_2, decimal(258), "\0\1\2", 3);
	check_known(bytes_3, &decimal_38_2, decimal(-(1 << 23)), "\x80\0\0", 3);
	CHECK_INT(form_of(bytes_3, &decimal_38_2, decimal(1 << 23)),
			  PHYSICAL_ABSENT);
	CHECK_INT(form_of(bytes_3, &decimal_38_2, decimal(-(1 << 23) - 1)),
			  PHYSICAL_ABSENT);
	check_known(bytes_17, &decimal_38_2, decimal(-1),
				"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
				17);
	/* leading bytes may be spared or not */
	CHECK_INT(form_of((ParquetField) SOURCE(BYTE_ARRAY, DECIMAL(9, 2)),
					  &decimal_38_2, decimal(1)), PHYSICAL_UNKNOWN);
	CHECK_INT(form_of((ParquetField) SOURCE(INT32, DECIMAL(9, 3)),
					  &decimal_38_2, decimal(1)), PHYSICAL_UNKNOWN);
	CHECK_INT(form_of((ParquetField) SOURCE(INT32), &decimal_38_2,
					  decimal(1)), PHYSICAL_UNKNOWN);
}

static void
bytes_are_as_they_are(LakeArena *arena)
{
	const ParquetField array = SOURCE(BYTE_ARRAY, LOGICAL(STRING));
	const ParquetField fixed = SOURCE(FIXED_LEN_BYTE_ARRAY, .type_length = 4);
	const ParquetField uuid = SOURCE(FIXED_LEN_BYTE_ARRAY, LOGICAL(UUID),
									 .type_length = 16);

	(void) arena;
	check_known(array, &string_type, string("t\xc3\xa9xt", 5), "t\xc3\xa9xt",
				5);
	check_known(array, &string_type, string("", 0), "", 0);
	check_known(fixed, &fixed_4, string("abcd", 4), "abcd", 4);
	check_known(uuid, &uuid_type, string("0123456789abcdef", 16),
				"0123456789abcdef", 16);
	CHECK_INT(form_of(fixed, &binary_type, string("abc", 3)),
			  PHYSICAL_UNKNOWN);
	CHECK_INT(form_of((ParquetField) SOURCE(BOOLEAN), &boolean, integer(1)),
			  PHYSICAL_UNKNOWN);
}

static const UnitTest tests[] = {
	UNIT(integers_are_as_wide_as_the_file_has_them),
	UNIT(unsigned_integers_use_their_upper_half),
	UNIT(times_are_in_the_unit_of_the_file),
	UNIT(floats_are_known_but_for_zeros_and_nan),
	UNIT(decimals_are_integers_or_big_endian_bytes),
	UNIT(bytes_are_as_they_are)
};

UNIT_MAIN(tests)
