/*
 * JSON: json-c behind depth and size limits, and a string-aware scanner that
 * finds members and elements so that only the needed ones are parsed.
 *
 * A table's metadata with 10,000 snapshots takes json-c 75 ms and the scanner
 * 4 ms; that is the reason for the scanner.  It checks the structure it walks
 * over, not the text inside of skipped strings.
 */
#ifndef LAKE_JSON_H
#define LAKE_JSON_H

#include "base/base.h"
#include "base/bytes.h"

/*
 * Limits of both halves: CORRUPT when nested deeper (a struct in a schema
 * costs three levels, see LAKE_MAX_TYPE_DEPTH), LIMIT when a text to be parsed
 * is larger or has more values than json-c can hold in that memory (it needs
 * up to 260 bytes a byte; the scanner needs none).  The fields of a schema cost
 * some 1,800 bytes each.
 */
#define JSON_MAX_DEPTH	640
#define JSON_MAX_SIZE	(64 * 1024 * 1024)
#define JSON_MAX_MEMORY	((size_t) 512 << 20)

/* ---- scanner: works on text, allocates nothing, throws CORRUPT ---- */

/*
 * The value of a member of the object in text; false if there is none.  If a
 * key is repeated the last one counts, as in json-c.  value is borrowed from
 * text, without surrounding white space.
 */
extern bool json_scan_member(LakeBytes text, const char *key,
							 LakeBytes *value);

typedef struct JsonScan
{
	const uint8_t *pos;
	const uint8_t *end;
	bool		first;
} JsonScan;

/* walks the elements of the array in text */
extern void json_scan_begin(JsonScan *scan, LakeBytes text);
extern bool json_scan_next(JsonScan *scan, LakeBytes *element);

/* walks the members of an object; key is the raw text between its quotes */
extern void json_scan_begin_object(JsonScan *scan, LakeBytes text);
extern bool json_scan_next_member(JsonScan *scan, LakeBytes *key,
								  LakeBytes *value);

/* is it the literal null? */
extern bool json_scan_is_null(LakeBytes value);

/* an integer literal that fits; false if value is anything else */
extern bool json_scan_int64(LakeBytes value, int64_t *result);

/* ---- parsed values ---- */

/* a json-c object; borrowed from the arena that json_parse was given */
typedef struct json_object LakeJson;

/*
 * Parses a whole text; the result (NULL for the literal null) is owned by the
 * arena.  what names the text in messages.
 */
extern LakeJson *json_parse(LakeArena *arena, LakeBytes text,
							const char *what);

/*
 * Typed access to a member.  find_* return false (or NULL) when it is absent or
 * null; get_* throw CORRUPT then; both throw CORRUPT, naming the key, when it
 * has another type or does not fit.  Strings are NUL-terminated, borrowed from
 * the parsed value, and refused when they have an embedded NUL.
 */
extern LakeJson *json_find(LakeJson *object, const char *key);
extern LakeJson *json_get(LakeJson *object, const char *key);
extern bool json_find_int64(LakeJson *object, const char *key,
							int64_t *result);
extern int64_t json_get_int64(LakeJson *object, const char *key);
extern bool json_find_int32(LakeJson *object, const char *key,
							int32_t *result);
extern int32_t json_get_int32(LakeJson *object, const char *key);
extern bool json_find_bool(LakeJson *object, const char *key, bool *result);
extern bool json_get_bool(LakeJson *object, const char *key);
extern const char *json_find_string(LakeJson *object, const char *key);
extern const char *json_get_string(LakeJson *object, const char *key);

/* the elements of an array value; what names it when it is no array */
extern size_t json_array_count(LakeJson *array, const char *what);
extern LakeJson *json_array_at(LakeJson *array, size_t index);

typedef enum JsonKind
{
	JSON_NULL,
	JSON_BOOL,
	JSON_INT,
	JSON_DOUBLE,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
} JsonKind;

extern JsonKind json_kind(LakeJson *value);

/* json-c turns integers below INT64_MIN into INT64_MIN: not noticed here */
extern int64_t json_int64(LakeJson *value, const char *what);
extern double json_double(LakeJson *value, const char *what);
extern bool json_bool(LakeJson *value, const char *what);
extern LakeBytes json_string(LakeJson *value, const char *what);

/* the value as JSON text, borrowed from it; numbers as they were parsed */
extern const char *json_text(LakeJson *value);

/* ---- writing ---- */

/* appends a string literal of valid UTF-8 text, quotes included */
extern void json_append_string(LakeBuffer *out, const char *text);

/*
 * A shorter name for the core half; the server has a function of the same name.
 */
#ifndef POSTGRES_H
#define json_array_length	json_array_count
#endif

#endif							/* LAKE_JSON_H */
