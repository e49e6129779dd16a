/*
 * Structs, lists and maps to the levels of their leaves.
 *
 * A field is gone through from the outside: for each of its nodes there is an
 * array of entries, which have the levels reached so far and where their value
 * is.  An entry that turns out to be NULL or an empty list keeps the level at
 * which it ended; all leaves below get it.
 *
 * Parquet format: README.md, "Nested Encoding".
 */
#include "parquet/writer.h"

#include <string.h>

/* of an entry without a value */
#define NO_VALUE UINT32_MAX

typedef struct Entries
{
	uint32_t	count;
	uint16_t   *reps;
	uint16_t   *defs;
	uint32_t   *values;			/* index in the node's vector, NO_VALUE */
} Entries;

static void
allocate(LakeArena *arena, Entries *entries, size_t count)
{
	if (count > INT32_MAX)
		lake_throw(LAKE_ERROR_LIMIT,
				   "lists with %zu elements in a batch of rows", count);
	entries->count = (uint32_t) count;
	entries->reps = lake_alloc_raw(arena, count * sizeof *entries->reps);
	entries->defs = lake_alloc_raw(arena, count * sizeof *entries->defs);
	entries->values = lake_alloc_raw(arena, count * sizeof *entries->values);
}

/* entries that are not NULL reach the node's own level */
static void
mark_nulls(const WriterNode *node, const LakeVector *vector,
		   LakeArena *arena, const Entries *outer, Entries *entries)
{
	*entries = *outer;
	entries->defs = lake_alloc_raw(arena, outer->count *
								   sizeof *entries->defs);
	entries->values = lake_alloc_raw(arena, outer->count *
									 sizeof *entries->values);
	for (uint32_t i = 0; i < outer->count; i++)
	{
		uint32_t	value = outer->values[i];

		entries->values[i] = value;
		entries->defs[i] = outer->defs[i];
		if (value == NO_VALUE)
			continue;
		if (!vector_is_null(vector, value))
			entries->defs[i] = node->defined;
		else if (node->field->optional)
			entries->values[i] = NO_VALUE;
		else
			lake_throw(LAKE_ERROR_INTERNAL,
					   "field \"%s\" is required and has a NULL",
					   node->field->name);
	}
}

static size_t
count_elements(const LakeVector *vector, const Entries *lists)
{
	size_t		count = 0;

	for (uint32_t i = 0; i < lists->count; i++)
	{
		uint32_t	value = lists->values[i];
		uint32_t	length = value == NO_VALUE ? 0 :
			vector->offsets[value + 1] - vector->offsets[value];

		count += length == 0 ? 1 : length;
	}
	return count;
}

/* an entry an element, and one for each list that has none */
static void
expand_lists(const WriterNode *node, const LakeVector *vector,
			 LakeArena *arena, const Entries *lists, Entries *elements)
{
	uint32_t	at = 0;

	allocate(arena, elements, count_elements(vector, lists));
	for (uint32_t i = 0; i < lists->count; i++)
	{
		uint32_t	value = lists->values[i];
		uint32_t	next = value == NO_VALUE ? 0 : vector->offsets[value];
		uint32_t	end = value == NO_VALUE ? 0 : vector->offsets[value + 1];

		elements->reps[at] = lists->reps[i];
		elements->defs[at] = lists->defs[i];
		elements->values[at] = NO_VALUE;
		if (next == end)
			at++;
		for (uint32_t first = at; next < end; next++, at++)
		{
			if (at > first)
				elements->reps[at] = node->repeated;
			elements->defs[at] = node->element;
			elements->values[at] = next;
		}
	}
}

static void
write_leaf(const WriterNode *node, const LakeVector *vector,
		   const Entries *entries)
{
	uint32_t	present = 0;

	for (uint32_t i = 0; i < entries->count; i++)
	{
		entries->values[present] = entries->values[i];
		present += entries->values[i] != NO_VALUE;
	}
	leaf_writer_add_levels(node->leaf, entries->reps, entries->defs,
						   entries->count, vector, entries->values);
}

/* depth is bounded by schema_check */
static void
write_node(const WriterNode *node, const LakeVector *vector,
		   LakeArena *arena, const Entries *outer)
{
	Entries		entries;
	Entries		elements;
	const Entries *inner = &entries;

	mark_nulls(node, vector, arena, outer, &entries);
	if (node->field->shape == PARQUET_PRIMITIVE)
	{
		write_leaf(node, vector, &entries);
		return;
	}
	if (node->field->shape != PARQUET_STRUCT)
	{
		expand_lists(node, vector, arena, &entries, &elements);
		inner = &elements;
	}
	for (int i = 0; i < node->field->child_count; i++)
		write_node(&node->children[i], vector->children[i], arena, inner);
}

void
nested_write(const WriterNode *node, const LakeVector *vector,
			 const uint32_t *selection, uint32_t first, uint32_t count,
			 LakeArena *arena)
{
	Entries		rows;

	allocate(arena, &rows, count);
	memset(rows.reps, 0, count * sizeof *rows.reps);
	memset(rows.defs, 0, count * sizeof *rows.defs);
	for (uint32_t i = 0; i < count; i++)
		rows.values[i] = selection != NULL ? selection[i] : first + i;
	write_node(node, vector, arena, &rows);
	lake_arena_reset(arena);
}
