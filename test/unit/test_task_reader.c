/*
 * Files of test/data/reader through the task reader: resolution of columns,
 * deletes, predicates, positions.
 */
#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cache.h"
#include "table/table_int.h"

/* a scan being set up; the rows it gives are rendered as text */
typedef struct Scan
{
	LakeArena  *arena;
	TaskReaderOptions options;
	ScanTask	task;
	DeleteFile	files[8];
	const DeleteFile *deletes[8];
	TaskReader *reader;
} Scan;

static LakeStore *
open_store(LakeArena *arena)
{
	LakePathRules *rules = lake_alloc(arena, sizeof(LakePathRules));
	char		path[PATH_MAX];

	if (realpath("test/data/reader", path) == NULL)
		lake_throw(LAKE_ERROR_MISSING, "run this from the top of the tree");
	path_rules_add_map(arena, rules,
					   lake_printf(arena, "/srv/lake=%s", path));
	return store_local_create(arena, rules);
}

static LakeSchema *
schema(LakeArena *arena, const char *fields)
{
	const char *text = lake_printf(arena,
								   "{\"type\":\"struct\",\"fields\":[%s]}",
								   fields);

	return lake_schema_parse(arena, json_parse(arena, (LakeBytes)
											   {
												   (const uint8_t *) text,
												   strlen(text)
											   }, "test schema"));
}

/* all columns of the schema, no deletes */
static Scan *
scan(LakeArena *arena, const char *file, const char *fields)
{
	Scan	   *s = lake_alloc(arena, sizeof(Scan));
	const LakeSchema *read_schema = schema(arena, fields);
	const LakeField **columns = lake_alloc_array(arena, 10,
												 sizeof(LakeField *));

	s->arena = arena;
	s->options.store = open_store(arena);
	s->options.schema = read_schema;
	s->options.column_count = read_schema->field_count;
	s->options.columns = columns;
	for (int i = 0; i < read_schema->field_count; i++)
		columns[i] = &read_schema->fields[i];
	s->task.path = lake_printf(arena, "file:/srv/lake/%s", file);
	s->task.record_count = -1;
	s->task.first_row_id = -1;
	s->task.deletes = s->deletes;
	return s;
}

/* replaces the columns by some of the schema's and reserved ones */
static void
select_columns(Scan *s, int count, const int32_t *ids)
{
	const LakeField **columns = lake_alloc_array(s->arena, 10,
												 sizeof(LakeField *));

	for (int i = 0; i < count; i++)
	{
		LakeField  *field = lake_alloc(s->arena, sizeof(LakeField));
		LakeType   *type = lake_alloc(s->arena, sizeof(LakeType));

		columns[i] = lake_schema_find_id(s->options.schema, ids[i]);
		if (columns[i] != NULL)
			continue;
		field->id = ids[i];
		field->name = "reserved";
		type->kind = ids[i] == LAKE_FIELD_FILE ? LAKE_STRING :
			ids[i] == LAKE_FIELD_SPEC_ID ? LAKE_INT : LAKE_LONG;
		field->type = type;
		columns[i] = field;
	}
	s->options.columns = columns;
	s->options.column_count = count;
}

static void
add_delete(Scan *s, DeleteKind kind, const char *file, int id_count,
		   const int32_t *ids)
{
	DeleteFile *f = &s->files[s->task.delete_count];

	f->kind = kind;
	f->path = lake_printf(s->arena, "file:///srv/lake/%s", file);
	f->equality_count = id_count;
	f->equality_ids = ids;
	s->deletes[s->task.delete_count++] = f;
}

static void
set_predicate(Scan *s, PredicateOp op, int32_t field_id, int64_t value)
{
	LakeValue	literal = {.i = value};
	const LakeField *field = lake_schema_find_id(s->options.schema, field_id);
	static const LakeType long_type = {.kind = LAKE_LONG};
	static const LakeField position = {.id = LAKE_FIELD_POS, .name = "_pos",
	.type = (LakeType *) &long_type};

	if (field == NULL)
		field = &position;
	s->options.predicate =
		predicate_normalize(s->arena, predicate_leaf(s->arena, op, field,
													 &literal, 1));
}

static void
append_value(LakeBuffer *out, LakeArena *arena, const LakeType *type,
			 const LakeVector *vector, uint32_t row)
{
	LakeValue	value;

	if (vector_is_null(vector, row))
	{
		buffer_append_text(out, "NULL");
		return;
	}
	if (vector->layout == VECTOR_STRUCT)
	{
		buffer_append_byte(out, '{');
		for (int i = 0; i < type->field_count; i++)
		{
			if (i > 0)
				buffer_append_byte(out, ',');
			append_value(out, arena, type->fields[i].type,
						 vector->children[i], row);
		}
		buffer_append_byte(out, '}');
		return;
	}
	if (vector->layout == VECTOR_LIST || vector->layout == VECTOR_MAP)
	{
		buffer_append_byte(out, '[');
		for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1];
			 i++)
		{
			if (i > vector->offsets[row])
				buffer_append_byte(out, ',');
			append_value(out, arena, type->fields[0].type,
						 vector->children[0], i);
			if (vector->layout == VECTOR_LIST)
				continue;
			buffer_append_byte(out, ':');
			append_value(out, arena, type->fields[1].type,
						 vector->children[1], i);
		}
		buffer_append_byte(out, ']');
		return;
	}
	lake_value_from_slot(type, vector_value(vector, row), &value);
	buffer_append_text(out, lake_value_text(arena, type, &value));
}

/* the rows left, columns separated by "|", rows by " " */
static const char *
rows(Scan *s)
{
	LakeBuffer	out;
	LakeBatch	batch;

	buffer_init(&out, s->arena);
	if (s->reader == NULL)
		s->reader = task_reader_create(s->arena, &s->options);
	task_reader_begin(s->reader, &s->task);
	while (task_reader_next(s->reader, &batch))
		for (uint32_t i = 0; i < batch.selected_count; i++)
		{
			if (out.len > 0)
				buffer_append_byte(&out, ' ');
			for (int c = 0; c < s->options.column_count; c++)
			{
				if (c > 0)
					buffer_append_byte(&out, '|');
				append_value(&out, s->arena, s->options.columns[c]->type,
							 task_reader_column(s->reader, c),
							 batch.selection[i]);
			}
		}
	buffer_append_byte(&out, 0);
	return (const char *) out.data;
}

static uint64_t
row_count(Scan *s)
{
	LakeBatch	batch;
	uint64_t	count = 0;

	if (s->reader == NULL)
		s->reader = task_reader_create(s->arena, &s->options);
	task_reader_begin(s->reader, &s->task);
	while (task_reader_next(s->reader, &batch))
		count += batch.selected_count;
	return count;
}

#define ID		"{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\"}"
#define ID_NULL "{\"id\":1,\"name\":\"id\",\"required\":false,\"type\":\"long\"}"
#define NAME	"{\"id\":2,\"name\":\"name\",\"required\":false," \
				"\"type\":\"string\"}"
#define P		"{\"id\":3,\"name\":\"p\",\"required\":false,\"type\":\"int\"}"

/* ---- columns ---- */

static void
promoted_columns_come_in_the_wanted_type(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet", ID ","
						 "{\"id\":2,\"name\":\"f\",\"required\":false,\"type\":\"double\"},"
						 "{\"id\":3,\"name\":\"d\",\"required\":false,\"type\":\"decimal(20,2)\"}");

	CHECK_STRING(rows(s), "1|0.5|14.20 2|NULL|-0.01 3|-1.5|NULL");
}

static void
missing_columns_are_their_default_or_null(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet", ID ","
						 "{\"id\":11,\"name\":\"n\",\"required\":false,\"type\":\"int\"},"
						 "{\"id\":12,\"name\":\"t\",\"required\":true,\"type\":\"string\","
						 "\"initial-default\":\"new\"}");

	CHECK_STRING(rows(s), "1|NULL|new 2|NULL|new 3|NULL|new");
}

static void
a_missing_required_column_is_corrupt(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet",
						 "{\"id\":11,\"name\":\"n\",\"required\":true,\"type\":\"int\"}");

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "missing required field \"n\"", rows(s));
}

static void
identity_partitions_fill_missing_columns_only(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet", ID ","
						 "{\"id\":11,\"name\":\"p\",\"required\":true,\"type\":\"int\"},"
						 "{\"id\":12,\"name\":\"b\",\"required\":false,\"type\":\"int\"}");
	PartitionField fields[] = {
		{.source_id = 1, .transform = {.kind = TRANSFORM_IDENTITY}},
		{.source_id = 11, .transform = {.kind = TRANSFORM_IDENTITY}},
		{.source_id = 12, .transform = {.kind = TRANSFORM_BUCKET}},
	};
	LakePartitionSpec spec = {.id = 3, .field_count = 3, .fields = fields};
	LakeValue	values[] = {{.i = 77}, {.i = 5}, {.i = 6}};

	for (int i = 0; i < 3; i++)
		fields[i].result_type = s->options.schema->fields[i].type;
	s->task.spec = &spec;
	s->task.partition = values;
	CHECK_STRING(rows(s), "1|5|NULL 2|5|NULL 3|5|NULL");
}

static void
struct_children_are_resolved_by_id(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet",
						 "{\"id\":5,\"name\":\"s\",\"required\":false,\"type\":"
						 "{\"type\":\"struct\",\"fields\":["
						 "{\"id\":7,\"name\":\"y\",\"required\":false,\"type\":\"string\"},"
						 "{\"id\":8,\"name\":\"z\",\"required\":true,\"type\":\"int\","
						 "\"initial-default\":9},"
						 "{\"id\":6,\"name\":\"renamed\",\"required\":false,\"type\":\"long\"}]}}");

	CHECK_STRING(rows(s), "{NULL,9,7} NULL {NULL,9,NULL}");
}

static void
a_missing_struct_is_null_unless_its_default_is_empty(LakeArena *arena)
{
	static const char *const form =
		"{\"id\":20,\"name\":\"s\",\"required\":false,\"type\":"
		"{\"type\":\"struct\",\"fields\":["
		"{\"id\":21,\"name\":\"x\",\"required\":false,\"type\":\"int\","
		"\"initial-default\":4},{\"id\":22,\"name\":\"l\",\"required\":false,"
		"\"type\":{\"type\":\"list\",\"element-id\":23,"
		"\"element-required\":false,\"element\":\"int\"}}]}%s}";

	CHECK_STRING(rows(scan(arena, "old.parquet",
						   lake_printf(arena, form, ""))),
				 "NULL NULL NULL");
	CHECK_STRING(rows(scan(arena, "old.parquet",
						   lake_printf(arena, form,
									   ",\"initial-default\":{}"))),
				 "{4,NULL} {4,NULL} {4,NULL}");
}

static void
lists_and_maps_of_evolved_structs_are_read(LakeArena *arena)
{
	Scan	   *s = scan(arena, "nested.parquet",
						 "{\"id\":1,\"name\":\"items\",\"required\":false,\"type\":"
						 "{\"type\":\"list\",\"element-id\":3,\"element-required\":false,"
						 "\"element\":{\"type\":\"struct\",\"fields\":["
						 "{\"id\":9,\"name\":\"new\",\"required\":false,\"type\":\"int\"},"
						 "{\"id\":5,\"name\":\"b\",\"required\":false,\"type\":\"string\"},"
						 "{\"id\":4,\"name\":\"a\",\"required\":false,\"type\":\"long\"}]}}},"
						 "{\"id\":6,\"name\":\"scores\",\"required\":false,\"type\":"
						 "{\"type\":\"map\",\"key-id\":7,\"key\":\"string\",\"value-id\":8,"
						 "\"value-required\":false,\"value\":\"long\"}}");

	CHECK_STRING(rows(s), "[{NULL,x,1},NULL,{NULL,y,NULL}]|[k:1,l:NULL] "
				 "[]|NULL NULL|[]");
}

static void
types_are_converted_on_the_way(LakeArena *arena)
{
	static const struct
	{
		int			id;
		const char *type;
		const char *expected;
	}			cases[] = {
		{1, "int", "0 255"},
		{2, "int", "0 65535"},
		{3, "long", "4000000000 NULL"},
		{5, "time", "22:31:08.123 NULL"},
		{6, "time", "22:31:08.123456 NULL"},
		{8, "timestamp", "2017-11-16 22:31:08.123 NULL"},
		{9, "timestamptz", "2017-11-16 22:31:08.123456+00 "
		"1969-12-31 23:59:59.999999+00"},
		{11, "fixed[4]", "\\x61626364 NULL"},
		{12, "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f NULL"},
		{13, "decimal(38,3)", "-12345678901234567890123.456 NULL"},
		{14, "boolean", "true false"},
		{15, "date", "2017-11-16 NULL"},
		{15, "timestamp", "2017-11-16 00:00:00 NULL"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_STRING(rows(scan(arena, "types.parquet",
							   lake_printf(arena, "{\"id\":%d,\"name\":\"c\","
										   "\"required\":false,\"type\":\"%s\"}",
										   cases[i].id, cases[i].type))),
					 cases[i].expected);
}

static const char *
wide_unsigned(LakeArena *arena)
{
	return rows(scan(arena, "types.parquet",
					 "{\"id\":4,\"name\":\"u64\",\"required\":false,\"type\":\"long\"}"));
}

static void
an_unsigned_long_above_the_range_is_refused(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_OUT_OF_RANGE, "\"u64\"", wide_unsigned(arena));
}

static const char *
int96_text(LakeArena *arena, int id, bool truncate)
{
	Scan	   *s = scan(arena, "int96.parquet",
						 lake_printf(arena, "{\"id\":%d,\"name\":\"c\","
									 "\"required\":false,\"type\":\"timestamptz\"}", id));

	s->options.truncate_nanoseconds = truncate;
	return rows(s);
}

static void
int96_is_floored_only_when_told_to(LakeArena *arena)
{
	CHECK_STRING(int96_text(arena, 1, false),
				 "2017-11-16 22:31:08.123456+00 1969-12-31 23:59:59.999999+00");
	CHECK_THROWS(LAKE_ERROR_DATETIME, "nanoseconds",
				 int96_text(arena, 2, false));
	CHECK_STRING(int96_text(arena, 2, true),
				 "1970-01-01 00:00:00.123456+00 1969-12-31 23:59:59.876543+00");
}

/* ---- files without ids ---- */

#define AB "{\"id\":1,\"name\":\"x\",\"required\":false,\"type\":\"long\"}," \
		   "{\"id\":2,\"name\":\"y\",\"required\":false,\"type\":\"string\"}"

static NameMapping *
mapping(LakeArena *arena, const char *text)
{
	return name_mapping_parse(arena, (LakeBytes)
							  {
								  (const uint8_t *) text, strlen(text)
							  });
}

static void
without_a_mapping_columns_are_numbered(LakeArena *arena)
{
	CHECK_STRING(rows(scan(arena, "without_ids.parquet", AB)),
				 "1|one 2|two");
	CHECK_STRING(rows(scan(arena, "without_ids.parquet",
						   "{\"id\":3,\"name\":\"s\",\"required\":false,\"type\":"
						   "{\"type\":\"struct\",\"fields\":["
						   "{\"id\":9,\"name\":\"y\",\"required\":false,\"type\":\"string\"}]}},"
						   "{\"id\":4,\"name\":\"l\",\"required\":false,\"type\":"
						   "{\"type\":\"list\",\"element-id\":10,"
						   "\"element-required\":false,\"element\":\"int\"}}")),
				 "{ten}|[1,NULL,3] {twenty}|[]");
}

static void
a_mapping_alone_gives_the_ids(LakeArena *arena)
{
	/* "a" was renamed, "b" dropped and added anew with another id */
	Scan	   *s = scan(arena, "without_ids.parquet",
						 "{\"id\":1,\"name\":\"renamed\",\"required\":false,\"type\":\"long\"},"
						 "{\"id\":7,\"name\":\"b\",\"required\":false,\"type\":\"string\"},"
						 "{\"id\":3,\"name\":\"s\",\"required\":false,\"type\":"
						 "{\"type\":\"struct\",\"fields\":["
						 "{\"id\":5,\"name\":\"x\",\"required\":false,\"type\":\"int\"},"
						 "{\"id\":6,\"name\":\"y\",\"required\":false,\"type\":\"string\"}]}}");

	s->options.name_mapping = mapping(arena,
									  "[{\"field-id\":1,\"names\":[\"a\",\"renamed\"]},"
									  "{\"field-id\":2,\"names\":[\"b\"]},"
									  "{\"field-id\":3,\"names\":[\"s\"],\"fields\":["
									  "{\"field-id\":6,\"names\":[\"y\"]}]}]");
	CHECK_STRING(rows(s), "1|NULL|{NULL,ten} 2|NULL|{NULL,twenty}");
}

static void
a_mapping_of_another_numbering_gives_way_to_names(LakeArena *arena)
{
	/* by the mapping 5 is "x", which is no list */
	Scan	   *s = scan(arena, "without_ids.parquet",
						 "{\"id\":3,\"name\":\"s\",\"required\":false,\"type\":"
						 "{\"type\":\"struct\",\"fields\":["
						 "{\"id\":5,\"name\":\"l\",\"required\":false,\"type\":"
						 "{\"type\":\"list\",\"element-id\":7,"
						 "\"element-required\":false,\"element\":\"int\"}},"
						 "{\"id\":6,\"name\":\"x\",\"required\":false,\"type\":\"int\"}]}}");

	s->options.name_mapping = mapping(arena,
									  "[{\"field-id\":3,\"names\":[\"s\"],\"fields\":["
									  "{\"field-id\":5,\"names\":[\"x\"]},"
									  "{\"field-id\":6,\"names\":[\"y\"]}]}]");
	CHECK_STRING(rows(s), "{NULL,10} {NULL,20}");
}

static void
a_mapping_is_ignored_where_the_file_has_ids(LakeArena *arena)
{
	Scan	   *s = scan(arena, "keys.parquet", ID_NULL "," NAME);

	s->options.name_mapping = mapping(arena,
									  "[{\"field-id\":2,\"names\":[\"id\"]},"
									  "{\"field-id\":1,\"names\":[\"name\"]}]");
	CHECK_STRING(rows(s), "1|a 2|b 3|c NULL|d");
}

/* ---- reserved columns and row groups ---- */

static const int32_t pos_only[] = {LAKE_FIELD_POS};

static void
reserved_columns_are_made_up(LakeArena *arena)
{
	static const int32_t ids[] = {1, LAKE_FIELD_FILE, LAKE_FIELD_POS,
	LAKE_FIELD_SPEC_ID, LAKE_FIELD_ROW_ID, LAKE_FIELD_SEQUENCE};
	Scan	   *s = scan(arena, "old.parquet", ID);
	LakePartitionSpec spec = {.id = 3};

	select_columns(s, 6, ids);
	s->task.spec = &spec;
	s->task.first_row_id = 1000;
	s->task.sequence_number = 12;
	CHECK_STRING(rows(s), "1|file:/srv/lake/old.parquet|0|3|1000|12 "
				 "2|file:/srv/lake/old.parquet|1|3|1001|12 "
				 "3|file:/srv/lake/old.parquet|2|3|1002|12");
	s->task.first_row_id = -1;
	CHECK_STRING(rows(s), "1|file:/srv/lake/old.parquet|0|3|NULL|NULL "
				 "2|file:/srv/lake/old.parquet|1|3|NULL|NULL "
				 "3|file:/srv/lake/old.parquet|2|3|NULL|NULL");
}

static void
stored_row_lineage_comes_first(LakeArena *arena)
{
	static const int32_t ids[] = {LAKE_FIELD_ROW_ID, LAKE_FIELD_SEQUENCE};
	Scan	   *s = scan(arena, "lineage.parquet", ID);

	select_columns(s, 2, ids);
	s->task.first_row_id = 100;
	s->task.sequence_number = 12;
	CHECK_STRING(rows(s), "7|12 101|4 9|12");
}

static void
row_groups_that_cannot_match_are_skipped(LakeArena *arena)
{
	static const int32_t ids[] = {1, LAKE_FIELD_POS};
	Scan	   *s = scan(arena, "groups.parquet", ID);

	select_columns(s, 2, ids);
	set_predicate(s, PREDICATE_GE, 1, 298);
	CHECK_STRING(rows(s), "298|298 299|299");
	CHECK_INT(task_reader_counters(s->reader)->row_groups_total, 3);
	CHECK_INT(task_reader_counters(s->reader)->row_groups_skipped, 2);
	CHECK_INT(task_reader_counters(s->reader)->rows_filtered, 98);
}

static void
predicates_on_positions_skip_row_groups_too(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	set_predicate(s, PREDICATE_EQ, LAKE_FIELD_POS, 150);
	CHECK_STRING(rows(s), "150");
	CHECK_INT(task_reader_counters(s->reader)->row_groups_skipped, 2);
}

static void
predicates_on_missing_columns_use_their_value(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID ","
						 "{\"id\":11,\"name\":\"n\",\"required\":false,\"type\":\"int\","
						 "\"initial-default\":4}");

	select_columns(s, 1, pos_only);
	set_predicate(s, PREDICATE_EQ, 11, 4);
	CHECK_INT(row_count(s), 300);
	s->reader = NULL;
	set_predicate(s, PREDICATE_GT, 11, 4);
	CHECK_INT(row_count(s), 0);
	CHECK_INT(task_reader_counters(s->reader)->row_groups_skipped, 3);
}

static void
nan_is_above_all_numbers_whatever_bounds_say(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID ","
						 "{\"id\":3,\"name\":\"d\",\"required\":false,\"type\":\"double\"}");
	static const int32_t ids[] = {1};
	LakeValue	literal = {.d = 1000};

	select_columns(s, 1, ids);
	s->options.predicate =
		predicate_normalize(arena, predicate_leaf(arena, PREDICATE_GT,
												  &s->options.schema->fields[1],
												  &literal, 1));
	CHECK_STRING(rows(s), "105");
}

static void
no_column_means_counting_only(LakeArena *arena)
{
	Scan	   *s = scan(arena, "pages.parquet", ID);
	uint64_t	bytes;

	s->options.column_count = 0;
	s->reader = task_reader_create(arena, &s->options);
	task_reader_begin(s->reader, &s->task);
	bytes = s->options.store->bytes_read;
	CHECK_INT(row_count(s), 20000);
	/* the second task read the footer again and nothing else */
	CHECK(s->options.store->bytes_read <= 2 * bytes);
}

static void
pages_without_a_selected_row_stay_compressed(LakeArena *arena)
{
	Scan	   *s = scan(arena, "pages.parquet", ID ","
						 "{\"id\":2,\"name\":\"text\",\"required\":false,\"type\":\"string\"}");

	set_predicate(s, PREDICATE_EQ, 1, 13999);
	CHECK_STRING(rows(s), "13999|row 27");
	CHECK(task_reader_counters(s->reader)->pages_skipped > 0);
}

static void
a_reader_can_begin_again_before_the_end(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);
	LakeBatch	batch;

	s->reader = task_reader_create(arena, &s->options);
	CHECK(!task_reader_next(s->reader, &batch));
	task_reader_begin(s->reader, &s->task);
	CHECK(task_reader_next(s->reader, &batch));
	CHECK_INT(row_count(s), 300);
	CHECK(!task_reader_next(s->reader, &batch));
}

/* ---- files that are not what they should be ---- */

static void
a_missing_file_is_named(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_MISSING, "absent.parquet",
				 rows(scan(arena, "absent.parquet", ID)));
}

static void
other_formats_are_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "ORC",
				 rows(scan(arena, "other.orc", ID)));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "Avro",
				 rows(scan(arena, "other.avro", ID)));
}

static void
delete_files_of_other_formats_are_refused(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet", ID);

	add_delete(s, DELETE_POSITION, "other.avro", 0, NULL);
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "delete file", rows(s));
}

/* ---- position deletes ---- */

static void
positions_count_rows_of_skipped_row_groups(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	add_delete(s, DELETE_POSITION, "positions.parquet", 0, NULL);
	set_predicate(s, PREDICATE_GE, 1, 297);
	CHECK_STRING(rows(s), "297 298");
	CHECK_INT(task_reader_counters(s->reader)->row_groups_skipped, 2);
	CHECK_INT(task_reader_counters(s->reader)->rows_deleted, 1);
}

static void
positions_are_physical_rows_under_a_filter(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	add_delete(s, DELETE_POSITION, "positions_plain.parquet", 0, NULL);
	set_predicate(s, PREDICATE_LE, 1, 10);
	CHECK_STRING(rows(s), "0 1 2 3 4 5 6 8 10");
}

static void
positions_are_physical_rows_in_files_older_than_a_column(LakeArena *arena)
{
	static const int32_t ids[] = {1, 11};
	Scan	   *s = scan(arena, "groups.parquet", ID ","
						 "{\"id\":11,\"name\":\"n\",\"required\":false,\"type\":\"int\","
						 "\"initial-default\":4}");
	LakeValue	four = {.i = 4};
	LakeValue	ten = {.i = 10};
	Predicate  *both[2];

	both[0] = predicate_leaf(arena, PREDICATE_EQ,
							 lake_schema_find_id(s->options.schema, 11),
							 &four, 1);
	both[1] = predicate_leaf(arena, PREDICATE_LE,
							 lake_schema_find_id(s->options.schema, 1),
							 &ten, 1);
	select_columns(s, 2, ids);
	add_delete(s, DELETE_POSITION, "positions_plain.parquet", 0, NULL);
	s->options.predicate =
		predicate_normalize(arena, predicate_combine(arena, PREDICATE_AND,
													 both, 2));
	CHECK_STRING(rows(s), "0|4 1|4 2|4 3|4 4|4 5|4 6|4 8|4 10|4");
}

static void
position_deletes_are_united(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	s->options.column_count = 0;
	add_delete(s, DELETE_POSITION, "positions.parquet", 0, NULL);
	add_delete(s, DELETE_POSITION, "positions_plain.parquet", 0, NULL);
	add_delete(s, DELETE_POSITION, "positions_without_ids.parquet", 0, NULL);
	CHECK_INT(row_count(s), 295);
	CHECK_INT(task_reader_counters(s->reader)->rows_deleted, 5);
	/* once more out of the cache, which the union has not changed */
	s->task.delete_count = 1;
	CHECK_INT(row_count(s), 298);
}

static void
position_deletes_of_other_files_do_not_apply(LakeArena *arena)
{
	Scan	   *s = scan(arena, "old.parquet", ID);

	add_delete(s, DELETE_POSITION, "positions.parquet", 0, NULL);
	CHECK_STRING(rows(s), "1 2 3");
}

/* how a delete file that is too large for the cache is read */
static LakeBitmap *
positions_of(LakeArena *arena, const char *file, const char *data_path)
{
	TaskReaderOptions options = {.store = open_store(arena)};
	DeleteScan	opened;

	delete_scan_open(&opened, arena, &options,
					 lake_printf(arena, "/srv/lake/%s", file),
					 position_file_mapping());
	return position_file_read_path(arena, &opened, data_path);
}

static void
positions_of_one_data_file_can_be_read_alone(LakeArena *arena)
{
	LakeBitmap *bitmap = positions_of(arena, "positions.parquet",
									  "/srv/lake/groups.parquet");

	CHECK_INT(bitmap_cardinality(bitmap), 2);
	CHECK(bitmap_contains(bitmap, 150) && bitmap_contains(bitmap, 299));
	bitmap = positions_of(arena, "positions.parquet",
						  "/srv/lake/other.parquet");
	CHECK_INT(bitmap_cardinality(bitmap), 3);
	bitmap = positions_of(arena, "positions_plain.parquet",
						  "/srv/lake/groups.parquet");
	CHECK_INT(bitmap_cardinality(bitmap), 2);
	CHECK(bitmap_contains(bitmap, 7) && bitmap_contains(bitmap, 9));
	CHECK_INT(bitmap_cardinality(positions_of(arena, "positions.parquet",
											  "/srv/lake/none.parquet")), 0);
}

static void
positions_spread_over_everything_are_limited(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_LIMIT, "blocks",
				 positions_of(arena, "positions_spread.parquet",
							  "/srv/lake/groups.parquet"));
}

static void
malformed_positions_are_corrupt(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	add_delete(s, DELETE_POSITION, "positions_negative.parquet", 0, NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "negative position", rows(s));
	s = scan(arena, "groups.parquet", ID);
	add_delete(s, DELETE_POSITION, "positions_null.parquet", 0, NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "NULL path or position", rows(s));
	s = scan(arena, "groups.parquet", ID);
	add_delete(s, DELETE_POSITION, "eq_id.parquet", 0, NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "lacks the field \"file_path\"",
				 rows(s));
}

/* ---- deletion vectors ---- */

static void
a_deletion_vector_replaces_position_deletes(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	add_delete(s, DELETE_POSITION, "positions.parquet", 0, NULL);
	add_delete(s, DELETE_VECTOR, "vector.bin", 0, NULL);
	s->files[1].content_size = 50;
	s->files[1].record_count = 5;
	set_predicate(s, PREDICATE_LT, 1, 10);
	CHECK_STRING(rows(s), "0 2 4 6 8");
	s->reader = NULL;
	set_predicate(s, PREDICATE_GE, 1, 297);
	CHECK_STRING(rows(s), "297 298 299");
}

static void
two_deletion_vectors_are_corrupt(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);

	add_delete(s, DELETE_VECTOR, "vector.bin", 0, NULL);
	add_delete(s, DELETE_VECTOR, "vector.bin", 0, NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "two deletion vectors", rows(s));
}

/* ---- equality deletes ---- */

static const int32_t id_key[] = {1};
static const int32_t name_key[] = {2};

static void
each_delete_file_has_its_own_key_set(LakeArena *arena)
{
	Scan	   *s = scan(arena, "keys.parquet", ID_NULL "," NAME);

	add_delete(s, DELETE_EQUALITY, "eq_id.parquet", 1, id_key);
	add_delete(s, DELETE_EQUALITY, "eq_null.parquet", 1, id_key);
	add_delete(s, DELETE_EQUALITY, "eq_name.parquet", 1, name_key);
	CHECK_STRING(rows(s), "3|c");
	CHECK_INT(task_reader_counters(s->reader)->rows_deleted, 3);
	/* another task to which fewer of the files apply */
	s->task.delete_count = 1;
	CHECK_STRING(rows(s), "2|b 3|c NULL|d");
}

static void
key_columns_need_not_be_asked_for(LakeArena *arena)
{
	static const int32_t name_only[] = {2};
	Scan	   *s = scan(arena, "keys.parquet", ID_NULL "," NAME);

	add_delete(s, DELETE_EQUALITY, "eq_id.parquet", 1, id_key);
	select_columns(s, 1, name_only);
	CHECK_STRING(rows(s), "b c d");
	s->reader = NULL;
	s->options.column_count = 0;
	CHECK_INT(row_count(s), 3);
}

static void
keys_match_by_id_whatever_their_order(LakeArena *arena)
{
	static const int32_t pair[] = {3, 1};
	Scan	   *s = scan(arena, "keys.parquet", NAME "," ID_NULL "," P);

	add_delete(s, DELETE_EQUALITY, "eq_pair.parquet", 2, pair);
	CHECK_STRING(rows(s), "a|1|10 b|2|20 d|NULL|40");
}

static void
float_keys_distinguish_zeros_and_equate_nans(LakeArena *arena)
{
	Scan	   *s = scan(arena, "floats.parquet",
						 "{\"id\":1,\"name\":\"x\",\"required\":false,\"type\":\"double\"}");

	add_delete(s, DELETE_EQUALITY, "eq_float.parquet", 1, id_key);
	CHECK_STRING(rows(s), "0 1 NULL");
}

static void
keys_may_lie_in_structs(LakeArena *arena)
{
	static const int32_t nested[] = {6};
	Scan	   *s = scan(arena, "old.parquet", ID ","
						 "{\"id\":5,\"name\":\"s\",\"required\":false,\"type\":"
						 "{\"type\":\"struct\",\"fields\":["
						 "{\"id\":7,\"name\":\"y\",\"required\":false,\"type\":\"string\"},"
						 "{\"id\":6,\"name\":\"x\",\"required\":false,\"type\":\"long\"}]}}");

	/* 7 and NULL: a struct that is NULL makes the key NULL, too */
	add_delete(s, DELETE_EQUALITY, "eq_nested.parquet", 1, nested);
	CHECK_STRING(rows(s), "");
}

static void
dropped_columns_still_are_keys(LakeArena *arena)
{
	static const int32_t dropped[] = {9};
	Scan	   *s = scan(arena, "old.parquet", ID);
	const LakeSchema *older = schema(arena, ID ","
									 "{\"id\":9,\"name\":\"dropped\",\"required\":false,"
									 "\"type\":\"string\"}");

	add_delete(s, DELETE_EQUALITY, "eq_dropped.parquet", 1, dropped);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "field id 9", rows(s));
	s->reader = NULL;
	s->options.schema_count = 1;
	s->options.schemas = &older;
	CHECK_STRING(rows(s), "1 3");
}

static void
rows_without_the_key_column_have_its_default(LakeArena *arena)
{
	static const int32_t name[] = {2};
	Scan	   *s = scan(arena, "many.parquet", ID ","
						 "{\"id\":2,\"name\":\"name\",\"required\":false,"
						 "\"type\":\"string\",\"initial-default\":\"b\"}");

	s->options.column_count = 0;
	add_delete(s, DELETE_EQUALITY, "eq_name.parquet", 1, name);
	CHECK_INT(row_count(s), 0);
}

static void
many_keys_leave_the_rows_that_are_not_among_them(LakeArena *arena)
{
	Scan	   *s = scan(arena, "many.parquet", ID);

	add_delete(s, DELETE_EQUALITY, "eq_many.parquet", 1, id_key);
	CHECK_STRING(rows(s), "49995 49996 49997 49998 49999");
	CHECK_INT(task_reader_counters(s->reader)->rows_deleted, 49995);
}

static void
a_delete_file_without_its_key_is_corrupt(LakeArena *arena)
{
	Scan	   *s = scan(arena, "keys.parquet", ID_NULL "," NAME);

	add_delete(s, DELETE_EQUALITY, "eq_name.parquet", 1, id_key);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "lacks the field \"id\"", rows(s));
	s = scan(arena, "keys.parquet", ID_NULL "," NAME);
	add_delete(s, DELETE_EQUALITY, "eq_name.parquet", 0, NULL);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no field ids", rows(s));
}

/* bytes that the rows take with a reader of their own */
static uint64_t
bytes_of_rows(Scan *s, const char *expected)
{
	uint64_t	before = s->options.store->bytes_read;

	s->reader = NULL;
	CHECK_STRING(rows(s), expected);
	return s->options.store->bytes_read - before;
}

static void
a_kept_footer_is_read_once(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);
	uint64_t	first;

	set_predicate(s, PREDICATE_GE, 1, 298);
	s->options.store->cache = cache_create(lake_arena_create(arena, "cache"));
	first = bytes_of_rows(s, "298 299");
	CHECK_INT(bytes_of_rows(s, "298 299"), first);
	s->options.keep_footers = true;
	CHECK_INT(bytes_of_rows(s, "298 299"), first);
	set_predicate(s, PREDICATE_GE, 1, 299);
	CHECK(bytes_of_rows(s, "299") < first / 2);
}

static void
readers_can_share_loaded_deletes(LakeArena *arena)
{
	Scan	   *s = scan(arena, "groups.parquet", ID);
	uint64_t	alone;

	add_delete(s, DELETE_POSITION, "positions.parquet", 0, NULL);
	set_predicate(s, PREDICATE_LT, 1, 2);
	alone = bytes_of_rows(s, "0 1");
	s->options.deletes = delete_cache_create(arena, &s->options);
	set_predicate(s, PREDICATE_GE, 1, 298);
	bytes_of_rows(s, "298");
	set_predicate(s, PREDICATE_LT, 1, 2);
	CHECK(bytes_of_rows(s, "0 1") < alone);
}

static const UnitTest tests[] = {
	UNIT(promoted_columns_come_in_the_wanted_type),
	UNIT(missing_columns_are_their_default_or_null),
	UNIT(a_missing_required_column_is_corrupt),
	UNIT(identity_partitions_fill_missing_columns_only),
	UNIT(struct_children_are_resolved_by_id),
	UNIT(a_missing_struct_is_null_unless_its_default_is_empty),
	UNIT(lists_and_maps_of_evolved_structs_are_read),
	UNIT(types_are_converted_on_the_way),
	UNIT(an_unsigned_long_above_the_range_is_refused),
	UNIT(int96_is_floored_only_when_told_to),
	UNIT(without_a_mapping_columns_are_numbered),
	UNIT(a_mapping_alone_gives_the_ids),
	UNIT(a_mapping_of_another_numbering_gives_way_to_names),
	UNIT(a_mapping_is_ignored_where_the_file_has_ids),
	UNIT(reserved_columns_are_made_up),
	UNIT(stored_row_lineage_comes_first),
	UNIT(row_groups_that_cannot_match_are_skipped),
	UNIT(predicates_on_positions_skip_row_groups_too),
	UNIT(predicates_on_missing_columns_use_their_value),
	UNIT(nan_is_above_all_numbers_whatever_bounds_say),
	UNIT(no_column_means_counting_only),
	UNIT(pages_without_a_selected_row_stay_compressed),
	UNIT(a_reader_can_begin_again_before_the_end),
	UNIT(a_missing_file_is_named),
	UNIT(other_formats_are_refused_by_name),
	UNIT(delete_files_of_other_formats_are_refused),
	UNIT(positions_count_rows_of_skipped_row_groups),
	UNIT(positions_are_physical_rows_under_a_filter),
	UNIT(positions_are_physical_rows_in_files_older_than_a_column),
	UNIT(position_deletes_are_united),
	UNIT(position_deletes_of_other_files_do_not_apply),
	UNIT(positions_of_one_data_file_can_be_read_alone),
	UNIT(positions_spread_over_everything_are_limited),
	UNIT(malformed_positions_are_corrupt),
	UNIT(a_deletion_vector_replaces_position_deletes),
	UNIT(two_deletion_vectors_are_corrupt),
	UNIT(each_delete_file_has_its_own_key_set),
	UNIT(key_columns_need_not_be_asked_for),
	UNIT(keys_match_by_id_whatever_their_order),
	UNIT(float_keys_distinguish_zeros_and_equate_nans),
	UNIT(keys_may_lie_in_structs),
	UNIT(dropped_columns_still_are_keys),
	UNIT(rows_without_the_key_column_have_its_default),
	UNIT(many_keys_leave_the_rows_that_are_not_among_them),
	UNIT(a_delete_file_without_its_key_is_corrupt),
	UNIT(a_kept_footer_is_read_once),
	UNIT(readers_can_share_loaded_deletes),
};

UNIT_MAIN(tests)
