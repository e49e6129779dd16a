/*
 * Planning from the cache: the plans are those that are made without it, and
 * those of an oracle that goes through the entries one by one; and when the
 * cache serves, what it must not serve, and what an error leaves in it.
 */
#include <math.h>

#include "base/cache.h"
#include "iceberg_fixture.h"
#include "unit.h"

#define ENTRIES_MAX		140
#define MANIFESTS_MAX	4

static uint64_t random_state = 42;

static int
draw(int count)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (int) ((random_state >> 33) % (unsigned) count);
}

/* ---- plans as text ---- */

static void
describe_task(LakeBuffer *out, const ScanTask *task)
{
	buffer_printf(out, "%s rows %lld size %lld seq %lld id %lld spec %d (",
				  task->path, (long long) task->record_count,
				  (long long) task->size, (long long) task->sequence_number,
				  (long long) task->first_row_id, task->spec->id);
	for (int i = 0; i < task->spec->field_count; i++)
	{
		if (task->partition[i].is_null)
			buffer_printf(out, "null ");
		else
			buffer_printf(out, "%lld ", (long long) task->partition[i].i);
	}
	buffer_printf(out, ")");
	for (int i = 0; i < task->delete_count; i++)
		buffer_printf(out, " %s/%d/%lld", task->deletes[i]->path,
					  (int) task->deletes[i]->kind,
					  (long long) task->deletes[i]->record_count);
	buffer_printf(out, "\n");
}

static const char *
describe(LakeArena *arena, const ScanPlan *plan)
{
	LakeBuffer	out;

	buffer_init(&out, arena);
	for (int i = 0; i < plan->task_count; i++)
		describe_task(&out, &plan->tasks[i]);
	buffer_printf(&out, "total %lld partition %lld bounds %lld deletes %lld "
				  "bytes %lld rows %lld deleted %lld equality %d",
				  (long long) plan->files_total,
				  (long long) plan->files_skipped_by_partition,
				  (long long) plan->files_skipped_by_bounds,
				  (long long) plan->delete_files,
				  (long long) plan->bytes_planned,
				  (long long) plan->rows_planned,
				  (long long) plan->rows_deleted, plan->has_equality_deletes);
	buffer_append_byte(&out, '\0');
	return (const char *) out.data;
}

/* the plan, or the error, under a cache or without one (NULL) */
static const char *
plan_text(LakeArena *arena, MemoryStore *memory, const LakeTable *table,
		  const Predicate *predicate, LakeCache *cache)
{
	LakeArena  *plan_arena = lake_arena_create(arena, "plan");
	const char *volatile text;
	LakeTry		try;

	memory->store.cache = cache;
	if (lake_try_begin(&try))
	{
		text = describe(arena,
						iceberg_format.plan(plan_arena, table, &memory->store,
											table->current_snapshot,
											predicate));
		lake_try_end(&try);
	}
	else
		text = lake_strdup(arena, try.message);
	lake_arena_destroy(plan_arena);
	return text;
}

/* ---- random tables ---- */

static LakeBytes
random_bound(LakeArena *arena, int column, int value)
{
	static const char *const texts[] = {"a", "ab", "b", "ba", "c", "d"};

	if (column == 2)
		return fixture_text_bound(texts[value < 0 ? 0 : value % 6]);
	if (column == 3)
		return fixture_double_bound(arena, draw(15) == 0 ? (double) NAN :
									value / 2.0);
	return fixture_int_bound(arena, value);
}

static void
random_statistics(LakeArena *arena, FixtureEntry *entry, int base)
{
	static const int columns[] = {0, 1, 1, 2, 3, 4};
	int			low = base + draw(6);
	int			high = low + draw(4) - (draw(20) == 0 ? 5 : 0);

	entry->column = columns[draw(6)];
	if (draw(5) > 0)
		entry->value_count = draw(6);
	if (draw(5) > 0)
		entry->null_count = draw(3) == 0 ? entry->value_count : draw(3);
	if (entry->column == 3 && draw(3) > 0)
		entry->nan_count = draw(3);
	if (draw(6) > 0)
		entry->lower = random_bound(arena, entry->column, low);
	if (draw(6) > 0)
		entry->upper = random_bound(arena, entry->column, high);
}

static void
random_delete(LakeArena *arena, FixtureEntry *entry, int number)
{
	entry->content = 1 + draw(2);
	entry->path = lake_printf(arena, "/lake/delete-%d.parquet", number);
	if (entry->content == 2)
		entry->equality_id = 1;
	else if (draw(3) == 0)
		entry->referenced = lake_printf(arena, "/lake/data-%d.parquet",
										draw(number + 1));
}

static void
random_entry(LakeArena *arena, FixtureEntry *entry, bool has_deletes,
			 int number, int base)
{
	*entry = (FixtureEntry)
	{
		FIXTURE_DATA(lake_printf(arena, "/lake/data-%d.parquet", number))
	};
	entry->status = draw(12) == 0 ? 2 : draw(2);
	if (entry->status == 0 || draw(3) == 0)
		entry->sequence_number = draw(6);
	if (draw(8) > 0)
		entry->partition = draw(3);
	entry->record_count = draw(10) == 0 ? draw(2) - 1 : 10 + draw(90);
	if (draw(8) == 0)
		entry->first_row_id = draw(100000);
	if (has_deletes || draw(60) == 0)
		random_delete(arena, entry, number);
	else
		random_statistics(arena, entry, base);
}

/* specs 0 to 4; clustered by base every now and then, so that blocks matter */
static int
random_manifests(LakeArena *arena, FixtureManifest *manifests)
{
	int			count = 1 + draw(MANIFESTS_MAX);
	int			number = 0;

	for (int i = 0; i < count; i++)
	{
		FixtureManifest *manifest = &manifests[i];
		bool		has_deletes = draw(4) == 0;
		int			entry_count = draw(3) == 0 ? draw(ENTRIES_MAX) : draw(8);
		FixtureEntry *entries = lake_alloc_array(arena,
												 (size_t) entry_count,
												 sizeof *entries);

		memset(manifest, 0, sizeof *manifest);
		manifest->spec_id = draw(5);
		manifest->content = has_deletes;
		manifest->sequence_number = 1 + draw(6);
		manifest->live_files = manifest->live_rows = NONE;
		manifest->first_row_id = draw(2) == 0 ? NONE : 1000 * i;
		manifest->entry_count = entry_count;
		manifest->entries = entries;
		for (int j = 0; j < entry_count; j++)
			random_entry(arena, &entries[j], has_deletes, number++, j / 20);
	}
	return count;
}

static Predicate *
random_leaf(LakeArena *arena, const LakeTable *table)
{
	static const char *const names[] = {"a", "s", "d", "p"};
	static const char *const texts[] = {"a", "ab", "abc", "b", "c"};
	int			column = draw(4);
	PredicateOp op = PREDICATE_IS_NULL + (unsigned) draw(10);
	LakeValue	values[3];
	int			count = op <= PREDICATE_NOT_NULL ? 0 :
		op >= PREDICATE_IN ? 1 + draw(3) : 1;

	memset(values, 0, sizeof values);
	for (int i = 0; i < count; i++)
	{
		if (column == 1)
			values[i].bytes = fixture_text_bound(texts[draw(5)]);
		else if (column == 2)
			values[i].d = draw(8) == 0 ? (double) NAN : draw(12) / 2.0;
		else
			values[i].i = draw(column == 3 ? 4 : 12);
	}
	return predicate_leaf(arena, op,
						  lake_schema_find_name(table->schema, names[column]),
						  values, count);
}

/* NULL now and then: all rows */
static const Predicate *
random_predicate(LakeArena *arena, const LakeTable *table)
{
	Predicate  *children[3];
	int			count = draw(4);

	for (int i = 0; i < count; i++)
		children[i] = random_leaf(arena, table);
	if (count == 0)
		return NULL;
	return predicate_normalize(arena,
							   predicate_combine(arena, draw(2) == 0 ?
												 PREDICATE_AND : PREDICATE_OR,
												 children, count));
}

/* ---- the oracle: entry by entry ---- */

typedef struct Tuple
{
	const LakePartitionSpec *spec;
	const LakeValue *values;
} Tuple;

static bool
tuple_bounds(void *arg, int32_t field_id, const LakeType *type,
			 LakeBounds *bounds)
{
	const Tuple *tuple = arg;

	for (int i = 0; i < tuple->spec->field_count; i++)
	{
		const LakeValue *value = &tuple->values[i];

		if (tuple->spec->fields[i].field_id != field_id)
			continue;
		CHECK_INT(type->kind, tuple->spec->fields[i].result_type->kind);
		memset(bounds, 0, sizeof *bounds);
		bounds->value_count = 1;
		bounds->null_count = value->is_null;
		bounds->has_lower = bounds->has_upper = !value->is_null;
		bounds->lower = bounds->upper = *value;
		return true;
	}
	return false;
}

/* 'p': pruned by its partition, 'b': by its bounds, 't': a task */
static char
judge(LakeArena *arena, ManifestReader *reader, const ManifestEntry *entry,
	  const Predicate *predicate)
{
	Tuple		tuple;
	const Predicate *projected;

	if (predicate == NULL)
		return 't';
	tuple.spec = manifest_reader_spec(reader);
	tuple.values = manifest_reader_partition(reader, arena);
	projected = predicate_project(arena, predicate, tuple.spec);
	if (!predicate_may_match(projected, tuple_bounds, &tuple))
		return 'p';
	return entry->record_count != 0 &&
		predicate_may_match(predicate, manifest_reader_bounds, reader) ?
		't' : 'b';
}

/* what judge says of each data file, in order */
static const char *
oracle(LakeArena *arena, MemoryStore *memory, const LakeTable *table,
	   const Predicate *predicate)
{
	static LakeType int_type = {.kind = LAKE_INT};
	static LakeType text_type = {.kind = LAKE_STRING};
	static LakeType double_type = {.kind = LAKE_DOUBLE};
	static const BoundsColumn columns[] = {
		{1, &int_type}, {2, &text_type}, {3, &double_type}, {4, &int_type}
	};
	LakeBuffer	out;
	size_t		count;
	const ManifestFile *manifests;

	buffer_init(&out, arena);
	memory->store.cache = NULL;
	manifests = manifest_list_read(arena, &memory->store,
								   table->current_snapshot, &count);
	for (size_t i = 0; i < count; i++)
	{
		ManifestReader *reader;
		ManifestEntry entry;

		if (manifests[i].has_deletes)
			continue;
		reader = manifest_reader_open(arena, arena, table, &memory->store,
									  &manifests[i], columns, 4);
		while (manifest_reader_next(reader, &entry))
		{
			if (entry.content == CONTENT_DATA)
				buffer_append_byte(&out, (uint8_t) judge(arena, reader,
														 &entry, predicate));
		}
	}
	buffer_append_byte(&out, '\0');
	return (const char *) out.data;
}

static int
occurrences(const char *text, char c)
{
	int			count = 0;

	for (; *text != '\0'; text++)
		count += *text == c;
	return count;
}

/* the plan's tasks and numbers are what the oracle says */
static void
check_oracle(LakeArena *arena, MemoryStore *memory, const LakeTable *table,
			 const Predicate *predicate, const char *plan)
{
	const char *verdicts = oracle(arena, memory, table, predicate);
	const char *numbers = lake_printf(arena, "total %zu partition %d bounds %d ",
									  strlen(verdicts),
									  occurrences(verdicts, 'p'),
									  occurrences(verdicts, 'b'));

	CHECK_INT(occurrences(plan, '\n'), occurrences(verdicts, 't'));
	if (strstr(plan, numbers) == NULL)
		CHECK_STRING(plan, numbers);
}

static bool
is_plan(const char *text)
{
	return strstr(text, "total ") != NULL;
}

static void
plans_are_the_same_with_and_without_cache(LakeArena *arena)
{
	int			tasks = 0;
	int			hits = 0;
	int			refused = 0;

	for (int i = 0; i < 500; i++)
	{
		LakeArena  *inner = lake_arena_create(arena, "case");
		MemoryStore *memory = memory_store_create(inner);
		FixtureManifest manifests[MANIFESTS_MAX];
		int			count = random_manifests(inner, manifests);
		const LakeTable *table = fixture_table(memory, manifests, count);
		LakeCache  *cache = cache_create(lake_arena_create(inner, "cache"));

		if (draw(4) == 0)
			cache_set_limit(cache, (size_t) draw(200000));
		for (int j = 0; j < 5; j++)
		{
			const Predicate *predicate = random_predicate(inner, table);
			const char *plain = plan_text(inner, memory, table, predicate,
										  NULL);

			for (int k = 0; k < 2; k++)
				CHECK_STRING(plan_text(inner, memory, table, predicate, cache),
							 plain);
			if (is_plan(plain))
				check_oracle(inner, memory, table, predicate, plain);
			else
				refused++;
			tasks += occurrences(plain, '\n');
		}
		hits += (int) memory->store.cache_hits;
		lake_arena_destroy(inner);
	}
	/* all of it happens */
	CHECK(tasks > 7000);
	CHECK(hits > 3000);
	CHECK(refused > 7);
	CHECK(refused < 1000);
}

/* ---- when the cache serves ---- */

typedef struct Table
{
	MemoryStore *memory;
	const LakeTable *table;
	LakeCache  *cache;
} Table;

static Table
make(LakeArena *arena, const FixtureManifest *manifests, int count)
{
	Table		t;

	t.memory = memory_store_create(arena);
	t.table = fixture_table(t.memory, manifests, count);
	t.cache = cache_create(lake_arena_create(arena, "cache"));
	return t;
}

static const char *
plan(LakeArena *arena, Table *t, const char *column, int64_t literal)
{
	LakeValue	value = {.i = literal};

	return plan_text(arena, t->memory, t->table, column == NULL ? NULL :
					 fixture_predicate(arena, t->table, column, PREDICATE_EQ,
									   &value), t->cache);
}

/* two files of a, 1 to 4 and 5 to 9, and one of p, in a manifest of spec 0 */
static FixtureManifest
three_files(LakeArena *arena)
{
	FixtureEntry *entries = lake_alloc_array(arena, 3, sizeof *entries);
	FixtureManifest manifest = {.sequence_number = 3, .live_files = NONE,
		.live_rows = NONE, .first_row_id = NONE, .entry_count = 3,
	.entries = entries};

	entries[0] = (FixtureEntry)
	{
		FIXTURE_DATA("/lake/low"), .column = 1,
			.lower = fixture_int_bound(arena, 1),
			.upper = fixture_int_bound(arena, 4)
	};
	entries[1] = (FixtureEntry)
	{
		FIXTURE_DATA("/lake/high"), .column = 1,
			.lower = fixture_int_bound(arena, 5),
			.upper = fixture_int_bound(arena, 9)
	};
	entries[2] = (FixtureEntry)
	{
		FIXTURE_DATA("/lake/p"), .column = 4,
			.lower = fixture_int_bound(arena, 7),
			.upper = fixture_int_bound(arena, 7)
	};
	return manifest;
}

static void
a_second_plan_reads_nothing(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	Table		t = make(arena, &manifest, 1);
	int			opened = t.memory->opened;

	CHECK(strstr(plan(arena, &t, "a", 2), "/lake/low ") != NULL);
	CHECK_INT(t.memory->opened, opened + 2);
	CHECK_INT(t.memory->store.cache_hits, 0);
	CHECK(strstr(plan(arena, &t, "a", 6), "/lake/high ") != NULL);
	plan(arena, &t, NULL, 0);
	CHECK_INT(t.memory->opened, opened + 2);
	CHECK_INT(t.memory->store.cache_hits, 4);
	CHECK_INT(cache_statistics(t.cache).entries, 2);
}

static void
a_columns_bounds_are_read_once_when_they_are_needed(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	Table		t = make(arena, &manifest, 1);
	int			opened = t.memory->opened;
	size_t		bytes;

	plan(arena, &t, NULL, 0);
	CHECK_INT(t.memory->opened, opened + 2);
	bytes = cache_statistics(t.cache).bytes;
	CHECK(strstr(plan(arena, &t, "a", 2), "bounds 1 ") != NULL);
	CHECK_INT(t.memory->opened, opened + 3);
	CHECK(strstr(plan(arena, &t, "p", 2), "bounds 1 ") != NULL);
	CHECK_INT(t.memory->opened, opened + 4);
	/* the list was a hit each time, the manifest was none */
	CHECK_INT(t.memory->store.cache_hits, 2);
	CHECK(strstr(plan(arena, &t, "p", 7), "bounds 0 ") != NULL);
	CHECK(strstr(plan(arena, &t, "a", 2), "bounds 1 ") != NULL);
	CHECK_INT(t.memory->opened, opened + 4);
	CHECK(cache_statistics(t.cache).bytes > bytes);
	CHECK_INT(cache_statistics(t.cache).entries, 2);
}

/* without room, the same is read again each time, and nothing is left */
static void
without_room_nothing_is_kept(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	Table		t = make(arena, &manifest, 1);
	int			opened = t.memory->opened;

	cache_set_limit(t.cache, 0);
	plan(arena, &t, "a", 2);
	CHECK(strstr(plan(arena, &t, "a", 2), "/lake/low ") != NULL);
	CHECK_INT(t.memory->opened, opened + 4);
	CHECK_INT(cache_statistics(t.cache).entries, 0);
	CHECK_INT(cache_statistics(t.cache).bytes, 0);
}

static void
a_replaced_manifest_is_read_again(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	FixtureEntry other = {FIXTURE_DATA("/lake/other")};
	FixtureManifest replaced = manifest;
	Table		t = make(arena, &manifest, 1);

	plan(arena, &t, NULL, 0);
	replaced.entry_count = 1;
	replaced.entries = &other;
	memory_store_replace(t.memory, "/lake/t/metadata/m0.avro",
						 fixture_manifest(arena, &replaced, 1000));
	CHECK(strstr(plan(arena, &t, NULL, 0), "/lake/other ") != NULL);
	CHECK_INT(t.memory->store.cache_hits, 1);
	CHECK(strstr(plan(arena, &t, "a", 2), "total 1 ") != NULL);
}

static void
a_missing_manifest_is_missed(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	Table		t = make(arena, &manifest, 1);

	plan(arena, &t, NULL, 0);
	t.memory->paths[1] = "/lake/gone";
	CHECK(strstr(plan(arena, &t, NULL, 0), "does not exist") != NULL);
}

/* lists the manifest with other numbers, the manifest staying as it is */
static void
list_again(LakeArena *arena, Table *t, const FixtureManifest *manifest)
{
	MemoryStore *other = memory_store_create(arena);

	fixture_put_list(other, manifest, 1);
	memory_store_replace(t->memory, other->paths[1], other->contents[1]);
}

/* buglog: the upgrade to v3 lists old manifests with row ids from then on */
static void
another_list_gives_the_entries_other_numbers(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	FixtureManifest upgraded = manifest;
	Table		t = make(arena, &manifest, 1);

	CHECK(strstr(plan(arena, &t, NULL, 0), "seq 3 id -1") != NULL);
	upgraded.first_row_id = 100;
	list_again(arena, &t, &upgraded);
	CHECK(strstr(plan(arena, &t, NULL, 0), "seq 3 id 100 ") != NULL);
	CHECK(strstr(plan(arena, &t, NULL, 0), "seq 3 id 110 ") != NULL);
	upgraded.sequence_number = 5;
	list_again(arena, &t, &upgraded);
	CHECK(strstr(plan(arena, &t, NULL, 0), "seq 5 id 100 ") != NULL);
	upgraded.content = 1;
	list_again(arena, &t, &upgraded);
	CHECK(strstr(plan(arena, &t, NULL, 0), "total 0 ") != NULL);
	list_again(arena, &t, &manifest);
	CHECK(strstr(plan(arena, &t, NULL, 0), "seq 3 id -1") != NULL);
	CHECK_INT(cache_statistics(t.cache).entries, 2);
}

/* the same table after "a" was promoted from int to long */
static void
a_promoted_column_has_bounds_of_its_new_type(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	Table		t = make(arena, &manifest, 1);
	char	   *text = lake_strdup(arena, fixture_metadata);
	char	   *type = strstr(text, "\"int\"");

	plan(arena, &t, "a", 2);
	/* the text gets no longer: "int" and a blank become "long" */
	text = lake_printf(arena, "%.*s\"long\"%s", (int) (type - text), text,
					   type + 5);
	memory_store_put_text(t.memory, "/lake/t/metadata/v2.metadata.json", text);
	t.table = iceberg_format.open(arena, &t.memory->store,
								  "/lake/t/metadata/v2.metadata.json");
	CHECK(lake_schema_find_name(t.table->schema, "a")->type->kind ==
		  LAKE_LONG);
	CHECK(strstr(plan(arena, &t, "a", INT64_C(5) << 32),
				 "bounds 2 ") != NULL);
	CHECK(strstr(plan(arena, &t, "a", 6), "bounds 1 ") != NULL);
	CHECK_INT(cache_statistics(t.cache).entries, 2);
}

/* metadata that has lost the manifest's spec, or has another by its number */
static void
another_spec_gives_the_entries_other_tuples(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/lake/1"), .partition = 1},
	{FIXTURE_DATA("/lake/2"), .partition = 2}};
	FixtureManifest manifest = {.spec_id = 1, .sequence_number = 3,
		.live_files = NONE, .live_rows = NONE, .first_row_id = NONE,
	.entry_count = 2, .entries = entries};
	Table		t = make(arena, &manifest, 1);
	const LakeTable *table = t.table;
	LakePartitionSpec *spec =
		(LakePartitionSpec *) iceberg_find_spec(table, 1);

	CHECK(strstr(plan(arena, &t, "p", 2), "partition 1 ") != NULL);
	CHECK(strstr(plan(arena, &t, "p", 2), "spec 1 (2 )") != NULL);
	CHECK_INT(t.memory->store.cache_hits, 2);
	/* void: its values are not looked at */
	spec->fields[0].transform = transform_parse(arena, "void");
	CHECK(strstr(plan(arena, &t, "p", 2), "partition 0 ") != NULL);
	CHECK_INT(t.memory->store.cache_hits, 3);
	/* the header says it, for this plan only */
	spec->id = 9;
	CHECK(strstr(plan(arena, &t, "p", 2), "spec 1 (2 )") != NULL);
	CHECK(strstr(plan(arena, &t, "p", 2), "spec 1 (2 )") != NULL);
	CHECK_INT(t.memory->store.cache_hits, 5);
	spec->id = 1;
	spec->fields[0].transform = transform_parse(arena, "identity");
	CHECK(strstr(plan(arena, &t, "p", 2), "partition 1 ") != NULL);
}

/* ---- errors ---- */

/* a manifest whose last entry is broken in one way */
static void
check_broken(LakeArena *arena, const FixtureEntry *broken, const char *message)
{
	FixtureManifest manifest = three_files(arena);
	FixtureEntry entries[3];
	Table		t;

	memcpy(entries, manifest.entries, sizeof entries);
	t = make(arena, &manifest, 1);
	entries[2] = *broken;
	manifest.entries = entries;
	memory_store_replace(t.memory, "/lake/t/metadata/m0.avro",
						 fixture_manifest(arena, &manifest, 1000));
	for (int i = 0; i < 2; i++)
	{
		CHECK(strstr(plan(arena, &t, "a", 2), message) != NULL);
		/* the list is sound */
		CHECK_INT(cache_statistics(t.cache).entries, 1);
	}
}

static void
a_broken_manifest_is_refused_each_time(LakeArena *arena)
{
	FixtureEntry no_path = {FIXTURE_DATA(NULL)};
	FixtureEntry no_size = {FIXTURE_DATA("/lake/p"), .size = NONE};
	FixtureEntry status = {FIXTURE_DATA("/lake/p"), .status = 3};

	check_broken(arena, &no_path, "\"file_path\" is missing");
	check_broken(arena, &no_size, "is missing or negative");
	check_broken(arena, &status, "\"status\" of an entry is 3");
}

/* contents that are shared stay what they were when a column cannot be read */
static void
an_error_while_bounds_are_added_adds_none(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	Table		t = make(arena, &manifest, 1);
	LakeBytes	sound = t.memory->contents[1];
	LakeBytes	cut = {sound.data, sound.len - 20};

	CHECK(strstr(plan(arena, &t, "a", 2), "bounds 1 ") != NULL);
	/* cut without its version telling it */
	t.memory->contents[1] = cut;
	CHECK(!is_plan(plan(arena, &t, "p", 2)));
	CHECK(strstr(plan(arena, &t, "a", 2), "bounds 1 ") != NULL);
	t.memory->contents[1] = sound;
	CHECK(strstr(plan(arena, &t, "p", 2), "bounds 1 ") != NULL);
	CHECK_INT(cache_statistics(t.cache).entries, 2);
}

/* another file in its place, of which the version does not tell either */
static void
bounds_of_another_number_of_files_are_not_added(LakeArena *arena)
{
	FixtureManifest manifest = three_files(arena);
	FixtureManifest fewer = manifest;
	Table		t = make(arena, &manifest, 1);

	plan(arena, &t, "a", 2);
	fewer.entry_count = 2;
	t.memory->contents[1] = fixture_manifest(arena, &fewer, 1000);
	CHECK(strstr(plan(arena, &t, "p", 2), "total 2 ") != NULL);
	t.memory->contents[1] = fixture_manifest(arena, &manifest, 1000);
	CHECK(strstr(plan(arena, &t, "s", 2), "total 3 ") != NULL);
}

/* ---- what a plan holds ---- */

#define MANY 3000

static void
tasks_stay_when_the_cache_lets_go(LakeArena *arena)
{
	FixtureEntry *entries = lake_alloc_array(arena, MANY, sizeof *entries);
	FixtureManifest manifest = {.spec_id = 1, .sequence_number = 3,
		.live_files = NONE, .live_rows = NONE, .first_row_id = NONE,
	.entry_count = MANY, .entries = entries};
	Table		t;

	for (int i = 0; i < MANY; i++)
		entries[i] = (FixtureEntry)
	{
		FIXTURE_DATA(lake_printf(arena, "/lake/%d", i)), .partition = i % 7
	};
	t = make(arena, &manifest, 1);
	t.memory->store.cache = t.cache;
	/* nearly all: shared; one partition: copies */
	for (int64_t literal = 7; literal >= 6; literal--)
	{
		LakeArena  *plan_arena = lake_arena_create(arena, "plan");
		LakeValue	value = {.i = literal};
		const Predicate *predicate =
			fixture_predicate(arena, t.table, "p", literal == 7 ?
						  PREDICATE_LT : PREDICATE_EQ, &value);
		const ScanPlan *made = iceberg_format.plan(plan_arena, t.table,
												   &t.memory->store,
												   t.table->current_snapshot,
												   predicate);

		cache_set_limit(t.cache, 0);
		CHECK_INT(cache_statistics(t.cache).entries, literal == 7);
		CHECK_INT(made->task_count, literal == 7 ? MANY : MANY / 7);
		for (int i = 0; i < made->task_count; i++)
		{
			const ScanTask *task = &made->tasks[i];
			int			number = literal == 7 ? i : 7 * i + 6;

			CHECK_STRING(task->path, lake_printf(arena, "/lake/%d", number));
			CHECK_INT(task->partition[0].i, number % 7);
			if (unit_failed)
				return;
		}
		lake_arena_destroy(plan_arena);
		CHECK_INT(cache_statistics(t.cache).entries, 0);
		cache_set_limit(t.cache, SIZE_MAX);
	}
}

static const UnitTest tests[] = {
	UNIT(plans_are_the_same_with_and_without_cache),
	UNIT(a_second_plan_reads_nothing),
	UNIT(a_columns_bounds_are_read_once_when_they_are_needed),
	UNIT(without_room_nothing_is_kept),
	UNIT(a_replaced_manifest_is_read_again),
	UNIT(a_missing_manifest_is_missed),
	UNIT(another_list_gives_the_entries_other_numbers),
	UNIT(a_promoted_column_has_bounds_of_its_new_type),
	UNIT(another_spec_gives_the_entries_other_tuples),
	UNIT(a_broken_manifest_is_refused_each_time),
	UNIT(an_error_while_bounds_are_added_adds_none),
	UNIT(bounds_of_another_number_of_files_are_not_added),
	UNIT(tasks_stay_when_the_cache_lets_go),
};

UNIT_MAIN(tests)
