/*
 * Resolution of fields in files that no library at hand can write.
 */
#include "unit.h"

#include "table/table_int.h"

static ParquetField *
primitive(LakeArena *arena, const char *name, int32_t id,
		  ParquetPhysical physical, ParquetLogical logical)
{
	ParquetField *field = lake_alloc(arena, sizeof(ParquetField));

	field->name = name;
	field->field_id = id;
	field->physical = physical;
	field->logical = logical;
	field->layout = physical == PARQUET_INT32 ? VECTOR_I32 : VECTOR_BYTES;
	return field;
}

static ParquetField *
group(LakeArena *arena, const char *name, int32_t id, ParquetShape shape,
	  int count, ParquetField *const *children)
{
	ParquetField *field = lake_alloc(arena, sizeof(ParquetField));
	ParquetField **copy = lake_alloc_array(arena, (size_t) count,
										   sizeof(ParquetField *));

	for (int i = 0; i < count; i++)
		copy[i] = children[i];
	field->name = name;
	field->field_id = id;
	field->shape = shape;
	field->child_count = count;
	field->children = copy;
	return field;
}

/* a file with ids 1.. for its fields, resolved for one wanted field of id 1 */
static ColumnMap *
resolve(LakeArena *arena, ParquetField *source, LakeType *type)
{
	LakeField  *field = lake_alloc(arena, sizeof(LakeField));
	ColumnMap  *map = lake_alloc(arena, sizeof(ColumnMap));
	FileFieldId *index = lake_alloc(arena, sizeof(FileFieldId));
	const ParquetField **fields = lake_alloc(arena, sizeof(ParquetField *));
	FileSchema	schema = {.ids = FILE_IDS_STORED, .field_count = 1};

	index->id = 1;
	fields[0] = source;
	schema.fields = fields;
	schema.index = index;
	schema.index_count = 1;
	field->id = 1;
	field->name = "c";
	field->type = type;
	CHECK(column_map_resolve(map, arena, &schema, field));
	return map;
}

static LakeType *
kind(LakeArena *arena, LakeTypeKind type_kind)
{
	LakeType   *type = lake_alloc(arena, sizeof(LakeType));

	type->kind = type_kind;
	return type;
}

static ParquetField *
bytes(LakeArena *arena, const char *name)
{
	return primitive(arena, name, -1, PARQUET_BYTE_ARRAY,
					 PARQUET_LOGICAL_NONE);
}

static void
a_variant_is_its_metadata_and_value(LakeArena *arena)
{
	ParquetField *parts[] = {bytes(arena, "value"), bytes(arena, "metadata")};
	ColumnMap  *map = resolve(arena, group(arena, "v", 1, PARQUET_STRUCT, 2,
										   parts), kind(arena, LAKE_VARIANT));

	CHECK_INT(map->child_count, 2);
	CHECK_INT(map->children[0].position, 1);
	CHECK_INT(map->children[1].position, 0);
}

static void
what_is_shredded_of_a_variant_comes_as_it_is(LakeArena *arena)
{
	ParquetField *parts[] = {
		bytes(arena, "metadata"), bytes(arena, "value"),
		primitive(arena, "typed_value", -1, PARQUET_INT32,
				  PARQUET_LOGICAL_DATE)
	};
	ColumnMap  *map = resolve(arena, group(arena, "v", 1, PARQUET_STRUCT, 3,
										   parts), kind(arena, LAKE_VARIANT));
	static const int32_t days[] = {7};
	static const LakeBytes texts[] = {{(const uint8_t *) "x", 1}};
	LakeVector	text = {.layout = VECTOR_BYTES, .count = 1, .values = texts};
	LakeVector	typed = {.layout = VECTOR_I32, .count = 1, .values = days};
	LakeVector *children[] = {&text, &text, &typed};
	LakeVector	vector = {.layout = VECTOR_STRUCT, .count = 1,
		.child_count = 3, .children = children};
	const LakeVector *result;

	result = vector_converter_apply(vector_converter_create(arena, map, false),
									&vector, 1);
	CHECK_INT(result->child_count, 3);
	CHECK(result->children[2] == &typed);
}

static void
a_variant_without_its_parts_is_corrupt(LakeArena *arena)
{
	ParquetField *parts[] = {bytes(arena, "metadata"),
	bytes(arena, "typed_value"), bytes(arena, "value")};
	ColumnMap  *map = resolve(arena, group(arena, "v", 1, PARQUET_STRUCT, 2,
										   parts), kind(arena, LAKE_VARIANT));

	/* all rows may be shredded */
	CHECK_INT(map->child_count, 3);
	CHECK(map->children[1].is_null);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "metadata or value",
				 resolve(arena, group(arena, "v", 1, PARQUET_STRUCT, 1, parts),
						 kind(arena, LAKE_VARIANT)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "metadata or value",
				 resolve(arena, group(arena, "v", 1, PARQUET_STRUCT, 2,
									  parts + 1), kind(arena, LAKE_VARIANT)));
}

static void
columns_without_a_type_are_null(LakeArena *arena)
{
	ParquetField *source = primitive(arena, "c", 1, PARQUET_INT32,
									 PARQUET_LOGICAL_UNKNOWN);

	CHECK(resolve(arena, source, kind(arena, LAKE_STRING))->is_null);
	source->logical = PARQUET_LOGICAL_NONE;
	CHECK(resolve(arena, source, kind(arena, LAKE_UNKNOWN))->is_null);
}

static void
a_map_without_values_has_null_ones(LakeArena *arena)
{
	static LakeType text_type = {.kind = LAKE_STRING};
	LakeField	parts[] = {
		{.id = 2, .name = "key", .required = true, .type = &text_type},
		{.id = 3, .name = "value", .required = true, .type = &text_type},
	};
	LakeType	type = {.kind = LAKE_MAP, .field_count = 2, .fields = parts};
	ParquetField *keys[] = {bytes(arena, "key")};
	ColumnMap  *map = resolve(arena, group(arena, "m", 1, PARQUET_MAP, 1,
										   keys), &type);
	static const LakeBytes texts[] = {
		{(const uint8_t *) "a", 1}, {(const uint8_t *) "b", 1}
	};
	static const uint32_t offsets[] = {0, 2};
	LakeVector	key_vector = {.layout = VECTOR_BYTES, .count = 2,
	.values = texts};
	LakeVector *children[] = {&key_vector};
	LakeVector	vector = {.layout = VECTOR_MAP, .count = 1,
		.offsets = offsets, .child_count = 1, .children = children};
	const LakeVector *result;

	CHECK(map->children[1].is_null);
	result = vector_converter_apply(vector_converter_create(arena, map, false),
									&vector, 1);
	CHECK_INT(result->child_count, 2);
	CHECK(result->children[0] == &key_vector);
	CHECK_INT(result->children[1]->count, 2);
	CHECK(vector_is_null(result->children[1], 1));
}

static void
shapes_that_do_not_fit_are_refused_by_name(LakeArena *arena)
{
	static LakeType number_type = {.kind = LAKE_INT};
	LakeField	element = {.id = 2, .name = "element", .type = &number_type};
	LakeType	type = {.kind = LAKE_LIST, .field_count = 1,
	.fields = &element};
	ParquetField *source = primitive(arena, "c", 1, PARQUET_INT32,
									 PARQUET_LOGICAL_NONE);
	ParquetField *elements[] = {source};

	CHECK_THROWS(LAKE_ERROR_CORRUPT,
				 "\"c\" is a primitive in the file and cannot be read as list<int>",
				 resolve(arena, source, &type));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "is a list in the file",
				 resolve(arena, group(arena, "c", 1, PARQUET_LIST, 1,
									  elements), &number_type));
}

static void
a_default_of_a_list_is_refused_by_name(LakeArena *arena)
{
	static LakeType number_type = {.kind = LAKE_INT};
	LakeField	element = {.id = 2, .name = "element", .type = &number_type};
	LakeType	type = {.kind = LAKE_LIST, .field_count = 1,
	.fields = &element};
	LakeField	field = {.id = 1, .name = "c", .type = &type};
	ColumnMap	map;

	field.initial_default = json_parse(arena, (LakeBytes)
									   {
										   (const uint8_t *) "[1]", 3
									   }, "default");
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "default of field \"c\"",
				 column_map_absent(&map, arena, &field));
}

static const UnitTest tests[] = {
	UNIT(a_variant_is_its_metadata_and_value),
	UNIT(what_is_shredded_of_a_variant_comes_as_it_is),
	UNIT(a_variant_without_its_parts_is_corrupt),
	UNIT(columns_without_a_type_are_null),
	UNIT(a_map_without_values_has_null_ones),
	UNIT(shapes_that_do_not_fit_are_refused_by_name),
	UNIT(a_default_of_a_list_is_refused_by_name),
};

UNIT_MAIN(tests)
