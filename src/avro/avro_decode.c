/*
 * Runs a program over a record's bytes.
 *
 * Every length and count is checked against what is left of the block before
 * it is used.  Items that take no bytes are never counted through, so that the
 * work is bounded by the block's size.
 */
#include "avro/avro_int.h"

#include <string.h>

#include "base/bits.h"

/* slots of a record's lists; more is LIMIT */
#define MAX_ITEMS		((size_t) 1 << 22)
/* items between two looks at interrupts; a power of two */
#define ITEMS_PER_CHECK	65536

static const uint8_t *run(AvroDecoder *decoder, const uint8_t *pos,
						  const AvroOp *op, AvroSlot *base);

static _Noreturn void
throw_truncated(const AvroDecoder *decoder)
{
	lake_throw(LAKE_ERROR_CORRUPT, "%s has a block that ends within a record",
			   decoder->what);
}

static _Noreturn void
throw_bad_length(const AvroDecoder *decoder, const char *of, int64_t length)
{
	lake_throw(LAKE_ERROR_CORRUPT, "%s has %s of length %lld",
			   decoder->what, of, (long long) length);
}

static size_t
left_at(const AvroDecoder *decoder, const uint8_t *pos)
{
	return (size_t) (decoder->end - pos);
}

static const uint8_t *
skip(const AvroDecoder *decoder, const uint8_t *pos, uint64_t size)
{
	if (size > left_at(decoder, pos))
		throw_truncated(decoder);
	return pos + size;
}

/*
 * Bits beyond the 64th are dropped, as Java's and other decoders do: writers
 * have encoded ids of 2^63 and more.
 */
static const uint8_t *
read_long_varint(const AvroDecoder *decoder, const uint8_t *pos,
				 int64_t *value)
{
	uint64_t	result = 0;

	for (int shift = 0; shift < 70; shift += 7)
	{
		uint8_t		byte;

		if (pos == decoder->end)
			throw_truncated(decoder);
		byte = *pos++;
		result |= (uint64_t) (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			*value = bits_zigzag(result);
			return pos;
		}
	}
	lake_throw(LAKE_ERROR_CORRUPT, "%s has an integer of more than 10 bytes",
			   decoder->what);
}

static inline const uint8_t *
read_varint(const AvroDecoder *decoder, const uint8_t *pos, int64_t *value)
{
	if (pos < decoder->end && *pos < 0x80)
	{
		*value = bits_zigzag(*pos);
		return pos + 1;
	}
	return read_long_varint(decoder, pos, value);
}

static inline const uint8_t *
read_int(const AvroDecoder *decoder, const uint8_t *pos, int64_t *value)
{
	pos = read_varint(decoder, pos, value);
	if (*value != (int32_t) *value)
		lake_throw(LAKE_ERROR_CORRUPT, "%s has an int of more than 32 bits",
				   decoder->what);
	return pos;
}

/* the length of bytes that follow at the returned position */
static inline const uint8_t *
read_length(const AvroDecoder *decoder, const uint8_t *pos, size_t *length)
{
	int64_t		value;

	pos = read_varint(decoder, pos, &value);
	if (value < 0 || (uint64_t) value > left_at(decoder, pos))
		throw_bad_length(decoder, "bytes", value);
	*length = (size_t) value;
	return pos;
}

static inline const uint8_t *
skip_varint(const AvroDecoder *decoder, const uint8_t *pos)
{
	do
	{
		if (pos == decoder->end)
			throw_truncated(decoder);
	} while (*pos++ >= 0x80);
	return pos;
}

static inline const uint8_t *
skip_bytes(const AvroDecoder *decoder, const uint8_t *pos)
{
	size_t		length;

	pos = read_length(decoder, pos, &length);
	return pos + length;
}

/*
 * A varint ends at each byte below 0x80.  Eight bytes at once: a one for each
 * such byte, and the multiplication adds them up in the highest byte.
 */
static const uint8_t *
skip_varints(const AvroDecoder *decoder, const uint8_t *pos, uint64_t count)
{
	while (count >= 8 && left_at(decoder, pos) >= 8)
	{
		uint64_t	ends = (~bits_load_u64le(pos) >> 7) & 0x0101010101010101;

		count -= (ends * 0x0101010101010101) >> 56;
		pos += 8;
	}
	for (; count > 0; count--)
		pos = skip_varint(decoder, pos);
	return pos;
}

/*
 * The head of an array's or map's next block: *count items follow (0: it was
 * the last one), *size bytes if the writer says so, else -1.
 */
static const uint8_t *
read_block_head(const AvroDecoder *decoder, const uint8_t *pos,
				const AvroNode *node, uint64_t *count, int64_t *size)
{
	uint64_t	item_size = node->children[0]->min_size;
	int64_t		value;

	/* a map's items begin with a key, at least its length */
	if (node->type == AVRO_TYPE_MAP)
		item_size++;
	pos = read_varint(decoder, pos, &value);
	*size = -1;
	*count = (uint64_t) value;
	if (value < 0)
	{
		*count = -(uint64_t) value;
		pos = read_varint(decoder, pos, size);
		if (*size < 0 || (uint64_t) *size > left_at(decoder, pos))
			throw_bad_length(decoder, "an array's block", *size);
	}
	if (item_size > 0 && *count > left_at(decoder, pos) / item_size)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "%s has an array of %llu items in %zu bytes",
				   decoder->what, (unsigned long long) *count,
				   left_at(decoder, pos));
	return pos;
}

/* items that were read must end where their block's size says */
static void
check_block_end(const AvroDecoder *decoder, const uint8_t *start, int64_t size,
				const uint8_t *pos)
{
	if (size >= 0 && pos - start != size)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "%s has an array block of %lld bytes that says %lld",
				   decoder->what, (long long) (pos - start),
				   (long long) size);
}

/* called for each item: a block may have many millions */
static inline void
check_items(uint64_t left)
{
	if (left % ITEMS_PER_CHECK == 0)
		lake_check_interrupts();
}

static const uint8_t *
skip_items(AvroDecoder *decoder, const uint8_t *pos, const AvroOp *op)
{
	const AvroOp *body = op + 1;
	uint64_t	count;
	int64_t		size;

	for (;;)
	{
		pos = read_block_head(decoder, pos, op->node, &count, &size);
		if (count == 0)
			return pos;
		if (size >= 0)
		{
			pos += size;
			continue;
		}
		switch (op->shape)
		{
			case AVRO_ITEM_EMPTY:
				break;
			case AVRO_ITEM_VARINTS:
				pos = skip_varints(decoder, pos, count * body->number);
				break;
			case AVRO_ITEM_FIXED:
				pos = skip(decoder, pos, count * body->number);
				break;
			case AVRO_ITEM_BYTES:
				for (; count > 0; count--)
				{
					check_items(count);
					pos = skip_bytes(decoder, pos);
				}
				break;
			case AVRO_ITEM_INT_BYTES:
				for (; count > 0; count--)
				{
					check_items(count);
					pos = skip_varint(decoder, pos);
					pos = skip_bytes(decoder, pos);
				}
				break;
			case AVRO_ITEM_INT_LONG:
			case AVRO_ITEM_ANY:
				for (; count > 0; count--)
				{
					check_items(count);
					pos = run(decoder, pos, body, NULL);
				}
				break;
		}
	}
}

/* room for count more slots of the record's lists, zeroed */
static AvroSlot *
add_items(AvroDecoder *decoder, size_t count)
{
	size_t		needed = decoder->item_count + count;
	AvroSlot   *items;

	if (count > MAX_ITEMS || needed > MAX_ITEMS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "%s has a record whose lists have more than %zu values",
				   decoder->what, MAX_ITEMS);
	if (needed > decoder->item_capacity)
	{
		size_t		capacity = needed < 64 ? 64 : needed * 2;

		decoder->items = lake_realloc(decoder->arena, decoder->items,
									  decoder->item_capacity *
									  sizeof(AvroSlot),
									  capacity * sizeof(AvroSlot));
		decoder->item_capacity = capacity;
	}
	items = decoder->items + decoder->item_count;
	memset(items, 0, count * sizeof(AvroSlot));
	decoder->item_count = needed;
	return items;
}

static const uint8_t *
read_list(AvroDecoder *decoder, const uint8_t *pos, const AvroOp *op,
		  AvroSlot *slot)
{
	size_t		width = (size_t) op->number;
	uint64_t	count;
	int64_t		size;

	/* items may move until the record is complete: see list_starts */
	decoder->list_starts[slot - decoder->slots] = decoder->item_count;
	slot->kind = AVRO_LIST;
	slot->list.count = 0;
	for (;;)
	{
		AvroSlot   *items;
		const uint8_t *start;

		pos = start = read_block_head(decoder, pos, op->node, &count, &size);
		if (count == 0)
			return pos;
		if (count > MAX_ITEMS)
			count = MAX_ITEMS + 1;
		items = add_items(decoder, (size_t) count * width);
		slot->list.count += (size_t) count * width;
		for (; count > 0; count--, items += width)
		{
			check_items(count);
			pos = run(decoder, pos, op + 1, items);
		}
		check_block_end(decoder, start, size, pos);
	}
}

/* the slot for a key of a map, NULL if nobody asked for it */
static inline AvroSlot *
find_key(const AvroNode *node, int64_t key, AvroSlot *base)
{
	int			low = 0;
	int			high = node->key_count;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (node->keys[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == node->key_count || node->keys[low].key != key)
		return NULL;
	return base + node->keys[low].slot;
}

static const uint8_t *
find_entries(AvroDecoder *decoder, const uint8_t *pos, const AvroOp *op,
			 AvroSlot *base)
{
	uint64_t	count;
	int64_t		size;

	for (;;)
	{
		const uint8_t *start;

		pos = start = read_block_head(decoder, pos, op->node, &count, &size);
		if (count == 0)
			return pos;
		for (; count > 0; count--)
		{
			AvroSlot	entry[2] = {{.kind = AVRO_NULL}};
			AvroSlot   *found;

			check_items(count);
			if (op->shape == AVRO_ITEM_INT_BYTES)
			{
				size_t		length;

				pos = read_int(decoder, pos, &entry[0].i);
				pos = read_length(decoder, pos, &length);
				entry[1].kind = AVRO_BYTES;
				entry[1].bytes.data = pos;
				entry[1].bytes.len = length;
				pos += length;
			}
			else if (op->shape == AVRO_ITEM_INT_LONG)
			{
				pos = read_int(decoder, pos, &entry[0].i);
				entry[1].kind = AVRO_INT;
				pos = read_varint(decoder, pos, &entry[1].i);
			}
			else
			{
				pos = run(decoder, pos, op + 1, entry);
				/* an entry that is NULL, or has no key */
				if (entry[0].kind == AVRO_NULL)
					continue;
			}
			found = find_key(op->node, entry[0].i, base);
			if (found != NULL)
				*found = entry[1];
		}
		check_block_end(decoder, start, size, pos);
	}
}

/* one of the operations that fill a slot and do nothing else */
static inline const uint8_t *
read_scalar(const AvroDecoder *decoder, const uint8_t *pos, const AvroOp *op,
			AvroSlot *slot)
{
	const uint8_t *start = pos;
	uint32_t	bits32;
	uint64_t	bits64;
	float		f;

	switch (op->code)
	{
		case AVRO_OP_READ_BOOL:
			pos = skip(decoder, pos, 1);
			if (*start > 1)
				lake_throw(LAKE_ERROR_CORRUPT, "%s has a boolean of value %d",
						   decoder->what, *start);
			slot->kind = AVRO_BOOL;
			slot->i = *start;
			break;
		case AVRO_OP_READ_INT:
			slot->kind = AVRO_INT;
			pos = read_int(decoder, pos, &slot->i);
			break;
		case AVRO_OP_READ_LONG:
			slot->kind = AVRO_INT;
			pos = read_varint(decoder, pos, &slot->i);
			break;
		case AVRO_OP_READ_FLOAT:
			pos = skip(decoder, pos, sizeof bits32);
			bits32 = bits_load_u32le(start);
			memcpy(&f, &bits32, sizeof f);
			slot->kind = AVRO_FLOAT;
			slot->d = f;
			break;
		case AVRO_OP_READ_DOUBLE:
			pos = skip(decoder, pos, sizeof bits64);
			bits64 = bits_load_u64le(start);
			slot->kind = AVRO_DOUBLE;
			memcpy(&slot->d, &bits64, sizeof slot->d);
			break;
		case AVRO_OP_READ_BYTES:
			slot->kind = AVRO_BYTES;
			pos = read_length(decoder, pos, &slot->bytes.len);
			slot->bytes.data = pos;
			pos += slot->bytes.len;
			break;
		default:				/* AVRO_OP_READ_FIXED */
			pos = skip(decoder, pos, op->number);
			slot->kind = AVRO_BYTES;
			slot->bytes.data = start;
			slot->bytes.len = (size_t) op->number;
			break;
	}
	return pos;
}

static const uint8_t *
read_branch(const AvroDecoder *decoder, const uint8_t *pos, uint64_t count,
			uint64_t *branch)
{
	int64_t		value;

	pos = read_varint(decoder, pos, &value);
	if (value < 0 || (uint64_t) value >= count)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "%s has branch %lld of a union of %llu", decoder->what,
				   (long long) value, (unsigned long long) count);
	*branch = (uint64_t) value;
	return pos;
}

/* runs op and those behind it to their end; slots count from base */
static const uint8_t *
run(AvroDecoder *decoder, const uint8_t *pos, const AvroOp *op,
	AvroSlot *base)
{
	uint64_t	branch;

	for (;;)
	{
		switch (op->code)
		{
			case AVRO_OP_END:
				return pos;
			case AVRO_OP_SKIP_VARINTS:
				pos = skip_varints(decoder, pos, op->number);
				break;
			case AVRO_OP_SKIP_FIXED:
				pos = skip(decoder, pos, op->number);
				break;
			case AVRO_OP_SKIP_BYTES:
				pos = skip_bytes(decoder, pos);
				break;
			case AVRO_OP_READ_BOOL:
			case AVRO_OP_READ_INT:
			case AVRO_OP_READ_LONG:
			case AVRO_OP_READ_FLOAT:
			case AVRO_OP_READ_DOUBLE:
			case AVRO_OP_READ_BYTES:
			case AVRO_OP_READ_FIXED:
				pos = read_scalar(decoder, pos, op, base + op->slot);
				break;
			case AVRO_OP_OPTIONAL:
				pos = read_branch(decoder, pos, 2, &branch);
				if (branch == op->number)
				{
					op += op->jump;
					continue;
				}
				break;
			case AVRO_OP_UNION:
				pos = read_branch(decoder, pos, op->number, &branch);
				op += branch + 1;
				continue;
			case AVRO_OP_JUMP:
				op += op->jump;
				continue;
			case AVRO_OP_SKIP_ITEMS:
				pos = skip_items(decoder, pos, op);
				op += op->jump;
				continue;
			case AVRO_OP_LIST:
				pos = read_list(decoder, pos, op, base + op->slot);
				op += op->jump;
				continue;
			case AVRO_OP_FIND:
				pos = find_entries(decoder, pos, op, base);
				op += op->jump;
				continue;
		}
		op++;
	}
}

const uint8_t *
avro_decode_record(AvroDecoder *decoder, const AvroOp *ops,
				   const uint8_t *pos)
{
	decoder->item_count = 0;
	return run(decoder, pos, ops, decoder->slots);
}
