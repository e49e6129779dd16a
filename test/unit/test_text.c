/*
 * Text forms: UTF-8 edges, escapes, UUID, the calendar.
 */
#include "unit.h"

#include "base/text.h"

static LakeBytes
bytes(const char *text)
{
	return (LakeBytes) {.data = (const uint8_t *) text, .len = strlen(text)};
}

static void
valid_utf8_is_accepted_at_the_edges(LakeArena *arena)
{
	(void) arena;
	CHECK(text_is_valid(bytes("")));
	CHECK(text_is_valid(bytes("plain ascii, longer than a word \x7f")));
	CHECK(text_is_valid(bytes("\xc2\x80 \xdf\xbf")));
	CHECK(text_is_valid(bytes("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80")));
	CHECK(text_is_valid(bytes("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf")));
}

static void
invalid_utf8_is_refused_at_every_offset(LakeArena *arena)
{
	static const char *const bad[] = {
		"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80",
		"\xe1\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xff", "\xc2" "a", "\xe1\x80" "a", "\xf1\x80\x80" "a"
	};

	(void) arena;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
	{
		for (size_t before = 0; before < 10; before++)
		{
			char		text[32] = "0123456789";

			strcpy(text + before, bad[i]);
			CHECK(!text_is_valid(bytes(text)));
			strcat(text, "01234567");
			CHECK(!text_is_valid(bytes(text)));
		}
	}
}

static void
nul_is_refused_at_every_offset(LakeArena *arena)
{
	(void) arena;
	for (size_t at = 0; at < 20; at++)
	{
		uint8_t		text[20];

		memset(text, 'x', sizeof text);
		text[at] = 0;
		CHECK(!text_is_valid((LakeBytes) {text, sizeof text}));
		CHECK(text_is_valid((LakeBytes) {text, at}));
	}
}

static void
prefix_counts_code_points(LakeArena *arena)
{
	LakeBytes	text = bytes("a\xc3\xa9\xe6\x97\xa5\xf0\x9f\xa7\x8az");

	(void) arena;
	CHECK_INT(text_prefix(text, 0), 0);
	CHECK_INT(text_prefix(text, 1), 1);
	CHECK_INT(text_prefix(text, 2), 3);
	CHECK_INT(text_prefix(text, 3), 6);
	CHECK_INT(text_prefix(text, 4), 10);
	CHECK_INT(text_prefix(text, 5), 11);
	CHECK_INT(text_prefix(text, 99), 11);
}

static void
percent_decode_keeps_what_is_malformed(LakeArena *arena)
{
	CHECK_STRING(text_percent_decode(arena, "a%20b%2Fc%c3%A9"), "a b/c\xc3\xa9");
	CHECK_STRING(text_percent_decode(arena, "%"), "%");
	CHECK_STRING(text_percent_decode(arena, "%4"), "%4");
	CHECK_STRING(text_percent_decode(arena, "%zz%4g"), "%zz%4g");
	CHECK_STRING(text_percent_decode(arena, "a%00b"), "a%00b");
	CHECK_STRING(text_percent_decode(arena, "%252F"), "%2F");
}

static void
uuid_round_trips_and_refuses_other_shapes(LakeArena *arena)
{
	const char *text = "f79c3e09-677c-4bbd-a479-3f349cb785e7";
	uint8_t		uuid[16];
	char		out[37];

	(void) arena;
	CHECK(text_parse_uuid(text, 36, uuid));
	CHECK_INT(uuid[0], 0xf7);
	CHECK_INT(uuid[15], 0xe7);
	text_format_uuid(uuid, out);
	CHECK_STRING(out, text);
	CHECK(text_parse_uuid("F79C3E09-677C-4BBD-A479-3F349CB785E7", 36, uuid));
	CHECK(!text_parse_uuid(text, 35, uuid));
	CHECK(!text_parse_uuid("f79c3e09677c-4bbd-a479-3f349cb785e7-", 36, uuid));
	CHECK(!text_parse_uuid("f79c3e09-677c-4bbd-a479-3f349cb785eg", 36, uuid));
}

static void
hex_needs_whole_bytes(LakeArena *arena)
{
	LakeBytes	result;

	CHECK(text_parse_hex(arena, "00ffAb", 6, &result));
	CHECK_INT(result.len, 3);
	CHECK(memcmp(result.data, "\x00\xff\xab", 3) == 0);
	CHECK(text_parse_hex(arena, "", 0, &result) && result.len == 0);
	CHECK(!text_parse_hex(arena, "abc", 3, &result));
	CHECK(!text_parse_hex(arena, "0g", 2, &result));
}

static void
calendar_round_trips_over_all_years(LakeArena *arena)
{
	int64_t		expected = text_days_from_civil(-10000, 3, 1);

	(void) arena;
	CHECK_INT(text_days_from_civil(1970, 1, 1), 0);
	CHECK_INT(text_days_from_civil(2017, 11, 16), 17486);
	CHECK_INT(text_days_from_civil(1969, 12, 31), -1);
	/* every day of 800 years, then coarse steps over the whole range */
	for (int i = 0; i < 2 * 146097; i++, expected++)
	{
		int64_t		year;
		int			month;
		int			day;

		text_civil_from_days(expected, &year, &month, &day);
		CHECK_INT(text_days_from_civil(year, month, day), expected);
	}
	for (int64_t days = -5000000; days < 4000000000; days += 999983)
	{
		int64_t		year;
		int			month;
		int			day;

		text_civil_from_days(days, &year, &month, &day);
		CHECK_INT(text_days_from_civil(year, month, day), days);
	}
}

static bool
date_is(const char *text, int32_t expected)
{
	int32_t		days;

	return text_parse_date(text, strlen(text), &days) && days == expected;
}

static bool
is_no_date(const char *text)
{
	int32_t		days;

	return !text_parse_date(text, strlen(text), &days);
}

static void
dates_are_parsed_strictly(LakeArena *arena)
{
	(void) arena;
	CHECK(date_is("2017-11-16", 17486));
	CHECK(date_is("1969-12-31", -1));
	CHECK(date_is("2000-02-29", 11016));
	CHECK(date_is("+2000-02-29", 11016));
	CHECK(date_is("-0001-01-01", -719893));
	CHECK(date_is("0000-01-01", -719528));
	CHECK(is_no_date("1900-02-29"));
	CHECK(is_no_date("2001-02-29"));
	CHECK(is_no_date("2001-00-01"));
	CHECK(is_no_date("2001-13-01"));
	CHECK(is_no_date("2001-01-00"));
	CHECK(is_no_date("2001-04-31"));
	CHECK(is_no_date("201-01-01"));
	CHECK(is_no_date("2001-1-01"));
	CHECK(is_no_date("2001-01-01 "));
	CHECK(is_no_date("9999999-01-01"));
	CHECK(is_no_date(""));
}

static bool
time_is(const char *text, int digits, int64_t expected)
{
	int64_t		value;

	return text_parse_time(text, strlen(text), digits, &value) &&
		value == expected;
}

static void
times_are_parsed_strictly(LakeArena *arena)
{
	int64_t		value;

	(void) arena;
	CHECK(time_is("22:31:08", 6, 81068000000));
	CHECK(time_is("22:31:08.123456", 6, 81068123456));
	CHECK(time_is("22:31:08.1", 9, 81068100000000));
	CHECK(time_is("22:31", 6, 81060000000));
	CHECK(!text_parse_time("24:00:00", 8, 6, &value));
	CHECK(!text_parse_time("22:60:00", 8, 6, &value));
	CHECK(!text_parse_time("22:31:60", 8, 6, &value));
	CHECK(!text_parse_time("22:31:08.", 9, 6, &value));
	CHECK(!text_parse_time("22:31:08.1234567", 16, 6, &value));
}

static bool
timestamp_is(const char *text, int digits, bool zone, int64_t expected)
{
	int64_t		value;

	return text_parse_timestamp(text, strlen(text), digits, zone, &value) &&
		value == expected;
}

static bool
is_no_timestamp(const char *text, int digits, bool zone)
{
	int64_t		value;

	return !text_parse_timestamp(text, strlen(text), digits, zone, &value);
}

static void
timestamps_need_exactly_their_zone(LakeArena *arena)
{
	(void) arena;
	CHECK(timestamp_is("2017-11-16T22:31:08", 6, false, 1510871468000000));
	CHECK(timestamp_is("2017-11-16T22:31:08.000001", 6, false,
					   1510871468000001));
	CHECK(timestamp_is("2017-11-16T14:31:08-08:00", 6, true,
					   1510871468000000));
	CHECK(timestamp_is("2017-11-16T22:31:08Z", 6, true, 1510871468000000));
	CHECK(timestamp_is("2017-11-16T22:31:08.000001001+00:00", 9, true,
					   1510871468000001001));
	CHECK(timestamp_is("1969-12-31T23:59:59.999999", 6, false, -1));
	CHECK(is_no_timestamp("2017-11-16T22:31:08", 6, true));
	CHECK(is_no_timestamp("2017-11-16T22:31:08Z", 6, false));
	CHECK(is_no_timestamp("2017-11-16 22:31:08", 6, false));
	CHECK(is_no_timestamp("2017-11-16", 6, false));
}

static void
timestamps_reach_both_ends_of_the_range(LakeArena *arena)
{
	(void) arena;
	CHECK(timestamp_is("1677-09-21T00:12:43.145224192", 9, false, INT64_MIN));
	CHECK(timestamp_is("2262-04-11T23:47:16.854775807", 9, false, INT64_MAX));
	CHECK(is_no_timestamp("1677-09-21T00:12:43.145224191", 9, false));
	CHECK(is_no_timestamp("2262-04-11T23:47:16.854775808", 9, false));
	CHECK(is_no_timestamp("9999999-01-01T00:00:00", 6, false));
}

static void
code_points_round_trip(LakeArena *arena)
{
	(void) arena;
	for (uint32_t code = 1; code <= 0x10ffff; code++)
	{
		uint8_t		bytes[4];
		size_t		len = text_encode(code, bytes);

		if (code == 0xd800)
			code = 0xe000, len = text_encode(code, bytes);
		CHECK(text_is_valid((LakeBytes) {bytes, len}));
		CHECK(text_code_point(bytes, len) == code);
	}
}

static const UnitTest tests[] = {
	UNIT(valid_utf8_is_accepted_at_the_edges),
	UNIT(invalid_utf8_is_refused_at_every_offset),
	UNIT(nul_is_refused_at_every_offset),
	UNIT(prefix_counts_code_points),
	UNIT(code_points_round_trip),
	UNIT(percent_decode_keeps_what_is_malformed),
	UNIT(uuid_round_trips_and_refuses_other_shapes),
	UNIT(hex_needs_whole_bytes),
	UNIT(calendar_round_trips_over_all_years),
	UNIT(dates_are_parsed_strictly),
	UNIT(times_are_parsed_strictly),
	UNIT(timestamps_need_exactly_their_zone),
	UNIT(timestamps_reach_both_ends_of_the_range),
};

UNIT_MAIN(tests)
