/*
 * Values on their way into a page: out of vectors, as they are kept, and in the
 * PLAIN encoding of their physical type.
 *
 * Parquet format: Encodings.md, "Plain"; LogicalTypes.md, "DECIMAL", "FLOAT16".
 */
#include "parquet/writer.h"

#include <string.h>

#include "base/decimal.h"

ValueKind
value_kind(const ParquetField *field)
{
	switch (field->layout)
	{
		case VECTOR_BOOL:
			return KIND_1;
		case VECTOR_I32:
		case VECTOR_F32:
			return KIND_4;
		case VECTOR_I64:
		case VECTOR_F64:
			return KIND_8;
		case VECTOR_I128:
			return KIND_16;
		case VECTOR_BYTES:
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_INTERNAL, "column \"%s\" is no leaf",
					   field->name);
	}
	return field->physical == PARQUET_BYTE_ARRAY ? KIND_BYTES : KIND_FIXED;
}

bool
values_are_plain(const ParquetField *field)
{
	return field->layout != VECTOR_BOOL && !values_need_conversion(field);
}

size_t
value_plain_width(const ParquetField *field)
{
	switch (field->physical)
	{
		case PARQUET_BOOLEAN:
			return 1;
		case PARQUET_INT32:
		case PARQUET_FLOAT:
			return 4;
		case PARQUET_INT64:
		case PARQUET_DOUBLE:
			return 8;
		case PARQUET_INT96:
			return 12;
		case PARQUET_FIXED_LEN_BYTE_ARRAY:
			return (size_t) field->type_length;
		case PARQUET_BYTE_ARRAY:
			break;
	}
	/* the length, and of decimals what 38 digits take */
	return field->logical == PARQUET_LOGICAL_DECIMAL ? 4 + 16 : 4;
}

/* ---- out of vectors ---- */

#define GATHER(type) \
	do { \
		const type *from = values; \
		type	   *to = out; \
		if (codes != NULL && rows != NULL) \
			for (uint32_t i = 0; i < count; i++) \
				to[i] = from[codes[rows[i]]]; \
		else if (codes != NULL) \
			for (uint32_t i = 0; i < count; i++) \
				to[i] = from[codes[first + i]]; \
		else \
			for (uint32_t i = 0; i < count; i++) \
				to[i] = from[rows[i]]; \
	} while (0)

const void *
values_gather(const LakeVector *vector, const uint32_t *rows, uint32_t first,
			  uint32_t count, LakeBuffer *scratch)
{
	size_t		width = vector_layout_width(vector->layout);
	const uint32_t *codes = vector->dict != NULL ? vector->codes : NULL;
	const void *values = codes != NULL ? vector->dict->values : vector->values;
	void	   *out;

	if (rows == NULL && codes == NULL)
		return (const char *) values + (size_t) first * width;
	scratch->len = 0;
	buffer_reserve(scratch, count * width);
	out = scratch->data;
	switch (vector->layout)
	{
		case VECTOR_BOOL:
			GATHER(uint8_t);
			break;
		case VECTOR_I32:
		case VECTOR_F32:
			GATHER(Bits32);
			break;
		case VECTOR_I64:
		case VECTOR_F64:
			GATHER(Bits64);
			break;
		case VECTOR_I128:
			GATHER(LakeInt128);
			break;
		case VECTOR_BYTES:
			GATHER(LakeBytes);
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_INTERNAL, "nested vectors have no values");
	}
	return out;
}

/* ---- as they are kept ---- */

/* copies len bytes; most strings are short, which a call would cost more */
static inline void
copy_short(uint8_t *to, const uint8_t *from, size_t len)
{
	if (len > 16)
		memcpy(to, from, len);
	else if (len >= 8)
	{
		uint64_t	head;
		uint64_t	tail;

		memcpy(&head, from, 8);
		memcpy(&tail, from + len - 8, 8);
		memcpy(to, &head, 8);
		memcpy(to + len - 8, &tail, 8);
	}
	else
	{
		for (size_t i = 0; i < len; i++)
			to[i] = from[i];
	}
}

static void
append_bytes(const ParquetField *field, const LakeBytes *values,
			 uint32_t count, LakeBuffer *out)
{
	size_t		size = 4 * (size_t) count;
	uint8_t    *to;

	for (uint32_t i = 0; i < count; i++)
		size += values[i].len;
	/* lengths are of 32 bits, and readers have limits */
	if (size > PARQUET_MAX_PAGE_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "column \"%s\" has values of %zu bytes in a row, more than a page may have: %zu",
				   field->name, size, PARQUET_MAX_PAGE_BYTES);
	buffer_reserve(out, size);
	to = out->data + out->len;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	len = (uint32_t) values[i].len;

		memcpy(to, &len, sizeof len);
		copy_short(to + 4, values[i].data, len);
		to += 4 + (size_t) len;
	}
	out->len += size;
}

static void
append_fixed(const ParquetField *field, const LakeBytes *values,
			 uint32_t count, LakeBuffer *out)
{
	size_t		width = value_plain_width(field);
	uint8_t    *to;

	buffer_reserve(out, count * width);
	to = out->data + out->len;
	for (uint32_t i = 0; i < count; i++)
	{
		copy_short(to, values[i].data, width);
		to += width;
	}
	out->len += count * width;
}

void
values_append(const ParquetField *field, ValueKind kind, const void *values,
			  uint32_t count, LakeBuffer *out)
{
	if (kind == KIND_BYTES)
		append_bytes(field, values, count, out);
	else if (kind == KIND_FIXED)
		append_fixed(field, values, count, out);
	else
		buffer_append(out, values,
					  count * vector_layout_width(field->layout));
}

/* ---- the PLAIN encoding ---- */

static void
encode_bools(const uint8_t *values, size_t count, LakeBuffer *out)
{
	uint8_t    *to;

	buffer_reserve(out, (count + 7) / 8);
	to = out->data + out->len;
	for (size_t i = 0; i < count; i += 8)
	{
		unsigned	byte = 0;

		for (size_t k = 0; k < 8 && i + k < count; k++)
			byte |= (unsigned) values[i + k] << k;
		*to++ = (uint8_t) byte;
	}
	out->len += (count + 7) / 8;
}

static LakeInt128
wide_value(const ParquetField *field, const void *values, size_t at)
{
	if (field->layout == VECTOR_I64)
		return ((const int64_t *) values)[at];
	return ((const LakeInt128 *) values)[at];
}

/* two's complement, big-endian, in type_length bytes */
static void
encode_fixed_decimals(const ParquetField *field, const void *values,
					  size_t count, LakeBuffer *out)
{
	size_t		width = (size_t) field->type_length;
	uint8_t    *to;

	buffer_reserve(out, count * width);
	to = out->data + out->len;
	for (size_t i = 0; i < count; i++, to += width)
	{
		LakeInt128	value = wide_value(field, values, i);

		for (size_t k = width; k > 0; k--)
		{
			to[k - 1] = (uint8_t) value;
			value >>= 8;
		}
	}
	out->len += count * width;
}

static void
encode_short_decimals(const ParquetField *field, const void *values,
					  size_t count, LakeBuffer *out)
{
	for (size_t i = 0; i < count; i++)
	{
		LakeInt128	value = wide_value(field, values, i);
		uint8_t		bytes[16];
		uint32_t	len = (uint32_t) decimal_to_bytes(value, bytes);

		buffer_append(out, &len, sizeof len);
		buffer_append(out, bytes, len);
	}
}

/* rounds to the nearest, ties to even; NaN stays one */
static uint16_t
half_from_float(float value)
{
	uint32_t	bits;
	uint32_t	sign;
	uint32_t	rest;
	int			shift;

	memcpy(&bits, &value, sizeof bits);
	sign = bits >> 16 & 0x8000;
	bits &= 0x7fffffff;
	if (bits > 0x7f800000)
		return (uint16_t) (sign | 0x7c00 | (bits >> 13 & 0x3ff) |
						   ((bits >> 13 & 0x3ff) == 0));
	/* 65520 and above round to infinity */
	if (bits >= 0x477ff000)
		return (uint16_t) (sign | 0x7c00);
	if (bits >= 0x38800000)
	{
		/* normal: the exponent's bias goes from 127 to 15 */
		bits -= 112u << 23;
		return (uint16_t) (sign | (bits + 0xfff + (bits >> 13 & 1)) >> 13);
	}
	if (bits < 0x33000000)
		return (uint16_t) sign;
	/* subnormal: in units of 2^-24 */
	shift = 126 - (int) (bits >> 23);
	bits = (bits & 0x7fffff) | 0x800000;
	rest = bits & ((1u << shift) - 1);
	bits >>= shift;
	if (rest > 1u << (shift - 1) ||
		(rest == 1u << (shift - 1) && (bits & 1) != 0))
		bits++;
	return (uint16_t) (sign | bits);
}

static void
encode_halves(const float *values, size_t count, LakeBuffer *out)
{
	for (size_t i = 0; i < count; i++)
	{
		uint16_t	half = half_from_float(values[i]);

		buffer_append(out, &half, sizeof half);
	}
}

void
values_encode(const ParquetField *field, const void *values, size_t count,
			  LakeBuffer *out)
{
	if (field->layout == VECTOR_BOOL)
		encode_bools(values, count, out);
	else if (field->layout == VECTOR_BYTES)
		lake_throw(LAKE_ERROR_INTERNAL, "byte arrays are kept encoded");
	else if (values_are_plain(field))
		buffer_append(out, values, count * vector_layout_width(field->layout));
	else if (field->layout == VECTOR_F32)
		encode_halves(values, count, out);
	else if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
		encode_fixed_decimals(field, values, count, out);
	else
		encode_short_decimals(field, values, count, out);
}
