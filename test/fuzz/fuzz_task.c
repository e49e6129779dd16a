/*
 * A Parquet file read as a data file and as each kind of delete file.
 *
 * Properties: a deletion vector removes its positions and changes nothing of
 * the other rows, although columns are then skipped and decoded late; the
 * equality deletes that are a file's own rows leave none of them; and rows
 * that a predicate finds, by page index and bloom filter, come once, in order.
 *
 * Input: a Parquet file.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "seam_std.h"
#include "table/table_int.h"
#include "vector_check.h"

#define ALLOC_CEILING	((size_t) 64 << 20)
#define MAX_COLUMNS		8
#define MAX_ROWS		2000

/* the deletion vector of 1, 3, 5, 7, 9 */
static const uint8_t odd_digits[] = {
	0x00, 0x00, 0x00, 0x2a, 0xd1, 0xd3, 0x39, 0x64, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x30, 0x00, 0x00,
	0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x03, 0x00, 0x05, 0x00, 0x07, 0x00, 0x09, 0x00, 0xb3, 0xfb,
	0x20, 0xbe
};

/* "/f/vector" is the vector, every other path the input */
typedef struct FuzzStore
{
	LakeStore	store;
	LakeBytes	input;
} FuzzStore;

/* what a scan gave, by position */
typedef struct FuzzRows
{
	LakeBuffer	bytes;
	uint32_t	count;
	int64_t		positions[MAX_ROWS];
	size_t		starts[MAX_ROWS + 1];
} FuzzRows;

static LakeFile *
open_file(LakeStore *store, LakeArena *arena, const char *path)
{
	LakeBytes	bytes = {odd_digits, sizeof odd_digits};

	if (strcmp(path, "/f/vector") != 0)
		bytes = ((FuzzStore *) store)->input;
	return lake_file_from_memory(arena, path, bytes);
}

static const LakeStoreOps fuzz_ops = {.name = "fuzz", .open = open_file};

static LakeTypeKind
primitive_kind(const ParquetField *field)
{
	switch (field->physical)
	{
		case PARQUET_BOOLEAN:
			return LAKE_BOOLEAN;
		case PARQUET_INT32:
		case PARQUET_INT64:
			if (field->logical == PARQUET_LOGICAL_TIME)
				return LAKE_TIME;
			return field->logical == PARQUET_LOGICAL_DATE ||
				field->logical == PARQUET_LOGICAL_TIMESTAMP ?
				LAKE_TIMESTAMP : LAKE_LONG;
		case PARQUET_INT96:
			return LAKE_TIMESTAMPTZ;
		case PARQUET_FLOAT:
		case PARQUET_DOUBLE:
			return LAKE_DOUBLE;
		case PARQUET_BYTE_ARRAY:
			return field->logical == PARQUET_LOGICAL_STRING ? LAKE_STRING :
				LAKE_BINARY;
		case PARQUET_FIXED_LEN_BYTE_ARRAY:
			return field->logical == PARQUET_LOGICAL_FLOAT16 ? LAKE_DOUBLE :
				field->logical == PARQUET_LOGICAL_UUID ? LAKE_UUID :
				LAKE_FIXED;
	}
	return LAKE_BINARY;
}

static LakeType *wanted_type(LakeArena *arena, const ParquetField *field);

/* struct children come in reverse, and one more that no file has */
static void
add_children(LakeArena *arena, const ParquetField *field, LakeType *type)
{
	bool		is_struct = type->kind == LAKE_STRUCT;
	int			count = field->child_count + is_struct;

	if (type->kind == LAKE_MAP)
		count = 2;
	type->field_count = count;
	type->fields = lake_alloc_array(arena, (size_t) count, sizeof(LakeField));
	for (int i = 0; i < count; i++)
	{
		int			from = is_struct ? count - 2 - i : i;
		LakeField  *child = &type->fields[i];

		child->id = -2;
		child->name = "absent";
		child->type = lake_alloc(arena, sizeof(LakeType));
		if (from < 0 || from >= field->child_count)
			continue;
		child->id = field->children[from]->field_id;
		child->name = field->children[from]->name;
		child->type = wanted_type(arena, field->children[from]);
	}
}

static LakeType *
wanted_type(LakeArena *arena, const ParquetField *field)
{
	static const LakeTypeKind kinds[] = {
		[PARQUET_STRUCT] = LAKE_STRUCT,
		[PARQUET_LIST] = LAKE_LIST,
		[PARQUET_MAP] = LAKE_MAP,
	};
	LakeType   *type = lake_alloc(arena, sizeof(LakeType));

	if (field->shape != PARQUET_PRIMITIVE)
	{
		type->kind = kinds[field->shape];
		add_children(arena, field, type);
		return type;
	}
	type->kind = primitive_kind(field);
	type->length = field->type_length;
	if (field->logical == PARQUET_LOGICAL_DECIMAL)
	{
		type->kind = LAKE_DECIMAL;
		type->precision = field->precision > 9 ? 38 : 18;
		type->scale = field->scale;
	}
	return type;
}

/* the file's columns as a schema */
static LakeSchema *
make_schema(LakeArena *arena, LakeBytes input)
{
	LakeSchema *schema = lake_alloc(arena, sizeof(LakeSchema));
	ParquetFile *file =
		parquet_file_open(arena, lake_file_from_memory(arena, "fuzz", input));
	const ParquetField *const *fields;
	int			count = parquet_file_fields(file, &fields);

	schema->field_count = count < MAX_COLUMNS ? count : MAX_COLUMNS;
	schema->fields = lake_alloc_array(arena, MAX_COLUMNS, sizeof(LakeField));
	for (int i = 0; i < schema->field_count; i++)
	{
		schema->fields[i].id = parquet_file_has_field_ids(file) ?
			fields[i]->field_id : i + 1;
		schema->fields[i].name = fields[i]->name;
		schema->fields[i].type = wanted_type(arena, fields[i]);
	}
	return schema;
}

static TaskReader *
make_reader(LakeArena *arena, FuzzStore *store, const LakeSchema *schema,
			const Predicate *predicate)
{
	const LakeField **columns = lake_alloc_array(arena, MAX_COLUMNS,
												 sizeof(LakeField *));
	TaskReaderOptions options = {
		.store = &store->store, .schema = schema,
		.column_count = schema->field_count, .columns = columns,
		.predicate = predicate, .truncate_nanoseconds = true
	};

	for (int i = 0; i < schema->field_count; i++)
		columns[i] = &schema->fields[i];
	return task_reader_create(arena, &options);
}

static void
read_rows(LakeArena *arena, TaskReader *reader, int column_count,
		  const DeleteFile *deletes, FuzzRows *rows)
{
	ScanTask	task = {
		.path = "/f/data", .record_count = -1, .first_row_id = -1,
		.delete_count = deletes != NULL, .deletes = &deletes
	};
	LakeBatch	batch;

	buffer_init(&rows->bytes, arena);
	rows->count = 0;
	task_reader_begin(reader, &task);
	while (task_reader_next(reader, &batch))
	{
		for (int c = 0; c < column_count; c++)
			vector_check(task_reader_column(reader, c));
		for (uint32_t i = 0; i < batch.selected_count; i++)
		{
			if (rows->count == MAX_ROWS)
				return;
			rows->starts[rows->count] = rows->bytes.len;
			rows->positions[rows->count++] = batch.first_position +
				batch.selection[i];
			for (int c = 0; c < column_count; c++)
				vector_append(&rows->bytes, task_reader_column(reader, c),
							  batch.selection[i]);
			rows->starts[rows->count] = rows->bytes.len;
		}
	}
}

/* some are those of all that the vector leaves, with the same values */
static void
compare_rows(const FuzzRows *all, const FuzzRows *some)
{
	uint32_t	at = 0;

	for (uint32_t i = 0; i < some->count; i++)
	{
		size_t		len = some->starts[i + 1] - some->starts[i];

		while (at < all->count && all->positions[at] < 10 &&
			   all->positions[at] % 2 == 1)
			at++;
		if (at == all->count)
			return;
		if (all->positions[at] != some->positions[i] ||
			all->starts[at + 1] - all->starts[at] != len ||
			(len > 0 && memcmp(all->bytes.data + all->starts[at],
							   some->bytes.data + some->starts[i], len) != 0))
			abort();
		at++;
	}
}

/* ids of the columns that can be keys */
static int
key_ids(const LakeSchema *schema, int32_t *ids)
{
	int			count = 0;

	for (int i = 0; i < schema->field_count; i++)
		if (schema->fields[i].id >= 0 &&
			schema->fields[i].id <= LAKE_MAX_USER_FIELD_ID &&
			!lake_type_is_nested(schema->fields[i].type))
			ids[count++] = schema->fields[i].id;
	return count;
}

/*
 * Scans for single values, so that bounds, filters and page indexes are asked.
 * What they say may be wrong in a damaged file: only rows too many, which the
 * evaluator would have let through, are noticed.
 */
static void
read_by_value(LakeArena *arena, FuzzStore *store, const LakeSchema *schema)
{
	static const int64_t wanted[] = {0, 1, 17, 150, 3010};
	FuzzRows   *rows = lake_alloc(arena, sizeof(FuzzRows));

	for (int i = 0; i < schema->field_count; i++)
	{
		const LakeField *field = &schema->fields[i];
		LakeValue	values[sizeof wanted / sizeof wanted[0]] = {0};
		int			count = (int) (sizeof wanted / sizeof wanted[0]);
		Predicate  *leaf;

		if (field->type->kind != LAKE_LONG && field->type->kind != LAKE_STRING &&
			field->type->kind != LAKE_DOUBLE)
			continue;
		for (int v = 0; v < count; v++)
		{
			if (field->type->kind == LAKE_LONG)
				values[v].i = wanted[v];
			else if (field->type->kind == LAKE_DOUBLE)
				values[v].d = (double) wanted[v];
			else
			{
				const char *text = lake_printf(arena, "u%d", (int) wanted[v]);

				values[v].bytes.data = (const uint8_t *) text;
				values[v].bytes.len = strlen(text);
			}
		}
		leaf = predicate_leaf(arena, i % 2 == 0 ? PREDICATE_IN : PREDICATE_EQ,
							  field, values, i % 2 == 0 ? count : 1);
		read_rows(arena, make_reader(arena, store, schema,
									 predicate_normalize(arena, leaf)),
				  schema->field_count, NULL, rows);
		for (uint32_t r = 1; r < rows->count; r++)
			if (rows->positions[r] <= rows->positions[r - 1])
				abort();
	}
}

static void
run(LakeArena *arena, LakeBytes input)
{
	LakePathRules *rules = lake_alloc(arena, sizeof(LakePathRules));
	FuzzStore  *store = lake_alloc(arena, sizeof(FuzzStore));
	LakeSchema *schema = make_schema(arena, input);
	FuzzRows   *all = lake_alloc(arena, sizeof(FuzzRows));
	FuzzRows   *some = lake_alloc(arena, sizeof(FuzzRows));
	int32_t		ids[MAX_COLUMNS];
	DeleteFile	vector = {
		.kind = DELETE_VECTOR, .path = "/f/vector", .record_count = 5,
		.content_size = sizeof odd_digits
	};
	DeleteFile	positions = {.kind = DELETE_POSITION, .path = "/f/delete"};
	DeleteFile	keys = {
		.kind = DELETE_EQUALITY, .path = "/f/delete", .equality_ids = ids
	};
	TaskReader *reader;

	path_rules_allow(arena, rules, "/f");
	store->store.ops = &fuzz_ops;
	store->store.rules = rules;
	store->input = input;
	reader = make_reader(arena, store, schema, NULL);
	read_rows(arena, reader, schema->field_count, NULL, all);
	read_rows(arena, reader, schema->field_count, &vector, some);
	compare_rows(all, some);
	keys.equality_count = key_ids(schema, ids);
	if (keys.equality_count > 0)
	{
		read_rows(arena, reader, 0, &keys, some);
		if (some->count > 0)
			abort();
	}
	read_rows(arena, reader, 0, &positions, some);
	read_by_value(arena, store, schema);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	LakeBytes	input = {data, size};
	LakeTry		try;

	lake_alloc_ceiling = ALLOC_CEILING;
	if (lake_try_begin(&try))
	{
		run(arena, input);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
