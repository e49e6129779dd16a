/*
 * Split-block bloom filters.
 *
 * A question needs one block of 32 bytes, a filter has megabytes of them: small
 * filters are read whole, of the others single blocks until so many were asked
 * for that the whole is cheaper.
 *
 * Parquet format: BloomFilter.md; parquet.thrift, BloomFilterHeader.
 */
#include "parquet/parquet_int.h"

#include <string.h>

#include "base/hash.h"

#define BLOCK_WORDS			8
#define BLOCK_BYTES			(BLOCK_WORDS * sizeof(uint32_t))
/* a header as it is written, and some more; small filters come with it */
#define FIRST_BYTES			((size_t) 4096)
#define MIN_HEADER_BYTES	15
#define MAX_SINGLE_BLOCKS	16

struct ParquetBloom
{
	const ParquetFile *file;
	LakeArena  *arena;
	ParquetPlace bits;			/* a multiple of BLOCK_BYTES */
	LakeBytes	loaded;			/* of the bits; len 0: not yet */
	int			single_blocks;	/* read so far */
};

/* ---- the header ---- */

/* the only member that there is of each of three unions */
static bool
is_known_union(ByteCursor *cursor, const ThriftField *field)
{
	ThriftField member = {0};
	bool		is_known = false;

	if (field->type != THRIFT_STRUCT)
		return false;
	while (thrift_next(cursor, &member))
	{
		is_known = member.id == 1 && member.type == THRIFT_STRUCT;
		thrift_skip(cursor, &member);
	}
	return is_known;
}

/* the size of the bits and of the header; false: not one that we can read */
static bool
read_header(LakeBytes bytes, int64_t *bit_size, size_t *header_size)
{
	ThriftField field = {0};
	ByteCursor	cursor;
	int			known = 0;

	if (!thrift_is_struct(bytes))
		return false;
	cursor_init(&cursor, bytes.data, bytes.len, "Parquet bloom filter");
	*bit_size = 0;
	while (thrift_next(&cursor, &field))
	{
		if (field.id == 1 && field.type >= THRIFT_I16 &&
			field.type <= THRIFT_I64)
			*bit_size = thrift_i64(&cursor, &field);
		else if (field.id >= 2 && field.id <= 4)
		{
			/* algorithm BLOCK, hash XXHASH, compression UNCOMPRESSED */
			if (!is_known_union(&cursor, &field))
				return false;
			known |= 1 << field.id;
		}
		else
			thrift_skip(&cursor, &field);
	}
	*header_size = (size_t) (cursor.pos - bytes.data);
	return known == (1 << 2 | 1 << 3 | 1 << 4) && *bit_size > 0 &&
		*bit_size % (int64_t) BLOCK_BYTES == 0 &&
		(uint64_t) *bit_size <= PARQUET_MAX_BLOOM_BYTES;
}

/* the first bytes at the chunk's filter, as many as there can be of them */
static bool
read_first_bytes(const ParquetFile *file, LakeArena *arena,
				 const ParquetPlace *place, LakeBytes *bytes)
{
	ParquetPlace first = {place->offset, (int64_t) FIRST_BYTES};
	int64_t		left = (int64_t) file->data_end - place->offset;

	if (place->offset <= 0 || left < MIN_HEADER_BYTES || place->size < 0)
		return false;
	if (place->size > 0 && place->size < left)
		left = place->size;
	if (left < first.size)
		first.size = left;
	return parquet_file_bytes(file, arena, &first, FIRST_BYTES, bytes);
}

ParquetBloom *
parquet_bloom_read(const ParquetFile *file, LakeArena *arena, int row_group,
				   const ParquetField *field)
{
	const ParquetChunk *chunk;
	ParquetBloom *bloom;
	LakeBytes	first;
	size_t		header_size;

	if (field->shape != PARQUET_PRIMITIVE)
		return NULL;
	chunk = &file->row_groups[row_group].chunks[field->leaf];
	if (chunk->refusal != PARQUET_REFUSE_NONE ||
		!read_first_bytes(file, arena, &chunk->bloom, &first))
		return NULL;
	bloom = lake_alloc(arena, sizeof *bloom);
	bloom->file = file;
	bloom->arena = arena;
	if (!read_header(first, &bloom->bits.size, &header_size))
		return NULL;
	bloom->bits.offset = chunk->bloom.offset + (int64_t) header_size;
	/* length, where it is given, is that of both */
	if ((uint64_t) bloom->bits.size >
		file->data_end - (uint64_t) bloom->bits.offset ||
		(chunk->bloom.size > 0 &&
		 bloom->bits.size != chunk->bloom.size - (int64_t) header_size))
		return NULL;
	if ((size_t) bloom->bits.size <= first.len - header_size)
		bloom->loaded = encoding_bytes(first.data + header_size,
									   (size_t) bloom->bits.size);
	return bloom;
}

/* ---- questions ---- */

/* copies the block to words */
static void
read_block(ParquetBloom *bloom, uint64_t block, uint32_t *words)
{
	ParquetPlace place = bloom->bits;
	size_t		start = (size_t) block * BLOCK_BYTES;

	if (bloom->loaded.len == 0 && bloom->single_blocks == MAX_SINGLE_BLOCKS)
		parquet_file_bytes(bloom->file, bloom->arena, &place,
						   PARQUET_MAX_BLOOM_BYTES, &bloom->loaded);
	if (bloom->loaded.len > 0)
	{
		memcpy(words, bloom->loaded.data + start, BLOCK_BYTES);
		return;
	}
	bloom->single_blocks++;
	lake_file_read(bloom->file->file, (uint64_t) place.offset + start,
				   BLOCK_BYTES, words);
}

bool
parquet_bloom_may_contain(ParquetBloom *bloom, LakeBytes value)
{
	static const uint32_t salts[BLOCK_WORDS] = {
		0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
		0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
	};
	uint64_t	hash = hash_xxh64(value.data, value.len, 0);
	uint64_t	blocks = (uint64_t) bloom->bits.size / BLOCK_BYTES;
	uint32_t	words[BLOCK_WORDS];

	read_block(bloom, (hash >> 32) * blocks >> 32, words);
	for (int i = 0; i < BLOCK_WORDS; i++)
	{
		uint32_t	bit = (uint32_t) hash * salts[i] >> 27;

		if ((words[i] >> bit & 1) == 0)
			return false;
	}
	return true;
}
