/*
 * What the files of the predicate share.
 */
#ifndef LAKE_PREDICATE_INT_H
#define LAKE_PREDICATE_INT_H

#include "table/predicate.h"

/*
 * A LIKE pattern, cut at its % signs.  Text matches when the first piece is at
 * its start, the last one at its end and the others in between in their order;
 * the leftmost place of each is as good as any other.
 */
typedef struct LikePiece
{
	const uint8_t *bytes;		/* escapes resolved */
	const uint8_t *any;			/* 1 = any one character; NULL: none is */
	size_t		len;
} LikePiece;

typedef struct LikePattern
{
	int			count;			/* >= 1; 1 = no % sign */
	LikePiece  *pieces;
	size_t		min_length;		/* bytes that a match has at least */
} LikePattern;

extern LikePattern *like_compile(LakeArena *arena, LakeBytes pattern);
extern bool like_matches(const LikePattern *pattern, LakeBytes text);

/* the bytes with which every match begins, borrowed from the pattern */
extern LakeBytes like_prefix(const LikePattern *pattern);

/* is it prefix followed by nothing but %? */
extern bool like_is_prefix(const LikePattern *pattern);

/* the pattern of all texts that begin with prefix */
extern LakeBytes like_from_prefix(LakeArena *arena, LakeBytes prefix);

/* index of the first of a leaf's sorted values that is not below value */
extern int	predicate_lower_value(const Predicate *leaf,
								  const LakeValue *value);

/*
 * One comparison, ready to run on an array of values of a layout.
 */
typedef struct PredicateTerm PredicateTerm;

/* keeps the rows of selection whose value passes; returns how many */
typedef uint32_t (*TermFilter) (const PredicateTerm *term, const void *values,
								uint32_t *selection, uint32_t count);

struct PredicateTerm
{
	TermFilter	filter;
	/* the literal, in the widest form of its layout */
	int64_t		i;
	double		d;
	LakeInt128	decimal;
	LakeBytes	bytes;
	/* lists: sorted, in the same forms; NaN apart */
	uint32_t	count;
	const void *list;
	bool		has_nan;
	bool		is_negated;		/* NOT IN, NOT LIKE */
	/* integer lists of narrow span: bit i - low says that i is in it */
	const uint64_t *bits;
	uint64_t	span;			/* highest - lowest value */
	const LikePattern *like;
};

/* a leaf other than IS [NOT] NULL, whose vectors have layout */
extern void predicate_term_init(PredicateTerm *term, LakeArena *arena,
								const Predicate *leaf, VectorLayout layout);

#endif							/* LAKE_PREDICATE_INT_H */
