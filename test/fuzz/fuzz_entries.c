/*
 * A manifest with all of its fields, after a byte that says of what spec and
 * content the list takes it to be: the entries are given or refused, with
 * metrics ascending and within limits, and partitions add up to them.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "iceberg_fixture.h"

#define ALLOC_CEILING	((size_t) 256 << 20)

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* a sum that every borrowed byte has a part in */
static uint64_t touched;

static void
require(bool condition)
{
	if (!condition)
		abort();
}

static void
touch(LakeBytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		touched += bytes.data[i];
}

static void
check_entry(const IcebergEntry *entry)
{
	touch(entry->path);
	touch(entry->format);
	touch(entry->key_metadata);
	touch(entry->referenced_file);
	require(entry->path.data != NULL);
	for (int kind = 0; kind < METRIC_COUNT; kind++)
	{
		const FieldMetrics *metrics = &entry->metrics[kind];

		for (size_t i = 0; i < metrics->count; i++)
		{
			require(i == 0 || metrics->fields[i - 1].field_id <
					metrics->fields[i].field_id);
			touch(metrics->fields[i].bound);
		}
	}
	for (size_t i = 0; i < entry->equality_ids.count; i++)
		require(entry->equality_ids.values[i] >= INT32_MIN &&
				entry->equality_ids.values[i] <= INT32_MAX);
	for (size_t i = 0; i < entry->split_offsets.count; i++)
		touched += (uint64_t) entry->split_offsets.values[i];
}

static void
walk(LakeArena *arena, MemoryStore *memory, const LakeTable *table)
{
	const LakePartitionSpec *type = iceberg_partition_type(arena, table);
	const ManifestFile *manifests;
	LakeBuffer	key;
	size_t		count;

	buffer_init(&key, arena);
	manifests = manifest_list_read(arena, &memory->store,
								   table->current_snapshot, &count);
	for (size_t i = 0; i < count; i++)
	{
		EntryWalk  *entries = entry_walk_open(arena, table, &memory->store,
											  &manifests[i], type, true);
		const IcebergEntry *entry;

		touched += (uint64_t) entry_walk_spec_id(entries);
		while ((entry = entry_walk_next(entries)) != NULL)
		{
			check_entry(entry);
			entry_walk_partition(entries, arena);
			key.len = 0;
			entry_walk_partition_key(entries, &key);
		}
	}
}

static void
sum(LakeArena *arena, MemoryStore *memory, const LakeTable *table)
{
	const LakePartitionSpec *type = iceberg_partition_type(arena, table);
	size_t		count;
	const PartitionTotals *totals =
		iceberg_partition_totals(arena, table, &memory->store,
							 table->current_snapshot, type, &count);

	for (size_t i = 0; i < count; i++)
		require(totals[i].files >= 0 && totals[i].position_delete_files >= 0 &&
				totals[i].equality_delete_files >= 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	MemoryStore *memory = memory_store_create(arena);
	FixtureEntry entry = {FIXTURE_DATA("/lake/d"), .partition = 2};
	FixtureManifest manifest = {.sequence_number = 3, .live_files = NONE,
	.live_rows = NONE, .first_row_id = NONE, .entry_count = 1, .entries = &entry};
	LakeTry		try;

	lake_alloc_ceiling = ALLOC_CEILING;
	if (size > 0 && lake_try_begin(&try))
	{
		LakeBytes	input = {.data = data + 1, .len = size - 1};
		const LakeTable *table;

		memory_store_put_text(memory, FIXTURE_METADATA, fixture_metadata);
		manifest.spec_id = data[0] >> 1 & 3;
		manifest.content = data[0] >> 3 & 1;
		manifest.first_row_id = (data[0] & 16) != 0 ? 1000 : NONE;
		memory_store_put(memory, "/lake/t/metadata/m0.avro", input);
		fixture_put_list(memory, &manifest, 1);
		table = iceberg_format.open(arena, &memory->store, FIXTURE_METADATA);
		if ((data[0] & 1) != 0)
			sum(arena, memory, table);
		else
			walk(arena, memory, table);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
