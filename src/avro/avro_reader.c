/*
 * The container file: header, blocks, and what callers ask of its records.
 *
 * Avro specification, "Object Container Files".  The file is read through a
 * window that holds at least the block at hand.
 */
#include "avro/avro_int.h"

#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"

#define SYNC_SIZE		16
/* what one request reads, if the file has it */
#define WINDOW_SIZE		((size_t) 4 << 20)
#define MAX_HEADER_SIZE	((size_t) 64 << 20)
#define MAX_HEADER_ENTRIES 10000
/* a block, compressed or not */
#define MAX_BLOCK_SIZE	((size_t) 256 << 20)
/* records of a block that take no bytes at all */
#define MAX_EMPTY_RECORDS 1000000
#define RECORDS_PER_CHECK 1024

typedef struct HeaderEntry
{
	LakeBytes	key;
	LakeBytes	value;
} HeaderEntry;

struct AvroReader
{
	LakeArena  *arena;
	LakeFile   *file;
	const char *what;
	const char *doing;			/* "reading <what>", for the frame */

	uint64_t	offset;			/* of the next byte not taken yet */
	LakeBuffer	window;			/* bytes of the file */
	size_t		window_pos;		/* where offset is in it */

	uint8_t		sync[SYNC_SIZE];
	LakeBuffer	header;			/* HeaderEntry[] */
	LakeCodec	codec;
	CodecContext *context;
	AvroNode   *top;
	int			slot_count;

	const AvroOp *ops;			/* NULL before the first record */
	AvroDecoder decoder;
	LakeBuffer	block;			/* decompressed */
	const uint8_t *pos;			/* next record */
	uint64_t	records_left;	/* in the block */
};

static _Noreturn void
throw_corrupt(const AvroReader *reader, const char *problem)
{
	lake_throw(LAKE_ERROR_CORRUPT, "%s \"%s\" %s at byte %llu", reader->what,
			   reader->file->location, problem,
			   (unsigned long long) reader->offset);
}

/* the next size bytes of the file, borrowed until the next take */
static const uint8_t *
take(AvroReader *reader, uint64_t size)
{
	LakeBuffer *window = &reader->window;
	size_t		have = window->len - reader->window_pos;
	const uint8_t *taken;

	if (size > reader->file->size - reader->offset)
		throw_corrupt(reader, "is truncated");
	if (size > have)
	{
		uint64_t	next = reader->offset + have;
		uint64_t	wanted = size > WINDOW_SIZE ? size : WINDOW_SIZE;
		size_t		fresh;

		/* size is checked, so that this is at most what the file has */
		wanted -= have;
		fresh = (size_t) (wanted < reader->file->size - next ?
						  wanted : reader->file->size - next);
		if (have > 0)
			memmove(window->data, window->data + reader->window_pos, have);
		window->len = have;
		reader->window_pos = 0;
		buffer_reserve(window, fresh);
		lake_file_read(reader->file, next, fresh, window->data + have);
		window->len += fresh;
	}
	taken = window->data + reader->window_pos;
	reader->window_pos += (size_t) size;
	reader->offset += size;
	return taken;
}

static int64_t
take_long(AvroReader *reader)
{
	uint64_t	result = 0;

	for (int shift = 0; shift < 70; shift += 7)
	{
		uint8_t		byte = *take(reader, 1);

		result |= (uint64_t) (byte & 0x7f) << shift;
		if (byte < 0x80)
			return bits_zigzag(result);
	}
	throw_corrupt(reader, "has an integer of more than 10 bytes");
}

/* a copy, since the window moves */
static LakeBytes
take_header_bytes(AvroReader *reader)
{
	int64_t		len = take_long(reader);
	LakeBytes	bytes;

	if (len < 0)
		throw_corrupt(reader, "has a negative length");
	if ((uint64_t) len > MAX_HEADER_SIZE ||
		reader->offset + (uint64_t) len > MAX_HEADER_SIZE)
		lake_throw(LAKE_ERROR_LIMIT,
				   "%s \"%s\" has a header of more than %zu bytes",
				   reader->what, reader->file->location, MAX_HEADER_SIZE);
	bytes.len = (size_t) len;
	bytes.data = (const uint8_t *)
		lake_strndup(reader->arena,
					 (const char *) take(reader, bytes.len), bytes.len);
	return bytes;
}

static void
read_header(AvroReader *reader)
{
	int64_t		count;

	if (reader->file->size < 4 || memcmp(take(reader, 4), "Obj\x01", 4) != 0)
		lake_throw(LAKE_ERROR_CORRUPT, "%s \"%s\" is not an Avro file",
				   reader->what, reader->file->location);
	while ((count = take_long(reader)) != 0)
	{
		uint64_t	entries = (uint64_t) count;

		if (count < 0)
		{
			entries = -(uint64_t) count;
			take_long(reader);	/* the block's size in bytes */
		}
		for (; entries > 0; entries--)
		{
			HeaderEntry entry;

			if (reader->header.len / sizeof entry >= MAX_HEADER_ENTRIES)
				lake_throw(LAKE_ERROR_LIMIT,
						   "%s \"%s\" has a header of more than %d entries",
						   reader->what, reader->file->location,
						   MAX_HEADER_ENTRIES);
			entry.key = take_header_bytes(reader);
			entry.value = take_header_bytes(reader);
			buffer_append(&reader->header, &entry, sizeof entry);
		}
		lake_check_interrupts();
	}
	memcpy(reader->sync, take(reader, SYNC_SIZE), SYNC_SIZE);
}

bool
avro_reader_header(const AvroReader *reader, const char *key,
				   LakeBytes *value)
{
	const HeaderEntry *entries =
		(const HeaderEntry *) (const void *) reader->header.data;
	size_t		count = reader->header.len / sizeof *entries;

	for (size_t i = 0; i < count; i++)
	{
		if (entries[i].key.len == strlen(key) &&
			memcmp(entries[i].key.data, key, entries[i].key.len) == 0)
		{
			*value = entries[i].value;
			return true;
		}
	}
	return false;
}

AvroReader *
avro_reader_open(LakeArena *arena, LakeFile *file, const char *what)
{
	AvroReader *reader = lake_alloc(arena, sizeof *reader);
	LakeFrame	frame;
	LakeBytes	value;

	reader->arena = arena;
	reader->file = file;
	reader->what = what;
	reader->doing = lake_printf(arena, "reading %s", what);
	buffer_init(&reader->window, arena);
	buffer_init(&reader->header, arena);
	buffer_init(&reader->block, arena);
	reader->context = codec_context_create(arena);
	reader->decoder.arena = arena;
	reader->decoder.what = what;
	lake_frame_push(&frame, reader->doing, file->location);
	read_header(reader);
	if (avro_reader_header(reader, "avro.codec", &value))
		reader->codec = codec_from_avro_name(value);
	if (!avro_reader_header(reader, "avro.schema", &value))
		throw_corrupt(reader, "has no schema");
	reader->top = avro_schema_parse(arena, value);
	lake_frame_pop(&frame);
	return reader;
}

/* the other branch of a union of null and one type; else node itself */
static AvroNode *
non_null(AvroNode *node)
{
	if (node->type == AVRO_TYPE_UNION && node->child_count == 2)
	{
		if (node->children[0]->type == AVRO_TYPE_NULL)
			return node->children[1];
		if (node->children[1]->type == AVRO_TYPE_NULL)
			return node->children[0];
	}
	return node;
}

static AvroNode *
find_field(const AvroNode *record, int32_t field_id)
{
	for (int i = 0; i < record->child_count; i++)
	{
		if (record->children[i]->field_id == field_id)
			return record->children[i];
	}
	return NULL;
}

static _Noreturn void
throw_unsupported(const AvroReader *reader, AvroNode *node,
				  const char *instead_of)
{
	lake_throw(LAKE_ERROR_UNSUPPORTED,
			   "%s \"%s\" has field %d (\"%s\") of Avro type %s instead of %s",
			   reader->what, reader->file->location, node->field_id,
			   node->name == NULL ? "" : node->name,
			   avro_type_name(non_null(node)->type), instead_of);
}

/* the field at path, NULL if the writer has none; depth 0: the top record */
static AvroNode *
find_path(const AvroReader *reader, const int32_t *path, int depth)
{
	AvroNode   *node = reader->top;

	for (int i = 0; i < depth; i++)
	{
		AvroNode   *record = non_null(node);

		if (record->type != AVRO_TYPE_RECORD)
			throw_unsupported(reader, node, "record");
		node = find_field(record, path[i]);
		if (node == NULL)
			return NULL;
	}
	return node;
}

static void
mark_wanted(AvroNode *node)
{
	for (; node != NULL && !node->wanted; node = node->parent)
		node->wanted = true;
}

/* lets every scalar that node can be go to slot; field is for messages */
static void
ask_scalar(const AvroReader *reader, AvroNode *field, AvroNode *node, int slot)
{
	if (node->type == AVRO_TYPE_UNION)
	{
		for (int i = 0; i < node->child_count; i++)
			ask_scalar(reader, field, node->children[i], slot);
		return;
	}
	if (node->type >= AVRO_TYPE_RECORD)
		throw_unsupported(reader, field, "a scalar type");
	node->slot = slot;
	mark_wanted(node);
}

/*
 * The slots of an array's items belong to one projection: to be checked before
 * any of them is given.
 */
static void
check_not_list(const AvroNode *field, const AvroNode *array)
{
	if (array->width > 0)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "Avro array of field %d is projected in two ways",
				   field->field_id);
}

static void
check_list(const AvroReader *reader, AvroNode *field, const AvroNode *array)
{
	check_not_list(field, array);
	if (array->key_count > 0)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "Avro array of field %d is projected in two ways",
				   field->field_id);
	/* such items would cost nothing to write and much to read */
	if (array->children[0]->min_size == 0)
		throw_unsupported(reader, field, "an array of items with content");
}

/* gives the array width slots an item and a slot for the list */
static void
ask_list(AvroNode *array, int width, int slot)
{
	array->width = width;
	array->slot = slot;
	mark_wanted(array);
}

static int
project_node(AvroReader *reader, AvroNode *field)
{
	AvroNode   *node;

	if (field == NULL)
		return reader->slot_count++;
	node = non_null(field);
	if (field->slot >= 0)
		return field->slot;
	if (node->type == AVRO_TYPE_ARRAY)
	{
		check_list(reader, field, node);
		ask_scalar(reader, field, node->children[0], 0);
		ask_list(node, 1, reader->slot_count);
	}
	else
		ask_scalar(reader, field, node, reader->slot_count);
	field->slot = reader->slot_count;
	return reader->slot_count++;
}

static void
check_not_started(const AvroReader *reader)
{
	if (reader->ops != NULL)
		lake_throw(LAKE_ERROR_INTERNAL,
				   "Avro fields are projected after the first record");
}

int
avro_reader_project(AvroReader *reader, const int32_t *path, int depth)
{
	check_not_started(reader);
	return project_node(reader, find_path(reader, path, depth));
}

int
avro_reader_project_position(AvroReader *reader, const int32_t *path,
							 int depth, int position)
{
	AvroNode   *field = find_path(reader, path, depth);

	check_not_started(reader);
	if (field != NULL)
		field = non_null(field);
	if (field == NULL || field->type != AVRO_TYPE_RECORD ||
		position < 0 || position >= field->child_count)
		return reader->slot_count++;
	return project_node(reader, field->children[position]);
}

static AvroNode *
find_record(const AvroReader *reader, const int32_t *path, int depth)
{
	AvroNode   *field = find_path(reader, path, depth);
	AvroNode   *record;

	if (field == NULL)
		return NULL;
	record = non_null(field);
	if (record->type != AVRO_TYPE_RECORD)
		throw_unsupported(reader, field, "record");
	return record;
}

int
avro_reader_record_fields(AvroReader *reader, const int32_t *path, int depth)
{
	const AvroNode *record = find_record(reader, path, depth);

	return record == NULL ? 0 : record->child_count;
}

int32_t
avro_reader_record_field_id(AvroReader *reader, const int32_t *path, int depth,
							int position)
{
	const AvroNode *record = find_record(reader, path, depth);

	if (record == NULL || position < 0 || position >= record->child_count)
		return -1;
	return record->children[position]->field_id;
}

/* the record of an array's items; throws unless field is such an array */
static AvroNode *
find_item_record(const AvroReader *reader, AvroNode *field)
{
	AvroNode   *array = non_null(field);
	AvroNode   *item;

	if (array->type != AVRO_TYPE_ARRAY)
		throw_unsupported(reader, field, "array");
	item = non_null(array->children[0]);
	if (item->type != AVRO_TYPE_RECORD)
		throw_unsupported(reader, field, "an array of records");
	return item;
}

/*
 * The entry's key and value go into slots 0 and 1 of an item.  BigQuery
 * declares entries, keys and values to be optional, which they never are.
 */
static void
ask_map(const AvroReader *reader, AvroNode *field, AvroNode *array)
{
	AvroNode   *item = find_item_record(reader, field);
	AvroNode   *key = NULL;
	AvroNode   *value = NULL;
	AvroType	key_type = AVRO_TYPE_NULL;

	for (int i = 0; i < item->child_count; i++)
	{
		if (strcmp(item->children[i]->name, "key") == 0)
			key = item->children[i];
		else if (strcmp(item->children[i]->name, "value") == 0)
			value = item->children[i];
	}
	if (key != NULL)
		key_type = non_null(key)->type;
	if (value == NULL ||
		(key_type != AVRO_TYPE_INT && key_type != AVRO_TYPE_LONG))
		throw_unsupported(reader, field, "a map with int keys");
	ask_scalar(reader, field, key, 0);
	ask_scalar(reader, field, value, 1);
	mark_wanted(array);
}

int
avro_reader_project_map_entry(AvroReader *reader, const int32_t *path,
							  int depth, int32_t key)
{
	AvroNode   *field = find_path(reader, path, depth);
	AvroNode   *array;
	size_t		size;

	check_not_started(reader);
	if (field == NULL)
		return reader->slot_count++;
	array = non_null(field);
	check_not_list(field, array);
	if (array->key_count == 0)
		ask_map(reader, field, array);
	for (int i = 0; i < array->key_count; i++)
	{
		if (array->keys[i].key == key)
			return array->keys[i].slot;
	}
	size = (size_t) array->key_count * sizeof(AvroMapKey);
	array->keys = lake_realloc(reader->arena, array->keys, size,
							   size + sizeof(AvroMapKey));
	array->keys[array->key_count].key = key;
	array->keys[array->key_count].slot = reader->slot_count;
	array->key_count++;
	return reader->slot_count++;
}

int
avro_reader_project_map(AvroReader *reader, const int32_t *path, int depth)
{
	AvroNode   *field = find_path(reader, path, depth);

	check_not_started(reader);
	if (field == NULL)
		return reader->slot_count++;
	find_item_record(reader, field);
	check_list(reader, field, non_null(field));
	ask_map(reader, field, non_null(field));
	ask_list(non_null(field), 2, reader->slot_count);
	return reader->slot_count++;
}

int
avro_reader_project_records(AvroReader *reader, const int32_t *path, int depth,
							const int32_t *element_ids, int count)
{
	AvroNode   *field = find_path(reader, path, depth);
	AvroNode   *item;

	check_not_started(reader);
	if (field == NULL)
		return reader->slot_count++;
	item = find_item_record(reader, field);
	check_list(reader, field, non_null(field));
	for (int i = 0; i < count; i++)
	{
		AvroNode   *part = find_field(item, element_ids[i]);

		if (part != NULL)
			ask_scalar(reader, part, part, i);
	}
	ask_list(non_null(field), count, reader->slot_count);
	return reader->slot_count++;
}

static void
start(AvroReader *reader)
{
	size_t		count = (size_t) reader->slot_count;

	reader->decoder.slots = lake_alloc_array(reader->arena, count + 1,
											 sizeof(AvroSlot));
	reader->decoder.list_starts = lake_alloc_array(reader->arena, count + 1,
												   sizeof(size_t));
	reader->ops = avro_program_compile(reader->arena, reader->top);
}

static void
check_record_count(AvroReader *reader, int64_t count, size_t size)
{
	uint64_t	record_size = reader->top->min_size;

	if (count < 0 ||
		(record_size > 0 && (uint64_t) count > size / record_size))
		throw_corrupt(reader, "has a block with a wrong count before its end");
	if (record_size == 0 && count > MAX_EMPTY_RECORDS)
		lake_throw(LAKE_ERROR_LIMIT,
				   "%s \"%s\" has a block of more than %d empty records",
				   reader->what, reader->file->location, MAX_EMPTY_RECORDS);
}

/* false at the end of the file */
static bool
next_block(AvroReader *reader)
{
	int64_t		count;
	int64_t		size;
	LakeBytes	bytes;

	lake_check_interrupts();
	if (reader->ops == NULL)
		start(reader);
	if (reader->pos != reader->decoder.end)
		throw_corrupt(reader, "has bytes behind the records of the block that ends");
	if (reader->offset == reader->file->size)
		return false;
	count = take_long(reader);
	size = take_long(reader);
	if (size < 0)
		throw_corrupt(reader, "has a block of negative size");
	if ((uint64_t) size > MAX_BLOCK_SIZE)
		lake_throw(LAKE_ERROR_LIMIT,
				   "%s \"%s\" has a block of more than %zu bytes",
				   reader->what, reader->file->location, MAX_BLOCK_SIZE);
	/* with its sync marker, so that the window holds both */
	bytes.data = take(reader, (uint64_t) size + SYNC_SIZE);
	bytes.len = (size_t) size;
	if (memcmp(bytes.data + size, reader->sync, SYNC_SIZE) != 0)
		throw_corrupt(reader, "has no sync marker before the one");
	if (reader->codec != CODEC_NONE)
	{
		reader->block.len = 0;
		codec_decompress_append(reader->context, reader->codec, bytes.data,
								bytes.len, &reader->block, MAX_BLOCK_SIZE);
		bytes.data = reader->block.data;
		bytes.len = reader->block.len;
	}
	check_record_count(reader, count, bytes.len);
	reader->pos = bytes.data;
	reader->decoder.end = bytes.len == 0 ?
		bytes.data : bytes.data + bytes.len;
	reader->records_left = (uint64_t) count;
	return true;
}

const AvroSlot *
avro_reader_next(AvroReader *reader)
{
	AvroDecoder *decoder = &reader->decoder;
	size_t		count = (size_t) reader->slot_count;
	LakeFrame	frame;

	lake_frame_push(&frame, reader->doing, reader->file->location);
	while (reader->records_left == 0)
	{
		if (!next_block(reader))
		{
			lake_frame_pop(&frame);
			return NULL;
		}
	}
	if (reader->records_left % RECORDS_PER_CHECK == 0)
		lake_check_interrupts();
	memset(decoder->slots, 0, count * sizeof(AvroSlot));
	reader->pos = avro_decode_record(decoder, reader->ops, reader->pos);
	reader->records_left--;
	lake_frame_pop(&frame);
	if (decoder->item_count > 0)
	{
		for (size_t i = 0; i < count; i++)
		{
			if (decoder->slots[i].kind == AVRO_LIST)
				decoder->slots[i].list.items =
					decoder->items + decoder->list_starts[i];
		}
	}
	return decoder->slots;
}
