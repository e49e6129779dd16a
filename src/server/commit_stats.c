/*
 * What commits of each lake table have met: lake.stat_commits.
 *
 * In shared memory when the library is in shared_preload_libraries, one table
 * for the cluster; else in this session's own.  Places in shared memory are
 * fixed in number and never given back; tables that come too late are counted
 * together in one more, so that sums stay right.
 *
 * A place is found before a commit becomes critical.  What counts after that are
 * atomic additions, which cannot fail and need no lock.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "server/server_int.h"

/* places in shared memory */
#define MAX_SHARED_TABLES	1000

#define TRANCHE_NAME		"lakefdw commit counters"

/* lake tables are those of a database's servers */
typedef struct StatsKey
{
	uint64		table;			/* hash of the lake table's key */
	Oid			database;
	uint32		padding;
} StatsKey;

struct CommitStats
{
	StatsKey	key;			/* first: the hash table's */
	char		ident[COMMIT_STATS_IDENT_BYTES];
	pg_atomic_uint64 counters[COMMIT_COUNTERS];
	pg_atomic_uint64 conflicts[SERVER_CONFLICT_KINDS];
};

typedef struct SharedStats
{
	LWLock	   *lock;			/* of the hash table, not of the counters */
	CommitStats others;			/* tables for which there was no place */
} SharedStats;

static const char *const conflict_names[SERVER_CONFLICT_KINDS] = {
	[CONFLICT_NONE] = "none",
	[CONFLICT_ADDED_ROWS] = "added_rows",
	[CONFLICT_REMOVED_FILE] = "removed_file",
	[CONFLICT_DELETED_ROWS] = "deleted_rows",
	[CONFLICT_HISTORY] = "history",
	[CONFLICT_TABLE] = "table",
	[SERVER_CONFLICT_SERIALIZABLE] = "serializable",
	[SERVER_CONFLICT_LOCKED_ROWS] = "locked_rows",
	[SERVER_CONFLICT_TABLE_LOCK] = "table_lock",
	[SERVER_CONFLICT_RETRIES] = "retries",
	[SERVER_CONFLICT_COLUMNS] = "columns",
};

static SharedStats *shared = NULL;
static HTAB * places = NULL;	/* StatsKey -> CommitStats; NULL: none yet */

static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

/* ---- shared memory ---- */

static void
request_memory(void)
{
	if (previous_request != NULL)
		previous_request();
	RequestAddinShmemSpace(MAXALIGN(sizeof(SharedStats)) +
						   hash_estimate_size(MAX_SHARED_TABLES,
											  sizeof(CommitStats)));
	RequestNamedLWLockTranche(TRANCHE_NAME, 1);
}

static void
clear_counters(CommitStats *stats)
{
	for (int i = 0; i < COMMIT_COUNTERS; i++)
		pg_atomic_init_u64(&stats->counters[i], 0);
	for (int i = 0; i < SERVER_CONFLICT_KINDS; i++)
		pg_atomic_init_u64(&stats->conflicts[i], 0);
}

static void
attach_memory(void)
{
	HASHCTL		control = {
		.keysize = sizeof(StatsKey),
		.entrysize = sizeof(CommitStats)
	};
	bool		found;

	if (previous_startup != NULL)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("lakefdw commit counters", sizeof *shared,
							 &found);
	if (!found)
	{
		memset(shared, 0, sizeof *shared);
		shared->lock = &GetNamedLWLockTranche(TRANCHE_NAME)->lock;
		clear_counters(&shared->others);
	}
	places = ShmemInitHash("lakefdw commit counters by table",
						   MAX_SHARED_TABLES, MAX_SHARED_TABLES, &control,
						   HASH_ELEM | HASH_BLOBS | HASH_FIXED_SIZE);
	LWLockRelease(AddinShmemInitLock);
}

void
commit_stats_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = attach_memory;
}

/* ---- places ---- */

static void
lock_places(LWLockMode mode)
{
	if (shared != NULL)
		LWLockAcquire(shared->lock, mode);
}

static void
unlock_places(void)
{
	if (shared != NULL)
		LWLockRelease(shared->lock);
}

static void
create_own_places(void)
{
	HASHCTL		control = {
		.keysize = sizeof(StatsKey),
		.entrysize = sizeof(CommitStats),
		.hcxt = TopMemoryContext
	};

	places = hash_create("lakefdw commit counters", 64, &control,
						 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

uint64
commit_stats_table(const char *key)
{
	return DatumGetUInt64(hash_any_extended((const unsigned char *) key,
											strlen(key), 0));
}

static void
set_ident(CommitStats *stats, const char *ident)
{
	int			len = strlen(ident);

	if (len >= COMMIT_STATS_IDENT_BYTES)
		len = pg_encoding_mbcliplen(PG_UTF8, ident, len,
									COMMIT_STATS_IDENT_BYTES - 1);
	memcpy(stats->ident, ident, len);
	stats->ident[len] = '\0';
}

CommitStats *
commit_stats_of(const LakeRelation *relation)
{
	StatsKey	key = {commit_stats_table(relation->key), MyDatabaseId, 0};
	const char *ident = psprintf("%s.%s", relation->options->name_space,
								 relation->options->table);
	CommitStats *stats;
	bool		found;

	if (places == NULL)
		create_own_places();
	lock_places(LW_SHARED);
	stats = hash_search(places, &key, HASH_FIND, NULL);
	unlock_places();
	if (stats != NULL)
		return stats;
	lock_places(LW_EXCLUSIVE);
	stats = hash_search(places, &key,
						shared == NULL ? HASH_ENTER : HASH_ENTER_NULL, &found);
	if (stats != NULL && !found)
	{
		set_ident(stats, ident);
		clear_counters(stats);
	}
	unlock_places();
	return stats == NULL ? &shared->others : stats;
}

/* ---- counting ---- */

void
commit_stats_add(CommitStats *stats, CommitCounter counter, uint64 count)
{
	pg_atomic_fetch_add_u64(&stats->counters[counter], count);
}

void
commit_stats_conflict(CommitStats *stats, int kind)
{
	pg_atomic_fetch_add_u64(&stats->conflicts[kind], 1);
}

uint64
commit_stats_microseconds(const instr_time * since)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, *since);
	return INSTR_TIME_GET_MICROSEC(now);
}

void
commit_stats_waited(CommitStats *stats, const instr_time * since)
{
	uint64		us = commit_stats_microseconds(since);
	pg_atomic_uint64 *most = &stats->counters[COMMIT_LOCK_WAIT_MAX_US];
	uint64		former = pg_atomic_read_u64(most);

	commit_stats_add(stats, COMMIT_LOCK_WAIT_US, us);
	/* a failed exchange says what is there now */
	while (us > former &&
		   !pg_atomic_compare_exchange_u64(most, &former, us))
		;
}

/* ---- what is shown ---- */

bool
commit_stats_are_shared(void)
{
	return shared != NULL;
}

const char *
commit_stats_conflict_name(int kind)
{
	return conflict_names[kind];
}

static CommitStatsRow *
make_row(const CommitStats *stats)
{
	CommitStatsRow *row = palloc(sizeof *row);

	row->table = stats->key.table;
	row->is_others = shared != NULL && stats == &shared->others;
	memcpy(row->ident, stats->ident, sizeof row->ident);
	row->is_zero = true;
	for (int i = 0; i < COMMIT_COUNTERS; i++)
	{
		row->counters[i] =
			pg_atomic_read_u64((pg_atomic_uint64 *) & stats->counters[i]);
		row->is_zero &= row->counters[i] == 0;
	}
	for (int i = 0; i < SERVER_CONFLICT_KINDS; i++)
	{
		row->conflicts[i] =
			pg_atomic_read_u64((pg_atomic_uint64 *) & stats->conflicts[i]);
		row->is_zero &= row->conflicts[i] == 0;
	}
	return row;
}

List *
commit_stats_list(void)
{
	List	   *rows = NIL;
	HASH_SEQ_STATUS scan;
	CommitStats *stats;

	if (places == NULL)
		return NIL;
	lock_places(LW_SHARED);
	hash_seq_init(&scan, places);
	while ((stats = hash_seq_search(&scan)) != NULL)
	{
		if (stats->key.database == MyDatabaseId)
			rows = lappend(rows, make_row(stats));
	}
	unlock_places();
	if (shared != NULL)
		rows = lappend(rows, make_row(&shared->others));
	return rows;
}
