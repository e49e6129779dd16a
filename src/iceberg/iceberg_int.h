/*
 * What the files of this folder share: the table behind a LakeTable, and the
 * readers of manifest lists and manifests that planning is made of.
 */
#ifndef LAKE_ICEBERG_INT_H
#define LAKE_ICEBERG_INT_H

#include "base/bytes.h"
#include "iceberg/iceberg.h"

typedef struct IcebergProperty
{
	const char *key;
	const char *value;
} IcebergProperty;

struct IcebergTable
{
	LakeTable	table;			/* first: a LakeTable of ours is cast to this */
	/* the JSON array, borrowed from the metadata text; empty if absent */
	LakeBytes	snapshots;
	int			spec_count;
	LakePartitionSpec *specs;
	int			property_count;
	IcebergProperty *properties;
};

/* every LakeSnapshot of ours is one of these */
typedef struct IcebergSnapshot
{
	LakeSnapshot snapshot;		/* first: the two are cast to each other */
	const char *manifest_list;	/* NULL: manifests say it */
	int			manifest_count;
	const char **manifests;		/* locations, inline in v1 */
} IcebergSnapshot;

static inline const IcebergTable *
iceberg_table(const LakeTable *table)
{
	return (const IcebergTable *) table;
}

/* ---- metadata.c ---- */

/* LakeFormat.open */
extern LakeTable *iceberg_metadata_read(LakeArena *arena, LakeStore *store,
										const char *metadata_location);

/* ---- snapshot.c ---- */

/*
 * The two members of a snapshot's JSON that checks over all snapshots need;
 * stops at the second one found.  sequence_number is 0 when it is absent.
 */
extern void snapshot_scan(LakeBytes text, int64_t *id,
						  int64_t *sequence_number);
/* the snapshot of an id in a JSON array of snapshots, NULL if there is none */
extern IcebergSnapshot *snapshot_find(LakeArena *arena, LakeBytes snapshots,
									  int64_t id);

/* ---- partition_spec.c ---- */

/*
 * A spec from its JSON array of fields.  Types are those of the table's current
 * schema, of its newest other schema with that column when it was dropped.
 */
extern void partition_spec_parse(LakeArena *arena, LakeJson *fields,
								 int32_t id, const LakeTable *table,
								 LakePartitionSpec *spec);
/* the member "partition-specs" */
extern LakePartitionSpec *partition_specs_parse(LakeArena *arena, LakeJson *specs,
											const LakeTable *table,
											int *count);

#endif							/* LAKE_ICEBERG_INT_H */
