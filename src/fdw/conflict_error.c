/*
 * Conflicts as errors: 40001, with what the transaction has read, what the table
 * has now, what stands in the way, and what to do about it.
 */
#include "fdw/staged_int.h"

#define RETRY "The transaction might succeed if retried."

/* by kind; NULL: no more than that */
static const char *const hints[SERVER_CONFLICT_KINDS] = {
	[CONFLICT_ADDED_ROWS] = RETRY " Rows that others add are no conflict if the table's property write.update.isolation-level or write.delete.isolation-level is snapshot.",
	[CONFLICT_REMOVED_FILE] = RETRY " With lakefdw.write_lock on, sessions that write to the table wait for each other instead.",
	[CONFLICT_DELETED_ROWS] = RETRY " With lakefdw.write_lock on, sessions that write to the table wait for each other instead.",
	[SERVER_CONFLICT_SERIALIZABLE] = RETRY " In REPEATABLE READ, changes that do not concern each other are both committed.",
	[SERVER_CONFLICT_LOCKED_ROWS] = RETRY " lake.lock_table() waits for other sessions that lock instead.",
	[SERVER_CONFLICT_TABLE_LOCK] = RETRY " In READ COMMITTED it would go on with what the table has now.",
	[SERVER_CONFLICT_RETRIES] = RETRY " The table's property commit.retry.num-retries allows more tries; with lakefdw.write_lock on, sessions that write to the table wait for each other.",
};

/* the operations of the transaction, as SQL calls them */
static const char *
operations_text(const StagedTable *table)
{
	bool		has_delete = false;
	bool		has_update = false;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < table->extent.reads; i++)
	{
		has_update |= table->reads[i].use == STAGED_UPDATE;
		has_delete |= table->reads[i].use == STAGED_DELETE;
	}
	/* rows of updates are added, too */
	if (!has_update && (table->extent.rows > 0 || table->extent.files > 0))
		appendStringInfoString(&text, ", INSERT");
	if (has_update)
		appendStringInfoString(&text, ", UPDATE");
	if (has_delete)
		appendStringInfoString(&text, ", DELETE");
	if (table->extent.is_truncated)
		appendStringInfoString(&text, ", TRUNCATE");
	if (table->extent.is_locked)
		appendStringInfoString(&text, ", SELECT FOR UPDATE or SHARE");
	return text.len == 0 ? "" : psprintf("'s %s", text.data + 2);
}

static const char *
base_text(const LakeRelation *base, const char *name)
{
	if (base->snapshot == NULL)
		return psprintf("table \"%s\" without a snapshot", name);
	return psprintf("snapshot %lld of table \"%s\"",
					(long long) base->snapshot->id, name);
}

static const char *
head_text(const LakeRelation *base, const LakeSnapshot *head)
{
	if (head == NULL)
		return "The table has no snapshot now.";
	if (base->snapshot != NULL && base->snapshot->id == head->id)
		return "The table's current snapshot is the same, in other metadata.";
	return psprintf("The table's current snapshot is %lld, operation %s.",
					(long long) head->id,
					head->operation == NULL ? "unknown" :
					name_from_lake(head->operation));
}

void
conflict_throw(const LakeRelation *base, const StagedTable *table,
			   const char *location, int kind, const char *reason)
{
	const LakeSnapshot *head = lake_table_at(base, location)->current_snapshot;
	const char *name = psprintf("%s.%s",
								name_from_lake(base->options->name_space),
								name_from_lake(base->options->table));

	commit_stats_conflict(commit_stats_of(base), kind);
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access to lake table \"%s\" due to a concurrent commit",
					name),
			 errdetail("%s The transaction%s is based on %s. %s",
					   name_from_lake(reason),
					   table == NULL ? "" : operations_text(table),
					   base_text(base, name), head_text(base, head)),
			 errhint("%s", hints[kind] == NULL ? RETRY : hints[kind])));
}
