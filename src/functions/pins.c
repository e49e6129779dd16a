/*
 * lake.pins(): which version of each lake table this session reads, now or to
 * the end of its transaction.
 *
 * A pin shows the version of a table that a view's owner may read and the user
 * may not; such rows are left out.
 */
#include "functions/functions.h"

#include "utils/builtins.h"
#include "utils/syscache.h"

#include "fdw/fdw.h"

PG_FUNCTION_INFO_V1(lakefdw_pins);

enum
{
	PINS_RELATION,
	PINS_CATALOG,
	PINS_IDENT,
	PINS_REF,
	PINS_SNAPSHOT_ID,
	PINS_METADATA_LOCATION,
	PINS_PINNED_AT,
	PINS_SCOPE,
	PINS_STAGED_OPS,
	PINS_COLUMNS
};

/* false also for a table that was dropped meanwhile */
static bool
may_select(Oid relid)
{
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) &&
		inspect_may_select(relid, INSPECT_ANY_COLUMN);
}

static void
set_text(Datum *value, bool *is_null, const char *text)
{
	*is_null = text == NULL;
	if (text != NULL)
		*value = CStringGetTextDatum(name_from_lake(text));
}

Datum
lakefdw_pins(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, pin_list())
	{
		const LakePin *pin = lfirst(cell);
		Datum		values[PINS_COLUMNS] = {0};
		bool		nulls[PINS_COLUMNS] = {0};

		if (!may_select(pin->relid))
			continue;
		values[PINS_RELATION] = ObjectIdGetDatum(pin->relid);
		set_text(&values[PINS_CATALOG], &nulls[PINS_CATALOG], pin->catalog);
		set_text(&values[PINS_IDENT], &nulls[PINS_IDENT], pin->ident);
		set_text(&values[PINS_REF], &nulls[PINS_REF], pin->ref);
		nulls[PINS_SNAPSHOT_ID] = pin->snapshot_id == -1;
		values[PINS_SNAPSHOT_ID] = Int64GetDatum(pin->snapshot_id);
		set_text(&values[PINS_METADATA_LOCATION],
				 &nulls[PINS_METADATA_LOCATION], pin->metadata_location);
		values[PINS_PINNED_AT] = TimestampTzGetDatum(pin->pinned_at);
		values[PINS_SCOPE] = CStringGetTextDatum(pin->is_transaction ?
												 "transaction" : "statement");
		values[PINS_STAGED_OPS] =
			Int32GetDatum(staged_operation_count(pin->key));
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}
