/*
 * What the bitmap itself and the reader of its serialised form share.
 *
 * Containers of 65536 positions, sorted by key.  Each kind costs at most a
 * small multiple of the bytes it was read from: a run container stays one for
 * as long as its runs are smaller than a bitset.
 */
#ifndef LAKE_BITMAP_INT_H
#define LAKE_BITMAP_INT_H

#include "base/bitmap.h"

#define CONTAINER_BITS		16
#define CONTAINER_SIZE		65536
#define CONTAINER_WORDS		(CONTAINER_SIZE / 64)
/* above these a bitset of 8192 bytes is the smaller form */
#define ARRAY_MAX			4096
#define RUN_MAX				2047

/* the format's form: length - 1 values follow start */
typedef struct BitmapRun
{
	uint16_t	start;
	uint16_t	more;
} BitmapRun;

typedef enum ContainerKind
{
	CONTAINER_ARRAY,			/* ascending values */
	CONTAINER_RUN,				/* ascending runs that do not overlap */
	CONTAINER_BITSET
} ContainerKind;

typedef struct BitmapContainer
{
	uint64_t	key;			/* position >> CONTAINER_BITS */
	ContainerKind kind;
	uint32_t	cardinality;	/* 1..65536 */
	uint32_t	count;			/* values or runs */
	uint32_t	capacity;		/* of them; 0 for bitsets */
	union
	{
		uint16_t   *values;
		BitmapRun  *runs;
		uint64_t   *words;
	};
} BitmapContainer;

struct LakeBitmap
{
	LakeArena  *arena;
	BitmapContainer *containers;	/* by ascending key */
	size_t		count;
	size_t		capacity;
};

/* past the last value of a run */
static inline uint32_t
run_end(const BitmapRun *run)
{
	return (uint32_t) run->start + run->more + 1;
}

/* index of the first container whose key is not below key */
extern size_t bitmap_lower_container(const LakeBitmap *bitmap, uint64_t key);

/* index of the first value of an array that is not below value */
extern uint32_t container_lower_value(const BitmapContainer *container,
									  uint32_t value);

/* index of the first run that ends after value */
extern uint32_t container_lower_run(const BitmapContainer *container,
									uint32_t value);

/* a new last container, all zero but for its key, which is above the others */
extern BitmapContainer *bitmap_append(LakeBitmap *bitmap, uint64_t key);

#endif							/* LAKE_BITMAP_INT_H */
