/*
 * The writing half of Thrift's compact protocol: only what the format's own
 * structures need, which have no maps, sets or doubles.
 */
#include "parquet/writer.h"

#include <string.h>

static void
put_zigzag(LakeBuffer *out, int64_t value)
{
	hybrid_write_varint(out, (uint64_t) value << 1 ^
						(value < 0 ? UINT64_MAX : 0));
}

static void
put_head(ThriftOutput *output, int32_t id, int type)
{
	int32_t		delta = id - output->last[output->depth];

	if (delta > 0 && delta < 16)
		buffer_append_byte(output->out, (uint8_t) (delta << 4 | type));
	else
	{
		buffer_append_byte(output->out, (uint8_t) type);
		put_zigzag(output->out, id);
	}
	output->last[output->depth] = id;
}

static void
put_binary(LakeBuffer *out, const void *data, size_t len)
{
	hybrid_write_varint(out, len);
	buffer_append(out, data, len);
}

void
thrift_write_bool(ThriftOutput *output, int32_t id, bool value)
{
	put_head(output, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void
thrift_write_byte(ThriftOutput *output, int32_t id, int8_t value)
{
	put_head(output, id, THRIFT_BYTE);
	buffer_append_byte(output->out, (uint8_t) value);
}

void
thrift_write_i32(ThriftOutput *output, int32_t id, int32_t value)
{
	put_head(output, id, THRIFT_I32);
	put_zigzag(output->out, value);
}

void
thrift_write_i64(ThriftOutput *output, int32_t id, int64_t value)
{
	put_head(output, id, THRIFT_I64);
	put_zigzag(output->out, value);
}

void
thrift_write_binary(ThriftOutput *output, int32_t id, const void *data,
					size_t len)
{
	put_head(output, id, THRIFT_BINARY);
	put_binary(output->out, data, len);
}

void
thrift_write_text(ThriftOutput *output, int32_t id, const char *text)
{
	thrift_write_binary(output, id, text, strlen(text));
}

void
thrift_write_list(ThriftOutput *output, int32_t id, int type, size_t count)
{
	put_head(output, id, THRIFT_LIST);
	if (count < 15)
		buffer_append_byte(output->out, (uint8_t) (count << 4 | (size_t) type));
	else
	{
		buffer_append_byte(output->out, (uint8_t) (0xf0 | type));
		hybrid_write_varint(output->out, count);
	}
}

void
thrift_add_struct(ThriftOutput *output)
{
	if (++output->depth == THRIFT_OUTPUT_DEPTH)
		lake_throw(LAKE_ERROR_INTERNAL, "Thrift structs are nested too deep");
	output->last[output->depth] = 0;
}

void
thrift_begin(ThriftOutput *output, int32_t id)
{
	put_head(output, id, THRIFT_STRUCT);
	thrift_add_struct(output);
}

void
thrift_end(ThriftOutput *output)
{
	buffer_append_byte(output->out, THRIFT_STOP);
	output->depth--;
}

void
thrift_write_empty(ThriftOutput *output, int32_t id)
{
	thrift_begin(output, id);
	thrift_end(output);
}

void
thrift_add_bool(ThriftOutput *output, bool value)
{
	buffer_append_byte(output->out, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void
thrift_add_integer(ThriftOutput *output, int64_t value)
{
	put_zigzag(output->out, value);
}

void
thrift_add_binary(ThriftOutput *output, const void *data, size_t len)
{
	put_binary(output->out, data, len);
}

void
thrift_add_text(ThriftOutput *output, const char *text)
{
	put_binary(output->out, text, strlen(text));
}
