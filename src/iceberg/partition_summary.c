/*
 * What a manifest list says of the partition values of a manifest: the range of
 * each field's, by which manifests are passed over unread.
 *
 * Iceberg spec, "Manifest Lists", field_summary.
 */
#include "iceberg/iceberg_int.h"

#include <math.h>

/* one end of a field's values */
typedef struct Extreme
{
	LakeValue	value;
	LakeBuffer	bytes;			/* what value borrows */
} Extreme;

/* of a field's values so far */
typedef struct ValueRange
{
	bool		has_null;
	bool		has_nan;
	bool		has_value;		/* that is neither */
	Extreme		lower;
	Extreme		upper;
} ValueRange;

struct PartitionSummary
{
	LakeArena  *arena;
	const LakePartitionSpec *spec;
	ValueRange *ranges;			/* of its fields */
};

PartitionSummary *
partition_summary_create(LakeArena *arena, const LakePartitionSpec *spec)
{
	PartitionSummary *summary = lake_alloc(arena, sizeof *summary);
	size_t		count = (size_t) spec->field_count;

	summary->arena = arena;
	summary->spec = spec;
	summary->ranges = lake_alloc_array(arena, count, sizeof(ValueRange));
	for (size_t i = 0; i < count; i++)
	{
		buffer_init(&summary->ranges[i].lower.bytes, arena);
		buffer_init(&summary->ranges[i].upper.bytes, arena);
	}
	return summary;
}

static bool
is_floating(const LakeType *type)
{
	return type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE;
}

static void
set_extreme(Extreme *extreme, const LakeType *type, const LakeValue *value)
{
	LakeBuffer *copy = &extreme->bytes;

	extreme->value = *value;
	if (!lake_type_has_bytes(type))
		return;
	copy->len = 0;
	/* not NULL, even of an empty value */
	buffer_reserve(copy, value->bytes.len + 1);
	buffer_append(copy, value->bytes.data, value->bytes.len);
	extreme->value.bytes.data = copy->data;
}

static void
widen(ValueRange *range, const LakeType *type, const LakeValue *value)
{
	if (value->is_null)
		range->has_null = true;
	else if (is_floating(type) && isnan(value->d))
		range->has_nan = true;
	else
	{
		if (!range->has_value ||
			lake_value_compare(type, value, &range->lower.value) < 0)
			set_extreme(&range->lower, type, value);
		if (!range->has_value ||
			lake_value_compare(type, value, &range->upper.value) > 0)
			set_extreme(&range->upper, type, value);
		range->has_value = true;
	}
}

void
partition_summary_add(PartitionSummary *summary, const LakeValue *partition)
{
	const LakePartitionSpec *spec = summary->spec;

	for (int i = 0; i < spec->field_count; i++)
		widen(&summary->ranges[i], spec->fields[i].result_type,
			  &partition[i]);
}

/* both zeros are one value to us, but -0.0 is the lesser one to others */
static LakeBytes
extreme_bound(LakeArena *arena, const LakeType *type, const Extreme *extreme,
			  double zero)
{
	LakeValue	value = extreme->value;

	if (is_floating(type) && value.d == 0)
		value.d = zero;
	return lake_value_to_bound(arena, type, &value);
}

const FieldSummary *
partition_summary_finish(PartitionSummary *summary)
{
	const LakePartitionSpec *spec = summary->spec;
	FieldSummary *fields = lake_alloc_array(summary->arena,
											(size_t) spec->field_count,
											sizeof *fields);

	for (int i = 0; i < spec->field_count; i++)
	{
		const ValueRange *range = &summary->ranges[i];
		const LakeType *type = spec->fields[i].result_type;

		fields[i].has_null = range->has_null;
		fields[i].has_nan = range->has_nan;
		fields[i].nan_is_known = true;
		if (!range->has_value)
			continue;
		fields[i].lower = extreme_bound(summary->arena, type, &range->lower,
										-0.0);
		fields[i].upper = extreme_bound(summary->arena, type, &range->upper,
										0.0);
	}
	return fields;
}
