/*
 * Parquet files put together field by field, well formed or not, for tests that
 * need what no writer would write.  Pages are stored without compression.
 *
 * Pages are appended to a buffer that begins with build_begin; chunks say where
 * they are; build_finish adds the footer and gives the whole as a file.
 */
#ifndef LAKE_PARQUET_BUILD_H
#define LAKE_PARQUET_BUILD_H

#include "encode.h"
#include "parquet/parquet_int.h"

/* ---- Thrift compact protocol, writing ---- */

typedef struct ThriftWriter
{
	LakeBuffer *out;
	int			depth;
	int32_t		last[16];		/* field id before, by depth */
} ThriftWriter;

static inline void
thrift_put_head(ThriftWriter *writer, int32_t id, int type)
{
	int32_t		delta = id - writer->last[writer->depth];

	if (delta > 0 && delta < 16)
		buffer_append_byte(writer->out, (uint8_t) (delta << 4 | type));
	else
	{
		buffer_append_byte(writer->out, (uint8_t) type);
		encode_zigzag(writer->out, (uint64_t) (int64_t) id);
	}
	writer->last[writer->depth] = id;
}

static inline void
thrift_put_int(ThriftWriter *writer, int32_t id, int type, int64_t value)
{
	thrift_put_head(writer, id, type);
	encode_zigzag(writer->out, (uint64_t) value);
}

static inline void
thrift_put_bool(ThriftWriter *writer, int32_t id, bool value)
{
	thrift_put_head(writer, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

static inline void
thrift_put_binary(ThriftWriter *writer, int32_t id, const void *data,
				  size_t len)
{
	thrift_put_head(writer, id, THRIFT_BINARY);
	encode_varint(writer->out, len);
	buffer_append(writer->out, data, len);
}

static inline void
thrift_put_list(ThriftWriter *writer, int32_t id, int type, size_t count)
{
	thrift_put_head(writer, id, THRIFT_LIST);
	buffer_append_byte(writer->out,
					   (uint8_t) ((count < 15 ? count : 15) << 4) |
					   (uint8_t) type);
	if (count >= 15)
		encode_varint(writer->out, count);
}

/* an element of a list of structs, or (with a head before it) a field */
static inline void
thrift_begin_element(ThriftWriter *writer)
{
	writer->last[++writer->depth] = 0;
}

static inline void
thrift_begin_struct(ThriftWriter *writer, int32_t id)
{
	thrift_put_head(writer, id, THRIFT_STRUCT);
	thrift_begin_element(writer);
}

static inline void
thrift_end_struct(ThriftWriter *writer)
{
	buffer_append_byte(writer->out, THRIFT_STOP);
	writer->depth--;
}

/* ---- pages ---- */

#define BUILD_GROUP (-1)

static inline void
build_begin(LakeBuffer *out, LakeArena *arena)
{
	buffer_init(out, arena);
	buffer_append_text(out, "PAR1");
}

/* a v1 data page or a dictionary page */
static inline void
build_page(LakeBuffer *out, int type, uint32_t values, int encoding,
		   LakeBytes content)
{
	ThriftWriter writer = {.out = out};

	thrift_put_int(&writer, 1, THRIFT_I32, type);
	thrift_put_int(&writer, 2, THRIFT_I32, (int64_t) content.len);
	thrift_put_int(&writer, 3, THRIFT_I32, (int64_t) content.len);
	thrift_begin_struct(&writer, type == PAGE_DATA ? 5 : 7);
	thrift_put_int(&writer, 1, THRIFT_I32, values);
	thrift_put_int(&writer, 2, THRIFT_I32, encoding);
	if (type == PAGE_DATA)
	{
		thrift_put_int(&writer, 3, THRIFT_I32, PARQUET_ENCODING_RLE);
		thrift_put_int(&writer, 4, THRIFT_I32, PARQUET_ENCODING_RLE);
	}
	thrift_end_struct(&writer);
	buffer_append_byte(out, THRIFT_STOP);
	buffer_append(out, content.data, content.len);
}

/* content: repetition levels, definition levels, values */
static inline void
build_page_v2(LakeBuffer *out, uint32_t values, uint32_t rows, int encoding,
			  uint32_t rep_size, uint32_t def_size, LakeBytes content)
{
	ThriftWriter writer = {.out = out};

	thrift_put_int(&writer, 1, THRIFT_I32, PAGE_DATA_V2);
	thrift_put_int(&writer, 2, THRIFT_I32, (int64_t) content.len);
	thrift_put_int(&writer, 3, THRIFT_I32, (int64_t) content.len);
	thrift_begin_struct(&writer, 8);
	thrift_put_int(&writer, 1, THRIFT_I32, values);
	thrift_put_int(&writer, 3, THRIFT_I32, rows);
	thrift_put_int(&writer, 4, THRIFT_I32, encoding);
	thrift_put_int(&writer, 5, THRIFT_I32, def_size);
	thrift_put_int(&writer, 6, THRIFT_I32, rep_size);
	thrift_end_struct(&writer);
	buffer_append_byte(out, THRIFT_STOP);
	buffer_append(out, content.data, content.len);
}

/* levels as a v1 page has them: a length, then bit-packed runs */
static inline void
build_levels(LakeBuffer *out, const uint32_t *levels, size_t count, int width)
{
	size_t		start = out->len;
	uint32_t	len;

	encode_u32(out, 0);
	encode_packed(out, levels, count, width);
	len = (uint32_t) (out->len - start - 4);
	memcpy(out->data + start, &len, sizeof len);
}

/* ---- footer ---- */

typedef struct BuildElement
{
	const char *name;
	int			physical;		/* or BUILD_GROUP */
	int			repetition;		/* 0 required, 1 optional, 2 repeated */
	int			children;
	int			converted;		/* ConvertedType + 1, 0 = none */
	int			logical;		/* member of LogicalType, 0 = none */
	int			length;
	int			precision;
	int			scale;
	int			field_id;		/* 0 = none */
} BuildElement;

/* elements of a table; what else is to be set follows by name */
#define FIELD(name_, physical_, repetition_, ...) \
	{.name = (name_), .physical = (physical_), .repetition = (repetition_), \
	__VA_ARGS__}
#define GROUP(name_, repetition_, children_, ...) \
	{.name = (name_), .physical = BUILD_GROUP, .repetition = (repetition_), \
	.children = (children_), __VA_ARGS__}

typedef struct BuildChunk
{
	int			physical;
	int			codec;
	int64_t		values;
	int64_t		offset;			/* of the first data page */
	int64_t		dictionary;		/* offset, 0 = none */
	int64_t		size;
	bool		encrypted;
	const char *elsewhere;		/* file_path */
	/* statistics; data NULL = absent */
	LakeBytes	old_min;
	LakeBytes	old_max;
	LakeBytes	min;
	LakeBytes	max;
	int64_t		null_count;		/* + 1, 0 = absent */
	/* size 0 = absent */
	ParquetPlace bloom;
	ParquetPlace offset_index;
	ParquetPlace column_index;
	bool		odd_places;		/* other fields by the ids of all three */
} BuildChunk;

typedef struct BuildFile
{
	const BuildElement *elements;	/* the root first */
	size_t		element_count;
	const BuildChunk *chunks;	/* group by group */
	size_t		leaf_count;
	const int64_t *group_rows;
	size_t		group_count;
	int64_t		rows;			/* as the footer says it */
	const char *created_by;
	bool		ordered;		/* has column orders */
} BuildFile;

static inline void
build_element(ThriftWriter *writer, const BuildElement *element)
{
	thrift_begin_element(writer);
	if (element->physical != BUILD_GROUP)
		thrift_put_int(writer, 1, THRIFT_I32, element->physical);
	if (element->length != 0)
		thrift_put_int(writer, 2, THRIFT_I32, element->length);
	thrift_put_int(writer, 3, THRIFT_I32, element->repetition);
	thrift_put_binary(writer, 4, element->name, strlen(element->name));
	if (element->children != 0)
		thrift_put_int(writer, 5, THRIFT_I32, element->children);
	if (element->converted != 0)
		thrift_put_int(writer, 6, THRIFT_I32, element->converted - 1);
	if (element->scale != 0)
		thrift_put_int(writer, 7, THRIFT_I32, element->scale);
	if (element->precision != 0)
		thrift_put_int(writer, 8, THRIFT_I32, element->precision);
	if (element->field_id != 0)
		thrift_put_int(writer, 9, THRIFT_I32, element->field_id);
	if (element->logical != 0)
	{
		thrift_begin_struct(writer, 10);
		thrift_begin_struct(writer, element->logical);
		thrift_end_struct(writer);
		thrift_end_struct(writer);
	}
	thrift_end_struct(writer);
}

static inline void
build_statistics(ThriftWriter *writer, const BuildChunk *chunk)
{
	thrift_begin_struct(writer, 12);
	if (chunk->old_max.data != NULL)
		thrift_put_binary(writer, 1, chunk->old_max.data, chunk->old_max.len);
	if (chunk->old_min.data != NULL)
		thrift_put_binary(writer, 2, chunk->old_min.data, chunk->old_min.len);
	if (chunk->null_count != 0)
		thrift_put_int(writer, 3, THRIFT_I64, chunk->null_count - 1);
	if (chunk->max.data != NULL)
		thrift_put_binary(writer, 5, chunk->max.data, chunk->max.len);
	if (chunk->min.data != NULL)
		thrift_put_binary(writer, 6, chunk->min.data, chunk->min.len);
	thrift_end_struct(writer);
}

/* a place has the ids first and first + 1 */
static inline void
build_place(ThriftWriter *writer, int32_t first, const ParquetPlace *place,
			bool odd)
{
	if (odd)
	{
		thrift_put_list(writer, first, THRIFT_I32, 0);
		thrift_put_list(writer, first + 1, THRIFT_STRUCT, 0);
	}
	else if (place->size != 0)
	{
		thrift_put_int(writer, first, THRIFT_I64, place->offset);
		thrift_put_int(writer, first + 1, THRIFT_I32, place->size);
	}
}

static inline void
build_chunk(ThriftWriter *writer, const BuildChunk *chunk)
{
	thrift_begin_element(writer);
	if (chunk->elsewhere != NULL)
		thrift_put_binary(writer, 1, chunk->elsewhere,
						  strlen(chunk->elsewhere));
	thrift_put_int(writer, 2, THRIFT_I64, 0);
	thrift_begin_struct(writer, 3);
	thrift_put_int(writer, 1, THRIFT_I32, chunk->physical);
	thrift_put_int(writer, 4, THRIFT_I32, chunk->codec);
	thrift_put_int(writer, 5, THRIFT_I64, chunk->values);
	thrift_put_int(writer, 7, THRIFT_I64, chunk->size);
	thrift_put_int(writer, 9, THRIFT_I64, chunk->offset);
	if (chunk->dictionary != 0)
		thrift_put_int(writer, 11, THRIFT_I64, chunk->dictionary);
	build_statistics(writer, chunk);
	build_place(writer, 14, &chunk->bloom, chunk->odd_places);
	thrift_end_struct(writer);
	build_place(writer, 4, &chunk->offset_index, chunk->odd_places);
	build_place(writer, 6, &chunk->column_index, chunk->odd_places);
	if (chunk->encrypted)
	{
		thrift_begin_struct(writer, 8);
		thrift_end_struct(writer);
	}
	thrift_end_struct(writer);
}

static inline void
build_groups(ThriftWriter *writer, const BuildFile *file)
{
	const BuildChunk *chunk = file->chunks;

	thrift_put_list(writer, 4, THRIFT_STRUCT, file->group_count);
	for (size_t i = 0; i < file->group_count; i++)
	{
		thrift_begin_element(writer);
		thrift_put_list(writer, 1, THRIFT_STRUCT, file->leaf_count);
		for (size_t k = 0; k < file->leaf_count; k++)
			build_chunk(writer, chunk++);
		thrift_put_int(writer, 3, THRIFT_I64, file->group_rows[i]);
		thrift_end_struct(writer);
	}
}

static inline LakeFile *
build_finish(LakeBuffer *out, const BuildFile *file)
{
	ThriftWriter writer = {.out = out};
	size_t		start = out->len;

	thrift_put_int(&writer, 1, THRIFT_I32, 1);
	thrift_put_list(&writer, 2, THRIFT_STRUCT, file->element_count);
	for (size_t i = 0; i < file->element_count; i++)
		build_element(&writer, &file->elements[i]);
	thrift_put_int(&writer, 3, THRIFT_I64, file->rows);
	build_groups(&writer, file);
	if (file->created_by != NULL)
		thrift_put_binary(&writer, 6, file->created_by,
						  strlen(file->created_by));
	if (file->ordered)
	{
		thrift_put_list(&writer, 7, THRIFT_STRUCT, file->leaf_count);
		for (size_t i = 0; i < file->leaf_count; i++)
		{
			thrift_begin_element(&writer);
			thrift_begin_struct(&writer, 1);
			thrift_end_struct(&writer);
			thrift_end_struct(&writer);
		}
	}
	buffer_append_byte(out, THRIFT_STOP);
	encode_u32(out, (uint32_t) (out->len - start));
	buffer_append_text(out, "PAR1");
	return lake_file_from_memory(out->arena, "test.parquet",
								 encoding_bytes(out->data, out->len));
}

/* a file of a schema alone */
static inline ParquetFile *
build_schema(LakeArena *arena, const BuildElement *elements, size_t count)
{
	BuildFile	file = {.elements = elements, .element_count = count};
	LakeBuffer	out;

	build_begin(&out, arena);
	return parquet_file_open(arena, build_finish(&out, &file));
}

#endif							/* LAKE_PARQUET_BUILD_H */
