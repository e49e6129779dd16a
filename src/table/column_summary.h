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
/* values that are told one by one */
#define COLUMN_SUMMARY_SINGLES 100

typedef struct ColumnEstimate
{
	double		null_fraction;	/* -1 unknown */
	double		distinct;		/* values but NULL; 0 unknown */

	/*
	 * Values in the layout of batch.h; count 0: nothing is known.  Without
	 * frequencies they ascend, with as many rows between two neighbours each,
	 * of text the ends only.  With frequencies they are all there are, the
	 * most frequent first, and each one's fraction of the rows that are not
	 * NULL.
	 */
	LakeVector	values;
	const double *frequencies;	/* NULL: values are quantiles */
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
