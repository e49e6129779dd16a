/*
 * Position delete files: bitmaps of deleted rows by data file.
 *
 * A writer may spell the path of a data file otherwise than the manifest does,
 * so paths are compared without scheme and authority.  Rows are sorted by path
 * and position as a rule, but nothing here depends on it.
 *
 * Iceberg spec, "Position Delete Files".
 */
#include "table/deletes.h"

#include <string.h>

#include "table/table_int.h"

/* of a bitmap's block of positions, without the positions */
#define BLOCK_BYTES		80

/* the positions in one delete file, by data file */
struct PositionFile
{
	KeySet	   *paths;			/* comparable ones */
	uint32_t	capacity;
	LakeBitmap **bitmaps;		/* by number of path */
};

static const LakeType string_type = {.kind = LAKE_STRING};
static const LakeType long_type = {.kind = LAKE_LONG};

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

typedef struct PositionCollector
{
	DeleteScan *scan;
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
		collector->entries = lake_alloc_array(collector->scan->arena,
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
	if (collector->bitmap != NULL &&
		bitmap_block_count(collector->bitmap) > DELETES_MAX_BLOCKS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "position delete file has positions in more than %zu blocks of 65536 rows",
				   DELETES_MAX_BLOCKS);
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

	if (collector->only == NULL || collector->scan->maps[0].source == NULL)
		return false;
	lake_arena_reset(collector->scratch);
	parquet_statistics_get(collector->scan->schema->parquet,
						   collector->scratch, row_group,
						   collector->scan->maps[0].source, &statistics);
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
	const ParquetFile *parquet = collector->scan->schema->parquet;

	delete_scan_begin(collector->scan, fields, 2);
	collector->scratch = lake_arena_create(collector->scan->arena,
										   "delete file paths");
	for (int i = 0; i < parquet_file_row_groups(parquet); i++)
		if (!is_of_another_file(collector, i))
			delete_scan_row_group(collector->scan, i, collect_positions,
								  collector);
}

const NameMapping *
position_file_mapping(void)
{
	return &position_mapping;
}

PositionFile *
position_file_read(LakeArena *arena, DeleteScan *scan)
{
	PositionCollector collector = {.scan = scan, .arena = arena};

	collector.file = lake_alloc(arena, sizeof(PositionFile));
	collector.file->paths = key_set_create(arena);
	collect_file(&collector);
	return collector.file;
}

LakeBitmap *
position_file_read_path(LakeArena *arena, DeleteScan *scan,
						const char *data_path)
{
	PositionCollector collector = {.scan = scan, .arena = arena};

	collector.only = data_path;
	collector.bitmap = bitmap_create(arena);
	collect_file(&collector);
	return collector.bitmap;
}

uint64_t
position_file_size(const PositionFile *file)
{
	uint64_t	size = key_set_size(file->paths);

	for (uint32_t i = 0; i < key_set_count(file->paths); i++)
		size += bitmap_block_count(file->bitmaps[i]) * BLOCK_BYTES +
			bitmap_cardinality(file->bitmaps[i]) * sizeof(uint16_t);
	return size;
}

LakeBitmap *
position_file_find(const PositionFile *file, const char *data_path)
{
	LakeBytes	key = {(const uint8_t *) data_path, strlen(data_path)};
	uint32_t	number = key_set_find(file->paths, key);

	return number == KEY_SET_NONE ? NULL : file->bitmaps[number];
}
