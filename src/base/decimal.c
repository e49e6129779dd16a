/*
 * Decimals.  The text form of a 128-bit number is made from two halves of at
 * most 19 digits, since 128-bit division is slow.
 */
#include "base/decimal.h"

#include <string.h>

static const int64_t powers10[19] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
	10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
	1000000000000000, 10000000000000000, 100000000000000000,
	1000000000000000000
};

bool
decimal_from_bytes(const uint8_t *data, size_t len, LakeInt128 *result)
{
	unsigned __int128 value;
	uint8_t		fill;

	if (len == 0)
	{
		*result = 0;
		return true;
	}
	fill = data[0] & 0x80 ? 0xff : 0;

	/* a writer may pad: drop bytes that only repeat the sign */
	while (len > sizeof value && data[0] == fill)
	{
		data++;
		len--;
	}
	if (len > sizeof value || (data[0] & 0x80) != (fill & 0x80))
		return false;
	value = fill ? ~(unsigned __int128) 0 : 0;
	for (size_t i = 0; i < len; i++)
		value = value << 8 | data[i];
	*result = (LakeInt128) value;
	return true;
}

size_t
decimal_to_bytes(LakeInt128 value, uint8_t bytes[16])
{
	unsigned __int128 rest = (unsigned __int128) value;
	uint8_t		fill = value < 0 ? 0xff : 0;
	size_t		start = 0;

	for (size_t i = 16; i-- > 0; rest >>= 8)
		bytes[i] = (uint8_t) rest;
	while (start < 15 && bytes[start] == fill &&
		   (bytes[start + 1] & 0x80) == (fill & 0x80))
		start++;
	memmove(bytes, bytes + start, 16 - start);
	return 16 - start;
}

LakeInt128
decimal_power10(int exponent)
{
	LakeInt128	power = 1;

	for (; exponent > 18; exponent -= 18)
		power *= powers10[18];
	return power * powers10[exponent];
}

bool
decimal_fits(LakeInt128 value, int precision)
{
	LakeInt128	limit = decimal_power10(precision);

	return value < limit && value > -limit;
}

/* writes value's digits so that they end before end; returns their start */
static char *
format_digits(uint64_t value, char *end)
{
	do
	{
		*--end = (char) ('0' + value % 10);
		value /= 10;
	} while (value != 0);
	return end;
}

size_t
decimal_format(LakeInt128 value, int scale, char *out)
{
	unsigned __int128 rest = (unsigned __int128) value;
	char		digits[64];
	char	   *end = digits + sizeof digits;
	char	   *start = end;
	size_t		whole;
	size_t		fraction = (size_t) scale;
	char	   *pos = out;

	if (value < 0)
	{
		rest = -rest;
		*pos++ = '-';
	}
	while (rest > UINT64_MAX)
	{
		/* 18 digits at a time, zeros in front of them kept */
		char	   *until = start - 18;

		start = format_digits((uint64_t) (rest % (uint64_t) powers10[18]),
							  start);
		while (start > until)
			*--start = '0';
		rest /= (uint64_t) powers10[18];
	}
	start = format_digits((uint64_t) rest, start);
	while ((size_t) (end - start) <= fraction)
		*--start = '0';

	whole = (size_t) (end - start) - fraction;
	memcpy(pos, start, whole);
	pos += whole;
	if (fraction > 0)
	{
		*pos++ = '.';
		memcpy(pos, start + whole, fraction);
		pos += fraction;
	}
	*pos = '\0';
	return (size_t) (pos - out);
}

/* value * 10^exponent; false if it is not exact or has more than 38 digits */
static bool
shift_exact(LakeInt128 value, int64_t exponent, LakeInt128 *result)
{
	*result = 0;
	if (value == 0)
		return true;
	if (exponent > DECIMAL_MAX_PRECISION || exponent < -DECIMAL_MAX_PRECISION)
		return false;
	if (exponent >= 0)
	{
		if (__builtin_mul_overflow(value, decimal_power10((int) exponent),
								   result))
			return false;
	}
	else
	{
		LakeInt128	divisor = decimal_power10((int) -exponent);

		if (value % divisor != 0)
			return false;
		*result = value / divisor;
	}
	return decimal_fits(*result, DECIMAL_MAX_PRECISION);
}

/* "e", a sign and digits; saturates, since shift_exact refuses large ones */
static bool
parse_exponent(const char *pos, const char *end, int64_t *exponent)
{
	bool		negative = false;
	int64_t		value = 0;

	if (pos < end && (*pos == '-' || *pos == '+'))
		negative = *pos++ == '-';
	if (pos == end)
		return false;
	for (; pos < end; pos++)
	{
		if (*pos < '0' || *pos > '9')
			return false;
		if (value < INT32_MAX)
			value = value * 10 + (*pos - '0');
	}
	*exponent = negative ? -value : value;
	return true;
}

bool
decimal_parse(const char *text, size_t len, int scale, LakeInt128 *result)
{
	const char *pos = text;
	const char *end = text + len;
	LakeInt128	value = 0;
	int64_t		exponent = 0;	/* of the number as written */
	int64_t		shift = 0;		/* of the digits taken into value */
	int64_t		zeros = 0;		/* digits 0 not yet taken: maybe trailing */
	bool		negative = false;
	bool		has_digit = false;
	bool		has_point = false;

	if (pos < end && (*pos == '-' || *pos == '+'))
		negative = *pos++ == '-';
	for (; pos < end && *pos != 'e' && *pos != 'E'; pos++)
	{
		if (*pos == '.' && !has_point)
		{
			has_point = true;
			continue;
		}
		if (*pos < '0' || *pos > '9')
			return false;
		has_digit = true;
		shift -= has_point;
		zeros++;
		if (*pos == '0')
			continue;
		if (value == 0)
			zeros = 1;
		if (!shift_exact(value, zeros, &value))
			return false;
		value += *pos - '0';
		zeros = 0;
	}
	if (!has_digit ||
		(pos < end && !parse_exponent(pos + 1, end, &exponent)))
		return false;
	if (negative)
		value = -value;
	return shift_exact(value, exponent + shift + zeros + scale, result);
}
