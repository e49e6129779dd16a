/*
 * What a metadata file says of its table's history, for whoever asks: all
 * snapshots, the two logs, refs.
 *
 * A scan needs one snapshot of thousands, so the others stayed text when the
 * table was opened.  They are read here by the scanner, member by member, which
 * is eight times as fast as json-c; strings with escapes are left to json-c.
 *
 * Iceberg spec, "Table Metadata Fields" and "Snapshots".
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>

#include "base/json.h"

struct IcebergSnapshotWalk
{
	JsonScan	scan;
	bool		is_empty;
};

/* ---- members ---- */

static bool
key_is(LakeBytes key, const char *name)
{
	size_t		len = strlen(name);

	return key.len == len && memcmp(key.data, name, len) == 0;
}

/* raw: what stands between the quotes */
static const char *
copy_string(LakeArena *arena, LakeBytes raw, const char *what)
{
	LakeBytes	quoted = {raw.data - 1, raw.len + 2};
	LakeBytes	text = raw;

	if (memchr(raw.data, '\\', raw.len) != NULL)
		text = json_string(json_parse(arena, quoted, what), what);
	if (memchr(text.data, '\0', text.len) != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "%s has a NUL character", what);
	return lake_strndup(arena, (const char *) text.data, text.len);
}

/* NULL for null */
static const char *
read_string(LakeArena *arena, LakeBytes value, const char *what)
{
	LakeBytes	raw = {value.data + 1, value.len - 2};

	if (json_scan_is_null(value))
		return NULL;
	if (value.len < 2 || value.data[0] != '"')
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is not a string", what);
	return copy_string(arena, raw, what);
}

/* a value of a summary: text; what is no string, as some write numbers, as it is */
static const char *
read_text(LakeArena *arena, LakeBytes value, const char *what)
{
	if (value.data[0] == '"' || json_scan_is_null(value))
		return read_string(arena, value, what);
	return lake_strndup(arena, (const char *) value.data, value.len);
}

static int64_t
read_int64(LakeBytes value, const char *what)
{
	int64_t		result;

	if (!json_scan_int64(value, &result))
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is not an integer", what);
	return result;
}

static int32_t
read_int32(LakeBytes value, const char *what)
{
	int64_t		result = read_int64(value, what);

	if (result < INT32_MIN || result > INT32_MAX)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" does not fit 32 bits", what);
	return (int32_t) result;
}

static int64_t
read_id(LakeBytes value, const char *what)
{
	int64_t		id;

	if (!snapshot_parse_id(value, &id))
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is not an integer", what);
	return id;
}

/* ---- snapshots ---- */

static void
read_summary(LakeArena *arena, LakeBytes value, IcebergSnapshotInfo *info)
{
	LakeBuffer	pairs;
	JsonScan	scan;
	LakeBytes	key;

	info->operation = NULL;
	info->summary_count = 0;
	buffer_init(&pairs, arena);
	json_scan_begin_object(&scan, value);
	while (json_scan_next_member(&scan, &key, &value))
	{
		const char *pair[2];

		/* Java's word for a summary that has none, unless it is empty */
		if (info->operation == NULL)
			info->operation = "overwrite";
		pair[1] = read_text(arena, value, "summary");
		if (key_is(key, "operation"))
		{
			if (pair[1] != NULL)
				info->operation = pair[1];
			continue;
		}
		pair[0] = copy_string(arena, key, "summary");
		buffer_append(&pairs, pair, sizeof pair);
		info->summary_count++;
	}
	info->summary = (const char *const *) (const void *) pairs.data;
}

static void
read_snapshot(LakeArena *arena, LakeBytes text, bool with_summary,
			  IcebergSnapshotInfo *info)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;
	bool		has_id = false;
	bool		has_time = false;

	info->schema_id = -1;
	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &key, &value))
	{
		if (json_scan_is_null(value))
			continue;
		if (key_is(key, "snapshot-id"))
		{
			info->id = read_id(value, "snapshot-id");
			has_id = true;
		}
		else if (key_is(key, "parent-snapshot-id"))
		{
			info->parent_id = read_id(value, "parent-snapshot-id");
			info->has_parent = info->parent_id != -1;
		}
		else if (key_is(key, "timestamp-ms"))
		{
			info->timestamp_ms = read_int64(value, "timestamp-ms");
			has_time = true;
		}
		else if (key_is(key, "sequence-number"))
			info->sequence_number = read_int64(value, "sequence-number");
		else if (key_is(key, "schema-id"))
			info->schema_id = read_int32(value, "schema-id");
		else if (key_is(key, "manifest-list"))
			info->manifest_list = read_string(arena, value, "manifest-list");
		else if (with_summary && key_is(key, "summary"))
			read_summary(arena, value, info);
	}
	if (!has_id || !has_time)
		lake_throw(LAKE_ERROR_CORRUPT, "snapshot has no \"%s\"",
				   has_id ? "timestamp-ms" : "snapshot-id");
}

const IcebergSnapshotInfo *
snapshot_info_read(LakeArena *arena, LakeBytes text)
{
	IcebergSnapshotInfo *info = lake_alloc(arena, sizeof *info);

	read_snapshot(arena, text, true, info);
	return info;
}

IcebergSnapshotWalk *
iceberg_walk_snapshots(LakeArena *arena, const LakeTable *table)
{
	LakeBytes	snapshots = iceberg_table(table)->snapshots;
	IcebergSnapshotWalk *walk = lake_alloc(arena, sizeof *walk);

	walk->is_empty = snapshots.len == 0;
	if (!walk->is_empty)
		json_scan_begin(&walk->scan, snapshots);
	return walk;
}

const IcebergSnapshotInfo *
iceberg_next_snapshot(IcebergSnapshotWalk *walk, LakeArena *arena)
{
	LakeBytes	text;

	lake_check_interrupts();
	if (walk->is_empty || !json_scan_next(&walk->scan, &text))
		return NULL;
	return snapshot_info_read(arena, text);
}

/* ---- the index ---- */

static int
compare_snapshots(const void *a, const void *b)
{
	int64_t		left = ((const IcebergSnapshotInfo *) a)->id;
	int64_t		right = ((const IcebergSnapshotInfo *) b)->id;

	return (left > right) - (left < right);
}

const IcebergSnapshotIndex *
iceberg_index_snapshots(LakeArena *arena, const LakeTable *table)
{
	IcebergSnapshotIndex *index = lake_alloc(arena, sizeof *index);
	LakeBytes	snapshots = iceberg_table(table)->snapshots;
	LakeBuffer	infos;
	JsonScan	scan;
	LakeBytes	text;

	if (snapshots.len == 0)
		return index;
	buffer_init(&infos, arena);
	json_scan_begin(&scan, snapshots);
	while (json_scan_next(&scan, &text))
	{
		IcebergSnapshotInfo info = {0};

		lake_check_interrupts();
		read_snapshot(arena, text, false, &info);
		buffer_append(&infos, &info, sizeof info);
	}
	index->count = infos.len / sizeof(IcebergSnapshotInfo);
	if (index->count > 0)
		qsort(infos.data, index->count, sizeof(IcebergSnapshotInfo),
			  compare_snapshots);
	index->snapshots = (const IcebergSnapshotInfo *) (const void *) infos.data;
	return index;
}

const IcebergSnapshotInfo *
iceberg_index_find(const IcebergSnapshotIndex *index, int64_t id)
{
	IcebergSnapshotInfo wanted = {.id = id};

	if (index->count == 0)
		return NULL;
	return bsearch(&wanted, index->snapshots, index->count, sizeof wanted,
				   compare_snapshots);
}

bool *
iceberg_index_ancestors(LakeArena *arena, const IcebergSnapshotIndex *index,
						int64_t head)
{
	bool	   *marks = lake_alloc_array(arena, index->count + 1,
										 sizeof *marks);
	const IcebergSnapshotInfo *info = head == -1 ? NULL :
		iceberg_index_find(index, head);

	/* a mark that is there already is a circle of parents */
	while (info != NULL && !marks[info - index->snapshots])
	{
		marks[info - index->snapshots] = true;
		info = info->has_parent ? iceberg_index_find(index, info->parent_id) :
			NULL;
	}
	return marks;
}

/* ---- logs ---- */

static void
read_log_entry(LakeBytes text, IcebergLogEntry *entry)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;
	bool		has_time = false;
	bool		has_id = false;

	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &key, &value))
	{
		if (key_is(key, "timestamp-ms"))
		{
			entry->timestamp_ms = read_int64(value, "timestamp-ms");
			has_time = true;
		}
		else if (key_is(key, "snapshot-id"))
		{
			entry->snapshot_id = read_id(value, "snapshot-id");
			has_id = true;
		}
	}
	if (!has_time || !has_id)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "an entry of \"snapshot-log\" has no \"%s\"",
				   has_time ? "snapshot-id" : "timestamp-ms");
}

const IcebergLogEntry *
iceberg_snapshot_log(LakeArena *arena, const LakeTable *table, size_t *count)
{
	LakeBytes	log = iceberg_table(table)->snapshot_log;
	LakeBuffer	entries;
	JsonScan	scan;
	LakeBytes	element;

	buffer_init(&entries, arena);
	*count = 0;
	if (log.len == 0)
		return NULL;
	json_scan_begin(&scan, log);
	while (json_scan_next(&scan, &element))
	{
		IcebergLogEntry entry;

		lake_check_interrupts();
		read_log_entry(element, &entry);
		buffer_append(&entries, &entry, sizeof entry);
	}
	*count = entries.len / sizeof(IcebergLogEntry);
	return (const IcebergLogEntry *) (const void *) entries.data;
}

/* by time, then by place */
static int
compare_log_entries(const void *a, const void *b)
{
	const IcebergLogEntry *left = *(const IcebergLogEntry *const *) a;
	const IcebergLogEntry *right = *(const IcebergLogEntry *const *) b;

	if (left->timestamp_ms != right->timestamp_ms)
		return left->timestamp_ms > right->timestamp_ms ? 1 : -1;
	return (left > right) - (left < right);
}

static bool
is_timeline(const IcebergLogEntry *log, size_t count)
{
	for (size_t i = 1; i < count; i++)
	{
		if (log[i].timestamp_ms <= log[i - 1].timestamp_ms)
			return false;
	}
	return true;
}

const IcebergLogEntry *
iceberg_timeline(LakeArena *arena, const LakeTable *table, size_t *count)
{
	const IcebergLogEntry *log = iceberg_snapshot_log(arena, table, count);
	const IcebergLogEntry **sorted;
	IcebergLogEntry *timeline;
	size_t		kept = 0;

	if (is_timeline(log, *count))
		return log;
	sorted = lake_alloc_array(arena, *count, sizeof *sorted);
	for (size_t i = 0; i < *count; i++)
		sorted[i] = &log[i];
	qsort(sorted, *count, sizeof *sorted, compare_log_entries);
	timeline = lake_alloc_array(arena, *count, sizeof *timeline);
	for (size_t i = 0; i < *count; i++)
	{
		if (kept == 0 ||
			sorted[i]->timestamp_ms != timeline[kept - 1].timestamp_ms)
			timeline[kept++] = *sorted[i];
	}
	lake_free(arena, sorted);
	*count = kept;
	return timeline;
}

const IcebergLogEntry *
iceberg_log_at(const IcebergLogEntry *timeline, size_t count,
			   int64_t timestamp_ms)
{
	size_t		low = 0;
	size_t		high = count;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (timeline[middle].timestamp_ms <= timestamp_ms)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NULL : &timeline[low - 1];
}

const IcebergMetadataLogEntry *
iceberg_metadata_log(LakeArena *arena, const LakeTable *table, size_t *count)
{
	LakeBytes	log = iceberg_table(table)->metadata_log;
	LakeBuffer	entries;
	JsonScan	scan;
	LakeBytes	element;

	buffer_init(&entries, arena);
	*count = 0;
	if (log.len == 0)
		return NULL;
	json_scan_begin(&scan, log);
	while (json_scan_next(&scan, &element))
	{
		IcebergMetadataLogEntry entry;
		LakeBytes	time;
		LakeBytes	file;

		lake_check_interrupts();
		if (!json_scan_member(element, "timestamp-ms", &time) ||
			!json_scan_member(element, "metadata-file", &file))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "an entry of \"metadata-log\" lacks \"timestamp-ms\" "
					   "or \"metadata-file\"");
		entry.timestamp_ms = read_int64(time, "timestamp-ms");
		entry.file = read_string(arena, file, "metadata-file");
		if (entry.file == NULL)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "an entry of \"metadata-log\" has no \"metadata-file\"");
		buffer_append(&entries, &entry, sizeof entry);
	}
	*count = entries.len / sizeof(IcebergMetadataLogEntry);
	return (const IcebergMetadataLogEntry *) (const void *) entries.data;
}

/* ---- refs ---- */

static void
read_ref(LakeArena *arena, LakeBytes key, LakeBytes text, IcebergRef *ref)
{
	JsonScan	scan;
	LakeBytes	value;
	const char *type = NULL;

	memset(ref, 0, sizeof *ref);
	ref->name = copy_string(arena, key, "ref");
	ref->max_ref_age_ms = -1;
	ref->max_snapshot_age_ms = -1;
	ref->min_snapshots_to_keep = -1;
	json_scan_begin_object(&scan, text);
	while (json_scan_next_member(&scan, &key, &value))
	{
		if (json_scan_is_null(value))
			continue;
		if (key_is(key, "snapshot-id"))
			ref->snapshot_id = read_id(value, "snapshot-id");
		else if (key_is(key, "type"))
			type = read_string(arena, value, "type");
		else if (key_is(key, "max-ref-age-ms"))
			ref->max_ref_age_ms = read_int64(value, "max-ref-age-ms");
		else if (key_is(key, "max-snapshot-age-ms"))
			ref->max_snapshot_age_ms =
				read_int64(value, "max-snapshot-age-ms");
		else if (key_is(key, "min-snapshots-to-keep"))
			ref->min_snapshots_to_keep =
				read_int32(value, "min-snapshots-to-keep");
	}
	if (type == NULL ||
		(strcmp(type, "branch") != 0 && strcmp(type, "tag") != 0))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "ref \"%s\" is neither a branch nor a tag", ref->name);
	ref->is_tag = strcmp(type, "tag") == 0;
}

static int
compare_refs(const void *a, const void *b)
{
	return strcmp(((const IcebergRef *) a)->name,
				  ((const IcebergRef *) b)->name);
}

/* escapes may hide that two names are one, which no writer means */
static const IcebergRef *
sort_refs(LakeBuffer *refs, size_t *count)
{
	IcebergRef *sorted = (IcebergRef *) (void *) refs->data;

	*count = refs->len / sizeof *sorted;
	if (*count > 1)
		qsort(sorted, *count, sizeof *sorted, compare_refs);
	for (size_t i = 1; i < *count; i++)
	{
		if (strcmp(sorted[i].name, sorted[i - 1].name) == 0)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "table metadata has two refs \"%s\"", sorted[i].name);
	}
	return sorted;
}

const IcebergRef *
iceberg_refs(LakeArena *arena, const LakeTable *table, size_t *count)
{
	LakeBytes	text = iceberg_table(table)->refs;
	bool		has_main = false;
	LakeBuffer	refs;
	IcebergRef	ref;

	buffer_init(&refs, arena);
	if (text.len > 0)
	{
		JsonScan	scan;
		LakeBytes	key;
		LakeBytes	value;

		json_scan_begin_object(&scan, text);
		while (json_scan_next_member(&scan, &key, &value))
		{
			lake_check_interrupts();
			read_ref(arena, key, value, &ref);
			has_main = has_main || strcmp(ref.name, "main") == 0;
			buffer_append(&refs, &ref, sizeof ref);
		}
	}
	/* v1 tables need not say it (spec, "Snapshot References") */
	if (!has_main && table->current_snapshot != NULL)
	{
		memset(&ref, 0, sizeof ref);
		ref.name = "main";
		ref.snapshot_id = table->current_snapshot->id;
		ref.max_ref_age_ms = -1;
		ref.max_snapshot_age_ms = -1;
		ref.min_snapshots_to_keep = -1;
		buffer_append(&refs, &ref, sizeof ref);
	}
	return sort_refs(&refs, count);
}

/* ---- the rest ---- */

int64_t
iceberg_last_updated_ms(const LakeTable *table)
{
	return iceberg_table(table)->last_updated_ms;
}
