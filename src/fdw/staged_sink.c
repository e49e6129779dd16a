/*
 * Rows that leave memory before the commit: a command that adds more of them
 * than lakefdw.write_memory allows goes on in a file sink, whose files join the
 * log when the command is over.
 *
 * Only rows of the running command leave.  Nobody has seen them, so no scan and
 * no ctid knows where they were.
 */
#include "fdw/staged_int.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "port.h"

/*
 * Unique, also among clones of this cluster; the transaction's number tells
 * whoever removes orphans whether it was aborted.
 */
static char *
make_prefix(void)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof random))
		elog(ERROR, "could not generate a random number");
	return psprintf("lakefdw-%016llx-%llu-%016llx",
					(unsigned long long) GetSystemIdentifier(),
					(unsigned long long)
					U64FromFullTransactionId(GetTopFullTransactionId()),
					(unsigned long long) random);
}

void
staged_sink_options(StagedTable *table, FileSinkOptions *options)
{
	if (table->file_prefix == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(table->context);

		table->file_prefix = make_prefix();
		MemoryContextSwitchTo(caller);
	}
	memset(options, 0, sizeof *options);
	options->store = table->relation->store;
	options->write = table->write;
	options->file_prefix = table->file_prefix;
	options->file_number = &table->file_number;
	/* rows that were there before keep their ids */
	options->row_ids = table->write->format_version >= 3 &&
		(table->extent.deletes > 0 || table->extent.reads > 0);
	options->memory_limit = (Size) lake_write_memory_kb * 1024 / 2;
}

/* the first row that no earlier command, and no outer level, has added */
static uint64
first_own_row(const StagedTable *table)
{
	uint64		first = table->mark_count < 2 ? 0 :
		table->marks[table->mark_count - 2].end.rows;

	if (table->level_count > 0)
		first = Max(first, table->levels[table->level_count - 1].before.rows);
	return first;
}

void
staged_spill(StagedTable *table)
{
	uint64		first = first_own_row(table);

	/* many small commands: what they have left is theirs to keep */
	if ((table->extent.rows - first) * 2 < table->extent.rows)
		return;
	if (table->sink == NULL)
	{
		FileSinkOptions options;

		table->sink_context = AllocSetContextCreate(table->context,
													"lake file sink",
													ALLOCSET_DEFAULT_SIZES);
		staged_sink_options(table, &options);
		table->sink_level = staged_level(table);
		table->sink = file_sink_create(lake_arena_of(table->sink_context),
									   &options);
	}
	file_sink_write_store(table->sink, table->rows, first,
						  row_store_count(table->rows), NULL);
	row_store_truncate(table->rows, first);
	table->extent.rows = first;
}

void
staged_end_sink(StagedTable *table)
{
	const WrittenFile *const *files;
	int			count;

	if (table->sink == NULL)
		return;
	files = file_sink_finish(table->sink, &count);
	/* the context stays: it has the files' descriptions */
	table->sink = NULL;
	for (int i = 0; i < count; i++)
		staged_add_file(table, files[i]);
}

void
staged_cancel_sink(StagedTable *table)
{
	if (table->sink == NULL)
		return;
	file_sink_cancel(table->sink);
	table->sink = NULL;
	MemoryContextDelete(table->sink_context);
}
