/*
 * Typed scalars: their order, and the binary, JSON and readable forms.
 *
 * One table says for each kind which member of LakeValue is meant and how
 * large its single-value form is, so that no function lists all kinds again.
 */
#include "table/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/decimal.h"
#include "base/text.h"
#include "table/table_int.h"

#define MICROS_A_DAY	INT64_C(86400000000)

#define FIRST_SURROGATE 0xd800
#define LAST_SURROGATE	0xdfff
#define MAX_CODE_POINT	0x10ffff
#define MAX_CODE_POINT_SIZE 4

/* indexed by LakeTypeKind */
static const struct
{
	ValueForm	form;
	int8_t		bound_size;		/* bytes of the single-value form, 0 any */
	/* bytes of the form before a promotion, 0 none */
	int8_t		narrow_size;
	int8_t		second_digits;	/* of times: digits below a second */
}			kinds[] = {
	[LAKE_BOOLEAN] = {VALUE_INTEGER, 1, 0, 0},
	[LAKE_INT] = {VALUE_INTEGER, 4, 0, 0},
	[LAKE_LONG] = {VALUE_INTEGER, 8, 4, 0},
	[LAKE_FLOAT] = {VALUE_FLOAT, 4, 0, 0},
	[LAKE_DOUBLE] = {VALUE_FLOAT, 8, 4, 0},
	[LAKE_DECIMAL] = {VALUE_DECIMAL, 0, 0, 0},
	[LAKE_DATE] = {VALUE_INTEGER, 4, 0, 0},
	[LAKE_TIME] = {VALUE_INTEGER, 8, 0, 6},
	[LAKE_TIMESTAMP] = {VALUE_INTEGER, 8, 4, 6},
	[LAKE_TIMESTAMPTZ] = {VALUE_INTEGER, 8, 0, 6},
	[LAKE_TIMESTAMP_NS] = {VALUE_INTEGER, 8, 4, 9},
	[LAKE_TIMESTAMPTZ_NS] = {VALUE_INTEGER, 8, 0, 9},
	[LAKE_STRING] = {VALUE_BYTES, 0, 0, 0},
	[LAKE_UUID] = {VALUE_BYTES, 16, 0, 0},
	[LAKE_FIXED] = {VALUE_BYTES, 0, 0, 0},
	[LAKE_BINARY] = {VALUE_BYTES, 0, 0, 0},
	[LAKE_UNKNOWN] = {VALUE_NONE, 0, 0, 0},
	[LAKE_VARIANT] = {VALUE_NONE, 0, 0, 0},
	[LAKE_GEOMETRY] = {VALUE_NONE, 0, 0, 0},
	[LAKE_GEOGRAPHY] = {VALUE_NONE, 0, 0, 0},
	[LAKE_STRUCT] = {VALUE_NONE, 0, 0, 0},
	[LAKE_LIST] = {VALUE_NONE, 0, 0, 0},
	[LAKE_MAP] = {VALUE_NONE, 0, 0, 0},
};

ValueForm
value_form(const LakeType *type)
{
	return kinds[type->kind].form;
}

bool
lake_type_has_bytes(const LakeType *type)
{
	return value_form(type) == VALUE_BYTES;
}

/* NaN equal to itself and above all others, -0.0 = 0.0 */
static int
compare_doubles(double a, double b)
{
	if (isnan(a) || isnan(b))
		return (isnan(a) != 0) - (isnan(b) != 0);
	return (a > b) - (a < b);
}

int
value_compare_bytes(LakeBytes a, LakeBytes b)
{
	size_t		len = a.len < b.len ? a.len : b.len;
	int			order = len == 0 ? 0 : memcmp(a.data, b.data, len);

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

int
lake_value_compare(const LakeType *type, const LakeValue *a,
				   const LakeValue *b)
{
	switch (value_form(type))
	{
		case VALUE_INTEGER:
			return (a->i > b->i) - (a->i < b->i);
		case VALUE_FLOAT:
			return compare_doubles(a->d, b->d);
		case VALUE_DECIMAL:
			return (a->decimal > b->decimal) - (a->decimal < b->decimal);
		case VALUE_BYTES:
			return value_compare_bytes(a->bytes, b->bytes);
		case VALUE_NONE:
			break;
	}
	lake_throw(LAKE_ERROR_INTERNAL, "values of type kind %d have no order",
			   (int) type->kind);
}

static bool
integer_from_bound(const LakeType *type, LakeBytes bytes, LakeValue *value)
{
	int64_t		day = MICROS_A_DAY;

	if (bytes.len == 8)
		value->i = (int64_t) bits_load_u64le(bytes.data);
	else if (bytes.len == 4)
		value->i = (int32_t) bits_load_u32le(bytes.data);
	else
		value->i = bytes.data[0] != 0;

	/* a timestamp that was a date when the bound was written */
	if (bytes.len == 8 || (type->kind != LAKE_TIMESTAMP &&
						   type->kind != LAKE_TIMESTAMP_NS))
		return true;
	if (type->kind == LAKE_TIMESTAMP_NS)
		day *= 1000;
	return !__builtin_mul_overflow(value->i, day, &value->i);
}

static double
float_from_bound(LakeBytes bytes)
{
	double		wide;
	float		narrow;

	if (bytes.len == sizeof wide)
	{
		memcpy(&wide, bytes.data, sizeof wide);
		return wide;
	}
	memcpy(&narrow, bytes.data, sizeof narrow);
	return (double) narrow;
}

bool
lake_value_from_bound(const LakeType *type, LakeBytes bytes, LakeValue *value)
{
	size_t		size = (size_t) kinds[type->kind].bound_size;
	size_t		narrow = (size_t) kinds[type->kind].narrow_size;

	value->is_null = false;
	if (size > 0 && bytes.len != size && (narrow == 0 || bytes.len != narrow))
		return false;
	switch (kinds[type->kind].form)
	{
		case VALUE_INTEGER:
			return integer_from_bound(type, bytes, value);
		case VALUE_FLOAT:
			value->d = float_from_bound(bytes);
			return true;
		case VALUE_DECIMAL:
			return bytes.len > 0 &&
				decimal_from_bytes(bytes.data, bytes.len, &value->decimal) &&
				decimal_fits(value->decimal, type->precision);
		case VALUE_BYTES:
			value->bytes = bytes;
			/* some writers cut an upper bound inside of a character */
			if (type->kind == LAKE_STRING)
				return text_is_valid(bytes);
			return type->kind != LAKE_FIXED ||
				bytes.len == (size_t) type->length;
		case VALUE_NONE:
			break;
	}
	return false;
}

/* ---- bounds, written ---- */

LakeBytes
lake_value_to_bound(LakeArena *arena, const LakeType *type,
					const LakeValue *value)
{
	size_t		size = (size_t) kinds[type->kind].bound_size;
	uint8_t    *out = lake_alloc_raw(arena, 16);
	float		narrow = 0;

	switch (kinds[type->kind].form)
	{
		case VALUE_INTEGER:
			/* little-endian: its lowest bytes */
			memcpy(out, &value->i, size);
			return (LakeBytes) {out, size};
		case VALUE_FLOAT:
			narrow = (float) value->d;
			memcpy(out, size == sizeof narrow ? (const void *) &narrow :
				   (const void *) &value->d, size);
			return (LakeBytes) {out, size};
		case VALUE_DECIMAL:
			size = decimal_to_bytes(value->decimal, out);
			return (LakeBytes) {out, size};
		case VALUE_BYTES:
			/* a bound without data would be none */
			return value->bytes.len > 0 ? value->bytes : (LakeBytes) {out, 0};
		case VALUE_NONE:
			break;
	}
	lake_throw(LAKE_ERROR_INTERNAL, "values of type kind %d have no bounds",
			   (int) type->kind);
}

/*
 * The least text of no more code points that is above all that begin with this
 * prefix: the last code point that can be is incremented, and ends it.
 */
static bool
increment_text(LakeArena *arena, LakeBytes prefix, LakeBytes *result)
{
	uint8_t    *out = lake_alloc_raw(arena, prefix.len + MAX_CODE_POINT_SIZE);
	size_t		end = prefix.len;

	while (end > 0)
	{
		size_t		start = end - 1;
		uint32_t	code;

		while (start > 0 && (prefix.data[start] & 0xc0) == 0x80)
			start--;
		if (end - start > MAX_CODE_POINT_SIZE)
			return false;		/* this is no UTF-8 */
		code = text_code_point(prefix.data + start, end - start) + 1;
		if (code == FIRST_SURROGATE)
			code = LAST_SURROGATE + 1;
		if (code <= MAX_CODE_POINT)
		{
			memcpy(out, prefix.data, start);
			result->data = out;
			result->len = start + text_encode(code, out + start);
			return true;
		}
		end = start;
	}
	return false;
}

/* the same by bytes */
static bool
increment_bytes(LakeArena *arena, LakeBytes prefix, LakeBytes *result)
{
	uint8_t    *out;

	while (prefix.len > 0 && prefix.data[prefix.len - 1] == 0xff)
		prefix.len--;
	if (prefix.len == 0)
		return false;
	out = lake_alloc_raw(arena, prefix.len);
	memcpy(out, prefix.data, prefix.len);
	out[prefix.len - 1]++;
	result->data = out;
	result->len = prefix.len;
	return true;
}

bool
lake_value_truncate_bound(LakeArena *arena, const LakeType *type,
						  const LakeValue *value, int width, bool upper,
						  LakeValue *result)
{
	LakeBytes	prefix;

	*result = *value;
	if (type->kind != LAKE_STRING && type->kind != LAKE_BINARY)
		return true;
	prefix = value->bytes;
	if (type->kind == LAKE_STRING)
		prefix.len = text_prefix(prefix, (size_t) width);
	else if (prefix.len > (size_t) width)
		prefix.len = (size_t) width;
	if (prefix.len == value->bytes.len)
		return true;
	result->bytes = prefix;
	if (!upper)
		return true;
	return type->kind == LAKE_STRING ?
		increment_text(arena, prefix, &result->bytes) :
		increment_bytes(arena, prefix, &result->bytes);
}

/* ---- JSON ---- */

static _Noreturn void
throw_default(LakeArena *arena, const LakeType *type, LakeJson *json)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "a default of type %s has a JSON value that does not fit%s%s",
			   lake_type_text(arena, type),
			   json_kind(json) == JSON_STRING ? ": " : "",
			   json_kind(json) == JSON_STRING ?
			   (const char *) json_string(json, "default").data : "");
}

static bool
integer_from_json(const LakeType *type, LakeJson *json, int64_t *value)
{
	if (type->kind == LAKE_BOOLEAN)
	{
		if (json_kind(json) != JSON_BOOL)
			return false;
		*value = json_bool(json, "default");
		return true;
	}
	if (json_kind(json) != JSON_INT)
		return false;
	*value = json_int64(json, "default");
	return type->kind == LAKE_LONG || *value == (int32_t) *value;
}

/* dates, times and timestamps: text */
static bool
time_from_text(const LakeType *type, LakeBytes bytes, int64_t *value)
{
	const char *text = (const char *) bytes.data;
	int			digits = kinds[type->kind].second_digits;
	int32_t		days;

	switch (type->kind)
	{
		case LAKE_DATE:
			if (!text_parse_date(text, bytes.len, &days))
				return false;
			*value = days;
			return true;
		case LAKE_TIME:
			return text_parse_time(text, bytes.len, digits, value);
		default:
			return text_parse_timestamp(text, bytes.len, digits,
										type->kind == LAKE_TIMESTAMPTZ ||
										type->kind == LAKE_TIMESTAMPTZ_NS,
										value);
	}
}

static bool
bytes_from_text(LakeArena *arena, const LakeType *type, LakeBytes text,
				LakeBytes *value)
{
	uint8_t    *uuid;

	switch (type->kind)
	{
		case LAKE_STRING:
			*value = text;
			return text_is_valid(text);
		case LAKE_UUID:
			uuid = lake_alloc_raw(arena, 16);
			*value = (LakeBytes) {.data = uuid, .len = 16};
			return text_parse_uuid((const char *) text.data, text.len, uuid);
		default:
			return text_parse_hex(arena, (const char *) text.data, text.len,
								  value) &&
				(type->kind != LAKE_FIXED ||
				 value->len == (size_t) type->length);
	}
}

static bool
value_from_json(LakeArena *arena, const LakeType *type, LakeJson *json,
				LakeValue *value)
{
	JsonKind	kind = json_kind(json);
	ValueForm	form = value_form(type);
	LakeBytes	text;

	if (form == VALUE_INTEGER && (type->kind == LAKE_BOOLEAN ||
								  type->kind == LAKE_INT ||
								  type->kind == LAKE_LONG))
		return integer_from_json(type, json, &value->i);
	if (form == VALUE_FLOAT)
	{
		if (kind != JSON_INT && kind != JSON_DOUBLE)
			return false;
		value->d = json_double(json, "default");
		if (type->kind == LAKE_FLOAT)
			value->d = (double) (float) value->d;
		return isfinite(value->d);
	}
	if (kind != JSON_STRING || form == VALUE_NONE)
		return false;
	text = json_string(json, "default");
	if (form == VALUE_DECIMAL)
		return decimal_parse((const char *) text.data, text.len, type->scale,
							 &value->decimal) &&
			decimal_fits(value->decimal, type->precision);
	if (form == VALUE_INTEGER)
		return time_from_text(type, text, &value->i);
	return bytes_from_text(arena, type, text, &value->bytes);
}

void
lake_value_from_json(LakeArena *arena, const LakeType *type, LakeJson *json,
					 LakeValue *value)
{
	memset(value, 0, sizeof *value);
	if (json == NULL)
		value->is_null = true;
	else if (!value_from_json(arena, type, json, value))
		throw_default(arena, type, json);
}

/* "2017-11-16", with the year as PostgreSQL shows it; BC comes at the end */
static const char *
date_text(LakeArena *arena, int64_t days, bool *is_bc)
{
	int64_t		year;
	int			month;
	int			day;

	text_civil_from_days(days, &year, &month, &day);
	*is_bc = year <= 0;
	return lake_printf(arena, "%04" PRId64 "-%02d-%02d",
					   year <= 0 ? 1 - year : year, month, day);
}

/* "22:31:08.123456", without trailing zeros */
static const char *
time_text(LakeArena *arena, int64_t value, int digits)
{
	int64_t		unit = digits == 9 ? 1000000000 : 1000000;
	int64_t		second = bits_floor_div(value, unit);
	int64_t		fraction = value - second * unit;
	char	   *text = lake_printf(arena, "%02" PRId64 ":%02d:%02d.%0*" PRId64,
								   second / 3600, (int) (second / 60 % 60),
								   (int) (second % 60), digits, fraction);
	size_t		len = strlen(text);

	while (text[len - 1] == '0' && fraction != 0)
		len--;
	if (fraction == 0)
		len -= (size_t) digits + 1;
	text[len] = '\0';
	return text;
}

static const char *
timestamp_text(LakeArena *arena, const LakeType *type, int64_t value)
{
	int			digits = kinds[type->kind].second_digits;
	int64_t		day = MICROS_A_DAY * (digits == 9 ? 1000 : 1);
	int64_t		days = bits_floor_div(value, day);
	bool		is_bc;
	bool		has_zone = type->kind == LAKE_TIMESTAMPTZ ||
		type->kind == LAKE_TIMESTAMPTZ_NS;
	const char *date = date_text(arena, days, &is_bc);

	/* days * day may lie outside of the range, but not the difference */
	int64_t		time = (int64_t) ((uint64_t) value -
								  (uint64_t) days * (uint64_t) day);

	return lake_printf(arena, "%s %s%s%s", date,
					   time_text(arena, time, digits),
					   has_zone ? "+00" : "", is_bc ? " BC" : "");
}

/* the shortest digits that read back as the same number */
static const char *
float_text(LakeArena *arena, double value, bool is_single)
{
	char	   *text = NULL;

	if (isnan(value))
		return "NaN";
	if (isinf(value))
		return value > 0 ? "Infinity" : "-Infinity";
	for (int digits = is_single ? 6 : 15; digits <= 17; digits++)
	{
		double		back;

		text = lake_printf(arena, "%.*g", digits, value);
		back = strtod(text, NULL);
		if (back == value ||
			(is_single && (double) (float) back == value))
			break;
	}
	return text;
}

static const char *
hex_text(LakeArena *arena, LakeBytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	char	   *text = lake_alloc_raw(arena, 2 * bytes.len + 3);
	char	   *pos = text;

	*pos++ = '\\';
	*pos++ = 'x';
	for (size_t i = 0; i < bytes.len; i++)
	{
		*pos++ = digits[bytes.data[i] >> 4];
		*pos++ = digits[bytes.data[i] & 15];
	}
	*pos = '\0';
	return text;
}

static const char *
integer_text(LakeArena *arena, const LakeType *type, int64_t value)
{
	bool		is_bc;
	const char *date;

	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			return value != 0 ? "true" : "false";
		case LAKE_DATE:
			date = date_text(arena, value, &is_bc);
			return is_bc ? lake_printf(arena, "%s BC", date) : date;
		case LAKE_TIME:
			return time_text(arena, value, kinds[type->kind].second_digits);
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return timestamp_text(arena, type, value);
		default:
			return lake_printf(arena, "%" PRId64, value);
	}
}

const char *
lake_value_text(LakeArena *arena, const LakeType *type,
				const LakeValue *value)
{
	char	   *text;

	if (value->is_null)
		return "NULL";
	switch (value_form(type))
	{
		case VALUE_INTEGER:
			return integer_text(arena, type, value->i);
		case VALUE_FLOAT:
			return float_text(arena, value->d, type->kind == LAKE_FLOAT);
		case VALUE_DECIMAL:
			text = lake_alloc_raw(arena, 48);
			decimal_format(value->decimal, type->scale, text);
			return text;
		case VALUE_BYTES:
			if (type->kind == LAKE_STRING)
				return lake_strndup(arena, (const char *) value->bytes.data,
									value->bytes.len);
			if (type->kind == LAKE_UUID && value->bytes.len == 16)
			{
				text = lake_alloc_raw(arena, 37);
				text_format_uuid(value->bytes.data, text);
				return text;
			}
			return hex_text(arena, value->bytes);
		case VALUE_NONE:
			break;
	}
	return "?";
}
