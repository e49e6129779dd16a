/*
 * Writes Avro files by hand, byte for byte, for what no library would write.
 */
#ifndef LAKE_AVRO_FILE_H
#define LAKE_AVRO_FILE_H

#include "avro/avro.h"
#include "base/bytes.h"
#include "unit.h"

static const char avro_sync[] = "0123456789abcdef";

static inline void
put_long(LakeBuffer *out, int64_t value)
{
	uint64_t	left = ((uint64_t) value << 1) ^ (uint64_t) (value >> 63);

	while (left >= 0x80)
	{
		buffer_append_byte(out, (uint8_t) (left | 0x80));
		left >>= 7;
	}
	buffer_append_byte(out, (uint8_t) left);
}

static inline void
put_text(LakeBuffer *out, const char *text)
{
	put_long(out, (int64_t) strlen(text));
	buffer_append_text(out, text);
}

static inline void
put_header(LakeBuffer *out, const char *schema)
{
	buffer_append(out, "Obj\x01", 4);
	put_long(out, 1);
	put_text(out, "avro.schema");
	put_text(out, schema);
	put_long(out, 0);
	buffer_append(out, avro_sync, 16);
}

static inline void
put_block(LakeBuffer *out, int64_t count, const LakeBuffer *content)
{
	put_long(out, count);
	put_long(out, (int64_t) content->len);
	buffer_append(out, content->data, content->len);
	buffer_append(out, avro_sync, 16);
}

static inline AvroReader *
open_bytes(LakeArena *arena, const void *data, size_t len)
{
	/* a block of its own, so that a sanitizer sees a read past its end */
	uint8_t    *copy = lake_alloc(arena, len < 4096 ? 4096 : len);
	LakeBytes	bytes = {copy + (len < 4096 ? 4096 - len : 0), len};

	memcpy(copy + (len < 4096 ? 4096 - len : 0), data, len);
	return avro_reader_open(arena, lake_file_from_memory(arena, "test", bytes),
							"manifest");
}

/* a file of one block, which holds count records */
static inline AvroReader *
open_content(LakeArena *arena, const char *schema, int64_t count,
			 const LakeBuffer *content)
{
	LakeBuffer	file;

	buffer_init(&file, arena);
	put_header(&file, schema);
	put_block(&file, count, content);
	return open_bytes(arena, file.data, file.len);
}

#define RECORD(fields) \
	"{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define FIELD(name, id, type) \
	"{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":" type "}"
#define ARRAY(items)	"{\"type\":\"array\",\"items\":" items "}"
#define OPTIONAL(type)	"[\"null\"," type "]"

/* projects a field of the top record */
static inline int
project(AvroReader *reader, int32_t id)
{
	return avro_reader_project(reader, &id, 1);
}

static inline bool
is_bytes(const AvroSlot *slot, const void *data, size_t len)
{
	return slot->kind == AVRO_BYTES && slot->bytes.len == len &&
		(len == 0 || memcmp(slot->bytes.data, data, len) == 0);
}

static inline bool
is_text(const AvroSlot *slot, const char *text)
{
	return is_bytes(slot, text, strlen(text));
}

static inline bool
is_int(const AvroSlot *slot, int64_t value)
{
	return slot->kind == AVRO_INT && slot->i == value;
}

#endif							/* LAKE_AVRO_FILE_H */
