/*
 * Nested values as jsonb.
 *
 * A struct is an object; a list an array; a map an object if its keys are
 * strings, else an array of {"key", "value"} objects.  As in every jsonb object
 * the last of equal keys wins.  Scalars are json_scalar.c's.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "server/server_int.h"

struct JsonConverter
{
	const LakeType *type;
	bool		has_string_keys;	/* maps */
	/* by the type's fields */
	JsonConverter *children;
	JsonbValue *names;
	/* the root only: reset a row */
	MemoryContext work;
};

static void
init_converter(JsonConverter *converter, const LakeType *type)
{
	int			count = type->field_count;

	check_stack_depth();
	converter->type = type;
	converter->children = palloc0(sizeof(JsonConverter) * count);
	converter->names = palloc0(sizeof(JsonbValue) * count);
	for (int i = 0; i < count; i++)
	{
		const char *name = type->fields[i].name;
		LakeBytes	bytes = {(const uint8 *) name, strlen(name)};

		json_set_string(&converter->names[i], bytes);
		init_converter(&converter->children[i], type->fields[i].type);
	}
	converter->has_string_keys = type->kind == LAKE_MAP &&
		type->fields[0].type->kind == LAKE_STRING;
}

JsonConverter *
json_converter_create(MemoryContext context, const LakeType *type)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	JsonConverter *converter = palloc0(sizeof *converter);

	init_converter(converter, type);
	converter->work = AllocSetContextCreate(context, "lake jsonb",
											ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(caller);
	return converter;
}

/* layouts are the batch's contract; decimals come in two */
static void
set_scalar(const LakeType *type, VectorLayout layout, const void *value,
		   JsonbValue *json)
{
	switch (type->kind)
	{
		case LAKE_BOOLEAN:
			json_set_bool(json, *(const uint8 *) value != 0);
			break;
		case LAKE_INT:
			json_set_integer(json, *(const int32 *) value);
			break;
		case LAKE_LONG:
			json_set_integer(json, *(const int64 *) value);
			break;
		case LAKE_FLOAT:
			json_set_float(json, *(const float *) value);
			break;
		case LAKE_DOUBLE:
			json_set_double(json, *(const double *) value);
			break;
		case LAKE_DECIMAL:
			json_set_decimal(json, layout == VECTOR_I64 ?
							 *(const int64 *) value :
							 *(const LakeInt128 *) value, type->scale);
			break;
		case LAKE_DATE:
			json_set_date(json, *(const int32 *) value);
			break;
		case LAKE_TIME:
			json_set_time(json, *(const int64 *) value);
			break;
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
			json_set_timestamp(json, *(const int64 *) value, 6,
							   type->kind == LAKE_TIMESTAMPTZ);
			break;
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			json_set_timestamp(json, *(const int64 *) value, 9,
							   type->kind == LAKE_TIMESTAMPTZ_NS);
			break;
		case LAKE_STRING:
			json_set_string(json, *(const LakeBytes *) value);
			break;
		case LAKE_UUID:
			if (((const LakeBytes *) value)->len != 16)
				lake_throw(LAKE_ERROR_CORRUPT, "uuid value is not 16 bytes");
			json_set_uuid(json, ((const LakeBytes *) value)->data);
			break;
		case LAKE_FIXED:
		case LAKE_BINARY:
			json_set_bytes(json, *(const LakeBytes *) value);
			break;
		default:
			elog(ERROR, "lake type %d is no scalar", type->kind);
	}
}

static JsonbValue *push_value(const JsonConverter *converter,
							  const LakeVector *vector, uint32 row,
							  JsonbParseState **state,
							  JsonbIteratorToken token);

static JsonbValue *
push_struct(const JsonConverter *converter, const LakeVector *vector,
			uint32 row, JsonbParseState **state)
{
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < converter->type->field_count; i++)
	{
		pushJsonbValue(state, WJB_KEY, &converter->names[i]);
		push_value(&converter->children[i], vector->children[i], row, state,
				   WJB_VALUE);
	}
	return pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

static JsonbValue *
push_list(const JsonConverter *converter, const LakeVector *vector,
		  uint32 row, JsonbParseState **state)
{
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (uint32 i = vector->offsets[row]; i < vector->offsets[row + 1]; i++)
		push_value(&converter->children[0], vector->children[0], i, state,
				   WJB_ELEM);
	return pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

static JsonbValue *
push_object_map(const JsonConverter *converter, const LakeVector *vector,
				uint32 row, JsonbParseState **state)
{
	const LakeVector *keys = vector->children[0];

	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	for (uint32 i = vector->offsets[row]; i < vector->offsets[row + 1]; i++)
	{
		JsonbValue	key;

		if (vector_is_null(keys, i))
			lake_throw(LAKE_ERROR_CORRUPT, "map has a NULL key");
		json_set_string(&key, *(const LakeBytes *) vector_value(keys, i));
		pushJsonbValue(state, WJB_KEY, &key);
		push_value(&converter->children[1], vector->children[1], i, state,
				   WJB_VALUE);
	}
	return pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

static JsonbValue *
push_entry_map(const JsonConverter *converter, const LakeVector *vector,
			   uint32 row, JsonbParseState **state)
{
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (uint32 i = vector->offsets[row]; i < vector->offsets[row + 1]; i++)
	{
		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		for (int child = 0; child < 2; child++)
		{
			pushJsonbValue(state, WJB_KEY, &converter->names[child]);
			push_value(&converter->children[child], vector->children[child],
					   i, state, WJB_VALUE);
		}
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	return pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/*
 * What writers shredded into typed_value has no type here, so such rows are
 * refused.
 */
static JsonbValue *
push_variant(const LakeVector *vector, uint32 row, JsonbParseState **state,
			 JsonbIteratorToken token)
{
	const LakeVector *metadata = vector->children[0];
	const LakeVector *value = vector->children[1];

	if (vector->child_count > 2 && !vector_is_null(vector->children[2], row))
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "shredded variant values are not supported");
	if (vector_is_null(metadata, row))
		lake_throw(LAKE_ERROR_CORRUPT, "variant without metadata");
	if (vector_is_null(value, row))
	{
		JsonbValue *null = palloc0(sizeof *null);

		null->type = jbvNull;
		return *state == NULL ? null : pushJsonbValue(state, token, null);
	}
	return variant_push(state, token,
						*(const LakeBytes *) vector_value(metadata, row),
						*(const LakeBytes *) vector_value(value, row));
}

static JsonbValue *
push_value(const JsonConverter *converter, const LakeVector *vector,
		   uint32 row, JsonbParseState **state, JsonbIteratorToken token)
{
	JsonbValue	scalar;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (vector_is_null(vector, row))
	{
		scalar.type = jbvNull;
		return pushJsonbValue(state, token, &scalar);
	}
	switch (converter->type->kind)
	{
		case LAKE_STRUCT:
			return push_struct(converter, vector, row, state);
		case LAKE_LIST:
			return push_list(converter, vector, row, state);
		case LAKE_MAP:
			return converter->has_string_keys ?
				push_object_map(converter, vector, row, state) :
				push_entry_map(converter, vector, row, state);
		case LAKE_VARIANT:
			return push_variant(vector, row, state, token);
		default:
			set_scalar(converter->type, vector->dict != NULL ?
					   vector->dict->layout : vector->layout,
					   vector_value(vector, row), &scalar);
			return pushJsonbValue(state, token, &scalar);
	}
}

Datum
json_converter_make(JsonConverter *converter, const LakeVector *vector,
					uint32 row, MemoryContext context)
{
	MemoryContext caller;
	JsonbParseState *state = NULL;
	JsonbValue *value;
	Jsonb	   *jsonb;

	MemoryContextReset(converter->work);
	caller = MemoryContextSwitchTo(converter->work);
	value = push_value(converter, vector, row, &state, WJB_ELEM);
	MemoryContextSwitchTo(context);
	jsonb = JsonbValueToJsonb(value);
	MemoryContextSwitchTo(caller);
	return JsonbPGetDatum(jsonb);
}
