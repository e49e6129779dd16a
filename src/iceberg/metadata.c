/*
 * metadata.json: one walk over the top-level members, then only what a query
 * needs is parsed.
 *
 * Snapshots make up nearly all of a long-lived table's file.  They stay text:
 * opening parses the current one and checks the ids of the others.
 *
 * Iceberg spec, "Table Metadata".
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>

#include "base/json.h"
#include "codec/codec.h"

#define NEWEST_FORMAT_VERSION 3

typedef enum MetadataKey
{
	KEY_FORMAT_VERSION,
	KEY_TABLE_UUID,
	KEY_VIEW_UUID,
	KEY_LOCATION,
	KEY_LAST_SEQUENCE_NUMBER,
	KEY_LAST_UPDATED_MS,
	KEY_LAST_COLUMN_ID,
	KEY_SCHEMA,
	KEY_CURRENT_SCHEMA_ID,
	KEY_SCHEMAS,
	KEY_PARTITION_SPEC,
	KEY_DEFAULT_SPEC_ID,
	KEY_PARTITION_SPECS,
	KEY_LAST_PARTITION_ID,
	KEY_DEFAULT_SORT_ORDER_ID,
	KEY_SORT_ORDERS,
	KEY_PROPERTIES,
	KEY_CURRENT_SNAPSHOT_ID,
	KEY_REFS,
	KEY_SNAPSHOTS,
	KEY_SNAPSHOT_LOG,
	KEY_METADATA_LOG,
	KEY_NEXT_ROW_ID,
	KEY_COUNT
} MetadataKey;

/*
 * required_from: the first format version that demands it, 0 = none.  v3's
 * next-row-id is not among them: readers need it for nothing, and DuckDB has
 * written tables without.
 */
static const struct
{
	const char *name;
	int			required_from;
}			metadata_keys[KEY_COUNT] =

{
	[KEY_FORMAT_VERSION] = {"format-version", 1},
	[KEY_TABLE_UUID] = {"table-uuid", 2},
	[KEY_VIEW_UUID] = {"view-uuid", 0},
	[KEY_LOCATION] = {"location", 1},
	[KEY_LAST_SEQUENCE_NUMBER] = {"last-sequence-number", 2},
	[KEY_LAST_UPDATED_MS] = {"last-updated-ms", 1},
	[KEY_LAST_COLUMN_ID] = {"last-column-id", 1},
	[KEY_SCHEMA] = {"schema", 0},
	[KEY_CURRENT_SCHEMA_ID] = {"current-schema-id", 2},
	[KEY_SCHEMAS] = {"schemas", 2},
	[KEY_PARTITION_SPEC] = {"partition-spec", 0},
	[KEY_DEFAULT_SPEC_ID] = {"default-spec-id", 2},
	[KEY_PARTITION_SPECS] = {"partition-specs", 2},
	[KEY_LAST_PARTITION_ID] = {"last-partition-id", 2},
	[KEY_DEFAULT_SORT_ORDER_ID] = {"default-sort-order-id", 2},
	[KEY_SORT_ORDERS] = {"sort-orders", 2},
	[KEY_PROPERTIES] = {"properties", 0},
	[KEY_CURRENT_SNAPSHOT_ID] = {"current-snapshot-id", 0},
	[KEY_REFS] = {"refs", 0},
	[KEY_SNAPSHOTS] = {"snapshots", 0},
	[KEY_SNAPSHOT_LOG] = {"snapshot-log", 0},
	[KEY_METADATA_LOG] = {"metadata-log", 0},
	[KEY_NEXT_ROW_ID] = {"next-row-id", 0},
};

/* the text of each member; len 0: absent or null */
typedef struct MetadataText
{
	LakeBytes	members[KEY_COUNT];
} MetadataText;

static bool
has(const MetadataText *text, MetadataKey key)
{
	return text->members[key].len > 0;
}

static _Noreturn void
throw_missing(MetadataKey key)
{
	lake_throw(LAKE_ERROR_CORRUPT, "table metadata has no \"%s\"",
			   metadata_keys[key].name);
}

static _Noreturn void
throw_no_integer(MetadataKey key)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "table metadata: \"%s\" is not an integer",
			   metadata_keys[key].name);
}

static void
scan_members(LakeBytes json, MetadataText *text)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;

	memset(text, 0, sizeof *text);
	json_scan_begin_object(&scan, json);
	while (json_scan_next_member(&scan, &key, &value))
	{
		for (int i = 0; i < KEY_COUNT; i++)
		{
			if (key.len != strlen(metadata_keys[i].name) ||
				memcmp(key.data, metadata_keys[i].name, key.len) != 0)
				continue;
			if (json_scan_is_null(value))
				value.len = 0;
			text->members[i] = value;

			break;
		}
	}
}

static bool
find_int64(const MetadataText *text, MetadataKey key, int64_t *result)
{
	if (!has(text, key))
		return false;
	if (!json_scan_int64(text->members[key], result))
		throw_no_integer(key);
	return true;
}

static LakeJson *
parse(LakeArena *arena, const MetadataText *text, MetadataKey key)
{
	return json_parse(arena, text->members[key], metadata_keys[key].name);
}

static const char *
parse_string(LakeArena *arena, LakeArena *scratch, const MetadataText *text,
			 MetadataKey key)
{
	LakeBytes	value = json_string(parse(scratch, text, key),
									metadata_keys[key].name);

	if (memchr(value.data, '\0', value.len) != NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "table metadata: \"%s\" has a NUL character",
				   metadata_keys[key].name);
	return lake_strndup(arena, (const char *) value.data, value.len);
}

static int
check_version(const MetadataText *text)
{
	int64_t		version;

	if (has(text, KEY_VIEW_UUID) && !has(text, KEY_TABLE_UUID))
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "this is an Iceberg view, which is not supported");
	if (!find_int64(text, KEY_FORMAT_VERSION, &version))
		throw_missing(KEY_FORMAT_VERSION);
	if (version < 1)
		lake_throw(LAKE_ERROR_CORRUPT, "format-version %lld does not exist",
				   (long long) version);
	if (version > NEWEST_FORMAT_VERSION)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "Iceberg format-version %lld is not supported",
				   (long long) version);
	for (int i = 0; i < KEY_COUNT; i++)
	{
		int			required_from = metadata_keys[i].required_from;

		if (required_from != 0 && version >= required_from &&
			!has(text, (MetadataKey) i))
			throw_missing((MetadataKey) i);
	}
	return (int) version;
}

static int
compare_ids(const void *a, const void *b)
{
	int64_t		left = *(const int64_t *) a;
	int64_t		right = *(const int64_t *) b;

	return (left > right) - (left < right);
}

/*
 * Whatever is found by an id must be one thing: of two snapshots, schemas or
 * specs either could be meant, and Java refuses such tables too.  Sorts the ids,
 * which are int64_t.
 */
static void
check_unique(LakeBuffer *ids, const char *what)
{
	int64_t    *sorted = (int64_t *) (void *) ids->data;
	size_t		count = ids->len / sizeof *sorted;

	if (count > 1)
		qsort(sorted, count, sizeof *sorted, compare_ids);
	for (size_t i = 1; i < count; i++)
	{
		if (sorted[i] == sorted[i - 1])
			lake_throw(LAKE_ERROR_CORRUPT,
					   "table metadata has two %s with id %lld", what,
					   (long long) sorted[i]);
	}
}

static void
begin_array(JsonScan *scan, const MetadataText *text, MetadataKey key)
{
	LakeBytes	member = text->members[key];

	if (member.data[0] != '[')
		lake_throw(LAKE_ERROR_CORRUPT, "table metadata: \"%s\" is no array",
				   metadata_keys[key].name);
	json_scan_begin(scan, member);
}

static bool
has_default(const LakeField *fields, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (fields[i].initial_default != NULL ||
			fields[i].write_default != NULL ||
			has_default(fields[i].type->fields, fields[i].type->field_count))
			return true;
	}
	return false;
}

/*
 * json-c's tree of a schema, some 1,800 bytes a field that nobody counts, is
 * kept only if a default points into it.
 */
static const LakeSchema *
parse_schema(LakeArena *arena, LakeBytes text)
{
	LakeArena  *tree = lake_arena_create(arena, "JSON of a schema");
	const LakeSchema *schema =
		lake_schema_parse(arena, json_parse(tree, text, "schema"));

	if (!has_default(schema->fields, schema->field_count))
		lake_arena_destroy(tree);
	return schema;
}

static const LakeSchema **
parse_schema_list(LakeArena *arena, LakeArena *scratch,
				  const MetadataText *text, int *count)
{
	LakeBuffer	schemas;		/* of const LakeSchema * */
	LakeBuffer	ids;
	JsonScan	scan;
	LakeBytes	element;

	*count = 0;
	buffer_init(&schemas, arena);
	buffer_init(&ids, scratch);
	begin_array(&scan, text, KEY_SCHEMAS);
	while (json_scan_next(&scan, &element))
	{
		const LakeSchema *schema;
		int64_t		id;

		lake_check_interrupts();
		if ((*count)++ == LAKE_MAX_SCHEMA_FIELDS)
			lake_throw(LAKE_ERROR_LIMIT, "table has more than %d schemas",
					   LAKE_MAX_SCHEMA_FIELDS);
		schema = parse_schema(arena, element);
		buffer_append(&schemas, &schema, sizeof schema);
		id = schema->id;
		buffer_append(&ids, &id, sizeof id);
	}
	check_unique(&ids, "schemas");
	return (const LakeSchema **) (void *) schemas.data;
}

static void
parse_schemas(LakeArena *arena, LakeArena *scratch, const MetadataText *text,
			  LakeTable *table)
{
	const LakeSchema **schemas;
	int64_t		current_id;

	if (has(text, KEY_SCHEMAS))
		schemas = parse_schema_list(arena, scratch, text,
									&table->schema_count);
	else if (has(text, KEY_SCHEMA))
	{
		schemas = lake_alloc_array(arena, 1, sizeof *schemas);
		schemas[0] = parse_schema(arena, text->members[KEY_SCHEMA]);
		table->schema_count = 1;
	}
	else
		throw_missing(KEY_SCHEMA);
	table->schemas = schemas;

	if (!find_int64(text, KEY_CURRENT_SCHEMA_ID, &current_id))
	{
		/* a v1 file with "schemas" and no current id still has "schema" */
		if (has(text, KEY_SCHEMA))
			table->schema = parse_schema(arena, text->members[KEY_SCHEMA]);
		else
			throw_missing(KEY_CURRENT_SCHEMA_ID);
		return;
	}
	for (int i = 0; i < table->schema_count && table->schema == NULL; i++)
	{
		if (schemas[i]->id == current_id)
			table->schema = schemas[i];
	}
	if (table->schema == NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "table metadata has no schema with current-schema-id %lld",
				   (long long) current_id);
}

static void
parse_specs(LakeArena *arena, LakeArena *scratch, const MetadataText *text,
			IcebergTable *table)
{
	LakeBuffer	ids;
	int64_t		default_id;

	if (!has(text, KEY_PARTITION_SPECS))
	{
		if (!has(text, KEY_PARTITION_SPEC))
			throw_missing(KEY_PARTITION_SPEC);
		table->specs = lake_alloc_array(arena, 1, sizeof(LakePartitionSpec));
		table->spec_count = 1;
		partition_spec_parse(arena, parse(scratch, text, KEY_PARTITION_SPEC),
							 0, &table->table, table->specs);
		return;
	}
	table->specs = partition_specs_parse(arena,
										 parse(scratch, text,
											   KEY_PARTITION_SPECS),
										 &table->table, &table->spec_count);
	buffer_init(&ids, scratch);
	for (int i = 0; i < table->spec_count; i++)
	{
		int64_t		id = table->specs[i].id;

		buffer_append(&ids, &id, sizeof id);
	}
	check_unique(&ids, "partition specs");
	if (find_int64(text, KEY_DEFAULT_SPEC_ID, &default_id) &&
		(default_id < INT32_MIN || default_id > INT32_MAX ||
		 iceberg_find_spec(&table->table, (int32_t) default_id) == NULL))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "table metadata has no partition spec with "
				   "default-spec-id %lld", (long long) default_id);
}

static void
parse_properties(LakeArena *arena, const MetadataText *text,
				 IcebergTable *table)
{
	const char *mapping;

	if (!has(text, KEY_PROPERTIES))
		return;
	properties_parse(arena, text->members[KEY_PROPERTIES], table);
	mapping = iceberg_property(&table->table, "schema.name-mapping.default");
	if (mapping != NULL)
	{
		LakeBytes	json = {(const uint8_t *) mapping, strlen(mapping)};

		table->table.name_mapping = name_mapping_parse(arena, json);
	}
}

/* something that points at a snapshot, which must exist */
typedef struct SnapshotRef
{
	int64_t		id;
	LakeBytes	name;			/* data NULL: current-snapshot-id */
	bool		found;
} SnapshotRef;

static void
scan_refs(const MetadataText *text, LakeBuffer *refs)
{
	JsonScan	scan;
	SnapshotRef ref;
	LakeBytes	value;
	LakeBytes	id;

	if (!has(text, KEY_REFS))
		return;
	ref.found = false;
	json_scan_begin_object(&scan, text->members[KEY_REFS]);
	while (json_scan_next_member(&scan, &ref.name, &value))
	{
		if (!json_scan_member(value, "snapshot-id", &id) ||
			!snapshot_parse_id(id, &ref.id))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "ref \"%.*s\" has no integer \"snapshot-id\"",
					   (int) ref.name.len, (const char *) ref.name.data);
		buffer_append(refs, &ref, sizeof ref);
	}
}

static int
compare_refs(const void *a, const void *b)
{
	int64_t		left = ((const SnapshotRef *) a)->id;
	int64_t		right = ((const SnapshotRef *) b)->id;

	return (left > right) - (left < right);
}

/* marks the refs of a snapshot; refs are sorted by id */
static void
mark_refs(SnapshotRef *refs, size_t count, int64_t id)
{
	size_t		low = 0;
	size_t		high = count;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (refs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && refs[low].id == id; low++)
		refs[low].found = true;
}

static void
check_main(const SnapshotRef *refs, size_t count, int64_t current_id)
{
	for (size_t i = 0; i < count; i++)
	{
		if (refs[i].name.len != 4 || refs[i].id == current_id ||
			memcmp(refs[i].name.data, "main", 4) != 0)
			continue;
		lake_throw(LAKE_ERROR_CORRUPT,
				   "branch \"main\" is at snapshot %lld, but "
				   "current-snapshot-id is %lld", (long long) refs[i].id,
				   (long long) current_id);
	}
}

/*
 * One walk over all snapshots: marks their refs, looks for ids that are not
 * unique and sequence numbers that are too high, and returns the text of the
 * current one.
 */
static LakeBytes
scan_snapshots(LakeArena *scratch, const MetadataText *text,
			   const IcebergTable *table, SnapshotRef *refs, size_t count,
			   int64_t current_id)
{
	LakeBytes	current = {NULL, 0};
	LakeBuffer	ids;
	int64_t		last_sequence_number = 0;
	JsonScan	scan;
	LakeBytes	snapshot;

	if (table->snapshots.len == 0)
		return current;
	find_int64(text, KEY_LAST_SEQUENCE_NUMBER, &last_sequence_number);
	buffer_init(&ids, scratch);
	begin_array(&scan, text, KEY_SNAPSHOTS);
	while (json_scan_next(&scan, &snapshot))
	{
		int64_t		id;
		int64_t		sequence_number = 0;

		lake_check_interrupts();
		snapshot_scan(snapshot, &id,
					  table->table.format_version > 1 ?
					  &sequence_number : NULL);
		mark_refs(refs, count, id);
		buffer_append(&ids, &id, sizeof id);
		if (id == current_id)
			current = snapshot;
		if (sequence_number > last_sequence_number)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "snapshot %lld has sequence number %lld, above "
					   "last-sequence-number %lld", (long long) id,
					   (long long) sequence_number,
					   (long long) last_sequence_number);
	}
	check_unique(&ids, "snapshots");
	return current;
}

/* current_id: -1 none; returns the text of that snapshot */
static LakeBytes
check_snapshots(LakeArena *scratch, const MetadataText *text,
				const IcebergTable *table, int64_t current_id)
{
	SnapshotRef current = {current_id, {NULL, 0}, current_id == -1};
	LakeBuffer	buffer;
	SnapshotRef *refs;
	size_t		count;
	LakeBytes	found;

	buffer_init(&buffer, scratch);
	buffer_append(&buffer, &current, sizeof current);
	scan_refs(text, &buffer);
	refs = (SnapshotRef *) (void *) buffer.data;
	count = buffer.len / sizeof *refs;
	check_main(refs, count, current_id);
	qsort(refs, count, sizeof *refs, compare_refs);
	found = scan_snapshots(scratch, text, table, refs, count, current_id);
	for (size_t i = 0; i < count; i++)
	{
		if (refs[i].found)
			continue;
		if (refs[i].name.data == NULL)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "table metadata has no snapshot with "
					   "current-snapshot-id %lld", (long long) current_id);
		lake_throw(LAKE_ERROR_CORRUPT,
				   "ref \"%.*s\" is at snapshot %lld, which the table "
				   "metadata does not have", (int) refs[i].name.len,
				   (const char *) refs[i].name.data, (long long) refs[i].id);
	}
	return found;
}

static void
parse_snapshots(LakeArena *arena, LakeArena *scratch,
				const MetadataText *text, IcebergTable *table)
{
	int64_t		current_id;
	LakeBytes	current;

	table->snapshots = text->members[KEY_SNAPSHOTS];
	table->snapshot_log = text->members[KEY_SNAPSHOT_LOG];
	table->metadata_log = text->members[KEY_METADATA_LOG];
	table->refs = text->members[KEY_REFS];
	find_int64(text, KEY_LAST_UPDATED_MS, &table->last_updated_ms);

	/* absent, null and -1 all mean that there is none */
	if (!has(text, KEY_CURRENT_SNAPSHOT_ID))
		current_id = -1;
	else if (!snapshot_parse_id(text->members[KEY_CURRENT_SNAPSHOT_ID],
								&current_id))
		throw_no_integer(KEY_CURRENT_SNAPSHOT_ID);
	current = check_snapshots(scratch, text, table, current_id);
	if (current_id != -1)
	{
		table->current_snapshot = current;
		table->table.current_snapshot =
			&snapshot_parse(arena, current, current_id)->snapshot;
	}
}

/* what a writer goes on from; a number too large for 32 bits is not there */
static int32_t
find_small(const MetadataText *text, MetadataKey key)
{
	int64_t		value;

	if (!find_int64(text, key, &value))
		return 0;
	if (value < INT32_MIN || value > INT32_MAX)
		throw_no_integer(key);
	return (int32_t) value;
}

static void
parse_counters(const MetadataText *text, IcebergTable *table)
{
	table->last_sequence_number = 0;
	if (table->table.format_version > 1)
		(void) find_int64(text, KEY_LAST_SEQUENCE_NUMBER,
						  &table->last_sequence_number);
	(void) find_int64(text, KEY_NEXT_ROW_ID, &table->next_row_id);
	table->default_spec_id = find_small(text, KEY_DEFAULT_SPEC_ID);
	table->default_sort_order_id = find_small(text, KEY_DEFAULT_SORT_ORDER_ID);
}

LakeBytes
iceberg_read_metadata_text(LakeArena *arena, LakeStore *store,
						   const char *location)
{
	LakeArena  *scratch = lake_arena_create(arena, "metadata file");
	LakeFrame	frame;
	LakeFile   *file;
	LakeBytes	bytes;

	lake_frame_push(&frame, "reading table metadata", location);
	file = lake_file_open(store, scratch, location, "metadata file");
	bytes = lake_file_read_all(file, arena, ICEBERG_MAX_METADATA_BYTES);
	/* gzip is told by its first bytes, whatever the name says */
	if (bytes.len >= 2 && bytes.data[0] == 0x1f && bytes.data[1] == 0x8b)
	{
		LakeBuffer	text;

		buffer_init(&text, arena);
		codec_decompress_append(codec_context_create(scratch), CODEC_GZIP,
								bytes.data, bytes.len, &text,
								ICEBERG_MAX_METADATA_BYTES);
		bytes.data = text.data;
		bytes.len = text.len;
	}
	if (bytes.len == 0)
		lake_throw(LAKE_ERROR_CORRUPT, "the file is empty");
	lake_frame_pop(&frame);
	lake_arena_destroy(scratch);
	return bytes;
}

LakeTable *
iceberg_metadata_read(LakeArena *arena, LakeStore *store,
					  const char *metadata_location)
{
	LakeArena  *scratch = lake_arena_create(arena, "table metadata");
	IcebergTable *iceberg = lake_alloc(arena, sizeof *iceberg);
	LakeTable  *table = &iceberg->table;
	LakeBytes	json = iceberg_read_metadata_text(arena, store,
												  metadata_location);
	MetadataText text;
	LakeFrame	frame;

	lake_frame_push(&frame, "reading table metadata", metadata_location);
	table->format = &iceberg_format;
	table->arena = arena;
	table->metadata_location = lake_strdup(arena, metadata_location);
	scan_members(json, &text);
	table->format_version = check_version(&text);
	table->location = parse_string(arena, scratch, &text, KEY_LOCATION);
	if (has(&text, KEY_TABLE_UUID))
		table->uuid = parse_string(arena, scratch, &text, KEY_TABLE_UUID);
	parse_schemas(arena, scratch, &text, table);
	parse_specs(arena, scratch, &text, iceberg);
	parse_properties(arena, &text, iceberg);
	parse_snapshots(arena, scratch, &text, iceberg);
	parse_counters(&text, iceberg);
	lake_frame_pop(&frame);
	lake_arena_destroy(scratch);
	return table;
}
