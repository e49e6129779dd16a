/*
 * Thrift's compact protocol.
 *
 * Property: measuring, skipping and reading a struct end at the same byte, and
 * no part of it is taken for the whole.
 *
 * Input: a struct.
 */
#include <stdlib.h>

#include "encode.h"
#include "parquet/parquet_int.h"
#include "seam_std.h"

static void walk_struct(ByteCursor *cursor);

/* nesting is bounded, since the struct was measured */
static void
walk_value(ByteCursor *cursor, const ThriftField *field)
{
	ThriftField element;
	uint32_t	count;

	switch (field->type)
	{
		case THRIFT_TRUE:
		case THRIFT_FALSE:
			thrift_bool(cursor, field);
			break;
		case THRIFT_BYTE:
		case THRIFT_I16:
		case THRIFT_I32:
		case THRIFT_I64:
			thrift_i64(cursor, field);
			break;
		case THRIFT_BINARY:
			thrift_binary(cursor, field);
			break;
		case THRIFT_LIST:
		case THRIFT_SET:
			count = thrift_list(cursor, field, &element);
			for (uint32_t i = 0; i < count; i++)
			{
				/* other than a field, a boolean has a byte here */
				if (element.type == THRIFT_TRUE ||
					element.type == THRIFT_FALSE)
					cursor_u8(cursor);
				else
					walk_value(cursor, &element);
			}
			break;
		case THRIFT_STRUCT:
			thrift_struct(cursor, field);
			walk_struct(cursor);
			break;
		default:
			thrift_skip(cursor, field);
			break;
	}
}

static void
walk_struct(ByteCursor *cursor)
{
	ThriftField field = {0};

	while (thrift_next(cursor, &field))
		walk_value(cursor, &field);
}

static void
run(const uint8_t *data, size_t size)
{
	static const ThriftField whole = {THRIFT_STRUCT, 1};
	ByteCursor	cursor;
	size_t		measured;
	size_t		part;

	cursor_init(&cursor, data, size, "struct");
	if (!thrift_measure_struct(&cursor, &measured))
		return;
	if (measured > size || cursor.pos != data)
		abort();
	thrift_skip(&cursor, &whole);
	if (cursor.pos != data + measured)
		abort();
	cursor_init(&cursor, data, measured - 1, "struct");
	if (thrift_measure_struct(&cursor, &part))
		abort();
	cursor_init(&cursor, data, size, "struct");
	walk_struct(&cursor);
	if (cursor.pos != data + measured)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		run(data, size);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
