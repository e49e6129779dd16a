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

/* an unknown ref's hint has all names if they are that few, else a similar one */
#define REFS_SHOWN	5

/* bytes of names that are compared for similarity, and what is similar */
#define NAME_MAX_BYTES	64
#define NAME_MAX_EDITS	3

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

/* of the entries whose snapshots are left; NULL: none is */
static const IcebergLogEntry *
nearest_entry(LakeArena *arena, const LakeTable *table,
			  const IcebergLogEntry *timeline, size_t count, int64_t time_ms)
{
	const IcebergSnapshotIndex *index = iceberg_index_snapshots(arena, table);
	const IcebergLogEntry *nearest = NULL;

	for (size_t i = 0; i < count; i++)
	{
		if (iceberg_index_find(index, timeline[i].snapshot_id) != NULL &&
			(nearest == NULL ||
			 distance(timeline[i].timestamp_ms, time_ms) <
			 distance(nearest->timestamp_ms, time_ms)))
			nearest = &timeline[i];
	}
	return nearest;
}

static _Noreturn void
throw_no_time(LakeArena *arena, const LakeTable *table,
			  const IcebergLogEntry *timeline, size_t count, int64_t time_ms)
{
	const LakeSnapshot *current = table->current_snapshot;
	const IcebergLogEntry *first = nearest_entry(arena, table, timeline,
												 count, time_ms);
	const char *hint = "The table's history is empty.";

	if (first != NULL)
		hint = lake_printf(arena, "The first snapshot that is known is %lld "
						   "of %s.", (long long) first->snapshot_id,
						   time_text(arena, first->timestamp_ms));
	else if (current != NULL)
		hint = lake_printf(arena, "The table's history is not known, only "
						   "its current snapshot, %lld of %s.",
						   (long long) current->id,
						   time_text(arena, current->timestamp_ms));
	lake_throw_hint(LAKE_ERROR_UNDEFINED, hint,
					"the table had no snapshot at %s",
					time_text(arena, time_ms));
}

/* the log names a snapshot that is gone, which few writers leave in it */
static _Noreturn void
throw_expired(LakeArena *arena, const LakeTable *table,
			  const IcebergLogEntry *timeline, size_t count,
			  const IcebergLogEntry *expired, int64_t time_ms)
{
	const IcebergLogEntry *nearest = nearest_entry(arena, table, timeline,
												   count,
												   expired->timestamp_ms);
	const char *hint = "No snapshot of the table's history is left.";

	if (nearest != NULL)
		hint = lake_printf(arena, "The nearest that is left is %lld of %s; "
						   "lake.history lists them.",
						   (long long) nearest->snapshot_id,
						   time_text(arena, nearest->timestamp_ms));
	lake_throw_hint(LAKE_ERROR_UNDEFINED, hint,
					"snapshot %lld, which was current at %s, has expired",
					(long long) expired->snapshot_id,
					time_text(arena, time_ms));
}

static LakeVersion
resolve_time(LakeArena *arena, const LakeTable *table, int64_t time_us)
{
	/* truncated, also before 1970 */
	int64_t		time_ms = time_us / 1000 - (time_us % 1000 < 0);
	size_t		count;
	const IcebergLogEntry *timeline = iceberg_timeline(arena, table, &count);
	const IcebergLogEntry *found = iceberg_log_at(timeline, count, time_ms);
	const LakeSnapshot *snapshot;

	if (found == NULL)
		throw_no_time(arena, table, timeline, count, time_ms);
	snapshot = iceberg_find_snapshot(arena, table, found->snapshot_id);
	if (snapshot == NULL)
		throw_expired(arena, table, timeline, count, found, time_ms);
	return fixed_version(table, snapshot);
}

/* ---- refs ---- */

static char
fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/* bytes to insert, delete or replace, but for case */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t		row[NAME_MAX_BYTES + 1];
	size_t		len = strlen(b);

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++)
	{
		size_t		diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= len; j++)
		{
			size_t		replaced = diagonal + (fold(a[i]) != fold(b[j - 1]));
			size_t		other = row[j] < row[j - 1] ? row[j] : row[j - 1];

			diagonal = row[j];
			row[j] = replaced < other + 1 ? replaced : other + 1;
		}
	}
	return row[len];
}

/* NULL: none is similar */
static const char *
similar_ref(const IcebergRef *refs, size_t count, const char *name)
{
	size_t		best = NAME_MAX_EDITS + 1;
	const char *found = NULL;

	if (strlen(name) > NAME_MAX_BYTES)
		return NULL;
	for (size_t i = 0; i < count; i++)
	{
		size_t		edits;

		lake_check_interrupts();
		if (strlen(refs[i].name) > NAME_MAX_BYTES)
			continue;
		edits = edit_distance(name, refs[i].name);
		/* not if nearly all of it is another */
		if (edits < best && edits * 2 <= strlen(name))
		{
			best = edits;
			found = refs[i].name;
		}
	}
	return found;
}

static const char *
list_refs(LakeArena *arena, const IcebergRef *refs, size_t count)
{
	LakeBuffer	text;

	buffer_init(&text, arena);
	buffer_append_text(&text, "The table has ");
	for (size_t i = 0; i < count; i++)
		buffer_printf(&text, "%s\"%s\"", i == 0 ? "" : ", ", refs[i].name);
	buffer_append(&text, ".", sizeof ".");
	return (const char *) text.data;
}

static _Noreturn void
throw_no_ref(LakeArena *arena, const LakeTable *table, const IcebergRef *refs,
			 size_t count, const char *name)
{
	LakeBytes	digits = {(const uint8_t *) name, strlen(name)};
	const char *similar = similar_ref(refs, count, name);
	const char *hint;
	int64_t		id;

	if (count == 0)
		hint = "The table has none.";
	else if (snapshot_parse_id(digits, &id) &&
			 iceberg_find_snapshot(arena, table, id) != NULL)
		hint = "It is the id of a snapshot, which is not a ref.";
	else if (count <= REFS_SHOWN)
		hint = list_refs(arena, refs, count);
	else if (similar != NULL)
		hint = lake_printf(arena, "Perhaps you meant \"%s\"; lake.refs lists "
						   "all %zu.", similar, count);
	else
		hint = lake_printf(arena, "The table has %zu, which lake.refs lists.",
						   count);
	lake_throw_hint(LAKE_ERROR_UNDEFINED, hint,
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
		if (refs[i].is_tag)
			return resolve_snapshot(arena, table, refs[i].snapshot_id);
		/* read by the current schema, whatever the head was written with */
		version.snapshot = iceberg_find_snapshot(arena, table,
												 refs[i].snapshot_id);
		if (version.snapshot == NULL)
			throw_no_snapshot(arena, table, refs[i].snapshot_id);
		return version;
	}
	/* the main branch of a table without snapshots */
	if (strcmp(name, "main") != 0)
		throw_no_ref(arena, table, refs, count, name);
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
