/*
 * The table of codecs, and the one place where their outcomes become errors.
 */
#include "codec/codec_int.h"

#include <string.h>
#include <strings.h>

#define NO_PARQUET_ID	(-1)

typedef struct CodecEntry
{
	const char *name;			/* for messages */
	int32_t		parquet_id;		/* CompressionCodec of parquet.thrift */
	const char *avro_name;		/* avro.codec, NULL if Avro does not have it */
	CodecDecompress decompress;
	CodecAppend append;			/* NULL: no format needs it */
	CodecCompress compress;		/* NULL: nobody should write it */
	CodecLevels levels;			/* all 0: there are none */
	/* in table properties, lower case; NULL: Parquet or Avro do not have it */
	const char *parquet_property;
	const char *avro_property;
} CodecEntry;

static bool
none_decompress(CodecContext *context, const uint8_t *src, size_t src_size,
				uint8_t *dst, size_t dst_size)
{
	(void) context;
	if (src_size != dst_size)
		return false;
	memcpy(dst, src, dst_size);
	return true;
}

static bool
none_append(CodecContext *context, const uint8_t *src, size_t src_size,
			LakeBuffer *dst, size_t limit)
{
	(void) context;
	if (src_size > limit)
		codec_throw_limit(limit);
	buffer_append(dst, src, src_size);
	return true;
}

static bool
none_compress(CodecContext *context, int level, const uint8_t *src,
			  size_t src_size, LakeBuffer *dst)
{
	(void) context;
	(void) level;
	buffer_append(dst, src, src_size);
	return true;
}

static const CodecEntry codecs[] = {
	[CODEC_NONE] = {
		"uncompressed", 0, "null",
		none_decompress, none_append,
		none_compress, {0}, "uncompressed", "uncompressed"
	},
	[CODEC_SNAPPY] = {
		"snappy", 1, NULL,
		codec_snappy_decompress, codec_snappy_append,
		codec_snappy_compress, {0}, "snappy", NULL
	},
	[CODEC_SNAPPY_AVRO] = {
		"snappy", NO_PARQUET_ID, "snappy",
		codec_snappy_avro_decompress, codec_snappy_avro_append,
		codec_snappy_avro_compress, {0}, NULL, "snappy"
	},
	[CODEC_GZIP] = {
		"gzip", 2, NULL,
		codec_gzip_decompress, codec_gzip_append,
		codec_gzip_compress, {0, 9, 6}, "gzip", NULL
	},
	[CODEC_DEFLATE] = {
		"deflate", NO_PARQUET_ID, "deflate",
		codec_deflate_decompress, codec_deflate_append,
		codec_deflate_compress, {0, 9, 6}, NULL, "gzip"
	},
	[CODEC_LZ4_RAW] = {
		"lz4_raw", 7, NULL,
		codec_lz4_raw_decompress, NULL,
		codec_lz4_raw_compress, {0}, "lz4", NULL
	},
	[CODEC_LZ4_HADOOP] = {
		"lz4", 5, NULL,
		codec_lz4_hadoop_decompress, NULL,
		NULL, {0}, NULL, NULL
	},
	[CODEC_LZ4_FRAME] = {
		"lz4 frame", NO_PARQUET_ID, NULL,
		codec_lz4_frame_decompress, codec_lz4_frame_append,
		codec_lz4_frame_compress, {0}, NULL, NULL
	},
	[CODEC_ZSTD] = {
		"zstd", 6, "zstandard",
		codec_zstd_decompress, codec_zstd_append,
		codec_zstd_compress, {-131072, 22, 3}, "zstd", "zstd"
	},
	[CODEC_BROTLI] = {
		"brotli", 4, NULL,
		codec_brotli_decompress, NULL,
		/* the library's own default, 11, takes a second a megabyte */
		codec_brotli_compress, {0, 11, 4}, "brotli", NULL
	},
};

#define CODEC_COUNT		(sizeof(codecs) / sizeof(codecs[0]))
#define PARQUET_LZO		3

/* stands for an empty input or output, which callers may give as NULL */
static uint8_t nothing[1];

void
codec_throw_limit(size_t limit)
{
	lake_throw(LAKE_ERROR_LIMIT,
			   "compressed data expands to more than %zu bytes", limit);
}

void
codec_throw_no_state(const char *library)
{
	lake_throw(LAKE_ERROR_NO_MEMORY,
			   "out of memory: cannot create a state of %s", library);
}

size_t
codec_make_room(LakeBuffer *dst, size_t start, size_t limit)
{
	size_t		produced = dst->len - start;
	size_t		left = limit - produced;
	size_t		room = dst->capacity - dst->len;
	size_t		most = left < CODEC_PIECE_MAX ? left : CODEC_PIECE_MAX;

	if (left == 0)
		codec_throw_limit(limit);
	if (room == 0)
	{
		room = produced < 65536 ? 65536 : produced;
		buffer_reserve(dst, room < most ? room : most);
		room = dst->capacity - dst->len;
	}
	return room < most ? room : most;
}

LakeCodec
codec_from_parquet_id(int32_t id)
{
	for (size_t i = 0; i < CODEC_COUNT; i++)
	{
		if (codecs[i].parquet_id == id && id != NO_PARQUET_ID)
			return (LakeCodec) i;
	}
	if (id == PARQUET_LZO)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "Parquet compression codec LZO is not supported");
	lake_throw(LAKE_ERROR_UNSUPPORTED,
			   "Parquet compression codec %d is not known", id);
}

static bool
is_printable(LakeBytes text)
{
	for (size_t i = 0; i < text.len; i++)
	{
		if (text.data[i] < 0x20 || text.data[i] > 0x7e)
			return false;
	}
	return true;
}

LakeCodec
codec_from_avro_name(LakeBytes name)
{
	for (size_t i = 0; i < CODEC_COUNT; i++)
	{
		const char *known = codecs[i].avro_name;

		if (known != NULL && strlen(known) == name.len &&
			memcmp(known, name.data, name.len) == 0)
			return (LakeCodec) i;
	}
	if (name.len > 32 || !is_printable(name))
		lake_throw(LAKE_ERROR_CORRUPT, "malformed Avro codec name");
	lake_throw(LAKE_ERROR_UNSUPPORTED, "Avro codec \"%.*s\" is not supported",
			   (int) name.len, (const char *) name.data);
}

const char *
codec_name(LakeCodec codec)
{
	return codecs[codec].name;
}

const char *
codec_avro_name(LakeCodec codec)
{
	if (codecs[codec].avro_name == NULL)
		lake_throw(LAKE_ERROR_INTERNAL, "Avro does not have codec %s",
				   codecs[codec].name);
	return codecs[codec].avro_name;
}

CodecContext *
codec_context_create(LakeArena *arena)
{
	CodecContext *context = lake_alloc(arena, sizeof *context);

	context->arena = arena;
	return context;
}

void
codec_decompress(CodecContext *context, LakeCodec codec,
				 const void *src, size_t src_size,
				 void *dst, size_t dst_size)
{
	if (!codecs[codec].decompress(context,
								  src_size == 0 ? nothing : src, src_size,
								  dst_size == 0 ? nothing : dst, dst_size))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "corrupt %s data: %zu bytes do not decompress to %zu",
				   codecs[codec].name, src_size, dst_size);
}

void
codec_decompress_append(CodecContext *context, LakeCodec codec,
						const void *src, size_t src_size,
						LakeBuffer *dst, size_t limit)
{
	if (codecs[codec].append == NULL)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "codec %s cannot decompress to an unknown size",
				   codecs[codec].name);
	if (!codecs[codec].append(context, src_size == 0 ? nothing : src, src_size,
							  dst, limit))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "corrupt %s data of %zu bytes does not decompress",
				   codecs[codec].name, src_size);
}

static int
checked_level(LakeCodec codec, int32_t level)
{
	const CodecLevels *levels = &codecs[codec].levels;

	if (levels->highest == 0)
		return 0;
	if (level == CODEC_DEFAULT_LEVEL)
		return levels->standard;
	if (level < levels->lowest || level > levels->highest)
		lake_throw(LAKE_ERROR_INVALID,
				   "%s has no compression level %d: levels are %d to %d",
				   codecs[codec].name, level, levels->lowest,
				   levels->highest);
	return level;
}

void
codec_compress_append(CodecContext *context, LakeCodec codec, int32_t level,
					  const void *src, size_t src_size, LakeBuffer *dst)
{
	if (codecs[codec].compress == NULL)
		lake_throw(LAKE_ERROR_INTERNAL, "codec %s is for reading only",
				   codecs[codec].name);
	if (!codecs[codec].compress(context, checked_level(codec, level),
								src_size == 0 ? nothing : src, src_size, dst))
		lake_throw(LAKE_ERROR_INTERNAL, "cannot compress %zu bytes with %s",
				   src_size, codecs[codec].name);
}

int32_t
codec_parquet_id(LakeCodec codec)
{
	if (codecs[codec].parquet_id == NO_PARQUET_ID)
		lake_throw(LAKE_ERROR_INTERNAL, "Parquet does not have codec %s",
				   codecs[codec].name);
	return codecs[codec].parquet_id;
}

LakeCodec
codec_from_property(const char *property, const char *value, bool avro)
{
	for (size_t i = 0; i < CODEC_COUNT; i++)
	{
		const char *known = avro ? codecs[i].avro_property :
			codecs[i].parquet_property;

		if (known != NULL && strcasecmp(known, value) == 0)
			return (LakeCodec) i;
	}
	lake_throw_hint(LAKE_ERROR_INVALID,
					avro ? "Known are uncompressed, gzip, snappy and zstd." :
					"Known are uncompressed, brotli, gzip, lz4, snappy and zstd.",
					"table property \"%s\" names an unknown codec: \"%s\"",
					property, value);
}
