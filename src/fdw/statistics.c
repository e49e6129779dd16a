/*
 * Statistics of columns before the first ANALYZE, out of the bounds that
 * manifests have of each file.
 *
 * They are given to core as a row of pg_statistic would be (its
 * get_relation_stats_hook), so that ranges, equality, LIKE, OR, joins and
 * GROUP BY are estimated by the one code that knows how, and no condition counts
 * twice.  A column that was analyzed has its row, which wins.
 */
#include "fdw/fdw.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "server/compat.h"

/*
 * Tables with more files have no statistics: to read the bounds of so many takes
 * 0.2 s, once a snapshot and column, if the metadata cache has room for them.
 */
#define MAX_FILES_TO_SUMMARISE 100000

#define DAYS_1970_TO_2000	(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define USECS_1970_TO_2000	(DAYS_1970_TO_2000 * USECS_PER_DAY)

/*
 * Which declared types show a field's values in their own order, and the
 * values, as the lake has them, that such a type can show.  Zeros: all.
 */
static const struct
{
	LakeTypeKind kind;
	Oid			type_oid;
	int64		min;
	int64		max;
}			shown_types[] = {
	{LAKE_BOOLEAN, BOOLOID},
	{LAKE_INT, INT2OID, PG_INT16_MIN, PG_INT16_MAX},
	{LAKE_INT, INT4OID},
	{LAKE_INT, INT8OID},
	{LAKE_INT, FLOAT8OID},
	{LAKE_INT, NUMERICOID},
	{LAKE_LONG, INT2OID, PG_INT16_MIN, PG_INT16_MAX},
	{LAKE_LONG, INT4OID, PG_INT32_MIN, PG_INT32_MAX},
	{LAKE_LONG, INT8OID},
	{LAKE_LONG, NUMERICOID},
	{LAKE_FLOAT, FLOAT4OID},
	{LAKE_FLOAT, FLOAT8OID},
	{LAKE_DOUBLE, FLOAT8OID},
	{LAKE_DECIMAL, NUMERICOID},
	{LAKE_DATE, DATEOID, DATETIME_MIN_JULIAN - UNIX_EPOCH_JDATE,
	DATE_END_JULIAN - UNIX_EPOCH_JDATE - 1},
	{LAKE_DATE, TIMESTAMPOID, DATETIME_MIN_JULIAN - UNIX_EPOCH_JDATE,
	TIMESTAMP_END_JULIAN - UNIX_EPOCH_JDATE - 1},
	{LAKE_TIME, TIMEOID, 0, USECS_PER_DAY},
	{LAKE_TIMESTAMP, TIMESTAMPOID, MIN_TIMESTAMP + USECS_1970_TO_2000,
	PG_INT64_MAX},
	{LAKE_TIMESTAMPTZ, TIMESTAMPTZOID, MIN_TIMESTAMP + USECS_1970_TO_2000,
	PG_INT64_MAX},
	{LAKE_TIMESTAMP_NS, TIMESTAMPOID},
	{LAKE_TIMESTAMPTZ_NS, TIMESTAMPTZOID},
	{LAKE_STRING, TEXTOID},
	{LAKE_STRING, VARCHAROID},
	{LAKE_STRING, BPCHAROID},
	{LAKE_UUID, UUIDOID},
	{LAKE_FIXED, BYTEAOID},
	{LAKE_BINARY, BYTEAOID},
};

static get_relation_stats_hook_type former_hook = NULL;

/* the declared type's place in shown_types; -1: none */
static int
find_shown_type(const LakeColumn *column)
{
	Oid			base = getBaseType(column->type_oid);

	for (int i = 0; i < lengthof(shown_types); i++)
	{
		if (shown_types[i].kind == column->field->type->kind &&
			shown_types[i].type_oid == base)
			return i;
	}
	return -1;
}

/* ---- a row of pg_statistic ---- */

/*
 * A copy in which values of the lake that the declared type has no image of are
 * near ones that it has.
 */
static void
fit_quantiles(const LakeType *type, LakeVector *quantiles, int64 min,
			  int64 max)
{
	Size		size = quantiles->count *
		vector_layout_width(quantiles->layout);
	int32	   *ints = palloc(size);
	int64	   *longs = (int64 *) ints;

	memcpy(ints, quantiles->values, size);
	quantiles->values = ints;
	for (uint32 i = 0; i < quantiles->count; i++)
	{
		if (type->kind == LAKE_TIMESTAMP_NS ||
			type->kind == LAKE_TIMESTAMPTZ_NS)
			longs[i] -= longs[i] % 1000;
		if (min == max)
			continue;
		if (quantiles->layout == VECTOR_I32)
			ints[i] = (int32) Max(min, Min(max, ints[i]));
		else
			longs[i] = Max(min, Min(max, longs[i]));
	}
}

/* the quantiles as an array of the declared type */
static ArrayType *
quantile_array(const LakeColumn *column, Oid base, LakeVector *quantiles,
			   const TypeCacheEntry *type)
{
	uint32		selection[COLUMN_SUMMARY_QUANTILES];
	Datum		values[COLUMN_SUMMARY_QUANTILES];
	bool		nulls[COLUMN_SUMMARY_QUANTILES];
	ColumnConverter *converter;

	for (uint32 i = 0; i < quantiles->count; i++)
		selection[i] = i;
	converter = column_converter_create(CurrentMemoryContext,
										column->field->type, base, -1,
										column->name);
	column_converter_convert(converter, quantiles, selection, quantiles->count,
							 MaxAllocHugeSize, CurrentMemoryContext, values,
							 nulls);
	return construct_array(values, quantiles->count, base, type->typlen,
						   type->typbyval, type->typalign);
}

/*
 * Fills the first slot: a histogram, or the one value that the column has.
 * Text is in the order of bytes.
 */
static void
set_slot(const LakeColumn *column, ColumnEstimate *estimate, Datum *values,
		 bool *nulls)
{
	int			shown = find_shown_type(column);
	Oid			base = shown_types[shown].type_oid;
	TypeCacheEntry *type = lookup_type_cache(base, TYPECACHE_LT_OPR |
											 TYPECACHE_EQ_OPR);
	bool		is_single = estimate->quantiles.count == 1;
	Datum		frequency;

	if (estimate->quantiles.count == 0)
		return;
	if (column->field->type->kind == LAKE_STRING &&
		(GetDatabaseEncoding() != PG_UTF8 ||
		 !(is_single || compat_collation_is_c(column->collation))))
		return;
	fit_quantiles(column->field->type, &estimate->quantiles,
				  shown_types[shown].min, shown_types[shown].max);
	values[Anum_pg_statistic_stakind1 - 1] =
		Int16GetDatum(is_single ? STATISTIC_KIND_MCV :
					  STATISTIC_KIND_HISTOGRAM);
	values[Anum_pg_statistic_staop1 - 1] =
		ObjectIdGetDatum(is_single ? type->eq_opr : type->lt_opr);
	values[Anum_pg_statistic_stacoll1 - 1] =
		ObjectIdGetDatum(column->collation);
	if (is_single)
	{
		frequency = Float4GetDatum((float4)
								   (1 - Max(estimate->null_fraction, 0)));
		values[Anum_pg_statistic_stanumbers1 - 1] =
			PointerGetDatum(construct_array(&frequency, 1, FLOAT4OID,
											sizeof(float4), true,
											TYPALIGN_INT));
		nulls[Anum_pg_statistic_stanumbers1 - 1] = false;
	}
	values[Anum_pg_statistic_stavalues1 - 1] =
		PointerGetDatum(quantile_array(column, base, &estimate->quantiles,
									   type));
	nulls[Anum_pg_statistic_stavalues1 - 1] = false;
}

/* is the column alone what identifies a row? */
static bool
is_identifier(const LakeRelation *relation, const LakeField *field)
{
	return relation->schema->identifier_count == 1 &&
		relation->schema->identifier_ids[0] == field->id;
}

static HeapTuple
make_statistic(const LakeRelation *relation, const LakeColumn *column,
			   ColumnEstimate *estimate)
{
	Datum		values[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {0};
	Relation	catalog;
	HeapTuple	tuple;

	for (int i = 0; i < STATISTIC_NUM_SLOTS; i++)
	{
		nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = true;
		nulls[Anum_pg_statistic_stavalues1 - 1 + i] = true;
	}
	if (is_identifier(relation, column->field))
		estimate->distinct = -1;
	values[Anum_pg_statistic_starelid - 1] = ObjectIdGetDatum(relation->relid);
	values[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(column->attnum);
	values[Anum_pg_statistic_stanullfrac - 1] =
		Float4GetDatum((float4) Max(estimate->null_fraction, 0));
	values[Anum_pg_statistic_stawidth - 1] =
		Int32GetDatum(get_typavgwidth(column->type_oid, column->typmod));
	values[Anum_pg_statistic_stadistinct - 1] =
		Float4GetDatum((float4) estimate->distinct);
	set_slot(column, estimate, values, nulls);
	catalog = table_open(StatisticRelationId, AccessShareLock);
	tuple = heap_form_tuple(RelationGetDescr(catalog), values, nulls);
	table_close(catalog, AccessShareLock);
	return tuple;
}

/* ---- which columns ---- */

/*
 * Columns that an estimate is likely to be made of: those of conditions and
 * joins.  Grouping is asked for later.
 */
static Bitmapset *
likely_attnums(PlannerInfo *root, const RelOptInfo *rel)
{
	Bitmapset  *attnums = NULL;
	int			member = -1;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause,
					   rel->relid, &attnums);
	foreach(cell, rel->joininfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause,
					   rel->relid, &attnums);
	while ((member = bms_next_member(rel->eclass_indexes, member)) >= 0)
	{
		const EquivalenceClass *eclass = list_nth(root->eq_classes, member);

		foreach(cell, eclass->ec_members)
			pull_varattnos((Node *) lfirst_node(EquivalenceMember,
												cell)->em_expr,
						   rel->relid, &attnums);
	}
	return attnums;
}

/* a column that is neither analyzed nor looked at before */
static bool
is_wanted(const LakePlan *plan, const LakeColumn *column)
{
	return column->field != NULL &&
		column->field->id <= LAKE_MAX_USER_FIELD_ID &&
		!bms_is_member(column->attnum, plan->summarised) &&
		find_shown_type(column) >= 0 &&
		!SearchSysCacheExists3(STATRELATTINH,
							   ObjectIdGetDatum(plan->relation->relid),
							   Int16GetDatum(column->attnum),
							   BoolGetDatum(false));
}

/* makes the statistics of attnum, and of the likely columns with it */
static void
summarise(PlannerInfo *root, const RelOptInfo *rel, LakePlan *plan,
		  AttrNumber attnum)
{
	const LakeRelation *relation = plan->relation;
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	Bitmapset  *likely = plan->summarised == NULL ?
		likely_attnums(root, rel) : NULL;
	const LakeField **fields;
	ColumnEstimate *estimates;
	int		   *attributes;
	int			count = 0;

	fields = palloc(sizeof *fields * relation->column_count);
	attributes = palloc(sizeof *attributes * relation->column_count);
	for (int i = 0; i < relation->column_count; i++)
	{
		const LakeColumn *column = &relation->columns[i];

		if ((column->attnum != attnum &&
			 !bms_is_member(column->attnum - FirstLowInvalidHeapAttributeNumber,
							likely)) ||
			!is_wanted(plan, column))
			continue;
		attributes[count] = i;
		fields[count++] = column->field;
	}
	plan->summarised = bms_add_member(plan->summarised, attnum);
	if (count == 0)
		return;
	if (plan->statistics == NULL)
		plan->statistics = palloc0(sizeof *plan->statistics *
								   relation->column_count);
	estimates = palloc(sizeof *estimates * count);
	relation->table->format->estimate(arena, relation->table, relation->store,
									  relation->snapshot, fields, count,
									  estimates);
	for (int i = 0; i < count; i++)
	{
		const LakeColumn *column = &relation->columns[attributes[i]];

		plan->statistics[attributes[i]] =
			make_statistic(relation, column, &estimates[i]);
		plan->summarised = bms_add_member(plan->summarised, column->attnum);
	}
}

/* ---- the hook ---- */

/* the planned relation behind a range table entry, if it is a lake table */
static RelOptInfo *
find_lake_relation(PlannerInfo *root, const RangeTblEntry *rte)
{
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_FOREIGN_TABLE ||
		rte->inh)
		return NULL;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];

		if (root->simple_rte_array[i] == rte)
			return rel != NULL && rel->fdwroutine != NULL &&
				rel->fdwroutine->GetForeignRelSize == lakeGetForeignRelSize &&
				rel->fdw_private != NULL ? rel : NULL;
	}
	return NULL;
}

/* the statistics live as long as the plan */
static void
keep_statistic(HeapTuple tuple)
{
}

/* core's rule for its own statistics */
static bool
may_see(const RelOptInfo *rel, const RangeTblEntry *rte, AttrNumber attnum)
{
	Oid			role = OidIsValid(rel->userid) ? rel->userid : GetUserId();

	return rte->securityQuals == NIL &&
		(pg_class_aclcheck(rte->relid, role, ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(rte->relid, attnum, role,
							   ACL_SELECT) == ACLCHECK_OK);
}

static bool
lake_relation_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum,
					VariableStatData *vardata)
{
	RelOptInfo *rel;
	LakePlan   *plan;
	MemoryContext old_context;
	LakeFrame	frame;

	if (former_hook != NULL && former_hook(root, rte, attnum, vardata))
		return true;
	rel = attnum > 0 ? find_lake_relation(root, rte) : NULL;
	if (rel == NULL)
		return false;
	plan = rel->fdw_private;
	if (plan->relation->snapshot == NULL ||
		plan->planned_files > MAX_FILES_TO_SUMMARISE)
		return false;
	if (!bms_is_member(attnum, plan->summarised))
	{
		/* the genetic optimizer's own context would end too soon */
		old_context = MemoryContextSwitchTo(GetMemoryChunkContext(plan));
		lake_frame_push(&frame, "estimating columns of", plan->relation->name);
		summarise(root, rel, plan, attnum);
		lake_frame_pop(&frame);
		MemoryContextSwitchTo(old_context);
	}
	if (plan->statistics == NULL || plan->statistics[attnum - 1] == NULL)
		return false;
	vardata->statsTuple = plan->statistics[attnum - 1];
	vardata->freefunc = keep_statistic;
	vardata->acl_ok = may_see(rel, rte, attnum);
	return true;
}

void
statistics_init(void)
{
	former_hook = get_relation_stats_hook;
	get_relation_stats_hook = lake_relation_stats;
}
