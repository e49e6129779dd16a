/*
 * Options of servers, foreign tables and columns: one table of them, the
 * validator, and readers.
 *
 * Strings are kept in the catalogs in the database's encoding and handed out in
 * UTF-8, which is what the core speaks.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

#include "server/server_int.h"

PG_FUNCTION_INFO_V1(lakefdw_validator);

typedef void (*OptionCheck) (const char *name, const char *value);

typedef struct LakeOption
{
	const char *name;
	Oid			catalog;		/* of the object that may have it */
	OptionCheck check;			/* throws when the value is no good */
	const char *words;			/* the only values, "a|b|c"; NULL: any */
} LakeOption;

/*
 * Whoever makes the server read a path of its own file system must be allowed
 * to (decisions 1.3).
 */
static void
check_file_role(const char *name)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set option \"%s\"", name),
				 errdetail("Only roles with privileges of the \"%s\" role may name files of the server.",
						   "pg_read_server_files")));
}

static void
check_not_empty(const char *name, const char *value)
{
	if (value[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", name)));
}

/* no store but the local files is there yet, so every location is a file */
static void
check_location(const char *name, const char *value)
{
	LakePathRules rules = {0};

	check_not_empty(name, value);
	path_rules_allow(lake_arena_of(CurrentMemoryContext), &rules,
					 name_to_lake(value));
	check_file_role(name);
}

static void
check_location_list(const char *name, const char *value)
{
	LakePathRules rules = {0};

	check_not_empty(name, value);
	options_allow_list(lake_arena_of(CurrentMemoryContext), &rules,
					   name_to_lake(value));
	check_file_role(name);
}

static void
check_path_map(const char *name, const char *value)
{
	LakePathRules rules = {0};

	check_not_empty(name, value);
	path_rules_add_map(lake_arena_of(CurrentMemoryContext), &rules,
					   name_to_lake(value));
	check_file_role(name);
}

static void
check_field_id(const char *name, const char *value)
{
	char	   *end;
	long		id;

	errno = 0;
	id = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' ||
		id < 0 || id > LAKE_MAX_USER_FIELD_ID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						name, value),
				 errhint("A field id is an integer between 0 and %d.",
						 LAKE_MAX_USER_FIELD_ID)));
}

static void
check_snapshot_id(const char *name, const char *value)
{
	LakeSelector selector;

	selector_parse_snapshot(&selector, value);
}

static void
check_time(const char *name, const char *value)
{
	LakeSelector selector;

	selector_parse_time(&selector, value);
}

/* decides where other tables' files could be, too */
static void
check_new_location(const char *name, const char *value)
{
	LakePathRules rules = {0};

	check_not_empty(name, value);
	path_rules_allow(lake_arena_of(CurrentMemoryContext), &rules,
					 name_to_lake(value));
	if (!has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set option \"%s\"", name),
				 errdetail("Only roles with privileges of the \"%s\" role may say where files of the server go.",
						   "pg_write_server_files")));
}

/* an object of strings */
static void
check_properties(const char *name, const char *value)
{
	Jsonb	   *json = DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
														  CStringGetDatum(value)));
	JsonbIterator *iterator = JsonbIteratorInit(&json->root);
	JsonbValue	element;
	JsonbIteratorToken token;
	bool		is_right = JB_ROOT_IS_OBJECT(json);

	while (is_right &&
		   (token = JsonbIteratorNext(&iterator, &element, true)) != WJB_DONE)
		is_right = token != WJB_VALUE || element.type == jbvString;
	if (!is_right)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						name, value),
				 errhint("Properties are a JSON object whose values are strings.")));
}

static const LakeOption lake_options[] = {
	{"catalog", ForeignServerRelationId, NULL, "hosted|file|rest"},
	{"warehouse", ForeignServerRelationId, check_location, NULL},
	{"allowed_locations", ForeignServerRelationId, check_location_list, NULL},
	{"path_map", ForeignServerRelationId, check_path_map, NULL},
	{"mapping", ForeignServerRelationId, NULL, "owner|usage"},
	{"catalog_schema", ForeignServerRelationId, check_not_empty, NULL},
	{"catalog_name", ForeignServerRelationId, check_not_empty, NULL},
	{"namespace", ForeignTableRelationId, check_not_empty, NULL},
	{"table", ForeignTableRelationId, check_not_empty, NULL},
	{"metadata_location", ForeignTableRelationId, check_location, NULL},
	{"path_map", ForeignTableRelationId, check_path_map, NULL},
	{"snapshot_id", ForeignTableRelationId, check_snapshot_id, NULL},
	{"as_of_timestamp", ForeignTableRelationId, check_time, NULL},
	{"ref", ForeignTableRelationId, check_not_empty, NULL},
	{"create_if_missing", ForeignTableRelationId, NULL, "true|false"},
	{"partition_by", ForeignTableRelationId, check_not_empty, NULL},
	{"sort_by", ForeignTableRelationId, check_not_empty, NULL},
	{"location", ForeignTableRelationId, check_new_location, NULL},
	{"format_version", ForeignTableRelationId, NULL, "1|2|3"},
	{"properties", ForeignTableRelationId, check_properties, NULL},
	{"column_name", AttributeRelationId, check_not_empty, NULL},
	{"field_id", AttributeRelationId, check_field_id, NULL},
};

static const LakeOption *
find_option(const char *name, Oid catalog)
{
	for (size_t i = 0; i < lengthof(lake_options); i++)
	{
		if (lake_options[i].catalog == catalog &&
			strcmp(lake_options[i].name, name) == 0)
			return &lake_options[i];
	}
	return NULL;
}

void
near_match_init(NearMatch *match, const char *wanted)
{
	match->wanted = wanted;
	match->best = NULL;
	match->distance = -1;
}

/* the server's own rule: at most 4 edits and fewer than half of the length */
void
near_match_consider(NearMatch *match, const char *candidate)
{
	int			wanted_len = (int) strlen(match->wanted);
	int			candidate_len = (int) strlen(candidate);
	int			limit = match->distance < 0 ? 4 : match->distance - 1;
	int			distance;

	if (limit < 0 || wanted_len > NAMEDATALEN || candidate_len > NAMEDATALEN)
		return;
	/* names from a lake can be invalid here, which would confuse the measure */
	if (!pg_verifymbstr(match->wanted, wanted_len, true) ||
		!pg_verifymbstr(candidate, candidate_len, true))
		return;
	distance = varstr_levenshtein_less_equal(match->wanted, wanted_len,
											 candidate, candidate_len,
											 1, 1, 1, limit, true);
	if (distance <= limit && distance <= wanted_len / 2)
	{
		match->best = candidate;
		match->distance = distance;
	}
}

static pg_noinline void
throw_unknown_option(const char *name, Oid catalog)
{
	NearMatch	match;
	bool		has_options = false;

	near_match_init(&match, name);
	for (size_t i = 0; i < lengthof(lake_options); i++)
	{
		if (lake_options[i].catalog != catalog)
			continue;
		has_options = true;
		near_match_consider(&match, lake_options[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 match.best != NULL ?
			 errhint("Perhaps you meant the option \"%s\".", match.best) :
			 has_options ? 0 :
			 errhint("There are no valid options in this context.")));
}

/* is value one of the words "a|b|c"? */
static bool
is_word(const char *words, const char *value)
{
	size_t		len = strlen(value);

	for (const char *word = words; word != NULL;)
	{
		const char *end = strchr(word, '|');
		size_t		word_len = end == NULL ? strlen(word) : end - word;

		if (word_len == len && memcmp(word, value, len) == 0)
			return true;
		word = end == NULL ? NULL : end + 1;
	}
	return false;
}

/* "a|b|c" as "a", "b", "c" for a hint */
static char *
quote_words(const char *words)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoChar(&text, '"');
	for (const char *c = words; *c != '\0'; c++)
	{
		if (*c == '|')
			appendStringInfoString(&text, "\", \"");
		else
			appendStringInfoChar(&text, *c);
	}
	appendStringInfoChar(&text, '"');
	return text.data;
}

static void
check_option(const DefElem *def, Oid catalog)
{
	const LakeOption *option = find_option(def->defname, catalog);
	const char *value;
	LakeFrame	frame;

	if (option == NULL)
		throw_unknown_option(def->defname, catalog);
	value = defGetString((DefElem *) def);
	if (option->words != NULL && !is_word(option->words, value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						option->name, value),
				 errhint("Valid values are %s.", quote_words(option->words))));
	if (option->check == NULL)
		return;
	lake_frame_push(&frame, "checking option", option->name);
	option->check(option->name, value);
	lake_frame_pop(&frame);
}

static const char *
find_value(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *def = lfirst_node(DefElem, cell);

		if (strcmp(def->defname, name) == 0)
			return name_to_lake(defGetString(def));
	}
	return NULL;
}

void
options_get_selector(List *options, LakeSelector *selector)
{
	const char *names[] = {"snapshot_id", "as_of_timestamp", "ref"};
	const char *values[lengthof(names)];
	int			first = -1;

	memset(selector, 0, sizeof *selector);
	for (int i = 0; i < lengthof(names); i++)
	{
		values[i] = find_value(options, names[i]);
		if (values[i] == NULL)
			continue;
		if (first >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("options \"%s\" and \"%s\" exclude each other",
							names[first], names[i])));
		first = i;
	}
	if (first == 0)
		selector_parse_snapshot(selector, values[0]);
	else if (first == 1)
		selector_parse_time(selector, values[1]);
	else if (first == 2)
	{
		selector->kind = LAKE_SELECT_REF;
		selector->ref = values[2];
	}
}

/* options that say which hosted catalog it is */
static void
check_hosted_options(List *options)
{
	static const char *const names[] = {"catalog_schema", "catalog_name"};
	const char *catalog = find_value(options, "catalog");

	if (catalog == NULL || strcmp(catalog, "hosted") == 0)
		return;
	for (size_t i = 0; i < lengthof(names); i++)
	{
		if (find_value(options, names[i]) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("option \"%s\" is for servers with catalog 'hosted', not '%s'",
							names[i], catalog)));
	}
}

static void
check_options(List *options, Oid catalog)
{
	LakeSelector selector;
	ListCell   *cell;

	foreach(cell, options)
		check_option(lfirst_node(DefElem, cell), catalog);
	options_get_selector(options, &selector);
	if (catalog == ForeignServerRelationId)
		check_hosted_options(options);

	if (catalog == ForeignTableRelationId &&
		find_value(options, "metadata_location") == NULL &&
		(find_value(options, "namespace") == NULL ||
		 find_value(options, "table") == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("either \"namespace\" and \"table\" or \"metadata_location\" is required for lakefdw foreign tables")));
}

Datum
lakefdw_validator(PG_FUNCTION_ARGS)
{
	check_options(untransformRelOptions(PG_GETARG_DATUM(0)),
				  PG_GETARG_OID(1));
	PG_RETURN_VOID();
}

void
options_allow_list(LakeArena *arena, LakePathRules *rules, const char *list)
{
	for (const char *item = list; item != NULL;)
	{
		const char *end = strchr(item, ',');
		size_t		len;

		item += strspn(item, " ");
		len = strcspn(item, ",");
		while (len > 0 && item[len - 1] == ' ')
			len--;
		path_rules_allow(arena, rules, lake_strndup(arena, item, len));
		item = end == NULL ? NULL : end + 1;
	}
}

void
options_get_server(Oid server_oid, LakeServerOptions *options)
{
	ForeignServer *server = GetForeignServer(server_oid);
	List	   *list = server->options;
	const char *mapping = find_value(list, "mapping");

	options->owner = server->owner;
	options->catalog = find_value(list, "catalog");
	if (options->catalog == NULL)
		options->catalog = "hosted";
	options->warehouse = find_value(list, "warehouse");
	options->allowed_locations = find_value(list, "allowed_locations");
	options->path_map = find_value(list, "path_map");
	options->catalog_schema = find_value(list, "catalog_schema");
	if (options->catalog_schema == NULL)
		options->catalog_schema = "lake";
	options->catalog_name = find_value(list, "catalog_name");
	if (options->catalog_name == NULL)
		options->catalog_name = "lake";
	options->mapping_by_usage = mapping != NULL &&
		strcmp(mapping, "usage") == 0;
}

void
options_get_table(Oid relid, LakeTableOptions *options)
{
	List	   *list = GetForeignTable(relid)->options;

	options_get_selector(list, &options->selector);
	options->name_space = find_value(list, "namespace");
	options->table = find_value(list, "table");
	options->metadata_location = find_value(list, "metadata_location");
	options->path_map = find_value(list, "path_map");
}

void
options_get_column(Oid relid, AttrNumber attnum, const char **column_name,
				   int32 *field_id)
{
	List	   *list = GetForeignColumnOptions(relid, attnum);
	const char *id = find_value(list, "field_id");

	*column_name = find_value(list, "column_name");
	*field_id = id == NULL ? -1 : (int32) strtol(id, NULL, 10);
}
