/*
 * A foreign table resolved to a lake table: who may, which paths, which
 * metadata file, which field each column shows.
 *
 * decisions.md 1.1 to 1.4.  What is believed here comes from the catalogs; what
 * metadata says of paths is checked against it by the store, file by file.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_authid.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "iceberg/iceberg.h"
#include "metastore/metastore.h"
#include "server/compat.h"
#include "server/server_int.h"

static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType int_type = {.kind = LAKE_INT};
static const LakeType long_type = {.kind = LAKE_LONG};

/* columns that every table has without declaring them (decisions 3.6) */
static const LakeField reserved_fields[] = {
	{.id = LAKE_FIELD_FILE, .name = "_file", .type = &string_type},
	{.id = LAKE_FIELD_POS, .name = "_pos", .type = &long_type},
	{.id = LAKE_FIELD_SPEC_ID, .name = "_spec_id", .type = &int_type},
	{.id = LAKE_FIELD_ROW_ID, .name = "_row_id", .type = &long_type},
	{.id = LAKE_FIELD_SEQUENCE, .name = "_last_updated_sequence_number",
	.type = &long_type},
};

/* ---- who may, and which paths ---- */

/*
 * Without this, USAGE on a server would be enough to own a mapping of any table
 * in it (decisions 1.1).
 */
static bool
may_map(const ForeignServer *server, const LakeServerOptions *options,
		Oid role)
{
	return options->mapping_by_usage ?
		compat_server_usage_aclcheck(server->serverid, role) == ACLCHECK_OK :
		has_privs_of_role(role, server->owner);
}

static void
check_mapping(const ForeignServer *server, const LakeServerOptions *options,
			  Oid role)
{
	if (may_map(server, options, role))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("role \"%s\" may not map tables of server \"%s\"",
					GetUserNameFromId(role, false), server->servername),
			 options->mapping_by_usage ?
			 errhint("Grant it USAGE on the server.") :
			 errhint("Grant it the server owner's role, or set the server's option mapping to 'usage'.")));
}

/* the querying user needs the table's grants only (decisions 1.3) */
static void
check_server_owner(const ForeignServer *server)
{
	if (!has_privs_of_role(server->owner, ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("owner \"%s\" of server \"%s\" may not read files",
						GetUserNameFromId(server->owner, false),
						server->servername),
				 errhint("Grant it the role \"%s\".", "pg_read_server_files")));
}

/*
 * The table's directory: what is above metadata/, or the file's own directory
 * when a copy was laid out otherwise.
 */
static char *
table_directory(LakeArena *arena, const char *metadata_location)
{
	char	   *directory = lake_strdup(arena, metadata_location);
	char	   *slash = strrchr(directory, '/');

	if (slash == NULL)
		return directory;
	*slash = '\0';
	slash = strrchr(directory, '/');
	if (slash != NULL && strcmp(slash, "/metadata") == 0)
		*slash = '\0';
	return directory;
}

/* a table's maps come before its server's (decisions 1.4) */
static LakeStore *
create_store(const LakeServerOptions *server, const LakeTableOptions *table)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	LakePathRules *rules = lake_alloc(arena, sizeof *rules);
	LakeStore  *store;

	if (table != NULL && table->path_map != NULL)
		path_rules_add_map(arena, rules, table->path_map);
	if (server->path_map != NULL)
		path_rules_add_map(arena, rules, server->path_map);
	if (server->warehouse != NULL)
		path_rules_allow(arena, rules, server->warehouse);
	if (server->allowed_locations != NULL)
		options_allow_list(arena, rules, server->allowed_locations);
	if (table != NULL && table->metadata_location != NULL)
		path_rules_allow(arena, rules,
						 table_directory(arena, table->metadata_location));
	store = store_local_create(arena, rules);
	store->cache = metadata_cache();
	return store;
}

LakeStore *
lake_server_store(Oid server_oid, Oid role)
{
	ForeignServer *server = GetForeignServer(server_oid);
	LakeServerOptions options;

	options_get_server(server_oid, &options);
	check_mapping(server, &options, role);
	check_server_owner(server);
	return create_store(&options, NULL);
}

LakeStore *
lake_writing_store(Oid server_oid, Oid role)
{
	ForeignServer *server = GetForeignServer(server_oid);
	LakeStore  *store = lake_server_store(server_oid, role);

	if (!has_privs_of_role(server->owner, ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("owner \"%s\" of server \"%s\" may not write files",
						GetUserNameFromId(server->owner, false),
						server->servername),
				 errhint("Grant it the role \"%s\".",
						 "pg_write_server_files")));
	store->durable = enableFsync;
	return store;
}

const LakeFormat *
lake_format(void)
{
	return &iceberg_format;
}

/* ---- which metadata file ---- */

static bool
is_hosted(const LakeServerOptions *options)
{
	return strcmp(options->catalog, "hosted") == 0;
}

void
server_check_catalog(const ForeignServer *server,
					 const LakeServerOptions *options)
{
	if (is_hosted(options))
	{
		if (options->warehouse == NULL && options->allowed_locations == NULL &&
			options->path_map == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
					 errmsg("server \"%s\" may not read any location",
							server->servername),
					 errhint("Set its option warehouse or allowed_locations.")));
		return;
	}
	if (strcmp(options->catalog, "file") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("catalog '%s' of server \"%s\" is not supported",
						options->catalog, server->servername),
				 errhint("Use a server with catalog 'hosted' or 'file', or the foreign table's option metadata_location.")));
	if (options->warehouse == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("server \"%s\" has catalog 'file' but no warehouse",
						server->servername)));
}

static const char *
find_in_files(const LakeServerOptions *options, const LakeTableOptions *table,
			  LakeStore *store)
{
	const char *location;

	location = file_catalog_find(lake_arena_of(CurrentMemoryContext), store,
								 options->warehouse, table->name_space,
								 table->table);
	if (location == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("lake table \"%s.%s\" does not exist in warehouse \"%s\"",
						name_from_lake(table->name_space),
						name_from_lake(table->table),
						name_from_lake(options->warehouse))));
	return location;
}

/* two foreign tables of one lake table share pins (decisions 1.5) */
static char *
table_key(const LakeServerOptions *server, const LakeTableOptions *table)
{
	if (table->metadata_location != NULL)
		return psprintf("\n%s", table->metadata_location);
	if (is_hosted(server))
		return psprintf("%s\n%s\n%s\n%s\n%s", server->catalog,
						server->catalog_schema, server->catalog_name,
						table->name_space, table->table);
	return psprintf("%s\n%s\n%s\n%s", server->catalog, server->warehouse,
					table->name_space, table->table);
}

const char *
lake_relation_key(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	LakeServerOptions server;
	LakeTableOptions table;
	Oid			server_oid;
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	server_oid = GetForeignServerIdByRelId(relid);
	options_get_server(server_oid, &server);
	if (!may_map(GetForeignServer(server_oid), &server, owner))
		return NULL;
	options_get_table(relid, &table);
	return table_key(&server, &table);
}

static bool
is_pinned_by_snapshot(const LakeServerOptions *server,
					  const LakeTableOptions *table)
{
	return table->metadata_location != NULL || is_hosted(server);
}

bool
relation_pins_by_snapshot(Oid relid)
{
	LakeServerOptions server;
	LakeTableOptions table;

	options_get_server(GetForeignServerIdByRelId(relid), &server);
	options_get_table(relid, &table);
	return is_pinned_by_snapshot(&server, &table);
}

/* the version that everything under the snapshot reads */
static const char *
find_pinned_files(const LakeServerOptions *server,
				  const LakeTableOptions *table, LakeStore *store,
				  Snapshot snapshot)
{
	char	   *key = table_key(server, table);
	const char *location = pin_find(key, snapshot);

	if (location != NULL)
		return location;
	/* the leader's pins are not here, and one of our own could be another */
	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot read lake table \"%s.%s\" of a file catalog in a parallel worker",
						name_from_lake(table->name_space),
						name_from_lake(table->table)),
				 errhint("Mark functions that read it PARALLEL RESTRICTED.")));
	location = find_in_files(server, table, store);
	pin_add(key, snapshot, location);
	return location;
}

static const char *
find_metadata(const ForeignServer *server, const LakeServerOptions *options,
			  const LakeTableOptions *table, LakeStore *store,
			  const LakeOpen *how)
{
	const char *kept;

	if (how->metadata_location != NULL)
		return how->metadata_location;
	kept = pin_kept(table_key(options, table));
	if (kept != NULL)
		return kept;
	if (table->metadata_location != NULL)
		return table->metadata_location;
	server_check_catalog(server, options);
	if (is_hosted(options))
		return hosted_catalog_locate(options, table->name_space, table->table,
									 how->snapshot);
	if (how->snapshot == NULL)
		return find_in_files(options, table, store);
	return find_pinned_files(options, table, store, how->snapshot);
}

static const LakeTable *
open_table(Oid server_oid, const LakeServerOptions *server_options,
		   const LakeTableOptions *options, Oid role, const LakeOpen *how,
		   LakeStore **store)
{
	ForeignServer *server = GetForeignServer(server_oid);

	check_mapping(server, server_options, role);
	check_server_owner(server);
	*store = create_store(server_options, options);
	return metadata_cache_open(*store,
							   find_metadata(server, server_options, options,
											 *store, how),
							   CurrentMemoryContext);
}

const LakeTable *
lake_table_at(const LakeRelation *relation, const char *metadata_location)
{
	return metadata_cache_open(relation->store, metadata_location,
							   CurrentMemoryContext);
}

const LakeTable *
lake_table_open(Oid server_oid, const LakeTableOptions *options, Oid role)
{
	static const LakeOpen newest;
	LakeServerOptions server_options;
	LakeStore  *store;

	options_get_server(server_oid, &server_options);
	return open_table(server_oid, &server_options, options, role, &newest,
					  &store);
}

const LakeTable *
lake_metadata_open(Oid server_oid, const char *metadata_location, Oid role)
{
	const LakeTableOptions options = {0};
	const LakeOpen how = {.metadata_location = metadata_location};
	LakeServerOptions server_options;
	LakeStore  *store;

	options_get_server(server_oid, &server_options);
	return open_table(server_oid, &server_options, &options, role, &how,
					  &store);
}

/* ---- which field each column shows ---- */

/* PostgreSQL folds ASCII letters of unquoted names only */
static bool
equal_but_for_case(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
	{
		if (pg_ascii_tolower((unsigned char) *a) !=
			pg_ascii_tolower((unsigned char) *b))
			return false;
	}
	return *a == *b;
}

static bool
has_upper_case(const char *name)
{
	for (; *name != '\0'; name++)
	{
		if (*name >= 'A' && *name <= 'Z')
			return true;
	}
	return false;
}

/*
 * The only field whose name is that but for case.  Two of them are an error:
 * which one an unquoted name means cannot be told.
 */
static const LakeField *
find_folded(const LakeSchema *schema, const char *name,
			const char *relation_name)
{
	const LakeField *found = NULL;

	for (int i = 0; i < schema->field_count; i++)
	{
		const LakeField *field = &schema->fields[i];

		if (!equal_but_for_case(field->name, name))
			continue;
		if (found != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("column \"%s\" of foreign table \"%s\" could be lake column \"%s\" or \"%s\"",
							name_from_lake(name), relation_name,
							name_from_lake(found->name),
							name_from_lake(field->name)),
					 errhint("Set the column's option column_name.")));
		found = field;
	}
	return found;
}

static const LakeField *
find_by_id(const LakeSchema *schema, int32 id)
{
	for (int i = 0; i < schema->field_count; i++)
	{
		if (schema->fields[i].id == id)
			return &schema->fields[i];
	}
	return NULL;
}

static const LakeField *
find_reserved(const char *name)
{
	for (size_t i = 0; i < lengthof(reserved_fields); i++)
	{
		if (strcmp(reserved_fields[i].name, name) == 0)
			return &reserved_fields[i];
	}
	return NULL;
}

static pg_noinline void
throw_no_field(const LakeSchema *schema, const char *attribute,
			   const char *wanted, int32 field_id, const char *relation_name)
{
	NearMatch	match;

	if (field_id >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of foreign table \"%s\" shows field id %d, which the lake table does not have",
						attribute, relation_name, field_id),
				 errhint("The lake column may have been dropped.")));
	near_match_init(&match, wanted);
	for (int i = 0; i < schema->field_count; i++)
		near_match_consider(&match, schema->fields[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the lake table of foreign table \"%s\" has no column \"%s\"",
					relation_name, name_from_lake(wanted)),
			 match.best == NULL ? 0 :
			 errhint("Perhaps you meant the lake column \"%s\".",
					 name_from_lake(match.best))));
}

/* where columns are looked for */
typedef struct ColumnScope
{
	const LakeTable *table;
	const char *relation_name;
	const LakeSchema *declared; /* that the foreign table was made by */
	const LakeSchema *read;		/* the version's */
	bool		in_history;		/* then in what else the table ever had */
} ColumnScope;

/* how a column is looked for */
typedef struct ColumnKey
{
	int32		field_id;		/* -1: by name */
	const char *name;
	bool		is_own_name;	/* the attribute's: PostgreSQL folded it */
} ColumnKey;

static const LakeField *
find_field(const ColumnScope *scope, const LakeSchema *schema,
		   const ColumnKey *key)
{
	const LakeField *field;

	if (key->field_id >= 0)
		return find_by_id(schema, key->field_id);
	field = lake_schema_find_name(schema, key->name);
	if (field == NULL)
		field = find_reserved(key->name);
	if (field == NULL && key->is_own_name && !has_upper_case(key->name))
		field = find_folded(schema, key->name, scope->relation_name);
	return field;
}

/*
 * The newest field that the key means.  A column that the lake dropped has no
 * values in versions from before it was added, which is no reason to refuse
 * them: so old versions search the table's whole history.
 */
static const LakeField *
search_field(const ColumnScope *scope, const ColumnKey *key)
{
	const LakeField *field = find_field(scope, scope->declared, key);

	if (field == NULL && scope->read != scope->declared)
		field = find_field(scope, scope->read, key);
	if (!scope->in_history)
		return field;
	for (int i = scope->table->schema_count - 1; field == NULL && i >= 0; i--)
		field = find_field(scope, scope->table->schemas[i], key);
	return field;
}

/*
 * The field as the version has it, which all of its files can be read as.  A
 * column may be declared so that it shows only what the field became since
 * (date, then timestamp): so the current type, which is no narrower, is next.
 * What the version does not have is absent from its files, required or not.
 */
static const LakeField *
field_to_read(const ColumnScope *scope, const LakeField *field,
			  Form_pg_attribute attribute)
{
	const LakeField *of_version = find_by_id(scope->read, field->id);
	const LakeField *current;
	LakeField  *absent;

	if (of_version == field || find_reserved(field->name) == field)
		return field;
	if (of_version == NULL)
	{
		absent = palloc(sizeof *absent);
		*absent = *field;
		absent->required = false;
		return absent;
	}
	if (typemap_is_readable(of_version->type, attribute->atttypid,
							attribute->atttypmod))
		return of_version;
	current = find_by_id(scope->table->schema, field->id);
	return current != NULL ? current : of_version;
}

/* by field id, else by column_name, else by the attribute's own name */
static const LakeField *
bind_column(const ColumnScope *scope, Oid relid, Form_pg_attribute attribute)
{
	ColumnKey	key;
	const LakeField *field;

	options_get_column(relid, attribute->attnum, &key.name, &key.field_id);
	key.is_own_name = key.name == NULL;
	if (key.is_own_name)
		key.name = name_to_lake(NameStr(attribute->attname));
	field = search_field(scope, &key);
	if (field == NULL)
		throw_no_field(scope->declared, NameStr(attribute->attname), key.name,
					   key.field_id, scope->relation_name);
	return field_to_read(scope, field, attribute);
}

static void
bind_columns(LakeRelation *relation, const ColumnScope *scope,
			 TupleDesc descriptor)
{
	relation->column_count = descriptor->natts;
	relation->columns = palloc0(sizeof(LakeColumn) * descriptor->natts);
	for (int i = 0; i < descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
		LakeColumn *column = &relation->columns[i];

		column->attnum = attribute->attnum;
		if (attribute->attisdropped)
			continue;
		column->name = pstrdup(NameStr(attribute->attname));
		column->type_oid = attribute->atttypid;
		column->typmod = attribute->atttypmod;
		column->collation = attribute->attcollation;
		column->field = bind_column(scope, relation->relid, attribute);
	}
}

/* a query's lake.at, the table's options, the session's settings */
static void
choose_selector(LakeSelector *selector, const LakeOpen *how,
				const LakeTableOptions *options)
{
	if (how->selector != NULL)
	{
		*selector = *how->selector;
		if (selector->ref != NULL)
			selector->ref = pstrdup(selector->ref);
	}
	else if (options->selector.kind != LAKE_SELECT_CURRENT)
		*selector = options->selector;
	else if (!selector_of_settings(selector))
		selector->kind = LAKE_SELECT_CURRENT;
}

static LakeVersion
resolve(const LakeTable *table, const LakeSelector *selector)
{
	return table->format->resolve(lake_arena_of(CurrentMemoryContext), table,
								  selector);
}

const LakeSchema *
lake_table_schema(const LakeTable *table, const LakeTableOptions *options)
{
	if (options->selector.kind == LAKE_SELECT_CURRENT)
		return table->schema;
	return resolve(table, &options->selector).schema;
}

LakePin
lake_relation_pin(const LakeRelation *relation)
{
	const LakeTableOptions *options = relation->options;
	bool		in_catalog = options->metadata_location == NULL;
	LakePin		pin = {
		.relid = relation->relid,
		.key = relation->key,
		.catalog = in_catalog ? relation->server->catalog : NULL,
		.ident = in_catalog ?
		psprintf("%s.%s", options->name_space, options->table) :
		options->metadata_location,
		.ref = relation->selector.kind == LAKE_SELECT_REF ?
		relation->selector.ref : NULL,
		.snapshot_id = relation->snapshot == NULL ? -1 :
		relation->snapshot->id,
		.metadata_location = relation->table->metadata_location,
		.pinned_at = GetCurrentTimestamp()
	};

	return pin;
}

LakeRelation *
lake_relation_open(Oid relid, const LakeOpen *how)
{
	LakeRelation *relation = palloc0(sizeof *relation);
	Relation	rel = table_open(relid, NoLock);
	Oid			server_oid = GetForeignServerIdByRelId(relid);
	LakeServerOptions *server = palloc(sizeof *server);
	LakeTableOptions *options = palloc(sizeof *options);
	ColumnScope scope;
	LakeVersion version;
	LakeFrame	frame;

	relation->relid = relid;
	relation->name = psprintf("%s.%s",
							  get_namespace_name(RelationGetNamespace(rel)),
							  RelationGetRelationName(rel));
	lake_frame_push(&frame, "opening foreign table", relation->name);
	options_get_server(server_oid, server);
	options_get_table(relid, options);
	relation->server_oid = server_oid;
	relation->server = server;
	relation->options = options;
	relation->key = table_key(server, options);
	choose_selector(&relation->selector, how, options);
	relation->table = open_table(server_oid, server, options,
								 rel->rd_rel->relowner, how,
								 &relation->store);
	version = resolve(relation->table, &relation->selector);
	relation->snapshot = version.snapshot;
	relation->schema = version.schema;
	relation->is_branch = version.is_branch;
	relation->is_main = relation->selector.kind == LAKE_SELECT_CURRENT ||
		(version.is_branch && relation->selector.kind == LAKE_SELECT_REF &&
		 strcmp(relation->selector.ref, "main") == 0);
	if (!how->without_columns)
	{
		scope.table = relation->table;
		scope.relation_name = relation->name;
		scope.declared = lake_table_schema(relation->table, options);
		scope.read = version.schema;
		scope.in_history = how->any_version || !version.is_branch;
		bind_columns(relation, &scope, RelationGetDescr(rel));
	}
	if (how->snapshot != NULL)
	{
		LakePin		pin = lake_relation_pin(relation);

		pin_show(&pin);
	}
	lake_frame_pop(&frame);
	table_close(rel, NoLock);
	return relation;
}
