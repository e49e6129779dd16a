/*
 * Which version of a table is asked for: texts and Datums to selectors.
 *
 * Whoever asks most precisely decides: a query's lake.at, then the foreign
 * table's options, then lakefdw.as_of.
 */
#include "postgres.h"

#include "common/int.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/server_int.h"

#define EPOCH_DIFFERENCE \
	((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

void
selector_set_time(LakeSelector *selector, TimestampTz time)
{
	selector->kind = LAKE_SELECT_TIME;
	if (TIMESTAMP_NOT_FINITE(time))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("a lake table has no version at \"%s\"",
					   TIMESTAMP_IS_NOBEGIN(time) ? "-infinity" : "infinity"));
	/* the last 30 years that timestamptz has do not fit */
	if (pg_add_s64_overflow(time, EPOCH_DIFFERENCE, &selector->time_us))
		selector->time_us = PG_INT64_MAX;
}

void
selector_parse_time(LakeSelector *selector, const char *text)
{
	Datum		time;

	if (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0')
	{
		int64		milliseconds;

		errno = 0;
		milliseconds = strtoll(text, NULL, 10);
		selector->kind = LAKE_SELECT_TIME;
		if (errno != 0 || pg_mul_s64_overflow(milliseconds, 1000,
											  &selector->time_us))
			ereport(ERROR,
					errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
					errmsg("time out of range: \"%s\"", text));
		return;
	}
	time = DirectFunctionCall3(timestamptz_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
	selector_set_time(selector, DatumGetTimestampTz(time));
}

void
selector_parse_snapshot(LakeSelector *selector, const char *text)
{
	selector->kind = LAKE_SELECT_SNAPSHOT;
	selector->snapshot_id =
		DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(text)));
}

bool
selector_of_settings(LakeSelector *selector)
{
	LakeFrame	frame;

	if (lake_as_of == NULL || lake_as_of[0] == '\0')
		return false;
	lake_frame_push(&frame, "reading setting", "lakefdw.as_of");
	selector_parse_time(selector, lake_as_of);
	lake_frame_pop(&frame);
	return true;
}
