/*
 * Rows to data files.
 *
 * A sink has one open file a partition.  The rows of a batch are grouped by the
 * partition that their values say, then each group is written at once.
 *
 * What open files hold in memory has a limit.  Beyond it the largest ones write
 * their rows as row groups, and where that does not help, since footers and
 * empty writers take memory too, the largest ones end.  So a thousand
 * partitions take no more memory than one, and get more row groups and files.
 */
#include "table/file_sink.h"

#include <stdlib.h>

#include "table/table_int.h"

/* a partition that rows were written to */
typedef struct SinkPartition
{
	const LakePartitionSpec *spec;
	const LakeValue *values;
	/* the open file, NULL: none */
	WrittenFile *file;
	LakeArena  *arena;			/* of the file's writer */
	LakeOutput *output;
	ParquetWriter *writer;
	size_t		held;			/* bytes of arena, when it was looked at last */
	/* rows of the current batch, in the sink's array of sorted rows */
	uint32_t	row_count;
	uint32_t	first_row;
} SinkPartition;

struct FileSink
{
	LakeArena  *arena;
	FileSinkOptions options;
	int			column_count;
	const ParquetField *const *fields;
	ParquetWriterOptions parquet;
	LakeBuffer	files;			/* of WrittenFile *, as they were begun */
	size_t		held;			/* of all partitions */
	KeySet	   *keys;			/* of partitions, by number */
	LakeBuffer	partitions;		/* of SinkPartition *, by number */
	/* of the current batch */
	LakeArena  *scratch;
	const LakeVector **columns; /* as the files want them */
	PartitionRows *rows;		/* NULL: the table is not partitioned */
	const LakeValue *no_values; /* all of the default spec's NULL */
	uint32_t   *numbers;		/* of rows' partitions */
	uint32_t   *sorted;			/* rows by partition */
	LakeBuffer	touched;		/* uint32_t: partitions with rows in it */
};

/* ---- creation ---- */

static void
set_bloom(FileSink *sink, int leaf_count)
{
	const WriteOptions *write = sink->options.write;
	bool	   *bloom = lake_alloc_array(sink->arena, (size_t) leaf_count + 1,
										 sizeof *bloom);

	for (int i = 0; i < write->column_count; i++)
	{
		const ColumnWriteOptions *column = &write->columns[i];
		int			leaf = !column->bloom ? -1 :
			parquet_fields_leaf(sink->fields, sink->column_count,
							column->field_id);

		if (leaf < 0)
			continue;
		bloom[leaf] = true;
		sink->parquet.bloom = bloom;
		/* a file has one rate for all */
		if (sink->parquet.bloom_fpp == 0 ||
			column->bloom_fpp < sink->parquet.bloom_fpp)
			sink->parquet.bloom_fpp = column->bloom_fpp;
	}
}

static void
set_parquet_options(FileSink *sink)
{
	const WriteOptions *write = sink->options.write;
	const char **metadata = lake_alloc_array(sink->arena, 2,
											 sizeof *metadata);

	metadata[0] = "iceberg.schema";
	metadata[1] = write->schema_json;
	sink->parquet = (ParquetWriterOptions)
	{
		.workspace = parquet_workspace_create(sink->arena),
			.codec = write->codec, .level = write->level,
			.row_group_bytes = write->row_group_bytes,
			.page_bytes = write->page_bytes, .page_rows = write->page_rows,
			.dictionary_bytes = write->dictionary_bytes,
			.created_by = write->created_by,
			.metadata_count = write->schema_json == NULL ? 0 : 1,
			.metadata = metadata, .bloom_max_bytes = write->bloom_max_bytes
	};
}

static const LakeValue *
all_null(LakeArena *arena, const LakePartitionSpec *spec)
{
	LakeValue  *values = lake_alloc_array(arena,
										  (size_t) spec->field_count + 1,
										  sizeof *values);

	for (int i = 0; i < spec->field_count; i++)
		values[i].is_null = true;
	return values;
}

FileSink *
file_sink_create(LakeArena *arena, const FileSinkOptions *options)
{
	static const LakeType type_long = {.kind = LAKE_LONG};
	static const LakeField lineage[] = {
		{.id = LAKE_FIELD_ROW_ID, .name = "_row_id", .type = &type_long},
		{.id = LAKE_FIELD_SEQUENCE, .name = "_last_updated_sequence_number",
		.type = &type_long}
	};
	const WriteOptions *write = options->write;
	const LakeSchema *schema = write->schema;
	FileSink   *sink = lake_alloc(arena, sizeof *sink);
	int			count = schema->field_count;
	int			leaf_count;
	const LakeField **fields = lake_alloc_array(arena, (size_t) count + 2,
												sizeof *fields);

	sink->arena = arena;
	sink->options = *options;
	for (int i = 0; i < count; i++)
		fields[i] = &schema->fields[i];
	if (options->row_ids)
	{
		fields[count++] = &lineage[0];
		fields[count++] = &lineage[1];
	}
	sink->column_count = count;
	sink->fields = parquet_fields_make(arena, fields, count, &leaf_count);
	set_parquet_options(sink);
	set_bloom(sink, leaf_count);
	buffer_init(&sink->files, arena);
	buffer_init(&sink->partitions, arena);
	buffer_init(&sink->touched, arena);
	sink->keys = key_set_create(arena);
	sink->columns = lake_alloc_array(arena, (size_t) count + 1,
									 sizeof *sink->columns);
	sink->scratch = lake_arena_create(arena, "lake sink batch");
	sink->numbers = lake_alloc_array(arena, BATCH_MAX_ROWS,
									 sizeof *sink->numbers);
	sink->sorted = lake_alloc_array(arena, BATCH_MAX_ROWS,
									sizeof *sink->sorted);
	sink->no_values = all_null(arena, write->spec);
	if (!partition_spec_is_unpartitioned(write->spec))
		sink->rows = partition_rows_create(arena, schema, write->spec);
	return sink;
}

/* ---- files ---- */

static WrittenFile *const *
file_array(const FileSink *sink)
{
	return (WrittenFile *const *) (void *) sink->files.data;
}

static size_t
count_files(const FileSink *sink)
{
	return sink->files.len / sizeof(WrittenFile *);
}

static void
count_held(FileSink *sink, SinkPartition *partition)
{
	size_t		held = partition->writer == NULL ? 0 :
		lake_arena_size(partition->arena);

	sink->held += held - partition->held;
	partition->held = held;
}

static void
begin_file(FileSink *sink, SinkPartition *partition)
{
	const FileSinkOptions *options = &sink->options;
	WrittenFile *file = lake_alloc(sink->arena, sizeof *file);
	const char *name = lake_printf(sink->scratch, "%s-%05d.parquet",
								   options->file_prefix,
								   (*options->file_number)++);

	file->kind = WRITTEN_DATA;
	file->spec = partition->spec;
	file->partition = partition->values;
	/* rows are as they came: in no order that a sort order promises */
	file->sort_order_id = 0;
	file->content_offset = -1;
	file->path = options->write->locate(sink->arena, options->write,
										partition->spec, partition->values,
										name);
	partition->output = lake_output_create(options->store, file->path);
	/* from now on it is the sink's to cancel */
	buffer_append(&sink->files, &file, sizeof file);
	partition->file = file;
	partition->arena = lake_arena_create(sink->arena, "lake data file");
	partition->writer = parquet_writer_create(partition->arena,
											  partition->output, sink->fields,
											  sink->column_count,
											  &sink->parquet);
}

static void
end_file(FileSink *sink, SinkPartition *partition)
{
	const ParquetTotals *totals = parquet_writer_finish(partition->writer);

	lake_output_finish(partition->output);
	file_metrics_set(sink->arena, partition->file, sink->options.write,
					 totals);
	partition->writer = NULL;
	partition->file = NULL;
	count_held(sink, partition);
	lake_arena_destroy(partition->arena);
}

size_t
file_sink_held_bytes(const FileSink *sink)
{
	return sink->held;
}

static void
write_rows(FileSink *sink, SinkPartition *partition,
		   const uint32_t *selection, uint32_t count)
{
	if (count == 0)
		return;
	if (partition->writer == NULL)
		begin_file(sink, partition);
	parquet_writer_write(partition->writer, sink->columns, selection, count);
	count_held(sink, partition);
	if (parquet_writer_size(partition->writer) >=
		sink->options.write->target_file_bytes)
		end_file(sink, partition);
}

/* ---- the limit of memory ---- */

typedef struct HeldBytes
{
	SinkPartition *partition;
	size_t		bytes;
} HeldBytes;

static int
compare_held(const void *a, const void *b)
{
	size_t		left = ((const HeldBytes *) a)->bytes;
	size_t		right = ((const HeldBytes *) b)->bytes;

	return (left < right) - (left > right);
}

static SinkPartition *
partition_at(const FileSink *sink, size_t number)
{
	return ((SinkPartition *const *) (void *) sink->partitions.data)[number];
}

/* open files, the largest first: by rows that are not written, or by all */
static HeldBytes *
list_held(FileSink *sink, bool rows, size_t *count)
{
	size_t		partitions = sink->partitions.len / sizeof(SinkPartition *);
	HeldBytes  *list = lake_alloc_array(sink->scratch, partitions + 1,
										sizeof *list);

	*count = 0;
	for (size_t i = 0; i < partitions; i++)
	{
		SinkPartition *partition = partition_at(sink, i);

		if (partition->writer == NULL)
			continue;
		list[*count].partition = partition;
		list[(*count)++].bytes = rows ?
			parquet_writer_held_bytes(partition->writer) : partition->held;
	}
	qsort(list, *count, sizeof *list, compare_held);
	return list;
}

/*
 * Down to half of the limit, so that what is written is worth it; but three
 * quarters are good enough when all rows are in files.
 */
static void
make_room(FileSink *sink)
{
	size_t		limit = sink->options.memory_limit;
	size_t		count;
	HeldBytes  *list = list_held(sink, true, &count);

	for (size_t i = 0; i < count && sink->held > limit / 2; i++)
	{
		lake_check_interrupts();
		parquet_writer_flush(list[i].partition->writer);
		count_held(sink, list[i].partition);
	}
	if (sink->held <= limit / 4 * 3)
		return;
	list = list_held(sink, false, &count);
	for (size_t i = 0; i < count && sink->held > limit / 2; i++)
	{
		lake_check_interrupts();
		end_file(sink, list[i].partition);
	}
}

/* ---- rows to partitions ---- */

static SinkPartition *
add_partition(FileSink *sink, const LakePartitionSpec *spec,
			  const LakeValue *values)
{
	SinkPartition *partition = lake_alloc(sink->arena, sizeof *partition);

	partition->spec = spec;
	partition->values = partition_values_copy(sink->arena, spec, values);
	buffer_append(&sink->partitions, &partition, sizeof partition);
	return partition;
}

static SinkPartition *
find_partition(FileSink *sink, const LakePartitionSpec *spec,
			   const LakeValue *values)
{
	LakeBuffer	key;
	uint32_t	known = key_set_count(sink->keys);
	uint32_t	number;

	buffer_init(&key, sink->scratch);
	partition_values_key(spec, values, &key);
	number = key_set_add(sink->keys, (LakeBytes) {key.data, key.len});
	return number < known ? partition_at(sink, number) :
		add_partition(sink, spec, values);
}

/* sets numbers of rows' partitions, and how many rows those have */
static void
number_rows(FileSink *sink, const LakeVector *const *columns,
			const uint32_t *selection, uint32_t first, uint32_t count)
{
	const LakePartitionSpec *spec = sink->options.write->spec;
	KeyRows		keys = partition_rows_keys(sink->rows, columns, selection,
										   first, count);
	uint32_t	known = key_set_count(sink->keys);

	key_set_add_rows(sink->keys, &keys, sink->numbers);
	sink->touched.len = 0;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	number = sink->numbers[i];
		SinkPartition *partition;

		if (number == known)
		{
			(void) add_partition(sink, spec,
								 partition_rows_tuple(sink->rows, i));
			known++;
		}
		partition = partition_at(sink, number);
		if (partition->row_count++ == 0)
			buffer_append(&sink->touched, &number, sizeof number);
	}
}

/* sorts the numbered rows by partition, each one's in their order */
static void
sort_rows(FileSink *sink, const uint32_t *selection, uint32_t first,
		  uint32_t count)
{
	const uint32_t *touched = (const uint32_t *) (void *) sink->touched.data;
	size_t		touched_count = sink->touched.len / sizeof *touched;
	uint32_t	at = 0;

	for (size_t i = 0; i < touched_count; i++)
	{
		SinkPartition *partition = partition_at(sink, touched[i]);

		partition->first_row = at;
		at += partition->row_count;
		partition->row_count = 0;
	}
	for (uint32_t i = 0; i < count; i++)
	{
		SinkPartition *partition = partition_at(sink, sink->numbers[i]);

		sink->sorted[partition->first_row + partition->row_count++] =
			selection == NULL ? first + i : selection[i];
	}
}

/* at most BATCH_MAX_ROWS rows, which begin at first without a selection */
static void
write_piece(FileSink *sink, const LakeVector *const *columns,
			const uint32_t *selection, uint32_t first, uint32_t count)
{
	const uint32_t *touched;
	size_t		touched_count;

	number_rows(sink, columns, selection, first, count);
	sort_rows(sink, selection, first, count);
	touched = (const uint32_t *) (void *) sink->touched.data;
	touched_count = sink->touched.len / sizeof *touched;
	for (size_t i = 0; i < touched_count; i++)
	{
		SinkPartition *partition = partition_at(sink, touched[i]);
		uint32_t	rows = partition->row_count;

		partition->row_count = 0;
		write_rows(sink, partition, sink->sorted + partition->first_row,
				   rows);
		if (sink->held > sink->options.memory_limit)
			make_room(sink);
	}
}

/* ---- the interface ---- */

static void
begin_batch(FileSink *sink, const LakeVector *const *columns)
{
	lake_arena_reset(sink->scratch);
	for (int i = 0; i < sink->column_count; i++)
		sink->columns[i] = parquet_fields_narrow(sink->scratch,
												 sink->fields[i], columns[i]);
}

void
file_sink_write_to(FileSink *sink, const LakePartitionSpec *spec,
				   const LakeValue *partition,
				   const LakeVector *const *columns,
				   const uint32_t *selection, uint32_t count)
{
	begin_batch(sink, columns);
	write_rows(sink, find_partition(sink, spec, partition), selection, count);
	if (sink->held > sink->options.memory_limit)
		make_room(sink);
}

void
file_sink_write(FileSink *sink, const LakeVector *const *columns,
				const uint32_t *selection, uint32_t count)
{
	const LakePartitionSpec *spec = sink->options.write->spec;

	if (sink->rows == NULL)
	{
		file_sink_write_to(sink, spec, sink->no_values, columns, selection,
						   count);
		return;
	}
	begin_batch(sink, columns);
	for (uint32_t at = 0; at < count; at += BATCH_MAX_ROWS)
	{
		uint32_t	left = count - at;

		write_piece(sink, columns, selection == NULL ? NULL : selection + at,
					at, left < BATCH_MAX_ROWS ? left : BATCH_MAX_ROWS);
	}
}

const WrittenFile *const *
file_sink_finish(FileSink *sink, int *count)
{
	for (size_t i = 0; i < sink->partitions.len / sizeof(SinkPartition *);
		 i++)
	{
		SinkPartition *partition = partition_at(sink, i);

		lake_check_interrupts();
		if (partition->writer != NULL)
			end_file(sink, partition);
	}
	lake_arena_destroy(sink->scratch);
	*count = (int) count_files(sink);
	return (const WrittenFile *const *) file_array(sink);
}

void
file_sink_cancel(FileSink *sink)
{
	/* the newest first: so the set finds them at once */
	for (size_t i = count_files(sink); i-- > 0;)
		put_set_discard(sink->options.store->puts, file_array(sink)[i]->path);
}
