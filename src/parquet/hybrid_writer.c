/*
 * The RLE / bit-packed hybrid, written.
 *
 * Values are looked at in groups of eight, which fill whole bytes at any width.
 * A run is taken where a group begins with it and nothing else is in the group,
 * so shorter ones stay packed: they would save little and cost a header more.
 *
 * Parquet format: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
 */
#include "parquet/writer.h"

#include <string.h>

/* stored beyond what a group needs */
#define PACK_SLACK 4

#define STORE_32(at, value) \
	do { \
		uint32_t	word = (uint32_t) (value); \
		memcpy(out + (at), &word, sizeof word); \
	} while (0)

/* bit i * width is in word i * width / 32; whole words are stored */
#define PACK_ONE(i, width) \
	bits |= (uint64_t) in[i] << (i) * (width) % 32; \
	if ((i) * (width) % 32 + (width) >= 32) \
	{ \
		STORE_32((i) * (width) / 32 * 4, bits); \
		bits >>= 32; \
	}

/* groups of eight; a function a width, so that all shifts are constants */
#define PACKER(width) \
static void \
pack_##width(const uint32_t *in, uint8_t *out, size_t groups) \
{ \
	for (; groups > 0; groups--, in += 8, out += (width)) \
	{ \
		uint64_t	bits = 0; \
		PACK_ONE(0, width) \
		PACK_ONE(1, width) \
		PACK_ONE(2, width) \
		PACK_ONE(3, width) \
		PACK_ONE(4, width) \
		PACK_ONE(5, width) \
		PACK_ONE(6, width) \
		PACK_ONE(7, width) \
		if ((width) % 4 != 0) \
			STORE_32((width) / 4 * 4, bits); \
	} \
}

/* *INDENT-OFF* */
PACKER(1)
PACKER(2)
PACKER(3)
PACKER(4)
PACKER(5)
PACKER(6)
PACKER(7)
PACKER(8)
PACKER(9)
PACKER(10)
PACKER(11)
PACKER(12)
PACKER(13)
PACKER(14)
PACKER(15)
PACKER(16)
PACKER(17)
PACKER(18)
PACKER(19)
PACKER(20)
PACKER(21)
PACKER(22)
PACKER(23)
PACKER(24)
PACKER(25)
PACKER(26)
PACKER(27)
PACKER(28)
PACKER(29)
PACKER(30)
PACKER(31)
PACKER(32)
/* *INDENT-ON* */

typedef void (*Packer) (const uint32_t *in, uint8_t *out, size_t groups);

static const Packer packers[33] = {
	NULL, pack_1, pack_2, pack_3, pack_4, pack_5, pack_6, pack_7, pack_8,
	pack_9, pack_10, pack_11, pack_12, pack_13, pack_14, pack_15, pack_16,
	pack_17, pack_18, pack_19, pack_20, pack_21, pack_22, pack_23, pack_24,
	pack_25, pack_26, pack_27, pack_28, pack_29, pack_30, pack_31, pack_32
};

void
hybrid_write_varint(LakeBuffer *out, uint64_t value)
{
	uint8_t		bytes[10];
	size_t		len = 0;

	for (; value >= 128; value >>= 7)
		bytes[len++] = (uint8_t) (value | 128);
	bytes[len++] = (uint8_t) value;
	buffer_append(out, bytes, len);
}

void
hybrid_write_run(LakeBuffer *out, uint32_t value, uint64_t count, int width)
{
	if (count == 0)
		return;
	hybrid_write_varint(out, count << 1);
	buffer_append(out, &value, (size_t) (width + 7) / 8);
}

static void
write_packed(LakeBuffer *out, const uint32_t *values, size_t count, int width)
{
	size_t		groups = count / 8;
	size_t		rest = count % 8;
	size_t		size = (groups + 1) * (size_t) width;

	if (count == 0)
		return;
	hybrid_write_varint(out, (groups + (rest != 0)) << 1 | 1);
	buffer_reserve(out, size + PACK_SLACK);
	packers[width] (values, out->data + out->len, groups);
	out->len += groups * (size_t) width;
	if (rest != 0)
	{
		uint32_t	last[8] = {0};

		memcpy(last, values + 8 * groups, rest * sizeof *last);
		packers[width] (last, out->data + out->len, 1);
		out->len += (size_t) width;
	}
}

static bool
is_run(const uint32_t *group)
{
	uint32_t	difference = 0;

	for (int i = 1; i < 8; i++)
		difference |= group[i] ^ group[0];
	return difference == 0;
}

static size_t
run_length(const uint32_t *values, size_t count)
{
	size_t		n = 8;

	while (n < count && values[n] == values[0])
		n++;
	return n;
}

void
hybrid_write(LakeBuffer *out, const uint32_t *values, size_t count, int width)
{
	/* a run takes two bytes and parts two groups by another one */
	size_t		shortest = width == 1 ? 40 : width == 2 ? 24 : 8;
	size_t		packed = 0;		/* where the values not yet written begin */
	size_t		at = 0;

	if (count == 0 || width == 0)
	{
		hybrid_write_run(out, 0, count, 0);
		return;
	}
	while (count - at >= 8)
	{
		size_t		n;

		if (!is_run(values + at))
		{
			at += 8;
			continue;
		}
		n = run_length(values + at, count - at);
		if (n < shortest)
		{
			at += n / 8 * 8;
			continue;
		}
		write_packed(out, values + packed, at - packed, width);
		hybrid_write_run(out, values[at], n, width);
		at += n;
		packed = at;
	}
	write_packed(out, values + packed, count - packed, width);
}
