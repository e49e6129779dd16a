/*
 * Types and schemas as JSON.
 *
 * Iceberg spec, appendix C; spellings and the order of members are Java's.
 */
#include "table/type.h"

#include "base/json.h"

static void
append_field(LakeBuffer *out, const LakeField *field)
{
	buffer_printf(out, "{\"id\":%d,\"name\":", (int) field->id);
	json_append_string(out, field->name);
	buffer_printf(out, ",\"required\":%s,\"type\":",
				  field->required ? "true" : "false");
	lake_type_to_json(out, field->type);
	if (field->doc != NULL)
	{
		buffer_append_text(out, ",\"doc\":");
		json_append_string(out, field->doc);
	}
	if (field->initial_default != NULL)
		buffer_printf(out, ",\"initial-default\":%s",
					  json_text(field->initial_default));
	if (field->write_default != NULL)
		buffer_printf(out, ",\"write-default\":%s",
					  json_text(field->write_default));
	buffer_append_byte(out, '}');
}

static void
append_fields(LakeBuffer *out, const LakeField *fields, int count)
{
	buffer_append_text(out, "\"fields\":[");
	for (int i = 0; i < count; i++)
	{
		if (i > 0)
			buffer_append_byte(out, ',');
		append_field(out, &fields[i]);
	}
	buffer_append_byte(out, ']');
}

static void
append_nested(LakeBuffer *out, const LakeType *type)
{
	const LakeField *fields = type->fields;

	if (type->kind == LAKE_STRUCT)
	{
		buffer_append_text(out, "{\"type\":\"struct\",");
		append_fields(out, fields, type->field_count);
	}
	else if (type->kind == LAKE_LIST)
	{
		buffer_printf(out, "{\"type\":\"list\",\"element-id\":%d,\"element\":",
					  (int) fields[0].id);
		lake_type_to_json(out, fields[0].type);
		buffer_printf(out, ",\"element-required\":%s",
					  fields[0].required ? "true" : "false");
	}
	else
	{
		buffer_printf(out, "{\"type\":\"map\",\"key-id\":%d,\"key\":",
					  (int) fields[0].id);
		lake_type_to_json(out, fields[0].type);
		buffer_printf(out, ",\"value-id\":%d,\"value\":",
					  (int) fields[1].id);
		lake_type_to_json(out, fields[1].type);
		buffer_printf(out, ",\"value-required\":%s",
					  fields[1].required ? "true" : "false");
	}
	buffer_append_byte(out, '}');
}

void
lake_type_to_json(LakeBuffer *out, const LakeType *type)
{
	static const char *const names[] = {
		[LAKE_BOOLEAN] = "boolean",
		[LAKE_INT] = "int",
		[LAKE_LONG] = "long",
		[LAKE_FLOAT] = "float",
		[LAKE_DOUBLE] = "double",
		[LAKE_DATE] = "date",
		[LAKE_TIME] = "time",
		[LAKE_TIMESTAMP] = "timestamp",
		[LAKE_TIMESTAMPTZ] = "timestamptz",
		[LAKE_TIMESTAMP_NS] = "timestamp_ns",
		[LAKE_TIMESTAMPTZ_NS] = "timestamptz_ns",
		[LAKE_STRING] = "string",
		[LAKE_UUID] = "uuid",
		[LAKE_BINARY] = "binary",
		[LAKE_UNKNOWN] = "unknown",
		[LAKE_VARIANT] = "variant",
		[LAKE_GEOMETRY] = "geometry",
		[LAKE_GEOGRAPHY] = "geography"
	};

	if (lake_type_is_nested(type))
		append_nested(out, type);
	else if (type->kind == LAKE_DECIMAL)
		buffer_printf(out, "\"decimal(%d, %d)\"", type->precision,
					  type->scale);
	else if (type->kind == LAKE_FIXED)
		buffer_printf(out, "\"fixed[%d]\"", type->length);
	else
		buffer_printf(out, "\"%s\"", names[type->kind]);
}

void
lake_schema_to_json(LakeBuffer *out, const LakeSchema *schema)
{
	buffer_printf(out, "{\"type\":\"struct\",\"schema-id\":%d,",
				  (int) schema->id);
	if (schema->identifier_count > 0)
	{
		buffer_append_text(out, "\"identifier-field-ids\":[");
		for (int i = 0; i < schema->identifier_count; i++)
			buffer_printf(out, "%s%d", i == 0 ? "" : ",",
						  (int) schema->identifier_ids[i]);
		buffer_append_text(out, "],");
	}
	append_fields(out, schema->fields, schema->field_count);
	buffer_append_byte(out, '}');
}
