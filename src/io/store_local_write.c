/*
 * Local files that are written.
 *
 * A file is written under a temporary name in its own directory, a dot file,
 * which no engine takes for data.  Publishing waits for the disk, then links
 * the final name, which replaces nothing, and waits for the directories: after
 * a crash, what has a final name is complete.
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

/* small writes are put together up to this size */
#define WRITE_BUFFER	((size_t) 256 << 10)
#define WRITE_PIECE		((size_t) 8 << 20)

typedef struct LocalOutput
{
	LakeOutput	output;			/* first: the two are cast to each other */
	LakeArena  *arena;
	char	   *directory;		/* of both names, without a slash at the end */
	char	   *name;			/* the final one */
	char	   *temporary;		/* in the directory */
	int			fd;				/* -1 once finished */
	bool		acquired;
	LakeBuffer	buffer;			/* not written yet */

	/*
	 * The last directory that existed before; NULL: all did.  What is below
	 * it must reach the disk with the file.
	 */
	char	   *made_below;
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
	bool		made;
	int			fd;

	if (fstat(directory->fd, &parent) < 0)
		local_throw_errno(errno, "inspect the directory of", path);
	made = mkdirat(directory->fd, component, 0700) == 0;
	if (!made && errno != EEXIST)
		throw_write(errno, "make the directory of", path);
	if (made && fchmodat(directory->fd, component, parent.st_mode & 07777,
						 0) < 0)
		throw_write(errno, "set the permissions of the directory of", path);
	fd = openat(directory->fd, component,
				O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		throw_write(errno, "open the directory of", path);
	close(directory->fd);
	directory->fd = fd;
}

/*
 * Opens the directory of a path below the store's prefixes; with make, what is
 * missing is made, and *existing is the length of what was there before.
 * False: it is not there.
 */
static bool
open_directory(LakeStore *store, LakeArena *arena, Directory *directory,
			   const char *path, bool make, size_t *existing)
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
		if (errno != ENOENT)
			throw_write(errno, "open the directory of", path);
		if (!make || copy[0] == '\0')
			return false;
		*strrchr(copy, '/') = '\0';
	}
	*existing = strlen(copy);
	local_check_place((LocalStore *) store, arena, directory->fd, path, real);
	for (size_t at = *existing; at < len;)
	{
		size_t		end = at + 1 + strcspn(path + at + 1, "/");

		component = lake_strndup(arena, path + at + 1, end - at - 1);
		descend(directory, path, component);
		at = end;
	}
	return true;
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

LakeOutput *
local_create(LakeStore *store, LakeArena *arena, const char *path)
{
	LocalOutput *output = lake_alloc(arena, sizeof *output);
	LakeArena  *scratch = lake_arena_create(arena, "lake directories");
	Directory	directory;
	const char *slash = strrchr(path, '/');
	struct stat parent;
	size_t		existing;

	output->arena = arena;
	output->fd = -1;
	output->directory = lake_strndup(arena, path, (size_t) (slash - path));
	output->name = lake_strdup(arena, slash + 1);
	if (output->name[0] == '\0' || strlen(output->name) > NAME_MAX)
		lake_throw(LAKE_ERROR_INVALID, "\"%s\" cannot be a file's name", path);
	make_temporary(output);
	if (!open_directory(store, scratch, &directory, output->directory, true,
						&existing))
		throw_write(ENOENT, "open the directory of", path);
	if (existing < strlen(output->directory))
		output->made_below = lake_strndup(arena, output->directory, existing);
	if (fstat(directory.fd, &parent) < 0)
		local_throw_errno(errno, "inspect the directory of", path);
	lake_defer(arena, close_output, output);
	lake_fd_acquire();
	output->acquired = true;
	output->fd = openat(directory.fd, output->temporary,
						O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
						0600);
	if (output->fd < 0)
		throw_write(errno, "create", path);
	if (fchmod(output->fd, (parent.st_mode & 0666) | 0600) < 0)
	{
		int			error = errno;

		(void) unlinkat(directory.fd, output->temporary, 0);
		throw_write(error, "set the permissions of", path);
	}
	buffer_init(&output->buffer, arena);
	lake_arena_destroy(scratch);
	return &output->output;
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

static void
flush_buffer(LocalOutput *output)
{
	write_out(output, output->buffer.data, output->buffer.len);
	output->buffer.len = 0;
}

void
local_write(LakeOutput *out, const void *data, size_t size)
{
	LocalOutput *output = (LocalOutput *) out;

	if (output->buffer.len + size > WRITE_BUFFER)
		flush_buffer(output);
	if (size >= WRITE_BUFFER)
		write_out(output, data, size);
	else
		buffer_append(&output->buffer, data, size);
}

/* the disk can begin: publishing waits for all files together */
void
local_finish(LakeOutput *out)
{
	LocalOutput *output = (LocalOutput *) out;

	flush_buffer(output);
	lake_free(output->arena, output->buffer.data);
	buffer_init(&output->buffer, output->arena);
	if (output->output.store->durable)
		(void) sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	if (close(output->fd) < 0)
	{
		output->fd = -1;
		throw_write(errno, "write", output->output.location);
	}
	output->fd = -1;
	close_output(output);
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
sync_directory(const char *directory)
{
	int			fd = open(directory[0] == '\0' ? "/" : directory,
						  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int			error = 0;

	if (fd < 0)
		throw_write(errno, "open directory", directory);
	/* file systems that cannot do it say EINVAL, as PostgreSQL knows too */
	if (fsync(fd) < 0 && errno != EINVAL && errno != EBADF)
		error = errno;
	close(fd);
	if (error != 0)
		throw_write(error, "flush directory to disk", directory);
}

/* a file's directory, and those that were made for it with their parent */
static void
sync_directories(LakeArena *arena, const LocalOutput *output)
{
	char	   *directory = lake_strdup(arena, output->directory);

	sync_directory(directory);
	while (output->made_below != NULL &&
		   strlen(directory) > strlen(output->made_below))
	{
		*strrchr(directory, '/') = '\0';
		sync_directory(directory);
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

static void
unlink_files(LocalOutput *const *outputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		char		path[PATH_MAX];
		int			len = snprintf(path, sizeof path, "%s/%s",
								   outputs[i]->directory, outputs[i]->name);

		if (len > 0 && len < (int) sizeof path)
			(void) unlink(path);
	}
}

/* what has been linked when a later file fails */
typedef struct Links
{
	LocalOutput **outputs;
	size_t		count;
	bool		is_complete;
} Links;

static void
undo_links(void *arg)
{
	Links	   *links = arg;

	if (!links->is_complete)
		unlink_files(links->outputs, links->count);
}

void
local_publish(LakeStore *store, LakeOutput *const *outputs, size_t count)
{
	LakeArena  *scratch = lake_arena_create(((LocalStore *) store)->arena,
											"lake publish");
	Links	   *links = lake_alloc(scratch, sizeof *links);
	Directory  *directory = NULL;
	size_t		existing;

	if (store->durable)
		sync_files(outputs, count);
	links->outputs = lake_alloc_array(scratch, count,
									  sizeof *links->outputs);
	for (size_t i = 0; i < count; i++)
		links->outputs[i] = (LocalOutput *) outputs[i];
	qsort(links->outputs, count, sizeof *links->outputs, compare_directories);
	lake_defer(scratch, undo_links, links);
	for (size_t i = 0; i < count; i++)
	{
		const LocalOutput *output = links->outputs[i];

		if (i == 0 || strcmp(links->outputs[i - 1]->directory,
							 output->directory) != 0)
		{
			if (directory != NULL)
				close_directory(directory);
			directory = lake_alloc(scratch, sizeof *directory);
			if (!open_directory(store, scratch, directory, output->directory,
								false, &existing))
				throw_write(ENOENT, "name", output->output.location);
		}
		link_file(directory, output);
		links->count = i + 1;
	}
	for (size_t i = 0; store->durable && i < count; i++)
	{
		const LocalOutput *output = links->outputs[i];

		if (i == 0 || strcmp(links->outputs[i - 1]->directory,
							 output->directory) != 0 ||
			output->made_below != NULL)
			sync_directories(scratch, output);
	}
	links->is_complete = true;
	lake_arena_destroy(scratch);
}
