/*
 * Selectors to versions: snapshot ids, times, branches and tags.
 *
 * Iceberg spec, "Snapshot References" and "Point in Time Reads".
 */
#include "iceberg/iceberg_int.h"

LakeVersion
iceberg_resolve(LakeArena *arena, const LakeTable *table,
				const LakeSelector *selector)
{
	LakeVersion version = {table->current_snapshot, table->schema, true};

	(void) arena;
	if (selector->kind != LAKE_SELECT_CURRENT)
		lake_throw(LAKE_ERROR_UNSUPPORTED,
				   "time travel is not supported");
	return version;
}
