/*
 * The footer: file metadata, row groups and column chunks.
 *
 * What is wrong with a column chunk is said when it is read, not at open, so
 * that the other columns of the file stay readable.  Statistics are kept as
 * they are in the footer and parsed when somebody asks for them.
 *
 * Parquet format: README.md, "File format"; parquet.thrift.
 */
#include "parquet/parquet_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/decimal.h"

#define TAIL_BYTES			8	/* length and magic */
#define FIRST_READ			((size_t) 64 << 10)
/*
 * parquet-mr before 1.2.9 left the dictionary page's header out of the chunk's
 * size (PARQUET-816)
 */
#define OLD_WRITER_PADDING	100

/* ---- column chunks and row groups ---- */

/* where the first page is; writers without dictionary give 0 or data_offset */
static int64_t
chunk_start(const ParquetChunk *chunk)
{
	return chunk->dict_offset > 0 && chunk->dict_offset < chunk->data_offset ?
		chunk->dict_offset : chunk->data_offset;
}

/*
 * A number of what nothing depends on but speed.  Ids that are its today were
 * other fields in files of old writers (Dremio): those are passed over.
 */
static void
read_place(ByteCursor *cursor, const ThriftField *field, int64_t *number)
{
	if (field->type >= THRIFT_BYTE && field->type <= THRIFT_I64)
		*number = thrift_i64(cursor, field);
	else
		thrift_skip(cursor, field);
}

static void
read_column_metadata(ByteCursor *cursor, ParquetChunk *chunk)
{
	ThriftField field = {0};

	while (thrift_next(cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				chunk->physical = thrift_i32(cursor, &field);
				break;
			case 4:
				chunk->codec = thrift_i32(cursor, &field);
				break;
			case 5:
				chunk->value_count = thrift_i64(cursor, &field);
				break;
			case 7:
				chunk->size = thrift_i64(cursor, &field);
				break;
			case 9:
				chunk->data_offset = thrift_i64(cursor, &field);
				break;
			case 11:
				chunk->dict_offset = thrift_i64(cursor, &field);
				break;
			case 12:
				thrift_struct(cursor, &field);
				chunk->statistics.data = cursor->pos;
				thrift_skip(cursor, &field);
				chunk->statistics.len =
					(size_t) (cursor->pos - chunk->statistics.data);
				break;
			case 14:
				read_place(cursor, &field, &chunk->bloom.offset);
				break;
			case 15:
				read_place(cursor, &field, &chunk->bloom.size);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
}

static void
read_chunk(ByteCursor *cursor, ParquetChunk *chunk)
{
	ThriftField field = {0};
	bool		described = false;

	chunk->physical = -1;
	while (thrift_next(cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				if (thrift_binary(cursor, &field).len > 0)
					chunk->refusal = PARQUET_REFUSE_ELSEWHERE;
				break;
			case 3:
				thrift_struct(cursor, &field);
				read_column_metadata(cursor, chunk);
				described = true;
				break;
			case 4:
				read_place(cursor, &field, &chunk->offset_index.offset);
				break;
			case 5:
				read_place(cursor, &field, &chunk->offset_index.size);
				break;
			case 6:
				read_place(cursor, &field, &chunk->column_index.offset);
				break;
			case 7:
				read_place(cursor, &field, &chunk->column_index.size);
				break;
			case 8:
				chunk->refusal = PARQUET_REFUSE_ENCRYPTED;
				thrift_skip(cursor, &field);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
	if (!described && chunk->refusal == PARQUET_REFUSE_NONE)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the footer has a column chunk without metadata");
}

static void
read_chunks(LakeArena *arena, ByteCursor *cursor, const ThriftField *field,
			const ParquetFile *file, ParquetRowGroup *group)
{
	ThriftField item;
	uint32_t	count = thrift_list(cursor, field, &item);

	if (count != (uint32_t) file->leaf_count)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a row group has %u column chunks, the schema %d columns",
				   count, file->leaf_count);
	if (count == 0)
		return;
	thrift_struct(cursor, &item);
	group->chunks = lake_alloc_array(arena, count, sizeof *group->chunks);
	for (uint32_t i = 0; i < count; i++)
		read_chunk(cursor, &group->chunks[i]);
}

static void
read_row_group(LakeArena *arena, ByteCursor *cursor, const ParquetFile *file,
			   ParquetRowGroup *group)
{
	ThriftField field = {0};

	while (thrift_next(cursor, &field))
	{
		switch (field.id)
		{
			case 1:
				read_chunks(arena, cursor, &field, file, group);
				break;
			case 3:
				group->rows = thrift_i64(cursor, &field);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
	if (group->rows < 0)
		lake_throw(LAKE_ERROR_CORRUPT, "a row group has %lld rows",
				   (long long) group->rows);
	if (group->chunks == NULL && file->leaf_count > 0)
		lake_throw(LAKE_ERROR_CORRUPT, "a row group has no column chunks");
}

static void
read_row_groups(LakeArena *arena, ByteCursor *cursor,
				const ThriftField *field, ParquetFile *file)
{
	ThriftField item;
	uint32_t	count = thrift_list(cursor, field, &item);
	int64_t		rows = 0;

	if (count == 0)
		return;
	thrift_struct(cursor, &item);
	file->row_groups = lake_alloc_array(arena, count,
										sizeof *file->row_groups);
	for (uint32_t i = 0; i < count; i++)
	{
		ParquetRowGroup *group = &file->row_groups[i];

		lake_check_interrupts();
		read_row_group(arena, cursor, file, group);
		group->first_row = rows;
		if (__builtin_add_overflow(rows, group->rows, &rows))
			lake_throw(LAKE_ERROR_CORRUPT,
					   "the row groups have more than 2^63 rows");
	}
	file->row_group_count = (int) count;
}

/* ---- file metadata ---- */

static void
read_property(LakeArena *arena, ByteCursor *cursor, ParquetProperty *property)
{
	ThriftField field = {0};
	LakeBytes	key = {(const uint8_t *) "", 0};
	LakeBytes	value = key;

	while (thrift_next(cursor, &field))
	{
		/* fastparquet 0.8 wrote numbers as values */
		if (field.id == 1 && field.type == THRIFT_BINARY)
			key = thrift_binary(cursor, &field);
		else if (field.id == 2 && field.type == THRIFT_BINARY)
			value = thrift_binary(cursor, &field);
		else
			thrift_skip(cursor, &field);
	}
	property->key = lake_strndup(arena, (const char *) key.data, key.len);
	property->value = lake_strndup(arena, (const char *) value.data,
								   value.len);
}

static void
read_properties(LakeArena *arena, ByteCursor *cursor,
				const ThriftField *field, ParquetFile *file)
{
	ThriftField item;
	uint32_t	count = thrift_list(cursor, field, &item);

	if (count == 0)
		return;
	thrift_struct(cursor, &item);
	file->properties = lake_alloc_array(arena, count,
										sizeof *file->properties);
	for (uint32_t i = 0; i < count; i++)
		read_property(arena, cursor, &file->properties[i]);
	file->property_count = count;
}

/* the union ColumnOrder: its only member so far is 1, TYPE_ORDER */
static void
read_column_orders(LakeArena *arena, ByteCursor *cursor,
				   const ThriftField *field, ParquetFile *file)
{
	ThriftField item;
	uint32_t	count = thrift_list(cursor, field, &item);

	if (count != (uint32_t) file->leaf_count)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the footer has %u column orders for %d columns", count,
				   file->leaf_count);
	if (count == 0)
		return;
	thrift_struct(cursor, &item);
	file->ordered = lake_alloc_array(arena, count, sizeof *file->ordered);
	for (uint32_t i = 0; i < count; i++)
	{
		ThriftField order = {0};

		while (thrift_next(cursor, &order))
		{
			file->ordered[i] = order.id == 1;
			thrift_skip(cursor, &order);
		}
	}
}

static _Noreturn void
throw_encrypted_footer(void)
{
	lake_throw(LAKE_ERROR_UNSUPPORTED,
			   "Parquet encryption is not supported: the file has an encrypted footer");
}

/*
 * The schema comes before what is checked against it in every file, since the
 * fields of a Thrift struct are written in the order of their ids.
 */
static void
read_file_metadata(LakeArena *arena, ByteCursor *cursor, ParquetFile *file)
{
	ThriftField field = {0};
	LakeBytes	text;
	bool		has_schema = false;

	while (thrift_next(cursor, &field))
	{
		if ((field.id == 4 || field.id == 7) && !has_schema)
			lake_throw(LAKE_ERROR_CORRUPT,
					   "the footer has row groups before the schema");
		switch (field.id)
		{
			case 2:
				if (has_schema)
					lake_throw(LAKE_ERROR_CORRUPT,
							   "the footer has two schemas");
				parquet_schema_read(arena, cursor, &field, file);
				has_schema = true;
				break;
			case 3:
				file->rows = thrift_i64(cursor, &field);
				break;
			case 4:
				read_row_groups(arena, cursor, &field, file);
				break;
			case 5:
				read_properties(arena, cursor, &field, file);
				break;
			case 6:
				text = thrift_binary(cursor, &field);
				file->created_by = lake_strndup(arena,
												(const char *) text.data,
												text.len);
				break;
			case 7:
				read_column_orders(arena, cursor, &field, file);
				break;
			default:
				thrift_skip(cursor, &field);
		}
	}
	if (!has_schema)
		lake_throw(LAKE_ERROR_CORRUPT, "the footer has no schema");
}

/* the row groups count; Impala 2.8 wrote files that say 0 rows beside them */
static void
check_rows(ParquetFile *file)
{
	const ParquetRowGroup *last;
	int64_t		sum = 0;

	if (file->row_group_count > 0)
	{
		last = &file->row_groups[file->row_group_count - 1];
		sum = last->first_row + last->rows;
	}
	if (file->rows != sum && file->rows != 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the footer says %lld rows, its row groups %lld",
				   (long long) file->rows, (long long) sum);
	file->rows = sum;
}

/*
 * Offsets are taken as they come as long as they ascend: whatever they say,
 * every group has one place in the file, and no group is before another one
 * that comes first.
 */
static void
place_row_groups(ParquetFile *file)
{
	int64_t		last = 0;

	for (int i = 0; i < file->row_group_count; i++)
	{
		ParquetRowGroup *group = &file->row_groups[i];
		int64_t		offset = last;

		if (file->leaf_count > 0)
			offset = chunk_start(&group->chunks[0]);
		if (offset > last && (uint64_t) offset <= file->data_end)
			last = offset;
		group->offset = last;
	}
}

/*
 * The footer's bytes, without length and magic.  One read is enough for most
 * files, and often for what lies before the footer, too.
 */
static LakeBytes
fetch_footer(LakeArena *arena, LakeFile *file, ParquetFile *parquet)
{
	size_t		tail_len = file->size < FIRST_READ ?
		(size_t) file->size : FIRST_READ;
	uint8_t    *tail;
	uint8_t    *all;
	size_t		len;

	if (file->size < TAIL_BYTES + 4)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "a file of %llu bytes is too small for Parquet",
				   (unsigned long long) file->size);
	tail = lake_alloc_raw(arena, tail_len);
	lake_file_read(file, file->size - tail_len, tail_len, tail);
	if (memcmp(tail + tail_len - 4, "PARE", 4) == 0)
		throw_encrypted_footer();
	if (memcmp(tail + tail_len - 4, "PAR1", 4) != 0)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "not a Parquet file: no magic number at its end");
	len = bits_load_u32le(tail + tail_len - TAIL_BYTES);
	if (len > file->size - TAIL_BYTES - 4)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "the footer says %zu bytes, the file has %llu", len,
				   (unsigned long long) file->size);
	if (len > PARQUET_MAX_FOOTER_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the footer has %zu bytes, more than %zu", len,
				   PARQUET_MAX_FOOTER_BYTES);
	if (len <= tail_len - TAIL_BYTES)
	{
		parquet->tail_offset = file->size - tail_len;
		parquet->tail = encoding_bytes(tail, tail_len);
		return encoding_bytes(tail + tail_len - TAIL_BYTES - len, len);
	}

	all = lake_alloc_raw(arena, len);
	lake_file_read(file, file->size - TAIL_BYTES - len, len, all);
	lake_free(arena, tail);
	return encoding_bytes(all, len);
}

ParquetFile *
parquet_file_open(LakeArena *arena, LakeFile *file)
{
	ParquetFile *parquet = lake_alloc(arena, sizeof *parquet);
	LakeFrame	frame;
	LakeBytes	footer;
	ByteCursor	cursor;

	lake_frame_push(&frame, "reading Parquet footer", file->location);
	parquet->file = file;
	footer = fetch_footer(arena, file, parquet);
	parquet->data_end = file->size - TAIL_BYTES - footer.len;
	cursor_init(&cursor, footer.data, footer.len, "Parquet footer");
	read_file_metadata(arena, &cursor, parquet);
	check_rows(parquet);
	place_row_groups(parquet);
	lake_frame_pop(&frame);
	return parquet;
}

ParquetFile *
parquet_file_attach(LakeArena *arena, const ParquetFile *parsed,
					LakeFile *file)
{
	ParquetFile *parquet = lake_alloc(arena, sizeof *parquet);

	*parquet = *parsed;
	parquet->file = file;
	return parquet;
}

/* ---- answers ---- */

bool
parquet_written_before(const ParquetFile *file, const char *application,
					   int major, int minor, int patch)
{
	const char *text = file->created_by;
	size_t		len = strlen(application);
	const int	limit[3] = {major, minor, patch};

	if (text == NULL || strncmp(text, application, len) != 0)
		return false;
	text += len;
	if (strncmp(text, " version ", 9) != 0)
		return *text == '\0' || *text == ' ';
	text += 9;
	for (int i = 0; i < 3; i++)
	{
		char	   *end;
		long		number = strtol(text, &end, 10);

		if (end == text || number < limit[i])
			return true;
		if (number > limit[i])
			return false;
		text = *end == '.' ? end + 1 : end;
	}
	return false;
}

static const ParquetChunk *
chunk_of(const ParquetFile *file, int row_group, int leaf)
{
	if (row_group < 0 || row_group >= file->row_group_count)
		lake_throw(LAKE_ERROR_INTERNAL, "no row group %d", row_group);
	return &file->row_groups[row_group].chunks[leaf];
}

/* is it all before the footer? */
static bool
is_in_data(const ParquetFile *file, int64_t offset, int64_t size)
{
	return offset >= 0 && size >= 0 && (uint64_t) offset <= file->data_end &&
		(uint64_t) size <= file->data_end - (uint64_t) offset;
}

bool
parquet_chunk_place(const ParquetFile *file, const ParquetChunk *chunk,
					uint64_t *start, uint64_t *end)
{
	int64_t		first = chunk_start(chunk);

	if (!is_in_data(file, first, chunk->size))
		return false;
	*start = (uint64_t) first;
	*end = *start + (uint64_t) chunk->size;
	return true;
}

bool
parquet_file_bytes(const ParquetFile *file, LakeArena *arena,
				   const ParquetPlace *place, size_t limit, LakeBytes *bytes)
{
	uint64_t	offset = (uint64_t) place->offset;
	size_t		size = (size_t) place->size;
	uint8_t    *data;

	if (!is_in_data(file, place->offset, place->size) || size > limit)
		return false;
	if (file->tail.len > 0 && offset >= file->tail_offset)
	{
		*bytes = encoding_bytes(file->tail.data + (offset - file->tail_offset),
								size);
		return true;
	}
	data = lake_alloc_raw(arena, size);
	lake_file_read(file->file, offset, size, data);
	*bytes = encoding_bytes(data, size);
	return true;
}

void
parquet_chunk_check(const ParquetFile *file, int row_group,
					const ParquetNode *leaf, uint64_t *start, uint64_t *end)
{
	const ParquetChunk *chunk = chunk_of(file, row_group, leaf->field.leaf);
	const char *name = leaf->field.name;

	if (chunk->refusal == PARQUET_REFUSE_ENCRYPTED)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "Parquet encryption is not supported: column \"%s\" is encrypted",
				   name);
	if (chunk->refusal == PARQUET_REFUSE_ELSEWHERE)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "column \"%s\" has its pages in another file", name);
	if (chunk->physical != (int32_t) leaf->field.physical)
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has another type in a row group than in the schema",
				   name);
	if (leaf->field.precision > DECIMAL_MAX_PRECISION)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "column \"%s\" is a decimal of %d digits, more than %d",
				   name, leaf->field.precision, DECIMAL_MAX_PRECISION);
	if (chunk->value_count < 0 ||
		(leaf->repeated == 0 &&
		 chunk->value_count != file->row_groups[row_group].rows))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" has %lld values in a row group of %lld rows",
				   name, (long long) chunk->value_count,
				   (long long) file->row_groups[row_group].rows);
	if (!parquet_chunk_place(file, chunk, start, end))
		lake_throw(LAKE_ERROR_CORRUPT,
				   "column \"%s\" says %lld bytes at offset %lld, outside of the file's %llu bytes of data",
				   name, (long long) chunk->size,
				   (long long) chunk_start(chunk),
				   (unsigned long long) file->data_end);
	if (parquet_written_before(file, "parquet-mr", 1, 2, 9))
		*end = *end + OLD_WRITER_PADDING < file->data_end ?
			*end + OLD_WRITER_PADDING : file->data_end;
}

int64_t
parquet_file_rows(const ParquetFile *file)
{
	return file->rows;
}

int
parquet_file_row_groups(const ParquetFile *file)
{
	return file->row_group_count;
}

int
parquet_file_fields(const ParquetFile *file,
					const ParquetField *const **fields)
{
	*fields = file->fields;
	return file->field_count;
}

bool
parquet_file_has_field_ids(const ParquetFile *file)
{
	return file->has_field_ids;
}

const char *
parquet_file_metadata(const ParquetFile *file, const char *key)
{
	for (uint32_t i = 0; i < file->property_count; i++)
	{
		if (strcmp(file->properties[i].key, key) == 0)
			return file->properties[i].value;
	}
	return NULL;
}

const char *
parquet_file_created_by(const ParquetFile *file)
{
	return file->created_by;
}

int64_t
parquet_row_group_rows(const ParquetFile *file, int row_group)
{
	return file->row_groups[row_group].rows;
}

int64_t
parquet_row_group_first_row(const ParquetFile *file, int row_group)
{
	return file->row_groups[row_group].first_row;
}

int64_t
parquet_row_group_offset(const ParquetFile *file, int row_group)
{
	return file->row_groups[row_group].offset;
}

int64_t
parquet_row_group_field_bytes(const ParquetFile *file, int row_group,
							  const ParquetField *field)
{
	const ParquetNode *node = parquet_node(field);
	int64_t		bytes = 0;

	for (int i = 0; i < node->leaf_count; i++)
	{
		int64_t		size =
			chunk_of(file, row_group, node->first_leaf + i)->size;

		/* a lie shows when the chunk is read; here it must not overflow */
		if (size > 0 && (uint64_t) size <= file->data_end)
			bytes += size;
	}
	return bytes;
}
