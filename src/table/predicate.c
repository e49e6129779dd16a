/*
 * The predicate tree: constructors, the normal form, text for EXPLAIN.
 *
 * A tree comes from an SQL expression, whose depth the server limits; ours is
 * a second line.
 */
#include "table/predicate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "table/predicate_int.h"
#include "table/table_int.h"

#define MAX_DEPTH		5000
/* EXPLAIN shows this many values of a list */
#define MAX_SHOWN		20

/* one row an op, in the order of the enum */
static const struct
{
	PredicateOp negation;
	const char *text;
}			ops[] = {
	[PREDICATE_TRUE] = {PREDICATE_FALSE, "true"},
	[PREDICATE_FALSE] = {PREDICATE_TRUE, "false"},
	[PREDICATE_AND] = {PREDICATE_OR, " AND "},
	[PREDICATE_OR] = {PREDICATE_AND, " OR "},
	[PREDICATE_NOT] = {PREDICATE_NOT, "NOT "},
	[PREDICATE_IS_NULL] = {PREDICATE_NOT_NULL, "IS NULL"},
	[PREDICATE_NOT_NULL] = {PREDICATE_IS_NULL, "IS NOT NULL"},
	[PREDICATE_EQ] = {PREDICATE_NE, "="},
	[PREDICATE_NE] = {PREDICATE_EQ, "<>"},
	[PREDICATE_LT] = {PREDICATE_GE, "<"},
	[PREDICATE_LE] = {PREDICATE_GT, "<="},
	[PREDICATE_GT] = {PREDICATE_LE, ">"},
	[PREDICATE_GE] = {PREDICATE_LT, ">="},
	[PREDICATE_IN] = {PREDICATE_NOT_IN, "IN"},
	[PREDICATE_NOT_IN] = {PREDICATE_IN, "NOT IN"},
	[PREDICATE_LIKE] = {PREDICATE_NOT_LIKE, "LIKE"},
	[PREDICATE_NOT_LIKE] = {PREDICATE_LIKE, "NOT LIKE"},
};

static Predicate *
create_node(LakeArena *arena, PredicateOp op)
{
	Predicate  *node = lake_alloc(arena, sizeof *node);

	node->op = op;
	node->leaf_index = -1;
	return node;
}

Predicate *
predicate_constant(LakeArena *arena, bool value)
{
	return create_node(arena, value ? PREDICATE_TRUE : PREDICATE_FALSE);
}

Predicate *
predicate_combine(LakeArena *arena, PredicateOp op, Predicate **children,
				  int count)
{
	Predicate  *node = create_node(arena, op);

	node->children = children;
	node->child_count = count;
	return node;
}

Predicate *
predicate_leaf(LakeArena *arena, PredicateOp op, const LakeField *field,
			   const LakeValue *values, int count)
{
	Predicate  *node = create_node(arena, op);

	node->field_id = field->id;
	node->type = field->type;
	node->values = lake_alloc_array(arena, (size_t) count, sizeof(LakeValue));
	if (count > 0)
		memcpy(node->values, values, (size_t) count * sizeof(LakeValue));
	node->value_count = count;
	return node;
}

/* qsort has no argument for the type, qsort_r of glibc has */
static int
compare_values(const void *a, const void *b, void *type)
{
	return lake_value_compare(type, a, b);
}

int
predicate_lower_value(const Predicate *leaf, const LakeValue *value)
{
	int			low = 0;
	int			high = leaf->value_count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (lake_value_compare(leaf->type, &leaf->values[middle], value) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* copies the values, NULLs left out; returns whether there were any */
static bool
copy_values(LakeArena *arena, Predicate *leaf, const Predicate *from)
{
	bool		has_null = false;

	leaf->values = lake_alloc_array(arena, (size_t) from->value_count,
									sizeof(LakeValue));
	for (int i = 0; i < from->value_count; i++)
	{
		LakeValue  *value = &leaf->values[leaf->value_count];

		if (from->values[i].is_null)
		{
			has_null = true;
			continue;
		}
		*value = from->values[i];
		if (value_form(leaf->type) == VALUE_BYTES)
			value->bytes.data = (const uint8_t *)
				lake_strndup(arena, value->bytes.len == 0 ? "" :
							 (const char *) value->bytes.data,
							 value->bytes.len);
		leaf->value_count++;
	}
	return has_null;
}

static void
normalize_list(Predicate *leaf)
{
	int			count = 0;

	qsort_r(leaf->values, (size_t) leaf->value_count, sizeof(LakeValue),
			compare_values, (void *) leaf->type);
	for (int i = 0; i < leaf->value_count; i++)
	{
		if (count == 0 ||
			lake_value_compare(leaf->type, &leaf->values[count - 1],
							   &leaf->values[i]) != 0)
			leaf->values[count++] = leaf->values[i];
	}
	leaf->value_count = count;
	if (count == 0)
		leaf->op = leaf->op == PREDICATE_IN ? PREDICATE_FALSE : PREDICATE_TRUE;
	else if (count == 1)
		leaf->op = leaf->op == PREDICATE_IN ? PREDICATE_EQ : PREDICATE_NE;
}

/* patterns that say less than LIKE can */
static void
normalize_like(LakeArena *arena, Predicate *leaf)
{
	LikePattern *pattern = like_compile(arena, leaf->values[0].bytes);
	LikePiece  *first = pattern->pieces;

	leaf->like = pattern;
	if (pattern->count == 1 && first->any == NULL)
	{
		leaf->op = leaf->op == PREDICATE_LIKE ? PREDICATE_EQ : PREDICATE_NE;
		leaf->values[0].bytes = (LakeBytes)
		{
			.data = first->bytes, .len = first->len
		};
	}
	else if (like_is_prefix(pattern) && first->len == 0)
	{
		leaf->value_count = 0;
		leaf->op = leaf->op == PREDICATE_LIKE ? PREDICATE_NOT_NULL :
			PREDICATE_FALSE;
	}
}

static Predicate *
normalize_leaf(LakeArena *arena, const Predicate *from, bool negate)
{
	Predicate  *leaf = create_node(arena,
								   negate ? ops[from->op].negation :
								   from->op);
	bool		has_null;

	leaf->field_id = from->field_id;
	leaf->type = from->type;
	has_null = copy_values(arena, leaf, from);
	switch (leaf->op)
	{
		case PREDICATE_IS_NULL:
		case PREDICATE_NOT_NULL:
			break;
		case PREDICATE_IN:
			normalize_list(leaf);
			break;
		case PREDICATE_NOT_IN:
			if (has_null)
				leaf->op = PREDICATE_FALSE;
			else
				normalize_list(leaf);
			break;
		default:
			if (leaf->value_count == 0)
				leaf->op = PREDICATE_FALSE;
			else if (leaf->op == PREDICATE_LIKE ||
					 leaf->op == PREDICATE_NOT_LIKE)
				normalize_like(arena, leaf);
			break;
	}
	/* a column of type unknown holds nothing but NULLs */
	if (value_form(leaf->type) == VALUE_NONE &&
		leaf->type->kind == LAKE_UNKNOWN && leaf->op != PREDICATE_TRUE)
		leaf->op = leaf->op == PREDICATE_IS_NULL ? PREDICATE_TRUE :
			PREDICATE_FALSE;
	if (leaf->op == PREDICATE_TRUE || leaf->op == PREDICATE_FALSE)
		return predicate_constant(arena, leaf->op == PREDICATE_TRUE);
	return leaf;
}

static Predicate *normalize(LakeArena *arena, const Predicate *from,
							bool negate, int depth);

/*
 * Adds what is left of child to the children of node; false when that decides
 * the whole node.
 */
static bool
add_child(LakeArena *arena, Predicate *node, size_t *capacity,
		  Predicate *child)
{
	PredicateOp neutral = node->op == PREDICATE_AND ? PREDICATE_TRUE :
		PREDICATE_FALSE;
	int			added = child->op == node->op ? child->child_count : 1;
	Predicate **from = child->op == node->op ? child->children : &child;
	size_t		needed = (size_t) node->child_count + (size_t) added;

	if (child->op == neutral)
		return true;
	if (child->op == ops[neutral].negation)
		return false;
	if (needed > *capacity)
	{
		size_t		larger = 2 * needed;

		node->children = lake_realloc(arena, node->children,
									  *capacity * sizeof(Predicate *),
									  larger * sizeof(Predicate *));
		*capacity = larger;
	}
	memcpy(node->children + node->child_count, from,
		   (size_t) added * sizeof(Predicate *));
	node->child_count += added;
	return true;
}

static Predicate *
normalize_combination(LakeArena *arena, const Predicate *from, bool negate,
					  int depth)
{
	Predicate  *node = create_node(arena,
								   negate ? ops[from->op].negation :
								   from->op);
	size_t		capacity = 0;

	for (int i = 0; i < from->child_count; i++)
	{
		if (!add_child(arena, node, &capacity,
					   normalize(arena, from->children[i], negate,
								 depth + 1)))
			return predicate_constant(arena, node->op == PREDICATE_OR);
	}
	if (node->child_count == 0)
		return predicate_constant(arena, node->op == PREDICATE_AND);
	return node->child_count == 1 ? node->children[0] : node;
}

static Predicate *
normalize(LakeArena *arena, const Predicate *from, bool negate, int depth)
{
	if (depth > MAX_DEPTH)
		lake_throw(LAKE_ERROR_LIMIT,
				   "a condition is nested deeper than %d levels", MAX_DEPTH);
	switch (from->op)
	{
		case PREDICATE_TRUE:
		case PREDICATE_FALSE:
			return predicate_constant(arena,
									  (from->op == PREDICATE_TRUE) != negate);
		case PREDICATE_AND:
		case PREDICATE_OR:
			return normalize_combination(arena, from, negate, depth);
		case PREDICATE_NOT:
			return normalize(arena, from->children[0], !negate, depth + 1);
		default:
			return normalize_leaf(arena, from, negate);
	}
}

static int
number_leaves(Predicate *node, int next)
{
	if (node->op == PREDICATE_TRUE || node->op == PREDICATE_FALSE)
		return next;
	if (node->op != PREDICATE_AND && node->op != PREDICATE_OR)
	{
		node->leaf_index = next;
		return next + 1;
	}
	for (int i = 0; i < node->child_count; i++)
		next = number_leaves(node->children[i], next);
	return next;
}

Predicate *
predicate_normalize(LakeArena *arena, const Predicate *predicate)
{
	Predicate  *result = normalize(arena, predicate, false, 0);

	number_leaves(result, 0);
	return result;
}

/* types of leaves are primitive, so that a struct is all there is to them */
static void
own_types(LakeArena *arena, Predicate *node)
{
	if (node->type != NULL)
	{
		LakeType   *type = lake_alloc(arena, sizeof *type);

		*type = *node->type;
		node->type = type;
	}
	for (int i = 0; i < node->child_count; i++)
		own_types(arena, node->children[i]);
}

Predicate *
predicate_copy(LakeArena *arena, const Predicate *predicate)
{
	Predicate  *copy = predicate_normalize(arena, predicate);

	own_types(arena, copy);
	return copy;
}

static void
collect_leaves(const Predicate *node, const Predicate **leaves, int *count)
{
	if (node->child_count == 0 && node->op != PREDICATE_TRUE &&
		node->op != PREDICATE_FALSE)
		leaves[(*count)++] = node;
	for (int i = 0; i < node->child_count; i++)
		collect_leaves(node->children[i], leaves, count);
}

Predicate *
predicate_doubt(LakeArena *arena, const Predicate *predicate)
{
	int			leaf_count = predicate_leaf_count(predicate);
	int			count = 0;
	const Predicate **leaves = lake_alloc_array(arena, (size_t) leaf_count + 1,
												sizeof *leaves);
	Predicate **terms = lake_alloc_array(arena, (size_t) leaf_count + 1,
										 sizeof *terms);
	Predicate **negated = lake_alloc(arena, sizeof *negated);

	collect_leaves(predicate, leaves, &count);
	for (int i = 0; i < count; i++)
	{
		LakeField	field = {
			.id = leaves[i]->field_id, .type = leaves[i]->type
		};

		terms[i] = predicate_leaf(arena, PREDICATE_IS_NULL, &field, NULL, 0);
	}
	negated[0] = (Predicate *) predicate;
	terms[count] = predicate_combine(arena, PREDICATE_NOT, negated, 1);
	return predicate_normalize(arena,
							   predicate_combine(arena, PREDICATE_OR, terms,
												 count + 1));
}

int
predicate_leaf_count(const Predicate *predicate)
{
	int			count = 0;

	if (predicate->child_count == 0)
		return predicate->op != PREDICATE_TRUE &&
			predicate->op != PREDICATE_FALSE;
	for (int i = 0; i < predicate->child_count; i++)
		count += predicate_leaf_count(predicate->children[i]);
	return count;
}

/* text between quotes, which are doubled inside */
static void
append_quoted(LakeBuffer *out, const char *text, char quote)
{
	buffer_append_byte(out, (uint8_t) quote);
	for (; *text != '\0'; text++)
	{
		if (*text == quote)
			buffer_append_byte(out, (uint8_t) quote);
		buffer_append_byte(out, (uint8_t) *text);
	}
	buffer_append_byte(out, (uint8_t) quote);
}

static void
append_name(LakeBuffer *out, const LakeSchema *schema, int32_t field_id)
{
	const LakeField *field = schema == NULL ? NULL :
		lake_schema_find_id(schema, field_id);
	const char *c;

	if (field == NULL)
	{
		buffer_printf(out, "field %d", field_id);
		return;
	}
	for (c = field->name; (*c >= 'a' && *c <= 'z') || *c == '_' ||
		 (c > field->name && *c >= '0' && *c <= '9');)
		c++;
	if (*c == '\0' && c > field->name)
		buffer_append_text(out, field->name);
	else
		append_quoted(out, field->name, '"');
}

/* as SQL would write it */
static void
append_value(LakeBuffer *out, const LakeType *type, const LakeValue *value)
{
	const char *text = lake_value_text(out->arena, type, value);
	bool		is_number = type->kind == LAKE_INT ||
		type->kind == LAKE_LONG || type->kind == LAKE_DECIMAL ||
		(value_form(type) == VALUE_FLOAT && isfinite(value->d));

	if (value->is_null || is_number || type->kind == LAKE_BOOLEAN)
		buffer_append_text(out, text);
	else
		append_quoted(out, text, '\'');
}

static void
append_leaf(LakeBuffer *out, const Predicate *leaf, const LakeSchema *schema)
{
	bool		is_list = leaf->op == PREDICATE_IN ||
		leaf->op == PREDICATE_NOT_IN;

	append_name(out, schema, leaf->field_id);
	buffer_printf(out, " %s%s", ops[leaf->op].text, is_list ? " (" : "");
	for (int i = 0; i < leaf->value_count; i++)
	{
		buffer_append_text(out, is_list && i > 0 ? ", " : is_list ? "" : " ");
		if (i == MAX_SHOWN)
		{
			buffer_printf(out, "... %d more", leaf->value_count - i);
			break;
		}
		append_value(out, leaf->type, &leaf->values[i]);
	}
	if (is_list)
		buffer_append_byte(out, ')');
}

static void
append_predicate(LakeBuffer *out, const Predicate *predicate,
				 const LakeSchema *schema)
{
	switch (predicate->op)
	{
		case PREDICATE_TRUE:
		case PREDICATE_FALSE:
			buffer_append_text(out, ops[predicate->op].text);
			break;
		case PREDICATE_NOT:
			buffer_append_text(out, ops[PREDICATE_NOT].text);
			append_predicate(out, predicate->children[0], schema);
			break;
		case PREDICATE_AND:
		case PREDICATE_OR:
			buffer_append_byte(out, '(');
			for (int i = 0; i < predicate->child_count; i++)
			{
				if (i > 0)
					buffer_append_text(out, ops[predicate->op].text);
				append_predicate(out, predicate->children[i], schema);
			}
			buffer_append_byte(out, ')');
			break;
		default:
			append_leaf(out, predicate, schema);
			break;
	}
}

const char *
predicate_text(LakeArena *arena, const Predicate *predicate,
			   const LakeSchema *schema)
{
	LakeBuffer	out;

	buffer_init(&out, arena);
	append_predicate(&out, predicate, schema);
	buffer_append_byte(&out, '\0');
	return (const char *) out.data;
}
