/*
 * Columns page by page: dictionaries, NULLs, skipping, nested rows across
 * pages, and chunks that lie.
 */
#include "parquet_build.h"
#include "unit.h"

enum
{
	REQUIRED,
	OPTIONAL,
	REPEATED
};

#define CONVERTED(number) ((number) + 1)
#define INT32S(...) \
	((const int32_t[]) {__VA_ARGS__}), \
	sizeof((const int32_t[]) {__VA_ARGS__}) / sizeof(int32_t)
#define LEVELS(...) \
	((const uint32_t[]) {__VA_ARGS__}), \
	sizeof((const uint32_t[]) {__VA_ARGS__}) / sizeof(uint32_t)

/* a file of one column and one row group, in the making */
typedef struct Draft
{
	LakeBuffer	out;
	BuildElement elements[6];	/* the root first */
	size_t		element_count;
	BuildChunk	chunks[2];
	size_t		leaf_count;
	int64_t		rows;
	const char *created_by;
} Draft;

static void
draft_begin(Draft *draft, LakeArena *arena, BuildElement column, int64_t rows)
{
	static const BuildElement root = GROUP("root", REQUIRED, 1);

	memset(draft, 0, sizeof *draft);
	build_begin(&draft->out, arena);
	draft->elements[0] = root;
	draft->elements[1] = column;
	draft->elements[1].name = "c";
	draft->element_count = 2;
	draft->leaf_count = 1;
	draft->rows = rows;
	draft->chunks[0].physical = column.physical;
	draft->chunks[0].values = rows;
	draft->chunks[0].offset = (int64_t) draft->out.len;
}

static ParquetFile *
draft_open(Draft *draft)
{
	BuildFile	file = {.elements = draft->elements};

	file.element_count = draft->element_count;
	file.chunks = draft->chunks;
	file.leaf_count = draft->leaf_count;
	file.group_rows = &draft->rows;
	file.group_count = 1;
	file.rows = draft->rows;
	file.created_by = draft->created_by;
	if (draft->chunks[0].size == 0)
		draft->chunks[0].size = (int64_t) draft->out.len -
			draft->chunks[0].offset;
	return parquet_file_open(draft->out.arena,
							 build_finish(&draft->out, &file));
}

static ParquetReader *
draft_read(Draft *draft)
{
	ParquetFile *file = draft_open(draft);
	ParquetReader *reader = parquet_reader_create(draft->out.arena, file,
												  file->fields, 1);

	parquet_reader_begin(reader, 0);
	return reader;
}

/* ---- pages of int32 ---- */

static void
put_int32s(LakeBuffer *content, const int32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		encode_u32(content, (uint32_t) values[i]);
}

static LakeBytes
content_of(const LakeBuffer *content)
{
	return encoding_bytes(content->data, content->len);
}

/* plain values of a required column */
static void
put_plain(Draft *draft, const int32_t *values, size_t count)
{
	LakeBuffer	content;

	buffer_init(&content, draft->out.arena);
	put_int32s(&content, values, count);
	build_page(&draft->out, PAGE_DATA, (uint32_t) count,
			   PARQUET_ENCODING_PLAIN, content_of(&content));
}

static void
put_dictionary(Draft *draft, const int32_t *values, size_t count)
{
	LakeBuffer	content;

	buffer_init(&content, draft->out.arena);
	put_int32s(&content, values, count);
	build_page(&draft->out, PAGE_DICTIONARY, (uint32_t) count,
			   PARQUET_ENCODING_PLAIN, content_of(&content));
}

/* codes of a required column */
static void
put_codes(Draft *draft, const uint32_t *codes, size_t count)
{
	LakeBuffer	content;

	buffer_init(&content, draft->out.arena);
	buffer_append_byte(&content, 3);
	encode_packed(&content, codes, count, 3);
	build_page(&draft->out, PAGE_DATA, (uint32_t) count,
			   PARQUET_ENCODING_RLE_DICTIONARY, content_of(&content));
}

/* plain values of an optional one: a definition level a row */
static void
put_optional(Draft *draft, const uint32_t *levels, size_t rows,
			 const int32_t *values, size_t count)
{
	LakeBuffer	content;

	buffer_init(&content, draft->out.arena);
	build_levels(&content, levels, rows, 1);
	put_int32s(&content, values, count);
	build_page(&draft->out, PAGE_DATA, (uint32_t) rows,
			   PARQUET_ENCODING_PLAIN, content_of(&content));
}

static int32_t
int32_at(const LakeVector *vector, uint32_t row)
{
	return *(const int32_t *) vector_value(vector, row);
}

static const BuildElement required_int = {.physical = PARQUET_INT32};
static const BuildElement optional_int =
{.physical = PARQUET_INT32, .repetition = OPTIONAL};

/* ---- flat columns ---- */

static void
a_vector_spans_pages(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;

	draft_begin(&draft, arena, required_int, 9);
	put_plain(&draft, INT32S(10, 11, 12, 13));
	put_plain(&draft, INT32S(14));
	put_plain(&draft, INT32S(15, 16, 17, 18));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 3);
	CHECK_INT(int32_at(vector, 2), 12);
	vector = parquet_reader_read(reader, 0, 6);
	CHECK_INT(vector->count, 6);
	CHECK(vector->nulls == NULL);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_INT(int32_at(vector, i), 13 + (int) i);
	CHECK_INT(parquet_reader_counters(reader)->pages_read, 3);
}

static void
coded_pages_give_codes_of_one_dictionary(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;
	uint64_t	id;

	draft_begin(&draft, arena, required_int, 6);
	put_dictionary(&draft, INT32S(7, 8, 9));
	put_codes(&draft, LEVELS(0, 1, 2));
	put_codes(&draft, LEVELS(2, 1, 0));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 5);
	CHECK(vector->dict != NULL && vector->values == NULL);
	CHECK_INT(vector->dict->count, 3);
	CHECK_INT(int32_at(vector, 3), 9);
	id = vector->dict->id;
	vector = parquet_reader_read(reader, 0, 1);
	CHECK_INT(vector->dict->id, id);
	CHECK_INT(int32_at(vector, 0), 7);
	parquet_reader_begin(reader, 0);
	vector = parquet_reader_read(reader, 0, 1);
	CHECK(vector->dict->id != id);
}

static void
fallback_to_plain_turns_codes_into_values(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;
	static const int32_t expected[] = {9, 7, 100, 101, 8, 9, 102};

	draft_begin(&draft, arena, required_int, 7);
	put_dictionary(&draft, INT32S(7, 8, 9));
	put_codes(&draft, LEVELS(2, 0));
	put_plain(&draft, INT32S(100, 101));
	put_codes(&draft, LEVELS(1, 2));
	put_plain(&draft, INT32S(102));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 7);
	CHECK(vector->dict == NULL);
	for (uint32_t i = 0; i < 7; i++)
		CHECK_INT(int32_at(vector, i), expected[i]);
}

static void
slots_of_nulls_are_zero(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;
	static const int32_t expected[] = {0, 5, 0, 6, 7, 0, 0};

	draft_begin(&draft, arena, optional_int, 7);
	put_optional(&draft, LEVELS(0, 1, 0, 1), INT32S(5, 6));
	put_optional(&draft, LEVELS(1, 0, 0), INT32S(7));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 7);
	for (uint32_t i = 0; i < 7; i++)
	{
		CHECK_INT(vector_is_null(vector, i), expected[i] == 0);
		CHECK_INT(((const int32_t *) vector->values)[i], expected[i]);
	}
}

static void
vectors_without_nulls_have_no_map(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, optional_int, 8);
	put_optional(&draft, LEVELS(1, 1, 1, 0), INT32S(1, 2, 3));
	put_optional(&draft, LEVELS(1, 1, 1, 1), INT32S(4, 5, 6, 7));
	reader = draft_read(&draft);
	CHECK(parquet_reader_read(reader, 0, 3)->nulls == NULL);
	CHECK(parquet_reader_read(reader, 0, 2)->nulls != NULL);
	CHECK(parquet_reader_read(reader, 0, 3)->nulls == NULL);
}

static void
skipped_pages_are_not_looked_at(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;
	static const uint8_t garbage[] = {1};

	draft_begin(&draft, arena, required_int, 12);
	put_plain(&draft, INT32S(0, 1, 2, 3));
	build_page(&draft.out, PAGE_DATA, 4, 99, encoding_bytes(garbage, 1));
	put_plain(&draft, INT32S(8, 9, 10, 11));
	reader = draft_read(&draft);
	CHECK_INT(int32_at(parquet_reader_read(reader, 0, 3), 2), 2);
	parquet_reader_skip(reader, 0, 6);
	CHECK_INT(parquet_reader_position(reader, 0), 9);
	vector = parquet_reader_read(reader, 0, 2);
	CHECK_INT(int32_at(vector, 0), 9);
	CHECK_INT(int32_at(vector, 1), 10);
	CHECK_INT(parquet_reader_counters(reader)->pages_read, 2);
	CHECK_INT(parquet_reader_counters(reader)->pages_skipped, 1);
}

static void
skipping_to_the_end_touches_nothing(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	static const uint8_t garbage[] = {0xff, 0xff};

	draft_begin(&draft, arena, required_int, 4);
	buffer_append(&draft.out, garbage, sizeof garbage);
	reader = draft_read(&draft);
	parquet_reader_skip(reader, 0, 4);
	CHECK_INT(parquet_reader_read(reader, 0, 0)->count, 0);
}

static void
v2_page_of_nulls_needs_no_values(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;
	static const uint8_t levels[] = {4 << 1, 0};

	draft_begin(&draft, arena, optional_int, 4);
	draft.chunks[0].codec = 1;	/* snappy, which an empty input is not */
	build_page_v2(&draft.out, 4, 4, PARQUET_ENCODING_PLAIN, 0, 2,
				  encoding_bytes(levels, 2));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 4);
	for (uint32_t i = 0; i < 4; i++)
		CHECK(vector_is_null(vector, i));
}

static void
delta_page_of_nulls_needs_no_block(LakeArena *arena)
{
	/* nothing at all, and a header of 128 values in 4 miniblocks, 0 in all */
	static const uint8_t header[] = {0x80, 0x01, 0x04, 0x00, 0x00};

	for (size_t len = 0; len <= sizeof header; len += sizeof header)
	{
		Draft		draft;
		LakeBuffer	content;
		const LakeVector *vector;

		draft_begin(&draft, arena, optional_int, 4);
		buffer_init(&content, arena);
		build_levels(&content, LEVELS(0, 0, 0, 0), 1);
		buffer_append(&content, header, len);
		build_page(&draft.out, PAGE_DATA, 4,
				   PARQUET_ENCODING_DELTA_BINARY_PACKED,
				   content_of(&content));
		vector = parquet_reader_read(draft_read(&draft), 0, 4);
		for (uint32_t i = 0; i < 4; i++)
			CHECK(vector_is_null(vector, i));
	}
}

static void
row_groups_may_be_more_than_32767(LakeArena *arena)
{
	enum
	{
		GROUPS = 40000
	};
	BuildChunk *chunks = lake_alloc_array(arena, GROUPS, sizeof *chunks);
	int64_t    *rows = lake_alloc_array(arena, GROUPS, sizeof *rows);
	BuildFile	build = {0};
	Draft		draft;
	ParquetFile *file;
	ParquetReader *reader;

	/* all row groups share one page */
	draft_begin(&draft, arena, required_int, 1);
	put_plain(&draft, INT32S(42));
	draft.chunks[0].size = (int64_t) draft.out.len - 4;
	for (int i = 0; i < GROUPS; i++)
	{
		chunks[i] = draft.chunks[0];
		rows[i] = 1;
	}
	build.elements = draft.elements;
	build.element_count = 2;
	build.chunks = chunks;
	build.leaf_count = 1;
	build.group_rows = rows;
	build.group_count = GROUPS;
	build.rows = GROUPS;
	file = parquet_file_open(arena, build_finish(&draft.out, &build));
	CHECK_INT(parquet_file_rows(file), GROUPS);
	CHECK_INT(parquet_file_row_groups(file), GROUPS);
	CHECK_INT(parquet_row_group_first_row(file, GROUPS - 1), GROUPS - 1);
	reader = parquet_reader_create(arena, file, file->fields, 1);
	for (int i = 0; i < GROUPS; i += 999)
	{
		parquet_reader_begin(reader, i);
		CHECK_INT(int32_at(parquet_reader_read(reader, 0, 1), 0), 42);
	}
}

static void
bytes_of_all_pages_stay_valid_in_a_vector(LakeArena *arena)
{
	BuildElement column = {.physical = PARQUET_BYTE_ARRAY};
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;

	draft_begin(&draft, arena, column, 26);
	for (char letter = 'a'; letter <= 'z'; letter++)
	{
		LakeBuffer	content;

		buffer_init(&content, arena);
		encode_u32(&content, 1);
		buffer_append_byte(&content, (uint8_t) letter);
		build_page(&draft.out, PAGE_DATA, 1, PARQUET_ENCODING_PLAIN,
				   content_of(&content));
	}
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 26);
	for (uint32_t i = 0; i < 26; i++)
	{
		LakeBytes	bytes = *(const LakeBytes *) vector_value(vector, i);

		CHECK_INT(bytes.len, 1);
		CHECK_INT(bytes.data[0], 'a' + (int) i);
	}
}

static void
decimals_in_dictionaries_are_converted(LakeArena *arena)
{
	BuildElement column = {.physical = PARQUET_FIXED_LEN_BYTE_ARRAY,
		.length = 3, .converted = CONVERTED(5), .precision = 5, .scale = 2
	};
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;
	static const uint8_t entries[] = {0xff, 0xff, 0xfe, 0x00, 0x01, 0x00};

	draft_begin(&draft, arena, column, 3);
	build_page(&draft.out, PAGE_DICTIONARY, 2, PARQUET_ENCODING_PLAIN,
			   encoding_bytes(entries, sizeof entries));
	put_codes(&draft, LEVELS(1, 0, 1));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 3);
	CHECK_INT(vector->layout, VECTOR_I64);
	CHECK_INT(*(const int64_t *) vector_value(vector, 0), 256);
	CHECK_INT(*(const int64_t *) vector_value(vector, 1), -2);
}

/* ---- lies ---- */

static void
codes_outside_of_the_dictionary_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 3);
	put_dictionary(&draft, INT32S(7, 8));
	put_codes(&draft, LEVELS(0, 1, 2));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "outside of the dictionary",
				 parquet_reader_read(reader, 0, 3));
}

static void
codes_without_a_dictionary_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 1);
	put_codes(&draft, LEVELS(0));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT,
				 "coded by a dictionary that the column chunk does not have",
				 parquet_reader_read(reader, 0, 1));
}

static void
dictionaries_cannot_promise_more_than_they_hold(LakeArena *arena)
{
	static const uint8_t entries[] = {1, 0, 0, 0};
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 1);
	build_page(&draft.out, PAGE_DICTIONARY, INT32_MAX, PARQUET_ENCODING_PLAIN,
			   encoding_bytes(entries, sizeof entries));
	put_codes(&draft, LEVELS(0));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "says 2147483647 values",
				 parquet_reader_read(reader, 0, 1));
}

static void
pages_with_fewer_values_than_the_chunk_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 3);
	put_plain(&draft, INT32S(1, 2));
	reader = draft_read(&draft);
	CHECK_INT(int32_at(parquet_reader_read(reader, 0, 2), 1), 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "end 1 values too early",
				 parquet_reader_read(reader, 0, 1));
}

static void
pages_with_more_values_than_the_chunk_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 1);
	put_plain(&draft, INT32S(1, 2));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "more values than it says",
				 parquet_reader_read(reader, 0, 1));
}

static void
chunks_outside_of_the_file_are_refused(LakeArena *arena)
{
	static const int64_t offsets[] = {-1, INT64_MIN, INT64_MAX, 1000000};
	static const int64_t sizes[] = {-1, INT64_MAX, 1000000};
	Draft		draft;

	for (int i = 0; i < 4; i++)
	{
		draft_begin(&draft, arena, required_int, 1);
		put_plain(&draft, INT32S(1));
		draft.chunks[0].offset = offsets[i];
		draft.chunks[0].size = 10;
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "outside of the file",
					 draft_read(&draft));
	}
	for (int i = 0; i < 3; i++)
	{
		draft_begin(&draft, arena, required_int, 1);
		put_plain(&draft, INT32S(1));
		draft.chunks[0].size = sizes[i];
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "outside of the file",
					 draft_read(&draft));
	}
}

static void
pages_longer_than_their_chunk_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 2);
	put_plain(&draft, INT32S(1, 2));
	draft.chunks[0].size = (int64_t) draft.out.len - 4 - 1;
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "past the end of its column chunk",
				 parquet_reader_read(reader, 0, 1));
}

static void
dictionary_offsets_of_zero_and_behind_are_ignored(LakeArena *arena)
{
	Draft		draft;

	draft_begin(&draft, arena, required_int, 1);
	put_plain(&draft, INT32S(42));
	draft.chunks[0].dictionary = (int64_t) 1 << 60;
	CHECK_INT(int32_at(parquet_reader_read(draft_read(&draft), 0, 1), 0), 42);
}

static void
what_cannot_be_read_is_refused_by_name(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, required_int, 1);
	put_plain(&draft, INT32S(1));
	draft.chunks[0].encrypted = true;
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED,
				 "encryption is not supported: column \"c\"",
				 draft_read(&draft));

	draft_begin(&draft, arena, required_int, 1);
	put_plain(&draft, INT32S(1));
	draft.chunks[0].elsewhere = "other.parquet";
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "in another file",
				 draft_read(&draft));

	draft_begin(&draft, arena, required_int, 1);
	put_plain(&draft, INT32S(1));
	draft.chunks[0].codec = 3;
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "LZO", draft_read(&draft));

	draft_begin(&draft, arena, required_int, 1);
	build_page(&draft.out, PAGE_DATA, 1, 99, encoding_bytes(NULL, 0));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "encoding 99",
				 parquet_reader_read(reader, 0, 1));
}

static void
decimals_of_too_many_digits_are_refused_by_name(LakeArena *arena)
{
	BuildElement column = {.physical = PARQUET_BYTE_ARRAY,
		.converted = CONVERTED(5), .precision = 39
	};
	Draft		draft;

	draft_begin(&draft, arena, column, 1);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "decimal of 39 digits",
				 draft_read(&draft));
}

static void
row_counts_must_agree(LakeArena *arena)
{
	Draft		draft;

	draft_begin(&draft, arena, required_int, 2);
	put_plain(&draft, INT32S(1, 2));
	draft.chunks[0].values = 3;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "3 values in a row group of 2 rows",
				 draft_read(&draft));
	draft_begin(&draft, arena, required_int, -1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "-1 rows", draft_open(&draft));
}

/* ---- nested columns ---- */

/* optional list of optional int32: definition levels 0 to 3 */
static void
draft_begin_list(Draft *draft, LakeArena *arena, int64_t rows, int64_t levels)
{
	static const BuildElement elements[] = {
		GROUP("c", OPTIONAL, 1, .converted = CONVERTED(3)),
		GROUP("list", REPEATED, 1),
		FIELD("element", PARQUET_INT32, OPTIONAL)
	};

	draft_begin(draft, arena, elements[0], rows);
	memcpy(draft->elements + 1, elements, sizeof elements);
	draft->element_count = 4;
	draft->chunks[0].physical = PARQUET_INT32;
	draft->chunks[0].values = levels;
}

static void
put_list(Draft *draft, const uint32_t *reps, size_t rep_count,
		 const uint32_t *defs, size_t def_count, const int32_t *values,
		 size_t count)
{
	LakeBuffer	content;

	buffer_init(&content, draft->out.arena);
	build_levels(&content, reps, rep_count, 1);
	build_levels(&content, defs, def_count, 2);
	put_int32s(&content, values, count);
	build_page(&draft->out, PAGE_DATA, (uint32_t) rep_count,
			   PARQUET_ENCODING_PLAIN, content_of(&content));
}

static void
lists_are_null_or_empty_or_have_nulls(LakeArena *arena)
{
	Draft		draft;
	const LakeVector *vector;
	const LakeVector *items;

	draft_begin_list(&draft, arena, 4, 5);
	/* NULL, [], [NULL], [1, 2] */
	put_list(&draft, LEVELS(0, 0, 0, 0, 1), LEVELS(0, 1, 2, 3, 3),
			 INT32S(1, 2));
	vector = parquet_reader_read(draft_read(&draft), 0, 4);
	items = vector->children[0];
	CHECK(vector_is_null(vector, 0));
	CHECK(!vector_is_null(vector, 1));
	CHECK_INT(vector->offsets[1], 0);
	CHECK_INT(vector->offsets[2], 0);
	CHECK_INT(vector->offsets[3], 1);
	CHECK_INT(vector->offsets[4], 3);
	CHECK_INT(items->count, 3);
	CHECK(vector_is_null(items, 0));
	CHECK_INT(int32_at(items, 1), 1);
	CHECK_INT(int32_at(items, 2), 2);
}

static void
lists_go_on_in_the_next_v1_page(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	const LakeVector *vector;

	draft_begin_list(&draft, arena, 3, 7);
	put_list(&draft, LEVELS(0, 1, 1), LEVELS(3, 3, 3), INT32S(1, 2, 3));
	put_list(&draft, LEVELS(1, 0), LEVELS(3, 3), INT32S(4, 5));
	put_list(&draft, LEVELS(1, 0), LEVELS(3, 3), INT32S(6, 7));
	reader = draft_read(&draft);
	vector = parquet_reader_read(reader, 0, 1);
	CHECK_INT(vector->offsets[1], 4);
	CHECK_INT(int32_at(vector->children[0], 3), 4);
	vector = parquet_reader_read(reader, 0, 1);
	CHECK_INT(vector->offsets[1], 2);
	CHECK_INT(int32_at(vector->children[0], 1), 6);
	vector = parquet_reader_read(reader, 0, 1);
	CHECK_INT(int32_at(vector->children[0], 0), 7);

	parquet_reader_begin(reader, 0);
	parquet_reader_skip(reader, 0, 1);
	vector = parquet_reader_read(reader, 0, 2);
	CHECK_INT(vector->offsets[1], 2);
	CHECK_INT(int32_at(vector->children[0], 0), 5);
	CHECK_INT(int32_at(vector->children[0], 2), 7);
}

static void
skipped_v2_pages_of_lists_are_not_looked_at(LakeArena *arena)
{
	static const uint8_t bad[] = {0};
	Draft		draft;
	ParquetReader *reader;
	LakeBuffer	content;
	const LakeVector *vector;

	draft_begin_list(&draft, arena, 3, 5);
	build_page_v2(&draft.out, 3, 2, 99, 0, 0, encoding_bytes(bad, 1));
	buffer_init(&content, arena);
	encode_packed(&content, LEVELS(0, 1), 1);
	encode_packed(&content, LEVELS(3, 3), 2);
	put_int32s(&content, INT32S(8, 9));
	build_page_v2(&draft.out, 2, 1, PARQUET_ENCODING_PLAIN, 2, 3,
				  content_of(&content));
	reader = draft_read(&draft);
	parquet_reader_skip(reader, 0, 2);
	vector = parquet_reader_read(reader, 0, 1);
	CHECK_INT(vector->offsets[1], 2);
	CHECK_INT(int32_at(vector->children[0], 1), 9);
	CHECK_INT(parquet_reader_counters(reader)->pages_skipped, 1);
}

static void
chunks_that_begin_inside_of_a_row_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin_list(&draft, arena, 1, 2);
	put_list(&draft, LEVELS(1, 0), LEVELS(3, 3), INT32S(1, 2));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "in the middle of a row",
				 parquet_reader_read(reader, 0, 1));
}

static void
lists_that_go_on_without_an_element_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin_list(&draft, arena, 1, 2);
	put_list(&draft, LEVELS(0, 1), LEVELS(3, 1), INT32S(1));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "inconsistent",
				 parquet_reader_read(reader, 0, 1));
}

static void
rows_beyond_the_row_group_are_refused(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;

	draft_begin_list(&draft, arena, 1, 2);
	put_list(&draft, LEVELS(0, 0), LEVELS(3, 3), INT32S(1, 2));
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "more rows than its row group",
				 parquet_reader_read(reader, 0, 1));
}

static void
leaves_of_one_list_must_have_the_same_length(LakeArena *arena)
{
	static const BuildElement elements[] = {
		GROUP("c", REPEATED, 2),
		FIELD("a", PARQUET_INT32, REQUIRED),
		FIELD("b", PARQUET_INT32, REQUIRED)
	};
	static const uint32_t reps[] = {0, 1};
	static const uint32_t defs[] = {1, 1};
	static const int32_t values[] = {5, 6};
	Draft		draft;
	ParquetReader *reader;

	draft_begin(&draft, arena, elements[0], 1);
	memcpy(draft.elements + 1, elements, sizeof elements);
	draft.element_count = 4;
	draft.leaf_count = 2;
	for (int i = 0; i < 2; i++)
	{
		LakeBuffer	content;

		draft.chunks[i].physical = PARQUET_INT32;
		draft.chunks[i].values = 1 + i;
		draft.chunks[i].offset = (int64_t) draft.out.len;
		buffer_init(&content, arena);
		build_levels(&content, reps, 1 + (size_t) i, 1);
		build_levels(&content, defs, 1 + (size_t) i, 1);
		put_int32s(&content, values, 1 + (size_t) i);
		build_page(&draft.out, PAGE_DATA, 1 + (uint32_t) i,
				   PARQUET_ENCODING_PLAIN, content_of(&content));
		draft.chunks[i].size = (int64_t) draft.out.len -
			draft.chunks[i].offset;
	}
	reader = draft_read(&draft);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "inconsistent",
				 parquet_reader_read(reader, 0, 1));
}

static void
pages_held_at_a_time_are_limited(LakeArena *arena)
{
	Draft		draft;
	ParquetReader *reader;
	ParquetReaderCounters *counters;

	draft_begin(&draft, arena, required_int, 6);
	put_plain(&draft, INT32S(1, 2, 3));
	put_plain(&draft, INT32S(4, 5, 6));
	reader = draft_read(&draft);
	counters = (ParquetReaderCounters *) (uintptr_t)
		parquet_reader_counters(reader);
	parquet_reader_read(reader, 0, 6);
	CHECK(counters->held_bytes >= 3 * sizeof(int32_t));
	CHECK(counters->held_bytes <= 6 * sizeof(int32_t));

	reader = draft_read(&draft);
	counters = (ParquetReaderCounters *) (uintptr_t)
		parquet_reader_counters(reader);
	counters->held_bytes = PARQUET_MAX_HELD_BYTES - 3 * sizeof(int32_t) + 1;
	CHECK_THROWS(LAKE_ERROR_LIMIT, "at a time",
				 parquet_reader_read(reader, 0, 3));
}

static const UnitTest tests[] = {
	UNIT(a_vector_spans_pages),
	UNIT(coded_pages_give_codes_of_one_dictionary),
	UNIT(fallback_to_plain_turns_codes_into_values),
	UNIT(slots_of_nulls_are_zero),
	UNIT(vectors_without_nulls_have_no_map),
	UNIT(skipped_pages_are_not_looked_at),
	UNIT(skipping_to_the_end_touches_nothing),
	UNIT(v2_page_of_nulls_needs_no_values),
	UNIT(delta_page_of_nulls_needs_no_block),
	UNIT(row_groups_may_be_more_than_32767),
	UNIT(bytes_of_all_pages_stay_valid_in_a_vector),
	UNIT(decimals_in_dictionaries_are_converted),
	UNIT(codes_outside_of_the_dictionary_are_refused),
	UNIT(codes_without_a_dictionary_are_refused),
	UNIT(dictionaries_cannot_promise_more_than_they_hold),
	UNIT(pages_with_fewer_values_than_the_chunk_are_refused),
	UNIT(pages_with_more_values_than_the_chunk_are_refused),
	UNIT(chunks_outside_of_the_file_are_refused),
	UNIT(pages_longer_than_their_chunk_are_refused),
	UNIT(dictionary_offsets_of_zero_and_behind_are_ignored),
	UNIT(what_cannot_be_read_is_refused_by_name),
	UNIT(decimals_of_too_many_digits_are_refused_by_name),
	UNIT(row_counts_must_agree),
	UNIT(lists_are_null_or_empty_or_have_nulls),
	UNIT(lists_go_on_in_the_next_v1_page),
	UNIT(skipped_v2_pages_of_lists_are_not_looked_at),
	UNIT(chunks_that_begin_inside_of_a_row_are_refused),
	UNIT(lists_that_go_on_without_an_element_are_refused),
	UNIT(rows_beyond_the_row_group_are_refused),
	UNIT(leaves_of_one_list_must_have_the_same_length),
	UNIT(pages_held_at_a_time_are_limited)
};

UNIT_MAIN(tests)
