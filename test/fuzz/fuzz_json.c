/*
 * On every text that json-c accepts as an object or array, the scanner finds
 * the same members and elements: each parses to what json-c has in that place.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "base/json.h"

/* json-c's text of both is the same; a double keeps its spelling */
#define json_bool json_c_bool
#include <json-c/json.h>
#undef json_bool

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition)
{
	if (!condition)
		abort();
}

static void
check_same(LakeArena *arena, LakeJson *expected, LakeBytes text)
{
	LakeJson   *actual = json_parse(arena, text, "scanned value");
	int64_t		value;

	require(strcmp(json_object_to_json_string(expected),
				   json_object_to_json_string(actual)) == 0);
	require(json_scan_is_null(text) == (expected == NULL));
	if (json_scan_int64(text, &value))
		require(json_int64(expected, "x") == value);
}

static void
check_array(LakeArena *arena, LakeJson *array, LakeBytes text)
{
	JsonScan	scan;
	LakeBytes	element;
	size_t		count = 0;

	json_scan_begin(&scan, text);
	while (json_scan_next(&scan, &element))
	{
		require(count < json_array_length(array, "x"));
		check_same(arena, json_array_at(array, count), element);
		count++;
	}
	require(count == json_array_length(array, "x"));
}

static void
check_object(LakeArena *arena, LakeJson *object, LakeBytes text)
{
	JsonScan	scan;
	LakeBytes	raw_key;
	LakeBytes	value;

	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &raw_key, &value))
	{
		LakeBytes	quoted = {raw_key.data - 1, raw_key.len + 2};
		LakeBytes	key = json_string(json_parse(arena, quoted, "key"), "key");
		bool		is_ascii = true;

		/* the keys that are looked for are ASCII */
		for (size_t i = 0; i < key.len; i++)
			is_ascii = is_ascii && key.data[i] < 0x80;
		if (!is_ascii)
			continue;
		require(json_scan_member(text, (const char *) key.data, &value));
		check_same(arena, json_find(object, (const char *) key.data), value);
	}
}

static void
check(LakeArena *arena, LakeBytes text)
{
	LakeJson   *json = json_parse(arena, text, "input");
	JsonKind	kind = json_kind(json);

	/* json-c cuts a key at its NUL, the scanner takes it for another key */
	if (memmem(text.data, text.len, "\\u0000", 6) != NULL)
		return;
	if (kind == JSON_ARRAY)
		check_array(arena, json, text);
	else if (kind == JSON_OBJECT)
		check_object(arena, json, text);
}

/* the scanner alone, on texts that json-c may refuse */
static void
walk(LakeBytes text)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;

	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &key, &value))
		;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	LakeBytes	text = {.data = data, .len = size};
	LakeTry		try;
	volatile bool is_valid = false;

	if (lake_try_begin(&try))
	{
		json_parse(arena, text, "input");
		is_valid = true;
		lake_try_end(&try);
	}
	/* what json-c accepts must not make the scanner throw */
	if (is_valid)
		check(arena, text);
	else if (lake_try_begin(&try))
	{
		walk(text);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
