/*
 * Key sets of equality deletes.
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "table/batch.h"
#include "table/deletes.h"

static LakeVector
longs(const int64_t *values, uint32_t count, const uint8_t *nulls)
{
	return (LakeVector)
	{
		.layout = VECTOR_I64, .count = count, .values = values, .nulls = nulls
	};
}

static LakeVector
texts(const LakeBytes *values, uint32_t count, const uint8_t *nulls)
{
	return (LakeVector)
	{
		.layout = VECTOR_BYTES, .count = count, .values = values,
			.nulls = nulls
	};
}

static LakeBytes
text(const char *value)
{
	return (LakeBytes)
	{
		(const uint8_t *) value, strlen(value)
	};
}

/* "1" for each row that the keys of the files in applies delete */
static const char *
marked(LakeArena *arena, DeleteKeys *keys, const uint8_t *applies,
	   const LakeVector *parts, uint32_t count)
{
	uint8_t    *mask = lake_alloc(arena, count + 1);

	key_probe_mark(key_probe_create(arena, keys, applies), parts, count,
				   mask);
	for (uint32_t i = 0; i < count; i++)
		mask[i] = (uint8_t) (mask[i] + '0');
	return (const char *) mask;
}

static const uint8_t first_only[] = {1, 0};

static void
keys_of_the_set_are_numbered_in_order(LakeArena *arena)
{
	KeySet	   *set = key_set_create(arena);

	CHECK_INT(key_set_find(set, text("a")), KEY_SET_NONE);
	CHECK_INT(key_set_add(set, text("a")), 0);
	CHECK_INT(key_set_add(set, text("")), 1);
	CHECK_INT(key_set_add(set, text("a longer key than sixteen")), 2);
	CHECK_INT(key_set_add(set, text("a")), 0);
	CHECK_INT(key_set_find(set, text("")), 1);
	CHECK_INT(key_set_find(set, text("a longer key than sixteen")), 2);
	CHECK_INT(key_set_find(set, text("b")), KEY_SET_NONE);
	CHECK_INT(key_set_count(set), 3);
}

static void
the_set_grows_without_losing_keys(LakeArena *arena)
{
	KeySet	   *set = key_set_create(arena);

	for (uint32_t i = 0; i < 100000; i++)
	{
		LakeBytes	key = {(const uint8_t *) &i, sizeof i};

		if (key_set_add(set, key) != i)
			CHECK_INT(i, -1);
	}
	for (uint32_t i = 0; i < 200000; i++)
	{
		LakeBytes	key = {(const uint8_t *) &i, sizeof i};

		if (key_set_find(set, key) != (i < 100000 ? i : KEY_SET_NONE))
			CHECK_INT(i, -1);
	}
}

static void
null_equals_null_only(LakeArena *arena)
{
	static const int64_t deleted[] = {0};
	static const int64_t rows[] = {0, 0, 3};
	static const uint8_t is_null[] = {1};
	static const uint8_t row_nulls[] = {0, 1, 0};
	DeleteKeys *keys = delete_keys_create(arena, 1);
	LakeVector	key = longs(deleted, 1, is_null);
	LakeVector	row = longs(rows, 3, row_nulls);

	delete_keys_add(keys, 0, &key, 1);
	CHECK_STRING(marked(arena, keys, first_only, &row, 3), "010");
}

static void
only_files_that_apply_count(LakeArena *arena)
{
	static const int64_t first[] = {1, 2};
	static const int64_t second[] = {2, 3, 3};
	static const int64_t rows[] = {1, 2, 3, 4};
	static const uint8_t second_only[] = {0, 1};
	static const uint8_t both[] = {1, 1};
	DeleteKeys *keys = delete_keys_create(arena, 1);
	LakeVector	a = longs(first, 2, NULL);
	LakeVector	b = longs(second, 3, NULL);
	LakeVector	row = longs(rows, 4, NULL);

	delete_keys_add(keys, 0, &a, 2);
	delete_keys_add(keys, 1, &b, 3);
	CHECK_STRING(marked(arena, keys, first_only, &row, 4), "1100");
	CHECK_STRING(marked(arena, keys, second_only, &row, 4), "0110");
	CHECK_STRING(marked(arena, keys, both, &row, 4), "1110");
}

static void
all_parts_of_a_key_must_match(LakeArena *arena)
{
	static const int64_t ids[] = {1, 2};
	LakeBytes	names[] = {text("a"), text("b")};
	static const int64_t row_ids[] = {1, 1, 2, 2};
	LakeBytes	row_names[] = {text("a"), text("b"), text("b"), text("")};
	static const uint8_t null_names[] = {0, 0, 0, 1};
	DeleteKeys *keys = delete_keys_create(arena, 2);
	LakeVector	key[] = {longs(ids, 2, NULL), texts(names, 2, NULL)};
	LakeVector	row[] = {longs(row_ids, 4, NULL),
	texts(row_names, 4, null_names)};

	delete_keys_add(keys, 0, key, 2);
	CHECK_STRING(marked(arena, keys, first_only, row, 4), "1010");
}

static void
borders_between_texts_are_kept(LakeArena *arena)
{
	LakeBytes	left[] = {text("ab"), text("a")};
	LakeBytes	right[] = {text("c"), text("bc")};
	DeleteKeys *keys = delete_keys_create(arena, 2);
	LakeVector	parts[] = {texts(left, 2, NULL), texts(right, 2, NULL)};

	delete_keys_add(keys, 0, parts, 1);
	CHECK_STRING(marked(arena, keys, first_only, parts, 2), "10");
}

static void
floats_compare_by_total_order(LakeArena *arena)
{
	double		other_nan;
	double		deleted[] = {NAN, 0.0};
	double		rows[] = {NAN, 0.0, 0.0, -0.0, 1.0};
	const uint64_t nan_bits = UINT64_C(0xfff8000000000001);
	DeleteKeys *keys = delete_keys_create(arena, 1);
	LakeVector	key = {.layout = VECTOR_F64, .count = 2, .values = deleted};
	LakeVector	row = {.layout = VECTOR_F64, .count = 5, .values = rows};

	memcpy(&other_nan, &nan_bits, sizeof other_nan);
	rows[1] = other_nan;
	delete_keys_add(keys, 0, &key, 2);
	CHECK_STRING(marked(arena, keys, first_only, &row, 5), "11100");
}

static void
single_floats_compare_alike(LakeArena *arena)
{
	static const float deleted[] = {-0.0f, NAN};
	static const float rows[] = {-0.0f, 0.0f, NAN};
	DeleteKeys *keys = delete_keys_create(arena, 1);
	LakeVector	key = {.layout = VECTOR_F32, .count = 2, .values = deleted};
	LakeVector	row = {.layout = VECTOR_F32, .count = 3, .values = rows};

	delete_keys_add(keys, 0, &key, 2);
	CHECK_STRING(marked(arena, keys, first_only, &row, 3), "101");
}

static void
a_dictionary_is_probed_like_values(LakeArena *arena)
{
	static const int64_t deleted[] = {7, 0};
	static const int64_t entries[] = {5, 7};
	static const uint32_t codes[] = {0, 1, 0, 1};
	static const uint8_t nulls[] = {0, 0, 1, 1};
	static const uint8_t key_nulls[] = {0, 1};
	LakeDictionary dictionary = {42, VECTOR_I64, 2, entries};
	LakeVector	row = {.layout = VECTOR_I64, .count = 4,
	.dict = &dictionary, .codes = codes, .nulls = nulls};
	DeleteKeys *keys = delete_keys_create(arena, 1);
	LakeVector	key = longs(deleted, 2, key_nulls);

	delete_keys_add(keys, 0, &key, 1);
	CHECK_STRING(marked(arena, keys, first_only, &row, 4), "0100");
	delete_keys_add(keys, 0, &key, 2);
	CHECK_STRING(marked(arena, keys, first_only, &row, 4), "0111");
}

/* more than one batch of entries, so that verdicts are made in parts */
static void
large_dictionaries_are_probed_whole(LakeArena *arena)
{
	enum
	{
	COUNT = 3 * BATCH_MAX_ROWS + 1};
	int64_t    *entries = lake_alloc_array(arena, COUNT, sizeof(int64_t));
	uint32_t   *codes = lake_alloc_array(arena, BATCH_MAX_ROWS,
										 sizeof(uint32_t));
	LakeDictionary dictionary = {43, VECTOR_I64, COUNT, entries};
	LakeVector	row = {.layout = VECTOR_I64, .count = BATCH_MAX_ROWS,
	.dict = &dictionary, .codes = codes};
	DeleteKeys *keys = delete_keys_create(arena, 1);
	static const int64_t deleted[] = {COUNT - 1};
	LakeVector	key = longs(deleted, 1, NULL);
	const char *mask;

	for (int i = 0; i < COUNT; i++)
		entries[i] = i;
	codes[17] = COUNT - 1;
	delete_keys_add(keys, 0, &key, 1);
	mask = marked(arena, keys, first_only, &row, BATCH_MAX_ROWS);
	CHECK_INT(mask[17], '1');
	CHECK_INT(mask[16], '0');
	CHECK(strchr(mask + 18, '1') == NULL);
}

/* the number of keys of a case that a hash join got wrong elsewhere */
static void
fifty_thousand_keys_leave_the_others(LakeArena *arena)
{
	int64_t    *values = lake_alloc_array(arena, 50000, sizeof(int64_t));
	DeleteKeys *keys = delete_keys_create(arena, 1);
	uint32_t	left = 0;

	for (uint32_t i = 0; i < 50000; i++)
		values[i] = i;
	for (uint32_t i = 0; i < 49995; i += BATCH_MAX_ROWS)
	{
		uint32_t	count = 49995 - i < BATCH_MAX_ROWS ? 49995 - i :
			BATCH_MAX_ROWS;
		LakeVector	key = longs(values + i, count, NULL);

		delete_keys_add(keys, 0, &key, count);
	}
	for (uint32_t i = 0; i < 50000; i += 1000)
	{
		LakeVector	row = longs(values + i, 1000, NULL);
		const char *mask = marked(arena, keys, first_only, &row, 1000);

		for (uint32_t j = 0; j < 1000; j++)
			left += mask[j] == '0';
	}
	CHECK_INT(left, 5);
}

static void
keys_inside_of_structs_are_null_with_them(LakeArena *arena)
{
	static const int64_t values[] = {1, 2, 3};
	static const uint8_t outer_nulls[] = {1, 0, 0};
	static const uint8_t inner_nulls[] = {0, 1, 0};
	LakeVector	leaf = longs(values, 3, inner_nulls);
	LakeVector *leaves[] = {&leaf};
	LakeVector	outer = {.layout = VECTOR_STRUCT, .count = 3,
	.nulls = outer_nulls, .child_count = 1, .children = leaves};
	KeyPart		part = {.depth = 1};
	uint8_t		nulls[3];
	LakeVector	result;

	(void) arena;
	key_part_vector(&part, &outer, nulls, &result);
	CHECK(result.values == values);
	CHECK(vector_is_null(&result, 0));
	CHECK(vector_is_null(&result, 1));
	CHECK(!vector_is_null(&result, 2));
}

static const UnitTest tests[] = {
	UNIT(keys_of_the_set_are_numbered_in_order),
	UNIT(the_set_grows_without_losing_keys),
	UNIT(null_equals_null_only),
	UNIT(only_files_that_apply_count),
	UNIT(all_parts_of_a_key_must_match),
	UNIT(borders_between_texts_are_kept),
	UNIT(floats_compare_by_total_order),
	UNIT(single_floats_compare_alike),
	UNIT(a_dictionary_is_probed_like_values),
	UNIT(large_dictionaries_are_probed_whole),
	UNIT(fifty_thousand_keys_leave_the_others),
	UNIT(keys_inside_of_structs_are_null_with_them),
};

UNIT_MAIN(tests)
