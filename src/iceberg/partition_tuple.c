/*
 * Values of partition tuples: as they come out of Avro and go into it, as typed
 * scalars, and as bytes that tell partitions apart.
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

/* ---- writing ---- */

/* sign-extended to the size of the type */
static void
write_decimal(AvroWriter *avro, const LakeType *type, LakeInt128 decimal)
{
	size_t		size = avro_decimal_size(type->precision);
	uint8_t		bytes[16];

	if (!decimal_fits(decimal, type->precision))
		lake_throw(LAKE_ERROR_INTERNAL,
				   "partition value has more than %d digits", type->precision);
	for (size_t i = size; i-- > 0; decimal >>= 8)
		bytes[i] = (uint8_t) decimal;
	avro_write_fixed(avro, (LakeBytes) {bytes, size});
}

static void
write_fixed(AvroWriter *avro, LakeBytes bytes, size_t size)
{
	if (bytes.len != size)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "partition value has %zu bytes instead of %zu", bytes.len,
				   size);
	avro_write_fixed(avro, bytes);
}

void
partition_value_write(AvroWriter *avro, const PartitionField *field,
					  const LakeValue *value)
{
	const LakeType *type = field->result_type;

	avro_write_branch(avro, value->is_null ? 0 : 1);
	if (value->is_null)
		return;
	switch (type == NULL ? LAKE_UNKNOWN : type->kind)
	{
		case LAKE_BOOLEAN:
			avro_write_bool(avro, value->i != 0);
			return;
		case LAKE_INT:
		case LAKE_LONG:
		case LAKE_DATE:
		case LAKE_TIME:
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			avro_write_long(avro, value->i);
			return;
		case LAKE_FLOAT:
			avro_write_float(avro, (float) value->d);
			return;
		case LAKE_DOUBLE:
			avro_write_double(avro, value->d);
			return;
		case LAKE_DECIMAL:
			write_decimal(avro, type, value->decimal);
			return;
		case LAKE_UUID:
			write_fixed(avro, value->bytes, 16);
			return;
		case LAKE_FIXED:
			write_fixed(avro, value->bytes, (size_t) type->length);
			return;
		case LAKE_STRING:
		case LAKE_BINARY:
			avro_write_bytes(avro, value->bytes);
			return;
		default:
			lake_throw(LAKE_ERROR_INTERNAL,
					   "partition field \"%s\" has a value of no type",
					   field->name);
	}
}
