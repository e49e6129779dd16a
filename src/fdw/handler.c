/*
 * The extension's entry points: library load, and the callbacks that make a
 * foreign table readable and writable.
 *
 * Inserts come row by row: core copies each row of a batch, and rows are
 * gathered by column here anyway.
 */
#include "fdw/fdw.h"
#include "fdw/staged_int.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(lakefdw_handler);

void
_PG_init(void)
{
	stop_points_init();
	guc_define();
	commit_stats_init();
	statistics_init();
	xact_init();
	lock_init();
	time_travel_init();
	staged_scan_init();
	modify_init();
}

/*
 * Whole rows travel with the plan, whether a joined local table is locked or the
 * lake table itself, see lock.c.
 */
static RowMarkType
lakeGetForeignRowMarkType(RangeTblEntry *rte, LockClauseStrength strength)
{
	return ROW_MARK_COPY;
}

Datum
lakefdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = lakeGetForeignRelSize;
	routine->GetForeignPaths = lakeGetForeignPaths;
	routine->GetForeignPlan = lakeGetForeignPlan;
	routine->GetForeignUpperPaths = lakeGetForeignUpperPaths;

	routine->BeginForeignScan = lakeBeginForeignScan;
	routine->IterateForeignScan = lakeIterateForeignScan;
	routine->ReScanForeignScan = lakeReScanForeignScan;
	routine->EndForeignScan = lakeEndForeignScan;

	routine->IsForeignScanParallelSafe = lakeIsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = lakeEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = lakeInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = lakeReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = lakeInitializeWorkerForeignScan;
	routine->ShutdownForeignScan = lakeShutdownForeignScan;

	routine->AddForeignUpdateTargets = lakeAddForeignUpdateTargets;
	routine->PlanForeignModify = lakePlanForeignModify;
	routine->BeginForeignModify = lakeBeginForeignModify;
	routine->ExecForeignInsert = lakeExecForeignInsert;
	routine->ExecForeignUpdate = lakeExecForeignUpdate;
	routine->ExecForeignDelete = lakeExecForeignDelete;
	routine->EndForeignModify = lakeEndForeignModify;
	routine->BeginForeignInsert = lakeBeginForeignInsert;
	routine->EndForeignInsert = lakeEndForeignInsert;
	routine->ExecForeignTruncate = lakeExecForeignTruncate;

	routine->PlanDirectModify = lakePlanDirectModify;
	routine->BeginDirectModify = lakeBeginDirectModify;
	routine->IterateDirectModify = lakeIterateDirectModify;
	routine->EndDirectModify = lakeEndDirectModify;
	routine->ExplainDirectModify = lakeExplainForeignScan;

	routine->GetForeignRowMarkType = lakeGetForeignRowMarkType;
	routine->ExplainForeignScan = lakeExplainForeignScan;
	routine->AnalyzeForeignTable = lakeAnalyzeForeignTable;
	routine->ImportForeignSchema = lakeImportForeignSchema;

	PG_RETURN_POINTER(routine);
}
