/*
 * Partition tuples as writers need them: of the rows of a batch, as bytes that
 * are equal for equal tuples, and as copies that outlive the rows.
 *
 * NULL equals NULL, NaN equals NaN, and -0.0 is not 0.0 (reference, 3.6).
 *
 * A transform is applied to a whole column before the next one.  Rows often
 * come in the order of what they are partitioned by, so a row with the source
 * value of the row before has its result too.
 */
#include "table/table_int.h"

/* ---- tuples as bytes ---- */

/* without the bytes of byte strings */
#define MAX_VALUE_KEY	(1 + sizeof(LakeInt128))

/* appends to room that is there; returns its new end */
static inline uint8_t *
put_value(uint8_t *end, ValueForm form, const LakeValue *value)
{
	uint64_t	len;
	double		number;

	*end++ = value->is_null;
	if (value->is_null)
		return end;
	switch (form)
	{
		case VALUE_INTEGER:
			memcpy(end, &value->i, sizeof value->i);
			return end + sizeof value->i;
		case VALUE_FLOAT:
			number = value->d != value->d ? __builtin_nan("") : value->d;
			memcpy(end, &number, sizeof number);
			return end + sizeof number;
		case VALUE_DECIMAL:
			memcpy(end, &value->decimal, sizeof value->decimal);
			return end + sizeof value->decimal;
		case VALUE_BYTES:
			len = value->bytes.len;
			memcpy(end, &len, sizeof len);
			end += sizeof len;
			if (len > 0)
				memcpy(end, value->bytes.data, len);
			return end + len;
		case VALUE_NONE:
			break;
	}
	return end;
}

/* a type that nobody knows has no values */
static ValueForm
result_form(const PartitionField *field)
{
	return field->result_type == NULL ? VALUE_NONE :
		value_form(field->result_type);
}

static size_t
byte_string_size(ValueForm form, const LakeValue *value)
{
	return form == VALUE_BYTES && !value->is_null ? value->bytes.len : 0;
}

void
partition_values_key(const LakePartitionSpec *spec, const LakeValue *values,
					 LakeBuffer *key)
{
	buffer_append(key, &spec->id, sizeof spec->id);
	for (int i = 0; i < spec->field_count; i++)
	{
		ValueForm	form = result_form(&spec->fields[i]);
		uint8_t    *end;

		if (form == VALUE_NONE)
			continue;
		buffer_reserve(key, MAX_VALUE_KEY + byte_string_size(form,
															 &values[i]));
		end = put_value(key->data + key->len, form, &values[i]);
		key->len = (size_t) (end - key->data);
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
		ValueForm	form = result_form(&spec->fields[i]);

		copy[i] = values[i];
		if (values[i].is_null)
			continue;
		if (form == VALUE_FLOAT && values[i].d != values[i].d)
			copy[i].d = __builtin_nan("");
		else if (form == VALUE_BYTES)
			copy[i].bytes.data = (const uint8_t *)
				lake_strndup(arena, values[i].bytes.len == 0 ? "" :
							 (const char *) values[i].bytes.data,
							 values[i].bytes.len);
	}
	return copy;
}

/* ---- tuples of rows ---- */

/* where a partition field's source is among the columns */
typedef struct SourcePath
{
	const struct SourcePath *above;
	int			place;			/* among columns, or a struct's children */
	const LakeType *type;
	int			depth;			/* structs above */
} SourcePath;

typedef struct RowField
{
	const PartitionField *field;	/* NULL: values are all NULL */
	const SourcePath *source;
	ValueForm	form;			/* of results */
	LakeValue  *results;		/* BATCH_MAX_ROWS */
} RowField;

struct PartitionRows
{
	LakeArena  *arena;
	const LakePartitionSpec *spec;
	RowField   *fields;			/* one a field of the spec */
	LakeArena  *scratch;		/* of the current rows */
	LakeBuffer	bytes;			/* keys */
	uint32_t   *starts;			/* BATCH_MAX_ROWS + 1 */
	LakeValue  *tuple;
};

static const SourcePath *
find_source(LakeArena *arena, const LakeField *fields, int count, int32_t id,
			const SourcePath *above)
{
	for (int i = 0; i < count; i++)
	{
		const LakeType *type = fields[i].type;
		SourcePath	path = {above, i, type, above == NULL ? 0 :
			above->depth + 1};
		const SourcePath *found = NULL;

		if (fields[i].id == id || type->kind == LAKE_STRUCT)
		{
			SourcePath *kept = lake_alloc(arena, sizeof *kept);

			*kept = path;
			if (fields[i].id == id)
				return kept;
			found = find_source(arena, type->fields, type->field_count, id,
								kept);
		}
		if (found != NULL)
			return found;
	}
	return NULL;
}

PartitionRows *
partition_rows_create(LakeArena *arena, const LakeSchema *schema,
					  const LakePartitionSpec *spec)
{
	PartitionRows *rows = lake_alloc(arena, sizeof *rows);
	size_t		count = (size_t) spec->field_count;

	rows->arena = arena;
	rows->spec = spec;
	rows->scratch = lake_arena_create(arena, "lake partition rows");
	rows->fields = lake_alloc_array(arena, count, sizeof *rows->fields);
	rows->tuple = lake_alloc_array(arena, count, sizeof *rows->tuple);
	rows->starts = lake_alloc_array(arena, BATCH_MAX_ROWS + 1,
									sizeof *rows->starts);
	buffer_init(&rows->bytes, arena);
	for (size_t i = 0; i < count; i++)
	{
		RowField   *field = &rows->fields[i];

		field->form = result_form(&spec->fields[i]);
		field->results = lake_alloc_array(arena, BATCH_MAX_ROWS,
										  sizeof *field->results);
		for (int row = 0; row < BATCH_MAX_ROWS; row++)
			field->results[row].is_null = true;
		if (spec->fields[i].transform.kind == TRANSFORM_VOID)
			continue;
		field->field = &spec->fields[i];
		field->source = find_source(arena, schema->fields,
									schema->field_count,
									spec->fields[i].source_id, NULL);
		if (field->source == NULL || field->form == VALUE_NONE)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "partition field \"%s\" has lost its column",
					   spec->fields[i].name);
	}
	return rows;
}

/* the column itself, and in nulls where a struct above it is NULL */
static const LakeVector *
source_vector(const PartitionRows *rows, const SourcePath *source,
			  const LakeVector *const *columns, uint8_t **nulls)
{
	const LakeVector *outer;

	if (source->above == NULL)
		return columns[source->place];
	outer = source_vector(rows, source->above, columns, nulls);
	if (outer->nulls != NULL)
	{
		if (*nulls == NULL)
			*nulls = lake_alloc(rows->scratch, outer->count);
		for (uint32_t i = 0; i < outer->count; i++)
			(*nulls)[i] |= outer->nulls[i];
	}
	return outer->children[source->place];
}

static bool
is_same_value(ValueForm form, const LakeValue *a, const LakeValue *b)
{
	if (form == VALUE_INTEGER)
		return a->i == b->i;
	if (form != VALUE_BYTES || a->bytes.len != b->bytes.len)
		return false;
	return a->bytes.len == 0 ||
		memcmp(a->bytes.data, b->bytes.data, a->bytes.len) == 0;
}

static void
transform_rows(PartitionRows *rows, RowField *field,
			   const LakeVector *const *columns, const uint32_t *selection,
			   uint32_t first, uint32_t count)
{
	const LakeType *type = field->source->type;
	ValueForm	form = value_form(type);
	uint8_t    *nulls = NULL;
	const LakeVector *vector = source_vector(rows, field->source, columns,
											 &nulls);
	LakeValue	last = {.is_null = true};
	LakeValue	result = {.is_null = true};

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	row = selection == NULL ? first + i : selection[i];
		LakeValue	value;

		if (vector_is_null(vector, row) || (nulls != NULL && nulls[row] != 0))
		{
			field->results[i].is_null = true;
			continue;
		}
		lake_value_from_slot(type, vector_value(vector, row), &value);
		if (last.is_null || !is_same_value(form, &last, &value))
		{
			transform_apply(&field->field->transform, type, &value, &result);
			last = value;
		}
		field->results[i] = result;
	}
}

KeyRows
partition_rows_keys(PartitionRows *rows, const LakeVector *const *columns,
					const uint32_t *selection, uint32_t first, uint32_t count)
{
	const LakePartitionSpec *spec = rows->spec;
	size_t		size = sizeof spec->id +
		(size_t) spec->field_count * MAX_VALUE_KEY;
	uint8_t    *end;

	lake_arena_reset(rows->scratch);
	size *= count;
	for (int i = 0; i < spec->field_count; i++)
	{
		RowField   *field = &rows->fields[i];

		if (field->field == NULL)
			continue;
		transform_rows(rows, field, columns, selection, first, count);
		for (uint32_t row = 0; field->form == VALUE_BYTES && row < count;
			 row++)
			size += byte_string_size(field->form, &field->results[row]);
	}
	if (size > KEY_SET_MAX_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "partition values of %u rows have more than %zu bytes",
				   count, KEY_SET_MAX_BYTES);
	rows->bytes.len = 0;
	buffer_reserve(&rows->bytes, size);
	end = rows->bytes.data;
	for (uint32_t row = 0; row < count; row++)
	{
		rows->starts[row] = (uint32_t) (end - rows->bytes.data);
		memcpy(end, &spec->id, sizeof spec->id);
		end += sizeof spec->id;
		for (int i = 0; i < spec->field_count; i++)
		{
			const RowField *field = &rows->fields[i];

			if (field->form != VALUE_NONE)
				end = put_value(end, field->form, &field->results[row]);
		}
	}
	rows->starts[count] = (uint32_t) (end - rows->bytes.data);
	return (KeyRows)
	{
		count, rows->bytes.data, rows->starts
	};
}

const LakeValue *
partition_rows_tuple(PartitionRows *rows, uint32_t row)
{
	for (int i = 0; i < rows->spec->field_count; i++)
		rows->tuple[i] = rows->fields[i].results[row];
	return rows->tuple;
}
