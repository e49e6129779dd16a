/*
 * Many short byte strings in few allocations, which live and die together: an
 * allocation of its own would double what a path takes.
 */
#include "iceberg/iceberg_int.h"

#define POOL_PIECE ((size_t) 32 << 10)

void
bytes_pool_init(BytesPool *pool, LakeArena *arena)
{
	pool->arena = arena;
	pool->next = NULL;
	pool->left = 0;
}

LakeBytes
bytes_pool_copy(BytesPool *pool, LakeBytes bytes)
{
	LakeBytes	copy = bytes;

	if (bytes.len >= POOL_PIECE / 8)
	{
		/* large ones have their own, so that little of a piece is wasted */
		copy.data = (const uint8_t *)
			lake_strndup(pool->arena, (const char *) bytes.data, bytes.len);
		return copy;
	}
	if (bytes.len + 1 > pool->left)
	{
		pool->next = lake_alloc_raw(pool->arena, POOL_PIECE);
		pool->left = POOL_PIECE;
	}
	copy.data = pool->next;
	if (bytes.len > 0)
		memcpy(pool->next, bytes.data, bytes.len);
	pool->next[bytes.len] = '\0';
	pool->next += bytes.len + 1;
	pool->left -= bytes.len + 1;
	return copy;
}
