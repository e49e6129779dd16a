/*
 * Manifests for who wants to see all of them: every field of every entry,
 * deleted ones too.
 *
 * Planning reads manifests through manifest.c, which decodes what a predicate
 * asks for and refuses what would make rows wrong; here what a writer wrote is
 * shown as long as it can be told.
 *
 * Iceberg spec, "Manifests", "Sequence Number Inheritance", "First Row ID
 * Inheritance".
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>

#define DATA_FILE_ID 2

typedef enum WalkField
{
	WALK_STATUS,
	WALK_SNAPSHOT_ID,
	WALK_SEQUENCE_NUMBER,
	WALK_FILE_SEQUENCE_NUMBER,
	WALK_CONTENT,
	WALK_PATH,
	WALK_FORMAT,
	WALK_RECORD_COUNT,
	WALK_SIZE,
	WALK_FIRST_ROW_ID,
	/* what is left out without metrics */
	WALK_KEY_METADATA,
	WALK_SPLIT_OFFSETS,
	WALK_EQUALITY_IDS,
	WALK_SORT_ORDER_ID,
	WALK_REFERENCED_FILE,
	WALK_CONTENT_OFFSET,
	WALK_CONTENT_SIZE,
	WALK_FIELD_COUNT
} WalkField;

#define FIRST_OPTIONAL_FIELD WALK_KEY_METADATA

typedef struct FieldPlace
{
	int			depth;
	int32_t		path[2];
	const char *name;
} FieldPlace;

static const FieldPlace places[WALK_FIELD_COUNT] =
{
	[WALK_STATUS] = {1, {0}, "status"},
	[WALK_SNAPSHOT_ID] = {1, {1}, "snapshot_id"},
	[WALK_SEQUENCE_NUMBER] = {1, {3}, "sequence_number"},
	[WALK_FILE_SEQUENCE_NUMBER] = {1, {4}, "file_sequence_number"},
	[WALK_CONTENT] = {2, {DATA_FILE_ID, 134}, "content"},
	[WALK_PATH] = {2, {DATA_FILE_ID, 100}, "file_path"},
	[WALK_FORMAT] = {2, {DATA_FILE_ID, 101}, "file_format"},
	[WALK_RECORD_COUNT] = {2, {DATA_FILE_ID, 103}, "record_count"},
	[WALK_SIZE] = {2, {DATA_FILE_ID, 104}, "file_size_in_bytes"},
	[WALK_FIRST_ROW_ID] = {2, {DATA_FILE_ID, 142}, "first_row_id"},
	[WALK_KEY_METADATA] = {2, {DATA_FILE_ID, 131}, "key_metadata"},
	[WALK_SPLIT_OFFSETS] = {2, {DATA_FILE_ID, 132}, "split_offsets"},
	[WALK_EQUALITY_IDS] = {2, {DATA_FILE_ID, 135}, "equality_ids"},
	[WALK_SORT_ORDER_ID] = {2, {DATA_FILE_ID, 140}, "sort_order_id"},
	[WALK_REFERENCED_FILE] = {2, {DATA_FILE_ID, 143}, "referenced_data_file"},
	[WALK_CONTENT_OFFSET] = {2, {DATA_FILE_ID, 144}, "content_offset"},
	[WALK_CONTENT_SIZE] = {2, {DATA_FILE_ID, 145}, "content_size_in_bytes"},
};

static const struct
{
	int32_t		path[2];
	const char *name;
	bool		is_bound;
}			maps[METRIC_COUNT] =

{
	[METRIC_COLUMN_SIZE] = {{DATA_FILE_ID, 108}, "column_sizes", false},
	[METRIC_VALUE_COUNT] = {{DATA_FILE_ID, 109}, "value_counts", false},
	[METRIC_NULL_COUNT] = {{DATA_FILE_ID, 110}, "null_value_counts", false},
	[METRIC_NAN_COUNT] = {{DATA_FILE_ID, 137}, "nan_value_counts", false},
	[METRIC_LOWER_BOUND] = {{DATA_FILE_ID, 125}, "lower_bounds", true},
	[METRIC_UPPER_BOUND] = {{DATA_FILE_ID, 128}, "upper_bounds", true},
};

struct EntryWalk
{
	const ManifestFile *manifest;
	const LakePartitionSpec *type;
	/* for each field of the type its place in the manifest's spec, or -1 */
	int		   *type_fields;
	ManifestSpec spec;
	AvroReader *avro;
	const AvroSlot *slots;		/* of the current entry */
	int64_t		next_row_id;	/* -1: the manifest has none */
	bool		has_metrics;
	int			fields[WALK_FIELD_COUNT];
	int			maps[METRIC_COUNT];
	IcebergEntry entry;
	/* what the entry's maps and lists are in */
	LakeBuffer	map_items[METRIC_COUNT];
	LakeBuffer	split_offsets;
	LakeBuffer	equality_ids;
};

/* ---- opening ---- */

static void
bind_type(EntryWalk *walk, LakeArena *arena)
{
	const LakePartitionSpec *spec = walk->spec.spec;

	walk->type_fields = lake_alloc_array(arena,
										 (size_t) walk->type->field_count,
										 sizeof(int));
	for (int i = 0; i < walk->type->field_count; i++)
	{
		lake_check_interrupts();
		walk->type_fields[i] = -1;
		for (int j = 0; j < spec->field_count; j++)
		{
			if (spec->fields[j].field_id == walk->type->fields[i].field_id)
				walk->type_fields[i] = j;
		}
	}
}

EntryWalk *
entry_walk_open(LakeArena *arena, const LakeTable *table, LakeStore *store,
				const ManifestFile *manifest, const LakePartitionSpec *type,
				bool metrics)
{
	EntryWalk  *walk = lake_alloc(arena, sizeof *walk);
	int			count = metrics ? WALK_FIELD_COUNT : FIRST_OPTIONAL_FIELD;

	walk->manifest = manifest;
	walk->type = type;
	walk->has_metrics = metrics;
	walk->next_row_id = manifest->first_row_id;
	walk->avro = avro_field_open(arena, store, manifest->path, "manifest");
	manifest_spec_find(&walk->spec, arena, arena, table, manifest, walk->avro);
	manifest_spec_project(&walk->spec, arena, walk->avro);
	bind_type(walk, arena);
	for (int i = 0; i < count; i++)
		walk->fields[i] = avro_reader_project(walk->avro, places[i].path,
											  places[i].depth);
	for (int i = 0; metrics && i < METRIC_COUNT; i++)
	{
		walk->maps[i] = avro_reader_project_map(walk->avro, maps[i].path, 2);
		buffer_init(&walk->map_items[i], arena);
	}
	buffer_init(&walk->split_offsets, arena);
	buffer_init(&walk->equality_ids, arena);
	return walk;
}

int32_t
entry_walk_spec_id(const EntryWalk *walk)
{
	return walk->spec.spec->id;
}

/* ---- entries ---- */

static int64_t
int_field(const EntryWalk *walk, WalkField field, int64_t if_null)
{
	return avro_field_int64(&walk->slots[walk->fields[field]],
							places[field].name, if_null);
}

static LakeBytes
bytes_field(const EntryWalk *walk, WalkField field)
{
	return avro_field_bytes(&walk->slots[walk->fields[field]],
							places[field].name);
}

static _Noreturn void
throw_entry(const IcebergEntry *entry, const char *name, const char *problem)
{
	lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" of \"%.*s\" %s", name,
			   (int) entry->path.len, (const char *) entry->path.data,
			   problem);
}

static int64_t
inherit_sequence_number(const EntryWalk *walk, WalkField field)
{
	int64_t		number = int_field(walk, field, ICEBERG_NONE);

	if (number == ICEBERG_NONE &&
		(walk->entry.status == STATUS_ADDED ||
		 walk->manifest->sequence_number == 0))
		return walk->manifest->sequence_number;
	return number;
}

/* row ids count through the live entries of a data manifest without one */
static int64_t
inherit_first_row_id(EntryWalk *walk)
{
	int64_t		row_id;

	if (walk->next_row_id < 0)
		return ICEBERG_NONE;
	row_id = int_field(walk, WALK_FIRST_ROW_ID, ICEBERG_NONE);
	if (row_id != ICEBERG_NONE || walk->entry.status == STATUS_DELETED ||
		walk->entry.content != CONTENT_DATA)
		return row_id;
	row_id = walk->next_row_id;
	if (walk->entry.record_count < 0 ||
		__builtin_add_overflow(row_id, walk->entry.record_count,
							   &walk->next_row_id))
		throw_entry(&walk->entry, places[WALK_RECORD_COUNT].name,
					"leaves the files after it without row ids");
	return row_id;
}

static IntegerList
read_list(const EntryWalk *walk, WalkField field, LakeBuffer *buffer)
{
	const AvroSlot *slot = &walk->slots[walk->fields[field]];
	IntegerList list = {0, NULL};

	if (slot->kind != AVRO_LIST)
		return list;
	buffer->len = 0;
	buffer_reserve(buffer, (slot->list.count + 1) * sizeof(int64_t));
	for (size_t i = 0; i < slot->list.count; i++)
	{
		int64_t		value = avro_field_int64(&slot->list.items[i],
											 places[field].name,
											 ICEBERG_NONE);

		if (value == ICEBERG_NONE)
			throw_entry(&walk->entry, places[field].name, "has a NULL");
		buffer_append(buffer, &value, sizeof value);
	}
	list.count = slot->list.count;
	list.values = (const int64_t *) (const void *) buffer->data;
	return list;
}

static int
compare_fields(const void *a, const void *b)
{
	const FieldMetric *x = a;
	const FieldMetric *y = b;

	if (x->field_id != y->field_id)
		return x->field_id > y->field_id ? 1 : -1;
	return (x->position > y->position) - (x->position < y->position);
}

/* most writers sort; of equal field ids the last is left.  Returns how many. */
static size_t
sort_fields(FieldMetric *fields, size_t count)
{
	bool		is_sorted = true;
	size_t		kept = 0;

	for (size_t i = 1; i < count && is_sorted; i++)
		is_sorted = fields[i - 1].field_id < fields[i].field_id;
	if (is_sorted)
		return count;
	qsort(fields, count, sizeof *fields, compare_fields);
	for (size_t i = 0; i < count; i++)
	{
		if (kept > 0 && fields[kept - 1].field_id == fields[i].field_id)
			kept--;
		fields[kept++] = fields[i];
	}
	return kept;
}

static void
read_metrics(EntryWalk *walk, MetricKind kind)
{
	const AvroSlot *slot = &walk->slots[walk->maps[kind]];
	FieldMetrics *metrics = &walk->entry.metrics[kind];
	LakeBuffer *buffer = &walk->map_items[kind];
	FieldMetric *fields;

	metrics->count = 0;
	metrics->fields = NULL;
	if (slot->kind != AVRO_LIST)
		return;
	buffer->len = 0;
	buffer_reserve(buffer, (slot->list.count / 2 + 1) * sizeof(FieldMetric));
	for (size_t i = 0; i + 1 < slot->list.count; i += 2)
	{
		const AvroSlot *item = &slot->list.items[i];
		FieldMetric field = {.position = (uint32_t) i, .count = ICEBERG_NONE};

		/* writers that declare keys and values optional never leave them out */
		if (item[0].kind == AVRO_NULL || item[1].kind == AVRO_NULL)
			continue;
		if (item[0].i < INT32_MIN || item[0].i > INT32_MAX)
			throw_entry(&walk->entry, maps[kind].name,
						"has what is no field id");
		field.field_id = (int32_t) item[0].i;
		if (maps[kind].is_bound)
			field.bound = avro_field_bytes(&item[1], maps[kind].name);
		else
			field.count = avro_field_int64(&item[1], maps[kind].name, 0);
		buffer_append(buffer, &field, sizeof field);
	}
	fields = (FieldMetric *) (void *) buffer->data;
	metrics->count = sort_fields(fields, buffer->len / sizeof *fields);
	metrics->fields = fields;
}

static void
read_optional_fields(EntryWalk *walk)
{
	IcebergEntry *entry = &walk->entry;

	for (int i = 0; i < METRIC_COUNT; i++)
		read_metrics(walk, (MetricKind) i);
	entry->key_metadata = bytes_field(walk, WALK_KEY_METADATA);
	entry->split_offsets = read_list(walk, WALK_SPLIT_OFFSETS,
									 &walk->split_offsets);
	entry->equality_ids = read_list(walk, WALK_EQUALITY_IDS,
									&walk->equality_ids);
	for (size_t i = 0; i < entry->equality_ids.count; i++)
	{
		int64_t		id = entry->equality_ids.values[i];

		if (id < INT32_MIN || id > INT32_MAX)
			throw_entry(entry, places[WALK_EQUALITY_IDS].name,
						"has what is no field id");
	}
	entry->sort_order_id = int_field(walk, WALK_SORT_ORDER_ID, ICEBERG_NONE);
	if (entry->sort_order_id != ICEBERG_NONE &&
		(entry->sort_order_id < INT32_MIN || entry->sort_order_id > INT32_MAX))
		throw_entry(entry, places[WALK_SORT_ORDER_ID].name, "is out of range");
	entry->referenced_file = bytes_field(walk, WALK_REFERENCED_FILE);
	entry->content_offset = int_field(walk, WALK_CONTENT_OFFSET, ICEBERG_NONE);
	entry->content_size = int_field(walk, WALK_CONTENT_SIZE, ICEBERG_NONE);
}

static void
read_entry(EntryWalk *walk)
{
	IcebergEntry *entry = &walk->entry;
	int64_t		status = int_field(walk, WALK_STATUS, ICEBERG_NONE);
	int64_t		content = int_field(walk, WALK_CONTENT, CONTENT_DATA);

	entry->path = avro_field_location(&walk->slots[walk->fields[WALK_PATH]],
									  places[WALK_PATH].name);
	if (status < STATUS_EXISTING || status > STATUS_DELETED)
		throw_entry(entry, places[WALK_STATUS].name,
					"is none of existing, added, deleted");
	if (content < CONTENT_DATA || content > CONTENT_EQUALITY_DELETES)
		throw_entry(entry, places[WALK_CONTENT].name,
					"is neither data nor deletes");
	entry->status = (EntryStatus) status;
	entry->content = (FileContent) content;
	entry->format = bytes_field(walk, WALK_FORMAT);
	entry->record_count = int_field(walk, WALK_RECORD_COUNT, ICEBERG_NONE);
	entry->size = int_field(walk, WALK_SIZE, ICEBERG_NONE);
	entry->snapshot_id = int_field(walk, WALK_SNAPSHOT_ID,
								   walk->manifest->snapshot_id);
	/* a list that lacks it gives none to inherit */
	if (entry->snapshot_id == -1)
		entry->snapshot_id = ICEBERG_NONE;
	entry->sequence_number = inherit_sequence_number(walk,
													 WALK_SEQUENCE_NUMBER);
	entry->file_sequence_number =
		inherit_sequence_number(walk, WALK_FILE_SEQUENCE_NUMBER);
	entry->first_row_id = inherit_first_row_id(walk);
	if (walk->has_metrics)
		read_optional_fields(walk);
}

const IcebergEntry *
entry_walk_next(EntryWalk *walk)
{
	LakeFrame	frame;

	walk->slots = avro_reader_next(walk->avro);
	if (walk->slots == NULL)
		return NULL;
	lake_frame_push(&frame, "reading manifest", walk->manifest->path);
	read_entry(walk);
	lake_frame_pop(&frame);
	return &walk->entry;
}

/* ---- partition tuples ---- */

/* the slot of a value of the type; NULL when it is NULL */
static const AvroSlot *
type_slot(const EntryWalk *walk, int field)
{
	if (walk->type_fields[field] < 0)
		return NULL;
	return manifest_spec_slot(&walk->spec, walk->slots,
							  walk->type_fields[field]);
}

LakeValue *
entry_walk_partition(const EntryWalk *walk, LakeArena *arena)
{
	const LakePartitionSpec *type = walk->type;
	LakeValue  *values = lake_alloc_array(arena, (size_t) type->field_count,
										  sizeof *values);

	for (int i = 0; i < type->field_count; i++)
		partition_value_read(arena, &type->fields[i], type_slot(walk, i),
							 &values[i]);
	return values;
}

void
entry_walk_partition_key(const EntryWalk *walk, LakeBuffer *key)
{
	for (int i = 0; i < walk->type->field_count; i++)
		partition_value_key(&walk->type->fields[i], type_slot(walk, i), key);
}
