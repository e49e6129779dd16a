/*
 * Sets of byte strings: open addressing over numbered keys.
 */
#include "table/deletes.h"

#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/hash.h"

#define FIRST_SLOTS		64		/* a power of two */
#define HASH_BLOCK		256		/* rows hashed ahead of their lookup */

/* the hash is here, so that other keys are passed without a look at them */
typedef struct KeySlot
{
	uint32_t	hash;
	uint32_t	number;			/* of the key + 1; 0 = free */
} KeySlot;

typedef struct KeyEntry
{
	uint32_t	offset;			/* in bytes.data */
	uint32_t	len;
} KeyEntry;

struct KeySet
{
	LakeArena  *arena;
	uint64_t	seed;
	uint32_t	count;
	uint32_t	capacity;		/* of entries */
	KeyEntry   *entries;
	LakeBuffer	bytes;			/* the strings */
	uint32_t	slot_count;		/* a power of two > count */
	KeySlot    *slots;
};

/*
 * Short keys are the rule and get two multiplications.  The seed differs from
 * run to run, so that no file can be made to collide.
 */
static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128) a * b;

	return (uint64_t) product ^ (uint64_t) (product >> 64);
}

static inline uint32_t
hash_bytes(const uint8_t *data, size_t len, uint64_t seed)
{
	uint64_t	low;
	uint64_t	high;

	if (len > 16)
		return (uint32_t) hash_xxh64(data, len, seed);
	if (len >= 8)
	{
		low = bits_load_u64le(data);
		high = bits_load_u64le(data + len - 8);
	}
	else if (len >= 4)
	{
		low = bits_load_u32le(data);
		high = bits_load_u32le(data + len - 4);
	}
	else
	{
		low = len > 0 ? data[0] : 0;
		high = len > 0 ? (uint64_t) data[len / 2] << 8 | data[len - 1] : 0;
	}
	return (uint32_t) mix(mix(low ^ seed, high ^ UINT64_C(0x9e3779b97f4a7c15)) ^
						  len, seed ^ UINT64_C(0xd6e8feb86659fd93));
}

KeySet *
key_set_create(LakeArena *arena)
{
	KeySet	   *set = lake_alloc(arena, sizeof(KeySet));
	uintptr_t	address = (uintptr_t) set;

	set->arena = arena;
	set->seed = hash_xxh64(&address, sizeof address, 0);
	buffer_init(&set->bytes, arena);
	set->slot_count = FIRST_SLOTS;
	set->slots = lake_alloc_array(arena, FIRST_SLOTS, sizeof(KeySlot));
	return set;
}

uint32_t
key_set_count(const KeySet *set)
{
	return set->count;
}

uint64_t
key_set_size(const KeySet *set)
{
	return set->bytes.capacity + set->capacity * sizeof(KeyEntry) +
		set->slot_count * sizeof(KeySlot);
}

/* the call of memcmp would cost more than to compare a short key */
static inline bool
is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	if (len >= 8 && len <= 16)
		return bits_load_u64le(a) == bits_load_u64le(b) &&
			bits_load_u64le(a + len - 8) == bits_load_u64le(b + len - 8);
	return len == 0 || memcmp(a, b, len) == 0;
}

/* the slot that holds the key, or the free one where it belongs */
static inline KeySlot *
find_slot(const KeySet *set, const uint8_t *data, size_t len, uint32_t hash)
{
	uint32_t	mask = set->slot_count - 1;

	for (uint32_t i = hash & mask;; i = (i + 1) & mask)
	{
		KeySlot    *slot = &set->slots[i];
		const KeyEntry *entry;

		if (slot->number == 0)
			return slot;
		if (slot->hash != hash)
			continue;
		entry = &set->entries[slot->number - 1];
		if (entry->len == len &&
			is_equal(set->bytes.data + entry->offset, data, len))
			return slot;
	}
}

static void
grow_slots(KeySet *set)
{
	uint32_t	slot_count = set->slot_count * 2;
	KeySlot    *slots = lake_alloc_array(set->arena, slot_count,
										 sizeof(KeySlot));

	for (uint32_t i = 0; i < set->slot_count; i++)
	{
		uint32_t	place = set->slots[i].hash & (slot_count - 1);

		if (set->slots[i].number == 0)
			continue;
		while (slots[place].number != 0)
			place = (place + 1) & (slot_count - 1);
		slots[place] = set->slots[i];
	}
	lake_free(set->arena, set->slots);
	set->slots = slots;
	set->slot_count = slot_count;
}

static void
grow_entries(KeySet *set)
{
	uint32_t	capacity = set->capacity == 0 ? FIRST_SLOTS :
		set->capacity * 2;

	set->entries = lake_realloc(set->arena, set->entries,
								set->capacity * sizeof(KeyEntry),
								capacity * sizeof(KeyEntry));
	set->capacity = capacity;
}

static uint32_t
add_hashed(KeySet *set, const uint8_t *data, size_t len, uint32_t hash)
{
	KeySlot    *slot = find_slot(set, data, len, hash);
	KeyEntry   *entry;

	if (slot->number != 0)
		return slot->number - 1;
	if (set->count >= KEY_SET_MAX_KEYS ||
		set->bytes.len + len > KEY_SET_MAX_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "delete files have more than %u different keys or %zu bytes of them",
				   KEY_SET_MAX_KEYS, KEY_SET_MAX_BYTES);
	if (set->count == set->capacity)
		grow_entries(set);
	entry = &set->entries[set->count];
	entry->offset = (uint32_t) set->bytes.len;
	entry->len = (uint32_t) len;
	buffer_append(&set->bytes, data, len);
	slot->hash = hash;
	slot->number = ++set->count;
	/* at most three quarters full */
	if (set->count > set->slot_count / 4 * 3)
		grow_slots(set);
	return set->count - 1;
}

uint32_t
key_set_add(KeySet *set, LakeBytes key)
{
	return add_hashed(set, key.data, key.len,
					  hash_bytes(key.data, key.len, set->seed));
}

uint32_t
key_set_find(const KeySet *set, LakeBytes key)
{
	uint32_t	hash = hash_bytes(key.data, key.len, set->seed);

	/* a free slot gives KEY_SET_NONE */
	return find_slot(set, key.data, key.len, hash)->number - 1;
}

/*
 * The set is larger than the caches as a rule: all slots of a block of rows are
 * on their way before the first one is looked at.
 */
static void
hash_rows(const KeySet *set, const KeyRows *rows, uint32_t first,
		  uint32_t count, uint32_t *hashes)
{
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	start = rows->starts[first + i];

		hashes[i] = hash_bytes(rows->data + start,
							   rows->starts[first + i + 1] - start, set->seed);
		__builtin_prefetch(&set->slots[hashes[i] & (set->slot_count - 1)]);
	}
}

static uint32_t
block_size(const KeyRows *rows, uint32_t first)
{
	return rows->count - first < HASH_BLOCK ? rows->count - first : HASH_BLOCK;
}

void
key_set_add_rows(KeySet *set, const KeyRows *rows, uint32_t *numbers)
{
	uint32_t	hashes[HASH_BLOCK];

	for (uint32_t first = 0; first < rows->count; first += HASH_BLOCK)
	{
		uint32_t	count = block_size(rows, first);
		const uint32_t *starts = rows->starts + first;

		hash_rows(set, rows, first, count, hashes);
		for (uint32_t i = 0; i < count; i++)
			numbers[first + i] = add_hashed(set, rows->data + starts[i],
											starts[i + 1] - starts[i],
											hashes[i]);
	}
}

void
key_set_find_rows(const KeySet *set, const KeyRows *rows, uint32_t *numbers)
{
	uint32_t	hashes[HASH_BLOCK];

	for (uint32_t first = 0; first < rows->count; first += HASH_BLOCK)
	{
		uint32_t	count = block_size(rows, first);
		const uint32_t *starts = rows->starts + first;

		hash_rows(set, rows, first, count, hashes);
		for (uint32_t i = 0; i < count; i++)
			numbers[first + i] = find_slot(set, rows->data + starts[i],
										   starts[i + 1] - starts[i],
										   hashes[i])->number - 1;
	}
}
