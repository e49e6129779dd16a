/*
 * The first metadata file of a table: ids, partition and sort fields, members,
 * and what is refused.
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "unit.h"

static const LakeType int_type = {.kind = LAKE_INT};
static const LakeType long_type = {.kind = LAKE_LONG};
static const LakeType text_type = {.kind = LAKE_STRING};
static const LakeType zoned_type = {.kind = LAKE_TIMESTAMPTZ};
static const LakeType nano_type = {.kind = LAKE_TIMESTAMP_NS};
static const LakeType double_type = {.kind = LAKE_DOUBLE};

static LakeType *
nested(LakeArena *arena, LakeTypeKind kind, int count,
	   const LakeField *fields)
{
	LakeType   *type = lake_alloc(arena, sizeof *type);

	type->kind = kind;
	type->field_count = count;
	type->fields = lake_alloc_array(arena, (size_t) count, sizeof *fields);
	memcpy(type->fields, fields, (size_t) count * sizeof *fields);
	return type;
}

/* a int, s struct<x int, l list<struct<p int>>>, b text, ts timestamptz */
static LakeSchema *
make_schema(LakeArena *arena)
{
	LakeSchema *schema = lake_alloc(arena, sizeof *schema);
	LakeType   *inner = nested(arena, LAKE_STRUCT, 1, (LakeField[])
							   {
								   {.name = "p", .type = &int_type}
							   });
	LakeType   *list = nested(arena, LAKE_LIST, 1, (LakeField[])
							  {
								  {.name = "element", .type = inner}
							  });
	LakeType   *outer = nested(arena, LAKE_STRUCT, 2, (LakeField[])
							   {
								   {.name = "x", .type = &int_type},
								   {.name = "l", .type = list}
							   });
	LakeType   *all = nested(arena, LAKE_STRUCT, 4, (LakeField[])
							 {
								 {.name = "a", .type = &int_type, .required = true},
								 {.name = "s", .type = outer},
								 {.name = "b", .type = &text_type},
								 {.name = "Ts", .type = &zoned_type}
							 });

	schema->field_count = all->field_count;
	schema->fields = all->fields;
	return schema;
}

/* a table of one column */
static LakeSchema *
one_column(LakeArena *arena, const char *name, const LakeType *type)
{
	LakeSchema *schema = lake_alloc(arena, sizeof *schema);

	schema->field_count = 1;
	schema->fields = lake_alloc(arena, sizeof *schema->fields);
	schema->fields[0].name = name;
	schema->fields[0].type = type;
	return schema;
}

static void
remove_directory(void *arg)
{
	char		command[256];

	snprintf(command, sizeof command, "rm -rf '%s'", (const char *) arg);
	if (system(command) != 0)
		abort();
}

/* a store for a directory of the test's own, which is returned too */
static LakeStore *
make_store(LakeArena *arena, char **directory)
{
	LakePathRules *rules = lake_alloc(arena, sizeof *rules);
	LakeStore  *store;

	*directory = lake_strdup(arena, "/tmp/lake_creation_XXXXXX");
	if (mkdtemp(*directory) == NULL)
		abort();
	lake_defer(arena, remove_directory, *directory);
	path_rules_allow(arena, rules, *directory);
	store = store_local_create(arena, rules);
	store->puts = put_set_create(arena);
	return store;
}

/* writes the table to a directory of its own and reads it back */
static const LakeTable *
create(LakeArena *arena, TableCreation creation, LakeBytes *text)
{
	char	   *directory;
	LakeStore  *store = make_store(arena, &directory);
	const char *location;

	creation.location = directory;
	location = iceberg_create(arena, store, &creation);
	put_set_publish(store, store->puts);
	CHECK(strncmp(location, directory, strlen(directory)) == 0);
	CHECK(strncmp(location + strlen(directory), "/metadata/00000-", 16) == 0);
	*text = iceberg_read_metadata_text(arena, store, location);
	return iceberg_metadata_read(arena, store, location);
}

static const char *
member(LakeArena *arena, LakeBytes text, const char *key)
{
	LakeBytes	value;

	if (!json_scan_member(text, key, &value))
		return "(none)";
	return lake_strndup(arena, (const char *) value.data, value.len);
}

/* partition-specs of the sample schema */
static const char *
specs(LakeArena *arena, const char *partition_by)
{
	TableCreation creation = {
		.format_version = 2,
		.schema = make_schema(arena),
		.partition_by = partition_by
	};
	LakeBytes	text;

	(void) create(arena, creation, &text);
	return member(arena, text, "partition-specs");
}

static const char *
sort_orders(LakeArena *arena, const char *sort_by)
{
	TableCreation creation = {
		.format_version = 2,
		.schema = make_schema(arena),
		.sort_by = sort_by
	};
	LakeBytes	text;

	(void) create(arena, creation, &text);
	return member(arena, text, "sort-orders");
}

static void
ids_go_to_siblings_before_what_is_nested(LakeArena *arena)
{
	TableCreation creation = {.format_version = 2,.schema = make_schema(arena)};
	const LakeField *fields = creation.schema->fields;
	const LakeTable *table;
	LakeBytes	text;

	fields[1].type->fields[0].id = 1;	/* what it was before does not count */
	table = create(arena, creation, &text);
	for (int i = 0; i < 4; i++)
		CHECK_INT(fields[i].id, i + 1);
	CHECK_INT(fields[1].type->fields[0].id, 5);
	CHECK_INT(fields[1].type->fields[1].id, 6);
	CHECK_INT(fields[1].type->fields[1].type->fields[0].id, 7);
	CHECK_INT(fields[1].type->fields[1].type->fields[0].type->fields[0].id, 8);
	CHECK_STRING(member(arena, text, "last-column-id"), "8");
	CHECK_STRING(lake_schema_path(arena, table->schema, 8),
				 "s.l.element.p");
	CHECK(lake_schema_find_name(table->schema, "a")->required);
}

static void
each_version_has_its_members(LakeArena *arena)
{
	static const struct
	{
		const char *key;
		const char *values[3];
	}			expected[] = {
		{"last-sequence-number", {"(none)", "0", "0"}},
		{"partition-spec", {"[]", "(none)", "(none)"}},
		{"current-schema-id", {"0", "0", "0"}},
		{"default-spec-id", {"0", "0", "0"}},
		{"last-partition-id", {"999", "999", "999"}},
		{"default-sort-order-id", {"0", "0", "0"}},
		{"current-snapshot-id", {"-1", "-1", "null"}},
		{"next-row-id", {"(none)", "(none)", "0"}},
		{"refs", {"{}", "{}", "{}"}},
		{"snapshots", {"[]", "[]", "[]"}},
		{"statistics", {"[]", "[]", "[]"}},
		{"partition-statistics", {"[]", "[]", "[]"}},
		{"snapshot-log", {"[]", "[]", "[]"}},
		{"metadata-log", {"[]", "[]", "[]"}},
	};

	for (int version = 1; version <= 3; version++)
	{
		TableCreation creation = {
			.format_version = version,
			.schema = make_schema(arena)
		};
		const LakeTable *table;
		LakeBytes	text;

		table = create(arena, creation, &text);
		json_parse(arena, text, "metadata");
		CHECK_INT(table->format_version, version);
		CHECK(table->current_snapshot == NULL);
		CHECK_INT(strlen(table->uuid), 36);
		for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
			CHECK_STRING(member(arena, text, expected[i].key),
						 expected[i].values[version - 1]);
		CHECK((version == 1) ==
			  (strcmp(member(arena, text, "schema"), "(none)") != 0));
	}
}

static void
properties_are_kept_and_zstd_is_said(LakeArena *arena)
{
	static const char *const pairs[] = {"a\"b", "1", "c", ""};
	static const char *const codec[] = {
		"write.parquet.compression-codec", "snappy"
	};
	TableCreation creation = {.format_version = 2,.schema = make_schema(arena)};
	LakeBytes	text;

	creation.property_count = 2;
	creation.properties = pairs;
	(void) create(arena, creation, &text);
	CHECK_STRING(member(arena, text, "properties"),
				 "{\"write.parquet.compression-codec\":\"zstd\","
				 "\"a\\\"b\":\"1\",\"c\":\"\"}");
	creation.property_count = 1;
	creation.properties = codec;
	(void) create(arena, creation, &text);
	CHECK_STRING(member(arena, text, "properties"),
				 "{\"write.parquet.compression-codec\":\"snappy\"}");
}

static void
properties_say_where_metadata_goes_and_how(LakeArena *arena)
{
	char	   *directory;
	LakeStore  *store = make_store(arena, &directory);
	const char *pairs[] = {
		"write.metadata.path", lake_printf(arena, "%s/other//", directory),
		"write.metadata.compression-codec", "gzip"
	};
	TableCreation creation = {
		.location = lake_printf(arena, "%s/t", directory),
		.format_version = 2,
		.schema = make_schema(arena),
		.property_count = 2,
		.properties = pairs
	};
	const char *location = iceberg_create(arena, store, &creation);

	CHECK(strncmp(location, lake_printf(arena, "%s/other/00000-", directory),
				  strlen(directory) + 13) == 0);
	CHECK(strstr(location, ".gz.metadata.json") != NULL);
	CHECK_STRING(iceberg_metadata_read(arena, store, location)->location,
				 creation.location);
}

static void
partition_fields_get_javas_names(LakeArena *arena)
{
	CHECK_STRING(specs(arena, "day(\"Ts\"), bucket(16, a), truncate(4,b) , s.x"),
				 "[{\"spec-id\":0,\"fields\":["
				 "{\"name\":\"Ts_day\",\"transform\":\"day\",\"source-id\":4,\"field-id\":1000},"
				 "{\"name\":\"a_bucket\",\"transform\":\"bucket[16]\",\"source-id\":1,\"field-id\":1001},"
				 "{\"name\":\"b_trunc\",\"transform\":\"truncate[4]\",\"source-id\":3,\"field-id\":1002},"
				 "{\"name\":\"s.x\",\"transform\":\"identity\",\"source-id\":5,\"field-id\":1003}]}]");
}

static void
transforms_have_several_spellings(LakeArena *arena)
{
	static const char *const words[][2] = {
		{"years(ts)", "year"}, {"YEAR(ts)", "year"}, {"months(TS)", "month"},
		{"days ( Ts )", "day"}, {"date(ts)", "day"}, {"hours(ts)", "hour"},
		{"date_hour(ts)", "hour"}, {"bucket(ts, 007)", "bucket[7]"},
		{"identity(ts)", "identity"}
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		CHECK(strstr(specs(arena, words[i][0]),
					 lake_printf(arena, "\"transform\":\"%s\",\"source-id\":4",
								 words[i][1])) != NULL);
}

static void
a_column_can_have_the_name_of_a_transform(LakeArena *arena)
{
	TableCreation creation = {
		.format_version = 2,
		.schema = one_column(arena, "day", &zoned_type),
		.partition_by = "day",
		.sort_by = "day, day(day) desc"
	};
	LakeBytes	text;

	(void) create(arena, creation, &text);
	CHECK(strstr(member(arena, text, "partition-specs"),
				 "\"name\":\"day\",\"transform\":\"identity\"") != NULL);
	creation.schema = one_column(arena, "a.\"b", &int_type);
	creation.partition_by = "\"a.\"\"b\"";
	creation.sort_by = NULL;
	(void) create(arena, creation, &text);
	CHECK(strstr(member(arena, text, "partition-specs"),
				 "\"name\":\"a.\\\"b\"") != NULL);
}

static void
sort_orders_default_as_in_postgresql(LakeArena *arena)
{
	CHECK_STRING(sort_orders(arena, NULL), "[{\"order-id\":0,\"fields\":[]}]");
	CHECK_STRING(sort_orders(arena, "a DESC NULLS LAST, b, bucket(3, a) desc, s.x asc nulls first"),
				 "[{\"order-id\":1,\"fields\":["
				 "{\"transform\":\"identity\",\"source-id\":1,\"direction\":\"desc\",\"null-order\":\"nulls-last\"},"
				 "{\"transform\":\"identity\",\"source-id\":3,\"direction\":\"asc\",\"null-order\":\"nulls-last\"},"
				 "{\"transform\":\"bucket[3]\",\"source-id\":1,\"direction\":\"desc\",\"null-order\":\"nulls-first\"},"
				 "{\"transform\":\"identity\",\"source-id\":5,\"direction\":\"asc\",\"null-order\":\"nulls-first\"}]}]");
}

static void
bad_partition_fields_are_named(LakeArena *arena)
{
	static const char *const cases[][2] = {
		{"", "syntax error at the end of partition_by"},
		{"a,", "syntax error at the end of partition_by"},
		{"a b", "syntax error in partition_by at \"b\""},
		{"a desc", "syntax error in partition_by at \"desc\""},
		{"a-b", "syntax error in partition_by at \"-b\""},
		{"\"a", "unterminated quoted name"},
		{"\"\"", "syntax error"},
		{"bucket(a)", "syntax error"},
		{"bucket(16)", "syntax error"},
		{"bucket(16, 16)", "syntax error"},
		{"bucket(0, a)", "bucket(0), which is not a number from 1"},
		{"bucket(2147483648, a)", "bucket(2147483648)"},
		{"truncate(99999999999999999999999, a)", "not a number from 1"},
		{"day()", "syntax error"},
		{"day(4, ts)", "syntax error"},
		{"week(ts)", "\"week\", which is no transform"},
		{"\"day\"(ts)", "column \"day\""},
		{"nothing", "column \"nothing\", which the table does not have"},
		{"\"TS\"", "column \"TS\""},
		{"s.y", "column \"s.y\""},
		{"a.y", "column \"a\", which is no struct"},
		{"s.l.element.p", "column \"s.l\", which is no struct"},
		{"s", "\"identity\" of column \"s\", which is not possible for type struct<"},
		{"day(a)", "\"day\" of column \"a\", which is not possible for type int"},
		{"a, a", "\"identity\" and \"identity\" of column \"a\" are redundant"},
		{"day(ts), hours(ts)", "\"day\" and \"hour\" of column \"Ts\" are redundant"},
		{"bucket(3, a), bucket(4, a)", "two partition fields have the name \"a_bucket\""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_THROWS(LAKE_ERROR_INVALID, cases[i][1],
					 specs(arena, cases[i][0]));
	CHECK_THROWS(LAKE_ERROR_INVALID, "syntax error",
				 sort_orders(arena, "a nulls"));
	CHECK_THROWS(LAKE_ERROR_INVALID, "syntax error in sort_by",
				 sort_orders(arena, "a asc desc"));
}

static const char *
fails_with(LakeArena *arena, int version, LakeSchema *schema,
		   const char *partition_by)
{
	TableCreation creation = {
		.format_version = version,
		.schema = schema,
		.partition_by = partition_by
	};
	LakeBytes	text;

	(void) create(arena, creation, &text);
	return "";
}

static void
columns_that_cannot_be_are_named(LakeArena *arena)
{
	static const char *const reserved[] = {"format-version", "2"};
	LakeSchema *schema = one_column(arena, "a", &nano_type);
	LakeSchema *clash = make_schema(arena);
	TableCreation creation = {.format_version = 2,.schema = clash};
	LakeBytes	text;

	CHECK_THROWS(LAKE_ERROR_INVALID, "format version 4",
				 fails_with(arena, 4, schema, NULL));
	CHECK_THROWS(LAKE_ERROR_INVALID,
				 "column \"a\" of type timestamp_ns needs format version 3, not 2",
				 fails_with(arena, 2, schema, NULL));
	fails_with(arena, 3, schema, "hour(a)");
	schema->fields[0].type = &double_type;
	CHECK_THROWS(LAKE_ERROR_INVALID, "which is not possible for type double",
				 fails_with(arena, 2, schema, "bucket(2, a)"));
	schema->fields[0].write_default =
		json_parse(arena, (LakeBytes)
				   {
					   (const uint8_t *) "1", 1
				   }, "default");
	CHECK_THROWS(LAKE_ERROR_INVALID,
				 "default of column \"a\" needs format version 3, not 2",
				 fails_with(arena, 2, schema, NULL));
	fails_with(arena, 3, schema, NULL);
	CHECK_THROWS(LAKE_ERROR_INVALID, "\"_pos\" is reserved",
				 fails_with(arena, 2, one_column(arena, "_pos", &long_type),
							NULL));
	CHECK_THROWS(LAKE_ERROR_INVALID, "must not be empty",
				 fails_with(arena, 2, one_column(arena, "", &long_type),
							NULL));
	schema->field_count = 0;
	CHECK_THROWS(LAKE_ERROR_INVALID, "must have a column",
				 fails_with(arena, 2, schema, NULL));
	clash->fields[2].name = "s.x";
	CHECK_THROWS(LAKE_ERROR_INVALID, "two columns of the name \"s.x\"",
				 fails_with(arena, 2, clash, NULL));
	clash->fields[2].name = "Ts_day";
	CHECK_THROWS(LAKE_ERROR_INVALID,
				 "partition field \"Ts_day\" has the name of a column",
				 fails_with(arena, 2, clash, "day(ts)"));
	clash->fields[0].name = "TS";
	CHECK_THROWS(LAKE_ERROR_INVALID, "could be column \"TS\" or \"Ts\"",
				 fails_with(arena, 2, clash, "day(ts)"));
	creation.property_count = 1;
	creation.properties = reserved;
	CHECK_THROWS(LAKE_ERROR_INVALID, "\"format-version\" is reserved",
				 create(arena, creation, &text));
}

static void
types_nested_too_deep_are_refused(LakeArena *arena)
{
	LakeSchema *schema = one_column(arena, "a", &int_type);

	for (int i = 0; i < LAKE_MAX_TYPE_DEPTH; i++)
		schema->fields[0].type =
			nested(arena, LAKE_STRUCT, 1, (LakeField[])
				   {
					   {.name = "a", .type = schema->fields[0].type}
				   });
	CHECK_THROWS(LAKE_ERROR_LIMIT, "nested more than 200 deep",
				 fails_with(arena, 2, schema, NULL));
}

static const UnitTest tests[] = {
	UNIT(ids_go_to_siblings_before_what_is_nested),
	UNIT(each_version_has_its_members),
	UNIT(properties_are_kept_and_zstd_is_said),
	UNIT(properties_say_where_metadata_goes_and_how),
	UNIT(partition_fields_get_javas_names),
	UNIT(transforms_have_several_spellings),
	UNIT(a_column_can_have_the_name_of_a_transform),
	UNIT(sort_orders_default_as_in_postgresql),
	UNIT(bad_partition_fields_are_named),
	UNIT(columns_that_cannot_be_are_named),
	UNIT(types_nested_too_deep_are_refused),
};

UNIT_MAIN(tests)
