/*
 * Rows in memory, column by column: what a transaction has inserted and not
 * written to files yet.
 *
 * Append-only but for its tail, which a rolled back subtransaction takes back.
 * Rows are numbered from 0 in the order in which they came.
 */
#ifndef LAKE_ROW_STORE_H
#define LAKE_ROW_STORE_H

#include "base/vector.h"
#include "table/batch.h"
#include "table/type.h"
#include "table/value.h"

typedef struct RowStore RowStore;

/* one column, or one of its children, that values are appended to */
typedef struct VectorBuilder VectorBuilder;

/* columns are the schema's top-level fields, which are borrowed */
extern RowStore *row_store_create(LakeArena *arena, const LakeSchema *schema);
extern const LakeSchema *row_store_schema(const RowStore *store);
extern uint64_t row_store_count(const RowStore *store);

/* bytes of memory */
extern size_t row_store_size(const RowStore *store);

/*
 * The column to append the next row's value to; valid until row_store_end_row.
 * A row is complete when each column got one value.
 */
extern VectorBuilder *row_store_column(RowStore *store, int column);
extern void row_store_end_row(RowStore *store);

/* drops what an incomplete row has left in its columns */
extern void row_store_cancel_row(RowStore *store);

/* forgets all rows from count on; those are the caller's no more */
extern void row_store_truncate(RowStore *store, uint64_t count);

/* one value each, in the layout of batch.h; bytes are copied */
extern void vector_append_null(VectorBuilder *builder);
extern void vector_append_bool(VectorBuilder *builder, bool value);
extern void vector_append_i32(VectorBuilder *builder, int32_t value);
extern void vector_append_i64(VectorBuilder *builder, int64_t value);
extern void vector_append_i128(VectorBuilder *builder, LakeInt128 value);
extern void vector_append_f32(VectorBuilder *builder, float value);
extern void vector_append_f64(VectorBuilder *builder, double value);
extern void vector_append_bytes(VectorBuilder *builder, LakeBytes value);

/* room for bytes that the caller fills at once */
extern uint8_t *vector_append_bytes_room(VectorBuilder *builder, size_t size);

/*
 * A struct that is not NULL: one value must then be appended to each of its
 * children.  (A NULL struct's children get theirs from vector_append_null.)
 */
extern void vector_append_struct(VectorBuilder *builder);

/*
 * A list or map: exactly count values must then be appended to the child, or to
 * both children.
 */
extern void vector_append_list(VectorBuilder *builder, uint32_t count);
extern VectorBuilder *vector_child(VectorBuilder *builder, int child);

/* a value of the type, for defaults */
extern void vector_append_value(VectorBuilder *builder, const LakeType *type,
								const LakeValue *value);

/* a copy of one value of a vector of the same shape, of any depth */
extern void vector_append_copy(VectorBuilder *builder,
							   const LakeVector *vector, uint32_t row);

/*
 * Rows from first on as vectors, one a column: at most BATCH_MAX_ROWS and as
 * many as lie in one piece; 0 at the end.  The vectors of pieces (first is a
 * multiple of BATCH_MAX_ROWS) are valid as long as their rows are in the store,
 * whatever is added meanwhile; others until the next call.
 */
extern uint32_t row_store_batch(RowStore *store, uint64_t first,
								const LakeVector *const **columns);

#endif							/* LAKE_ROW_STORE_H */
