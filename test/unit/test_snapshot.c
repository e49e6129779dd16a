/*
 * Snapshots: ids, summaries that say little or nonsense, and inline manifests.
 */
#include "iceberg/iceberg_int.h"
#include "unit.h"

static LakeBytes
text(const char *string)
{
	return (LakeBytes) {(const uint8_t *) string, strlen(string)};
}

static const IcebergSnapshot *
parse(LakeArena *arena, const char *members)
{
	return snapshot_parse(arena,
						  text(lake_printf(arena, "{\"snapshot-id\":5,%s}",
										   members)), 5);
}

#define REST "\"timestamp-ms\":7,\"manifest-list\":\"l\""

static void
ids_are_unsigned_or_negative_integers(LakeArena *arena)
{
	int64_t		id = 0;

	(void) arena;
	CHECK(snapshot_parse_id(text("12"), &id) && id == 12);
	CHECK(snapshot_parse_id(text("-1"), &id) && id == -1);
	CHECK(snapshot_parse_id(text("18446744073709551615"), &id) && id == -1);
	CHECK(!snapshot_parse_id(text("18446744073709551616"), &id));
	CHECK(!snapshot_parse_id(text("-9223372036854775809"), &id));
	CHECK(!snapshot_parse_id(text("\"12\""), &id));
	CHECK(!snapshot_parse_id(text("1e3"), &id));
	CHECK(!snapshot_parse_id(text(""), &id));
}

static void
a_scan_finds_id_and_sequence_number(LakeArena *arena)
{
	int64_t		id;
	int64_t		sequence_number;

	(void) arena;
	snapshot_scan(text("{\"x\":[{\"snapshot-id\":1}],\"snapshot-id\":5}"),
				  &id, &sequence_number);
	CHECK_INT(id, 5);
	CHECK_INT(sequence_number, 0);
	snapshot_scan(text("{\"sequence-number\":3,\"snapshot-id\":6}"), &id,
				  &sequence_number);
	CHECK_INT(sequence_number, 3);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"snapshot-id\"",
				 snapshot_scan(text("{\"snapshot-id\":null}"), &id,
							   &sequence_number));
}

static void
absent_members_are_unknown(LakeArena *arena)
{
	const IcebergSnapshot *snapshot = parse(arena, REST);

	CHECK_INT(snapshot->snapshot.id, 5);
	CHECK_INT(snapshot->snapshot.parent_id, -1);
	CHECK_INT(snapshot->snapshot.schema_id, -1);
	CHECK_INT(snapshot->snapshot.sequence_number, 0);
	CHECK(snapshot->snapshot.operation == NULL);
	CHECK_INT(snapshot->snapshot.total_records, -1);
	CHECK_STRING(snapshot->manifest_list, "l");
}

static void
summaries_are_believed_where_they_make_sense(LakeArena *arena)
{
	const LakeSnapshot *snapshot =
		&parse(arena, REST ",\"summary\":{\"total-records\":\"12\","
		   "\"total-data-files\":\"-3\",\"total-files-size\":\"1x\","
		   "\"total-position-deletes\":4,"
		   "\"total-equality-deletes\":\"99999999999999999999\"}")->snapshot;

	CHECK_INT(snapshot->total_records, 12);
	CHECK_INT(snapshot->total_data_files, -1);
	CHECK_INT(snapshot->total_size, -1);
	CHECK_INT(snapshot->total_position_deletes, -1);
	CHECK_INT(snapshot->total_equality_deletes, -1);
	/* as Java reads a summary without one */
	CHECK_STRING(snapshot->operation, "overwrite");
}

static void
manifests_may_be_inline(LakeArena *arena)
{
	const IcebergSnapshot *snapshot =
		parse(arena, "\"timestamp-ms\":7,\"manifests\":[\"a\",\"b\"]");

	CHECK(snapshot->manifest_list == NULL);
	CHECK_INT(snapshot->manifest_count, 2);
	CHECK_STRING(snapshot->manifests[1], "b");
}

static void
malformed_snapshots_are_corrupt(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"timestamp-ms\"",
				 parse(arena, "\"manifest-list\":\"l\""));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"manifest-list\"",
				 parse(arena, "\"timestamp-ms\":7"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "manifests",
				 parse(arena, "\"timestamp-ms\":7,\"manifests\":\"a\""));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "NUL",
				 parse(arena, "\"timestamp-ms\":7,"
					   "\"manifests\":[\"a\\u0000b\"]"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"summary\"",
				 parse(arena, REST ",\"summary\":[]"));
}

static const UnitTest tests[] = {
	UNIT(ids_are_unsigned_or_negative_integers),
	UNIT(a_scan_finds_id_and_sequence_number),
	UNIT(absent_members_are_unknown),
	UNIT(summaries_are_believed_where_they_make_sense),
	UNIT(manifests_may_be_inline),
	UNIT(malformed_snapshots_are_corrupt),
};

UNIT_MAIN(tests)
