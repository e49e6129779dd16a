/*
 * For fuzzers: whether a vector keeps the promises of base/vector.h, and its
 * values as bytes, to compare vectors that were read in different ways.
 */
#ifndef LAKE_VECTOR_CHECK_H
#define LAKE_VECTOR_CHECK_H

#include <stdlib.h>

#include "base/bytes.h"
#include "base/vector.h"

static inline void
vector_check_scalar(const LakeVector *vector)
{
	if ((vector->values != NULL) == (vector->dict != NULL))
		abort();
	if (vector->dict == NULL)
		return;
	if (vector->dict->layout != vector->layout)
		abort();
	for (uint32_t i = 0; i < vector->count; i++)
	{
		if (vector_is_null(vector, i) ? vector->codes[i] != 0 :
			vector->codes[i] >= vector->dict->count)
			abort();
	}
}

/* aborts when a promise is broken */
static inline void
vector_check(const LakeVector *vector)
{
	uint32_t	child_rows = vector->count;

	if (vector->nulls != NULL)
	{
		for (uint32_t i = 0; i < vector->count; i++)
		{
			if (vector->nulls[i] > 1)
				abort();
		}
	}
	if (vector_layout_width(vector->layout) != 0)
	{
		if (vector->count > 0)
			vector_check_scalar(vector);
		return;
	}
	if (vector->layout != VECTOR_STRUCT)
	{
		for (uint32_t i = 0; i < vector->count; i++)
		{
			if (vector->offsets[i] > vector->offsets[i + 1])
				abort();
		}
		child_rows = vector->offsets[vector->count];
	}
	for (uint32_t i = 0; i < vector->child_count; i++)
	{
		if (vector->children[i]->count != child_rows)
			abort();
		vector_check(vector->children[i]);
	}
}

static inline void
vector_append_scalar(LakeBuffer *out, const LakeVector *vector, uint32_t row)
{
	const void *value = vector_value(vector, row);
	LakeBytes	bytes;

	if (vector->layout != VECTOR_BYTES)
	{
		buffer_append(out, value, vector_layout_width(vector->layout));
		return;
	}
	memcpy(&bytes, value, sizeof bytes);
	buffer_append(out, &bytes.len, sizeof bytes.len);
	buffer_append(out, bytes.data, bytes.len);
}

/* the value of a row, in bytes that are equal when values are */
static inline void
vector_append(LakeBuffer *out, const LakeVector *vector, uint32_t row)
{
	uint32_t	from = row;
	uint32_t	to = row + 1;

	buffer_append_byte(out, vector_is_null(vector, row));
	if (vector_is_null(vector, row))
		return;
	if (vector_layout_width(vector->layout) != 0)
	{
		vector_append_scalar(out, vector, row);
		return;
	}
	if (vector->layout != VECTOR_STRUCT)
	{
		uint32_t	count;

		from = vector->offsets[row];
		to = vector->offsets[row + 1];
		count = to - from;
		buffer_append(out, &count, sizeof count);
	}
	for (uint32_t i = from; i < to; i++)
	{
		for (uint32_t k = 0; k < vector->child_count; k++)
			vector_append(out, vector->children[k], i);
	}
}

#endif							/* LAKE_VECTOR_CHECK_H */
