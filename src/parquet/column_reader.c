/*
 * A leaf of a row group: its pages one after the other, its dictionary, and the
 * vectors of leaves that are columns by themselves.
 *
 * Skipping only counts; the rows are passed when something is read after them,
 * so that a column of which nothing more is wanted costs nothing.  Byte arrays
 * point into the memory of their page, which is kept until the next read.
 */
#include "parquet/parquet_int.h"

#include <string.h>

/* a key of caches; dictionaries of one process never share one */
static uint64_t last_dictionary_id;

void
leaf_init(LeafReader *leaf, LakeArena *arena, const ParquetFile *file,
		  const ParquetNode *node, CodecContext *context,
		  ParquetReaderCounters *counters)
{
	memset(leaf, 0, sizeof *leaf);
	leaf->arena = arena;
	leaf->chunk_arena = lake_arena_create(arena, "Parquet dictionary");
	leaf->file = file;
	leaf->node = node;
	leaf->counters = counters;
	page_stream_init(&leaf->stream, arena, context, counters);
}

static void
drop_page(LeafReader *leaf, Page **page)
{
	page_stream_recycle(&leaf->stream, *page);
	*page = NULL;
}

static const ParquetChunk *
chunk_of(const LeafReader *leaf)
{
	return &leaf->file->row_groups[leaf->row_group].
		chunks[leaf->node->field.leaf];
}

void
leaf_begin(LeafReader *leaf, int row_group, const RowRanges *wanted)
{
	const ParquetChunk *chunk;
	uint64_t	end;

	parquet_chunk_check(leaf->file, row_group, leaf->node, &leaf->start, &end);
	leaf->row_group = row_group;
	chunk = chunk_of(leaf);
	drop_page(leaf, &leaf->page);
	drop_page(leaf, &leaf->retired);
	drop_page(leaf, &leaf->dict_page);
	lake_arena_reset(leaf->chunk_arena);
	leaf->dict = NULL;
	leaf->unread = (uint64_t) chunk->value_count;
	leaf->row = 0;
	leaf->pending = 0;
	leaf->asked_index = false;
	leaf->has_sought = false;
	leaf->index = NULL;
	leaf->next_page = 0;
	leaf->announced = false;
	leaf->left = 0;
	leaf->block_len = 0;
	leaf->block_pos = 0;
	page_stream_begin(&leaf->stream, leaf->file->file, chunk->codec,
					  leaf->start, end);
	leaf->stream.wanted = *wanted;
	/* before ARROW-10353, v2 pages said is_compressed = false and were */
	leaf->stream.always_compressed =
		parquet_written_before(leaf->file, "parquet-cpp", 2, 0, 0);
}

void *
leaf_reserve(LeafReader *leaf, void *buffer, size_t *capacity, size_t size)
{
	size_t		wanted = *capacity + *capacity / 2;

	/* never NULL, of which even an offset of 0 is undefined */
	if (buffer != NULL && size <= *capacity)
		return buffer;
	if (wanted < size)
		wanted = size;
	buffer = lake_realloc(leaf->arena, buffer, *capacity, wanted);
	*capacity = wanted;
	return buffer;
}

/* ---- pages ---- */

/* values of a leaf's layout from a decoder; out has room for count of them */
static void
decode_values(LeafReader *leaf, ValueDecoder *decoder, void *out,
			  uint32_t count)
{
	const ParquetField *field = &leaf->node->field;

	if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY &&
		field->type_length == 0 && count > 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has values of fixed length without a length",
				   field->name);
	if (!values_need_conversion(field))
	{
		value_decoder_read(decoder, out, count);
		return;
	}
	leaf->raw = leaf_reserve(leaf, leaf->raw, &leaf->raw_capacity,
							 (size_t) count * sizeof *leaf->raw);
	value_decoder_read(decoder, leaf->raw, count);
	values_convert(field, leaf->raw, out, count);
}

/* can a page of so many bytes have so many values?  (PLAIN) */
static bool
is_count_possible(const ParquetField *field, uint64_t count, uint64_t size)
{
	/* bits; of BYTE_ARRAY those of the length */
	static const uint8_t widths[] = {1, 32, 64, 96, 32, 64, 32, 8};
	uint64_t	width = widths[field->physical];

	if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
		width *= (uint64_t) field->type_length;
	return width == 0 ? count == 0 : count <= size * 8 / width;
}

static void
load_dictionary(LeafReader *leaf, const PageHeader *header)
{
	const ParquetField *field = &leaf->node->field;
	LakeDictionary *dict;
	ValueDecoder decoder;
	void	   *values;

	if (leaf->dict != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "a column chunk has two dictionaries");
	if (header->encoding != PARQUET_ENCODING_PLAIN &&
		header->encoding != PARQUET_ENCODING_PLAIN_DICTIONARY)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "dictionary pages of encoding %d are not supported",
				   header->encoding);
	if (!is_count_possible(field, header->value_count, header->size))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a dictionary of %u bytes says %u values", header->size,
				   header->value_count);
	leaf->dict_page = page_stream_load(&leaf->stream, header);
	dict = lake_alloc(leaf->chunk_arena, sizeof *dict);
	dict->id = ++last_dictionary_id;
	dict->layout = field->layout;
	dict->count = header->value_count;
	values = lake_alloc_raw(leaf->chunk_arena,
							(size_t) dict->count *
							vector_layout_width(dict->layout));
	dict->values = values;
	value_decoder_init(&decoder, leaf->chunk_arena, PARQUET_ENCODING_PLAIN,
					   field->physical, field->type_length,
					   encoding_bytes(leaf->dict_page->bytes,
									  leaf->dict_page->size), dict->count);
	decode_values(leaf, &decoder, values, dict->count);
	leaf->dict = dict;
	/* converted or copied values do not need the page */
	if (field->layout != VECTOR_BYTES)
		drop_page(leaf, &leaf->dict_page);
}

bool
leaf_has_more(const LeafReader *leaf)
{
	return leaf->has_sought ? leaf->next_page < leaf->index->count :
		leaf->unread > 0;
}

void
leaf_doubt_index(LeafReader *leaf)
{
	if (leaf->has_sought)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the pages of a column chunk are not those of its offset index");
	leaf->index = leaf->stream.index = NULL;
}

/* is the announced page the next one of the index, with as many rows? */
static void
check_location(LeafReader *leaf)
{
	const PageHeader *header = &leaf->header;
	const PageLocation *location = &leaf->index->pages[leaf->next_page];
	uint64_t	rows;

	if (leaf->next_page >= leaf->index->count ||
		location->offset != leaf->header_offset)
	{
		leaf_doubt_index(leaf);
		return;
	}
	rows = location[1].first_row - location->first_row;
	if (leaf->node->repeated == 0 ? header->value_count != rows :
		header->type == PAGE_DATA_V2 && header->row_count != rows)
		leaf_doubt_index(leaf);
}

void
leaf_announce(LeafReader *leaf)
{
	PageHeader *header = &leaf->header;

	while (!leaf->announced)
	{
		leaf->header_offset = leaf->stream.pos;
		if (!leaf_has_more(leaf) || !page_stream_next(&leaf->stream, header))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "the pages of a column chunk end %llu values too early",
					   (unsigned long long) leaf->unread);
		if (header->type == PAGE_DICTIONARY)
			load_dictionary(leaf, header);
		if ((header->type != PAGE_DATA && header->type != PAGE_DATA_V2) ||
			header->value_count == 0)
			continue;
		if (header->value_count > leaf->unread)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "the pages of a column chunk have more values than it says");
		if (leaf->index != NULL)
			check_location(leaf);
		leaf->announced = true;
	}
}

void
leaf_pass(LeafReader *leaf)
{
	leaf->unread -= leaf->header.value_count;
	leaf->announced = false;
	leaf->next_page++;
	leaf->counters->pages_skipped++;
}

static void
start_levels(LeafReader *leaf, ByteCursor *cursor)
{
	const PageHeader *header = &leaf->header;
	const ParquetNode *node = leaf->node;
	LakeBytes	levels;

	if (header->type == PAGE_DATA)
	{
		levels_init_v1(&leaf->rep, cursor, header->rep_encoding,
					   node->repeated, header->value_count);
		levels_init_v1(&leaf->def, cursor, header->def_encoding,
					   node->defined, header->value_count);
		/* IMPALA-3006 */
		leaf->rep.low_first = leaf->def.low_first =
			leaf->file->created_by != NULL &&
			strncmp(leaf->file->created_by, "impala ", 7) == 0;
		return;
	}
	levels.data = cursor_take(cursor, header->rep_size);
	levels.len = header->rep_size;
	levels_init(&leaf->rep, levels, node->repeated);
	levels.data = cursor_take(cursor, header->def_size);
	levels.len = header->def_size;
	levels_init(&leaf->def, levels, node->defined);
}

/* a seek has left out what is in front of the pages */
static void
fetch_dictionary(LeafReader *leaf)
{
	PageStream *stream = &leaf->stream;
	uint64_t	next = stream->pos;
	PageHeader	header;

	if (leaf->dict != NULL || !leaf->has_sought)
		return;
	stream->pos = leaf->start;
	while (leaf->dict == NULL && stream->pos < leaf->index->pages[0].offset &&
		   page_stream_next(stream, &header))
	{
		if (header.type == PAGE_DICTIONARY)
			load_dictionary(leaf, &header);
	}
	stream->pos = next;
}

/*
 * Counts the rows that begin in a v1 page of a list, whose header does not say
 * them.
 */
static void
check_page_rows(LeafReader *leaf)
{
	const PageLocation *location = &leaf->index->pages[leaf->next_page];
	LevelDecoder decoder = leaf->rep;
	uint32_t	left = leaf->header.value_count;
	uint64_t	rows = 0;
	uint16_t	levels[1024];

	while (left > 0)
	{
		uint32_t	count = left < 1024 ? left : 1024;

		levels_read(&decoder, levels, count);
		for (uint32_t i = 0; i < count; i++)
			rows += levels[i] == 0;
		if (left == leaf->header.value_count && levels[0] != 0)
			leaf_doubt_index(leaf);
		left -= count;
	}
	if (rows != location[1].first_row - location->first_row)
		leaf_doubt_index(leaf);
}

void
leaf_open(LeafReader *leaf)
{
	const PageHeader *header = &leaf->header;
	const ParquetField *field = &leaf->node->field;
	ByteCursor	cursor;
	LakeBytes	rest;

	/* only plain byte arrays outlive their page in a vector */
	if (leaf->page != NULL && field->layout == VECTOR_BYTES && !leaf->coded)
	{
		leaf->page->next = leaf->retired;
		leaf->retired = leaf->page;
		leaf->page = NULL;
	}
	else
		drop_page(leaf, &leaf->page);
	leaf->page = page_stream_load(&leaf->stream, header);
	cursor_init(&cursor, leaf->page->bytes, leaf->page->size, "Parquet page");
	start_levels(leaf, &cursor);
	if (leaf->has_sought && leaf->node->repeated > 0 &&
		header->type == PAGE_DATA)
		check_page_rows(leaf);
	rest.data = cursor.pos;
	rest.len = cursor_left(&cursor);
	leaf->coded = header->encoding == PARQUET_ENCODING_RLE_DICTIONARY ||
		header->encoding == PARQUET_ENCODING_PLAIN_DICTIONARY;
	if (leaf->coded)
		fetch_dictionary(leaf);
	if (!leaf->coded)
		value_decoder_init(&leaf->values, leaf->page->arena,
						   header->encoding, field->physical,
						   field->type_length, rest, header->value_count);
	else if (leaf->dict != NULL)
		codes_init(&leaf->codes, rest, leaf->dict->count);
	else
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a page is coded by a dictionary that the column chunk does not have");
	leaf->unread -= header->value_count;
	leaf->announced = false;
	leaf->left = header->value_count;
	leaf->next_page++;
	leaf->counters->pages_read++;
}

/* ---- the offset index ---- */

/*
 * Sets the index, if there is one that knows where we are.  The pages so far
 * were passed by their headers.
 */
static void
ask_index(LeafReader *leaf)
{
	const OffsetIndex *index = offset_index_read(leaf->file, leaf->chunk_arena,
												 leaf->row_group, leaf->node);
	uint64_t	next = leaf->announced ? leaf->header_offset :
		leaf->stream.pos;
	uint32_t	page = 0;

	leaf->asked_index = true;
	if (index == NULL)
		return;
	while (page < index->count && index->pages[page].offset < next)
		page++;
	if (page != leaf->next_page ||
		(leaf->node->repeated == 0 &&
		 index->pages[page].first_row != leaf->row + leaf->left))
		return;
	leaf->index = leaf->stream.index = index;
}

void
leaf_seek(LeafReader *leaf)
{
	const PageLocation *pages;
	uint64_t	target = leaf->row + leaf->pending;
	uint32_t	page;

	if (!leaf->asked_index &&
		(leaf->stream.wanted.count > 0 ||
		 (leaf->pending > 0 && !page_stream_is_ahead(&leaf->stream))))
		ask_index(leaf);
	if (leaf->index == NULL || leaf->pending == 0)
		return;
	page = offset_index_find(leaf->index, target);
	if (page < leaf->next_page)
		return;
	pages = leaf->index->pages;
	if (page > leaf->next_page)
	{
		leaf->counters->pages_skipped += page - leaf->next_page;
		leaf->stream.pos = pages[page].offset;
		leaf->next_page = page;
		leaf->announced = false;
		if (leaf->node->repeated == 0)
			leaf->unread = pages[leaf->index->count].first_row -
				pages[page].first_row;
	}
	leaf->has_sought = true;
	leaf->left = 0;
	leaf->block_len = leaf->block_pos = 0;
	leaf->row = pages[page].first_row;
	leaf->pending = target - leaf->row;
}

void
leaf_end(LeafReader *leaf)
{
	if (leaf->index == NULL)
		return;
	leaf->counters->pages_skipped += leaf->index->count - leaf->next_page;
	leaf->next_page = leaf->index->count;
}

/* ---- values ---- */

void
leaf_start(LeafReader *leaf)
{
	drop_page(leaf, &leaf->retired);
	leaf->sink.empty = true;
	leaf->sink.dict = NULL;
	leaf->level_count = 0;
	leaf->value_count = 0;
}

static uint8_t *
reserve_values(LeafReader *leaf, uint32_t count)
{
	ValueSink  *sink = &leaf->sink;
	size_t		width = vector_layout_width(leaf->node->field.layout);

	sink->values = leaf_reserve(leaf, sink->values, &sink->values_capacity,
								(size_t) count * width);
	return sink->values;
}

static uint32_t *
reserve_codes(LeafReader *leaf, uint32_t count)
{
	ValueSink  *sink = &leaf->sink;

	sink->codes = leaf_reserve(leaf, sink->codes, &sink->codes_capacity,
							   (size_t) count * sizeof *sink->codes);
	return sink->codes;
}

void
leaf_take_values(LeafReader *leaf, uint32_t at, uint32_t count)
{
	ValueSink  *sink = &leaf->sink;
	size_t		width = vector_layout_width(leaf->node->field.layout);

	if (sink->empty)
	{
		sink->empty = false;
		sink->dict = leaf->coded ? leaf->dict : NULL;
	}
	if (leaf->coded && sink->dict != NULL)
	{
		codes_read(&leaf->codes, reserve_codes(leaf, at + count) + at, count);
		return;
	}
	/* the writer fell back from the dictionary to plain values */
	if (sink->dict != NULL)
	{
		values_look_up(sink->dict, sink->codes, reserve_values(leaf, at), at);
		sink->dict = NULL;
	}
	reserve_values(leaf, at + count);
	if (leaf->coded)
	{
		codes_read(&leaf->codes, reserve_codes(leaf, count), count);
		values_look_up(leaf->dict, sink->codes,
					   sink->values + (size_t) at * width, count);
	}
	else
		decode_values(leaf, &leaf->values, sink->values + (size_t) at * width,
					  count);
}

void
leaf_skip_values(LeafReader *leaf, uint64_t count)
{
	if (leaf->coded)
		codes_skip(&leaf->codes, count);
	else
		value_decoder_skip(&leaf->values, count);
}

/* ---- flat columns ---- */

static void
skip_flat(LeafReader *leaf)
{
	while (leaf->pending > 0)
	{
		uint32_t	count;

		if (leaf->left == 0)
		{
			leaf_announce(leaf);
			count = leaf->header.value_count;
			if (count <= leaf->pending)
			{
				leaf->pending -= count;
				leaf->row += count;
				leaf_pass(leaf);
				continue;
			}
			leaf_open(leaf);
		}
		count = leaf->left < leaf->pending ? leaf->left :
			(uint32_t) leaf->pending;
		leaf_skip_values(leaf, levels_skip(&leaf->def, count));
		leaf->left -= count;
		leaf->pending -= count;
		leaf->row += count;
	}
}

/*
 * Plain numbers without NULLs, where they lie in the page: count of them, or
 * NULL if they are not all there or not aligned.  The page lives until the next
 * read, as the vector does.
 */
static const void *
borrow_values(LeafReader *leaf, uint32_t count)
{
	size_t		width = leaf->values.width;
	const uint8_t *values = leaf->values.cursor.pos;

	if (leaf->coded || leaf->values.ops != &plain_fixed_ops ||
		count > leaf->left || (uintptr_t) values % width != 0 ||
		(size_t) count * width > cursor_left(&leaf->values.cursor) ||
		(leaf->node->defined > 0 && !levels_all_max(&leaf->def, count)))
		return NULL;
	levels_skip(&leaf->def, count);
	value_decoder_skip(&leaf->values, count);
	leaf->left -= count;
	return values;
}

/*
 * The next count rows of the page to slot at and after.  Returns whether one of
 * them is NULL.
 */
static bool
take_flat(LeafReader *leaf, uint32_t at, uint32_t count)
{
	ValueSink  *sink = &leaf->sink;
	uint8_t    *nulls;
	uint32_t	dense;

	if (leaf->node->defined == 0 || levels_all_max(&leaf->def, count))
	{
		levels_skip(&leaf->def, count);
		leaf_take_values(leaf, at, count);
		return false;
	}
	leaf->nulls = leaf_reserve(leaf, leaf->nulls, &leaf->nulls_capacity,
							   at + count);
	nulls = leaf->nulls + at;
	dense = (uint32_t) levels_read_nulls(&leaf->def, nulls, count);
	leaf_take_values(leaf, at, dense);
	if (dense == count)
		return false;
	if (sink->dict != NULL)
		values_spread(reserve_codes(leaf, at + count) + at,
					  sizeof *sink->codes, nulls, count, dense);
	else
	{
		size_t		width = vector_layout_width(leaf->node->field.layout);

		values_spread(reserve_values(leaf, at + count) + (size_t) at * width,
					  width, nulls, count, dense);
	}
	return true;
}

const LakeVector *
leaf_read_flat(LeafReader *leaf, uint32_t count)
{
	LakeVector *vector = &leaf->vector;
	const void *borrowed = NULL;
	bool		has_nulls = false;
	uint32_t	done = 0;

	leaf_start(leaf);
	if (count > 0)
	{
		leaf_seek(leaf);
		skip_flat(leaf);
		leaf->row += count;
	}
	while (done < count)
	{
		uint32_t	step;

		if (leaf->left == 0)
		{
			leaf_announce(leaf);
			leaf_open(leaf);
		}
		if (done == 0 && (borrowed = borrow_values(leaf, count)) != NULL)
			break;
		step = leaf->left < count - done ? leaf->left : count - done;
		if (take_flat(leaf, done, step))
		{
			if (!has_nulls)
				memset(leaf->nulls, 0, done);
			has_nulls = true;
		}
		else if (has_nulls)
		{
			leaf->nulls = leaf_reserve(leaf, leaf->nulls,
									   &leaf->nulls_capacity, done + step);
			memset(leaf->nulls + done, 0, step);
		}
		leaf->left -= step;
		done += step;
	}
	memset(vector, 0, sizeof *vector);
	vector->layout = leaf->node->field.layout;
	vector->count = count;
	vector->nulls = has_nulls ? leaf->nulls : NULL;
	vector->dict = leaf->sink.dict;
	if (vector->dict != NULL)
		vector->codes = leaf->sink.codes;
	else
		vector->values = borrowed != NULL ? borrowed : leaf->sink.values;
	return vector;
}
