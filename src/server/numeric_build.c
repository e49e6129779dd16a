/*
 * Scaled integers to numeric Datums and back, without numeric.c's arithmetic.
 *
 * numeric.c keeps its layout to itself, but the layout is on disk and so cannot
 * change: a varlena header, two bytes of sign, display scale and weight, then
 * base-10000 digits without leading or trailing zero digits.  Lake decimals
 * always fit this short form (NUMERIC_SHORT).  Building it takes 7-11 ns;
 * int64_div_fast_to_numeric takes 39-55 ns and numeric_in more than 200.
 * Assert-enabled builds compare every value with numeric_in's.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/decimal.h"
#include "server/server_int.h"

/* header bits of numeric.c */
#define SIGN_MASK			0xC000
#define SIGN_NEGATIVE		0x4000
#define SIGN_SHORT			0x8000
#define SIGN_SPECIAL		0xC000
#define SPECIAL_MASK		0xF000
#define SPECIAL_NEG_INF		0xF000
#define SHORT_NEGATIVE		0x2000
#define SHORT_SCALE_SHIFT	7
#define SHORT_WEIGHT_SIGN	0x0040
#define SHORT_WEIGHT_MASK	0x003F

/* 39 decimal digits, split anywhere into groups of four */
#define MAX_GROUPS			12

#define POWER_1E16			UINT64CONST(10000000000000000)
#define POWER_1E14			UINT64CONST(100000000000000)

/* base-10000 digits, least significant first */
typedef struct Groups
{
	int			count;
	uint16		digits[MAX_GROUPS];
} Groups;

static const int power10[] = {1, 10, 100, 1000, 10000};

static inline void
split64(Groups *groups, uint64 value)
{
	while (value != 0)
	{
		groups->digits[groups->count++] = (uint16) (value % 10000);
		value /= 10000;
	}
}

/* the digits that share a group with the decimal point's right neighbours */
static inline uint64
split_odd64(Groups *groups, uint64 value, int odd)
{
	/* division by constants: several times as fast as by a variable */
	switch (odd)
	{
		case 1:
			groups->digits[groups->count++] = (uint16) (value % 10 * 1000);
			return value / 10;
		case 2:
			groups->digits[groups->count++] = (uint16) (value % 100 * 100);
			return value / 100;
		case 3:
			groups->digits[groups->count++] = (uint16) (value % 1000 * 10);
			return value / 1000;
		default:
			return value;
	}
}

static inline size_t
write_numeric(void *dst, const Groups *groups, bool negative, int scale)
{
	uint16	   *header = (uint16 *) ((char *) dst + VARHDRSZ);
	uint16	   *out = header + 1;
	int			first = 0;
	int			end = groups->count;
	int			weight;
	size_t		size;

	while (first < end && groups->digits[first] == 0)
		first++;
	while (end > first && groups->digits[end - 1] == 0)
		end--;
	weight = end == first ? 0 : end - 1 - (scale + 3) / 4;
	*header = (uint16) (SIGN_SHORT | (negative ? SHORT_NEGATIVE : 0) |
						scale << SHORT_SCALE_SHIFT |
						(weight < 0 ? SHORT_WEIGHT_SIGN : 0) |
						(weight & SHORT_WEIGHT_MASK));
	for (int i = end; i > first; i--)
		*out++ = groups->digits[i - 1];
	size = (char *) out - (char *) dst;
	SET_VARSIZE(dst, size);
	return size;
}

static void
assert_equals_server(const void *numeric, LakeInt128 value, int scale)
{
#ifdef USE_ASSERT_CHECKING
	char		text[64];
	Datum		expected;

	text[decimal_format(value, scale, text)] = '\0';
	expected = DirectFunctionCall3(numeric_in, CStringGetDatum(text),
								   ObjectIdGetDatum(InvalidOid),
								   Int32GetDatum(-1));
	Assert(VARSIZE(DatumGetPointer(expected)) == VARSIZE(numeric));
	Assert(memcmp(DatumGetPointer(expected), numeric,
				  VARSIZE(numeric)) == 0);
	pfree(DatumGetPointer(expected));
#endif
}

size_t
numeric_build64(void *dst, int64 value, int scale)
{
	uint64		magnitude = value < 0 ? -(uint64) value : (uint64) value;
	Groups		groups;
	size_t		size;

	groups.count = 0;
	split64(&groups, split_odd64(&groups, magnitude, scale & 3));
	size = write_numeric(dst, &groups, value < 0, scale);
	assert_equals_server(dst, value, scale);
	return size;
}

size_t
numeric_build128(void *dst, LakeInt128 value, int scale)
{
	uint128		magnitude = value < 0 ?
		-(uint128) value : (uint128) value;
	int			odd = scale & 3;
	Groups		groups;
	size_t		size;

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return numeric_build64(dst, (int64) value, scale);
	groups.count = 0;
	if (odd != 0)
	{
		groups.digits[groups.count++] =
			(uint16) (magnitude % (unsigned) power10[odd] *
					  (unsigned) power10[4 - odd]);
		magnitude /= (unsigned) power10[odd];
	}
	/* four groups a division: the 128-bit one is the expensive part */
	while (magnitude > PG_UINT64_MAX)
	{
		uint64		low = (uint64) (magnitude % POWER_1E16);

		for (int i = 0; i < 4; i++)
		{
			groups.digits[groups.count++] = (uint16) (low % 10000);
			low /= 10000;
		}
		magnitude /= POWER_1E16;
	}
	split64(&groups, (uint64) magnitude);
	size = write_numeric(dst, &groups, value < 0, scale);
	assert_equals_server(dst, value, scale);
	return size;
}

/* ---- from numeric ---- */

typedef struct NumericParts
{
	bool		negative;
	int			weight;			/* of the first digit, in base 10000 */
	int			count;
	const int16 *digits;
} NumericParts;

/* false for NaN and the infinities */
static inline bool
numeric_parts(const void *numeric, uint16 *header, NumericParts *parts)
{
	const char *data = VARDATA_ANY(numeric);
	const char *end = data + VARSIZE_ANY_EXHDR(numeric);
	int16		weight;

	memcpy(header, data, sizeof *header);
	data += sizeof *header;
	switch (*header & SIGN_MASK)
	{
		case SIGN_SPECIAL:
			return false;
		case SIGN_SHORT:
			parts->negative = (*header & SHORT_NEGATIVE) != 0;
			parts->weight = *header & SHORT_WEIGHT_MASK;
			if (*header & SHORT_WEIGHT_SIGN)
				parts->weight |= ~SHORT_WEIGHT_MASK;
			break;
		default:
			parts->negative = (*header & SIGN_MASK) == SIGN_NEGATIVE;
			memcpy(&weight, data, sizeof weight);
			data += sizeof weight;
			parts->weight = weight;
			break;
	}
	parts->digits = (const int16 *) data;
	parts->count = (int) ((end - data) / (ptrdiff_t) sizeof(int16));
	return true;
}

/* appends a digit of the base; false when the result would pass 10^38 */
static bool
push_digit(LakeInt128 *value, int base, int digit)
{
	if (*value > decimal_power10(DECIMAL_MAX_PRECISION) / base)
		return false;
	*value = *value * base + digit;
	return true;
}

/*
 * |numeric| * 10^scale, rounded toward zero; false when it is out of reach.
 */
static bool
scale_magnitude(const NumericParts *parts, int scale, LakeInt128 *value,
				bool *has_rest)
{
	*value = 0;
	*has_rest = false;
	if (parts->count == 0)
		return true;
	for (int i = 0;; i++)
	{
		/* decimal exponent of this digit's last place, after scaling */
		int			exponent = 4 * (parts->weight - i) + scale;
		int			digit = 0;

		if (i < parts->count)
			memcpy(&digit, parts->digits + i, sizeof(int16));
		else if (exponent < 0)
			return true;
		if (exponent >= 0)
		{
			if (!push_digit(value, 10000, digit))
				return false;
			if (exponent < 4 && i + 1 >= parts->count)
			{
				/* the places between this digit and the scaled unit */
				return push_digit(value, power10[exponent], 0);
			}
		}
		else if (exponent > -4)
		{
			/* the digit straddles the scaled unit */
			int			cut = power10[-exponent];

			if (!push_digit(value, 10000 / cut, digit / cut))
				return false;
			*has_rest |= digit % cut != 0;
		}
		else
			*has_rest |= digit != 0;
	}
}

ValueFit
numeric_to_scaled(Numeric numeric, int scale, LakeInt128 *value)
{
	NumericParts parts;
	uint16		header;
	bool		has_rest;

	/* PostgreSQL sorts NaN above everything, like infinity */
	if (!numeric_parts(numeric, &header, &parts))
		return (header & SPECIAL_MASK) == SPECIAL_NEG_INF ?
			VALUE_BELOW : VALUE_ABOVE;
	if (!scale_magnitude(&parts, scale, value, &has_rest))
		return parts.negative ? VALUE_BELOW : VALUE_ABOVE;
	if (parts.negative)
		*value = -*value - has_rest;
	return has_rest ? VALUE_BETWEEN : VALUE_EXACT;
}

/* what is left of a digit below the scaled unit must be nothing */
static inline bool
push_last_digit64(uint64 *value, int digit, int cut)
{
	*value = *value * (uint64) (10000 / cut) + (uint64) (digit / cut);
	return digit % cut == 0;
}

bool
numeric_to_scaled64(const struct varlena *numeric, int scale, int64 *value)
{
	NumericParts parts;
	uint16		header;
	uint64		magnitude = 0;
	int			exponent;		/* of the current digit's last place */

	if (unlikely(!numeric_parts(numeric, &header, &parts)))
		return false;
	exponent = 4 * parts.weight + scale;
	for (int i = 0; i < parts.count; i++, exponent -= 4)
	{
		int16		digit;

		memcpy(&digit, parts.digits + i, sizeof digit);
		if (unlikely(magnitude >= POWER_1E14 || exponent <= -4))
			return false;
		if (exponent >= 0)
			magnitude = magnitude * 10000 + (uint64) digit;
		else if (!push_last_digit64(&magnitude, digit, power10[-exponent]))
			return false;
	}
	/* places between the last digit and the scaled unit */
	if (parts.count > 0)
		for (exponent += 4; exponent > 0; exponent -= Min(exponent, 4))
		{
			if (magnitude >= POWER_1E14)
				return false;
			magnitude *= (uint64) power10[Min(exponent, 4)];
		}
	*value = parts.negative ? -(int64) magnitude : (int64) magnitude;
	return true;
}
