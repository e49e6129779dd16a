/*
 * A table in a directory of its own that a test commits to, through the real
 * store; data files are names only, since commits never open them.
 */
#ifndef LAKE_COMMIT_FIXTURE_H
#define LAKE_COMMIT_FIXTURE_H

#include <stdlib.h>
#include <unistd.h>

#include "iceberg/iceberg_int.h"
#include "unit.h"

typedef struct Lake
{
	LakeArena  *arena;
	char	   *directory;
	LakePathRules rules;
	LakeStore  *store;
	const char *pointer;		/* what a catalog would have */
	int			commits;		/* for unique names */
} Lake;

static inline void
lake_remove(void *arg)
{
	const Lake *lake = arg;
	char		command[256];

	snprintf(command, sizeof command, "rm -rf '%s'", lake->directory);
	if (system(command) != 0)
		abort();
}

/* a table (id int 1, part int 2) with the specs () 0 and (part) 1 */
static inline Lake *
lake_create(LakeArena *arena, int format_version, int default_spec,
			const char *properties)
{
	Lake	   *lake = lake_alloc(arena, sizeof *lake);
	const char *schema = "{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
	"{\"id\":1,\"name\":\"id\",\"required\":false,\"type\":\"int\"},"
	"{\"id\":2,\"name\":\"part\",\"required\":false,\"type\":\"int\"}]}";
	const char *fields = "[{\"name\":\"part\",\"transform\":\"identity\","
	"\"source-id\":2,\"field-id\":1000}]";
	const char *version_members = "";
	const char *text;
	LakeBytes	bytes;

	lake->arena = arena;
	lake->directory = lake_strdup(arena, "/tmp/lake_commit_XXXXXX");
	if (mkdtemp(lake->directory) == NULL)
		abort();
	lake_defer(arena, lake_remove, lake);
	path_rules_allow(arena, &lake->rules, lake->directory);
	lake->store = store_local_create(arena, &lake->rules);
	lake->store->puts = put_set_create(arena);
	if (format_version == 1)
		version_members = lake_printf(arena, "\"schema\":%s,"
									  "\"partition-spec\":%s,", schema,
									  default_spec == 0 ? "[]" : fields);
	else if (format_version == 2)
		version_members = "\"last-sequence-number\":0,";
	else
		version_members = "\"last-sequence-number\":0,\"next-row-id\":0,";
	text = lake_printf(arena, "{\"format-version\":%d,"
					   "\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
					   "\"location\":\"%s\",\"last-updated-ms\":1000,"
					   "\"last-column-id\":2,%s\"current-schema-id\":0,"
					   "\"schemas\":[%s],\"default-spec-id\":%d,"
					   "\"partition-specs\":[{\"spec-id\":0,\"fields\":[]},"
					   "{\"spec-id\":1,\"fields\":%s}],"
					   "\"last-partition-id\":1000,"
					   "\"default-sort-order-id\":0,"
					   "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],"
					   "\"properties\":{%s},\"current-snapshot-id\":%s,"
					   "\"refs\":{},\"snapshots\":[],\"snapshot-log\":[],"
					   "\"metadata-log\":[]}", format_version,
					   lake->directory, version_members, schema, default_spec,
					   fields, properties, format_version < 3 ? "-1" : "null");
	lake->pointer = lake_printf(arena, "%s/metadata/00000-a.metadata.json",
								lake->directory);
	bytes.data = (const uint8_t *) text;
	bytes.len = strlen(text);
	lake_store_put(lake->store, lake->pointer, bytes);
	put_set_publish(lake->store, lake->store->puts);
	return lake;
}

static inline const LakeTable *
lake_head(const Lake *lake)
{
	return iceberg_metadata_read(lake->arena, lake->store, lake->pointer);
}

/* ---- files ---- */

/* part: of a file of spec 1; -1: of spec 0 */
static inline WrittenFile *
lake_file(Lake *lake, WrittenKind kind, const char *name, int64_t rows,
		  int part)
{
	WrittenFile *file = lake_alloc(lake->arena, sizeof *file);
	LakeValue  *value = lake_alloc(lake->arena, sizeof *value);

	value->i = part;
	file->kind = kind;
	file->path = name;
	file->spec = iceberg_find_spec(lake_head(lake), part < 0 ? 0 : 1);
	file->partition = value;
	file->record_count = rows;
	file->size = 1000;
	file->sort_order_id = -1;
	file->content_offset = -1;
	return file;
}

/* data with bounds of id */
static inline WrittenFile *
lake_data(Lake *lake, const char *name, int64_t rows, int part, int32_t lower,
		  int32_t upper)
{
	WrittenFile *file = lake_file(lake, WRITTEN_DATA, name, rows, part);
	ColumnMetrics *metrics = lake_alloc(lake->arena, sizeof *metrics);
	int32_t    *bounds = lake_alloc(lake->arena, 2 * sizeof *bounds);

	bounds[0] = lower;
	bounds[1] = upper;
	metrics->field_id = 1;
	metrics->size = 10;
	metrics->value_count = rows;
	metrics->nan_count = -1;
	metrics->lower.data = (const uint8_t *) &bounds[0];
	metrics->lower.len = 4;
	metrics->upper.data = (const uint8_t *) &bounds[1];
	metrics->upper.len = 4;
	file->metric_count = 1;
	file->metrics = metrics;
	file->sort_order_id = 0;
	return file;
}

static inline WrittenFile *
lake_positions(Lake *lake, const char *name, int64_t rows, int part,
			   const char *referenced)
{
	WrittenFile *file = lake_file(lake, WRITTEN_POSITION_DELETES, name, rows,
								  part);

	file->referenced_file = referenced;
	return file;
}

static inline WrittenFile *
lake_vector(Lake *lake, const char *name, int64_t rows, int part,
			const char *referenced, int64_t offset)
{
	WrittenFile *file = lake_file(lake, WRITTEN_DELETION_VECTOR, name, rows,
								  part);

	file->referenced_file = referenced;
	file->content_offset = offset;
	file->content_size = 40;
	return file;
}

/* ---- real delete files ---- */

/*
 * Deletes of rows of one file of spec 1, as the format version has them;
 * is_scoped: of that file alone.
 */
static inline const WrittenFile *
lake_delete_rows(Lake *lake, const char *path, int part, bool is_scoped,
				 const uint64_t *rows, int count)
{
	const LakeTable *head = lake_head(lake);
	LakeBitmap *bitmap = bitmap_create(lake->arena);
	LakeValue  *value = lake_alloc(lake->arena, sizeof *value);
	FileDeletes deletes[2] = {{.path = path, .positions = bitmap},
	{.path = "/z", .positions = bitmap}};
	WriteOptions *write = lake_alloc(lake->arena, sizeof *write);
	FileSinkOptions options = {.store = lake->store, .write = write,
		.file_prefix = lake_printf(lake->arena, "deletes%d",
								   ++lake->commits),
		.file_number = &lake->commits,
	.memory_limit = 1 << 20};
	int			file_count;

	*write = *iceberg_write_options(lake->arena, head);
	write->deletes_by_file = is_scoped;
	value->i = part;
	for (int i = 0; i < count; i++)
		bitmap_add(bitmap, rows[i]);
	for (int i = 0; i < 2; i++)
	{
		deletes[i].spec = iceberg_find_spec(head, 1);
		deletes[i].partition = value;
	}
	if (head->format_version > 2)
		return deletion_vectors_write(lake->arena, &options, deletes, 1)[0];
	return position_deletes_write(lake->arena, &options, deletes,
								  is_scoped ? 1 : 2, &file_count)[0];
}

/* ---- change sets; up to 8 of everything ---- */

typedef struct LakeChanges
{
	ChangeSet	set;			/* counts grow by the functions below */
	const WrittenFile *added[8];
	RemovedFile removed[8];
	ChangeRead	reads[8];
	const char *referenced[8];
} LakeChanges;

/* what a transaction that has read the head wants to change */
static inline LakeChanges *
lake_changes(const Lake *lake)
{
	LakeChanges *changes = lake_alloc(lake->arena, sizeof *changes);
	const LakeTable *head = lake_head(lake);

	changes->set.added = changes->added;
	changes->set.removed = changes->removed;
	changes->set.reads = changes->reads;
	changes->set.referenced = changes->referenced;
	changes->set.base_snapshot_id = -1;
	if (head->current_snapshot != NULL)
	{
		changes->set.base_snapshot_id = head->current_snapshot->id;
		changes->set.base_sequence_number =
			head->current_snapshot->sequence_number;
	}
	return changes;
}

static inline LakeChanges *
lake_add(LakeChanges *changes, const WrittenFile *file)
{
	changes->added[changes->set.added_count++] = file;
	if (file->kind != WRITTEN_DATA && file->referenced_file != NULL)
		changes->referenced[changes->set.referenced_count++] =
			file->referenced_file;
	return changes;
}

static inline LakeChanges *
lake_drop(LakeChanges *changes, const char *path)
{
	RemovedFile *removed = &changes->removed[changes->set.removed_count++];

	removed->path = path;
	removed->content_offset = -1;
	return changes;
}

static inline LakeChanges *
lake_drop_deletes(LakeChanges *changes, const char *path, int64_t offset)
{
	lake_drop(changes, path);
	changes->removed[changes->set.removed_count - 1].is_deletes = true;
	changes->removed[changes->set.removed_count - 1].content_offset = offset;
	return changes;
}

static inline LakeChanges *
lake_read(LakeChanges *changes, bool is_update, bool is_rewrite,
		  ChangeIsolation isolation, const Predicate *filter)
{
	ChangeRead	read = {is_update, is_rewrite, isolation, filter};

	changes->reads[changes->set.read_count++] = read;
	return changes;
}

/* ---- commits ---- */

static inline LakeCommit *
lake_begin(Lake *lake, const ChangeSet *changes,
		   const char *const *properties, int property_count)
{
	CommitOptions *options = lake_alloc(lake->arena, sizeof *options);

	options->store = lake->store;
	options->changes = changes;
	options->properties = properties;
	options->property_count = property_count;
	options->file_prefix = lake_printf(lake->arena, "c%d", ++lake->commits);
	return iceberg_commit_create(lake->arena, options);
}

/* the swap of the pointer, if there is something to swap */
static inline void
lake_swap(Lake *lake, const CommitAttempt *attempt)
{
	CHECK_STRING(attempt->conflict == NULL ? "" : attempt->conflict, "");
	if (attempt->metadata_location == NULL)
		return;
	put_set_publish(lake->store, lake->store->puts);
	lake->pointer = attempt->metadata_location;
}

/* from begin to swap; returns the snapshot's id */
static inline int64_t
lake_commit(Lake *lake, LakeChanges *changes)
{
	LakeCommit *commit = lake_begin(lake, &changes->set, NULL, 0);
	CommitAttempt attempt = iceberg_commit_build(commit, lake_head(lake));

	lake_swap(lake, &attempt);
	return attempt.snapshot_id;
}

static inline int64_t
lake_append(Lake *lake, const WrittenFile *file)
{
	return lake_commit(lake, lake_add(lake_changes(lake), file));
}

/* ---- what other engines do ---- */

/* the table's metadata with a text replaced, as another engine would write it */
static inline void
lake_edit(Lake *lake, const char *from, const char *to)
{
	LakeBytes	text = iceberg_read_metadata_text(lake->arena, lake->store,
												  lake->pointer);
	const char *old = lake_strndup(lake->arena, (const char *) text.data,
								   text.len);
	const char *place = strstr(old, from);
	const char *edited;

	CHECK(place != NULL);
	if (place == NULL)
		return;
	edited = lake_printf(lake->arena, "%.*s%s%s", (int) (place - old), old, to,
						 place + strlen(from));
	lake->pointer = lake_printf(lake->arena,
								"%s/metadata/%05d-edit.metadata.json",
								lake->directory, 90000 + ++lake->commits);
	text.data = (const uint8_t *) edited;
	text.len = strlen(edited);
	lake_store_put(lake->store, lake->pointer, text);
	put_set_publish(lake->store, lake->store->puts);
}

/* main goes back to a snapshot */
static inline void
lake_roll_back(Lake *lake, int64_t snapshot_id)
{
	const LakeTable *head = lake_head(lake);
	MetadataUpdate update = {.ref = "main", .ref_snapshot_id = snapshot_id,
	.last_updated_ms = iceberg_last_updated_ms(head) + 1};
	LakeBytes	text = iceberg_read_metadata_text(lake->arena, lake->store,
												  lake->pointer);

	text = metadata_apply(lake->arena, text, lake->pointer, &update);
	lake->pointer = metadata_put(lake->arena, lake->store, head->location,
								 lake->pointer, false, text);
	put_set_publish(lake->store, lake->store->puts);
}

/* ---- looking at it ---- */

static inline const IcebergSnapshotInfo *
lake_snapshot(const Lake *lake)
{
	const LakeTable *head = lake_head(lake);
	IcebergSnapshotWalk *walk = iceberg_walk_snapshots(lake->arena, head);
	const IcebergSnapshotInfo *info;

	while ((info = iceberg_next_snapshot(walk, lake->arena)) != NULL)
	{
		if (head->current_snapshot != NULL &&
			info->id == head->current_snapshot->id)
			return info;
	}
	return NULL;
}

/* a value of the current snapshot's summary; "" when it is absent */
static inline const char *
lake_summary(const Lake *lake, const char *key)
{
	const IcebergSnapshotInfo *info = lake_snapshot(lake);

	if (info == NULL)
		return "";
	if (strcmp(key, "operation") == 0)
		return info->operation;
	for (int i = 0; i < info->summary_count; i++)
	{
		if (strcmp(info->summary[2 * i], key) == 0)
			return info->summary[2 * i + 1];
	}
	return "";
}

/* names of a manifest's entries: "+A(2,3) =B(1,1) -C(1,1)", by status */
static inline const char *
lake_entries(const Lake *lake, const LakeTable *head,
			 const ManifestFile *manifest)
{
	static const char statuses[] = "=+-";
	const LakePartitionSpec *spec = iceberg_find_spec(head,
													  manifest->spec_id);
	EntryWalk  *walk = entry_walk_open(lake->arena, head, lake->store,
									   manifest, spec, true);
	const IcebergEntry *entry;
	const char *text = "";

	while ((entry = entry_walk_next(walk)) != NULL)
	{
		text = lake_printf(lake->arena, "%s %c%.*s(%lld,%lld", text,
						   statuses[entry->status], (int) entry->path.len,
						   (const char *) entry->path.data,
						   (long long) entry->sequence_number,
						   (long long) entry->file_sequence_number);
		if (entry->first_row_id != ICEBERG_NONE)
			text = lake_printf(lake->arena, "%s,%lld", text,
							   (long long) entry->first_row_id);
		text = lake_printf(lake->arena, "%s)", text);
	}
	return text;
}

/*
 * The manifests of the current snapshot, one a line: content, sequence number,
 * minimum, files and rows (added/existing/deleted), first row id, entries
 */
static inline const char *
lake_manifests(const Lake *lake)
{
	const LakeTable *head = lake_head(lake);
	const char *text = "";
	size_t		count;
	const ManifestFile *manifests =
		manifest_list_read(lake->arena, lake->store, head->current_snapshot,
					   &count);

	for (size_t i = 0; i < count; i++)
	{
		const ManifestFile *m = &manifests[i];

		text = lake_printf(lake->arena, "%s%s %lld %lld %lld/%lld/%lld "
						   "%lld/%lld/%lld %lld:%s\n", text,
						   m->has_deletes ? "deletes" : "data",
						   (long long) m->sequence_number,
						   (long long) m->min_sequence_number,
						   (long long) m->added_files,
						   (long long) m->existing_files,
						   (long long) m->deleted_files,
						   (long long) m->added_rows,
						   (long long) m->existing_rows,
						   (long long) m->deleted_rows,
						   (long long) m->first_row_id,
						   lake_entries(lake, head, m));
	}
	return text;
}

static inline int
lake_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* what a scan would read, sorted: "A B/p1/p2", deletes behind their file */
static inline const char *
lake_files(const Lake *lake)
{
	const LakeTable *head = lake_head(lake);
	const ScanPlan *plan = iceberg_format.plan(lake->arena, head, lake->store,
											   head->current_snapshot, NULL);
	const char **names = lake_alloc_array(lake->arena,
										  (size_t) plan->task_count + 1,
										  sizeof *names);
	const char *text = "";

	for (int i = 0; i < plan->task_count; i++)
	{
		names[i] = plan->tasks[i].path;
		for (int j = 0; j < plan->tasks[i].delete_count; j++)
			names[i] = lake_printf(lake->arena, "%s|%s", names[i],
								   plan->tasks[i].deletes[j]->path);
	}
	qsort(names, (size_t) plan->task_count, sizeof *names,
		  lake_compare_names);
	for (int i = 0; i < plan->task_count; i++)
		text = lake_printf(lake->arena, "%s%s%s", text, i == 0 ? "" : " ",
						   names[i]);
	return text;
}

/* files in the table's metadata directory */
static inline int
lake_metadata_files(const Lake *lake)
{
	LakeListEntry *entries;
	size_t		count = 0;

	if (!lake_store_list(lake->store, lake->arena,
						 lake_printf(lake->arena, "%s/metadata",
									 lake->directory), &entries, &count))
		return 0;
	return (int) count;
}

#endif							/* LAKE_COMMIT_FIXTURE_H */
