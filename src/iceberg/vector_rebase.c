/*
 * Deletion vectors on a moved head: a data file has one only, so who comes
 * second writes one of both's positions, which replaces the other's.
 *
 * That the two do not stand in each other's way has been found out before
 * (conflict_deletes.c).  What comes out is a change set whose base is the head:
 * the next attempt has nothing older to look at.
 *
 * Decisions, 6.1 (ii).
 */
#include "iceberg/iceberg_int.h"

#include "table/deletes.h"

/* a vector of the changes, by the data file that it is of */
typedef struct Rebased
{
	int			added;			/* its place among the added files */
	bool		has_other;		/* the head's newer one, to be replaced */
	DeleteFile	other;
} Rebased;

/* a delete file that the changes remove */
typedef struct RemovedDelete
{
	bool		is_live;		/* in the head */
	bool		is_superseded;	/* its data file has a newer vector */
} RemovedDelete;

typedef struct VectorRebase
{
	LakeCommit *commit;
	LakeArena  *arena;			/* of the result */
	LakeArena  *scratch;
	const ChangeSet *changes;
	BytesMap	vectors;		/* comparable path -> Rebased */
	BytesMap	removed;		/* path and offset -> RemovedDelete */
	int			other_count;
} VectorRebase;

typedef void (*DeleteVisitor) (VectorRebase *rebase,
							   const ManifestEntry *entry);

/* ---- what there is ---- */

static LakeBytes
text_bytes(const char *text)
{
	return (LakeBytes) {(const uint8_t *) text, strlen(text)};
}

static LakeBytes
removed_key(LakeArena *arena, LakeBytes path, int64_t offset)
{
	return text_bytes(lake_printf(arena, "%lld %.*s", (long long) offset,
								  (int) path.len, (const char *) path.data));
}

static void
collect(VectorRebase *rebase)
{
	const ChangeSet *changes = rebase->changes;

	for (int i = 0; i < changes->added_count; i++)
	{
		const WrittenFile *file = changes->added[i];
		Rebased    *vector;

		if (file->kind != WRITTEN_DELETION_VECTOR)
			continue;
		vector = lake_alloc(rebase->scratch, sizeof *vector);
		vector->added = i;
		bytes_map_add(&rebase->vectors,
					  text_bytes(location_comparable(rebase->scratch,
													 file->referenced_file)),
					  vector);
	}
	for (int i = 0; i < changes->removed_count; i++)
	{
		const RemovedFile *file = &changes->removed[i];

		if (file->is_deletes)
			bytes_map_add(&rebase->removed,
						  removed_key(rebase->scratch, text_bytes(file->path),
									  file->content_offset),
						  lake_alloc(rebase->scratch, sizeof(RemovedDelete)));
	}
}

static bool
is_vector(const ManifestEntry *entry)
{
	return avro_field_is_word(entry->format, "puffin");
}

static Rebased *
find_vector(VectorRebase *rebase, const ManifestEntry *entry)
{
	const char *path;

	if (entry->referenced_file.data == NULL)
		return NULL;
	path = lake_strndup(rebase->scratch,
						(const char *) entry->referenced_file.data,
						entry->referenced_file.len);
	path = location_comparable(rebase->scratch, path);
	return bytes_map_find(&rebase->vectors, text_bytes(path));
}

static RemovedDelete *
find_removed(VectorRebase *rebase, const ManifestEntry *entry)
{
	return bytes_map_find(&rebase->removed,
						  removed_key(rebase->scratch, entry->path,
									  is_vector(entry) ?
									  entry->content_offset : -1));
}

static void
visit_head(VectorRebase *rebase, const ManifestEntry *entry)
{
	RemovedDelete *removed = find_removed(rebase, entry);
	Rebased    *vector;

	if (removed != NULL)
		removed->is_live = true;
	if (!is_vector(entry) ||
		entry->sequence_number <= rebase->changes->base_sequence_number)
		return;
	vector = find_vector(rebase, entry);
	if (vector == NULL)
		return;
	vector->has_other = true;
	vector->other.kind = DELETE_VECTOR;
	vector->other.path = lake_strndup(rebase->arena,
									  (const char *) entry->path.data,
									  entry->path.len);
	vector->other.record_count = entry->record_count;
	vector->other.size = entry->size;
	vector->other.content_offset = entry->content_offset;
	vector->other.content_size = entry->content_size;
	rebase->other_count++;
}

/* who wrote the newer vector has removed what it had replaced */
static void
visit_base(VectorRebase *rebase, const ManifestEntry *entry)
{
	RemovedDelete *removed = find_removed(rebase, entry);
	Rebased    *vector;

	if (removed == NULL)
		return;
	vector = find_vector(rebase, entry);
	if (vector != NULL && vector->has_other)
		removed->is_superseded = true;
}

static void
visit_deletes(VectorRebase *rebase, const LakeSnapshot *snapshot,
			  DeleteVisitor visit)
{
	LakeCommit *commit = rebase->commit;
	LakeStore  *store = commit->options->store;
	size_t		count;
	const ManifestFile *manifests = manifest_list_read(rebase->scratch, store,
													   snapshot, &count);

	for (size_t i = 0; i < count; i++)
	{
		LakeArena  *arena;
		const LakePartitionSpec *spec;
		const ManifestContents *contents;
		LakeFrame	frame;

		lake_check_interrupts();
		if (!manifests[i].has_deletes || manifests[i].live_files == 0)
			continue;
		lake_frame_push(&frame, "reading manifest", manifests[i].path);
		arena = lake_arena_create(rebase->scratch, "delete manifest");
		contents = manifest_contents_get(arena, arena, commit->head, store,
										 &manifests[i], NULL, 0, &spec);
		for (size_t j = 0; j < contents->delete_count; j++)
			visit(rebase, &contents->deletes[j].entry);
		lake_arena_destroy(arena);
		lake_frame_pop(&frame);
	}
}

/* ---- writing ---- */

static LakeBitmap *
read_vector(const VectorRebase *rebase, const DeleteFile *deletes)
{
	LakeFile   *file = lake_file_open(rebase->commit->options->store,
									  rebase->scratch, deletes->path,
									  "delete file");

	return deletes_read_vector(rebase->scratch, file, deletes);
}

static LakeBitmap *
merge_positions(const VectorRebase *rebase, const Rebased *vector)
{
	const WrittenFile *file = rebase->changes->added[vector->added];
	DeleteFile	own = {.kind = DELETE_VECTOR, .path = file->path,
		.record_count = file->record_count, .size = file->size,
		.content_offset = file->content_offset,
	.content_size = file->content_size};
	LakeBitmap *positions = read_vector(rebase, &own);

	bitmap_union(positions, read_vector(rebase, &vector->other));
	return positions;
}

/* replaces the added vectors by those of both's positions */
static void
write_vectors(const VectorRebase *rebase, const WrittenFile **added)
{
	LakeCommit *commit = rebase->commit;
	int			number = 0;
	FileSinkOptions options = {
		.store = commit->options->store,
		.write = iceberg_write_options(rebase->arena, commit->head),
		.file_prefix = lake_printf(rebase->arena, "%s-%d",
								   commit->options->file_prefix,
								   commit->attempt),
		.file_number = &number
	};
	FileDeletes *deletes = lake_alloc_array(rebase->scratch,
											(size_t) rebase->other_count,
											sizeof *deletes);
	int		   *places = lake_alloc_array(rebase->scratch,
										  (size_t) rebase->other_count,
										  sizeof *places);
	const WrittenFile *const *written;
	int			count = 0;

	for (size_t i = 0; i < rebase->vectors.capacity; i++)
	{
		const Rebased *vector = rebase->vectors.entries[i].value;
		const WrittenFile *file;

		lake_check_interrupts();
		if (vector == NULL || !vector->has_other)
			continue;
		file = rebase->changes->added[vector->added];
		places[count] = vector->added;
		deletes[count].path = file->referenced_file;
		deletes[count].spec = file->spec;
		deletes[count].partition = file->partition;
		deletes[count++].positions = merge_positions(rebase, vector);
	}
	written = deletion_vectors_write(rebase->arena, &options, deletes, count);
	for (int i = 0; i < count; i++)
		added[places[i]] = written[i];
}

/* what is removed: not what is gone with a newer vector, but those */
static void
set_removed(const VectorRebase *rebase, ChangeSet *result)
{
	const ChangeSet *changes = rebase->changes;
	RemovedFile *removed =
		lake_alloc_array(rebase->arena,
					 (size_t) changes->removed_count +
					 (size_t) rebase->other_count, sizeof *removed);
	int			count = 0;

	for (int i = 0; i < changes->removed_count; i++)
	{
		const RemovedFile *file = &changes->removed[i];
		const RemovedDelete *state = NULL;

		if (file->is_deletes)
			state = bytes_map_find(&rebase->removed,
								   removed_key(rebase->scratch,
											   text_bytes(file->path),
											   file->content_offset));
		if (state == NULL || state->is_live || !state->is_superseded)
			removed[count++] = *file;
	}
	for (size_t i = 0; i < rebase->vectors.capacity; i++)
	{
		const Rebased *vector = rebase->vectors.entries[i].value;

		if (vector == NULL || !vector->has_other)
			continue;
		removed[count].path = vector->other.path;
		removed[count].is_deletes = true;
		removed[count++].content_offset = vector->other.content_offset;
	}
	result->removed = removed;
	result->removed_count = count;
}

/* files of vectors that were all written anew */
static void
discard_unused(const VectorRebase *rebase, const ChangeSet *result)
{
	const ChangeSet *changes = rebase->changes;

	for (int i = 0; i < changes->added_count; i++)
	{
		bool		is_used = false;

		if (result->added[i] == changes->added[i])
			continue;
		for (int j = 0; j < result->added_count && !is_used; j++)
			is_used = strcmp(result->added[j]->path,
							 changes->added[i]->path) == 0;
		if (!is_used)
			put_set_discard(rebase->commit->options->store->puts,
							changes->added[i]->path);
	}
}

static const ChangeSet *
write_changes(VectorRebase *rebase)
{
	const ChangeSet *changes = rebase->changes;
	const LakeSnapshot *head = rebase->commit->head->current_snapshot;
	ChangeSet  *result = lake_alloc(rebase->arena, sizeof *result);
	const WrittenFile **added = lake_alloc_array(rebase->arena,
												 (size_t) changes->added_count,
												 sizeof *added);

	*result = *changes;
	memcpy(added, changes->added,
		   (size_t) changes->added_count * sizeof *added);
	write_vectors(rebase, added);
	result->added = added;
	set_removed(rebase, result);
	result->base_snapshot_id = head->id;
	result->base_sequence_number = head->sequence_number;
	discard_unused(rebase, result);
	return result;
}

const ChangeSet *
vectors_rebase(LakeCommit *commit)
{
	const LakeSnapshot *head = commit->head->current_snapshot;
	VectorRebase rebase = {.commit = commit, .arena = commit->arena,
	.scratch = commit->scratch, .changes = commit->changes};
	const LakeSnapshot *base;

	if (head == NULL || head->id == commit->changes->base_snapshot_id)
		return commit->changes;
	bytes_map_init(&rebase.vectors, rebase.scratch);
	bytes_map_init(&rebase.removed, rebase.scratch);
	collect(&rebase);
	if (rebase.vectors.count == 0)
		return commit->changes;
	visit_deletes(&rebase, head, visit_head);
	if (rebase.other_count == 0)
		return commit->changes;
	base = iceberg_find_snapshot(rebase.scratch, commit->head,
								 commit->changes->base_snapshot_id);
	if (base != NULL && rebase.removed.count > 0)
		visit_deletes(&rebase, base, visit_base);
	return write_changes(&rebase);
}
