/*
 * Small encoders of a page's content, for tests that read back what they wrote.
 * Written from the specification and for plainness, not from the decoders.
 */
#ifndef LAKE_ENCODE_H
#define LAKE_ENCODE_H

#include "base/bytes.h"
#include "parquet/encoding.h"

/* xorshift: the same values in every run */
static inline uint64_t
encode_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* the bytes so far as a page: at their own address, with slack after them */
static inline LakeBytes
encode_page(LakeArena *arena, const void *data, size_t len)
{
	uint8_t    *page = lake_alloc(arena, len + PARQUET_PAGE_SLACK);

	if (len > 0)
		memcpy(page, data, len);
	return encoding_bytes(page, len);
}

static inline void
encode_varint(LakeBuffer *out, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		buffer_append_byte(out, (uint8_t) (value | 128));
	buffer_append_byte(out, (uint8_t) value);
}

static inline void
encode_zigzag(LakeBuffer *out, uint64_t value)
{
	encode_varint(out, value << 1 ^ (value >> 63 ? UINT64_MAX : 0));
}

static inline void
encode_u32(LakeBuffer *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		buffer_append_byte(out, (uint8_t) (value >> 8 * i));
}

/* count values bit by bit, least significant first; the last byte is padded */
static inline void
encode_bits(LakeBuffer *out, const uint64_t *values, size_t count, int width)
{
	uint8_t		byte = 0;
	int			used = 0;

	for (size_t i = 0; i < count; i++)
	{
		for (int bit = 0; bit < width; bit++)
		{
			byte = (uint8_t) (byte | (values[i] >> bit & 1) << used);
			if (++used == 8)
			{
				buffer_append_byte(out, byte);
				byte = 0;
				used = 0;
			}
		}
	}
	if (used > 0)
		buffer_append_byte(out, byte);
}

/* one RLE run of the hybrid */
static inline void
encode_repeated(LakeBuffer *out, uint32_t value, uint64_t count, int width)
{
	encode_varint(out, count << 1);
	for (int i = 0; i < width; i += 8)
		buffer_append_byte(out, (uint8_t) (value >> i));
}

/* one bit-packed run; the values are padded with zeros to a multiple of 8 */
static inline void
encode_packed(LakeBuffer *out, const uint32_t *values, size_t count, int width)
{
	encode_varint(out, (count + 7) / 8 << 1 | 1);
	for (size_t i = 0; i < count; i += 8)
	{
		uint64_t	group[8] = {0};

		for (size_t k = 0; k < 8 && i + k < count; k++)
			group[k] = values[i + k];
		encode_bits(out, group, 8, width);
	}
}

/* the hybrid, runs of both kinds in random lengths */
static inline void
encode_hybrid(LakeBuffer *out, const uint32_t *values, size_t count, int width,
			  uint64_t *random)
{
	for (size_t i = 0; i < count;)
	{
		size_t		same = 1;
		size_t		n = (1 + encode_random(random) % 20) * 8;

		while (i + same < count && values[i + same] == values[i])
			same++;
		if (same >= 8 || count - i < 8)
		{
			encode_repeated(out, values[i], same, width);
			i += same;
			continue;
		}
		n = n < count - i ? n : (count - i) / 8 * 8;
		encode_packed(out, values + i, n, width);
		i += n;
	}
}

/* DELTA_BINARY_PACKED; arithmetic of 64 bits, wrapping around */
static inline void
encode_delta(LakeBuffer *out, const int64_t *values, size_t count,
			 size_t mini_count, size_t mini_values)
{
	encode_varint(out, mini_count * mini_values);
	encode_varint(out, mini_count);
	encode_varint(out, count);
	encode_zigzag(out, count == 0 ? 0 : (uint64_t) values[0]);
	for (size_t i = 1; i < count; i += mini_count * mini_values)
	{
		size_t		n = count - i;
		int64_t		min = INT64_MAX;
		size_t		widths_at;

		n = n < mini_count * mini_values ? n : mini_count * mini_values;
		for (size_t k = i; k < i + n; k++)
		{
			int64_t		delta = (int64_t) ((uint64_t) values[k] -
										   (uint64_t) values[k - 1]);

			min = delta < min ? delta : min;
		}
		encode_zigzag(out, (uint64_t) min);
		widths_at = out->len;
		for (size_t mini = 0; mini < mini_count; mini++)
			buffer_append_byte(out, 0);
		for (size_t mini = 0; mini < mini_count && mini * mini_values < n;
			 mini++)
		{
			uint64_t	deltas[1024] = {0};
			uint64_t	all = 0;
			int			width = 0;

			for (size_t k = 0; k < mini_values; k++)
			{
				size_t		at = i + mini * mini_values + k;

				if (at < i + n)
					deltas[k] = (uint64_t) values[at] -
						(uint64_t) values[at - 1] - (uint64_t) min;
				all |= deltas[k];
			}
			while (width < 64 && all >> width != 0)
				width++;
			out->data[widths_at + mini] = (uint8_t) width;
			encode_bits(out, deltas, mini_values, width);
		}
	}
}

#endif							/* LAKE_ENCODE_H */
