/*
 * Partition specs from their JSON, bound to the table's schemas, and back.
 *
 * Binding is lenient: a spec outlives the columns it was made of, and a
 * transform that we do not know still partitions (it only cannot prune).
 */
#include "iceberg/iceberg_int.h"

#include "base/json.h"

/* v1 wrote specs without ids, which count from here by position */
#define FIRST_FIELD_ID 1000

static const LakeType *
source_type_in(const LakeSchema *schema, int32_t source_id)
{
	const LakeField *field = lake_schema_find_id(schema, source_id);

	if (field == NULL || lake_type_is_nested(field->type))
		return NULL;
	return field->type;
}

/* of a dropped column: schemas are listed oldest first */
static const LakeType *
former_source_type(const LakeTable *table, int32_t source_id)
{
	for (int i = table->schema_count - 1; i >= 0; i--)
	{
		const LakeType *type = source_type_in(table->schemas[i], source_id);

		if (type != NULL)
			return type;
	}
	return NULL;
}

static void
parse_source(LakeJson *json, PartitionField *field)
{
	LakeJson   *ids;
	size_t		count;

	if (json_find_int32(json, "source-id", &field->source_id))
		return;
	/* v3's multi-argument form */
	ids = json_get(json, "source-ids");
	count = json_array_length(ids, "source-ids");
	if (count == 0)
		lake_throw(LAKE_ERROR_CORRUPT, "\"source-ids\" is empty");
	for (size_t i = 0; i < count; i++)
	{
		int64_t		id = json_int64(json_array_at(ids, i), "source-ids");

		if (id < INT32_MIN || id > INT32_MAX)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "\"source-ids\" has %lld, which is no field id",
					   (long long) id);
		if (i == 0)
			field->source_id = (int32_t) id;
	}
	/* no transform of several arguments is known */
	if (count > 1)
		field->transform.kind = TRANSFORM_UNKNOWN;
}

static void
parse_field(LakeArena *arena, LakeJson *json, int position,
			const LakeTable *table, PartitionField *field)
{
	const LakeType *type;

	field->name = lake_strdup(arena, json_get_string(json, "name"));
	field->transform =
		transform_parse(arena, json_get_string(json, "transform"));
	parse_source(json, field);
	if (!json_find_int32(json, "field-id", &field->field_id))
		field->field_id = FIRST_FIELD_ID + position;

	field->source_type = source_type_in(table->schema, field->source_id);
	type = field->source_type;
	if (type == NULL)
		type = former_source_type(table, field->source_id);
	if (type != NULL && field->transform.kind != TRANSFORM_UNKNOWN)
		field->result_type =
			transform_result_type(arena, &field->transform, type);
}

void
partition_spec_parse(LakeArena *arena, LakeJson *fields, int32_t id,
					 const LakeTable *table, LakePartitionSpec *spec)
{
	size_t		count = json_array_length(fields, "partition spec");

	if (count > LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "partition spec %d has %zu fields, more than %d",
				   id, count, LAKE_MAX_SCHEMA_FIELDS);
	spec->id = id;
	spec->field_count = (int) count;
	spec->fields = lake_alloc_array(arena, count, sizeof(PartitionField));
	for (int i = 0; i < spec->field_count; i++)
		parse_field(arena, json_array_at(fields, (size_t) i), i, table,
					&spec->fields[i]);
}

LakePartitionSpec *
partition_specs_parse(LakeArena *arena, LakeJson *specs,
					  const LakeTable *table, int *count)
{
	size_t		length = json_array_length(specs, "partition-specs");
	LakePartitionSpec *result;

	if (length > LAKE_MAX_SCHEMA_FIELDS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "table has %zu partition specs, more than %d",
				   length, LAKE_MAX_SCHEMA_FIELDS);
	result = lake_alloc_array(arena, length, sizeof(LakePartitionSpec));
	for (size_t i = 0; i < length; i++)
	{
		LakeJson   *json = json_array_at(specs, i);

		lake_check_interrupts();
		partition_spec_parse(arena, json_get(json, "fields"),
							 json_get_int32(json, "spec-id"), table,
							 &result[i]);
	}
	*count = (int) length;
	return result;
}

const LakePartitionSpec *
iceberg_find_spec(const LakeTable *table, int32_t spec_id)
{
	const IcebergTable *iceberg = iceberg_table(table);

	for (int i = 0; i < iceberg->spec_count; i++)
	{
		if (iceberg->specs[i].id == spec_id)
			return &iceberg->specs[i];
	}
	return NULL;
}

void
partition_spec_to_json(LakeBuffer *out, const LakePartitionSpec *spec)
{
	buffer_append_byte(out, '[');
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *field = &spec->fields[i];

		buffer_append_text(out, i == 0 ? "{\"name\":" : ",{\"name\":");
		json_append_string(out, field->name);
		buffer_append_text(out, ",\"transform\":");
		json_append_string(out, field->transform.text);
		buffer_printf(out, ",\"source-id\":%d,\"field-id\":%d}",
					  field->source_id, field->field_id);
	}
	buffer_append_byte(out, ']');
}
