/*
 * schema.name-mapping.default.
 */
#include "unit.h"

#include "table/table_int.h"

static NameMapping *
parse(LakeArena *arena, const char *text)
{
	return name_mapping_parse(arena, (LakeBytes)
							  {
								  (const uint8_t *) text, strlen(text)
							  });
}

static void
each_of_several_names_leads_to_the_id(LakeArena *arena)
{
	NameMapping *mapping = parse(arena,
								 "[{\"field-id\":1,\"names\":[\"id\",\"record_id\"]},"
								 "{\"field-id\":2,\"names\":[\"data\"]}]");

	CHECK_INT(name_mapping_find(mapping, "record_id")->field_id, 1);
	CHECK_INT(name_mapping_find(mapping, "id")->field_id, 1);
	CHECK_INT(name_mapping_find(mapping, "data")->field_id, 2);
	CHECK(name_mapping_find(mapping, "ID") == NULL);
}

static void
levels_below_are_separate(LakeArena *arena)
{
	NameMapping *mapping = parse(arena,
								 "[{\"field-id\":1,\"names\":[\"a\"],\"fields\":["
								 "{\"field-id\":3,\"names\":[\"a\"]},"
								 "{\"field-id\":4,\"names\":[\"b\"]}]},"
								 "{\"field-id\":2,\"names\":[\"b\"]}]");
	const MappedName *a = name_mapping_find(mapping, "a");

	CHECK_INT(name_mapping_find(a->children, "a")->field_id, 3);
	CHECK_INT(name_mapping_find(a->children, "b")->field_id, 4);
	CHECK_INT(name_mapping_find(mapping, "b")->field_id, 2);
	CHECK(name_mapping_find(name_mapping_find(mapping, "b")->children,
							"a") == NULL);
}

static void
a_name_without_id_is_known_and_ignored(LakeArena *arena)
{
	NameMapping *mapping = parse(arena, "[{\"names\":[\"ts\"]}]");

	CHECK_INT(name_mapping_find(mapping, "ts")->field_id, -1);
}

static void
an_empty_mapping_has_no_names(LakeArena *arena)
{
	CHECK(name_mapping_find(parse(arena, "[]"), "a") == NULL);
	CHECK(name_mapping_find(parse(arena, "[{\"field-id\":1,\"names\":[]}]"),
							"a") == NULL);
}

static void
malformed_mappings_are_refused(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"a\" twice",
				 parse(arena, "[{\"field-id\":1,\"names\":[\"a\"]},"
					   "{\"field-id\":2,\"names\":[\"a\"]}]"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "names",
				 parse(arena, "[{\"field-id\":1}]"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "name mapping", parse(arena, "{}"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "null", parse(arena, "null"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "field-id",
				 parse(arena, "[{\"field-id\":\"1\",\"names\":[\"a\"]}]"));
}

static const UnitTest tests[] = {
	UNIT(each_of_several_names_leads_to_the_id),
	UNIT(levels_below_are_separate),
	UNIT(a_name_without_id_is_known_and_ignored),
	UNIT(an_empty_mapping_has_no_names),
	UNIT(malformed_mappings_are_refused),
};

UNIT_MAIN(tests)
