/*
 * Random tables in lake types: fields of every type that can be written, and
 * rows for them in a RowStore, the same ones for the same seed.
 *
 * The first column is the row's number, so that a row is known wherever it went.
 */
#ifndef LAKE_RANDOM_ROWS_H
#define LAKE_RANDOM_ROWS_H

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "encode.h"
#include "table/row_store.h"

#define RANDOM_MAX_FIELDS 8

typedef struct RandomRows
{
	LakeArena  *arena;
	uint64_t	random;
	int32_t		last_id;
	LakeSchema	schema;
	RowStore   *store;
} RandomRows;

static inline uint32_t
random_rows_below(RandomRows *rows, uint32_t n)
{
	return (uint32_t) ((encode_random(&rows->random) >> 20) % n);
}

/* ---- types ---- */

static inline const LakeType *
random_rows_type(RandomRows *rows, int depth)
{
	static const LakeType scalars[] = {
		{.kind = LAKE_BOOLEAN}, {.kind = LAKE_INT}, {.kind = LAKE_LONG},
		{.kind = LAKE_FLOAT}, {.kind = LAKE_DOUBLE}, {.kind = LAKE_DATE},
		{.kind = LAKE_TIME}, {.kind = LAKE_TIMESTAMP},
		{.kind = LAKE_TIMESTAMPTZ}, {.kind = LAKE_TIMESTAMP_NS},
		{.kind = LAKE_TIMESTAMPTZ_NS}, {.kind = LAKE_STRING},
		{.kind = LAKE_UUID}, {.kind = LAKE_FIXED, .length = 5},
		{.kind = LAKE_BINARY},
		{.kind = LAKE_DECIMAL, .precision = 5, .scale = 2},
		{.kind = LAKE_DECIMAL, .precision = 18, .scale = 0},
		{.kind = LAKE_DECIMAL, .precision = 38, .scale = 10}
	};
	LakeType   *type;
	LakeField  *fields;

	if (depth == 0 || random_rows_below(rows, 10) < 6)
		return &scalars[random_rows_below(rows, sizeof scalars /
										  sizeof scalars[0])];
	type = lake_alloc(rows->arena, sizeof *type);
	type->kind = LAKE_STRUCT + (int) random_rows_below(rows, 3);
	type->field_count = type->kind == LAKE_LIST ? 1 :
		type->kind == LAKE_MAP ? 2 : 1 + (int) random_rows_below(rows, 3);
	type->fields = fields = lake_alloc_array(rows->arena, 3, sizeof *fields);
	for (int i = 0; i < type->field_count; i++)
	{
		fields[i].id = ++rows->last_id;
		fields[i].name = type->kind == LAKE_LIST ? "element" :
			type->kind == LAKE_STRUCT ?
			lake_printf(rows->arena, "c%d", i) : i == 0 ? "key" : "value";
		fields[i].type = random_rows_type(rows, depth - 1);
		fields[i].required = (type->kind == LAKE_MAP && i == 0) ||
			random_rows_below(rows, 4) == 0;
	}
	return type;
}

static inline RandomRows *
random_rows_create(LakeArena *arena, uint64_t seed, int depth)
{
	static const LakeType type_long = {.kind = LAKE_LONG};
	RandomRows *rows = lake_alloc(arena, sizeof *rows);
	LakeField  *fields;
	int			count;

	rows->arena = arena;
	rows->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	count = 1 + (int) random_rows_below(rows, RANDOM_MAX_FIELDS - 1);
	fields = lake_alloc_array(arena, RANDOM_MAX_FIELDS, sizeof *fields);
	for (int i = 0; i < count; i++)
	{
		fields[i].id = ++rows->last_id;
		fields[i].name = lake_printf(arena, "%df %d", i, i);
		fields[i].type = i == 0 ? &type_long : random_rows_type(rows, depth);
		fields[i].required = i == 0 || random_rows_below(rows, 4) == 0;
	}
	rows->schema.field_count = count;
	rows->schema.fields = fields;
	rows->store = row_store_create(arena, &rows->schema);
	return rows;
}

/* ---- values ---- */

static inline double
random_rows_double(RandomRows *rows)
{
	static const double specials[] = {0.0, -0.0, (double) INFINITY,
	(double) -INFINITY, (double) NAN, 1.5, -2.25, 1e30};
	uint32_t	choice = random_rows_below(rows, 20);

	return choice < 8 ? specials[choice] :
		(double) random_rows_below(rows, 100000) / 7;
}

static inline LakeInt128
random_rows_decimal(RandomRows *rows, int precision)
{
	LakeInt128	limit = decimal_power10(precision);
	LakeInt128	value = (LakeInt128) encode_random(&rows->random);
	uint32_t	choice = random_rows_below(rows, 10);

	if (choice == 0)
		return limit - 1;
	if (choice == 1)
		return 1 - limit;
	value = value * (LakeInt128) (encode_random(&rows->random) >> 2) % limit;
	return choice < 6 ? value : -value;
}

static inline int64_t
random_rows_integer(RandomRows *rows)
{
	static const int64_t specials[] = {INT64_MIN, INT64_MAX, INT32_MIN,
	INT32_MAX, 0, -1, 1};
	uint32_t	choice = random_rows_below(rows, 30);

	return choice < 7 ? specials[choice] :
		choice < 15 ? (int64_t) random_rows_below(rows, 10) :
		(int64_t) encode_random(&rows->random) >> random_rows_below(rows, 60);
}

static inline LakeBytes
random_rows_bytes(RandomRows *rows, const LakeType *type)
{
	static const char *const letters[] = {
		"a", "~", "\xc3\xa9", "\xed\x9f\xbf", "\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf", "z", "/"
	};
	size_t		len = type->kind == LAKE_UUID ? 16 :
		type->kind == LAKE_FIXED ? (size_t) type->length :
		random_rows_below(rows, 30) == 0 ? 200 : random_rows_below(rows, 4);
	LakeBuffer	out;

	buffer_init(&out, rows->arena);
	buffer_reserve(&out, 1);
	while (out.len < len)
	{
		uint32_t	next = random_rows_below(rows, len > 100 ? 2 : 256);

		if (type->kind == LAKE_STRING)
			buffer_append_text(&out, letters[next % 8]);
		else
			buffer_append_byte(&out, (uint8_t) (255 - next));
	}
	return (LakeBytes) {out.data, out.len};
}

static inline void
random_rows_append(RandomRows *rows, VectorBuilder *builder,
				   const LakeField *field)
{
	const LakeType *type = field->type;
	uint32_t	count;

	if (!field->required && random_rows_below(rows, 5) == 0)
	{
		vector_append_null(builder);
		return;
	}
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			vector_append_bool(builder, random_rows_below(rows, 2) == 0);
			break;
		case LAKE_INT:
		case LAKE_DATE:
			vector_append_i32(builder, (int32_t) random_rows_integer(rows));
			break;
		case LAKE_TIME:
			vector_append_i64(builder, (int64_t)
							  (encode_random(&rows->random) %
							   UINT64_C(86400000000)));
			break;
		case LAKE_FLOAT:
			vector_append_f32(builder, (float) random_rows_double(rows));
			break;
		case LAKE_DOUBLE:
			vector_append_f64(builder, random_rows_double(rows));
			break;
		case LAKE_DECIMAL:
			if (type->precision > 18)
				vector_append_i128(builder,
								   random_rows_decimal(rows, type->precision));
			else
				vector_append_i64(builder, (int64_t)
								  random_rows_decimal(rows, type->precision));
			break;
		case LAKE_STRING:
		case LAKE_UUID:
		case LAKE_FIXED:
		case LAKE_BINARY:
			vector_append_bytes(builder, random_rows_bytes(rows, type));
			break;
		case LAKE_STRUCT:
			vector_append_struct(builder);
			for (int i = 0; i < type->field_count; i++)
				random_rows_append(rows, vector_child(builder, i),
								   &type->fields[i]);
			break;
		case LAKE_LIST:
		case LAKE_MAP:
			count = random_rows_below(rows, 4);
			vector_append_list(builder, count);
			for (int i = 0; i < type->field_count; i++)
			{
				for (uint32_t at = 0; at < count; at++)
					random_rows_append(rows, vector_child(builder, i),
									   &type->fields[i]);
			}
			break;
		default:
			vector_append_i64(builder, random_rows_integer(rows));
			break;
	}
}

static inline void
random_rows_add(RandomRows *rows, uint32_t count)
{
	for (uint32_t row = 0; row < count; row++)
	{
		vector_append_i64(row_store_column(rows->store, 0),
						  (int64_t) row_store_count(rows->store));
		for (int i = 1; i < rows->schema.field_count; i++)
			random_rows_append(rows, row_store_column(rows->store, i),
							   &rows->schema.fields[i]);
		row_store_end_row(rows->store);
	}
}

#endif							/* LAKE_RANDOM_ROWS_H */
