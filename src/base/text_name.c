/*
 * Names for file formats that allow letters, digits and underscores only.
 */
#include "base/text.h"

#include <string.h>

#include "base/bytes.h"

/* bytes of a code point */
#define MAX_SEQUENCE	4

static bool
is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* a UTF-16 unit, as Java names them */
static void
append_unit(LakeBuffer *name, uint32_t unit)
{
	buffer_printf(name, "_x%X", unit);
}

/* a code point that a name cannot have */
static void
append_escaped(LakeBuffer *name, uint32_t code)
{
	if (code < 0x10000)
	{
		append_unit(name, code);
		return;
	}
	append_unit(name, 0xd800 + ((code - 0x10000) >> 10));
	append_unit(name, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

const char *
text_avro_name(LakeArena *arena, const char *name)
{
	LakeBytes	left = {(const uint8_t *) name, strlen(name)};
	LakeBuffer	result;

	buffer_init(&result, arena);
	while (left.len > 0)
	{
		size_t		len = text_prefix(left, 1);
		bool		is_digit = *left.data >= '0' && *left.data <= '9';

		if (len > MAX_SEQUENCE)
			len = MAX_SEQUENCE; /* it is no UTF-8 */
		if (is_digit && result.len == 0)
			buffer_append_byte(&result, '_');
		if (is_letter(*left.data) || is_digit)
			buffer_append_byte(&result, *left.data);
		else
			append_escaped(&result, text_code_point(left.data, len));
		left.data += len;
		left.len -= len;
	}
	buffer_append_byte(&result, '\0');
	return (const char *) result.data;
}
