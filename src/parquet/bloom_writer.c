/*
 * Split-block bloom filters, written.
 *
 * How many distinct values there will be is not known beforehand.  So hashes
 * are collected until a filter of the greatest size is smaller than they are,
 * and in the end the filter is folded as long as the result is good enough: the
 * block of a hash in half a filter is half its block in the whole one.
 *
 * Parquet format: BloomFilter.md; parquet.thrift, BloomFilterHeader.
 */
#include "parquet/writer.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"

#define BLOCK_WORDS			8
#define BLOCK_BYTES			(BLOCK_WORDS * sizeof(uint32_t))

static const uint32_t salts[BLOCK_WORDS] = {
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
	0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
};

/* at most max, at least one block */
static size_t
power_of_two_below(size_t max)
{
	size_t		size = BLOCK_BYTES;

	while (size <= max / 2)
		size *= 2;
	return size;
}

void
bloom_writer_init(BloomWriter *bloom, LakeArena *arena, double fpp,
				  size_t max_bytes)
{
	memset(bloom, 0, sizeof *bloom);
	bloom->arena = arena;
	bloom->fpp = fpp;
	bloom->max_bytes = power_of_two_below(max_bytes < PARQUET_MAX_BLOOM_BYTES ?
										  max_bytes : PARQUET_MAX_BLOOM_BYTES);
	buffer_init(&bloom->hashes, arena);
}

static void
set_bits(BloomWriter *bloom, uint64_t hash)
{
	uint64_t	blocks = bloom->word_count / BLOCK_WORDS;
	uint32_t   *block = bloom->words +
		((hash >> 32) * blocks >> 32) * BLOCK_WORDS;

	for (int i = 0; i < BLOCK_WORDS; i++)
		block[i] |= 1u << ((uint32_t) hash * salts[i] >> 27);
}

static void
make_filter(BloomWriter *bloom, size_t size)
{
	const uint64_t *hashes = (const uint64_t *) (void *) bloom->hashes.data;
	size_t		count = bloom->hashes.len / sizeof *hashes;

	bloom->word_count = size / sizeof *bloom->words;
	bloom->words = lake_alloc_array(bloom->arena, bloom->word_count,
									sizeof *bloom->words);
	for (size_t i = 0; i < count; i++)
		set_bits(bloom, hashes[i]);
	lake_free(bloom->arena, bloom->hashes.data);
	buffer_init(&bloom->hashes, bloom->arena);
}

void
bloom_writer_add(BloomWriter *bloom, const uint8_t *values, size_t count,
				 size_t width)
{
	for (size_t i = 0; i < count; i++)
	{
		size_t		len = width;
		uint64_t	hash;

		if (width == 0)
		{
			len = bits_load_u32le(values);
			values += 4;
		}
		hash = hash_xxh64(values, len, 0);
		values += len;
		if (bloom->words != NULL)
			set_bits(bloom, hash);
		else
			buffer_append(&bloom->hashes, &hash, sizeof hash);
	}
	if (bloom->words == NULL && bloom->hashes.len >= bloom->max_bytes)
		make_filter(bloom, bloom->max_bytes);
}

/* how likely it is that an absent value finds all of its bits set */
static double
estimate_fpp(const uint32_t *words, size_t word_count)
{
	double		sum = 0;

	for (size_t i = 0; i < word_count; i += BLOCK_WORDS)
	{
		double		product = 1;

		for (size_t k = 0; k < BLOCK_WORDS; k++)
			product *= __builtin_popcount(words[i + k]) / 32.0;
		sum += product;
	}
	return sum / (double) (word_count / BLOCK_WORDS);
}

/* two neighbouring blocks become one; false: that would say too much */
static bool
fold(BloomWriter *bloom)
{
	size_t		half = bloom->word_count / 2;
	uint32_t   *folded;

	if (half < BLOCK_WORDS)
		return false;
	folded = lake_alloc_array(bloom->arena, half, sizeof *folded);
	for (size_t i = 0; i < half; i++)
	{
		const uint32_t *pair = bloom->words +
			i / BLOCK_WORDS * 2 * BLOCK_WORDS + i % BLOCK_WORDS;

		folded[i] = pair[0] | pair[BLOCK_WORDS];
	}
	if (estimate_fpp(folded, half) > bloom->fpp)
	{
		lake_free(bloom->arena, folded);
		return false;
	}
	lake_free(bloom->arena, bloom->words);
	bloom->words = folded;
	bloom->word_count = half;
	return true;
}

void
bloom_writer_finish(BloomWriter *bloom, LakeBuffer *out)
{
	ThriftOutput output = {.out = out};

	if (bloom->words == NULL)
	{
		/* 32 bits a value: more than any useful rate of errors takes */
		size_t		wanted = bloom->hashes.len / sizeof(uint64_t) * 4;
		size_t		size = power_of_two_below(wanted * 2);

		make_filter(bloom, size < bloom->max_bytes ? size : bloom->max_bytes);
	}
	while (fold(bloom))
		;
	thrift_write_i32(&output, 1, (int32_t)
					 (bloom->word_count * sizeof *bloom->words));
	for (int32_t id = 2; id <= 4; id++)
	{
		/* BLOCK, XXHASH, UNCOMPRESSED: the only members of their unions */
		thrift_begin(&output, id);
		thrift_write_empty(&output, 1);
		thrift_end(&output);
	}
	thrift_end(&output);
	buffer_append(out, bloom->words,
				  bloom->word_count * sizeof *bloom->words);
}
