/*
 * LZ4 in its three framings.
 *
 * Parquet's codec 5 was never specified: parquet-mr wrote Hadoop's framing,
 * older parquet-cpp bare blocks and still older ones LZ4 frames.  They are
 * told apart by trying: a wrong guess does not give exactly the wanted size.
 */
#include "codec/codec_int.h"

#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>

#include "base/bits.h"

/* decompressed size of a block, -1 if it is corrupt or exceeds dst_size */
static int
decompress_block(const uint8_t *src, size_t src_size,
				 uint8_t *dst, size_t dst_size)
{
	if (src_size > INT_MAX)
		return -1;
	return LZ4_decompress_safe((const char *) src, (char *) dst,
							   (int) src_size,
							   dst_size > INT_MAX ? INT_MAX : (int) dst_size);
}

bool
codec_lz4_raw_decompress(CodecContext *context,
						 const uint8_t *src, size_t src_size,
						 uint8_t *dst, size_t dst_size)
{
	int			size = decompress_block(src, src_size, dst, dst_size);

	(void) context;
	return size >= 0 && (size_t) size == dst_size;
}

/*
 * Hadoop's BlockCompressorStream: frames of a decompressed size and the blocks
 * that make it up, each behind its compressed size, all sizes big-endian.
 */
static bool
decompress_hadoop(const uint8_t *src, size_t src_size,
				  uint8_t *dst, size_t dst_size)
{
	const uint8_t *end = src + src_size;
	uint8_t    *dst_end = dst + dst_size;

	/* behind a size of 0, Arrow writes an empty block and Hadoop none */
	if (dst_size == 0)
		return src_size >= 4 && bits_load_u32be(src) == 0;
	while (end - src >= 4)
	{
		size_t		frame_left = bits_load_u32be(src);

		src += 4;
		if (frame_left > (size_t) (dst_end - dst))
			return false;
		while (frame_left > 0)
		{
			size_t		block_size;
			int			size;

			if (end - src < 4)
				return false;
			block_size = bits_load_u32be(src);
			src += 4;
			if (block_size > (size_t) (end - src))
				return false;
			size = decompress_block(src, block_size, dst, frame_left);
			if (size < 0)
				return false;
			src += block_size;
			dst += size;
			frame_left -= (size_t) size;
		}
	}
	return src == end && dst == dst_end;
}

static void
destroy_frame_state(void *arg)
{
	LZ4F_freeDecompressionContext(arg);
}

static LZ4F_dctx *
get_frame_state(CodecContext *context)
{
	LZ4F_dctx  *state = context->lz4_frame;

	if (state != NULL)
	{
		LZ4F_resetDecompressionContext(state);
		return state;
	}
	if (LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION)))
		codec_throw_no_state("lz4");
	lake_defer(context->arena, destroy_frame_state, state);
	context->lz4_frame = state;
	return state;
}

bool
codec_lz4_frame_decompress(CodecContext *context,
						   const uint8_t *src, size_t src_size,
						   uint8_t *dst, size_t dst_size)
{
	LZ4F_dctx  *state = get_frame_state(context);
	size_t		used = 0;
	size_t		produced = 0;
	size_t		hint = 1;

	while (hint != 0)
	{
		size_t		in_size = src_size - used;
		size_t		out_size = dst_size - produced;

		hint = LZ4F_decompress(state, dst + produced, &out_size,
							   src + used, &in_size, NULL);
		if (LZ4F_isError(hint) || (hint != 0 && in_size == 0 && out_size == 0))
			return false;
		used += in_size;
		produced += out_size;
	}
	return used == src_size && produced == dst_size;
}

bool
codec_lz4_frame_append(CodecContext *context,
					   const uint8_t *src, size_t src_size,
					   LakeBuffer *dst, size_t limit)
{
	LZ4F_dctx  *state = get_frame_state(context);
	size_t		start = dst->len;
	size_t		used = 0;
	size_t		hint = 1;
	uint8_t		spare;

	while (hint != 0)
	{
		size_t		in_size = src_size - used;
		size_t		out_size = 0;

		/* a full result may still be followed by the frame's end mark */
		if (dst->len - start < limit)
			out_size = codec_make_room(dst, start, limit);
		hint = LZ4F_decompress(state, out_size == 0 ? &spare :
							   dst->data + dst->len, &out_size,
							   src + used, &in_size, NULL);
		if (LZ4F_isError(hint))
			return false;
		used += in_size;
		dst->len += out_size;
		if (hint != 0 && in_size == 0 && out_size == 0)
		{
			if (used < src_size)
				codec_throw_limit(limit);
			return false;
		}
		lake_check_interrupts();
	}
	return used == src_size;
}

bool
codec_lz4_hadoop_decompress(CodecContext *context,
							const uint8_t *src, size_t src_size,
							uint8_t *dst, size_t dst_size)
{
	return decompress_hadoop(src, src_size, dst, dst_size) ||
		codec_lz4_raw_decompress(context, src, src_size, dst, dst_size) ||
		codec_lz4_frame_decompress(context, src, src_size, dst, dst_size);
}

bool
codec_lz4_raw_compress(CodecContext *context, int level,
					   const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	int			room;
	int			size;

	(void) context;
	(void) level;
	if (src_size > LZ4_MAX_INPUT_SIZE)
		return false;
	room = LZ4_compressBound((int) src_size);
	buffer_reserve(dst, (size_t) room);
	size = LZ4_compress_default((const char *) src,
								(char *) dst->data + dst->len,
								(int) src_size, room);
	if (size <= 0)
		return false;
	dst->len += (size_t) size;
	return true;
}

/* says the size of the content, as Puffin asks for */
bool
codec_lz4_frame_compress(CodecContext *context, int level,
						 const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	LZ4F_preferences_t preferences = {0};
	size_t		room;
	size_t		size;

	(void) context;
	(void) level;
	preferences.frameInfo.contentSize = src_size;
	room = LZ4F_compressFrameBound(src_size, &preferences);
	buffer_reserve(dst, room);
	size = LZ4F_compressFrame(dst->data + dst->len, room, src, src_size,
							  &preferences);
	if (LZ4F_isError(size))
		return false;
	dst->len += size;
	return true;
}
