/*
 * The variant binary encoding as jsonb.
 *
 * Parquet format, VariantEncoding.md.  Values of objects and arrays are found
 * by offsets, which a hostile writer can make overlap so that a few hundred
 * bytes stand for terabytes.  An honest encoding spends bytes of its own on
 * each value: so every value visited is charged its size, and the sum may not
 * exceed the size of the whole.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/decimal.h"
#include "server/server_int.h"

#define VARIANT_VERSION		1
#define VARIANT_MAX_DEPTH	1000

typedef enum BasicType
{
	BASIC_PRIMITIVE,
	BASIC_SHORT_STRING,
	BASIC_OBJECT,
	BASIC_ARRAY
} BasicType;

typedef enum PrimitiveType
{
	PRIMITIVE_NULL,
	PRIMITIVE_TRUE,
	PRIMITIVE_FALSE,
	PRIMITIVE_INT8,
	PRIMITIVE_INT16,
	PRIMITIVE_INT32,
	PRIMITIVE_INT64,
	PRIMITIVE_DOUBLE,
	PRIMITIVE_DECIMAL4,
	PRIMITIVE_DECIMAL8,
	PRIMITIVE_DECIMAL16,
	PRIMITIVE_DATE,
	PRIMITIVE_TIMESTAMPTZ,
	PRIMITIVE_TIMESTAMP,
	PRIMITIVE_FLOAT,
	PRIMITIVE_BINARY,
	PRIMITIVE_STRING,
	PRIMITIVE_TIME,
	PRIMITIVE_TIMESTAMPTZ_NS,
	PRIMITIVE_TIMESTAMP_NS,
	PRIMITIVE_UUID
} PrimitiveType;

typedef struct Variant
{
	JsonbParseState **state;
	/* the dictionary of object keys */
	const uint8 *key_offsets;
	uint32		key_offset_size;
	uint32		key_count;
	LakeBytes	key_bytes;
	size_t		budget;			/* bytes that values may still be charged */
	int			depth;
} Variant;

/* a little-endian integer of 1 to 4 bytes */
static uint32
load_uint(const uint8 *data, uint32 size)
{
	uint32		value = 0;

	for (uint32 i = 0; i < size; i++)
		value |= (uint32) data[i] << 8 * i;
	return value;
}

/* a little-endian two's complement integer of 1 to 16 bytes */
static LakeInt128
take_int(ByteCursor *cursor, uint32 size)
{
	const uint8 *data = cursor_take(cursor, size);
	uint8		big_endian[16];
	LakeInt128	value;

	for (uint32 i = 0; i < size; i++)
		big_endian[i] = data[size - 1 - i];
	(void) decimal_from_bytes(big_endian, size, &value);
	return value;
}

static void
read_metadata(Variant *variant, LakeBytes metadata)
{
	ByteCursor	cursor;
	uint8		header;
	uint32		size;

	cursor_init(&cursor, metadata.data, metadata.len, "variant metadata");
	header = cursor_u8(&cursor);
	if ((header & 0x0f) != VARIANT_VERSION)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "variant encoding version %d is not supported",
				   header & 0x0f);
	size = (header >> 6) + 1;
	variant->key_offset_size = size;
	variant->key_count = load_uint(cursor_take(&cursor, size), size);
	variant->key_offsets = cursor_take(&cursor,
									   ((uint64) variant->key_count + 1) * size);
	variant->key_bytes.data = cursor.pos;
	variant->key_bytes.len = cursor_left(&cursor);
}

static LakeBytes
find_key(const Variant *variant, uint32 id)
{
	uint32		size = variant->key_offset_size;
	LakeBytes	key;
	uint32		start;
	uint32		end;

	if (id >= variant->key_count)
		lake_throw(LAKE_ERROR_CORRUPT, "variant has no key %u", id);
	start = load_uint(variant->key_offsets + (size_t) id * size, size);
	end = load_uint(variant->key_offsets + ((size_t) id + 1) * size, size);
	if (start > end || end > variant->key_bytes.len)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "variant key %u is outside of its metadata", id);
	key.data = variant->key_bytes.data + start;
	key.len = end - start;
	return key;
}

static void
set_decimal(JsonbValue *json, ByteCursor *cursor, uint32 size)
{
	uint8		scale = cursor_u8(cursor);

	if (scale > DECIMAL_MAX_PRECISION)
		lake_throw(LAKE_ERROR_CORRUPT, "variant decimal has scale %u", scale);
	json_set_decimal(json, take_int(cursor, size), scale);
}

static LakeBytes
take_bytes(ByteCursor *cursor, uint32 len)
{
	LakeBytes	bytes;

	bytes.data = cursor_take(cursor, len);
	bytes.len = len;
	return bytes;
}

static void
set_primitive(JsonbValue *json, ByteCursor *cursor, PrimitiveType type)
{
	uint64		bits64;
	uint32		bits32;
	double		float8;
	float		float4;

	switch (type)
	{
		case PRIMITIVE_NULL:
			json->type = jbvNull;
			break;
		case PRIMITIVE_TRUE:
		case PRIMITIVE_FALSE:
			json_set_bool(json, type == PRIMITIVE_TRUE);
			break;
		case PRIMITIVE_INT8:
		case PRIMITIVE_INT16:
		case PRIMITIVE_INT32:
		case PRIMITIVE_INT64:
			json_set_integer(json, (int64) take_int(cursor, 1U <<
													(type - PRIMITIVE_INT8)));
			break;
		case PRIMITIVE_DOUBLE:
			bits64 = cursor_u64le(cursor);
			memcpy(&float8, &bits64, sizeof float8);
			json_set_double(json, float8);
			break;
		case PRIMITIVE_DECIMAL4:
		case PRIMITIVE_DECIMAL8:
		case PRIMITIVE_DECIMAL16:
			set_decimal(json, cursor, 4U << (type - PRIMITIVE_DECIMAL4));
			break;
		case PRIMITIVE_DATE:
			json_set_date(json, (int32) cursor_u32le(cursor));
			break;
		case PRIMITIVE_TIMESTAMPTZ:
		case PRIMITIVE_TIMESTAMP:
			json_set_timestamp(json, (int64) cursor_u64le(cursor), 6,
							   type == PRIMITIVE_TIMESTAMPTZ);
			break;
		case PRIMITIVE_FLOAT:
			bits32 = cursor_u32le(cursor);
			memcpy(&float4, &bits32, sizeof float4);
			json_set_float(json, float4);
			break;
		case PRIMITIVE_BINARY:
			json_set_bytes(json, take_bytes(cursor, cursor_u32le(cursor)));
			break;
		case PRIMITIVE_STRING:
			json_set_string(json, take_bytes(cursor, cursor_u32le(cursor)));
			break;
		case PRIMITIVE_TIME:
			json_set_time(json, (int64) cursor_u64le(cursor));
			break;
		case PRIMITIVE_TIMESTAMPTZ_NS:
		case PRIMITIVE_TIMESTAMP_NS:
			json_set_timestamp(json, (int64) cursor_u64le(cursor), 9,
							   type == PRIMITIVE_TIMESTAMPTZ_NS);
			break;
		case PRIMITIVE_UUID:
			json_set_uuid(json, cursor_take(cursor, 16));
			break;
		default:
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "variant primitive type %d is not supported", type);
	}
}

static void
charge(Variant *variant, size_t size)
{
	if (size > variant->budget)
		lake_throw(LAKE_ERROR_CORRUPT, "variant values overlap");
	variant->budget -= size;
}

static JsonbValue *push_at(Variant *variant, LakeBytes values, uint32 offset,
						   JsonbIteratorToken token);

/* the offsets and values of an object or array; count was read before */
typedef struct Children
{
	uint32		count;
	uint32		offset_size;
	const uint8 *offsets;		/* count + 1 */
	LakeBytes	values;
} Children;

static void
read_children(Children *children, ByteCursor *cursor, uint32 offset_size)
{
	children->offset_size = offset_size;
	children->offsets = cursor_take(cursor,
									((uint64) children->count + 1) * offset_size);
	children->values.data = cursor->pos;
	children->values.len = cursor_left(cursor);
}

static void
push_child(Variant *variant, const Children *children, uint32 index,
		   JsonbIteratorToken token)
{
	uint32		size = children->offset_size;

	push_at(variant, children->values,
			load_uint(children->offsets + (size_t) index * size, size), token);
}

static JsonbValue *
push_object(Variant *variant, ByteCursor *cursor, uint8 header)
{
	const uint8 *start = cursor->pos;
	uint32		count_size = header & 0x10 ? 4 : 1;
	uint32		id_size = (header >> 2 & 3) + 1;
	Children	children;
	const uint8 *ids;

	children.count = load_uint(cursor_take(cursor, count_size), count_size);
	ids = cursor_take(cursor, (uint64) children.count * id_size);
	read_children(&children, cursor, (header & 3) + 1);
	charge(variant, cursor->pos - start);

	pushJsonbValue(variant->state, WJB_BEGIN_OBJECT, NULL);
	for (uint32 i = 0; i < children.count; i++)
	{
		JsonbValue	key;

		json_set_string(&key,
						find_key(variant, load_uint(ids + (size_t) i * id_size,
													id_size)));
		pushJsonbValue(variant->state, WJB_KEY, &key);
		push_child(variant, &children, i, WJB_VALUE);
	}
	return pushJsonbValue(variant->state, WJB_END_OBJECT, NULL);
}

static JsonbValue *
push_array(Variant *variant, ByteCursor *cursor, uint8 header)
{
	const uint8 *start = cursor->pos;
	uint32		count_size = header & 0x04 ? 4 : 1;
	Children	children;

	children.count = load_uint(cursor_take(cursor, count_size), count_size);
	read_children(&children, cursor, (header & 3) + 1);
	charge(variant, cursor->pos - start);

	pushJsonbValue(variant->state, WJB_BEGIN_ARRAY, NULL);
	for (uint32 i = 0; i < children.count; i++)
		push_child(variant, &children, i, WJB_ELEM);
	return pushJsonbValue(variant->state, WJB_END_ARRAY, NULL);
}

static JsonbValue *
push_scalar(Variant *variant, ByteCursor *cursor, BasicType basic,
			uint8 header, JsonbIteratorToken token)
{
	const uint8 *start = cursor->pos;
	JsonbValue *json = palloc0(sizeof *json);

	if (basic == BASIC_SHORT_STRING)
		json_set_string(json, take_bytes(cursor, header));
	else
		set_primitive(json, cursor, header);
	charge(variant, cursor->pos - start);
	return *variant->state == NULL ? json :
		pushJsonbValue(variant->state, token, json);
}

static JsonbValue *
push_at(Variant *variant, LakeBytes values, uint32 offset,
		JsonbIteratorToken token)
{
	ByteCursor	cursor;
	uint8		first;
	JsonbValue *result;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (++variant->depth > VARIANT_MAX_DEPTH)
		lake_throw(LAKE_ERROR_LIMIT, "variant is nested deeper than %d levels",
				   VARIANT_MAX_DEPTH);
	cursor_init(&cursor, values.data, values.len, "variant");
	(void) cursor_take(&cursor, offset);
	first = cursor_u8(&cursor);
	charge(variant, 1);
	switch ((BasicType) (first & 3))
	{
		case BASIC_OBJECT:
			result = push_object(variant, &cursor, first >> 2);
			break;
		case BASIC_ARRAY:
			result = push_array(variant, &cursor, first >> 2);
			break;
		default:
			result = push_scalar(variant, &cursor, first & 3, first >> 2,
								 token);
	}
	variant->depth--;
	return result;
}

JsonbValue *
variant_push(JsonbParseState **state, JsonbIteratorToken token,
			 LakeBytes metadata, LakeBytes value)
{
	Variant		variant = {.state = state, .budget = value.len};

	read_metadata(&variant, metadata);
	return push_at(&variant, value, 0, token);
}
