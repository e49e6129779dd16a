/*
 * Parquet vectors into the layouts of batch.h.
 *
 * A converter is a tree in the shape of the wanted type.  It converts a
 * dictionary once and leaves the codes alone; where nothing is to be done, it
 * hands on what it was given; a field that the file lacks is a dictionary of
 * one entry.
 */
#include "table/table_int.h"

#include <string.h>

struct VectorConverter
{
	LakeArena  *arena;
	const ColumnMap *map;
	VectorLayout layout;		/* of the result */
	bool		is_identity;	/* nothing to do here and below */
	Conversion	conversion;		/* of primitives with a source */
	uint64_t	source_dictionary;	/* id of what dictionary comes from */
	LakeDictionary dictionary;	/* converted or constant; id 0: none */
	void	   *entries;		/* its values */
	size_t		entries_size;	/* bytes */
	/* values; of constants, codes or the offsets of empty lists */
	void	   *buffer;
	size_t		buffer_size;	/* bytes */
	void	   *nulls;			/* of NULL constants: all ones */
	size_t		nulls_size;
	ScalarSlot	constant;
	LakeVector	result;
	int			child_count;
	VectorConverter **children;
	LakeVector **child_vectors;
};

VectorLayout
lake_type_layout(const LakeType *type)
{
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			return VECTOR_BOOL;
		case LAKE_INT:
		case LAKE_DATE:
		case LAKE_UNKNOWN:
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
		case LAKE_STRING:
		case LAKE_UUID:
		case LAKE_FIXED:
		case LAKE_BINARY:
		case LAKE_GEOMETRY:
		case LAKE_GEOGRAPHY:
			return VECTOR_BYTES;
		case LAKE_VARIANT:
		case LAKE_STRUCT:
			return VECTOR_STRUCT;
		case LAKE_LIST:
			return VECTOR_LIST;
		case LAKE_MAP:
			return VECTOR_MAP;
	}
	lake_throw(LAKE_ERROR_INTERNAL, "type kind %d has no layout",
			   (int) type->kind);
}

void
lake_value_from_slot(const LakeType *type, const void *slot, LakeValue *value)
{
	memset(value, 0, sizeof *value);
	switch (lake_type_layout(type))
	{
		case VECTOR_BOOL:
			value->i = *(const uint8_t *) slot;
			break;
		case VECTOR_I32:
			value->i = *(const int32_t *) slot;
			break;
		case VECTOR_I64:
			if (type->kind == LAKE_DECIMAL)
				value->decimal = *(const int64_t *) slot;
			else
				value->i = *(const int64_t *) slot;
			break;
		case VECTOR_I128:
			value->decimal = *(const LakeInt128 *) slot;
			break;
		case VECTOR_F32:
			value->d = (double) *(const float *) slot;
			break;
		case VECTOR_F64:
			value->d = *(const double *) slot;
			break;
		case VECTOR_BYTES:
			value->bytes = *(const LakeBytes *) slot;
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_INTERNAL, "a nested type has no scalar");
	}
}

static void
value_to_slot(const LakeType *type, const LakeValue *value, void *slot)
{
	int32_t		number = (int32_t) value->i;
	int64_t		decimal = (int64_t) value->decimal;
	float		single = (float) value->d;

	switch (lake_type_layout(type))
	{
		case VECTOR_BOOL:
			*(uint8_t *) slot = value->i != 0;
			break;
		case VECTOR_I32:
			memcpy(slot, &number, sizeof number);
			break;
		case VECTOR_I64:
			memcpy(slot, type->kind == LAKE_DECIMAL ? &decimal : &value->i,
				   sizeof(int64_t));
			break;
		case VECTOR_I128:
			memcpy(slot, &value->decimal, sizeof(LakeInt128));
			break;
		case VECTOR_F32:
			memcpy(slot, &single, sizeof single);
			break;
		case VECTOR_F64:
			memcpy(slot, &value->d, sizeof(double));
			break;
		case VECTOR_BYTES:
			memcpy(slot, &value->bytes, sizeof(LakeBytes));
			break;
		case VECTOR_LIST:
		case VECTOR_MAP:
		case VECTOR_STRUCT:
			lake_throw(LAKE_ERROR_INTERNAL, "a nested type has no scalar");
	}
}

/*
 * Ids for dictionaries made here.  The Parquet reader counts its own upwards;
 * counting downwards from the other end keeps the two apart.
 */
static uint64_t
next_dictionary_id(void)
{
	static uint64_t next = UINT64_MAX;

	return next--;
}

static void
init_constant(VectorConverter *converter)
{
	const ColumnMap *map = converter->map;

	if (!map->is_null)
		value_to_slot(map->field->type, &map->constant,
					  converter->constant.bytes);
	converter->dictionary.id = next_dictionary_id();
	converter->dictionary.layout = converter->layout;
	converter->dictionary.count = 1;
	converter->dictionary.values = converter->constant.bytes;
}

static void
init_nested(VectorConverter *converter)
{
	const ColumnMap *map = converter->map;

	converter->child_count = map->child_count;
	converter->children = lake_alloc_array(converter->arena,
										   (size_t) map->child_count,
										   sizeof(VectorConverter *));
	converter->child_vectors = lake_alloc_array(converter->arena,
												(size_t) map->child_count,
												sizeof(LakeVector *));
	converter->is_identity = map->source != NULL &&
		map->source->child_count == map->child_count;
	for (int i = 0; i < map->child_count; i++)
	{
		VectorConverter *child = vector_converter_create(converter->arena,
														 &map->children[i],
														 converter->conversion.truncate);

		converter->children[i] = child;
		if (!child->is_identity || map->children[i].position != i)
			converter->is_identity = false;
	}
}

/* the recursion is as deep as the map, see map_field */
VectorConverter *
vector_converter_create(LakeArena *arena, const ColumnMap *map,
						bool truncate_nanoseconds)
{
	VectorConverter *converter = lake_alloc(arena, sizeof(VectorConverter));

	converter->arena = arena;
	converter->map = map;
	converter->conversion.truncate = truncate_nanoseconds;
	converter->layout = lake_type_layout(map->field->type);
	if (map->is_raw)
		converter->is_identity = true;
	else if (vector_layout_width(converter->layout) == 0)
		init_nested(converter);
	else if (map->source == NULL)
		init_constant(converter);
	else
	{
		conversion_find(&converter->conversion, arena, map->source,
						map->field->type);
		converter->is_identity = converter->conversion.convert == NULL;
	}
	return converter;
}

/* at least size bytes; the contents are not kept */
static void
reserve(LakeArena *arena, void **buffer, size_t *capacity, size_t size)
{
	if (size <= *capacity && *buffer != NULL)
		return;
	if (*buffer != NULL)
		lake_free(arena, *buffer);
	*buffer = NULL;
	*buffer = lake_alloc(arena, size);
	*capacity = size;
}

/* ones or zeros for every row, made when more rows come than ever before */
static void
fill_constant(VectorConverter *converter, uint32_t count)
{
	size_t		rows = count < BATCH_MAX_ROWS ? BATCH_MAX_ROWS : count;
	size_t		capacity = converter->nulls_size;

	if (converter->map->is_null)
	{
		reserve(converter->arena, &converter->nulls, &converter->nulls_size,
				rows);
		if (capacity != converter->nulls_size)
			memset(converter->nulls, 1, rows);
	}
	/* codes, or the offsets of empty lists: zeros either way */
	reserve(converter->arena, &converter->buffer, &converter->buffer_size,
			(rows + 1) * sizeof(uint32_t));
}

static const LakeVector *
apply_constant(VectorConverter *converter, uint32_t count)
{
	LakeVector *result = &converter->result;
	bool		is_list = converter->layout == VECTOR_LIST ||
		converter->layout == VECTOR_MAP;

	fill_constant(converter, count);
	memset(result, 0, sizeof *result);
	result->layout = converter->layout;
	result->count = count;
	if (converter->map->is_null)
		result->nulls = converter->nulls;
	if (is_list)
		result->offsets = converter->buffer;
	else if (converter->layout != VECTOR_STRUCT)
	{
		result->dict = &converter->dictionary;
		result->codes = converter->buffer;
	}
	for (int i = 0; i < converter->child_count; i++)
		converter->child_vectors[i] = (LakeVector *)
			vector_converter_apply(converter->children[i], NULL,
								   is_list ? 0 : count);
	result->child_count = (uint32_t) converter->child_count;
	result->children = converter->child_vectors;
	return result;
}

static void
convert_values(VectorConverter *converter, const void *in,
			   const uint8_t *nulls, uint32_t count, void *out)
{
	Conversion *conversion = &converter->conversion;

	if (conversion->convert(conversion, in, nulls, count, out) != count)
		conversion_throw(conversion, converter->arena, converter->map->source,
						 converter->map->field->type);
}

static void
convert_dictionary(VectorConverter *converter, const LakeDictionary *source)
{
	size_t		width = vector_layout_width(converter->layout);

	if (converter->dictionary.id != 0 &&
		source->id == converter->source_dictionary)
		return;
	converter->dictionary.id = 0;
	if (!converter->conversion.checks_only)
		reserve(converter->arena, &converter->entries,
				&converter->entries_size, source->count * width);
	convert_values(converter, source->values, NULL, source->count,
				   converter->entries);
	converter->dictionary.id = next_dictionary_id();
	converter->dictionary.layout = converter->layout;
	converter->dictionary.count = source->count;
	converter->dictionary.values = converter->entries;
	converter->source_dictionary = source->id;
}

static const LakeVector *
apply_primitive(VectorConverter *converter, const LakeVector *vector)
{
	LakeVector *result = &converter->result;

	if (vector->count == 0)
	{
		/* no dictionary to look at, maybe no values */
		*result = *vector;
		result->layout = converter->layout;
		result->dict = NULL;
		return result;
	}
	if (vector->dict != NULL)
		convert_dictionary(converter, vector->dict);
	else
	{
		if (!converter->conversion.checks_only)
			reserve(converter->arena, &converter->buffer,
					&converter->buffer_size,
					vector->count * vector_layout_width(converter->layout));
		convert_values(converter, vector->values, vector->nulls,
					   vector->count, converter->buffer);
	}
	if (converter->conversion.checks_only)
		return vector;
	*result = *vector;
	result->layout = converter->layout;
	if (vector->dict != NULL)
		result->dict = &converter->dictionary;
	else
		result->values = converter->buffer;
	return result;
}

static const LakeVector *
apply_nested(VectorConverter *converter, const LakeVector *vector)
{
	LakeVector *result = &converter->result;

	*result = *vector;
	result->layout = converter->layout;
	for (int i = 0; i < converter->child_count; i++)
	{
		int			position = converter->map->children[i].position;
		const LakeVector *child = position < 0 ? NULL :
			vector->children[position];
		uint32_t	count = vector->count;

		if (child != NULL)
			count = child->count;
		else if (converter->layout != VECTOR_STRUCT)
			count = vector->child_count == 0 ? 0 : vector->children[0]->count;
		converter->child_vectors[i] = (LakeVector *)
			vector_converter_apply(converter->children[i], child, count);
	}
	result->child_count = (uint32_t) converter->child_count;
	result->children = converter->child_vectors;
	return result;
}

const LakeVector *
vector_converter_apply(VectorConverter *converter, const LakeVector *vector,
					   uint32_t count)
{
	if (converter->is_identity)
		return vector;
	if (converter->map->source == NULL)
		return apply_constant(converter, count);
	if (vector_layout_width(converter->layout) == 0)
		return apply_nested(converter, vector);
	return apply_primitive(converter, vector);
}

bool
vector_converter_value(VectorConverter *converter, const LakeVector *vector,
					   uint32_t row, LakeValue *value)
{
	const void *slot = vector_value(vector, row);
	Conversion *conversion = &converter->conversion;
	ScalarSlot	result;

	if (conversion->convert != NULL)
	{
		if (conversion->convert(conversion, slot, NULL, 1, result.bytes) != 1)
			return false;
		if (!conversion->checks_only)
			slot = result.bytes;
	}
	lake_value_from_slot(converter->map->field->type, slot, value);
	return true;
}
