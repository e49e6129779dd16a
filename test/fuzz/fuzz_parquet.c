/*
 * Whole Parquet files: every column of every row group, in batches of odd
 * sizes.
 *
 * Property: rows that are read after skipping others have the values that they
 * have when all rows are read.
 *
 * Input: a Parquet file.
 */
#include "parquet_check.h"
#include "seam_std.h"

#define ALLOC_CEILING ((size_t) 32 << 20)
/* a few bytes can announce any number of columns and groups */
#define MAX_COLUMNS 40
#define MAX_GROUPS 4

/* one broken column does not keep the others from being read */
static void
try_column(LakeArena *arena, const ParquetFile *file, int group,
		   const ParquetField *field)
{
	int64_t		rows = parquet_row_group_rows(file, group);
	LakeArena  *inner = lake_arena_create(arena, "column");
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		parquet_check_column(inner, file, group, field, rows);
		lake_try_end(&try);
	}
	lake_arena_destroy(inner);
}

static void
run(LakeArena *arena, LakeBytes bytes)
{
	LakeFile   *memory = lake_file_from_memory(arena, "fuzz", bytes);
	ParquetFile *file = parquet_file_open(arena, memory);
	const ParquetField *const *fields;
	int			count = parquet_file_fields(file, &fields);

	for (int group = 0; group < parquet_file_row_groups(file) &&
		 group < MAX_GROUPS; group++)
	{
		for (int i = 0; i < count && i < MAX_COLUMNS; i++)
			try_column(arena, file, group, fields[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	LakeTry		try;

	lake_alloc_ceiling = ALLOC_CEILING;
	if (lake_try_begin(&try))
	{
		run(arena, encoding_bytes(data, size));
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
