/*
 * Codecs: round trips through each library's own compressor, framings, and
 * what happens to sizes and bytes that lie.
 */
#include "codec/codec.h"

#include <libdeflate.h>
#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zstd.h>

#include "unit.h"

#define TEXT_SIZE	100000

static LakeBytes
bytes_of(const void *data, size_t len)
{
	LakeBytes	bytes = {data, len};

	return bytes;
}

/* compressible text that is not periodic */
static LakeBytes
make_text(LakeArena *arena, size_t size)
{
	char	   *text = lake_alloc(arena, size + 16);
	uint32_t	state = 1;

	for (size_t i = 0; i < size; i += 8)
	{
		state = state * 1664525 + 1013904223;
		snprintf(text + i, 9, "%08u", state >> 16);
	}
	return bytes_of(text, size);
}

typedef enum Wrapper
{
	WRAPPER_NONE,
	WRAPPER_ZLIB,
	WRAPPER_GZIP
} Wrapper;

static LakeBytes
compress_deflate(LakeArena *arena, LakeBytes text, Wrapper wrapper)
{
	struct libdeflate_compressor *state = libdeflate_alloc_compressor(6);
	size_t		room = text.len + 1000;
	uint8_t    *out = lake_alloc(arena, room);
	size_t		len;

	if (wrapper == WRAPPER_NONE)
		len = libdeflate_deflate_compress(state, text.data, text.len, out,
										  room);
	else if (wrapper == WRAPPER_ZLIB)
		len = libdeflate_zlib_compress(state, text.data, text.len, out, room);
	else
		len = libdeflate_gzip_compress(state, text.data, text.len, out, room);
	libdeflate_free_compressor(state);
	return bytes_of(out, len);
}

static LakeBytes
compress_snappy(LakeArena *arena, LakeBytes text, bool crc)
{
	size_t		len = snappy_max_compressed_length(text.len);
	uint8_t    *out = lake_alloc(arena, len + 4);
	uint32_t	sum = __builtin_bswap32(libdeflate_crc32(0, text.data,
														 text.len));

	snappy_compress((const char *) text.data, text.len, (char *) out, &len);
	if (crc)
	{
		memcpy(out + len, &sum, sizeof sum);
		len += sizeof sum;
	}
	return bytes_of(out, len);
}

static LakeBytes
compress_lz4(LakeArena *arena, LakeBytes text)
{
	int			room = LZ4_compressBound((int) text.len);
	uint8_t    *out = lake_alloc(arena, (size_t) room);
	int			len = LZ4_compress_default((const char *) text.data,
										   (char *) out, (int) text.len, room);

	return bytes_of(out, (size_t) len);
}

static LakeBytes
compress_lz4_frame(LakeArena *arena, LakeBytes text)
{
	size_t		room = LZ4F_compressFrameBound(text.len, NULL);
	uint8_t    *out = lake_alloc(arena, room);
	size_t		len = LZ4F_compressFrame(out, room, text.data, text.len, NULL);

	return bytes_of(out, len);
}

static LakeBytes
compress_zstd(LakeArena *arena, LakeBytes text)
{
	size_t		room = ZSTD_compressBound(text.len);
	uint8_t    *out = lake_alloc(arena, room);
	size_t		len = ZSTD_compress(out, room, text.data, text.len, 3);

	return bytes_of(out, len);
}

static void
append_u32be(LakeBuffer *buffer, size_t value)
{
	uint32_t	swapped = __builtin_bswap32((uint32_t) value);

	buffer_append(buffer, &swapped, sizeof swapped);
}

static LakeBytes
join(LakeArena *arena, LakeBytes one, LakeBytes two)
{
	uint8_t    *both = lake_alloc(arena, one.len + two.len);

	memcpy(both, one.data, one.len);
	memcpy(both + one.len, two.data, two.len);
	return bytes_of(both, one.len + two.len);
}

/* text in the form that codec reads; brotli has no compressor here */
static LakeBytes
compress(LakeArena *arena, LakeCodec codec, LakeBytes text)
{
	LakeBuffer	hadoop;
	LakeBytes	block;

	switch (codec)
	{
		case CODEC_SNAPPY:
			return compress_snappy(arena, text, false);
		case CODEC_SNAPPY_AVRO:
			return compress_snappy(arena, text, true);
		case CODEC_GZIP:
			return compress_deflate(arena, text, WRAPPER_GZIP);
		case CODEC_DEFLATE:
			return compress_deflate(arena, text, WRAPPER_NONE);
		case CODEC_LZ4_RAW:
			return compress_lz4(arena, text);
		case CODEC_LZ4_FRAME:
			return compress_lz4_frame(arena, text);
		case CODEC_ZSTD:
			return compress_zstd(arena, text);
		case CODEC_LZ4_HADOOP:
			block = compress_lz4(arena, text);
			buffer_init(&hadoop, arena);
			append_u32be(&hadoop, text.len);
			append_u32be(&hadoop, block.len);
			buffer_append(&hadoop, block.data, block.len);
			return bytes_of(hadoop.data, hadoop.len);
		case CODEC_NONE:
		case CODEC_BROTLI:
			break;
	}
	return text;
}

static bool
gives(LakeArena *arena, LakeCodec codec, LakeBytes block, LakeBytes text)
{
	/* a block of its own, so that a sanitizer sees a byte too many */
	uint8_t    *out = lake_alloc(arena, text.len);

	codec_decompress(codec_context_create(arena), codec, block.data, block.len,
					 out, text.len);
	return memcmp(out, text.data, text.len) == 0;
}

static bool
appends(LakeArena *arena, LakeCodec codec, LakeBytes block, LakeBytes text,
		size_t limit)
{
	LakeBuffer	buffer;

	buffer_init(&buffer, arena);
	buffer_append_text(&buffer, "abc");
	codec_decompress_append(codec_context_create(arena), codec,
							block.data, block.len, &buffer, limit);
	return buffer.len == text.len + 3 && memcmp(buffer.data, "abc", 3) == 0 &&
		memcmp(buffer.data + 3, text.data, text.len) == 0;
}

static bool
can_append(LakeCodec codec)
{
	return codec != CODEC_LZ4_RAW && codec != CODEC_LZ4_HADOOP &&
		codec != CODEC_BROTLI;
}

static void
every_codec_gives_back_what_was_compressed(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);

	for (LakeCodec codec = CODEC_NONE; codec < CODEC_BROTLI; codec++)
	{
		LakeBytes	block = compress(arena, codec, text);

		CHECK(gives(arena, codec, block, text));
		if (can_append(codec))
			CHECK(appends(arena, codec, block, text, TEXT_SIZE));
	}
}

static void
brotli_gives_back_what_was_compressed(LakeArena *arena)
{
	/* 40 times "lake ", by brotli 1.1 */
	static const uint8_t block[] = {
		0x1b, 0xc7, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde, 0xb4, 0x0c,
		0x2b, 0x63, 0x2b, 0x90, 0xb5, 0x50, 0x2d, 0x0a, 0xe8, 0x37
	};
	char		text[200];
	LakeBytes	expected = {(uint8_t *) text, sizeof text};

	for (size_t i = 0; i < sizeof text; i += 5)
		memcpy(text + i, "lake ", 5);
	CHECK(gives(arena, CODEC_BROTLI, bytes_of(block, sizeof block),
				expected));
	for (size_t len = 0; len < sizeof block; len++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "brotli",
					 gives(arena, CODEC_BROTLI, bytes_of(block, len),
						   expected));
	expected.len--;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "brotli",
				 gives(arena, CODEC_BROTLI, bytes_of(block, sizeof block),
					   expected));
}

static void
a_context_serves_any_number_of_blocks(LakeArena *arena)
{
	CodecContext *context = codec_context_create(arena);
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	uint8_t    *out = lake_alloc(arena, TEXT_SIZE);

	for (int round = 0; round < 3; round++)
	{
		for (LakeCodec codec = CODEC_NONE; codec < CODEC_BROTLI; codec++)
		{
			LakeBytes	block = compress(arena, codec, text);

			memset(out, 0, TEXT_SIZE);
			codec_decompress(context, codec, block.data, block.len, out,
							 TEXT_SIZE);
			CHECK(memcmp(out, text.data, TEXT_SIZE) == 0);
		}
	}
}

static void
a_context_outlives_corrupt_blocks(LakeArena *arena)
{
	CodecContext *context = codec_context_create(arena);
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	uint8_t    *out = lake_alloc(arena, TEXT_SIZE);

	for (LakeCodec codec = CODEC_SNAPPY; codec < CODEC_BROTLI; codec++)
	{
		LakeBytes	block = compress(arena, codec, text);
		LakeBuffer	buffer;

		CHECK_THROWS(LAKE_ERROR_CORRUPT, codec_name(codec),
					 codec_decompress(context, codec, block.data,
									  block.len / 2, out, TEXT_SIZE));
		codec_decompress(context, codec, block.data, block.len, out,
						 TEXT_SIZE);
		CHECK(memcmp(out, text.data, TEXT_SIZE) == 0);
		if (!can_append(codec))
			continue;
		buffer_init(&buffer, arena);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, codec_name(codec),
					 codec_decompress_append(context, codec, block.data,
											 block.len / 2, &buffer,
											 TEXT_SIZE));
		buffer.len = 0;
		codec_decompress_append(context, codec, block.data, block.len,
								&buffer, TEXT_SIZE);
		CHECK_INT(buffer.len, TEXT_SIZE);
	}
}

static void
another_size_than_the_block_has_is_corrupt(LakeArena *arena)
{
	CodecContext *context = codec_context_create(arena);
	LakeBytes	text = make_text(arena, TEXT_SIZE);

	for (LakeCodec codec = CODEC_NONE; codec < CODEC_BROTLI; codec++)
	{
		LakeBytes	block = compress(arena, codec, text);

		for (size_t off = 1; off < TEXT_SIZE; off += 33333)
		{
			uint8_t    *small = lake_alloc(arena, TEXT_SIZE - off);
			uint8_t    *large = lake_alloc(arena, TEXT_SIZE + off);

			CHECK_THROWS(LAKE_ERROR_CORRUPT, codec_name(codec),
						 codec_decompress(context, codec, block.data,
										  block.len, small, TEXT_SIZE - off));
			CHECK_THROWS(LAKE_ERROR_CORRUPT, codec_name(codec),
						 codec_decompress(context, codec, block.data,
										  block.len, large, TEXT_SIZE + off));
		}
	}
}

static void
a_truncated_block_is_corrupt(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, 3000);

	for (LakeCodec codec = CODEC_SNAPPY; codec < CODEC_BROTLI; codec++)
	{
		LakeBytes	block = compress(arena, codec, text);

		for (size_t len = 0; len < block.len; len += 17)
		{
			LakeBytes	cut = {malloc(len + 1), len};

			memcpy((uint8_t *) (uintptr_t) cut.data, block.data, len);
			CHECK_THROWS(LAKE_ERROR_CORRUPT, codec_name(codec),
						 gives(arena, codec, cut, text));
			if (can_append(codec))
				CHECK_THROWS(LAKE_ERROR_CORRUPT, codec_name(codec),
							 appends(arena, codec, cut, text, 10000));
			free((uint8_t *) (uintptr_t) cut.data);
		}
	}
}

static void
appending_past_the_limit_is_refused(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);

	for (LakeCodec codec = CODEC_NONE; codec < CODEC_BROTLI; codec++)
	{
		LakeBytes	block = compress(arena, codec, text);

		if (!can_append(codec))
			continue;
		CHECK_THROWS(LAKE_ERROR_LIMIT, "99999",
					 appends(arena, codec, block, text, TEXT_SIZE - 1));
		CHECK_THROWS(LAKE_ERROR_LIMIT, "than 0 bytes",
					 appends(arena, codec, block, text, 0));
	}
}

static void
empty_blocks_are_valid(LakeArena *arena)
{
	CodecContext *context = codec_context_create(arena);
	LakeBytes	text = {(const uint8_t *) "", 0};

	for (LakeCodec codec = CODEC_NONE; codec < CODEC_BROTLI; codec++)
	{
		LakeBytes	block = compress(arena, codec, text);

		codec_decompress(context, codec, block.data, block.len, NULL, 0);
		if (can_append(codec))
			CHECK(appends(arena, codec, block, text, 0));
	}
	codec_decompress(context, CODEC_NONE, NULL, 0, NULL, 0);
}

static void
gzip_takes_concatenated_members(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	LakeBytes	empty = {text.data, 0};
	LakeBytes	blocks = compress(arena, CODEC_GZIP, text);
	LakeBytes	twice = join(arena, text, text);

	blocks = join(arena, blocks, compress(arena, CODEC_GZIP, empty));
	blocks = join(arena, blocks, compress(arena, CODEC_GZIP, text));
	CHECK(gives(arena, CODEC_GZIP, blocks, twice));
	CHECK(appends(arena, CODEC_GZIP, blocks, twice, twice.len));
	CHECK_THROWS(LAKE_ERROR_LIMIT, "",
				 appends(arena, CODEC_GZIP, blocks, twice, twice.len - 1));
}

static void
gzip_takes_zlib_streams(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	LakeBytes	block = compress_deflate(arena, text, WRAPPER_ZLIB);

	CHECK(gives(arena, CODEC_GZIP, block, text));
	CHECK(appends(arena, CODEC_GZIP, block, text, TEXT_SIZE));
}

static void
gzip_checks_its_checksum(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	LakeBytes	block = compress(arena, CODEC_GZIP, text);

	((uint8_t *) (uintptr_t) block.data)[block.len - 8] ^= 1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "gzip",
				 gives(arena, CODEC_GZIP, block, text));
}

static void
large_gzip_results_come_in_pieces(LakeArena *arena)
{
	size_t		size = (size_t) 40 << 20;
	LakeBytes	text = {lake_alloc(arena, size), size};
	LakeBytes	block = compress(arena, CODEC_GZIP, text);

	CHECK(appends(arena, CODEC_GZIP, block, text, size));
	CHECK_THROWS(LAKE_ERROR_LIMIT, "",
				 appends(arena, CODEC_GZIP, block, text, size - 1));
	block.len -= 9;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 appends(arena, CODEC_GZIP, block, text, size));
}

static void
deflate_ignores_what_follows_the_stream(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	LakeBytes	block = compress(arena, CODEC_DEFLATE, text);

	block = join(arena, block, bytes_of("abc", 3));
	CHECK(appends(arena, CODEC_DEFLATE, block, text, TEXT_SIZE));
}

static void
avro_snappy_checks_its_checksum(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	LakeBytes	block = compress(arena, CODEC_SNAPPY_AVRO, text);

	((uint8_t *) (uintptr_t) block.data)[block.len - 1] ^= 1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "snappy",
				 appends(arena, CODEC_SNAPPY_AVRO, block, text, TEXT_SIZE));
}

static void
a_lying_snappy_length_allocates_nothing(LakeArena *arena)
{
	/* says 4 GiB - 1 */
	static const uint8_t block[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 'a'};
	size_t		before = lake_allocated;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "snappy",
				 appends(arena, CODEC_SNAPPY,
						 bytes_of(block, sizeof block),
						 bytes_of(block, 0), SIZE_MAX));
	CHECK(lake_allocated - before < 100000);
}

static void
legacy_lz4_takes_many_frames_and_chunks(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, 9000);
	LakeBuffer	hadoop;

	/* a frame of two chunks, an empty frame, a frame of one chunk */
	buffer_init(&hadoop, arena);
	for (size_t i = 0; i < 3; i++)
	{
		LakeBytes	part = {text.data + i * 3000, 3000};
		LakeBytes	block = compress_lz4(arena, part);

		if (i == 0)
			append_u32be(&hadoop, 6000);
		if (i == 2)
		{
			append_u32be(&hadoop, 0);
			append_u32be(&hadoop, 3000);
		}
		append_u32be(&hadoop, block.len);
		buffer_append(&hadoop, block.data, block.len);
	}
	CHECK(gives(arena, CODEC_LZ4_HADOOP,
				bytes_of(hadoop.data, hadoop.len), text));
}

static void
legacy_lz4_takes_a_bare_block(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);

	CHECK(gives(arena, CODEC_LZ4_HADOOP, compress_lz4(arena, text), text));
}

static void
legacy_lz4_takes_an_lz4_frame(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);

	CHECK(gives(arena, CODEC_LZ4_HADOOP, compress_lz4_frame(arena, text),
				text));
}

static void
zstd_takes_several_frames(LakeArena *arena)
{
	LakeBytes	text = make_text(arena, TEXT_SIZE);
	LakeBytes	block = compress_zstd(arena, text);
	LakeBytes	twice = join(arena, text, text);

	block = join(arena, block, block);
	CHECK(gives(arena, CODEC_ZSTD, block, twice));
	CHECK(appends(arena, CODEC_ZSTD, block, twice, twice.len));
}

static void
zstd_refuses_a_window_beyond_the_limit(LakeArena *arena)
{
	/* one raw byte in a frame without content size; exponent of the window */
	uint8_t		block[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x09, 0x00, 0x00, 'a'
	};
	LakeBytes	text = {(const uint8_t *) "a", 1};

	CHECK(appends(arena, CODEC_ZSTD, bytes_of(block, sizeof block), text,
				  10));
	block[5] = 18 << 3;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "zstd",
				 appends(arena, CODEC_ZSTD, bytes_of(block, sizeof block),
						 text, 10));
}

static void
parquet_numbers_name_codecs(LakeArena *arena)
{
	(void) arena;
	CHECK_INT(codec_from_parquet_id(0), CODEC_NONE);
	CHECK_INT(codec_from_parquet_id(1), CODEC_SNAPPY);
	CHECK_INT(codec_from_parquet_id(2), CODEC_GZIP);
	CHECK_INT(codec_from_parquet_id(4), CODEC_BROTLI);
	CHECK_INT(codec_from_parquet_id(5), CODEC_LZ4_HADOOP);
	CHECK_INT(codec_from_parquet_id(6), CODEC_ZSTD);
	CHECK_INT(codec_from_parquet_id(7), CODEC_LZ4_RAW);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "LZO", codec_from_parquet_id(3));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "8", codec_from_parquet_id(8));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "-1", codec_from_parquet_id(-1));
}

static LakeCodec
from_avro(const char *name)
{
	return codec_from_avro_name(bytes_of(name, strlen(name)));
}

static void
avro_names_name_codecs(LakeArena *arena)
{
	(void) arena;
	CHECK_INT(from_avro("null"), CODEC_NONE);
	CHECK_INT(from_avro("deflate"), CODEC_DEFLATE);
	CHECK_INT(from_avro("snappy"), CODEC_SNAPPY_AVRO);
	CHECK_INT(from_avro("zstandard"), CODEC_ZSTD);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"bzip2\"", from_avro("bzip2"));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"\"", from_avro(""));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "malformed", from_avro("\xff\n"));
}

static const LakeCodec written[] = {
	CODEC_NONE, CODEC_SNAPPY, CODEC_SNAPPY_AVRO, CODEC_GZIP, CODEC_DEFLATE,
	CODEC_LZ4_RAW, CODEC_LZ4_FRAME, CODEC_ZSTD, CODEC_BROTLI
};

#define WRITTEN_COUNT	(sizeof(written) / sizeof(written[0]))

/* appends behind what is there, and gives the text back */
static void
check_round_trip(LakeArena *arena, CodecContext *context, LakeCodec codec,
				 int32_t level, LakeBytes text)
{
	uint8_t    *out = lake_alloc(arena, text.len + 1);
	LakeBuffer	packed;

	buffer_init(&packed, arena);
	buffer_append_text(&packed, "before");
	codec_compress_append(context, codec, level, text.data, text.len,
						  &packed);
	CHECK(memcmp(packed.data, "before", 6) == 0);
	codec_decompress(context, codec, packed.data + 6, packed.len - 6, out,
					 text.len);
	CHECK(text.len == 0 || memcmp(out, text.data, text.len) == 0);
}

static void
each_codec_gives_back_what_it_compressed(LakeArena *arena)
{
	CodecContext *context = codec_context_create(arena);
	LakeBytes	text = make_text(arena, TEXT_SIZE);

	for (size_t i = 0; i < WRITTEN_COUNT; i++)
	{
		const size_t sizes[] = {0, 1, 7, 1000, TEXT_SIZE};

		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
			check_round_trip(arena, context, written[i], CODEC_DEFAULT_LEVEL,
							 bytes_of(text.data, sizes[k]));
	}
}

static void
levels_change_from_block_to_block(LakeArena *arena)
{
	static const struct
	{
		LakeCodec	codec;
		int32_t		levels[3];
	}			cases[] = {
		{CODEC_GZIP, {1, 9, 1}},
		{CODEC_DEFLATE, {9, 1, 6}},
		{CODEC_ZSTD, {1, 19, -5}},
		{CODEC_BROTLI, {0, 11, 3}},
		/* no levels: any will do */
		{CODEC_SNAPPY, {-100, 0, 100}},
		{CODEC_LZ4_RAW, {-100, 0, 100}}
	};
	CodecContext *context = codec_context_create(arena);
	LakeBytes	text = make_text(arena, 20000);

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		for (int k = 0; k < 3; k++)
			check_round_trip(arena, context, cases[i].codec,
							 cases[i].levels[k], text);
	}
}

static void
levels_that_a_codec_lacks_are_refused(LakeArena *arena)
{
	CodecContext *context = codec_context_create(arena);
	LakeBuffer	out;

	buffer_init(&out, arena);
	CHECK_THROWS(LAKE_ERROR_INVALID, "gzip has no compression level 10",
				 codec_compress_append(context, CODEC_GZIP, 10, "", 0, &out));
	CHECK_THROWS(LAKE_ERROR_INVALID, "gzip has no compression level -1",
				 codec_compress_append(context, CODEC_GZIP, -1, "", 0, &out));
	CHECK_THROWS(LAKE_ERROR_INVALID, "zstd has no compression level 23",
				 codec_compress_append(context, CODEC_ZSTD, 23, "", 0, &out));
	CHECK_THROWS(LAKE_ERROR_INVALID, "brotli has no compression level 12",
				 codec_compress_append(context, CODEC_BROTLI, 12, "", 0,
									   &out));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "codec lz4 is for reading only",
				 codec_compress_append(context, CODEC_LZ4_HADOOP,
									   CODEC_DEFAULT_LEVEL, "", 0, &out));
}

static void
parquet_numbers_lead_back_to_their_codecs(LakeArena *arena)
{
	(void) arena;
	for (int32_t id = 0; id <= 7; id++)
	{
		/* LZO */
		if (id != 3)
			CHECK_INT(codec_parquet_id(codec_from_parquet_id(id)), id);
	}
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "Parquet does not have codec deflate",
				 codec_parquet_id(CODEC_DEFLATE));
}

static void
properties_name_codecs(LakeArena *arena)
{
	(void) arena;
	CHECK_INT(codec_from_property("p", "zstd", false), CODEC_ZSTD);
	CHECK_INT(codec_from_property("p", "GZIP", false), CODEC_GZIP);
	CHECK_INT(codec_from_property("p", "Lz4", false), CODEC_LZ4_RAW);
	CHECK_INT(codec_from_property("p", "uncompressed", false), CODEC_NONE);
	CHECK_INT(codec_from_property("p", "gzip", true), CODEC_DEFLATE);
	CHECK_INT(codec_from_property("p", "snappy", true), CODEC_SNAPPY_AVRO);
	CHECK_INT(codec_from_property("p", "uncompressed", true), CODEC_NONE);
	CHECK_THROWS_HINT(LAKE_ERROR_INVALID,
					  "table property \"p\" names an unknown codec: \"lzo\"",
					  "brotli", codec_from_property("p", "lzo", false));
	CHECK_THROWS(LAKE_ERROR_INVALID, "\"lz4\"",
				 codec_from_property("p", "lz4", true));
}

static const UnitTest tests[] = {
	UNIT(each_codec_gives_back_what_it_compressed),
	UNIT(levels_change_from_block_to_block),
	UNIT(levels_that_a_codec_lacks_are_refused),
	UNIT(parquet_numbers_lead_back_to_their_codecs),
	UNIT(properties_name_codecs),
	UNIT(every_codec_gives_back_what_was_compressed),
	UNIT(brotli_gives_back_what_was_compressed),
	UNIT(a_context_serves_any_number_of_blocks),
	UNIT(a_context_outlives_corrupt_blocks),
	UNIT(another_size_than_the_block_has_is_corrupt),
	UNIT(a_truncated_block_is_corrupt),
	UNIT(appending_past_the_limit_is_refused),
	UNIT(empty_blocks_are_valid),
	UNIT(gzip_takes_concatenated_members),
	UNIT(gzip_takes_zlib_streams),
	UNIT(gzip_checks_its_checksum),
	UNIT(large_gzip_results_come_in_pieces),
	UNIT(deflate_ignores_what_follows_the_stream),
	UNIT(avro_snappy_checks_its_checksum),
	UNIT(a_lying_snappy_length_allocates_nothing),
	UNIT(legacy_lz4_takes_many_frames_and_chunks),
	UNIT(legacy_lz4_takes_a_bare_block),
	UNIT(legacy_lz4_takes_an_lz4_frame),
	UNIT(zstd_takes_several_frames),
	UNIT(zstd_refuses_a_window_beyond_the_limit),
	UNIT(parquet_numbers_name_codecs),
	UNIT(avro_names_name_codecs),
};

UNIT_MAIN(tests)
