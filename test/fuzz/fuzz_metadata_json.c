/*
 * Table metadata is opened or refused, whatever it says; what opens has a
 * schema and specs in order, each snapshot that a scan finds can be asked for
 * by its id, and each entry of the log and ref by its own selector.
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
	check_snapshots(table);
}

static void
walk_snapshots(LakeArena *arena, const LakeTable *table)
{
	const IcebergSnapshotIndex *index = iceberg_index_snapshots(arena, table);
	int64_t		head = table->current_snapshot == NULL ? -1 :
		table->current_snapshot->id;
	const bool *ancestors = iceberg_index_ancestors(arena, index, head);
	IcebergSnapshotWalk *walk = iceberg_walk_snapshots(arena, table);
	const IcebergSnapshotInfo *info;
	size_t		count = 0;

	while ((info = iceberg_next_snapshot(walk, arena)) != NULL)
	{
		const IcebergSnapshotInfo *found = iceberg_index_find(index, info->id);

		require(found != NULL && found->id == info->id);
		require(info->id != head || ancestors[found - index->snapshots]);
		for (int i = 0; i < info->summary_count; i++)
			require(info->summary[2 * i] != NULL);
		count++;
	}
	require(count == index->count);
}

static void
walk_metadata_log(LakeArena *arena, const LakeTable *table)
{
	size_t		count;
	const IcebergMetadataLogEntry *log =
		iceberg_metadata_log(arena, table, &count);

	for (size_t i = 0; i < count; i++)
		require(log[i].file != NULL);
}

static void
list_properties(LakeArena *arena, const LakeTable *table)
{
	(void) arena;
	for (int i = 0; i < iceberg_property_count(table); i++)
	{
		const char *key;
		const char *value;

		iceberg_property_at(table, i, &key, &value);
		require(iceberg_property(table, key) == value);
	}
}

/* the rule as Java has it: strictly greater, while scanning */
static const IcebergLogEntry *
scan_log(const IcebergLogEntry *log, size_t count, int64_t timestamp_ms)
{
	const IcebergLogEntry *found = NULL;

	for (size_t i = 0; i < count; i++)
	{
		if (log[i].timestamp_ms <= timestamp_ms &&
			(found == NULL || log[i].timestamp_ms > found->timestamp_ms))
			found = &log[i];
	}
	return found;
}

static void
resolve_times(LakeArena *arena, const LakeTable *table)
{
	size_t		count;
	const IcebergLogEntry *log = iceberg_snapshot_log(arena, table, &count);

	for (size_t i = 0; i < count && i < 50; i++)
	{
		LakeSelector selector = {.kind = LAKE_SELECT_TIME};
		LakeVersion version;

		if (__builtin_mul_overflow(log[i].timestamp_ms, 1000,
								   &selector.time_us))
			continue;
		version = iceberg_format.resolve(arena, table, &selector);
		require(version.snapshot != NULL && version.schema != NULL);
		require(!version.is_branch);
		require(version.snapshot->id ==
				scan_log(log, count, log[i].timestamp_ms)->snapshot_id);
	}
}

static void
resolve_refs(LakeArena *arena, const LakeTable *table)
{
	size_t		count;
	const IcebergRef *refs = iceberg_refs(arena, table, &count);

	for (size_t i = 0; i < count && i < 50; i++)
	{
		LakeSelector selector = {LAKE_SELECT_REF, .ref = refs[i].name};
		LakeVersion version = iceberg_format.resolve(arena, table, &selector);

		require(i == 0 || strcmp(refs[i - 1].name, refs[i].name) <= 0);
		require(version.snapshot != NULL && version.schema != NULL);
		require(!version.is_branch || version.schema == table->schema);
	}
}

static void
resolve_unknown_id(LakeArena *arena, const LakeTable *table)
{
	LakeSelector selector = {LAKE_SELECT_SNAPSHOT, .snapshot_id = 123456789};

	iceberg_format.resolve(arena, table, &selector);
}

static void
resolve_unknown_time(LakeArena *arena, const LakeTable *table)
{
	LakeSelector selector = {LAKE_SELECT_TIME, .time_us = INT64_MIN};

	iceberg_format.resolve(arena, table, &selector);
}

static void
resolve_unknown_ref(LakeArena *arena, const LakeTable *table)
{
	LakeSelector selector = {LAKE_SELECT_REF, .ref = "audti"};

	iceberg_format.resolve(arena, table, &selector);
}

/* each may find its part of the file corrupt, whatever the others found */
static void (*const questions[]) (LakeArena *arena, const LakeTable *table) =
{
	walk_snapshots, walk_metadata_log, list_properties, resolve_times, resolve_refs,
		resolve_unknown_id, resolve_unknown_time, resolve_unknown_ref,
};

/* one at a time: a variable that changed since is undefined after a throw */
static void
ask_one(size_t question, LakeArena *arena, const LakeTable *table)
{
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		questions[question] (arena, table);
		lake_try_end(&try);
	}
}

static void
ask(LakeArena *arena, const LakeTable *table)
{
	for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
		ask_one(i, arena, table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	MemoryStore *memory = memory_store_create(arena);
	const LakeTable *volatile table = NULL;
	LakeTry		try;

	memory_store_put(memory, LOCATION,
					 (LakeBytes) {.data = data, .len = size});
	if (lake_try_begin(&try))
	{
		table = iceberg_format.open(arena, &memory->store, LOCATION);
		check(table);
		lake_try_end(&try);
	}
	if (table != NULL)
		ask(arena, table);
	lake_arena_destroy(arena);
	return 0;
}
