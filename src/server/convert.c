/*
 * Column vectors to Datums: which way a column goes, and what holds for all.
 *
 * Scalars are convert_scalar.c's, arrays and composites convert_nested.c's,
 * jsonb convert_json.c's; modifiers and domains (coerce.c) come after them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "server/server_int.h"

static void
json_rows(ColumnConverter *converter, const LakeVector *vector,
		  const uint32 *selection, uint32 count, MemoryContext context,
		  Datum *values, const bool *nulls)
{
	for (uint32 i = 0; i < count; i++)
	{
		values[i] = 0;
		if (!nulls[i])
			values[i] = json_converter_make(converter->json, vector,
											selection[i], context);
		if (!converter_has_room(converter, values[i], i))
			break;
	}
}

static void
check_readable(const LakeType *type, Oid type_oid, int32 typmod,
			   const char *column_name)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);
	const char *declaration;
	const char *lake_name;

	if (typemap_is_readable(type, type_oid, typmod))
		return;
	declaration = typemap_declaration(arena, type);
	lake_name = name_from_lake(lake_type_text(arena, type));
	if (declaration == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" has lake type %s, which is not supported",
						column_name, lake_name)));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of type %s cannot show lake type %s",
					column_name, format_type_with_typemod(type_oid, typmod),
					lake_name),
			 errhint("Declare the column as %s.", declaration)));
}

static VectorLayout
nested_layout(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_LIST:
			return VECTOR_LIST;
		case LAKE_MAP:
			return VECTOR_MAP;
		default:				/* variants are structs too */
			return VECTOR_STRUCT;
	}
}

ColumnConverter *
column_converter_create(MemoryContext context, const LakeType *type,
						Oid type_oid, int32 typmod, const char *column_name)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	ColumnConverter *converter = palloc0(sizeof *converter);
	Oid			base;

	check_readable(type, type_oid, typmod, column_name);
	if (GetDatabaseEncoding() == PG_SQL_ASCII &&
		(type->kind == LAKE_STRING || type->kind == LAKE_VARIANT ||
		 lake_type_is_nested(type)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be read in a database with encoding SQL_ASCII",
						column_name)));

	converter->column_name = pstrdup(column_name);
	converter->type = type;
	converter->layout = nested_layout(type);
	base = getBaseTypeAndTypmod(type_oid, &typmod);
	if (base == JSONBOID)
	{
		converter->convert = json_rows;
		converter->json = json_converter_create(context, type);
	}
	else if (type->kind == LAKE_LIST || type->kind == LAKE_MAP)
		converter_init_array(converter, context, base, typmod);
	else if (type->kind == LAKE_STRUCT)
		converter_init_row(converter, context, base);
	else
	{
		converter_init_scalar(converter, context, base);
		converter->coercion = coercion_create(context, type, base, typmod);
	}
	if (base != type_oid)
		converter->domain = domain_check_create(context, type_oid);
	MemoryContextSwitchTo(caller);
	return converter;
}

static void
copy_nulls(const LakeVector *vector, const uint32 *selection, uint32 count,
		   bool *nulls)
{
	if (vector->nulls == NULL)
	{
		memset(nulls, false, count);
		return;
	}
	for (uint32 i = 0; i < count; i++)
		nulls[i] = vector->nulls[selection[i]] != 0;
}

uint32
converter_convert(ColumnConverter *converter, const LakeVector *vector,
				  const uint32 *selection, uint32 count, Size room,
				  MemoryContext context, Datum *values, bool *nulls)
{
	if (vector->layout != converter->layout)
		elog(ERROR, "vector of column \"%s\" has layout %d, not %d",
			 converter->column_name, vector->layout, converter->layout);
	copy_nulls(vector, selection, count, nulls);
	converter->room = room;
	converter->done = count;
	if (vector->dict != NULL && converter->make != NULL)
		converter_dictionary_rows(converter, vector, selection, count, values,
								  nulls);
	else
		converter->convert(converter, vector, selection, count, context,
						   values, nulls);
	count = converter->done;
	if (converter->coercion != NULL)
		coercion_apply(converter->coercion, values, nulls, count, context);
	if (converter->domain != NULL)
		domain_check_apply(converter->domain, values, nulls, count);
	return count;
}

uint32_t
column_converter_convert(ColumnConverter *converter, const LakeVector *vector,
						 const uint32_t *selection, uint32_t count, Size room,
						 MemoryContext context, Datum *values, bool *nulls)
{
	LakeFrame	frame;

	lake_frame_push(&frame, "converting column", converter->column_name);
	count = converter_convert(converter, vector, selection, count, room,
							  context, values, nulls);
	lake_frame_pop(&frame);
	return count;
}
