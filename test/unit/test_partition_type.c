/*
 * One partition type for the specs that a table has had.
 */
#include "iceberg_fixture.h"
#include "unit.h"

/* a table of columns a (1) and b (2), and c (3) that was dropped */
static const LakePartitionSpec *
type_of(LakeArena *arena, const char *specs)
{
	static const char metadata[] =
		"{\"format-version\":2,\"table-uuid\":\"9c12d441-03fe-4693-9a96-"
	"a0705ddf69c1\",\"location\":\"/lake/t\",\"last-sequence-number\":0,"
	"\"last-updated-ms\":1,\"last-column-id\":3,\"current-schema-id\":1,"
	"\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
	"{\"id\":3,\"name\":\"c\",\"required\":false,\"type\":\"long\"}]},"
	"{\"type\":\"struct\",\"schema-id\":1,\"fields\":["
	"{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"long\"},"
	"{\"id\":2,\"name\":\"b\",\"required\":false,\"type\":\"timestamp\"}]}],"
	"\"default-spec-id\":0,\"partition-specs\":[%s],"
	"\"last-partition-id\":1002,\"default-sort-order-id\":0,"
	"\"sort-orders\":[],\"snapshots\":[]}";
	MemoryStore *memory = memory_store_create(arena);

	memory_store_put_text(memory, FIXTURE_METADATA,
						  lake_printf(arena, metadata, specs));
	return iceberg_partition_type(arena,
								  iceberg_format.open(arena, &memory->store,
													  FIXTURE_METADATA));
}

#define SPEC(id, fields) "{\"spec-id\":" #id ",\"fields\":[" fields "]}"
#define FIELD(name, transform, source, id) \
	"{\"name\":\"" name "\",\"transform\":\"" transform "\"," \
	"\"source-id\":" #source ",\"field-id\":" #id "}"

static void
an_unpartitioned_table_has_no_fields(LakeArena *arena)
{
	CHECK_INT(type_of(arena, SPEC(0, ""))->field_count, 0);
}

static void
fields_of_all_specs_come_by_id(LakeArena *arena)
{
	const LakePartitionSpec *type =
		type_of(arena, SPEC(0, FIELD("day", "day", 2, 1001)) ","
			SPEC(1, FIELD("a", "identity", 1, 1000)) ","
			SPEC(2, ""));

	CHECK_INT(type->id, -1);
	CHECK_INT(type->field_count, 2);
	CHECK_STRING(type->fields[0].name, "a");
	CHECK_INT(type->fields[0].result_type->kind, LAKE_LONG);
	CHECK_STRING(type->fields[1].name, "day");
	CHECK_INT(type->fields[1].result_type->kind, LAKE_DATE);
}

static void
the_newest_name_counts_however_specs_are_listed(LakeArena *arena)
{
	const LakePartitionSpec *type =
		type_of(arena, SPEC(7, FIELD("new", "identity", 1, 1000)) ","
			SPEC(0, FIELD("old", "identity", 1, 1000)));

	CHECK_INT(type->field_count, 1);
	CHECK_STRING(type->fields[0].name, "new");
}

static void
fields_of_dropped_columns_are_left_out(LakeArena *arena)
{
	const LakePartitionSpec *type =
		type_of(arena, SPEC(0, FIELD("c", "identity", 3, 1000) ","
						FIELD("a", "identity", 1, 1001)));

	CHECK_INT(type->field_count, 1);
	CHECK_STRING(type->fields[0].name, "a");
}

static void
a_voided_field_keeps_the_type_of_its_values(LakeArena *arena)
{
	const LakePartitionSpec *type =
		type_of(arena, SPEC(0, FIELD("hour", "hour", 2, 1000)) ","
			SPEC(1, FIELD("hour_1000", "void", 2, 1000)));

	CHECK_INT(type->field_count, 1);
	CHECK_STRING(type->fields[0].name, "hour_1000");
	CHECK_INT(type->fields[0].transform.kind, TRANSFORM_HOUR);
	CHECK_INT(type->fields[0].result_type->kind, LAKE_INT);
}

static void
equal_names_are_told_apart_by_the_id(LakeArena *arena)
{
	const LakePartitionSpec *type =
		type_of(arena, SPEC(0, FIELD("p", "bucket[4]", 1, 1000)) ","
			SPEC(1, FIELD("p", "bucket[8]", 1, 1001)));

	CHECK_INT(type->field_count, 2);
	CHECK_STRING(type->fields[0].name, "p_1000");
	CHECK_STRING(type->fields[1].name, "p");
}

static void
one_id_for_different_fields_is_refused(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "partition field 1000",
				 type_of(arena, SPEC(0, FIELD("p", "bucket[4]", 1, 1000)) ","
						 SPEC(1, FIELD("p", "bucket[8]", 1, 1000))));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "partition field 1000",
				 type_of(arena, SPEC(0, FIELD("a", "identity", 1, 1000)) ","
						 SPEC(1, FIELD("b", "identity", 2, 1000))));
}

static void
unknown_transforms_are_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "zorder[2]",
				 type_of(arena, SPEC(0, FIELD("z", "zorder[2]", 1, 1000))));
}

static const UnitTest tests[] = {
	UNIT(an_unpartitioned_table_has_no_fields),
	UNIT(fields_of_all_specs_come_by_id),
	UNIT(the_newest_name_counts_however_specs_are_listed),
	UNIT(fields_of_dropped_columns_are_left_out),
	UNIT(a_voided_field_keeps_the_type_of_its_values),
	UNIT(equal_names_are_told_apart_by_the_id),
	UNIT(one_id_for_different_fields_is_refused),
	UNIT(unknown_transforms_are_refused_by_name),
};

UNIT_MAIN(tests)
