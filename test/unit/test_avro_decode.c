/*
 * Records that no library writes: odd but valid encodings are read, lies are
 * CORRUPT, and nothing takes longer than its bytes allow.
 */
#include "avro_file.h"

#define MAP_ITEM \
	"{\"type\":\"record\",\"name\":\"kv\",\"fields\":[" \
	FIELD("key", 126, "\"int\"") "," FIELD("value", 127, "\"bytes\"") "]}"
#define COUNT_ITEM \
	"{\"type\":\"record\",\"name\":\"kc\",\"fields\":[" \
	FIELD("key", 119, "\"int\"") "," FIELD("value", 120, "\"long\"") "]}"

static const int32_t one[] = {1};

/* the slots of the only record */
static const AvroSlot *
only_record(AvroReader *reader)
{
	return avro_reader_next(reader);
}

/* reads every record of content, projecting nothing */
static int
skip_all(LakeArena *arena, const char *schema, int64_t count,
		 const LakeBuffer *content)
{
	AvroReader *reader = open_content(arena, schema, count, content);
	int			records = 0;

	while (avro_reader_next(reader) != NULL)
		records++;
	return records;
}

/* reads every record of content, projecting field 1 */
static int
read_all(LakeArena *arena, const char *schema, int64_t count,
		 const LakeBuffer *content)
{
	AvroReader *reader = open_content(arena, schema, count, content);
	int			records = 0;

	project(reader, 1);
	while (avro_reader_next(reader) != NULL)
		records++;
	return records;
}

static void
null_may_be_either_branch(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, "[\"null\",\"long\"]") ","
		   FIELD("b", 2, "[\"long\",\"null\"]"));
	AvroReader *reader;
	LakeBuffer	content;
	const AvroSlot *slots;
	int			a;
	int			b;

	buffer_init(&content, arena);
	put_long(&content, 0);
	put_long(&content, 1);
	put_long(&content, 1);
	put_long(&content, 7);
	put_long(&content, 0);
	put_long(&content, 8);
	reader = open_content(arena, schema, 2, &content);
	a = project(reader, 1);
	b = project(reader, 2);
	slots = avro_reader_next(reader);
	CHECK_INT(slots[a].kind, AVRO_NULL);
	CHECK_INT(slots[b].kind, AVRO_NULL);
	slots = avro_reader_next(reader);
	CHECK(is_int(&slots[a], 7));
	CHECK(is_int(&slots[b], 8));
	CHECK(avro_reader_next(reader) == NULL);
	CHECK(avro_reader_next(reader) == NULL);
	CHECK_INT(skip_all(arena, schema, 2, &content), 2);
}

static void
a_wide_union_gives_the_branch_that_is_there(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, "[\"int\",\"string\",\"null\",\"boolean\"]") ","
		   FIELD("b", 2, "\"int\""));
	AvroReader *reader;
	LakeBuffer	content;
	const AvroSlot *slots;
	int			a;
	int			b;

	buffer_init(&content, arena);
	put_long(&content, 0);
	put_long(&content, -5);
	put_long(&content, 100);
	put_long(&content, 1);
	put_text(&content, "text");
	put_long(&content, 101);
	put_long(&content, 2);
	put_long(&content, 102);
	put_long(&content, 3);
	buffer_append_byte(&content, 1);
	put_long(&content, 103);
	reader = open_content(arena, schema, 4, &content);
	a = project(reader, 1);
	b = project(reader, 2);
	slots = avro_reader_next(reader);
	CHECK(is_int(&slots[a], -5) && is_int(&slots[b], 100));
	slots = avro_reader_next(reader);
	CHECK(is_text(&slots[a], "text") && is_int(&slots[b], 101));
	slots = avro_reader_next(reader);
	CHECK(slots[a].kind == AVRO_NULL && is_int(&slots[b], 102));
	slots = avro_reader_next(reader);
	CHECK(slots[a].kind == AVRO_BOOL && slots[a].i == 1);
	CHECK(is_int(&slots[b], 103));
	CHECK_INT(skip_all(arena, schema, 4, &content), 4);
}

static void
unions_within_unions_records_keep_their_way(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, "[\"null\",\"int\","
				 "{\"type\":\"record\",\"name\":\"in\",\"fields\":["
				 FIELD("x", 2, "[\"int\",\"string\",\"null\"]") ","
				 FIELD("y", 3, "\"int\"") "]}]") ","
		   FIELD("b", 4, "\"int\""));
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;
	int			b;

	buffer_init(&content, arena);
	put_long(&content, 2);
	put_long(&content, 1);
	put_text(&content, "x");
	put_long(&content, 5);
	put_long(&content, 200);
	put_long(&content, 0);
	put_long(&content, 201);
	reader = open_content(arena, schema, 2, &content);
	b = project(reader, 4);
	slots = avro_reader_next(reader);
	CHECK(is_int(&slots[b], 200));
	slots = avro_reader_next(reader);
	CHECK(is_int(&slots[b], 201));
	CHECK(avro_reader_next(reader) == NULL);
}

static void
skipping_stays_in_step_with_any_run_of_varints(LakeArena *arena)
{
	/* 20 longs, then a string, then a long to check by */
	LakeBuffer	schema;
	LakeBuffer	content;

	buffer_init(&schema, arena);
	buffer_append_text(&schema, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[");
	for (int i = 0; i < 20; i++)
		buffer_printf(&schema, "{\"name\":\"f%d\",\"type\":\"long\"},", i);
	buffer_append_text(&schema, "{\"name\":\"s\",\"type\":\"string\"},"
					   FIELD("last", 1, "\"long\"") "]}");
	buffer_append_byte(&schema, 0);
	for (int width = 0; width < 63; width++)
	{
		AvroReader *reader;
		int			slot;

		buffer_init(&content, arena);
		for (int i = 0; i < 20; i++)
			put_long(&content, INT64_C(1) << ((width * i) % 63));
		put_text(&content, "some text");
		put_long(&content, width);
		reader = open_content(arena, (const char *) schema.data, 1, &content);
		slot = project(reader, 1);
		CHECK(is_int(&only_record(reader)[slot], width));
	}
}

static void
a_list_may_come_in_blocks_with_and_without_sizes(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, OPTIONAL(ARRAY("\"long\""))) ","
		   FIELD("b", 2, "\"int\""));
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;
	int			a;
	int			b;

	buffer_init(&content, arena);
	put_long(&content, 1);
	put_long(&content, 2);
	put_long(&content, 10);
	put_long(&content, 11);
	put_long(&content, -3);
	put_long(&content, 3);
	put_long(&content, 12);
	put_long(&content, 13);
	put_long(&content, 14);
	put_long(&content, 0);
	put_long(&content, 99);
	reader = open_content(arena, schema, 1, &content);
	a = project(reader, 1);
	b = project(reader, 2);
	slots = only_record(reader);
	CHECK_INT(slots[a].kind, AVRO_LIST);
	CHECK_INT(slots[a].list.count, 5);
	for (size_t i = 0; i < slots[a].list.count; i++)
		CHECK(is_int(&slots[a].list.items[i], 10 + (int64_t) i));
	CHECK(is_int(&slots[b], 99));
	CHECK_INT(skip_all(arena, schema, 1, &content), 1);
}

static void
an_empty_list_is_not_null(LakeArena *arena)
{
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;

	buffer_init(&content, arena);
	put_long(&content, 1);
	put_long(&content, 0);
	put_long(&content, 0);
	reader = open_content(arena,
						  RECORD(FIELD("a", 1, OPTIONAL(ARRAY("\"long\"")))),
						  2, &content);
	project(reader, 1);
	slots = avro_reader_next(reader);
	CHECK(slots[0].kind == AVRO_LIST && slots[0].list.count == 0);
	slots = avro_reader_next(reader);
	CHECK_INT(slots[0].kind, AVRO_NULL);
}

static void
several_long_lists_keep_apart(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, ARRAY("\"long\"")) ","
		   FIELD("b", 2, ARRAY("[\"null\",\"string\"]")));
	LakeBuffer	content;
	AvroReader *reader;

	buffer_init(&content, arena);
	for (int record = 0; record < 3; record++)
	{
		put_long(&content, 1000);
		for (int i = 0; i < 1000; i++)
			put_long(&content, record * 1000 + i);
		put_long(&content, 0);
		for (int i = 0; i < 1000; i++)
		{
			put_long(&content, 1);
			put_long(&content, i % 2);
			if (i % 2 == 1)
				put_text(&content, "odd");
		}
		put_long(&content, 0);
	}
	reader = open_content(arena, schema, 3, &content);
	project(reader, 1);
	project(reader, 2);
	for (int record = 0; record < 3; record++)
	{
		const AvroSlot *slots = avro_reader_next(reader);

		CHECK_INT(slots[0].list.count, 1000);
		CHECK_INT(slots[1].list.count, 1000);
		for (int i = 0; i < 1000; i++)
		{
			CHECK(is_int(&slots[0].list.items[i], record * 1000 + i));
			CHECK(i % 2 == 0 ? slots[1].list.items[i].kind == AVRO_NULL :
				  is_text(&slots[1].list.items[i], "odd"));
		}
	}
}

static void
records_give_the_wanted_fields_of_each_element(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 507,
				 OPTIONAL(ARRAY(RECORD(FIELD("nan", 518,
											 OPTIONAL("\"boolean\"")) ","
									   FIELD("null", 509, "\"boolean\"") ","
									   FIELD("low", 510,
											 OPTIONAL("\"bytes\"")))))));
	static const int32_t path[] = {507};
	static const int32_t ids[] = {509, 510, 511};
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slot;

	buffer_init(&content, arena);
	put_long(&content, 1);
	put_long(&content, 2);
	put_long(&content, 1);
	buffer_append_byte(&content, 1);
	buffer_append_byte(&content, 0);
	put_long(&content, 1);
	put_text(&content, "low");
	put_long(&content, 0);
	buffer_append_byte(&content, 1);
	put_long(&content, 0);
	put_long(&content, 0);
	reader = open_content(arena, schema, 1, &content);
	CHECK_INT(avro_reader_project_records(reader, path, 1, ids, 3), 0);
	slot = only_record(reader);
	CHECK_INT(slot->kind, AVRO_LIST);
	CHECK_INT(slot->list.count, 6);
	CHECK(slot->list.items[0].kind == AVRO_BOOL && slot->list.items[0].i == 0);
	CHECK(is_text(&slot->list.items[1], "low"));
	CHECK_INT(slot->list.items[2].kind, AVRO_NULL);
	CHECK(slot->list.items[3].kind == AVRO_BOOL && slot->list.items[3].i == 1);
	CHECK_INT(slot->list.items[4].kind, AVRO_NULL);
	CHECK_INT(slot->list.items[5].kind, AVRO_NULL);
}

static void
put_entry(LakeBuffer *content, int32_t key, const char *value)
{
	put_long(content, key);
	put_text(content, value);
}

static void
map_entries_are_found_by_key(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, OPTIONAL(ARRAY(MAP_ITEM))) ","
		   FIELD("b", 2, ARRAY(COUNT_ITEM)));
	static const int32_t two[] = {2};
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;
	int			k[5];

	buffer_init(&content, arena);
	put_long(&content, 1);
	put_long(&content, 2);
	put_entry(&content, 7, "seven");
	put_entry(&content, 3, "three");
	put_long(&content, -2);
	put_long(&content, 10);
	put_entry(&content, -9, "minus");
	put_entry(&content, 7, "7");
	put_long(&content, 0);
	put_long(&content, 2);
	put_long(&content, 3);
	put_long(&content, INT64_MIN);
	put_long(&content, 4);
	put_long(&content, 44);
	put_long(&content, 0);
	reader = open_content(arena, schema, 1, &content);
	k[0] = avro_reader_project_map_entry(reader, one, 1, 7);
	k[1] = avro_reader_project_map_entry(reader, one, 1, -9);
	k[2] = avro_reader_project_map_entry(reader, one, 1, 5);
	k[3] = avro_reader_project_map_entry(reader, two, 1, 3);
	k[4] = avro_reader_project_map_entry(reader, two, 1, 4);
	CHECK_INT(avro_reader_project_map_entry(reader, one, 1, -9), k[1]);
	slots = only_record(reader);
	/* of a repeated key the last value counts, as in Java's maps */
	CHECK(is_text(&slots[k[0]], "7"));
	CHECK(is_text(&slots[k[1]], "minus"));
	CHECK_INT(slots[k[2]].kind, AVRO_NULL);
	CHECK(is_int(&slots[k[3]], INT64_MIN));
	CHECK(is_int(&slots[k[4]], 44));
	CHECK_INT(skip_all(arena, schema, 1, &content), 1);
}

static void
whole_maps_come_as_keys_and_values(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1,
				 OPTIONAL(ARRAY(RECORD(FIELD("key", 8, "\"int\"") ","
									   FIELD("value", 9, "\"long\""))))));
	static const int32_t present[] = {1};
	static const int32_t absent[] = {2};
	static const int64_t expected[] = {7, 70, 3, 30, 7, 71};
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;
	int			map;
	int			none;

	buffer_init(&content, arena);
	put_long(&content, 1);
	put_long(&content, 2);
	for (int i = 0; i < 4; i++)
		put_long(&content, expected[i]);
	put_long(&content, 1);
	put_long(&content, expected[4]);
	put_long(&content, expected[5]);
	put_long(&content, 0);
	reader = open_content(arena, schema, 1, &content);
	map = avro_reader_project_map(reader, present, 1);
	none = avro_reader_project_map(reader, absent, 1);
	slots = only_record(reader);
	CHECK_INT(slots[map].kind, AVRO_LIST);
	CHECK_INT(slots[map].list.count, 6);
	for (int i = 0; i < 6; i++)
		CHECK(is_int(&slots[map].list.items[i], expected[i]));
	CHECK_INT(slots[none].kind, AVRO_NULL);
}

static void
a_map_item_may_have_any_shape(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1,
				 ARRAY(RECORD(FIELD("value", 9, OPTIONAL("\"string\"")) ","
							  FIELD("more", 10, ARRAY("\"int\"")) ","
							  FIELD("key", 8, "\"long\"")))));
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;

	buffer_init(&content, arena);
	put_long(&content, 2);
	for (int key = 1; key <= 2; key++)
	{
		put_long(&content, key - 1);
		if (key == 2)
			put_text(&content, "two");
		put_long(&content, 1);
		put_long(&content, 5);
		put_long(&content, 0);
		put_long(&content, key);
	}
	put_long(&content, 0);
	reader = open_content(arena, schema, 1, &content);
	avro_reader_project_map_entry(reader, one, 1, 1);
	avro_reader_project_map_entry(reader, one, 1, 2);
	slots = only_record(reader);
	CHECK_INT(slots[0].kind, AVRO_NULL);
	CHECK(is_text(&slots[1], "two"));
}

static void
map_items_and_keys_may_be_optional(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1,
				 ARRAY(OPTIONAL(RECORD(FIELD("key", 8, OPTIONAL("\"int\""))
									   ","
									   FIELD("value", 9,
											 OPTIONAL("\"long\"")))))));
	LakeBuffer	content;
	AvroReader *reader;
	const AvroSlot *slots;

	buffer_init(&content, arena);
	put_long(&content, 3);
	put_long(&content, 0);		/* no entry */
	put_long(&content, 1);		/* one without key */
	put_long(&content, 0);
	put_long(&content, 1);
	put_long(&content, 66);
	put_long(&content, 1);
	put_long(&content, 1);
	put_long(&content, 7);
	put_long(&content, 1);
	put_long(&content, 77);
	put_long(&content, 0);
	reader = open_content(arena, schema, 1, &content);
	avro_reader_project_map_entry(reader, one, 1, 0);
	avro_reader_project_map_entry(reader, one, 1, 7);
	slots = only_record(reader);
	CHECK_INT(slots[0].kind, AVRO_NULL);
	CHECK(is_int(&slots[1], 77));
}

static void
maps_of_every_shape_are_skipped(LakeArena *arena)
{
	static const char schema[] =
		RECORD("{\"name\":\"a\",\"type\":"
		   "{\"type\":\"map\",\"values\":\"int\"}},"
		   "{\"name\":\"b\",\"type\":"
		   "{\"type\":\"map\",\"values\":\"null\"}},"
		   "{\"name\":\"c\",\"type\":" ARRAY("\"double\"") "},"
		   "{\"name\":\"d\",\"type\":" ARRAY("\"string\"") "},"
		   "{\"name\":\"e\",\"type\":" ARRAY("[\"null\",\"int\"]") "},"
		   FIELD("last", 1, "\"int\""));
	LakeBuffer	content;
	AvroReader *reader;

	buffer_init(&content, arena);
	put_long(&content, 2);
	put_text(&content, "key");
	put_long(&content, 5);
	put_text(&content, "");
	put_long(&content, 600000);
	put_long(&content, 0);
	put_long(&content, 1);
	put_text(&content, "key");
	put_long(&content, 0);
	put_long(&content, 2);
	buffer_append(&content, "0123456789abcdef", 16);
	put_long(&content, 0);
	put_long(&content, 2);
	put_text(&content, "text");
	put_text(&content, "");
	put_long(&content, 0);
	put_long(&content, 3);
	put_long(&content, 0);
	put_long(&content, 1);
	put_long(&content, 1000);
	put_long(&content, 0);
	put_long(&content, 0);
	put_long(&content, 77);
	reader = open_content(arena, schema, 1, &content);
	project(reader, 1);
	CHECK(is_int(&only_record(reader)[0], 77));
}

static void
items_without_bytes_cost_nothing(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 1, ARRAY("\"null\"")) ","
		   FIELD("b", 2, ARRAY(RECORD(""))) ","
		   FIELD("c", 3, "\"int\""));
	LakeBuffer	content;
	AvroReader *reader;

	buffer_init(&content, arena);
	put_long(&content, INT64_C(1) << 60);
	put_long(&content, INT64_MAX);
	put_long(&content, INT64_MIN);
	put_long(&content, 0);
	put_long(&content, 0);
	put_long(&content, INT64_C(1) << 60);
	put_long(&content, 0);
	put_long(&content, 5);
	reader = open_content(arena, schema, 1, &content);
	project(reader, 3);
	CHECK(is_int(&only_record(reader)[0], 5));
	reader = open_content(arena, schema, 1, &content);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"a\"", project(reader, 1));
}

static void
records_without_bytes_are_limited(LakeArena *arena)
{
	static const char schema[] = RECORD(FIELD("a", 1, "\"null\""));
	LakeBuffer	content;

	buffer_init(&content, arena);
	CHECK_INT(skip_all(arena, schema, 1000, &content), 1000);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "empty records",
				 skip_all(arena, schema, INT64_C(1) << 60, &content));
}

static void
an_array_longer_than_its_bytes_is_corrupt(LakeArena *arena)
{
	static const char schema[] = RECORD(FIELD("a", 1, ARRAY("\"long\"")));
	static const int64_t counts[] = {
		2, 1000, INT64_C(1) << 62, INT64_MAX, INT64_MIN, -5
	};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
	{
		LakeBuffer	content;

		buffer_init(&content, arena);
		put_long(&content, counts[i]);
		if (counts[i] < 0)
			put_long(&content, 1);
		put_long(&content, 5);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "manifest",
					 skip_all(arena, schema, 1, &content));
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "manifest",
					 read_all(arena, schema, 1, &content));
	}
}

static void
an_array_block_of_a_wrong_size_is_corrupt(LakeArena *arena)
{
	static const char schema[] = RECORD(FIELD("a", 1, ARRAY("\"long\"")));
	static const int64_t sizes[] = {-1, 100, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
	{
		LakeBuffer	content;

		buffer_init(&content, arena);
		put_long(&content, -1);
		put_long(&content, sizes[i]);
		put_long(&content, 5);
		put_long(&content, 0);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "block",
					 skip_all(arena, schema, 1, &content));
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "block",
					 read_all(arena, schema, 1, &content));
	}
}

static void
a_wrong_length_of_bytes_is_corrupt(LakeArena *arena)
{
	static const char schema[] = RECORD(FIELD("a", 1, "\"string\""));
	static const int64_t lengths[] = {-1, 2, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
	{
		LakeBuffer	content;

		buffer_init(&content, arena);
		put_long(&content, lengths[i]);
		buffer_append_byte(&content, 'x');
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "length",
					 skip_all(arena, schema, 1, &content));
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "length",
					 read_all(arena, schema, 1, &content));
	}
}

static void
a_union_branch_that_is_not_there_is_corrupt(LakeArena *arena)
{
	static const int64_t branches[] = {-1, 2, 3, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++)
	{
		LakeBuffer	content;

		buffer_init(&content, arena);
		put_long(&content, branches[i]);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "union of 2",
					 skip_all(arena, RECORD(FIELD("a", 1, OPTIONAL("\"int\""))),
							  1, &content));
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "union of 1",
					 skip_all(arena, RECORD(FIELD("a", 1, "[\"null\"]")),
							  1, &content));
	}
}

static void
a_boolean_is_zero_or_one(LakeArena *arena)
{
	LakeBuffer	content;

	buffer_init(&content, arena);
	buffer_append_byte(&content, 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "boolean",
				 read_all(arena, RECORD(FIELD("a", 1, "\"boolean\"")), 1,
						  &content));
}

static void
an_int_has_32_bits(LakeArena *arena)
{
	static const int64_t values[] = {INT32_MIN, INT32_MAX};
	static const char schema[] = RECORD(FIELD("a", 1, "\"int\""));
	LakeBuffer	content;

	for (int i = 0; i < 2; i++)
	{
		buffer_init(&content, arena);
		put_long(&content, values[i]);
		CHECK_INT(read_all(arena, schema, 1, &content), 1);
	}
	buffer_init(&content, arena);
	put_long(&content, (int64_t) INT32_MAX + 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "32 bits",
				 read_all(arena, schema, 1, &content));
}

static void
a_long_takes_at_most_ten_bytes(LakeArena *arena)
{
	static const char schema[] = RECORD(FIELD("a", 1, "\"long\""));

	/* 9876543210123456789, which some writer took for a snapshot id */
	static const uint8_t too_large[] = {
		0xaa, 0xc4, 0xaf, 0xa9, 0xc8, 0xe6, 0xc5, 0x90, 0x92, 0x02
	};
	LakeBuffer	content;
	AvroReader *reader;

	buffer_init(&content, arena);
	buffer_append(&content, too_large, sizeof too_large);
	reader = open_content(arena, schema, 1, &content);
	project(reader, 1);
	CHECK_INT(only_record(reader)->kind, AVRO_INT);
	buffer_init(&content, arena);
	for (int i = 0; i < 10; i++)
		buffer_append_byte(&content, 0x80);
	buffer_append_byte(&content, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "10 bytes",
				 read_all(arena, schema, 1, &content));
}

static void
a_list_beyond_the_limit_is_refused(LakeArena *arena)
{
	size_t		count = (size_t) 5 << 20;
	LakeBuffer	content;

	buffer_init(&content, arena);
	put_long(&content, (int64_t) count);
	buffer_reserve(&content, count);
	memset(content.data + content.len, 0, count);
	content.len += count;
	put_long(&content, 0);
	CHECK_INT(skip_all(arena, RECORD(FIELD("a", 1, ARRAY("\"int\""))), 1,
					   &content), 1);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "lists",
				 read_all(arena, RECORD(FIELD("a", 1, ARRAY("\"int\""))), 1,
						  &content));
}

static const UnitTest tests[] = {
	UNIT(null_may_be_either_branch),
	UNIT(a_wide_union_gives_the_branch_that_is_there),
	UNIT(unions_within_unions_records_keep_their_way),
	UNIT(skipping_stays_in_step_with_any_run_of_varints),
	UNIT(a_list_may_come_in_blocks_with_and_without_sizes),
	UNIT(an_empty_list_is_not_null),
	UNIT(several_long_lists_keep_apart),
	UNIT(records_give_the_wanted_fields_of_each_element),
	UNIT(map_entries_are_found_by_key),
	UNIT(whole_maps_come_as_keys_and_values),
	UNIT(a_map_item_may_have_any_shape),
	UNIT(map_items_and_keys_may_be_optional),
	UNIT(maps_of_every_shape_are_skipped),
	UNIT(items_without_bytes_cost_nothing),
	UNIT(records_without_bytes_are_limited),
	UNIT(an_array_longer_than_its_bytes_is_corrupt),
	UNIT(an_array_block_of_a_wrong_size_is_corrupt),
	UNIT(a_wrong_length_of_bytes_is_corrupt),
	UNIT(a_union_branch_that_is_not_there_is_corrupt),
	UNIT(a_boolean_is_zero_or_one),
	UNIT(an_int_has_32_bits),
	UNIT(a_long_takes_at_most_ten_bytes),
	UNIT(a_list_beyond_the_limit_is_refused),
};

UNIT_MAIN(tests)
