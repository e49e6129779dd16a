/*
 * lake.manifests: a snapshot's manifests, as its manifest list has them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "functions/functions_int.h"

PG_FUNCTION_INFO_V1(lakefdw_manifests);

typedef enum ManifestsColumn
{
	MANIFESTS_CONTENT,
	MANIFESTS_PATH,
	MANIFESTS_LENGTH,
	MANIFESTS_SPEC_ID,
	MANIFESTS_SNAPSHOT_ID,
	MANIFESTS_ADDED_DATA_FILES,
	MANIFESTS_EXISTING_DATA_FILES,
	MANIFESTS_DELETED_DATA_FILES,
	MANIFESTS_ADDED_DELETE_FILES,
	MANIFESTS_EXISTING_DELETE_FILES,
	MANIFESTS_DELETED_DELETE_FILES,
	MANIFESTS_SUMMARIES,
	MANIFESTS_COLUMN_COUNT
} ManifestsColumn;

typedef enum SummaryMember
{
	SUMMARY_CONTAINS_NULL,
	SUMMARY_CONTAINS_NAN,
	SUMMARY_LOWER_BOUND,
	SUMMARY_UPPER_BOUND,
	SUMMARY_COUNT
} SummaryMember;

static const char *const summary_names[SUMMARY_COUNT] = {
	"contains_null", "contains_nan", "lower_bound", "upper_bound",
};

static const int32 summary_numbers[SUMMARY_COUNT];

/*
 * Java's string of a bound, "null" where there is none.  The results of a
 * transform that nobody knows are taken for text, as in Java.
 */
static void
set_bound(JsonbValue *json, const PartitionField *field, LakeBytes bytes)
{
	static const LakeType text_type = {.kind = LAKE_STRING};
	PartitionField known;
	LakeValue	value = {.is_null = true};
	const char *text;
	LakeBytes	result;

	json->type = jbvNull;
	if (field == NULL)
		return;
	known = *field;
	if (known.transform.kind == TRANSFORM_UNKNOWN)
		known.result_type = &text_type;
	if (known.result_type == NULL ||
		(bytes.data != NULL &&
		 !lake_value_from_bound(known.result_type, bytes, &value)))
		return;
	text = iceberg_human_string(lake_arena_of(CurrentMemoryContext), &known,
								&value);
	result.data = (const uint8 *) text;
	result.len = strlen(text);
	json_set_string(json, result);
}

/* one jsonb object for each field of the manifest's spec */
static Datum
summaries_datum(const LakePartitionSpec *spec, const ManifestFile *manifest,
				JsonObject *object)
{
	int			count = manifest->summary_count;
	Datum	   *elements = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
	{
		const FieldSummary *summary = &manifest->summaries[i];
		const PartitionField *field =
			spec == NULL || i >= spec->field_count ? NULL : &spec->fields[i];
		JsonbValue *nan = object->members[SUMMARY_CONTAINS_NAN];

		json_set_bool(object->members[SUMMARY_CONTAINS_NULL],
					  summary->has_null);
		if (summary->nan_is_known)
			json_set_bool(nan, summary->has_nan);
		else
			nan->type = jbvNull;
		set_bound(object->members[SUMMARY_LOWER_BOUND], field,
				  summary->lower);
		set_bound(object->members[SUMMARY_UPPER_BOUND], field,
				  summary->upper);
		elements[i] = json_object_datum(object);
	}
	return PointerGetDatum(construct_array(elements, count, JSONBOID, -1,
										   false, TYPALIGN_INT));
}

static void
set_count(Datum *values, bool *nulls, int column, int64 count)
{
	if (count > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("count of files " INT64_FORMAT " is out of range",
						count)));
	nulls[column] = count < 0;
	values[column] = Int32GetDatum((int32) count);
}

/* of the other kind of content a manifest has none */
static void
set_counts(Datum *values, bool *nulls, const ManifestFile *manifest)
{
	int			own = manifest->has_deletes ? MANIFESTS_ADDED_DELETE_FILES :
		MANIFESTS_ADDED_DATA_FILES;
	int			other = manifest->has_deletes ? MANIFESTS_ADDED_DATA_FILES :
		MANIFESTS_ADDED_DELETE_FILES;

	set_count(values, nulls, own, manifest->added_files);
	set_count(values, nulls, own + 1, manifest->existing_files);
	set_count(values, nulls, own + 2, manifest->deleted_files);
	for (int i = 0; i < 3; i++)
		set_count(values, nulls, other + i, 0);
}

/* what a v1 snapshot does not say of the manifests that it lists inline */
static void
complete_manifest(const LakeRelation *rel, ManifestFile *manifest)
{
	static const LakePartitionSpec no_type = {.id = -1};
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	if (manifest->length < 0)
		manifest->length = (int64) lake_file_open(rel->store, arena,
												  manifest->path,
												  "manifest")->size;
	if (manifest->spec_id == -1)
		manifest->spec_id =
			entry_walk_spec_id(entry_walk_open(arena, rel->table, rel->store,
											   manifest, &no_type, false));
}

static void
show_manifest(const LakeRelation *rel, ManifestFile manifest,
			  JsonObject *summary, ReturnSetInfo *result)
{
	Datum		values[MANIFESTS_COLUMN_COUNT];
	bool		nulls[MANIFESTS_COLUMN_COUNT] = {false};

	complete_manifest(rel, &manifest);
	values[MANIFESTS_CONTENT] = Int32GetDatum(manifest.has_deletes ? 1 : 0);
	values[MANIFESTS_PATH] = inspect_text(manifest.path);
	values[MANIFESTS_LENGTH] = Int64GetDatum(manifest.length);
	values[MANIFESTS_SPEC_ID] = Int32GetDatum(manifest.spec_id);
	values[MANIFESTS_SNAPSHOT_ID] = Int64GetDatum(manifest.snapshot_id);
	nulls[MANIFESTS_SNAPSHOT_ID] = manifest.snapshot_id == -1;
	set_counts(values, nulls, &manifest);
	nulls[MANIFESTS_SUMMARIES] = !manifest.has_summaries;
	if (manifest.has_summaries)
		values[MANIFESTS_SUMMARIES] =
			summaries_datum(iceberg_find_spec(rel->table, manifest.spec_id),
							&manifest, summary);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
lakefdw_manifests(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	LakeRelation *rel;
	const ManifestFile *manifests;
	size_t		count;
	JsonObject	summary;
	MemoryContext row;

	InitMaterializedSRF(fcinfo, 0);
	rel = inspect_open_version(fcinfo, INSPECT_EVERY_COLUMN, 1);
	if (rel->snapshot == NULL)
		return (Datum) 0;
	json_object_init(&summary, summary_names, summary_numbers, SUMMARY_COUNT);
	manifests = manifest_list_read(lake_arena_of(CurrentMemoryContext),
								   rel->store, rel->snapshot, &count);
	row = AllocSetContextCreate(CurrentMemoryContext, "lake manifest row",
								ALLOCSET_DEFAULT_SIZES);
	for (size_t i = 0; i < count; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(row);

		CHECK_FOR_INTERRUPTS();
		show_manifest(rel, manifests[i], &summary, result);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row);
	}
	return (Datum) 0;
}
