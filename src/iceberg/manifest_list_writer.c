/*
 * Manifest lists, written: rows of older lists as they were, and new manifests
 * with what a commit gives them, sequence numbers and row ids.
 *
 * Lists of older versions left out what newer ones require.  Sizes and specs
 * are looked up in the manifests then; counts stay unknown, since every reader
 * knows that they may be.
 *
 * Iceberg spec, "Manifest Lists", "First Row ID Assignment".
 */
#include "iceberg/iceberg_int.h"

typedef enum ListColumn
{
	COLUMN_PATH,
	COLUMN_LENGTH,
	COLUMN_SPEC_ID,
	COLUMN_CONTENT,
	COLUMN_SEQUENCE_NUMBER,
	COLUMN_MIN_SEQUENCE_NUMBER,
	COLUMN_SNAPSHOT_ID,
	/* counts, in the order of count_places */
	COLUMN_ADDED_FILES,
	COLUMN_EXISTING_FILES,
	COLUMN_DELETED_FILES,
	COLUMN_ADDED_ROWS,
	COLUMN_EXISTING_ROWS,
	COLUMN_DELETED_ROWS,
	COLUMN_SUMMARIES,
	COLUMN_KEY_METADATA,
	COLUMN_FIRST_ROW_ID,
	COLUMN_COUNT
} ListColumn;

#define FIRST_COUNT	COLUMN_ADDED_FILES
#define LAST_COUNT	COLUMN_DELETED_ROWS

#define SUMMARY_TYPE \
	"{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r508\"," \
	"\"fields\":[{\"name\":\"contains_null\",\"type\":\"boolean\"," \
	"\"field-id\":509},{\"name\":\"contains_nan\",\"type\":[\"null\"," \
	"\"boolean\"],\"default\":null,\"field-id\":518},{\"name\":" \
	"\"lower_bound\",\"type\":[\"null\",\"bytes\"],\"default\":null," \
	"\"field-id\":510},{\"name\":\"upper_bound\",\"type\":[\"null\"," \
	"\"bytes\"],\"default\":null,\"field-id\":511}]},\"element-id\":508}"

static const struct
{
	int32_t		id;
	const char *name;
	const char *type;			/* JSON */
	int			first_version;
	bool		is_optional;	/* counts: only where one is unknown */
}			columns[COLUMN_COUNT] =

{
	[COLUMN_PATH] = {500, "manifest_path", "\"string\"", 1, false},
	[COLUMN_LENGTH] = {501, "manifest_length", "\"long\"", 1, false},
	[COLUMN_SPEC_ID] = {502, "partition_spec_id", "\"int\"", 1, false},
	[COLUMN_CONTENT] = {517, "content", "\"int\"", 2, false},
	[COLUMN_SEQUENCE_NUMBER] = {515, "sequence_number", "\"long\"", 2, false},
	[COLUMN_MIN_SEQUENCE_NUMBER] = {516, "min_sequence_number", "\"long\"", 2,
	false},
	[COLUMN_SNAPSHOT_ID] = {503, "added_snapshot_id", "\"long\"", 1, false},
	[COLUMN_ADDED_FILES] = {504, "added_files_count", "\"int\"", 1, false},
	[COLUMN_EXISTING_FILES] = {505, "existing_files_count", "\"int\"", 1,
	false},
	[COLUMN_DELETED_FILES] = {506, "deleted_files_count", "\"int\"", 1, false},
	[COLUMN_ADDED_ROWS] = {512, "added_rows_count", "\"long\"", 1, false},
	[COLUMN_EXISTING_ROWS] = {513, "existing_rows_count", "\"long\"", 1,
	false},
	[COLUMN_DELETED_ROWS] = {514, "deleted_rows_count", "\"long\"", 1, false},
	[COLUMN_SUMMARIES] = {507, "partitions", SUMMARY_TYPE, 1, true},
	[COLUMN_KEY_METADATA] = {519, "key_metadata", "\"bytes\"", 1, true},
	[COLUMN_FIRST_ROW_ID] = {520, "first_row_id", "\"long\"", 3, true},
};

/* of ManifestFile, from FIRST_COUNT on */
static const size_t count_places[] = {
	offsetof(ManifestFile, added_files),
	offsetof(ManifestFile, existing_files),
	offsetof(ManifestFile, deleted_files),
	offsetof(ManifestFile, added_rows),
	offsetof(ManifestFile, existing_rows),
	offsetof(ManifestFile, deleted_rows),
};

typedef struct ListWriter
{
	LakeArena  *arena;			/* ends with the list */
	LakeStore  *store;
	const ManifestListHeader *header;
	ManifestFile *rows;
	size_t		count;
	int64_t		next_row_id;
	bool		has_unknown[COLUMN_COUNT];	/* counts */
	AvroWriter *avro;
} ListWriter;

/* ---- rows ---- */

static int64_t
count_of(const ManifestFile *row, int column)
{
	size_t		place = count_places[column - FIRST_COUNT];

	return *(const int64_t *) (const void *) ((const char *) row + place);
}

/* rows of the live files of a manifest whose list does not say it */
static int64_t
read_live_rows(AvroReader *avro)
{
	static const int32_t status_path[] = {0};
	static const int32_t rows_path[] = {2, 103};
	int			status = avro_reader_project(avro, status_path, 1);
	int			record_count = avro_reader_project(avro, rows_path, 2);
	int64_t		total = 0;
	const AvroSlot *slots;

	while ((slots = avro_reader_next(avro)) != NULL)
	{
		int64_t		rows = avro_field_int64(&slots[record_count],
											"record_count", 0);

		if (avro_field_int64(&slots[status], "status", STATUS_DELETED) ==
			STATUS_DELETED)
			continue;
		if (rows < 0 || __builtin_add_overflow(total, rows, &total))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "\"record_count\" of a live file is %lld",
					   (long long) rows);
	}
	return total;
}

static bool
needs_row_ids(const ListWriter *list, const ManifestFile *row)
{
	return list->header->format_version >= 3 && !row->has_deletes &&
		row->first_row_id == -1;
}

/* looks up in a manifest what its row lacks */
static void
complete_row(const ListWriter *list, ManifestFile *row)
{
	bool		count_rows = needs_row_ids(list, row) && row->live_rows < 0;
	LakeArena  *scratch;
	AvroReader *avro;
	LakeFrame	frame;

	if (row->length >= 0 && row->spec_id != -1 && !count_rows)
		return;
	scratch = lake_arena_create(list->arena, "manifest reading");
	if (row->length < 0)
		row->length = (int64_t) lake_file_open(list->store, scratch, row->path,
											   "manifest")->size;
	lake_frame_push(&frame, "reading manifest", row->path);
	avro = avro_field_open(scratch, list->store, row->path, "manifest");
	if (row->spec_id == -1)
		row->spec_id = manifest_spec_header_id(avro);
	if (count_rows)
		row->live_rows = read_live_rows(avro);
	lake_frame_pop(&frame);
	lake_arena_destroy(scratch);
}

static void
assign_row_ids(ListWriter *list, ManifestFile *row)
{
	row->first_row_id = list->next_row_id;
	if (__builtin_add_overflow(list->next_row_id, row->live_rows,
							   &list->next_row_id))
		lake_throw(LAKE_ERROR_LIMIT, "the table has no more row ids");
}

/* a new manifest gets what the commit gives */
static void
assign(const ManifestListHeader *header, ManifestFile *row)
{
	row->sequence_number = header->sequence_number;
	if (row->min_sequence_number == -1)
		row->min_sequence_number = header->sequence_number;
}

static void
collect_rows(ListWriter *list, const ListedManifest *manifests)
{
	for (size_t i = 0; i < list->count; i++)
	{
		ManifestFile *row = &list->rows[i];

		lake_check_interrupts();
		*row = manifests[i].old != NULL ? *manifests[i].old :
			manifests[i].added->file;
		if (manifests[i].old == NULL)
			assign(list->header, row);
		complete_row(list, row);
		if (needs_row_ids(list, row))
			assign_row_ids(list, row);
		for (int j = FIRST_COUNT; j <= LAST_COUNT; j++)
			list->has_unknown[j] |= count_of(row, j) < 0;
	}
}

/* ---- the file ---- */

static bool
is_optional(const ListWriter *list, int column)
{
	return columns[column].is_optional || list->has_unknown[column];
}

static const char *
list_schema(const ListWriter *list)
{
	LakeBuffer	schema;

	buffer_init(&schema, list->arena);
	buffer_append_text(&schema, "{\"type\":\"record\","
					   "\"name\":\"manifest_file\",\"fields\":[");
	for (int i = 0; i < COLUMN_COUNT; i++)
	{
		if (columns[i].first_version <= list->header->format_version)
			avro_schema_field(&schema, columns[i].name, columns[i].id,
							  columns[i].type, is_optional(list, i));
	}
	buffer_append(&schema, "]}", sizeof "]}");
	return (const char *) schema.data;
}

static const char *
number(const ListWriter *list, int64_t value)
{
	return lake_printf(list->arena, "%lld", (long long) value);
}

static void
begin_list(ListWriter *list, LakeOutput *output, LakeCodec codec,
		   int32_t level)
{
	const ManifestListHeader *header = list->header;
	const char *pairs[] = {
		"snapshot-id", number(list, header->snapshot_id),
		"parent-snapshot-id", header->parent_id == -1 ? "null" :
		number(list, header->parent_id),
		"format-version", number(list, header->format_version),
		/* since v2 */
		"sequence-number", number(list, header->sequence_number),
		/* since v3 */
		"first-row-id", number(list, header->first_row_id),
	};
	int			count = header->format_version == 1 ? 3 :
		header->format_version == 2 ? 4 : 5;

	list->avro = avro_writer_create(list->arena, output, list_schema(list),
									pairs, count, codec, level);
}

static void
write_optional_bytes(AvroWriter *avro, LakeBytes bytes)
{
	avro_write_branch(avro, bytes.data != NULL);
	if (bytes.data != NULL)
		avro_write_bytes(avro, bytes);
}

static void
write_summaries(AvroWriter *avro, const ManifestFile *row)
{
	avro_write_branch(avro, row->has_summaries);
	if (!row->has_summaries)
		return;
	avro_write_array_begin(avro, (size_t) row->summary_count);
	for (int i = 0; i < row->summary_count; i++)
	{
		const FieldSummary *summary = &row->summaries[i];

		avro_write_bool(avro, summary->has_null);
		avro_write_branch(avro, summary->nan_is_known);
		if (summary->nan_is_known)
			avro_write_bool(avro, summary->has_nan);
		write_optional_bytes(avro, summary->lower);
		write_optional_bytes(avro, summary->upper);
	}
	avro_write_array_end(avro);
}

static void
write_count(const ListWriter *list, const ManifestFile *row, int column)
{
	int64_t		count = count_of(row, column);

	if (is_optional(list, column))
		avro_write_branch(list->avro, count >= 0);
	if (count >= 0)
		avro_write_long(list->avro, count);
}

static void
write_column(const ListWriter *list, const ManifestFile *row, int column)
{
	AvroWriter *avro = list->avro;

	switch ((ListColumn) column)
	{
		case COLUMN_PATH:
			avro_write_bytes(avro, (LakeBytes) {(const uint8_t *) row->path,
												strlen(row->path)});
			break;
		case COLUMN_LENGTH:
			avro_write_long(avro, row->length);
			break;
		case COLUMN_SPEC_ID:
			avro_write_long(avro, row->spec_id);
			break;
		case COLUMN_CONTENT:
			avro_write_long(avro, row->has_deletes);
			break;
		case COLUMN_SEQUENCE_NUMBER:
			avro_write_long(avro, row->sequence_number);
			break;
		case COLUMN_MIN_SEQUENCE_NUMBER:
			avro_write_long(avro, row->min_sequence_number);
			break;
		case COLUMN_SNAPSHOT_ID:
			avro_write_long(avro, row->snapshot_id);
			break;
		case COLUMN_SUMMARIES:
			write_summaries(avro, row);
			break;
		case COLUMN_KEY_METADATA:
			write_optional_bytes(avro, row->key_metadata);
			break;
		case COLUMN_FIRST_ROW_ID:
			avro_write_branch(avro, row->first_row_id != -1);
			if (row->first_row_id != -1)
				avro_write_long(avro, row->first_row_id);
			break;
		default:
			write_count(list, row, column);
	}
}

static void
write_rows(const ListWriter *list)
{
	for (size_t i = 0; i < list->count; i++)
	{
		for (int j = 0; j < COLUMN_COUNT; j++)
		{
			if (columns[j].first_version <= list->header->format_version)
				write_column(list, &list->rows[i], j);
		}
		avro_writer_end_record(list->avro);
	}
	avro_writer_finish(list->avro);
}

int64_t
manifest_list_write(LakeArena *arena, LakeStore *store, const char *location,
					const ManifestListHeader *header,
					const ListedManifest *manifests, size_t count,
					LakeCodec codec, int32_t level)
{
	LakeArena  *scratch = lake_arena_create(arena, "manifest list writing");
	ListWriter	list = {.arena = scratch, .store = store, .header = header,
		.count = count, .next_row_id = header->first_row_id
	};
	LakeOutput *output;
	LakeFrame	frame;

	lake_frame_push(&frame, "writing manifest list", location);
	if (count > ICEBERG_MAX_MANIFEST_LIST_ENTRIES)
		lake_throw_hint(LAKE_ERROR_LIMIT,
						"Rewriting the table's manifests makes them fewer.",
						"manifest list would have more than %d entries",
						ICEBERG_MAX_MANIFEST_LIST_ENTRIES);
	list.rows = lake_alloc_array(scratch, count, sizeof *list.rows);
	collect_rows(&list, manifests);
	output = lake_output_create(store, location);
	begin_list(&list, output, codec, level);
	write_rows(&list);
	lake_output_finish(output);
	lake_frame_pop(&frame);
	lake_arena_destroy(scratch);
	return list.next_row_id;
}
