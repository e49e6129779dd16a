/*
 * Bounds of all data files of a snapshot, column by column: for estimates.
 *
 * Manifests are read as for planning, but none is passed over.
 */
#include "iceberg/iceberg_int.h"

#include "table/column_summary.h"

typedef struct BoundsScan
{
	LakeArena  *arena;
	const LakeTable *table;
	LakeStore  *store;
	const BoundsColumn *columns;
	ColumnSummary *const *summaries;
	int			count;
} BoundsScan;

static void
add_entry(const BoundsScan *scan, ManifestReader *reader,
		  const ManifestEntry *entry)
{
	for (int i = 0; i < scan->count; i++)
	{
		LakeBounds	bounds;
		bool		is_known;

		is_known = manifest_reader_bounds(reader, scan->columns[i].field_id,
										  scan->columns[i].type, &bounds);
		column_summary_add(scan->summaries[i], entry->record_count,
						   is_known ? &bounds : NULL);
	}
}

static void
add_manifest(const BoundsScan *scan, const ManifestFile *manifest)
{
	LakeArena  *arena = lake_arena_create(scan->arena, "manifest");
	ManifestReader *reader;
	ManifestEntry entry;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading manifest", manifest->path);
	reader = manifest_reader_open(arena, arena, scan->table, scan->store,
								  manifest, scan->columns, scan->count);
	while (manifest_reader_next(reader, &entry))
	{
		lake_check_interrupts();
		if (entry.content == CONTENT_DATA)
			add_entry(scan, reader, &entry);
	}
	lake_frame_pop(&frame);
	lake_arena_destroy(arena);
}

void
iceberg_summarise(LakeArena *arena, const LakeTable *table, LakeStore *store,
				  const LakeSnapshot *snapshot,
				  ColumnSummary *const *summaries, int count)
{
	LakeArena  *scratch = lake_arena_create(arena, "column bounds");
	BoundsColumn *columns = lake_alloc_array(scratch, (size_t) count,
											 sizeof *columns);
	BoundsScan	scan = {scratch, table, store, columns, summaries, count};
	const ManifestFile *manifests;
	size_t		manifest_count;

	for (int i = 0; i < count; i++)
	{
		const LakeField *field = column_summary_field(summaries[i]);

		columns[i].field_id = field->id;
		columns[i].type = field->type;
	}
	manifests = manifest_list_read(scratch, store, snapshot, &manifest_count);
	for (size_t i = 0; i < manifest_count; i++)
	{
		lake_check_interrupts();
		if (!manifests[i].has_deletes && manifests[i].live_files != 0)
			add_manifest(&scan, &manifests[i]);
	}
	lake_arena_destroy(scratch);
}
