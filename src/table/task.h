/*
 * Scan tasks: one data file with everything that is needed to read it.
 */
#ifndef LAKE_TASK_H
#define LAKE_TASK_H

#include "table/predicate.h"
#include "table/transform.h"
#include "table/type.h"

typedef enum DeleteKind
{
	DELETE_POSITION,			/* rows of file_path, pos */
	DELETE_EQUALITY,			/* rows equal on equality_ids */
	DELETE_VECTOR				/* a bitmap in a Puffin file */
} DeleteKind;

typedef struct DeleteFile
{
	DeleteKind	kind;
	const char *path;
	int64_t		record_count;	/* of vectors: the cardinality */
	int64_t		size;			/* bytes of the file */
	int64_t		content_offset; /* vectors: the blob */
	int64_t		content_size;
	int			equality_count; /* equality deletes */
	const int32_t *equality_ids;
} DeleteFile;

typedef struct ScanTask
{
	const char *path;			/* as the manifest says it */
	int64_t		record_count;	/* -1 unknown */
	int64_t		size;			/* bytes of the file */
	const LakePartitionSpec *spec;
	const LakeValue *partition; /* spec->field_count values */
	int64_t		sequence_number;	/* data sequence number */
	int64_t		first_row_id;	/* -1: none (no row lineage) */
	int			delete_count;
	const DeleteFile *const *deletes;
} ScanTask;

/* what planning found; the numbers are EXPLAIN's */
typedef struct ScanPlan
{
	int			task_count;
	const ScanTask *tasks;
	int64_t		files_total;
	int64_t		files_skipped_by_partition;
	int64_t		files_skipped_by_bounds;
	int64_t		delete_files;	/* that apply to planned tasks, each once */
	int64_t		bytes_planned;	/* of planned data files */
	/* rows of planned files before deletes; -1 if some count is unknown */
	int64_t		rows_planned;
	/* rows that deletes are known to remove at most (position, vectors) */
	int64_t		rows_deleted;
	bool		has_equality_deletes;
} ScanPlan;

#endif							/* LAKE_TASK_H */
