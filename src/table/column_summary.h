/*
 * What the files of a table say of a column, put together: for a planner's
 * estimates, never for an answer.
 */
#ifndef LAKE_COLUMN_SUMMARY_H
#define LAKE_COLUMN_SUMMARY_H

#include "base/vector.h"
#include "table/predicate.h"
#include "table/type.h"

typedef struct ColumnSummary ColumnSummary;

#define COLUMN_SUMMARY_QUANTILES 101

typedef struct ColumnEstimate
{
	double		null_fraction;	/* -1 unknown */
	double		distinct;		/* values but NULL; 0 unknown */

	/*
	 * Ascending values with as many rows between two neighbours each, in the
	 * layout of batch.h; of text the ends only.  count 1: all values are this
	 * one; 0: nothing is known.
	 */
	LakeVector	quantiles;
} ColumnEstimate;

/* of a scalar type, which is borrowed */
extern ColumnSummary *column_summary_create(LakeArena *arena,
											const LakeType *type);

/* one file's rows (-1 unknown) and bounds; bounds NULL: nothing is known */
extern void column_summary_add(ColumnSummary *summary, int64_t rows,
							   const LakeBounds *bounds);

/* puts values into arena; call it once, after the last file */
extern void column_summary_finish(ColumnSummary *summary, LakeArena *arena,
								  ColumnEstimate *estimate);

#endif							/* LAKE_COLUMN_SUMMARY_H */
