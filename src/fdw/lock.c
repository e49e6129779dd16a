/*
 * Locks of whole lake tables: pessimism for those whose writers collide often,
 * and SELECT ... FOR UPDATE or SHARE.
 *
 * A table lock is one of the server's own, of the advisory class, so that it
 * shows in pg_locks and takes part in the detection of deadlocks.  It stops
 * sessions of this database that ask for it; other engines know nothing of it,
 * and the swap's comparison still guards against them.
 *
 * FOR UPDATE takes no lock.  It makes the transaction depend on the table: the
 * pointer must be, at commit, where it was (decisions 6.2, 6.3).
 */
#include "fdw/staged_int.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "storage/lock.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* beside 1 and 2, which pg_advisory_lock() has */
#define LOCK_CLASS	3

static ExecutorStart_hook_type previous_executor_start = NULL;

/* ---- the lock ---- */

static pg_noinline void
throw_unavailable(const LakeRelation *relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not obtain lock on lake table \"%s.%s\"",
					name_from_lake(relation->options->name_space),
					name_from_lake(relation->options->table))));
}

/* a transaction with one snapshot cannot go on from what came after it */
static void
check_unmoved(const LakeRelation *relation, const char *latest)
{
	if (!IsolationUsesXactSnapshot() ||
		strcmp(latest, relation->table->metadata_location) == 0)
		return;
	conflict_throw(relation, NULL, latest, SERVER_CONFLICT_TABLE_LOCK,
				   "The table has changed between the transaction's snapshot and its lock on the table.");
}

/* false: nowait, and somebody has it; waits that end in an error count, too */
static bool
wait_for_lock(uint64 key, bool nowait, CommitStats *stats)
{
	volatile bool has_lock = false;
	LOCKTAG		tag;
	instr_time	since;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32),
						 (uint32) key, LOCK_CLASS);
	INSTR_TIME_SET_CURRENT(since);
	PG_TRY();
	{
		has_lock = LockAcquire(&tag, ExclusiveLock, false, nowait) !=
			LOCKACQUIRE_NOT_AVAIL;
	}
	PG_CATCH();
	{
		commit_stats_waited(stats, &since);
		PG_RE_THROW();
	}
	PG_END_TRY();
	commit_stats_waited(stats, &since);
	return has_lock;
}

/* where the table is now that nobody else who locks can move it */
static const char *
acquire(const LakeRelation *relation, bool nowait)
{
	uint64		key;
	const char *latest;

	if (relation->options->metadata_location != NULL ||
		strcmp(relation->server->catalog, "hosted") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot lock foreign table \"%s\": it is not in a hosted catalog",
						relation->name)));
	key = DatumGetUInt64(hash_any_extended((const unsigned char *)
										   relation->key,
										   strlen(relation->key), 0));
	if (!wait_for_lock(key, nowait, commit_stats_of(relation)))
		throw_unavailable(relation);
	latest = hosted_catalog_latest(relation->server,
								   relation->options->name_space,
								   relation->options->table);
	if (latest == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("lake table \"%s.%s\" does not exist any more",
						name_from_lake(relation->options->name_space),
						name_from_lake(relation->options->table))));
	check_unmoved(relation, latest);
	return latest;
}

static LakeRelation *
open_at(Oid relid, Snapshot snapshot, const char *metadata_location)
{
	LakeOpen	how = {
		.snapshot = snapshot,
		.metadata_location = metadata_location,
		.without_columns = true
	};

	return lake_relation_open(relid, &how);
}

void
lock_lake_table(Oid relid, bool nowait)
{
	(void) acquire(open_at(relid, GetActiveSnapshot(), NULL), nowait);
}

static int
compare_keys(const ListCell *a, const ListCell *b)
{
	return strcmp(((const LakeRelation *) lfirst(a))->key,
				  ((const LakeRelation *) lfirst(b))->key);
}

void
lock_lake_tables(List *relids)
{
	List	   *relations = NIL;
	ListCell   *cell;

	foreach(cell, relids)
		relations = lappend(relations, open_at(lfirst_oid(cell),
											   GetActiveSnapshot(), NULL));
	/* whoever locks several this way waits in the same order */
	list_sort(relations, compare_keys);
	foreach(cell, relations)
		(void) acquire(lfirst(cell), false);
}

/* ---- statements ---- */

/*
 * Rows are locked and changed in the version that the lock guards: where that is
 * newer than the statement's snapshot, the table alone is read at the newer one.
 */
static void
lock_version(Oid relid, LakeRelation *relation, bool nowait, StagedUse use)
{
	const char *latest = acquire(relation, nowait);

	if (use == STAGED_INSERT)
		return;
	if (strcmp(latest, relation->table->metadata_location) != 0 &&
		!staged_is_pinned(relation))
		relation = open_at(relid, NULL, latest);
	(void) staged_begin(relation, use);
}

void
lock_to_write(const LakeRelation *relation)
{
	if (lake_write_lock)
		(void) acquire(relation, false);
}

static StagedUse
use_of_command(CmdType command)
{
	switch (command)
	{
		case CMD_INSERT:
			return STAGED_INSERT;
		case CMD_UPDATE:
			return STAGED_UPDATE;
		default:
			return STAGED_DELETE;
	}
}

static bool
is_lake_entry(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_RELATION &&
		rte->relkind == RELKIND_FOREIGN_TABLE &&
		is_lake_server(GetForeignServerIdByRelId(rte->relid));
}

static void
lock_targets(const QueryDesc *query)
{
	const PlannedStmt *plan = query->plannedstmt;
	ListCell   *cell;

	foreach(cell, plan->resultRelations)
	{
		const RangeTblEntry *rte = rt_fetch(lfirst_int(cell), plan->rtable);

		if (is_lake_entry(rte))
			lock_version(rte->relid, open_at(rte->relid, query->snapshot, NULL),
						 false, use_of_command(plan->commandType));
	}
}

static void
mark_rows(const QueryDesc *query)
{
	const PlannedStmt *plan = query->plannedstmt;
	ListCell   *cell;

	foreach(cell, plan->rowMarks)
	{
		const PlanRowMark *mark = lfirst(cell);
		const RangeTblEntry *rte;
		LakeRelation *relation;

		if (mark->isParent || mark->strength == LCS_NONE)
			continue;
		rte = rt_fetch(mark->rti, plan->rtable);
		if (!is_lake_entry(rte))
			continue;
		if (mark->waitPolicy == LockWaitSkip)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("SKIP LOCKED is not supported on lake tables"),
					 errdetail("Rows of lake tables are not locked one by one.")));
		relation = open_at(rte->relid, query->snapshot, NULL);
		if (lake_write_lock)
			lock_version(rte->relid, relation,
						 mark->waitPolicy == LockWaitError, STAGED_LOCK);
		else
			(void) staged_begin(relation, STAGED_LOCK);
	}
}

static void
executor_start(QueryDesc *query, int eflags)
{
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && !IsParallelWorker() &&
		(query->plannedstmt->rowMarks != NIL ||
		 (lake_write_lock && query->plannedstmt->resultRelations != NIL)))
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
													  "lake locks",
													  ALLOCSET_SMALL_SIZES);
		MemoryContext caller = MemoryContextSwitchTo(context);

		mark_rows(query);
		if (lake_write_lock)
			lock_targets(query);
		MemoryContextSwitchTo(caller);
		MemoryContextDelete(context);
	}
	if (previous_executor_start != NULL)
		previous_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
lock_init(void)
{
	previous_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
}
