/*
 * Tasks to batches: projection of an old file onto today's columns, deletes,
 * the predicate, late decoding.
 *
 * A column is resolved by the rules of the Iceberg spec, "Column Projection":
 * by field id in the file; identity partition value; name mapping (files
 * without ids only); initial default; NULL.  Reserved ids (_file, _pos,
 * _spec_id, _row_id, _last_updated_sequence_number) are columns like others.
 */
#ifndef LAKE_TASK_READER_H
#define LAKE_TASK_READER_H

#include "base/bitmap.h"
#include "io/io.h"
#include "table/batch.h"
#include "table/row_store.h"
#include "table/task.h"

typedef struct NameMapping NameMapping;

/* schema.name-mapping.default; throws CORRUPT */
extern NameMapping *name_mapping_parse(LakeArena *arena, LakeBytes json);

/* loaded delete files, which tasks often share, and a scan's readers may */
typedef struct DeleteCache DeleteCache;

typedef struct TaskReaderOptions
{
	LakeStore  *store;
	const LakeSchema *schema;	/* read schema: for equality deletes and paths */

	/*
	 * Schemas of all versions, for the types of delete keys whose column was
	 * dropped; may be empty.
	 */
	int			schema_count;
	const LakeSchema *const *schemas;
	int			column_count;
	const LakeField *const *columns;	/* by id; reserved ones too */
	const Predicate *predicate; /* normalised, NULL = all rows */
	const NameMapping *name_mapping;	/* NULL = none */
	bool		truncate_nanoseconds;	/* else INT96 below 1 us throws */
	bool		keep_footers;	/* of data files, in the store's cache */
	DeleteCache *deletes;		/* NULL: the reader has its own */
} TaskReaderOptions;

typedef struct TaskReaderCounters
{
	uint64_t	row_groups_total;
	uint64_t	row_groups_read;	/* of which some column was decoded */
	uint64_t	row_groups_skipped;
	uint64_t	row_groups_skipped_by_bloom;	/* some of the former */
	uint64_t	pages_skipped;	/* of columns that were read */
	uint64_t	rows_deleted;	/* removed by deletes */
	uint64_t	rows_filtered;	/* removed by the predicate */
} TaskReaderCounters;

typedef struct TaskReader TaskReader;

/*
 * For readers of the same table and version that follow each other, whatever
 * their columns and predicates.  options are copied.
 */
extern DeleteCache *delete_cache_create(LakeArena *arena,
										const TaskReaderOptions *options);

extern TaskReader *task_reader_create(LakeArena *arena,
									  const TaskReaderOptions *options);

/* ends the former task, if any.  Throws MISSING when the file is gone. */
extern void task_reader_begin(TaskReader *reader, const ScanTask *task);

/*
 * The same for those row groups only whose first page starts in the byte range
 * [from, to) of the file: ranges that do not overlap and together cover the
 * file read each row once, so that workers can share a file without having seen
 * its footer.  The counters count what is in the range.  The last range should
 * end at INT64_MAX, since what a manifest says of a file's size may be wrong.
 */
extern void task_reader_begin_range(TaskReader *reader, const ScanTask *task,
									int64_t from, int64_t to);

/*
 * The same for rows [from, to) of a store that has not become files: columns
 * are found by field id, positions are row numbers.  The store must not change
 * below to while the task is read.
 */
extern void task_reader_begin_rows(TaskReader *reader, RowStore *rows,
								   uint64_t from, uint64_t to);

/* the same for positions to be kept: all others are deleted */
extern void task_reader_select(TaskReader *reader,
							   const LakeBitmap *positions);

/*
 * Positions that are deleted besides what the task's own deletes say, for the
 * task that was begun last and has not been read yet; borrowed.
 */
extern void task_reader_delete(TaskReader *reader,
							   const LakeBitmap *positions);

/*
 * Positions that position deletes and vectors remove from the file that was
 * begun last; NULL: none.  Valid until the next begin.
 */
extern const LakeBitmap *task_reader_positions(const TaskReader *reader);

/*
 * The next batch with at least one selected row; false at the task's end.
 * Selected rows pass deletes and predicate.
 */
extern bool task_reader_next(TaskReader *reader, LakeBatch *batch);

/*
 * A column (index into options.columns) of the current batch, in the layout
 * of batch.h; decoded now if it was not.  Values of rows that are not selected
 * are undefined.  Valid until the next call of next or begin.
 */
extern const LakeVector *task_reader_column(TaskReader *reader, int column);
extern const TaskReaderCounters *task_reader_counters(const TaskReader *reader);

#endif							/* LAKE_TASK_READER_H */
