/*
 * Walks over what a metadata file says of its table's history: snapshots of all
 * kinds, logs, refs, and what must be refused.
 */
#include "iceberg/iceberg_int.h"

#include "memory_store.h"
#include "unit.h"

#define LOCATION "/lake/t/metadata/v1.metadata.json"

#define TABLE "\"format-version\":1,\"location\":\"/lake/t\"," \
	"\"last-updated-ms\":9000,\"last-column-id\":1,\"schema\":" \
	"{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"a\"," \
	"\"required\":true,\"type\":\"long\"}]},\"partition-spec\":[]"
#define SNAPSHOT(id, rest) "{\"snapshot-id\":" id ",\"timestamp-ms\":7," \
	"\"manifest-list\":\"l" id "\"" rest "}"
#define PARENT(id) ",\"parent-snapshot-id\":" id

static const LakeTable *
open_table(LakeArena *arena, const char *members)
{
	MemoryStore *memory = memory_store_create(arena);
	char	   *text = lake_printf(arena, "{" TABLE ",%s}", members);

	memory_store_put(memory, LOCATION,
					 (LakeBytes) {(const uint8_t *) text, strlen(text)});
	return iceberg_format.open(arena, &memory->store, LOCATION);
}

/* the only snapshot of a table, none of whose members is checked at opening */
static const IcebergSnapshotInfo *
read_one(LakeArena *arena, const char *snapshot)
{
	const LakeTable *table =
		open_table(arena, lake_printf(arena, "\"snapshots\":[%s]", snapshot));

	return iceberg_next_snapshot(iceberg_walk_snapshots(arena, table), arena);
}

/* ---- snapshots ---- */

static void
snapshots_come_in_the_order_of_the_file(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, "\"current-snapshot-id\":2,\"snapshots\":["
			   SNAPSHOT("3", "") "," SNAPSHOT("2", PARENT("1")) ","
			   SNAPSHOT("9", PARENT("2")) "]");
	IcebergSnapshotWalk *walk = iceberg_walk_snapshots(arena, table);
	LakeArena  *each = lake_arena_create(arena, "each");
	const IcebergSnapshotInfo *info;
	char		ids[16] = "";

	while ((info = iceberg_next_snapshot(walk, each)) != NULL)
	{
		snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%lld ",
				 (long long) info->id);
		/* the walk lives on */
		lake_arena_reset(each);
	}
	CHECK_STRING(ids, "3 2 9 ");
	CHECK(iceberg_next_snapshot(walk, each) == NULL);
	table = open_table(arena, "\"snapshots\":null");
	CHECK(iceberg_next_snapshot(iceberg_walk_snapshots(arena, table),
								arena) == NULL);
}

static void
members_are_read_as_they_stand(LakeArena *arena)
{
	const IcebergSnapshotInfo *info =
		read_one(arena, "{\"summary\":{\"operation\":\"append\","
			 "\"added-records\":\"2\",\"engine\":\"a\\u00e4\\n\"},"
			 "\"schema-id\":4,\"parent-snapshot-id\":-5,"
			 "\"sequence-number\":6,\"timestamp-ms\":-8,"
			 "\"snapshot-id\":18446744073709551615,"
			 "\"manifest-list\":\"s3:\\/\\/b\\/l\"}");

	CHECK_INT(info->id, -1);
	CHECK(info->has_parent);
	CHECK_INT(info->parent_id, -5);
	CHECK_INT(info->sequence_number, 6);
	CHECK_INT(info->timestamp_ms, -8);
	CHECK_INT(info->schema_id, 4);
	CHECK_STRING(info->manifest_list, "s3://b/l");
	CHECK_STRING(info->operation, "append");
	CHECK_INT(info->summary_count, 2);
	CHECK_STRING(info->summary[0], "added-records");
	CHECK_STRING(info->summary[1], "2");
	CHECK_STRING(info->summary[2], "engine");
	CHECK_STRING(info->summary[3], "a\xc3\xa4\n");
}

static void
absent_and_null_members_are_unknown(LakeArena *arena)
{
	static const char *const texts[] = {
		"{\"snapshot-id\":1,\"timestamp-ms\":2,\"manifests\":[]}",
		"{\"snapshot-id\":1,\"timestamp-ms\":2,\"manifest-list\":null,"
		"\"parent-snapshot-id\":null,\"schema-id\":null,\"summary\":null,"
		"\"sequence-number\":null}",
		/* -1 is how some writers say that there is none */
		"{\"snapshot-id\":1,\"timestamp-ms\":2,\"parent-snapshot-id\":-1}",
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
	{
		const IcebergSnapshotInfo *info = read_one(arena, texts[i]);

		CHECK(!info->has_parent);
		CHECK_INT(info->sequence_number, 0);
		CHECK_INT(info->schema_id, -1);
		CHECK(info->manifest_list == NULL);
		CHECK(info->operation == NULL);
		CHECK_INT(info->summary_count, 0);
	}
}

static void
a_summary_without_operation_is_an_overwrite(LakeArena *arena)
{
	const IcebergSnapshotInfo *info =
		read_one(arena, SNAPSHOT("1", ",\"summary\":{\"a\":\"b\"}"));

	CHECK_STRING(info->operation, "overwrite");
	info = read_one(arena, SNAPSHOT("1", ",\"summary\":{}"));
	CHECK(info->operation == NULL);
}

static void
values_of_summaries_may_be_no_text(LakeArena *arena)
{
	const IcebergSnapshotInfo *info =
		read_one(arena, SNAPSHOT("1", ",\"summary\":{\"a\":12,\"b\":null,"
							 "\"c\":[1, 2]}"));

	CHECK_INT(info->summary_count, 3);
	CHECK_STRING(info->summary[1], "12");
	CHECK(info->summary[3] == NULL);
	CHECK_STRING(info->summary[5], "[1, 2]");
}

static void
malformed_snapshots_are_corrupt(LakeArena *arena)
{
	static const struct
	{
		const char *text;
		const char *says;
	}			cases[] = {
		{"{\"snapshot-id\":1}", "\"timestamp-ms\""},
		{"{\"snapshot-id\":1,\"timestamp-ms\":\"2\"}", "\"timestamp-ms\""},
		{SNAPSHOT("1", ",\"schema-id\":2147483648"), "\"schema-id\""},
		{SNAPSHOT("1", ",\"sequence-number\":1.5"), "\"sequence-number\""},
		{SNAPSHOT("1", PARENT("\"x\"")), "\"parent-snapshot-id\""},
		{SNAPSHOT("1", ",\"summary\":[]"), "no object"},
		{SNAPSHOT("1", ",\"summary\":{\"a\":\"\\u0000\"}"), "NUL"},
		{SNAPSHOT("1", ",\"summary\":{\"\\u0000\":\"b\"}"), "NUL"},
		{"{\"snapshot-id\":1,\"timestamp-ms\":2,\"manifest-list\":3}",
		"\"manifest-list\""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, cases[i].says,
					 read_one(arena, cases[i].text));
}

/* ---- ancestors ---- */

static void
check_ancestors(LakeArena *arena, const char *snapshots, int64_t head,
				const char *expected)
{
	const LakeTable *table =
		open_table(arena, lake_printf(arena, "\"snapshots\":[%s]",
								  snapshots));
	const IcebergSnapshotIndex *index = iceberg_index_snapshots(arena, table);
	const bool *marks = iceberg_index_ancestors(arena, index, head);
	char		ids[64] = "";

	for (size_t i = 0; i < index->count; i++)
	{
		CHECK(iceberg_index_find(index, index->snapshots[i].id) ==
			  &index->snapshots[i]);
		if (marks[i])
			snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%lld ",
					 (long long) index->snapshots[i].id);
	}
	CHECK_STRING(ids, expected);
}

static void
ancestors_are_the_line_of_the_head(LakeArena *arena)
{
	/* 5 was rolled back, 7 is on a branch */
	const char *snapshots = SNAPSHOT("9", PARENT("1")) ","
	SNAPSHOT("1", "") "," SNAPSHOT("5", PARENT("1")) ","
	SNAPSHOT("7", PARENT("9"));

	check_ancestors(arena, snapshots, 9, "1 9 ");
	check_ancestors(arena, snapshots, 7, "1 7 9 ");
	check_ancestors(arena, snapshots, 1, "1 ");
	check_ancestors(arena, snapshots, -1, "");
	check_ancestors(arena, snapshots, 4, "");
	check_ancestors(arena, "", 9, "");
}

static void
ancestors_end_where_parents_do(LakeArena *arena)
{
	/* 1 has expired; rows of v1 writers have no parents at all */
	check_ancestors(arena, SNAPSHOT("2", PARENT("1")) ","
					SNAPSHOT("3", PARENT("2")), 3, "2 3 ");
	check_ancestors(arena, SNAPSHOT("2", "") "," SNAPSHOT("3", ""), 3, "3 ");
}

static void
circles_of_parents_end(LakeArena *arena)
{
	check_ancestors(arena, SNAPSHOT("2", PARENT("3")) ","
					SNAPSHOT("3", PARENT("2")), 3, "2 3 ");
	check_ancestors(arena, SNAPSHOT("2", PARENT("2")), 2, "2 ");
}

/* ---- logs ---- */

static void
logs_are_read_in_the_order_of_the_file(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, "\"snapshot-log\":["
			   "{\"snapshot-id\":8,\"timestamp-ms\":20},"
			   "{\"timestamp-ms\":-10,\"snapshot-id\":9}],"
			   "\"metadata-log\":["
			   "{\"metadata-file\":\"v1\",\"timestamp-ms\":3}]");
	size_t		count;
	const IcebergLogEntry *log = iceberg_snapshot_log(arena, table, &count);
	const IcebergMetadataLogEntry *files;

	CHECK_INT(count, 2);
	CHECK_INT(log[0].snapshot_id, 8);
	CHECK_INT(log[0].timestamp_ms, 20);
	CHECK_INT(log[1].snapshot_id, 9);
	CHECK_INT(log[1].timestamp_ms, -10);
	files = iceberg_metadata_log(arena, table, &count);
	CHECK_INT(count, 1);
	CHECK_STRING(files[0].file, "v1");
	CHECK_INT(files[0].timestamp_ms, 3);
	CHECK_INT(iceberg_last_updated_ms(table), 9000);
}

static void
absent_logs_are_empty(LakeArena *arena)
{
	static const char *const texts[] = {
		"\"x\":1", "\"snapshot-log\":[],\"metadata-log\":[]",
		"\"snapshot-log\":null,\"metadata-log\":null"
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
	{
		const LakeTable *table = open_table(arena, texts[i]);
		size_t		count = 1;

		iceberg_snapshot_log(arena, table, &count);
		CHECK_INT(count, 0);
		count = 1;
		iceberg_metadata_log(arena, table, &count);
		CHECK_INT(count, 0);
	}
}

static void
malformed_logs_are_corrupt_when_they_are_asked_for(LakeArena *arena)
{
	static const char *const entries[] = {
		"{}", "1", "{\"timestamp-ms\":1}", "{\"timestamp-ms\":1.5,"
		"\"snapshot-id\":1,\"metadata-file\":\"v1\"}",
		"{\"timestamp-ms\":1,\"snapshot-id\":\"1\",\"metadata-file\":1}",
		"{\"timestamp-ms\":null,\"snapshot-id\":null,"
		"\"metadata-file\":null}",
		"{\"timestamp-ms\":1,\"metadata-file\":\"\\u0000\"}"
	};
	size_t		count;

	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
	{
		/* nothing else needs them */
		const LakeTable *table =
			open_table(arena, lake_printf(arena, "\"snapshot-log\":[%s],"
									  "\"metadata-log\":[%s]",
									  entries[i], entries[i]));

		CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
					 iceberg_snapshot_log(arena, table, &count));
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
					 iceberg_metadata_log(arena, table, &count));
	}
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no array",
				 iceberg_snapshot_log(arena,
									  open_table(arena,
												 "\"snapshot-log\":{}"),
									  &count));
}

/* ---- refs ---- */

static void
refs_are_sorted_and_keep_their_numbers(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, "\"current-snapshot-id\":1,\"snapshots\":["
			   SNAPSHOT("1", "") "],\"refs\":{"
			   "\"v\\u00e41\":{\"type\":\"tag\",\"snapshot-id\":1,"
			   "\"max-ref-age-ms\":5},"
			   "\"a\":{\"snapshot-id\":1,\"type\":\"branch\","
			   "\"min-snapshots-to-keep\":3,"
			   "\"max-snapshot-age-ms\":4,\"max-ref-age-ms\":null}}");
	size_t		count;
	const IcebergRef *refs = iceberg_refs(arena, table, &count);

	CHECK_INT(count, 3);
	CHECK_STRING(refs[0].name, "a");
	CHECK(!refs[0].is_tag);
	CHECK_INT(refs[0].min_snapshots_to_keep, 3);
	CHECK_INT(refs[0].max_snapshot_age_ms, 4);
	CHECK_INT(refs[0].max_ref_age_ms, -1);
	/* of the current snapshot, though the file does not say so */
	CHECK_STRING(refs[1].name, "main");
	CHECK(!refs[1].is_tag);
	CHECK_INT(refs[1].snapshot_id, 1);
	CHECK_STRING(refs[2].name, "v\xc3\xa4" "1");
	CHECK(refs[2].is_tag);
	CHECK_INT(refs[2].max_ref_age_ms, 5);
	CHECK_INT(refs[2].min_snapshots_to_keep, -1);
}

static void
an_empty_table_has_no_refs(LakeArena *arena)
{
	size_t		count = 1;

	iceberg_refs(arena, open_table(arena, "\"refs\":{}"), &count);
	CHECK_INT(count, 0);
	count = 1;
	iceberg_refs(arena, open_table(arena, "\"current-snapshot-id\":-1"),
				 &count);
	CHECK_INT(count, 0);
}

static void
malformed_refs_are_corrupt(LakeArena *arena)
{
	static const char *const members[] = {
		"", ",\"type\":null", ",\"type\":\"Branch\"", ",\"type\":1",
		",\"type\":\"branch\",\"max-ref-age-ms\":\"1\"",
		",\"type\":\"branch\",\"min-snapshots-to-keep\":2147483648",
	};
	size_t		count;

	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
	{
		const LakeTable *table =
			open_table(arena, lake_printf(arena, "\"snapshots\":["
									  SNAPSHOT("1", "") "],\"refs\":"
									  "{\"r\":{\"snapshot-id\":1%s}}",
									  members[i]));

		CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
					 iceberg_refs(arena, table, &count));
	}
}

static void
names_of_refs_are_unique(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, "\"current-snapshot-id\":1,\"snapshots\":["
			   SNAPSHOT("1", "") "," SNAPSHOT("2", "") "],\"refs\":{"
			   "\"a\":{\"type\":\"tag\",\"snapshot-id\":1},"
			   "\"b\":{\"type\":\"tag\",\"snapshot-id\":1},"
			   "\"\\u0061\":{\"type\":\"tag\",\"snapshot-id\":2}}");
	size_t		count;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "two refs \"a\"",
				 iceberg_refs(arena, table, &count));
}

static const UnitTest tests[] = {
	UNIT(snapshots_come_in_the_order_of_the_file),
	UNIT(members_are_read_as_they_stand),
	UNIT(absent_and_null_members_are_unknown),
	UNIT(a_summary_without_operation_is_an_overwrite),
	UNIT(values_of_summaries_may_be_no_text),
	UNIT(malformed_snapshots_are_corrupt),
	UNIT(ancestors_are_the_line_of_the_head),
	UNIT(ancestors_end_where_parents_do),
	UNIT(circles_of_parents_end),
	UNIT(logs_are_read_in_the_order_of_the_file),
	UNIT(absent_logs_are_empty),
	UNIT(malformed_logs_are_corrupt_when_they_are_asked_for),
	UNIT(refs_are_sorted_and_keep_their_numbers),
	UNIT(an_empty_table_has_no_refs),
	UNIT(malformed_refs_are_corrupt),
	UNIT(names_of_refs_are_unique),
};

UNIT_MAIN(tests)
