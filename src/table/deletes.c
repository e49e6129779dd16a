/*
 * Delete files of a task: loaded once a scan, shared by the tasks they apply
 * to.
 *
 * A position delete file says which rows of which data files are gone; paths
 * are compared without scheme and authority, because a writer may spell them
 * otherwise than the manifest does.  A deletion vector replaces all position
 * delete files of its data file.  Which files apply at all (sequence numbers,
 * partitions) is the planner's decision.
 *
 * Iceberg spec, "Delete Formats", "Scan Planning".
 */
#include "table/deletes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "table/table_int.h"

/* a deletion vector blob: length, magic, bitmap, CRC; 4 bytes each but one */
#define VECTOR_MAGIC			UINT32_C(0xd1d33964)	/* big-endian */
#define VECTOR_OVERHEAD			12
/* a row's share of a cached bitmap, which may be sparse: an estimate */
#define POSITION_BYTES			8

/* the positions in one delete file, by data file */
typedef struct PositionFile
{
	KeySet	   *paths;			/* comparable ones */
	uint32_t	capacity;
	LakeBitmap **bitmaps;		/* by number of path */
} PositionFile;

/* all equality delete files with the same field ids */
typedef struct KeyGroup
{
	int			part_count;
	KeyPart    *parts;			/* by ascending field id */
	DeleteKeys *keys;
	KeySet	   *files;			/* paths of the files that keys has */
} KeyGroup;

struct DeleteCache
{
	LakeArena  *parent;
	const TaskReaderOptions *options;
	LakeArena  *arena;			/* all that follows */
	uint64_t	position_bytes;
	KeySet	   *files;			/* paths of position delete files */
	uint32_t	file_capacity;
	PositionFile **position_files;
	int			group_count;
	KeyGroup  **groups;
};

static LakeType string_type = {.kind = LAKE_STRING};
static LakeType long_type = {.kind = LAKE_LONG};

static const LakeField path_field = {
	.id = LAKE_FIELD_DELETE_PATH, .name = "file_path", .required = true,
	.type = &string_type
};

static const LakeField position_field = {
	.id = LAKE_FIELD_DELETE_POS, .name = "pos", .required = true,
	.type = &long_type
};

static const NameMapping no_names;

/* for position delete files without field ids */
static MappedName position_names[] = {
	{"file_path", LAKE_FIELD_DELETE_PATH, &no_names},
	{"pos", LAKE_FIELD_DELETE_POS, &no_names},
};

static const NameMapping position_mapping = {
	.count = 2, .names = position_names
};

/* ---- deletion vectors ---- */

LakeBitmap *
deletes_read_vector(LakeArena *arena, LakeFile *file,
					const DeleteFile *deletes)
{
	int64_t		size = deletes->content_size;
	uint8_t    *blob;
	LakeBytes	bytes;
	LakeBitmap *bitmap;
	uint64_t	cardinality;

	if (size < VECTOR_OVERHEAD || deletes->content_offset < 0 ||
		(uint64_t) size > file->size ||
		(uint64_t) deletes->content_offset > file->size - (uint64_t) size)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "deletion vector at %lld of %lld bytes does not fit its file of %llu bytes",
				   (long long) deletes->content_offset, (long long) size,
				   (unsigned long long) file->size);
	if (size > DELETES_MAX_VECTOR_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "deletion vector has %lld bytes, more than %lld",
				   (long long) size, (long long) DELETES_MAX_VECTOR_BYTES);
	blob = lake_alloc_raw(arena, (size_t) size);
	lake_file_read(file, (uint64_t) deletes->content_offset, (size_t) size,
				   blob);
	bytes.data = blob + 8;
	bytes.len = (size_t) size - VECTOR_OVERHEAD;
	if (bits_load_u32be(blob) != bytes.len + 4)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "deletion vector says it has %u bytes instead of %zu",
				   bits_load_u32be(blob), bytes.len + 4);
	if (bits_load_u32be(blob + 4) != VECTOR_MAGIC)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "deletion vector does not start with its magic number");
	if (hash_crc32(0, blob + 4, bytes.len + 4) !=
		bits_load_u32be(bytes.data + bytes.len))
		lake_throw(LAKE_ERROR_CORRUPT, "deletion vector has a wrong checksum");
	bitmap = bitmap_parse64(arena, bytes);
	cardinality = bitmap_cardinality(bitmap);
	if (deletes->record_count < 0 ||
		cardinality != (uint64_t) deletes->record_count)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "deletion vector has %llu positions instead of %lld",
				   (unsigned long long) cardinality,
				   (long long) deletes->record_count);
	return bitmap;
}

/* ---- rows of a delete file ---- */

typedef struct DeleteScan
{
	LakeArena  *arena;			/* until the file's end */
	bool		truncate;		/* nanoseconds */
	FileSchema *schema;
	int			column_count;
	ColumnMap  *maps;
	VectorConverter **converters;
	ParquetReader *reader;
	const LakeVector **vectors; /* of the current rows */
} DeleteScan;

static void
scan_open(DeleteScan *scan, const DeleteCache *cache, LakeArena *arena,
		  const char *path, const NameMapping *mapping)
{
	scan->arena = arena;
	scan->truncate = cache->options->truncate_nanoseconds;
	scan->schema = file_schema_open(arena, cache->options->store, path,
									"delete file", mapping);
}

static void
scan_begin(DeleteScan *scan, const LakeField *const *fields, int count)
{
	const ParquetField **columns = lake_alloc_array(scan->arena,
													(size_t) count,
													sizeof(ParquetField *));

	scan->column_count = count;
	scan->maps = lake_alloc_array(scan->arena, (size_t) count,
								  sizeof(ColumnMap));
	scan->converters = lake_alloc_array(scan->arena, (size_t) count,
										sizeof(VectorConverter *));
	scan->vectors = lake_alloc_array(scan->arena, (size_t) count,
									 sizeof(LakeVector *));
	for (int i = 0; i < count; i++)
	{
		ColumnMap  *map = &scan->maps[i];

		if (!column_map_resolve(map, scan->arena, scan->schema, fields[i]))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "delete file lacks the field \"%s\" (id %d)",
					   fields[i]->name, (int) fields[i]->id);
		columns[i] = scan->schema->fields[map->position];
		scan->converters[i] = vector_converter_create(scan->arena, map,
													  scan->truncate);
	}
	scan->reader = parquet_reader_create(scan->arena, scan->schema->parquet,
										 columns, count);
}

typedef void (*RowsFunction) (void *arg, const LakeVector *const *columns,
							  uint32_t count);

static void
scan_row_group(DeleteScan *scan, int row_group, RowsFunction take, void *arg)
{
	int64_t		left = parquet_row_group_rows(scan->schema->parquet,
											  row_group);

	parquet_reader_begin(scan->reader, row_group);
	while (left > 0)
	{
		uint32_t	count = left < BATCH_MAX_ROWS ? (uint32_t) left :
			BATCH_MAX_ROWS;

		lake_check_interrupts();
		for (int i = 0; i < scan->column_count; i++)
			scan->vectors[i] =
				vector_converter_apply(scan->converters[i],
									   parquet_reader_read(scan->reader, i,
														   count),
									   count);
		take(arg, scan->vectors, count);
		left -= count;
	}
}

/* ---- position delete files ---- */

typedef struct PositionCollector
{
	DeleteScan	scan;
	LakeArena  *arena;			/* of the bitmaps */
	LakeArena  *scratch;		/* emptied for every batch */
	const char *only;			/* comparable path; NULL: all paths */
	LakeBitmap *bitmap;			/* of only */
	PositionFile *file;			/* of all paths */
	/* bitmaps of a dictionary's entries, NULL for those not wanted */
	bool		has_dictionary;
	uint64_t	dictionary;
	size_t		entry_capacity;
	LakeBitmap **entries;
} PositionCollector;

static LakeBitmap *
find_or_add_bitmap(PositionCollector *collector, const char *path)
{
	PositionFile *file = collector->file;
	uint32_t	known = key_set_count(file->paths);
	LakeBytes	key = {(const uint8_t *) path, strlen(path)};
	uint32_t	number = key_set_add(file->paths, key);

	if (number < known)
		return file->bitmaps[number];
	if (number == file->capacity)
	{
		uint32_t	capacity = number == 0 ? 16 : number * 2;

		file->bitmaps = lake_realloc(collector->arena, file->bitmaps,
									 number * sizeof(LakeBitmap *),
									 capacity * sizeof(LakeBitmap *));
		file->capacity = capacity;
	}
	file->bitmaps[number] = bitmap_create(collector->arena);
	return file->bitmaps[number];
}

/* where positions of a data file go, NULL when it is not asked for */
static LakeBitmap *
bitmap_of_path(PositionCollector *collector, const LakeBytes *text)
{
	const char *path;

	if (text->len > 0 && memchr(text->data, 0, text->len) != NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "position delete file has a path with a zero byte");
	path = lake_strndup(collector->scratch,
						text->len > 0 ? (const char *) text->data : "",
						text->len);
	path = location_comparable(collector->scratch, path);
	if (collector->only == NULL)
		return find_or_add_bitmap(collector, path);
	return strcmp(path, collector->only) == 0 ? collector->bitmap : NULL;
}

static void
map_dictionary(PositionCollector *collector, const LakeDictionary *dictionary)
{
	const LakeBytes *paths = dictionary->values;

	if (collector->has_dictionary && collector->dictionary == dictionary->id)
		return;
	collector->has_dictionary = false;
	if (collector->entry_capacity < dictionary->count)
	{
		collector->entries = lake_alloc_array(collector->scan.arena,
											  dictionary->count,
											  sizeof(LakeBitmap *));
		collector->entry_capacity = dictionary->count;
	}
	for (uint32_t i = 0; i < dictionary->count; i++)
		collector->entries[i] = bitmap_of_path(collector, &paths[i]);
	collector->dictionary = dictionary->id;
	collector->has_dictionary = true;
}

static bool
has_null(const LakeVector *vector, uint32_t count)
{
	return vector->nulls != NULL && memchr(vector->nulls, 1, count) != NULL;
}

static void
collect_positions(void *arg, const LakeVector *const *columns, uint32_t count)
{
	PositionCollector *collector = arg;
	const LakeVector *paths = columns[0];
	const LakeVector *positions = columns[1];
	const LakeBytes *last = NULL;
	LakeBitmap *bitmap = NULL;

	lake_arena_reset(collector->scratch);
	if (has_null(paths, count) || has_null(positions, count))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "position delete file has a NULL path or position");
	if (paths->dict != NULL)
		map_dictionary(collector, paths->dict);
	for (uint32_t i = 0; i < count; i++)
	{
		int64_t		position = *(const int64_t *) vector_value(positions, i);

		if (position < 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "position delete file has the negative position %lld",
					   (long long) position);
		if (paths->dict != NULL)
			bitmap = collector->entries[paths->codes[i]];
		else
		{
			const LakeBytes *path = (const LakeBytes *) paths->values + i;

			/* rows are sorted by path as a rule */
			if (last == NULL || last->len != path->len ||
				(path->len > 0 &&
				 memcmp(last->data, path->data, path->len) != 0))
				bitmap = bitmap_of_path(collector, path);
			last = path;
		}
		if (bitmap != NULL)
			bitmap_add(bitmap, (uint64_t) position);
	}
}

/*
 * Does a row group have positions of another data file only?  Its bounds are
 * believed when they name a single path: any two different paths may enclose
 * another spelling of the one that is looked for.
 */
static bool
is_of_another_file(PositionCollector *collector, int row_group)
{
	ParquetStatistics statistics;
	const LakeBytes *bounds;

	if (collector->only == NULL || collector->scan.maps[0].source == NULL)
		return false;
	lake_arena_reset(collector->scratch);
	parquet_statistics_get(collector->scan.schema->parquet,
						   collector->scratch, row_group,
						   collector->scan.maps[0].source, &statistics);
	if (!statistics.has_min || !statistics.has_max)
		return false;
	bounds = statistics.bounds.values;
	if (bounds[0].len != bounds[1].len || bounds[0].len == 0 ||
		memcmp(bounds[0].data, bounds[1].data, bounds[0].len) != 0)
		return false;
	return bitmap_of_path(collector, &bounds[0]) == NULL;
}

static void
collect_file(PositionCollector *collector)
{
	const LakeField *fields[] = {&path_field, &position_field};
	const ParquetFile *parquet = collector->scan.schema->parquet;

	scan_begin(&collector->scan, fields, 2);
	collector->scratch = lake_arena_create(collector->scan.arena,
										   "delete file paths");
	for (int i = 0; i < parquet_file_row_groups(parquet); i++)
		if (!is_of_another_file(collector, i))
			scan_row_group(&collector->scan, i, collect_positions, collector);
}

static void
remember_position_file(DeleteCache *cache, const char *path,
					   PositionFile *file, int64_t rows)
{
	LakeBytes	key = {(const uint8_t *) path, strlen(path)};
	uint32_t	number = key_set_count(cache->files);

	if (number == cache->file_capacity)
	{
		uint32_t	capacity = number == 0 ? 16 : number * 2;

		cache->position_files = lake_realloc(cache->arena,
											 cache->position_files,
											 number * sizeof(PositionFile *),
											 capacity *
											 sizeof(PositionFile *));
		cache->file_capacity = capacity;
	}
	cache->position_files[number] = file;
	cache->position_bytes += (uint64_t) rows * POSITION_BYTES;
	key_set_add(cache->files, key);
}

/*
 * Positions of one data file in one delete file, NULL when there are none.  A
 * file that is too large to be kept gives a bitmap in arena.
 */
static LakeBitmap *
load_positions(DeleteCache *cache, LakeArena *arena, const char *path,
			   const char *data_path)
{
	PositionCollector collector = {0};
	LakeArena  *temporary = lake_arena_create(arena, "position delete file");
	LakeBytes	key = {(const uint8_t *) data_path, strlen(data_path)};
	int64_t		rows;
	uint32_t	number;

	scan_open(&collector.scan, cache, temporary, path, &position_mapping);
	rows = parquet_file_rows(collector.scan.schema->parquet);
	if (rows > DELETES_CACHED_ROWS)
	{
		collector.arena = arena;
		collector.only = data_path;
		collector.bitmap = bitmap_create(arena);
		collect_file(&collector);
		lake_arena_destroy(temporary);
		return collector.bitmap;
	}
	collector.arena = cache->arena;
	collector.file = lake_alloc(cache->arena, sizeof(PositionFile));
	collector.file->paths = key_set_create(cache->arena);
	collect_file(&collector);
	remember_position_file(cache, path, collector.file, rows);
	lake_arena_destroy(temporary);
	number = key_set_find(collector.file->paths, key);
	return number == KEY_SET_NONE ? NULL : collector.file->bitmaps[number];
}

static LakeBitmap *
find_positions(DeleteCache *cache, LakeArena *arena, const char *path,
			   const char *data_path)
{
	LakeBytes	file_key = {(const uint8_t *) path, strlen(path)};
	LakeBytes	data_key = {(const uint8_t *) data_path, strlen(data_path)};
	uint32_t	number = key_set_find(cache->files, file_key);
	PositionFile *file;

	if (number == KEY_SET_NONE)
		return load_positions(cache, arena, path, data_path);
	file = cache->position_files[number];
	number = key_set_find(file->paths, data_key);
	return number == KEY_SET_NONE ? NULL : file->bitmaps[number];
}

/* ---- equality delete files ---- */

static bool
prune_to_key(LakeArena *arena, const LakeField *field, int32_t id,
			 LakeField *pruned, int *depth)
{
	const LakeType *type = field->type;
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
		pruned->type = lake_alloc(arena, sizeof(LakeType));
		*pruned->type = *type;
		pruned->type->field_count = 1;
		pruned->type->fields = child;
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
resolve_key_part(const DeleteCache *cache, int32_t id, KeyPart *part)
{
	const TaskReaderOptions *options = cache->options;

	if (find_key_part(cache->arena, options->schema, id, part))
		return;
	for (int i = options->schema_count - 1; i >= 0; i--)
		if (find_key_part(cache->arena, options->schemas[i], id, part))
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

/* the file's key ids in ascending order, each once */
static int
sorted_ids(LakeArena *arena, const DeleteFile *deletes, int32_t **ids)
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

static KeyGroup *
find_group(const DeleteCache *cache, const int32_t *ids, int count)
{
	for (int i = 0; i < cache->group_count; i++)
	{
		KeyGroup   *group = cache->groups[i];
		int			same = 0;

		if (group->part_count != count)
			continue;
		while (same < count && group->parts[same].field_id == ids[same])
			same++;
		if (same == count)
			return group;
	}
	return NULL;
}

static KeyGroup *
add_group(DeleteCache *cache, const int32_t *ids, int count)
{
	LakeArena  *arena = cache->arena;
	KeyGroup   *group = lake_alloc(arena, sizeof(KeyGroup));
	size_t		size = (size_t) cache->group_count * sizeof(KeyGroup *);

	group->part_count = count;
	group->parts = lake_alloc_array(arena, (size_t) count, sizeof(KeyPart));
	for (int i = 0; i < count; i++)
		resolve_key_part(cache, ids[i], &group->parts[i]);
	group->keys = delete_keys_create(arena, count);
	group->files = key_set_create(arena);
	cache->groups = lake_realloc(arena, cache->groups, size,
								 size + sizeof(KeyGroup *));
	cache->groups[cache->group_count++] = group;
	return group;
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

/* returns the file's number in the group */
static uint32_t
load_keys(DeleteCache *cache, LakeArena *arena, KeyGroup *group,
		  const char *path)
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
	scan_open(&scan, cache, temporary, path, cache->options->name_mapping);
	scan_begin(&scan, fields, group->part_count);
	for (int i = 0; i < parquet_file_row_groups(scan.schema->parquet); i++)
		scan_row_group(&scan, i, collect_keys, &collector);
	lake_arena_destroy(temporary);
	/* last, so that a file is known only when all of its keys are */
	return key_set_add(group->files, key);
}

/* ---- tasks ---- */

static void
cache_reset(DeleteCache *cache)
{
	if (cache->arena != NULL)
		lake_arena_destroy(cache->arena);
	cache->arena = lake_arena_create(cache->parent, "delete files");
	cache->position_bytes = 0;
	cache->files = key_set_create(cache->arena);
	cache->file_capacity = 0;
	cache->position_files = NULL;
	cache->group_count = 0;
	cache->groups = NULL;
}

DeleteCache *
delete_cache_create(LakeArena *arena, const TaskReaderOptions *options)
{
	DeleteCache *cache = lake_alloc(arena, sizeof(DeleteCache));

	cache->parent = arena;
	cache->options = options;
	cache_reset(cache);
	return cache;
}

static uint64_t
cache_size(const DeleteCache *cache)
{
	uint64_t	size = cache->position_bytes;

	for (int i = 0; i < cache->group_count; i++)
		size += delete_keys_size(cache->groups[i]->keys);
	return size;
}

static const DeleteFile *
find_vector(const ScanTask *task)
{
	const DeleteFile *found = NULL;

	for (int i = 0; i < task->delete_count; i++)
	{
		if (task->deletes[i]->kind != DELETE_VECTOR)
			continue;
		if (found != NULL)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "data file \"%s\" has two deletion vectors", task->path);
		found = task->deletes[i];
	}
	return found;
}

static const LakeBitmap *
load_vector(DeleteCache *cache, LakeArena *arena, const DeleteFile *deletes)
{
	LakeFrame	frame;
	LakeFile   *file;
	LakeBitmap *bitmap;

	lake_frame_push(&frame, "reading deletion vector", deletes->path);
	file = lake_file_open(cache->options->store, arena, deletes->path,
						  "deletion vector file");
	bitmap = deletes_read_vector(arena, file, deletes);
	lake_frame_pop(&frame);
	return bitmap;
}

static const LakeBitmap *
load_all_positions(DeleteCache *cache, LakeArena *arena, const ScanTask *task)
{
	const char *data_path = location_comparable(arena, task->path);
	LakeBitmap *result = NULL;
	bool		is_own = false;

	for (int i = 0; i < task->delete_count; i++)
	{
		LakeFrame	frame;
		LakeBitmap *bitmap;

		if (task->deletes[i]->kind != DELETE_POSITION)
			continue;
		lake_frame_push(&frame, "reading delete file", task->deletes[i]->path);
		bitmap = find_positions(cache, arena, task->deletes[i]->path,
								data_path);
		lake_frame_pop(&frame);
		if (bitmap == NULL)
			continue;
		if (result == NULL)
		{
			result = bitmap;
			continue;
		}
		/* the cache's bitmaps are not this task's to change */
		if (!is_own)
		{
			LakeBitmap *own = bitmap_create(arena);

			bitmap_union(own, result);
			result = own;
			is_own = true;
		}
		bitmap_union(result, bitmap);
	}
	return result;
}

static uint32_t
find_or_load_keys(DeleteCache *cache, LakeArena *arena, KeyGroup *group,
				  const DeleteFile *deletes)
{
	LakeBytes	key = {(const uint8_t *) deletes->path, strlen(deletes->path)};
	uint32_t	number = key_set_find(group->files, key);
	LakeFrame	frame;

	if (number != KEY_SET_NONE)
		return number;
	lake_frame_push(&frame, "reading delete file", deletes->path);
	number = load_keys(cache, arena, group, deletes->path);
	lake_frame_pop(&frame);
	return number;
}

/* one probe for each group that has a file of the task */
static void
load_all_keys(DeleteCache *cache, LakeArena *arena, const ScanTask *task,
			  TaskDeletes *deletes)
{
	size_t		count = (size_t) task->delete_count;
	KeyGroup  **groups = lake_alloc_array(arena, count, sizeof(KeyGroup *));
	uint32_t   *numbers = lake_alloc_array(arena, count, sizeof(uint32_t));

	for (size_t i = 0; i < count; i++)
	{
		const DeleteFile *file = task->deletes[i];
		int32_t    *ids;
		int			id_count;

		if (file->kind != DELETE_EQUALITY)
			continue;
		id_count = sorted_ids(arena, file, &ids);
		groups[i] = find_group(cache, ids, id_count);
		if (groups[i] == NULL)
			groups[i] = add_group(cache, ids, id_count);
		numbers[i] = find_or_load_keys(cache, arena, groups[i], file);
	}
	deletes->keys = lake_alloc_array(arena, (size_t) cache->group_count,
									 sizeof(TaskKeys));
	for (int g = 0; g < cache->group_count; g++)
	{
		KeyGroup   *group = cache->groups[g];
		uint8_t    *applies = NULL;
		TaskKeys   *keys = &deletes->keys[deletes->key_count];

		for (size_t i = 0; i < count; i++)
		{
			if (groups[i] != group)
				continue;
			if (applies == NULL)
				applies = lake_alloc(arena, key_set_count(group->files));
			applies[numbers[i]] = 1;
		}
		if (applies == NULL)
			continue;
		keys->part_count = group->part_count;
		keys->parts = group->parts;
		keys->probe = key_probe_create(arena, group->keys, applies);
		deletes->key_count++;
	}
}

void
delete_cache_load(DeleteCache *cache, LakeArena *arena, const ScanTask *task,
				  TaskDeletes *deletes)
{
	const DeleteFile *vector = find_vector(task);

	memset(deletes, 0, sizeof *deletes);
	if (task->delete_count == 0)
		return;
	if (cache_size(cache) > DELETES_CACHE_BYTES)
		cache_reset(cache);
	deletes->positions = vector != NULL ? load_vector(cache, arena, vector) :
		load_all_positions(cache, arena, task);
	load_all_keys(cache, arena, task, deletes);
}
