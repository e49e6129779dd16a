/*
 * A growable buffer, and a bounded cursor over input that throws CORRUPT
 * instead of reading past its end.
 */
#ifndef LAKE_BYTES_H
#define LAKE_BYTES_H

#include <string.h>

#include "base/base.h"

typedef struct LakeBuffer
{
	LakeArena  *arena;			/* owns data */
	uint8_t    *data;
	size_t		len;
	size_t		capacity;
} LakeBuffer;

extern void buffer_init(LakeBuffer *buffer, LakeArena *arena);

/* room for size more bytes after len */
extern void buffer_reserve(LakeBuffer *buffer, size_t size);

/* gives back what was reserved and is not used */
extern void buffer_trim(LakeBuffer *buffer);
extern void buffer_append(LakeBuffer *buffer, const void *data, size_t size);
extern void buffer_append_byte(LakeBuffer *buffer, uint8_t byte);
extern void buffer_append_text(LakeBuffer *buffer, const char *text);
extern void buffer_printf(LakeBuffer *buffer, const char *fmt,...)
			__attribute__((format(printf, 2, 3)));

/* what names the input in the error message, e.g. "Parquet footer" */
typedef struct ByteCursor
{
	const uint8_t *pos;
	const uint8_t *end;
	const char *what;
} ByteCursor;

extern _Noreturn void cursor_throw_truncated(const ByteCursor *cursor);

static inline void
cursor_init(ByteCursor *cursor, const void *data, size_t len, const char *what)
{
	cursor->pos = data;
	cursor->end = cursor->pos + len;
	cursor->what = what;
}

static inline size_t
cursor_left(const ByteCursor *cursor)
{
	return (size_t) (cursor->end - cursor->pos);
}

/* the next len bytes, which the cursor passes */
static inline const uint8_t *
cursor_take(ByteCursor *cursor, uint64_t len)
{
	const uint8_t *start = cursor->pos;

	if (len > cursor_left(cursor))
		cursor_throw_truncated(cursor);
	cursor->pos += len;
	return start;
}

static inline uint8_t
cursor_u8(ByteCursor *cursor)
{
	return *cursor_take(cursor, 1);
}

static inline uint32_t
cursor_u32le(ByteCursor *cursor)
{
	uint32_t	value;

	memcpy(&value, cursor_take(cursor, sizeof value), sizeof value);
	return value;
}

static inline uint64_t
cursor_u64le(ByteCursor *cursor)
{
	uint64_t	value;

	memcpy(&value, cursor_take(cursor, sizeof value), sizeof value);
	return value;
}

/* unsigned LEB128; more than 64 bits is CORRUPT */
extern uint64_t cursor_varint(ByteCursor *cursor);

/* zigzag on top of it (Thrift compact and Avro integers) */
extern int64_t cursor_zigzag(ByteCursor *cursor);

#endif							/* LAKE_BYTES_H */
