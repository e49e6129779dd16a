/*
 * Table metadata is opened or refused, whatever it says; what opens has a
 * schema and specs in order, and each snapshot that a scan finds can be asked
 * for by its id.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "base/json.h"
#include "iceberg/iceberg_int.h"
#include "memory_store.h"

#define LOCATION "/lake/t/metadata/v1.metadata.json"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition)
{
	if (!condition)
		abort();
}

static void
check_snapshots(const LakeTable *table)
{
	LakeBytes	snapshots = ((const IcebergTable *) table)->snapshots;
	JsonScan	scan;
	LakeBytes	text;
	int			count = 0;

	if (snapshots.len == 0)
		return;
	json_scan_begin(&scan, snapshots);
	/* finding each is quadratic */
	while (json_scan_next(&scan, &text) && count++ < 50)
	{
		int64_t		id;
		const LakeSnapshot *snapshot;

		snapshot_scan(text, &id, NULL);
		snapshot = iceberg_find_snapshot(table->arena, table, id);
		require(snapshot != NULL && snapshot->id == id);
	}
}

static void
check(const LakeTable *table)
{
	const IcebergTable *iceberg = (const IcebergTable *) table;

	require(table->format_version >= 1 && table->format_version <= 3);
	require(table->schema != NULL && table->location != NULL);
	for (int i = 0; i < iceberg->spec_count; i++)
	{
		const LakePartitionSpec *spec = &iceberg->specs[i];

		require(iceberg_find_spec(table, spec->id) != NULL);
		for (int j = 0; j < spec->field_count; j++)
			require(spec->fields[j].name != NULL &&
					spec->fields[j].transform.text != NULL);
	}
	iceberg_property(table, "owner");
	check_snapshots(table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	MemoryStore *memory = memory_store_create(arena);
	LakeTry		try;

	memory_store_put(memory, LOCATION,
					 (LakeBytes) {.data = data, .len = size});
	if (lake_try_begin(&try))
	{
		check(iceberg_format.open(arena, &memory->store, LOCATION));
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
