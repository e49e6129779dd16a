/*
 * jsonb to nested values: the reverse of convert_json.c, and as it shows them.
 *
 * A struct is an object, a list an array, a map an object if its keys are
 * strings, else an array of {"key", "value"} objects.  An object's key that is
 * no field of the struct is an error, since it would be lost; an absent one is
 * NULL.  Scalars are what json_scalar.c makes of them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/timestamp.h"

#include "base/text.h"
#include "server/writer_int.h"

struct JsonWriter
{
	const LakeType *type;
	const char *name;			/* of the column, with the path in it */
	bool		required;
	bool		has_string_keys;	/* maps */
	JsonWriter *children;		/* by the type's fields */
	JsonbValue *keys;			/* their names */
};

static pg_noinline void
throw_kind(const JsonWriter *writer, const JsonbValue *json)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("jsonb %s of column \"%s\" is no value of lake type %s",
					JsonbTypeName((JsonbValue *) json), writer->name,
					name_from_lake(lake_type_text(arena, writer->type)))));
}

static pg_noinline void
throw_text(const JsonWriter *writer, const JsonbValue *json)
{
	LakeArena  *arena = lake_arena_of(CurrentMemoryContext);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid value \"%s\" of column \"%s\" for lake type %s",
					pnstrdup(json->val.string.val, json->val.string.len),
					writer->name,
					name_from_lake(lake_type_text(arena, writer->type)))));
}

/* ---- scalars ---- */

/*
 * Floats are rounded to the nearest, since what is shown is the shortest number
 * that reads back as the same.
 */
static void
put_number(const JsonWriter *writer, const JsonbValue *json,
		   VectorBuilder *out)
{
	Datum		number = NumericGetDatum(json->val.numeric);

	switch (writer->type->kind)
	{
		case LAKE_INT:
		case LAKE_LONG:
		case LAKE_DECIMAL:
			writer_put_numeric(writer->name, writer->type, json->val.numeric,
							   out);
			break;
		case LAKE_FLOAT:
			vector_append_f32(out,
							  DatumGetFloat4(DirectFunctionCall1(numeric_float4,
																 number)));
			break;
		case LAKE_DOUBLE:
			vector_append_f64(out,
							  DatumGetFloat8(DirectFunctionCall1(numeric_float8,
																 number)));
			break;
		default:
			throw_kind(writer, json);
	}
}

static bool
is_text(const JsonbValue *json, const char *text)
{
	return json->val.string.len == (int) strlen(text) &&
		memcmp(json->val.string.val, text, json->val.string.len) == 0;
}

/* what numbers cannot say in JSON */
static void
put_special_float(const JsonWriter *writer, const JsonbValue *json,
				  VectorBuilder *out)
{
	if (is_text(json, "NaN"))
		writer_put_float(writer->name, writer->type, get_float8_nan(), out);
	else if (is_text(json, "Infinity"))
		writer_put_float(writer->name, writer->type, get_float8_infinity(),
						 out);
	else if (is_text(json, "-Infinity"))
		writer_put_float(writer->name, writer->type, -get_float8_infinity(),
						 out);
	else
		throw_text(writer, json);
}

static void
put_date(const JsonWriter *writer, const JsonbValue *json,
		 VectorBuilder *out)
{
	int32		days;

	if (!text_parse_date(json->val.string.val, json->val.string.len, &days))
		throw_text(writer, json);
	vector_append_i32(out, days);
}

static void
put_time(const JsonWriter *writer, const JsonbValue *json,
		 VectorBuilder *out)
{
	int64_t		usecs;

	if (!text_parse_time(json->val.string.val, json->val.string.len, 6,
						 &usecs) || usecs >= USECS_PER_DAY)
		throw_text(writer, json);
	vector_append_i64(out, usecs);
}

static void
put_timestamp(const JsonWriter *writer, const JsonbValue *json, int digits,
			  bool zone, VectorBuilder *out)
{
	int64_t		ticks;

	if (!text_parse_timestamp(json->val.string.val, json->val.string.len,
							  digits, zone, &ticks))
		throw_text(writer, json);
	vector_append_i64(out, ticks);
}

static void
put_uuid(const JsonWriter *writer, const JsonbValue *json,
		 VectorBuilder *out)
{
	uint8		uuid[16];
	LakeBytes	bytes = {uuid, sizeof uuid};

	if (!text_parse_uuid(json->val.string.val, json->val.string.len, uuid))
		throw_text(writer, json);
	vector_append_bytes(out, bytes);
}

static void
put_hex(const JsonWriter *writer, const JsonbValue *json, VectorBuilder *out)
{
	const char *text = json->val.string.val;
	int			len = json->val.string.len;
	LakeBytes	bytes;

	if (len < 2 || text[0] != '\\' || text[1] != 'x' ||
		!text_parse_hex(lake_arena_of(CurrentMemoryContext), text + 2,
						len - 2, &bytes))
		throw_text(writer, json);
	writer_put_bytes(writer->name, writer->type, bytes, out);
}

static void
put_string(const JsonWriter *writer, const JsonbValue *json,
		   VectorBuilder *out)
{
	switch (writer->type->kind)
	{
		case LAKE_STRING:
			writer_put_text(json->val.string.val, json->val.string.len, out);
			break;
		case LAKE_FLOAT:
		case LAKE_DOUBLE:
			put_special_float(writer, json, out);
			break;
		case LAKE_DATE:
			put_date(writer, json, out);
			break;
		case LAKE_TIME:
			put_time(writer, json, out);
			break;
		case LAKE_TIMESTAMP:
		case LAKE_TIMESTAMPTZ:
			put_timestamp(writer, json, 6,
						  writer->type->kind == LAKE_TIMESTAMPTZ, out);
			break;
		case LAKE_TIMESTAMP_NS:
		case LAKE_TIMESTAMPTZ_NS:
			put_timestamp(writer, json, 9,
						  writer->type->kind == LAKE_TIMESTAMPTZ_NS, out);
			break;
		case LAKE_UUID:
			put_uuid(writer, json, out);
			break;
		case LAKE_FIXED:
		case LAKE_BINARY:
			put_hex(writer, json, out);
			break;
		default:
			throw_kind(writer, json);
	}
}

/* ---- nested values ---- */

static void put_value(const JsonWriter *writer, const JsonbValue *json,
					  VectorBuilder *out);

static void
put_absent(const JsonWriter *writer, VectorBuilder *out)
{
	if (writer->required)
		writer_throw_null(writer->name);
	vector_append_null(out);
}

/* a key of the object that is none of the writer's */
static pg_noinline void
throw_unknown_key(const JsonWriter *writer, JsonbContainer *object)
{
	JsonbIterator *iterator = JsonbIteratorInit(object);
	JsonbIteratorToken token;
	JsonbValue	json;

	while ((token = JsonbIteratorNext(&iterator, &json, true)) != WJB_DONE)
	{
		bool		is_known = token != WJB_KEY;

		for (int i = 0; !is_known && i < writer->type->field_count; i++)
			is_known = writer->keys[i].val.string.len == json.val.string.len &&
				memcmp(writer->keys[i].val.string.val, json.val.string.val,
					   json.val.string.len) == 0;
		if (!is_known)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("jsonb object of column \"%s\" has the key \"%s\", which is no field of it",
							writer->name,
							pnstrdup(json.val.string.val,
									 json.val.string.len))));
	}
	elog(ERROR, "jsonb object of column \"%s\" repeats a key", writer->name);
}

/* one value each to builders of the type's fields */
static void
put_members(const JsonWriter *writer, JsonbContainer *object,
			VectorBuilder *out)
{
	uint32		found = 0;

	for (int i = 0; i < writer->type->field_count; i++)
	{
		const JsonbValue *key = &writer->keys[i];
		JsonbValue	buffer;
		JsonbValue *json = getKeyJsonValueFromContainer(object,
														key->val.string.val,
														key->val.string.len,
														&buffer);

		if (json == NULL)
			put_absent(&writer->children[i], vector_child(out, i));
		else
		{
			found++;
			put_value(&writer->children[i], json, vector_child(out, i));
		}
	}
	if (found < JsonContainerSize(object))
		throw_unknown_key(writer, object);
}

static void
put_list(const JsonWriter *writer, JsonbContainer *array, VectorBuilder *out)
{
	JsonbIterator *iterator = JsonbIteratorInit(array);
	JsonbIteratorToken token;
	JsonbValue	json;
	VectorBuilder *child;

	vector_append_list(out, JsonContainerSize(array));
	child = vector_child(out, 0);
	while ((token = JsonbIteratorNext(&iterator, &json, true)) != WJB_DONE)
	{
		if (token == WJB_ELEM)
			put_value(&writer->children[0], &json, child);
	}
}

static void
put_object_map(const JsonWriter *writer, JsonbContainer *object,
			   VectorBuilder *out)
{
	JsonbIterator *iterator = JsonbIteratorInit(object);
	JsonbIteratorToken token;
	JsonbValue	json;

	vector_append_list(out, JsonContainerSize(object));
	while ((token = JsonbIteratorNext(&iterator, &json, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			put_value(&writer->children[0], &json, vector_child(out, 0));
		else if (token == WJB_VALUE)
			put_value(&writer->children[1], &json, vector_child(out, 1));
	}
}

static void
put_entry_map(const JsonWriter *writer, JsonbContainer *array,
			  VectorBuilder *out)
{
	JsonbIterator *iterator = JsonbIteratorInit(array);
	JsonbIteratorToken token;
	JsonbValue	json;

	vector_append_list(out, JsonContainerSize(array));
	while ((token = JsonbIteratorNext(&iterator, &json, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (json.type != jbvBinary ||
			!JsonContainerIsObject(json.val.binary.data))
			throw_kind(writer, &json);
		put_members(writer, json.val.binary.data, out);
	}
}

static void
put_container(const JsonWriter *writer, const JsonbValue *json,
			  VectorBuilder *out)
{
	JsonbContainer *container = json->val.binary.data;
	bool		is_object = JsonContainerIsObject(container);

	switch (writer->type->kind)
	{
		case LAKE_STRUCT:
			if (!is_object)
				throw_kind(writer, json);
			vector_append_struct(out);
			put_members(writer, container, out);
			break;
		case LAKE_LIST:
			if (is_object)
				throw_kind(writer, json);
			put_list(writer, container, out);
			break;
		case LAKE_MAP:
			if (is_object != writer->has_string_keys)
				throw_kind(writer, json);
			if (is_object)
				put_object_map(writer, container, out);
			else
				put_entry_map(writer, container, out);
			break;
		default:
			throw_kind(writer, json);
	}
}

static void
put_value(const JsonWriter *writer, const JsonbValue *json,
		  VectorBuilder *out)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (json->type)
	{
		case jbvNull:
			put_absent(writer, out);
			break;
		case jbvBool:
			if (writer->type->kind != LAKE_BOOLEAN)
				throw_kind(writer, json);
			vector_append_bool(out, json->val.boolean);
			break;
		case jbvNumeric:
			put_number(writer, json, out);
			break;
		case jbvString:
			put_string(writer, json, out);
			break;
		case jbvBinary:
			put_container(writer, json, out);
			break;
		default:
			elog(ERROR, "jsonb value of type %d", json->type);
	}
}

/* a scalar is an array of one element in jsonb; none of them is nested */
static void
write_json(const DatumWriter *writer, Datum datum, VectorBuilder *out)
{
	Jsonb	   *jsonb = DatumGetJsonbP(datum);
	JsonbValue	json;

	if (JB_ROOT_IS_SCALAR(jsonb))
	{
		(void) JsonbExtractScalar(&jsonb->root, &json);
		throw_kind(writer->json, &json);
	}
	JsonbToJsonbValue(jsonb, &json);
	put_container(writer->json, &json, out);
}

static void
init_writer(JsonWriter *writer, const LakeType *type, bool required,
			const char *name)
{
	int			count = type->field_count;

	check_stack_depth();
	writer->type = type;
	writer->name = name;
	writer->required = required;
	writer->children = palloc0(sizeof(JsonWriter) * (count + 1));
	writer->keys = palloc0(sizeof(JsonbValue) * (count + 1));
	for (int i = 0; i < count; i++)
	{
		const LakeField *field = &type->fields[i];
		LakeBytes	key = {(const uint8 *) field->name, strlen(field->name)};
		const char *child = type->kind == LAKE_LIST ? name :
			psprintf("%s.%s", name, name_from_lake(field->name));

		json_set_string(&writer->keys[i], key);
		/* whatever the schema says: a map has no NULL keys */
		init_writer(&writer->children[i], field->type, field->required ||
					(type->kind == LAKE_MAP && i == 0), child);
	}
	writer->has_string_keys = type->kind == LAKE_MAP &&
		type->fields[0].type->kind == LAKE_STRING;
}

void
datum_writer_init_json(DatumWriter *writer)
{
	writer->write = write_json;
	writer->json = palloc0(sizeof *writer->json);
	init_writer(writer->json, writer->type, writer->required, writer->name);
}
