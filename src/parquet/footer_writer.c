/*
 * The footer, written: file metadata, row groups and column chunks.
 *
 * Bounds are written in min_value and max_value alone, whose order is declared;
 * their predecessors were compared in ways that readers have to guess.
 *
 * Parquet format: README.md, "File format"; parquet.thrift.
 */
#include "parquet/writer.h"

/* the format's version: RLE_DICTIONARY and LogicalType are of the second */
#define FORMAT_VERSION 2

static void
write_statistics(ThriftOutput *output, const ChunkRecord *chunk)
{
	const EncodedBound *min = &chunk->bounds[0];
	const EncodedBound *max = &chunk->bounds[1];

	thrift_begin(output, 12);
	thrift_write_i64(output, 3, chunk->null_count);
	if (max->bytes.data != NULL)
		thrift_write_binary(output, 5, max->bytes.data, max->bytes.len);
	if (min->bytes.data != NULL)
		thrift_write_binary(output, 6, min->bytes.data, min->bytes.len);
	if (max->bytes.data != NULL)
		thrift_write_bool(output, 7, max->is_exact);
	if (min->bytes.data != NULL)
		thrift_write_bool(output, 8, min->is_exact);
	thrift_end(output);
}

/* readers see from the second whether a dictionary has all values */
static void
write_encodings(ThriftOutput *output, const ChunkRecord *chunk)
{
	bool		has_plain = chunk->plain_pages > 0 || chunk->has_dictionary;

	thrift_write_list(output, 2, THRIFT_I32,
					  (size_t) 1 + has_plain + chunk->has_dictionary);
	thrift_add_integer(output, PARQUET_ENCODING_RLE);
	if (has_plain)
		thrift_add_integer(output, PARQUET_ENCODING_PLAIN);
	if (chunk->has_dictionary)
		thrift_add_integer(output, PARQUET_ENCODING_RLE_DICTIONARY);
}

static void
write_encoding_pages(ThriftOutput *output, int type, int encoding,
					 int32_t count)
{
	if (count == 0)
		return;
	thrift_add_struct(output);
	thrift_write_i32(output, 1, type);
	thrift_write_i32(output, 2, encoding);
	thrift_write_i32(output, 3, count);
	thrift_end(output);
}

static void
write_encoding_statistics(ThriftOutput *output, const ChunkRecord *chunk)
{
	thrift_write_list(output, 13, THRIFT_STRUCT,
					  (size_t) chunk->has_dictionary +
					  (chunk->coded_pages > 0) + (chunk->plain_pages > 0));
	write_encoding_pages(output, PAGE_DICTIONARY, PARQUET_ENCODING_PLAIN,
						 chunk->has_dictionary);
	write_encoding_pages(output, PAGE_DATA, PARQUET_ENCODING_RLE_DICTIONARY,
						 chunk->coded_pages);
	write_encoding_pages(output, PAGE_DATA, PARQUET_ENCODING_PLAIN,
						 chunk->plain_pages);
}

static void
write_column_metadata(ThriftOutput *output, const FooterParts *parts,
					  const LeafWriter *leaf, const ChunkRecord *chunk)
{
	thrift_begin(output, 3);
	thrift_write_i32(output, 1, (int32_t) leaf->field->physical);
	write_encodings(output, chunk);
	thrift_write_list(output, 3, THRIFT_BINARY, (size_t) leaf->path_length);
	for (int i = 0; i < leaf->path_length; i++)
		thrift_add_text(output, leaf->path[i]);
	thrift_write_i32(output, 4, codec_parquet_id(parts->options->codec));
	thrift_write_i64(output, 5, chunk->value_count);
	thrift_write_i64(output, 6, chunk->plain_size);
	thrift_write_i64(output, 7, chunk->size);
	thrift_write_i64(output, 9, chunk->data_offset);
	if (chunk->has_dictionary)
		thrift_write_i64(output, 11, chunk->offset);
	write_statistics(output, chunk);
	write_encoding_statistics(output, chunk);
	if (chunk->bloom.size > 0)
	{
		thrift_write_i64(output, 14, chunk->bloom.offset);
		thrift_write_i32(output, 15, (int32_t) chunk->bloom.size);
	}
	thrift_end(output);
}

/* the indexes of all chunks are behind the last row group, kind by kind */
static void
write_chunk(ThriftOutput *output, const FooterParts *parts,
			const LeafWriter *leaf, const ChunkRecord *chunk)
{
	thrift_add_struct(output);
	thrift_write_i64(output, 2, chunk->offset);
	write_column_metadata(output, parts, leaf, chunk);
	if (chunk->offset_index.size > 0)
	{
		thrift_write_i64(output, 4, parts->offset_index +
						 chunk->offset_index.offset);
		thrift_write_i32(output, 5, (int32_t) chunk->offset_index.size);
	}
	if (chunk->column_index.size > 0)
	{
		thrift_write_i64(output, 6, parts->column_index +
						 chunk->column_index.offset);
		thrift_write_i32(output, 7, (int32_t) chunk->column_index.size);
	}
	thrift_end(output);
}

static void
write_group(ThriftOutput *output, const FooterParts *parts,
			const GroupRecord *group)
{
	int64_t		size = 0;
	int64_t		plain_size = 0;

	thrift_add_struct(output);
	thrift_write_list(output, 1, THRIFT_STRUCT, (size_t) parts->leaf_count);
	for (int i = 0; i < parts->leaf_count; i++)
	{
		write_chunk(output, parts, &parts->leaves[i], &group->chunks[i]);
		size += group->chunks[i].size;
		plain_size += group->chunks[i].plain_size;
	}
	thrift_write_i64(output, 2, plain_size);
	thrift_write_i64(output, 3, group->rows);
	thrift_write_i64(output, 5, group->chunks[0].offset);
	thrift_write_i64(output, 6, size);
	thrift_end(output);
}

static void
write_metadata(ThriftOutput *output, const ParquetWriterOptions *options)
{
	if (options->metadata_count == 0)
		return;
	thrift_write_list(output, 5, THRIFT_STRUCT,
					  (size_t) options->metadata_count);
	for (int i = 0; i < options->metadata_count; i++)
	{
		thrift_add_struct(output);
		thrift_write_text(output, 1, options->metadata[2 * i]);
		thrift_write_text(output, 2, options->metadata[2 * i + 1]);
		thrift_end(output);
	}
}

void
footer_write(const FooterParts *parts, LakeBuffer *out)
{
	ThriftOutput output = {.out = out};

	thrift_write_i32(&output, 1, FORMAT_VERSION);
	schema_write(&output, 2, parts->fields, parts->field_count);
	thrift_write_i64(&output, 3, parts->rows);
	thrift_write_list(&output, 4, THRIFT_STRUCT, (size_t) parts->group_count);
	for (int i = 0; i < parts->group_count; i++)
	{
		lake_check_interrupts();
		write_group(&output, parts, &parts->groups[i]);
	}
	write_metadata(&output, parts->options);
	if (parts->options->created_by != NULL)
		thrift_write_text(&output, 6, parts->options->created_by);
	thrift_write_list(&output, 7, THRIFT_STRUCT, (size_t) parts->leaf_count);
	for (int i = 0; i < parts->leaf_count; i++)
	{
		/* TYPE_ORDER */
		thrift_add_struct(&output);
		thrift_write_empty(&output, 1);
		thrift_end(&output);
	}
	thrift_end(&output);
}
