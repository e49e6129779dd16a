/*
 * Repetition and definition levels.
 *
 * Most pages have no NULL, or one level of optionality; both have a shorter way
 * than unpacking levels to integers.  A level above the schema's maximum is
 * CORRUPT here, so that nobody behind has to ask again.
 *
 * Parquet format: Encodings.md, "Run Length Encoding" and "Bit-packed
 * (Deprecated)".
 */
#include "parquet/encoding.h"

#include <string.h>

#include "base/bits.h"

/* levels unpacked at a time */
#define CHUNK 256

void
levels_init(LevelDecoder *decoder, LakeBytes data, uint16_t max_level)
{
	memset(decoder, 0, sizeof *decoder);
	decoder->max_level = max_level;
	hybrid_init(&decoder->hybrid, data, bits_width(max_level));
}

void
levels_init_v1(LevelDecoder *decoder, ByteCursor *page, int32_t encoding,
			   uint16_t max_level, uint32_t count)
{
	LakeBytes	data = {NULL, 0};

	if (max_level != 0 && encoding == PARQUET_ENCODING_RLE)
	{
		data.len = cursor_u32le(page);
		data.data = cursor_take(page, data.len);
	}
	levels_init(decoder, data, max_level);
	if (max_level == 0 || encoding == PARQUET_ENCODING_RLE)
		return;

	if (encoding != PARQUET_ENCODING_BIT_PACKED)
		lake_throw(LAKE_ERROR_CORRUPT, "levels have the encoding %d",
				   (int) encoding);
	decoder->legacy = true;
	decoder->bit_count = (uint64_t) count * (unsigned) bits_width(max_level);
	decoder->data = cursor_take(page, (decoder->bit_count + 7) / 8);
}

static _Noreturn void
throw_too_high(const LevelDecoder *decoder, const uint32_t *levels,
			   size_t count)
{
	uint32_t	max = 0;

	for (size_t i = 0; i < count; i++)
		max = levels[i] > max ? levels[i] : max;
	lake_throw(LAKE_ERROR_CORRUPT, "level %u is above the maximum %u",
			   max, (unsigned) decoder->max_level);
}

/* passes count legacy levels, which must be there */
static uint64_t
advance_legacy(LevelDecoder *decoder, uint64_t count)
{
	unsigned	width = (unsigned) bits_width(decoder->max_level);
	uint64_t	start = decoder->bit;

	if (count > (decoder->bit_count - start) / width)
		encoding_throw_short(PARQUET_ENCODING_BIT_PACKED, count);
	decoder->bit += count * width;
	return start;
}

static void
read_legacy(LevelDecoder *decoder, uint32_t *out, size_t count)
{
	unsigned	width = (unsigned) bits_width(decoder->max_level);
	uint64_t	bit = advance_legacy(decoder, count);

	for (size_t i = 0; i < count; i++, bit += width)
	{
		const uint8_t *data = decoder->data + bit / 8;

		out[i] = decoder->low_first ?
			bits_load_u32le(data) >> bit % 8 & ((1u << width) - 1) :
			bits_load_u32be(data) << bit % 8 >> (32 - width);
	}
}

/*
 * At most CHUNK levels, checked.  The array has CHUNK of them; its last block
 * of eight is filled up, so that loops over whole blocks, which compilers turn
 * into vectors, may work on it.
 */
static void
read_chunk(LevelDecoder *decoder, uint32_t *levels, size_t count)
{
	uint32_t	above[8] = {0};
	uint32_t	any = 0;

	if (decoder->legacy)
		read_legacy(decoder, levels, count);
	else
		hybrid_read(&decoder->hybrid, levels, count);
	for (size_t i = count; i % 8 != 0; i++)
		levels[i] = 0;

	/* levels of either kind have at most 16 bits: the sign tells */
	for (size_t i = 0; i < count; i += 8)
	{
		for (size_t k = 0; k < 8; k++)
			above[k] |= decoder->max_level - levels[i + k];
	}
	for (size_t k = 0; k < 8; k++)
		any |= above[k];
	if (any >> 31 != 0)
		throw_too_high(decoder, levels, count);
}

void
levels_read(LevelDecoder *decoder, uint16_t *out, size_t count)
{
	while (count > 0)
	{
		uint32_t	levels[CHUNK];
		size_t		n = count < CHUNK ? count : CHUNK;
		size_t		i = 0;

		read_chunk(decoder, levels, n);
		for (; i + 8 <= n; i += 8)
		{
			for (size_t k = 0; k < 8; k++)
				out[i + k] = (uint16_t) levels[i + k];
		}
		for (; i < n; i++)
			out[i] = (uint16_t) levels[i];
		out += n;
		count -= n;
	}
}

/* the NULL map of levels of more than one bit, or legacy ones */
static void
read_wide_nulls(LevelDecoder *decoder, uint8_t *nulls, size_t count)
{
	while (count > 0)
	{
		uint32_t	levels[CHUNK];
		size_t		n = count < CHUNK ? count : CHUNK;

		read_chunk(decoder, levels, n);
		for (size_t i = 0; i < n; i++)
			nulls[i] = levels[i] != decoder->max_level;
		nulls += n;
		count -= n;
	}
}

static size_t
count_zeros(const uint8_t *bytes, size_t count)
{
	size_t		ones = 0;
	size_t		i = 0;

	/* the product's top byte is the sum of a word's bytes, each 0 or 1 */
	for (; i + 8 <= count; i += 8)
		ones += bits_load_u64le(bytes + i) * UINT64_C(0x0101010101010101) >> 56;
	for (; i < count; i++)
		ones += bytes[i];
	return count - ones;
}

size_t
levels_read_nulls(LevelDecoder *decoder, uint8_t *nulls, size_t count)
{
	if (decoder->max_level == 0)
	{
		memset(nulls, 0, count);
		return count;
	}
	if (decoder->max_level == 1 && !decoder->legacy)
		hybrid_read_bools(&decoder->hybrid, 1, nulls, count);
	else
		read_wide_nulls(decoder, nulls, count);
	return count_zeros(nulls, count);
}

uint64_t
levels_skip(LevelDecoder *decoder, uint64_t count)
{
	uint64_t	present = 0;

	while (count > 0)
	{
		uint16_t	level;
		uint64_t	n = levels_peek_run(decoder, &level);

		lake_check_interrupts();
		if (n > 0)
		{
			n = n < count ? n : count;
			hybrid_skip(&decoder->hybrid, n);
			present += level == decoder->max_level ? n : 0;
		}
		else
		{
			uint8_t		nulls[CHUNK];

			n = count < CHUNK ? count : CHUNK;
			present += levels_read_nulls(decoder, nulls, (size_t) n);
		}
		count -= n;
	}
	return present;
}

uint64_t
levels_peek_run(LevelDecoder *decoder, uint16_t *level)
{
	uint32_t	value;
	uint64_t	count;

	*level = 0;
	if (decoder->legacy)
		return 0;
	count = hybrid_peek_run(&decoder->hybrid, &value);
	if (count > 0 && value > decoder->max_level)
		throw_too_high(decoder, &value, 1);
	*level = (uint16_t) value;
	return count;
}

bool
levels_all_max(LevelDecoder *decoder, uint64_t count)
{
	uint16_t	level;

	return count == 0 ||
		(levels_peek_run(decoder, &level) >= count &&
		 level == decoder->max_level);
}
