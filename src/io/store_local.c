/*
 * Local files.
 *
 * A path is followed with O_PATH, which opens nothing: the kernel then tells
 * what was reached and under which real path, symbolic links resolved.  Only a
 * regular file (or a directory to list) below the real path of an allowed
 * prefix is opened, through that same descriptor, so that nobody can exchange
 * it in between, and no pipe or device is ever touched.
 *
 * The kernel's path of a descriptor comes from /proc/self/fd.
 */
#include "io/io_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/hash.h"

/* bytes between two looks at interrupts */
#define READ_PIECE		((size_t) 8 << 20)
/* entries of a directory; more is LIMIT */
#define MAX_ENTRIES		1000000
#define PROC_PATH_SIZE	64

typedef struct LocalFile
{
	LakeFile	file;
	int			fd;
} LocalFile;

/* descriptors that an arena closes; -1 and NULL when there is none */
typedef struct Handle
{
	int			path_fd;		/* O_PATH */
	int			fd;
	DIR		   *dir;			/* owns its descriptor */
	bool		acquired;		/* lake_fd_acquire has counted it */
} Handle;

static void
close_handle(void *arg)
{
	Handle	   *handle = arg;

	if (handle->dir != NULL)
		closedir(handle->dir);
	if (handle->fd >= 0)
		close(handle->fd);
	if (handle->path_fd >= 0)
		close(handle->path_fd);
	if (handle->acquired)
		lake_fd_release();
	handle->dir = NULL;
	handle->fd = handle->path_fd = -1;
	handle->acquired = false;
}

static Handle *
create_handle(LakeArena *arena)
{
	Handle	   *handle = lake_alloc(arena, sizeof *handle);

	handle->path_fd = handle->fd = -1;
	lake_defer(arena, close_handle, handle);
	lake_fd_acquire();
	handle->acquired = true;
	return handle;
}

_Noreturn void
local_throw_errno(int error, const char *what, const char *path)
{
	LakeErrorCode code = LAKE_ERROR_IO;

	if (error == EACCES || error == EPERM)
		code = LAKE_ERROR_DENIED;
	else if (error == EMFILE || error == ENFILE)
		code = LAKE_ERROR_LIMIT;
	lake_throw(code, "could not %s \"%s\": %s", what, path, strerror(error));
}

/* the allowed prefixes may be, or lead through, symbolic links themselves */
static void
find_roots(LocalStore *local)
{
	const LakePathRules *rules = local->store.rules;
	char	  **roots = lake_alloc_array(local->arena,
										 (size_t) rules->allowed_count + 1,
										 sizeof(char *));

	for (int i = 0; i < rules->allowed_count; i++)
	{
		char		real[PATH_MAX];
		const char *path = rules->allowed[i];

		if (path[0] == '\0')
			roots[i] = lake_strdup(local->arena, "");
		else if (path[0] == '/' && realpath(path, real) != NULL)
			roots[i] = lake_strdup(local->arena,
								   strcmp(real, "/") == 0 ? "" : real);
	}
	local->roots = roots;
	local->root_count = rules->allowed_count;
}

static bool
is_below_root(const LocalStore *local, const char *real)
{
	for (int i = 0; i < local->root_count; i++)
	{
		if (local->roots[i] != NULL && path_is_below(real, local->roots[i]))
			return true;
	}
	return false;
}

static void
format_proc_path(char out[PROC_PATH_SIZE], int fd)
{
	snprintf(out, PROC_PATH_SIZE, "/proc/self/fd/%d", fd);
}

bool
local_is_allowed(LocalStore *local, const char *real)
{
	if (local->roots != NULL && is_below_root(local, real))
		return true;
	/* a prefix may have appeared, or its link changed, since the last look */
	find_roots(local);
	return is_below_root(local, real);
}

void
local_check_place(LocalStore *local, LakeArena *arena, int path_fd,
				  const char *path, char real[PATH_MAX])
{
	char		proc_path[PROC_PATH_SIZE];
	ssize_t		len;

	format_proc_path(proc_path, path_fd);
	len = readlink(proc_path, real, PATH_MAX);
	if (len < 0)
		local_throw_errno(errno, "find the real path of", path);
	if (len >= PATH_MAX)
		lake_throw(LAKE_ERROR_DENIED,
				   "the real path of \"%s\" is too long", path);
	real[len] = '\0';
	if (!local_is_allowed(local, real))
		lake_throw(LAKE_ERROR_DENIED,
				   "\"%s\" leads to \"%s\", outside the allowed directories: %s",
				   path, real, path_rules_describe(arena, local->store.rules));
}

/*
 * Follows path and checks where it leads.  False when there is nothing;
 * otherwise handle has path_fd, real the path of that, and status what it is.
 */
static bool
follow_path(LocalStore *local, LakeArena *arena, Handle *handle,
			const char *path, char real[PATH_MAX], struct stat *status)
{
	/* the root directory is "" */
	handle->path_fd = open(path[0] == '\0' ? "/" : path, O_PATH | O_CLOEXEC);
	if (handle->path_fd < 0)
	{
		if (errno == ENOENT || errno == ENOTDIR)
			return false;
		local_throw_errno(errno, "open", path);
	}
	local_check_place(local, arena, handle->path_fd, path, real);
	if (fstat(handle->path_fd, status) < 0)
		local_throw_errno(errno, "inspect", path);
	return true;
}

/* turns path_fd into a descriptor that can be read */
static void
open_followed(Handle *handle, int flags, const char *path)
{
	char		proc_path[PROC_PATH_SIZE];

	format_proc_path(proc_path, handle->path_fd);
	handle->fd = open(proc_path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
					  flags);
	if (handle->fd < 0)
		local_throw_errno(errno, "open", path);
	close(handle->path_fd);
	handle->path_fd = -1;
}

static uint64_t
file_version(const struct stat *status)
{
	const int64_t marks[] = {
		(int64_t) status->st_dev, (int64_t) status->st_ino, status->st_size,
		status->st_mtim.tv_sec, status->st_mtim.tv_nsec
	};

	return hash_xxh64(marks, sizeof marks, 0);
}

/* as follow_path, and throws unless it is a file that can be read */
static bool
follow_to_file(LocalStore *local, LakeArena *arena, Handle *handle,
			   const char *path, char real[PATH_MAX], struct stat *status)
{
	local->store.requests++;
	if (!follow_path(local, arena, handle, path, real, status))
	{
		close_handle(handle);
		return false;
	}
	if (!S_ISREG(status->st_mode))
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is not a regular file", path);
	return true;
}

static LakeFile *
local_open(LakeStore *store, LakeArena *arena, const char *path)
{
	LocalStore *local = (LocalStore *) store;
	LocalFile  *file = lake_alloc(arena, sizeof *file);
	Handle	   *handle = create_handle(arena);
	char		real[PATH_MAX];
	struct stat status;

	if (!follow_to_file(local, arena, handle, path, real, &status))
		return NULL;
	open_followed(handle, 0, path);
	file->file.store = store;
	file->file.location = path;
	file->file.size = (uint64_t) status.st_size;
	file->file.version = file_version(&status);
	file->fd = handle->fd;
	return &file->file;
}

/* follows a file's path as opening it would, but does not open it */
static bool
inspect_link(LocalStore *local, LakeArena *arena, const char *path,
			 LakeFileStatus *status)
{
	Handle	   *handle = create_handle(arena);
	char		real[PATH_MAX];
	struct stat found;

	if (!follow_to_file(local, arena, handle, path, real, &found))
		return false;
	close_handle(handle);
	status->path = lake_strdup(arena, real);
	status->version = file_version(&found);
	return true;
}

/*
 * Where the directory really is that the first len bytes of path name; NULL
 * when it is not there, or not where files may be read.
 */
static const char *
inspect_directory(LocalStore *local, const char *path, size_t len)
{
	KnownDirectory *known = local->inspected;

	if (known == NULL)
		known = lake_alloc(local->arena, sizeof *known);
	else if (strncmp(known->path, path, len) == 0 && known->path[len] == '\0')
		return known->real;
	local->inspected = known;
	memcpy(known->path, path, len);
	known->path[len] = '\0';
	if (realpath(known->path, known->real) != NULL &&
		local_is_allowed(local, known->real))
		return known->real;
	known->path[0] = '\0';
	return NULL;
}

/*
 * Manifests are inspected by the hundred, and most are plain files of one
 * directory.  Where that really is needs one check; then one call tells which
 * file is there, and that it is no link to somewhere else.  Should the
 * directory be exchanged meanwhile, the path that is told is still one that may
 * be read.
 */
static bool
local_inspect(LakeStore *store, LakeArena *arena, const char *path,
			  LakeFileStatus *status)
{
	LocalStore *local = (LocalStore *) store;
	const char *slash = strrchr(path, '/');
	const char *directory;
	struct stat found;

	/* a map may have made it too long, which opening will say */
	directory = slash == NULL || slash == path || strlen(path) >= PATH_MAX ?
		NULL : inspect_directory(local, path, (size_t) (slash - path));
	if (directory == NULL || lstat(path, &found) < 0 ||
		!S_ISREG(found.st_mode))
		return inspect_link(local, arena, path, status);
	store->requests++;
	status->path = lake_printf(arena, "%s%s", directory, slash);
	status->version = file_version(&found);
	return true;
}

static void
read_range(const LocalFile *file, const LakeRange *range)
{
	size_t		done = 0;

	while (done < range->len)
	{
		size_t		left = range->len - done;
		ssize_t		got = pread(file->fd, (char *) range->dst + done,
								left < READ_PIECE ? left : READ_PIECE,
								(off_t) (range->offset + done));

		if (got < 0 && errno != EINTR)
			local_throw_errno(errno, "read", file->file.location);
		if (got == 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "file \"%s\" ends at byte %llu, short of its %llu bytes",
					   file->file.location,
					   (unsigned long long) (range->offset + done),
					   (unsigned long long) file->file.size);
		if (got > 0)
			done += (size_t) got;
		lake_check_interrupts();
	}
}

/*
 * Lets the kernel fetch all ranges at once: from a cold disk in half the time
 * of one after another, from the page cache at no cost that could be measured.
 */
static void
announce(const LocalFile *file, const LakeRange *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void) posix_fadvise(file->fd, (off_t) ranges[i].offset,
							 (off_t) ranges[i].len, POSIX_FADV_WILLNEED);
}

static void
local_read_ranges(LakeFile *file, const LakeRange *ranges, size_t count)
{
	const LocalFile *local = (const LocalFile *) file;

	if (count > 1)
		announce(local, ranges, count);
	for (size_t i = 0; i < count; i++)
	{
		read_range(local, &ranges[i]);
		file->store->bytes_read += ranges[i].len;
		file->store->requests++;
	}
}

/*
 * What a directory's entry is, links followed (opening it checks where they
 * lead).  False for what is neither file nor directory.
 */
static bool
inspect_entry(int dir_fd, const char *name, LakeListEntry *entry)
{
	struct stat status;

	if (fstatat(dir_fd, name, &status, 0) < 0)
		return false;			/* gone meanwhile, or a dangling link */
	entry->is_directory = S_ISDIR(status.st_mode);
	if (!entry->is_directory && !S_ISREG(status.st_mode))
		return false;
	entry->size = entry->is_directory ? 0 : (uint64_t) status.st_size;
	return true;
}

static int
compare_entries(const void *a, const void *b)
{
	return strcmp(((const LakeListEntry *) a)->name,
				  ((const LakeListEntry *) b)->name);
}

static void
read_entries(DIR *dir, LakeArena *arena, const char *path,
			 LakeBuffer *entries)
{
	for (size_t seen = 0;; seen++)
	{
		struct dirent *next;
		LakeListEntry entry;

		errno = 0;
		next = readdir(dir);
		if (next == NULL && errno != 0)
			local_throw_errno(errno, "list", path);
		if (next == NULL)
			break;
		if (seen >= MAX_ENTRIES)
			lake_throw(LAKE_ERROR_LIMIT,
					   "directory \"%s\" has more than %d entries", path,
					   MAX_ENTRIES);
		if (seen % 256 == 0)
			lake_check_interrupts();
		if (strcmp(next->d_name, ".") == 0 ||
			strcmp(next->d_name, "..") == 0 ||
			!inspect_entry(dirfd(dir), next->d_name, &entry))
			continue;
		entry.name = lake_strdup(arena, next->d_name);
		buffer_append(entries, &entry, sizeof entry);
	}
}

static bool
local_list(LakeStore *store, LakeArena *arena, const char *path,
		   LakeListEntry **entries, size_t *count)
{
	LocalStore *local = (LocalStore *) store;
	Handle	   *handle = create_handle(arena);
	LakeBuffer	buffer;
	char		real[PATH_MAX];
	struct stat status;

	store->requests++;
	if (!follow_path(local, arena, handle, path, real, &status) ||
		!S_ISDIR(status.st_mode))
	{
		close_handle(handle);
		return false;
	}
	open_followed(handle, O_DIRECTORY, path);
	handle->dir = fdopendir(handle->fd);
	if (handle->dir == NULL)
		local_throw_errno(errno, "list", path);
	handle->fd = -1;
	buffer_init(&buffer, arena);
	read_entries(handle->dir, arena, path, &buffer);
	close_handle(handle);
	*entries = (LakeListEntry *) (void *) buffer.data;
	*count = buffer.len / sizeof(LakeListEntry);
	if (*count > 1)
		qsort(*entries, *count, sizeof(LakeListEntry), compare_entries);
	return true;
}

static const LakeStoreOps local_ops = {
	.name = "local",
	.open = local_open,
	.read_ranges = local_read_ranges,
	.list = local_list,
	.inspect = local_inspect,
	.create = local_create,
	.write = local_write,
	.finish = local_finish,
	.publish = local_publish,
	.discard = local_discard,
	.remove = local_remove
};

LakeStore *
store_local_create(LakeArena *arena, const LakePathRules *rules)
{
	LocalStore *local = lake_alloc(arena, sizeof *local);

	local->store.ops = &local_ops;
	local->store.rules = rules;
	local->arena = arena;
	return &local->store;
}
