/*
 * Values of partition tuples: every type as Avro has it, promoted ones, and
 * keys that tell values apart.
 */
#include <math.h>

#include "iceberg/iceberg_int.h"
#include "unit.h"

static LakeBytes
bytes(const char *data, size_t len)
{
	return (LakeBytes) {(const uint8_t *) data, len};
}

static AvroSlot
int_slot(int64_t i)
{
	return (AvroSlot) {.kind = AVRO_INT, .i = i};
}

static AvroSlot
double_slot(double d)
{
	return (AvroSlot) {.kind = AVRO_DOUBLE, .d = d};
}

static AvroSlot
bytes_slot(const char *data, size_t len)
{
	return (AvroSlot) {.kind = AVRO_BYTES, .bytes = bytes(data, len)};
}

static LakeValue
read_as(LakeArena *arena, const LakeType *type, AvroSlot slot)
{
	PartitionField field = {.name = "p", .result_type = type};
	LakeValue	value;

	partition_value_read(arena, &field, &slot, &value);
	return value;
}

static LakeBytes
key_of(LakeArena *arena, const LakeType *type, const AvroSlot *slot)
{
	PartitionField field = {.name = "p", .result_type = type};
	LakeBuffer	key;

	buffer_init(&key, arena);
	partition_value_key(&field, slot, &key);
	return (LakeBytes) {key.data, key.len};
}

static bool
same_key(LakeArena *arena, const LakeType *type, AvroSlot a, AvroSlot b)
{
	LakeBytes	left = key_of(arena, type, &a);
	LakeBytes	right = key_of(arena, type, &b);

	return left.len == right.len &&
		memcmp(left.data, right.data, left.len) == 0;
}

static void
integers_have_to_fit(LakeArena *arena)
{
	static const LakeType int_type = {.kind = LAKE_INT};
	static const LakeType date = {.kind = LAKE_DATE};
	static const LakeType stamp = {.kind = LAKE_TIMESTAMP};
	static const LakeType boolean = {.kind = LAKE_BOOLEAN};

	CHECK_INT(read_as(arena, &int_type, int_slot(INT32_MIN)).i, INT32_MIN);
	CHECK_INT(read_as(arena, &date, int_slot(-1)).i, -1);
	CHECK_INT(read_as(arena, &stamp, int_slot(INT64_MIN)).i, INT64_MIN);
	CHECK_INT(read_as(arena, &boolean, int_slot(1)).i, 1);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "field \"p\" is no int",
				 read_as(arena, &int_type, int_slot(INT64_C(1) << 31)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no date",
				 read_as(arena, &date, int_slot(-(INT64_C(1) << 32))));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no boolean",
				 read_as(arena, &boolean, int_slot(2)));
}

static void
decimals_are_big_endian_bytes(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_DECIMAL, .precision = 5,
	.scale = 2};

	CHECK(read_as(arena, &type, bytes_slot("\xff\xff\x80", 3)).decimal ==
		  -128);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no decimal(5,2)",
				 read_as(arena, &type, bytes_slot("\x0f\xff\xff", 3)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no decimal",
				 read_as(arena, &type, int_slot(1)));
}

static void
uuids_are_bytes_or_text(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_UUID};
	static const char text[] = "00112233-4455-6677-8899-aabbccddeeff";
	static const char raw[] =
		"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff";
	LakeValue	value = read_as(arena, &type,
								bytes_slot(text, sizeof text - 1));

	CHECK_INT(value.bytes.len, 16);
	CHECK(memcmp(value.bytes.data, raw, 16) == 0);
	value = read_as(arena, &type, bytes_slot(raw, 16));
	CHECK(memcmp(value.bytes.data, raw, 16) == 0);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no uuid",
				 read_as(arena, &type, bytes_slot(raw, 15)));
}

static void
fixed_has_its_length(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_FIXED, .length = 3};

	CHECK_INT(read_as(arena, &type, bytes_slot("a\0b", 3)).bytes.len, 3);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no fixed",
				 read_as(arena, &type, bytes_slot("ab", 2)));
}

static void
floats_are_no_integers(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_DOUBLE};
	static const LakeType text = {.kind = LAKE_STRING};

	CHECK(isnan(read_as(arena, &type, double_slot((double) NAN)).d));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no double",
				 read_as(arena, &type, int_slot(1)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no string",
				 read_as(arena, &text, double_slot(1)));
}

static void
without_type_a_value_is_unknown(LakeArena *arena)
{
	CHECK(read_as(arena, NULL, int_slot(1)).is_null);
}

static void
promoted_values_keep_their_key(LakeArena *arena)
{
	static const LakeType decimal = {.kind = LAKE_DECIMAL, .precision = 20};
	AvroSlot	narrow = {.kind = AVRO_FLOAT, .d = 1.5};

	CHECK(same_key(arena, NULL, narrow, double_slot(1.5)));
	CHECK(same_key(arena, &decimal, bytes_slot("\x80", 1),
				   bytes_slot("\xff\xff\x80", 3)));
	/* without a type they are but bytes */
	CHECK(!same_key(arena, NULL, bytes_slot("\x80", 1),
					bytes_slot("\xff\xff\x80", 3)));
}

static void
keys_follow_the_equality_of_tuples(LakeArena *arena)
{
	AvroSlot	zero = int_slot(0);
	LakeBytes	null_key = key_of(arena, NULL, NULL);

	CHECK(same_key(arena, NULL, double_slot((double) NAN),
				   double_slot(-(double) NAN)));
	CHECK(!same_key(arena, NULL, double_slot(0.0), double_slot(-0.0)));
	CHECK(!same_key(arena, NULL, bytes_slot("a", 1), bytes_slot("ab", 2)));
	CHECK(key_of(arena, NULL, &zero).len != null_key.len);
}

/* paths have them encoded, with NULL as a word; tuples do not */
static void
text_is_taken_as_it_stands(LakeArena *arena)
{
	static const LakeType string = {.kind = LAKE_STRING};
	static const char *const texts[] = {
		"", "11/12/13", "a=b", "a b", "%2F", "x%", "+", "caf\xc3\xa9", "null",
		"__HIVE_DEFAULT_PARTITION__"
	};
	LakeBytes	null_key = key_of(arena, &string, NULL);

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
	{
		AvroSlot	slot = bytes_slot(texts[i], strlen(texts[i]));
		LakeBytes	value = read_as(arena, &string, slot).bytes;
		LakeBytes	key = key_of(arena, &string, &slot);

		CHECK_STRING(lake_strndup(arena, (const char *) value.data, value.len),
					 texts[i]);
		CHECK(key.len != null_key.len ||
			  memcmp(key.data, null_key.data, key.len) != 0);
	}
}

static void
lists_are_no_partition_values(LakeArena *arena)
{
	static const LakeType type = {.kind = LAKE_INT};
	AvroSlot	list = {.kind = AVRO_LIST};

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"p\" is a list",
				 key_of(arena, NULL, &list));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no int", read_as(arena, &type, list));
}

static const UnitTest tests[] = {
	UNIT(integers_have_to_fit),
	UNIT(decimals_are_big_endian_bytes),
	UNIT(uuids_are_bytes_or_text),
	UNIT(fixed_has_its_length),
	UNIT(floats_are_no_integers),
	UNIT(without_type_a_value_is_unknown),
	UNIT(promoted_values_keep_their_key),
	UNIT(keys_follow_the_equality_of_tuples),
	UNIT(text_is_taken_as_it_stands),
	UNIT(lists_are_no_partition_values),
};

UNIT_MAIN(tests)
