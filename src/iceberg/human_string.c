/*
 * Partition values as Java shows them to people: in file paths and in the
 * metadata table "manifests".
 *
 * Numbers follow Java's own toString, whose forms nobody else has: "1.0E10" of
 * a double, "1E-8" of a decimal, no seconds in a time that has none.
 */
#include "iceberg/iceberg_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/decimal.h"
#include "base/text.h"

#define MICROS_A_SECOND	INT64_C(1000000)
#define SECONDS_A_DAY	86400

/* the shortest digits, two at least, that read back as the same number */
static void
shortest_digits(double value, bool is_single, char *text, size_t size)
{
	for (int digits = 1; digits < 17; digits++)
	{
		double		back;

		snprintf(text, size, "%.*e", digits, value);
		back = strtod(text, NULL);
		if (back == value || (is_single && (float) back == (float) value))
			return;
	}
}

/* Double.toString and Float.toString; value is not negative */
static const char *
positive_float_text(LakeArena *arena, double value, bool is_single)
{
	char		text[40];
	char		digits[40];
	size_t		count = 0;
	int			exponent;
	int			point;

	shortest_digits(value, is_single, text, sizeof text);
	exponent = atoi(strchr(text, 'e') + 1);
	for (const char *c = text; *c != 'e'; c++)
	{
		if (*c != '.')
			digits[count++] = *c;
	}
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = '\0';
	if (value != 0 && (exponent < -3 || exponent >= 7))
		return lake_printf(arena, "%c.%sE%d", digits[0],
						   count > 1 ? digits + 1 : "0", exponent);
	if (exponent < 0)
		return lake_printf(arena, "0.%.*s%s", -exponent - 1, "000", digits);
	point = exponent + 1;
	if (count <= (size_t) point)
		return lake_printf(arena, "%s%.*s.0", digits, point - (int) count,
						   "0000000");
	return lake_printf(arena, "%.*s.%s", point, digits, digits + point);
}

static const char *
float_text(LakeArena *arena, double value, bool is_single)
{
	if (isnan(value))
		return "NaN";
	if (isinf(value))
		return value > 0 ? "Infinity" : "-Infinity";
	return lake_printf(arena, "%s%s", signbit(value) ? "-" : "",
					   positive_float_text(arena, fabs(value), is_single));
}

/* BigDecimal.toString */
static const char *
decimal_text(LakeArena *arena, LakeInt128 value, int scale)
{
	char		digits[48];
	const char *first = digits;
	char	   *text = lake_alloc_raw(arena, 48);
	const char *sign = "";
	int			exponent;

	decimal_format(value, 0, digits);
	if (*first == '-')
	{
		sign = "-";
		first++;
	}
	exponent = (int) strlen(first) - 1 - scale;
	if (exponent < -6)
		return lake_printf(arena, "%s%c%s%sE%d", sign, first[0],
						   first[1] == '\0' ? "" : ".", first + 1, exponent);
	decimal_format(value, scale, text);
	return text;
}

static const char *
base64_text(LakeArena *arena, LakeBytes bytes)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	"abcdefghijklmnopqrstuvwxyz0123456789+/";
	char	   *text = lake_alloc_raw(arena, bytes.len / 3 * 4 + 5);
	char	   *out = text;

	for (size_t i = 0; i < bytes.len; i += 3)
	{
		size_t		left = bytes.len - i;
		uint32_t	group = (uint32_t) bytes.data[i] << 16;

		if (left > 1)
			group |= (uint32_t) bytes.data[i + 1] << 8;
		if (left > 2)
			group |= bytes.data[i + 2];
		*out++ = letters[group >> 18];
		*out++ = letters[group >> 12 & 63];
		*out++ = left > 1 ? letters[group >> 6 & 63] : '=';
		*out++ = left > 2 ? letters[group & 63] : '=';
	}
	*out = '\0';
	return text;
}

/* "%04d-%02d-%02d", whose sign counts as one of the four */
static const char *
day_text(LakeArena *arena, int64_t days)
{
	int64_t		year;
	int			month;
	int			day;

	text_civil_from_days(days, &year, &month, &day);
	return lake_printf(arena, "%04" PRId64 "-%02d-%02d", year, month, day);
}

/* LocalTime.toString: seconds and groups of three digits if they are needed */
static const char *
time_text(LakeArena *arena, int64_t micros)
{
	int64_t		seconds = bits_floor_div(micros, MICROS_A_SECOND);
	int			fraction = (int) (micros - seconds * MICROS_A_SECOND);
	const char *minutes = lake_printf(arena, "%02" PRId64 ":%02" PRId64,
									  seconds / 3600, seconds / 60 % 60);
	int			second = (int) (seconds % 60);

	if (fraction % 1000 != 0)
		return lake_printf(arena, "%s:%02d.%06d", minutes, second, fraction);
	if (fraction != 0)
		return lake_printf(arena, "%s:%02d.%03d", minutes, second,
						   fraction / 1000);
	if (second != 0)
		return lake_printf(arena, "%s:%02d", minutes, second);
	return minutes;
}

/* ISO_LOCAL_DATE_TIME: years of more than four digits have a sign */
static const char *
timestamp_text(LakeArena *arena, int64_t ticks, int digits, bool zone)
{
	int64_t		unit = digits == 9 ? 1000 * MICROS_A_SECOND : MICROS_A_SECOND;
	int64_t		seconds = bits_floor_div(ticks, unit);
	int64_t		days = bits_floor_div(seconds, SECONDS_A_DAY);
	int			second = (int) (seconds - days * SECONDS_A_DAY);

	/* seconds * unit may lie outside of the range, but not the difference */
	int64_t		fraction = (int64_t) ((uint64_t) ticks -
									  (uint64_t) seconds * (uint64_t) unit);
	char		end[16] = "";
	int64_t		year;
	int			month;
	int			day;

	text_civil_from_days(days, &year, &month, &day);
	if (fraction != 0)
	{
		size_t		len = (size_t) snprintf(end, sizeof end, ".%0*" PRId64,
											digits, fraction);

		while (end[len - 1] == '0')
			end[--len] = '\0';
	}
	return lake_printf(arena, "%s%04" PRId64 "-%02d-%02dT%02d:%02d:%02d%s%s",
					   year < 0 ? "-" : year > 9999 ? "+" : "",
					   year < 0 ? -year : year, month, day, second / 3600,
					   second / 60 % 60, second % 60, end,
					   zone ? "+00:00" : "");
}

static const char *
plain_text(LakeArena *arena, const LakeType *type, const LakeValue *value)
{
	switch (type->kind)
	{
		case LAKE_DATE:
			return day_text(arena, value->i);
		case LAKE_TIME:
			return time_text(arena, value->i);
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
			return timestamp_text(arena, value->i, 6,
								  type->kind == LAKE_TIMESTAMPTZ);
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return timestamp_text(arena, value->i, 9,
								  type->kind == LAKE_TIMESTAMPTZ_NS);
		case LAKE_FLOAT:
		case LAKE_DOUBLE:
			return float_text(arena, value->d, type->kind == LAKE_FLOAT);
		case LAKE_DECIMAL:
			return decimal_text(arena, value->decimal, type->scale);
		case LAKE_FIXED:
		case LAKE_BINARY:
			return base64_text(arena, value->bytes);
		default:
			return lake_value_text(arena, type, value);
	}
}

const char *
iceberg_human_string(LakeArena *arena, const PartitionField *field,
					 const LakeValue *value)
{
	int64_t		days;
	int64_t		months;

	if (value->is_null)
		return "null";
	switch (field->transform.kind)
	{
		case TRANSFORM_VOID:
			return "null";
		case TRANSFORM_YEAR:
			return lake_printf(arena, "%04" PRId64, 1970 + value->i);
		case TRANSFORM_MONTH:
			months = bits_floor_div(value->i, 12);
			return lake_printf(arena, "%04" PRId64 "-%02d", 1970 + months,
							   (int) (value->i - months * 12) + 1);
		case TRANSFORM_DAY:
			return day_text(arena, value->i);
		case TRANSFORM_HOUR:
			days = bits_floor_div(value->i, 24);
			return lake_printf(arena, "%s-%02d", day_text(arena, days),
							   (int) (value->i - days * 24));
		default:
			return plain_text(arena, field->result_type, value);
	}
}
