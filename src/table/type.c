/*
 * Types and schemas out of Iceberg's JSON, and the ways to look into them.
 *
 * Names and ids come from files that anybody may have written: a schema is
 * accepted only when its ids are unique over the whole tree and the names of
 * each struct are unique too, so that nothing behind this file has to ask
 * which of two equal fields was meant.
 */
#include "table/type.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/decimal.h"

typedef struct TypeParser
{
	LakeArena  *arena;
	int			depth;			/* of the type being parsed */
	int			field_count;	/* fields made so far, at any depth */
	int			id_capacity;
	int32_t    *ids;			/* theirs */
} TypeParser;

static const struct
{
	const char *name;
	LakeTypeKind kind;
}			plain_types[] =

{
	{"boolean", LAKE_BOOLEAN},
	{"int", LAKE_INT},
	{"long", LAKE_LONG},
	{"float", LAKE_FLOAT},
	{"double", LAKE_DOUBLE},
	{"date", LAKE_DATE},
	{"time", LAKE_TIME},
	{"timestamp", LAKE_TIMESTAMP},
	{"timestamptz", LAKE_TIMESTAMPTZ},
	{"timestamp_ns", LAKE_TIMESTAMP_NS},
	{"timestamptz_ns", LAKE_TIMESTAMPTZ_NS},
	{"string", LAKE_STRING},
	{"uuid", LAKE_UUID},
	{"binary", LAKE_BINARY},
	{"unknown", LAKE_UNKNOWN},
	{"variant", LAKE_VARIANT},
	{"geometry", LAKE_GEOMETRY},
	{"geography", LAKE_GEOGRAPHY},
};

#define PLAIN_TYPE_COUNT (sizeof plain_types / sizeof plain_types[0])

static const char *
skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

/* a decimal number below 2^31; NULL when there is none */
static const char *
parse_number(const char *text, int *number)
{
	int64_t		value = 0;

	text = skip_blanks(text);
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++)
	{
		value = value * 10 + (*text - '0');
		if (value > INT32_MAX)
			return NULL;
	}
	*number = (int) value;
	return skip_blanks(text);
}

/* the text between the brackets of "decimal(9, 2)" */
static bool
parse_decimal(const char *text, LakeType *type)
{
	text = parse_number(text, &type->precision);
	if (text == NULL || *text != ',')
		return false;
	text = parse_number(text + 1, &type->scale);
	return text != NULL && strcmp(text, ")") == 0;
}

static bool
parse_fixed(const char *text, LakeType *type)
{
	text = parse_number(text, &type->length);
	return text != NULL && strcmp(text, "]") == 0;
}

static void
parse_primitive(const char *name, LakeType *type)
{
	for (size_t i = 0; i < PLAIN_TYPE_COUNT; i++)
	{
		size_t		len = strlen(plain_types[i].name);
		bool		takes_crs = plain_types[i].kind == LAKE_GEOMETRY ||
			plain_types[i].kind == LAKE_GEOGRAPHY;

		if (strncasecmp(name, plain_types[i].name, len) == 0 &&
			(name[len] == '\0' || (takes_crs && *skip_blanks(name + len) == '(')))
		{
			type->kind = plain_types[i].kind;
			return;
		}
	}
	if (strncasecmp(name, "decimal(", 8) == 0)
	{
		type->kind = LAKE_DECIMAL;
		if (!parse_decimal(name + 8, type) || type->precision < 1 ||
			type->precision > DECIMAL_MAX_PRECISION ||
			type->scale > type->precision)
			lake_throw(LAKE_ERROR_CORRUPT, "type \"%s\" is malformed", name);
		return;
	}
	if (strncasecmp(name, "fixed[", 6) == 0)
	{
		type->kind = LAKE_FIXED;
		if (!parse_fixed(name + 6, type))
			lake_throw(LAKE_ERROR_CORRUPT, "type \"%s\" is malformed", name);
		return;
	}
	lake_throw(LAKE_ERROR_UNSUPPORTED, "type \"%s\" is not supported", name);
}

static void
register_id(TypeParser *parser, int32_t id, const char *name)
{
	if (id < 0 || id > LAKE_MAX_USER_FIELD_ID)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "field \"%s\" has the invalid id %d", name, (int) id);
	if (parser->field_count >= LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT, "schema has more than %d fields",
				   LAKE_MAX_SCHEMA_FIELDS);
	if (parser->field_count == parser->id_capacity)
	{
		int			capacity = parser->id_capacity == 0 ? 64 :
			parser->id_capacity * 2;

		parser->ids = lake_realloc(parser->arena, parser->ids,
								   (size_t) parser->id_capacity *
								   sizeof(int32_t),
								   (size_t) capacity * sizeof(int32_t));
		parser->id_capacity = capacity;
	}
	parser->ids[parser->field_count++] = id;
}

static LakeType *parse_type(TypeParser *parser, LakeJson *json);

static void
parse_struct_field(TypeParser *parser, LakeJson *json, LakeField *field)
{
	field->name = lake_strdup(parser->arena, json_get_string(json, "name"));
	field->id = json_get_int32(json, "id");
	register_id(parser, field->id, field->name);
	field->required = json_get_bool(json, "required");
	field->type = parse_type(parser, json_get(json, "type"));
	field->doc = json_find_string(json, "doc");
	if (field->doc != NULL)
		field->doc = lake_strdup(parser->arena, field->doc);
	field->initial_default = json_find(json, "initial-default");
	field->write_default = json_find(json, "write-default");
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void
check_names(LakeArena *arena, const LakeField *fields, int count)
{
	const char **names;

	if (count < 2)
		return;
	names = lake_alloc_array(arena, (size_t) count, sizeof(char *));
	for (int i = 0; i < count; i++)
		names[i] = fields[i].name;
	qsort(names, (size_t) count, sizeof(char *), compare_names);
	for (int i = 1; i < count; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "schema has two fields named \"%s\"", names[i]);
	lake_free(arena, names);
}

static void
parse_fields(TypeParser *parser, LakeJson *json, int *count,
			 LakeField **fields)
{
	LakeJson   *array = json_get(json, "fields");
	size_t		length = json_array_length(array, "fields of a struct");

	if (length > LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT, "schema has more than %d fields",
				   LAKE_MAX_SCHEMA_FIELDS);
	*count = (int) length;
	*fields = lake_alloc_array(parser->arena, length, sizeof(LakeField));
	for (size_t i = 0; i < length; i++)
		parse_struct_field(parser, json_array_at(array, i), &(*fields)[i]);
	check_names(parser->arena, *fields, *count);
}

/* one of the fields that lists and maps have instead of named ones */
static void
parse_nested_field(TypeParser *parser, LakeJson *json, LakeField *field,
				   const char *name, const char *id_key,
				   const char *required_key)
{
	field->name = name;
	field->id = json_get_int32(json, id_key);
	register_id(parser, field->id, name);
	/* keys are always required and have no member that says so */
	field->required = required_key == NULL ||
		json_get_bool(json, required_key);
	field->type = parse_type(parser, json_get(json, name));
}

static void
parse_nested(TypeParser *parser, LakeJson *json, LakeType *type)
{
	const char *name = json_get_string(json, "type");

	if (strcmp(name, "struct") == 0)
	{
		type->kind = LAKE_STRUCT;
		parse_fields(parser, json, &type->field_count, &type->fields);
	}
	else if (strcmp(name, "list") == 0)
	{
		type->kind = LAKE_LIST;
		type->field_count = 1;
		type->fields = lake_alloc_array(parser->arena, 1, sizeof(LakeField));
		parse_nested_field(parser, json, &type->fields[0], "element",
						   "element-id", "element-required");
	}
	else if (strcmp(name, "map") == 0)
	{
		type->kind = LAKE_MAP;
		type->field_count = 2;
		type->fields = lake_alloc_array(parser->arena, 2, sizeof(LakeField));
		parse_nested_field(parser, json, &type->fields[0], "key", "key-id",
						   NULL);
		parse_nested_field(parser, json, &type->fields[1], "value",
						   "value-id", "value-required");
	}
	else
		lake_throw(LAKE_ERROR_UNSUPPORTED, "nested type \"%s\" is not supported",
				   name);
}

static LakeType *
parse_type(TypeParser *parser, LakeJson *json)
{
	LakeType   *type = lake_alloc(parser->arena, sizeof(LakeType));

	if (++parser->depth > LAKE_MAX_TYPE_DEPTH)
		lake_throw(LAKE_ERROR_LIMIT, "types are nested more than %d deep",
				   LAKE_MAX_TYPE_DEPTH);
	if (json_kind(json) == JSON_STRING)
	{
		LakeBytes	text = json_string(json, "type");

		parse_primitive(lake_strndup(parser->arena, (const char *) text.data,
									 text.len), type);
	}
	else if (json_kind(json) == JSON_OBJECT)
		parse_nested(parser, json, type);
	else
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a type is neither a string nor an object");
	parser->depth--;
	return type;
}

static int
compare_ids(const void *a, const void *b)
{
	int32_t		x = *(const int32_t *) a;
	int32_t		y = *(const int32_t *) b;

	return (x > y) - (x < y);
}

static void
check_ids(TypeParser *parser)
{
	if (parser->field_count == 0)
		return;
	qsort(parser->ids, (size_t) parser->field_count, sizeof(int32_t),
		  compare_ids);
	for (int i = 1; i < parser->field_count; i++)
		if (parser->ids[i - 1] == parser->ids[i])
			lake_throw(LAKE_ERROR_CORRUPT,
					   "schema has two fields with the id %d",
					   (int) parser->ids[i]);
	lake_free(parser->arena, parser->ids);
}

LakeType *
lake_type_parse(LakeArena *arena, LakeJson *json)
{
	TypeParser	parser = {.arena = arena};
	LakeType   *type = parse_type(&parser, json);

	check_ids(&parser);
	return type;
}

static void
parse_identifiers(LakeArena *arena, LakeJson *json, LakeSchema *schema)
{
	LakeJson   *array = json_find(json, "identifier-field-ids");
	size_t		length;

	if (array == NULL)
		return;
	length = json_array_length(array, "identifier-field-ids");
	if (length > LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT, "schema has more than %d identifier fields",
				   LAKE_MAX_SCHEMA_FIELDS);
	schema->identifier_ids = lake_alloc_array(arena, length, sizeof(int32_t));
	for (size_t i = 0; i < length; i++)
	{
		int64_t		id = json_int64(json_array_at(array, i),
									"identifier-field-ids");

		if (id < 0 || id > INT32_MAX)
			lake_throw(LAKE_ERROR_CORRUPT, "identifier field id %lld is invalid",
					   (long long) id);
		schema->identifier_ids[i] = (int32_t) id;
	}
	schema->identifier_count = (int) length;
}

LakeSchema *
lake_schema_parse(LakeArena *arena, LakeJson *json)
{
	TypeParser	parser = {.arena = arena, .depth = 1};
	LakeSchema *schema = lake_alloc(arena, sizeof(LakeSchema));
	const char *kind = json_find_string(json, "type");

	if (kind != NULL && strcmp(kind, "struct") != 0)
		lake_throw(LAKE_ERROR_CORRUPT, "a schema is of type \"%s\"", kind);
	/* format version 1 may leave the id out: it has one schema only */
	if (!json_find_int32(json, "schema-id", &schema->id))
		schema->id = 0;
	parse_fields(&parser, json, &schema->field_count, &schema->fields);
	check_ids(&parser);
	parse_identifiers(arena, json, schema);
	return schema;
}

static void
append_type(LakeBuffer *buffer, const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_DECIMAL:
			buffer_printf(buffer, "decimal(%d,%d)", type->precision,
						  type->scale);
			return;
		case LAKE_FIXED:
			buffer_printf(buffer, "fixed[%d]", type->length);
			return;
		case LAKE_STRUCT:
			buffer_append_text(buffer, "struct<");
			break;
		case LAKE_LIST:
			buffer_append_text(buffer, "list<");
			break;
		case LAKE_MAP:
			buffer_append_text(buffer, "map<");
			break;
		default:
			for (size_t i = 0; i < PLAIN_TYPE_COUNT; i++)
				if (plain_types[i].kind == type->kind)
					buffer_append_text(buffer, plain_types[i].name);
			return;
	}
	for (int i = 0; i < type->field_count; i++)
	{
		if (i > 0)
			buffer_append_text(buffer, ", ");
		if (type->kind == LAKE_STRUCT)
			buffer_printf(buffer, "%s: ", type->fields[i].name);
		append_type(buffer, type->fields[i].type);
	}
	buffer_append_text(buffer, ">");
}

const char *
lake_type_text(LakeArena *arena, const LakeType *type)
{
	LakeBuffer	buffer;

	buffer_init(&buffer, arena);
	append_type(&buffer, type);
	buffer_append_byte(&buffer, '\0');
	return (const char *) buffer.data;
}

bool
lake_type_is_nested(const LakeType *type)
{
	return type->kind == LAKE_STRUCT || type->kind == LAKE_LIST ||
		type->kind == LAKE_MAP;
}

static const LakeField *
find_id(const LakeField *fields, int count, int32_t id)
{
	for (int i = 0; i < count; i++)
		if (fields[i].id == id)
			return &fields[i];
	for (int i = 0; i < count; i++)
	{
		const LakeType *type = fields[i].type;

		if (type->field_count > 0)
		{
			const LakeField *field = find_id(type->fields, type->field_count,
											 id);

			if (field != NULL)
				return field;
		}
	}
	return NULL;
}

const LakeField *
lake_schema_find_id(const LakeSchema *schema, int32_t id)
{
	return find_id(schema->fields, schema->field_count, id);
}

const LakeField *
lake_schema_find_name(const LakeSchema *schema, const char *name)
{
	for (int i = 0; i < schema->field_count; i++)
		if (strcmp(schema->fields[i].name, name) == 0)
			return &schema->fields[i];
	return NULL;
}

/* appends the path of id below fields; false and unchanged when absent */
static bool
append_path(LakeBuffer *buffer, const LakeField *fields, int count,
			int32_t id)
{
	size_t		start = buffer->len;

	for (int i = 0; i < count; i++)
	{
		if (start > 0)
			buffer_append_byte(buffer, '.');
		buffer_append_text(buffer, fields[i].name);
		if (fields[i].id == id ||
			append_path(buffer, fields[i].type->fields,
						fields[i].type->field_count, id))
			return true;
		buffer->len = start;
	}
	return false;
}

const char *
lake_schema_path(LakeArena *arena, const LakeSchema *schema, int32_t id)
{
	LakeBuffer	buffer;

	buffer_init(&buffer, arena);
	if (!append_path(&buffer, schema->fields, schema->field_count, id))
		return NULL;
	buffer_append_byte(&buffer, '\0');
	return (const char *) buffer.data;
}
