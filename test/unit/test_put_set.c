/*
 * Files that are written before anybody may see them.
 *
 * Each test has a directory of its own, LAKE below it being the allowed one.
 */
#include "io/io.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

typedef struct Scratch
{
	char	   *top;			/* the test's directory */
	char	   *lake;			/* top/lake, allowed */
	LakePathRules rules;
	LakeStore  *store;
} Scratch;

static void
remove_scratch(void *arg)
{
	char		command[256];

	snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'",
			 (char *) arg, (char *) arg);
	if (system(command) != 0)
		abort();
}

static Scratch *
scratch(LakeArena *arena)
{
	Scratch    *s = lake_alloc(arena, sizeof *s);
	const char *tmp = getenv("TMPDIR");

	s->top = lake_printf(arena, "%s/lake_unit_XXXXXX",
						 tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(s->top) == NULL)
		abort();
	lake_defer(arena, remove_scratch, s->top);
	s->lake = lake_printf(arena, "%s/lake", s->top);
	if (mkdir(s->lake, 0750) != 0)
		abort();
	path_rules_allow(arena, &s->rules, s->lake);
	s->store = store_local_create(arena, &s->rules);
	s->store->durable = true;
	s->store->puts = put_set_create(arena);
	return s;
}

static char *
at(LakeArena *arena, const Scratch *s, const char *name)
{
	return lake_printf(arena, "%s/%s", s->lake, name);
}

static LakeBytes
bytes(const char *text)
{
	LakeBytes	result = {(const uint8_t *) text, strlen(text)};

	return result;
}

static bool
exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int
count_entries(const char *path)
{
	DIR		   *dir = opendir(path);
	int			count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count - 2;
}

static bool
reads_as(LakeArena *arena, LakeStore *store, const char *location,
		 const char *text)
{
	LakeFile   *file = lake_file_open(store, arena, location, "file");
	LakeBytes	found = lake_file_read_all(file, arena, 1 << 20);

	return found.len == strlen(text) &&
		memcmp(found.data, text, found.len) == 0;
}

static void
a_file_is_seen_once_it_is_published(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = at(arena, s, "a/b/c.parquet");

	lake_store_put(s->store, path, bytes("hello"));
	CHECK(!exists(path));
	CHECK(reads_as(arena, s->store, path, "hello"));
	put_set_publish(s->store, s->store->puts);
	CHECK(exists(path));
	CHECK_INT(count_entries(at(arena, s, "a/b")), 1);
	CHECK(reads_as(arena, s->store, path, "hello"));
}

static void
pieces_of_any_size_make_one_file(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = at(arena, s, "big");
	LakeOutput *output = lake_output_create(s->store, path);
	size_t		size = 0;
	LakeBytes	all;

	for (size_t piece = 1; piece < 600000; piece = piece * 3 + 1)
	{
		uint8_t    *data = lake_alloc(arena, piece);

		for (size_t i = 0; i < piece; i++)
			data[i] = (uint8_t) ((size + i) * 7);
		lake_output_write(output, data, piece);
		size += piece;
		CHECK_INT(lake_output_size(output), size);
	}
	lake_output_finish(output);
	put_set_publish(s->store, s->store->puts);
	all = lake_file_read_all(lake_file_open(s->store, arena, path, "file"),
							 arena, 1 << 24);
	CHECK_INT(all.len, size);
	for (size_t i = 0; i < all.len && i < size; i++)
	{
		if (all.data[i] != (uint8_t) (i * 7))
		{
			CHECK_INT(all.data[i], (uint8_t) (i * 7));
			break;
		}
	}
}

static void
nothing_is_replaced(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	Scratch    *other = lake_alloc(arena, sizeof *other);
	char	   *path = at(arena, s, "v2.metadata.json");
	char	   *second = at(arena, s, "another");

	*other = *s;
	other->store = store_local_create(arena, &s->rules);
	other->store->puts = put_set_create(arena);
	lake_store_put(s->store, path, bytes("first"));
	lake_store_put(other->store, second, bytes("x"));
	lake_store_put(other->store, path, bytes("second"));
	put_set_publish(s->store, s->store->puts);
	CHECK_THROWS(LAKE_ERROR_IO, "exists already",
				 put_set_publish(other->store, other->store->puts));
	CHECK(reads_as(arena, s->store, path, "first"));
}

static void
an_arena_that_ends_takes_what_is_unpublished(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	LakeArena  *transaction = lake_arena_create(arena, "transaction");
	LakeOutput *open_output;

	s->store->puts = put_set_create(transaction);
	lake_store_put(s->store, at(arena, s, "kept"), bytes("1"));
	put_set_publish(s->store, s->store->puts);
	lake_store_put(s->store, at(arena, s, "finished"), bytes("2"));
	open_output = lake_output_create(s->store, at(arena, s, "open"));
	lake_output_write(open_output, "3", 1);
	CHECK_INT(count_entries(s->lake), 3);
	lake_arena_destroy(transaction);
	s->store->puts = NULL;
	CHECK_INT(count_entries(s->lake), 1);
	CHECK(exists(at(arena, s, "kept")));
}

static void
what_was_published_can_be_removed_again(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	lake_store_put(s->store, at(arena, s, "a"), bytes("1"));
	lake_store_put(s->store, at(arena, s, "b"), bytes("1"));
	lake_store_put(s->store, at(arena, s, "c"), bytes("1"));
	put_set_publish(s->store, s->store->puts);
	CHECK_INT(put_set_remove_published(s->store->puts, 2), 1);
	CHECK_INT(count_entries(s->lake), 1);
	CHECK_INT(put_set_remove_published(s->store->puts, 2), 0);
	CHECK_INT(count_entries(s->lake), 0);
}

static void
discarding_works_before_and_after_publishing(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = at(arena, s, "a");

	lake_store_put(s->store, path, bytes("1"));
	put_set_discard(s->store->puts, path);
	CHECK_INT(count_entries(s->lake), 0);
	lake_store_put(s->store, path, bytes("2"));
	put_set_publish(s->store, s->store->puts);
	put_set_discard(s->store->puts, path);
	CHECK_INT(count_entries(s->lake), 0);
	put_set_discard(s->store->puts, path);
}

static void
a_location_is_written_once(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = at(arena, s, "a");

	lake_store_put(s->store, path, bytes("1"));
	CHECK_THROWS(LAKE_ERROR_INVALID, "twice",
				 lake_store_put(s->store, path, bytes("2")));
}

static void
nothing_is_written_outside(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *outside = lake_printf(arena, "%s/outside", s->top);

	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_store_put(s->store, outside, bytes("1")));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_store_put(s->store, at(arena, s, "../outside"),
								bytes("1")));
	CHECK(!exists(outside));
}

static void
links_out_of_the_lake_are_not_followed(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *outside = lake_printf(arena, "%s/outside", s->top);

	if (mkdir(outside, 0700) != 0 ||
		symlink(outside, at(arena, s, "link")) != 0)
		abort();
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_store_put(s->store, at(arena, s, "link/a"),
								bytes("1")));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_store_put(s->store, at(arena, s, "link/new/a"),
								bytes("1")));
	CHECK_INT(count_entries(outside), 0);
}

static void
permissions_follow_the_directory(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	struct stat status;

	if (chmod(s->lake, 0755) != 0)
		abort();
	lake_store_put(s->store, at(arena, s, "new/a"), bytes("1"));
	put_set_publish(s->store, s->store->puts);
	CHECK(stat(at(arena, s, "new/a"), &status) == 0);
	CHECK_INT(status.st_mode & 0777, 0644);
	CHECK(stat(at(arena, s, "new"), &status) == 0);
	CHECK_INT(status.st_mode & 0777, 0755);
	if (chmod(s->lake, 0700) != 0)
		abort();
	lake_store_put(s->store, at(arena, s, "b"), bytes("1"));
	put_set_publish(s->store, s->store->puts);
	CHECK(stat(at(arena, s, "b"), &status) == 0);
	CHECK_INT(status.st_mode & 0777, 0600);
}

static void
a_store_without_a_set_is_read_only(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	s->store->puts = NULL;
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "read-only",
				 lake_store_put(s->store, at(arena, s, "a"), bytes("1")));
}

static const UnitTest tests[] = {
	UNIT(a_file_is_seen_once_it_is_published),
	UNIT(pieces_of_any_size_make_one_file),
	UNIT(nothing_is_replaced),
	UNIT(an_arena_that_ends_takes_what_is_unpublished),
	UNIT(what_was_published_can_be_removed_again),
	UNIT(discarding_works_before_and_after_publishing),
	UNIT(a_location_is_written_once),
	UNIT(nothing_is_written_outside),
	UNIT(links_out_of_the_lake_are_not_followed),
	UNIT(permissions_follow_the_directory),
	UNIT(a_store_without_a_set_is_read_only),
};

UNIT_MAIN(tests)
