/*
 * The reader that the folder offers: columns of a row group, each with its own
 * position.
 */
#include "parquet/parquet_int.h"

#include <string.h>

typedef struct Column
{
	const ParquetNode *node;
	LeafReader *leaves;			/* node->leaf_count */
	LakeArena  *batch;			/* vectors of a nested column's last read */
	uint64_t	position;		/* rows passed */
} Column;

struct ParquetReader
{
	LakeArena  *arena;
	const ParquetFile *file;
	int			row_group;		/* -1 before the first */
	int			column_count;
	Column	   *columns;
	ParquetReaderCounters counters;
};

ParquetReader *
parquet_reader_create(LakeArena *arena, const ParquetFile *file,
					  const ParquetField *const *columns, int column_count)
{
	ParquetReader *reader = lake_alloc(arena, sizeof *reader);
	CodecContext *context = codec_context_create(arena);

	reader->arena = arena;
	reader->file = file;
	reader->row_group = -1;
	reader->column_count = column_count;
	reader->columns = lake_alloc_array(arena, (size_t) column_count,
									   sizeof *reader->columns);
	for (int i = 0; i < column_count; i++)
	{
		Column	   *column = &reader->columns[i];

		column->node = parquet_node(columns[i]);
		column->batch = lake_arena_create(arena, "Parquet batch");
		column->leaves = lake_alloc_array(arena,
										  (size_t) column->node->leaf_count,
										  sizeof *column->leaves);
		for (int k = 0; k < column->node->leaf_count; k++)
			leaf_init(&column->leaves[k], arena, file,
					  file->leaves[column->node->first_leaf + k], context,
					  &reader->counters);
	}
	return reader;
}

void
parquet_reader_end(ParquetReader *reader)
{
	for (int i = 0; i < reader->column_count && reader->row_group >= 0; i++)
	{
		for (int k = 0; k < reader->columns[i].node->leaf_count; k++)
			leaf_end(&reader->columns[i].leaves[k]);
	}
	reader->row_group = -1;
}

void
parquet_reader_begin(ParquetReader *reader, int row_group)
{
	parquet_reader_begin_rows(reader, row_group, NULL, 0);
}

void
parquet_reader_begin_rows(ParquetReader *reader, int row_group,
						  const ParquetRows *ranges, int count)
{
	const RowRanges wanted = {count, ranges};
	LakeFrame	frame;

	parquet_reader_end(reader);

	lake_frame_push(&frame, "reading Parquet file",
					reader->file->file->location);
	if (row_group < 0 || row_group >= reader->file->row_group_count)
		lake_throw(LAKE_ERROR_INTERNAL, "no row group %d", row_group);
	for (int i = 0; i < reader->column_count; i++)
	{
		Column	   *column = &reader->columns[i];

		for (int k = 0; k < column->node->leaf_count; k++)
			leaf_begin(&column->leaves[k], row_group, &wanted);
		column->position = 0;
	}
	reader->row_group = row_group;
	lake_frame_pop(&frame);
}

static uint64_t
group_rows(const ParquetReader *reader)
{
	return (uint64_t) reader->file->row_groups[reader->row_group].rows;
}

/* moves the position, which must stay in the row group */
static Column *
advance(ParquetReader *reader, int index, uint64_t count)
{
	Column	   *column = &reader->columns[index];

	if (index < 0 || index >= reader->column_count || reader->row_group < 0)
		lake_throw(LAKE_ERROR_INTERNAL, "no column %d in a row group", index);
	if (count > group_rows(reader) - column->position)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "row group %d has no %llu rows after row %llu",
				   reader->row_group, (unsigned long long) count,
				   (unsigned long long) column->position);
	column->position += count;
	return column;
}

const LakeVector *
parquet_reader_read(ParquetReader *reader, int index, uint32_t count)
{
	Column	   *column = advance(reader, index, count);
	uint64_t	rows = group_rows(reader);
	const LakeVector *vector;
	LakeFrame	file_frame;
	LakeFrame	column_frame;

	lake_frame_push(&file_frame, "reading Parquet file",
					reader->file->file->location);
	lake_frame_push(&column_frame, "reading column",
					column->node->field.name);
	if (column->node->field.shape == PARQUET_PRIMITIVE)
		vector = leaf_read_flat(column->leaves, count);
	else
	{
		lake_arena_reset(column->batch);
		for (int i = 0; i < column->node->leaf_count; i++)
		{
			leaf_read_levels(&column->leaves[i], count);
			if (count > 0 && column->position == rows)
				leaf_check_end(&column->leaves[i]);
		}
		vector = nested_build(column->batch, column->node, column->leaves,
							  count);
	}
	lake_frame_pop(&column_frame);
	lake_frame_pop(&file_frame);
	return vector;
}

void
parquet_reader_skip(ParquetReader *reader, int index, uint64_t count)
{
	Column	   *column = advance(reader, index, count);

	for (int i = 0; i < column->node->leaf_count; i++)
		column->leaves[i].pending += count;
}

uint64_t
parquet_reader_position(const ParquetReader *reader, int column)
{
	return reader->columns[column].position;
}

const ParquetReaderCounters *
parquet_reader_counters(const ParquetReader *reader)
{
	return &reader->counters;
}
