/*
 * Brotli streams.  The library bounds its window to 16 MiB unless asked
 * otherwise, so that memory needs no limit of ours.
 */
#include "codec/codec_int.h"

#include <brotli/decode.h>
#include <brotli/encode.h>

bool
codec_brotli_decompress(CodecContext *context,
						const uint8_t *src, size_t src_size,
						uint8_t *dst, size_t dst_size)
{
	size_t		size = dst_size;

	(void) context;
	return BrotliDecoderDecompress(src_size, src, &size, dst) ==
		BROTLI_DECODER_RESULT_SUCCESS && size == dst_size;
}

bool
codec_brotli_compress(CodecContext *context, int level,
					  const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	size_t		size = BrotliEncoderMaxCompressedSize(src_size);

	(void) context;
	/* 0: more than the library can say */
	if (size == 0)
		return false;
	buffer_reserve(dst, size);
	if (!BrotliEncoderCompress(level, BROTLI_DEFAULT_WINDOW,
							   BROTLI_DEFAULT_MODE, src_size, src, &size,
							   dst->data + dst->len))
		return false;
	dst->len += size;
	return true;
}
