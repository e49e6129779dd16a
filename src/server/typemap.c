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
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

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

/* ---- writing ---- */

/* has it a part that no file is written with? */
static bool
is_unwritable(const LakeType *type)
{
	if (type->kind == LAKE_VARIANT || type->kind == LAKE_GEOMETRY ||
		type->kind == LAKE_GEOGRAPHY)
		return true;
	for (int i = 0; i < type->field_count; i++)
	{
		if (is_unwritable(type->fields[i].type))
			return true;
	}
	return false;
}

const LakeField *
typemap_find_unwritable(const LakeSchema *schema)
{
	for (int i = 0; i < schema->field_count; i++)
	{
		if (is_unwritable(schema->fields[i].type))
			return &schema->fields[i];
	}
	return NULL;
}

bool
typemap_is_writable(const LakeType *type, Oid type_oid, int32 typmod)
{
	return typemap_is_readable(type, type_oid, typmod) &&
		!is_unwritable(type);
}

/* for CREATE: what a type of the server is in a lake table */
static const struct
{
	Oid			oid;
	LakeTypeKind kind;
}			lake_kinds[] = {
	{BOOLOID, LAKE_BOOLEAN},
	{INT2OID, LAKE_INT},
	{INT4OID, LAKE_INT},
	{INT8OID, LAKE_LONG},
	{FLOAT4OID, LAKE_FLOAT},
	{FLOAT8OID, LAKE_DOUBLE},
	{NUMERICOID, LAKE_DECIMAL},
	{DATEOID, LAKE_DATE},
	{TIMEOID, LAKE_TIME},
	{TIMESTAMPOID, LAKE_TIMESTAMP},
	{TIMESTAMPTZOID, LAKE_TIMESTAMPTZ},
	{TEXTOID, LAKE_STRING},
	{VARCHAROID, LAKE_STRING},
	{BPCHAROID, LAKE_STRING},
	{UUIDOID, LAKE_UUID},
	{BYTEAOID, LAKE_BINARY},
};

/* what to declare instead */
static const struct
{
	Oid			oid;
	const char *cure;
}			cures[] = {
	{INTERVALOID, "Store its seconds as double precision or numeric(p,s), or its text."},
	{TIMETZOID, "Use time, with the zone in a column of its own."},
	{MONEYOID, "Use numeric(19,2)."},
	{JSONOID, "Use text, or a composite type."},
	{JSONBOID, "Use text, or a composite type."},
	{NAMEOID, "Use text."},
	{CHAROID, "Use text or char(1)."},
	{BITOID, "Use bytea or text."},
	{VARBITOID, "Use bytea or text."},
	{OIDOID, "Use bigint."},
};

static const char *
find_cure(Oid type_oid)
{
	for (size_t i = 0; i < lengthof(cures); i++)
	{
		if (cures[i].oid == type_oid)
			return cures[i].cure;
	}
	return "Use text, or a type that the lake knows.";
}

static pg_noinline void
throw_no_lake_type(Oid type_oid, int32 typmod, const char *column_name,
				   const char *cure)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("column \"%s\" has type %s, which no lake type equals",
					column_name, format_type_with_typemod(type_oid, typmod)),
			 errhint("%s", cure)));
}

static void
set_decimal(LakeType *type, int32 typmod, const char *column_name)
{
	int			precision = ((typmod - VARHDRSZ) >> 16) & 0xffff;
	int			scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;

	if (typmod < 0)
		throw_no_lake_type(NUMERICOID, -1, column_name,
						   "Declare precision and scale: numeric(p,s), with p up to 38.");
	if (precision > DECIMAL_MAX_PRECISION || scale < 0 || scale > precision)
		throw_no_lake_type(NUMERICOID, typmod, column_name,
						   "Precisions are up to 38, scales from 0 to the precision.");
	type->precision = precision;
	type->scale = scale;
}

static LakeType *make_lake_type(LakeArena *arena, Oid type_oid, int32 typmod,
								const char *column_name);

static void
set_struct(LakeArena *arena, LakeType *type, Oid row_oid,
		   const char *column_name)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(row_oid, -1);

	type->fields = lake_alloc_array(arena, desc->natts + 1, sizeof(LakeField));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		const char *name = NameStr(attribute->attname);
		LakeField  *field = &type->fields[type->field_count];

		if (attribute->attisdropped)
			continue;
		field->name = lake_strdup(arena, name_to_lake(name));
		field->type = make_lake_type(arena, attribute->atttypid,
									 attribute->atttypmod,
									 psprintf("%s.%s", column_name, name));
		type->field_count++;
	}
	if (type->field_count == 0)
		throw_no_lake_type(row_oid, -1, column_name,
						   "Give it at least one attribute.");
}

static LakeType *
make_lake_type(LakeArena *arena, Oid type_oid, int32 typmod,
			   const char *column_name)
{
	LakeType   *type = lake_alloc(arena, sizeof *type);
	Oid			base = getBaseTypeAndTypmod(type_oid, &typmod);
	Oid			element = typemap_element_oid(base);

	check_stack_depth();
	if (element != InvalidOid)
	{
		type->kind = LAKE_LIST;
		type->field_count = 1;
		type->fields = lake_alloc(arena, sizeof(LakeField));
		type->fields[0].name = "element";
		type->fields[0].type = make_lake_type(arena, element, typmod,
											  column_name);
		return type;
	}
	if (get_typtype(base) == TYPTYPE_COMPOSITE)
	{
		type->kind = LAKE_STRUCT;
		set_struct(arena, type, base, column_name);
		return type;
	}
	for (size_t i = 0; i < lengthof(lake_kinds); i++)
	{
		if (lake_kinds[i].oid != base)
			continue;
		type->kind = lake_kinds[i].kind;
		if (type->kind == LAKE_DECIMAL)
			set_decimal(type, typmod, column_name);
		return type;
	}
	throw_no_lake_type(type_oid, typmod, column_name, find_cure(base));
	return NULL;
}

const LakeType *
typemap_lake_type(LakeArena *arena, Oid type_oid, int32 typmod,
				  const char *column_name)
{
	return make_lake_type(arena, type_oid, typmod, column_name);
}
