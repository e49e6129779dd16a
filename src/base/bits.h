/*
 * Unaligned loads and small integer arithmetic.
 */
#ifndef LAKE_BITS_H
#define LAKE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
bits_load_u32le(const uint8_t *data)
{
	uint32_t	value;

	memcpy(&value, data, sizeof value);
	return value;
}

static inline uint64_t
bits_load_u64le(const uint8_t *data)
{
	uint64_t	value;

	memcpy(&value, data, sizeof value);
	return value;
}

static inline uint32_t
bits_load_u32be(const uint8_t *data)
{
	return __builtin_bswap32(bits_load_u32le(data));
}

static inline int64_t
bits_zigzag(uint64_t value)
{
	return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

/* bits needed for values 0..max */
static inline int
bits_width(uint32_t max)
{
	return max == 0 ? 0 : 32 - __builtin_clz(max);
}

/* division rounding toward minus infinity; divisor > 0 */
static inline int64_t
bits_floor_div(int64_t value, int64_t divisor)
{
	int64_t		quotient = value / divisor;

	return quotient - (value % divisor < 0);
}

#endif							/* LAKE_BITS_H */
