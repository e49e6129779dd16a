/*
 * Selectors to versions: ids, times, branches and tags, over histories that are
 * rolled back, trimmed, staged or written by odd clocks.
 *
 * Expected versions are those of Java (reference, "Time travel and ref
 * resolution").
 */
#include "iceberg/iceberg_int.h"

#include "memory_store.h"
#include "unit.h"

#define LOCATION "/lake/t/metadata/v1.metadata.json"

#define FIELD(id, name) "{\"id\":" id ",\"name\":\"" name "\"," \
	"\"required\":false,\"type\":\"long\"}"
#define SCHEMA(id, fields) "{\"type\":\"struct\",\"schema-id\":" id "," \
	"\"fields\":[" fields "]}"
#define TABLE "\"format-version\":2," \
	"\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\"," \
	"\"location\":\"/lake/t\",\"last-sequence-number\":9," \
	"\"last-updated-ms\":9000,\"last-column-id\":3,\"current-schema-id\":1," \
	"\"schemas\":[" SCHEMA("0", FIELD("1", "a")) "," \
	SCHEMA("1", FIELD("1", "a") "," FIELD("2", "b")) "]," \
	"\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0," \
	"\"fields\":[]}],\"last-partition-id\":999," \
	"\"default-sort-order-id\":0,\"sort-orders\":[]"

/* "rest" may have "schema-id" and "parent-snapshot-id" */
#define SNAPSHOT(id, time, rest) "{\"snapshot-id\":" id "," \
	"\"timestamp-ms\":" time ",\"sequence-number\":1," \
	"\"manifest-list\":\"/lake/t/l.avro\"" rest "}"
#define LOG(time, id) "{\"timestamp-ms\":" time ",\"snapshot-id\":" id "}"
#define REF(name, type, id) "\"" name "\":{\"type\":\"" type "\"," \
	"\"snapshot-id\":" id "}"

/*
 * 10 was rolled back to after 20; 30 is the head; 40 is staged, 50 a branch's.
 * 10 has schema 0, 20 none that it knows, 50 one that is gone.
 */
#define HISTORY TABLE ",\"current-snapshot-id\":30,\"snapshots\":[" \
	SNAPSHOT("10", "1000", ",\"schema-id\":0") "," \
	SNAPSHOT("20", "2000", ",\"parent-snapshot-id\":10") "," \
	SNAPSHOT("40", "2500", ",\"schema-id\":0") "," \
	SNAPSHOT("50", "2600", ",\"schema-id\":7") "," \
	SNAPSHOT("30", "4000", ",\"schema-id\":1") "]," \
	"\"snapshot-log\":[" LOG("1000", "10") "," LOG("2000", "20") "," \
	LOG("3000", "10") "," LOG("4000", "30") "]," \
	"\"refs\":{" REF("main", "branch", "30") "," \
	REF("audit", "branch", "50") "," REF("old", "branch", "10") "," \
	REF("v1", "tag", "10") "," REF("bad", "tag", "50") "," \
	REF("20", "tag", "10") "}"

static const LakeTable *
open_table(LakeArena *arena, const char *members)
{
	MemoryStore *memory = memory_store_create(arena);
	char	   *text = lake_printf(arena, "{%s}", members);

	memory_store_put(memory, LOCATION,
					 (LakeBytes) {(const uint8_t *) text, strlen(text)});
	return iceberg_format.open(arena, &memory->store, LOCATION);
}

static LakeVersion
resolve_id(LakeArena *arena, const LakeTable *table, int64_t id)
{
	LakeSelector selector = {.kind = LAKE_SELECT_SNAPSHOT, .snapshot_id = id};

	return iceberg_format.resolve(arena, table, &selector);
}

static LakeVersion
resolve_time(LakeArena *arena, const LakeTable *table, int64_t time_us)
{
	LakeSelector selector = {.kind = LAKE_SELECT_TIME, .time_us = time_us};

	return iceberg_format.resolve(arena, table, &selector);
}

static LakeVersion
resolve_ref(LakeArena *arena, const LakeTable *table, const char *ref)
{
	LakeSelector selector = {.kind = LAKE_SELECT_REF, .ref = ref};

	return iceberg_format.resolve(arena, table, &selector);
}

/* ---- snapshot ids ---- */

static void
ids_give_the_schema_of_their_snapshot(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);
	LakeVersion version = resolve_id(arena, table, 10);

	CHECK_INT(version.snapshot->id, 10);
	CHECK_INT(version.schema->id, 0);
	CHECK(!version.is_branch);
	version = resolve_id(arena, table, 30);
	CHECK_INT(version.snapshot->id, 30);
	CHECK(!version.is_branch);
}

static void
a_snapshot_without_schema_id_has_the_current_schema(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);
	LakeVersion version = resolve_id(arena, table, 20);

	CHECK_INT(version.snapshot->id, 20);
	CHECK(version.schema == table->schema);
}

static void
staged_and_branch_snapshots_are_found_by_id(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);

	CHECK_INT(resolve_id(arena, table, 40).snapshot->timestamp_ms, 2500);
}

static void
a_schema_that_is_gone_is_corrupt(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "snapshot 50 has schema id 7",
				 resolve_id(arena, table, 50));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "snapshot 50 has schema id 7",
				 resolve_ref(arena, table, "bad"));
}

static void
unknown_ids_name_the_nearest(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);

	/* ids that went through a double come out as their neighbours */
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "snapshot 42 does not exist",
					  "nearest of its 5 snapshots is 40 of 1970-01-01 00:00:02.5",
					  resolve_id(arena, table, 42));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "snapshot -9223372036854775808",
					  "is 10 of",
					  resolve_id(arena, table, INT64_MIN));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "snapshot 1 does not exist",
					  "has no snapshots",
					  resolve_id(arena, open_table(arena, TABLE), 1));
}

/* ---- times ---- */

static void
times_mean_what_was_current_then(LakeArena *arena)
{
	static const struct
	{
		int64_t		time_us;
		int64_t		id;
	}			expected[] = {
		{1000000, 10}, {1999999, 10}, {2000000, 20}, {2999000, 20},
		{3000000, 10}, {3999999, 10}, {4000000, 30}, {INT64_MAX, 30}
	};
	const LakeTable *table = open_table(arena, HISTORY);

	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
	{
		LakeVersion version = resolve_time(arena, table, expected[i].time_us);

		CHECK_INT(version.snapshot->id, expected[i].id);
		CHECK(!version.is_branch);
	}
	CHECK_INT(resolve_time(arena, table, 1000000).schema->id, 0);
}

static void
staged_and_branch_snapshots_are_not_found_by_time(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);

	CHECK_INT(resolve_time(arena, table, 2600000).snapshot->id, 20);
}

static void
times_before_the_first_entry_name_it(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);

	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "no snapshot at 1970-01-01 00:00:00.999",
					  "first snapshot that is known is 10 of 1970-01-01 00:00:01",
					  resolve_time(arena, table, 999999));
	CHECK_THROWS(LAKE_ERROR_UNDEFINED, "no snapshot at",
				 resolve_time(arena, table, INT64_MIN));
}

static void
microseconds_are_cut_not_rounded(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, TABLE ",\"current-snapshot-id\":1,\"snapshots\":["
			   SNAPSHOT("1", "-5", "") "],\"snapshot-log\":["
			   LOG("-5", "1") "]");

	/* down, also before 1970 */
	CHECK_INT(resolve_time(arena, table, -4001).snapshot->id, 1);
	CHECK_INT(resolve_time(arena, table, -5000).snapshot->id, 1);
	CHECK_THROWS(LAKE_ERROR_UNDEFINED, "no snapshot at",
				 resolve_time(arena, table, -5001));
}

static void
of_equal_times_the_first_entry_counts(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, TABLE ",\"current-snapshot-id\":2,\"snapshots\":["
			   SNAPSHOT("1", "5", "") "," SNAPSHOT("2", "5", "")
			   "],\"snapshot-log\":[" LOG("5", "1") "," LOG("5", "2")
			   "]");

	CHECK_INT(resolve_time(arena, table, 5000).snapshot->id, 1);
	CHECK_INT(resolve_time(arena, table, 6000).snapshot->id, 1);
}

static void
the_log_need_not_be_in_order(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, TABLE ",\"current-snapshot-id\":2,\"snapshots\":["
			   SNAPSHOT("1", "50", "") "," SNAPSHOT("2", "20", "") ","
			   SNAPSHOT("3", "4102444800000", "")
			   "],\"snapshot-log\":[" LOG("50", "1") "," LOG("20", "2")
			   "," LOG("4102444800000", "3") "]");

	CHECK_INT(resolve_time(arena, table, 20000).snapshot->id, 2);
	CHECK_INT(resolve_time(arena, table, 49000).snapshot->id, 2);
	CHECK_INT(resolve_time(arena, table, 50000).snapshot->id, 1);
	/* a clock that is ahead */
	CHECK_INT(resolve_time(arena, table, 4102444800000000).snapshot->id, 3);
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "no snapshot at",
					  "is 2 of",
					  resolve_time(arena, table, 19999));
}

static void
times_without_a_log_name_the_current_snapshot(LakeArena *arena)
{
	const LakeTable *trimmed =
		open_table(arena, TABLE ",\"current-snapshot-id\":1,\"snapshots\":["
			   SNAPSHOT("1", "5000", "") "],\"snapshot-log\":[]");

	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "no snapshot at",
					  "current snapshot, 1 of 1970-01-01 00:00:05",
					  resolve_time(arena, trimmed, INT64_MAX));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "no snapshot at",
					  "history is empty",
					  resolve_time(arena, open_table(arena, TABLE), 1));
}

static void
times_of_expired_snapshots_name_the_nearest_that_is_left(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, TABLE ",\"current-snapshot-id\":3,\"snapshots\":["
			   SNAPSHOT("3", "9000", "") "],\"snapshot-log\":["
			   LOG("1000", "1") "," LOG("2000", "2") ","
			   LOG("9000", "3") "]");
	const LakeTable *none =
		open_table(arena, TABLE ",\"snapshot-log\":[" LOG("1000", "1") "]");

	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "snapshot 1, which was current at",
					  "nearest that is left is 3 of 1970-01-01 00:00:09",
					  resolve_time(arena, table, 1500000));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "no snapshot at",
					  "first snapshot that is known is 3 of",
					  resolve_time(arena, table, 0));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "has expired",
					  "No snapshot",
					  resolve_time(arena, none, 1500000));
}

static void
times_beyond_the_calendar_are_named(LakeArena *arena)
{
	const LakeTable *table =
		open_table(arena, TABLE ",\"current-snapshot-id\":1,\"snapshots\":["
			   SNAPSHOT("1", "9223372036854775807", "")
			   "],\"snapshot-log\":["
			   LOG("9223372036854775807", "1") "]");

	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "no snapshot at",
					  "1 of 9223372036854775807 ms",
					  resolve_time(arena, table, INT64_MAX));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED, "2 does not exist",
					  "1 of 9223372036854775807 ms",
					  resolve_id(arena, table, 2));
}

/* ---- refs ---- */

static void
branches_have_the_current_schema(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);
	LakeVersion version = resolve_ref(arena, table, "old");

	CHECK_INT(version.snapshot->id, 10);
	CHECK(version.schema == table->schema);
	CHECK(version.is_branch);
	/* whatever their head was written with, even if that is gone */
	version = resolve_ref(arena, table, "audit");
	CHECK_INT(version.snapshot->id, 50);
	CHECK(version.schema == table->schema);
}

static void
tags_have_the_schema_of_their_snapshot(LakeArena *arena)
{
	LakeVersion version = resolve_ref(arena, open_table(arena, HISTORY), "v1");

	CHECK_INT(version.snapshot->id, 10);
	CHECK_INT(version.schema->id, 0);
	CHECK(!version.is_branch);
}

static void
numeric_names_are_names(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);

	CHECK_INT(resolve_ref(arena, table, "20").snapshot->id, 10);
	CHECK_INT(resolve_id(arena, table, 20).snapshot->id, 20);
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "\"30\" does not exist",
					  "is the id of a snapshot",
					  resolve_ref(arena, table, "30"));
}

static void
main_is_there_without_refs(LakeArena *arena)
{
	LakeVersion version =
		resolve_ref(arena, open_table(arena, TABLE
								  ",\"current-snapshot-id\":1,"
								  "\"snapshots\":["
								  SNAPSHOT("1", "5", "") "]"), "main");

	CHECK_INT(version.snapshot->id, 1);
	CHECK(version.is_branch);
}

static void
main_of_an_empty_table_has_no_snapshot(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, TABLE);
	LakeVersion version = resolve_ref(arena, table, "main");

	CHECK(version.snapshot == NULL);
	CHECK(version.schema == table->schema);
	CHECK(version.is_branch);
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "\"v1\" does not exist",
					  "has none",
					  resolve_ref(arena, table, "v1"));
}

static void
unknown_refs_name_those_that_are_there(LakeArena *arena)
{
	const LakeTable *few =
		open_table(arena, TABLE ",\"snapshots\":[" SNAPSHOT("1", "5", "")
			   "],\"refs\":{" REF("audit", "branch", "1") ","
			   REF("Q1", "tag", "1") "}");
	const LakeTable *many = open_table(arena, HISTORY);

	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "\"MAIN\" does not exist",
					  "The table has \"Q1\", \"audit\".",
					  resolve_ref(arena, few, "MAIN"));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "\"Audti\" does not exist",
					  "meant \"audit\"; lake.refs lists all 6",
					  resolve_ref(arena, many, "Audti"));
	CHECK_THROWS_HINT(LAKE_ERROR_UNDEFINED,
					  "\"xyz\" does not exist",
					  "has 6, which lake.refs lists",
					  resolve_ref(arena, many, "xyz"));
	CHECK_THROWS(LAKE_ERROR_UNDEFINED, "\"\" does not exist",
				 resolve_ref(arena, many, ""));
}

static void
long_names_of_refs_are_compared_whole(LakeArena *arena)
{
	char		name[300];
	const LakeTable *table;

	memset(name, 'r', sizeof name);
	name[sizeof name - 1] = '\0';
	table = open_table(arena,
					   lake_printf(arena, TABLE ",\"snapshots\":["
								   SNAPSHOT("1", "5", "") "],\"refs\":{"
								   REF("%s", "tag", "1") "}", name));
	CHECK_INT(resolve_ref(arena, table, name).snapshot->id, 1);
	name[sizeof name - 2] = '\0';
	CHECK_THROWS(LAKE_ERROR_UNDEFINED, "does not exist",
				 resolve_ref(arena, table, name));
}

static void
no_selector_is_the_current_version(LakeArena *arena)
{
	const LakeTable *table = open_table(arena, HISTORY);
	LakeSelector selector = {.kind = LAKE_SELECT_CURRENT};
	LakeVersion version = iceberg_format.resolve(arena, table, &selector);

	CHECK(version.snapshot == table->current_snapshot);
	CHECK(version.schema == table->schema);
	CHECK(version.is_branch);
}

static const UnitTest tests[] = {
	UNIT(ids_give_the_schema_of_their_snapshot),
	UNIT(a_snapshot_without_schema_id_has_the_current_schema),
	UNIT(staged_and_branch_snapshots_are_found_by_id),
	UNIT(a_schema_that_is_gone_is_corrupt),
	UNIT(unknown_ids_name_the_nearest),
	UNIT(times_mean_what_was_current_then),
	UNIT(staged_and_branch_snapshots_are_not_found_by_time),
	UNIT(times_before_the_first_entry_name_it),
	UNIT(microseconds_are_cut_not_rounded),
	UNIT(of_equal_times_the_first_entry_counts),
	UNIT(the_log_need_not_be_in_order),
	UNIT(times_without_a_log_name_the_current_snapshot),
	UNIT(times_of_expired_snapshots_name_the_nearest_that_is_left),
	UNIT(times_beyond_the_calendar_are_named),
	UNIT(branches_have_the_current_schema),
	UNIT(tags_have_the_schema_of_their_snapshot),
	UNIT(numeric_names_are_names),
	UNIT(main_is_there_without_refs),
	UNIT(main_of_an_empty_table_has_no_snapshot),
	UNIT(unknown_refs_name_those_that_are_there),
	UNIT(long_names_of_refs_are_compared_whole),
	UNIT(no_selector_is_the_current_version),
};

UNIT_MAIN(tests)
