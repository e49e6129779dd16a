/*
 * A value as a file stores it, for bloom filters: the way back from what
 * conversion.c reads.
 *
 * An answer is given only where each value has exactly one stored form.  That
 * leaves out the zeros of floating-point numbers, timestamps that are rounded
 * while they are read, and decimals over byte arrays, which may have more bytes
 * than they need.
 *
 * Parquet format: BloomFilter.md; Encodings.md, "Plain".
 */
#include "table/table_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ANY_UNIT		-1
#define L(logical)		(UINT32_C(1) << PARQUET_LOGICAL_##logical)

/* integers of a wanted type are stored ones times factor */
static const struct
{
	LakeTypeKind kind;
	ParquetPhysical physical;
	uint32_t	logical;		/* set of them */
	int			unit;			/* of TIME, TIMESTAMP */
	int64_t		factor;
}			integer_forms[] = {
	{LAKE_INT, PARQUET_INT32, L(NONE) | L(INTEGER), ANY_UNIT, 1},
	{LAKE_LONG, PARQUET_INT32, L(NONE) | L(INTEGER), ANY_UNIT, 1},
	{LAKE_LONG, PARQUET_INT64, L(NONE) | L(INTEGER), ANY_UNIT, 1},
	{LAKE_DATE, PARQUET_INT32, L(NONE) | L(DATE), ANY_UNIT, 1},
	{LAKE_TIME, PARQUET_INT64, L(NONE), ANY_UNIT, 1},
	{LAKE_TIME, PARQUET_INT64, L(TIME), PARQUET_MICROS, 1},
	{LAKE_TIME, PARQUET_INT32, L(TIME), PARQUET_MILLIS, 1000},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(NONE), ANY_UNIT, 1},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(TIMESTAMP), PARQUET_MICROS, 1},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(TIMESTAMP), PARQUET_MILLIS, 1000},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(NONE), ANY_UNIT, 1},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(TIMESTAMP), PARQUET_NANOS, 1},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(TIMESTAMP), PARQUET_MICROS, 1000},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(TIMESTAMP), PARQUET_MILLIS, 1000000},
};

/* 0: there is no such form */
static int64_t
integer_factor(const ParquetField *source, LakeTypeKind kind)
{
	bool		has_unit = source->logical == PARQUET_LOGICAL_TIME ||
		source->logical == PARQUET_LOGICAL_TIMESTAMP;

	if (kind == LAKE_TIMESTAMPTZ)
		kind = LAKE_TIMESTAMP;
	else if (kind == LAKE_TIMESTAMPTZ_NS)
		kind = LAKE_TIMESTAMP_NS;
	for (size_t i = 0; i < sizeof integer_forms / sizeof integer_forms[0]; i++)
	{
		if (integer_forms[i].kind == kind &&
			integer_forms[i].physical == source->physical &&
			(integer_forms[i].logical >> source->logical & 1) != 0 &&
			(!has_unit || integer_forms[i].unit == (int) source->unit))
			return integer_forms[i].factor;
	}
	return 0;
}

/* little-endian, as wide as the physical type, in which value must fit */
static PhysicalForm
store_integer(const ParquetField *source, LakeInt128 value,
			  PhysicalValue *out)
{
	bool		is_unsigned = source->logical == PARQUET_LOGICAL_INTEGER &&
		!source->is_signed;
	bool		is_narrow = source->physical == PARQUET_INT32;
	LakeInt128	lowest = is_narrow ? INT32_MIN : INT64_MIN;
	LakeInt128	highest = is_narrow ? INT32_MAX : INT64_MAX;
	uint64_t	bits = (uint64_t) value;

	if (is_unsigned)
	{
		lowest = 0;
		highest = is_narrow ? (LakeInt128) UINT32_MAX :
			(LakeInt128) UINT64_MAX;
	}
	if (value < lowest || value > highest)
		return PHYSICAL_ABSENT;
	out->len = is_narrow ? 4 : 8;
	memcpy(out->bytes, &bits, out->len);
	return PHYSICAL_KNOWN;
}

static PhysicalForm
encode_integer(const ParquetField *source, const LakeType *type,
			   const LakeValue *value, PhysicalValue *out)
{
	int64_t		factor = integer_factor(source, type->kind);

	if (factor == 0)
		return PHYSICAL_UNKNOWN;
	if (value->i % factor != 0)
		return PHYSICAL_ABSENT;
	return store_integer(source, value->i / factor, out);
}

static PhysicalForm
encode_float(const ParquetField *source, const LakeValue *value,
			 PhysicalValue *out)
{
	double		wide = value->d;
	float		narrow;

	if (isnan(wide) || wide == 0)
		return PHYSICAL_UNKNOWN;
	if (source->physical == PARQUET_DOUBLE)
	{
		out->len = sizeof wide;
		memcpy(out->bytes, &wide, sizeof wide);
		return PHYSICAL_KNOWN;
	}
	if (source->physical != PARQUET_FLOAT)
		return PHYSICAL_UNKNOWN;
	if (isfinite(wide) && fabs(wide) > (double) FLT_MAX)
		return PHYSICAL_ABSENT;
	narrow = (float) wide;
	if ((double) narrow != wide)
		return PHYSICAL_ABSENT;
	out->len = sizeof narrow;
	memcpy(out->bytes, &narrow, sizeof narrow);
	return PHYSICAL_KNOWN;
}

static PhysicalForm
encode_decimal(const ParquetField *source, const LakeType *type,
			   const LakeValue *value, PhysicalValue *out)
{
	LakeInt128	rest = value->decimal;
	size_t		len = (size_t) source->type_length;

	if (source->logical != PARQUET_LOGICAL_DECIMAL ||
		source->scale != type->scale)
		return PHYSICAL_UNKNOWN;
	if (source->physical == PARQUET_INT32 || source->physical == PARQUET_INT64)
		return store_integer(source, rest, out);
	if (source->physical != PARQUET_FIXED_LEN_BYTE_ARRAY ||
		len == 0 || len > sizeof out->bytes)
		return PHYSICAL_UNKNOWN;
	out->len = len;
	/* big-endian; division by shifting keeps the sign */
	for (size_t i = len; i > 0; i--)
	{
		out->bytes[i - 1] = (uint8_t) rest;
		rest >>= 8;
	}
	return rest == ((out->bytes[0] & 0x80) != 0 ? -1 : 0) ?
		PHYSICAL_KNOWN : PHYSICAL_ABSENT;
}

static PhysicalForm
borrow_bytes(const ParquetField *source, const LakeValue *value,
			 PhysicalValue *out)
{
	if (source->physical != PARQUET_BYTE_ARRAY &&
		(source->physical != PARQUET_FIXED_LEN_BYTE_ARRAY ||
		 value->bytes.len != (size_t) source->type_length))
		return PHYSICAL_UNKNOWN;
	out->borrowed = value->bytes;
	return PHYSICAL_KNOWN;
}

static PhysicalForm
encode(const ParquetField *source, const LakeType *type,
	   const LakeValue *value, PhysicalValue *out)
{
	switch (type->kind)
	{
		case LAKE_INT:
		case LAKE_LONG:
		case LAKE_DATE:
		case LAKE_TIME:
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return encode_integer(source, type, value, out);
		case LAKE_FLOAT:
		case LAKE_DOUBLE:
			return encode_float(source, value, out);
		case LAKE_DECIMAL:
			return encode_decimal(source, type, value, out);
		case LAKE_STRING:
		case LAKE_UUID:
		case LAKE_FIXED:
		case LAKE_BINARY:
			return borrow_bytes(source, value, out);
		default:
			return PHYSICAL_UNKNOWN;
	}
}

PhysicalForm
physical_value_encode(const ParquetField *source, const LakeType *type,
					  const LakeValue *value, PhysicalValue *out,
					  LakeBytes *bytes)
{
	PhysicalForm form;

	memset(out, 0, sizeof *out);
	form = encode(source, type, value, out);
	bytes->data = out->len > 0 ? out->bytes : out->borrowed.data;
	bytes->len = out->len > 0 ? out->len : out->borrowed.len;
	return form;
}
