/*
 * The staged tables themselves, for the files that make files and commits of
 * them.
 */
#ifndef LAKE_STAGED_INT_H
#define LAKE_STAGED_INT_H

#include "fdw/staged.h"

#include "lib/ilist.h"
#include "utils/hsearch.h"

/*
 * Among the deletes of a log: all rows of the file whose first row it is.  No row
 * has such a number.
 */
#define STAGED_WHOLE_FILE	(UINT64CONST(1) << 63)

/* how much of a table's log there is */
typedef struct StagedExtent
{
	uint64		rows;			/* in staged_rows() */
	uint64		deletes;		/* row numbers */
	int			files;			/* of our own */
	int			reads;
	int			deferred;
	int			settled;		/* of the deferred ones */
	int			operations;
	/* after a TRUNCATE: what comes before these is gone */
	bool		is_truncated;
	uint64		truncated_rows;
	int			truncated_files;
	bool		is_pinned;
	bool		is_locked;		/* the base must be the newest at commit */
} StagedExtent;

/* what a command has staged; commands in order */
typedef struct StagedMark
{
	CommandId	cid;
	StagedExtent end;			/* of all but the last, which goes on */
} StagedMark;

/* a subtransaction that has staged something */
typedef struct StagedLevel
{
	int			nest_level;
	StagedExtent before;
	int			mark_count;
	StagedMark	last_mark;
} StagedLevel;

typedef struct StagedRead
{
	StagedUse	use;
	const Predicate *filter;
} StagedRead;

typedef struct StagedDeferred
{
	void		(*fn) (void *arg);
	void	   *arg;
} StagedDeferred;

/* a file that rows have numbers of, and which of them are deleted */
typedef struct RegisteredFile
{
	StagedFile	file;			/* first: the two are cast to each other */
	uint64	   *deleted;		/* one bit a row, NULL: none yet */
	uint64		word_count;
} RegisteredFile;

struct StagedTable
{
	dlist_node	node;
	char	   *key;
	MemoryContext context;		/* of all that follows */
	LakeRelation *relation;		/* as first staged, or as pinned */
	const WriteOptions *write;
	const LakeSchema *row_schema;	/* of rows; NULL: not made yet */
	RowStore   *rows;
	char	   *file_prefix;	/* NULL until a file is named */
	int			file_number;	/* of the next file */

	/* the log */
	StagedExtent extent;
	int			mark_count;
	int			mark_room;
	StagedMark *marks;
	int			level_count;
	int			level_room;
	StagedLevel *levels;
	uint64		delete_room;
	RowNumber  *deletes;
	int			file_room;
	RegisteredFile **files;		/* our own */
	int			read_room;
	StagedRead *reads;
	int			deferred_room;
	StagedDeferred *deferred;

	/* numbers of rows of files */
	int			registered_count;
	int			registered_room;
	RegisteredFile **registered;	/* by first number */
	HTAB	   *by_path;
	RowNumber	next_first;

	/* rows of the store that are deleted, one bit each */
	uint64	   *deleted_rows;
	uint64		deleted_words;

	/* the running command's rows that have become too many for memory */
	FileSink   *sink;
	MemoryContext sink_context;
	int			sink_level;		/* nest level that takes them with it */

	/* xact.c's */
	CommitStats *stats;			/* NULL until the commit */
	bool		is_swapped;		/* the pointer was moved */

	struct Inserter *inserters; /* modify.c's */
	bool		is_settling;
	int			active_views;
	const struct BuiltView *newest_view;
};

/*
 * Places where tests hold a transaction (make STOP_POINTS=1); nothing in the
 * library that is installed.
 */
#ifdef LAKE_STOP_POINTS
extern void stop_points_init(void);
extern void stop_point(const char *name);
#else
#define stop_points_init() ((void) 0)
#define stop_point(name) ((void) 0)
#endif

/* StagedTable of this transaction, in the order of their first operations */
extern dlist_head staged_tables;

/* counts transactions of the session, to tell what is from an earlier one */
extern uint64 staged_transaction;

/* grows an array in the table's context to hold count + 1 elements */
#define STAGED_GROW(table, array, count, room) \
	((array) = staged_grow((table)->context, (array), (count), &(room), \
						   sizeof *(array)))

extern void *staged_grow(MemoryContext context, void *array, int count,
						 int *room, Size size);

/* columns of rows and of files that are written anew */
extern const LakeSchema *staged_row_schema(StagedTable *table);

/*
 * Throws 40001 when rows have been staged by another schema than the relation is
 * read by.
 */
extern void staged_check_schema(const StagedTable *table,
								const LakeRelation *relation);

/* adds to the log as an operation of the current command */
extern void staged_note(StagedTable *table);

/* nest level of the (sub)transaction that the log's end belongs to */
extern int	staged_level(const StagedTable *table);

/* runs what has been deferred */
extern void staged_settle(StagedTable *table);

/* a file of our own */
extern void staged_add_file(StagedTable *table, const WrittenFile *written);

/* a subtransaction at that nest level is over */
extern void staged_end_subtransaction(bool is_commit, int nest_level);

/* the transaction is over: whatever there was is gone with its memory */
extern void staged_forget(void);

/* ---- staged_sink.c: rows that leave memory before the commit ---- */

/* the running command's rows go to a sink when they take too much memory */
extern void staged_spill(StagedTable *table);

/* ends the sink: its files join the log */
extern void staged_end_sink(StagedTable *table);

/* the sink's files vanish */
extern void staged_cancel_sink(StagedTable *table);
extern void staged_sink_options(StagedTable *table, FileSinkOptions *options);

/* ---- staged_changes.c: what is left of the log at commit ---- */

/* writes the files and returns what they change; NULL: nothing at all */
extern const ChangeSet *staged_changes(StagedTable *table);

#endif							/* LAKE_STAGED_INT_H */
