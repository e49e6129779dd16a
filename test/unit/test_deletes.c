/*
 * Deletion vectors: the blobs of the reference implementation and damage to
 * them.
 */
#include "unit.h"

#include "base/text.h"
#include "table/deletes.h"

/* {1,3,5,7,9} */
static const char odd_digits[] =
"0000002ad1d339640100000000000000000000003a30000001000000000004001000000001"
"000300050007000900b3fb20be";

static const struct
{
	const char *hex;
	uint64_t	cardinality;
}			blobs[] = {
	{"0000000cd1d339640000000000000000bf18480c", 0},
	{odd_digits, 5},
	{"00000030d1d339640100000000000000000000003a3000000200000000000100008001001"
	"80000001c000000640065006300640015eb1c7c", 4},
	{"00000022d1d339640100000000000000000000003a3000000100000000000000100000000"
	"100eebd85f4", 1},
	{"0000002ed1d339640100000000000000000000003a3000000200000000000100010000001"
	"80000001c000000000005000000277dbe16", 3},
	{"00000038d1d339640200000000000000000000003a3000000100000000000000100000000"
	"300010000003a30000001000000000000001000000000001fa4aeac", 2},
	{"00000056d1d339640200000000000000000000003b30020006000001000100e6030200fdf"
		"f0500070001000100e60301000100fdff010000003b30020006000001000100e9010200fd"
	"ff0a00140001000a00e90101000100fdffc89be397", 132561},
};

static LakeBytes
bytes_of(LakeArena *arena, const char *hex)
{
	LakeBytes	bytes;

	if (!text_parse_hex(arena, hex, strlen(hex), &bytes))
		lake_throw(LAKE_ERROR_INTERNAL, "bad hex in the test");
	return bytes;
}

static LakeBitmap *
read_blob(LakeArena *arena, LakeBytes bytes, uint64_t cardinality)
{
	DeleteFile	deletes = {
		.kind = DELETE_VECTOR, .path = "vector",
		.record_count = (int64_t) cardinality,
		.content_size = (int64_t) bytes.len
	};

	return deletes_read_vector(arena, lake_file_from_memory(arena, "vector",
															bytes), &deletes);
}

static void
blobs_of_the_reference_are_read(LakeArena *arena)
{
	LakeBitmap *bitmap = NULL;

	for (size_t i = 0; i < sizeof blobs / sizeof blobs[0]; i++)
	{
		bitmap = read_blob(arena, bytes_of(arena, blobs[i].hex),
						   blobs[i].cardinality);
		CHECK_INT(bitmap_cardinality(bitmap), blobs[i].cardinality);
	}
	/* the last one has run containers below two 32-bit keys */
	CHECK(bitmap_contains(bitmap, 5));
	CHECK(!bitmap_contains(bitmap, 6));
	CHECK(bitmap_contains(bitmap, 65536 + 999));
	CHECK(!bitmap_contains(bitmap, 65536 + 1000));
	CHECK(bitmap_contains(bitmap, (UINT64_C(1) << 32) + 20));
	CHECK(bitmap_contains(bitmap, (UINT64_C(1) << 32) + 131072 + 65534));
}

static void
positions_of_a_blob_are_exact(LakeArena *arena)
{
	LakeBitmap *bitmap = read_blob(arena, bytes_of(arena, odd_digits), 5);

	for (uint64_t i = 0; i < 12; i++)
		CHECK_INT(bitmap_contains(bitmap, i), i % 2 == 1 && i < 10);
}

static void
a_blob_may_lie_anywhere_in_its_file(LakeArena *arena)
{
	LakeBytes	blob = bytes_of(arena, odd_digits);
	uint8_t    *data = lake_alloc(arena, blob.len + 20);
	LakeBytes	whole = {data, blob.len + 20};
	DeleteFile	deletes = {
		.kind = DELETE_VECTOR, .path = "vector", .record_count = 5,
		.content_offset = 9, .content_size = (int64_t) blob.len
	};

	memcpy(data + 9, blob.data, blob.len);
	CHECK_INT(bitmap_cardinality(deletes_read_vector(arena,
													 lake_file_from_memory(arena,
																		   "vector", whole), &deletes)), 5);
}

static void
places_outside_of_the_file_are_corrupt(LakeArena *arena)
{
	LakeBytes	blob = bytes_of(arena, odd_digits);
	LakeFile   *file = lake_file_from_memory(arena, "vector", blob);
	static const int64_t places[][2] = {
		{1, 50}, {0, 51}, {-1, 50}, {0, -1}, {INT64_MAX, 50}, {0, INT64_MAX},
		{51, 0}, {0, 11}
	};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
	{
		DeleteFile	deletes = {
			.kind = DELETE_VECTOR, .path = "vector", .record_count = 5,
			.content_offset = places[i][0], .content_size = places[i][1]
		};

		CHECK_THROWS(LAKE_ERROR_CORRUPT, "does not fit",
					 deletes_read_vector(arena, file, &deletes));
	}
}

/* the blob with one byte changed */
static LakeBytes
damaged(LakeArena *arena, size_t offset)
{
	LakeBytes	blob = bytes_of(arena, odd_digits);
	uint8_t    *copy = lake_alloc(arena, blob.len);

	memcpy(copy, blob.data, blob.len);
	copy[offset] ^= 1;
	return (LakeBytes)
	{
		copy, blob.len
	};
}

static void
any_changed_byte_is_noticed(LakeArena *arena)
{
	for (size_t i = 0; i < strlen(odd_digits) / 2; i++)
		CHECK_THROWS(LAKE_ERROR_CORRUPT, "", read_blob(arena,
													   damaged(arena, i), 5));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "bytes instead of",
				 read_blob(arena, damaged(arena, 0), 5));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "magic",
				 read_blob(arena, damaged(arena, 4), 5));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "checksum",
				 read_blob(arena, damaged(arena, 40), 5));
}

static void
the_manifest_knows_the_cardinality(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "5 positions instead of 4",
				 read_blob(arena, bytes_of(arena, odd_digits), 4));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "5 positions",
				 read_blob(arena, bytes_of(arena, odd_digits), UINT64_MAX));
}

static const UnitTest tests[] = {
	UNIT(blobs_of_the_reference_are_read),
	UNIT(positions_of_a_blob_are_exact),
	UNIT(a_blob_may_lie_anywhere_in_its_file),
	UNIT(places_outside_of_the_file_are_corrupt),
	UNIT(any_changed_byte_is_noticed),
	UNIT(the_manifest_knows_the_cardinality),
};

UNIT_MAIN(tests)
