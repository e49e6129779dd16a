/*
 * Small random worlds for predicates: a column type or two, a few rows, a tree
 * of conditions, and a three-valued evaluator that is too simple to be wrong.
 *
 * Every choice is drawn from one source: the bytes of a fuzzer, or a generator
 * for unit tests.
 */
#ifndef LAKE_PREDICATE_CASES_H
#define LAKE_PREDICATE_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "table/table_int.h"

typedef struct Choices
{
	const uint8_t *data;		/* NULL: the generator */
	size_t		left;
	uint64_t	state;
} Choices;

/* 0..count - 1 */
static inline unsigned
choose(Choices *choices, unsigned count)
{
	if (choices->data != NULL)
	{
		if (choices->left == 0)
			return 0;
		choices->left--;
		return *choices->data++ % count;
	}
	choices->state = choices->state * 6364136223846793005u +
		1442695040888963407u;
	return (unsigned) (choices->state >> 33) % count;
}

#define CASE_DOMAIN		12
#define CASE_ROWS		10
#define CASE_COLUMNS	2

/* a type with values next to each other and at its ends */
typedef struct CaseType
{
	LakeType	type;
	int			value_count;
	LakeValue	values[CASE_DOMAIN];
} CaseType;

#define I(n)	{.i = (n)}
#define D(n)	{.d = (n)}
#define DEC(n)	{.decimal = (n)}
#define B(s)	{.bytes = {(const uint8_t *) (s), sizeof(s) - 1}}
#define US		INT64_C(86400000000)

static const CaseType case_types[] = {
	{{.kind = LAKE_BOOLEAN}, 2, {I(0), I(1)}},
	{{.kind = LAKE_INT}, 12, {I(INT32_MIN), I(INT32_MIN + 1), I(-11), I(-10),
	I(-1), I(0), I(1), I(9), I(10), I(11), I(INT32_MAX - 1), I(INT32_MAX)}},
	{{.kind = LAKE_LONG}, 12, {I(INT64_MIN), I(INT64_MIN + 1), I(-11), I(-10),
		I(-1), I(0), I(1), I(9), I(10), I(100000), I(INT64_MAX - 1),
	I(INT64_MAX)}},
	{{.kind = LAKE_FLOAT}, 9, {D(-INFINITY), D(-1.5), D(-0.0), D(0.0),
	D(0.25), D(1.5), D(INFINITY), D(NAN), D(-NAN)}},
	{{.kind = LAKE_DOUBLE}, 9, {D(-INFINITY), D(-1.5), D(-0.0), D(0.0),
	D(1e-300), D(1.5), D(INFINITY), D(NAN), D(-NAN)}},
	{{.kind = LAKE_DECIMAL, .precision = 9, .scale = 2}, 9, {DEC(-999999999),
		DEC(-11), DEC(-10), DEC(-1), DEC(0), DEC(1), DEC(10), DEC(1065),
	DEC(999999999)}},
	{{.kind = LAKE_DECIMAL, .precision = 38, .scale = 3}, 9,
	{DEC((LakeInt128) -1000000000000000000 * 1000000000), DEC(-11), DEC(-10),
		DEC(-1), DEC(0), DEC(1), DEC(10), DEC(INT64_MAX),
	DEC((LakeInt128) 1000000000000000000 * 1000000000)}},
	{{.kind = LAKE_DATE}, 10, {I(INT32_MIN), I(-366), I(-365), I(-1), I(0),
	I(1), I(31), I(365), I(17486), I(INT32_MAX)}},
	{{.kind = LAKE_TIME}, 4, {I(0), I(1), I(3600000000), I(86399999999)}},
	{{.kind = LAKE_TIMESTAMP}, 12, {I(INT64_MIN), I(-US - 1), I(-US),
		I(-3600000001), I(-3600000000), I(-1), I(0), I(1), I(3600000000), I(US),
	I(1510871468000000), I(INT64_MAX)}},
	{{.kind = LAKE_TIMESTAMPTZ_NS}, 10, {I(INT64_MIN), I(-US * 1000), I(-1001),
		I(-1), I(0), I(1), I(999), I(US * 1000), I(1510871468000001001),
	I(INT64_MAX)}},
	{{.kind = LAKE_STRING}, 12, {B(""), B("a"), B("ab"), B("abc"), B("abd"),
		B("a%"), B("b"), B("\xc3\xa9"), B("\xe6\x97\xa5\xe6\x9c\xac"),
	B("ab\xf0\x9f\xa7\x8a"), B("abab"), B("\x7f")}},
	{{.kind = LAKE_UUID}, 3, {B("0123456789abcdef"), B("0123456789abcdeg"),
	B("\xff" "123456789abcdef")}},
	{{.kind = LAKE_FIXED, .length = 2}, 4, {B("\0\0"), B("\0\1"), B("\x7f\xff"),
	B("\xff\0")}},
	{{.kind = LAKE_BINARY}, 7, {B(""), B("\0"), B("\0\0"), B("\1"),
	B("\x7f\xff\x01"), B("\x80"), B("\xff\xff\xff")}},
};

#undef I
#undef D
#undef DEC
#undef B
#undef US

static const char *const case_patterns[] = {
	"", "%", "%%", "a%", "ab%", "abc%", "%b", "%b%", "a_", "_", "__", "_%",
	"%_", "a\\%", "a\\%%", "%a%b%", "a%b", "%ab%ab%", "\xe6\x97\xa5%",
	"_\xe6\x9c\xac", "%\xf0\x9f\xa7\x8a", "%a_%", "a%_b", "\\a\\b%", "abd"
};

typedef struct Case
{
	LakeArena  *arena;
	Choices    *choices;
	const CaseType *types[CASE_COLUMNS];
	LakeField	fields[CASE_COLUMNS];	/* ids 1, 2 */
	int			row_count;
	LakeValue	rows[CASE_ROWS][CASE_COLUMNS];
} Case;

static inline LakeValue
case_value(Case *test, int column)
{
	const CaseType *type = test->types[column];

	return type->values[choose(test->choices, (unsigned) type->value_count)];
}

static inline void
case_init(Case *test, LakeArena *arena, Choices *choices)
{
	memset(test, 0, sizeof *test);
	test->arena = arena;
	test->choices = choices;
	for (int i = 0; i < CASE_COLUMNS; i++)
	{
		test->types[i] = &case_types[choose(choices, sizeof case_types /
											sizeof case_types[0])];
		test->fields[i].id = i + 1;
		test->fields[i].name = i == 0 ? "a" : "b";
		test->fields[i].type = (LakeType *) &test->types[i]->type;
	}
	test->row_count = (int) choose(choices, CASE_ROWS) + 1;
	for (int row = 0; row < test->row_count; row++)
	{
		for (int i = 0; i < CASE_COLUMNS; i++)
		{
			if (choose(choices, 4) == 0)
				test->rows[row][i].is_null = true;
			else
				test->rows[row][i] = case_value(test, i);
		}
	}
}

static inline Predicate *
case_leaf(Case *test)
{
	int			column = (int) choose(test->choices, CASE_COLUMNS);
	bool		is_text = test->types[column]->type.kind == LAKE_STRING;
	PredicateOp op = PREDICATE_IS_NULL +
		choose(test->choices, is_text ? 12 : 10);
	LakeValue	values[6];
	int			count = 0;

	if (op >= PREDICATE_EQ && op <= PREDICATE_GE)
		values[count++] = case_value(test, column);
	else if (op == PREDICATE_IN || op == PREDICATE_NOT_IN)
	{
		for (unsigned i = choose(test->choices, 6); i > 0; i--)
			values[count++] = case_value(test, column);
	}
	else if (op >= PREDICATE_LIKE)
	{
		const char *pattern =
			case_patterns[choose(test->choices, sizeof case_patterns /
							 sizeof case_patterns[0])];

		memset(values, 0, sizeof values);
		values[count++].bytes = (LakeBytes)
		{
			(const uint8_t *) pattern, strlen(pattern)
		};
	}
	return predicate_leaf(test->arena, op, &test->fields[column], values,
						  count);
}

static inline Predicate *
case_predicate(Case *test, int depth)
{
	unsigned	kind = choose(test->choices, depth == 0 ? 4 : 9);
	PredicateOp op;
	Predicate **children;
	int			count;

	if (kind < 4)
		return case_leaf(test);
	if (kind == 8)
		return predicate_constant(test->arena, choose(test->choices, 2) == 0);
	op = kind < 6 ? PREDICATE_AND : kind < 7 ? PREDICATE_OR : PREDICATE_NOT;
	count = op == PREDICATE_NOT ? 1 : (int) choose(test->choices, 4);
	children = lake_alloc_array(test->arena, (size_t) count + 1,
								sizeof *children);
	for (int i = 0; i < count; i++)
		children[i] = case_predicate(test, depth - 1);
	return predicate_combine(test->arena, op, children, count);
}

/*
 * SQL's LIKE without a compiled pattern: on a mismatch the last % takes one more
 * character.
 */
static inline bool
plain_like(LakeBytes text, LakeBytes pattern)
{
	size_t		t = 0;
	size_t		p = 0;
	size_t		retry_t = 0;
	size_t		retry_p = SIZE_MAX; /* after the last %, if there was one */

	while (t < text.len || p < pattern.len)
	{
		uint8_t		c = p < pattern.len ? pattern.data[p] : 0;
		bool		is_literal = p < pattern.len && c != '%' && c != '_';

		if (c == '\\' && is_literal && p + 1 < pattern.len)
			c = pattern.data[p + 1];
		if (p < pattern.len && !is_literal && c == '%')
		{
			retry_p = ++p;
			retry_t = t;
		}
		else if (p < pattern.len && !is_literal && t < text.len)
		{
			p++;
			t++;
			while (t < text.len && (text.data[t] & 0xc0) == 0x80)
				t++;
		}
		else if (is_literal && t < text.len && text.data[t] == c)
		{
			p += pattern.data[p] == '\\' && p + 1 < pattern.len ? 2 : 1;
			t++;
		}
		else
		{
			if (retry_p == SIZE_MAX || retry_t == text.len)
				return false;
			/* a character at a time: _ starts at one */
			retry_t++;
			while (retry_t < text.len && (text.data[retry_t] & 0xc0) == 0x80)
				retry_t++;
			t = retry_t;
			p = retry_p;
		}
	}
	return true;
}

/* 1 true, 0 false, -1 unknown */
static inline int
case_leaf_truth(const Predicate *leaf, const LakeValue *value)
{
	bool		is_negated = leaf->op == PREDICATE_NOT_IN ||
		leaf->op == PREDICATE_NOT_LIKE;
	bool		found = false;
	int			order;

	if (leaf->op == PREDICATE_IS_NULL || leaf->op == PREDICATE_NOT_NULL)
		return value->is_null == (leaf->op == PREDICATE_IS_NULL);
	if (leaf->op == PREDICATE_IN || leaf->op == PREDICATE_NOT_IN)
	{
		/* a list without values has its answer for NULL too */
		if (value->is_null && leaf->value_count > 0)
			return -1;
		for (int i = 0; i < leaf->value_count; i++)
			found |= lake_value_compare(leaf->type, value,
										&leaf->values[i]) == 0;
		return found != is_negated;
	}
	if (value->is_null)
		return -1;
	if (leaf->op == PREDICATE_LIKE || leaf->op == PREDICATE_NOT_LIKE)
		return plain_like(value->bytes, leaf->values[0].bytes) != is_negated;
	order = lake_value_compare(leaf->type, value, &leaf->values[0]);
	switch (leaf->op)
	{
		case PREDICATE_EQ:
			return order == 0;
		case PREDICATE_NE:
			return order != 0;
		case PREDICATE_LT:
			return order < 0;
		case PREDICATE_LE:
			return order <= 0;
		case PREDICATE_GT:
			return order > 0;
		default:
			return order >= 0;
	}
}

/* row: the values of fields first_id, first_id + 1, ... */
static inline int
case_truth(const Predicate *predicate, int32_t first_id, const LakeValue *row)
{
	bool		is_and = predicate->op == PREDICATE_AND;
	bool		has_unknown = false;
	int			truth;

	switch (predicate->op)
	{
		case PREDICATE_TRUE:
			return 1;
		case PREDICATE_FALSE:
			return 0;
		case PREDICATE_NOT:
			truth = case_truth(predicate->children[0], first_id, row);
			return truth < 0 ? truth : !truth;
		case PREDICATE_AND:
		case PREDICATE_OR:
			for (int i = 0; i < predicate->child_count; i++)
			{
				truth = case_truth(predicate->children[i], first_id, row);
				if (truth == !is_and)
					return truth;
				has_unknown |= truth < 0;
			}
			return has_unknown ? -1 : is_and;
		default:
			return case_leaf_truth(predicate,
								   &row[predicate->field_id - first_id]);
	}
}

/* bounds of some values, exact and complete */
static inline LakeBounds
case_bounds(const LakeType *type, const LakeValue *values, int count,
			int stride)
{
	bool		is_float = type->kind == LAKE_FLOAT ||
		type->kind == LAKE_DOUBLE;
	LakeBounds	bounds;

	memset(&bounds, 0, sizeof bounds);
	for (int i = 0; i < count; i++)
	{
		const LakeValue *value = &values[i * stride];

		bounds.value_count++;
		if (value->is_null)
			bounds.null_count++;
		else if (is_float && isnan(value->d))
			bounds.nan_count++;
		else
		{
			if (!bounds.has_lower ||
				lake_value_compare(type, value, &bounds.lower) < 0)
				bounds.lower = *value;
			if (!bounds.has_upper ||
				lake_value_compare(type, value, &bounds.upper) > 0)
				bounds.upper = *value;
			bounds.has_lower = bounds.has_upper = true;
		}
	}
	return bounds;
}

/* forgets and widens as writers do */
static inline void
case_weaken(Case *test, int column, LakeBounds *bounds)
{
	const LakeType *type = &test->types[column]->type;
	LakeValue	other = case_value(test, column);
	bool		is_nan = (type->kind == LAKE_FLOAT ||
						  type->kind == LAKE_DOUBLE) && isnan(other.d);

	if (choose(test->choices, 4) == 0)
		bounds->value_count = -1;
	if (choose(test->choices, 4) == 0)
		bounds->null_count = -1;
	if (choose(test->choices, 4) == 0)
		bounds->nan_count = -1;
	if (choose(test->choices, 4) == 0)
		bounds->has_lower = false;
	if (choose(test->choices, 4) == 0)
		bounds->has_upper = false;
	/* Iceberg orders -0.0 below 0.0, and old writers put NaN into bounds */
	if (choose(test->choices, 4) == 0 && bounds->has_lower &&
		(is_nan || lake_value_compare(type, &other, &bounds->lower) < 0))
		bounds->lower = other;
	if (choose(test->choices, 4) == 0 && bounds->has_upper &&
		(is_nan || lake_value_compare(type, &other, &bounds->upper) > 0))
		bounds->upper = other;
	if (type->kind == LAKE_STRING && bounds->has_lower &&
		choose(test->choices, 2) == 0 && bounds->lower.bytes.len > 1)
		bounds->lower.bytes.len = 1;
}

static inline void
case_store(const LakeType *type, const LakeValue *value, void *slots,
		   uint32_t at)
{
	switch (lake_type_layout(type))
	{
		case VECTOR_BOOL:
			((uint8_t *) slots)[at] = value->i != 0;
			break;
		case VECTOR_I32:
			((int32_t *) slots)[at] = (int32_t) value->i;
			break;
		case VECTOR_I64:
			((int64_t *) slots)[at] = type->kind == LAKE_DECIMAL ?
				(int64_t) value->decimal : value->i;
			break;
		case VECTOR_I128:
			((LakeInt128 *) slots)[at] = value->decimal;
			break;
		case VECTOR_F32:
			((float *) slots)[at] = (float) value->d;
			break;
		case VECTOR_F64:
			((double *) slots)[at] = value->d;
			break;
		default:
			((LakeBytes *) slots)[at] = value->bytes;
			break;
	}
}

static inline LakeVector *
case_plain_vector(Case *test, int column)
{
	const LakeType *type = &test->types[column]->type;
	LakeVector *vector = lake_alloc(test->arena, sizeof *vector);
	uint8_t    *nulls = lake_alloc(test->arena, CASE_ROWS);
	void	   *slots = lake_alloc(test->arena, 16 * CASE_ROWS);

	vector->layout = lake_type_layout(type);
	vector->count = (uint32_t) test->row_count;
	vector->values = slots;
	for (int row = 0; row < test->row_count; row++)
	{
		const LakeValue *value = &test->rows[row][column];

		if (value->is_null)
		{
			nulls[row] = 1;
			vector->nulls = nulls;
		}
		else
			case_store(type, value, slots, (uint32_t) row);
	}
	return vector;
}

/* the whole domain as dictionary, followed by many entries nobody uses */
static inline LakeVector *
case_dictionary_vector(Case *test, int column, uint32_t extra)
{
	static uint64_t last_id;
	const CaseType *type = test->types[column];
	LakeVector *vector = case_plain_vector(test, column);
	LakeDictionary *dict = lake_alloc(test->arena, sizeof *dict);
	uint32_t   *codes = lake_alloc_array(test->arena, CASE_ROWS, 4);
	void	   *slots;

	dict->id = ++last_id;
	dict->layout = vector->layout;
	dict->count = (uint32_t) type->value_count + extra;
	dict->values = slots = lake_alloc(test->arena, 16 * dict->count);
	for (uint32_t i = 0; i < dict->count; i++)
		case_store(&type->type,
				   &type->values[i % (uint32_t) type->value_count], slots, i);
	for (int row = 0; row < test->row_count; row++)
	{
		for (int i = 0; i < type->value_count; i++)
		{
			const LakeValue *value = &test->rows[row][column];

			if (!value->is_null &&
				lake_value_compare(&type->type, value, &type->values[i]) == 0)
				codes[row] = (uint32_t) i;
		}
	}
	vector->dict = dict;
	vector->codes = codes;
	vector->values = NULL;
	return vector;
}

#endif							/* LAKE_PREDICATE_CASES_H */
