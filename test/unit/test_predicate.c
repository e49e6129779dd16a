/*
 * The predicate tree: its normal form, its text, LIKE.
 */
#include "unit.h"

#include "predicate_cases.h"
#include "table/predicate_int.h"

static LakeType int_type = {.kind = LAKE_INT};
static LakeType string_type = {.kind = LAKE_STRING};
static LakeType double_type = {.kind = LAKE_DOUBLE};
static LakeType date_type = {.kind = LAKE_DATE};
static LakeType boolean = {.kind = LAKE_BOOLEAN};
static LakeType uuid_type = {.kind = LAKE_UUID};
static LakeType binary_type = {.kind = LAKE_BINARY};
static LakeType unknown_type = {.kind = LAKE_UNKNOWN};
static LakeType timestamp = {.kind = LAKE_TIMESTAMP};
static LakeType decimal_type = {
	.kind = LAKE_DECIMAL, .precision = 9, .scale = 2
};

static LakeField fields[] = {
	{.id = 1, .name = "a", .type = &int_type},
	{.id = 2, .name = "b", .type = &string_type},
	{.id = 3, .name = "C d\"", .type = &double_type},
	{.id = 4, .name = "day", .type = &date_type},
	{.id = 5, .name = "flag", .type = &boolean},
	{.id = 6, .name = "u", .type = &uuid_type},
	{.id = 7, .name = "raw", .type = &binary_type},
	{.id = 8, .name = "x", .type = &unknown_type},
	{.id = 9, .name = "ts", .type = &timestamp},
	{.id = 10, .name = "price", .type = &decimal_type},
};

static const LakeSchema schema = {.field_count = 10, .fields = fields};

#define INTEGER(n)	((LakeValue) {.i = (n)})
#define TEXT(s)		((LakeValue) {.bytes = {(const uint8_t *) (s), strlen(s)}})
#define NULL_VALUE	((LakeValue) {.is_null = true})

static Predicate *
leaf(LakeArena *arena, int id, PredicateOp op, LakeValue value)
{
	return predicate_leaf(arena, op, &fields[id - 1], &value,
						  op > PREDICATE_NOT_NULL);
}

static Predicate *
pair(LakeArena *arena, PredicateOp op, Predicate *a, Predicate *b)
{
	Predicate **children = lake_alloc_array(arena, 2, sizeof *children);

	children[0] = a;
	children[1] = b;
	return predicate_combine(arena, op, children, 2);
}

static Predicate *
not(LakeArena *arena, Predicate *child)
{
	Predicate **children = lake_alloc_array(arena, 1, sizeof *children);

	children[0] = child;
	return predicate_combine(arena, PREDICATE_NOT, children, 1);
}

/* the text of the normal form */
static const char *
normal(LakeArena *arena, const Predicate *predicate)
{
	return predicate_text(arena, predicate_normalize(arena, predicate),
						  &schema);
}

static void
not_goes_to_the_leaves(LakeArena *arena)
{
	Predicate  *less = leaf(arena, 1, PREDICATE_LT, INTEGER(3));
	Predicate  *null = leaf(arena, 2, PREDICATE_IS_NULL, NULL_VALUE);
	Predicate  *like = leaf(arena, 2, PREDICATE_LIKE, TEXT("x%"));

	CHECK_STRING(normal(arena, not(arena, less)), "a >= 3");
	CHECK_STRING(normal(arena, not(arena, not(arena, less))), "a < 3");
	CHECK_STRING(normal(arena, not(arena, pair(arena, PREDICATE_AND, less,
											   null))),
				 "(a >= 3 OR b IS NOT NULL)");
	CHECK_STRING(normal(arena, not(arena, pair(arena, PREDICATE_OR, less,
											   not(arena, like)))),
				 "(a >= 3 AND b LIKE 'x%')");
}

static void
constants_fold_and_nested_nodes_flatten(LakeArena *arena)
{
	Predicate  *less = leaf(arena, 1, PREDICATE_LT, INTEGER(3));
	Predicate  *more = leaf(arena, 1, PREDICATE_GT, INTEGER(5));
	Predicate  *yes = predicate_constant(arena, true);
	Predicate  *no = predicate_constant(arena, false);

	CHECK_STRING(normal(arena, pair(arena, PREDICATE_AND, less, yes)),
				 "a < 3");
	CHECK_STRING(normal(arena, pair(arena, PREDICATE_AND, less, no)), "false");
	CHECK_STRING(normal(arena, pair(arena, PREDICATE_OR, less, yes)), "true");
	CHECK_STRING(normal(arena, pair(arena, PREDICATE_OR, no, less)), "a < 3");
	CHECK_STRING(normal(arena, not(arena, yes)), "false");
	CHECK_STRING(normal(arena, pair(arena, PREDICATE_OR, less,
									pair(arena, PREDICATE_OR, more, less))),
				 "(a < 3 OR a > 5 OR a < 3)");
	CHECK_STRING(normal(arena, predicate_combine(arena, PREDICATE_AND, NULL,
												 0)), "true");
	CHECK_STRING(normal(arena, predicate_combine(arena, PREDICATE_OR, NULL,
												 0)), "false");
}

static void
lists_are_sorted_and_free_of_repeats(LakeArena *arena)
{
	LakeValue	values[] = {INTEGER(5), INTEGER(-1), INTEGER(5), INTEGER(2)};
	LakeValue	nulls[] = {INTEGER(5), NULL_VALUE};

	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_IN, fields,
											  values, 4)),
				 "a IN (-1, 2, 5)");
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_NOT_IN, fields,
											  values, 4)),
				 "a NOT IN (-1, 2, 5)");
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_IN, fields,
											  values, 1)), "a = 5");
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_NOT_IN, fields,
											  values, 1)), "a <> 5");
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_IN, fields,
											  nulls, 2)), "a = 5");
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_NOT_IN, fields,
											  nulls, 2)), "false");
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_IN, fields,
											  values, 0)), "false");
	/* the input is left as it was */
	CHECK_INT(values[0].i, 5);
}

static void
null_literals_keep_no_row_under_either_sign(LakeArena *arena)
{
	Predicate  *equal = leaf(arena, 1, PREDICATE_EQ, NULL_VALUE);
	Predicate  *like = leaf(arena, 2, PREDICATE_LIKE, NULL_VALUE);

	CHECK_STRING(normal(arena, equal), "false");
	CHECK_STRING(normal(arena, not(arena, equal)), "false");
	CHECK_STRING(normal(arena, like), "false");
	CHECK_STRING(normal(arena, not(arena, like)), "false");
}

static void
columns_of_type_unknown_are_null(LakeArena *arena)
{
	CHECK_STRING(normal(arena, leaf(arena, 8, PREDICATE_IS_NULL, NULL_VALUE)),
				 "true");
	CHECK_STRING(normal(arena, leaf(arena, 8, PREDICATE_NOT_NULL, NULL_VALUE)),
				 "false");
}

static void
simple_patterns_become_simpler_leaves(LakeArena *arena)
{
	static const struct
	{
		const char *pattern;
		const char *like;
		const char *not_like;
	}			cases[] = {
		{"abc", "b = 'abc'", "b <> 'abc'"},
		{"a\\%c", "b = 'a%c'", "b <> 'a%c'"},
		{"", "b = ''", "b <> ''"},
		{"%", "b IS NOT NULL", "false"},
		{"%%", "b IS NOT NULL", "false"},
		{"a_", "b LIKE 'a_'", "b NOT LIKE 'a_'"},
		{"_%", "b LIKE '_%'", "b NOT LIKE '_%'"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		LakeValue	pattern = TEXT(cases[i].pattern);

		CHECK_STRING(normal(arena, leaf(arena, 2, PREDICATE_LIKE, pattern)),
					 cases[i].like);
		CHECK_STRING(normal(arena, leaf(arena, 2, PREDICATE_NOT_LIKE,
										pattern)), cases[i].not_like);
	}
}

static void
leaves_are_numbered_in_order(LakeArena *arena)
{
	Predicate  *tree = pair(arena, PREDICATE_AND,
							leaf(arena, 1, PREDICATE_GT, INTEGER(0)),
							pair(arena, PREDICATE_OR,
								 leaf(arena, 2, PREDICATE_EQ, TEXT("x")),
								 leaf(arena, 1, PREDICATE_LT, INTEGER(9))));
	Predicate  *result = predicate_normalize(arena, tree);

	CHECK_INT(predicate_leaf_count(result), 3);
	CHECK_INT(result->children[0]->leaf_index, 0);
	CHECK_INT(result->children[1]->children[0]->leaf_index, 1);
	CHECK_INT(result->children[1]->children[1]->leaf_index, 2);
	CHECK_INT(predicate_leaf_count(predicate_constant(arena, true)), 0);
}

static void
depth_is_limited(LakeArena *arena)
{
	Predicate  *tree = leaf(arena, 1, PREDICATE_GT, INTEGER(0));

	for (int i = 0; i < 4000; i++)
		tree = pair(arena, i % 2 == 0 ? PREDICATE_AND : PREDICATE_OR, tree,
					leaf(arena, 1, PREDICATE_LT, INTEGER(i)));
	CHECK_INT(predicate_leaf_count(predicate_normalize(arena, tree)), 4001);
	for (int i = 0; i < 4000; i++)
		tree = not(arena, tree);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "nested deeper",
				 predicate_normalize(arena, tree));
}

static void
text_is_written_as_sql(LakeArena *arena)
{
	static const struct
	{
		int			id;
		PredicateOp op;
		LakeValue	value;
		const char *text;
	}			cases[] = {
		{1, PREDICATE_NE, {.i = -3}, "a <> -3"},
		{2, PREDICATE_EQ, {.bytes = {(const uint8_t *) "o'x", 3}},
		"b = 'o''x'"},
		{3, PREDICATE_LE, {.d = 1.5}, "\"C d\"\"\" <= 1.5"},
		{3, PREDICATE_EQ, {.d = NAN}, "\"C d\"\"\" = 'NaN'"},
		{4, PREDICATE_GE, {.i = 17486}, "day >= '2017-11-16'"},
		{5, PREDICATE_EQ, {.i = 1}, "flag = true"},
		{6, PREDICATE_EQ, {.bytes = {(const uint8_t *) "0123456789abcdef",
		16}}, "u = '30313233-3435-3637-3839-616263646566'"},
		{7, PREDICATE_EQ, {.bytes = {(const uint8_t *) "\0\xff", 2}},
		"raw = '\\x00ff'"},
		{9, PREDICATE_LT, {.i = 1510871468000001},
		"ts < '2017-11-16 22:31:08.000001'"},
		{10, PREDICATE_GT, {.decimal = 1420}, "price > 14.20"},
		{2, PREDICATE_IS_NULL, {.i = 0}, "b IS NULL"},
	};
	LakeValue	many[30];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_STRING(normal(arena, leaf(arena, cases[i].id, cases[i].op,
										cases[i].value)), cases[i].text);
	for (int i = 0; i < 30; i++)
		many[i] = INTEGER(i);
	CHECK_STRING(normal(arena, predicate_leaf(arena, PREDICATE_IN, fields,
											  many, 30)),
				 "a IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
				 "16, 17, 18, 19, ... 10 more)");
	CHECK_STRING(predicate_text(arena, leaf(arena, 1, PREDICATE_EQ,
											INTEGER(1)), NULL), "field 1 = 1");
}

static bool
like(LakeArena *arena, const char *text, const char *pattern)
{
	return like_matches(like_compile(arena, TEXT(pattern).bytes),
						TEXT(text).bytes);
}

#define LIKE(text, pattern) like(arena, text, pattern)

static void
like_follows_sql(LakeArena *arena)
{
	CHECK(LIKE("", "") && LIKE("", "%") && !LIKE("", "_"));
	CHECK(LIKE("abc", "abc") && !LIKE("abc", "ab") && !LIKE("ab", "abc"));
	CHECK(LIKE("abc", "a%") && LIKE("abc", "%c") && LIKE("abc", "%b%"));
	CHECK(LIKE("abc", "a_c") && LIKE("abc", "___") && !LIKE("abc", "__"));
	CHECK(LIKE("\xe6\x97\xa5\xe6\x9c\xac", "__"));
	CHECK(LIKE("a\xe6\x97\xa5" "b", "a_b"));
	CHECK(!LIKE("\xe6\x97\xa5\xe6\x9c\xac", "___"));
	CHECK(LIKE("a%c", "a\\%c") && !LIKE("abc", "a\\%c"));
	CHECK(LIKE("a_c", "a\\_c") && !LIKE("abc", "a\\_c"));
	CHECK(LIKE("a\\c", "a\\\\c"));
	CHECK(LIKE("aaab", "%ab") && LIKE("abab", "%ab") && LIKE("aab", "a%ab"));
	CHECK(!LIKE("ab", "ab%ab") && LIKE("abab", "ab%ab"));
	CHECK(LIKE("xspecialyrequestsz", "%special%requests%"));
	CHECK(!LIKE("xrequestsyspecialz", "%special%requests%"));
}

static void
compiled_patterns_match_as_plain_ones(LakeArena *arena)
{
	static const char *const alphabet[] = {"a", "b", "\xc3\xa9", "%", "_",
	"\\"};
	Choices		choices = {.state = 3};

	for (int i = 0; i < 200000 && !unit_failed; i++)
	{
		LakeArena  *scope = lake_arena_create(arena, "case");
		char		text[32] = "";
		char		pattern[32] = "";
		bool		expected;

		for (unsigned n = choose(&choices, 10); n > 0; n--)
			strcat(text, alphabet[choose(&choices, 3)]);
		for (unsigned n = choose(&choices, 8); n > 0; n--)
			strcat(pattern, alphabet[choose(&choices, 6)]);
		expected = plain_like(TEXT(text).bytes, TEXT(pattern).bytes);
		CHECK(like_matches(like_compile(scope, TEXT(pattern).bytes),
						   TEXT(text).bytes) == expected);
		if (unit_failed)
			fprintf(stderr, "'%s' LIKE '%s' should be %d\n", text, pattern,
					expected);
		lake_arena_destroy(scope);
	}
}

static const UnitTest tests[] = {
	UNIT(not_goes_to_the_leaves),
	UNIT(constants_fold_and_nested_nodes_flatten),
	UNIT(lists_are_sorted_and_free_of_repeats),
	UNIT(null_literals_keep_no_row_under_either_sign),
	UNIT(columns_of_type_unknown_are_null),
	UNIT(simple_patterns_become_simpler_leaves),
	UNIT(leaves_are_numbered_in_order),
	UNIT(depth_is_limited),
	UNIT(text_is_written_as_sql),
	UNIT(like_follows_sql),
	UNIT(compiled_patterns_match_as_plain_ones),
};

UNIT_MAIN(tests)
