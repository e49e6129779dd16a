/*
 * Arrays to lists and maps, composites to structs: the reverse of
 * convert_nested.c.
 *
 * An array becomes lists as deep as the lake type has them, so it must have that
 * many dimensions; fields of a struct that the composite type does not show are
 * NULL.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "server/writer_int.h"

struct ArrayWriter
{
	DatumWriter *element;		/* NULL: a map, whose entries are composites */
	CompositeWriter *entry;
	int			dimensions;
	Oid			element_oid;
	int16		element_len;
	bool		element_by_value;
	char		element_align;
};

/* a field that an attribute gives, or none */
typedef struct CompositeField
{
	int			attribute;		/* index in the tuple; -1: NULL */
	DatumWriter *writer;		/* with attribute; else for its name alone */
} CompositeField;

struct CompositeWriter
{
	TupleDesc	desc;
	int			field_count;
	CompositeField *fields;		/* by the struct's fields */
	Datum	   *values;			/* one row's */
	bool	   *nulls;
};

/* ---- composites ---- */

static void
deform(const CompositeWriter *composite, Datum datum)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(datum);
	HeapTupleData tuple = {
		.t_len = HeapTupleHeaderGetDatumLength(header),
		.t_data = header
	};

	ItemPointerSetInvalid(&tuple.t_self);
	heap_deform_tuple(&tuple, composite->desc, composite->values,
					  composite->nulls);
}

/* a field of the row that was deformed last */
static void
put_field(const CompositeWriter *composite, int field, VectorBuilder *out)
{
	const CompositeField *source = &composite->fields[field];
	bool		is_null = source->attribute < 0 ||
		composite->nulls[source->attribute];

	datum_writer_put(source->writer,
					 is_null ? 0 : composite->values[source->attribute],
					 is_null, out);
}

static void
write_composite(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	const CompositeWriter *composite = writer->composite;

	deform(composite, datum);
	vector_append_struct(out);
	for (int i = 0; i < composite->field_count; i++)
		put_field(composite, i, vector_child(out, i));
}

static DatumWriter *
field_writer(const CompositeWriter *composite, int attribute,
			 const LakeField *field, const char *name)
{
	Form_pg_attribute form;
	DatumWriter *writer;

	name = psprintf("%s.%s", name, name_from_lake(field->name));
	if (attribute >= 0)
	{
		form = TupleDescAttr(composite->desc, attribute);
		return datum_writer_create(field->type, field->required,
								   form->atttypid, form->atttypmod, name);
	}
	writer = palloc0(sizeof *writer);
	writer->name = name;
	writer->required = field->required;
	return writer;
}

static CompositeWriter *
create_composite(const LakeType *type, Oid row_oid, const char *name)
{
	CompositeWriter *composite = palloc0(sizeof *composite);
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(row_oid, -1);
	int		   *attributes = palloc(sizeof(int) * (type->field_count + 1));

	composite->desc = desc;
	composite->values = palloc(sizeof(Datum) * (desc->natts + 1));
	composite->nulls = palloc(sizeof(bool) * (desc->natts + 1));
	composite->field_count = type->field_count;
	composite->fields = palloc0(sizeof(CompositeField) *
								(type->field_count + 1));
	for (int i = 0; i < type->field_count; i++)
		attributes[i] = -1;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute form = TupleDescAttr(desc, i);
		int			field;

		if (form->attisdropped)
			continue;
		field = struct_field_index(type, NameStr(form->attname));
		if (field < 0)
			struct_throw_no_field(type, name, row_oid, NameStr(form->attname));
		if (attributes[field] >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("two attributes of type %s are field \"%s\" of column \"%s\"",
							format_type_be(row_oid),
							name_from_lake(type->fields[field].name), name)));
		attributes[field] = i;
	}
	for (int i = 0; i < type->field_count; i++)
	{
		composite->fields[i].attribute = attributes[i];
		composite->fields[i].writer = field_writer(composite, attributes[i],
												   &type->fields[i], name);
	}
	pfree(attributes);
	return composite;
}

void
datum_writer_init_composite(DatumWriter *writer, Oid row_oid)
{
	writer->write = write_composite;
	writer->composite = create_composite(writer->type, row_oid, writer->name);
}

/* ---- arrays ---- */

typedef struct ArrayElements
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			next;
} ArrayElements;

static void
open_array(const ArrayWriter *writer, Datum datum, ArrayElements *elements)
{
	elements->array = DatumGetArrayTypeP(datum);
	elements->next = 0;
	deconstruct_array(elements->array, writer->element_oid,
					  writer->element_len, writer->element_by_value,
					  writer->element_align, &elements->values,
					  &elements->nulls, &elements->count);
}

/* what a list cannot say would be lost */
static void
check_shape(const DatumWriter *writer, ArrayType *array)
{
	int			dimensions = ARR_NDIM(array);

	if (dimensions == 0)
		return;
	if (dimensions != writer->array->dimensions)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("array of column \"%s\" has %d dimensions, its lake type %d",
						writer->name, dimensions, writer->array->dimensions)));
	for (int i = 0; i < dimensions; i++)
	{
		if (ARR_LBOUND(array)[i] != 1)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("array of column \"%s\" begins with subscript %d, which a list does not keep",
							writer->name, ARR_LBOUND(array)[i])));
	}
}

static void
put_list(const ArrayWriter *writer, ArrayElements *elements, int dimension,
		 VectorBuilder *out)
{
	int			count = ARR_DIMS(elements->array)[dimension];
	VectorBuilder *child;

	vector_append_list(out, (uint32) count);
	child = vector_child(out, 0);
	for (int i = 0; i < count; i++)
	{
		if (dimension + 1 < writer->dimensions)
			put_list(writer, elements, dimension + 1, child);
		else
		{
			int			element = elements->next++;

			datum_writer_put(writer->element, elements->values[element],
							 elements->nulls[element], child);
		}
	}
}

static void
write_array(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	ArrayElements elements;

	open_array(writer->array, datum, &elements);
	check_shape(writer, elements.array);
	if (elements.count == 0)
		vector_append_list(out, 0);
	else
		put_list(writer->array, &elements, 0, out);
}

static void
write_map(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	const CompositeWriter *entry = writer->array->entry;
	ArrayElements elements;

	open_array(writer->array, datum, &elements);
	check_shape(writer, elements.array);
	vector_append_list(out, (uint32) elements.count);
	for (int i = 0; i < elements.count; i++)
	{
		if (elements.nulls[i])
			writer_throw_null(writer->name);
		deform(entry, elements.values[i]);
		put_field(entry, 0, vector_child(out, 0));
		put_field(entry, 1, vector_child(out, 1));
	}
}

static bool
is_element_required(const LakeType *list, int dimensions)
{
	for (int i = 1; i < dimensions; i++)
		list = list->fields[0].type;
	return list->fields[0].required;
}

void
datum_writer_init_array(DatumWriter *writer, Oid array_oid, int32 typmod)
{
	ArrayWriter *array = palloc0(sizeof *array);
	const LakeType *type = writer->type;

	writer->array = array;
	array->element_oid = typemap_element_oid(array_oid);
	get_typlenbyvalalign(array->element_oid, &array->element_len,
						 &array->element_by_value, &array->element_align);
	array->dimensions = 1;
	if (type->kind == LAKE_MAP)
	{
		LakeField	fields[2] = {type->fields[0], type->fields[1]};
		LakeType	entry = {
			.kind = LAKE_STRUCT,
			.field_count = 2,
			.fields = fields
		};

		/* whatever the schema says: a map has no NULL keys */
		fields[0].required = true;
		array->entry = create_composite(&entry,
										getBaseType(array->element_oid),
										writer->name);
		writer->write = write_map;
		return;
	}
	type = typemap_array_element(type, array->element_oid,
								 &array->dimensions);
	array->element = datum_writer_create(type,
										 is_element_required(writer->type,
															 array->dimensions),
										 array->element_oid, typmod,
										 writer->name);
	writer->write = write_array;
}
