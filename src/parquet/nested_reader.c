/*
 * Lists, maps and structs: rows of a leaf by its levels, and vectors out of the
 * levels of all leaves of a field (Dremel's record assembly, by columns).
 *
 * A row begins at repetition level 0 and nowhere else; in v1 pages it may go on
 * in the next page.  So a row is known to be complete only when the next level
 * has been seen, or the chunk has ended.
 */
#include "parquet/parquet_int.h"

#include <string.h>

/* levels decoded at a time; page headers may announce any number */
#define BLOCK_LEVELS	4096

/* ---- levels ---- */

static void
read_block(LeafReader *leaf)
{
	uint32_t	count = leaf->left < BLOCK_LEVELS ? leaf->left : BLOCK_LEVELS;

	if (leaf->block_reps == NULL)
	{
		leaf->block_reps = lake_alloc_raw(leaf->arena, BLOCK_LEVELS *
										  sizeof *leaf->block_reps);
		leaf->block_defs = lake_alloc_raw(leaf->arena, BLOCK_LEVELS *
										  sizeof *leaf->block_defs);
	}
	levels_read(&leaf->rep, leaf->block_reps, count);
	levels_read(&leaf->def, leaf->block_defs, count);
	leaf->left -= count;
	leaf->block_len = count;
	leaf->block_pos = 0;
}

/*
 * Where in the block the rows asked for end.  started counts the rows that have
 * begun.  *complete: the level there begins a further row.
 */
static uint32_t
find_end(const LeafReader *leaf, uint64_t rows, uint64_t *started,
		 bool *complete)
{
	uint32_t	i = leaf->block_pos;

	*complete = false;
	for (; i < leaf->block_len; i++)
	{
		if (leaf->block_reps[i] == 0)
		{
			if (*started == rows)
			{
				*complete = true;
				break;
			}
			(*started)++;
		}
		else if (*started == 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "a column chunk or page begins in the middle of a row");
	}
	return i;
}

static uint32_t
count_values(const LeafReader *leaf, uint32_t end)
{
	uint32_t	count = 0;

	for (uint32_t i = leaf->block_pos; i < end; i++)
		count += leaf->block_defs[i] == leaf->node->defined;
	return count;
}

static void
keep_levels(LeafReader *leaf, uint32_t end)
{
	uint32_t	count = end - leaf->block_pos;
	uint32_t	values = count_values(leaf, end);
	size_t		size = ((size_t) leaf->level_count + count) *
		sizeof *leaf->reps;

	if (count > PARQUET_MAX_BATCH_LEVELS - leaf->level_count)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the rows of a batch have more than %u list elements",
				   PARQUET_MAX_BATCH_LEVELS);
	leaf->reps = leaf_reserve(leaf, leaf->reps, &leaf->reps_capacity, size);
	leaf->defs = leaf_reserve(leaf, leaf->defs, &leaf->defs_capacity, size);
	memcpy(leaf->reps + leaf->level_count, leaf->block_reps + leaf->block_pos,
		   count * sizeof *leaf->reps);
	memcpy(leaf->defs + leaf->level_count, leaf->block_defs + leaf->block_pos,
		   count * sizeof *leaf->defs);
	leaf->level_count += count;
	leaf_take_values(leaf, leaf->value_count, values);
	leaf->value_count += values;
}

/*
 * Does the next page, of which nothing was read yet, begin with a new row?
 * True at the end of the chunk.
 */
static bool
is_at_row_border(LeafReader *leaf)
{
	/* a page that an index knows begins with a row, which leaf_open checks */
	if (leaf->node->repeated == 0 || !leaf_has_more(leaf) || leaf->has_sought)
		return true;
	leaf_announce(leaf);
	return leaf->header.type == PAGE_DATA_V2;
}

/* of the announced page, which begins with a row; v1 headers do not say it */
static uint64_t
announced_rows(const LeafReader *leaf)
{
	const PageLocation *location;

	if (leaf->node->repeated == 0)
		return leaf->header.value_count;
	if (!leaf->has_sought)
		return leaf->header.row_count;
	location = &leaf->index->pages[leaf->next_page];
	return location[1].first_row - location->first_row;
}

/* passes whole pages of rows that are to be skipped, as far as that is known */
static uint64_t
skip_pages(LeafReader *leaf, uint64_t rows)
{
	while (rows > 0 && leaf->left == 0 &&
		   leaf->block_pos == leaf->block_len && is_at_row_border(leaf))
	{
		uint64_t	page_rows;

		leaf_announce(leaf);
		page_rows = announced_rows(leaf);
		if (page_rows > rows)
			break;
		leaf_pass(leaf);
		rows -= page_rows;
	}
	return rows;
}

/* moves over rows, keeping their levels and values or not */
static void
consume_rows(LeafReader *leaf, uint64_t rows, bool keep)
{
	uint64_t	started = 0;
	bool		complete = false;

	while (!complete)
	{
		uint32_t	end;

		if (leaf->block_pos == leaf->block_len)
		{
			if (leaf->left == 0)
			{
				if (started == rows && is_at_row_border(leaf))
					return;
				leaf_announce(leaf);
				if (leaf->index != NULL && leaf->row + started !=
					leaf->index->pages[leaf->next_page].first_row)
					leaf_doubt_index(leaf);
				leaf_open(leaf);
			}
			read_block(leaf);
		}
		end = find_end(leaf, rows, &started, &complete);
		if (keep)
			keep_levels(leaf, end);
		else
			leaf_skip_values(leaf, count_values(leaf, end));
		leaf->block_pos = end;
	}
}

void
leaf_read_levels(LeafReader *leaf, uint32_t rows)
{
	uint64_t	skipped;

	leaf_start(leaf);
	if (rows == 0)
		return;
	leaf_seek(leaf);
	skipped = skip_pages(leaf, leaf->pending);
	leaf->row += leaf->pending - skipped;
	leaf->pending = 0;
	if (skipped > 0)
		consume_rows(leaf, skipped, false);
	leaf->row += skipped;
	consume_rows(leaf, rows, true);
	leaf->row += rows;
}

void
leaf_check_end(const LeafReader *leaf)
{
	if (leaf->block_pos < leaf->block_len || leaf->left > 0 ||
		leaf_has_more(leaf))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a column chunk has more rows than its row group");
}

/* ---- vectors ---- */

/*
 * The slots that a field has in its innermost list: one for each level with
 * rep <= repeated and def >= element.
 */
typedef struct Scope
{
	LakeArena  *arena;
	LeafReader *leaves;
	int			first_leaf;		/* index of leaves[0] in the file */
	uint16_t	repeated;
	uint16_t	element;
	uint32_t	slots;
} Scope;

static LakeVector *build(const Scope *scope, const ParquetNode *node);

static LeafReader *
guide_of(const Scope *scope, const ParquetNode *node)
{
	return &scope->leaves[node->first_leaf - scope->first_leaf];
}

static _Noreturn void
throw_inconsistent(const ParquetNode *node)
{
	lake_throw(LAKE_ERROR_CORRUPT,
			   "the levels of nested column \"%s\" are inconsistent",
			   node->field.name);
}

static LakeVector *
create_vector(const Scope *scope, const ParquetNode *node)
{
	LakeVector *vector = lake_alloc(scope->arena, sizeof *vector);

	vector->layout = node->field.layout;
	vector->count = scope->slots;
	return vector;
}

/* which slots are below the node's own definition level */
static void
build_nulls(const Scope *scope, const ParquetNode *node, LakeVector *vector)
{
	const LeafReader *leaf = guide_of(scope, node);
	uint8_t    *nulls = lake_alloc_raw(scope->arena, scope->slots);
	uint32_t	slot = 0;
	uint32_t	found = 0;

	for (uint32_t i = 0; i < leaf->level_count; i++)
	{
		if (leaf->reps[i] > scope->repeated || leaf->defs[i] < scope->element)
			continue;
		if (slot == scope->slots)
			throw_inconsistent(node);
		nulls[slot] = leaf->defs[i] < node->defined;
		found += nulls[slot++];
	}
	if (slot != scope->slots)
		throw_inconsistent(node);
	if (found > 0)
		vector->nulls = nulls;
}

static void
build_leaf(const Scope *scope, const ParquetNode *node, LakeVector *vector)
{
	const LeafReader *leaf = guide_of(scope, node);
	const ValueSink *sink = &leaf->sink;
	bool		coded = sink->dict != NULL;
	size_t		width = coded ? sizeof *sink->codes :
		vector_layout_width(vector->layout);
	const void *dense = coded ? (const void *) sink->codes : sink->values;
	uint8_t    *slots;
	uint32_t	nulls = 0;

	build_nulls(scope, node, vector);
	for (uint32_t i = 0; vector->nulls != NULL && i < scope->slots; i++)
		nulls += vector->nulls[i];
	if (leaf->value_count != scope->slots - nulls)
		throw_inconsistent(node);
	if (nulls > 0)
	{
		slots = lake_alloc_raw(scope->arena, scope->slots * width);
		if (leaf->value_count > 0)
			memcpy(slots, dense, leaf->value_count * width);
		values_spread(slots, width, vector->nulls, scope->slots,
					  leaf->value_count);
		dense = slots;
	}
	vector->dict = sink->dict;
	if (coded)
		vector->codes = dense;
	else
		vector->values = dense;
}

static void
build_children(const Scope *scope, const ParquetNode *node,
			   LakeVector *vector)
{
	vector->child_count = (uint32_t) node->field.child_count;
	vector->children = lake_alloc_array(scope->arena,
										(size_t) node->field.child_count,
										sizeof *vector->children);
	for (int i = 0; i < node->field.child_count; i++)
		vector->children[i] = build(scope,
									parquet_node(node->field.children[i]));
}

static void
build_offsets(const Scope *scope, const ParquetNode *node, LakeVector *vector)
{
	const LeafReader *leaf = guide_of(scope, node);
	uint32_t   *offsets = lake_alloc_array(scope->arena,
										   (size_t) scope->slots + 1,
										   sizeof *offsets);
	uint32_t	slot = 0;
	uint32_t	elements = 0;

	for (uint32_t i = 0; i < leaf->level_count; i++)
	{
		uint16_t	rep = leaf->reps[i];
		uint16_t	def = leaf->defs[i];

		if (rep <= scope->repeated)
		{
			if (def < scope->element)
				continue;
			if (slot == scope->slots)
				throw_inconsistent(node);
			offsets[slot++] = elements;
		}
		else if (def < node->element || slot == 0)
			throw_inconsistent(node);
		if (rep <= node->repeated && def >= node->element)
			elements++;
	}
	if (slot != scope->slots)
		throw_inconsistent(node);
	offsets[slot] = elements;
	vector->offsets = offsets;
}

static void
build_list(const Scope *scope, const ParquetNode *node, LakeVector *vector)
{
	Scope		inner = *scope;

	if (node->leaf_count == 0)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "list \"%s\" of a type without columns is not supported",
				   node->field.name);
	build_nulls(scope, node, vector);
	build_offsets(scope, node, vector);
	inner.repeated = node->repeated;
	inner.element = node->element;
	inner.slots = vector->offsets[vector->count];
	build_children(&inner, node, vector);
}

static void
build_struct(const Scope *scope, const ParquetNode *node, LakeVector *vector)
{
	if (node->leaf_count > 0)
		build_nulls(scope, node, vector);
	else if (node->field.optional)
	{
		/* without columns there is nothing that says it is not NULL */
		uint8_t    *nulls = lake_alloc_raw(scope->arena, scope->slots);

		if (scope->slots > 0)
			memset(nulls, 1, scope->slots);
		vector->nulls = nulls;
	}
	build_children(scope, node, vector);
}

/* as deep as the schema, which PARQUET_MAX_NESTING bounds */
static LakeVector *
build(const Scope *scope, const ParquetNode *node)
{
	LakeVector *vector = create_vector(scope, node);

	switch (node->field.shape)
	{
		case PARQUET_PRIMITIVE:
			build_leaf(scope, node, vector);
			break;
		case PARQUET_STRUCT:
			build_struct(scope, node, vector);
			break;
		case PARQUET_LIST:
		case PARQUET_MAP:
			build_list(scope, node, vector);
			break;
	}
	return vector;
}

LakeVector *
nested_build(LakeArena *arena, const ParquetNode *node, LeafReader *leaves,
			 uint32_t rows)
{
	Scope		scope = {0};

	scope.arena = arena;
	scope.leaves = leaves;
	scope.first_leaf = node->first_leaf;
	scope.slots = rows;
	return build(&scope, node);
}
