/*
 * Fields of manifest lists and manifests as checked C values.
 */
#include "iceberg/iceberg_int.h"

AvroReader *
avro_field_open(LakeArena *arena, LakeStore *store, const char *path,
				const char *what)
{
	LakeFile   *file = lake_file_open(store, arena, path, what);
	char		magic[4];

	/* the stream format of encrypted tables' metadata */
	if (file->size >= sizeof magic)
	{
		lake_file_read(file, 0, sizeof magic, magic);
		if (memcmp(magic, "AGS1", sizeof magic) == 0)
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "%s \"%s\" is encrypted, which is not supported",
					   what, path);
	}
	return avro_reader_open(arena, file, what);
}

int64_t
avro_field_int64(const AvroSlot *slot, const char *name, int64_t if_null)
{
	if (slot->kind == AVRO_NULL)
		return if_null;
	if (slot->kind != AVRO_INT && slot->kind != AVRO_BOOL)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is not an integer", name);
	return slot->i;
}

LakeBytes
avro_field_bytes(const AvroSlot *slot, const char *name)
{
	static const LakeBytes none = {NULL, 0};

	if (slot->kind == AVRO_NULL)
		return none;
	if (slot->kind != AVRO_BYTES)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is neither text nor bytes",
				   name);
	return slot->bytes;
}

bool
avro_field_is_word(LakeBytes bytes, const char *word)
{
	if (bytes.len != strlen(word))
		return false;
	for (size_t i = 0; i < bytes.len; i++)
	{
		uint8_t		c = bytes.data[i];

		if (c >= 'A' && c <= 'Z')
			c = (uint8_t) (c - 'A' + 'a');
		if (c != (uint8_t) word[i])
			return false;
	}
	return true;
}

LakeBytes
avro_field_location(const AvroSlot *slot, const char *name)
{
	LakeBytes	bytes = avro_field_bytes(slot, name);

	if (bytes.data == NULL || bytes.len == 0)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" is missing", name);
	if (memchr(bytes.data, '\0', bytes.len) != NULL)
		lake_throw(LAKE_ERROR_CORRUPT, "\"%s\" has a NUL character", name);
	return bytes;
}
