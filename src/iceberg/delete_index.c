/*
 * Which delete files apply to which data files.
 *
 * Scope (Iceberg spec, "Scan Planning"): a deletion vector names its data
 * file; position deletes reach files of their partition up to their own
 * sequence number; equality deletes reach older files of their partition, or
 * of the whole table when their spec is unpartitioned.  A vector supersedes
 * position deletes.
 *
 * Paths are compared without scheme and authority: engines spell the same file
 * differently in manifests and in delete files, and a missed match would bring
 * deleted rows back.  For the same reason whatever contradicts itself is an
 * error here, not a delete less.
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>

struct DeleteEntry
{
	DeleteFile	file;
	int64_t		sequence_number;
	const Partition *partition;
	const char *format;			/* NULL: one that can be read */
	const char *lower_path;		/* comparable bounds, NULL: unknown */
	const char *upper_path;
	bool		is_counted;		/* in the plan's numbers */
};

/* deletes that name one data file */
typedef struct PathDeletes
{
	DeleteEntry *vector;
	bool		has_two_vectors;
	DeleteList	positions;
} PathDeletes;

struct DeleteIndex
{
	LakeArena  *arena;			/* the plan's */
	LakeArena  *scratch;
	size_t		count;			/* of deletes */
	BytesMap	by_path;		/* comparable path -> PathDeletes */
	DeleteList global;			/* equality deletes of unpartitioned specs */

	/*
	 * What applies to the task at hand: a run of a list, as long as that is
	 * all, else copies of the pointers.
	 */
	const DeleteFile *const *run;
	size_t		run_count;
	LakeBuffer	mixed;			/* of const DeleteFile * */
	/* the newest copied array, which the next task often shares */
	const DeleteFile *const *last;
	size_t		last_size;		/* bytes */
};

DeleteIndex *
delete_index_create(LakeArena *arena, LakeArena *scratch)
{
	DeleteIndex *index = lake_alloc(scratch, sizeof *index);

	index->arena = arena;
	index->scratch = scratch;
	bytes_map_init(&index->by_path, scratch);
	delete_list_init(&index->global, scratch);
	buffer_init(&index->mixed, scratch);
	return index;
}

/* ---- lists by sequence number ---- */

void
delete_list_init(DeleteList *list, LakeArena *scratch)
{
	buffer_init(&list->entries, scratch);
	list->is_sorted = true;
	list->files = NULL;
	list->counted_from = 0;
}

static DeleteEntry **
list_entries(const DeleteList *list)
{
	return (DeleteEntry **) (void *) list->entries.data;
}

static size_t
list_count(const DeleteList *list)
{
	return list->entries.len / sizeof(DeleteEntry *);
}

static void
list_add(DeleteList *list, DeleteEntry *entry)
{
	buffer_append(&list->entries, &entry, sizeof entry);
	list->is_sorted = false;
}

static int
compare_entries(const void *a, const void *b)
{
	int64_t		left = (*(DeleteEntry *const *) a)->sequence_number;
	int64_t		right = (*(DeleteEntry *const *) b)->sequence_number;

	return (left > right) - (left < right);
}

static void
list_sort(DeleteList *list, LakeArena *arena)
{
	DeleteEntry **entries = list_entries(list);
	size_t		count = list_count(list);

	if (list->is_sorted)
		return;
	qsort(entries, count, sizeof *entries, compare_entries);
	list->files = lake_alloc_array(arena, count, sizeof *list->files);
	for (size_t i = 0; i < count; i++)
		list->files[i] = &entries[i]->file;
	list->counted_from = count;
	list->is_sorted = true;
}

/* index of the first entry whose sequence number is at least that */
static size_t
list_from(DeleteList *list, LakeArena *arena, int64_t sequence_number)
{
	DeleteEntry **entries = list_entries(list);
	size_t		low = 0;
	size_t		high = list_count(list);

	list_sort(list, arena);
	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (entries[middle]->sequence_number < sequence_number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- adding ---- */

static const char *
comparable(LakeArena *arena, LakeBytes path)
{
	return location_comparable(arena,
							   lake_strndup(arena, (const char *) path.data,
											path.len));
}

static _Noreturn void
throw_entry(const ManifestEntry *entry, const char *problem)
{
	lake_throw(LAKE_ERROR_CORRUPT, "delete file \"%.*s\" %s",
			   (int) entry->path.len, (const char *) entry->path.data,
			   problem);
}

/*
 * Bounds of the paths in a position delete file hold for comparable paths too
 * when both begin with the same scheme and authority: so do then all paths in
 * between.
 */
static void
set_path_bounds(LakeArena *scratch, const ManifestEntry *manifest_entry,
				DeleteEntry *entry)
{
	LakeBytes	bounds[] = {manifest_entry->lower_path,
	manifest_entry->upper_path};
	const char *texts[2];
	size_t		removed[2];

	for (int i = 0; i < 2; i++)
	{
		const char *bound;

		if (bounds[i].data == NULL ||
			memchr(bounds[i].data, '\0', bounds[i].len) != NULL)
			return;
		bound = lake_strndup(scratch, (const char *) bounds[i].data,
							 bounds[i].len);
		texts[i] = location_comparable(scratch, bound);
		removed[i] = bounds[i].len - strlen(texts[i]);
		/* more than a prefix was removed: the order may be another */
		if (strcmp(bound + removed[i], texts[i]) != 0)
			return;
	}
	if (removed[0] != removed[1] ||
		memcmp(bounds[0].data, bounds[1].data, removed[0]) != 0 ||
		strcmp(texts[0], texts[1]) > 0)
		return;
	entry->lower_path = texts[0];
	entry->upper_path = texts[1];
}

/*
 * The one data file that a position delete file is about, in comparable form;
 * NULL: it may be about several.  Equal bounds tell it as well, unless they
 * look cut: a cut one would match no data file and the deletes would be lost.
 */
static const char *
single_path(LakeArena *scratch, const ManifestEntry *manifest_entry,
			const DeleteEntry *entry)
{
	const char *name;

	if (manifest_entry->referenced_file.data != NULL)
		return comparable(scratch, manifest_entry->referenced_file);
	if (entry->lower_path == NULL ||
		strcmp(entry->lower_path, entry->upper_path) != 0)
		return NULL;
	name = strrchr(entry->lower_path, '/');
	return name != NULL && strchr(name, '.') != NULL ? entry->lower_path : NULL;
}

static PathDeletes *
path_deletes(DeleteIndex *index, const char *path)
{
	LakeBytes	key = {(const uint8_t *) path, strlen(path)};
	PathDeletes *deletes = bytes_map_find(&index->by_path, key);

	if (deletes == NULL)
	{
		deletes = lake_alloc(index->scratch, sizeof *deletes);
		delete_list_init(&deletes->positions, index->scratch);
		bytes_map_add(&index->by_path, key, deletes);
	}
	return deletes;
}

static void
add_vector(DeleteIndex *index, const ManifestEntry *manifest_entry,
		   DeleteEntry *entry)
{
	PathDeletes *deletes;

	if (manifest_entry->content != CONTENT_POSITION_DELETES)
		throw_entry(manifest_entry, "is a Puffin file, which has no equality "
					"deletes");
	if (manifest_entry->referenced_file.data == NULL)
		throw_entry(manifest_entry, "has no \"referenced_data_file\"");
	if (manifest_entry->content_offset < 0 ||
		manifest_entry->content_size < 0)
		throw_entry(manifest_entry, "has no \"content_offset\" and "
					"\"content_size_in_bytes\"");
	if (manifest_entry->record_count < 0)
		throw_entry(manifest_entry, "has no \"record_count\"");
	entry->file.kind = DELETE_VECTOR;
	entry->file.content_offset = manifest_entry->content_offset;
	entry->file.content_size = manifest_entry->content_size;
	deletes = path_deletes(index,
						   comparable(index->scratch,
									  manifest_entry->referenced_file));
	if (deletes->vector == NULL)
		deletes->vector = entry;
	else
		deletes->has_two_vectors = true;
}

static void
add_positions(DeleteIndex *index, const ManifestEntry *manifest_entry,
			  Partition *partition, DeleteEntry *entry)
{
	const char *path;

	entry->file.kind = DELETE_POSITION;
	set_path_bounds(index->scratch, manifest_entry, entry);
	path = single_path(index->scratch, manifest_entry, entry);
	list_add(path != NULL ? &path_deletes(index, path)->positions :
			 &partition->position_deletes, entry);
}

static void
add_equality(DeleteIndex *index, const ManifestEntry *manifest_entry,
			 Partition *partition, DeleteEntry *entry)
{
	int			count = manifest_entry->equality_count;
	int32_t    *ids = lake_alloc_array(index->arena, (size_t) count,
									   sizeof *ids);

	for (int i = 0; i < count; i++)
		ids[i] = (int32_t) manifest_entry->equality_ids[i].i;
	entry->file.kind = DELETE_EQUALITY;
	entry->file.equality_count = count;
	entry->file.equality_ids = ids;
	list_add(partition_spec_is_unpartitioned(partition->spec) ?
			 &index->global : &partition->equality_deletes, entry);
}

void
delete_index_add(DeleteIndex *index, const ManifestEntry *manifest_entry,
				 Partition *partition)
{
	DeleteEntry *entry;
	LakeBytes	format = manifest_entry->format;

	/* taking it as 0 would lose the deletes, any other number is a guess */
	if (manifest_entry->sequence_number < 0)
		throw_entry(manifest_entry, "has no sequence number");
	if (index->count == ICEBERG_MAX_PLANNED_FILES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the snapshot has more than %d delete files",
				   ICEBERG_MAX_PLANNED_FILES);
	entry = lake_alloc(index->arena, sizeof *entry);
	entry->sequence_number = manifest_entry->sequence_number;
	entry->partition = partition;
	entry->file.path = lake_strndup(index->arena,
									(const char *) manifest_entry->path.data,
									manifest_entry->path.len);
	entry->file.record_count = manifest_entry->record_count;
	entry->file.size = manifest_entry->size;
	index->count++;
	if (avro_field_is_word(format, "puffin"))
	{
		add_vector(index, manifest_entry, entry);
		return;
	}
	/* refused when a data file needs it */
	if (!avro_field_is_word(format, "parquet"))
		entry->format = lake_strndup(index->scratch,
									 (const char *) format.data, format.len);
	if (manifest_entry->content == CONTENT_EQUALITY_DELETES)
		add_equality(index, manifest_entry, partition, entry);
	else
		add_positions(index, manifest_entry, partition, entry);
}

bool
delete_index_is_empty(const DeleteIndex *index)
{
	return index->count == 0;
}

/* ---- attaching ---- */

/* counts a delete file that applies, once; refuses one that cannot be read */
static void
count_in_plan(DeleteEntry *entry, ScanPlan *plan)
{
	int64_t		count = entry->file.record_count;

	if (entry->is_counted)
		return;
	if (entry->format != NULL)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "delete file \"%s\" has the format %s, which is not "
				   "supported", entry->file.path, entry->format);
	entry->is_counted = true;
	plan->delete_files++;
	if (entry->file.kind == DELETE_EQUALITY)
		plan->has_equality_deletes = true;
	else if (count > 0 &&
			 __builtin_add_overflow(plan->rows_deleted, count,
									&plan->rows_deleted))
		plan->rows_deleted = INT64_MAX;
}

/* moves the run, if there is one, to where more can be added */
static void
mix(DeleteIndex *index)
{
	buffer_append(&index->mixed, index->run,
				  index->run_count * sizeof *index->run);
	index->run_count = 0;
}

static void
apply(DeleteIndex *index, DeleteEntry *entry, ScanPlan *plan)
{
	const DeleteFile *file = &entry->file;

	count_in_plan(entry, plan);
	mix(index);
	buffer_append(&index->mixed, &file, sizeof file);
}

/*
 * All of a list from that entry on.  A table that is upserted in a stream has
 * as many equality deletes as data files: each task borrows its part of the
 * one array.
 */
static void
apply_run(DeleteIndex *index, DeleteList *list, size_t from, ScanPlan *plan)
{
	size_t		count = list_count(list);

	while (list->counted_from > from)
	{
		list->counted_from--;
		count_in_plan(list_entries(list)[list->counted_from], plan);
	}
	if (from == count)
		return;
	if (index->run_count > 0 || index->mixed.len > 0)
	{
		mix(index);
		buffer_append(&index->mixed, list->files + from,
					  (count - from) * sizeof *list->files);
		return;
	}
	index->run = list->files + from;
	index->run_count = count - from;
}

/* a delete that names a data file is of the file's partition, or wrong */
static void
check_partition(const DeleteEntry *entry, const ScanTask *task,
				const Partition *partition)
{
	if (entry->partition != partition)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "delete file \"%s\" names data file \"%s\" of another "
				   "partition", entry->file.path, task->path);
}

static void
apply_vector(DeleteIndex *index, const PathDeletes *deletes,
			 const ScanTask *task, const Partition *partition, ScanPlan *plan)
{
	if (deletes->has_two_vectors)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "data file \"%s\" has several deletion vectors",
				   task->path);
	check_partition(deletes->vector, task, partition);
	if (deletes->vector->sequence_number < task->sequence_number)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "deletion vector in \"%s\" is older than its data file "
				   "\"%s\"", deletes->vector->file.path, task->path);
	apply(index, deletes->vector, plan);
}

/* older files only: their own commit's equality deletes do not reach them */
static void
apply_equality(DeleteIndex *index, DeleteList *list, const ScanTask *task,
			   ScanPlan *plan)
{
	if (list_count(list) == 0)
		return;
	if (task->sequence_number < 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "data file \"%s\" has no sequence number, which tells "
				   "whether equality deletes apply to it", task->path);
	if (task->sequence_number < INT64_MAX)
		apply_run(index, list,
				  list_from(list, index->arena, task->sequence_number + 1),
				  plan);
}

static void
apply_partition(DeleteIndex *index, DeleteList *list, const char *path,
				const ScanTask *task, ScanPlan *plan)
{
	size_t		count = list_count(list);

	for (size_t i = list_from(list, index->arena, task->sequence_number);
		 i < count; i++)
	{
		DeleteEntry *entry = list_entries(list)[i];

		if (entry->lower_path == NULL ||
			(strcmp(path, entry->lower_path) >= 0 &&
			 strcmp(path, entry->upper_path) <= 0))
			apply(index, entry, plan);
	}
}

static void
apply_by_path(DeleteIndex *index, DeleteList *list, const ScanTask *task,
			  const Partition *partition, ScanPlan *plan)
{
	size_t		count = list_count(list);

	for (size_t i = list_from(list, index->arena, task->sequence_number);
		 i < count; i++)
	{
		DeleteEntry *entry = list_entries(list)[i];

		check_partition(entry, task, partition);
		apply(index, entry, plan);
	}
}

static void
set_deletes(DeleteIndex *index, ScanTask *task)
{
	size_t		size = index->mixed.len;

	if (index->run_count > 0)
	{
		task->deletes = index->run;
		task->delete_count = (int) index->run_count;
		return;
	}
	if (size == 0)
		return;
	if (size != index->last_size ||
		memcmp(index->mixed.data, index->last, size) != 0)
	{
		const DeleteFile **copy = lake_alloc_raw(index->arena, size);

		memcpy(copy, index->mixed.data, size);
		index->last = copy;
		index->last_size = size;
	}
	task->deletes = index->last;
	task->delete_count = (int) (size / sizeof(DeleteFile *));
}

void
delete_index_attach(DeleteIndex *index, ScanTask *task, Partition *partition,
					ScanPlan *plan)
{
	const char *path;
	LakeBytes	key;
	PathDeletes *deletes;

	path = location_comparable(index->scratch, task->path);
	key.data = (const uint8_t *) path;
	key.len = strlen(path);
	deletes = bytes_map_find(&index->by_path, key);
	index->run_count = 0;
	index->mixed.len = 0;
	if (deletes != NULL && deletes->vector != NULL)
		apply_vector(index, deletes, task, partition, plan);
	else
	{
		apply_partition(index, &partition->position_deletes, path, task, plan);
		if (deletes != NULL)
			apply_by_path(index, &deletes->positions, task, partition,
						  plan);
	}
	apply_equality(index, &partition->equality_deletes, task, plan);
	apply_equality(index, &index->global, task, plan);
	set_deletes(index, task);
}
