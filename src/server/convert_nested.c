/*
 * Lists and maps as arrays, structs as composites.
 *
 * A batch goes down column by column: the elements of all its lists, or an
 * attribute of all its structs, are converted by one call, and the arrays and
 * rows are put together last.  Attributes are found by name when the converter
 * is made, once a scan; a map is a list of structs of key and value.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "server/server_int.h"

struct ArrayConverter
{
	ColumnConverter *element;
	LakeType	entry;			/* of a map: the struct of key and value */
	int			dimensions;
	Oid			element_oid;
	int16		element_len;
	bool		element_by_value;
	char		element_align;
};

/* the extent of one row's array */
typedef struct ArrayShape
{
	int			lengths[MAXDIM];
	/* the elements, [first, end) of the innermost vector */
	uint32		first;
	uint32		end;
} ArrayShape;

typedef struct RowAttribute
{
	int			attribute;		/* index in the tuple */
	int			field;			/* index in the struct */
	ColumnConverter *converter;
	/* of the current call */
	Datum	   *values;
	bool	   *nulls;
} RowAttribute;

struct RowConverter
{
	TupleDesc	desc;
	int			attribute_count;
	RowAttribute *attributes;
	/* one row's, NULL where no attribute is shown */
	Datum	   *values;
	bool	   *nulls;
};

/* ---- arrays ---- */

static pg_noinline void
throw_shape(const ColumnConverter *converter, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("column \"%s\" has a list of lists that is no rectangular array",
					converter->column_name),
			 errdetail("%s", detail),
			 errhint("Declare the column as jsonb.")));
}

/* the length that all lists of [first, end) have */
static uint32
common_length(const ColumnConverter *converter, const LakeVector *lists,
			  uint32 first, uint32 end)
{
	const uint32 *offsets = lists->offsets;
	uint32		length = offsets[first + 1] - offsets[first];

	for (uint32 i = first; i < end; i++)
	{
		if (vector_is_null(lists, i))
			throw_shape(converter, "An inner list is NULL.");
		if (offsets[i + 1] - offsets[i] != length)
			throw_shape(converter,
						psprintf("Its inner lists have %u and %u elements.",
								 length, offsets[i + 1] - offsets[i]));
	}
	if (length == 0)
		throw_shape(converter, "Its inner lists are empty.");
	return length;
}

static void
find_shape(const ColumnConverter *converter, const LakeVector *vector,
		   uint32 row, ArrayShape *shape)
{
	shape->first = vector->offsets[row];
	shape->end = vector->offsets[row + 1];
	shape->lengths[0] = (int) (shape->end - shape->first);
	for (int i = 1; i < converter->array->dimensions; i++)
	{
		if (shape->first == shape->end)
			break;
		vector = vector->children[0];
		shape->lengths[i] = (int) common_length(converter, vector,
												shape->first, shape->end);
		shape->first = vector->offsets[shape->first];
		shape->end = vector->offsets[shape->end];
	}
}

/* the vector that elements are in; entries: room for that of a map's */
static const LakeVector *
element_vector(const ColumnConverter *converter, const LakeVector *vector,
			   LakeVector *entries)
{
	if (converter->type->kind != LAKE_MAP)
	{
		for (int i = 0; i < converter->array->dimensions; i++)
			vector = vector->children[0];
		return vector;
	}
	if (vector->child_count != 2)
		elog(ERROR, "map of column \"%s\" has %u vectors",
			 converter->column_name, vector->child_count);
	if (vector->children[0]->nulls != NULL &&
		memchr(vector->children[0]->nulls, 1,
			   vector->children[0]->count) != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "map has a NULL key");
	memset(entries, 0, sizeof *entries);
	entries->layout = VECTOR_STRUCT;
	entries->count = vector->children[0]->count;
	entries->child_count = vector->child_count;
	entries->children = vector->children;
	return entries;
}

/*
 * Shapes of the first rows, as many as have room for the Datums of their
 * elements; returns how many.
 */
static uint32
find_shapes(const ColumnConverter *converter, const LakeVector *vector,
			const uint32 *selection, uint32 count, const bool *nulls,
			ArrayShape *shapes, Size *element_count)
{
	*element_count = 0;
	for (uint32 i = 0; i < count; i++)
	{
		if (*element_count * sizeof(Datum) >= converter->room && i > 0)
			return i;
		CHECK_FOR_INTERRUPTS();
		shapes[i].first = shapes[i].end = 0;
		if (!nulls[i])
			find_shape(converter, vector, selection[i], &shapes[i]);
		*element_count += shapes[i].end - shapes[i].first;
	}
	return count;
}

static Datum
make_array(const ArrayConverter *array, ArrayShape *shape, Datum *values,
		   bool *nulls)
{
	int			lower_bounds[MAXDIM];

	if (shape->first == shape->end)
		return PointerGetDatum(construct_empty_array(array->element_oid));
	for (int i = 0; i < array->dimensions; i++)
		lower_bounds[i] = 1;
	return PointerGetDatum(construct_md_array(values, nulls,
											  array->dimensions,
											  shape->lengths, lower_bounds,
											  array->element_oid,
											  array->element_len,
											  array->element_by_value,
											  array->element_align));
}

static void
array_rows(ColumnConverter *converter, const LakeVector *vector,
		   const uint32 *selection, uint32 count, MemoryContext context,
		   Datum *values, const bool *nulls)
{
	const ArrayConverter *array = converter->array;
	MemoryContext caller = MemoryContextSwitchTo(context);
	ArrayShape *shapes = palloc_extended(count * sizeof *shapes,
										 MCXT_ALLOC_HUGE);
	LakeVector	entries;
	const LakeVector *source = element_vector(converter, vector, &entries);
	Size		element_count;
	uint32	   *elements;
	Datum	   *element_values;
	bool	   *element_nulls;
	Size		n = 0;

	count = find_shapes(converter, vector, selection, count, nulls, shapes,
						&element_count);
	elements = palloc_extended(element_count * sizeof *elements,
							   MCXT_ALLOC_HUGE);
	element_values = palloc_extended(element_count * sizeof(Datum),
									 MCXT_ALLOC_HUGE);
	element_nulls = palloc_extended(element_count, MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < count; i++)
	{
		for (uint32 element = shapes[i].first; element < shapes[i].end;
			 element++)
			elements[n++] = element;
	}
	for (Size i = 0; i < element_count;)
		i += converter_convert(array->element, source, elements + i,
							   (uint32) Min(element_count - i, PG_UINT32_MAX),
							   MaxAllocHugeSize, context, element_values + i,
							   element_nulls + i);
	for (uint32 i = 0; i < count; i++)
	{
		values[i] = 0;
		if (!nulls[i])
			values[i] = make_array(array, &shapes[i], element_values,
								   element_nulls);
		element_values += shapes[i].end - shapes[i].first;
		element_nulls += shapes[i].end - shapes[i].first;
		if (!converter_has_room(converter, values[i], i))
			break;
	}
	MemoryContextSwitchTo(caller);
}

void
converter_init_array(ColumnConverter *converter, MemoryContext context,
					 Oid array_oid, int32 typmod)
{
	ArrayConverter *array = palloc0(sizeof *array);
	const LakeType *element;

	converter->convert = array_rows;
	converter->array = array;
	array->element_oid = typemap_element_oid(array_oid);
	get_typlenbyvalalign(array->element_oid, &array->element_len,
						 &array->element_by_value, &array->element_align);
	if (converter->type->kind == LAKE_MAP)
	{
		array->entry.kind = LAKE_STRUCT;
		array->entry.field_count = converter->type->field_count;
		array->entry.fields = converter->type->fields;
		array->dimensions = 1;
		element = &array->entry;
	}
	else
		element = typemap_array_element(converter->type, array->element_oid,
										&array->dimensions);
	array->element = column_converter_create(context, element,
											 array->element_oid, typmod,
											 converter->column_name);
}

/* ---- composites ---- */

/*
 * Converts the attributes of the present rows, the first of them that there is
 * room for; returns how many.
 */
static uint32
convert_attributes(ColumnConverter *converter, const LakeVector *vector,
				   const uint32 *present, uint32 count, MemoryContext context)
{
	RowConverter *row = converter->row;

	for (int i = 0; i < row->attribute_count && count > 0; i++)
	{
		RowAttribute *attribute = &row->attributes[i];

		attribute->values = palloc_extended(count * sizeof(Datum),
											MCXT_ALLOC_HUGE);
		attribute->nulls = palloc_extended(count, MCXT_ALLOC_HUGE);
		count = column_converter_convert(attribute->converter,
										 vector->children[attribute->field],
										 present, count,
										 converter->room / row->attribute_count,
										 context, attribute->values,
										 attribute->nulls);
	}
	return count;
}

static Datum
make_row(const RowConverter *row, uint32 index)
{
	HeapTuple	tuple;

	for (int i = 0; i < row->attribute_count; i++)
	{
		const RowAttribute *attribute = &row->attributes[i];

		row->values[attribute->attribute] = attribute->values[index];
		row->nulls[attribute->attribute] = attribute->nulls[index];
	}
	tuple = heap_form_tuple(row->desc, row->values, row->nulls);
	return HeapTupleGetDatum(tuple);
}

static void
composite_rows(ColumnConverter *converter, const LakeVector *vector,
			   const uint32 *selection, uint32 count, MemoryContext context,
			   Datum *values, const bool *nulls)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	uint32	   *present = palloc_extended(count * sizeof *present,
										  MCXT_ALLOC_HUGE);
	uint32		present_count = 0;
	uint32		next = 0;

	for (uint32 i = 0; i < count; i++)
	{
		if (!nulls[i])
			present[present_count++] = selection[i];
	}
	present_count = convert_attributes(converter, vector, present,
									   present_count, context);
	for (uint32 i = 0; i < count; i++)
	{
		values[i] = 0;
		if (!nulls[i])
		{
			if (next == present_count)
				break;
			values[i] = make_row(converter->row, next++);
		}
		if (!converter_has_room(converter, values[i], i))
			break;
	}
	MemoryContextSwitchTo(caller);
}

/*
 * The field that an attribute shows: of its name, or, as for columns, of its
 * name in other letters if there is just one such and the attribute's has no
 * upper case.  -1: none.
 */
int
struct_field_index(const LakeType *type, const char *attribute)
{
	const char *name = name_to_lake(attribute);
	int			found = -1;

	for (int i = 0; i < type->field_count; i++)
	{
		if (strcmp(type->fields[i].name, name) == 0)
			return i;
	}
	for (const char *c = name; *c != '\0'; c++)
	{
		if (*c >= 'A' && *c <= 'Z')
			return -1;
	}
	for (int i = 0; i < type->field_count; i++)
	{
		if (pg_strcasecmp(type->fields[i].name, name) != 0)
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

pg_noinline void
struct_throw_no_field(const LakeType *type, const char *column_name,
					  Oid row_oid, const char *attribute)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" has no field \"%s\", which type %s declares",
					column_name, attribute, format_type_be(row_oid)),
			 errdetail("Its lake type is %s.",
					   name_from_lake(lake_type_text(arena, type)))));
}

static void
init_attribute(ColumnConverter *converter, MemoryContext context,
			   Form_pg_attribute attribute, Oid row_oid)
{
	RowConverter *row = converter->row;
	RowAttribute *slot = &row->attributes[row->attribute_count++];
	const char *name = NameStr(attribute->attname);

	slot->attribute = attribute->attnum - 1;
	slot->field = struct_field_index(converter->type, name);
	if (slot->field < 0)
		struct_throw_no_field(converter->type, converter->column_name,
							  row_oid, name);
	slot->converter =
		column_converter_create(context,
								converter->type->fields[slot->field].type,
								attribute->atttypid, attribute->atttypmod,
								psprintf("%s.%s", converter->column_name,
										 name));
}

void
converter_init_row(ColumnConverter *converter, MemoryContext context,
				   Oid row_oid)
{
	RowConverter *row = palloc0(sizeof *row);

	converter->convert = composite_rows;
	converter->row = row;
	row->desc = lookup_rowtype_tupdesc_copy(row_oid, -1);
	row->attributes = palloc0(sizeof *row->attributes *
							  (row->desc->natts + 1));
	row->values = palloc0(sizeof *row->values * (row->desc->natts + 1));
	row->nulls = palloc(sizeof *row->nulls * (row->desc->natts + 1));
	memset(row->nulls, true, row->desc->natts);
	for (int i = 0; i < row->desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row->desc, i);

		if (!attribute->attisdropped)
			init_attribute(converter, context, attribute, row_oid);
	}
}
