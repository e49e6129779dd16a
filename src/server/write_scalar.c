/*
 * Scalar Datums to values of lake types: the reverse of convert_scalar.c.
 *
 * Exact or refused: what the lake type cannot hold is an error, though the
 * server's own casts would round or cut it.  One function a pair of types, which
 * a row calls for each of its columns, so the usual ones do little else than to
 * append.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/bits.h"
#include "base/decimal.h"
#include "server/writer_int.h"

#define DAYS_1970_TO_2000	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define USECS_1970_TO_2000	(DAYS_1970_TO_2000 * USECS_PER_DAY)

/* ---- errors ---- */

static const char *
type_text(const LakeType *type)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	return name_from_lake(lake_type_text(arena, type));
}

pg_noinline void
writer_throw_range(const char *name, const LakeType *type, const char *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value %s of column \"%s\" does not fit lake type %s",
					value, name, type_text(type))));
}

static pg_noinline void
throw_datetime(const DatumWriter *writer, const char *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
			 errmsg("value %s of column \"%s\" does not fit lake type %s",
					value, writer->name, type_text(writer->type))));
}

static pg_noinline void
throw_timestamp(const DatumWriter *writer, Timestamp value)
{
	Datum		text = DirectFunctionCall1(timestamp_out,
										   TimestampGetDatum(value));

	throw_datetime(writer, DatumGetCString(text));
}

/* ---- numbers ---- */

static void
write_bool(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	vector_append_bool(out, DatumGetBool(datum));
}

static void
write_int_from_int2(const DatumWriter *writer, Datum datum,
					VectorBuilder *out)
{
	vector_append_i32(out, DatumGetInt16(datum));
}

static void
write_int(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	vector_append_i32(out, DatumGetInt32(datum));
}

static void
write_long_from_int2(const DatumWriter *writer, Datum datum,
					 VectorBuilder *out)
{
	vector_append_i64(out, DatumGetInt16(datum));
}

static void
write_long_from_int4(const DatumWriter *writer, Datum datum,
					 VectorBuilder *out)
{
	vector_append_i64(out, DatumGetInt32(datum));
}

static void
write_long(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	vector_append_i64(out, DatumGetInt64(datum));
}

void
writer_put_integer(const char *name, const LakeType *type, int64 value,
				   VectorBuilder *out)
{
	if (type->kind == LAKE_LONG)
		vector_append_i64(out, value);
	else if (value >= PG_INT32_MIN && value <= PG_INT32_MAX)
		vector_append_i32(out, (int32) value);
	else
		writer_throw_range(name, type, psprintf(INT64_FORMAT, value));
}

static void
write_int_from_int8(const DatumWriter *writer, Datum datum,
					VectorBuilder *out)
{
	writer_put_integer(writer->name, writer->type, DatumGetInt64(datum), out);
}

/* integers that float8 holds are exact, others are none */
static void
write_int_from_float8(const DatumWriter *writer, Datum datum,
					  VectorBuilder *out)
{
	double		value = DatumGetFloat8(datum);

	if (!(value >= PG_INT32_MIN && value <= PG_INT32_MAX) ||
		value != floor(value))
		writer_throw_range(writer->name, writer->type,
						   DatumGetCString(DirectFunctionCall1(float8out,
															   datum)));
	vector_append_i32(out, (int32) value);
}

/* NaN fits every float, a payload of it is kept by nobody */
void
writer_put_float(const char *name, const LakeType *type, double value,
				 VectorBuilder *out)
{
	if (type->kind == LAKE_DOUBLE)
		vector_append_f64(out, value);
	else if ((float) value == value || isnan(value))
		vector_append_f32(out, (float) value);
	else
		writer_throw_range(name, type,
						   DatumGetCString(DirectFunctionCall1(float8out,
															   Float8GetDatum(value))));
}

static void
write_float(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	vector_append_f32(out, DatumGetFloat4(datum));
}

static void
write_float_from_float8(const DatumWriter *writer, Datum datum,
						VectorBuilder *out)
{
	writer_put_float(writer->name, writer->type, DatumGetFloat8(datum), out);
}

static void
write_double(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	vector_append_f64(out, DatumGetFloat8(datum));
}

static pg_noinline void
throw_numeric(const char *name, const LakeType *type, Numeric numeric)
{
	Datum		text = DirectFunctionCall1(numeric_out,
										   NumericGetDatum(numeric));

	writer_throw_range(name, type, DatumGetCString(text));
}

void
writer_put_numeric(const char *name, const LakeType *type, Numeric numeric,
				   VectorBuilder *out)
{
	LakeInt128	value = 0;
	bool		is_decimal = type->kind == LAKE_DECIMAL;

	if (numeric_to_scaled(numeric, is_decimal ? type->scale : 0,
						  &value) != VALUE_EXACT)
		throw_numeric(name, type, numeric);
	if (is_decimal)
	{
		if (!decimal_fits(value, type->precision))
			throw_numeric(name, type, numeric);
		if (type->precision <= 18)
			vector_append_i64(out, (int64) value);
		else
			vector_append_i128(out, value);
		return;
	}
	if (value < PG_INT64_MIN || value > PG_INT64_MAX)
		throw_numeric(name, type, numeric);
	writer_put_integer(name, type, (int64) value, out);
}

static void
write_numeric(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	writer_put_numeric(writer->name, writer->type, DatumGetNumeric(datum),
					   out);
}

/* up to 18 digits, usually in one or two groups of four */
static void
write_short_decimal(const DatumWriter *writer, Datum datum,
					VectorBuilder *out)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);
	int64		scaled;

	if (likely(numeric_to_scaled64(value, writer->type->scale, &scaled)) &&
		likely(scaled < writer->limit && scaled > -writer->limit))
		vector_append_i64(out, scaled);
	else
		write_numeric(writer, datum, out);
}

/* ---- dates and times ---- */

static void
write_date(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	DateADT		date = DatumGetDateADT(datum);

	if (unlikely(DATE_NOT_FINITE(date)))
		throw_datetime(writer, DATE_IS_NOBEGIN(date) ?
					   "-infinity" : "infinity");
	vector_append_i32(out, date + DAYS_1970_TO_2000);
}

static void
write_date_from_timestamp(const DatumWriter *writer, Datum datum,
						  VectorBuilder *out)
{
	Timestamp	timestamp = DatumGetTimestamp(datum);
	int64		days = bits_floor_div(timestamp, USECS_PER_DAY);

	if (TIMESTAMP_NOT_FINITE(timestamp) ||
		days * USECS_PER_DAY != timestamp)
		throw_timestamp(writer, timestamp);
	vector_append_i32(out, (int32) (days + DAYS_1970_TO_2000));
}

/* a day of the lake has no 24:00:00 */
static void
write_time(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	TimeADT		time = DatumGetTimeADT(datum);

	if (unlikely(time >= USECS_PER_DAY))
		throw_datetime(writer, "24:00:00");
	vector_append_i64(out, time);
}

static inline int64
unix_usecs(const DatumWriter *writer, Timestamp timestamp)
{
	int64		usecs;

	if (unlikely(TIMESTAMP_NOT_FINITE(timestamp) ||
				 pg_add_s64_overflow(timestamp, USECS_1970_TO_2000, &usecs)))
		throw_timestamp(writer, timestamp);
	return usecs;
}

static void
write_timestamp(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	vector_append_i64(out, unix_usecs(writer, DatumGetTimestamp(datum)));
}

static void
write_timestamp_ns(const DatumWriter *writer, Datum datum,
				   VectorBuilder *out)
{
	Timestamp	timestamp = DatumGetTimestamp(datum);
	int64		nanos;

	if (unlikely(pg_mul_s64_overflow(unix_usecs(writer, timestamp), 1000,
									 &nanos)))
		throw_timestamp(writer, timestamp);
	vector_append_i64(out, nanos);
}

/* ---- bytes ---- */

void
writer_put_text(const char *data, int len, VectorBuilder *out)
{
	const char *utf8 = pg_server_to_any(data, len, PG_UTF8);
	LakeBytes	bytes = {(const uint8 *) utf8, len};

	if (utf8 != data)
		bytes.len = strlen(utf8);
	vector_append_bytes(out, bytes);
}

static void
write_text(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	text	   *value = DatumGetTextPP(datum);

	writer_put_text(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), out);
}

static void
write_utf8(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	text	   *value = DatumGetTextPP(datum);
	LakeBytes	bytes = {
		(const uint8 *) VARDATA_ANY(value),
		VARSIZE_ANY_EXHDR(value)
	};

	vector_append_bytes(out, bytes);
}

/* the blanks that pad it mean nothing, as when it is cast to text */
static void
write_bpchar(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	BpChar	   *value = DatumGetBpCharPP(datum);
	char	   *data = VARDATA_ANY(value);

	writer_put_text(data, bpchartruelen(data, VARSIZE_ANY_EXHDR(value)), out);
}

static void
write_uuid(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	LakeBytes	bytes = {DatumGetUUIDP(datum)->data, UUID_LEN};

	vector_append_bytes(out, bytes);
}

void
writer_put_bytes(const char *name, const LakeType *type, LakeBytes bytes,
				 VectorBuilder *out)
{
	if (type->kind == LAKE_FIXED && bytes.len != (size_t) type->length)
		ereport(ERROR,
				(errcode(bytes.len > (size_t) type->length ?
						 ERRCODE_STRING_DATA_RIGHT_TRUNCATION :
						 ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("value of %zu bytes of column \"%s\" does not fit lake type %s",
						bytes.len, name, type_text(type))));
	vector_append_bytes(out, bytes);
}

static void
write_bytes(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	bytea	   *value = DatumGetByteaPP(datum);
	LakeBytes	bytes = {
		(const uint8 *) VARDATA_ANY(value),
		VARSIZE_ANY_EXHDR(value)
	};

	writer_put_bytes(writer->name, writer->type, bytes, out);
}

/* ---- which writer ---- */

static const struct
{
	LakeTypeKind kind;
	Oid			oid;
	WriteDatum	write;
}			writer_kinds[] = {
	{LAKE_BOOLEAN, BOOLOID, write_bool},
	{LAKE_INT, INT2OID, write_int_from_int2},
	{LAKE_INT, INT4OID, write_int},
	{LAKE_INT, INT8OID, write_int_from_int8},
	{LAKE_INT, FLOAT8OID, write_int_from_float8},
	{LAKE_INT, NUMERICOID, write_numeric},
	{LAKE_LONG, INT2OID, write_long_from_int2},
	{LAKE_LONG, INT4OID, write_long_from_int4},
	{LAKE_LONG, INT8OID, write_long},
	{LAKE_LONG, NUMERICOID, write_numeric},
	{LAKE_FLOAT, FLOAT4OID, write_float},
	{LAKE_FLOAT, FLOAT8OID, write_float_from_float8},
	{LAKE_DOUBLE, FLOAT8OID, write_double},
	{LAKE_DECIMAL, NUMERICOID, write_numeric},
	{LAKE_DATE, DATEOID, write_date},
	{LAKE_DATE, TIMESTAMPOID, write_date_from_timestamp},
	{LAKE_TIME, TIMEOID, write_time},
	{LAKE_TIMESTAMP, TIMESTAMPOID, write_timestamp},
	{LAKE_TIMESTAMPTZ, TIMESTAMPTZOID, write_timestamp},
	{LAKE_TIMESTAMP_NS, TIMESTAMPOID, write_timestamp_ns},
	{LAKE_TIMESTAMPTZ_NS, TIMESTAMPTZOID, write_timestamp_ns},
	{LAKE_STRING, TEXTOID, write_text},
	{LAKE_STRING, VARCHAROID, write_text},
	{LAKE_STRING, BPCHAROID, write_bpchar},
	{LAKE_UUID, UUIDOID, write_uuid},
	{LAKE_FIXED, BYTEAOID, write_bytes},
	{LAKE_BINARY, BYTEAOID, write_bytes},
};

void
datum_writer_init_scalar(DatumWriter *writer, Oid base)
{
	const LakeType *type = writer->type;

	for (size_t i = 0; i < lengthof(writer_kinds); i++)
	{
		if (writer_kinds[i].kind == type->kind &&
			writer_kinds[i].oid == base)
			writer->write = writer_kinds[i].write;
	}
	if (writer->write == NULL)
		elog(ERROR, "no writer of type %u to lake type %d", base, type->kind);
	if (writer->write == write_text && GetDatabaseEncoding() == PG_UTF8)
		writer->write = write_utf8;
	if (type->kind == LAKE_DECIMAL && type->precision <= 18)
	{
		writer->limit = (int64) decimal_power10(type->precision);
		writer->write = write_short_decimal;
	}
}
