/*
 * Columns of a table as columns of the Parquet files that are written for it.
 *
 * Java names columns as Avro would; nobody finds a column by its name.
 *
 * Iceberg spec, appendix A, "Parquet"; reference, 4.9.
 */
#include "table/table_int.h"

#include "base/decimal.h"
#include "base/text.h"

/* bytes that two's complement numbers of so many digits need */
static int32_t
decimal_width(int precision)
{
	uint8_t		bytes[16];

	return (int32_t) decimal_to_bytes(decimal_power10(precision) - 1, bytes);
}

static void
set_decimal(ParquetField *out, const LakeType *type)
{
	out->logical = PARQUET_LOGICAL_DECIMAL;
	out->precision = type->precision;
	out->scale = type->scale;
	if (type->precision <= 9)
	{
		out->physical = PARQUET_INT32;
		out->layout = VECTOR_I32;
	}
	else if (type->precision <= 18)
	{
		out->physical = PARQUET_INT64;
		out->layout = VECTOR_I64;
	}
	else
	{
		out->physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
		out->type_length = decimal_width(type->precision);
		out->layout = VECTOR_I128;
	}
}

static void
set_time(ParquetField *out, ParquetLogical logical, ParquetUnit unit, bool utc)
{
	out->physical = PARQUET_INT64;
	out->layout = VECTOR_I64;
	out->logical = logical;
	out->unit = unit;
	out->utc = utc;
}

static void
set_plain(ParquetField *out, ParquetPhysical physical, VectorLayout layout,
		  ParquetLogical logical, int32_t length)
{
	out->physical = physical;
	out->layout = layout;
	out->logical = logical;
	out->type_length = length;
}

static void
set_primitive(LakeArena *arena, ParquetField *out, const LakeField *field)
{
	const LakeType *type = field->type;

	out->shape = PARQUET_PRIMITIVE;
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			set_plain(out, PARQUET_BOOLEAN, VECTOR_BOOL, PARQUET_LOGICAL_NONE,
					  0);
			return;
		case LAKE_INT:
			set_plain(out, PARQUET_INT32, VECTOR_I32, PARQUET_LOGICAL_NONE, 0);
			return;
		case LAKE_LONG:
			set_plain(out, PARQUET_INT64, VECTOR_I64, PARQUET_LOGICAL_NONE, 0);
			return;
		case LAKE_FLOAT:
			set_plain(out, PARQUET_FLOAT, VECTOR_F32, PARQUET_LOGICAL_NONE, 0);
			return;
		case LAKE_DOUBLE:
			set_plain(out, PARQUET_DOUBLE, VECTOR_F64, PARQUET_LOGICAL_NONE,
					  0);
			return;
		case LAKE_DECIMAL:
			set_decimal(out, type);
			return;
		case LAKE_DATE:
			set_plain(out, PARQUET_INT32, VECTOR_I32, PARQUET_LOGICAL_DATE, 0);
			return;
		case LAKE_TIME:
			set_time(out, PARQUET_LOGICAL_TIME, PARQUET_MICROS, false);
			return;
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
			set_time(out, PARQUET_LOGICAL_TIMESTAMP, PARQUET_MICROS,
					 type->kind == LAKE_TIMESTAMPTZ);
			return;
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			set_time(out, PARQUET_LOGICAL_TIMESTAMP, PARQUET_NANOS,
					 type->kind == LAKE_TIMESTAMPTZ_NS);
			return;
		case LAKE_STRING:
			set_plain(out, PARQUET_BYTE_ARRAY, VECTOR_BYTES,
					  PARQUET_LOGICAL_STRING, 0);
			return;
		case LAKE_UUID:
			set_plain(out, PARQUET_FIXED_LEN_BYTE_ARRAY, VECTOR_BYTES,
					  PARQUET_LOGICAL_UUID, 16);
			return;
		case LAKE_FIXED:
			set_plain(out, PARQUET_FIXED_LEN_BYTE_ARRAY, VECTOR_BYTES,
					  PARQUET_LOGICAL_NONE, type->length);
			return;
		case LAKE_BINARY:
			set_plain(out, PARQUET_BYTE_ARRAY, VECTOR_BYTES,
					  PARQUET_LOGICAL_NONE, 0);
			return;
		default:
			break;
	}
	lake_throw(LAKE_ERROR_UNSUPPORTED,
			   "column \"%s\" has type %s, which cannot be written",
			   field->name, lake_type_text(arena, type));
}

static ParquetField *
make_field(LakeArena *arena, const LakeField *field,
		   const ParquetField *parent, int *leaf)
{
	ParquetField *out = lake_alloc(arena, sizeof *out);
	const LakeType *type = field->type;
	ParquetField **children;

	out->name = text_avro_name(arena, field->name);
	out->field_id = field->id;
	out->optional = !field->required;
	out->parent = parent;
	out->leaf = -1;
	if (!lake_type_is_nested(type))
	{
		set_primitive(arena, out, field);
		out->leaf = (*leaf)++;
		return out;
	}
	out->shape = type->kind == LAKE_STRUCT ? PARQUET_STRUCT :
		type->kind == LAKE_LIST ? PARQUET_LIST : PARQUET_MAP;
	out->logical = type->kind == LAKE_STRUCT ? PARQUET_LOGICAL_NONE :
		type->kind == LAKE_LIST ? PARQUET_LOGICAL_LIST : PARQUET_LOGICAL_MAP;
	out->layout = type->kind == LAKE_STRUCT ? VECTOR_STRUCT :
		type->kind == LAKE_LIST ? VECTOR_LIST : VECTOR_MAP;
	children = lake_alloc_array(arena, (size_t) type->field_count + 1,
								sizeof *children);
	for (int i = 0; i < type->field_count; i++)
		children[i] = make_field(arena, &type->fields[i], out, leaf);
	out->child_count = type->field_count;
	out->children = children;
	return out;
}

const ParquetField *const *
parquet_fields_make(LakeArena *arena, const LakeField *const *fields,
					int count, int *leaf_count)
{
	const ParquetField **out = lake_alloc_array(arena, (size_t) count + 1,
												sizeof *out);

	*leaf_count = 0;
	for (int i = 0; i < count; i++)
		out[i] = make_field(arena, fields[i], NULL, leaf_count);
	return out;
}

int
parquet_fields_leaf(const ParquetField *const *fields, int count,
					int32_t field_id)
{
	for (int i = 0; i < count; i++)
	{
		int			leaf;

		if (fields[i]->shape == PARQUET_PRIMITIVE)
		{
			if (fields[i]->field_id == field_id)
				return fields[i]->leaf;
			continue;
		}
		leaf = parquet_fields_leaf((const ParquetField *const *)
								   fields[i]->children,
								   fields[i]->child_count, field_id);
		if (leaf >= 0)
			return leaf;
	}
	return -1;
}

/* ---- decimals of up to nine digits, which the file has in 32 bits ---- */

static const void *
narrow_values(LakeArena *arena, const int64_t *values, uint32_t count)
{
	int32_t    *out = lake_alloc_array(arena, (size_t) count + 1, sizeof *out);

	for (uint32_t i = 0; i < count; i++)
		out[i] = (int32_t) values[i];
	return out;
}

/* does anything below the field have another layout in the file? */
static bool
is_narrowed(const ParquetField *field)
{
	if (field->shape == PARQUET_PRIMITIVE)
		return field->logical == PARQUET_LOGICAL_DECIMAL &&
			field->layout == VECTOR_I32;
	for (int i = 0; i < field->child_count; i++)
	{
		if (is_narrowed(field->children[i]))
			return true;
	}
	return false;
}

const LakeVector *
parquet_fields_narrow(LakeArena *arena, const ParquetField *field,
					  const LakeVector *vector)
{
	LakeVector *out;

	if (!is_narrowed(field))
		return vector;
	out = lake_alloc(arena, sizeof *out);
	*out = *vector;
	if (field->shape != PARQUET_PRIMITIVE)
	{
		out->children = lake_alloc_array(arena, vector->child_count + 1,
										 sizeof *out->children);
		for (uint32_t i = 0; i < vector->child_count; i++)
			out->children[i] = (LakeVector *)
				parquet_fields_narrow(arena, field->children[i],
									  vector->children[i]);
		return out;
	}
	out->layout = VECTOR_I32;
	if (vector->dict == NULL)
		out->values = narrow_values(arena, vector->values, vector->count);
	else
	{
		LakeDictionary *dict = lake_alloc(arena, sizeof *dict);

		/* the id stays: entry by entry it is the same dictionary */
		*dict = *vector->dict;
		dict->layout = VECTOR_I32;
		dict->values = narrow_values(arena, vector->dict->values,
									 vector->dict->count);
		out->dict = dict;
	}
	return out;
}
