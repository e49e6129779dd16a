/*
 * Pins: which metadata file each lake table is read from.
 *
 * Everything that runs under one snapshot of the server reads one version of a
 * lake table.  For hosted tables the snapshot itself says which.  For tables of
 * a file catalog it is remembered here: for the transaction where that has one
 * snapshot, else for the snapshot, which is known by a mark in a field that MVCC
 * snapshots have no use for.  Copies inherit the mark, a new snapshot has none;
 * addresses would be used again, and two snapshots can look alike.
 *
 * Pins are kept by the table's identity, never by relid: two foreign tables of
 * one lake table share a pin.
 */
#include "postgres.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "server/server_int.h"

/*
 * Pins that no portal holds are kept as long as there are no more than these: a
 * function that a cursor calls may come back to one that it took under a portal
 * of its own.
 */
#define MAX_LOOSE_PINS	100

typedef struct PinHold PinHold;

typedef struct Pin
{
	dlist_node	node;
	char	   *key;			/* of the lake table */
	char	   *metadata_location;
	/* marks of snapshots that it is for; 0: the transaction's */
	uint32		first_mark;
	uint32		last_mark;
	dlist_head	holds;
} Pin;

/* a portal that may ask again, in its context */
struct PinHold
{
	dlist_node	node;
	MemoryContext portal_context;
	uint64		epoch;			/* that the pin is of */
	MemoryContextCallback callback;
};

/* in TopTransactionContext, newest first */
static dlist_head pins = DLIST_STATIC_INIT(pins);

/* of the newest snapshot that was marked in this transaction */
static uint32 last_mark = 0;

/* counts transactions: a portal can outlive the one of its pins */
static uint64 epoch = 0;

/* LakePin of the transaction, oldest first, in TopTransactionContext */
static List *transaction_pins = NIL;

/* a table that this transaction has changed by what it read */
typedef struct KeptPin
{
	dlist_node	node;
	LakePin    *pin;
	Snapshot	snapshot;		/* registered with the transaction */
} KeptPin;

/* in TopTransactionContext */
static dlist_head kept_pins = DLIST_STATIC_INIT(kept_pins);

/* before the server looks whether all have been given back */
static void
release_snapshots(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &kept_pins)
	{
		KeptPin    *kept = dlist_container(KeptPin, node, iter.cur);

		if (kept->snapshot != NULL)
			UnregisterSnapshotFromOwner(kept->snapshot,
										TopTransactionResourceOwner);
		kept->snapshot = NULL;
	}
}

static void
forget_pins(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			dlist_init(&pins);
			dlist_init(&kept_pins);
			last_mark = 0;
			epoch++;
			transaction_pins = NIL;
			break;
		case XACT_EVENT_PRE_COMMIT:
			release_snapshots();
			break;
		default:
			break;
	}
}

static void
forget_pins_at_end(void)
{
	static bool is_registered = false;

	if (!is_registered)
		RegisterXactCallback(forget_pins, NULL);
	is_registered = true;
}

static char *
copy_or_null(const char *text)
{
	return text == NULL ? NULL : pstrdup(text);
}

/* in the current memory context */
static LakePin *
copy_pin(const LakePin *pin)
{
	LakePin    *copy = palloc(sizeof *copy);

	*copy = *pin;
	copy->key = pstrdup(pin->key);
	copy->catalog = copy_or_null(pin->catalog);
	copy->ident = pstrdup(pin->ident);
	copy->ref = copy_or_null(pin->ref);
	copy->metadata_location = pstrdup(pin->metadata_location);
	return copy;
}

/* ---- tables that stay where they are ---- */

static KeptPin *
find_kept(const char *key)
{
	dlist_iter	iter;

	dlist_foreach(iter, &kept_pins)
	{
		KeptPin    *kept = dlist_container(KeptPin, node, iter.cur);

		if (strcmp(kept->pin->key, key) == 0)
			return kept;
	}
	return NULL;
}

const char *
pin_kept(const char *key)
{
	KeptPin    *kept = find_kept(key);

	return kept == NULL ? NULL : kept->pin->metadata_location;
}

void
pin_keep(const LakePin *pin, Snapshot snapshot)
{
	MemoryContext caller;
	KeptPin    *kept;

	if (find_kept(pin->key) != NULL)
		return;
	forget_pins_at_end();
	caller = MemoryContextSwitchTo(TopTransactionContext);
	kept = palloc0(sizeof *kept);
	kept->pin = copy_pin(pin);
	kept->pin->is_transaction = true;
	/* whoever removes files sees that somebody may still read them */
	kept->snapshot = RegisterSnapshotOnOwner(snapshot,
											 TopTransactionResourceOwner);
	MemoryContextSwitchTo(caller);
	dlist_push_tail(&kept_pins, &kept->node);
}

void
pin_release(const char *key)
{
	KeptPin    *kept = find_kept(key);

	if (kept == NULL)
		return;
	dlist_delete(&kept->node);
	if (kept->snapshot != NULL)
		UnregisterSnapshotFromOwner(kept->snapshot,
									TopTransactionResourceOwner);
}

/* ---- pins of file catalogs ---- */

static void
release_hold(void *arg)
{
	PinHold    *hold = arg;

	if (hold->epoch == epoch)
		dlist_delete(&hold->node);
}

/* the pin stays while the running portal lives, which may ask again */
static void
hold_pin(Pin *pin)
{
	PinHold    *hold;
	dlist_iter	iter;

	if (ActivePortal == NULL || pin->first_mark == 0)
		return;
	dlist_foreach(iter, &pin->holds)
	{
		hold = dlist_container(PinHold, node, iter.cur);
		if (hold->portal_context == ActivePortal->portalContext)
			return;
	}
	hold = MemoryContextAllocZero(ActivePortal->portalContext, sizeof *hold);
	hold->portal_context = ActivePortal->portalContext;
	hold->epoch = epoch;
	hold->callback.func = release_hold;
	hold->callback.arg = hold;
	MemoryContextRegisterResetCallback(hold->portal_context, &hold->callback);
	dlist_push_head(&pin->holds, &hold->node);
}

/* 0 where the transaction has one snapshot, a new mark for a new snapshot */
static uint32
mark_snapshot(Snapshot snapshot)
{
	forget_pins_at_end();
	if (IsolationUsesXactSnapshot())
		return 0;
	if (snapshot->speculativeToken == 0)
		snapshot->speculativeToken = ++last_mark;
	return snapshot->speculativeToken;
}

const char *
pin_find(const char *key, Snapshot snapshot)
{
	uint32		mark = mark_snapshot(snapshot);
	dlist_iter	iter;

	dlist_foreach(iter, &pins)
	{
		Pin		   *pin = dlist_container(Pin, node, iter.cur);

		if (pin->first_mark <= mark && mark <= pin->last_mark &&
			strcmp(pin->key, key) == 0)
		{
			hold_pin(pin);
			return pin->metadata_location;
		}
	}
	return NULL;
}

static void
drop_loose_pins(void)
{
	int			count = 0;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &pins)
	{
		Pin		   *pin = dlist_container(Pin, node, iter.cur);

		if (pin->first_mark == 0 || !dlist_is_empty(&pin->holds) ||
			++count <= MAX_LOOSE_PINS)
			continue;
		dlist_delete(&pin->node);
		pfree(pin->key);
		pfree(pin->metadata_location);
		pfree(pin);
	}
}

/*
 * Makes the table's pin of the highest marks serve a higher one too, if it has
 * the same location: the table was at that version before and after every
 * snapshot in between.  So a loop that reads a table a million times keeps one
 * pin.
 */
static bool
widen_pin(const char *key, uint32 mark, const char *metadata_location)
{
	Pin		   *highest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &pins)
	{
		Pin		   *pin = dlist_container(Pin, node, iter.cur);

		if (strcmp(pin->key, key) == 0 &&
			(highest == NULL || pin->last_mark > highest->last_mark))
			highest = pin;
	}
	if (highest == NULL || highest->last_mark >= mark ||
		strcmp(highest->metadata_location, metadata_location) != 0)
		return false;
	highest->last_mark = mark;
	hold_pin(highest);
	return true;
}

void
pin_add(const char *key, Snapshot snapshot, const char *metadata_location)
{
	uint32		mark = mark_snapshot(snapshot);
	MemoryContext caller;
	Pin		   *pin;

	if (widen_pin(key, mark, metadata_location))
		return;
	drop_loose_pins();
	caller = MemoryContextSwitchTo(TopTransactionContext);
	pin = palloc0(sizeof *pin);
	pin->key = pstrdup(key);
	pin->metadata_location = pstrdup(metadata_location);
	pin->first_mark = pin->last_mark = mark;
	dlist_init(&pin->holds);
	MemoryContextSwitchTo(caller);
	dlist_push_head(&pins, &pin->node);
	hold_pin(pin);
}

/* ---- what lake.pins() shows ---- */

/* a pin that is shown as long as its memory context lives */
typedef struct ShownPin
{
	dlist_node	node;
	LakePin		pin;
	MemoryContextCallback callback;
} ShownPin;

/* of statements that run and cursors that are open, newest first */
static dlist_head statement_pins = DLIST_STATIC_INIT(statement_pins);

static bool
equal_or_null(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* the same version of the same lake table, by whichever name? */
static bool
is_same_version(const LakePin *a, const LakePin *b)
{
	return a->snapshot_id == b->snapshot_id &&
		a->is_transaction == b->is_transaction &&
		strcmp(a->key, b->key) == 0 &&
		strcmp(a->metadata_location, b->metadata_location) == 0 &&
		equal_or_null(a->ref, b->ref);
}

static bool
has_version(List *list, const LakePin *wanted)
{
	ListCell   *cell;

	foreach(cell, list)
	{
		if (is_same_version(lfirst(cell), wanted))
			return true;
	}
	return false;
}

static void
hide_pin(void *arg)
{
	dlist_delete(&((ShownPin *) arg)->node);
}

void
pin_show(const LakePin *pin)
{
	if (find_kept(pin->key) != NULL)
		return;
	if (IsolationUsesXactSnapshot())
	{
		LakePin		wanted = *pin;
		MemoryContext caller;

		wanted.is_transaction = true;
		if (has_version(transaction_pins, &wanted))
			return;
		forget_pins_at_end();
		caller = MemoryContextSwitchTo(TopTransactionContext);
		transaction_pins = lappend(transaction_pins, copy_pin(&wanted));
		MemoryContextSwitchTo(caller);
	}
	else
	{
		ShownPin   *shown = palloc0(sizeof *shown);

		shown->pin = *pin;
		shown->callback.func = hide_pin;
		shown->callback.arg = shown;
		MemoryContextRegisterResetCallback(CurrentMemoryContext,
										   &shown->callback);
		dlist_push_head(&statement_pins, &shown->node);
	}
}

List *
pin_list(void)
{
	List	   *list = NIL;
	ListCell   *cell;
	dlist_iter	iter;

	dlist_foreach(iter, &kept_pins)
		list = lappend(list, copy_pin(dlist_container(KeptPin, node,
													  iter.cur)->pin));
	foreach(cell, transaction_pins)
	{
		if (!has_version(list, lfirst(cell)))
			list = lappend(list, copy_pin(lfirst(cell)));
	}
	dlist_reverse_foreach(iter, &statement_pins)
	{
		const ShownPin *shown = dlist_container(ShownPin, node, iter.cur);
		LakePin		kept = shown->pin;

		/* an INSERT's stays, and says nothing beside one that is kept */
		kept.is_transaction = true;
		if (!has_version(list, &shown->pin) && !has_version(list, &kept))
			list = lappend(list, copy_pin(&shown->pin));
	}
	return list;
}
