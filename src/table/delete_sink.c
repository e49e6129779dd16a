/*
 * Files of deletes: position delete files, and Puffin files of deletion
 * vectors.
 *
 * Rows of a position delete file are sorted by path and position; a file that
 * is of one data file says so, by its bounds and by name, so that readers of
 * others can leave it aside.
 *
 * Iceberg spec, "Position Delete Files", "Deletion Vectors"; Puffin spec.
 */
#include "table/file_sink.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "table/table_int.h"

/* positions that become rows at a time */
#define CHUNK_ROWS		BATCH_MAX_ROWS

/* ---- in order ---- */

/* deletes with their partition as bytes that are equal for equal ones */
typedef struct SortedDeletes
{
	FileDeletes deletes;
	LakeBytes	partition;
} SortedDeletes;

static int
compare_deletes(const void *a, const void *b)
{
	const SortedDeletes *left = a;
	const SortedDeletes *right = b;
	int			order = value_compare_bytes(left->partition,
											right->partition);

	return order != 0 ? order :
		strcmp(left->deletes.path, right->deletes.path);
}

/* by partition, then by path */
static SortedDeletes *
sort_deletes(LakeArena *arena, const FileDeletes *deletes, int count)
{
	SortedDeletes *sorted = lake_alloc_array(arena, (size_t) count + 1,
											 sizeof *sorted);

	for (int i = 0; i < count; i++)
	{
		LakeBuffer	key;

		buffer_init(&key, arena);
		partition_values_key(deletes[i].spec, deletes[i].partition, &key);
		sorted[i].deletes = deletes[i];
		sorted[i].partition = (LakeBytes) {key.data, key.len};
	}
	qsort(sorted, (size_t) count, sizeof *sorted, compare_deletes);
	return sorted;
}

static bool
is_same_partition(const SortedDeletes *a, const SortedDeletes *b)
{
	return value_compare_bytes(a->partition, b->partition) == 0;
}

/* ---- position delete files ---- */

static ParquetField path_column = {
	.name = "file_path", .field_id = LAKE_FIELD_DELETE_PATH,
	.shape = PARQUET_PRIMITIVE, .physical = PARQUET_BYTE_ARRAY,
	.logical = PARQUET_LOGICAL_STRING, .layout = VECTOR_BYTES
};
static ParquetField position_column = {
	.name = "pos", .field_id = LAKE_FIELD_DELETE_POS,
	.shape = PARQUET_PRIMITIVE, .physical = PARQUET_INT64,
	.layout = VECTOR_I64
};
static const ParquetField *const delete_columns[] = {
	&path_column, &position_column
};

typedef struct DeleteWriter
{
	LakeArena  *arena;			/* of the results */
	const FileSinkOptions *options;
	LakeArena  *scratch;
	ParquetWriterOptions parquet;
	LakeBytes  *paths;			/* CHUNK_ROWS, all of the current data file */
	uint64_t   *positions;		/* CHUNK_ROWS */
	LakeBuffer	files;			/* of WrittenFile * */
	/* the open file, NULL: none */
	LakeArena  *file_arena;
	ParquetWriter *writer;
	LakeOutput *output;
	WrittenFile *file;
	int			path_count;		/* data files that it has rows of */
} DeleteWriter;

static void
set_delete_options(DeleteWriter *writer)
{
	static const char *const metadata[] = {"delete-type", "position"};
	const WriteOptions *write = writer->options->write;

	writer->parquet = (ParquetWriterOptions)
	{
		.workspace = parquet_workspace_create(writer->scratch),
			.codec = write->delete_codec, .level = write->delete_level,
			.row_group_bytes = write->row_group_bytes,
			.page_bytes = write->page_bytes, .page_rows = write->page_rows,
			.dictionary_bytes = write->dictionary_bytes,
			.created_by = write->created_by, .metadata_count = 1,
			.metadata = metadata
	};
}

/* a name that no other file of the prefix has */
static const char *
file_name(LakeArena *arena, const FileSinkOptions *options,
		  const char *suffix)
{
	return lake_printf(arena, "%s-%05d%s", options->file_prefix,
					   (*options->file_number)++, suffix);
}

static void
begin_delete_file(DeleteWriter *writer, const FileDeletes *deletes)
{
	const WriteOptions *write = writer->options->write;
	WrittenFile *file = lake_alloc(writer->arena, sizeof *file);

	file->kind = WRITTEN_POSITION_DELETES;
	file->spec = deletes->spec;
	file->partition = deletes->partition;
	file->sort_order_id = -1;
	file->content_offset = -1;
	file->path = write->locate(writer->arena, write, file->spec,
							   file->partition,
							   file_name(writer->scratch, writer->options,
										 "-deletes.parquet"));
	writer->file = file;
	writer->path_count = 0;
	writer->file_arena = lake_arena_create(writer->scratch,
										   "lake delete file");
	writer->output = lake_output_create(writer->options->store, file->path);
	writer->writer = parquet_writer_create(writer->file_arena, writer->output,
										   delete_columns, 2,
										   &writer->parquet);
}

/*
 * Counts of these columns say nothing, and their bounds are for readers that
 * look for one data file's deletes.
 */
static void
set_delete_metrics(DeleteWriter *writer, const ParquetTotals *totals)
{
	WrittenFile *file = writer->file;
	ColumnMetrics *metrics = lake_alloc_array(writer->arena, 2,
											  sizeof *metrics);

	for (int i = 0; i < 2; i++)
	{
		/* ascending by field id: the position first */
		const ParquetLeafTotals *leaf = &totals->leaves[1 - i];

		metrics[i] = (ColumnMetrics)
		{
			.field_id = leaf->field->field_id, .size = leaf->size,
				.value_count = -1, .null_count = -1, .nan_count = -1
		};
	}
	file->metrics = metrics;
	file->metric_count = 2;
	if (file->referenced_file == NULL)
		return;
	for (int side = 0; side < 2; side++)
	{
		int64_t    *position = lake_alloc(writer->arena, sizeof *position);
		LakeBytes	number = {(const uint8_t *) position, sizeof *position};
		LakeBytes	path = {(const uint8_t *) file->referenced_file,
		strlen(file->referenced_file)};

		*position = ((const int64_t *) totals->leaves[1].bounds.values)[side];
		*(side == 0 ? &metrics[0].lower : &metrics[0].upper) = number;
		*(side == 0 ? &metrics[1].lower : &metrics[1].upper) = path;
	}
}

static void
end_delete_file(DeleteWriter *writer)
{
	WrittenFile *file = writer->file;
	const ParquetTotals *totals;

	if (writer->writer == NULL)
		return;
	totals = parquet_writer_finish(writer->writer);
	lake_output_finish(writer->output);
	if (writer->path_count > 1)
		file->referenced_file = NULL;
	file_totals_set(writer->arena, file, totals);
	set_delete_metrics(writer, totals);
	buffer_append(&writer->files, &file, sizeof file);
	lake_arena_destroy(writer->file_arena);
	writer->writer = NULL;
}

/* positions of one data file; false: the file has grown enough before the end */
static bool
write_positions(DeleteWriter *writer, const FileDeletes *deletes,
				uint64_t *next)
{
	LakeVector	path = {.layout = VECTOR_BYTES, .values = writer->paths};
	LakeVector	position = {.layout = VECTOR_I64, .values = writer->positions};
	const LakeVector *const columns[] = {&path, &position};
	size_t		count;

	writer->path_count++;
	writer->file->referenced_file = lake_strdup(writer->arena, deletes->path);
	while ((count = bitmap_list(deletes->positions, *next, writer->positions,
								CHUNK_ROWS)) > 0)
	{
		lake_check_interrupts();
		path.count = position.count = (uint32_t) count;
		parquet_writer_write(writer->writer, columns, NULL, (uint32_t) count);
		*next = writer->positions[count - 1] + 1;
		if (parquet_writer_size(writer->writer) >=
			writer->options->write->target_delete_bytes)
			return false;
	}
	return true;
}

static void
write_deletes(DeleteWriter *writer, const FileDeletes *deletes)
{
	uint64_t	next = 0;
	uint64_t	left = bitmap_cardinality(deletes->positions);
	LakeBytes	path = {(const uint8_t *) deletes->path, strlen(deletes->path)};

	for (int i = 0; i < CHUNK_ROWS; i++)
		writer->paths[i] = path;
	while (left > 0)
	{
		if (writer->writer == NULL)
			begin_delete_file(writer, deletes);
		if (!write_positions(writer, deletes, &next))
			end_delete_file(writer);
		left = bitmap_count_range(deletes->positions, next,
								  (uint64_t) 1 << 63);
	}
}

const WrittenFile *const *
position_deletes_write(LakeArena *arena, const FileSinkOptions *options,
					   const FileDeletes *deletes, int count,
					   int *file_count)
{
	DeleteWriter writer = {.arena = arena, .options = options};
	SortedDeletes *sorted;

	writer.scratch = lake_arena_create(arena, "lake position deletes");
	buffer_init(&writer.files, arena);
	/* a result without files is an array all the same */
	buffer_reserve(&writer.files, sizeof(WrittenFile *));
	set_delete_options(&writer);
	writer.paths = lake_alloc_array(writer.scratch, CHUNK_ROWS,
									sizeof *writer.paths);
	writer.positions = lake_alloc_array(writer.scratch, CHUNK_ROWS,
										sizeof *writer.positions);
	sorted = sort_deletes(writer.scratch, deletes, count);
	for (int i = 0; i < count; i++)
	{
		if (i > 0 && (options->write->deletes_by_file ||
					  !is_same_partition(&sorted[i - 1], &sorted[i])))
			end_delete_file(&writer);
		write_deletes(&writer, &sorted[i].deletes);
	}
	end_delete_file(&writer);
	lake_arena_destroy(writer.scratch);
	*file_count = (int) (writer.files.len / sizeof(WrittenFile *));
	return (const WrittenFile *const *) (void *) writer.files.data;
}

/* ---- deletion vectors ---- */

#define PUFFIN_MAGIC	"PFA1"
#define VECTOR_MAGIC	"\xd1\xd3\x39\x64"

static void
store_u32be(uint8_t *out, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(out, &value, sizeof value);
}

/* length, magic, bitmap, checksum */
static void
format_vector(const LakeBitmap *positions, LakeBuffer *blob)
{
	uint8_t		checksum[4];

	blob->len = 0;
	buffer_append(blob, "\0\0\0\0" VECTOR_MAGIC, 8);
	bitmap_format64(positions, blob);
	if ((int64_t) blob->len + 4 > DELETES_MAX_VECTOR_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "deletion vector has %zu bytes, more than %lld",
				   blob->len + 4, (long long) DELETES_MAX_VECTOR_BYTES);
	store_u32be(blob->data, (uint32_t) blob->len - 4);
	store_u32be(checksum, hash_crc32(0, blob->data + 4, blob->len - 4));
	buffer_append(blob, checksum, sizeof checksum);
}

static void
append_blob_json(LakeBuffer *footer, const WrittenFile *file)
{
	buffer_printf(footer, "{\"type\":\"deletion-vector-v1\",\"fields\":[%d],"
				  "\"snapshot-id\":-1,\"sequence-number\":-1,"
				  "\"offset\":%lld,\"length\":%lld,\"properties\":"
				  "{\"referenced-data-file\":", LAKE_FIELD_POS,
				  (long long) file->content_offset,
				  (long long) file->content_size);
	json_append_string(footer, file->referenced_file);
	buffer_printf(footer, ",\"cardinality\":\"%lld\"}}",
				  (long long) file->record_count);
}

/* magic, JSON, its length, flags, magic */
static void
format_footer(const WriteOptions *write, WrittenFile *const *files, int count,
			  LakeBuffer *footer)
{
	uint32_t	words[2] = {0, 0};

	footer->len = 0;
	buffer_append_text(footer, PUFFIN_MAGIC "{\"blobs\":[");
	for (int i = 0; i < count; i++)
	{
		if (i > 0)
			buffer_append_byte(footer, ',');
		append_blob_json(footer, files[i]);
	}
	buffer_append_text(footer, "],\"properties\":{\"created-by\":");
	json_append_string(footer, write->created_by);
	buffer_append_text(footer, "}}");
	if (footer->len > INT32_MAX)
		lake_throw(LAKE_ERROR_LIMIT, "the Puffin footer has %zu bytes",
				   footer->len);
	words[0] = (uint32_t) footer->len - 4;
	buffer_append(footer, words, sizeof words);
	buffer_append_text(footer, PUFFIN_MAGIC);
}

const WrittenFile *const *
deletion_vectors_write(LakeArena *arena, const FileSinkOptions *options,
					   const FileDeletes *deletes, int count)
{
	/* its vectors may be of several partitions, so the file is in none */
	static const LakePartitionSpec no_partition = {0};
	const WriteOptions *write = options->write;
	WrittenFile **files = lake_alloc_array(arena, (size_t) count + 1,
										   sizeof *files);
	const char *path;
	LakeOutput *output;
	LakeArena  *scratch;
	LakeBuffer	bytes;

	if (count == 0)
		return (const WrittenFile *const *) files;
	scratch = lake_arena_create(arena, "lake deletion vectors");
	buffer_init(&bytes, scratch);
	path = write->locate(arena, write, &no_partition, NULL,
						 file_name(scratch, options, "-deletes.puffin"));
	output = lake_output_create(options->store, path);
	lake_output_write(output, PUFFIN_MAGIC, 4);
	for (int i = 0; i < count; i++)
	{
		WrittenFile *file = files[i] = lake_alloc(arena, sizeof *file);

		lake_check_interrupts();
		format_vector(deletes[i].positions, &bytes);
		file->kind = WRITTEN_DELETION_VECTOR;
		file->path = path;
		file->spec = deletes[i].spec;
		file->partition = deletes[i].partition;
		file->record_count = (int64_t)
			bitmap_cardinality(deletes[i].positions);
		file->sort_order_id = -1;
		file->referenced_file = lake_strdup(arena, deletes[i].path);
		file->content_offset = (int64_t) lake_output_size(output);
		file->content_size = (int64_t) bytes.len;
		lake_output_write(output, bytes.data, bytes.len);
	}
	format_footer(write, files, count, &bytes);
	lake_output_write(output, bytes.data, bytes.len);
	lake_output_finish(output);
	for (int i = 0; i < count; i++)
		files[i]->size = (int64_t) lake_output_size(output);
	lake_arena_destroy(scratch);
	return (const WrittenFile *const *) files;
}
