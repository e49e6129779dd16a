/*
 * The reading half of Thrift's compact protocol.
 *
 * Every element of every collection takes at least one byte, so counts are
 * bounded by the input that is left and no count is believed beyond it.
 * Measuring a value works without throwing, because a page header may reach
 * past the bytes that are in memory.
 */
#include "parquet/parquet_int.h"

#include "base/bits.h"

/* nesting of skipped values; the deepest structure of the format has 6 */
#define MAX_SKIP_DEPTH	32

static const char *const type_names[] = {
	"stop", "true", "false", "byte", "i16", "i32", "i64", "double", "binary",
	"list", "set", "map", "struct", "uuid"
};

static _Noreturn void
throw_type(const ByteCursor *cursor, const ThriftField *field)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "%s has a field %d of unexpected Thrift type %s",
			   cursor->what, field->id,
			   field->type < (int) (sizeof type_names / sizeof type_names[0])
			   ? type_names[field->type] : "unknown");
}

bool
thrift_next(ByteCursor *cursor, ThriftField *field)
{
	uint8_t		byte = cursor_u8(cursor);
	int64_t		id;

	field->type = byte & 0x0f;
	if (field->type == THRIFT_STOP)
		return false;
	if (byte >> 4 != 0)
		id = (int64_t) field->id + (byte >> 4);
	else
		id = cursor_zigzag(cursor);
	if (id < INT16_MIN || id > INT16_MAX)
		lake_throw(LAKE_ERROR_CORRUPT, "%s has an impossible Thrift field id",
				   cursor->what);
	field->id = (int32_t) id;
	return true;
}

int64_t
thrift_i64(ByteCursor *cursor, const ThriftField *field)
{
	if (field->type == THRIFT_BYTE)
		return (int8_t) cursor_u8(cursor);
	if (field->type < THRIFT_I16 || field->type > THRIFT_I64)
		throw_type(cursor, field);
	return cursor_zigzag(cursor);
}

int32_t
thrift_i32(ByteCursor *cursor, const ThriftField *field)
{
	int64_t		value = thrift_i64(cursor, field);

	if (value < INT32_MIN || value > INT32_MAX)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "%s has a field %d out of range: %lld", cursor->what,
				   field->id, (long long) value);
	return (int32_t) value;
}

bool
thrift_bool(ByteCursor *cursor, const ThriftField *field)
{
	if (field->type != THRIFT_TRUE && field->type != THRIFT_FALSE)
		throw_type(cursor, field);
	return field->type == THRIFT_TRUE;
}

LakeBytes
thrift_binary(ByteCursor *cursor, const ThriftField *field)
{
	LakeBytes	bytes;
	uint64_t	len;

	if (field->type != THRIFT_BINARY)
		throw_type(cursor, field);
	len = cursor_varint(cursor);
	bytes.data = cursor_take(cursor, len);
	bytes.len = (size_t) len;
	return bytes;
}

void
thrift_struct(ByteCursor *cursor, const ThriftField *field)
{
	if (field->type != THRIFT_STRUCT)
		throw_type(cursor, field);
}

uint32_t
thrift_list(ByteCursor *cursor, const ThriftField *field,
			ThriftField *element)
{
	uint8_t		head;
	uint64_t	count;

	if (field->type != THRIFT_LIST && field->type != THRIFT_SET)
		throw_type(cursor, field);
	head = cursor_u8(cursor);
	count = head >> 4;
	if (count == 15)
		count = cursor_varint(cursor);
	if (count > cursor_left(cursor) || count > INT32_MAX)
		cursor_throw_truncated(cursor);
	element->id = field->id;
	element->type = head & 0x0f;
	return (uint32_t) count;
}

/* what a step over a value met */
typedef enum Step
{
	STEP_OK,
	STEP_TRUNCATED,
	STEP_BROKEN
} Step;

static Step
step_bytes(ByteCursor *cursor, uint64_t len)
{
	if (len > cursor_left(cursor))
		return STEP_TRUNCATED;
	cursor->pos += len;
	return STEP_OK;
}

static Step
step_varint(ByteCursor *cursor, uint64_t *value)
{
	*value = 0;
	for (int shift = 0; shift < 70; shift += 7)
	{
		uint8_t		byte;

		if (cursor->pos == cursor->end)
			return STEP_TRUNCATED;
		byte = *cursor->pos++;
		if (shift == 63 && byte > 1)
			return STEP_BROKEN;
		*value |= (uint64_t) (byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return STEP_OK;
	}
	return STEP_BROKEN;
}

static Step step_value(ByteCursor *cursor, int type, int depth);

/* an element of a collection; other than a field, a boolean has a byte */
static Step
step_element(ByteCursor *cursor, int type, int depth)
{
	if (type == THRIFT_TRUE || type == THRIFT_FALSE)
		return step_bytes(cursor, 1);
	return step_value(cursor, type, depth);
}

static Step
step_list(ByteCursor *cursor, int depth)
{
	Step		step;
	uint64_t	count;
	uint8_t		head;

	if (cursor->pos == cursor->end)
		return STEP_TRUNCATED;
	head = *cursor->pos++;
	count = head >> 4;
	if (count == 15 && (step = step_varint(cursor, &count)) != STEP_OK)
		return step;
	for (uint64_t i = 0; i < count; i++)
	{
		step = step_element(cursor, head & 0x0f, depth);
		if (step != STEP_OK)
			return step;
	}
	return STEP_OK;
}

static Step
step_map(ByteCursor *cursor, int depth)
{
	Step		step;
	uint64_t	count;
	uint8_t		types;

	step = step_varint(cursor, &count);
	if (step != STEP_OK || count == 0)
		return step;
	if (cursor->pos == cursor->end)
		return STEP_TRUNCATED;
	types = *cursor->pos++;
	for (uint64_t i = 0; i < count; i++)
	{
		step = step_element(cursor, types >> 4, depth);
		if (step == STEP_OK)
			step = step_element(cursor, types & 0x0f, depth);
		if (step != STEP_OK)
			return step;
	}
	return STEP_OK;
}

static Step
step_struct(ByteCursor *cursor, int depth)
{
	int64_t		id = 0;

	for (;;)
	{
		Step		step;
		uint64_t	number;
		uint8_t		head;

		if (cursor->pos == cursor->end)
			return STEP_TRUNCATED;
		head = *cursor->pos++;
		if ((head & 0x0f) == THRIFT_STOP)
			return STEP_OK;
		id += head >> 4;
		if (head >> 4 == 0)
		{
			step = step_varint(cursor, &number);
			if (step != STEP_OK)
				return step;
			id = bits_zigzag(number);
		}
		if (id < INT16_MIN || id > INT16_MAX)
			return STEP_BROKEN;
		step = step_value(cursor, head & 0x0f, depth);
		if (step != STEP_OK)
			return step;
	}
}

static Step
step_value(ByteCursor *cursor, int type, int depth)
{
	Step		step;
	uint64_t	number;

	if (depth >= MAX_SKIP_DEPTH)
		return STEP_BROKEN;
	switch (type)
	{
		case THRIFT_TRUE:
		case THRIFT_FALSE:
			return STEP_OK;
		case THRIFT_BYTE:
			return step_bytes(cursor, 1);
		case THRIFT_I16:
		case THRIFT_I32:
		case THRIFT_I64:
			return step_varint(cursor, &number);
		case THRIFT_DOUBLE:
			return step_bytes(cursor, 8);
		case THRIFT_BINARY:
			step = step_varint(cursor, &number);
			return step == STEP_OK ? step_bytes(cursor, number) : step;
		case THRIFT_LIST:
		case THRIFT_SET:
			return step_list(cursor, depth + 1);
		case THRIFT_MAP:
			return step_map(cursor, depth + 1);
		case THRIFT_STRUCT:
			return step_struct(cursor, depth + 1);
		case THRIFT_UUID:
			return step_bytes(cursor, 16);
		default:
			return STEP_BROKEN;
	}
}

static void
finish_step(const ByteCursor *cursor, Step step)
{
	if (step == STEP_TRUNCATED)
		cursor_throw_truncated(cursor);
	if (step == STEP_BROKEN)
		lake_throw(LAKE_ERROR_CORRUPT, "%s is not valid Thrift data",
				   cursor->what);
}

void
thrift_skip(ByteCursor *cursor, const ThriftField *field)
{
	finish_step(cursor, step_value(cursor, field->type, 0));
}

bool
thrift_is_struct(LakeBytes bytes)
{
	ByteCursor	cursor;

	cursor_init(&cursor, bytes.data, bytes.len, "Thrift struct");
	return step_struct(&cursor, 0) == STEP_OK;
}

bool
thrift_measure_struct(const ByteCursor *cursor, size_t *size)
{
	ByteCursor	probe = *cursor;
	Step		step = step_struct(&probe, 0);

	if (step == STEP_TRUNCATED)
		return false;
	finish_step(cursor, step);
	*size = (size_t) (probe.pos - cursor->pos);
	return true;
}
