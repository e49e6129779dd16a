/*
 * Estimates of columns from the bounds of all data files of a snapshot.
 *
 * Manifests are read as for planning, but none is passed over.  What is found
 * is kept beside the manifest list, which is what it depends on.
 */
#include "iceberg/iceberg_int.h"

#include "base/cache.h"

/* one column's estimate; they are never changed */
typedef struct KnownEstimate KnownEstimate;
struct KnownEstimate
{
	KnownEstimate *next;
	int32_t		field_id;
	LakeType	type;			/* a scalar one */
	ColumnEstimate estimate;
};

/* what is known of a snapshot's columns so far */
typedef struct SnapshotEstimates
{
	LakeArena  *arena;			/* owns all of it */
	KnownEstimate *first;
} SnapshotEstimates;

typedef struct BoundsScan
{
	LakeArena  *arena;			/* ends with the scan */
	const LakeTable *table;
	LakeStore  *store;
	int			count;
	BoundsColumn *columns;
	ColumnSummary **summaries;	/* of each column */
} BoundsScan;

/* ---- reading bounds ---- */

static void
add_column(const ManifestContents *contents, const BoundsColumn *column,
		   ColumnSummary *summary)
{
	const PackedBounds *packed = manifest_contents_bounds(contents, column);
	LakeBounds	bounds;

	for (size_t i = 0; i < contents->file_count; i++)
	{
		packed_bounds_get(packed, i, &bounds);
		column_summary_add(summary, contents->files[i].record_count, &bounds);
	}
}

static void
add_manifest(const BoundsScan *scan, const ManifestFile *manifest)
{
	LakeArena  *arena = lake_arena_create(scan->arena, "manifest");
	const ManifestContents *contents;
	const LakePartitionSpec *spec;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading manifest", manifest->path);
	contents = manifest_contents_get(arena, arena, scan->table, scan->store,
									 manifest, scan->columns, scan->count,
									 &spec);
	for (int i = 0; i < scan->count; i++)
	{
		lake_check_interrupts();
		add_column(contents, &scan->columns[i], scan->summaries[i]);
	}
	lake_frame_pop(&frame);
	lake_arena_destroy(arena);
}

static void
add_manifests(const BoundsScan *scan, const LakeSnapshot *snapshot)
{
	const ManifestFile *manifests;
	size_t		count;

	manifests = manifest_list_read(scan->arena, scan->store, snapshot, &count);
	for (size_t i = 0; i < count; i++)
	{
		lake_check_interrupts();
		if (!manifests[i].has_deletes && manifests[i].live_files != 0)
			add_manifest(scan, &manifests[i]);
	}
}

/* ---- what is known ---- */

static bool
is_same_type(const LakeType *a, const LakeType *b)
{
	return a->kind == b->kind && a->precision == b->precision &&
		a->scale == b->scale;
}

static const KnownEstimate *
find_estimate(const SnapshotEstimates *known, const LakeField *field)
{
	const KnownEstimate *estimate = known->first;

	while (estimate != NULL &&
		   (estimate->field_id != field->id ||
			!is_same_type(&estimate->type, field->type)))
		estimate = estimate->next;
	return estimate;
}

/* the bounds of those fields that nothing is known of */
static void
learn(SnapshotEstimates *known, BoundsScan *scan,
	  const LakeSnapshot *snapshot, const LakeField *const *fields, int count)
{
	scan->columns = lake_alloc_array(scan->arena, (size_t) count,
									 sizeof *scan->columns);
	scan->summaries = lake_alloc_array(scan->arena, (size_t) count,
									   sizeof *scan->summaries);
	for (int i = 0; i < count; i++)
	{
		if (find_estimate(known, fields[i]) != NULL)
			continue;
		scan->columns[scan->count].field_id = fields[i]->id;
		scan->columns[scan->count].type = fields[i]->type;
		scan->summaries[scan->count++] =
			column_summary_create(scan->arena, fields[i]->type);
	}
	if (scan->count == 0)
		return;
	add_manifests(scan, snapshot);
	for (int i = 0; i < scan->count; i++)
	{
		KnownEstimate *estimate = lake_alloc(known->arena, sizeof *estimate);

		estimate->field_id = scan->columns[i].field_id;
		estimate->type = *scan->columns[i].type;
		column_summary_finish(scan->summaries[i], known->arena,
							  &estimate->estimate);
		estimate->next = known->first;
		known->first = estimate;
	}
}

/*
 * What the cache has of the snapshot, else something empty that it will have;
 * that of a snapshot without manifest list is the caller's alone.
 */
static SnapshotEstimates *
recall(LakeArena *arena, LakeStore *store, const LakeSnapshot *snapshot)
{
	static const char what[] = "manifest list of estimates";
	const char *location =
		((const IcebergSnapshot *) snapshot)->manifest_list;
	LakeFileStatus status;
	SnapshotEstimates *known = NULL;
	LakeArena  *entry;

	if (location != NULL)
		known = lake_file_recall(store, arena, location, what, &status);
	if (known != NULL)
		return known;
	entry = lake_arena_create(arena, "column estimates");
	known = lake_alloc(entry, sizeof *known);
	known->arena = entry;
	if (location != NULL)
		lake_file_keep(store, arena, what, &status, entry, known);
	return known;
}

void
iceberg_estimate(LakeArena *arena, const LakeTable *table, LakeStore *store,
				 const LakeSnapshot *snapshot, const LakeField *const *fields,
				 int count, ColumnEstimate *estimates)
{
	LakeArena  *scratch = lake_arena_create(arena, "column bounds");
	SnapshotEstimates *known = recall(arena, store, snapshot);
	BoundsScan	scan = {.arena = scratch, .table = table, .store = store};

	learn(known, &scan, snapshot, fields, count);
	if (scan.count > 0 && store->cache != NULL)
		cache_measure(store->cache, known);
	for (int i = 0; i < count; i++)
		estimates[i] = find_estimate(known, fields[i])->estimate;
	lake_arena_destroy(scratch);
}
