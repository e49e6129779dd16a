/*
 * Partition transforms, and specs made of them.
 *
 * Iceberg spec, "Partition Transforms".
 */
#ifndef LAKE_TRANSFORM_H
#define LAKE_TRANSFORM_H

#include "table/type.h"
#include "table/value.h"

typedef enum TransformKind
{
	TRANSFORM_IDENTITY,
	TRANSFORM_BUCKET,			/* parameter: number of buckets */
	TRANSFORM_TRUNCATE,			/* parameter: width */
	TRANSFORM_YEAR,
	TRANSFORM_MONTH,
	TRANSFORM_DAY,
	TRANSFORM_HOUR,
	TRANSFORM_VOID,
	TRANSFORM_UNKNOWN			/* kept, never used for pruning */
} TransformKind;

typedef struct LakeTransform
{
	TransformKind kind;
	int32_t		parameter;
	const char *text;			/* as the spec spells it */
} LakeTransform;

typedef struct PartitionField
{
	int32_t		source_id;
	int32_t		field_id;		/* 1000.. */
	const char *name;
	LakeTransform transform;

	/*
	 * The source's type in the current schema (NULL when the column was
	 * dropped), and the type of the partition values (NULL when it cannot be
	 * known: never used then).
	 */
	const LakeType *source_type;
	const LakeType *result_type;
} PartitionField;

typedef struct LakePartitionSpec
{
	int32_t		id;
	int			field_count;
	PartitionField *fields;
} LakePartitionSpec;

/* "bucket[16]"; any case; unknown text gives TRANSFORM_UNKNOWN */
extern LakeTransform transform_parse(LakeArena *arena, const char *text);

/* the type of f(source); in arena.  NULL for a source it cannot take. */
extern const LakeType *transform_result_type(LakeArena *arena,
											 const LakeTransform *transform,
											 const LakeType *source);

/* f(value); NULL gives NULL.  Bytes may borrow from value. */
extern void transform_apply(const LakeTransform *transform,
							const LakeType *source, const LakeValue *value,
							LakeValue *result);

/* no fields, or void ones only */
extern bool partition_spec_is_unpartitioned(const LakePartitionSpec *spec);

#endif							/* LAKE_TRANSFORM_H */
