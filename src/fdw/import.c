/*
 * IMPORT FOREIGN SCHEMA, and CREATE FOREIGN TABLE without columns.
 *
 * Both turn a lake table's schema into column definitions by the same rules: a
 * column is bound by its field id, so that it follows renames in the lake; what
 * PostgreSQL cannot have (unsupported types, names taken by system columns) is
 * left out with a notice that names it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "base/text.h"
#include "fdw/fdw.h"
#include "metastore/metastore.h"

/* a lake column as PostgreSQL may have it */
typedef struct ImportColumn
{
	const char *name;			/* the attribute's, clipped */
	const char *lake_name;		/* in the database's encoding */
	const char *type;			/* with modifiers */
	bool		not_null;
	int32		field_id;
} ImportColumn;

/* ---- schema to columns ---- */

/* names longer than NAMEDATALEN are cut as the server would cut them */
static char *
clip_name(const char *name)
{
	int			len = pg_mbcliplen(name, (int) strlen(name), NAMEDATALEN - 1);

	return pnstrdup(name, len);
}

static bool
is_taken(const ImportColumn *columns, int count, const char *name)
{
	for (int i = 0; i < count; i++)
	{
		if (strcmp(columns[i].name, name) == 0)
			return true;
	}
	return false;
}

/* why the column is left out; NULL: it is not */
static const char *
reason_to_skip(const ImportColumn *column, const ImportColumn *others,
			   int other_count, const LakeField *field)
{
	if (column->type == NULL)
		return psprintf("lake type %s is not supported",
						name_from_lake(lake_type_text(lake_arena_of(CurrentMemoryContext),
													  field->type)));
	if (other_count >= MaxHeapAttributeNumber)
		return psprintf("PostgreSQL allows %d columns", MaxHeapAttributeNumber);
	if (column->name[0] == '\0')
		return "its name is empty";
	if (SystemAttributeByName(column->name) != NULL)
		return "its name is that of a system column";
	if (is_taken(others, other_count, column->name))
		return "its name, cut to what PostgreSQL allows, is that of another column";
	return NULL;
}

/* the columns of a table that can be had, the others in notices */
static ImportColumn *
list_columns(const LakeSchema *schema, const char *table_name, int *count)
{
	ImportColumn *columns;
	int			n = 0;

	columns = palloc_extended(sizeof(ImportColumn) * schema->field_count,
							  MCXT_ALLOC_HUGE);
	for (int i = 0; i < schema->field_count; i++)
	{
		const LakeField *field = &schema->fields[i];
		ImportColumn *column = &columns[n];
		const char *reason;

		CHECK_FOR_INTERRUPTS();
		column->lake_name = name_from_lake(field->name);
		column->name = clip_name(column->lake_name);
		column->type = typemap_declaration(lake_arena_of(CurrentMemoryContext),
										   field->type);
		column->not_null = field->required;
		column->field_id = field->id;
		reason = reason_to_skip(column, columns, n, field);
		if (reason == NULL)
			n++;
		else
			ereport(NOTICE,
					(errmsg("skipping column \"%s\" of lake table \"%s\": %s",
							column->lake_name, table_name, reason)));
	}
	*count = n;
	return columns;
}

/* ---- IMPORT FOREIGN SCHEMA ---- */

static void
append_option(StringInfo sql, const char *name, const char *value)
{
	appendStringInfo(sql, "%s %s", quote_identifier(name),
					 quote_literal_cstr(value));
}

/*
 * The schema of a type whose name is no keyword of the grammar, so that a type
 * of that name earlier in search_path is not taken for it.
 */
static const char *
type_schema(const char *type)
{
	static const char *const names[] = {
		"bytea", "date", "jsonb", "text", "timestamptz", "uuid"
	};
	size_t		len = strcspn(type, "[(");

	for (size_t i = 0; i < lengthof(names); i++)
	{
		if (strlen(names[i]) == len && strncmp(names[i], type, len) == 0)
			return "pg_catalog.";
	}
	return "";
}

static void
append_column(StringInfo sql, const ImportColumn *column)
{
	appendStringInfo(sql, "%s %s%s OPTIONS (field_id '%d'",
					 quote_identifier(column->name),
					 type_schema(column->type), column->type,
					 column->field_id);
	if (strcmp(column->name, column->lake_name) != 0)
	{
		appendStringInfoString(sql, ", ");
		append_option(sql, "column_name", column->lake_name);
	}
	appendStringInfoChar(sql, ')');
	if (column->not_null)
		appendStringInfoString(sql, " NOT NULL");
}

/* what is imported, and as what */
typedef struct ImportTarget
{
	Oid			server_oid;
	const char *server_name;
	const char *name_space;		/* in the database's encoding */
	const char *name;			/* in the database's encoding */
	const char *local_name;
	List	   *version;		/* DefElems of the table that name a version */
} ImportTarget;

static char *
create_statement(const LakeSchema *schema, const ImportTarget *target)
{
	StringInfoData sql;
	ImportColumn *columns;
	int			count;
	ListCell   *cell;

	columns = list_columns(schema, target->name, &count);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s (",
					 quote_identifier(target->local_name));
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(&sql, i == 0 ? "" : ", ");
		append_column(&sql, &columns[i]);
	}
	appendStringInfo(&sql, ") SERVER %s OPTIONS (",
					 quote_identifier(target->server_name));
	append_option(&sql, "namespace", target->name_space);
	appendStringInfoString(&sql, ", ");
	append_option(&sql, "table", target->name);
	foreach(cell, target->version)
	{
		DefElem    *option = lfirst(cell);

		appendStringInfoString(&sql, ", ");
		append_option(&sql, option->defname, defGetString(option));
	}
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/*
 * Errors that say that one table cannot be read, which is no reason not to
 * import the others.
 */
static bool
concerns_one_table(int sqlstate)
{
	static const LakeErrorCode codes[] = {
		LAKE_ERROR_CORRUPT, LAKE_ERROR_UNSUPPORTED, LAKE_ERROR_IO,
		LAKE_ERROR_MISSING, LAKE_ERROR_DENIED, LAKE_ERROR_LIMIT,
		LAKE_ERROR_ENCODING, LAKE_ERROR_NO_TABLE, LAKE_ERROR_UNDEFINED
	};

	for (size_t i = 0; i < lengthof(codes); i++)
	{
		if (lake_error_sqlstate(codes[i]) == sqlstate)
			return true;
	}
	return sqlstate == ERRCODE_UNTRANSLATABLE_CHARACTER;
}

static char *
import_table(const ImportTarget *target)
{
	LakeTableOptions options = {0};
	const LakeTable *table;

	options.name_space = name_to_lake(target->name_space);
	options.table = name_to_lake(target->name);
	options_get_selector(target->version, &options.selector);
	table = lake_table_open(target->server_oid, &options, GetUserId());
	return create_statement(lake_table_schema(table, &options), target);
}

/*
 * The same in a subtransaction, so that a table that cannot be read ends in a
 * warning; NULL then.
 */
static char *
try_import_table(const ImportTarget *target)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext work = AllocSetContextCreate(context, "lake import",
											   ALLOCSET_DEFAULT_SIZES);
	char	   *volatile sql = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(work);
	PG_TRY();
	{
		sql = MemoryContextStrdup(context, import_table(target));
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		/* on every way out: it would be left for the user to roll back */
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!concerns_one_table(error->sqlerrcode))
			ReThrowError(error);
		sql = NULL;
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("skipping lake table \"%s\": %s", target->name,
						error->message),
				 error->hint == NULL ? 0 : errhint("%s", error->hint)));
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextDelete(work);
	return sql;
}

/* ---- its options ---- */

/* the suffix of local names, "" without; the others name a version */
static const char *
read_options(ImportForeignSchemaStmt *stmt, List **version)
{
	const char *suffix = "";
	LakeSelector selector;
	ListCell   *cell;

	*version = NIL;
	foreach(cell, stmt->options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, "suffix") == 0)
			suffix = defGetString(option);
		else if (strcmp(option->defname, "as_of_timestamp") == 0 ||
				 strcmp(option->defname, "ref") == 0 ||
				 strcmp(option->defname, "snapshot_id") == 0)
			*version = lappend(*version, option);
		else
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("invalid option \"%s\"", option->defname),
					 errhint("Options of IMPORT FOREIGN SCHEMA are %s.",
							 "as_of_timestamp, ref, snapshot_id, suffix")));
	}
	options_get_selector(*version, &selector);
	if (selector.kind == LAKE_SELECT_SNAPSHOT &&
		(stmt->list_type != FDW_IMPORT_SCHEMA_LIMIT_TO ||
		 list_length(stmt->table_list) != 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" needs LIMIT TO one table",
						"snapshot_id"),
				 errdetail("A snapshot id belongs to one table.")));
	if (strlen(suffix) >= NAMEDATALEN - 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("suffix \"%s\" is too long", suffix)));
	return suffix;
}

/* the name, cut if need be, with all of the suffix */
static const char *
make_local_name(const char *name, const char *suffix)
{
	int			room = NAMEDATALEN - 1 - (int) strlen(suffix);
	int			len = pg_mbcliplen(name, (int) strlen(name), room);

	return psprintf("%.*s%s", len, name, suffix);
}

/* LIMIT TO and EXCEPT name tables of the lake */
static bool
is_wanted(const ImportTarget *target, ImportForeignSchemaStmt *stmt)
{
	return IsImportableForeignTable(clip_name(target->name), stmt);
}

/*
 * The server looks for the tables that are made in LIMIT TO's list once more,
 * under the names that they got.
 */
static void
limit_to_local_names(ImportForeignSchemaStmt *stmt, List *local_names)
{
	ListCell   *cell;

	if (stmt->list_type != FDW_IMPORT_SCHEMA_LIMIT_TO)
		return;
	foreach(cell, local_names)
		stmt->table_list = lappend(stmt->table_list,
								   makeRangeVar(NULL, lfirst(cell), -1));
}

/* ---- the tables ---- */

static bool
list_hosted_tables(const LakeServerOptions *options, const char *name_space,
				   CatalogTable **tables, size_t *count)
{
	bool		exists;
	List	   *rows = hosted_catalog_list(options, name_space, &exists);
	ListCell   *cell;

	*tables = palloc_extended(sizeof(CatalogTable) * (list_length(rows) + 1),
							  MCXT_ALLOC_HUGE);
	*count = 0;
	foreach(cell, rows)
	{
		const HostedTable *row = lfirst(cell);

		/* a view is no table that could not be read: no word about it */
		if (row->type != NULL && strcmp(row->type, "VIEW") == 0)
			continue;
		(*tables)[*count].name_space = row->name_space;
		(*tables)[*count].name = row->name;
		(*count)++;
	}
	return exists;
}

static CatalogTable *
list_tables(ImportForeignSchemaStmt *stmt, Oid server_oid, size_t *count)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	ForeignServer *server = GetForeignServer(server_oid);
	LakeStore  *store = lake_server_store(server_oid, GetUserId());
	const char *name_space = name_to_lake(stmt->remote_schema);
	LakeServerOptions options;
	CatalogTable *tables;

	options_get_server(server_oid, &options);
	server_check_catalog(server, &options);
	if (strcmp(options.catalog, "hosted") == 0)
	{
		if (!list_hosted_tables(&options, name_space, &tables, count))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_SCHEMA),
					 errmsg("namespace \"%s\" does not exist in catalog \"%s\" of schema \"%s\"",
							stmt->remote_schema,
							name_from_lake(options.catalog_name),
							name_from_lake(options.catalog_schema))));
	}
	else if (!file_catalog_list(arena, store, options.warehouse, name_space,
								&tables, count))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist in warehouse \"%s\"",
						stmt->remote_schema,
						name_from_lake(options.warehouse))));
	return tables;
}

/*
 * A directory can have any name.  One that is no text is not worth an error,
 * which would stand in the way of all other tables.
 */
static bool
has_valid_name(const CatalogTable *table)
{
	LakeBytes	name = {(const uint8 *) table->name, strlen(table->name)};

	if (text_is_valid(name))
		return true;
	lake_log(LAKE_LOG_WARNING,
			 "skipping lake table \"%s\": its name is not valid UTF-8",
			 table->name);
	return false;
}

/* were these names imported already, cut to the same local name? */
static bool
is_imported(List *local_names, const char *local_name)
{
	ListCell   *cell;

	foreach(cell, local_names)
	{
		if (strcmp(lfirst(cell), local_name) == 0)
			return true;
	}
	return false;
}

List *
lakeImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid server_oid)
{
	List	   *statements = NIL;
	List	   *local_names = NIL;
	List	   *version;
	const char *suffix = read_options(stmt, &version);
	CatalogTable *tables;
	size_t		count;

	tables = list_tables(stmt, server_oid, &count);
	for (size_t i = 0; i < count; i++)
	{
		ImportTarget target = {
			.server_oid = server_oid,
			.server_name = stmt->server_name,
			.name_space = stmt->remote_schema,
			.version = version
		};
		char	   *sql;

		CHECK_FOR_INTERRUPTS();
		if (!has_valid_name(&tables[i]))
			continue;
		target.name = name_from_lake(tables[i].name);
		target.local_name = make_local_name(target.name, suffix);
		if (!is_wanted(&target, stmt))
			continue;
		if (is_imported(local_names, target.local_name))
		{
			ereport(NOTICE,
					(errmsg("skipping lake table \"%s\": its name, cut to what PostgreSQL allows, is that of another table",
							target.name)));
			continue;
		}
		sql = try_import_table(&target);
		if (sql == NULL)
			continue;
		statements = lappend(statements, sql);
		local_names = lappend(local_names, pstrdup(target.local_name));
	}
	if (suffix[0] != '\0')
		limit_to_local_names(stmt, local_names);
	return statements;
}

/* ---- CREATE FOREIGN TABLE t () ---- */

PG_FUNCTION_INFO_V1(lakefdw_ddl_end);

bool
is_lake_server(Oid server_oid)
{
	ForeignDataWrapper *wrapper =
		GetForeignDataWrapper(GetForeignServer(server_oid)->fdwid);

	return OidIsValid(wrapper->fdwhandler) &&
		GetFdwRoutine(wrapper->fdwhandler)->ImportForeignSchema ==
		lakeImportForeignSchema;
}

/* the lake table that the statement made; InvalidOid: it made none */
static Oid
find_created(Node *statement)
{
	CreateForeignTableStmt *create = (CreateForeignTableStmt *) statement;
	Oid			relid;

	if (!IsA(statement, CreateForeignTableStmt))
		return InvalidOid;
	relid = get_relname_relid(create->base.relation->relname,
							  RangeVarGetCreationNamespace(create->base.relation));
	if (!OidIsValid(relid) ||
		get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE ||
		!is_lake_server(GetForeignServerIdByRelId(relid)))
		return InvalidOid;
	return relid;
}

static bool
wants_columns(Node *statement, Oid relid)
{
	const CreateForeignTableStmt *create =
		(CreateForeignTableStmt *) statement;

	return create->base.tableElts == NIL &&
		create->base.inhRelations == NIL &&
		create->base.partbound == NULL && get_attname(relid, 1, true) == NULL;
}

static char *
add_columns_statement(Oid relid)
{
	LakeTableOptions options;
	const LakeTable *table;
	StringInfoData sql;
	ImportColumn *columns;
	char	   *name = get_rel_name(relid);
	int			count;

	options_get_table(relid, &options);
	table = lake_table_open(GetForeignServerIdByRelId(relid), &options,
							GetUserId());
	columns = list_columns(lake_table_schema(table, &options), name, &count);
	if (count == 0)
		return NULL;
	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER FOREIGN TABLE %s",
					 quote_qualified_identifier(
												get_namespace_name(get_rel_namespace(relid)),
												name));
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(&sql, i == 0 ? " ADD COLUMN " :
							   ", ADD COLUMN ");
		append_column(&sql, &columns[i]);
	}
	return sql.data;
}

/*
 * An event trigger rather than a utility hook: it works in a session that has
 * not loaded the library before the statement.
 */
Datum
lakefdw_ddl_end(PG_FUNCTION_ARGS)
{
	Node	   *statement;
	Oid			relid;
	char	   *sql;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by an event trigger",
						"lakefdw_ddl_end")));
	if (IsBinaryUpgrade)
		PG_RETURN_NULL();
	statement = ((EventTriggerData *) fcinfo->context)->parsetree;
	relid = find_created(statement);
	if (!OidIsValid(relid))
		PG_RETURN_NULL();
	create_lake_table(relid);
	sql = wants_columns(statement, relid) ? add_columns_statement(relid) :
		NULL;
	if (sql != NULL)
	{
		SPI_connect();
		if (SPI_execute(sql, false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "cannot add the lake's columns");
		SPI_finish();
	}
	PG_RETURN_NULL();
}
