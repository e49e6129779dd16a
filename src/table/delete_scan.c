/*
 * Rows of a delete file: the columns that say what is deleted, in batches.
 */
#include "table/table_int.h"

#include <string.h>

void
delete_scan_open(DeleteScan *scan, LakeArena *arena,
				 const TaskReaderOptions *options, const char *path,
				 const NameMapping *mapping)
{
	memset(scan, 0, sizeof *scan);
	scan->arena = arena;
	scan->truncate = options->truncate_nanoseconds;
	scan->schema = file_schema_open(arena, options->store, path,
									"delete file", mapping, false);
}

void
delete_scan_begin(DeleteScan *scan, const LakeField *const *fields,
				  int count)
{
	const ParquetField **columns = lake_alloc_array(scan->arena,
													(size_t) count,
													sizeof(ParquetField *));

	scan->column_count = count;
	scan->maps = lake_alloc_array(scan->arena, (size_t) count,
								  sizeof(ColumnMap));
	scan->converters = lake_alloc_array(scan->arena, (size_t) count,
										sizeof(VectorConverter *));
	scan->vectors = lake_alloc_array(scan->arena, (size_t) count,
									 sizeof(LakeVector *));
	for (int i = 0; i < count; i++)
	{
		ColumnMap  *map = &scan->maps[i];

		if (!column_map_resolve(map, scan->arena, scan->schema, fields[i]))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "delete file lacks the field \"%s\" (id %d)",
					   fields[i]->name, (int) fields[i]->id);
		columns[i] = scan->schema->fields[map->position];
		scan->converters[i] = vector_converter_create(scan->arena, map,
													  scan->truncate);
	}
	scan->reader = parquet_reader_create(scan->arena, scan->schema->parquet,
										 columns, count);
}

void
delete_scan_row_group(DeleteScan *scan, int row_group, RowsFunction take,
					  void *arg)
{
	int64_t		left = parquet_row_group_rows(scan->schema->parquet,
											  row_group);

	parquet_reader_begin(scan->reader, row_group);
	while (left > 0)
	{
		uint32_t	count = left < BATCH_MAX_ROWS ? (uint32_t) left :
			BATCH_MAX_ROWS;

		lake_check_interrupts();
		for (int i = 0; i < scan->column_count; i++)
			scan->vectors[i] =
				vector_converter_apply(scan->converters[i],
									   parquet_reader_read(scan->reader, i,
														   count),
									   count);
		take(arg, scan->vectors, count);
		left -= count;
	}
}
