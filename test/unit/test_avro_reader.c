/*
 * Container files: those that fastavro and PyIceberg wrote (test/data/avro,
 * by test/interop/write_avro_fixtures.py), and the same cut and bent.
 */
#include "avro_file.h"

#include <stdlib.h>

#define ENTRIES		120

static LakeBytes
load(LakeArena *arena, const char *name)
{
	FILE	   *file = fopen(lake_printf(arena, "test/data/avro/%s", name),
							 "rb");
	LakeBuffer	buffer;
	char		chunk[4096];
	size_t		got;
	LakeBytes	bytes;

	if (file == NULL)
		lake_throw(LAKE_ERROR_MISSING, "no %s: run from the top directory",
				   name);
	buffer_init(&buffer, arena);
	while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
		buffer_append(&buffer, chunk, got);
	fclose(file);
	bytes.data = buffer.data;
	bytes.len = buffer.len;
	return bytes;
}

static AvroReader *
open_fixture(LakeArena *arena, const char *name)
{
	LakeBytes	bytes = load(arena, name);

	return open_bytes(arena, bytes.data, bytes.len);
}

static const char *const manifests[] = {
	"manifest_null.avro",
	"manifest_deflate.avro",
	"manifest_snappy.avro",
	"manifest_zstandard.avro",
};

#define MANIFEST_COUNT	(sizeof(manifests) / sizeof(manifests[0]))

typedef struct ManifestSlots
{
	int			status;
	int			snapshot_id;
	int			file_path;
	int			record_count;
	int			region;
	int			day;
	int			lower[3];		/* of columns 1, 3 and 9 */
	int			upper;			/* of column 2 */
	int			size;			/* of column 2 */
	int			split_offsets;
	int			absent;
} ManifestSlots;

static int
project2(AvroReader *reader, int32_t first, int32_t second)
{
	int32_t		path[] = {first, second};

	return avro_reader_project(reader, path, 2);
}

static int
project_entry(AvroReader *reader, int32_t map, int32_t key)
{
	int32_t		path[] = {2, map};

	return avro_reader_project_map_entry(reader, path, 2, key);
}

static void
project_manifest(AvroReader *reader, ManifestSlots *slots)
{
	static const int32_t region[] = {2, 102, 1000};
	static const int32_t day[] = {2, 102, 1001};

	slots->split_offsets = project2(reader, 2, 132);
	slots->upper = project_entry(reader, 128, 2);
	slots->lower[0] = project_entry(reader, 125, 1);
	slots->lower[2] = project_entry(reader, 125, 9);
	slots->lower[1] = project_entry(reader, 125, 3);
	slots->size = project_entry(reader, 108, 2);
	slots->region = avro_reader_project(reader, region, 3);
	slots->day = avro_reader_project(reader, day, 3);
	slots->status = project(reader, 0);
	slots->snapshot_id = project(reader, 1);
	slots->file_path = project2(reader, 2, 100);
	slots->record_count = project2(reader, 2, 103);
	slots->absent = project2(reader, 2, 142);
}

static bool
is_little_endian(const AvroSlot *slot, int32_t value)
{
	return is_bytes(slot, &value, sizeof value);
}

/* the rules of write_avro_fixtures.py */
static void
check_entry(LakeArena *arena, const AvroSlot *record,
			const ManifestSlots *slots, int i)
{
	const AvroSlot *offsets = &record[slots->split_offsets];

	CHECK(is_int(&record[slots->status], i % 3));
	if (i % 10 == 0)
		CHECK_INT(record[slots->snapshot_id].kind, AVRO_NULL);
	else
		CHECK(is_int(&record[slots->snapshot_id], 1000000000000000 + i));
	CHECK(is_text(&record[slots->file_path],
				  lake_printf(arena, "file:/srv/lake/t/data/%05d.parquet",
							  i)));
	CHECK(is_int(&record[slots->record_count], i * i));
	if (i % 4 == 0)
		CHECK_INT(record[slots->region].kind, AVRO_NULL);
	else
		CHECK(is_text(&record[slots->region],
					  lake_printf(arena, "r%d", i % 4)));
	CHECK(is_int(&record[slots->day], i - 60));
	if (i % 7 == 0)
		CHECK_INT(record[slots->lower[0]].kind, AVRO_NULL);
	else
	{
		CHECK(is_little_endian(&record[slots->lower[0]], i));
		CHECK(is_little_endian(&record[slots->lower[1]], i * 3));
	}
	CHECK_INT(record[slots->lower[2]].kind, AVRO_NULL);
	CHECK_INT(record[slots->upper].kind, AVRO_BYTES);
	CHECK_INT(record[slots->upper].bytes.len, i % 5 + 2);
	CHECK(is_int(&record[slots->size], 2000 + i));
	CHECK_INT(record[slots->absent].kind, AVRO_NULL);
	CHECK_INT(offsets->kind, AVRO_LIST);
	CHECK_INT(offsets->list.count, 1 + i % 3);
	CHECK(is_int(&offsets->list.items[0], 4));
	if (i % 3 == 2)
		CHECK(is_int(&offsets->list.items[2], 1004));
}

static void
manifests_of_every_codec_are_read(LakeArena *arena)
{
	for (size_t m = 0; m < MANIFEST_COUNT; m++)
	{
		AvroReader *reader = open_fixture(arena, manifests[m]);
		ManifestSlots slots;
		const AvroSlot *record;
		int			i = 0;

		project_manifest(reader, &slots);
		while ((record = avro_reader_next(reader)) != NULL)
			check_entry(arena, record, &slots, i++);
		CHECK_INT(i, ENTRIES);
	}
}

static void
a_manifest_of_pyiceberg_is_read(LakeArena *arena)
{
	static const int32_t null_counts[] = {2, 110};
	AvroReader *reader = open_fixture(arena, "manifest_pyiceberg.avro");
	int			path = project2(reader, 2, 100);
	int			lower = project_entry(reader, 125, 1);
	int			nulls = avro_reader_project_map_entry(reader, null_counts, 2,
													  2);
	int			size = project_entry(reader, 108, 2);
	int			snapshot_id = project(reader, 1);
	int			sequence_number = project(reader, 3);
	LakeBytes	value;
	const AvroSlot *record;
	int			i = 0;

	CHECK(avro_reader_header(reader, "format-version", &value));
	CHECK(value.len == 1 && value.data[0] == '2');
	while ((record = avro_reader_next(reader)) != NULL)
	{
		CHECK(is_text(&record[path],
					  lake_printf(arena, "file:/srv/lake/t/data/%05d.parquet",
								  i)));
		CHECK(is_little_endian(&record[lower], i));
		CHECK(is_int(&record[nulls], 0));
		CHECK(is_int(&record[size], 20 * i));
		CHECK(is_int(&record[snapshot_id], 77));
		CHECK_INT(record[sequence_number].kind, AVRO_NULL);
		i++;
	}
	CHECK_INT(i, 5);
}

static void
values_of_every_type_are_read(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "types.avro");
	const AvroSlot *s;
	int			i = 0;

	for (int32_t id = 1; id <= 12; id++)
		CHECK_INT(project(reader, id), id - 1);
	CHECK_INT(project(reader, 15), 12);
	while ((s = avro_reader_next(reader)) != NULL)
	{
		int			sign = i % 2 == 0 ? 1 : -1;
		uint8_t		fixed[4];

		memset(fixed, i, sizeof fixed);
		CHECK(s[0].kind == AVRO_BOOL && s[0].i == i % 2);
		CHECK(is_int(&s[1], sign * (INT32_MAX - i)));
		CHECK(is_int(&s[2], sign * (INT64_MAX - i)));
		CHECK(s[3].kind == AVRO_FLOAT && s[3].d == i / 4.0);
		CHECK(s[4].kind == AVRO_DOUBLE && s[4].d == i / 8.0);
		CHECK(s[5].kind == AVRO_BYTES && s[5].bytes.len == (size_t) i);
		CHECK(i == 0 || s[5].bytes.data[i - 1] == i - 1);
		CHECK(s[6].kind == AVRO_BYTES && s[6].bytes.len == (size_t) i * 2);
		CHECK(is_bytes(&s[7], fixed, 4));
		CHECK(is_int(&s[8], i % 3));
		memset(fixed, i + 1, sizeof fixed);
		CHECK(is_bytes(&s[9], fixed, 4));
		memset(fixed, i + 2, sizeof fixed);
		CHECK(i % 2 == 0 ? s[10].kind == AVRO_NULL :
			  is_bytes(&s[10], fixed, 4));
		memset(fixed, i + 3, sizeof fixed);
		CHECK(i % 4 == 0 ? is_int(&s[11], i) :
			  i % 4 == 1 ? is_text(&s[11], lake_printf(arena, "%d", i)) :
			  i % 4 == 2 ? s[11].kind == AVRO_NULL :
			  is_bytes(&s[11], fixed, 4));
		CHECK(is_int(&s[12], i));
		i++;
	}
	CHECK_INT(i, 20);
}

static void
a_file_may_be_read_without_asking_for_anything(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "types.avro");
	int			i = 0;

	while (avro_reader_next(reader) != NULL)
		i++;
	CHECK_INT(i, 20);
}

static void
the_header_is_found_by_key(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "manifest_deflate.avro");
	LakeBytes	value;

	CHECK(avro_reader_header(reader, "content", &value));
	CHECK(value.len == 4 && memcmp(value.data, "data", 4) == 0);
	CHECK(avro_reader_header(reader, "avro.codec", &value));
	CHECK(!avro_reader_header(reader, "partition-spec", &value));
	CHECK(!avro_reader_header(reader, "", &value));
}

static void
a_header_may_come_in_blocks_with_and_without_sizes(LakeArena *arena)
{
	LakeBuffer	file;
	AvroReader *reader;
	LakeBytes	value;

	buffer_init(&file, arena);
	buffer_append(&file, "Obj\x01", 4);
	put_long(&file, -1);
	put_long(&file, 12);
	put_text(&file, "some");
	put_text(&file, "thing");
	put_long(&file, 1);
	put_text(&file, "avro.schema");
	put_text(&file, RECORD(FIELD("a", 1, "\"int\"")));
	put_long(&file, 0);
	buffer_append(&file, avro_sync, 16);
	reader = open_bytes(arena, file.data, file.len);
	CHECK(avro_reader_header(reader, "some", &value));
	CHECK_INT(value.len, 5);
	CHECK(avro_reader_next(reader) == NULL);
}

static void
a_wrong_header_is_refused(LakeArena *arena)
{
	LakeBuffer	file;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"test\" is not an Avro file",
				 open_bytes(arena, "", 0));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not an Avro file",
				 open_bytes(arena, "PAR1....", 8));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "truncated",
				 open_bytes(arena, "Obj\x01", 4));
	buffer_init(&file, arena);
	buffer_append(&file, "Obj\x01\x00", 5);
	buffer_append(&file, avro_sync, 16);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no schema",
				 open_bytes(arena, file.data, file.len));
	buffer_init(&file, arena);
	buffer_append(&file, "Obj\x01", 4);
	put_long(&file, INT64_C(1) << 60);
	put_long(&file, -1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "negative",
				 open_bytes(arena, file.data, file.len));
	buffer_init(&file, arena);
	buffer_append(&file, "Obj\x01", 4);
	put_long(&file, 1);
	put_long(&file, INT64_MAX);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "header",
				 open_bytes(arena, file.data, file.len));
	buffer_init(&file, arena);
	buffer_append(&file, "Obj\x01", 4);
	put_long(&file, INT64_MIN);
	put_long(&file, 0);
	for (int i = 0; i < 30000; i++)
		buffer_append_byte(&file, 0);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "entries",
				 open_bytes(arena, file.data, file.len));
}

static void
an_unknown_codec_is_refused_by_name(LakeArena *arena)
{
	LakeBuffer	file;

	buffer_init(&file, arena);
	buffer_append(&file, "Obj\x01", 4);
	put_long(&file, 1);
	put_text(&file, "avro.codec");
	put_text(&file, "xz");
	put_long(&file, 0);
	buffer_append(&file, avro_sync, 16);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"xz\"",
				 open_bytes(arena, file.data, file.len));
}

static int
count_records(LakeArena *arena, const void *data, size_t len)
{
	AvroReader *reader = open_bytes(arena, data, len);
	ManifestSlots slots;
	int			count = 0;

	project_manifest(reader, &slots);
	while (avro_reader_next(reader) != NULL)
		count++;
	return count;
}

static void
a_truncated_file_is_corrupt_or_ends_with_a_block(LakeArena *arena)
{
	for (size_t m = 0; m < MANIFEST_COUNT; m++)
	{
		LakeBytes	bytes = load(arena, manifests[m]);
		volatile int whole = 0;

		for (size_t len = 0; len < bytes.len; len += 7)
		{
			LakeArena  *scratch = lake_arena_create(arena, "truncated");
			LakeTry		try;

			if (lake_try_begin(&try))
			{
				CHECK(count_records(scratch, bytes.data, len) < ENTRIES);
				lake_try_end(&try);
				whole++;
			}
			else
				CHECK_INT(try.code, LAKE_ERROR_CORRUPT);
			lake_arena_destroy(scratch);
		}
		/* there are few block ends, and a step of 7 meets fewer */
		CHECK(whole < 10);
	}
}

static void
a_changed_byte_never_crashes(LakeArena *arena)
{
	for (size_t m = 0; m < MANIFEST_COUNT; m++)
	{
		LakeBytes	bytes = load(arena, manifests[m]);
		uint8_t    *copy = lake_alloc(arena, bytes.len);
		volatile int thrown = 0;

		for (size_t i = 0; i < bytes.len; i += 5)
		{
			LakeArena  *scratch = lake_arena_create(arena, "changed");
			LakeTry		try;

			memcpy(copy, bytes.data, bytes.len);
			copy[i] ^= (uint8_t) (1 + i % 255);
			if (lake_try_begin(&try))
			{
				count_records(scratch, copy, bytes.len);
				lake_try_end(&try);
			}
			else
			{
				CHECK(try.code == LAKE_ERROR_CORRUPT ||
					  try.code == LAKE_ERROR_UNSUPPORTED ||
					  try.code == LAKE_ERROR_ENCODING ||
					  try.code == LAKE_ERROR_LIMIT);
				thrown++;
			}
			lake_arena_destroy(scratch);
		}
		CHECK(thrown > 100);
	}
}

static void
a_block_must_end_with_the_sync_marker(LakeArena *arena)
{
	LakeBytes	bytes = load(arena, "manifest_null.avro");
	uint8_t    *copy = lake_alloc(arena, bytes.len);

	memcpy(copy, bytes.data, bytes.len);
	copy[bytes.len - 1] ^= 1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "sync marker",
				 count_records(arena, copy, bytes.len));
}

/* a block of the given numbers, holding one int */
static AvroReader *
open_block(LakeArena *arena, int64_t count, int64_t size)
{
	LakeBuffer	file;

	buffer_init(&file, arena);
	put_header(&file, RECORD(FIELD("a", 1, "\"int\"")));
	put_long(&file, count);
	put_long(&file, size);
	put_long(&file, 5);
	buffer_append(&file, avro_sync, 16);
	return open_bytes(arena, file.data, file.len);
}

static void
a_block_of_wrong_numbers_is_corrupt(LakeArena *arena)
{
	CHECK(avro_reader_next(open_block(arena, 1, 1)) != NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "wrong count",
				 avro_reader_next(open_block(arena, -1, 1)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "wrong count",
				 avro_reader_next(open_block(arena, 2, 1)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "wrong count",
				 avro_reader_next(open_block(arena, INT64_MAX, 1)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "behind the records",
				 avro_reader_next(open_block(arena, 0, 1)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "negative",
				 avro_reader_next(open_block(arena, 1, -1)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "sync marker",
				 avro_reader_next(open_block(arena, 1, 0)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "truncated",
				 avro_reader_next(open_block(arena, 1, 2)));
	CHECK_THROWS(LAKE_ERROR_LIMIT, "block",
				 avro_reader_next(open_block(arena, 1, INT64_MAX)));
}

static void
blocks_larger_than_the_window_are_read(LakeArena *arena)
{
	size_t		size = (size_t) 5 << 20;
	char	   *text = lake_alloc(arena, size + 1);
	LakeBuffer	file;
	AvroReader *reader;

	buffer_init(&file, arena);
	put_header(&file, RECORD(FIELD("a", 1, "\"string\"")));
	for (int i = 0; i < 3; i++)
	{
		LakeBuffer	content;

		buffer_init(&content, arena);
		memset(text, 'a' + i, size);
		put_text(&content, text);
		put_block(&file, 1, &content);
	}
	reader = open_bytes(arena, file.data, file.len);
	project(reader, 1);
	for (int i = 0; i < 3; i++)
	{
		memset(text, 'a' + i, size);
		CHECK(is_text(&avro_reader_next(reader)[0], text));
	}
	CHECK(avro_reader_next(reader) == NULL);
}

static void
one_field_has_one_slot(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "manifest_null.avro");

	CHECK_INT(project2(reader, 2, 100), 0);
	CHECK_INT(project(reader, 1), 1);
	CHECK_INT(project2(reader, 2, 100), 0);
	CHECK_INT(project2(reader, 2, 132), 2);
	CHECK_INT(project2(reader, 2, 132), 2);
	CHECK_INT(project(reader, 1), 1);
	CHECK_INT(project_entry(reader, 125, 1), 3);
	CHECK_INT(project_entry(reader, 128, 1), 4);
	CHECK_INT(project_entry(reader, 125, 1), 3);
}

static void
fields_that_are_no_scalars_are_refused_by_name(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "types.avro");
	static const int32_t scalar[] = {2};
	static const int32_t below_scalar[] = {2, 3};
	static const int32_t map[] = {13};

	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"strings\"", project(reader, 13));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"nested\"", project(reader, 14));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "int instead of record",
				 avro_reader_project(reader, below_scalar, 2));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "int instead of array",
				 avro_reader_project_map_entry(reader, scalar, 1, 1));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "map instead of array",
				 avro_reader_project_map_entry(reader, map, 1, 1));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "int instead of array",
				 avro_reader_project_records(reader, scalar, 1, scalar, 1));
	reader = open_fixture(arena, "manifest_null.avro");
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"data_file\"", project(reader, 2));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"split_offsets\"",
				 project_entry(reader, 132, 1));
}

static void
a_record_tells_its_fields(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "manifest_null.avro");
	static const int32_t partition[] = {2, 102};
	static const int32_t absent[] = {2, 999};
	const AvroSlot *record;
	int			region;
	int			beyond;

	CHECK_INT(avro_reader_record_fields(reader, NULL, 0), 4);
	CHECK_INT(avro_reader_record_fields(reader, partition, 2), 2);
	CHECK_INT(avro_reader_record_fields(reader, absent, 2), 0);
	CHECK_INT(avro_reader_record_field_id(reader, partition, 2, 0), 1000);
	CHECK_INT(avro_reader_record_field_id(reader, partition, 2, 1), 1001);
	CHECK_INT(avro_reader_record_field_id(reader, partition, 2, 2), -1);
	CHECK_INT(avro_reader_record_field_id(reader, absent, 2, 0), -1);
	region = avro_reader_project_position(reader, partition, 2, 0);
	beyond = avro_reader_project_position(reader, partition, 2, 2);
	avro_reader_next(reader);
	record = avro_reader_next(reader);
	CHECK(is_text(&record[region], "r1"));
	CHECK_INT(record[beyond].kind, AVRO_NULL);
}

static void
projecting_after_the_first_record_is_a_bug(LakeArena *arena)
{
	AvroReader *reader = open_fixture(arena, "manifest_null.avro");

	project(reader, 1);
	avro_reader_next(reader);
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "after", project(reader, 0));
}

static void
errors_name_the_file(LakeArena *arena)
{
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		avro_reader_next(open_block(arena, 2, 1));
		lake_try_end(&try);
		CHECK(false);
	}
	else
	{
		CHECK(strstr(try.message, "manifest \"test\"") != NULL);
		CHECK_STRING(try.context, "reading manifest test\n");
	}
}

static const UnitTest tests[] = {
	UNIT(manifests_of_every_codec_are_read),
	UNIT(a_manifest_of_pyiceberg_is_read),
	UNIT(values_of_every_type_are_read),
	UNIT(a_file_may_be_read_without_asking_for_anything),
	UNIT(the_header_is_found_by_key),
	UNIT(a_header_may_come_in_blocks_with_and_without_sizes),
	UNIT(a_wrong_header_is_refused),
	UNIT(an_unknown_codec_is_refused_by_name),
	UNIT(a_truncated_file_is_corrupt_or_ends_with_a_block),
	UNIT(a_changed_byte_never_crashes),
	UNIT(a_block_must_end_with_the_sync_marker),
	UNIT(a_block_of_wrong_numbers_is_corrupt),
	UNIT(blocks_larger_than_the_window_are_read),
	UNIT(one_field_has_one_slot),
	UNIT(fields_that_are_no_scalars_are_refused_by_name),
	UNIT(a_record_tells_its_fields),
	UNIT(projecting_after_the_first_record_is_a_bug),
	UNIT(errors_name_the_file),
};

UNIT_MAIN(tests)
