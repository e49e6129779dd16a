/*
 * Evaluation on vectors against the three-valued evaluator of the cases: every
 * layout, plain and by dictionary, any selection.
 */
#include "unit.h"

#include "predicate_cases.h"
#include "table/table_int.h"

#define CASES	10000

/* columns of a case as vectors, and how often each was loaded */
typedef struct Columns
{
	const LakeVector *vectors[CASE_COLUMNS];
	int			loads[CASE_COLUMNS];
} Columns;

static const LakeVector *
load(void *arg, int32_t field_id)
{
	Columns    *columns = arg;

	columns->loads[field_id - 1]++;
	return columns->vectors[field_id - 1];
}

static bool
evaluates_as_expected(Case *test, const Predicate *raw, Columns *columns,
					  PredicateEvaluator *evaluator)
{
	uint32_t	selection[CASE_ROWS];
	uint32_t	expected[CASE_ROWS];
	uint32_t	count = 0;
	uint32_t	expected_count = 0;

	for (int row = 0; row < test->row_count; row++)
	{
		if (choose(test->choices, 8) == 0)
			continue;
		selection[count++] = (uint32_t) row;
		if (case_truth(raw, 1, test->rows[row]) == 1)
			expected[expected_count++] = (uint32_t) row;
	}
	memset(columns->loads, 0, sizeof columns->loads);
	if (predicate_evaluate(evaluator, selection, count) != expected_count ||
		columns->loads[0] > 1 || columns->loads[1] > 1)
		return false;
	return memcmp(selection, expected, expected_count * 4) == 0;
}

static void
random_trees_keep_the_rows_that_are_true(LakeArena *arena)
{
	Choices		choices = {.state = 42};

	for (int i = 0; i < CASES && !unit_failed; i++)
	{
		LakeArena  *scope = lake_arena_create(arena, "case");
		Case		test;
		Columns		columns;
		Predicate  *raw;
		const Predicate *normal;
		PredicateEvaluator *evaluator;

		case_init(&test, scope, &choices);
		raw = case_predicate(&test, 3);
		normal = predicate_normalize(scope, raw);
		evaluator = predicate_evaluator_create(scope, normal, load, &columns);
		for (int way = 0; way < 4; way++)
		{
			for (int column = 0; column < CASE_COLUMNS; column++)
			{
				unsigned	kind = choose(&choices, 4);

				columns.vectors[column] = kind == 0 ?
					case_plain_vector(&test, column) :
					case_dictionary_vector(&test, column,
										   kind == 1 ? 0 : kind == 2 ? 30 : 5000);
			}
			/* the second time a dictionary's map is there, or is made */
			for (int again = 0; again < 6; again++)
				CHECK(evaluates_as_expected(&test, raw, &columns, evaluator));
		}
		if (unit_failed)
			fprintf(stderr, "case %d: %s\n", i,
					predicate_text(scope, normal, NULL));
		lake_arena_destroy(scope);
	}
}

/* a batch of count rows of one int column, values 0..9 in turn */
static LakeVector *
digits_vector(LakeArena *arena, uint32_t count)
{
	LakeVector *vector = lake_alloc(arena, sizeof *vector);
	int32_t    *values = lake_alloc_array(arena, count, sizeof *values);

	for (uint32_t i = 0; i < count; i++)
		values[i] = (int32_t) (i % 10);
	vector->layout = VECTOR_I32;
	vector->count = count;
	vector->values = values;
	return vector;
}

static const LakeType int_type = {.kind = LAKE_INT};

static Predicate *
compare(LakeArena *arena, int32_t id, PredicateOp op, int64_t literal)
{
	LakeField	field = {.id = id, .type = (LakeType *) &int_type};
	LakeValue	value = {.i = literal};

	return predicate_leaf(arena, op, &field, &value, 1);
}

static void
columns_after_an_empty_selection_are_not_loaded(LakeArena *arena)
{
	Columns		columns = {.vectors = {digits_vector(arena, 10), NULL}};
	Predicate  *terms[] = {
		compare(arena, 1, PREDICATE_GT, 100),
		compare(arena, 2, PREDICATE_EQ, 1)
	};
	PredicateEvaluator *evaluator;
	uint32_t	selection[] = {0, 3, 5};

	evaluator = predicate_evaluator_create(arena, predicate_combine(arena,
																	PREDICATE_AND,
																	terms, 2),
										   load, &columns);
	CHECK_INT(predicate_evaluate(evaluator, selection, 3), 0);
	CHECK_INT(columns.loads[0], 1);
	CHECK_INT(columns.loads[1], 0);
}

static void
or_stops_when_every_row_is_taken(LakeArena *arena)
{
	Columns		columns = {.vectors = {digits_vector(arena, 4096), NULL}};
	Predicate  *terms[] = {
		compare(arena, 1, PREDICATE_LT, 5), compare(arena, 1, PREDICATE_GE, 5),
		compare(arena, 2, PREDICATE_EQ, 1)
	};
	PredicateEvaluator *evaluator;
	uint32_t	selection[4096];

	for (uint32_t i = 0; i < 4096; i++)
		selection[i] = i;
	evaluator = predicate_evaluator_create(arena,
										   predicate_combine(arena,
															 PREDICATE_OR,
															 terms, 3),
										   load, &columns);
	CHECK_INT(predicate_evaluate(evaluator, selection, 4096), 4096);
	CHECK_INT(columns.loads[1], 0);
	for (uint32_t i = 0; i < 4096; i++)
		CHECK_INT(selection[i], i);
}

static void
a_vector_of_another_layout_is_a_bug(LakeArena *arena)
{
	Columns		columns = {.vectors = {digits_vector(arena, 10), NULL}};
	const LakeType long_type = {.kind = LAKE_LONG};
	Predicate  *leaf = compare(arena, 1, PREDICATE_EQ, 1);
	uint32_t	selection[] = {0};

	leaf->type = &long_type;
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "layout",
				 predicate_evaluate(predicate_evaluator_create(arena, leaf,
															   load, &columns),
									selection, 1));
}

static void
long_lists_are_searched_whatever_their_span(LakeArena *arena)
{
	LakeField	field = {.id = 1, .type = (LakeType *) &int_type};
	Columns		columns = {.vectors = {digits_vector(arena, 1000), NULL}};

	for (int step = 1; step < 1000000; step *= 10)
	{
		for (int negate = 0; negate < 2; negate++)
		{
			LakeValue	values[300];
			uint32_t	selection[1000];
			uint32_t	expected = 0;
			Predicate  *leaf;

			for (int i = 0; i < 300; i++)
				values[i] = (LakeValue) {.i = 3 + (299 - i) * step};
			for (uint32_t i = 0; i < 1000; i++)
			{
				selection[i] = i;
				expected += ((int) (i % 10) >= 3 &&
							 ((int) (i % 10) - 3) % step == 0) != negate;
			}
			leaf = predicate_leaf(arena, negate ? PREDICATE_NOT_IN :
								  PREDICATE_IN, &field, values, 300);
			leaf = predicate_normalize(arena, leaf);
			CHECK_INT(predicate_evaluate(predicate_evaluator_create(arena,
																	leaf, load,
																	&columns),
										 selection, 1000), expected);
		}
	}
}

static const UnitTest tests[] = {
	UNIT(random_trees_keep_the_rows_that_are_true),
	UNIT(columns_after_an_empty_selection_are_not_loaded),
	UNIT(or_stops_when_every_row_is_taken),
	UNIT(a_vector_of_another_layout_is_a_bug),
	UNIT(long_lists_are_searched_whatever_their_span),
};

UNIT_MAIN(tests)
