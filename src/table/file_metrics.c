/*
 * What manifests say of a file's columns, by the modes that the table's
 * properties ask for.
 *
 * Reference, 2.7.
 */
#include "table/table_int.h"

#include <stdlib.h>

#include "table/file_sink.h"

const ColumnWriteOptions *
write_options_column(const WriteOptions *write, int32_t field_id)
{
	int			low = 0;
	int			high = write->column_count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		const ColumnWriteOptions *column = &write->columns[middle];

		if (column->field_id == field_id)
			return column;
		if (column->field_id < field_id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* a bound of a leaf as a value of its lake type */
static void
bound_value(const LakeType *type, const LakeVector *bounds, uint32_t which,
			LakeValue *value)
{
	const void *data = vector_value(bounds, which);

	memset(value, 0, sizeof *value);
	switch (bounds->layout)
	{
		case VECTOR_BOOL:
			value->i = *(const uint8_t *) data;
			break;
		case VECTOR_I32:
			value->i = *(const int32_t *) data;
			if (type->kind == LAKE_DECIMAL)
				value->decimal = *(const int32_t *) data;
			break;
		case VECTOR_I64:
			value->i = *(const int64_t *) data;
			if (type->kind == LAKE_DECIMAL)
				value->decimal = *(const int64_t *) data;
			break;
		case VECTOR_I128:
			value->decimal = *(const LakeInt128 *) data;
			break;
		case VECTOR_F32:
			value->d = *(const float *) data;
			break;
		case VECTOR_F64:
			value->d = *(const double *) data;
			break;
		case VECTOR_BYTES:
			value->bytes = *(const LakeBytes *) data;
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			break;
	}
}

static LakeBytes
copy_bound(LakeArena *arena, const LakeType *type, const LakeValue *value)
{
	LakeBytes	bytes = lake_value_to_bound(arena, type, value);

	bytes.data = (const uint8_t *)
		lake_strndup(arena, bytes.len == 0 ? "" : (const char *) bytes.data,
					 bytes.len);
	return bytes;
}

static void
set_bounds(LakeArena *arena, ColumnMetrics *metrics, const LakeType *type,
		   const ColumnWriteOptions *options,
		   const ParquetLeafTotals *totals)
{
	LakeValue	lower;
	LakeValue	upper;

	bound_value(type, &totals->bounds, 0, &lower);
	bound_value(type, &totals->bounds, 1, &upper);
	if (options->metrics == METRICS_FULL ||
		lake_value_truncate_bound(arena, type, &lower, options->width, false,
								  &lower))
		metrics->lower = copy_bound(arena, type, &lower);
	if (options->metrics == METRICS_FULL ||
		lake_value_truncate_bound(arena, type, &upper, options->width, true,
								  &upper))
		metrics->upper = copy_bound(arena, type, &upper);
}

static bool
is_in_list(const ParquetField *field)
{
	for (; field != NULL; field = field->parent)
	{
		if (field->shape == PARQUET_LIST || field->shape == PARQUET_MAP)
			return true;
	}
	return false;
}

static bool
set_column(LakeArena *arena, ColumnMetrics *metrics, const WriteOptions *write,
		   const ParquetLeafTotals *totals)
{
	const ParquetField *leaf = totals->field;
	const ColumnWriteOptions *options = write_options_column(write,
															 leaf->field_id);
	const LakeField *field = lake_schema_find_id(write->schema,
												 leaf->field_id);
	bool		has_nan = leaf->layout == VECTOR_F32 ||
		leaf->layout == VECTOR_F64;

	if (options == NULL || options->metrics == METRICS_NONE || field == NULL)
		return false;
	memset(metrics, 0, sizeof *metrics);
	metrics->field_id = leaf->field_id;
	metrics->size = totals->size;
	metrics->value_count = metrics->null_count = metrics->nan_count = -1;
	if (is_in_list(leaf))
		return true;
	metrics->value_count = totals->value_count;
	metrics->null_count = totals->null_count;
	if (has_nan)
		metrics->nan_count = totals->nan_count;
	if (totals->has_bounds && options->metrics != METRICS_COUNTS)
		set_bounds(arena, metrics, field->type, options, totals);
	return true;
}

static int
compare_metrics(const void *a, const void *b)
{
	int32_t		left = ((const ColumnMetrics *) a)->field_id;
	int32_t		right = ((const ColumnMetrics *) b)->field_id;

	return (left > right) - (left < right);
}

void
file_totals_set(LakeArena *arena, WrittenFile *file,
				const ParquetTotals *totals)
{
	int64_t    *offsets = lake_alloc_array(arena, (size_t)
										   totals->row_group_count + 1,
										   sizeof *offsets);

	file->record_count = totals->row_count;
	file->size = totals->size;
	for (int i = 0; i < totals->row_group_count; i++)
		offsets[i] = totals->row_group_offsets[i];
	file->split_count = totals->row_group_count;
	file->split_offsets = offsets;
}

void
file_metrics_set(LakeArena *arena, WrittenFile *file,
				 const WriteOptions *write, const ParquetTotals *totals)
{
	ColumnMetrics *metrics = lake_alloc_array(arena,
											  (size_t) totals->leaf_count + 1,
											  sizeof *metrics);

	file_totals_set(arena, file, totals);
	for (int i = 0; i < totals->leaf_count; i++)
		file->metric_count += set_column(arena, &metrics[file->metric_count],
										 write, &totals->leaves[i]);
	if (file->metric_count > 1)
		qsort(metrics, (size_t) file->metric_count, sizeof *metrics,
			  compare_metrics);
	file->metrics = metrics;
}
