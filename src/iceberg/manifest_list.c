/*
 * Manifest lists: the manifests of a snapshot with what planning needs to pass
 * over them unread.
 *
 * All fields are found by id: older writers gave them other names, and v1
 * lacks the ones whose absence has a meaning here.
 *
 * Iceberg spec, "Manifest Lists".
 */
#include "iceberg/iceberg_int.h"

#include <stdio.h>

typedef enum ListField
{
	LIST_PATH,
	LIST_LENGTH,
	LIST_SPEC_ID,
	LIST_CONTENT,
	LIST_SEQUENCE_NUMBER,
	LIST_MIN_SEQUENCE_NUMBER,
	LIST_SNAPSHOT_ID,
	LIST_ADDED_FILES,
	LIST_EXISTING_FILES,
	LIST_DELETED_FILES,
	LIST_ADDED_ROWS,
	LIST_EXISTING_ROWS,
	LIST_DELETED_ROWS,
	LIST_KEY_METADATA,
	LIST_FIRST_ROW_ID,
	LIST_FIELD_COUNT
} ListField;

static const struct
{
	int32_t		id;
	const char *name;
}			list_fields[LIST_FIELD_COUNT] =

{
	[LIST_PATH] = {500, "manifest_path"},
	[LIST_LENGTH] = {501, "manifest_length"},
	[LIST_SPEC_ID] = {502, "partition_spec_id"},
	[LIST_CONTENT] = {517, "content"},
	[LIST_SEQUENCE_NUMBER] = {515, "sequence_number"},
	[LIST_MIN_SEQUENCE_NUMBER] = {516, "min_sequence_number"},
	[LIST_SNAPSHOT_ID] = {503, "added_snapshot_id"},
	[LIST_ADDED_FILES] = {504, "added_files_count"},
	[LIST_EXISTING_FILES] = {505, "existing_files_count"},
	[LIST_DELETED_FILES] = {506, "deleted_files_count"},
	[LIST_ADDED_ROWS] = {512, "added_rows_count"},
	[LIST_EXISTING_ROWS] = {513, "existing_rows_count"},
	[LIST_DELETED_ROWS] = {514, "deleted_rows_count"},
	[LIST_KEY_METADATA] = {519, "key_metadata"},
	[LIST_FIRST_ROW_ID] = {520, "first_row_id"},
};

static const int32_t summaries_path[] = {507};
static const int32_t summary_ids[] = {509, 518, 510, 511};

#define SUMMARY_FIELDS 4

typedef struct ListReader
{
	LakeArena  *arena;			/* of the result */
	AvroReader *reader;
	int			slots[LIST_FIELD_COUNT];
	int			summaries_slot;
} ListReader;

static void
project(ListReader *list)
{
	for (int i = 0; i < LIST_FIELD_COUNT; i++)
		list->slots[i] = avro_reader_project(list->reader, &list_fields[i].id,
											 1);
	list->summaries_slot =
		avro_reader_project_records(list->reader, summaries_path, 1,
									summary_ids, SUMMARY_FIELDS);
}

static int64_t
int_field(const ListReader *list, const AvroSlot *slots, ListField field,
		  int64_t if_null)
{
	return avro_field_int64(&slots[list->slots[field]],
							list_fields[field].name, if_null);
}

/* as int_field, for values that are never negative */
static int64_t
count_field(const ListReader *list, const AvroSlot *slots, ListField field,
			int64_t if_null)
{
	int64_t		value = int_field(list, slots, field, if_null);

	if (value < 0 && value != if_null)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is negative: %lld",
				   list_fields[field].name, (long long) value);
	return value;
}

/*
 * as int_field, for values that reading does not need: what is negative counts
 * as absent
 */
static int64_t
lenient_field(const ListReader *list, const AvroSlot *slots, ListField field,
			  int64_t if_null)
{
	int64_t		value = int_field(list, slots, field, if_null);

	return value < 0 ? if_null : value;
}

/* -1 when one is unknown or both are too large to add */
static int64_t
sum_counts(int64_t a, int64_t b)
{
	int64_t		sum;

	if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum))
		return -1;
	return sum;
}

static LakeBytes
copy_bytes(LakeArena *arena, LakeBytes bytes)
{
	if (bytes.data != NULL)
		bytes.data = (const uint8_t *)
			lake_strndup(arena, (const char *) bytes.data, bytes.len);
	return bytes;
}

static void
read_summaries(const ListReader *list, const AvroSlot *slot,
			   ManifestFile *manifest)
{
	FieldSummary *summaries;
	size_t		count;

	manifest->has_summaries = slot->kind == AVRO_LIST;
	if (!manifest->has_summaries || slot->list.count == 0)
		return;
	count = slot->list.count / SUMMARY_FIELDS;
	if (count > LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "\"partitions\" has %zu fields, more than %d",
				   count, LAKE_MAX_SCHEMA_FIELDS);
	summaries = lake_alloc_array(list->arena, count, sizeof *summaries);
	for (size_t i = 0; i < count; i++)
	{
		const AvroSlot *items = &slot->list.items[i * SUMMARY_FIELDS];

		/* absent: it may have some */
		summaries[i].has_null = avro_field_int64(&items[0], "contains_null",
												 1) != 0;
		summaries[i].has_nan = avro_field_int64(&items[1], "contains_nan",
												1) != 0;
		summaries[i].nan_is_known = items[1].kind != AVRO_NULL;
		summaries[i].lower =
			copy_bytes(list->arena,
					   avro_field_bytes(&items[2], "lower_bound"));
		summaries[i].upper =
			copy_bytes(list->arena,
					   avro_field_bytes(&items[3], "upper_bound"));
	}
	manifest->summaries = summaries;
	manifest->summary_count = (int) count;
}

static void
read_entry(const ListReader *list, const AvroSlot *slots,
		   ManifestFile *manifest)
{
	LakeBytes	path = avro_field_location(&slots[list->slots[LIST_PATH]],
										   "manifest_path");
	int64_t		content = int_field(list, slots, LIST_CONTENT, 0);
	int64_t		spec_id = int_field(list, slots, LIST_SPEC_ID, -1);

	if (content != 0 && content != 1)
		lake_throw(LAKE_ERROR_CORRUPT, "\"content\" of manifest \"%.*s\" is "
				   "%lld, which is neither data nor deletes", (int) path.len,
				   (const char *) path.data, (long long) content);
	if (spec_id < INT32_MIN || spec_id > INT32_MAX)
		lake_throw(LAKE_ERROR_CORRUPT, "\"partition_spec_id\" is %lld",
				   (long long) spec_id);
	manifest->path = lake_strndup(list->arena, (const char *) path.data,
								  path.len);
	manifest->length = count_field(list, slots, LIST_LENGTH, -1);
	manifest->spec_id = (int32_t) spec_id;
	manifest->has_deletes = content == 1;
	manifest->sequence_number =
		count_field(list, slots, LIST_SEQUENCE_NUMBER, 0);
	manifest->min_sequence_number =
		lenient_field(list, slots, LIST_MIN_SEQUENCE_NUMBER, 0);
	manifest->snapshot_id = int_field(list, slots, LIST_SNAPSHOT_ID, -1);
	manifest->first_row_id = count_field(list, slots, LIST_FIRST_ROW_ID, -1);
	manifest->added_files = count_field(list, slots, LIST_ADDED_FILES, -1);
	manifest->existing_files =
		count_field(list, slots, LIST_EXISTING_FILES, -1);
	manifest->deleted_files =
		count_field(list, slots, LIST_DELETED_FILES, -1);
	manifest->live_files = sum_counts(manifest->added_files,
									  manifest->existing_files);
	manifest->added_rows = count_field(list, slots, LIST_ADDED_ROWS, -1);
	manifest->existing_rows =
		count_field(list, slots, LIST_EXISTING_ROWS, -1);
	manifest->deleted_rows =
		lenient_field(list, slots, LIST_DELETED_ROWS, -1);
	manifest->live_rows = sum_counts(manifest->added_rows,
									 manifest->existing_rows);
	manifest->key_metadata =
		copy_bytes(list->arena,
				   avro_field_bytes(&slots[list->slots[LIST_KEY_METADATA]],
									list_fields[LIST_KEY_METADATA].name));
	read_summaries(list, &slots[list->summaries_slot], manifest);
}

static const char what[] = "manifest list";

/* what the cache has of a list */
typedef struct ManifestList
{
	size_t		count;
	const ManifestFile *manifests;
} ManifestList;

static ManifestList *
parse_list(LakeArena *arena, LakeArena *scratch, LakeStore *store,
		   const char *path)
{
	ManifestList *result = lake_alloc(arena, sizeof *result);
	ListReader	list;
	LakeBuffer	manifests;
	const AvroSlot *slots;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading manifest list", path);
	buffer_init(&manifests, arena);
	list.arena = arena;
	list.reader = avro_field_open(scratch, store, path, what);
	project(&list);
	for (; (slots = avro_reader_next(list.reader)) != NULL; result->count++)
	{
		ManifestFile manifest;

		if (result->count == ICEBERG_MAX_MANIFEST_LIST_ENTRIES)
			lake_throw(LAKE_ERROR_LIMIT,
					   "manifest list has more than %d entries",
					   ICEBERG_MAX_MANIFEST_LIST_ENTRIES);
		memset(&manifest, 0, sizeof manifest);
		read_entry(&list, slots, &manifest);
		buffer_append(&manifests, &manifest, sizeof manifest);
	}
	lake_frame_pop(&frame);
	buffer_trim(&manifests);
	result->manifests = (const void *) manifests.data;
	return result;
}

static const ManifestFile *
read_list(LakeArena *arena, LakeStore *store, const char *path,
		  size_t *count)
{
	LakeFileStatus status;
	ManifestList *list = lake_file_recall(store, arena, path, what, &status);

	if (list == NULL)
	{
		LakeArena  *scratch = lake_arena_create(arena, "manifest list reading");
		LakeArena  *entry = lake_arena_create(arena, "manifest list");

		list = parse_list(entry, scratch, store, path);
		lake_arena_destroy(scratch);
		lake_file_keep(store, arena, what, &status, entry, list);
	}
	*count = list->count;
	return list->manifests;
}

/* v1 without a list: the manifests' headers say the rest */
static const ManifestFile *
inline_list(LakeArena *arena, const IcebergSnapshot *snapshot, size_t *count)
{
	ManifestFile *manifests;

	*count = (size_t) snapshot->manifest_count;
	manifests = lake_alloc_array(arena, *count, sizeof *manifests);
	for (size_t i = 0; i < *count; i++)
	{
		manifests[i].path = snapshot->manifests[i];
		manifests[i].length = -1;
		manifests[i].spec_id = -1;
		manifests[i].snapshot_id = snapshot->snapshot.id;
		manifests[i].first_row_id = -1;
		manifests[i].added_files = -1;
		manifests[i].existing_files = -1;
		manifests[i].deleted_files = -1;
		manifests[i].added_rows = -1;
		manifests[i].existing_rows = -1;
		manifests[i].deleted_rows = -1;
		manifests[i].live_files = -1;
		manifests[i].live_rows = -1;
	}
	return manifests;
}

const ManifestFile *
manifest_list_read(LakeArena *arena, LakeStore *store,
				   const LakeSnapshot *snapshot, size_t *count)
{
	const IcebergSnapshot *iceberg = (const IcebergSnapshot *) snapshot;
	const ManifestFile *manifests;
	char		id[24];
	LakeFrame	frame;

	if (iceberg->manifest_list == NULL)
		return inline_list(arena, iceberg, count);
	/* an old version's list may be gone: say whose it was */
	snprintf(id, sizeof id, "%lld", (long long) snapshot->id);
	lake_frame_push(&frame, "reading snapshot", id);
	manifests = read_list(arena, store, iceberg->manifest_list, count);
	lake_frame_pop(&frame);
	return manifests;
}

/* adds to a total that one unknown part makes unknown */
static void
add_total(int64_t *total, int64_t part)
{
	*total = sum_counts(*total, part);
}

void
iceberg_totals(LakeArena *arena, LakeStore *store,
			   const LakeSnapshot *snapshot, IcebergTotals *totals)
{
	LakeArena  *scratch = lake_arena_create(arena, "snapshot totals");
	size_t		count;
	const ManifestFile *manifests = manifest_list_read(scratch, store,
													   snapshot, &count);

	memset(totals, 0, sizeof *totals);
	for (size_t i = 0; i < count; i++)
	{
		if (manifests[i].has_deletes)
		{
			totals->delete_manifests += manifests[i].live_files != 0;
			continue;
		}
		add_total(&totals->data_files, manifests[i].live_files);
		add_total(&totals->data_rows, manifests[i].live_rows);
	}
	lake_arena_destroy(scratch);
}
