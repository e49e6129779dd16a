/*
 * Partition specs: ids that are left out, sources of every kind, and what
 * cannot be a spec.
 */
#include "base/json.h"
#include "iceberg_fixture.h"
#include "unit.h"

static const LakePartitionSpec *
parse(LakeArena *arena, const char *fields)
{
	LakePartitionSpec *spec = lake_alloc(arena, sizeof *spec);
	MemoryStore *memory = memory_store_create(arena);
	LakeBytes	text = {(const uint8_t *) fields, strlen(fields)};

	partition_spec_parse(arena, json_parse(arena, text, "spec"), 7,
						 fixture_table(memory, NULL, 0), spec);
	return spec;
}

static void
missing_field_ids_count_from_1000(LakeArena *arena)
{
	const LakePartitionSpec *spec =
		parse(arena, "[{\"name\":\"x\",\"transform\":\"identity\","
		  "\"source-id\":1},{\"name\":\"y\",\"transform\":\"void\","
		  "\"source-id\":2,\"field-id\":5},{\"name\":\"z\","
		  "\"transform\":\"bucket[3]\",\"source-id\":3}]");

	CHECK_INT(spec->id, 7);
	CHECK_INT(spec->field_count, 3);
	CHECK_INT(spec->fields[0].field_id, 1000);
	CHECK_INT(spec->fields[1].field_id, 5);
	CHECK_INT(spec->fields[2].field_id, 1002);
	CHECK_STRING(spec->fields[2].name, "z");
}

static void
types_follow_the_source(LakeArena *arena)
{
	const LakePartitionSpec *spec =
		parse(arena, "[{\"name\":\"x\",\"transform\":\"identity\","
		  "\"source-id\":2},{\"name\":\"y\",\"transform\":\"day\","
		  "\"source-id\":2},{\"name\":\"z\",\"transform\":\"identity\","
		  "\"source-id\":99}]");

	CHECK_INT(spec->fields[0].source_type->kind, LAKE_STRING);
	CHECK_INT(spec->fields[0].result_type->kind, LAKE_STRING);
	/* a text has no day, and nobody has column 99 */
	CHECK(spec->fields[1].result_type == NULL);
	CHECK(spec->fields[2].source_type == NULL);
	CHECK(spec->fields[2].result_type == NULL);
}

static void
a_list_of_one_source_is_that_source(LakeArena *arena)
{
	const LakePartitionSpec *spec =
		parse(arena, "[{\"name\":\"x\",\"transform\":\"identity\","
		  "\"source-ids\":[4]}]");

	CHECK_INT(spec->fields[0].source_id, 4);
	CHECK_INT(spec->fields[0].transform.kind, TRANSFORM_IDENTITY);
}

static void
several_sources_make_an_unknown_transform(LakeArena *arena)
{
	const LakePartitionSpec *spec =
		parse(arena, "[{\"name\":\"x\",\"transform\":\"bucket[8]\","
		  "\"source-ids\":[1,4]}]");

	CHECK_INT(spec->fields[0].transform.kind, TRANSFORM_UNKNOWN);
	CHECK_STRING(spec->fields[0].transform.text, "bucket[8]");
	CHECK(spec->fields[0].result_type == NULL);
}

static void
malformed_specs_are_corrupt(LakeArena *arena)
{
	static const char *const specs[][2] = {
		{"{}", "partition spec"},
		{"[1]", ""},
		{"[{\"transform\":\"identity\",\"source-id\":1}]", "\"name\""},
		{"[{\"name\":\"x\",\"source-id\":1}]", "\"transform\""},
		{"[{\"name\":\"x\",\"transform\":\"identity\"}]", "\"source-ids\""},
		{"[{\"name\":\"x\",\"transform\":\"void\",\"source-ids\":[]}]",
		"\"source-ids\""},
		{"[{\"name\":\"x\",\"transform\":\"void\","
		"\"source-ids\":[4294967296]}]", "\"source-ids\""},
		{"[{\"name\":\"x\",\"transform\":\"void\",\"source-id\":1,"
		"\"field-id\":\"1000\"}]", "\"field-id\""},
	};

	for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, specs[i][1],
					 parse(arena, specs[i][0]));
}

static const UnitTest tests[] = {
	UNIT(missing_field_ids_count_from_1000),
	UNIT(types_follow_the_source),
	UNIT(a_list_of_one_source_is_that_source),
	UNIT(several_sources_make_an_unknown_transform),
	UNIT(malformed_specs_are_corrupt),
};

UNIT_MAIN(tests)
