/*
 * Slots to rows in memory: where each field of a table gets its value from, and
 * what it may be.
 *
 * A field that no column gives has its write default or is NULL.  What a row
 * needs is settled when the writer is made, so that a row is one call a column.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "server/writer_int.h"

typedef struct RowField
{
	int			attribute;		/* index in the slot; -1: none gives it */
	DatumWriter *datum;			/* with attribute */
	const LakeType *type;
	LakeValue	absent;			/* what it is without attribute */
} RowField;

/* an attribute that shows what the lake says of rows */
typedef struct ReservedAttribute
{
	int			attribute;
	const char *name;
} ReservedAttribute;

struct RowWriter
{
	MemoryContext work;			/* of one row's values */
	int			field_count;
	RowField   *fields;			/* by the schema's fields */
	int			reserved_count;
	ReservedAttribute *reserved;
};

pg_noinline void
writer_throw_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("null value in column \"%s\", which the lake table requires",
					name)));
}

static pg_noinline void
throw_reserved(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write to column \"%s\": it shows what the lake says of a row",
					name)));
}

static pg_noinline void
throw_not_writable(const LakeType *type, Oid type_oid, int32 typmod,
				   const char *name)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write column \"%s\" of type %s to lake type %s",
					name, format_type_with_typemod(type_oid, typmod),
					name_from_lake(lake_type_text(arena, type)))));
}

DatumWriter *
datum_writer_create(const LakeType *type, bool required, Oid type_oid,
					int32 typmod, const char *name)
{
	DatumWriter *writer = palloc0(sizeof *writer);
	Oid			base = getBaseTypeAndTypmod(type_oid, &typmod);

	if (!typemap_is_writable(type, type_oid, typmod))
		throw_not_writable(type, type_oid, typmod, name);
	if (GetDatabaseEncoding() == PG_SQL_ASCII &&
		(type->kind == LAKE_STRING || lake_type_is_nested(type)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be written in a database with encoding SQL_ASCII",
						name)));
	writer->type = type;
	writer->required = required;
	writer->name = pstrdup(name);
	if (base == JSONBOID)
		datum_writer_init_json(writer);
	else if (type->kind == LAKE_LIST || type->kind == LAKE_MAP)
		datum_writer_init_array(writer, base, typmod);
	else if (type->kind == LAKE_STRUCT)
		datum_writer_init_composite(writer, base);
	else
		datum_writer_init_scalar(writer, base);
	return writer;
}

/* ---- creation ---- */

static bool
is_reserved(const LakeField *field)
{
	return field->id > LAKE_MAX_USER_FIELD_ID;
}

static int
field_index(const LakeSchema *schema, int32 id)
{
	for (int i = 0; i < schema->field_count; i++)
	{
		if (schema->fields[i].id == id)
			return i;
	}
	return -1;
}

/* the table has got the column since the schema was read */
static pg_noinline void
throw_no_field(const LakeRelation *relation, const LakeColumn *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("column \"%s\" of foreign table \"%s\" is not in the version of the lake table that the transaction began to write to",
					column->name, relation->name),
			 errhint("The transaction might succeed if retried.")));
}

static void
give_field(RowWriter *writer, const LakeRelation *relation,
		   const LakeSchema *schema, const LakeColumn *column)
{
	int			index = field_index(schema, column->field->id);
	RowField   *field;

	if (index < 0)
		throw_no_field(relation, column);
	field = &writer->fields[index];
	if (field->attribute >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_COLUMN),
				 errmsg("columns \"%s\" and \"%s\" of foreign table \"%s\" are both lake column \"%s\"",
						relation->columns[field->attribute].name,
						column->name, relation->name,
						name_from_lake(column->field->name))));
	field->attribute = column->attnum - 1;
	field->datum = datum_writer_create(schema->fields[index].type,
									   schema->fields[index].required,
									   column->type_oid, column->typmod,
									   column->name);
}

static void
add_column(RowWriter *writer, const LakeRelation *relation,
		   const LakeSchema *schema, const LakeColumn *column,
		   bool is_chosen)
{
	ReservedAttribute *reserved;

	if (!is_reserved(column->field))
	{
		give_field(writer, relation, schema, column);
		return;
	}
	if (is_chosen)
		throw_reserved(column->name);
	reserved = &writer->reserved[writer->reserved_count++];
	reserved->attribute = column->attnum - 1;
	reserved->name = pstrdup(column->name);
}

static void
set_absent(RowField *field, const LakeField *source)
{
	field->type = source->type;
	field->absent.is_null = true;
	if (source->write_default != NULL && !lake_type_is_nested(source->type))
		lake_value_from_json(lake_arena_of(CurrentMemoryContext),
							 source->type, source->write_default,
							 &field->absent);
	if (field->absent.is_null && source->required)
		ereport(ERROR,
				(errcode(ERRCODE_NOT_NULL_VIOLATION),
				 errmsg("lake column \"%s\" is required, has no write default and is not given",
						name_from_lake(source->name)),
				 errhint("Declare a column for it.")));
}

RowWriter *
row_writer_create(MemoryContext context, const LakeRelation *relation,
				  const LakeSchema *schema, const Bitmapset *columns)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	RowWriter  *writer = palloc0(sizeof *writer);

	writer->work = AllocSetContextCreate(context, "lake row writer",
										 ALLOCSET_SMALL_SIZES);
	writer->field_count = schema->field_count;
	writer->fields = palloc0(sizeof *writer->fields *
							 (schema->field_count + 1));
	writer->reserved = palloc0(sizeof *writer->reserved *
							   (relation->column_count + 1));
	for (int i = 0; i < schema->field_count; i++)
		writer->fields[i].attribute = -1;
	for (int i = 0; i < relation->column_count; i++)
	{
		const LakeColumn *column = &relation->columns[i];

		if (column->field != NULL &&
			(columns == NULL || bms_is_member(column->attnum, columns)))
			add_column(writer, relation, schema, column, columns != NULL);
	}
	for (int i = 0; i < schema->field_count; i++)
	{
		if (writer->fields[i].attribute < 0)
			set_absent(&writer->fields[i], &schema->fields[i]);
	}
	MemoryContextSwitchTo(caller);
	return writer;
}

/* ---- rows ---- */

static void
put_absent(const RowField *field, VectorBuilder *out)
{
	if (field->absent.is_null)
		vector_append_null(out);
	else
		vector_append_value(out, field->type, &field->absent);
}

static void
check_reserved(const RowWriter *writer, const TupleTableSlot *slot)
{
	for (int i = 0; i < writer->reserved_count; i++)
	{
		if (!slot->tts_isnull[writer->reserved[i].attribute])
			throw_reserved(writer->reserved[i].name);
	}
}

/* an error leaves an incomplete row behind, which goes when the next one comes */
void
row_writer_append(RowWriter *writer, RowStore *rows, TupleTableSlot *slot)
{
	MemoryContext caller;
	const Datum *values;
	const bool *nulls;

	slot_getallattrs(slot);
	values = slot->tts_values;
	nulls = slot->tts_isnull;
	MemoryContextReset(writer->work);
	caller = MemoryContextSwitchTo(writer->work);
	if (unlikely(writer->reserved_count > 0))
		check_reserved(writer, slot);
	row_store_cancel_row(rows);
	for (int i = 0; i < writer->field_count; i++)
	{
		const RowField *field = &writer->fields[i];
		VectorBuilder *out = row_store_column(rows, i);

		if (likely(field->attribute >= 0))
			datum_writer_put(field->datum, values[field->attribute],
							 nulls[field->attribute], out);
		else
			put_absent(field, out);
	}
	row_store_end_row(rows);
	MemoryContextSwitchTo(caller);
}
