/*
 * The cache: what it finds, what it gives up and when, and that a throw leaves
 * it as it was.
 */
#include "base/cache.h"
#include "unit.h"

#define KB ((size_t) 1024)

static LakeCache *
create(LakeArena *arena)
{
	return cache_create(lake_arena_create(arena, "cache"));
}

/* an entry of about that many bytes, whose value is that number */
static int *
add(LakeCache *cache, LakeArena *holder, const char *path, uint64_t version,
	int number, size_t size)
{
	LakeArena  *entry = lake_arena_create(holder, "entry");
	int		   *value = lake_alloc_raw(entry, size + sizeof *value);

	*value = number;
	cache_add(cache, holder, "number", path, version, entry, value);
	return value;
}

/* the number found, held for as long as the call; -1: none */
static int
look(LakeCache *cache, const char *path, uint64_t version)
{
	LakeArena  *holder = lake_arena_create(NULL, "holder");
	const int  *value = cache_find(cache, holder, "number", path, version);
	int			number = value == NULL ? -1 : *value;

	lake_arena_destroy(holder);
	return number;
}

static void
add_unheld(LakeCache *cache, const char *path, int number, size_t size)
{
	LakeArena  *holder = lake_arena_create(NULL, "holder");

	add(cache, holder, path, 1, number, size);
	lake_arena_destroy(holder);
}

static void
an_entry_is_found_by_kind_path_and_version(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");

	CHECK_INT(look(cache, "/a", 1), -1);
	add(cache, holder, "/a", 1, 10, 1);
	add(cache, holder, "/b", 1, 20, 1);
	CHECK_INT(look(cache, "/a", 1), 10);
	CHECK_INT(look(cache, "/b", 1), 20);
	CHECK_INT(look(cache, "/a", 2), -1);
	CHECK_INT(look(cache, "/", 1), -1);
	CHECK(cache_find(cache, holder, "text", "/a", 1) == NULL);
	lake_arena_destroy(holder);
	CHECK_INT(look(cache, "/a", 1), 10);
}

static void
kinds_are_compared_by_content(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	char		kind[] = "number";

	add(cache, holder, "/a", 1, 10, 1);
	CHECK(cache_find(cache, holder, kind, "/a", 1) != NULL);
	lake_arena_destroy(holder);
}

static void
hits_and_misses_are_counted(LakeArena *arena)
{
	LakeCache  *cache = create(arena);

	add_unheld(cache, "/a", 10, 1);
	look(cache, "/a", 1);
	look(cache, "/a", 1);
	look(cache, "/b", 1);
	CHECK_INT(cache_statistics(cache).hits, 2);
	CHECK_INT(cache_statistics(cache).misses, 1);
	CHECK_INT(cache_statistics(cache).entries, 1);
}

static void
the_least_recently_used_goes_first(LakeArena *arena)
{
	LakeCache  *cache = create(arena);

	cache_set_limit(cache, 500 * KB);
	add_unheld(cache, "/a", 1, 128 * KB);
	add_unheld(cache, "/b", 2, 128 * KB);
	look(cache, "/a", 1);
	add_unheld(cache, "/c", 3, 128 * KB);
	add_unheld(cache, "/d", 4, 128 * KB);
	CHECK_INT(look(cache, "/b", 1), -1);
	CHECK_INT(look(cache, "/a", 1), 1);
	CHECK_INT(look(cache, "/c", 1), 3);
	CHECK_INT(look(cache, "/d", 1), 4);
	CHECK(cache_statistics(cache).bytes <= 500 * KB);
}

static void
a_lower_limit_applies_at_once(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	size_t		before;

	add_unheld(cache, "/a", 1, 128 * KB);
	before = lake_allocated;
	add_unheld(cache, "/b", 2, 128 * KB);
	cache_set_limit(cache, 250 * KB);
	CHECK_INT(look(cache, "/a", 1), -1);
	CHECK_INT(look(cache, "/b", 1), 2);
	/* and its memory is free again */
	CHECK_INT(lake_allocated, before);
	cache_set_limit(cache, 0);
	CHECK_INT(cache_statistics(cache).entries, 0);
	CHECK_INT(cache_statistics(cache).bytes, 0);
}

static void
what_is_held_stays_beyond_the_limit(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *first = lake_arena_create(arena, "first holder");
	LakeArena  *second = lake_arena_create(arena, "second holder");
	int		   *value;

	cache_set_limit(cache, 0);
	value = add(cache, first, "/a", 1, 10, 128 * KB);
	CHECK(cache_find(cache, second, "number", "/a", 1) == value);
	add_unheld(cache, "/b", 20, 1);
	CHECK_INT(look(cache, "/b", 1), -1);
	lake_arena_destroy(first);
	CHECK_INT(*value, 10);
	CHECK_INT(look(cache, "/a", 1), 10);
	lake_arena_reset(second);
	CHECK_INT(look(cache, "/a", 1), -1);
	CHECK_INT(cache_statistics(cache).bytes, 0);
}

static void
a_holder_may_hold_an_entry_twice(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	int		   *value = add(cache, holder, "/a", 1, 10, 1);

	CHECK(cache_find(cache, holder, "number", "/a", 1) == value);
	cache_set_limit(cache, 0);
	CHECK_INT(*value, 10);
	lake_arena_reset(holder);
	CHECK_INT(cache_statistics(cache).entries, 0);
}

static void
another_version_takes_the_place(LakeArena *arena)
{
	LakeCache  *cache = create(arena);

	add_unheld(cache, "/a", 10, 1);
	add(cache, lake_arena_create(arena, "holder"), "/a", 2, 20, 1);
	CHECK_INT(look(cache, "/a", 1), -1);
	CHECK_INT(look(cache, "/a", 2), 20);
	CHECK_INT(cache_statistics(cache).entries, 1);
}

static void
a_replaced_entry_lives_as_long_as_its_holder(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *old = lake_arena_create(arena, "old holder");
	LakeArena  *fresh = lake_arena_create(arena, "new holder");
	int		   *value = add(cache, old, "/a", 1, 10, 128 * KB);

	add(cache, fresh, "/a", 2, 20, 1);
	CHECK_INT(look(cache, "/a", 1), -1);
	CHECK_INT(look(cache, "/a", 2), 20);
	CHECK_INT(*value, 10);
	CHECK_INT(cache_statistics(cache).entries, 2);
	CHECK(cache_statistics(cache).bytes >= 128 * KB);
	lake_arena_destroy(old);
	CHECK_INT(cache_statistics(cache).entries, 1);
	CHECK(cache_statistics(cache).bytes < 128 * KB);
	lake_arena_destroy(fresh);
	CHECK_INT(look(cache, "/a", 2), 20);
}

static void
the_same_version_may_be_added_again(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	int		   *value = add(cache, holder, "/a", 1, 10, 1);

	add_unheld(cache, "/a", 20, 1);
	CHECK_INT(look(cache, "/a", 1), 20);
	CHECK_INT(*value, 10);
	lake_arena_destroy(holder);
	CHECK_INT(cache_statistics(cache).entries, 1);
}

static void
an_entry_outlives_the_arena_it_was_made_in(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *maker = lake_arena_create(arena, "maker");
	LakeArena  *holder = lake_arena_create(arena, "holder");
	LakeArena  *entry = lake_arena_create(maker, "entry");
	int		   *value = lake_alloc(entry, sizeof *value);

	*value = 10;
	cache_add(cache, holder, "number", "/a", 1, entry, value);
	lake_arena_destroy(maker);
	CHECK_INT(*value, 10);
	CHECK_INT(look(cache, "/a", 1), 10);
	lake_arena_destroy(holder);
}

static void
a_grown_entry_is_measured_again(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	LakeArena  *entry = lake_arena_create(holder, "entry");
	int		   *value = lake_alloc(entry, sizeof *value);
	size_t		before;

	add_unheld(cache, "/old", 1, 128 * KB);
	cache_add(cache, holder, "number", "/a", 1, entry, value);
	before = cache_statistics(cache).bytes;
	cache_set_limit(cache, before + 100 * KB);
	lake_alloc(entry, 64 * KB);
	cache_measure(cache, value);
	CHECK_INT(cache_statistics(cache).bytes, before + 64 * KB);
	CHECK_INT(look(cache, "/old", 1), 1);
	lake_alloc(entry, 64 * KB);
	cache_measure(cache, value);
	CHECK(cache_statistics(cache).bytes < before);
	CHECK_INT(look(cache, "/old", 1), -1);
	CHECK_INT(cache_statistics(cache).entries, 1);
	/* what the cache does not have is no matter */
	cache_measure(cache, &before);
	lake_arena_destroy(holder);
}

/* more entries than buckets, in an order in which none is lost */
static void
a_thousand_entries_are_found(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");

	for (int i = 0; i < 1000; i++)
		add(cache, holder, lake_printf(arena, "/file%d", i), 1, i, 1);
	/* replaced ones are in no bucket when the table grows */
	for (int i = 0; i < 500; i++)
		add(cache, holder, lake_printf(arena, "/file%d", i), 2, 1000 + i, 1);
	for (int i = 0; i < 1000; i++)
		CHECK_INT(look(cache, lake_printf(arena, "/file%d", i),
					   i < 500 ? 2 : 1), i < 500 ? 1000 + i : i);
	CHECK_INT(cache_statistics(cache).entries, 1500);
	lake_arena_destroy(holder);
	CHECK_INT(cache_statistics(cache).entries, 1000);
	cache_set_limit(cache, 0);
	CHECK_INT(cache_statistics(cache).entries, 0);
}

/* whatever allocation fails: nothing was added, nothing is held, nothing leaks */
static void
a_throw_leaves_the_cache_as_it_was(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	int			failed = 0;

	/* as many as there are buckets: the next one lets the table grow */
	for (int i = 0; i < 64; i++)
		add_unheld(cache, lake_printf(arena, "/file%d", i), i, 1);
	for (size_t room = 0;; room += 8 * KB)
	{
		LakeArena  *maker = lake_arena_create(arena, "maker");
		LakeArena  *entry = lake_arena_create(maker, "entry");
		LakeArena  *own = lake_arena_create(maker, "own holder");
		int		   *value = lake_alloc(entry, 3 * KB);
		LakeTry		try;
		bool		added = false;

		lake_alloc_ceiling = lake_allocated + room;
		if (lake_try_begin(&try))
		{
			cache_add(cache, own, "number", "/fresh", 1, entry, value);
			lake_try_end(&try);
			added = true;
		}
		lake_alloc_ceiling = 0;
		CHECK_INT(cache_statistics(cache).entries, added ? 65 : 64);
		lake_arena_destroy(maker);
		if (added)
			break;
		failed++;
		CHECK_INT(look(cache, "/fresh", 1), -1);
		CHECK_INT(look(cache, "/file63", 1), 63);
	}
	CHECK(failed > 1);
	CHECK(cache_find(cache, holder, "number", "/fresh", 1) != NULL);
	lake_arena_destroy(holder);
	cache_set_limit(cache, 0);
	CHECK_INT(cache_statistics(cache).entries, 0);
	CHECK_INT(cache_statistics(cache).bytes, 0);
}

static void
a_find_that_throws_holds_nothing(LakeArena *arena)
{
	LakeCache  *cache = create(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");

	add_unheld(cache, "/a", 10, 1);
	lake_alloc_ceiling = 1;
	CHECK_THROWS(LAKE_ERROR_NO_MEMORY, "",
				 cache_find(cache, holder, "number", "/a", 1));
	lake_alloc_ceiling = 0;
	lake_arena_destroy(holder);
	cache_set_limit(cache, 0);
	CHECK_INT(cache_statistics(cache).entries, 0);
}

static const UnitTest tests[] = {
	UNIT(an_entry_is_found_by_kind_path_and_version),
	UNIT(kinds_are_compared_by_content),
	UNIT(hits_and_misses_are_counted),
	UNIT(the_least_recently_used_goes_first),
	UNIT(a_lower_limit_applies_at_once),
	UNIT(what_is_held_stays_beyond_the_limit),
	UNIT(a_holder_may_hold_an_entry_twice),
	UNIT(another_version_takes_the_place),
	UNIT(a_replaced_entry_lives_as_long_as_its_holder),
	UNIT(the_same_version_may_be_added_again),
	UNIT(an_entry_outlives_the_arena_it_was_made_in),
	UNIT(a_grown_entry_is_measured_again),
	UNIT(a_thousand_entries_are_found),
	UNIT(a_throw_leaves_the_cache_as_it_was),
	UNIT(a_find_that_throws_holds_nothing),
};

UNIT_MAIN(tests)
