/*
 * What the current transaction has changed in lake tables and not committed.
 * Private to this folder.
 *
 * A table's changes are one log: rows added, rows deleted, in the order of
 * commands.  Command ids ascend in it, so what a scan may see is a prefix; a
 * subtransaction that rolls back takes the log's tail with it.  State is kept
 * by lake table, whatever foreign tables map it (decisions 1.5).
 */
#ifndef LAKE_STAGED_H
#define LAKE_STAGED_H

#include "fdw/fdw.h"

/*
 * A row's number in this transaction, which travels as a ctid: rows of files
 * are numbered from where their file was registered, rows in memory from
 * STAGED_FIRST_ROW on.
 */
typedef uint64 RowNumber;

#define STAGED_FIRST_ROW	(UINT64CONST(1) << 46)
#define STAGED_MAX_ROW		((UINT64CONST(1) << 47) - 1)

extern void row_number_to_tid(RowNumber number, ItemPointer tid);
extern RowNumber row_number_from_tid(const ItemPointerData *tid);

/* a data file that rows have numbers of: a committed one, or one of ours */
typedef struct StagedFile
{
	RowNumber	first;
	uint64		row_count;		/* numbers that it takes */
	ScanTask	task;			/* a copy; deletes as planned */
	const WrittenFile *written; /* NULL: a committed file */
} StagedFile;

/* why a table's base must stay what it is (decisions 3.2) */
typedef enum StagedUse
{
	STAGED_INSERT,				/* does not depend on the base */
	STAGED_DELETE,
	STAGED_UPDATE,
	STAGED_TRUNCATE,
	STAGED_LOCK					/* FOR UPDATE, FOR SHARE: must not change */
} StagedUse;

typedef struct StagedTable StagedTable;

/*
 * The table's changes so far; NULL when there are none, which is the usual case
 * and cheap.
 */
extern StagedTable *staged_find(const LakeRelation *relation);

/*
 * Begins to change a table: checks that the transaction and the version may be
 * written to (25006), that the table's properties can be honoured (0A000), and
 * keeps its pin from then on for all uses but STAGED_INSERT.  relation has been
 * opened under the statement's snapshot.
 */
extern StagedTable *staged_begin(const LakeRelation *relation, StagedUse use);

/* what files are written by; the base's */
extern const WriteOptions *staged_write_options(const StagedTable *table);

/* for files, and to read those that are not published */
extern LakeStore *staged_store(StagedTable *table);

/*
 * The rows that have been added, of the table's columns and, in v3, the reserved
 * ones of row lineage (row_store_schema() has them): append to it, then call staged_row_added once
 * for each row_store_end_row.  It may spill to files when it ends a row.
 */
extern RowStore *staged_rows(StagedTable *table);
extern void staged_row_added(StagedTable *table);

/*
 * Deletes a row.  False: this transaction has deleted it before (the same
 * command reached it twice, say), and nothing is done.
 */
extern bool staged_delete_row(StagedTable *table, RowNumber number);

/*
 * Deletes all rows of a file whose number of rows is known; returns how many
 * were there still.
 */
extern uint64 staged_delete_file(StagedTable *table, const ScanTask *task);

/* deletes every row of the table, whoever adds it before the commit */
extern void staged_truncate(StagedTable *table);

/*
 * What statements have looked for, for conflicts: the (normalised) filter of a
 * DELETE or UPDATE, copied; NULL: any row.
 */
extern void staged_add_read(StagedTable *table, StagedUse use,
							const Predicate *filter);

/* the number of a committed file's first row; the same file, the same number */
extern RowNumber staged_register_task(StagedTable *table,
									  const ScanTask *task);

/* whose row it is; NULL: a row of staged_rows(), number - STAGED_FIRST_ROW */
extern const StagedFile *staged_file_of(const StagedTable *table,
										RowNumber number);

/*
 * Something that must be done before later commands look at the table, such as
 * updated rows that wait for the columns which they keep.  fn is called with
 * arg before the next view and before the commit; never if the subtransaction
 * rolls back.  It is called again when a subtransaction that called it has
 * rolled back: what arg leads to must live as long as the transaction.
 */
extern void staged_defer(StagedTable *table, void (*fn) (void *arg),
						 void *arg);

/* what a scan sees of the log; immutable */
typedef struct StagedView
{
	bool		hides_base;		/* TRUNCATE: no committed file is read */
	uint64		first_row;		/* of staged_rows() */
	uint64		row_end;
	const LakeBitmap *deleted_rows; /* by row of staged_rows(); NULL: none */
	int			file_count;		/* of our own, to be read after the others */
	const StagedFile *const *files;
} StagedView;

/*
 * As commands before curcid left it, in the current memory context; NULL when
 * nothing is to be seen.
 */
extern const StagedView *staged_view(StagedTable *table, CommandId curcid);

/* positions of a file, committed or our own, that a view does not show, or NULL */
extern const LakeBitmap *staged_view_deletes(const StagedView *view,
											 const char *path);

/* ---- carry.c: updated rows keep what was not assigned ---- */

/* an UPDATE of a table; lives as long as the statement */
typedef struct Carry Carry;

/*
 * assigned: attribute numbers of the columns that the statement gives values;
 * has_trigger: a trigger may give some to others.  In the current memory
 * context.  Throws as row_writer_create does.
 */
extern Carry *carry_create(StagedTable *table, const LakeRelation *relation,
						   const Bitmapset *assigned, bool has_trigger);

/*
 * Adds a row that takes the place of one that has just been deleted by its
 * number.  old_slot has that one's columns, for triggers.
 */
extern void carry_add(Carry *carry, RowNumber number, TupleTableSlot *slot,
					  TupleTableSlot *old_slot);

/* has this transaction fixed the version that it reads of the table? */
extern bool staged_is_pinned(const LakeRelation *relation);

/* ---- conflict_error.c ---- */

/*
 * Throws 40001.  base is the table as the transaction has read it, location the
 * metadata that it has now; table what was to be committed, or NULL; reason a
 * sentence that names what stands in the way.
 */
extern _Noreturn void conflict_throw(const LakeRelation *base,
									 const StagedTable *table,
									 const char *location, int kind,
									 const char *reason);

/* ---- modify.c ---- */

/* begins to change a table by a DELETE that no ModifyTable node drives */
extern void modify_begin_direct_delete(Relation rel, Snapshot snapshot);

/* ---- lock.c ---- */

/* FOR UPDATE and lakefdw.write_lock, at the start of statements */
extern void lock_init(void);

/*
 * lakefdw.write_lock for what no plan shows: COPY, TRUNCATE, and partitions that
 * rows are routed to.
 */
extern void lock_to_write(const LakeRelation *relation);

/* ---- xact.c: how they become commits ---- */

/* registers the callbacks of transactions */
extern void xact_init(void);

/*
 * Lets our callback be the first to run at commit, before other wrappers commit
 * what cannot be taken back (decisions 6.5).
 */
extern void xact_run_first(void);

#endif							/* LAKE_STAGED_H */
