/*
 * Typed scalars: literals of predicates, partition values, bounds, defaults.
 */
#ifndef LAKE_VALUE_H
#define LAKE_VALUE_H

#include "table/type.h"

/*
 * A scalar of a type known from elsewhere.  Which member holds it:
 * i: boolean (0, 1), int, long, date, time, all timestamps
 * d: float (widened), double
 * decimal: decimal, unscaled
 * bytes: string, uuid (16), fixed, binary; borrowed
 */
typedef struct LakeValue
{
	bool		is_null;
	union
	{
		int64_t		i;
		double		d;
		LakeInt128	decimal;
		LakeBytes	bytes;
	};
} LakeValue;

/* are its values bytes? */
extern bool lake_type_has_bytes(const LakeType *type);

/*
 * The order of PostgreSQL and of all comparisons here: numbers by value with
 * NaN equal to itself and above all others and -0.0 = 0.0, bytes unsigned,
 * false < true.  Neither value is NULL.
 */
extern int	lake_value_compare(const LakeType *type, const LakeValue *a,
							   const LakeValue *b);

/*
 * Iceberg's single-value binary form (spec, appendix D), as bounds use it.
 * Accepts the narrower form that a bound had before its column was promoted
 * (int for long, float for double, date for timestamp).  False when the bytes
 * cannot be a value of type: the caller treats the bound as unknown.  bytes
 * values borrow from bytes.
 */
extern bool lake_value_from_bound(const LakeType *type, LakeBytes bytes,
								  LakeValue *value);

/* the JSON form of defaults (spec, appendix C); throws CORRUPT */
extern void lake_value_from_json(LakeArena *arena, const LakeType *type,
								 LakeJson *json, LakeValue *value);

/* readable text, for messages */
extern const char *lake_value_text(LakeArena *arena, const LakeType *type,
								   const LakeValue *value);

/*
 * The single-value binary form of a value that is not NULL; may borrow from it,
 * else on arena.
 */
extern LakeBytes lake_value_to_bound(LakeArena *arena, const LakeType *type,
									 const LakeValue *value);

/*
 * Cut to a length in code points (string) or bytes (binary), other types as they
 * are: the result of lower bounds is not above, of upper bounds not below the
 * value.  False: there is no such upper bound.  May borrow from value.
 */
extern bool lake_value_truncate_bound(LakeArena *arena, const LakeType *type,
									  const LakeValue *value, int width,
									  bool upper, LakeValue *result);

#endif							/* LAKE_VALUE_H */
