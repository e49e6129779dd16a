/*
 * Manifest lists that we write, read back by our own reader.
 */
#include "manifest_fixture.h"

static const FieldSummary summaries[] = {
	{.has_null = true, .has_nan = true, .nan_is_known = true,
		.lower = {(const uint8_t *) "\0\1", 2}, .upper = {(const uint8_t *) "", 0}
	},
	{.has_nan = true},
};

/* a row that has everything */
static const ManifestFile complete = {
	.path = "/lake/m.avro", .length = 4711, .spec_id = 3, .has_deletes = true,
	.sequence_number = 7, .min_sequence_number = 5, .snapshot_id = 99,
	.first_row_id = -1, .added_files = 1, .existing_files = 2,
	.deleted_files = 3, .added_rows = 10, .existing_rows = 20,
	.deleted_rows = 30, .live_files = 3, .live_rows = 30,
	.key_metadata = {(const uint8_t *) "k\0y", 3}, .has_summaries = true,
	.summary_count = 2, .summaries = summaries
};

/* writes rows, reads them, and writes those again */
static void
check_carried(Lake *lake, const ManifestFile *rows, size_t count,
			  const ManifestFile *expected)
{
	ListedManifest *listed = lake_alloc_array(lake->arena, count,
											  sizeof *listed);
	ManifestListHeader header = {.snapshot_id = 1, .parent_id = -1,
	.sequence_number = 9};
	const ManifestFile *read = rows;

	for (int round = 0; round < 2; round++)
	{
		const char *name = round == 0 ? "list1.avro" : "list2.avro";
		size_t		found;

		for (size_t i = 0; i < count; i++)
			listed[i].old = &read[i];
		lake_write_list(lake, name, header, listed, count);
		read = lake_read_list(lake, name, &found);
		CHECK_INT(found, count);
		for (size_t i = 0; i < count; i++)
			lake_check_row(&read[i], &expected[i]);
	}
}

static void
old_rows_are_carried_as_they_were(LakeArena *arena)
{
	ManifestFile rows[3] = {complete, complete, complete};

	rows[1].has_summaries = false;
	rows[1].summary_count = 0;
	rows[1].key_metadata.data = NULL;
	rows[1].key_metadata.len = 0;
	rows[2].has_deletes = false;
	rows[2].first_row_id = 17;
	rows[2].summary_count = 0;
	rows[2].added_rows = INT64_MAX;
	rows[2].live_rows = -1;		/* too many */
	check_carried(lake_create(arena, 3), rows, 3, rows);
}

static void
version_1_has_no_sequence_numbers_and_deletes(LakeArena *arena)
{
	ManifestFile row = complete;
	ManifestFile expected;

	row.has_deletes = false;
	expected = row;
	expected.sequence_number = 0;
	expected.min_sequence_number = 0;
	check_carried(lake_create(arena, 1), &row, 1, &expected);
}

static void
unknown_counts_stay_unknown(LakeArena *arena)
{
	ManifestFile rows[2] = {complete, complete};

	rows[0].added_files = rows[0].existing_files = -1;
	rows[0].deleted_files = rows[0].added_rows = -1;
	rows[0].existing_rows = rows[0].deleted_rows = -1;
	rows[0].live_files = rows[0].live_rows = -1;
	for (int version = 2; version <= 3; version++)
		check_carried(lake_create(arena, version), rows, 2, rows);
}

static void
counts_are_optional_only_where_one_is_unknown(LakeArena *arena)
{
	static const char *const expected[] = {
		"500 501 502 503 504 505 506 512 513 514 507?[508(509 518? 510? 511?)] "
		"519?",
		"500 501 502 517 515 516 503 504 505 506 512 513 514 "
		"507?[508(509 518? 510? 511?)] 519?",
		"500 501 502 517 515 516 503 504 505 506 512 513 514 "
		"507?[508(509 518? 510? 511?)] 519? 520?",
		"500 501 502 517 515 516 503 504? 505 506 512 513 514 "
		"507?[508(509 518? 510? 511?)] 519?",
	};
	ManifestFile row = complete;
	ListedManifest listed = {.old = &row};

	for (int i = 0; i < 4; i++)
	{
		Lake	   *lake = lake_create(arena, i < 3 ? i + 1 : 2);

		row.has_deletes = i > 0;
		if (i == 3)
			row.added_files = -1;
		lake_write_list(lake, "list.avro", (ManifestListHeader) {0}, &listed,
						1);
		CHECK_STRING(lake_schema_ids(lake, "list.avro"), expected[i]);
	}
}

static void
new_manifests_get_the_sequence_number(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	NewManifest fresh = {complete};
	NewManifest carrying = {complete};
	ListedManifest listed[] = {{.added = &fresh}, {.added = &carrying}};
	ManifestListHeader header = {.snapshot_id = 1, .sequence_number = 9};
	const ManifestFile *read;
	size_t		count;

	fresh.file.sequence_number = carrying.file.sequence_number = -1;
	fresh.file.min_sequence_number = -1;
	carrying.file.min_sequence_number = 4;
	lake_write_list(lake, "list.avro", header, listed, 2);
	read = lake_read_list(lake, "list.avro", &count);
	CHECK_INT(count, 2);
	CHECK_INT(read[0].sequence_number, 9);
	CHECK_INT(read[0].min_sequence_number, 9);
	CHECK_INT(read[1].sequence_number, 9);
	CHECK_INT(read[1].min_sequence_number, 4);
	CHECK_INT(read[0].first_row_id, -1);
}

/* the example of the specification */
static void
row_ids_are_assigned_in_order(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3);
	static const int64_t rows[][2] = {{925, 0}, {100, 25}, {5, 5}, {0, 100},
	{125, 25}};
	static const int64_t expected[] = {925, 1000, -1, 1125, 1225};
	NewManifest manifests[5];
	ListedManifest listed[5] = {{0}};
	ManifestListHeader header = {.snapshot_id = 1, .sequence_number = 9,
	.first_row_id = 1000};
	const ManifestFile *read;
	size_t		count;

	for (int i = 0; i < 5; i++)
	{
		manifests[i].file = complete;
		manifests[i].file.has_deletes = i == 2;
		manifests[i].file.added_rows = rows[i][0];
		manifests[i].file.existing_rows = rows[i][1];
		manifests[i].file.live_rows = rows[i][0] + rows[i][1];
		listed[i].added = &manifests[i];
	}
	manifests[0].file.first_row_id = 925;
	listed[0].added = NULL;
	listed[0].old = &manifests[0].file;
	CHECK_INT(lake_write_list(lake, "list.avro", header, listed, 5), 1375);
	read = lake_read_list(lake, "list.avro", &count);
	for (int i = 0; i < 5; i++)
		CHECK_INT(read[i].first_row_id, expected[i]);
	header.format_version = 2;
	CHECK_INT(lake_write_list(lake, "list2.avro", header, listed, 5), 1000);
	header.format_version = 3;
	header.first_row_id = INT64_MAX - 374;
	CHECK_THROWS(LAKE_ERROR_LIMIT, "no more row ids",
				 lake_write_list(lake, "list3.avro", header, listed, 5));
}

/* a manifest of 3 live files that have 7, 8 and 9 rows, and of a deleted one */
static ManifestFile
write_manifest(Lake *lake, int spec_id)
{
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, spec_id);
	ManifestWriter *writer = lake_manifest(lake, "m.avro", spec, false, 77);
	IcebergEntry entry = {.path = {(const uint8_t *) "/a", 2}, .snapshot_id = 1,
	.record_count = 1000};

	for (int i = 0; i < 3; i++)
	{
		WrittenFile *file = lake_random_file(lake, WRITTEN_DATA, spec);

		file->record_count = 7 + i;
		manifest_writer_add(writer, file);
	}
	manifest_writer_carry(writer, &entry,
						  lake_random_partition(lake, spec), STATUS_DELETED);
	return manifest_writer_finish(writer)->file;
}

/* of a v1 snapshot without a list, in an upgraded table */
static void
what_a_snapshot_does_not_say_is_looked_up(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3);
	ManifestFile written = write_manifest(lake, SPEC_IDENTITY);
	ManifestFile row = {.path = written.path, .length = -1, .spec_id = -1,
		.snapshot_id = 5, .first_row_id = -1, .added_files = -1,
		.existing_files = -1, .deleted_files = -1, .added_rows = -1,
		.existing_rows = -1, .deleted_rows = -1, .live_files = -1,
	.live_rows = -1};
	ListedManifest listed = {.old = &row};
	ManifestListHeader header = {.first_row_id = 100};
	const ManifestFile *read;
	size_t		count;

	CHECK_INT(lake_write_list(lake, "list.avro", header, &listed, 1), 124);
	read = lake_read_list(lake, "list.avro", &count);
	row.length = written.length;
	row.spec_id = SPEC_IDENTITY;
	row.first_row_id = 100;
	lake_check_row(&read[0], &row);
}

static void
check_header(Lake *lake, const char *key, const char *value)
{
	LakeBytes	found = {NULL, 0};
	LakeBytes	wanted = {(const uint8_t *) value,
		value == NULL ? 0 : strlen(value)
	};

	avro_reader_header(lake_open_avro(lake, "list.avro"), key, &found);
	CHECK(lake_is_same_bytes(found, wanted));
}

static void
headers_say_what_the_version_has(LakeArena *arena)
{
	static const char *const numbers[] = {"1", "2", "3"};
	ManifestListHeader header = {.snapshot_id = 1234567890123, .parent_id = -1,
	.sequence_number = 9, .first_row_id = 100};

	for (int version = 1; version <= 3; version++)
	{
		Lake	   *lake = lake_create(arena, version);

		header.parent_id = version == 1 ? -1 : 5;
		lake_write_list(lake, "list.avro", header, NULL, 0);
		check_header(lake, "snapshot-id", "1234567890123");
		check_header(lake, "parent-snapshot-id", version == 1 ? "null" : "5");
		check_header(lake, "format-version", numbers[version - 1]);
		check_header(lake, "sequence-number", version == 1 ? NULL : "9");
		check_header(lake, "first-row-id", version == 3 ? "100" : NULL);
	}
}

static const UnitTest tests[] = {
	UNIT(old_rows_are_carried_as_they_were),
	UNIT(version_1_has_no_sequence_numbers_and_deletes),
	UNIT(unknown_counts_stay_unknown),
	UNIT(counts_are_optional_only_where_one_is_unknown),
	UNIT(new_manifests_get_the_sequence_number),
	UNIT(row_ids_are_assigned_in_order),
	UNIT(what_a_snapshot_does_not_say_is_looked_up),
	UNIT(headers_say_what_the_version_has),
};

UNIT_MAIN(tests)
