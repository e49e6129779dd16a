/*
 * What the codecs of this folder share: one function pair a library, all
 * listed in codec.c's table.
 *
 * No function here throws from within a library's frame; the states that
 * libraries allocate live in the context and go with its arena.
 */
#ifndef LAKE_CODEC_INT_H
#define LAKE_CODEC_INT_H

#include "codec/codec.h"

/*
 * States are created when a codec is first used.  Their types belong to the
 * libraries, whose headers only the codec's own file includes.
 */
struct CodecContext
{
	LakeArena  *arena;			/* owns the context and the states below */
	void	   *deflate;		/* struct libdeflate_decompressor */
	void	   *inflate;		/* z_stream, set up for gzip and zlib */
	void	   *inflate_raw;	/* z_stream, set up for raw deflate */
	void	   *zstd;			/* ZSTD_DCtx */
	void	   *lz4_frame;		/* LZ4F_dctx */
	void	   *zstd_out;		/* ZSTD_CCtx */
	void	   *deflate_out;	/* struct libdeflate_compressor */
	int			deflate_level;	/* of deflate_out, fixed at its creation */
};

/*
 * Decompresses src into dst.  True only if that gives exactly dst_size bytes;
 * never writes more than those.  dst is not NULL, not even for dst_size 0.
 */
typedef bool (*CodecDecompress) (CodecContext *context,
								 const uint8_t *src, size_t src_size,
								 uint8_t *dst, size_t dst_size);

/*
 * Appends to dst.  False if the input is corrupt; throws through
 * codec_throw_limit when the result would exceed limit bytes.
 */
typedef bool (*CodecAppend) (CodecContext *context,
							 const uint8_t *src, size_t src_size,
							 LakeBuffer *dst, size_t limit);

/*
 * Appends the compressed src to dst, where there may be no room yet.  level is
 * within the codec's levels.  False if the library refuses.
 */
typedef bool (*CodecCompress) (CodecContext *context, int level,
							   const uint8_t *src, size_t src_size,
							   LakeBuffer *dst);

/* the levels of a codec that has some */
typedef struct CodecLevels
{
	int			lowest;
	int			highest;
	int			standard;		/* CODEC_DEFAULT_LEVEL */
} CodecLevels;

extern _Noreturn void codec_throw_limit(size_t limit);
extern _Noreturn void codec_throw_no_state(const char *library);

/* a piece of output: small enough to look at interrupts after each */
#define CODEC_PIECE_MAX	((size_t) 8 << 20)

/*
 * Room for the next piece of output of an append that started at length start:
 * at least one byte, at most CODEC_PIECE_MAX and what limit leaves, growing
 * with what is there.  Returns the room; throws LIMIT when there is none left.
 */
extern size_t codec_make_room(LakeBuffer *dst, size_t start, size_t limit);

extern bool codec_gzip_decompress(CodecContext *context,
								  const uint8_t *src, size_t src_size,
								  uint8_t *dst, size_t dst_size);
extern bool codec_gzip_append(CodecContext *context,
							  const uint8_t *src, size_t src_size,
							  LakeBuffer *dst, size_t limit);
extern bool codec_deflate_decompress(CodecContext *context,
									 const uint8_t *src, size_t src_size,
									 uint8_t *dst, size_t dst_size);
extern bool codec_deflate_append(CodecContext *context,
								 const uint8_t *src, size_t src_size,
								 LakeBuffer *dst, size_t limit);
extern bool codec_snappy_decompress(CodecContext *context,
									const uint8_t *src, size_t src_size,
									uint8_t *dst, size_t dst_size);
extern bool codec_snappy_append(CodecContext *context,
								const uint8_t *src, size_t src_size,
								LakeBuffer *dst, size_t limit);
extern bool codec_snappy_avro_decompress(CodecContext *context,
										 const uint8_t *src, size_t src_size,
										 uint8_t *dst, size_t dst_size);
extern bool codec_snappy_avro_append(CodecContext *context,
									 const uint8_t *src, size_t src_size,
									 LakeBuffer *dst, size_t limit);
extern bool codec_lz4_raw_decompress(CodecContext *context,
									 const uint8_t *src, size_t src_size,
									 uint8_t *dst, size_t dst_size);
extern bool codec_lz4_hadoop_decompress(CodecContext *context,
										const uint8_t *src, size_t src_size,
										uint8_t *dst, size_t dst_size);
extern bool codec_lz4_frame_decompress(CodecContext *context,
									   const uint8_t *src, size_t src_size,
									   uint8_t *dst, size_t dst_size);
extern bool codec_lz4_frame_append(CodecContext *context,
								   const uint8_t *src, size_t src_size,
								   LakeBuffer *dst, size_t limit);
extern bool codec_zstd_decompress(CodecContext *context,
								  const uint8_t *src, size_t src_size,
								  uint8_t *dst, size_t dst_size);
extern bool codec_zstd_append(CodecContext *context,
							  const uint8_t *src, size_t src_size,
							  LakeBuffer *dst, size_t limit);
extern bool codec_brotli_decompress(CodecContext *context,
									const uint8_t *src, size_t src_size,
									uint8_t *dst, size_t dst_size);

/* ---- compression ---- */

extern bool codec_gzip_compress(CodecContext *context, int level,
								const uint8_t *src, size_t src_size,
								LakeBuffer *dst);
extern bool codec_deflate_compress(CodecContext *context, int level,
								   const uint8_t *src, size_t src_size,
								   LakeBuffer *dst);
extern bool codec_snappy_compress(CodecContext *context, int level,
								  const uint8_t *src, size_t src_size,
								  LakeBuffer *dst);
extern bool codec_snappy_avro_compress(CodecContext *context, int level,
									   const uint8_t *src, size_t src_size,
									   LakeBuffer *dst);
extern bool codec_lz4_raw_compress(CodecContext *context, int level,
								   const uint8_t *src, size_t src_size,
								   LakeBuffer *dst);
extern bool codec_lz4_frame_compress(CodecContext *context, int level,
									 const uint8_t *src, size_t src_size,
									 LakeBuffer *dst);
extern bool codec_zstd_compress(CodecContext *context, int level,
								const uint8_t *src, size_t src_size,
								LakeBuffer *dst);
extern bool codec_brotli_compress(CodecContext *context, int level,
								  const uint8_t *src, size_t src_size,
								  LakeBuffer *dst);

#endif							/* LAKE_CODEC_INT_H */
