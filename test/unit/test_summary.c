/*
 * Summaries: what is counted under which name, how totals go on, and which
 * word an operation gets.
 */
#include "iceberg/iceberg_int.h"
#include "unit.h"

static PartitionField part_field;
static LakePartitionSpec by_part;
static LakePartitionSpec unpartitioned;

static void
make_specs(LakeArena *arena)
{
	static const LakeType string = {.kind = LAKE_STRING};

	part_field.source_id = 2;
	part_field.field_id = 1000;
	part_field.name = "the part";
	part_field.transform = transform_parse(arena, "identity");
	part_field.source_type = &string;
	part_field.result_type = &string;
	by_part.id = 1;
	by_part.field_count = 1;
	by_part.fields = &part_field;
}

static WrittenFile
file_of(WrittenKind kind, int64_t rows, int64_t size)
{
	WrittenFile file = {.kind = kind, .path = "/f", .spec = &unpartitioned,
	.record_count = rows, .size = size, .content_size = 7};

	return file;
}

/* "key=value key=value"; without what is always there */
static const char *
pairs_text(LakeArena *arena, SnapshotSummary *summary,
		   const IcebergSnapshotInfo *parent, int64_t limit)
{
	ManifestCounts manifests = {1, 2, 3};
	int			count;
	const char *const *pairs = summary_pairs(summary, parent, limit,
											 &manifests, NULL, 0, &count);
	const char *text = "";

	for (int i = 0; i < count; i++)
	{
		if (strncmp(pairs[2 * i], "manifests-", 10) == 0 ||
			strcmp(pairs[2 * i], "engine-name") == 0)
			continue;
		text = lake_printf(arena, "%s%s%s=%s", text, *text == '\0' ? "" : " ",
						   pairs[2 * i], pairs[2 * i + 1]);
	}
	return text;
}

static void
an_append_counts_files_rows_and_bytes(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	WrittenFile a = file_of(WRITTEN_DATA, 100, 1000);
	WrittenFile b = file_of(WRITTEN_DATA, 50, 500);

	summary_add_file(summary, &a);
	summary_add_file(summary, &b);
	CHECK_STRING(summary_operation(summary), "append");
	CHECK_STRING(pairs_text(arena, summary, NULL, 0),
				 "added-files-size=1500 added-data-files=2 added-records=150 "
				 "changed-partition-count=1 total-files-size=1500 "
				 "total-data-files=2 total-delete-files=0 total-records=150 "
				 "total-position-deletes=0 total-equality-deletes=0");
}

static void
a_vector_counts_its_own_bytes_not_its_files(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	WrittenFile a = file_of(WRITTEN_DELETION_VECTOR, 3, 1000);

	summary_add_file(summary, &a);
	CHECK_STRING(summary_operation(summary), "delete");
	CHECK_STRING(pairs_text(arena, summary, NULL, 0),
				 "added-files-size=7 added-delete-files=1 added-dvs=1 "
				 "added-position-deletes=3 changed-partition-count=1 "
				 "total-files-size=7 total-data-files=0 total-delete-files=1 "
				 "total-records=0 total-position-deletes=3 "
				 "total-equality-deletes=0");
}

static void
removed_entries_count_by_content_and_format(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	IcebergEntry entry = {.content = CONTENT_DATA, .record_count = 10,
	.size = 100, .content_size = 9};

	entry.format.data = (const uint8_t *) "PUFFIN";
	entry.format.len = 6;
	summary_remove_entry(summary, &entry, &unpartitioned, NULL);
	entry.content = CONTENT_POSITION_DELETES;
	summary_remove_entry(summary, &entry, &unpartitioned, NULL);
	entry.format.data = (const uint8_t *) "parquet";
	entry.format.len = 7;
	summary_remove_entry(summary, &entry, &unpartitioned, NULL);
	entry.content = CONTENT_EQUALITY_DELETES;
	entry.record_count = ICEBERG_NONE;
	summary_remove_entry(summary, &entry, &unpartitioned, NULL);
	CHECK_STRING(summary_operation(summary), "delete");
	CHECK_STRING(pairs_text(arena, summary, NULL, 0),
				 "removed-files-size=309 deleted-data-files=1 "
				 "removed-equality-delete-files=1 "
				 "removed-position-delete-files=1 removed-delete-files=3 "
				 "removed-dvs=1 deleted-records=10 "
				 "removed-position-deletes=20 changed-partition-count=1 "
				 "total-equality-deletes=0");
}

static void
totals_go_on_from_the_parents_or_are_left_out(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	const char *const totals[] = {"total-records", "40", "total-data-files",
	"x4", "total-files-size", "-3", "total-delete-files", "", "other", "1"};
	IcebergSnapshotInfo parent = {.summary_count = 5, .summary = totals};
	WrittenFile a = file_of(WRITTEN_DATA, 2, 1);

	summary_add_file(summary, &a);
	CHECK_STRING(pairs_text(arena, summary, &parent, 0),
				 "added-files-size=1 added-data-files=1 added-records=2 "
				 "changed-partition-count=1 total-records=42");
}

static void
a_total_that_would_be_negative_is_left_out(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	const char *const totals[] = {"total-records", "9", "total-data-files",
	"9223372036854775807"};
	IcebergSnapshotInfo parent = {.summary_count = 2, .summary = totals};
	IcebergEntry entry = {.content = CONTENT_DATA, .record_count = 10};
	WrittenFile a = file_of(WRITTEN_DATA, 0, 0);

	summary_remove_entry(summary, &entry, &unpartitioned, NULL);
	summary_add_file(summary, &a);
	CHECK_STRING(summary_operation(summary), "overwrite");
	CHECK_STRING(pairs_text(arena, summary, &parent, 0),
				 "added-data-files=1 deleted-data-files=1 deleted-records=10 "
				 "changed-partition-count=1");
}

static void
partitions_are_told_up_to_a_limit(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	SnapshotSummary *other = summary_create(arena);
	LakeValue	values[2] = {{.bytes = {(const uint8_t *) "a/b", 3}},
	{.is_null = true}};
	WrittenFile a = file_of(WRITTEN_DATA, 1, 1);

	make_specs(arena);
	a.spec = &by_part;
	a.partition = &values[0];
	summary_add_file(summary, &a);
	summary_add_file(other, &a);
	a.partition = &values[1];
	summary_add_file(other, &a);
	summary_merge(summary, other);
	CHECK(strstr(pairs_text(arena, summary, NULL, 1), "partitions.") == NULL);
	CHECK(strstr(pairs_text(arena, summary, NULL, 2),
				 "changed-partition-count=2 partition-summaries-included=true "
				 "partitions.the+part=a%2Fb=added-files-size=2,"
				 "added-data-files=2,added-records=2 "
				 "partitions.the+part=null=added-files-size=1,"
				 "added-data-files=1,added-records=1 total-") != NULL);
}

static void
the_callers_pairs_come_last(LakeArena *arena)
{
	SnapshotSummary *summary = summary_create(arena);
	ManifestCounts manifests = {1, 2, 3};
	const char *const extra[] = {"lakefdw.xid", "7"};
	int			count;
	const char *const *pairs = summary_pairs(summary, NULL, 0, &manifests,
											 extra, 1, &count);

	CHECK(summary_is_empty(summary));
	CHECK_STRING(pairs[2 * count - 2], "lakefdw.xid");
	CHECK_STRING(pairs[2 * count - 1], "7");
	CHECK_STRING(pairs[2 * count - 4], "engine-name");
	CHECK_STRING(pairs[2 * count - 3], "postgres-lakefdw");
	CHECK_STRING(pairs[2 * count - 6], "manifests-replaced");
	CHECK_STRING(pairs[2 * count - 5], "3");
}

static const UnitTest tests[] = {
	UNIT(an_append_counts_files_rows_and_bytes),
	UNIT(a_vector_counts_its_own_bytes_not_its_files),
	UNIT(removed_entries_count_by_content_and_format),
	UNIT(totals_go_on_from_the_parents_or_are_left_out),
	UNIT(a_total_that_would_be_negative_is_left_out),
	UNIT(partitions_are_told_up_to_a_limit),
	UNIT(the_callers_pairs_come_last),
};

UNIT_MAIN(tests)
