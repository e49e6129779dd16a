/*
 * LIKE: patterns are cut into pieces once, so that '%a%b%' costs a memmem a
 * piece.
 *
 * UTF-8 makes bytes enough: a piece without _ can only be found at the start
 * of a character, and _ takes a lead byte with what continues it.
 */
#include "table/predicate_int.h"

#include <string.h>

static bool
is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

LikePattern *
like_compile(LakeArena *arena, LakeBytes pattern)
{
	LikePattern *result = lake_alloc(arena, sizeof *result);
	uint8_t    *bytes = lake_alloc_raw(arena, pattern.len);
	uint8_t    *any = lake_alloc(arena, pattern.len);
	size_t		count = 1;
	size_t		used = 0;
	LikePiece  *piece;
	bool		has_any = false;

	for (size_t i = 0; i < pattern.len; i++)
		count += pattern.data[i] == '%';
	result->pieces = lake_alloc_array(arena, count, sizeof(LikePiece));
	piece = result->pieces;
	piece->bytes = bytes;
	for (size_t i = 0; i < pattern.len; i++)
	{
		uint8_t		c = pattern.data[i];

		if (c == '%')
		{
			piece->any = has_any ? any + (piece->bytes - bytes) : NULL;
			has_any = false;
			/* between two % signs nothing is wanted */
			if (piece->len > 0 || piece == result->pieces)
				piece++;
			piece->bytes = bytes + used;
			piece->len = 0;
			continue;
		}
		if (c == '_')
			any[used] = has_any = true;
		else if (c == '\\' && i + 1 < pattern.len)
			c = pattern.data[++i];
		bytes[used++] = c;
		piece->len++;
	}
	piece->any = has_any ? any + (piece->bytes - bytes) : NULL;
	result->count = (int) (piece - result->pieces) + 1;
	result->min_length = used;
	return result;
}

/* length of the text at its start that piece takes; -1 if it does not match */
static ptrdiff_t
match_start(const LikePiece *piece, const uint8_t *text, size_t len)
{
	size_t		pos = 0;

	if (piece->len == 0)
		return 0;
	if (piece->any == NULL)
		return len >= piece->len &&
			memcmp(text, piece->bytes, piece->len) == 0 ?
			(ptrdiff_t) piece->len : -1;
	for (size_t i = 0; i < piece->len; i++)
	{
		if (pos == len || (!piece->any[i] && text[pos] != piece->bytes[i]))
			return -1;
		pos++;
		while (piece->any[i] && pos < len && is_continuation(text[pos]))
			pos++;
	}
	return (ptrdiff_t) pos;
}

/* the same from the end backward */
static ptrdiff_t
match_end(const LikePiece *piece, const uint8_t *text, size_t len)
{
	size_t		left = len;

	if (piece->len == 0)
		return 0;
	if (piece->any == NULL)
		return len >= piece->len &&
			memcmp(text + len - piece->len, piece->bytes, piece->len) == 0 ?
			(ptrdiff_t) piece->len : -1;
	for (size_t i = piece->len; i-- > 0;)
	{
		if (left == 0)
			return -1;
		left--;
		if (!piece->any[i])
		{
			if (text[left] != piece->bytes[i])
				return -1;
			continue;
		}
		while (left > 0 && is_continuation(text[left]))
			left--;
	}
	return (ptrdiff_t) (len - left);
}

/* what follows the leftmost match, NULL if there is none */
static const uint8_t *
find_piece(const LikePiece *piece, const uint8_t *text, const uint8_t *end)
{
	if (piece->any == NULL)
	{
		const uint8_t *found = memmem(text, (size_t) (end - text),
									  piece->bytes, piece->len);

		return found == NULL ? NULL : found + piece->len;
	}
	for (; text < end; text++)
	{
		ptrdiff_t	taken;

		if (is_continuation(*text))
			continue;
		taken = match_start(piece, text, (size_t) (end - text));
		if (taken >= 0)
			return text + taken;
	}
	return NULL;
}

bool
like_matches(const LikePattern *pattern, LakeBytes text)
{
	const LikePiece *last = &pattern->pieces[pattern->count - 1];
	const uint8_t *pos = text.data;
	const uint8_t *end = text.data + text.len;
	ptrdiff_t	taken;

	if (text.len < pattern->min_length)
		return false;
	/* empty text may have no address to count from */
	if (text.len == 0)
		return pattern->count > 1 || pattern->pieces[0].len == 0;
	taken = match_start(pattern->pieces, pos, text.len);
	if (taken < 0)
		return false;
	pos += taken;
	if (pattern->count == 1)
		return pos == end;
	taken = match_end(last, pos, (size_t) (end - pos));
	if (taken < 0)
		return false;
	end -= taken;
	for (const LikePiece *piece = pattern->pieces + 1; piece < last; piece++)
	{
		pos = find_piece(piece, pos, end);
		if (pos == NULL)
			return false;
	}
	return true;
}

LakeBytes
like_prefix(const LikePattern *pattern)
{
	const LikePiece *first = pattern->pieces;
	LakeBytes	prefix = {.data = first->bytes, .len = first->len};

	if (first->any != NULL)
		prefix.len = (size_t) ((const uint8_t *)
							   memchr(first->any, 1, first->len) - first->any);
	return prefix;
}

bool
like_is_prefix(const LikePattern *pattern)
{
	return pattern->count == 2 && pattern->pieces[0].any == NULL &&
		pattern->pieces[1].len == 0;
}

LakeBytes
like_from_prefix(LakeArena *arena, LakeBytes prefix)
{
	uint8_t    *pattern = lake_alloc_raw(arena, 2 * prefix.len + 1);
	size_t		len = 0;

	for (size_t i = 0; i < prefix.len; i++)
	{
		uint8_t		c = prefix.data[i];

		if (c == '%' || c == '_' || c == '\\')
			pattern[len++] = '\\';
		pattern[len++] = c;
	}
	pattern[len++] = '%';
	return (LakeBytes) {.data = pattern, .len = len};
}
