/*
 * Settings: one table of them.
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "server/server_int.h"

bool		lake_truncate_nanoseconds = false;
int			lake_metadata_cache_kb = 65536;
bool		lake_write_lock = false;
int			lake_write_memory_kb = 262144;
int			lake_commit_timeout_ms = 0;
char	   *lake_as_of = "";

typedef struct LakeSetting
{
	const char *name;
	const char *summary;
	const char *detail;
	bool	   *bool_value;		/* exactly one of the three is set */
	int		   *int_value;
	GucIntAssignHook int_assign;	/* NULL: none */
	char	  **string_value;
	int			min;
	int			max;
	int			flags;
} LakeSetting;

static void
assign_metadata_cache(int value, void *extra)
{
	metadata_cache_set_limit(value);
}

static const LakeSetting settings[] = {
	{
		/*
		 * Any text is accepted: a check hook's refusal of what was set before
		 * the library was loaded would leave the default, today's data.
		 */
		.name = "lakefdw.as_of",
		.summary = "Sets the time whose versions of lake tables are read.",
		.detail = "A timestamptz literal or milliseconds since 1970; empty: the newest. lake.at() and options of a table go before it.",
		.string_value = &lake_as_of
	},
	{
		.name = "lakefdw.commit_timeout",
		.summary = "Sets how long a commit may take to write metadata and to wait for others.",
		.detail = "statement_timeout does not cover commits. 0: as long as the table's properties allow.",
		.int_value = &lake_commit_timeout_ms,
		.max = INT_MAX,
		.flags = GUC_UNIT_MS
	},
	{
		.name = "lakefdw.metadata_cache",
		.summary = "Sets the memory that parsed metadata and manifests may keep in this session.",
		.detail = "What a query uses is kept whatever its size.",
		.int_value = &lake_metadata_cache_kb,
		.int_assign = assign_metadata_cache,
		.max = MAX_KILOBYTES,
		.flags = GUC_UNIT_KB
	},
	{
		.name = "lakefdw.truncate_nanoseconds",
		.summary = "Reads nanosecond timestamps as microseconds, dropping the rest.",
		.detail = "When off, a value with a fraction of a microsecond is an error.",
		.bool_value = &lake_truncate_nanoseconds
	},
	{
		.name = "lakefdw.write_lock",
		.summary = "Locks a lake table at the first statement of a transaction that writes to it.",
		.detail = "For tables whose writers collide often. Sessions of this database wait for each other; other engines do not.",
		.bool_value = &lake_write_lock
	},
	{
		.name = "lakefdw.write_memory",
		.summary = "Sets the memory for rows of lake tables that are not in files yet.",
		.detail = "A statement that adds more rows writes files before the commit.",
		.int_value = &lake_write_memory_kb,
		.min = 1024,
		.max = MAX_KILOBYTES,
		.flags = GUC_UNIT_KB
	},
};

void
guc_define(void)
{
	for (size_t i = 0; i < lengthof(settings); i++)
	{
		const LakeSetting *s = &settings[i];

		if (s->bool_value != NULL)
			DefineCustomBoolVariable(s->name, s->summary, s->detail,
									 s->bool_value, *s->bool_value,
									 PGC_USERSET, s->flags,
									 NULL, NULL, NULL);
		else if (s->string_value != NULL)
			DefineCustomStringVariable(s->name, s->summary, s->detail,
									   s->string_value, *s->string_value,
									   PGC_USERSET, s->flags,
									   NULL, NULL, NULL);
		else
			DefineCustomIntVariable(s->name, s->summary, s->detail,
									s->int_value, *s->int_value, s->min, s->max,
									PGC_USERSET, s->flags,
									NULL, s->int_assign, NULL);
	}
	MarkGUCPrefixReserved("lakefdw");
}
