/*
 * Snapshots, parsed one at a time out of the metadata text.
 *
 * A table keeps thousands of them and a query needs one: the others are only
 * walked over.
 */
#include "iceberg/iceberg_int.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"

static bool
key_is(LakeBytes key, const char *name)
{
	size_t		len = strlen(name);

	return key.len == len && memcmp(key.data, name, len) == 0;
}

bool
snapshot_parse_id(LakeBytes value, int64_t *id)
{
	uint64_t	wrapped = 0;

	if (json_scan_int64(value, id))
		return true;
	if (value.len == 0)
		return false;
	for (size_t i = 0; i < value.len; i++)
	{
		uint8_t		c = value.data[i];

		if (c < '0' || c > '9' ||
			__builtin_mul_overflow(wrapped, 10, &wrapped) ||
			__builtin_add_overflow(wrapped, (uint64_t) (c - '0'), &wrapped))
			return false;
	}
	memcpy(id, &wrapped, sizeof *id);
	return true;
}

void
snapshot_scan(LakeBytes text, int64_t *id, int64_t *sequence_number)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;
	bool		has_id = false;
	bool		has_sequence = sequence_number == NULL;

	if (sequence_number != NULL)
		*sequence_number = 0;
	json_scan_begin_object(&scan, text);
	while (!(has_id && has_sequence) &&
		   json_scan_next_member(&scan, &key, &value))
	{
		if (key_is(key, "snapshot-id"))
			has_id = snapshot_parse_id(value, id);
		else if (!has_sequence && key_is(key, "sequence-number"))
			has_sequence = json_scan_int64(value, sequence_number);
	}
	if (!has_id)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "snapshot has no integer \"snapshot-id\"");
}

/* a count in a summary, where all values are strings; -1 when it is none */
static int64_t
summary_count(LakeJson *summary, const char *key)
{
	LakeJson   *value = json_find(summary, key);
	LakeBytes	text;
	char		digits[32];
	char	   *end;
	long long	count;

	if (value == NULL || json_kind(value) != JSON_STRING)
		return -1;
	text = json_string(value, key);

	if (text.len == 0 || text.len >= sizeof digits)
		return -1;
	memcpy(digits, text.data, text.len);
	digits[text.len] = '\0';
	errno = 0;
	count = strtoll(digits, &end, 10);
	if (errno != 0 || *end != '\0' || count < 0)
		return -1;
	return count;
}

static void
parse_summary(LakeArena *arena, LakeJson *summary, LakeSnapshot *snapshot)
{
	const char *operation;

	snapshot->total_records = -1;
	snapshot->total_data_files = -1;
	snapshot->total_size = -1;
	snapshot->total_position_deletes = -1;
	snapshot->total_equality_deletes = -1;
	if (summary == NULL)
		return;
	if (json_kind(summary) != JSON_OBJECT)
		lake_throw(LAKE_ERROR_CORRUPT, "snapshot's \"summary\" is no object");
	snapshot->total_records = summary_count(summary, "total-records");
	snapshot->total_data_files = summary_count(summary, "total-data-files");
	snapshot->total_size = summary_count(summary, "total-files-size");
	snapshot->total_position_deletes =
		summary_count(summary, "total-position-deletes");
	snapshot->total_equality_deletes =
		summary_count(summary, "total-equality-deletes");
	operation = json_find_string(summary, "operation");
	/* Java reads a summary without operation as an overwrite */
	snapshot->operation =
		operation == NULL ? "overwrite" : lake_strdup(arena, operation);
}

static void
parse_manifests(LakeArena *arena, LakeJson *manifests,
				IcebergSnapshot *result)
{
	size_t		count = json_array_length(manifests, "manifests");

	if (count > ICEBERG_MAX_MANIFEST_LIST_ENTRIES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "snapshot has %zu manifests, more than %d",
				   count, ICEBERG_MAX_MANIFEST_LIST_ENTRIES);
	result->manifests = lake_alloc_array(arena, count, sizeof(char *));
	result->manifest_count = (int) count;
	for (size_t i = 0; i < count; i++)
	{
		LakeBytes	path = json_string(json_array_at(manifests, i),
									   "manifests");

		if (memchr(path.data, '\0', path.len) != NULL)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "location of a manifest has a NUL character");
		result->manifests[i] =
			lake_strndup(arena, (const char *) path.data, path.len);
	}
}

IcebergSnapshot *
snapshot_parse(LakeArena *arena, LakeBytes text, int64_t id)
{
	LakeJson   *json = json_parse(arena, text, "snapshot");
	IcebergSnapshot *result = lake_alloc(arena, sizeof *result);
	LakeSnapshot *snapshot = &result->snapshot;
	const char *manifest_list;
	LakeJson   *manifests;
	LakeBytes	parent;

	snapshot->id = id;
	snapshot->timestamp_ms = json_get_int64(json, "timestamp-ms");
	if (!json_scan_member(text, "parent-snapshot-id", &parent) ||
		!snapshot_parse_id(parent, &snapshot->parent_id))
		snapshot->parent_id = -1;
	if (!json_find_int64(json, "sequence-number", &snapshot->sequence_number))
		snapshot->sequence_number = 0;
	if (!json_find_int32(json, "schema-id", &snapshot->schema_id))
		snapshot->schema_id = -1;
	parse_summary(arena, json_find(json, "summary"), snapshot);

	/* a v1 snapshot keeps its inline list when the table is upgraded */
	manifest_list = json_find_string(json, "manifest-list");
	manifests = json_find(json, "manifests");
	if (manifest_list != NULL)
		result->manifest_list = lake_strdup(arena, manifest_list);
	else if (manifests != NULL)
		parse_manifests(arena, manifests, result);
	else
		lake_throw(LAKE_ERROR_CORRUPT,
				   "snapshot %lld has no \"manifest-list\"",
				   (long long) snapshot->id);
	return result;
}

const LakeSnapshot *
iceberg_find_snapshot(LakeArena *arena, const LakeTable *table,
					  int64_t snapshot_id)
{
	const LakeSnapshot *current = table->current_snapshot;
	LakeBytes	snapshots = iceberg_table(table)->snapshots;
	JsonScan	scan;
	LakeBytes	text;

	if (current != NULL && current->id == snapshot_id)
		return current;
	if (snapshots.len == 0)
		return NULL;
	json_scan_begin(&scan, snapshots);
	while (json_scan_next(&scan, &text))
	{
		int64_t		id;

		lake_check_interrupts();
		snapshot_scan(text, &id, NULL);
		if (id == snapshot_id)
			return &snapshot_parse(arena, text, id)->snapshot;
	}
	return NULL;
}
