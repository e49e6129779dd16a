/*
 * Quals to predicates: what the scan may decide instead of PostgreSQL.
 *
 * A qual is pushed whole or not at all, and only where the predicate gives the
 * same answer for every value that the column can hold.  NOT goes down to the
 * leaves while building, so that a NULL value in any leaf means "this row is
 * not kept" under either sign, and the result has no NOT in it.
 */
#include "fdw/fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"

#include "server/compat.h"

/*
 * PostgreSQL types that show every value of a lake type as itself, so that a
 * comparison of theirs is a comparison of the lake's values.  Casts between
 * two rows of one kind lose nothing.
 */
static const struct
{
	LakeTypeKind kind;
	Oid			type_oid;
}			exact_types[] = {
	{LAKE_BOOLEAN, BOOLOID},
	{LAKE_INT, INT4OID},
	{LAKE_INT, INT8OID},
	{LAKE_INT, NUMERICOID},
	{LAKE_INT, FLOAT8OID},
	{LAKE_LONG, INT8OID},
	{LAKE_LONG, NUMERICOID},
	{LAKE_FLOAT, FLOAT4OID},
	{LAKE_FLOAT, FLOAT8OID},
	{LAKE_DOUBLE, FLOAT8OID},
	{LAKE_DECIMAL, NUMERICOID},
	{LAKE_DATE, DATEOID},
	{LAKE_TIME, TIMEOID},
	{LAKE_TIMESTAMP, TIMESTAMPOID},
	{LAKE_TIMESTAMPTZ, TIMESTAMPTZOID},
	{LAKE_STRING, TEXTOID},
	{LAKE_STRING, VARCHAROID},
	{LAKE_UUID, UUIDOID},
	{LAKE_FIXED, BYTEAOID},
	{LAKE_BINARY, BYTEAOID},
};

/* how a literal stands to the values of the field's type, by ValueFit */
#define FIT_COUNT 4

/*
 * A comparison with a literal that is no value of the field's type (too small,
 * too large, between two neighbours) still has one answer for all values, or
 * the answer of a comparison with the lower neighbour.
 */
static const PredicateOp fit_ops[][FIT_COUNT] = {
	/* VALUE_EXACT, VALUE_BELOW, VALUE_ABOVE, VALUE_BETWEEN */
	{PREDICATE_EQ, PREDICATE_FALSE, PREDICATE_FALSE, PREDICATE_FALSE},
	{PREDICATE_NE, PREDICATE_NOT_NULL, PREDICATE_NOT_NULL, PREDICATE_NOT_NULL},
	{PREDICATE_LT, PREDICATE_FALSE, PREDICATE_NOT_NULL, PREDICATE_LE},
	{PREDICATE_LE, PREDICATE_FALSE, PREDICATE_NOT_NULL, PREDICATE_LE},
	{PREDICATE_GT, PREDICATE_NOT_NULL, PREDICATE_FALSE, PREDICATE_GT},
	{PREDICATE_GE, PREDICATE_NOT_NULL, PREDICATE_FALSE, PREDICATE_GT},
};

StaticAssertDecl(PREDICATE_GE - PREDICATE_EQ + 1 == lengthof(fit_ops),
				 "fit_ops has one row a comparison");
StaticAssertDecl(VALUE_BETWEEN + 1 == FIT_COUNT,
				 "fit_ops has one column a fit");

/* a column of the relation as an operand */
typedef struct Operand
{
	const LakeField *field;
	Oid			type_oid;		/* after lossless casts */
} Operand;

static bool
is_exact_type(LakeTypeKind kind, Oid type_oid)
{
	for (int i = 0; i < lengthof(exact_types); i++)
	{
		if (exact_types[i].kind == kind && exact_types[i].type_oid == type_oid)
			return true;
	}
	return false;
}

/*
 * Does the type modifier leave every value of the field as it is?  A narrower
 * one makes PostgreSQL raise an error for some rows, which a pushed qual would
 * hide.
 */
static bool
is_exact_typmod(const LakeType *type, Oid type_oid, int32 typmod)
{
	int			precision;
	int			scale;

	if (typmod < 0)
		return true;
	switch (type_oid)
	{
		case NUMERICOID:
			if (type->kind != LAKE_DECIMAL)
				return false;
			precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
			/* an 11-bit signed number (numeric.c) */
			scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
			return scale >= type->scale &&
				precision - scale >= type->precision - type->scale;
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return typmod >= MAX_TIMESTAMP_PRECISION;
		default:
			return false;
	}
}

/*
 * Text is compared as UTF-8 bytes, which says nothing about another encoding's
 * order, nor about values that it cannot express.
 */
static bool
is_exact_encoding(LakeTypeKind kind)
{
	return kind != LAKE_STRING || GetDatabaseEncoding() == PG_UTF8;
}

static bool
match_var(const PushScope *scope, const Var *var, Operand *operand)
{
	const LakeColumn *column;
	const LakeField *field;

	if (var->varno != scope->varno || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->varattno > scope->relation->column_count)
		return false;
	column = &scope->relation->columns[var->varattno - 1];
	field = column->field;
	if (field == NULL || !is_exact_encoding(field->type->kind) ||
		!is_exact_type(field->type->kind, column->type_oid) ||
		!is_exact_typmod(field->type, column->type_oid, column->typmod))
		return false;
	operand->field = field;
	operand->type_oid = column->type_oid;
	return true;
}

/*
 * A column, or one under casts that keep every value.  Only the casts
 * themselves count, not any function of the same shape: pg_cast is asked.
 */
static bool
match_operand(const PushScope *scope, Node *node, Operand *operand)
{
	Node	   *arg;
	Oid			result_type = exprType(node);
	Oid			cast_function;

	if (IsA(node, Var))
		return match_var(scope, (Var *) node, operand);
	if (IsA(node, RelabelType))
		arg = (Node *) ((RelabelType *) node)->arg;
	else if (IsA(node, FuncExpr) &&
			 list_length(((FuncExpr *) node)->args) == 1)
		arg = linitial(((FuncExpr *) node)->args);
	else
		return false;
	/* at most two deep: varchar to text, or one numeric widening */
	if (!IsA(arg, Var) || !match_var(scope, (Var *) arg, operand) ||
		!is_exact_type(operand->field->type->kind, result_type))
		return false;
	if (IsA(node, FuncExpr) &&
		(find_coercion_pathway(result_type, operand->type_oid,
							   COERCION_EXPLICIT,
							   &cast_function) != COERCION_PATH_FUNC ||
		 cast_function != ((FuncExpr *) node)->funcid))
		return false;
	operand->type_oid = result_type;
	return true;
}

/* does the expression depend on the row? */
static bool
contains_column(Node *node, void *arg)
{
	const PushScope *scope = arg;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == scope->varno &&
			((Var *) node)->varlevelsup == 0;
	if (IsA(node, PlaceHolderVar) &&
		bms_is_member(scope->varno, ((PlaceHolderVar *) node)->phrels))
		return true;
	return expression_tree_walker(node, contains_column, arg);
}

/*
 * Can the expression be evaluated once, before the first row?  Columns of other
 * relations are parameters by then (see lookup.c).
 */
static bool
is_literal(const PushScope *scope, Node *node)
{
	return !contains_column(node, (void *) scope) &&
		!contain_volatile_functions(node) && !contain_subplans(node);
}

bool
pushdown_constant(void *arg, Expr *expr, Datum *value, bool *is_null)
{
	if (!IsA(expr, Const))
		return false;
	*value = ((Const *) expr)->constvalue;
	*is_null = ((Const *) expr)->constisnull;
	return true;
}

static bool
literal_value(const PushScope *scope, Expr *expr, Datum *value, bool *is_null)
{
	return pushdown_constant(NULL, expr, value, is_null) ||
		scope->value(scope->value_arg, expr, value, is_null);
}

static PushResult
push_leaf(const PushScope *scope, PredicateOp op, const LakeField *field,
		  const LakeValue *values, int count, Predicate **result)
{
	if (op == PREDICATE_FALSE || op == PREDICATE_TRUE)
		*result = predicate_constant(scope->arena, op == PREDICATE_TRUE);
	else
		*result = predicate_leaf(scope->arena, op, field, values, count);
	return PUSH_DONE;
}

/* the family of the type's default B-tree operator class */
static Oid
btree_family(Oid type_oid)
{
	return lookup_type_cache(type_oid, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/*
 * The comparison that an operator of the left type's default B-tree family
 * makes, PREDICATE_FALSE if it makes none.
 */
static PredicateOp
comparison_op(Oid opno, Oid type_oid)
{
	static const PredicateOp by_strategy[] = {
		[BTLessStrategyNumber] = PREDICATE_LT,
		[BTLessEqualStrategyNumber] = PREDICATE_LE,
		[BTEqualStrategyNumber] = PREDICATE_EQ,
		[BTGreaterEqualStrategyNumber] = PREDICATE_GE,
		[BTGreaterStrategyNumber] = PREDICATE_GT,
	};
	Oid			family = btree_family(type_oid);
	int			strategy;

	/* user-defined members of a family promise nothing about values */
	if (!OidIsValid(family) || opno >= FirstNormalObjectId ||
		op_volatile(opno) != PROVOLATILE_IMMUTABLE)
		return PREDICATE_FALSE;
	strategy = get_op_opfamily_strategy(opno, family);
	if (strategy > 0 && strategy < lengthof(by_strategy))
		return by_strategy[strategy];
	opno = get_negator(opno);
	if (OidIsValid(opno) &&
		get_op_opfamily_strategy(opno, family) == BTEqualStrategyNumber)
		return PREDICATE_NE;
	return PREDICATE_FALSE;
}

/* "5 < a" is "a > 5" */
static PredicateOp
commuted_op(PredicateOp op)
{
	switch (op)
	{
		case PREDICATE_LT:
			return PREDICATE_GT;
		case PREDICATE_LE:
			return PREDICATE_GE;
		case PREDICATE_GT:
			return PREDICATE_LT;
		case PREDICATE_GE:
			return PREDICATE_LE;
		default:
			return op;
	}
}

/* of a leaf; which is false for NULL under both signs */
static PredicateOp
negated_op(PredicateOp op)
{
	static const PredicateOp pairs[][2] = {
		{PREDICATE_IS_NULL, PREDICATE_NOT_NULL},
		{PREDICATE_EQ, PREDICATE_NE},
		{PREDICATE_LT, PREDICATE_GE},
		{PREDICATE_LE, PREDICATE_GT},
		{PREDICATE_IN, PREDICATE_NOT_IN},
		{PREDICATE_LIKE, PREDICATE_NOT_LIKE},
	};

	for (int i = 0; i < lengthof(pairs); i++)
	{
		if (pairs[i][0] == op)
			return pairs[i][1];
		if (pairs[i][1] == op)
			return pairs[i][0];
	}
	elog(ERROR, "predicate operator %d has no negation", (int) op);
}

/*
 * Equality of text is equality of bytes under deterministic collations; order,
 * and by decision LIKE, is that of bytes under C-like ones only.
 */
static bool
is_exact_collation(const LakeType *type, PredicateOp op, Oid collation)
{
	if (type->kind != LAKE_STRING)
		return true;
	if (!OidIsValid(collation))
		return false;
	if (op == PREDICATE_EQ || op == PREDICATE_NE)
		return get_collation_isdeterministic(collation);
	return compat_collation_is_c(collation);
}

/* PostgreSQL raises an error for "abc\", but only where it gets that far */
static bool
is_complete_pattern(LakeBytes pattern)
{
	size_t		escapes = 0;

	while (escapes < pattern.len &&
		   pattern.data[pattern.len - 1 - escapes] == '\\')
		escapes++;
	return escapes % 2 == 0;
}

/* column op literal, op being the one wanted (NOT is already in it) */
static PushResult
push_comparison(const PushScope *scope, PredicateOp op, const LakeField *field,
				Expr *literal, Predicate **result)
{
	Oid			type_oid = exprType((Node *) literal);
	Datum		datum;
	bool		is_null;
	LakeValue	value = {0};
	ValueFit	fit;

	if (!value_is_comparable(field->type, type_oid))
		return PUSH_NO;
	if (!literal_value(scope, literal, &datum, &is_null))
		return PUSH_LATER;
	if (is_null)
		return push_leaf(scope, PREDICATE_FALSE, field, NULL, 0, result);
	fit = value_from_datum(scope->arena, field->type, type_oid, datum, &value);
	if (fit == VALUE_UNKNOWN)
		return PUSH_NO;
	if (op == PREDICATE_LIKE || op == PREDICATE_NOT_LIKE)
	{
		if (fit != VALUE_EXACT || !is_complete_pattern(value.bytes))
			return PUSH_NO;
	}
	else
		op = fit_ops[op - PREDICATE_EQ][fit];
	return push_leaf(scope, op, field, &value,
					 op == PREDICATE_FALSE || op == PREDICATE_NOT_NULL ? 0 : 1,
					 result);
}

static PushResult
push_operator(const PushScope *scope, OpExpr *expr, bool negate,
			  Predicate **result)
{
	Node	   *left = linitial(expr->args);
	Node	   *right = lsecond(expr->args);
	Operand		operand;
	bool		commuted = false;
	PredicateOp op;

	if (match_operand(scope, left, &operand) && is_literal(scope, right))
		op = comparison_op(expr->opno, operand.type_oid);
	else if (match_operand(scope, right, &operand) && is_literal(scope, left))
	{
		op = commuted_op(comparison_op(expr->opno, operand.type_oid));
		commuted = true;
	}
	else
		return PUSH_NO;

	if (operand.type_oid == TEXTOID && !commuted)
	{
		if (expr->opno == OID_TEXT_LIKE_OP)
			op = PREDICATE_LIKE;
		else if (get_negator(expr->opno) == OID_TEXT_LIKE_OP)
			op = PREDICATE_NOT_LIKE;
	}
	if (op == PREDICATE_FALSE ||
		!is_exact_collation(operand.field->type, op, expr->inputcollid))
		return PUSH_NO;
	return push_comparison(scope, negate ? negated_op(op) : op, operand.field,
						   (Expr *) (commuted ? left : right), result);
}

/*
 * The elements of an array as values of the field's type.  Elements that no
 * value of the column can equal are left out.  False if one cannot be told.
 * type_oid is the expression's element type: varchar[] relabelled as text[]
 * still says varchar inside.
 */
static bool
array_values(const PushScope *scope, const LakeField *field, Oid type_oid,
			 ArrayType *array, LakeValue **values, int *count, bool *has_null)
{
	int16		type_length;
	bool		by_value;
	char		alignment;
	Datum	   *datums;
	bool	   *nulls;
	int			datum_count;

	get_typlenbyvalalign(type_oid, &type_length, &by_value, &alignment);
	deconstruct_array(array, type_oid, type_length, by_value, alignment,
					  &datums, &nulls, &datum_count);
	*values = lake_alloc_array(scope->arena, datum_count, sizeof(LakeValue));
	*count = 0;
	*has_null = false;
	for (int i = 0; i < datum_count; i++)
	{
		ValueFit	fit;

		if (nulls[i])
		{
			*has_null = true;
			continue;
		}
		fit = value_from_datum(scope->arena, field->type, type_oid, datums[i],
							   &(*values)[*count]);
		if (fit == VALUE_UNKNOWN)
			return false;
		if (fit == VALUE_EXACT)
			(*count)++;
	}
	pfree(datums);
	pfree(nulls);
	return true;
}

/*
 * column = ANY (array), column <> ALL (array).  With an empty array both have
 * their answer even for a NULL column.
 */
static PushResult
push_array(const PushScope *scope, ScalarArrayOpExpr *expr, bool negate,
		   Predicate **result)
{
	Expr	   *array_expr = lsecond(expr->args);
	Oid			array_type = exprType((Node *) array_expr);
	Oid			element_type = get_element_type(array_type);
	Operand		operand;
	PredicateOp op;
	Datum		datum;
	bool		is_null;
	ArrayType  *array;
	LakeValue  *values;
	int			count;
	bool		has_null;

	if (!match_operand(scope, linitial(expr->args), &operand) ||
		!is_literal(scope, (Node *) array_expr) || !OidIsValid(element_type) ||
		!value_is_comparable(operand.field->type, element_type))
		return PUSH_NO;
	op = comparison_op(expr->opno, operand.type_oid);
	if (op != (expr->useOr ? PREDICATE_EQ : PREDICATE_NE) ||
		!is_exact_collation(operand.field->type, op, expr->inputcollid))
		return PUSH_NO;
	op = (op == PREDICATE_EQ) != negate ? PREDICATE_IN : PREDICATE_NOT_IN;

	if (!literal_value(scope, array_expr, &datum, &is_null))
		return PUSH_LATER;
	if (is_null)
		return push_leaf(scope, PREDICATE_FALSE, NULL, NULL, 0, result);
	array = DatumGetArrayTypeP(datum);
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
		return push_leaf(scope, op == PREDICATE_IN ? PREDICATE_FALSE :
						 PREDICATE_TRUE, NULL, NULL, 0, result);
	if (!array_values(scope, operand.field, element_type, array, &values,
					  &count, &has_null))
		return PUSH_NO;
	if (op == PREDICATE_NOT_IN && has_null)
		op = PREDICATE_FALSE;
	else if (count == 0)
		op = op == PREDICATE_IN ? PREDICATE_FALSE : PREDICATE_NOT_NULL;
	return push_leaf(scope, op, operand.field, values, count, result);
}

static PushResult
push_null_test(const PushScope *scope, NullTest *test, bool negate,
			   Predicate **result)
{
	Operand		operand;
	bool		wants_null = (test->nulltesttype == IS_NULL) != negate;

	if (!match_operand(scope, (Node *) test->arg, &operand))
		return PUSH_NO;
	return push_leaf(scope, wants_null ? PREDICATE_IS_NULL :
					 PREDICATE_NOT_NULL, operand.field, NULL, 0, result);
}

/* column = value, or also where it is NULL */
static PushResult
push_boolean(const PushScope *scope, const LakeField *field, bool wanted,
			 bool or_null, Predicate **result)
{
	LakeValue	value = {.i = wanted};
	Predicate **children;

	push_leaf(scope, PREDICATE_EQ, field, &value, 1, result);
	if (or_null)
	{
		children = lake_alloc_array(scope->arena, 2, sizeof *children);
		children[0] = *result;
		push_leaf(scope, PREDICATE_IS_NULL, field, NULL, 0, &children[1]);
		*result = predicate_combine(scope->arena, PREDICATE_OR, children, 2);
	}
	return PUSH_DONE;
}

/* column IS [NOT] TRUE, FALSE, UNKNOWN */
static PushResult
push_boolean_test(const PushScope *scope, BooleanTest *test, bool negate,
				  Predicate **result)
{
	Operand		operand;

	if (!match_operand(scope, (Node *) test->arg, &operand))
		return PUSH_NO;
	switch (test->booltesttype)
	{
		case IS_TRUE:
		case IS_NOT_TRUE:
			negate = negate != (test->booltesttype == IS_NOT_TRUE);
			return push_boolean(scope, operand.field, !negate, negate, result);
		case IS_FALSE:
		case IS_NOT_FALSE:
			negate = negate != (test->booltesttype == IS_NOT_FALSE);
			return push_boolean(scope, operand.field, negate, negate, result);
		case IS_UNKNOWN:
		case IS_NOT_UNKNOWN:
			negate = negate != (test->booltesttype == IS_NOT_UNKNOWN);
			return push_leaf(scope, negate ? PREDICATE_NOT_NULL :
							 PREDICATE_IS_NULL, operand.field, NULL, 0,
							 result);
	}
	return PUSH_NO;
}

/* a condition without columns, such as "$1 IS NULL" below an OR */
static PushResult
push_literal(const PushScope *scope, Expr *expr, bool negate,
			 Predicate **result)
{
	Datum		datum;
	bool		is_null;

	if (!literal_value(scope, expr, &datum, &is_null))
		return PUSH_LATER;
	*result = predicate_constant(scope->arena,
								 !is_null && DatumGetBool(datum) != negate);
	return PUSH_DONE;
}

static PushResult push_condition(const PushScope *scope, Expr *expr,
								 bool negate, Predicate **result);

static PushResult
push_bool_expr(const PushScope *scope, BoolExpr *expr, bool negate,
			   Predicate **result)
{
	Predicate **children;
	int			count = 0;
	PushResult	worst = PUSH_DONE;
	ListCell   *cell;

	if (expr->boolop == NOT_EXPR)
		return push_condition(scope, linitial(expr->args), !negate, result);
	children = lake_alloc_array(scope->arena, list_length(expr->args),
								sizeof *children);
	foreach(cell, expr->args)
	{
		PushResult	one = push_condition(scope, lfirst(cell), negate,
										 &children[count++]);

		if (one == PUSH_NO)
			return PUSH_NO;
		worst = Min(worst, one);
	}
	if (worst == PUSH_DONE)
		*result = predicate_combine(scope->arena,
									(expr->boolop == AND_EXPR) != negate ?
									PREDICATE_AND : PREDICATE_OR,
									children, count);
	return worst;
}

/* the rows for which expr (negate: NOT expr) is true */
static PushResult
push_condition(const PushScope *scope, Expr *expr, bool negate,
			   Predicate **result)
{
	Operand		operand;

	check_stack_depth();
	if (IsA(expr, BoolExpr))
		return push_bool_expr(scope, (BoolExpr *) expr, negate, result);
	if (is_literal(scope, (Node *) expr))
		return push_literal(scope, expr, negate, result);
	switch (nodeTag(expr))
	{
		case T_OpExpr:
			if (list_length(((OpExpr *) expr)->args) != 2)
				return PUSH_NO;
			return push_operator(scope, (OpExpr *) expr, negate, result);
		case T_ScalarArrayOpExpr:
			return push_array(scope, (ScalarArrayOpExpr *) expr, negate,
							  result);
		case T_NullTest:
			return push_null_test(scope, (NullTest *) expr, negate, result);
		case T_BooleanTest:
			return push_boolean_test(scope, (BooleanTest *) expr, negate,
									 result);
		case T_Var:
			if (!match_operand(scope, (Node *) expr, &operand))
				return PUSH_NO;
			return push_boolean(scope, operand.field, !negate, false, result);
		default:
			return PUSH_NO;
	}
}

PushResult
pushdown_qual(const PushScope *scope, Expr *qual, Predicate **predicate)
{
	return push_condition(scope, qual, false, predicate);
}
