/*
 * One column of a task: where its values come from, and its vectors.
 *
 * Reserved columns are numbers that go up with the row, or stay the same, but
 * for the rows where the file has stored one.
 *
 * Iceberg spec, "Column Projection", "Reserved Field IDs", "Row Lineage".
 */
#include "table/table_int.h"

#include <string.h>

static void
map_string(ColumnMap *map, const LakeField *field, const char *text)
{
	LakeValue	value = {.bytes = {(const uint8_t *) text, strlen(text)}};

	column_map_constant(map, field, &value);
}

static void
map_number(ColumnMap *map, const LakeField *field, int64_t number)
{
	LakeValue	value = {.i = number};

	column_map_constant(map, field, &value);
}

static void
map_null(ColumnMap *map, const LakeField *field)
{
	LakeValue	value = {.is_null = true};

	column_map_constant(map, field, &value);
}

static void
number_rows(ReaderColumn *column, int64_t first, int step)
{
	column->is_numbered = true;
	column->first_number = first;
	column->step = step;
}

/* _row_id and its like: NULL in files from before row lineage */
static void
map_lineage(ReaderColumn *column, LakeArena *arena, const FileSchema *schema,
			const ScanTask *task, int64_t first, int step)
{
	if (task->first_row_id >= 0)
		number_rows(column, first, step);
	if (task->first_row_id < 0 ||
		!column_map_resolve(&column->map, arena, schema, column->field))
		map_null(&column->map, column->field);
}

/* the value of an identity partition of the column, if the file has one */
static bool
map_partition(ColumnMap *map, const LakeField *field, const ScanTask *task)
{
	const LakePartitionSpec *spec = task->spec;

	if (spec == NULL || task->partition == NULL ||
		vector_layout_width(lake_type_layout(field->type)) == 0)
		return false;
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *partition = &spec->fields[i];

		if (partition->source_id != field->id ||
			partition->transform.kind != TRANSFORM_IDENTITY ||
			partition->result_type == NULL)
			continue;
		column_map_constant(map, field, &task->partition[i]);
		return true;
	}
	return false;
}

static void
map_column(ReaderColumn *column, LakeArena *arena, const FileSchema *schema,
		   const ScanTask *task)
{
	const LakeField *field = column->field;
	ColumnMap  *map = &column->map;

	switch (field->id)
	{
		case LAKE_FIELD_FILE:
			map_string(map, field, task->path);
			break;
		case LAKE_FIELD_POS:
			map_null(map, field);
			number_rows(column, 0, 1);
			break;
		case LAKE_FIELD_SPEC_ID:
			map_number(map, field, task->spec == NULL ? 0 : task->spec->id);
			break;
		case LAKE_FIELD_ROW_ID:
			map_lineage(column, arena, schema, task, task->first_row_id, 1);
			break;
		case LAKE_FIELD_SEQUENCE:
			map_lineage(column, arena, schema, task, task->sequence_number, 0);
			break;
		default:
			if (!column_map_resolve(map, arena, schema, field) &&
				!map_partition(map, field, task))
				column_map_absent(map, arena, field);
	}
}

void
reader_column_begin(ReaderColumn *column, LakeArena *arena,
					const FileSchema *schema, const ScanTask *task,
					bool truncate_nanoseconds)
{
	map_column(column, arena, schema, task);
	column->parquet_column = -1;
	column->converter = vector_converter_create(arena, &column->map,
												truncate_nanoseconds);
	if (column->is_numbered)
		column->numbers = lake_alloc_array(arena, BATCH_MAX_ROWS,
										   sizeof(int64_t));
}

/* ---- bounds ---- */

static void
constant_bounds(const ReaderColumn *column, LakeBounds *bounds)
{
	const LakeValue *value = &column->map.constant;

	if (column->map.is_null)
	{
		bounds->null_count = bounds->value_count;
		return;
	}
	bounds->null_count = 0;
	if (bounds->nan_count < 0)
		bounds->nan_count = value->d != value->d ? bounds->value_count : 0;
	if (bounds->nan_count > 0)
		return;
	bounds->has_lower = bounds->has_upper = true;
	bounds->lower = bounds->upper = *value;
}

/* nothing, when the numbers overflow */
static void
number_bounds(const ReaderColumn *column, int64_t first_row,
			  LakeBounds *bounds)
{
	int64_t		lower;
	int64_t		upper;

	bounds->null_count = 0;
	if (__builtin_mul_overflow(first_row, column->step, &lower) ||
		__builtin_add_overflow(lower, column->first_number, &lower) ||
		__builtin_mul_overflow(bounds->value_count - 1, column->step,
							   &upper) ||
		__builtin_add_overflow(lower, upper, &upper))
		return;
	bounds->has_lower = bounds->has_upper = true;
	bounds->lower.i = lower;
	bounds->upper.i = upper;
}

void
reader_bounds_unknown(const LakeType *type, int64_t rows, LakeBounds *bounds)
{
	memset(bounds, 0, sizeof *bounds);
	bounds->value_count = rows;
	bounds->null_count = -1;
	bounds->nan_count = value_form(type) == VALUE_FLOAT ? -1 : 0;
}

void
reader_bounds_take(const ReaderColumn *column,
				   const ParquetStatistics *statistics, LakeBounds *bounds)
{
	bounds->value_count = statistics->value_count;
	bounds->null_count = statistics->null_count;
	if (statistics->has_min)
		bounds->has_lower = vector_converter_value(column->converter,
												   &statistics->bounds, 0,
												   &bounds->lower);
	if (statistics->has_max)
		bounds->has_upper = vector_converter_value(column->converter,
												   &statistics->bounds, 1,
												   &bounds->upper);
}

/* of the whole row group, which hold for any part of it */
static void
stored_bounds(const ReaderColumn *column, LakeArena *arena,
			  const FileSchema *schema, int row_group, LakeBounds *bounds)
{
	ParquetStatistics statistics;

	parquet_statistics_get(schema->parquet, arena, row_group,
						   column->map.source, &statistics);
	reader_bounds_take(column, &statistics, bounds);
}

bool
reader_column_bounds(const ReaderColumn *column, LakeArena *arena,
					 const FileSchema *schema, int row_group,
					 int64_t first_row, LakeBounds *bounds)
{
	if (vector_layout_width(lake_type_layout(column->field->type)) == 0)
		return false;
	if (column->is_numbered)
	{
		/* stored numbers may be any */
		if (column->map.source != NULL)
			return false;
		number_bounds(column, first_row, bounds);
	}
	else if (column->map.source == NULL)
		constant_bounds(column, bounds);
	else
		stored_bounds(column, arena, schema, row_group, bounds);
	return true;
}

/* ---- vectors ---- */

/* a column that other batches did not need is behind */
static const LakeVector *
read_stored(const ReaderColumn *column, ParquetReader *parquet,
			uint64_t start, uint32_t count)
{
	uint64_t	passed = parquet_reader_position(parquet,
												 column->parquet_column);

	if (passed < start)
		parquet_reader_skip(parquet, column->parquet_column, start - passed);
	return parquet_reader_read(parquet, column->parquet_column, count);
}

static const LakeVector *
number_vector(ReaderColumn *column, const LakeVector *stored,
			  int64_t first_row, uint32_t count)
{
	uint64_t	step = (uint64_t) column->step;
	uint64_t	first = (uint64_t) column->first_number +
		(uint64_t) first_row * step;

	for (uint32_t i = 0; i < count; i++)
		column->numbers[i] = (int64_t) (first + i * step);
	for (uint32_t i = 0; column->map.source != NULL && i < count; i++)
		if (!vector_is_null(stored, i))
			column->numbers[i] = *(const int64_t *) vector_value(stored, i);
	column->synthesised.layout = VECTOR_I64;
	column->synthesised.count = count;
	column->synthesised.values = column->numbers;
	return &column->synthesised;
}

void
reader_column_load(ReaderColumn *column, ParquetReader *parquet,
				   int64_t group_first, int64_t start, uint32_t count)
{
	const LakeVector *vector = NULL;

	if (column->parquet_column >= 0)
		vector = read_stored(column, parquet, (uint64_t) start, count);
	vector = vector_converter_apply(column->converter, vector, count);
	if (column->is_numbered)
		vector = number_vector(column, vector, group_first + start, count);
	column->vector = vector;
}
