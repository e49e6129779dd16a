/*
 * Parquet footers: schema, row groups, statistics, properties.
 *
 * Property: what the footer gives is usable: every leaf has an index of its
 * own, bounds are in order, sizes are not negative.
 *
 * Input: the footer's Thrift bytes, without length and magic.
 */
#include <math.h>

#include "encode.h"
#include "parquet/parquet.h"
#include "seam_std.h"
#include "vector_check.h"

#define ALLOC_CEILING ((size_t) 32 << 20)
#define MAX_GROUPS 8

static LakeBytes
make_file(LakeArena *arena, const uint8_t *footer, size_t size)
{
	LakeBuffer	buffer;

	buffer_init(&buffer, arena);
	buffer_append_text(&buffer, "PAR1");
	buffer_append(&buffer, footer, size);
	encode_u32(&buffer, (uint32_t) size);
	buffer_append_text(&buffer, "PAR1");
	return encoding_bytes(buffer.data, buffer.len);
}

/* min <= max, for the layouts whose order needs no logical type */
static void
check_order(const ParquetField *field, const ParquetStatistics *statistics)
{
	const LakeVector *bounds = &statistics->bounds;
	int64_t		wide[2];
	double		real[2];

	if (!statistics->has_min || !statistics->has_max)
		return;
	if (bounds->layout == VECTOR_I64 &&
		field->logical != PARQUET_LOGICAL_INTEGER)
	{
		memcpy(wide, bounds->values, sizeof wide);
		if (wide[0] > wide[1])
			abort();
	}
	if (bounds->layout == VECTOR_F64)
	{
		memcpy(real, bounds->values, sizeof real);
		if (isnan(real[0]) || isnan(real[1]) || real[0] > real[1])
			abort();
	}
}

static void
check_statistics(LakeArena *arena, const ParquetFile *file, int group,
				 const ParquetField *field)
{
	ParquetStatistics statistics;

	parquet_statistics_get(file, arena, group, field, &statistics);
	if (statistics.null_count < -1)
		abort();
	if (statistics.has_min || statistics.has_max)
	{
		LakeBuffer	values;

		if (statistics.bounds.count != 2 ||
			statistics.bounds.layout != field->layout)
			abort();
		vector_check(&statistics.bounds);
		buffer_init(&values, arena);
		vector_append(&values, &statistics.bounds, 0);
		vector_append(&values, &statistics.bounds, 1);
		check_order(field, &statistics);
	}
}

/* as deep as the schema may be */
static void
walk(LakeArena *arena, const ParquetFile *file, const ParquetField *field,
	 bool in_list, int *leaf)
{
	bool		is_list = field->shape == PARQUET_LIST ||
		field->shape == PARQUET_MAP;

	if (field->name == NULL)
		abort();
	if (field->shape != PARQUET_PRIMITIVE)
	{
		if (field->leaf != -1 || vector_layout_width(field->layout) != 0)
			abort();
		for (int i = 0; i < field->child_count; i++)
		{
			if (field->children[i]->parent != field)
				abort();
			walk(arena, file, field->children[i], in_list || is_list, leaf);
		}
		return;
	}
	if (field->leaf != (*leaf)++ || vector_layout_width(field->layout) == 0)
		abort();
	if (in_list)
		return;
	for (int g = 0; g < parquet_file_row_groups(file) && g < MAX_GROUPS; g++)
		check_statistics(arena, file, g, field);
}

static void
run(LakeArena *arena, const uint8_t *footer, size_t size)
{
	LakeFile   *memory =
		lake_file_from_memory(arena, "fuzz", make_file(arena, footer, size));
	ParquetFile *file = parquet_file_open(arena, memory);
	const ParquetField *const *fields;
	int			count = parquet_file_fields(file, &fields);
	int64_t		rows = 0;
	int			leaf = 0;

	for (int g = 0; g < parquet_file_row_groups(file); g++)
	{
		if (parquet_row_group_first_row(file, g) != rows ||
			parquet_row_group_rows(file, g) < 0)
			abort();
		rows += parquet_row_group_rows(file, g);
	}
	if (rows != parquet_file_rows(file))
		abort();
	parquet_file_metadata(file, "ARROW:schema");
	parquet_file_created_by(file);
	parquet_file_has_field_ids(file);
	for (int i = 0; i < count; i++)
	{
		LakeTry		try;

		if (lake_try_begin(&try))
		{
			for (int g = 0;
				 g < parquet_file_row_groups(file) && g < MAX_GROUPS; g++)
				parquet_row_group_field_bytes(file, g, fields[i]);
			lake_try_end(&try);
		}
		walk(arena, file, fields[i], false, &leaf);
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
		run(arena, data, size);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
