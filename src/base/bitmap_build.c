/*
 * Bitmaps in memory: adding to them.
 *
 * An array becomes a bitset when that is smaller; runs stay runs for as long
 * as they are, so that a short text of long runs costs what it is long.
 */
#include <string.h>

#include "base/bitmap_int.h"

LakeBitmap *
bitmap_create(LakeArena *arena)
{
	LakeBitmap *bitmap = lake_alloc(arena, sizeof *bitmap);

	bitmap->arena = arena;
	return bitmap;
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
	index = bitmap_lower_container(bitmap, key);
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
		index = container_lower_value(container, low);
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
	uint32_t	index = container_lower_run(container, low);
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
