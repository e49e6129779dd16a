/*
 * Files of any store, and files over memory.
 */
#include "io/io_int.h"

#include <string.h>

#include "base/cache.h"

typedef struct MemoryFile
{
	LakeFile	file;
	LakeStore	store;			/* of its own: there is no other file in it */
	const uint8_t *data;
} MemoryFile;

LakeFile *
lake_file_find(LakeStore *store, LakeArena *arena, const char *location)
{
	PathCandidates candidates;
	const char *temporary = store->puts == NULL ? NULL :
		put_set_path(store->puts, location);

	path_rules_candidates(arena, store->rules, location, &candidates);
	if (temporary != NULL)
	{
		candidates.count = 1;
		candidates.paths[0] = lake_strdup(arena, temporary);
	}
	for (int i = 0; i < candidates.count; i++)
	{
		LakeFile   *file = store->ops->open(store, arena, candidates.paths[i]);

		if (file == NULL)
			continue;
		file->location = lake_strdup(arena, location);
		return file;
	}
	return NULL;
}

static _Noreturn void
throw_missing(const char *location, const char *what)
{
	lake_throw(LAKE_ERROR_MISSING, "%s \"%s\" does not exist", what, location);
}

LakeFile *
lake_file_open(LakeStore *store, LakeArena *arena, const char *location,
			   const char *what)
{
	LakeFile   *file = lake_file_find(store, arena, location);

	if (file == NULL)
		throw_missing(location, what);
	return file;
}

static bool
inspect_by_opening(LakeStore *store, LakeArena *arena, const char *path,
				   LakeFileStatus *status)
{
	LakeArena  *scratch = lake_arena_create(arena, "inspected file");
	const LakeFile *file = store->ops->open(store, scratch, path);
	bool		is_there = file != NULL;

	if (is_there)
	{
		status->path = path;
		status->version = file->version;
	}
	lake_arena_destroy(scratch);
	return is_there;
}

void
lake_file_inspect(LakeStore *store, LakeArena *arena, const char *location,
				  const char *what, LakeFileStatus *status)
{
	PathCandidates candidates;
	const char *temporary = store->puts == NULL ? NULL :
		put_set_path(store->puts, location);

	path_rules_candidates(arena, store->rules, location, &candidates);
	if (temporary != NULL)
	{
		candidates.count = 1;
		candidates.paths[0] = lake_strdup(arena, temporary);
	}
	for (int i = 0; i < candidates.count; i++)
	{
		const char *path = candidates.paths[i];

		if (store->ops->inspect != NULL ?
			store->ops->inspect(store, arena, path, status) :
			inspect_by_opening(store, arena, path, status))
			return;
	}
	throw_missing(location, what);
}

void *
lake_file_recall(LakeStore *store, LakeArena *holder, const char *location,
				 const char *what, LakeFileStatus *status)
{
	void	   *value;

	if (store->cache == NULL)
		return NULL;
	lake_file_inspect(store, holder, location, what, status);
	value = cache_find(store->cache, holder, what, status->path,
					   status->version);
	store->cache_hits += value != NULL;
	return value;
}

void
lake_file_keep(LakeStore *store, LakeArena *holder, const char *what,
			   const LakeFileStatus *status, LakeArena *entry, void *value)
{
	if (store->cache == NULL)
		lake_arena_adopt(holder, entry);
	else
		cache_add(store->cache, holder, what, status->path, status->version,
				  entry, value);
}

void
lake_file_read_ranges(LakeFile *file, const LakeRange *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		if (ranges[i].offset > file->size ||
			ranges[i].len > file->size - ranges[i].offset)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "file \"%s\" of %llu bytes ends before byte %llu, where %zu bytes are to be read",
					   file->location, (unsigned long long) file->size,
					   (unsigned long long) ranges[i].offset, ranges[i].len);
	}
	if (count == 0)
		return;
	file->store->ops->read_ranges(file, ranges, count);
}

void
lake_file_read(LakeFile *file, uint64_t offset, size_t len, void *dst)
{
	LakeRange	range = {offset, len, dst};

	lake_file_read_ranges(file, &range, 1);
}

LakeBytes
lake_file_read_all(LakeFile *file, LakeArena *arena, size_t limit)
{
	LakeBytes	bytes;
	uint8_t    *data;

	if (file->size > limit)
		lake_throw(LAKE_ERROR_LIMIT,
				   "file \"%s\" of %llu bytes is larger than the limit of %zu",
				   file->location, (unsigned long long) file->size, limit);
	data = lake_alloc_raw(arena, (size_t) file->size + 1);
	lake_file_read(file, 0, (size_t) file->size, data);
	bytes.data = data;
	bytes.len = (size_t) file->size;
	return bytes;
}

bool
lake_store_list(LakeStore *store, LakeArena *arena, const char *location,
				LakeListEntry **entries, size_t *count)
{
	PathCandidates candidates;

	*entries = NULL;
	*count = 0;
	path_rules_candidates(arena, store->rules, location, &candidates);
	for (int i = 0; i < candidates.count; i++)
	{
		if (store->ops->list(store, arena, candidates.paths[i],
							 entries, count))
			return true;
	}
	return false;
}

static void
memory_read_ranges(LakeFile *file, const LakeRange *ranges, size_t count)
{
	const MemoryFile *memory = (const MemoryFile *) file;

	for (size_t i = 0; i < count; i++)
	{
		if (ranges[i].len > 0)
			memcpy(ranges[i].dst, memory->data + ranges[i].offset,
				   ranges[i].len);
		file->store->bytes_read += ranges[i].len;
	}
	file->store->requests += count;
}

static const LakeStoreOps memory_ops = {
	.name = "memory",
	.read_ranges = memory_read_ranges
};

LakeFile *
lake_file_from_memory(LakeArena *arena, const char *name, LakeBytes bytes)
{
	MemoryFile *memory = lake_alloc(arena, sizeof *memory);

	memory->store.ops = &memory_ops;
	memory->file.store = &memory->store;
	memory->file.location = name;
	memory->file.size = bytes.len;
	memory->data = bytes.data;
	return &memory->file;
}
