/*
 * Table metadata: what each format version may leave out, and what must be
 * refused.
 */
#include "iceberg/iceberg_int.h"

#include "memory_store.h"
#include "unit.h"

#define LOCATION "/lake/t/metadata/v1.metadata.json"

#define V1 "\"format-version\":1,\"location\":\"s3://b/t\"," \
	"\"last-updated-ms\":1,\"last-column-id\":2"
#define V1_SCHEMA "\"schema\":{\"type\":\"struct\",\"fields\":[" \
	"{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"long\"}]}"
#define V1_SPEC "\"partition-spec\":[{\"name\":\"a_b\"," \
	"\"transform\":\"bucket[4]\",\"source-id\":1}," \
	"{\"name\":\"a\",\"transform\":\"identity\",\"source-id\":1}]"
#define V2_REST "\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\"," \
	"\"location\":\"s3://b/t\",\"last-sequence-number\":5," \
	"\"last-updated-ms\":1,\"last-column-id\":2,\"current-schema-id\":1," \
	"\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[" \
	"{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"string\"}]}," \
	"{\"type\":\"struct\",\"schema-id\":1,\"fields\":[" \
	"{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"long\"}]}]," \
	"\"default-spec-id\":3,\"partition-specs\":[{\"spec-id\":3,\"fields\":" \
	"[{\"name\":\"a\",\"transform\":\"truncate[2]\",\"source-id\":1," \
	"\"field-id\":1000},{\"name\":\"x\",\"transform\":\"zorder\"," \
	"\"source-id\":2,\"field-id\":1001}]}],\"last-partition-id\":1001," \
	"\"default-sort-order-id\":0,\"sort-orders\":[]"
#define V2 "\"format-version\":2," V2_REST
#define SNAPSHOT(id, sequence) "{\"snapshot-id\":" id "," \
	"\"sequence-number\":" sequence ",\"timestamp-ms\":7," \
	"\"summary\":{\"operation\":\"append\",\"total-records\":\"12\"," \
	"\"total-data-files\":\"x\"},\"manifest-list\":\"s3://b/t/l.avro\"}"

static const LakeTable *
open_text(LakeArena *arena, LakeBytes text)
{
	MemoryStore *memory = memory_store_create(arena);

	memory_store_put(memory, LOCATION, text);
	return iceberg_format.open(arena, &memory->store, LOCATION);
}

static const LakeTable *
open_json(LakeArena *arena, const char *members)
{
	char	   *text = lake_printf(arena, "{%s}", members);

	return open_text(arena,
					 (LakeBytes) {(const uint8_t *) text, strlen(text)});
}

static void
v1_needs_schema_and_spec_only(LakeArena *arena)
{
	const LakeTable *table = open_json(arena, V1 "," V1_SCHEMA "," V1_SPEC);
	const LakePartitionSpec *spec = iceberg_find_spec(table, 0);

	CHECK_INT(table->format_version, 1);
	CHECK(table->uuid == NULL);
	CHECK_STRING(table->location, "s3://b/t");
	CHECK_INT(table->schema_count, 1);
	CHECK_STRING(table->schema->fields[0].name, "a");
	CHECK(table->current_snapshot == NULL);
	CHECK_INT(spec->field_count, 2);
	CHECK_INT(spec->fields[0].field_id, 1000);
	CHECK_INT(spec->fields[1].field_id, 1001);
	CHECK_INT(spec->fields[0].result_type->kind, LAKE_INT);
	CHECK_INT(spec->fields[1].result_type->kind, LAKE_LONG);
}

static void
v1_with_schemas_picks_the_current_one(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V1 "," V1_SCHEMA "," V1_SPEC
			  ",\"current-schema-id\":4,\"schemas\":["
			  "{\"type\":\"struct\",\"schema-id\":3,\"fields\":[]},"
			  "{\"type\":\"struct\",\"schema-id\":4,\"fields\":["
			  "{\"id\":1,\"name\":\"z\",\"required\":true,"
			  "\"type\":\"int\"}]}]");

	CHECK_INT(table->schema_count, 2);
	CHECK_INT(table->schema->id, 4);
	CHECK_STRING(table->schema->fields[0].name, "z");
}

static void
defaults_outlive_the_parsing_of_their_schema(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V1 "," V1_SCHEMA "," V1_SPEC
			  ",\"current-schema-id\":3,\"schemas\":["
			  "{\"type\":\"struct\",\"schema-id\":3,\"fields\":["
			  "{\"id\":1,\"name\":\"s\",\"required\":true,\"type\":"
			  "{\"type\":\"struct\",\"fields\":["
			  "{\"id\":2,\"name\":\"z\",\"required\":true,"
			  "\"type\":\"int\",\"initial\\u002ddefault\":34}]}}]}]");
	const LakeField *field = lake_schema_find_id(table->schema, 2);

	CHECK_INT(json_int64(field->initial_default, "initial-default"), 34);
}

static void
write_defaults_outlive_it_too(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V1 "," V1_SPEC ",\"schema\":"
			  "{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
			  "{\"id\":1,\"name\":\"a\",\"required\":true,"
			  "\"type\":\"string\",\"write-default\":\"\\u00e4\"}]}");
	const LakeField *field = &table->schema->fields[0];

	CHECK(field->initial_default == NULL);
	CHECK_STRING(json_text(field->write_default), "\"\xc3\xa4\"");
}

static void
v1_without_schema_or_spec_is_refused(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"schema\"",
				 open_json(arena, V1 "," V1_SPEC));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"partition-spec\"",
				 open_json(arena, V1 "," V1_SCHEMA));
}

static void
v2_names_the_missing_member(LakeArena *arena)
{
	static const char *const keys[] = {
		"table-uuid", "location", "last-sequence-number", "last-updated-ms",
		"last-column-id", "current-schema-id", "schemas", "default-spec-id",
		"partition-specs", "last-partition-id", "default-sort-order-id",
		"sort-orders"
	};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
	{
		char	   *text = lake_strdup(arena, V2);
		char	   *quoted = lake_printf(arena, "\"%s\":", keys[i]);
		char	   *found = strstr(text, quoted);

		CHECK(found != NULL);
		found[1] = '#';
		CHECK_THROWS(LAKE_ERROR_CORRUPT,
					 lake_printf(arena, "no \"%s\"", keys[i]),
					 open_json(arena, text));
	}
}

static void
v3_without_next_row_id_is_read(LakeArena *arena)
{
	CHECK_INT(open_json(arena, "\"format-version\":3,"
						V2_REST)->format_version, 3);
}

static void
versions_after_3_are_unsupported(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "format-version 4",
				 open_json(arena, "\"format-version\":4"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "format-version 0",
				 open_json(arena, "\"format-version\":0"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"format-version\" is not an integer",
				 open_json(arena, "\"format-version\":\"2\""));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"format-version\"",
				 open_json(arena, ""));
}

static void
views_are_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "view",
				 open_json(arena, "\"view-uuid\":\"x\","
						   "\"format-version\":1,\"location\":\"y\""));
}

static void
specs_outlive_their_columns(LakeArena *arena)
{
	const LakeTable *table = open_json(arena, V2);
	const LakePartitionSpec *spec = iceberg_find_spec(table, 3);

	/* column 1 is gone: its type is in an older schema */
	CHECK(spec->fields[0].source_type == NULL);
	CHECK_INT(spec->fields[0].result_type->kind, LAKE_STRING);
	CHECK_INT(spec->fields[0].transform.kind, TRANSFORM_TRUNCATE);
	CHECK(iceberg_find_spec(table, 0) == NULL);
}

static void
unknown_transforms_are_kept(LakeArena *arena)
{
	const LakePartitionSpec *spec = iceberg_find_spec(open_json(arena, V2), 3);

	CHECK_INT(spec->fields[1].transform.kind, TRANSFORM_UNKNOWN);
	CHECK(spec->fields[1].result_type == NULL);
}

static void
ids_that_name_nothing_are_refused(LakeArena *arena)
{
	char	   *text = lake_strdup(arena, V2);

	strstr(text, "current-schema-id\":1")[19] = '7';
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "current-schema-id 7",
				 open_json(arena, text));
	text = lake_strdup(arena, V2);
	strstr(text, "default-spec-id\":3")[17] = '7';
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "default-spec-id 7",
				 open_json(arena, text));
}

static void
absent_null_and_minus_one_are_an_empty_table(LakeArena *arena)
{
	CHECK(open_json(arena, V2)->current_snapshot == NULL);
	CHECK(open_json(arena, V2 ",\"current-snapshot-id\":null,"
					"\"snapshots\":null")->current_snapshot == NULL);
	CHECK(open_json(arena, V2 ",\"current-snapshot-id\":-1,"
					"\"snapshots\":[],\"refs\":{}")->current_snapshot == NULL);
}

static void
the_current_snapshot_is_parsed(LakeArena *arena)
{
	const LakeSnapshot *snapshot =
		open_json(arena, V2 ",\"current-snapshot-id\":9007199254740993,"
			  "\"snapshots\":[" SNAPSHOT("1", "1") ","
			  SNAPSHOT("9007199254740993", "2") "]")->current_snapshot;

	CHECK_INT(snapshot->id, 9007199254740993);
	CHECK_INT(snapshot->parent_id, -1);
	CHECK_INT(snapshot->sequence_number, 2);
	CHECK_INT(snapshot->timestamp_ms, 7);
	CHECK_INT(snapshot->schema_id, -1);
	CHECK_STRING(snapshot->operation, "append");
	CHECK_INT(snapshot->total_records, 12);
	CHECK_INT(snapshot->total_data_files, -1);
	CHECK_INT(snapshot->total_size, -1);
}

/* after a rollback, or if a branch was written to last; parents are no help */
static void
the_current_snapshot_is_the_one_named(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V2 ",\"current-snapshot-id\":1,\"snapshots\":["
			  SNAPSHOT("3", "3") "," SNAPSHOT("1", "1") ","
			  SNAPSHOT("2", "2") "],\"snapshot-log\":["
			  "{\"timestamp-ms\":9,\"snapshot-id\":3}]");

	CHECK_INT(table->current_snapshot->id, 1);
	CHECK_INT(table->current_snapshot->parent_id, -1);
}

static void
other_snapshots_are_found_on_demand(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V2 ",\"current-snapshot-id\":2,\"snapshots\":["
			  SNAPSHOT("1", "1") "," SNAPSHOT("2", "2") "]");

	CHECK(iceberg_find_snapshot(arena, table, 2) == table->current_snapshot);
	CHECK_INT(iceberg_find_snapshot(arena, table, 1)->sequence_number, 1);
	CHECK(iceberg_find_snapshot(arena, table, 3) == NULL);
}

static void
ids_above_int64_wrap_around(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V2 ",\"current-snapshot-id\":9876543210123456789,"
			  "\"snapshots\":[" SNAPSHOT("9876543210123456789", "1")
			  "],\"refs\":{\"main\":{\"snapshot-id\":"
			  "9876543210123456789,\"type\":\"branch\"}}");

	CHECK_INT(table->current_snapshot->id,
			  (int64_t) UINT64_C(9876543210123456789));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"current-snapshot-id\"",
				 open_json(arena, V2 ",\"current-snapshot-id\":"
						   "18446744073709551616"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"current-snapshot-id\"",
				 open_json(arena, V2 ",\"current-snapshot-id\":1.5"));
}

static void
refs_must_name_a_snapshot(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "current-snapshot-id 5",
				 open_json(arena, V2 ",\"current-snapshot-id\":5,"
						   "\"snapshots\":[" SNAPSHOT("1", "1") "]"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "current-snapshot-id 5",
				 open_json(arena, V2 ",\"current-snapshot-id\":5"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ref \"tag\" is at snapshot 6",
				 open_json(arena, V2 ",\"snapshots\":[" SNAPSHOT("1", "1")
						   "],\"refs\":{\"ok\":{\"snapshot-id\":1},"
						   "\"tag\":{\"snapshot-id\":6}}"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "branch \"main\" is at snapshot 1",
				 open_json(arena, V2 ",\"current-snapshot-id\":2,"
						   "\"snapshots\":[" SNAPSHOT("1", "1") ","
						   SNAPSHOT("2", "2") "],\"refs\":{\"main\":"
						   "{\"snapshot-id\":1,\"type\":\"branch\"}}"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "branch \"main\"",
				 open_json(arena, V2 ",\"snapshots\":[" SNAPSHOT("1", "1")
						   "],\"refs\":{\"main\":{\"snapshot-id\":1}}"));
}

static void
sequence_numbers_stay_below_the_last_one(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "above last-sequence-number 5",
				 open_json(arena, V2 ",\"snapshots\":["
						   SNAPSHOT("1", "6") "]"));
}

static void
ids_are_unique(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "two snapshots with id -7",
				 open_json(arena, V2 ",\"current-snapshot-id\":3,"
						   "\"snapshots\":[" SNAPSHOT("-7", "1") ","
						   SNAPSHOT("3", "2") "," SNAPSHOT("-7", "1") "]"));
	/* the wrapped form of the same */
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "two snapshots with id -7",
				 open_json(arena, V2 ",\"snapshots\":["
						   SNAPSHOT("18446744073709551609", "1") ","
						   SNAPSHOT("-7", "2") "]"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "two schemas with id 4",
				 open_json(arena, V1 "," V1_SCHEMA "," V1_SPEC
						   ",\"schemas\":[{\"schema-id\":4,"
						   "\"type\":\"struct\",\"fields\":[]},"
						   "{\"schema-id\":4,\"type\":\"struct\","
						   "\"fields\":[]}],\"current-schema-id\":4"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "two partition specs with id 2",
				 open_json(arena, V1 "," V1_SCHEMA ",\"partition-specs\":"
						   "[{\"spec-id\":2,\"fields\":[]},"
						   "{\"spec-id\":1,\"fields\":[]},"
						   "{\"spec-id\":2,\"fields\":[]}]"));
}

static void
properties_are_strings(LakeArena *arena)
{
	const LakeTable *table =
		open_json(arena, V2 ",\"properties\":{\"owner\":\"me\",\"n\":3,"
			  "\"x\":null,\"owner\\u0000\":\"you\","
			  "\"z\":\"a\\u0000\"}");

	/* what is odd does not matter before it is asked for */
	CHECK_STRING(iceberg_property(table, "owner"), "me");
	CHECK(iceberg_property(table, "x") == NULL);
	CHECK(iceberg_property(table, "y") == NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT,
				 "value of table property \"n\" is not a string",
				 iceberg_property(table, "n"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "NUL", iceberg_property(table, "z"));
	CHECK(table->name_mapping == NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "object",
				 open_json(arena, V2 ",\"properties\":[]"));
}

static void
the_name_mapping_comes_from_its_property(LakeArena *arena)
{
	CHECK(open_json(arena, V2 ",\"properties\":{\"schema.name-mapping."
					"default\":\"[{\\\"field-id\\\":1,\\\"names\\\":"
					"[\\\"a\\\"]}]\"}")->name_mapping != NULL);
	/* without it columns would be NULL */
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not a string",
				 open_json(arena, V2 ",\"properties\":{\"schema."
						   "name-mapping.default\":[]}"));
}

static void
gzip_is_told_by_its_bytes(LakeArena *arena)
{
	/* {"format-version":4}, whose error shows that it was read */
	static const uint8_t zipped[] = {
		0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab,
		0x56, 0x4a, 0xcb, 0x2f, 0xca, 0x4d, 0x2c, 0xd1, 0x2d, 0x4b, 0x2d,
		0x2a, 0xce, 0xcc, 0xcf, 0x53, 0xb2, 0x32, 0xa9, 0x05, 0x00, 0x5c,
		0x96, 0x76, 0x5d, 0x14, 0x00, 0x00, 0x00
	};

	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "format-version 4",
				 open_text(arena, (LakeBytes) {zipped, sizeof zipped}));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 open_text(arena, (LakeBytes) {zipped, sizeof zipped - 9}));
}

static void
broken_text_is_corrupt(LakeArena *arena)
{
	static const char *const texts[] = {
		"", "{", "[]", "null", "{\"format-version\":2", "{\"format-version\"}",
		"{\"format-version\":2,\"location\":}", "\x1f\x8b", "\x1f"
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
					 open_text(arena,
							   (LakeBytes) {(const uint8_t *) texts[i],
											strlen(texts[i])}));
}

static void
an_empty_file_is_called_so(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "the file is empty",
				 open_text(arena, (LakeBytes) {(const uint8_t *) "", 0}));
}

static void
a_missing_file_is_missing(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);

	CHECK_THROWS(LAKE_ERROR_MISSING, LOCATION,
				 iceberg_format.open(arena, &memory->store, LOCATION));
}

static const UnitTest tests[] = {
	UNIT(v1_needs_schema_and_spec_only),
	UNIT(v1_with_schemas_picks_the_current_one),
	UNIT(defaults_outlive_the_parsing_of_their_schema),
	UNIT(write_defaults_outlive_it_too),
	UNIT(v1_without_schema_or_spec_is_refused),
	UNIT(v2_names_the_missing_member),
	UNIT(v3_without_next_row_id_is_read),
	UNIT(versions_after_3_are_unsupported),
	UNIT(views_are_refused_by_name),
	UNIT(specs_outlive_their_columns),
	UNIT(unknown_transforms_are_kept),
	UNIT(ids_that_name_nothing_are_refused),
	UNIT(absent_null_and_minus_one_are_an_empty_table),
	UNIT(the_current_snapshot_is_parsed),
	UNIT(the_current_snapshot_is_the_one_named),
	UNIT(other_snapshots_are_found_on_demand),
	UNIT(ids_above_int64_wrap_around),
	UNIT(refs_must_name_a_snapshot),
	UNIT(sequence_numbers_stay_below_the_last_one),
	UNIT(ids_are_unique),
	UNIT(properties_are_strings),
	UNIT(the_name_mapping_comes_from_its_property),
	UNIT(gzip_is_told_by_its_bytes),
	UNIT(broken_text_is_corrupt),
	UNIT(an_empty_file_is_called_so),
	UNIT(a_missing_file_is_missing),
};

UNIT_MAIN(tests)
