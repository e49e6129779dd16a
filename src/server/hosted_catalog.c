/*
 * The hosted catalog: tables of this database in the layout of Iceberg's JDBC
 * catalog, which other engines share (reference: "JDBC catalog").
 *
 * A row is read by the key's index under an explicit MVCC snapshot, so lake and
 * local tables are seen as of one moment and SSI knows of the read.  The
 * querying user's grants do not count here, as they do not for the files: it is
 * the server's owner who must be allowed to read the catalog, all of its rows.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "server/compat.h"
#include "server/server_int.h"

#define TABLES "iceberg_tables"
#define PROPERTIES "iceberg_namespace_properties"

static const char *const tables_columns[HOSTED_COLUMNS] = {
	"catalog_name", "table_namespace", "table_name", "metadata_location",
	"previous_metadata_location", "iceberg_type"
};

/* columns of iceberg_namespace_properties */
enum
{
	PROPERTY_CATALOG_NAME,
	PROPERTY_NAMESPACE,
	PROPERTY_KEY,
	PROPERTY_VALUE,
	PROPERTIES_COLUMNS
};

static const char *const properties_columns[PROPERTIES_COLUMNS] = {
	"catalog_name", "namespace", "property_key", "property_value"
};

/* ---- the table, found and checked ---- */

/*
 * Opened by name under a lock that is kept to the end of the transaction, as
 * that of any table a statement reads.  Not by RangeVarGetRelid, which asks for
 * the user's rights on the schema.
 */
static Relation
open_heap(const char *schema, const char *table)
{
	for (;;)
	{
		Oid			namespace_oid = get_namespace_oid(schema, true);
		Oid			relid = OidIsValid(namespace_oid) ?
			get_relname_relid(table, namespace_oid) : InvalidOid;
		Relation	rel;

		if (!OidIsValid(relid))
			return NULL;
		rel = try_relation_open(relid, AccessShareLock);
		if (rel == NULL)
			continue;
		/* it could have been renamed while we waited for the lock */
		if (get_relname_relid(table, namespace_oid) == relid)
			return rel;
		relation_close(rel, AccessShareLock);
	}
}

static pg_noinline void
throw_shape(const HostedHeap *heap, int sqlstate, const char *detail)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("table \"%s.%s\" does not have the layout of an Iceberg JDBC catalog",
					heap->schema, heap->table),
			 errdetail_internal("%s", detail)));
}

static void
check_kind(const HostedHeap *heap)
{
	if (heap->rel->rd_rel->relkind != RELKIND_RELATION)
		throw_shape(heap, ERRCODE_WRONG_OBJECT_TYPE,
					"It is not a plain table.");
	if (heap->rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		throw_shape(heap, ERRCODE_WRONG_OBJECT_TYPE,
					"It is temporary or unlogged.");
}

static void
find_columns(HostedHeap *heap, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
	{
		AttrNumber	attnum = get_attnum(RelationGetRelid(heap->rel), names[i]);
		Oid			type;

		heap->columns[i] = attnum;
		if (attnum == InvalidAttrNumber)
		{
			if (names == tables_columns && i == HOSTED_ICEBERG_TYPE)
				continue;
			throw_shape(heap, ERRCODE_UNDEFINED_COLUMN,
						psprintf("It has no column \"%s\".", names[i]));
		}
		type = TupleDescAttr(RelationGetDescr(heap->rel),
							 attnum - 1)->atttypid;
		if (type != VARCHAROID && type != TEXTOID)
			throw_shape(heap, ERRCODE_DATATYPE_MISMATCH,
						psprintf("Column \"%s\" has type %s, not character varying or text.",
								 names[i], format_type_be(type)));
	}
}

/*
 * The key must be the layout's: it is what makes rows unique for every engine.
 * An index that was built after the snapshot may lack rows that only old
 * snapshots see (indcheckxmin), as the planner knows too.
 */
static void
find_key(HostedHeap *heap, const char *const *names)
{
	Relation	index;
	bool		is_key;

	list_free(RelationGetIndexList(heap->rel));
	heap->key_index = heap->rel->rd_pkindex;
	is_key = OidIsValid(heap->key_index);
	if (is_key)
	{
		index = index_open(heap->key_index, AccessShareLock);
		is_key = index->rd_index->indnkeyatts == HOSTED_KEY_COLUMNS;
		for (int i = 0; is_key && i < HOSTED_KEY_COLUMNS; i++)
			is_key = index->rd_index->indkey.values[i] == heap->columns[i];
		heap->index_ok = !index->rd_index->indcheckxmin ||
			TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
								  TransactionXmin);
		index_close(index, NoLock);
	}
	if (!is_key)
		throw_shape(heap, ERRCODE_INVALID_TABLE_DEFINITION,
					psprintf("Its primary key is not (%s, %s, %s).",
							 names[0], names[1], names[2]));
}

/*
 * The server's owner stands for those who query, as for the files: what core
 * would refuse it, or show it in part, is no catalog for anybody.
 */
static void
check_owner(const HostedHeap *heap, const LakeServerOptions *options)
{
	Oid			relid = RelationGetRelid(heap->rel);
	const char *refusal = NULL;
	const char *cure = NULL;

	if (compat_namespace_usage_aclcheck(RelationGetNamespace(heap->rel),
										options->owner) != ACLCHECK_OK)
	{
		refusal = "It has no USAGE on the schema.";
		cure = "Grant it USAGE on the schema.";
	}
	else if (pg_class_aclcheck(relid, options->owner,
							   ACL_SELECT) != ACLCHECK_OK)
	{
		refusal = "It has no SELECT on the table.";
		cure = "Grant it SELECT on the table.";
	}
	else if (check_enable_rls(relid, options->owner, true) == RLS_ENABLED)
	{
		refusal = "Row-level security of the table applies to it.";
		cure = "Give it BYPASSRLS, or disable row-level security of the table.";
	}
	if (refusal == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("owner \"%s\" of the foreign server may not read table \"%s.%s\"",
					GetUserNameFromId(options->owner, false),
					heap->schema, heap->table),
			 errdetail_internal("%s", refusal),
			 errhint("%s", cure)));
}

/* false if there is no such table */
static bool
heap_open_checked(HostedHeap *heap, const LakeServerOptions *options,
				  const char *table)
{
	bool		is_tables = strcmp(table, TABLES) == 0;
	const char *const *names = is_tables ? tables_columns : properties_columns;

	memset(heap, 0, sizeof *heap);
	heap->schema = name_from_lake(options->catalog_schema);
	heap->table = table;
	heap->rel = open_heap(heap->schema, table);
	if (heap->rel == NULL)
		return false;
	check_kind(heap);
	check_owner(heap, options);
	find_columns(heap, names, is_tables ? HOSTED_COLUMNS : PROPERTIES_COLUMNS);
	find_key(heap, names);
	return true;
}

void
hosted_heap_open(HostedHeap *heap, const LakeServerOptions *options)
{
	if (!heap_open_checked(heap, options, TABLES))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("schema \"%s\" has no table \"%s\", so it is no catalog",
						heap->schema, TABLES),
				 errhint("Set the server's option catalog_schema to the schema of an Iceberg JDBC catalog.")));
}

void
hosted_heap_close(HostedHeap *heap)
{
	relation_close(heap->rel, NoLock);
}

/* ---- rows ---- */

SysScanDesc
hosted_heap_scan(const HostedHeap *heap, Snapshot snapshot,
		   const char *const *values, int count)
{
	ScanKeyData keys[HOSTED_KEY_COLUMNS];

	for (int i = 0; i < count; i++)
	{
		AttrNumber	attnum = heap->columns[i];

		ScanKeyInit(&keys[i], attnum, BTEqualStrategyNumber, F_TEXTEQ,
					CStringGetTextDatum(name_from_lake(values[i])));
		keys[i].sk_collation = TupleDescAttr(RelationGetDescr(heap->rel),
											 attnum - 1)->attcollation;
	}
	return systable_beginscan(heap->rel, heap->key_index, heap->index_ok,
							  snapshot, count, keys);
}

const char *
hosted_heap_text(const HostedHeap *heap, HeapTuple tuple, int column)
{
	Datum		datum;
	bool		is_null = true;

	if (heap->columns[column] != InvalidAttrNumber)
		datum = heap_getattr(tuple, heap->columns[column],
							 RelationGetDescr(heap->rel), &is_null);
	if (is_null)
		return NULL;
	return name_to_lake(TextDatumGetCString(datum));
}

static void
get_row(const HostedHeap *heap, HeapTuple tuple, HostedTable *row)
{
	row->name_space = hosted_heap_text(heap, tuple, HOSTED_TABLE_NAMESPACE);
	row->name = hosted_heap_text(heap, tuple, HOSTED_TABLE_NAME);
	row->type = hosted_heap_text(heap, tuple, HOSTED_ICEBERG_TYPE);
	row->metadata_location = hosted_heap_text(heap, tuple, HOSTED_METADATA_LOCATION);
}

bool
hosted_catalog_find(const LakeServerOptions *options, const char *name_space,
					const char *table, Snapshot snapshot, HostedTable *row)
{
	const char *values[HOSTED_KEY_COLUMNS];
	HostedHeap	heap;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (snapshot == NULL)
		snapshot = GetActiveSnapshot();
	hosted_heap_open(&heap, options);
	values[HOSTED_CATALOG_NAME] = options->catalog_name;
	values[HOSTED_TABLE_NAMESPACE] = name_space;
	values[HOSTED_TABLE_NAME] = table;
	scan = hosted_heap_scan(&heap, snapshot, values, HOSTED_KEY_COLUMNS);
	tuple = systable_getnext(scan);
	if (tuple != NULL)
		get_row(&heap, tuple, row);
	systable_endscan(scan);
	hosted_heap_close(&heap);
	return tuple != NULL;
}

/* is the namespace that one, or below it ("a.b" is below "a")? */
static bool
is_within(const char *name_space, const char *outer)
{
	size_t		len = strlen(outer);

	return strncmp(name_space, outer, len) == 0 &&
		(name_space[len] == '\0' || name_space[len] == '.');
}

static int
compare_rows(const ListCell * a, const ListCell * b)
{
	const HostedTable *left = lfirst(a);
	const HostedTable *right = lfirst(b);
	int			order = strcmp(left->name_space, right->name_space);

	return order != 0 ? order : strcmp(left->name, right->name);
}

/* is there a namespace of that name, or one below it, by a property? */
static bool
has_property(const LakeServerOptions *options, const char *name_space)
{
	HostedHeap	heap;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	if (!heap_open_checked(&heap, options, PROPERTIES))
		return false;
	scan = hosted_heap_scan(&heap, GetActiveSnapshot(), &options->catalog_name, 1);
	while (!found && (tuple = systable_getnext(scan)) != NULL)
		found = is_within(hosted_heap_text(&heap, tuple, PROPERTY_NAMESPACE),
						  name_space);
	systable_endscan(scan);
	hosted_heap_close(&heap);
	return found;
}

List *
hosted_catalog_list(const LakeServerOptions *options, const char *name_space,
					bool *exists)
{
	List	   *rows = NIL;
	HostedHeap	heap;
	SysScanDesc scan;
	HeapTuple	tuple;

	*exists = name_space == NULL;
	hosted_heap_open(&heap, options);
	scan = hosted_heap_scan(&heap, GetActiveSnapshot(), &options->catalog_name, 1);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		HostedTable *row = palloc(sizeof *row);

		CHECK_FOR_INTERRUPTS();
		get_row(&heap, tuple, row);
		if (name_space != NULL && is_within(row->name_space, name_space))
			*exists = true;
		if (name_space == NULL || strcmp(row->name_space, name_space) == 0)
			rows = lappend(rows, row);
	}
	systable_endscan(scan);
	hosted_heap_close(&heap);
	if (!*exists)
		*exists = has_property(options, name_space);
	list_sort(rows, compare_rows);
	return rows;
}

/* ---- what a row says ---- */

static pg_noinline void
throw_no_row(const LakeServerOptions *options, const char *name_space,
			 const char *table)
{
	NearMatch	match;
	ListCell   *cell;
	bool		exists;

	near_match_init(&match, name_from_lake(table));
	foreach(cell, hosted_catalog_list(options, name_space, &exists))
		near_match_consider(&match,
							name_from_lake(((HostedTable *) lfirst(cell))->name));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("lake table \"%s.%s\" does not exist in catalog \"%s\" of schema \"%s\"",
					name_from_lake(name_space), name_from_lake(table),
					name_from_lake(options->catalog_name),
					name_from_lake(options->catalog_schema)),
			 match.best != NULL ?
			 errhint("Perhaps you meant the lake table \"%s\".", match.best) :
			 exists ?
			 errhint("lake.tables lists what the catalog has, lake.register_table adds a table.") :
			 errhint("The catalog has no namespace \"%s\".",
					 name_from_lake(name_space))));
}

void
hosted_table_check(const LakeServerOptions *options, const HostedTable *row)
{
	const char *name = psprintf("%s.%s", name_from_lake(row->name_space),
								name_from_lake(row->name));

	if (row->type != NULL && strcmp(row->type, "VIEW") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a view of the lake, not a table", name),
				 errhint("Views of other engines are listed by lake.tables, but cannot be read.")));
	if (row->type != NULL && strcmp(row->type, "TABLE") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" has iceberg_type \"%s\", which is not supported",
						name, name_from_lake(row->type))));
	if (row->metadata_location == NULL || row->metadata_location[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("lake table \"%s\" has no metadata_location in catalog \"%s\" of schema \"%s\"",
						name, name_from_lake(options->catalog_name),
						name_from_lake(options->catalog_schema)),
				 errhint("Delete the row from iceberg_tables, then add it again with lake.register_table.")));
}

const char *
hosted_catalog_locate(const LakeServerOptions *options,
					  const char *name_space, const char *table,
					  Snapshot snapshot)
{
	HostedTable row;

	if (!hosted_catalog_find(options, name_space, table, snapshot, &row))
		throw_no_row(options, name_space, table);
	hosted_table_check(options, &row);
	return row.metadata_location;
}

/* ---- rows to add ---- */

typedef struct InsertColumn
{
	const char *name;
	const char *value;			/* UTF-8 */
} InsertColumn;

/*
 * False when there is a row by that key.  With the rights of the server's owner,
 * who stands for those who may make or register tables.
 */
static bool
insert_row(const HostedHeap *heap, const LakeServerOptions *options,
		   const InsertColumn *columns, int count)
{
	Oid			user;
	int			context;
	Oid			types[HOSTED_COLUMNS];
	Datum		values[HOSTED_COLUMNS];
	StringInfoData sql;
	bool		is_new;

	Assert(count <= HOSTED_COLUMNS);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(options->owner, context |
						   SECURITY_LOCAL_USERID_CHANGE);
	SPI_connect();
	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s (",
					 quote_qualified_identifier(heap->schema, heap->table));
	for (int i = 0; i < count; i++)
		appendStringInfo(&sql, "%s%s", i == 0 ? "" : ", ", columns[i].name);
	appendStringInfoString(&sql, ") VALUES (");
	for (int i = 0; i < count; i++)
	{
		appendStringInfo(&sql, "%s$%d", i == 0 ? "" : ", ", i + 1);
		types[i] = TEXTOID;
		values[i] = CStringGetTextDatum(name_from_lake(columns[i].value));
	}
	appendStringInfoString(&sql, ") ON CONFLICT DO NOTHING");
	if (SPI_execute_with_args(sql.data, count, types, values, NULL, false,
							  0) != SPI_OK_INSERT)
		elog(ERROR, "cannot add a row to the catalog");
	is_new = SPI_processed > 0;
	SPI_finish();
	SetUserIdAndSecContext(user, context);
	return is_new;
}

/* as Java does, whose namespaces exist by a property of that name */
static void
insert_namespace(const LakeServerOptions *options, const char *name_space)
{
	HostedHeap	heap;
	SysScanDesc scan;
	const char *values[2];
	bool		has_properties;

	if (!heap_open_checked(&heap, options, PROPERTIES))
		return;
	values[PROPERTY_CATALOG_NAME] = options->catalog_name;
	values[PROPERTY_NAMESPACE] = name_space;
	scan = hosted_heap_scan(&heap, GetActiveSnapshot(), values, 2);
	has_properties = systable_getnext(scan) != NULL;
	systable_endscan(scan);
	if (!has_properties)
		insert_row(&heap, options, (InsertColumn[])
				   {
					   {properties_columns[PROPERTY_CATALOG_NAME],
					   options->catalog_name},
					   {properties_columns[PROPERTY_NAMESPACE], name_space},
					   {properties_columns[PROPERTY_KEY], "exists"},
					   {properties_columns[PROPERTY_VALUE], "true"}
				   }, PROPERTIES_COLUMNS);
	hosted_heap_close(&heap);
}

void
hosted_catalog_insert(const LakeServerOptions *options,
					  const HostedTable *row)
{
	HostedHeap	heap;
	const InsertColumn columns[] = {
		{tables_columns[HOSTED_CATALOG_NAME], options->catalog_name},
		{tables_columns[HOSTED_TABLE_NAMESPACE], row->name_space},
		{tables_columns[HOSTED_TABLE_NAME], row->name},
		{tables_columns[HOSTED_METADATA_LOCATION], row->metadata_location},
		{tables_columns[HOSTED_ICEBERG_TYPE], row->type}
	};

	hosted_heap_open(&heap, options);
	/* the last column is V1's */
	if (!insert_row(&heap, options, columns, lengthof(columns) -
					(heap.columns[HOSTED_ICEBERG_TYPE] == InvalidAttrNumber)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("lake table \"%s.%s\" already exists in catalog \"%s\" of schema \"%s\"",
						name_from_lake(row->name_space),
						name_from_lake(row->name),
						name_from_lake(options->catalog_name), heap.schema)));
	hosted_heap_close(&heap);
	insert_namespace(options, row->name_space);
}
