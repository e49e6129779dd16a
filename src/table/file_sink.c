/*
 * Rows to data files.
 *
 * A sink has one open file a partition.  Rows of a batch are grouped by the
 * partition that their values say, then each group is written at once.  When
 * the rows that files hold in memory pass the limit, the largest of them are
 * written as row groups, so that a thousand partitions take no more memory than
 * one.  A file that has grown to its target size is ended, and the next row
 * begins another.
 */
#include "table/file_sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "table/table_int.h"

/* a partition that rows were written to */
typedef struct SinkPartition
{
	uint64_t	hash;
	LakeBytes	key;			/* of spec and values */
	const LakePartitionSpec *spec;
	const LakeValue *values;
	/* the open file, NULL: none */
	LakeArena  *arena;			/* of the file's writer */
	LakeOutput *output;
	const char *path;
	ParquetWriter *writer;
	/* rows of the current batch */
	uint32_t	row_count;
	uint32_t   *rows;			/* BATCH_MAX_ROWS, NULL: not needed yet */
	uint64_t	last_batch;		/* that it had rows of */
} SinkPartition;

struct FileSink
{
	LakeArena  *arena;
	FileSinkOptions options;
	int			column_count;
	const ParquetField *const *fields;
	ParquetWriterOptions parquet;
	LakeBuffer	files;			/* of WrittenFile *, ended ones */
	LakeBuffer	paths;			/* of const char *, all that were begun */
	/* partitions, in a table of open addressing */
	size_t		partition_count;
	size_t		capacity;		/* a power of two */
	SinkPartition **partitions;
	SinkPartition *last;		/* the one that rows went to last */
	uint64_t	batch;			/* number of the current one */
	LakeArena  *scratch;		/* of the current batch */
	LakeBuffer	touched;		/* of SinkPartition *, in the current batch */
	const LakeVector **columns; /* as the files want them */
};

/* ---- creation ---- */

static void
set_parquet_options(FileSink *sink, int leaf_count)
{
	const WriteOptions *write = sink->options.write;
	ParquetWriterOptions *parquet = &sink->parquet;
	bool	   *bloom = NULL;

	parquet->codec = write->codec;
	parquet->level = write->level;
	parquet->row_group_bytes = write->row_group_bytes;
	parquet->page_bytes = write->page_bytes;
	parquet->page_rows = write->page_rows;
	parquet->dictionary_bytes = write->dictionary_bytes;
	parquet->created_by = write->created_by;
	parquet->bloom_max_bytes = write->bloom_max_bytes;
	if (write->schema_json != NULL)
	{
		const char **metadata = lake_alloc_array(sink->arena, 2,
												 sizeof *metadata);

		metadata[0] = "iceberg.schema";
		metadata[1] = write->schema_json;
		parquet->metadata_count = 1;
		parquet->metadata = metadata;
	}
	for (int i = 0; i < write->column_count; i++)
	{
		int			leaf;

		if (!write->columns[i].bloom)
			continue;
		leaf = parquet_fields_leaf(sink->fields, sink->column_count,
								   write->columns[i].field_id);
		if (leaf < 0)
			continue;
		if (bloom == NULL)
			bloom = lake_alloc_array(sink->arena, (size_t) leaf_count,
									 sizeof *bloom);
		bloom[leaf] = true;
		parquet->bloom_fpp = write->columns[i].bloom_fpp;
	}
	parquet->bloom = bloom;
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
	const LakeSchema *schema = options->write->schema;
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
	set_parquet_options(sink, leaf_count);
	buffer_init(&sink->files, arena);
	buffer_init(&sink->paths, arena);
	buffer_init(&sink->touched, arena);
	sink->columns = lake_alloc_array(arena, (size_t) count + 1,
									 sizeof *sink->columns);
	sink->scratch = lake_arena_create(arena, "lake sink batch");
	return sink;
}

/* ---- files ---- */

static void
begin_file(FileSink *sink, SinkPartition *partition)
{
	const FileSinkOptions *options = &sink->options;
	const char *name = lake_printf(sink->arena, "%s-%05d.parquet",
								   options->file_prefix,
								   (*options->file_number)++);

	partition->arena = lake_arena_create(sink->arena, "lake data file");
	partition->path = options->write->locate(sink->arena, options->write,
											 partition->spec,
											 partition->values, name);
	buffer_append(&sink->paths, &partition->path, sizeof partition->path);
	partition->output = lake_output_create(options->store, partition->path);
	partition->writer = parquet_writer_create(partition->arena,
											  partition->output, sink->fields,
											  sink->column_count,
											  &sink->parquet);
}

static void
end_file(FileSink *sink, SinkPartition *partition)
{
	const ParquetTotals *totals = parquet_writer_finish(partition->writer);
	WrittenFile *file = lake_alloc(sink->arena, sizeof *file);

	lake_output_finish(partition->output);
	file->kind = WRITTEN_DATA;
	file->path = partition->path;
	file->spec = partition->spec;
	file->partition = partition->values;
	/* rows are as they came: files are in no order that a sort order promises */
	file->sort_order_id = 0;
	file->content_offset = -1;
	file_metrics_set(sink->arena, file, sink->options.write, totals);
	buffer_append(&sink->files, &file, sizeof file);
	lake_arena_destroy(partition->arena);
	partition->arena = NULL;
	partition->writer = NULL;
	partition->output = NULL;
}

size_t
file_sink_held_bytes(const FileSink *sink)
{
	size_t		held = 0;

	for (size_t i = 0; i < sink->capacity; i++)
	{
		const SinkPartition *partition = sink->partitions[i];

		if (partition != NULL && partition->writer != NULL)
			held += parquet_writer_held_bytes(partition->writer);
	}
	return held;
}

/*
 * Rows are written as they are, with the memory that a row group takes: the
 * largest first, until half of the limit is free.  Beyond many files even empty
 * writers count, so those end.
 */
static void
make_room(FileSink *sink)
{
	size_t		limit = sink->options.memory_limit;
	size_t		held;

	while ((held = file_sink_held_bytes(sink)) > limit / 2)
	{
		SinkPartition *largest = NULL;
		size_t		size = 0;

		for (size_t i = 0; i < sink->capacity; i++)
		{
			SinkPartition *partition = sink->partitions[i];
			size_t		bytes;

			if (partition == NULL || partition->writer == NULL)
				continue;
			bytes = parquet_writer_held_bytes(partition->writer);
			if (largest == NULL || bytes > size)
			{
				largest = partition;
				size = bytes;
			}
		}
		if (largest == NULL)
			return;
		lake_check_interrupts();
		parquet_writer_flush(largest->writer);
		if (parquet_writer_held_bytes(largest->writer) * 2 > size)
			end_file(sink, largest);
	}
}

static void
write_rows(FileSink *sink, SinkPartition *partition,
		   const uint32_t *selection, uint32_t count)
{
	if (partition->writer == NULL)
		begin_file(sink, partition);
	parquet_writer_write(partition->writer, sink->columns, selection, count);
	if (parquet_writer_size(partition->writer) >=
		sink->options.write->target_file_bytes)
		end_file(sink, partition);
}

/* ---- partitions ---- */

static void
grow_table(FileSink *sink)
{
	size_t		capacity = sink->capacity == 0 ? 16 : sink->capacity * 2;
	SinkPartition **table = lake_alloc_array(sink->arena, capacity,
											 sizeof *table);

	for (size_t i = 0; i < sink->capacity; i++)
	{
		SinkPartition *partition = sink->partitions[i];
		size_t		at;

		if (partition == NULL)
			continue;
		at = partition->hash & (capacity - 1);
		while (table[at] != NULL)
			at = (at + 1) & (capacity - 1);
		table[at] = partition;
	}
	sink->partitions = table;
	sink->capacity = capacity;
}

static SinkPartition *
find_partition(FileSink *sink, const LakePartitionSpec *spec,
			   const LakeValue *values)
{
	LakeBuffer	key;
	uint64_t	hash;
	size_t		at;
	SinkPartition *partition;

	buffer_init(&key, sink->scratch);
	partition_values_key(spec, values, &key);
	if (sink->last != NULL && sink->last->key.len == key.len &&
		memcmp(sink->last->key.data, key.data, key.len) == 0)
		return sink->last;
	if (sink->partition_count * 2 >= sink->capacity)
		grow_table(sink);
	hash = hash_xxh64(key.data, key.len, 0);
	at = hash & (sink->capacity - 1);
	while ((partition = sink->partitions[at]) != NULL)
	{
		if (partition->hash == hash && partition->key.len == key.len &&
			memcmp(partition->key.data, key.data, key.len) == 0)
			return sink->last = partition;
		at = (at + 1) & (sink->capacity - 1);
	}
	partition = lake_alloc(sink->arena, sizeof *partition);
	partition->hash = hash;
	partition->key.data = (const uint8_t *)
		lake_strndup(sink->arena, (const char *) key.data, key.len);
	partition->key.len = key.len;
	partition->spec = spec;
	partition->values = partition_values_copy(sink->arena, spec, values);
	sink->partitions[at] = partition;
	sink->partition_count++;
	return sink->last = partition;
}

/* ---- rows to partitions ---- */

/* where a partition field's source is among the columns */
typedef struct SourceColumn
{
	int			column;			/* top-level */
	int			depth;			/* structs to go down */
	int			path[LAKE_MAX_TYPE_DEPTH];
	const LakeType *type;
} SourceColumn;

static bool
find_source(const LakeField *fields, int count, int32_t id,
			SourceColumn *source)
{
	for (int i = 0; i < count; i++)
	{
		const LakeType *type = fields[i].type;

		if (source->depth == 0)
			source->column = i;
		else
			source->path[source->depth - 1] = i;
		if (fields[i].id == id)
		{
			source->type = type;
			return true;
		}
		if (type->kind != LAKE_STRUCT ||
			source->depth + 1 >= LAKE_MAX_TYPE_DEPTH)
			continue;
		source->depth++;
		if (find_source(type->fields, type->field_count, id, source))
			return true;
		source->depth--;
	}
	return false;
}

/* a scalar of a vector as a value */
static void
vector_get(const LakeVector *vector, const LakeType *type, uint32_t row,
		   LakeValue *value)
{
	const void *data;

	memset(value, 0, sizeof *value);
	value->is_null = vector_is_null(vector, row);
	if (value->is_null)
		return;
	data = vector_value(vector, row);
	switch (vector->layout)
	{
		case VECTOR_BOOL:
			value->i = *(const uint8_t *) data;
			break;
		case VECTOR_I32:
			value->i = *(const int32_t *) data;
			break;
		case VECTOR_I64:
			if (type->kind == LAKE_DECIMAL)
				value->decimal = *(const int64_t *) data;
			else
				value->i = *(const int64_t *) data;
			break;
		case VECTOR_I128:
			value->decimal = *(const LakeInt128 *) data;
			break;
		case VECTOR_F32:
			value->d = *(const float *) data;
			break;
		case VECTOR_F64:
			value->d = *(const double *) data;
			break;
		case VECTOR_BYTES:
			value->bytes = *(const LakeBytes *) data;
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			break;
	}
}

static void
source_value(const SourceColumn *source, const LakeVector *const *columns,
			 uint32_t row, LakeValue *value)
{
	const LakeVector *vector = columns[source->column];

	for (int i = 0; i < source->depth; i++)
	{
		if (vector_is_null(vector, row))
		{
			memset(value, 0, sizeof *value);
			value->is_null = true;
			return;
		}
		vector = vector->children[source->path[i]];
	}
	vector_get(vector, source->type, row, value);
}

static void
add_row(FileSink *sink, SinkPartition *partition, uint32_t row)
{
	if (partition->rows == NULL)
		partition->rows = lake_alloc_array(sink->arena, BATCH_MAX_ROWS,
										   sizeof *partition->rows);
	if (partition->last_batch != sink->batch)
	{
		partition->last_batch = sink->batch;
		partition->row_count = 0;
		buffer_append(&sink->touched, &partition, sizeof partition);
	}
	partition->rows[partition->row_count++] = row;
}

static void
group_rows(FileSink *sink, const LakeVector *const *columns,
		   const uint32_t *selection, uint32_t count)
{
	const WriteOptions *write = sink->options.write;
	const LakePartitionSpec *spec = write->spec;
	SourceColumn *sources = lake_alloc_array(sink->scratch,
											 (size_t) spec->field_count,
											 sizeof *sources);
	LakeValue  *values = lake_alloc_array(sink->scratch,
										  (size_t) spec->field_count,
										  sizeof *values);

	for (int i = 0; i < spec->field_count; i++)
	{
		if (spec->fields[i].transform.kind != TRANSFORM_VOID &&
			!find_source(write->schema->fields, write->schema->field_count,
						 spec->fields[i].source_id, &sources[i]))
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "partition field \"%s\" has lost its column",
					   spec->fields[i].name);
	}
	for (uint32_t at = 0; at < count; at++)
	{
		uint32_t	row = selection == NULL ? at : selection[at];

		for (int i = 0; i < spec->field_count; i++)
		{
			LakeValue	value;

			values[i].is_null = true;
			if (spec->fields[i].transform.kind == TRANSFORM_VOID)
				continue;
			source_value(&sources[i], columns, row, &value);
			transform_apply(&spec->fields[i].transform, sources[i].type,
							&value, &values[i]);
		}
		add_row(sink, find_partition(sink, spec, values), row);
	}
}

/* ---- the interface ---- */

static void
begin_batch(FileSink *sink, const LakeVector *const *columns)
{
	lake_arena_reset(sink->scratch);
	sink->batch++;
	sink->touched.len = 0;
	for (int i = 0; i < sink->column_count; i++)
		sink->columns[i] = parquet_fields_narrow(sink->scratch,
												 sink->fields[i], columns[i]);
}

static void
end_batch(FileSink *sink)
{
	size_t		limit = sink->options.memory_limit;

	/* of one file, counting is cheap; of many, it is done now and then */
	if (limit > 0 && (sink->partition_count < 16 || sink->batch % 16 == 0) &&
		file_sink_held_bytes(sink) > limit)
		make_room(sink);
}

void
file_sink_write_to(FileSink *sink, const LakePartitionSpec *spec,
				   const LakeValue *partition,
				   const LakeVector *const *columns,
				   const uint32_t *selection, uint32_t count)
{
	begin_batch(sink, columns);
	write_rows(sink, find_partition(sink, spec, partition), selection, count);
	end_batch(sink);
}

void
file_sink_write(FileSink *sink, const LakeVector *const *columns,
				const uint32_t *selection, uint32_t count)
{
	const LakePartitionSpec *spec = sink->options.write->spec;

	begin_batch(sink, columns);
	if (partition_spec_is_unpartitioned(spec))
	{
		LakeValue  *values = lake_alloc_array(sink->scratch, (size_t)
											  spec->field_count + 1,
											  sizeof *values);

		for (int i = 0; i < spec->field_count; i++)
			values[i].is_null = true;
		write_rows(sink, find_partition(sink, spec, values), selection,
				   count);
	}
	else
		group_rows(sink, columns, selection, count);
	for (size_t i = 0; i < sink->touched.len / sizeof(SinkPartition *); i++)
	{
		SinkPartition *partition =
			((SinkPartition **) (void *) sink->touched.data)[i];

		write_rows(sink, partition, partition->rows, partition->row_count);
	}
	end_batch(sink);
}

static int
compare_paths(const void *a, const void *b)
{
	return strcmp((*(WrittenFile *const *) a)->path,
				  (*(WrittenFile *const *) b)->path);
}

const WrittenFile *const *
file_sink_finish(FileSink *sink, int *count)
{
	for (size_t i = 0; i < sink->capacity; i++)
	{
		lake_check_interrupts();
		if (sink->partitions[i] != NULL &&
			sink->partitions[i]->writer != NULL)
			end_file(sink, sink->partitions[i]);
	}
	lake_arena_destroy(sink->scratch);
	*count = (int) (sink->files.len / sizeof(WrittenFile *));
	if (*count > 1)
		qsort(sink->files.data, (size_t) *count, sizeof(WrittenFile *),
			  compare_paths);
	return (const WrittenFile *const *) (void *) sink->files.data;
}

void
file_sink_cancel(FileSink *sink)
{
	for (size_t i = 0; i < sink->paths.len / sizeof(char *); i++)
		put_set_discard(sink->options.store->puts,
						((const char **) (void *) sink->paths.data)[i]);
}
