/*
 * Bitmaps, listed: their positions one after the other.
 */
#include "base/bitmap.h"

#include "base/bitmap_int.h"

typedef struct Listing
{
	uint64_t   *positions;
	size_t		count;
	size_t		room;
} Listing;

/* false: there is no room for it */
static bool
put(Listing *listing, uint64_t position)
{
	if (listing->count == listing->room)
		return false;
	listing->positions[listing->count++] = position;
	return true;
}

static bool
list_run(Listing *listing, uint64_t base, const BitmapRun *run, uint32_t from)
{
	for (uint32_t low = run->start > from ? run->start : from;
		 low < run_end(run); low++)
	{
		if (!put(listing, base + low))
			return false;
	}
	return true;
}

static bool
list_word(Listing *listing, uint64_t base, uint64_t word)
{
	for (; word != 0; word &= word - 1)
	{
		if (!put(listing, base + (uint64_t) __builtin_ctzll(word)))
			return false;
	}
	return true;
}

/* the container's positions from that one on; false when the room is used up */
static bool
list_container(Listing *listing, const BitmapContainer *container,
			   uint32_t from)
{
	uint64_t	base = container->key << CONTAINER_BITS;
	bool		goes_on = true;

	switch (container->kind)
	{
		case CONTAINER_ARRAY:
			for (uint32_t i = container_lower_value(container, from);
				 i < container->count && goes_on; i++)
				goes_on = put(listing, base + container->values[i]);
			break;
		case CONTAINER_RUN:
			for (uint32_t i = container_lower_run(container, from);
				 i < container->count && goes_on; i++)
				goes_on = list_run(listing, base, &container->runs[i], from);
			break;
		case CONTAINER_BITSET:
			for (uint32_t i = from / 64; i < CONTAINER_WORDS && goes_on; i++)
			{
				uint64_t	word = container->words[i];

				if (i == from / 64)
					word &= UINT64_MAX << from % 64;
				goes_on = list_word(listing, base + 64 * (uint64_t) i, word);
			}
			break;
	}
	return goes_on;
}

size_t
bitmap_list(const LakeBitmap *bitmap, uint64_t first, uint64_t *positions,
			size_t room)
{
	Listing		listing = {.positions = positions, .room = room};
	uint64_t	key = first >> CONTAINER_BITS;

	for (size_t i = bitmap_lower_container(bitmap, key); i < bitmap->count;
		 i++)
	{
		const BitmapContainer *container = &bitmap->containers[i];

		if (!list_container(&listing, container,
							container->key == key ? first % CONTAINER_SIZE :
							0))
			break;
	}
	return listing.count;
}
