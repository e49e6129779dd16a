/*
 * Deflate bare (Avro), in zlib's wrapper and in gzip's (Parquet, metadata).
 *
 * libdeflate is twice as fast as zlib but wants all output in one piece and
 * cannot be interrupted.  So results of unknown size that turn out to be large
 * are left to zlib, which delivers them bit by bit.
 */
#include "codec/codec_int.h"

#include <libdeflate.h>
#include <zlib.h>

/* libdeflate fills this in well under the time a cancel may take */
#define ONE_PIECE_MAX	((size_t) 32 << 20)
/* zlib's input between two looks at interrupts */
#define PIECE_SIZE		((size_t) 1 << 20)

typedef enum Wrapper
{
	WRAPPER_NONE,
	WRAPPER_ZLIB,
	WRAPPER_GZIP
} Wrapper;

typedef enum libdeflate_result (*InflateFn)
			(struct libdeflate_decompressor *state,
			 const void *in, size_t in_size, void *out, size_t out_size,
			 size_t *used, size_t *produced);

static const InflateFn inflate_fns[] = {
	[WRAPPER_NONE] = libdeflate_deflate_decompress_ex,
	[WRAPPER_ZLIB] = libdeflate_zlib_decompress_ex,
	[WRAPPER_GZIP] = libdeflate_gzip_decompress_ex,
};

static void
destroy_state(void *arg)
{
	libdeflate_free_decompressor(arg);
}

static struct libdeflate_decompressor *
get_state(CodecContext *context)
{
	struct libdeflate_decompressor *state = context->deflate;

	if (state != NULL)
		return state;
	state = libdeflate_alloc_decompressor();
	if (state == NULL)
		codec_throw_no_state("libdeflate");
	lake_defer(context->arena, destroy_state, state);
	context->deflate = state;
	return state;
}

/* Parquet says gzip, but some writers' pages have zlib's wrapper */
static Wrapper
wrapper_of(const uint8_t *src, size_t src_size)
{
	if (src_size >= 2 && (src[0] & 0x0f) == 8 &&
		(src[0] * 256 + src[1]) % 31 == 0)
		return WRAPPER_ZLIB;
	return WRAPPER_GZIP;
}

/* one stream after another, as in concatenated gzip members */
static bool
inflate_all(CodecContext *context, Wrapper wrapper,
			const uint8_t *src, size_t src_size,
			uint8_t *dst, size_t dst_size)
{
	struct libdeflate_decompressor *state = get_state(context);
	size_t		used = 0;
	size_t		produced = 0;

	do
	{
		size_t		in_size;
		size_t		out_size;

		if (inflate_fns[wrapper] (state, src + used, src_size - used,
								  dst + produced, dst_size - produced,
								  &in_size, &out_size) != LIBDEFLATE_SUCCESS)
			return false;
		used += in_size;
		produced += out_size;
		/* fastavro leaves the end of zlib's checksum behind a raw stream */
	} while (used < src_size && wrapper != WRAPPER_NONE);
	return produced == dst_size;
}

static void
destroy_stream(void *arg)
{
	inflateEnd(arg);
}

static z_stream *
get_stream(CodecContext *context, Wrapper wrapper)
{
	void	  **slot = wrapper == WRAPPER_NONE ?
		&context->inflate_raw : &context->inflate;
	z_stream   *stream = *slot;

	if (stream != NULL)
	{
		inflateReset(stream);
		return stream;
	}
	stream = lake_alloc(context->arena, sizeof *stream);
	/* + 32: recognises either wrapper */
	if (inflateInit2(stream, wrapper == WRAPPER_NONE ? -MAX_WBITS :
					 MAX_WBITS + 32) != Z_OK)
		codec_throw_no_state("zlib");
	lake_defer(context->arena, destroy_stream, stream);
	*slot = stream;
	return stream;
}

/* as append_stream, by zlib and in pieces */
static bool
append_pieces(CodecContext *context, Wrapper wrapper,
			  const uint8_t *src, size_t src_size, size_t *used,
			  LakeBuffer *dst, size_t start, size_t limit)
{
	z_stream   *stream = get_stream(context, wrapper);
	int			result = Z_OK;
	uint8_t		spare;

	*used = 0;
	while (result != Z_STREAM_END)
	{
		size_t		room = 0;
		size_t		in_size = src_size - *used;

		/* a full result may still be followed by the stream's end */
		if (dst->len - start < limit)
			room = codec_make_room(dst, start, limit);
		in_size = in_size > PIECE_SIZE ? PIECE_SIZE : in_size;
		stream->next_in = (uint8_t *) (uintptr_t) (src + *used);
		stream->avail_in = (uInt) in_size;
		stream->next_out = room == 0 ? &spare : dst->data + dst->len;
		stream->avail_out = room == 0 ? 1 : (uInt) room;
		result = inflate(stream, Z_NO_FLUSH);
		if (result != Z_OK && result != Z_STREAM_END)
			return false;
		*used += in_size - stream->avail_in;
		if (room == 0 && stream->avail_out == 0)
			codec_throw_limit(limit);
		if (room != 0)
			dst->len += room - stream->avail_out;
		lake_check_interrupts();
	}
	return true;
}

/*
 * Appends one stream, whose size only the attempt tells.  *used: how much of
 * src it took.  limit counts from start, where the first stream went.
 */
static bool
append_stream(CodecContext *context, Wrapper wrapper,
			  const uint8_t *src, size_t src_size, size_t *used,
			  LakeBuffer *dst, size_t start, size_t limit)
{
	struct libdeflate_decompressor *state = get_state(context);
	size_t		guess = src_size < 4096 ? 16384 : src_size * 4;

	while (guess <= ONE_PIECE_MAX)
	{
		size_t		left = limit - (dst->len - start);
		size_t		room;
		size_t		out_size;
		enum libdeflate_result result;

		buffer_reserve(dst, guess < left ? guess : left + 1);
		room = dst->capacity - dst->len;
		room = room < ONE_PIECE_MAX ? room : ONE_PIECE_MAX;
		room = room < left ? room : left;
		result = inflate_fns[wrapper] (state, src, src_size,
									   dst->data + dst->len, room,
									   used, &out_size);
		if (result == LIBDEFLATE_SUCCESS)
		{
			dst->len += out_size;
			return true;
		}
		if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
			return false;
		if (room == left)
			codec_throw_limit(limit);
		guess = room * 4;
	}
	return append_pieces(context, wrapper, src, src_size, used, dst, start,
						 limit);
}

static bool
append_all(CodecContext *context, Wrapper wrapper,
		   const uint8_t *src, size_t src_size,
		   LakeBuffer *dst, size_t limit)
{
	size_t		start = dst->len;
	size_t		used = 0;

	do
	{
		size_t		in_size;

		lake_check_interrupts();
		if (!append_stream(context, wrapper, src + used, src_size - used,
						   &in_size, dst, start, limit))
			return false;
		used += in_size;
	} while (used < src_size && wrapper != WRAPPER_NONE);
	return true;
}

bool
codec_gzip_decompress(CodecContext *context,
					  const uint8_t *src, size_t src_size,
					  uint8_t *dst, size_t dst_size)
{
	return inflate_all(context, wrapper_of(src, src_size), src, src_size,
					   dst, dst_size);
}

bool
codec_gzip_append(CodecContext *context,
				  const uint8_t *src, size_t src_size,
				  LakeBuffer *dst, size_t limit)
{
	return append_all(context, wrapper_of(src, src_size), src, src_size,
					  dst, limit);
}

bool
codec_deflate_decompress(CodecContext *context,
						 const uint8_t *src, size_t src_size,
						 uint8_t *dst, size_t dst_size)
{
	return inflate_all(context, WRAPPER_NONE, src, src_size, dst, dst_size);
}

bool
codec_deflate_append(CodecContext *context,
					 const uint8_t *src, size_t src_size,
					 LakeBuffer *dst, size_t limit)
{
	return append_all(context, WRAPPER_NONE, src, src_size, dst, limit);
}

/* ---- compression ---- */

static void
destroy_compressor(void *arg)
{
	CodecContext *context = arg;

	libdeflate_free_compressor(context->deflate_out);
}

/* a state knows one level; callers keep to theirs */
static struct libdeflate_compressor *
get_compressor(CodecContext *context, int level)
{
	struct libdeflate_compressor *state;

	if (context->deflate_out != NULL && context->deflate_level == level)
		return context->deflate_out;
	state = libdeflate_alloc_compressor(level);
	if (state == NULL)
		codec_throw_no_state("libdeflate");
	if (context->deflate_out == NULL)
		lake_defer(context->arena, destroy_compressor, context);
	else
		libdeflate_free_compressor(context->deflate_out);
	context->deflate_out = state;
	context->deflate_level = level;
	return state;
}

typedef size_t (*DeflateFn) (struct libdeflate_compressor *state,
							 const void *in, size_t in_size,
							 void *out, size_t out_size);
typedef size_t (*BoundFn) (struct libdeflate_compressor *state, size_t size);

static bool
deflate_all(struct libdeflate_compressor *state, DeflateFn compress,
			BoundFn bound, const uint8_t *src, size_t src_size,
			LakeBuffer *dst)
{
	size_t		room = bound(state, src_size);
	size_t		size;

	buffer_reserve(dst, room);
	size = compress(state, src, src_size, dst->data + dst->len, room);
	dst->len += size;
	return size > 0;
}

bool
codec_gzip_compress(CodecContext *context, int level,
					const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	return deflate_all(get_compressor(context, level),
					   libdeflate_gzip_compress,
					   libdeflate_gzip_compress_bound, src, src_size, dst);
}

bool
codec_deflate_compress(CodecContext *context, int level,
					   const uint8_t *src, size_t src_size, LakeBuffer *dst)
{
	return deflate_all(get_compressor(context, level),
					   libdeflate_deflate_compress,
					   libdeflate_deflate_compress_bound, src, src_size, dst);
}
