/*
 * What location.c and the stores share.
 */
#ifndef LAKE_IO_INT_H
#define LAKE_IO_INT_H

#include "io/io.h"

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

#endif							/* LAKE_IO_INT_H */
