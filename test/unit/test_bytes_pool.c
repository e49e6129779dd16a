/*
 * The pool of byte strings: copies that stay apart, whatever their lengths.
 */
#include "iceberg/iceberg_int.h"

#include "unit.h"

#define COPIES 3000

/* a length that is another one for each copy, some larger than a piece */
static size_t
length_of(int i)
{
	return i % 500 == 7 ? 40000 : (size_t) (i * 7919 % 300);
}

static void
copies_keep_their_bytes_and_end_with_nul(LakeArena *arena)
{
	uint8_t    *text = lake_alloc(arena, 40000);
	LakeBytes  *copies = lake_alloc_array(arena, COPIES, sizeof *copies);
	BytesPool	pool;

	bytes_pool_init(&pool, arena);
	for (int i = 0; i < COPIES; i++)
	{
		LakeBytes	bytes = {text, length_of(i)};

		memset(text, i % 251, bytes.len);
		copies[i] = bytes_pool_copy(&pool, bytes);
	}
	for (int i = 0; i < COPIES; i++)
	{
		bool		is_same = copies[i].len == length_of(i) &&
			copies[i].data[copies[i].len] == '\0';

		for (size_t j = 0; is_same && j < copies[i].len; j++)
			is_same = copies[i].data[j] == i % 251;
		CHECK(is_same);
	}
}

static void
no_bytes_are_copied_as_an_empty_string(LakeArena *arena)
{
	LakeBytes	none = {NULL, 0};
	BytesPool	pool;
	LakeBytes	copy;

	bytes_pool_init(&pool, arena);
	copy = bytes_pool_copy(&pool, none);
	CHECK_INT(copy.len, 0);
	CHECK_STRING((const char *) copy.data, "");
}

/* ten thousand paths take little more than their own bytes */
static void
short_strings_share_allocations(LakeArena *arena)
{
	LakeArena  *own = lake_arena_create(arena, "pool");
	uint8_t		path[90] = {0};
	LakeBytes	bytes = {path, sizeof path};
	BytesPool	pool;

	bytes_pool_init(&pool, own);
	for (int i = 0; i < 10000; i++)
		bytes_pool_copy(&pool, bytes);
	CHECK(lake_arena_size(own) < 10000 * 91 + 40000);
}

static const UnitTest tests[] = {
	UNIT(copies_keep_their_bytes_and_end_with_nul),
	UNIT(no_bytes_are_copied_as_an_empty_string),
	UNIT(short_strings_share_allocations),
};

UNIT_MAIN(tests)
