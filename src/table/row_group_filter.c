/*
 * Which rows of a row group may satisfy a predicate, by what the file says of
 * them before any page is read.
 *
 * Cheapest first: the footer's bounds are in memory, a question to a bloom
 * filter reads a block or two, a page index is read and parsed.  Pages of
 * different columns begin at different rows, so the predicate is evaluated as a
 * whole for every range between two borders, each column with the bounds of the
 * page that covers it.
 */
#include "table/table_int.h"

#include <string.h>

/* a column that the predicate names */
typedef struct FilterColumn
{
	int32_t		field_id;
	int			number;			/* of the reader's columns */
	bool		has_values;		/* is there an EQ or IN leaf on it? */
	/* of the current row group */
	bool		asked_bloom;
	ParquetBloom *bloom;
	ParquetPageIndex *index;	/* NULL: none */
	LakeBounds *pages;			/* a page each */
	int			page;			/* that covers the current range */
} FilterColumn;

struct RowGroupFilter
{
	LakeArena  *arena;			/* of the current row group */
	const Predicate *predicate;
	int			column_count;
	FilterColumn *columns;
	bool		has_values;		/* is there any EQ or IN leaf? */
	/* of the current task */
	const FileSchema *schema;
	const ReaderColumn *reader_columns;
	/* of the current row group */
	int			row_group;
	int64_t		first_row;		/* position of the current range in the file */
	int64_t		rows;			/* of the current range */
	ParquetRows *ranges;
	int			range_count;
	int			range_capacity;
};

static FilterColumn *
find_column(RowGroupFilter *filter, int32_t field_id)
{
	for (int i = 0; i < filter->column_count; i++)
	{
		if (filter->columns[i].field_id == field_id)
			return &filter->columns[i];
	}
	return NULL;
}

static void
add_columns(RowGroupFilter *filter, const Predicate *predicate,
			const LakeField *const *fields)
{
	FilterColumn *column;

	for (int i = 0; i < predicate->child_count; i++)
		add_columns(filter, predicate->children[i], fields);
	if (predicate->op < PREDICATE_IS_NULL)
		return;
	column = find_column(filter, predicate->field_id);
	if (column == NULL)
	{
		column = &filter->columns[filter->column_count++];
		column->field_id = predicate->field_id;
		while (fields[column->number]->id != predicate->field_id)
			column->number++;
	}
	if (predicate->op == PREDICATE_EQ || predicate->op == PREDICATE_IN)
		column->has_values = filter->has_values = true;
}

RowGroupFilter *
row_group_filter_create(LakeArena *arena, const Predicate *predicate,
						const LakeField *const *fields)
{
	RowGroupFilter *filter = lake_alloc(arena, sizeof *filter);

	filter->arena = lake_arena_create(arena, "row group filter");
	filter->predicate = predicate;
	filter->columns = lake_alloc_array(arena, (size_t)
									   predicate_leaf_count(predicate),
									   sizeof *filter->columns);
	add_columns(filter, predicate, fields);
	return filter;
}

void
row_group_filter_begin(RowGroupFilter *filter, const FileSchema *schema,
					   const ReaderColumn *columns)
{
	filter->schema = schema;
	filter->reader_columns = columns;
}

/* ---- what is known ---- */

static bool
known_bounds(void *arg, int32_t field_id, const LakeType *type,
			 LakeBounds *bounds)
{
	RowGroupFilter *filter = arg;
	FilterColumn *column = find_column(filter, field_id);
	const ReaderColumn *stored = &filter->reader_columns[column->number];

	if (column->index != NULL)
	{
		*bounds = column->pages[column->page];
		return true;
	}
	reader_bounds_unknown(type, filter->rows, bounds);
	return reader_column_bounds(stored, filter->arena, filter->schema,
								filter->row_group, filter->first_row, bounds);
}

/* stored row ids are NULL where they are made up, so no filter has them */
static const ParquetField *
stored_source(const RowGroupFilter *filter, const FilterColumn *column)
{
	const ReaderColumn *stored = &filter->reader_columns[column->number];

	return stored->is_numbered ? NULL : stored->map.source;
}

static bool
may_have_value(void *arg, const Predicate *leaf, const LakeValue *value)
{
	RowGroupFilter *filter = arg;
	FilterColumn *column = find_column(filter, leaf->field_id);
	const ParquetField *source = stored_source(filter, column);
	PhysicalValue physical;
	LakeBytes	bytes;

	if (source == NULL)
		return true;
	if (!column->asked_bloom)
	{
		column->asked_bloom = true;
		column->bloom = parquet_bloom_read(filter->schema->parquet,
										   filter->arena, filter->row_group,
										   source);
	}
	if (column->bloom == NULL)
		return true;
	switch (physical_value_encode(source, leaf->type, value, &physical,
								  &bytes))
	{
		case PHYSICAL_KNOWN:
			return parquet_bloom_may_contain(column->bloom, bytes);
		case PHYSICAL_ABSENT:
			return false;
		case PHYSICAL_UNKNOWN:
			break;
	}
	return true;
}

/* ---- pages ---- */

/* reads the index of a column and converts its bounds */
static void
read_index(RowGroupFilter *filter, FilterColumn *column)
{
	const ReaderColumn *stored = &filter->reader_columns[column->number];
	const ParquetField *source = stored_source(filter, column);
	int			count;

	if (source == NULL)
		return;
	column->index = parquet_page_index_read(filter->schema->parquet,
											filter->arena, filter->row_group,
											source);
	if (column->index == NULL)
		return;
	count = parquet_page_index_count(column->index);
	column->pages = lake_alloc_array(filter->arena, (size_t) count,
									 sizeof *column->pages);
	for (int i = 0; i < count; i++)
	{
		ParquetStatistics statistics;

		parquet_page_index_statistics(column->index, filter->arena, i,
									  &statistics);
		reader_bounds_unknown(stored->field->type, 0, &column->pages[i]);
		reader_bounds_take(stored, &statistics, &column->pages[i]);
	}
}

static bool
read_indexes(RowGroupFilter *filter)
{
	bool		found = false;

	for (int i = 0; i < filter->column_count; i++)
	{
		read_index(filter, &filter->columns[i]);
		found = found || filter->columns[i].index != NULL;
	}
	return found;
}

/* where the range ends that begins at row; moves the columns to its pages */
static int64_t
find_border(RowGroupFilter *filter, int64_t row, int64_t end)
{
	for (int i = 0; i < filter->column_count; i++)
	{
		FilterColumn *column = &filter->columns[i];
		int64_t		next;

		if (column->index == NULL)
			continue;
		next = parquet_page_index_row(column->index, column->page + 1);
		if (next <= row)
			next = parquet_page_index_row(column->index, ++column->page + 1);
		end = next < end ? next : end;
	}
	return end;
}

static void
add_range(RowGroupFilter *filter, int64_t first, int64_t end)
{
	ParquetRows *last = filter->range_count == 0 ? NULL :
		&filter->ranges[filter->range_count - 1];

	if (last != NULL && last->end == first)
	{
		last->end = end;
		return;
	}
	if (filter->range_count == filter->range_capacity)
	{
		int			larger = 2 * filter->range_capacity + 8;

		filter->ranges = lake_realloc(filter->arena, filter->ranges,
									  (size_t) filter->range_capacity *
									  sizeof(ParquetRows),
									  (size_t) larger * sizeof(ParquetRows));
		filter->range_capacity = larger;
	}
	filter->ranges[filter->range_count++] = (ParquetRows)
	{
		first, end
	};
}

static void
find_ranges(RowGroupFilter *filter, int64_t group_first, int64_t group_rows)
{
	int64_t		row = 0;

	while (row < group_rows)
	{
		int64_t		end = find_border(filter, row, group_rows);

		lake_check_interrupts();
		filter->first_row = group_first + row;
		filter->rows = end - row;
		if (predicate_may_match(filter->predicate, known_bounds, filter))
			add_range(filter, row, end);
		row = end;
	}
}

/* ---- all of it ---- */

static void
begin_row_group(RowGroupFilter *filter, int row_group)
{
	const ParquetFile *parquet = filter->schema->parquet;

	lake_arena_reset(filter->arena);
	for (int i = 0; i < filter->column_count; i++)
	{
		FilterColumn *column = &filter->columns[i];

		column->asked_bloom = false;
		column->bloom = NULL;
		column->index = NULL;
		column->pages = NULL;
		column->page = 0;
	}
	filter->ranges = NULL;
	filter->range_count = filter->range_capacity = 0;
	filter->row_group = row_group;
	filter->first_row = parquet_row_group_first_row(parquet, row_group);
	filter->rows = parquet_row_group_rows(parquet, row_group);
}

RowGroupVerdict
row_group_filter_apply(RowGroupFilter *filter, int row_group,
					   const ParquetRows **ranges, int *count)
{
	int64_t		first;
	int64_t		rows;

	*ranges = NULL;
	*count = 0;
	begin_row_group(filter, row_group);
	first = filter->first_row;
	rows = filter->rows;
	if (!predicate_may_match(filter->predicate, known_bounds, filter))
		return ROW_GROUP_SKIPPED;
	if (filter->has_values &&
		!predicate_may_match_values(filter->predicate, known_bounds,
									may_have_value, filter))
		return ROW_GROUP_SKIPPED_BY_BLOOM;
	if (!read_indexes(filter))
		return ROW_GROUP_WANTED;
	find_ranges(filter, first, rows);
	if (filter->range_count == 0)
		return ROW_GROUP_SKIPPED;
	/* without ranges, other columns need not ask where their pages are */
	if (filter->range_count == 1 && filter->ranges[0].end == rows &&
		filter->ranges[0].first == 0)
		return ROW_GROUP_WANTED;
	*ranges = filter->ranges;
	*count = filter->range_count;
	return ROW_GROUP_WANTED;
}
