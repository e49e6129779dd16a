/*
 * DELTA_BINARY_PACKED integers, and the two encodings of byte arrays that have
 * their lengths in it.
 *
 * A few bytes can announce 2^31 values (miniblocks of width 0), so nothing here
 * is sized by a count: lengths are decoded in small steps beside their bytes,
 * and the end of a sequence of lengths is found by walking its block headers.
 *
 * Parquet format: Encodings.md, "Delta Encoding", "Delta-length byte array",
 * "Delta Strings".
 */
#include "parquet/encoding.h"

#include <string.h>

/* values unpacked, and lengths decoded, at a time */
#define CHUNK 256
/* unpacking may have to begin up to 7 values earlier; 8 keeps it aligned */
#define STEP (CHUNK - 8)

/* ---- integers ---- */

void
delta_init(DeltaDecoder *decoder, LakeBytes data)
{
	ByteCursor *cursor = &decoder->cursor;
	uint64_t	block_values;
	uint64_t	mini_count;

	memset(decoder, 0, sizeof *decoder);
	cursor_init(cursor, data.data, data.len, "DELTA_BINARY_PACKED data");

	/* some writers leave a page of NULLs empty */
	if (data.len == 0)
		return;
	block_values = cursor_varint(cursor);
	mini_count = cursor_varint(cursor);
	decoder->left = cursor_varint(cursor);
	decoder->value = (uint64_t) cursor_zigzag(cursor);
	decoder->at_first = decoder->left > 0;

	/*
	 * The specification wants blocks of 128 n and miniblocks of 32 n values;
	 * whole bytes are what decoding needs.  Without a block the sizes mean
	 * nothing, and some writers say 0.
	 */
	if (decoder->left <= 1)
		return;
	if (mini_count == 0 || block_values > INT32_MAX ||
		block_values % mini_count != 0 ||
		block_values / mini_count % 8 != 0 || block_values == 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "DELTA_BINARY_PACKED blocks of %llu values in %llu miniblocks",
				   (unsigned long long) block_values,
				   (unsigned long long) mini_count);
	decoder->mini_count = (uint32_t) mini_count;
	decoder->mini_values = (uint32_t) (block_values / mini_count);
	decoder->mini_next = decoder->mini_count;
}

/*
 * Starts the next miniblock, which must have the bytes of the values that are
 * still to come from it; its padding may be missing.
 */
static void
begin_miniblock(DeltaDecoder *decoder)
{
	ByteCursor *cursor = &decoder->cursor;
	uint64_t	size;
	uint64_t	needed;

	if (decoder->mini_next == decoder->mini_count)
	{
		decoder->min_delta = (uint64_t) cursor_zigzag(cursor);
		decoder->widths = cursor_take(cursor, decoder->mini_count);
		decoder->mini_next = 0;
	}
	decoder->mini_width = decoder->widths[decoder->mini_next++];
	if (decoder->mini_width > 64)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "DELTA_BINARY_PACKED miniblock of %d bits a value",
				   decoder->mini_width);
	decoder->mini_left = decoder->mini_values;
	if (decoder->mini_left > decoder->left)
		decoder->mini_left = (uint32_t) decoder->left;
	decoder->mini_at = 0;

	size = (uint64_t) decoder->mini_values / 8 * (unsigned) decoder->mini_width;
	needed = ((uint64_t) decoder->mini_left *
			  (unsigned) decoder->mini_width + 7) / 8;
	if (size > cursor_left(cursor))
		size = cursor_left(cursor);
	if (needed > size)
		encoding_throw_short(PARQUET_ENCODING_DELTA_BINARY_PACKED,
							 decoder->left);
	decoder->mini = cursor_take(cursor, size);
}

/*
 * Where decoded values go: as 64 or as 32 bits, or nowhere.  Functions that
 * take it are inlined, so that no loop asks.
 */
typedef enum Target
{
	TARGET_I64,
	TARGET_I32,
	TARGET_NONE
} Target;

__attribute__((always_inline))
static inline void
put(void *out, size_t i, uint64_t value, Target target)
{
	if (target == TARGET_I64)
		((int64_t *) out)[i] = (int64_t) value;
	else if (target == TARGET_I32)
		((int32_t *) out)[i] = (int32_t) (uint32_t) value;
}

/* the next count values of the miniblock, at most STEP */
__attribute__((always_inline))
static inline void
read_step(DeltaDecoder *decoder, void *out, size_t count, Target target)
{
	uint64_t	min_delta = decoder->min_delta;
	uint64_t	value = decoder->value;
	int			width = decoder->mini_width;

	/* unpacking starts at whole bytes */
	size_t		skipped = decoder->mini_at % 8;
	const uint8_t *group = decoder->mini +
		decoder->mini_at / 8 * (size_t) width;

	if (width == 0)
	{
		for (size_t i = 0; i < count; i++)
			put(out, i, value += min_delta, target);
	}
	else if (width <= 32)
	{
		uint32_t	deltas[CHUNK];

		unpack_u32(group, width, deltas, skipped + count);
		for (size_t i = 0; i < count; i++)
			put(out, i, value += min_delta + deltas[skipped + i], target);
	}
	else
	{
		uint64_t	deltas[CHUNK];

		unpack_u64(group, width, deltas, skipped + count);
		for (size_t i = 0; i < count; i++)
			put(out, i, value += min_delta + deltas[skipped + i], target);
	}
	decoder->value = value;
}

/* begins reading count values: checks and counts them, gives the header's */
static bool
take_first(DeltaDecoder *decoder, uint64_t count)
{
	if (count > decoder->left)
		encoding_throw_short(PARQUET_ENCODING_DELTA_BINARY_PACKED,
							 count - decoder->left);
	if (count == 0 || !decoder->at_first)
		return false;
	decoder->at_first = false;
	decoder->left--;
	return true;
}

/* values of the current miniblock, at most count and STEP */
static size_t
next_step(DeltaDecoder *decoder, uint64_t count)
{
	if (decoder->mini_left == 0)
		begin_miniblock(decoder);
	if (count > decoder->mini_left)
		count = decoder->mini_left;
	return count < STEP ? (size_t) count : STEP;
}

static void
pass(DeltaDecoder *decoder, uint32_t count)
{
	decoder->mini_at += count;
	decoder->mini_left -= count;
	decoder->left -= count;
}

void
delta_read_i64(DeltaDecoder *decoder, int64_t *out, size_t count)
{
	if (take_first(decoder, count))
	{
		*out++ = (int64_t) decoder->value;
		count--;
	}
	while (count > 0)
	{
		size_t		n = next_step(decoder, count);

		read_step(decoder, out, n, TARGET_I64);
		pass(decoder, (uint32_t) n);
		out += n;
		count -= n;
	}
}

void
delta_read_i32(DeltaDecoder *decoder, int32_t *out, size_t count)
{
	if (take_first(decoder, count))
	{
		*out++ = (int32_t) (uint32_t) decoder->value;
		count--;
	}
	while (count > 0)
	{
		size_t		n = next_step(decoder, count);

		read_step(decoder, out, n, TARGET_I32);
		pass(decoder, (uint32_t) n);
		out += n;
		count -= n;
	}
}

void
delta_skip(DeltaDecoder *decoder, uint64_t count)
{
	if (take_first(decoder, count))
		count--;
	while (count > 0)
	{
		size_t		n = next_step(decoder, count);

		if (decoder->mini_width == 0)
		{
			/* the whole rest of the miniblock at once */
			n = count < decoder->mini_left ? (size_t) count : decoder->mini_left;
			decoder->value += n * decoder->min_delta;
		}
		else
			read_step(decoder, NULL, n, TARGET_NONE);
		pass(decoder, (uint32_t) n);
		count -= n;
	}
}

const uint8_t *
delta_find_end(const DeltaDecoder *decoder)
{
	DeltaDecoder walk = *decoder;

	take_first(&walk, walk.left);
	while (walk.left > 0)
	{
		begin_miniblock(&walk);
		pass(&walk, walk.mini_left);
	}
	return walk.cursor.pos;
}

static void
init_integers(ValueDecoder *decoder, LakeBytes data)
{
	delta_init(&decoder->lengths, data);
}

static void
read_i32(ValueDecoder *decoder, void *out, uint32_t count)
{
	delta_read_i32(&decoder->lengths, out, count);
}

static void
read_i64(ValueDecoder *decoder, void *out, uint32_t count)
{
	delta_read_i64(&decoder->lengths, out, count);
}

static void
skip_integers(ValueDecoder *decoder, uint64_t count)
{
	delta_skip(&decoder->lengths, count);
}

const ValueDecoderOps delta_i32_ops = {init_integers, read_i32, skip_integers};
const ValueDecoderOps delta_i64_ops = {init_integers, read_i64, skip_integers};

/* ---- DELTA_LENGTH_BYTE_ARRAY ---- */

/* the bytes of data after a sequence of integers that decoder starts */
static LakeBytes
init_sequence(DeltaDecoder *decoder, LakeBytes data)
{
	LakeBytes	rest;

	delta_init(decoder, data);
	rest.data = delta_find_end(decoder);
	rest.len = data.len - (size_t) (rest.data - data.data);
	return rest;
}

static void
init_lengths(ValueDecoder *decoder, LakeBytes data)
{
	LakeBytes	contents = init_sequence(&decoder->lengths, data);

	cursor_init(&decoder->cursor, contents.data, contents.len,
				"DELTA_LENGTH_BYTE_ARRAY data");
}

static LakeBytes
take_content(ValueDecoder *decoder, int32_t len)
{
	ByteCursor *cursor = &decoder->cursor;

	if (len < 0 || (size_t) len > cursor_left(cursor))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "value of %d bytes where the page has %zu left",
				   (int) len, cursor_left(cursor));
	cursor->pos += len;
	return encoding_bytes(cursor->pos - len, (size_t) len);
}

static void
read_lengths(ValueDecoder *decoder, void *out, uint32_t count)
{
	LakeBytes  *values = out;

	while (count > 0)
	{
		int32_t		lengths[CHUNK];
		uint32_t	n = count < CHUNK ? count : CHUNK;

		delta_read_i32(&decoder->lengths, lengths, n);
		for (uint32_t i = 0; i < n; i++)
			values[i] = take_content(decoder, lengths[i]);
		values += n;
		count -= n;
	}
}

static void
skip_lengths(ValueDecoder *decoder, uint64_t count)
{
	while (count > 0)
	{
		LakeBytes	values[CHUNK];
		uint32_t	n = count < CHUNK ? (uint32_t) count : CHUNK;

		read_lengths(decoder, values, n);
		count -= n;
	}
}

const ValueDecoderOps delta_length_ops = {
	init_lengths, read_lengths, skip_lengths
};

/* ---- DELTA_BYTE_ARRAY ---- */

/* lengths of the next values, checked against each other and the page */
typedef struct Affixes
{
	int32_t		prefix[CHUNK];
	int32_t		suffix[CHUNK];
} Affixes;

static void
init_affixes(ValueDecoder *decoder, LakeBytes data)
{
	LakeBytes	rest = init_sequence(&decoder->prefixes, data);

	init_lengths(decoder, rest);
	buffer_init(&decoder->scratch, decoder->arena);
}

static void
read_affixes(ValueDecoder *decoder, Affixes *affixes, uint32_t count)
{
	size_t		left = cursor_left(&decoder->cursor);
	size_t		len = decoder->previous.len;

	delta_read_i32(&decoder->prefixes, affixes->prefix, count);
	delta_read_i32(&decoder->lengths, affixes->suffix, count);
	for (uint32_t i = 0; i < count; i++)
	{
		int32_t		prefix = affixes->prefix[i];
		int32_t		suffix = affixes->suffix[i];

		if (prefix < 0 || (size_t) prefix > len)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "prefix of %d bytes of a value of %zu bytes",
					   (int) prefix, len);
		if (suffix < 0 || (size_t) suffix > left)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "suffix of %d bytes where the page has %zu left",
					   (int) suffix, left);
		left -= (size_t) suffix;
		len = (size_t) prefix + (size_t) suffix;
		if (decoder->physical == PARQUET_FIXED_LEN_BYTE_ARRAY &&
			len != decoder->width)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "value of %zu bytes where all have %u", len,
					   decoder->width);
	}
}

/*
 * Memory for values put together, counted against the limit: values may share
 * prefixes of a page's size, so that n bytes of input can mean n^2 of output.
 */
static uint8_t *
alloc_values(ValueDecoder *decoder, size_t size)
{
	if (size > PARQUET_MAX_PAGE_BYTES - decoder->copied)
		lake_throw(LAKE_ERROR_LIMIT,
				   "page with more than %zu bytes of DELTA_BYTE_ARRAY values",
				   PARQUET_MAX_PAGE_BYTES);
	decoder->copied += size;
	return lake_alloc_raw(decoder->arena, size + PARQUET_PAGE_SLACK);
}

/*
 * memcpy for the short pieces that strings mostly are.  May read and write up
 * to 15 bytes more; the pages and alloc_values() have the slack, and what
 * follows in the destination is written later.
 */
static inline void
copy_short(uint8_t *dst, const uint8_t *src, size_t len)
{
	for (size_t i = 0; i < len; i += 16)
	{
		uint8_t		block[16];

		memcpy(block, src + i, sizeof block);
		memcpy(dst + i, block, sizeof block);
	}
}

/* a value equal to the one before shares its bytes; one without prefix has
 * its own in the page */
static inline bool
is_put_together(int32_t prefix, int32_t suffix, size_t previous_len)
{
	return prefix != 0 && (suffix != 0 || (size_t) prefix != previous_len);
}

static size_t
measure_copies(const ValueDecoder *decoder, const Affixes *affixes,
			   uint32_t count)
{
	size_t		len = decoder->previous.len;
	size_t		total = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		size_t		next = (size_t) affixes->prefix[i] +
			(size_t) affixes->suffix[i];

		if (is_put_together(affixes->prefix[i], affixes->suffix[i], len))
			total += next;
		len = next;
	}
	return total;
}

static void
build_values(ValueDecoder *decoder, const Affixes *affixes, LakeBytes *values,
			 uint32_t count)
{
	size_t		total = measure_copies(decoder, affixes, count);
	uint8_t    *room = total == 0 ? NULL : alloc_values(decoder, total);

	for (uint32_t i = 0; i < count; i++)
	{
		size_t		prefix = (size_t) affixes->prefix[i];
		LakeBytes	suffix = take_content(decoder, affixes->suffix[i]);

		if (prefix == 0)
			decoder->previous = suffix;
		else if (is_put_together(affixes->prefix[i], affixes->suffix[i],
								 decoder->previous.len))
		{
			copy_short(room, decoder->previous.data, prefix);
			copy_short(room + prefix, suffix.data, suffix.len);
			decoder->previous = encoding_bytes(room, prefix + suffix.len);
			room += prefix + suffix.len;
		}
		values[i] = decoder->previous;
	}
}

static void
read_strings(ValueDecoder *decoder, void *out, uint32_t count)
{
	LakeBytes  *values = out;

	/* scratch changes with the next skip, values given must not */
	if (decoder->previous.len > 0 &&
		decoder->previous.data == decoder->scratch.data)
	{
		size_t		len = decoder->previous.len;

		decoder->previous.data =
			memcpy(alloc_values(decoder, len), decoder->scratch.data, len);
	}
	while (count > 0)
	{
		Affixes		affixes;
		uint32_t	n = count < CHUNK ? count : CHUNK;

		read_affixes(decoder, &affixes, n);
		build_values(decoder, &affixes, values, n);
		values += n;
		count -= n;
	}
}

/* skipped values are put together too, one after the other in scratch */
static void
skip_string(ValueDecoder *decoder, size_t prefix, LakeBytes suffix)
{
	LakeBuffer *scratch = &decoder->scratch;
	bool		in_place = decoder->previous.data == scratch->data;

	if (prefix == 0)
	{
		decoder->previous = suffix;
		return;
	}
	scratch->len = in_place ? prefix : 0;
	buffer_reserve(scratch, prefix + suffix.len + PARQUET_PAGE_SLACK);
	if (!in_place)
		copy_short(scratch->data, decoder->previous.data, prefix);
	copy_short(scratch->data + prefix, suffix.data, suffix.len);
	scratch->len = prefix + suffix.len;
	decoder->previous = encoding_bytes(scratch->data, scratch->len);
}

static void
skip_strings(ValueDecoder *decoder, uint64_t count)
{
	while (count > 0)
	{
		Affixes		affixes;
		uint32_t	n = count < CHUNK ? (uint32_t) count : CHUNK;

		read_affixes(decoder, &affixes, n);
		for (uint32_t i = 0; i < n; i++)
			skip_string(decoder, (size_t) affixes.prefix[i],
						take_content(decoder, affixes.suffix[i]));
		count -= n;
	}
}

const ValueDecoderOps delta_bytes_ops = {
	init_affixes, read_strings, skip_strings
};
