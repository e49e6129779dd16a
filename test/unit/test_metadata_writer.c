/*
 * The next metadata file out of the last one's text, member by member.
 */
#include "iceberg/iceberg_int.h"

#include "base/json.h"
#include "unit.h"

static LakeBytes
bytes(const char *text)
{
	LakeBytes	result = {(const uint8_t *) text, strlen(text)};

	return result;
}

/* a member of the result as text, or "(none)" */
static const char *
member(LakeArena *arena, LakeBytes text, const char *key)
{
	LakeBytes	value;

	if (!json_scan_member(text, key, &value))
		return "(none)";
	return lake_strndup(arena, (const char *) value.data, value.len);
}

static const char *const summary[] = {"added-records", "1", "k\"", "v\n"};

static NewSnapshot
snapshot(int64_t id, int64_t sequence)
{
	NewSnapshot result = {
		.id = id,
		.parent_id = -1,
		.sequence_number = sequence,
		.timestamp_ms = 5000 + sequence,
		.operation = "append",
		.summary_count = 2,
		.summary = summary,
		.manifest_list = "/t/metadata/snap.avro",
		.schema_id = 3
	};

	return result;
}

static const char base_v2[] =
"{ \"format-version\" : 2,\"x-other\": {\"a\" : [1,  2]},\n"
"\"last-updated-ms\":4000,\"last-sequence-number\":7,"
"\"current-snapshot-id\":-1,\"refs\":{},\"snapshots\":[],"
"\"snapshot-log\":[],\"metadata-log\":[],"
"\"properties\":{\"a\":\"1\", \"b\":\"2\"}}";

static void
a_first_snapshot_is_added(LakeArena *arena)
{
	NewSnapshot added = snapshot(42, 8);
	MetadataUpdate update = {
		.last_updated_ms = 5008,
		.snapshot_count = 1,
		.snapshots = &added,
		.ref = "main",
		.ref_snapshot_id = 42
	};
	LakeBytes	text = metadata_apply(arena, bytes(base_v2), "/t/m/0.json",
									  &update);

	json_parse(arena, text, "metadata");
	CHECK_STRING(member(arena, text, "x-other"), "{\"a\" : [1,  2]}");
	CHECK_STRING(member(arena, text, "properties"),
				 "{\"a\":\"1\", \"b\":\"2\"}");
	CHECK_STRING(member(arena, text, "last-updated-ms"), "5008");
	CHECK_STRING(member(arena, text, "last-sequence-number"), "8");
	CHECK_STRING(member(arena, text, "current-snapshot-id"), "42");
	CHECK_STRING(member(arena, text, "refs"),
				 "{\"main\":{\"snapshot-id\":42,\"type\":\"branch\"}}");
	CHECK_STRING(member(arena, text, "snapshots"),
				 "[{\"sequence-number\":8,\"snapshot-id\":42,"
				 "\"timestamp-ms\":5008,\"summary\":{\"operation\":\"append\","
				 "\"added-records\":\"1\",\"k\\\"\":\"v\\u000a\"},"
				 "\"manifest-list\":\"/t/metadata/snap.avro\","
				 "\"schema-id\":3}]");
	CHECK_STRING(member(arena, text, "snapshot-log"),
				 "[{\"timestamp-ms\":5008,\"snapshot-id\":42}]");
	CHECK_STRING(member(arena, text, "metadata-log"),
				 "[{\"timestamp-ms\":4000,\"metadata-file\":\"/t/m/0.json\"}]");
	CHECK_STRING(member(arena, text, "next-row-id"), "(none)");
}

static void
former_snapshots_refs_and_logs_keep_their_bytes(LakeArena *arena)
{
	static const char base[] =
		"{\"format-version\":3,\"last-updated-ms\":4000,"
	"\"last-sequence-number\":7,\"next-row-id\":100,"
	"\"current-snapshot-id\":1,"
	"\"refs\":{\"main\":{\"type\":\"branch\", \"snapshot-id\":1, "
	"\"max-ref-age-ms\":9},\"t\":{\"snapshot-id\" : 1,\"type\":\"tag\"}},"
	"\"snapshots\":[{\"snapshot-id\" : 1 }],"
	"\"snapshot-log\":[{\"timestamp-ms\" : 1,\"snapshot-id\":1}],"
	"\"metadata-log\":[{\"timestamp-ms\":1,\"metadata-file\":\"a\"}],"
	"\"properties\":{\"write.metadata.previous-versions-max\":\"1\"}}";
	NewSnapshot added = snapshot(42, 8);
	MetadataUpdate update = {
		.last_updated_ms = 5008,
		.snapshot_count = 1,
		.snapshots = &added,
		.ref = "main",
		.ref_snapshot_id = 42
	};
	LakeBytes	text;

	added.parent_id = 1;
	added.first_row_id = 100;
	added.added_rows = 11;
	text = metadata_apply(arena, bytes(base), "b", &update);
	json_parse(arena, text, "metadata");
	CHECK_STRING(member(arena, text, "refs"),
				 "{\"main\":{\"snapshot-id\":42,\"type\":\"branch\","
				 "\"max-ref-age-ms\":9},"
				 "\"t\":{\"snapshot-id\" : 1,\"type\":\"tag\"}}");
	CHECK(strstr(member(arena, text, "snapshots"),
				 "[{\"snapshot-id\" : 1 },{") != NULL);
	CHECK(strstr(member(arena, text, "snapshots"),
				 "\"first-row-id\":100,\"added-rows\":11}]") != NULL);
	CHECK_STRING(member(arena, text, "snapshot-log"),
				 "[{\"timestamp-ms\" : 1,\"snapshot-id\":1},"
				 "{\"timestamp-ms\":5008,\"snapshot-id\":42}]");
	/* one former version is all that the property allows */
	CHECK_STRING(member(arena, text, "metadata-log"),
				 "[{\"timestamp-ms\":4000,\"metadata-file\":\"b\"}]");
	CHECK_STRING(member(arena, text, "next-row-id"), "111");
}

static void
a_branch_leaves_main_alone(LakeArena *arena)
{
	static const char base[] =
		"{\"format-version\":2,\"last-updated-ms\":4000,"
	"\"last-sequence-number\":7,\"current-snapshot-id\":1,"
	"\"snapshots\":[{\"snapshot-id\":1}]}";
	NewSnapshot added = snapshot(42, 8);
	MetadataUpdate update = {
		.last_updated_ms = 5008,
		.snapshot_count = 1,
		.snapshots = &added,
		.ref = "a\"b",
		.ref_snapshot_id = 42
	};
	LakeBytes	text = metadata_apply(arena, bytes(base), NULL, &update);

	CHECK_STRING(member(arena, text, "refs"),
				 "{\"main\":{\"snapshot-id\":1,\"type\":\"branch\"},"
				 "\"a\\\"b\":{\"snapshot-id\":42,\"type\":\"branch\"}}");
	CHECK_STRING(member(arena, text, "current-snapshot-id"), "1");
	CHECK_STRING(member(arena, text, "snapshot-log"), "(none)");
	CHECK_STRING(member(arena, text, "metadata-log"), "(none)");
	/* and once more: it is known now */
	update.snapshot_count = 0;
	update.ref_snapshot_id = 1;
	text = metadata_apply(arena, text, NULL, &update);
	CHECK_STRING(member(arena, text, "refs"),
				 "{\"main\":{\"snapshot-id\":1,\"type\":\"branch\"},"
				 "\"a\\\"b\":{\"snapshot-id\":1,\"type\":\"branch\"}}");
}

static void
properties_are_set_and_unset(LakeArena *arena)
{
	const char *const changes[] = {"b", "3\\", "c", "4", "a", NULL};
	MetadataUpdate update = {
		.last_updated_ms = 1,
		.property_count = 3,
		.properties = changes
	};
	LakeBytes	text = metadata_apply(arena, bytes(base_v2), "x", &update);

	CHECK_STRING(member(arena, text, "properties"),
				 "{\"b\":\"3\\\\\",\"c\":\"4\"}");
	/* clocks of other writers count */
	CHECK_STRING(member(arena, text, "last-updated-ms"), "4000");
}

static void
reserved_properties_are_refused(LakeArena *arena)
{
	const char *const changes[] = {"current-schema", "x"};
	MetadataUpdate update = {.property_count = 1, .properties = changes};

	CHECK_THROWS(LAKE_ERROR_INVALID, "reserved",
				 metadata_apply(arena, bytes(base_v2), "x", &update));
}

static void
of_repeated_members_one_is_left(LakeArena *arena)
{
	static const char base[] =
		"{\"last-updated-ms\":1,\"format-version\":2,\"last-updated-ms\":9}";
	MetadataUpdate update = {.last_updated_ms = 5};
	LakeBytes	text = metadata_apply(arena, bytes(base), NULL, &update);

	CHECK_STRING(lake_strndup(arena, (const char *) text.data, text.len),
				 "{\"last-updated-ms\":9,\"format-version\":2}");
}

static void
a_sequence_number_must_grow(LakeArena *arena)
{
	NewSnapshot added = snapshot(42, 7);
	MetadataUpdate update = {
		.snapshot_count = 1, .snapshots = &added
	};

	CHECK_THROWS(LAKE_ERROR_INTERNAL, "sequence number",
				 metadata_apply(arena, bytes(base_v2), "x", &update));
}

static const UnitTest tests[] = {
	UNIT(a_first_snapshot_is_added),
	UNIT(former_snapshots_refs_and_logs_keep_their_bytes),
	UNIT(a_branch_leaves_main_alone),
	UNIT(properties_are_set_and_unset),
	UNIT(reserved_properties_are_refused),
	UNIT(of_repeated_members_one_is_left),
	UNIT(a_sequence_number_must_grow),
};

UNIT_MAIN(tests)
