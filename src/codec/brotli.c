/*
 * Brotli streams.  The library bounds its window to 16 MiB unless asked
 * otherwise, so that memory needs no limit of ours.
 */
#include "codec/codec_int.h"

#include <brotli/decode.h>

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
