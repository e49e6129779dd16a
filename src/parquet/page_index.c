/*
 * The page index: where the data pages of a chunk are, and their bounds.
 *
 * Nothing depends on an index but speed, so whatever is wrong with one makes it
 * absent, down to bytes that are not Thrift at all: tools that copy row groups
 * have left places behind at which something else is.  A wrong bound loses
 * rows, so the bounds are held against the footer's, too.
 *
 * Parquet format: PageIndex.md; parquet.thrift, ColumnIndex and OffsetIndex.
 */
#include "parquet/parquet_int.h"

#include <string.h>

/* what an entry takes in the file at least, which bounds what we allocate */
#define MIN_LOCATION_BYTES	7
#define MIN_BOUNDS_BYTES	3

/* the enum BoundaryOrder */
enum
{
	BOUNDARY_UNORDERED,
	BOUNDARY_ASCENDING,
	BOUNDARY_DESCENDING
};

struct ParquetPageIndex
{
	const ParquetNode *node;
	const OffsetIndex *pages;
	/* a page each */
	uint8_t    *values;			/* min and max, in the field's layout */
	uint8_t		(*nulls)[2];	/* 1: there is no such bound */
	int64_t    *null_counts;	/* -1 unknown */
};

/* the same, while it is read */
typedef struct RawColumnIndex
{
	uint32_t	count;			/* pages of the offset index */
	int64_t		order;
	uint8_t    *is_null;
	LakeBytes  *mins;
	LakeBytes  *maxs;
	int64_t    *null_counts;	/* NULL: absent */
} RawColumnIndex;

/* ---- Thrift that was found to be whole, without a throw ---- */

static bool
is_integer(int type)
{
	return type >= THRIFT_BYTE && type <= THRIFT_I64;
}

static bool
read_integer(ByteCursor *cursor, const ThriftField *field, int64_t *value)
{
	if (!is_integer(field->type))
		return false;
	*value = thrift_i64(cursor, field);
	return true;
}

/* a list of count elements; *type is that of each */
static bool
open_list(ByteCursor *cursor, const ThriftField *field, uint32_t count,
		  ThriftField *item)
{
	return field->type == THRIFT_LIST &&
		thrift_list(cursor, field, item) == count;
}

static bool
read_flags(ByteCursor *cursor, const ThriftField *field, uint32_t count,
		   uint8_t *flags)
{
	ThriftField item;

	if (!open_list(cursor, field, count, &item) ||
		(item.type != THRIFT_TRUE && item.type != THRIFT_FALSE))
		return false;
	for (uint32_t i = 0; i < count; i++)
		flags[i] = cursor_u8(cursor) == THRIFT_TRUE;
	return true;
}

static bool
read_integers(ByteCursor *cursor, const ThriftField *field, uint32_t count,
			  int64_t *values)
{
	ThriftField item;

	if (!open_list(cursor, field, count, &item) || !is_integer(item.type))
		return false;
	for (uint32_t i = 0; i < count; i++)
		values[i] = thrift_i64(cursor, &item);
	return true;
}

static bool
read_binaries(ByteCursor *cursor, const ThriftField *field, uint32_t count,
			  LakeBytes *values)
{
	ThriftField item;

	if (!open_list(cursor, field, count, &item) ||
		item.type != THRIFT_BINARY)
		return false;
	for (uint32_t i = 0; i < count; i++)
		values[i] = thrift_binary(cursor, &item);
	return true;
}

/* ---- where the pages are ---- */

static bool
read_location(ByteCursor *cursor, PageLocation *location)
{
	ThriftField field = {0};
	int64_t		values[4] = {-1, -1, -1, -1};	/* by field id */

	while (thrift_next(cursor, &field))
	{
		if (field.id < 1 || field.id > 3)
			thrift_skip(cursor, &field);
		else if (!read_integer(cursor, &field, &values[field.id]))
			return false;
	}
	if (values[1] < 0 || values[2] <= 0 || values[3] < 0 ||
		values[2] > INT32_MAX)
		return false;
	location->offset = (uint64_t) values[1];
	/* cannot overflow: both are below 2^63 */
	location->end = location->offset + (uint64_t) values[2];
	location->first_row = (uint64_t) values[3];
	return true;
}

static bool
read_locations(LakeArena *arena, ByteCursor *cursor, const ThriftField *field,
			   OffsetIndex *index)
{
	size_t		left = cursor_left(cursor);
	ThriftField item;

	if (index->pages != NULL || field->type != THRIFT_LIST)
		return false;
	index->count = thrift_list(cursor, field, &item);
	if (index->count == 0 || item.type != THRIFT_STRUCT ||
		index->count > left / MIN_LOCATION_BYTES)
		return false;
	index->pages = lake_alloc_array(arena, (size_t) index->count + 1,
									sizeof *index->pages);
	for (uint32_t i = 0; i < index->count; i++)
	{
		if (!read_location(cursor, &index->pages[i]))
			return false;
	}
	return true;
}

static bool
parse_offset_index(LakeArena *arena, LakeBytes bytes, OffsetIndex *index)
{
	ThriftField field = {0};
	ByteCursor	cursor;

	if (!thrift_is_struct(bytes))
		return false;
	cursor_init(&cursor, bytes.data, bytes.len, "Parquet offset index");
	while (thrift_next(&cursor, &field))
	{
		if (field.id != 1)
			thrift_skip(&cursor, &field);
		else if (!read_locations(arena, &cursor, &field, index))
			return false;
	}
	return index->pages != NULL;
}

/* one page after the other, in the chunk and in the row group */
static bool
locations_are_sound(const OffsetIndex *index, uint64_t start, uint64_t end,
					uint64_t rows)
{
	const PageLocation *pages = index->pages;

	if (pages[0].first_row != 0 || pages[0].offset < start)
		return false;
	for (uint32_t i = 1; i < index->count; i++)
	{
		if (pages[i].offset < pages[i - 1].end ||
			pages[i].first_row <= pages[i - 1].first_row)
			return false;
	}
	return pages[index->count - 1].end <= end &&
		pages[index->count - 1].first_row < rows;
}

/*
 * Rows of a list may go on in the next page when there is no index, and some
 * writers have given indexes to such pages, or have counted elements for rows
 * (ClickHouse before 25.7, arrow-go before 18.7).  Only the rows that a page
 * has can be checked, not those before it, so the writer must be known.
 */
static bool
writer_counts_rows(const ParquetFile *file, const ParquetNode *leaf)
{
	static const char *const known[] = {
		"parquet-mr ", "parquet-cpp-arrow ", "parquet-rs ", "lakefdw "
	};

	if (leaf->repeated == 0)
		return true;
	if (file->created_by == NULL)
		return false;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
	{
		if (strncmp(file->created_by, known[i], strlen(known[i])) == 0)
			return true;
	}
	return false;
}

const OffsetIndex *
offset_index_read(const ParquetFile *file, LakeArena *arena, int row_group,
				  const ParquetNode *leaf)
{
	const ParquetRowGroup *group = &file->row_groups[row_group];
	const ParquetChunk *chunk = &group->chunks[leaf->field.leaf];
	OffsetIndex *index;
	LakeBytes	bytes;
	uint64_t	start;
	uint64_t	end;

	if (chunk->offset_index.size <= 0 ||
		chunk->refusal != PARQUET_REFUSE_NONE ||
		!writer_counts_rows(file, leaf) ||
		!parquet_chunk_place(file, chunk, &start, &end) ||
		!parquet_file_bytes(file, arena, &chunk->offset_index,
							PARQUET_MAX_INDEX_BYTES, &bytes))
		return NULL;
	index = lake_alloc(arena, sizeof *index);
	if (!parse_offset_index(arena, bytes, index) ||
		!locations_are_sound(index, start, end, (uint64_t) group->rows))
		return NULL;
	index->pages[index->count].offset = end;
	index->pages[index->count].end = end;
	index->pages[index->count].first_row = (uint64_t) group->rows;
	return index;
}

uint32_t
offset_index_find(const OffsetIndex *index, uint64_t row)
{
	uint32_t	low = 0;
	uint32_t	high = index->count;

	/* the last page that does not begin after row */
	while (high - low > 1)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (index->pages[middle].first_row <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- bounds of the pages ---- */

static bool
parse_column_index(LakeArena *arena, LakeBytes bytes, RawColumnIndex *raw)
{
	ThriftField field = {0};
	ByteCursor	cursor;
	unsigned	seen = 0;
	bool		is_sound = true;

	if (!thrift_is_struct(bytes) || raw->count > bytes.len / MIN_BOUNDS_BYTES)
		return false;
	raw->is_null = lake_alloc(arena, raw->count);
	raw->mins = lake_alloc_array(arena, raw->count, sizeof *raw->mins);
	raw->maxs = lake_alloc_array(arena, raw->count, sizeof *raw->maxs);
	cursor_init(&cursor, bytes.data, bytes.len, "Parquet column index");
	while (is_sound && thrift_next(&cursor, &field))
	{
		if (field.id >= 1 && field.id <= 5)
			seen |= 1u << field.id;
		switch (field.id)
		{
			case 1:
				is_sound = read_flags(&cursor, &field, raw->count,
									  raw->is_null);
				break;
			case 2:
				is_sound = read_binaries(&cursor, &field, raw->count,
										 raw->mins);
				break;
			case 3:
				is_sound = read_binaries(&cursor, &field, raw->count,
										 raw->maxs);
				break;
			case 4:
				is_sound = read_integer(&cursor, &field, &raw->order);
				break;
			case 5:
				raw->null_counts = lake_alloc_array(arena, raw->count,
													sizeof(int64_t));
				is_sound = read_integers(&cursor, &field, raw->count,
										 raw->null_counts);
				break;
			default:
				thrift_skip(&cursor, &field);
		}
	}
	/* all but the NULL counts must be there */
	return is_sound && (seen & 0x1e) == 0x1e;
}

static int64_t
page_rows(const OffsetIndex *pages, uint32_t page)
{
	return (int64_t) (pages->pages[page + 1].first_row -
					  pages->pages[page].first_row);
}

/*
 * Takes the NULL counts, which must agree with the pages that are said to be
 * NULL altogether, and with the footer's count (-1: not known).
 */
static bool
take_null_counts(ParquetPageIndex *index, const RawColumnIndex *raw,
				 int64_t total)
{
	int64_t		sum = 0;

	for (uint32_t i = 0; i < raw->count; i++)
	{
		int64_t		rows = page_rows(index->pages, i);
		int64_t		count = -1;

		if (raw->null_counts != NULL)
		{
			count = raw->null_counts[i];
			if (count < 0 || count > rows ||
				(count == rows) != raw->is_null[i])
				return false;
		}
		else if (raw->is_null[i])
			count = rows;
		else if (total == 0)
			count = 0;
		index->null_counts[i] = count;
		/* no overflow: the pages have no more rows than the group */
		sum += count > 0 ? count : 0;
	}
	return total < 0 ||
		(raw->null_counts != NULL ? sum == total : sum <= total);
}

static const void *
bound_of(const ParquetPageIndex *index, uint32_t page, int side)
{
	size_t		width = vector_layout_width(index->node->field.layout);

	return index->values + (2 * (size_t) page + (size_t) side) * width;
}

/* are the bounds in the order that the index says they are in? */
static bool
order_is_kept(const ParquetPageIndex *index, int64_t order)
{
	const ParquetField *field = &index->node->field;

	if (order == BOUNDARY_UNORDERED)
		return true;
	if (order != BOUNDARY_ASCENDING && order != BOUNDARY_DESCENDING)
		return false;
	for (int side = 0; side < 2; side++)
	{
		const void *last = NULL;

		for (uint32_t i = 0; i < index->pages->count; i++)
		{
			const void *bound = bound_of(index, i, side);

			if (index->nulls[i][side])
				continue;
			if (last != NULL &&
				(order == BOUNDARY_ASCENDING ?
				 bounds_are_inverted(field, last, bound) :
				 bounds_are_inverted(field, bound, last)))
				return false;
			last = bound;
		}
	}
	return true;
}

/*
 * Do the pages' bounds agree with those of the row group?  All of them lie
 * within these, and of types whose bounds are never cut or widened, one page
 * has each.
 */
static bool
bounds_agree(const ParquetPageIndex *index, const ParquetStatistics *whole)
{
	const ParquetField *field = &index->node->field;
	size_t		width = vector_layout_width(field->layout);
	const uint8_t *outer = whole->bounds.values;
	bool		is_exact = field->layout != VECTOR_BYTES &&
		field->layout != VECTOR_F32 && field->layout != VECTOR_F64;
	bool		is_met[2] = {!is_exact, !is_exact};

	if (!whole->has_min || !whole->has_max)
		return true;
	for (uint32_t i = 0; i < index->pages->count; i++)
	{
		const void *min = bound_of(index, i, 0);
		const void *max = bound_of(index, i, 1);

		if (index->nulls[i][0] || index->nulls[i][1])
			continue;
		/* cut bounds of a page may be beyond those of the group */
		if (bounds_are_inverted(field, min, outer + width) ||
			bounds_are_inverted(field, outer, max))
			return false;
		if (field->layout != VECTOR_BYTES &&
			(bounds_are_inverted(field, outer, min) ||
			 bounds_are_inverted(field, max, outer + width)))
			return false;
		is_met[0] = is_met[0] || !bounds_are_inverted(field, min, outer);
		is_met[1] = is_met[1] || !bounds_are_inverted(field, outer + width,
													  max);
	}
	return is_met[0] && is_met[1];
}

/*
 * Bounds of a page of NULLs are not looked at: they should be empty, and
 * arrow-rs before 53 wrote a zero byte.
 */
static bool
take_bounds(ParquetPageIndex *index, const RawColumnIndex *raw)
{
	const ParquetField *field = &index->node->field;
	size_t		width = vector_layout_width(field->layout);

	for (uint32_t i = 0; i < raw->count; i++)
	{
		if (!raw->is_null[i] &&
			!bounds_decode(field, raw->mins[i], raw->maxs[i],
						   index->values + 2 * i * width, index->nulls[i]))
			return false;
		lake_check_interrupts();
	}
	return order_is_kept(index, raw->order);
}

static bool
take_column_index(const ParquetFile *file, LakeArena *arena, int row_group,
				  const RawColumnIndex *raw, ParquetPageIndex *index)
{
	const ParquetField *field = &index->node->field;
	size_t		width = vector_layout_width(field->layout);
	ParquetStatistics whole;

	index->values = lake_alloc_array(arena, raw->count, 2 * width);
	index->nulls = lake_alloc_array(arena, raw->count, sizeof *index->nulls);
	index->null_counts = lake_alloc_array(arena, raw->count,
										  sizeof *index->null_counts);
	memset(index->nulls, 1, raw->count * sizeof *index->nulls);
	parquet_statistics_get(file, arena, row_group, field, &whole);
	return take_null_counts(index, raw, whole.null_count) &&
		(!bounds_are_ordered(file, field) ||
		 (take_bounds(index, raw) && bounds_agree(index, &whole)));
}

/* ---- the contract ---- */

ParquetPageIndex *
parquet_page_index_read(const ParquetFile *file, LakeArena *arena,
						int row_group, const ParquetField *field)
{
	const ParquetNode *node = parquet_node(field);
	const ParquetChunk *chunk;
	ParquetPageIndex *index;
	RawColumnIndex raw;
	LakeBytes	bytes;
	LakeFrame	frame;

	if (field->shape != PARQUET_PRIMITIVE || node->repeated > 0)
		return NULL;
	chunk = &file->row_groups[row_group].chunks[field->leaf];
	if (chunk->column_index.size <= 0)
		return NULL;
	lake_frame_push(&frame, "reading page index", file->file->location);
	index = lake_alloc(arena, sizeof *index);
	index->node = node;
	index->pages = offset_index_read(file, arena, row_group, node);
	memset(&raw, 0, sizeof raw);
	raw.count = index->pages == NULL ? 0 : index->pages->count;
	if (index->pages == NULL ||
		!parquet_file_bytes(file, arena, &chunk->column_index,
							PARQUET_MAX_INDEX_BYTES, &bytes) ||
		!parse_column_index(arena, bytes, &raw) ||
		!take_column_index(file, arena, row_group, &raw, index))
		index = NULL;
	lake_frame_pop(&frame);
	return index;
}

int
parquet_page_index_count(const ParquetPageIndex *index)
{
	return (int) index->pages->count;
}

int64_t
parquet_page_index_row(const ParquetPageIndex *index, int page)
{
	return (int64_t) index->pages->pages[page].first_row;
}

void
parquet_page_index_statistics(const ParquetPageIndex *index, LakeArena *arena,
							  int page, ParquetStatistics *statistics)
{
	(void) arena;
	memset(statistics, 0, sizeof *statistics);
	statistics->value_count = page_rows(index->pages, (uint32_t) page);
	statistics->null_count = index->null_counts[page];
	statistics_set_bounds(statistics, &index->node->field,
						  bound_of(index, (uint32_t) page, 0),
						  index->nulls[page]);
}
