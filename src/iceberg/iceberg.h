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

/* ---- inspect.c: what a metadata file says of its table's history ---- */

/* a snapshot as the metadata file has it */
typedef struct IcebergSnapshotInfo
{
	int64_t		id;
	bool		has_parent;
	int64_t		parent_id;
	int64_t		sequence_number;
	int64_t		timestamp_ms;
	int32_t		schema_id;		/* -1 unknown */
	const char *operation;		/* NULL: the summary does not say */
	const char *manifest_list;	/* NULL: v1, manifests inline */
	int			summary_count;	/* without "operation" */
	const char *const *summary; /* key, value, key, value, ... */
} IcebergSnapshotInfo;

/*
 * All snapshots in the order of the file; NULL after the last.  The result is
 * valid until arena is reset, which the caller may do between two calls.
 */
typedef struct IcebergSnapshotWalk IcebergSnapshotWalk;

extern IcebergSnapshotWalk *iceberg_walk_snapshots(LakeArena *arena,
												   const LakeTable *table);
extern const IcebergSnapshotInfo *iceberg_next_snapshot(IcebergSnapshotWalk *walk,
														LakeArena *arena);

typedef struct IcebergLogEntry
{
	int64_t		timestamp_ms;
	int64_t		snapshot_id;
} IcebergLogEntry;

typedef struct IcebergMetadataLogEntry
{
	int64_t		timestamp_ms;
	const char *file;
} IcebergMetadataLogEntry;

typedef struct IcebergRef
{
	const char *name;
	bool		is_tag;
	int64_t		snapshot_id;
	/* -1: not set */
	int64_t		max_ref_age_ms;
	int64_t		max_snapshot_age_ms;
	int64_t		min_snapshots_to_keep;
} IcebergRef;

/* arrays on arena; those of the file's snapshot-log, metadata-log and refs */
extern const IcebergLogEntry *iceberg_snapshot_log(LakeArena *arena,
												   const LakeTable *table,
												   size_t *count);
extern const IcebergMetadataLogEntry *iceberg_metadata_log(LakeArena *arena,
														   const LakeTable *table,
														   size_t *count);

/* sorted by name; main is there when there is a current snapshot */
extern const IcebergRef *iceberg_refs(LakeArena *arena, const LakeTable *table,
									  size_t *count);

/* last-updated-ms */
extern int64_t iceberg_last_updated_ms(const LakeTable *table);
extern int	iceberg_property_count(const LakeTable *table);
extern void iceberg_property_at(const LakeTable *table, int index,
								const char **key, const char **value);

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
