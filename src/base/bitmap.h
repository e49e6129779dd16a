/*
 * Sets of row positions: the portable Roaring serialisation that deletion
 * vectors use, read with every bound checked.
 *
 * Iceberg spec, "Deletion vectors"; Roaring format specification, "portable"
 * layout, array, bitset and run containers.
 */
#ifndef LAKE_BITMAP_H
#define LAKE_BITMAP_H

#include "base/bytes.h"

typedef struct LakeBitmap LakeBitmap;

extern LakeBitmap *bitmap_create(LakeArena *arena);

/* position < 2^63 */
extern void bitmap_add(LakeBitmap *bitmap, uint64_t position);

/* adds all of other */
extern void bitmap_union(LakeBitmap *bitmap, const LakeBitmap *other);
extern bool bitmap_contains(const LakeBitmap *bitmap, uint64_t position);
extern uint64_t bitmap_cardinality(const LakeBitmap *bitmap);

/* blocks of 65536 positions that it has some of: what its memory goes by */
extern size_t bitmap_block_count(const LakeBitmap *bitmap);

/*
 * Sets mask[i] = 1 for each position first + i (i < count) that is in the
 * bitmap, leaves the others; returns how many it found.
 */
extern uint32_t bitmap_mark(const LakeBitmap *bitmap, uint64_t first,
							uint32_t count, uint8_t *mask);

/* how many positions p with first <= p < end are in it */
extern uint64_t bitmap_count_range(const LakeBitmap *bitmap, uint64_t first,
								   uint64_t end);

/*
 * The 64-bit form: little-endian count of 32-bit bitmaps, then for each a key
 * and the portable bytes, keys strictly ascending and < 2^31.  Throws CORRUPT
 * on anything malformed, also on bytes left over.
 */
extern LakeBitmap *bitmap_parse64(LakeArena *arena, LakeBytes bytes);

/*
 * Appends the 64-bit form, with run containers where they are smaller, and keys
 * that have positions alone.  (Java writes empty bitmaps for the others, up to
 * the highest; a single high position would cost gigabytes.)  Throws LIMIT for
 * a key of 2^31 or more.
 */
extern void bitmap_format64(const LakeBitmap *bitmap, LakeBuffer *out);

/*
 * Ascending positions from first on, at most room of them; returns how many.
 * To go on, call again with the last one + 1.
 */
extern size_t bitmap_list(const LakeBitmap *bitmap, uint64_t first,
						  uint64_t *positions, size_t room);

#endif							/* LAKE_BITMAP_H */
