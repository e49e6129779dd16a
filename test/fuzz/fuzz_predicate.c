/*
 * Pruning never loses a matching row, and evaluation keeps exactly the
 * matching rows: the bytes choose types, rows, conditions, weakened bounds and
 * transforms.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "predicate_cases.h"
#include "table/table_int.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition)
{
	if (!condition)
		abort();
}

static bool
lookup(void *arg, int32_t field_id, const LakeType *type, LakeBounds *bounds)
{
	(void) type;
	*bounds = ((const LakeBounds *) arg)[field_id - 1];
	return true;
}

static void
check_bounds(Case *test, const Predicate *raw, const Predicate *normal)
{
	LakeBounds	bounds[CASE_COLUMNS];

	for (int column = 0; column < CASE_COLUMNS; column++)
	{
		bounds[column] = case_bounds(&test->types[column]->type,
									 &test->rows[0][column], test->row_count,
									 CASE_COLUMNS);
		case_weaken(test, column, &bounds[column]);
	}
	if (predicate_may_match(normal, lookup, bounds))
		return;
	for (int row = 0; row < test->row_count; row++)
		require(case_truth(raw, 1, test->rows[row]) != 1);
}

static void
check_projection(Case *test, const Predicate *raw, const Predicate *normal)
{
	static const char *const names[] = {
		"identity", "bucket[3]", "truncate[1]", "truncate[2]", "truncate[10]",
		"year", "month", "day", "hour"
	};
	PartitionField fields[CASE_COLUMNS];
	LakePartitionSpec spec = {.field_count = CASE_COLUMNS, .fields = fields};
	const Predicate *projected;

	memset(fields, 0, sizeof fields);
	for (int column = 0; column < CASE_COLUMNS; column++)
	{
		PartitionField *field = &fields[column];

		field->source_id = field->field_id = column + 1;
		field->transform = transform_parse(test->arena,
										   names[choose(test->choices, 9)]);
		field->source_type = &test->types[column]->type;
		field->result_type = transform_result_type(test->arena,
												   &field->transform,
												   field->source_type);
	}
	projected = predicate_project(test->arena, normal, &spec);
	for (int row = 0; row < test->row_count; row++)
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
							&test->rows[row][column], &tuple[column]);
			bounds[column] = case_bounds(fields[column].result_type,
										 &tuple[column], 1, 1);
		}
		if (case_truth(raw, 1, test->rows[row]) != 1)
			continue;
		require(case_truth(projected, 1, tuple) == 1);
		require(predicate_may_match(projected, lookup, bounds));
	}
}

static const LakeVector *
load(void *arg, int32_t field_id)
{
	return ((const LakeVector *const *) arg)[field_id - 1];
}

static void
check_evaluation(Case *test, const Predicate *raw, const Predicate *normal)
{
	const LakeVector *vectors[CASE_COLUMNS];
	uint32_t	selection[CASE_ROWS];
	uint32_t	count;
	uint32_t	at = 0;
	PredicateEvaluator *evaluator;

	for (int column = 0; column < CASE_COLUMNS; column++)
		vectors[column] = choose(test->choices, 2) == 0 ?
			case_plain_vector(test, column) :
			case_dictionary_vector(test, column, choose(test->choices, 200));
	evaluator = predicate_evaluator_create(test->arena, normal, load, vectors);
	for (int row = 0; row < test->row_count; row++)
		selection[row] = (uint32_t) row;
	count = predicate_evaluate(evaluator, selection,
							   (uint32_t) test->row_count);
	for (int row = 0; row < test->row_count; row++)
	{
		bool		is_kept = at < count && selection[at] == (uint32_t) row;

		require(is_kept == (case_truth(raw, 1, test->rows[row]) == 1));
		at += is_kept;
	}
	require(at == count);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	Choices		choices = {.data = data, .left = size};
	Case		test;
	const Predicate *raw;
	const Predicate *normal;

	/* without bytes the choices would fall to the generator */
	if (size > 0)
	{
		case_init(&test, arena, &choices);
		raw = case_predicate(&test, 3);
		normal = predicate_normalize(arena, raw);
		predicate_text(arena, normal, NULL);
		check_bounds(&test, raw, normal);
		check_projection(&test, raw, normal);
		check_evaluation(&test, raw, normal);
	}
	lake_arena_destroy(arena);
	return 0;
}
