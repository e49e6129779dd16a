/*
 * Partition and sort fields as DDL says them: 'day(a), bucket(16, b), c' and
 * 'a DESC NULLS LAST, b'.
 *
 * Names are those of lake columns, nested ones with dots.  An unquoted name
 * that no column has stands for the only one that is it but for case, so that
 * names can be written as in the DDL around them; a quoted one is taken as it
 * is, "" for a quote.
 */
#include "iceberg/iceberg_int.h"

#include <string.h>
#include <strings.h>

typedef enum TokenKind
{
	TOKEN_END,
	TOKEN_WORD,					/* a name or a key word, unquoted */
	TOKEN_QUOTED,				/* a name in double quotes */
	TOKEN_NUMBER,
	TOKEN_SIGN					/* ( ) , . */
} TokenKind;

typedef struct TermParser
{
	LakeArena  *arena;
	const LakeSchema *schema;
	const char *what;			/* the option that has the text */
	const char *next;			/* behind the token */
	/* the token */
	TokenKind	kind;
	const char *start;
	const char *text;			/* of words and names, NUL-terminated */
	char		sign;
} TermParser;

/* ---- tokens ---- */

static _Noreturn void
throw_syntax(const TermParser *parser)
{
	if (parser->kind == TOKEN_END)
		lake_throw(LAKE_ERROR_INVALID, "syntax error at the end of %s",
				   parser->what);
	lake_throw(LAKE_ERROR_INVALID, "syntax error in %s at \"%s\"",
			   parser->what, parser->start);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* as in SQL, whatever is no ASCII is a letter */
static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		(unsigned char) c >= 0x80;
}

static void
take_quoted(TermParser *parser)
{
	char	   *name = lake_alloc(parser->arena, strlen(parser->next));
	size_t		len = 0;
	const char *c = parser->next + 1;

	for (;; c++)
	{
		if (*c == '\0')
			lake_throw(LAKE_ERROR_INVALID, "unterminated quoted name in %s",
					   parser->what);
		if (*c == '"' && *++c != '"')
			break;
		name[len++] = *c;
	}
	if (len == 0)
		throw_syntax(parser);
	parser->kind = TOKEN_QUOTED;
	parser->text = name;
	parser->next = c;
}

static void
next_token(TermParser *parser)
{
	const char *c = parser->next + strspn(parser->next, " \t\r\n");

	parser->next = parser->start = c;
	parser->sign = '\0';
	if (*c == '"')
	{
		take_quoted(parser);
		return;
	}
	if (*c == '\0')
		parser->kind = TOKEN_END;
	else if (strchr("(),.", *c) != NULL)
	{
		parser->kind = TOKEN_SIGN;
		parser->sign = *c++;
	}
	else if (is_digit(*c))
	{
		parser->kind = TOKEN_NUMBER;
		while (is_digit(*c))
			c++;
	}
	else if (is_letter(*c))
	{
		parser->kind = TOKEN_WORD;
		while (is_letter(*c) || is_digit(*c) || *c == '$')
			c++;
	}
	else
	{
		parser->kind = TOKEN_SIGN;
		throw_syntax(parser);
	}
	parser->text = lake_strndup(parser->arena, parser->start,
								(size_t) (c - parser->start));
	parser->next = c;
}

static void
expect_sign(TermParser *parser, char sign)
{
	if (parser->sign != sign)
		throw_syntax(parser);
	next_token(parser);
}

/* passes a key word, if it is there */
static bool
take_word(TermParser *parser, const char *word)
{
	if (parser->kind != TOKEN_WORD || strcasecmp(parser->text, word) != 0)
		return false;
	next_token(parser);
	return true;
}

/* ---- columns ---- */

static bool
equal_but_for_case(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
	{
		char		left = *a >= 'A' && *a <= 'Z' ? (char) (*a + 32) : *a;
		char		right = *b >= 'A' && *b <= 'Z' ? (char) (*b + 32) : *b;

		if (left != right)
			return false;
	}
	return *a == *b;
}

/* NULL: there is none */
static const LakeField *
find_sibling(const TermParser *parser, const LakeField *fields, int count)
{
	const LakeField *found = NULL;

	for (int i = 0; i < count; i++)
	{
		if (strcmp(fields[i].name, parser->text) == 0)
			return &fields[i];
	}
	for (int i = 0; parser->kind == TOKEN_WORD && i < count; i++)
	{
		if (!equal_but_for_case(fields[i].name, parser->text))
			continue;
		if (found != NULL)
			lake_throw(LAKE_ERROR_INVALID,
					   "\"%s\" in %s could be column \"%s\" or \"%s\"",
					   parser->text, parser->what, found->name,
					   fields[i].name);
		found = &fields[i];
	}
	return found;
}

/* a.b.c, through structs; what is in lists and maps has no one value a row */
static void
take_column(TermParser *parser, LakeTerm *term)
{
	const LakeField *fields = parser->schema->fields;
	int			count = parser->schema->field_count;
	const char *path = NULL;

	for (;;)
	{
		const LakeField *field;

		if (parser->kind != TOKEN_WORD && parser->kind != TOKEN_QUOTED)
			throw_syntax(parser);
		field = find_sibling(parser, fields, count);
		path = path == NULL ? parser->text :
			lake_printf(parser->arena, "%s.%s", path, parser->text);
		if (field == NULL)
			lake_throw(LAKE_ERROR_INVALID,
					   "%s names column \"%s\", which the table does not have",
					   parser->what, path);
		term->source = field;
		next_token(parser);
		if (parser->sign != '.')
			break;
		if (field->type->kind != LAKE_STRUCT)
			lake_throw(LAKE_ERROR_INVALID,
					   "%s names a part of column \"%s\", which is no struct",
					   parser->what, path);
		next_token(parser);
		fields = field->type->fields;
		count = field->type->field_count;
	}
	term->path = lake_schema_path(parser->arena, parser->schema,
								  term->source->id);
}

/* ---- transforms ---- */

/* Spark's and Trino's spellings of what metadata knows by one name */
static const struct
{
	const char *word;
	const char *name;
	bool		has_parameter;
}			transform_words[] = {
	{"identity", "identity", false},
	{"bucket", "bucket", true},
	{"truncate", "truncate", true},
	{"year", "year", false},
	{"years", "year", false},
	{"month", "month", false},
	{"months", "month", false},
	{"day", "day", false},
	{"days", "day", false},
	{"date", "day", false},
	{"hour", "hour", false},
	{"hours", "hour", false},
	{"date_hour", "hour", false},
};

static const char *
take_number(TermParser *parser)
{
	const char *number = parser->text;

	if (parser->kind != TOKEN_NUMBER)
		throw_syntax(parser);
	next_token(parser);
	return number;
}

/* the arguments of a transform; a number may stand first or last */
static void
take_arguments(TermParser *parser, size_t word, LakeTerm *term)
{
	const char *name = transform_words[word].name;
	const char *number = NULL;

	expect_sign(parser, '(');
	if (!transform_words[word].has_parameter)
		take_column(parser, term);
	else if (parser->kind == TOKEN_NUMBER)
	{
		number = take_number(parser);
		expect_sign(parser, ',');
		take_column(parser, term);
	}
	else
	{
		take_column(parser, term);
		expect_sign(parser, ',');
		number = take_number(parser);
	}
	expect_sign(parser, ')');
	if (number != NULL)
		name = lake_printf(parser->arena, "%s[%s]", name, number);
	term->transform = transform_parse(parser->arena, name);
	if (term->transform.kind == TRANSFORM_UNKNOWN)
		lake_throw(LAKE_ERROR_INVALID,
				   "%s has %s(%s), which is not a number from 1 to %d",
				   parser->what, transform_words[word].name, number,
				   INT32_MAX);
	/* as metadata spells the number, without leading zeros */
	if (number != NULL)
		term->transform.text = lake_printf(parser->arena, "%s[%d]",
										   transform_words[word].name,
										   term->transform.parameter);
}

static void
take_transform(TermParser *parser, const char *word, LakeTerm *term)
{
	for (size_t i = 0; i < sizeof transform_words / sizeof *transform_words; i++)
	{
		if (strcasecmp(word, transform_words[i].word) != 0)
			continue;
		take_arguments(parser, i, term);
		return;
	}
	lake_throw_hint(LAKE_ERROR_INVALID,
					"Transforms are bucket(n, column), truncate(n, column), "
					"year(column), month(column), day(column), hour(column).",
					"%s has \"%s\", which is no transform", parser->what,
					word);
}

static void
take_term(TermParser *parser, LakeTerm *term)
{
	const char *behind = parser->next + strspn(parser->next, " \t\r\n");

	if (parser->kind == TOKEN_WORD && *behind == '(')
	{
		const char *word = parser->text;

		next_token(parser);
		take_transform(parser, word, term);
	}
	else
	{
		take_column(parser, term);
		term->transform = transform_parse(parser->arena, "identity");
	}
	if (transform_result_type(parser->arena, &term->transform,
							  term->source->type) == NULL)
		lake_throw(LAKE_ERROR_INVALID,
				   "%s asks for \"%s\" of column \"%s\", which is not possible for type %s",
				   parser->what, term->transform.text, term->path,
				   lake_type_text(parser->arena, term->source->type));
}

/* PostgreSQL's defaults: NULL is larger than all else */
static void
take_order(TermParser *parser, LakeTerm *term)
{
	term->descending = take_word(parser, "desc");
	if (!term->descending)
		(void) take_word(parser, "asc");
	term->nulls_first = term->descending;
	if (!take_word(parser, "nulls"))
		return;
	term->nulls_first = take_word(parser, "first");
	if (!term->nulls_first && !take_word(parser, "last"))
		throw_syntax(parser);
}

const LakeTerm *
lake_terms_parse(LakeArena *arena, const LakeSchema *schema,
				 const char *what, const char *text, bool ordered, int *count)
{
	TermParser	parser = {
		.arena = arena,
		.schema = schema,
		.what = what,
		.next = text
	};
	LakeBuffer	terms;			/* of LakeTerm */

	buffer_init(&terms, arena);
	next_token(&parser);
	for (;;)
	{
		LakeTerm	term = {0};

		lake_check_interrupts();
		take_term(&parser, &term);
		if (ordered)
			take_order(&parser, &term);
		buffer_append(&terms, &term, sizeof term);
		if (parser.kind == TOKEN_END)
			break;
		expect_sign(&parser, ',');
	}
	*count = (int) (terms.len / sizeof(LakeTerm));
	return (const LakeTerm *) (const void *) terms.data;
}
