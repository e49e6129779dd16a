/*
 * Rows to files and back: whatever the schema, the partitions and the limits,
 * each row comes back once, from a file of its partition whose metrics hold.
 */
#include "table/file_sink.h"

#include <dirent.h>
#include <math.h>

#include "random_rows.h"
#include "sink_fixture.h"
#include "table/table_int.h"
#include "unit.h"
#include "vector_check.h"

#define SCHEMAS		60
#define ROWS		9000

static const LakeField *
find_field(const LakeSchema *schema, int32_t id)
{
	return lake_schema_find_id(schema, id);
}

/* ---- specs ---- */

static const char *const transform_texts[] = {
	"identity", "bucket[7]", "truncate[3]", "year", "month", "day", "hour",
	"void"
};

static void
add_partition_field(LakeArena *arena, LakePartitionSpec *spec,
					const LakeField *source, const char *text)
{
	PartitionField *field = &spec->fields[spec->field_count];
	LakeTransform transform = transform_parse(arena, text);
	const LakeType *result = transform_result_type(arena, &transform,
												   source->type);

	if (result == NULL)
		return;
	*field = (PartitionField)
	{
		.source_id = source->id, .field_id = 1000 + spec->field_count,
			.name = lake_printf(arena, "p%d", spec->field_count),
			.transform = transform, .source_type = source->type,
			.result_type = result
	};
	spec->field_count++;
}

/* the field or a primitive one in structs below it; NULL: there is none */
static const LakeField *
random_source(RandomRows *rows, const LakeField *field)
{
	while (field->type->kind == LAKE_STRUCT)
		field = &field->type->fields[random_rows_below(rows, (uint32_t)
													   field->type->field_count)];
	return lake_type_is_nested(field->type) ? NULL : field;
}

static LakePartitionSpec *
random_spec(RandomRows *rows)
{
	LakePartitionSpec *spec = lake_alloc(rows->arena, sizeof *spec);
	uint32_t	count = random_rows_below(rows, 4);

	spec->id = 3;
	spec->fields = lake_alloc_array(rows->arena, count + 1,
									sizeof *spec->fields);
	for (uint32_t i = 0; i < count; i++)
	{
		const LakeField *source =
			random_source(rows, &rows->schema.fields[random_rows_below(rows, (uint32_t)
																   rows->schema.field_count)]);

		/* the row's number has too many values for most transforms */
		if (source != NULL)
			add_partition_field(rows->arena, spec, source,
								source->id == 1 ? "bucket[5]" :
								transform_texts[random_rows_below(rows, 8)]);
	}
	return spec;
}

/* ---- writing ---- */

static void
write_all(FileSink *sink, RandomRows *rows)
{
	const LakeVector *const *columns;
	uint32_t	count;

	for (uint64_t at = 0; (count = row_store_batch(rows->store, at,
												   &columns)) > 0; at += count)
	{
		uint32_t   *selection = lake_alloc_array(rows->arena, count,
												 sizeof *selection);
		uint32_t	selected = 0;

		/* one half of some batches first, then the other */
		if (random_rows_below(rows, 2) == 0)
		{
			file_sink_write(sink, columns, NULL, count);
			continue;
		}
		for (int half = 0; half < 2; half++)
		{
			selected = 0;
			for (uint32_t i = 0; i < count; i++)
			{
				if (i % 3 == 0 ? half == 0 : half == 1)
					selection[selected++] = i;
			}
			file_sink_write(sink, columns, selection, selected);
		}
	}
}

/* ---- reading back ---- */

typedef struct Check
{
	RandomRows *rows;
	SinkFixture *fixture;
	uint8_t    *seen;
	uint64_t	found;
} Check;

static LakeBytes
row_bytes(const Check *check, const LakeVector *const *columns, uint32_t row,
		  LakeArena *arena)
{
	LakeBuffer	out;

	buffer_init(&out, arena);
	for (int i = 0; i < check->rows->schema.field_count; i++)
		vector_append(&out, columns[i], row);
	return (LakeBytes) {out.data, out.len};
}

/* a primitive field's value in a row; NULL where a struct above it is */
static LakeValue
value_of(const LakeField *fields, int count, const LakeVector *const *columns,
		 uint32_t row, int32_t id, bool *found)
{
	LakeValue	value = {.is_null = true};

	for (int i = 0; i < count && !*found; i++)
	{
		const LakeType *type = fields[i].type;
		bool		is_null = vector_is_null(columns[i], row);

		if (fields[i].id == id)
		{
			*found = true;
			if (!is_null)
				lake_value_from_slot(type, vector_value(columns[i], row),
									 &value);
			return value;
		}
		if (type->kind != LAKE_STRUCT)
			continue;
		value = value_of(type->fields, type->field_count,
						 (const LakeVector *const *) columns[i]->children, row,
						 id, found);
		if (*found && is_null)
			value.is_null = true;
	}
	return value;
}

static bool
is_same_key(const LakePartitionSpec *spec, const LakeValue *a,
			const LakeValue *b, LakeArena *arena)
{
	LakeBuffer	left;
	LakeBuffer	right;

	buffer_init(&left, arena);
	buffer_init(&right, arena);
	partition_values_key(spec, a, &left);
	partition_values_key(spec, b, &right);
	return left.len == right.len &&
		memcmp(left.data, right.data, left.len) == 0;
}

static void
check_partition(const Check *check, const WrittenFile *file,
				const LakeVector *const *columns, uint32_t row,
				LakeArena *arena)
{
	const LakePartitionSpec *spec = file->spec;
	LakeValue  *values = lake_alloc_array(arena, (size_t) spec->field_count + 1,
										  sizeof *values);

	for (int i = 0; i < spec->field_count; i++)
	{
		bool		found = false;
		LakeValue	value = value_of(check->rows->schema.fields,
									 check->rows->schema.field_count, columns,
									 row, spec->fields[i].source_id, &found);

		transform_apply(&spec->fields[i].transform,
						spec->fields[i].source_type, &value, &values[i]);
	}
	CHECK(is_same_key(spec, values, file->partition, arena));
}

/* does what the manifest will say hold for the value of a leaf? */
static void
check_bounds(const ColumnMetrics *metrics, const LakeType *type,
			 const LakeValue *value)
{
	LakeValue	bound;

	if (value->is_null || (value_form(type) == VALUE_FLOAT && isnan(value->d)))
		return;
	if (metrics->lower.data != NULL)
	{
		CHECK(lake_value_from_bound(type, metrics->lower, &bound));
		CHECK(lake_value_compare(type, &bound, value) <= 0);
	}
	if (metrics->upper.data != NULL)
	{
		CHECK(lake_value_from_bound(type, metrics->upper, &bound));
		CHECK(lake_value_compare(type, &bound, value) >= 0);
	}
}

typedef struct LeafCount
{
	int64_t		nulls;
	int64_t		nans;
} LeafCount;

static void
check_metrics(const Check *check, const WrittenFile *file,
			  const LakeVector *const *columns, uint32_t row,
			  LeafCount *counts)
{
	for (int i = 0; i < file->metric_count; i++)
	{
		const ColumnMetrics *metrics = &file->metrics[i];
		const LakeField *field = find_field(&check->rows->schema,
											metrics->field_id);
		bool		found = false;
		LakeValue	value = value_of(check->rows->schema.fields,
									 check->rows->schema.field_count, columns,
									 row, metrics->field_id, &found);

		CHECK(i == 0 || file->metrics[i - 1].field_id < metrics->field_id);
		if (!found)
		{
			/* inside of a list or map */
			CHECK_INT(metrics->value_count, -1);
			CHECK(metrics->lower.data == NULL && metrics->upper.data == NULL);
			continue;
		}
		check_bounds(metrics, field->type, &value);
		counts[i].nulls += value.is_null;
		counts[i].nans += !value.is_null &&
			value_form(field->type) == VALUE_FLOAT && isnan(value.d);
	}
}

static void
check_counts(const Check *check, const WrittenFile *file,
			 const LeafCount *counts)
{
	for (int i = 0; i < file->metric_count; i++)
	{
		const ColumnMetrics *metrics = &file->metrics[i];
		const LakeField *field = find_field(&check->rows->schema,
											metrics->field_id);

		CHECK(metrics->size > 0);
		if (metrics->value_count < 0)
			continue;
		CHECK_INT(metrics->value_count, file->record_count);
		CHECK_INT(metrics->null_count, counts[i].nulls);
		CHECK_INT(metrics->nan_count,
				  value_form(field->type) == VALUE_FLOAT ? counts[i].nans : -1);
	}
}

static void
check_row(Check *check, const LakeVector *const *columns, uint32_t row,
		  LakeArena *arena)
{
	int64_t		number = *(const int64_t *) vector_value(columns[0], row);
	const LakeVector *const *expected;
	LakeBytes	actual = row_bytes(check, columns, row, arena);
	LakeBytes	wanted;
	uint64_t	first = (uint64_t) number / BATCH_MAX_ROWS * BATCH_MAX_ROWS;

	(void) row_store_batch(check->rows->store, first, &expected);
	wanted = row_bytes(check, expected, (uint32_t) ((uint64_t) number - first),
					   arena);
	CHECK(value_compare_bytes(actual, wanted) == 0);
	CHECK(!check->seen[number]);
	check->seen[number] = 1;
	check->found++;
}

static void
check_file(Check *check, const WrittenFile *file, LakeArena *arena)
{
	const LakeSchema *schema = &check->rows->schema;
	const LakeField *fields[RANDOM_MAX_FIELDS];
	const LakeVector *columns[RANDOM_MAX_FIELDS];
	TaskReaderOptions options = {
		.store = check->fixture->store, .schema = schema,
		.column_count = schema->field_count, .columns = fields
	};
	ScanTask	task = sink_fixture_task(file);
	LeafCount  *counts = lake_alloc_array(arena, (size_t) file->metric_count + 1,
										  sizeof *counts);
	int64_t		rows = 0;
	TaskReader *reader;
	LakeBatch	batch;

	for (int i = 0; i < schema->field_count; i++)
		fields[i] = &schema->fields[i];
	reader = task_reader_create(arena, &options);
	task_reader_begin(reader, &task);
	while (task_reader_next(reader, &batch))
	{
		LakeArena  *scratch = lake_arena_create(arena, "batch");

		for (int i = 0; i < schema->field_count; i++)
			columns[i] = task_reader_column(reader, i);
		for (uint32_t i = 0; i < batch.selected_count; i++)
		{
			check_row(check, columns, batch.selection[i], scratch);
			check_partition(check, file, columns, batch.selection[i], scratch);
			check_metrics(check, file, columns, batch.selection[i], counts);
		}
		rows += batch.selected_count;
		lake_arena_destroy(scratch);
	}
	CHECK_INT(rows, file->record_count);
	check_counts(check, file, counts);
	CHECK_INT(file->kind, WRITTEN_DATA);
	CHECK_INT(file->content_offset, -1);
	CHECK(file->split_count > 0 && file->split_offsets[0] == 4);
	CHECK_INT(lake_file_open(check->fixture->store, arena, file->path,
							 "file")->size, file->size);
}

/* each row of the store but those is in one of the files, and as it was */
static void
check_files_without(RandomRows *rows, SinkFixture *fixture,
					const WrittenFile *const *files, int count,
					const LakeBitmap *without)
{
	uint64_t	total = row_store_count(rows->store);
	Check		check = {.rows = rows, .fixture = fixture};

	check.seen = lake_alloc(rows->arena, total + 1);
	for (int i = 0; i < count; i++)
	{
		LakeArena  *arena = lake_arena_create(rows->arena, "file");

		CHECK(i == 0 || strcmp(files[i - 1]->path, files[i]->path) < 0);
		check_file(&check, files[i], arena);
		lake_arena_destroy(arena);
	}
	CHECK_INT(check.found, total - bitmap_cardinality(without));
	for (uint64_t row = 0; row < total; row++)
		CHECK(check.seen[row] != bitmap_contains(without, row));
}

static void
check_files(RandomRows *rows, SinkFixture *fixture,
			const WrittenFile *const *files, int count)
{
	check_files_without(rows, fixture, files, count,
						bitmap_create(rows->arena));
}

static void
set_metrics(SinkFixture *fixture, RandomRows *rows)
{
	ColumnWriteOptions *columns = lake_alloc_array(rows->arena, (size_t)
												   rows->last_id,
												   sizeof *columns);
	static const int widths[] = {1, 2, 16, 100};

	for (int32_t i = 0; i < rows->last_id; i++)
	{
		columns[i].field_id = i + 1;
		columns[i].metrics = (MetricsMode) random_rows_below(rows, 4);
		columns[i].width = widths[random_rows_below(rows, 4)];
		columns[i].bloom = random_rows_below(rows, 4) == 0;
		columns[i].bloom_fpp = 0.01;
	}
	fixture->write.columns = columns;
	fixture->write.column_count = (int) rows->last_id;
}

/* ---- tests ---- */

static void
random_tables_are_read_back(LakeArena *arena)
{
	for (uint64_t seed = 0; seed < SCHEMAS; seed++)
	{
		LakeArena  *own = lake_arena_create(arena, "table");
		RandomRows *rows = random_rows_create(own, seed, (int) (seed % 4));
		SinkFixture *fixture = sink_fixture_create(own, &rows->schema);
		const WrittenFile *const *files;
		FileSink   *sink;
		int			count;

		fixture->write.spec = random_spec(rows);
		set_metrics(fixture, rows);
		fixture->write.target_file_bytes = seed % 3 == 0 ? 20000 : 1 << 30;
		fixture->options.memory_limit = seed % 5 == 0 ? 200000 : 64 << 20;
		random_rows_add(rows, seed % 7 == 0 ? 100 : ROWS / 3);
		sink = file_sink_create(own, &fixture->options);
		write_all(sink, rows);
		files = file_sink_finish(sink, &count);
		check_files(rows, fixture, files, count);
		CHECK_INT(count, fixture->file_number);
		if (unit_failed)
		{
			fprintf(stderr, "seed %d\n", (int) seed);
			return;
		}
		lake_arena_destroy(own);
	}
}

/* a number, and a text that follows from it */
static LakeType type_long = {.kind = LAKE_LONG};
static LakeType type_string = {.kind = LAKE_STRING};
static LakeType type_double = {.kind = LAKE_DOUBLE};
static LakeField simple_fields[] = {
	{.id = 1, .name = "n", .required = true, .type = &type_long},
	{.id = 2, .name = "s", .type = &type_string},
	{.id = 3, .name = "d", .type = &type_double}
};

static RandomRows *
simple_rows(LakeArena *arena, uint32_t count)
{
	RandomRows *rows = lake_alloc(arena, sizeof *rows);

	rows->arena = arena;
	rows->random = 7;
	rows->last_id = 3;
	rows->schema.field_count = 3;
	rows->schema.fields = simple_fields;
	rows->store = row_store_create(arena, &rows->schema);
	random_rows_add(rows, count);
	return rows;
}

static LakePartitionSpec *
simple_spec(LakeArena *arena, int32_t source, const char *transform)
{
	LakePartitionSpec *spec = lake_alloc(arena, sizeof *spec);

	spec->id = 1;
	spec->fields = lake_alloc_array(arena, 2, sizeof *spec->fields);
	add_partition_field(arena, spec, &simple_fields[source - 1], transform);
	return spec;
}

static void
files_roll_at_the_target_size(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 60000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	FileSink   *sink;
	int			count;
	const WrittenFile *const *files;

	fixture->write.target_file_bytes = 100000;
	fixture->write.page_rows = 1000;
	sink = file_sink_create(arena, &fixture->options);
	write_all(sink, rows);
	files = file_sink_finish(sink, &count);
	check_files(rows, fixture, files, count);
	CHECK(count > 4);
	for (int i = 0; i < count - 1; i++)
		CHECK(files[i]->size > 100000 / 2 && files[i]->size < 250000);
	CHECK(strstr(files[0]->path, "/test-00000.parquet") != NULL);
}

static void
many_partitions_keep_within_the_limit(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 120000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	size_t		limit = (size_t) 8 << 20;
	const LakeVector *const *columns;
	const WrittenFile *const *files;
	uint32_t	count;
	size_t		peak = 0;
	FileSink   *sink;
	int			file_count;
	int			groups = 0;

	fixture->write.spec = simple_spec(arena, 1, "bucket[200]");
	fixture->options.memory_limit = limit;
	sink = file_sink_create(arena, &fixture->options);
	for (uint64_t at = 0; (count = row_store_batch(rows->store, at,
												   &columns)) > 0; at += count)
	{
		file_sink_write(sink, columns, NULL, count);
		if (file_sink_held_bytes(sink) > peak)
			peak = file_sink_held_bytes(sink);
	}
	CHECK(peak <= limit && peak > limit / 4);
	files = file_sink_finish(sink, &file_count);
	CHECK_INT(file_sink_held_bytes(sink), 0);
	check_files(rows, fixture, files, file_count);
	CHECK(file_count >= 200);
	for (int i = 0; i < file_count; i++)
		groups += files[i]->split_count;
	CHECK(groups > 2 * file_count);
}

/* some rows of a store are written, whose rows without are not */
static void
check_store(LakeArena *arena, RandomRows *rows, SinkFixture *fixture,
			uint64_t first, uint64_t end, LakeBitmap *without)
{
	FileSink   *sink = file_sink_create(arena, &fixture->options);
	const WrittenFile *const *files;
	int			count;

	file_sink_write_store(sink, rows->store, first, end, without);
	for (uint64_t row = 0; row < row_store_count(rows->store); row++)
	{
		if (row < first || row >= end)
			bitmap_add(without, row);
	}
	files = file_sink_finish(sink, &count);
	check_files_without(rows, fixture, files, count, without);
}

static void
rows_of_a_store_are_sorted_by_partition(LakeArena *arena)
{
	for (uint64_t seed = 100; seed < 112; seed++)
	{
		LakeArena  *own = lake_arena_create(arena, "table");
		RandomRows *rows = random_rows_create(own, seed, (int) (seed % 4));
		SinkFixture *fixture = sink_fixture_create(own, &rows->schema);
		LakePartitionSpec *spec = random_spec(rows);
		LakeBitmap *without = bitmap_create(own);

		spec->field_count = 0;
		spec->fields = lake_alloc_array(own, 1, sizeof *spec->fields);
		if (seed % 5 != 0)
			add_partition_field(own, spec, &rows->schema.fields[0],
								seed % 5 == 1 ? "bucket[2]" : "bucket[300]");
		fixture->write.spec = spec;
		fixture->options.memory_limit = seed % 2 == 0 ? 1 << 20 : 64 << 20;
		set_metrics(fixture, rows);
		random_rows_add(rows, 9500);
		for (uint64_t row = seed; row < 9500 && seed % 3 != 0; row += 7)
			bitmap_add(without, row);
		check_store(own, rows, fixture, seed % 4 == 0 ? 0 : 1000,
					seed % 4 == 1 ? 9500 : 9000, without);
		lake_arena_destroy(own);
	}
}

static void
sorted_rows_make_one_file_a_partition(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 30000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	FileSink   *sink;
	int			groups = 0;
	int			count;
	const WrittenFile *const *files;

	/* a tenth of what the writers alone take */
	fixture->write.spec = simple_spec(arena, 1, "bucket[500]");
	fixture->options.memory_limit = 1 << 20;
	sink = file_sink_create(arena, &fixture->options);
	file_sink_write_store(sink, rows->store, 0, 30000, NULL);
	files = file_sink_finish(sink, &count);
	CHECK_INT(count, 500);
	for (int i = 0; i < count; i++)
		groups += files[i]->split_count;
	CHECK_INT(groups, 500);
	check_files(rows, fixture, files, count);
}

static void
a_large_limit_makes_a_file_a_partition(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 20000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	const WrittenFile *const *files;
	FileSink   *sink;
	int			count;

	fixture->write.spec = simple_spec(arena, 1, "bucket[100]");
	sink = file_sink_create(arena, &fixture->options);
	write_all(sink, rows);
	files = file_sink_finish(sink, &count);
	check_files(rows, fixture, files, count);
	CHECK_INT(count, 100);
	for (int i = 0; i < count; i++)
		CHECK_INT(files[i]->split_count, 1);
}

static void
zeros_of_both_signs_are_two_partitions_and_nans_one(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 0);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	const uint64_t nans[] = {UINT64_C(0x7ff8000000000000),
	UINT64_C(0xfff8000000000001)};
	double		values[6] = {0.0, -0.0, 0.0, -0.0};
	const WrittenFile *const *files;
	FileSink   *sink;
	int			count;

	memcpy(&values[4], nans, sizeof nans);
	for (int i = 0; i < 8; i++)
	{
		vector_append_i64(row_store_column(rows->store, 0), i);
		vector_append_null(row_store_column(rows->store, 1));
		if (i < 6)
			vector_append_f64(row_store_column(rows->store, 2), values[i]);
		else
			vector_append_null(row_store_column(rows->store, 2));
		row_store_end_row(rows->store);
	}
	fixture->write.spec = simple_spec(arena, 3, "identity");
	sink = file_sink_create(arena, &fixture->options);
	write_all(sink, rows);
	files = file_sink_finish(sink, &count);
	CHECK_INT(count, 4);
	check_files(rows, fixture, files, count);
	CHECK(signbit(files[0]->partition[0].d) == 0);
	CHECK(signbit(files[1]->partition[0].d) != 0);
	CHECK(memcmp(&files[2]->partition[0].d, &nans[0], 8) == 0);
	CHECK(files[3]->partition[0].is_null);
}

static void
rows_go_to_the_partition_that_is_given(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 3000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	LakePartitionSpec *old = simple_spec(arena, 2, "identity");
	char		text[] = "old";
	LakeValue	values[] = {
		{.bytes = {(const uint8_t *) text, 3}},
		{.is_null = true}
	};
	const LakeVector *const *columns;
	uint32_t	count = row_store_batch(rows->store, 0, &columns);
	uint32_t	selection[1000];
	const WrittenFile *const *files;
	FileSink   *sink;
	int			file_count;

	old->id = 9;
	sink = file_sink_create(arena, &fixture->options);
	for (uint32_t i = 0; i < 1000; i++)
		selection[i] = i * 3;
	file_sink_write_to(sink, old, &values[0], columns, selection, 1000);
	file_sink_write_to(sink, old, &values[1], columns, selection, 500);
	/* what the caller does with its values is its own matter */
	text[0] = 'O';
	values[0].bytes.data = (const uint8_t *) "old";
	file_sink_write_to(sink, old, &values[0], columns, selection, 10);
	file_sink_write(sink, columns, NULL, count);
	files = file_sink_finish(sink, &file_count);
	CHECK_INT(file_count, 3);
	CHECK_INT(files[0]->record_count, 1010);
	CHECK_INT(files[0]->spec->id, 9);
	CHECK(memcmp(files[0]->partition[0].bytes.data, "old", 3) == 0);
	CHECK_INT(files[1]->record_count, 500);
	CHECK(files[1]->partition[0].is_null);
	CHECK_INT(files[2]->record_count, 3000);
	CHECK(files[2]->spec == &fixture->no_partition);
}

static LakeVector
long_vector(LakeArena *arena, uint32_t count, int64_t first)
{
	int64_t    *values = lake_alloc_array(arena, count, sizeof *values);
	uint8_t    *nulls = lake_alloc(arena, count);

	for (uint32_t i = 0; i < count; i++)
	{
		values[i] = first + i;
		nulls[i] = i % 10 == 0;
	}
	return (LakeVector)
	{
		.layout = VECTOR_I64, .count = count, .values = values, .nulls = nulls
	};
}

static void
rewritten_rows_keep_their_numbers(LakeArena *arena)
{
	static const LakeField row_id = {
		.id = LAKE_FIELD_ROW_ID, .name = "_row_id", .type = &type_long
	};
	static const LakeField sequence = {
		.id = LAKE_FIELD_SEQUENCE, .name = "_last_updated_sequence_number",
		.type = &type_long
	};
	static const LakeField *const wanted[] = {&row_id, &sequence};
	RandomRows *rows = simple_rows(arena, 1000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	LakeVector	ids = long_vector(arena, 1000, 5000);
	LakeVector	numbers = long_vector(arena, 1000, 70);
	const LakeVector *const *columns;
	const LakeVector *all[5];
	TaskReaderOptions options = {
		.store = fixture->store, .schema = &rows->schema, .column_count = 2,
		.columns = wanted
	};
	ScanTask	task;
	TaskReader *reader;
	LakeBatch	batch;
	FileSink   *sink;
	int			count;

	fixture->options.row_ids = true;
	(void) row_store_batch(rows->store, 0, &columns);
	memcpy(all, columns, 3 * sizeof *all);
	all[3] = &ids;
	all[4] = &numbers;
	sink = file_sink_create(arena, &fixture->options);
	file_sink_write(sink, all, NULL, 1000);
	task = sink_fixture_task(file_sink_finish(sink, &count)[0]);
	task.first_row_id = 100000;
	task.sequence_number = 42;
	reader = task_reader_create(arena, &options);
	task_reader_begin(reader, &task);
	CHECK(task_reader_next(reader, &batch));
	CHECK_INT(batch.selected_count, 1000);
	for (uint32_t i = 0; i < 1000; i++)
	{
		CHECK_INT(*(const int64_t *)
				  vector_value(task_reader_column(reader, 0), i),
				  i % 10 == 0 ? 100000 + i : 5000 + i);
		CHECK_INT(*(const int64_t *)
				  vector_value(task_reader_column(reader, 1), i),
				  i % 10 == 0 ? 42 : 70 + i);
	}
}

static int
count_in_directory(const char *path)
{
	DIR		   *dir = opendir(path);
	int			count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count < 2 ? 0 : count - 2;
}

static void
a_cancelled_sink_leaves_no_file(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 9000);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	const char *data = lake_printf(arena, "%s/data/1", fixture->top);
	FileSink   *sink;

	fixture->write.spec = simple_spec(arena, 1, "bucket[20]");
	fixture->write.target_file_bytes = 5000;
	sink = file_sink_create(arena, &fixture->options);
	write_all(sink, rows);
	CHECK(fixture->file_number > 20);
	CHECK_INT(count_in_directory(data), fixture->file_number);
	file_sink_cancel(sink);
	CHECK_INT(count_in_directory(data), 0);
	/* the set has forgotten them: there is nothing to publish */
	put_set_publish(fixture->store, fixture->store->puts);
	CHECK_INT(count_in_directory(data), 0);
}

static void
a_sink_without_rows_has_no_files(LakeArena *arena)
{
	RandomRows *rows = simple_rows(arena, 1);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	const LakeVector *const *columns;
	FileSink   *sink = file_sink_create(arena, &fixture->options);
	int			count = -1;

	(void) row_store_batch(rows->store, 0, &columns);
	file_sink_write(sink, columns, NULL, 0);
	(void) file_sink_finish(sink, &count);
	CHECK_INT(count, 0);
	CHECK_INT(fixture->file_number, 0);
}

static void
footers_have_the_schema_and_legal_names(LakeArena *arena)
{
	RandomRows *rows = random_rows_create(arena, 3, 0);
	SinkFixture *fixture = sink_fixture_create(arena, &rows->schema);
	const WrittenFile *const *files;
	const ParquetField *const *fields;
	const ParquetFile *file;
	FileSink   *sink;
	int			count;

	fixture->write.schema_json = "{\"type\":\"struct\"}";
	random_rows_add(rows, 10);
	sink = file_sink_create(arena, &fixture->options);
	write_all(sink, rows);
	files = file_sink_finish(sink, &count);
	file = parquet_file_open(arena, lake_file_open(fixture->store, arena,
												   files[0]->path, "file"));
	CHECK_STRING(parquet_file_metadata(file, "iceberg.schema"),
				 "{\"type\":\"struct\"}");
	CHECK_STRING(parquet_file_created_by(file), "lakefdw version 0.0.0");
	CHECK_INT(parquet_file_fields(file, &fields), rows->schema.field_count);
	CHECK_STRING(fields[0]->name, "_0f_x200");
	CHECK_INT(fields[0]->field_id, 1);
}

static const UnitTest tests[] = {
	UNIT(random_tables_are_read_back),
	UNIT(files_roll_at_the_target_size),
	UNIT(many_partitions_keep_within_the_limit),
	UNIT(rows_of_a_store_are_sorted_by_partition),
	UNIT(sorted_rows_make_one_file_a_partition),
	UNIT(a_large_limit_makes_a_file_a_partition),
	UNIT(zeros_of_both_signs_are_two_partitions_and_nans_one),
	UNIT(rows_go_to_the_partition_that_is_given),
	UNIT(rewritten_rows_keep_their_numbers),
	UNIT(a_cancelled_sink_leaves_no_file),
	UNIT(a_sink_without_rows_has_no_files),
	UNIT(footers_have_the_schema_and_legal_names),
};

UNIT_MAIN(tests)
