/*
 * Commits: from a change set and the head of a table to the files of its next
 * version, as often as somebody else was faster.
 *
 * What does not depend on the head is written once: manifests of new files know
 * neither sequence number nor parent, which the manifest list tells.  Manifests
 * that were filtered or merged are used again as long as their inputs are in
 * the head's list.  Whatever an attempt does not list is discarded, so that at
 * the end the put set has what the snapshot needs and no more.
 *
 * Reference, section 5.
 */
#include "iceberg/iceberg_int.h"

#include <time.h>

#include "base/random.h"

/* ---- the commit ---- */

/* positive, as all snapshot ids are */
static int64_t
random_id(void)
{
	uint64_t	bits;

	do
	{
		random_fill(&bits, sizeof bits);
		bits &= INT64_MAX;
	} while (bits == 0);
	return (int64_t) bits;
}

LakeCommit *
iceberg_commit_create(LakeArena *arena, const CommitOptions *options)
{
	LakeCommit *commit = lake_alloc(arena, sizeof *commit);

	commit->arena = arena;
	commit->options = options;
	commit->changes = options->changes;
	commit->table_uuid = options->table_uuid;
	commit->snapshot_id = random_id();
	commit->merge = manifest_merge_create(arena);
	if (commit->changes != NULL)
		commit->removal = removal_create(arena, commit->changes);
	return commit;
}

/* ---- what a head must be like ---- */

static bool
is_same_spec(const LakePartitionSpec *a, const LakePartitionSpec *b)
{
	if (a->field_count != b->field_count)
		return false;
	for (int i = 0; i < a->field_count; i++)
	{
		const PartitionField *x = &a->fields[i];
		const PartitionField *y = &b->fields[i];

		if (x->field_id != y->field_id || x->source_id != y->source_id ||
			x->transform.kind != y->transform.kind ||
			x->transform.parameter != y->transform.parameter)
			return false;
	}
	return true;
}

static const Conflict *
check_file(const LakeCommit *commit, const WrittenFile *file)
{
	const LakePartitionSpec *spec = iceberg_find_spec(commit->head,
													  file->spec->id);

	if (commit->format_version == 1 && file->kind != WRITTEN_DATA)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "tables of Iceberg format version 1 cannot have deletes of "
				   "single rows, as in \"%s\"", file->path);
	if (commit->format_version == 2 && file->kind == WRITTEN_DELETION_VECTOR)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "tables of Iceberg format version 2 cannot have deletion "
				   "vectors, as in \"%s\"", file->path);
	if (commit->format_version > 2 && file->kind == WRITTEN_POSITION_DELETES)
		return conflict_make(commit->arena, CONFLICT_TABLE,
							 "The table has been upgraded to format version "
							 "%d, which has no position delete files such "
							 "as \"%s\".",
							 commit->format_version,
							 file->path);
	if (spec == NULL || !is_same_spec(spec, file->spec))
		return conflict_make(commit->arena, CONFLICT_TABLE,
							 "Partition spec %d, by which file \"%s\" was "
							 "written, is no longer one of the table's.",
							 file->spec->id,
							 file->path);
	return NULL;
}

/* NULL, or what the changes cannot be committed to the head for */
static const Conflict *
check_head(LakeCommit *commit)
{
	const ChangeSet *changes = commit->changes;
	const char *uuid = commit->head->uuid;
	const Conflict *problem = NULL;

	if (commit->table_uuid == NULL)
		commit->table_uuid = uuid == NULL ? NULL :
			lake_strdup(commit->arena, uuid);
	else if (uuid != NULL && strcmp(uuid, commit->table_uuid) != 0)
		return conflict_make(commit->arena, CONFLICT_TABLE,
							 "The table has been dropped and created anew: "
							 "its uuid is %s, no longer %s.",
							 uuid,
							 commit->table_uuid);
	for (int i = 0; changes != NULL && i < changes->added_count &&
		 problem == NULL; i++)
		problem = check_file(commit, changes->added[i]);
	return problem;
}

/* ---- snapshots ---- */

static bool
has_own_snapshot(const LakeCommit *commit)
{
	LakeBytes	snapshots = iceberg_table(commit->head)->snapshots;
	JsonScan	scan;
	LakeBytes	text;

	if (snapshots.len == 0)
		return false;
	json_scan_begin(&scan, snapshots);
	while (json_scan_next(&scan, &text))
	{
		int64_t		id;

		lake_check_interrupts();
		snapshot_scan(text, &id, NULL);
		if (id == commit->snapshot_id)
			return true;
	}
	return false;
}

int64_t
iceberg_now_ms(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* never before the head's: logs and time travel go by it */
static int64_t
commit_time(const LakeTable *head)
{
	int64_t		time = iceberg_now_ms();
	int64_t		parent;

	if (time < iceberg_table(head)->last_updated_ms)
		time = iceberg_table(head)->last_updated_ms;
	if (head->current_snapshot == NULL)
		return time;
	parent = head->current_snapshot->timestamp_ms;
	if (parent >= time && parent < INT64_MAX)
		time = parent + 1;
	return time;
}

static int64_t
next_sequence_number(const LakeTable *head)
{
	int64_t		last = iceberg_table(head)->last_sequence_number;

	if (head->format_version == 1)
		return 0;
	if (last < 0 || last == INT64_MAX)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the table's last sequence number is %lld",
				   (long long) last);
	return last + 1;
}

/* ---- the manifest list ---- */

static ManifestCounts
count_manifests(LakeCommit *commit, const CommitManifest *manifests,
				size_t count)
{
	ManifestCounts counts = {0};

	for (size_t i = 0; i < count; i++)
	{
		if (manifests[i].own == NULL)
			counts.kept++;
		else
		{
			counts.created++;
			counts.replaced += manifests[i].replaced;
			manifests[i].own->attempt = commit->attempt;
		}
	}
	return counts;
}

/* NULL: a conflict, or nothing has changed */
static const Conflict *
collect_manifests(LakeCommit *commit, LakeBuffer *rows)
{
	const LakeSnapshot *parent = commit->head->current_snapshot;
	const ManifestFile *manifests = NULL;
	size_t		count = 0;
	const Conflict *conflict;
	LakeBuffer	contents[2];

	if (parent != NULL)
		manifests = manifest_list_read(commit->scratch,
									   commit->options->store, parent, &count);
	for (int i = 0; i < 2; i++)
	{
		buffer_init(&contents[i], commit->scratch);
		own_manifests_add_files(commit, i == 1, &contents[i]);
		removal_apply(commit, manifests, count, i == 1, &contents[i]);
	}
	conflict = removal_conflict(commit);
	if (conflict != NULL)
		return conflict;
	for (int i = 0; i < 2; i++)
	{
		manifest_merge_apply(commit, &contents[i]);
		buffer_append(rows, contents[i].data, contents[i].len);
	}
	return NULL;
}

/* returns the next row id after the list's manifests */
static int64_t
write_list(LakeCommit *commit, const NewSnapshot *snapshot,
		   const CommitManifest *manifests, size_t count)
{
	const CommitOptions *options = commit->options;
	ListedManifest *rows = lake_alloc_array(commit->scratch, count,
											sizeof *rows);
	ManifestListHeader header = {
		.format_version = commit->format_version,
		.snapshot_id = snapshot->id,
		.parent_id = snapshot->parent_id,
		.sequence_number = snapshot->sequence_number,
		.first_row_id = snapshot->first_row_id,
	};

	for (size_t i = 0; i < count; i++)
	{
		if (manifests[i].own != NULL)
			rows[i].added = manifests[i].own->manifest;
		else
			rows[i].old = manifests[i].source;
	}
	return manifest_list_write(commit->scratch, options->store,
							   snapshot->manifest_list, &header, rows, count,
							   commit->codec, commit->level);
}

static const char *
list_location(LakeCommit *commit)
{
	const char *name = lake_printf(commit->scratch, "snap-%lld-%d-%s.avro",
								   (long long) commit->snapshot_id,
								   commit->attempt,
								   commit->options->file_prefix);

	return location_join(commit->arena,
						 metadata_directory(commit->scratch, commit->head),
						 name);
}

/* the snapshot with its list and all that it lists */
static void
write_snapshot(LakeCommit *commit, const LakeBuffer *rows,
			   NewSnapshot *snapshot)
{
	const CommitOptions *options = commit->options;
	const LakeTable *head = commit->head;
	const IcebergSnapshotInfo *parent = head->current_snapshot == NULL ? NULL :
		snapshot_info_read(commit->scratch,
					   iceberg_table(head)->current_snapshot);
	const CommitManifest *manifests = (const void *) rows->data;
	size_t		count = rows->len / sizeof *manifests;
	ManifestCounts counts = count_manifests(commit, manifests, count);
	int64_t		limit = iceberg_property_int64(head,
											   "write.summary.partition-limit",
											   0, 0);

	snapshot->id = commit->snapshot_id;
	snapshot->parent_id = parent == NULL ? -1 : parent->id;
	snapshot->sequence_number = next_sequence_number(head);
	snapshot->timestamp_ms = commit_time(head);
	snapshot->operation = summary_operation(commit->summary);
	snapshot->summary = summary_pairs(commit->summary, parent, limit, &counts,
									  options->summary,
									  options->summary_count,
									  &snapshot->summary_count);
	snapshot->schema_id = head->schema->id;
	snapshot->first_row_id = iceberg_table(head)->next_row_id;
	snapshot->manifest_list = list_location(commit);
	commit->manifest_list = snapshot->manifest_list;
	snapshot->added_rows = write_list(commit, snapshot, manifests, count) -
		snapshot->first_row_id;
}

/* ---- metadata ---- */

static bool
changes_properties(const LakeCommit *commit)
{
	const CommitOptions *options = commit->options;

	for (int i = 0; i < options->property_count; i++)
	{
		const char *value = options->properties[2 * i + 1];
		const char *old = iceberg_property(commit->head,
										   options->properties[2 * i]);

		if ((old == NULL) != (value == NULL) ||
			(old != NULL && strcmp(old, value) != 0))
			return true;
	}
	return false;
}

/* snapshot NULL: properties alone */
static void
write_metadata(LakeCommit *commit, const NewSnapshot *snapshot)
{
	const CommitOptions *options = commit->options;
	const LakeTable *head = commit->head;
	MetadataUpdate update = {.property_count = options->property_count,
	.properties = options->properties};
	LakeBytes	text = iceberg_read_metadata_text(commit->scratch,
												  options->store,
												  head->metadata_location);

	update.last_updated_ms = commit_time(head);
	if (snapshot != NULL)
	{
		update.last_updated_ms = snapshot->timestamp_ms;
		update.snapshot_count = 1;
		update.snapshots = snapshot;
		update.ref = "main";
		update.ref_snapshot_id = snapshot->id;
	}
	text = metadata_apply(commit->scratch, text, head->metadata_location,
						  &update);
	commit->metadata = metadata_put(commit->arena, options->store,
									metadata_directory(commit->scratch, head),
									head->metadata_location,
									options->hadoop_names, text);
}

/* ---- attempts ---- */

static void
begin_attempt(LakeCommit *commit, const LakeTable *head)
{
	const char *codec = iceberg_property(head,
										 "write.manifest.compression-codec");

	commit->attempt++;
	commit->head = head;
	commit->scratch = lake_arena_create(commit->arena, "commit attempt");
	commit->summary = summary_create(commit->scratch);
	commit->codec = codec == NULL ? CODEC_DEFLATE :
		codec_from_property("write.manifest.compression-codec", codec, true);
	commit->level = (int32_t)
		iceberg_property_int64(head, "write.manifest.compression-level",
							   INT32_MIN, CODEC_DEFAULT_LEVEL);
}

/*
 * Is the head, or what it follows, an earlier attempt's, whose swap was taken
 * for lost?  What that has written must stay then.
 */
static bool
is_done(const LakeCommit *commit)
{
	const IcebergMetadataLogEntry *log;
	size_t		count;

	if (commit->metadata == NULL)
		return false;
	if (strcmp(commit->head->metadata_location, commit->metadata) == 0 ||
		has_own_snapshot(commit))
		return true;
	log = iceberg_metadata_log(commit->scratch, commit->head, &count);
	for (size_t i = 0; i < count; i++)
	{
		if (strcmp(log[i].file, commit->metadata) == 0)
			return true;
	}
	return false;
}

/* what the last attempt alone needed */
static void
discard_attempt(LakeCommit *commit)
{
	LakePutSet *puts = commit->options->store->puts;

	/* an upgraded table's manifests have other fields */
	if (commit->format_version != commit->head->format_version)
		own_manifests_give_up(commit, -1);
	commit->format_version = commit->head->format_version;
	if (commit->manifest_list != NULL)
		put_set_discard(puts, commit->manifest_list);
	if (commit->metadata != NULL)
		put_set_discard(puts, commit->metadata);
	commit->manifest_list = NULL;
	commit->metadata = NULL;
}

static bool
changes_files(const ChangeSet *changes)
{
	return changes != NULL && (changes->added_count > 0 ||
							   changes->removed_count > 0 ||
							   changes->removes_all);
}

/* changes that had to be made anew are in none of the manifests so far */
static void
rebase_changes(LakeCommit *commit)
{
	const ChangeSet *changes = vectors_rebase(commit);

	if (changes == commit->changes)
		return;
	own_manifests_give_up(commit, -1);
	commit->changes = changes;
	commit->removal = removal_create(commit->arena, changes);
	commit->added[0] = NULL;
	commit->added[1] = NULL;
}

/* NULL, or a conflict; makes the snapshot unless nothing changes */
static const Conflict *
build_snapshot(LakeCommit *commit, NewSnapshot *snapshot)
{
	LakeBuffer	rows;
	const Conflict *conflict = conflict_find(commit->arena,
											 commit->options->store,
											 commit->head, commit->changes);

	if (conflict != NULL)
		return conflict;
	rebase_changes(commit);
	for (int i = 0; i < commit->changes->added_count; i++)
		summary_add_file(commit->summary, commit->changes->added[i]);
	buffer_init(&rows, commit->scratch);
	conflict = collect_manifests(commit, &rows);
	if (conflict == NULL && !summary_is_empty(commit->summary))
		write_snapshot(commit, &rows, snapshot);
	return conflict;
}

static void
build(LakeCommit *commit, CommitAttempt *result)
{
	NewSnapshot snapshot = {0};
	const Conflict *conflict;

	if (is_done(commit))
		return;
	discard_attempt(commit);
	conflict = check_head(commit);
	if (conflict == NULL && changes_files(commit->changes))
		conflict = build_snapshot(commit, &snapshot);
	if (conflict != NULL)
	{
		result->conflict = conflict->text;
		result->conflict_kind = conflict->kind;
		return;
	}
	if (commit->manifest_list != NULL)
		write_metadata(commit, &snapshot);
	else if (changes_properties(commit))
		write_metadata(commit, NULL);
	own_manifests_give_up(commit, commit->attempt);
	if (commit->metadata != NULL)
		result->metadata_location = commit->metadata;
	if (commit->manifest_list != NULL)
		result->snapshot_id = commit->snapshot_id;
}

CommitAttempt
iceberg_commit_build(LakeCommit *commit, const LakeTable *head)
{
	CommitAttempt result = {.metadata_location = head->metadata_location,
	.snapshot_id = -1};

	if (head->current_snapshot != NULL)
		result.snapshot_id = head->current_snapshot->id;
	begin_attempt(commit, head);
	build(commit, &result);
	if (result.conflict != NULL)
		result.metadata_location = NULL;
	lake_arena_destroy(commit->scratch);
	commit->scratch = NULL;
	return result;
}
