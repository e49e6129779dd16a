/*
 * Vectors of every Parquet type into the layouts that batches promise.
 */
#include "unit.h"

#include <stdlib.h>

#include "table/table_int.h"

#define DAY INT64_C(86400000000)

/* a column of one file and how it is wanted */
typedef struct Case
{
	LakeType	type;
	LakeField	field;
	ParquetField source;
	ColumnMap	map;
	VectorConverter *converter;
} Case;

static Case *
make(LakeArena *arena, LakeTypeKind kind, ParquetPhysical physical,
	 ParquetLogical logical)
{
	static const VectorLayout layouts[] = {
		[PARQUET_BOOLEAN] = VECTOR_BOOL,
		[PARQUET_INT32] = VECTOR_I32,
		[PARQUET_INT64] = VECTOR_I64,
		[PARQUET_INT96] = VECTOR_BYTES,
		[PARQUET_FLOAT] = VECTOR_F32,
		[PARQUET_DOUBLE] = VECTOR_F64,
		[PARQUET_BYTE_ARRAY] = VECTOR_BYTES,
		[PARQUET_FIXED_LEN_BYTE_ARRAY] = VECTOR_BYTES,
	};
	Case	   *c = lake_alloc(arena, sizeof(Case));

	c->type.kind = kind;
	c->field.name = "c";
	c->field.type = &c->type;
	c->source.name = "c";
	c->source.physical = physical;
	c->source.logical = logical;
	c->source.layout = layouts[physical];
	c->map.field = &c->field;
	c->map.source = &c->source;
	return c;
}

static const LakeVector *
convert(LakeArena *arena, Case *c, bool truncate, const void *values,
		uint32_t count, const uint8_t *nulls)
{
	LakeVector *vector = lake_alloc(arena, sizeof(LakeVector));

	vector->layout = c->source.layout;
	vector->count = count;
	vector->values = values;
	vector->nulls = nulls;
	if (c->converter == NULL)
		c->converter = vector_converter_create(arena, &c->map, truncate);
	return vector_converter_apply(c->converter, vector, count);
}

static int64_t
number(const LakeVector *vector, uint32_t row)
{
	return *(const int64_t *) vector_value(vector, row);
}

static void
what_fits_already_is_handed_on(LakeArena *arena)
{
	static const int64_t values[] = {1, 2};
	Case	   *c = make(arena, LAKE_LONG, PARQUET_INT64,
						 PARQUET_LOGICAL_NONE);
	const LakeVector *result = convert(arena, c, false, values, 2, NULL);

	CHECK(result->values == values);
}

static void
ints_widen_to_long(LakeArena *arena)
{
	static const int32_t values[] = {-1, INT32_MAX, INT32_MIN};
	Case	   *c = make(arena, LAKE_LONG, PARQUET_INT32,
						 PARQUET_LOGICAL_NONE);
	const LakeVector *result = convert(arena, c, false, values, 3, NULL);

	CHECK_INT(result->layout, VECTOR_I64);
	CHECK_INT(number(result, 0), -1);
	CHECK_INT(number(result, 1), INT32_MAX);
	CHECK_INT(number(result, 2), INT32_MIN);
}

static Case *
make_unsigned(LakeArena *arena, LakeTypeKind kind, ParquetPhysical physical,
			  int bits)
{
	Case	   *c = make(arena, kind, physical, PARQUET_LOGICAL_INTEGER);

	c->source.bits = bits;
	return c;
}

static void
unsigned_ints_keep_their_value(LakeArena *arena)
{
	static const int32_t values[] = {-294967296, 7};
	Case	   *c = make_unsigned(arena, LAKE_LONG, PARQUET_INT32, 32);

	CHECK_INT(number(convert(arena, c, false, values, 2, NULL), 0),
			  INT64_C(4000000000));
	c = make_unsigned(arena, LAKE_INT, PARQUET_INT32, 32);
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "does not fit int",
				 convert(arena, c, false, values, 2, NULL));
	c = make_unsigned(arena, LAKE_INT, PARQUET_INT32, 32);
	CHECK(convert(arena, c, false, values + 1, 1, NULL)->values == values + 1);
	c = make_unsigned(arena, LAKE_INT, PARQUET_INT32, 16);
	CHECK(convert(arena, c, false, values + 1, 1, NULL)->values == values + 1);
}

static void
unsigned_longs_above_the_signed_range_are_refused(LakeArena *arena)
{
	static const int64_t values[] = {5, -1};
	static const uint8_t nulls[] = {0, 1};
	Case	   *c = make_unsigned(arena, LAKE_LONG, PARQUET_INT64, 64);

	CHECK(convert(arena, c, false, values, 1, NULL)->values == values);
	CHECK(convert(arena, c, false, values, 2, nulls)->values == values);
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "\"c\"",
				 convert(arena, c, false, values, 2, NULL));
}

static void
floats_widen_to_double(LakeArena *arena)
{
	static const float values[] = {1.5f, -0.0f};
	Case	   *c = make(arena, LAKE_DOUBLE, PARQUET_FLOAT,
						 PARQUET_LOGICAL_NONE);
	const LakeVector *result = convert(arena, c, false, values, 2, NULL);
	const double *doubles = result->values;

	CHECK_INT(result->layout, VECTOR_F64);
	CHECK(doubles[0] == 1.5);
	CHECK(__builtin_signbit(doubles[1]) != 0);
}

static Case *
make_decimal(LakeArena *arena, int precision, int scale,
			 VectorLayout layout, int file_precision, int file_scale)
{
	Case	   *c = make(arena, LAKE_DECIMAL, PARQUET_INT32,
						 PARQUET_LOGICAL_DECIMAL);

	c->type.precision = precision;
	c->type.scale = scale;
	c->source.precision = file_precision;
	c->source.scale = file_scale;
	c->source.layout = layout;
	return c;
}

static void
decimals_widen_at_the_same_scale(LakeArena *arena)
{
	static const int32_t small[] = {-1420};
	static const int64_t large[] = {INT64_MIN};
	static const LakeInt128 huge[] = {(LakeInt128) 1 << 100, 12};
	Case	   *c = make_decimal(arena, 18, 2, VECTOR_I32, 5, 2);
	const LakeVector *result = convert(arena, c, false, small, 1, NULL);

	CHECK_INT(result->layout, VECTOR_I64);
	CHECK_INT(number(result, 0), -1420);
	c = make_decimal(arena, 38, 2, VECTOR_I32, 5, 2);
	result = convert(arena, c, false, small, 1, NULL);
	CHECK_INT(result->layout, VECTOR_I128);
	CHECK(*(const LakeInt128 *) result->values == -1420);
	c = make_decimal(arena, 38, 0, VECTOR_I64, 18, 0);
	result = convert(arena, c, false, large, 1, NULL);
	CHECK(*(const LakeInt128 *) result->values == INT64_MIN);
	c = make_decimal(arena, 18, 0, VECTOR_I128, 38, 0);
	CHECK_INT(number(convert(arena, c, false, huge + 1, 1, NULL), 0), 12);
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "decimal(18,0)",
				 convert(arena, c, false, huge, 1, NULL));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "decimal(9,2)",
				 convert(arena, make_decimal(arena, 9, 2, VECTOR_I32, 9, 3),
						 false, small, 1, NULL));
}

static Case *
make_unit(LakeArena *arena, LakeTypeKind kind, ParquetPhysical physical,
		  ParquetLogical logical, ParquetUnit unit)
{
	Case	   *c = make(arena, kind, physical, logical);

	c->source.unit = unit;
	return c;
}

static void
times_become_microseconds(LakeArena *arena)
{
	static const int32_t millis[] = {81068123};
	static const int64_t nanos[] = {81068123456000, 81068123456789};
	Case	   *c = make_unit(arena, LAKE_TIME, PARQUET_INT32,
							  PARQUET_LOGICAL_TIME, PARQUET_MILLIS);

	CHECK_INT(number(convert(arena, c, false, millis, 1, NULL), 0),
			  INT64_C(81068123000));
	c = make_unit(arena, LAKE_TIME, PARQUET_INT64, PARQUET_LOGICAL_TIME,
				  PARQUET_NANOS);
	CHECK_INT(number(convert(arena, c, false, nanos, 1, NULL), 0),
			  INT64_C(81068123456));
	CHECK_THROWS(LAKE_ERROR_DATETIME, "nanoseconds",
				 convert(arena, c, false, nanos, 2, NULL));
}

static void
timestamps_become_the_wanted_unit(LakeArena *arena)
{
	static const int64_t values[] = {-1, 1510871468001};
	static const int64_t extreme[] = {INT64_MAX};
	Case	   *c = make_unit(arena, LAKE_TIMESTAMPTZ, PARQUET_INT64,
							  PARQUET_LOGICAL_TIMESTAMP, PARQUET_MILLIS);
	const LakeVector *result = convert(arena, c, false, values, 2, NULL);

	CHECK_INT(number(result, 0), -1000);
	CHECK_INT(number(result, 1), INT64_C(1510871468001000));
	CHECK_THROWS(LAKE_ERROR_DATETIME, "timestamptz",
				 convert(arena, c, false, extreme, 1, NULL));
	c = make_unit(arena, LAKE_TIMESTAMP_NS, PARQUET_INT64,
				  PARQUET_LOGICAL_TIMESTAMP, PARQUET_MICROS);
	CHECK_INT(number(convert(arena, c, false, values, 1, NULL), 0), -1000);
	c = make_unit(arena, LAKE_TIMESTAMP_NS, PARQUET_INT64,
				  PARQUET_LOGICAL_TIMESTAMP, PARQUET_NANOS);
	CHECK(convert(arena, c, false, values, 2, NULL)->values == values);
}

static void
nanoseconds_are_refused_or_rounded_down(LakeArena *arena)
{
	static const int64_t values[] = {-1, 1999};
	static const uint8_t nulls[] = {1, 1};
	Case	   *c = make_unit(arena, LAKE_TIMESTAMP, PARQUET_INT64,
							  PARQUET_LOGICAL_TIMESTAMP, PARQUET_NANOS);
	const LakeVector *result;

	CHECK_THROWS(LAKE_ERROR_DATETIME, "nanoseconds",
				 convert(arena, c, false, values, 2, NULL));
	/* what a NULL slot holds is nobody's concern */
	CHECK_INT(convert(arena, c, false, values, 2, nulls)->count, 2);
	c->converter = NULL;
	result = convert(arena, c, true, values, 2, NULL);
	CHECK_INT(number(result, 0), -1);
	CHECK_INT(number(result, 1), 1);
}

static void
dates_become_timestamps(LakeArena *arena)
{
	static const int32_t values[] = {-1, 17486};
	static const int32_t extreme[] = {INT32_MAX};
	Case	   *c = make(arena, LAKE_TIMESTAMP, PARQUET_INT32,
						 PARQUET_LOGICAL_DATE);
	const LakeVector *result = convert(arena, c, false, values, 2, NULL);

	CHECK_INT(number(result, 0), -DAY);
	CHECK_INT(number(result, 1), 17486 * DAY);
	CHECK_THROWS(LAKE_ERROR_DATETIME, "timestamp",
				 convert(arena, c, false, extreme, 1, NULL));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "INT32 (DATE)",
				 convert(arena, make(arena, LAKE_TIMESTAMPTZ, PARQUET_INT32,
									 PARQUET_LOGICAL_DATE),
						 false, values, 2, NULL));
}

static LakeBytes
int96(LakeArena *arena, int64_t nanos, int32_t julian_day)
{
	uint8_t    *bytes = lake_alloc(arena, 12);

	memcpy(bytes, &nanos, 8);
	memcpy(bytes + 8, &julian_day, 4);
	return (LakeBytes)
	{
		bytes, 12
	};
}

static void
int96_counts_from_the_julian_epoch(LakeArena *arena)
{
	LakeBytes	values[] = {
		int96(arena, 0, 2440588), int96(arena, 1000, 2440589),
		int96(arena, -1000, 2440588), {NULL, 0}
	};
	static const uint8_t nulls[] = {0, 0, 0, 1};
	Case	   *c = make(arena, LAKE_TIMESTAMPTZ, PARQUET_INT96,
						 PARQUET_LOGICAL_NONE);
	const LakeVector *result = convert(arena, c, false, values, 4, nulls);

	CHECK_INT(number(result, 0), 0);
	CHECK_INT(number(result, 1), DAY + 1);
	CHECK_INT(number(result, 2), -1);
}

static void
int96_below_a_microsecond_is_refused_or_floored(LakeArena *arena)
{
	LakeBytes	values[] = {
		int96(arena, 123456789, 2440588), int96(arena, 123456789, 2440587)
	};
	Case	   *c = make(arena, LAKE_TIMESTAMPTZ, PARQUET_INT96,
						 PARQUET_LOGICAL_NONE);
	const LakeVector *result;

	CHECK_THROWS(LAKE_ERROR_DATETIME, "nanoseconds",
				 convert(arena, c, false, values, 2, NULL));
	c->converter = NULL;
	result = convert(arena, c, true, values, 2, NULL);
	CHECK_INT(number(result, 0), 123456);
	CHECK_INT(number(result, 1), 123456 - DAY);
	c = make(arena, LAKE_TIMESTAMPTZ_NS, PARQUET_INT96,
			 PARQUET_LOGICAL_NONE);
	CHECK_INT(number(convert(arena, c, false, values, 2, NULL), 0),
			  123456789);
	values[0] = int96(arena, 0, INT32_MAX);
	CHECK_THROWS(LAKE_ERROR_DATETIME, "timestamptz_ns",
				 convert(arena, c, false, values, 1, NULL));
}

static void
byte_arrays_become_text_and_binary(LakeArena *arena)
{
	static const struct
	{
		LakeTypeKind kind;
		ParquetLogical logical;
	}			pairs[] = {
		{LAKE_STRING, PARQUET_LOGICAL_NONE},
		{LAKE_STRING, PARQUET_LOGICAL_STRING},
		{LAKE_STRING, PARQUET_LOGICAL_ENUM},
		{LAKE_STRING, PARQUET_LOGICAL_JSON},
		{LAKE_BINARY, PARQUET_LOGICAL_NONE},
		{LAKE_BINARY, PARQUET_LOGICAL_BSON},
	};
	static const LakeBytes values[] = {{(const uint8_t *) "x", 1}};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		CHECK(convert(arena, make(arena, pairs[i].kind, PARQUET_BYTE_ARRAY,
								  pairs[i].logical), false, values, 1,
					  NULL)->values == values);
}

static void
lengths_of_uuid_and_fixed_are_checked(LakeArena *arena)
{
	static const LakeBytes values[] = {
		{(const uint8_t *) "0123456789abcdef", 16},
		{(const uint8_t *) "0123", 4}
	};
	Case	   *c = make(arena, LAKE_UUID, PARQUET_FIXED_LEN_BYTE_ARRAY,
						 PARQUET_LOGICAL_UUID);

	c->source.type_length = 16;
	CHECK(convert(arena, c, false, values, 1, NULL)->values == values);
	c = make(arena, LAKE_UUID, PARQUET_FIXED_LEN_BYTE_ARRAY,
			 PARQUET_LOGICAL_NONE);
	c->source.type_length = 15;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "FIXED_LEN_BYTE_ARRAY(15)",
				 convert(arena, c, false, values, 1, NULL));
	c = make(arena, LAKE_FIXED, PARQUET_BYTE_ARRAY, PARQUET_LOGICAL_NONE);
	c->type.length = 16;
	CHECK(convert(arena, c, false, values, 1, NULL)->values == values);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "length",
				 convert(arena, c, false, values, 2, NULL));
}

static void
other_types_are_refused_by_name(LakeArena *arena)
{
	static const int64_t values[] = {0};

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "INT64 in the file and cannot be read as int",
				 convert(arena, make(arena, LAKE_INT, PARQUET_INT64,
									 PARQUET_LOGICAL_NONE),
						 false, values, 1, NULL));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "INT64 (TIMESTAMP)",
				 convert(arena, make(arena, LAKE_STRING, PARQUET_INT64,
									 PARQUET_LOGICAL_TIMESTAMP),
						 false, values, 1, NULL));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "DOUBLE",
				 convert(arena, make(arena, LAKE_FLOAT, PARQUET_DOUBLE,
									 PARQUET_LOGICAL_NONE),
						 false, values, 1, NULL));
}

static void
a_dictionary_is_converted_once(LakeArena *arena)
{
	static const int32_t values[] = {10, 20};
	static const uint32_t codes[] = {1, 0, 1};
	LakeDictionary dictionary = {77, VECTOR_I32, 2, values};
	LakeVector	vector = {.layout = VECTOR_I32, .count = 3,
	.dict = &dictionary, .codes = codes};
	Case	   *c = make(arena, LAKE_LONG, PARQUET_INT32,
						 PARQUET_LOGICAL_NONE);
	const LakeVector *result;
	uint64_t	id;

	c->converter = vector_converter_create(arena, &c->map, false);
	result = vector_converter_apply(c->converter, &vector, 3);
	id = result->dict->id;
	CHECK(id != 77);
	CHECK(result->codes == codes);
	CHECK_INT(number(result, 0), 20);
	CHECK_INT(number(result, 1), 10);
	result = vector_converter_apply(c->converter, &vector, 3);
	CHECK(result->dict->id == id);
	dictionary.id = 78;
	result = vector_converter_apply(c->converter, &vector, 3);
	CHECK(result->dict->id != id);
}

static void
a_misfit_in_a_dictionary_is_found(LakeArena *arena)
{
	static const int64_t values[] = {1, -1};
	static const uint32_t codes[] = {0, 0};
	LakeDictionary dictionary = {0, VECTOR_I64, 2, values};
	LakeVector	vector = {.layout = VECTOR_I64, .count = 2,
	.dict = &dictionary, .codes = codes};
	Case	   *c = make_unsigned(arena, LAKE_LONG, PARQUET_INT64, 64);

	c->converter = vector_converter_create(arena, &c->map, false);
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "\"c\"",
				 vector_converter_apply(c->converter, &vector, 2));
}

static void
a_constant_is_a_dictionary_of_one_entry(LakeArena *arena)
{
	LakeType	type = {.kind = LAKE_DECIMAL, .precision = 30, .scale = 1};
	LakeField	field = {.id = 1, .name = "d", .type = &type};
	LakeValue	value = {.decimal = (LakeInt128) 1 << 90};
	ColumnMap	map;
	const LakeVector *vector;

	column_map_constant(&map, &field, &value);
	vector = vector_converter_apply(vector_converter_create(arena, &map, false),
									NULL, 5000);
	CHECK_INT(vector->count, 5000);
	CHECK_INT(vector->dict->count, 1);
	CHECK(vector->nulls == NULL);
	CHECK(*(const LakeInt128 *) vector_value(vector, 4999) ==
		  (LakeInt128) 1 << 90);
	value.is_null = true;
	column_map_constant(&map, &field, &value);
	vector = vector_converter_apply(vector_converter_create(arena, &map, false),
									NULL, 5000);
	CHECK(vector_is_null(vector, 0) && vector_is_null(vector, 4999));
}

static void
bounds_that_do_not_fit_are_unknown(LakeArena *arena)
{
	static const int64_t values[] = {5, -1};
	LakeVector	vector = {.layout = VECTOR_I64, .count = 2, .values = values};
	Case	   *c = make_unsigned(arena, LAKE_LONG, PARQUET_INT64, 64);
	LakeValue	value;

	c->converter = vector_converter_create(arena, &c->map, false);
	CHECK(vector_converter_value(c->converter, &vector, 0, &value));
	CHECK_INT(value.i, 5);
	CHECK(!vector_converter_value(c->converter, &vector, 1, &value));
	c = make_unit(arena, LAKE_TIMESTAMP, PARQUET_INT64,
				  PARQUET_LOGICAL_TIMESTAMP, PARQUET_MILLIS);
	c->converter = vector_converter_create(arena, &c->map, false);
	CHECK(vector_converter_value(c->converter, &vector, 0, &value));
	CHECK_INT(value.i, 5000);
}

static const UnitTest tests[] = {
	UNIT(what_fits_already_is_handed_on),
	UNIT(ints_widen_to_long),
	UNIT(unsigned_ints_keep_their_value),
	UNIT(unsigned_longs_above_the_signed_range_are_refused),
	UNIT(floats_widen_to_double),
	UNIT(decimals_widen_at_the_same_scale),
	UNIT(times_become_microseconds),
	UNIT(timestamps_become_the_wanted_unit),
	UNIT(nanoseconds_are_refused_or_rounded_down),
	UNIT(dates_become_timestamps),
	UNIT(int96_counts_from_the_julian_epoch),
	UNIT(int96_below_a_microsecond_is_refused_or_floored),
	UNIT(byte_arrays_become_text_and_binary),
	UNIT(lengths_of_uuid_and_fixed_are_checked),
	UNIT(other_types_are_refused_by_name),
	UNIT(a_dictionary_is_converted_once),
	UNIT(a_misfit_in_a_dictionary_is_found),
	UNIT(a_constant_is_a_dictionary_of_one_entry),
	UNIT(bounds_that_do_not_fit_are_unknown),
};

UNIT_MAIN(tests)
