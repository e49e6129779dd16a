/*
 * Modifiers and domains of columns: checked narrowings (decisions 3.5).
 *
 * A value that does not fit is an error, never rounded or cut: PostgreSQL's own
 * casts would round numerics and times silently.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "server/server_int.h"

typedef Datum (*CoerceValue) (const Coercion *coercion, Datum value);

struct Coercion
{
	CoerceValue coerce;
	int32		typmod;
	int64		unit;			/* microseconds of a time's last place */
};

struct DomainCheck
{
	Oid			domain;
	MemoryContext context;
	void	   *cache;			/* domain_check's */
};

static Datum
coerce_numeric(const Coercion *coercion, Datum value)
{
	Datum		coerced = DirectFunctionCall2(numeric, value,
											  Int32GetDatum(coercion->typmod));

	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, value, coerced)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value %s has more fraction digits than %s",
						DatumGetCString(DirectFunctionCall1(numeric_out,
															value)),
						format_type_with_typemod(NUMERICOID,
												 coercion->typmod))));
	return coerced;
}

/* times and timestamps are int64 Datums of microseconds */
static Datum
coerce_time(const Coercion *coercion, Datum value)
{
	if (DatumGetInt64(value) % coercion->unit != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
				 errmsg("value has more than %d digits of a second's fraction",
						coercion->typmod)));
	return value;
}

static Datum
coerce_varchar(const Coercion *coercion, Datum value)
{
	text	   *string = DatumGetTextPP(value);
	int			limit = coercion->typmod - VARHDRSZ;

	if (pg_mbstrlen_with_len(VARDATA_ANY(string),
							 VARSIZE_ANY_EXHDR(string)) > limit)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("value too long for type character varying(%d)",
						limit)));
	return value;
}

/* pads; beyond the length there may be spaces only, which mean nothing */
static Datum
coerce_bpchar(const Coercion *coercion, Datum value)
{
	return DirectFunctionCall3(bpchar, value,
							   Int32GetDatum(coercion->typmod),
							   BoolGetDatum(false));
}

static CoerceValue
find_coercion(const LakeType *type, Oid base, int32 typmod)
{
	int32		own_typmod;

	switch (base)
	{
		case NUMERICOID:
			(void) typemap_scalar(type, &own_typmod);
			return typmod == own_typmod ? NULL : coerce_numeric;
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return typmod >= MAX_TIME_PRECISION ? NULL : coerce_time;
		case VARCHAROID:
			return coerce_varchar;
		case BPCHAROID:
			return coerce_bpchar;
		default:
			return NULL;
	}
}

Coercion *
coercion_create(MemoryContext context, const LakeType *type, Oid base,
				int32 typmod)
{
	CoerceValue coerce = typmod < 0 ? NULL : find_coercion(type, base, typmod);
	Coercion   *coercion;

	if (coerce == NULL)
		return NULL;
	coercion = MemoryContextAllocZero(context, sizeof *coercion);
	coercion->coerce = coerce;
	coercion->typmod = typmod;
	coercion->unit = 1;
	for (int digit = typmod; digit < MAX_TIME_PRECISION; digit++)
		coercion->unit *= 10;
	return coercion;
}

void
coercion_apply(const Coercion *coercion, Datum *values, const bool *nulls,
			   uint32 count, MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);

	for (uint32 i = 0; i < count; i++)
	{
		if (!nulls[i])
			values[i] = coercion->coerce(coercion, values[i]);
	}
	MemoryContextSwitchTo(caller);
}

DomainCheck *
domain_check_create(MemoryContext context, Oid domain)
{
	DomainCheck *check = MemoryContextAllocZero(context, sizeof *check);

	check->domain = domain;
	check->context = context;
	return check;
}

void
domain_check_apply(DomainCheck *check, const Datum *values, const bool *nulls,
				   uint32 count)
{
	for (uint32 i = 0; i < count; i++)
		domain_check(values[i], nulls[i], check->domain, &check->cache,
					 check->context);
}
