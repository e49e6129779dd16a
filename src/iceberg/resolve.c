/*
 * Selectors to versions: snapshot ids, times, branches and tags.
 *
 * A time means what was current on main then, by the snapshot log: also a state
 * that was rolled back since, never a staged or branch-only snapshot.  Entries
 * of the log need not be in order, since clocks are not.
 *
 * Iceberg spec, "Snapshot References" and "Point in Time Reads"; reference,
 * "Time travel and ref resolution".
 */
#include "iceberg/iceberg_int.h"

#include "table/value.h"

/* names in the hint of an unknown ref */
#define REFS_SHOWN	5

static const LakeType time_type = {.kind = LAKE_TIMESTAMPTZ};

/* saturates: a writer's odd clock is no reason to fail */
static const char *
time_text(LakeArena *arena, int64_t milliseconds)
{
	LakeValue	value = {.is_null = false};

	if (__builtin_mul_overflow(milliseconds, 1000, &value.i))
		return lake_printf(arena, "%lld ms", (long long) milliseconds);
	return lake_value_text(arena, &time_type, &value);
}

static const LakeSchema *
find_schema(const LakeTable *table, int32_t id)
{
	for (int i = 0; i < table->schema_count; i++)
	{
		if (table->schemas[i]->id == id)
			return table->schemas[i];
	}
	return NULL;
}

/* a snapshot with the schema that it was written with */
static LakeVersion
fixed_version(const LakeTable *table, const LakeSnapshot *snapshot)
{
	LakeVersion version = {snapshot, table->schema, false};

	if (snapshot->schema_id == -1)
		return version;
	version.schema = find_schema(table, snapshot->schema_id);
	if (version.schema == NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "snapshot %lld has schema id %d, which the table metadata "
				   "does not have", (long long) snapshot->id,
				   snapshot->schema_id);
	return version;
}

/* ---- snapshot ids ---- */

static uint64_t
distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t) a - (uint64_t) b : (uint64_t) b - (uint64_t) a;
}

static _Noreturn void
throw_no_snapshot(LakeArena *arena, const LakeTable *table, int64_t id)
{
	IcebergSnapshotWalk *walk = iceberg_walk_snapshots(arena, table);
	const IcebergSnapshotInfo *info;
	LakeArena  *each = lake_arena_create(arena, "snapshot");
	int64_t		nearest = 0;
	int64_t		nearest_time = 0;
	size_t		count = 0;

	while ((info = iceberg_next_snapshot(walk, each)) != NULL)
	{
		if (count == 0 || distance(info->id, id) < distance(nearest, id))
		{
			nearest = info->id;
			nearest_time = info->timestamp_ms;
		}
		count++;
		lake_arena_reset(each);
	}
	if (count == 0)
		lake_throw_hint(LAKE_ERROR_UNDEFINED, "The table has no snapshots.",
						"snapshot %lld does not exist", (long long) id);
	lake_throw_hint(LAKE_ERROR_UNDEFINED,
					lake_printf(arena, "The nearest of its %zu snapshots is "
								"%lld of %s; lake.snapshots lists them.",
								count, (long long) nearest,
								time_text(arena, nearest_time)),
					"snapshot %lld does not exist, or has expired",
					(long long) id);
}

static LakeVersion
resolve_snapshot(LakeArena *arena, const LakeTable *table, int64_t id)
{
	const LakeSnapshot *snapshot = iceberg_find_snapshot(arena, table, id);

	if (snapshot == NULL)
		throw_no_snapshot(arena, table, id);
	return fixed_version(table, snapshot);
}

/* ---- times ---- */

static _Noreturn void
throw_no_time(LakeArena *arena, const IcebergLogEntry *log, size_t count,
			  int64_t time_ms)
{
	const IcebergLogEntry *first = NULL;

	for (size_t i = 0; i < count; i++)
	{
		if (first == NULL || log[i].timestamp_ms < first->timestamp_ms)
			first = &log[i];
	}
	if (first == NULL)
		lake_throw_hint(LAKE_ERROR_UNDEFINED,
						"The table's history is empty.",
						"the table had no snapshot at %s",
						time_text(arena, time_ms));
	lake_throw_hint(LAKE_ERROR_UNDEFINED,
					lake_printf(arena, "The first snapshot that is known is "
								"%lld of %s.", (long long) first->snapshot_id,
								time_text(arena, first->timestamp_ms)),
					"the table had no snapshot at %s",
					time_text(arena, time_ms));
}

static LakeVersion
resolve_time(LakeArena *arena, const LakeTable *table, int64_t time_us)
{
	/* truncated, also before 1970 */
	int64_t		time_ms = time_us / 1000 - (time_us % 1000 < 0);
	size_t		count;
	const IcebergLogEntry *log = iceberg_snapshot_log(arena, table, &count);
	const IcebergLogEntry *found = iceberg_log_at(log, count, time_ms);
	const LakeSnapshot *snapshot;

	if (found == NULL)
		throw_no_time(arena, log, count, time_ms);
	snapshot = iceberg_find_snapshot(arena, table, found->snapshot_id);
	if (snapshot == NULL)
		lake_throw_hint(LAKE_ERROR_UNDEFINED,
						"lake.snapshots lists the snapshots that are left.",
						"snapshot %lld, which was current at %s, has expired",
						(long long) found->snapshot_id,
						time_text(arena, time_ms));
	return fixed_version(table, snapshot);
}

/* ---- refs ---- */

static _Noreturn void
throw_no_ref(LakeArena *arena, const IcebergRef *refs, size_t count,
			 const char *name)
{
	LakeBuffer	names;

	buffer_init(&names, arena);
	for (size_t i = 0; i < count && i < REFS_SHOWN; i++)
	{
		const char *each = lake_printf(arena, "%s\"%s\"", i == 0 ? "" : ", ",
									   refs[i].name);

		buffer_append(&names, each, strlen(each));
	}
	if (count == 0)
		lake_throw_hint(LAKE_ERROR_UNDEFINED, "The table has none.",
						"branch or tag \"%s\" does not exist", name);
	lake_throw_hint(LAKE_ERROR_UNDEFINED,
					lake_printf(arena, "The table has %.*s%s",
								(int) names.len, (const char *) names.data,
								count > REFS_SHOWN ?
								" and more: lake.refs lists them." : "."),
					"branch or tag \"%s\" does not exist", name);
}

static LakeVersion
resolve_ref(LakeArena *arena, const LakeTable *table, const char *name)
{
	LakeVersion version = {NULL, table->schema, true};
	size_t		count;
	const IcebergRef *refs = iceberg_refs(arena, table, &count);

	for (size_t i = 0; i < count; i++)
	{
		if (strcmp(refs[i].name, name) != 0)
			continue;
		version = resolve_snapshot(arena, table, refs[i].snapshot_id);
		if (!refs[i].is_tag)
		{
			version.schema = table->schema;
			version.is_branch = true;
		}
		return version;
	}
	/* the main branch of a table without snapshots */
	if (strcmp(name, "main") != 0)
		throw_no_ref(arena, refs, count, name);
	return version;
}

LakeVersion
iceberg_resolve(LakeArena *arena, const LakeTable *table,
				const LakeSelector *selector)
{
	LakeVersion version = {table->current_snapshot, table->schema, true};

	switch (selector->kind)
	{
		case LAKE_SELECT_SNAPSHOT:
			return resolve_snapshot(arena, table, selector->snapshot_id);
		case LAKE_SELECT_TIME:
			return resolve_time(arena, table, selector->time_us);
		case LAKE_SELECT_REF:
			return resolve_ref(arena, table, selector->ref);
		case LAKE_SELECT_CURRENT:
			break;
	}
	return version;
}
