/*
 * The value encodings by name and number, and which types each of them serves.
 *
 * Parquet format: Encodings.md, "Supported Encodings".
 */
#include "parquet/encoding.h"

#include <inttypes.h>
#include <string.h>

/* values skipped between checks for interrupts */
#define SKIP_STEP 65536

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const encoding_names[] = {
	[PARQUET_ENCODING_PLAIN] = "PLAIN",
	[PARQUET_ENCODING_PLAIN_DICTIONARY] = "PLAIN_DICTIONARY",
	[PARQUET_ENCODING_RLE] = "RLE",
	[PARQUET_ENCODING_BIT_PACKED] = "BIT_PACKED",
	[PARQUET_ENCODING_DELTA_BINARY_PACKED] = "DELTA_BINARY_PACKED",
	[PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY] = "DELTA_LENGTH_BYTE_ARRAY",
	[PARQUET_ENCODING_DELTA_BYTE_ARRAY] = "DELTA_BYTE_ARRAY",
	[PARQUET_ENCODING_RLE_DICTIONARY] = "RLE_DICTIONARY",
	[PARQUET_ENCODING_BYTE_STREAM_SPLIT] = "BYTE_STREAM_SPLIT",
};

static const struct
{
	const char *name;
	uint32_t	width;			/* bytes a value, 0: variable, or the schema's */
}			physical_types[] =

{
	[PARQUET_BOOLEAN] = {"BOOLEAN", 1},
	[PARQUET_INT32] = {"INT32", 4},
	[PARQUET_INT64] = {"INT64", 8},
	[PARQUET_INT96] = {"INT96", 12},
	[PARQUET_FLOAT] = {"FLOAT", 4},
	[PARQUET_DOUBLE] = {"DOUBLE", 8},
	[PARQUET_BYTE_ARRAY] = {"BYTE_ARRAY", 0},
	[PARQUET_FIXED_LEN_BYTE_ARRAY] = {"FIXED_LEN_BYTE_ARRAY", 0},
};

static const struct
{
	ParquetEncoding encoding;
	ParquetPhysical physical;
	const ValueDecoderOps *ops;
}			decoders[] =

{
	{PARQUET_ENCODING_PLAIN, PARQUET_BOOLEAN, &plain_bool_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_INT32, &plain_fixed_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_INT64, &plain_fixed_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_INT96, &plain_flba_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_FLOAT, &plain_fixed_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_DOUBLE, &plain_fixed_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_BYTE_ARRAY, &plain_bytes_ops},
	{PARQUET_ENCODING_PLAIN, PARQUET_FIXED_LEN_BYTE_ARRAY, &plain_flba_ops},

	{PARQUET_ENCODING_RLE, PARQUET_BOOLEAN, &rle_bool_ops},

	{PARQUET_ENCODING_DELTA_BINARY_PACKED, PARQUET_INT32, &delta_i32_ops},
	{PARQUET_ENCODING_DELTA_BINARY_PACKED, PARQUET_INT64, &delta_i64_ops},
	{PARQUET_ENCODING_DELTA_LENGTH_BYTE_ARRAY, PARQUET_BYTE_ARRAY,
	&delta_length_ops},
	{PARQUET_ENCODING_DELTA_BYTE_ARRAY, PARQUET_BYTE_ARRAY, &delta_bytes_ops},
	{PARQUET_ENCODING_DELTA_BYTE_ARRAY, PARQUET_FIXED_LEN_BYTE_ARRAY,
	&delta_bytes_ops},

	{PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_INT32, &split_fixed_ops},
	{PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_INT64, &split_fixed_ops},
	{PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_FLOAT, &split_fixed_ops},
	{PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_DOUBLE, &split_fixed_ops},
	{PARQUET_ENCODING_BYTE_STREAM_SPLIT, PARQUET_FIXED_LEN_BYTE_ARRAY,
	&split_flba_ops},
};

const char *
parquet_encoding_name(int32_t encoding)
{
	if (encoding < 0 || (size_t) encoding >= COUNT_OF(encoding_names))
		return NULL;
	return encoding_names[encoding];
}

void
encoding_throw_short(ParquetEncoding encoding, uint64_t missing)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "%s data ends where %" PRIu64 " more values are expected",
			   parquet_encoding_name((int32_t) encoding), missing);
}

static const ValueDecoderOps *
find_ops(int32_t encoding, ParquetPhysical physical)
{
	for (size_t i = 0; i < COUNT_OF(decoders); i++)
	{
		if ((int32_t) decoders[i].encoding == encoding &&
			decoders[i].physical == physical)
			return decoders[i].ops;
	}
	if (parquet_encoding_name(encoding) == NULL)
		lake_throw(LAKE_ERROR_UNSUPPORTED, "unknown encoding %d",
				   (int) encoding);
	lake_throw(LAKE_ERROR_UNSUPPORTED, "encoding %s of %s values",
			   parquet_encoding_name(encoding), physical_types[physical].name);
}

void
value_decoder_init(ValueDecoder *decoder, LakeArena *arena, int32_t encoding,
				   ParquetPhysical physical, int32_t type_length,
				   LakeBytes data, uint64_t value_count)
{
	memset(decoder, 0, sizeof *decoder);
	decoder->ops = find_ops(encoding, physical);
	decoder->arena = arena;
	decoder->encoding = (ParquetEncoding) encoding;
	decoder->physical = physical;
	decoder->width = physical_types[physical].width;
	if (physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
	{
		if (type_length < 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "FIXED_LEN_BYTE_ARRAY of %d bytes", (int) type_length);
		decoder->width = (uint32_t) type_length;
	}
	decoder->left = value_count;
	decoder->ops->init(decoder, data);
}

/* counts values off, at most as many as the page has */
static void
take_values(ValueDecoder *decoder, uint64_t count)
{
	if (count > decoder->left)
		encoding_throw_short(decoder->encoding, count - decoder->left);
	decoder->left -= count;
}

void
value_decoder_read(ValueDecoder *decoder, void *out, uint32_t count)
{
	take_values(decoder, count);
	if (count > 0)
		decoder->ops->read(decoder, out, count);
}

void
value_decoder_skip(ValueDecoder *decoder, uint64_t count)
{
	take_values(decoder, count);
	while (count > 0)
	{
		uint64_t	n = count < SKIP_STEP ? count : SKIP_STEP;

		lake_check_interrupts();
		decoder->ops->skip(decoder, n);
		count -= n;
	}
}
