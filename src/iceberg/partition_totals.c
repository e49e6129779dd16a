/*
 * What a snapshot has in each partition: counts of its live files, and the
 * snapshot that changed it last.
 *
 * Memory grows with the partitions, not with the files: manifests are read one
 * after the other, without statistics.
 */
#include "iceberg/iceberg_int.h"

typedef struct Totaling
{
	LakeArena  *arena;			/* of the result */
	const LakeTable *table;
	LakeStore  *store;
	const LakePartitionSpec *type;
	const IcebergSnapshotIndex *snapshots;
	BytesMap	partitions;		/* from key to PartitionTotals */
	LakeBuffer	order;			/* of PartitionTotals * */
	LakeBuffer	key;
} Totaling;

static PartitionTotals *
find_partition(Totaling *totaling, const EntryWalk *walk)
{
	PartitionTotals *partition;
	LakeBytes	key;

	totaling->key.len = 0;
	entry_walk_partition_key(walk, &totaling->key);
	key.data = totaling->key.data;
	key.len = totaling->key.len;
	partition = bytes_map_find(&totaling->partitions, key);
	if (partition != NULL)
		return partition;
	partition = lake_alloc(totaling->arena, sizeof *partition);
	partition->values = entry_walk_partition(walk, totaling->arena);
	partition->spec_id = entry_walk_spec_id(walk);
	if (key.len > 0)
		key.data = (const uint8_t *)
			lake_strndup(totaling->partitions.arena,
						 (const char *) key.data, key.len);
	bytes_map_add(&totaling->partitions, key, partition);
	buffer_append(&totaling->order, &partition, sizeof partition);
	return partition;
}

static void
add(int64_t *total, int64_t part, const char *name)
{
	if (part != ICEBERG_NONE && __builtin_add_overflow(*total, part, total))
		lake_throw(LAKE_ERROR_OUT_OF_RANGE,
				   "sum of \"%s\" in a partition is out of range", name);
}

static void
count_file(int32_t *files)
{
	if (*files == INT32_MAX)
		lake_throw(LAKE_ERROR_OUT_OF_RANGE,
				   "number of files in a partition is out of range");
	(*files)++;
}

static void
count_entry(Totaling *totaling, const EntryWalk *walk,
			const IcebergEntry *entry)
{
	PartitionTotals *partition = find_partition(totaling, walk);
	const IcebergSnapshotInfo *added_by =
		iceberg_index_find(totaling->snapshots, entry->snapshot_id);

	if (added_by != NULL && (!partition->has_update ||
							 added_by->timestamp_ms > partition->updated_ms))
	{
		partition->has_update = true;
		partition->spec_id = entry_walk_spec_id(walk);
		partition->updated_ms = added_by->timestamp_ms;
		partition->updated_snapshot_id = added_by->id;
	}
	switch (entry->content)
	{
		case CONTENT_DATA:
			add(&partition->records, entry->record_count, "record_count");
			add(&partition->size, entry->size, "file_size_in_bytes");
			count_file(&partition->files);
			break;
		case CONTENT_POSITION_DELETES:
			add(&partition->position_delete_records, entry->record_count,
				"record_count");
			count_file(&partition->position_delete_files);
			break;
		case CONTENT_EQUALITY_DELETES:
			add(&partition->equality_delete_records, entry->record_count,
				"record_count");
			count_file(&partition->equality_delete_files);
			break;
	}
}

static void
count_manifest(Totaling *totaling, LakeArena *arena,
			   const ManifestFile *manifest)
{
	EntryWalk  *walk = entry_walk_open(arena, totaling->table,
									   totaling->store, manifest,
									   totaling->type, false);
	const IcebergEntry *entry;

	while ((entry = entry_walk_next(walk)) != NULL)
	{
		if (entry->status != STATUS_DELETED)
			count_entry(totaling, walk, entry);
	}
}

const PartitionTotals *
iceberg_partition_totals(LakeArena *arena, const LakeTable *table,
						 LakeStore *store, const LakeSnapshot *snapshot,
						 const LakePartitionSpec *type, size_t *count)
{
	LakeArena  *scratch = lake_arena_create(arena, "partition totals");
	LakeArena  *work = lake_arena_create(scratch, "manifest");
	Totaling	totaling = {.arena = arena, .table = table, .store = store,
	.type = type};
	size_t		manifest_count;
	const ManifestFile *manifests = manifest_list_read(scratch, store,
													   snapshot,
													   &manifest_count);
	PartitionTotals *totals;

	totaling.snapshots = iceberg_index_snapshots(scratch, table);
	bytes_map_init(&totaling.partitions, scratch);
	buffer_init(&totaling.order, scratch);
	buffer_init(&totaling.key, scratch);
	for (size_t i = 0; i < manifest_count; i++)
	{
		count_manifest(&totaling, work, &manifests[i]);
		lake_arena_reset(work);
	}
	*count = totaling.partitions.count;
	totals = lake_alloc_array(arena, *count, sizeof *totals);
	for (size_t i = 0; i < *count; i++)
		totals[i] = *((PartitionTotals **) (void *) totaling.order.data)[i];
	lake_arena_destroy(scratch);
	return totals;
}
