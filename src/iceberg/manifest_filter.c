/*
 * Removing files: manifests of the head that have them are written anew, with
 * their entries marked as deleted and the others as existing.
 *
 * All manifests are looked through, even when each file was found already: a
 * file that two entries name would come back otherwise.  Planning has parsed
 * most of them before, and the cache has them.
 *
 * Deletes go with the data: vectors of removed files, and delete files that are
 * older than any data file that is left.
 *
 * Iceberg spec, "Manifest Entry Fields", "Deletion Vectors".
 */
#include "iceberg/iceberg_int.h"

/* a file of ChangeSet.removed */
typedef struct RemovedState
{
	const RemovedFile *file;
	int			attempt;		/* that found it last */
} RemovedState;

/* a manifest of some head without what goes, written for that or another one */
typedef struct Filtered
{
	OwnManifest *own;
	int64_t		oldest_data;	/* see Removal */
	SnapshotSummary *summary;
} Filtered;

struct Removal
{
	LakeArena  *arena;
	const ChangeSet *changes;
	bool		has_data;		/* some data file goes */
	bool		has_deletes;
	int			state_count;
	RemovedState *states;
	BytesMap	by_key;			/* see file_key -> RemovedState */
	/* by comparable path of a data file -> RemovedFile, WrittenFile */
	BytesMap	data_paths;
	BytesMap	vectors;		/* new ones by the file that they are of */
	BytesMap	filtered;		/* see commit_source_key -> Filtered */
	LakeBuffer	key;

	/* ---- of the attempt ---- */

	/*
	 * The lowest sequence number of the data files that stay: delete files
	 * below it reach nothing.  0: unknown.
	 */
	int64_t		oldest_data;
	const Conflict *conflict;
};

/* what both kinds of readers say of a live entry */
typedef struct LiveFile
{
	FileContent content;
	bool		is_among_deletes;	/* its manifest is one of deletes */
	LakeBytes	path;
	bool		is_vector;
	LakeBytes	referenced_file;
	int64_t		content_offset;
	int64_t		sequence_number;
} LiveFile;

/* ---- what goes ---- */

/* a delete file may be a vector, which shares its path with others */
static LakeBytes
file_key(LakeBuffer *key, bool is_deletes, LakeBytes path, int64_t offset)
{
	key->len = 0;
	buffer_append_byte(key, is_deletes ? 'x' : 'd');
	buffer_append(key, &offset, sizeof offset);
	buffer_append(key, path.data, path.len);
	return (LakeBytes) {key->data, key->len};
}

static LakeBytes
copy_key(LakeArena *arena, LakeBytes key)
{
	key.data = (const uint8_t *) lake_strndup(arena, (const char *) key.data,
											  key.len);
	return key;
}

static LakeBytes
text_bytes(const char *text)
{
	return (LakeBytes) {(const uint8_t *) text, strlen(text)};
}

static void
add_removed(Removal *removal, const RemovedFile *file, RemovedState *state)
{
	LakeBytes	key = file_key(&removal->key, file->is_deletes,
							   text_bytes(file->path), file->content_offset);

	state->file = file;
	if (bytes_map_find(&removal->by_key, key) != NULL)
		lake_throw(LAKE_ERROR_INTERNAL, "file \"%s\" is removed twice",
				   file->path);
	bytes_map_add(&removal->by_key, copy_key(removal->arena, key), state);
	if (file->is_deletes)
		removal->has_deletes = true;
	else
	{
		LakeBytes	path = text_bytes(location_comparable(removal->arena,
														  file->path));

		removal->has_data = true;
		if (bytes_map_find(&removal->data_paths, path) == NULL)
			bytes_map_add(&removal->data_paths, path, state);
	}
}

/* the format has one vector a data file, ever */
static void
add_vector(Removal *removal, const WrittenFile *file)
{
	LakeBytes	path;

	if (file->referenced_file == NULL)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a deletion vector in \"%s\" is of no data file",
				   file->path);
	path = text_bytes(location_comparable(removal->arena,
										  file->referenced_file));
	if (bytes_map_find(&removal->vectors, path) != NULL)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "data file \"%s\" gets two deletion vectors",
				   file->referenced_file);
	if (bytes_map_find(&removal->data_paths, path) != NULL)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "data file \"%s\" is removed and gets a deletion vector",
				   file->referenced_file);
	/* the map is of pointers that may be changed; this one never is */
	bytes_map_add(&removal->vectors, path, removal);
}

Removal *
removal_create(LakeArena *arena, const ChangeSet *changes)
{
	Removal    *removal = lake_alloc(arena, sizeof *removal);

	removal->arena = arena;
	removal->changes = changes;
	removal->has_data = changes->removes_all;
	removal->has_deletes = changes->removes_all;
	bytes_map_init(&removal->by_key, arena);
	bytes_map_init(&removal->data_paths, arena);
	bytes_map_init(&removal->vectors, arena);
	bytes_map_init(&removal->filtered, arena);
	buffer_init(&removal->key, arena);
	removal->state_count = changes->removed_count;
	removal->states = lake_alloc_array(arena, (size_t) changes->removed_count,
									   sizeof *removal->states);
	for (int i = 0; i < changes->removed_count; i++)
		add_removed(removal, &changes->removed[i], &removal->states[i]);
	for (int i = 0; i < changes->added_count; i++)
	{
		if (changes->added[i]->kind == WRITTEN_DELETION_VECTOR)
			add_vector(removal, changes->added[i]);
	}
	return removal;
}

/* is there an entry for the data file that a vector is of? */
static bool
has_path(Removal *removal, const BytesMap *map, LakeBytes path)
{
	LakeArena  *scratch;
	const char *text;
	bool		result;

	if (map->count == 0 || path.data == NULL)
		return false;
	scratch = lake_arena_create(removal->arena, "data file of a vector");
	text = lake_strndup(scratch, (const char *) path.data, path.len);
	text = location_comparable(scratch, text);
	result = bytes_map_find(map, text_bytes(text)) != NULL;
	lake_arena_destroy(scratch);
	return result;
}

static bool
is_garbage(const Removal *removal, const LiveFile *file)
{
	return removal->has_data && file->is_among_deletes &&
		file->sequence_number > 0 &&
		file->sequence_number < removal->oldest_data;
}

static bool
is_removed(LakeCommit *commit, const LiveFile *file)
{
	Removal    *removal = commit->removal;
	bool		is_deletes = file->content != CONTENT_DATA;
	RemovedState *state;

	if (removal->changes->removes_all)
		return true;
	if (removal->by_key.count == 0)
		return false;
	state = bytes_map_find(&removal->by_key,
						   file_key(&removal->key, is_deletes, file->path,
									file->is_vector ? file->content_offset :
									-1));
	if (state != NULL)
	{
		state->attempt = commit->attempt;
		return true;
	}
	return is_deletes &&
		((file->is_vector &&
		  has_path(removal, &removal->data_paths, file->referenced_file)) ||
		 is_garbage(removal, file));
}

/* ---- looking through manifests ---- */

/* does some data file of the manifest go?  Notes the age of the others. */
static bool
look_at_data(LakeCommit *commit, const ManifestContents *contents)
{
	Removal    *removal = commit->removal;
	bool		is_concerned = false;

	for (size_t i = 0; i < contents->file_count; i++)
	{
		const ManifestDataFile *data = &contents->files[i];
		LiveFile	file = {.content = CONTENT_DATA,
			.path = text_bytes(data->path),
		.sequence_number = data->sequence_number};

		if (is_removed(commit, &file))
			is_concerned = true;
		else if (file.sequence_number < removal->oldest_data)
			removal->oldest_data = file.sequence_number < 0 ? 0 :
				file.sequence_number;
	}
	return is_concerned;
}

static bool
look_at_deletes(LakeCommit *commit, const ManifestContents *contents,
				bool has_deletes)
{
	Removal    *removal = commit->removal;
	bool		is_concerned = false;

	for (size_t i = 0; i < contents->delete_count; i++)
	{
		const ManifestEntry *entry = &contents->deletes[i].entry;
		LiveFile	file = {.content = entry->content,
			.is_among_deletes = has_deletes, .path = entry->path,
			.is_vector = avro_field_is_word(entry->format, "puffin"),
			.referenced_file = entry->referenced_file,
			.content_offset = entry->content_offset,
		.sequence_number = entry->sequence_number};

		if (is_removed(commit, &file))
			is_concerned = true;
		else if (file.is_vector && removal->conflict == NULL &&
				 has_path(removal, &removal->vectors, file.referenced_file))
			removal->conflict =
				conflict_make(commit->arena, CONFLICT_DELETED_ROWS,
							  "A concurrent commit has deleted rows of data "
							  "file \"%.*s\", of which this transaction "
							  "deletes or updates rows, too.",
							  (int) file.referenced_file.len,
							  (const char *) file.referenced_file.data);
	}
	return is_concerned;
}

static bool
look_at(LakeCommit *commit, const ManifestFile *manifest)
{
	LakeArena  *arena = lake_arena_create(commit->scratch, "manifest");
	const LakePartitionSpec *spec;
	const ManifestContents *contents;
	bool		is_concerned;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading manifest", manifest->path);
	contents = manifest_contents_get(arena, arena, commit->head,
									 commit->options->store, manifest, NULL,
									 0, &spec);
	is_concerned = look_at_data(commit, contents);
	is_concerned |= look_at_deletes(commit, contents, manifest->has_deletes);
	lake_frame_pop(&frame);
	lake_arena_destroy(arena);
	return is_concerned;
}

/* ---- writing manifests anew ---- */

const LakePartitionSpec *
commit_source_spec(LakeCommit *commit, const ManifestFile *source)
{
	const LakePartitionSpec *spec = iceberg_find_spec(commit->head,
													  source->spec_id);

	/* the header says which one, and what it is if the table has lost it */
	if (spec == NULL)
		manifest_contents_get(commit->scratch, commit->scratch, commit->head,
							  commit->options->store, source, NULL, 0, &spec);
	return spec;
}

void
commit_source_key(const ManifestFile *source, LakeBuffer *key)
{
	const int64_t inherited[] = {source->first_row_id,
	source->sequence_number, source->snapshot_id};

	buffer_append_text(key, source->path);
	buffer_append_byte(key, '\0');
	buffer_append(key, inherited, sizeof inherited);
}

void
removal_copy(LakeCommit *commit, const ManifestFile *source,
			 ManifestWriter *writer, SnapshotSummary *summary)
{
	LakeArena  *arena = lake_arena_create(commit->scratch, "manifest copy");
	LakeArena  *values = lake_arena_create(arena, "partition");
	const LakePartitionSpec *spec = commit_source_spec(commit, source);
	EntryWalk  *walk = entry_walk_open(arena, commit->head,
									   commit->options->store, source, spec,
									   true);
	const IcebergEntry *entry;

	while ((entry = entry_walk_next(walk)) != NULL)
	{
		LiveFile	file = {.content = entry->content,
			.is_among_deletes = source->has_deletes, .path = entry->path,
			.is_vector = avro_field_is_word(entry->format, "puffin"),
			.referenced_file = entry->referenced_file,
			.content_offset = entry->content_offset,
		.sequence_number = entry->sequence_number};
		const LakeValue *partition;

		lake_check_interrupts();
		if (entry->status == STATUS_DELETED)
			continue;
		partition = entry_walk_partition(walk, values);
		if (!is_removed(commit, &file))
			manifest_writer_carry(writer, entry, partition, STATUS_EXISTING);
		else
		{
			manifest_writer_carry(writer, entry, partition, STATUS_DELETED);
			if (summary != NULL)
				summary_remove_entry(summary, entry, spec, partition);
		}
		lake_arena_reset(values);
	}
	lake_arena_destroy(arena);
}

static Filtered *
find_filtered(Removal *removal, const ManifestFile *source)
{
	LakeBytes	key;
	Filtered   *filtered;

	removal->key.len = 0;
	commit_source_key(source, &removal->key);
	key.data = removal->key.data;
	key.len = removal->key.len;
	filtered = bytes_map_find(&removal->filtered, key);
	if (filtered == NULL)
	{
		filtered = lake_alloc(removal->arena, sizeof *filtered);
		bytes_map_add(&removal->filtered, copy_key(removal->arena, key),
					  filtered);
	}
	return filtered;
}

/* the manifest without what goes, from an earlier attempt if that fits */
static void
filter(LakeCommit *commit, const ManifestFile *source, LakeBuffer *rows)
{
	Removal    *removal = commit->removal;
	Filtered   *filtered = find_filtered(removal, source);
	CommitManifest row = {.source = source, .replaced = 1};

	if (filtered->own == NULL || filtered->own->manifest == NULL ||
		(source->has_deletes &&
		 filtered->oldest_data != removal->oldest_data))
	{
		OwnManifest *own = own_manifest_create(commit);
		ManifestWriter *writer;
		LakeFrame	frame;

		lake_frame_push(&frame, "rewriting manifest", source->path);
		writer = own_manifest_begin(commit, own,
									commit_source_spec(commit, source),
									source->has_deletes);
		filtered->summary = summary_create(own->arena);
		removal_copy(commit, source, writer, filtered->summary);
		own_manifest_finish(own, writer);
		lake_frame_pop(&frame);
		filtered->own = own;
		filtered->oldest_data = removal->oldest_data;
	}
	row.own = filtered->own;
	summary_merge(commit->summary, filtered->summary);
	buffer_append(rows, &row, sizeof row);
}

/* without a list, as in old v1 snapshots, only the manifest knows its spec */
static bool
is_listed(const ManifestFile *manifest)
{
	return manifest->length >= 0 && manifest->spec_id != -1;
}

void
removal_apply(LakeCommit *commit, const ManifestFile *manifests, size_t count,
			  bool has_deletes, LakeBuffer *rows)
{
	Removal    *removal = commit->removal;
	bool		looks = removal->has_data ||
		(has_deletes && (removal->has_deletes || removal->vectors.count > 0));

	/* data comes first: what is new has the number of this commit */
	if (!has_deletes)
	{
		removal->conflict = NULL;
		removal->oldest_data =
			iceberg_table(commit->head)->last_sequence_number;
	}
	for (size_t i = 0; i < count; i++)
	{
		const ManifestFile *manifest = &manifests[i];
		CommitManifest row = {.source = manifest};

		lake_check_interrupts();
		if (manifest->has_deletes != has_deletes || manifest->live_files == 0)
			continue;
		if ((looks && look_at(commit, manifest)) || !is_listed(manifest))
			filter(commit, manifest, rows);
		else
			buffer_append(rows, &row, sizeof row);
	}
}

const Conflict *
removal_conflict(LakeCommit *commit)
{
	Removal    *removal = commit->removal;

	for (int i = 0; i < removal->state_count && removal->conflict == NULL; i++)
	{
		const RemovedFile *file = removal->states[i].file;

		if (removal->states[i].attempt != commit->attempt)
			removal->conflict =
				conflict_make(commit->arena, file->is_deletes ?
							  CONFLICT_DELETED_ROWS : CONFLICT_REMOVED_FILE,
							  "%s \"%s\", which this transaction replaces or "
							  "removes, has been removed by a concurrent "
							  "commit.",
							  file->is_deletes ? "Delete file" : "Data file",
							  file->path);
	}
	return removal->conflict;
}
