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

#include <math.h>

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
	LakeBuffer	key;			/* of the newest entry's partition */
	Partition  *last_partition; /* of the entry before */
	DeleteIndex *deletes;
	LakeBuffer	tasks;			/* of ScanTask, in arena */
	LakeBuffer	task_partitions;	/* of Partition *, one a task */
	ScanPlan   *plan;
} Planner;

/* ---- the predicate ---- */

static void
collect_columns(LakeBuffer *columns, const Predicate *predicate)
{
	const BoundsColumn *known = (const void *) columns->data;
	size_t		count = columns->len / sizeof *known;
	BoundsColumn column = {predicate->field_id, predicate->type};

	for (int i = 0; i < predicate->child_count; i++)
		collect_columns(columns, predicate->children[i]);
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

static bool
tuple_bounds(void *arg, int32_t field_id, const LakeType *type,
			 LakeBounds *bounds)
{
	const Partition *partition = arg;
	int			i = find_field(partition->spec, field_id, type);
	const LakeValue *value;
	bool		is_nan;

	if (i < 0)
		return false;
	value = &partition->values[i];
	is_nan = !value->is_null && is_float(type) && isnan(value->d);
	bounds->value_count = 1;
	bounds->null_count = value->is_null;
	bounds->nan_count = is_nan;
	bounds->has_lower = !value->is_null && !is_nan;
	bounds->has_upper = bounds->has_lower;
	bounds->lower = *value;
	bounds->upper = *value;
	return true;
}

/* the partition of the reader's current entry */
static Partition *
find_partition(Planner *planner, const ManifestReader *reader)
{
	LakeBuffer *buffer = &planner->key;
	LakeBytes	key;
	Partition  *partition;
	const Predicate *projected;

	buffer->len = 0;
	manifest_reader_partition_key(reader, buffer);
	key.data = buffer->data;
	key.len = buffer->len;
	/* manifests are mostly written in order of partitions */
	if (planner->last_partition != NULL &&
		planner->last_partition->key.len == key.len &&
		memcmp(planner->last_partition->key.data, key.data, key.len) == 0)
		return planner->last_partition;

	partition = bytes_map_find(&planner->partitions, key);
	if (partition == NULL)
	{
		partition = lake_alloc(planner->scratch, sizeof *partition);
		partition->key.data = (const uint8_t *)
			lake_strndup(planner->scratch, (const char *) key.data, key.len);
		partition->key.len = key.len;
		partition->spec = manifest_reader_spec(reader);
		partition->values = manifest_reader_partition(reader,
													  planner->scratch);
		delete_list_init(&partition->position_deletes, planner->scratch);
		delete_list_init(&partition->equality_deletes, planner->scratch);
		projected = project(planner, partition->spec);
		partition->may_match = projected == NULL ||
			predicate_may_match(projected, tuple_bounds, partition);
		bytes_map_add(&planner->partitions, partition->key, partition);
	}
	planner->last_partition = partition;
	return partition;
}

/* ---- entries ---- */

static bool
entry_may_match(Planner *planner, ManifestReader *reader,
				const ManifestEntry *entry)
{
	if (planner->predicate == NULL)
		return true;
	return entry->record_count != 0 &&
		predicate_may_match(planner->predicate, manifest_reader_bounds,
							reader);
}

static void
add_task(Planner *planner, const ManifestReader *reader,
		 const ManifestEntry *entry, Partition *partition)
{
	ScanTask	task;

	if (planner->tasks.len / sizeof task == ICEBERG_MAX_PLANNED_FILES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the scan has more than %d data files",
				   ICEBERG_MAX_PLANNED_FILES);
	if (!avro_field_is_word(entry->format, "parquet"))
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "data file \"%.*s\" has the format %.*s, which is not "
				   "supported", (int) entry->path.len,
				   (const char *) entry->path.data, (int) entry->format.len,
				   (const char *) entry->format.data);
	/* tuples of partitions without tasks end with planning */
	if (!partition->is_planned)
	{
		partition->values = manifest_reader_partition(reader, planner->arena);
		partition->is_planned = true;
	}
	memset(&task, 0, sizeof task);
	task.path = lake_strndup(planner->arena, (const char *) entry->path.data,
							 entry->path.len);
	task.record_count = entry->record_count;
	task.size = entry->size;
	task.spec = partition->spec;
	task.partition = partition->values;
	task.sequence_number = entry->sequence_number;
	task.first_row_id = entry->first_row_id;
	buffer_append(&planner->tasks, &task, sizeof task);
	buffer_append(&planner->task_partitions, &partition, sizeof partition);
}

static void
plan_entry(Planner *planner, ManifestReader *reader,
		   const ManifestEntry *entry)
{
	Partition  *partition = find_partition(planner, reader);

	if (entry->content != CONTENT_DATA)
	{
		/* no data file of a partition that cannot match is read */
		if (partition->may_match)
			delete_index_add(planner->deletes, entry, partition);
		return;
	}
	planner->plan->files_total++;
	if (!partition->may_match)
		planner->plan->files_skipped_by_partition++;
	else if (!entry_may_match(planner, reader, entry))
		planner->plan->files_skipped_by_bounds++;
	else
		add_task(planner, reader, entry, partition);
}

static void
plan_manifest(Planner *planner, const ManifestFile *manifest)
{
	LakeArena  *arena = lake_arena_create(planner->scratch, "manifest");
	const BoundsColumn *columns = (const void *) planner->columns.data;
	int			column_count =
		(int) (planner->columns.len / sizeof *columns);
	ManifestReader *reader;
	ManifestEntry entry;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading manifest", manifest->path);
	reader = manifest_reader_open(arena, planner->arena, planner->table,
								  planner->store, manifest, columns,
								  manifest->has_deletes ? 0 : column_count);
	while (manifest_reader_next(reader, &entry))
	{
		lake_check_interrupts();
		plan_entry(planner, reader, &entry);
	}
	lake_frame_pop(&frame);
	lake_arena_destroy(arena);
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
	Partition **partitions =
		(Partition **) (void *) planner->task_partitions.data;

	plan->tasks = tasks;
	plan->task_count = (int) (planner->tasks.len / sizeof *tasks);
	for (int i = 0; i < plan->task_count; i++)
	{
		ScanTask   *task = &tasks[i];

		lake_check_interrupts();
		delete_index_attach(planner->deletes, task, partitions[i], plan);
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
		buffer_init(&planner.key, scratch);
		buffer_init(&planner.task_partitions, scratch);
		buffer_init(&planner.tasks, arena);
		bytes_map_init(&planner.partitions, scratch);
		planner.deletes = delete_index_create(arena, scratch);
		if (predicate != NULL)
			collect_columns(&planner.columns, predicate);
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
	"iceberg", iceberg_metadata_read, iceberg_resolve, iceberg_plan,
	iceberg_estimate
};
