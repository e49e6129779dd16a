/*
 * Parsed JSON: json-c behind limits, and typed access to its values.
 *
 * json-c calls nothing of ours, so that no throw crosses it; what it allocates
 * is malloc's and goes back through deferred calls.
 */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

/* json-c has a type of the name of our function */
#define json_bool json_c_bool
#include <json-c/json.h>
#undef json_bool

/* bytes that json-c is given between two looks at interrupts */
#define PIECE_SIZE	((size_t) 1 << 20)

static void
put_object(void *object)
{
	LakeJson  **owned = object;

	json_object_put(*owned);
}

static void
free_tokener(void *tokener)
{
	json_tokener_free(tokener);
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * What json-c allocates for the text, rather too much: "{}" alone costs it 760
 * bytes, an array 130, a member 140 with its key, any value 80.  Brackets
 * within strings are counted too.
 */
static size_t
estimate_memory(LakeBytes text)
{
	static const uint16_t costs[UINT8_MAX + 1] = {
		['{'] = 800,
		['['] = 160,
		[':'] = 150,
		[','] = 80,
	};
	size_t		total = 2 * text.len;

	for (size_t i = 0; i < text.len; i++)
		total += costs[text.data[i]];
	return total;
}

/* the next piece of the text, which cuts no character */
static size_t
piece_size(LakeBytes text, size_t start)
{
	size_t		end = start + PIECE_SIZE;

	if (text.len - start <= PIECE_SIZE)
		return text.len - start;
	while (end < text.len && (text.data[end] & 0xc0) == 0x80)
		end++;
	return end - start;
}

/* runs the tokener over the whole text; throws with what went wrong */
static LakeJson *
tokenize(json_tokener *tokener, LakeBytes text, const char *what)
{
	LakeJson   *result;
	enum json_tokener_error error;
	size_t		end = 0;

	do
	{
		lake_check_interrupts();
		result = json_tokener_parse_ex(tokener, (const char *) text.data + end,
									   (int) piece_size(text, end));
		error = json_tokener_get_error(tokener);
		end += json_tokener_get_parse_end(tokener);
	} while (error == json_tokener_continue && end < text.len);
	if (error == json_tokener_continue)
	{
		/* a number at the end of the text ends with the text */
		result = json_tokener_parse_ex(tokener, "", 1);
		error = json_tokener_get_error(tokener);
		end = text.len;
	}
	while (error == json_tokener_success && end < text.len &&
		   is_space((char) text.data[end]))
		end++;
	if (error == json_tokener_success && end < text.len)
	{
		json_object_put(result);
		error = json_tokener_error_parse_unexpected;
	}
	if (error != json_tokener_success)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "%s is not valid JSON: %s at byte %zu", what,
				   error == json_tokener_continue ? "it ends too early" :
				   json_tokener_error_desc(error), end);
	return result;
}

LakeJson *
json_parse(LakeArena *arena, LakeBytes text, const char *what)
{
	LakeArena  *scratch = lake_arena_create(arena, "json tokener");
	LakeJson  **result = lake_alloc(arena, sizeof *result);
	json_tokener *tokener;

	if (text.len > JSON_MAX_SIZE)
		lake_throw(LAKE_ERROR_LIMIT,
				   "%s has %zu bytes of JSON, more than the limit of %d",
				   what, text.len, JSON_MAX_SIZE);
	if (estimate_memory(text) > JSON_MAX_MEMORY)
		lake_throw(LAKE_ERROR_LIMIT,
				   "%s has too many JSON values: they would need more than "
				   "%zu MB", what, JSON_MAX_MEMORY >> 20);
	if (text.len == 0)
		lake_throw(LAKE_ERROR_CORRUPT, "%s is not valid JSON: it is empty",
				   what);
	tokener = json_tokener_new_ex(JSON_MAX_DEPTH);
	if (tokener == NULL)
		lake_throw(LAKE_ERROR_NO_MEMORY, "out of memory: cannot parse %s",
				   what);
	lake_defer(scratch, free_tokener, tokener);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT |
						   JSON_TOKENER_VALIDATE_UTF8);

	/* the deferred call exists first: then the object cannot be lost */
	lake_defer(arena, put_object, result);
	*result = tokenize(tokener, text, what);
	lake_arena_destroy(scratch);
	return *result;
}

JsonKind
json_kind(LakeJson *value)
{
	static const JsonKind kinds[] = {
		[json_type_null] = JSON_NULL,
		[json_type_boolean] = JSON_BOOL,
		[json_type_double] = JSON_DOUBLE,
		[json_type_int] = JSON_INT,
		[json_type_object] = JSON_OBJECT,
		[json_type_array] = JSON_ARRAY,
		[json_type_string] = JSON_STRING,
	};

	return kinds[json_object_get_type(value)];
}

static void
require_kind(LakeJson *value, JsonKind kind, const char *what)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",
		[JSON_BOOL] = "a boolean",
		[JSON_INT] = "an integer",
		[JSON_DOUBLE] = "a number",
		[JSON_STRING] = "a string",
		[JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
	};
	JsonKind	actual = json_kind(value);

	if (actual != kind)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is %s in JSON, not %s", what,
				   names[actual], names[kind]);
}

int64_t
json_int64(LakeJson *value, const char *what)
{
	require_kind(value, JSON_INT, what);
	/* json-c keeps integers above INT64_MAX apart and saturates the rest */
	if (json_object_get_uint64(value) > INT64_MAX)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "\"%s\" is an integer that does not fit 64 bits", what);
	return json_object_get_int64(value);
}

double
json_double(LakeJson *value, const char *what)
{
	if (json_kind(value) != JSON_INT)
		require_kind(value, JSON_DOUBLE, what);
	return json_object_get_double(value);
}

bool
json_bool(LakeJson *value, const char *what)
{
	require_kind(value, JSON_BOOL, what);
	return json_object_get_boolean(value);
}

const char *
json_text(LakeJson *value)
{
	return json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
}

LakeBytes
json_string(LakeJson *value, const char *what)
{
	LakeBytes	bytes;

	require_kind(value, JSON_STRING, what);
	bytes.data = (const uint8_t *) json_object_get_string(value);
	bytes.len = (size_t) json_object_get_string_len(value);
	return bytes;
}

LakeJson *
json_find(LakeJson *object, const char *key)
{
	if (json_kind(object) != JSON_OBJECT)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the JSON value that should have \"%s\" is no object",
				   key);
	return json_object_object_get(object, key);
}

LakeJson *
json_get(LakeJson *object, const char *key)
{
	LakeJson   *value = json_find(object, key);

	if (value == NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "member \"%s\" is missing in JSON",
				   key);
	return value;
}

bool
json_find_int64(LakeJson *object, const char *key, int64_t *result)
{
	LakeJson   *value = json_find(object, key);

	if (value != NULL)
		*result = json_int64(value, key);
	return value != NULL;
}

int64_t
json_get_int64(LakeJson *object, const char *key)
{
	return json_int64(json_get(object, key), key);
}

static int32_t
to_int32(LakeJson *value, const char *key)
{
	int64_t		wide = json_int64(value, key);

	if (wide != (int32_t) wide)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "\"%s\" is %" PRId64 ", which does not fit 32 bits",
				   key, wide);
	return (int32_t) wide;
}

bool
json_find_int32(LakeJson *object, const char *key, int32_t *result)
{
	LakeJson   *value = json_find(object, key);

	if (value != NULL)
		*result = to_int32(value, key);
	return value != NULL;
}

int32_t
json_get_int32(LakeJson *object, const char *key)
{
	return to_int32(json_get(object, key), key);
}

bool
json_find_bool(LakeJson *object, const char *key, bool *result)
{
	LakeJson   *value = json_find(object, key);

	if (value != NULL)
		*result = json_bool(value, key);
	return value != NULL;
}

bool
json_get_bool(LakeJson *object, const char *key)
{
	return json_bool(json_get(object, key), key);
}

static const char *
to_text(LakeJson *value, const char *key)
{
	LakeBytes	text = json_string(value, key);

	if (memchr(text.data, '\0', text.len) != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" has a NUL character in JSON",
				   key);
	return (const char *) text.data;
}

const char *
json_find_string(LakeJson *object, const char *key)
{
	LakeJson   *value = json_find(object, key);

	return value == NULL ? NULL : to_text(value, key);
}

const char *
json_get_string(LakeJson *object, const char *key)
{
	return to_text(json_get(object, key), key);
}

size_t
json_array_count(LakeJson *array, const char *what)
{
	require_kind(array, JSON_ARRAY, what);
	return json_object_array_length(array);
}

LakeJson *
json_array_at(LakeJson *array, size_t index)
{
	return json_object_array_get_idx(array, index);
}

void
json_append_string(LakeBuffer *out, const char *text)
{
	buffer_append_byte(out, '"');
	for (const char *c = text; *c != '\0'; c++)
	{
		if ((uint8_t) *c < 0x20)
			buffer_printf(out, "\\u%04x", (unsigned int) *c);
		else
		{
			if (*c == '"' || *c == '\\')
				buffer_append_byte(out, '\\');
			buffer_append_byte(out, (uint8_t) *c);
		}
	}
	buffer_append_byte(out, '"');
}
