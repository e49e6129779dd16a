/*
 * Reading by the offset index: ranges of rows have the values they have without
 * one, pages outside of them are passed unread, and an index that lies gives
 * the right values or an error, never others.
 */
#include "parquet_build.h"
#include "unit.h"

#define PAGES		60
#define MAX_PAGE	9
#define LEAVES		3			/* plain, coded, list */

/* columns of int64: required, required with a dictionary, a list */
static const BuildElement elements[] = {
	GROUP("root", 0, 3),
	FIELD("plain", PARQUET_INT64, 0),
	FIELD("coded", PARQUET_INT64, 0),
	FIELD("list", PARQUET_INT64, 2)
};

typedef struct Seek
{
	LakeArena  *arena;
	uint64_t	random;
	int64_t		rows;
	PageLocation pages[LEAVES][PAGES];
	BuildChunk	chunks[LEAVES];
	LakeBuffer	out;
	ParquetFile *file;
} Seek;

static int64_t
plain_value(int64_t row)
{
	return row * 7 + 3;
}

static uint32_t
code_of(int64_t row)
{
	return (uint32_t) (row * 5 % 13);
}

static uint32_t
list_length(int64_t row)
{
	return (uint32_t) (row * 3 % 5);
}

/* ---- the file ---- */

static void
put_plain(LakeBuffer *content, int64_t first, int64_t end)
{
	for (int64_t row = first; row < end; row++)
	{
		int64_t		value = plain_value(row);

		buffer_append(content, &value, sizeof value);
	}
}

static void
put_codes(LakeBuffer *content, int64_t first, int64_t end)
{
	uint32_t	codes[MAX_PAGE];

	for (int64_t row = first; row < end; row++)
		codes[row - first] = code_of(row);
	buffer_append_byte(content, 4);
	encode_packed(content, codes, (size_t) (end - first), 4);
}

/* returns the number of levels */
static uint32_t
put_lists(LakeBuffer *content, int64_t first, int64_t end)
{
	uint32_t	reps[MAX_PAGE * 4];
	uint32_t	defs[MAX_PAGE * 4];
	uint32_t	count = 0;

	for (int64_t row = first; row < end; row++)
	{
		uint32_t	length = list_length(row);

		for (uint32_t k = 0; k < length || k == 0; k++)
		{
			reps[count] = k > 0;
			defs[count++] = length > 0;
		}
	}
	build_levels(content, reps, count, 1);
	build_levels(content, defs, count, 1);
	for (int64_t row = first; row < end; row++)
	{
		for (int64_t k = 0; k < list_length(row); k++)
		{
			int64_t		value = row * 10 + k;

			buffer_append(content, &value, sizeof value);
		}
	}
	return count;
}

static void
put_page(Seek *seek, int leaf, int page, int64_t first, int64_t end)
{
	PageLocation *location = &seek->pages[leaf][page];
	uint32_t	values = (uint32_t) (end - first);
	LakeBuffer	content;

	buffer_init(&content, seek->arena);
	if (leaf == 0)
		put_plain(&content, first, end);
	else if (leaf == 1)
		put_codes(&content, first, end);
	else
		values = put_lists(&content, first, end);
	location->offset = seek->out.len;
	location->first_row = (uint64_t) first;
	build_page(&seek->out, PAGE_DATA, values, leaf == 1 ?
			   PARQUET_ENCODING_RLE_DICTIONARY : PARQUET_ENCODING_PLAIN,
			   encoding_bytes(content.data, content.len));
	location->end = seek->out.len;
	seek->chunks[leaf].values += values;
}

static void
put_dictionary(Seek *seek)
{
	int64_t		values[13];

	for (int i = 0; i < 13; i++)
		values[i] = 1000 + i;
	seek->chunks[1].dictionary = (int64_t) seek->out.len;
	build_page(&seek->out, PAGE_DICTIONARY, 13, PARQUET_ENCODING_PLAIN,
			   encoding_bytes((const uint8_t *) values, sizeof values));
}

/* pages of random sizes, other ones in each column */
static void
put_chunk(Seek *seek, int leaf)
{
	BuildChunk *chunk = &seek->chunks[leaf];
	int64_t		start = (int64_t) seek->out.len;
	int64_t		row = 0;

	chunk->physical = PARQUET_INT64;
	if (leaf == 1)
		put_dictionary(seek);
	chunk->offset = (int64_t) seek->out.len;
	for (int page = 0; page < PAGES; page++)
	{
		int64_t		left = seek->rows - row - (PAGES - 1 - page);
		int64_t		n = 1 + (int64_t) (encode_random(&seek->random) % MAX_PAGE);

		/* those that follow have 1 .. MAX_PAGE rows each */
		if (n > left)
			n = left;
		if (seek->rows - row - n > MAX_PAGE * (PAGES - 1 - page))
			n = seek->rows - row - MAX_PAGE * (PAGES - 1 - page);
		put_page(seek, leaf, page, row, row + n);
		row += n;
	}
	CHECK_INT(row, seek->rows);
	chunk->size = (int64_t) seek->out.len - start;
}

static void
put_index(Seek *seek, int leaf)
{
	ThriftWriter writer = {.out = &seek->out};
	ParquetPlace *place = &seek->chunks[leaf].offset_index;

	place->offset = (int64_t) seek->out.len;
	thrift_put_list(&writer, 1, THRIFT_STRUCT, PAGES);
	for (int i = 0; i < PAGES; i++)
	{
		const PageLocation *page = &seek->pages[leaf][i];

		thrift_begin_element(&writer);
		thrift_put_int(&writer, 1, THRIFT_I64, (int64_t) page->offset);
		thrift_put_int(&writer, 2, THRIFT_I32,
					   (int64_t) (page->end - page->offset));
		thrift_put_int(&writer, 3, THRIFT_I64, (int64_t) page->first_row);
		thrift_end_struct(&writer);
	}
	buffer_append_byte(&seek->out, THRIFT_STOP);
	place->size = (int64_t) seek->out.len - place->offset;
}

static Seek *
begin_file(LakeArena *arena, uint64_t random)
{
	Seek	   *seek = lake_alloc(arena, sizeof *seek);

	seek->arena = arena;
	seek->random = random;
	seek->rows = PAGES * 5;
	build_begin(&seek->out, arena);
	for (int leaf = 0; leaf < LEAVES; leaf++)
		put_chunk(seek, leaf);
	return seek;
}

static void
finish_file(Seek *seek, const char *created_by)
{
	BuildFile	file = {
		.elements = elements, .element_count = 4, .chunks = seek->chunks,
		.leaf_count = LEAVES, .group_rows = &seek->rows, .group_count = 1,
		.rows = seek->rows, .created_by = created_by
	};

	for (int leaf = 0; leaf < LEAVES; leaf++)
		put_index(seek, leaf);
	seek->file = parquet_file_open(seek->arena,
								   build_finish(&seek->out, &file));
}

/* ---- reading ---- */

/* ascending and apart; at least one */
static int
random_ranges(Seek *seek, ParquetRows *ranges, int capacity)
{
	int64_t		row = (int64_t) (encode_random(&seek->random) % 60);
	int			count = 0;

	while (count < capacity && row < seek->rows)
	{
		int64_t		end = row + 1 +
			(int64_t) (encode_random(&seek->random) % 30);

		if (end > seek->rows)
			end = seek->rows;
		ranges[count++] = (ParquetRows) {row, end};
		row = end + 1 + (int64_t) (encode_random(&seek->random) % 80);
	}
	return count;
}

static void
check_list(const LakeVector *vector, uint32_t i, int64_t row)
{
	uint32_t	first = vector->offsets[i];

	CHECK_INT(vector->offsets[i + 1] - first, list_length(row));
	for (uint32_t k = 0; k < list_length(row); k++)
		CHECK_INT(*(const int64_t *) vector_value(vector->children[0],
												  first + k), row * 10 + k);
}

static void
check_rows(const LakeVector *vector, int column, int64_t first)
{
	for (uint32_t i = 0; i < vector->count; i++)
	{
		int64_t		row = first + i;

		if (column == 2)
			check_list(vector, i, row);
		else
			CHECK_INT(*(const int64_t *) vector_value(vector, i),
					  column == 0 ? plain_value(row) : 1000 + code_of(row));
	}
}

/* each column in pieces; some of the ranges are not read after all */
static void
read_ranges(Seek *seek, ParquetReader *reader, const ParquetRows *ranges,
			int count)
{
	parquet_reader_begin_rows(reader, 0, ranges, count);
	for (int column = 0; column < LEAVES; column++)
	{
		for (int i = 0; i < count; i++)
		{
			int64_t		row = ranges[i].first;

			if (encode_random(&seek->random) % 5 == 0)
				continue;
			parquet_reader_skip(reader, column, (uint64_t) row -
								parquet_reader_position(reader, column));
			while (row < ranges[i].end)
			{
				int64_t		left = ranges[i].end - row;
				int64_t		n = 1 + (int64_t)
				(encode_random(&seek->random) % 12);

				n = n < left ? n : left;
				check_rows(parquet_reader_read(reader, column, (uint32_t) n),
						   column, row);
				row += n;
			}
		}
	}
}

static ParquetReader *
create_reader(Seek *seek)
{
	const ParquetField *const *fields;

	CHECK_INT(parquet_file_fields(seek->file, &fields), LEAVES);
	return parquet_reader_create(seek->arena, seek->file, fields, LEAVES);
}

static void
ranges_have_the_values_they_have_without_an_index(LakeArena *arena)
{
	/* of the last one, the list's index is not believed */
	static const char *const writers[] = {"parquet-mr version 1.15.0", NULL};

	for (uint64_t i = 1; i <= 200; i++)
	{
		Seek	   *seek = begin_file(arena, i);
		ParquetReader *reader;
		ParquetRows ranges[8];

		finish_file(seek, writers[i % 2]);
		reader = create_reader(seek);
		for (int k = 0; k < 10; k++)
			read_ranges(seek, reader, ranges, random_ranges(seek, ranges, 8));
	}
}

static void
pages_outside_of_the_ranges_are_not_read(LakeArena *arena)
{
	Seek	   *seek = begin_file(arena, 1);
	ParquetReader *reader;
	ParquetRows range = {150, 151};
	const ParquetReaderCounters *counters;

	finish_file(seek, "parquet-mr version 1.15.0");
	/* whoever looks at a header outside of them fails */
	for (int leaf = 0; leaf < LEAVES; leaf++)
	{
		for (int i = 0; i < PAGES; i++)
		{
			const PageLocation *page = &seek->pages[leaf][i];
			int64_t		end = i + 1 == PAGES ? seek->rows :
				(int64_t) page[1].first_row;

			if ((int64_t) page->first_row > range.first || end <= range.first)
				memset(seek->out.data + page->offset, 0xff,
					   (size_t) (page->end - page->offset));
		}
	}
	reader = create_reader(seek);
	parquet_reader_begin_rows(reader, 0, &range, 1);
	for (int column = 0; column < LEAVES; column++)
	{
		parquet_reader_skip(reader, column, 150);
		check_rows(parquet_reader_read(reader, column, 1), column, 150);
	}
	parquet_reader_end(reader);
	counters = parquet_reader_counters(reader);
	CHECK_INT(counters->pages_read, LEAVES);
	CHECK_INT(counters->pages_skipped, LEAVES * (PAGES - 1));
}

/* true when it ended in an error */
static bool
fails(Seek *seek, ParquetReader *reader, const ParquetRows *ranges, int count)
{
	LakeTry		attempt;

	if (lake_try_begin(&attempt))
	{
		read_ranges(seek, reader, ranges, count);
		lake_try_end(&attempt);
		return false;
	}
	CHECK_INT(attempt.code, LAKE_ERROR_CORRUPT);
	return true;
}

/* a page that claims another first row, or another place */
static void
an_index_that_lies_gives_no_wrong_value(LakeArena *arena)
{
	int			failed = 0;

	for (uint64_t i = 1; i <= 300; i++)
	{
		Seek	   *seek = begin_file(arena, i);
		int			leaf = (int) (i % LEAVES);
		PageLocation *page = &seek->pages[leaf][1 + i % (PAGES - 1)];
		ParquetRows ranges[8];

		if (i % 2 == 0)
			page->first_row += i % 4 == 0 ? 1 : (uint64_t) -1;
		else
			page->offset += 1;
		finish_file(seek, "parquet-mr version 1.15.0");
		failed += fails(seek, create_reader(seek), ranges,
						random_ranges(seek, ranges, 8));
	}
	CHECK(failed > 0);
}

/*
 * Rows before a page cannot be counted without reading it: what a writer that
 * is not known says of them may be elements.
 */
static void
indexes_of_lists_count_only_from_known_writers(LakeArena *arena)
{
	static const char *const writers[] = {NULL, "ClickHouse v24.3", "arrow-go"};

	for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
	{
		Seek	   *seek = begin_file(arena, 1);
		ParquetRows range = {150, 151};
		ParquetReader *reader;

		/* all but the first and the last page have as many rows as they say */
		for (int k = 1; k < PAGES - 1; k++)
			seek->pages[2][k].first_row++;
		finish_file(seek, writers[i]);
		reader = create_reader(seek);
		parquet_reader_begin_rows(reader, 0, &range, 1);
		parquet_reader_skip(reader, 2, 150);
		check_rows(parquet_reader_read(reader, 2, 1), 2, 150);
	}
}

static const UnitTest tests[] = {
	UNIT(ranges_have_the_values_they_have_without_an_index),
	UNIT(pages_outside_of_the_ranges_are_not_read),
	UNIT(an_index_that_lies_gives_no_wrong_value),
	UNIT(indexes_of_lists_count_only_from_known_writers)
};

UNIT_MAIN(tests)
