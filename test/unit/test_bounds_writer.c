/*
 * Bounds: what is left aside, in which order values are, and how bounds of
 * bytes are cut.
 */
#include "parquet/writer.h"

#include <math.h>

#include "encode.h"
#include "unit.h"

static LakeBytes
bytes_of(const char *text)
{
	return encoding_bytes((const uint8_t *) text, strlen(text));
}

static const ParquetField text_field = {
	.name = "t", .physical = PARQUET_BYTE_ARRAY,
	.logical = PARQUET_LOGICAL_STRING, .layout = VECTOR_BYTES
};
static const ParquetField binary_field = {
	.name = "b", .physical = PARQUET_BYTE_ARRAY, .layout = VECTOR_BYTES
};
static const ParquetField double_field = {
	.name = "d", .physical = PARQUET_DOUBLE, .layout = VECTOR_F64
};

/* ---- finding ---- */

static Bounds
find(const ParquetField *field, const void *values, size_t count,
	 uint64_t *nans)
{
	LakeBuffer	kept = {.data = (uint8_t *) (uintptr_t) values};
	Bounds		bounds = {0};

	kept.len = count * vector_layout_width(field->layout);
	bounds_find(field, value_kind(field), &kept, count, &bounds, nans);
	return bounds;
}

static void
nan_is_no_bound(LakeArena *arena)
{
	double		values[40];
	uint64_t	nans;
	Bounds		bounds;

	(void) arena;
	/* at every place: vectors, the rest, the first one */
	for (int at = 0; at < 20; at++)
	{
		for (int i = 0; i < 20; i++)
			values[i] = i == at ? (double) NAN : 7 - i;
		bounds = find(&double_field, values, 20, &nans);
		CHECK_INT(nans, 1);
		CHECK(bounds.is_set);
		CHECK(bounds.values[0].f64 == (at == 19 ? -11 : -12));
		CHECK(bounds.values[1].f64 == (at == 0 ? 6 : 7));
	}
	for (int i = 0; i < 20; i++)
		values[i] = (double) -NAN;
	bounds = find(&double_field, values, 20, &nans);
	CHECK_INT(nans, 20);
	CHECK(!bounds.is_set);
}

static void
infinities_are_bounds(LakeArena *arena)
{
	double		values[3] = {INFINITY, INFINITY, NAN};
	uint64_t	nans;
	Bounds		bounds = find(&double_field, values, 3, &nans);

	(void) arena;
	CHECK(bounds.is_set);
	CHECK(isinf(bounds.values[0].f64) && bounds.values[0].f64 > 0);
	CHECK(isinf(bounds.values[1].f64) && bounds.values[1].f64 > 0);
}

static void
a_zero_is_the_farther_one(LakeArena *arena)
{
	ParquetField narrow = {.physical = PARQUET_FLOAT, .layout = VECTOR_F32};
	double		zero = 0.0;
	float		minus = -0.0f;
	uint64_t	nans;
	Bounds		bounds = find(&double_field, &zero, 1, &nans);

	(void) arena;
	CHECK(signbit(bounds.values[0].f64) && !signbit(bounds.values[1].f64));
	bounds = find(&narrow, &minus, 1, &nans);
	CHECK(signbit(bounds.values[0].f32) && !signbit(bounds.values[1].f32));
}

static void
integers_without_sign_are_compared_so(LakeArena *arena)
{
	ParquetField field = {
		.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_INTEGER,
		.bits = 32, .layout = VECTOR_I32
	};
	int32_t		values[11] = {5, -1, 5, 5, 5, 5, 5, 5, 5, 1, INT32_MIN};
	uint64_t	nans;
	Bounds		bounds = find(&field, values, 11, &nans);

	(void) arena;
	CHECK_INT(bounds.values[0].i32, 1);
	CHECK_INT(bounds.values[1].i32, -1);
	field.is_signed = true;
	bounds = find(&field, values, 11, &nans);
	CHECK_INT(bounds.values[0].i32, INT32_MIN);
	CHECK_INT(bounds.values[1].i32, 5);
}

static void
bytes_are_compared_without_sign(LakeArena *arena)
{
	static const char *const texts[] = {
		"b", "abcdefgh", "abcdefg", "", "\xff", "abcdefghi", "\x7f",
		"\xff\xff", "\xff"
	};
	LakeBuffer	kept;
	uint64_t	nans;
	Bounds		bounds = {0};

	for (size_t first = 0; first < 9; first++)
	{
		buffer_init(&kept, arena);
		for (size_t i = first; i < 9; i++)
		{
			LakeBytes	bytes = bytes_of(texts[i]);

			values_append(&binary_field, KIND_BYTES, &bytes, 1, &kept);
		}
		bounds_find(&binary_field, KIND_BYTES, &kept, 9 - first, &bounds,
					&nans);
		CHECK_INT(bounds.values[1].bytes.len, first < 8 ? 2 : 1);
		CHECK(bounds.values[1].bytes.data[0] == 0xff);
		if (first < 4)
			CHECK_INT(bounds.values[0].bytes.len, 0);
		else if (first == 5)
			CHECK_INT(bounds.values[0].bytes.len, 9);
	}
}

/* zeros that fill a short string up are not its own */
static void
a_prefix_is_below_what_it_begins(LakeArena *arena)
{
	LakeBytes	values[2] = {{(const uint8_t *) "a\0", 2},
	{(const uint8_t *) "a", 1}};
	LakeBuffer	kept;
	uint64_t	nans;
	Bounds		bounds = {0};

	buffer_init(&kept, arena);
	values_append(&binary_field, KIND_BYTES, values, 2, &kept);
	bounds_find(&binary_field, KIND_BYTES, &kept, 2, &bounds, &nans);
	CHECK_INT(bounds.values[0].bytes.len, 1);
	CHECK_INT(bounds.values[1].bytes.len, 2);
}

static void
merged_bounds_own_their_bytes(LakeArena *arena)
{
	char		text[] = "mmm";
	Bounds		whole;
	Bounds		page = {.is_set = true};

	bounds_init(&whole, arena);
	page.values[0].bytes = page.values[1].bytes = bytes_of(text);
	bounds_widen(&text_field, &whole, &page);
	memset(text, 'x', 3);
	CHECK(memcmp(whole.values[0].bytes.data, "mmm", 3) == 0);
	bounds_widen(&text_field, &whole, &page);
	CHECK(memcmp(whole.values[0].bytes.data, "mmm", 3) == 0);
	CHECK(memcmp(whole.values[1].bytes.data, "xxx", 3) == 0);
	page.is_set = false;
	bounds_widen(&text_field, &whole, &page);
	CHECK(whole.is_set);
}

/* ---- cutting ---- */

static EncodedBound
cut(LakeArena *arena, const ParquetField *field, LakeBytes bytes, int side)
{
	Bounds		bounds = {.is_set = true};

	bounds.values[0].bytes = bounds.values[1].bytes = bytes;
	return bound_encode(field, arena, &bounds, side);
}

/* count times prefix, then rest */
static LakeBytes
repeat(LakeArena *arena, const char *part, size_t count, const char *rest)
{
	LakeBuffer	out;

	buffer_init(&out, arena);
	for (size_t i = 0; i < count; i++)
		buffer_append_text(&out, part);
	buffer_append_text(&out, rest);
	return encoding_bytes(out.data, out.len);
}

static bool
ends_with(EncodedBound bound, size_t len, const char *tail)
{
	size_t		tail_len = strlen(tail);

	return bound.bytes.len == len &&
		memcmp(bound.bytes.data + len - tail_len, tail, tail_len) == 0;
}

static void
short_bounds_are_exact(LakeArena *arena)
{
	for (int side = 0; side < 2; side++)
	{
		EncodedBound bound = cut(arena, &text_field,
								 repeat(arena, "x", BOUND_BYTES, ""), side);

		CHECK(bound.is_exact && bound.bytes.len == BOUND_BYTES);
		bound = cut(arena, &text_field, bytes_of(""), side);
		CHECK(bound.is_exact && bound.bytes.data != NULL &&
			  bound.bytes.len == 0);
	}
}

static void
long_texts_are_cut_to_whole_characters(LakeArena *arena)
{
	/* 61 bytes and the first one of four */
	LakeBytes	text = repeat(arena, "x", 61, "\xf0\x9f\x98\x80 and more");
	EncodedBound bound = cut(arena, &text_field, text, 0);

	CHECK(!bound.is_exact);
	CHECK(ends_with(bound, 61, "x"));
	bound = cut(arena, &text_field, text, 1);
	CHECK(!bound.is_exact);
	CHECK(ends_with(bound, 61, "y"));
}

static void
upper_bounds_are_raised_by_a_character(LakeArena *arena)
{
	static const struct
	{
		const char *last;
		size_t		len;
		const char *raised;
	}			cases[] = {
		{"a", 63, "xb"},
		{"\x7f", 63, "x\xc2\x80"},
		{"\xc2\xbf", 62, "x\xc3\x80"},
		{"\xdf\xbf", 62, "x\xe0\xa0\x80"},
		{"\xe0\xbf\xbf", 61, "x\xe1\x80\x80"},
		/* no surrogates between */
		{"\xed\x9f\xbf", 61, "x\xee\x80\x80"},
		{"\xef\xbf\xbf", 61, "x\xf0\x90\x80\x80"},
		{"\xf0\x9f\xbf\xbf", 60, "x\xf0\xa0\x80\x80"},
		/* the last one of all: the one before it is raised */
		{"\xf4\x8f\xbf\xbf", 60, "y"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		LakeBytes	text = repeat(arena, "x", cases[i].len,
								  lake_printf(arena, "%s and so on",
											  cases[i].last));
		EncodedBound bound = cut(arena, &text_field, text, 1);

		/* cut right after the character */
		CHECK(!bound.is_exact);
		CHECK(ends_with(bound, cases[i].len + strlen(cases[i].raised) - 1,
						cases[i].raised));
	}
}

static void
what_cannot_be_raised_is_whole_or_absent(LakeArena *arena)
{
	EncodedBound bound = cut(arena, &text_field,
							 repeat(arena, "\xf4\x8f\xbf\xbf", 20, ""), 1);

	CHECK(bound.is_exact && bound.bytes.len == 80);
	bound = cut(arena, &binary_field, repeat(arena, "\xff", 100, ""), 1);
	CHECK(bound.is_exact && bound.bytes.len == 100);
	bound = cut(arena, &binary_field, repeat(arena, "\xff", 5000, ""), 1);
	CHECK(bound.bytes.data == NULL);
	bound = cut(arena, &binary_field, repeat(arena, "\xff", 5000, ""), 0);
	CHECK(!bound.is_exact && bound.bytes.len == BOUND_BYTES);
}

static void
binary_bounds_are_cut_by_bytes(LakeArena *arena)
{
	EncodedBound bound = cut(arena, &binary_field,
							 repeat(arena, "x", 62, "\xfe\xff\xff"), 1);

	CHECK(!bound.is_exact);
	CHECK(ends_with(bound, 63, "x\xff"));
	/* so are texts that are none */
	bound = cut(arena, &text_field, repeat(arena, "\x80", 100, ""), 1);
	CHECK(!bound.is_exact);
	CHECK(ends_with(bound, 64, "\x80\x81"));
	bound = cut(arena, &text_field, repeat(arena, "\xff", 64, "and more"), 1);
	CHECK(bound.is_exact);
}

static void
cut_bounds_enclose_any_value(LakeArena *arena)
{
	static const char *const letters[] = {
		"a", "~", "\x7f", "\xc3\xa9", "\xdf\xbf", "\xed\x9f\xbf",
		"\xef\xbf\xbf", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"
	};
	uint64_t	random = 3;

	for (int i = 0; i < 20000; i++)
	{
		const ParquetField *field = i % 2 == 0 ? &text_field : &binary_field;
		size_t		count = 1 + encode_random(&random) % 120;
		LakeBuffer	out;
		LakeBytes	bytes;
		EncodedBound low;
		EncodedBound high;

		buffer_init(&out, arena);
		while (out.len < count)
			buffer_append_text(&out, letters[encode_random(&random) % 9]);
		bytes = encoding_bytes(out.data, out.len);
		low = cut(arena, field, bytes, 0);
		high = cut(arena, field, bytes, 1);
		CHECK(!bounds_are_inverted(field, &low.bytes, &bytes));
		CHECK(high.bytes.data != NULL &&
			  !bounds_are_inverted(field, &bytes, &high.bytes));
		CHECK(low.is_exact == (low.bytes.len == bytes.len));
		if (unit_failed)
			return;
	}
}

static void
fixed_bytes_are_never_cut(LakeArena *arena)
{
	ParquetField field = {
		.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 100,
		.layout = VECTOR_BYTES
	};
	EncodedBound bound = cut(arena, &field, repeat(arena, "x", 100, ""), 1);

	CHECK(bound.is_exact && bound.bytes.len == 100);
}

/* ---- decimals ---- */

static void
decimals_are_written_as_their_type_has_them(LakeArena *arena)
{
	ParquetField field = {
		.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 9,
		.logical = PARQUET_LOGICAL_DECIMAL, .precision = 20,
		.layout = VECTOR_I128
	};
	Bounds		bounds = {.is_set = true};
	EncodedBound bound;

	bounds.values[0].wide = -2;
	bound = bound_encode(&field, arena, &bounds, 0);
	CHECK_INT(bound.bytes.len, 9);
	CHECK(memcmp(bound.bytes.data, "\xff\xff\xff\xff\xff\xff\xff\xff\xfe",
				 9) == 0);
	field.physical = PARQUET_BYTE_ARRAY;
	bound = bound_encode(&field, arena, &bounds, 0);
	CHECK_INT(bound.bytes.len, 1);
	CHECK(bound.bytes.data[0] == 0xfe);
}

static void
decimals_beyond_their_precision_are_refused(LakeArena *arena)
{
	ParquetField field = {
		.name = "n", .physical = PARQUET_INT32,
		.logical = PARQUET_LOGICAL_DECIMAL, .precision = 3, .scale = 1,
		.layout = VECTOR_I32
	};
	Bounds		bounds = {.is_set = true};

	(void) arena;
	bounds.values[0].i32 = -999;
	bounds.values[1].i32 = 999;
	bounds_check(&field, &bounds);
	bounds.values[1].i32 = 1000;
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "\"n\" has a value that does not fit decimal(3,1)",
				 bounds_check(&field, &bounds));
	bounds.values[0].i32 = -1000;
	bounds.values[1].i32 = 0;
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "decimal(3,1)",
				 bounds_check(&field, &bounds));
}

static const UnitTest tests[] = {
	UNIT(nan_is_no_bound),
	UNIT(infinities_are_bounds),
	UNIT(a_zero_is_the_farther_one),
	UNIT(integers_without_sign_are_compared_so),
	UNIT(bytes_are_compared_without_sign),
	UNIT(a_prefix_is_below_what_it_begins),
	UNIT(merged_bounds_own_their_bytes),
	UNIT(short_bounds_are_exact),
	UNIT(long_texts_are_cut_to_whole_characters),
	UNIT(upper_bounds_are_raised_by_a_character),
	UNIT(what_cannot_be_raised_is_whole_or_absent),
	UNIT(binary_bounds_are_cut_by_bytes),
	UNIT(cut_bounds_enclose_any_value),
	UNIT(fixed_bytes_are_never_cut),
	UNIT(decimals_are_written_as_their_type_has_them),
	UNIT(decimals_beyond_their_precision_are_refused),
};

UNIT_MAIN(tests)
