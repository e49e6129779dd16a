/*
 * What a transaction wants to change in a table: files that it has written,
 * files that shall go, and what must not have happened meanwhile.
 *
 * Plain data, made by the server half, turned into a commit by a format.
 */
#ifndef LAKE_CHANGES_H
#define LAKE_CHANGES_H

#include "codec/codec.h"
#include "io/io.h"
#include "table/predicate.h"
#include "table/task.h"
#include "table/transform.h"

/* of one column in one file; -1 and NULL: not given */
typedef struct ColumnMetrics
{
	int32_t		field_id;
	int64_t		size;			/* compressed bytes */
	int64_t		value_count;	/* NULLs and NaNs included */
	int64_t		null_count;
	int64_t		nan_count;
	/* single-value binary form, cut as the table's properties say */
	LakeBytes	lower;
	LakeBytes	upper;
} ColumnMetrics;

typedef enum WrittenKind
{
	WRITTEN_DATA,
	WRITTEN_POSITION_DELETES,	/* a Parquet file of path, pos */
	WRITTEN_DELETION_VECTOR		/* a blob of a Puffin file */
} WrittenKind;

/* a complete file, not necessarily published yet */
typedef struct WrittenFile
{
	WrittenKind kind;
	const char *path;			/* as metadata shall say it */
	const LakePartitionSpec *spec;
	const LakeValue *partition; /* spec->field_count values */
	int64_t		record_count;	/* of a vector: its cardinality */
	int64_t		size;			/* bytes of the file */
	int			metric_count;
	const ColumnMetrics *metrics;	/* ascending by field id */
	int			split_count;
	const int64_t *split_offsets;
	int32_t		sort_order_id;	/* -1: none is said */
	/* the one data file that deletes are of; NULL: several */
	const char *referenced_file;
	int64_t		content_offset; /* of a vector's blob; -1 */
	int64_t		content_size;
} WrittenFile;

/* a live file that shall go */
typedef struct RemovedFile
{
	const char *path;			/* as the manifest says it */
	bool		is_deletes;
	int64_t		content_offset; /* of a deletion vector; -1 */
} RemovedFile;

/* isolation by the table's properties: write.{delete,update}.isolation-level */
typedef enum ChangeIsolation
{
	CHANGE_SNAPSHOT,
	CHANGE_SERIALIZABLE
} ChangeIsolation;

/*
 * A statement that deleted or updated rows, as far as conflicts go (reference,
 * 6.3, 6.4).
 */
typedef struct ChangeRead
{
	bool		is_update;		/* else a delete */
	bool		is_rewrite;		/* copy-on-write, else merge-on-read */
	ChangeIsolation isolation;
	/* what it looked for; normalised, NULL: any row */
	const Predicate *filter;
} ChangeRead;

typedef struct ChangeSet
{
	int			added_count;
	const WrittenFile *const *added;	/* of all kinds */
	int			removed_count;
	const RemovedFile *removed; /* each must be live: else a conflict */

	/*
	 * Every live file goes, whoever added it (TRUNCATE); removed is empty
	 * then.
	 */
	bool		removes_all;

	/*
	 * The head that statements read, -1: an empty table; and the sequence
	 * number that it had (0).
	 */
	int64_t		base_snapshot_id;
	int64_t		base_sequence_number;
	int			read_count;
	const ChangeRead *reads;

	/*
	 * Data files for which added has deletes: they must be live, and no one
	 * else may have deleted rows of them where the format or isolation says
	 * so.
	 */
	int			referenced_count;
	const char *const *referenced;
} ChangeSet;

/* what a format and the table's properties ask of files that are written */
typedef struct WriteOptions WriteOptions;

/* how much of a column's metrics manifests get (write.metadata.metrics.*) */
typedef enum MetricsMode
{
	METRICS_NONE,
	METRICS_COUNTS,
	METRICS_TRUNCATE,			/* width */
	METRICS_FULL
} MetricsMode;

typedef struct ColumnWriteOptions
{
	int32_t		field_id;		/* of a leaf, at any depth */
	MetricsMode metrics;
	int			width;			/* of METRICS_TRUNCATE */
	bool		bloom;
	double		bloom_fpp;
} ColumnWriteOptions;

struct WriteOptions
{
	int			format_version;
	const LakeSchema *schema;	/* current */
	const LakePartitionSpec *spec;	/* default */
	int32_t		sort_order_id;	/* of files whose rows are sorted so; 0 */
	const char *data_directory; /* location, no trailing slash */

	/*
	 * The location of a data file: name is unique within the table.  In
	 * arena.
	 */
	const char *(*locate) (LakeArena *arena, const WriteOptions *options,
						   const LakePartitionSpec *spec,
						   const LakeValue *partition, const char *name);
	bool		object_layout;	/* write.object-storage.enabled */
	bool		object_partitions;	/* ... .partitioned-paths */
	const char *table_location;
	const char *created_by;		/* of files */
	const char *schema_json;	/* footer key iceberg.schema */
	/* write.parquet.* and, for delete files, write.delete.parquet.* */
	LakeCodec	codec;
	int32_t		level;
	uint64_t	row_group_bytes;
	size_t		page_bytes;
	uint32_t	page_rows;
	size_t		dictionary_bytes;
	size_t		bloom_max_bytes;
	uint64_t	target_file_bytes;
	LakeCodec	delete_codec;
	int32_t		delete_level;
	uint64_t	target_delete_bytes;
	bool		deletes_by_file;	/* write.delete.granularity = file */
	int			column_count;
	const ColumnWriteOptions *columns;	/* ascending by field id */
	/* write.{delete,update}.{mode,isolation-level} */
	bool		delete_merges;	/* merge-on-read */
	bool		update_merges;
	ChangeIsolation delete_isolation;
	ChangeIsolation update_isolation;
	/* commit.retry.* in milliseconds */
	int			retry_count;
	int64_t		retry_min_ms;
	int64_t		retry_max_ms;
	int64_t		retry_total_ms;
};

/* ---- making a commit ---- */

typedef struct CommitOptions
{
	LakeStore  *store;			/* with a put set */
	const ChangeSet *changes;	/* NULL: properties alone */

	/*
	 * The uuid of the table that the changes are of: a head with another one
	 * is a conflict.  NULL: what the first head has.
	 */
	const char *table_uuid;
	/* pairs for the summary: key, value, key, value, ... */
	int			summary_count;
	const char *const *summary;
	/* pairs of properties to change: key, value (NULL: unset), ... */
	int			property_count;
	const char *const *properties;
	const char *file_prefix;	/* of manifests' names; unique */

	/*
	 * Hadoop layout of metadata names (v<N>.metadata.json), else
	 * NNNNN-<uuid>.metadata.json.
	 */
	bool		hadoop_names;
} CommitOptions;

/* why changes cannot be committed to a head */
typedef enum ConflictKind
{
	CONFLICT_NONE,
	CONFLICT_ADDED_ROWS,		/* somebody added rows that may match a filter */
	CONFLICT_REMOVED_FILE,		/* a file that the changes are of is gone */
	CONFLICT_DELETED_ROWS,		/* somebody deleted rows of such a file */
	CONFLICT_HISTORY,			/* the base is no ancestor of the head */
	CONFLICT_TABLE,				/* format version, spec or uuid are others */
	CONFLICT_KINDS
} ConflictKind;

typedef struct CommitAttempt
{
	/* NULL: a conflict; equal to the head's: there is nothing to change */
	const char *metadata_location;
	int64_t		snapshot_id;	/* the new head, or the old one */

	/*
	 * Of a conflict: what stands in the way, a sentence that names the first
	 * file or the filter, for the error's DETAIL.
	 */
	const char *conflict;
	ConflictKind conflict_kind;
} CommitAttempt;

typedef struct LakeCommit LakeCommit;

#endif							/* LAKE_CHANGES_H */
