/*
 * Growable buffers and bounded cursors.
 */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/bits.h"

void
buffer_init(LakeBuffer *buffer, LakeArena *arena)
{
	buffer->arena = arena;
	buffer->data = NULL;
	buffer->len = 0;
	buffer->capacity = 0;
}

void
buffer_reserve(LakeBuffer *buffer, size_t size)
{
	size_t		needed;
	size_t		capacity = buffer->capacity < 64 ? 64 : buffer->capacity;

	if (__builtin_add_overflow(buffer->len, size, &needed))
		lake_throw(LAKE_ERROR_NO_MEMORY,
				   "out of memory: cannot add %zu bytes to a buffer", size);
	if (needed <= buffer->capacity)
		return;
	while (capacity < needed)
		capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
	buffer->data = lake_realloc(buffer->arena, buffer->data, buffer->capacity,
								capacity);
	buffer->capacity = capacity;
}

void
buffer_trim(LakeBuffer *buffer)
{
	if (buffer->len == 0 || buffer->len == buffer->capacity)
		return;
	buffer->data = lake_realloc(buffer->arena, buffer->data, buffer->capacity,
								buffer->len);
	buffer->capacity = buffer->len;
}

void
buffer_append(LakeBuffer *buffer, const void *data, size_t size)
{
	if (size == 0)
		return;
	buffer_reserve(buffer, size);
	memcpy(buffer->data + buffer->len, data, size);
	buffer->len += size;
}

void
buffer_append_byte(LakeBuffer *buffer, uint8_t byte)
{
	buffer_append(buffer, &byte, 1);
}

void
buffer_append_text(LakeBuffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void
buffer_printf(LakeBuffer *buffer, const char *fmt,...)
{
	va_list		args;
	int			len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0)
		lake_throw(LAKE_ERROR_INTERNAL, "cannot format \"%s\"", fmt);
	buffer_reserve(buffer, (size_t) len + 1);
	va_start(args, fmt);
	vsnprintf((char *) buffer->data + buffer->len, (size_t) len + 1, fmt,
			  args);
	va_end(args);
	buffer->len += (size_t) len;
}

void
cursor_throw_truncated(const ByteCursor *cursor)
{
	lake_throw(LAKE_ERROR_CORRUPT, "%s ends too early", cursor->what);
}

uint64_t
cursor_varint(ByteCursor *cursor)
{
	uint64_t	result = 0;

	for (int shift = 0; shift < 70; shift += 7)
	{
		uint8_t		byte = cursor_u8(cursor);

		if (shift == 63 && byte > 1)
			break;
		result |= (uint64_t) (byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return result;
	}
	lake_throw(LAKE_ERROR_CORRUPT, "%s has a variable-length integer of more than 64 bits",
			   cursor->what);
}

int64_t
cursor_zigzag(ByteCursor *cursor)
{
	return bits_zigzag(cursor_varint(cursor));
}
