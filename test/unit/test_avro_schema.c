/*
 * Writers' schemas: names, references, and those that are refused.
 */
#include "avro_file.h"

/* opens a file of one record whose bytes are content */
static AvroReader *
open_schema(LakeArena *arena, const char *schema, const char *content)
{
	LakeBuffer	bytes;

	buffer_init(&bytes, arena);
	buffer_append_text(&bytes, content);
	return open_content(arena, schema, 1, &bytes);
}

/* the value of field 1 of the only record */
static const AvroSlot *
field_one(LakeArena *arena, const char *schema, const char *content)
{
	AvroReader *reader = open_schema(arena, schema, content);
	int			slot = project(reader, 1);

	return &avro_reader_next(reader)[slot];
}

#define FOUR(name) "{\"type\":\"fixed\",\"size\":4,\"name\":\"" name "\"}"

static void
a_named_type_is_found_by_its_name(LakeArena *arena)
{
	CHECK(is_text(field_one(arena, RECORD(FIELD("a", 2, FOUR("Four")) ","
										  FIELD("b", 1, "\"Four\"")),
							"aaaabbbb"), "bbbb"));
	CHECK(is_text(field_one(arena, RECORD(FIELD("a", 2, FOUR("x.y.Four")) ","
										  FIELD("b", 1, "\"x.y.Four\"")),
							"aaaabbbb"), "bbbb"));
}

static void
a_name_belongs_to_the_namespace_around_it(LakeArena *arena)
{
	static const char inherited[] =
		"{\"type\":\"record\",\"name\":\"top\",\"namespace\":\"n\",\"fields\":["
	FIELD("a", 2, FOUR("Four")) ","
	FIELD("b", 3, "\"n.Four\"") ","
	FIELD("c", 1, "\"Four\"") "]}";
	static const char dotted[] =
		"{\"type\":\"record\",\"name\":\"n.m.top\",\"fields\":["
	FIELD("a", 2, FOUR("Four")) ","
	FIELD("b", 3, "\"n.m.Four\"") ","
	FIELD("c", 1, "\"Four\"") "]}";

	CHECK(is_text(field_one(arena, inherited, "aaaabbbbcccc"), "cccc"));
	CHECK(is_text(field_one(arena, dotted, "aaaabbbbcccc"), "cccc"));
}

static void
a_type_that_occurs_twice_is_asked_at_its_place(LakeArena *arena)
{
	static const char schema[] =
		RECORD(FIELD("a", 5, "{\"type\":\"record\",\"name\":\"in\",\"fields\":["
				 FIELD("x", 6, FOUR("Four")) "]}") ","
		   FIELD("b", 7, "\"in\"") ","
		   FIELD("c", 8, OPTIONAL("\"in\"")));
	static const int32_t b_x[] = {7, 6};
	static const int32_t c_x[] = {8, 6};
	AvroReader *reader = open_schema(arena, schema, "aaaabbbb\x02" "cccc");
	const AvroSlot *slots;

	CHECK_INT(avro_reader_project(reader, c_x, 2), 0);
	CHECK_INT(avro_reader_project(reader, b_x, 2), 1);
	slots = avro_reader_next(reader);
	CHECK(is_text(&slots[0], "cccc"));
	CHECK(is_text(&slots[1], "bbbb"));
}

static void
a_type_may_be_wrapped_in_objects(LakeArena *arena)
{
	CHECK(is_int(field_one(arena, RECORD(FIELD("a", 1, "{\"type\":\"int\","
											   "\"logicalType\":\"date\"}")),
						   "\x08"), 4));
	CHECK(is_int(field_one(arena, RECORD(FIELD("a", 1, "{\"type\":{\"type\":"
											   "{\"type\":\"int\"}}}")),
						   "\x08"), 4));
}

static void
a_missing_or_unusable_field_id_matches_nothing(LakeArena *arena)
{
	CHECK_INT(field_one(arena, RECORD("{\"name\":\"a\",\"type\":\"int\"}"),
						"\x08")->kind, AVRO_NULL);
	CHECK_INT(field_one(arena, RECORD("{\"name\":\"a\",\"type\":\"int\","
									  "\"field-id\":-7}"),
						"\x08")->kind, AVRO_NULL);
}

static void
recursion_is_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"r\" contains itself",
				 open_schema(arena, RECORD(FIELD("a", 1, OPTIONAL("\"r\""))),
							 ""));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "contains itself",
				 open_schema(arena,
							 RECORD(FIELD("a", 1, ARRAY("{\"type\":\"record\","
														"\"name\":\"in\","
														"\"fields\":["
														FIELD("b", 2, "\"r\"")
														"]}"))), ""));
}

static void
malformed_schemas_are_corrupt(LakeArena *arena)
{
	static const char *const schemas[] = {
		"",
		"nonsense",
		"{}",
		"[]",
		"1",
		"null",
		"\"unknown\"",
		"{\"type\":\"record\",\"name\":\"r\"}",
		"{\"type\":\"record\",\"fields\":[]}",
		"{\"type\":\"record\",\"name\":\"r\",\"fields\":{}}",
		"{\"type\":\"record\",\"name\":\"r\",\"fields\":[1]}",
		"{\"type\":\"record\",\"name\":\"r\",\"fields\":[null]}",
		RECORD("{\"name\":\"a\"}"),
		RECORD("{\"type\":\"int\"}"),
		RECORD(FIELD("a", 1, "\"Four\"") "," FIELD("b", 2, FOUR("Four"))),
		RECORD(FIELD("a", 1, "{\"type\":\"fixed\",\"name\":\"f\"}")),
		RECORD(FIELD("a", 1,
					 "{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}")),
		RECORD(FIELD("a", 1,
					 "{\"type\":\"fixed\",\"name\":\"f\",\"size\":1e30}")),
		RECORD(FIELD("a", 1, "{\"type\":\"array\"}")),
		RECORD(FIELD("a", 1, "{\"type\":\"map\"}")),
		RECORD(FIELD("a", 1, "[]")),
		RECORD(FIELD("a", 1, "[\"null\",[\"null\"]]")),
	};

	for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
					 open_schema(arena, schemas[i], ""));
}

static void
a_top_level_other_than_a_record_is_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "type int",
				 open_schema(arena, "\"int\"", ""));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "type array",
				 open_schema(arena, ARRAY("\"int\""), ""));
}

static void
deep_nesting_is_limited(LakeArena *arena)
{
	LakeBuffer	schema;
	int			depth;

	for (depth = 60; depth <= 200; depth += 140)
	{
		buffer_init(&schema, arena);
		buffer_append_text(&schema, "{\"type\":\"record\",\"name\":\"r\","
						   "\"fields\":[{\"name\":\"a\",\"type\":");
		for (int i = 0; i < depth; i++)
			buffer_append_text(&schema, "{\"type\":\"array\",\"items\":");
		buffer_append_text(&schema, "\"int\"");
		for (int i = 0; i < depth; i++)
			buffer_append_byte(&schema, '}');
		buffer_append_text(&schema, "}]}");
		buffer_append_byte(&schema, 0);
		if (depth < 100)
			open_schema(arena, (const char *) schema.data, "");
		else
			CHECK_THROWS(LAKE_ERROR_LIMIT, "levels deep",
						 open_schema(arena, (const char *) schema.data, ""));
	}
}

static void
types_that_multiply_are_limited(LakeArena *arena)
{
	LakeBuffer	schema;

	/* each record has ten fields of the one before: 10^30 in the end */
	buffer_init(&schema, arena);
	buffer_append_text(&schema, "{\"type\":\"record\",\"name\":\"r\","
					   "\"fields\":[");
	for (int i = 0; i < 30; i++)
	{
		buffer_printf(&schema, "%s{\"name\":\"f%d\",\"type\":{\"type\":"
					  "\"record\",\"name\":\"r%d\",\"fields\":[",
					  i == 0 ? "" : ",", i, i);
		for (int j = 0; j < 10; j++)
		{
			buffer_printf(&schema, "%s{\"name\":\"g%d\",\"type\":",
						  j == 0 ? "" : ",", j);
			if (i == 0)
				buffer_append_text(&schema, "\"int\"}");
			else
				buffer_printf(&schema, "\"r%d\"}", i - 1);
		}
		buffer_append_text(&schema, "]}}");
	}
	buffer_append_text(&schema, "]}");
	buffer_append_byte(&schema, 0);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "types",
				 open_schema(arena, (const char *) schema.data, ""));
}

static void
huge_fixed_types_do_not_overflow(LakeArena *arena)
{
	LakeBuffer	schema;

	buffer_init(&schema, arena);
	buffer_append_text(&schema, "{\"type\":\"record\",\"name\":\"r\","
					   "\"fields\":[{\"name\":\"f\",\"type\":"
					   "{\"type\":\"fixed\",\"name\":\"f\","
					   "\"size\":2147483647}}");
	for (int i = 0; i < 5000; i++)
		buffer_printf(&schema, ",{\"name\":\"g%d\",\"type\":\"f\"}", i);
	buffer_append_text(&schema, "]}");
	buffer_append_byte(&schema, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "count",
				 avro_reader_next(open_schema(arena,
											  (const char *) schema.data,
											  "some bytes")));
}

static const UnitTest tests[] = {
	UNIT(a_named_type_is_found_by_its_name),
	UNIT(a_name_belongs_to_the_namespace_around_it),
	UNIT(a_type_that_occurs_twice_is_asked_at_its_place),
	UNIT(a_type_may_be_wrapped_in_objects),
	UNIT(a_missing_or_unusable_field_id_matches_nothing),
	UNIT(recursion_is_refused_by_name),
	UNIT(malformed_schemas_are_corrupt),
	UNIT(a_top_level_other_than_a_record_is_refused_by_name),
	UNIT(deep_nesting_is_limited),
	UNIT(types_that_multiply_are_limited),
	UNIT(huge_fixed_types_do_not_overflow),
};

UNIT_MAIN(tests)
