/*
 * Manifests that we write, read back by our own walk.
 */
#include "manifest_fixture.h"

#define FILES 40

/* a manifest of random files, as a list at sequence number 5 has it */
typedef struct Written
{
	const LakePartitionSpec *spec;
	const WrittenFile *files[FILES];
	ManifestFile manifest;
} Written;

static WrittenKind
kind_of(const Lake *lake, bool has_deletes)
{
	if (!has_deletes)
		return WRITTEN_DATA;
	return lake->table->format_version < 3 ? WRITTEN_POSITION_DELETES :
		WRITTEN_DELETION_VECTOR;
}

static Written *
write_random(Lake *lake, int spec_id, bool has_deletes)
{
	Written    *written = lake_alloc(lake->arena, sizeof *written);
	const char *name = lake_printf(lake->arena, "m%d-%d.avro", spec_id,
								   has_deletes);
	ManifestWriter *writer;

	written->spec = iceberg_find_spec(lake->table, spec_id);
	writer = lake_manifest(lake, name, written->spec, has_deletes, 77);
	for (int i = 0; i < FILES; i++)
	{
		written->files[i] = lake_random_file(lake, kind_of(lake, has_deletes),
											 written->spec);
		manifest_writer_add(writer, written->files[i]);
	}
	written->manifest = manifest_writer_finish(writer)->file;
	CHECK_INT(written->manifest.sequence_number, -1);
	if (lake->table->format_version == 1)
		written->manifest.sequence_number = 0;
	else
		written->manifest.sequence_number = 5;
	if (lake->table->format_version == 3 && !has_deletes)
		written->manifest.first_row_id = 1000;
	return written;
}

static EntryWalk *
walk_open(Lake *lake, const ManifestFile *manifest,
		  const LakePartitionSpec *spec)
{
	return entry_walk_open(lake->arena, lake->table, lake->store, manifest,
						   spec, true);
}

static LakeBytes
text(const char *value)
{
	return (LakeBytes) {(const uint8_t *) value,
						value == NULL ? 0 : strlen(value)};
}

/* one map of a written file; count -1, bound NULL: it must not be there */
static void
check_metric(const WrittenFile *file, const FieldMetrics *metrics,
			 MetricKind kind)
{
	size_t		found = 0;

	for (int i = 0; i < file->metric_count; i++)
	{
		const ColumnMetrics *column = &file->metrics[i];
		const int64_t counts[] = {column->size, column->value_count,
		column->null_count, column->nan_count};
		LakeBytes	bound = kind == METRIC_LOWER_BOUND ? column->lower :
			column->upper;
		bool		is_bound = kind >= METRIC_LOWER_BOUND;
		const FieldMetric *metric = &metrics->fields[found];

		if (is_bound ? bound.data == NULL : counts[kind] == -1)
			continue;
		found++;
		CHECK(found <= metrics->count);
		if (found > metrics->count)
			return;
		CHECK_INT(metric->field_id, column->field_id);
		if (is_bound)
			CHECK(lake_is_same_bytes(metric->bound, bound));
		else
			CHECK_INT(metric->count, counts[kind]);
	}
	CHECK_INT(metrics->count, found);
	CHECK((metrics->fields == NULL) == (found == 0));
}

static void
check_added(Lake *lake, const Written *written, const WrittenFile *file,
			const IcebergEntry *entry)
{
	int			version = lake->table->format_version;
	bool		is_vector = file->kind == WRITTEN_DELETION_VECTOR;

	CHECK_INT(entry->status, STATUS_ADDED);
	CHECK_INT(entry->snapshot_id, 77);
	CHECK_INT(entry->sequence_number, version == 1 ? 0 : 5);
	CHECK_INT(entry->file_sequence_number, version == 1 ? 0 : 5);
	CHECK_INT(entry->content, file->kind == WRITTEN_DATA ? CONTENT_DATA :
			  CONTENT_POSITION_DELETES);
	CHECK(lake_is_same_bytes(entry->path, text(file->path)));
	CHECK(lake_is_same_bytes(entry->format, text(is_vector ? "PUFFIN" :
												 "PARQUET")));
	CHECK_INT(entry->record_count, file->record_count);
	CHECK_INT(entry->size, file->size);
	for (int i = 0; i < METRIC_COUNT; i++)
		check_metric(file, &entry->metrics[i], (MetricKind) i);
	CHECK(entry->key_metadata.data == NULL);
	CHECK_INT(entry->split_offsets.count, file->split_count);
	CHECK((entry->split_offsets.values == NULL) == (file->split_count == 0));
	for (int i = 0; i < file->split_count; i++)
		CHECK_INT(entry->split_offsets.values[i], file->split_offsets[i]);
	CHECK(entry->equality_ids.values == NULL);
	CHECK_INT(entry->sort_order_id, file->sort_order_id == -1 ? ICEBERG_NONE :
			  file->sort_order_id);
	CHECK(lake_is_same_bytes(entry->referenced_file, text(file->referenced_file)));
	CHECK_INT(entry->content_offset, is_vector ? file->content_offset :
			  ICEBERG_NONE);
	CHECK_INT(entry->content_size, is_vector ? file->content_size :
			  ICEBERG_NONE);
	(void) written;
}

/* over versions 1 to 3, all specs and contents */
static void
for_all(LakeArena *arena, void (*check) (Lake *lake, const Written *written))
{
	for (int version = 1; version <= 3; version++)
	{
		Lake	   *lake = lake_create(arena, version);

		for (int spec_id = 0; spec_id < SPEC_COUNT; spec_id++)
		{
			check(lake, write_random(lake, spec_id, false));
			if (version > 1)
				check(lake, write_random(lake, spec_id, true));
		}
	}
}

static void
check_all_added(Lake *lake, const Written *written)
{
	EntryWalk  *walk = walk_open(lake, &written->manifest, written->spec);
	int64_t		row_id = written->manifest.first_row_id;

	for (int i = 0; i < FILES; i++)
	{
		const IcebergEntry *entry = entry_walk_next(walk);

		CHECK(entry != NULL);
		if (entry == NULL)
			return;
		check_added(lake, written, written->files[i], entry);
		lake_check_partition(written->spec, written->files[i]->partition,
							 entry_walk_partition(walk, lake->arena));
		CHECK_INT(entry->first_row_id, row_id == -1 ? ICEBERG_NONE : row_id);
		if (row_id != -1)
			row_id += entry->record_count;
	}
	CHECK(entry_walk_next(walk) == NULL);
}

static void
added_files_come_back(LakeArena *arena)
{
	for_all(arena, check_all_added);
}

static void
check_description(Lake *lake, const Written *written)
{
	const ManifestFile *m = &written->manifest;
	int64_t		rows = 0;

	for (int i = 0; i < FILES; i++)
		rows += written->files[i]->record_count;
	CHECK_INT(m->length, lake_file_open(lake->store, lake->arena, m->path,
										"manifest")->size);
	CHECK_INT(m->spec_id, written->spec->id);
	CHECK_INT(m->snapshot_id, 77);
	CHECK_INT(m->min_sequence_number, -1);
	CHECK_INT(m->added_files, FILES);
	CHECK_INT(m->existing_files, 0);
	CHECK_INT(m->deleted_files, 0);
	CHECK_INT(m->live_files, FILES);
	CHECK_INT(m->added_rows, rows);
	CHECK_INT(m->existing_rows, 0);
	CHECK_INT(m->deleted_rows, 0);
	CHECK_INT(m->live_rows, rows);
	CHECK(m->has_summaries);
	CHECK_INT(m->summary_count, written->spec->field_count);
}

static void
counts_and_length_are_known(LakeArena *arena)
{
	for_all(arena, check_description);
}

/* what the summary must say of a field, found value by value */
static void
check_summary(const Written *written, int field)
{
	const FieldSummary *summary = &written->manifest.summaries[field];
	const LakeType *type = written->spec->fields[field].result_type;
	bool		has_null = false;
	bool		has_nan = false;
	bool		is_lower = false;
	bool		is_upper = false;
	bool		has_value = false;
	LakeValue	lower;
	LakeValue	upper;

	if (summary->lower.data != NULL)
	{
		CHECK(lake_value_from_bound(type, summary->lower, &lower));
		CHECK(lake_value_from_bound(type, summary->upper, &upper));
	}
	for (int i = 0; i < FILES; i++)
	{
		const LakeValue *value = &written->files[i]->partition[field];

		if (value->is_null)
			has_null = true;
		else if ((type->kind == LAKE_FLOAT || type->kind == LAKE_DOUBLE) &&
				 isnan(value->d))
			has_nan = true;
		else if (summary->lower.data != NULL)
		{
			int			low = lake_value_compare(type, &lower, value);
			int			high = lake_value_compare(type, &upper, value);

			has_value = true;
			CHECK(low <= 0 && high >= 0);
			is_lower |= low == 0;
			is_upper |= high == 0;
		}
	}
	CHECK_INT(summary->has_null, has_null);
	CHECK_INT(summary->has_nan, has_nan);
	CHECK(summary->nan_is_known);
	CHECK_INT(summary->lower.data != NULL, has_value);
	CHECK_INT(summary->upper.data != NULL, has_value);
	CHECK(is_lower == has_value && is_upper == has_value);
}

static void
check_summaries(Lake *lake, const Written *written)
{
	(void) lake;
	for (int i = 0; i < written->spec->field_count; i++)
		check_summary(written, i);
}

static void
summaries_are_exact(LakeArena *arena)
{
	for_all(arena, check_summaries);
}

/* the bounds of a double's values */
static FieldSummary
double_summary(LakeArena *arena, const double *values, int count)
{
	LakeType	type = {.kind = LAKE_DOUBLE};
	PartitionField field = {.result_type = &type};
	LakePartitionSpec spec = {.field_count = 1, .fields = &field};
	PartitionSummary *summary = partition_summary_create(arena, &spec);

	for (int i = 0; i < count; i++)
		partition_summary_add(summary, &(LakeValue) {.d = values[i]});
	return *partition_summary_finish(summary);
}

static void
zeros_are_bounded_by_both(LakeArena *arena)
{
	static const double zeros[] = {0.0, -0.0};
	double		bound;

	for (int i = 0; i < 2; i++)
	{
		FieldSummary summary = double_summary(arena, &zeros[i], 1);

		memcpy(&bound, summary.lower.data, sizeof bound);
		CHECK(bound == 0 && signbit(bound));
		memcpy(&bound, summary.upper.data, sizeof bound);
		CHECK(bound == 0 && !signbit(bound));
	}
}

static void
nan_is_no_bound(LakeArena *arena)
{
	static const double values[] = {NAN, 1.5, NAN};
	FieldSummary summary = double_summary(arena, values, 1);
	double		bound;

	CHECK(summary.has_nan);
	CHECK(summary.lower.data == NULL && summary.upper.data == NULL);
	summary = double_summary(arena, values, 3);
	CHECK(summary.has_nan);
	memcpy(&bound, summary.lower.data, sizeof bound);
	CHECK(bound == 1.5);
	memcpy(&bound, summary.upper.data, sizeof bound);
	CHECK(bound == 1.5);
}

/* ---- carried entries ---- */

/* every third entry is deleted */
static EntryStatus
carried_status(int i)
{
	return i % 3 == 0 ? STATUS_DELETED : STATUS_EXISTING;
}

/* carries a manifest's entries into one that snapshot 88 writes */
static ManifestFile
carry_all(Lake *lake, const ManifestFile *manifest,
		  const LakePartitionSpec *spec, const char *name)
{
	EntryWalk  *walk = walk_open(lake, manifest, spec);
	ManifestWriter *writer = lake_manifest(lake, name, spec,
										   manifest->has_deletes, 88);
	const IcebergEntry *entry;
	ManifestFile result;

	for (int i = 0; (entry = entry_walk_next(walk)) != NULL; i++)
		manifest_writer_carry(writer, entry,
							  entry_walk_partition(walk, lake->arena),
							  carried_status(i));
	result = manifest_writer_finish(writer)->file;
	/* another one than what the entries had: nothing may inherit it */
	result.sequence_number = lake->table->format_version == 1 ? 0 : 9;
	if (manifest->first_row_id != -1)
		result.first_row_id = 5000000;
	return result;
}

static void
check_all_carried(Lake *lake, const Written *written)
{
	const LakePartitionSpec *spec = written->spec;
	ManifestFile carried = carry_all(lake, &written->manifest, spec,
									 lake_printf(lake->arena, "c%d-%d.avro",
												 spec->id,
												 written->manifest.has_deletes));
	EntryWalk  *before = walk_open(lake, &written->manifest, spec);
	EntryWalk  *after = walk_open(lake, &carried, spec);
	const IcebergEntry *old;
	int			count = 0;

	for (; (old = entry_walk_next(before)) != NULL; count++)
	{
		const IcebergEntry *entry = entry_walk_next(after);

		CHECK_INT(entry->status, carried_status(count));
		CHECK_INT(entry->snapshot_id,
				  entry->status == STATUS_DELETED ? 88 : 77);
		lake_check_entry(old, entry);
		lake_check_partition(spec, entry_walk_partition(before, lake->arena),
							 entry_walk_partition(after, lake->arena));
	}
	CHECK(entry_walk_next(after) == NULL);
	CHECK_INT(count, FILES);
	CHECK_INT(carried.deleted_files, (FILES + 2) / 3);
	CHECK_INT(carried.existing_files, FILES - (FILES + 2) / 3);
	CHECK_INT(carried.added_files, 0);
	CHECK_INT(carried.existing_rows + carried.deleted_rows,
			  written->manifest.added_rows);
	CHECK_INT(carried.live_rows, carried.existing_rows);
	CHECK_INT(carried.min_sequence_number,
			  lake->table->format_version == 1 ? 0 : 5);
}

static void
carried_entries_keep_what_they_inherited(LakeArena *arena)
{
	for_all(arena, check_all_carried);
}

/* an entry with all that no file of ours has */
static void
what_others_wrote_is_carried(LakeArena *arena)
{
	static const int64_t ids[] = {2, 4};
	static const FieldMetric bounds[] = {
		{.field_id = 7, .count = ICEBERG_NONE, .bound = {(const uint8_t *) "", 0}},
		{.field_id = 999, .count = ICEBERG_NONE, .bound = {(const uint8_t *) "\xff\0x", 3}},
	};
	static const FieldMetric none[1];
	Lake	   *lake = lake_create(arena, 3);
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, SPEC_NONE);
	ManifestWriter *writer = lake_manifest(lake, "m.avro", spec, true, 88);
	IcebergEntry entry = {
		.status = STATUS_ADDED, .snapshot_id = 3, .sequence_number = 4,
		.file_sequence_number = ICEBERG_NONE,
		.content = CONTENT_EQUALITY_DELETES, .path = text("/lake/e.orc"),
		.format = text("orc"), .record_count = 1, .size = 2,
		.metrics = {[METRIC_LOWER_BOUND] = {2, bounds},
		[METRIC_NULL_COUNT] = {0, none}},
		.key_metadata = text("key"), .equality_ids = {2, ids},
		.sort_order_id = 7, .first_row_id = ICEBERG_NONE,
		.content_offset = ICEBERG_NONE, .content_size = ICEBERG_NONE
	};
	ManifestFile manifest;
	const IcebergEntry *read;

	manifest_writer_carry(writer, &entry, NULL, STATUS_EXISTING);
	manifest = manifest_writer_finish(writer)->file;
	manifest.sequence_number = 9;
	read = entry_walk_next(walk_open(lake, &manifest, spec));
	CHECK_INT(read->status, STATUS_EXISTING);
	CHECK_INT(read->snapshot_id, 3);
	lake_check_entry(&entry, read);
}

static void
files_of_unknown_formats_are_parquet(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, SPEC_NONE);
	ManifestWriter *writer = lake_manifest(lake, "m.avro", spec, false, 88);
	IcebergEntry entry = {.path = text("/lake/a"), .snapshot_id = 1};
	ManifestFile manifest;

	manifest_writer_carry(writer, &entry, NULL, STATUS_EXISTING);
	manifest = manifest_writer_finish(writer)->file;
	CHECK(lake_is_same_bytes(entry_walk_next(walk_open(lake, &manifest,
													   spec))->format,
							 text("PARQUET")));
}

static void
entries_that_lack_what_is_required_are_refused(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, SPEC_NONE);
	ManifestWriter *writer = lake_manifest(lake, "m.avro", spec, false, 88);
	IcebergEntry entry = {.path = text("/lake/a"), .snapshot_id = 1};

	entry.snapshot_id = ICEBERG_NONE;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"snapshot_id\" of \"/lake/a\"",
				 manifest_writer_carry(writer, &entry, NULL,
									   STATUS_EXISTING));
	entry.snapshot_id = 1;
	entry.record_count = ICEBERG_NONE;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"record_count\" of \"/lake/a\"",
				 manifest_writer_carry(writer, &entry, NULL,
									   STATUS_EXISTING));
}

/* carries an entry without sequence number, and gives its new manifest */
static ManifestFile
carry_unnumbered(Lake *lake, FileContent content, EntryStatus status)
{
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, SPEC_NONE);
	bool		has_deletes = content != CONTENT_DATA;
	const char *name = lake_printf(lake->arena, "m%d%d.avro", (int) content,
								   (int) status);
	ManifestWriter *writer = lake_manifest(lake, name, spec, has_deletes, 88);
	IcebergEntry entry = {.content = content, .path = text("/lake/a"),
		.snapshot_id = 1, .sequence_number = ICEBERG_NONE,
	.file_sequence_number = ICEBERG_NONE};
	ManifestFile manifest;
	const IcebergEntry *read;

	manifest_writer_carry(writer, &entry, NULL, status);
	manifest = manifest_writer_finish(writer)->file;
	manifest.sequence_number = 9;
	read = entry_walk_next(walk_open(lake, &manifest, spec));
	CHECK_INT(read->sequence_number, ICEBERG_NONE);
	CHECK_INT(read->file_sequence_number, ICEBERG_NONE);
	return manifest;
}

static void
unknown_sequence_numbers_stay_unknown(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);

	CHECK_INT(carry_unnumbered(lake, CONTENT_DATA,
							   STATUS_EXISTING).min_sequence_number, 0);
	carry_unnumbered(lake, CONTENT_POSITION_DELETES, STATUS_DELETED);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "\"sequence_number\" of \"/lake/a\"",
				 carry_unnumbered(lake, CONTENT_POSITION_DELETES,
								  STATUS_EXISTING));
}

/* they are deletes to readers, which they must stay */
static void
deletes_among_data_are_carried(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, SPEC_NONE);
	ManifestWriter *writer = lake_manifest(lake, "m.avro", spec, false, 88);
	IcebergEntry entry = {.content = CONTENT_POSITION_DELETES,
	.path = text("/lake/a"), .snapshot_id = 1, .sequence_number = 4};
	ManifestFile manifest;

	manifest_writer_carry(writer, &entry, NULL, STATUS_EXISTING);
	manifest = manifest_writer_finish(writer)->file;
	CHECK_INT(entry_walk_next(walk_open(lake, &manifest, spec))->content,
			  CONTENT_POSITION_DELETES);
}

static void
contents_are_not_mixed(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table, SPEC_NONE);
	ManifestWriter *data = lake_manifest(lake, "a.avro", spec, false, 88);
	ManifestWriter *deletes = lake_manifest(lake, "b.avro", spec, true, 88);

	CHECK_THROWS(LAKE_ERROR_INTERNAL, "added to a manifest of data",
				 manifest_writer_add(data, lake_random_file(lake,
															WRITTEN_POSITION_DELETES, spec)));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "is data in a manifest of deletes",
				 manifest_writer_add(deletes, lake_random_file(lake,
															   WRITTEN_DATA, spec)));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "no deletion vectors",
				 manifest_writer_add(deletes, lake_random_file(lake,
															   WRITTEN_DELETION_VECTOR, spec)));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "no deletes",
				 lake_manifest(lake_create(arena, 1), "c.avro", spec, true,
							   88));
}

/* ---- schemas and headers ---- */

#define MAPS "108?[map(117 118)] 109?[map(119 120)] 110?[map(121 122)] " \
	"137?[map(138 139)] 125?[map(126 127)] 128?[map(129 130)]"

static void
each_version_has_its_fields(LakeArena *arena)
{
	static const char *const expected[] = {
		"0 1? 2(100 101 102() 103 104 105 " MAPS " 131? 132?[133] 140?)",
		"0 1? 3? 4? 2(134 100 101 102() 103 104 " MAPS " 131? 132?[133] "
		"135?[136] 140? 143?)",
		"0 1? 3? 4? 2(134 100 101 102() 103 104 " MAPS " 131? 132?[133] "
		"135?[136] 140? 142? 143? 144? 145?)",
	};

	for (int version = 1; version <= 3; version++)
	{
		Lake	   *lake = lake_create(arena, version);

		write_random(lake, SPEC_NONE, false);
		CHECK_STRING(lake_schema_ids(lake, "m0-0.avro"),
					 expected[version - 1]);
	}
}

/* the JSON of a partition field in the manifest's schema */
static const char *
partition_field(Lake *lake, const char *name, size_t index)
{
	LakeJson   *entry = json_get(lake_schema(lake, name), "fields");
	LakeJson   *file = json_array_at(entry, json_array_count(entry, "") - 1);
	LakeJson   *fields = json_get(json_get(file, "type"), "fields");
	LakeJson   *partition = NULL;

	for (size_t i = 0; i < json_array_count(fields, "") && partition == NULL;
		 i++)
	{
		if (json_get_int32(json_array_at(fields, i), "field-id") == 102)
			partition = json_get(json_array_at(fields, i), "type");
	}
	return json_text(json_array_at(json_get(partition, "fields"), index));
}

#define PARTITION(name, type, id) \
	"{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"default\":null," \
	"\"field-id\":" id "}"
#define RENAMED(name, type, id, original) \
	"{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"default\":null," \
	"\"field-id\":" id ",\"iceberg-field-name\":\"" original "\"}"

static void
partition_fields_have_names_that_avro_takes(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	static const char *const expected[] = {
		RENAMED("_1st_x20bucket", "\"int\"", "2000", "1st bucket"),
		RENAMED("gr_xF6_xDFe", "\"string\"", "2001",
				"gr\xc3\xb6\xc3\x9f" "e"),
		RENAMED("a_x2F_xD83D_xDE00",
				"{\"type\":\"int\",\"logicalType\":\"date\"}", "2002",
				"a/\xf0\x9f\x98\x80"),
		PARTITION("ts_hour", "\"int\"", "2003"),
		PARTITION("dt_month", "\"int\"", "2004"),
		RENAMED("_x22quoted_x22", "\"int\"", "2005", "\\\"quoted\\\""),
		PARTITION("dec", "{\"type\":\"fixed\",\"size\":4,\"logicalType\":"
				  "\"decimal\",\"precision\":9,\"scale\":2,\"name\":"
				  "\"decimal_9_2\"}", "2006"),
		/* a name is defined once */
		PARTITION("dec_trunc", "{\"type\":\"fixed\",\"size\":4,"
				  "\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2,"
				  "\"name\":\"decimal_9_2_r2007\"}", "2007"),
		PARTITION("gone", "\"int\"", "2008"),
	};

	write_random(lake, SPEC_TRANSFORMS, false);
	for (int i = 0; i < LAKE_TRANSFORM_COUNT; i++)
	{
		LakeBytes	wanted = text(expected[i]);

		CHECK_STRING(partition_field(lake, "m2-0.avro", (size_t) i),
					 json_text(json_parse(arena, wanted, "test")));
	}
}

static void
check_header(Lake *lake, const char *name, const char *key, const char *value)
{
	LakeBytes	found = {NULL, 0};

	avro_reader_header(lake_open_avro(lake, name), key, &found);
	CHECK(lake_is_same_bytes(found, text(value)));
}

static void
headers_say_spec_version_and_content(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	LakeBytes	spec;

	write_random(lake, SPEC_TRANSFORMS, true);
	check_header(lake, "m2-1.avro", "schema-id", "0");
	check_header(lake, "m2-1.avro", "partition-spec-id", "2");
	check_header(lake, "m2-1.avro", "format-version", "2");
	check_header(lake, "m2-1.avro", "content", "deletes");
	avro_reader_header(lake_open_avro(lake, "m2-1.avro"), "partition-spec",
					   &spec);
	CHECK_STRING(json_text(json_array_at(json_parse(arena, spec, "spec"), 5)),
				 json_text(json_parse(arena,
									  text("{\"name\":\"\\\"quoted\\\"\","
										   "\"transform\":\"year\","
										   "\"source-id\":10,"
										   "\"field-id\":2005}"), "test")));
	lake = lake_create(arena, 1);
	write_random(lake, SPEC_NONE, false);
	check_header(lake, "m0-0.avro", "partition-spec", "[]");
	check_header(lake, "m0-0.avro", "content", NULL);
}

static void
transforms_that_nobody_knows_are_refused(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	PartitionField fields[] = {
		{.field_id = 1000, .name = "z",
		.transform = {TRANSFORM_UNKNOWN, 0, "zorder"}},
	};
	LakePartitionSpec spec = {.id = 3, .field_count = 1, .fields = fields};

	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"z\" with transform \"zorder\"",
				 lake_manifest(lake, "m.avro", &spec, false, 1));
	/* void of a column that is gone is NULL */
	fields[0].transform.kind = TRANSFORM_VOID;
	manifest_writer_finish(lake_manifest(lake, "n.avro", &spec, false, 1));
}

static void
size_grows_with_the_blocks(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2);
	const LakePartitionSpec *spec = iceberg_find_spec(lake->table,
													  SPEC_IDENTITY);
	ManifestWriter *writer = lake_manifest(lake, "m.avro", spec, false, 1);
	uint64_t	empty = manifest_writer_size(writer);
	uint64_t	before_end;

	for (int i = 0; i < 1000; i++)
		manifest_writer_add(writer, lake_random_file(lake, WRITTEN_DATA,
													 spec));
	before_end = manifest_writer_size(writer);
	CHECK(before_end > empty + 10000);
	CHECK((uint64_t) manifest_writer_finish(writer)->file.length > before_end);
}

static const UnitTest tests[] = {
	UNIT(added_files_come_back),
	UNIT(counts_and_length_are_known),
	UNIT(summaries_are_exact),
	UNIT(zeros_are_bounded_by_both),
	UNIT(nan_is_no_bound),
	UNIT(carried_entries_keep_what_they_inherited),
	UNIT(what_others_wrote_is_carried),
	UNIT(files_of_unknown_formats_are_parquet),
	UNIT(entries_that_lack_what_is_required_are_refused),
	UNIT(unknown_sequence_numbers_stay_unknown),
	UNIT(deletes_among_data_are_carried),
	UNIT(contents_are_not_mixed),
	UNIT(each_version_has_its_fields),
	UNIT(partition_fields_have_names_that_avro_takes),
	UNIT(headers_say_spec_version_and_content),
	UNIT(transforms_that_nobody_knows_are_refused),
	UNIT(size_grows_with_the_blocks),
};

UNIT_MAIN(tests)
