/*
 * Snappy blocks, bare and with Avro's checksum behind them.
 */
#include "codec/codec_int.h"

#include <libdeflate.h>
#include <snappy-c.h>

#include "base/bits.h"

/* the densest element is a copy: 3 bytes for 64 */
#define MAX_EXPANSION	22

#define AVRO_CRC_SIZE	4

bool
codec_snappy_decompress(CodecContext *context,
						const uint8_t *src, size_t src_size,
						uint8_t *dst, size_t dst_size)
{
	size_t		size = 0;

	(void) context;
	/* the library trusts dst to hold what the block says */
	if (snappy_uncompressed_length((const char *) src, src_size,
								   &size) != SNAPPY_OK || size != dst_size)
		return false;
	return snappy_uncompress((const char *) src, src_size, (char *) dst,
							 &size) == SNAPPY_OK && size == dst_size;
}

bool
codec_snappy_append(CodecContext *context,
					const uint8_t *src, size_t src_size,
					LakeBuffer *dst, size_t limit)
{
	size_t		size = 0;

	if (snappy_uncompressed_length((const char *) src, src_size,
								   &size) != SNAPPY_OK ||
		size / MAX_EXPANSION > src_size)
		return false;
	if (size > limit)
		codec_throw_limit(limit);
	buffer_reserve(dst, size);
	if (!codec_snappy_decompress(context, src, src_size,
								 dst->data + dst->len, size))
		return false;
	dst->len += size;
	return true;
}

static bool
has_crc(const uint8_t *crc, const uint8_t *data, size_t size)
{
	return libdeflate_crc32(0, data, size) == bits_load_u32be(crc);
}

bool
codec_snappy_avro_decompress(CodecContext *context,
							 const uint8_t *src, size_t src_size,
							 uint8_t *dst, size_t dst_size)
{
	if (src_size < AVRO_CRC_SIZE)
		return false;
	src_size -= AVRO_CRC_SIZE;
	return codec_snappy_decompress(context, src, src_size, dst, dst_size) &&
		has_crc(src + src_size, dst, dst_size);
}

bool
codec_snappy_avro_append(CodecContext *context,
						 const uint8_t *src, size_t src_size,
						 LakeBuffer *dst, size_t limit)
{
	size_t		start = dst->len;

	if (src_size < AVRO_CRC_SIZE)
		return false;
	src_size -= AVRO_CRC_SIZE;
	return codec_snappy_append(context, src, src_size, dst, limit) &&
		has_crc(src + src_size, dst->data + start, dst->len - start);
}

bool
codec_snappy_compress(CodecContext *context, int level,
					  const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	size_t		size = snappy_max_compressed_length(src_size);

	(void) context;
	(void) level;
	/* the block says its size in 32 bits */
	if (src_size > UINT32_MAX)
		return false;
	buffer_reserve(dst, size);
	if (snappy_compress((const char *) src, src_size,
						(char *) dst->data + dst->len, &size) != SNAPPY_OK)
		return false;
	dst->len += size;
	return true;
}

bool
codec_snappy_avro_compress(CodecContext *context, int level,
						   const uint8_t *src, size_t src_size,
						   LakeBuffer *dst)
{
	uint32_t	crc = __builtin_bswap32(libdeflate_crc32(0, src, src_size));

	if (!codec_snappy_compress(context, level, src, src_size, dst))
		return false;
	buffer_append(dst, &crc, sizeof crc);
	return true;
}
