/*
 * The schema: from the footer's flat list of elements to normalised fields with
 * their levels.
 *
 * Lists and maps come in every shape that a writer ever chose
 * (LogicalTypes.md, "Backward-compatibility rules").  A group that is annotated
 * as list or map but has not the shape of one is a struct: the annotation is
 * ignored, since the values can be read all the same.  An annotation that does
 * not fit its physical type, however, makes the values' meaning unknown, and is
 * CORRUPT.
 */
#include "parquet/parquet_int.h"

#include <string.h>

typedef struct SchemaBuilder
{
	LakeArena  *arena;
	ParquetFile *file;
	const SchemaElement *elements;
	uint32_t	element_count;
	uint32_t	next;			/* the element to build from */
} SchemaBuilder;

/* where in the tree a field is built */
typedef struct Place
{
	const ParquetField *parent;
	uint16_t	defined;		/* levels of the surroundings */
	uint16_t	repeated;
	int			depth;
} Place;

static ParquetField *build_field(SchemaBuilder *builder, Place place);

static const SchemaElement *
peek_element(const SchemaBuilder *builder, uint32_t ahead)
{
	if (ahead >= builder->element_count - builder->next)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the schema announces more columns than it has");
	return &builder->elements[builder->next + ahead];
}

static ParquetNode *
create_node(SchemaBuilder *builder, const SchemaElement *element,
			const Place *place)
{
	ParquetNode *node = lake_alloc(builder->arena, sizeof *node);

	/* which bounds the levels too: a field adds two at most */
	if (place->depth > PARQUET_MAX_NESTING)
		lake_throw(LAKE_ERROR_LIMIT,
				   "column \"%s\" is nested more than %d levels deep",
				   element->name, PARQUET_MAX_NESTING);
	node->field.name = element->name;
	node->field.field_id = element->field_id;
	node->field.parent = place->parent;
	node->field.leaf = -1;
	node->defined = place->defined;
	node->repeated = place->repeated;
	node->first_leaf = builder->file->leaf_count;
	if (element->field_id >= 0)
		builder->file->has_field_ids = true;
	return node;
}

/* the surroundings of a node's children */
static Place
place_below(const ParquetNode *node, const Place *place)
{
	Place		below = *place;

	below.parent = &node->field;
	below.depth++;
	return below;
}

VectorLayout
parquet_layout(ParquetPhysical physical, int logical, int32_t precision)
{
	static const VectorLayout layouts[] = {
		VECTOR_BOOL, VECTOR_I32, VECTOR_I64, VECTOR_BYTES, VECTOR_F32,
		VECTOR_F64, VECTOR_BYTES, VECTOR_BYTES
	};

	if (logical == PARQUET_LOGICAL_FLOAT16)
		return VECTOR_F32;
	if (logical == PARQUET_LOGICAL_DECIMAL &&
		layouts[physical] == VECTOR_BYTES)
		return precision <= 18 ? VECTOR_I64 : VECTOR_I128;
	return layouts[physical];
}

static void
build_primitive(SchemaBuilder *builder, ParquetNode *node,
				const SchemaElement *element)
{
	ParquetField *field = &node->field;
	ParquetFile *file = builder->file;

	/* 0: parquet-dotnet omits it when there are only NULLs */
	if (element->type_length < 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has values of %d bytes", element->name,
				   element->type_length);
	parquet_element_check(element);
	field->shape = PARQUET_PRIMITIVE;
	field->physical = (ParquetPhysical) element->physical;
	field->type_length = element->type_length;
	field->precision = element->precision;
	field->scale = element->scale;
	field->unit = element->unit;
	field->utc = element->utc;
	field->bits = element->bits;
	field->is_signed = element->is_signed;
	field->layout = parquet_layout(field->physical, element->logical,
								   element->precision);
	field->leaf = file->leaf_count;
	file->leaves[file->leaf_count++] = node;
}

static void
build_children(SchemaBuilder *builder, ParquetNode *node, int count,
			   Place below)
{
	ParquetField **children;

	if (count > 0)
		(void) peek_element(builder, (uint32_t) count - 1);
	children = lake_alloc_array(builder->arena, (size_t) count,
								sizeof *children);
	for (int i = 0; i < count; i++)
		children[i] = build_field(builder, below);
	node->field.children = children;
	node->field.child_count = count;
}

/*
 * Is the repeated group itself the element of the list, rather than a layer
 * around it?  (LogicalTypes.md, "Lists", rules 2 to 4)
 */
static bool
is_element_group(const SchemaBuilder *builder, const SchemaElement *list,
				 const SchemaElement *repeated)
{
	size_t		len = strlen(list->name);

	return repeated->child_count != 1 ||
		peek_element(builder, 1)->repetition == REPETITION_REPEATED ||
		strcmp(repeated->name, "array") == 0 ||
		(strncmp(repeated->name, list->name, len) == 0 &&
		 strcmp(repeated->name + len, "_tuple") == 0);
}

static ParquetField *build_body(SchemaBuilder *builder, Place place,
								bool optional);

/* node is the list, and the repeated element is next */
static void
build_list(SchemaBuilder *builder, ParquetNode *node,
		   const SchemaElement *list, Place below)
{
	const SchemaElement *repeated = peek_element(builder, 0);
	ParquetField **children =
		lake_alloc(builder->arena, sizeof *children);

	below.defined++;
	below.repeated++;
	node->field.shape = PARQUET_LIST;
	node->field.layout = VECTOR_LIST;
	node->field.logical = PARQUET_LOGICAL_LIST;
	node->repeated = below.repeated;
	node->element = below.defined;
	if (repeated->physical >= 0 || list == NULL ||
		is_element_group(builder, list, repeated))
		children[0] = build_body(builder, below, false);
	else
	{
		builder->next++;
		children[0] = build_field(builder, below);
	}
	/* an unannotated list has its element's id for itself */
	if (list == NULL)
		children[0]->field_id = -1;
	node->field.children = children;
	node->field.child_count = 1;
}

/* node is the map, and its repeated group of key and value is next */
static void
build_map(SchemaBuilder *builder, ParquetNode *node, Place below)
{
	const SchemaElement *repeated = peek_element(builder, 0);

	below.defined++;
	below.repeated++;
	node->field.shape = PARQUET_MAP;
	node->field.layout = VECTOR_MAP;
	node->field.logical = PARQUET_LOGICAL_MAP;
	node->repeated = below.repeated;
	node->element = below.defined;
	builder->next++;
	build_children(builder, node, repeated->child_count, below);
}

static void
build_group(SchemaBuilder *builder, ParquetNode *node,
			const SchemaElement *element, Place below)
{
	const SchemaElement *child =
		element->child_count == 1 ? peek_element(builder, 0) : NULL;
	bool		wraps = child != NULL &&
		child->repetition == REPETITION_REPEATED;

	if (element->logical == PARQUET_LOGICAL_LIST && wraps)
		build_list(builder, node, element, below);
	else if ((element->logical == PARQUET_LOGICAL_MAP ||
			  element->logical == LOGICAL_MAP_KEY_VALUE) && wraps &&
			 (child->child_count == 1 || child->child_count == 2))
		build_map(builder, node, below);
	else
	{
		node->field.shape = PARQUET_STRUCT;
		node->field.layout = VECTOR_STRUCT;
		node->field.logical = element->logical == PARQUET_LOGICAL_VARIANT ?
			PARQUET_LOGICAL_VARIANT : PARQUET_LOGICAL_NONE;
		build_children(builder, node, element->child_count, below);
	}
}

/* the next element as a field, whatever repetition it has */
static ParquetField *
build_body(SchemaBuilder *builder, Place place, bool optional)
{
	const SchemaElement *element = peek_element(builder, 0);
	ParquetNode *node;
	Place		below;

	if (element->physical >= 0 && element->child_count > 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has both a type and children",
				   element->name);
	builder->next++;
	if (optional)
		place.defined++;
	node = create_node(builder, element, &place);
	node->field.optional = optional;
	below = place_below(node, &place);
	if (element->physical >= 0)
	{
		/* what annotates groups says nothing of a primitive */
		if (element->logical <= PARQUET_LOGICAL_GEOGRAPHY)
			node->field.logical = (ParquetLogical) element->logical;
		build_primitive(builder, node, element);
	}
	else
		build_group(builder, node, element, below);
	node->leaf_count = builder->file->leaf_count - node->first_leaf;
	return &node->field;
}

/* a repeated field that no annotation explains: a list that is never NULL */
static ParquetField *
build_repeated(SchemaBuilder *builder, Place place)
{
	const SchemaElement *element = peek_element(builder, 0);
	ParquetNode *node = create_node(builder, element, &place);

	build_list(builder, node, NULL, place_below(node, &place));
	node->leaf_count = builder->file->leaf_count - node->first_leaf;
	return &node->field;
}

static ParquetField *
build_field(SchemaBuilder *builder, Place place)
{
	const SchemaElement *element = peek_element(builder, 0);

	if (element->repetition == REPETITION_REPEATED)
		return build_repeated(builder, place);
	return build_body(builder, place,
					  element->repetition == REPETITION_OPTIONAL);
}

void
parquet_schema_read(LakeArena *arena, ByteCursor *cursor,
					const ThriftField *field, ParquetFile *file)
{
	SchemaBuilder builder = {0};
	SchemaElement *elements;
	ThriftField item;
	uint32_t	count = thrift_list(cursor, field, &item);
	Place		top = {0};

	if (count > PARQUET_MAX_SCHEMA_NODES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the schema has %u elements, more than %d", count,
				   PARQUET_MAX_SCHEMA_NODES);
	if (count == 0)
		lake_throw(LAKE_ERROR_CORRUPT, "the schema is empty");
	thrift_struct(cursor, &item);
	elements = lake_alloc_array(arena, count, sizeof *elements);
	for (uint32_t i = 0; i < count; i++)
		parquet_element_read(arena, cursor, &elements[i]);

	builder.arena = arena;
	builder.file = file;
	builder.elements = elements;
	builder.element_count = count;
	builder.next = 1;
	file->leaves = lake_alloc_array(arena, count, sizeof *file->leaves);

	/*
	 * The root is the row: its own repetition (Impala) and type (segmentio's
	 * parquet-go) mean nothing.
	 */
	if ((uint32_t) elements[0].child_count >= count)
		lake_throw(LAKE_ERROR_CORRUPT, "the schema has no valid root");
	file->field_count = elements[0].child_count;
	file->fields = lake_alloc_array(arena, (size_t) file->field_count,
									sizeof *file->fields);
	for (int i = 0; i < file->field_count; i++)
		file->fields[i] = build_field(&builder, top);
	if (builder.next != count)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the schema has %u elements outside of its tree",
				   count - builder.next);
	lake_free(arena, elements);
}
