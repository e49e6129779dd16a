/*
 * Local files that are written.
 *
 * A file is written under a temporary name in its own directory, a dot file,
 * which no engine takes for data.  Publishing waits for the disk, then links
 * the final name, which replaces nothing, and waits for the directories: after
 * a crash, what has a final name is complete.
 *
 * A file is open while bytes go to it and no longer: a transaction may write
 * to a thousand partitions at a time, with descriptors for some hundred.
 *
 * Directories are walked by descriptors from an ancestor whose real place is
 * below an allowed prefix; links are not followed on the way down.  New files
 * and directories get the permissions that their directory gives: other
 * engines' users read what the server writes, or do not, as its owner set up.
 */
#include "io/io_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

/* small writes are put together up to this size, a file */
#define WRITE_BUFFER	((size_t) 32 << 10)
#define WRITE_PIECE		((size_t) 8 << 20)

typedef struct LocalOutput
{
	LakeOutput	output;			/* first: the two are cast to each other */
	LakeArena  *arena;
	char	   *directory;		/* of both names, without a slash at the end */
	char	   *name;			/* the final one */
	char	   *temporary;		/* in the directory */
	dev_t		device;			/* which file it is, under whatever name */
	ino_t		inode;
	int			fd;				/* -1 while nothing is written */
	bool		acquired;
	LakeBuffer	buffer;			/* not written yet */
} LocalOutput;

/* a directory's descriptor, closed by its arena at the latest */
typedef struct Directory
{
	int			fd;
	bool		acquired;
} Directory;

static void
close_directory(void *arg)
{
	Directory  *directory = arg;

	if (directory->fd >= 0)
		close(directory->fd);
	directory->fd = -1;
	if (directory->acquired)
		lake_fd_release();
	directory->acquired = false;
}

static void
close_output(void *arg)
{
	LocalOutput *output = arg;

	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	if (output->acquired)
		lake_fd_release();
	output->acquired = false;
}

/* the cure belongs to what users can do something about */
static _Noreturn void
throw_write(int error, const char *what, const char *path)
{
	if (error == ENOSPC || error == EDQUOT)
		lake_throw_hint(LAKE_ERROR_IO,
						"Free space on the file system, then run the transaction again.",
						"could not %s \"%s\": %s", what, path,
						strerror(error));
	if (error == EACCES || error == EPERM || error == EROFS)
		lake_throw_hint(LAKE_ERROR_DENIED,
						"The operating system's user that runs the server needs to write there.",
						"could not %s \"%s\": %s", what, path,
						strerror(error));
	local_throw_errno(error, what, path);
}

/* ---- directories ---- */

/* the directory as a path; "" is the root */
static int
open_path(const char *directory)
{
	return open(directory[0] == '\0' ? "/" : directory,
				O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Makes the next component of path below fd, which it replaces.  Another session
 * may make it at the same time.
 */
static void
descend(Directory *directory, const char *path, char *component)
{
	struct stat parent;
	mode_t		umask_before;
	int			error = 0;
	int			fd;

	if (fstat(directory->fd, &parent) < 0)
		local_throw_errno(errno, "inspect the directory of", path);
	/* at once: others take its permissions for theirs as soon as it is there */
	umask_before = umask(0);
	if (mkdirat(directory->fd, component, parent.st_mode & 01777) < 0)
		error = errno;
	(void) umask(umask_before);
	if (error != 0 && error != EEXIST)
		throw_write(error, "make the directory of", path);
	fd = openat(directory->fd, component,
				O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		throw_write(errno, "open the directory of", path);
	close(directory->fd);
	directory->fd = fd;
}

/*
 * Opens a directory below the store's prefixes; with make, what is missing is
 * made.
 */
static void
open_directory(LakeStore *store, LakeArena *arena, Directory *directory,
			   const char *path, bool make)
{
	char		real[PATH_MAX];
	char	   *copy = lake_strdup(arena, path);
	size_t		len = strlen(copy);
	char	   *component;

	directory->fd = -1;
	lake_defer(arena, close_directory, directory);
	lake_fd_acquire();
	directory->acquired = true;
	for (;;)
	{
		directory->fd = open_path(copy);
		if (directory->fd >= 0)
			break;
		if (errno != ENOENT || !make || copy[0] == '\0')
			throw_write(errno, "open the directory", path);
		*strrchr(copy, '/') = '\0';
	}
	local_check_place((LocalStore *) store, arena, directory->fd, path, real);
	for (size_t at = strlen(copy); at < len;)
	{
		size_t		end = at + 1 + strcspn(path + at + 1, "/");

		component = lake_strndup(arena, path + at + 1, end - at - 1);
		descend(directory, path, component);
		at = end;
	}
}

/* ---- a file ---- */

static void
make_temporary(LocalOutput *output)
{
	uint64_t	random;

	if (getrandom(&random, sizeof random, 0) != (ssize_t) sizeof random)
		lake_throw(LAKE_ERROR_IO, "could not get random bytes: %s",
				   strerror(errno));
	output->temporary = lake_printf(output->arena, ".%.200s.%016llx.tmp",
									output->name,
									(unsigned long long) random);
	output->output.temporary = lake_printf(output->arena, "%s/%s",
										   output->directory,
										   output->temporary);
}

/* the new file, with the permissions that its directory gives */
static void
create_temporary(LocalOutput *output, const Directory *directory,
				 const char *path)
{
	struct stat status;
	mode_t		umask_before;
	int			error;

	if (fstat(directory->fd, &status) < 0)
		local_throw_errno(errno, "inspect the directory of", path);
	umask_before = umask(0);
	output->fd = openat(directory->fd, output->temporary,
						O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
						(status.st_mode & 0666) | 0600);
	error = errno;
	(void) umask(umask_before);
	if (output->fd < 0)
		throw_write(error, "create", path);
	if (fstat(output->fd, &status) < 0)
	{
		error = errno;
		(void) unlinkat(directory->fd, output->temporary, 0);
		local_throw_errno(error, "inspect", path);
	}
	output->device = status.st_dev;
	output->inode = status.st_ino;
}

LakeOutput *
local_create(LakeStore *store, LakeArena *arena, const char *path)
{
	LocalOutput *output = lake_alloc(arena, sizeof *output);
	LakeArena  *scratch = lake_arena_create(arena, "lake directories");
	Directory	directory;
	const char *slash = strrchr(path, '/');

	output->arena = arena;
	output->fd = -1;
	output->directory = lake_strndup(arena, path, (size_t) (slash - path));
	output->name = lake_strdup(arena, slash + 1);
	if (output->name[0] == '\0' || strlen(output->name) > NAME_MAX)
		lake_throw(LAKE_ERROR_INVALID, "\"%s\" cannot be a file's name", path);
	make_temporary(output);
	buffer_init(&output->buffer, arena);
	open_directory(store, scratch, &directory, output->directory, true);
	lake_defer(arena, close_output, output);
	lake_fd_acquire();
	output->acquired = true;
	create_temporary(output, &directory, path);
	close_output(output);
	lake_arena_destroy(scratch);
	return &output->output;
}

/* the file that was created, or none */
static void
open_output(LocalOutput *output)
{
	struct stat status;

	lake_fd_acquire();
	output->acquired = true;
	output->fd = open(output->output.temporary,
					  O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (output->fd < 0 || fstat(output->fd, &status) < 0)
		throw_write(errno, "open", output->output.location);
	if (status.st_dev != output->device || status.st_ino != output->inode)
		lake_throw(LAKE_ERROR_IO, "file \"%s\" was replaced while it was written",
				   output->output.location);
}

static void
write_out(LocalOutput *output, const uint8_t *data, size_t size)
{
	while (size > 0)
	{
		ssize_t		written = write(output->fd, data,
									size < WRITE_PIECE ? size : WRITE_PIECE);

		if (written < 0 && errno != EINTR)
			throw_write(errno, "write", output->output.location);
		if (written > 0)
		{
			data += written;
			size -= (size_t) written;
		}
		lake_check_interrupts();
	}
}

/* what is buffered, and more */
static void
flush(LocalOutput *output, const void *data, size_t size)
{
	open_output(output);
	write_out(output, output->buffer.data, output->buffer.len);
	output->buffer.len = 0;
	write_out(output, data, size);
}

/* some file systems say no earlier that there is no room */
static void
close_written(LocalOutput *output)
{
	int			fd = output->fd;

	output->fd = -1;
	close_output(output);
	if (close(fd) < 0)
		throw_write(errno, "write", output->output.location);
}

void
local_write(LakeOutput *out, const void *data, size_t size)
{
	LocalOutput *output = (LocalOutput *) out;

	if (output->buffer.len + size <= WRITE_BUFFER)
	{
		buffer_append(&output->buffer, data, size);
		return;
	}
	flush(output, data, size);
	close_written(output);
}

/* the disk can begin: publishing waits for all files together */
void
local_finish(LakeOutput *out)
{
	LocalOutput *output = (LocalOutput *) out;

	flush(output, NULL, 0);
	lake_free(output->arena, output->buffer.data);
	buffer_init(&output->buffer, output->arena);
	if (output->output.store->durable)
		(void) sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close_written(output);
}

void
local_discard(LakeOutput *out)
{
	LocalOutput *output = (LocalOutput *) out;

	close_output(output);
	(void) unlink(output->output.temporary);
}

/* does not throw: it is called when a transaction has failed already */
bool
local_remove(LakeStore *store, const char *path)
{
	const char *slash = strrchr(path, '/');
	char		directory[PATH_MAX];
	char		proc_path[64];
	char		real[PATH_MAX];
	ssize_t		len;
	bool		done = false;
	int			fd;

	if (slash - path >= PATH_MAX)
		return false;
	memcpy(directory, path, (size_t) (slash - path));
	directory[slash - path] = '\0';
	fd = open_path(directory);
	if (fd < 0)
		return errno == ENOENT;
	snprintf(proc_path, sizeof proc_path, "/proc/self/fd/%d", fd);
	len = readlink(proc_path, real, sizeof real - 1);
	if (len > 0)
	{
		real[len] = '\0';
		done = local_is_allowed((LocalStore *) store, real) &&
			(unlinkat(fd, slash + 1, 0) == 0 || errno == ENOENT);
	}
	close(fd);
	return done;
}

/* ---- publishing ---- */

static void
sync_files(LakeOutput *const *outputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		int			fd = open(outputs[i]->temporary,
							  O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		int			error = 0;

		if (fd < 0)
			throw_write(errno, "open", outputs[i]->location);
		/* a failure is final: nobody will ever look at these pages again */
		if (fsync(fd) < 0)
			error = errno;
		close(fd);
		if (error != 0)
			throw_write(error, "flush to disk", outputs[i]->location);
		lake_check_interrupts();
	}
}

static void
sync_directory(const char *directory, bool must_open)
{
	int			fd = open(directory[0] == '\0' ? "/" : directory,
						  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int			error = 0;

	if (fd < 0 && errno == EACCES && !must_open)
		return;
	if (fd < 0)
		throw_write(errno, "open directory", directory);
	/* file systems that cannot do it say EINVAL, as PostgreSQL knows too */
	if (fsync(fd) < 0 && errno != EINVAL && errno != EBADF)
		error = errno;
	close(fd);
	if (error != 0)
		throw_write(error, "flush directory to disk", directory);
}

/*
 * A file's directory and all above it, up to the allowed prefix.  That they
 * were there before does not say that they are on disk: another session may
 * have made them a moment ago and not be that far, or have failed.  What is
 * there costs next to nothing.  done: a directory whose turn was before, NULL:
 * none.
 */
static void
sync_directories(LakeArena *arena, const LakePathRules *rules,
				 const char *directory, const char *done)
{
	char	   *path = lake_strdup(arena, directory);

	for (;;)
	{
		sync_directory(path, strcmp(path, directory) == 0);
		for (int i = 0; i < rules->allowed_count; i++)
		{
			if (strcmp(path, rules->allowed[i]) == 0)
				return;
		}
		if (path[0] == '\0')
			return;
		*strrchr(path, '/') = '\0';
		if (done != NULL && path_is_below(done, path))
			return;
	}
}

static int
compare_directories(const void *a, const void *b)
{
	const LocalOutput *left = *(LocalOutput *const *) a;
	const LocalOutput *right = *(LocalOutput *const *) b;

	return strcmp(left->directory, right->directory);
}

/* links in a directory that has been checked again */
static void
link_file(const Directory *directory, const LocalOutput *output)
{
	if (linkat(directory->fd, output->temporary, directory->fd, output->name,
			   0) < 0)
	{
		if (errno == EEXIST)
			lake_throw(LAKE_ERROR_IO, "file \"%s\" exists already",
					   output->output.location);
		throw_write(errno, "name", output->output.location);
	}
	(void) unlinkat(directory->fd, output->temporary, 0);
}

/*
 * What has been linked when a later file fails.  Names are its own: the outputs
 * may be gone before it.
 */
typedef struct Links
{
	char	  **paths;
	size_t		count;
	bool		is_complete;
} Links;

static void
undo_links(void *arg)
{
	const Links *links = arg;

	for (size_t i = 0; !links->is_complete && i < links->count; i++)
		(void) unlink(links->paths[i]);
}

/* is it the first of its directory? */
static bool
is_first(LocalOutput *const *outputs, size_t i)
{
	return i == 0 ||
		strcmp(outputs[i - 1]->directory, outputs[i]->directory) != 0;
}

/* outputs are sorted by directory */
static void
link_files(LakeStore *store, LakeArena *arena, LocalOutput *const *outputs,
		   size_t count, Links *links)
{
	Directory  *directory = NULL;

	for (size_t i = 0; i < count; i++)
	{
		if (is_first(outputs, i))
		{
			if (directory != NULL)
				close_directory(directory);
			directory = lake_alloc(arena, sizeof *directory);
			open_directory(store, arena, directory, outputs[i]->directory,
						   false);
		}
		links->paths[i] = lake_printf(arena, "%s/%s", outputs[i]->directory,
									  outputs[i]->name);
		link_file(directory, outputs[i]);
		links->count = i + 1;
	}
}

void
local_publish(LakeStore *store, LakeOutput *const *outputs, size_t count)
{
	LakeArena  *scratch = lake_arena_create(((LocalStore *) store)->arena,
											"lake publish");
	LocalOutput **sorted = lake_alloc_array(scratch, count, sizeof *sorted);
	Links	   *links = lake_alloc(scratch, sizeof *links);

	if (store->durable)
		sync_files(outputs, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = (LocalOutput *) outputs[i];
	qsort(sorted, count, sizeof *sorted, compare_directories);
	links->paths = lake_alloc_array(scratch, count, sizeof *links->paths);
	lake_defer(scratch, undo_links, links);
	link_files(store, scratch, sorted, count, links);
	for (size_t i = 0; store->durable && i < count; i++)
	{
		if (is_first(sorted, i))
			sync_directories(scratch, store->rules, sorted[i]->directory,
							 i == 0 ? NULL : sorted[i - 1]->directory);
	}
	links->is_complete = true;
	lake_arena_destroy(scratch);
}
