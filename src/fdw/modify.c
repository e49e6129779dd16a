/*
 * Executor callbacks that change rows: slots to what the transaction has staged.
 *
 * Nothing is written here but to memory (staged.c).  Core leaves more to us than
 * for its own tables: CHECK, NOT NULL and partition constraints, the row that
 * DELETE ... RETURNING shows, and that a row which a command reaches twice is
 * changed once.
 */
#include "fdw/staged_int.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* names of row identity columns; the second is core's too */
#define TID_NAME	"ctid"
#define ROW_NAME	"wholerow"

/*
 * What it takes to insert into a foreign table, from one statement of the
 * transaction to the next: to open it costs ten times as much as a row.  An
 * INSERT does not depend on the table's version, so there is nothing to look up
 * again unless the catalogs have changed.
 */
typedef struct Inserter Inserter;
struct Inserter
{
	Inserter   *next;			/* of the staged table, by other mappings */
	Oid			relid;
	uint64		generation;		/* of the catalogs */
	int			users;			/* statements; may be too many after errors */
	MemoryContext context;		/* of all that follows */
	LakeRelation *relation;
	StagedTable *table;
	RowWriter  *writer;
};

/* ResultRelInfo.ri_FdwState */
typedef struct LakeModify
{
	LakeRelation *relation;
	StagedTable *table;
	Inserter   *inserter;		/* NULL: rows are not inserted */
	Carry	   *carry;			/* NULL: rows are not updated */
	AttrNumber	tid_attribute;	/* in the subplan's rows */
	AttrNumber	row_attribute;	/* the whole row; invalid if there is none */
	/* rows that the statement itself has changed; NULL: no BEFORE trigger */
	LakeBitmap *own;
} LakeModify;

/* ---- planning ---- */

static const char *
qualified_name(Oid relid)
{
	return psprintf("%s.%s", get_namespace_name(get_rel_namespace(relid)),
					get_rel_name(relid));
}

static void
refuse_system_columns(PlannerInfo *root, Relation relation)
{
	Query	   *query = root->parse;
	Index		varno = query->resultRelation;
	Bitmapset  *attnums = NULL;

	pull_varattnos((Node *) query->targetList, varno, &attnums);
	pull_varattnos((Node *) query->jointree, varno, &attnums);
	pull_varattnos((Node *) query->returningList, varno, &attnums);
	pull_varattnos((Node *) query->withCheckOptions, varno, &attnums);
	plan_refuse_system_columns(qualified_name(RelationGetRelid(relation)),
							   attnums, false);
}

void
lakeAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
							RangeTblEntry *target_rte,
							Relation target_relation)
{
	Var		   *var;

	/* before it has one of our own: the ctid that a user asks for is no ctid */
	refuse_system_columns(root, target_relation);
	var = makeVar(rtindex, SelfItemPointerAttributeNumber, TIDOID, -1,
				  InvalidOid, 0);
	add_row_identity_var(root, var, rtindex, TID_NAME);
	if (root->parse->commandType != CMD_DELETE ||
		root->parse->returningList == NIL)
		return;
	var = makeVar(rtindex, InvalidAttrNumber, RECORDOID, -1, InvalidOid, 0);
	add_row_identity_var(root, var, rtindex, ROW_NAME);
}

/* RETURNING of INSERT: there is no scan that would refuse them */
List *
lakePlanForeignModify(PlannerInfo *root, ModifyTable *plan,
					  Index result_relation, int subplan_index)
{
	const RangeTblEntry *rte = planner_rt_fetch(result_relation, root);
	Bitmapset  *attnums = NULL;

	if (plan->returningLists != NIL)
		pull_varattnos((Node *) list_nth(plan->returningLists,
										 subplan_index),
					   result_relation, &attnums);
	plan_refuse_system_columns(qualified_name(rte->relid), attnums, false);
	return NIL;
}

/* ---- inserters ---- */

/* changes with whatever an inserter depends on */
static uint64 generation = 0;

static void
forget_relation(Datum arg, Oid relid)
{
	generation++;
}

static void
forget_object(Datum arg, int cache, uint32 hash)
{
	generation++;
}

void
modify_init(void)
{
	CacheRegisterRelcacheCallback(forget_relation, 0);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, forget_object, 0);
	CacheRegisterSyscacheCallback(AUTHOID, forget_object, 0);
	CacheRegisterSyscacheCallback(AUTHMEMMEMROLE, forget_object, 0);
}

/* of a statement before, with the table's outdated ones removed */
static Inserter *
find_inserter(Oid relid)
{
	LakeSelector selector;
	dlist_iter	iter;

	if (selector_of_settings(&selector))
		return NULL;
	dlist_foreach(iter, &staged_tables)
	{
		StagedTable *table = dlist_container(StagedTable, node, iter.cur);
		Inserter  **link = &table->inserters;

		while (*link != NULL)
		{
			Inserter   *inserter = *link;

			if (inserter->generation == generation)
			{
				if (inserter->relid == relid)
					return inserter;
				link = &inserter->next;
				continue;
			}
			*link = inserter->next;
			if (inserter->users == 0)
				MemoryContextDelete(inserter->context);
		}
	}
	return NULL;
}

static Inserter *
create_inserter(Oid relid, Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lake inserter",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Inserter   *inserter = palloc0(sizeof *inserter);
	LakeOpen	how = {.snapshot = snapshot};

	inserter->relid = relid;
	inserter->context = context;
	/* what changes while it is made must not go unnoticed */
	inserter->generation = generation;
	inserter->relation = lake_relation_open(relid, &how);
	lock_to_write(inserter->relation);
	inserter->table = staged_begin(inserter->relation, STAGED_INSERT);
	inserter->writer =
		row_writer_create(context, inserter->relation,
						  row_store_schema(staged_rows(inserter->table)),
						  NULL);
	MemoryContextSwitchTo(caller);
	MemoryContextSetParent(context, inserter->table->context);
	inserter->next = inserter->table->inserters;
	inserter->table->inserters = inserter;
	return inserter;
}

/* ---- beginning ---- */

static LakeModify *
create_modify(Relation rel, Snapshot snapshot, StagedUse use)
{
	LakeModify *modify = palloc0(sizeof *modify);
	LakeOpen	how = {.snapshot = snapshot};

	modify->relation = lake_relation_open(RelationGetRelid(rel), &how);
	if (use == STAGED_TRUNCATE)
		lock_to_write(modify->relation);
	modify->table = staged_begin(modify->relation, use);
	return modify;
}

/* rows whose other columns cannot be written again cannot be moved */
static void
check_carried(const LakeModify *modify, const char *what)
{
	const LakeSchema *schema = staged_write_options(modify->table)->schema;
	const LakeField *field = typemap_find_unwritable(schema);
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	if (field != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\": its lake column \"%s\" has type %s, which cannot be written",
						what, modify->relation->name,
						name_from_lake(field->name),
						name_from_lake(lake_type_text(arena, field->type)))));
}

static void
watch_rows(LakeModify *modify)
{
	modify->own = bitmap_create(lake_arena_of(CurrentMemoryContext));
}

static void
begin_update(LakeModify *modify, EState *estate, ResultRelInfo *result)
{
	const TriggerDesc *triggers = result->ri_TrigDesc;
	bool		has_trigger = triggers != NULL &&
		triggers->trig_update_before_row;
	Bitmapset  *updated = ExecGetAllUpdatedCols(result, estate);
	Bitmapset  *attnums = NULL;
	int			member = -1;

	if (has_trigger)
		watch_rows(modify);
	check_carried(modify, "update");
	while ((member = bms_next_member(updated, member)) >= 0)
		attnums = bms_add_member(attnums, member +
								 FirstLowInvalidHeapAttributeNumber);
	modify->carry = carry_create(modify->table, modify->relation, attnums,
								 has_trigger);
}

static void
begin_delete(LakeModify *modify, ResultRelInfo *result)
{
	const WriteOptions *options = staged_write_options(modify->table);
	const TriggerDesc *triggers = result->ri_TrigDesc;

	if (triggers != NULL && triggers->trig_delete_before_row)
		watch_rows(modify);
	if (!options->delete_merges || options->format_version == 1)
		check_carried(modify, "delete rows of");
}

void
modify_begin_direct_delete(Relation rel, Snapshot snapshot)
{
	LakeModify *modify = create_modify(rel, snapshot, STAGED_DELETE);
	const WriteOptions *options = staged_write_options(modify->table);

	if (!options->delete_merges || options->format_version == 1)
		check_carried(modify, "delete rows of");
}

static AttrNumber
junk_attribute(const ModifyTableState *state, const char *name)
{
	Plan	   *subplan = outerPlanState(state)->plan;

	return ExecFindJunkAttributeInTlist(subplan->targetlist, name);
}

void
lakeBeginForeignModify(ModifyTableState *state, ResultRelInfo *result,
					   List *fdw_private, int subplan_index, int eflags)
{
	EState	   *estate = state->ps.state;
	Relation	rel = result->ri_RelationDesc;
	MemoryContext caller;
	LakeModify *modify;

	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	if (state->operation == CMD_INSERT)
	{
		lakeBeginForeignInsert(state, result);
		return;
	}
	caller = MemoryContextSwitchTo(estate->es_query_cxt);
	modify = create_modify(rel, estate->es_snapshot,
						   state->operation == CMD_UPDATE ?
						   STAGED_UPDATE : STAGED_DELETE);
	modify->tid_attribute = junk_attribute(state, TID_NAME);
	modify->row_attribute = junk_attribute(state, ROW_NAME);
	if (!AttributeNumberIsValid(modify->tid_attribute))
		elog(ERROR, "could not find junk %s column", TID_NAME);
	if (state->operation == CMD_UPDATE)
		begin_update(modify, estate, result);
	else
		begin_delete(modify, result);
	result->ri_FdwState = modify;
	MemoryContextSwitchTo(caller);
}

/*
 * Of INSERT and COPY, and of partitions that rows are routed to.  Such a
 * partition may be the target of an UPDATE at the same time.  COPY has no
 * snapshot in its executor state.
 */
void
lakeBeginForeignInsert(ModifyTableState *state, ResultRelInfo *result)
{
	EState	   *estate = state->ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	Oid			relid = RelationGetRelid(result->ri_RelationDesc);
	LakeModify *modify = result->ri_FdwState;
	Inserter   *inserter = find_inserter(relid);

	if (inserter == NULL)
		inserter = create_inserter(relid, estate->es_snapshot != NULL ?
								   estate->es_snapshot : GetActiveSnapshot());
	inserter->users++;
	if (modify == NULL)
		modify = palloc0(sizeof *modify);
	modify->relation = inserter->relation;
	modify->table = inserter->table;
	modify->inserter = inserter;
	result->ri_FdwState = modify;
	MemoryContextSwitchTo(caller);
}

/* ---- rows ---- */

/*
 * The partition constraint holds for rows that were routed, unless a trigger
 * may have changed them since.
 */
static void
check_constraints(EState *estate, ResultRelInfo *result, TupleTableSlot *slot,
				  bool is_routed)
{
	Relation	rel = result->ri_RelationDesc;
	const TriggerDesc *triggers = result->ri_TrigDesc;

	slot->tts_tableOid = RelationGetRelid(rel);
	if (rel->rd_att->constr != NULL)
		ExecConstraints(result, slot, estate);
	if (!rel->rd_rel->relispartition)
		return;
	if (!is_routed ||
		(triggers != NULL && triggers->trig_insert_before_row))
		ExecPartitionCheck(result, slot, estate, true);
}

TupleTableSlot *
lakeExecForeignInsert(EState *estate, ResultRelInfo *result,
					  TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	LakeModify *modify = result->ri_FdwState;

	check_constraints(estate, result, slot,
					  result->ri_RootResultRelInfo != NULL);
	row_writer_append(modify->inserter->writer, staged_rows(modify->table),
					  slot);
	staged_row_added(modify->table);
	return slot;
}

static RowNumber
row_number(const LakeModify *modify, TupleTableSlot *plan_slot)
{
	bool		is_null;
	Datum		tid = ExecGetJunkAttribute(plan_slot, modify->tid_attribute,
										   &is_null);

	if (is_null)
		elog(ERROR, "%s is NULL", TID_NAME);
	return row_number_from_tid((ItemPointer) DatumGetPointer(tid));
}

/* did a command that is later than cid delete the row? */
static bool
was_deleted_after(const StagedTable *table, RowNumber number, CommandId cid)
{
	int			i = table->mark_count;
	uint64		first;

	while (i > 0 && table->marks[i - 1].cid > cid)
		i--;
	if (i == table->mark_count)
		return false;
	first = i == 0 ? 0 : table->marks[i - 1].end.deletes;
	for (uint64 j = first; j < table->extent.deletes; j++)
	{
		if (table->deletes[j] == number)
			return true;
	}
	return false;
}

/*
 * Takes the row away.  False: this command has done so before.  As for heap
 * tables it is an error when a trigger that the command has fired did.
 */
static bool
take_row(LakeModify *modify, const EState *estate, RowNumber number)
{
	if (staged_delete_row(modify->table, number))
	{
		if (modify->own != NULL)
			bitmap_add(modify->own, number);
		return true;
	}
	if (modify->own != NULL && !bitmap_contains(modify->own, number) &&
		was_deleted_after(modify->table, number, estate->es_output_cid))
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("tuple to be changed was already modified by an operation triggered by the current command"),
				 errhint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")));
	return false;
}

TupleTableSlot *
lakeExecForeignUpdate(EState *estate, ResultRelInfo *result,
					  TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	LakeModify *modify = result->ri_FdwState;
	RowNumber	number = row_number(modify, plan_slot);

	check_constraints(estate, result, slot, false);
	if (!take_row(modify, estate, number))
		return NULL;
	carry_add(modify->carry, number, slot, result->ri_oldTupleSlot);
	return slot;
}

/* the deleted row, for RETURNING */
static void
show_row(const LakeModify *modify, TupleTableSlot *plan_slot,
		 TupleTableSlot *slot)
{
	HeapTupleData tuple;
	bool		is_null;
	Datum		row = ExecGetJunkAttribute(plan_slot, modify->row_attribute,
										   &is_null);

	if (is_null)
		elog(ERROR, "%s is NULL", ROW_NAME);
	tuple.t_data = DatumGetHeapTupleHeader(row);
	tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	ExecForceStoreHeapTuple(heap_copytuple(&tuple), slot, true);
}

TupleTableSlot *
lakeExecForeignDelete(EState *estate, ResultRelInfo *result,
					  TupleTableSlot *slot, TupleTableSlot *plan_slot)
{
	LakeModify *modify = result->ri_FdwState;

	if (!take_row(modify, estate, row_number(modify, plan_slot)))
		return NULL;
	if (AttributeNumberIsValid(modify->row_attribute))
		show_row(modify, plan_slot, slot);
	return slot;
}

/* ---- ends ---- */

static void
release_inserter(LakeModify *modify)
{
	if (modify->inserter != NULL)
		modify->inserter->users--;
	modify->inserter = NULL;
}

/* memory is the executor's; what is staged outlives it */
void
lakeEndForeignModify(EState *estate, ResultRelInfo *result)
{
	LakeModify *modify = result->ri_FdwState;

	if (modify != NULL)
		release_inserter(modify);
	result->ri_FdwState = NULL;
}

/* a partition that is updated as well has its other end to come */
void
lakeEndForeignInsert(EState *estate, ResultRelInfo *result)
{
	LakeModify *modify = result->ri_FdwState;

	if (modify != NULL)
		release_inserter(modify);
}

/*
 * Sequences are core's, and nothing references a foreign table: the other
 * arguments ask for nothing here.
 */
void
lakeExecForeignTruncate(List *relations, DropBehavior behavior,
						bool restart_sequences)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		LakeModify *modify = create_modify(lfirst(cell), GetActiveSnapshot(),
										   STAGED_TRUNCATE);

		staged_truncate(modify->table);
	}
}
