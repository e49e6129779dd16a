/*
 * Parsed metadata files, kept for the session.
 *
 * Metadata files are immutable, so parsed ones are shared by everything that
 * reads the same path.  A name may come back all the same: the first versions of
 * a table that was dropped and made again are called what they were.  So the
 * store is asked for the file's version each time.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#include "iceberg/iceberg.h"
#include "server/server_int.h"

typedef struct CachedTable
{
	dlist_node	node;
	MemoryContext context;		/* owns all of it, this struct too */
	const char *path;			/* where the location leads to */
	uint64		file_version;
	Size		memory;			/* of context, when it was parsed */
	int			holders;
	const LakeTable *table;
} CachedTable;

/* most recently used first; the contexts are children of cache_context */
static dlist_head cache = DLIST_STATIC_INIT(cache);
static MemoryContext cache_context = NULL;

/* gives up the least recently used tables that nobody holds */
static void
trim_cache(void)
{
	Size		limit = (Size) lake_metadata_cache_kb * 1024;
	Size		total = 0;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &cache)
	{
		CachedTable *cached = dlist_container(CachedTable, node, iter.cur);

		total += cached->memory;
		if (total <= limit || cached->holders > 0)
			continue;
		total -= cached->memory;
		dlist_delete(&cached->node);
		MemoryContextDelete(cached->context);
	}
}

static void
release_table(void *arg)
{
	CachedTable *cached = arg;

	cached->holders--;
	trim_cache();
}

/* the table stays until the context of the holder is reset */
static const LakeTable *
hold_table(CachedTable *cached, MemoryContext holder)
{
	MemoryContextCallback *callback;

	callback = MemoryContextAllocZero(holder, sizeof *callback);
	callback->func = release_table;
	callback->arg = cached;
	cached->holders++;
	MemoryContextRegisterResetCallback(holder, callback);
	return cached->table;
}

static CachedTable *
find_table(const char *path, uint64 file_version)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache)
	{
		CachedTable *cached = dlist_container(CachedTable, node, iter.cur);

		if (cached->file_version == file_version &&
			strcmp(cached->path, path) == 0)
			return cached;
	}
	return NULL;
}

/* parses in a context of the caller's, so that a throw leaves nothing behind */
static CachedTable *
parse_table(LakeStore *store, const char *location, const char *path,
			uint64 file_version)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lake table",
												  ALLOCSET_DEFAULT_SIZES);
	LakeArena  *arena = lake_arena_of(context);
	CachedTable *cached = lake_alloc(arena, sizeof *cached);

	cached->context = context;
	cached->path = lake_strdup(arena, path);
	cached->file_version = file_version;
	cached->table = iceberg_format.open(arena, store,
										lake_strdup(arena, location));
	cached->memory = MemoryContextMemAllocated(context, true);
	return cached;
}

const LakeTable *
metadata_cache_open(LakeStore *store, const char *location,
				   MemoryContext holder)
{
	LakeArena  *scratch = lake_arena_create(NULL, "lake metadata file");
	LakeFile   *file;
	const char *path;
	CachedTable *cached;

	/* opened even if it is in the cache: this is the check of the path */
	file = lake_file_open(store, scratch, location, "metadata file");
	path = path_rules_resolve(scratch, store->rules, location);
	cached = find_table(path, file->version);
	if (cached == NULL)
	{
		if (cache_context == NULL)
			cache_context = AllocSetContextCreate(TopMemoryContext,
												  "lake metadata cache",
												  ALLOCSET_SMALL_SIZES);
		cached = parse_table(store, location, path, file->version);
		MemoryContextSetParent(cached->context, cache_context);
		dlist_push_head(&cache, &cached->node);
	}
	else
		dlist_move_head(&cache, &cached->node);
	lake_arena_destroy(scratch);
	hold_table(cached, holder);
	trim_cache();
	return cached->table;
}
