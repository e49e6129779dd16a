/*
 * Deletes of one data file, loaded from its delete files and applied to rows by
 * physical position and by equality keys.  Private to table/ but for tests.
 *
 * Iceberg spec, "Delete Formats", "Scan Planning".
 */
#ifndef LAKE_DELETES_H
#define LAKE_DELETES_H

#include "base/bitmap.h"
#include "io/io.h"
#include "table/task.h"

/*
 * Reads a deletion vector blob: length, magic, bitmap, CRC and cardinality are
 * checked (CORRUPT).  Needs no Puffin framing around it.
 */
extern LakeBitmap *deletes_read_vector(LakeArena *arena, LakeFile *file,
									   const DeleteFile *deletes);

#endif							/* LAKE_DELETES_H */
