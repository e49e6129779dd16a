/*
 * Partitions as paths: "day=2026-03-01/name=a+b", in file names and in
 * summaries.
 *
 * A convention of layout alone: nothing is ever read from such a path.
 */
#include "iceberg/iceberg_int.h"

/* as Java's URLEncoder: what forms are submitted in */
static void
append_encoded(LakeBuffer *path, const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
	{
		if (strchr(".-*_", *c) != NULL || (*c >= '0' && *c <= '9') ||
			(*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))
			buffer_append_byte(path, (uint8_t) *c);
		else if (*c == ' ')
			buffer_append_byte(path, '+');
		else
			buffer_printf(path, "%%%02X", (unsigned int) (uint8_t) *c);
	}
}

const char *
iceberg_partition_path(LakeArena *arena, const LakePartitionSpec *spec,
					   const LakeValue *partition)
{
	LakeBuffer	path;

	buffer_init(&path, arena);
	for (int i = 0; i < spec->field_count; i++)
	{
		const PartitionField *field = &spec->fields[i];

		if (i > 0)
			buffer_append_byte(&path, '/');
		append_encoded(&path, field->name);
		buffer_append_byte(&path, '=');
		append_encoded(&path, iceberg_human_string(arena, field,
												   &partition[i]));
	}
	buffer_append_byte(&path, '\0');
	return (const char *) path.data;
}
