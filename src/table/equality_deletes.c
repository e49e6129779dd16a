/*
 * Equality delete files: keys out of the files, and which columns they are of.
 *
 * A key column is found by its id in the read schema, or in the newest schema
 * that has it, since columns dropped later still decide about rows deleted
 * before.  A key inside of a struct is read through a copy of the top-level
 * field that has nothing but the way to the key.
 *
 * Iceberg spec, "Equality Delete Files".
 */
#include "table/deletes.h"

#include <stdlib.h>
#include <string.h>

#include "table/table_int.h"

static bool
prune_to_key(LakeArena *arena, const LakeField *field, int32_t id,
			 LakeField *pruned, int *depth)
{
	const LakeType *type = field->type;
	LakeType   *shortened;
	LakeField  *child;

	*pruned = *field;
	if (field->id == id)
	{
		if (vector_layout_width(lake_type_layout(type)) == 0)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "equality delete on field \"%s\" of type %s is not supported",
					   field->name, lake_type_text(arena, type));
		return true;
	}
	if (type->kind != LAKE_STRUCT)
		return false;
	child = lake_alloc(arena, sizeof(LakeField));
	for (int i = 0; i < type->field_count; i++)
	{
		if (!prune_to_key(arena, &type->fields[i], id, child, depth))
			continue;
		shortened = lake_alloc(arena, sizeof(LakeType));
		*shortened = *type;
		shortened->field_count = 1;
		shortened->fields = child;
		pruned->type = shortened;
		(*depth)++;
		return true;
	}
	return false;
}

static bool
find_key_part(LakeArena *arena, const LakeSchema *schema, int32_t id,
			  KeyPart *part)
{
	LakeField  *pruned = lake_alloc(arena, sizeof(LakeField));

	part->field_id = id;
	part->depth = 0;
	part->column = pruned;
	for (int i = 0; i < schema->field_count; i++)
		if (prune_to_key(arena, &schema->fields[i], id, pruned, &part->depth))
			return true;
	return false;
}

/* the newest schema that has a dropped column knows its last type */
static void
resolve_key_part(LakeArena *arena, const TaskReaderOptions *options,
				 int32_t id, KeyPart *part)
{
	if (find_key_part(arena, options->schema, id, part))
		return;
	for (int i = options->schema_count - 1; i >= 0; i--)
		if (find_key_part(arena, options->schemas[i], id, part))
			return;
	lake_throw(LAKE_ERROR_CORRUPT,
			   "equality delete on field id %d, which is in no schema",
			   (int) id);
}

static int
compare_ids(const void *a, const void *b)
{
	int32_t		x = *(const int32_t *) a;
	int32_t		y = *(const int32_t *) b;

	return (x > y) - (x < y);
}

int
key_group_ids(LakeArena *arena, const DeleteFile *deletes, int32_t **ids)
{
	int			count = deletes->equality_count;
	int			kept = 1;

	if (count < 1)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "equality delete file \"%s\" has no field ids",
				   deletes->path);
	if (count > DELETES_MAX_KEY_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "equality delete file \"%s\" has more than %d field ids",
				   deletes->path, DELETES_MAX_KEY_FIELDS);
	*ids = lake_alloc_array(arena, (size_t) count, sizeof(int32_t));
	memcpy(*ids, deletes->equality_ids, (size_t) count * sizeof(int32_t));
	qsort(*ids, (size_t) count, sizeof(int32_t), compare_ids);
	for (int i = 1; i < count; i++)
		if ((*ids)[i] != (*ids)[kept - 1])
			(*ids)[kept++] = (*ids)[i];
	return kept;
}

KeyGroup *
key_group_create(LakeArena *arena, const TaskReaderOptions *options,
				 const int32_t *ids, int count)
{
	KeyGroup   *group = lake_alloc(arena, sizeof(KeyGroup));

	group->part_count = count;
	group->parts = lake_alloc_array(arena, (size_t) count, sizeof(KeyPart));
	for (int i = 0; i < count; i++)
		resolve_key_part(arena, options, ids[i], &group->parts[i]);
	group->keys = delete_keys_create(arena, count);
	group->files = key_set_create(arena);
	return group;
}

bool
key_group_has_ids(const KeyGroup *group, const int32_t *ids, int count)
{
	if (group->part_count != count)
		return false;
	for (int i = 0; i < count; i++)
		if (group->parts[i].field_id != ids[i])
			return false;
	return true;
}

void
key_part_vector(const KeyPart *part, const LakeVector *column, uint8_t *nulls,
				LakeVector *result)
{
	if (part->depth == 0)
	{
		*result = *column;
		return;
	}
	memset(nulls, 0, column->count);
	for (int depth = 0; depth <= part->depth; depth++)
	{
		*result = *column;
		if (column->nulls != NULL)
			for (uint32_t i = 0; i < column->count; i++)
				nulls[i] |= column->nulls[i];
		if (depth < part->depth)
			column = column->children[0];
	}
	result->nulls = nulls;
}

typedef struct KeyCollector
{
	KeyGroup   *group;
	uint32_t	file;
	LakeVector *parts;
	uint8_t   **nulls;			/* BATCH_MAX_ROWS for each part */
} KeyCollector;

static void
collect_keys(void *arg, const LakeVector *const *columns, uint32_t count)
{
	KeyCollector *collector = arg;
	KeyGroup   *group = collector->group;

	for (int i = 0; i < group->part_count; i++)
		key_part_vector(&group->parts[i], columns[i], collector->nulls[i],
						&collector->parts[i]);
	delete_keys_add(group->keys, collector->file, collector->parts, count);
}

uint32_t
key_group_load(KeyGroup *group, LakeArena *arena,
			   const TaskReaderOptions *options, const char *path)
{
	LakeArena  *temporary = lake_arena_create(arena, "equality delete file");
	LakeBytes	key = {(const uint8_t *) path, strlen(path)};
	size_t		count = (size_t) group->part_count;
	DeleteScan	scan;
	KeyCollector collector;
	const LakeField **fields = lake_alloc_array(temporary, count,
												sizeof(LakeField *));

	collector.group = group;
	collector.file = key_set_count(group->files);
	collector.parts = lake_alloc_array(temporary, count, sizeof(LakeVector));
	collector.nulls = lake_alloc_array(temporary, count, sizeof(uint8_t *));
	for (size_t i = 0; i < count; i++)
	{
		fields[i] = group->parts[i].column;
		if (group->parts[i].depth > 0)
			collector.nulls[i] = lake_alloc(temporary, BATCH_MAX_ROWS);
	}
	delete_scan_open(&scan, temporary, options, path, options->name_mapping);
	delete_scan_begin(&scan, fields, group->part_count);
	for (int i = 0; i < parquet_file_row_groups(scan.schema->parquet); i++)
		delete_scan_row_group(&scan, i, collect_keys, &collector);
	lake_arena_destroy(temporary);
	/* last, so that a file is known only when all of its keys are */
	return key_set_add(group->files, key);
}
