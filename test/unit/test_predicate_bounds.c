/*
 * Pruning never loses a matching row: bounds that were forgotten in part or
 * widened, and partition tuples under every transform.
 */
#include "unit.h"

#include "predicate_cases.h"

#define CASES	300000

static bool
lookup(void *arg, int32_t field_id, const LakeType *type, LakeBounds *bounds)
{
	(void) type;
	*bounds = ((const LakeBounds *) arg)[field_id - 1];
	return true;
}

static bool
matches_some_row(const Case *test, const Predicate *raw)
{
	for (int row = 0; row < test->row_count; row++)
	{
		if (case_truth(raw, 1, test->rows[row]) == 1)
			return true;
	}
	return false;
}

static void
bounds_never_exclude_a_matching_row(LakeArena *arena)
{
	Choices		choices = {.state = 7};
	int			pruned = 0;

	for (int i = 0; i < CASES && !unit_failed; i++)
	{
		LakeArena  *scope = lake_arena_create(arena, "case");
		Case		test;
		LakeBounds	bounds[CASE_COLUMNS];
		Predicate  *raw;
		Predicate  *normal;

		case_init(&test, scope, &choices);
		raw = case_predicate(&test, 2);
		normal = predicate_normalize(scope, raw);
		for (int column = 0; column < CASE_COLUMNS; column++)
		{
			bounds[column] = case_bounds(&test.types[column]->type,
										 &test.rows[0][column],
										 test.row_count, CASE_COLUMNS);
			if (i % 2 == 0)
				case_weaken(&test, column, &bounds[column]);
		}
		if (!predicate_may_match(normal, lookup, bounds))
		{
			pruned++;
			CHECK(!matches_some_row(&test, raw));
		}
		if (unit_failed)
			fprintf(stderr, "case %d: %s\n", i,
					predicate_text(scope, normal, NULL));
		lake_arena_destroy(scope);
	}
	CHECK(pruned > CASES / 10);
}

static const char *const transform_names[] = {
	"identity", "bucket[2]", "bucket[16]", "truncate[1]", "truncate[2]",
	"truncate[3]", "truncate[10]", "year", "month", "day", "hour", "void",
	"other"
};

static void
projections_never_exclude_a_matching_tuple(LakeArena *arena)
{
	Choices		choices = {.state = 11};
	int			pruned = 0;

	for (int i = 0; i < CASES && !unit_failed; i++)
	{
		LakeArena  *scope = lake_arena_create(arena, "case");
		Case		test;
		PartitionField fields[CASE_COLUMNS] = {{0}, {0}};
		LakePartitionSpec spec = {.field_count = 2, .fields = fields};
		Predicate  *raw;
		Predicate  *projected;

		case_init(&test, scope, &choices);
		raw = case_predicate(&test, 2);
		for (int column = 0; column < CASE_COLUMNS; column++)
		{
			fields[column].source_id = column + 1;
			fields[column].field_id = column + 1;
			fields[column].transform =
				transform_parse(scope,
								transform_names[choose(&choices, 13)]);
			fields[column].source_type = &test.types[column]->type;
			fields[column].result_type =
				transform_result_type(scope, &fields[column].transform,
									  fields[column].source_type);
		}
		projected = predicate_project(scope, predicate_normalize(scope, raw),
									  &spec);
		for (int row = 0; row < test.row_count; row++)
		{
			LakeValue	tuple[CASE_COLUMNS];
			LakeBounds	bounds[CASE_COLUMNS];

			memset(tuple, 0, sizeof tuple);
			memset(bounds, 0, sizeof bounds);
			for (int column = 0; column < CASE_COLUMNS; column++)
			{
				if (fields[column].result_type == NULL)
					continue;
				transform_apply(&fields[column].transform,
								fields[column].source_type,
								&test.rows[row][column], &tuple[column]);
				bounds[column] = case_bounds(fields[column].result_type,
											 &tuple[column], 1, 1);
			}
			if (case_truth(projected, 1, tuple) != 1)
			{
				pruned++;
				CHECK(case_truth(raw, 1, test.rows[row]) != 1);
			}
			if (!predicate_may_match(projected, lookup, bounds))
				CHECK(case_truth(raw, 1, test.rows[row]) != 1);
		}
		if (unit_failed)
			fprintf(stderr, "case %d: %s with %s, %s gives %s\n", i,
					predicate_text(scope, predicate_normalize(scope, raw),
								   NULL),
					fields[0].transform.text, fields[1].transform.text,
					predicate_text(scope, projected, NULL));
		lake_arena_destroy(scope);
	}
	CHECK(pruned > CASES / 10);
}

/* one leaf on one column with the bounds of one file */
static bool
may_match(LakeArena *arena, const LakeType *type, PredicateOp op,
		  LakeValue literal, LakeBounds bounds)
{
	LakeField	field = {.id = 1, .type = (LakeType *) type};
	Predicate  *leaf = predicate_leaf(arena, op, &field, &literal,
									  op > PREDICATE_NOT_NULL);

	return predicate_may_match(predicate_normalize(arena, leaf), lookup,
							   &bounds);
}

static const LakeType double_type = {.kind = LAKE_DOUBLE};
static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType uuid_type = {.kind = LAKE_UUID};

#define NUMBER(n)	((LakeValue) {.d = (n)})
#define TEXT(s)		((LakeValue) {.bytes = {(const uint8_t *) (s), strlen(s)}})

static void
nan_rows_are_kept_though_bounds_exclude_them(LakeArena *arena)
{
	LakeBounds	bounds = {
		.value_count = 3, .nan_count = 1, .has_lower = true, .has_upper = true,
		.lower = NUMBER(3), .upper = NUMBER(3)
	};

	CHECK(may_match(arena, &double_type, PREDICATE_NE, NUMBER(3), bounds));
	CHECK(may_match(arena, &double_type, PREDICATE_GT, NUMBER(3), bounds));
	CHECK(may_match(arena, &double_type, PREDICATE_EQ, NUMBER(NAN), bounds));
	CHECK(!may_match(arena, &double_type, PREDICATE_EQ, NUMBER(4), bounds));
	CHECK(!may_match(arena, &double_type, PREDICATE_LT, NUMBER(3), bounds));
	bounds.nan_count = -1;
	CHECK(may_match(arena, &double_type, PREDICATE_GT, NUMBER(3), bounds));
	bounds.nan_count = 0;
	CHECK(!may_match(arena, &double_type, PREDICATE_NE, NUMBER(3), bounds));
	CHECK(!may_match(arena, &double_type, PREDICATE_GT, NUMBER(3), bounds));
	CHECK(!may_match(arena, &double_type, PREDICATE_EQ, NUMBER(NAN), bounds));
	CHECK(!may_match(arena, &double_type, PREDICATE_GT, NUMBER(NAN), bounds));
}

static void
signed_zeros_in_bounds_are_equal(LakeArena *arena)
{
	LakeBounds	bounds = {
		.value_count = 1, .has_lower = true, .has_upper = true,
		.lower = NUMBER(-0.0), .upper = NUMBER(-0.0)
	};

	CHECK(may_match(arena, &double_type, PREDICATE_EQ, NUMBER(0.0), bounds));
	CHECK(may_match(arena, &double_type, PREDICATE_GE, NUMBER(0.0), bounds));
	CHECK(!may_match(arena, &double_type, PREDICATE_NE, NUMBER(0.0), bounds));
}

static void
nothing_is_pruned_by_what_is_not_known(LakeArena *arena)
{
	LakeBounds	unknown = {
		.value_count = -1, .null_count = -1, .nan_count = -1
	};
	LakeBounds	inverted = {
		.value_count = 5, .has_lower = true, .has_upper = true,
		.lower = TEXT("z"), .upper = TEXT("a")
	};
	LakeBounds	uuids = {
		.value_count = 5, .has_lower = true, .has_upper = true,
		.lower = TEXT("0000000000000000"), .upper = TEXT("1111111111111111")
	};

	for (PredicateOp op = PREDICATE_IS_NULL; op <= PREDICATE_NOT_LIKE; op++)
	{
		CHECK(may_match(arena, &string_type, op, TEXT("m_"), unknown));
		if (op != PREDICATE_IS_NULL)
			CHECK(may_match(arena, &string_type, op, TEXT("m_"), inverted));
		if (op >= PREDICATE_EQ && op <= PREDICATE_GE)
			CHECK(may_match(arena, &uuid_type, op, TEXT("2222222222222222"),
							uuids));
	}
}

static void
null_counts_decide_null_tests(LakeArena *arena)
{
	LakeBounds	some = {.value_count = 5, .null_count = 2};
	LakeBounds	all = {.value_count = 5, .null_count = 5};
	LakeBounds	none = {.value_count = 5, .null_count = 0};
	LakeBounds	unknown = {
		.value_count = 5, .null_count = -1, .has_lower = true,
		.has_upper = true, .lower = TEXT("a"), .upper = TEXT("c")
	};
	LakeValue	unused = {0};

	CHECK(may_match(arena, &string_type, PREDICATE_IS_NULL, unused, some));
	CHECK(may_match(arena, &string_type, PREDICATE_NOT_NULL, unused, some));
	CHECK(may_match(arena, &string_type, PREDICATE_IS_NULL, unused, all));
	CHECK(!may_match(arena, &string_type, PREDICATE_NOT_NULL, unused, all));
	CHECK(!may_match(arena, &string_type, PREDICATE_IS_NULL, unused, none));
	CHECK(!may_match(arena, &string_type, PREDICATE_NE, TEXT("x"), all));
	/* bounds do not say that there are no NULLs */
	CHECK(may_match(arena, &string_type, PREDICATE_IS_NULL, unused, unknown));
	CHECK(may_match(arena, &string_type, PREDICATE_NOT_NULL, unused, unknown));
	CHECK(!may_match(arena, &string_type, PREDICATE_EQ, TEXT("x"), unknown));
}

static void
like_prefixes_are_compared_with_cut_bounds(LakeArena *arena)
{
	LakeBounds	bounds = {
		.value_count = 5, .has_lower = true, .has_upper = true,
		.lower = TEXT("abc"), .upper = TEXT("abf")
	};

	CHECK(may_match(arena, &string_type, PREDICATE_LIKE, TEXT("a%"), bounds));
	CHECK(may_match(arena, &string_type, PREDICATE_LIKE, TEXT("abd%"),
					bounds));
	CHECK(may_match(arena, &string_type, PREDICATE_LIKE, TEXT("abczz%x"),
					bounds));
	CHECK(may_match(arena, &string_type, PREDICATE_LIKE, TEXT("%z"), bounds));
	CHECK(!may_match(arena, &string_type, PREDICATE_LIKE, TEXT("abb%"),
					 bounds));
	CHECK(!may_match(arena, &string_type, PREDICATE_LIKE, TEXT("abg%"),
					 bounds));
	CHECK(!may_match(arena, &string_type, PREDICATE_LIKE, TEXT("b_"),
					 bounds));
	CHECK(!may_match(arena, &string_type, PREDICATE_NOT_LIKE, TEXT("ab%"),
					 bounds));
	CHECK(may_match(arena, &string_type, PREDICATE_NOT_LIKE, TEXT("abc%"),
					bounds));
	CHECK(may_match(arena, &string_type, PREDICATE_NOT_LIKE, TEXT("ab%x"),
					bounds));
}

static const UnitTest tests[] = {
	UNIT(bounds_never_exclude_a_matching_row),
	UNIT(projections_never_exclude_a_matching_tuple),
	UNIT(nan_rows_are_kept_though_bounds_exclude_them),
	UNIT(signed_zeros_in_bounds_are_equal),
	UNIT(nothing_is_pruned_by_what_is_not_known),
	UNIT(null_counts_decide_null_tests),
	UNIT(like_prefixes_are_compared_with_cut_bounds),
};

UNIT_MAIN(tests)
