/*
 * A batch: some consecutive rows of a file, the selected ones among them, and
 * columns that are decoded when first asked for.
 *
 * Layouts of column vectors by LakeType, whatever the file's physical type was:
 * boolean BOOL; int, date I32; long, time, timestamps I64 (micro- or, for _NS,
 * nanoseconds); float F32; double F64; decimal I64 up to precision 18, else
 * I128, at the type's scale; string, uuid, fixed, binary BYTES; list, map,
 * struct as such, struct children in the type's order; variant STRUCT of
 * metadata and value BYTES, plus typed_value when shredded.
 */
#ifndef LAKE_BATCH_H
#define LAKE_BATCH_H

#include "base/vector.h"

#define BATCH_MAX_ROWS 4096

typedef struct LakeBatch
{
	uint32_t	row_count;		/* physical rows covered */
	uint32_t	selected_count; /* > 0 */
	const uint32_t *selection;	/* selected_count ascending row numbers */
	int64_t		first_position; /* _pos of row 0 */
} LakeBatch;

#endif							/* LAKE_BATCH_H */
