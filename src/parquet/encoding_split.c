/*
 * BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, ...
 *
 * The number of values follows from the size of the page, not from what the
 * page's header says, since a v1 header counts NULLs too.
 *
 * Parquet format: Encodings.md, "Byte Stream Split".
 */
#include "parquet/encoding.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static void
init_split(ValueDecoder *decoder, LakeBytes data)
{
	cursor_init(&decoder->cursor, data.data, data.len,
				"BYTE_STREAM_SPLIT data");
	if (data.len == 0)
		return;
	if (decoder->width == 0 || data.len % decoder->width != 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "BYTE_STREAM_SPLIT data of %zu bytes for values of %u",
				   data.len, decoder->width);
	decoder->stride = data.len / decoder->width;
}

/* passes count values; returns the place of the first one in stream 0 */
static const uint8_t *
take_split(ValueDecoder *decoder, uint64_t count)
{
	const uint8_t *start = decoder->cursor.pos + decoder->at;

	if (count > decoder->stride - decoder->at)
		encoding_throw_short(decoder->encoding, count);
	decoder->at += count;
	return start;
}

static void
skip_split(ValueDecoder *decoder, uint64_t count)
{
	take_split(decoder, count);
}

/* values from..count, byte by byte */
static void
join_bytes(const uint8_t *streams, size_t stride, size_t width, uint8_t *out,
		   size_t from, size_t count)
{
	for (size_t k = 0; k < width; k++, streams += stride)
	{
		for (size_t i = from; i < count; i++)
			out[i * width + k] = streams[i];
	}
}

#if defined(__SSE2__)

/*
 * GCC leaves loops of eight alone at -O2, and the vectors in memory with them;
 * clang unrolls by itself.
 */
#if defined(__clang__)
#define each(i, end) for (size_t i = 0; i < (end); i++)
#else
#define each(i, end) _Pragma("GCC unroll 8") for (size_t i = 0; i < (end); i++)
#endif

/*
 * Sixteen values at a time: interleaving the lower and upper halves of the
 * streams log2(width) = steps times, each time joining stream k with
 * k + width / 2.
 */
__attribute__((always_inline))
static inline size_t
join_blocks(const uint8_t *streams, size_t stride, size_t width, size_t steps,
			uint8_t *out, size_t count)
{
	size_t		i = 0;

	for (; i + 16 <= count; i += 16)
	{
		__m128i		from[8];
		__m128i		to[8];

		each(k, width)
		{
			from[k] = _mm_loadu_si128((const __m128i *)
									  (streams + k * stride + i));
		}
		each(step, steps)
		{
			each(k, width / 2)
			{
				__m128i		low = from[k];
				__m128i		high = from[k + width / 2];

				to[2 * k] = _mm_unpacklo_epi8(low, high);
				to[2 * k + 1] = _mm_unpackhi_epi8(low, high);
			}
			each(k, width)
			{
				from[k] = to[k];
			}
		}
		each(k, width)
		{
			_mm_storeu_si128((__m128i *) (out + i * width + k * 16), from[k]);
		}
	}
	return i;
}

#else

static size_t
join_blocks(const uint8_t *streams, size_t stride, size_t width, size_t steps,
			uint8_t *out, size_t count)
{
	(void) streams, (void) stride, (void) width, (void) steps;
	(void) out, (void) count;
	return 0;
}

#endif

static void
read_fixed(ValueDecoder *decoder, void *out, uint32_t count)
{
	const uint8_t *streams = take_split(decoder, count);
	size_t		stride = (size_t) decoder->stride;
	size_t		done;

	/* constant widths, for which the loops inside are unrolled */
	if (decoder->width == 4)
		done = join_blocks(streams, stride, 4, 2, out, count);
	else
		done = join_blocks(streams, stride, 8, 3, out, count);
	join_bytes(streams, stride, decoder->width, out, done, count);
}

const ValueDecoderOps split_fixed_ops = {init_split, read_fixed, skip_split};

static void
read_flba(ValueDecoder *decoder, void *out, uint32_t count)
{
	const uint8_t *streams = take_split(decoder, count);
	size_t		width = decoder->width;
	uint8_t    *room = lake_alloc_raw(decoder->arena, count * width);
	LakeBytes  *values = out;

	join_bytes(streams, (size_t) decoder->stride, width, room, 0, count);
	for (uint32_t i = 0; i < count; i++, room += width)
		values[i] = encoding_bytes(room, width);
}

const ValueDecoderOps split_flba_ops = {init_split, read_flba, skip_split};
