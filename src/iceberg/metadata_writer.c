/*
 * The next metadata file, out of the text of the last one.
 *
 * Members that a change does not concern keep their bytes, whoever wrote them
 * and whatever they mean; so do the elements of those that are added to.  A
 * member is rewritten where it stands, and a new one comes last.
 *
 * Iceberg spec, "Table Metadata Fields"; reference, 1.4 and 1.5.
 */
#include "iceberg/iceberg_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "base/random.h"
#include "codec/codec.h"

#define PREVIOUS_VERSIONS	100

/* members that an update may rewrite */
typedef enum EditKey
{
	EDIT_LAST_UPDATED_MS,
	EDIT_LAST_SEQUENCE_NUMBER,
	EDIT_NEXT_ROW_ID,
	EDIT_CURRENT_SNAPSHOT_ID,
	EDIT_REFS,
	EDIT_SNAPSHOTS,
	EDIT_SNAPSHOT_LOG,
	EDIT_METADATA_LOG,
	EDIT_PROPERTIES,
	EDIT_COUNT
} EditKey;

static const char *const edit_keys[EDIT_COUNT] = {
	[EDIT_LAST_UPDATED_MS] = "last-updated-ms",
	[EDIT_LAST_SEQUENCE_NUMBER] = "last-sequence-number",
	[EDIT_NEXT_ROW_ID] = "next-row-id",
	[EDIT_CURRENT_SNAPSHOT_ID] = "current-snapshot-id",
	[EDIT_REFS] = "refs",
	[EDIT_SNAPSHOTS] = "snapshots",
	[EDIT_SNAPSHOT_LOG] = "snapshot-log",
	[EDIT_METADATA_LOG] = "metadata-log",
	[EDIT_PROPERTIES] = "properties"
};

typedef struct Editor
{
	LakeArena  *arena;
	LakeBytes	base;
	const MetadataUpdate *update;
	int64_t		format_version;
	int64_t		base_updated_ms;
	int64_t		updated_ms;
	LakeBytes	old[EDIT_COUNT];	/* len 0: absent or null */
	LakeBuffer	new[EDIT_COUNT];
	bool		is_edited[EDIT_COUNT];
	bool		is_written[EDIT_COUNT];
} Editor;

/* ---- pieces of JSON ---- */

static void
append_bytes(LakeBuffer *out, LakeBytes bytes)
{
	buffer_append(out, bytes.data, bytes.len);
}

static LakeBuffer *
begin_edit(Editor *editor, EditKey key)
{
	buffer_init(&editor->new[key], editor->arena);
	editor->is_edited[key] = true;
	return &editor->new[key];
}

static int64_t
old_integer(const Editor *editor, EditKey key, int64_t if_absent)
{
	int64_t		value;

	if (editor->old[key].len == 0)
		return if_absent;
	if (!json_scan_int64(editor->old[key], &value))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "table metadata: \"%s\" is not an integer",
				   edit_keys[key]);
	return value;
}

static int
find_edit(LakeBytes key)
{
	for (int i = 0; i < EDIT_COUNT; i++)
	{
		if (strlen(edit_keys[i]) == key.len &&
			memcmp(edit_keys[i], key.data, key.len) == 0)
			return i;
	}
	return -1;
}

static void
scan_base(Editor *editor)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;
	LakeBytes	version;

	json_scan_begin_object(&scan, editor->base);
	while (json_scan_next_member(&scan, &key, &value))
	{
		int			edit = find_edit(key);

		if (edit < 0)
			continue;
		if (json_scan_is_null(value))
			value.len = 0;
		editor->old[edit] = value;
	}
	if (!json_scan_member(editor->base, "format-version", &version) ||
		!json_scan_int64(version, &editor->format_version))
		lake_throw(LAKE_ERROR_CORRUPT, "table metadata has no \"%s\"",
				   "format-version");
}

/* the elements of an array, with an open bracket before and a comma after */
static void
begin_array(Editor *editor, EditKey key, LakeBuffer *out)
{
	JsonScan	scan;
	LakeBytes	element;

	buffer_append_byte(out, '[');
	if (editor->old[key].len == 0)
		return;
	json_scan_begin(&scan, editor->old[key]);
	while (json_scan_next(&scan, &element))
	{
		append_bytes(out, element);
		buffer_append_byte(out, ',');
	}
}

/* ---- snapshots ---- */

static void
append_summary(LakeBuffer *out, const NewSnapshot *snapshot)
{
	buffer_append_text(out, "\"summary\":{\"operation\":");
	json_append_string(out, snapshot->operation);
	for (int i = 0; i < snapshot->summary_count; i++)
	{
		buffer_append_byte(out, ',');
		json_append_string(out, snapshot->summary[2 * i]);
		buffer_append_byte(out, ':');
		json_append_string(out, snapshot->summary[2 * i + 1]);
	}
	buffer_append_byte(out, '}');
}

static void
append_snapshot(const Editor *editor, LakeBuffer *out,
				const NewSnapshot *snapshot)
{
	buffer_append_byte(out, '{');
	if (editor->format_version >= 2)
		buffer_printf(out, "\"sequence-number\":%lld,",
					  (long long) snapshot->sequence_number);
	buffer_printf(out, "\"snapshot-id\":%lld,", (long long) snapshot->id);
	if (snapshot->parent_id != -1)
		buffer_printf(out, "\"parent-snapshot-id\":%lld,",
					  (long long) snapshot->parent_id);
	buffer_printf(out, "\"timestamp-ms\":%lld,",
				  (long long) snapshot->timestamp_ms);
	append_summary(out, snapshot);
	buffer_append_text(out, ",\"manifest-list\":");
	json_append_string(out, snapshot->manifest_list);
	buffer_printf(out, ",\"schema-id\":%d", (int) snapshot->schema_id);
	if (editor->format_version >= 3)
		buffer_printf(out, ",\"first-row-id\":%lld,\"added-rows\":%lld",
					  (long long) snapshot->first_row_id,
					  (long long) snapshot->added_rows);
	buffer_append_byte(out, '}');
}

static void
edit_snapshots(Editor *editor)
{
	const MetadataUpdate *update = editor->update;
	int64_t		sequence = old_integer(editor, EDIT_LAST_SEQUENCE_NUMBER, 0);
	int64_t		row_id = old_integer(editor, EDIT_NEXT_ROW_ID, 0);
	LakeBuffer *out;

	if (update->snapshot_count == 0)
		return;
	out = begin_edit(editor, EDIT_SNAPSHOTS);
	begin_array(editor, EDIT_SNAPSHOTS, out);
	for (int i = 0; i < update->snapshot_count; i++)
	{
		const NewSnapshot *snapshot = &update->snapshots[i];

		if (i > 0)
			buffer_append_byte(out, ',');
		append_snapshot(editor, out, snapshot);
		if (editor->format_version >= 2 &&
			snapshot->sequence_number <= sequence)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "snapshot %lld has sequence number %lld, not above %lld",
					   (long long) snapshot->id,
					   (long long) snapshot->sequence_number,
					   (long long) sequence);
		sequence = snapshot->sequence_number;
		/* readers add added-rows to the old value: gaps would be lost */
		if (editor->format_version >= 3 && snapshot->first_row_id != row_id)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "snapshot %lld has first-row-id %lld instead of %lld",
					   (long long) snapshot->id,
					   (long long) snapshot->first_row_id,
					   (long long) row_id);
		row_id += snapshot->added_rows;
	}
	buffer_append_byte(out, ']');
	if (editor->format_version >= 2)
		buffer_printf(begin_edit(editor, EDIT_LAST_SEQUENCE_NUMBER), "%lld",
					  (long long) sequence);
	if (editor->format_version >= 3)
		buffer_printf(begin_edit(editor, EDIT_NEXT_ROW_ID), "%lld",
					  (long long) row_id);
}

/* ---- refs ---- */

static bool
is_text(LakeBytes bytes, const char *text)
{
	return bytes.len == strlen(text) &&
		memcmp(bytes.data, text, bytes.len) == 0;
}

/* a ref as it was, but for the snapshot that it names */
static void
append_moved_ref(LakeBuffer *out, LakeBytes ref, int64_t snapshot_id)
{
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;

	buffer_printf(out, "{\"snapshot-id\":%lld", (long long) snapshot_id);
	json_scan_begin_object(&scan, ref);
	while (json_scan_next_member(&scan, &key, &value))
	{
		if (is_text(key, "snapshot-id"))
			continue;
		buffer_append_text(out, ",\"");
		append_bytes(out, key);
		buffer_append_text(out, "\":");
		append_bytes(out, value);
	}
	buffer_append_byte(out, '}');
}

static void
append_branch(LakeBuffer *out, int64_t snapshot_id)
{
	buffer_printf(out, "{\"snapshot-id\":%lld,\"type\":\"branch\"}",
				  (long long) snapshot_id);
}

static void
edit_refs(Editor *editor)
{
	const MetadataUpdate *update = editor->update;
	LakeBuffer	name;
	LakeBuffer *out;
	int64_t		current = old_integer(editor, EDIT_CURRENT_SNAPSHOT_ID, -1);
	bool		found = false;
	bool		is_main = update->ref != NULL &&
		strcmp(update->ref, "main") == 0;
	const char *separator = "";

	if (update->ref == NULL)
		return;
	/* as JSON, without the quotes: the form that the scanner gives keys in */
	buffer_init(&name, editor->arena);
	json_append_string(&name, update->ref);
	out = begin_edit(editor, EDIT_REFS);
	buffer_append_byte(out, '{');
	if (editor->old[EDIT_REFS].len > 0)
	{
		JsonScan	scan;
		LakeBytes	key;
		LakeBytes	value;

		json_scan_begin_object(&scan, editor->old[EDIT_REFS]);
		while (json_scan_next_member(&scan, &key, &value))
		{
			bool		is_it = key.len == name.len - 2 &&
				memcmp(key.data, name.data + 1, key.len) == 0;

			buffer_append_text(out, separator);
			separator = ",";
			buffer_append_byte(out, '"');
			append_bytes(out, key);
			buffer_append_text(out, "\":");
			if (is_it)
				append_moved_ref(out, value, update->ref_snapshot_id);
			else
				append_bytes(out, value);
			found = found || is_it;
		}
	}
	else if (current != -1 && !is_main)
	{
		/* a table from before there were refs */
		buffer_append_text(out, "\"main\":");
		append_branch(out, current);
		separator = ",";
	}
	if (!found)
	{
		buffer_append_text(out, separator);
		append_bytes(out, (LakeBytes)
					 {
						 name.data, name.len
					 });
		buffer_append_byte(out, ':');
		append_branch(out, update->ref_snapshot_id);
	}
	buffer_append_byte(out, '}');
	if (is_main)
		buffer_printf(begin_edit(editor, EDIT_CURRENT_SNAPSHOT_ID), "%lld",
					  (long long) update->ref_snapshot_id);
}

/* ---- logs ---- */

/*
 * One entry for what main is now; snapshots that were main in between, within
 * this one change, never show there.
 */
static void
edit_snapshot_log(Editor *editor)
{
	const MetadataUpdate *update = editor->update;
	int64_t		timestamp = editor->updated_ms;
	LakeBuffer *out;

	if (!editor->is_edited[EDIT_CURRENT_SNAPSHOT_ID])
		return;
	for (int i = 0; i < update->snapshot_count; i++)
	{
		if (update->snapshots[i].id == update->ref_snapshot_id)
			timestamp = update->snapshots[i].timestamp_ms;
	}
	out = begin_edit(editor, EDIT_SNAPSHOT_LOG);
	begin_array(editor, EDIT_SNAPSHOT_LOG, out);
	buffer_printf(out, "{\"timestamp-ms\":%lld,\"snapshot-id\":%lld}]",
				  (long long) timestamp, (long long) update->ref_snapshot_id);
}

/* the value of a property after the update, or NULL; the base's need no escape */
static const char *
property_after(Editor *editor, const char *key)
{
	const MetadataUpdate *update = editor->update;
	LakeBytes	value;

	for (int i = update->property_count - 1; i >= 0; i--)
	{
		if (strcmp(update->properties[2 * i], key) == 0)
			return update->properties[2 * i + 1];
	}
	if (editor->old[EDIT_PROPERTIES].len == 0 ||
		!json_scan_member(editor->old[EDIT_PROPERTIES], key, &value) ||
		value.len < 2 || value.data[0] != '"')
		return NULL;
	return lake_strndup(editor->arena, (const char *) value.data + 1,
						value.len - 2);
}

static int64_t
previous_versions(Editor *editor)
{
	static const char key[] = "write.metadata.previous-versions-max";
	const char *text = property_after(editor, key);
	char	   *end;
	long long	count;

	if (text == NULL)
		return PREVIOUS_VERSIONS;
	count = strtoll(text, &end, 10);
	if (*text == '\0' || *end != '\0')
		lake_throw(LAKE_ERROR_INVALID,
				   "table property \"%s\" is not an integer: \"%s\"", key,
				   text);
	return count < 1 ? 1 : count;
}

static void
edit_metadata_log(Editor *editor, const char *base_location)
{
	LakeBytes	old = editor->old[EDIT_METADATA_LOG];
	LakeBuffer *out;
	LakeBytes	element;
	JsonScan	scan;
	int64_t		count = 0;
	int64_t		excess;

	if (base_location == NULL)
		return;
	if (old.len > 0)
	{
		json_scan_begin(&scan, old);
		while (json_scan_next(&scan, &element))
			count++;
	}
	excess = count + 1 - previous_versions(editor);
	out = begin_edit(editor, EDIT_METADATA_LOG);
	buffer_append_byte(out, '[');
	if (old.len > 0)
	{
		json_scan_begin(&scan, old);
		while (json_scan_next(&scan, &element))
		{
			if (excess-- > 0)
				continue;
			append_bytes(out, element);
			buffer_append_byte(out, ',');
		}
	}
	buffer_printf(out, "{\"timestamp-ms\":%lld,\"metadata-file\":",
				  (long long) editor->base_updated_ms);
	json_append_string(out, base_location);
	buffer_append_text(out, "}]");
}

/* ---- properties ---- */

void
metadata_check_property(const char *key)
{
	static const char *const reserved[] = {
		"format-version", "uuid", "snapshot-count", "current-snapshot-summary",
		"current-snapshot-id", "current-snapshot-timestamp-ms",
		"current-schema", "default-partition-spec", "default-sort-order"
	};

	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
	{
		if (strcmp(key, reserved[i]) == 0)
			lake_throw(LAKE_ERROR_INVALID,
					   "table property \"%s\" is reserved", key);
	}
	if (key[0] == '\0')
		lake_throw(LAKE_ERROR_INVALID,
				   "the name of a table property must not be empty");
}

/* is the raw key changed by the update? */
static bool
is_changed(Editor *editor, LakeBytes raw)
{
	for (int i = 0; i < editor->update->property_count; i++)
	{
		LakeBuffer	key;

		buffer_init(&key, editor->arena);
		json_append_string(&key, editor->update->properties[2 * i]);
		if (key.len == raw.len + 2 &&
			memcmp(key.data + 1, raw.data, raw.len) == 0)
			return true;
	}
	return false;
}

static void
edit_properties(Editor *editor)
{
	const MetadataUpdate *update = editor->update;
	const char *separator = "";
	LakeBuffer *out;

	if (update->property_count == 0)
		return;
	out = begin_edit(editor, EDIT_PROPERTIES);
	buffer_append_byte(out, '{');
	if (editor->old[EDIT_PROPERTIES].len > 0)
	{
		JsonScan	scan;
		LakeBytes	key;
		LakeBytes	value;

		json_scan_begin_object(&scan, editor->old[EDIT_PROPERTIES]);
		while (json_scan_next_member(&scan, &key, &value))
		{
			if (is_changed(editor, key))
				continue;
			buffer_append_text(out, separator);
			separator = ",";
			buffer_append_byte(out, '"');
			append_bytes(out, key);
			buffer_append_text(out, "\":");
			append_bytes(out, value);
		}
	}
	for (int i = 0; i < update->property_count; i++)
	{
		const char *key = update->properties[2 * i];
		const char *value = update->properties[2 * i + 1];

		metadata_check_property(key);
		if (value == NULL)
			continue;
		buffer_append_text(out, separator);
		separator = ",";
		json_append_string(out, key);
		buffer_append_byte(out, ':');
		json_append_string(out, value);
	}
	buffer_append_byte(out, '}');
}

/* ---- the whole ---- */

static void
append_member(LakeBuffer *out, const char **separator, LakeBytes key,
			  LakeBytes value)
{
	buffer_append_text(out, *separator);
	*separator = ",";
	buffer_append_byte(out, '"');
	append_bytes(out, key);
	buffer_append_text(out, "\":");
	append_bytes(out, value);
}

static LakeBytes
edited(const Editor *editor, int key)
{
	LakeBytes	value = {editor->new[key].data, editor->new[key].len};

	return value;
}

static LakeBytes
write_all(Editor *editor)
{
	LakeBuffer	out;
	JsonScan	scan;
	LakeBytes	key;
	LakeBytes	value;
	const char *separator = "{";

	buffer_init(&out, editor->arena);
	buffer_reserve(&out, editor->base.len + 4096);
	json_scan_begin_object(&scan, editor->base);
	while (json_scan_next_member(&scan, &key, &value))
	{
		int			edit = find_edit(key);

		if (edit >= 0 && editor->is_edited[edit])
		{
			/* of repeated members the last has counted: one is left */
			if (editor->is_written[edit])
				continue;
			value = edited(editor, edit);
			editor->is_written[edit] = true;
		}
		append_member(&out, &separator, key, value);
	}
	for (int i = 0; i < EDIT_COUNT; i++)
	{
		if (!editor->is_edited[i] || editor->is_written[i])
			continue;
		key.data = (const uint8_t *) edit_keys[i];
		key.len = strlen(edit_keys[i]);
		append_member(&out, &separator, key, edited(editor, i));
	}
	buffer_append_byte(&out, '}');
	value.data = out.data;
	value.len = out.len;
	return value;
}

LakeBytes
metadata_apply(LakeArena *arena, LakeBytes base, const char *base_location,
			   const MetadataUpdate *update)
{
	Editor	   *editor = lake_alloc(arena, sizeof *editor);

	editor->arena = arena;
	editor->base = base;
	editor->update = update;
	scan_base(editor);
	editor->base_updated_ms = old_integer(editor, EDIT_LAST_UPDATED_MS, 0);
	editor->updated_ms = update->last_updated_ms > editor->base_updated_ms ?
		update->last_updated_ms : editor->base_updated_ms;
	buffer_printf(begin_edit(editor, EDIT_LAST_UPDATED_MS), "%lld",
				  (long long) editor->updated_ms);
	edit_snapshots(editor);
	edit_refs(editor);
	edit_snapshot_log(editor);
	edit_metadata_log(editor, base_location);
	edit_properties(editor);
	return write_all(editor);
}

/* ---- files ---- */

/* the number that a metadata file's name begins with, behind prefix; -1: none */
static int64_t
version_of(const char *location, const char *prefix)
{
	const char *slash = strrchr(location, '/');
	const char *name = slash == NULL ? location : slash + 1;
	size_t		len = strlen(prefix);
	char	   *end;
	long long	version;

	if (strncmp(name, prefix, len) != 0 ||
		!isdigit((unsigned char) name[len]))
		return -1;
	version = strtoll(name + len, &end, 10);
	if (version < 0 || version >= INT32_MAX || (*end != '-' && *end != '.'))
		return -1;
	return version;
}

const char *
metadata_directory(LakeArena *arena, const LakeTable *table)
{
	const char *path = iceberg_property(table, "write.metadata.path");
	char	   *copy;
	size_t		len;

	if (path == NULL)
		return location_join(arena, table->location, "metadata");
	copy = lake_strdup(arena, path);
	for (len = strlen(copy); len > 1 && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	return copy;
}

/* a property of the text, which may not have been parsed yet */
static const char *
text_property(LakeArena *arena, LakeBytes text, const char *key)
{
	LakeBytes	properties;
	LakeBytes	value;

	if (!json_scan_member(text, "properties", &properties) ||
		json_scan_is_null(properties) ||
		!json_scan_member(properties, key, &value) ||
		json_scan_is_null(value))
		return NULL;
	value = json_string(json_parse(arena, value, key), key);
	return lake_strndup(arena, (const char *) value.data, value.len);
}

static bool
is_compressed(LakeArena *arena, LakeBytes text)
{
	static const char key[] = "write.metadata.compression-codec";
	const char *codec = text_property(arena, text, key);

	if (codec == NULL || strcasecmp(codec, "none") == 0)
		return false;
	if (strcasecmp(codec, "gzip") != 0)
		lake_throw(LAKE_ERROR_INVALID,
				   "table property \"%s\" is \"%s\", not none or gzip", key,
				   codec);
	return true;
}

const char *
metadata_put(LakeArena *arena, LakeStore *store, const char *directory,
			 const char *base_location, bool hadoop_names, LakeBytes text)
{
	LakeArena  *scratch = lake_arena_create(arena, "lake metadata");
	bool		gzip = is_compressed(scratch, text);
	int64_t		version;
	const char *name;
	const char *location;

	if (hadoop_names)
	{
		version = base_location == NULL ? 0 : version_of(base_location, "v");
		name = lake_printf(scratch, "v%lld%s.metadata.json",
						   (long long) version + 1, gzip ? ".gz" : "");
	}
	else
	{
		char		uuid[37];

		version = base_location == NULL ? -1 : version_of(base_location, "");
		random_uuid(uuid);
		name = lake_printf(scratch, "%05lld-%s%s.metadata.json",
						   (long long) version + 1, uuid, gzip ? ".gz" : "");
	}
	location = location_join(arena, directory, name);
	if (gzip)
	{
		LakeBuffer	packed;

		buffer_init(&packed, scratch);
		codec_compress_append(codec_context_create(scratch), CODEC_GZIP,
							  CODEC_DEFAULT_LEVEL, text.data, text.len,
							  &packed);
		text.data = packed.data;
		text.len = packed.len;
	}
	lake_store_put(store, location, text);
	lake_arena_destroy(scratch);
	return location;
}
