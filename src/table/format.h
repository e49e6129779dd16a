/*
 * What a table format must offer to be queried.  Iceberg implements it; Delta
 * and Hudi will.
 */
#ifndef LAKE_FORMAT_H
#define LAKE_FORMAT_H

#include "io/io.h"
#include "table/changes.h"
#include "table/column_summary.h"
#include "table/task.h"
#include "table/task_reader.h"
#include "table/type.h"

/* a table as one metadata file describes it; immutable */
typedef struct LakeTable LakeTable;

typedef struct LakeSnapshot
{
	int64_t		id;
	int64_t		parent_id;		/* -1 none */
	int64_t		sequence_number;
	int64_t		timestamp_ms;	/* since 1970 UTC */
	int32_t		schema_id;		/* -1 unknown */
	const char *operation;		/* NULL unknown */
	/* from the summary, -1 when it does not say */
	int64_t		total_records;
	int64_t		total_data_files;
	int64_t		total_size;		/* bytes */
	int64_t		total_position_deletes;
	int64_t		total_equality_deletes;
} LakeSnapshot;

/* which version of a table a user asks for */
typedef enum LakeSelectorKind
{
	LAKE_SELECT_CURRENT,		/* what the main branch has */
	LAKE_SELECT_SNAPSHOT,		/* snapshot_id */
	LAKE_SELECT_TIME,			/* what was current at time_us */
	LAKE_SELECT_REF				/* a branch or tag */
} LakeSelectorKind;

typedef struct LakeSelector
{
	LakeSelectorKind kind;
	int64_t		snapshot_id;
	int64_t		time_us;		/* since 1970 UTC */
	const char *ref;
} LakeSelector;

/* what a selector leads to */
typedef struct LakeVersion
{
	const LakeSnapshot *snapshot;	/* NULL: an empty table */

	/*
	 * The schema to read with: the table's current one for branches, the
	 * snapshot's own for tags, snapshot ids and times.
	 */
	const LakeSchema *schema;
	bool		is_branch;
} LakeVersion;

/* a table that shall be made */
typedef struct TableCreation
{
	const char *location;		/* no trailing slash */
	int			format_version; /* 1, 2, 3 */

	/*
	 * Columns; their ids are assigned anew from 1 (spec: top-level fields
	 * first, then what is nested in each), into these very fields.
	 */
	LakeSchema *schema;
	const char *partition_by;	/* 'day(a), bucket(16, b)'; NULL: none */
	const char *sort_by;		/* 'a DESC NULLS LAST, b'; NULL: none */
	int			property_count;
	const char *const *properties;	/* key, value, key, value, ... */
	bool		hadoop_names;	/* see CommitOptions */
} TableCreation;

typedef struct LakeFormat
{
	const char *name;			/* "iceberg" */
	/* reads a table's metadata; throws MISSING, CORRUPT, UNSUPPORTED */
	LakeTable  *(*open) (LakeArena *arena, LakeStore *store,
						 const char *metadata_location);

	/*
	 * The version that a selector means (reference: "Time travel and ref
	 * resolution").  What is not the table's own already goes on arena.
	 * Throws UNDEFINED, naming the nearest known snapshot, time or ref.
	 */
	LakeVersion (*resolve) (LakeArena *arena, const LakeTable *table,
							const LakeSelector *selector);

	/*
	 * Files of a snapshot that may hold rows of the predicate (normalised,
	 * NULL = all), with their deletes.  snapshot NULL: an empty plan.
	 */
	const ScanPlan *(*plan) (LakeArena *arena, const LakeTable *table,
							 LakeStore *store, const LakeSnapshot *snapshot,
							 const Predicate *predicate);

	/*
	 * What the bounds of all data files of a snapshot say of top-level
	 * primitive fields, whatever deletes there are; for the planner.  The
	 * estimates' values are to be read only, and valid until arena is reset.
	 */
	void		(*estimate) (LakeArena *arena, const LakeTable *table,
							 LakeStore *store, const LakeSnapshot *snapshot,
							 const LakeField *const *fields, int count,
							 ColumnEstimate *estimates);

	/* ---- writing ---- */

	/*
	 * What the table asks of files that are written to it.  Throws INVALID
	 * for properties that cannot be understood, UNSUPPORTED for those that
	 * cannot be honoured (encryption, other file formats, unknown
	 * transforms).
	 */
	const WriteOptions *(*write_options) (LakeArena *arena,
										  const LakeTable *table);

	/*
	 * A commit of changes, made once and tried on each head that a table has
	 * meanwhile; options are borrowed as long as arena lives.
	 */
	LakeCommit *(*commit_create) (LakeArena *arena,
								  const CommitOptions *options);

	/*
	 * Checks the changes against what happened between base and head, and
	 * writes what a new version on top of head needs into the store's put
	 * set, unpublished.  What an earlier attempt wrote is used again or
	 * discarded. The caller publishes, then swaps.
	 */
	CommitAttempt (*commit_build) (LakeCommit *commit, const LakeTable *head);

	/*
	 * Writes the first metadata file of a table, unpublished, and returns its
	 * location.  Throws INVALID, naming column or option, for what the format
	 * version or the partition fields cannot be.
	 */
	const char *(*create) (LakeArena *arena, LakeStore *store,
						   const TableCreation *creation);
} LakeFormat;

struct LakeTable
{
	const LakeFormat *format;
	LakeArena  *arena;			/* owns all of it */
	const char *metadata_location;
	const char *location;
	const char *uuid;			/* NULL when v1 has none */
	int			format_version;
	const LakeSchema *schema;	/* current */
	int			schema_count;
	const LakeSchema *const *schemas;
	const LakeSnapshot *current_snapshot;	/* NULL: empty table */
	const NameMapping *name_mapping;	/* NULL: none */
};

#endif							/* LAKE_FORMAT_H */
