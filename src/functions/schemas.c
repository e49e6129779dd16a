/*
 * lake.schemas(): every schema that the table ever had, a row for each field,
 * nested ones included.
 */
#include "functions/functions.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(lakefdw_schemas);

enum
{
	SCHEMAS_SCHEMA_ID,
	SCHEMAS_IS_CURRENT,
	SCHEMAS_FIELD_ID,
	SCHEMAS_PARENT_FIELD_ID,
	SCHEMAS_PATH,
	SCHEMAS_TYPE,
	SCHEMAS_REQUIRED,
	SCHEMAS_DOC,
	SCHEMAS_INITIAL_DEFAULT,
	SCHEMAS_WRITE_DEFAULT,
	SCHEMAS_COLUMNS
};

/* one schema on its way to rows */
typedef struct SchemaRows
{
	ReturnSetInfo *result;
	MemoryContext context;		/* reset with each row */
	const LakeSchema *schema;
	bool		is_current;
} SchemaRows;

static void
set_text(Datum *value, bool *is_null, const char *text)
{
	*is_null = text == NULL;
	if (text != NULL)
		*value = inspect_text(text);
}

static void
set_json(Datum *value, bool *is_null, LakeJson *json)
{
	*is_null = json == NULL;
	if (json != NULL)
		*value = DirectFunctionCall1(jsonb_in,
									 CStringGetDatum(name_from_lake(json_text(json))));
}

static void
put_field(const SchemaRows *rows, const LakeField *field, int32 parent_id,
		  const char *path)
{
	MemoryContext caller = MemoryContextSwitchTo(rows->context);
	Datum		values[SCHEMAS_COLUMNS] = {0};
	bool		nulls[SCHEMAS_COLUMNS] = {0};

	values[SCHEMAS_SCHEMA_ID] = Int32GetDatum(rows->schema->id);
	values[SCHEMAS_IS_CURRENT] = BoolGetDatum(rows->is_current);
	values[SCHEMAS_FIELD_ID] = Int32GetDatum(field->id);
	nulls[SCHEMAS_PARENT_FIELD_ID] = parent_id < 0;
	values[SCHEMAS_PARENT_FIELD_ID] = Int32GetDatum(parent_id);
	values[SCHEMAS_PATH] = inspect_text(path);
	values[SCHEMAS_TYPE] =
		inspect_text(lake_type_text(lake_arena_of(rows->context),
									field->type));
	values[SCHEMAS_REQUIRED] = BoolGetDatum(field->required);
	set_text(&values[SCHEMAS_DOC], &nulls[SCHEMAS_DOC], field->doc);
	set_json(&values[SCHEMAS_INITIAL_DEFAULT], &nulls[SCHEMAS_INITIAL_DEFAULT],
			 field->initial_default);
	set_json(&values[SCHEMAS_WRITE_DEFAULT], &nulls[SCHEMAS_WRITE_DEFAULT],
			 field->write_default);
	tuplestore_putvalues(rows->result->setResult, rows->result->setDesc,
						 values, nulls);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(rows->context);
}

/* types are nested no deeper than LAKE_MAX_TYPE_DEPTH */
static void
put_fields(const SchemaRows *rows, const LakeField *fields, int count,
		   int32 parent_id, const char *prefix)
{
	for (int i = 0; i < count; i++)
	{
		const LakeField *field = &fields[i];
		char	   *path = psprintf("%s%s%s", prefix,
									prefix[0] == '\0' ? "" : ".", field->name);

		CHECK_FOR_INTERRUPTS();
		put_field(rows, field, parent_id, path);
		put_fields(rows, field->type->fields, field->type->field_count,
				   field->id, path);
		pfree(path);
	}
}

Datum
lakefdw_schemas(PG_FUNCTION_ARGS)
{
	LakeRelation *relation = inspect_open(fcinfo, INSPECT_ANY_COLUMN);
	const LakeTable *table = relation->table;
	SchemaRows	rows;

	InitMaterializedSRF(fcinfo, 0);
	rows.result = (ReturnSetInfo *) fcinfo->resultinfo;
	rows.context = AllocSetContextCreate(CurrentMemoryContext, "lake row",
										 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < table->schema_count; i++)
	{
		rows.schema = table->schemas[i];
		rows.is_current = rows.schema->id == table->schema->id;
		put_fields(&rows, rows.schema->fields, rows.schema->field_count, -1,
				   "");
	}
	return (Datum) 0;
}
