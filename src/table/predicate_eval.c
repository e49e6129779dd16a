/*
 * Exact evaluation of predicates on column vectors.
 *
 * A node narrows a selection in place.  AND hands it from term to term, so
 * that later columns are looked at, or even decoded, for survivors only; the
 * terms of one AND on one column are one leaf.  On a dictionary vector a leaf is
 * decided once an entry and then looked up by code.
 */
#include <string.h>

#include "table/batch.h"
#include "table/predicate_int.h"
#include "table/table_int.h"

typedef struct EvalColumn
{
	int32_t		field_id;
	const LakeVector *vector;	/* of this batch; NULL: not loaded yet */
} EvalColumn;

/* all conditions of one AND on one column */
typedef struct EvalLeaf
{
	int			column;			/* index into the evaluator's columns */
	const LakeType *type;
	bool		wants_null;		/* IS NULL, alone */
	int			term_count;		/* 0: IS NOT NULL */
	PredicateTerm *terms;

	/* what the terms say of each entry of the dictionary seen last */
	bool		has_dict;
	bool		has_map;
	uint64_t	dict_id;
	uint32_t	pass_count;		/* entries that pass */
	uint64_t	gathered;		/* values tested without the map */
	uint8_t    *map;			/* 1 = passes */
	size_t		map_capacity;
} EvalLeaf;

typedef struct EvalNode EvalNode;
struct EvalNode
{
	PredicateOp op;				/* TRUE, FALSE, AND, OR, or a leaf's */
	int			child_count;
	EvalNode  **children;
	EvalLeaf	leaf;
	/* OR: made at the first use */
	uint32_t   *rest;			/* rows that no child has taken yet */
	uint32_t   *candidates;
	uint8_t    *taken;			/* by row */
};

struct PredicateEvaluator
{
	LakeArena  *arena;
	VectorLoader load;
	void	   *load_arg;
	EvalNode   *root;
	int			column_count;
	EvalColumn *columns;
	/* for dictionaries: row numbers and values in a row */
	uint32_t   *indexes;
	void	   *gathered;
};

static const LakeVector *
load_column(PredicateEvaluator *evaluator, const EvalLeaf *leaf)
{
	EvalColumn *column = &evaluator->columns[leaf->column];

	if (column->vector == NULL)
		column->vector = evaluator->load(evaluator->load_arg,
										 column->field_id);
	if (leaf->term_count > 0 &&
		column->vector->layout != lake_type_layout(leaf->type))
		lake_throw(LAKE_ERROR_INTERNAL,
				   "column %d has layout %d where its type has %d",
				   column->field_id, (int) column->vector->layout,
				   (int) lake_type_layout(leaf->type));
	return column->vector;
}

/* the rows whose byte, 0 or 1, is wanted */
static uint32_t
filter_nulls(const uint8_t *nulls, uint8_t wanted, uint32_t *selection,
			 uint32_t count)
{
	uint32_t	kept = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = selection[i];

		selection[kept] = row;
		kept += nulls[row] == wanted;
	}
	return kept;
}

static uint32_t
filter_values(const EvalLeaf *leaf, const void *values, uint32_t *selection,
			  uint32_t count)
{
	for (int i = 0; i < leaf->term_count && count > 0; i++)
		count = leaf->terms[i].filter(&leaf->terms[i], values, selection,
									  count);
	return count;
}

static void
fill_indexes(uint32_t *indexes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		indexes[i] = i;
}

/* decides every entry of the dictionary */
static void
make_map(PredicateEvaluator *evaluator, EvalLeaf *leaf,
		 const LakeDictionary *dict)
{
	size_t		width = vector_layout_width(dict->layout);

	if (leaf->map_capacity < dict->count)
	{
		if (leaf->map != NULL)
			lake_free(evaluator->arena, leaf->map);
		leaf->map = NULL;
		leaf->map_capacity = 0;
		leaf->map = lake_alloc_raw(evaluator->arena, dict->count);
		leaf->map_capacity = dict->count;
	}
	memset(leaf->map, 0, dict->count);
	leaf->pass_count = 0;
	for (uint32_t first = 0; first < dict->count; first += BATCH_MAX_ROWS)
	{
		uint32_t	count = dict->count - first;
		const char *values = (const char *) dict->values + first * width;

		lake_check_interrupts();
		if (count > BATCH_MAX_ROWS)
			count = BATCH_MAX_ROWS;
		fill_indexes(evaluator->indexes, count);
		count = filter_values(leaf, values, evaluator->indexes, count);
		for (uint32_t i = 0; i < count; i++)
			leaf->map[first + evaluator->indexes[i]] = 1;
		leaf->pass_count += count;
	}
	leaf->has_map = true;
}

/* puts the selected values, by their codes, one after the other */
#define GATHER(width) \
	for (uint32_t i = 0; i < count; i++) \
		memcpy(to + i * (size_t) (width), \
			   from + codes[selection[i]] * (size_t) (width), width)

/* tests the selected rows' entries only, when a map would cost more */
static uint32_t
filter_gathered(PredicateEvaluator *evaluator, const EvalLeaf *leaf,
				const LakeDictionary *dict, const uint32_t *codes,
				uint32_t *selection, uint32_t count)
{
	const char *from = dict->values;
	char	   *to = evaluator->gathered;

	switch (vector_layout_width(dict->layout))
	{
		case 1:
			GATHER(1);
			break;
		case 4:
			GATHER(4);
			break;
		case 8:
			GATHER(8);
			break;
		default:
			GATHER(16);
			break;
	}
	fill_indexes(evaluator->indexes, count);
	count = filter_values(leaf, evaluator->gathered, evaluator->indexes,
						  count);
	for (uint32_t i = 0; i < count; i++)
		selection[i] = selection[evaluator->indexes[i]];
	return count;
}

static uint32_t
filter_codes(const uint8_t *map, const uint32_t *codes, uint32_t *selection,
			 uint32_t count)
{
	uint32_t	kept = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = selection[i];

		selection[kept] = row;
		kept += map[codes[row]];
	}
	return kept;
}

static uint32_t
filter_dictionary(PredicateEvaluator *evaluator, EvalLeaf *leaf,
				  const LakeVector *vector, uint32_t *selection,
				  uint32_t count)
{
	const LakeDictionary *dict = vector->dict;

	if (!leaf->has_dict || leaf->dict_id != dict->id)
	{
		leaf->has_dict = true;
		leaf->has_map = false;
		leaf->dict_id = dict->id;
		leaf->gathered = 0;
	}
	if (!leaf->has_map)
	{
		leaf->gathered += count;
		if (leaf->gathered < dict->count / 2)
			return filter_gathered(evaluator, leaf, dict, vector->codes,
								   selection, count);
		make_map(evaluator, leaf, dict);
	}
	if (leaf->pass_count == 0)
		return 0;
	if (leaf->pass_count == dict->count)
		return count;
	return filter_codes(leaf->map, vector->codes, selection, count);
}

static uint32_t
filter_leaf(PredicateEvaluator *evaluator, EvalLeaf *leaf,
			uint32_t *selection, uint32_t count)
{
	const LakeVector *vector = load_column(evaluator, leaf);

	if (leaf->wants_null)
		return vector->nulls == NULL ? 0 :
			filter_nulls(vector->nulls, 1, selection, count);
	if (vector->nulls != NULL)
		count = filter_nulls(vector->nulls, 0, selection, count);
	if (count == 0 || leaf->term_count == 0)
		return count;
	if (vector->dict != NULL)
		return filter_dictionary(evaluator, leaf, vector, selection, count);
	return filter_values(leaf, vector->values, selection, count);
}

static uint32_t filter_node(PredicateEvaluator *evaluator, EvalNode *node,
							uint32_t *selection, uint32_t count);

/* each child sees only the rows that the ones before it have not taken */
static uint32_t
filter_or(PredicateEvaluator *evaluator, EvalNode *node, uint32_t *selection,
		  uint32_t count)
{
	uint32_t	left = count;

	if (node->rest == NULL)
	{
		node->candidates = lake_alloc_array(evaluator->arena, BATCH_MAX_ROWS,
											sizeof(uint32_t));
		node->taken = lake_alloc(evaluator->arena, BATCH_MAX_ROWS);
		node->rest = lake_alloc_array(evaluator->arena, BATCH_MAX_ROWS,
									  sizeof(uint32_t));
	}
	memset(node->taken, 0, BATCH_MAX_ROWS);
	memcpy(node->rest, selection, count * sizeof(uint32_t));
	for (int i = 0; i < node->child_count && left > 0; i++)
	{
		uint32_t	taken;

		memcpy(node->candidates, node->rest, left * sizeof(uint32_t));
		taken = filter_node(evaluator, node->children[i], node->candidates,
							left);
		for (uint32_t j = 0; j < taken; j++)
			node->taken[node->candidates[j]] = 1;
		if (taken > 0)
			left = filter_nulls(node->taken, 0, node->rest, left);
	}
	if (left == 0)
		return count;
	return filter_nulls(node->taken, 1, selection, count);
}

static uint32_t
filter_node(PredicateEvaluator *evaluator, EvalNode *node,
			uint32_t *selection, uint32_t count)
{
	switch (node->op)
	{
		case PREDICATE_TRUE:
			return count;
		case PREDICATE_FALSE:
			return 0;
		case PREDICATE_AND:
			for (int i = 0; i < node->child_count && count > 0; i++)
				count = filter_node(evaluator, node->children[i], selection,
									count);
			return count;
		case PREDICATE_OR:
			return filter_or(evaluator, node, selection, count);
		default:
			return filter_leaf(evaluator, &node->leaf, selection, count);
	}
}

uint32_t
predicate_evaluate(PredicateEvaluator *evaluator, uint32_t *selection,
				   uint32_t in_count)
{
	if (in_count == 0)
		return 0;
	if (in_count > BATCH_MAX_ROWS ||
		selection[in_count - 1] >= BATCH_MAX_ROWS)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a batch has more than %d rows", BATCH_MAX_ROWS);
	for (int i = 0; i < evaluator->column_count; i++)
		evaluator->columns[i].vector = NULL;
	return filter_node(evaluator, evaluator->root, selection, in_count);
}

static int
find_column(PredicateEvaluator *evaluator, int32_t field_id)
{
	int			i = 0;

	while (i < evaluator->column_count &&
		   evaluator->columns[i].field_id != field_id)
		i++;
	if (i == evaluator->column_count)
		evaluator->columns[evaluator->column_count++].field_id = field_id;
	return i;
}

/* the leaf of an earlier sibling that can take one more condition on column */
static EvalLeaf *
find_sibling(EvalNode *node, int column)
{
	for (int i = 0; i < node->child_count; i++)
	{
		EvalNode   *child = node->children[i];

		if (child->op >= PREDICATE_IS_NULL && !child->leaf.wants_null &&
			child->leaf.column == column)
			return &child->leaf;
	}
	return NULL;
}

static void
add_term(PredicateEvaluator *evaluator, EvalLeaf *leaf,
		 const Predicate *predicate)
{
	size_t		size = (size_t) leaf->term_count * sizeof(PredicateTerm);

	if (predicate->op == PREDICATE_IS_NULL ||
		predicate->op == PREDICATE_NOT_NULL)
		return;
	leaf->terms = lake_realloc(evaluator->arena, leaf->terms, size,
							   size + sizeof(PredicateTerm));
	predicate_term_init(&leaf->terms[leaf->term_count], evaluator->arena,
						predicate, lake_type_layout(predicate->type));
	leaf->term_count++;
}

static EvalNode *
create_node(PredicateEvaluator *evaluator, const Predicate *predicate)
{
	EvalNode   *node = lake_alloc(evaluator->arena, sizeof *node);

	node->op = predicate->op;
	if (predicate->op == PREDICATE_TRUE || predicate->op == PREDICATE_FALSE)
		return node;
	if (predicate->op == PREDICATE_NOT)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a predicate that is not normalised was evaluated");
	if (predicate->op != PREDICATE_AND && predicate->op != PREDICATE_OR)
	{
		node->leaf.column = find_column(evaluator, predicate->field_id);
		node->leaf.type = predicate->type;
		node->leaf.wants_null = predicate->op == PREDICATE_IS_NULL;
		add_term(evaluator, &node->leaf, predicate);
		return node;
	}
	node->children = lake_alloc_array(evaluator->arena,
									  (size_t) predicate->child_count,
									  sizeof(EvalNode *));
	for (int i = 0; i < predicate->child_count; i++)
	{
		const Predicate *child = predicate->children[i];
		EvalLeaf   *sibling = NULL;

		if (node->op == PREDICATE_AND && child->op > PREDICATE_IS_NULL)
			sibling = find_sibling(node, find_column(evaluator,
													 child->field_id));
		if (sibling != NULL)
			add_term(evaluator, sibling, child);
		else
			node->children[node->child_count++] = create_node(evaluator,
															  child);
	}
	return node;
}

PredicateEvaluator *
predicate_evaluator_create(LakeArena *arena, const Predicate *predicate,
						   VectorLoader load, void *arg)
{
	PredicateEvaluator *evaluator = lake_alloc(arena, sizeof *evaluator);
	size_t		leaves = (size_t) predicate_leaf_count(predicate);

	evaluator->arena = arena;
	evaluator->load = load;
	evaluator->load_arg = arg;
	evaluator->columns = lake_alloc_array(arena, leaves, sizeof(EvalColumn));
	evaluator->indexes = lake_alloc_array(arena, BATCH_MAX_ROWS,
										  sizeof(uint32_t));
	evaluator->gathered = lake_alloc_raw(arena, BATCH_MAX_ROWS *
										 sizeof(LakeInt128));
	evaluator->root = create_node(evaluator, predicate);
	return evaluator;
}
