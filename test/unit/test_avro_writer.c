/*
 * Container files that we write, read by our own reader.
 */
#include "avro_file.h"
#include "memory_output.h"

#include <stdlib.h>

static const char scalars[] = RECORD(FIELD("b", 1, "\"boolean\"") ","
									 FIELD("l", 2, "\"long\"") ","
									 FIELD("f", 3, "\"float\"") ","
									 FIELD("d", 4, "\"double\"") ","
									 FIELD("s", 5, "\"bytes\"") ","
									 FIELD("x", 6, "{\"type\":\"fixed\",\"name\":\"f3\",\"size\":3}") ","
									 FIELD("o", 7, OPTIONAL("\"int\"")) ","
									 FIELD("a", 8, ARRAY("\"long\"")));

static LakeBytes
text(const char *data)
{
	return (LakeBytes) {(const uint8_t *) data, strlen(data)};
}

static AvroWriter *
begin(LakeArena *arena, MemoryOutput *output, LakeCodec codec)
{
	return avro_writer_create(arena, &output->output, scalars, NULL, 0, codec,
							  CODEC_DEFAULT_LEVEL);
}

static AvroReader *
reopen(LakeArena *arena, MemoryOutput *output)
{
	return avro_reader_open(arena, memory_output_open(output, arena), "test");
}

/* a record that depends on i; padding makes it large */
static void
write_record(AvroWriter *writer, int64_t i, LakeBytes padding)
{
	avro_write_bool(writer, i % 2 == 1);
	avro_write_long(writer, i * i * i);
	avro_write_float(writer, (float) i / 2);
	avro_write_double(writer, -(double) i);
	avro_write_bytes(writer, padding);
	avro_write_fixed(writer, text("xyz"));
	avro_write_branch(writer, i % 3 != 0);
	if (i % 3 != 0)
		avro_write_long(writer, -i);
	avro_write_array_begin(writer, (size_t) (i % 4));
	for (int64_t j = 0; j < i % 4; j++)
		avro_write_long(writer, i + j);
	avro_write_array_end(writer);
	avro_writer_end_record(writer);
}

static void
check_record(const AvroSlot *slots, int64_t i, LakeBytes padding)
{
	CHECK(slots[0].kind == AVRO_BOOL && slots[0].i == (i % 2 == 1));
	CHECK(is_int(&slots[1], i * i * i));
	CHECK(slots[2].kind == AVRO_FLOAT && slots[2].d == (double) i / 2);
	CHECK(slots[3].kind == AVRO_DOUBLE && slots[3].d == -(double) i);
	CHECK(is_bytes(&slots[4], padding.data, padding.len));
	CHECK(is_text(&slots[5], "xyz"));
	if (i % 3 == 0)
		CHECK(slots[6].kind == AVRO_NULL);
	else
		CHECK(is_int(&slots[6], -i));
	CHECK_INT(slots[7].list.count, i % 4);
	for (int64_t j = 0; j < i % 4; j++)
		CHECK(is_int(&slots[7].list.items[j], i + j));
}

static void
check_round_trip(LakeArena *arena, LakeCodec codec, int count,
				 LakeBytes padding)
{
	MemoryOutput *output = memory_output_create(arena);
	AvroWriter *writer = begin(arena, output, codec);
	AvroReader *reader;
	const AvroSlot *slots;
	int			read = 0;

	for (int i = 0; i < count; i++)
		write_record(writer, i, padding);
	avro_writer_finish(writer);
	reader = reopen(arena, output);
	for (int32_t id = 1; id <= 8; id++)
		project(reader, id);
	while ((slots = avro_reader_next(reader)) != NULL)
		check_record(slots, read++, padding);
	CHECK_INT(read, count);
}

static void
records_of_all_kinds_come_back(LakeArena *arena)
{
	static const LakeCodec codecs[] = {CODEC_NONE, CODEC_DEFLATE,
	CODEC_SNAPPY_AVRO, CODEC_ZSTD};

	for (int i = 0; i < 4; i++)
		check_round_trip(arena, codecs[i], 100, text("padding"));
}

static void
many_blocks_come_back(LakeArena *arena)
{
	LakeBytes	padding = {lake_alloc(arena, 1000), 1000};

	check_round_trip(arena, CODEC_DEFLATE, 1000, padding);
}

static void
a_file_without_records_comes_back(LakeArena *arena)
{
	check_round_trip(arena, CODEC_DEFLATE, 0, text(""));
}

static void
integers_at_the_ends_come_back(LakeArena *arena)
{
	static const int64_t values[] = {INT64_MIN, INT64_MAX, -1, 0, 63, 64, -64,
	-65, INT32_MAX, INT32_MIN};
	MemoryOutput *output = memory_output_create(arena);
	AvroWriter *writer =
		avro_writer_create(arena, &output->output,
					   RECORD(FIELD("l", 1, "\"long\"")), NULL, 0,
					   CODEC_NONE, 0);
	AvroReader *reader;

	for (int i = 0; i < 10; i++)
	{
		avro_write_long(writer, values[i]);
		avro_writer_end_record(writer);
	}
	avro_writer_finish(writer);
	reader = reopen(arena, output);
	project(reader, 1);
	for (int i = 0; i < 10; i++)
		CHECK(is_int(avro_reader_next(reader), values[i]));
}

static void
header_entries_are_found(LakeArena *arena)
{
	static const char *const header[] = {"format-version", "2", "content",
	"data"};
	MemoryOutput *output = memory_output_create(arena);
	AvroReader *reader;
	LakeBytes	value;

	avro_writer_finish(avro_writer_create(arena, &output->output, scalars,
										  header, 2, CODEC_ZSTD,
										  CODEC_DEFAULT_LEVEL));
	reader = reopen(arena, output);
	CHECK(avro_reader_header(reader, "content", &value));
	CHECK_INT(value.len, 4);
	CHECK(memcmp(value.data, "data", 4) == 0);
	CHECK(avro_reader_header(reader, "format-version", &value));
	CHECK(avro_reader_header(reader, "avro.codec", &value));
	CHECK(memcmp(value.data, "zstandard", value.len) == 0);
}

static void
blocks_end_near_their_size(LakeArena *arena)
{
	MemoryOutput *output = memory_output_create(arena);
	AvroWriter *writer = begin(arena, output, CODEC_NONE);
	LakeBytes	padding = {lake_alloc(arena, 1000), 1000};
	size_t		header = output->bytes.len;
	int			count = 0;

	while (output->bytes.len == header && count < 1000)
		write_record(writer, count++, padding);
	CHECK(count > 60 && count < 67);
	CHECK(output->bytes.len - header >= 64 * 1024);
}

static void
sync_markers_differ_between_files(LakeArena *arena)
{
	MemoryOutput *a = memory_output_create(arena);
	MemoryOutput *b = memory_output_create(arena);

	begin(arena, a, CODEC_NONE);
	begin(arena, b, CODEC_NONE);
	CHECK_INT(a->bytes.len, b->bytes.len);
	CHECK(memcmp(a->bytes.data, b->bytes.data, a->bytes.len - 16) == 0);
	CHECK(memcmp(a->bytes.data + a->bytes.len - 16,
				 b->bytes.data + b->bytes.len - 16, 16) != 0);
}

static void
codecs_that_avro_lacks_are_refused(LakeArena *arena)
{
	MemoryOutput *output = memory_output_create(arena);

	CHECK_THROWS(LAKE_ERROR_INTERNAL, "brotli",
				 begin(arena, output, CODEC_BROTLI));
	CHECK_INT(output->bytes.len, 0);
}

static const UnitTest tests[] = {
	UNIT(records_of_all_kinds_come_back),
	UNIT(many_blocks_come_back),
	UNIT(a_file_without_records_comes_back),
	UNIT(integers_at_the_ends_come_back),
	UNIT(header_entries_are_found),
	UNIT(blocks_end_near_their_size),
	UNIT(sync_markers_differ_between_files),
	UNIT(codecs_that_avro_lacks_are_refused),
};

UNIT_MAIN(tests)
