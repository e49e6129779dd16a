/*
 * Bitmaps in memory: building and asking.
 *
 * Marking is what counts: each batch of a scan asks for its rows' bytes, so
 * that bitsets are spread eight bits at a time and runs are filled as such.
 */
#include "base/bitmap.h"

#include <string.h>

#include "base/bitmap_int.h"
#include "base/bits.h"

LakeBitmap *
bitmap_create(LakeArena *arena)
{
	LakeBitmap *bitmap = lake_alloc(arena, sizeof *bitmap);

	bitmap->arena = arena;
	return bitmap;
}

/* index of the first container whose key is not below key */
static size_t
lower_container(const LakeBitmap *bitmap, uint64_t key)
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

static void
reserve_container(LakeBitmap *bitmap)
{
	size_t		capacity;

	if (bitmap->count < bitmap->capacity)
		return;
	capacity = bitmap->capacity == 0 ? 4 : bitmap->capacity * 2;
	bitmap->containers = lake_realloc(bitmap->arena, bitmap->containers,
									  bitmap->capacity *
									  sizeof(BitmapContainer),
									  capacity * sizeof(BitmapContainer));
	bitmap->capacity = capacity;
}

BitmapContainer *
bitmap_append(LakeBitmap *bitmap, uint64_t key)
{
	BitmapContainer *container;

	reserve_container(bitmap);
	container = &bitmap->containers[bitmap->count++];
	memset(container, 0, sizeof *container);
	container->key = key;
	return container;
}

/* the container of key, made and put in its place if there is none */
static BitmapContainer *
get_container(LakeBitmap *bitmap, uint64_t key)
{
	size_t		index;
	BitmapContainer *place;

	/* positions mostly come in ascending order */
	if (bitmap->count == 0 ||
		bitmap->containers[bitmap->count - 1].key < key)
		return bitmap_append(bitmap, key);
	if (bitmap->containers[bitmap->count - 1].key == key)
		return &bitmap->containers[bitmap->count - 1];
	index = lower_container(bitmap, key);
	if (bitmap->containers[index].key == key)
		return &bitmap->containers[index];

	/* with hostile positions the moves add up: let a cancel through */
	lake_check_interrupts();
	reserve_container(bitmap);
	place = &bitmap->containers[index];
	memmove(place + 1, place, (bitmap->count - index) * sizeof *place);
	bitmap->count++;
	memset(place, 0, sizeof *place);
	place->key = key;
	return place;
}

/* index of the first value not below value */
static uint32_t
lower_value(const BitmapContainer *container, uint32_t value)
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

static uint32_t
run_end(const BitmapRun *run)
{
	return (uint32_t) run->start + run->more + 1;
}

/* index of the first run that ends after value */
static uint32_t
lower_run(const BitmapContainer *container, uint32_t value)
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

static void
set_bits(uint64_t *words, uint32_t start, uint32_t end)
{
	for (; start < end && start % 64 != 0; start++)
		words[start / 64] |= (uint64_t) 1 << (start % 64);
	for (; end - start >= 64; start += 64)
		words[start / 64] = ~(uint64_t) 0;
	for (; start < end; start++)
		words[start / 64] |= (uint64_t) 1 << (start % 64);
}

/* sets in words what is in the container */
static void
add_to_words(const BitmapContainer *container, uint64_t *words)
{
	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			for (uint32_t i = 0; i < container->count; i++)
				words[container->values[i] / 64] |=
					(uint64_t) 1 << (container->values[i] % 64);
			break;
		case CONTAINER_RUN:
			for (uint32_t i = 0; i < container->count; i++)
				set_bits(words, container->runs[i].start,
						 run_end(&container->runs[i]));
			break;
		case CONTAINER_BITSET:
			for (uint32_t i = 0; i < CONTAINER_WORDS; i++)
				words[i] |= container->words[i];
			break;
	}
}

static void
make_bitset(LakeArena *arena, BitmapContainer *container)
{
	uint64_t   *words;

	if (container->kind == CONTAINER_BITSET)
		return;
	words = lake_alloc_array(arena, CONTAINER_WORDS, sizeof(uint64_t));
	add_to_words(container, words);
	lake_free(arena, container->values);
	container->kind = CONTAINER_BITSET;
	container->words = words;
	container->count = 0;
	container->capacity = 0;
}

/* room for one more value or run of width bytes */
static void
reserve_item(LakeArena *arena, BitmapContainer *container, size_t width)
{
	uint32_t	capacity;
	void	   *items;

	if (container->count < container->capacity)
		return;
	capacity = container->count < 4 ? 4 : container->count * 2;
	items = lake_alloc_raw(arena, capacity * width);
	if (container->count > 0)
		memcpy(items, container->values, container->count * width);
	if (container->capacity > 0)
		lake_free(arena, container->values);
	container->values = items;
	container->capacity = capacity;
}

static void
add_to_array(LakeArena *arena, BitmapContainer *container, uint32_t low)
{
	uint32_t	index = container->count;

	if (index > 0 && container->values[index - 1] >= low)
	{
		index = lower_value(container, low);
		if (container->values[index] == low)
			return;
	}
	reserve_item(arena, container, sizeof(uint16_t));
	memmove(container->values + index + 1, container->values + index,
			(container->count - index) * sizeof(uint16_t));
	container->values[index] = (uint16_t) low;
	container->count++;
	container->cardinality++;
}

static void
add_to_runs(LakeArena *arena, BitmapContainer *container, uint32_t low)
{
	uint32_t	index = lower_run(container, low);
	bool		is_next;
	bool		is_before;
	BitmapRun  *runs = container->runs;

	if (index < container->count && runs[index].start <= low)
		return;
	container->cardinality++;
	is_next = index > 0 && run_end(&runs[index - 1]) == low;
	is_before = index < container->count && runs[index].start == low + 1;
	if (is_next && is_before)
	{
		runs[index - 1].more =
			(uint16_t) (runs[index - 1].more + 2 + runs[index].more);
		memmove(runs + index, runs + index + 1,
				(container->count - index - 1) * sizeof *runs);
		container->count--;
	}
	else if (is_next)
		runs[index - 1].more++;
	else if (is_before)
	{
		runs[index].start--;
		runs[index].more++;
	}
	else
	{
		reserve_item(arena, container, sizeof *runs);
		runs = container->runs;
		memmove(runs + index + 1, runs + index,
				(container->count - index) * sizeof *runs);
		runs[index] = (BitmapRun) {.start = (uint16_t) low};
		container->count++;
	}
}

void
bitmap_add(LakeBitmap *bitmap, uint64_t position)
{
	BitmapContainer *container = get_container(bitmap,
											   position >> CONTAINER_BITS);
	uint32_t	low = position % CONTAINER_SIZE;

	if ((container->kind == CONTAINER_ARRAY &&
		 container->count == ARRAY_MAX) ||
		(container->kind == CONTAINER_RUN && container->count >= RUN_MAX))
		make_bitset(bitmap->arena, container);
	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			add_to_array(bitmap->arena, container, low);
			break;
		case CONTAINER_RUN:
			add_to_runs(bitmap->arena, container, low);
			break;
		case CONTAINER_BITSET:
			{
				uint64_t	bit = (uint64_t) 1 << (low % 64);

				container->cardinality +=
					(container->words[low / 64] & bit) == 0;
				container->words[low / 64] |= bit;
				break;
			}
	}
}

static BitmapContainer
copy_container(LakeArena *arena, const BitmapContainer *container)
{
	BitmapContainer copy = *container;
	size_t		size = CONTAINER_WORDS * sizeof(uint64_t);

	if (container->kind == CONTAINER_ARRAY)
		size = container->count * sizeof(uint16_t);
	else if (container->kind == CONTAINER_RUN)
		size = container->count * sizeof(BitmapRun);
	copy.words = lake_alloc_raw(arena, size);
	memcpy(copy.words, container->words, size);
	copy.capacity = container->kind == CONTAINER_BITSET ? 0 : copy.count;
	return copy;
}

/* the start and end of the index-th piece of an array or run container */
static bool
piece_at(const BitmapContainer *container, uint32_t index, uint32_t *start,
		 uint32_t *end)
{
	if (index >= container->count)
		return false;
	if (container->kind == CONTAINER_ARRAY)
	{
		*start = container->values[index];
		*end = *start + 1;
	}
	else
	{
		*start = container->runs[index].start;
		*end = run_end(&container->runs[index]);
	}
	return true;
}

/*
 * The union of array or run containers as runs; false when there would be more
 * of them than a bitset is worth.
 */
static bool
union_runs(LakeArena *arena, BitmapContainer *into,
		   const BitmapContainer *other)
{
	BitmapRun  *runs = lake_alloc_raw(arena, RUN_MAX * sizeof(BitmapRun));
	BitmapContainer result = {
		.key = into->key, .kind = CONTAINER_RUN, .capacity = RUN_MAX
	};
	uint32_t	a = 0;
	uint32_t	b = 0;
	uint32_t	end = 0;		/* of the last run */

	result.runs = runs;
	for (;;)
	{
		uint32_t	starts[2];
		uint32_t	ends[2];
		bool		has_a = piece_at(into, a, &starts[0], &ends[0]);
		bool		has_b = piece_at(other, b, &starts[1], &ends[1]);
		int			next = !has_a || (has_b && starts[1] < starts[0]);

		if (!has_a && !has_b)
			break;
		if (next == 0)
			a++;
		else
			b++;
		if (result.count > 0 && starts[next] <= end)
		{
			if (ends[next] > end)
			{
				result.cardinality += ends[next] - end;
				end = ends[next];
			}
		}
		else if (result.count == RUN_MAX)
		{
			lake_free(arena, runs);
			return false;
		}
		else
		{
			runs[result.count++].start = (uint16_t) starts[next];
			result.cardinality += ends[next] - starts[next];
			end = ends[next];
		}
		runs[result.count - 1].more =
			(uint16_t) (end - runs[result.count - 1].start - 1);
	}
	lake_free(arena, into->values);
	*into = copy_container(arena, &result);
	lake_free(arena, runs);
	return true;
}

static void
union_container(LakeArena *arena, BitmapContainer *into,
				const BitmapContainer *other)
{
	bool		has_run = into->kind == CONTAINER_RUN ||
		other->kind == CONTAINER_RUN;
	bool		has_bitset = into->kind == CONTAINER_BITSET ||
		other->kind == CONTAINER_BITSET;

	if (!has_run && !has_bitset && into->count + other->count <= ARRAY_MAX)
	{
		for (uint32_t i = 0; i < other->count; i++)
			add_to_array(arena, into, other->values[i]);
		return;
	}
	if (has_run && !has_bitset && union_runs(arena, into, other))
		return;
	make_bitset(arena, into);
	add_to_words(other, into->words);
	into->cardinality = 0;
	for (uint32_t i = 0; i < CONTAINER_WORDS; i++)
		into->cardinality += (uint32_t) __builtin_popcountll(into->words[i]);
}

void
bitmap_union(LakeBitmap *bitmap, const LakeBitmap *other)
{
	LakeBitmap	result = {.arena = bitmap->arena};
	size_t		a = 0;
	size_t		b = 0;

	if (bitmap == other)
		return;
	while (a < bitmap->count || b < other->count)
	{
		const BitmapContainer *from_a = a < bitmap->count ?
			&bitmap->containers[a] : NULL;
		const BitmapContainer *from_b = b < other->count ?
			&other->containers[b] : NULL;
		BitmapContainer *place;

		lake_check_interrupts();
		if (from_a != NULL && (from_b == NULL || from_a->key <= from_b->key))
		{
			place = bitmap_append(&result, from_a->key);
			*place = *from_a;
			a++;
			if (from_b != NULL && from_b->key == from_a->key)
			{
				union_container(result.arena, place, from_b);
				b++;
			}
		}
		else
		{
			BitmapContainer copy = copy_container(result.arena, from_b);

			*bitmap_append(&result, from_b->key) = copy;
			b++;
		}
	}
	if (bitmap->capacity > 0)
		lake_free(bitmap->arena, bitmap->containers);
	*bitmap = result;
}

static bool
container_contains(const BitmapContainer *container, uint32_t low)
{
	uint32_t	index;

	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			index = lower_value(container, low);
			return index < container->count &&
				container->values[index] == low;
		case CONTAINER_RUN:
			index = lower_run(container, low);
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
	size_t		index = lower_container(bitmap, key);

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
			return lower_value(container, end);
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
	for (size_t i = lower_container(bitmap, first >> CONTAINER_BITS);
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
			for (uint32_t i = lower_value(container, from);
				 i < container->count && container->values[i] < to; i++)
			{
				mask[container->values[i] - from] = 1;
				found++;
			}
			return found;
		case CONTAINER_RUN:
			for (uint32_t i = lower_run(container, from);
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

	for (size_t i = lower_container(bitmap, first >> CONTAINER_BITS);
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
