/*
 * Bit unpacking: values of a fixed number of bits, least significant bit first,
 * into words.
 *
 * Eight values of any width fill whole bytes, so groups of eight are the unit.
 * All kernels load whole words and may look past the last value; see
 * PARQUET_PAGE_SLACK.  On x86-64 the AVX2 kernel is chosen at run time; it
 * unpacks about twice as many values a second as the portable ones (10 and 4.5
 * thousand million in cache).
 */
#include "parquet/encoding.h"

#include <string.h>

#include "base/bits.h"

#if defined(__x86_64__) && !defined(LAKE_PORTABLE_KERNELS)
#include <immintrin.h>
#define HAVE_AVX2_KERNEL
#endif

/* the widest values of which any four fit the 16 bytes of a shuffle's lane */
#define AVX2_MAX_WIDTH 25

#define MASK32(width) ((uint32_t) ((UINT64_C(1) << (width)) - 1))

#define UNPACK_ONE(i, width) \
	out[i] = (uint32_t) (bits_load_u64le(data + (i) * (width) / 8) >> \
						 ((i) * (width) % 8)) & MASK32(width)

/* groups of eight; a function a width, so that all shifts are constants */
#define UNPACKER(width) \
static void \
unpack_##width(const uint8_t *data, uint32_t *out, size_t groups) \
{ \
	for (; groups > 0; groups--, data += (width), out += 8) \
	{ \
		UNPACK_ONE(0, width); \
		UNPACK_ONE(1, width); \
		UNPACK_ONE(2, width); \
		UNPACK_ONE(3, width); \
		UNPACK_ONE(4, width); \
		UNPACK_ONE(5, width); \
		UNPACK_ONE(6, width); \
		UNPACK_ONE(7, width); \
	} \
}

/* *INDENT-OFF* */
UNPACKER(0)
UNPACKER(1)
UNPACKER(2)
UNPACKER(3)
UNPACKER(4)
UNPACKER(5)
UNPACKER(6)
UNPACKER(7)
UNPACKER(8)
UNPACKER(9)
UNPACKER(10)
UNPACKER(11)
UNPACKER(12)
UNPACKER(13)
UNPACKER(14)
UNPACKER(15)
UNPACKER(16)
UNPACKER(17)
UNPACKER(18)
UNPACKER(19)
UNPACKER(20)
UNPACKER(21)
UNPACKER(22)
UNPACKER(23)
UNPACKER(24)
UNPACKER(25)
UNPACKER(26)
UNPACKER(27)
UNPACKER(28)
UNPACKER(29)
UNPACKER(30)
UNPACKER(31)
UNPACKER(32)
/* *INDENT-ON* */

typedef void (*Unpacker) (const uint8_t *data, uint32_t *out, size_t groups);

static const Unpacker unpackers[33] = {
	unpack_0, unpack_1, unpack_2, unpack_3, unpack_4, unpack_5, unpack_6,
	unpack_7, unpack_8, unpack_9, unpack_10, unpack_11, unpack_12, unpack_13,
	unpack_14, unpack_15, unpack_16, unpack_17, unpack_18, unpack_19,
	unpack_20, unpack_21, unpack_22, unpack_23, unpack_24, unpack_25,
	unpack_26, unpack_27, unpack_28, unpack_29, unpack_30, unpack_31,
	unpack_32
};

#ifdef HAVE_AVX2_KERNEL

/*
 * A group of eight is loaded as two lanes of four values, the upper one from
 * the byte in which the fifth value begins.  BIT is a value's first bit within
 * its lane; the shuffle brings the four bytes from there into the value's word,
 * the shift moves its first bit down.
 */
#define BIT(w, i)	((i) < 4 ? (i) * (w) : ((i) - 4) * (w) + 4 * (w) % 8)
#define BYTES(w, i)	BIT(w, i) / 8, BIT(w, i) / 8 + 1, BIT(w, i) / 8 + 2, \
	BIT(w, i) / 8 + 3
#define SHUFFLE(w)	{BYTES(w, 0), BYTES(w, 1), BYTES(w, 2), BYTES(w, 3), \
	BYTES(w, 4), BYTES(w, 5), BYTES(w, 6), BYTES(w, 7)}
#define SHIFT(w)	{BIT(w, 0) % 8, BIT(w, 1) % 8, BIT(w, 2) % 8, \
	BIT(w, 3) % 8, BIT(w, 4) % 8, BIT(w, 5) % 8, BIT(w, 6) % 8, BIT(w, 7) % 8}
#define EACH_WIDTH(M) \
	M(0), M(1), M(2), M(3), M(4), M(5), M(6), M(7), M(8), M(9), M(10), M(11), \
	M(12), M(13), M(14), M(15), M(16), M(17), M(18), M(19), M(20), M(21), \
	M(22), M(23), M(24), M(25)

static const uint8_t avx2_shuffle[AVX2_MAX_WIDTH + 1][32] = {
	EACH_WIDTH(SHUFFLE)
};
static const uint32_t avx2_shift[AVX2_MAX_WIDTH + 1][8] = {
	EACH_WIDTH(SHIFT)
};

__attribute__((target("avx2")))
static void
unpack_avx2(const uint8_t *data, int width, uint32_t *out, size_t groups)
{
	const __m256i shuffle =
		_mm256_loadu_si256((const __m256i *) avx2_shuffle[width]);
	const __m256i shift =
		_mm256_loadu_si256((const __m256i *) avx2_shift[width]);
	const __m256i mask = _mm256_set1_epi32((int) MASK32(width));
	const int	upper = 4 * width / 8;

	for (; groups > 0; groups--, data += width, out += 8)
	{
		__m128i		low = _mm_loadu_si128((const __m128i *) data);
		__m128i		high = _mm_loadu_si128((const __m128i *) (data + upper));
		__m256i		word = _mm256_inserti128_si256(_mm256_castsi128_si256(low),
												   high, 1);

		word = _mm256_shuffle_epi8(word, shuffle);
		word = _mm256_srlv_epi32(word, shift);
		word = _mm256_and_si256(word, mask);
		_mm256_storeu_si256((__m256i *) out, word);
	}
}

#endif							/* HAVE_AVX2_KERNEL */

static void
unpack_groups(const uint8_t *data, int width, uint32_t *out, size_t groups)
{
#ifdef HAVE_AVX2_KERNEL
	if (width <= AVX2_MAX_WIDTH && __builtin_cpu_supports("avx2"))
	{
		unpack_avx2(data, width, out, groups);
		return;
	}
#endif
	unpackers[width] (data, out, groups);
}

void
unpack_u32(const uint8_t *data, int width, uint32_t *out, size_t count)
{
	size_t		groups = count / 8;
	size_t		rest = count % 8;

	unpack_groups(data, width, out, groups);
	if (rest != 0)
	{
		uint32_t	last[8];

		unpack_groups(data + groups * (size_t) width, width, last, 1);
		memcpy(out + groups * 8, last, rest * sizeof *out);
	}
}

void
unpack_u64(const uint8_t *data, int width, uint64_t *out, size_t count)
{
	uint64_t	mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	uint64_t	bit = 0;

	for (size_t i = 0; i < count; i++, bit += (uint64_t) width)
	{
		const uint8_t *start = data + bit / 8;
		int			shift = (int) (bit % 8);
		uint64_t	value = bits_load_u64le(start) >> shift;

		/* a value may touch nine bytes */
		if (shift + width > 64)
			value |= (uint64_t) start[8] << (64 - shift);
		out[i] = value & mask;
	}
}

void
unpack_bools(const uint8_t *data, uint64_t first, uint8_t flip, uint8_t *out,
			 size_t count)
{
	const uint64_t every = UINT64_C(0x0101010101010101);
	size_t		i = 0;

	data += first / 8;
	first %= 8;
	for (; first != 0 && i < count; i++)
	{
		out[i] = (uint8_t) ((*data >> first & 1) ^ flip);
		if (++first == 8)
		{
			first = 0;
			data++;
		}
	}

	/*
	 * Eight at a time: each byte of the word keeps its own bit of the source,
	 * and adding 127 carries a bit that is set, whichever it is, into bit 7.
	 */
	for (; i + 8 <= count; i += 8)
	{
		uint64_t	word = *data++ * every & UINT64_C(0x8040201008040201);

		word = (word + every * 127) >> 7 & every;
		word ^= flip * every;
		memcpy(out + i, &word, sizeof word);
	}
	for (int bit = 0; i < count; i++, bit++)
		out[i] = (uint8_t) ((*data >> bit & 1) ^ flip);
}
