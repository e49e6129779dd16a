/*
 * Pages as they are in the file: levels and values of a leaf, compressed behind
 * their header, and what is remembered of each.
 *
 * Parquet format: README.md, "Data Pages"; parquet.thrift, PageHeader.
 */
#include "parquet/writer.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"

/* ---- how large ---- */

/* 0 would do for one entry, but not every reader knows */
int
page_code_width(const LeafWriter *leaf)
{
	return leaf->dict.count < 3 ? 1 : bits_width(leaf->dict.count - 1);
}

size_t
page_code_bytes(const LeafWriter *leaf)
{
	return (leaf->codes.len / sizeof(uint32_t) *
			(size_t) page_code_width(leaf) + 7) / 8;
}

size_t
page_level_width(const LeafWriter *leaf)
{
	return (size_t) (bits_width(leaf->max_def) + bits_width(leaf->max_rep));
}

size_t
page_size(const LeafWriter *leaf)
{
	size_t		levels = leaf->defs == NULL ? 0 :
		(size_t) leaf->page_levels * page_level_width(leaf) / 8;

	if (leaf->coded)
		return levels + page_code_bytes(leaf);
	if (leaf->kind == KIND_1)
		return levels + leaf->values.len / 8;
	if (leaf->kind == KIND_BYTES || leaf->kind == KIND_FIXED)
		return levels + leaf->values.len;
	return levels + (size_t) leaf->page_values *
		value_plain_width(leaf->field);
}

/* ---- contents ---- */

/* levels NULL: all are max */
static void
write_levels(LeafWriter *leaf, const uint16_t *levels, uint16_t max)
{
	LakeBuffer *page = &leaf->workspace->page;
	LakeBuffer *numbers = &leaf->workspace->numbers;
	size_t		count = (size_t) leaf->page_levels;
	size_t		start = page->len;
	uint32_t	len = 0;

	if (max == 0)
		return;
	buffer_append(page, &len, sizeof len);
	if (levels == NULL)
		hybrid_write_run(page, max, count, bits_width(max));
	else
	{
		uint32_t   *wide;

		numbers->len = 0;
		buffer_reserve(numbers, count * sizeof *wide);
		wide = (uint32_t *) (void *) numbers->data;
		for (size_t i = 0; i < count; i++)
			wide[i] = levels[i];
		hybrid_write(page, wide, count, bits_width(max));
	}
	len = (uint32_t) (page->len - start - sizeof len);
	memcpy(page->data + start, &len, sizeof len);
}

/* values as kept to their bytes at the end of the page */
static void
write_values(LeafWriter *leaf, const LakeBuffer *values, size_t count)
{
	LakeBuffer *page = &leaf->workspace->page;
	size_t		start = page->len;

	if (leaf->kind == KIND_BYTES || leaf->kind == KIND_FIXED)
		buffer_append(page, values->data, values->len);
	else
		values_encode(leaf->field, values->data, count, page);
	if (leaf->has_bloom && count > 0)
		bloom_writer_add(&leaf->bloom, page->data + start, count,
						 leaf->field->physical == PARQUET_BYTE_ARRAY ? 0 :
						 value_plain_width(leaf->field));
}

static void
write_codes(LeafWriter *leaf)
{
	LakeBuffer *page = &leaf->workspace->page;
	int			width = page_code_width(leaf);

	buffer_append_byte(page, (uint8_t) width);
	hybrid_write(page, (const uint32_t *) (void *) leaf->codes.data,
				 leaf->codes.len / sizeof(uint32_t), width);
}

static void
write_header(LeafWriter *leaf, int type, uint32_t count, int encoding,
			 const LakeBuffer *body)
{
	LakeBuffer *header = &leaf->workspace->header;
	ThriftOutput output = {.out = header};
	uint32_t	crc = hash_crc32(0, body->data, body->len);

	header->len = 0;
	thrift_write_i32(&output, 1, type);
	thrift_write_i32(&output, 2, (int32_t) leaf->workspace->page.len);
	thrift_write_i32(&output, 3, (int32_t) body->len);
	thrift_write_i32(&output, 4, (int32_t) crc);
	thrift_begin(&output, type == PAGE_DATA ? 5 : 7);
	thrift_write_i32(&output, 1, (int32_t) count);
	thrift_write_i32(&output, 2, encoding);
	if (type == PAGE_DATA)
	{
		thrift_write_i32(&output, 3, PARQUET_ENCODING_RLE);
		thrift_write_i32(&output, 4, PARQUET_ENCODING_RLE);
	}
	thrift_end(&output);
	thrift_end(&output);
}

/* the workspace's page as a block, which is not linked yet */
static PageBlock *
make_block(LeafWriter *leaf, int type, uint32_t count, int encoding)
{
	ParquetWorkspace *workspace = leaf->workspace;
	const LakeBuffer *header = &workspace->header;
	const LakeBuffer *body = &workspace->page;
	PageBlock  *block;

	if (workspace->page.len > PARQUET_MAX_PAGE_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "column \"%s\" has a page of %zu bytes, more than %zu",
				   leaf->field->name, workspace->page.len,
				   PARQUET_MAX_PAGE_BYTES);
	if (leaf->options->codec != CODEC_NONE)
	{
		workspace->packed.len = 0;
		codec_compress_append(workspace->context, leaf->options->codec,
							  leaf->options->level, workspace->page.data,
							  workspace->page.len, &workspace->packed);
		body = &workspace->packed;
	}
	write_header(leaf, type, count, encoding, body);
	block = lake_alloc_raw(leaf->arena, sizeof *block + header->len +
						   body->len);
	block->next = NULL;
	block->size = header->len + body->len;
	memcpy(block->bytes, header->data, header->len);
	if (body->len > 0)
		memcpy(block->bytes + header->len, body->data, body->len);
	leaf->encoded += block->size;
	leaf->plain += header->len + workspace->page.len;
	return block;
}

/* ---- what a page's values are ---- */

/* marks for as many codes as the dictionary has */
static uint8_t *
reserve_marks(LeafWriter *leaf)
{
	ParquetWorkspace *workspace = leaf->workspace;
	size_t		count = workspace->mark_count;

	if (count >= leaf->dict.count)
		return workspace->marks;
	while (count < leaf->dict.count)
		count = count < 1024 ? 1024 : count * 2;
	lake_free(workspace->arena, workspace->marks);
	workspace->marks = NULL;
	workspace->mark_count = 0;
	workspace->marks = lake_alloc(workspace->arena, count);
	workspace->mark_count = count;
	return workspace->marks;
}

/* the entries that the page's codes stand for, as kept; returns their number */
static size_t
find_distinct(LeafWriter *leaf, LakeBuffer *values)
{
	LakeBuffer *numbers = &leaf->workspace->numbers;
	const uint32_t *codes = (const uint32_t *) (void *) leaf->codes.data;
	size_t		count = leaf->codes.len / sizeof *codes;
	uint8_t    *marks = reserve_marks(leaf);
	size_t		distinct = 0;
	uint32_t   *list;

	numbers->len = 0;
	buffer_reserve(numbers, (count + 1) * sizeof *list);
	list = (uint32_t *) (void *) numbers->data;
	for (size_t i = 0; i < count; i++)
	{
		list[distinct] = codes[i];
		distinct += marks[codes[i]] == 0;
		marks[codes[i]] = 1;
	}
	for (size_t i = 0; i < distinct; i++)
		marks[list[i]] = 0;
	values->len = 0;
	dict_look_up(&leaf->dict, list, distinct, values);
	return distinct;
}

static uint64_t
count_coded_nans(const LeafWriter *leaf)
{
	const uint32_t *codes = (const uint32_t *) (void *) leaf->codes.data;
	size_t		count = leaf->codes.len / sizeof *codes;
	const float *narrow = (const float *) (void *) leaf->dict.values.data;
	const double *wide = (const double *) (void *) leaf->dict.values.data;
	uint64_t	nans = 0;

	for (size_t i = 0; i < count; i++)
	{
		nans += leaf->field->layout == VECTOR_F32 ?
			narrow[codes[i]] != narrow[codes[i]] :
			wide[codes[i]] != wide[codes[i]];
	}
	return nans;
}

/* bounds of the current page, in chunk and file too */
static void
take_statistics(LeafWriter *leaf, PageRecord *page)
{
	const ParquetField *field = leaf->field;
	uint64_t	nans = 0;
	Bounds		bounds = {0};

	page->null_count = (int64_t) (leaf->page_levels - leaf->page_values);
	page->is_null = leaf->page_values == 0;
	leaf->chunk_nulls += leaf->page_levels - leaf->page_values;
	if (!leaf->has_bounds || leaf->page_values == 0)
		return;
	if (leaf->coded)
	{
		LakeBuffer *values = &leaf->workspace->values;
		size_t		distinct = find_distinct(leaf, values);

		bounds_find(field, leaf->kind, values, distinct, &bounds, &nans);
		if (nans > 0)
			nans = count_coded_nans(leaf);
	}
	else
		bounds_find(field, leaf->kind, &leaf->values,
					(size_t) leaf->page_values, &bounds, &nans);
	bounds_check(field, &bounds);
	leaf->totals->nan_count += (int64_t) nans;
	bounds_widen(field, &leaf->bounds, &bounds);
	for (int side = 0; side < 2; side++)
		page->bounds[side] = bound_encode(field, leaf->arena, &bounds, side);
}

static PageRecord *
add_record(LeafWriter *leaf)
{
	uint32_t	capacity = leaf->page_capacity;
	PageRecord *page;

	if (leaf->page_count == capacity)
	{
		leaf->page_capacity = capacity < 4 ? 4 : capacity * 2;
		leaf->pages = lake_realloc(leaf->arena, leaf->pages,
								   capacity * sizeof *page,
								   leaf->page_capacity * sizeof *page);
	}
	page = &leaf->pages[leaf->page_count++];
	memset(page, 0, sizeof *page);
	return page;
}

void
page_finish(LeafWriter *leaf)
{
	PageRecord *page = add_record(leaf);
	uint32_t	levels = (uint32_t) leaf->page_levels;
	PageBlock  *block;

	lake_check_interrupts();
	if (leaf->page_levels > INT32_MAX)
		lake_throw(LAKE_ERROR_LIMIT,
				   "column \"%s\" has more than %d elements in a page",
				   leaf->field->name, INT32_MAX);
	take_statistics(leaf, page);
	leaf->workspace->page.len = 0;
	write_levels(leaf, leaf->reps, leaf->max_rep);
	write_levels(leaf, leaf->defs, leaf->max_def);
	if (leaf->coded)
		write_codes(leaf);
	else
		write_values(leaf, &leaf->values, (size_t) leaf->page_values);
	block = make_block(leaf, PAGE_DATA, levels, leaf->coded ?
					   PARQUET_ENCODING_RLE_DICTIONARY :
					   PARQUET_ENCODING_PLAIN);
	*leaf->last_block = block;
	leaf->last_block = &block->next;
	page->size = block->size;
	page->first_row = leaf->chunk_rows;
	leaf->coded_pages += leaf->coded;
	leaf->chunk_rows += leaf->page_rows;
	leaf->chunk_levels += leaf->page_levels;
	leaf->page_rows = 0;
	leaf->page_levels = 0;
	leaf->page_values = 0;
	leaf->values.len = 0;
	leaf->codes.len = 0;
	/* levels of flat columns begin again as "all there" */
	if (leaf->max_rep == 0 && leaf->max_def <= 1 && leaf->defs != NULL)
	{
		lake_free(leaf->arena, leaf->defs);
		leaf->defs = NULL;
		leaf->level_capacity = 0;
	}
}

void
page_add_dictionary(LeafWriter *leaf)
{
	DictWriter *dict = &leaf->dict;
	PageBlock  *block;

	leaf->workspace->page.len = 0;
	write_values(leaf, &dict->values, dict->count);
	block = make_block(leaf, PAGE_DICTIONARY, dict->count,
					   PARQUET_ENCODING_PLAIN);
	block->next = leaf->blocks;
	leaf->blocks = block;
}
