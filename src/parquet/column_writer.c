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

/*
 * After so many values, and whenever they have doubled, a dictionary has to
 * show that it pays: of the values since, no more than this many in a hundred
 * may be new.  Few are known at first, so that a column of ten thousand
 * different ones must not be taken for unique.
 */
#define FIRST_LOOK		4096

static const uint32_t most_new[] = {97, 90, 80, 60, 40, 30, 20};

/* entries of a vector's dictionary; clearing a larger map takes too long */
#define MAX_MAPPED		65536

#define LAST_RATE		(sizeof(most_new) / sizeof(most_new[0]) - 1)

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
	leaf->map = NULL;
	leaf->map_id = 0;
	leaf->looks = 0;
	leaf->next_look = FIRST_LOOK;
	leaf->last_look = 0;
	leaf->last_entries = 0;
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
		page_finish(leaf);
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

/* the codes that we have for those of a vector's dictionary, by these */
static uint32_t *
map_of(LeafWriter *leaf, const LakeDictionary *dict)
{
	if (leaf->map == NULL || leaf->map_id != dict->id)
	{
		lake_free(leaf->arena, leaf->map);
		leaf->map = NULL;
		leaf->map = lake_alloc_array(leaf->arena, dict->count,
									 sizeof *leaf->map);
		leaf->map_id = dict->id;
	}
	return leaf->map;
}

/* as dict_add, for a vector with codes: an entry is looked up once */
static bool
add_mapped(LeafWriter *leaf, const LakeVector *vector, const uint32_t *rows,
		   uint32_t first, uint32_t count, uint32_t *codes)
{
	uint32_t   *map = map_of(leaf, vector->dict);

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = rows != NULL ? rows[i] : first + i;
		uint32_t	code = vector->codes[row];

		/* 0: not looked up yet */
		if (map[code] == 0)
		{
			const LakeBytes *bytes = vector_value(vector, row);

			if (leaf->kind == KIND_FIXED)
				check_lengths(leaf->field, bytes, 1);
			if (!dict_add(&leaf->dict, bytes, 1, &codes[i]))
				return false;
			map[code] = codes[i] + 1;
		}
		codes[i] = map[code] - 1;
	}
	return true;
}

/* the same for any vector */
static bool
add_codes(LeafWriter *leaf, const LakeVector *vector, const uint32_t *rows,
		  uint32_t first, uint32_t count)
{
	const void *values;
	uint32_t   *codes;

	buffer_reserve(&leaf->codes, count * sizeof *codes);
	codes = (uint32_t *) (void *) (leaf->codes.data + leaf->codes.len);
	leaf->codes.len += count * sizeof *codes;
	if (vector->dict != NULL && vector->dict->count <= MAX_MAPPED)
		return add_mapped(leaf, vector, rows, first, count, codes);
	values = values_gather(vector, rows, first, count,
						   &leaf->workspace->values);
	if (leaf->kind == KIND_FIXED)
		check_lengths(leaf->field, values, count);
	return dict_add(&leaf->dict, values, count, codes);
}

static void
add_plain(LeafWriter *leaf, const LakeVector *vector, const uint32_t *rows,
		  uint32_t first, uint32_t count)
{
	const void *values = values_gather(vector, rows, first, count,
									   &leaf->workspace->values);

	if (leaf->kind == KIND_FIXED)
		check_lengths(leaf->field, values, count);
	values_append(leaf->field, leaf->kind, values, count, &leaf->values);
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
	size_t		coded = leaf->codes.len;

	if (count == 0)
		return true;
	if (!leaf->coded)
		add_plain(leaf, vector, rows, first, count);
	else if (!add_codes(leaf, vector, rows, first, count))
	{
		leaf->codes.len = coded;
		abandon_dictionary(leaf);
		return false;
	}
	leaf->page_values += count;
	leaf->chunk_values += count;
	return true;
}

/* have there been too many new values since the last look? */
static bool
is_dictionary_vain(LeafWriter *leaf)
{
	uint64_t	values = leaf->chunk_values - leaf->last_look;
	uint64_t	added = leaf->dict.count - leaf->last_entries;
	size_t		rate = min_size(leaf->looks, LAST_RATE);

	leaf->looks++;
	leaf->last_look = leaf->chunk_values;
	leaf->last_entries = leaf->dict.count;
	leaf->next_look = 2 * leaf->chunk_values;
	return added * 100 > values * most_new[rate];
}

/* ends what has become too large, after rows were added */
static void
look_after(LeafWriter *leaf)
{
	if (leaf->coded && leaf->chunk_values >= leaf->next_look &&
		is_dictionary_vain(leaf))
		abandon_dictionary(leaf);
	if (leaf->page_rows >= leaf->options->page_rows ||
		page_size(leaf) >= leaf->options->page_bytes)
		page_finish(leaf);
}

/* ---- rows of flat columns ---- */

static size_t
length_of(const LakeVector *vector, uint32_t row)
{
	return ((const LakeBytes *) vector_value(vector, row))->len;
}

/* rows whose byte arrays have room */
static uint32_t
byte_rows_that_fit(const LakeVector *vector, const uint32_t *selection,
				   uint32_t first, uint32_t count, size_t room)
{
	uint32_t	fitting = 0;

	for (; fitting < count; fitting++)
	{
		uint32_t	row = selection != NULL ? selection[fitting] :
			first + fitting;
		size_t		size;

		if (vector_is_null(vector, row))
			continue;
		size = length_of(vector, row) + 4;
		if (size > room)
			break;
		room -= size;
	}
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
		fitting = byte_rows_that_fit(vector, selection, first, fitting, room);
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
			page_finish(leaf);
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

/* a run of levels, and what belongs to them */
typedef struct LevelRun
{
	uint32_t	levels;
	uint32_t	rows;
	uint32_t	values;
} LevelRun;

/*
 * The next levels that make up whole rows and fit the current page: none if it
 * should end first, a row at least if it is empty.
 */
static LevelRun
levels_that_fit(const LeafWriter *leaf, const uint16_t *reps,
				const uint16_t *defs, uint32_t count,
				const LakeVector *vector, const uint32_t *values)
{
	uint32_t	most_rows = leaf->options->page_rows - leaf->page_rows;
	size_t		used = page_size(leaf);
	size_t		room = leaf->options->page_bytes > used ?
		8 * (leaf->options->page_bytes - used) : 0;
	size_t		level_bits = page_level_width(leaf);
	size_t		value_bits = 8 * value_plain_width(leaf->field);
	bool		has_lengths = !leaf->coded && leaf->kind == KIND_BYTES;
	size_t		bits = 0;
	LevelRun	fitting = {0, 0, 0};
	uint32_t	value = 0;

	/* how wide codes will be is known when they are there */
	if (leaf->coded)
		value_bits = 16;
	for (uint32_t i = 0; i < count && fitting.rows < most_rows;)
	{
		do
		{
			bits += level_bits;
			if (defs[i] == leaf->max_def)
			{
				bits += value_bits;
				if (has_lengths)
					bits += 8 * length_of(vector, values[value]);
				value++;
			}
			i++;
		} while (i < count && reps[i] != 0);
		if (bits > room && (fitting.rows > 0 || leaf->page_rows > 0))
			break;
		fitting.levels = i;
		fitting.values = value;
		fitting.rows++;
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
		LevelRun	next = levels_that_fit(leaf, reps, defs, count, vector,
										   values);

		if (next.rows == 0)
		{
			page_finish(leaf);
			continue;
		}
		if (!add_values(leaf, vector, values, 0, next.values))
			continue;
		reserve_levels(leaf, next.levels);
		memcpy(leaf->defs + leaf->page_levels, defs,
			   next.levels * sizeof *defs);
		if (leaf->max_rep > 0)
			memcpy(leaf->reps + leaf->page_levels, reps,
				   next.levels * sizeof *reps);
		leaf->page_levels += next.levels;
		leaf->page_rows += next.rows;
		look_after(leaf);
		reps += next.levels;
		defs += next.levels;
		values += next.values;
		count -= next.levels;
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
		undo_codes(leaf, leaf->dict.values.len + page_code_bytes(leaf)))
		leaf->coded = false;
	if (leaf->page_levels > 0)
		page_finish(leaf);
	chunk->has_dictionary = leaf->coded_pages > 0;
	if (chunk->has_dictionary)
		page_add_dictionary(leaf);
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
