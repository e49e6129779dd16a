/*
 * The first metadata file of a table.
 *
 * Ids, names and the order of members are what the reference writer makes of
 * the same table; what it refuses is refused here, before a file is written.
 *
 * Iceberg spec, "Table Metadata Fields"; reference, 1.4, 3.1 and 4.2.
 */
#include "iceberg/iceberg_int.h"

#include <string.h>

#include "base/json.h"
#include "base/random.h"

#define FIRST_PARTITION_ID	1000

/* the version that types and defaults came with, which older readers lack */
#define NEW_TYPES_VERSION	3

static const char codec_key[] = "write.parquet.compression-codec";

typedef struct Creator
{
	LakeArena  *arena;
	const TableCreation *creation;
	int32_t		last_column_id;
	BytesMap	names;			/* full names of fields; values: LakeField */
	LakePartitionSpec spec;
	int			sort_count;
	const LakeTerm *sort;
} Creator;

/* ---- columns ---- */

static void
assign_ids(Creator *creator, LakeField *fields, int count, int depth)
{
	if (depth > LAKE_MAX_TYPE_DEPTH)
		lake_throw(LAKE_ERROR_LIMIT, "types are nested more than %d deep",
				   LAKE_MAX_TYPE_DEPTH);
	for (int i = 0; i < count; i++)
	{
		if (creator->last_column_id >= LAKE_MAX_SCHEMA_FIELDS)
			lake_throw(LAKE_ERROR_LIMIT, "table has more than %d fields",
					   LAKE_MAX_SCHEMA_FIELDS);
		fields[i].id = ++creator->last_column_id;
	}
	for (int i = 0; i < count; i++)
		assign_ids(creator, fields[i].type->fields,
				   fields[i].type->field_count, depth + 1);
}

static void
check_version(const Creator *creator, const LakeField *field,
			  const char *path)
{
	int			version = creator->creation->format_version;

	if (version >= NEW_TYPES_VERSION)
		return;
	switch (field->type->kind)
	{
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
		case LAKE_UNKNOWN:
		case LAKE_VARIANT:
		case LAKE_GEOMETRY:
		case LAKE_GEOGRAPHY:
			lake_throw(LAKE_ERROR_INVALID,
					   "column \"%s\" of type %s needs format version %d, not %d",
					   path, lake_type_text(creator->arena, field->type),
					   NEW_TYPES_VERSION, version);
		default:
			break;
	}
	if (field->initial_default != NULL || field->write_default != NULL)
		lake_throw(LAKE_ERROR_INVALID,
				   "the default of column \"%s\" needs format version %d, not %d",
				   path, NEW_TYPES_VERSION, version);
}

/* columns that every table has: no other could be read by these names */
static void
check_reserved(const LakeField *field)
{
	static const char *const reserved[] = {
		"_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id",
		"_last_updated_sequence_number"
	};

	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
	{
		if (strcmp(field->name, reserved[i]) == 0)
			lake_throw(LAKE_ERROR_INVALID,
					   "column name \"%s\" is reserved in lake tables",
					   field->name);
	}
}

/* full names are how other engines find columns: each must mean one */
static void
check_fields(Creator *creator, const LakeField *fields, int count,
			 const char *parent)
{
	for (int i = 0; i < count; i++)
	{
		const LakeField *field = &fields[i];
		const char *path = parent == NULL ? field->name :
			lake_printf(creator->arena, "%s.%s", parent, field->name);
		LakeBytes	key = {(const uint8_t *) path, strlen(path)};

		lake_check_interrupts();
		if (field->name[0] == '\0')
			lake_throw(LAKE_ERROR_INVALID,
					   "the name of a lake column must not be empty");
		if (bytes_map_find(&creator->names, key) != NULL)
			lake_throw(LAKE_ERROR_INVALID,
					   "the table has two columns of the name \"%s\"", path);
		bytes_map_add(&creator->names, key, (void *) (uintptr_t) field);
		check_version(creator, field, path);
		check_fields(creator, field->type->fields, field->type->field_count,
					 path);
	}
}

static void
prepare_schema(Creator *creator)
{
	LakeSchema *schema = creator->creation->schema;

	if (schema->field_count == 0)
		lake_throw(LAKE_ERROR_INVALID,
				   "a lake table must have a column at least");
	for (int i = 0; i < schema->field_count; i++)
		check_reserved(&schema->fields[i]);
	schema->id = 0;
	assign_ids(creator, schema->fields, schema->field_count, 1);
	bytes_map_init(&creator->names, creator->arena);
	check_fields(creator, schema->fields, schema->field_count, NULL);
}

/* ---- partition fields ---- */

static const char *
default_name(LakeArena *arena, const LakeTerm *term)
{
	static const char *const suffixes[] = {
		[TRANSFORM_IDENTITY] = "",
		[TRANSFORM_BUCKET] = "_bucket",
		[TRANSFORM_TRUNCATE] = "_trunc",
		[TRANSFORM_YEAR] = "_year",
		[TRANSFORM_MONTH] = "_month",
		[TRANSFORM_DAY] = "_day",
		[TRANSFORM_HOUR] = "_hour"
	};

	return lake_printf(arena, "%s%s", term->path,
					   suffixes[term->transform.kind]);
}

static bool
is_time(TransformKind kind)
{
	return kind == TRANSFORM_YEAR || kind == TRANSFORM_MONTH ||
		kind == TRANSFORM_DAY || kind == TRANSFORM_HOUR;
}

/* would one of the two say nothing that the other does not? */
static bool
is_redundant(const PartitionField *a, const PartitionField *b)
{
	if (a->source_id != b->source_id)
		return false;
	return strcmp(a->transform.text, b->transform.text) == 0 ||
		(is_time(a->transform.kind) && is_time(b->transform.kind));
}

static void
check_partition_field(const Creator *creator, int count,
					  const PartitionField *field, const LakeTerm *term)
{
	LakeBytes	key = {(const uint8_t *) field->name, strlen(field->name)};
	const LakeField *column = bytes_map_find(&creator->names, key);

	for (int i = 0; i < count; i++)
	{
		const PartitionField *other = &creator->spec.fields[i];

		if (is_redundant(field, other))
			lake_throw(LAKE_ERROR_INVALID,
					   "partition fields \"%s\" and \"%s\" of column \"%s\" are redundant",
					   other->transform.text, field->transform.text,
					   term->path);
		if (strcmp(field->name, other->name) == 0)
			lake_throw(LAKE_ERROR_INVALID,
					   "two partition fields have the name \"%s\"",
					   field->name);
	}
	if (column != NULL && (column->id != field->source_id ||
						   field->transform.kind != TRANSFORM_IDENTITY))
		lake_throw(LAKE_ERROR_INVALID,
				   "partition field \"%s\" has the name of a column",
				   field->name);
}

static void
prepare_spec(Creator *creator)
{
	const TableCreation *creation = creator->creation;
	const LakeTerm *terms;
	int			count;

	if (creation->partition_by == NULL)
		return;
	terms = lake_terms_parse(creator->arena, creation->schema,
							 "partition_by", creation->partition_by, false,
							 &count);
	creator->spec.fields = lake_alloc_array(creator->arena, (size_t) count,
											sizeof(PartitionField));
	for (int i = 0; i < count; i++)
	{
		PartitionField *field = &creator->spec.fields[i];

		field->source_id = terms[i].source->id;
		field->field_id = FIRST_PARTITION_ID + i;
		field->name = default_name(creator->arena, &terms[i]);
		field->transform = terms[i].transform;
		check_partition_field(creator, i, field, &terms[i]);
	}
	creator->spec.field_count = count;
}

/* ---- the text ---- */

static void
append_spec_member(LakeBuffer *out, const Creator *creator)
{
	buffer_append_text(out, "\"default-spec-id\":0,"
					   "\"partition-specs\":[{\"spec-id\":0,\"fields\":");
	partition_spec_to_json(out, &creator->spec);
	buffer_printf(out, "}],\"last-partition-id\":%d,",
				  FIRST_PARTITION_ID + creator->spec.field_count - 1);
}

/* order 0 is reserved for tables without one */
static void
append_sort_order(LakeBuffer *out, const Creator *creator)
{
	int			id = creator->sort_count == 0 ? 0 : 1;

	buffer_printf(out, "\"default-sort-order-id\":%d,"
				  "\"sort-orders\":[{\"order-id\":%d,\"fields\":[", id, id);
	for (int i = 0; i < creator->sort_count; i++)
	{
		const LakeTerm *term = &creator->sort[i];

		buffer_append_text(out, i == 0 ? "{\"transform\":" :
						   ",{\"transform\":");
		json_append_string(out, term->transform.text);
		buffer_printf(out, ",\"source-id\":%d,\"direction\":\"%s\","
					  "\"null-order\":\"%s\"}", (int) term->source->id,
					  term->descending ? "desc" : "asc",
					  term->nulls_first ? "nulls-first" : "nulls-last");
	}
	buffer_append_text(out, "]}],");
}

/* the last of pairs with that key; NULL: there is none */
static const char *
find_property(const TableCreation *creation, const char *key)
{
	for (int i = creation->property_count - 1; i >= 0; i--)
	{
		if (strcmp(creation->properties[2 * i], key) == 0)
			return creation->properties[2 * i + 1];
	}
	return NULL;
}

static void
append_properties(LakeBuffer *out, const TableCreation *creation)
{
	const char *separator = "";

	buffer_append_text(out, "\"properties\":{");
	/* what readers take for granted when nothing is said is gzip */
	if (find_property(creation, codec_key) == NULL)
	{
		buffer_printf(out, "\"%s\":\"zstd\"", codec_key);
		separator = ",";
	}
	for (int i = 0; i < creation->property_count; i++)
	{
		metadata_check_property(creation->properties[2 * i]);
		buffer_append_text(out, separator);
		separator = ",";
		json_append_string(out, creation->properties[2 * i]);
		buffer_append_byte(out, ':');
		json_append_string(out, creation->properties[2 * i + 1]);
	}
	buffer_append_text(out, "},");
}

static void
append_schema(LakeBuffer *out, const Creator *creator)
{
	const LakeSchema *schema = creator->creation->schema;

	buffer_printf(out, "\"last-column-id\":%d,",
				  (int) creator->last_column_id);
	if (creator->creation->format_version == 1)
	{
		buffer_append_text(out, "\"schema\":");
		lake_schema_to_json(out, schema);
		buffer_append_byte(out, ',');
	}
	buffer_append_text(out, "\"current-schema-id\":0,\"schemas\":[");
	lake_schema_to_json(out, schema);
	buffer_append_text(out, "],");
	if (creator->creation->format_version == 1)
	{
		buffer_append_text(out, "\"partition-spec\":");
		partition_spec_to_json(out, &creator->spec);
		buffer_append_byte(out, ',');
	}
}

/* members that stand for "nothing" are written: strict readers want them */
static LakeBytes
make_text(const Creator *creator)
{
	const TableCreation *creation = creator->creation;
	int			version = creation->format_version;
	char		uuid[37];
	LakeBuffer	out;
	LakeBytes	text;

	random_uuid(uuid);
	buffer_init(&out, creator->arena);
	buffer_printf(&out, "{\"format-version\":%d,\"table-uuid\":\"%s\","
				  "\"location\":", version, uuid);
	json_append_string(&out, creation->location);
	buffer_append_byte(&out, ',');
	if (version >= 2)
		buffer_append_text(&out, "\"last-sequence-number\":0,");
	buffer_printf(&out, "\"last-updated-ms\":%lld,",
				  (long long) iceberg_now_ms());
	append_schema(&out, creator);
	append_spec_member(&out, creator);
	append_sort_order(&out, creator);
	append_properties(&out, creation);
	buffer_append_text(&out, version < 3 ? "\"current-snapshot-id\":-1," :
					   "\"current-snapshot-id\":null,\"next-row-id\":0,");
	buffer_append_text(&out, "\"refs\":{},\"snapshots\":[],"
					   "\"statistics\":[],\"partition-statistics\":[],"
					   "\"snapshot-log\":[],\"metadata-log\":[]}");
	text.data = out.data;
	text.len = out.len;
	return text;
}

/* write.metadata.path, or its default; without slashes at its end */
static const char *
directory(LakeArena *arena, const TableCreation *creation)
{
	const char *path = find_property(creation, "write.metadata.path");
	size_t		len;

	if (path == NULL)
		return location_join(arena, creation->location, "metadata");
	for (len = strlen(path); len > 1 && path[len - 1] == '/';)
		len--;
	return lake_strndup(arena, path, len);
}

const char *
iceberg_create(LakeArena *arena, LakeStore *store,
			   const TableCreation *creation)
{
	LakeArena  *scratch = lake_arena_create(arena, "lake table creation");
	Creator		creator = {.arena = scratch, .creation = creation};
	const char *location;

	if (creation->format_version < 1 || creation->format_version > 3)
		lake_throw(LAKE_ERROR_INVALID,
				   "format version %d does not exist, 1 to 3 do",
				   creation->format_version);
	prepare_schema(&creator);
	prepare_spec(&creator);
	if (creation->sort_by != NULL)
		creator.sort = lake_terms_parse(scratch, creation->schema, "sort_by",
										creation->sort_by, true,
										&creator.sort_count);
	location = metadata_put(arena, store, directory(scratch, creation), NULL,
							creation->hadoop_names, make_text(&creator));
	lake_arena_destroy(scratch);
	return location;
}
