/*
 * What view lake.stat_commits shows: the counters of commits, by lake table.
 *
 * They tell how busy a table is, so a role sees those of tables that it has some
 * right on by a foreign table; pg_read_all_stats sees all.
 */
#include "functions/functions.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_table.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(lakefdw_stat_get_commits);

enum
{
	STAT_SCOPE,
	STAT_IDENT,
	STAT_COMMITS,
	STAT_REBASES,
	STAT_CONFLICTS,
	STAT_CAS_LOSSES,
	STAT_LOCK_WAIT_MS_TOTAL,
	STAT_LOCK_WAIT_MS_MAX,
	STAT_RETRY_MS,
	STAT_BYTES_REWRITTEN,
	STAT_COLUMNS
};

static bool
has_any_right(Oid relid)
{
	return pg_class_aclmask(relid, GetUserId(),
							ACL_SELECT | ACL_INSERT | ACL_UPDATE | ACL_DELETE |
							ACL_TRUNCATE, ACLMASK_ANY) != 0 ||
		pg_attribute_aclcheck_all(relid, GetUserId(),
								  ACL_SELECT | ACL_INSERT | ACL_UPDATE,
								  ACLMASK_ANY) == ACLCHECK_OK;
}

/* hashes of the lake tables that the user has a right on */
static uint64 *
visible_tables(int *count)
{
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0,
										  NULL);
	int			room = 16;
	uint64	   *tables = palloc(room * sizeof *tables);
	HeapTuple	tuple;

	*count = 0;
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table form = (Form_pg_foreign_table) GETSTRUCT(tuple);
		const char *key;

		if (!is_lake_server(form->ftserver) || !has_any_right(form->ftrelid))
			continue;
		key = lake_relation_key(form->ftrelid);
		if (key == NULL)
			continue;
		if (*count == room)
			tables = repalloc(tables, (room *= 2) * sizeof *tables);
		tables[(*count)++] = commit_stats_table(key);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return tables;
}

static bool
contains(const uint64 *tables, int count, uint64 table)
{
	for (int i = 0; i < count; i++)
	{
		if (tables[i] == table)
			return true;
	}
	return false;
}

/* an object of the kinds that there have been */
static Datum
conflicts_datum(const CommitStatsRow *row)
{
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < SERVER_CONFLICT_KINDS; i++)
	{
		if (row->conflicts[i] != 0)
			appendStringInfo(&json, "%s\"%s\": " UINT64_FORMAT,
							 json.len == 0 ? "" : ", ",
							 commit_stats_conflict_name(i), row->conflicts[i]);
	}
	return DirectFunctionCall1(jsonb_in,
							   CStringGetDatum(psprintf("{%s}", json.data)));
}

static Datum
milliseconds(const CommitStatsRow *row, CommitCounter counter)
{
	return Float8GetDatum((double) row->counters[counter] / 1000.0);
}

static void
put_row(ReturnSetInfo *result, const CommitStatsRow *row)
{
	Datum		values[STAT_COLUMNS] = {0};
	bool		nulls[STAT_COLUMNS] = {0};

	values[STAT_SCOPE] = CStringGetTextDatum(commit_stats_are_shared() ?
											 "cluster" : "backend");
	nulls[STAT_IDENT] = row->is_others;
	if (!row->is_others)
		values[STAT_IDENT] = CStringGetTextDatum(name_from_lake(row->ident));
	values[STAT_COMMITS] = Int64GetDatum(row->counters[COMMIT_COMMITS]);
	values[STAT_REBASES] = Int64GetDatum(row->counters[COMMIT_REBASES]);
	values[STAT_CONFLICTS] = conflicts_datum(row);
	values[STAT_CAS_LOSSES] = Int64GetDatum(row->counters[COMMIT_CAS_LOSSES]);
	values[STAT_LOCK_WAIT_MS_TOTAL] = milliseconds(row, COMMIT_LOCK_WAIT_US);
	values[STAT_LOCK_WAIT_MS_MAX] = milliseconds(row,
												 COMMIT_LOCK_WAIT_MAX_US);
	values[STAT_RETRY_MS] = milliseconds(row, COMMIT_RETRY_US);
	values[STAT_BYTES_REWRITTEN] =
		Int64GetDatum(row->counters[COMMIT_BYTES_REWRITTEN]);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

Datum
lakefdw_stat_get_commits(PG_FUNCTION_ARGS)
{
	bool		sees_all = has_privs_of_role(GetUserId(),
											 ROLE_PG_READ_ALL_STATS);
	int			count = 0;
	const uint64 *tables = sees_all ? NULL : visible_tables(&count);
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, commit_stats_list())
	{
		const CommitStatsRow *row = lfirst(cell);

		if (sees_all ? !row->is_others || !row->is_zero :
			contains(tables, count, row->table))
			put_row((ReturnSetInfo *) fcinfo->resultinfo, row);
	}
	return (Datum) 0;
}
