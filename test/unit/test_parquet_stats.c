/*
 * Statistics of row groups: which bounds are believed, and what becomes of
 * them.
 */
#include <math.h>

#include "parquet_build.h"
#include "unit.h"

#define CONVERTED(number) ((number) + 1)

/* a column, and the row group of 10 rows that the tests are about */
typedef struct Case
{
	BuildElement column;
	BuildChunk	chunk;
	bool		unordered;		/* no column orders */
	const char *created_by;
} Case;

static ParquetStatistics
statistics_of(LakeArena *arena, Case test)
{
	static const int64_t rows = 10;
	BuildElement elements[2] = {GROUP("root", 0, 1)};
	BuildFile	file = {.elements = elements, .element_count = 2};
	ParquetStatistics statistics;
	ParquetFile *parquet;
	LakeBuffer	out;

	elements[1] = test.column;
	elements[1].name = "c";
	test.chunk.physical = test.column.physical;
	test.chunk.values = rows;
	file.chunks = &test.chunk;
	file.leaf_count = 1;
	file.group_rows = &rows;
	file.group_count = 1;
	file.rows = rows;
	file.ordered = !test.unordered;
	file.created_by = test.created_by;
	build_begin(&out, arena);
	parquet = parquet_file_open(arena, build_finish(&out, &file));
	parquet_statistics_get(parquet, arena, 0, parquet->fields[0],
						   &statistics);
	CHECK_INT(statistics.value_count, rows);
	CHECK_INT(statistics.bounds.count, 2);
	CHECK_INT(vector_is_null(&statistics.bounds, 0), !statistics.has_min);
	CHECK_INT(vector_is_null(&statistics.bounds, 1), !statistics.has_max);
	return statistics;
}

#define BYTES_OF(variable) \
	encoding_bytes((const uint8_t *) &(variable), sizeof(variable))
#define TEXT(literal) \
	encoding_bytes((const uint8_t *) (literal), sizeof(literal) - 1)

static int64_t
bound_i64(const ParquetStatistics *statistics, int which)
{
	return ((const int64_t *) statistics->bounds.values)[which];
}

static LakeBytes
bound_bytes(const ParquetStatistics *statistics, int which)
{
	return ((const LakeBytes *) statistics->bounds.values)[which];
}

static void
new_bounds_count_where_their_order_is_declared(LakeArena *arena)
{
	int64_t		low = -5;
	int64_t		high = 7;
	Case		test = {.column.physical = PARQUET_INT64};
	ParquetStatistics statistics;

	test.chunk.min = BYTES_OF(low);
	test.chunk.max = BYTES_OF(high);
	statistics = statistics_of(arena, test);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK_INT(bound_i64(&statistics, 0), -5);
	CHECK_INT(bound_i64(&statistics, 1), 7);
	test.unordered = true;
	statistics = statistics_of(arena, test);
	CHECK(!statistics.has_min && !statistics.has_max);
}

static void
old_bounds_count_for_signed_numbers(LakeArena *arena)
{
	int64_t		low = -5;
	int64_t		high = 7;
	Case		test = {.column.physical = PARQUET_INT64, .unordered = true};

	test.chunk.old_min = BYTES_OF(low);
	test.chunk.old_max = BYTES_OF(high);
	CHECK(statistics_of(arena, test).has_min);
	CHECK_INT(statistics_of(arena, test).null_count, 0);
	/* UINT_64 */
	test.column.converted = CONVERTED(14);
	CHECK(!statistics_of(arena, test).has_min);
}

static void
old_bounds_of_text_are_ignored(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_BYTE_ARRAY};

	test.chunk.old_min = TEXT("a");
	test.chunk.old_max = TEXT("z");
	CHECK(!statistics_of(arena, test).has_max);
	test.column.physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
	test.column.length = 1;
	CHECK(!statistics_of(arena, test).has_max);
}

static void
text_is_ordered_by_unsigned_bytes(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_BYTE_ARRAY};
	ParquetStatistics statistics;

	test.chunk.min = TEXT("az");
	test.chunk.max = TEXT("a\xc3\xa9");
	statistics = statistics_of(arena, test);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK_INT(bound_bytes(&statistics, 1).len, 3);
	test.chunk.min = TEXT("a\xc3\xa9");
	test.chunk.max = TEXT("az");
	CHECK(!statistics_of(arena, test).has_min);
}

static void
two_empty_texts_are_no_bounds(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_BYTE_ARRAY};

	test.chunk.min = TEXT("");
	test.chunk.max = TEXT("");
	CHECK(!statistics_of(arena, test).has_max);
	test.chunk.max = TEXT("a");
	CHECK(statistics_of(arena, test).has_min);
	CHECK(statistics_of(arena, test).has_max);
}

static void
unsigned_numbers_are_compared_unsigned(LakeArena *arena)
{
	uint32_t	low = 7;
	uint32_t	high = 4000000000u;
	uint64_t	low64 = 7;
	uint64_t	high64 = (UINT64_C(1) << 63) + 1;
	Case		test = {.column.physical = PARQUET_INT32};
	ParquetStatistics statistics;

	test.column.converted = CONVERTED(13);	/* UINT_32 */
	test.chunk.min = BYTES_OF(low);
	test.chunk.max = BYTES_OF(high);
	statistics = statistics_of(arena, test);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK_INT(((const uint32_t *) statistics.bounds.values)[1], high);
	/* a writer that compared signed */
	test.chunk.min = BYTES_OF(high);
	test.chunk.max = BYTES_OF(low);
	CHECK(!statistics_of(arena, test).has_min);
	/* UINT_64 */
	test.column.physical = PARQUET_INT64;
	test.column.converted = CONVERTED(14);
	test.chunk.min = BYTES_OF(low64);
	test.chunk.max = BYTES_OF(high64);
	CHECK(statistics_of(arena, test).has_max);
	test.chunk.min = BYTES_OF(high64);
	test.chunk.max = BYTES_OF(low64);
	CHECK(!statistics_of(arena, test).has_min);
}

static void
decimals_over_bytes_are_signed(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_FIXED_LEN_BYTE_ARRAY};
	ParquetStatistics statistics;

	test.column.length = 2;
	test.column.converted = CONVERTED(5);
	test.column.precision = 4;
	test.chunk.min = TEXT("\xff\xfb");
	test.chunk.max = TEXT("\x00\x0c");
	statistics = statistics_of(arena, test);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK_INT(bound_i64(&statistics, 0), -5);
	CHECK_INT(bound_i64(&statistics, 1), 12);
	/* -5, 0 and 12 ordered as unsigned bytes */
	test.chunk.min = TEXT("\x00\x00");
	test.chunk.max = TEXT("\xff\xfb");
	CHECK(!statistics_of(arena, test).has_max);
}

static void
wide_decimal_bounds_that_do_not_fit_are_ignored(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_BYTE_ARRAY};

	test.column.converted = CONVERTED(5);
	test.column.precision = 18;
	test.chunk.min = TEXT("\x01\x00\x00\x00\x00\x00\x00\x00\x00");
	test.chunk.max = TEXT("\x7f\x00\x00\x00\x00\x00\x00\x00\x00");
	CHECK(!statistics_of(arena, test).has_min);
	test.column.precision = 38;
	CHECK(statistics_of(arena, test).has_min);
	/* -1 is below 2^64, whatever unsigned bytes say */
	test.chunk.min = TEXT("\x01\x00\x00\x00\x00\x00\x00\x00\x00");
	test.chunk.max = TEXT("\xff");
	CHECK(!statistics_of(arena, test).has_max);
	test.chunk.min = TEXT("\xff");
	test.chunk.max = TEXT("\x01\x00\x00\x00\x00\x00\x00\x00\x00");
	CHECK(statistics_of(arena, test).has_max);
	test.chunk.max = TEXT("\x7f\x00\x00\x00\x00\x00\x00\x00\x00"
						  "\x00\x00\x00\x00\x00\x00\x00\x00");
	CHECK(!statistics_of(arena, test).has_max);
	test.chunk.max = TEXT("");
	CHECK(!statistics_of(arena, test).has_max);
}

static void
types_without_order_have_no_bounds(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_INT96};

	test.chunk.min = test.chunk.old_min = TEXT("aaaaaaaaaaaa");
	test.chunk.max = test.chunk.old_max = TEXT("bbbbbbbbbbbb");
	CHECK(!statistics_of(arena, test).has_min);
	test.column.physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
	test.column.length = 12;
	CHECK(statistics_of(arena, test).has_min);
	test.column.converted = CONVERTED(21);	/* INTERVAL */
	CHECK(!statistics_of(arena, test).has_min);
}

static void
nan_is_no_bound(LakeArena *arena)
{
	double		nan_value = NAN;
	double		high = 2.5;
	Case		test = {.column.physical = PARQUET_DOUBLE};
	ParquetStatistics statistics;

	test.chunk.min = BYTES_OF(nan_value);
	test.chunk.max = BYTES_OF(high);
	statistics = statistics_of(arena, test);
	CHECK(!statistics.has_min);
	CHECK(statistics.has_max);
}

static void
zero_bounds_cover_both_zeros(LakeArena *arena)
{
	float		plus = 0.0f;
	float		minus = -0.0f;
	Case		test = {.column.physical = PARQUET_FLOAT};
	ParquetStatistics statistics;

	test.chunk.min = BYTES_OF(plus);
	test.chunk.max = BYTES_OF(minus);
	statistics = statistics_of(arena, test);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK(signbit(((const float *) statistics.bounds.values)[0]));
	CHECK(!signbit(((const float *) statistics.bounds.values)[1]));
}

static void
half_floats_are_converted(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_FIXED_LEN_BYTE_ARRAY};
	ParquetStatistics statistics;

	test.column.length = 2;
	test.column.logical = 15;
	test.chunk.min = TEXT("\x00\xc0");	/* -2 */
	test.chunk.max = TEXT("\x01\x00");	/* the least subnormal */
	statistics = statistics_of(arena, test);
	CHECK(statistics.has_min && statistics.has_max);
	CHECK(((const float *) statistics.bounds.values)[0] == -2.0f);
	CHECK(((const float *) statistics.bounds.values)[1] == 1.0f / (1 << 24));
}

static void
bounds_of_wrong_length_are_ignored(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_INT32};

	test.chunk.min = TEXT("abc");
	test.chunk.max = TEXT("abcde");
	CHECK(!statistics_of(arena, test).has_min);
	CHECK(!statistics_of(arena, test).has_max);
	test.column.physical = PARQUET_BOOLEAN;
	test.chunk.min = TEXT("\x00");
	test.chunk.max = TEXT("\x02");
	CHECK(statistics_of(arena, test).has_min);
	CHECK(!statistics_of(arena, test).has_max);
}

static void
null_count_is_believed_within_the_row_count(LakeArena *arena)
{
	Case		test = {.column.physical = PARQUET_INT32};

	test.column.repetition = 1;
	CHECK_INT(statistics_of(arena, test).null_count, -1);
	test.chunk.null_count = 1 + 3;
	CHECK_INT(statistics_of(arena, test).null_count, 3);
	test.chunk.null_count = 1 + 11;
	CHECK_INT(statistics_of(arena, test).null_count, -1);
	test.chunk.null_count = 1 - 4;
	CHECK_INT(statistics_of(arena, test).null_count, -1);
	/* a required column has no NULLs, whatever is said */
	test.column.repetition = 0;
	CHECK_INT(statistics_of(arena, test).null_count, 0);
}

static const UnitTest tests[] = {
	UNIT(new_bounds_count_where_their_order_is_declared),
	UNIT(old_bounds_count_for_signed_numbers),
	UNIT(old_bounds_of_text_are_ignored),
	UNIT(text_is_ordered_by_unsigned_bytes),
	UNIT(two_empty_texts_are_no_bounds),
	UNIT(unsigned_numbers_are_compared_unsigned),
	UNIT(decimals_over_bytes_are_signed),
	UNIT(wide_decimal_bounds_that_do_not_fit_are_ignored),
	UNIT(types_without_order_have_no_bounds),
	UNIT(nan_is_no_bound),
	UNIT(zero_bounds_cover_both_zeros),
	UNIT(half_floats_are_converted),
	UNIT(bounds_of_wrong_length_are_ignored),
	UNIT(null_count_is_believed_within_the_row_count)
};

UNIT_MAIN(tests)
