/*
 * Block compression.  One table in codec.c says which library serves which
 * codec under which name in which format.
 */
#ifndef LAKE_CODEC_H
#define LAKE_CODEC_H

#include "base/base.h"
#include "base/bytes.h"

typedef enum LakeCodec
{
	CODEC_NONE,
	CODEC_SNAPPY,				/* raw snappy block */
	CODEC_SNAPPY_AVRO,			/* the same + 4 bytes big-endian CRC-32 of the
								 * uncompressed data */
	CODEC_GZIP,					/* RFC 1952, members concatenated; Parquet
								 * writers also emit zlib (RFC 1950) */
	CODEC_DEFLATE,				/* raw RFC 1951, Avro's "deflate" */
	CODEC_LZ4_RAW,				/* one LZ4 block */
	CODEC_LZ4_HADOOP,			/* Parquet's legacy LZ4: Hadoop frames, or a
								 * raw block, or an LZ4 frame, by trial */
	CODEC_LZ4_FRAME,			/* one LZ4 frame, Puffin's "lz4" */
	CODEC_ZSTD,
	CODEC_BROTLI
} LakeCodec;

/*
 * Parquet's CompressionCodec.  Throws UNSUPPORTED, naming it, for LZO and
 * unknown numbers.
 */
extern LakeCodec codec_from_parquet_id(int32_t id);

/* Avro's avro.codec; throws UNSUPPORTED, naming it */
extern LakeCodec codec_from_avro_name(LakeBytes name);
extern const char *codec_name(LakeCodec codec);

/* avro.codec of a codec that Avro has */
extern const char *codec_avro_name(LakeCodec codec);

/* reusable decompressor states, owned by the arena */
typedef struct CodecContext CodecContext;

extern CodecContext *codec_context_create(LakeArena *arena);

/*
 * Decompresses exactly dst_size bytes; any other outcome is CORRUPT.
 */
extern void codec_decompress(CodecContext *context, LakeCodec codec,
							 const void *src, size_t src_size,
							 void *dst, size_t dst_size);

/*
 * Appends the whole decompressed block, of unknown size, to dst.  More than
 * limit bytes is LIMIT.  Not for CODEC_LZ4_RAW, CODEC_LZ4_HADOOP and
 * CODEC_BROTLI, whose sizes their only format always says.
 */
extern void codec_decompress_append(CodecContext *context, LakeCodec codec,
									const void *src, size_t src_size,
									LakeBuffer *dst, size_t limit);

/* the codec's own default */
#define CODEC_DEFAULT_LEVEL INT32_MIN

/*
 * Appends the compressed block to dst.  level is on the codec's own scale;
 * codecs without levels ignore it, INVALID when the codec has no such level.
 * Not for CODEC_LZ4_HADOOP, which nobody should write.
 */
extern void codec_compress_append(CodecContext *context, LakeCodec codec,
								  int32_t level, const void *src,
								  size_t src_size, LakeBuffer *dst);

/* Parquet's CompressionCodec of a codec that it has */
extern int32_t codec_parquet_id(LakeCodec codec);

/*
 * The codec that a table property names: zstd, gzip, snappy, lz4 (LZ4_RAW, as
 * Java writes it), brotli, uncompressed, in any case; avro: the names of
 * manifests and Avro files, where gzip is CODEC_DEFLATE.  Throws INVALID, naming
 * property and value.
 */
extern LakeCodec codec_from_property(const char *property, const char *value,
									 bool avro);

#endif							/* LAKE_CODEC_H */
