/*
 * What a manifest says of a file, as jsonb: its partition, its maps by field
 * id, and its metrics by column.
 *
 * The metadata tables have a hundred thousand rows for a large table, and most
 * of each is this: nothing is sorted and no name is made twice.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "functions/functions_int.h"

static const char *const metric_names[METRIC_COUNT] = {
	[METRIC_COLUMN_SIZE] = "column_size",
	[METRIC_VALUE_COUNT] = "value_count",
	[METRIC_NULL_COUNT] = "null_value_count",
	[METRIC_NAN_COUNT] = "nan_value_count",
	[METRIC_LOWER_BOUND] = "lower_bound",
	[METRIC_UPPER_BOUND] = "upper_bound",
};

static const int32 metric_numbers[METRIC_COUNT];

typedef enum FileMember
{
	MEMBER_CONTENT,
	MEMBER_FILE_PATH,
	MEMBER_FILE_FORMAT,
	MEMBER_SPEC_ID,
	MEMBER_PARTITION,
	MEMBER_RECORD_COUNT,
	MEMBER_FILE_SIZE,
	MEMBER_COLUMN_SIZES,		/* METRIC_COUNT of them, in that order */
	MEMBER_KEY_METADATA = MEMBER_COLUMN_SIZES + METRIC_COUNT,
	MEMBER_SPLIT_OFFSETS,
	MEMBER_EQUALITY_IDS,
	MEMBER_SORT_ORDER_ID,
	MEMBER_FIRST_ROW_ID,
	MEMBER_REFERENCED_FILE,
	MEMBER_CONTENT_OFFSET,
	MEMBER_CONTENT_SIZE,
	MEMBER_COUNT
} FileMember;

static const char *const member_names[MEMBER_COUNT] = {
	"content", "file_path", "file_format", "spec_id", "partition",
	"record_count", "file_size_in_bytes", "column_sizes", "value_counts",
	"null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds",
	"key_metadata", "split_offsets", "equality_ids", "sort_order_id",
	"first_row_id", "referenced_data_file", "content_offset",
	"content_size_in_bytes",
};

static const int32 member_numbers[MEMBER_COUNT];

/* a primitive column */
typedef struct Leaf
{
	int32		field_id;
	const LakeType *type;
	JsonObject	metrics;
} Leaf;

struct EntryJson
{
	const LakePartitionSpec *type;
	JsonObject	partition;
	JsonObject	file;
	JsonObject	readable;
	int			leaf_count;
	Leaf	   *leaves;			/* by field id */
};

/* ---- what a table's columns are ---- */

typedef struct Leaves
{
	int			count;
	int			capacity;
	const LakeField **fields;
	const char **names;			/* "a.b.element" */
} Leaves;

static void
collect_leaves(Leaves *leaves, const LakeField *fields, int count,
			   const char *prefix)
{
	check_stack_depth();
	for (int i = 0; i < count; i++)
	{
		const LakeType *type = fields[i].type;
		const char *name = psprintf("%s%s", prefix, fields[i].name);

		CHECK_FOR_INTERRUPTS();
		if (lake_type_is_nested(type))
		{
			collect_leaves(leaves, type->fields, type->field_count,
						   psprintf("%s.", name));
			continue;
		}
		/* it has parts, though they are not columns: no primitive type */
		if (type->kind == LAKE_VARIANT)
			continue;
		if (leaves->count == leaves->capacity)
		{
			leaves->capacity *= 2;
			leaves->fields = repalloc(leaves->fields, sizeof(LakeField *) *
									  leaves->capacity);
			leaves->names = repalloc(leaves->names, sizeof(char *) *
									 leaves->capacity);
		}
		leaves->fields[leaves->count] = &fields[i];
		leaves->names[leaves->count] = name;
		leaves->count++;
	}
}

static int
compare_leaves(const void *a, const void *b)
{
	int32		x = ((const Leaf *) a)->field_id;
	int32		y = ((const Leaf *) b)->field_id;

	return (x > y) - (x < y);
}

static void
make_readable(EntryJson *json, const LakeSchema *schema)
{
	Leaves		leaves = {.capacity = 64};
	int32	   *ids;

	leaves.fields = palloc(sizeof(LakeField *) * leaves.capacity);
	leaves.names = palloc(sizeof(char *) * leaves.capacity);
	collect_leaves(&leaves, schema->fields, schema->field_count, "");
	ids = palloc(sizeof(int32) * leaves.count);
	for (int i = 0; i < leaves.count; i++)
		ids[i] = leaves.fields[i]->id;
	json_object_init(&json->readable, leaves.names, ids, leaves.count);

	json->leaf_count = leaves.count;
	json->leaves = palloc(sizeof(Leaf) * leaves.count);
	for (int i = 0; i < leaves.count; i++)
	{
		Leaf	   *leaf = &json->leaves[i];

		leaf->field_id = ids[i];
		leaf->type = leaves.fields[i]->type;
		json_object_init(&leaf->metrics, metric_names, metric_numbers,
						 METRIC_COUNT);
		*json->readable.members[i] = leaf->metrics.value;
	}
	qsort(json->leaves, leaves.count, sizeof(Leaf), compare_leaves);
}

EntryJson *
entry_json_create(const LakeTable *table, const LakePartitionSpec *type)
{
	EntryJson  *json = palloc0(sizeof *json);
	const char **names = palloc(sizeof(char *) * type->field_count);
	int32	   *ids = palloc(sizeof(int32) * type->field_count);

	json->type = type;
	for (int i = 0; i < type->field_count; i++)
	{
		names[i] = type->fields[i].name;
		ids[i] = type->fields[i].field_id;
	}
	json_object_init(&json->partition, names, ids, type->field_count);
	json_object_init(&json->file, member_names, member_numbers, MEMBER_COUNT);
	make_readable(json, table->schema);
	return json;
}

/* ---- partitions ---- */

static void
set_partition(EntryJson *json, const LakeValue *values)
{
	for (int i = 0; i < json->type->field_count; i++)
	{
		const LakeType *type = json->type->fields[i].result_type;
		JsonbValue *member = json->partition.members[i];

		if (type == NULL)
			member->type = jbvNull;
		else
			json_set_value(member, type, &values[i]);
	}
}

Datum
entry_json_partition(EntryJson *json, const LakeValue *values)
{
	set_partition(json, values);
	return json_object_datum(&json->partition);
}

/* ---- maps by field id ---- */

/* an object's members come by length, which for ids means: negative ones mix */
static int
compare_pairs(const void *a, const void *b)
{
	const JsonbValue *x = &((const JsonbPair *) a)->key;
	const JsonbValue *y = &((const JsonbPair *) b)->key;

	if (x->val.string.len != y->val.string.len)
		return x->val.string.len > y->val.string.len ? 1 : -1;
	return memcmp(x->val.string.val, y->val.string.val, x->val.string.len);
}

static void
set_metrics(JsonbValue *object, const FieldMetrics *metrics, bool is_bound)
{
	JsonbPair  *pairs;
	char	   *keys;

	object->type = jbvNull;
	if (metrics->fields == NULL)
		return;
	pairs = palloc(sizeof(JsonbPair) * metrics->count);
	keys = palloc(MAXINT8LEN * metrics->count);
	for (size_t i = 0; i < metrics->count; i++)
	{
		const FieldMetric *field = &metrics->fields[i];
		JsonbPair  *pair = &pairs[i];

		pair->key.type = jbvString;
		pair->key.val.string.val = keys;
		pair->key.val.string.len = pg_ltoa(field->field_id, keys);
		keys += pair->key.val.string.len;
		if (is_bound)
			json_set_bytes(&pair->value, field->bound);
		else
			json_set_integer(&pair->value, field->count);
	}
	if (metrics->count > 0 && metrics->fields[0].field_id < 0)
		qsort(pairs, metrics->count, sizeof(JsonbPair), compare_pairs);
	object->type = jbvObject;
	object->val.object.nPairs = (int) metrics->count;
	object->val.object.pairs = pairs;
}

static bool
is_bound(MetricKind kind)
{
	return kind == METRIC_LOWER_BOUND || kind == METRIC_UPPER_BOUND;
}

Datum
entry_json_metrics(EntryJson *json, const IcebergEntry *entry,
				   MetricKind kind)
{
	JsonbValue	object;

	set_metrics(&object, &entry->metrics[kind], is_bound(kind));
	return JsonbPGetDatum(JsonbValueToJsonb(&object));
}

/* ---- data_file ---- */

static void
set_optional_integer(JsonbValue *json, int64 value)
{
	if (value == ICEBERG_NONE)
		json->type = jbvNull;
	else
		json_set_integer(json, value);
}

static void
set_optional_string(JsonbValue *json, LakeBytes text)
{
	if (text.data == NULL)
		json->type = jbvNull;
	else
		json_set_string(json, text);
}

static void
set_list(JsonbValue *json, const IntegerList *list)
{
	JsonbValue *elements;

	json->type = jbvNull;
	if (list->values == NULL)
		return;
	elements = palloc(sizeof(JsonbValue) * list->count);
	for (size_t i = 0; i < list->count; i++)
		json_set_integer(&elements[i], list->values[i]);
	json->type = jbvArray;
	json->val.array.nElems = (int) list->count;
	json->val.array.elems = elements;
	json->val.array.rawScalar = false;
}

LakeBytes
entry_json_format(const IcebergEntry *entry)
{
	LakeBytes	format = entry->format;
	uint8	   *name;

	if (format.data == NULL)
		return format;
	name = palloc(format.len + 1);
	for (size_t i = 0; i < format.len; i++)
		name[i] = pg_ascii_toupper(format.data[i]);
	format.data = name;
	return format;
}

Datum
entry_json_data_file(EntryJson *json, const IcebergEntry *entry,
					 int32 spec_id, const LakeValue *partition)
{
	JsonbValue **members = json->file.members;

	json_set_integer(members[MEMBER_CONTENT], entry->content);
	json_set_string(members[MEMBER_FILE_PATH], entry->path);
	set_optional_string(members[MEMBER_FILE_FORMAT],
						entry_json_format(entry));
	json_set_integer(members[MEMBER_SPEC_ID], spec_id);
	set_partition(json, partition);
	*members[MEMBER_PARTITION] = json->partition.value;
	set_optional_integer(members[MEMBER_RECORD_COUNT], entry->record_count);
	set_optional_integer(members[MEMBER_FILE_SIZE], entry->size);
	for (int i = 0; i < METRIC_COUNT; i++)
		set_metrics(members[MEMBER_COLUMN_SIZES + i], &entry->metrics[i],
					is_bound(i));
	if (entry->key_metadata.data == NULL)
		members[MEMBER_KEY_METADATA]->type = jbvNull;
	else
		json_set_bytes(members[MEMBER_KEY_METADATA], entry->key_metadata);
	set_list(members[MEMBER_SPLIT_OFFSETS], &entry->split_offsets);
	set_list(members[MEMBER_EQUALITY_IDS], &entry->equality_ids);
	set_optional_integer(members[MEMBER_SORT_ORDER_ID],
						 entry->sort_order_id);
	set_optional_integer(members[MEMBER_FIRST_ROW_ID], entry->first_row_id);
	set_optional_string(members[MEMBER_REFERENCED_FILE],
						entry->referenced_file);
	set_optional_integer(members[MEMBER_CONTENT_OFFSET],
						 entry->content_offset);
	set_optional_integer(members[MEMBER_CONTENT_SIZE], entry->content_size);
	return json_object_datum(&json->file);
}

/* ---- metrics by column ---- */

static void
set_bound(JsonbValue *json, const LakeType *type, LakeBytes bytes)
{
	LakeValue	value;

	json->type = jbvNull;
	if (!lake_value_from_bound(type, bytes, &value))
		return;
	/* jsonb refuses what is no time of a day */
	if (type->kind == LAKE_TIME &&
		(value.i < 0 || value.i > USECS_PER_DAY))
		return;
	json_set_value(json, type, &value);
}

/* both are sorted by field id */
static void
set_readable(EntryJson *json, const FieldMetrics *metrics, MetricKind kind)
{
	size_t		next = 0;

	for (int i = 0; i < json->leaf_count; i++)
	{
		Leaf	   *leaf = &json->leaves[i];
		JsonbValue *member = leaf->metrics.members[kind];

		member->type = jbvNull;
		while (next < metrics->count &&
			   metrics->fields[next].field_id < leaf->field_id)
			next++;
		if (next == metrics->count ||
			metrics->fields[next].field_id != leaf->field_id)
			continue;
		if (is_bound(kind))
			set_bound(member, leaf->type, metrics->fields[next].bound);
		else
			json_set_integer(member, metrics->fields[next].count);
	}
}

Datum
entry_json_readable_metrics(EntryJson *json, const IcebergEntry *entry)
{
	for (int i = 0; i < METRIC_COUNT; i++)
		set_readable(json, &entry->metrics[i], (MetricKind) i);
	return json_object_datum(&json->readable);
}
