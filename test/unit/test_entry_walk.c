/*
 * Walks over all entries: every field, what is inherited, tuples of a table
 * whose specs changed.
 */
#include "iceberg_fixture.h"
#include "unit.h"

typedef struct Walking
{
	const LakePartitionSpec *type;
	EntryWalk  *walk;
} Walking;

static const ManifestFile plain = {.sequence_number = 8, .snapshot_id = 77,
.first_row_id = -1};

/* a manifest as of a list entry */
static Walking
open_bytes(LakeArena *arena, LakeBytes bytes, const ManifestFile *file,
		   bool metrics)
{
	MemoryStore *memory = memory_store_create(arena);
	const LakeTable *table = fixture_table(memory, NULL, 0);
	ManifestFile *copy = lake_alloc(arena, sizeof *copy);
	Walking		result;

	memory_store_put(memory, "/lake/m.avro", bytes);
	*copy = *file;
	copy->path = "/lake/m.avro";
	result.type = iceberg_partition_type(arena, table);
	result.walk = entry_walk_open(arena, table, &memory->store, copy,
								  result.type, metrics);
	return result;
}

static EntryWalk *
open_entries(LakeArena *arena, const FixtureEntry *entries, int count,
			 const ManifestFile *file)
{
	FixtureManifest manifest = {.spec_id = file->spec_id,
		.entry_count = count, .entries = entries
	};

	return open_bytes(arena, fixture_manifest(arena, &manifest,
											  file->spec_id == 3 ?
											  1001 : 1000),
					  file, true).walk;
}

#define OPEN(entries, file) \
	open_entries(arena, entries, (int) (sizeof entries / sizeof entries[0]), \
				 file)

#define CHECK_BYTES(actual, text) \
	CHECK((actual).len == strlen(text) && \
		  memcmp((actual).data, text, strlen(text)) == 0)

static void
every_field_is_read(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .status = 0,
			.snapshot_id = 5, .sequence_number = 3, .file_sequence_number = 4,
			.content = 2, .format = "avro", .equality_id = 2,
			.referenced = "/lake/r", .content_offset = 6, .content_size = 7,
			.key_metadata = fixture_text_bound("key"), .split_offset = 4,
			.sort_order_id = 9, .column = 3, .column_size = 50,
			.value_count = 10, .null_count = 1, .nan_count = 2,
			.lower = fixture_double_bound(arena, 0.5),
	.upper = fixture_text_bound("")}};
	const IcebergEntry *entry = entry_walk_next(OPEN(entries, &plain));

	CHECK_INT(entry->status, STATUS_EXISTING);
	CHECK_INT(entry->snapshot_id, 5);
	CHECK_INT(entry->sequence_number, 3);
	CHECK_INT(entry->file_sequence_number, 4);
	CHECK_INT(entry->content, CONTENT_EQUALITY_DELETES);
	CHECK_BYTES(entry->path, "/lake/a");
	CHECK_BYTES(entry->format, "avro");
	CHECK_INT(entry->record_count, 10);
	CHECK_INT(entry->size, 1000);
	CHECK_BYTES(entry->key_metadata, "key");
	CHECK_INT(entry->split_offsets.count, 1);
	CHECK_INT(entry->split_offsets.values[0], 4);
	CHECK_INT(entry->equality_ids.values[0], 2);
	CHECK_INT(entry->sort_order_id, 9);
	CHECK_BYTES(entry->referenced_file, "/lake/r");
	CHECK_INT(entry->content_offset, 6);
	CHECK_INT(entry->content_size, 7);
	for (int i = METRIC_COLUMN_SIZE; i <= METRIC_NAN_COUNT; i++)
	{
		static const int64_t counts[] = {50, 10, 1, 2};

		CHECK_INT(entry->metrics[i].count, 1);
		CHECK_INT(entry->metrics[i].fields[0].field_id, 3);
		CHECK_INT(entry->metrics[i].fields[0].count, counts[i]);
	}
	CHECK_INT(entry->metrics[METRIC_LOWER_BOUND].fields[0].bound.len, 8);
	CHECK(entry->metrics[METRIC_UPPER_BOUND].fields[0].bound.data != NULL);
	CHECK_INT(entry->metrics[METRIC_UPPER_BOUND].fields[0].bound.len, 0);
}

static void
what_is_absent_is_told_from_what_is_empty(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	const IcebergEntry *entry = entry_walk_next(OPEN(entries, &plain));

	CHECK_INT(entry->sort_order_id, ICEBERG_NONE);
	CHECK_INT(entry->first_row_id, ICEBERG_NONE);
	CHECK_INT(entry->content_offset, ICEBERG_NONE);
	CHECK(entry->key_metadata.data == NULL);
	CHECK(entry->referenced_file.data == NULL);
	CHECK(entry->split_offsets.values == NULL);
	CHECK(entry->equality_ids.values == NULL);
	for (int i = 0; i < METRIC_COUNT; i++)
		CHECK(entry->metrics[i].fields == NULL);
}

static void
deleted_entries_come_too(LakeArena *arena)
{
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/lake/a"), .status = 2, .sequence_number = 3},
		{FIXTURE_DATA("/lake/b")}
	};
	EntryWalk  *walk = OPEN(entries, &plain);
	const IcebergEntry *entry = entry_walk_next(walk);

	CHECK_INT(entry->status, STATUS_DELETED);
	CHECK_INT(entry->snapshot_id, 77);
	CHECK_INT(entry->sequence_number, 3);
	CHECK_INT(entry_walk_next(walk)->status, STATUS_ADDED);
	CHECK(entry_walk_next(walk) == NULL);
}

static void
added_entries_inherit_sequence_numbers(LakeArena *arena)
{
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/lake/a")},
		{FIXTURE_DATA("/lake/b"), .status = 0},
		{FIXTURE_DATA("/lake/c"), .sequence_number = 5}
	};
	EntryWalk  *walk = OPEN(entries, &plain);
	const IcebergEntry *entry = entry_walk_next(walk);

	CHECK_INT(entry->sequence_number, 8);
	CHECK_INT(entry->file_sequence_number, 8);
	entry = entry_walk_next(walk);
	CHECK_INT(entry->sequence_number, ICEBERG_NONE);
	CHECK_INT(entry->file_sequence_number, ICEBERG_NONE);
	entry = entry_walk_next(walk);
	CHECK_INT(entry->sequence_number, 5);
	CHECK_INT(entry->file_sequence_number, 8);
}

static void
a_snapshot_that_nobody_names_is_none(LakeArena *arena)
{
	static const ManifestFile nameless = {.snapshot_id = -1,
	.first_row_id = -1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};

	CHECK_INT(entry_walk_next(OPEN(entries, &nameless))->snapshot_id,
			  ICEBERG_NONE);
}

static void
entries_of_v1_have_sequence_number_0(LakeArena *arena)
{
	static const ManifestFile v1 = {.snapshot_id = 77, .first_row_id = -1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .status = 2}};
	const IcebergEntry *entry = entry_walk_next(OPEN(entries, &v1));

	CHECK_INT(entry->sequence_number, 0);
	CHECK_INT(entry->file_sequence_number, 0);
}

static void
row_ids_count_through_live_entries(LakeArena *arena)
{
	static const ManifestFile file = {.sequence_number = 8, .snapshot_id = 77,
	.first_row_id = 100};
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/lake/a")},
		{FIXTURE_DATA("/lake/b"), .status = 2},
		{FIXTURE_DATA("/lake/c"), .status = 2, .first_row_id = 7},
		{FIXTURE_DATA("/lake/d"), .status = 0, .first_row_id = 50},
		{FIXTURE_DATA("/lake/e")}
	};
	static const int64_t expected[] = {100, ICEBERG_NONE, 7, 50, 110};
	EntryWalk  *walk = OPEN(entries, &file);

	for (int i = 0; i < 5; i++)
		CHECK_INT(entry_walk_next(walk)->first_row_id, expected[i]);
}

static void
row_ids_are_void_where_the_manifest_has_none(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .first_row_id = 50}};

	CHECK_INT(entry_walk_next(OPEN(entries, &plain))->first_row_id,
			  ICEBERG_NONE);
}

static void
row_ids_that_cannot_be_told_are_corrupt(LakeArena *arena)
{
	static const ManifestFile file = {.snapshot_id = 77,
	.first_row_id = INT64_MAX - 5};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a")}};
	EntryWalk  *walk = OPEN(entries, &file);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "without row ids", entry_walk_next(walk));
}

static void
tuples_are_of_the_table_s_partition_type(LakeArena *arena)
{
	static const ManifestFile file = {.spec_id = 1, .snapshot_id = 77,
	.first_row_id = -1};
	static const ManifestFile other = {.spec_id = 3, .snapshot_id = 77,
	.first_row_id = -1};
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/a"), .partition = 2}};
	EntryWalk  *walk = OPEN(entries, &file);
	LakeValue  *values;

	/* the type's fields are p (1000) and a_bucket (1001) */
	CHECK(entry_walk_next(walk) != NULL);
	CHECK_INT(entry_walk_spec_id(walk), 1);
	values = entry_walk_partition(walk, arena);
	CHECK_INT(values[0].i, 2);
	CHECK(values[1].is_null);
	walk = OPEN(entries, &other);
	CHECK(entry_walk_next(walk) != NULL);
	values = entry_walk_partition(walk, arena);
	CHECK(values[0].is_null);
	CHECK_INT(values[1].i, 2);
}

static void
without_metrics_only_these_are_missing(LakeArena *arena)
{
	FixtureEntry entry = {FIXTURE_DATA("/lake/a"), .column = 1,
	.value_count = 10, .split_offset = 4};
	FixtureManifest manifest = {.entry_count = 1, .entries = &entry};
	Walking		walking = open_bytes(arena,
									 fixture_manifest(arena, &manifest, 1000),
									 &plain, false);
	const IcebergEntry *read = entry_walk_next(walking.walk);

	CHECK_INT(read->record_count, 10);
	CHECK_INT(read->sequence_number, 8);
	CHECK(read->metrics[METRIC_VALUE_COUNT].fields == NULL);
	CHECK(read->split_offsets.values == NULL);
}

/* a manifest whose entries have a status, a path and value counts only */
static EntryWalk *
open_counts(LakeArena *arena, int status, int content, const char *path,
			const int64_t *pairs, int count)
{
	static const char schema[] =
		"{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["
	"{\"name\":\"status\",\"type\":\"int\",\"field-id\":0},"
	"{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\","
	"\"name\":\"r2\",\"fields\":["
	"{\"name\":\"content\",\"type\":\"int\",\"field-id\":134},"
	"{\"name\":\"file_path\",\"type\":\"string\",\"field-id\":100},"
	"{\"name\":\"value_counts\",\"field-id\":109,\"type\":{\"type\":\"array\","
	"\"items\":{\"type\":\"record\",\"name\":\"k\",\"fields\":["
	"{\"name\":\"key\",\"type\":\"long\"},"
	"{\"name\":\"value\",\"type\":\"long\"}]}}}]}}]}";
	LakeBuffer	records;

	buffer_init(&records, arena);
	avro_put_long(&records, status);
	avro_put_long(&records, content);
	avro_put_text(&records, path);
	if (count > 0)
		avro_put_long(&records, count);
	for (int i = 0; i < 2 * count; i++)
		avro_put_long(&records, pairs[i]);
	avro_put_long(&records, 0);
	return open_bytes(arena, avro_file(arena, schema, NULL, 0, 1, &records),
					  &plain, true).walk;
}

static void
maps_come_sorted_and_of_equal_fields_the_last_counts(LakeArena *arena)
{
	static const int64_t pairs[] = {7, 71, 2, 20, 7, 70, 5, 50};
	static const int32_t ids[] = {2, 5, 7};
	const IcebergEntry *entry = entry_walk_next(open_counts(arena, 1, 0,
															"/lake/a", pairs,
															4));
	const FieldMetrics *counts = &entry->metrics[METRIC_VALUE_COUNT];

	CHECK_INT(counts->count, 3);
	for (size_t i = 0; i < counts->count; i++)
	{
		CHECK_INT(counts->fields[i].field_id, ids[i]);
		CHECK_INT(counts->fields[i].count, ids[i] * 10);
	}
}

static void
an_empty_map_is_not_an_absent_one(LakeArena *arena)
{
	const IcebergEntry *entry = entry_walk_next(open_counts(arena, 1, 0,
															"/lake/a", NULL,
															0));

	CHECK_INT(entry->metrics[METRIC_VALUE_COUNT].count, 0);
	CHECK(entry->metrics[METRIC_VALUE_COUNT].fields != NULL);
	CHECK(entry->metrics[METRIC_NULL_COUNT].fields == NULL);
}

static void
impossible_values_are_corrupt(LakeArena *arena)
{
	static const int64_t pairs[] = {INT64_C(1) << 40, 1};
	EntryWalk  *walk = open_counts(arena, 1, 0, "/lake/a", pairs, 1);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no field id", entry_walk_next(walk));
	walk = open_counts(arena, 3, 0, "/lake/a", NULL, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"status\" of \"/lake/a\"",
				 entry_walk_next(walk));
	walk = open_counts(arena, 1, 4, "/lake/a", NULL, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"content\" of \"/lake/a\"",
				 entry_walk_next(walk));
	walk = open_counts(arena, 1, 0, "", NULL, 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"file_path\" is missing",
				 entry_walk_next(walk));
}

static const UnitTest tests[] = {
	UNIT(every_field_is_read),
	UNIT(what_is_absent_is_told_from_what_is_empty),
	UNIT(deleted_entries_come_too),
	UNIT(added_entries_inherit_sequence_numbers),
	UNIT(a_snapshot_that_nobody_names_is_none),
	UNIT(entries_of_v1_have_sequence_number_0),
	UNIT(row_ids_count_through_live_entries),
	UNIT(row_ids_are_void_where_the_manifest_has_none),
	UNIT(row_ids_that_cannot_be_told_are_corrupt),
	UNIT(tuples_are_of_the_table_s_partition_type),
	UNIT(without_metrics_only_these_are_missing),
	UNIT(maps_come_sorted_and_of_equal_fields_the_last_counts),
	UNIT(an_empty_map_is_not_an_absent_one),
	UNIT(impossible_values_are_corrupt),
};

UNIT_MAIN(tests)
