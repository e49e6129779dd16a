/*
 * lake.partitions: what a snapshot has in each partition.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "functions/functions_int.h"

PG_FUNCTION_INFO_V1(lakefdw_partitions);

typedef enum PartitionsColumn
{
	PARTITIONS_PARTITION,
	PARTITIONS_SPEC_ID,
	PARTITIONS_RECORD_COUNT,
	PARTITIONS_FILE_COUNT,
	PARTITIONS_TOTAL_SIZE,
	PARTITIONS_POSITION_DELETE_RECORDS,
	PARTITIONS_POSITION_DELETE_FILES,
	PARTITIONS_EQUALITY_DELETE_RECORDS,
	PARTITIONS_EQUALITY_DELETE_FILES,
	PARTITIONS_UPDATED_AT,
	PARTITIONS_UPDATED_SNAPSHOT_ID,
	PARTITIONS_COLUMN_COUNT
} PartitionsColumn;

static void
show_partition(EntryJson *json, const PartitionTotals *totals,
			   ReturnSetInfo *result)
{
	Datum		values[PARTITIONS_COLUMN_COUNT];
	bool		nulls[PARTITIONS_COLUMN_COUNT] = {false};

	values[PARTITIONS_PARTITION] = entry_json_partition(json, totals->values);
	values[PARTITIONS_SPEC_ID] = Int32GetDatum(totals->spec_id);
	values[PARTITIONS_RECORD_COUNT] = Int64GetDatum(totals->records);
	values[PARTITIONS_FILE_COUNT] = Int32GetDatum(totals->files);
	values[PARTITIONS_TOTAL_SIZE] = Int64GetDatum(totals->size);
	values[PARTITIONS_POSITION_DELETE_RECORDS] =
		Int64GetDatum(totals->position_delete_records);
	values[PARTITIONS_POSITION_DELETE_FILES] =
		Int32GetDatum(totals->position_delete_files);
	values[PARTITIONS_EQUALITY_DELETE_RECORDS] =
		Int64GetDatum(totals->equality_delete_records);
	values[PARTITIONS_EQUALITY_DELETE_FILES] =
		Int32GetDatum(totals->equality_delete_files);
	nulls[PARTITIONS_UPDATED_AT] = !totals->has_update;
	nulls[PARTITIONS_UPDATED_SNAPSHOT_ID] = !totals->has_update;
	if (totals->has_update)
	{
		values[PARTITIONS_UPDATED_AT] =
			inspect_snapshot_time(totals->updated_ms,
								  totals->updated_snapshot_id);
		values[PARTITIONS_UPDATED_SNAPSHOT_ID] =
			Int64GetDatum(totals->updated_snapshot_id);
	}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
lakefdw_partitions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	LakeRelation *rel;
	const LakePartitionSpec *type;
	const PartitionTotals *totals;
	EntryJson  *json;
	size_t		count;
	MemoryContext row;

	InitMaterializedSRF(fcinfo, 0);
	rel = inspect_open_version(fcinfo, INSPECT_EVERY_COLUMN, 1);
	if (rel->snapshot == NULL)
		return (Datum) 0;
	type = iceberg_partition_type(arena, rel->table);
	json = entry_json_create(rel->table, type);
	totals = iceberg_partition_totals(arena, rel->table, rel->store,
									  rel->snapshot, type, &count);
	row = AllocSetContextCreate(CurrentMemoryContext, "lake partition row",
								ALLOCSET_DEFAULT_SIZES);
	for (size_t i = 0; i < count; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(row);

		CHECK_FOR_INTERRUPTS();
		show_partition(json, &totals[i], result);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(row);
	}
	return (Datum) 0;
}
