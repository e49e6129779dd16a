/*
 * Manifests: inheritance, partition tuples, bounds, and what is refused.
 */
#include <math.h>

#include "iceberg_fixture.h"
#include "unit.h"

typedef struct Opened
{
	ManifestReader *reader;
	ManifestEntry entry;
} Opened;

/* a manifest opened as of a list entry, with a's and d's bounds asked for */
static Opened *
open_manifest(LakeArena *arena, const FixtureManifest *manifest,
			  const ManifestFile *file, int partition_field_id)
{
	static LakeType int_type = {.kind = LAKE_INT};
	static LakeType double_type = {.kind = LAKE_DOUBLE};
	static const BoundsColumn columns[] = {{1, &int_type}, {3, &double_type}};
	MemoryStore *memory = memory_store_create(arena);
	const LakeTable *table = fixture_table(memory, manifest, 0);
	ManifestFile *copy = lake_alloc(arena, sizeof *copy);
	Opened	   *opened = lake_alloc(arena, sizeof *opened);

	memory_store_put(memory, "/lake/m.avro",
					 fixture_manifest(arena, manifest, partition_field_id));
	*copy = *file;
	copy->path = "/lake/m.avro";
	opened->reader = manifest_reader_open(arena, arena, table, &memory->store,
										  copy, columns, 2);
	return opened;
}

static bool
next(Opened *opened)
{
	return manifest_reader_next(opened->reader, &opened->entry);
}

static Opened *
open_entries(LakeArena *arena, const FixtureEntry *entries, int count,
			 const ManifestFile *file)
{
	FixtureManifest manifest = {.spec_id = file->spec_id,
		.entry_count = count, .entries = entries
	};

	return open_manifest(arena, &manifest, file,
						 file->spec_id == 3 ? 1001 : 1000);
}

#define OPEN(entries, file) \
	open_entries(arena, entries, (int) (sizeof entries / sizeof entries[0]), \
				 file)

static const ManifestFile plain = {.sequence_number = 8, .snapshot_id = 77,
.first_row_id = -1};

static void
added_entries_inherit_from_the_list(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	Opened	   *opened = OPEN(entries, &plain);

	CHECK(next(opened));
	CHECK_INT(opened->entry.sequence_number, 8);
	CHECK_INT(opened->entry.snapshot_id, 77);
	CHECK_INT(opened->entry.first_row_id, -1);
	CHECK_INT(opened->entry.record_count, 10);
	CHECK_INT(opened->entry.size, 1000);
	CHECK(!next(opened));
}

static void
explicit_numbers_are_kept(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	Opened	   *opened;

	entries[0].sequence_number = 3;
	entries[0].snapshot_id = 12;
	opened = OPEN(entries, &plain);
	CHECK(next(opened));
	CHECK_INT(opened->entry.sequence_number, 3);
	CHECK_INT(opened->entry.snapshot_id, 12);
}

static void
existing_entries_do_not_inherit_sequence_numbers(LakeArena *arena)
{
	static const ManifestFile v1 = {.snapshot_id = 77, .first_row_id = -1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	Opened	   *opened;

	entries[0].status = 0;
	opened = OPEN(entries, &plain);
	CHECK(next(opened));
	CHECK_INT(opened->entry.sequence_number, -1);
	opened = OPEN(entries, &v1);
	CHECK(next(opened));
	CHECK_INT(opened->entry.sequence_number, 0);
}

static void
deleted_entries_are_skipped(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")},
	{FIXTURE_DATA("/lake/b")}};
	Opened	   *opened;

	entries[0].status = 2;
	/* whatever is wrong with them */
	entries[0].path = NULL;
	opened = OPEN(entries, &plain);
	CHECK(next(opened));
	CHECK(memcmp(opened->entry.path.data, "/lake/b", 7) == 0);
	CHECK(!next(opened));
}

/* the worked example of the specification */
static void
row_ids_count_through_entries_without_one(LakeArena *arena)
{
	static const ManifestFile file = {.sequence_number = 8,
	.first_row_id = 1000};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/existing")},
	{FIXTURE_DATA("/lake/a")}, {FIXTURE_DATA("/lake/gone")},
	{FIXTURE_DATA("/lake/b")}};
	Opened	   *opened;

	entries[0].status = 0;
	entries[0].sequence_number = 2;
	entries[0].first_row_id = 800;
	entries[0].record_count = 25;
	entries[1].record_count = 50;
	entries[2].status = 2;
	entries[2].record_count = 99;
	opened = OPEN(entries, &file);
	CHECK(next(opened));
	CHECK_INT(opened->entry.first_row_id, 800);
	CHECK(next(opened));
	CHECK_INT(opened->entry.first_row_id, 1000);
	CHECK(next(opened));
	CHECK_INT(opened->entry.first_row_id, 1050);
}

static void
explicit_row_ids_are_void_without_the_manifests(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	Opened	   *opened;

	entries[0].first_row_id = 800;
	opened = OPEN(entries, &plain);
	CHECK(next(opened));
	CHECK_INT(opened->entry.first_row_id, -1);
}

static void
row_ids_need_record_counts(LakeArena *arena)
{
	static const ManifestFile file = {.first_row_id = 1000};
	static const ManifestFile last = {.first_row_id = INT64_MAX};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	Opened	   *opened = OPEN(entries, &last);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "without row ids", next(opened));
	entries[0].record_count = -1;
	opened = OPEN(entries, &file);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "without row ids", next(opened));
}

static void
negative_record_counts_are_unknown(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")},
	{FIXTURE_DATA("/lake/b")}};
	Opened	   *opened;

	entries[0].record_count = -9;
	entries[1].record_count = NONE;
	opened = OPEN(entries, &plain);
	CHECK(next(opened));
	CHECK_INT(opened->entry.record_count, -1);
	CHECK(next(opened));
	CHECK_INT(opened->entry.record_count, -1);
}

static void
malformed_entries_are_corrupt(LakeArena *arena)
{
	static const struct
	{
		const char *message;
		FixtureEntry entry;
	}			cases[] = {
		{"\"file_path\" is missing", {FIXTURE_DATA(NULL)}},
		{"\"file_path\" is missing", {FIXTURE_DATA("")}},
		{"\"status\"", {FIXTURE_DATA("/x"), .status = 3}},
		{"\"status\"", {FIXTURE_DATA("/x"), .status = -1}},
		{"\"content\"", {FIXTURE_DATA("/x"), .content = 3}},
		{"\"content\"", {FIXTURE_DATA("/x"), .content = -1}},
		{"\"file_size_in_bytes\"", {FIXTURE_DATA("/x"), .size = -1}},
		{"\"file_size_in_bytes\"", {FIXTURE_DATA("/x"), .size = NONE}},
		{"\"equality_ids\"", {FIXTURE_DATA("/x"), .content = 2}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		Opened	   *opened = open_entries(arena, &cases[i].entry, 1, &plain);

		CHECK_THROWS(LAKE_ERROR_CORRUPT, cases[i].message, next(opened));
	}
}

static void
data_in_a_delete_manifest_is_corrupt(LakeArena *arena)
{
	static const ManifestFile file = {.has_deletes = true};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	Opened	   *opened = OPEN(entries, &file);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "data in a delete manifest",
				 next(opened));
}

static void
data_in_a_manifest_that_says_deletes_is_corrupt(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	FixtureManifest manifest = {.says_deletes = true, .entry_count = 1,
	.entries = entries};
	Opened	   *opened = open_manifest(arena, &manifest, &plain, 1000);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "data in a delete manifest",
				 next(opened));
}

static void
tuples_are_found_by_field_id(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")},
	{FIXTURE_DATA("/lake/b")}};
	Opened	   *opened;
	LakeValue  *values;

	entries[0].partition = -5;
	opened = OPEN(entries, &file);
	CHECK(next(opened));
	values = manifest_reader_partition(opened->reader, arena);
	CHECK(!values[0].is_null);
	CHECK_INT(values[0].i, -5);
	CHECK(next(opened));
	CHECK(manifest_reader_partition(opened->reader, arena)[0].is_null);
}

static void
tuples_without_ids_are_found_by_position(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .partition = 3}};
	FixtureManifest manifest = {.spec_id = 1, .entry_count = 1,
	.entries = entries};
	Opened	   *opened = open_manifest(arena, &manifest, &file, -1);

	CHECK(next(opened));
	CHECK_INT(manifest_reader_partition(opened->reader, arena)[0].i, 3);
}

static void
tuples_that_lack_a_field_are_corrupt(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 1};
	FixtureManifest manifest = {.spec_id = 1};

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "lack the field \"p\"",
				 open_manifest(arena, &manifest, &file, 1007));
}

static void
void_fields_are_null_whatever_is_stored(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 2};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .partition = 3}};
	Opened	   *opened = OPEN(entries, &file);

	CHECK(next(opened));
	CHECK(manifest_reader_partition(opened->reader, arena)[0].is_null);
}

static void
a_spec_may_be_in_the_manifest_only(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 9};
	static const ManifestFile unknown = {.spec_id = -1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .partition = 3}};
	FixtureManifest manifest = {.spec_id = 1, .entry_count = 1,
	.entries = entries};
	FixtureManifest bare = {.spec_id = 0};
	Opened	   *opened = open_manifest(arena, &manifest, &file, 1000);

	CHECK_INT(manifest_reader_spec(opened->reader)->id, 9);
	CHECK(next(opened));
	CHECK_INT(manifest_reader_partition(opened->reader, arena)[0].i, 3);
	opened = open_manifest(arena, &manifest, &unknown, 1000);
	CHECK_INT(manifest_reader_spec(opened->reader)->id, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "partition spec 9",
				 open_manifest(arena, &bare, &file, 1000));
}

static void
keys_tell_specs_and_tuples_apart(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/1"), .partition = 3},
	{FIXTURE_DATA("/2"), .partition = 3}, {FIXTURE_DATA("/3"), .partition = 4},
	{FIXTURE_DATA("/4")}, {FIXTURE_DATA("/5"), .partition = 0}};
	Opened	   *opened = OPEN(entries, &file);
	LakeBuffer	keys[5];

	for (int i = 0; i < 5; i++)
	{
		CHECK(next(opened));
		buffer_init(&keys[i], arena);
		manifest_reader_partition_key(opened->reader, &keys[i]);
		for (int j = 0; j < i; j++)
			CHECK((keys[i].len == keys[j].len &&
				   memcmp(keys[i].data, keys[j].data, keys[i].len) == 0) ==
				  (i == 1 && j == 0));
	}
}

static bool
bounds_of(Opened *opened, int32_t id, LakeTypeKind kind, LakeBounds *bounds)
{
	static LakeType type;

	type.kind = kind;
	memset(bounds, 0x5a, sizeof *bounds);
	return manifest_reader_bounds(opened->reader, id, &type, bounds);
}

static void
bounds_are_those_of_the_asked_column(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/x"), .column = 1,
			.value_count = 10, .null_count = 4,
			.lower = fixture_int_bound(arena, -3),
	.upper = fixture_int_bound(arena, 8)}};
	Opened	   *opened = OPEN(entries, &plain);
	LakeBounds	bounds;

	CHECK(next(opened));
	CHECK(bounds_of(opened, 1, LAKE_INT, &bounds));
	CHECK_INT(bounds.value_count, 10);
	CHECK_INT(bounds.null_count, 4);
	CHECK_INT(bounds.nan_count, 0);
	CHECK(bounds.has_lower && bounds.has_upper);
	CHECK_INT(bounds.lower.i, -3);
	CHECK_INT(bounds.upper.i, 8);
	/* absent statistics are unknown, not zero */
	CHECK(bounds_of(opened, 3, LAKE_DOUBLE, &bounds));
	CHECK_INT(bounds.value_count, -1);
	CHECK_INT(bounds.null_count, -1);
	CHECK_INT(bounds.nan_count, -1);
	CHECK(!bounds.has_lower && !bounds.has_upper);
	CHECK(!bounds_of(opened, 2, LAKE_STRING, &bounds));
}

static void
bounds_that_cannot_be_are_unknown(LakeArena *arena)
{
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/inverted"), .column = 1,
			.lower = fixture_int_bound(arena, 8),
		.upper = fixture_int_bound(arena, -3)},
		{FIXTURE_DATA("/nan"), .column = 3,
			.lower = fixture_double_bound(arena, (double) NAN),
		.upper = fixture_double_bound(arena, 1)},
		{FIXTURE_DATA("/short"), .column = 1,
			.lower = {(const uint8_t *) "ab", 2},
		.upper = fixture_int_bound(arena, 1)},
	};
	Opened	   *opened = OPEN(entries, &plain);
	LakeBounds	bounds;

	CHECK(next(opened));
	CHECK(bounds_of(opened, 1, LAKE_INT, &bounds));
	CHECK(!bounds.has_lower && !bounds.has_upper);
	CHECK(next(opened));
	CHECK(bounds_of(opened, 3, LAKE_DOUBLE, &bounds));
	CHECK(!bounds.has_lower && !bounds.has_upper);
	CHECK(next(opened));
	CHECK(bounds_of(opened, 1, LAKE_INT, &bounds));
	CHECK(!bounds.has_lower);
	CHECK(bounds.has_upper);
}

static void
counts_that_contradict_each_other_are_unknown(LakeArena *arena)
{
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/x"), .column = 1, .value_count = 3, .null_count = 4},
		{FIXTURE_DATA("/x"), .column = 3, .value_count = 3, .null_count = 0,
		.nan_count = 9},
		{FIXTURE_DATA("/x"), .column = 1, .value_count = -4, .null_count = 0},
	};
	Opened	   *opened = OPEN(entries, &plain);
	LakeBounds	bounds;

	CHECK(next(opened));
	CHECK(bounds_of(opened, 1, LAKE_INT, &bounds));
	CHECK_INT(bounds.value_count, -1);
	CHECK_INT(bounds.null_count, -1);
	CHECK(next(opened));
	CHECK(bounds_of(opened, 3, LAKE_DOUBLE, &bounds));
	CHECK_INT(bounds.value_count, -1);
	CHECK_INT(bounds.nan_count, -1);
	CHECK(next(opened));
	CHECK(bounds_of(opened, 1, LAKE_INT, &bounds));
	CHECK_INT(bounds.value_count, -1);
	CHECK_INT(bounds.null_count, 0);
}

static void
text_bounds_that_are_no_text_are_unknown(LakeArena *arena)
{
	LakeType	type = {.kind = LAKE_STRING};
	LakeBounds	bounds;

	(void) arena;
	bounds_set(&bounds, &type, fixture_text_bound("abc"),
			   fixture_text_bound("abc\xe2\x80"));
	CHECK(bounds.has_lower);
	CHECK(!bounds.has_upper);
}

static const UnitTest tests[] = {
	UNIT(added_entries_inherit_from_the_list),
	UNIT(explicit_numbers_are_kept),
	UNIT(existing_entries_do_not_inherit_sequence_numbers),
	UNIT(deleted_entries_are_skipped),
	UNIT(row_ids_count_through_entries_without_one),
	UNIT(explicit_row_ids_are_void_without_the_manifests),
	UNIT(row_ids_need_record_counts),
	UNIT(negative_record_counts_are_unknown),
	UNIT(malformed_entries_are_corrupt),
	UNIT(data_in_a_delete_manifest_is_corrupt),
	UNIT(data_in_a_manifest_that_says_deletes_is_corrupt),
	UNIT(tuples_are_found_by_field_id),
	UNIT(tuples_without_ids_are_found_by_position),
	UNIT(tuples_that_lack_a_field_are_corrupt),
	UNIT(void_fields_are_null_whatever_is_stored),
	UNIT(a_spec_may_be_in_the_manifest_only),
	UNIT(keys_tell_specs_and_tuples_apart),
	UNIT(bounds_are_those_of_the_asked_column),
	UNIT(bounds_that_cannot_be_are_unknown),
	UNIT(counts_that_contradict_each_other_are_unknown),
	UNIT(text_bounds_that_are_no_text_are_unknown),
};

UNIT_MAIN(tests)
