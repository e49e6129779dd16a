/*
 * Partition transforms against the vectors of the specification and of its
 * reference implementation.
 */
#include "unit.h"

#include "table/table.h"

static const LakeType int_type = {.kind = LAKE_INT};
static const LakeType long_type = {.kind = LAKE_LONG};
static const LakeType double_type = {.kind = LAKE_DOUBLE};
static const LakeType boolean = {.kind = LAKE_BOOLEAN};
static const LakeType decimal_type = {
	.kind = LAKE_DECIMAL, .precision = 9, .scale = 2
};
static const LakeType date_type = {.kind = LAKE_DATE};
static const LakeType time_type = {.kind = LAKE_TIME};
static const LakeType timestamp = {.kind = LAKE_TIMESTAMP};
static const LakeType timestamptz = {.kind = LAKE_TIMESTAMPTZ};
static const LakeType timestamp_ns = {.kind = LAKE_TIMESTAMP_NS};
static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType uuid_type = {.kind = LAKE_UUID};
static const LakeType fixed_type = {.kind = LAKE_FIXED, .length = 4};
static const LakeType binary_type = {.kind = LAKE_BINARY};

static LakeValue
integer(int64_t i)
{
	return (LakeValue) {.i = i};
}

static LakeValue
decimal(int64_t unscaled)
{
	return (LakeValue) {.decimal = unscaled};
}

static LakeValue
text(const char *data)
{
	LakeValue	value = {0};

	value.bytes.data = (const uint8_t *) data;
	value.bytes.len = strlen(data);
	return value;
}

static LakeValue
apply(LakeArena *arena, const char *name, const LakeType *type,
	  LakeValue value)
{
	LakeTransform transform = transform_parse(arena, name);
	LakeValue	result;

	transform_apply(&transform, type, &value, &result);
	CHECK(!result.is_null);
	return result;
}

static int64_t
bucket(LakeArena *arena, const LakeType *type, LakeValue value)
{
	return apply(arena, "bucket[16]", type, value).i;
}

static void
names_are_read_in_any_case(LakeArena *arena)
{
	CHECK_INT(transform_parse(arena, "IDENTITY").kind, TRANSFORM_IDENTITY);
	CHECK_INT(transform_parse(arena, "Bucket[16]").kind, TRANSFORM_BUCKET);
	CHECK_INT(transform_parse(arena, "bucket[16]").parameter, 16);
	CHECK_INT(transform_parse(arena, "truncate[2147483647]").parameter,
			  INT32_MAX);
	CHECK_INT(transform_parse(arena, "year").kind, TRANSFORM_YEAR);
	CHECK_INT(transform_parse(arena, "month").kind, TRANSFORM_MONTH);
	CHECK_INT(transform_parse(arena, "day").kind, TRANSFORM_DAY);
	CHECK_INT(transform_parse(arena, "hour").kind, TRANSFORM_HOUR);
	CHECK_INT(transform_parse(arena, "void").kind, TRANSFORM_VOID);
	CHECK_STRING(transform_parse(arena, "zorder[a]").text, "zorder[a]");
}

static void
other_names_are_unknown(LakeArena *arena)
{
	static const char *const other[] = {
		"", "days", "bucket", "bucket[]", "bucket[0]", "bucket[-1]",
		"bucket[2147483648]", "bucket[1", "bucket[1]x", "bucket[a]",
		"identity[1]", "zorder", "truncate[99999999999999999999]"
	};

	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
		CHECK_INT(transform_parse(arena, other[i]).kind, TRANSFORM_UNKNOWN);
}

static void
bucket_gives_the_vectors_of_the_specification(LakeArena *arena)
{
	CHECK_INT(bucket(arena, &int_type, integer(34)), 3);
	CHECK_INT(bucket(arena, &long_type, integer(34)), 3);
	CHECK_INT(bucket(arena, &long_type, integer(0)), 12);
	CHECK_INT(bucket(arena, &int_type, integer(-1)), 8);
	CHECK_INT(bucket(arena, &long_type, integer(INT64_MIN)), 5);
	CHECK_INT(bucket(arena, &date_type, integer(17486)), 10);
	CHECK_INT(bucket(arena, &time_type, integer(81068000000)), 3);
	CHECK_INT(bucket(arena, &timestamp, integer(1510871468000000)), 7);
	CHECK_INT(bucket(arena, &timestamptz, integer(1510871468000001)), 6);
	CHECK_INT(bucket(arena, &timestamp_ns, integer(1510871468000001001)), 6);
	CHECK_INT(bucket(arena, &decimal_type, decimal(1420)), 3);
	CHECK_INT(bucket(arena, &decimal_type, decimal(-128)), 13);
	CHECK_INT(bucket(arena, &string_type, text("iceberg")), 9);
	CHECK_INT(bucket(arena, &string_type, text("")), 0);
	CHECK_INT(apply(arena, "bucket[10]", &string_type, text("iceberg")).i, 9);
	CHECK_INT(apply(arena, "bucket[10]", &date_type, integer(17486)).i, 6);
}

static void
truncate_rounds_down(LakeArena *arena)
{
	static const int64_t pairs[][2] = {
		{1, 0}, {-1, -10}, {10, 10}, {-10, -10}, {-11, -20}, {-4, -10}
	};

	for (int i = 0; i < 6; i++)
	{
		CHECK_INT(apply(arena, "truncate[10]", &int_type,
						integer(pairs[i][0])).i, pairs[i][1]);
		CHECK_INT(apply(arena, "truncate[10]", &long_type,
						integer(pairs[i][0])).i, pairs[i][1]);
		CHECK_INT(apply(arena, "truncate[10]", &decimal_type,
						decimal(pairs[i][0])).decimal, pairs[i][1]);
	}
	CHECK_INT(apply(arena, "truncate[50]", &decimal_type,
					decimal(1065)).decimal, 1050);
	/* next to the minimum it wraps, as Java's does */
	CHECK_INT(apply(arena, "truncate[10]", &int_type, integer(INT32_MIN)).i,
			  INT32_MAX - 1);
	CHECK_INT(apply(arena, "truncate[10]", &long_type, integer(INT64_MIN)).i,
			  INT64_MAX - 1);
}

static void
truncate_cuts_text_by_code_points_and_binary_by_bytes(LakeArena *arena)
{
	LakeValue	japanese = text("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x83"
								"\x86");

	CHECK_INT(apply(arena, "truncate[3]", &string_type,
					text("iceberg")).bytes.len, 3);
	CHECK_INT(apply(arena, "truncate[3]", &string_type,
					japanese).bytes.len, 9);
	CHECK_INT(apply(arena, "truncate[30]", &string_type,
					text("iceberg")).bytes.len, 7);
	CHECK_INT(apply(arena, "truncate[2]", &binary_type,
					text("\1\2\3")).bytes.len, 2);
	CHECK_INT(apply(arena, "truncate[3]", &binary_type,
					japanese).bytes.len, 3);
}

static void
times_round_down_in_utc(LakeArena *arena)
{
	static const struct
	{
		int64_t		micros;
		int64_t		expected[4];
	}			vectors[] = {
		{1510871468000000, {47, 574, 17486, 419686}},
		{1512123175038194, {47, 575, 17501, 420034}},
		{0, {0, 0, 0, 0}}, {-1, {-1, -1, -1, -1}},
		{-86400000000, {-1, -1, -1, -24}},
		{-31536000000000, {-1, -12, -365, -8760}},
	};
	static const char *const names[] = {"year", "month", "day", "hour"};

	for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
	{
		for (int j = 0; j < 4; j++)
		{
			LakeValue	micros = integer(vectors[i].micros);
			LakeValue	nanos = integer(vectors[i].micros * 1000);

			CHECK_INT(apply(arena, names[j], &timestamp, micros).i,
					  vectors[i].expected[j]);
			CHECK_INT(apply(arena, names[j], &timestamptz, micros).i,
					  vectors[i].expected[j]);
			CHECK_INT(apply(arena, names[j], &timestamp_ns, nanos).i,
					  vectors[i].expected[j]);
			if (j < 3)
				CHECK_INT(apply(arena, names[j], &date_type,
								integer(vectors[i].expected[2])).i,
						  vectors[i].expected[j]);
		}
	}
}

static void
null_stays_null_and_void_is_always(LakeArena *arena)
{
	static const char *const names[] = {
		"identity", "bucket[16]", "truncate[2]"
	};
	LakeTransform transform = transform_parse(arena, "void");
	LakeValue	null = {.is_null = true};
	LakeValue	value = integer(5);
	LakeValue	result;

	transform_apply(&transform, &int_type, &value, &result);
	CHECK(result.is_null);
	for (int i = 0; i < 3; i++)
	{
		transform = transform_parse(arena, names[i]);
		transform_apply(&transform, &int_type, &null, &result);
		CHECK(result.is_null);
	}
}

static int
result_kind(LakeArena *arena, const char *name, const LakeType *source)
{
	LakeTransform transform = transform_parse(arena, name);
	const LakeType *type = transform_result_type(arena, &transform, source);

	return type == NULL ? -1 : (int) type->kind;
}

static void
result_types_follow_the_specification(LakeArena *arena)
{
	CHECK_INT(result_kind(arena, "identity", &uuid_type), LAKE_UUID);
	CHECK_INT(result_kind(arena, "bucket[4]", &uuid_type), LAKE_INT);
	CHECK_INT(result_kind(arena, "bucket[4]", &fixed_type), LAKE_INT);
	CHECK_INT(result_kind(arena, "bucket[4]", &double_type), -1);
	CHECK_INT(result_kind(arena, "bucket[4]", &boolean), -1);
	CHECK_INT(result_kind(arena, "truncate[4]", &decimal_type), LAKE_DECIMAL);
	CHECK_INT(result_kind(arena, "truncate[4]", &fixed_type), -1);
	CHECK_INT(result_kind(arena, "truncate[4]", &date_type), -1);
	CHECK_INT(result_kind(arena, "year", &date_type), LAKE_INT);
	CHECK_INT(result_kind(arena, "day", &timestamp), LAKE_DATE);
	CHECK_INT(result_kind(arena, "hour", &timestamp), LAKE_INT);
	CHECK_INT(result_kind(arena, "hour", &date_type), -1);
	CHECK_INT(result_kind(arena, "year", &long_type), -1);
	CHECK_INT(result_kind(arena, "void", &long_type), LAKE_LONG);
	CHECK_INT(result_kind(arena, "zorder", &long_type), -1);
}

static void
a_spec_of_void_fields_is_unpartitioned(LakeArena *arena)
{
	PartitionField fields[2] = {
		{.transform = transform_parse(arena, "void")},
		{.transform = transform_parse(arena, "day")},
	};
	LakePartitionSpec spec = {.fields = fields};

	CHECK(partition_spec_is_unpartitioned(&spec));
	spec.field_count = 1;
	CHECK(partition_spec_is_unpartitioned(&spec));
	spec.field_count = 2;
	CHECK(!partition_spec_is_unpartitioned(&spec));
}

static const UnitTest tests[] = {
	UNIT(names_are_read_in_any_case),
	UNIT(other_names_are_unknown),
	UNIT(bucket_gives_the_vectors_of_the_specification),
	UNIT(truncate_rounds_down),
	UNIT(truncate_cuts_text_by_code_points_and_binary_by_bytes),
	UNIT(times_round_down_in_utc),
	UNIT(null_stays_null_and_void_is_always),
	UNIT(result_types_follow_the_specification),
	UNIT(a_spec_of_void_fields_is_unpartitioned),
};

UNIT_MAIN(tests)
