/*
 * Column vectors: what a file reader produces, what predicates evaluate and
 * what the server turns into Datums.
 *
 * A vector holds one value slot a row, NULL rows included (their slot is
 * initialised, its value meaningless).  A dictionary vector has codes instead
 * of values, so that work per distinct value (a predicate, a Datum) is done
 * once an entry.  Codes of non-NULL rows are always < dict->count; codes of
 * NULL rows are 0 and must not be looked up when the dictionary is empty.
 */
#ifndef LAKE_VECTOR_H
#define LAKE_VECTOR_H

#include "base/base.h"

typedef enum VectorLayout
{
	VECTOR_BOOL,				/* uint8_t, 0 or 1 */
	VECTOR_I32,					/* int32_t */
	VECTOR_I64,					/* int64_t */
	VECTOR_I128,				/* LakeInt128 */
	VECTOR_F32,					/* float */
	VECTOR_F64,					/* double */
	VECTOR_BYTES,				/* LakeBytes, borrowed from the vector's owner */
	VECTOR_LIST,				/* offsets + children[0] */
	VECTOR_MAP,					/* offsets + children[0] keys, [1] values */
	VECTOR_STRUCT				/* children, each of this vector's count */
} VectorLayout;

typedef struct LakeDictionary
{
	/* unique in this process: a key for caches of work done an entry */
	uint64_t	id;
	VectorLayout layout;		/* a scalar one */
	uint32_t	count;
	const void *values;			/* count values of layout */
} LakeDictionary;

typedef struct LakeVector LakeVector;
struct LakeVector
{
	VectorLayout layout;
	uint32_t	count;			/* rows, or elements of a child vector */
	/* one byte a row, 1 = NULL; NULL pointer = no row is NULL */
	const uint8_t *nulls;
	/* scalar layouts: exactly one of values and dict is set (if count > 0) */
	const void *values;			/* count values of layout */
	const LakeDictionary *dict;
	const uint32_t *codes;		/* count codes, with dict */
	/* VECTOR_LIST, VECTOR_MAP: count + 1 ascending offsets into children */
	const uint32_t *offsets;
	uint32_t	child_count;	/* vectors in children */
	LakeVector **children;
};

/* bytes of one value of a scalar layout, 0 for nested ones */
static inline size_t
vector_layout_width(VectorLayout layout)
{
	switch (layout)
	{
		case VECTOR_BOOL:
			return 1;
		case VECTOR_I32:
		case VECTOR_F32:
			return 4;
		case VECTOR_I64:
		case VECTOR_F64:
			return 8;
		case VECTOR_I128:
			return 16;
		case VECTOR_BYTES:
			return sizeof(LakeBytes);
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			break;
	}
	return 0;
}

static inline bool
vector_is_null(const LakeVector *vector, uint32_t row)
{
	return vector->nulls != NULL && vector->nulls[row] != 0;
}

/* address of the value of a row that is not NULL, scalar layouts only */
static inline const void *
vector_value(const LakeVector *vector, uint32_t row)
{
	size_t		width = vector_layout_width(vector->layout);

	if (vector->dict != NULL)
		return (const char *) vector->dict->values +
			(size_t) vector->codes[row] * width;
	return (const char *) vector->values + (size_t) row * width;
}

#endif							/* LAKE_VECTOR_H */
