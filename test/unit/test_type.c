/*
 * Types and schemas out of JSON.
 */
#include "unit.h"

#include "base/bytes.h"
#include "table/type.h"

static LakeJson *
json(LakeArena *arena, const char *text)
{
	return json_parse(arena, (LakeBytes)
					  {
						  (const uint8_t *) text, strlen(text)
					  }, "test");
}

static const char *
type_text(LakeArena *arena, const char *text)
{
	return lake_type_text(arena, lake_type_parse(arena, json(arena, text)));
}

static void
primitive_types_are_read_and_written_alike(LakeArena *arena)
{
	static const char *const names[] = {
		"boolean", "int", "long", "float", "double", "decimal(9,2)",
		"decimal(38,38)", "date", "time", "timestamp", "timestamptz",
		"timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed[16]",
		"binary", "unknown", "variant", "geometry", "geography"
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK_STRING(type_text(arena, lake_printf(arena, "\"%s\"", names[i])),
					 names[i]);
}

static void
spelling_of_types_is_tolerated(LakeArena *arena)
{
	CHECK_STRING(type_text(arena, "\"decimal( 10 , 3 )\""), "decimal(10,3)");
	CHECK_STRING(type_text(arena, "\"TimestampTZ\""), "timestamptz");
	CHECK_STRING(type_text(arena, "\"geometry(OGC:CRS84)\""), "geometry");
	CHECK_STRING(type_text(arena, "\"geography (OGC:CRS84, karney)\""),
				 "geography");
}

static void
malformed_types_are_refused(LakeArena *arena)
{
	static const char *const corrupt[] = {
		"decimal()", "decimal(9)", "decimal(9,)", "decimal(0,0)",
		"decimal(39,2)", "decimal(5,6)", "decimal(5,-1)", "decimal(9,2)x",
		"decimal(99999999999,2)", "fixed[]", "fixed[x]", "fixed[-1]",
		"fixed[2147483648]", "fixed[16"
	};

	for (size_t i = 0; i < sizeof corrupt / sizeof corrupt[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "malformed",
					 type_text(arena, lake_printf(arena, "\"%s\"",
												  corrupt[i])));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "neither", type_text(arena, "7"));
}

static void
unknown_types_are_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"interval\"",
				 type_text(arena, "\"interval\""));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"longer\"",
				 type_text(arena, "\"longer\""));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"union\"",
				 type_text(arena, "{\"type\":\"union\"}"));
}

static const char nested_schema[] =
"{\"type\":\"struct\",\"schema-id\":7,\"identifier-field-ids\":[1],"
"\"fields\":["
"{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\","
"\"doc\":\"key\"},"
"{\"id\":2,\"name\":\"tags\",\"required\":false,\"type\":"
"{\"type\":\"list\",\"element-id\":4,\"element-required\":false,"
"\"element\":\"string\"}},"
"{\"id\":3,\"name\":\"places\",\"required\":false,\"type\":"
"{\"type\":\"map\",\"key-id\":5,\"key\":\"string\",\"value-id\":6,"
"\"value-required\":true,\"value\":{\"type\":\"struct\",\"fields\":["
"{\"id\":7,\"name\":\"lat\",\"required\":true,\"type\":\"double\"},"
"{\"id\":8,\"name\":\"n\",\"required\":false,\"type\":\"int\","
"\"initial-default\":0}]}}}]}";

static void
schemas_are_read_with_nested_types(LakeArena *arena)
{
	const LakeSchema *schema = lake_schema_parse(arena,
												 json(arena, nested_schema));

	CHECK_INT(schema->id, 7);
	CHECK_INT(schema->field_count, 3);
	CHECK_INT(schema->identifier_count, 1);
	CHECK_INT(schema->identifier_ids[0], 1);
	CHECK(schema->fields[0].required);
	CHECK_STRING(schema->fields[0].doc, "key");
	CHECK(schema->fields[1].doc == NULL);
	CHECK_STRING(lake_type_text(arena, schema->fields[1].type),
				 "list<string>");
	CHECK_STRING(lake_type_text(arena, schema->fields[2].type),
				 "map<string, struct<lat: double, n: int>>");
	CHECK(schema->fields[2].type->fields[0].required);
	CHECK(lake_schema_find_id(schema, 8)->initial_default != NULL);
	CHECK(lake_schema_find_id(schema, 7)->initial_default == NULL);
}

static void
fields_are_found_by_id_name_and_path(LakeArena *arena)
{
	const LakeSchema *schema = lake_schema_parse(arena,
												 json(arena, nested_schema));

	CHECK_STRING(lake_schema_find_id(schema, 7)->name, "lat");
	CHECK_STRING(lake_schema_find_id(schema, 4)->name, "element");
	CHECK(lake_schema_find_id(schema, 9) == NULL);
	CHECK_INT(lake_schema_find_name(schema, "tags")->id, 2);
	CHECK(lake_schema_find_name(schema, "Tags") == NULL);
	CHECK_STRING(lake_schema_path(arena, schema, 3), "places");
	CHECK_STRING(lake_schema_path(arena, schema, 4), "tags.element");
	CHECK_STRING(lake_schema_path(arena, schema, 8), "places.value.n");
	CHECK(lake_schema_path(arena, schema, 9) == NULL);
}

static void
a_schema_without_id_has_id_zero(LakeArena *arena)
{
	const LakeSchema *schema = lake_schema_parse(arena, json(arena,
															 "{\"type\":\"struct\",\"fields\":[]}"));

	CHECK_INT(schema->id, 0);
	CHECK_INT(schema->field_count, 0);
}

static LakeSchema *
two_fields(LakeArena *arena, int id, const char *name)
{
	const char *text = lake_printf(arena,
								   "{\"type\":\"struct\",\"fields\":["
								   "{\"id\":1,\"name\":\"a\",\"required\":true,"
								   "\"type\":\"int\"},{\"id\":%d,\"name\":\"%s\","
								   "\"required\":false,\"type\":\"int\"}]}",
								   id, name);

	return lake_schema_parse(arena, json(arena, text));
}

static void
ids_and_names_must_be_unique_and_in_range(LakeArena *arena)
{
	CHECK_INT(two_fields(arena, LAKE_MAX_USER_FIELD_ID, "b")->field_count, 2);
	CHECK_INT(two_fields(arena, 0, "A")->field_count, 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "the id 1", two_fields(arena, 1, "b"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "named \"a\"", two_fields(arena, 2, "a"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "invalid id", two_fields(arena, -1, "b"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "invalid id",
				 two_fields(arena, LAKE_MAX_USER_FIELD_ID + 1, "b"));
}

static const char *
nested_lists(LakeArena *arena, int depth)
{
	LakeBuffer	buffer;

	buffer_init(&buffer, arena);
	for (int i = 0; i < depth; i++)
		buffer_printf(&buffer, "{\"type\":\"list\",\"element-id\":%d,"
					  "\"element-required\":false,\"element\":", i + 1);
	buffer_append_text(&buffer, "\"int\"");
	for (int i = 0; i < depth; i++)
		buffer_append_byte(&buffer, '}');
	buffer_append_byte(&buffer, 0);
	return (const char *) buffer.data;
}

static void
depth_is_limited(LakeArena *arena)
{
	CHECK(lake_type_parse(arena, json(arena,
									  nested_lists(arena, LAKE_MAX_TYPE_DEPTH - 1))) != NULL);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "deep",
				 lake_type_parse(arena, json(arena,
											 nested_lists(arena, LAKE_MAX_TYPE_DEPTH))));
}

static void
missing_members_are_named(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "fields",
				 type_text(arena, "{\"type\":\"struct\"}"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "element-id",
				 type_text(arena, "{\"type\":\"list\",\"element\":\"int\","
						   "\"element-required\":true}"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"list\"",
				 lake_schema_parse(arena, json(arena, "{\"type\":\"list\"}")));
}

static const UnitTest tests[] = {
	UNIT(primitive_types_are_read_and_written_alike),
	UNIT(spelling_of_types_is_tolerated),
	UNIT(malformed_types_are_refused),
	UNIT(unknown_types_are_refused_by_name),
	UNIT(schemas_are_read_with_nested_types),
	UNIT(fields_are_found_by_id_name_and_path),
	UNIT(a_schema_without_id_has_id_zero),
	UNIT(ids_and_names_must_be_unique_and_in_range),
	UNIT(depth_is_limited),
	UNIT(missing_members_are_named),
};

UNIT_MAIN(tests)
