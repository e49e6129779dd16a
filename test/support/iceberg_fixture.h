/*
 * Manifest lists and manifests that a test writes into a MemoryStore, every
 * field of an entry being free: also what no writer would write.
 *
 * The table has the columns a int (1), s string (2), d double (3), p int (4)
 * and the specs 0 (none), 1 (identity of p), 2 (void of p), 3 (bucket[4] of a),
 * 4 (identity of q, a dropped int that is always FIXTURE_Q, identity of p).
 */
#ifndef LAKE_ICEBERG_FIXTURE_H
#define LAKE_ICEBERG_FIXTURE_H

#include "base/bytes.h"
#include "iceberg/iceberg_int.h"
#include "memory_store.h"

/* entries override what FIXTURE_DATA sets */
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

/* in a field of FixtureEntry and FixtureManifest: NULL */
#define NONE INT64_MIN

#define FIXTURE_Q 15

#define FIXTURE_METADATA "/lake/t/metadata/v1.metadata.json"

typedef struct FixtureEntry
{
	int			status;			/* 0 EXISTING, 1 ADDED, 2 DELETED */
	int64_t		snapshot_id;
	int64_t		sequence_number;
	int64_t		file_sequence_number;
	int			content;
	const char *path;			/* may be NULL */
	const char *format;			/* NULL: "PARQUET" */
	int64_t		partition;		/* of specs 1 to 4 */
	int64_t		record_count;
	int64_t		size;
	int32_t		equality_id;	/* 0: none */
	int64_t		first_row_id;
	const char *referenced;
	int64_t		content_offset;
	int64_t		content_size;
	LakeBytes	key_metadata;	/* data NULL: none */
	int64_t		split_offset;	/* 0: none */
	int64_t		sort_order_id;
	/* statistics of one column; column 0: none at all */
	int32_t		column;
	int64_t		column_size;
	int64_t		value_count;
	int64_t		null_count;
	int64_t		nan_count;
	LakeBytes	lower;			/* data NULL: none */
	LakeBytes	upper;
} FixtureEntry;

/* an ADDED data file of 10 rows, inheriting everything */
#define FIXTURE_DATA(name) \
	.status = 1, .snapshot_id = NONE, .sequence_number = NONE, \
	.file_sequence_number = NONE, .path = (name), .partition = NONE, \
	.record_count = 10, .size = 1000, .first_row_id = NONE, \
	.content_offset = NONE, .content_size = NONE, .sort_order_id = NONE, \
	.column_size = NONE, .value_count = NONE, .null_count = NONE, .nan_count = NONE

typedef struct FixtureManifest
{
	int			spec_id;
	int			content;
	bool		says_deletes;	/* the manifest's header, for spec 0 */
	int64_t		sequence_number;
	int64_t		live_files;		/* NONE: the list does not say */
	int64_t		live_rows;
	int64_t		deleted_files;	/* when live_files is said */
	int64_t		first_row_id;
	/* summary of the only partition field, or of p */
	bool		has_summary;
	bool		contains_null;
	int			contains_nan;	/* 0: the list does not say, 1 no, 2 yes */
	LakeBytes	lower;
	LakeBytes	upper;
	int			entry_count;
	const FixtureEntry *entries;
} FixtureManifest;

/* ---- Avro's binary encoding ---- */

static inline void
avro_put_long(LakeBuffer *out, int64_t value)
{
	uint64_t	zigzag = (uint64_t) value << 1 ^ (value < 0 ? UINT64_MAX : 0);

	for (; zigzag >= 128; zigzag >>= 7)
		buffer_append_byte(out, (uint8_t) (zigzag | 128));
	buffer_append_byte(out, (uint8_t) zigzag);
}

static inline void
avro_put_bytes(LakeBuffer *out, LakeBytes bytes)
{
	avro_put_long(out, (int64_t) bytes.len);
	buffer_append(out, bytes.data, bytes.len);
}

static inline void
avro_put_text(LakeBuffer *out, const char *text)
{
	avro_put_bytes(out, (LakeBytes) {(const uint8_t *) text, strlen(text)});
}

/* unions ["null", T] */
static inline void
avro_put_optional_long(LakeBuffer *out, int64_t value)
{
	avro_put_long(out, value != NONE);
	if (value != NONE)
		avro_put_long(out, value);
}

static inline void
avro_put_optional_bytes(LakeBuffer *out, LakeBytes bytes)
{
	avro_put_long(out, bytes.data != NULL);
	if (bytes.data != NULL)
		avro_put_bytes(out, bytes);
}

static inline void
avro_put_optional_text(LakeBuffer *out, const char *text)
{
	avro_put_long(out, text != NULL);
	if (text != NULL)
		avro_put_text(out, text);
}

/* a file of one uncompressed block; keys: pairs of header key and value */
static inline LakeBytes
avro_file(LakeArena *arena, const char *schema, const char *const *keys,
		  int key_count, int64_t record_count, const LakeBuffer *records)
{
	static const char sync[] = "0123456789abcdef";
	LakeBuffer	out;

	buffer_init(&out, arena);
	buffer_append(&out, "Obj\1", 4);
	avro_put_long(&out, key_count + 2);
	avro_put_text(&out, "avro.schema");
	avro_put_text(&out, schema);
	avro_put_text(&out, "avro.codec");
	avro_put_text(&out, "null");
	for (int i = 0; i < 2 * key_count; i++)
		avro_put_text(&out, keys[i]);
	avro_put_long(&out, 0);
	buffer_append(&out, sync, 16);
	if (record_count > 0)
	{
		avro_put_long(&out, record_count);
		avro_put_long(&out, (int64_t) records->len);
		buffer_append(&out, records->data, records->len);
		buffer_append(&out, sync, 16);
	}
	return (LakeBytes) {out.data, out.len};
}

/* ---- manifests ---- */

#define FIXTURE_OPTIONAL(name, type, id) \
	"{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"field-id\":" id "},"
#define FIXTURE_MAP(name, id, key, value, type) \
	FIXTURE_OPTIONAL(name, "{\"type\":\"array\",\"items\":{\"type\":" \
		"\"record\",\"name\":\"k" key "_v" value "\",\"fields\":[" \
		"{\"name\":\"key\",\"type\":\"int\",\"field-id\":" key "}," \
		"{\"name\":\"value\",\"type\":\"" type "\",\"field-id\":" value "}" \
		"]}}", id)

static const char fixture_entry_schema[] =
"{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["
"{\"name\":\"status\",\"type\":\"int\",\"field-id\":0},"
FIXTURE_OPTIONAL("snapshot_id", "\"long\"", "1")
FIXTURE_OPTIONAL("sequence_number", "\"long\"", "3")
FIXTURE_OPTIONAL("file_sequence_number", "\"long\"", "4")
"{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\","
"\"name\":\"r2\",\"fields\":["
"{\"name\":\"content\",\"type\":\"int\",\"field-id\":134},"
FIXTURE_OPTIONAL("file_path", "\"string\"", "100")
"{\"name\":\"file_format\",\"type\":\"string\",\"field-id\":101},"
"{\"name\":\"partition\",\"field-id\":102,\"type\":{\"type\":\"record\","
"\"name\":\"r102\",\"fields\":[%s]}},"
FIXTURE_OPTIONAL("record_count", "\"long\"", "103")
FIXTURE_OPTIONAL("file_size_in_bytes", "\"long\"", "104")
FIXTURE_MAP("column_sizes", "108", "117", "118", "long")
FIXTURE_MAP("value_counts", "109", "119", "120", "long")
FIXTURE_MAP("null_value_counts", "110", "121", "122", "long")
FIXTURE_MAP("nan_value_counts", "137", "138", "139", "long")
FIXTURE_MAP("lower_bounds", "125", "126", "127", "bytes")
FIXTURE_MAP("upper_bounds", "128", "129", "130", "bytes")
FIXTURE_OPTIONAL("key_metadata", "\"bytes\"", "131")
FIXTURE_OPTIONAL("split_offsets",
				 "{\"type\":\"array\",\"items\":\"long\",\"element-id\":133}",
				 "132")
FIXTURE_OPTIONAL("equality_ids",
				 "{\"type\":\"array\",\"items\":\"int\",\"element-id\":136}",
				 "135")
FIXTURE_OPTIONAL("sort_order_id", "\"int\"", "140")
FIXTURE_OPTIONAL("first_row_id", "\"long\"", "142")
FIXTURE_OPTIONAL("referenced_data_file", "\"string\"", "143")
FIXTURE_OPTIONAL("content_offset", "\"long\"", "144")
"{\"name\":\"content_size_in_bytes\",\"type\":[\"null\",\"long\"],"
"\"field-id\":145}]}}]}";

static inline const char *
fixture_partition_field(LakeArena *arena, int id)
{
	if (id == -1)
		return "{\"name\":\"p\",\"type\":[\"null\",\"int\"]}";
	return lake_printf(arena, "{\"name\":\"p\",\"type\":"
					   "[\"null\",\"int\"],\"field-id\":%d}", id);
}

static inline void
fixture_put_count(LakeBuffer *out, int32_t column, int64_t count)
{
	avro_put_long(out, count != NONE);
	if (count == NONE)
		return;
	avro_put_long(out, 1);
	avro_put_long(out, column);
	avro_put_long(out, count);
	avro_put_long(out, 0);
}

static inline void
fixture_put_bound(LakeBuffer *out, int32_t column, LakeBytes bound)
{
	avro_put_long(out, bound.data != NULL);
	if (bound.data == NULL)
		return;
	avro_put_long(out, 1);
	avro_put_long(out, column);
	avro_put_bytes(out, bound);
	avro_put_long(out, 0);
}

/* an optional list of one integer; 0: no list */
static inline void
fixture_put_list_of(LakeBuffer *out, int64_t value)
{
	avro_put_long(out, value != 0);
	if (value == 0)
		return;
	avro_put_long(out, 1);
	avro_put_long(out, value);
	avro_put_long(out, 0);
}

static inline void
fixture_put_entry(LakeBuffer *out, const FixtureEntry *entry, int spec_id)
{
	avro_put_long(out, entry->status);
	avro_put_optional_long(out, entry->snapshot_id);
	avro_put_optional_long(out, entry->sequence_number);
	avro_put_optional_long(out, entry->file_sequence_number);
	avro_put_long(out, entry->content);
	avro_put_optional_text(out, entry->path);
	avro_put_text(out, entry->format == NULL ? "PARQUET" : entry->format);
	if (spec_id == 4)
		avro_put_optional_long(out, FIXTURE_Q);
	if (spec_id != 0)
		avro_put_optional_long(out, entry->partition);
	avro_put_optional_long(out, entry->record_count);
	avro_put_optional_long(out, entry->size);
	fixture_put_count(out, entry->column, entry->column_size);
	fixture_put_count(out, entry->column, entry->value_count);
	fixture_put_count(out, entry->column, entry->null_count);
	fixture_put_count(out, entry->column, entry->nan_count);
	fixture_put_bound(out, entry->column, entry->lower);
	fixture_put_bound(out, entry->column, entry->upper);
	avro_put_optional_bytes(out, entry->key_metadata);
	fixture_put_list_of(out, entry->split_offset);
	fixture_put_list_of(out, entry->equality_id);
	avro_put_optional_long(out, entry->sort_order_id);
	avro_put_optional_long(out, entry->first_row_id);
	avro_put_optional_text(out, entry->referenced);
	avro_put_optional_long(out, entry->content_offset);
	avro_put_optional_long(out, entry->content_size);
}

/*
 * The tuple of specs other than 0 has a field of that id, -1 being without id;
 * in spec 4 it comes after another one.
 */
static inline LakeBytes
fixture_manifest(LakeArena *arena, const FixtureManifest *manifest,
				 int partition_field_id)
{
	static const char *const keys[] = {"partition-spec",
		"[{\"name\":\"p\",\"transform\":\"identity\",\"source-id\":4,"
	"\"field-id\":1000}]", "partition-spec-id", "1"};
	static const char *const deletes[] = {"content", "deletes"};
	const char *field = manifest->spec_id == 0 ? "" :
		fixture_partition_field(arena, partition_field_id);
	LakeBuffer	records;

	if (manifest->spec_id == 4)
		field = lake_printf(arena, "{\"name\":\"q\",\"type\":[\"null\",\"int\"],"
							"\"field-id\":1002},%s", field);
	buffer_init(&records, arena);
	for (int i = 0; i < manifest->entry_count; i++)
		fixture_put_entry(&records, &manifest->entries[i], manifest->spec_id);
	return avro_file(arena, lake_printf(arena, fixture_entry_schema, field),
					 manifest->says_deletes ? deletes : keys,
					 manifest->says_deletes ? 1 :
					 manifest->spec_id == 1 ? 2 : 0,
					 manifest->entry_count, &records);
}

/* ---- manifest lists ---- */

static const char fixture_list_schema[] =
"{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["
"{\"name\":\"manifest_path\",\"type\":\"string\",\"field-id\":500},"
"{\"name\":\"manifest_length\",\"type\":\"long\",\"field-id\":501},"
"{\"name\":\"partition_spec_id\",\"type\":\"int\",\"field-id\":502},"
"{\"name\":\"content\",\"type\":\"int\",\"field-id\":517},"
"{\"name\":\"sequence_number\",\"type\":\"long\",\"field-id\":515},"
"{\"name\":\"added_snapshot_id\",\"type\":\"long\",\"field-id\":503},"
FIXTURE_OPTIONAL("added_files_count", "\"int\"", "504")
FIXTURE_OPTIONAL("existing_files_count", "\"int\"", "505")
FIXTURE_OPTIONAL("deleted_files_count", "\"int\"", "506")
FIXTURE_OPTIONAL("added_rows_count", "\"long\"", "512")
FIXTURE_OPTIONAL("existing_rows_count", "\"long\"", "513")
FIXTURE_OPTIONAL("partitions",
				 "{\"type\":\"array\",\"element-id\":508,\"items\":{"
				 "\"type\":\"record\",\"name\":\"r508\",\"fields\":["
				 "{\"name\":\"contains_null\",\"type\":\"boolean\","
				 "\"field-id\":509},"
				 FIXTURE_OPTIONAL("contains_nan", "\"boolean\"", "518")
				 FIXTURE_OPTIONAL("lower_bound", "\"bytes\"", "510")
				 "{\"name\":\"upper_bound\",\"type\":[\"null\",\"bytes\"],"
				 "\"field-id\":511}]}}", "507")
"{\"name\":\"first_row_id\",\"type\":[\"null\",\"long\"],"
"\"field-id\":520}]}";

static inline void
fixture_put_summary(LakeBuffer *out, bool contains_null, int contains_nan,
					LakeBytes lower, LakeBytes upper)
{
	buffer_append_byte(out, contains_null);
	avro_put_long(out, contains_nan != 0);
	if (contains_nan != 0)
		buffer_append_byte(out, contains_nan == 2);
	avro_put_optional_bytes(out, lower);
	avro_put_optional_bytes(out, upper);
}

static inline void
fixture_put_list_entry(LakeBuffer *out, const FixtureManifest *manifest,
					   const char *path)
{
	avro_put_text(out, path);
	avro_put_long(out, 4711);
	avro_put_long(out, manifest->spec_id);
	avro_put_long(out, manifest->content);
	avro_put_long(out, manifest->sequence_number);
	avro_put_long(out, 77);
	avro_put_optional_long(out, manifest->live_files);
	avro_put_optional_long(out, manifest->live_files == NONE ? NONE : 0);
	avro_put_optional_long(out, manifest->live_files == NONE ? NONE :
						   manifest->deleted_files);
	avro_put_optional_long(out, manifest->live_rows);
	avro_put_optional_long(out, manifest->live_rows == NONE ? NONE : 0);
	avro_put_long(out, manifest->has_summary);
	if (manifest->has_summary)
	{
		static const int32_t q = FIXTURE_Q;
		LakeBytes	bound = {(const uint8_t *) &q, sizeof q};

		avro_put_long(out, manifest->spec_id == 4 ? 2 : 1);
		if (manifest->spec_id == 4)
			fixture_put_summary(out, false, 0, bound, bound);
		fixture_put_summary(out, manifest->contains_null,
							manifest->contains_nan, manifest->lower,
							manifest->upper);
		avro_put_long(out, 0);
	}
	avro_put_optional_long(out, manifest->first_row_id);
}

/*
 * Puts manifests as /lake/t/metadata/m<i>.avro and their list as
 * /lake/t/metadata/list.avro.
 */
static inline void
fixture_put_list(MemoryStore *memory, const FixtureManifest *manifests,
				 int count)
{
	LakeArena  *arena = memory->arena;
	LakeBuffer	records;

	buffer_init(&records, arena);
	for (int i = 0; i < count; i++)
	{
		char	   *path = lake_printf(arena, "/lake/t/metadata/m%d.avro", i);

		fixture_put_list_entry(&records, &manifests[i], path);
		memory_store_put(memory, path,
						 fixture_manifest(arena, &manifests[i],
										  manifests[i].spec_id == 3 ?
										  1001 : 1000));
	}
	memory_store_put(memory, "/lake/t/metadata/list.avro",
					 avro_file(arena, fixture_list_schema, NULL, 0, count,
							   &records));
}

/* ---- the table ---- */

static const char fixture_metadata[] =
"{\"format-version\":3,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
"\"location\":\"/lake/t\",\"last-sequence-number\":99,\"last-updated-ms\":1,"
"\"last-column-id\":5,\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\","
"\"schema-id\":0,\"fields\":["
"{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"int\"},"
"{\"id\":2,\"name\":\"s\",\"required\":false,\"type\":\"string\"},"
"{\"id\":3,\"name\":\"d\",\"required\":false,\"type\":\"double\"},"
"{\"id\":4,\"name\":\"p\",\"required\":false,\"type\":\"int\"}]},"
"{\"type\":\"struct\",\"schema-id\":1,\"fields\":["
"{\"id\":5,\"name\":\"q\",\"required\":false,\"type\":\"int\"}]}],"
"\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]},"
"{\"spec-id\":1,\"fields\":[{\"name\":\"p\",\"transform\":\"identity\","
"\"source-id\":4,\"field-id\":1000}]},"
"{\"spec-id\":2,\"fields\":[{\"name\":\"p\",\"transform\":\"void\","
"\"source-id\":4,\"field-id\":1000}]},"
"{\"spec-id\":3,\"fields\":[{\"name\":\"a_bucket\",\"transform\":\"bucket[4]\","
"\"source-id\":1,\"field-id\":1001}]},"
"{\"spec-id\":4,\"fields\":[{\"name\":\"q\",\"transform\":\"identity\","
"\"source-id\":5,\"field-id\":1002},{\"name\":\"p\","
"\"transform\":\"identity\",\"source-id\":4,\"field-id\":1000}]}],"
"\"last-partition-id\":1002,\"default-sort-order-id\":0,\"sort-orders\":[],"
"\"current-snapshot-id\":77,\"next-row-id\":0,\"snapshots\":[{"
"\"snapshot-id\":77,\"sequence-number\":9,\"timestamp-ms\":1,"
"\"manifest-list\":\"/lake/t/metadata/list.avro\"}]}";

/* the table with the manifests in it, opened */
static inline const LakeTable *
fixture_table(MemoryStore *memory, const FixtureManifest *manifests,
			  int count)
{
	memory_store_put_text(memory, FIXTURE_METADATA, fixture_metadata);
	fixture_put_list(memory, manifests, count);
	return iceberg_format.open(memory->arena, &memory->store,
							   FIXTURE_METADATA);
}

static inline const ScanPlan *
fixture_plan(MemoryStore *memory, const LakeTable *table,
			 const Predicate *predicate)
{
	return iceberg_format.plan(memory->arena, table, &memory->store,
							   table->current_snapshot, predicate);
}

/* "column op value" on the table's schema, normalised */
static inline const Predicate *
fixture_predicate(LakeArena *arena, const LakeTable *table, const char *column,
				  PredicateOp op, const LakeValue *value)
{
	const LakeField *field = lake_schema_find_name(table->schema, column);

	return predicate_normalize(arena,
							   predicate_leaf(arena, op, field, value,
											  value == NULL ? 0 : 1));
}

static inline LakeBytes
fixture_int_bound(LakeArena *arena, int32_t value)
{
	int32_t    *copy = lake_alloc(arena, sizeof value);

	*copy = value;
	return (LakeBytes) {(const uint8_t *) copy, sizeof value};
}

static inline LakeBytes
fixture_double_bound(LakeArena *arena, double value)
{
	double	   *copy = lake_alloc(arena, sizeof value);

	*copy = value;
	return (LakeBytes) {(const uint8_t *) copy, sizeof value};
}

static inline LakeBytes
fixture_text_bound(const char *text)
{
	return (LakeBytes) {(const uint8_t *) text, strlen(text)};
}

#endif							/* LAKE_ICEBERG_FIXTURE_H */
