/*
 * What location.c and the stores share.
 */
#ifndef LAKE_IO_INT_H
#define LAKE_IO_INT_H

#include "io/io.h"

#include <limits.h>

/*
 * A location's possible names: as it stands, and percent-decoded.
 *
 * Writers disagree.  Hadoop's Path and pyarrow take a file: URI's path as it
 * stands (Iceberg's partition directories are URL-encoded names, such as
 * "day=a%2Fb"), others encode it as RFC 3986 says.  So the name as it stands
 * is looked for first.  Both are NULL or below an allowed prefix.
 */
typedef struct PathCandidates
{
	int			count;			/* 1 or 2 */
	char	   *paths[2];
} PathCandidates;

/* throws as path_rules_resolve */
extern void path_rules_candidates(LakeArena *arena, const LakePathRules *rules,
								  const char *location,
								  PathCandidates *candidates);

/*
 * Is path a prefix itself, or below it?  Both without trailing slash; "" is
 * the root directory.
 */
extern bool path_is_below(const char *path, const char *prefix);

/* "/a, /b" for messages */
extern const char *path_rules_describe(LakeArena *arena,
									   const LakePathRules *rules);

/* ---- put_set.c ---- */

/* the temporary path of a finished file that is not published; else NULL */
extern const char *put_set_path(const LakePutSet *set, const char *location);

/* ---- store_local.c ---- */

/* where a directory really is */
typedef struct KnownDirectory
{
	char		path[PATH_MAX];
	char		real[PATH_MAX];
} KnownDirectory;

typedef struct LocalStore
{
	LakeStore	store;
	LakeArena  *arena;
	/* real paths of rules->allowed, NULL where absent; NULL = not yet known */
	char	  **roots;
	int			root_count;
	KnownDirectory *inspected;	/* the newest one; NULL: none */
} LocalStore;

/* code by errno; "could not <what> <path>" */
extern _Noreturn void local_throw_errno(int error, const char *what,
										const char *path);

/* is a real path below the real path of an allowed prefix? */
extern bool local_is_allowed(LocalStore *local, const char *real);

/* real gets where path_fd is; throws DENIED unless that is below a root */
extern void local_check_place(LocalStore *local, LakeArena *arena,
							  int path_fd, const char *path,
							  char real[PATH_MAX]);

/* ---- store_local_write.c: the LakeStoreOps of the same names ---- */

extern LakeOutput *local_create(LakeStore *store, LakeArena *arena,
								const char *path);
extern void local_write(LakeOutput *output, const void *data, size_t size);
extern void local_finish(LakeOutput *output);
extern void local_publish(LakeStore *store, LakeOutput *const *outputs,
						  size_t count);
extern void local_discard(LakeOutput *output);
extern bool local_remove(LakeStore *store, const char *path);

#endif							/* LAKE_IO_INT_H */
