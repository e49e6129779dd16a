/*
 * What the files of functions/ share among themselves.
 */
#ifndef LAKE_FUNCTIONS_INT_H
#define LAKE_FUNCTIONS_INT_H

#include "functions/functions.h"

#include "iceberg/iceberg.h"

/* ---- json_object.c: jsonb objects of known members ---- */

/*
 * An object whose members' names are known and whose values are filled in for
 * each row: JsonbValueToJsonb takes it as it is, since its pairs are sorted.
 */
typedef struct JsonObject
{
	JsonbValue	value;
	JsonbValue **members;		/* values in the order of the names */
} JsonObject;

/* names are UTF-8; equal ones are told apart by the numbers; values are null */
extern void json_object_init(JsonObject *object, const char *const *names,
							 const int32 *numbers, int count);

/* json of the object in the current memory context */
extern Datum json_object_datum(JsonObject *object);

/* ---- entry_json.c: parts of manifest entries as jsonb ---- */

typedef struct EntryJson EntryJson;

/* for the table's entries, in the current memory context */
extern EntryJson *entry_json_create(const LakeTable *table,
									const LakePartitionSpec *type);

/* values of the partition type */
extern Datum entry_json_partition(EntryJson *json, const LakeValue *values);

/* a map from field ids to counts, or to bounds in hex; it is not absent */
extern Datum entry_json_metrics(EntryJson *json, const IcebergEntry *entry,
								MetricKind kind);

/* the struct data_file of the metadata table "entries" */
extern Datum entry_json_data_file(EntryJson *json, const IcebergEntry *entry,
								  int32 spec_id, const LakeValue *partition);

/*
 * For each primitive column of the current schema its counts and bounds.  A
 * bound that is no value of the column's type is null.
 */
extern Datum entry_json_readable_metrics(EntryJson *json,
										 const IcebergEntry *entry);

/* a file format's name as Java spells it, in capitals */
extern LakeBytes entry_json_format(const IcebergEntry *entry);

#endif							/* LAKE_FUNCTIONS_INT_H */
