/*
 * JSON: the limits around json-c, typed access, and the scanner's walk.
 */
#include "unit.h"

#include "base/json.h"

static LakeBytes
bytes(const char *text)
{
	return (LakeBytes) {.data = (const uint8_t *) text, .len = strlen(text)};
}

static LakeJson *
parse(LakeArena *arena, const char *text)
{
	return json_parse(arena, bytes(text), "test");
}

/* copies the text, since results of the scanner are not NUL-terminated */
static const char *
text_of(LakeArena *arena, LakeBytes value)
{
	return lake_strndup(arena, (const char *) value.data, value.len);
}

static void
whole_texts_of_each_kind_are_parsed(LakeArena *arena)
{
	CHECK(parse(arena, "null") == NULL);
	CHECK_INT(json_kind(parse(arena, " true ")), JSON_BOOL);
	CHECK_INT(json_int64(parse(arena, "17"), "x"), 17);
	CHECK_INT(json_int64(parse(arena, "-17\n"), "x"), -17);
	CHECK(json_double(parse(arena, "1.5"), "x") == 1.5);
	CHECK(json_double(parse(arena, "2"), "x") == 2.0);
	CHECK_INT(json_string(parse(arena, "\"a\\u0000b\""), "x").len, 3);
	CHECK_INT(json_array_length(parse(arena, "[1, [], {}]"), "x"), 3);
	CHECK_INT(json_kind(parse(arena, "{}")), JSON_OBJECT);
}

static void
malformed_texts_are_refused(LakeArena *arena)
{
	static const char *const bad[] = {
		"", " ", "{", "[1", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "'a'",
		"1 2", "[1]]", "tru", "\"\\x\"", "\"\xff\"", "/* c */ 1", "\"a",
		"{\"a\":1 \"b\":2}", "nul", "+1"
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "test is not valid JSON",
					 parse(arena, bad[i]));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "test is not valid JSON",
				 json_parse(arena, (LakeBytes) {(const uint8_t *) "1\0002", 3},
							"test"));
}

static void
texts_larger_than_a_piece_are_parsed_whole(LakeArena *arena)
{
	/* words of 6 bytes: cuts fall anywhere */
	const int	count = 400000;
	static const char word[] = "\"\xe2\x9d\x84\",";
	char	   *text = lake_alloc(arena, (size_t) count * 6 + 3);
	LakeJson   *array;

	text[0] = '[';
	for (int i = 0; i < count; i++)
		memcpy(text + 1 + i * 6, word, 6);
	memcpy(text + count * 6, "] ", 3);
	array = parse(arena, text);
	CHECK_INT(json_array_length(array, "x"), count);
	for (int i = 0; i < count; i++)
		if (memcmp(json_string(json_array_at(array, (size_t) i), "x").data,
				   "\xe2\x9d\x84", 4) != 0)
			CHECK_INT(i, count);
	text[count * 6 - 12] = 'x';
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "expected at byte 2399988",
				 parse(arena, text));
}

/* three bytes that take json-c 760 */
static void
texts_of_too_many_values_are_refused(LakeArena *arena)
{
	const int	count = 1 << 20;
	char	   *text = lake_alloc(arena, (size_t) count * 3 + 2);

	text[0] = '[';
	for (int i = 0; i < count; i++)
		memcpy(text + 1 + i * 3, "{},", 3);
	text[count * 3] = ']';
	CHECK_THROWS(LAKE_ERROR_LIMIT, "too many JSON values",
				 parse(arena, text));
}

/* depth opening brackets, then as many closing ones */
static LakeBytes
nested(LakeArena *arena, size_t depth)
{
	char	   *text = lake_alloc(arena, 2 * depth);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return (LakeBytes) {(const uint8_t *) text, 2 * depth};
}

static void
depth_is_limited_in_both_halves(LakeArena *arena)
{
	LakeBytes	deepest = nested(arena, JSON_MAX_DEPTH - 1);
	LakeBytes	too_deep = nested(arena, 100000);
	JsonScan	scan;
	LakeBytes	element;

	CHECK(json_parse(arena, deepest, "test") != NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "nesting",
				 json_parse(arena, too_deep, "test"));
	json_scan_begin(&scan, deepest);
	CHECK(json_scan_next(&scan, &element));
	json_scan_begin(&scan, too_deep);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "deeper than",
				 json_scan_next(&scan, &element));
}

static void
integers_must_fit(LakeArena *arena)
{
	CHECK(json_int64(parse(arena, "9223372036854775807"), "x") == INT64_MAX);
	CHECK(json_int64(parse(arena, "-9223372036854775808"), "x") == INT64_MIN);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 json_int64(parse(arena, "9223372036854775808"), "x"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "",
				 json_int64(parse(arena, "99999999999999999999999"), "x"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "not an integer",
				 json_int64(parse(arena, "1.0"), "x"));
	CHECK_INT(json_get_int32(parse(arena, "{\"a\":-2147483648}"), "a"),
			  INT32_MIN);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"a\" is 2147483648",
				 json_get_int32(parse(arena, "{\"a\":2147483648}"), "a"));
}

static void
members_are_found_with_their_type(LakeArena *arena)
{
	LakeJson   *object = parse(arena, "{\"i\":1,\"b\":true,\"s\":\"x\","
							   "\"n\":null,\"z\":\"a\\u0000b\",\"i\":2}");
	int64_t		i = 0;
	int32_t		i32 = 0;
	bool		b = false;

	CHECK(json_find_int64(object, "i", &i) && i == 2);
	CHECK(json_find_int32(object, "i", &i32) && i32 == 2);
	CHECK(json_find_bool(object, "b", &b) && b);
	CHECK(json_get_bool(object, "b"));
	CHECK_STRING(json_get_string(object, "s"), "x");
	CHECK(json_find_string(object, "n") == NULL);
	CHECK(!json_find_int64(object, "none", &i) && i == 2);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"n\" is missing",
				 json_get_int64(object, "n"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"s\" is a string",
				 json_get_int64(object, "s"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"i\" is an integer",
				 json_find_string(object, "i"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "NUL",
				 json_get_string(object, "z"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"a\" is no object",
				 json_get(json_get(object, "i"), "a"));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"w\" is a string in JSON, not an array",
				 json_array_length(json_get(object, "s"), "w"));
}

static void
scanner_finds_members_past_tricky_strings(LakeArena *arena)
{
	LakeBytes	text = bytes(" { \"a\" : \"}\\\\\" , \"b\\\"\":[\"]\\\\\\\"[\",{}],"
							 "\"c\" :-1.5e3 ,\"d\":null,\"c\":{\"x\":[]} } ");
	LakeBytes	value;

	CHECK(json_scan_member(text, "a", &value));
	CHECK_STRING(text_of(arena, value), "\"}\\\\\"");
	CHECK(json_scan_member(text, "b\"", &value));
	CHECK_STRING(text_of(arena, value), "[\"]\\\\\\\"[\",{}]");
	CHECK(json_scan_member(text, "c", &value));
	CHECK_STRING(text_of(arena, value), "{\"x\":[]}");
	CHECK(json_scan_member(text, "d", &value) && json_scan_is_null(value));
	CHECK(!json_scan_member(text, "x", &value));
	CHECK(!json_scan_member(text, "", &value));
	CHECK(!json_scan_member(bytes("{}"), "a", &value));
}

static void
scanner_compares_keys_with_escapes_decoded(LakeArena *arena)
{
	LakeBytes	value;

	(void) arena;
	CHECK(json_scan_member(bytes("{\"\\u0073nap\":1}"), "snap", &value));
	CHECK(json_scan_member(bytes("{\"a\\/b\\n\":1}"), "a/b\n", &value));
	CHECK(!json_scan_member(bytes("{\"\\u0173nap\":1}"), "snap", &value));
	CHECK(!json_scan_member(bytes("{\"snap\\u0000\":1}"), "snap", &value));
	CHECK(!json_scan_member(bytes("{\"snaps\":1}"), "snap", &value));
	CHECK(!json_scan_member(bytes("{\"sna\":1}"), "snap", &value));
}

static void
scanner_walks_arrays(LakeArena *arena)
{
	JsonScan	scan;
	LakeBytes	element;

	json_scan_begin(&scan, bytes(" [ 1,\"a,b\" ,[2,3] , {} ] "));
	CHECK(json_scan_next(&scan, &element));
	CHECK_STRING(text_of(arena, element), "1");
	CHECK(json_scan_next(&scan, &element));
	CHECK_STRING(text_of(arena, element), "\"a,b\"");
	CHECK(json_scan_next(&scan, &element));
	CHECK_STRING(text_of(arena, element), "[2,3]");
	CHECK(json_scan_next(&scan, &element));
	CHECK_STRING(text_of(arena, element), "{}");
	CHECK(!json_scan_next(&scan, &element));
	CHECK(!json_scan_next(&scan, &element));
	json_scan_begin(&scan, bytes("[]"));
	CHECK(!json_scan_next(&scan, &element));
}

static void
walk(LakeBytes text)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;

	if (text.len > 0 && text.data[0] == '{')
	{
		json_scan_begin_object(&scan, text);
		while (json_scan_next_member(&scan, &key, &value))
			;
	}
	else
	{
		json_scan_begin(&scan, text);
		while (json_scan_next(&scan, &value))
			;
	}
}

static void
scanner_refuses_broken_structure(LakeArena *arena)
{
	static const char *const bad[] = {
		"", " ", "1", "[", "[1", "[1 2]", "[1,]", "[,1]", "[1]]", "[1}",
		"[[1}]", "[{]]", "[\"a]", "[\"a\\\"]", "{", "{\"a\"}", "{\"a\":}",
		"{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}", "{\"a\" 1}", "{\"a",
		"[*]", "{}x"
	};

	(void) arena;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "", walk(bytes(bad[i])));
}

static void
scanned_integers_must_fit(LakeArena *arena)
{
	int64_t		value = 0;

	(void) arena;
	CHECK(json_scan_int64(bytes("9223372036854775807"), &value));
	CHECK(value == INT64_MAX);
	CHECK(json_scan_int64(bytes("-9223372036854775808"), &value));
	CHECK(value == INT64_MIN);
	CHECK(json_scan_int64(bytes("0"), &value) && value == 0);
	CHECK(json_scan_int64(bytes("-17"), &value) && value == -17);
	CHECK(!json_scan_int64(bytes("9223372036854775808"), &value));
	CHECK(!json_scan_int64(bytes("-9223372036854775809"), &value));
	CHECK(!json_scan_int64(bytes("1.0"), &value));
	CHECK(!json_scan_int64(bytes("01"), &value));
	CHECK(!json_scan_int64(bytes("-"), &value));
	CHECK(!json_scan_int64(bytes(""), &value));
	CHECK(!json_scan_int64(bytes("\"1\""), &value));
	CHECK(!json_scan_int64(bytes("null"), &value));
}

static void
written_strings_are_read_back(LakeArena *arena)
{
	static const char *const texts[] = {"", "plain", "\"quoted\" \\ back",
	"\x01\x1f\t\r\n", "\xc3\xa4 \xf0\x9f\x98\x80 \x7f"};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
	{
		LakeBuffer	out;
		LakeBytes	back;

		buffer_init(&out, arena);
		json_append_string(&out, texts[i]);
		back = json_string(json_parse(arena, (LakeBytes) {out.data, out.len},
									  "test"), "test");
		CHECK_STRING((const char *) back.data, texts[i]);
	}
}

static const UnitTest tests[] = {
	UNIT(whole_texts_of_each_kind_are_parsed),
	UNIT(malformed_texts_are_refused),
	UNIT(texts_larger_than_a_piece_are_parsed_whole),
	UNIT(texts_of_too_many_values_are_refused),
	UNIT(depth_is_limited_in_both_halves),
	UNIT(integers_must_fit),
	UNIT(members_are_found_with_their_type),
	UNIT(scanner_finds_members_past_tricky_strings),
	UNIT(scanner_compares_keys_with_escapes_decoded),
	UNIT(scanner_walks_arrays),
	UNIT(scanner_refuses_broken_structure),
	UNIT(scanned_integers_must_fit),
	UNIT(written_strings_are_read_back),
};

UNIT_MAIN(tests)
