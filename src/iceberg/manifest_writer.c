/*
 * Manifests, written: the files that a commit adds, and entries of older
 * manifests that it keeps or removes.
 *
 * What a manifest list gives is left out of new entries, so that a commit that
 * has to be tried again writes its list anew and nothing else.
 *
 * Iceberg spec, "Manifests", "Sequence Number Inheritance".
 */
#include "iceberg/iceberg_int.h"

#include "base/json.h"

/* Avro's deprecated block size, which v1 requires */
#define BLOCK_SIZE_IN_BYTES (64 * 1024 * 1024)

typedef enum ColumnForm
{
	FORM_STATUS,
	FORM_CONTENT,
	FORM_BLOCK_SIZE,
	FORM_PARTITION,
	/* what is in an IcebergEntry at an offset */
	FORM_INTEGER,
	FORM_BYTES,
	FORM_INTEGERS,
	FORM_COUNTS,
	FORM_BOUNDS
} ColumnForm;

typedef struct Column
{
	int32_t		id;
	const char *name;
	const char *type;			/* JSON; NULL: the record of tuples */
	bool		is_optional;
	/* the format versions that have it */
	int8_t		first_version;
	int8_t		last_version;
	ColumnForm	form;
	size_t		offset;
} Column;

#define V(first, last)	first, last
#define SINCE(first)	first, INT8_MAX
#define PLACE(form, member) form, offsetof(IcebergEntry, member)
#define METRIC(form, kind) \
	form, offsetof(IcebergEntry, metrics) + (kind) * sizeof(FieldMetrics)

#define LIST_TYPE(type, element_id) \
	"{\"type\":\"array\",\"items\":\"" type "\",\"element-id\":" element_id "}"
#define MAP_TYPE(key, value, type) \
	"{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"k" key "_v" \
	value "\",\"fields\":[{\"name\":\"key\",\"type\":\"int\",\"field-id\":" \
	key "},{\"name\":\"value\",\"type\":\"" type "\",\"field-id\":" value \
	"}]},\"logicalType\":\"map\"}"

static const Column entry_columns[] = {
	{0, "status", "\"int\"", false, SINCE(1), FORM_STATUS, 0},
	{1, "snapshot_id", "\"long\"", true, SINCE(1),
	PLACE(FORM_INTEGER, snapshot_id)},
	{3, "sequence_number", "\"long\"", true, SINCE(2),
	PLACE(FORM_INTEGER, sequence_number)},
	{4, "file_sequence_number", "\"long\"", true, SINCE(2),
	PLACE(FORM_INTEGER, file_sequence_number)},
};

/* of the record data_file, which comes last */
static const Column file_columns[] = {
	{134, "content", "\"int\"", false, SINCE(2), FORM_CONTENT, 0},
	{100, "file_path", "\"string\"", false, SINCE(1), PLACE(FORM_BYTES, path)},
	{101, "file_format", "\"string\"", false, SINCE(1),
	PLACE(FORM_BYTES, format)},
	{102, "partition", NULL, false, SINCE(1), FORM_PARTITION, 0},
	{103, "record_count", "\"long\"", false, SINCE(1),
	PLACE(FORM_INTEGER, record_count)},
	{104, "file_size_in_bytes", "\"long\"", false, SINCE(1),
	PLACE(FORM_INTEGER, size)},
	{105, "block_size_in_bytes", "\"long\"", false, V(1, 1), FORM_BLOCK_SIZE, 0},
	{108, "column_sizes", MAP_TYPE("117", "118", "long"), true, SINCE(1),
	METRIC(FORM_COUNTS, METRIC_COLUMN_SIZE)},
	{109, "value_counts", MAP_TYPE("119", "120", "long"), true, SINCE(1),
	METRIC(FORM_COUNTS, METRIC_VALUE_COUNT)},
	{110, "null_value_counts", MAP_TYPE("121", "122", "long"), true, SINCE(1),
	METRIC(FORM_COUNTS, METRIC_NULL_COUNT)},
	{137, "nan_value_counts", MAP_TYPE("138", "139", "long"), true, SINCE(1),
	METRIC(FORM_COUNTS, METRIC_NAN_COUNT)},
	{125, "lower_bounds", MAP_TYPE("126", "127", "bytes"), true, SINCE(1),
	METRIC(FORM_BOUNDS, METRIC_LOWER_BOUND)},
	{128, "upper_bounds", MAP_TYPE("129", "130", "bytes"), true, SINCE(1),
	METRIC(FORM_BOUNDS, METRIC_UPPER_BOUND)},
	{131, "key_metadata", "\"bytes\"", true, SINCE(1),
	PLACE(FORM_BYTES, key_metadata)},
	{132, "split_offsets", LIST_TYPE("long", "133"), true, SINCE(1),
	PLACE(FORM_INTEGERS, split_offsets)},
	{135, "equality_ids", LIST_TYPE("int", "136"), true, SINCE(2),
	PLACE(FORM_INTEGERS, equality_ids)},
	{140, "sort_order_id", "\"int\"", true, SINCE(1),
	PLACE(FORM_INTEGER, sort_order_id)},
	{142, "first_row_id", "\"long\"", true, SINCE(3),
	PLACE(FORM_INTEGER, first_row_id)},
	{143, "referenced_data_file", "\"string\"", true, SINCE(2),
	PLACE(FORM_BYTES, referenced_file)},
	{144, "content_offset", "\"long\"", true, SINCE(3),
	PLACE(FORM_INTEGER, content_offset)},
	{145, "content_size_in_bytes", "\"long\"", true, SINCE(3),
	PLACE(FORM_INTEGER, content_size)},
};

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

struct ManifestWriter
{
	LakeArena  *arena;
	int			format_version;
	const LakePartitionSpec *spec;
	LakeOutput *output;
	AvroWriter *avro;
	ManifestFile file;			/* what is known so far */
	PartitionSummary *summary;
	LakeBuffer	metrics[METRIC_COUNT];	/* of the file being added */
};

/* ---- schema and header ---- */

static bool
has_column(const ManifestWriter *writer, const Column *column)
{
	return writer->format_version >= column->first_version &&
		writer->format_version <= column->last_version;
}

static void
append_columns(const ManifestWriter *writer, const Column *columns,
			   size_t count, LakeBuffer *schema)
{
	for (size_t i = 0; i < count; i++)
	{
		const Column *column = &columns[i];

		if (has_column(writer, column))
			avro_schema_field(schema, column->name, column->id,
							  column->type != NULL ? column->type :
							  avro_schema_partition(writer->arena,
													writer->spec),
							  column->is_optional);
	}
}

static const char *
entry_schema(const ManifestWriter *writer)
{
	LakeBuffer	file;
	LakeBuffer	entry;

	buffer_init(&file, writer->arena);
	buffer_append_text(&file, "{\"type\":\"record\",\"name\":\"r2\","
					   "\"fields\":[");
	append_columns(writer, file_columns, LENGTH(file_columns), &file);
	buffer_append(&file, "]}", sizeof "]}");
	buffer_init(&entry, writer->arena);
	buffer_append_text(&entry, "{\"type\":\"record\","
					   "\"name\":\"manifest_entry\",\"fields\":[");
	append_columns(writer, entry_columns, LENGTH(entry_columns), &entry);
	avro_schema_field(&entry, "data_file", 2, (const char *) file.data, false);
	buffer_append(&entry, "]}", sizeof "]}");
	return (const char *) entry.data;
}

static const char *
schema_json(LakeArena *arena, const LakeSchema *schema)
{
	LakeBuffer	json;

	buffer_init(&json, arena);
	lake_schema_to_json(&json, schema);
	buffer_append_byte(&json, '\0');
	return (const char *) json.data;
}

static const char *
spec_json(LakeArena *arena, const LakePartitionSpec *spec)
{
	LakeBuffer	json;

	buffer_init(&json, arena);
	partition_spec_to_json(&json, spec);
	buffer_append_byte(&json, '\0');
	return (const char *) json.data;
}

static void
begin_file(ManifestWriter *writer, const LakeSchema *schema, LakeCodec codec,
		   int32_t level)
{
	LakeArena  *arena = writer->arena;
	const char *header[] = {
		"schema", schema_json(arena, schema),
		"schema-id", lake_printf(arena, "%d", schema->id),
		"partition-spec", spec_json(arena, writer->spec),
		"partition-spec-id", lake_printf(arena, "%d", writer->spec->id),
		"format-version", lake_printf(arena, "%d", writer->format_version),
		/* last: v1 does not have it */
		"content", writer->file.has_deletes ? "deletes" : "data",
	};
	int			count = (int) LENGTH(header) / 2;

	writer->avro = avro_writer_create(arena, writer->output,
									  entry_schema(writer), header,
									  writer->format_version == 1 ?
									  count - 1 : count, codec, level);
}

ManifestWriter *
manifest_writer_create(LakeArena *arena, LakeStore *store,
					   const char *location, int format_version,
					   const LakeSchema *schema, const LakePartitionSpec *spec,
					   bool has_deletes, int64_t snapshot_id, LakeCodec codec,
					   int32_t level)
{
	ManifestWriter *writer = lake_alloc(arena, sizeof *writer);
	ManifestFile *file = &writer->file;

	if (has_deletes && format_version == 1)
		lake_throw(LAKE_ERROR_INTERNAL, "format version 1 has no deletes");
	writer->arena = arena;
	writer->format_version = format_version;
	writer->spec = spec;
	file->path = lake_strdup(arena, location);
	file->spec_id = spec->id;
	file->has_deletes = has_deletes;
	file->sequence_number = -1;
	file->min_sequence_number = -1;
	file->snapshot_id = snapshot_id;
	file->first_row_id = -1;
	writer->summary = partition_summary_create(arena, spec);
	for (int i = 0; i < METRIC_COUNT; i++)
		buffer_init(&writer->metrics[i], arena);
	writer->output = lake_output_create(store, location);
	begin_file(writer, schema, codec, level);
	return writer;
}

/* ---- what the list says of the entries ---- */

static void
add_rows(int64_t *rows, const IcebergEntry *entry)
{
	/* imported files may have an unknown count, which is -1 */
	if (entry->record_count > 0 &&
		__builtin_add_overflow(*rows, entry->record_count, rows))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the files of a manifest have more than %lld rows",
				   (long long) INT64_MAX);
}

/* of a live entry */
static void
note_sequence_number(ManifestFile *file, const IcebergEntry *entry)
{
	int64_t		number = entry->sequence_number;

	/* the commit's, which is above all others */
	if (number == ICEBERG_NONE && entry->status == STATUS_ADDED)
		return;
	/* nobody knows: it may be any */
	if (number < 0)
		number = 0;
	if (file->min_sequence_number == -1 || number < file->min_sequence_number)
		file->min_sequence_number = number;
}

static void
count_entry(ManifestWriter *writer, const IcebergEntry *entry)
{
	ManifestFile *file = &writer->file;

	switch (entry->status)
	{
		case STATUS_ADDED:
			file->added_files++;
			add_rows(&file->added_rows, entry);
			break;
		case STATUS_EXISTING:
			file->existing_files++;
			add_rows(&file->existing_rows, entry);
			break;
		case STATUS_DELETED:
			file->deleted_files++;
			add_rows(&file->deleted_rows, entry);
			return;
	}
	note_sequence_number(file, entry);
}

/* ---- entries ---- */

static _Noreturn void
throw_entry(const IcebergEntry *entry, const char *name, const char *problem)
{
	lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" of \"%.*s\" %s", name,
			   (int) entry->path.len, (const char *) entry->path.data,
			   problem);
}

static void
write_integers(AvroWriter *avro, const IntegerList *list)
{
	avro_write_array_begin(avro, list->count);
	for (size_t i = 0; i < list->count; i++)
		avro_write_long(avro, list->values[i]);
	avro_write_array_end(avro);
}

static void
write_metrics(AvroWriter *avro, const FieldMetrics *metrics, bool bounds)
{
	avro_write_array_begin(avro, metrics->count);
	for (size_t i = 0; i < metrics->count; i++)
	{
		avro_write_long(avro, metrics->fields[i].field_id);
		if (bounds)
			avro_write_bytes(avro, metrics->fields[i].bound);
		else
			avro_write_long(avro, metrics->fields[i].count);
	}
	avro_write_array_end(avro);
}

/* is what the entry has there a value? */
static bool
is_present(ColumnForm form, const void *place)
{
	switch (form)
	{
		case FORM_INTEGER:
			return *(const int64_t *) place != ICEBERG_NONE;
		case FORM_BYTES:
			return ((const LakeBytes *) place)->data != NULL;
		case FORM_INTEGERS:
			return ((const IntegerList *) place)->values != NULL;
		case FORM_COUNTS:
		case FORM_BOUNDS:
			return ((const FieldMetrics *) place)->fields != NULL;
		default:
			return true;
	}
}

static void
write_value(ManifestWriter *writer, ColumnForm form, const void *place,
			const IcebergEntry *entry, const LakeValue *partition)
{
	AvroWriter *avro = writer->avro;

	switch (form)
	{
		case FORM_STATUS:
			avro_write_long(avro, entry->status);
			break;
		case FORM_CONTENT:
			avro_write_long(avro, entry->content);
			break;
		case FORM_BLOCK_SIZE:
			avro_write_long(avro, BLOCK_SIZE_IN_BYTES);
			break;
		case FORM_PARTITION:
			for (int i = 0; i < writer->spec->field_count; i++)
				partition_value_write(avro, &writer->spec->fields[i],
									  &partition[i]);
			break;
		case FORM_INTEGER:
			avro_write_long(avro, *(const int64_t *) place);
			break;
		case FORM_BYTES:
			avro_write_bytes(avro, *(const LakeBytes *) place);
			break;
		case FORM_INTEGERS:
			write_integers(avro, place);
			break;
		case FORM_COUNTS:
		case FORM_BOUNDS:
			write_metrics(avro, place, form == FORM_BOUNDS);
			break;
	}
}

static void
write_columns(ManifestWriter *writer, const Column *columns, size_t count,
			  const IcebergEntry *entry, const LakeValue *partition)
{
	for (size_t i = 0; i < count; i++)
	{
		const Column *column = &columns[i];
		const void *place = (const char *) entry + column->offset;
		bool		present = is_present(column->form, place);

		if (!has_column(writer, column))
			continue;
		if (column->is_optional)
			avro_write_branch(writer->avro, present ? 1 : 0);
		else if (!present)
			throw_entry(entry, column->name, "is missing");
		if (present)
			write_value(writer, column->form, place, entry, partition);
	}
}

static void
write_entry(ManifestWriter *writer, const IcebergEntry *entry,
			const LakeValue *partition)
{
	LakeFrame	frame;

	lake_frame_push(&frame, "writing manifest", writer->file.path);
	if (writer->file.has_deletes && entry->content == CONTENT_DATA)
		throw_entry(entry, "content", "is data in a manifest of deletes");
	write_columns(writer, entry_columns, LENGTH(entry_columns), entry,
				  partition);
	write_columns(writer, file_columns, LENGTH(file_columns), entry,
				  partition);
	avro_writer_end_record(writer->avro);
	count_entry(writer, entry);
	partition_summary_add(writer->summary, partition);
	lake_frame_pop(&frame);
}

static LakeBytes
text_bytes(const char *text)
{
	return (LakeBytes) {(const uint8_t *) text,
						text == NULL ? 0 : strlen(text)};
}

static void
append_metric(ManifestWriter *writer, MetricKind kind, int32_t field_id,
			  int64_t number, LakeBytes bound)
{
	FieldMetric metric = {.field_id = field_id, .count = number,
	.bound = bound};

	if (number >= 0 || bound.data != NULL)
		buffer_append(&writer->metrics[kind], &metric, sizeof metric);
}

/* a column's metrics become a place in each of the maps that has it */
static void
collect_metrics(ManifestWriter *writer, const WrittenFile *file,
				IcebergEntry *entry)
{
	static const LakeBytes none;

	for (int i = 0; i < METRIC_COUNT; i++)
		writer->metrics[i].len = 0;
	for (int i = 0; i < file->metric_count; i++)
	{
		const ColumnMetrics *column = &file->metrics[i];
		int32_t		id = column->field_id;

		append_metric(writer, METRIC_COLUMN_SIZE, id, column->size, none);
		append_metric(writer, METRIC_VALUE_COUNT, id, column->value_count,
					  none);
		append_metric(writer, METRIC_NULL_COUNT, id, column->null_count, none);
		append_metric(writer, METRIC_NAN_COUNT, id, column->nan_count, none);
		append_metric(writer, METRIC_LOWER_BOUND, id, -1, column->lower);
		append_metric(writer, METRIC_UPPER_BOUND, id, -1, column->upper);
	}
	for (int i = 0; i < METRIC_COUNT; i++)
	{
		const LakeBuffer *fields = &writer->metrics[i];

		entry->metrics[i].count = fields->len / sizeof(FieldMetric);
		if (fields->len > 0)
			entry->metrics[i].fields = (const void *) fields->data;
	}
}

/* the contract has -1 where entries have ICEBERG_NONE */
static int64_t
integer_or_none(int64_t value)
{
	return value == -1 ? ICEBERG_NONE : value;
}

void
manifest_writer_add(ManifestWriter *writer, const WrittenFile *file)
{
	IcebergEntry entry = {
		.status = STATUS_ADDED,
		.snapshot_id = writer->file.snapshot_id,
		.sequence_number = ICEBERG_NONE,
		.file_sequence_number = ICEBERG_NONE,
		.content = file->kind == WRITTEN_DATA ? CONTENT_DATA :
		CONTENT_POSITION_DELETES,
		.path = text_bytes(file->path),
		.format = text_bytes(file->kind == WRITTEN_DELETION_VECTOR ?
							 "PUFFIN" : "PARQUET"),
		.record_count = file->record_count,
		.size = file->size,
		.split_offsets = {(size_t) file->split_count, file->split_offsets},
		.sort_order_id = integer_or_none(file->sort_order_id),
		.first_row_id = ICEBERG_NONE,
		.referenced_file = text_bytes(file->referenced_file),
		.content_offset = ICEBERG_NONE,
		.content_size = ICEBERG_NONE,
	};

	if (entry.content != CONTENT_DATA && !writer->file.has_deletes)
		lake_throw(LAKE_ERROR_INTERNAL, "\"%s\" is added to a manifest of data",
				   file->path);
	if (file->spec->id != writer->spec->id)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "\"%s\" is of partition spec %d, its manifest of %d",
				   file->path, file->spec->id, writer->spec->id);
	if (file->kind == WRITTEN_DELETION_VECTOR)
	{
		if (writer->format_version < 3)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "format version %d has no deletion vectors",
					   writer->format_version);
		entry.content_offset = file->content_offset;
		entry.content_size = file->content_size;
	}
	collect_metrics(writer, file, &entry);
	write_entry(writer, &entry, file->partition);
}

void
manifest_writer_carry(ManifestWriter *writer, const IcebergEntry *entry,
					  const LakeValue *partition, EntryStatus status)
{
	IcebergEntry carried = *entry;

	carried.status = status;
	if (status == STATUS_DELETED)
		carried.snapshot_id = writer->file.snapshot_id;
	/* the new manifest's is none of its own */
	if (carried.snapshot_id == ICEBERG_NONE)
		throw_entry(entry, "snapshot_id", "is missing");
	/* as in reading: of data it may never matter, deletes would be too new */
	if (carried.sequence_number == ICEBERG_NONE &&
		carried.content != CONTENT_DATA && status != STATUS_DELETED)
		throw_entry(entry, "sequence_number", "is missing");
	/* as readers take it */
	if (carried.format.data == NULL)
		carried.format = text_bytes("PARQUET");
	if (carried.content != CONTENT_DATA)
		carried.first_row_id = ICEBERG_NONE;
	write_entry(writer, &carried, partition);
}

/* ---- the end ---- */

uint64_t
manifest_writer_size(const ManifestWriter *writer)
{
	return lake_output_size(writer->output);
}

const NewManifest *
manifest_writer_finish(ManifestWriter *writer)
{
	NewManifest *manifest = lake_alloc(writer->arena, sizeof *manifest);
	ManifestFile *file = &writer->file;
	LakeFrame	frame;

	lake_frame_push(&frame, "writing manifest", file->path);
	avro_writer_finish(writer->avro);
	lake_output_finish(writer->output);
	lake_frame_pop(&frame);
	file->length = (int64_t) lake_output_size(writer->output);
	file->live_files = file->added_files + file->existing_files;
	if (__builtin_add_overflow(file->added_rows, file->existing_rows,
							   &file->live_rows))
		file->live_rows = -1;
	file->has_summaries = true;
	file->summary_count = writer->spec->field_count;
	file->summaries = partition_summary_finish(writer->summary);
	manifest->file = *file;
	return manifest;
}
