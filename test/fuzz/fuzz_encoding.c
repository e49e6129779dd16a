/*
 * The content of a page: levels, dictionary codes and values of any encoding
 * over hostile bytes.
 *
 * Property: what reading everything at once gives, reading in steps with skips
 * between gives too.
 *
 * Input: kind, physical type, width (of bits, of a fixed value, or the highest
 * level), 2 bytes of value count, seed of the steps; then the page.
 */
#include <stdlib.h>

#include "encode.h"
#include "seam_std.h"

#define HEADER 6
#define ALLOC_CEILING ((size_t) 64 << 20)

/* kinds after the encodings' numbers */
enum
{
	KIND_LEVELS_V1_RLE = 10,
	KIND_LEVELS_V1_PACKED,
	KIND_LEVELS_V2,
	KIND_NULLS,
	KIND_CODES,
	KIND_HYBRID,
	KIND_UNPACK_U64,
	KIND_COUNT
};

typedef struct Input
{
	int			kind;
	ParquetPhysical physical;
	uint8_t		width;
	uint32_t	count;
	uint64_t	seed;
	LakeBytes	page;
} Input;

typedef union Decoder
{
	ValueDecoder value;
	LevelDecoder level;
	CodeDecoder code;
	HybridDecoder hybrid;
} Decoder;

static size_t
item_size(const Input *input)
{
	switch (input->kind)
	{
		case KIND_LEVELS_V1_RLE:
		case KIND_LEVELS_V1_PACKED:
		case KIND_LEVELS_V2:
			return sizeof(uint16_t);
		case KIND_NULLS:
			return 1;
		case KIND_CODES:
		case KIND_HYBRID:
			return sizeof(uint32_t);
		default:
			return sizeof(LakeBytes);
	}
}

static void
begin(Decoder *decoder, LakeArena *arena, const Input *input)
{
	ByteCursor	cursor;

	/* levels of more than a byte too */
	uint16_t	max_level = input->width > 200 ?
		(uint16_t) (input->width * 3) : input->width;

	cursor_init(&cursor, input->page.data, input->page.len, "page");
	switch (input->kind)
	{
		case KIND_LEVELS_V1_RLE:
			levels_init_v1(&decoder->level, &cursor, PARQUET_ENCODING_RLE,
						   max_level, input->count);
			break;
		case KIND_LEVELS_V1_PACKED:
			levels_init_v1(&decoder->level, &cursor,
						   PARQUET_ENCODING_BIT_PACKED, max_level,
						   input->count);
			break;
		case KIND_LEVELS_V2:
		case KIND_NULLS:
			levels_init(&decoder->level, input->page, max_level);
			break;
		case KIND_CODES:
			codes_init(&decoder->code, input->page, input->width);
			break;
		case KIND_HYBRID:
			hybrid_init(&decoder->hybrid, input->page, input->width % 33);
			break;
		default:
			value_decoder_init(&decoder->value, arena, input->kind,
							   input->physical, input->width, input->page,
							   input->count);
			break;
	}
}

static void
take(Decoder *decoder, const Input *input, uint8_t *out, uint32_t count)
{
	size_t		present;
	uint32_t	value;
	uint16_t	level;

	switch (input->kind)
	{
		case KIND_LEVELS_V1_RLE:
		case KIND_LEVELS_V1_PACKED:
		case KIND_LEVELS_V2:
			levels_all_max(&decoder->level, count);
			levels_read(&decoder->level, (uint16_t *) (void *) out, count);
			break;
		case KIND_NULLS:
			levels_peek_run(&decoder->level, &level);
			present = levels_read_nulls(&decoder->level, out, count);
			for (uint32_t i = 0; i < count; i++)
				present += out[i];
			if (present != count)
				abort();
			break;
		case KIND_CODES:
			codes_read(&decoder->code, (uint32_t *) (void *) out, count);
			for (uint32_t i = 0; i < count; i++)
			{
				memcpy(&value, out + i * sizeof value, sizeof value);
				if (value >= input->width)
					abort();
			}
			break;
		case KIND_HYBRID:
			hybrid_peek_run(&decoder->hybrid, &value);
			hybrid_read(&decoder->hybrid, (uint32_t *) (void *) out, count);
			break;
		default:
			value_decoder_read(&decoder->value, out, count);
			break;
	}
}

static void
pass(Decoder *decoder, const Input *input, uint64_t count)
{
	switch (input->kind)
	{
		case KIND_LEVELS_V1_RLE:
		case KIND_LEVELS_V1_PACKED:
		case KIND_LEVELS_V2:
		case KIND_NULLS:
			levels_skip(&decoder->level, count);
			break;
		case KIND_CODES:
			codes_skip(&decoder->code, count);
			break;
		case KIND_HYBRID:
			hybrid_skip(&decoder->hybrid, count);
			break;
		default:
			value_decoder_skip(&decoder->value, count);
			break;
	}
}

/* bytes of one item as read, 0 for LakeBytes */
static size_t
plain_size(const Input *input)
{
	static const size_t sizes[] = {
		[PARQUET_BOOLEAN] = 1,
		[PARQUET_INT32] = 4,
		[PARQUET_INT64] = 8,
		[PARQUET_FLOAT] = 4,
		[PARQUET_DOUBLE] = 8,
		[PARQUET_FIXED_LEN_BYTE_ARRAY] = 0,
	};

	return input->kind < KIND_LEVELS_V1_RLE ? sizes[input->physical] :
		item_size(input);
}

static void
compare(const Input *input, const uint8_t *all, uint32_t at,
		const uint8_t *some, uint32_t count)
{
	size_t		size = plain_size(input);
	const LakeBytes *left = (const LakeBytes *) (const void *) all + at;
	const LakeBytes *right = (const LakeBytes *) (const void *) some;

	if (size != 0)
	{
		if (memcmp(all + at * size, some, count * size) != 0)
			abort();
		return;
	}
	for (uint32_t i = 0; i < count; i++)
	{
		if (left[i].len != right[i].len ||
			(left[i].len != 0 &&
			 memcmp(left[i].data, right[i].data, left[i].len) != 0))
			abort();
	}
}

static void
run(LakeArena *arena, const Input *input)
{
	Decoder		decoder;
	uint8_t    *all = lake_alloc(arena, input->count * item_size(input));
	uint8_t    *some = lake_alloc(arena, input->count * item_size(input));
	uint64_t	random = input->seed;

	if (input->kind == KIND_UNPACK_U64)
	{
		unpack_u64(input->page.data, input->width % 65,
				   (uint64_t *) (void *) all,
				   input->page.len * 8 / ((size_t) input->width % 65 + 1) <
				   input->count ? 0 : input->count);
		return;
	}
	begin(&decoder, arena, input);
	take(&decoder, input, all, input->count);

	begin(&decoder, arena, input);
	for (uint32_t at = 0; at < input->count;)
	{
		uint32_t	left = input->count - at;
		uint32_t	skip = (uint32_t) (encode_random(&random) % 60);
		uint32_t	n = (uint32_t) (encode_random(&random) % 90);

		skip = skip < left ? skip : left;
		n = n < left - skip ? n : left - skip;
		pass(&decoder, input, skip);
		take(&decoder, input, some, n);
		compare(input, all, at + skip, some, n);
		at += skip + n;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena;
	LakeTry		try;
	Input		input;

	if (size < HEADER)
		return 0;
	lake_alloc_ceiling = ALLOC_CEILING;
	arena = lake_arena_create(NULL, "fuzz");
	input.kind = data[0] % KIND_COUNT;
	input.physical = (ParquetPhysical) (data[1] % 8);
	input.width = data[2];
	input.count = data[3] | (uint32_t) data[4] << 8;
	input.seed = (uint64_t) data[5] + 1;
	if (lake_try_begin(&try))
	{
		input.page = encode_page(arena, data + HEADER, size - HEADER);
		run(arena, &input);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
