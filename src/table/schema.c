/*
 * Resolution of an old file's fields against the schema a query wants.
 *
 * Ids decide.  A file without any gets them from the name mapping, applied by
 * the file's own structure, or, without a mapping, by position at top level as
 * the Java library does; names then match below it.  Elements, keys and values
 * need no ids: there is only one of each.
 *
 * Iceberg spec, "Column Projection", "Default values".
 */
#include "table/table_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/cache.h"

static const LakeType variant_part_type = {.kind = LAKE_BINARY};

static const LakeField variant_parts[] =
{
	{.id = -1, .name = "metadata", .type = &variant_part_type},
	{.id = -1, .name = "value", .type = &variant_part_type},
	{.id = -1, .name = "typed_value", .type = &variant_part_type},
};

#define VARIANT_PARTS		3
#define VARIANT_TYPED_VALUE 2	/* there only when shredded */

/* data files of other formats by their first bytes */
static const struct
{
	const char *magic;
	const char *name;
}			other_formats[] =

{
	{"ORC", "ORC"},
	{"Obj\1", "Avro"},
};

static void
refuse_other_formats(LakeFile *file, const char *what)
{
	char		head[4];

	if (file->size < sizeof head)
		return;
	lake_file_read(file, 0, sizeof head, head);
	for (size_t i = 0; i < sizeof other_formats / sizeof other_formats[0]; i++)
		if (memcmp(head, other_formats[i].magic,
				   strlen(other_formats[i].magic)) == 0)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "%s \"%s\" is in %s format, which is not supported",
					   what, file->location, other_formats[i].name);
}

static int
compare_ids(const void *a, const void *b)
{
	const FileFieldId *x = a;
	const FileFieldId *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

/* the id of a field below a level of the mapping; -1 when it has none */
static int32_t
field_id(FileIds ids, const NameMapping *level, const ParquetField *field)
{
	const MappedName *name;

	if (ids == FILE_IDS_STORED)
		return field->field_id;
	name = level == NULL ? NULL : name_mapping_find(level, field->name);
	return name == NULL ? -1 : name->field_id;
}

static void
index_fields(FileSchema *schema, LakeArena *arena)
{
	schema->index = lake_alloc_array(arena, (size_t) schema->field_count,
									 sizeof(FileFieldId));
	for (int i = 0; i < schema->field_count; i++)
	{
		int32_t		id = schema->ids == FILE_IDS_POSITION ? i + 1 :
			field_id(schema->ids, schema->mapping, schema->fields[i]);

		if (id < 0)
			continue;
		schema->index[schema->index_count].id = id;
		schema->index[schema->index_count].position = i;
		schema->index_count++;
	}
	if (schema->index_count > 0)
		qsort(schema->index, (size_t) schema->index_count,
			  sizeof(FileFieldId), compare_ids);
}

/*
 * The footer as it was parsed for another handle of the same file: by path and
 * version, so that one which took its place since it was opened is not meant.
 * What it saves is not counted among the store's cache_hits, as the file is
 * read in any case.
 */
static ParquetFile *
recall_parquet(LakeArena *arena, LakeStore *store, LakeFile *file,
			   const char *path, const char *what)
{
	static const char kind[] = "Parquet footer";
	LakeFileStatus status;
	LakeArena  *entry;
	ParquetFile *parsed;

	lake_file_inspect(store, arena, path, what, &status);
	parsed = cache_find(store->cache, arena, kind, status.path, file->version);
	if (parsed == NULL)
	{
		refuse_other_formats(file, what);
		entry = lake_arena_create(arena, kind);
		parsed = parquet_file_open(entry, file);
		cache_add(store->cache, arena, kind, status.path, file->version, entry,
				  parsed);
	}
	return parquet_file_attach(arena, parsed, file);
}

FileSchema *
file_schema_open(LakeArena *arena, LakeStore *store, const char *path,
				 const char *what, const NameMapping *mapping, bool keep)
{
	FileSchema *schema = lake_alloc(arena, sizeof(FileSchema));

	schema->what = what;
	schema->file = lake_file_open(store, arena, path, what);
	if (keep && store->cache != NULL)
		schema->parquet = recall_parquet(arena, store, schema->file, path,
										 what);
	else
	{
		refuse_other_formats(schema->file, what);
		schema->parquet = parquet_file_open(arena, schema->file);
	}
	schema->field_count = parquet_file_fields(schema->parquet,
											  &schema->fields);
	if (parquet_file_has_field_ids(schema->parquet))
		schema->ids = FILE_IDS_STORED;
	else if (mapping != NULL)
	{
		schema->ids = FILE_IDS_MAPPED;
		schema->mapping = mapping;
	}
	else
		schema->ids = FILE_IDS_POSITION;
	index_fields(schema, arena);
	return schema;
}

/* the first of the fields with the id, as its position; -1 when absent */
static int
find_top_level(const FileSchema *schema, int32_t id)
{
	int			low = 0;
	int			high = schema->index_count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (schema->index[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == schema->index_count || schema->index[low].id != id)
		return -1;
	return schema->index[low].position;
}

static ParquetShape
wanted_shape(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_STRUCT:
		case LAKE_VARIANT:
			return PARQUET_STRUCT;
		case LAKE_LIST:
			return PARQUET_LIST;
		case LAKE_MAP:
			return PARQUET_MAP;
		default:
			return PARQUET_PRIMITIVE;
	}
}

static int
find_child(const FileSchema *schema, bool by_name, const NameMapping *level,
		   const ParquetField *parent, const LakeField *wanted)
{
	for (int i = 0; i < parent->child_count; i++)
	{
		const ParquetField *child = parent->children[i];

		if (by_name ? strcmp(child->name, wanted->name) == 0 :
			field_id(schema->ids, level, child) == wanted->id)
			return i;
	}
	return -1;
}

/*
 * Hive's migration numbers the fields of the mapping in another order than
 * those of the schema as soon as there are nested ones.  A mapping that would
 * read a list out of a string is not one of this schema: names decide then.
 */
static bool
names_decide(const FileSchema *schema, const NameMapping *level,
			 const ParquetField *source, const LakeType *type)
{
	if (schema->ids != FILE_IDS_MAPPED)
		return schema->ids == FILE_IDS_POSITION;
	for (int i = 0; i < type->field_count; i++)
	{
		int			position = find_child(schema, false, level, source,
										  &type->fields[i]);

		if (position >= 0 && source->children[position]->shape !=
			wanted_shape(type->fields[i].type))
			return true;
	}
	return false;
}

static const NameMapping *
level_below(const NameMapping *level, const char *name)
{
	const MappedName *found = level == NULL ? NULL :
		name_mapping_find(level, name);

	return found == NULL ? NULL : found->children;
}

static void
allocate_children(ColumnMap *map, LakeArena *arena, int count)
{
	map->child_count = count;
	map->children = lake_alloc_array(arena, (size_t) count, sizeof(ColumnMap));
}

/* NULL in every row; nested vectors need their children all the same */
static void
map_null(ColumnMap *map, LakeArena *arena, const LakeField *field)
{
	bool		is_variant = field->type->kind == LAKE_VARIANT;
	const LakeField *fields = is_variant ? variant_parts : field->type->fields;

	memset(map, 0, sizeof *map);
	map->field = field;
	map->position = -1;
	map->is_null = true;
	map->constant.is_null = true;
	allocate_children(map, arena,
					  is_variant ? VARIANT_TYPED_VALUE :
					  field->type->field_count);
	for (int i = 0; i < map->child_count; i++)
		map_null(&map->children[i], arena, &fields[i]);
}

void
column_map_constant(ColumnMap *map, const LakeField *field,
					const LakeValue *value)
{
	memset(map, 0, sizeof *map);
	map->field = field;
	map->position = -1;
	map->is_null = value->is_null;
	map->constant = *value;
}

/* the default "{}": the struct is there, made of its children's defaults */
static void
map_default_struct(ColumnMap *map, LakeArena *arena, const LakeField *field)
{
	memset(map, 0, sizeof *map);
	map->field = field;
	map->position = -1;
	allocate_children(map, arena, field->type->field_count);
	for (int i = 0; i < map->child_count; i++)
		column_map_absent(&map->children[i], arena, &field->type->fields[i]);
}

void
column_map_absent(ColumnMap *map, LakeArena *arena, const LakeField *field)
{
	LakeValue	value;

	if (field->initial_default == NULL)
	{
		if (field->required)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "missing required field \"%s\" (id %d)", field->name,
					   (int) field->id);
		map_null(map, arena, field);
	}
	else if (field->type->kind == LAKE_STRUCT)
		map_default_struct(map, arena, field);
	else if (lake_type_is_nested(field->type))
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "initial default of field \"%s\" of type %s is not supported",
				   field->name, lake_type_text(arena, field->type));
	else
	{
		lake_value_from_json(arena, field->type, field->initial_default,
							 &value);
		column_map_constant(map, field, &value);
	}
}

static void map_field(ColumnMap *map, LakeArena *arena,
					  const FileSchema *schema, const NameMapping *level,
					  const ParquetField *source, const LakeField *field);

static void
map_struct(ColumnMap *map, LakeArena *arena, const FileSchema *schema,
		   const NameMapping *level)
{
	const LakeType *type = map->field->type;
	bool		by_name = names_decide(schema, level, map->source, type);

	allocate_children(map, arena, type->field_count);
	for (int i = 0; i < type->field_count; i++)
	{
		const LakeField *field = &type->fields[i];
		int			position = find_child(schema, by_name, level, map->source,
										  field);

		if (position < 0)
		{
			column_map_absent(&map->children[i], arena, field);
			continue;
		}
		map_field(&map->children[i], arena, schema,
				  level_below(level, map->source->children[position]->name),
				  map->source->children[position], field);
		map->children[i].position = position;
	}
}

/* lists and maps: elements, keys and values by their roles */
static void
map_repeated(ColumnMap *map, LakeArena *arena, const FileSchema *schema,
			 const NameMapping *level)
{
	const LakeType *type = map->field->type;

	allocate_children(map, arena, type->field_count);
	for (int i = 0; i < type->field_count; i++)
	{
		const LakeField *field = &type->fields[i];

		if (i >= map->source->child_count)
		{
			map_null(&map->children[i], arena, field);
			continue;
		}
		map_field(&map->children[i], arena, schema,
				  level_below(level, field->name), map->source->children[i],
				  field);
		map->children[i].position = i;
	}
}

/*
 * What a writer shredded is handed on as it is: its type is the row's own, and
 * whoever shows the variant has to see at least that there is something.
 */
static void
map_variant(ColumnMap *map, LakeArena *arena)
{
	const ParquetField *source = map->source;

	allocate_children(map, arena, VARIANT_PARTS);
	for (int i = 0; i < VARIANT_PARTS; i++)
		map_null(&map->children[i], arena, &variant_parts[i]);
	for (int i = 0; i < source->child_count; i++)
	{
		for (int j = 0; j < VARIANT_PARTS; j++)
		{
			if (strcmp(source->children[i]->name, variant_parts[j].name) != 0)
				continue;
			map->children[j].source = source->children[i];
			map->children[j].is_null = false;
			map->children[j].is_raw = j == VARIANT_TYPED_VALUE;
			map->children[j].position = i;
		}
	}
	if (map->children[VARIANT_TYPED_VALUE].source == NULL)
		map->child_count = VARIANT_TYPED_VALUE;
	if (map->children[0].source == NULL ||
		(map->children[1].source == NULL &&
		 map->child_count == VARIANT_TYPED_VALUE))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "variant column \"%s\" lacks metadata or value",
				   map->field->name);
}

/* the recursion is as deep as the wanted type, which LAKE_MAX_TYPE_DEPTH bounds */
static void
map_field(ColumnMap *map, LakeArena *arena, const FileSchema *schema,
		  const NameMapping *level, const ParquetField *source,
		  const LakeField *field)
{
	static const char *const shape_names[] = {
		[PARQUET_PRIMITIVE] = "a primitive",
		[PARQUET_STRUCT] = "a struct",
		[PARQUET_LIST] = "a list",
		[PARQUET_MAP] = "a map",
	};

	if (field->type->kind == LAKE_UNKNOWN ||
		(source->shape == PARQUET_PRIMITIVE &&
		 source->logical == PARQUET_LOGICAL_UNKNOWN))
	{
		map_null(map, arena, field);
		return;
	}
	if (source->shape != wanted_shape(field->type))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" is %s in the file and cannot be read as %s",
				   field->name, shape_names[source->shape],
				   lake_type_text(arena, field->type));
	memset(map, 0, sizeof *map);
	map->field = field;
	map->source = source;
	map->position = -1;
	if (field->type->kind == LAKE_STRUCT)
		map_struct(map, arena, schema, level);
	else if (field->type->kind == LAKE_VARIANT)
		map_variant(map, arena);
	else if (lake_type_is_nested(field->type))
		map_repeated(map, arena, schema, level);
}

bool
column_map_resolve(ColumnMap *map, LakeArena *arena, const FileSchema *schema,
				   const LakeField *field)
{
	int			position = find_top_level(schema, field->id);
	const ParquetField *source;

	if (position < 0)
		return false;
	source = schema->fields[position];
	map_field(map, arena, schema, level_below(schema->mapping, source->name),
			  source, field);
	map->position = position;
	return true;
}
