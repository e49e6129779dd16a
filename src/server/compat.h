/*
 * Differences between the PostgreSQL versions 15 to 18.
 *
 * The only place that looks at PG_VERSION_NUM.  Everything else is written for
 * the newest version's interface, under a name of ours where the old one cannot
 * offer it.
 */
#ifndef LAKE_COMPAT_H
#define LAKE_COMPAT_H

#include "postgres.h"

#include "catalog/pg_foreign_server.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parse_relation.h"
#include "parser/parse_type.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/pg_locale.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 190000
#error "lakefdw needs PostgreSQL 15, 16, 17 or 18"
#endif

/* new in 16 */
#ifndef palloc_array
#define palloc_array(type, count) ((type *) palloc(sizeof(type) * (count)))
#define palloc0_array(type, count) ((type *) palloc0(sizeof(type) * (count)))
#endif

#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/*
 * The extra arguments came in 17 (fdw_restrictinfo) and 18 (disabled_nodes); we
 * use neither.
 */
static inline ForeignPath *
compat_foreignscan_path(PlannerInfo *root, RelOptInfo *rel,
						PathTarget *target, double rows, Cost startup_cost,
						Cost total_cost, List *pathkeys,
						Relids required_outer, Path *fdw_outerpath,
						List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreignscan_path(root, rel, target, rows, 0, startup_cost,
								   total_cost, pathkeys, required_outer,
								   fdw_outerpath, NIL, fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreignscan_path(root, rel, target, rows, startup_cost,
								   total_cost, pathkeys, required_outer,
								   fdw_outerpath, NIL, fdw_private);
#else
	return create_foreignscan_path(root, rel, target, rows, startup_cost,
								   total_cost, pathkeys, required_outer,
								   fdw_outerpath, fdw_private);
#endif
}

static inline ForeignPath *
compat_foreign_upper_path(PlannerInfo *root, RelOptInfo *rel,
						  PathTarget *target, double rows, Cost startup_cost,
						  Cost total_cost, List *pathkeys,
						  Path *fdw_outerpath, List *fdw_private)
{
#if PG_VERSION_NUM >= 180000
	return create_foreign_upper_path(root, rel, target, rows, 0, startup_cost,
									 total_cost, pathkeys, fdw_outerpath, NIL,
									 fdw_private);
#elif PG_VERSION_NUM >= 170000
	return create_foreign_upper_path(root, rel, target, rows, startup_cost,
									 total_cost, pathkeys, fdw_outerpath, NIL,
									 fdw_private);
#else
	return create_foreign_upper_path(root, rel, target, rows, startup_cost,
									 total_cost, pathkeys, fdw_outerpath,
									 fdw_private);
#endif
}

/* the base relations below a foreign scan (16 has outer joins in fs_relids) */
static inline Bitmapset *
compat_scan_relids(const ForeignScan *scan)
{
#if PG_VERSION_NUM >= 160000
	return scan->fs_base_relids;
#else
	return scan->fs_relids;
#endif
}

/* is the column computed when it is read (18)? */
static inline bool
compat_is_virtual_generated(Form_pg_attribute attribute)
{
#if PG_VERSION_NUM >= 180000
	return attribute->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
#else
	return false;
#endif
}

/* is the collation's order that of bytes? */
static inline bool
compat_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* copy_minimal_tuple of a slot leaves room in front of the tuple (18) */
#if PG_VERSION_NUM >= 180000
#define COMPAT_EXTRA_PARAMETER , Size extra
#define COMPAT_EXTRA_ARGUMENT , extra
#else
#define COMPAT_EXTRA_PARAMETER
#define COMPAT_EXTRA_ARGUMENT
#endif

/* may the role call the function? */
static inline AclResult
compat_function_aclcheck(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE);
#endif
}

/*
 * Asks for SELECT on columns of a relation that was not in the query before.
 * view_owner is whom it is read as, if not the user; before 16 the rewriter has
 * left that in the entry, whatever it stood for.
 */
static inline void
compat_require_select(Query *query, RangeTblEntry *rte, Bitmapset *columns,
					  Oid view_owner)
{
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *info = addRTEPermissionInfo(&query->rteperminfos, rte);

	info->requiredPerms = ACL_SELECT;
	info->selectedCols = columns;
	info->checkAsUser = view_owner;
#else
	rte->requiredPerms = ACL_SELECT;
	rte->selectedCols = columns;
#endif
}

/* the executor's check of a relation of the query, which throws 42501 */
static inline void
compat_check_permissions(const Query *query, RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	RangeTblEntry alone = *rte;

	if (rte->perminfoindex == 0)
		return;
	alone.perminfoindex = 1;
	ExecCheckPermissions(list_make1(&alone),
						 list_make1(getRTEPermissionInfo(query->rteperminfos,
														 rte)), true);
#else
	ExecCheckRTPerms(list_make1(rte), true);
#endif
}

/* columns of joins as those of their inputs, outside of the planner */
static inline Node *
compat_flatten_join_alias_vars(Query *query, Node *node)
{
#if PG_VERSION_NUM >= 160000
	return flatten_join_alias_vars(NULL, query, node);
#else
	return flatten_join_alias_vars(query, node);
#endif
}

/* may the role use the foreign server? */
static inline AclResult
compat_server_usage_aclcheck(Oid server_oid, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ForeignServerRelationId, server_oid, role,
						   ACL_USAGE);
#else
	return pg_foreign_server_aclcheck(server_oid, role, ACL_USAGE);
#endif
}

/* may the role look up what is in the schema? */
static inline AclResult
compat_namespace_usage_aclcheck(Oid namespace_oid, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(NamespaceRelationId, namespace_oid, role,
						   ACL_USAGE);
#else
	return pg_namespace_aclcheck(namespace_oid, role, ACL_USAGE);
#endif
}

#endif							/* LAKE_COMPAT_H */
