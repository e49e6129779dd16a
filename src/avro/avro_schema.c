/*
 * Writers' schemas: JSON into a tree of nodes.
 *
 * Avro specification, "Schema Declaration" and "Names".  Logical types,
 * aliases, defaults and docs say nothing about the bytes and are passed over.
 * A type that contains itself is refused: nothing that Iceberg writes does.
 */
#include "avro/avro_int.h"

#include <string.h>

#include "base/json.h"

/* saturates sums of sizes, far beyond any block */
#define HUGE_SIZE	((uint64_t) 1 << 40)

/* a named type's definition, built anew for each reference */
typedef struct Definition
{
	struct Definition *next;
	const char *full_name;
	const char *name_space;		/* in which its own names are resolved */
	LakeJson   *json;
	bool		open;			/* being built: a reference is recursion */
} Definition;

typedef struct SchemaParser
{
	LakeArena  *arena;
	Definition *definitions;	/* newest first */
	int			node_count;
	int			depth;
} SchemaParser;

static const char *const type_names[] = {
	[AVRO_TYPE_NULL] = "null",
	[AVRO_TYPE_BOOLEAN] = "boolean",
	[AVRO_TYPE_INT] = "int",
	[AVRO_TYPE_LONG] = "long",
	[AVRO_TYPE_FLOAT] = "float",
	[AVRO_TYPE_DOUBLE] = "double",
	[AVRO_TYPE_BYTES] = "bytes",
	[AVRO_TYPE_STRING] = "string",
	[AVRO_TYPE_ENUM] = "enum",
	[AVRO_TYPE_FIXED] = "fixed",
	[AVRO_TYPE_RECORD] = "record",
	[AVRO_TYPE_ARRAY] = "array",
	[AVRO_TYPE_MAP] = "map",
	[AVRO_TYPE_UNION] = "union",
};

#define TYPE_COUNT	(sizeof(type_names) / sizeof(type_names[0]))

/* the fewest bytes of a value; complex types work theirs out */
static const uint8_t min_sizes[TYPE_COUNT] = {
	[AVRO_TYPE_BOOLEAN] = 1,
	[AVRO_TYPE_INT] = 1,
	[AVRO_TYPE_LONG] = 1,
	[AVRO_TYPE_FLOAT] = 4,
	[AVRO_TYPE_DOUBLE] = 8,
	[AVRO_TYPE_BYTES] = 1,
	[AVRO_TYPE_STRING] = 1,
	[AVRO_TYPE_ENUM] = 1,
	[AVRO_TYPE_ARRAY] = 1,
	[AVRO_TYPE_MAP] = 1,
};

static AvroNode *parse_type(SchemaParser *parser, LakeJson *json,
							const char *name_space);

const char *
avro_type_name(AvroType type)
{
	return type_names[type];
}

static AvroNode *
create_node(SchemaParser *parser, AvroType type)
{
	AvroNode   *node;

	if (++parser->node_count > AVRO_MAX_NODES)
		lake_throw(LAKE_ERROR_LIMIT, "Avro schema has more than %d types",
				   AVRO_MAX_NODES);
	node = lake_alloc(parser->arena, sizeof *node);
	node->type = type;
	node->field_id = -1;
	node->slot = -1;
	node->min_size = min_sizes[type];
	return node;
}

static void
create_children(SchemaParser *parser, AvroNode *node, size_t count)
{
	if (count > AVRO_MAX_NODES)
		lake_throw(LAKE_ERROR_LIMIT, "Avro schema has more than %d types",
				   AVRO_MAX_NODES);
	node->children = lake_alloc_array(parser->arena, count,
									  sizeof(AvroNode *));
	node->child_count = (int) count;
}

static void
add_size(AvroNode *node, uint64_t size)
{
	node->min_size += size;
	if (node->min_size > HUGE_SIZE)
		node->min_size = HUGE_SIZE;
}

static const char *
full_name(SchemaParser *parser, const char *name, const char *name_space)
{
	if (strchr(name, '.') != NULL || name_space[0] == '\0')
		return name;
	return lake_printf(parser->arena, "%s.%s", name_space, name);
}

static Definition *
find_definition(SchemaParser *parser, const char *name)
{
	for (Definition *d = parser->definitions; d != NULL; d = d->next)
	{
		if (strcmp(d->full_name, name) == 0)
			return d;
	}
	return NULL;
}

/* the definition of json, entered when it is met for the first time */
static Definition *
enter_definition(SchemaParser *parser, LakeJson *json, const char *name_space)
{
	const char *name = json_get_string(json, "name");
	const char *own_space = json_find_string(json, "namespace");
	const char *dot = strrchr(name, '.');
	Definition *definition;

	for (definition = parser->definitions; definition != NULL;
		 definition = definition->next)
	{
		if (definition->json == json)
			return definition;
	}
	if (dot != NULL)
		name_space = lake_strndup(parser->arena, name, (size_t) (dot - name));
	else if (own_space != NULL)
		name_space = own_space;
	definition = lake_alloc(parser->arena, sizeof *definition);
	definition->full_name = full_name(parser, name, name_space);
	definition->name_space = name_space;
	definition->json = json;
	definition->next = parser->definitions;
	parser->definitions = definition;
	return definition;
}

static AvroNode *
parse_field(SchemaParser *parser, LakeJson *json, const char *name_space)
{
	AvroNode   *node = parse_type(parser, json_get(json, "type"), name_space);
	int32_t		field_id;

	node->name = json_get_string(json, "name");
	if (json_find_int32(json, "field-id", &field_id) && field_id >= 0)
		node->field_id = field_id;
	return node;
}

static AvroNode *
parse_record(SchemaParser *parser, LakeJson *json, const char *name_space)
{
	AvroNode   *node = create_node(parser, AVRO_TYPE_RECORD);
	LakeJson   *fields = json_get(json, "fields");

	create_children(parser, node,
					json_array_count(fields, "Avro record's fields"));
	for (int i = 0; i < node->child_count; i++)
	{
		AvroNode   *field = parse_field(parser,
										json_array_at(fields, (size_t) i),
										name_space);

		field->parent = node;
		node->children[i] = field;
		add_size(node, field->min_size);
	}
	return node;
}

static AvroNode *
parse_fixed(SchemaParser *parser, LakeJson *json)
{
	AvroNode   *node = create_node(parser, AVRO_TYPE_FIXED);
	int32_t		size = json_get_int32(json, "size");

	if (size < 0)
		lake_throw(LAKE_ERROR_CORRUPT, "Avro type fixed has size %d", size);
	node->fixed_size = (uint32_t) size;
	node->min_size = (uint32_t) size;
	return node;
}

/* builds a named type; marks it as open meanwhile */
static AvroNode *
build_named(SchemaParser *parser, Definition *definition)
{
	const char *type = json_get_string(definition->json, "type");
	AvroNode   *node;

	if (definition->open)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "Avro type \"%s\" contains itself, which is not supported",
				   definition->full_name);
	definition->open = true;
	if (strcmp(type, "fixed") == 0)
		node = parse_fixed(parser, definition->json);
	else if (strcmp(type, "enum") == 0)
		node = create_node(parser, AVRO_TYPE_ENUM);
	else
		node = parse_record(parser, definition->json, definition->name_space);
	definition->open = false;
	return node;
}

/* an array's items or a map's values */
static AvroNode *
parse_collection(SchemaParser *parser, AvroType type, LakeJson *item,
				 const char *name_space)
{
	AvroNode   *node = create_node(parser, type);

	create_children(parser, node, 1);
	node->children[0] = parse_type(parser, item, name_space);
	node->children[0]->parent = node;
	return node;
}

static AvroNode *
parse_union(SchemaParser *parser, LakeJson *json, const char *name_space)
{
	AvroNode   *node = create_node(parser, AVRO_TYPE_UNION);
	uint64_t	smallest = HUGE_SIZE;

	create_children(parser, node, json_array_count(json, "Avro union"));
	if (node->child_count == 0)
		lake_throw(LAKE_ERROR_CORRUPT, "Avro union has no branches");
	for (int i = 0; i < node->child_count; i++)
	{
		AvroNode   *branch = parse_type(parser, json_array_at(json, (size_t) i),
										name_space);

		if (branch->type == AVRO_TYPE_UNION)
			lake_throw(LAKE_ERROR_CORRUPT, "Avro union contains a union");
		branch->parent = node;
		node->children[i] = branch;
		if (branch->min_size < smallest)
			smallest = branch->min_size;
	}
	/* the branch's index takes a byte at least */
	add_size(node, smallest + 1);
	return node;
}

/* a primitive type or a reference to a named one */
static AvroNode *
parse_type_name(SchemaParser *parser, const char *name, const char *name_space)
{
	Definition *definition;

	for (size_t i = 0; i <= AVRO_TYPE_STRING; i++)
	{
		if (strcmp(name, type_names[i]) == 0)
			return create_node(parser, (AvroType) i);
	}
	definition = find_definition(parser, full_name(parser, name, name_space));
	if (definition == NULL)
		definition = find_definition(parser, name);
	if (definition == NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "Avro type \"%.100s\" is not defined",
				   name);
	return build_named(parser, definition);
}

static AvroNode *
parse_object(SchemaParser *parser, LakeJson *json, const char *name_space)
{
	LakeJson   *type = json_get(json, "type");
	const char *name;

	/* {"type": {"type": "array", ...}}: the inner one says it all */
	if (json_kind(type) != JSON_STRING)
		return parse_type(parser, type, name_space);
	name = json_get_string(json, "type");
	if (strcmp(name, "array") == 0)
		return parse_collection(parser, AVRO_TYPE_ARRAY,
								json_get(json, "items"), name_space);
	if (strcmp(name, "map") == 0)
		return parse_collection(parser, AVRO_TYPE_MAP,
								json_get(json, "values"), name_space);
	if (strcmp(name, "record") == 0 || strcmp(name, "error") == 0 ||
		strcmp(name, "fixed") == 0 || strcmp(name, "enum") == 0)
		return build_named(parser,
						   enter_definition(parser, json, name_space));
	return parse_type_name(parser, name, name_space);
}

static AvroNode *
parse_type(SchemaParser *parser, LakeJson *json, const char *name_space)
{
	AvroNode   *node;

	if (++parser->depth > AVRO_MAX_DEPTH)
		lake_throw(LAKE_ERROR_LIMIT,
				   "Avro schema is nested more than %d levels deep",
				   AVRO_MAX_DEPTH);
	lake_check_interrupts();
	switch (json_kind(json))
	{
		case JSON_STRING:
			node = parse_type_name(parser,
								   (const char *) json_string(json, "Avro type").data,
								   name_space);
			break;
		case JSON_ARRAY:
			node = parse_union(parser, json, name_space);
			break;
		case JSON_OBJECT:
			node = parse_object(parser, json, name_space);
			break;
		default:
			lake_throw(LAKE_ERROR_CORRUPT,
					   "Avro schema has a type that is no string, array or object");
	}
	parser->depth--;
	return node;
}

AvroNode *
avro_schema_parse(LakeArena *arena, LakeBytes text)
{
	SchemaParser parser = {arena, NULL, 0, 0};
	AvroNode   *top = parse_type(&parser,
								 json_parse(arena, text, "Avro schema"), "");

	if (top->type != AVRO_TYPE_RECORD)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "Avro files of type %s, not record, are not supported",
				   avro_type_name(top->type));
	return top;
}
