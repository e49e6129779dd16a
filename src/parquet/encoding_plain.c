/*
 * PLAIN values of all types, and booleans in RLE.
 *
 * Byte arrays are given as pointers into the page; only their lengths need
 * checking.
 *
 * Parquet format: Encodings.md, "Plain" and "Run Length Encoding".
 */
#include "parquet/encoding.h"

#include <string.h>

#include "base/bits.h"

static void
init_cursor(ValueDecoder *decoder, LakeBytes data)
{
	cursor_init(&decoder->cursor, data.data, data.len, "PLAIN data");
}

/* count values of width bytes, which the cursor passes */
static const uint8_t *
take_fixed(ValueDecoder *decoder, uint64_t count)
{
	size_t		width = decoder->width;

	if (width != 0 && count > cursor_left(&decoder->cursor) / width)
		encoding_throw_short(decoder->encoding, count);
	return cursor_take(&decoder->cursor, count * width);
}

static void
skip_fixed(ValueDecoder *decoder, uint64_t count)
{
	take_fixed(decoder, count);
}

/* ---- numbers ---- */

static void
read_fixed(ValueDecoder *decoder, void *out, uint32_t count)
{
	memcpy(out, take_fixed(decoder, count), (size_t) count * decoder->width);
}

const ValueDecoderOps plain_fixed_ops = {init_cursor, read_fixed, skip_fixed};

/* ---- byte arrays ---- */

static void
read_flba(ValueDecoder *decoder, void *out, uint32_t count)
{
	const uint8_t *pos = take_fixed(decoder, count);
	size_t		width = decoder->width;
	LakeBytes  *values = out;

	for (uint32_t i = 0; i < count; i++, pos += width)
		values[i] = encoding_bytes(pos, width);
}

const ValueDecoderOps plain_flba_ops = {init_cursor, read_flba, skip_fixed};

/* the value at pos, which must end before end */
static inline LakeBytes
bytes_at(const uint8_t *pos, const uint8_t *end)
{
	size_t		left = (size_t) (end - pos);
	LakeBytes	value;

	if (left < 4)
		encoding_throw_short(PARQUET_ENCODING_PLAIN, 1);
	value.data = pos + 4;
	value.len = bits_load_u32le(pos);
	if (value.len > left - 4)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "value of %zu bytes where the page has %zu left",
				   value.len, left - 4);
	return value;
}

static void
read_bytes(ValueDecoder *decoder, void *out, uint32_t count)
{
	const uint8_t *pos = decoder->cursor.pos;
	LakeBytes  *values = out;

	for (uint32_t i = 0; i < count; i++)
	{
		values[i] = bytes_at(pos, decoder->cursor.end);
		pos = values[i].data + values[i].len;
	}
	decoder->cursor.pos = pos;
}

static void
skip_bytes(ValueDecoder *decoder, uint64_t count)
{
	const uint8_t *pos = decoder->cursor.pos;

	for (; count > 0; count--)
	{
		LakeBytes	value = bytes_at(pos, decoder->cursor.end);

		pos = value.data + value.len;
	}
	decoder->cursor.pos = pos;
}

const ValueDecoderOps plain_bytes_ops = {init_cursor, read_bytes, skip_bytes};

/* ---- booleans ---- */

/* passes count bits; the cursor stays at the byte of the next one */
static void
skip_bits(ValueDecoder *decoder, uint64_t count)
{
	uint64_t	left = (uint64_t) cursor_left(&decoder->cursor) * 8 -
		decoder->bit;

	if (count > left)
		encoding_throw_short(decoder->encoding, count - left);
	cursor_take(&decoder->cursor, (decoder->bit + count) / 8);
	decoder->bit = (uint32_t) ((decoder->bit + count) % 8);
}

static void
read_bits(ValueDecoder *decoder, void *out, uint32_t count)
{
	const uint8_t *start = decoder->cursor.pos;
	uint32_t	first = decoder->bit;

	skip_bits(decoder, count);
	unpack_bools(start, first, 0, out, count);
}

const ValueDecoderOps plain_bool_ops = {init_cursor, read_bits, skip_bits};

static void
init_rle(ValueDecoder *decoder, LakeBytes data)
{
	ByteCursor	cursor;
	LakeBytes	runs = data;

	/* a page of NULLs only need not have the length either */
	if (data.len != 0)
	{
		cursor_init(&cursor, data.data, data.len, "RLE data");
		runs.len = cursor_u32le(&cursor);
		runs.data = cursor_take(&cursor, runs.len);
	}
	hybrid_init(&decoder->hybrid, runs, 1);
}

static void
read_rle(ValueDecoder *decoder, void *out, uint32_t count)
{
	hybrid_read_bools(&decoder->hybrid, 0, out, count);
}

static void
skip_rle(ValueDecoder *decoder, uint64_t count)
{
	hybrid_skip(&decoder->hybrid, count);
}

const ValueDecoderOps rle_bool_ops = {init_rle, read_rle, skip_rle};
