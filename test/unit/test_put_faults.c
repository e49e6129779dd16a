/*
 * What writing does when the system refuses, and what it asks of the system in
 * which order.
 *
 * The program has functions of its own under the names of system calls: they
 * write down what they are asked for, and fail when a test wants it.
 */
#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

typedef enum Call
{
	CALL_WRITE,
	CALL_FSYNC,
	CALL_LINK
} Call;

/* the n-th call of a kind from now on fails (0: none does) */
static int	fail_at[3];
static int	fail_with;

/* what has been done, one a line: "fsync /path", "link name" */
static char done[16384];

static void
note(const char *what, const char *name)
{
	size_t		len = strlen(done);

	snprintf(done + len, sizeof done - len, "%s %s\n", what, name);
}

static bool
fails(Call call)
{
	if (fail_at[call] == 0 || --fail_at[call] > 0)
		return false;
	errno = fail_with;
	return true;
}

static void
note_descriptor(const char *what, int fd)
{
	char		link[64];
	char		path[4096];
	ssize_t		len;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof path - 1);
	path[len < 0 ? 0 : len] = '\0';
	note(what, path);
}

ssize_t
write(int fd, const void *data, size_t size)
{
	if (fd > STDERR_FILENO && fails(CALL_WRITE))
		return -1;
	return syscall(SYS_write, fd, data, size);
}

int
fsync(int fd)
{
	note_descriptor("fsync", fd);
	if (fails(CALL_FSYNC))
		return -1;
	return 0;
}

int
linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	note("link", to);
	if (fails(CALL_LINK))
		return -1;
	return (int) syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

/* ---- a lake ---- */

typedef struct Scratch
{
	LakeArena  *arena;
	char	   *top;
	char	   *lake;			/* allowed */
	LakePathRules rules;
	LakeArena  *transaction;	/* has the store, and in another arena the set */
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

	s->arena = arena;
	s->top = lake_printf(arena, "%s/lake_unit_XXXXXX",
						 tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(s->top) == NULL || chmod(s->top, 0755) != 0)
		abort();
	lake_defer(arena, remove_scratch, s->top);
	s->lake = lake_printf(arena, "%s/lake", s->top);
	if (mkdir(s->lake, 0755) != 0)
		abort();
	path_rules_allow(arena, &s->rules, s->lake);
	s->transaction = lake_arena_create(arena, "transaction");
	s->store = store_local_create(lake_arena_create(s->transaction, "store"),
								  &s->rules);
	s->store->durable = true;
	s->store->puts = put_set_create(s->transaction);
	memset(fail_at, 0, sizeof fail_at);
	done[0] = '\0';
	return s;
}

static char *
at(const Scratch *s, const char *name)
{
	return lake_printf(s->arena, "%s/%s", s->lake, name);
}

static void
put(const Scratch *s, const char *name, const char *text)
{
	LakeBytes	bytes = {(const uint8_t *) text, strlen(text)};

	lake_store_put(s->store, at(s, name), bytes);
}

static void
fail(Call call, int nth, int error)
{
	fail_at[call] = nth;
	fail_with = error;
}

/* entries of all directories of the lake that are not directories */
static int
count_files(const char *path)
{
	DIR		   *dir = opendir(path);
	struct dirent *entry;
	int			count = 0;

	if (dir == NULL)
		abort();
	while ((entry = readdir(dir)) != NULL)
	{
		char		below[4096];

		if (strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			count += count_files(below);
		else
			count++;
	}
	closedir(dir);
	return count;
}

static void
end_transaction(Scratch *s)
{
	lake_arena_destroy(s->transaction);
	s->store = NULL;
}

/* where in the order of things something was done; fails if it was not */
static size_t
when(const Scratch *s, const char *what, const char *name)
{
	const char *line = lake_printf(s->arena, "%s %s\n", what, name);
	const char *found = strstr(done, line);

	CHECK(found != NULL);
	return found == NULL ? 0 : (size_t) (found - done);
}

/* ---- tests ---- */

static void
a_full_disk_leaves_nothing(LakeArena *arena)
{
	static const int errors[] = {ENOSPC, EDQUOT};

	for (size_t i = 0; i < 2; i++)
	{
		Scratch    *s = scratch(arena);

		put(s, "a", "first");
		fail(CALL_WRITE, 1, errors[i]);
		CHECK_THROWS_HINT(LAKE_ERROR_IO, "lake/b", "Free space",
						  put(s, "b", "second"));
		end_transaction(s);
		CHECK_INT(count_files(s->lake), 0);
	}
}

static void
a_limit_on_file_sizes_is_an_error(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	struct rlimit old;
	struct rlimit small;
	LakeOutput *output = lake_output_create(s->store, at(s, "a"));
	uint8_t    *data = lake_alloc(arena, 100000);

	if (getrlimit(RLIMIT_FSIZE, &old) != 0)
		abort();
	small = old;
	small.rlim_cur = 50000;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		abort();
	CHECK_THROWS(LAKE_ERROR_IO, "lake/a",
				 lake_output_write(output, data, 100000));
	if (setrlimit(RLIMIT_FSIZE, &old) != 0)
		abort();
	end_transaction(s);
	CHECK_INT(count_files(s->lake), 0);
}

static void
a_directory_that_cannot_be_written_is_denied(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	bool		is_root = geteuid() == 0;

	if (chmod(s->lake, 0555) != 0 || (is_root && seteuid(65534) != 0))
		abort();
	CHECK_THROWS_HINT(LAKE_ERROR_DENIED, "lake/a", "user that runs",
					  put(s, "a", "1"));
	CHECK_THROWS_HINT(LAKE_ERROR_DENIED, "lake/new", "user that runs",
					  put(s, "new/a", "1"));
	if (is_root && seteuid(0) != 0)
		abort();
}

static void
nothing_has_its_name_before_all_is_on_disk(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	size_t		first_link;
	int			file_count = 0;

	put(s, "t/data/p=1/x", "1");
	put(s, "t/data/p=2/y", "2");
	put(s, "t/metadata/z", "3");
	CHECK_STRING(done, "");
	put_set_publish(s->store, s->store->puts);
	first_link = (size_t) (strstr(done, "link ") - done);
	/* the files' fsyncs name temporary files */
	for (const char *line = done; *line != '\0';
		 line = strchr(line, '\n') + 1)
	{
		bool		is_file = strncmp(line, "fsync", 5) == 0 &&
			strstr(line, ".tmp\n") != NULL &&
			strchr(line, '\n') == strstr(line, ".tmp\n") + 4;

		CHECK(!is_file || (size_t) (line - done) < first_link);
		file_count += is_file;
	}
	CHECK_INT(file_count, 3);
	CHECK(when(s, "link", "x") < when(s, "fsync", at(s, "t/data/p=1")));
	CHECK(when(s, "link", "y") < when(s, "fsync", at(s, "t/data/p=2")));
	CHECK(when(s, "link", "z") < when(s, "fsync", at(s, "t/metadata")));
}

/* how often something was done */
static int
times(const Scratch *s, const char *what, const char *name)
{
	const char *line = lake_printf(s->arena, "%s %s\n", what, name);
	int			count = 0;

	for (const char *found = done; (found = strstr(found, line)) != NULL;
		 found++)
		count++;
	return count;
}

static void
every_directory_up_to_the_prefix_is_flushed_once(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	/* somebody else has made it, and perhaps not flushed it */
	if (mkdir(at(s, "t"), 0755) != 0 || mkdir(at(s, "t/data"), 0755) != 0)
		abort();
	put(s, "t/data/p=1/x", "1");
	put(s, "t/data/p=1/y", "2");
	put(s, "t/data/p=2/x", "2");
	put(s, "t/metadata/z", "3");
	put_set_publish(s->store, s->store->puts);
	CHECK_INT(times(s, "fsync", at(s, "t/data/p=1")), 1);
	CHECK_INT(times(s, "fsync", at(s, "t/data/p=2")), 1);
	CHECK_INT(times(s, "fsync", at(s, "t/data")), 1);
	CHECK_INT(times(s, "fsync", at(s, "t/metadata")), 1);
	CHECK_INT(times(s, "fsync", at(s, "t")), 1);
	CHECK_INT(times(s, "fsync", s->lake), 1);
	CHECK_INT(times(s, "fsync", s->top), 0);
}

static void
a_store_that_need_not_be_durable_waits_for_nothing(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	s->store->durable = false;
	put(s, "t/x", "1");
	put_set_publish(s->store, s->store->puts);
	CHECK_STRING(done, "link x\n");
}

static void
a_file_that_does_not_reach_the_disk_is_not_named(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	put(s, "a", "1");
	put(s, "b", "2");
	fail(CALL_FSYNC, 2, EIO);
	CHECK_THROWS(LAKE_ERROR_IO, "flush to disk",
				 put_set_publish(s->store, s->store->puts));
	CHECK(strstr(done, "link") == NULL);
	end_transaction(s);
	CHECK_INT(count_files(s->lake), 0);
}

static void
a_directory_that_does_not_reach_the_disk_takes_names_back(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	put(s, "p/a", "1");
	put(s, "q/b", "2");
	fail(CALL_FSYNC, 4, EIO);
	CHECK_THROWS(LAKE_ERROR_IO, "flush directory",
				 put_set_publish(s->store, s->store->puts));
	CHECK(strstr(done, "link b") != NULL);
	end_transaction(s);
	CHECK_INT(count_files(s->lake), 0);
}

static void
names_are_all_given_or_none(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	for (int i = 0; i < 5; i++)
		put(s, lake_printf(arena, "p%d/f", i), "1");
	fail(CALL_LINK, 4, ENOSPC);
	CHECK_THROWS_HINT(LAKE_ERROR_IO, "p3/f", "Free space",
					  put_set_publish(s->store, s->store->puts));
	end_transaction(s);
	CHECK_INT(count_files(s->lake), 0);
}

/* the other way round: the set's memory is gone before the store's */
static void
names_are_taken_back_without_the_set(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	LakeArena  *set_arena = lake_arena_create(s->transaction, "set");

	s->store->puts = put_set_create(set_arena);
	put(s, "a", "1");
	put(s, "b", "2");
	fail(CALL_LINK, 2, EIO);
	CHECK_THROWS(LAKE_ERROR_IO, "lake/b",
				 put_set_publish(s->store, s->store->puts));
	lake_arena_destroy(set_arena);
	end_transaction(s);
	CHECK_INT(count_files(s->lake), 0);
}

static void
a_thousand_files_are_open_with_few_descriptors(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	struct rlimit old;
	struct rlimit small;
	LakeOutput *outputs[1000];
	uint8_t    *data = lake_alloc(arena, 40000);

	if (getrlimit(RLIMIT_NOFILE, &old) != 0)
		abort();
	small = old;
	small.rlim_cur = 40;
	if (setrlimit(RLIMIT_NOFILE, &small) != 0)
		abort();
	for (int i = 0; i < 1000; i++)
		outputs[i] = lake_output_create(s->store,
										at(s, lake_printf(arena, "p=%d/f",
														  i)));
	for (int pass = 0; pass < 3; pass++)
	{
		for (int i = 0; i < 1000; i++)
			lake_output_write(outputs[i], data, pass == 1 ? 40000 : 10);
	}
	for (int i = 0; i < 1000; i++)
		lake_output_finish(outputs[i]);
	s->store->durable = false;
	put_set_publish(s->store, s->store->puts);
	if (setrlimit(RLIMIT_NOFILE, &old) != 0)
		abort();
	CHECK_INT(count_files(s->lake), 1000);
	CHECK_INT(lake_file_open(s->store, arena, at(s, "p=999/f"), "file")->size,
			  40020);
}

static void
a_file_that_is_exchanged_meanwhile_is_refused(LakeArena *arena)
{
	Scratch    *s = scratch(arena);
	char	   *other = at(s, "other");
	LakeOutput *output = lake_output_create(s->store, at(s, "a"));
	int			fd = open(other, O_CREAT | O_WRONLY, 0644);

	if (fd < 0 || close(fd) != 0 || rename(other, output->temporary) != 0)
		abort();
	CHECK_THROWS(LAKE_ERROR_IO, "was replaced", lake_output_finish(output));
}

static void
the_end_of_a_transaction_removes_few_files(LakeArena *arena)
{
	Scratch    *s = scratch(arena);

	for (int i = 0; i < 100; i++)
		put(s, lake_printf(arena, "f%d", i), "1");
	end_transaction(s);
	CHECK_INT(count_files(s->lake), 100 - 64);
}

static const UnitTest tests[] = {
	UNIT(a_full_disk_leaves_nothing),
	UNIT(a_limit_on_file_sizes_is_an_error),
	UNIT(a_directory_that_cannot_be_written_is_denied),
	UNIT(nothing_has_its_name_before_all_is_on_disk),
	UNIT(every_directory_up_to_the_prefix_is_flushed_once),
	UNIT(a_store_that_need_not_be_durable_waits_for_nothing),
	UNIT(a_file_that_does_not_reach_the_disk_is_not_named),
	UNIT(a_directory_that_does_not_reach_the_disk_takes_names_back),
	UNIT(names_are_all_given_or_none),
	UNIT(names_are_taken_back_without_the_set),
	UNIT(a_thousand_files_are_open_with_few_descriptors),
	UNIT(a_file_that_is_exchanged_meanwhile_is_refused),
	UNIT(the_end_of_a_transaction_removes_few_files),
};

UNIT_MAIN(tests)
