/*
 * Bounds of row groups and pages, as far as they can be believed.
 *
 * min_value and max_value count only where the footer declares their order; the
 * deprecated min and max were compared as signed numbers by every writer, so
 * they count for the types that are.  Bounds that no correct writer can have
 * written are dropped rather than reported: a wrong bound loses rows, a missing
 * one costs time.
 *
 * Parquet format: parquet.thrift, Statistics and ColumnOrder.
 */
#include "parquet/parquet_int.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"

typedef struct RawStatistics
{
	int64_t		null_count;		/* -1 absent */
	/* data NULL: absent */
	LakeBytes	old_min;
	LakeBytes	old_max;
	LakeBytes	min;
	LakeBytes	max;
} RawStatistics;

/* how a type's values are ordered */
typedef enum SortOrder
{
	ORDER_NONE,					/* undefined by the format */
	ORDER_SIGNED,				/* also booleans and floating-point numbers */
	ORDER_UNSIGNED,				/* integers */
	ORDER_DECIMAL,				/* big-endian two's complement, signed */
	ORDER_HALF,
	ORDER_BYTES					/* unsigned, bytewise */
} SortOrder;

static RawStatistics
read_statistics(LakeBytes bytes)
{
	RawStatistics raw = {.null_count = -1};
	ThriftField field = {0};
	ByteCursor	cursor;

	if (bytes.len == 0)
		return raw;
	cursor_init(&cursor, bytes.data, bytes.len, "Parquet statistics");
	while (thrift_next(&cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				raw.old_max = thrift_binary(&cursor, &field);
				break;
			case 2:
				raw.old_min = thrift_binary(&cursor, &field);
				break;
			case 3:
				raw.null_count = thrift_i64(&cursor, &field);
				break;
			case 5:
				raw.max = thrift_binary(&cursor, &field);
				break;
			case 6:
				raw.min = thrift_binary(&cursor, &field);
				break;
			default:
				thrift_skip(&cursor, &field);
		}
	}
	return raw;
}

static SortOrder
order_of(const ParquetField *field)
{
	switch (field->logical)
	{
		case PARQUET_LOGICAL_INTERVAL:
		case PARQUET_LOGICAL_UNKNOWN:
		case PARQUET_LOGICAL_GEOMETRY:
		case PARQUET_LOGICAL_GEOGRAPHY:
			return ORDER_NONE;
		case PARQUET_LOGICAL_INTEGER:
			return field->is_signed ? ORDER_SIGNED : ORDER_UNSIGNED;
		case PARQUET_LOGICAL_FLOAT16:
			return ORDER_HALF;
		default:
			break;
	}
	switch (field->physical)
	{
		case PARQUET_BOOLEAN:
		case PARQUET_INT32:
		case PARQUET_INT64:
		case PARQUET_FLOAT:
		case PARQUET_DOUBLE:
			return ORDER_SIGNED;
		case PARQUET_INT96:
			return ORDER_NONE;
		case PARQUET_BYTE_ARRAY:
		case PARQUET_FIXED_LEN_BYTE_ARRAY:
			break;
	}
	return field->logical == PARQUET_LOGICAL_DECIMAL ? ORDER_DECIMAL :
		ORDER_BYTES;
}

/* the bound in the field's layout; false if it cannot be one of the type */
static bool
decode_bound(const ParquetField *field, LakeBytes raw, void *out)
{
	size_t		width = vector_layout_width(field->layout);
	LakeInt128	wide;
	int64_t		narrow;

	if (field->layout == VECTOR_BYTES)
	{
		if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY &&
			raw.len > (size_t) field->type_length)
			return false;
		memcpy(out, &raw, sizeof raw);
		return true;
	}
	if (field->logical == PARQUET_LOGICAL_FLOAT16)
	{
		if (raw.len != (size_t) field->type_length)
			return false;
		values_convert(field, &raw, out, 1);
		return true;
	}
	if (values_need_conversion(field))
	{
		if (raw.len == 0 || !decimal_from_bytes(raw.data, raw.len, &wide))
			return false;
		narrow = (int64_t) wide;
		memcpy(out, width == sizeof wide ? (void *) &wide : &narrow, width);
		return width == sizeof wide || wide == narrow;
	}
	if (raw.len != width)
		return false;
	memcpy(out, raw.data, width);
	return field->layout != VECTOR_BOOL || raw.data[0] <= 1;
}

/* is *bound NaN?  A zero is widened to the zero beyond it. */
static bool
normalise_float(VectorLayout layout, void *bound, bool is_max)
{
	double		wide;
	float		narrow;

	if (layout == VECTOR_F64)
	{
		memcpy(&wide, bound, sizeof wide);
		if (wide == 0)
		{
			wide = is_max ? 0.0 : -0.0;
			memcpy(bound, &wide, sizeof wide);
		}
		return isnan(wide);
	}
	memcpy(&narrow, bound, sizeof narrow);
	if (narrow == 0)
	{
		narrow = is_max ? 0.0f : -0.0f;
		memcpy(bound, &narrow, sizeof narrow);
	}
	return isnan(narrow);
}

static bool
bytes_above(LakeBytes left, LakeBytes right)
{
	size_t		len = left.len < right.len ? left.len : right.len;
	int			order = len == 0 ? 0 : memcmp(left.data, right.data, len);

	return order != 0 ? order > 0 : left.len > right.len;
}

#define IS_ABOVE(type) (*(const type *) a > *(const type *) b)

bool
bounds_are_inverted(const ParquetField *field, const void *a, const void *b)
{
	bool		is_unsigned = order_of(field) == ORDER_UNSIGNED;

	switch (field->layout)
	{
		case VECTOR_BOOL:
			return IS_ABOVE(uint8_t);
		case VECTOR_I32:
			return is_unsigned ? IS_ABOVE(uint32_t) : IS_ABOVE(int32_t);
		case VECTOR_I64:
			return is_unsigned ? IS_ABOVE(uint64_t) : IS_ABOVE(int64_t);
		case VECTOR_I128:
			return IS_ABOVE(LakeInt128);
		case VECTOR_F32:
			return IS_ABOVE(float);
		case VECTOR_F64:
			return IS_ABOVE(double);
		case VECTOR_BYTES:
			return bytes_above(*(const LakeBytes *) a, *(const LakeBytes *) b);
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			break;
	}
	return true;
}

bool
bounds_have_order(const ParquetField *field)
{
	return order_of(field) != ORDER_NONE;
}

bool
bounds_are_ordered(const ParquetFile *file, const ParquetField *field)
{
	return bounds_have_order(field) && file->ordered != NULL &&
		file->ordered[field->leaf];
}

bool
bounds_decode(const ParquetField *field, LakeBytes min, LakeBytes max,
			  void *values, uint8_t nulls[2])
{
	uint8_t    *upper = (uint8_t *) values + vector_layout_width(field->layout);
	bool		is_sound;

	/* writers that had nothing to say have said two empty strings */
	if (order_of(field) == ORDER_BYTES && min.len == 0 && max.len == 0)
		max.data = NULL;
	nulls[0] = min.data == NULL || !decode_bound(field, min, values);
	nulls[1] = max.data == NULL || !decode_bound(field, max, upper);
	is_sound = nulls[0] == (min.data == NULL) && nulls[1] == (max.data == NULL);
	if (field->layout == VECTOR_F32 || field->layout == VECTOR_F64)
	{
		nulls[0] |= normalise_float(field->layout, values, false);
		nulls[1] |= normalise_float(field->layout, upper, true);
	}
	if (nulls[0] == 0 && nulls[1] == 0 &&
		bounds_are_inverted(field, values, upper))
	{
		nulls[0] = nulls[1] = 1;
		is_sound = false;
	}
	return is_sound;
}

/* the two raw bounds that count, or absent ones */
static void
choose_bounds(const ParquetFile *file, const ParquetField *field,
			  const RawStatistics *raw, LakeBytes *min, LakeBytes *max)
{
	memset(min, 0, sizeof *min);
	memset(max, 0, sizeof *max);
	if (bounds_are_ordered(file, field) &&
		(raw->min.data != NULL || raw->max.data != NULL))
	{
		*min = raw->min;
		*max = raw->max;
	}
	else if (order_of(field) == ORDER_SIGNED)
	{
		*min = raw->old_min;
		*max = raw->old_max;
	}
}

void
statistics_set_bounds(ParquetStatistics *statistics,
					  const ParquetField *field, const void *values,
					  const uint8_t nulls[2])
{
	statistics->has_min = nulls[0] == 0;
	statistics->has_max = nulls[1] == 0;
	statistics->bounds.layout = field->layout;
	statistics->bounds.count = 2;
	statistics->bounds.values = values;
	statistics->bounds.nulls = nulls;
}

void
parquet_statistics_get(const ParquetFile *file, LakeArena *arena,
					   int row_group, const ParquetField *field,
					   ParquetStatistics *statistics)
{
	const ParquetNode *node = parquet_node(field);
	const ParquetRowGroup *group = &file->row_groups[row_group];
	RawStatistics raw;
	LakeBytes	min;
	LakeBytes	max;
	uint8_t    *values;
	uint8_t    *nulls;

	memset(statistics, 0, sizeof *statistics);
	if (field->shape != PARQUET_PRIMITIVE || node->repeated > 0)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "column \"%s\" is nested and has no statistics",
				   field->name);
	raw = read_statistics(group->chunks[field->leaf].statistics);
	statistics->value_count = group->rows;
	statistics->null_count = node->defined == 0 ? 0 : raw.null_count;
	if (statistics->null_count < 0 || statistics->null_count > group->rows)
		statistics->null_count = -1;
	values = lake_alloc(arena, 2 * vector_layout_width(field->layout));
	nulls = lake_alloc(arena, 2);
	choose_bounds(file, field, &raw, &min, &max);
	bounds_decode(field, min, max, values, nulls);
	statistics_set_bounds(statistics, field, values, nulls);
}
