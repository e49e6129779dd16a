/*
 * Text forms.  The calendar is the proleptic Gregorian one, by the era method:
 * 400 years are 146097 days, and years begin on March 1st so that the leap day
 * comes last.
 */
#include "base/text.h"

#include <string.h>

#include "base/bits.h"

/* length of the well-formed sequence at pos, 0 if there is none */
static size_t
utf8_sequence(const uint8_t *pos, size_t left)
{
	uint8_t		lead = pos[0];
	uint8_t		low = 0x80;
	uint8_t		high = 0xbf;
	size_t		len;

	if (lead < 0x80)
		return lead != 0;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	len = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	if (len > left)
		return 0;
	/* overlong forms, surrogates and what is above U+10FFFF */
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (pos[1] < low || pos[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
	{
		if ((pos[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

bool
text_is_valid(LakeBytes text)
{
	const uint8_t *pos = text.data;
	size_t		left = text.len;

	while (left > 0)
	{
		size_t		len;

		if (left >= 8)
		{
			uint64_t	word = bits_load_u64le(pos);

			/* eight bytes at once when all are in 0x01..0x7f */
			if (((word | (word - 0x0101010101010101u)) &
				 0x8080808080808080u) == 0)
			{
				pos += 8;
				left -= 8;
				continue;
			}
		}
		len = utf8_sequence(pos, left);
		if (len == 0)
			return false;
		pos += len;
		left -= len;
	}
	return true;
}

size_t
text_prefix(LakeBytes text, size_t code_points)
{
	size_t		pos = 0;

	if (code_points >= text.len)
		return text.len;
	for (; code_points > 0 && pos < text.len; code_points--)
	{
		pos++;
		while (pos < text.len && (text.data[pos] & 0xc0) == 0x80)
			pos++;
	}
	return pos;
}

uint32_t
text_code_point(const uint8_t *sequence, size_t len)
{
	uint32_t	code = len == 1 ? sequence[0] : sequence[0] & (0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (sequence[i] & 0x3f);
	return code;
}

size_t
text_encode(uint32_t code_point, uint8_t *out)
{
	size_t		len = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 :
		code_point < 0x10000 ? 3 : 4;

	if (len == 1)
	{
		out[0] = (uint8_t) code_point;
		return 1;
	}
	for (size_t i = len - 1; i > 0; i--, code_point >>= 6)
		out[i] = (uint8_t) (0x80 | (code_point & 0x3f));
	/* as many ones as there are bytes, and a zero */
	out[0] = (uint8_t) (0xf00u >> len | code_point);
	return len;
}

/* the value of a hex digit, -1 if it is none */
static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* the byte that two hex digits give, -1 if they do not */
static int
hex_byte(const char *text)
{
	int			high = hex_digit(text[0]);
	int			low = high < 0 ? -1 : hex_digit(text[1]);

	return low < 0 ? -1 : high << 4 | low;
}

char *
text_percent_decode(LakeArena *arena, const char *text)
{
	char	   *result = lake_alloc_raw(arena, strlen(text) + 1);
	char	   *out = result;

	while (*text != '\0')
	{
		int			byte = *text == '%' ? hex_byte(text + 1) : -1;

		/* a NUL would end the text before its end */
		if (byte > 0)
		{
			*out++ = (char) byte;
			text += 3;
		}
		else
			*out++ = *text++;
	}
	*out = '\0';
	return result;
}

static bool
is_uuid_dash(size_t pos)
{
	return pos == 8 || pos == 13 || pos == 18 || pos == 23;
}

bool
text_parse_uuid(const char *text, size_t len, uint8_t uuid[16])
{
	size_t		count = 0;

	if (len != 36)
		return false;
	for (size_t pos = 0; pos < len;)
	{
		int			byte;

		if (is_uuid_dash(pos))
		{
			if (text[pos++] != '-')
				return false;
			continue;
		}
		byte = hex_byte(text + pos);
		if (byte < 0)
			return false;
		uuid[count++] = (uint8_t) byte;
		pos += 2;
	}
	return true;
}

void
text_format_uuid(const uint8_t uuid[16], char out[37])
{
	static const char digits[] = "0123456789abcdef";
	size_t		pos = 0;

	for (int i = 0; i < 16; i++)
	{
		if (is_uuid_dash(pos))
			out[pos++] = '-';
		out[pos++] = digits[uuid[i] >> 4];
		out[pos++] = digits[uuid[i] & 15];
	}
	out[pos] = '\0';
}

bool
text_parse_hex(LakeArena *arena, const char *text, size_t len,
			   LakeBytes *result)
{
	uint8_t    *bytes;

	if (len % 2 != 0)
		return false;
	bytes = lake_alloc_raw(arena, len / 2);
	for (size_t i = 0; i < len / 2; i++)
	{
		int			byte = hex_byte(text + 2 * i);

		if (byte < 0)
			return false;
		bytes[i] = (uint8_t) byte;
	}
	*result = (LakeBytes) {.data = bytes, .len = len / 2};
	return true;
}

int64_t
text_days_from_civil(int64_t year, int month, int day)
{
	int64_t		y = month <= 2 ? year - 1 : year;
	int64_t		era = bits_floor_div(y, 400);
	int64_t		year_of_era = y - era * 400;
	int64_t		day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
	int64_t		day_of_era = year_of_era * 365 + year_of_era / 4 -
		year_of_era / 100 + day_of_year;

	return era * 146097 + day_of_era - 719468;
}

void
text_civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
	int64_t		shifted = days + 719468;
	int64_t		era = bits_floor_div(shifted, 146097);
	int64_t		day_of_era = shifted - era * 146097;
	int64_t		year_of_era = (day_of_era - day_of_era / 1460 +
							   day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t		day_of_year = day_of_era -
		(365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t		shifted_month = (5 * day_of_year + 2) / 153;

	*day = (int) (day_of_year - (153 * shifted_month + 2) / 5 + 1);
	*month = (int) shifted_month + (shifted_month < 10 ? 3 : -9);
	*year = year_of_era + era * 400 + (*month <= 2);
}

/* what is left of the text being parsed */
typedef struct TextCursor
{
	const char *pos;
	const char *end;
} TextCursor;

static bool
take_char(TextCursor *cursor, char c)
{
	if (cursor->pos == cursor->end || *cursor->pos != c)
		return false;
	cursor->pos++;
	return true;
}

/* min to max digits; returns how many it took, 0 if too few */
static int
take_digits(TextCursor *cursor, int min, int max, int64_t *value)
{
	int			count = 0;

	*value = 0;
	while (count < max && cursor->pos < cursor->end &&
		   *cursor->pos >= '0' && *cursor->pos <= '9')
	{
		*value = *value * 10 + (*cursor->pos++ - '0');
		count++;
	}
	return count < min ? 0 : count;
}

static bool
take_two(TextCursor *cursor, int limit, int64_t *value)
{
	return take_digits(cursor, 2, 2, value) == 2 && *value < limit;
}

static int
month_days(int64_t year, int month)
{
	static const int8_t days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	bool		leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static bool
take_date(TextCursor *cursor, int64_t *days)
{
	int64_t		year;
	int64_t		month;
	int64_t		day;
	bool		negative = take_char(cursor, '-');

	if (!negative)
		(void) take_char(cursor, '+');
	if (take_digits(cursor, 4, negative ? 4 : 7, &year) == 0 ||
		!take_char(cursor, '-') || !take_two(cursor, 13, &month) ||
		!take_char(cursor, '-') || !take_two(cursor, 32, &day))
		return false;
	if (negative)
		year = -year;
	if (month < 1 || day < 1 || day > month_days(year, (int) month))
		return false;
	*days = text_days_from_civil(year, (int) month, (int) day);
	return true;
}

/* hh:mm[:ss[.fraction]], in units of 10^-digits seconds */
static bool
take_time(TextCursor *cursor, int digits, int64_t *value)
{
	int64_t		hour;
	int64_t		minute;
	int64_t		second = 0;
	int64_t		fraction = 0;
	int			count = 0;

	if (!take_two(cursor, 24, &hour) || !take_char(cursor, ':') ||
		!take_two(cursor, 60, &minute))
		return false;
	if (take_char(cursor, ':') && !take_two(cursor, 60, &second))
		return false;
	if (take_char(cursor, '.'))
	{
		count = take_digits(cursor, 1, digits, &fraction);
		if (count == 0)
			return false;
	}
	*value = (hour * 60 + minute) * 60 + second;
	for (int i = 0; i < digits; i++)
		*value *= 10;
	for (; count < digits; count++)
		fraction *= 10;
	*value += fraction;
	return true;
}

/* Z or +hh:mm, in seconds */
static bool
take_offset(TextCursor *cursor, int64_t *offset)
{
	int64_t		hour;
	int64_t		minute;
	bool		negative;

	*offset = 0;
	if (take_char(cursor, 'Z'))
		return true;
	negative = take_char(cursor, '-');
	if (!negative && !take_char(cursor, '+'))
		return false;
	if (!take_two(cursor, 24, &hour) || !take_char(cursor, ':') ||
		!take_two(cursor, 60, &minute))
		return false;
	*offset = (hour * 60 + minute) * 60;
	if (negative)
		*offset = -*offset;
	return true;
}

bool
text_parse_date(const char *text, size_t len, int32_t *days)
{
	TextCursor	cursor = {text, text + len};
	int64_t		value;

	if (!take_date(&cursor, &value) || cursor.pos != cursor.end ||
		value > INT32_MAX)
		return false;
	*days = (int32_t) value;
	return true;
}

bool
text_parse_time(const char *text, size_t len, int digits, int64_t *value)
{
	TextCursor	cursor = {text, text + len};

	return take_time(&cursor, digits, value) && cursor.pos == cursor.end;
}

bool
text_parse_timestamp(const char *text, size_t len, int digits, bool zone,
					 int64_t *value)
{
	TextCursor	cursor = {text, text + len};
	int64_t		days;
	int64_t		time;
	int64_t		offset = 0;
	int64_t		second = 1;
	LakeInt128	total;

	if (!take_date(&cursor, &days) || !take_char(&cursor, 'T') ||
		!take_time(&cursor, digits, &time) ||
		(zone && !take_offset(&cursor, &offset)) || cursor.pos != cursor.end)
		return false;
	for (int i = 0; i < digits; i++)
		second *= 10;

	/* where the range ends its first second's start may be outside of it */
	total = (LakeInt128) (days * 86400 - offset) * second + time;
	*value = (int64_t) total;
	return total >= INT64_MIN && total <= INT64_MAX;
}
