/*
 * Text forms: UTF-8, percent-encoding, UUID, ISO dates and times.
 */
#ifndef LAKE_TEXT_H
#define LAKE_TEXT_H

#include "base/base.h"

/* well-formed UTF-8 (no surrogates, no overlong forms) and free of NUL */
extern bool text_is_valid(LakeBytes text);

/* length in bytes of the first n code points (or of all, if fewer) */
extern size_t text_prefix(LakeBytes text, size_t code_points);

/* the code point of a well-formed sequence, of 1 to 4 bytes */
extern uint32_t text_code_point(const uint8_t *sequence, size_t len);

/* its UTF-8 in out, which has room for 4 bytes; returns the length */
extern size_t text_encode(uint32_t code_point, uint8_t *out);

/* %XX decoded into arena; malformed escapes and %00 are kept as they stand */
extern char *text_percent_decode(LakeArena *arena, const char *text);

/* 8-4-4-4-12 hex digits, either case, dashes required; false if malformed */
extern bool text_parse_uuid(const char *text, size_t len, uint8_t uuid[16]);
extern void text_format_uuid(const uint8_t uuid[16], char out[37]);
extern bool text_parse_hex(LakeArena *arena, const char *text, size_t len,
						   LakeBytes *result);

/*
 * ISO 8601 as Iceberg's JSON values use it.  Proleptic Gregorian calendar,
 * years -9999..9999999.  False if malformed.  Units are given by the names;
 * a timestamp's offset (Z or +hh:mm) is required when zone is true and refused
 * otherwise.  digits: 6 for microseconds, 9 for nanoseconds.
 */
extern bool text_parse_date(const char *text, size_t len, int32_t *days);
extern bool text_parse_time(const char *text, size_t len, int digits,
							int64_t *value);
extern bool text_parse_timestamp(const char *text, size_t len, int digits,
								 bool zone, int64_t *value);

/* days since 1970-01-01 from a civil date and back */
extern int64_t text_days_from_civil(int64_t year, int month, int day);
extern void text_civil_from_days(int64_t days, int64_t *year, int *month,
								 int *day);

/*
 * A name that Avro allows for any other, as Java makes it: a digit at the
 * beginning gets an underscore, what is no letter is _x and the hex of its
 * UTF-16 units.  In arena.
 */
extern const char *text_avro_name(LakeArena *arena, const char *name);

#endif							/* LAKE_TEXT_H */
