/*
 * The schema as the footer has it: fields to a flat list of elements, with both
 * kinds of annotation.
 *
 * Lists and maps have the three-level layout and its names.  Local times are
 * annotated the older way as if they were instants, as the format wants it.
 *
 * Parquet format: parquet.thrift, SchemaElement; LogicalTypes.md.
 */
#include "parquet/writer.h"

#include "base/decimal.h"

#define NO_ANNOTATION (-1)

/*
 * ConvertedType and the field of the union LogicalType, by ParquetLogical;
 * those with parameters are below
 */
static const struct
{
	int			converted;
	int			logical;
}			annotations[] = {
	[PARQUET_LOGICAL_NONE] = {NO_ANNOTATION, NO_ANNOTATION},
	[PARQUET_LOGICAL_STRING] = {0, 1},
	[PARQUET_LOGICAL_ENUM] = {4, 4},
	[PARQUET_LOGICAL_JSON] = {19, 12},
	[PARQUET_LOGICAL_BSON] = {20, 13},
	[PARQUET_LOGICAL_UUID] = {NO_ANNOTATION, 14},
	[PARQUET_LOGICAL_DATE] = {6, 6},
	[PARQUET_LOGICAL_TIME] = {7, 7},
	[PARQUET_LOGICAL_TIMESTAMP] = {9, 8},
	[PARQUET_LOGICAL_INTEGER] = {11, 10},
	[PARQUET_LOGICAL_DECIMAL] = {5, 5},
	[PARQUET_LOGICAL_FLOAT16] = {NO_ANNOTATION, 15},
	[PARQUET_LOGICAL_INTERVAL] = {21, NO_ANNOTATION},
	[PARQUET_LOGICAL_UNKNOWN] = {NO_ANNOTATION, 11},
	[PARQUET_LOGICAL_GEOMETRY] = {NO_ANNOTATION, 17},
	[PARQUET_LOGICAL_GEOGRAPHY] = {NO_ANNOTATION, 18},
	[PARQUET_LOGICAL_LIST] = {3, 3},
	[PARQUET_LOGICAL_MAP] = {1, 2},
	[PARQUET_LOGICAL_VARIANT] = {NO_ANNOTATION, 16}
};

/* ---- what can be written ---- */

static void
check_primitive(const ParquetField *field)
{
	SchemaElement element = {0};

	if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY &&
		field->type_length <= 0)
		lake_throw(LAKE_ERROR_INTERNAL, "column \"%s\" has values of %d bytes",
				   field->name, field->type_length);
	element.name = field->name;
	element.physical = (int32_t) field->physical;
	element.type_length = field->type_length;
	element.logical = (int) field->logical;
	element.precision = field->precision;
	element.scale = field->scale;
	element.unit = field->unit;
	element.bits = field->bits;
	element.is_signed = field->is_signed;
	parquet_element_check(&element);
	if (field->logical != PARQUET_LOGICAL_DECIMAL)
		return;
	if (field->precision > DECIMAL_MAX_PRECISION)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "column \"%s\" is a decimal of %d digits, more than %d",
				   field->name, field->precision, DECIMAL_MAX_PRECISION);
	/* the bytes that the largest number takes must be there */
	if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
	{
		uint8_t		bytes[16];
		LakeInt128	largest = decimal_power10(field->precision) - 1;

		if (decimal_to_bytes(largest, bytes) > (size_t) field->type_length)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "column \"%s\" has %d bytes for %d digits", field->name,
					   field->type_length, field->precision);
	}
	else if (field->physical != PARQUET_BYTE_ARRAY &&
			 field->precision > (field->physical == PARQUET_INT32 ? 9 : 18))
		lake_throw(LAKE_ERROR_INTERNAL,
				   "column \"%s\" has too few bytes for %d digits",
				   field->name, field->precision);
}

void
schema_check(const ParquetField *field, int depth)
{
	if (depth > PARQUET_MAX_NESTING)
		lake_throw(LAKE_ERROR_LIMIT,
				   "column \"%s\" is nested more than %d levels deep",
				   field->name, PARQUET_MAX_NESTING);
	switch (field->shape)
	{
		case PARQUET_PRIMITIVE:
			check_primitive(field);
			return;
		case PARQUET_STRUCT:
			if (field->child_count == 0)
				lake_throw(LAKE_ERROR_UNSUPPORTED,
						   "Parquet has no struct without fields: \"%s\"",
						   field->name);
			break;
		case PARQUET_LIST:
		case PARQUET_MAP:
			if (field->child_count < 1 ||
				field->child_count > (field->shape == PARQUET_MAP ? 2 : 1))
				lake_throw(LAKE_ERROR_INTERNAL,
						   "column \"%s\" has %d children", field->name,
						   field->child_count);
			break;
	}
	for (int i = 0; i < field->child_count; i++)
		schema_check(field->children[i], depth + 1);
}

const char *
schema_child_name(const ParquetField *field, int child)
{
	if (field->shape == PARQUET_LIST)
		return "element";
	if (field->shape == PARQUET_MAP)
		return child == 0 ? "key" : "value";
	return field->children[child]->name;
}

/* ---- annotations ---- */

static int
converted_type(const ParquetField *field, ParquetLogical logical)
{
	int			converted = annotations[logical].converted;

	switch (logical)
	{
		case PARQUET_LOGICAL_TIME:
		case PARQUET_LOGICAL_TIMESTAMP:
			return field->unit == PARQUET_NANOS ? NO_ANNOTATION :
				converted + (int) field->unit;
		case PARQUET_LOGICAL_INTEGER:
			/* 8, 16, 32, 64 bits, the signed ones after the others */
			return converted + __builtin_ctz((unsigned) field->bits) - 3 +
				(field->is_signed ? 4 : 0);
		default:
			return converted;
	}
}

static void
write_parameters(ThriftOutput *output, const ParquetField *field,
				 ParquetLogical logical)
{
	switch (logical)
	{
		case PARQUET_LOGICAL_DECIMAL:
			thrift_write_i32(output, 1, field->scale);
			thrift_write_i32(output, 2, field->precision);
			break;
		case PARQUET_LOGICAL_TIME:
		case PARQUET_LOGICAL_TIMESTAMP:
			thrift_write_bool(output, 1, field->utc);
			thrift_begin(output, 2);
			thrift_write_empty(output, (int32_t) field->unit + 1);
			thrift_end(output);
			break;
		case PARQUET_LOGICAL_INTEGER:
			thrift_write_byte(output, 1, (int8_t) field->bits);
			thrift_write_bool(output, 2, field->is_signed);
			break;
		default:
			break;
	}
}

/* of the group or primitive that field is in the file */
static void
write_annotation(ThriftOutput *output, const ParquetField *field,
				 ParquetLogical logical)
{
	int			converted = converted_type(field, logical);

	if (converted != NO_ANNOTATION)
		thrift_write_i32(output, 6, converted);
	if (logical == PARQUET_LOGICAL_DECIMAL)
	{
		thrift_write_i32(output, 7, field->scale);
		thrift_write_i32(output, 8, field->precision);
	}
	if (field->field_id >= 0)
		thrift_write_i32(output, 9, field->field_id);
	if (annotations[logical].logical != NO_ANNOTATION)
	{
		thrift_begin(output, 10);
		thrift_begin(output, annotations[logical].logical);
		write_parameters(output, field, logical);
		thrift_end(output);
		thrift_end(output);
	}
}

/* ---- elements ---- */

static size_t
count_elements(const ParquetField *field)
{
	/* lists and maps have a group of their elements between */
	size_t		count = 1 + (field->shape == PARQUET_LIST ||
							 field->shape == PARQUET_MAP);

	for (int i = 0; i < field->child_count; i++)
		count += count_elements(field->children[i]);
	return count;
}

static void
write_repeated(ThriftOutput *output, const char *name, int child_count)
{
	thrift_add_struct(output);
	thrift_write_i32(output, 3, REPETITION_REPEATED);
	thrift_write_text(output, 4, name);
	thrift_write_i32(output, 5, child_count);
	thrift_end(output);
}

static void
write_primitive(ThriftOutput *output, const ParquetField *field,
				const char *name)
{
	thrift_write_i32(output, 1, (int32_t) field->physical);
	if (field->physical == PARQUET_FIXED_LEN_BYTE_ARRAY)
		thrift_write_i32(output, 2, field->type_length);
	thrift_write_i32(output, 3, field->optional ? REPETITION_OPTIONAL :
					 REPETITION_REQUIRED);
	thrift_write_text(output, 4, name);
	write_annotation(output, field, field->logical);
}

/* depth is bounded by schema_check */
static void
write_field(ThriftOutput *output, const ParquetField *field, const char *name)
{
	static const ParquetLogical logicals[] = {
		[PARQUET_STRUCT] = PARQUET_LOGICAL_NONE,
		[PARQUET_LIST] = PARQUET_LOGICAL_LIST,
		[PARQUET_MAP] = PARQUET_LOGICAL_MAP
	};
	bool		repeats = field->shape == PARQUET_LIST ||
		field->shape == PARQUET_MAP;

	thrift_add_struct(output);
	if (field->shape == PARQUET_PRIMITIVE)
	{
		write_primitive(output, field, name);
		thrift_end(output);
		return;
	}
	thrift_write_i32(output, 3, field->optional ? REPETITION_OPTIONAL :
					 REPETITION_REQUIRED);
	thrift_write_text(output, 4, name);
	thrift_write_i32(output, 5, repeats ? 1 : field->child_count);
	write_annotation(output, field,
					 field->logical == PARQUET_LOGICAL_VARIANT ?
					 PARQUET_LOGICAL_VARIANT : logicals[field->shape]);
	thrift_end(output);
	if (repeats)
		write_repeated(output, field->shape == PARQUET_LIST ? "list" :
					   "key_value", field->child_count);
	for (int i = 0; i < field->child_count; i++)
		write_field(output, field->children[i], schema_child_name(field, i));
}

void
schema_write(ThriftOutput *output, int32_t id,
			 const ParquetField *const *fields, int count)
{
	size_t		elements = 1;

	for (int i = 0; i < count; i++)
		elements += count_elements(fields[i]);
	thrift_write_list(output, id, THRIFT_STRUCT, elements);
	thrift_add_struct(output);
	thrift_write_text(output, 4, "table");
	thrift_write_i32(output, 5, count);
	thrift_end(output);
	for (int i = 0; i < count; i++)
		write_field(output, fields[i], fields[i]->name);
}
