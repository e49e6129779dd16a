/*
 * The session's cache of what was parsed from metadata files, manifest lists
 * and manifests, and the setting that limits it.
 *
 * These files are immutable, so that whatever was parsed is shared by everything
 * that reads the same path.  A name may come back all the same: the first
 * versions of a table that was dropped and made again are called what they were.
 * So a file is looked at each time (see lake_file_recall), which is also the
 * check of its path for this user.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/cache.h"
#include "iceberg/iceberg.h"
#include "server/server_int.h"

/* below TopMemoryContext; NULL until the first store */
static LakeCache *cache = NULL;

LakeCache *
metadata_cache(void)
{
	if (cache == NULL)
	{
		MemoryContext context = AllocSetContextCreate(TopMemoryContext,
													  "lake metadata cache",
													  ALLOCSET_SMALL_SIZES);

		cache = cache_create(lake_arena_of(context));
		metadata_cache_set_limit(lake_metadata_cache_kb);
	}
	return cache;
}

void
metadata_cache_set_limit(int kilobytes)
{
	if (cache != NULL)
		cache_set_limit(cache, (Size) kilobytes * 1024);
}

const LakeTable *
metadata_cache_open(LakeStore *store, const char *location,
					MemoryContext holder)
{
	static const char what[] = "metadata file";
	LakeArena  *arena = lake_arena_of(holder);
	LakeArena  *entry;
	LakeFileStatus status;
	LakeTable  *table = lake_file_recall(store, arena, location, what,
										 &status);

	/* found under another name, it would tell that one to workers and users */
	if (table != NULL && strcmp(table->metadata_location, location) == 0)
		return table;
	entry = lake_arena_create(arena, "lake table");
	table = iceberg_format.open(entry, store, lake_strdup(entry, location));
	lake_file_keep(store, arena, what, &status, entry, table);
	return table;
}
