/*
 * Container files, written: records are encoded into a block, which is
 * compressed and handed on when it is large enough.
 *
 * The schema is the caller's word: nothing here compares it with what is
 * appended, which is why only our own manifests are written so.
 *
 * Avro specification, "Object Container Files", "Binary Encoding".
 */
#include "avro/avro.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

#define SYNC_SIZE	16
/* a block ends with the record that reaches it; before compression */
#define BLOCK_SIZE	((size_t) 64 << 10)
#define MAX_VARINT	10

struct AvroWriter
{
	LakeOutput *output;
	LakeCodec	codec;
	int32_t		level;
	CodecContext *context;
	uint8_t		sync[SYNC_SIZE];
	LakeBuffer	block;			/* encoded records */
	uint64_t	records;		/* in the block */
	LakeBuffer	compressed;
	LakeBuffer	framed;			/* what is about to be written */
};

static void
put_long(LakeBuffer *out, int64_t value)
{
	uint64_t	left = (uint64_t) value << 1 ^ (value < 0 ? UINT64_MAX : 0);
	uint8_t    *pos;

	buffer_reserve(out, MAX_VARINT);
	pos = out->data + out->len;
	for (; left >= 0x80; left >>= 7)
		*pos++ = (uint8_t) (left | 0x80);
	*pos++ = (uint8_t) left;
	out->len = (size_t) (pos - out->data);
}

static void
put_bytes(LakeBuffer *out, const void *data, size_t len)
{
	put_long(out, (int64_t) len);
	buffer_append(out, data, len);
}

static void
put_text(LakeBuffer *out, const char *text)
{
	put_bytes(out, text, strlen(text));
}

static void
write_header(AvroWriter *writer, const char *schema,
			 const char *const *header, int header_count)
{
	LakeBuffer *out = &writer->framed;

	buffer_append(out, "Obj\x01", 4);
	put_long(out, header_count + 2);
	put_text(out, "avro.schema");
	put_text(out, schema);
	put_text(out, "avro.codec");
	put_text(out, codec_avro_name(writer->codec));
	for (int i = 0; i < 2 * header_count; i++)
		put_text(out, header[i]);
	put_long(out, 0);
	buffer_append(out, writer->sync, SYNC_SIZE);
	lake_output_write(writer->output, out->data, out->len);
}

AvroWriter *
avro_writer_create(LakeArena *arena, LakeOutput *output, const char *schema,
				   const char *const *header, int header_count,
				   LakeCodec codec, int32_t level)
{
	AvroWriter *writer = lake_alloc(arena, sizeof *writer);

	writer->output = output;
	writer->codec = codec;
	writer->level = level;
	writer->context = codec_context_create(arena);
	buffer_init(&writer->block, arena);
	buffer_init(&writer->compressed, arena);
	buffer_init(&writer->framed, arena);
	/* unlike any other file's, so that joined files are not taken for one */
	if (getentropy(writer->sync, SYNC_SIZE) != 0)
		lake_throw(LAKE_ERROR_IO, "could not get random bytes: %s",
				   strerror(errno));
	write_header(writer, schema, header, header_count);
	return writer;
}

/* ---- values ---- */

void
avro_write_long(AvroWriter *writer, int64_t value)
{
	put_long(&writer->block, value);
}

void
avro_write_bool(AvroWriter *writer, bool value)
{
	buffer_append_byte(&writer->block, value);
}

void
avro_write_float(AvroWriter *writer, float value)
{
	buffer_append(&writer->block, &value, sizeof value);
}

void
avro_write_double(AvroWriter *writer, double value)
{
	buffer_append(&writer->block, &value, sizeof value);
}

void
avro_write_bytes(AvroWriter *writer, LakeBytes value)
{
	put_bytes(&writer->block, value.data, value.len);
}

void
avro_write_fixed(AvroWriter *writer, LakeBytes value)
{
	buffer_append(&writer->block, value.data, value.len);
}

void
avro_write_branch(AvroWriter *writer, int branch)
{
	put_long(&writer->block, branch);
}

void
avro_write_array_begin(AvroWriter *writer, size_t count)
{
	/* an empty array is its end alone */
	if (count > 0)
		put_long(&writer->block, (int64_t) count);
}

void
avro_write_array_end(AvroWriter *writer)
{
	put_long(&writer->block, 0);
}

/* ---- blocks ---- */

static void
write_block(AvroWriter *writer)
{
	LakeBuffer *out = &writer->framed;
	LakeBuffer *compressed = &writer->compressed;

	lake_check_interrupts();
	compressed->len = 0;
	codec_compress_append(writer->context, writer->codec, writer->level,
						  writer->block.data, writer->block.len, compressed);
	out->len = 0;
	put_long(out, (int64_t) writer->records);
	put_bytes(out, compressed->data, compressed->len);
	buffer_append(out, writer->sync, SYNC_SIZE);
	lake_output_write(writer->output, out->data, out->len);
	writer->records = 0;
	writer->block.len = 0;
}

void
avro_writer_end_record(AvroWriter *writer)
{
	writer->records++;
	if (writer->block.len >= BLOCK_SIZE)
		write_block(writer);
}

void
avro_writer_finish(AvroWriter *writer)
{
	if (writer->records > 0)
		write_block(writer);
}
