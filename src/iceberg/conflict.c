/*
 * Conflicts: what others have committed since the changes' base that the
 * statements behind them should have seen.
 *
 * Two kinds of evidence.  Data files that came or went are looked for in the
 * manifests of each snapshot in between, since a compaction may have replaced
 * them by now; its own files are no news and are passed over.  Deletes
 * (conflict_deletes.c) are looked for among those of the head, whose sequence
 * numbers say that they are new.
 *
 * Rows are not read to find out whether a file has some that matter: a false
 * conflict costs a retry, a missed one an update.
 *
 * Reference, 6.2-6.4 and 6.8; decisions, 6.1.
 */
#include "iceberg/iceberg_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const Conflict *
conflict_make(LakeArena *arena, ConflictKind kind, const char *format,...)
{
	Conflict   *conflict = lake_alloc(arena, sizeof *conflict);
	char	   *text;
	va_list		args;
	int			length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = lake_alloc(arena, (size_t) length + 1);
	va_start(args, format);
	vsnprintf(text, (size_t) length + 1, format, args);
	va_end(args);
	conflict->kind = kind;
	conflict->text = text;
	return conflict;
}

/* ---- the snapshots in between ---- */

static bool
has_operation(const LakeSnapshot *snapshot, const char *operation)
{
	return snapshot->operation != NULL &&
		strcmp(snapshot->operation, operation) == 0;
}

bool
conflict_only_deletes(const ConflictCheck *check, int64_t id)
{
	/* the oldest is the first */
	for (int i = 0; i < check->snapshot_count; i++)
	{
		const LakeSnapshot *snapshot = check->snapshots[i];

		if (snapshot->id == id)
			return has_operation(snapshot, "delete");
		if (!has_operation(snapshot, "append") &&
			!has_operation(snapshot, "delete") &&
			!has_operation(snapshot, "replace"))
			return false;
	}
	return false;
}

/* parses those snapshots whose place in the index is marked, in a single walk */
static void
parse_snapshots(ConflictCheck *check, const IcebergSnapshotIndex *index,
				const int *places)
{
	JsonScan	scan;
	LakeBytes	text;

	json_scan_begin(&scan, iceberg_table(check->head)->snapshots);
	while (json_scan_next(&scan, &text))
	{
		const IcebergSnapshotInfo *info;
		int64_t		id;
		int			place;

		lake_check_interrupts();
		snapshot_scan(text, &id, NULL);
		info = iceberg_index_find(index, id);
		place = places[info - index->snapshots];
		if (place > 0)
			check->snapshots[check->snapshot_count - place] =
				&snapshot_parse(check->scratch, text, id)->snapshot;
	}
}

/*
 * Collects the head and its ancestors as far as the base.  False: the history
 * between the two is not known, or there is none.
 */
static bool
collect_snapshots(ConflictCheck *check)
{
	const IcebergSnapshotIndex *index =
		iceberg_index_snapshots(check->scratch, check->head);
	int64_t		base = check->changes->base_snapshot_id;
	int64_t		id = check->head->current_snapshot->id;

	/* counted from the head, which is 1 */
	int		   *places = lake_alloc_array(check->scratch, index->count,
										  sizeof *places);

	while (id != base)
	{
		const IcebergSnapshotInfo *info = id == -1 ? NULL :
			iceberg_index_find(index, id);

		/* a place that is taken is a circle of parents */
		if (info == NULL || places[info - index->snapshots] != 0)
			return false;
		places[info - index->snapshots] = ++check->snapshot_count;
		id = info->has_parent ? info->parent_id : -1;
	}
	check->snapshots = lake_alloc_array(check->scratch,
										(size_t) check->snapshot_count,
										sizeof *check->snapshots);
	parse_snapshots(check, index, places);
	return true;
}

static const Conflict *
check_history(const ConflictCheck *check)
{
	long long	base = (long long) check->changes->base_snapshot_id;

	if (check->head->current_snapshot == NULL)
		return conflict_make(check->arena, CONFLICT_HISTORY,
							 "The table has no snapshot any more; this "
							 "transaction has read snapshot %lld.",
							 base);
	if (base == -1)
		return conflict_make(check->arena, CONFLICT_HISTORY,
							 "This transaction has read the table when it "
							 "was empty, and the snapshots since then are "
							 "not all known.");
	return conflict_make(check->arena, CONFLICT_HISTORY,
						 "Snapshot %lld, which this transaction has "
						 "read, is not known as an ancestor of the "
						 "table's current snapshot %lld.",
						 base,
						 (long long) check->head->current_snapshot->id);
}

/* ---- filters ---- */

const char *
conflict_filter_text(const ConflictCheck *check, const ChangeRead *read)
{
	const char *command = read->is_update ? "UPDATE" : "DELETE";
	const char *text;

	if (read->filter == NULL || read->filter->op == PREDICATE_TRUE)
		return lake_printf(check->arena, "that this transaction's %s should "
						   "have seen", command);
	text = predicate_text(check->scratch, read->filter, check->head->schema);
	return lake_printf(check->arena, text[0] == '(' ?
					   "that match %s, which this transaction's %s has looked "
					   "for" :
					   "that match (%s), which this transaction's %s has "
					   "looked for", text, command);
}

static bool
may_match(const Predicate *filter, LakeArena *arena, ManifestReader *reader)
{
	const LakePartitionSpec *spec = manifest_reader_spec(reader);
	TupleLookup lookup = {spec, manifest_reader_partition(reader, arena)};

	return filter == NULL ||
		(predicate_may_match(predicate_project(arena, filter, spec),
							 plan_tuple_bounds, &lookup) &&
		 predicate_may_match(filter, manifest_reader_bounds, reader));
}

const ChangeRead *
conflict_match(const ConflictCheck *check, ReadTest test, LakeArena *arena,
			   ManifestReader *reader)
{
	const ChangeSet *changes = check->changes;

	for (int i = 0; i < changes->read_count; i++)
	{
		const ChangeRead *read = &changes->reads[i];

		if (test(read) && may_match(read->filter, arena, reader))
			return read;
	}
	return NULL;
}

static bool
is_serializable(const ChangeRead *read)
{
	return read->isolation == CHANGE_SERIALIZABLE;
}

/* ---- data files that came ---- */

static const Conflict *
find_added_in(const ConflictCheck *check, const ManifestFile *manifest,
			  const LakeSnapshot *snapshot)
{
	LakeArena  *arena = lake_arena_create(check->scratch, "added data files");
	const BoundsColumn *columns = (const void *) check->columns.data;
	ManifestReader *reader =
		manifest_reader_open(arena, arena, check->head, check->store, manifest,
						 columns,
						 (int) (check->columns.len / sizeof *columns));
	const Conflict *conflict = NULL;
	ManifestEntry entry;

	while (conflict == NULL && manifest_reader_next(reader, &entry))
	{
		const ChangeRead *read;

		lake_check_interrupts();
		/* others were there before and are carried over; -1: who knows */
		if (entry.content != CONTENT_DATA ||
			(entry.snapshot_id != snapshot->id && entry.snapshot_id != -1))
			continue;
		read = conflict_match(check, is_serializable, arena, reader);
		if (read != NULL)
			conflict = conflict_make(check->arena, CONFLICT_ADDED_ROWS,
									 "Data file \"%.*s\", added by a concurrent "
									 "commit, may have rows %s.",
									 (int) entry.path.len,
									 (const char *) entry.path.data,
									 conflict_filter_text(check, read));
	}
	lake_arena_destroy(arena);
	return conflict;
}

/* ---- data files that went ---- */

static const Conflict *
find_removed_in(const ConflictCheck *check, const ManifestFile *manifest,
				const BytesMap *referenced)
{
	static const LakePartitionSpec no_fields = {.id = -1};
	LakeArena  *arena = lake_arena_create(check->scratch, "removed data files");
	EntryWalk  *walk = entry_walk_open(arena, check->head, check->store,
									   manifest, &no_fields, false);
	const Conflict *conflict = NULL;
	const IcebergEntry *entry;

	while (conflict == NULL && (entry = entry_walk_next(walk)) != NULL)
	{
		lake_check_interrupts();
		if (entry->status == STATUS_DELETED &&
			entry->content == CONTENT_DATA &&
			bytes_map_find(referenced, entry->path) != NULL)
			conflict = conflict_make(check->arena, CONFLICT_REMOVED_FILE,
									 "Data file \"%.*s\", of which this transaction "
									 "deletes or updates rows, has been removed by "
									 "a concurrent commit.",
									 (int) entry->path.len,
									 (const char *) entry->path.data);
	}
	lake_arena_destroy(arena);
	return conflict;
}

/* ---- one snapshot after the other ---- */

static void
map_referenced(const ConflictCheck *check, BytesMap *referenced)
{
	const ChangeSet *changes = check->changes;

	bytes_map_init(referenced, check->scratch);
	for (int i = 0; i < changes->referenced_count; i++)
	{
		const char *path = changes->referenced[i];
		LakeBytes	key = {(const uint8_t *) path, strlen(path)};

		if (bytes_map_find(referenced, key) == NULL)
			bytes_map_add(referenced, key, referenced);
	}
}

/*
 * An append removes nothing, a replacement adds no rows, a deletion none
 * either; what has another word for itself may do anything.
 */
static const Conflict *
check_snapshot(const ConflictCheck *check, const LakeSnapshot *snapshot,
			   bool is_any_serializable, const BytesMap *referenced)
{
	bool		looks_for_added = is_any_serializable &&
		!has_operation(snapshot, "replace") &&
		!has_operation(snapshot, "delete");
	bool		looks_for_removed = referenced->count > 0 &&
		!has_operation(snapshot, "append");
	const ManifestFile *manifests;
	const Conflict *conflict = NULL;
	size_t		count;

	if (!looks_for_added && !looks_for_removed)
		return NULL;
	manifests = manifest_list_read(check->scratch, check->store, snapshot,
								   &count);
	for (size_t i = 0; i < count && conflict == NULL; i++)
	{
		const ManifestFile *manifest = &manifests[i];

		lake_check_interrupts();
		if (manifest->has_deletes ||
			(manifest->snapshot_id != snapshot->id &&
			 manifest->snapshot_id != -1))
			continue;
		if (looks_for_added && manifest->added_files != 0)
			conflict = find_added_in(check, manifest, snapshot);
		if (conflict == NULL && looks_for_removed &&
			manifest->deleted_files != 0)
			conflict = find_removed_in(check, manifest, referenced);
	}
	return conflict;
}

static const Conflict *
check_snapshots(const ConflictCheck *check)
{
	const ChangeSet *changes = check->changes;
	bool		is_any_serializable = false;
	const Conflict *conflict = NULL;
	BytesMap	referenced;

	for (int i = 0; i < changes->read_count; i++)
		is_any_serializable |= is_serializable(&changes->reads[i]);
	map_referenced(check, &referenced);
	for (int i = 0; i < check->snapshot_count && conflict == NULL; i++)
		conflict = check_snapshot(check, check->snapshots[i],
								  is_any_serializable, &referenced);
	return conflict;
}

const Conflict *
conflict_find(LakeArena *arena, LakeStore *store, const LakeTable *head,
			  const ChangeSet *changes)
{
	const LakeSnapshot *current = head->current_snapshot;
	int64_t		head_id = current == NULL ? -1 : current->id;
	ConflictCheck check = {.arena = arena, .store = store, .head = head,
	.changes = changes};
	const Conflict *conflict;

	/* who has read nothing depends on nothing */
	if (changes->base_snapshot_id == head_id ||
		(changes->read_count == 0 && changes->referenced_count == 0))
		return NULL;
	check.scratch = lake_arena_create(arena, "conflict check");
	buffer_init(&check.columns, check.scratch);
	for (int i = 0; i < changes->read_count; i++)
	{
		if (changes->reads[i].filter != NULL)
			plan_collect_columns(&check.columns, changes->reads[i].filter);
	}
	if (current == NULL || !collect_snapshots(&check))
		conflict = check_history(&check);
	else
	{
		conflict = check_snapshots(&check);
		if (conflict == NULL && head->format_version > 1)
			conflict = conflict_find_deletes(&check);
	}
	lake_arena_destroy(check.scratch);
	return conflict;
}
