/*
 * Local files: reading, listing, and everything that must not be opened.
 *
 * Each test has a directory of its own, LAKE below it being the allowed one.
 */
#include "io/io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cache.h"
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

	snprintf(command, sizeof command, "rm -rf '%s'", (char *) arg);
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
	if (mkdir(s->lake, 0700) != 0)
		abort();
	path_rules_allow(arena, &s->rules, s->lake);
	s->store = store_local_create(arena, &s->rules);
	return s;
}

static char *
at(LakeArena *arena, const Scratch *s, const char *name)
{
	return lake_printf(arena, "%s/%s", s->top, name);
}

static char *
write_file(LakeArena *arena, const Scratch *s, const char *name,
		   const char *text)
{
	char	   *path = at(arena, s, name);
	FILE	   *file = fopen(path, "w");

	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
	return path;
}

static char *
make_dir(LakeArena *arena, const Scratch *s, const char *name)
{
	char	   *path = at(arena, s, name);

	if (mkdir(path, 0700) != 0)
		abort();
	return path;
}

static char *
make_link(LakeArena *arena, const Scratch *s, const char *target,
		  const char *name)
{
	char	   *path = at(arena, s, name);

	if (symlink(target, path) != 0)
		abort();
	return path;
}

static bool
holds(LakeArena *arena, Scratch *s, const char *location, const char *text)
{
	LakeFile   *file = lake_file_open(s->store, arena, location, "test file");
	LakeBytes	bytes = lake_file_read_all(file, arena, 1000);

	return bytes.len == strlen(text) &&
		memcmp(bytes.data, text, bytes.len) == 0;
}

static int
count_descriptors(void)
{
	int			count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void
reads_a_file_by_path_and_uri(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "hello");

	CHECK(holds(arena, s, path, "hello"));
	CHECK(holds(arena, s, lake_printf(arena, "file:%s", path), "hello"));
	CHECK(holds(arena, s, lake_printf(arena, "file://%s", path), "hello"));
	CHECK_INT(s->store->bytes_read, 15);
	CHECK_INT(s->store->requests, 6);
}

static void
a_file_keeps_its_location_for_messages(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "hello");
	char	   *uri = lake_printf(arena, "file:%s", path);

	CHECK_STRING(lake_file_find(s->store, arena, uri)->location, uri);
}

static void
an_absent_file_is_a_value_or_missing(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = at(arena, s, "lake/none");

	write_file(arena, s, "lake/a", "x");
	CHECK(lake_file_find(s->store, arena, path) == NULL);
	CHECK(lake_file_find(s->store, arena, at(arena, s, "lake/a/b")) == NULL);
	CHECK_THROWS(LAKE_ERROR_MISSING, "data file",
				 lake_file_open(s->store, arena, path, "data file"));
	CHECK_THROWS(LAKE_ERROR_MISSING, path,
				 lake_file_open(s->store, arena, path, "data file"));
}

static void
ranges_are_filled_each_in_its_place(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "0123456789");
	LakeFile   *file = lake_file_open(s->store, arena, path, "file");
	char		one[4] = {0};
	char		two[3] = {0};
	LakeRange	ranges[] = {{7, 3, one}, {0, 2, two}, {10, 0, NULL}};

	lake_file_read_ranges(file, ranges, 3);
	CHECK_STRING(one, "789");
	CHECK_STRING(two, "01");
	CHECK_INT(s->store->bytes_read, 5);
}

static void
reading_past_the_end_is_corrupt(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "0123456789");
	LakeFile   *file = lake_file_open(s->store, arena, path, "file");
	char		out[16];

	CHECK_THROWS(LAKE_ERROR_CORRUPT, path, lake_file_read(file, 8, 3, out));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "byte 8",
				 lake_file_read(file, 8, 3, out));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "", lake_file_read(file, 11, 0, out));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 lake_file_read(file, UINT64_MAX, 1, out));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 lake_file_read(file, 1, SIZE_MAX, out));
}

static void
a_file_that_shrinks_while_open_is_corrupt(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "0123456789");
	LakeFile   *file = lake_file_open(s->store, arena, path, "file");
	char		out[16];

	CHECK_INT(truncate(path, 4), 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends at byte 4",
				 lake_file_read(file, 2, 5, out));
}

static void
reading_all_is_limited(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "0123456789");
	LakeFile   *file = lake_file_open(s->store, arena, path, "file");

	CHECK_INT(lake_file_read_all(file, arena, 10).len, 10);
	CHECK_THROWS(LAKE_ERROR_LIMIT, path, lake_file_read_all(file, arena, 9));
}

static void
an_empty_file_reads_as_no_bytes(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "");

	CHECK(holds(arena, s, path, ""));
}

static void
a_replaced_file_has_another_version(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/a", "old");
	LakeFile   *old = lake_file_find(s->store, arena, path);
	LakeFile   *same = lake_file_find(s->store, arena, path);
	LakeFile   *new;

	CHECK(same->version == old->version);
	if (rename(write_file(arena, s, "lake/b", "new"), path) != 0)
		abort();
	new = lake_file_find(s->store, arena, path);
	CHECK_INT(new->size, old->size);
	CHECK(new->version != old->version);
}

static void
inspecting_tells_what_opening_does(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/f", "one");
	char	   *link = make_link(arena, s, path, "lake/link");
	char	   *out = make_link(arena, s, "/etc/passwd", "lake/out");
	LakeFileStatus status;

	lake_file_inspect(s->store, arena, link, "data file", &status);
	CHECK_STRING(status.path, path);
	CHECK(status.version == lake_file_open(s->store, arena, path,
										   "data file")->version);
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside the allowed",
				 lake_file_inspect(s->store, arena, out, "data file",
								   &status));
	CHECK_THROWS(LAKE_ERROR_MISSING, "data file \"",
				 lake_file_inspect(s->store, arena, at(arena, s, "lake/none"),
								   "data file", &status));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not a regular file",
				 lake_file_inspect(s->store, arena, s->lake, "data file",
								   &status));
}

/* the directory is known by then, but not what its entries have become */
static void
each_file_is_inspected_anew(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *one = write_file(arena, s, "lake/1", "one");
	char	   *two = write_file(arena, s, "lake/2", "two");
	char	   *three = write_file(arena, s, "lake/3", "three");
	uint64_t	version;
	LakeFileStatus status;

	lake_file_inspect(s->store, arena, one, "data file", &status);
	version = status.version;
	lake_file_inspect(s->store, arena, two, "data file", &status);
	CHECK_STRING(status.path, two);
	CHECK(status.version != version);
	if (unlink(two) != 0 || unlink(three) != 0)
		abort();
	make_link(arena, s, "/etc/passwd", "lake/2");
	CHECK_THROWS(LAKE_ERROR_DENIED, "/etc/passwd",
				 lake_file_inspect(s->store, arena, two, "data file",
								   &status));
	CHECK_THROWS(LAKE_ERROR_MISSING, "",
				 lake_file_inspect(s->store, arena, three, "data file",
								   &status));
}

static void
a_linked_directory_is_inspected_where_it_leads(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *inside = make_dir(arena, s, "lake/d");
	char	   *outside = make_dir(arena, s, "outside");
	char	   *file = write_file(arena, s, "lake/d/f", "one");
	LakeFileStatus status;

	write_file(arena, s, "outside/f", "two");
	make_link(arena, s, file, "outside/back");
	make_link(arena, s, inside, "lake/in");
	make_link(arena, s, outside, "lake/out");
	lake_file_inspect(s->store, arena, at(arena, s, "lake/in/f"), "data file",
					  &status);
	CHECK_STRING(status.path, file);
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside the allowed",
				 lake_file_inspect(s->store, arena,
								   at(arena, s, "lake/out/f"), "data file",
								   &status));
	/* opening would follow this one */
	lake_file_inspect(s->store, arena, at(arena, s, "lake/out/back"),
					  "data file", &status);
	CHECK_STRING(status.path, file);
}

/* 1: found in the cache, 2: parsed; -1: refused */
static int
recall(LakeArena *arena, Scratch *s, const char *path)
{
	LakeArena  *holder = lake_arena_create(arena, "holder");
	LakeFileStatus status;
	volatile int result = -1;
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		result = 1;
		if (lake_file_recall(s->store, holder, path, "text", &status) == NULL)
		{
			LakeArena  *entry = lake_arena_create(holder, "entry");

			lake_file_keep(s->store, holder, "text", &status, entry,
						   lake_strdup(entry, path));
			result = 2;
		}
		lake_try_end(&try);
	}
	else
		result = -1;
	lake_arena_destroy(holder);
	return result;
}

static void
what_was_parsed_is_recalled_until_the_file_is_replaced(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = write_file(arena, s, "lake/f", "one");

	CHECK_INT(recall(arena, s, path), 2);
	CHECK_INT(recall(arena, s, path), 2);
	s->store->cache = cache_create(lake_arena_create(arena, "cache"));
	CHECK_INT(recall(arena, s, path), 2);
	CHECK_INT(recall(arena, s, path), 1);
	CHECK_INT(s->store->cache_hits, 1);
	CHECK_INT(recall(arena, s, make_link(arena, s, path, "lake/l")), 1);
	write_file(arena, s, "lake/f", "another");
	CHECK_INT(recall(arena, s, path), 2);
	CHECK_INT(recall(arena, s, path), 1);
	if (unlink(path) != 0)
		abort();
	CHECK_INT(recall(arena, s, path), -1);
}

/* what one store may read is in the cache for another one that may not */
static void
a_cached_file_is_denied_as_any_other(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	Scratch    *other = scratch(arena);
	char	   *path = write_file(arena, s, "lake/f", "one");
	char	   *link = make_link(arena, other, path, "lake/f");

	s->store->cache = cache_create(lake_arena_create(arena, "cache"));
	other->store->cache = s->store->cache;
	CHECK_INT(recall(arena, s, path), 2);
	CHECK_INT(recall(arena, other, path), -1);
	CHECK_INT(recall(arena, other, link), -1);
	CHECK_INT(recall(arena, s, path), 1);
}

static void
a_link_out_of_the_lake_is_denied(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *secret = write_file(arena, s, "secret", "s");
	char	   *link = make_link(arena, s, secret, "lake/link");

	CHECK_THROWS(LAKE_ERROR_DENIED, link,
				 lake_file_find(s->store, arena, link));
	CHECK_THROWS(LAKE_ERROR_DENIED, secret,
				 lake_file_find(s->store, arena, link));
	link = make_link(arena, s, "../secret", "lake/relative");
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_file_find(s->store, arena, link));
	link = make_link(arena, s, "relative", "lake/twice");
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_file_find(s->store, arena, link));
}

static void
a_linked_directory_out_of_the_lake_is_denied(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *dir = make_dir(arena, s, "other");
	LakeListEntry *entries;
	size_t		count;

	write_file(arena, s, "other/a", "x");
	make_link(arena, s, dir, "lake/dir");
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_file_find(s->store, arena, at(arena, s, "lake/dir/a")));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_store_list(s->store, arena, at(arena, s, "lake/dir"),
								 &entries, &count));
}

static void
a_link_to_a_longer_name_is_denied(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	make_dir(arena, s, "lakeside");
	write_file(arena, s, "lakeside/a", "x");
	make_link(arena, s, "../lakeside", "lake/side");
	CHECK_THROWS(LAKE_ERROR_DENIED, "lakeside",
				 lake_file_find(s->store, arena, at(arena, s, "lake/side/a")));
}

static void
a_link_within_the_lake_is_followed(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	write_file(arena, s, "lake/a", "x");
	CHECK(holds(arena, s, make_link(arena, s, "a", "lake/link"), "x"));
}

static void
a_prefix_may_be_a_link_itself(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	path_rules_allow(arena, &s->rules, at(arena, s, "alias"));
	make_dir(arena, s, "real");
	write_file(arena, s, "real/a", "x");
	make_link(arena, s, "real", "alias");
	CHECK(holds(arena, s, at(arena, s, "alias/a"), "x"));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 holds(arena, s, at(arena, s, "real/a"), "x"));
}

static void
a_prefix_may_appear_or_move_later(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *alias = at(arena, s, "alias");

	path_rules_allow(arena, &s->rules, alias);
	write_file(arena, s, "lake/a", "x");
	CHECK(holds(arena, s, at(arena, s, "lake/a"), "x"));
	make_dir(arena, s, "one");
	make_dir(arena, s, "two");
	write_file(arena, s, "one/a", "1");
	write_file(arena, s, "two/a", "2");
	make_link(arena, s, "one", "alias");
	CHECK(holds(arena, s, at(arena, s, "alias/a"), "1"));
	CHECK_INT(unlink(alias), 0);
	make_link(arena, s, "two", "alias");
	CHECK(holds(arena, s, at(arena, s, "alias/a"), "2"));
}

static void
dots_out_of_the_lake_are_denied_before_opening(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	write_file(arena, s, "secret", "s");
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_file_find(s->store, arena,
								at(arena, s, "lake/../secret")));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_file_find(s->store, arena,
								at(arena, s, "lake/%2e%2e/secret")));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_file_find(s->store, arena,
								lake_printf(arena, "file://%s/%%2E%%2e/secret",
											s->lake)));
}

static void
an_encoded_name_is_found_both_ways(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *uri;

	write_file(arena, s, "lake/d=a%20b", "as it stands");
	write_file(arena, s, "lake/d=a b", "decoded");
	uri = lake_printf(arena, "file://%s/d=a%%20b", s->lake);
	CHECK(holds(arena, s, uri, "as it stands"));
	CHECK_INT(unlink(at(arena, s, "lake/d=a%20b")), 0);
	CHECK(holds(arena, s, uri, "decoded"));
	/* a plain path is never encoded */
	CHECK(lake_file_find(s->store, arena,
						 at(arena, s, "lake/d=a%20b")) == NULL);
}

static void
characters_that_uris_reserve_are_part_of_a_name(LakeArena *arena)
{
	static const char *const names[] = {"lake/da#a=1", "lake/x?y=2", "lake/m;n"};
	Scratch    *s = scratch(arena);

	write_file(arena, s, "lake/da", "cut at the mark");
	write_file(arena, s, "lake/x", "cut at the mark");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
	{
		char	   *path = write_file(arena, s, names[i], names[i]);

		CHECK(holds(arena, s, path, names[i]));
		CHECK(holds(arena, s, lake_printf(arena, "file://%s", path),
					names[i]));
	}
	CHECK(holds(arena, s, lake_printf(arena, "file://%s/da%%23a%%3D1",
									  s->lake), names[0]));
}

static void
a_pipe_is_refused_without_waiting(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = at(arena, s, "lake/pipe");

	CHECK_INT(mkfifo(path, 0600), 0);
	alarm(10);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not a regular file",
				 lake_file_find(s->store, arena, path));
	alarm(0);
}

static void
sockets_directories_and_devices_are_refused(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char	   *path = at(arena, s, "lake/socket");

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	CHECK_INT(bind(fd, (struct sockaddr *) &address, sizeof address), 0);
	close(fd);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not a regular file",
				 lake_file_find(s->store, arena, path));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not a regular file",
				 lake_file_find(s->store, arena, s->lake));
	path_rules_allow(arena, &s->rules, "/dev");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not a regular file",
				 lake_file_find(s->store, arena, "/dev/zero"));
}

static void
a_link_to_a_device_is_denied(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *link = make_link(arena, s, "/dev/zero", "lake/zero");

	CHECK_THROWS(LAKE_ERROR_DENIED, "/dev/zero",
				 lake_file_find(s->store, arena, link));
}

static void
a_loop_of_links_is_an_error(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *path = make_link(arena, s, "loop", "lake/loop");

	CHECK_THROWS(LAKE_ERROR_IO, path, lake_file_find(s->store, arena, path));
}

static void
a_mapped_location_is_found(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	LakePathRules rules = {0};

	write_file(arena, s, "lake/a", "x");
	path_rules_add_map(arena, &rules,
					   lake_printf(arena, "s3://b/wh=%s,data/t=%s",
								   s->lake, s->lake));
	s->store = store_local_create(arena, &rules);
	CHECK(holds(arena, s, "s3://b/wh/a", "x"));
	CHECK(holds(arena, s, "data/t/a", "x"));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"s3\"",
				 holds(arena, s, "s3://b/other/a", "x"));
}

static void
a_list_is_sorted_and_names_files_and_directories(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	LakeListEntry *entries;
	size_t		count;

	write_file(arena, s, "lake/b", "12345");
	write_file(arena, s, "lake/a", "");
	make_dir(arena, s, "lake/c");
	make_link(arena, s, "c", "lake/d");
	make_link(arena, s, "nowhere", "lake/dangling");
	CHECK_INT(mkfifo(at(arena, s, "lake/pipe"), 0600), 0);
	CHECK(lake_store_list(s->store, arena, s->lake, &entries, &count));
	CHECK_INT(count, 4);
	CHECK_STRING(entries[0].name, "a");
	CHECK_STRING(entries[1].name, "b");
	CHECK_INT(entries[1].size, 5);
	CHECK(!entries[1].is_directory);
	CHECK_STRING(entries[2].name, "c");
	CHECK(entries[2].is_directory);
	CHECK_STRING(entries[3].name, "d");
	CHECK(entries[3].is_directory);
}

static void
an_absent_directory_lists_as_false(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	LakeListEntry *entries;
	size_t		count;

	CHECK(!lake_store_list(s->store, arena, at(arena, s, "lake/none"),
						   &entries, &count));
	write_file(arena, s, "lake/a", "x");
	CHECK(!lake_store_list(s->store, arena, at(arena, s, "lake/a"),
						   &entries, &count));
	CHECK_THROWS(LAKE_ERROR_DENIED, "outside",
				 lake_store_list(s->store, arena, s->top, &entries, &count));
	CHECK(lake_store_list(s->store, arena, at(arena, s, "lake"),
						  &entries, &count));
	CHECK_INT(count, 1);
}

static void
no_descriptor_outlives_its_arena(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	LakeArena  *inner = lake_arena_create(arena, "files");
	int			before = count_descriptors();
	LakeListEntry *entries;
	size_t		count;
	char	   *path = write_file(arena, s, "lake/a", "x");
	char	   *link = make_link(arena, s, "/dev/zero", "lake/zero");

	CHECK(lake_file_find(s->store, inner, path) != NULL);
	CHECK_INT(count_descriptors(), before + 1);
	CHECK(lake_store_list(s->store, inner, s->lake, &entries, &count));
	CHECK(lake_file_find(s->store, inner, at(arena, s, "lake/none")) == NULL);
	CHECK_INT(count_descriptors(), before + 1);
	CHECK_THROWS(LAKE_ERROR_DENIED, "", lake_file_find(s->store, inner, link));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 lake_file_find(s->store, inner, s->lake));
	lake_arena_destroy(inner);
	CHECK_INT(count_descriptors(), before);
}

static void
a_file_over_memory_reads_like_any_other(LakeArena *arena)
{
	LakeBytes	bytes = {(const uint8_t *) "0123456789", 10};
	LakeFile   *file = lake_file_from_memory(arena, "memory", bytes);
	char		out[4] = {0};

	CHECK_INT(file->size, 10);
	lake_file_read(file, 2, 3, out);
	CHECK_STRING(out, "234");
	CHECK_INT(lake_file_read_all(file, arena, 10).len, 10);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"memory\"",
				 lake_file_read(file, 8, 3, out));
}

static const UnitTest tests[] = {
	UNIT(reads_a_file_by_path_and_uri),
	UNIT(a_file_keeps_its_location_for_messages),
	UNIT(an_absent_file_is_a_value_or_missing),
	UNIT(ranges_are_filled_each_in_its_place),
	UNIT(reading_past_the_end_is_corrupt),
	UNIT(a_file_that_shrinks_while_open_is_corrupt),
	UNIT(reading_all_is_limited),
	UNIT(an_empty_file_reads_as_no_bytes),
	UNIT(a_replaced_file_has_another_version),
	UNIT(inspecting_tells_what_opening_does),
	UNIT(each_file_is_inspected_anew),
	UNIT(a_linked_directory_is_inspected_where_it_leads),
	UNIT(what_was_parsed_is_recalled_until_the_file_is_replaced),
	UNIT(a_cached_file_is_denied_as_any_other),
	UNIT(a_link_out_of_the_lake_is_denied),
	UNIT(a_linked_directory_out_of_the_lake_is_denied),
	UNIT(a_link_to_a_longer_name_is_denied),
	UNIT(a_link_within_the_lake_is_followed),
	UNIT(a_prefix_may_be_a_link_itself),
	UNIT(a_prefix_may_appear_or_move_later),
	UNIT(dots_out_of_the_lake_are_denied_before_opening),
	UNIT(an_encoded_name_is_found_both_ways),
	UNIT(characters_that_uris_reserve_are_part_of_a_name),
	UNIT(a_pipe_is_refused_without_waiting),
	UNIT(sockets_directories_and_devices_are_refused),
	UNIT(a_link_to_a_device_is_denied),
	UNIT(a_loop_of_links_is_an_error),
	UNIT(a_mapped_location_is_found),
	UNIT(a_list_is_sorted_and_names_files_and_directories),
	UNIT(an_absent_directory_lists_as_false),
	UNIT(no_descriptor_outlives_its_arena),
	UNIT(a_file_over_memory_reads_like_any_other),
};

UNIT_MAIN(tests)
