/*
 * The one partition type that files of all a table's specs can be shown by.
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>

static bool
is_void(const PartitionField *field)
{
	return field->transform.kind == TRANSFORM_VOID;
}

static bool
is_same_transform(const LakeTransform *a, const LakeTransform *b)
{
	return a->kind == b->kind && a->parameter == b->parameter;
}

/* by descending id: the newest names come first */
static int
compare_specs(const void *a, const void *b)
{
	int32_t		x = (*(const LakePartitionSpec *const *) a)->id;
	int32_t		y = (*(const LakePartitionSpec *const *) b)->id;

	return (x < y) - (x > y);
}

static int
compare_fields(const void *a, const void *b)
{
	int32_t		x = ((const PartitionField *) a)->field_id;
	int32_t		y = ((const PartitionField *) b)->field_id;

	return (x > y) - (x < y);
}

static PartitionField *
find_field(LakeBuffer *fields, int32_t id)
{
	PartitionField *field = (PartitionField *) (void *) fields->data;
	size_t		count = fields->len / sizeof *field;

	for (size_t i = 0; i < count; i++)
	{
		if (field[i].field_id == id)
			return &field[i];
	}
	return NULL;
}

/* a field of an older spec beside what newer ones said of its id */
static void
merge_field(PartitionField *known, const PartitionField *field,
			int32_t spec_id)
{
	if (known->source_id != field->source_id ||
		(!is_same_transform(&known->transform, &field->transform) &&
		 !is_void(known) && !is_void(field)))
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "partition field %d is \"%s\" (%s) in spec %d but \"%s\" "
				   "(%s) in a later one: their partitions cannot be shown "
				   "together", field->field_id, field->name,
				   field->transform.text, spec_id, known->name,
				   known->transform.text);
	/* dropped in v1: its values are of the type that it had */
	if (is_void(known) && !is_void(field))
	{
		known->transform = field->transform;
		known->result_type = field->result_type;
	}
}

static void
add_spec(LakeBuffer *fields, const LakePartitionSpec *spec)
{
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *field = &spec->fields[i];
		PartitionField *known;

		lake_check_interrupts();
		if (field->transform.kind == TRANSFORM_UNKNOWN)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "partition field \"%s\" has the unknown transform "
					   "\"%s\"", field->name, field->transform.text);
		if (field->source_type == NULL)
			continue;
		known = find_field(fields, field->field_id);
		if (known == NULL)
			buffer_append(fields, field, sizeof *field);
		else
			merge_field(known, field, spec->id);
	}
}

/* fields of different ids may have had the same name at different times */
static void
make_names_unique(LakeArena *arena, LakePartitionSpec *type)
{
	BytesMap	names;

	bytes_map_init(&names, arena);
	for (int i = type->field_count - 1; i >= 0; i--)
	{
		PartitionField *field = &type->fields[i];
		LakeBytes	name = {(const uint8_t *) field->name,
		strlen(field->name)};

		if (bytes_map_find(&names, name) == NULL)
			bytes_map_add(&names, name, field);
		else
			field->name = lake_printf(arena, "%s_%d", field->name,
									  field->field_id);
	}
}

const LakePartitionSpec *
iceberg_partition_type(LakeArena *arena, const LakeTable *table)
{
	const IcebergTable *iceberg = iceberg_table(table);
	size_t		count = (size_t) iceberg->spec_count;
	const LakePartitionSpec **specs = lake_alloc_array(arena, count,
													   sizeof *specs);
	LakePartitionSpec *type = lake_alloc(arena, sizeof *type);
	LakeBuffer	fields;

	for (size_t i = 0; i < count; i++)
		specs[i] = &iceberg->specs[i];
	if (count > 1)
		qsort(specs, count, sizeof *specs, compare_specs);
	buffer_init(&fields, arena);
	for (size_t i = 0; i < count; i++)
		add_spec(&fields, specs[i]);
	type->id = -1;
	type->field_count = (int) (fields.len / sizeof(PartitionField));
	type->fields = (PartitionField *) (void *) fields.data;
	if (type->field_count > 1)
		qsort(type->fields, (size_t) type->field_count,
			  sizeof(PartitionField), compare_fields);
	make_names_unique(arena, type);
	return type;
}
