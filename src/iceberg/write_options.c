/*
 * What a table's properties ask of files that are written to it.
 *
 * Properties that cannot be honoured refuse the write: files that other engines
 * would not expect are worse than none.
 *
 * Reference, sections 2.7, 3.7 and 12.
 */
#include "iceberg/iceberg_int.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hash.h"

#define MAX_INFERRED_COLUMNS	100
#define DEFAULT_WIDTH			16

/* ---- properties by type ---- */

static _Noreturn void
throw_property(const char *key, const char *value, const char *expected)
{
	lake_throw_hint(LAKE_ERROR_INVALID,
					"Set the property to another value, or unset it.",
					"table property \"%s\" is \"%s\", not %s", key, value,
					expected);
}

int64_t
iceberg_property_int64(const LakeTable *table, const char *key,
					   int64_t minimum, int64_t if_unset)
{
	const char *text = iceberg_property(table, key);
	char	   *end;
	long long	value;

	if (text == NULL)
		return if_unset;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || isspace((unsigned char) *text))
		throw_property(key, text, "an integer");
	if (value < minimum)
		throw_property(key, text, minimum == 1 ? "a positive integer" :
					   "an integer in the range that it may have");
	return value;
}

bool
iceberg_property_bool(const LakeTable *table, const char *key, bool if_unset)
{
	const char *text = iceberg_property(table, key);

	if (text == NULL)
		return if_unset;
	/* as Java reads it: everything but true is false */
	return strcasecmp(text, "true") == 0;
}

/* which of the words it is */
static int
property_word(const LakeTable *table, const char *key,
			  const char *const *words, int count, int if_unset)
{
	const char *text = iceberg_property(table, key);

	if (text == NULL)
		return if_unset;
	for (int i = 0; i < count; i++)
	{
		if (strcasecmp(text, words[i]) == 0)
			return i;
	}
	lake_throw_hint(LAKE_ERROR_INVALID,
					"Set the property to another value, or unset it.",
					"table property \"%s\" is \"%s\", not %s or %s", key,
					text, words[0], words[count - 1]);
}

static double
property_double(const LakeTable *table, const char *key, double if_unset)
{
	const char *text = iceberg_property(table, key);
	char	   *end;
	double		value;

	if (text == NULL)
		return if_unset;
	value = strtod(text, &end);
	if (end == text || *end != '\0' || !(value > 0 && value < 1))
		throw_property(key, text, "a number between 0 and 1");
	return value;
}

/* ---- what is refused ---- */

static void
check_supported(const LakeTable *table, const LakePartitionSpec *spec)
{
	static const struct
	{
		const char *key;
		const char *reason;
	}			refused[] = {
		{"write.location-provider.impl",
		"it names a Java class that says where files go"},
		{"encryption.key-id", "encrypted files cannot be written"},
		{"write.folder-storage.path",
		"it has been replaced by \"write.data.path\""},
		{"write.object-storage.path",
		"it has been replaced by \"write.data.path\""},
	};
	const char *format = iceberg_property(table, "write.format.default");

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
	{
		if (iceberg_property(table, refused[i].key) != NULL)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "cannot write to a table with property \"%s\": %s",
					   refused[i].key, refused[i].reason);
	}
	if (format != NULL && strcasecmp(format, "parquet") != 0)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "cannot write to a table whose property \"write.format.default\" is \"%s\"",
				   format);
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *field = &spec->fields[i];

		if (field->transform.kind == TRANSFORM_UNKNOWN)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "cannot write to a table that is partitioned by \"%s\", which is not known",
					   field->transform.text);
		if (field->transform.kind != TRANSFORM_VOID &&
			(field->source_type == NULL || field->result_type == NULL ||
			 lake_schema_find_id(table->schema, field->source_id) == NULL))
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "cannot write to a table whose partition field \"%s\" has lost its column",
					   field->name);
	}
}

/* ---- where files go ---- */

/* "a=1/b_day=2026-01-01/" */
static void
append_partition(LakeBuffer *out, LakeArena *arena,
				 const LakePartitionSpec *spec, const LakeValue *partition)
{
	if (spec->field_count == 0)
		return;
	buffer_append_text(out, iceberg_partition_path(arena, spec, partition));
	buffer_append_byte(out, '/');
}

/* the low 20 bits as 0000/0000/0000/00000000 */
static void
append_hash(LakeBuffer *out, const LakeBuffer *path)
{
	uint32_t	hash = (uint32_t) hash_murmur3(path->data, path->len, 0);

	for (int bit = 19; bit >= 0; bit--)
	{
		buffer_append_byte(out, (hash >> bit & 1) != 0 ? '1' : '0');
		if (bit == 16 || bit == 12 || bit == 8)
			buffer_append_byte(out, '/');
	}
}

/* does a location lie in a directory? */
static bool
is_below(const char *location, const char *directory)
{
	size_t		len = strlen(directory);

	return strncmp(location, directory, len) == 0 &&
		(location[len] == '/' || location[len] == '\0');
}

/* "db/table", of a data directory that other tables may share */
static const char *
context(const char *location)
{
	const char *last = strrchr(location, '/');
	const char *before = last;

	while (before != NULL && before > location && before[-1] != '/')
		before--;
	return before == NULL ? location : before;
}

static const char *
locate(LakeArena *arena, const WriteOptions *options,
	   const LakePartitionSpec *spec, const LakeValue *partition,
	   const char *name)
{
	LakeBuffer	path;
	LakeBuffer	location;
	bool		is_shared = !is_below(options->data_directory,
									  options->table_location);

	buffer_init(&path, arena);
	if (!options->object_layout || options->object_partitions)
		append_partition(&path, arena, spec, partition);
	buffer_append_text(&path, name);
	buffer_init(&location, arena);
	buffer_append_text(&location, options->data_directory);
	buffer_append_byte(&location, '/');
	if (options->object_layout)
	{
		append_hash(&location, &path);
		if (is_shared)
			buffer_printf(&location, "/%s", context(options->table_location));
		buffer_append_byte(&location, is_shared || options->object_partitions ?
						   '/' : '-');
	}
	buffer_append(&location, path.data, path.len);
	buffer_append_byte(&location, '\0');
	return (const char *) location.data;
}

/* without slashes at its end */
static const char *
trimmed(LakeArena *arena, const char *location)
{
	size_t		len = strlen(location);

	while (len > 1 && location[len - 1] == '/')
		len--;
	return lake_strndup(arena, location, len);
}

/* ---- columns ---- */

typedef struct ColumnList
{
	LakeArena  *arena;
	const LakeTable *table;
	LakeBuffer	columns;		/* of ColumnWriteOptions */
	LakeBuffer	path;			/* of the current field */
	ColumnWriteOptions if_unset;
	int			inferred_left;	/* that still get if_unset; -1: all do */
} ColumnList;

/* none, counts, truncate(n), full; false: it is none of them */
static bool
parse_mode(const char *text, ColumnWriteOptions *column)
{
	long		width;
	char	   *end;

	if (strcasecmp(text, "none") == 0)
		column->metrics = METRICS_NONE;
	else if (strcasecmp(text, "counts") == 0)
		column->metrics = METRICS_COUNTS;
	else if (strcasecmp(text, "full") == 0)
		column->metrics = METRICS_FULL;
	else
	{
		if (strncasecmp(text, "truncate(", 9) != 0)
			return false;
		width = strtol(text + 9, &end, 10);
		if (end == text + 9 || strcmp(end, ")") != 0 || width < 1 ||
			width > INT32_MAX)
			return false;
		column->metrics = METRICS_TRUNCATE;
		column->width = (int) width;
	}
	return true;
}

static const char *
column_property(const ColumnList *list, const char *prefix)
{
	return iceberg_property(list->table,
							lake_printf(list->arena, "%s%.*s", prefix,
										(int) list->path.len,
										(const char *) list->path.data));
}

static void
add_column(ColumnList *list, const LakeField *field)
{
	static const char metrics_key[] = "write.metadata.metrics.column.";
	ColumnWriteOptions column = list->if_unset;
	const char *mode = column_property(list, metrics_key);
	const char *bloom = column_property(list,
										"write.parquet.bloom-filter-enabled.column.");

	column.field_id = field->id;
	if (list->inferred_left == 0)
		column.metrics = METRICS_NONE;
	else if (list->inferred_left > 0)
		list->inferred_left--;
	if (mode != NULL && !parse_mode(mode, &column))
		lake_log(LAKE_LOG_WARNING,
				 "table property \"%s%.*s\" is \"%s\", which is no metrics mode",
				 metrics_key, (int) list->path.len,
				 (const char *) list->path.data, mode);
	column.bloom = bloom != NULL && strcasecmp(bloom, "true") == 0;
	if (column.bloom)
		column.bloom_fpp =
			property_double(list->table,
							lake_printf(list->arena,
										"write.parquet.bloom-filter-fpp.column.%.*s",
										(int) list->path.len,
										(const char *) list->path.data),
							0.01);
	buffer_append(&list->columns, &column, sizeof column);
}

static void
add_fields(ColumnList *list, const LakeField *fields, int count)
{
	size_t		len = list->path.len;

	/* siblings before what is nested in them: the order in which ids go */
	for (int nested = 0; nested < 2; nested++)
	{
		for (int i = 0; i < count; i++)
		{
			const LakeType *type = fields[i].type;

			if (lake_type_is_nested(type) != (nested == 1))
				continue;
			if (len > 0)
				buffer_append_byte(&list->path, '.');
			buffer_append_text(&list->path, fields[i].name);
			if (nested == 1)
				add_fields(list, type->fields, type->field_count);
			else
				add_column(list, &fields[i]);
			list->path.len = len;
		}
	}
}

static int
compare_columns(const void *a, const void *b)
{
	int32_t		left = ((const ColumnWriteOptions *) a)->field_id;
	int32_t		right = ((const ColumnWriteOptions *) b)->field_id;

	return (left > right) - (left < right);
}

static void
set_columns(LakeArena *arena, const LakeTable *table, WriteOptions *options)
{
	static const char key[] = "write.metadata.metrics.default";
	const char *mode = iceberg_property(table, key);
	ColumnList	list = {.arena = arena, .table = table};

	list.if_unset.metrics = METRICS_TRUNCATE;
	list.if_unset.width = DEFAULT_WIDTH;
	list.inferred_left = mode != NULL ? -1 : (int)
		iceberg_property_int64(table,
							   "write.metadata.metrics.max-inferred-column-defaults",
							   0, MAX_INFERRED_COLUMNS);
	if (mode != NULL && !parse_mode(mode, &list.if_unset))
		lake_log(LAKE_LOG_WARNING,
				 "table property \"%s\" is \"%s\", which is no metrics mode",
				 key, mode);
	buffer_init(&list.columns, arena);
	buffer_init(&list.path, arena);
	add_fields(&list, table->schema->fields, table->schema->field_count);
	options->column_count = (int) (list.columns.len /
								   sizeof(ColumnWriteOptions));
	if (options->column_count > 1)
		qsort(list.columns.data, (size_t) options->column_count,
			  sizeof(ColumnWriteOptions), compare_columns);
	options->columns = (const ColumnWriteOptions *) (const void *)
		list.columns.data;
}

/* ---- the rest ---- */

static void
set_parquet(const LakeTable *table, WriteOptions *options)
{
	static const char codec_key[] = "write.parquet.compression-codec";
	static const char level_key[] = "write.parquet.compression-level";
	static const char delete_codec_key[] =
		"write.delete.parquet.compression-codec";
	const char *codec = iceberg_property(table, codec_key);
	const char *delete_codec = iceberg_property(table, delete_codec_key);

	options->codec = codec == NULL ? CODEC_GZIP :
		codec_from_property(codec_key, codec, false);
	options->level = (int32_t)
		iceberg_property_int64(table, level_key, INT32_MIN,
							   CODEC_DEFAULT_LEVEL);
	options->delete_codec = delete_codec == NULL ? options->codec :
		codec_from_property(delete_codec_key, delete_codec, false);
	options->delete_level = (int32_t)
		iceberg_property_int64(table, "write.delete.parquet.compression-level",
							   INT32_MIN, delete_codec == NULL ?
							   options->level : CODEC_DEFAULT_LEVEL);
	options->row_group_bytes = (uint64_t)
		iceberg_property_int64(table, "write.parquet.row-group-size-bytes", 1,
							   INT64_C(134217728));
	options->page_bytes = (size_t)
		iceberg_property_int64(table, "write.parquet.page-size-bytes", 1,
							   1048576);
	options->page_rows = (uint32_t)
		iceberg_property_int64(table, "write.parquet.page-row-limit", 1,
							   20000);
	options->dictionary_bytes = (size_t)
		iceberg_property_int64(table, "write.parquet.dict-size-bytes", 0,
							   2097152);
	options->bloom_max_bytes = (size_t)
		iceberg_property_int64(table, "write.parquet.bloom-filter-max-bytes",
							   32, 1048576);
	options->target_file_bytes = (uint64_t)
		iceberg_property_int64(table, "write.target-file-size-bytes", 1,
							   INT64_C(536870912));
	options->target_delete_bytes = (uint64_t)
		iceberg_property_int64(table, "write.delete.target-file-size-bytes", 1,
							   INT64_C(67108864));
}

static void
set_changes(const LakeTable *table, WriteOptions *options)
{
	static const char *const modes[] = {"copy-on-write", "merge-on-read"};
	static const char *const levels[] = {"snapshot", "serializable"};
	static const char *const granularities[] = {"partition", "file"};

	options->delete_merges =
		property_word(table, "write.delete.mode", modes, 2, 0) == 1;
	options->update_merges =
		property_word(table, "write.update.mode", modes, 2, 0) == 1;
	options->delete_isolation = (ChangeIsolation)
		property_word(table, "write.delete.isolation-level", levels, 2,
					  CHANGE_SERIALIZABLE);
	options->update_isolation = (ChangeIsolation)
		property_word(table, "write.update.isolation-level", levels, 2,
					  CHANGE_SERIALIZABLE);
	/* one delete file a data file is what Spark does when nothing is said */
	options->deletes_by_file =
		property_word(table, "write.delete.granularity", granularities, 2,
					  1) == 1;
	options->retry_count = (int)
		iceberg_property_int64(table, "commit.retry.num-retries", 0, 4);
	options->retry_min_ms =
		iceberg_property_int64(table, "commit.retry.min-wait-ms", 0, 100);
	options->retry_max_ms =
		iceberg_property_int64(table, "commit.retry.max-wait-ms", 0, 60000);
	options->retry_total_ms =
		iceberg_property_int64(table, "commit.retry.total-timeout-ms", 0,
							   1800000);
}

const WriteOptions *
iceberg_write_options(LakeArena *arena, const LakeTable *table)
{
	WriteOptions *options = lake_alloc(arena, sizeof *options);
	const char *data_path = iceberg_property(table, "write.data.path");
	LakeBuffer	schema;

	options->format_version = table->format_version;
	options->schema = table->schema;
	options->spec = iceberg_find_spec(table,
									  iceberg_table(table)->default_spec_id);
	if (options->spec == NULL)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "table metadata has no partition spec %d, the default one",
				   (int) iceberg_table(table)->default_spec_id);
	check_supported(table, options->spec);
	options->table_location = trimmed(arena, table->location);
	options->data_directory = data_path != NULL ? trimmed(arena, data_path) :
		location_join(arena, options->table_location, "data");
	options->locate = locate;
	options->object_layout =
		iceberg_property_bool(table, "write.object-storage.enabled", false);
	options->object_partitions =
		iceberg_property_bool(table, "write.object-storage.partitioned-paths",
							  true);
	/* Parquet readers look for the word "version" and a number after it */
	options->created_by = "lakefdw version " LAKE_VERSION;
	buffer_init(&schema, arena);
	lake_schema_to_json(&schema, table->schema);
	buffer_append_byte(&schema, '\0');
	options->schema_json = (const char *) schema.data;
	set_parquet(table, options);
	set_changes(table, options);
	set_columns(arena, table, options);
	return options;
}
