/*
 * The partition spec of a manifest, and where its tuples have the spec's
 * fields.
 *
 * The id comes from the manifest list and the fields from the table metadata;
 * the header steps in where those are silent, as old writers left them.
 *
 * Iceberg spec, "Manifests", "Partition Specs".
 */
#include "iceberg/iceberg_int.h"

#include "base/json.h"

#define DATA_FILE_ID 2
#define PARTITION_ID 102

static const int32_t tuple_path[] = {DATA_FILE_ID, PARTITION_ID};

/* the header's "partition-spec", a JSON array of fields; NULL if absent */
static LakeJson *
header_spec_fields(LakeArena *arena, const AvroReader *avro)
{
	LakeBytes	text;

	if (!avro_reader_header(avro, "partition-spec", &text) || text.len == 0)
		return NULL;
	return json_parse(arena, text, "partition-spec");
}

int32_t
manifest_spec_header_id(const AvroReader *avro)
{
	LakeBytes	text;
	int64_t		id;

	/* writers of v1 left it out when there was one spec only */
	if (!avro_reader_header(avro, "partition-spec-id", &text))
		return 0;
	if (!json_scan_int64(text, &id) || id < INT32_MIN || id > INT32_MAX)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "\"partition-spec-id\" in the header is no integer");
	return (int32_t) id;
}

bool
manifest_spec_says_deletes(const AvroReader *avro)
{
	static const char deletes[] = "deletes";
	LakeBytes	text;

	return avro_reader_header(avro, "content", &text) &&
		text.len == sizeof deletes - 1 &&
		memcmp(text.data, deletes, text.len) == 0;
}

void
manifest_spec_find(ManifestSpec *spec, LakeArena *arena,
				   LakeArena *spec_arena, const LakeTable *table,
				   const ManifestFile *manifest, const AvroReader *avro)
{
	int32_t		id = manifest->spec_id;
	LakePartitionSpec *written;

	spec->header_fields = header_spec_fields(arena, avro);
	if (id == -1)
		id = manifest_spec_header_id(avro);
	spec->spec = iceberg_find_spec(table, id);
	if (spec->spec != NULL)
		return;
	if (spec->header_fields == NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "partition spec %d is neither in the table metadata nor "
				   "in the manifest's header", id);
	written = lake_alloc(spec_arena, sizeof *written);
	partition_spec_parse(spec_arena, spec->header_fields, id, table, written);
	spec->spec = written;
}

/*
 * Where the tuple has a field that cannot be found by id, as in v1: its
 * position in the spec that the manifest was written with.
 */
static int
header_position(LakeJson *header_fields, const PartitionField *field,
				int position)
{
	size_t		count;

	if (header_fields == NULL)
		return position;
	count = json_array_length(header_fields, "partition-spec");
	for (size_t i = 0; i < count; i++)
	{
		LakeJson   *json = json_array_at(header_fields, i);
		int32_t		source_id;

		if (json_find_int32(json, "source-id", &source_id) &&
			source_id == field->source_id &&
			strcmp(json_get_string(json, "transform"),
				   field->transform.text) == 0)
			return (int) i;
	}
	return position;
}

/* where the tuple has a field; -1 if nowhere */
static int
tuple_position(const ManifestSpec *spec, AvroReader *avro, int i)
{
	const PartitionField *field = &spec->spec->fields[i];
	int			written = avro_reader_record_fields(avro, tuple_path, 2);
	bool		has_ids = false;
	int			position;

	for (position = 0; position < written; position++)
	{
		int32_t		id = avro_reader_record_field_id(avro, tuple_path, 2,
													 position);

		if (id == field->field_id)
			return position;
		has_ids |= id != -1;
	}
	if (has_ids)
		return -1;
	position = header_position(spec->header_fields, field, i);
	return position < written ? position : -1;
}

void
manifest_spec_project(ManifestSpec *spec, LakeArena *arena, AvroReader *avro)
{
	int			count = spec->spec->field_count;

	spec->slots = lake_alloc_array(arena, (size_t) count, sizeof(int));
	for (int i = 0; i < count; i++)
	{
		const PartitionField *field = &spec->spec->fields[i];
		int			position = tuple_position(spec, avro, i);

		lake_check_interrupts();
		spec->slots[i] = -1;
		if (position >= 0)
			spec->slots[i] = avro_reader_project_position(avro, tuple_path, 2,
														  position);
		/* taking it as NULL would prune files that have it */
		else if (field->result_type != NULL &&
				 field->transform.kind != TRANSFORM_VOID)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "partition tuples lack the field \"%s\" of partition "
					   "spec %d", field->name, spec->spec->id);
	}
}

const AvroSlot *
manifest_spec_slot(const ManifestSpec *spec, const AvroSlot *slots, int field)
{
	const AvroSlot *slot;

	if (spec->slots[field] < 0 ||
		spec->spec->fields[field].transform.kind == TRANSFORM_VOID)
		return NULL;
	slot = &slots[spec->slots[field]];
	return slot->kind == AVRO_NULL ? NULL : slot;
}
