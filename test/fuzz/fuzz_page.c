/*
 * Pages of one column chunk: headers, levels, dictionary and data pages, under
 * a footer that is right about them.
 *
 * Property: rows that are read after skipping others have the values that they
 * have when all rows are read.
 *
 * Input: physical type, codec, shape of the column, type length (of bytes),
 * 2 bytes of row count, 2 bytes of level count; then the chunk.
 */
#include "parquet/parquet_int.h"
#include "parquet_check.h"
#include "seam_std.h"

#define HEADER 8
#define ALLOC_CEILING ((size_t) 32 << 20)

/* a column's nodes, from the top-level field down to the leaf */
typedef struct Shape
{
	int			depth;
	struct
	{
		ParquetShape shape;
		uint16_t	defined;
		uint16_t	repeated;
		uint16_t	element;
	}			nodes[3];
} Shape;

static const Shape shapes[] = {
	{1, {{PARQUET_PRIMITIVE, 0, 0, 0}}},
	{1, {{PARQUET_PRIMITIVE, 1, 0, 0}}},
	/* optional list of optional values */
	{2, {{PARQUET_LIST, 1, 1, 2}, {PARQUET_PRIMITIVE, 3, 1, 0}}},
	/* required list of required values */
	{2, {{PARQUET_LIST, 0, 1, 1}, {PARQUET_PRIMITIVE, 1, 1, 0}}},
	/* optional struct with an optional value */
	{2, {{PARQUET_STRUCT, 1, 0, 0}, {PARQUET_PRIMITIVE, 2, 0, 0}}},
	/* optional list of optional lists of optional values */
	{3, {{PARQUET_LIST, 1, 1, 2}, {PARQUET_LIST, 3, 2, 4},
	{PARQUET_PRIMITIVE, 5, 2, 0}}},
};

static const VectorLayout layouts[] = {
	[PARQUET_BOOLEAN] = VECTOR_BOOL,
	[PARQUET_INT32] = VECTOR_I32,
	[PARQUET_INT64] = VECTOR_I64,
	[PARQUET_INT96] = VECTOR_BYTES,
	[PARQUET_FLOAT] = VECTOR_F32,
	[PARQUET_DOUBLE] = VECTOR_F64,
	[PARQUET_BYTE_ARRAY] = VECTOR_BYTES,
	[PARQUET_FIXED_LEN_BYTE_ARRAY] = VECTOR_BYTES,
};

static const VectorLayout nested_layouts[] = {
	[PARQUET_STRUCT] = VECTOR_STRUCT,
	[PARQUET_LIST] = VECTOR_LIST,
};

/* returns the top-level field, with leaf 0 at its end */
static ParquetNode *
make_nodes(LakeArena *arena, const Shape *shape, ParquetPhysical physical,
		   int32_t type_length)
{
	ParquetNode *nodes = lake_alloc_array(arena, (size_t) shape->depth,
										  sizeof *nodes);

	for (int i = 0; i < shape->depth; i++)
	{
		ParquetNode *node = &nodes[i];

		node->field.name = "column";
		node->field.field_id = -1;
		node->field.shape = shape->nodes[i].shape;
		node->field.leaf = -1;
		node->defined = shape->nodes[i].defined;
		node->repeated = shape->nodes[i].repeated;
		node->element = shape->nodes[i].element;
		node->leaf_count = 1;
		if (node->field.shape == PARQUET_PRIMITIVE)
		{
			node->field.leaf = 0;
			node->field.physical = physical;
			node->field.type_length = type_length;
			node->field.layout = layouts[physical];
			continue;
		}
		node->field.layout = nested_layouts[node->field.shape];
		node->field.child_count = 1;
		node->field.children = lake_alloc(arena,
										  sizeof *node->field.children);
		*(ParquetField **) (void *) node->field.children = &nodes[i + 1].field;
	}
	return nodes;
}

static void
run(LakeArena *arena, const uint8_t *data, size_t size)
{
	const Shape *shape = &shapes[data[2] % (sizeof shapes / sizeof shapes[0])];
	ParquetPhysical physical = (ParquetPhysical) (data[0] % 8);
	ParquetNode *nodes = make_nodes(arena, shape, physical, data[3]);
	const ParquetNode *leaf = &nodes[shape->depth - 1];
	ParquetChunk chunk = {0};
	ParquetRowGroup group = {0};
	ParquetFile file = {0};

	group.rows = data[4] | data[5] << 8;
	group.chunks = &chunk;
	chunk.value_count = leaf->repeated == 0 ? group.rows :
		data[6] | data[7] << 8;
	chunk.physical = (int32_t) physical;
	chunk.codec = data[1] % 8;
	chunk.size = (int64_t) (size - HEADER);
	file.file = lake_file_from_memory(arena, "fuzz",
									  encoding_bytes(data + HEADER,
													 size - HEADER));
	file.data_end = size - HEADER;
	file.rows = group.rows;
	file.row_group_count = 1;
	file.row_groups = &group;
	file.leaf_count = 1;
	file.leaves = &leaf;
	parquet_check_column(arena, &file, 0, &nodes->field, group.rows);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *arena;
	LakeTry		try;

	if (size < HEADER)
		return 0;
	lake_alloc_ceiling = ALLOC_CEILING;
	arena = lake_arena_create(NULL, "fuzz");
	if (lake_try_begin(&try))
	{
		run(arena, data, size);
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	return 0;
}
