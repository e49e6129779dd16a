/*
 * Values on their way from a page into a vector: conversion of decimals and
 * half floats, dictionary look-up, slots for NULLs.
 */
#include "parquet/parquet_int.h"

#include <string.h>

#include "base/decimal.h"

bool
values_need_conversion(const ParquetField *field)
{
	return field->layout != VECTOR_BYTES &&
		(field->physical == PARQUET_BYTE_ARRAY ||
		 field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY);
}

static _Noreturn void
throw_decimal(const ParquetField *field)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "column \"%s\" has a value that does not fit decimal(%d,%d)",
			   field->name, field->precision, field->scale);
}

static void
convert_to_i64(const ParquetField *field, const LakeBytes *raw, int64_t *out,
			   uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		LakeBytes	bytes = raw[i];
		LakeInt128	wide;

		if (bytes.len - 1 < 8)
		{
			uint64_t	value = (uint64_t) (int8_t) bytes.data[0];

			for (size_t k = 1; k < bytes.len; k++)
				value = value << 8 | bytes.data[k];
			out[i] = (int64_t) value;
			continue;
		}
		if (!decimal_from_bytes(bytes.data, bytes.len, &wide) ||
			wide < INT64_MIN || wide > INT64_MAX)
			throw_decimal(field);
		out[i] = (int64_t) wide;
	}
}

static void
convert_to_i128(const ParquetField *field, const LakeBytes *raw,
				LakeInt128 *out, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		if (!decimal_from_bytes(raw[i].data, raw[i].len, &out[i]))
			throw_decimal(field);
	}
}

/* IEEE 754 binary16, two bytes little-endian */
static float
half_to_float(const uint8_t *data)
{
	uint32_t	half = (uint32_t) data[0] | (uint32_t) data[1] << 8;
	uint32_t	sign = (half & 0x8000) << 16;
	uint32_t	exponent = half >> 10 & 0x1f;
	uint32_t	fraction = half & 0x3ff;
	uint32_t	bits;
	float		value;

	if (exponent == 0x1f)
		bits = sign | 0x7f800000 | fraction << 13;
	else if (exponent != 0)
		bits = sign | (exponent + 112) << 23 | fraction << 13;
	else
	{
		/* zero or subnormal: fraction * 2^-24, exact in a float */
		value = (float) fraction / (1 << 24);
		return sign != 0 ? -value : value;
	}
	memcpy(&value, &bits, sizeof value);
	return value;
}

void
values_convert(const ParquetField *field, const LakeBytes *raw, void *out,
			   uint32_t count)
{
	float	   *floats = out;

	if (field->layout == VECTOR_I64)
		convert_to_i64(field, raw, out, count);
	else if (field->layout == VECTOR_I128)
		convert_to_i128(field, raw, out, count);
	else
	{
		for (uint32_t i = 0; i < count; i++)
			floats[i] = half_to_float(raw[i].data);
	}
}

/*
 * From the end, so that no value is overwritten before it has moved; below the
 * last NULL all is in place.
 */
#define SPREAD(width) \
	for (uint32_t i = count; dense < i;) \
	{ \
		i--; \
		if (nulls[i] != 0) \
			memset(bytes + (size_t) i * (width), 0, (width)); \
		else \
		{ \
			dense--; \
			memcpy(bytes + (size_t) i * (width), \
				   bytes + (size_t) dense * (width), (width)); \
		} \
	}

void
values_spread(void *slots, size_t width, const uint8_t *nulls,
			  uint32_t count, uint32_t dense)
{
	uint8_t    *bytes = slots;

	switch (width)
	{
		case 1:
			SPREAD(1);
			break;
		case 4:
			SPREAD(4);
			break;
		case 8:
			SPREAD(8);
			break;
		default:
			SPREAD(16);
	}
}

#define LOOK_UP(width) \
	for (uint32_t i = 0; i < count; i++) \
		memcpy(bytes + (size_t) i * (width), \
			   values + (size_t) codes[i] * (width), (width))

void
values_look_up(const LakeDictionary *dict, const uint32_t *codes, void *out,
			   uint32_t count)
{
	const uint8_t *values = dict->values;
	uint8_t    *bytes = out;
	size_t		width = vector_layout_width(dict->layout);

	/* only NULLs can have come from an empty dictionary */
	if (dict->count == 0)
	{
		if (count > 0)
			memset(out, 0, (size_t) count * width);
		return;
	}
	switch (width)
	{
		case 1:
			LOOK_UP(1);
			break;
		case 4:
			LOOK_UP(4);
			break;
		case 8:
			LOOK_UP(8);
			break;
		default:
			LOOK_UP(16);
	}
}
