/*
 * Partition tuples as writers need them: equal ones as equal bytes, and copies
 * that outlive the rows they were made of.
 *
 * NULL equals NULL, NaN equals NaN, and -0.0 is not 0.0 (reference, 3.6).
 */
#include "table/table_int.h"

static void
append_value(LakeBuffer *key, const LakeType *type, const LakeValue *value)
{
	uint64_t	len;
	double		number;

	buffer_append_byte(key, value->is_null);
	if (value->is_null)
		return;
	switch (value_form(type))
	{
		case VALUE_INTEGER:
			buffer_append(key, &value->i, sizeof value->i);
			break;
		case VALUE_FLOAT:
			number = value->d != value->d ? __builtin_nan("") : value->d;
			buffer_append(key, &number, sizeof number);
			break;
		case VALUE_DECIMAL:
			buffer_append(key, &value->decimal, sizeof value->decimal);
			break;
		case VALUE_BYTES:
			len = value->bytes.len;
			buffer_append(key, &len, sizeof len);
			buffer_append(key, value->bytes.data, value->bytes.len);
			break;
		case VALUE_NONE:
			break;
	}
}

void
partition_values_key(const LakePartitionSpec *spec, const LakeValue *values,
					 LakeBuffer *key)
{
	buffer_append(key, &spec->id, sizeof spec->id);
	for (int i = 0; i < spec->field_count; i++)
	{
		const LakeType *type = spec->fields[i].result_type;

		/* of a type that nobody knows there are no values */
		if (type != NULL)
			append_value(key, type, &values[i]);
	}
}

const LakeValue *
partition_values_copy(LakeArena *arena, const LakePartitionSpec *spec,
					  const LakeValue *values)
{
	LakeValue  *copy = lake_alloc_array(arena, (size_t) spec->field_count + 1,
										sizeof *copy);

	for (int i = 0; i < spec->field_count; i++)
	{
		const LakeType *type = spec->fields[i].result_type;

		copy[i] = values[i];
		if (values[i].is_null || type == NULL)
			continue;
		if (value_form(type) == VALUE_FLOAT && values[i].d != values[i].d)
			copy[i].d = __builtin_nan("");
		else if (value_form(type) == VALUE_BYTES)
			copy[i].bytes.data = (const uint8_t *)
				lake_strndup(arena, values[i].bytes.len == 0 ? "" :
							 (const char *) values[i].bytes.data,
							 values[i].bytes.len);
	}
	return copy;
}
