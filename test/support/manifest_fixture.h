/*
 * A table with columns of all types and specs over them, in a directory of its
 * own, and random files for manifests that a test writes there.
 */
#ifndef LAKE_MANIFEST_FIXTURE_H
#define LAKE_MANIFEST_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/json.h"
#include "iceberg/iceberg_int.h"
#include "unit.h"

/* specs of the table */
#define SPEC_NONE		0
#define SPEC_IDENTITY	1		/* of every column */
#define SPEC_TRANSFORMS	2		/* with names that Avro does not take */
#define SPEC_COUNT		3

typedef struct Lake
{
	LakeArena  *arena;
	char	   *directory;
	LakePathRules rules;
	LakeStore  *store;
	const LakeTable *table;
	uint64_t	random;
} Lake;

static inline void
lake_remove(void *arg)
{
	const Lake *lake = arg;
	char		command[256];

	snprintf(command, sizeof command, "rm -rf '%s'", lake->directory);
	if (system(command) != 0)
		abort();
}

static const char *const lake_types[] = {
	"boolean", "int", "long", "float", "double", "decimal(9,2)", "date",
	"time", "timestamp", "timestamptz", "string", "uuid", "fixed[5]",
	"binary", "decimal(38,0)", "timestamp_ns", "timestamptz_ns",
};

#define LAKE_TYPE_COUNT ((int) (sizeof lake_types / sizeof lake_types[0]))

/* source column, transform, name */
static const struct
{
	int			source;
	const char *transform;
	const char *name;
}			lake_transforms[] = {
	{3, "bucket[16]", "1st bucket"},
	{11, "truncate[4]", "gr\xc3\xb6\xc3\x9f" "e"},
	{9, "day", "a/\xf0\x9f\x98\x80"},
	{9, "hour", "ts_hour"},
	{7, "month", "dt_month"},
	{10, "year", "\\\"quoted\\\""},
	{6, "identity", "dec"},
	{6, "truncate[10]", "dec_trunc"},
	{2, "void", "gone"},
};

#define LAKE_TRANSFORM_COUNT \
	((int) (sizeof lake_transforms / sizeof lake_transforms[0]))

static inline const char *
lake_metadata_text(LakeArena *arena, int format_version)
{
	LakeBuffer	text;

	buffer_init(&text, arena);
	buffer_printf(&text, "{\"format-version\":%d,\"table-uuid\":"
				  "\"9c12d441-03fe-4693-9a96-a0705ddf69c1\",\"location\":"
				  "\"/lake/t\",\"last-sequence-number\":0,"
				  "\"last-updated-ms\":1,\"last-column-id\":%d,"
				  "\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\","
				  "\"schema-id\":0,\"fields\":[", format_version,
				  LAKE_TYPE_COUNT);
	for (int i = 0; i < LAKE_TYPE_COUNT; i++)
		buffer_printf(&text, "%s{\"id\":%d,\"name\":\"c%d\",\"required\":"
					  "false,\"type\":\"%s\"}", i == 0 ? "" : ",", i + 1,
					  i + 1, lake_types[i]);
	buffer_append_text(&text, "]}],\"default-spec-id\":0,\"partition-specs\":"
					   "[{\"spec-id\":0,\"fields\":[]},{\"spec-id\":1,"
					   "\"fields\":[");
	for (int i = 0; i < LAKE_TYPE_COUNT; i++)
		buffer_printf(&text, "%s{\"source-id\":%d,\"field-id\":%d,\"name\":"
					  "\"c%d\",\"transform\":\"identity\"}",
					  i == 0 ? "" : ",", i + 1, 1000 + i, i + 1);
	buffer_append_text(&text, "]},{\"spec-id\":2,\"fields\":[");
	for (int i = 0; i < LAKE_TRANSFORM_COUNT; i++)
		buffer_printf(&text, "%s{\"source-id\":%d,\"field-id\":%d,\"name\":"
					  "\"%s\",\"transform\":\"%s\"}", i == 0 ? "" : ",",
					  lake_transforms[i].source, 2000 + i,
					  lake_transforms[i].name, lake_transforms[i].transform);
	buffer_append_text(&text, "]}],\"last-partition-id\":2999,"
					   "\"default-sort-order-id\":0,\"sort-orders\":"
					   "[{\"order-id\":0,\"fields\":[]}],\"next-row-id\":0,"
					   "\"current-snapshot-id\":-1,\"snapshots\":[]}");
	buffer_append_byte(&text, '\0');
	return (const char *) text.data;
}

static inline char *
lake_at(const Lake *lake, const char *name)
{
	return location_join(lake->arena, lake->directory, name);
}

static inline Lake *
lake_create(LakeArena *arena, int format_version)
{
	Lake	   *lake = lake_alloc(arena, sizeof *lake);
	const char *tmp = getenv("TMPDIR");
	const char *text = lake_metadata_text(arena, format_version);

	lake->arena = arena;
	lake->random = 88172645463325252 + (uint64_t) format_version;
	lake->directory = lake_printf(arena, "%s/lake_unit_XXXXXX",
								  tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(lake->directory) == NULL)
		abort();
	lake_defer(arena, lake_remove, lake);
	path_rules_allow(arena, &lake->rules, lake->directory);
	lake->store = store_local_create(arena, &lake->rules);
	lake->store->puts = put_set_create(arena);
	lake_store_put(lake->store, lake_at(lake, "v1.metadata.json"),
				   (LakeBytes) {(const uint8_t *) text, strlen(text)});
	lake->table = iceberg_format.open(arena, lake->store,
									  lake_at(lake, "v1.metadata.json"));
	return lake;
}

/* ---- random files ---- */

static inline uint64_t
lake_random(Lake *lake, uint64_t below)
{
	lake->random ^= lake->random << 13;
	lake->random ^= lake->random >> 7;
	lake->random ^= lake->random << 17;
	return lake->random % below;
}

/* of valid UTF-8, sometimes empty */
static inline LakeBytes
lake_random_bytes(Lake *lake, size_t len)
{
	uint8_t    *bytes = lake_alloc(lake->arena, len + 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t) (1 + lake_random(lake, 126));
	return (LakeBytes) {bytes, len};
}

/* among them the ends of the type's range */
static inline LakeValue
lake_random_value(Lake *lake, const LakeType *type)
{
	static const double doubles[] = {-INFINITY, -1.5, -0.0, 0.0, 2.25, NAN};
	static const int64_t longs[] = {INT64_MIN, -1, 0, 1, 4711, INT64_MAX};
	static const int64_t ints[] = {INT32_MIN, -1, 0, 1, 4711, INT32_MAX};
	LakeValue	value = {0};
	uint64_t	pick = lake_random(lake, 6);

	value.is_null = lake_random(lake, 5) == 0;
	if (value.is_null)
		return value;
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			value.i = pick % 2 == 1;
			break;
		case LAKE_INT:
		case LAKE_DATE:
			value.i = ints[pick];
			break;
		case LAKE_FLOAT:
		case LAKE_DOUBLE:
			value.d = doubles[pick];
			break;
		case LAKE_DECIMAL:
			value.decimal = decimal_power10(type->precision) - 1;
			if (pick < 4)
				value.decimal /= (LakeInt128) decimal_power10((int) pick);
			if (pick % 2 == 1)
				value.decimal = -value.decimal;
			break;
		case LAKE_STRING:
		case LAKE_BINARY:
			value.bytes = lake_random_bytes(lake, pick);
			break;
		case LAKE_UUID:
			value.bytes = lake_random_bytes(lake, 16);
			break;
		case LAKE_FIXED:
			value.bytes = lake_random_bytes(lake, (size_t) type->length);
			break;
		default:
			value.i = longs[pick];
	}
	return value;
}

static inline LakeValue *
lake_random_partition(Lake *lake, const LakePartitionSpec *spec)
{
	LakeValue  *values = lake_alloc_array(lake->arena,
										  (size_t) spec->field_count,
										  sizeof *values);

	for (int i = 0; i < spec->field_count; i++)
	{
		values[i] = lake_random_value(lake, spec->fields[i].result_type);
		if (spec->fields[i].transform.kind == TRANSFORM_VOID)
			values[i].is_null = true;
	}
	return values;
}

/* -1 or a number */
static inline int64_t
lake_random_count(Lake *lake)
{
	return lake_random(lake, 3) == 0 ? -1 :
		(int64_t) lake_random(lake, 1000000);
}

static inline LakeBytes
lake_random_bound(Lake *lake)
{
	if (lake_random(lake, 3) == 0)
		return (LakeBytes) {NULL, 0};
	return lake_random_bytes(lake, lake_random(lake, 9));
}

static inline void
lake_random_metrics(Lake *lake, WrittenFile *file)
{
	ColumnMetrics *metrics;

	file->metric_count = (int) lake_random(lake, 8);
	metrics = lake_alloc_array(lake->arena, (size_t) file->metric_count,
							   sizeof *metrics);
	for (int i = 0; i < file->metric_count; i++)
	{
		metrics[i].field_id = 1 + i * 3;
		metrics[i].size = lake_random_count(lake);
		metrics[i].value_count = lake_random_count(lake);
		metrics[i].null_count = lake_random_count(lake);
		metrics[i].nan_count = lake_random_count(lake);
		metrics[i].lower = lake_random_bound(lake);
		metrics[i].upper = lake_random_bound(lake);
	}
	file->metrics = metrics;
}

static inline WrittenFile *
lake_random_file(Lake *lake, WrittenKind kind, const LakePartitionSpec *spec)
{
	WrittenFile *file = lake_alloc(lake->arena, sizeof *file);

	file->kind = kind;
	file->path = lake_printf(lake->arena, "%s/data/%llu.parquet",
							 lake->directory,
							 (unsigned long long) lake_random(lake,
															  UINT64_MAX));
	file->spec = spec;
	file->partition = lake_random_partition(lake, spec);
	file->record_count = (int64_t) lake_random(lake, 1000);
	file->size = (int64_t) lake_random(lake, 1000000);
	file->sort_order_id = (int32_t) lake_random(lake, 3) - 1;
	file->content_offset = -1;
	lake_random_metrics(lake, file);
	if (lake_random(lake, 2) == 0)
	{
		int64_t    *offsets = lake_alloc(lake->arena, 3 * sizeof *offsets);

		for (int i = 0; i < 3; i++)
			offsets[i] = 4 + i * 1000;
		file->split_offsets = offsets;
		file->split_count = 3;
	}
	if (kind == WRITTEN_DATA)
		return file;
	file->sort_order_id = -1;
	if (kind == WRITTEN_DELETION_VECTOR || lake_random(lake, 2) == 0)
		file->referenced_file = "/lake/t/data/referenced.parquet";
	if (kind == WRITTEN_DELETION_VECTOR)
	{
		file->content_offset = (int64_t) lake_random(lake, 1000);
		file->content_size = (int64_t) lake_random(lake, 1000);
	}
	return file;
}

/* ---- writing and reading ---- */

static inline ManifestWriter *
lake_manifest(Lake *lake, const char *name, const LakePartitionSpec *spec,
			  bool has_deletes, int64_t snapshot_id)
{
	return manifest_writer_create(lake->arena, lake->store,
								  lake_at(lake, name),
								  lake->table->format_version,
								  lake->table->schema, spec, has_deletes,
								  snapshot_id, CODEC_DEFLATE,
								  CODEC_DEFAULT_LEVEL);
}

static inline int64_t
lake_write_list(Lake *lake, const char *name, ManifestListHeader header,
				const ListedManifest *rows, size_t count)
{
	if (header.format_version == 0)
		header.format_version = lake->table->format_version;
	return manifest_list_write(lake->arena, lake->store, lake_at(lake, name),
							   &header, rows, count, CODEC_DEFLATE,
							   CODEC_DEFAULT_LEVEL);
}

static inline const ManifestFile *
lake_read_list(Lake *lake, const char *name, size_t *count)
{
	IcebergSnapshot snapshot = {{.id = 1}, lake_at(lake, name), 0, NULL};

	return manifest_list_read(lake->arena, lake->store, &snapshot.snapshot,
							  count);
}

static inline AvroReader *
lake_open_avro(Lake *lake, const char *name)
{
	return avro_field_open(lake->arena, lake->store, lake_at(lake, name),
						   "manifest");
}

static inline void
			lake_append_ids(LakeArena *arena, LakeJson *type, const char **text);

/* field ids in the order of a schema: "500 501(9? 8)", ?: optional */
static inline void
lake_append_fields(LakeArena *arena, LakeJson *record, const char **text)
{
	LakeJson   *fields = json_get(record, "fields");

	for (size_t i = 0; i < json_array_count(fields, "fields"); i++)
	{
		LakeJson   *field = json_array_at(fields, i);

		*text = lake_printf(arena, "%s%s%d", *text,
							i == 0 ? "" : " ", json_get_int32(field, "field-id"));
		lake_append_ids(arena, json_get(field, "type"), text);
	}
}

static inline void
lake_append_ids(LakeArena *arena, LakeJson *type, const char **text)
{
	if (json_kind(type) == JSON_ARRAY)
	{
		*text = lake_printf(arena, "%s?", *text);
		type = json_array_at(type, 1);
	}
	if (json_kind(type) != JSON_OBJECT)
		return;
	if (json_find(type, "fields") != NULL)
	{
		*text = lake_printf(arena, "%s(", *text);
		lake_append_fields(arena, type, text);
		*text = lake_printf(arena, "%s)", *text);
	}
	else if (json_find(type, "items") != NULL)
	{
		int32_t		id;

		*text = lake_printf(arena, "%s[", *text);
		if (json_find_int32(type, "element-id", &id))
			*text = lake_printf(arena, "%s%d", *text, id);
		else
			*text = lake_printf(arena, "%s%s", *text,
								json_get_string(type, "logicalType"));
		lake_append_ids(arena, json_get(type, "items"), text);
		*text = lake_printf(arena, "%s]", *text);
	}
}

static inline LakeJson *
lake_schema(Lake *lake, const char *name)
{
	LakeBytes	schema;

	if (!avro_reader_header(lake_open_avro(lake, name), "avro.schema",
							&schema))
		abort();
	return json_parse(lake->arena, schema, "schema");
}

static inline const char *
lake_schema_ids(Lake *lake, const char *name)
{
	const char *text = "";

	lake_append_fields(lake->arena, lake_schema(lake, name), &text);
	return text;
}

/* ---- comparing ---- */

static inline bool
lake_is_same_bytes(LakeBytes a, LakeBytes b)
{
	return (a.data == NULL) == (b.data == NULL) && a.len == b.len &&
		(a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline void
lake_check_row(const ManifestFile *a, const ManifestFile *b)
{
	CHECK_STRING(a->path, b->path);
	CHECK_INT(a->length, b->length);
	CHECK_INT(a->spec_id, b->spec_id);
	CHECK_INT(a->has_deletes, b->has_deletes);
	CHECK_INT(a->sequence_number, b->sequence_number);
	CHECK_INT(a->min_sequence_number, b->min_sequence_number);
	CHECK_INT(a->snapshot_id, b->snapshot_id);
	CHECK_INT(a->first_row_id, b->first_row_id);
	CHECK_INT(a->added_files, b->added_files);
	CHECK_INT(a->existing_files, b->existing_files);
	CHECK_INT(a->deleted_files, b->deleted_files);
	CHECK_INT(a->added_rows, b->added_rows);
	CHECK_INT(a->existing_rows, b->existing_rows);
	CHECK_INT(a->deleted_rows, b->deleted_rows);
	CHECK_INT(a->live_files, b->live_files);
	CHECK_INT(a->live_rows, b->live_rows);
	CHECK(lake_is_same_bytes(a->key_metadata, b->key_metadata));
	CHECK_INT(a->has_summaries, b->has_summaries);
	CHECK_INT(a->summary_count, b->summary_count);
	for (int i = 0; i < a->summary_count && i < b->summary_count; i++)
	{
		CHECK_INT(a->summaries[i].has_null, b->summaries[i].has_null);
		CHECK_INT(a->summaries[i].has_nan, b->summaries[i].has_nan);
		CHECK_INT(a->summaries[i].nan_is_known, b->summaries[i].nan_is_known);
		CHECK(lake_is_same_bytes(a->summaries[i].lower, b->summaries[i].lower));
		CHECK(lake_is_same_bytes(a->summaries[i].upper, b->summaries[i].upper));
	}
}

/* zeros with their signs, too */
static inline bool
lake_is_same_value(const LakeType *type, const LakeValue *a, const LakeValue *b)
{
	if (a->is_null || b->is_null)
		return a->is_null && b->is_null;
	if ((type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE) &&
		(signbit(a->d) != 0) != (signbit(b->d) != 0))
		return false;
	return lake_value_compare(type, a, b) == 0;
}

static inline void
lake_check_partition(const LakePartitionSpec *spec, const LakeValue *a,
					 const LakeValue *b)
{
	for (int i = 0; i < spec->field_count; i++)
		CHECK(lake_is_same_value(spec->fields[i].result_type, &a[i], &b[i]));
}

static inline void
lake_check_metrics(const IcebergEntry *a, const IcebergEntry *b)
{
	for (int i = 0; i < METRIC_COUNT; i++)
	{
		const FieldMetrics *x = &a->metrics[i];
		const FieldMetrics *y = &b->metrics[i];

		CHECK_INT(x->count, y->count);
		CHECK((x->fields == NULL) == (y->fields == NULL));
		for (size_t j = 0; j < x->count && j < y->count; j++)
		{
			CHECK_INT(x->fields[j].field_id, y->fields[j].field_id);
			CHECK_INT(x->fields[j].count, y->fields[j].count);
			CHECK(lake_is_same_bytes(x->fields[j].bound, y->fields[j].bound));
		}
	}
}

static inline void
lake_check_integers(const IntegerList *a, const IntegerList *b)
{
	CHECK_INT(a->count, b->count);
	CHECK((a->values == NULL) == (b->values == NULL));
	for (size_t i = 0; i < a->count && i < b->count; i++)
		CHECK_INT(a->values[i], b->values[i]);
}

/* all but status and snapshot id */
static inline void
lake_check_entry(const IcebergEntry *a, const IcebergEntry *b)
{
	CHECK_INT(a->sequence_number, b->sequence_number);
	CHECK_INT(a->file_sequence_number, b->file_sequence_number);
	CHECK_INT(a->content, b->content);
	CHECK(lake_is_same_bytes(a->path, b->path));
	CHECK(lake_is_same_bytes(a->format, b->format));
	CHECK_INT(a->record_count, b->record_count);
	CHECK_INT(a->size, b->size);
	lake_check_metrics(a, b);
	CHECK(lake_is_same_bytes(a->key_metadata, b->key_metadata));
	lake_check_integers(&a->split_offsets, &b->split_offsets);
	lake_check_integers(&a->equality_ids, &b->equality_ids);
	CHECK_INT(a->sort_order_id, b->sort_order_id);
	CHECK_INT(a->first_row_id, b->first_row_id);
	CHECK(lake_is_same_bytes(a->referenced_file, b->referenced_file));
	CHECK_INT(a->content_offset, b->content_offset);
	CHECK_INT(a->content_size, b->content_size);
}

#endif							/* LAKE_MANIFEST_FIXTURE_H */
