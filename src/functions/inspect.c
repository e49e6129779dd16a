/*
 * What the functions that show metadata share: who may call them, on what, and
 * how text and times come out.
 */
#include "functions/functions.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "common/int.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "fdw/fdw.h"

/* of our wrapper, whatever its name; some wrappers have no handler at all */
static bool
is_lake_table(Relation rel)
{
	ForeignServer *server;
	ForeignDataWrapper *wrapper;

	if (rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE)
		return false;
	server = GetForeignServer(GetForeignServerIdByRelId(RelationGetRelid(rel)));
	wrapper = GetForeignDataWrapper(server->fdwid);
	return OidIsValid(wrapper->fdwhandler) &&
		GetFdwRoutine(wrapper->fdwhandler)->GetForeignRelSize ==
		lakeGetForeignRelSize;
}

bool
inspect_may_select(Oid relid, InspectRight right)
{
	AclMaskHow	how = right == INSPECT_ANY_COLUMN ? ACLMASK_ANY : ACLMASK_ALL;

	return pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) ==
		ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT, how) ==
		ACLCHECK_OK;
}

void
inspect_check_lake_table(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	if (!is_lake_table(rel))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a lake table",
					   RelationGetRelationName(rel)),
				rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
				errhint("Name one of its partitions.") : 0);
	relation_close(rel, NoLock);
}

/* the argument, a lake table that is locked and that the user may read */
static Oid
checked_relation(FunctionCallInfo fcinfo, InspectRight right)
{
	Oid			relid = PG_GETARG_OID(0);

	inspect_check_lake_table(relid);
	if (!inspect_may_select(relid, right))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE,
					   get_rel_name(relid));
	return relid;
}

LakeRelation *
inspect_open(FunctionCallInfo fcinfo, InspectRight right)
{
	static const LakeSelector current;
	LakeOpen	how = {
		.snapshot = GetActiveSnapshot(),
		.selector = &current,
		.without_columns = true,
	};

	return lake_relation_open(checked_relation(fcinfo, right), &how);
}

/* false: all arguments are NULL */
static bool
get_selector(FunctionCallInfo fcinfo, int first, LakeSelector *selector)
{
	int			count = 0;

	memset(selector, 0, sizeof *selector);
	if (!PG_ARGISNULL(first))
	{
		selector->kind = LAKE_SELECT_SNAPSHOT;
		selector->snapshot_id = PG_GETARG_INT64(first);
		count++;
	}
	if (!PG_ARGISNULL(first + 1))
	{
		selector_set_time(selector, PG_GETARG_TIMESTAMPTZ(first + 1));
		count++;
	}
	if (!PG_ARGISNULL(first + 2))
	{
		selector->kind = LAKE_SELECT_REF;
		selector->ref =
			name_to_lake(text_to_cstring(PG_GETARG_TEXT_PP(first + 2)));
		count++;
	}
	if (count > 1)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("only one of snapshot, as_of and ref can be given"));
	return count == 1;
}

LakeRelation *
inspect_open_version(FunctionCallInfo fcinfo, InspectRight right, int first)
{
	LakeSelector selector;
	LakeOpen	how = {
		.snapshot = GetActiveSnapshot(),
		.without_columns = true,
	};

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("argument \"rel\" must not be NULL"));
	if (get_selector(fcinfo, first, &selector))
		how.selector = &selector;
	return lake_relation_open(checked_relation(fcinfo, right), &how);
}

Datum
inspect_text(const char *text)
{
	return CStringGetTextDatum(name_from_lake(text));
}

Datum
inspect_text_bytes(LakeBytes text)
{
	const char *copy = pnstrdup((const char *) text.data, text.len);

	if (strlen(copy) != text.len)
		ereport(ERROR,
				errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				errmsg("text in the lake has a NUL character"));
	return inspect_text(copy);
}

static bool
to_timestamptz(int64 milliseconds, TimestampTz *time)
{
	const int64 epoch = (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) *
		USECS_PER_DAY;

	return !pg_mul_s64_overflow(milliseconds, 1000, time) &&
		!pg_sub_s64_overflow(*time, epoch, time) &&
		IS_VALID_TIMESTAMP(*time);
}

Datum
inspect_snapshot_time(int64 milliseconds, int64 snapshot_id)
{
	TimestampTz time;

	if (!to_timestamptz(milliseconds, &time))
		ereport(ERROR,
				errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				errmsg("time of snapshot " INT64_FORMAT " is out of range: "
					   INT64_FORMAT " milliseconds since 1970",
					   snapshot_id, milliseconds));
	return TimestampTzGetDatum(time);
}

Datum
inspect_file_time(int64 milliseconds, const char *file)
{
	TimestampTz time;

	if (!to_timestamptz(milliseconds, &time))
		ereport(ERROR,
				errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				errmsg("time of metadata file \"%s\" is out of range: "
					   INT64_FORMAT " milliseconds since 1970",
					   name_from_lake(file), milliseconds));
	return TimestampTzGetDatum(time);
}
