/*
 * Table properties: which there are, and what is no property.
 */
#include "iceberg/iceberg_int.h"

#include "unit.h"

static const LakeTable *
parse(LakeArena *arena, const char *members)
{
	IcebergTable *table = lake_alloc(arena, sizeof *table);
	const char *text = lake_printf(arena, "{%s}", members);

	properties_parse(arena, (LakeBytes) {(const uint8_t *) text, strlen(text)},
					 table);
	return &table->table;
}

static void
they_are_listed_as_the_file_has_them(LakeArena *arena)
{
	const LakeTable *table = parse(arena, "\"owner\":\"\\u00e4\","
								   "\"none\":null,\"empty\":\"\"");
	const char *key;
	const char *value;

	CHECK_INT(iceberg_property_count(table), 3);
	iceberg_property_at(table, 0, &key, &value);
	CHECK_STRING(key, "owner");
	CHECK_STRING(value, "\xc3\xa4");
	iceberg_property_at(table, 1, &key, &value);
	CHECK_STRING(key, "none");
	CHECK(value == NULL);
	iceberg_property_at(table, 2, &key, &value);
	CHECK_STRING(key, "empty");
	CHECK_STRING(value, "");
	CHECK_INT(iceberg_property_count(parse(arena, "")), 0);
}

static void
of_a_repeated_key_the_last_counts(LakeArena *arena)
{
	const LakeTable *table = parse(arena, "\"\\u006eo\":3,\"b\":\"2\","
								   "\"no\":\"1\"");
	const char *key;
	const char *value;

	CHECK_INT(iceberg_property_count(table), 2);
	iceberg_property_at(table, 0, &key, &value);
	CHECK_STRING(key, "no");
	CHECK_STRING(value, "1");
	CHECK_STRING(iceberg_property(table, "no"), "1");
}

static void
what_is_no_text_is_corrupt(LakeArena *arena)
{
	static const struct
	{
		const char *member;
		const char *says;
	}			cases[] =

	{
		{"\"a\":1", "value of table property \"a\" is not a string"},
		{"\"b\":[\"\"]", "\"b\" is not a string"},
		{"\"c\":\"x\\u0000y\"",
		"value of table property \"c\" has a NUL character"},
		{"\"d\\u0000e\":\"x\"",
		"key \"d\\u0000e\" of a table property has a NUL character"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
	{
		const LakeTable *table = parse(arena, cases[i].member);
		const char *key;
		const char *value;

		CHECK_THROWS(LAKE_ERROR_CORRUPT, cases[i].says,
					 iceberg_property_at(table, 0, &key, &value));
	}
}

static void
keys_are_not_cut_at_a_nul(LakeArena *arena)
{
	const LakeTable *table = parse(arena, "\"a\":\"1\",\"a\\u0000b\":\"2\"");

	CHECK_INT(iceberg_property_count(table), 2);
	CHECK_STRING(iceberg_property(table, "a"), "1");
}

static const UnitTest tests[] = {
	UNIT(they_are_listed_as_the_file_has_them),
	UNIT(of_a_repeated_key_the_last_counts),
	UNIT(what_is_no_text_is_corrupt),
	UNIT(keys_are_not_cut_at_a_nul),
};

UNIT_MAIN(tests)
