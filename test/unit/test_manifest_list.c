/*
 * Manifest lists: what absent fields mean, and what is refused.
 */
#include "iceberg_fixture.h"
#include "unit.h"

static const ManifestFile *
read_list(MemoryStore *memory, size_t *count)
{
	IcebergSnapshot snapshot = {{.id = 77}, "/lake/t/metadata/list.avro", 0,
	NULL};

	return manifest_list_read(memory->arena, &memory->store,
							  &snapshot.snapshot, count);
}

static void
fields_are_found_by_id(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	FixtureManifest manifests[] = {
		{.spec_id = 1, .content = 1, .sequence_number = 5, .live_files = 3,
			.live_rows = 30, .first_row_id = 100, .has_summary = true,
			.deleted_files = 2, .contains_null = true, .contains_nan = 2,
		.lower = fixture_int_bound(arena, 7)},
		{.spec_id = 0, .live_files = NONE, .live_rows = NONE,
		.first_row_id = NONE},
	};
	size_t		count;
	const ManifestFile *list;

	fixture_put_list(memory, manifests, 2);
	list = read_list(memory, &count);
	CHECK_INT(count, 2);
	CHECK_STRING(list[0].path, "/lake/t/metadata/m0.avro");
	CHECK_INT(list[0].spec_id, 1);
	CHECK(list[0].has_deletes);
	CHECK_INT(list[0].sequence_number, 5);
	CHECK_INT(list[0].snapshot_id, 77);
	CHECK_INT(list[0].length, 4711);
	CHECK_INT(list[0].added_files, 3);
	CHECK_INT(list[0].existing_files, 0);
	CHECK_INT(list[0].deleted_files, 2);
	CHECK_INT(list[0].live_files, 3);
	CHECK_INT(list[0].live_rows, 30);
	/* the fixture's lists do not have these */
	CHECK_INT(list[0].min_sequence_number, 0);
	CHECK_INT(list[0].deleted_rows, -1);
	CHECK(list[0].key_metadata.data == NULL);
	CHECK_INT(list[0].first_row_id, 100);
	CHECK_INT(list[0].summary_count, 1);
	CHECK(list[0].has_summaries);
	CHECK(list[0].summaries[0].has_null);
	CHECK(list[0].summaries[0].has_nan);
	CHECK(list[0].summaries[0].nan_is_known);
	CHECK_INT(list[0].summaries[0].lower.len, 4);
	CHECK(list[0].summaries[0].upper.data == NULL);
	CHECK(!list[1].has_deletes);
	CHECK_INT(list[1].deleted_files, -1);
	CHECK_INT(list[1].live_files, -1);
	CHECK_INT(list[1].live_rows, -1);
	CHECK_INT(list[1].first_row_id, -1);
	CHECK_INT(list[1].summary_count, 0);
	CHECK(!list[1].has_summaries);
}

static void
absent_contains_nan_means_that_there_may_be_some(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	FixtureManifest manifest = {.spec_id = 1, .has_summary = true};
	size_t		count;

	fixture_put_list(memory, &manifest, 1);
	CHECK(read_list(memory, &count)[0].summaries[0].has_nan);
	CHECK(!read_list(memory, &count)[0].summaries[0].nan_is_known);
}

static void
v1_lists_lack_content_and_sequence_numbers(LakeArena *arena)
{
	static const char schema[] =
		"{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["
	"{\"name\":\"path\",\"type\":\"string\",\"field-id\":500},"
	"{\"name\":\"spec\",\"type\":\"int\",\"field-id\":502}]}";
	MemoryStore *memory = memory_store_create(arena);
	LakeBuffer	records;
	size_t		count;
	const ManifestFile *list;

	buffer_init(&records, arena);
	avro_put_text(&records, "/lake/m.avro");
	avro_put_long(&records, 4);
	memory_store_put(memory, "/lake/t/metadata/list.avro",
					 avro_file(arena, schema, NULL, 0, 1, &records));
	list = read_list(memory, &count);
	CHECK_INT(count, 1);
	CHECK_STRING(list[0].path, "/lake/m.avro");
	CHECK_INT(list[0].spec_id, 4);
	CHECK(!list[0].has_deletes);
	CHECK_INT(list[0].sequence_number, 0);
	CHECK_INT(list[0].live_files, -1);
	CHECK_INT(list[0].first_row_id, -1);
}

static void
v1_snapshots_may_list_their_manifests_inline(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	const char *paths[] = {"/lake/a.avro", "/lake/b.avro"};
	IcebergSnapshot snapshot = {{.id = 9}, NULL, 2, paths};
	size_t		count;
	const ManifestFile *list = manifest_list_read(arena, &memory->store,
												  &snapshot.snapshot, &count);

	CHECK_INT(count, 2);
	CHECK_STRING(list[1].path, "/lake/b.avro");
	CHECK_INT(list[1].spec_id, -1);
	CHECK_INT(list[1].snapshot_id, 9);
	CHECK_INT(list[1].live_files, -1);
	CHECK_INT(memory->opened, 0);
}

static void
impossible_values_are_corrupt(LakeArena *arena)
{
	FixtureManifest content = {.content = 2};
	FixtureManifest files = {.live_files = -5};
	FixtureManifest sequence = {.sequence_number = -1};
	FixtureManifest row_id = {.first_row_id = -7};
	MemoryStore *memory;
	size_t		count;

	fixture_put_list(memory = memory_store_create(arena), &content, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "neither data nor deletes",
				 read_list(memory, &count));
	fixture_put_list(memory = memory_store_create(arena), &files, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"added_files_count\" is negative",
				 read_list(memory, &count));
	fixture_put_list(memory = memory_store_create(arena), &sequence, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"sequence_number\" is negative",
				 read_list(memory, &count));
	fixture_put_list(memory = memory_store_create(arena), &row_id, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"first_row_id\" is negative",
				 read_list(memory, &count));
}

static void
a_list_that_is_not_there_is_missing(LakeArena *arena)
{
	size_t		count;

	CHECK_THROWS(LAKE_ERROR_MISSING, "list.avro",
				 read_list(memory_store_create(arena), &count));
}

static void
encrypted_lists_are_refused_by_name(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	size_t		count;

	memory_store_put_text(memory, "/lake/t/metadata/list.avro", "AGS1....");
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "encrypted",
				 read_list(memory, &count));
}

static void
totals_come_from_the_list_alone(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	FixtureManifest manifests[] = {
		{.live_files = 3, .live_rows = 30},
		{.live_files = 2, .live_rows = INT64_C(1) << 40},
		{.content = 1, .live_files = 1, .live_rows = 4},
		{.content = 1, .live_files = 0, .live_rows = 0},
	};
	const LakeTable *table = fixture_table(memory, manifests, 4);
	int			opened = memory->opened;
	IcebergTotals totals;

	iceberg_totals(arena, &memory->store, table->current_snapshot, &totals);
	CHECK_INT(totals.data_files, 5);
	CHECK_INT(totals.data_rows, (INT64_C(1) << 40) + 30);
	CHECK_INT(totals.delete_manifests, 1);
	CHECK_INT(memory->opened, opened + 1);
}

static void
one_unknown_count_makes_the_total_unknown(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	FixtureManifest manifests[] = {
		{.live_files = 3, .live_rows = NONE},
		{.live_files = 3, .live_rows = 1},
	};
	const LakeTable *table = fixture_table(memory, manifests, 2);
	IcebergTotals totals;

	iceberg_totals(arena, &memory->store, table->current_snapshot, &totals);
	CHECK_INT(totals.data_files, 6);
	CHECK_INT(totals.data_rows, -1);
}

static void
totals_that_overflow_are_unknown(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	FixtureManifest manifests[] = {
		{.live_files = 1, .live_rows = INT64_MAX},
		{.live_files = 1, .live_rows = INT64_MAX},
		{.live_files = 1, .live_rows = 5},
	};
	const LakeTable *table = fixture_table(memory, manifests, 3);
	IcebergTotals totals;

	iceberg_totals(arena, &memory->store, table->current_snapshot, &totals);
	CHECK_INT(totals.data_rows, -1);
}

static void
totals_that_fail_leave_the_table_as_it_was(LakeArena *arena)
{
	MemoryStore *memory = memory_store_create(arena);
	FixtureManifest manifest = {.live_files = 1, .live_rows = -5};
	const LakeTable *table = fixture_table(memory, &manifest, 1);
	LakeArena  *query = lake_arena_create(arena, "query");
	size_t		before = lake_allocated;
	IcebergTotals totals;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "negative",
				 iceberg_totals(query, &memory->store,
								table->current_snapshot, &totals));
	lake_arena_destroy(query);
	CHECK_INT(lake_allocated, before);
}

static const UnitTest tests[] = {
	UNIT(fields_are_found_by_id),
	UNIT(absent_contains_nan_means_that_there_may_be_some),
	UNIT(v1_lists_lack_content_and_sequence_numbers),
	UNIT(v1_snapshots_may_list_their_manifests_inline),
	UNIT(impossible_values_are_corrupt),
	UNIT(a_list_that_is_not_there_is_missing),
	UNIT(encrypted_lists_are_refused_by_name),
	UNIT(totals_come_from_the_list_alone),
	UNIT(one_unknown_count_makes_the_total_unknown),
	UNIT(totals_that_overflow_are_unknown),
	UNIT(totals_that_fail_leave_the_table_as_it_was),
};

UNIT_MAIN(tests)
