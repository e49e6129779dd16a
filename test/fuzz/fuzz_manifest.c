/*
 * A manifest or a manifest list, after a byte that says which, and of what spec
 * and content the list takes it to be: the scan is planned or refused, a
 * predicate only takes files away, and plans from the cache are no others.
 */
#include <stdlib.h>
#include <string.h>

#include "seam_std.h"

#include "base/cache.h"
#include "iceberg_fixture.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition)
{
	if (!condition)
		abort();
}

/* a >= 5 AND p = 2 AND d > 1.5 AND s < 'm' */
static const Predicate *
make_predicate(LakeArena *arena, const LakeTable *table)
{
	static const LakeValue values[] = {
		{.i = 5}, {.i = 2}, {.d = 1.5},
		{.bytes = {(const uint8_t *) "m", 1}}
	};
	static const struct
	{
		const char *column;
		PredicateOp op;
	}			terms[] = {
		{"a", PREDICATE_GE}, {"p", PREDICATE_EQ},
		{"d", PREDICATE_GT}, {"s", PREDICATE_LT}
	};
	Predicate **children = lake_alloc_array(arena, 4, sizeof *children);

	for (int i = 0; i < 4; i++)
		children[i] =
			predicate_leaf(arena, terms[i].op,
						   lake_schema_find_name(table->schema,
												 terms[i].column),
						   &values[i], 1);
	return predicate_normalize(arena,
							   predicate_combine(arena, PREDICATE_AND,
												 children, 4));
}

static void
check_plan(const ScanPlan *plan)
{
	require(plan->files_total == plan->task_count +
			plan->files_skipped_by_partition + plan->files_skipped_by_bounds);
	require(plan->bytes_planned >= 0 && plan->rows_planned >= -1 &&
			plan->rows_deleted >= 0);
	for (int i = 0; i < plan->task_count; i++)
	{
		const ScanTask *task = &plan->tasks[i];

		require(strlen(task->path) > 0 && task->size >= 0 &&
				task->sequence_number >= 0);
		for (int j = 0; j < task->delete_count; j++)
			require(strlen(task->deletes[j]->path) > 0);
	}
}

static void
check_same(const ScanPlan *plan, const ScanPlan *other)
{
	require(plan->task_count == other->task_count &&
			plan->files_total == other->files_total &&
			plan->files_skipped_by_partition ==
			other->files_skipped_by_partition &&
			plan->delete_files == other->delete_files &&
			plan->bytes_planned == other->bytes_planned &&
			plan->rows_planned == other->rows_planned &&
			plan->rows_deleted == other->rows_deleted);
	for (int i = 0; i < plan->task_count; i++)
		require(strcmp(plan->tasks[i].path, other->tasks[i].path) == 0);
}

static void
run(LakeArena *arena, MemoryStore *memory, LakeCache *cache)
{
	const LakeTable *table = iceberg_format.open(arena, &memory->store,
												 FIXTURE_METADATA);
	const ScanPlan *whole;
	const ScanPlan *part;
	int			next = 0;
	IcebergTotals totals;

	iceberg_totals(arena, &memory->store, table->current_snapshot, &totals);
	part = fixture_plan(memory, table, make_predicate(arena, table));
	check_plan(part);
	/* may throw where the other did not: unneeded files may be unreadable */
	whole = fixture_plan(memory, table, NULL);
	check_plan(whole);
	for (int i = 0; i < part->task_count; i++)
	{
		while (next < whole->task_count &&
			   strcmp(whole->tasks[next].path, part->tasks[i].path) != 0)
			next++;
		require(next++ < whole->task_count);
	}
	memory->store.cache = cache;
	/* loaded without bounds, then given those of the predicate's columns */
	check_same(whole, fixture_plan(memory, table, NULL));
	for (int i = 0; i < 2; i++)
		check_same(part, fixture_plan(memory, table,
									  make_predicate(arena, table)));
	require(memory->store.cache_hits > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LakeArena  *cached = lake_arena_create(NULL, "fuzz cache");
	LakeArena  *arena = lake_arena_create(NULL, "fuzz");
	MemoryStore *memory = memory_store_create(arena);
	FixtureEntry entry = {FIXTURE_DATA("/lake/d"), .partition = 2};
	FixtureManifest manifest = {.sequence_number = 3, .live_files = NONE,
	.live_rows = NONE, .first_row_id = NONE, .entry_count = 1, .entries = &entry};
	LakeTry		try;

	if (size > 0 && lake_try_begin(&try))
	{
		LakeBytes	input = {.data = data + 1, .len = size - 1};

		memory_store_put_text(memory, FIXTURE_METADATA, fixture_metadata);
		if ((data[0] & 1) != 0)
		{
			/* the first of two files of one name is found */
			memory_store_put(memory, "/lake/t/metadata/list.avro", input);
			fixture_put_list(memory, &manifest, 1);
		}
		else
		{
			manifest.spec_id = data[0] >> 1 & 3;
			manifest.content = data[0] >> 3 & 1;
			manifest.first_row_id = (data[0] & 16) != 0 ? 1000 : NONE;
			memory_store_put(memory, "/lake/t/metadata/m0.avro", input);
			fixture_put_list(memory, &manifest, 1);
		}
		run(arena, memory, cache_create(cached));
		lake_try_end(&try);
	}
	lake_arena_destroy(arena);
	lake_arena_destroy(cached);
	return 0;
}
