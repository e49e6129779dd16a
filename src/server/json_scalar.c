/*
 * Scalars as jsonb values: numbers exactly, everything that JSON has no notion
 * of as text.
 *
 * NaN and the infinities are the strings "NaN", "Infinity", "-Infinity"; dates
 * and times are ISO 8601 (a fraction without trailing zeros, +00:00 behind a
 * timestamp with time zone); bytes are hex as bytea shows them.  Values are
 * allocated in the current memory context.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/bits.h"
#include "base/text.h"
#include "server/server_int.h"

static void
set_text(JsonbValue *json, const char *text)
{
	json->type = jbvString;
	json->val.string.val = pstrdup(text);
	json->val.string.len = (int) strlen(text);
}

void
json_set_bool(JsonbValue *json, bool value)
{
	json->type = jbvBool;
	json->val.boolean = value;
}

void
json_set_integer(JsonbValue *json, int64 value)
{
	json->type = jbvNumeric;
	json->val.numeric = palloc(NUMERIC_BUILD64_SIZE);
	numeric_build64(json->val.numeric, value, 0);
}

void
json_set_decimal(JsonbValue *json, LakeInt128 value, int scale)
{
	json->type = jbvNumeric;
	json->val.numeric = palloc(NUMERIC_BUILD128_SIZE);
	numeric_build128(json->val.numeric, value, scale);
}

/* text is the shortest that reads back as the same float */
static void
set_float(JsonbValue *json, const char *text, double value)
{
	if (isnan(value))
		set_text(json, "NaN");
	else if (isinf(value))
		set_text(json, value > 0 ? "Infinity" : "-Infinity");
	else
	{
		json->type = jbvNumeric;
		json->val.numeric =
			DatumGetNumeric(DirectFunctionCall3(numeric_in,
												CStringGetDatum(text),
												ObjectIdGetDatum(InvalidOid),
												Int32GetDatum(-1)));
	}
}

void
json_set_float(JsonbValue *json, float value)
{
	char		text[FLOAT_SHORTEST_DECIMAL_LEN];

	float_to_shortest_decimal_buf(value, text);
	set_float(json, text, value);
}

void
json_set_double(JsonbValue *json, double value)
{
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(value, text);
	set_float(json, text, value);
}

/* borrows the bytes where the database's encoding allows it */
void
json_set_string(JsonbValue *json, LakeBytes text)
{
	const char *converted;

	text_check(text);
	if (text.len > JENTRY_OFFLENMASK)
		lake_throw(LAKE_ERROR_LIMIT,
				   "string of %zu bytes is too long for jsonb", text.len);
	json->type = jbvString;
	json->val.string.val = text.len == 0 ? "" : (char *) text.data;
	json->val.string.len = (int) text.len;
	if (text.len == 0 || GetDatabaseEncoding() == PG_UTF8)
		return;
	converted = pg_any_to_server((const char *) text.data, (int) text.len,
								 PG_UTF8);
	if (converted != (const char *) text.data)
	{
		json->val.string.val = (char *) converted;
		json->val.string.len = (int) strlen(converted);
	}
}

void
json_set_bytes(JsonbValue *json, LakeBytes bytes)
{
	char	   *hex;

	if (bytes.len > JENTRY_OFFLENMASK / 2 - 1)
		lake_throw(LAKE_ERROR_LIMIT,
				   "binary value of %zu bytes is too long for jsonb",
				   bytes.len);
	hex = palloc(bytes.len * 2 + 2);
	hex[0] = '\\';
	hex[1] = 'x';
	if (bytes.len > 0)
		hex_encode((const char *) bytes.data, bytes.len, hex + 2);
	json->type = jbvString;
	json->val.string.val = hex;
	json->val.string.len = (int) bytes.len * 2 + 2;
}

void
json_set_uuid(JsonbValue *json, const uint8 uuid[16])
{
	char		text[37];

	text_format_uuid(uuid, text);
	set_text(json, text);
}

static int
format_date(char *out, size_t size, int64 days)
{
	int64_t		year;
	int			month;
	int			day;

	text_civil_from_days(days, &year, &month, &day);
	return snprintf(out, size, "%s%04lld-%02d-%02d", year < 0 ? "-" : "",
					(long long) (year < 0 ? -year : year), month, day);
}

/* ticks since midnight, 10^digits a second */
static void
format_time(char *out, size_t size, int64 ticks, int digits)
{
	int64		unit = 1;
	int64		seconds;
	int			len;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	seconds = ticks / unit;
	len = snprintf(out, size, "%02d:%02d:%02d", (int) (seconds / 3600),
				   (int) (seconds / 60 % 60), (int) (seconds % 60));
	if (ticks % unit == 0)
		return;
	len += snprintf(out + len, size - len, ".%0*lld", digits,
					(long long) (ticks % unit));
	while (out[len - 1] == '0')
		out[--len] = '\0';
}

void
json_set_date(JsonbValue *json, int64 days)
{
	char		text[48];

	format_date(text, sizeof text, days);
	set_text(json, text);
}

void
json_set_time(JsonbValue *json, int64 usecs)
{
	char		text[48];

	if (usecs < 0 || usecs > USECS_PER_DAY)
		lake_throw(LAKE_ERROR_DATETIME,
				   "time of %lld microseconds is out of range",
				   (long long) usecs);
	format_time(text, sizeof text, usecs, 6);
	set_text(json, text);
}

void
json_set_timestamp(JsonbValue *json, int64 ticks, int digits, bool zone)
{
	int64		ticks_per_day = digits == 9 ?
		USECS_PER_DAY * 1000 : USECS_PER_DAY;
	int64		day = bits_floor_div(ticks, ticks_per_day);
	char		text[96];
	int			len;

	len = format_date(text, sizeof text, day);
	text[len++] = 'T';
	format_time(text + len, sizeof text - len, ticks - day * ticks_per_day,
				digits);
	set_text(json, zone ? psprintf("%s+00:00", text) : text);
}

static void
set_integer_value(JsonbValue *json, LakeTypeKind kind, int64 value)
{
	switch (kind)
	{
		case LAKE_BOOLEAN:
			json_set_bool(json, value != 0);
			break;
		case LAKE_DATE:
			json_set_date(json, value);
			break;
		case LAKE_TIME:
			json_set_time(json, value);
			break;
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
			json_set_timestamp(json, value, 6, kind == LAKE_TIMESTAMPTZ);
			break;
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			json_set_timestamp(json, value, 9, kind == LAKE_TIMESTAMPTZ_NS);
			break;
		default:
			json_set_integer(json, value);
			break;
	}
}

void
json_set_value(JsonbValue *json, const LakeType *type, const LakeValue *value)
{
	if (value->is_null)
	{
		json->type = jbvNull;
		return;
	}
	switch (type->kind)
	{
		case LAKE_FLOAT:
			json_set_float(json, (float) value->d);
			break;
		case LAKE_DOUBLE:
			json_set_double(json, value->d);
			break;
		case LAKE_DECIMAL:
			json_set_decimal(json, value->decimal, type->scale);
			break;
		case LAKE_STRING:
			json_set_string(json, value->bytes);
			break;
		case LAKE_UUID:
			json_set_uuid(json, value->bytes.data);
			break;
		case LAKE_FIXED:
		case LAKE_BINARY:
			json_set_bytes(json, value->bytes);
			break;
		default:
			set_integer_value(json, type->kind, value->i);
			break;
	}
}
