/*
 * The dictionary of a column chunk: values to codes.
 *
 * One table with open addressing.  A slot has the code and 32 bits of the hash,
 * so that a step over a slot of another value costs no look at that value, and
 * so that a table grows without looking at any.  Four-byte values are their own
 * 32 bits.  A dictionary of values that collide, by chance or by malice, is
 * given up like one that is too large.
 */
#include "parquet/writer.h"

#include <string.h>

#include "base/bits.h"

#define FIRST_SLOT_BITS	6
#define MAX_SLOT_BITS	24
#define MAX_STEPS		128

#define MULTIPLIER	UINT64_C(0x9e3779b97f4a7c15)

void
dict_init(DictWriter *dict, LakeArena *arena, const ParquetField *field,
		  size_t limit)
{
	memset(dict, 0, sizeof *dict);
	dict->arena = arena;
	dict->kind = value_kind(field);
	dict->width = dict->kind == KIND_FIXED ? (uint32_t) field->type_length :
		(uint32_t) vector_layout_width(field->layout);
	dict->limit = limit < UINT32_MAX / 2 ? limit : UINT32_MAX / 2;
	dict->slot_bits = FIRST_SLOT_BITS;
	dict->slots = lake_alloc_array(arena, (size_t) 1 << FIRST_SLOT_BITS,
								   sizeof *dict->slots);
	buffer_init(&dict->values, arena);
	buffer_init(&dict->starts, arena);
}

void
dict_close(DictWriter *dict)
{
	lake_free(dict->arena, dict->slots);
	dict->slots = NULL;
}

/* ---- hashes: 32 bits, of which the upper ones say the slot ---- */

static inline uint64_t
fold_product(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128) a * b;

	return (uint64_t) product ^ (uint64_t) (product >> 64);
}

static inline uint32_t
hash_u64(uint64_t value)
{
	return (uint32_t) (fold_product(value ^ MULTIPLIER,
									UINT64_C(0xd6e8feb86659fd93)) >> 32);
}

static inline uint32_t
hash_wide(LakeInt128 value)
{
	uint64_t	low = (uint64_t) value;
	uint64_t	high = (uint64_t) ((unsigned __int128) value >> 64);

	return hash_u64(low ^ fold_product(high ^ MULTIPLIER, MULTIPLIER));
}

static inline uint32_t
hash_bytes(const uint8_t *data, size_t len)
{
	uint64_t	hash = len * MULTIPLIER;
	uint64_t	tail = 0;

	if (len >= 8)
	{
		for (size_t i = 0; i + 8 < len; i += 8)
			hash = fold_product(hash ^ bits_load_u64le(data + i), MULTIPLIER);
		tail = bits_load_u64le(data + len - 8);
	}
	else if (len >= 4)
		tail = (uint64_t) bits_load_u32le(data) << 32 |
			bits_load_u32le(data + len - 4);
	else if (len > 0)
		tail = (uint64_t) data[0] << 16 | (uint64_t) data[len / 2] << 8 |
			data[len - 1];
	return hash_u64(hash ^ tail);
}

/* the hash of four bytes is made from what the slot has */
static inline uint32_t
spread(uint32_t tag)
{
	return (uint32_t) (tag * MULTIPLIER >> 32);
}

static inline uint32_t
slot_of(const DictWriter *dict, uint32_t tag)
{
	uint32_t	hash = dict->kind == KIND_4 ? spread(tag) : tag;

	return hash >> (32 - dict->slot_bits);
}

/* ---- the table ---- */

static void
grow(DictWriter *dict)
{
	size_t		old_count = (size_t) 1 << dict->slot_bits;
	uint64_t   *old = dict->slots;
	size_t		mask;

	dict->slot_bits++;
	mask = ((size_t) 1 << dict->slot_bits) - 1;
	dict->slots = lake_alloc_array(dict->arena, mask + 1,
								   sizeof *dict->slots);
	for (size_t i = 0; i < old_count; i++)
	{
		size_t		at;

		if (old[i] == 0)
			continue;
		at = slot_of(dict, (uint32_t) (old[i] >> 32));
		while (dict->slots[at] != 0)
			at = (at + 1) & mask;
		dict->slots[at] = old[i];
	}
	lake_free(dict->arena, old);
}

/* may another entry be added, so many bytes long? */
static bool
has_room(DictWriter *dict, size_t size)
{
	size_t		used = dict->values.len;

	if (used > dict->limit || size > dict->limit - used)
		return false;
	return dict->count < 1u << (MAX_SLOT_BITS - 1);
}

static inline const uint8_t *
entry_bytes(const DictWriter *dict, uint32_t code, uint32_t *len)
{
	const uint32_t *starts = (const uint32_t *) (void *) dict->starts.data;
	const uint8_t *entry = dict->values.data + starts[code];

	*len = bits_load_u32le(entry);
	return entry + 4;
}

/* without a call for what most strings are, short ones */
static inline bool
are_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	if (len > 16)
		return memcmp(a, b, len) == 0;
	if (len >= 8)
		return bits_load_u64le(a) == bits_load_u64le(b) &&
			bits_load_u64le(a + len - 8) == bits_load_u64le(b + len - 8);
	if (len >= 4)
		return bits_load_u32le(a) == bits_load_u32le(b) &&
			bits_load_u32le(a + len - 4) == bits_load_u32le(b + len - 4);
	for (size_t i = 0; i < len; i++)
	{
		if (a[i] != b[i])
			return false;
	}
	return true;
}

static inline bool
entry_is(const DictWriter *dict, uint32_t code, LakeBytes bytes)
{
	uint32_t	len;
	const uint8_t *entry = entry_bytes(dict, code, &len);

	return len == bytes.len && are_equal(entry, bytes.data, len);
}

static void
append_bytes(DictWriter *dict, LakeBytes bytes)
{
	uint32_t	start = (uint32_t) dict->values.len;
	uint32_t	len = (uint32_t) bytes.len;

	buffer_append(&dict->starts, &start, sizeof start);
	buffer_append(&dict->values, &len, sizeof len);
	buffer_append(&dict->values, bytes.data, len);
}

/*
 * One function a kind.  TAG is the slot's upper half for a value, IS says
 * whether entry code is the value when that agrees, SIZE what an entry takes,
 * APPEND adds it.  REPEATS is a short way to the code of the value before.
 */
#define ADDER(name, type, REPEATS, TAG, IS, SIZE, APPEND) \
static bool \
name(DictWriter *dict, const type *values, uint32_t count, uint32_t *codes) \
{ \
	size_t		mask = ((size_t) 1 << dict->slot_bits) - 1; \
	for (uint32_t i = 0; i < count; i++) \
	{ \
		const type	value = values[i]; \
		uint32_t	tag; \
		size_t		at; \
		size_t		steps = 0; \
		if (REPEATS) \
		{ \
			codes[i] = codes[i - 1]; \
			continue; \
		} \
		tag = TAG; \
		at = slot_of(dict, tag); \
		for (;;) \
		{ \
			uint64_t	slot = dict->slots[at]; \
			uint32_t	code = (uint32_t) slot - 1; \
			if (slot == 0) \
			{ \
				if (!has_room(dict, SIZE)) \
					return false; \
				APPEND; \
				codes[i] = dict->count++; \
				dict->slots[at] = (uint64_t) tag << 32 | dict->count; \
				if ((size_t) dict->count * 2 > mask) \
				{ \
					grow(dict); \
					mask = mask * 2 + 1; \
				} \
				break; \
			} \
			if ((uint32_t) (slot >> 32) == tag && IS) \
			{ \
				codes[i] = code; \
				break; \
			} \
			if (++steps > MAX_STEPS) \
				return false; \
			at = (at + 1) & mask; \
		} \
	} \
	return true; \
}

#define ENTRY_IS(type) \
	(((const type *) (void *) dict->values.data)[code] == value)
#define APPEND_VALUE	buffer_append(&dict->values, &value, sizeof value)

/* *INDENT-OFF* */
ADDER(add_u32, Bits32, false, value, true, sizeof value, APPEND_VALUE)
ADDER(add_u32_runs, Bits32, i > 0 && value == values[i - 1],
	  value, true, sizeof value, APPEND_VALUE)
ADDER(add_u64, Bits64, false, hash_u64(value), ENTRY_IS(Bits64),
	  sizeof value, APPEND_VALUE)
ADDER(add_u64_runs, Bits64, i > 0 && value == values[i - 1],
	  hash_u64(value), ENTRY_IS(Bits64), sizeof value, APPEND_VALUE)
ADDER(add_wide, LakeInt128, false, hash_wide(value), ENTRY_IS(LakeInt128),
	  sizeof value, APPEND_VALUE)
ADDER(add_bytes, LakeBytes, false, hash_bytes(value.data, value.len),
	  entry_is(dict, code, value), 4 + value.len, append_bytes(dict, value))
ADDER(add_fixed, LakeBytes, false, hash_bytes(value.data, dict->width),
	  are_equal(dict->values.data + (size_t) code * dict->width, value.data,
				dict->width), dict->width,
	  buffer_append(&dict->values, value.data, dict->width))
/* *INDENT-ON* */

/* of so many values in the beginning */
#define SAMPLE 64

/* are most values those before them?  Else asking costs more than it saves */
#define HAS_RUNS(type) \
static bool \
has_runs_##type(const type *values, uint32_t count) \
{ \
	uint32_t	sample = count < SAMPLE ? count : SAMPLE; \
	uint32_t	same = 0; \
	for (uint32_t i = 1; i < sample; i++) \
		same += values[i] == values[i - 1]; \
	return same > sample / 2; \
}

/* *INDENT-OFF* */
HAS_RUNS(Bits32)
HAS_RUNS(Bits64)
/* *INDENT-ON* */

/* forgets the entries after the first count ones */
static void
roll_back(DictWriter *dict, uint32_t count)
{
	const uint32_t *starts = (const uint32_t *) (void *) dict->starts.data;

	if (dict->kind != KIND_BYTES)
		dict->values.len = (size_t) count * dict->width;
	else if (count < dict->count)
	{
		dict->values.len = starts[count];
		dict->starts.len = count * sizeof *starts;
	}
	dict->count = count;
}

bool
dict_add(DictWriter *dict, const void *values, uint32_t count,
		 uint32_t *codes)
{
	uint32_t	before = dict->count;
	bool		is_added = false;

	switch (dict->kind)
	{
		case KIND_1:
			break;
		case KIND_4:
			is_added = has_runs_Bits32(values, count) ?
				add_u32_runs(dict, values, count, codes) :
				add_u32(dict, values, count, codes);
			break;
		case KIND_8:
			is_added = has_runs_Bits64(values, count) ?
				add_u64_runs(dict, values, count, codes) :
				add_u64(dict, values, count, codes);
			break;
		case KIND_16:
			is_added = add_wide(dict, values, count, codes);
			break;
		case KIND_BYTES:
			is_added = add_bytes(dict, values, count, codes);
			break;
		case KIND_FIXED:
			is_added = add_fixed(dict, values, count, codes);
			break;
	}
	if (!is_added)
		roll_back(dict, before);
	return is_added;
}

/* ---- the way back ---- */

static void
look_up_bytes(const DictWriter *dict, const uint32_t *codes, size_t count,
			  LakeBuffer *out)
{
	for (size_t i = 0; i < count; i++)
	{
		uint32_t	len;
		const uint8_t *entry = entry_bytes(dict, codes[i], &len);

		buffer_append(out, entry - 4, (size_t) len + 4);
	}
}

#define LOOK_UP(width) \
	for (size_t i = 0; i < count; i++) \
		memcpy(to + i * (width), from + (size_t) codes[i] * (width), (width))

void
dict_look_up(const DictWriter *dict, const uint32_t *codes, size_t count,
			 LakeBuffer *out)
{
	const uint8_t *from = dict->values.data;
	size_t		size = count * dict->width;
	uint8_t    *to;

	if (count == 0)
		return;
	if (dict->kind == KIND_BYTES)
	{
		look_up_bytes(dict, codes, count, out);
		return;
	}
	buffer_reserve(out, size);
	to = out->data + out->len;
	if (dict->kind == KIND_4)
		LOOK_UP(4);
	else if (dict->kind == KIND_8)
		LOOK_UP(8);
	else
		LOOK_UP(dict->width);
	out->len += size;
}

size_t
dict_measure(const DictWriter *dict, const uint32_t *codes, size_t count,
			 size_t limit)
{
	size_t		size = 0;

	if (dict->kind != KIND_BYTES)
		return count * dict->width;
	for (size_t i = 0; i < count && size <= limit; i++)
	{
		uint32_t	len;

		(void) entry_bytes(dict, codes[i], &len);
		size += (size_t) len + 4;
	}
	return size;
}
