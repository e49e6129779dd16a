/*
 * A hash map from byte strings to pointers: open addressing, at most half
 * full.
 */
#include "iceberg/iceberg_int.h"

#include "base/hash.h"

#define FIRST_CAPACITY 64

void
bytes_map_init(BytesMap *map, LakeArena *arena)
{
	map->arena = arena;
	map->count = 0;
	map->capacity = FIRST_CAPACITY;
	map->entries = lake_alloc_array(arena, map->capacity,
									sizeof(BytesMapEntry));
}

/* the key's entry, or the free place where it belongs */
static BytesMapEntry *
find_place(const BytesMap *map, LakeBytes key, uint64_t hash)
{
	size_t		i = hash & (map->capacity - 1);

	for (;;)
	{
		BytesMapEntry *entry = &map->entries[i];

		if (entry->value == NULL)
			return entry;
		if (entry->hash == hash && entry->key.len == key.len &&
			(key.len == 0 ||
			 memcmp(entry->key.data, key.data, key.len) == 0))
			return entry;
		i = (i + 1) & (map->capacity - 1);
	}
}

void *
bytes_map_find(const BytesMap *map, LakeBytes key)
{
	return find_place(map, key, hash_xxh64(key.data, key.len, 0))->value;
}

static void
grow(BytesMap *map)
{
	BytesMapEntry *old = map->entries;
	size_t		old_capacity = map->capacity;

	map->entries = lake_alloc_array(map->arena, old_capacity * 2,
									sizeof(BytesMapEntry));
	map->capacity = old_capacity * 2;
	for (size_t i = 0; i < old_capacity; i++)
	{
		if (old[i].value != NULL)
			*find_place(map, old[i].key, old[i].hash) = old[i];
	}
	lake_free(map->arena, old);
}

void
bytes_map_add(BytesMap *map, LakeBytes key, void *value)
{
	BytesMapEntry entry = {key, hash_xxh64(key.data, key.len, 0), value};

	if (map->count >= map->capacity / 2)
		grow(map);
	*find_place(map, key, entry.hash) = entry;
	map->count++;
}
