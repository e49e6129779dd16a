/*
 * Plans: what is pruned and on which grounds, what is never pruned, and what
 * the numbers of a plan mean; all of it without a cache and with one.
 */
#include <math.h>

#include "base/cache.h"
#include "iceberg_fixture.h"
#include "unit.h"

/* names of the planned files, joined by spaces */
static const char *
files(LakeArena *arena, const ScanPlan *plan)
{
	const char *names = "";

	for (int i = 0; i < plan->task_count; i++)
		names = lake_printf(arena, "%s%s%s", names, i == 0 ? "" : " ",
							plan->tasks[i].path);
	return names;
}

static bool has_cache;
static LakeArena *caches;		/* outlives the tests, which hold entries */

typedef struct Case
{
	MemoryStore *memory;
	const LakeTable *table;
} Case;

static Case
make(LakeArena *arena, const FixtureManifest *manifests, int count)
{
	Case		c;

	c.memory = memory_store_create(arena);
	c.table = fixture_table(c.memory, manifests, count);
	if (has_cache)
		c.memory->store.cache = cache_create(lake_arena_create(caches,
															   "cache"));
	return c;
}

/* one manifest of a spec with these entries, whose list says nothing */
static Case
make_entries(LakeArena *arena, int spec_id, const FixtureEntry *entries,
			 int count)
{
	FixtureManifest manifest = {.spec_id = spec_id, .sequence_number = 3,
		.live_files = NONE, .live_rows = NONE, .first_row_id = NONE,
	.entry_count = count, .entries = entries};

	return make(arena, &manifest, 1);
}

#define MAKE(spec_id, entries) \
	make_entries(arena, spec_id, entries, \
				 (int) (sizeof entries / sizeof entries[0]))

static const ScanPlan *
plan_int(const Case *c, const char *column, PredicateOp op, int64_t literal)
{
	LakeValue	value = {.i = literal};

	return fixture_plan(c->memory, c->table,
						fixture_predicate(c->memory->arena, c->table, column,
										  op, &value));
}

static const ScanPlan *
plan_null(const Case *c, const char *column, PredicateOp op)
{
	return fixture_plan(c->memory, c->table,
						fixture_predicate(c->memory->arena, c->table, column,
										  op, NULL));
}

static void
no_snapshot_is_an_empty_plan(LakeArena *arena)
{
	Case		c = make(arena, NULL, 0);
	const ScanPlan *plan = iceberg_format.plan(arena, c.table,
											   &c.memory->store, NULL, NULL);

	CHECK_INT(plan->task_count, 0);
	CHECK_INT(plan->files_total, 0);
	CHECK_INT(plan->rows_planned, 0);
}

static void
without_predicate_all_live_files_are_planned_in_order(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/b"), .size = 7},
	{FIXTURE_DATA("/gone"), .status = 2},
	{FIXTURE_DATA("/a"), .size = 5, .record_count = 3, .first_row_id = NONE},
	{FIXTURE_DATA("/empty"), .record_count = 0}};
	Case		c = MAKE(0, entries);
	const ScanPlan *plan = fixture_plan(c.memory, c.table, NULL);

	CHECK_STRING(files(arena, plan), "/b /a /empty");
	CHECK_INT(plan->files_total, 3);
	CHECK_INT(plan->bytes_planned, 1012);
	CHECK_INT(plan->rows_planned, 13);
	CHECK_INT(plan->delete_files, 0);
	CHECK_INT(plan->tasks[1].record_count, 3);
	CHECK_INT(plan->tasks[1].size, 5);
	CHECK_INT(plan->tasks[1].sequence_number, 3);
	CHECK_INT(plan->tasks[1].first_row_id, -1);
	CHECK_INT(plan->tasks[1].spec->id, 0);
}

static void
an_unknown_record_count_makes_the_rows_unknown(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/a")},
	{FIXTURE_DATA("/b"), .record_count = -1}, {FIXTURE_DATA("/c")}};
	FixtureEntry huge[] = {{FIXTURE_DATA("/a"), .record_count = INT64_MAX,
	.size = INT64_MAX}, {FIXTURE_DATA("/b")}};
	Case		c = MAKE(0, entries);
	Case		d = MAKE(0, huge);

	CHECK_INT(fixture_plan(c.memory, c.table, NULL)->rows_planned, -1);
	CHECK_INT(fixture_plan(d.memory, d.table, NULL)->rows_planned, -1);
	CHECK_INT(fixture_plan(d.memory, d.table, NULL)->bytes_planned,
			  INT64_MAX);
}

static void
manifests_are_pruned_by_their_summaries(LakeArena *arena)
{
	FixtureEntry low[] = {{FIXTURE_DATA("/1"), .partition = 1}};
	FixtureEntry high[] = {{FIXTURE_DATA("/8"), .partition = 8}};
	FixtureEntry none[] = {{FIXTURE_DATA("/null")}};
	FixtureManifest manifests[] = {
		{.spec_id = 1, .live_files = 1, .has_summary = true,
			.lower = fixture_int_bound(arena, 1),
			.upper = fixture_int_bound(arena, 4),
		.entry_count = 1, .entries = low},
		{.spec_id = 1, .live_files = 1, .has_summary = true,
			.lower = fixture_int_bound(arena, 5),
			.upper = fixture_int_bound(arena, 9),
		.entry_count = 1, .entries = high},
		{.spec_id = 1, .live_files = 1, .has_summary = true,
			.contains_null = true,
		.entry_count = 1, .entries = none},
	};
	Case		c = make(arena, manifests, 3);
	int			opened = c.memory->opened;
	const ScanPlan *plan = plan_int(&c, "p", PREDICATE_GT, 4);

	CHECK_STRING(files(arena, plan), "/8");
	CHECK_INT(plan->files_total, 3);
	CHECK_INT(plan->files_skipped_by_partition, 2);
	/* the list and two manifests: bounds of the third are unknown */
	CHECK_INT(c.memory->opened, opened + 3);
	CHECK_STRING(files(arena, plan_null(&c, "p", PREDICATE_IS_NULL)),
				 "/null");
	/* the list and the third manifest again */
	CHECK_INT(c.memory->opened, opened + (has_cache ? 3 : 5));
}

static void
summaries_that_do_not_fit_are_not_used(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/8"), .partition = 8}};
	FixtureManifest inverted = {.spec_id = 1, .live_files = 1,
		.has_summary = true, .lower = fixture_int_bound(arena, 9),
		.upper = fixture_int_bound(arena, 5),
	.entry_count = 1, .entries = entries};
	FixtureManifest cut = inverted;
	Case		c = make(arena, &inverted, 1);

	CHECK_STRING(files(arena, plan_int(&c, "p", PREDICATE_EQ, 8)), "/8");
	cut.lower.len = 3;
	cut.upper.len = 3;
	c = make(arena, &cut, 1);
	CHECK_STRING(files(arena, plan_int(&c, "p", PREDICATE_EQ, 8)), "/8");
}

static void
summaries_keep_their_places_when_a_column_is_dropped(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/2"), .partition = 2},
	{FIXTURE_DATA("/3"), .partition = 3}};
	FixtureManifest manifest = {.spec_id = 4, .live_files = 2,
		.has_summary = true, .lower = fixture_int_bound(arena, 2),
	.upper = fixture_int_bound(arena, 3), .entry_count = 2, .entries = entries};
	Case		c = make(arena, &manifest, 1);
	const ScanPlan *plan = plan_int(&c, "p", PREDICATE_EQ, 2);
	int			opened;

	CHECK_STRING(files(arena, plan), "/2");
	if (plan->task_count == 0)
		return;
	CHECK_INT(plan->tasks[0].partition[0].i, FIXTURE_Q);
	CHECK_INT(plan->tasks[0].partition[1].i, 2);
	/* the manifest is not opened for what only the dropped column has */
	opened = c.memory->opened;
	CHECK_INT(plan_int(&c, "p", PREDICATE_EQ, FIXTURE_Q)->task_count, 0);
	CHECK_INT(c.memory->opened, opened + !has_cache);
}

static void
manifests_without_live_files_are_not_opened(LakeArena *arena)
{
	FixtureManifest manifests[] = {{.live_files = 0}, {.content = 1}};
	Case		c = make(arena, manifests, 2);
	int			opened = c.memory->opened;

	CHECK_INT(fixture_plan(c.memory, c.table, NULL)->task_count, 0);
	CHECK_INT(c.memory->opened, opened + 1);
}

static void
entries_are_pruned_by_their_tuple(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/1"), .partition = 1},
	{FIXTURE_DATA("/2"), .partition = 2}, {FIXTURE_DATA("/null")},
	{FIXTURE_DATA("/2b"), .partition = 2}};
	Case		c = MAKE(1, entries);
	const ScanPlan *plan = plan_int(&c, "p", PREDICATE_EQ, 2);

	CHECK_STRING(files(arena, plan), "/2 /2b");
	CHECK_INT(plan->files_skipped_by_partition, 2);
	CHECK_INT(plan->tasks[0].partition[0].i, 2);
	/* one tuple for both */
	CHECK(plan->tasks[0].partition == plan->tasks[1].partition);
	CHECK_STRING(files(arena, plan_null(&c, "p", PREDICATE_IS_NULL)),
				 "/null");
	CHECK_STRING(files(arena, plan_null(&c, "p", PREDICATE_NOT_NULL)),
				 "/1 /2 /2b");
	CHECK_STRING(files(arena, plan_int(&c, "p", PREDICATE_NE, 2)), "/1");
}

static void
buckets_prune_equality(LakeArena *arena)
{
	LakeValue	literal = {.i = 34};
	LakeTransform bucket = transform_parse(arena, "bucket[4]");
	LakeType	type = {.kind = LAKE_INT};
	FixtureEntry entries[4];
	LakeValue	hashed;
	Case		c;

	for (int i = 0; i < 4; i++)
		entries[i] = (FixtureEntry)
	{
		FIXTURE_DATA(lake_printf(arena, "/%d",
								 i)),
			.partition = i
	};
	c = MAKE(3, entries);
	transform_apply(&bucket, &type, &literal, &hashed);
	CHECK_STRING(files(arena, plan_int(&c, "a", PREDICATE_EQ, 34)),
				 lake_printf(arena, "/%d", (int) hashed.i));
	CHECK_INT(plan_int(&c, "a", PREDICATE_NE, 34)->task_count, 4);
	CHECK_INT(plan_int(&c, "a", PREDICATE_LT, 34)->task_count, 4);
}

static void
void_fields_prune_nothing(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/1"), .partition = 1},
	{FIXTURE_DATA("/null")}};
	Case		c = MAKE(2, entries);

	CHECK_STRING(files(arena, plan_int(&c, "p", PREDICATE_EQ, 1)),
				 "/1 /null");
	CHECK_STRING(files(arena, plan_null(&c, "p", PREDICATE_NOT_NULL)),
				 "/1 /null");
}

static void
entries_are_pruned_by_bounds(LakeArena *arena)
{
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/low"), .column = 1,
			.lower = fixture_int_bound(arena, 1),
		.upper = fixture_int_bound(arena, 4)},
		{FIXTURE_DATA("/high"), .column = 1,
			.lower = fixture_int_bound(arena, 5),
		.upper = fixture_int_bound(arena, 9)},
		{FIXTURE_DATA("/other"), .column = 4,
			.lower = fixture_int_bound(arena, 0),
		.upper = fixture_int_bound(arena, 0)},
		{FIXTURE_DATA("/unknown")},
	};
	Case		c = MAKE(0, entries);
	const ScanPlan *plan = plan_int(&c, "a", PREDICATE_GE, 5);

	CHECK_STRING(files(arena, plan), "/high /other /unknown");
	CHECK_INT(plan->files_total, 4);
	CHECK_INT(plan->files_skipped_by_bounds, 1);
	CHECK_INT(plan->files_skipped_by_partition, 0);
}

/* buglog: absent null counts are unknown, mixed ones prune nothing */
static void
null_counts_prune_null_tests(LakeArena *arena)
{
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/mixed"), .column = 1, .value_count = 5, .null_count = 2},
		{FIXTURE_DATA("/full"), .column = 1, .value_count = 5, .null_count = 0},
		{FIXTURE_DATA("/nulls"), .column = 1, .value_count = 5, .null_count = 5},
		{FIXTURE_DATA("/unknown"), .column = 1, .value_count = 5},
		{FIXTURE_DATA("/silent")},
	};
	Case		c = MAKE(0, entries);

	CHECK_STRING(files(arena, plan_null(&c, "a", PREDICATE_IS_NULL)),
				 "/mixed /nulls /unknown /silent");
	CHECK_STRING(files(arena, plan_null(&c, "a", PREDICATE_NOT_NULL)),
				 "/mixed /full /unknown /silent");
}

/* buglog: NaN is above all in PostgreSQL, and no part of the bounds */
static void
nans_are_above_the_bounds(LakeArena *arena)
{
	LakeBytes	three = fixture_double_bound(arena, 3);
	FixtureEntry entries[] = {
		{FIXTURE_DATA("/nan"), .column = 3, .value_count = 3, .null_count = 0,
		.nan_count = 1, .lower = three, .upper = three},
		{FIXTURE_DATA("/unknown"), .column = 3, .value_count = 3,
		.null_count = 0, .lower = three, .upper = three},
		{FIXTURE_DATA("/plain"), .column = 3, .value_count = 3, .null_count = 0,
		.nan_count = 0, .lower = three, .upper = three},
	};
	Case		c = MAKE(0, entries);
	LakeValue	value = {.d = 3};
	LakeValue	nan_value = {.d = (double) NAN};

	CHECK_STRING(files(arena,
					   fixture_plan(c.memory, c.table,
									fixture_predicate(arena, c.table, "d",
													  PREDICATE_GT, &value))),
				 "/nan /unknown");
	CHECK_STRING(files(arena,
					   fixture_plan(c.memory, c.table,
									fixture_predicate(arena, c.table, "d",
													  PREDICATE_EQ,
													  &nan_value))),
				 "/nan /unknown");
}

static void
files_without_rows_match_no_predicate(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/empty"), .record_count = 0},
	{FIXTURE_DATA("/unknown"), .record_count = -1}};
	Case		c = MAKE(0, entries);

	CHECK_STRING(files(arena, plan_int(&c, "a", PREDICATE_EQ, 1)),
				 "/unknown");
}

static void
deletes_are_attached(LakeArena *arena)
{
	FixtureEntry data[] = {{FIXTURE_DATA("/d")}};
	FixtureEntry deletes[] = {{FIXTURE_DATA("/p"), .content = 1},
	{FIXTURE_DATA("/e"), .content = 2, .equality_id = 4}};
	FixtureManifest manifests[] = {
		{.content = 1, .sequence_number = 4, .live_files = 2,
		.entry_count = 2, .entries = deletes},
		{.sequence_number = 3, .live_files = 1, .entry_count = 1,
		.entries = data},
	};
	Case		c = make(arena, manifests, 2);
	const ScanPlan *plan = fixture_plan(c.memory, c.table, NULL);

	CHECK_STRING(files(arena, plan), "/d");
	CHECK_INT(plan->files_total, 1);
	CHECK_INT(plan->delete_files, 2);
	CHECK_INT(plan->rows_deleted, 10);
	CHECK(plan->has_equality_deletes);
	CHECK_INT(plan->tasks[0].delete_count, 2);
	CHECK_INT(plan->tasks[0].deletes[0]->kind, DELETE_POSITION);
	CHECK_INT(plan->tasks[0].deletes[1]->kind, DELETE_EQUALITY);
	CHECK_INT(plan->tasks[0].deletes[1]->equality_ids[0], 4);
}

/* buglog: a manifest of deletes that the list calls data */
static void
deletes_in_a_data_manifest_are_deletes(LakeArena *arena)
{
	FixtureEntry data[] = {{FIXTURE_DATA("/d")}};
	FixtureEntry deletes[] = {{FIXTURE_DATA("/e"), .content = 2,
	.equality_id = 4}};
	FixtureManifest manifests[] = {
		{.sequence_number = 3, .live_files = 1, .entry_count = 1,
		.entries = data},
		{.sequence_number = 4, .live_files = 1, .entry_count = 1,
		.entries = deletes},
	};
	Case		c = make(arena, manifests, 2);
	const ScanPlan *plan = fixture_plan(c.memory, c.table, NULL);

	CHECK_STRING(files(arena, plan), "/d");
	CHECK_INT(plan->tasks[0].delete_count, 1);
}

static void
delete_manifests_are_read_for_planned_files_only(LakeArena *arena)
{
	FixtureEntry data[] = {{FIXTURE_DATA("/d"), .partition = 1}};
	FixtureManifest manifests[] = {
		{.spec_id = 1, .live_files = 1, .entry_count = 1, .entries = data},
		{.spec_id = 1, .content = 1, .live_files = 1},
	};
	Case		c = make(arena, manifests, 2);
	int			opened = c.memory->opened;

	CHECK_INT(plan_int(&c, "p", PREDICATE_EQ, 2)->task_count, 0);
	CHECK_INT(c.memory->opened, opened + 2);
	CHECK_INT(plan_int(&c, "p", PREDICATE_EQ, 1)->task_count, 1);
	CHECK_INT(c.memory->opened, opened + (has_cache ? 3 : 5));
}

static void
other_formats_are_refused_when_they_are_needed(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA("/1"), .partition = 1,
	.format = "orc"}, {FIXTURE_DATA("/2"), .partition = 2, .format = "pArQuEt"}};
	FixtureEntry puffin[] = {{FIXTURE_DATA("/x"), .format = "puffin"}};
	Case		c = MAKE(1, entries);
	Case		d = MAKE(0, puffin);

	CHECK_STRING(files(arena, plan_int(&c, "p", PREDICATE_EQ, 2)), "/2");
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"/1\" has the format orc",
				 fixture_plan(c.memory, c.table, NULL));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"/x\" has the format puffin",
				 fixture_plan(d.memory, d.table, NULL));
}

static void
errors_name_the_manifest(LakeArena *arena)
{
	FixtureEntry entries[] = {{FIXTURE_DATA(NULL)}};
	Case		c = MAKE(0, entries);
	LakeTry		try;

	if (lake_try_begin(&try))
	{
		fixture_plan(c.memory, c.table, NULL);
		lake_try_end(&try);
		CHECK(false);
	}
	CHECK_INT(try.code, LAKE_ERROR_CORRUPT);
	CHECK(strstr(try.context,
				 "reading manifest /lake/t/metadata/m0.avro") != NULL);
}

static const UnitTest tests[] = {
	UNIT(no_snapshot_is_an_empty_plan),
	UNIT(without_predicate_all_live_files_are_planned_in_order),
	UNIT(an_unknown_record_count_makes_the_rows_unknown),
	UNIT(manifests_are_pruned_by_their_summaries),
	UNIT(summaries_that_do_not_fit_are_not_used),
	UNIT(summaries_keep_their_places_when_a_column_is_dropped),
	UNIT(manifests_without_live_files_are_not_opened),
	UNIT(entries_are_pruned_by_their_tuple),
	UNIT(buckets_prune_equality),
	UNIT(void_fields_prune_nothing),
	UNIT(entries_are_pruned_by_bounds),
	UNIT(null_counts_prune_null_tests),
	UNIT(nans_are_above_the_bounds),
	UNIT(files_without_rows_match_no_predicate),
	UNIT(deletes_are_attached),
	UNIT(deletes_in_a_data_manifest_are_deletes),
	UNIT(delete_manifests_are_read_for_planned_files_only),
	UNIT(other_formats_are_refused_when_they_are_needed),
	UNIT(errors_name_the_manifest),
};

int
main(void)
{
	int			failed = 0;

	caches = lake_arena_create(NULL, "caches");
	for (int run = 0; run < 2; run++)
	{
		has_cache = run == 1;
		failed |= unit_run(tests, sizeof tests / sizeof tests[0]);
	}
	lake_arena_destroy(caches);
	return failed;
}
