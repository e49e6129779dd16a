/*
 * Conflicts with deletes that others have added: delete files of the head whose
 * sequence number is above the base's.
 *
 * Who rewrites a file needs it to have no new deletes, since they would not
 * reach the new file.  Who adds deletes of its own minds others' less: the same
 * row is refused, which the positions tell, unless both delete it.  At level
 * serializable an UPDATE refuses all that may reach what it has looked for, too,
 * and no vector is replaced.
 *
 * Reference, 6.2 (C4-C6); decisions, 6.1 (ii).
 */
#include "iceberg/iceberg_int.h"

#include "table/deletes.h"

/* a data file that the changes concern */
typedef struct ConcernedFile
{
	const char *path;			/* as the changes say it */
	bool		is_removed;		/* else rows of it are deleted */
	bool		is_found;
	ScanTask	task;
	Partition  *partition;
} ConcernedFile;

typedef struct DeleteCheck
{
	const ConflictCheck *check;
	LakeArena  *scratch;
	bool		is_any_rewrite; /* by the reads */
	bool		is_any_update;
	bool		merges;			/* positions decide */
	BytesMap	files;			/* path -> ConcernedFile */
	LakeBuffer	order;			/* of ConcernedFile * */
	BytesMap	vectors;		/* comparable paths that get a vector */
	BytesMap	partitions;		/* key -> Partition */
	DeleteCache *positions;
} DeleteCheck;

static LakeBytes
text_bytes(const char *text)
{
	return (LakeBytes) {(const uint8_t *) text, strlen(text)};
}

/* ---- what the changes concern ---- */

static void
add_file(DeleteCheck *deletes, const char *path, bool is_removed)
{
	LakeBytes	key = text_bytes(path);
	ConcernedFile *file = bytes_map_find(&deletes->files, key);

	if (file != NULL)
		return;
	file = lake_alloc(deletes->scratch, sizeof *file);
	file->path = path;
	file->is_removed = is_removed;
	bytes_map_add(&deletes->files, key, file);
	buffer_append(&deletes->order, &file, sizeof file);
}

static void
collect_files(DeleteCheck *deletes)
{
	const ChangeSet *changes = deletes->check->changes;

	for (int i = 0; i < changes->removed_count; i++)
	{
		if (!changes->removed[i].is_deletes)
			add_file(deletes, changes->removed[i].path, true);
	}
	/* rows that a statement has found, not delete files that are merged */
	for (int i = 0; i < changes->referenced_count && changes->read_count > 0;
		 i++)
		add_file(deletes, changes->referenced[i], false);
	for (int i = 0; i < changes->added_count; i++)
	{
		const WrittenFile *file = changes->added[i];
		LakeBytes	path;

		if (file->kind != WRITTEN_DELETION_VECTOR ||
			file->referenced_file == NULL)
			continue;
		path = text_bytes(location_comparable(deletes->scratch,
											  file->referenced_file));
		if (bytes_map_find(&deletes->vectors, path) == NULL)
			bytes_map_add(&deletes->vectors, path, deletes);
	}
}

/* the reads' isolation: the strictest of those that add deletes counts */
static void
collect_reads(DeleteCheck *deletes)
{
	const ChangeSet *changes = deletes->check->changes;

	deletes->merges = changes->read_count > 0;
	for (int i = 0; i < changes->read_count; i++)
	{
		const ChangeRead *read = &changes->reads[i];

		if (read->is_rewrite)
			deletes->is_any_rewrite = true;
		else
		{
			deletes->is_any_update |= read->is_update;
			deletes->merges &= read->isolation == CHANGE_SNAPSHOT;
		}
	}
}

/* ---- where the files are ---- */

static Partition *
find_partition(DeleteCheck *deletes, const LakePartitionSpec *spec,
			   LakeBytes key)
{
	Partition  *partition = bytes_map_find(&deletes->partitions, key);

	if (partition != NULL)
		return partition;
	partition = lake_alloc(deletes->scratch, sizeof *partition);
	partition->spec = spec;
	partition->may_match = true;
	partition->key.len = key.len;
	partition->key.data = (const uint8_t *)
		lake_strndup(deletes->scratch, (const char *) key.data, key.len);
	delete_list_init(&partition->position_deletes, deletes->scratch);
	delete_list_init(&partition->equality_deletes, deletes->scratch);
	bytes_map_add(&deletes->partitions, partition->key, partition);
	return partition;
}

static void
locate_files_in(DeleteCheck *deletes, const ManifestFile *manifest)
{
	const ConflictCheck *check = deletes->check;
	LakeArena  *arena = lake_arena_create(deletes->scratch, "data files");
	const LakePartitionSpec *spec;
	const ManifestContents *contents =
		manifest_contents_get(arena, deletes->scratch, check->head,
						  check->store, manifest, NULL, 0, &spec);

	for (size_t i = 0; i < contents->file_count; i++)
	{
		const ManifestDataFile *data = &contents->files[i];
		ConcernedFile *file = bytes_map_find(&deletes->files,
											 text_bytes(data->path));

		if (file == NULL)
			continue;
		file->is_found = true;
		file->task.path = file->path;
		file->task.record_count = data->record_count;
		file->task.size = data->size;
		file->task.spec = spec;
		file->task.sequence_number = data->sequence_number;
		file->task.first_row_id = -1;
		file->partition = find_partition(deletes, spec, data->tuple->key);
	}
	lake_arena_destroy(arena);
}

/* what is not found is missed elsewhere */
static void
locate_files(DeleteCheck *deletes, const ManifestFile *manifests,
			 size_t count)
{
	for (size_t i = 0; i < count && deletes->files.count > 0; i++)
	{
		LakeFrame	frame;

		lake_check_interrupts();
		if (manifests[i].has_deletes || manifests[i].live_files == 0)
			continue;
		lake_frame_push(&frame, "reading manifest", manifests[i].path);
		locate_files_in(deletes, &manifests[i]);
		lake_frame_pop(&frame);
	}
}

/* ---- new delete files ---- */

static bool
is_serializable_update(const ChangeRead *read)
{
	return read->is_update && !read->is_rewrite &&
		read->isolation == CHANGE_SERIALIZABLE;
}

static bool
is_update(const ChangeRead *read)
{
	return read->is_update && !read->is_rewrite;
}

/* C4: positions cannot tell whether equality deletes hit the same rows */
static const Conflict *
match_filters(const DeleteCheck *deletes, LakeArena *arena,
			  ManifestReader *reader, const ManifestEntry *entry)
{
	const ChangeRead *read =
		conflict_match(deletes->check,
				   entry->content == CONTENT_EQUALITY_DELETES ?
				   is_update : is_serializable_update, arena, reader);

	if (read == NULL)
		return NULL;
	return conflict_make(deletes->check->arena, CONFLICT_DELETED_ROWS,
						 "Delete file \"%.*s\", added by a concurrent "
						 "commit, may delete rows %s.",
						 (int) entry->path.len,
						 (const char *) entry->path.data,
						 conflict_filter_text(deletes->check, read));
}

/* C6: the table has one vector a data file */
static const Conflict *
match_vector(const DeleteCheck *deletes, LakeArena *arena,
			 const ManifestEntry *entry)
{
	const char *path;

	if (deletes->merges || deletes->vectors.count == 0 ||
		entry->referenced_file.data == NULL ||
		!avro_field_is_word(entry->format, "puffin"))
		return NULL;
	path = lake_strndup(arena, (const char *) entry->referenced_file.data,
						entry->referenced_file.len);
	if (bytes_map_find(&deletes->vectors,
					   text_bytes(location_comparable(arena, path))) == NULL)
		return NULL;
	return conflict_make(deletes->check->arena, CONFLICT_DELETED_ROWS,
						 "A concurrent commit has deleted rows of data "
						 "file \"%s\", of which this transaction "
						 "deletes or updates rows, too.",
						 path);
}

/*
 * A DELETE does not mind that rows are gone which it deletes too, unless it has
 * to write what was left of their file.
 */
static bool
is_harmless(const DeleteCheck *deletes, const ManifestEntry *entry)
{
	if (deletes->is_any_update || deletes->is_any_rewrite ||
		deletes->vectors.count > 0 || deletes->check->changes->read_count == 0)
		return false;
	return conflict_only_deletes(deletes->check, entry->snapshot_id);
}

/*
 * Adds delete files of a manifest to the index; those at most as old as after
 * are left out.  Conflicts by filter end it, if checks is true.
 */
static const Conflict *
index_manifest(DeleteCheck *deletes, const ManifestFile *manifest,
			   int64_t after, bool checks, DeleteIndex *index)
{
	const ConflictCheck *check = deletes->check;
	LakeArena  *arena = lake_arena_create(deletes->scratch, "delete files");
	LakeArena  *values = lake_arena_create(arena, "delete file");
	const BoundsColumn *columns = (const void *) check->columns.data;
	ManifestReader *reader =
		manifest_reader_open(arena, deletes->scratch, check->head,
						 check->store, manifest, columns,
						 (int) (check->columns.len / sizeof *columns));
	const Conflict *conflict = NULL;
	ManifestEntry entry;
	LakeBuffer	key;

	buffer_init(&key, arena);
	while (conflict == NULL && manifest_reader_next(reader, &entry))
	{
		lake_check_interrupts();
		if (entry.content == CONTENT_DATA || entry.sequence_number <= after)
			continue;
		if (checks)
			conflict = match_vector(deletes, values, &entry);
		if (checks && conflict == NULL)
			conflict = match_filters(deletes, values, reader, &entry);
		if (conflict == NULL && (!checks || !is_harmless(deletes, &entry)))
		{
			key.len = 0;
			manifest_reader_partition_key(reader, &key);
			delete_index_add(index, &entry,
							 find_partition(deletes,
											manifest_reader_spec(reader),
											(LakeBytes) {key.data, key.len}));
		}
		lake_arena_reset(values);
	}
	lake_arena_destroy(arena);
	return conflict;
}

static const Conflict *
index_deletes(DeleteCheck *deletes, const ManifestFile *manifests,
			  size_t count, int64_t after, bool checks, DeleteIndex *index)
{
	const Conflict *conflict = NULL;

	for (size_t i = 0; i < count && conflict == NULL; i++)
	{
		LakeFrame	frame;

		lake_check_interrupts();
		if (!manifests[i].has_deletes || manifests[i].live_files == 0 ||
			manifests[i].sequence_number <= after)
			continue;
		lake_frame_push(&frame, "reading manifest", manifests[i].path);
		conflict = index_manifest(deletes, &manifests[i], after, checks,
								  index);
		lake_frame_pop(&frame);
	}
	return conflict;
}

/* ---- the same rows ---- */

/* positions that those delete files have of a data file; NULL: none */
static const LakeBitmap *
load_positions(DeleteCheck *deletes, const ConcernedFile *file,
			   const DeleteFile *const *files, int count)
{
	TaskReaderOptions options = {.store = deletes->check->store,
		.schema = deletes->check->head->schema,
		.schema_count = deletes->check->head->schema_count,
	.schemas = deletes->check->head->schemas};
	ScanTask	task = file->task;
	TaskDeletes loaded;
	LakeBitmap *copy;

	if (count == 0)
		return NULL;
	if (deletes->positions == NULL)
		deletes->positions = delete_cache_create(deletes->scratch, &options);
	task.deletes = files;
	task.delete_count = count;
	delete_cache_load(deletes->positions, deletes->scratch, &task, &loaded);
	if (loaded.positions == NULL)
		return NULL;
	/* the cache may forget it when the next ones are loaded */
	copy = bitmap_create(deletes->scratch);
	bitmap_union(copy, loaded.positions);
	return copy;
}

/* those of the changes' own delete files */
static const LakeBitmap *
own_positions(DeleteCheck *deletes, const ConcernedFile *file)
{
	const ChangeSet *changes = deletes->check->changes;
	const DeleteFile **files = lake_alloc_array(deletes->scratch,
												(size_t) changes->added_count,
												sizeof *files);
	int			count = 0;

	for (int i = 0; i < changes->added_count; i++)
	{
		const WrittenFile *added = changes->added[i];
		DeleteFile *own;

		if (added->kind == WRITTEN_DATA ||
			(added->referenced_file != NULL &&
			 strcmp(added->referenced_file, file->path) != 0))
			continue;
		own = lake_alloc(deletes->scratch, sizeof *own);
		own->kind = added->kind == WRITTEN_DELETION_VECTOR ? DELETE_VECTOR :
			DELETE_POSITION;
		own->path = added->path;
		own->record_count = added->record_count;
		own->size = added->size;
		own->content_offset = added->content_offset;
		own->content_size = added->content_size;
		files[count++] = own;
	}
	return load_positions(deletes, file, files, count);
}

/* what was deleted before the base, of one of the concerned files */
static const LakeBitmap *
base_positions(DeleteCheck *deletes, const ConcernedFile *file)
{
	const ConflictCheck *check = deletes->check;
	const LakeSnapshot *base =
		iceberg_find_snapshot(deletes->scratch, check->head,
						  check->changes->base_snapshot_id);
	DeleteIndex *index = delete_index_create(deletes->scratch,
											 deletes->scratch);
	DeleteCheck former = *deletes;
	ScanTask	task = file->task;
	ScanPlan	plan = {0};
	const ManifestFile *manifests;
	size_t		count;

	if (base == NULL)
		return NULL;
	/* partitions have the lists of deletes */
	bytes_map_init(&former.partitions, deletes->scratch);
	manifests = manifest_list_read(deletes->scratch, check->store, base,
								   &count);
	index_deletes(&former, manifests, count, -1, false, index);
	delete_index_attach(index, &task,
						find_partition(&former, file->partition->spec,
									   file->partition->key), &plan);
	return load_positions(deletes, file, task.deletes, task.delete_count);
}

static const Conflict *
match_positions(DeleteCheck *deletes, const ConcernedFile *file,
				const LakeBitmap *theirs)
{
	const LakeBitmap *own = own_positions(deletes, file);
	const LakeBitmap *before = NULL;
	bool		is_before_known = false;
	uint64_t	positions[1024];
	uint64_t	next = 0;
	size_t		count;

	while (own != NULL && (count = bitmap_list(own, next, positions, 1024)) > 0)
	{
		lake_check_interrupts();
		for (size_t i = 0; i < count; i++)
		{
			if (!bitmap_contains(theirs, positions[i]))
				continue;
			if (!is_before_known)
				before = base_positions(deletes, file);
			is_before_known = true;
			/* vectors repeat what was deleted long ago */
			if (before != NULL && bitmap_contains(before, positions[i]))
				continue;
			return conflict_make(deletes->check->arena, CONFLICT_DELETED_ROWS,
								 "A concurrent commit has deleted or updated "
								 "the row at position %llu of data file \"%s\", "
								 "which this transaction deletes or updates, "
								 "too.",
								 (unsigned long long) positions[i],
								 file->path);
		}
		next = positions[count - 1] + 1;
	}
	return NULL;
}

/* equality deletes do not matter here: a DELETE does not mind, for an UPDATE
 * they are a conflict anyway */
static const Conflict *
check_positions(DeleteCheck *deletes, const ConcernedFile *file,
				const ScanTask *task)
{
	const DeleteFile **files = lake_alloc_array(deletes->scratch,
												(size_t) task->delete_count,
												sizeof *files);
	const LakeBitmap *theirs;
	int			count = 0;

	for (int i = 0; i < task->delete_count; i++)
	{
		if (task->deletes[i]->kind != DELETE_EQUALITY)
			files[count++] = task->deletes[i];
	}
	theirs = load_positions(deletes, file, files, count);
	return theirs == NULL ? NULL : match_positions(deletes, file, theirs);
}

/* ---- all of it ---- */

static const Conflict *
check_file(DeleteCheck *deletes, ConcernedFile *file, DeleteIndex *index)
{
	ScanTask	task = file->task;
	ScanPlan	plan = {0};

	if (!file->is_found)
		return NULL;
	delete_index_attach(index, &task, file->partition, &plan);
	if (task.delete_count == 0)
		return NULL;
	if (!file->is_removed)
		return check_positions(deletes, file, &task);
	return conflict_make(deletes->check->arena, CONFLICT_DELETED_ROWS,
						 "A concurrent commit has deleted rows of data "
						 "file \"%s\", which this transaction replaces "
						 "or removes, by delete file \"%s\".",
						 file->path,
						 task.deletes[0]->path);
}

static bool
has_new_deletes(const ManifestFile *manifests, size_t count, int64_t after)
{
	for (size_t i = 0; i < count; i++)
	{
		if (manifests[i].has_deletes && manifests[i].live_files != 0 &&
			manifests[i].sequence_number > after)
			return true;
	}
	return false;
}

const Conflict *
conflict_find_deletes(const ConflictCheck *check)
{
	DeleteCheck deletes = {.check = check, .scratch = check->scratch};
	int64_t		after = check->changes->base_sequence_number;
	ConcernedFile *const *files;
	DeleteIndex *index;
	const Conflict *conflict;
	size_t		count;
	const ManifestFile *manifests =
		manifest_list_read(check->scratch, check->store,
					   check->head->current_snapshot, &count);

	if (!has_new_deletes(manifests, count, after))
		return NULL;
	bytes_map_init(&deletes.files, check->scratch);
	bytes_map_init(&deletes.vectors, check->scratch);
	bytes_map_init(&deletes.partitions, check->scratch);
	buffer_init(&deletes.order, check->scratch);
	collect_reads(&deletes);
	collect_files(&deletes);
	index = delete_index_create(check->scratch, check->scratch);
	conflict = index_deletes(&deletes, manifests, count, after, true, index);
	if (conflict != NULL || delete_index_is_empty(index))
		return conflict;
	locate_files(&deletes, manifests, count);
	files = (const void *) deletes.order.data;
	for (size_t i = 0; i < deletes.files.count && conflict == NULL; i++)
		conflict = check_file(&deletes, files[i], index);
	return conflict;
}
