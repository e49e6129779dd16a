/*
 * Apache Iceberg, format versions 1 to 3.
 */
#ifndef LAKE_ICEBERG_H
#define LAKE_ICEBERG_H

#include "base/bytes.h"
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

/* ---- table_history.c: what a metadata file says of its table's history ---- */

/* a snapshot as the metadata file has it */
typedef struct IcebergSnapshotInfo
{
	int64_t		id;
	bool		has_parent;
	int64_t		parent_id;
	int64_t		sequence_number;
	int64_t		timestamp_ms;
	int32_t		schema_id;		/* -1 unknown */
	const char *operation;		/* NULL: there is no summary, or an empty one */
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

/* all snapshots of a table, without their summaries, to look them up by id */
typedef struct IcebergSnapshotIndex
{
	size_t		count;
	const IcebergSnapshotInfo *snapshots;	/* sorted by id */
} IcebergSnapshotIndex;

extern const IcebergSnapshotIndex *iceberg_index_snapshots(LakeArena *arena,
														   const LakeTable *table);

/* NULL: there is none by that id, or it has expired */
extern const IcebergSnapshotInfo *iceberg_index_find(const IcebergSnapshotIndex *index,
													 int64_t id);

/*
 * Marks the snapshots (by their place in the index) that are the head or one of
 * its ancestors, as far as parents are known; head -1: none.
 */
extern bool *iceberg_index_ancestors(LakeArena *arena,
									 const IcebergSnapshotIndex *index,
									 int64_t head);

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

/*
 * The snapshot log by time: ascending, whatever the clocks did, and of equal
 * times the entry alone that is listed first, as in Java.
 */
extern const IcebergLogEntry *iceberg_timeline(LakeArena *arena,
											   const LakeTable *table,
											   size_t *count);

/* the entry of a timeline that was current then; NULL: there was none */
extern const IcebergLogEntry *iceberg_log_at(const IcebergLogEntry *timeline,
											 size_t count,
											 int64_t timestamp_ms);
extern const IcebergMetadataLogEntry *iceberg_metadata_log(LakeArena *arena,
														   const LakeTable *table,
														   size_t *count);

/* sorted by name; main is there when there is a current snapshot */
extern const IcebergRef *iceberg_refs(LakeArena *arena, const LakeTable *table,
									  size_t *count);

/* last-updated-ms */
extern int64_t iceberg_last_updated_ms(const LakeTable *table);

/* ---- properties.c ---- */

/*
 * A table property; NULL when it is not set, or null.  Throws CORRUPT when it is
 * not a string, or has a NUL character.
 */
extern const char *iceberg_property(const LakeTable *table, const char *key);

/* all of them, which must be well-formed keys and strings or null (CORRUPT) */
extern int	iceberg_property_count(const LakeTable *table);
extern void iceberg_property_at(const LakeTable *table, int index,
								const char **key, const char **value);

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

/* ---- manifest_list.c ---- */

/* of the values of one partition field in a manifest */
typedef struct FieldSummary
{
	bool		has_null;		/* false: surely none is NULL */
	bool		has_nan;		/* false: surely none is NaN */
	bool		nan_is_known;	/* the list says has_nan */
	LakeBytes	lower;			/* data NULL: unknown */
	LakeBytes	upper;
} FieldSummary;

typedef struct ManifestFile
{
	const char *path;
	int64_t		length;			/* bytes; -1 unknown */
	int32_t		spec_id;		/* -1: only the manifest says it */
	bool		has_deletes;	/* content is 1 */
	int64_t		sequence_number;
	int64_t		min_sequence_number;	/* of live files' data */
	int64_t		snapshot_id;	/* that added the manifest; -1 unknown */
	int64_t		first_row_id;	/* -1 none */
	int64_t		added_files;	/* -1 unknown, as are the next */
	int64_t		existing_files;
	int64_t		deleted_files;
	int64_t		added_rows;
	int64_t		existing_rows;
	int64_t		deleted_rows;
	int64_t		live_files;		/* added and existing */
	int64_t		live_rows;
	LakeBytes	key_metadata;	/* data NULL: none */
	bool		has_summaries;	/* false: the list has none, not even 0 */
	int			summary_count;	/* 0: nothing is known */
	const FieldSummary *summaries;	/* in order of the spec's fields */
} ManifestFile;

/* the manifests of a snapshot, in arena */
extern const ManifestFile *manifest_list_read(LakeArena *arena,
											  LakeStore *store,
											  const LakeSnapshot *snapshot,
											  size_t *count);

/* ---- entry_walk.c: all that a manifest says of its files ---- */

/* an integer that is not there */
#define ICEBERG_NONE INT64_MIN

typedef enum EntryStatus
{
	STATUS_EXISTING,
	STATUS_ADDED,
	STATUS_DELETED
} EntryStatus;

typedef enum FileContent
{
	CONTENT_DATA,
	CONTENT_POSITION_DELETES,	/* deletion vectors too */
	CONTENT_EQUALITY_DELETES
} FileContent;

/* a column's part of a map of counts or bounds */
typedef struct FieldMetric
{
	int32_t		field_id;
	uint32_t	position;		/* in the map as it was written */
	int64_t		count;
	LakeBytes	bound;
} FieldMetric;

/* one of those maps: ascending by field id; of equal ones the last counts */
typedef struct FieldMetrics
{
	size_t		count;
	const FieldMetric *fields;	/* NULL: the file has no such map */
} FieldMetrics;

typedef enum MetricKind
{
	METRIC_COLUMN_SIZE,
	METRIC_VALUE_COUNT,
	METRIC_NULL_COUNT,
	METRIC_NAN_COUNT,
	METRIC_LOWER_BOUND,
	METRIC_UPPER_BOUND,
	METRIC_COUNT
} MetricKind;

/* a list of integers */
typedef struct IntegerList
{
	size_t		count;
	const int64_t *values;		/* NULL: the file has no such list */
} IntegerList;

/*
 * An entry of a manifest, deleted ones too, with what it inherits from the
 * manifest list.  Integers may be ICEBERG_NONE and the data of bytes NULL,
 * except for status, content and path.  All of it is the walk's until its next
 * call.
 */
typedef struct IcebergEntry
{
	EntryStatus status;
	int64_t		snapshot_id;	/* that added, or deleted, the file */
	int64_t		sequence_number;
	int64_t		file_sequence_number;
	FileContent content;
	LakeBytes	path;
	LakeBytes	format;			/* in any case */
	int64_t		record_count;
	int64_t		size;			/* bytes */
	FieldMetrics metrics[METRIC_COUNT];
	LakeBytes	key_metadata;
	IntegerList split_offsets;
	IntegerList equality_ids;	/* each fits 32 bits */
	int64_t		sort_order_id;	/* fits 32 bits */
	int64_t		first_row_id;
	LakeBytes	referenced_file;
	int64_t		content_offset;
	int64_t		content_size;
} IcebergEntry;

typedef struct EntryWalk EntryWalk;

/*
 * The entries of a manifest in order.  type: what entry_walk_partition gives,
 * see iceberg_partition_type.  Without metrics, maps and lists are left out.
 * All in arena.
 */
extern EntryWalk *entry_walk_open(LakeArena *arena, const LakeTable *table,
								  LakeStore *store,
								  const ManifestFile *manifest,
								  const LakePartitionSpec *type,
								  bool metrics);

/* of the manifest: the list may not know it */
extern int32_t entry_walk_spec_id(const EntryWalk *walk);

/* NULL at the end */
extern const IcebergEntry *entry_walk_next(EntryWalk *walk);

/*
 * The current entry's values of the type's fields, in arena: NULL where the
 * manifest's spec lacks the field.
 */
extern LakeValue *entry_walk_partition(const EntryWalk *walk,
									   LakeArena *arena);

/* appends bytes that are equal exactly for equal values of the type's fields */
extern void entry_walk_partition_key(const EntryWalk *walk, LakeBuffer *key);

/* ---- partition_type.c ---- */

/*
 * One partition type for the files of all specs, as a spec of id -1: the fields
 * whose source is in the current schema, ascending by field id, by their newest
 * names (Iceberg spec, "Partition Evolution").  Names are made unique by the
 * field id.  Throws UNSUPPORTED for unknown transforms and where specs give one
 * id to different fields, as v1 tables may.
 */
extern const LakePartitionSpec *iceberg_partition_type(LakeArena *arena,
													   const LakeTable *table);

/* ---- partition_totals.c ---- */

/* the live files of a partition */
typedef struct PartitionTotals
{
	const LakeValue *values;	/* of the partition type's fields */
	int32_t		spec_id;		/* of the newest file */
	int64_t		records;		/* of data files, deleted ones included */
	int32_t		files;
	int64_t		size;			/* bytes */
	int64_t		position_delete_records;
	int32_t		position_delete_files;
	int64_t		equality_delete_records;
	int32_t		equality_delete_files;

	/*
	 * The newest of the snapshots that added the files and are still in the
	 * metadata, if there is any.
	 */
	bool		has_update;
	int64_t		updated_ms;
	int64_t		updated_snapshot_id;
} PartitionTotals;

/*
 * By the partition type, in the order in which the manifests have them; in
 * arena.  Throws OUT_OF_RANGE when a total does.
 */
extern const PartitionTotals *iceberg_partition_totals(LakeArena *arena,
													   const LakeTable *table,
													   LakeStore *store,
													   const LakeSnapshot *snapshot,
													   const LakePartitionSpec *type,
													   size_t *count);

/* ---- human_string.c ---- */

/*
 * A partition value as Java's Transform.toHumanString has it: "2026-03" of a
 * month, base64 of bytes, "null".
 */
extern const char *iceberg_human_string(LakeArena *arena,
										const PartitionField *field,
										const LakeValue *value);

#endif							/* LAKE_ICEBERG_H */
