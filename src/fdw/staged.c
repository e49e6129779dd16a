/*
 * The log of each table that this transaction changes: who may begin one, what
 * is added to it, and what a subtransaction takes back.
 *
 * Memory is the transaction's.  An operation is noted after it is complete, so
 * that an error leaves nothing half done behind that a savepoint would keep.
 */
#include "fdw/staged_int.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/acl.h"
#include "utils/snapmgr.h"

#include "server/server.h"

/* numbers that a file takes whose manifest does not say how many rows it has */
#define UNKNOWN_ROWS	(UINT64CONST(1) << 36)

dlist_head	staged_tables = DLIST_STATIC_INIT(staged_tables);
uint64		staged_transaction = 0;

void *
staged_grow(MemoryContext context, void *array, int count, int *room,
			Size size)
{
	if (count < *room)
		return array;
	*room = count < 8 ? 8 : count * 2;
	if (array == NULL)
		return MemoryContextAllocHuge(context, size * *room);
	return repalloc_huge(array, size * *room);
}

/* ---- row numbers ---- */

/* 32 bits are the block's; an offset of 0 is no valid ctid */
void
row_number_to_tid(RowNumber number, ItemPointer tid)
{
	Assert(number <= STAGED_MAX_ROW);
	ItemPointerSet(tid, (BlockNumber) (number >> 15),
				   (OffsetNumber) ((number & 0x7FFF) + 1));
}

RowNumber
row_number_from_tid(const ItemPointerData *tid)
{
	return ((RowNumber) ItemPointerGetBlockNumberNoCheck(tid) << 15) |
		(RowNumber) (ItemPointerGetOffsetNumberNoCheck(tid) - 1);
}

/* ---- the log ---- */

StagedTable *
staged_find(const LakeRelation *relation)
{
	dlist_iter	iter;

	dlist_foreach(iter, &staged_tables)
	{
		StagedTable *table = dlist_container(StagedTable, node, iter.cur);

		if (strcmp(table->key, relation->key) == 0)
			return table;
	}
	return NULL;
}

static void
begin_level(StagedTable *table, int nest_level)
{
	StagedLevel *level;

	STAGED_GROW(table, table->levels, table->level_count, table->level_room);
	level = &table->levels[table->level_count++];
	level->nest_level = nest_level;
	level->before = table->extent;
	level->mark_count = table->mark_count;
	if (table->mark_count > 0)
		level->last_mark = table->marks[table->mark_count - 1];
}

static void
begin_mark(StagedTable *table, CommandId cid)
{
	STAGED_GROW(table, table->marks, table->mark_count, table->mark_room);
	if (table->mark_count > 0)
		table->marks[table->mark_count - 1].end = table->extent;
	table->marks[table->mark_count++].cid = cid;
}

int
staged_level(const StagedTable *table)
{
	return table->level_count == 0 ? 1 :
		table->levels[table->level_count - 1].nest_level;
}

/*
 * What the former command has left to do is done first, and counts as its own.
 * Commands can be interleaved (a function that a command calls has some), but
 * the current command id never goes back.
 */
void
staged_note(StagedTable *table)
{
	CommandId	cid;
	int			nest_level;
	bool		is_deeper;
	bool		is_new;

	if (table->is_settling)
		return;
	/* a command that touches no heap must count as one all the same */
	cid = GetCurrentCommandId(true);
	nest_level = GetCurrentTransactionNestLevel();
	is_deeper = nest_level > staged_level(table);
	is_new = table->mark_count == 0 ||
		table->marks[table->mark_count - 1].cid != cid;
	if (!is_deeper && !is_new)
		return;
	staged_settle(table);
	staged_end_sink(table);
	if (is_deeper)
		begin_level(table, nest_level);
	if (is_new)
	{
		begin_mark(table, cid);
		table->extent.operations++;
	}
}

/* ---- beginning ---- */

static void
check_writable(const LakeRelation *relation, StagedUse use)
{
	const char *what = use == STAGED_LOCK ? "lock rows of" : "write to";

	if (relation->options->metadata_location != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\": it names a metadata file, not a table of a catalog",
						what, relation->name),
				 errhint("Register the metadata file with lake.register_table, and map that table.")));
	if (relation->is_branch && !relation->is_main)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s branch \"%s\" of foreign table \"%s\"",
						what, name_from_lake(relation->selector.ref),
						relation->name),
				 errdetail("Only branch \"main\" can be written to.")));
	if (!relation->is_main)
		ereport(ERROR,
				(errcode(use == STAGED_LOCK ? ERRCODE_FEATURE_NOT_SUPPORTED :
						 ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot %s an old version of foreign table \"%s\"",
						what, relation->name),
				 errhint("Reset lakefdw.as_of and the table's options snapshot_id, as_of_timestamp and ref.")));
	if (strcmp(relation->server->catalog, "hosted") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot %s foreign table \"%s\": commits to catalog '%s' are not supported",
						what, relation->name, relation->server->catalog),
				 errhint("Use a server with catalog 'hosted'.")));
	if (use != STAGED_LOCK &&
		!has_privs_of_role(relation->server->owner,
						   ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("owner \"%s\" of the foreign server may not write files",
						GetUserNameFromId(relation->server->owner, false)),
				 errhint("Grant it the role \"%s\".", "pg_write_server_files")));
}

/* the same version of the table again, to live as long as the log */
static void
keep_relation(StagedTable *table, const LakeRelation *relation)
{
	MemoryContext caller = MemoryContextSwitchTo(table->context);
	LakeOpen	how = {
		.metadata_location = relation->table->metadata_location,
		.without_columns = true
	};
	LakeRelation *kept = lake_relation_open(relation->relid, &how);
	LakePutSet *puts = table->relation == NULL ? NULL :
		table->relation->store->puts;

	kept->store->durable = enableFsync;
	kept->store->puts = puts != NULL ? puts :
		put_set_create(lake_arena_of(table->context));
	table->relation = kept;
	table->write = kept->table->format->write_options(lake_arena_of(table->context),
													  kept->table);
	MemoryContextSwitchTo(caller);
}

static StagedTable *
create_table(const LakeRelation *relation)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext,
												  "lake staged table",
												  ALLOCSET_DEFAULT_SIZES);
	StagedTable *table = MemoryContextAllocZero(context, sizeof *table);

	table->context = context;
	table->key = MemoryContextStrdup(context, relation->key);
	keep_relation(table, relation);
	dlist_push_tail(&staged_tables, &table->node);
	return table;
}

void
staged_check_schema(const StagedTable *table, const LakeRelation *relation)
{
	if (table->write->schema->id == relation->schema->id)
		return;
	conflict_throw(table->relation, table,
				   relation->table->metadata_location, SERVER_CONFLICT_COLUMNS,
				   psprintf("Rows were written by the table's schema %d, and it has schema %d now.",
							table->write->schema->id, relation->schema->id));
}

/* from now on the table stays at the version that this statement reads */
static void
pin_table(StagedTable *table, const LakeRelation *relation)
{
	LakePin		pin;

	if (table->extent.is_pinned)
		return;
	if (strcmp(table->relation->table->metadata_location,
			   relation->table->metadata_location) != 0)
	{
		staged_check_schema(table, relation);
		keep_relation(table, relation);
	}
	staged_note(table);
	pin = lake_relation_pin(relation);
	pin_keep(&pin, GetActiveSnapshot());
	table->extent.is_pinned = true;
}

StagedTable *
staged_begin(const LakeRelation *relation, StagedUse use)
{
	StagedTable *table;

	check_writable(relation, use);
	table = staged_find(relation);
	if (table == NULL)
		table = create_table(relation);
	xact_run_first();
	if (use != STAGED_INSERT)
		pin_table(table, relation);
	if (use == STAGED_LOCK)
	{
		staged_note(table);
		table->extent.is_locked = true;
	}
	return table;
}

bool
staged_is_pinned(const LakeRelation *relation)
{
	const StagedTable *table = staged_find(relation);

	return table != NULL && table->extent.is_pinned;
}

const WriteOptions *
staged_write_options(const StagedTable *table)
{
	return table->write;
}

LakeStore *
staged_store(StagedTable *table)
{
	return table->relation->store;
}

/* ---- rows ---- */

/*
 * Rows have the table's columns, and in v3 what they bring along when they have
 * been updated: their row id (reference, 9.6).
 */
static const LakeSchema *
make_row_schema(StagedTable *table)
{
	static const LakeType type_long = {.kind = LAKE_LONG};
	const LakeSchema *schema = table->write->schema;
	LakeArena  *arena = lake_arena_of(table->context);
	int			count = schema->field_count;
	LakeSchema *rows;

	if (table->write->format_version < 3)
		return schema;
	rows = lake_alloc(arena, sizeof *rows);
	*rows = *schema;
	rows->field_count = count + 2;
	rows->fields = lake_alloc_array(arena, count + 2, sizeof *rows->fields);
	memcpy(rows->fields, schema->fields, count * sizeof *rows->fields);
	rows->fields[count].id = LAKE_FIELD_ROW_ID;
	rows->fields[count].name = "_row_id";
	rows->fields[count].type = &type_long;
	rows->fields[count + 1].id = LAKE_FIELD_SEQUENCE;
	rows->fields[count + 1].name = "_last_updated_sequence_number";
	rows->fields[count + 1].type = &type_long;
	return rows;
}

const LakeSchema *
staged_row_schema(StagedTable *table)
{
	if (table->row_schema == NULL)
		table->row_schema = make_row_schema(table);
	return table->row_schema;
}

RowStore *
staged_rows(StagedTable *table)
{
	if (table->rows == NULL)
		table->rows = row_store_create(lake_arena_of(table->context),
									   staged_row_schema(table));
	return table->rows;
}

void
staged_row_added(StagedTable *table)
{
	staged_note(table);
	table->extent.rows = row_store_count(table->rows);
	if (row_store_size(table->rows) > (Size) lake_write_memory_kb * 1024 / 2)
		staged_spill(table);
}

/* sets a bit in an array that grows; false if it was set */
static bool
set_bit(StagedTable *table, uint64 **words, uint64 *word_count, uint64 bit)
{
	uint64		word = bit / 64;
	uint64		mask = UINT64CONST(1) << (bit % 64);

	if (word >= *word_count)
	{
		uint64		room = Max(Max(*word_count * 2, 16), word + 1);

		if (*words == NULL)
			*words = MemoryContextAllocHuge(table->context, room * 8);
		else
			*words = repalloc_huge(*words, room * 8);
		memset(*words + *word_count, 0, (room - *word_count) * 8);
		*word_count = room;
	}
	if (((*words)[word] & mask) != 0)
		return false;
	(*words)[word] |= mask;
	return true;
}

static RegisteredFile *
file_of(const StagedTable *table, RowNumber number)
{
	int			low = 0;
	int			high = table->registered_count;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (table->registered[middle]->file.first <= number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || number - table->registered[low - 1]->file.first >=
		table->registered[low - 1]->file.row_count)
		elog(ERROR, "row number " UINT64_FORMAT " is of no file", number);
	return table->registered[low - 1];
}

const StagedFile *
staged_file_of(const StagedTable *table, RowNumber number)
{
	return number >= STAGED_FIRST_ROW ? NULL : &file_of(table, number)->file;
}

static bool
mark_deleted(StagedTable *table, RowNumber number)
{
	RegisteredFile *file;

	if (number >= STAGED_FIRST_ROW)
		return set_bit(table, &table->deleted_rows, &table->deleted_words,
					   number - STAGED_FIRST_ROW);
	file = file_of(table, number);
	return set_bit(table, &file->deleted, &file->word_count,
				   number - file->file.first);
}

/* how many bits were set; the last word has some more, which stay clear */
static uint64
mark_whole(StagedTable *table, RegisteredFile *file)
{
	uint64		count = file->file.row_count;
	uint64		before = 0;

	if (count == 0)
		return 0;
	/* the array grows to the last bit */
	if (!set_bit(table, &file->deleted, &file->word_count, count - 1))
		before++;
	for (uint64 i = 0; i <= (count - 1) / 64; i++)
	{
		uint64		all = i < count / 64 ? PG_UINT64_MAX :
			(UINT64CONST(1) << (count % 64)) - 1;

		before += pg_popcount64(file->deleted[i]);
		file->deleted[i] = all;
	}
	return before - 1;
}

/* takes back the log's last delete */
static void
unmark_deleted(StagedTable *table, RowNumber number)
{
	uint64	   *words = table->deleted_rows;
	uint64		bit = number - STAGED_FIRST_ROW;
	RegisteredFile *file;

	if ((number & STAGED_WHOLE_FILE) != 0)
	{
		file = file_of(table, number & ~STAGED_WHOLE_FILE);
		memset(file->deleted, 0, file->word_count * sizeof(uint64));
		/* what was deleted before stays so */
		for (uint64 i = 0; i < table->extent.deletes; i++)
		{
			RowNumber	other = table->deletes[i];

			if (other - file->file.first < file->file.row_count)
				(void) set_bit(table, &file->deleted, &file->word_count,
							   other - file->file.first);
		}
		return;
	}
	if (number < STAGED_FIRST_ROW)
	{
		file = file_of(table, number);
		words = file->deleted;
		bit = number - file->file.first;
	}
	words[bit / 64] &= ~(UINT64CONST(1) << (bit % 64));
}

static void
add_delete(StagedTable *table, RowNumber number)
{
	if (table->extent.deletes >= table->delete_room)
	{
		uint64		room = Max(table->delete_room * 2, 64);

		if (table->deletes == NULL)
			table->deletes = MemoryContextAllocHuge(table->context,
													room * sizeof(RowNumber));
		else
			table->deletes = repalloc_huge(table->deletes,
										   room * sizeof(RowNumber));
		table->delete_room = room;
	}
	table->deletes[table->extent.deletes++] = number;
}

bool
staged_delete_row(StagedTable *table, RowNumber number)
{
	staged_note(table);
	if (!mark_deleted(table, number))
		return false;
	add_delete(table, number);
	return true;
}

uint64
staged_delete_file(StagedTable *table, const ScanTask *task)
{
	RegisteredFile *file;
	uint64		before;

	staged_note(table);
	file = file_of(table, staged_register_task(table, task));
	before = mark_whole(table, file);
	if (before < file->file.row_count)
		add_delete(table, file->file.first | STAGED_WHOLE_FILE);
	return file->file.row_count - before;
}

void
staged_truncate(StagedTable *table)
{
	staged_note(table);
	table->extent.is_truncated = true;
	table->extent.truncated_rows = table->extent.rows;
	table->extent.truncated_files = table->extent.files;
}

void
staged_add_read(StagedTable *table, StagedUse use, const Predicate *filter)
{
	StagedRead *read;

	staged_note(table);
	STAGED_GROW(table, table->reads, table->extent.reads, table->read_room);
	read = &table->reads[table->extent.reads];
	read->use = use;
	read->filter = filter == NULL ? NULL :
		predicate_copy(lake_arena_of(table->context), filter);
	table->extent.reads++;
}

void
staged_defer(StagedTable *table, void (*fn) (void *arg), void *arg)
{
	staged_note(table);
	STAGED_GROW(table, table->deferred, table->extent.deferred,
				table->deferred_room);
	table->deferred[table->extent.deferred].fn = fn;
	table->deferred[table->extent.deferred].arg = arg;
	table->extent.deferred++;
}

/*
 * A subtransaction that settles what is from before it takes that back when it
 * rolls back, and it is done again later.
 */
void
staged_settle(StagedTable *table)
{
	int			nest_level = GetCurrentTransactionNestLevel();

	if (table->is_settling || table->extent.settled == table->extent.deferred)
		return;
	if (nest_level > staged_level(table))
		begin_level(table, nest_level);
	table->is_settling = true;
	while (table->extent.settled < table->extent.deferred)
	{
		const StagedDeferred *next = &table->deferred[table->extent.settled];

		next->fn(next->arg);
		table->extent.settled++;
	}
	table->is_settling = false;
}

/* ---- files ---- */

static DeleteFile *
copy_delete(LakeArena *arena, const DeleteFile *from)
{
	DeleteFile *copy = lake_alloc(arena, sizeof *copy);

	*copy = *from;
	copy->path = lake_strdup(arena, from->path);
	if (from->equality_count > 0)
	{
		int32	   *ids = lake_alloc_array(arena, from->equality_count,
										   sizeof *ids);

		memcpy(ids, from->equality_ids,
			   from->equality_count * sizeof *ids);
		copy->equality_ids = ids;
	}
	return copy;
}

/* values of a tuple own nothing; their bytes are copied */
static const LakeValue *
copy_tuple(LakeArena *arena, const LakePartitionSpec *spec,
		   const LakeValue *values)
{
	LakeValue  *copy = lake_alloc_array(arena, spec->field_count + 1,
										sizeof *copy);

	for (int i = 0; i < spec->field_count; i++)
	{
		const LakeType *type = spec->fields[i].result_type;

		copy[i] = values[i];
		if (!values[i].is_null && (type == NULL ||
								   type->kind == LAKE_STRING ||
								   type->kind == LAKE_UUID ||
								   type->kind == LAKE_FIXED ||
								   type->kind == LAKE_BINARY))
		{
			copy[i].bytes.data = (const uint8_t *)
				lake_strndup(arena, (const char *) values[i].bytes.data,
							 values[i].bytes.len);
		}
	}
	return copy;
}

static void
copy_task(LakeArena *arena, const ScanTask *from, ScanTask *task)
{
	const DeleteFile **deletes = lake_alloc_array(arena,
												  from->delete_count + 1,
												  sizeof *deletes);

	*task = *from;
	task->path = lake_strdup(arena, from->path);
	task->partition = copy_tuple(arena, from->spec, from->partition);
	for (int i = 0; i < from->delete_count; i++)
		deletes[i] = copy_delete(arena, from->deletes[i]);
	task->deletes = deletes;
}

typedef struct PathEntry
{
	const char *path;
	RegisteredFile *file;
} PathEntry;

static uint32
hash_path(const void *key, Size size)
{
	const char *path = *(const char *const *) key;

	return DatumGetUInt32(hash_any((const unsigned char *) path,
								   strlen(path)));
}

static int
match_path(const void *a, const void *b, Size size)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static RegisteredFile *
register_file(StagedTable *table, const ScanTask *task)
{
	RegisteredFile *file;
	PathEntry  *entry;
	bool		found;
	uint64		count = task->record_count < 0 ? UNKNOWN_ROWS :
		task->record_count;

	if (table->by_path == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(const char *),
			.entrysize = sizeof(PathEntry),
			.hash = hash_path,
			.match = match_path,
			.hcxt = table->context
		};

		table->by_path = hash_create("lake files", 64, &control,
									 HASH_ELEM | HASH_FUNCTION |
									 HASH_COMPARE | HASH_CONTEXT);
	}
	entry = hash_search(table->by_path, &task->path, HASH_FIND, NULL);
	if (entry != NULL)
		return entry->file;
	if (count >= STAGED_FIRST_ROW - table->next_first)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("foreign table \"%s\" has more rows than a transaction can change",
						table->relation->name)));
	STAGED_GROW(table, table->registered, table->registered_count,
				table->registered_room);
	file = MemoryContextAllocZero(table->context, sizeof *file);
	copy_task(lake_arena_of(table->context), task, &file->file.task);
	file->file.first = table->next_first;
	file->file.row_count = count;
	entry = hash_search(table->by_path, &file->file.task.path, HASH_ENTER,
						&found);
	entry->file = file;
	table->next_first += count;
	table->registered[table->registered_count++] = file;
	return file;
}

RowNumber
staged_register_task(StagedTable *table, const ScanTask *task)
{
	return register_file(table, task)->file.first;
}

void
staged_add_file(StagedTable *table, const WrittenFile *written)
{
	ScanTask	task = {
		.path = written->path,
		.record_count = written->record_count,
		.size = written->size,
		.spec = written->spec,
		.partition = written->partition,
		.sequence_number = PG_INT64_MAX,
		.first_row_id = -1
	};
	RegisteredFile *file;

	STAGED_GROW(table, table->files, table->extent.files, table->file_room);
	file = register_file(table, &task);
	file->file.written = written;
	table->files[table->extent.files++] = file;
}

/* ---- subtransactions ---- */

static void
roll_back(StagedTable *table, const StagedLevel *level)
{
	if (table->sink != NULL && table->sink_level >= level->nest_level)
		staged_cancel_sink(table);
	while (table->extent.deletes > level->before.deletes)
		unmark_deleted(table, table->deletes[--table->extent.deletes]);
	for (int i = level->before.files; i < table->extent.files; i++)
		put_set_discard(table->relation->store->puts,
						table->files[i]->file.task.path);
	if (table->rows != NULL)
		row_store_truncate(table->rows, level->before.rows);
	if (table->extent.is_pinned && !level->before.is_pinned)
		pin_release(table->key);
	table->extent = level->before;
	table->is_settling = false;
	/* other operations may lead to an extent that looks the same */
	table->newest_view = NULL;
	table->mark_count = level->mark_count;
	if (table->mark_count > 0)
		table->marks[table->mark_count - 1] = level->last_mark;
}

void
staged_end_subtransaction(bool is_commit, int nest_level)
{
	dlist_iter	iter;

	dlist_foreach(iter, &staged_tables)
	{
		StagedTable *table = dlist_container(StagedTable, node, iter.cur);

		if (is_commit && table->sink != NULL &&
			table->sink_level >= nest_level)
			table->sink_level = nest_level - 1;
		while (table->level_count > 0 &&
			   table->levels[table->level_count - 1].nest_level >= nest_level)
		{
			StagedLevel *level = &table->levels[table->level_count - 1];

			if (!is_commit)
			{
				table->level_count--;
				roll_back(table, level);
			}
			else if (nest_level > 2 &&
					 (table->level_count == 1 ||
					  level[-1].nest_level < nest_level - 1))
			{
				level->nest_level = nest_level - 1;
				break;
			}
			else
				table->level_count--;
		}
	}
}

void
staged_forget(void)
{
	dlist_init(&staged_tables);
	staged_transaction++;
}

int
staged_operation_count(const char *key)
{
	dlist_iter	iter;

	dlist_foreach(iter, &staged_tables)
	{
		StagedTable *table = dlist_container(StagedTable, node, iter.cur);

		if (strcmp(table->key, key) == 0)
			return table->extent.operations;
	}
	return 0;
}
