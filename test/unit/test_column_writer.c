/*
 * How a column's values are laid out: dictionaries that pay and those that do
 * not, where pages and row groups end, and what memory that takes.
 */
#include "parquet/writer.h"

#include "memory_output.h"
#include "random_table.h"
#include "unit.h"

#define MAX_PAGES 4096

/* the pages of a chunk, by their headers */
typedef struct Pages
{
	int			count;
	bool		has_dictionary;
	PageHeader	headers[MAX_PAGES]; /* of data pages */
} Pages;

typedef struct Sample
{
	LakeArena  *arena;
	ParquetField field;
	const ParquetField *fields[1];
	ParquetWriterOptions options;
	MemoryOutput *output;
	ParquetWriter *writer;
	const ParquetFile *file;
	const ParquetTotals *totals;
} Sample;

static Sample *
begin_file(LakeArena *arena, ParquetPhysical physical, VectorLayout layout)
{
	Sample	   *file = lake_alloc(arena, sizeof *file);

	file->arena = arena;
	file->field.name = "c";
	file->field.field_id = 1;
	file->field.optional = true;
	file->field.physical = physical;
	file->field.layout = layout;
	file->fields[0] = &file->field;
	file->output = memory_output_create(arena);
	file->options.codec = CODEC_NONE;
	file->options.row_group_bytes = 128 << 20;
	file->options.page_bytes = 1 << 20;
	file->options.page_rows = 20000;
	file->options.dictionary_bytes = 1 << 20;
	return file;
}

static void
open_writer(Sample *file)
{
	file->writer = parquet_writer_create(file->arena, &file->output->output,
										 file->fields, 1, &file->options);
}

static void
write_values(Sample *file, const void *values, const uint8_t *nulls,
			 uint32_t count)
{
	LakeVector	vector = {
		.layout = file->field.layout, .count = count, .values = values,
		.nulls = nulls
	};
	const LakeVector *columns[1] = {&vector};

	if (file->writer == NULL)
		open_writer(file);
	parquet_writer_write(file->writer, columns, NULL, count);
}

static void
end_file(Sample *file)
{
	file->totals = parquet_writer_finish(file->writer);
	file->file = parquet_file_open(file->arena,
								   memory_output_open(file->output,
													  file->arena));
}

static Pages *
list_pages(const Sample *file, int group)
{
	Pages	   *pages = lake_alloc(file->arena, sizeof *pages);
	const ParquetChunk *chunk = &file->file->row_groups[group].chunks[0];
	ParquetReaderCounters counters = {0};
	PageStream	stream;
	PageHeader	header;
	uint64_t	start;
	uint64_t	end;

	CHECK(parquet_chunk_place(file->file, chunk, &start, &end));
	page_stream_init(&stream, file->arena, codec_context_create(file->arena),
					 &counters);
	page_stream_begin(&stream, file->file->file, chunk->codec, start, end);
	while (page_stream_next(&stream, &header))
	{
		CHECK(header.has_crc);
		if (header.type == PAGE_DICTIONARY)
		{
			CHECK_INT(pages->count, 0);
			pages->has_dictionary = true;
		}
		else if (pages->count < MAX_PAGES)
			pages->headers[pages->count++] = header;
	}
	return pages;
}

static int
count_coded(const Pages *pages)
{
	int			count = 0;

	for (int i = 0; i < pages->count; i++)
		count += pages->headers[i].encoding == PARQUET_ENCODING_RLE_DICTIONARY;
	return count;
}

/* the values as they were given, all of them */
static void
check_values(const Sample *file, const void *values, uint32_t count)
{
	ParquetReader *reader;
	const ParquetField *const *fields;
	size_t		width = vector_layout_width(file->field.layout);
	uint32_t	at = 0;

	parquet_file_fields(file->file, &fields);
	reader = parquet_reader_create(file->arena, file->file, fields, 1);
	for (int group = 0; group < parquet_file_row_groups(file->file); group++)
	{
		uint32_t	rows = (uint32_t) parquet_row_group_rows(file->file,
															 group);
		const LakeVector *vector;

		parquet_reader_begin(reader, group);
		vector = parquet_reader_read(reader, 0, rows);
		for (uint32_t i = 0; i < rows; i++, at++)
		{
			const char *expected = (const char *) values + at * width;

			if (file->field.layout != VECTOR_BYTES)
				CHECK(memcmp(vector_value(vector, i), expected, width) == 0);
			else
			{
				const LakeBytes *a = vector_value(vector, i);
				const LakeBytes *b = (const LakeBytes *) (const void *) expected;

				CHECK(a->len == b->len &&
					  memcmp(a->data, b->data, a->len) == 0);
			}
		}
	}
	CHECK_INT(at, count);
}

/* count numbers, of distinct different ones */
static int64_t *
numbers(LakeArena *arena, uint32_t count, uint32_t distinct)
{
	int64_t    *values = lake_alloc_array(arena, count, sizeof *values);
	uint64_t	random = 99;

	for (uint32_t i = 0; i < count; i++)
		values[i] = distinct == 0 ? (int64_t) encode_random(&random) :
			(int64_t) (encode_random(&random) % distinct) *
			INT64_C(1000000007);
	return values;
}

static Pages *
write_numbers(LakeArena *arena, uint32_t count, uint32_t distinct)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	int64_t    *values = numbers(arena, count, distinct);

	write_values(file, values, NULL, count);
	end_file(file);
	check_values(file, values, count);
	return list_pages(file, 0);
}

/* ---- dictionaries ---- */

static void
few_values_are_coded(LakeArena *arena)
{
	Pages	   *pages = write_numbers(arena, 100000, 50);

	CHECK(pages->has_dictionary);
	CHECK_INT(pages->count, 5);
	CHECK_INT(count_coded(pages), 5);
	/* six bits a value */
	CHECK(pages->headers[0].size < 20000 * 6 / 8 + 100);
}

static void
one_value_takes_no_room(LakeArena *arena)
{
	Pages	   *pages = write_numbers(arena, 20000, 1);

	CHECK(pages->has_dictionary);
	CHECK_INT(pages->count, 1);
	CHECK(pages->headers[0].size < 20);
}

static void
unique_values_are_plain(LakeArena *arena)
{
	Pages	   *pages = write_numbers(arena, 100000, 0);

	CHECK(!pages->has_dictionary);
	CHECK_INT(count_coded(pages), 0);
	/* no page was too small because the dictionary was given up */
	CHECK_INT(pages->headers[0].value_count, 20000);
}

static void
ten_thousand_values_are_still_coded(LakeArena *arena)
{
	Pages	   *pages = write_numbers(arena, 200000, 10000);

	CHECK(pages->has_dictionary);
	CHECK_INT(count_coded(pages), pages->count);
}

static void
a_small_page_without_repetition_is_plain(LakeArena *arena)
{
	Pages	   *pages = write_numbers(arena, 100, 0);

	CHECK(!pages->has_dictionary);
	CHECK_INT(count_coded(pages), 0);
}

static void
pages_stay_coded_when_the_dictionary_is_full(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	int64_t    *values = numbers(arena, 200000, 100);
	Pages	   *pages;

	file->options.dictionary_bytes = 4000;
	for (uint32_t i = 50000; i < 200000; i++)
		values[i] = (int64_t) i;
	write_values(file, values, NULL, 200000);
	end_file(file);
	check_values(file, values, 200000);
	pages = list_pages(file, 0);
	CHECK(pages->has_dictionary);
	CHECK_INT(count_coded(pages), 3);
	CHECK(pages->headers[2].encoding == PARQUET_ENCODING_RLE_DICTIONARY);
	CHECK(pages->headers[3].encoding == PARQUET_ENCODING_PLAIN);
}

static void
values_without_end_are_not_expanded(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_BYTE_ARRAY, VECTOR_BYTES);
	LakeBytes	values[2000];
	char	   *text = lake_alloc(arena, 200000);
	Pages	   *pages;

	/* the second of these does not fit the dictionary */
	file->options.dictionary_bytes = 150000;
	memset(text, 'x', 100000);
	memset(text + 100000, 'y', 100000);
	for (int i = 0; i < 2000; i++)
		values[i] = encoding_bytes((uint8_t *) text +
								   (i < 1990 ? 0 : 100000), 100000);
	write_values(file, values, NULL, 1990);
	write_values(file, values + 1990, NULL, 10);
	end_file(file);
	check_values(file, values, 2000);
	pages = list_pages(file, 0);
	CHECK(pages->has_dictionary);
	CHECK_INT(count_coded(pages), 1);
	CHECK_INT(pages->headers[0].value_count, 1990);
	CHECK(file->totals->size < 1200000);
}

/* as the table spreads values of four bytes */
static bool
collides(uint32_t value)
{
	return (uint32_t) (value * UINT64_C(0x9e3779b97f4a7c15) >> 32) >> 18 == 0;
}

static void
values_that_collide_end_the_dictionary(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT32, VECTOR_I32);
	uint32_t   *values = lake_alloc_array(arena, 3000, sizeof *values);
	uint32_t	next = 0;
	Pages	   *pages;

	for (int i = 0; i < 300; i++)
	{
		while (!collides(next))
			next++;
		values[i] = next++;
	}
	for (int i = 300; i < 3000; i++)
		values[i] = values[i % 300];
	write_values(file, values, NULL, 3000);
	end_file(file);
	check_values(file, values, 3000);
	pages = list_pages(file, 0);
	CHECK(!pages->has_dictionary);
	CHECK_INT(count_coded(pages), 0);
}

static void
each_row_group_tries_a_dictionary_again(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);

	write_values(file, numbers(arena, 10000, 0), NULL, 10000);
	parquet_writer_flush(file->writer);
	write_values(file, numbers(arena, 10000, 10), NULL, 10000);
	end_file(file);
	CHECK(!list_pages(file, 0)->has_dictionary);
	CHECK(list_pages(file, 1)->has_dictionary);
}

/* ---- where pages end ---- */

static void
pages_end_at_their_rows(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	Pages	   *pages;

	file->options.page_rows = 100;
	write_values(file, numbers(arena, 4050, 3), NULL, 4050);
	end_file(file);
	pages = list_pages(file, 0);
	CHECK_INT(pages->count, 41);
	for (int i = 0; i < 41; i++)
		CHECK_INT(pages->headers[i].value_count, i < 40 ? 100 : 50);
}

static void
pages_end_at_their_bytes(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	Pages	   *pages;

	file->options.page_bytes = 8000;
	file->options.dictionary_bytes = 0;
	write_values(file, numbers(arena, 4500, 0), NULL, 4500);
	end_file(file);
	pages = list_pages(file, 0);
	CHECK_INT(pages->count, 5);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pages->headers[i].value_count, 1000);
}

static void
a_value_larger_than_a_page_has_its_own(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_BYTE_ARRAY, VECTOR_BYTES);
	LakeBytes	values[9];
	char	   *text = lake_alloc(arena, 50000);
	Pages	   *pages;

	file->options.page_bytes = 1000;
	file->options.dictionary_bytes = 0;
	for (int i = 0; i < 9; i++)
		values[i] = encoding_bytes((uint8_t *) text, i == 4 ? 50000 : 10);
	write_values(file, values, NULL, 9);
	end_file(file);
	check_values(file, values, 9);
	pages = list_pages(file, 0);
	CHECK_INT(pages->count, 3);
	CHECK_INT(pages->headers[0].value_count, 4);
	CHECK_INT(pages->headers[1].value_count, 1);
}

static void
a_value_beyond_all_pages_is_refused(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_BYTE_ARRAY, VECTOR_BYTES);

	/* never looked at */
	LakeBytes	value = {(const uint8_t *) "", PARQUET_MAX_PAGE_BYTES};

	file->options.dictionary_bytes = 0;
	CHECK_THROWS(LAKE_ERROR_LIMIT, "column \"c\" has values of 536870916 bytes",
				 write_values(file, &value, NULL, 1));
}

static void
rows_of_lists_do_not_cross_pages(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	ParquetField list = {
		.name = "l", .field_id = -1, .shape = PARQUET_LIST,
		.optional = true, .layout = VECTOR_LIST, .child_count = 1
	};
	ParquetField *children[1] = {&file->field};
	uint32_t	offsets[1001] = {0};
	LakeVector	elements = {.layout = VECTOR_I64};
	LakeVector *child_vectors[1] = {&elements};
	LakeVector	vector = {
		.layout = VECTOR_LIST, .count = 1000, .offsets = offsets,
		.child_count = 1, .children = child_vectors
	};
	const LakeVector *columns[1] = {&vector};
	const ParquetField *const *fields;
	ParquetReader *reader;
	const LakeVector *read;
	ParquetRows range = {700, 702};
	Pages	   *pages;

	for (uint32_t i = 0; i < 1000; i++)
		offsets[i + 1] = offsets[i] + i % 7;
	elements.count = offsets[1000];
	elements.values = numbers(arena, elements.count, 0);
	list.children = children;
	file->fields[0] = &list;
	file->options.page_bytes = 500;
	file->options.dictionary_bytes = 0;
	file->options.created_by = "lakefdw version 1";
	open_writer(file);
	parquet_writer_write(file->writer, columns, NULL, 1000);
	end_file(file);
	pages = list_pages(file, 0);
	CHECK(pages->count > 20);

	/* so that the offset index leads to any row */
	parquet_file_fields(file->file, &fields);
	reader = parquet_reader_create(arena, file->file, fields, 1);
	parquet_reader_begin_rows(reader, 0, &range, 1);
	parquet_reader_skip(reader, 0, 700);
	read = parquet_reader_read(reader, 0, 2);
	CHECK_INT(read->offsets[2], 700 % 7 + 701 % 7);
	CHECK(memcmp(vector_value(read->children[0], 0),
				 (const int64_t *) elements.values + offsets[700],
				 8 * (size_t) read->offsets[2]) == 0);
	CHECK(parquet_reader_counters(reader)->pages_read <= 2);
}

/* ---- row groups and memory ---- */

static void
row_groups_end_at_their_size(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);

	file->options.row_group_bytes = 100000;
	file->options.codec = CODEC_ZSTD;
	file->options.level = CODEC_DEFAULT_LEVEL;
	write_values(file, numbers(arena, 200000, 0), NULL, 200000);
	end_file(file);
	/* what does not shrink: 1.6 MB */
	CHECK(file->totals->row_group_count >= 12);
	CHECK(file->totals->row_group_count <= 16);
}

static void
the_size_is_known_before_the_end(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	uint64_t	guess;

	file->options.codec = CODEC_ZSTD;
	file->options.level = CODEC_DEFAULT_LEVEL;
	write_values(file, numbers(arena, 100000, 300), NULL, 100000);
	guess = parquet_writer_size(file->writer);
	end_file(file);
	CHECK(guess > (uint64_t) file->totals->size * 9 / 10);
	CHECK(guess < (uint64_t) file->totals->size * 11 / 10);
}

static void
a_flush_gives_memory_back(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	int64_t    *values = numbers(arena, 100000, 0);
	size_t		empty;

	file->options.workspace = parquet_workspace_create(arena);
	open_writer(file);
	empty = parquet_writer_held_bytes(file->writer);
	write_values(file, values, NULL, 100000);
	CHECK(parquet_writer_held_bytes(file->writer) >= 800000);
	CHECK(parquet_writer_held_bytes(file->writer) < 2000000);
	parquet_writer_flush(file->writer);
	CHECK(parquet_writer_held_bytes(file->writer) <= empty);
	end_file(file);
	CHECK_INT(file->totals->row_group_count, 1);
}

static void
what_is_written_is_not_kept(LakeArena *arena)
{
	Sample	   *file = begin_file(arena, PARQUET_INT64, VECTOR_I64);
	LakeArena  *own = lake_arena_create(arena, "writer");
	int64_t    *values = numbers(arena, 100000, 0);
	size_t		most = 0;

	file->options.row_group_bytes = 100000;
	file->writer = parquet_writer_create(own, &file->output->output,
										 file->fields, 1, &file->options);
	for (int i = 0; i < 20; i++)
	{
		write_values(file, values, NULL, 100000);
		if (lake_arena_size(own) > most)
			most = lake_arena_size(own);
	}
	/* of 16 MB */
	CHECK(most < 1500000);
	end_file(file);
	CHECK(file->totals->row_group_count > 100);
}

static void
many_writers_share_a_workspace(LakeArena *arena)
{
	ParquetWorkspace *workspace = parquet_workspace_create(arena);
	Sample	   *files[20];
	int64_t    *values[20];

	for (int i = 0; i < 20; i++)
	{
		files[i] = begin_file(arena, PARQUET_INT64, VECTOR_I64);
		files[i]->options.workspace = workspace;
		files[i]->options.page_rows = 70 + (uint32_t) i;
		files[i]->options.codec = i % 2 == 0 ? CODEC_ZSTD : CODEC_SNAPPY;
		files[i]->options.level = i % 5;
		values[i] = numbers(arena, 1000, (uint32_t) i * 20 + 1);
	}
	for (int part = 0; part < 10; part++)
	{
		for (int i = 0; i < 20; i++)
			write_values(files[i], values[i] + part * 100, NULL, 100);
	}
	for (int i = 0; i < 20; i++)
	{
		end_file(files[i]);
		check_values(files[i], values[i], 1000);
	}
}

static const UnitTest tests[] = {
	UNIT(few_values_are_coded),
	UNIT(one_value_takes_no_room),
	UNIT(unique_values_are_plain),
	UNIT(ten_thousand_values_are_still_coded),
	UNIT(a_small_page_without_repetition_is_plain),
	UNIT(pages_stay_coded_when_the_dictionary_is_full),
	UNIT(values_without_end_are_not_expanded),
	UNIT(values_that_collide_end_the_dictionary),
	UNIT(each_row_group_tries_a_dictionary_again),
	UNIT(pages_end_at_their_rows),
	UNIT(pages_end_at_their_bytes),
	UNIT(a_value_larger_than_a_page_has_its_own),
	UNIT(a_value_beyond_all_pages_is_refused),
	UNIT(rows_of_lists_do_not_cross_pages),
	UNIT(row_groups_end_at_their_size),
	UNIT(the_size_is_known_before_the_end),
	UNIT(a_flush_gives_memory_back),
	UNIT(what_is_written_is_not_kept),
	UNIT(many_writers_share_a_workspace),
};

UNIT_MAIN(tests)
