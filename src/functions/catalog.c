/*
 * lake.tables() and lake.register_table(): what is in a server's catalog.
 */
#include "functions/functions.h"

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "fdw/fdw.h"
#include "metastore/metastore.h"

PG_FUNCTION_INFO_V1(lakefdw_tables);
PG_FUNCTION_INFO_V1(lakefdw_register_table);

/* a server by its name, which must be one of ours */
static ForeignServer *
get_server(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, false);

	if (!is_lake_server(server->serverid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a server of foreign-data wrapper lakefdw",
						name)));
	return server;
}

static bool
is_hosted(const LakeServerOptions *options)
{
	return strcmp(options->catalog, "hosted") == 0;
}

/* ---- lake.tables() ---- */

enum
{
	TABLES_NAMESPACE,
	TABLES_NAME,
	TABLES_TYPE,
	TABLES_METADATA_LOCATION,
	TABLES_COLUMNS
};

static void
put_table(ReturnSetInfo *result, const HostedTable *table)
{
	const char *texts[TABLES_COLUMNS];
	Datum		values[TABLES_COLUMNS];
	bool		nulls[TABLES_COLUMNS];

	texts[TABLES_NAMESPACE] = table->name_space;
	texts[TABLES_NAME] = table->name;
	texts[TABLES_TYPE] = table->type == NULL ? "TABLE" : table->type;
	texts[TABLES_METADATA_LOCATION] = table->metadata_location;
	for (int i = 0; i < TABLES_COLUMNS; i++)
	{
		nulls[i] = texts[i] == NULL;
		values[i] = nulls[i] ? (Datum) 0 :
			CStringGetTextDatum(name_from_lake(texts[i]));
	}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* false when there is no such namespace */
static bool
put_hosted_tables(ReturnSetInfo *result, const LakeServerOptions *options,
				  const char *name_space)
{
	bool		exists;
	ListCell   *cell;

	foreach(cell, hosted_catalog_list(options, name_space, &exists))
		put_table(result, lfirst(cell));
	return exists;
}

/* tables of other formats by that name, and without a metadata file */
static bool
put_file_tables(ReturnSetInfo *result, const LakeServerOptions *options,
				LakeStore *store, const char *name_space)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	CatalogTable *tables;
	size_t		count;

	if (!file_catalog_list(arena, store, options->warehouse, name_space,
						   &tables, &count))
		return false;
	for (size_t i = 0; i < count; i++)
	{
		HostedTable table = {
			.name_space = tables[i].name_space,
			.name = tables[i].name,
			.type = tables[i].other_format
		};

		CHECK_FOR_INTERRUPTS();
		if (table.type == NULL)
			table.metadata_location =
				file_catalog_find(arena, store, options->warehouse,
								  table.name_space, table.name);
		put_table(result, &table);
	}
	return true;
}

Datum
lakefdw_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	const char *name_space = PG_ARGISNULL(1) ? NULL :
		name_to_lake(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	LakeServerOptions options;
	ForeignServer *server;
	LakeStore  *store;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	server = get_server(NameStr(*PG_GETARG_NAME(0)));
	store = lake_server_store(server->serverid, GetUserId());
	options_get_server(server->serverid, &options);
	server_check_catalog(server, &options);
	if (is_hosted(&options) ?
		!put_hosted_tables(result, &options, name_space) :
		!put_file_tables(result, &options, store, name_space))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("namespace \"%s\" does not exist in the catalog of server \"%s\"",
						name_space == NULL ? "" : name_from_lake(name_space),
						server->servername)));
	return (Datum) 0;
}

/* ---- lake.register_table() ---- */

enum
{
	REGISTER_SNAPSHOT_ID,
	REGISTER_RECORDS,
	REGISTER_DATA_FILES,
	REGISTER_COLUMNS
};

static void
check_may_register(const ForeignServer *server)
{
	PreventCommandIfReadOnly("lake.register_table()");
	PreventCommandIfParallelMode("lake.register_table()");
	PreventCommandDuringRecovery("lake.register_table()");
	if (!has_privs_of_role(GetUserId(), server->owner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_SERVER,
					   server->servername);
	/* as for an option that names a file (decisions 1.3) */
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to register a table"),
				 errdetail("Only roles with privileges of the \"%s\" role may name files of the server.",
						   "pg_read_server_files")));
}

/* "ns.table", "a.b.table": split at the last dot; levels are not empty */
static void
split_ident(const char *ident, HostedTable *table)
{
	char	   *name_space = pstrdup(ident);
	char	   *dot = strrchr(name_space, '.');

	if (dot == NULL || dot == name_space || dot[1] == '\0' ||
		name_space[0] == '.' || strstr(name_space, "..") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid lake table name \"%s\"",
						name_from_lake(ident)),
				 errhint("A name is namespace.table; levels of a nested namespace are joined with dots.")));
	*dot = '\0';
	table->name_space = name_space;
	table->name = dot + 1;
}

static bool
is_same_directory(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/');
	const char *end_b = strrchr(b, '/');

	return end_a != NULL && end_b != NULL && end_a - a == end_b - b &&
		strncmp(a, b, end_a - a) == 0;
}

/*
 * Two names of one table part with the first commit by either.  Where the
 * metadata files are tells without opening every table of the catalog.
 */
static void
warn_of_other_names(const LakeServerOptions *options,
					const HostedTable *table)
{
	bool		exists;
	ListCell   *cell;

	foreach(cell, hosted_catalog_list(options, NULL, &exists))
	{
		const HostedTable *other = lfirst(cell);

		if (other->metadata_location != NULL &&
			is_same_directory(other->metadata_location,
							  table->metadata_location) &&
			(strcmp(other->name_space, table->name_space) != 0 ||
			 strcmp(other->name, table->name) != 0))
			ereport(WARNING,
					(errmsg("lake table \"%s.%s\" has its metadata in the same directory",
							name_from_lake(other->name_space),
							name_from_lake(other->name)),
					 errdetail("If it is the same table, commits by one name are not seen by the other, and each may remove files of the other.")));
	}
}

/* not STRICT: a row of NULLs would look like an empty table that was added */
static void
check_no_null(FunctionCallInfo fcinfo)
{
	static const char *const names[] = {
		"server", "ident", "metadata_location"
	};

	for (int i = 0; i < lengthof(names); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not be NULL", names[i])));
	}
}

/* a count that a snapshot's summary may lack */
static void
set_count(Datum *value, bool *is_null, int64 count)
{
	*is_null = count < 0;
	*value = Int64GetDatum(count);
}

Datum
lakefdw_register_table(PG_FUNCTION_ARGS)
{
	HostedTable table = {.type = "TABLE"};
	LakeServerOptions options;
	ForeignServer *server;
	const LakeSnapshot *snapshot;
	TupleDesc	desc;
	Datum		values[REGISTER_COLUMNS] = {0};
	bool		nulls[REGISTER_COLUMNS] = {true, true, true};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	check_no_null(fcinfo);
	server = get_server(NameStr(*PG_GETARG_NAME(0)));
	check_may_register(server);
	options_get_server(server->serverid, &options);
	server_check_catalog(server, &options);
	if (!is_hosted(&options))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("tables cannot be registered in catalog '%s' of server \"%s\"",
						options.catalog, server->servername)));
	split_ident(name_to_lake(text_to_cstring(PG_GETARG_TEXT_PP(1))), &table);
	table.metadata_location =
		name_to_lake(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	snapshot = lake_metadata_open(server->serverid, table.metadata_location,
								  GetUserId())->current_snapshot;
	hosted_catalog_insert(&options, &table);
	warn_of_other_names(&options, &table);
	if (snapshot != NULL)
	{
		set_count(&values[REGISTER_SNAPSHOT_ID],
				  &nulls[REGISTER_SNAPSHOT_ID], snapshot->id);
		set_count(&values[REGISTER_RECORDS], &nulls[REGISTER_RECORDS],
				  snapshot->total_records);
		set_count(&values[REGISTER_DATA_FILES], &nulls[REGISTER_DATA_FILES],
				  snapshot->total_data_files);
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
