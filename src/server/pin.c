/*
 * Pins: which metadata file each lake table is read from.
 *
 * Pins make a statement (or, from REPEATABLE READ on, a transaction) see one
 * snapshot of a table however often it scans it.  They are kept by the table's
 * identity, never by relid: two foreign tables of one lake table share a pin.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "server/server_int.h"

typedef struct Pin
{
	struct Pin *next;
	char	   *key;			/* of the lake table */
	char	   *metadata_location;
	/* READ COMMITTED: of the snapshot that it was taken for */
	TimestampTz statement_start;
	CommandId	command;
	TransactionId xmin;
	TransactionId xmax;
	uint64		completions;
} Pin;

/* in TopTransactionContext */
static Pin *pins = NULL;

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
			pins = NULL;
			break;
		default:
			break;
	}
}

/*
 * Is the pin one of the snapshot's statement?  Commands of a VOLATILE function
 * have snapshots of their own, and so pins of their own once anything has been
 * committed in between.
 */
static bool
pin_is_for(const Pin *pin, Snapshot snapshot)
{
	return IsolationUsesXactSnapshot() ||
		(pin->statement_start == GetCurrentStatementStartTimestamp() &&
		 pin->command == snapshot->curcid &&
		 pin->xmin == snapshot->xmin &&
		 pin->xmax == snapshot->xmax &&
		 pin->completions == snapshot->snapXactCompletionCount);
}

const char *
pin_find(const char *key, Snapshot snapshot)
{
	for (Pin *pin = pins; pin != NULL; pin = pin->next)
	{
		if (pin_is_for(pin, snapshot) && strcmp(pin->key, key) == 0)
			return pin->metadata_location;
	}
	return NULL;
}

/* the pins of former statements, which nobody will ask for again */
static void
drop_former_pins(void)
{
	Pin		  **link = &pins;

	while (*link != NULL)
	{
		Pin		   *pin = *link;

		if (pin->statement_start == GetCurrentStatementStartTimestamp())
			link = &pin->next;
		else
		{
			*link = pin->next;
			pfree(pin->key);
			pfree(pin->metadata_location);
			pfree(pin);
		}
	}
}

void
pin_add(const char *key, Snapshot snapshot,
		const char *metadata_location)
{
	static bool is_registered = false;
	MemoryContext caller;
	Pin		   *pin;

	if (!is_registered)
	{
		RegisterXactCallback(forget_pins, NULL);
		is_registered = true;
	}
	if (!IsolationUsesXactSnapshot())
		drop_former_pins();
	caller = MemoryContextSwitchTo(TopTransactionContext);
	pin = palloc0(sizeof *pin);
	pin->key = pstrdup(key);
	pin->metadata_location = pstrdup(metadata_location);
	pin->statement_start = GetCurrentStatementStartTimestamp();
	pin->command = snapshot->curcid;
	pin->xmin = snapshot->xmin;
	pin->xmax = snapshot->xmax;
	pin->completions = snapshot->snapXactCompletionCount;
	pin->next = pins;
	MemoryContextSwitchTo(caller);
	pins = pin;
}
