/*
 * The commit's last step: a row of iceberg_tables is locked, compared and
 * pointed to a new metadata file, as part of the transaction.
 *
 * Not by SQL.  At commit there is no snapshot that a statement could run under,
 * and in REPEATABLE READ one would fail where the format allows a rebase.  A
 * tuple lock follows the row to its newest version in any isolation level, and
 * whether what it finds there is a conflict is decided by the caller
 * (design: "Pre-commit compare-and-swap").
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "executor/tuptable.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "server/compat.h"
#include "server/server_int.h"

/* a row that is being looked at */
typedef struct LockedRow
{
	HostedHeap	heap;
	TupleTableSlot *slot;		/* its newest version, locked */
} LockedRow;

static void
begin_keys(const LakeServerOptions *options, const char *name_space,
		   const char *table, const char **values)
{
	values[HOSTED_CATALOG_NAME] = options->catalog_name;
	values[HOSTED_TABLE_NAMESPACE] = name_space;
	values[HOSTED_TABLE_NAME] = table;
}

/* the server's owner stands for those who write, as for those who read */
static void
check_owner_may_update(const HostedHeap *heap,
					   const LakeServerOptions *options)
{
	if (pg_class_aclcheck(RelationGetRelid(heap->rel), options->owner,
						  ACL_UPDATE) == ACLCHECK_OK)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("owner \"%s\" of the foreign server may not update table \"%s.%s\"",
					GetUserNameFromId(options->owner, false),
					heap->schema, heap->table),
			 errhint("Grant it UPDATE on the table.")));
}

/*
 * An update below SQL keeps plain indexes only, and fires nothing.  A copy of
 * the catalog's tables that expects more is refused, before a row is touched.
 */
static void
check_is_plain(const HostedHeap *heap)
{
	const char *what = NULL;
	List	   *indexes = RelationGetIndexList(heap->rel);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		if (RelationGetIndexExpressions(index) != NIL ||
			RelationGetIndexPredicate(index) != NIL ||
			index->rd_index->indisexclusion || !index->rd_index->indimmediate)
			what = psprintf("its index \"%s\" is not a plain one",
							RelationGetRelationName(index));
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (heap->rel->trigdesc != NULL)
		what = "it has triggers, which a commit would not fire";
	else if (RelationGetDescr(heap->rel)->constr != NULL &&
			 (RelationGetDescr(heap->rel)->constr->num_check > 0 ||
			  RelationGetDescr(heap->rel)->constr->has_generated_stored))
		what = "it has check constraints or generated columns";
	if (what != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s.%s\" cannot take commits of lake tables: %s",
						heap->schema, heap->table, what)));
}

/* the row's newest version as text; data lives in the slot */
static const char *
slot_text(const LockedRow *row, int column)
{
	bool		is_null;
	Datum		datum;

	if (row->heap.columns[column] == InvalidAttrNumber)
		return NULL;
	datum = slot_getattr(row->slot, row->heap.columns[column], &is_null);
	return is_null ? NULL : name_to_lake(TextDatumGetCString(datum));
}

static bool
has_key(const LockedRow *row, const char *const *values)
{
	for (int i = 0; i < HOSTED_KEY_COLUMNS; i++)
	{
		const char *text = slot_text(row, i);

		if (text == NULL || strcmp(text, values[i]) != 0)
			return false;
	}
	return true;
}

/*
 * Locks the newest version of the row that there is now; false when the row is
 * gone.  Waits for whoever has it locked.
 */
static bool
lock_row(LockedRow *row, const char *const *values, bool shared)
{
	Snapshot	snapshot = GetActiveSnapshot();
	SysScanDesc scan = hosted_heap_scan(&row->heap, snapshot, values,
										HOSTED_KEY_COLUMNS);
	HeapTuple	tuple = systable_getnext(scan);
	ItemPointerData tid;
	TM_FailureData failure;
	TM_Result	result;

	if (tuple != NULL)
		tid = tuple->t_self;
	systable_endscan(scan);
	if (tuple == NULL)
		return false;
	result = table_tuple_lock(row->heap.rel, &tid, snapshot, row->slot,
							  GetCurrentCommandId(false),
							  shared ? LockTupleShare :
							  LockTupleNoKeyExclusive,
							  LockWaitBlock, TUPLE_LOCK_FLAG_FIND_LAST_VERSION,
							  &failure);
	if (result == TM_Deleted || result == TM_Invisible)
		return false;
	/* our own transaction may have made the row, or changed it, before */
	if (result != TM_Ok)
		elog(ERROR, "unexpected result %d of locking a row of \"%s.%s\"",
			 (int) result, row->heap.schema, row->heap.table);
	return true;
}

/* the column's declared length is ours to check, below SQL */
static Datum
location_datum(const HostedHeap *heap, int column, const char *location)
{
	const char *text = name_from_lake(location);
	int32		typmod = TupleDescAttr(RelationGetDescr(heap->rel),
									   heap->columns[column] - 1)->atttypmod;

	if (typmod >= (int32) VARHDRSZ &&
		pg_mbstrlen(text) > typmod - (int32) VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("metadata location is longer than column \"%s.%s\" of the catalog can hold",
						heap->table,
						NameStr(TupleDescAttr(RelationGetDescr(heap->rel),
											  heap->columns[column] - 1)->attname)),
				 errdetail("The location is \"%s\".", text)));
	return CStringGetTextDatum(text);
}

static void
point_row(LockedRow *row, const char *expected, const char *replacement)
{
	TupleDesc	desc = RelationGetDescr(row->heap.rel);
	Datum	   *values = palloc0_array(Datum, desc->natts);
	bool	   *nulls = palloc0_array(bool, desc->natts);
	bool	   *replaces = palloc0_array(bool, desc->natts);
	int			location = row->heap.columns[HOSTED_METADATA_LOCATION] - 1;
	int			previous = row->heap.columns[HOSTED_PREVIOUS_LOCATION] - 1;
	bool		should_free;
	HeapTuple	old = ExecFetchSlotHeapTuple(row->slot, false, &should_free);
	HeapTuple	tuple;

	replaces[location] = replaces[previous] = true;
	values[location] = location_datum(&row->heap, HOSTED_METADATA_LOCATION,
									  replacement);
	values[previous] = location_datum(&row->heap, HOSTED_PREVIOUS_LOCATION,
									  expected);
	tuple = heap_modify_tuple(old, desc, values, nulls, replaces);
	CatalogTupleUpdate(row->heap.rel, &row->slot->tts_tid, tuple);
	/* whoever looks next in this transaction sees it */
	CommandCounterIncrement();
	if (should_free)
		heap_freetuple(old);
}

/* the same, and waits that end in an error are counted, too */
static bool
lock_row_counted(LockedRow *row, const char *const *values, bool shared,
				 CommitStats *stats)
{
	volatile bool found = false;
	instr_time	since;

	INSTR_TIME_SET_CURRENT(since);
	PG_TRY();
	{
		found = lock_row(row, values, shared);
	}
	PG_CATCH();
	{
		commit_stats_waited(stats, &since);
		PG_RE_THROW();
	}
	PG_END_TRY();
	commit_stats_waited(stats, &since);
	return found;
}

static HostedLock
compare_row(const LockedRow *row, const char *const *values,
			const char *expected, const char **current)
{
	const char *type = slot_text(row, HOSTED_ICEBERG_TYPE);

	/* the lock followed the row, also to another name */
	if (!has_key(row, values))
		return HOSTED_GONE;
	if (type != NULL && strcmp(type, "TABLE") != 0)
		return HOSTED_VIEW;
	*current = slot_text(row, HOSTED_METADATA_LOCATION);
	if (*current == NULL)
		return HOSTED_GONE;
	return strcmp(*current, expected) == 0 ? HOSTED_UNCHANGED : HOSTED_MOVED;
}

HostedLock
hosted_catalog_swap(const LakeRelation *relation, const char *expected,
					const char *replacement, bool shared, CommitStats *stats,
					const char **current, instr_time * locked_at)
{
	const LakeServerOptions *options = relation->server;
	const char *values[HOSTED_KEY_COLUMNS];
	LockedRow	row;
	HostedLock	result = HOSTED_GONE;

	*current = NULL;
	begin_keys(options, relation->options->name_space,
			   relation->options->table, values);
	PushActiveSnapshot(GetLatestSnapshot());
	hosted_heap_open(&row.heap, options);
	LockRelationOid(RelationGetRelid(row.heap.rel), RowExclusiveLock);
	check_owner_may_update(&row.heap, options);
	if (replacement != NULL)
		check_is_plain(&row.heap);
	row.slot = table_slot_create(row.heap.rel, NULL);
	if (lock_row_counted(&row, values, shared, stats))
		result = compare_row(&row, values, expected, current);
	INSTR_TIME_SET_CURRENT(*locked_at);
	if (result == HOSTED_UNCHANGED && replacement != NULL)
		point_row(&row, expected, replacement);
	ExecDropSingleTupleTableSlot(row.slot);
	hosted_heap_close(&row.heap);
	PopActiveSnapshot();
	return result;
}

const char *
hosted_catalog_latest(const LakeServerOptions *options,
					  const char *name_space, const char *table)
{
	HostedTable row;
	bool		exists;

	PushActiveSnapshot(GetLatestSnapshot());
	exists = hosted_catalog_find(options, name_space, table,
								 GetActiveSnapshot(), &row);
	if (exists)
		hosted_table_check(options, &row);
	PopActiveSnapshot();
	return exists ? row.metadata_location : NULL;
}
