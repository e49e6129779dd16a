/*
 * Normalised schemas: every legacy layout of lists and maps, logical types from
 * both kinds of annotation, and trees that are none.
 */
#include "parquet_build.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CONVERTED(number) ((number) + 1)

enum
{
	UTF8 = CONVERTED(0),
	MAP = CONVERTED(1),
	MAP_KEY_VALUE = CONVERTED(2),
	LIST = CONVERTED(3),
	DECIMAL = CONVERTED(5),
	DATE = CONVERTED(6),
	TIMESTAMP_MILLIS = CONVERTED(9),
	UINT_32 = CONVERTED(13),
	INT_8 = CONVERTED(15),
	INTERVAL = CONVERTED(21)
};

enum
{
	REQUIRED,
	OPTIONAL,
	REPEATED
};

static const ParquetField *
first_field(LakeArena *arena, const BuildElement *elements, size_t count)
{
	const ParquetField *const *fields;

	CHECK(parquet_file_fields(build_schema(arena, elements, count),
							  &fields) >= 1);
	return fields[0];
}

static void
three_level_list_has_its_element_as_child(LakeArena *arena)
{
	static const BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("tags", OPTIONAL, 1, .converted = LIST, .field_id = 3),
		GROUP("list", REPEATED, 1),
		FIELD("element", PARQUET_BYTE_ARRAY, OPTIONAL, .converted = UTF8,
			  .field_id = 4)
	};
	const ParquetField *list = first_field(arena, elements, COUNT(elements));
	const ParquetField *element = list->children[0];

	CHECK_INT(list->shape, PARQUET_LIST);
	CHECK(list->optional);
	CHECK_INT(list->field_id, 3);
	CHECK_STRING(element->name, "element");
	CHECK(element->optional);
	CHECK_INT(element->field_id, 4);
	CHECK_INT(element->logical, PARQUET_LOGICAL_STRING);
	CHECK_INT(element->leaf, 0);
	CHECK(element->parent == list);
	CHECK_INT(parquet_node(list)->defined, 1);
	CHECK_INT(parquet_node(list)->repeated, 1);
	CHECK_INT(parquet_node(list)->element, 2);
	CHECK_INT(parquet_node(element)->defined, 3);
	CHECK_INT(parquet_node(element)->repeated, 1);
}

static void
repeated_primitive_in_list_is_the_element(LakeArena *arena)
{
	static const BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("tags", OPTIONAL, 1, .converted = LIST),
		FIELD("array", PARQUET_INT32, REPEATED)
	};
	const ParquetField *list = first_field(arena, elements, COUNT(elements));

	CHECK_INT(list->shape, PARQUET_LIST);
	CHECK_INT(list->children[0]->shape, PARQUET_PRIMITIVE);
	CHECK(!list->children[0]->optional);
	CHECK_INT(parquet_node(list->children[0])->defined, 2);
}

static void
repeated_group_of_several_fields_is_the_element(LakeArena *arena)
{
	static const BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("pairs", OPTIONAL, 1, .converted = LIST),
		GROUP("element", REPEATED, 2),
		FIELD("a", PARQUET_INT32, REQUIRED),
		FIELD("b", PARQUET_INT64, OPTIONAL)
	};
	const ParquetField *list = first_field(arena, elements, COUNT(elements));

	CHECK_INT(list->children[0]->shape, PARQUET_STRUCT);
	CHECK_INT(list->children[0]->child_count, 2);
	CHECK_INT(parquet_node(list)->leaf_count, 2);
}

/* how deep the element of a list is, when its repeated group has one field */
static ParquetShape
shape_of_element(LakeArena *arena, const char *group, int repetition)
{
	BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("pairs", OPTIONAL, 1, .converted = LIST),
		GROUP("", REPEATED, 1),
		FIELD("a", PARQUET_INT32, REQUIRED)
	};

	elements[2].name = group;
	elements[3].repetition = repetition;
	return first_field(arena, elements, COUNT(elements))->children[0]->shape;
}

static void
name_of_repeated_group_tells_element_from_layer(LakeArena *arena)
{
	CHECK_INT(shape_of_element(arena, "array", REQUIRED), PARQUET_STRUCT);
	CHECK_INT(shape_of_element(arena, "pairs_tuple", REQUIRED),
			  PARQUET_STRUCT);
	CHECK_INT(shape_of_element(arena, "list", REQUIRED), PARQUET_PRIMITIVE);
	CHECK_INT(shape_of_element(arena, "bag", OPTIONAL), PARQUET_PRIMITIVE);
	CHECK_INT(shape_of_element(arena, "pairs_tuples", REQUIRED),
			  PARQUET_PRIMITIVE);
}

static void
repeated_group_around_repeated_field_is_the_element(LakeArena *arena)
{
	CHECK_INT(shape_of_element(arena, "list", REPEATED), PARQUET_STRUCT);
}

static void
unannotated_repeated_field_is_a_required_list(LakeArena *arena)
{
	static const BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		FIELD("numbers", PARQUET_INT32, REPEATED, .field_id = 7)
	};
	const ParquetField *list = first_field(arena, elements, COUNT(elements));

	CHECK_INT(list->shape, PARQUET_LIST);
	CHECK(!list->optional);
	CHECK_INT(list->field_id, 7);
	CHECK_INT(list->children[0]->field_id, -1);
	CHECK_INT(parquet_node(list)->defined, 0);
	CHECK_INT(parquet_node(list)->element, 1);
	CHECK(!list->children[0]->optional);
}

static const ParquetField *
map_field(LakeArena *arena, int outer, int inner, int fields)
{
	BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("attributes", OPTIONAL, 1),
		GROUP("map", REPEATED, 0),
		FIELD("key", PARQUET_BYTE_ARRAY, REQUIRED, .converted = UTF8),
		FIELD("value", PARQUET_INT64, OPTIONAL)
	};

	elements[1].converted = outer;
	elements[2].converted = inner;
	elements[2].children = fields;
	return first_field(arena, elements, 3 + (size_t) fields);
}

static void
both_map_annotations_give_key_and_value(LakeArena *arena)
{
	const ParquetField *modern = map_field(arena, MAP, 0, 2);
	const ParquetField *legacy = map_field(arena, MAP_KEY_VALUE, 0, 2);

	CHECK_INT(modern->shape, PARQUET_MAP);
	CHECK_INT(modern->child_count, 2);
	CHECK_STRING(modern->children[0]->name, "key");
	CHECK_INT(parquet_node(modern->children[1])->defined, 3);
	CHECK_INT(legacy->shape, PARQUET_MAP);
	CHECK_INT(map_field(arena, MAP, MAP_KEY_VALUE, 2)->shape, PARQUET_MAP);
}

static void
map_without_values_has_one_child(LakeArena *arena)
{
	const ParquetField *map = map_field(arena, MAP, 0, 1);

	CHECK_INT(map->shape, PARQUET_MAP);
	CHECK_INT(map->child_count, 1);
}

static void
annotated_group_without_the_shape_is_a_struct(LakeArena *arena)
{
	static const BuildElement two_children[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("odd", OPTIONAL, 2, .converted = LIST),
		FIELD("a", PARQUET_INT32, REPEATED),
		FIELD("b", PARQUET_INT32, REQUIRED)
	};
	static const BuildElement not_repeated[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("odd", OPTIONAL, 1, .converted = MAP),
		GROUP("a", REQUIRED, 1),
		FIELD("b", PARQUET_INT32, REQUIRED)
	};
	const ParquetField *list =
		first_field(arena, two_children, COUNT(two_children));

	CHECK_INT(list->shape, PARQUET_STRUCT);
	CHECK_INT(list->logical, PARQUET_LOGICAL_NONE);
	CHECK_INT(list->children[0]->shape, PARQUET_LIST);
	CHECK_INT(first_field(arena, not_repeated,
						  COUNT(not_repeated))->shape, PARQUET_STRUCT);
}

static void
root_has_neither_repetition_nor_type(LakeArena *arena)
{
	static const BuildElement elements[] = {
		FIELD("root", PARQUET_INT64, REPEATED, .children = 1),
		FIELD("a", PARQUET_INT32, OPTIONAL)
	};
	const ParquetField *field = first_field(arena, elements, COUNT(elements));

	CHECK_INT(field->shape, PARQUET_PRIMITIVE);
	CHECK_INT(parquet_node(field)->defined, 1);
	CHECK_INT(parquet_node(field)->repeated, 0);
}

static const ParquetField *
primitive(LakeArena *arena, BuildElement element)
{
	BuildElement elements[2] = {GROUP("root", REQUIRED, 1)};

	elements[1] = element;
	elements[1].name = "c";
	return first_field(arena, elements, 2);
}

static void
decimals_have_the_narrowest_layout(LakeArena *arena)
{
	BuildElement element = {.converted = DECIMAL, .precision = 9, .scale = 2};

	element.physical = PARQUET_INT32;
	CHECK_INT(primitive(arena, element)->layout, VECTOR_I32);
	element.physical = PARQUET_BYTE_ARRAY;
	CHECK_INT(primitive(arena, element)->layout, VECTOR_I64);
	element.precision = 18;
	CHECK_INT(primitive(arena, element)->layout, VECTOR_I64);
	element.precision = 19;
	CHECK_INT(primitive(arena, element)->layout, VECTOR_I128);
	element.physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
	element.length = 9;
	CHECK_INT(primitive(arena, element)->layout, VECTOR_I128);
	CHECK_INT(primitive(arena, element)->precision, 19);
	CHECK_INT(primitive(arena, element)->scale, 2);
}

static void
converted_types_are_understood(LakeArena *arena)
{
	BuildElement element = {.physical = PARQUET_INT32, .converted = UINT_32};
	const ParquetField *field = primitive(arena, element);

	CHECK_INT(field->logical, PARQUET_LOGICAL_INTEGER);
	CHECK_INT(field->bits, 32);
	CHECK(!field->is_signed);
	element.converted = INT_8;
	field = primitive(arena, element);
	CHECK_INT(field->bits, 8);
	CHECK(field->is_signed);
	element.physical = PARQUET_INT64;
	element.converted = TIMESTAMP_MILLIS;
	field = primitive(arena, element);
	CHECK_INT(field->logical, PARQUET_LOGICAL_TIMESTAMP);
	CHECK_INT(field->unit, PARQUET_MILLIS);
	CHECK(field->utc);
}

static void
logical_type_beats_converted_type(LakeArena *arena)
{
	BuildElement element = {.physical = PARQUET_BYTE_ARRAY, .converted = UTF8};

	element.logical = 12;		/* JSON */
	CHECK_INT(primitive(arena, element)->logical, PARQUET_LOGICAL_JSON);
	/* but UNKNOWN beside INTERVAL is parquet-mr's slip */
	element.physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
	element.length = 12;
	element.converted = INTERVAL;
	element.logical = 11;
	CHECK_INT(primitive(arena, element)->logical, PARQUET_LOGICAL_INTERVAL);
}

static void
half_float_becomes_float(LakeArena *arena)
{
	BuildElement element = {.physical = PARQUET_FIXED_LEN_BYTE_ARRAY,
	.length = 2, .logical = 15};

	CHECK_INT(primitive(arena, element)->layout, VECTOR_F32);
	element.length = 3;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "annotated FLOAT16",
				 primitive(arena, element));
}

static void
refuses_annotations_on_wrong_types(LakeArena *arena)
{
	BuildElement element = {.physical = PARQUET_INT64, .converted = DATE};

	CHECK_THROWS(LAKE_ERROR_CORRUPT,
				 "annotated DATE, which its type INT64 does not allow",
				 primitive(arena, element));
	element.converted = UINT_32;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "annotated INTEGER",
				 primitive(arena, element));
	element.physical = PARQUET_INT32;
	element.converted = TIMESTAMP_MILLIS;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "annotated TIMESTAMP",
				 primitive(arena, element));
	element.converted = DECIMAL;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "precision 0",
				 primitive(arena, element));
	element.precision = 3;
	element.scale = 4;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "scale 4", primitive(arena, element));
}

static void
refuses_trees_that_are_none(LakeArena *arena)
{
	BuildElement elements[] = {
		GROUP("root", REQUIRED, 2),
		FIELD("a", PARQUET_INT32, REQUIRED),
		GROUP("b", REQUIRED, 1),
		FIELD("c", PARQUET_INT32, REQUIRED)
	};

	elements[2].children = INT32_MAX;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "more columns than it has",
				 build_schema(arena, elements, COUNT(elements)));
	elements[2].children = 0;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "1 elements outside of its tree",
				 build_schema(arena, elements, COUNT(elements)));
	elements[2].children = -1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "-1 children",
				 build_schema(arena, elements, COUNT(elements)));
	elements[2].children = 1;
	elements[2].physical = PARQUET_INT32;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "both a type and children",
				 build_schema(arena, elements, COUNT(elements)));
	elements[2].physical = 8;
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "unknown physical type 8",
				 build_schema(arena, elements, COUNT(elements)));
	elements[2].physical = BUILD_GROUP;
	elements[2].repetition = 3;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "unknown repetition 3",
				 build_schema(arena, elements, COUNT(elements)));
	elements[2].repetition = REQUIRED;
	elements[0].children = 9;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no valid root",
				 build_schema(arena, elements, COUNT(elements)));
}

/* one group in the other, and a leaf */
static ParquetFile *
nested_groups(LakeArena *arena, size_t depth)
{
	BuildElement *elements = lake_alloc_array(arena, depth + 1,
											  sizeof *elements);

	for (size_t i = 0; i <= depth; i++)
	{
		elements[i].name = "g";
		elements[i].physical = i == depth ? PARQUET_INT32 : BUILD_GROUP;
		elements[i].children = i == depth ? 0 : 1;
		elements[i].repetition = i == 0 ? REQUIRED : OPTIONAL;
	}
	return build_schema(arena, elements, depth + 1);
}

static void
nesting_is_limited(LakeArena *arena)
{
	ParquetFile *file = nested_groups(arena, PARQUET_MAX_NESTING + 1);

	CHECK_INT(file->leaves[0]->defined, PARQUET_MAX_NESTING + 1);
	CHECK_THROWS(LAKE_ERROR_LIMIT, "nested more than 200 levels deep",
				 nested_groups(arena, PARQUET_MAX_NESTING + 2));
	CHECK_THROWS(LAKE_ERROR_LIMIT, "nested more than 200 levels deep",
				 nested_groups(arena, 50000));
}

static void
field_ids_are_noticed_at_any_depth(LakeArena *arena)
{
	BuildElement elements[] = {
		GROUP("root", REQUIRED, 1),
		GROUP("s", REQUIRED, 1),
		FIELD("a", PARQUET_INT32, REQUIRED)
	};

	CHECK(!parquet_file_has_field_ids(build_schema(arena, elements, 3)));
	elements[2].field_id = 1;
	CHECK(parquet_file_has_field_ids(build_schema(arena, elements, 3)));
}

static const UnitTest tests[] = {
	UNIT(three_level_list_has_its_element_as_child),
	UNIT(repeated_primitive_in_list_is_the_element),
	UNIT(repeated_group_of_several_fields_is_the_element),
	UNIT(name_of_repeated_group_tells_element_from_layer),
	UNIT(repeated_group_around_repeated_field_is_the_element),
	UNIT(unannotated_repeated_field_is_a_required_list),
	UNIT(both_map_annotations_give_key_and_value),
	UNIT(map_without_values_has_one_child),
	UNIT(annotated_group_without_the_shape_is_a_struct),
	UNIT(root_has_neither_repetition_nor_type),
	UNIT(decimals_have_the_narrowest_layout),
	UNIT(converted_types_are_understood),
	UNIT(logical_type_beats_converted_type),
	UNIT(half_float_becomes_float),
	UNIT(refuses_annotations_on_wrong_types),
	UNIT(refuses_trees_that_are_none),
	UNIT(nesting_is_limited),
	UNIT(field_ids_are_noticed_at_any_depth)
};

UNIT_MAIN(tests)
