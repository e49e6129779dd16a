/*
 * Entries in a hash table by path and in a list by use.
 *
 * Everything that may throw comes before the first change of a list: a throw
 * finds the cache as it was, and the entry still below its maker's arena.
 */
#include "base/cache.h"

#include <string.h>

#include "base/hash.h"

#define FIRST_BUCKETS	64

typedef struct CacheEntry CacheEntry;
struct CacheEntry
{
	CacheEntry *chain;			/* next of the bucket */
	CacheEntry *newer;			/* used later, NULL: the last one used */
	CacheEntry *older;
	LakeCache  *cache;
	LakeArena  *arena;			/* owns all of it, this struct too */
	const char *kind;
	const char *path;
	uint64_t	hash;			/* of path */
	uint64_t	version;
	void	   *value;
	size_t		bytes;			/* of arena, when it was measured */
	size_t		holders;
	bool		is_replaced;	/* in no bucket: goes with its last holder */
};

struct LakeCache
{
	LakeArena  *arena;
	size_t		limit;
	size_t		bucket_count;	/* a power of two */
	CacheEntry **buckets;
	CacheEntry *newest;
	CacheEntry *oldest;
	CacheStatistics statistics;
};

/* what a holder's arena lets go of; entry NULL: nothing yet */
typedef struct CacheHold
{
	CacheEntry *entry;
} CacheHold;

LakeCache *
cache_create(LakeArena *arena)
{
	LakeCache  *cache = lake_alloc(arena, sizeof *cache);

	cache->arena = arena;
	cache->limit = SIZE_MAX;
	cache->bucket_count = FIRST_BUCKETS;
	cache->buckets = lake_alloc_array(arena, FIRST_BUCKETS,
									  sizeof *cache->buckets);
	return cache;
}

/* ---- the two structures ---- */

static void
link_newest(LakeCache *cache, CacheEntry *entry)
{
	entry->newer = NULL;
	entry->older = cache->newest;
	if (cache->newest != NULL)
		cache->newest->newer = entry;
	else
		cache->oldest = entry;
	cache->newest = entry;
}

static void
unlink_use(LakeCache *cache, CacheEntry *entry)
{
	if (entry->newer != NULL)
		entry->newer->older = entry->older;
	else
		cache->newest = entry->older;
	if (entry->older != NULL)
		entry->older->newer = entry->newer;
	else
		cache->oldest = entry->newer;
}

static CacheEntry **
bucket_of(const LakeCache *cache, uint64_t hash)
{
	return &cache->buckets[hash & (cache->bucket_count - 1)];
}

static void
unlink_bucket(LakeCache *cache, CacheEntry *entry)
{
	CacheEntry **link = bucket_of(cache, entry->hash);

	while (*link != entry)
		link = &(*link)->chain;
	*link = entry->chain;
}

static void
link_bucket(LakeCache *cache, CacheEntry *entry)
{
	CacheEntry **bucket = bucket_of(cache, entry->hash);

	entry->chain = *bucket;
	*bucket = entry;
}

/* keeps chains short; the only allocation here that is not an entry's */
static void
grow(LakeCache *cache)
{
	CacheEntry **old = cache->buckets;
	CacheEntry **fresh;

	if (cache->statistics.entries < cache->bucket_count)
		return;
	fresh = lake_alloc_array(cache->arena, cache->bucket_count * 2,
							 sizeof *fresh);
	cache->buckets = fresh;
	cache->bucket_count *= 2;
	for (CacheEntry *entry = cache->newest; entry != NULL;
		 entry = entry->older)
	{
		if (!entry->is_replaced)
			link_bucket(cache, entry);
	}
	lake_free(cache->arena, old);
}

static CacheEntry *
find(const LakeCache *cache, const char *kind, const char *path,
	 uint64_t hash)
{
	CacheEntry *entry = *bucket_of(cache, hash);

	while (entry != NULL &&
		   (entry->hash != hash || strcmp(entry->path, path) != 0 ||
			strcmp(entry->kind, kind) != 0))
		entry = entry->chain;
	return entry;
}

/* ---- giving up ---- */

static void
destroy(LakeCache *cache, CacheEntry *entry)
{
	unlink_use(cache, entry);
	if (!entry->is_replaced)
		unlink_bucket(cache, entry);
	cache->statistics.entries--;
	cache->statistics.bytes -= entry->bytes;
	lake_arena_destroy(entry->arena);
}

static void
trim(LakeCache *cache)
{
	CacheEntry *entry = cache->oldest;

	while (entry != NULL && cache->statistics.bytes > cache->limit)
	{
		CacheEntry *newer = entry->newer;

		if (entry->holders == 0)
			destroy(cache, entry);
		entry = newer;
	}
}

void
cache_set_limit(LakeCache *cache, size_t bytes)
{
	cache->limit = bytes;
	trim(cache);
}

static void
replace(LakeCache *cache, CacheEntry *entry)
{
	if (entry->holders == 0)
	{
		destroy(cache, entry);
		return;
	}
	unlink_bucket(cache, entry);
	entry->is_replaced = true;
}

/* ---- holding ---- */

static void
release(void *arg)
{
	CacheEntry *entry = ((CacheHold *) arg)->entry;
	LakeCache  *cache;

	if (entry == NULL)
		return;
	cache = entry->cache;
	entry->holders--;
	if (entry->holders == 0 && entry->is_replaced)
		destroy(cache, entry);
	else
		trim(cache);
}

static CacheHold *
prepare_hold(LakeArena *holder)
{
	CacheHold  *hold = lake_alloc(holder, sizeof *hold);

	lake_defer(holder, release, hold);
	return hold;
}

static void
set_hold(CacheHold *hold, CacheEntry *entry)
{
	hold->entry = entry;
	entry->holders++;
}

/* ---- what callers ask for ---- */

void *
cache_find(LakeCache *cache, LakeArena *holder, const char *kind,
		   const char *path, uint64_t version)
{
	uint64_t	hash = hash_xxh64(path, strlen(path), 0);
	CacheEntry *entry = find(cache, kind, path, hash);

	if (entry == NULL || entry->version != version)
	{
		cache->statistics.misses++;
		return NULL;
	}
	set_hold(prepare_hold(holder), entry);
	unlink_use(cache, entry);
	link_newest(cache, entry);
	cache->statistics.hits++;
	return entry->value;
}

void
cache_add(LakeCache *cache, LakeArena *holder, const char *kind,
		  const char *path, uint64_t version, LakeArena *arena, void *value)
{
	CacheEntry *entry = lake_alloc(arena, sizeof *entry);
	CacheHold  *hold;
	CacheEntry *older;

	entry->cache = cache;
	entry->arena = arena;
	entry->kind = kind;
	entry->path = lake_strdup(arena, path);
	entry->hash = hash_xxh64(path, strlen(path), 0);
	entry->version = version;
	entry->value = value;
	hold = prepare_hold(holder);
	grow(cache);
	entry->bytes = lake_arena_size(arena);
	/* nothing throws from here on */
	older = find(cache, kind, path, entry->hash);
	if (older != NULL)
		replace(cache, older);
	lake_arena_adopt(cache->arena, arena);
	link_bucket(cache, entry);
	link_newest(cache, entry);
	cache->statistics.entries++;
	cache->statistics.bytes += entry->bytes;
	set_hold(hold, entry);
	trim(cache);
}

void
cache_measure(LakeCache *cache, const void *value)
{
	/* whoever has let a value grow has just used it */
	for (CacheEntry *entry = cache->newest; entry != NULL;
		 entry = entry->older)
	{
		if (entry->value != value)
			continue;
		cache->statistics.bytes -= entry->bytes;
		entry->bytes = lake_arena_size(entry->arena);
		cache->statistics.bytes += entry->bytes;
		trim(cache);
		return;
	}
}

CacheStatistics
cache_statistics(const LakeCache *cache)
{
	return cache->statistics;
}
