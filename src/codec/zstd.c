/*
 * Zstandard frames, one or more, skippable ones included.
 *
 * Decompressing to a known size writes straight into the caller's memory.  To
 * an unknown size the library keeps a window, whose size the frame chooses:
 * that is limited here.
 */
#include "codec/codec_int.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

/* 128 MiB: what the library itself accepts by default, and level 22 uses */
#define MAX_WINDOW_LOG	27

static void
destroy_state(void *arg)
{
	ZSTD_freeDCtx(arg);
}

static ZSTD_DCtx *
get_state(CodecContext *context)
{
	ZSTD_DCtx  *state = context->zstd;

	if (state != NULL)
		return state;
	state = ZSTD_createDCtx();
	if (state == NULL)
		codec_throw_no_state("zstd");
	lake_defer(context->arena, destroy_state, state);
	ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, MAX_WINDOW_LOG);
	context->zstd = state;
	return state;
}

bool
codec_zstd_decompress(CodecContext *context,
					  const uint8_t *src, size_t src_size,
					  uint8_t *dst, size_t dst_size)
{
	size_t		size = ZSTD_decompressDCtx(get_state(context), dst, dst_size,
										   src, src_size);

	return !ZSTD_isError(size) && size == dst_size;
}

/*
 * Where the first frame says how long its content is, reserving that lets the
 * library skip the window.  The number is believed only as far as is plausible
 * for the input; more room is made as output really appears.
 */
static void
reserve_content(const uint8_t *src, size_t src_size, LakeBuffer *dst,
				size_t limit)
{
	unsigned long long size = ZSTD_getFrameContentSize(src, src_size);

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
		size > limit || size / 64 > src_size)
		return;
	buffer_reserve(dst, (size_t) size);
}

bool
codec_zstd_append(CodecContext *context,
				  const uint8_t *src, size_t src_size,
				  LakeBuffer *dst, size_t limit)
{
	ZSTD_DCtx  *state = get_state(context);
	ZSTD_inBuffer in = {src, src_size, 0};
	size_t		start = dst->len;
	size_t		more = 1;

	ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
	reserve_content(src, src_size, dst, limit);
	/* "more" is 0 at the end of a frame; another one may follow */
	while (in.pos < in.size || more != 0)
	{
		size_t		room = 0;
		size_t		consumed = in.pos;
		ZSTD_outBuffer out;
		uint8_t		spare;

		/* a full result may still be followed by a frame's last, empty part */
		if (dst->len - start < limit)
			room = codec_make_room(dst, start, limit);
		out.dst = room == 0 ? &spare : dst->data + dst->len;
		out.size = room == 0 ? 1 : room;
		out.pos = 0;
		more = ZSTD_decompressStream(state, &out, &in);
		if (ZSTD_isError(more))
			return false;
		if (room == 0 && out.pos > 0)
			codec_throw_limit(limit);
		dst->len += out.pos;
		if (out.pos == 0 && in.pos == consumed)
			return false;		/* the frame is cut off */
		lake_check_interrupts();
	}
	return true;
}

static void
destroy_compressor(void *arg)
{
	ZSTD_freeCCtx(arg);
}

static ZSTD_CCtx *
get_compressor(CodecContext *context)
{
	ZSTD_CCtx  *state = context->zstd_out;

	if (state != NULL)
		return state;
	state = ZSTD_createCCtx();
	if (state == NULL)
		codec_throw_no_state("zstd");
	lake_defer(context->arena, destroy_compressor, state);
	context->zstd_out = state;
	return state;
}

bool
codec_zstd_compress(CodecContext *context, int level,
					const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	size_t		room = ZSTD_compressBound(src_size);
	size_t		size;

	if (ZSTD_isError(room))
		return false;
	buffer_reserve(dst, room);
	size = ZSTD_compressCCtx(get_compressor(context), dst->data + dst->len,
							 room, src, src_size, level);
	if (ZSTD_isError(size))
		return false;
	dst->len += size;
	return true;
}
