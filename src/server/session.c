/*
 * What a session remembers: which metadata file each lake table is pinned to,
 * and parsed metadata.
 *
 * Pins make a statement (or, from REPEATABLE READ on, a transaction) see one
 * snapshot of a table however often it scans it.  They are kept by the table's
 * identity, never by relid: two foreign tables of one lake table share a pin.
 *
 * Metadata files are immutable, so parsed ones are shared by everything that
 * reads the same path.  A name may come back all the same: the first versions of
 * a table that was dropped and made again are called what they were.  So the
 * store is asked for the file's version each time.
 */
#include "postgres.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "iceberg/iceberg.h"
#include "server/server_int.h"

/* ---- pins ---- */

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
session_find_pin(const char *key, Snapshot snapshot)
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
session_add_pin(const char *key, Snapshot snapshot,
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

/* ---- parsed metadata ---- */

typedef struct CachedTable
{
	dlist_node	node;
	MemoryContext context;		/* owns all of it, this struct too */
	const char *path;			/* where the location leads to */
	uint64		file_version;
	Size		memory;			/* of context, when it was parsed */
	int			holders;
	const LakeTable *table;
} CachedTable;

/* most recently used first; the contexts are children of cache_context */
static dlist_head cache = DLIST_STATIC_INIT(cache);
static MemoryContext cache_context = NULL;

/* gives up the least recently used tables that nobody holds */
static void
trim_cache(void)
{
	Size		limit = (Size) lake_metadata_cache_kb * 1024;
	Size		total = 0;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &cache)
	{
		CachedTable *cached = dlist_container(CachedTable, node, iter.cur);

		total += cached->memory;
		if (total <= limit || cached->holders > 0)
			continue;
		total -= cached->memory;
		dlist_delete(&cached->node);
		MemoryContextDelete(cached->context);
	}
}

static void
release_table(void *arg)
{
	CachedTable *cached = arg;

	cached->holders--;
	trim_cache();
}

/* the table stays until the context of the holder is reset */
static const LakeTable *
hold_table(CachedTable *cached, MemoryContext holder)
{
	MemoryContextCallback *callback;

	callback = MemoryContextAllocZero(holder, sizeof *callback);
	callback->func = release_table;
	callback->arg = cached;
	cached->holders++;
	MemoryContextRegisterResetCallback(holder, callback);
	return cached->table;
}

static CachedTable *
find_table(const char *path, uint64 file_version)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache)
	{
		CachedTable *cached = dlist_container(CachedTable, node, iter.cur);

		if (cached->file_version == file_version &&
			strcmp(cached->path, path) == 0)
			return cached;
	}
	return NULL;
}

/* parses in a context of the caller's, so that a throw leaves nothing behind */
static CachedTable *
parse_table(LakeStore *store, const char *location, const char *path,
			uint64 file_version)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lake table",
												  ALLOCSET_DEFAULT_SIZES);
	LakeArena  *arena = lake_arena_of(context);
	CachedTable *cached = lake_alloc(arena, sizeof *cached);

	cached->context = context;
	cached->path = lake_strdup(arena, path);
	cached->file_version = file_version;
	cached->table = iceberg_format.open(arena, store,
										lake_strdup(arena, location));
	cached->memory = MemoryContextMemAllocated(context, true);
	return cached;
}

const LakeTable *
session_open_table(LakeStore *store, const char *location,
				   MemoryContext holder)
{
	LakeArena  *scratch = lake_arena_create(NULL, "lake metadata file");
	LakeFile   *file;
	const char *path;
	CachedTable *cached;

	/* opened even if it is in the cache: this is the check of the path */
	file = lake_file_open(store, scratch, location, "metadata file");
	path = path_rules_resolve(scratch, store->rules, location);
	cached = find_table(path, file->version);
	if (cached == NULL)
	{
		if (cache_context == NULL)
			cache_context = AllocSetContextCreate(TopMemoryContext,
												  "lake metadata cache",
												  ALLOCSET_SMALL_SIZES);
		cached = parse_table(store, location, path, file->version);
		MemoryContextSetParent(cached->context, cache_context);
		dlist_push_head(&cache, &cached->node);
	}
	else
		dlist_move_head(&cache, &cached->node);
	lake_arena_destroy(scratch);
	hold_table(cached, holder);
	trim_cache();
	return cached->table;
}
