/*
 * Bitmaps against a plain array of bytes, and the serialised form, both ways:
 * the blobs of the reference implementation and every way in which one is
 * malformed.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/bitmap.h"

/* bytes of hex in arena */
static LakeBytes
unhex(LakeArena *arena, const char *hex)
{
	size_t		len = strlen(hex) / 2;
	uint8_t    *bytes = lake_alloc(arena, len);

	for (size_t i = 0; i < len; i++)
	{
		unsigned	byte;

		sscanf(hex + 2 * i, "%2x", &byte);
		bytes[i] = (uint8_t) byte;
	}
	return (LakeBytes) {.data = bytes, .len = len};
}

/* the bitmap inside of a whole blob: length, magic, bitmap, CRC */
static LakeBitmap *
parse_blob(LakeArena *arena, const char *hex)
{
	LakeBytes	blob = unhex(arena, hex);

	return bitmap_parse64(arena, (LakeBytes) {blob.data + 8, blob.len - 12});
}

static void
check_positions(const LakeBitmap *bitmap, const uint64_t *positions,
				size_t count)
{
	CHECK_INT(bitmap_cardinality(bitmap), count);
	for (size_t i = 0; i < count; i++)
	{
		CHECK(bitmap_contains(bitmap, positions[i]));
		CHECK_INT(bitmap_count_range(bitmap, positions[i],
									 positions[i] + 1), 1);
	}
}

static void
blobs_of_the_reference_implementation_are_read(LakeArena *arena)
{
	static const uint64_t odd[] = {1, 3, 5, 7, 9};
	static const uint64_t wide[] = {100, 101, 2147483747, 2147483748};
	static const uint64_t small[] = {0, 5, 65536};
	static const uint64_t keys[] = {3, (uint64_t) 1 << 32};

	check_positions(parse_blob(arena, "0000000cd1d339640000000000000000bf18480c"),
					NULL, 0);
	check_positions(parse_blob(arena, "0000002ad1d3396401000000000000000000000"
							   "03a300000010000000000040010000000010003000500"
							   "07000900b3fb20be"), odd, 5);
	check_positions(parse_blob(arena, "00000030d1d3396401000000000000000000000"
							   "03a300000020000000000010000800100180000001c00"
							   "0000640065006300640015eb1c7c"), wide, 4);
	check_positions(parse_blob(arena, "0000002ed1d3396401000000000000000000000"
							   "03a30000002000000000001000100000018000000"
							   "1c000000000005000000277dbe16"), small, 3);
	check_positions(parse_blob(arena, "00000038d1d3396402000000000000000000000"
							   "03a30000001000000000000001000000003000100"
							   "00003a30000001000000000000001000000000001f"
							   "a4aeac"), keys, 2);
}

/* run and array containers under two keys */
static const char run_blob[] =
"00000056d1d339640200000000000000000000003b30020006000001000100e6030200fdff05"
"00070001000100e60301000100fdff010000003b30020006000001000100e9010200fdff0a00"
"140001000a00e90101000100fdffc89be397";

static void
run_containers_are_read(LakeArena *arena)
{
	LakeBitmap *bitmap = parse_blob(arena, run_blob);
	uint64_t	high = (uint64_t) 1 << 32;

	CHECK_INT(bitmap_cardinality(bitmap), 2 + 999 + 65534 + 2 + 490 + 65534);
	CHECK(bitmap_contains(bitmap, 5) && bitmap_contains(bitmap, 7));
	CHECK(!bitmap_contains(bitmap, 6));
	CHECK(!bitmap_contains(bitmap, 65536) && bitmap_contains(bitmap, 65537));
	CHECK(bitmap_contains(bitmap, 65536 + 999));
	CHECK(!bitmap_contains(bitmap, 65536 + 1000));
	CHECK(!bitmap_contains(bitmap, 131072));
	CHECK(bitmap_contains(bitmap, 131072 + 65534));
	CHECK(!bitmap_contains(bitmap, 131072 + 65535));
	CHECK_INT(bitmap_count_range(bitmap, 65536 + 500, 131072 + 10), 500 + 9);
	CHECK_INT(bitmap_count_range(bitmap, high, high + 65536 + 20), 2 + 10);
}

/* the bitmap of a whole blob in hex, written as it was */
static void
check_same_bytes(LakeArena *arena, const char *hex)
{
	LakeBytes	blob = unhex(arena, hex);
	LakeBuffer	out;

	buffer_init(&out, arena);
	bitmap_format64(parse_blob(arena, hex), &out);
	CHECK_INT(out.len, blob.len - 12);
	CHECK(out.len == blob.len - 12 &&
		  memcmp(out.data, blob.data + 8, out.len) == 0);
}

static void
blobs_of_the_reference_implementation_are_written(LakeArena *arena)
{
	check_same_bytes(arena, "0000000cd1d339640000000000000000bf18480c");
	check_same_bytes(arena, "0000002ad1d3396401000000000000000000000"
					 "03a300000010000000000040010000000010003000500"
					 "07000900b3fb20be");
	check_same_bytes(arena, "00000030d1d3396401000000000000000000000"
					 "03a300000020000000000010000800100180000001c00"
					 "0000640065006300640015eb1c7c");
	check_same_bytes(arena, "00000038d1d3396402000000000000000000000"
					 "03a30000001000000000000001000000003000100"
					 "00003a30000001000000000000001000000000001f"
					 "a4aeac");
	check_same_bytes(arena, run_blob);
}

/* bytes of a bitmap of count positions from 0 on, each step after the last */
static size_t
formatted_size(LakeArena *arena, uint64_t count, uint64_t step)
{
	LakeBitmap *bitmap = bitmap_create(arena);
	LakeBuffer	out;

	for (uint64_t i = 0; i < count; i++)
		bitmap_add(bitmap, i * step);
	buffer_init(&out, arena);
	bitmap_format64(bitmap, &out);
	return out.len;
}

static void
each_container_is_written_in_its_smallest_form(LakeArena *arena)
{
	size_t		with_offset = 8 + 4 + 4 + 4 + 4 + 4;
	size_t		with_runs = 8 + 4 + 4 + 1 + 4;

	/* arrays up to 4096 values, then bitsets */
	CHECK_INT(formatted_size(arena, 4096, 2), with_offset + 2 * 4096);
	CHECK_INT(formatted_size(arena, 4097, 2), with_offset + 8192);
	/* two adjacent values are not worth a run, four are */
	CHECK_INT(formatted_size(arena, 2, 1), with_offset + 2 * 2);
	CHECK_INT(formatted_size(arena, 4, 1), with_runs + 2 + 4);
	CHECK_INT(formatted_size(arena, 65536, 1), with_runs + 2 + 4);
	/* four containers of runs have offsets again */
	CHECK_INT(formatted_size(arena, 4 * 65536, 1),
			  8 + 4 + 4 + 1 + 4 * (4 + 4 + 2 + 4));
}

static void
every_truncation_is_refused(LakeArena *arena)
{
	LakeBytes	blob = unhex(arena, run_blob);

	for (size_t len = 0; len < blob.len - 12; len++)
	{
		/* a copy that ends there, so that a sanitizer sees a read past it */
		uint8_t    *copy = malloc(len + 1);

		memcpy(copy, blob.data + 8, len);
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends too early",
					 bitmap_parse64(arena, (LakeBytes) {copy, len}));
		free(copy);
	}
}

static void
malformed_bitmaps_are_refused(LakeArena *arena)
{
	static const struct
	{
		const char *hex;
		const char *message;
	}			bad[] = {
		/* bytes left over */
		{"000000000000000000", "after its end"},
		/* key 2^31 */
		{"0100000000000000000000803a30000000000000", "2^31"},
		/* keys 1, 1 */
		{"0200000000000000010000003a30000000000000"
		"010000003a30000000000000", "keys that do not ascend"},
		/* cookie */
		{"0100000000000000000000003930000000000000", "cookie"},
		{"0100000000000000000000003a30010000000000", "cookie"},
		/* 65537 and 2^32 - 1 containers */
		{"0100000000000000000000003a30000001000100", "65537 containers"},
		{"0100000000000000000000003a300000ffffffff", "containers"},
		/* values 5, 5 */
		{"0100000000000000000000003a300000010000000000010010000000"
		"05000500", "values that do not ascend"},
		/* wrong offset */
		{"0100000000000000000000003a300000010000000000000011000000"
		"0500", "offset"},
		/* container keys 1, 1 */
		{"0100000000000000000000003a30000002000000"
			"010000000100000018000000" "1a000000" "05000500",
		"container keys"},
		/* one run of 2 values that says 3 */
		{"0100000000000000000000003b3000000100000200010005000100",
		"says 3"},
		/* no run at all */
		{"0100000000000000000000003b30000001000000000000", "says 1"},
		/* a run over the container's end */
		{"0100000000000000000000003b30000001000001000100ffff0100",
		"leaves its container"},
		/* runs 5..6 and 6..6 */
		{"0100000000000000000000003b3000000100000200020005000100"
		"06000000", "runs that do not ascend"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, bad[i].message,
					 bitmap_parse64(arena, unhex(arena, bad[i].hex)));
}

static void
a_count_of_bitmaps_costs_nothing_by_itself(LakeArena *arena)
{
	size_t		before = lake_allocated;

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "ends too early",
				 bitmap_parse64(arena, unhex(arena, "ffffffffffffffff")));
	CHECK(lake_allocated - before < 100000);
}

static void
a_bitset_says_its_true_cardinality(LakeArena *arena)
{
	uint8_t    *bytes = lake_alloc(arena, 28 + 8192);
	LakeBitmap *bitmap;

	memcpy(bytes, "\1\0\0\0\0\0\0\0" "\0\0\0\0" "\x3a\x30\0\0" "\1\0\0\0"
		   "\0\0\0\x10" "\x10\0\0\0", 28);
	for (int i = 0; i < 4097; i++)
		bytes[28 + i / 8] |= (uint8_t) (1 << i % 8);
	bitmap = bitmap_parse64(arena, (LakeBytes) {bytes, 28 + 8192});
	CHECK_INT(bitmap_cardinality(bitmap), 4097);
	CHECK(bitmap_contains(bitmap, 4096) && !bitmap_contains(bitmap, 4097));
	bytes[28 + 8191] = 1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "says 4097",
				 bitmap_parse64(arena, (LakeBytes) {bytes, 28 + 8192}));
}

#define SPACE	(3 * 65536)

/* everything that can be asked of bitmap agrees with the bytes of expected */
static void
check_list(const LakeBitmap *bitmap, const uint8_t *expected)
{
	uint64_t	positions[1000];
	uint64_t	next = 0;
	size_t		room = 1;
	size_t		count;

	/* in pieces of all sizes, from where the last one has ended */
	while ((count = bitmap_list(bitmap, next, positions, room)) > 0)
	{
		for (size_t i = 0; i < count; i++)
		{
			for (; next < positions[i]; next++)
				CHECK_INT(expected[next], 0);
			CHECK_INT(expected[next++], 1);
		}
		CHECK(count == room ||
			  bitmap_list(bitmap, next, positions, room) == 0);
		room = room * 7 % 1000 + 1;
	}
	for (; next < SPACE; next++)
		CHECK_INT(expected[next], 0);
}

/* what bitmap_format64 makes of it is it */
static void
check_format(LakeArena *arena, const LakeBitmap *bitmap,
			 const uint8_t *expected)
{
	LakeBuffer	out;
	LakeBitmap *again;

	buffer_init(&out, arena);
	bitmap_format64(bitmap, &out);
	again = bitmap_parse64(arena, (LakeBytes) {out.data, out.len});
	CHECK_INT(bitmap_cardinality(again), bitmap_cardinality(bitmap));
	check_list(again, expected);
}

static void
check_agrees(LakeArena *arena, const LakeBitmap *bitmap,
			 const uint8_t *expected)
{
	uint8_t    *mask = lake_alloc(arena, SPACE + 100);
	uint64_t	total = 0;
	uint64_t	found = 0;
	unsigned	state = 1;

	for (uint32_t i = 0; i < SPACE; i++)
	{
		total += expected[i];
		if (bitmap_contains(bitmap, i) != expected[i])
		{
			CHECK_INT(i, -1);
			return;
		}
	}
	CHECK_INT(bitmap_cardinality(bitmap), total);
	CHECK_INT(bitmap_count_range(bitmap, 0, (uint64_t) 1 << 63), total);
	check_list(bitmap, expected);
	check_format(arena, bitmap, expected);
	for (uint32_t at = 0; at < SPACE;)
	{
		uint32_t	len;
		uint32_t	here;

		state = state * 1103515245u + 12345u;
		len = state / 65536 % 5000 + 1;
		if (len > SPACE - at)
			len = SPACE - at;
		here = bitmap_mark(bitmap, at, len, mask + at);
		CHECK_INT(bitmap_count_range(bitmap, at, at + len), here);
		found += here;
		at += len;
	}
	CHECK_INT(found, total);
	CHECK(memcmp(mask, expected, SPACE) == 0);
	for (int i = 0; i < 100; i++)
		CHECK_INT(mask[SPACE + i], 0);
}

/* adds a pattern of positions, which kind 0..4 selects */
static void
fill(LakeBitmap *bitmap, uint8_t *expected, int kind, unsigned seed)
{
	static const uint32_t adds[] = {100, 3000, 60000, 5000, 4096};
	unsigned	state = seed;

	for (uint32_t i = 0; i < adds[kind]; i++)
	{
		uint32_t	position;

		state = state * 1103515245u + 12345u;
		position = kind == 3 ? 60000 + i : kind == 4 ? SPACE - 1 - 2 * i :
			(state >> 8) % SPACE;
		bitmap_add(bitmap, position);
		expected[position] = 1;
	}
}

static void
added_positions_are_found_in_any_order(LakeArena *arena)
{
	for (int kind = 0; kind < 5; kind++)
	{
		LakeBitmap *bitmap = bitmap_create(arena);
		uint8_t    *expected = lake_alloc(arena, SPACE);

		fill(bitmap, expected, kind, 7);
		check_agrees(arena, bitmap, expected);
	}
}

/* a bitmap of runs first, first + step, ... each of len positions */
static LakeBitmap *
run_bitmap(LakeArena *arena, uint8_t *expected, int containers, int first,
		   int step, int len)
{
	uint8_t    *bytes = lake_alloc(arena, 1000000);
	uint8_t    *pos = bytes;
	int			runs = (65536 - first) / step;
	int			cardinality = runs * len - 1;
	int			cookie = 12347 | (containers - 1) << 16;

	memcpy(pos, "\1\0\0\0\0\0\0\0" "\0\0\0\0", 12);
	memcpy(pos + 12, &cookie, 4);
	pos[16] = 0xff;
	pos += 17;
	for (int i = 0; i < containers; i++, pos += 4)
	{
		memcpy(pos, &i, 2);
		memcpy(pos + 2, &cardinality, 2);
	}
	for (int i = 0; i < containers; i++)
	{
		memcpy(pos, &runs, 2);
		pos += 2;
		for (int j = 0; j < runs; j++, pos += 4)
		{
			int			start = first + j * step;
			int			more = len - 1;

			memcpy(pos, &start, 2);
			memcpy(pos + 2, &more, 2);
			for (int k = 0; k < len; k++)
				expected[i * 65536 + start + k] = 1;
		}
	}
	return bitmap_parse64(arena, (LakeBytes) {bytes, (size_t) (pos - bytes)});
}

static void
adding_to_runs_extends_joins_and_turns_them_over(LakeArena *arena)
{
	for (int kind = 0; kind < 5; kind++)
	{
		uint8_t    *expected = lake_alloc(arena, SPACE);
		LakeBitmap *bitmap = run_bitmap(arena, expected, 3, 10, 1000, 500);

		fill(bitmap, expected, kind, 99);
		check_agrees(arena, bitmap, expected);
	}
	for (int gap = 1; gap <= 3; gap++)
	{
		uint8_t    *expected = lake_alloc(arena, SPACE);
		LakeBitmap *bitmap = run_bitmap(arena, expected, 3, 0, 40, 40 - gap);

		for (uint32_t i = 0; i < SPACE; i += 7)
		{
			bitmap_add(bitmap, i);
			expected[i] = 1;
		}
		check_agrees(arena, bitmap, expected);
	}
}

static void
union_of_every_pair_of_kinds_agrees(LakeArena *arena)
{
	for (int a = 0; a < 8; a++)
	{
		for (int b = 0; b < 8; b++)
		{
			uint8_t    *expected = lake_alloc(arena, SPACE);
			uint8_t    *other_bytes = lake_alloc(arena, SPACE);
			LakeBitmap *bitmap = bitmap_create(arena);
			LakeBitmap *other = bitmap_create(arena);

			if (a < 5)
				fill(bitmap, expected, a, 5);
			else
				bitmap = run_bitmap(arena, expected, a - 4, a, 50 * a, 3 * a);
			if (b < 5)
				fill(other, other_bytes, b, 77);
			else
				other = run_bitmap(arena, other_bytes, b - 4, 100 - b, 32 * b,
								   2 * b);
			bitmap_union(bitmap, other);
			check_agrees(arena, other, other_bytes);
			for (int i = 0; i < SPACE; i++)
				expected[i] |= other_bytes[i];
			check_agrees(arena, bitmap, expected);
		}
	}
}

static void
mark_keeps_what_is_already_marked(LakeArena *arena)
{
	LakeBitmap *bitmap = bitmap_create(arena);
	uint8_t		mask[200];

	for (uint64_t i = 0; i < 5000; i += 1)
		bitmap_add(bitmap, 3 * i);
	memset(mask, 1, sizeof mask);
	CHECK_INT(bitmap_mark(bitmap, 300, 200, mask), 67);
	for (int i = 0; i < 200; i++)
		CHECK_INT(mask[i], 1);
}

static void
positions_up_to_the_highest_are_kept(LakeArena *arena)
{
	LakeBitmap *bitmap = bitmap_create(arena);
	uint64_t	highest = INT64_MAX;
	uint64_t	positions[4];
	uint8_t		mask[4] = {0};
	LakeBuffer	out;

	bitmap_add(bitmap, highest);
	bitmap_add(bitmap, 0);
	bitmap_add(bitmap, (uint64_t) 1 << 40);
	CHECK(bitmap_contains(bitmap, highest) && bitmap_contains(bitmap, 0));
	CHECK_INT(bitmap_count_range(bitmap, 1, highest + 1), 2);
	CHECK_INT(bitmap_mark(bitmap, highest - 3, 4, mask), 1);
	CHECK_INT(mask[3], 1);
	CHECK_INT(bitmap_list(bitmap, 1, positions, 4), 2);
	CHECK_INT(positions[1], highest);
	buffer_init(&out, arena);
	bitmap_format64(bitmap, &out);
	/* three keys of one position each, and none for those between */
	CHECK_INT(out.len, 8 + 3 * (4 + 4 + 4 + 4 + 4 + 2));
	bitmap = bitmap_parse64(arena, (LakeBytes) {out.data, out.len});
	CHECK_INT(bitmap_list(bitmap, 1, positions, 4), 2);
	CHECK_INT(positions[1], highest);
}

static const UnitTest tests[] = {
	UNIT(blobs_of_the_reference_implementation_are_read),
	UNIT(run_containers_are_read),
	UNIT(blobs_of_the_reference_implementation_are_written),
	UNIT(each_container_is_written_in_its_smallest_form),
	UNIT(every_truncation_is_refused),
	UNIT(malformed_bitmaps_are_refused),
	UNIT(a_count_of_bitmaps_costs_nothing_by_itself),
	UNIT(a_bitset_says_its_true_cardinality),
	UNIT(added_positions_are_found_in_any_order),
	UNIT(adding_to_runs_extends_joins_and_turns_them_over),
	UNIT(union_of_every_pair_of_kinds_agrees),
	UNIT(mark_keeps_what_is_already_marked),
	UNIT(positions_up_to_the_highest_are_kept),
};

UNIT_MAIN(tests)
