/*
 * Rows in memory, column by column.
 *
 * A store is a list of chunks of BATCH_MAX_ROWS rows, a chunk one builder a
 * column, a builder the arrays that a LakeVector points to.  Arrays begin small
 * and double, since a transaction inserts one row as often as a million.  Only
 * the last chunk grows; rows leave at the end only, whole chunks with their
 * arena.
 *
 * Bytes are copied to pieces that never move, so that a value can point to
 * them.  What a dropped row leaves there stays until its chunk goes.
 */
#include "table/row_store.h"

#include <string.h>

#include "base/bytes.h"

#define FIRST_CAPACITY	16
#define FIRST_PIECE		256
#define MAX_PIECE		((size_t) 64 << 10)

/* bytes of a chunk's values */
typedef struct Pieces
{
	LakeArena  *arena;
	uint8_t    *next;
	size_t		left;
	size_t		size;			/* of the newest piece */
} Pieces;

struct VectorBuilder
{
	LakeArena  *arena;			/* the chunk's */
	Pieces	   *pieces;
	LakeVector	vector;			/* layout, count and the arrays so far */
	uint32_t	capacity;		/* of the arrays */
	uint32_t	first_capacity;
	size_t		width;			/* of a value; 0: nested */
	/* the same as the vector's, to write to */
	uint8_t    *values;
	uint8_t    *nulls;			/* NULL: none is NULL so far */
	uint32_t   *offsets;
	VectorBuilder *children;
};

typedef struct Chunk
{
	LakeArena  *arena;
	Pieces		pieces;
	uint32_t	row_count;
	size_t		full_size;		/* bytes, as counted when the next one came */
	VectorBuilder *columns;
	const LakeVector **vectors; /* of the columns */
} Chunk;

struct RowStore
{
	LakeArena  *arena;
	const LakeSchema *schema;
	LakeBuffer	chunks;			/* of Chunk *; all but the last are full */
	Chunk	   *last;			/* NULL: there is none */
	uint64_t	count;
	size_t		full_size;		/* of all chunks but the last */
	/* row_store_batch's: columns from the middle of a chunk */
	LakeVector *slices;
	const LakeVector **slice_pointers;
};

/* ---- builders ---- */

static VectorLayout
layout_of(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			return VECTOR_BOOL;
		case LAKE_INT:
		case LAKE_DATE:
			return VECTOR_I32;
		case LAKE_LONG:
		case LAKE_TIME:
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			return VECTOR_I64;
		case LAKE_FLOAT:
			return VECTOR_F32;
		case LAKE_DOUBLE:
			return VECTOR_F64;
		case LAKE_DECIMAL:
			return type->precision <= 18 ? VECTOR_I64 : VECTOR_I128;
		case LAKE_LIST:
			return VECTOR_LIST;
		case LAKE_MAP:
			return VECTOR_MAP;
		case LAKE_STRUCT:
			return VECTOR_STRUCT;
		case LAKE_STRING:
		case LAKE_UUID:
		case LAKE_FIXED:
		case LAKE_BINARY:
		case LAKE_UNKNOWN:
		case LAKE_GEOMETRY:
		case LAKE_GEOGRAPHY:
			break;
		case LAKE_VARIANT:
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "values of type variant cannot be written");
	}
	return VECTOR_BYTES;
}

static void
builder_init(VectorBuilder *builder, Chunk *chunk, const LakeType *type,
			 uint32_t first_capacity)
{
	builder->first_capacity = first_capacity;
	builder->arena = chunk->arena;
	builder->pieces = &chunk->pieces;
	builder->vector.layout = layout_of(type);
	builder->width = vector_layout_width(builder->vector.layout);
	if (builder->width > 0)
		return;
	builder->vector.child_count = (uint32_t) type->field_count;
	builder->children = lake_alloc_array(chunk->arena,
										 (size_t) type->field_count + 1,
										 sizeof *builder->children);
	builder->vector.children = lake_alloc_array(chunk->arena,
												(size_t) type->field_count + 1,
												sizeof(LakeVector *));
	for (int i = 0; i < type->field_count; i++)
	{
		builder_init(&builder->children[i], chunk, type->fields[i].type,
					 first_capacity);
		builder->vector.children[i] = &builder->children[i].vector;
	}
}

static bool
has_offsets(const VectorBuilder *builder)
{
	return builder->vector.layout == VECTOR_LIST ||
		builder->vector.layout == VECTOR_MAP;
}

/* an array with room for more; the old one stays as it is */
static void *
grown(const VectorBuilder *builder, const void *old, size_t old_size,
	  size_t size)
{
	uint8_t    *array = lake_alloc_raw(builder->arena, size);

	if (old_size > 0)
		memcpy(array, old, old_size);
	return array;
}

/*
 * Arrays are left behind rather than freed: a scan of the transaction's own rows
 * may look at them while its statement adds others.
 */
static void
grow(VectorBuilder *builder)
{
	size_t		old = builder->capacity;
	size_t		capacity = old == 0 ? builder->first_capacity : old * 2;

	if (capacity > UINT32_MAX / 2)
		lake_throw(LAKE_ERROR_LIMIT,
				   "lists of one statement have too many elements");
	if (builder->width > 0)
		builder->values = grown(builder, builder->values,
								old * builder->width,
								capacity * builder->width);
	if (builder->nulls != NULL)
		builder->nulls = grown(builder, builder->nulls, old, capacity);
	if (has_offsets(builder))
	{
		builder->offsets = grown(builder, builder->offsets,
								 old == 0 ? 0 : (old + 1) * sizeof(uint32_t),
								 (capacity + 1) * sizeof(uint32_t));
		if (old == 0)
			builder->offsets[0] = 0;
	}
	builder->capacity = (uint32_t) capacity;
	builder->vector.values = builder->values;
	builder->vector.nulls = builder->nulls;
	builder->vector.offsets = builder->offsets;
}

/* the place of the next value, which counts from now on */
static inline uint32_t
next_row(VectorBuilder *builder)
{
	if (builder->vector.count == builder->capacity)
		grow(builder);
	return builder->vector.count++;
}

void
vector_append_null(VectorBuilder *builder)
{
	uint32_t	row = next_row(builder);

	if (builder->nulls == NULL)
	{
		builder->nulls = lake_alloc(builder->arena, builder->capacity);
		builder->vector.nulls = builder->nulls;
	}
	builder->nulls[row] = 1;
	if (builder->width > 0)
		memset(builder->values + row * builder->width, 0, builder->width);
	else if (has_offsets(builder))
		builder->offsets[row + 1] = builder->offsets[row];
	else
	{
		for (uint32_t i = 0; i < builder->vector.child_count; i++)
			vector_append_null(&builder->children[i]);
	}
}

/* rows that leave and come again are marked anew, hence the store to nulls */
#define DEFINE_APPEND(suffix, type) \
	void \
	vector_append_##suffix(VectorBuilder *builder, type value) \
	{ \
		uint32_t	row = next_row(builder); \
 \
		if (builder->nulls != NULL) \
			builder->nulls[row] = 0; \
		((type *) (void *) builder->values)[row] = value; \
	}

DEFINE_APPEND(i32, int32_t)
DEFINE_APPEND(i64, int64_t)
DEFINE_APPEND(i128, LakeInt128)
DEFINE_APPEND(f32, float)
DEFINE_APPEND(f64, double)

void
vector_append_bool(VectorBuilder *builder, bool value)
{
	uint32_t	row = next_row(builder);

	if (builder->nulls != NULL)
		builder->nulls[row] = 0;
	builder->values[row] = value;
}

static uint8_t *
pieces_take(Pieces *pieces, size_t size)
{
	uint8_t    *place;

	if (size > pieces->left)
	{
		size_t		next = pieces->size == 0 ? FIRST_PIECE :
			pieces->size < MAX_PIECE ? pieces->size * 2 : MAX_PIECE;

		/* what is large gets a piece of its own */
		if (size >= next / 2)
			return lake_alloc_raw(pieces->arena, size);
		pieces->next = lake_alloc_raw(pieces->arena, next);
		pieces->left = pieces->size = next;
	}
	place = pieces->next;
	pieces->next += size;
	pieces->left -= size;
	return place;
}

uint8_t *
vector_append_bytes_room(VectorBuilder *builder, size_t size)
{
	uint8_t    *place = size == 0 ? NULL :
		pieces_take(builder->pieces, size);
	uint32_t	row = next_row(builder);
	LakeBytes  *values = (LakeBytes *) (void *) builder->values;

	if (builder->nulls != NULL)
		builder->nulls[row] = 0;
	/* an empty value is one all the same */
	values[row].data = place == NULL ? (const uint8_t *) "" : place;
	values[row].len = size;
	return place;
}

void
vector_append_bytes(VectorBuilder *builder, LakeBytes value)
{
	uint8_t    *place = vector_append_bytes_room(builder, value.len);

	if (value.len > 0)
		memcpy(place, value.data, value.len);
}

void
vector_append_struct(VectorBuilder *builder)
{
	uint32_t	row = next_row(builder);

	if (builder->nulls != NULL)
		builder->nulls[row] = 0;
}

void
vector_append_list(VectorBuilder *builder, uint32_t count)
{
	uint32_t	row = next_row(builder);

	if (count > UINT32_MAX - builder->offsets[row])
		lake_throw(LAKE_ERROR_LIMIT,
				   "lists of one statement have too many elements");
	if (builder->nulls != NULL)
		builder->nulls[row] = 0;
	builder->offsets[row + 1] = builder->offsets[row] + count;
}

VectorBuilder *
vector_child(VectorBuilder *builder, int child)
{
	return &builder->children[child];
}

void
vector_append_value(VectorBuilder *builder, const LakeType *type,
					const LakeValue *value)
{
	if (value->is_null)
	{
		vector_append_null(builder);
		return;
	}
	switch (builder->vector.layout)
	{
		case VECTOR_BOOL:
			vector_append_bool(builder, value->i != 0);
			break;
		case VECTOR_I32:
			vector_append_i32(builder, (int32_t) value->i);
			break;
		case VECTOR_I64:
			vector_append_i64(builder, type->kind == LAKE_DECIMAL ?
							  (int64_t) value->decimal : value->i);
			break;
		case VECTOR_I128:
			vector_append_i128(builder, value->decimal);
			break;
		case VECTOR_F32:
			vector_append_f32(builder, (float) value->d);
			break;
		case VECTOR_F64:
			vector_append_f64(builder, value->d);
			break;
		case VECTOR_BYTES:
			vector_append_bytes(builder, value->bytes);
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_UNSUPPORTED,
					   "values of nested types cannot be made of scalars");
	}
}

static void
copy_scalar(VectorBuilder *builder, const LakeVector *vector, uint32_t row)
{
	const void *value = vector_value(vector, row);

	if (builder->vector.layout == VECTOR_BYTES)
	{
		vector_append_bytes(builder, *(const LakeBytes *) value);
		return;
	}
	row = next_row(builder);
	if (builder->nulls != NULL)
		builder->nulls[row] = 0;
	memcpy(builder->values + row * builder->width, value, builder->width);
}

void
vector_append_copy(VectorBuilder *builder, const LakeVector *vector,
				   uint32_t row)
{
	if (builder->vector.layout != vector->layout ||
		(builder->width == 0 &&
		 builder->vector.child_count != vector->child_count))
		lake_throw(LAKE_ERROR_INTERNAL,
				   "a vector is copied to one of another shape");
	if (vector_is_null(vector, row))
		vector_append_null(builder);
	else if (builder->width > 0)
		copy_scalar(builder, vector, row);
	else if (!has_offsets(builder))
	{
		vector_append_struct(builder);
		for (uint32_t i = 0; i < vector->child_count; i++)
			vector_append_copy(&builder->children[i], vector->children[i],
							   row);
	}
	else
	{
		uint32_t	first = vector->offsets[row];
		uint32_t	end = vector->offsets[row + 1];

		vector_append_list(builder, end - first);
		for (uint32_t i = 0; i < vector->child_count; i++)
		{
			for (uint32_t at = first; at < end; at++)
				vector_append_copy(&builder->children[i],
								   vector->children[i], at);
		}
	}
}

/* forgets values from count on, with the elements that they have */
static void
builder_truncate(VectorBuilder *builder, uint32_t count)
{
	if (count >= builder->vector.count)
		return;
	for (uint32_t i = 0; i < builder->vector.child_count; i++)
		builder_truncate(&builder->children[i],
						 has_offsets(builder) ? builder->offsets[count] :
						 count);
	builder->vector.count = count;
}

/* ---- chunks ---- */

static Chunk *
chunk_at(const RowStore *store, size_t i)
{
	return ((Chunk **) (void *) store->chunks.data)[i];
}

static size_t
chunk_count(const RowStore *store)
{
	return store->chunks.len / sizeof(Chunk *);
}

static Chunk *
add_chunk(RowStore *store)
{
	LakeArena  *arena = lake_arena_create(store->arena, "lake rows");
	Chunk	   *chunk = lake_alloc(arena, sizeof *chunk);
	Chunk	   *last = store->last;
	size_t		count = (size_t) store->schema->field_count;

	chunk->arena = arena;
	chunk->pieces.arena = arena;
	chunk->columns = lake_alloc_array(arena, count + 1,
									  sizeof *chunk->columns);
	chunk->vectors = lake_alloc_array(arena, count + 1,
									  sizeof *chunk->vectors);
	for (size_t i = 0; i < count; i++)
	{
		builder_init(&chunk->columns[i], chunk,
					 store->schema->fields[i].type,
					 last == NULL ? FIRST_CAPACITY : BATCH_MAX_ROWS);
		chunk->vectors[i] = &chunk->columns[i].vector;
	}
	if (last != NULL)
	{
		last->full_size = lake_arena_size(last->arena);
		store->full_size += last->full_size;
	}
	buffer_append(&store->chunks, &chunk, sizeof chunk);
	store->last = chunk;
	return chunk;
}

RowStore *
row_store_create(LakeArena *arena, const LakeSchema *schema)
{
	LakeArena  *own = lake_arena_create(arena, "lake row store");
	RowStore   *store = lake_alloc(own, sizeof *store);
	size_t		count = (size_t) schema->field_count + 1;

	store->arena = own;
	store->schema = schema;
	buffer_init(&store->chunks, own);
	store->slices = lake_alloc_array(own, count, sizeof *store->slices);
	store->slice_pointers = lake_alloc_array(own, count,
											 sizeof *store->slice_pointers);
	return store;
}

const LakeSchema *
row_store_schema(const RowStore *store)
{
	return store->schema;
}

uint64_t
row_store_count(const RowStore *store)
{
	return store->count;
}

size_t
row_store_size(const RowStore *store)
{
	return store->full_size +
		(store->last == NULL ? 0 : lake_arena_size(store->last->arena));
}

VectorBuilder *
row_store_column(RowStore *store, int column)
{
	Chunk	   *chunk = store->last;

	if (chunk == NULL || chunk->row_count == BATCH_MAX_ROWS)
		chunk = add_chunk(store);
	return &chunk->columns[column];
}

void
row_store_end_row(RowStore *store)
{
	Chunk	   *chunk = store->last;

	for (int i = 0; i < store->schema->field_count; i++)
	{
		if (chunk->columns[i].vector.count != chunk->row_count + 1)
			lake_throw(LAKE_ERROR_INTERNAL,
					   "a row in memory has %u values of column \"%s\"",
					   chunk->columns[i].vector.count - chunk->row_count,
					   store->schema->fields[i].name);
	}
	chunk->row_count++;
	store->count++;
}

void
row_store_cancel_row(RowStore *store)
{
	Chunk	   *chunk = store->last;

	if (chunk == NULL)
		return;
	for (int i = 0; i < store->schema->field_count; i++)
		builder_truncate(&chunk->columns[i], chunk->row_count);
}

void
row_store_truncate(RowStore *store, uint64_t count)
{
	Chunk	   *chunk;

	if (count >= store->count)
	{
		row_store_cancel_row(store);
		return;
	}
	while ((chunk = store->last) != NULL)
	{
		uint64_t	before = (chunk_count(store) - 1) *
			(uint64_t) BATCH_MAX_ROWS;

		if (before < count)
		{
			chunk->row_count = (uint32_t) (count - before);
			break;
		}
		lake_arena_destroy(chunk->arena);
		store->chunks.len -= sizeof(Chunk *);
		store->last = before == 0 ? NULL :
			chunk_at(store, chunk_count(store) - 1);
		if (store->last != NULL)
			store->full_size -= store->last->full_size;
	}
	store->count = count;
	row_store_cancel_row(store);
}

/* a vector without its first rows */
static void
slice(const LakeVector *vector, uint32_t first, LakeArena *arena,
	  LakeVector *out)
{
	size_t		width = vector_layout_width(vector->layout);

	*out = *vector;
	out->count -= first;
	if (vector->nulls != NULL)
		out->nulls = vector->nulls + first;
	if (width > 0)
		out->values = (const char *) vector->values + first * width;
	else if (vector->layout != VECTOR_STRUCT)
		out->offsets = vector->offsets + first;
	else
	{
		out->children = lake_alloc_array(arena, vector->child_count + 1,
										 sizeof(LakeVector *));
		for (uint32_t i = 0; i < vector->child_count; i++)
		{
			out->children[i] = lake_alloc(arena, sizeof(LakeVector));
			slice(vector->children[i], first, arena, out->children[i]);
		}
	}
}

uint32_t
row_store_batch(RowStore *store, uint64_t first,
				const LakeVector *const **columns)
{
	Chunk	   *chunk;
	uint32_t	skipped = (uint32_t) (first % BATCH_MAX_ROWS);

	if (first >= store->count)
		return 0;
	chunk = chunk_at(store, (size_t) (first / BATCH_MAX_ROWS));
	*columns = chunk->vectors;
	if (skipped > 0)
	{
		for (int i = 0; i < store->schema->field_count; i++)
		{
			slice(chunk->vectors[i], skipped, chunk->arena,
				  &store->slices[i]);
			store->slice_pointers[i] = &store->slices[i];
		}
		*columns = store->slice_pointers;
	}
	return chunk->row_count - skipped;
}
