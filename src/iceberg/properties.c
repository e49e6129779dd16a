/*
 * Table properties.
 *
 * They are strings, which most tables keep to.  What does not is no reason to
 * refuse the table: it is found out here and told when somebody asks for it.
 *
 * json-c would cut a key at its NUL and so make another property of it; so the
 * scanner walks over the members.
 */
#include "iceberg/iceberg_int.h"

#include "base/json.h"

/* the bytes of a string, in arena; raw: what stands between its quotes */
static LakeBytes
copy_string(LakeArena *arena, LakeBytes raw)
{
	LakeArena  *scratch = NULL;
	LakeBytes	quoted = {raw.data - 1, raw.len + 2};
	LakeBytes	text = raw;

	if (memchr(raw.data, '\\', raw.len) != NULL)
	{
		scratch = lake_arena_create(arena, "property");
		text = json_string(json_parse(scratch, quoted, "properties"),
						   "properties");
	}
	text.data = (const uint8_t *)
		lake_strndup(arena, (const char *) text.data, text.len);
	if (scratch != NULL)
		lake_arena_destroy(scratch);
	return text;
}

static bool
has_nul(LakeBytes text)
{
	return memchr(text.data, '\0', text.len) != NULL;
}

static void
read_value(LakeArena *arena, LakeBytes value, IcebergProperty *property)
{
	LakeBytes	text = {value.data + 1, value.len - 2};

	property->value = NULL;
	property->fault = NULL;
	if (json_scan_is_null(value))
		return;
	if (value.data[0] != '"')
	{
		property->fault = "is not a string";
		return;
	}
	text = copy_string(arena, text);
	property->value = (const char *) text.data;
	if (has_nul(text))
		property->fault = "has a NUL character";
}

static size_t
count_members(LakeBytes object)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;
	size_t		count = 0;

	json_scan_begin_object(&scan, object);
	while (json_scan_next_member(&scan, &key, &value))
		count++;
	if (count > INT32_MAX)
		lake_throw(LAKE_ERROR_LIMIT, "table has %zu properties, more than %d",
				   count, INT32_MAX);
	return count;
}

void
properties_parse(LakeArena *arena, LakeBytes text, IcebergTable *table)
{
	LakeArena  *scratch = lake_arena_create(arena, "keys of properties");
	BytesMap	known;			/* from key to IcebergProperty */
	JsonScan	scan;
	LakeBytes	raw_key;
	LakeBytes	value;

	table->properties = lake_alloc_array(arena, count_members(text),
										 sizeof(IcebergProperty));
	bytes_map_init(&known, scratch);
	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &raw_key, &value))
	{
		LakeBytes	key = copy_string(arena, raw_key);
		IcebergProperty *property = bytes_map_find(&known, key);

		lake_check_interrupts();
		/* of a repeated key the last value counts */
		if (property == NULL)
		{
			property = &table->properties[table->property_count++];
			property->raw_key = raw_key;
			property->key = has_nul(key) ? NULL : (const char *) key.data;
			bytes_map_add(&known, key, property);
		}
		read_value(arena, value, property);
	}
	lake_arena_destroy(scratch);
}

static const char *
get_value(const IcebergProperty *property)
{
	if (property->fault != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "value of table property \"%.*s\" %s",
				   (int) property->raw_key.len,
				   (const char *) property->raw_key.data, property->fault);
	return property->value;
}

const char *
iceberg_property(const LakeTable *table, const char *key)
{
	const IcebergTable *iceberg = iceberg_table(table);

	for (int i = 0; i < iceberg->property_count; i++)
	{
		const IcebergProperty *property = &iceberg->properties[i];

		if (property->key != NULL && strcmp(property->key, key) == 0)
			return get_value(property);
	}
	return NULL;
}

int
iceberg_property_count(const LakeTable *table)
{
	return iceberg_table(table)->property_count;
}

void
iceberg_property_at(const LakeTable *table, int index, const char **key,
					const char **value)
{
	const IcebergProperty *property = &iceberg_table(table)->properties[index];

	if (property->key == NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "key \"%.*s\" of a table property has a NUL character",
				   (int) property->raw_key.len,
				   (const char *) property->raw_key.data);
	*key = property->key;
	*value = get_value(property);
}
