/*
 * Which Parquet types a wanted type can be read from, and the functions that
 * convert their values.
 *
 * NULL slots are converted with the others, because a branch a row would cost
 * more: a function complains of a value only after it has looked at the NULLs.
 *
 * Iceberg spec, "Schema Evolution", "Parquet".
 */
#include "table/table_int.h"

#include "base/bits.h"

#define MICROS_PER_DAY	INT64_C(86400000000)
#define NANOS_PER_DAY	INT64_C(86400000000000)
#define JULIAN_EPOCH	2440588 /* Julian day of 1970-01-01 */
#define INT96_SIZE		12

/* ---- conversion functions ---- */

/*
 * ONE(conversion, in, &out) converts one value and returns its Misfit.  The
 * second loop runs only when the first one met a misfit, maybe a NULL's.
 */
#define CONVERT_FUNCTION(name, InType, OutType, ONE) \
static uint32_t \
name(Conversion *conversion, const void *in, const uint8_t *nulls, \
	 uint32_t count, void *out) \
{ \
	const InType *src = in; \
	OutType    *dst = out; \
	unsigned	misfits = 0; \
\
	for (uint32_t i = 0; i < count; i++) \
		misfits |= ONE(conversion, src[i], &dst[i]); \
	if (misfits == 0) \
		return count; \
	for (uint32_t i = 0; i < count; i++) \
	{ \
		if (nulls != NULL && nulls[i]) \
			continue; \
		conversion->misfit = ONE(conversion, src[i], &dst[i]); \
		if (conversion->misfit != FITS) \
			return i; \
	} \
	return count; \
}

/* the same for functions that only look */
#define CHECK_FUNCTION(name, InType, ONE) \
static uint32_t \
name(Conversion *conversion, const void *in, const uint8_t *nulls, \
	 uint32_t count, void *out) \
{ \
	const InType *src = in; \
	unsigned	misfits = 0; \
\
	(void) out; \
	for (uint32_t i = 0; i < count; i++) \
		misfits |= ONE(conversion, src[i]); \
	if (misfits == 0) \
		return count; \
	for (uint32_t i = 0; i < count; i++) \
	{ \
		if (nulls != NULL && nulls[i]) \
			continue; \
		conversion->misfit = ONE(conversion, src[i]); \
		if (conversion->misfit != FITS) \
			return i; \
	} \
	return count; \
}

static inline Misfit
widen_int(const Conversion *conversion, int32_t in, int64_t *out)
{
	(void) conversion;
	*out = in;
	return FITS;
}

static inline Misfit
widen_unsigned(const Conversion *conversion, uint32_t in, int64_t *out)
{
	(void) conversion;
	*out = in;
	return FITS;
}

static inline Misfit
widen_float(const Conversion *conversion, float in, double *out)
{
	(void) conversion;
	*out = (double) in;
	return FITS;
}

static inline Misfit
widen_int_decimal(const Conversion *conversion, int32_t in,
				  LakeInt128 *out)
{
	(void) conversion;
	*out = in;
	return FITS;
}

static inline Misfit
widen_long_decimal(const Conversion *conversion, int64_t in,
				   LakeInt128 *out)
{
	(void) conversion;
	*out = in;
	return FITS;
}

static inline Misfit
narrow_decimal(const Conversion *conversion, LakeInt128 in, int64_t *out)
{
	(void) conversion;
	*out = (int64_t) in;
	return *out == in ? FITS : MISFIT_RANGE;
}

static inline Misfit
scale_int(const Conversion *conversion, int32_t in, int64_t *out)
{
	return __builtin_mul_overflow(in, conversion->factor, out) ?
		MISFIT_RANGE : FITS;
}

static inline Misfit
scale_long(const Conversion *conversion, int64_t in, int64_t *out)
{
	return __builtin_mul_overflow(in, conversion->factor, out) ?
		MISFIT_RANGE : FITS;
}

/* nanoseconds to microseconds */
static inline Misfit
floor_long(const Conversion *conversion, int64_t in, int64_t *out)
{
	*out = bits_floor_div(in, 1000);
	return conversion->truncate || in % 1000 == 0 ? FITS : MISFIT_NANOSECONDS;
}

/*
 * INT96: nanoseconds of the day, then the Julian day, both little-endian.
 * Writers are known to put more than a day, or less than none, into the first.
 */
static inline Misfit
read_int96(LakeBytes in, int64_t *days, int64_t *nanos)
{
	*days = *nanos = 0;
	if (in.len != INT96_SIZE)
		return MISFIT_LENGTH;
	*nanos = (int64_t) bits_load_u64le(in.data);
	*days = (int64_t) (int32_t) bits_load_u32le(in.data + 8) - JULIAN_EPOCH;
	return FITS;
}

static inline Misfit
int96_micros(const Conversion *conversion, LakeBytes in, int64_t *out)
{
	int64_t		days;
	int64_t		nanos;

	*out = 0;
	if (read_int96(in, &days, &nanos) != FITS)
		return MISFIT_LENGTH;
	if (__builtin_mul_overflow(days, MICROS_PER_DAY, out) ||
		__builtin_add_overflow(*out, bits_floor_div(nanos, 1000), out))
		return MISFIT_RANGE;
	return conversion->truncate || nanos % 1000 == 0 ? FITS :
		MISFIT_NANOSECONDS;
}

static inline Misfit
int96_nanos(const Conversion *conversion, LakeBytes in, int64_t *out)
{
	int64_t		days;
	int64_t		nanos;

	(void) conversion;
	*out = 0;
	if (read_int96(in, &days, &nanos) != FITS)
		return MISFIT_LENGTH;
	return __builtin_mul_overflow(days, NANOS_PER_DAY, out) ||
		__builtin_add_overflow(*out, nanos, out) ? MISFIT_RANGE : FITS;
}

static inline Misfit
check_unsigned(const Conversion *conversion, int32_t in)
{
	(void) conversion;
	return in < 0 ? MISFIT_RANGE : FITS;
}

static inline Misfit
check_unsigned_long(const Conversion *conversion, int64_t in)
{
	(void) conversion;
	return in < 0 ? MISFIT_RANGE : FITS;
}

static inline Misfit
check_length(const Conversion *conversion, LakeBytes in)
{
	return in.len == (size_t) conversion->factor ? FITS : MISFIT_LENGTH;
}

CONVERT_FUNCTION(convert_int_long, int32_t, int64_t, widen_int)
CONVERT_FUNCTION(convert_unsigned_long, uint32_t, int64_t, widen_unsigned)
CONVERT_FUNCTION(convert_float_double, float, double, widen_float)
CONVERT_FUNCTION(convert_int_decimal, int32_t, LakeInt128, widen_int_decimal)
CONVERT_FUNCTION(convert_long_decimal, int64_t, LakeInt128, widen_long_decimal)
CONVERT_FUNCTION(convert_decimal_long, LakeInt128, int64_t, narrow_decimal)
CONVERT_FUNCTION(convert_scale_int, int32_t, int64_t, scale_int)
CONVERT_FUNCTION(convert_scale_long, int64_t, int64_t, scale_long)
CONVERT_FUNCTION(convert_floor_long, int64_t, int64_t, floor_long)
CONVERT_FUNCTION(convert_int96_micros, LakeBytes, int64_t, int96_micros)
CONVERT_FUNCTION(convert_int96_nanos, LakeBytes, int64_t, int96_nanos)
CHECK_FUNCTION(convert_unsigned_int, int32_t, check_unsigned)
CHECK_FUNCTION(convert_unsigned_64, int64_t, check_unsigned_long)
CHECK_FUNCTION(convert_length, LakeBytes, check_length)

/* ---- which conversion ---- */

#define L(logical)		(UINT32_C(1) << PARQUET_LOGICAL_##logical)
#define ANY_DETAIL		-1
/* details of INTEGER; those of TIME and TIMESTAMP are ParquetUnits */
#define DETAIL_FITS		0		/* signed, or unsigned with fewer bits */
#define DETAIL_UNSIGNED 1		/* needs the sign bit */

typedef struct ConversionRule
{
	LakeTypeKind kind;
	ParquetPhysical physical;
	uint32_t	logical;		/* set of them */
	int			detail;
	ConvertFunction convert;
	int64_t		factor;
} ConversionRule;

static const ConversionRule rules[] =
{
	{LAKE_BOOLEAN, PARQUET_BOOLEAN, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_INT, PARQUET_INT32, L(NONE) | L(INTEGER), DETAIL_FITS, NULL, 0},
	{LAKE_INT, PARQUET_INT32, L(INTEGER), DETAIL_UNSIGNED,
	convert_unsigned_int, 0},
	{LAKE_LONG, PARQUET_INT64, L(NONE) | L(INTEGER), DETAIL_FITS, NULL, 0},
	{LAKE_LONG, PARQUET_INT64, L(INTEGER), DETAIL_UNSIGNED,
	convert_unsigned_64, 0},
	{LAKE_LONG, PARQUET_INT32, L(NONE) | L(INTEGER), DETAIL_FITS,
	convert_int_long, 0},
	{LAKE_LONG, PARQUET_INT32, L(INTEGER), DETAIL_UNSIGNED,
	convert_unsigned_long, 0},
	{LAKE_FLOAT, PARQUET_FLOAT, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_FLOAT, PARQUET_FIXED_LEN_BYTE_ARRAY, L(FLOAT16), ANY_DETAIL,
	NULL, 0},
	{LAKE_DOUBLE, PARQUET_DOUBLE, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_DOUBLE, PARQUET_FLOAT, L(NONE), ANY_DETAIL,
	convert_float_double, 0},
	{LAKE_DOUBLE, PARQUET_FIXED_LEN_BYTE_ARRAY, L(FLOAT16), ANY_DETAIL,
	convert_float_double, 0},
	{LAKE_DATE, PARQUET_INT32, L(NONE) | L(DATE), ANY_DETAIL, NULL, 0},
	{LAKE_TIME, PARQUET_INT64, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_TIME, PARQUET_INT64, L(TIME), PARQUET_MICROS, NULL, 0},
	{LAKE_TIME, PARQUET_INT64, L(TIME), PARQUET_NANOS, convert_floor_long, 0},
	{LAKE_TIME, PARQUET_INT32, L(TIME), PARQUET_MILLIS,
	convert_scale_int, 1000},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(TIMESTAMP), PARQUET_MICROS, NULL, 0},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(TIMESTAMP), PARQUET_MILLIS,
	convert_scale_long, 1000},
	{LAKE_TIMESTAMP, PARQUET_INT64, L(TIMESTAMP), PARQUET_NANOS,
	convert_floor_long, 0},
	{LAKE_TIMESTAMP, PARQUET_INT96, L(NONE) | L(TIMESTAMP), ANY_DETAIL,
	convert_int96_micros, 0},
	{LAKE_TIMESTAMP, PARQUET_INT32, L(DATE), ANY_DETAIL,
	convert_scale_int, MICROS_PER_DAY},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(TIMESTAMP), PARQUET_NANOS, NULL, 0},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(TIMESTAMP), PARQUET_MICROS,
	convert_scale_long, 1000},
	{LAKE_TIMESTAMP_NS, PARQUET_INT64, L(TIMESTAMP), PARQUET_MILLIS,
	convert_scale_long, 1000000},
	{LAKE_TIMESTAMP_NS, PARQUET_INT96, L(NONE) | L(TIMESTAMP), ANY_DETAIL,
	convert_int96_nanos, 0},
	{LAKE_TIMESTAMP_NS, PARQUET_INT32, L(DATE), ANY_DETAIL,
	convert_scale_int, NANOS_PER_DAY},
	{LAKE_STRING, PARQUET_BYTE_ARRAY,
	L(NONE) | L(STRING) | L(ENUM) | L(JSON), ANY_DETAIL, NULL, 0},
	{LAKE_UUID, PARQUET_FIXED_LEN_BYTE_ARRAY, L(NONE) | L(UUID), ANY_DETAIL,
	convert_length, 16},
	{LAKE_UUID, PARQUET_BYTE_ARRAY, L(NONE), ANY_DETAIL, convert_length, 16},
	{LAKE_FIXED, PARQUET_FIXED_LEN_BYTE_ARRAY, L(NONE) | L(UUID), ANY_DETAIL,
	convert_length, 0},
	{LAKE_FIXED, PARQUET_BYTE_ARRAY, L(NONE), ANY_DETAIL, convert_length, 0},
	{LAKE_BINARY, PARQUET_BYTE_ARRAY,
		L(NONE) | L(BSON) | L(STRING) | L(ENUM) | L(JSON) | L(GEOMETRY) |
	L(GEOGRAPHY), ANY_DETAIL, NULL, 0},
	{LAKE_BINARY, PARQUET_FIXED_LEN_BYTE_ARRAY, L(NONE), ANY_DETAIL, NULL, 0},
	{LAKE_GEOMETRY, PARQUET_BYTE_ARRAY,
	L(NONE) | L(GEOMETRY) | L(GEOGRAPHY), ANY_DETAIL, NULL, 0},
	{LAKE_GEOGRAPHY, PARQUET_BYTE_ARRAY,
	L(NONE) | L(GEOMETRY) | L(GEOGRAPHY), ANY_DETAIL, NULL, 0},
};

/* decimals go by layout: any precision of the same scale */
static const struct
{
	VectorLayout from;
	VectorLayout to;
	ConvertFunction convert;
}			decimal_rules[] =

{
	{VECTOR_I32, VECTOR_I64, convert_int_long},
	{VECTOR_I32, VECTOR_I128, convert_int_decimal},
	{VECTOR_I64, VECTOR_I64, NULL},
	{VECTOR_I64, VECTOR_I128, convert_long_decimal},
	{VECTOR_I128, VECTOR_I64, convert_decimal_long},
	{VECTOR_I128, VECTOR_I128, NULL},
};

static const char *const physical_names[] = {
	[PARQUET_BOOLEAN] = "BOOLEAN",
	[PARQUET_INT32] = "INT32",
	[PARQUET_INT64] = "INT64",
	[PARQUET_INT96] = "INT96",
	[PARQUET_FLOAT] = "FLOAT",
	[PARQUET_DOUBLE] = "DOUBLE",
	[PARQUET_BYTE_ARRAY] = "BYTE_ARRAY",
	[PARQUET_FIXED_LEN_BYTE_ARRAY] = "FIXED_LEN_BYTE_ARRAY",
};

static const char *const logical_names[] = {
	[PARQUET_LOGICAL_NONE] = "",
	[PARQUET_LOGICAL_STRING] = " (STRING)",
	[PARQUET_LOGICAL_ENUM] = " (ENUM)",
	[PARQUET_LOGICAL_JSON] = " (JSON)",
	[PARQUET_LOGICAL_BSON] = " (BSON)",
	[PARQUET_LOGICAL_UUID] = " (UUID)",
	[PARQUET_LOGICAL_DATE] = " (DATE)",
	[PARQUET_LOGICAL_TIME] = " (TIME)",
	[PARQUET_LOGICAL_TIMESTAMP] = " (TIMESTAMP)",
	[PARQUET_LOGICAL_INTEGER] = " (INTEGER)",
	[PARQUET_LOGICAL_DECIMAL] = " (DECIMAL)",
	[PARQUET_LOGICAL_FLOAT16] = " (FLOAT16)",
	[PARQUET_LOGICAL_INTERVAL] = " (INTERVAL)",
	[PARQUET_LOGICAL_UNKNOWN] = " (UNKNOWN)",
	[PARQUET_LOGICAL_GEOMETRY] = " (GEOMETRY)",
	[PARQUET_LOGICAL_GEOGRAPHY] = " (GEOGRAPHY)",
	[PARQUET_LOGICAL_LIST] = " (LIST)",
	[PARQUET_LOGICAL_MAP] = " (MAP)",
	[PARQUET_LOGICAL_VARIANT] = " (VARIANT)",
};

/* "address.city", for messages */
static const char *
source_path(LakeArena *arena, const ParquetField *field)
{
	const char *path = field->name;

	for (field = field->parent; field != NULL; field = field->parent)
		path = lake_printf(arena, "%s.%s", field->name, path);
	return path;
}

static int
rule_detail(const ParquetField *source)
{
	switch (source->logical)
	{
		case PARQUET_LOGICAL_TIME:
		case PARQUET_LOGICAL_TIMESTAMP:
			return (int) source->unit;
		case PARQUET_LOGICAL_INTEGER:
			return !source->is_signed &&
				source->bits == (source->physical == PARQUET_INT32 ? 32 : 64) ?
				DETAIL_UNSIGNED : DETAIL_FITS;
		default:
			return DETAIL_FITS;
	}
}

/* the zone is the table's to know: files are often annotated wrongly */
static LakeTypeKind
kind_without_zone(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_TIMESTAMPTZ:
			return LAKE_TIMESTAMP;
		case LAKE_TIMESTAMPTZ_NS:
			return LAKE_TIMESTAMP_NS;
		default:
			return type->kind;
	}
}

static bool
find_rule(Conversion *conversion, const ParquetField *source,
		  const LakeType *type)
{
	int			detail = rule_detail(source);

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
	{
		if (rules[i].kind != kind_without_zone(type) ||
			rules[i].physical != source->physical ||
			(rules[i].logical & (UINT32_C(1) << source->logical)) == 0 ||
			(rules[i].detail != ANY_DETAIL && rules[i].detail != detail))
			continue;
		/* days have no zone to be converted from */
		if (type->kind != rules[i].kind &&
			source->logical == PARQUET_LOGICAL_DATE)
			return false;
		conversion->convert = rules[i].convert;
		conversion->factor = type->kind == LAKE_FIXED ? type->length :
			rules[i].factor;
		return true;
	}
	return false;
}

static bool
find_decimal_rule(Conversion *conversion, const ParquetField *source,
				  const LakeType *type)
{
	if (source->logical != PARQUET_LOGICAL_DECIMAL ||
		source->scale != type->scale)
		return false;
	for (size_t i = 0; i < sizeof decimal_rules / sizeof decimal_rules[0]; i++)
	{
		if (decimal_rules[i].from == source->layout &&
			decimal_rules[i].to == lake_type_layout(type))
		{
			conversion->convert = decimal_rules[i].convert;
			return true;
		}
	}
	return false;
}

static _Noreturn void
throw_mismatch(LakeArena *arena, const ParquetField *source,
			   const LakeType *type)
{
	const char *path = source_path(arena, source);
	const char *wanted = lake_type_text(arena, type);
	const char *found = physical_names[source->physical];

	if (source->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
		found = lake_printf(arena, "%s(%d)", found, (int) source->type_length);
	if (source->logical == PARQUET_LOGICAL_DECIMAL)
		found = lake_printf(arena, "%s DECIMAL(%d,%d)", found,
							(int) source->precision, (int) source->scale);
	else
		found = lake_printf(arena, "%s%s", found,
							logical_names[source->logical]);
	lake_throw(LAKE_ERROR_CORRUPT,
			   "column \"%s\" is %s in the file and cannot be read as %s",
			   path, found, wanted);
}

void
conversion_find(Conversion *conversion, LakeArena *arena,
				const ParquetField *source, const LakeType *type)
{
	bool		found = type->kind == LAKE_DECIMAL ?
		find_decimal_rule(conversion, source, type) :
		find_rule(conversion, source, type);

	if (!found)
		throw_mismatch(arena, source, type);
	if (conversion->convert == convert_length &&
		source->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
	{
		if (source->type_length != conversion->factor)
			throw_mismatch(arena, source, type);
		conversion->convert = NULL;
	}
	conversion->checks_only = conversion->convert == convert_length ||
		conversion->convert == convert_unsigned_int ||
		conversion->convert == convert_unsigned_64;
}

void
conversion_throw(const Conversion *conversion, LakeArena *arena,
				 const ParquetField *source, const LakeType *type)
{
	const char *path = source_path(arena, source);
	const char *wanted = lake_type_text(arena, type);
	LakeTypeKind kind = kind_without_zone(type);
	bool		is_time = kind == LAKE_TIME || kind == LAKE_TIMESTAMP ||
		kind == LAKE_TIMESTAMP_NS;

	if (conversion->misfit == MISFIT_NANOSECONDS)
		lake_throw_hint(LAKE_ERROR_DATETIME,
						"Set lakefdw.truncate_nanoseconds to round them down to microseconds.",
						"column \"%s\" has nanoseconds that %s cannot hold",
						path, wanted);
	if (conversion->misfit == MISFIT_LENGTH)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has a value of the wrong length for %s",
				   path, wanted);
	lake_throw(is_time ? LAKE_ERROR_DATETIME : LAKE_ERROR_OUT_OF_RANGE,
			   "column \"%s\" has a value that does not fit %s", path, wanted);
}
