/*
 * What is left of a table's log at commit: the net effect, as files.
 *
 * Rows that were added and deleted again are never written.  Deleted rows of
 * committed files become position deletes, or their files are written anew
 * without them, as the table's properties ask; a file without a row left goes
 * as a whole.
 */
#include "fdw/staged_int.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "server/compat.h"

typedef struct ChangeBuilder
{
	StagedTable *table;
	LakeArena  *arena;			/* the staged table's */
	FileSinkOptions options;
	FileSink   *sink;			/* NULL until a row needs it */
	TaskReader *reader;			/* of whole rows, NULL until a file needs it */
	const LakeField **fields;
	const LakeVector **columns;
	List	   *added;			/* WrittenFile */
	List	   *removed;		/* RemovedFile */
	List	   *deletes;		/* FileDeletes */
} ChangeBuilder;

static uint64
count_bits(const uint64 *words, uint64 word_count)
{
	uint64		count = 0;

	for (uint64 i = 0; i < word_count; i++)
		count += pg_popcount64(words[i]);
	return count;
}

static LakeBitmap *
bits_to_bitmap(LakeArena *arena, const uint64 *words, uint64 word_count)
{
	LakeBitmap *bitmap = bitmap_create(arena);

	for (uint64 i = 0; i < word_count; i++)
	{
		uint64		word = words[i];

		while (word != 0)
		{
			bitmap_add(bitmap, i * 64 + pg_rightmost_one_pos64(word));
			word &= word - 1;
		}
	}
	return bitmap;
}

static FileSink *
data_sink(ChangeBuilder *builder)
{
	if (builder->sink == NULL)
		builder->sink = file_sink_create(builder->arena, &builder->options);
	return builder->sink;
}

/* ---- rows in memory ---- */

static void
write_rows(ChangeBuilder *builder)
{
	StagedTable *table = builder->table;
	uint64		first = table->extent.is_truncated ?
		table->extent.truncated_rows : 0;

	if (table->rows == NULL || first >= table->extent.rows)
		return;
	file_sink_write_store(data_sink(builder), table->rows, first,
						  table->extent.rows,
						  bits_to_bitmap(builder->arena, table->deleted_rows,
										 table->deleted_words));
}

/* ---- files, without some of their rows ---- */

static void
create_reader(ChangeBuilder *builder)
{
	const LakeSchema *schema = staged_row_schema(builder->table);

	builder->fields = palloc_array(const LakeField *, schema->field_count + 1);
	builder->columns = palloc_array(const LakeVector *,
									schema->field_count + 1);
	for (int i = 0; i < schema->field_count; i++)
		builder->fields[i] = &schema->fields[i];
	builder->reader = scan_reader_create(builder->arena,
										 builder->table->relation,
										 builder->fields,
										 schema->field_count, NULL);
}

/* rows that are left go to the data sink, by the default spec */
static void
rewrite_file(ChangeBuilder *builder, const RegisteredFile *file)
{
	int			count = staged_row_schema(builder->table)->field_count;
	LakeArena  *scratch = lake_arena_create(builder->arena, "lake deletes");
	LakeBatch	batch;

	if (builder->reader == NULL)
		create_reader(builder);
	task_reader_begin(builder->reader, &file->file.task);
	task_reader_delete(builder->reader,
					   bits_to_bitmap(scratch, file->deleted,
									  file->word_count));
	while (task_reader_next(builder->reader, &batch))
	{
		for (int i = 0; i < count; i++)
			builder->columns[i] = task_reader_column(builder->reader, i);
		file_sink_write(data_sink(builder), builder->columns,
						batch.selection, batch.selected_count);
	}
	lake_arena_destroy(scratch);
}

static void
add_own_file(ChangeBuilder *builder, const RegisteredFile *file)
{
	uint64		deleted = count_bits(file->deleted, file->word_count);

	if (deleted == 0)
	{
		builder->added = lappend(builder->added, (void *) file->file.written);
		return;
	}
	if (deleted < file->file.row_count)
		rewrite_file(builder, file);
	put_set_discard(builder->options.store->puts, file->file.task.path);
}

/* is no row of a committed file left? */
static bool
is_empty(const RegisteredFile *file, uint64 deleted)
{
	const ScanTask *task = &file->file.task;
	int64		hidden = 0;

	if (task->record_count < 0)
		return false;
	/* position deletes may be listed twice; a vector says how many it has */
	for (int i = 0; i < task->delete_count; i++)
	{
		if (task->deletes[i]->kind != DELETE_VECTOR)
			return false;
		hidden += task->deletes[i]->record_count;
	}
	return deleted + hidden == task->record_count;
}

static void
remove_file(ChangeBuilder *builder, const char *path, bool is_deletes,
			int64 content_offset)
{
	RemovedFile *removed = lake_alloc(builder->arena, sizeof *removed);

	removed->path = path;
	removed->is_deletes = is_deletes;
	removed->content_offset = content_offset;
	builder->removed = lappend(builder->removed, removed);
}

/*
 * A file has one deletion vector: the new one takes in what the old one, and
 * position delete files from before the table's upgrade, have.
 */
static void
take_in_deletes(ChangeBuilder *builder, const ScanTask *task,
				LakeBitmap *positions)
{
	const LakeBitmap *former;

	if (task->delete_count == 0)
		return;
	if (builder->reader == NULL)
		create_reader(builder);
	task_reader_begin(builder->reader, task);
	former = task_reader_positions(builder->reader);
	if (former != NULL)
		bitmap_union(positions, former);
	for (int i = 0; i < task->delete_count; i++)
	{
		const DeleteFile *deletes = task->deletes[i];

		if (deletes->kind == DELETE_VECTOR)
			remove_file(builder, deletes->path, true,
						deletes->content_offset);
	}
}

static void
add_deletes(ChangeBuilder *builder, const RegisteredFile *file)
{
	FileDeletes *deletes = lake_alloc(builder->arena, sizeof *deletes);
	LakeBitmap *positions = bits_to_bitmap(builder->arena, file->deleted,
										   file->word_count);

	if (builder->table->write->format_version >= 3)
		take_in_deletes(builder, &file->file.task, positions);
	deletes->path = file->file.task.path;
	deletes->spec = file->file.task.spec;
	deletes->partition = file->file.task.partition;
	deletes->positions = positions;
	builder->deletes = lappend(builder->deletes, deletes);
}

static bool
merges_on_read(const StagedTable *table)
{
	if (table->write->format_version == 1)
		return false;
	for (int i = 0; i < table->extent.reads; i++)
	{
		if (table->reads[i].use == STAGED_UPDATE)
			return table->write->update_merges;
	}
	return table->write->delete_merges;
}

static void
change_files(ChangeBuilder *builder)
{
	const StagedTable *table = builder->table;
	bool		merges = merges_on_read(table);
	int			first = table->extent.is_truncated ?
		table->extent.truncated_files : 0;

	for (int i = 0; i < table->extent.files; i++)
	{
		if (i < first)
			put_set_discard(builder->options.store->puts,
							table->files[i]->file.task.path);
		else
			add_own_file(builder, table->files[i]);
	}
	if (table->extent.is_truncated)
		return;
	for (int i = 0; i < table->registered_count; i++)
	{
		const RegisteredFile *file = table->registered[i];
		uint64		deleted;

		CHECK_FOR_INTERRUPTS();
		if (file->file.written != NULL)
			continue;
		deleted = count_bits(file->deleted, file->word_count);
		if (deleted == 0)
			continue;
		if (merges && !is_empty(file, deleted))
			add_deletes(builder, file);
		else
		{
			if (!is_empty(file, deleted))
				rewrite_file(builder, file);
			remove_file(builder, file->file.task.path, false, -1);
		}
	}
}

/* ---- the result ---- */

static void
write_deletes(ChangeBuilder *builder, ChangeSet *changes)
{
	int			count = list_length(builder->deletes);
	FileDeletes *deletes = lake_alloc_array(builder->arena, count,
											sizeof *deletes);
	const char **referenced = lake_alloc_array(builder->arena, count,
											   sizeof *referenced);
	const WrittenFile *const *files;
	int			file_count = count;

	if (count == 0)
		return;
	for (int i = 0; i < count; i++)
	{
		deletes[i] = *(const FileDeletes *) list_nth(builder->deletes, i);
		referenced[i] = deletes[i].path;
	}
	if (builder->table->write->format_version >= 3)
		files = deletion_vectors_write(builder->arena, &builder->options,
									   deletes, count);
	else
		files = position_deletes_write(builder->arena, &builder->options,
									   deletes, count, &file_count);
	for (int i = 0; i < file_count; i++)
		builder->added = lappend(builder->added, (void *) files[i]);
	changes->referenced_count = count;
	changes->referenced = referenced;
}

static void
set_reads(const StagedTable *table, LakeArena *arena, ChangeSet *changes)
{
	ChangeRead *reads = lake_alloc_array(arena, table->extent.reads + 1,
										 sizeof *reads);
	bool		rewrites = !merges_on_read(table);

	for (int i = 0; i < table->extent.reads; i++)
	{
		reads[i].is_update = table->reads[i].use == STAGED_UPDATE;
		reads[i].is_rewrite = rewrites;
		reads[i].isolation = reads[i].is_update ?
			table->write->update_isolation : table->write->delete_isolation;
		reads[i].filter = table->reads[i].filter;
	}
	changes->read_count = table->extent.reads;
	changes->reads = reads;
}

static void
set_files(ChangeBuilder *builder, ChangeSet *changes)
{
	const WrittenFile **added = lake_alloc_array(builder->arena,
												 list_length(builder->added) + 1,
												 sizeof *added);
	RemovedFile *removed = lake_alloc_array(builder->arena,
											list_length(builder->removed) + 1,
											sizeof *removed);
	ListCell   *cell;

	foreach(cell, builder->added)
		added[changes->added_count++] = lfirst(cell);
	foreach(cell, builder->removed)
		removed[changes->removed_count++] =
		*(const RemovedFile *) lfirst(cell);
	changes->added = added;
	changes->removed = removed;
}

const ChangeSet *
staged_changes(StagedTable *table)
{
	ChangeBuilder builder = {.table = table};
	const LakeSnapshot *base = table->relation->snapshot;
	ChangeSet  *changes;

	staged_settle(table);
	staged_end_sink(table);
	/* a statement that found no row; nor does it need a transaction's number */
	if (table->extent.rows == 0 && table->extent.deletes == 0 &&
		table->extent.files == 0 && !table->extent.is_truncated)
		return NULL;
	builder.arena = lake_arena_of(table->context);
	staged_sink_options(table, &builder.options);
	changes = lake_alloc(builder.arena, sizeof *changes);
	changes->base_snapshot_id = base == NULL ? -1 : base->id;
	changes->base_sequence_number = base == NULL ? 0 : base->sequence_number;
	changes->removes_all = table->extent.is_truncated;
	change_files(&builder);
	write_rows(&builder);
	if (builder.sink != NULL)
	{
		int			count;
		const WrittenFile *const *files = file_sink_finish(builder.sink,
														   &count);

		for (int i = 0; i < count; i++)
			builder.added = lappend(builder.added, (void *) files[i]);
	}
	write_deletes(&builder, changes);
	set_reads(table, builder.arena, changes);
	set_files(&builder, changes);
	if (changes->added_count == 0 && changes->removed_count == 0 &&
		!changes->removes_all)
		return NULL;
	return changes;
}
