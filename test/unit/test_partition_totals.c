/*
 * Totals of a snapshot's live files by partition.
 */
#include "iceberg_fixture.h"
#include "unit.h"

static const PartitionTotals *
totals_of(LakeArena *arena, const FixtureManifest *manifests, int count,
		  size_t *partitions)
{
	MemoryStore *memory = memory_store_create(arena);
	const LakeTable *table = fixture_table(memory, manifests, count);

	return iceberg_partition_totals(arena, table, &memory->store,
									table->current_snapshot,
									iceberg_partition_type(arena, table),
									partitions);
}

static void
files_count_by_what_they_hold(LakeArena *arena)
{
	FixtureEntry data[] = {
		{FIXTURE_DATA("/lake/a"), .partition = 1},
		{FIXTURE_DATA("/lake/b"), .partition = 1, .record_count = 5},
		{FIXTURE_DATA("/lake/c"), .partition = 2}
	};
	FixtureEntry deletes[] = {
		{FIXTURE_DATA("/lake/p"), .partition = 1, .content = 1,
		.record_count = 3},
		{FIXTURE_DATA("/lake/e"), .partition = 1, .content = 2,
		.equality_id = 1, .record_count = 2}
	};
	FixtureManifest manifests[] = {
		{.spec_id = 1, .sequence_number = 8, .first_row_id = NONE,
		.entry_count = 3, .entries = data},
		{.spec_id = 1, .content = 1, .sequence_number = 8,
			.first_row_id = NONE,
		.entry_count = 2, .entries = deletes}
	};
	size_t		count;
	const PartitionTotals *totals = totals_of(arena, manifests, 2, &count);

	CHECK_INT(count, 2);
	CHECK_INT(totals[0].values[0].i, 1);
	CHECK_INT(totals[0].records, 15);
	CHECK_INT(totals[0].files, 2);
	CHECK_INT(totals[0].size, 2000);
	CHECK_INT(totals[0].position_delete_records, 3);
	CHECK_INT(totals[0].position_delete_files, 1);
	CHECK_INT(totals[0].equality_delete_records, 2);
	CHECK_INT(totals[0].equality_delete_files, 1);
	CHECK_INT(totals[1].values[0].i, 2);
	CHECK_INT(totals[1].records, 10);
	CHECK_INT(totals[1].position_delete_files, 0);
}

static void
deleted_files_are_not_counted(LakeArena *arena)
{
	FixtureEntry data[] = {
		{FIXTURE_DATA("/lake/a"), .partition = 1, .status = 2,
		.sequence_number = 1, .file_sequence_number = 1}
	};
	FixtureManifest manifest = {.spec_id = 1, .sequence_number = 8,
	.first_row_id = NONE, .entry_count = 1, .entries = data};
	size_t		count;

	totals_of(arena, &manifest, 1, &count);
	CHECK_INT(count, 0);
}

static void
one_tuple_of_two_specs_is_one_partition(LakeArena *arena)
{
	FixtureEntry data[] = {{FIXTURE_DATA("/lake/a"), .partition = 6}};

	/* spec 4 has p as spec 1 does, and a column that was dropped */
	FixtureManifest manifests[] = {
		{.spec_id = 1, .sequence_number = 8, .first_row_id = NONE,
		.entry_count = 1, .entries = data},
		{.spec_id = 4, .sequence_number = 8, .first_row_id = NONE,
		.entry_count = 1, .entries = data}
	};
	size_t		count;
	const PartitionTotals *totals = totals_of(arena, manifests, 2, &count);

	CHECK_INT(count, 1);
	CHECK_INT(totals[0].files, 2);
	/* both were added by one snapshot: the first stays */
	CHECK_INT(totals[0].spec_id, 1);
}

static void
an_unpartitioned_spec_has_one_partition(LakeArena *arena)
{
	FixtureEntry data[] = {
		{FIXTURE_DATA("/lake/a")}, {FIXTURE_DATA("/lake/b")}
	};
	FixtureManifest manifest = {.sequence_number = 8, .first_row_id = NONE,
	.entry_count = 2, .entries = data};
	size_t		count;
	const PartitionTotals *totals = totals_of(arena, &manifest, 1, &count);

	CHECK_INT(count, 1);
	CHECK_INT(totals[0].files, 2);
	CHECK(totals[0].values[0].is_null);
}

static void
the_newest_snapshot_that_is_left_counts_as_last_update(LakeArena *arena)
{
	FixtureEntry data[] = {
		{FIXTURE_DATA("/lake/a"), .partition = 1, .snapshot_id = 5},
		{FIXTURE_DATA("/lake/b"), .partition = 1},
		{FIXTURE_DATA("/lake/c"), .partition = 2, .snapshot_id = 5}
	};
	FixtureManifest manifest = {.spec_id = 1, .sequence_number = 8,
	.first_row_id = NONE, .entry_count = 3, .entries = data};
	size_t		count;
	const PartitionTotals *totals = totals_of(arena, &manifest, 1, &count);

	/* the table has snapshot 77, of millisecond 1, and no snapshot 5 */
	CHECK_INT(count, 2);
	CHECK(totals[0].has_update);
	CHECK_INT(totals[0].updated_ms, 1);
	CHECK_INT(totals[0].updated_snapshot_id, 77);
	CHECK(!totals[1].has_update);
	CHECK_INT(totals[1].spec_id, 1);
}

static void
sums_that_overflow_are_out_of_range(LakeArena *arena)
{
	FixtureEntry data[] = {
		{FIXTURE_DATA("/lake/a"), .record_count = INT64_MAX},
		{FIXTURE_DATA("/lake/b")}
	};
	FixtureManifest manifest = {.sequence_number = 8, .first_row_id = NONE,
	.entry_count = 2, .entries = data};
	size_t		count;

	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "\"record_count\"",
				 totals_of(arena, &manifest, 1, &count));
}

static void
many_partitions_are_kept_apart(LakeArena *arena)
{
	FixtureEntry *data = lake_alloc_array(arena, 1000, sizeof *data);
	FixtureManifest manifest = {.spec_id = 1, .sequence_number = 8,
	.first_row_id = NONE, .entry_count = 1000, .entries = data};
	size_t		count;
	const PartitionTotals *totals;

	for (int i = 0; i < 1000; i++)
		data[i] = (FixtureEntry) {FIXTURE_DATA("/lake/a"),
								  .partition = i % 500};
	totals = totals_of(arena, &manifest, 1, &count);
	CHECK_INT(count, 500);
	for (int i = 0; i < 500; i++)
	{
		CHECK_INT(totals[i].values[0].i, i);
		CHECK_INT(totals[i].files, 2);
	}
}

static const UnitTest tests[] = {
	UNIT(files_count_by_what_they_hold),
	UNIT(deleted_files_are_not_counted),
	UNIT(one_tuple_of_two_specs_is_one_partition),
	UNIT(an_unpartitioned_spec_has_one_partition),
	UNIT(the_newest_snapshot_that_is_left_counts_as_last_update),
	UNIT(sums_that_overflow_are_out_of_range),
	UNIT(many_partitions_are_kept_apart),
};

UNIT_MAIN(tests)
