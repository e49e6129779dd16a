/*
 * Rows to data files.
 *
 * A sink has one open file a partition.  The rows of a batch are grouped by the
 * partition that their values say, then each group is written at once.
 *
 * What open files hold in memory has a limit.  Beyond it the largest ones write
 * their rows as row groups, and where that does not help, since footers take
 * memory too, the largest ones end.  So a thousand partitions take no more
 * memory than one, and get more row groups and files.
 *
 * Writers without rows take some 40 kB.  When those alone come near the limit,
 * it gives way a little, since files of a few rows each would help nobody.
 */
#include "table/file_sink.h"

#include <stdlib.h>

#include "table/table_int.h"

/* bytes that open files may hold beyond the limit when they are very many */
#define MAX_BEYOND		((size_t) 64 << 20)

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
	size_t		empty;			/* of them without any rows */
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
	/* of all partitions */
	size_t		held;
	size_t		empty;
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
	RowStore   *gathered;		/* rows of one partition; NULL: not needed yet */
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
	count_held(sink, partition);
	partition->empty = partition->held;
	sink->empty += partition->empty;
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
	sink->empty -= partition->empty;
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

/* with as much for rows and footers as for what writers take without them */
static size_t
current_limit(const FileSink *sink)
{
	size_t		limit = sink->options.memory_limit;
	size_t		most = limit < SIZE_MAX - MAX_BEYOND ? limit + MAX_BEYOND : limit;
	size_t		wanted = 2 * sink->empty;

	return wanted <= limit ? limit : wanted < most ? wanted : most;
}

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
 * Rows go until half of what they had is free, so that what is written is worth
 * it.  If that leaves too little for the next ones, files end.
 */
static void
make_room(FileSink *sink)
{
	size_t		limit = current_limit(sink);
	size_t		count;
	HeldBytes  *list;

	if (sink->held <= limit)
		return;
	list = list_held(sink, true, &count);
	for (size_t i = 0; i < count && sink->held > limit / 4 * 3; i++)
	{
		lake_check_interrupts();
		parquet_writer_flush(list[i].partition->writer);
		count_held(sink, list[i].partition);
	}
	if (sink->held <= limit / 8 * 7)
		return;
	list = list_held(sink, false, &count);
	for (size_t i = 0; i < count && sink->held > limit / 4 * 3; i++)
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

/*
 * Sets the numbers of rows' partitions, and adds to how many rows those have;
 * at most BATCH_MAX_ROWS rows.
 */
static void
number_rows(FileSink *sink, const LakeVector *const *columns,
			const uint32_t *selection, uint32_t first, uint32_t count,
			uint32_t *numbers)
{
	const LakePartitionSpec *spec = sink->options.write->spec;
	KeyRows		keys = partition_rows_keys(sink->rows, columns, selection,
										   first, count);
	uint32_t	known = key_set_count(sink->keys);

	key_set_add_rows(sink->keys, &keys, numbers);
	for (uint32_t i = 0; i < count; i++)
	{
		SinkPartition *partition;

		if (numbers[i] == known)
		{
			(void) add_partition(sink, spec,
								 partition_rows_tuple(sink->rows, i));
			known++;
		}
		partition = partition_at(sink, numbers[i]);
		if (partition->row_count++ == 0)
			buffer_append(&sink->touched, &numbers[i], sizeof numbers[i]);
	}
}

static size_t
count_touched(const FileSink *sink)
{
	return sink->touched.len / sizeof(uint32_t);
}

static SinkPartition *
touched_at(const FileSink *sink, size_t i)
{
	return partition_at(sink,
						((const uint32_t *) (void *) sink->touched.data)[i]);
}

/*
 * Sorts the numbered rows by partition, each one's in their order: rows
 * selection[i], or (NULL) first + i.
 */
static void
sort_rows(FileSink *sink, const uint32_t *numbers, const uint32_t *selection,
		  uint32_t first, uint32_t count, uint32_t *sorted)
{
	uint32_t	at = 0;

	for (size_t i = 0; i < count_touched(sink); i++)
	{
		SinkPartition *partition = touched_at(sink, i);

		partition->first_row = at;
		at += partition->row_count;
		partition->row_count = 0;
	}
	for (uint32_t i = 0; i < count; i++)
	{
		SinkPartition *partition = partition_at(sink, numbers[i]);

		sorted[partition->first_row + partition->row_count++] =
			selection == NULL ? first + i : selection[i];
	}
}

/* the rows of a partition that are to be written, which it has no more then */
static uint32_t
take_rows(SinkPartition *partition)
{
	uint32_t	count = partition->row_count;

	partition->row_count = 0;
	return count;
}

/* at most BATCH_MAX_ROWS rows, which begin at first without a selection */
static void
write_piece(FileSink *sink, const LakeVector *const *columns,
			const uint32_t *selection, uint32_t first, uint32_t count)
{
	sink->touched.len = 0;
	number_rows(sink, columns, selection, first, count, sink->numbers);
	sort_rows(sink, sink->numbers, selection, first, count, sink->sorted);
	for (size_t i = 0; i < count_touched(sink); i++)
	{
		SinkPartition *partition = touched_at(sink, i);
		uint32_t	rows = take_rows(partition);

		write_rows(sink, partition, sink->sorted + partition->first_row,
				   rows);
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

/* ---- rows of a store ---- */

/* rows that are sorted together; their numbers take 12 bytes each */
#define WINDOW_ROWS		((uint32_t) 1 << 20)
/* rows of a batch that a partition must have to be written by themselves */
#define MIN_ROWS		32

typedef struct Window
{
	RowStore   *store;
	uint64_t	first;			/* row of the store */
	uint32_t	count;			/* rows that are written */
	uint32_t	batch_count;
	uint32_t   *rows;			/* from first on */
	uint32_t   *numbers;		/* of their partitions */
	uint32_t   *sorted;
} Window;

/* rows of a batch that are not in without */
static uint32_t
select_rows(const LakeBitmap *without, uint64_t first, uint32_t count,
			uint32_t *selection)
{
	uint8_t		mask[BATCH_MAX_ROWS] = {0};
	uint32_t	selected = 0;

	if (without != NULL)
		(void) bitmap_mark(without, first, count, mask);
	for (uint32_t i = 0; i < count; i++)
	{
		selection[selected] = i;
		selected += mask[i] == 0;
	}
	return selected;
}

/* batches end where the store's pieces do */
static uint32_t
next_batch(RowStore *store, uint64_t row, uint64_t end,
		   const LakeVector *const **columns)
{
	uint32_t	count = row >= end ? 0 : row_store_batch(store, row, columns);

	return count > end - row ? (uint32_t) (end - row) : count;
}

/* the partitions of rows from first on; returns the row after them */
static uint64_t
fill_window(FileSink *sink, Window *window, uint64_t end,
			const LakeBitmap *without)
{
	const LakeVector *const *columns;
	uint32_t	selection[BATCH_MAX_ROWS];
	uint64_t	row = window->first;
	uint32_t	count;

	window->count = 0;
	window->batch_count = 0;
	sink->touched.len = 0;
	while (window->count <= WINDOW_ROWS - BATCH_MAX_ROWS &&
		   row - window->first <= UINT32_MAX - BATCH_MAX_ROWS &&
		   (count = next_batch(window->store, row, end, &columns)) > 0)
	{
		uint32_t	selected = select_rows(without, row, count, selection);

		lake_check_interrupts();
		number_rows(sink, columns, selection, 0, selected,
					window->numbers + window->count);
		for (uint32_t i = 0; i < selected; i++)
			window->rows[window->count++] =
				(uint32_t) (row - window->first) + selection[i];
		window->batch_count++;
		row += count;
	}
	return row;
}

/* copies rows of one partition together, as many as a batch has, and writes */
static void
write_gathered(FileSink *sink, SinkPartition *partition,
			   const Window *window, const uint32_t *rows, uint32_t count)
{
	RowStore   *gathered = sink->gathered;
	int			column_count = row_store_schema(gathered)->field_count;
	const LakeVector *const *columns;

	row_store_truncate(gathered, 0);
	for (uint32_t i = 0; i < count; i++)
	{
		uint64_t	row = window->first + rows[i];
		uint32_t	place = (uint32_t) (row % BATCH_MAX_ROWS);

		(void) row_store_batch(window->store, row - place, &columns);
		for (int c = 0; c < column_count; c++)
			vector_append_copy(row_store_column(gathered, c), columns[c],
							   place);
		row_store_end_row(gathered);
	}
	(void) row_store_batch(gathered, 0, &columns);
	begin_batch(sink, columns);
	write_rows(sink, partition, NULL, count);
	make_room(sink);
}

static void
write_window(FileSink *sink, const Window *window)
{
	sort_rows(sink, window->numbers, window->rows, 0, window->count,
			  window->sorted);
	for (size_t i = 0; i < count_touched(sink); i++)
	{
		SinkPartition *partition = touched_at(sink, i);
		const uint32_t *rows = window->sorted + partition->first_row;
		uint32_t	left = take_rows(partition);

		while (left > 0)
		{
			uint32_t	count = left < BATCH_MAX_ROWS ? left : BATCH_MAX_ROWS;

			lake_check_interrupts();
			write_gathered(sink, partition, window, rows, count);
			rows += count;
			left -= count;
		}
	}
}

/* batch by batch: the rows of a partition are together already */
static void
write_batches(FileSink *sink, RowStore *store, uint64_t first, uint64_t end,
			  const LakeBitmap *without)
{
	const LakeVector *const *columns;
	uint32_t	selection[BATCH_MAX_ROWS];
	uint32_t	count;

	for (uint64_t row = first;
		 (count = next_batch(store, row, end, &columns)) > 0; row += count)
	{
		uint32_t	selected = without == NULL ? count :
			select_rows(without, row, count, selection);

		lake_check_interrupts();
		file_sink_write(sink, columns, without == NULL ? NULL : selection,
						selected);
	}
}

void
file_sink_write_store(FileSink *sink, RowStore *store, uint64_t first,
					  uint64_t end, const LakeBitmap *without)
{
	LakeArena  *arena;
	Window		window = {.store = store};
	uint64_t	next;

	if (sink->rows == NULL || end - first <= BATCH_MAX_ROWS)
	{
		write_batches(sink, store, first, end, without);
		return;
	}
	arena = lake_arena_create(sink->arena, "lake sorted rows");
	window.rows = lake_alloc_array(arena, WINDOW_ROWS, sizeof *window.rows);
	window.numbers = lake_alloc_array(arena, WINDOW_ROWS,
									  sizeof *window.numbers);
	window.sorted = lake_alloc_array(arena, WINDOW_ROWS,
									 sizeof *window.sorted);
	if (sink->gathered == NULL)
		sink->gathered = row_store_create(sink->arena,
										  row_store_schema(store));
	for (; first < end; first = next)
	{
		window.first = first;
		next = fill_window(sink, &window, end, without);
		if (next == first)
			break;
		if (count_touched(sink) * window.batch_count * MIN_ROWS >
			window.count)
			write_window(sink, &window);
		else
		{
			for (size_t i = 0; i < count_touched(sink); i++)
				(void) take_rows(touched_at(sink, i));
			write_batches(sink, store, first, next, without);
		}
	}
	row_store_truncate(sink->gathered, 0);
	lake_arena_destroy(arena);
}

/* ---- the end ---- */

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
