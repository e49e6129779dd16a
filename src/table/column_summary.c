/*
 * Bounds of files to null fraction, distinct values and quantiles of a column.
 *
 * Within a file values are taken to be spread evenly between its bounds.  The
 * sum of these is a density that changes where a file begins or ends, and one
 * sweep over the bounds in order finds the quantiles.
 */
#include "table/column_summary.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "table/table_int.h"

/* what core takes for the number of distinct values where it knows nothing */
#define FEW_DISTINCT 200

/* rows of a file that lie evenly between two values */
typedef struct SummaryRange
{
	double		lower;
	double		upper;
	double		rows;
} SummaryRange;

/* where the density of rows changes, or many rows have one value */
typedef struct SummaryEdge
{
	double		at;
	double		density;		/* added from here on */
	double		rows;			/* here */
} SummaryEdge;

struct ColumnSummary
{
	LakeArena  *arena;
	const LakeType *type;
	LakeBuffer	ranges;			/* of SummaryRange; numbers only */
	bool		has_bounds;		/* min and max are set */
	LakeValue	min;
	LakeValue	max;
	double		rows;			/* all of them */
	double		counted_rows;	/* of files whose NULLs are counted */
	double		null_rows;
	double		known_rows;		/* not NULL, of files with bounds */
	double		unknown_rows;	/* of files that have values but no bounds */
};

/* where neighbouring values are one apart, so that a range limits their number */
static bool
is_stepped(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_INT:
		case LAKE_LONG:
		case LAKE_DECIMAL:
		case LAKE_DATE:
		case LAKE_TIME:
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return true;
		default:
			return false;
	}
}

static bool
is_float(const LakeType *type)
{
	return type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE;
}

/* a fraction, or a point in time, mostly uses few of the values it could */
static bool
is_integer(const LakeType *type)
{
	return type->kind == LAKE_INT || type->kind == LAKE_LONG ||
		type->kind == LAKE_DATE ||
		(type->kind == LAKE_DECIMAL && type->scale == 0);
}

static bool
is_number(const LakeType *type)
{
	return is_stepped(type) || is_float(type);
}

static double
number(const LakeType *type, const LakeValue *value)
{
	double		limit;

	if (type->kind == LAKE_DECIMAL)
		return (double) value->decimal;
	if (!is_float(type))
		return (double) value->i;
	/* differences of these are finite */
	limit = type->kind == LAKE_FLOAT ? FLT_MAX / 4 : DBL_MAX / 4;
	return fmax(fmin(value->d, limit), -limit);
}

ColumnSummary *
column_summary_create(LakeArena *arena, const LakeType *type)
{
	ColumnSummary *summary = lake_alloc(arena, sizeof *summary);

	summary->arena = arena;
	summary->type = type;
	buffer_init(&summary->ranges, arena);
	return summary;
}

/* ---- files ---- */

static LakeValue
keep_value(LakeArena *arena, const LakeType *type, const LakeValue *value)
{
	LakeValue	kept = *value;

	if (type->kind == LAKE_STRING)
		kept.bytes.data = (const uint8_t *)
			lake_strndup(arena, (const char *) value->bytes.data,
						 value->bytes.len);
	return kept;
}

/* bounds of text and numbers that fit their type */
static bool
are_usable(const LakeType *type, const LakeBounds *bounds)
{
	if (!bounds->has_lower || !bounds->has_upper)
		return false;
	if (type->kind == LAKE_DECIMAL)
		return decimal_fits(bounds->lower.decimal, type->precision) &&
			decimal_fits(bounds->upper.decimal, type->precision);
	return is_number(type) || type->kind == LAKE_STRING;
}

static void
add_range(ColumnSummary *summary, const LakeBounds *bounds, double rows)
{
	const LakeType *type = summary->type;
	SummaryRange range;

	if (!summary->has_bounds ||
		lake_value_compare(type, &bounds->lower, &summary->min) < 0)
		summary->min = keep_value(summary->arena, type, &bounds->lower);
	if (!summary->has_bounds ||
		lake_value_compare(type, &bounds->upper, &summary->max) > 0)
		summary->max = keep_value(summary->arena, type, &bounds->upper);
	summary->has_bounds = true;
	summary->known_rows += rows;
	if (!is_number(type))
		return;
	range.lower = number(type, &bounds->lower);
	range.upper = number(type, &bounds->upper);
	range.rows = rows;
	buffer_append(&summary->ranges, &range, sizeof range);
}

void
column_summary_add(ColumnSummary *summary, int64_t rows,
				   const LakeBounds *bounds)
{
	double		count = rows < 0 ? 0 : (double) rows;
	double		absent = 0;

	if (bounds != NULL && bounds->value_count >= 0)
		count = (double) bounds->value_count;
	summary->rows += count;
	if (bounds != NULL && bounds->null_count >= 0)
	{
		absent = (double) bounds->null_count;
		summary->counted_rows += count;
		summary->null_rows += absent;
		if (bounds->nan_count > 0)
			absent += (double) bounds->nan_count;
	}
	if (count - absent <= 0)
		return;
	if (bounds != NULL && are_usable(summary->type, bounds))
		add_range(summary, bounds, count - absent);
	else
		summary->unknown_rows += count - absent;
}

/* ---- distinct values ---- */

static int
compare_ranges(const void *a, const void *b)
{
	const SummaryRange *left = a;
	const SummaryRange *right = b;

	return (left->lower > right->lower) - (left->lower < right->lower);
}

/*
 * Ranges that overlap have no more distinct values than fit between their ends,
 * nor than rows.  Where there is room for far more values than rows, a column
 * may be a key or refer to one: a tenth of the rows lies between the two.
 */
static double
estimate_distinct(ColumnSummary *summary)
{
	const LakeType *type = summary->type;
	SummaryRange *ranges = (SummaryRange *) (void *) summary->ranges.data;
	size_t		count = summary->ranges.len / sizeof *ranges;
	double		room = 0;
	double		distinct = 0;

	if (type->kind == LAKE_BOOLEAN)
		return 2;
	if (!is_stepped(type) || count == 0)
		return 0;
	qsort(ranges, count, sizeof *ranges, compare_ranges);
	for (size_t i = 0; i < count;)
	{
		double		lower = ranges[i].lower;
		double		upper = ranges[i].upper;
		double		rows = 0;

		for (; i < count && ranges[i].lower <= upper; i++)
		{
			upper = fmax(upper, ranges[i].upper);
			rows += ranges[i].rows;
		}
		room += upper - lower + 1;
		distinct += fmin(upper - lower + 1, rows);
	}
	if (!is_integer(type))
		return distinct <= FEW_DISTINCT ? distinct : 0;
	if (room <= summary->known_rows * 4)
		return distinct;
	return fmax(summary->known_rows / 10, 1);
}

/* ---- quantiles ---- */

static int
compare_edges(const void *a, const void *b)
{
	const SummaryEdge *left = a;
	const SummaryEdge *right = b;

	return (left->at > right->at) - (left->at < right->at);
}

static SummaryEdge *
create_edges(ColumnSummary *summary, size_t *edge_count)
{
	const SummaryRange *ranges = (const void *) summary->ranges.data;
	size_t		count = summary->ranges.len / sizeof *ranges;
	SummaryEdge *edges = lake_alloc_array(summary->arena, count * 2,
										  sizeof *edges);
	size_t		n = 0;

	for (size_t i = 0; i < count; i++)
	{
		double		width = ranges[i].upper - ranges[i].lower;
		double		density = ranges[i].rows / width;

		if (width <= 0 || !isfinite(density))
			edges[n++] = (SummaryEdge) {ranges[i].lower, 0, ranges[i].rows};
		else
		{
			edges[n++] = (SummaryEdge) {ranges[i].lower, density, 0};
			edges[n++] = (SummaryEdge) {ranges[i].upper, -density, 0};
		}
	}
	qsort(edges, n, sizeof *edges, compare_edges);
	*edge_count = n;
	return edges;
}

/* writes count >= 2 numbers */
static void
find_quantiles(ColumnSummary *summary, double *quantiles, int count)
{
	size_t		edge_count;
	const SummaryEdge *edges = create_edges(summary, &edge_count);
	double		at = edges[0].at;
	double		density = 0;
	double		passed = 0;
	int			next = 0;

	for (size_t i = 0; i < edge_count; i++)
	{
		const SummaryEdge *edge = &edges[i];
		double		rows = density * (edge->at - at);

		for (; next < count; next++)
		{
			double		wanted = summary->known_rows * next / (count - 1);

			if (wanted <= passed + rows && density > 0)
				quantiles[next] = fmin(at + fmax(wanted - passed, 0) / density,
									   edge->at);
			else if (wanted <= passed + rows + edge->rows)
				quantiles[next] = edge->at;
			else
				break;
		}
		passed += rows + edge->rows;
		at = edge->at;
		density += edge->density;
	}
	for (; next < count; next++)
		quantiles[next] = at;
}

/* a number between the ends, as a value of the type */
static LakeValue
value_of_number(const ColumnSummary *summary, double quantile)
{
	const LakeType *type = summary->type;
	LakeValue	value = {0};

	if (quantile <= number(type, &summary->min))
		return summary->min;
	if (quantile >= number(type, &summary->max))
		return summary->max;
	if (type->kind == LAKE_DECIMAL)
		value.decimal = (LakeInt128) quantile;
	else if (is_float(type))
		value.d = quantile;
	else
		value.i = (int64_t) quantile;
	return value;
}

static void
store_value(void *values, VectorLayout layout, int i, const LakeType *type,
			const LakeValue *value)
{
	switch (layout)
	{
		case VECTOR_I32:
			((int32_t *) values)[i] = (int32_t) value->i;
			break;
		case VECTOR_I64:
			((int64_t *) values)[i] = type->kind == LAKE_DECIMAL ?
				(int64_t) value->decimal : value->i;
			break;
		case VECTOR_I128:
			((LakeInt128 *) values)[i] = value->decimal;
			break;
		case VECTOR_F32:
			((float *) values)[i] = (float) value->d;
			break;
		case VECTOR_F64:
			((double *) values)[i] = value->d;
			break;
		default:
			((LakeBytes *) values)[i] = value->bytes;
	}
}

static void
make_quantiles(ColumnSummary *summary, LakeArena *arena, LakeVector *vector)
{
	const LakeType *type = summary->type;
	double		numbers[COLUMN_SUMMARY_QUANTILES];
	void	   *values;
	int			count = is_number(type) ? COLUMN_SUMMARY_QUANTILES : 2;

	if (lake_value_compare(type, &summary->min, &summary->max) == 0)
		count = 1;
	else if (is_number(type))
		find_quantiles(summary, numbers, count);
	vector->layout = lake_type_layout(type);
	values = lake_alloc_array(arena, (size_t) count,
							  vector_layout_width(vector->layout));
	for (int i = 0; i < count; i++)
	{
		LakeValue	value = i == 0 ? summary->min : summary->max;

		if (i > 0 && i < count - 1)
			value = value_of_number(summary, numbers[i]);
		value = keep_value(arena, type, &value);
		store_value(values, vector->layout, i, type, &value);
	}
	vector->count = (uint32_t) count;
	vector->values = values;
}

void
column_summary_finish(ColumnSummary *summary, LakeArena *arena,
					  ColumnEstimate *estimate)
{
	*estimate = (ColumnEstimate) {.null_fraction = -1};
	if (summary->counted_rows > 0 &&
		summary->counted_rows * 2 >= summary->rows)
		estimate->null_fraction = fmin(summary->null_rows /
									   summary->counted_rows, 1);
	/* files without bounds are taken to be like the others, unless most are */
	if (summary->unknown_rows > summary->known_rows)
		return;
	estimate->distinct = estimate_distinct(summary);
	if (!summary->has_bounds)
		return;
	make_quantiles(summary, arena, &estimate->quantiles);
	if (estimate->quantiles.count == 1)
		estimate->distinct = 1;
}
