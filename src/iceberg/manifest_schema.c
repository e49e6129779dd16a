/*
 * Avro schemas as Iceberg has them written: field ids everywhere, optional
 * values as unions with null first, and the types of partition values.
 *
 * Readers go by ids.  Names matter to Avro alone, which has rules for them that
 * partition fields do not follow, and wants each to be defined once.  Avro would
 * have the second use of a type refer to the first by its name; PyIceberg does
 * not know references, but nobody minds another name.
 *
 * Iceberg spec, appendix A, "Avro".
 */
#include "iceberg/iceberg_int.h"

#include "base/decimal.h"
#include "base/json.h"
#include "base/text.h"

void
avro_schema_field(LakeBuffer *schema, const char *name, int32_t id,
				  const char *type, bool is_optional)
{
	const char *safe_name = text_avro_name(schema->arena, name);

	if (schema->len > 0 && schema->data[schema->len - 1] == '}')
		buffer_append_byte(schema, ',');
	buffer_printf(schema, "{\"name\":\"%s\",\"type\":", safe_name);
	if (is_optional)
		buffer_printf(schema, "[\"null\",%s],\"default\":null", type);
	else
		buffer_append_text(schema, type);
	buffer_printf(schema, ",\"field-id\":%d", id);
	if (strcmp(safe_name, name) != 0)
	{
		buffer_append_text(schema, ",\"iceberg-field-name\":");
		json_append_string(schema, name);
	}
	buffer_append_byte(schema, '}');
}

/* ---- partition values ---- */

size_t
avro_decimal_size(int precision)
{
	uint8_t		bytes[16];

	/* of the largest value; its negative needs no more */
	return decimal_to_bytes(decimal_power10(precision) - 1, bytes);
}

/* the name of a type that Avro has to have named; NULL: it has not */
static const char *
type_name(LakeArena *arena, const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_DECIMAL:
			return lake_printf(arena, "decimal_%d_%d", type->precision,
							   type->scale);
		case LAKE_UUID:
			return "uuid_fixed";
		case LAKE_FIXED:
			return lake_printf(arena, "fixed_%d", type->length);
		default:
			return NULL;
	}
}

#define TIMESTAMP(unit, utc) \
	"{\"type\":\"long\",\"logicalType\":\"timestamp-" unit "\"," \
	"\"adjust-to-utc\":" utc "}"

/* NULL: no value of the type can be written.  name: see type_name */
static const char *
type_json(LakeArena *arena, const LakeType *type, const char *name)
{
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			return "\"boolean\"";
		case LAKE_INT:
			return "\"int\"";
		case LAKE_LONG:
			return "\"long\"";
		case LAKE_FLOAT:
			return "\"float\"";
		case LAKE_DOUBLE:
			return "\"double\"";
		case LAKE_DATE:
			return "{\"type\":\"int\",\"logicalType\":\"date\"}";
		case LAKE_TIME:
			return "{\"type\":\"long\",\"logicalType\":\"time-micros\"}";
		case LAKE_TIMESTAMP:
			return TIMESTAMP("micros", "false");
		case LAKE_TIMESTAMPTZ:
			return TIMESTAMP("micros", "true");
		case LAKE_TIMESTAMP_NS:
			return TIMESTAMP("nanos", "false");
		case LAKE_TIMESTAMPTZ_NS:
			return TIMESTAMP("nanos", "true");
		case LAKE_STRING:
			return "\"string\"";
		case LAKE_BINARY:
			return "\"bytes\"";
		case LAKE_DECIMAL:
			return lake_printf(arena, "{\"type\":\"fixed\",\"size\":%zu,"
							   "\"logicalType\":\"decimal\",\"precision\":%d,"
							   "\"scale\":%d,\"name\":\"%s\"}",
							   avro_decimal_size(type->precision),
							   type->precision, type->scale, name);
		case LAKE_UUID:
			return lake_printf(arena, "{\"type\":\"fixed\",\"size\":16,"
							   "\"logicalType\":\"uuid\",\"name\":\"%s\"}",
							   name);
		case LAKE_FIXED:
			return lake_printf(arena, "{\"type\":\"fixed\",\"size\":%d,"
							   "\"name\":\"%s\"}", type->length, name);
		default:
			return NULL;
	}
}

/* is there such a name before the field? */
static bool
is_defined(LakeArena *arena, const LakePartitionSpec *spec, int field,
		   const char *name)
{
	for (int i = 0; i < field; i++)
	{
		const LakeType *type = spec->fields[i].result_type;
		const char *other = type == NULL ? NULL : type_name(arena, type);

		if (other != NULL && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

static const char *
partition_type_json(LakeArena *arena, const LakePartitionSpec *spec, int i)
{
	const PartitionField *field = &spec->fields[i];
	const LakeType *type = field->result_type;
	const char *name = type == NULL ? NULL : type_name(arena, type);
	const char *json;

	if (name != NULL && is_defined(arena, spec, i, name))
		name = lake_printf(arena, "%s_r%d", name, field->field_id);
	json = type == NULL ? NULL : type_json(arena, type, name);
	/* it is always NULL: any type will do */
	if (json == NULL && field->transform.kind == TRANSFORM_VOID)
		return "\"int\"";
	if (json == NULL)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "partition spec %d has the field \"%s\" with transform "
				   "\"%s\", whose values cannot be written", spec->id,
				   field->name, field->transform.text);
	return json;
}

const char *
avro_schema_partition(LakeArena *arena, const LakePartitionSpec *spec)
{
	LakeBuffer	schema;

	buffer_init(&schema, arena);
	buffer_append_text(&schema, "{\"type\":\"record\",\"name\":\"r102\","
					   "\"fields\":[");
	for (int i = 0; i < spec->field_count; i++)
	{
		lake_check_interrupts();
		avro_schema_field(&schema, spec->fields[i].name,
						  spec->fields[i].field_id,
						  partition_type_json(arena, spec, i), true);
	}
	buffer_append(&schema, "]}", sizeof "]}");
	return (const char *) schema.data;
}
