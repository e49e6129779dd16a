/*
 * The bridge between PostgreSQL's planner and executor and lake tables.
 *
 * Planning decides what may be pushed into the scan; nothing that it found is
 * believed when the scan runs.  A plan carries expressions only, and the
 * executor makes predicate, file list and readers from them anew, under the
 * statement's own pin: a cached plan outlives snapshots and schemas.
 */
#ifndef LAKE_FDW_H
#define LAKE_FDW_H

#include "postgres.h"

#include "foreign/fdwapi.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/dsm.h"

#include "server/server.h"

/* ---- pushdown.c: quals to predicates ---- */

typedef enum PushResult
{
	PUSH_NO,					/* PostgreSQL must evaluate the qual */
	PUSH_LATER,					/* pushable, but a value is not known yet */
	PUSH_DONE					/* *predicate is the qual, exactly */
} PushResult;

/*
 * The value of an expression that has no column in it.  False when it cannot
 * be known yet (a parameter while planning); the value may be in any context
 * that lives as long as the call of pushdown_qual.
 */
typedef bool (*PushValue) (void *arg, Expr *expr, Datum *value, bool *is_null);

typedef struct PushScope
{
	LakeArena  *arena;			/* gets predicates and their values */
	const LakeRelation *relation;
	Index		varno;			/* of the relation's Vars */
	PushValue	value;
	void	   *value_arg;
} PushScope;

/*
 * One qual as a predicate that keeps exactly the rows for which the qual is
 * true (fdw/README.md has the rules).  The result is the same for a qual of
 * the plan and for the query tree it came from, as long as table and declared
 * types stay the same.
 */
extern PushResult pushdown_qual(const PushScope *scope, Expr *qual,
								Predicate **predicate);

/* a PushValue that knows constants only */
extern bool pushdown_constant(void *arg, Expr *expr, Datum *value,
							  bool *is_null);

/* ---- plan.c ---- */

/* RelOptInfo.fdw_private of a lake table */
typedef struct LakePlan
{
	LakeRelation *relation;		/* under the newest pin, or lake.at's if that
								 * can be told while planning */
	Expr	   *selector;		/* lake.at's; NULL: none */
	Oid			selector_function;	/* lake.at */
	List	   *pushed;			/* RestrictInfos, security order */
	List	   *local;			/* RestrictInfos, the rest */
	Bitmapset  *attnums;		/* that the scan must return, offset by
								 * FirstLowInvalidHeapAttributeNumber */
	/* cost.c's */
	double		table_rows;		/* of the snapshot */
	double		planned_rows;	/* of files that constants do not prune */
	double		planned_files;
	double		planned_bytes;	/* size of those files */
	bool		knows_files;	/* the planned ones come from the manifests */
	bool		counts_rows;	/* every planned file's rows are known, and no
								 * delete applies */
	double		read_bytes;		/* of the columns that the scan reads */
	Cost		read_cost;		/* files to vectors, without tuples */
	/* statistics.c's */
	Bitmapset  *summarised;		/* attributes that were asked for */
	HeapTuple  *statistics;		/* by attnum - 1, NULL: none; or all NULL */
} LakePlan;

/* ForeignScan.fdw_private; 64-bit values never go in as Integer */
typedef enum LakePrivate
{
	/*
	 * IntList: attributes to return, in the order of fdw_scan_tlist if there
	 * is one
	 */
	LAKE_PRIVATE_ATTNUMS,

	/*
	 * OidList: lake.at, if the first of fdw_exprs is its selector; NIL
	 * otherwise
	 */
	LAKE_PRIVATE_SELECTOR,

	/*
	 * IntList: of a scan whose rows are updated or deleted the command, and
	 * whether the pushed quals are all that decides on them; NIL otherwise
	 */
	LAKE_PRIVATE_TARGET,
	LAKE_PRIVATE_LENGTH
} LakePrivate;

/* does the scan decide the qual, or will it under its parameters' values? */
extern bool plan_is_pushable(RelOptInfo *baserel, RestrictInfo *info);

/*
 * Rows of a lake table have no ctid and no xmin; throws 0A000 when attnums (as
 * pull_varattnos gives them) have one, but for a target's ctid.  name: the
 * table's, for the message.
 */
extern void plan_refuse_system_columns(const char *name,
									   const Bitmapset *attnums,
									   bool allow_tid);

/* for a path whose node may be executed by any process, as a whole */
extern void plan_set_parallel_safety(ForeignPath *path, const LakePlan *plan);

extern bool lakeIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
										  RangeTblEntry *rte);
extern void lakeGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel,
								  Oid relid);
extern void lakeGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel,
								Oid relid);
extern void lakeGetForeignUpperPaths(PlannerInfo *root,
									 UpperRelationKind stage,
									 RelOptInfo *input_rel,
									 RelOptInfo *output_rel, void *extra);
extern ForeignScan *lakeGetForeignPlan(PlannerInfo *root, RelOptInfo *rel,
									   Oid relid, ForeignPath *best_path,
									   List *tlist, List *scan_clauses,
									   Plan *outer_plan);

/* ---- cost.c ---- */

/* sets the estimates of plan, and baserel's tuples, rows, pages and width */
extern void cost_estimate_size(PlannerInfo *root, RelOptInfo *baserel,
							   LakePlan *plan);

/* startup and total cost of returning baserel's rows */
extern void cost_scan(PlannerInfo *root, const RelOptInfo *baserel,
					  LakePlan *plan, Cost *startup, Cost *total);

/*
 * How many workers a scan should have, 0 if none, and the rows that each
 * process returns at which cost.
 */
extern int	cost_parallel_workers(RelOptInfo *baserel, const LakePlan *plan);
extern void cost_parallel_scan(PlannerInfo *root, const RelOptInfo *baserel,
							   LakePlan *plan, int workers, double *rows,
							   Cost *startup, Cost *total);

/* what a parameterised scan does for each row of the other relation */
typedef struct Lookup
{
	List	   *pushed;			/* RestrictInfos of join clauses */
	List	   *local;			/* those that the scan does not decide */
	double		files;			/* that it opens */
	double		bytes_share;	/* of the planned files that it reads */
} Lookup;

/* of one of them, which returns so many rows */
extern void cost_lookup(PlannerInfo *root, const RelOptInfo *baserel,
						double rows, const Lookup *lookup, Cost *startup,
						Cost *total);

/*
 * The predicate of those quals (RestrictInfos) whose values the scope knows,
 * NULL if there is none.  prepare (NULL: nothing) is called with value_arg
 * before each qual.
 */
extern const Predicate *cost_known_predicate(PushScope *scope,
											 const List *quals,
											 void (*prepare) (void *arg,
															  const RestrictInfo *qual));

/* the files of the relation's version */
extern const ScanPlan *cost_plan_files(const LakeRelation *relation,
									   const Predicate *predicate);

/* the same for one row that counts them */
extern void cost_count(const LakePlan *plan, Cost *startup, Cost *total);

/* ---- lookup.c: parameterised paths ---- */

extern void lookup_add_paths(PlannerInfo *root, RelOptInfo *baserel);

/* ---- statistics.c: statistics before the first ANALYZE ---- */

/* chains a get_relation_stats_hook */
extern void statistics_init(void);

/* ---- scan.c ---- */

/* one qual that the plan pushed */
typedef struct ScanQual
{
	Expr	   *clause;
	ExprState  *local;			/* evaluates it when it cannot be pushed after
								 * all; NULL until then */
	bool		is_local;		/* under the current values */
} ScanQual;

/* the value of an expression in a pushed qual */
typedef struct ScanValue
{
	Expr	   *expr;
	ExprState  *state;
} ScanValue;

/* one attribute that the scan returns */
typedef struct ScanColumn
{
	const LakeColumn *source;
	int			attribute;		/* index in the slot */
	ColumnConverter *converter;
	uint64		converted;		/* rows of the run before this are done */
	Datum	   *values;			/* of the run, in row_context */
	bool	   *nulls;
} ScanColumn;

/* ForeignScanState.fdw_state */
typedef struct LakeScan
{
	ForeignScanState *node;
	MemoryContext context;		/* the scan's, below es_query_cxt */

	/* lake.at's selector, NULL if there is none, and what it depends on */
	Expr	   *selector;
	ExprState  *selector_state;
	Bitmapset  *selector_params;
	bool		selector_is_open;	/* known when the scan runs, not before */
	bool		selector_is_stale;	/* a rescan may have changed it */

	/* made by open_relation(), in open_context */
	MemoryContext open_context;
	LakeRelation *relation;		/* under the statement's pin; NULL: not yet */
	const char *title;			/* for error contexts */
	ColumnConverter **converters;	/* by attribute index */
	DeleteCache *deletes;		/* NULL until a reader needs it */
	bool		counts;			/* returns one row: how many there are */
	bool		explain_only;
	List	   *attnums;		/* that the plan wants */
	bool		is_exact;		/* the slot has these attributes only */
	bool		wants_tid;		/* rows are updated or deleted */
	bool		has_noted_read; /* conflicts know what it looks for */
	int			qual_count;
	ScanQual   *quals;
	List	   *values;			/* ScanValue, made when first asked for */
	Bitmapset  *value_params;	/* executor parameters in quals */

	/* made by scan_bind(), in bind_context */
	MemoryContext bind_context;
	bool		is_bound;
	bool		has_unknown;	/* a qual waits for its value: EXPLAIN only */
	bool		has_local;		/* some qual is evaluated here, row by row */
	const Predicate *predicate; /* normalised; NULL: all rows */
	const ScanPlan *plan;		/* NULL: no snapshot */
	struct StagedScan *staged;	/* scan_staged.c's; NULL: this transaction has
								 * changed nothing */
	TaskReader *reader;			/* NULL until a task needs it */
	int			column_count;
	ScanColumn *columns;

	/* parallel.c's */
	struct ParallelScan *parallel;	/* NULL: nobody else takes part */
	dsm_segment *segment;		/* of the leader, that parallel is in */
	Size		ref_room;		/* what parallel was made with */
	bool		has_joined;		/* in this round of the scan */
	bool		has_left;		/* a worker that has handed in its counters */
	int64		unit_bytes;		/* of files that are cut */
	uint64		task_unit;		/* number of next_task's first unit */

	/* where the scan stands */
	int			next_task;
	bool		in_task;
	LakeBatch	batch;
	uint32		run_first;		/* the run's first row in the selection */
	uint32		run_rows;		/* how long the next run may be */
	MemoryContext row_context;	/* Datums of the current run */
	uint64		row;			/* next of the run */
	uint64		row_count;		/* of the run */
	TupleTableSlot *slot;		/* shows row - 1 */
	bool		is_done;		/* the count has been returned */

	/* for EXPLAIN ANALYZE, over all rescans */
	TaskReaderCounters counters;	/* of readers that are gone */
	uint64		bytes_before;	/* read under versions that are closed */
	uint64		hits_before;	/* of the cache, under those */
	uint64		plan_bytes;		/* of metadata and manifests */
} LakeScan;

extern void lakeBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *lakeIterateForeignScan(ForeignScanState *node);
extern void lakeReScanForeignScan(ForeignScanState *node);
extern void lakeEndForeignScan(ForeignScanState *node);

/* the foreign table */
extern Oid	scan_relid(const LakeScan *scan);

/* opens the relation under the selector's current value */
extern void scan_open(LakeScan *scan);

/* the same for a given version; metadata_location NULL: the pin's */
extern void scan_open_version(LakeScan *scan, const LakeSelector *selector,
							  const char *metadata_location);

/* the selector under the current values; the relation has been opened before */
extern void scan_selector(LakeScan *scan, LakeSelector *selector);

/*
 * Evaluates selector and quals' values and plans the files; for EXPLAIN of a
 * node that was never executed, which leaves the relation NULL if its version
 * cannot be told.
 */
extern void scan_bind(LakeScan *scan);

/*
 * A reader of a relation's files with the fields as its columns, which are
 * borrowed, as is the normalised predicate (NULL: all rows).
 */
extern TaskReader *scan_reader_create(LakeArena *arena,
									  const LakeRelation *relation,
									  const LakeField *const *fields,
									  int count, const Predicate *predicate);

/*
 * The same for rows that shall be written again: what the reader would show
 * rounded is an error.
 */
extern TaskReader *scan_rewriter_create(LakeArena *arena,
										const LakeRelation *relation,
										const LakeField *const *fields,
										int count);

/*
 * Makes the Datum of a column for the current row, or for this and the later
 * ones of its run.
 */
extern void scan_convert_column(LakeScan *scan, ScanColumn *column);

/* bytes that Datums may still take in context, before a run should end */
extern Size scan_convert_room(MemoryContext context);

/* what the readers counted so far */
extern TaskReaderCounters scan_counters(const LakeScan *scan);
extern void scan_add_counters(TaskReaderCounters *sum,
							  const TaskReaderCounters *add);

/* of data files and what belongs to them */
extern uint64 scan_bytes_read(const LakeScan *scan);

/* metadata files, manifest lists and manifests that the cache made unnecessary */
extern uint64 scan_cache_hits(const LakeScan *scan);

/*
 * What is read in one go: of a file the row groups that begin in a byte range,
 * or rows that have not become a file.
 */
typedef struct ScanUnit
{
	const ScanTask *task;		/* NULL: rows in memory */
	int64		from;
	int64		to;				/* PG_INT64_MAX: the end */
	/* positions that are not read, besides the task's deletes; NULL: none */
	const LakeBitmap *deleted;
} ScanUnit;

/* ---- scan_staged.c: what the transaction itself has changed ---- */

typedef struct StagedScan StagedScan;

/*
 * Finds what the scan sees of its own transaction's changes, when its files have
 * been planned, in the current memory context.
 */
extern void staged_scan_bind(LakeScan *scan);

/* from the start again */
extern void staged_scan_rewind(StagedScan *staged);

/* the next unit of added rows, after those of the plan; false at the end */
extern bool staged_scan_next_unit(LakeScan *scan, ScanUnit *unit);

/* before any unit is begun: what else of it is deleted, and its rows' numbers */
extern void staged_scan_begin_unit(LakeScan *scan, ScanUnit *unit);

/* begins to read a unit of rows in memory */
extern void staged_scan_begin_rows(LakeScan *scan, const ScanUnit *unit);

/* sets the ctid of the row at a position of the current unit */
extern void staged_scan_set_tid(const LakeScan *scan, uint64 position,
								TupleTableSlot *slot);

/* what there is of them by now, for the planner */
typedef struct StagedEstimate
{
	bool		hides_base;		/* TRUNCATE */
	double		added;			/* rows, deleted ones too */
	double		deleted;		/* rows, added ones too */
	double		files;
	double		bytes;			/* of the files */
} StagedEstimate;

/* false if there are none */
extern bool staged_scan_estimate(const LakeRelation *relation,
								 StagedEstimate *estimate);

/*
 * Lets no statement start parallel workers in a transaction that has changed
 * lake tables, since they know nothing of that.
 */
extern void staged_scan_init(void);

/* does the transaction have changes that workers would not see? */
extern bool staged_scan_is_serial(void);

/* ---- parallel.c: one scan by several processes ---- */

/* in shared memory */
typedef struct ParallelScan ParallelScan;

/* the next unit that no process has taken; false when there is none */
extern bool parallel_next_unit(LakeScan *scan, ScanUnit *unit);

/* about how many units files of so many bytes are cut into */
extern double parallel_units(double files, double bytes, int process_count);

extern Size lakeEstimateDSMForeignScan(ForeignScanState *node,
									   struct ParallelContext *context);
extern void lakeInitializeDSMForeignScan(ForeignScanState *node,
										 struct ParallelContext *context,
										 void *coordinate);
extern void lakeReInitializeDSMForeignScan(ForeignScanState *node,
										   struct ParallelContext *context,
										   void *coordinate);
extern void lakeInitializeWorkerForeignScan(ForeignScanState *node,
											struct shm_toc *toc,
											void *coordinate);
extern void lakeShutdownForeignScan(ForeignScanState *node);

/* ---- time_travel.c: lake.at() as a scan ---- */

/*
 * Installs the planner hook that turns lake.at(NULL::t, ...) in FROM into a
 * scan of t, whose RangeTblEntry carries the selector in tablesample (decisions
 * 4.2, design: "Time travel in one query").
 */
extern void time_travel_init(void);

/* the lake table of a row type, locked for the planner; throws 42809 */
extern Oid	time_travel_relation(Oid type);

/*
 * The selector that a range table entry carries, NULL for an ordinary one: a
 * bigint, timestamptz or text, or a row of them.
 */
extern Expr *time_travel_selector(const RangeTblEntry *rte);

/* the expressions of lake.at's arguments that a selector is made of */
extern List *time_travel_arguments(const Expr *selector);

/* what a selector of that type, not a row, is */
extern LakeSelectorKind time_travel_kind(Oid type);

/* lake.at's OID, if the entry came from it */
extern Oid	time_travel_function(const RangeTblEntry *rte);

/* the argument of lake.at that gives this kind */
extern const char *time_travel_name(LakeSelectorKind kind);

/* unless lake.at has got one value, throws 22004 for none, 22023 for more */
extern void time_travel_check_count(int count);

/*
 * What the value of that selector means, in the current memory context; throws
 * as time_travel_check_count.
 */
extern void time_travel_value(const Expr *expr, Datum value, bool is_null,
							  LakeSelector *selector);

/* the same of what the planner takes for its value; false if it has none */
extern bool time_travel_guess(const Expr *guess, LakeSelector *selector);

/* ---- modify.c: rows that are inserted, updated, deleted ---- */

extern void modify_init(void);

extern void lakeAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
										RangeTblEntry *target_rte,
										Relation target_relation);
extern List *lakePlanForeignModify(PlannerInfo *root, ModifyTable *plan,
								   Index result_relation, int subplan_index);
extern void lakeBeginForeignModify(ModifyTableState *state,
								   ResultRelInfo *result, List *fdw_private,
								   int subplan_index, int eflags);
extern TupleTableSlot *lakeExecForeignInsert(EState *estate,
											 ResultRelInfo *result,
											 TupleTableSlot *slot,
											 TupleTableSlot *plan_slot);
extern TupleTableSlot *lakeExecForeignUpdate(EState *estate,
											 ResultRelInfo *result,
											 TupleTableSlot *slot,
											 TupleTableSlot *plan_slot);
extern TupleTableSlot *lakeExecForeignDelete(EState *estate,
											 ResultRelInfo *result,
											 TupleTableSlot *slot,
											 TupleTableSlot *plan_slot);
extern void lakeEndForeignModify(EState *estate, ResultRelInfo *result);
extern void lakeBeginForeignInsert(ModifyTableState *state,
								   ResultRelInfo *result);
extern void lakeEndForeignInsert(EState *estate, ResultRelInfo *result);
extern void lakeExecForeignTruncate(List *relations, DropBehavior behavior,
									bool restart_sequences);

/* ---- lock.c: locks of whole tables, to the end of the transaction ---- */

/*
 * Waits for the table's lock, or throws 55P03.  40001 where the transaction has
 * one snapshot and the table has changed since; 0A000 outside of hosted
 * catalogs.
 */
extern void lock_lake_table(Oid relid, bool nowait);

/* several, in the order in which everybody locks them */
extern void lock_lake_tables(List *relids);

/* ---- create_table.c ---- */

/*
 * Makes the lake table of a new foreign table whose options order that, unless
 * it is there, and removes those options.
 */
extern void create_lake_table(Oid relid);

/* ---- direct_modify.c ---- */

extern bool lakePlanDirectModify(PlannerInfo *root, ModifyTable *plan,
								 Index result_relation, int subplan_index);
extern void lakeBeginDirectModify(ForeignScanState *node, int eflags);
extern TupleTableSlot *lakeIterateDirectModify(ForeignScanState *node);
extern void lakeEndDirectModify(ForeignScanState *node);

/* ---- staged.c ---- */

/* commands that have changed the lake table of that key, for lake.pins() */
extern int	staged_operation_count(const char *key);

/* ---- slot.c ---- */

/*
 * The slot that shows the scan's current row; lives as long as the executor
 * state.  Attributes that the scan does not return must be set to NULL once.
 */
extern TupleTableSlot *scan_slot_create(LakeScan *scan);

/* ---- explain.c ---- */

extern void lakeExplainForeignScan(ForeignScanState *node,
								   struct ExplainState *es);

/* ---- analyze.c ---- */

extern bool lakeAnalyzeForeignTable(Relation relation,
									AcquireSampleRowsFunc *func,
									BlockNumber *total_pages);

/* ---- import.c ---- */

/* is it a server of this foreign-data wrapper? */
extern bool is_lake_server(Oid server_oid);

extern List *lakeImportForeignSchema(ImportForeignSchemaStmt *stmt,
									 Oid server_oid);

#endif							/* LAKE_FDW_H */
