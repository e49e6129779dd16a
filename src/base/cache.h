/*
 * A cache of what was parsed from immutable files, bounded by memory.
 *
 * An entry is an arena with a value in it.  It is built below the caller's own
 * arena, where a throw releases it, and handed over when it is complete.
 * Whoever uses a value holds it until an arena of his is reset: entries that
 * are held are never given up, so the limit may be passed by what a query needs.
 *
 * A key names a file by the path that it was really found at; version (see
 * LakeFile) tells a file that was replaced under its name from the one that was
 * parsed.  Finding an entry is no right to read the file: the caller has opened
 * it, or resolved and checked its path, before.
 */
#ifndef LAKE_CACHE_H
#define LAKE_CACHE_H

#include "base/base.h"

typedef struct LakeCache LakeCache;

/*
 * arena owns the cache with all entries, and must outlive every holder.  There
 * is no limit until one is set.
 */
extern LakeCache *cache_create(LakeArena *arena);

/* bytes of all entries; gives up the least recently used ones at once */
extern void cache_set_limit(LakeCache *cache, size_t bytes);

/*
 * The value, held until holder is reset, or NULL.  kind: what the value is, a
 * string literal, compared by content.
 */
extern void *cache_find(LakeCache *cache, LakeArena *holder, const char *kind,
						const char *path, uint64_t version);

/*
 * Adopts the entry's arena, in which value is, and holds it for holder.  An
 * older entry of the same kind and path goes as soon as nobody holds it.
 */
extern void cache_add(LakeCache *cache, LakeArena *holder, const char *kind,
					  const char *path, uint64_t version, LakeArena *entry,
					  void *value);

/* measures an entry again whose value has grown in its arena */
extern void cache_measure(LakeCache *cache, const void *value);

typedef struct CacheStatistics
{
	size_t		entries;
	size_t		bytes;
	uint64_t	hits;
	uint64_t	misses;
} CacheStatistics;

extern CacheStatistics cache_statistics(const LakeCache *cache);

#endif							/* LAKE_CACHE_H */
