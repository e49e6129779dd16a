/*
 * Pages of a column chunk: headers, and bytes as they were before compression.
 *
 * The chunk is fetched a window at a time.  Headers follow each other without
 * an index, so every one must be read, but a page that is passed costs no more
 * than its header unless it happened to be fetched with its neighbours.
 *
 * Parquet format: README.md, "Data Pages"; parquet.thrift, PageHeader.
 */
#include "parquet/parquet_int.h"

#include <string.h>

#include "base/hash.h"

#define WINDOW_BYTES		((size_t) 1 << 20)
#define FIRST_HEADER_BYTES	((size_t) 256)
/* a header has statistics in it, that is two values of any length */
#define MAX_HEADER_BYTES	((size_t) 16 << 20)
/* what is read along to spare a request */
#define GAP_BYTES			((uint64_t) 64 << 10)
/* pages kept for reuse; a vector seldom spans more */
#define MAX_SPARE_PAGES		2

void
page_stream_init(PageStream *stream, LakeArena *arena, CodecContext *context,
				 ParquetReaderCounters *counters)
{
	memset(stream, 0, sizeof *stream);
	stream->arena = arena;
	stream->context = context;
	stream->counters = counters;
}

void
page_stream_begin(PageStream *stream, LakeFile *file, int32_t codec,
				  uint64_t start, uint64_t end)
{
	stream->file = file;
	stream->codec = codec_from_parquet_id(codec);
	stream->pos = start;
	stream->end = end;
	stream->index = NULL;
	stream->wanted.count = 0;
	stream->window_len = 0;
}

/* is any row of the page wanted? */
static bool
is_wanted(const PageStream *stream, uint32_t page)
{
	const ParquetRows *ranges = stream->wanted.ranges;
	int64_t		first = (int64_t) stream->index->pages[page].first_row;
	int64_t		end = (int64_t) stream->index->pages[page + 1].first_row;
	int			low = 0;
	int			high = stream->wanted.count;

	/* the first range that ends after the page's first row */
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (ranges[middle].end <= first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < stream->wanted.count && ranges[low].first < end;
}

/* the first page that begins at offset or after it, or the count of pages */
static uint32_t
page_at(const OffsetIndex *index, uint64_t offset)
{
	uint32_t	low = 0;
	uint32_t	high = index->count;

	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (index->pages[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * How many bytes to fetch at offset when len are needed: up to a window, as far
 * as they are wanted.
 */
static size_t
fetch_size(const PageStream *stream, uint64_t offset, size_t len)
{
	const OffsetIndex *index = stream->index;
	uint64_t	limit = stream->end - offset;
	uint64_t	end = offset + len;

	if (limit > WINDOW_BYTES && limit > len)
		limit = len > WINDOW_BYTES ? len : WINDOW_BYTES;
	limit += offset;
	if (index == NULL || stream->wanted.count == 0)
		return (size_t) (limit - offset);
	/* the dictionary is in front of the pages */
	if (offset < index->pages[0].offset && end < index->pages[0].offset)
		end = index->pages[0].offset;
	for (uint32_t i = page_at(index, offset); i < index->count &&
		 index->pages[i].offset < limit &&
		 index->pages[i].offset <= end + GAP_BYTES; i++)
	{
		if (index->pages[i].end > end && is_wanted(stream, i))
			end = index->pages[i].end;
	}
	return (size_t) ((end < limit ? end : limit) - offset);
}

bool
page_stream_is_ahead(const PageStream *stream)
{
	return stream->pos >= stream->window_offset &&
		stream->pos - stream->window_offset + FIRST_HEADER_BYTES <=
		stream->window_len;
}

/*
 * The chunk's bytes at offset; there are at least len of them in the window,
 * which the caller knows to be in the chunk.
 */
static const uint8_t *
window_at(PageStream *stream, uint64_t offset, size_t len)
{
	uint64_t	ahead = offset - stream->window_offset;
	size_t		keep = 0;
	size_t		want;

	if (offset >= stream->window_offset && ahead < stream->window_len)
		keep = stream->window_len - (size_t) ahead;
	if (keep > 0 && len <= keep)
		return stream->window + ahead;

	want = fetch_size(stream, offset, len);
	if (keep > 0)
		memmove(stream->window, stream->window + ahead, keep);
	stream->window_offset = offset;
	stream->window_len = keep;
	if (want > stream->window_capacity)
	{
		stream->window = lake_realloc(stream->arena, stream->window,
									  stream->window_capacity, want);
		stream->window_capacity = want;
	}
	lake_file_read(stream->file, offset + keep, want - keep,
				   stream->window + keep);
	stream->window_len = want;
	return stream->window;
}

/* ---- headers ---- */

static uint32_t
read_size(ByteCursor *cursor, const ThriftField *field, const char *what)
{
	int32_t		value = thrift_i32(cursor, field);

	if (value < 0)
		lake_throw(LAKE_ERROR_CORRUPT, "a page says %d %s", value, what);
	return (uint32_t) value;
}

static void
read_data_header(ByteCursor *cursor, PageHeader *header)
{
	ThriftField field = {0};

	while (thrift_next(cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				header->value_count = read_size(cursor, &field, "values");
				break;
			case 2:
				header->encoding = thrift_i32(cursor, &field);
				break;
			case 3:
				header->def_encoding = thrift_i32(cursor, &field);
				break;
			case 4:
				header->rep_encoding = thrift_i32(cursor, &field);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
}

static void
read_dictionary_header(ByteCursor *cursor, PageHeader *header)
{
	ThriftField field = {0};

	while (thrift_next(cursor, &field))
	{
		if (field.id == 1)
			header->value_count = read_size(cursor, &field, "values");
		else if (field.id == 2)
			header->encoding = thrift_i32(cursor, &field);
		else
			thrift_skip(cursor, &field);
	}
}

static void
read_data_header_v2(ByteCursor *cursor, PageHeader *header)
{
	ThriftField field = {0};

	while (thrift_next(cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				header->value_count = read_size(cursor, &field, "values");
				break;
			case 3:
				header->row_count = read_size(cursor, &field, "rows");
				break;
			case 4:
				header->encoding = thrift_i32(cursor, &field);
				break;
			case 5:
				header->def_size =
					read_size(cursor, &field, "bytes of definition levels");
				break;
			case 6:
				header->rep_size =
					read_size(cursor, &field, "bytes of repetition levels");
				break;
			case 7:
				header->compressed = thrift_bool(cursor, &field);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
}

/* the part of the header that is about one type of page, by its field id */
static const struct
{
	int32_t		id;
	void		(*read) (ByteCursor *cursor, PageHeader *header);
}			type_headers[] = {
	[PAGE_DATA] = {5, read_data_header},
	[PAGE_INDEX] = {6, NULL},
	[PAGE_DICTIONARY] = {7, read_dictionary_header},
	[PAGE_DATA_V2] = {8, read_data_header_v2}
};

#define KNOWN_PAGE_TYPES \
	((int32_t) (sizeof type_headers / sizeof type_headers[0]))

static void
read_header(ByteCursor *cursor, PageHeader *header)
{
	ThriftField field = {0};
	bool		described = false;
	bool		sized = false;

	header->type = -1;
	header->compressed = true;
	while (thrift_next(cursor, &field))
	{
		if (field.id == 1)
			header->type = thrift_i32(cursor, &field);
		else if (field.id == 2)
			header->size = read_size(cursor, &field, "bytes");
		else if (field.id == 3)
		{
			header->stored_size = read_size(cursor, &field, "stored bytes");
			sized = true;
		}
		else if (field.id == 4)
		{
			header->crc = (uint32_t) thrift_i32(cursor, &field);
			header->has_crc = true;
		}
		else if (header->type >= 0 && header->type < KNOWN_PAGE_TYPES &&
				 field.id == type_headers[header->type].id &&
				 type_headers[header->type].read != NULL)
		{
			thrift_struct(cursor, &field);
			type_headers[header->type].read(cursor, header);
			described = true;
		}
		else
			thrift_skip(cursor, &field);
	}
	if (header->type < 0 || !sized)
		lake_throw(LAKE_ERROR_CORRUPT, "a page has no type or no size");
	if (header->type < KNOWN_PAGE_TYPES && !described &&
		type_headers[header->type].read != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "a page header lacks its main part");
}

static void
check_header(const PageStream *stream, const PageHeader *header)
{
	uint64_t	levels = (uint64_t) header->def_size + header->rep_size;

	if (header->stored_size > stream->end - header->offset)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a page of %u bytes at offset %llu reaches past the end of its column chunk",
				   header->stored_size, (unsigned long long) header->offset);
	if (header->size > PARQUET_MAX_PAGE_BYTES)
		lake_throw(LAKE_ERROR_LIMIT, "a page has %u bytes, more than %zu",
				   header->size, PARQUET_MAX_PAGE_BYTES);
	if (header->type == PAGE_DATA_V2 &&
		(levels > header->size || levels > header->stored_size))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a page of %u bytes says %llu bytes of levels",
				   header->size, (unsigned long long) levels);
}

bool
page_stream_next(PageStream *stream, PageHeader *header)
{
	uint64_t	left = stream->end - stream->pos;
	size_t		want = FIRST_HEADER_BYTES;
	size_t		size;
	ByteCursor	cursor;

	lake_check_interrupts();
	if (left == 0)
		return false;
	for (;;)
	{
		const uint8_t *data;
		size_t		avail;

		if (want > left)
			want = (size_t) left;
		data = window_at(stream, stream->pos, want);
		avail = stream->window_len -
			(size_t) (stream->pos - stream->window_offset);
		cursor_init(&cursor, data, avail, "Parquet page header");
		if (thrift_measure_struct(&cursor, &size))
			break;
		if (avail == left || avail > MAX_HEADER_BYTES)
			cursor_throw_truncated(&cursor);
		want = avail * 2;
	}
	memset(header, 0, sizeof *header);
	read_header(&cursor, header);
	header->offset = stream->pos + size;
	check_header(stream, header);
	stream->pos = header->offset + header->stored_size;
	return true;
}

/* ---- bytes ---- */

/* what the limit counts */
static void
give_bytes_back(PageStream *stream, Page *page)
{
	if (page->bytes == NULL)
		return;
	lake_free(stream->arena, page->bytes);
	page->bytes = NULL;
	stream->counters->held_bytes -= page->capacity;
	page->capacity = 0;
}

static Page *
take_page(PageStream *stream, size_t size)
{
	Page	   *page = stream->spare;

	if (page == NULL)
	{
		page = lake_alloc(stream->arena, sizeof *page);
		page->arena = lake_arena_create(stream->arena, "Parquet page");
	}
	else
		stream->spare = page->next;
	page->next = NULL;
	if (page->bytes == NULL || size > page->capacity)
	{
		give_bytes_back(stream, page);
		if (size > PARQUET_MAX_HELD_BYTES - stream->counters->held_bytes)
			lake_throw(LAKE_ERROR_LIMIT,
					   "the pages that are needed at a time have more than %llu bytes",
					   (unsigned long long) PARQUET_MAX_HELD_BYTES);
		page->bytes = lake_alloc_raw(stream->arena,
									 size + PARQUET_PAGE_SLACK);
		page->capacity = size;
		stream->counters->held_bytes += size;
	}
	page->size = size;
	memset(page->bytes + size, 0, PARQUET_PAGE_SLACK);
	return page;
}

/* the levels of a v2 page are never compressed and come first */
static void
unpack_page(PageStream *stream, const PageHeader *header,
			const uint8_t *stored, uint8_t *bytes)
{
	size_t		levels = header->type == PAGE_DATA_V2 ?
		(size_t) header->def_size + header->rep_size : 0;
	size_t		src_size = header->stored_size - levels;
	size_t		dst_size = header->size - levels;

	if (levels > 0)
		memcpy(bytes, stored, levels);
	/* a page of NULLs has no values, and writers store them as nothing */
	if (dst_size == 0)
		return;
	if (stream->codec != CODEC_NONE &&
		(header->compressed || stream->always_compressed))
	{
		codec_decompress(stream->context, stream->codec, stored + levels,
						 src_size, bytes + levels, dst_size);
		return;
	}
	if (src_size != dst_size)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "an uncompressed page says %zu bytes and has %zu",
				   dst_size, src_size);
	memcpy(bytes + levels, stored + levels, dst_size);
}

Page *
page_stream_load(PageStream *stream, const PageHeader *header)
{
	const uint8_t *stored = header->stored_size == 0 ?
		(const uint8_t *) "" :
		window_at(stream, header->offset, header->stored_size);
	Page	   *page;

	if (header->has_crc && header->stored_size > 0 &&
		hash_crc32(0, stored, header->stored_size) != header->crc)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a page at offset %llu has a wrong checksum",
				   (unsigned long long) header->offset);
	page = take_page(stream, header->size);
	unpack_page(stream, header, stored, page->bytes);
	return page;
}

void
page_stream_recycle(PageStream *stream, Page *pages)
{
	int			spare = 0;

	for (Page *page = stream->spare; page != NULL; page = page->next)
		spare++;
	while (pages != NULL)
	{
		Page	   *page = pages;

		pages = page->next;
		lake_arena_reset(page->arena);
		if (spare++ >= MAX_SPARE_PAGES)
			give_bytes_back(stream, page);
		page->next = stream->spare;
		stream->spare = page;
	}
}
