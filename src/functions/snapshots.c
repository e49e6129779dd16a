/*
 * Metadata tables that a metadata file alone answers: snapshots, history, refs,
 * metadata_log_entries, properties.
 *
 * Names, order and meaning of the columns are those of Iceberg's metadata
 * tables (reference: "Metadata tables").
 */
#include "functions/functions.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "iceberg/iceberg.h"

PG_FUNCTION_INFO_V1(lakefdw_snapshots);
PG_FUNCTION_INFO_V1(lakefdw_history);
PG_FUNCTION_INFO_V1(lakefdw_refs);
PG_FUNCTION_INFO_V1(lakefdw_metadata_log_entries);
PG_FUNCTION_INFO_V1(lakefdw_properties);

#define MAX_COLUMNS 8

/* members of a summary: what one allocation can hold */
#define MAX_SUMMARY ((int) (MaxAllocSize / sizeof(JsonbPair)))

/* the row that is being made; columns that nothing sets are NULL */
typedef struct Row
{
	ReturnSetInfo *result;
	MemoryContext context;		/* reset with each row */
	int			column;
	Datum		values[MAX_COLUMNS];
	bool		nulls[MAX_COLUMNS];
} Row;

static void
rows_begin(FunctionCallInfo fcinfo, Row *row)
{
	InitMaterializedSRF(fcinfo, 0);
	row->result = (ReturnSetInfo *) fcinfo->resultinfo;
	row->context = AllocSetContextCreate(CurrentMemoryContext, "lake row",
										 ALLOCSET_DEFAULT_SIZES);
	row->column = 0;
}

static void
put(Row *row, Datum value)
{
	row->values[row->column] = value;
	row->nulls[row->column++] = false;
}

static void
put_null(Row *row)
{
	row->values[row->column] = (Datum) 0;
	row->nulls[row->column++] = true;
}

static void
put_text(Row *row, const char *text)
{
	if (text == NULL)
		put_null(row);
	else
		put(row, inspect_text(text));
}

/* negative ones mean that it is not set */
static void
put_optional(Row *row, int64 value)
{
	if (value < 0)
		put_null(row);
	else
		put(row, Int64GetDatum(value));
}

static void
row_end(Row *row)
{
	Assert(row->column == row->result->setDesc->natts);
	tuplestore_putvalues(row->result->setResult, row->result->setDesc,
						 row->values, row->nulls);
	row->column = 0;
	MemoryContextReset(row->context);
	CHECK_FOR_INTERRUPTS();
}

/* ---- snapshots ---- */

/*
 * Summaries as jsonb, which wants pairs in an order of its own.  One writer's
 * snapshots all have the same keys in the same order, so where each went the
 * last time is the first guess: sorting takes a fifth of the whole otherwise.
 */
typedef struct SummaryWriter
{
	MemoryContext context;		/* of the arrays */
	int			capacity;
	int			count;			/* whose places are known */
	int		   *places;
	JsonbPair  *pairs;
} SummaryWriter;

static void
reserve_pairs(SummaryWriter *writer, int count)
{
	if (count <= writer->capacity)
		return;
	if (count > MAX_SUMMARY)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("summary of a snapshot has %d members, more than %d",
					   count, MAX_SUMMARY));
	writer->count = 0;
	writer->capacity = 0;
	writer->places = MemoryContextAlloc(writer->context, sizeof(int) * count);
	writer->pairs = MemoryContextAlloc(writer->context,
									   sizeof(JsonbPair) * count);
	writer->capacity = count;
}

static void
set_string(JsonbValue *value, const char *text)
{
	const char *converted = text == NULL ? NULL : name_from_lake(text);

	value->type = converted == NULL ? jbvNull : jbvString;
	if (converted == NULL)
		return;
	value->val.string.val = unconstify(char *, converted);
	value->val.string.len = (int) strlen(converted);
}

/* jsonb's order of keys */
static int
compare_keys(const JsonbPair *a, const JsonbPair *b)
{
	if (a->key.val.string.len != b->key.val.string.len)
		return a->key.val.string.len > b->key.val.string.len ? 1 : -1;
	return memcmp(a->key.val.string.val, b->key.val.string.val,
				  a->key.val.string.len);
}

static int
compare_pairs(const void *a, const void *b)
{
	int			result = compare_keys(a, b);
	uint32		left = ((const JsonbPair *) a)->order;
	uint32		right = ((const JsonbPair *) b)->order;

	return result != 0 ? result : (left > right) - (left < right);
}

static bool
is_sorted(const JsonbPair *pairs, int count)
{
	for (int i = 1; i < count; i++)
	{
		if (compare_keys(&pairs[i - 1], &pairs[i]) >= 0)
			return false;
	}
	return true;
}

/* returns how many pairs are left: of a repeated key the last one counts */
static int
sort_pairs(SummaryWriter *writer, int count)
{
	JsonbPair  *pairs = writer->pairs;
	int			kept = 0;

	qsort(pairs, count, sizeof(JsonbPair), compare_pairs);
	for (int i = 0; i < count; i++)
		writer->places[pairs[i].order] = i;
	for (int i = 0; i < count; i++)
	{
		if (i + 1 < count && compare_keys(&pairs[i], &pairs[i + 1]) == 0)
			continue;
		pairs[kept++] = pairs[i];
	}
	return kept;
}

/* the summary as it stands */
static Datum
summary_json(SummaryWriter *writer, const IcebergSnapshotInfo *info)
{
	int			count = info->summary_count;
	bool		is_guess;
	JsonbValue	object;

	reserve_pairs(writer, count);
	is_guess = count == writer->count;
	for (int i = 0; i < count; i++)
	{
		JsonbPair  *pair = &writer->pairs[is_guess ? writer->places[i] : i];

		set_string(&pair->key, info->summary[2 * i]);
		set_string(&pair->value, info->summary[2 * i + 1]);
		pair->order = i;
	}
	writer->count = count;
	if (!is_guess || !is_sorted(writer->pairs, count))
		count = sort_pairs(writer, count);
	object.type = jbvObject;
	object.val.object.nPairs = count;
	object.val.object.pairs = writer->pairs;
	return JsonbPGetDatum(JsonbValueToJsonb(&object));
}

Datum
lakefdw_snapshots(PG_FUNCTION_ARGS)
{
	LakeRelation *relation = inspect_open(fcinfo, INSPECT_ANY_COLUMN);
	SummaryWriter writer = {.context = CurrentMemoryContext};
	IcebergSnapshotWalk *walk;
	MemoryContext caller;
	Row			row;
	LakeFrame	frame;

	rows_begin(fcinfo, &row);
	lake_frame_push(&frame, "reading snapshots of", relation->name);
	walk = iceberg_walk_snapshots(lake_arena_of(CurrentMemoryContext),
								  relation->table);
	caller = MemoryContextSwitchTo(row.context);
	for (;;)
	{
		const IcebergSnapshotInfo *info =
			iceberg_next_snapshot(walk, lake_arena_of(row.context));

		if (info == NULL)
			break;
		put(&row, inspect_snapshot_time(info->timestamp_ms, info->id));
		put(&row, Int64GetDatum(info->id));
		if (info->has_parent)
			put(&row, Int64GetDatum(info->parent_id));
		else
			put_null(&row);
		put_text(&row, info->operation);
		put_text(&row, info->manifest_list);
		/* one that says nothing is none, as in Java */
		if (info->operation == NULL)
			put_null(&row);
		else
			put(&row, summary_json(&writer, info));
		row_end(&row);
	}
	MemoryContextSwitchTo(caller);
	lake_frame_pop(&frame);
	return (Datum) 0;
}

/* ---- history ---- */

Datum
lakefdw_history(PG_FUNCTION_ARGS)
{
	LakeRelation *relation = inspect_open(fcinfo, INSPECT_ANY_COLUMN);
	const LakeTable *table = relation->table;
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	const IcebergSnapshotIndex *index;
	const IcebergLogEntry *log;
	const bool *ancestors;
	size_t		count;
	MemoryContext caller;
	Row			row;
	LakeFrame	frame;

	rows_begin(fcinfo, &row);
	lake_frame_push(&frame, "reading the history of", relation->name);
	log = iceberg_snapshot_log(arena, table, &count);
	index = iceberg_index_snapshots(arena, table);
	ancestors = iceberg_index_ancestors(arena, index,
										table->current_snapshot == NULL ? -1 :
										table->current_snapshot->id);
	caller = MemoryContextSwitchTo(row.context);
	for (size_t i = 0; i < count; i++)
	{
		const IcebergSnapshotInfo *info =
			iceberg_index_find(index, log[i].snapshot_id);

		put(&row, inspect_snapshot_time(log[i].timestamp_ms,
										log[i].snapshot_id));
		put(&row, Int64GetDatum(log[i].snapshot_id));
		if (info != NULL && info->has_parent)
			put(&row, Int64GetDatum(info->parent_id));
		else
			put_null(&row);
		put(&row, BoolGetDatum(info != NULL &&
							   ancestors[info - index->snapshots]));
		row_end(&row);
	}
	MemoryContextSwitchTo(caller);
	lake_frame_pop(&frame);
	return (Datum) 0;
}

/* ---- refs ---- */

Datum
lakefdw_refs(PG_FUNCTION_ARGS)
{
	LakeRelation *relation = inspect_open(fcinfo, INSPECT_ANY_COLUMN);
	const IcebergRef *refs;
	size_t		count;
	MemoryContext caller;
	Row			row;
	LakeFrame	frame;

	rows_begin(fcinfo, &row);
	lake_frame_push(&frame, "reading refs of", relation->name);
	refs = iceberg_refs(lake_arena_of(CurrentMemoryContext), relation->table,
						&count);
	caller = MemoryContextSwitchTo(row.context);
	for (size_t i = 0; i < count; i++)
	{
		put_text(&row, refs[i].name);
		put_text(&row, refs[i].is_tag ? "TAG" : "BRANCH");
		put(&row, Int64GetDatum(refs[i].snapshot_id));
		put_optional(&row, refs[i].max_ref_age_ms);
		if (refs[i].min_snapshots_to_keep < 0)
			put_null(&row);
		else
			put(&row, Int32GetDatum(refs[i].min_snapshots_to_keep));
		put_optional(&row, refs[i].max_snapshot_age_ms);
		row_end(&row);
	}
	MemoryContextSwitchTo(caller);
	lake_frame_pop(&frame);
	return (Datum) 0;
}

/* ---- metadata_log_entries ---- */

/* a metadata file, with the snapshot that was current when it was written */
static void
put_metadata_file(Row *row, const IcebergMetadataLogEntry *entry,
				  const IcebergLogEntry *latest,
				  const IcebergSnapshotIndex *index)
{
	const IcebergSnapshotInfo *info = latest == NULL ? NULL :
		iceberg_index_find(index, latest->snapshot_id);

	put(row, inspect_file_time(entry->timestamp_ms, entry->file));
	put_text(row, entry->file);
	if (latest == NULL)
		put_null(row);
	else
		put(row, Int64GetDatum(latest->snapshot_id));
	if (info == NULL || info->schema_id < 0)
		put_null(row);
	else
		put(row, Int32GetDatum(info->schema_id));
	if (info == NULL)
		put_null(row);
	else
		put(row, Int64GetDatum(info->sequence_number));
	row_end(row);
}

Datum
lakefdw_metadata_log_entries(PG_FUNCTION_ARGS)
{
	LakeRelation *relation = inspect_open(fcinfo, INSPECT_ANY_COLUMN);
	const LakeTable *table = relation->table;
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	IcebergMetadataLogEntry newest;
	const IcebergSnapshotIndex *index;
	const IcebergMetadataLogEntry *files;
	const IcebergLogEntry *timeline;
	size_t		file_count;
	size_t		time_count;
	MemoryContext caller;
	Row			row;
	LakeFrame	frame;

	rows_begin(fcinfo, &row);
	lake_frame_push(&frame, "reading the metadata log of", relation->name);
	timeline = iceberg_timeline(arena, table, &time_count);
	files = iceberg_metadata_log(arena, table, &file_count);
	index = iceberg_index_snapshots(arena, table);
	newest.timestamp_ms = iceberg_last_updated_ms(table);
	newest.file = table->metadata_location;
	caller = MemoryContextSwitchTo(row.context);
	for (size_t i = 0; i <= file_count; i++)
	{
		const IcebergMetadataLogEntry *entry = i < file_count ? &files[i] :
			&newest;

		put_metadata_file(&row, entry,
						  iceberg_log_at(timeline, time_count,
										 entry->timestamp_ms), index);
	}
	MemoryContextSwitchTo(caller);
	lake_frame_pop(&frame);
	return (Datum) 0;
}

/* ---- properties ---- */

Datum
lakefdw_properties(PG_FUNCTION_ARGS)
{
	LakeRelation *relation = inspect_open(fcinfo, INSPECT_ANY_COLUMN);
	int			count = iceberg_property_count(relation->table);
	MemoryContext caller;
	Row			row;
	LakeFrame	frame;

	rows_begin(fcinfo, &row);
	lake_frame_push(&frame, "reading properties of", relation->name);
	caller = MemoryContextSwitchTo(row.context);
	for (int i = 0; i < count; i++)
	{
		const char *key;
		const char *value;

		iceberg_property_at(relation->table, i, &key, &value);
		put_text(&row, key);
		put_text(&row, value);
		row_end(&row);
	}
	MemoryContextSwitchTo(caller);
	lake_frame_pop(&frame);
	return (Datum) 0;
}
