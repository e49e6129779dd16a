/*
 * A store over files that a test holds in memory, all below /lake.
 */
#ifndef LAKE_MEMORY_STORE_H
#define LAKE_MEMORY_STORE_H

#include <stdlib.h>
#include <string.h>

#include "io/io.h"

#define MEMORY_STORE_FILES 256

typedef struct MemoryStore
{
	LakeStore	store;			/* first: the two are cast to each other */
	LakePathRules rules;
	LakeArena  *arena;
	int			count;
	const char *paths[MEMORY_STORE_FILES];
	LakeBytes	contents[MEMORY_STORE_FILES];
	uint64_t	versions[MEMORY_STORE_FILES];
	int			opened;			/* how often a file was */
	int			listed;			/* how often a directory was */
} MemoryStore;

static inline LakeFile *
memory_store_open(LakeStore *store, LakeArena *arena, const char *path)
{
	MemoryStore *memory = (MemoryStore *) store;

	for (int i = 0; i < memory->count; i++)
	{
		if (strcmp(memory->paths[i], path) != 0)
			continue;
		memory->opened++;
		return lake_file_from_memory(arena, path, memory->contents[i]);
	}
	return NULL;
}

/* counts nothing: only what is read is opened */
static inline bool
memory_store_inspect(LakeStore *store, LakeArena *arena, const char *path,
					 LakeFileStatus *status)
{
	MemoryStore *memory = (MemoryStore *) store;

	(void) arena;
	for (int i = 0; i < memory->count; i++)
	{
		if (strcmp(memory->paths[i], path) != 0)
			continue;
		status->path = memory->paths[i];
		status->version = memory->versions[i];
		return true;
	}
	return false;
}

static inline void
memory_store_read(LakeFile *file, const LakeRange *ranges, size_t count)
{
	(void) file;
	(void) ranges;
	(void) count;
	abort();					/* files have lake_file_from_memory's store */
}

static inline int
memory_store_compare(const void *a, const void *b)
{
	return strcmp(((const LakeListEntry *) a)->name,
				  ((const LakeListEntry *) b)->name);
}

static inline bool
memory_store_list(LakeStore *store, LakeArena *arena, const char *path,
				  LakeListEntry **entries, size_t *count)
{
	MemoryStore *memory = (MemoryStore *) store;
	size_t		len = strlen(path);

	memory->listed++;
	*count = 0;
	*entries = lake_alloc_array(arena, MEMORY_STORE_FILES,
								sizeof(LakeListEntry));
	for (int i = 0; i < memory->count; i++)
	{
		const char *name = memory->paths[i] + len;
		LakeListEntry entry;
		bool		is_known = false;

		if (strncmp(memory->paths[i], path, len) != 0 || *name++ != '/')
			continue;
		entry.is_directory = strchr(name, '/') != NULL;
		entry.name = lake_strndup(arena, name, strcspn(name, "/"));
		entry.size = memory->contents[i].len;
		for (size_t j = 0; j < *count; j++)
			is_known |= strcmp((*entries)[j].name, entry.name) == 0;
		if (!is_known)
			(*entries)[(*count)++] = entry;
	}
	qsort(*entries, *count, sizeof(LakeListEntry), memory_store_compare);
	return *count > 0;
}

static inline MemoryStore *
memory_store_create(LakeArena *arena)
{
	static const LakeStoreOps ops = {
		.name = "memory",
		.open = memory_store_open,
		.read_ranges = memory_store_read,
		.list = memory_store_list,
		.inspect = memory_store_inspect,
	};
	MemoryStore *memory = lake_alloc(arena, sizeof *memory);

	path_rules_allow(arena, &memory->rules, "/lake");
	memory->store.ops = &ops;
	memory->store.rules = &memory->rules;
	memory->arena = arena;
	return memory;
}

static inline void
memory_store_put(MemoryStore *memory, const char *path, LakeBytes contents)
{
	if (memory->count == MEMORY_STORE_FILES)
		abort();
	memory->paths[memory->count] = lake_strdup(memory->arena, path);
	memory->contents[memory->count++] = contents;
}

static inline void
memory_store_put_text(MemoryStore *memory, const char *path, const char *text)
{
	memory_store_put(memory, path,
					 (LakeBytes) {(const uint8_t *) text, strlen(text)});
}

/* puts another file in the place of one that is there */
static inline void
memory_store_replace(MemoryStore *memory, const char *path,
					 LakeBytes contents)
{
	for (int i = 0; i < memory->count; i++)
	{
		if (strcmp(memory->paths[i], path) != 0)
			continue;
		memory->contents[i] = contents;
		memory->versions[i]++;
		return;
	}
	abort();
}

#endif							/* LAKE_MEMORY_STORE_H */
