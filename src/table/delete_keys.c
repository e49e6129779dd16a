/*
 * Sets of byte strings and, on top of them, the keys of equality deletes.
 *
 * A tuple of key values becomes a string of bytes, so that equality is
 * equality of bytes: NULL equals NULL, NaN equals NaN, and -0.0 is not 0.0,
 * as in Java's total order of floats.  Vectors are encoded a part at a time.
 *
 * The keys of all delete files with the same field ids are in one set, each
 * with the list of files that have it.  A data file is probed once, however
 * many delete files apply to it, and only lists that name one of those count.
 *
 * Iceberg spec, "Equality Delete Files".
 */
#include "table/deletes.h"

#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "table/table_int.h"

#define NO_LINK			UINT32_MAX
#define FIRST_SLOTS		64		/* a power of two */

/* ---- sets of byte strings ---- */

typedef struct KeyEntry
{
	uint32_t	hash;
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
	uint32_t   *slots;			/* entry + 1, 0 = free */
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
	set->slots = lake_alloc_array(arena, FIRST_SLOTS, sizeof(uint32_t));
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
		set->slot_count * sizeof(uint32_t);
}

/* the slot that holds the key, or the free one where it belongs */
static inline uint32_t
find_slot(const KeySet *set, const uint8_t *data, size_t len, uint32_t hash)
{
	uint32_t	mask = set->slot_count - 1;

	for (uint32_t slot = hash & mask;; slot = (slot + 1) & mask)
	{
		uint32_t	entry = set->slots[slot];
		const KeyEntry *found;

		if (entry == 0)
			return slot;
		found = &set->entries[entry - 1];
		if (found->hash == hash && found->len == len &&
			(len == 0 ||
			 memcmp(set->bytes.data + found->offset, data, len) == 0))
			return slot;
	}
}

static inline uint32_t
find_key(const KeySet *set, const uint8_t *data, size_t len)
{
	uint32_t	hash = hash_bytes(data, len, set->seed);

	/* KEY_SET_NONE is what a free slot gives */
	return set->slots[find_slot(set, data, len, hash)] - 1;
}

uint32_t
key_set_find(const KeySet *set, LakeBytes key)
{
	return find_key(set, key.data, key.len);
}

static void
grow_slots(KeySet *set)
{
	uint32_t	slot_count = set->slot_count * 2;
	uint32_t   *slots = lake_alloc_array(set->arena, slot_count,
										 sizeof(uint32_t));

	for (uint32_t i = 0; i < set->count; i++)
	{
		uint32_t	slot = set->entries[i].hash & (slot_count - 1);

		while (slots[slot] != 0)
			slot = (slot + 1) & (slot_count - 1);
		slots[slot] = i + 1;
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

uint32_t
key_set_add(KeySet *set, LakeBytes key)
{
	uint32_t	hash = hash_bytes(key.data, key.len, set->seed);
	uint32_t	slot = find_slot(set, key.data, key.len, hash);
	KeyEntry   *entry;

	if (set->slots[slot] != 0)
		return set->slots[slot] - 1;
	if (set->count >= KEY_SET_MAX_KEYS ||
		set->bytes.len + key.len > KEY_SET_MAX_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "delete files have more than %u different keys or %zu bytes of them",
				   KEY_SET_MAX_KEYS, KEY_SET_MAX_BYTES);
	if (set->count == set->capacity)
		grow_entries(set);
	entry = &set->entries[set->count];
	entry->hash = hash;
	entry->offset = (uint32_t) set->bytes.len;
	entry->len = (uint32_t) key.len;
	buffer_append(&set->bytes, key.data, key.len);
	set->slots[slot] = ++set->count;
	/* at most three quarters full */
	if (set->count > set->slot_count / 4 * 3)
		grow_slots(set);
	return set->count - 1;
}

/* ---- tuples as byte strings ---- */

/* rows of a batch, encoded; row i is bytes[starts[i]..starts[i + 1]) */
typedef struct EncodedRows
{
	LakeBuffer	bytes;
	uint32_t	starts[BATCH_MAX_ROWS + 1];
	uint32_t	ends[BATCH_MAX_ROWS];	/* while parts are appended */
} EncodedRows;

static inline bool
part_is_null(const LakeVector *part, uint32_t row)
{
	return part->nulls != NULL && part->nulls[row] != 0;
}

static inline const uint8_t *
part_slot(const LakeVector *part, uint32_t row, size_t width)
{
	if (part->dict != NULL)
		return (const uint8_t *) part->dict->values +
			(size_t) part->codes[row] * width;
	return (const uint8_t *) part->values + (size_t) row * width;
}

/*
 * A part is a NULL flag and the value, zeros if it is NULL; bytes come with
 * their length.  Without bytes all rows are equally long.
 */
static uint32_t
fixed_size(const LakeVector *part)
{
	return 1 + (part->layout == VECTOR_BYTES ? (uint32_t) sizeof(uint32_t) :
				(uint32_t) vector_layout_width(part->layout));
}

static _Noreturn void
throw_too_long(void)
{
	lake_throw(LAKE_ERROR_LIMIT,
			   "keys of equality deletes are longer than %zu bytes",
			   KEY_SET_MAX_BYTES);
}

static void
add_lengths(EncodedRows *rows, const LakeVector *part, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		const LakeBytes *value;

		if (part_is_null(part, i))
			continue;
		value = (const LakeBytes *) part_slot(part, i, sizeof(LakeBytes));
		if (value->len > KEY_SET_MAX_BYTES - rows->ends[i])
			throw_too_long();
		rows->ends[i] += (uint32_t) value->len;
	}
}

/* sets starts, and ends to the same; returns the bytes of all rows */
static size_t
measure_rows(EncodedRows *rows, const LakeVector *parts, int part_count,
			 uint32_t count)
{
	uint32_t	fixed = 0;
	size_t		total = 0;

	for (int i = 0; i < part_count; i++)
		fixed += fixed_size(&parts[i]);
	for (uint32_t i = 0; i < count; i++)
		rows->ends[i] = fixed;
	for (int i = 0; i < part_count; i++)
		if (parts[i].layout == VECTOR_BYTES)
			add_lengths(rows, &parts[i], count);
	for (uint32_t i = 0; i < count; i++)
	{
		rows->starts[i] = (uint32_t) total;
		total += rows->ends[i];
		if (total > KEY_SET_MAX_BYTES)
			throw_too_long();
		rows->ends[i] = rows->starts[i];
	}
	rows->starts[count] = (uint32_t) total;
	return total;
}

/* one NaN for all, so that equal values are equal bytes */
static void
copy_value(uint8_t *dst, const uint8_t *src, VectorLayout layout,
		   size_t width)
{
	static const float nan_single = __builtin_nanf("");
	static const double nan_double = __builtin_nan("");
	float		single;
	double		number;

	memcpy(dst, src, width);
	if (layout == VECTOR_F32)
	{
		memcpy(&single, src, sizeof single);
		if (single != single)
			memcpy(dst, &nan_single, sizeof single);
	}
	else if (layout == VECTOR_F64)
	{
		memcpy(&number, src, sizeof number);
		if (number != number)
			memcpy(dst, &nan_double, sizeof number);
	}
}

static void
append_bytes_part(EncodedRows *rows, const LakeVector *part, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		uint8_t    *dst = rows->bytes.data + rows->ends[i];
		LakeBytes	value = {0};
		uint32_t	len;

		*dst = part_is_null(part, i);
		if (!part_is_null(part, i))
			value = *(const LakeBytes *) part_slot(part, i, sizeof value);
		len = (uint32_t) value.len;
		memcpy(dst + 1, &len, sizeof len);
		if (len > 0)
			memcpy(dst + 1 + sizeof len, value.data, len);
		rows->ends[i] += 1 + (uint32_t) sizeof len + len;
	}
}

/* inlined for each width, so that the copies are single moves */
static inline void
append_fixed_part(EncodedRows *rows, const LakeVector *part, uint32_t count,
				  size_t width)
{
	for (uint32_t i = 0; i < count; i++)
	{
		uint8_t    *dst = rows->bytes.data + rows->ends[i];
		bool		is_null = part_is_null(part, i);

		*dst++ = is_null;
		if (is_null)
			memset(dst, 0, width);
		else
			copy_value(dst, part_slot(part, i, width), part->layout, width);
		rows->ends[i] += 1 + (uint32_t) width;
	}
}

static void
append_part(EncodedRows *rows, const LakeVector *part, uint32_t count)
{
	switch (part->layout)
	{
		case VECTOR_BYTES:
			append_bytes_part(rows, part, count);
			break;
		case VECTOR_BOOL:
			append_fixed_part(rows, part, count, 1);
			break;
		case VECTOR_I32:
		case VECTOR_F32:
			append_fixed_part(rows, part, count, 4);
			break;
		case VECTOR_I64:
		case VECTOR_F64:
			append_fixed_part(rows, part, count, 8);
			break;
		case VECTOR_I128:
			append_fixed_part(rows, part, count, 16);
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_INTERNAL,
					   "a nested column is no key of an equality delete");
	}
}

/* count <= BATCH_MAX_ROWS */
static void
encode_rows(EncodedRows *rows, const LakeVector *parts, int part_count,
			uint32_t count)
{
	size_t		total = measure_rows(rows, parts, part_count, count);

	rows->bytes.len = 0;
	buffer_reserve(&rows->bytes, total);
	for (int i = 0; i < part_count; i++)
		append_part(rows, &parts[i], count);
}

/* ---- keys of delete files ---- */

/* a file that has a key, in the key's list */
typedef struct KeyLink
{
	uint32_t	file;
	uint32_t	next;			/* NO_LINK at the end */
} KeyLink;

struct DeleteKeys
{
	LakeArena  *arena;
	int			part_count;
	KeySet	   *set;
	uint32_t   *heads;			/* of each key's list */
	uint32_t	head_capacity;
	uint32_t	link_count;
	uint32_t	link_capacity;
	KeyLink    *links;
	EncodedRows rows;
};

DeleteKeys *
delete_keys_create(LakeArena *arena, int part_count)
{
	DeleteKeys *keys = lake_alloc(arena, sizeof(DeleteKeys));

	keys->arena = arena;
	keys->part_count = part_count;
	keys->set = key_set_create(arena);
	buffer_init(&keys->rows.bytes, arena);
	return keys;
}

uint64_t
delete_keys_size(const DeleteKeys *keys)
{
	return key_set_size(keys->set) + keys->head_capacity * sizeof(uint32_t) +
		keys->link_capacity * sizeof(KeyLink);
}

static void
add_link(DeleteKeys *keys, uint32_t key, uint32_t file)
{
	KeyLink    *link;

	if (keys->link_count == keys->link_capacity)
	{
		uint32_t	capacity = keys->link_capacity == 0 ? FIRST_SLOTS :
			keys->link_capacity * 2;

		if (keys->link_count >= KEY_SET_MAX_KEYS)
			lake_throw(LAKE_ERROR_LIMIT, "delete files have more than %u keys",
					   KEY_SET_MAX_KEYS);
		keys->links = lake_realloc(keys->arena, keys->links,
								   keys->link_capacity * sizeof(KeyLink),
								   capacity * sizeof(KeyLink));
		keys->link_capacity = capacity;
	}
	link = &keys->links[keys->link_count];
	link->file = file;
	link->next = keys->heads[key];
	keys->heads[key] = keys->link_count++;
}

static void
add_key(DeleteKeys *keys, LakeBytes bytes, uint32_t file)
{
	uint32_t	known = keys->set->count;
	uint32_t	key = key_set_add(keys->set, bytes);

	if (key == known)
	{
		if (key == keys->head_capacity)
		{
			uint32_t	capacity = key == 0 ? FIRST_SLOTS : key * 2;

			keys->heads = lake_realloc(keys->arena, keys->heads,
									   key * sizeof(uint32_t),
									   capacity * sizeof(uint32_t));
			keys->head_capacity = capacity;
		}
		keys->heads[key] = NO_LINK;
	}
	else if (keys->links[keys->heads[key]].file == file)
		return;					/* twice in one file */
	add_link(keys, key, file);
}

void
delete_keys_add(DeleteKeys *keys, uint32_t file, const LakeVector *parts,
				uint32_t count)
{
	EncodedRows *rows = &keys->rows;

	encode_rows(rows, parts, keys->part_count, count);
	for (uint32_t i = 0; i < count; i++)
	{
		LakeBytes	bytes = {
			rows->bytes.data + rows->starts[i],
			rows->starts[i + 1] - rows->starts[i]
		};

		add_key(keys, bytes, file);
	}
}

/* ---- probing ---- */

struct KeyProbe
{
	LakeArena  *arena;
	DeleteKeys *keys;
	const uint8_t *applies;		/* a byte a file */
	/* single keys that come as a dictionary: one lookup an entry */
	uint64_t	dictionary;		/* id of the one that verdicts is of */
	uint8_t    *verdicts;		/* NULL: none yet */
	size_t		verdicts_size;
	uint8_t		null_verdict;
};

KeyProbe *
key_probe_create(LakeArena *arena, DeleteKeys *keys, const uint8_t *applies)
{
	KeyProbe   *probe = lake_alloc(arena, sizeof(KeyProbe));

	probe->arena = arena;
	probe->keys = keys;
	probe->applies = applies;
	return probe;
}

static inline uint8_t
is_deleted(const KeyProbe *probe, const uint8_t *data, size_t len)
{
	const DeleteKeys *keys = probe->keys;
	uint32_t	key = find_key(keys->set, data, len);

	if (key == KEY_SET_NONE)
		return 0;
	for (uint32_t link = keys->heads[key]; link != NO_LINK;
		 link = keys->links[link].next)
		if (probe->applies[keys->links[link].file])
			return 1;
	return 0;
}

/* mask[i] |= row i is deleted */
static void
probe_rows(KeyProbe *probe, const LakeVector *parts, uint32_t count,
		   uint8_t *mask)
{
	EncodedRows *rows = &probe->keys->rows;

	encode_rows(rows, parts, probe->keys->part_count, count);
	for (uint32_t i = 0; i < count; i++)
		mask[i] |= is_deleted(probe, rows->bytes.data + rows->starts[i],
							  rows->starts[i + 1] - rows->starts[i]);
}

static void
judge_dictionary(KeyProbe *probe, const LakeDictionary *dictionary)
{
	static const uint8_t is_null = 1;
	size_t		width = vector_layout_width(dictionary->layout);
	LakeVector	part = {.layout = dictionary->layout, .count = 1,
	.nulls = &is_null, .values = dictionary->values};

	if (probe->verdicts_size < dictionary->count)
	{
		if (probe->verdicts != NULL)
			lake_free(probe->arena, probe->verdicts);
		probe->verdicts = NULL;
		probe->verdicts = lake_alloc(probe->arena, dictionary->count);
		probe->verdicts_size = dictionary->count;
	}
	else if (probe->verdicts != NULL)
		memset(probe->verdicts, 0, dictionary->count);
	probe->null_verdict = 0;
	probe_rows(probe, &part, 1, &probe->null_verdict);
	part.nulls = NULL;
	for (uint32_t done = 0; done < dictionary->count; done += part.count)
	{
		part.count = dictionary->count - done < BATCH_MAX_ROWS ?
			dictionary->count - done : BATCH_MAX_ROWS;
		part.values = (const char *) dictionary->values + done * width;
		probe_rows(probe, &part, part.count, probe->verdicts + done);
	}
	probe->dictionary = dictionary->id;
}

static bool
is_worth_judging(const LakeVector *part, const KeyProbe *probe)
{
	/* a dictionary is looked up whole, so it should not outweigh many rows */
	return part->dict != NULL && part->dict->count > 0 &&
		(probe->dictionary == part->dict->id ||
		 part->dict->count <= 4 * BATCH_MAX_ROWS);
}

void
key_probe_mark(KeyProbe *probe, const LakeVector *parts, uint32_t count,
			   uint8_t *mask)
{
	const LakeVector *part = &parts[0];

	if (probe->keys->part_count != 1 || !is_worth_judging(part, probe))
	{
		probe_rows(probe, parts, count, mask);
		return;
	}
	if (probe->verdicts == NULL || probe->dictionary != part->dict->id)
		judge_dictionary(probe, part->dict);
	if (part->nulls == NULL)
	{
		for (uint32_t i = 0; i < count; i++)
			mask[i] |= probe->verdicts[part->codes[i]];
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		mask[i] |= part->nulls[i] ? probe->null_verdict :
			probe->verdicts[part->codes[i]];
}
