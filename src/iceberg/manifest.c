/*
 * Manifests: live entries one after the other, with what they inherit from the
 * manifest list.
 *
 * A manifest may hold a hundred thousand entries whose statistics make up most
 * of its bytes: only the bounds of the columns asked for are decoded.
 *
 * Iceberg spec, "Manifests", "Sequence Number Inheritance", "First Row ID
 * Inheritance".
 */
#include "iceberg/iceberg_int.h"

#include <math.h>

#include "base/text.h"

typedef enum EntryField
{
	ENTRY_STATUS,
	ENTRY_SNAPSHOT_ID,
	ENTRY_SEQUENCE_NUMBER,
	FILE_CONTENT,
	FILE_PATH,
	FILE_FORMAT,
	FILE_RECORD_COUNT,
	FILE_SIZE,
	FILE_EQUALITY_IDS,
	FILE_FIRST_ROW_ID,
	FILE_REFERENCED_FILE,
	FILE_CONTENT_OFFSET,
	FILE_CONTENT_SIZE,
	ENTRY_FIELD_COUNT
} EntryField;

#define DATA_FILE_ID 2

static const struct
{
	int			depth;
	int32_t		path[2];
	const char *name;
}			entry_fields[ENTRY_FIELD_COUNT] =

{
	[ENTRY_STATUS] = {1, {0}, "status"},
	[ENTRY_SNAPSHOT_ID] = {1, {1}, "snapshot_id"},
	[ENTRY_SEQUENCE_NUMBER] = {1, {3}, "sequence_number"},
	[FILE_CONTENT] = {2, {DATA_FILE_ID, 134}, "content"},
	[FILE_PATH] = {2, {DATA_FILE_ID, 100}, "file_path"},
	[FILE_FORMAT] = {2, {DATA_FILE_ID, 101}, "file_format"},
	[FILE_RECORD_COUNT] = {2, {DATA_FILE_ID, 103}, "record_count"},
	[FILE_SIZE] = {2, {DATA_FILE_ID, 104}, "file_size_in_bytes"},
	[FILE_EQUALITY_IDS] = {2, {DATA_FILE_ID, 135}, "equality_ids"},
	[FILE_FIRST_ROW_ID] = {2, {DATA_FILE_ID, 142}, "first_row_id"},
	[FILE_REFERENCED_FILE] = {2, {DATA_FILE_ID, 143}, "referenced_data_file"},
	[FILE_CONTENT_OFFSET] = {2, {DATA_FILE_ID, 144}, "content_offset"},
	[FILE_CONTENT_SIZE] = {2, {DATA_FILE_ID, 145}, "content_size_in_bytes"},
};

typedef enum StatisticsMap
{
	MAP_VALUE_COUNTS,
	MAP_NULL_COUNTS,
	MAP_NAN_COUNTS,
	MAP_LOWER_BOUNDS,
	MAP_UPPER_BOUNDS,
	MAP_COUNT
} StatisticsMap;

static const struct
{
	int32_t		path[2];
	const char *name;
}			statistics_maps[MAP_COUNT] =

{
	[MAP_VALUE_COUNTS] = {{DATA_FILE_ID, 109}, "value_counts"},
	[MAP_NULL_COUNTS] = {{DATA_FILE_ID, 110}, "null_value_counts"},
	[MAP_NAN_COUNTS] = {{DATA_FILE_ID, 137}, "nan_value_counts"},
	[MAP_LOWER_BOUNDS] = {{DATA_FILE_ID, 125}, "lower_bounds"},
	[MAP_UPPER_BOUNDS] = {{DATA_FILE_ID, 128}, "upper_bounds"},
};

typedef struct ColumnSlots
{
	int32_t		field_id;
	int			maps[MAP_COUNT];
} ColumnSlots;

struct ManifestReader
{
	const ManifestFile *manifest;
	ManifestSpec spec;
	AvroReader *avro;
	const AvroSlot *slots;		/* of the current entry */
	bool		has_deletes;	/* as the list or the header says */
	int64_t		next_row_id;	/* -1: the manifest has none */
	int			fields[ENTRY_FIELD_COUNT];
	int			path_bounds[2]; /* of delete manifests, else -1 */
	int			column_count;
	ColumnSlots *columns;
};

/* ---- opening ---- */

static int
project_map(ManifestReader *reader, StatisticsMap map, int32_t field_id)
{
	return avro_reader_project_map_entry(reader->avro,
										 statistics_maps[map].path, 2,
										 field_id);
}

static void
project_columns(LakeArena *arena, ManifestReader *reader,
				const BoundsColumn *columns, int count)
{
	reader->column_count = count;
	reader->columns = lake_alloc_array(arena, (size_t) count,
									   sizeof(ColumnSlots));
	for (int i = 0; i < count; i++)
	{
		LakeTypeKind kind = columns[i].type->kind;

		reader->columns[i].field_id = columns[i].field_id;
		for (int map = 0; map < MAP_COUNT; map++)
			reader->columns[i].maps[map] =
				map == MAP_NAN_COUNTS && kind != LAKE_FLOAT &&
				kind != LAKE_DOUBLE ? -1 :
				project_map(reader, (StatisticsMap) map,
							columns[i].field_id);
	}
}

ManifestReader *
manifest_reader_open(LakeArena *arena, LakeArena *spec_arena,
					 const LakeTable *table, LakeStore *store,
					 const ManifestFile *manifest,
					 const BoundsColumn *columns, int column_count)
{
	ManifestReader *reader = lake_alloc(arena, sizeof *reader);

	reader->manifest = manifest;
	reader->next_row_id = manifest->first_row_id;
	reader->avro = avro_field_open(arena, store, manifest->path, "manifest");
	manifest_spec_find(&reader->spec, arena, spec_arena, table, manifest,
					   reader->avro);
	for (int i = 0; i < ENTRY_FIELD_COUNT; i++)
		reader->fields[i] = avro_reader_project(reader->avro,
												entry_fields[i].path,
												entry_fields[i].depth);
	manifest_spec_project(&reader->spec, arena, reader->avro);
	project_columns(arena, reader, columns, column_count);
	reader->path_bounds[0] = -1;
	reader->path_bounds[1] = -1;
	reader->has_deletes = manifest->has_deletes ||
		manifest_spec_says_deletes(reader->avro);
	if (reader->has_deletes)
	{
		reader->path_bounds[0] = project_map(reader, MAP_LOWER_BOUNDS,
											 LAKE_FIELD_DELETE_PATH);
		reader->path_bounds[1] = project_map(reader, MAP_UPPER_BOUNDS,
											 LAKE_FIELD_DELETE_PATH);
	}
	return reader;
}

const LakePartitionSpec *
manifest_reader_spec(const ManifestReader *reader)
{
	return reader->spec.spec;
}

/* ---- entries ---- */

static int64_t
int_field(const ManifestReader *reader, EntryField field, int64_t if_null)
{
	return avro_field_int64(&reader->slots[reader->fields[field]],
							entry_fields[field].name, if_null);
}

static LakeBytes
bytes_field(const ManifestReader *reader, EntryField field)
{
	return avro_field_bytes(&reader->slots[reader->fields[field]],
							entry_fields[field].name);
}

static int64_t
inherit_sequence_number(const ManifestReader *reader, EntryStatus status)
{
	int64_t		number = int_field(reader, ENTRY_SEQUENCE_NUMBER, -1);

	if (number >= 0)
		return number;
	if (status == STATUS_ADDED || reader->manifest->sequence_number == 0)
		return reader->manifest->sequence_number;
	return -1;
}

/* row ids count through the entries of a data manifest that have none */
static int64_t
inherit_first_row_id(ManifestReader *reader, const ManifestEntry *entry)
{
	int64_t		row_id;

	/* without one, even explicit ids of entries are void */
	if (reader->next_row_id < 0 || entry->content != CONTENT_DATA)
		return -1;
	row_id = int_field(reader, FILE_FIRST_ROW_ID, -1);
	if (row_id >= 0)
		return row_id;
	row_id = reader->next_row_id;
	if (entry->record_count < 0 ||
		__builtin_add_overflow(row_id, entry->record_count,
							   &reader->next_row_id))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "\"record_count\" %lld of \"%.*s\" leaves the files after "
				   "it without row ids", (long long) entry->record_count,
				   (int) entry->path.len, (const char *) entry->path.data);
	return row_id;
}

static _Noreturn void
throw_entry(const ManifestEntry *entry, EntryField field, const char *problem)
{
	lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" of \"%.*s\" %s",
			   entry_fields[field].name, (int) entry->path.len,
			   (const char *) entry->path.data, problem);
}

static void
read_equality_ids(const ManifestReader *reader, ManifestEntry *entry)
{
	const AvroSlot *slot = &reader->slots[reader->fields[FILE_EQUALITY_IDS]];

	entry->equality_count = 0;
	if (entry->content != CONTENT_EQUALITY_DELETES)
		return;
	if (slot->kind != AVRO_LIST || slot->list.count == 0)
		throw_entry(entry, FILE_EQUALITY_IDS, "is missing");
	if (slot->list.count > LAKE_MAX_SCHEMA_FIELDS)
		throw_entry(entry, FILE_EQUALITY_IDS, "has too many ids");
	for (size_t i = 0; i < slot->list.count; i++)
	{
		const AvroSlot *item = &slot->list.items[i];

		if (item->kind != AVRO_INT || item->i < INT32_MIN ||
			item->i > INT32_MAX)
			throw_entry(entry, FILE_EQUALITY_IDS, "has what is no field id");
	}
	entry->equality_ids = slot->list.items;
	entry->equality_count = (int) slot->list.count;
}

static void
read_delete_fields(const ManifestReader *reader, ManifestEntry *entry)
{
	static const LakeBytes none = {NULL, 0};
	LakeBytes  *bounds[] = {&entry->lower_path, &entry->upper_path};

	read_equality_ids(reader, entry);
	entry->referenced_file = bytes_field(reader, FILE_REFERENCED_FILE);
	entry->content_offset = int_field(reader, FILE_CONTENT_OFFSET, -1);
	entry->content_size = int_field(reader, FILE_CONTENT_SIZE, -1);
	for (int i = 0; i < 2; i++)
		*bounds[i] = reader->path_bounds[i] < 0 ? none :
			avro_field_bytes(&reader->slots[reader->path_bounds[i]],
							 "bound of file_path");
}

static void
read_entry(ManifestReader *reader, EntryStatus status, ManifestEntry *entry)
{
	int64_t		content = int_field(reader, FILE_CONTENT, 0);

	entry->path = avro_field_location(&reader->slots[reader->fields[FILE_PATH]],
									  entry_fields[FILE_PATH].name);
	if (content < CONTENT_DATA || content > CONTENT_EQUALITY_DELETES)
		throw_entry(entry, FILE_CONTENT, "is neither data nor deletes");
	entry->content = (FileContent) content;
	/* the opposite, deletes in a data manifest, is taken as what it is */
	if (entry->content == CONTENT_DATA && reader->has_deletes)
		throw_entry(entry, FILE_CONTENT, "says data in a delete manifest");
	entry->format = bytes_field(reader, FILE_FORMAT);
	if (entry->format.data == NULL)
		throw_entry(entry, FILE_FORMAT, "is missing");
	entry->record_count = int_field(reader, FILE_RECORD_COUNT, -1);
	/* imports of old tables wrote negative ones for "unknown" */
	if (entry->record_count < 0)
		entry->record_count = -1;
	entry->size = int_field(reader, FILE_SIZE, -1);
	if (entry->size < 0)
		throw_entry(entry, FILE_SIZE, "is missing or negative");
	entry->snapshot_id = int_field(reader, ENTRY_SNAPSHOT_ID,
								   reader->manifest->snapshot_id);
	entry->sequence_number = inherit_sequence_number(reader, status);
	entry->first_row_id = inherit_first_row_id(reader, entry);
	read_delete_fields(reader, entry);
}

bool
manifest_reader_next(ManifestReader *reader, ManifestEntry *entry)
{
	while ((reader->slots = avro_reader_next(reader->avro)) != NULL)
	{
		int64_t		status = int_field(reader, ENTRY_STATUS, -1);

		if (status < STATUS_EXISTING || status > STATUS_DELETED)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "\"status\" of an entry is %lld", (long long) status);
		if (status == STATUS_DELETED)
			continue;
		read_entry(reader, (EntryStatus) status, entry);
		return true;
	}
	return false;
}

/* ---- partition tuples ---- */

void
manifest_reader_partition_key(const ManifestReader *reader, LakeBuffer *key)
{
	const LakePartitionSpec *spec = reader->spec.spec;

	buffer_append(key, &spec->id, sizeof spec->id);
	for (int i = 0; i < spec->field_count; i++)
		partition_value_key(&spec->fields[i],
							manifest_spec_slot(&reader->spec, reader->slots,
											   i), key);
}

LakeValue *
manifest_reader_partition(const ManifestReader *reader, LakeArena *arena)
{
	const LakePartitionSpec *spec = reader->spec.spec;
	LakeValue  *values = lake_alloc_array(arena, (size_t) spec->field_count,
										  sizeof *values);

	for (int i = 0; i < spec->field_count; i++)
		partition_value_read(arena, &spec->fields[i],
							 manifest_spec_slot(&reader->spec, reader->slots,
												i), &values[i]);
	return values;
}

/* ---- bounds ---- */

static bool
read_bound(const LakeType *type, LakeBytes bytes, LakeValue *value)
{
	if (bytes.data == NULL || !lake_value_from_bound(type, bytes, value))
		return false;
	/* cut inside of a character: who knows what else is wrong with it */
	return type->kind != LAKE_STRING || text_is_valid(bytes);
}

static bool
is_nan(const LakeType *type, const LakeValue *value)
{
	return (type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE) &&
		isnan(value->d);
}

void
bounds_set(LakeBounds *bounds, const LakeType *type, LakeBytes lower,
		   LakeBytes upper)
{
	bounds->has_lower = read_bound(type, lower, &bounds->lower);
	bounds->has_upper = read_bound(type, upper, &bounds->upper);
	/* NaN, and bounds the wrong way round, mean that the writer was broken */
	if ((bounds->has_lower && is_nan(type, &bounds->lower)) ||
		(bounds->has_upper && is_nan(type, &bounds->upper)) ||
		(bounds->has_lower && bounds->has_upper &&
		 lake_value_compare(type, &bounds->lower, &bounds->upper) > 0))
	{
		bounds->has_lower = false;
		bounds->has_upper = false;
	}
}

void
bounds_set_value(LakeBounds *bounds, const LakeType *type,
				 const LakeValue *value)
{
	bool		is_number = !value->is_null && !is_nan(type, value);

	bounds->value_count = 1;
	bounds->null_count = value->is_null;
	bounds->nan_count = !value->is_null && !is_number;
	bounds->has_lower = is_number;
	bounds->has_upper = is_number;
	bounds->lower = *value;
	bounds->upper = *value;
}

static int64_t
column_count(const ManifestReader *reader, const ColumnSlots *column,
			 StatisticsMap map)
{
	int64_t		count = avro_field_int64(&reader->slots[column->maps[map]],
										 statistics_maps[map].name, -1);

	return count < 0 ? -1 : count;
}

static LakeBytes
column_bound(const ManifestReader *reader, const ColumnSlots *column,
			 StatisticsMap map)
{
	return avro_field_bytes(&reader->slots[column->maps[map]],
							statistics_maps[map].name);
}

bool
manifest_reader_bounds(void *arg, int32_t field_id, const LakeType *type,
					   LakeBounds *bounds)
{
	const ManifestReader *reader = arg;
	const ColumnSlots *column = reader->columns;

	for (int i = 0; i < reader->column_count; i++, column++)
	{
		if (column->field_id != field_id)
			continue;
		bounds->value_count = column_count(reader, column, MAP_VALUE_COUNTS);
		bounds->null_count = column_count(reader, column, MAP_NULL_COUNTS);
		bounds->nan_count = column->maps[MAP_NAN_COUNTS] < 0 ? 0 :
			column_count(reader, column, MAP_NAN_COUNTS);
		/* counts that contradict each other say nothing */
		if (bounds->value_count >= 0 &&
			(bounds->null_count > bounds->value_count ||
			 bounds->nan_count > bounds->value_count))
		{
			bounds->value_count = -1;
			bounds->null_count = -1;
			if (column->maps[MAP_NAN_COUNTS] >= 0)
				bounds->nan_count = -1;
		}
		bounds_set(bounds, type,
				   column_bound(reader, column, MAP_LOWER_BOUNDS),
				   column_bound(reader, column, MAP_UPPER_BOUNDS));
		return true;
	}
	return false;
}
