/*
 * Predicates: what the planner pushes down, evaluated on bounds to prune and on
 * vectors, exactly, to filter.
 *
 * A predicate keeps a row when it is true in SQL's three-valued logic.  NOT is
 * gone after predicate_normalize(): every leaf then yields false for NULL
 * (except IS NULL), so that AND and OR of leaves need two values only.
 */
#ifndef LAKE_PREDICATE_H
#define LAKE_PREDICATE_H

#include "base/vector.h"
#include "table/transform.h"
#include "table/type.h"
#include "table/value.h"

typedef enum PredicateOp
{
	PREDICATE_TRUE,
	PREDICATE_FALSE,			/* also NULL literals: no row is kept */
	PREDICATE_AND,				/* children */
	PREDICATE_OR,
	PREDICATE_NOT,				/* one child; not after normalize */
	/* leaves: field_id, type, values[0] or values */
	PREDICATE_IS_NULL,
	PREDICATE_NOT_NULL,
	PREDICATE_EQ,
	PREDICATE_NE,
	PREDICATE_LT,
	PREDICATE_LE,
	PREDICATE_GT,
	PREDICATE_GE,
	PREDICATE_IN,				/* values, none NULL */
	PREDICATE_NOT_IN,			/* values, none NULL (x NOT IN (.., NULL) is
								 * PREDICATE_FALSE) */
	PREDICATE_LIKE,				/* values[0] the pattern, backslash escapes */
	PREDICATE_NOT_LIKE
} PredicateOp;

typedef struct Predicate Predicate;
struct Predicate
{
	PredicateOp op;
	int			child_count;
	Predicate **children;
	/* leaves */
	int32_t		field_id;		/* of a top-level primitive field */
	const LakeType *type;		/* the field's type = the values' type */
	int			value_count;
	LakeValue  *values;
	/* set by predicate_normalize */
	int			leaf_index;		/* 0.. over the tree's leaves */
	const struct LikePattern *like; /* LIKE, NOT LIKE: values[0] compiled */
};

/* constructors; children and values are borrowed, the node is in arena */
extern Predicate *predicate_constant(LakeArena *arena, bool value);
extern Predicate *predicate_combine(LakeArena *arena, PredicateOp op,
									Predicate **children, int count);
extern Predicate *predicate_leaf(LakeArena *arena, PredicateOp op,
								 const LakeField *field,
								 const LakeValue *values, int count);

/*
 * Pushes NOT to the leaves, flattens AND and OR, folds constants, sorts IN
 * lists, numbers the leaves.  The result shares nothing that changes with the
 * input.
 */
extern Predicate *predicate_normalize(LakeArena *arena,
									  const Predicate *predicate);
extern int	predicate_leaf_count(const Predicate *predicate);

/*
 * Rows for which a (normalised) predicate is not true, or that have a NULL in a
 * column of it; normalised.  Where predicate_may_match() excludes the result,
 * every row satisfies the predicate (reference, 2.8, guard 5).
 */
extern Predicate *predicate_doubt(LakeArena *arena,
								  const Predicate *predicate);

/* a normalised predicate that owns all it points to but types, in arena */
extern Predicate *predicate_copy(LakeArena *arena, const Predicate *predicate);

/* "(a >= 3 AND b IN ('x', 'y'))", names from schema: for EXPLAIN */
extern const char *predicate_text(LakeArena *arena, const Predicate *predicate,
								  const LakeSchema *schema);

/*
 * What is known of a column in a file, a row group or a manifest.  Bounds
 * exclude NULL and NaN.  Anything unknown widens the answer.
 */
typedef struct LakeBounds
{
	int64_t		value_count;	/* NULLs and NaNs included; -1 unknown */
	int64_t		null_count;		/* -1 unknown */
	int64_t		nan_count;		/* -1 unknown; 0 for types without NaN */
	bool		has_lower;
	bool		has_upper;
	LakeValue	lower;			/* of the leaf's type */
	LakeValue	upper;
} LakeBounds;

/*
 * Gives bounds of the field for a leaf; false: nothing is known.
 */
typedef bool (*BoundsLookup) (void *arg, int32_t field_id,
							  const LakeType *type, LakeBounds *bounds);

/*
 * Could a row within the bounds satisfy the (normalised) predicate?  Never
 * false for a matching row (guards of the reference, 2.8: PostgreSQL's NaN
 * order, signed zeros, inverted or missing bounds).  uuid bounds are ignored.
 */
extern bool predicate_may_match(const Predicate *predicate,
								BoundsLookup lookup, void *arg);

/*
 * Could the field have the value of an EQ or IN leaf?  False: surely not, in
 * any row.
 */
typedef bool (*ValueLookup) (void *arg, const Predicate *leaf,
							 const LakeValue *value);

/* the same with more knowledge of single values; both functions get arg */
extern bool predicate_may_match_values(const Predicate *predicate,
									   BoundsLookup lookup,
									   ValueLookup may_have, void *arg);

/*
 * The inclusive projection onto a partition spec (reference, 3.5): if a row
 * matches the (normalised) predicate, its partition tuple matches the result,
 * whose leaves name partition field ids.
 */
extern Predicate *predicate_project(LakeArena *arena,
									const Predicate *predicate,
									const LakePartitionSpec *spec);

/*
 * Evaluation on vectors.  The evaluator calls load for the columns it needs, in
 * the order it needs them and at most once a batch; columns of AND terms that
 * nothing survives to are never loaded.
 */
typedef struct PredicateEvaluator PredicateEvaluator;

typedef const LakeVector *(*VectorLoader) (void *arg, int32_t field_id);

extern PredicateEvaluator *predicate_evaluator_create(LakeArena *arena,
													  const Predicate *predicate,
													  VectorLoader load,
													  void *arg);

/*
 * Narrows selection, in_count ascending row numbers below BATCH_MAX_ROWS, to
 * the rows that satisfy the predicate; returns how many are left.  The vectors'
 * values must be in the layout of their LakeType (see batch.h).
 */
extern uint32_t predicate_evaluate(PredicateEvaluator *evaluator,
								   uint32_t *selection, uint32_t in_count);

#endif							/* LAKE_PREDICATE_H */
