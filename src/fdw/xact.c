/*
 * From staged tables to commits, in PRE_COMMIT.
 *
 * Files are written and made durable with no lock held.  Then the pointers are
 * swapped, in the order of the tables' keys, inside of a subtransaction: when
 * one of them has moved, all locks are given back, the commit is built anew on
 * the new head, and tried again; the last try locks first.  After the swap
 * nothing is done but to return, since the rows stay locked until the
 * transaction is durable.
 *
 * Whether a moved pointer is a conflict is the format's to say, except in
 * SERIALIZABLE, where it always is (decisions 6.1).
 */
#include "fdw/staged_int.h"

#include "access/transam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/resowner.h"
#include "utils/timeout.h"

#include "server/compat.h"
#include "server/server.h"

/* files that an aborted transaction removes at once, of all tables together */
#define MAX_UNLINKS		64

/* tries without a lock, before the one that takes it first */
#define OPTIMISTIC_TRIES 2

typedef struct TableCommit
{
	StagedTable *table;
	LakeCommit *commit;			/* NULL: rows were locked, nothing changed */
	const char *built_on;		/* metadata location; NULL: not built yet */
	const char *location;		/* where the pointer is, as far as known */
	CommitAttempt attempt;
	int			tries;
	instr_time	locked_at;		/* since when the pointer is locked */
} TableCommit;

typedef struct Commits
{
	int			count;
	TableCommit *tables;		/* by key */
	const TableCommit *loser;	/* of the last try: whose pointer had moved */
	MemoryContext context;
} Commits;

static bool is_timed_out = false;

/* whose lost swap is being made up for, and since when; NULL: nobody's */
static CommitStats *retried = NULL;
static instr_time retried_since;

static TimeoutId commit_timeout = MAX_TIMEOUTS; /* not registered yet */
static ExecutorEnd_hook_type previous_executor_end = NULL;
static ProcessUtility_hook_type previous_utility = NULL;

/* ---- errors ---- */

static pg_noinline void
throw_conflict(const TableCommit *commit, int kind, const char *reason)
{
	conflict_throw(commit->table->relation, commit->table, commit->location,
				   kind, reason);
}

static pg_noinline void
throw_gone(const TableCommit *table)
{
	const LakeRelation *relation = table->table->relation;

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("lake table \"%s.%s\" was dropped, renamed or replaced by a concurrent commit",
					name_from_lake(relation->options->name_space),
					name_from_lake(relation->options->table)),
			 errdetail("Nothing of this transaction has been committed.")));
}

/* ---- building ---- */

static const char *const *
make_summary(int *count)
{
	const char **pairs = palloc_array(const char *, 6);
	const char *application = application_name == NULL ? "" :
		application_name;

	pairs[0] = "lakefdw.xid";
	pairs[1] = psprintf("%llu", (unsigned long long)
						U64FromFullTransactionId(GetTopFullTransactionId()));
	pairs[2] = "lakefdw.user";
	pairs[3] = name_to_lake(GetUserNameFromId(GetSessionUserId(), false));
	pairs[4] = "lakefdw.application-name";
	pairs[5] = name_to_lake(application);
	*count = application[0] == '\0' ? 2 : 3;
	return pairs;
}

static void
begin_commit(TableCommit *commit)
{
	StagedTable *table = commit->table;
	const LakeFormat *format = table->relation->table->format;
	CommitOptions *options = palloc0(sizeof *options);

	options->store = table->relation->store;
	options->changes = staged_changes(table);
	if (options->changes == NULL)
		return;
	options->summary = make_summary(&options->summary_count);
	options->file_prefix = table->file_prefix;
	options->table_uuid = table->relation->table->uuid;
	commit->commit = format->commit_create(lake_arena_of(table->context),
										   options);
}

/* writes what the head asks for, and counts what it has to do with others */
static void
build_on(TableCommit *commit, const LakeTable *head)
{
	const LakeRelation *relation = commit->table->relation;
	CommitStats *stats = commit->table->stats;
	uint64		before = relation->store->bytes_written;

	commit->attempt = relation->table->format->commit_build(commit->commit,
															head);
	if (commit->tries++ > 0)
		commit_stats_add(stats, COMMIT_BYTES_REWRITTEN,
						 relation->store->bytes_written - before);
	if (commit->attempt.metadata_location == NULL)
		throw_conflict(commit, commit->attempt.conflict_kind,
					   commit->attempt.conflict);
	if (strcmp(commit->location, relation->table->metadata_location) != 0)
		commit_stats_add(stats, COMMIT_REBASES, 1);
}

static void
build(TableCommit *commit)
{
	const LakeRelation *relation = commit->table->relation;
	const LakeTable *head;

	if (commit->built_on != NULL &&
		strcmp(commit->built_on, commit->location) == 0)
		return;
	if (strcmp(commit->location, relation->table->metadata_location) != 0)
	{
		if (commit->table->extent.is_locked)
			throw_conflict(commit, SERVER_CONFLICT_LOCKED_ROWS,
						   "The table has changed since its rows were locked by SELECT FOR UPDATE or SHARE.");
		if (IsolationIsSerializable())
			throw_conflict(commit, SERVER_CONFLICT_SERIALIZABLE,
						   "The table has changed since this SERIALIZABLE transaction began.");
	}
	commit->built_on = commit->location;
	if (commit->commit == NULL)
		return;
	head = lake_table_at(relation, commit->location);
	if (relation->table->uuid != NULL &&
		(head->uuid == NULL || strcmp(head->uuid, relation->table->uuid) != 0))
		throw_gone(commit);
	build_on(commit, head);
}

static void
find_heads(Commits *commits)
{
	for (int i = 0; i < commits->count; i++)
	{
		TableCommit *commit = &commits->tables[i];
		const LakeRelation *relation = commit->table->relation;

		commit->location = hosted_catalog_latest(relation->server,
												 relation->options->name_space,
												 relation->options->table);
		if (commit->location == NULL)
			throw_gone(commit);
	}
}

/* writes what the heads ask for, until the disk has it */
static void
build_all(Commits *commits)
{
	for (int i = 0; i < commits->count; i++)
		build(&commits->tables[i]);
	for (int i = 0; i < commits->count; i++)
	{
		LakeStore  *store = commits->tables[i].table->relation->store;

		put_set_publish(store, store->puts);
	}
	stop_point("after-put");
}

/* ---- swapping ---- */

/* is there a new version?  Changes can come to nothing on a new head. */
static bool
changes_pointer(const TableCommit *commit)
{
	return commit->commit != NULL &&
		(commit->attempt.metadata_location == NULL ||
		 strcmp(commit->attempt.metadata_location, commit->location) != 0);
}

/* false: the pointer is not where the commit expects it */
static bool
swap(TableCommit *commit, bool lock_only)
{
	const LakeRelation *relation = commit->table->relation;
	bool		changes = changes_pointer(commit);
	const char *current;
	instr_time	locked_at;
	HostedLock	result;

	/* who only read may do so beside others who only read */
	result = hosted_catalog_swap(relation, commit->location,
								 lock_only || !changes ? NULL :
								 commit->attempt.metadata_location,
								 !changes, commit->table->stats, &current,
								 &locked_at);
	if (INSTR_TIME_IS_ZERO(commit->locked_at))
		commit->locked_at = locked_at;
	switch (result)
	{
		case HOSTED_UNCHANGED:
			return true;
		case HOSTED_MOVED:
			commit->location = current;
			return false;
		case HOSTED_VIEW:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("lake table \"%s.%s\" has become a view",
							name_from_lake(relation->options->name_space),
							name_from_lake(relation->options->table))));
		case HOSTED_GONE:
			break;
	}
	throw_gone(commit);
	return false;
}

static void
end_retry(void)
{
	if (retried != NULL)
		commit_stats_add(retried, COMMIT_RETRY_US,
						 commit_stats_microseconds(&retried_since));
	retried = NULL;
}

/* a swap that somebody else was faster with */
static void
lose_swap(Commits *commits, const TableCommit *loser)
{
	end_retry();
	commits->loser = loser;
	retried = loser->table->stats;
	INSTR_TIME_SET_CURRENT(retried_since);
	commit_stats_add(retried, COMMIT_CAS_LOSSES, 1);
	for (int i = 0; i < commits->count; i++)
		INSTR_TIME_SET_ZERO(commits->tables[i].locked_at);
}

static bool
swap_all(Commits *commits)
{
	for (int i = 0; i < commits->count; i++)
	{
		if (!swap(&commits->tables[i], false))
		{
			lose_swap(commits, &commits->tables[i]);
			return false;
		}
	}
	return true;
}

/*
 * All or none, whose locks are gone then.  An error must not find the
 * subtransaction open: the session would be left within a transaction.
 */
static bool
try_swaps(Commits *commits)
{
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = false;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction("lakefdw commit");
	MemoryContextSwitchTo(commits->context);
	PG_TRY();
	{
		done = swap_all(commits);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(commits->context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (done)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(commits->context);
	CurrentResourceOwner = owner;
	if (error != NULL)
		ReThrowError(error);
	return done;
}

/* under locks, for who has lost before: nobody can be faster */
static void
force_swaps(Commits *commits)
{
	for (int i = 0; i < commits->count; i++)
		(void) swap(&commits->tables[i], true);
	build_all(commits);
	for (int i = 0; i < commits->count; i++)
	{
		if (!swap(&commits->tables[i], false))
			elog(ERROR, "pointer of a locked lake table has moved");
	}
}

static int
retries(const Commits *commits)
{
	int			count = INT_MAX;

	for (int i = 0; i < commits->count; i++)
		count = Min(count, commits->tables[i].table->write->retry_count);
	return count;
}

/* how long others have waited for us so far, who now wait for the disk */
static void
report(const Commits *commits)
{
	for (int i = 0; i < commits->count; i++)
	{
		const TableCommit *commit = &commits->tables[i];
		const LakeRelation *relation = commit->table->relation;

		ereport(DEBUG1,
				(errmsg_internal("lake table \"%s.%s\": commit of snapshot %lld is ready after %d tries; its pointer has been locked for %.3f ms",
								 name_from_lake(relation->options->name_space),
								 name_from_lake(relation->options->table),
								 (long long) commit->attempt.snapshot_id,
								 commit->tries,
								 commit_stats_microseconds(&commit->locked_at) / 1000.0)));
	}
}

static void
commit_tables(Commits *commits)
{
	int			tries = 0;
	int			retry_count = retries(commits);

	find_heads(commits);
	for (;;)
	{
		build_all(commits);
		stop_point("before-swap");
		if (try_swaps(commits))
			break;
		if (tries++ >= retry_count)
			throw_conflict(commits->loser, SERVER_CONFLICT_RETRIES,
						   "Others committed first, and the table's commit.retry.num-retries allows no further try.");
		find_heads(commits);
		if (tries >= OPTIMISTIC_TRIES)
		{
			force_swaps(commits);
			break;
		}
	}
	end_retry();
	for (int i = 0; i < commits->count; i++)
		commits->tables[i].table->is_swapped =
			changes_pointer(&commits->tables[i]);
	stop_point("after-swap");
	report(commits);
}

/* ---- the callbacks ---- */

static int
compare_keys(const void *a, const void *b)
{
	return strcmp(((const TableCommit *) a)->table->key,
				  ((const TableCommit *) b)->table->key);
}

static void
begin_commits(Commits *commits)
{
	dlist_iter	iter;
	int			count = 0;

	dlist_foreach(iter, &staged_tables)
		count++;
	commits->tables = palloc0_array(TableCommit, count);
	dlist_foreach(iter, &staged_tables)
	{
		TableCommit *commit = &commits->tables[commits->count];

		memset(commit, 0, sizeof *commit);
		commit->table = dlist_container(StagedTable, node, iter.cur);
		begin_commit(commit);
		if (commit->commit != NULL || commit->table->extent.is_locked)
		{
			commit->table->stats = commit_stats_of(commit->table->relation);
			commits->count++;
		}
	}
	qsort(commits->tables, commits->count, sizeof *commits->tables,
		  compare_keys);
}

/* in a signal handler: the next check for interrupts cancels */
static void
on_commit_timeout(void)
{
	is_timed_out = true;
	QueryCancelPending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static void
start_timeout(void)
{
	is_timed_out = false;
	if (lake_commit_timeout_ms == 0)
		return;
	/* not earlier: the postmaster, which may load us, has no timeouts */
	if (commit_timeout == MAX_TIMEOUTS)
		commit_timeout = RegisterTimeout(USER_TIMEOUT, on_commit_timeout);
	enable_timeout_after(commit_timeout, lake_commit_timeout_ms);
}

static void
stop_timeout(void)
{
	if (commit_timeout != MAX_TIMEOUTS && get_timeout_active(commit_timeout))
		disable_timeout(commit_timeout, false);
	/* too late for this commit, it must not cancel what comes next */
	if (is_timed_out)
		QueryCancelPending = false;
	is_timed_out = false;
}

static void
add_context(void *arg)
{
	if (is_timed_out)
		errcontext("committing lake tables, for longer than lakefdw.commit_timeout allows");
	else
		errcontext("committing lake tables");
}

static void
pre_commit(void)
{
	Commits		commits = {0};
	MemoryContext caller;
	ErrorContextCallback context = {
		.previous = error_context_stack,
		.callback = add_context
	};

	if (dlist_is_empty(&staged_tables))
		return;
	error_context_stack = &context;
	/* rows of the catalog that the last command added count as well */
	CommandCounterIncrement();
	commits.context = AllocSetContextCreate(TopTransactionContext,
											"lake commit",
											ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(commits.context);
	start_timeout();
	stop_point("before-put");
	begin_commits(&commits);
	if (commits.count > 0)
		commit_tables(&commits);
	stop_timeout();
	MemoryContextSwitchTo(caller);
	error_context_stack = context.previous;
}

/* what an aborted transaction published is nobody's */
static void
remove_files(void)
{
	dlist_iter	iter;
	size_t		count = 0;

	dlist_foreach(iter, &staged_tables)
		count++;
	dlist_foreach(iter, &staged_tables)
	{
		StagedTable *table = dlist_container(StagedTable, node, iter.cur);

		(void) put_set_remove_published(table->relation->store->puts,
										Max(MAX_UNLINKS / count, 1));
	}
}

/* now that nothing can undo them */
static void
count_commits(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &staged_tables)
	{
		StagedTable *table = dlist_container(StagedTable, node, iter.cur);

		if (table->is_swapped)
			commit_stats_add(table->stats, COMMIT_COMMITS, 1);
	}
}

static void
end_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			pre_commit();
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (!dlist_is_empty(&staged_tables))
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has written to lake tables")));
			break;
		case XACT_EVENT_ABORT:
			stop_timeout();
			end_retry();
			remove_files();
			staged_forget();
			break;
		case XACT_EVENT_COMMIT:
			count_commits();
			staged_forget();
			break;
		default:
			break;
	}
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId id,
				   SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		staged_end_subtransaction(false, GetCurrentTransactionNestLevel());
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		staged_end_subtransaction(true, GetCurrentTransactionNestLevel());
}

void
xact_run_first(void)
{
	UnregisterXactCallback(end_transaction, NULL);
	RegisterXactCallback(end_transaction, NULL);
}

/*
 * Another wrapper registers its callback when it is used first, which can be
 * after our last statement: so it is looked to after each statement.
 */
static void
executor_end(QueryDesc *query)
{
	if (previous_executor_end != NULL)
		previous_executor_end(query);
	else
		standard_ExecutorEnd(query);
	if (!dlist_is_empty(&staged_tables))
		xact_run_first();
}

/* COPY and TRUNCATE use other wrappers, too, and have no executor to end */
static void
utility(PlannedStmt *statement, const char *query, bool is_read_only_tree,
		ProcessUtilityContext context, ParamListInfo params,
		QueryEnvironment *environment, DestReceiver *receiver,
		QueryCompletion *completion)
{
	if (previous_utility != NULL)
		previous_utility(statement, query, is_read_only_tree, context, params,
						 environment, receiver, completion);
	else
		standard_ProcessUtility(statement, query, is_read_only_tree, context,
								params, environment, receiver, completion);
	if (!dlist_is_empty(&staged_tables))
		xact_run_first();
}

void
xact_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
	previous_executor_end = ExecutorEnd_hook;
	ExecutorEnd_hook = executor_end;
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = utility;
}
