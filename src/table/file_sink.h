/*
 * Rows to data files: rolling at a target size, one open file a partition,
 * within a limit of memory; and the files of deletes.
 */
#ifndef LAKE_FILE_SINK_H
#define LAKE_FILE_SINK_H

#include "base/bitmap.h"
#include "io/io.h"
#include "table/batch.h"
#include "table/changes.h"
#include "table/row_store.h"

typedef struct FileSinkOptions
{
	LakeStore  *store;			/* with a put set */
	const WriteOptions *write;
	const char *file_prefix;	/* files are <prefix>-<n>.parquet */
	int		   *file_number;	/* of the prefix's next file; counted on */
	size_t		memory_limit;	/* bytes that open files may hold */
	/* row lineage: columns that follow the schema's (v3 rewrites) */
	bool		row_ids;		/* two more columns: _row_id, _last_updated… */
} FileSinkOptions;

typedef struct FileSink FileSink;

/* options are copied, write is borrowed; files and results are on arena */
extern FileSink *file_sink_create(LakeArena *arena,
								  const FileSinkOptions *options);

/*
 * Adds the selected rows (selection NULL: 0 .. count - 1), one vector a field
 * of write->schema in its order, in the layouts of batch.h.  Rows go to the
 * partition of the default spec that their values say; into the files of given
 * partitions by file_sink_write_to.
 */
extern void file_sink_write(FileSink *sink, const LakeVector *const *columns,
							const uint32_t *selection, uint32_t count);

/* the same for rows of one known partition of any spec: rewritten files */
extern void file_sink_write_to(FileSink *sink, const LakePartitionSpec *spec,
							   const LakeValue *partition,
							   const LakeVector *const *columns,
							   const uint32_t *selection, uint32_t count);

/*
 * Rows first .. end - 1 of a store, but for the positions in without (NULL:
 * none), by the default spec.  All of a partition's rows go to its file
 * together: what a batch has of many partitions would be very little.
 */
extern void file_sink_write_store(FileSink *sink, RowStore *store,
								  uint64_t first, uint64_t end,
								  const LakeBitmap *without);
extern size_t file_sink_held_bytes(const FileSink *sink);

/* ends all files; in the order in which they were begun */
extern const WrittenFile *const *file_sink_finish(FileSink *sink, int *count);

/*
 * Drops what the sink has written, ended files among them, from the store's put
 * set.  Never throws; the sink is of no use afterwards.
 */
extern void file_sink_cancel(FileSink *sink);

/* the mode of a column's metrics */
extern const ColumnWriteOptions *write_options_column(const WriteOptions *write,
													  int32_t field_id);

/* ---- delete_sink.c ---- */

/* rows of a data file that are deleted; no two of one file */
typedef struct FileDeletes
{
	const char *path;			/* as the manifest says it */
	const LakePartitionSpec *spec;
	const LakeValue *partition;
	const LakeBitmap *positions;	/* not empty */
} FileDeletes;

/*
 * Position delete files (v2), by file or by partition as the options say;
 * sorted by path and position.  deletes need not be in order; their specs and
 * partitions are borrowed by the results.
 */
extern const WrittenFile *const *position_deletes_write(LakeArena *arena,
														const FileSinkOptions *options,
														const FileDeletes *deletes,
														int count,
														int *file_count);

/*
 * Deletion vectors (v3), all in one Puffin file; one WrittenFile each, in the
 * order of deletes, whose specs and partitions they borrow.
 */
extern const WrittenFile *const *deletion_vectors_write(LakeArena *arena,
														const FileSinkOptions *options,
														const FileDeletes *deletes,
														int count);

#endif							/* LAKE_FILE_SINK_H */
