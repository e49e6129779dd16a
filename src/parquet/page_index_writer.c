/*
 * The page index, written: bounds and places of the pages of each chunk, kept
 * as bytes until all row groups are written.
 *
 * Parquet format: PageIndex.md; parquet.thrift, ColumnIndex and OffsetIndex.
 */
#include "parquet/writer.h"

#include <string.h>

/* the enum BoundaryOrder */
enum
{
	BOUNDARY_UNORDERED,
	BOUNDARY_ASCENDING,
	BOUNDARY_DESCENDING
};

/* every page has bounds or no value; else readers would take it for empty */
static bool
has_all_bounds(const PageRecord *pages, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
	{
		if (!pages[i].is_null && (pages[i].bounds[0].bytes.data == NULL ||
								  pages[i].bounds[1].bytes.data == NULL))
			return false;
	}
	return true;
}

/* do the bounds of a side go up, or down, from page to page? */
static void
compare_neighbours(const ParquetField *field, LakeArena *arena,
				   const PageRecord *pages, uint32_t count, bool *ascending,
				   bool *descending)
{
	size_t		width = vector_layout_width(field->layout);
	uint8_t    *last = NULL;

	*ascending = *descending = true;
	for (uint32_t i = 0; i < count; i++)
	{
		uint8_t    *next;
		uint8_t		nulls[2];

		if (pages[i].is_null)
			continue;
		next = lake_alloc(arena, 2 * width);
		if (!bounds_decode(field, pages[i].bounds[0].bytes,
						   pages[i].bounds[1].bytes, next, nulls))
		{
			*ascending = *descending = false;
			return;
		}
		for (size_t side = 0; last != NULL && side < 2; side++)
		{
			if (bounds_are_inverted(field, last + side * width,
									next + side * width))
				*ascending = false;
			if (bounds_are_inverted(field, next + side * width,
									last + side * width))
				*descending = false;
		}
		last = next;
	}
}

static int32_t
boundary_order(const ParquetField *field, LakeArena *arena,
			   const PageRecord *pages, uint32_t count)
{
	LakeArena  *work = lake_arena_create(arena, "Parquet boundary order");
	bool		ascending;
	bool		descending;

	compare_neighbours(field, work, pages, count, &ascending, &descending);
	lake_arena_destroy(work);
	if (ascending)
		return BOUNDARY_ASCENDING;
	return descending ? BOUNDARY_DESCENDING : BOUNDARY_UNORDERED;
}

static void
write_columns(LakeBuffer *out, const ParquetField *field,
			  const PageRecord *pages, uint32_t count)
{
	ThriftOutput output = {.out = out};
	int32_t		order = boundary_order(field, out->arena, pages, count);

	thrift_write_list(&output, 1, THRIFT_TRUE, count);
	for (uint32_t i = 0; i < count; i++)
		thrift_add_bool(&output, pages[i].is_null);
	for (int side = 0; side < 2; side++)
	{
		thrift_write_list(&output, side + 2, THRIFT_BINARY, count);
		for (uint32_t i = 0; i < count; i++)
		{
			LakeBytes	bytes = pages[i].bounds[side].bytes;

			thrift_add_binary(&output, bytes.data,
							  pages[i].is_null ? 0 : bytes.len);
		}
	}
	thrift_write_i32(&output, 4, order);
	thrift_write_list(&output, 5, THRIFT_I64, count);
	for (uint32_t i = 0; i < count; i++)
		thrift_add_integer(&output, pages[i].null_count);
	thrift_end(&output);
}

static void
write_offsets(LakeBuffer *out, const PageRecord *pages, uint32_t count,
			  int64_t offset)
{
	ThriftOutput output = {.out = out};

	thrift_write_list(&output, 1, THRIFT_STRUCT, count);
	for (uint32_t i = 0; i < count; i++)
	{
		thrift_add_struct(&output);
		thrift_write_i64(&output, 1, offset);
		thrift_write_i32(&output, 2, (int32_t) pages[i].size);
		thrift_write_i64(&output, 3, pages[i].first_row);
		thrift_end(&output);
		offset += (int64_t) pages[i].size;
	}
	thrift_end(&output);
}

void
page_index_add(PageIndexWriter *writer, const ParquetField *field,
			   const PageRecord *pages, uint32_t count, int64_t offset,
			   ChunkRecord *chunk)
{
	size_t		columns = writer->columns.len;
	size_t		offsets = writer->offsets.len;

	if (count == 0)
		return;
	if (has_all_bounds(pages, count))
		write_columns(&writer->columns, field, pages, count);
	write_offsets(&writer->offsets, pages, count, offset);
	chunk->column_index.offset = (int64_t) columns;
	chunk->column_index.size = (int64_t) (writer->columns.len - columns);
	chunk->offset_index.offset = (int64_t) offsets;
	chunk->offset_index.size = (int64_t) (writer->offsets.len - offsets);
}
