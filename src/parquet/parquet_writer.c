/*
 * Parquet files, written: fields to leaves, rows to row groups, and the file's
 * parts in their order.
 *
 * What a row group needs lives on an arena of its own, which is reset when the
 * group is in the output; what the footer needs of it is small and stays.  Bloom
 * filters follow their row group, page indexes the last one.
 */
#include "parquet/writer.h"

#include <string.h>

#include "base/bits.h"

/* rows that go through all columns together */
#define SLICE_ROWS		1024

struct ParquetWriter
{
	LakeArena  *arena;
	LakeArena  *group_arena;
	LakeOutput *output;
	const ParquetField *const *fields;
	int			field_count;
	ParquetWriterOptions options;
	ParquetWorkspace *workspace;
	WriterNode *nodes;			/* one a field */
	int			leaf_count;
	LeafWriter *leaves;
	ParquetLeafTotals *leaf_totals;
	int64_t		group_rows;
	uint64_t	group_size;		/* encoded, about */
	/* what is in the output */
	int64_t		rows;
	int			group_count;
	int			group_capacity;
	GroupRecord *groups;
	PageIndexWriter index;
};

ParquetWorkspace *
parquet_workspace_create(LakeArena *arena)
{
	ParquetWorkspace *workspace = lake_alloc(arena, sizeof *workspace);

	workspace->arena = arena;
	workspace->context = codec_context_create(arena);
	workspace->nested = lake_arena_create(arena, "Parquet levels");
	buffer_init(&workspace->page, arena);
	buffer_init(&workspace->packed, arena);
	buffer_init(&workspace->header, arena);
	buffer_init(&workspace->values, arena);
	buffer_init(&workspace->numbers, arena);
	buffer_init(&workspace->rows, arena);
	return workspace;
}

/* ---- fields to leaves ---- */

static int
count_leaves(const ParquetField *field)
{
	int			count = field->shape == PARQUET_PRIMITIVE;

	for (int i = 0; i < field->child_count; i++)
		count += count_leaves(field->children[i]);
	return count;
}

/* where in the tree a node is built */
typedef struct Place
{
	const struct Place *above;
	const char *name;
	int			length;			/* of the path, this name included */
	uint16_t	defined;
	uint16_t	repeated;
} Place;

static void
set_path(ParquetWriter *writer, LeafWriter *leaf, const Place *place)
{
	const char **path = lake_alloc_array(writer->arena,
										 (size_t) place->length,
										 sizeof *path);

	leaf->path = path;
	leaf->path_length = place->length;
	for (; place != NULL; place = place->above)
		path[place->length - 1] = place->name;
}

static LeafWriter *
build_leaf(ParquetWriter *writer, const ParquetField *field,
		   const Place *place)
{
	int			number = writer->leaf_count++;
	LeafWriter *leaf = &writer->leaves[number];
	ParquetField *copy = lake_alloc(writer->arena, sizeof *copy);

	*copy = *field;
	copy->layout = parquet_layout(field->physical, (int) field->logical,
								  field->precision);
	copy->leaf = number;
	leaf->field = copy;
	leaf->max_def = place->defined;
	leaf->max_rep = place->repeated;
	leaf->kind = value_kind(copy);
	leaf->has_bounds = bounds_have_order(copy);
	leaf->has_totals = place->repeated == 0;
	leaf->has_bloom = writer->options.bloom != NULL &&
		writer->options.bloom[number] && leaf->kind != KIND_1 &&
		field->logical != PARQUET_LOGICAL_FLOAT16;
	leaf->options = &writer->options;
	leaf->workspace = writer->workspace;
	leaf->arena = writer->group_arena;
	leaf->totals = &writer->leaf_totals[number];
	leaf->totals->field = field;
	bounds_init(&leaf->total_bounds, writer->arena);
	set_path(writer, leaf, place);
	return leaf;
}

/* depth is bounded by schema_check */
static void
build_node(ParquetWriter *writer, WriterNode *node, const ParquetField *field,
		   const Place *above, const char *name)
{
	Place		place = {above, name, above == NULL ? 1 : above->length + 1,
	0, 0};
	Place		inner;

	if (above != NULL)
	{
		place.defined = above->defined;
		place.repeated = above->repeated;
	}
	place.defined = (uint16_t) (place.defined + field->optional);
	node->field = field;
	node->defined = place.defined;
	if (field->shape == PARQUET_PRIMITIVE)
	{
		node->leaf = build_leaf(writer, field, &place);
		return;
	}
	inner = place;
	if (field->shape != PARQUET_STRUCT)
	{
		/* the repeated group between */
		inner.above = &place;
		inner.name = field->shape == PARQUET_LIST ? "list" : "key_value";
		inner.length++;
		inner.defined++;
		inner.repeated++;
		node->element = inner.defined;
		node->repeated = inner.repeated;
	}
	node->children = lake_alloc_array(writer->arena,
									  (size_t) field->child_count,
									  sizeof *node->children);
	for (int i = 0; i < field->child_count; i++)
		build_node(writer, &node->children[i], field->children[i], &inner,
				   schema_child_name(field, i));
}

static void
begin_group(ParquetWriter *writer)
{
	writer->group_rows = 0;
	writer->group_size = 0;
	for (int i = 0; i < writer->leaf_count; i++)
		leaf_writer_begin(&writer->leaves[i]);
}

ParquetWriter *
parquet_writer_create(LakeArena *arena, LakeOutput *output,
					  const ParquetField *const *fields, int count,
					  const ParquetWriterOptions *options)
{
	ParquetWriter *writer = lake_alloc(arena, sizeof *writer);
	int			leaf_count = 0;

	for (int i = 0; i < count; i++)
	{
		schema_check(fields[i], 1);
		leaf_count += count_leaves(fields[i]);
	}
	if (leaf_count == 0)
		lake_throw(LAKE_ERROR_UNSUPPORTED, "Parquet has no table without columns");
	writer->arena = arena;
	writer->group_arena = lake_arena_create(arena, "Parquet row group");
	writer->output = output;
	writer->fields = fields;
	writer->field_count = count;
	writer->options = *options;
	if (writer->options.page_rows == 0)
		writer->options.page_rows = 1;
	writer->workspace = options->workspace != NULL ? options->workspace :
		parquet_workspace_create(arena);
	writer->leaves = lake_alloc_array(arena, (size_t) leaf_count,
									  sizeof *writer->leaves);
	writer->leaf_totals = lake_alloc_array(arena, (size_t) leaf_count,
										   sizeof *writer->leaf_totals);
	writer->nodes = lake_alloc_array(arena, (size_t) count,
									 sizeof *writer->nodes);
	for (int i = 0; i < count; i++)
		build_node(writer, &writer->nodes[i], fields[i], NULL,
				   fields[i]->name);
	buffer_init(&writer->index.columns, arena);
	buffer_init(&writer->index.offsets, arena);
	begin_group(writer);
	lake_output_write(output, "PAR1", 4);
	return writer;
}

/* ---- rows ---- */

static uint64_t
measure_group(const ParquetWriter *writer)
{
	uint64_t	size = 0;

	for (int i = 0; i < writer->leaf_count; i++)
		size += leaf_writer_size(&writer->leaves[i]);
	return size;
}

static void
write_slice(ParquetWriter *writer, const LakeVector *const *columns,
			const uint32_t *selection, uint32_t first, uint32_t count)
{
	for (int i = 0; i < writer->field_count; i++)
	{
		const WriterNode *node = &writer->nodes[i];

		if (node->leaf != NULL)
			leaf_writer_add(node->leaf, columns[i], selection, first, count);
		else
			nested_write(node, columns[i], selection, first, count,
						 writer->workspace->nested);
	}
	writer->group_rows += count;
	writer->group_size = measure_group(writer);
}

void
parquet_writer_write(ParquetWriter *writer, const LakeVector *const *columns,
					 const uint32_t *selection, uint32_t count)
{
	for (uint32_t at = 0; at < count;)
	{
		uint32_t	n = count - at < SLICE_ROWS ? count - at : SLICE_ROWS;

		write_slice(writer, columns,
					selection != NULL ? selection + at : NULL, at, n);
		at += n;
		if (writer->group_size >= writer->options.row_group_bytes)
			parquet_writer_flush(writer);
	}
}

uint64_t
parquet_writer_size(const ParquetWriter *writer)
{
	return lake_output_size(writer->output) + writer->group_size;
}

size_t
parquet_writer_held_bytes(const ParquetWriter *writer)
{
	return lake_arena_size(writer->group_arena);
}

/* ---- row groups ---- */

static GroupRecord *
add_group(ParquetWriter *writer)
{
	int			capacity = writer->group_capacity;
	GroupRecord *group;

	if (writer->group_count == capacity)
	{
		writer->group_capacity = capacity < 4 ? 4 : capacity * 2;
		writer->groups = lake_realloc(writer->arena, writer->groups,
									  (size_t) capacity * sizeof *group,
									  (size_t) writer->group_capacity *
									  sizeof *group);
	}
	group = &writer->groups[writer->group_count++];
	group->rows = writer->group_rows;
	group->chunks = lake_alloc_array(writer->arena,
									 (size_t) writer->leaf_count,
									 sizeof *group->chunks);
	return group;
}

static void
write_chunk(ParquetWriter *writer, LeafWriter *leaf, ChunkRecord *chunk)
{
	int64_t		offset = (int64_t) lake_output_size(writer->output);

	leaf_writer_finish(leaf, writer->arena, chunk);
	chunk->offset = offset;
	chunk->data_offset = offset;
	if (chunk->has_dictionary)
		chunk->data_offset += (int64_t) leaf->blocks->size;
	for (const PageBlock *block = leaf->blocks; block != NULL;
		 block = block->next)
	{
		lake_check_interrupts();
		lake_output_write(writer->output, block->bytes, block->size);
	}
	page_index_add(&writer->index, leaf->field, leaf->pages,
				   leaf->page_count, chunk->data_offset, chunk);
}

static void
write_blooms(ParquetWriter *writer, GroupRecord *group)
{
	LakeBuffer *out = &writer->workspace->page;

	for (int i = 0; i < writer->leaf_count; i++)
	{
		LeafWriter *leaf = &writer->leaves[i];

		if (!leaf->has_bloom)
			continue;
		out->len = 0;
		bloom_writer_finish(&leaf->bloom, out);
		group->chunks[i].bloom.offset =
			(int64_t) lake_output_size(writer->output);
		group->chunks[i].bloom.size = (int64_t) out->len;
		lake_output_write(writer->output, out->data, out->len);
	}
}

void
parquet_writer_flush(ParquetWriter *writer)
{
	GroupRecord *group;

	if (writer->group_rows == 0)
		return;
	group = add_group(writer);
	for (int i = 0; i < writer->leaf_count; i++)
		write_chunk(writer, &writer->leaves[i], &group->chunks[i]);
	write_blooms(writer, group);
	writer->rows += writer->group_rows;
	lake_arena_reset(writer->group_arena);
	begin_group(writer);
}

/* ---- the end of the file ---- */

static void
write_footer(ParquetWriter *writer)
{
	FooterParts parts = {
		.fields = writer->fields, .field_count = writer->field_count,
		.leaf_count = writer->leaf_count, .leaves = writer->leaves,
		.rows = writer->rows, .groups = writer->groups,
		.group_count = writer->group_count, .options = &writer->options
	};
	LakeBuffer	footer;
	uint32_t	len;

	parts.column_index = (int64_t) lake_output_size(writer->output);
	lake_output_write(writer->output, writer->index.columns.data,
					  writer->index.columns.len);
	parts.offset_index = (int64_t) lake_output_size(writer->output);
	lake_output_write(writer->output, writer->index.offsets.data,
					  writer->index.offsets.len);
	buffer_init(&footer, writer->group_arena);
	footer_write(&parts, &footer);
	if (footer.len > PARQUET_MAX_FOOTER_BYTES)
		lake_throw(LAKE_ERROR_LIMIT,
				   "the Parquet footer has %zu bytes, more than %zu",
				   footer.len, PARQUET_MAX_FOOTER_BYTES);
	len = (uint32_t) footer.len;
	buffer_append(&footer, &len, sizeof len);
	buffer_append_text(&footer, "PAR1");
	lake_output_write(writer->output, footer.data, footer.len);
}

/* the bounds as the two values of a vector */
static void
set_total_bounds(ParquetWriter *writer, LeafWriter *leaf)
{
	ParquetLeafTotals *totals = leaf->totals;
	size_t		width = vector_layout_width(leaf->field->layout);
	uint8_t    *values;

	totals->bounds.layout = leaf->field->layout;
	totals->has_bounds = leaf->total_bounds.is_set;
	if (!totals->has_bounds)
		return;
	values = lake_alloc(writer->arena, 2 * width);
	memcpy(values, &leaf->total_bounds.values[0], width);
	memcpy(values + width, &leaf->total_bounds.values[1], width);
	totals->bounds.count = 2;
	totals->bounds.values = values;
}

const ParquetTotals *
parquet_writer_finish(ParquetWriter *writer)
{
	ParquetTotals *totals = lake_alloc(writer->arena, sizeof *totals);
	int64_t    *offsets;

	parquet_writer_flush(writer);
	write_footer(writer);
	lake_arena_reset(writer->group_arena);
	offsets = lake_alloc_array(writer->arena, (size_t) writer->group_count,
							   sizeof *offsets);
	for (int i = 0; i < writer->group_count; i++)
		offsets[i] = writer->groups[i].chunks[0].offset;
	for (int i = 0; i < writer->leaf_count; i++)
		set_total_bounds(writer, &writer->leaves[i]);
	totals->row_count = writer->rows;
	totals->size = (int64_t) lake_output_size(writer->output);
	totals->row_group_count = writer->group_count;
	totals->row_group_offsets = offsets;
	totals->leaf_count = writer->leaf_count;
	totals->leaves = writer->leaf_totals;
	return totals;
}
