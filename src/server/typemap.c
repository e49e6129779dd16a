/*
 * Lake types and the PostgreSQL types that may show them (decisions 3.5).
 *
 * Two tables: each scalar's own type, which IMPORT declares, and the other
 * types that a column may be declared with.  Widenings of the second are exact;
 * narrowings are checked value by value when they are converted.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/lsyscache.h"

#include "base/decimal.h"
#include "server/server_int.h"

typedef struct ScalarType
{
	Oid			oid;			/* InvalidOid: cannot be shown as a scalar */
	const char *name;			/* in a column definition */
	bool		in_json;		/* may be part of a jsonb value */
} ScalarType;

static const ScalarType scalar_types[] = {
	[LAKE_BOOLEAN] = {BOOLOID, "boolean", true},
	[LAKE_INT] = {INT4OID, "integer", true},
	[LAKE_LONG] = {INT8OID, "bigint", true},
	[LAKE_FLOAT] = {FLOAT4OID, "real", true},
	[LAKE_DOUBLE] = {FLOAT8OID, "double precision", true},
	[LAKE_DECIMAL] = {NUMERICOID, "numeric", true},
	[LAKE_DATE] = {DATEOID, "date", true},
	[LAKE_TIME] = {TIMEOID, "time", true},
	[LAKE_TIMESTAMP] = {TIMESTAMPOID, "timestamp", true},
	[LAKE_TIMESTAMPTZ] = {TIMESTAMPTZOID, "timestamptz", true},
	[LAKE_TIMESTAMP_NS] = {TIMESTAMPOID, "timestamp", true},
	[LAKE_TIMESTAMPTZ_NS] = {TIMESTAMPTZOID, "timestamptz", true},
	[LAKE_STRING] = {TEXTOID, "text", true},
	[LAKE_UUID] = {UUIDOID, "uuid", true},
	[LAKE_FIXED] = {BYTEAOID, "bytea", true},
	[LAKE_BINARY] = {BYTEAOID, "bytea", true},
	[LAKE_UNKNOWN] = {InvalidOid, NULL, true},
	[LAKE_VARIANT] = {JSONBOID, "jsonb", true},
	[LAKE_GEOMETRY] = {InvalidOid, NULL, false},
	[LAKE_GEOGRAPHY] = {InvalidOid, NULL, false},
	[LAKE_STRUCT] = {InvalidOid, NULL, true},
	[LAKE_LIST] = {InvalidOid, NULL, true},
	[LAKE_MAP] = {InvalidOid, NULL, true},
};

/* what else may show a scalar, besides its own type with any modifier */
static const struct
{
	LakeTypeKind kind;
	Oid			oid;
}			conversions[] = {
	{LAKE_INT, INT2OID},		/* 22003 */
	{LAKE_INT, INT8OID},
	{LAKE_INT, FLOAT8OID},
	{LAKE_INT, NUMERICOID},		/* 22003 if a modifier is too narrow */
	{LAKE_LONG, INT2OID},		/* 22003 */
	{LAKE_LONG, INT4OID},		/* 22003 */
	{LAKE_LONG, NUMERICOID},
	{LAKE_FLOAT, FLOAT8OID},
	{LAKE_DATE, TIMESTAMPOID},	/* 22008 beyond the year 294276 */
	{LAKE_STRING, VARCHAROID},	/* 22001 */
	{LAKE_STRING, BPCHAROID},	/* 22001 */
};

/*
 * The server's numeric could hold more, but the scaled integers behind a lake
 * decimal have 38 digits.
 */
static Oid
scalar_oid(const LakeType *type)
{
	if (type->kind == LAKE_DECIMAL &&
		(type->precision < 1 || type->precision > DECIMAL_MAX_PRECISION ||
		 type->scale < 0 || type->scale > DECIMAL_MAX_PRECISION))
		return InvalidOid;
	return scalar_types[type->kind].oid;
}

/* the modifier of numeric(precision, scale) */
static int32
numeric_typmod(int precision, int scale)
{
	return (int32) (((uint32) precision << 16) |
					((uint32) scale & 0x7ff)) + VARHDRSZ;
}

Oid
typemap_scalar(const LakeType *type, int32 *typmod)
{
	*typmod = type->kind == LAKE_DECIMAL ?
		numeric_typmod(type->precision, type->scale) : -1;
	return scalar_oid(type);
}

/* can the type be shown as jsonb, all of it? */
static bool
is_json(const LakeType *type)
{
	if (!scalar_types[type->kind].in_json ||
		(type->kind == LAKE_DECIMAL && scalar_oid(type) == InvalidOid))
		return false;
	for (int i = 0; i < type->field_count; i++)
	{
		if (!is_json(type->fields[i].type))
			return false;
	}
	return true;
}

/* the element of a list that is shown as an array, else NULL */
static const LakeType *
array_element(const LakeType *type)
{
	const LakeType *element;

	if (type->kind != LAKE_LIST)
		return NULL;
	element = type->fields[0].type;
	if (element->kind == LAKE_VARIANT ||
		scalar_oid(element) == InvalidOid)
		return NULL;
	return element;
}

static const char *
scalar_declaration(LakeArena *arena, const LakeType *type, const char *suffix)
{
	const char *name = scalar_types[type->kind].name;

	if (type->kind == LAKE_DECIMAL)
		return lake_printf(arena, "%s(%d,%d)%s", name, type->precision,
						   type->scale, suffix);
	return lake_printf(arena, "%s%s", name, suffix);
}

const char *
typemap_declaration(LakeArena *arena, const LakeType *type)
{
	const LakeType *element = array_element(type);

	if (element != NULL)
		return scalar_declaration(arena, element, "[]");
	if (scalar_oid(type) != InvalidOid)
		return scalar_declaration(arena, type, "");
	if (lake_type_is_nested(type) && is_json(type))
		return "jsonb";
	return NULL;
}

static bool
scalar_is_readable(const LakeType *type, Oid type_oid)
{
	Oid			own = scalar_oid(type);

	if (own == InvalidOid)
		return false;
	if (own == type_oid)
		return true;
	for (size_t i = 0; i < lengthof(conversions); i++)
	{
		if (conversions[i].kind == type->kind &&
			conversions[i].oid == type_oid)
			return true;
	}
	return false;
}

Oid
typemap_element_oid(Oid array_oid)
{
	Oid			element = get_element_type(array_oid);

	/* int2vector and its like are arrays of another kind */
	if (element == InvalidOid || get_array_type(element) != array_oid)
		return InvalidOid;
	return element;
}

/* lists in a list are dimensions, unless the elements can show them */
const LakeType *
typemap_array_element(const LakeType *list, Oid element_oid, int *dimensions)
{
	Oid			base = getBaseType(element_oid);
	const LakeType *element = list->fields[0].type;

	*dimensions = 1;
	if (base == JSONBOID || typemap_element_oid(base) != InvalidOid)
		return element;
	while (element->kind == LAKE_LIST)
	{
		element = element->fields[0].type;
		++*dimensions;
	}
	return element;
}

static bool
array_is_readable(const LakeType *type, Oid element_oid, int32 typmod)
{
	const LakeType *element;
	int			dimensions;

	if (type->kind == LAKE_MAP)
		return type_is_rowtype(getBaseType(element_oid));
	element = typemap_array_element(type, element_oid, &dimensions);
	return dimensions <= MAXDIM &&
		typemap_is_readable(element, element_oid, typmod);
}

bool
typemap_is_readable(const LakeType *type, Oid type_oid, int32 typmod)
{
	Oid			base = getBaseType(type_oid);

	check_stack_depth();
	if (lake_type_is_nested(type))
	{
		Oid			element = typemap_element_oid(base);

		if (base == JSONBOID)
			return is_json(type);
		if (type->kind == LAKE_STRUCT)
			return type_is_rowtype(base);
		return element != InvalidOid &&
			array_is_readable(type, element, typmod);
	}
	return scalar_is_readable(type, base);
}
