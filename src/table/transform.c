/*
 * Partition transforms: names, result types, values.
 */
#include "table/transform.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bits.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/text.h"
#include "table/table_int.h"

#define SECONDS_AN_HOUR	3600
#define SECONDS_A_DAY	86400

static const struct
{
	const char *name;
	TransformKind kind;
	bool		has_parameter;
}			transforms[] = {
	{"identity", TRANSFORM_IDENTITY, false},
	{"bucket", TRANSFORM_BUCKET, true},
	{"truncate", TRANSFORM_TRUNCATE, true},
	{"year", TRANSFORM_YEAR, false},
	{"month", TRANSFORM_MONTH, false},
	{"day", TRANSFORM_DAY, false},
	{"hour", TRANSFORM_HOUR, false},
	{"void", TRANSFORM_VOID, false},
};

/* "[16]" at text; false unless it is a positive int32 */
static bool
parse_parameter(const char *text, int32_t *parameter)
{
	int64_t		value = 0;

	if (*text++ != '[')
		return false;
	if (*text == ']')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
	{
		value = value * 10 + (*text - '0');
		if (value > INT32_MAX)
			return false;
	}
	if (strcmp(text, "]") != 0 || value == 0)
		return false;
	*parameter = (int32_t) value;
	return true;
}

LakeTransform
transform_parse(LakeArena *arena, const char *text)
{
	LakeTransform transform = {.kind = TRANSFORM_UNKNOWN};

	transform.text = lake_strdup(arena, text);
	for (size_t i = 0; i < sizeof transforms / sizeof transforms[0]; i++)
	{
		size_t		len = strlen(transforms[i].name);

		if (strncasecmp(text, transforms[i].name, len) == 0 &&
			(transforms[i].has_parameter ?
			 parse_parameter(text + len, &transform.parameter) :
			 text[len] == '\0'))
			transform.kind = transforms[i].kind;
	}
	return transform;
}

/* what a transform takes */
static bool
is_timestamp(LakeTypeKind kind)
{
	return kind == LAKE_TIMESTAMP || kind == LAKE_TIMESTAMPTZ ||
		kind == LAKE_TIMESTAMP_NS || kind == LAKE_TIMESTAMPTZ_NS;
}

static bool
takes(TransformKind transform, const LakeType *source)
{
	LakeTypeKind kind = source->kind;

	switch (transform)
	{
		case TRANSFORM_IDENTITY:
			return value_form(source) != VALUE_NONE;
		case TRANSFORM_BUCKET:
			return value_form(source) != VALUE_NONE &&
				value_form(source) != VALUE_FLOAT && kind != LAKE_BOOLEAN;
		case TRANSFORM_TRUNCATE:
			return kind == LAKE_INT || kind == LAKE_LONG ||
				kind == LAKE_DECIMAL || kind == LAKE_STRING ||
				kind == LAKE_BINARY;
		case TRANSFORM_YEAR:
		case TRANSFORM_MONTH:
		case TRANSFORM_DAY:
			return kind == LAKE_DATE || is_timestamp(kind);
		case TRANSFORM_HOUR:
			return is_timestamp(kind);
		case TRANSFORM_VOID:
			return true;
		case TRANSFORM_UNKNOWN:
			break;
	}
	return false;
}

const LakeType *
transform_result_type(LakeArena *arena, const LakeTransform *transform,
					  const LakeType *source)
{
	LakeType   *type;

	if (!takes(transform->kind, source))
		return NULL;
	switch (transform->kind)
	{
		case TRANSFORM_IDENTITY:
		case TRANSFORM_TRUNCATE:
		case TRANSFORM_VOID:
			return source;
		default:
			break;
	}
	type = lake_alloc(arena, sizeof *type);
	/* a day is stored as an int and shown as a date */
	type->kind = transform->kind == TRANSFORM_DAY ? LAKE_DATE : LAKE_INT;
	return type;
}

static int32_t
hash_value(const LakeType *source, const LakeValue *value)
{
	uint8_t		decimal[16];
	int64_t		integer = value->i;

	switch (value_form(source))
	{
		case VALUE_DECIMAL:
			return hash_murmur3(decimal,
								decimal_to_bytes(value->decimal, decimal), 0);
		case VALUE_BYTES:
			return hash_murmur3(value->bytes.data, value->bytes.len, 0);
		default:
			break;
	}
	/* int and date count as 64 bits, nanoseconds as microseconds */
	if (source->kind == LAKE_TIMESTAMP_NS ||
		source->kind == LAKE_TIMESTAMPTZ_NS)
		integer = bits_floor_div(integer, 1000);
	return hash_murmur3(&integer, sizeof integer, 0);
}

/* value - (value mod width), wrapping as Java does next to the minimum */
static void
truncate_value(const LakeType *source, int32_t width, const LakeValue *value,
			   LakeValue *result)
{
	LakeInt128	rest;
	uint64_t	floor;

	switch (source->kind)
	{
		case LAKE_DECIMAL:
			rest = value->decimal % width;
			result->decimal = value->decimal - rest - (rest < 0 ? width : 0);
			break;
		case LAKE_STRING:
			result->bytes.data = value->bytes.data;
			result->bytes.len = text_prefix(value->bytes, (size_t) width);
			break;
		case LAKE_BINARY:
			result->bytes = value->bytes;
			if (result->bytes.len > (size_t) width)
				result->bytes.len = (size_t) width;
			break;
		default:
			floor = (uint64_t) bits_floor_div(value->i, width) *
				(uint64_t) width;
			result->i = source->kind == LAKE_INT ?
				(int32_t) (uint32_t) floor : (int64_t) floor;
			break;
	}
}

/* units of a timestamp type in a second */
static int64_t
units_a_second(const LakeType *source)
{
	return source->kind == LAKE_TIMESTAMP_NS ||
		source->kind == LAKE_TIMESTAMPTZ_NS ? 1000000000 : 1000000;
}

static int64_t
days_of(const LakeType *source, int64_t value)
{
	if (source->kind == LAKE_DATE)
		return value;
	return bits_floor_div(value, units_a_second(source) * SECONDS_A_DAY);
}

static int64_t
year_or_month(TransformKind kind, int64_t days)
{
	int64_t		year;
	int			month;
	int			day;

	text_civil_from_days(days, &year, &month, &day);
	return kind == TRANSFORM_YEAR ? year - 1970 :
		(year - 1970) * 12 + month - 1;
}

void
transform_apply(const LakeTransform *transform, const LakeType *source,
				const LakeValue *value, LakeValue *result)
{
	LakeValue	input = *value;

	memset(result, 0, sizeof *result);
	result->is_null = input.is_null || transform->kind == TRANSFORM_VOID;
	if (result->is_null)
		return;
	if (!takes(transform->kind, source))
		lake_throw(LAKE_ERROR_INTERNAL,
				   "transform \"%s\" cannot be applied to type kind %d",
				   transform->text, (int) source->kind);
	switch (transform->kind)
	{
		case TRANSFORM_IDENTITY:
			*result = input;
			break;
		case TRANSFORM_BUCKET:
			result->i = (hash_value(source, &input) & INT32_MAX) %
				transform->parameter;
			break;
		case TRANSFORM_TRUNCATE:
			truncate_value(source, transform->parameter, &input, result);
			break;
		case TRANSFORM_YEAR:
		case TRANSFORM_MONTH:
			result->i = year_or_month(transform->kind,
									  days_of(source, input.i));
			break;
		case TRANSFORM_DAY:
			result->i = days_of(source, input.i);
			break;
		case TRANSFORM_HOUR:
			result->i = bits_floor_div(input.i, units_a_second(source) *
									   SECONDS_AN_HOUR);
			break;
		case TRANSFORM_VOID:
		case TRANSFORM_UNKNOWN:
			break;
	}
}

bool
partition_spec_is_unpartitioned(const LakePartitionSpec *spec)
{
	for (int i = 0; i < spec->field_count; i++)
	{
		if (spec->fields[i].transform.kind != TRANSFORM_VOID)
			return false;
	}
	return true;
}
