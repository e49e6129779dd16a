/*
 * SQL functions of schema lake: what they share.
 *
 * Each is LANGUAGE C with a symbol lakefdw_<name>, SECURITY INVOKER, and checks
 * by itself who may call it (decisions 1.6, 1.7).
 */
#ifndef LAKE_FUNCTIONS_H
#define LAKE_FUNCTIONS_H

#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"

#include "server/server.h"

/* ---- inspect.c ---- */

/* what a caller must be allowed to SELECT (decisions 1.7) */
typedef enum InspectRight
{
	INSPECT_ANY_COLUMN,			/* shows no values of columns */
	INSPECT_EVERY_COLUMN		/* shows bounds of columns */
} InspectRight;

/* has the current user the right? */
extern bool inspect_may_select(Oid relid, InspectRight right);

/* locks it for reading; throws 42809 unless it is one of our foreign tables */
extern void inspect_check_lake_table(Oid relid);

/*
 * Opens the lake table of a function's first argument, a regclass, under the
 * active snapshot's pin, in the current memory context; columns are not bound,
 * and the version is the newest whatever options and settings ask for.  Throws
 * 42809 unless it is one of our foreign tables, 42501 without the right.
 */
extern LakeRelation *inspect_open(FunctionCallInfo fcinfo,
								  InspectRight right);

/*
 * The same under the selector in the arguments first .. first + 2 (snapshot
 * bigint, as_of timestamptz, ref text), of which one at most is not NULL
 * (22023); under the table's own version if all are.
 */
extern LakeRelation *inspect_open_version(FunctionCallInfo fcinfo,
										  InspectRight right, int first);

/*
 * Text in UTF-8 as a text Datum in the database's encoding; throws as
 * name_from_lake does.
 */
extern Datum inspect_text(const char *text);
extern Datum inspect_text_bytes(LakeBytes text);

/*
 * The time of a snapshot or a file, in milliseconds since 1970, as timestamptz;
 * throws 22008, naming what has it.
 */
extern Datum inspect_snapshot_time(int64 milliseconds, int64 snapshot_id);
extern Datum inspect_file_time(int64 milliseconds, const char *file);

#endif							/* LAKE_FUNCTIONS_H */
