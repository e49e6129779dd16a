/*
 * Apache Iceberg, format versions 1 to 3.
 */
#ifndef LAKE_ICEBERG_H
#define LAKE_ICEBERG_H

#include "table/table.h"

/* the LakeFormat of Iceberg; its LakeTable is an IcebergTable */
extern const LakeFormat iceberg_format;

typedef struct IcebergTable IcebergTable;

/* limits, all LAKE_ERROR_LIMIT */
#define ICEBERG_MAX_METADATA_BYTES	((size_t) 1 << 30)
#define ICEBERG_MAX_MANIFEST_LIST_ENTRIES 1000000
/* data files that a scan reads, and delete files that it considers */
#define ICEBERG_MAX_PLANNED_FILES	10000000

/*
 * The text of a metadata file, decompressed if it is gzip; in arena.  Throws
 * MISSING, CORRUPT, LIMIT.
 */
extern LakeBytes iceberg_read_metadata_text(LakeArena *arena,
											LakeStore *store,
											const char *location);

/* the current snapshot, or another one in arena; NULL: the table has none such */
extern const LakeSnapshot *iceberg_find_snapshot(LakeArena *arena,
												 const LakeTable *table,
												 int64_t snapshot_id);

/* a table property, NULL when not set */
extern const char *iceberg_property(const LakeTable *table, const char *key);
extern const LakePartitionSpec *iceberg_find_spec(const LakeTable *table,
												  int32_t spec_id);

/*
 * Totals from a snapshot's manifest list alone (no manifest is opened): live
 * data files and rows, -1 where a writer left counts out.  For estimates.
 * arena is for what is needed meanwhile: the table's own may be a cache's, where
 * a throw would leave it, with the open file.
 */
typedef struct IcebergTotals
{
	int64_t		data_files;
	int64_t		data_rows;
	int64_t		delete_manifests;	/* with live entries */
} IcebergTotals;

extern void iceberg_totals(LakeArena *arena, LakeStore *store,
						   const LakeSnapshot *snapshot, IcebergTotals *totals);

#endif							/* LAKE_ICEBERG_H */
