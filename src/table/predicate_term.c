/*
 * Comparisons of one column with literals, as loops over a selection.
 *
 * Each loop stores every row number and moves on by the outcome, so that
 * nothing in it depends on a branch.  > and >= are written as the negation of
 * <= and <: for floats that makes NaN greater than every literal.
 */
#include <math.h>
#include <string.h>

#include "table/predicate_int.h"
#include "table/table_int.h"

/* lists of integers whose values span less have a bit for each of them */
#define MAX_SPAN	65536

#define FILTER(name, ctype, setup, pass) \
static uint32_t \
name(const PredicateTerm *term, const void *values, uint32_t *selection, \
	 uint32_t count) \
{ \
	const ctype *slots = values; \
	uint32_t	kept = 0; \
	setup; \
	for (uint32_t i = 0; i < count; i++) \
	{ \
		uint32_t	row = selection[i]; \
		ctype		value = slots[row]; \
		selection[kept] = row; \
		kept += (pass); \
	} \
	return kept; \
}

#define ORDER_FILTERS(suffix, ctype, wide, member) \
FILTER(eq_##suffix, ctype, wide literal = term->member, \
	   (wide) value == literal) \
FILTER(ne_##suffix, ctype, wide literal = term->member, \
	   (wide) value != literal) \
FILTER(lt_##suffix, ctype, wide literal = term->member, \
	   (wide) value < literal) \
FILTER(le_##suffix, ctype, wide literal = term->member, \
	   (wide) value <= literal) \
FILTER(gt_##suffix, ctype, wide literal = term->member, \
	   !((wide) value <= literal)) \
FILTER(ge_##suffix, ctype, wide literal = term->member, \
	   !((wide) value < literal))

ORDER_FILTERS(bool, uint8_t, int64_t, i)
ORDER_FILTERS(i32, int32_t, int64_t, i)
ORDER_FILTERS(i64, int64_t, int64_t, i)
ORDER_FILTERS(i128, LakeInt128, LakeInt128, decimal)
ORDER_FILTERS(f32, float, double, d)
ORDER_FILTERS(f64, double, double, d)

FILTER(is_nan_f32, float, (void) term, isnan(value) != 0)
FILTER(is_nan_f64, double, (void) term, isnan(value) != 0)
FILTER(not_nan_f32, float, (void) term, isnan(value) == 0)
FILTER(not_nan_f64, double, (void) term, isnan(value) == 0)

static bool
bytes_equal(LakeBytes a, LakeBytes b)
{
	return a.len == b.len &&
		(a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

#define BYTES_FILTER(name, pass) \
	FILTER(name, LakeBytes, LakeBytes literal = term->bytes, pass)

BYTES_FILTER(eq_bytes, bytes_equal(value, literal))
BYTES_FILTER(ne_bytes, !bytes_equal(value, literal))
BYTES_FILTER(lt_bytes, value_compare_bytes(value, literal) < 0)
BYTES_FILTER(le_bytes, value_compare_bytes(value, literal) <= 0)
BYTES_FILTER(gt_bytes, value_compare_bytes(value, literal) > 0)
BYTES_FILTER(ge_bytes, value_compare_bytes(value, literal) >= 0)

/* is value in the sorted list?  at_most(a, b): a <= b */
#define LIST_SEARCH(name, wide, at_most, equal) \
static bool \
name(const PredicateTerm *term, wide value) \
{ \
	const wide *list = term->list; \
	uint32_t	first = 0; \
	for (uint32_t left = term->count; left > 1;) \
	{ \
		uint32_t	half = left / 2; \
		first += at_most(list[first + half], value) ? half : 0; \
		left -= half; \
	} \
	return equal(list[first], value); \
}

#define NUMBER_AT_MOST(a, b)	((a) <= (b))
#define NUMBER_EQUAL(a, b)		((a) == (b))
#define BYTES_AT_MOST(a, b)		(value_compare_bytes(a, b) <= 0)

LIST_SEARCH(in_integers, int64_t, NUMBER_AT_MOST, NUMBER_EQUAL)
LIST_SEARCH(in_decimals, LakeInt128, NUMBER_AT_MOST, NUMBER_EQUAL)
LIST_SEARCH(in_numbers, double, NUMBER_AT_MOST, NUMBER_EQUAL)
LIST_SEARCH(in_bytes, LakeBytes, BYTES_AT_MOST, bytes_equal)

static bool
in_doubles(const PredicateTerm *term, double value)
{
	return isnan(value) ? term->has_nan : in_numbers(term, value);
}

static bool
in_bits(const PredicateTerm *term, int64_t value)
{
	uint64_t	offset = (uint64_t) value - (uint64_t) term->i;

	return offset <= term->span &&
		(term->bits[offset / 64] >> (offset % 64) & 1) != 0;
}

#define LIST_FILTER(name, ctype, search) \
	FILTER(name, ctype, bool is_negated = term->is_negated, \
		   search(term, value) != is_negated)

LIST_FILTER(in_bool, uint8_t, in_bits)
LIST_FILTER(in_i32, int32_t, in_integers)
LIST_FILTER(in_i64, int64_t, in_integers)
LIST_FILTER(in_i32_bits, int32_t, in_bits)
LIST_FILTER(in_i64_bits, int64_t, in_bits)
LIST_FILTER(in_i128, LakeInt128, in_decimals)
LIST_FILTER(in_f32, float, in_doubles)
LIST_FILTER(in_f64, double, in_doubles)
LIST_FILTER(in_texts, LakeBytes, in_bytes)

static uint32_t
like_bytes(const PredicateTerm *term, const void *values, uint32_t *selection,
		   uint32_t count)
{
	const LakeBytes *slots = values;
	uint32_t	kept = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = selection[i];

		/* texts may be long */
		lake_check_interrupts();
		selection[kept] = row;
		kept += like_matches(term->like, slots[row]) != term->is_negated;
	}
	return kept;
}

static uint32_t
keep_all(const PredicateTerm *term, const void *values, uint32_t *selection,
		 uint32_t count)
{
	(void) term;
	(void) values;
	(void) selection;
	return count;
}

static uint32_t
keep_none(const PredicateTerm *term, const void *values, uint32_t *selection,
		  uint32_t count)
{
	(void) term;
	(void) values;
	(void) selection;
	(void) count;
	return 0;
}

#define ORDER_COUNT		(PREDICATE_GE - PREDICATE_EQ + 1)
#define ORDER_ROW(suffix) { \
	[PREDICATE_EQ - PREDICATE_EQ] = eq_##suffix, \
	[PREDICATE_NE - PREDICATE_EQ] = ne_##suffix, \
	[PREDICATE_LT - PREDICATE_EQ] = lt_##suffix, \
	[PREDICATE_LE - PREDICATE_EQ] = le_##suffix, \
	[PREDICATE_GT - PREDICATE_EQ] = gt_##suffix, \
	[PREDICATE_GE - PREDICATE_EQ] = ge_##suffix, \
}

/* by layout */
static const struct
{
	TermFilter	order[ORDER_COUNT];
	TermFilter	in;
	TermFilter	in_bits;
	TermFilter	is_nan;
	TermFilter	not_nan;
}			filters[] = {
	[VECTOR_BOOL] = {ORDER_ROW(bool), in_bool, in_bool, NULL, NULL},
	[VECTOR_I32] = {ORDER_ROW(i32), in_i32, in_i32_bits, NULL, NULL},
	[VECTOR_I64] = {ORDER_ROW(i64), in_i64, in_i64_bits, NULL, NULL},
	[VECTOR_I128] = {ORDER_ROW(i128), in_i128, NULL, NULL, NULL},
	[VECTOR_F32] = {ORDER_ROW(f32), in_f32, NULL, is_nan_f32, not_nan_f32},
	[VECTOR_F64] = {ORDER_ROW(f64), in_f64, NULL, is_nan_f64, not_nan_f64},
	[VECTOR_BYTES] = {ORDER_ROW(bytes), in_texts, NULL, NULL, NULL},
};

/* a literal as an integer: decimals of up to 18 digits are kept as such */
static int64_t
integer_literal(const Predicate *leaf, int index)
{
	LakeInt128	decimal;

	if (leaf->type->kind != LAKE_DECIMAL)
		return leaf->values[index].i;
	decimal = leaf->values[index].decimal;
	if (decimal != (int64_t) decimal)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a decimal literal does not fit its column's type");
	return (int64_t) decimal;
}

static void
init_integer_list(PredicateTerm *term, LakeArena *arena, const Predicate *leaf,
				  VectorLayout layout)
{
	int64_t    *list = lake_alloc_array(arena, term->count, sizeof *list);
	uint64_t   *bits;

	for (uint32_t i = 0; i < term->count; i++)
		list[i] = integer_literal(leaf, (int) i);
	term->list = list;
	term->i = list[0];
	term->span = (uint64_t) list[term->count - 1] - (uint64_t) list[0];
	if (term->span >= MAX_SPAN)
		return;
	bits = lake_alloc_array(arena, (size_t) term->span / 64 + 1,
							sizeof(uint64_t));
	for (uint32_t i = 0; i < term->count; i++)
	{
		uint64_t	offset = (uint64_t) list[i] - (uint64_t) list[0];

		bits[offset / 64] |= (uint64_t) 1 << (offset % 64);
	}
	term->bits = bits;
	term->filter = filters[layout].in_bits;
}

static void
init_list(PredicateTerm *term, LakeArena *arena, const Predicate *leaf,
		  VectorLayout layout)
{
	LakeInt128 *decimals;
	double	   *numbers;
	LakeBytes  *texts;

	term->count = (uint32_t) leaf->value_count;
	term->filter = filters[layout].in;
	switch (layout)
	{
		case VECTOR_I128:
			decimals = lake_alloc_array(arena, term->count, sizeof *decimals);
			for (uint32_t i = 0; i < term->count; i++)
				decimals[i] = leaf->values[i].decimal;
			term->list = decimals;
			break;
		case VECTOR_F32:
		case VECTOR_F64:
			/* NaN sorts last; a list has another value besides */
			numbers = lake_alloc_array(arena, term->count, sizeof *numbers);
			for (uint32_t i = 0; i < term->count; i++)
				numbers[i] = leaf->values[i].d;
			term->has_nan = isnan(numbers[term->count - 1]) != 0;
			term->count -= term->has_nan;
			term->list = numbers;
			break;
		case VECTOR_BYTES:
			texts = lake_alloc_array(arena, term->count, sizeof *texts);
			for (uint32_t i = 0; i < term->count; i++)
				texts[i] = leaf->values[i].bytes;
			term->list = texts;
			break;
		default:
			init_integer_list(term, arena, leaf, layout);
			break;
	}
}

/* the literal NaN is equal to NaN and above the rest */
static TermFilter
nan_filter(PredicateOp op, VectorLayout layout)
{
	switch (op)
	{
		case PREDICATE_EQ:
		case PREDICATE_GE:
			return filters[layout].is_nan;
		case PREDICATE_NE:
		case PREDICATE_LT:
			return filters[layout].not_nan;
		case PREDICATE_LE:
			return keep_all;
		default:
			return keep_none;
	}
}

static void
init_comparison(PredicateTerm *term, const Predicate *leaf,
				VectorLayout layout)
{
	term->filter = filters[layout].order[leaf->op - PREDICATE_EQ];
	switch (layout)
	{
		case VECTOR_I128:
			term->decimal = leaf->values[0].decimal;
			break;
		case VECTOR_F32:
		case VECTOR_F64:
			term->d = leaf->values[0].d;
			if (isnan(term->d))
				term->filter = nan_filter(leaf->op, layout);
			break;
		case VECTOR_BYTES:
			term->bytes = leaf->values[0].bytes;
			break;
		default:
			term->i = integer_literal(leaf, 0);
			break;
	}
}

void
predicate_term_init(PredicateTerm *term, LakeArena *arena,
					const Predicate *leaf, VectorLayout layout)
{
	memset(term, 0, sizeof *term);
	if (leaf->op >= PREDICATE_LIKE && leaf->like == NULL)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a predicate that is not normalised was evaluated");
	if (value_form(leaf->type) == VALUE_NONE || leaf->value_count < 1)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a predicate compares values that have no order");
	switch (leaf->op)
	{
		case PREDICATE_NOT_IN:
			term->is_negated = true;
			init_list(term, arena, leaf, layout);
			break;
		case PREDICATE_IN:
			init_list(term, arena, leaf, layout);
			break;
		case PREDICATE_NOT_LIKE:
			term->is_negated = true;
			/* fall through */
		case PREDICATE_LIKE:
			term->filter = like_bytes;
			term->like = leaf->like;
			break;
		default:
			init_comparison(term, leaf, layout);
			break;
	}
}
