/*
 * Literals of pushed comparisons as values of a field's lake type.
 *
 * A literal may be of a wider type than the column (int8 beside an int4 column,
 * numeric beside bigint, float8 beside float4), so that it need not be a value
 * of the column's type; then where it lies among those values is told.  The
 * order is PostgreSQL's: NaN and infinity above all numbers.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "base/bits.h"
#include "base/decimal.h"
#include "server/server_int.h"

#define DAYS_1970_TO_2000	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define USECS_1970_TO_2000	(DAYS_1970_TO_2000 * USECS_PER_DAY)

typedef ValueFit (*FromDatum) (LakeArena *arena, const LakeType *type,
							   Datum datum, LakeValue *value);

static ValueFit
from_bool(LakeArena *arena, const LakeType *type, Datum datum,
		  LakeValue *value)
{
	value->i = DatumGetBool(datum);
	return VALUE_EXACT;
}

/* ---- integers ---- */

/* an integer, or the floor of a number, as int or long */
static ValueFit
fit_integer(const LakeType *type, LakeInt128 number, ValueFit fit,
			LakeValue *value)
{
	bool		is_int = type->kind == LAKE_INT;
	int64		least = is_int ? PG_INT32_MIN : PG_INT64_MIN;
	int64		greatest = is_int ? PG_INT32_MAX : PG_INT64_MAX;

	if (number < least)
		return VALUE_BELOW;
	if (number > greatest || (number == greatest && fit == VALUE_BETWEEN))
		return VALUE_ABOVE;
	value->i = (int64) number;
	return fit;
}

static ValueFit
integer_from_int2(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	return fit_integer(type, DatumGetInt16(datum), VALUE_EXACT, value);
}

static ValueFit
integer_from_int4(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	return fit_integer(type, DatumGetInt32(datum), VALUE_EXACT, value);
}

static ValueFit
integer_from_int8(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	return fit_integer(type, DatumGetInt64(datum), VALUE_EXACT, value);
}

static ValueFit
integer_from_numeric(LakeArena *arena, const LakeType *type, Datum datum,
					 LakeValue *value)
{
	LakeInt128	number = 0;
	ValueFit	fit = numeric_to_scaled(DatumGetNumeric(datum), 0, &number);

	if (fit == VALUE_BELOW || fit == VALUE_ABOVE)
		return fit;
	return fit_integer(type, number, fit, value);
}

/*
 * An int column beside a float8: the server compares as float8, which holds
 * every int exactly.  (It does not hold every bigint: those are not compared.)
 */
static ValueFit
integer_from_float8(LakeArena *arena, const LakeType *type, Datum datum,
					LakeValue *value)
{
	double		number = DatumGetFloat8(datum);
	double		lower = floor(number);

	if (isnan(number) || number > PG_INT32_MAX)
		return VALUE_ABOVE;
	if (number < PG_INT32_MIN)
		return VALUE_BELOW;
	return fit_integer(type, (int64) lower,
					   lower == number ? VALUE_EXACT : VALUE_BETWEEN, value);
}

/* ---- floats ---- */

static ValueFit
double_from_float4(LakeArena *arena, const LakeType *type, Datum datum,
				   LakeValue *value)
{
	value->d = DatumGetFloat4(datum);
	return VALUE_EXACT;
}

static ValueFit
double_from_float8(LakeArena *arena, const LakeType *type, Datum datum,
				   LakeValue *value)
{
	value->d = DatumGetFloat8(datum);
	return VALUE_EXACT;
}

/* a float column beside a float8: the server compares as float8 */
static ValueFit
float_from_float8(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	double		number = DatumGetFloat8(datum);
	float		nearest;

	if (isnan(number) || isinf(number))
	{
		value->d = number;
		return VALUE_EXACT;
	}
	if (number > FLT_MAX || number < -FLT_MAX)
	{
		value->d = number > 0 ? FLT_MAX : -INFINITY;
		return VALUE_BETWEEN;
	}
	nearest = (float) number;
	if (nearest == number)
	{
		value->d = nearest;
		return VALUE_EXACT;
	}
	value->d = nearest < number ? nearest : nextafterf(nearest, -INFINITY);
	return VALUE_BETWEEN;
}

/* ---- decimals ---- */

static ValueFit
fit_decimal(const LakeType *type, LakeInt128 scaled, ValueFit fit,
			LakeValue *value)
{
	LakeInt128	limit = decimal_power10(type->precision);

	if (scaled <= -limit)
		return VALUE_BELOW;
	if (scaled >= limit || (scaled == limit - 1 && fit == VALUE_BETWEEN))
		return VALUE_ABOVE;
	value->decimal = scaled;
	return fit;
}

static ValueFit
decimal_from_integer(const LakeType *type, int64 number, LakeValue *value)
{
	LakeInt128	limit = decimal_power10(DECIMAL_MAX_PRECISION - type->scale);

	if (number >= limit)
		return VALUE_ABOVE;
	if (number <= -limit)
		return VALUE_BELOW;
	return fit_decimal(type, number * decimal_power10(type->scale),
					   VALUE_EXACT, value);
}

static ValueFit
decimal_from_int2(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	return decimal_from_integer(type, DatumGetInt16(datum), value);
}

static ValueFit
decimal_from_int4(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	return decimal_from_integer(type, DatumGetInt32(datum), value);
}

static ValueFit
decimal_from_int8(LakeArena *arena, const LakeType *type, Datum datum,
				  LakeValue *value)
{
	return decimal_from_integer(type, DatumGetInt64(datum), value);
}

static ValueFit
decimal_from_numeric(LakeArena *arena, const LakeType *type, Datum datum,
					 LakeValue *value)
{
	LakeInt128	scaled = 0;
	ValueFit	fit = numeric_to_scaled(DatumGetNumeric(datum), type->scale,
										&scaled);

	if (fit == VALUE_BELOW || fit == VALUE_ABOVE)
		return fit;
	return fit_decimal(type, scaled, fit, value);
}

/* ---- dates and times ---- */

static ValueFit
date_from_date(LakeArena *arena, const LakeType *type, Datum datum,
			   LakeValue *value)
{
	DateADT		date = DatumGetDateADT(datum);

	if (DATE_IS_NOBEGIN(date))
		return VALUE_BELOW;
	if (DATE_IS_NOEND(date))
		return VALUE_ABOVE;
	value->i = (int64) date + DAYS_1970_TO_2000;
	return VALUE_EXACT;
}

/* the server compares a date as midnight of its day */
static ValueFit
date_from_timestamp(LakeArena *arena, const LakeType *type, Datum datum,
					LakeValue *value)
{
	Timestamp	timestamp = DatumGetTimestamp(datum);
	int64		day;

	if (TIMESTAMP_IS_NOBEGIN(timestamp))
		return VALUE_BELOW;
	if (TIMESTAMP_IS_NOEND(timestamp))
		return VALUE_ABOVE;
	day = bits_floor_div(timestamp, USECS_PER_DAY);
	value->i = day + DAYS_1970_TO_2000;
	return day * USECS_PER_DAY == timestamp ? VALUE_EXACT : VALUE_BETWEEN;
}

static ValueFit
time_from_time(LakeArena *arena, const LakeType *type, Datum datum,
			   LakeValue *value)
{
	value->i = DatumGetTimeADT(datum);
	return VALUE_EXACT;
}

/* timestamp and timestamptz alike: microseconds of one epoch or the other */
static ValueFit
timestamp_from_timestamp(LakeArena *arena, const LakeType *type, Datum datum,
						 LakeValue *value)
{
	Timestamp	timestamp = DatumGetTimestamp(datum);

	if (TIMESTAMP_IS_NOBEGIN(timestamp))
		return VALUE_BELOW;
	if (TIMESTAMP_IS_NOEND(timestamp))
		return VALUE_ABOVE;
	if (pg_add_s64_overflow(timestamp, USECS_1970_TO_2000, &value->i))
		return VALUE_ABOVE;
	return VALUE_EXACT;
}

static ValueFit
timestamp_from_date(LakeArena *arena, const LakeType *type, Datum datum,
					LakeValue *value)
{
	ValueFit	fit = date_from_date(arena, type, datum, value);

	if (fit != VALUE_EXACT)
		return fit;
	if (pg_mul_s64_overflow(value->i, USECS_PER_DAY, &value->i))
		return DatumGetDateADT(datum) < 0 ? VALUE_BELOW : VALUE_ABOVE;
	return VALUE_EXACT;
}

/* ---- bytes ---- */

static void
copy_bytes(LakeArena *arena, const void *data, size_t len, LakeValue *value)
{
	value->bytes.data = (const uint8 *) lake_strndup(arena, data, len);
	value->bytes.len = len;
}

static ValueFit
string_from_text(LakeArena *arena, const LakeType *type, Datum datum,
				 LakeValue *value)
{
	text	   *string = DatumGetTextPP(datum);
	int			len = VARSIZE_ANY_EXHDR(string);
	const char *utf8 = pg_server_to_any(VARDATA_ANY(string), len, PG_UTF8);

	if (utf8 != VARDATA_ANY(string))
		len = (int) strlen(utf8);
	copy_bytes(arena, utf8, len, value);
	return VALUE_EXACT;
}

static ValueFit
uuid_from_uuid(LakeArena *arena, const LakeType *type, Datum datum,
			   LakeValue *value)
{
	copy_bytes(arena, DatumGetUUIDP(datum)->data, UUID_LEN, value);
	return VALUE_EXACT;
}

static ValueFit
bytes_from_bytea(LakeArena *arena, const LakeType *type, Datum datum,
				 LakeValue *value)
{
	bytea	   *bytes = DatumGetByteaPP(datum);

	copy_bytes(arena, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), value);
	return VALUE_EXACT;
}

/*
 * The pairs that always have an answer.  Not among them: bigint beside float8
 * and decimal beside float8 (compared as float8, which rounds), date beside
 * timestamptz and timestamp beside timestamptz (depend on TimeZone), nanosecond
 * timestamps (the server sees them rounded), char(n) (trailing spaces).
 */
static const struct
{
	LakeTypeKind kind;
	Oid			oid;
	FromDatum	convert;
}			pairs[] = {
	{LAKE_BOOLEAN, BOOLOID, from_bool},
	{LAKE_INT, INT2OID, integer_from_int2},
	{LAKE_INT, INT4OID, integer_from_int4},
	{LAKE_INT, INT8OID, integer_from_int8},
	{LAKE_INT, NUMERICOID, integer_from_numeric},
	{LAKE_INT, FLOAT8OID, integer_from_float8},
	{LAKE_LONG, INT2OID, integer_from_int2},
	{LAKE_LONG, INT4OID, integer_from_int4},
	{LAKE_LONG, INT8OID, integer_from_int8},
	{LAKE_LONG, NUMERICOID, integer_from_numeric},
	{LAKE_FLOAT, FLOAT4OID, double_from_float4},
	{LAKE_FLOAT, FLOAT8OID, float_from_float8},
	{LAKE_DOUBLE, FLOAT4OID, double_from_float4},
	{LAKE_DOUBLE, FLOAT8OID, double_from_float8},
	{LAKE_DECIMAL, INT2OID, decimal_from_int2},
	{LAKE_DECIMAL, INT4OID, decimal_from_int4},
	{LAKE_DECIMAL, INT8OID, decimal_from_int8},
	{LAKE_DECIMAL, NUMERICOID, decimal_from_numeric},
	{LAKE_DATE, DATEOID, date_from_date},
	{LAKE_DATE, TIMESTAMPOID, date_from_timestamp},
	{LAKE_TIME, TIMEOID, time_from_time},
	{LAKE_TIMESTAMP, TIMESTAMPOID, timestamp_from_timestamp},
	{LAKE_TIMESTAMP, DATEOID, timestamp_from_date},
	{LAKE_TIMESTAMPTZ, TIMESTAMPTZOID, timestamp_from_timestamp},
	{LAKE_STRING, TEXTOID, string_from_text},
	{LAKE_UUID, UUIDOID, uuid_from_uuid},
	{LAKE_FIXED, BYTEAOID, bytes_from_bytea},
	{LAKE_BINARY, BYTEAOID, bytes_from_bytea},
};

static FromDatum
find_pair(const LakeType *type, Oid type_oid)
{
	for (size_t i = 0; i < lengthof(pairs); i++)
	{
		if (pairs[i].kind == type->kind && pairs[i].oid == type_oid)
			return pairs[i].convert;
	}
	return NULL;
}

bool
value_is_comparable(const LakeType *type, Oid type_oid)
{
	return find_pair(type, type_oid) != NULL;
}

ValueFit
value_from_datum(LakeArena *arena, const LakeType *type, Oid type_oid,
				 Datum datum, LakeValue *value)
{
	FromDatum	convert = find_pair(type, type_oid);

	memset(value, 0, sizeof *value);
	return convert == NULL ? VALUE_UNKNOWN : convert(arena, type, datum,
													 value);
}
