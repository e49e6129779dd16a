/*
 * schema.name-mapping.default: field ids for files that carry none.
 *
 * Each level is a list of names sorted for lookup; one field may have several
 * names, one name means one field.  A name without an id is known and ignored.
 *
 * Iceberg spec, "Column Projection", "Name Mapping Serialization".
 */
#include "table/table_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct MappingParser
{
	LakeArena  *arena;
	size_t		name_count;		/* names seen so far, at any level */
} MappingParser;

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const MappedName *) a)->name,
				  ((const MappedName *) b)->name);
}

static size_t
count_names(MappingParser *parser, LakeJson *array, size_t length)
{
	size_t		count = 0;

	for (size_t i = 0; i < length; i++)
		count += json_array_length(json_get(json_array_at(array, i), "names"),
								   "names of a name mapping");
	parser->name_count += count;
	if (parser->name_count > LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT, "name mapping has more than %d names",
				   LAKE_MAX_SCHEMA_FIELDS);
	return count;
}

static void
check_unique(const NameMapping *mapping)
{
	for (int i = 1; i < mapping->count; i++)
		if (strcmp(mapping->names[i - 1].name, mapping->names[i].name) == 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "name mapping has the name \"%s\" twice",
					   mapping->names[i].name);
}

/* array NULL: a level without names.  JSON_MAX_DEPTH bounds the recursion. */
static NameMapping *
parse_level(MappingParser *parser, LakeJson *array)
{
	NameMapping *mapping = lake_alloc(parser->arena, sizeof(NameMapping));
	size_t		length = array == NULL ? 0 :
		json_array_length(array, "name mapping");
	MappedName *next;

	if (length == 0)
		return mapping;
	mapping->count = (int) count_names(parser, array, length);
	mapping->names = next = lake_alloc_array(parser->arena,
											 (size_t) mapping->count,
											 sizeof(MappedName));
	for (size_t i = 0; i < length; i++)
	{
		LakeJson   *field = json_array_at(array, i);
		LakeJson   *names = json_get(field, "names");
		NameMapping *children = parse_level(parser,
											json_find(field, "fields"));
		int32_t		id;

		if (!json_find_int32(field, "field-id", &id))
			id = -1;
		for (size_t j = 0; j < json_array_length(names, "names"); j++)
		{
			LakeBytes	name = json_string(json_array_at(names, j), "name");

			next->name = lake_strndup(parser->arena,
									  (const char *) name.data, name.len);
			next->field_id = id;
			next->children = children;
			next++;
		}
	}
	if (mapping->count > 0)
		qsort(mapping->names, (size_t) mapping->count, sizeof(MappedName),
			  compare_names);
	check_unique(mapping);
	return mapping;
}

NameMapping *
name_mapping_parse(LakeArena *arena, LakeBytes json)
{
	MappingParser parser = {.arena = arena};
	LakeArena  *tree = lake_arena_create(arena, "JSON of a name mapping");
	LakeJson   *array = json_parse(tree, json, "name mapping");
	NameMapping *mapping;

	if (array == NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "name mapping is null");
	mapping = parse_level(&parser, array);
	lake_arena_destroy(tree);
	return mapping;
}

const MappedName *
name_mapping_find(const NameMapping *mapping, const char *name)
{
	MappedName	key = {.name = name};

	if (mapping->count == 0)
		return NULL;
	return bsearch(&key, mapping->names, (size_t) mapping->count,
				   sizeof(MappedName), compare_names);
}
