/*
 * CREATE FOREIGN TABLE ... OPTIONS (create_if_missing 'true', ...): the lake table
 * comes with its foreign table.
 *
 * The options are orders, not state (decisions 5.2): what was ordered is done
 * once, at the end of the statement, and nothing of it is kept but the field ids
 * of columns.  The first metadata file is written at once, and the catalog's row
 * is one of the transaction: ROLLBACK takes it back, and the file with it.
 */
#include "fdw/fdw.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "server/compat.h"

/* what the options ask for; strings are UTF-8, NULL: not said */
typedef struct CreateOrder
{
	bool		is_given;		/* create_if_missing 'true' */
	bool		has_orders;		/* any of the options */
	const char *partition_by;
	const char *sort_by;
	const char *location;
	int			format_version;
	int			property_count; /* pairs */
	const char **properties;
} CreateOrder;

/* names of the options, which go once they have been acted on */
static const char *const order_names[] = {
	"create_if_missing", "partition_by", "sort_by", "location",
	"format_version", "properties"
};

/* ---- files of tables that do not come to be ---- */

typedef struct CreatedFile
{
	dlist_node	node;
	int			nest_level;		/* whose end takes it away */
	LakePutSet *puts;
} CreatedFile;

/* in TopTransactionContext, newest first */
static dlist_head created_files = DLIST_STATIC_INIT(created_files);

static void
forget_files(XactEvent event, void *arg)
{
	dlist_iter	iter;

	if (event == XACT_EVENT_ABORT)
	{
		dlist_foreach(iter, &created_files)
			(void) put_set_remove_published(dlist_container(CreatedFile, node,
															iter.cur)->puts,
											1);
	}
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
		event == XACT_EVENT_PREPARE)
		dlist_init(&created_files);
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId id,
				   SubTransactionId parent, void *arg)
{
	int			nest_level = GetCurrentTransactionNestLevel();
	dlist_mutable_iter iter;

	if (event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB)
		return;
	dlist_foreach_modify(iter, &created_files)
	{
		CreatedFile *file = dlist_container(CreatedFile, node, iter.cur);

		if (file->nest_level < nest_level)
			continue;
		file->nest_level = nest_level - 1;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			continue;
		(void) put_set_remove_published(file->puts, 1);
		dlist_delete(&file->node);
	}
}

static LakePutSet *
begin_file(void)
{
	static bool is_registered = false;
	CreatedFile *file;

	if (!is_registered)
	{
		RegisterXactCallback(forget_files, NULL);
		RegisterSubXactCallback(end_subtransaction, NULL);
	}
	is_registered = true;
	file = MemoryContextAllocZero(TopTransactionContext, sizeof *file);
	file->nest_level = GetCurrentTransactionNestLevel();
	file->puts = put_set_create(lake_arena_of(TopTransactionContext));
	dlist_push_head(&created_files, &file->node);
	return file->puts;
}

/* ---- the order ---- */

static bool
is_order(const char *name)
{
	for (int i = 0; i < lengthof(order_names); i++)
	{
		if (strcmp(order_names[i], name) == 0)
			return true;
	}
	return false;
}

/* the validator has seen that it is an object of strings */
static void
read_properties(CreateOrder *order, const char *text)
{
	Jsonb	   *json = DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
														  CStringGetDatum(text)));
	JsonbIterator *iterator = JsonbIteratorInit(&json->root);
	JsonbValue	value;
	JsonbIteratorToken token;
	int			count = 0;

	order->properties = palloc_array(const char *,
									 2 * JB_ROOT_COUNT(json) + 2);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY || token == WJB_VALUE)
			order->properties[count++] =
				name_to_lake(pnstrdup(value.val.string.val,
									  value.val.string.len));
	}
	order->property_count = count / 2;
}

static void
read_order(Oid relid, CreateOrder *order)
{
	ListCell   *cell;

	memset(order, 0, sizeof *order);
	order->format_version = 2;
	foreach(cell, GetForeignTable(relid)->options)
	{
		DefElem    *option = lfirst(cell);
		char	   *value = defGetString(option);

		if (!is_order(option->defname))
			continue;
		order->has_orders = true;
		if (strcmp(option->defname, "create_if_missing") == 0)
			order->is_given = defGetBoolean(option);
		else if (strcmp(option->defname, "partition_by") == 0)
			order->partition_by = name_to_lake(value);
		else if (strcmp(option->defname, "sort_by") == 0)
			order->sort_by = name_to_lake(value);
		else if (strcmp(option->defname, "location") == 0)
			order->location = name_to_lake(value);
		else if (strcmp(option->defname, "format_version") == 0)
			order->format_version = pg_strtoint32(value);
		else
			read_properties(order, value);
	}
	if (order->has_orders && !order->is_given)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("options that say how a lake table is made need \"create_if_missing\"")));
}

/* ---- the table ---- */

static LakeSchema *
make_schema(LakeArena *arena, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	LakeSchema *schema = lake_alloc(arena, sizeof *schema);

	schema->fields = lake_alloc_array(arena, desc->natts + 1,
									  sizeof *schema->fields);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		LakeField  *field = &schema->fields[schema->field_count];
		const char *name;
		int32		id;

		if (attribute->attisdropped ||
			compat_is_virtual_generated(attribute))
			continue;
		options_get_column(RelationGetRelid(rel), attribute->attnum, &name,
						   &id);
		field->name = name != NULL ? name :
			name_to_lake(NameStr(attribute->attname));
		field->required = attribute->attnotnull;
		field->type = typemap_lake_type(arena, attribute->atttypid,
										attribute->atttypmod,
										NameStr(attribute->attname));
		schema->field_count++;
	}
	return schema;
}

/* warehouse/a/b/table of namespace a.b, as Java has it */
static const char *
default_location(LakeArena *arena, const LakeServerOptions *server,
				 const LakeTableOptions *table)
{
	char	   *name_space = lake_strdup(arena, table->name_space);

	for (char *c = name_space; *c != '\0'; c++)
	{
		if (*c == '.')
			*c = '/';
	}
	if (server->warehouse == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("the server has no warehouse to make lake tables in"),
				 errhint("Set the server's option warehouse, or the option location.")));
	return location_join(arena,
						 location_join(arena, server->warehouse, name_space),
						 table->table);
}

static const char *
trimmed(LakeArena *arena, const char *location)
{
	size_t		len = strlen(location);

	while (len > 1 && location[len - 1] == '/')
		len--;
	return lake_strndup(arena, location, len);
}

/* whoever takes the file away again needs it to the end of the transaction */
static LakeStore *
make_store(Relation rel)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	LakeStore  *store =
		lake_writing_store(GetForeignServerIdByRelId(RelationGetRelid(rel)),
					   rel->rd_rel->relowner);

	store->puts = begin_file();
	MemoryContextSwitchTo(caller);
	return store;
}

/* writes the first metadata file and adds the table to the catalog */
static void
make_lake_table(Relation rel, const CreateOrder *order,
				const LakeServerOptions *server,
				const LakeTableOptions *options)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	LakeStore  *store = make_store(rel);
	TableCreation creation = {
		.location = trimmed(arena, order->location != NULL ?
							order->location :
							default_location(arena, server, options)),
		.format_version = order->format_version,
		.schema = make_schema(arena, rel),
		.partition_by = order->partition_by,
		.sort_by = order->sort_by,
		.property_count = order->property_count,
		.properties = order->properties
	};
	HostedTable row = {
		.name_space = options->name_space,
		.name = options->table,
		.type = "TABLE"
	};

	row.metadata_location = lake_format()->create(arena, store, &creation);
	/* what cannot be written is found out before the table is there */
	(void) lake_format()->write_options(arena,
										lake_format()->open(arena, store,
															row.metadata_location));
	put_set_publish(store, store->puts);
	hosted_catalog_insert(server, &row);
}

/* does the catalog have the table by now? */
static bool
is_there(const LakeServerOptions *server, const LakeTableOptions *options)
{
	HostedTable row;

	return hosted_catalog_find(server, options->name_space, options->table,
							   NULL, &row);
}

/* ---- the foreign table, without its orders ---- */

/* OPTIONS (ADD field_id '1'), of columns that have none */
static void
append_field_ids(StringInfo sql, Relation rel, const LakeSchema *schema)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		const char *name;
		const LakeField *field;
		int32		id;

		if (attribute->attisdropped)
			continue;
		options_get_column(RelationGetRelid(rel), attribute->attnum, &name,
						   &id);
		field = lake_schema_find_name(schema, name != NULL ? name :
									  name_to_lake(NameStr(attribute->attname)));
		if (id >= 0 || field == NULL)
			continue;
		appendStringInfoString(sql, ", ALTER COLUMN ");
		appendStringInfoString(sql, quote_identifier(NameStr(attribute->attname)));
		appendStringInfo(sql, " OPTIONS (ADD field_id '%d')", (int) field->id);
	}
}

static void
strip_orders(Relation rel, const LakeSchema *schema)
{
	StringInfoData sql;
	ListCell   *cell;
	const char *separator = "";

	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER FOREIGN TABLE %s OPTIONS (",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	foreach(cell, GetForeignTable(RelationGetRelid(rel))->options)
	{
		const DefElem *option = lfirst(cell);

		if (!is_order(option->defname))
			continue;
		appendStringInfo(&sql, "%sDROP %s", separator, option->defname);
		separator = ", ";
	}
	appendStringInfoChar(&sql, ')');
	if (schema != NULL)
		append_field_ids(&sql, rel, schema);
	/* the statement needs the table for itself */
	table_close(rel, NoLock);
	SPI_connect();
	if (SPI_execute(sql.data, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "cannot change the options of a new foreign table");
	SPI_finish();
	CommandCounterIncrement();
}

static void
check_catalog(const LakeServerOptions *server,
			  const LakeTableOptions *options)
{
	if (options->metadata_location != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("options \"create_if_missing\" and \"metadata_location\" exclude each other")));
	if (options->selector.kind != LAKE_SELECT_CURRENT)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("a lake table cannot be made as an old version of itself"),
				 errhint("Leave out the options snapshot_id, as_of_timestamp and ref.")));
	if (strcmp(server->catalog, "hosted") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("lake tables cannot be made in catalog '%s'",
						server->catalog),
				 errhint("Use a server with catalog 'hosted'.")));
}

void
create_lake_table(Oid relid)
{
	LakeServerOptions server;
	LakeTableOptions options;
	CreateOrder order;
	Relation	rel;
	bool		has_columns = get_attname(relid, 1, true) != NULL;
	const LakeSchema *schema = NULL;

	read_order(relid, &order);
	if (!order.is_given)
		return;
	options_get_server(GetForeignServerIdByRelId(relid), &server);
	options_get_table(relid, &options);
	check_catalog(&server, &options);
	rel = table_open(relid, NoLock);
	if (!is_there(&server, &options))
	{
		if (!has_columns)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
					 errmsg("lake table \"%s.%s\" does not exist and cannot be made without columns",
							name_from_lake(options.name_space),
							name_from_lake(options.table))));
		make_lake_table(rel, &order, &server, &options);
	}
	/* the catalog's new row is of this command */
	CommandCounterIncrement();
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	if (has_columns)
		schema = lake_table_open(GetForeignServerIdByRelId(relid), &options,
								 rel->rd_rel->relowner)->schema;
	PopActiveSnapshot();
	strip_orders(rel, schema);
}
