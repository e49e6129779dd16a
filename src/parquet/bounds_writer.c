/*
 * Bounds of what is written: of a page's values in loops by type, then merged
 * for chunk and file.
 *
 * Numbers are compared as numbers, so that decimals are ordered by value
 * whatever their bytes are; NaN is no bound and a zero is the zero on the far
 * side.  Texts are cut to whole characters, and an upper bound that was cut is
 * raised to stay one.
 *
 * Parquet format: parquet.thrift, Statistics and ColumnOrder.
 */
#include "parquet/writer.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/decimal.h"
#include "base/text.h"

void
bounds_init(Bounds *bounds, LakeArena *arena)
{
	memset(bounds, 0, sizeof *bounds);
	buffer_init(&bounds->store[0], arena);
	buffer_init(&bounds->store[1], arena);
}

/* ---- of a page ---- */

/*
 * Several pairs at a time, which do not wait for each other and which the
 * compiler may keep in vectors.
 */
#define LANES 8

#define FIND_INTEGERS(type, member) \
	do { \
		const type *in = (const type *) (const void *) values->data; \
		type		low[LANES]; \
		type		high[LANES]; \
		size_t		i = 0; \
		for (int k = 0; k < LANES; k++) \
			low[k] = high[k] = in[0]; \
		for (; i + LANES <= count; i += LANES) \
		{ \
			for (int k = 0; k < LANES; k++) \
			{ \
				low[k] = in[i + (size_t) k] < low[k] ? \
					in[i + (size_t) k] : low[k]; \
				high[k] = in[i + (size_t) k] > high[k] ? \
					in[i + (size_t) k] : high[k]; \
			} \
		} \
		for (; i < count; i++) \
		{ \
			low[0] = in[i] < low[0] ? in[i] : low[0]; \
			high[0] = in[i] > high[0] ? in[i] : high[0]; \
		} \
		for (int k = 1; k < LANES; k++) \
		{ \
			low[0] = low[k] < low[0] ? low[k] : low[0]; \
			high[0] = high[k] > high[0] ? high[k] : high[0]; \
		} \
		memcpy(&bounds->values[0], &low[0], sizeof(type)); \
		memcpy(&bounds->values[1], &high[0], sizeof(type)); \
		bounds->is_set = true; \
	} while (0)

/* a comparison with NaN is false, so that NaN takes no part */
#define FIND_FLOATS(type, member, zero) \
	do { \
		const type *in = (const type *) (const void *) values->data; \
		type		low[LANES]; \
		type		high[LANES]; \
		uint64_t	nans = 0; \
		size_t		i = 0; \
		for (int k = 0; k < LANES; k++) \
		{ \
			low[k] = (type) INFINITY; \
			high[k] = (type) -INFINITY; \
		} \
		for (; i + LANES <= count; i += LANES) \
		{ \
			for (int k = 0; k < LANES; k++) \
			{ \
				type		value = in[i + (size_t) k]; \
				low[k] = value < low[k] ? value : low[k]; \
				high[k] = value > high[k] ? value : high[k]; \
				nans += value != value; \
			} \
		} \
		for (; i < count; i++) \
		{ \
			low[0] = in[i] < low[0] ? in[i] : low[0]; \
			high[0] = in[i] > high[0] ? in[i] : high[0]; \
			nans += in[i] != in[i]; \
		} \
		for (int k = 1; k < LANES; k++) \
		{ \
			low[0] = low[k] < low[0] ? low[k] : low[0]; \
			high[0] = high[k] > high[0] ? high[k] : high[0]; \
		} \
		bounds->values[0].member = low[0] == 0 ? -zero : low[0]; \
		bounds->values[1].member = high[0] == 0 ? zero : high[0]; \
		bounds->is_set = nans < count; \
		*nan_count = nans; \
	} while (0)

static void
find_wide(const LakeBuffer *values, size_t count, Bounds *bounds)
{
	const LakeInt128 *in = (const LakeInt128 *) (const void *) values->data;
	LakeInt128	low = in[0];
	LakeInt128	high = in[0];

	for (size_t i = 1; i < count; i++)
	{
		low = in[i] < low ? in[i] : low;
		high = in[i] > high ? in[i] : high;
	}
	bounds->values[0].wide = low;
	bounds->values[1].wide = high;
	bounds->is_set = true;
}

/*
 * A byte string while it is compared: its first bytes as a number say most of
 * it.  Shorter ones are filled with zeros, which may be equal to what they are
 * not.
 */
typedef struct Candidate
{
	uint64_t	head;
	LakeBytes	bytes;
} Candidate;

static inline uint64_t
head_of(const uint8_t *data, size_t len)
{
	uint64_t	head = 0;

	if (len >= 8)
		return __builtin_bswap64(bits_load_u64le(data));
	for (size_t i = 0; i < len; i++)
		head |= (uint64_t) data[i] << (56 - 8 * i);
	return head;
}

static int
compare_bytes(LakeBytes a, LakeBytes b)
{
	size_t		len = a.len < b.len ? a.len : b.len;
	int			order = len == 0 ? 0 : memcmp(a.data, b.data, len);

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static inline void
take_candidate(Candidate *low, Candidate *high, const uint8_t *data,
			   size_t len)
{
	Candidate	next = {head_of(data, len), {data, len}};

	if (next.head < low->head ||
		(next.head == low->head && compare_bytes(next.bytes, low->bytes) < 0))
		*low = next;
	if (next.head > high->head ||
		(next.head == high->head &&
		 compare_bytes(next.bytes, high->bytes) > 0))
		*high = next;
}

/* width 0: each behind its length */
static void
find_bytes(const LakeBuffer *values, size_t count, size_t width,
		   Bounds *bounds)
{
	const uint8_t *pos = values->data;
	size_t		len = width == 0 ? bits_load_u32le(pos) : width;
	Candidate	low;
	Candidate	high;

	pos += width == 0 ? 4 : 0;
	low.head = head_of(pos, len);
	low.bytes = encoding_bytes(pos, len);
	high = low;
	for (size_t i = 1; i < count; i++)
	{
		pos += len;
		if (width == 0)
		{
			len = bits_load_u32le(pos);
			pos += 4;
		}
		take_candidate(&low, &high, pos, len);
	}
	bounds->values[0].bytes = low.bytes;
	bounds->values[1].bytes = high.bytes;
	bounds->is_set = true;
}

static bool
is_unsigned(const ParquetField *field)
{
	return field->logical == PARQUET_LOGICAL_INTEGER && !field->is_signed;
}

void
bounds_find(const ParquetField *field, ValueKind kind,
			const LakeBuffer *values, size_t count, Bounds *bounds,
			uint64_t *nan_count)
{
	bounds->is_set = false;
	*nan_count = 0;
	if (count == 0)
		return;
	if (field->layout == VECTOR_F32)
		FIND_FLOATS(float, f32, 0.0f);
	else if (field->layout == VECTOR_F64)
		FIND_FLOATS(double, f64, 0.0);
	else if (kind == KIND_1)
		FIND_INTEGERS(uint8_t, u8);
	else if (kind == KIND_4 && is_unsigned(field))
		FIND_INTEGERS(uint32_t, i32);
	else if (kind == KIND_4)
		FIND_INTEGERS(int32_t, i32);
	else if (kind == KIND_8 && is_unsigned(field))
		FIND_INTEGERS(uint64_t, i64);
	else if (kind == KIND_8)
		FIND_INTEGERS(int64_t, i64);
	else if (kind == KIND_16)
		find_wide(values, count, bounds);
	else
		find_bytes(values, count, kind == KIND_BYTES ? 0 :
				   value_plain_width(field), bounds);
}

/* ---- of all pages ---- */

static void
take_side(const ParquetField *field, Bounds *bounds, const Bounds *by,
		  int side)
{
	LakeBuffer *store = &bounds->store[side];

	bounds->values[side] = by->values[side];
	if (field->layout != VECTOR_BYTES)
		return;
	store->len = 0;
	buffer_append(store, by->values[side].bytes.data,
				  by->values[side].bytes.len);
	bounds->values[side].bytes.data = store->data;
}

void
bounds_widen(const ParquetField *field, Bounds *bounds, const Bounds *by)
{
	if (!by->is_set)
		return;
	if (!bounds->is_set || bounds_are_inverted(field, &bounds->values[0],
											   &by->values[0]))
		take_side(field, bounds, by, 0);
	if (!bounds->is_set || bounds_are_inverted(field, &by->values[1],
											   &bounds->values[1]))
		take_side(field, bounds, by, 1);
	bounds->is_set = true;
}

static LakeInt128
bound_as_wide(const ParquetField *field, const BoundValue *value)
{
	if (field->layout == VECTOR_I32)
		return value->i32;
	return field->layout == VECTOR_I64 ? value->i64 : value->wide;
}

void
bounds_check(const ParquetField *field, const Bounds *bounds)
{
	if (field->logical != PARQUET_LOGICAL_DECIMAL || !bounds->is_set)
		return;
	for (int side = 0; side < 2; side++)
	{
		if (!decimal_fits(bound_as_wide(field, &bounds->values[side]),
						  field->precision))
			lake_throw(LAKE_ERROR_OUT_OF_RANGE,
					   "column \"%s\" has a value that does not fit decimal(%d,%d)",
					   field->name, field->precision, field->scale);
	}
}

/* ---- in the file ---- */

static bool
is_text(const ParquetField *field)
{
	return field->logical == PARQUET_LOGICAL_STRING ||
		field->logical == PARQUET_LOGICAL_ENUM ||
		field->logical == PARQUET_LOGICAL_JSON;
}

/* the longest beginning of whole characters, at most BOUND_BYTES */
static size_t
cut_text(LakeBytes text)
{
	size_t		len = BOUND_BYTES;

	while (len > 0 && (text.data[len] & 0xc0) == 0x80)
		len--;
	return len;
}

/* the last byte that can be raised is, and those after it go; 0: none can */
static size_t
raise_bytes(uint8_t *bytes, size_t len)
{
	while (len > 0 && bytes[len - 1] == 0xff)
		len--;
	if (len > 0)
		bytes[len - 1]++;
	return len;
}

/*
 * Raises a well-formed character of count bytes to the next one, in as many
 * bytes; false: it is the last one of that length.
 */
static bool
raise_character(uint8_t *at, size_t count)
{
	static const uint8_t last_lead[] = {0, 0x7f, 0xdf, 0xef, 0xf4};

	/* U+10FFFF; and what follows U+D7FF is U+E000 */
	if (count == 4 && memcmp(at, "\xf4\x8f\xbf\xbf", 4) == 0)
		return false;
	if (count == 3 && memcmp(at, "\xed\x9f\xbf", 3) == 0)
	{
		memcpy(at, "\xee\x80\x80", 3);
		return true;
	}
	for (size_t i = count - 1; i > 0; i--)
	{
		if (at[i] < 0xbf)
		{
			at[i]++;
			return true;
		}
		at[i] = 0x80;
	}
	if (at[0] == last_lead[count])
		return false;
	at[0]++;
	return true;
}

/* the first character of n + 1 bytes, after all of n bytes */
static const char *const first_of_length[] = {
	"", "", "\xc2\x80", "\xe0\xa0\x80", "\xf0\x90\x80\x80"
};

/* as raise_bytes for characters; the text may become longer by one byte */
static size_t
raise_text(uint8_t *text, size_t len)
{
	while (len > 0)
	{
		size_t		start = len - 1;
		size_t		count;

		while (start > 0 && (text[start] & 0xc0) == 0x80)
			start--;
		count = len - start;
		if (raise_character(text + start, count))
			return len;
		if (count < 4)
		{
			memcpy(text + start, first_of_length[count + 1], count + 1);
			return len + 1;
		}
		len = start;
	}
	return 0;
}

static EncodedBound
whole_bound(LakeArena *arena, LakeBytes bytes)
{
	EncodedBound bound = {{NULL, 0}, true};

	if (bytes.len > BOUND_MAX_BYTES)
		return bound;
	bound.bytes.data = (const uint8_t *)
		lake_strndup(arena, (const char *) bytes.data, bytes.len);
	bound.bytes.len = bytes.len;
	return bound;
}

static EncodedBound
cut_bound(const ParquetField *field, LakeArena *arena, LakeBytes bytes,
		  int side)
{
	EncodedBound bound = {{NULL, 0}, false};
	uint8_t		cut[BOUND_BYTES + 1];
	size_t		len = BOUND_BYTES;
	bool		by_character = is_text(field);

	if (bytes.len <= BOUND_BYTES ||
		field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
		return whole_bound(arena, bytes);
	if (by_character)
		len = cut_text(bytes);
	/* what claims to be text and is not is cut as bytes */
	if (len == 0 || !text_is_valid(encoding_bytes(bytes.data, len)))
	{
		by_character = false;
		len = BOUND_BYTES;
	}
	memcpy(cut, bytes.data, len);
	if (side == 1)
		len = by_character ? raise_text(cut, len) : raise_bytes(cut, len);
	if (len == 0)
		return whole_bound(arena, bytes);
	bound.bytes = encoding_bytes((const uint8_t *)
								 lake_strndup(arena, (const char *) cut, len),
								 len);
	return bound;
}

EncodedBound
bound_encode(const ParquetField *field, LakeArena *arena,
			 const Bounds *bounds, int side)
{
	EncodedBound bound = {{NULL, 0}, true};
	const BoundValue *value = &bounds->values[side];
	LakeBuffer	out;

	if (!bounds->is_set)
		return bound;
	if (field->layout == VECTOR_BYTES)
		return cut_bound(field, arena, value->bytes, side);
	buffer_init(&out, arena);
	values_encode(field, value, 1, &out);
	bound.bytes = encoding_bytes(out.data, out.len);
	/* the length of a byte array is not part of it */
	if (field->physical == PARQUET_BYTE_ARRAY)
		bound.bytes = encoding_bytes(out.data + 4, out.len - 4);
	return bound;
}
