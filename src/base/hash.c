/*
 * Hash functions, in the byte order of little-endian machines: that is how the
 * formats define all three.
 */
#include "base/hash.h"

#include <libdeflate.h>

#include "base/bits.h"

static uint32_t
rotate32(uint32_t value, int by)
{
	return (value << by) | (value >> (32 - by));
}

static uint64_t
rotate64(uint64_t value, int by)
{
	return (value << by) | (value >> (64 - by));
}

static uint32_t
murmur3_scramble(uint32_t block)
{
	return rotate32(block * 0xcc9e2d51u, 15) * 0x1b873593u;
}

int32_t
hash_murmur3(const void *data, size_t len, uint32_t seed)
{
	const uint8_t *pos = data;
	uint32_t	hash = seed;
	uint32_t	tail = 0;

	for (size_t blocks = len / 4; blocks > 0; blocks--, pos += 4)
	{
		hash ^= murmur3_scramble(bits_load_u32le(pos));
		hash = rotate32(hash, 13) * 5 + 0xe6546b64u;
	}
	for (size_t i = len % 4; i > 0; i--)
		tail = tail << 8 | pos[i - 1];
	hash ^= murmur3_scramble(tail);

	/* only the low 32 bits of the length count */
	hash ^= (uint32_t) len;
	hash = (hash ^ hash >> 16) * 0x85ebca6bu;
	hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
	return (int32_t) (hash ^ hash >> 16);
}

#define XXH_PRIME1	0x9E3779B185EBCA87u
#define XXH_PRIME2	0xC2B2AE3D27D4EB4Fu
#define XXH_PRIME3	0x165667B19E3779F9u
#define XXH_PRIME4	0x85EBCA77C2B2AE63u
#define XXH_PRIME5	0x27D4EB2F165667C5u

static uint64_t
xxh64_round(uint64_t lane, uint64_t input)
{
	return rotate64(lane + input * XXH_PRIME2, 31) * XXH_PRIME1;
}

static uint64_t
xxh64_merge(uint64_t hash, uint64_t lane)
{
	return (hash ^ xxh64_round(0, lane)) * XXH_PRIME1 + XXH_PRIME4;
}

/* the 32-byte stripes of an input that has at least one */
static uint64_t
xxh64_stripes(const uint8_t *pos, size_t stripes, uint64_t seed)
{
	uint64_t	lanes[4] = {
		seed + XXH_PRIME1 + XXH_PRIME2, seed + XXH_PRIME2, seed,
		seed - XXH_PRIME1
	};
	uint64_t	hash;

	for (; stripes > 0; stripes--, pos += 32)
	{
		for (int i = 0; i < 4; i++)
			lanes[i] = xxh64_round(lanes[i], bits_load_u64le(pos + 8 * i));
	}
	hash = rotate64(lanes[0], 1) + rotate64(lanes[1], 7) +
		rotate64(lanes[2], 12) + rotate64(lanes[3], 18);
	for (int i = 0; i < 4; i++)
		hash = xxh64_merge(hash, lanes[i]);
	return hash;
}

uint64_t
hash_xxh64(const void *data, size_t len, uint64_t seed)
{
	const uint8_t *pos = data;
	size_t		left = len % 32;
	uint64_t	hash = seed + XXH_PRIME5;

	if (len >= 32)
	{
		hash = xxh64_stripes(pos, len / 32, seed);
		pos += len - left;
	}
	hash += len;
	for (; left >= 8; left -= 8, pos += 8)
	{
		hash ^= xxh64_round(0, bits_load_u64le(pos));
		hash = rotate64(hash, 27) * XXH_PRIME1 + XXH_PRIME4;
	}
	if (left >= 4)
	{
		hash ^= bits_load_u32le(pos) * XXH_PRIME1;
		hash = rotate64(hash, 23) * XXH_PRIME2 + XXH_PRIME3;
		left -= 4;
		pos += 4;
	}
	for (; left > 0; left--, pos++)
	{
		hash ^= *pos * XXH_PRIME5;
		hash = rotate64(hash, 11) * XXH_PRIME1;
	}
	hash = (hash ^ hash >> 33) * XXH_PRIME2;
	hash = (hash ^ hash >> 29) * XXH_PRIME3;
	return hash ^ hash >> 32;
}

uint32_t
hash_crc32(uint32_t crc, const void *data, size_t len)
{
	/* libdeflate returns the start value, 0, for a NULL buffer */
	return len == 0 ? crc : libdeflate_crc32(crc, data, len);
}
