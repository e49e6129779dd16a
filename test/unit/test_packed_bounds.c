/*
 * Packed bounds: pruning by blocks and by packed facts is the same as asking
 * the predicate file by file with what was packed.
 */
#include "iceberg/iceberg_int.h"

#include "predicate_cases.h"
#include "unit.h"

#define FILES_MAX	150

typedef struct FileBounds
{
	const Case *test;
	LakeBounds	columns[CASE_COLUMNS];
} FileBounds;

static bool
look_up(void *arg, int32_t field_id, const LakeType *type, LakeBounds *bounds)
{
	const FileBounds *file = arg;

	(void) type;
	*bounds = file->columns[field_id - 1];
	return true;
}

/* counts that writers got wrong, as far as the manifest's reader lets them by */
static void
distort_counts(Choices *choices, LakeBounds *bounds)
{
	bounds->value_count = (int64_t) choose(choices, 6) - 1;
	bounds->null_count = (int64_t) choose(choices, 6) - 1;
	bounds->nan_count = (int64_t) choose(choices, 6) - 1;
	if (bounds->value_count >= 0 &&
		(bounds->null_count > bounds->value_count ||
		 bounds->nan_count > bounds->value_count))
	{
		bounds->value_count = -1;
		bounds->null_count = -1;
		bounds->nan_count = -1;
	}
}

/* bounds that are NaN or inverted do not come out of the manifest's reader */
static void
forget_broken(const LakeType *type, LakeBounds *bounds)
{
	bool		is_float = type->kind == LAKE_FLOAT ||
		type->kind == LAKE_DOUBLE;

	if ((is_float && bounds->has_lower && isnan(bounds->lower.d)) ||
		(is_float && bounds->has_upper && isnan(bounds->upper.d)) ||
		(bounds->has_lower && bounds->has_upper &&
		 lake_value_compare(type, &bounds->lower, &bounds->upper) > 0))
		bounds->has_lower = bounds->has_upper = false;
	if (!is_float && bounds->nan_count > 0)
		bounds->nan_count = 0;
}

/* a few of the case's rows, so that files and blocks differ */
static void
make_file(Case *test, FileBounds *file)
{
	int			first = (int) choose(test->choices,
									 (unsigned) test->row_count);
	int			count = (int) choose(test->choices, 3);

	if (count > test->row_count - first)
		count = test->row_count - first;
	file->test = test;
	for (int i = 0; i < CASE_COLUMNS; i++)
	{
		const LakeType *type = &test->types[i]->type;

		file->columns[i] = case_bounds(type, &test->rows[first][i], count,
									   CASE_COLUMNS);
		if (choose(test->choices, 3) == 0)
			case_weaken(test, i, &file->columns[i]);
		if (choose(test->choices, 4) == 0)
			distort_counts(test->choices, &file->columns[i]);
		forget_broken(type, &file->columns[i]);
	}
}

static void
pack(Case *test, const FileBounds *files, size_t count,
	 const PackedBounds **columns)
{
	for (int i = 0; i < CASE_COLUMNS; i++)
	{
		PackedBounds *packed = packed_bounds_create(test->arena, i + 1,
													&test->types[i]->type);

		for (size_t j = 0; j < count; j++)
			packed_bounds_add(packed, &files[j].columns[i]);
		packed_bounds_finish(packed);
		columns[i] = packed;
	}
}

/* how many files the predicate excluded; every one of them must agree */
static int
check_predicate(Case *test, FileBounds *files, size_t count,
				const PackedBounds *const *columns)
{
	const Predicate *predicate =
		predicate_normalize(test->arena, case_predicate(test, 2));
	int			excluded = 0;

	for (size_t i = 0; i < count; i += PACKED_BLOCK)
	{
		size_t		left = count - i < PACKED_BLOCK ? count - i : PACKED_BLOCK;
		uint64_t	all = UINT64_MAX >> (PACKED_BLOCK - left);
		uint64_t	matches = packed_bounds_match(predicate, columns,
												  CASE_COLUMNS,
												  i / PACKED_BLOCK, all);

		CHECK((matches & ~all) == 0);
		for (size_t j = 0; j < left; j++)
		{
			bool		expected = predicate_may_match(predicate, look_up,
													   &files[i + j]);

			if ((bool) (matches >> j & 1) != expected)
			{
				CHECK(!"another answer");
				return 0;
			}
			excluded += !expected;
		}
	}
	return excluded;
}

static void
blocks_and_files_give_the_same_answer(LakeArena *arena)
{
	Choices		choices = {.state = 4711};
	int			excluded = 0;

	for (int i = 0; i < 4000; i++)
	{
		LakeArena  *inner = lake_arena_create(arena, "case");
		Case		test;
		FileBounds *files = lake_alloc_array(inner, FILES_MAX, sizeof *files);
		size_t		count = choose(&choices, 3) == 0 ?
			choose(&choices, FILES_MAX) + 1 : choose(&choices, 4) + 1;
		const PackedBounds *columns[CASE_COLUMNS];

		case_init(&test, inner, &choices);
		for (size_t j = 0; j < count; j++)
			make_file(&test, &files[j]);
		pack(&test, files, count, columns);
		for (int j = 0; j < 8; j++)
			excluded += check_predicate(&test, files, count, columns);
		lake_arena_destroy(inner);
	}
	CHECK(excluded > 10000);
}

/* files of 10 values from start on, of which nothing else is known */
static const PackedBounds *
make_longs(LakeArena *arena, const int64_t *starts, size_t count)
{
	static const LakeType type = {.kind = LAKE_LONG};
	PackedBounds *packed = packed_bounds_create(arena, 1, &type);

	for (size_t i = 0; i < count; i++)
	{
		LakeBounds	bounds = {.value_count = -1, .null_count = -1,
			.has_lower = true, .has_upper = true, .lower = {.i = starts[i]},
		.upper = {.i = starts[i] + 9}};

		packed_bounds_add(packed, &bounds);
	}
	packed_bounds_finish(packed);
	return packed;
}

static uint64_t
match_long(LakeArena *arena, const PackedBounds *packed, PredicateOp op,
		   int64_t literal)
{
	static LakeType type = {.kind = LAKE_LONG};
	LakeField	field = {.id = 1, .type = &type};
	LakeValue	value = {.i = literal};
	const Predicate *predicate =
		predicate_normalize(arena, predicate_leaf(arena, op, &field, &value,
											  1));

	return packed_bounds_match(predicate, &packed, 1, 0, UINT64_MAX >> 61);
}

static void
integers_are_compared_to_their_ends(LakeArena *arena)
{
	static const int64_t starts[] = {INT64_MIN, 0, INT64_MAX - 9};
	const PackedBounds *packed = make_longs(arena, starts, 3);

	CHECK_INT(match_long(arena, packed, PREDICATE_EQ, 5), 2);
	CHECK_INT(match_long(arena, packed, PREDICATE_LT, INT64_MIN), 0);
	CHECK_INT(match_long(arena, packed, PREDICATE_LE, INT64_MIN), 1);
	CHECK_INT(match_long(arena, packed, PREDICATE_LT, 0), 1);
	CHECK_INT(match_long(arena, packed, PREDICATE_LE, 0), 3);
	CHECK_INT(match_long(arena, packed, PREDICATE_GT, INT64_MAX), 0);
	CHECK_INT(match_long(arena, packed, PREDICATE_GE, INT64_MAX), 4);
	CHECK_INT(match_long(arena, packed, PREDICATE_GT, 9), 4);
	CHECK_INT(match_long(arena, packed, PREDICATE_GE, 9), 6);
	CHECK_INT(match_long(arena, packed, PREDICATE_NE, 5), 7);
}

static void
only_the_files_asked_for_are_answered(LakeArena *arena)
{
	static const int64_t starts[] = {0, 0, 0, 0};
	const PackedBounds *packed = make_longs(arena, starts, 4);
	const Predicate *all = predicate_constant(arena, true);
	const Predicate *none = predicate_constant(arena, false);

	CHECK_INT(packed_bounds_match(all, &packed, 1, 0, 5), 5);
	CHECK_INT(packed_bounds_match(none, &packed, 1, 0, 5), 0);
}

static void
columns_that_are_not_there_prune_nothing(LakeArena *arena)
{
	static LakeType type = {.kind = LAKE_LONG};
	static const int64_t starts[] = {0, 100};
	const PackedBounds *packed = make_longs(arena, starts, 2);
	LakeField	field = {.id = 2, .type = &type};
	LakeValue	value = {.i = 5};
	const Predicate *predicate =
		predicate_normalize(arena, predicate_leaf(arena, PREDICATE_EQ, &field,
											  &value, 1));

	CHECK_INT(packed_bounds_match(predicate, &packed, 1, 0, 3), 3);
	CHECK_INT(packed_bounds_match(predicate, NULL, 0, 0, 3), 3);
}

/* what is packed is a copy: the reader's bytes are gone with the next entry */
static void
bytes_are_copied(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_STRING};
	PackedBounds *packed = packed_bounds_create(arena, 1, &type);
	uint8_t		text[5000];
	LakeBounds	bounds = {.value_count = 10, .null_count = 2, .nan_count = 0,
	.has_lower = true, .lower = {.bytes = {text, 3}}};

	memset(text, 'a', sizeof text);
	packed_bounds_add(packed, &bounds);
	memset(text, 'b', sizeof text);
	bounds.lower.bytes.len = sizeof text;
	packed_bounds_add(packed, &bounds);
	memset(text, 'c', sizeof text);
	packed_bounds_finish(packed);
	packed_bounds_get(packed, 0, &bounds);
	CHECK_INT(bounds.lower.bytes.len, 3);
	CHECK(memcmp(bounds.lower.bytes.data, "aaa", 3) == 0);
	CHECK(bounds.has_lower && !bounds.has_upper);
	CHECK_INT(bounds.value_count, 10);
	CHECK_INT(bounds.null_count, 2);
	CHECK_INT(bounds.nan_count, 0);
	packed_bounds_get(packed, 1, &bounds);
	CHECK_INT(bounds.lower.bytes.len, sizeof text);
	CHECK_INT(bounds.lower.bytes.data[4999], 'b');
}

static void
huge_counts_come_back_as_counts(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_DOUBLE};
	PackedBounds *packed = packed_bounds_create(arena, 1, &type);
	LakeBounds	bounds = {.value_count = INT64_MAX, .null_count = INT64_MAX - 1,
	.nan_count = -1};

	packed_bounds_add(packed, &bounds);
	bounds.value_count = bounds.null_count = -1;
	packed_bounds_add(packed, &bounds);
	bounds = (LakeBounds) {.value_count = 9, .null_count = 4, .nan_count = 5};
	packed_bounds_add(packed, &bounds);
	packed_bounds_finish(packed);
	packed_bounds_get(packed, 0, &bounds);
	CHECK(bounds.value_count > INT64_MAX / 2);
	CHECK(bounds.null_count > INT64_MAX / 2);
	CHECK_INT(bounds.nan_count, -1);
	packed_bounds_get(packed, 1, &bounds);
	CHECK_INT(bounds.value_count, -1);
	CHECK_INT(bounds.null_count, -1);
	packed_bounds_get(packed, 2, &bounds);
	CHECK_INT(bounds.nan_count, 5);
}

static void
columns_are_told_apart_by_id_and_type(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_DECIMAL, .precision = 9,
	.scale = 2};
	LakeType	other = type;
	const PackedBounds *packed = packed_bounds_create(arena, 1, &type);

	CHECK(packed_bounds_is_of(packed, 1, &other));
	CHECK(!packed_bounds_is_of(packed, 2, &other));
	other.scale = 3;
	CHECK(!packed_bounds_is_of(packed, 1, &other));
	other.scale = 2;
	other.precision = 10;
	CHECK(!packed_bounds_is_of(packed, 1, &other));
}

static const UnitTest tests[] = {
	UNIT(blocks_and_files_give_the_same_answer),
	UNIT(integers_are_compared_to_their_ends),
	UNIT(only_the_files_asked_for_are_answered),
	UNIT(columns_that_are_not_there_prune_nothing),
	UNIT(bytes_are_copied),
	UNIT(huge_counts_come_back_as_counts),
	UNIT(columns_are_told_apart_by_id_and_type),
};

UNIT_MAIN(tests)
