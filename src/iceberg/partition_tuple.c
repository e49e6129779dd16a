/*
 * Values of partition tuples: as they come out of Avro, as typed scalars, and
 * as bytes that tell partitions apart.
 *
 * A tuple keeps the type that its column had when the manifest was written:
 * what was promoted since must still be the same value, and the same key.
 */
#include "iceberg/iceberg_int.h"

#include <math.h>

#include "base/decimal.h"
#include "base/text.h"

/* all NaNs are one value, but -0.0 is another than 0.0, as in Java's order */
static uint64_t
double_key(double value)
{
	uint64_t	bits;

	if (isnan(value))
		return UINT64_C(0x7ff8000000000000);
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* a wider decimal has more bytes for the same value */
static bool
decimal_key(const LakeType *type, LakeBytes bytes, LakeBuffer *key)
{
	LakeInt128	decimal;

	if (type == NULL || type->kind != LAKE_DECIMAL ||
		!decimal_from_bytes(bytes.data, bytes.len, &decimal))
		return false;
	buffer_append_byte(key, 'd');
	buffer_append(key, &decimal, sizeof decimal);
	return true;
}

void
partition_value_key(const PartitionField *field, const AvroSlot *slot,
					LakeBuffer *key)
{
	uint64_t	number;

	if (slot == NULL)
	{
		buffer_append_byte(key, 'n');
		return;
	}
	switch (slot->kind)
	{
		case AVRO_BYTES:
			if (decimal_key(field->result_type, slot->bytes, key))
				break;
			number = slot->bytes.len;
			buffer_append_byte(key, 'b');
			buffer_append(key, &number, sizeof number);
			buffer_append(key, slot->bytes.data, slot->bytes.len);
			break;
		case AVRO_FLOAT:
		case AVRO_DOUBLE:
			number = double_key(slot->d);
			buffer_append_byte(key, 'f');
			buffer_append(key, &number, sizeof number);
			break;
		case AVRO_BOOL:
		case AVRO_INT:
			buffer_append_byte(key, 'i');
			buffer_append(key, &slot->i, sizeof slot->i);
			break;
		case AVRO_NULL:
		case AVRO_LIST:
			lake_throw(LAKE_ERROR_CORRUPT,
					   "value of partition field \"%s\" is a list",
					   field->name);
	}
}

static bool
set_bytes(LakeArena *arena, const LakeType *type, LakeBytes bytes,
		  LakeValue *value)
{
	uint8_t    *copy;

	switch (type->kind)
	{
		case LAKE_DECIMAL:
			return decimal_from_bytes(bytes.data, bytes.len,
									  &value->decimal) &&
				decimal_fits(value->decimal, type->precision);
		case LAKE_UUID:
			if (bytes.len == 16)
				break;
			/* some writers have it as text */
			copy = lake_alloc(arena, 16);
			value->bytes.data = copy;
			value->bytes.len = 16;
			return text_parse_uuid((const char *) bytes.data, bytes.len,
								   copy);
		case LAKE_FIXED:
			if (bytes.len != (size_t) type->length)
				return false;
			break;
		case LAKE_STRING:
		case LAKE_BINARY:
			break;
		default:
			return false;
	}
	value->bytes.data = (const uint8_t *)
		lake_strndup(arena, (const char *) bytes.data, bytes.len);
	value->bytes.len = bytes.len;
	return true;
}

static bool
set_integer(const LakeType *type, int64_t number, LakeValue *value)
{
	value->i = number;
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			return number == 0 || number == 1;
		case LAKE_INT:
		case LAKE_DATE:
			return number >= INT32_MIN && number <= INT32_MAX;
		case LAKE_LONG:
		case LAKE_TIME:
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return true;
		default:
			return false;
	}
}

/* false when the slot cannot be a value of type */
static bool
set_value(LakeArena *arena, const LakeType *type, const AvroSlot *slot,
		  LakeValue *value)
{
	switch (slot->kind)
	{
		case AVRO_BOOL:
		case AVRO_INT:
			return set_integer(type, slot->i, value);
		case AVRO_FLOAT:
		case AVRO_DOUBLE:
			value->d = slot->d;
			return type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE;
		case AVRO_BYTES:
			return set_bytes(arena, type, slot->bytes, value);
		case AVRO_NULL:
		case AVRO_LIST:
			break;
	}
	return false;
}

void
partition_value_read(LakeArena *arena, const PartitionField *field,
					 const AvroSlot *slot, LakeValue *value)
{
	const LakeType *type = field->result_type;

	value->is_null = slot == NULL || type == NULL;
	if (!value->is_null && !set_value(arena, type, slot, value))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "value of partition field \"%s\" is no %s", field->name,
				   lake_type_text(arena, type));
}
