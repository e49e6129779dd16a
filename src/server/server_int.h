/*
 * What the files of server/ share among themselves.
 */
#ifndef LAKE_SERVER_INT_H
#define LAKE_SERVER_INT_H

#include "server/server.h"

#include "base/vector.h"
#include "lib/stringinfo.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

/* ---- option.c ---- */

/* finds the candidate that wanted was probably meant to be */
typedef struct NearMatch
{
	const char *wanted;
	const char *best;			/* borrowed candidate; NULL: none is near */
	int			distance;		/* of best, in edits */
} NearMatch;

extern void near_match_init(NearMatch *match, const char *wanted);
extern void near_match_consider(NearMatch *match, const char *candidate);

/* allows each location of a comma-separated list; throws INVALID */
extern void options_allow_list(LakeArena *arena, LakePathRules *rules,
							   const char *list);

/* ---- typemap.c ---- */

/* a scalar type's own PostgreSQL type and modifier; InvalidOid: none */
extern Oid	typemap_scalar(const LakeType *type, int32 *typmod);
/* can the type be shown as jsonb, all of it? */
extern bool typemap_is_json(const LakeType *type);
/* the type modifier of numeric(precision, scale) */
extern int32 typemap_numeric_typmod(int precision, int scale);

#endif							/* LAKE_SERVER_INT_H */
