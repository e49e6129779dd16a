/*
 * Predicates on bounds: which files, row groups and partitions can hold no row
 * that satisfies one.
 *
 * Iceberg's own evaluators cannot be copied, for their order and their logic
 * are not PostgreSQL's: NaN is above all numbers here and satisfies >, >= and
 * <>, though it is not in the bounds; -0.0 equals 0.0; NULL satisfies nothing.
 * What is not known, inverted or NaN widens the answer.
 */
#include <math.h>
#include <string.h>

#include "table/predicate_int.h"
#include "table/table_int.h"

/* what is asked for a leaf's column */
typedef struct Knowledge
{
	BoundsLookup lookup;
	ValueLookup may_have;		/* NULL: nothing is known of single values */
	void	   *arg;
} Knowledge;

/* the bounds of a leaf's column, with what follows from them */
typedef struct KnownBounds
{
	LakeBounds	bounds;
	bool		is_all_null;
	bool		has_no_nan;		/* known to have none */
	bool		is_all_nan;		/* every value that is not NULL is NaN */
	bool		has_other;		/* may have values that are not NaN */
	bool		is_one_value;	/* all values but NaN equal bounds.lower */
} KnownBounds;

static void
know_bounds(const LakeType *type, KnownBounds *known)
{
	LakeBounds *bounds = &known->bounds;
	bool		is_float = value_form(type) == VALUE_FLOAT;
	bool		has_counts = bounds->value_count >= 0 &&
		bounds->null_count >= 0;

	/*
	 * Java compares uuids as signed pairs when it merges row groups, so that
	 * their bounds can exclude values that are there in any order.
	 */
	if (type->kind == LAKE_UUID)
		bounds->has_lower = bounds->has_upper = false;
	if (is_float && ((bounds->has_lower && isnan(bounds->lower.d)) ||
					 (bounds->has_upper && isnan(bounds->upper.d))))
		bounds->has_lower = bounds->has_upper = false;
	if (bounds->has_lower && bounds->has_upper &&
		lake_value_compare(type, &bounds->lower, &bounds->upper) > 0)
		bounds->has_lower = bounds->has_upper = false;

	known->is_all_null = has_counts &&
		bounds->null_count == bounds->value_count;
	known->has_no_nan = !is_float || bounds->nan_count == 0;
	known->is_all_nan = is_float && has_counts && bounds->nan_count > 0 &&
		bounds->value_count - bounds->null_count == bounds->nan_count;
	known->has_other = !known->is_all_null && !known->is_all_nan;
	known->is_one_value = bounds->has_lower && bounds->has_upper &&
		lake_value_compare(type, &bounds->lower, &bounds->upper) == 0;
}

static bool
lower_is_above(const Predicate *leaf, const KnownBounds *known,
			   const LakeValue *value, bool or_equal)
{
	return known->bounds.has_lower &&
		lake_value_compare(leaf->type, &known->bounds.lower, value) >=
		(or_equal ? 0 : 1);
}

static bool
upper_is_below(const Predicate *leaf, const KnownBounds *known,
			   const LakeValue *value, bool or_equal)
{
	return known->bounds.has_upper &&
		lake_value_compare(leaf->type, &known->bounds.upper, value) <=
		(or_equal ? 0 : -1);
}

/* comparisons with NaN, the greatest value */
static bool
may_match_nan(PredicateOp op, const KnownBounds *known)
{
	switch (op)
	{
		case PREDICATE_EQ:
		case PREDICATE_GE:
			return !known->has_no_nan;
		case PREDICATE_NE:
		case PREDICATE_LT:
			return known->has_other;
		case PREDICATE_GT:
			return false;
		default:
			return true;
	}
}

static bool
may_have(const Knowledge *knowledge, const Predicate *leaf,
		 const LakeValue *value)
{
	return knowledge->may_have == NULL ||
		knowledge->may_have(knowledge->arg, leaf, value);
}

static bool
may_match_comparison(const Predicate *leaf, const KnownBounds *known,
					 const Knowledge *knowledge)
{
	const LakeValue *value = &leaf->values[0];

	if (value_form(leaf->type) == VALUE_FLOAT && isnan(value->d))
		return may_match_nan(leaf->op, known);
	switch (leaf->op)
	{
		case PREDICATE_EQ:
			return known->has_other &&
				!lower_is_above(leaf, known, value, false) &&
				!upper_is_below(leaf, known, value, false) &&
				may_have(knowledge, leaf, value);
		case PREDICATE_LT:
			return known->has_other &&
				!lower_is_above(leaf, known, value, true);
		case PREDICATE_LE:
			return known->has_other &&
				!lower_is_above(leaf, known, value, false);
		case PREDICATE_GT:
			return !known->has_no_nan ||
				!upper_is_below(leaf, known, value, true);
		case PREDICATE_GE:
			return !known->has_no_nan ||
				!upper_is_below(leaf, known, value, false);
		case PREDICATE_NE:
			return !known->has_no_nan || !known->is_one_value ||
				lake_value_compare(leaf->type, &known->bounds.lower,
								   value) != 0;
		default:
			return true;
	}
}

/* NaN, if it is in a list, is its last value */
static bool
list_has_nan(const Predicate *leaf)
{
	return value_form(leaf->type) == VALUE_FLOAT &&
		isnan(leaf->values[leaf->value_count - 1].d);
}

static bool
may_match_in(const Predicate *leaf, const KnownBounds *known,
			 const Knowledge *knowledge)
{
	bool		has_nan = list_has_nan(leaf);
	int			count = leaf->value_count - has_nan;
	int			first = 0;

	if (has_nan && !known->has_no_nan)
		return true;
	if (!known->has_other)
		return false;
	if (known->bounds.has_lower)
		first = predicate_lower_value(leaf, &known->bounds.lower);
	for (int i = first; i < count; i++)
	{
		if (upper_is_below(leaf, known, &leaf->values[i], false))
			return false;
		if (may_have(knowledge, leaf, &leaf->values[i]))
			return true;
	}
	return false;
}

static bool
may_match_not_in(const Predicate *leaf, const KnownBounds *known)
{
	const LakeValue *only = &known->bounds.lower;
	int			found;

	if (!known->is_one_value ||
		(!known->has_no_nan && !list_has_nan(leaf)))
		return true;
	found = predicate_lower_value(leaf, only);
	return found == leaf->value_count ||
		lake_value_compare(leaf->type, &leaf->values[found], only) != 0;
}

static bool
starts_with(LakeBytes text, LakeBytes prefix)
{
	return text.len >= prefix.len &&
		(prefix.len == 0 || memcmp(text.data, prefix.data, prefix.len) == 0);
}

/* texts that begin with prefix lie between it and the end of its extensions */
static bool
may_match_like(const Predicate *leaf, const KnownBounds *known)
{
	LakeValue	prefix = {.bytes = like_prefix(leaf->like)};

	return !upper_is_below(leaf, known, &prefix, false) &&
		(!lower_is_above(leaf, known, &prefix, false) ||
		 starts_with(known->bounds.lower.bytes, prefix.bytes));
}

static bool
may_match_not_like(const Predicate *leaf, const KnownBounds *known)
{
	LakeBytes	prefix = like_prefix(leaf->like);

	if (known->is_one_value)
		return !like_matches(leaf->like, known->bounds.lower.bytes);
	/* what lies between two extensions of a prefix is one itself */
	return !like_is_prefix(leaf->like) || !known->bounds.has_lower ||
		!known->bounds.has_upper ||
		!starts_with(known->bounds.lower.bytes, prefix) ||
		!starts_with(known->bounds.upper.bytes, prefix);
}

static bool
leaf_may_match(const Predicate *leaf, const Knowledge *knowledge)
{
	KnownBounds known;

	memset(&known, 0, sizeof known);
	if (!knowledge->lookup(knowledge->arg, leaf->field_id, leaf->type,
						   &known.bounds))
		return true;
	know_bounds(leaf->type, &known);
	if (leaf->op == PREDICATE_IS_NULL)
		return known.bounds.null_count != 0;
	if (known.is_all_null)
		return false;
	switch (leaf->op)
	{
		case PREDICATE_NOT_NULL:
			return true;
		case PREDICATE_IN:
			return may_match_in(leaf, &known, knowledge);
		case PREDICATE_NOT_IN:
			return may_match_not_in(leaf, &known);
		case PREDICATE_LIKE:
			return may_match_like(leaf, &known);
		case PREDICATE_NOT_LIKE:
			return may_match_not_like(leaf, &known);
		default:
			return may_match_comparison(leaf, &known, knowledge);
	}
}

static bool
may_match(const Predicate *predicate, const Knowledge *knowledge)
{
	switch (predicate->op)
	{
		case PREDICATE_TRUE:
			return true;
		case PREDICATE_FALSE:
			return false;
		case PREDICATE_AND:
			for (int i = 0; i < predicate->child_count; i++)
			{
				if (!may_match(predicate->children[i], knowledge))
					return false;
			}
			return true;
		case PREDICATE_OR:
			for (int i = 0; i < predicate->child_count; i++)
			{
				if (may_match(predicate->children[i], knowledge))
					return true;
			}
			return false;
		case PREDICATE_NOT:
			return true;
		default:
			return leaf_may_match(predicate, knowledge);
	}
}

bool
predicate_may_match_values(const Predicate *predicate, BoundsLookup lookup,
						   ValueLookup may_have_value, void *arg)
{
	const Knowledge knowledge = {lookup, may_have_value, arg};

	return may_match(predicate, &knowledge);
}

bool
predicate_may_match(const Predicate *predicate, BoundsLookup lookup,
					void *arg)
{
	return predicate_may_match_values(predicate, lookup, NULL, arg);
}
