/*
 * What a table format must offer to be queried.  Iceberg implements it; Delta
 * and Hudi will.
 */
#ifndef LAKE_FORMAT_H
#define LAKE_FORMAT_H

#include "io/io.h"
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

typedef struct LakeFormat
{
	const char *name;			/* "iceberg" */
	/* reads a table's metadata; throws MISSING, CORRUPT, UNSUPPORTED */
	LakeTable  *(*open) (LakeArena *arena, LakeStore *store,
						 const char *metadata_location);

	/*
	 * Files of a snapshot that may hold rows of the predicate (normalised,
	 * NULL = all), with their deletes.  snapshot NULL: an empty plan.
	 */
	const ScanPlan *(*plan) (LakeArena *arena, const LakeTable *table,
							 LakeStore *store, const LakeSnapshot *snapshot,
							 const Predicate *predicate);
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
