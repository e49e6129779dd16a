/*
 * A bitmap that parses is consistent: its cardinality is what its ranges
 * count, and contains, mark and count_range agree around its members.  A union
 * with other positions contains both.  What is written of it is read as the same
 * bitmap, and written again as the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "base/bitmap.h"

#define WINDOW	300
#define SAMPLES 24
#define END		((uint64_t) 1 << 63)

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition)
{
	if (!condition)
		abort();
}

/* the member with rank members below it */
static uint64_t
select_member(const LakeBitmap *bitmap, uint64_t rank)
{
	uint64_t	low = 0;
	uint64_t	high = END - 1;

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (bitmap_count_range(bitmap, 0, middle + 1) > rank)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
check_window(const LakeBitmap *bitmap, uint64_t first)
{
	uint8_t		mask[WINDOW] = {0};
	uint32_t	len = END - first < WINDOW ? (uint32_t) (END - first) : WINDOW;
	uint32_t	found = bitmap_mark(bitmap, first, len, mask);
	uint32_t	count = 0;

	for (uint32_t i = 0; i < len; i++)
	{
		require(bitmap_contains(bitmap, first + i) == mask[i]);
		count += mask[i];
	}
	require(count == found);
	require(bitmap_count_range(bitmap, first, first + len) == found);
}

/* the positions of both from first on, as far as they are looked at */
static void
require_same(const LakeBitmap *a, const LakeBitmap *b, uint64_t first)
{
	uint64_t	of_a[WINDOW];
	uint64_t	of_b[WINDOW];
	size_t		count = bitmap_list(a, first, of_a, WINDOW);

	require(bitmap_list(b, first, of_b, WINDOW) == count);
	require(memcmp(of_a, of_b, count * sizeof of_a[0]) == 0);
}

static void
check_written(LakeArena *arena, const LakeBitmap *bitmap)
{
	LakeBuffer	out;
	LakeBuffer	again;
	LakeBitmap *read;
	uint64_t	cardinality = bitmap_cardinality(bitmap);

	buffer_init(&out, arena);
	buffer_init(&again, arena);
	bitmap_format64(bitmap, &out);
	read = bitmap_parse64(arena, (LakeBytes) {out.data, out.len});
	require(bitmap_cardinality(read) == cardinality);
	require_same(bitmap, read, 0);
	if (cardinality > 0)
		require_same(bitmap, read, select_member(bitmap, cardinality / 2));
	bitmap_format64(read, &again);
	require(again.len == out.len);
	require(memcmp(again.data, out.data, out.len) == 0);
}

static void
check(LakeArena *arena, const LakeBitmap *bitmap, unsigned seed)
{
	uint64_t	cardinality = bitmap_cardinality(bitmap);
	LakeBitmap *other = bitmap_create(arena);
	uint64_t	added = 0;

	require(bitmap_count_range(bitmap, 0, END) == cardinality);
	check_window(bitmap, 0);
	check_written(arena, bitmap);
	if (cardinality == 0)
		return;
	for (uint64_t i = 0; i < SAMPLES; i++)
	{
		uint64_t	rank = i == 0 ? cardinality - 1 :
			(i * 0x9e3779b97f4a7c15u + seed) % cardinality;
		uint64_t	position = select_member(bitmap, rank);
		uint64_t	beside = position ^ (uint64_t) 1 << (i % 40);

		require(bitmap_contains(bitmap, position));
		require(bitmap_count_range(bitmap, 0, position) == rank);
		check_window(bitmap, position > 150 ? position - 150 : 0);
		if (!bitmap_contains(other, beside))
		{
			bitmap_add(other, beside);
			added += !bitmap_contains(bitmap, beside);
		}
	}
	bitmap_union(other, bitmap);
	require(bitmap_cardinality(other) == cardinality + added);
	require(bitmap_count_range(other, 0, END) == cardinality + added);
	check_window(other, select_member(other, cardinality / 2));
	check_written(arena, other);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	LakeBitmap *volatile bitmap = NULL;
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		bitmap = bitmap_parse64(arena, (LakeBytes) {data, size});
		lake_try_end(&try);
	}
	if (bitmap != NULL)
		check(arena, bitmap, size == 0 ? 0 : data[size - 1]);
	lake_arena_destroy(arena);
	return 0;
}
