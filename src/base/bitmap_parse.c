/*
 * The serialised form of bitmaps.
 *
 * Nothing is reserved by a count that the bytes do not bear out: containers
 * are appended as they are met, and each costs its bytes in the input.  Java
 * writes a bitmap for every key up to the highest, empty ones included.
 */
#include <string.h>

#include "base/bitmap_int.h"
#include "base/bits.h"
#include "base/bytes.h"

#define COOKIE_PLAIN		12346
#define COOKIE_RUNS			12347
/* with runs, fewer containers than this have no offsets */
#define OFFSETS_MIN			4
#define CONTAINERS_MAX		65536

static const char what[] = "deletion vector bitmap";

/* the header of one 32-bit bitmap; the pointers are into the input */
typedef struct Header
{
	uint32_t	count;
	const uint8_t *run_flags;	/* NULL: no run containers */
	const uint8_t *descriptors; /* key and cardinality - 1, two bytes each */
	const uint8_t *offsets;		/* NULL: none */
} Header;

static uint32_t
load_u16(const uint8_t *data)
{
	return (uint32_t) data[0] | (uint32_t) data[1] << 8;
}

static void
read_header(ByteCursor *cursor, Header *header)
{
	uint32_t	cookie = cursor_u32le(cursor);

	memset(header, 0, sizeof *header);
	if ((cookie & 0xffff) == COOKIE_RUNS)
	{
		header->count = (cookie >> 16) + 1;
		header->run_flags = cursor_take(cursor, (header->count + 7) / 8);
	}
	else if (cookie == COOKIE_PLAIN)
		header->count = cursor_u32le(cursor);
	else
		lake_throw(LAKE_ERROR_CORRUPT, "%s has the unknown cookie %u", what,
				   cookie);
	if (header->count > CONTAINERS_MAX)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "%s has %u containers, more than 65536", what,
				   header->count);
	header->descriptors = cursor_take(cursor, (uint64_t) header->count * 4);
	if (header->run_flags == NULL || header->count >= OFFSETS_MIN)
		header->offsets = cursor_take(cursor, (uint64_t) header->count * 4);
}

static _Noreturn void
throw_order(const char *of)
{
	lake_throw(LAKE_ERROR_CORRUPT, "%s has %s that do not ascend", what, of);
}

static _Noreturn void
throw_cardinality(const BitmapContainer *container, uint64_t actual)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "%s has a container of %llu values that says %u", what,
			   (unsigned long long) actual, container->cardinality);
}

static void
read_array(LakeArena *arena, ByteCursor *cursor, BitmapContainer *container)
{
	size_t		size = container->cardinality * sizeof(uint16_t);
	const uint8_t *bytes = cursor_take(cursor, size);

	container->kind = CONTAINER_ARRAY;
	container->count = container->capacity = container->cardinality;
	container->values = lake_alloc_raw(arena, size);
	memcpy(container->values, bytes, size);
	for (uint32_t i = 1; i < container->count; i++)
	{
		if (container->values[i - 1] >= container->values[i])
			throw_order("values");
	}
}

static void
read_bitset(LakeArena *arena, ByteCursor *cursor, BitmapContainer *container)
{
	size_t		size = CONTAINER_WORDS * sizeof(uint64_t);
	const uint8_t *bytes = cursor_take(cursor, size);
	uint64_t	actual = 0;

	container->kind = CONTAINER_BITSET;
	container->words = lake_alloc_raw(arena, size);
	memcpy(container->words, bytes, size);
	for (int i = 0; i < CONTAINER_WORDS; i++)
		actual += (uint64_t) __builtin_popcountll(container->words[i]);
	if (actual != container->cardinality)
		throw_cardinality(container, actual);
}

static void
read_runs(LakeArena *arena, ByteCursor *cursor, BitmapContainer *container)
{
	uint32_t	count = load_u16(cursor_take(cursor, 2));
	size_t		size = count * sizeof(BitmapRun);
	const uint8_t *bytes = cursor_take(cursor, size);
	uint64_t	actual = 0;
	uint32_t	end = 0;		/* of the run before */

	container->kind = CONTAINER_RUN;
	container->count = container->capacity = count;
	container->runs = lake_alloc_raw(arena, size);
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	start = load_u16(bytes + 4 * i);
		uint32_t	more = load_u16(bytes + 4 * i + 2);

		if (start + more >= CONTAINER_SIZE)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "%s has a run that leaves its container", what);
		if (start < end)
			throw_order("runs");
		end = start + more + 1;
		actual += more + 1;
		container->runs[i].start = (uint16_t) start;
		container->runs[i].more = (uint16_t) more;
	}
	if (actual != container->cardinality)
		throw_cardinality(container, actual);
}

/* one 32-bit bitmap, whose positions begin at high << 32 */
static void
read_bitmap32(LakeBitmap *bitmap, ByteCursor *cursor, uint64_t high)
{
	const uint8_t *start = cursor->pos;
	Header		header;
	uint32_t	last_key = 0;

	read_header(cursor, &header);
	for (uint32_t i = 0; i < header.count; i++)
	{
		uint32_t	key = load_u16(header.descriptors + 4 * i);
		BitmapContainer *container;

		if (i > 0 && key <= last_key)
			throw_order("container keys");
		last_key = key;
		if (header.offsets != NULL &&
			bits_load_u32le(header.offsets + 4 * i) !=
			(uint64_t) (cursor->pos - start))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "%s has a container that is not at its offset", what);
		container = bitmap_append(bitmap, high << CONTAINER_BITS | key);
		container->cardinality =
			load_u16(header.descriptors + 4 * i + 2) + 1;
		if (header.run_flags != NULL &&
			(header.run_flags[i / 8] >> (i % 8) & 1) != 0)
			read_runs(bitmap->arena, cursor, container);
		else if (container->cardinality <= ARRAY_MAX)
			read_array(bitmap->arena, cursor, container);
		else
			read_bitset(bitmap->arena, cursor, container);
	}
}

LakeBitmap *
bitmap_parse64(LakeArena *arena, LakeBytes bytes)
{
	LakeBitmap *bitmap = bitmap_create(arena);
	ByteCursor	cursor;
	uint64_t	count;
	uint32_t	last_key = 0;

	cursor_init(&cursor, bytes.data, bytes.len, what);
	count = cursor_u64le(&cursor);
	for (uint64_t i = 0; i < count; i++)
	{
		uint32_t	key = cursor_u32le(&cursor);

		lake_check_interrupts();
		if (key > INT32_MAX)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "%s has the key %u, which is not below 2^31", what,
					   key);
		if (i > 0 && key <= last_key)
			throw_order("keys");
		last_key = key;
		read_bitmap32(bitmap, &cursor, key);
	}
	if (cursor_left(&cursor) > 0)
		lake_throw(LAKE_ERROR_CORRUPT, "%s has %zu bytes after its end", what,
				   cursor_left(&cursor));
	return bitmap;
}
