/*
 * The JSON scanner: finds where values end without looking into them.
 *
 * Outside of strings only quotes and brackets matter for that; brackets are
 * matched on a stack of bits, so that depth costs no recursion.  Inside of
 * strings only the closing quote matters, and memchr finds it.
 */
#include "base/json.h"

#include <string.h>

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* characters of numbers and of true, false, null */
static bool
is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		(c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

static _Noreturn void
throw_early_end(void)
{
	lake_throw(LAKE_ERROR_CORRUPT, "JSON ends too early");
}

static const uint8_t *
skip_space(const uint8_t *pos, const uint8_t *end)
{
	while (pos < end && is_space(*pos))
		pos++;
	return pos;
}

/* pos is after the opening quote; returns the closing one */
static const uint8_t *
find_quote(const uint8_t *pos, const uint8_t *end)
{
	const uint8_t *start = pos;

	for (;;)
	{
		const uint8_t *quote = memchr(pos, '"', (size_t) (end - pos));
		const uint8_t *slash = quote;

		if (quote == NULL)
			throw_early_end();
		while (slash > start && slash[-1] == '\\')
			slash--;
		if ((quote - slash) % 2 == 0)
			return quote;
		/* no backslash is counted twice: a quote ends each run of them */
		pos = start = quote + 1;
	}
}

/* pos is at an opening bracket; returns what follows the closing one */
static const uint8_t *
skip_brackets(const uint8_t *pos, const uint8_t *end)
{
	/* for each level: is it an object? */
	uint64_t	objects[JSON_MAX_DEPTH / 64] = {0};
	unsigned	depth = 0;

	for (; pos < end; pos++)
	{
		uint64_t	bit;

		switch (*pos)
		{
			case '"':
				pos = find_quote(pos + 1, end);
				break;
			case '[':
			case '{':
				if (depth == JSON_MAX_DEPTH)
					lake_throw(LAKE_ERROR_CORRUPT,
							   "JSON is nested deeper than %d levels",
							   JSON_MAX_DEPTH);
				bit = (uint64_t) 1 << (depth % 64);
				if (*pos == '{')
					objects[depth / 64] |= bit;
				else
					objects[depth / 64] &= ~bit;
				depth++;
				break;
			case ']':
			case '}':
				depth--;
				bit = objects[depth / 64] >> (depth % 64) & 1;
				if (bit != (*pos == '}'))
					lake_throw(LAKE_ERROR_CORRUPT,
							   "JSON has a bracket that does not match");
				if (depth == 0)
					return pos + 1;
				break;
			default:
				break;
		}
	}
	throw_early_end();
}

/* the end of the value that starts at pos */
static const uint8_t *
skip_value(const uint8_t *pos, const uint8_t *end)
{
	const uint8_t *start = pos;

	if (pos == end)
		throw_early_end();
	if (*pos == '"')
		return find_quote(pos + 1, end) + 1;
	if (*pos == '[' || *pos == '{')
		return skip_brackets(pos, end);
	while (pos < end && is_word(*pos))
		pos++;
	if (pos == start)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "JSON has character code %d where a value should be",
				   *pos);
	return pos;
}

static void
begin(JsonScan *scan, LakeBytes text, char open, const char *what)
{
	scan->end = text.data + text.len;
	scan->pos = skip_space(text.data, scan->end);
	scan->first = true;
	if (scan->pos == scan->end || *scan->pos != open)
		lake_throw(LAKE_ERROR_CORRUPT, "a JSON value is no %s", what);
	scan->pos++;
}

/* stands before the next element or key; false after the closing bracket */
static bool
advance(JsonScan *scan, char close)
{
	const uint8_t *pos = skip_space(scan->pos, scan->end);

	if (pos == scan->end)
		throw_early_end();
	if (*pos == close)
	{
		/* the caller's text is one value, with space around it at most */
		if (skip_space(pos + 1, scan->end) != scan->end)
			lake_throw(LAKE_ERROR_CORRUPT, "JSON goes on after its end");
		scan->pos = pos;
		return false;
	}
	if (!scan->first)
	{
		if (*pos != ',')
			lake_throw(LAKE_ERROR_CORRUPT, "JSON lacks a comma");
		pos = skip_space(pos + 1, scan->end);
	}
	scan->first = false;
	scan->pos = pos;
	return true;
}

static LakeBytes
between(const uint8_t *start, const uint8_t *end)
{
	return (LakeBytes) {.data = start, .len = (size_t) (end - start)};
}

void
json_scan_begin(JsonScan *scan, LakeBytes text)
{
	begin(scan, text, '[', "array");
}

bool
json_scan_next(JsonScan *scan, LakeBytes *element)
{
	const uint8_t *start;

	if (!advance(scan, ']'))
		return false;
	start = scan->pos;
	scan->pos = skip_value(start, scan->end);
	*element = between(start, scan->pos);
	return true;
}

void
json_scan_begin_object(JsonScan *scan, LakeBytes text)
{
	begin(scan, text, '{', "object");
}

bool
json_scan_next_member(JsonScan *scan, LakeBytes *key, LakeBytes *value)
{
	const uint8_t *start;
	const uint8_t *pos;

	if (!advance(scan, '}'))
		return false;
	start = scan->pos;
	if (start == scan->end || *start != '"')
		lake_throw(LAKE_ERROR_CORRUPT, "JSON lacks the key of a member");
	pos = find_quote(start + 1, scan->end);
	*key = between(start + 1, pos);
	pos = skip_space(pos + 1, scan->end);
	if (pos == scan->end || *pos != ':')
		lake_throw(LAKE_ERROR_CORRUPT, "JSON lacks a colon after a key");
	start = skip_space(pos + 1, scan->end);
	scan->pos = skip_value(start, scan->end);
	*value = between(start, scan->pos);
	return true;
}

static int
hex_digit(uint8_t c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c == 0 ? NULL : strchr(digits, c | 0x20);

	return found == NULL ? -1 : (int) (found - digits);
}

/*
 * The character that the escape at pos (after its backslash) means, and its
 * length; -1 for one that is not ASCII, since no key that is looked for is.
 */
static int
decode_escape(const uint8_t *pos, size_t left, size_t *len)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *found = left == 0 || *pos == 0 ? NULL : strchr(from, *pos);
	int			code = 0;

	*len = 1;
	if (found != NULL)
		return to[found - from];
	if (left < 5 || *pos != 'u')
		return -1;
	*len = 5;
	for (int i = 1; i < 5; i++)
	{
		int			digit = hex_digit(pos[i]);

		if (digit < 0)
			return -1;
		code = code << 4 | digit;
	}
	return code < 0x80 ? code : -1;
}

/* does the raw text of a key, escapes included, mean key? */
static bool
key_equals(LakeBytes raw, const char *key)
{
	size_t		pos = 0;

	while (pos < raw.len)
	{
		int			c = raw.data[pos++];

		if (c == '\\')
		{
			size_t		len;

			c = decode_escape(raw.data + pos, raw.len - pos, &len);
			pos += len;
		}
		if (c <= 0 || (unsigned char) *key != c)
			return false;
		key++;
	}
	return *key == '\0';
}

bool
json_scan_member(LakeBytes text, const char *key, LakeBytes *value)
{
	JsonScan	scan;
	LakeBytes	found_key;
	LakeBytes	found_value;
	bool		found = false;

	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &found_key, &found_value))
	{
		if (key_equals(found_key, key))
		{
			*value = found_value;
			found = true;
		}
	}
	return found;
}

bool
json_scan_is_null(LakeBytes value)
{
	return value.len == 4 && memcmp(value.data, "null", 4) == 0;
}

bool
json_scan_int64(LakeBytes value, int64_t *result)
{
	bool		negative = value.len > 0 && value.data[0] == '-';
	size_t		pos = negative;
	int64_t		number = 0;

	/* no digits at all, or a leading zero before others */
	if (pos == value.len || (value.data[pos] == '0' && value.len > pos + 1))
		return false;
	for (; pos < value.len; pos++)
	{
		int			digit = value.data[pos] - '0';

		if (digit < 0 || digit > 9 ||
			__builtin_mul_overflow(number, 10, &number) ||
			__builtin_sub_overflow(number, digit, &number))
			return false;
	}
	/* counted downward, because the negative range is the larger one */
	if (!negative && number == INT64_MIN)
		return false;
	*result = negative ? number : -number;
	return true;
}
