/*
 * The first byte chooses a codec, the next two a size, the rest is compressed
 * data.  Decompressing to an unknown size and then to that size agree.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "codec/codec.h"

#define APPEND_LIMIT	((size_t) 1 << 20)

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* into a block of its own, so that a sanitizer sees a byte too many */
static void
decompress(CodecContext *context, LakeCodec codec, LakeBytes src,
		   size_t dst_size)
{
	uint8_t    *dst = malloc(dst_size + 1);
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		codec_decompress(context, codec, src.data, src.len, dst, dst_size);
		lake_try_end(&try);
	}
	free(dst);
}

/* false when it is refused */
static bool
append(CodecContext *context, LakeCodec codec, LakeBytes src,
	   LakeBuffer *buffer)
{
	LakeTry		try;

	if (!lake_try_begin(&try))
		return false;
	codec_decompress_append(context, codec, src.data, src.len, buffer,
							APPEND_LIMIT);
	lake_try_end(&try);
	return true;
}

static void
check(LakeArena *arena, LakeCodec codec, LakeBytes src, size_t dst_size)
{
	CodecContext *context = codec_context_create(arena);
	LakeBuffer	buffer;
	uint8_t    *dst;

	decompress(context, codec, src, dst_size);
	if (codec == CODEC_LZ4_RAW || codec == CODEC_LZ4_HADOOP ||
		codec == CODEC_BROTLI)
		return;
	buffer_init(&buffer, arena);
	if (!append(context, codec, src, &buffer))
		return;
	if (buffer.len > APPEND_LIMIT)
		abort();
	/* a throw from here on is a finding: nothing catches it */
	dst = lake_alloc(arena, buffer.len + 1);
	codec_decompress(context, codec, src.data, src.len, dst, buffer.len);
	if (buffer.len > 0 && memcmp(dst, buffer.data, buffer.len) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena;
	LakeBytes	src;

	if (size < 3)
		return 0;
	src.data = data + 3;
	src.len = size - 3;
	arena = lake_arena_create(NULL, "fuzz");
	check(arena, (LakeCodec) (data[0] % (CODEC_BROTLI + 1)), src,
		  (size_t) data[1] << 8 | data[2]);
	lake_arena_destroy(arena);
	return 0;
}
