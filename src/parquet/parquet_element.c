/*
 * One element of the schema: its type, and what both kinds of annotation say of
 * it.
 *
 * Parquet format: parquet.thrift, SchemaElement; LogicalTypes.md.
 */
#include "parquet/parquet_int.h"

/* ConvertedType, by its number (LogicalTypes.md) */
static const struct
{
	int			logical;
	ParquetUnit unit;
	int32_t		bits;
	bool		is_signed;
}			converted_types[] = {
	{.logical = PARQUET_LOGICAL_STRING},
	{.logical = PARQUET_LOGICAL_MAP},
	{.logical = LOGICAL_MAP_KEY_VALUE},
	{.logical = PARQUET_LOGICAL_LIST},
	{.logical = PARQUET_LOGICAL_ENUM},
	{.logical = PARQUET_LOGICAL_DECIMAL},
	{.logical = PARQUET_LOGICAL_DATE},
	{.logical = PARQUET_LOGICAL_TIME, .unit = PARQUET_MILLIS},
	{.logical = PARQUET_LOGICAL_TIME, .unit = PARQUET_MICROS},
	{.logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_MILLIS},
	{.logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_MICROS},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 8, .is_signed = false},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 16, .is_signed = false},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 32, .is_signed = false},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 64, .is_signed = false},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 8, .is_signed = true},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 16, .is_signed = true},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 32, .is_signed = true},
	{.logical = PARQUET_LOGICAL_INTEGER, .bits = 64, .is_signed = true},
	{.logical = PARQUET_LOGICAL_JSON},
	{.logical = PARQUET_LOGICAL_BSON},
	{.logical = PARQUET_LOGICAL_INTERVAL}
};

/* the fields of the union LogicalType, by their ids */
static const int logical_types[] = {
	[1] = PARQUET_LOGICAL_STRING,
	[2] = PARQUET_LOGICAL_MAP,
	[3] = PARQUET_LOGICAL_LIST,
	[4] = PARQUET_LOGICAL_ENUM,
	[5] = PARQUET_LOGICAL_DECIMAL,
	[6] = PARQUET_LOGICAL_DATE,
	[7] = PARQUET_LOGICAL_TIME,
	[8] = PARQUET_LOGICAL_TIMESTAMP,
	[10] = PARQUET_LOGICAL_INTEGER,
	[11] = PARQUET_LOGICAL_UNKNOWN,
	[12] = PARQUET_LOGICAL_JSON,
	[13] = PARQUET_LOGICAL_BSON,
	[14] = PARQUET_LOGICAL_UUID,
	[15] = PARQUET_LOGICAL_FLOAT16,
	[16] = PARQUET_LOGICAL_VARIANT,
	[17] = PARQUET_LOGICAL_GEOMETRY,
	[18] = PARQUET_LOGICAL_GEOGRAPHY
};

#define PHYSICAL(name)	(1u << PARQUET_##name)
#define ANY_INTEGER		(PHYSICAL(INT32) | PHYSICAL(INT64))
#define ANY_BYTES \
	(PHYSICAL(BYTE_ARRAY) | PHYSICAL(FIXED_LEN_BYTE_ARRAY))

/*
 * Which physical types a logical one may annotate, and its name.  Texts of
 * fixed length are against the letter of the format, but harmless and seen.
 */
static const struct
{
	const char *name;
	unsigned	physical;
	int32_t		length;			/* of FIXED_LEN_BYTE_ARRAY, 0 = any */
}			logical_rules[] = {
	[PARQUET_LOGICAL_STRING] = {"STRING", ANY_BYTES, 0},
	[PARQUET_LOGICAL_ENUM] = {"ENUM", ANY_BYTES, 0},
	[PARQUET_LOGICAL_JSON] = {"JSON", ANY_BYTES, 0},
	[PARQUET_LOGICAL_BSON] = {"BSON", ANY_BYTES, 0},
	[PARQUET_LOGICAL_UUID] = {"UUID", PHYSICAL(FIXED_LEN_BYTE_ARRAY), 16},
	[PARQUET_LOGICAL_DATE] = {"DATE", PHYSICAL(INT32), 0},
	[PARQUET_LOGICAL_TIME] = {"TIME", ANY_INTEGER, 0},
	[PARQUET_LOGICAL_TIMESTAMP] = {"TIMESTAMP", PHYSICAL(INT64), 0},
	[PARQUET_LOGICAL_INTEGER] = {"INTEGER", ANY_INTEGER, 0},
	[PARQUET_LOGICAL_DECIMAL] = {"DECIMAL", ANY_INTEGER | ANY_BYTES, 0},
	[PARQUET_LOGICAL_FLOAT16] = {"FLOAT16", PHYSICAL(FIXED_LEN_BYTE_ARRAY), 2},
	[PARQUET_LOGICAL_INTERVAL] = {"INTERVAL", PHYSICAL(FIXED_LEN_BYTE_ARRAY),
	12},
	[PARQUET_LOGICAL_GEOMETRY] = {"GEOMETRY", PHYSICAL(BYTE_ARRAY), 0},
	[PARQUET_LOGICAL_GEOGRAPHY] = {"GEOGRAPHY", PHYSICAL(BYTE_ARRAY), 0}
};

static const char *const physical_names[] = {
	"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY",
	"FIXED_LEN_BYTE_ARRAY"
};

#define LENGTH_OF(array) ((int) (sizeof(array) / sizeof((array)[0])))

static void
read_time_unit(ByteCursor *cursor, const ThriftField *parent,
			   SchemaElement *element)
{
	ThriftField field = {0};

	thrift_struct(cursor, parent);
	while (thrift_next(cursor, &field))
	{
		if (field.id >= 1 && field.id <= 3)
			element->unit = (ParquetUnit) (PARQUET_MILLIS + field.id - 1);
		thrift_skip(cursor, &field);
	}
}

/* the parameters of a member of the union LogicalType */
static void
read_logical_parameters(ByteCursor *cursor, const ThriftField *parent,
						SchemaElement *element)
{
	ThriftField field = {0};

	thrift_struct(cursor, parent);
	while (thrift_next(cursor, &field))
	{
		if (field.id < 1 || field.id > 2)
		{
			thrift_skip(cursor, &field);
			continue;
		}
		switch (element->logical * 10 + field.id)
		{
			case PARQUET_LOGICAL_DECIMAL * 10 + 1:
				element->scale = thrift_i32(cursor, &field);
				break;
			case PARQUET_LOGICAL_DECIMAL * 10 + 2:
				element->precision = thrift_i32(cursor, &field);
				break;
			case PARQUET_LOGICAL_TIME * 10 + 1:
			case PARQUET_LOGICAL_TIMESTAMP * 10 + 1:
				element->utc = thrift_bool(cursor, &field);
				break;
			case PARQUET_LOGICAL_TIME * 10 + 2:
			case PARQUET_LOGICAL_TIMESTAMP * 10 + 2:
				read_time_unit(cursor, &field, element);
				break;
			case PARQUET_LOGICAL_INTEGER * 10 + 1:
				element->bits = thrift_i32(cursor, &field);
				break;
			case PARQUET_LOGICAL_INTEGER * 10 + 2:
				element->is_signed = thrift_bool(cursor, &field);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
}

/* annotations that are newer than this reader are ignored */
static void
read_logical(ByteCursor *cursor, const ThriftField *parent,
			 SchemaElement *element)
{
	ThriftField field = {0};

	thrift_struct(cursor, parent);
	while (thrift_next(cursor, &field))
	{
		if (field.id < 1 || field.id >= LENGTH_OF(logical_types) ||
			logical_types[field.id] == PARQUET_LOGICAL_NONE)
		{
			thrift_skip(cursor, &field);
			continue;
		}
		element->logical = logical_types[field.id];
		read_logical_parameters(cursor, &field, element);
	}
}

/*
 * The older annotation; LogicalType has priority, except that parquet-mr 1.12
 * has UNKNOWN there for INTERVAL.
 */
static void
apply_converted(SchemaElement *element, int32_t converted)
{
	if (converted < 0 || converted >= LENGTH_OF(converted_types) ||
		(element->logical != PARQUET_LOGICAL_NONE &&
		 element->logical != PARQUET_LOGICAL_UNKNOWN))
		return;
	element->logical = converted_types[converted].logical;
	element->unit = converted_types[converted].unit;
	element->bits = converted_types[converted].bits;
	element->is_signed = converted_types[converted].is_signed;
	/* before LogicalType, times and timestamps were instants */
	element->utc = element->logical == PARQUET_LOGICAL_TIME ||
		element->logical == PARQUET_LOGICAL_TIMESTAMP;
}

void
parquet_element_read(LakeArena *arena, ByteCursor *cursor,
					 SchemaElement *element)
{
	ThriftField field = {0};
	LakeBytes	name = {(const uint8_t *) "", 0};
	int32_t		converted = -1;
	int32_t		old_scale = 0;
	int32_t		old_precision = 0;

	element->physical = -1;
	element->field_id = -1;
	while (thrift_next(cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				element->physical = thrift_i32(cursor, &field);
				break;
			case 2:
				element->type_length = thrift_i32(cursor, &field);
				break;
			case 3:
				element->repetition = thrift_i32(cursor, &field);
				break;
			case 4:
				name = thrift_binary(cursor, &field);
				break;
			case 5:
				element->child_count = thrift_i32(cursor, &field);
				break;
			case 6:
				converted = thrift_i32(cursor, &field);
				break;
			case 7:
				old_scale = thrift_i32(cursor, &field);
				break;
			case 8:
				old_precision = thrift_i32(cursor, &field);
				break;
			case 9:
				element->field_id = thrift_i32(cursor, &field);
				break;
			case 10:
				read_logical(cursor, &field, element);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
	element->name = lake_strndup(arena, (const char *) name.data, name.len);
	apply_converted(element, converted);
	if (element->logical == PARQUET_LOGICAL_DECIMAL && element->precision == 0)
	{
		element->precision = old_precision;
		element->scale = old_scale;
	}
	if (element->repetition < 0 || element->repetition > REPETITION_REPEATED)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has the unknown repetition %d",
				   element->name, element->repetition);
	if (element->child_count < 0)
		lake_throw(LAKE_ERROR_CORRUPT, "column \"%s\" has %d children",
				   element->name, element->child_count);
	if (element->physical >= LENGTH_OF(physical_names))
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "column \"%s\" has the unknown physical type %d",
				   element->name, element->physical);
}

void
parquet_element_check(const SchemaElement *element)
{
	int			logical = element->logical;
	bool		fits;

	if (logical >= LENGTH_OF(logical_rules) ||
		logical_rules[logical].name == NULL)
		return;
	fits = (logical_rules[logical].physical >> element->physical & 1) != 0 &&
		(logical_rules[logical].length == 0 ||
		 logical_rules[logical].length == element->type_length);
	if (logical == PARQUET_LOGICAL_INTEGER)
		fits = fits && (element->physical == PARQUET_INT64) ==
			(element->bits == 64);
	if (logical == PARQUET_LOGICAL_TIME)
		fits = fits && (element->physical == PARQUET_INT32) ==
			(element->unit == PARQUET_MILLIS);
	if (!fits)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" is annotated %s, which its type %s does not allow",
				   element->name, logical_rules[logical].name,
				   physical_names[element->physical]);
	if (logical == PARQUET_LOGICAL_INTEGER && element->bits != 8 &&
		element->bits != 16 && element->bits != 32 && element->bits != 64)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" is an integer of %d bits", element->name,
				   element->bits);
	if (logical == PARQUET_LOGICAL_DECIMAL &&
		(element->precision <= 0 || element->scale < 0 ||
		 element->scale > element->precision))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" is a decimal of precision %d and scale %d",
				   element->name, element->precision, element->scale);
}
