/*
 * Scalars of column vectors to Datums.
 *
 * One loop a type: by-value Datums are computed in place, by-reference ones of
 * a batch share one allocation.  What a dictionary vector repeats is made once
 * an entry, when a row first needs it, and kept until the column meets another
 * dictionary.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/bits.h"
#include "base/decimal.h"
#include "base/text.h"
#include "server/server_int.h"

#define DAYS_1970_TO_2000	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define USECS_1970_TO_2000	(DAYS_1970_TO_2000 * USECS_PER_DAY)

typedef struct ConverterKind
{
	LakeTypeKind kind;
	Oid			oid;
	VectorLayout layout;
	/* by-value types: every row; by-reference ones: rows without dictionary */
	ConvertRows convert;
	MakeDatum	make;			/* by-reference types only */
} ConverterKind;

/* ---- by-value types ---- */

static inline Datum
int2_datum(int64 value)
{
	if (unlikely(value < PG_INT16_MIN || value > PG_INT16_MAX))
		lake_throw(LAKE_ERROR_OUT_OF_RANGE,
				   "value %lld is out of range for type smallint",
				   (long long) value);
	return Int16GetDatum((int16) value);
}

static inline Datum
int4_datum(int64 value)
{
	if (unlikely(value < PG_INT32_MIN || value > PG_INT32_MAX))
		lake_throw(LAKE_ERROR_OUT_OF_RANGE,
				   "value %lld is out of range for type integer",
				   (long long) value);
	return Int32GetDatum((int32) value);
}

static inline Datum
date_datum(int64 days)
{
	int64		date = days - DAYS_1970_TO_2000;

	if (unlikely(!IS_VALID_DATE(date)))
		lake_throw(LAKE_ERROR_DATETIME,
				   "date %lld days from 1970-01-01 is out of range",
				   (long long) days);
	return DateADTGetDatum((DateADT) date);
}

static inline Datum
time_datum(int64 usecs)
{
	if (unlikely(usecs < 0 || usecs > USECS_PER_DAY))
		lake_throw(LAKE_ERROR_DATETIME,
				   "time of %lld microseconds is out of range",
				   (long long) usecs);
	return TimeADTGetDatum(usecs);
}

static pg_noinline void
throw_timestamp_range(int64 value, const char *unit)
{
	lake_throw(LAKE_ERROR_DATETIME,
			   "timestamp %lld %s from 1970-01-01 is out of range",
			   (long long) value, unit);
}

static inline Datum
timestamp_datum(int64 usecs)
{
	int64		timestamp;

	if (unlikely(pg_sub_s64_overflow(usecs, USECS_1970_TO_2000, &timestamp) ||
				 !IS_VALID_TIMESTAMP(timestamp)))
		throw_timestamp_range(usecs, "microseconds");
	return TimestampGetDatum(timestamp);
}

static inline Datum
timestamp_ns_datum(int64 nanos)
{
	int64		usecs = bits_floor_div(nanos, 1000);

	if (unlikely(usecs * 1000 != nanos && !lake_truncate_nanoseconds))
		lake_throw_hint(LAKE_ERROR_DATETIME,
						"Set lakefdw.truncate_nanoseconds to read it rounded down.",
						"timestamp %lld nanoseconds from 1970-01-01 is not a whole number of microseconds",
						(long long) nanos);
	return timestamp_datum(usecs);
}

static inline Datum
date_as_timestamp_datum(int64 days)
{
	int64		usecs;

	if (unlikely(pg_mul_s64_overflow(days, USECS_PER_DAY, &usecs)))
		throw_timestamp_range(days, "days");
	return timestamp_datum(usecs);
}

/*
 * Defines the loop of a by-value type around one expression of "value".
 */
#define BY_VALUE_ROWS(name, source, datum) \
static void \
name(ColumnConverter *converter, const LakeVector *vector, \
	 const uint32 *selection, uint32 count, MemoryContext context, \
	 Datum *values, const bool *nulls) \
{ \
	const uint32 *codes = vector->codes; \
	const source *in = vector->dict != NULL ? \
		vector->dict->values : vector->values; \
\
	for (uint32 i = 0; i < count; i++) \
	{ \
		source		value; \
\
		values[i] = 0; \
		if (nulls[i]) \
			continue; \
		value = in[codes != NULL ? codes[selection[i]] : selection[i]]; \
		values[i] = (datum); \
	} \
}

BY_VALUE_ROWS(bool_rows, uint8, BoolGetDatum(value != 0))
BY_VALUE_ROWS(int_as_int2_rows, int32, int2_datum(value))
BY_VALUE_ROWS(int_rows, int32, Int32GetDatum(value))
BY_VALUE_ROWS(int_as_int8_rows, int32, Int64GetDatum(value))
BY_VALUE_ROWS(int_as_float8_rows, int32, Float8GetDatum(value))
BY_VALUE_ROWS(long_as_int2_rows, int64, int2_datum(value))
BY_VALUE_ROWS(long_as_int4_rows, int64, int4_datum(value))
BY_VALUE_ROWS(long_rows, int64, Int64GetDatum(value))
BY_VALUE_ROWS(float_rows, float, Float4GetDatum(value))
BY_VALUE_ROWS(float_as_float8_rows, float, Float8GetDatum(value))
BY_VALUE_ROWS(double_rows, double, Float8GetDatum(value))
BY_VALUE_ROWS(date_rows, int32, date_datum(value))
BY_VALUE_ROWS(date_as_timestamp_rows, int32, date_as_timestamp_datum(value))
BY_VALUE_ROWS(time_rows, int64, time_datum(value))
BY_VALUE_ROWS(timestamp_rows, int64, timestamp_datum(value))
BY_VALUE_ROWS(timestamp_ns_rows, int64, timestamp_ns_datum(value))

/* ---- by-reference types ---- */

static pg_noinline void
throw_decimal_digits(const LakeType *type)
{
	lake_throw(LAKE_ERROR_CORRUPT, "decimal value has more than %d digits",
			   type->precision);
}

static inline void
build_decimal64(const ColumnConverter *converter, void *dst, int64 value)
{
	const LakeType *type = converter->type;

	if (unlikely(value >= converter->decimal_limit ||
				 value <= -converter->decimal_limit))
		throw_decimal_digits(type);
	numeric_build64(dst, value, type->scale);
}

static inline void
build_decimal128(const ColumnConverter *converter, void *dst,
				 LakeInt128 value)
{
	const LakeType *type = converter->type;

	if (unlikely(!decimal_fits(value, type->precision)))
		throw_decimal_digits(type);
	numeric_build128(dst, value, type->scale);
}

static inline void
build_int(const ColumnConverter *converter, void *dst, int64 value)
{
	numeric_build64(dst, value, 0);
}

static inline void
build_uuid(const ColumnConverter *converter, void *dst, LakeBytes value)
{
	if (unlikely(value.len != UUID_LEN))
		lake_throw(LAKE_ERROR_CORRUPT, "uuid value has %zu bytes, not %d",
				   value.len, UUID_LEN);
	memcpy(dst, value.data, UUID_LEN);
}

/*
 * Defines, for a type whose Datums have a bounded size, the loop over rows
 * without dictionary, which share one allocation, and the maker of one Datum.
 */
#define FIXED_SIZE_ROWS(name, source, size, build) \
static void \
name##_rows(ColumnConverter *converter, const LakeVector *vector, \
			const uint32 *selection, uint32 count, MemoryContext context, \
			Datum *values, const bool *nulls) \
{ \
	const source *in = vector->values; \
	char	   *out = MemoryContextAllocHuge(context, (Size) count * (size)); \
\
	for (uint32 i = 0; i < count; i++) \
	{ \
		values[i] = 0; \
		if (nulls[i]) \
			continue; \
		build(converter, out, in[selection[i]]); \
		values[i] = PointerGetDatum(out); \
		out += (size); \
	} \
} \
\
static Datum \
name##_make(const ColumnConverter *converter, const void *value) \
{ \
	char	   *out = palloc(size); \
\
	build(converter, out, *(const source *) value); \
	return PointerGetDatum(out); \
}

FIXED_SIZE_ROWS(int_as_numeric, int32, NUMERIC_BUILD64_SIZE, build_int)
FIXED_SIZE_ROWS(long_as_numeric, int64, NUMERIC_BUILD64_SIZE, build_int)
FIXED_SIZE_ROWS(decimal64, int64, NUMERIC_BUILD64_SIZE, build_decimal64)
FIXED_SIZE_ROWS(decimal128, LakeInt128, NUMERIC_BUILD128_SIZE, build_decimal128)
FIXED_SIZE_ROWS(uuid, LakeBytes, UUID_LEN, build_uuid)

static inline Size
varlena_size(LakeBytes value)
{
	if (unlikely(value.len > MaxAllocSize - VARHDRSZ))
		lake_throw(LAKE_ERROR_LIMIT,
				   "value of %zu bytes is larger than a field may be",
				   value.len);
	return value.len + VARHDRSZ;
}

static inline void
build_varlena(void *dst, LakeBytes value)
{
	SET_VARSIZE(dst, value.len + VARHDRSZ);
	if (value.len > 0)
		memcpy(VARDATA(dst), value.data, value.len);
}

static void
bytes_rows(ColumnConverter *converter, const LakeVector *vector,
		   const uint32 *selection, uint32 count, MemoryContext context,
		   Datum *values, const bool *nulls)
{
	const LakeBytes *in = vector->values;
	Size		total = 0;
	char	   *out;

	converter->done = 0;
	while (converter->done < count &&
		   (total < converter->room || converter->done == 0))
	{
		uint32		i = converter->done++;

		if (!nulls[i])
			total += INTALIGN(varlena_size(in[selection[i]]));
	}
	count = converter->done;
	out = MemoryContextAllocHuge(context, total);
	for (uint32 i = 0; i < count; i++)
	{
		LakeBytes	value;

		values[i] = 0;
		if (nulls[i])
			continue;
		value = in[selection[i]];
		build_varlena(out, value);
		values[i] = PointerGetDatum(out);
		out += INTALIGN(value.len + VARHDRSZ);
	}
}

static Datum
bytes_make(const ColumnConverter *converter, const void *value)
{
	LakeBytes	bytes = *(const LakeBytes *) value;
	void	   *out = MemoryContextAllocHuge(CurrentMemoryContext,
											 varlena_size(bytes));

	build_varlena(out, bytes);
	return PointerGetDatum(out);
}

/*
 * A word of eight bytes at a time finds most text to be plain ASCII without
 * NUL; the test may take a harmless word for a harmful one, never the reverse.
 */
static inline bool
text_is_plain(LakeBytes text)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	const uint64 highs = UINT64CONST(0x8080808080808080);
	size_t		i = 0;

	for (; i + sizeof(uint64) <= text.len; i += sizeof(uint64))
	{
		uint64		word = bits_load_u64le(text.data + i);

		if (((word - ones) | word) & highs)
			return false;
	}
	for (; i < text.len; i++)
	{
		if ((uint8) (text.data[i] - 1) >= 0x7f)
			return false;
	}
	return true;
}

void
text_check(LakeBytes text)
{
	if (!text_is_plain(text) && !text_is_valid(text))
		lake_throw(LAKE_ERROR_ENCODING,
				   "text value is not valid UTF-8 or contains a NUL");
}

static void
text_rows(ColumnConverter *converter, const LakeVector *vector,
		  const uint32 *selection, uint32 count, MemoryContext context,
		  Datum *values, const bool *nulls)
{
	const LakeBytes *in = vector->values;

	for (uint32 i = 0; i < count; i++)
	{
		if (!nulls[i])
			text_check(in[selection[i]]);
	}
	bytes_rows(converter, vector, selection, count, context, values, nulls);
}

static Datum
text_make(const ColumnConverter *converter, const void *value)
{
	LakeBytes	text = *(const LakeBytes *) value;
	const char *converted;

	text_check(text);
	if (GetDatabaseEncoding() == PG_UTF8)
		return bytes_make(converter, value);
	(void) varlena_size(text);
	converted = pg_any_to_server((const char *) text.data, (int) text.len,
								 PG_UTF8);
	if (converted == (const char *) text.data)
		return bytes_make(converter, value);
	return PointerGetDatum(cstring_to_text(converted));
}

/* one Datum after the other, for types whose rows have no loop of their own */
static void
made_rows(ColumnConverter *converter, const LakeVector *vector,
		  const uint32 *selection, uint32 count, MemoryContext context,
		  Datum *values, const bool *nulls)
{
	MemoryContext caller = MemoryContextSwitchTo(context);

	for (uint32 i = 0; i < count; i++)
	{
		values[i] = nulls[i] ? 0 :
			converter->make(converter, vector_value(vector, selection[i]));
		if (!converter_has_room(converter, values[i], i))
			break;
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Forgets the entries of the former dictionary.  dict_id is set last, so that a
 * throw leaves no entries of one dictionary under the id of another.
 */
static void
change_dictionary(ColumnConverter *converter, const LakeDictionary *dict)
{
	converter->dict_id = 0;
	MemoryContextReset(converter->dict_context);
	converter->entries =
		MemoryContextAllocExtended(converter->dict_context,
								   (Size) dict->count * sizeof(Datum),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	converter->dict_id = dict->id;
}

void
converter_dictionary_rows(ColumnConverter *converter,
						  const LakeVector *vector, const uint32 *selection,
						  uint32 count, Datum *values, const bool *nulls)
{
	const LakeDictionary *dict = vector->dict;
	const uint32 *codes = vector->codes;
	size_t		width = vector_layout_width(dict->layout);
	MemoryContext caller;
	Datum	   *entries;

	if (converter->dict_id != dict->id)
		change_dictionary(converter, dict);
	entries = converter->entries;
	caller = MemoryContextSwitchTo(converter->dict_context);
	for (uint32 i = 0; i < count; i++)
	{
		uint32		code;

		values[i] = 0;
		if (nulls[i])
			continue;
		code = codes[selection[i]];
		if (unlikely(entries[code] == 0))
			entries[code] = converter->make(converter,
											(const char *) dict->values +
											code * width);
		values[i] = entries[code];
	}
	MemoryContextSwitchTo(caller);
}

/* ---- which converter ---- */

static const ConverterKind converter_kinds[] = {
	{LAKE_BOOLEAN, BOOLOID, VECTOR_BOOL, bool_rows, NULL},
	{LAKE_INT, INT2OID, VECTOR_I32, int_as_int2_rows, NULL},
	{LAKE_INT, INT4OID, VECTOR_I32, int_rows, NULL},
	{LAKE_INT, INT8OID, VECTOR_I32, int_as_int8_rows, NULL},
	{LAKE_INT, FLOAT8OID, VECTOR_I32, int_as_float8_rows, NULL},
	{LAKE_INT, NUMERICOID, VECTOR_I32, int_as_numeric_rows,
	int_as_numeric_make},
	{LAKE_LONG, INT2OID, VECTOR_I64, long_as_int2_rows, NULL},
	{LAKE_LONG, INT4OID, VECTOR_I64, long_as_int4_rows, NULL},
	{LAKE_LONG, INT8OID, VECTOR_I64, long_rows, NULL},
	{LAKE_LONG, NUMERICOID, VECTOR_I64, long_as_numeric_rows,
	long_as_numeric_make},
	{LAKE_FLOAT, FLOAT4OID, VECTOR_F32, float_rows, NULL},
	{LAKE_FLOAT, FLOAT8OID, VECTOR_F32, float_as_float8_rows, NULL},
	{LAKE_DOUBLE, FLOAT8OID, VECTOR_F64, double_rows, NULL},
	/* the first of the two is taken up to precision 18 */
	{LAKE_DECIMAL, NUMERICOID, VECTOR_I64, decimal64_rows, decimal64_make},
	{LAKE_DECIMAL, NUMERICOID, VECTOR_I128, decimal128_rows, decimal128_make},
	{LAKE_DATE, DATEOID, VECTOR_I32, date_rows, NULL},
	{LAKE_DATE, TIMESTAMPOID, VECTOR_I32, date_as_timestamp_rows, NULL},
	{LAKE_TIME, TIMEOID, VECTOR_I64, time_rows, NULL},
	{LAKE_TIMESTAMP, TIMESTAMPOID, VECTOR_I64, timestamp_rows, NULL},
	{LAKE_TIMESTAMPTZ, TIMESTAMPTZOID, VECTOR_I64, timestamp_rows, NULL},
	{LAKE_TIMESTAMP_NS, TIMESTAMPOID, VECTOR_I64, timestamp_ns_rows, NULL},
	{LAKE_TIMESTAMPTZ_NS, TIMESTAMPTZOID, VECTOR_I64, timestamp_ns_rows, NULL},
	{LAKE_STRING, TEXTOID, VECTOR_BYTES, text_rows, text_make},
	{LAKE_STRING, VARCHAROID, VECTOR_BYTES, text_rows, text_make},
	{LAKE_STRING, BPCHAROID, VECTOR_BYTES, text_rows, text_make},
	{LAKE_UUID, UUIDOID, VECTOR_BYTES, uuid_rows, uuid_make},
	{LAKE_FIXED, BYTEAOID, VECTOR_BYTES, bytes_rows, bytes_make},
	{LAKE_BINARY, BYTEAOID, VECTOR_BYTES, bytes_rows, bytes_make},
};

static const ConverterKind *
find_kind(const LakeType *type, Oid oid)
{
	for (size_t i = 0; i < lengthof(converter_kinds); i++)
	{
		const ConverterKind *kind = &converter_kinds[i];

		if (kind->kind != type->kind || kind->oid != oid)
			continue;
		if (type->kind == LAKE_DECIMAL && type->precision > 18 &&
			kind->layout == VECTOR_I64)
			continue;
		return kind;
	}
	elog(ERROR, "no converter of lake type %d to type %u", type->kind, oid);
}

void
converter_init_scalar(ColumnConverter *converter, MemoryContext context, Oid base)
{
	const LakeType *type = converter->type;
	const ConverterKind *kind = find_kind(type, base);

	converter->layout = kind->layout;
	converter->convert = kind->convert;
	converter->make = kind->make;
	if (type->kind == LAKE_STRING && GetDatabaseEncoding() != PG_UTF8)
		converter->convert = made_rows;
	if (kind->layout == VECTOR_I64 && type->kind == LAKE_DECIMAL)
		converter->decimal_limit = (int64) decimal_power10(type->precision);
	if (kind->make != NULL)
		converter->dict_context =
			AllocSetContextCreate(context, "lake dictionary",
								  ALLOCSET_DEFAULT_SIZES);
}
