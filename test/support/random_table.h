/*
 * Random tables: fields of every type that a Parquet file has, and rows for
 * them, the same ones for the same seed.
 *
 * A column's values come from few or many different ones, in runs, ascending or
 * in no order, with many or no NULLs, so that every encoding is met.
 */
#ifndef LAKE_RANDOM_TABLE_H
#define LAKE_RANDOM_TABLE_H

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "encode.h"
#include "parquet/parquet.h"

#define RANDOM_BELOW(state, n) ((uint32_t) (encode_random(state) % (n)))

typedef struct RandomTable
{
	LakeArena  *arena;
	uint64_t	random;
	int			field_count;
	const ParquetField *const *fields;
} RandomTable;

/* ---- fields ---- */

static inline void
random_primitive(RandomTable *table, ParquetField *field)
{
	static const ParquetField types[] = {
		{.physical = PARQUET_BOOLEAN},
		{.physical = PARQUET_INT32},
		{.physical = PARQUET_INT64},
		{.physical = PARQUET_FLOAT},
		{.physical = PARQUET_DOUBLE},
		{.physical = PARQUET_BYTE_ARRAY},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_STRING},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_ENUM},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_JSON},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_BSON},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_GEOMETRY},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_GEOGRAPHY},
		{.physical = PARQUET_INT96, .type_length = 12},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 5},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 16,
		.logical = PARQUET_LOGICAL_UUID},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 12,
		.logical = PARQUET_LOGICAL_INTERVAL},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 2,
		.logical = PARQUET_LOGICAL_FLOAT16},
		{.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_DATE},
		{.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_TIME},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_TIME,
		.unit = PARQUET_MICROS},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_TIME,
		.unit = PARQUET_NANOS, .utc = true},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_TIMESTAMP},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_TIMESTAMP,
		.unit = PARQUET_MICROS, .utc = true},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_TIMESTAMP,
		.unit = PARQUET_NANOS},
		{.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_INTEGER,
		.bits = 8, .is_signed = true},
		{.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_INTEGER,
		.bits = 16},
		{.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_INTEGER,
		.bits = 32},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_INTEGER,
		.bits = 64},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_INTEGER,
		.bits = 64, .is_signed = true},
		{.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_DECIMAL,
		.precision = 9, .scale = 2},
		{.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_DECIMAL,
		.precision = 18, .scale = 18},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 7,
		.logical = PARQUET_LOGICAL_DECIMAL, .precision = 15, .scale = 0},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 9,
		.logical = PARQUET_LOGICAL_DECIMAL, .precision = 19, .scale = 5},
		{.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 16,
		.logical = PARQUET_LOGICAL_DECIMAL, .precision = 38, .scale = 10},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_DECIMAL,
		.precision = 10, .scale = 3},
		{.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_DECIMAL,
		.precision = 30, .scale = 3},
	};
	static const VectorLayout layouts[] = {
		VECTOR_BOOL, VECTOR_I32, VECTOR_I64, VECTOR_BYTES, VECTOR_F32,
		VECTOR_F64, VECTOR_BYTES, VECTOR_BYTES
	};
	const char *name = field->name;

	*field = types[RANDOM_BELOW(&table->random,
								sizeof types / sizeof types[0])];
	field->name = name;
	field->shape = PARQUET_PRIMITIVE;
	field->layout = layouts[field->physical];
	if (field->logical == PARQUET_LOGICAL_FLOAT16)
		field->layout = VECTOR_F32;
	else if (field->logical == PARQUET_LOGICAL_DECIMAL &&
			 field->layout == VECTOR_BYTES)
		field->layout = field->precision <= 18 ? VECTOR_I64 : VECTOR_I128;
}

static inline ParquetField *
random_field(RandomTable *table, const char *name, int depth)
{
	ParquetField *field = lake_alloc(table->arena, sizeof *field);
	uint32_t	choice = RANDOM_BELOW(&table->random, 10);
	ParquetField **children;

	field->name = name;
	if (depth == 0 || choice < 6)
		random_primitive(table, field);
	else
	{
		field->shape = choice < 7 ? PARQUET_MAP : choice < 8 ? PARQUET_STRUCT :
			PARQUET_LIST;
		field->layout = choice < 7 ? VECTOR_MAP : choice < 8 ? VECTOR_STRUCT :
			VECTOR_LIST;
		field->child_count = field->shape == PARQUET_LIST ? 1 :
			field->shape == PARQUET_MAP ? 2 :
			1 + (int) RANDOM_BELOW(&table->random, 3);
		children = lake_alloc_array(table->arena, 3, sizeof *children);
		for (int i = 0; i < field->child_count; i++)
			children[i] = random_field(table, lake_printf(table->arena, "c%d",
														  i), depth - 1);
		if (field->shape == PARQUET_MAP)
			children[0]->optional = false;
		field->children = children;
	}
	field->optional = RANDOM_BELOW(&table->random, 3) > 0;
	field->field_id = (int32_t) RANDOM_BELOW(&table->random, 1000) - 1;
	field->leaf = -1;
	return field;
}

static inline RandomTable *
random_table_create(LakeArena *arena, uint64_t seed, int field_count,
					int depth)
{
	RandomTable *table = lake_alloc(arena, sizeof *table);
	const ParquetField **fields =
		lake_alloc_array(arena, (size_t) field_count, sizeof *fields);

	table->arena = arena;
	table->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < field_count; i++)
		fields[i] = random_field(table, lake_printf(arena, "f%d", i), depth);
	table->fields = fields;
	table->field_count = field_count;
	return table;
}

/* ---- values: the one that a number stands for ---- */

static inline LakeBytes
random_bytes(LakeArena *arena, const ParquetField *field, uint64_t number)
{
	uint64_t	random = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	bool		is_text = field->logical == PARQUET_LOGICAL_STRING ||
		field->logical == PARQUET_LOGICAL_ENUM ||
		field->logical == PARQUET_LOGICAL_JSON;
	size_t		len = number % 7 == 0 ? 0 : number % 7 == 1 ?
		RANDOM_BELOW(&random, 300) : RANDOM_BELOW(&random, 12);
	size_t		same = RANDOM_BELOW(&random, 90);
	static const char *const letters[] = {
		"a", "~", "\xc3\xa9", "\xed\x9f\xbf", "\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf", "z", "\x7f"
	};
	LakeBuffer	out;

	buffer_init(&out, arena);
	if (field->physical != PARQUET_BYTE_ARRAY)
		len = (size_t) field->type_length;
	while (out.len < len)
	{
		/* a common beginning, so that cut bounds meet */
		uint64_t	next = out.len < same && len > 64 ? 5 :
			encode_random(&random) >> 5;

		if (is_text)
			buffer_append_text(&out, letters[next % 8]);
		else
			buffer_append_byte(&out, number % 3 == 0 ? 0xff :
							   (uint8_t) next);
	}
	/* a text ends with a whole letter, bytes at their length */
	return (LakeBytes) {out.len == 0 ? NULL : out.data,
						field->physical == PARQUET_BYTE_ARRAY ? out.len : len};
}

static inline double
random_double(uint64_t number, bool narrow)
{
	static const double specials[] = {
		0.0, -0.0, INFINITY, -INFINITY, 1.0, 0x1p-24, 65504, -65504
	};

	if (number % 5 == 0)
		return specials[number / 5 % 8];
	if (number % 31 == 1)
		return (double) NAN;
	return narrow ? (double) (number % 4096) - 2048 :
		((double) (int64_t) (number * UINT64_C(0x9e3779b97f4a7c15))) / 1e9;
}

static inline LakeInt128
random_decimal(uint64_t number, int precision)
{
	LakeInt128	limit = decimal_power10(precision);
	LakeInt128	value = (LakeInt128) number * number * number;

	if (number % 11 == 0)
		return limit - 1;
	if (number % 11 == 1)
		return 1 - limit;
	value %= limit;
	return number % 2 == 0 ? value : -value;
}

static inline int64_t
random_integer(uint64_t number)
{
	static const int64_t specials[] = {INT64_MIN, INT64_MAX, INT32_MIN,
	INT32_MAX, 0, -1, 1, 255};

	if (number % 9 == 0)
		return specials[number / 9 % 8];
	return (int64_t) (number * UINT64_C(0x9e3779b97f4a7c15)) >> number % 48;
}

static inline void
random_value(LakeArena *arena, const ParquetField *field, uint64_t number,
			 void *out)
{
	int64_t		integer = random_integer(number);
	LakeInt128	wide;
	LakeBytes	bytes;
	double		real = random_double(number, field->logical ==
									 PARQUET_LOGICAL_FLOAT16);
	float		narrow = (float) real;
	uint8_t		boolean = number % 2 == 1;

	if (field->logical == PARQUET_LOGICAL_DECIMAL)
	{
		wide = random_decimal(number, field->precision);
		integer = (int64_t) wide;
	}
	else
		wide = integer;
	switch (field->layout)
	{
		case VECTOR_BOOL:
			memcpy(out, &boolean, 1);
			break;
		case VECTOR_I32:
			memcpy(out, &integer, 4);
			break;
		case VECTOR_I64:
			memcpy(out, &integer, 8);
			break;
		case VECTOR_I128:
			memcpy(out, &wide, 16);
			break;
		case VECTOR_F32:
			memcpy(out, &narrow, 4);
			break;
		case VECTOR_F64:
			memcpy(out, &real, 8);
			break;
		default:
			bytes = random_bytes(arena, field, number);
			memcpy(out, &bytes, sizeof bytes);
	}
}

/* ---- rows ---- */

static inline uint8_t *
random_nulls(RandomTable *table, const ParquetField *field, uint32_t count)
{
	uint32_t	choice = RANDOM_BELOW(&table->random, 5);
	uint8_t    *nulls;

	if (!field->optional || choice == 0)
		return NULL;
	nulls = lake_alloc(table->arena, count);
	for (uint32_t i = 0; i < count; i++)
	{
		if (choice == 1)
			nulls[i] = 1;
		else if (choice == 2)
			nulls[i] = RANDOM_BELOW(&table->random, 50) == 0;
		else if (choice == 3)
			nulls[i] = RANDOM_BELOW(&table->random, 2) == 0;
		else
			nulls[i] = i / 100 % 2 == 0;
	}
	return nulls;
}

static inline void
random_scalars(RandomTable *table, const ParquetField *field,
			   LakeVector *vector)
{
	size_t		width = vector_layout_width(field->layout);
	uint32_t	count = vector->count;
	uint32_t	style = RANDOM_BELOW(&table->random, 5);
	bool		is_coded = RANDOM_BELOW(&table->random, 3) == 0;
	uint32_t	distinct = style == 0 ? 1 : style == 1 ? 20 : style == 2 ? 500 :
		count + 1;
	uint64_t	base = encode_random(&table->random) % 1000;
	uint32_t	entries = is_coded ? distinct : count;
	uint8_t    *values = lake_alloc_array(table->arena, entries + 1, width);
	uint32_t   *codes = lake_alloc_array(table->arena, count, sizeof *codes);

	for (uint32_t i = 0; i < count; i++)
		codes[i] = style == 4 ? i : RANDOM_BELOW(&table->random, distinct);
	for (uint32_t i = 0; i < entries; i++)
		random_value(table->arena, field, base + (is_coded ? i : codes[i]),
					 values + i * width);
	if (is_coded)
	{
		LakeDictionary *dict = lake_alloc(table->arena, sizeof *dict);
		static uint64_t last_id = 1u << 31;

		dict->id = ++last_id;
		dict->layout = field->layout;
		dict->count = entries;
		dict->values = values;
		vector->dict = dict;
		vector->codes = codes;
		for (uint32_t i = 0; i < count; i++)
			codes[i] = vector_is_null(vector, i) ? 0 : codes[i];
	}
	else
		vector->values = values;
}

static inline LakeVector *
random_vector(RandomTable *table, const ParquetField *field, uint32_t count)
{
	LakeVector *vector = lake_alloc(table->arena, sizeof *vector);
	uint32_t	child_rows = count;

	vector->layout = field->layout;
	vector->count = count;
	vector->nulls = random_nulls(table, field, count);
	if (field->shape == PARQUET_PRIMITIVE)
	{
		random_scalars(table, field, vector);
		return vector;
	}
	if (field->shape != PARQUET_STRUCT)
	{
		uint32_t   *offsets = lake_alloc_array(table->arena,
											   (size_t) count + 1,
											   sizeof *offsets);
		uint32_t	style = RANDOM_BELOW(&table->random, 4);

		for (uint32_t i = 0; i < count; i++)
		{
			uint32_t	length = style == 0 ? 0 :
				RANDOM_BELOW(&table->random, style == 1 ? 2 : 5);

			/* some elements of NULL lists, which nobody may see */
			if (style == 3 && i % 200 == 17)
				length = 100;
			offsets[i + 1] = offsets[i] + length;
		}
		vector->offsets = offsets;
		child_rows = offsets[count];
	}
	vector->child_count = (uint32_t) field->child_count;
	vector->children = lake_alloc_array(table->arena, vector->child_count,
										sizeof *vector->children);
	for (int i = 0; i < field->child_count; i++)
		vector->children[i] = random_vector(table, field->children[i],
											child_rows);
	return vector;
}

#endif							/* LAKE_RANDOM_TABLE_H */
