/*
 * The inclusive projection of row predicates onto partition tuples.
 *
 * Transforms that keep order (identity, truncate, times) turn a comparison
 * into the same comparison, or its inclusive form, with the transformed
 * literal; of x < v it is that of the neighbour v - 1, which spares the border.
 * Buckets keep equality only.  A leaf that says nothing becomes TRUE.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "table/predicate_int.h"
#include "table/table_int.h"

/* one leaf on its way through one partition field */
typedef struct Projection
{
	LakeArena  *arena;
	const Predicate *leaf;
	const PartitionField *field;
} Projection;

static Predicate *
partition_leaf(const Projection *projection, PredicateOp op,
			   const LakeValue *values, int count)
{
	LakeField	field = {
		.id = projection->field->field_id,
		.type = projection->field->result_type
	};

	return predicate_leaf(projection->arena, op, &field, values, count);
}

static Predicate *
project_to_true(const Projection *projection)
{
	return predicate_constant(projection->arena, true);
}

static void
apply(const Projection *projection, const LakeValue *value, LakeValue *result)
{
	transform_apply(&projection->field->transform, projection->leaf->type,
					value, result);
}

/* f of all of the leaf's values, as one comparison or a list */
static Predicate *
project_values(const Projection *projection, PredicateOp op, bool widen)
{
	const Predicate *leaf = projection->leaf;
	size_t		capacity = (size_t) leaf->value_count * 2;
	LakeValue  *values = lake_alloc_array(projection->arena, capacity,
										  sizeof(LakeValue));
	int			count = 0;

	for (int i = 0; i < leaf->value_count; i++)
	{
		LakeValue  *value = &values[count++];

		apply(projection, &leaf->values[i], value);
		if (widen && value->i < 0)
		{
			values[count] = *value;
			values[count++].i++;
		}
	}
	return partition_leaf(projection, op, values, count);
}

static Predicate *
project_identity(const Projection *projection)
{
	const Predicate *leaf = projection->leaf;

	return partition_leaf(projection, leaf->op, leaf->values,
						  leaf->value_count);
}

static Predicate *
project_bucket(const Projection *projection)
{
	PredicateOp op = projection->leaf->op;

	if (op != PREDICATE_EQ && op != PREDICATE_IN)
		return project_to_true(projection);
	return project_values(projection, PREDICATE_IN, false);
}

/*
 * The literal's neighbour by one unit of its type; false where there is none.
 */
static bool
neighbour(const LakeType *type, const LakeValue *value, int step,
		  LakeValue *result)
{
	*result = *value;
	if (type->kind == LAKE_DECIMAL)
	{
		result->decimal += step;
		return decimal_fits(result->decimal, DECIMAL_MAX_PRECISION);
	}
	if (__builtin_add_overflow(value->i, step, &result->i))
		return false;
	return (type->kind != LAKE_INT && type->kind != LAKE_DATE) ||
		result->i == (int32_t) result->i;
}

/*
 * x < v, <=, >, >= under a transform of integers that keeps order: the
 * inclusive form with f of the last value that satisfies it.
 */
static bool
ordered_value(const Projection *projection, LakeValue *value, bool *is_upper)
{
	const Predicate *leaf = projection->leaf;
	int			step = leaf->op == PREDICATE_LT ? -1 :
		leaf->op == PREDICATE_GT ? 1 : 0;

	*is_upper = leaf->op == PREDICATE_LT || leaf->op == PREDICATE_LE;
	return neighbour(leaf->type, &leaf->values[0], step, value);
}

static bool
is_ordering(PredicateOp op)
{
	return op == PREDICATE_LT || op == PREDICATE_LE || op == PREDICATE_GT ||
		op == PREDICATE_GE;
}

/*
 * Java before 0.11 rounded times before 1970 toward zero, so that such files
 * say one too much: upper limits and equalities below zero admit it.
 */
static Predicate *
project_time(const Projection *projection)
{
	const Predicate *leaf = projection->leaf;
	bool		is_exact = leaf->type->kind == LAKE_DATE &&
		projection->field->transform.kind == TRANSFORM_DAY;
	LakeValue	value;
	LakeValue	result;
	bool		is_upper;

	if (leaf->op == PREDICATE_EQ || leaf->op == PREDICATE_IN)
		return project_values(projection, PREDICATE_IN, !is_exact);
	if (!is_ordering(leaf->op) ||
		!ordered_value(projection, &value, &is_upper))
		return project_to_true(projection);
	apply(projection, &value, &result);
	if (is_upper && !is_exact && result.i < 0)
		result.i++;
	return partition_leaf(projection,
						  is_upper ? PREDICATE_LE : PREDICATE_GE, &result, 1);
}

/*
 * Does truncate wrap for values down here?  What other writers than Java store
 * then is not known.
 */
static bool
wraps(const Projection *projection, const LakeValue *value)
{
	int64_t		width = projection->field->transform.parameter;

	switch (projection->leaf->type->kind)
	{
		case LAKE_INT:
			return value->i < INT32_MIN + width;
		case LAKE_LONG:
			return value->i < INT64_MIN + width;
		default:
			return false;
	}
}

/* x <= v also where the lowest values have wrapped to the highest tuples */
static Predicate *
or_wrapped(const Projection *projection, Predicate *predicate)
{
	Predicate **children;
	int64_t		width = projection->field->transform.parameter;
	LakeValue	wrapped = {0};

	if (projection->leaf->type->kind == LAKE_DECIMAL)
		return predicate;
	wrapped.i = (projection->leaf->type->kind == LAKE_INT ? INT32_MAX :
				 INT64_MAX) - width;
	children = lake_alloc_array(projection->arena, 2, sizeof *children);
	children[0] = predicate;
	children[1] = partition_leaf(projection, PREDICATE_GT, &wrapped, 1);
	return predicate_combine(projection->arena, PREDICATE_OR, children, 2);
}

static Predicate *
project_truncated_number(const Projection *projection)
{
	const Predicate *leaf = projection->leaf;
	LakeValue	value;
	LakeValue	result;
	bool		is_upper;

	/* the values of a list are sorted: the first one is the lowest */
	if (leaf->value_count > 0 && wraps(projection, &leaf->values[0]))
		return project_to_true(projection);
	if (leaf->op == PREDICATE_EQ || leaf->op == PREDICATE_IN)
		return project_values(projection, PREDICATE_IN, false);
	if (!is_ordering(leaf->op) ||
		!ordered_value(projection, &value, &is_upper) ||
		wraps(projection, &value))
		return project_to_true(projection);
	apply(projection, &value, &result);
	if (!is_upper)
		return partition_leaf(projection, PREDICATE_GE, &result, 1);
	return or_wrapped(projection,
					  partition_leaf(projection, PREDICATE_LE, &result, 1));
}

/* LIKE and NOT LIKE under truncate: what they say of the first characters */
static Predicate *
project_truncated_like(const Projection *projection)
{
	size_t		width = (size_t) projection->field->transform.parameter;
	bool		is_like = projection->leaf->op == PREDICATE_LIKE;
	const LikePattern *pattern = projection->leaf->like;
	LakeValue	prefix = {.bytes = like_prefix(pattern)};
	size_t		kept = text_prefix(prefix.bytes, width);

	if (prefix.bytes.len == 0 || (!is_like && !like_is_prefix(pattern)))
		return project_to_true(projection);
	/* a prefix that the width cuts says what the whole tuple value is */
	if (kept < prefix.bytes.len)
	{
		prefix.bytes.len = kept;
		return is_like ? partition_leaf(projection, PREDICATE_EQ, &prefix, 1) :
			project_to_true(projection);
	}
	if (text_prefix(prefix.bytes, width - 1) < prefix.bytes.len)
		return partition_leaf(projection,
							  is_like ? PREDICATE_EQ : PREDICATE_NE,
							  &prefix, 1);
	prefix.bytes = like_from_prefix(projection->arena, prefix.bytes);
	return partition_leaf(projection, projection->leaf->op, &prefix, 1);
}

static Predicate *
project_truncated_bytes(const Projection *projection)
{
	const Predicate *leaf = projection->leaf;

	switch (leaf->op)
	{
		case PREDICATE_EQ:
		case PREDICATE_IN:
			return project_values(projection, PREDICATE_IN, false);
		case PREDICATE_LT:
		case PREDICATE_LE:
			return project_values(projection, PREDICATE_LE, false);
		case PREDICATE_GT:
		case PREDICATE_GE:
			return project_values(projection, PREDICATE_GE, false);
		case PREDICATE_LIKE:
		case PREDICATE_NOT_LIKE:
			return project_truncated_like(projection);
		default:
			return project_to_true(projection);
	}
}

/*
 * Are literals of the leaf's type literals of the field's source?  The column
 * may have been promoted between the schema of the query and the current one.
 */
static bool
is_same_source(const LakeType *leaf, const LakeType *source)
{
	if (leaf->kind == LAKE_DECIMAL)
		return source->kind == LAKE_DECIMAL && leaf->scale == source->scale;
	return leaf->kind == source->kind ||
		(leaf->kind == LAKE_INT && source->kind == LAKE_LONG) ||
		(leaf->kind == LAKE_FLOAT && source->kind == LAKE_DOUBLE);
}

static Predicate *
project_field(const Projection *projection)
{
	const Predicate *leaf = projection->leaf;
	const PartitionField *field = projection->field;
	bool		is_bytes = value_form(leaf->type) == VALUE_BYTES;

	if (field->source_type == NULL || field->result_type == NULL ||
		field->transform.kind == TRANSFORM_VOID ||
		field->transform.kind == TRANSFORM_UNKNOWN ||
		!is_same_source(leaf->type, field->source_type))
		return project_to_true(projection);
	/* f of NULL is NULL, and of nothing else */
	if (leaf->op == PREDICATE_IS_NULL || leaf->op == PREDICATE_NOT_NULL)
		return partition_leaf(projection, leaf->op, NULL, 0);
	switch (field->transform.kind)
	{
		case TRANSFORM_IDENTITY:
			return project_identity(projection);
		case TRANSFORM_BUCKET:
			return project_bucket(projection);
		case TRANSFORM_TRUNCATE:
			return is_bytes ? project_truncated_bytes(projection) :
				project_truncated_number(projection);
		default:
			return project_time(projection);
	}
}

static Predicate *
project_leaf(LakeArena *arena, const Predicate *leaf,
			 const LakePartitionSpec *spec)
{
	Predicate **children = lake_alloc_array(arena, (size_t) spec->field_count,
											sizeof *children);
	int			count = 0;

	for (int i = 0; i < spec->field_count; i++)
	{
		Projection	projection = {
			.arena = arena, .leaf = leaf, .field = &spec->fields[i]
		};

		if (spec->fields[i].source_id == leaf->field_id)
			children[count++] = project_field(&projection);
	}
	return predicate_combine(arena, PREDICATE_AND, children, count);
}

static Predicate *
project(LakeArena *arena, const Predicate *predicate,
		const LakePartitionSpec *spec)
{
	Predicate **children;

	switch (predicate->op)
	{
		case PREDICATE_TRUE:
		case PREDICATE_FALSE:
			return predicate_constant(arena, predicate->op == PREDICATE_TRUE);
		case PREDICATE_NOT:
			lake_throw(LAKE_ERROR_INTERNAL,
					   "a predicate that is not normalised was projected");
		case PREDICATE_AND:
		case PREDICATE_OR:
			children = lake_alloc_array(arena, (size_t) predicate->child_count,
										sizeof *children);
			for (int i = 0; i < predicate->child_count; i++)
				children[i] = project(arena, predicate->children[i], spec);
			return predicate_combine(arena, predicate->op, children,
									 predicate->child_count);
		default:
			return project_leaf(arena, predicate, spec);
	}
}

Predicate *
predicate_project(LakeArena *arena, const Predicate *predicate,
				  const LakePartitionSpec *spec)
{
	return predicate_normalize(arena, project(arena, predicate, spec));
}
