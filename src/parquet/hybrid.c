/*
 * The RLE / bit-packed hybrid: dictionary codes, levels and booleans.
 *
 * The input has no count of values; a bit-packed run is padded to a multiple of
 * eight, and some writers cut the padding of the last one off the file.  Hence
 * a run has as many values as its bytes hold, and the user's count decides.
 *
 * Parquet format: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
 */
#include "parquet/encoding.h"

#include <string.h>

#include "base/bits.h"

void
hybrid_init(HybridDecoder *decoder, LakeBytes data, int width)
{
	memset(decoder, 0, sizeof *decoder);
	decoder->pos = data.data;
	/* data without bytes may be NULL, to which C allows no addition */
	decoder->end = data.len == 0 ? data.data : data.data + data.len;
	decoder->width = width;
	if (width == 0)
		decoder->run_left = UINT64_MAX;
}

/* a run of groups of eight, as far as the bytes reach */
static void
begin_packed(HybridDecoder *decoder, uint64_t groups)
{
	size_t		width = (size_t) decoder->width;
	size_t		bytes = (size_t) (decoder->end - decoder->pos);

	decoder->packed = true;
	decoder->packed_group = decoder->pos;
	decoder->packed_next = 0;
	if (groups <= bytes / width)
	{
		decoder->run_left = groups * 8;
		decoder->pos += groups * width;
	}
	else
	{
		decoder->run_left = (uint64_t) bytes * 8 / width;
		decoder->pos = decoder->end;
	}
}

static void
begin_repeated(HybridDecoder *decoder, ByteCursor *cursor, uint64_t count)
{
	size_t		size = ((size_t) decoder->width + 7) / 8;
	uint8_t		bytes[4] = {0};

	memcpy(bytes, cursor_take(cursor, size), size);
	decoder->packed = false;
	decoder->run_value = bits_load_u32le(bytes);
	decoder->run_left = count;
	decoder->pos = cursor->pos;
}

/*
 * Makes the next value the first of the current run.  Returns how many values
 * the run has left, 0 at the end of the input.
 */
static uint64_t
begin_run(HybridDecoder *decoder)
{
	/* runs of no values are legal, if pointless */
	while (decoder->run_left == 0 && decoder->pos < decoder->end)
	{
		ByteCursor	cursor;
		uint64_t	header;

		cursor_init(&cursor, decoder->pos,
					(size_t) (decoder->end - decoder->pos), "RLE data");
		header = cursor_varint(&cursor);
		decoder->pos = cursor.pos;
		if (header & 1)
			begin_packed(decoder, header >> 1);
		else
			begin_repeated(decoder, &cursor, header >> 1);
	}
	return decoder->run_left;
}

/* the run that holds the next value, of at most count values */
static size_t
next_run(HybridDecoder *decoder, uint64_t count)
{
	uint64_t	left = begin_run(decoder);

	if (left == 0)
		encoding_throw_short(PARQUET_ENCODING_RLE, count);
	return (size_t) (left < count ? left : count);
}

/* passes count values of the current run */
static void
advance(HybridDecoder *decoder, uint64_t count)
{
	if (decoder->packed)
	{
		uint64_t	next = decoder->packed_next + count;

		decoder->packed_group += next / 8 * (size_t) decoder->width;
		decoder->packed_next = (uint32_t) (next % 8);
	}
	if (decoder->width != 0)
		decoder->run_left -= count;
}

static void
fill(uint32_t *out, uint32_t value, size_t count)
{
	uint32_t	block[8];
	size_t		i = 0;

	for (int k = 0; k < 8; k++)
		block[k] = value;
	for (; i + 8 <= count; i += 8)
		memcpy(out + i, block, sizeof block);
	for (; i < count; i++)
		out[i] = value;
}

/* count values of the current bit-packed run, which has them */
static void
read_packed(const HybridDecoder *decoder, uint32_t *out, size_t count)
{
	const uint8_t *group = decoder->packed_group;
	size_t		at = decoder->packed_next;

	if (at != 0)
	{
		uint32_t	values[8];
		size_t		n = count < 8 - at ? count : 8 - at;

		unpack_u32(group, decoder->width, values, 8);
		memcpy(out, values + at, n * sizeof *out);
		out += n;
		count -= n;
		group += decoder->width;
	}
	unpack_u32(group, decoder->width, out, count);
}

void
hybrid_read(HybridDecoder *decoder, uint32_t *out, size_t count)
{
	while (count > 0)
	{
		size_t		n = next_run(decoder, count);

		if (decoder->packed)
			read_packed(decoder, out, n);
		else
			fill(out, decoder->run_value, n);
		advance(decoder, n);
		out += n;
		count -= n;
	}
}

void
hybrid_read_bools(HybridDecoder *decoder, uint8_t flip, uint8_t *out,
				  size_t count)
{
	while (count > 0)
	{
		size_t		n = next_run(decoder, count);

		if (decoder->packed)
			unpack_bools(decoder->packed_group, decoder->packed_next, flip,
						 out, n);
		else if (decoder->run_value > 1)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "RLE data has the value %u where there is one bit",
					   decoder->run_value);
		else
			memset(out, (int) (decoder->run_value ^ flip), n);
		advance(decoder, n);
		out += n;
		count -= n;
	}
}

void
hybrid_skip(HybridDecoder *decoder, uint64_t count)
{
	while (count > 0)
	{
		size_t		n = next_run(decoder, count);

		advance(decoder, n);
		count -= n;
	}
}

uint64_t
hybrid_peek_run(HybridDecoder *decoder, uint32_t *value)
{
	uint64_t	left = begin_run(decoder);

	*value = decoder->run_value;
	return decoder->packed ? 0 : left;
}
