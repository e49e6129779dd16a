/*
 * Stop points: named places where a test holds a transaction, so that a race is
 * made certain.  Compiled by make STOP_POINTS=1 only.
 *
 * A session waits at the place that lakefdw.stop_point names for the advisory
 * lock hashtext(name), which whoever drives the test holds, and goes on as soon
 * as it is free.  The wait is an ordinary one: it shows in pg_locks, and can be
 * canceled or killed.
 */
#include "fdw/staged_int.h"

#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/guc.h"

static char *wanted = "";

void
stop_point(const char *name)
{
	LOCKTAG		tag;
	int64		key;

	if (strcmp(wanted, name) != 0)
		return;
	key = DatumGetInt32(DirectFunctionCall1Coll(hashtext, C_COLLATION_OID,
												CStringGetTextDatum(name)));
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) ((uint64) key >> 32),
						 (uint32) key, 1);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	LockRelease(&tag, ExclusiveLock, false);
}

/* the last callback that can stop a commit, being the first registered */
static void
before_commit_record(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT && !dlist_is_empty(&staged_tables))
		stop_point("before-commit-record");
}

/* before other callbacks are registered, and before "lakefdw" is reserved */
void
stop_points_init(void)
{
	DefineCustomStringVariable("lakefdw.stop_point",
							   "Names the place where this session waits for a test.",
							   NULL, &wanted, "", PGC_SUSET, 0,
							   NULL, NULL, NULL);
	RegisterXactCallback(before_commit_record, NULL);
}
