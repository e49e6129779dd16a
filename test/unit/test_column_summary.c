/*
 * Summaries of a column: NULLs, distinct values and quantiles out of the bounds
 * of files.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "table/column_summary.h"

static const LakeType int_type = {.kind = LAKE_INT};
static const LakeType long_type = {.kind = LAKE_LONG};
static const LakeType double_type = {.kind = LAKE_DOUBLE};
static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType wide_decimal = {.kind = LAKE_DECIMAL, .precision = 38};
static const LakeType small_decimal = {.kind = LAKE_DECIMAL, .precision = 4,
.scale = 2};

static LakeBounds
counted(int64_t values, int64_t nulls)
{
	LakeBounds	bounds = {.value_count = values, .null_count = nulls};

	return bounds;
}

static void
add_ints(ColumnSummary *summary, int64_t rows, int64_t lower, int64_t upper)
{
	LakeBounds	bounds = counted(rows, 0);

	bounds.has_lower = bounds.has_upper = true;
	bounds.lower.i = lower;
	bounds.upper.i = upper;
	column_summary_add(summary, rows, &bounds);
}

static int32_t
int_at(const ColumnEstimate *estimate, int i)
{
	return ((const int32_t *) estimate->quantiles.values)[i];
}

static bool
is_near(double actual, double expected)
{
	return fabs(actual - expected) <= 1e-6 + fabs(expected) / 50;
}

static void
one_file_is_spread_evenly(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;

	add_ints(summary, 1000, 0, 1000);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(estimate.quantiles.count, COLUMN_SUMMARY_QUANTILES);
	CHECK_INT(estimate.quantiles.layout, VECTOR_I32);
	for (int i = 0; i < COLUMN_SUMMARY_QUANTILES; i++)
		CHECK(abs(int_at(&estimate, i) - i * 10) <= 1);
	CHECK_INT(int_at(&estimate, 0), 0);
	CHECK_INT(int_at(&estimate, 100), 1000);
	CHECK(estimate.null_fraction == 0);
}

static void
files_weigh_as_much_as_they_have_rows(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;

	add_ints(summary, 900, 1000, 2000);
	add_ints(summary, 100, 0, 1000);
	column_summary_finish(summary, arena, &estimate);
	CHECK(abs(int_at(&estimate, 5) - 500) <= 1);
	CHECK(abs(int_at(&estimate, 10) - 1000) <= 1);
	CHECK(abs(int_at(&estimate, 55) - 1500) <= 1);
	CHECK_INT(int_at(&estimate, 100), 2000);
}

static void
overlapping_files_add_up(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;

	/* a third of the rows below 100, two thirds from there to 200 */
	add_ints(summary, 200, 0, 200);
	add_ints(summary, 100, 100, 200);
	column_summary_finish(summary, arena, &estimate);
	CHECK(abs(int_at(&estimate, 33) - 99) <= 1);
	CHECK(abs(int_at(&estimate, 67) - 150) <= 1);
}

static void
files_of_one_value_make_equal_quantiles(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;

	add_ints(summary, 60, 7, 7);
	add_ints(summary, 40, 3, 3);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(int_at(&estimate, 39), 3);
	CHECK_INT(int_at(&estimate, 41), 7);
	CHECK(is_near(estimate.distinct, 2));
}

static void
quantiles_never_descend(LakeArena *arena)
{
	uint32_t	state = 1;

	for (int test = 0; test < 500; test++)
	{
		LakeArena  *scope = lake_arena_create(arena, "case");
		ColumnSummary *summary = column_summary_create(scope, &int_type);
		ColumnEstimate estimate;

		for (int file = 0; file < 1 + test % 20; file++)
		{
			int64_t		lower;

			state = state * 1664525 + 1013904223;
			lower = (int32_t) state >> (test % 30);
			state = state * 1664525 + 1013904223;
			add_ints(summary, 1 + state % 1000, lower,
					 lower + (int64_t) (state >> 8) % 100000 > INT32_MAX ?
					 INT32_MAX : lower + (int64_t) (state >> 8) % 100000);
		}
		column_summary_finish(summary, arena, &estimate);
		for (uint32_t i = 1; i < estimate.quantiles.count; i++)
			CHECK(int_at(&estimate, (int) i - 1) <= int_at(&estimate, (int) i));
		lake_arena_destroy(scope);
	}
}

static void
extremes_of_long_are_kept(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &long_type);
	ColumnEstimate estimate;
	const int64_t *values;

	add_ints(summary, 10, INT64_MIN, INT64_MAX);
	column_summary_finish(summary, arena, &estimate);
	values = estimate.quantiles.values;
	CHECK(values[0] == INT64_MIN);
	CHECK(values[100] == INT64_MAX);
	CHECK(llabs(values[50]) < INT64_MAX / 50);
}

static void
infinite_bounds_are_kept(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &double_type);
	ColumnEstimate estimate;
	LakeBounds	bounds = counted(10, 0);
	const double *values;

	bounds.has_lower = bounds.has_upper = true;
	bounds.lower.d = -INFINITY;
	bounds.upper.d = INFINITY;
	column_summary_add(summary, 10, &bounds);
	column_summary_finish(summary, arena, &estimate);
	values = estimate.quantiles.values;
	CHECK(values[0] == -INFINITY);
	CHECK(values[100] == INFINITY);
	for (int i = 1; i < 100; i++)
		CHECK(values[i - 1] <= values[i]);
	CHECK(estimate.distinct == 0);
}

static void
wide_decimals_are_summarised(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &wide_decimal);
	ColumnEstimate estimate;
	LakeBounds	bounds = counted(10, 0);
	LakeInt128	limit = 1;

	for (int i = 0; i < 37; i++)
		limit *= 10;
	bounds.has_lower = bounds.has_upper = true;
	bounds.lower.decimal = -limit;
	bounds.upper.decimal = limit;
	column_summary_add(summary, 10, &bounds);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(estimate.quantiles.layout, VECTOR_I128);
	CHECK(((const LakeInt128 *) estimate.quantiles.values)[100] == limit);
}

static void
decimals_of_too_many_digits_are_unknown(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &small_decimal);
	ColumnEstimate estimate;
	LakeBounds	bounds = counted(10, 0);

	bounds.has_lower = bounds.has_upper = true;
	bounds.lower.decimal = 0;
	bounds.upper.decimal = 10000;
	column_summary_add(summary, 10, &bounds);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(estimate.quantiles.count, 0);
}

static void
text_has_its_ends(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &string_type);
	ColumnEstimate estimate;
	char		text[] = "mz";
	LakeBounds	bounds = counted(10, 0);
	const LakeBytes *values;

	bounds.has_lower = bounds.has_upper = true;
	bounds.lower.bytes = (LakeBytes) {(const uint8_t *) text, 1};
	bounds.upper.bytes = (LakeBytes) {(const uint8_t *) text + 1, 1};
	column_summary_add(summary, 10, &bounds);
	/* bounds are borrowed until the next file */
	text[0] = 'a';
	text[1] = 'b';
	column_summary_add(summary, 10, &bounds);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(estimate.quantiles.count, 2);
	values = estimate.quantiles.values;
	CHECK(values[0].len == 1 && values[0].data[0] == 'a');
	CHECK(values[1].len == 1 && values[1].data[0] == 'z');
}

static void
a_constant_has_one_quantile(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;

	add_ints(summary, 60, 7, 7);
	add_ints(summary, 40, 7, 7);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(estimate.quantiles.count, 1);
	CHECK_INT(int_at(&estimate, 0), 7);
	CHECK(estimate.distinct == 1);
}

static void
nulls_are_a_fraction_of_the_values(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;
	LakeBounds	nulls = counted(100, 100);

	add_ints(summary, 300, 0, 9);
	column_summary_add(summary, 100, &nulls);
	column_summary_finish(summary, arena, &estimate);
	CHECK(estimate.null_fraction == 0.25);
	/* a file of NULLs has no bounds to miss */
	CHECK_INT(estimate.quantiles.count, COLUMN_SUMMARY_QUANTILES);
	CHECK(is_near(estimate.distinct, 10));
}

static void
what_most_files_do_not_say_is_unknown(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;
	LakeBounds	unknown = counted(-1, -1);

	add_ints(summary, 100, 0, 9);
	column_summary_add(summary, 101, NULL);
	column_summary_finish(summary, arena, &estimate);
	CHECK(estimate.null_fraction == -1);
	CHECK_INT(estimate.quantiles.count, 0);
	CHECK(estimate.distinct == 0);

	summary = column_summary_create(arena, &int_type);
	add_ints(summary, 100, 0, 9);
	column_summary_add(summary, 99, &unknown);
	column_summary_finish(summary, arena, &estimate);
	CHECK_INT(estimate.quantiles.count, COLUMN_SUMMARY_QUANTILES);
}

static void
no_file_is_nothing_known(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;

	column_summary_finish(summary, arena, &estimate);
	CHECK(estimate.null_fraction == -1);
	CHECK(estimate.distinct == 0);
	CHECK_INT(estimate.quantiles.count, 0);
}

static void
distinct_values_are_limited_by_ranges_and_rows(LakeArena *arena)
{
	ColumnSummary *summary = column_summary_create(arena, &int_type);
	ColumnEstimate estimate;
	LakeBounds	bounds = counted(100000, 0);

	/* dense ids, and a column of few values beside them */
	add_ints(summary, 1000, 0, 999);
	add_ints(summary, 1000, 1000, 1999);
	column_summary_finish(summary, arena, &estimate);
	CHECK(is_near(estimate.distinct, 2000));

	summary = column_summary_create(arena, &int_type);
	add_ints(summary, 1000, 1, 7);
	add_ints(summary, 1000, 3, 9);
	column_summary_finish(summary, arena, &estimate);
	CHECK(is_near(estimate.distinct, 9));

	/* room for far more values than rows */
	summary = column_summary_create(arena, &int_type);
	add_ints(summary, 1000, 1, 1000000);
	column_summary_finish(summary, arena, &estimate);
	CHECK(is_near(estimate.distinct, 100));

	/* of fractions only few can be told */
	summary = column_summary_create(arena, &small_decimal);
	bounds.has_lower = bounds.has_upper = true;
	bounds.upper.decimal = 9999;
	column_summary_add(summary, 100000, &bounds);
	column_summary_finish(summary, arena, &estimate);
	CHECK(estimate.distinct == 0);
	summary = column_summary_create(arena, &small_decimal);
	bounds.upper.decimal = 99;
	column_summary_add(summary, 100000, &bounds);
	column_summary_finish(summary, arena, &estimate);
	CHECK(is_near(estimate.distinct, 100));
}

static const UnitTest tests[] = {
	UNIT(one_file_is_spread_evenly),
	UNIT(files_weigh_as_much_as_they_have_rows),
	UNIT(overlapping_files_add_up),
	UNIT(files_of_one_value_make_equal_quantiles),
	UNIT(quantiles_never_descend),
	UNIT(extremes_of_long_are_kept),
	UNIT(infinite_bounds_are_kept),
	UNIT(wide_decimals_are_summarised),
	UNIT(decimals_of_too_many_digits_are_unknown),
	UNIT(text_has_its_ends),
	UNIT(a_constant_has_one_quantile),
	UNIT(nulls_are_a_fraction_of_the_values),
	UNIT(what_most_files_do_not_say_is_unknown),
	UNIT(no_file_is_nothing_known),
	UNIT(distinct_values_are_limited_by_ranges_and_rows),
};

UNIT_MAIN(tests)
