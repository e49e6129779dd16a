/*
 * The serialised form of bitmaps, written.
 *
 * Every container gets the smallest of its three forms, whatever it is in
 * memory; all of them are made from its runs.
 */
#include <string.h>

#include "base/bitmap_int.h"

#define COOKIE_PLAIN		12346
#define COOKIE_RUNS			12347
/* with runs, fewer containers than this have no offsets */
#define OFFSETS_MIN			4

/* where a walk over a container's runs is: an index, or a bit of a bitset */
typedef struct RunWalk
{
	const BitmapContainer *container;
	uint32_t	at;
} RunWalk;

/* the first bit from at on that is set (or is not); CONTAINER_SIZE: none */
static uint32_t
find_bit(const uint64_t *words, uint32_t at, bool set)
{
	while (at < CONTAINER_SIZE)
	{
		uint64_t	word = words[at / 64];

		word = (set ? word : ~word) >> at % 64;
		if (word != 0)
			return at + (uint32_t) __builtin_ctzll(word);
		at = (at / 64 + 1) * 64;
	}
	return CONTAINER_SIZE;
}

/* the next positions without a gap, as many as there are; false at the end */
static bool
next_run(RunWalk *walk, uint32_t *start, uint32_t *end)
{
	const BitmapContainer *container = walk->container;

	if (container->kind == CONTAINER_BITSET)
	{
		*start = find_bit(container->words, walk->at, true);
		*end = find_bit(container->words, *start, false);
		walk->at = *end;
		return *start < CONTAINER_SIZE;
	}
	if (walk->at == container->count)
		return false;
	if (container->kind == CONTAINER_ARRAY)
	{
		*start = container->values[walk->at];
		for (*end = *start; walk->at < container->count &&
			 container->values[walk->at] == *end; walk->at++)
			++* end;
		return true;
	}
	*start = container->runs[walk->at].start;
	for (*end = *start; walk->at < container->count &&
		 container->runs[walk->at].start == *end; walk->at++)
		*end = run_end(&container->runs[walk->at]);
	return true;
}

static uint32_t
count_runs(const BitmapContainer *container)
{
	RunWalk		walk = {container, 0};
	uint32_t	count = 0;
	uint32_t	start;
	uint32_t	end;

	while (next_run(&walk, &start, &end))
		count++;
	return count;
}

static bool
is_smaller_as_runs(const BitmapContainer *container, uint32_t runs)
{
	size_t		plain = container->cardinality <= ARRAY_MAX ?
		container->cardinality * sizeof(uint16_t) :
		CONTAINER_WORDS * sizeof(uint64_t);

	return sizeof(uint16_t) + runs * sizeof(BitmapRun) < plain;
}

static void
append_u16(LakeBuffer *out, uint32_t value)
{
	uint16_t	low = (uint16_t) value;

	buffer_append(out, &low, sizeof low);
}

static void
append_u32(LakeBuffer *out, uint32_t value)
{
	buffer_append(out, &value, sizeof value);
}

static void
append_runs(LakeBuffer *out, const BitmapContainer *container, uint32_t runs)
{
	RunWalk		walk = {container, 0};
	uint32_t	start;
	uint32_t	end;

	append_u16(out, runs);
	while (next_run(&walk, &start, &end))
	{
		append_u16(out, start);
		append_u16(out, end - start - 1);
	}
}

static void
append_array(LakeBuffer *out, const BitmapContainer *container)
{
	RunWalk		walk = {container, 0};
	uint32_t	start;
	uint32_t	end;

	while (next_run(&walk, &start, &end))
	{
		for (; start < end; start++)
			append_u16(out, start);
	}
}

static void
append_bitset(LakeBuffer *out, const BitmapContainer *container)
{
	RunWalk		walk = {container, 0};
	uint64_t	words[CONTAINER_WORDS];
	uint32_t	start;
	uint32_t	end;

	if (container->kind == CONTAINER_BITSET)
	{
		buffer_append(out, container->words, sizeof words);
		return;
	}
	memset(words, 0, sizeof words);
	while (next_run(&walk, &start, &end))
	{
		for (; start < end; start++)
			words[start / 64] |= (uint64_t) 1 << start % 64;
	}
	buffer_append(out, words, sizeof words);
}

/* one 32-bit bitmap: containers whose keys differ in their lower half only */
static void
append_bitmap32(LakeBuffer *out, const BitmapContainer *containers,
				uint32_t count)
{
	size_t		start = out->len;
	uint32_t   *runs = lake_alloc_array(out->arena, count, sizeof *runs);
	uint8_t    *flags = lake_alloc(out->arena, (count + 7) / 8);
	bool		any_runs = false;
	size_t		offsets;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	n = count_runs(&containers[i]);

		if (!is_smaller_as_runs(&containers[i], n))
			continue;
		any_runs = true;
		runs[i] = n;
		flags[i / 8] |= (uint8_t) (1 << i % 8);
	}
	append_u32(out, any_runs ? COOKIE_RUNS | (count - 1) << 16 :
			   COOKIE_PLAIN);
	if (any_runs)
		buffer_append(out, flags, (count + 7) / 8);
	else
		append_u32(out, count);
	for (uint32_t i = 0; i < count; i++)
	{
		append_u16(out, (uint32_t) containers[i].key);
		append_u16(out, containers[i].cardinality - 1);
	}
	offsets = out->len;
	if (!any_runs || count >= OFFSETS_MIN)
	{
		for (uint32_t i = 0; i < count; i++)
			append_u32(out, 0);
	}
	else
		offsets = SIZE_MAX;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	offset = (uint32_t) (out->len - start);

		if (offsets != SIZE_MAX)
			memcpy(out->data + offsets + i * sizeof offset, &offset,
				   sizeof offset);
		if (runs[i] > 0)
			append_runs(out, &containers[i], runs[i]);
		else if (containers[i].cardinality <= ARRAY_MAX)
			append_array(out, &containers[i]);
		else
			append_bitset(out, &containers[i]);
	}
	lake_free(out->arena, flags);
	lake_free(out->arena, runs);
}

/* containers from first on that are in the same 32-bit bitmap */
static uint32_t
count_same(const LakeBitmap *bitmap, size_t first)
{
	uint64_t	key = bitmap->containers[first].key >> CONTAINER_BITS;
	size_t		end = first;

	while (end < bitmap->count &&
		   bitmap->containers[end].key >> CONTAINER_BITS == key)
		end++;
	return (uint32_t) (end - first);
}

void
bitmap_format64(const LakeBitmap *bitmap, LakeBuffer *out)
{
	uint64_t	count = 0;

	for (size_t i = 0; i < bitmap->count; i += count_same(bitmap, i))
		count++;
	buffer_append(out, &count, sizeof count);
	for (size_t i = 0; i < bitmap->count;)
	{
		uint64_t	key = bitmap->containers[i].key >> CONTAINER_BITS;
		uint32_t	same = count_same(bitmap, i);

		lake_check_interrupts();
		if (key > INT32_MAX)
			lake_throw(LAKE_ERROR_LIMIT,
					   "positions from 2^63 on cannot be in a bitmap");
		append_u32(out, (uint32_t) key);
		append_bitmap32(out, &bitmap->containers[i], same);
		i += same;
	}
}
