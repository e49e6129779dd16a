/*
 * Thrift's compact protocol: what the reader takes and what it refuses.
 */
#include "parquet_build.h"
#include "unit.h"

static ByteCursor
cursor_over(const LakeBuffer *buffer)
{
	ByteCursor	cursor;

	cursor_init(&cursor, buffer->data, buffer->len, "test struct");
	return cursor;
}

static void
gives_fields_with_near_and_far_ids(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftWriter writer = {.out = &buffer};
	ThriftField field = {0};
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	thrift_put_int(&writer, 1, THRIFT_I32, -5);
	thrift_put_int(&writer, 16, THRIFT_I64, INT64_MIN);
	thrift_put_int(&writer, 300, THRIFT_I16, 7);
	thrift_put_bool(&writer, 2, true);
	thrift_put_bool(&writer, 3, false);
	thrift_put_binary(&writer, 4, "abc", 3);
	buffer_append_byte(&buffer, THRIFT_STOP);
	cursor = cursor_over(&buffer);
	CHECK(thrift_next(&cursor, &field));
	CHECK_INT(field.id, 1);
	CHECK_INT(thrift_i32(&cursor, &field), -5);
	CHECK(thrift_next(&cursor, &field));
	CHECK_INT(field.id, 16);
	CHECK_INT(thrift_i64(&cursor, &field), INT64_MIN);
	CHECK(thrift_next(&cursor, &field));
	CHECK_INT(field.id, 300);
	CHECK_INT(thrift_i32(&cursor, &field), 7);
	CHECK(thrift_next(&cursor, &field));
	CHECK_INT(field.id, 2);
	CHECK(thrift_bool(&cursor, &field));
	CHECK(thrift_next(&cursor, &field));
	CHECK(!thrift_bool(&cursor, &field));
	CHECK(thrift_next(&cursor, &field));
	CHECK_INT(thrift_binary(&cursor, &field).len, 3);
	CHECK(!thrift_next(&cursor, &field));
	CHECK_INT(cursor_left(&cursor), 0);
}

static void
reads_byte_as_signed(LakeArena *arena)
{
	static const uint8_t input[] = {0x13, 0xf8};
	ThriftField field = {0};
	ByteCursor	cursor;

	(void) arena;
	cursor_init(&cursor, input, sizeof input, "test struct");
	CHECK(thrift_next(&cursor, &field));
	CHECK_INT(thrift_i32(&cursor, &field), -8);
}

static void
refuses_number_that_does_not_fit(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftWriter writer = {.out = &buffer};
	ThriftField field = {0};
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	thrift_put_int(&writer, 1, THRIFT_I64, (int64_t) INT32_MAX + 1);
	cursor = cursor_over(&buffer);
	CHECK(thrift_next(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "out of range",
				 thrift_i32(&cursor, &field));
}

static void
refuses_value_of_another_type(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftWriter writer = {.out = &buffer};
	ThriftField field = {0};
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	thrift_put_binary(&writer, 9, "x", 1);
	cursor = cursor_over(&buffer);
	CHECK(thrift_next(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "field 9 of unexpected Thrift type binary",
				 thrift_i64(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "field 9", thrift_bool(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "field 9",
				 thrift_struct(&cursor, &field));
}

static void
refuses_count_beyond_input(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftWriter writer = {.out = &buffer};
	ThriftField field = {0};
	ThriftField element;
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	thrift_put_list(&writer, 1, THRIFT_I32, (size_t) 1 << 40);
	cursor = cursor_over(&buffer);
	CHECK(thrift_next(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends too early",
				 thrift_list(&cursor, &field, &element));
}

static void
refuses_binary_beyond_input(LakeArena *arena)
{
	static const uint8_t input[] = {0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 'x'};
	ThriftField field = {0};
	ByteCursor	cursor;

	(void) arena;
	cursor_init(&cursor, input, sizeof input, "test struct");
	CHECK(thrift_next(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends too early",
				 thrift_binary(&cursor, &field));
}

static void
refuses_field_id_out_of_range(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftField field = {0};
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	buffer_append_byte(&buffer, THRIFT_I32);
	encode_zigzag(&buffer, 40000);
	cursor = cursor_over(&buffer);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "impossible Thrift field id",
				 thrift_next(&cursor, &field));
}

/* a field with a value of every kind, and how many bytes it has */
static void
put_everything(LakeBuffer *buffer)
{
	ThriftWriter writer = {.out = buffer};
	static const uint8_t map[] = {2, THRIFT_I32 << 4 | THRIFT_TRUE, 2, 1, 4, 2};
	static const uint8_t zeros[16] = {0};

	thrift_begin_struct(&writer, 1);
	thrift_put_bool(&writer, 1, true);
	thrift_put_int(&writer, 2, THRIFT_I64, INT64_MAX);
	thrift_put_head(&writer, 3, THRIFT_DOUBLE);
	buffer_append(buffer, zeros, 8);
	thrift_put_list(&writer, 4, THRIFT_TRUE, 20);
	buffer_append(buffer, zeros, 16);
	buffer_append(buffer, zeros, 4);
	thrift_put_head(&writer, 5, THRIFT_MAP);
	buffer_append(buffer, map, sizeof map);
	thrift_put_head(&writer, 6, THRIFT_MAP);
	buffer_append_byte(buffer, 0);
	thrift_put_head(&writer, 7, THRIFT_UUID);
	buffer_append(buffer, zeros, 16);
	thrift_put_head(&writer, 8, THRIFT_BYTE);
	buffer_append_byte(buffer, 1);
	thrift_put_binary(&writer, 9, "text", 4);
	thrift_end_struct(&writer);
	buffer_append_byte(buffer, THRIFT_STOP);
}

static void
skips_values_of_every_type(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftField field = {0};
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	put_everything(&buffer);
	cursor = cursor_over(&buffer);
	CHECK(thrift_next(&cursor, &field));
	thrift_skip(&cursor, &field);
	CHECK_INT(cursor_left(&cursor), 1);
	CHECK(!thrift_next(&cursor, &field));
}

static void
measures_struct_only_when_it_is_whole(LakeArena *arena)
{
	LakeBuffer	buffer;
	size_t		size = 0;

	buffer_init(&buffer, arena);
	put_everything(&buffer);
	for (size_t len = 0; len < buffer.len; len++)
	{
		ByteCursor	cursor;

		cursor_init(&cursor, buffer.data, len, "test struct");
		CHECK(!thrift_measure_struct(&cursor, &size));
	}
	buffer_append_text(&buffer, "behind");
	{
		ByteCursor	cursor = cursor_over(&buffer);

		CHECK(thrift_measure_struct(&cursor, &size));
		CHECK_INT(size, buffer.len - 6);
		CHECK_INT(cursor_left(&cursor), buffer.len);
	}
}

static void
refuses_to_skip_deep_nesting(LakeArena *arena)
{
	LakeBuffer	buffer;
	ThriftField field = {0};
	ByteCursor	cursor;

	buffer_init(&buffer, arena);
	for (int i = 0; i < 100000; i++)
		buffer_append_byte(&buffer, 0x1c);
	cursor = cursor_over(&buffer);
	CHECK(thrift_next(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not valid Thrift",
				 thrift_skip(&cursor, &field));
}

static void
refuses_unknown_type(LakeArena *arena)
{
	static const uint8_t input[] = {0x1f, 0};
	ThriftField field = {0};
	ByteCursor	cursor;

	(void) arena;
	cursor_init(&cursor, input, sizeof input, "test struct");
	CHECK(thrift_next(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not valid Thrift",
				 thrift_skip(&cursor, &field));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "type unknown",
				 thrift_i32(&cursor, &field));
}

static const UnitTest tests[] = {
	UNIT(gives_fields_with_near_and_far_ids),
	UNIT(reads_byte_as_signed),
	UNIT(refuses_number_that_does_not_fit),
	UNIT(refuses_value_of_another_type),
	UNIT(refuses_count_beyond_input),
	UNIT(refuses_binary_beyond_input),
	UNIT(refuses_field_id_out_of_range),
	UNIT(skips_values_of_every_type),
	UNIT(measures_struct_only_when_it_is_whole),
	UNIT(refuses_to_skip_deep_nesting),
	UNIT(refuses_unknown_type)
};

UNIT_MAIN(tests)
