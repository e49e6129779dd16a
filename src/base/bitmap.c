/*
 * Bitmaps in memory: what can be asked of them.
 *
 * Marking is what counts: each batch of a scan asks for its rows' bytes, so
 * that bitsets are spread eight bits at a time and runs are filled as such.
 */
#include "base/bitmap.h"

#include <string.h>

#include "base/bitmap_int.h"
#include "base/bits.h"

size_t
bitmap_lower_container(const LakeBitmap *bitmap, uint64_t key)
{
	size_t		low = 0;
	size_t		high = bitmap->count;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (bitmap->containers[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t
container_lower_value(const BitmapContainer *container, uint32_t value)
{
	uint32_t	low = 0;
	uint32_t	high = container->count;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (container->values[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t
container_lower_run(const BitmapContainer *container, uint32_t value)
{
	uint32_t	low = 0;
	uint32_t	high = container->count;

	while (low < high)
	{
		uint32_t	middle = (low + high) / 2;

		if (run_end(&container->runs[middle]) <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
container_contains(const BitmapContainer *container, uint32_t low)
{
	uint32_t	index;

	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			index = container_lower_value(container, low);
			return index < container->count &&
				container->values[index] == low;
		case CONTAINER_RUN:
			index = container_lower_run(container, low);
			return index < container->count &&
				container->runs[index].start <= low;
		case CONTAINER_BITSET:
			return container->words[low / 64] >> (low % 64) & 1;
	}
	return false;
}

bool
bitmap_contains(const LakeBitmap *bitmap, uint64_t position)
{
	uint64_t	key = position >> CONTAINER_BITS;
	size_t		index = bitmap_lower_container(bitmap, key);

	return index < bitmap->count && bitmap->containers[index].key == key &&
		container_contains(&bitmap->containers[index],
						   position % CONTAINER_SIZE);
}

size_t
bitmap_block_count(const LakeBitmap *bitmap)
{
	return bitmap->count;
}

uint64_t
bitmap_cardinality(const LakeBitmap *bitmap)
{
	uint64_t	cardinality = 0;

	for (size_t i = 0; i < bitmap->count; i++)
		cardinality += bitmap->containers[i].cardinality;
	return cardinality;
}

/* how many values are below end, 0..65536 */
static uint32_t
container_rank(const BitmapContainer *container, uint32_t end)
{
	uint32_t	rank = 0;

	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			return container_lower_value(container, end);
		case CONTAINER_RUN:
			for (uint32_t i = 0; i < container->count; i++)
			{
				const BitmapRun *run = &container->runs[i];

				if (run->start >= end)
					break;
				rank += (run_end(run) < end ? run_end(run) : end) - run->start;
			}
			return rank;
		case CONTAINER_BITSET:
			for (uint32_t i = 0; i < end / 64; i++)
				rank += (uint32_t) __builtin_popcountll(container->words[i]);
			if (end % 64 != 0)
				rank += (uint32_t)
					__builtin_popcountll(container->words[end / 64] &
										 (((uint64_t) 1 << (end % 64)) - 1));
			return rank;
	}
	return rank;
}

/* the part of [first, end) that lies in a container, counted from its start */
static void
clip(const BitmapContainer *container, uint64_t first, uint64_t end,
	 uint32_t *from, uint32_t *to)
{
	uint64_t	base = container->key << CONTAINER_BITS;

	*from = first <= base ? 0 : (uint32_t) (first - base);
	*to = end - base >= CONTAINER_SIZE ? CONTAINER_SIZE :
		(uint32_t) (end - base);
}

uint64_t
bitmap_count_range(const LakeBitmap *bitmap, uint64_t first, uint64_t end)
{
	uint64_t	count = 0;

	if (first >= end)
		return 0;
	for (size_t i = bitmap_lower_container(bitmap, first >> CONTAINER_BITS);
		 i < bitmap->count &&
		 bitmap->containers[i].key << CONTAINER_BITS < end; i++)
	{
		const BitmapContainer *container = &bitmap->containers[i];
		uint32_t	from;
		uint32_t	to;

		clip(container, first, end, &from, &to);
		count += to == CONTAINER_SIZE ? container->cardinality :
			container_rank(container, to);
		if (from > 0)
			count -= container_rank(container, from);
	}
	return count;
}

/* bit i of bits becomes byte i */
static uint64_t
spread_bits(uint8_t bits)
{
	uint64_t	bytes = bits * 0x0101010101010101u & 0x8040201008040201u;

	return (bytes + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

/* marks the bits from..to of words; mask[0] belongs to from */
static uint32_t
mark_words(const uint64_t *words, uint32_t from, uint32_t to, uint8_t *mask)
{
	uint32_t	found = 0;

	while (from < to)
	{
		uint32_t	len = 64 - from % 64;
		uint64_t	word = words[from / 64] >> (from % 64);

		if (len > to - from)
			len = to - from;
		if (len < 64)
			word &= ((uint64_t) 1 << len) - 1;
		found += (uint32_t) __builtin_popcountll(word);
		if (len == 64)
		{
			for (uint32_t i = 0; word != 0; i += 8, word >>= 8)
			{
				uint64_t	bytes = bits_load_u64le(mask + i) |
					spread_bits((uint8_t) word);

				memcpy(mask + i, &bytes, sizeof bytes);
			}
		}
		else
		{
			for (; word != 0; word &= word - 1)
				mask[__builtin_ctzll(word)] = 1;
		}
		mask += len;
		from += len;
	}
	return found;
}

static uint32_t
mark_container(const BitmapContainer *container, uint32_t from, uint32_t to,
			   uint8_t *mask)
{
	uint32_t	found = 0;

	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			for (uint32_t i = container_lower_value(container, from);
				 i < container->count && container->values[i] < to; i++)
			{
				mask[container->values[i] - from] = 1;
				found++;
			}
			return found;
		case CONTAINER_RUN:
			for (uint32_t i = container_lower_run(container, from);
				 i < container->count && container->runs[i].start < to; i++)
			{
				const BitmapRun *run = &container->runs[i];
				uint32_t	start = run->start < from ? from : run->start;
				uint32_t	end = run_end(run) < to ? run_end(run) : to;

				memset(mask + (start - from), 1, end - start);
				found += end - start;
			}
			return found;
		case CONTAINER_BITSET:
			return mark_words(container->words, from, to, mask);
	}
	return found;
}

uint32_t
bitmap_mark(const LakeBitmap *bitmap, uint64_t first, uint32_t count,
			uint8_t *mask)
{
	uint64_t	end = first + count;
	uint32_t	found = 0;

	for (size_t i = bitmap_lower_container(bitmap, first >> CONTAINER_BITS);
		 i < bitmap->count &&
		 bitmap->containers[i].key << CONTAINER_BITS < end; i++)
	{
		const BitmapContainer *container = &bitmap->containers[i];
		uint64_t	base = container->key << CONTAINER_BITS;
		uint32_t	from;
		uint32_t	to;

		clip(container, first, end, &from, &to);
		found += mark_container(container, from, to,
								mask + (base + from - first));
	}
	return found;
}
