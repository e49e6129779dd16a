/*
 * Deletes of a task: deletion vectors, and a cache of delete files, which are
 * loaded once a scan and shared by the tasks they apply to.
 *
 * A deletion vector replaces all position delete files of its data file.  Which
 * files apply at all (sequence numbers, partitions) is the planner's decision.
 *
 * Iceberg spec, "Delete Formats", "Deletion Vectors", "Scan Planning".
 */
#include "table/deletes.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "table/table_int.h"

/* a deletion vector blob: length, magic, bitmap, CRC; 4 bytes each but one */
#define VECTOR_MAGIC			UINT32_C(0xd1d33964)	/* big-endian */
#define VECTOR_OVERHEAD			12

struct DeleteCache
{
	LakeArena  *parent;
	TaskReaderOptions options;
	LakeArena  *arena;			/* all that follows */
	uint64_t	position_bytes;
	KeySet	   *files;			/* paths of position delete files */
	uint32_t	file_capacity;
	PositionFile **position_files;
	int			group_count;
	KeyGroup  **groups;
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

/* ---- the cache ---- */

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
	cache->options = *options;
	/* readers come and go, and with them what is theirs */
	cache->options.column_count = 0;
	cache->options.columns = NULL;
	cache->options.predicate = NULL;
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

static void
remember_position_file(DeleteCache *cache, const char *path,
					   PositionFile *file)
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
	cache->position_bytes += position_file_size(file);
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
	LakeArena  *temporary = lake_arena_create(arena, "position delete file");
	LakeBitmap *bitmap;
	DeleteScan	scan;

	delete_scan_open(&scan, temporary, &cache->options, path,
					 position_file_mapping());
	if (parquet_file_rows(scan.schema->parquet) > DELETES_CACHED_ROWS)
		bitmap = position_file_read_path(arena, &scan, data_path);
	else
	{
		PositionFile *file = position_file_read(cache->arena, &scan);

		remember_position_file(cache, path, file);
		bitmap = position_file_find(file, data_path);
	}
	lake_arena_destroy(temporary);
	return bitmap;
}

static LakeBitmap *
find_positions(DeleteCache *cache, LakeArena *arena, const char *path,
			   const char *data_path)
{
	LakeBytes	key = {(const uint8_t *) path, strlen(path)};
	uint32_t	number = key_set_find(cache->files, key);

	if (number == KEY_SET_NONE)
		return load_positions(cache, arena, path, data_path);
	return position_file_find(cache->position_files[number], data_path);
}

/* ---- tasks ---- */

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
	file = lake_file_open(cache->options.store, arena, deletes->path,
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

/* the group of a delete file's key ids, made when it is the first */
static KeyGroup *
find_or_add_group(DeleteCache *cache, LakeArena *arena,
				  const DeleteFile *deletes)
{
	size_t		size = (size_t) cache->group_count * sizeof(KeyGroup *);
	int32_t    *ids;
	int			count = key_group_ids(arena, deletes, &ids);
	KeyGroup   *group;

	for (int i = 0; i < cache->group_count; i++)
		if (key_group_has_ids(cache->groups[i], ids, count))
			return cache->groups[i];
	group = key_group_create(cache->arena, &cache->options, ids, count);
	cache->groups = lake_realloc(cache->arena, cache->groups, size,
								 size + sizeof(KeyGroup *));
	cache->groups[cache->group_count++] = group;
	return group;
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
	number = key_group_load(group, arena, &cache->options, deletes->path);
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

		if (file->kind != DELETE_EQUALITY)
			continue;
		groups[i] = find_or_add_group(cache, arena, file);
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
