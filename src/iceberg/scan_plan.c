/*
 * From a snapshot to scan tasks: manifests that can be passed over by their
 * summaries, entries by their partition tuple and their bounds, then the
 * deletes of what is left.
 *
 * Entries of one partition share its tuple, the predicate's verdict on it and
 * its deletes: those are found once a partition, not once a file.
 *
 * Iceberg spec, "Scan Planning".
 */
#include "iceberg/iceberg_int.h"

/* a spec and the predicate's projection on it */
typedef struct Projection
{
	const LakePartitionSpec *spec;
	const Predicate *predicate;
} Projection;

typedef struct Planner
{
	LakeArena  *arena;			/* the plan's */
	LakeArena  *scratch;		/* ends with planning */
	const LakeTable *table;
	LakeStore  *store;
	const Predicate *predicate; /* NULL = all rows */
	LakeBuffer	columns;		/* of BoundsColumn, the predicate's */
	LakeBuffer	projections;	/* of Projection */
	BytesMap	partitions;		/* key -> Partition */
	/* of the manifest at hand */
	LakeArena  *manifest_arena; /* holds its contents; NULL: the plan took it */
	const LakePartitionSpec *spec;
	LakeBuffer	copies;			/* of const ManifestTuple *, by index; NULL:
								 * not copied yet */
	DeleteIndex *deletes;
	LakeBuffer	tasks;			/* of ScanTask, in arena */
	LakeBuffer	task_tuples;	/* of const ManifestTuple *, one a task */
	ScanPlan   *plan;
} Planner;

/* ---- the predicate ---- */

void
plan_collect_columns(LakeBuffer *columns, const Predicate *predicate)
{
	const BoundsColumn *known = (const void *) columns->data;
	size_t		count = columns->len / sizeof *known;
	BoundsColumn column = {predicate->field_id, predicate->type};

	for (int i = 0; i < predicate->child_count; i++)
		plan_collect_columns(columns, predicate->children[i]);
	if (predicate->child_count > 0 || predicate->type == NULL)
		return;
	for (size_t i = 0; i < count; i++)
	{
		if (known[i].field_id == column.field_id)
			return;
	}
	buffer_append(columns, &column, sizeof column);
}

/* NULL: no predicate */
static const Predicate *
project(Planner *planner, const LakePartitionSpec *spec)
{
	const Projection *known = (const void *) planner->projections.data;
	size_t		count = planner->projections.len / sizeof *known;
	Projection	projection = {spec, NULL};

	if (planner->predicate == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
	{
		if (known[i].spec == spec)
			return known[i].predicate;
	}
	projection.predicate = predicate_project(planner->scratch,
											 planner->predicate, spec);
	buffer_append(&planner->projections, &projection, sizeof projection);
	return projection.predicate;
}

/* the index of a partition field whose values are of that type; -1 if none */
static int
find_field(const LakePartitionSpec *spec, int32_t field_id,
		   const LakeType *type)
{
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *field = &spec->fields[i];

		if (field->field_id == field_id && field->result_type != NULL &&
			field->result_type->kind == type->kind)
			return i;
	}
	return -1;
}

static bool
is_float(const LakeType *type)
{
	return type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE;
}

/* ---- manifests ---- */

typedef struct SummaryLookup
{
	const LakePartitionSpec *spec;
	const ManifestFile *manifest;
} SummaryLookup;

static bool
summary_bounds(void *arg, int32_t field_id, const LakeType *type,
			   LakeBounds *bounds)
{
	const SummaryLookup *lookup = arg;
	int			i = find_field(lookup->spec, field_id, type);
	const FieldSummary *summary;

	if (i < 0 || i >= lookup->manifest->summary_count)
		return false;
	summary = &lookup->manifest->summaries[i];
	bounds->value_count = -1;
	bounds->null_count = summary->has_null ? -1 : 0;
	bounds->nan_count = is_float(type) && summary->has_nan ? -1 : 0;
	bounds_set(bounds, type, summary->lower, summary->upper);
	return true;
}

static bool
manifest_may_match(Planner *planner, const ManifestFile *manifest)
{
	SummaryLookup lookup;
	const Predicate *projected;

	lookup.manifest = manifest;
	lookup.spec = iceberg_find_spec(planner->table, manifest->spec_id);
	/* summaries that do not fit the spec are of another one */
	if (lookup.spec == NULL ||
		manifest->summary_count != lookup.spec->field_count)
		return true;
	projected = project(planner, lookup.spec);
	return projected == NULL ||
		predicate_may_match(projected, summary_bounds, &lookup);
}

/* ---- partitions ---- */

/* a tuple of contents that the plan does not hold; values in the plan's arena */
static const ManifestTuple *
copy_tuple(Planner *planner, const ManifestTuple *tuple)
{
	const LakePartitionSpec *spec = planner->spec;
	ManifestTuple *copy = lake_alloc(planner->scratch, sizeof *copy);
	LakeValue  *values = lake_alloc_array(planner->arena,
										  (size_t) spec->field_count,
										  sizeof *values);

	copy->key.len = tuple->key.len;
	copy->key.data = (const uint8_t *)
		lake_strndup(planner->scratch, (const char *) tuple->key.data,
					 tuple->key.len);
	for (int i = 0; i < spec->field_count; i++)
	{
		values[i] = tuple->values[i];
		if (!values[i].is_null &&
			lake_type_has_bytes(spec->fields[i].result_type))
			values[i].bytes.data = (const uint8_t *)
				lake_strndup(planner->arena,
							 (const char *) values[i].bytes.data,
							 values[i].bytes.len);
	}
	copy->values = values;
	return copy;
}

/* copies each tuple of the manifest at hand once */
static const ManifestTuple *
planned_tuple(Planner *planner, const ManifestTuple *tuple)
{
	const ManifestTuple **copies =
		(const ManifestTuple **) (void *) planner->copies.data;

	if (copies[tuple->index] == NULL)
		copies[tuple->index] = copy_tuple(planner, tuple);
	return copies[tuple->index];
}

bool
plan_tuple_bounds(void *arg, int32_t field_id, const LakeType *type,
				  LakeBounds *bounds)
{
	const TupleLookup *lookup = arg;
	int			i = find_field(lookup->spec, field_id, type);

	if (i < 0)
		return false;
	bounds_set_value(bounds, type, &lookup->values[i]);
	return true;
}

/* partitions are a matter of deletes: data files alone do not need them */
static Partition *
find_partition(Planner *planner, const LakePartitionSpec *spec,
			   const ManifestTuple *tuple)
{
	Partition  *partition = bytes_map_find(&planner->partitions, tuple->key);
	TupleLookup lookup = {spec, tuple->values};
	const Predicate *projected;

	if (partition != NULL)
		return partition;
	partition = lake_alloc(planner->scratch, sizeof *partition);
	partition->key.data = (const uint8_t *)
		lake_strndup(planner->scratch, (const char *) tuple->key.data,
					 tuple->key.len);
	partition->key.len = tuple->key.len;
	partition->spec = spec;
	delete_list_init(&partition->position_deletes, planner->scratch);
	delete_list_init(&partition->equality_deletes, planner->scratch);
	projected = project(planner, spec);
	partition->may_match = projected == NULL ||
		predicate_may_match(projected, plan_tuple_bounds, &lookup);
	bytes_map_add(&planner->partitions, partition->key, partition);
	return partition;
}

/* ---- data files ---- */

/* files of a manifest that may match, one bit each */
typedef struct Survivors
{
	size_t		count;
	uint64_t   *blocks;
} Survivors;

static uint64_t
files_without_rows(const ManifestDataFile *files, uint64_t among)
{
	uint64_t	empty = 0;

	for (; among != 0; among &= among - 1)
	{
		int			bit = __builtin_ctzll(among);

		if (files[bit].record_count == 0)
			empty |= UINT64_C(1) << bit;
	}
	return empty;
}

static void
prune_files(Planner *planner, const ManifestContents *contents,
			Survivors *survivors)
{
	const BoundsColumn *columns = (const void *) planner->columns.data;
	int			column_count =
		(int) (planner->columns.len / sizeof *columns);
	const PackedBounds **bounds = lake_alloc_array(planner->manifest_arena,
												   (size_t) column_count,
												   sizeof *bounds);
	const Predicate *projected = project(planner, planner->spec);
	ScanPlan   *plan = planner->plan;

	for (int i = 0; i < column_count; i++)
		bounds[i] = manifest_contents_bounds(contents, &columns[i]);
	for (size_t first = 0; first < contents->file_count; first += PACKED_BLOCK)
	{
		size_t		block = first / PACKED_BLOCK;
		size_t		left = contents->file_count - first;
		uint64_t	files = UINT64_MAX;
		int			counts[3];

		lake_check_interrupts();
		if (left < PACKED_BLOCK)
			files = (UINT64_C(1) << left) - 1;
		counts[0] = __builtin_popcountll(files);
		if (projected != NULL)
			files = packed_bounds_match(projected, contents->tuple_bounds,
										contents->tuple_bounds_count, block,
										files);
		counts[1] = __builtin_popcountll(files);
		if (planner->predicate != NULL)
		{
			files = packed_bounds_match(planner->predicate, bounds,
										column_count, block, files);
			files &= ~files_without_rows(&contents->files[first], files);
		}
		counts[2] = __builtin_popcountll(files);
		plan->files_total += counts[0];
		plan->files_skipped_by_partition += counts[0] - counts[1];
		plan->files_skipped_by_bounds += counts[1] - counts[2];
		survivors->blocks[block] = files;
		survivors->count += (size_t) counts[2];
	}
}

static void
add_task(Planner *planner, const ManifestDataFile *file, bool is_shared)
{
	const ManifestTuple *tuple = is_shared ? file->tuple :
		planned_tuple(planner, file->tuple);
	ScanTask	task;

	if (planner->tasks.len / sizeof task == ICEBERG_MAX_PLANNED_FILES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the scan has more than %d data files",
				   ICEBERG_MAX_PLANNED_FILES);
	if (file->format != NULL)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "data file \"%s\" has the format %s, which is not "
				   "supported", file->path, file->format);
	memset(&task, 0, sizeof task);
	task.path = is_shared ? file->path :
		lake_strdup(planner->arena, file->path);
	task.record_count = file->record_count;
	task.size = file->size;
	task.spec = planner->spec;
	task.partition = tuple->values;
	task.sequence_number = file->sequence_number;
	task.first_row_id = file->first_row_id;
	buffer_append(&planner->tasks, &task, sizeof task);
	buffer_append(&planner->task_tuples, &tuple, sizeof tuple);
}

/*
 * Paths and tuples stay where they are, if the plan takes a good part of a
 * large manifest; it holds the manifest's contents then.  A few are copied.
 */
static bool
is_worth_holding(const ManifestContents *contents, size_t count)
{
	return count >= 1000 && count >= contents->file_count / 4;
}

static void
plan_data_files(Planner *planner, const ManifestContents *contents)
{
	size_t		block_count = (contents->file_count + PACKED_BLOCK - 1) /
		PACKED_BLOCK;
	Survivors	survivors = {0};
	bool		is_shared;

	survivors.blocks = lake_alloc_array(planner->manifest_arena, block_count,
										sizeof *survivors.blocks);
	prune_files(planner, contents, &survivors);
	is_shared = is_worth_holding(contents, survivors.count);
	buffer_reserve(&planner->tasks, survivors.count * sizeof(ScanTask));
	if (survivors.count > 0 && !is_shared)
	{
		size_t		size = contents->tuple_count * sizeof(ManifestTuple *);

		planner->copies.len = 0;
		buffer_reserve(&planner->copies, size);
		memset(planner->copies.data, 0, size);
	}
	for (size_t block = 0; block < block_count; block++)
	{
		const ManifestDataFile *files = &contents->files[block * PACKED_BLOCK];

		lake_check_interrupts();
		for (uint64_t left = survivors.blocks[block]; left != 0;
			 left &= left - 1)
			add_task(planner, &files[__builtin_ctzll(left)], is_shared);
	}
	if (is_shared)
	{
		lake_arena_adopt(planner->arena, planner->manifest_arena);
		planner->manifest_arena = NULL;
	}
}

static void
plan_deletes(Planner *planner, const ManifestContents *contents)
{
	for (size_t i = 0; i < contents->delete_count; i++)
	{
		const ManifestDeleteFile *file = &contents->deletes[i];
		Partition  *partition = find_partition(planner, planner->spec,
											   file->tuple);

		lake_check_interrupts();
		/* no data file of a partition that cannot match is read */
		if (partition->may_match)
			delete_index_add(planner->deletes, &file->entry, partition);
	}
}

static void
plan_manifest(Planner *planner, const ManifestFile *manifest)
{
	const BoundsColumn *columns = (const void *) planner->columns.data;
	int			column_count =
		(int) (planner->columns.len / sizeof *columns);
	const ManifestContents *contents;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading manifest", manifest->path);
	if (planner->manifest_arena == NULL)
		planner->manifest_arena = lake_arena_create(planner->scratch,
													"manifest planning");
	contents = manifest_contents_get(planner->manifest_arena, planner->arena,
									 planner->table, planner->store, manifest,
									 columns,
									 manifest->has_deletes ? 0 : column_count,
									 &planner->spec);
	plan_deletes(planner, contents);
	if (contents->file_count > 0)
		plan_data_files(planner, contents);
	lake_frame_pop(&frame);
	if (planner->manifest_arena != NULL)
		lake_arena_reset(planner->manifest_arena);
}

static void
plan_manifests(Planner *planner, const ManifestFile *manifests, size_t count,
			   bool has_deletes)
{
	for (size_t i = 0; i < count; i++)
	{
		const ManifestFile *manifest = &manifests[i];

		lake_check_interrupts();
		if (manifest->has_deletes != has_deletes || manifest->live_files == 0)
			continue;
		if (manifest_may_match(planner, manifest))
			plan_manifest(planner, manifest);
		else if (!has_deletes && manifest->live_files > 0)
		{
			planner->plan->files_total += manifest->live_files;
			planner->plan->files_skipped_by_partition += manifest->live_files;
		}
	}
}

/* ---- the plan ---- */

static void
finish_tasks(Planner *planner)
{
	ScanPlan   *plan = planner->plan;
	ScanTask   *tasks = (ScanTask *) (void *) planner->tasks.data;
	const ManifestTuple *const *tuples =
	(const void *) planner->task_tuples.data;
	bool		has_deletes = !delete_index_is_empty(planner->deletes);

	plan->tasks = tasks;
	plan->task_count = (int) (planner->tasks.len / sizeof *tasks);
	for (int i = 0; i < plan->task_count; i++)
	{
		ScanTask   *task = &tasks[i];

		lake_check_interrupts();
		if (has_deletes)
			delete_index_attach(planner->deletes, task,
								find_partition(planner, task->spec, tuples[i]),
								plan);
		/* known only now: where it matters, attaching has refused it */
		if (task->sequence_number < 0)
			task->sequence_number = 0;
		if (__builtin_add_overflow(plan->bytes_planned, task->size,
								   &plan->bytes_planned))
			plan->bytes_planned = INT64_MAX;
		if (task->record_count < 0 || plan->rows_planned < 0 ||
			__builtin_add_overflow(plan->rows_planned, task->record_count,
								   &plan->rows_planned))
			plan->rows_planned = -1;
	}
}

static const ScanPlan *
iceberg_plan(LakeArena *arena, const LakeTable *table, LakeStore *store,
			 const LakeSnapshot *snapshot, const Predicate *predicate)
{
	LakeArena  *scratch = lake_arena_create(arena, "scan planning");
	Planner		planner;
	const ManifestFile *manifests;
	size_t		count;

	memset(&planner, 0, sizeof planner);
	planner.arena = arena;
	planner.scratch = scratch;
	planner.table = table;
	planner.store = store;
	planner.predicate = predicate;
	planner.plan = lake_alloc(arena, sizeof *planner.plan);
	if (snapshot != NULL)
	{
		buffer_init(&planner.columns, scratch);
		buffer_init(&planner.projections, scratch);
		buffer_init(&planner.copies, scratch);
		buffer_init(&planner.task_tuples, scratch);
		buffer_init(&planner.tasks, arena);
		bytes_map_init(&planner.partitions, scratch);
		planner.deletes = delete_index_create(arena, scratch);
		if (predicate != NULL)
			plan_collect_columns(&planner.columns, predicate);
		manifests = manifest_list_read(scratch, store, snapshot, &count);
		plan_manifests(&planner, manifests, count, false);
		if (planner.tasks.len > 0)
			plan_manifests(&planner, manifests, count, true);
		finish_tasks(&planner);
	}
	lake_arena_destroy(scratch);
	return planner.plan;
}

const LakeFormat iceberg_format = {
	.name = "iceberg",
	.open = iceberg_metadata_read,
	.resolve = iceberg_resolve,
	.plan = iceberg_plan,
	.estimate = iceberg_estimate,
	.write_options = iceberg_write_options,
	.commit_create = iceberg_commit_create,
	.commit_build = iceberg_commit_build,
	.create = iceberg_create
};
