/*
 * lake.files, data_files, delete_files and entries: the files of a snapshot,
 * as its manifests have them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "functions/functions_int.h"

PG_FUNCTION_INFO_V1(lakefdw_files);
PG_FUNCTION_INFO_V1(lakefdw_data_files);
PG_FUNCTION_INFO_V1(lakefdw_delete_files);
PG_FUNCTION_INFO_V1(lakefdw_entries);

/* the result's columns */
typedef enum FilesColumn
{
	FILES_CONTENT,
	FILES_FILE_PATH,
	FILES_FILE_FORMAT,
	FILES_SPEC_ID,
	FILES_PARTITION,
	FILES_RECORD_COUNT,
	FILES_FILE_SIZE,
	FILES_COLUMN_SIZES,			/* METRIC_COUNT of them, in that order */
	FILES_KEY_METADATA = FILES_COLUMN_SIZES + METRIC_COUNT,
	FILES_SPLIT_OFFSETS,
	FILES_EQUALITY_IDS,
	FILES_SORT_ORDER_ID,
	FILES_FIRST_ROW_ID,
	FILES_REFERENCED_FILE,
	FILES_CONTENT_OFFSET,
	FILES_CONTENT_SIZE,
	FILES_READABLE_METRICS,
	FILES_COLUMN_COUNT
} FilesColumn;

typedef enum EntriesColumn
{
	ENTRIES_STATUS,
	ENTRIES_SNAPSHOT_ID,
	ENTRIES_SEQUENCE_NUMBER,
	ENTRIES_FILE_SEQUENCE_NUMBER,
	ENTRIES_DATA_FILE,
	ENTRIES_READABLE_METRICS,
	ENTRIES_COLUMN_COUNT
} EntriesColumn;

typedef enum WantedManifests
{
	ALL_MANIFESTS,
	DATA_MANIFESTS,
	DELETE_MANIFESTS
} WantedManifests;

/* an entry, and what is needed to show it */
typedef struct Showing
{
	EntryJson  *json;
	const EntryWalk *walk;
	const IcebergEntry *entry;
	Datum	   *values;
	bool	   *nulls;
} Showing;

/* sets the columns of a row, all NULL so far, in the current memory context */
typedef void (*ShowEntry) (Showing *showing);

/* what one of the functions shows */
typedef struct FilesFunction
{
	ShowEntry	show;
	int			column_count;
	WantedManifests manifests;
	bool		deleted;		/* deleted entries too */
} FilesFunction;

static void
set(Showing *showing, int column, Datum value)
{
	showing->values[column] = value;
	showing->nulls[column] = false;
}

static void
set_optional_int64(Showing *showing, int column, int64 value)
{
	if (value != ICEBERG_NONE)
		set(showing, column, Int64GetDatum(value));
}

static void
set_optional_text(Showing *showing, int column, LakeBytes text)
{
	if (text.data != NULL)
		set(showing, column, inspect_text_bytes(text));
}

static void
set_bytes(Showing *showing, int column, LakeBytes bytes)
{
	if (bytes.data != NULL)
		set(showing, column,
			PointerGetDatum(cstring_to_text_with_len((const char *) bytes.data,
													 (int) bytes.len)));
}

static void
set_list(Showing *showing, int column, const IntegerList *list, Oid type)
{
	bool		is_int8 = type == INT8OID;
	Datum	   *elements;

	if (list->values == NULL)
		return;
	elements = palloc(sizeof(Datum) * list->count);
	for (size_t i = 0; i < list->count; i++)
		elements[i] = is_int8 ? Int64GetDatum(list->values[i]) :
			Int32GetDatum((int32) list->values[i]);
	set(showing, column,
		PointerGetDatum(construct_array(elements, (int) list->count, type,
										is_int8 ? 8 : 4,
										is_int8 ? FLOAT8PASSBYVAL : true,
										is_int8 ? TYPALIGN_DOUBLE :
										TYPALIGN_INT)));
}

static LakeValue *
partition_of(const Showing *showing)
{
	return entry_walk_partition(showing->walk,
								lake_arena_of(CurrentMemoryContext));
}

static void
show_file(Showing *showing)
{
	const IcebergEntry *entry = showing->entry;

	set(showing, FILES_CONTENT, Int32GetDatum(entry->content));
	set_optional_text(showing, FILES_FILE_PATH, entry->path);
	set_optional_text(showing, FILES_FILE_FORMAT, entry_json_format(entry));
	set(showing, FILES_SPEC_ID,
		Int32GetDatum(entry_walk_spec_id(showing->walk)));
	set(showing, FILES_PARTITION,
		entry_json_partition(showing->json, partition_of(showing)));
	set_optional_int64(showing, FILES_RECORD_COUNT, entry->record_count);
	set_optional_int64(showing, FILES_FILE_SIZE, entry->size);
	for (int i = 0; i < METRIC_COUNT; i++)
	{
		if (entry->metrics[i].fields != NULL)
			set(showing, FILES_COLUMN_SIZES + i,
				entry_json_metrics(showing->json, entry, (MetricKind) i));
	}
	set_bytes(showing, FILES_KEY_METADATA, entry->key_metadata);
	set_list(showing, FILES_SPLIT_OFFSETS, &entry->split_offsets, INT8OID);
	set_list(showing, FILES_EQUALITY_IDS, &entry->equality_ids, INT4OID);
	if (entry->sort_order_id != ICEBERG_NONE)
		set(showing, FILES_SORT_ORDER_ID,
			Int32GetDatum((int32) entry->sort_order_id));
	set_optional_int64(showing, FILES_FIRST_ROW_ID, entry->first_row_id);
	set_optional_text(showing, FILES_REFERENCED_FILE, entry->referenced_file);
	set_optional_int64(showing, FILES_CONTENT_OFFSET, entry->content_offset);
	set_optional_int64(showing, FILES_CONTENT_SIZE, entry->content_size);
	set(showing, FILES_READABLE_METRICS,
		entry_json_readable_metrics(showing->json, entry));
}

static void
show_entry(Showing *showing)
{
	const IcebergEntry *entry = showing->entry;

	set(showing, ENTRIES_STATUS, Int32GetDatum(entry->status));
	set_optional_int64(showing, ENTRIES_SNAPSHOT_ID, entry->snapshot_id);
	set_optional_int64(showing, ENTRIES_SEQUENCE_NUMBER,
					   entry->sequence_number);
	set_optional_int64(showing, ENTRIES_FILE_SEQUENCE_NUMBER,
					   entry->file_sequence_number);
	set(showing, ENTRIES_DATA_FILE,
		entry_json_data_file(showing->json, entry,
							 entry_walk_spec_id(showing->walk),
							 partition_of(showing)));
	set(showing, ENTRIES_READABLE_METRICS,
		entry_json_readable_metrics(showing->json, entry));
}

static bool
is_wanted(const ManifestFile *manifest, WantedManifests wanted)
{
	switch (wanted)
	{
		case DATA_MANIFESTS:
			return !manifest->has_deletes;
		case DELETE_MANIFESTS:
			return manifest->has_deletes;
		default:
			return true;
	}
}

/* adds a row for each entry; all that is kept of a manifest is those */
static void
show_manifest(const FilesFunction *function, const LakeRelation *rel,
			  const LakePartitionSpec *type, const ManifestFile *manifest,
			  EntryJson *json, ReturnSetInfo *result)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lake manifest",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext row = AllocSetContextCreate(context, "lake manifest row",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(row);
	EntryWalk  *walk = entry_walk_open(lake_arena_of(context), rel->table,
									   rel->store, manifest, type, true);
	Datum		values[FILES_COLUMN_COUNT];
	bool		nulls[FILES_COLUMN_COUNT];
	Showing		showing = {.json = json, .walk = walk, .values = values,
	.nulls = nulls};

	while ((showing.entry = entry_walk_next(walk)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (showing.entry->status == STATUS_DELETED && !function->deleted)
			continue;
		memset(nulls, true, sizeof nulls);
		function->show(&showing);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
		MemoryContextReset(row);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

static Datum
show_files(FunctionCallInfo fcinfo, const FilesFunction *function)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const ManifestFile *manifests;
	const LakePartitionSpec *type;
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	LakeRelation *rel;
	EntryJson  *json;
	size_t		count;

	InitMaterializedSRF(fcinfo, 0);
	rel = inspect_open_version(fcinfo, INSPECT_EVERY_COLUMN, 1);
	Assert(result->setDesc->natts == function->column_count);
	if (rel->snapshot == NULL)
		return (Datum) 0;
	type = iceberg_partition_type(arena, rel->table);
	json = entry_json_create(rel->table, type);
	manifests = manifest_list_read(arena, rel->store, rel->snapshot, &count);
	for (size_t i = 0; i < count; i++)
	{
		if (is_wanted(&manifests[i], function->manifests))
			show_manifest(function, rel, type, &manifests[i], json, result);
	}
	return (Datum) 0;
}

Datum
lakefdw_files(PG_FUNCTION_ARGS)
{
	static const FilesFunction files = {show_file, FILES_COLUMN_COUNT,
	ALL_MANIFESTS, false};

	return show_files(fcinfo, &files);
}

Datum
lakefdw_data_files(PG_FUNCTION_ARGS)
{
	static const FilesFunction data_files = {show_file, FILES_COLUMN_COUNT,
	DATA_MANIFESTS, false};

	return show_files(fcinfo, &data_files);
}

Datum
lakefdw_delete_files(PG_FUNCTION_ARGS)
{
	static const FilesFunction delete_files = {show_file, FILES_COLUMN_COUNT,
	DELETE_MANIFESTS, false};

	return show_files(fcinfo, &delete_files);
}

Datum
lakefdw_entries(PG_FUNCTION_ARGS)
{
	static const FilesFunction entries = {show_entry, ENTRIES_COLUMN_COUNT,
	ALL_MANIFESTS, true};

	return show_files(fcinfo, &entries);
}
