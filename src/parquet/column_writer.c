/*
 * A leaf being written: rows become levels and values, these become pages, and
 * the pages of a chunk wait, as they will be in the file, for the end of the
 * row group.
 *
 * A chunk begins with a dictionary.  It is given up when it does not pay (most
 * values are new ones) or grows beyond its limit; what is coded by then stays
 * so, unless it is all in the current page.  The rows being added meanwhile are
 * taken back and added once more, so that a page is of one encoding.
 *
 * Parquet format: README.md, "Data Pages"; Encodings.md.
 */
#include "parquet/writer.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"

/* values after which a dictionary has to show that it pays */
#define FIRST_LOOK		4096

static size_t
min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

void
leaf_writer_begin(LeafWriter *leaf)
{
	const ParquetWriterOptions *options = leaf->options;

	leaf->page_rows = 0;
	leaf->page_levels = 0;
	leaf->page_values = 0;
	leaf->defs = NULL;
	leaf->reps = NULL;
	leaf->level_capacity = 0;
	buffer_init(&leaf->values, leaf->arena);
	buffer_init(&leaf->codes, leaf->arena);
	leaf->coded = options->dictionary_bytes > 0 && leaf->kind != KIND_1;
	if (leaf->coded)
		dict_init(&leaf->dict, leaf->arena, leaf->field,
				  min_size(options->dictionary_bytes,
						   PARQUET_MAX_PAGE_BYTES / 2));
	leaf->next_look = FIRST_LOOK;
	leaf->chunk_values = 0;
	leaf->chunk_levels = 0;
	leaf->chunk_nulls = 0;
	leaf->chunk_rows = 0;
	leaf->encoded = 0;
	leaf->plain = 0;
	leaf->coded_pages = 0;
	leaf->blocks = NULL;
	leaf->last_block = &leaf->blocks;
	leaf->pages = NULL;
	leaf->page_count = 0;
	leaf->page_capacity = 0;
	bounds_init(&leaf->bounds, leaf->arena);
	if (leaf->has_bloom)
		bloom_writer_init(&leaf->bloom, leaf->arena, options->bloom_fpp,
						  options->bloom_max_bytes);
}

/* ---- pages ---- */

/* bits of a code; 0 would do for one entry, but not every reader knows */
static int
code_width(const LeafWriter *leaf)
{
	return leaf->dict.count < 3 ? 1 : bits_width(leaf->dict.count - 1);
}

static size_t
code_bytes(const LeafWriter *leaf)
{
	return (leaf->codes.len / sizeof(uint32_t) *
			(size_t) code_width(leaf) + 7) / 8;
}

/* bytes of the current page before compression, about */
static size_t
page_size(const LeafWriter *leaf)
{
	size_t		bits = (size_t) (bits_width(leaf->max_def) +
								 bits_width(leaf->max_rep));
	size_t		levels = leaf->defs == NULL ? 0 :
		(size_t) leaf->page_levels * bits / 8;

	if (leaf->coded)
		return levels + code_bytes(leaf);
	if (leaf->kind == KIND_1)
		return levels + leaf->values.len / 8;
	if (leaf->kind == KIND_BYTES || leaf->kind == KIND_FIXED)
		return levels + leaf->values.len;
	return levels + (size_t) leaf->page_values *
		value_plain_width(leaf->field);
}

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
	int			width = code_width(leaf);

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

static void
finish_page(LeafWriter *leaf)
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
	if (leaf->max_rep == 0 && leaf->max_def <= 1)
	{
		lake_free(leaf->arena, leaf->defs);
		leaf->defs = NULL;
		leaf->level_capacity = 0;
	}
}

/* ---- values ---- */

/* the current page's codes become values, if they are all that is coded */
static bool
undo_codes(LeafWriter *leaf, size_t limit)
{
	const uint32_t *codes = (const uint32_t *) (void *) leaf->codes.data;
	size_t		count = leaf->codes.len / sizeof *codes;

	if (leaf->coded_pages > 0 ||
		dict_measure(&leaf->dict, codes, count, limit) > limit)
		return false;
	dict_look_up(&leaf->dict, codes, count, &leaf->values);
	leaf->codes.len = 0;
	return true;
}

/* new values are no longer coded */
static void
abandon_dictionary(LeafWriter *leaf)
{
	if (!undo_codes(leaf, 2 * leaf->options->page_bytes) &&
		leaf->page_levels > 0)
		finish_page(leaf);
	leaf->coded = false;
	dict_close(&leaf->dict);
}

static void
check_lengths(const ParquetField *field, const LakeBytes *values,
			  uint32_t count)
{
	size_t		width = value_plain_width(field);

	for (uint32_t i = 0; i < count; i++)
	{
		if (values[i].len != width)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "column \"%s\" has a value of %zu bytes instead of %zu",
					   field->name, values[i].len, width);
	}
}

/*
 * Adds values to the current page: rows, or (NULL) first, first + 1, ...
 * False, and nothing is added, when the dictionary could not take them: it is
 * abandoned then, and the page may have ended.
 */
static bool
add_values(LeafWriter *leaf, const LakeVector *vector, const uint32_t *rows,
		   uint32_t first, uint32_t count)
{
	const void *values;

	if (count == 0)
		return true;
	values = values_gather(vector, rows, first, count,
						   &leaf->workspace->values);
	if (leaf->kind == KIND_FIXED)
		check_lengths(leaf->field, values, count);
	if (!leaf->coded)
		values_append(leaf->field, leaf->kind, values, count, &leaf->values);
	else
	{
		uint32_t   *codes;

		buffer_reserve(&leaf->codes, count * sizeof *codes);
		codes = (uint32_t *) (void *) (leaf->codes.data + leaf->codes.len);
		if (!dict_add(&leaf->dict, values, count, codes))
		{
			abandon_dictionary(leaf);
			return false;
		}
		leaf->codes.len += count * sizeof *codes;
	}
	leaf->page_values += count;
	leaf->chunk_values += count;
	return true;
}

/* ends what has become too large, after rows were added */
static void
look_after(LeafWriter *leaf)
{
	if (leaf->coded && leaf->chunk_values >= leaf->next_look)
	{
		leaf->next_look *= 2;
		if ((uint64_t) leaf->dict.count * 2 > leaf->chunk_values)
			abandon_dictionary(leaf);
	}
	if (leaf->page_rows >= leaf->options->page_rows ||
		page_size(leaf) >= leaf->options->page_bytes)
		finish_page(leaf);
}

/* ---- rows of flat columns ---- */

/* the value at *at of them is in the page only if it has room */
static uint32_t
byte_rows_that_fit(const LeafWriter *leaf, const LakeVector *vector,
				   const uint32_t *selection, uint32_t first, uint32_t count,
				   size_t room)
{
	uint32_t	fitting = 0;

	for (; fitting < count; fitting++)
	{
		uint32_t	row = selection != NULL ? selection[fitting] :
			first + fitting;
		size_t		size;

		if (vector_is_null(vector, row))
			continue;
		size = ((const LakeBytes *) vector_value(vector, row))->len + 4;
		if (size > room)
			break;
		room -= size;
	}
	(void) leaf;
	return fitting;
}

/*
 * How many of the next rows the current page takes: none if it should end
 * first, one at least if it is empty.
 */
static uint32_t
rows_that_fit(const LeafWriter *leaf, const LakeVector *vector,
			  const uint32_t *selection, uint32_t first, uint32_t count)
{
	uint32_t	left = leaf->options->page_rows - leaf->page_rows;
	size_t		used = page_size(leaf);
	size_t		room = leaf->options->page_bytes > used ?
		leaf->options->page_bytes - used : 0;
	uint32_t	fitting = count < left ? count : left;

	if (leaf->coded || leaf->kind == KIND_1)
		return fitting;
	if (leaf->kind == KIND_BYTES)
		fitting = byte_rows_that_fit(leaf, vector, selection, first, fitting,
									 room);
	else
		fitting = (uint32_t) min_size(fitting, room /
									  value_plain_width(leaf->field));
	return fitting == 0 && leaf->page_rows == 0 ? 1 : fitting;
}

/* room for more levels; those so far were all there, if there are none yet */
static void
reserve_levels(LeafWriter *leaf, size_t more)
{
	size_t		used = (size_t) leaf->page_levels;
	size_t		capacity = leaf->level_capacity;

	if (leaf->defs != NULL && used + more <= capacity)
		return;
	while (capacity < used + more)
		capacity = capacity < 64 ? 64 : capacity * 2;
	if (leaf->defs == NULL)
	{
		leaf->defs = lake_alloc_raw(leaf->arena,
									capacity * sizeof *leaf->defs);
		for (size_t i = 0; i < used; i++)
			leaf->defs[i] = leaf->max_def;
	}
	else
		leaf->defs = lake_realloc(leaf->arena, leaf->defs,
								  leaf->level_capacity * sizeof *leaf->defs,
								  capacity * sizeof *leaf->defs);
	if (leaf->max_rep > 0)
		leaf->reps = lake_realloc(leaf->arena, leaf->reps,
								  leaf->level_capacity * sizeof *leaf->reps,
								  capacity * sizeof *leaf->reps);
	leaf->level_capacity = capacity;
}

/* the rows that are not NULL, in the workspace; *present: how many */
static const uint32_t *
present_rows(LeafWriter *leaf, const LakeVector *vector,
			 const uint32_t *selection, uint32_t first, uint32_t count,
			 uint32_t *present)
{
	LakeBuffer *rows = &leaf->workspace->rows;
	uint32_t	n = 0;
	uint32_t   *list;

	*present = count;
	if (vector->nulls == NULL)
		return selection;
	rows->len = 0;
	buffer_reserve(rows, ((size_t) count + 1) * sizeof *list);
	list = (uint32_t *) (void *) rows->data;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = selection != NULL ? selection[i] : first + i;

		list[n] = row;
		n += vector->nulls[row] == 0;
	}
	if (n == count && selection == NULL)
		return NULL;
	*present = n;
	return list;
}

static void
add_flat_levels(LeafWriter *leaf, const LakeVector *vector,
				const uint32_t *selection, uint32_t first, uint32_t count)
{
	uint16_t   *defs;

	reserve_levels(leaf, count);
	defs = leaf->defs + leaf->page_levels;
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = selection != NULL ? selection[i] : first + i;

		defs[i] = !vector_is_null(vector, row);
	}
}

void
leaf_writer_add(LeafWriter *leaf, const LakeVector *vector,
				const uint32_t *selection, uint32_t first, uint32_t count)
{
	while (count > 0)
	{
		uint32_t	n = rows_that_fit(leaf, vector, selection, first, count);
		const uint32_t *rows;
		uint32_t	present;

		if (n == 0)
		{
			finish_page(leaf);
			continue;
		}
		rows = present_rows(leaf, vector, selection, first, n, &present);
		if (present < n && leaf->max_def == 0)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "column \"%s\" is required and has a NULL",
					   leaf->field->name);
		if (!add_values(leaf, vector, rows, first, present))
			continue;
		if (present < n || leaf->defs != NULL)
			add_flat_levels(leaf, vector, selection, first, n);
		leaf->page_levels += n;
		leaf->page_rows += n;
		look_after(leaf);
		selection = selection == NULL ? NULL : selection + n;
		first += n;
		count -= n;
	}
}

/* ---- rows of nested columns ---- */

/* the next levels that make up whole rows and fit, of *rows rows */
static uint32_t
levels_that_fit(const LeafWriter *leaf, const uint16_t *reps,
				const uint16_t *defs, uint32_t count,
				const LakeVector *vector, const uint32_t *values,
				uint32_t *rows, uint32_t *present)
{
	uint32_t	left = leaf->options->page_rows - leaf->page_rows;
	size_t		used = page_size(leaf);
	size_t		room = leaf->options->page_bytes > used ?
		leaf->options->page_bytes - used : 0;
	size_t		width = value_plain_width(leaf->field);
	size_t		size = 0;
	uint32_t	value = 0;
	uint32_t	fitting = 0;

	*rows = 0;
	*present = 0;
	for (uint32_t i = 0;; i++)
	{
		if (i == count || reps[i] == 0)
		{
			/* a row has ended */
			if (i > 0)
			{
				if (!leaf->coded && size > room &&
					(*rows > 0 || leaf->page_rows > 0))
					break;
				fitting = i;
				*present = value;
				*rows += 1;
			}
			if (i == count || *rows == left)
				break;
		}
		if (defs[i] < leaf->max_def)
			continue;
		if (leaf->kind == KIND_BYTES)
			size += ((const LakeBytes *)
					 vector_value(vector, values[value]))->len + 4;
		else
			size += width;
		value++;
	}
	return fitting;
}

void
leaf_writer_add_levels(LeafWriter *leaf, const uint16_t *reps,
					   const uint16_t *defs, uint32_t count,
					   const LakeVector *vector, const uint32_t *values)
{
	while (count > 0)
	{
		uint32_t	rows;
		uint32_t	present;
		uint32_t	n = levels_that_fit(leaf, reps, defs, count, vector,
										values, &rows, &present);

		if (n == 0)
		{
			finish_page(leaf);
			continue;
		}
		if (!add_values(leaf, vector, values, 0, present))
			continue;
		reserve_levels(leaf, n);
		memcpy(leaf->defs + leaf->page_levels, defs, n * sizeof *defs);
		if (leaf->max_rep > 0)
			memcpy(leaf->reps + leaf->page_levels, reps, n * sizeof *reps);
		leaf->page_levels += n;
		leaf->page_rows += rows;
		look_after(leaf);
		reps += n;
		defs += n;
		values += present;
		count -= n;
	}
}

/* ---- the chunk ---- */

uint64_t
leaf_writer_size(const LeafWriter *leaf)
{
	uint64_t	waiting = page_size(leaf);

	if (leaf->coded || leaf->coded_pages > 0)
		waiting += leaf->dict.values.len;
	/* the rest will shrink as what is done has */
	if (leaf->plain > 0)
		waiting = (uint64_t) ((double) waiting * (double) leaf->encoded /
							  (double) leaf->plain);
	return leaf->encoded + waiting;
}

static void
finish_dictionary(LeafWriter *leaf)
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

static void
add_to_totals(LeafWriter *leaf)
{
	ParquetLeafTotals *totals = leaf->totals;

	totals->size += (int64_t) leaf->encoded;
	totals->value_count += (int64_t) leaf->chunk_levels;
	totals->null_count += (int64_t) leaf->chunk_nulls;
	if (leaf->has_totals)
		bounds_widen(leaf->field, &leaf->total_bounds, &leaf->bounds);
}

void
leaf_writer_finish(LeafWriter *leaf, LakeArena *arena, ChunkRecord *chunk)
{
	/* one small page may be smaller without its dictionary */
	if (leaf->coded && leaf->coded_pages == 0 &&
		undo_codes(leaf, leaf->dict.values.len + code_bytes(leaf)))
		leaf->coded = false;
	if (leaf->page_levels > 0)
		finish_page(leaf);
	chunk->has_dictionary = leaf->coded_pages > 0;
	if (chunk->has_dictionary)
		finish_dictionary(leaf);
	chunk->size = (int64_t) leaf->encoded;
	chunk->plain_size = (int64_t) leaf->plain;
	chunk->value_count = (int64_t) leaf->chunk_levels;
	chunk->null_count = (int64_t) leaf->chunk_nulls;
	chunk->coded_pages = (int32_t) leaf->coded_pages;
	chunk->plain_pages = (int32_t) (leaf->page_count - leaf->coded_pages);
	for (int side = 0; side < 2; side++)
		chunk->bounds[side] = bound_encode(leaf->field, arena, &leaf->bounds,
										   side);
	add_to_totals(leaf);
}
