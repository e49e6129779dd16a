/*
 * A tuple slot that fills its attributes when somebody asks for them.
 *
 * Rows that OFFSET skips, that a join does not match or that a qual on the
 * first columns rejects leave the other columns of their run unconverted, and,
 * if no row of a batch needs them, undecoded.  A filled slot is a virtual one,
 * whose functions it borrows.  A foreign scan may return slots of any kind
 * (its scanopsfixed is false), so expressions ask before they read.
 */
#include "fdw/fdw.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"

#include "server/compat.h"

typedef struct LakeSlot
{
	VirtualTupleTableSlot base;
	LakeScan   *scan;			/* at the slot's row */
} LakeSlot;

static void
fill_attributes(TupleTableSlot *slot, int natts)
{
	LakeScan   *scan = ((LakeSlot *) slot)->scan;
	ScanColumn *column = scan->columns;
	ScanColumn *end = column + scan->column_count;
	uint64		row = scan->row - 1;

	natts = Min(natts, slot->tts_tupleDescriptor->natts);
	while (column < end && column->attribute < slot->tts_nvalid)
		column++;
	for (; column < end && column->attribute < natts; column++)
	{
		if (unlikely(row >= column->converted))
			scan_convert_column(scan, column);
		slot->tts_values[column->attribute] = column->values[row];
		slot->tts_isnull[column->attribute] = column->nulls[row];
	}
	slot->tts_nvalid = natts;
}

static void
materialize(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	TTSOpsVirtual.materialize(slot);
}

static HeapTuple
copy_heap_tuple(TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	return TTSOpsVirtual.copy_heap_tuple(slot);
}

static MinimalTuple
copy_minimal_tuple(TupleTableSlot *slot COMPAT_EXTRA_PARAMETER)
{
	slot_getallattrs(slot);
	return TTSOpsVirtual.copy_minimal_tuple(slot COMPAT_EXTRA_ARGUMENT);
}

/* virtual slots' functions, but for those that read attributes */
static const TupleTableSlotOps *
slot_ops(void)
{
	static TupleTableSlotOps ops;

	if (ops.base_slot_size == 0)
	{
		ops = TTSOpsVirtual;
		ops.getsomeattrs = fill_attributes;
		ops.materialize = materialize;
		ops.copy_heap_tuple = copy_heap_tuple;
		ops.copy_minimal_tuple = copy_minimal_tuple;
		ops.base_slot_size = sizeof(LakeSlot);
	}
	return &ops;
}

TupleTableSlot *
scan_slot_create(LakeScan *scan)
{
	EState	   *estate = scan->node->ss.ps.state;
	TupleTableSlot *pattern = scan->node->ss.ss_ScanTupleSlot;
	MemoryContext old_context;
	TupleTableSlot *slot;

	/* the executor clears it when the scan's own context is gone */
	old_context = MemoryContextSwitchTo(estate->es_query_cxt);
	slot = ExecAllocTableSlot(&estate->es_tupleTable,
							  pattern->tts_tupleDescriptor, slot_ops());
	MemoryContextSwitchTo(old_context);
	((LakeSlot *) slot)->scan = scan;
	return slot;
}
