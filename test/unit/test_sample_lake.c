/*
 * The whole way down over tables of real engines: every table of the sample
 * lake is found, opened and planned, and no pruning loses a file that has a
 * matching row.  Run from the project's directory.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "iceberg/iceberg_int.h"
#include "metastore/metastore.h"
#include "unit.h"

#define VALUES_PER_FILE 12

static const char *const namespaces[] = {
	"shop", "cases", "transforms", "nested.deep", "py"
};

/* tables of other data files than Parquet: planned, they are an error */
static const char *const refused[] = {"avro_files", "orc_files"};

typedef struct Lake
{
	LakeArena  *arena;
	LakePathRules rules;
	LakeStore  *store;
	char	   *directory;
} Lake;

static Lake *
open_lake(LakeArena *arena)
{
	Lake	   *lake = lake_alloc(arena, sizeof *lake);
	char	   *here = getcwd(NULL, 0);

	lake_defer(arena, free, here);
	lake->arena = arena;
	lake->directory = lake_printf(arena, "%s/test/data/lake", here);
	path_rules_add_map(arena, &lake->rules,
					   lake_printf(arena, "file:///srv/lake=%s",
								   lake->directory));
	lake->store = store_local_create(arena, &lake->rules);
	return lake;
}

static bool
is_refused(const char *table)
{
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
	{
		if (strcmp(refused[i], table) == 0)
			return true;
	}
	return false;
}

/* calls fn for each table that can be planned; returns how many there are */
static int
each_table(LakeArena *arena, void (*fn) (Lake *lake, const LakeTable *table))
{
	Lake	   *lake = open_lake(arena);
	int			seen = 0;

	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
	{
		CatalogTable *tables;
		size_t		count;

		if (!file_catalog_list(arena, lake->store, lake->directory,
							   namespaces[i], &tables, &count))
			lake_throw(LAKE_ERROR_MISSING, "no namespace %s", namespaces[i]);
		for (size_t j = 0; j < count; j++)
		{
			LakeArena  *inner = lake_arena_create(arena, "table");
			const char *location =
				file_catalog_find(inner, lake->store, lake->directory,
							  namespaces[i], tables[j].name);

			seen++;
			if (location == NULL)
				lake_throw(LAKE_ERROR_MISSING, "no table %s.%s",
						   namespaces[i], tables[j].name);
			if (!is_refused(tables[j].name))
				fn(lake, iceberg_format.open(inner, lake->store, location));
			lake_arena_destroy(inner);
		}
	}
	return seen;
}

static void
check_totals(Lake *lake, const LakeTable *table)
{
	LakeBytes	snapshots = ((const IcebergTable *) table)->snapshots;
	JsonScan	scan;
	LakeBytes	text;

	json_scan_begin(&scan, snapshots);
	while (json_scan_next(&scan, &text))
	{
		int64_t		id;
		const LakeSnapshot *snapshot;
		const ScanPlan *plan;
		IcebergTotals totals;

		snapshot_scan(text, &id, NULL);
		snapshot = iceberg_find_snapshot(table->arena, table, id);
		plan = iceberg_format.plan(table->arena, table, lake->store, snapshot,
								   NULL);
		iceberg_totals(table->arena, lake->store, snapshot, &totals);
		CHECK_INT(plan->task_count, snapshot->total_data_files);
		CHECK_INT(plan->rows_planned, snapshot->total_records);
		CHECK_INT(plan->bytes_planned <= snapshot->total_size, 1);
		CHECK_INT(totals.data_files, snapshot->total_data_files);
		CHECK_INT(totals.data_rows, snapshot->total_records);
	}
}

static void
plans_have_the_files_and_rows_of_the_summary(LakeArena *arena)
{
	CHECK(each_table(arena, check_totals) >= 40);
}

static void
value_of(const LakeType *type, const LakeVector *vector, uint32_t row,
		 LakeValue *value)
{
	const void *stored = vector_value(vector, row);

	value->is_null = false;
	switch (vector->layout)
	{
		case VECTOR_BOOL:
			value->i = *(const uint8_t *) stored;
			break;
		case VECTOR_I32:
			value->i = *(const int32_t *) stored;
			break;
		case VECTOR_I64:
			if (type->kind == LAKE_DECIMAL)
				value->decimal = *(const int64_t *) stored;
			else
				value->i = *(const int64_t *) stored;
			break;
		case VECTOR_I128:
			value->decimal = *(const LakeInt128 *) stored;
			break;
		case VECTOR_F32:
			value->d = *(const float *) stored;
			break;
		case VECTOR_F64:
			value->d = *(const double *) stored;
			break;
		default:
			value->bytes = *(const LakeBytes *) stored;
			break;
	}
}

/* the plan of "field op value" has the file */
static void
check_kept(Lake *lake, const LakeTable *table, const char *path,
		   const LakeField *field, PredicateOp op, const LakeValue *value)
{
	LakeArena  *arena = lake_arena_create(lake->arena, "pruned plan");
	const Predicate *predicate =
		predicate_normalize(arena, predicate_leaf(arena, op, field, value,
											  value == NULL ? 0 : 1));
	const ScanPlan *plan = iceberg_format.plan(arena, table, lake->store,
											   table->current_snapshot,
											   predicate);
	bool		found = false;

	for (int i = 0; i < plan->task_count && !found; i++)
		found = strcmp(plan->tasks[i].path, path) == 0;
	if (!found)
		fprintf(stderr, "%s is lost by a predicate on %s\n", path,
				field->name);
	CHECK(found);
	lake_arena_destroy(arena);
}

static void
check_values(Lake *lake, const LakeTable *table, const ScanTask *task,
			 const LakeField *field)
{
	static const PredicateOp ops[] = {
		PREDICATE_EQ, PREDICATE_LE, PREDICATE_GE
	};
	LakeArena  *arena = lake_arena_create(lake->arena, "file");
	TaskReaderOptions options = {.store = lake->store,
		.schema = table->schema, .schema_count = table->schema_count,
		.schemas = table->schemas, .column_count = 1, .columns = &field,
	.name_mapping = table->name_mapping};
	TaskReader *reader = task_reader_create(arena, &options);
	ScanTask	bare = *task;
	LakeBatch	batch;
	int			values = 0;
	int			nulls = 0;

	/* pruning does not know of deletes */
	bare.delete_count = 0;
	task_reader_begin(reader, &bare);
	while (task_reader_next(reader, &batch) && values < VALUES_PER_FILE)
	{
		const LakeVector *vector = task_reader_column(reader, 0);

		for (uint32_t i = 0;
			 i < batch.selected_count && values < VALUES_PER_FILE;
			 i += 1 + batch.selected_count / VALUES_PER_FILE)
		{
			LakeValue	value;

			if (vector_is_null(vector, batch.selection[i]))
			{
				if (nulls++ == 0)
					check_kept(lake, table, task->path, field,
							   PREDICATE_IS_NULL, NULL);
				continue;
			}
			if (values++ == 0)
				check_kept(lake, table, task->path, field,
						   PREDICATE_NOT_NULL, NULL);
			value_of(field->type, vector, batch.selection[i], &value);
			for (size_t j = 0; j < sizeof ops / sizeof ops[0]; j++)
				check_kept(lake, table, task->path, field, ops[j], &value);
		}
	}
	lake_arena_destroy(arena);
}

static void
check_pruning(Lake *lake, const LakeTable *table)
{
	const ScanPlan *plan = iceberg_format.plan(table->arena, table,
											   lake->store,
											   table->current_snapshot, NULL);

	for (int i = 0; i < plan->task_count; i++)
	{
		for (int j = 0; j < table->schema->field_count; j++)
		{
			const LakeField *field = &table->schema->fields[j];

			if (field->type->kind < LAKE_UNKNOWN)
				check_values(lake, table, &plan->tasks[i], field);
		}
	}
}

static void
a_value_in_a_file_keeps_it_in_the_plan(LakeArena *arena)
{
	CHECK(each_table(arena, check_pruning) >= 40);
}

static void
other_data_files_are_refused_by_name(LakeArena *arena)
{
	Lake	   *lake = open_lake(arena);
	static const char *const formats[] = {"AVRO", "ORC"};

	for (int i = 0; i < 2; i++)
	{
		const char *location = file_catalog_find(arena, lake->store,
												 lake->directory, "cases",
												 refused[i]);
		const LakeTable *table = iceberg_format.open(arena, lake->store,
													 location);

		CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, formats[i],
					 iceberg_format.plan(arena, table, lake->store,
										 table->current_snapshot, NULL));
	}
}

static const UnitTest tests[] = {
	UNIT(plans_have_the_files_and_rows_of_the_summary),
	UNIT(a_value_in_a_file_keeps_it_in_the_plan),
	UNIT(other_data_files_are_refused_by_name),
};

UNIT_MAIN(tests)
