/*
 * Estimates of columns out of the manifests of a table in the sample lake, and
 * what is kept of them.  Run from the project's directory.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/cache.h"
#include "iceberg/iceberg.h"
#include "metastore/metastore.h"
#include "unit.h"

typedef struct Fixture
{
	LakePathRules rules;
	LakeStore  *store;
	const LakeTable *table;
} Fixture;

static Fixture *
open_measures(LakeArena *arena)
{
	Fixture    *fixture = lake_alloc(arena, sizeof *fixture);
	char	   *here = getcwd(NULL, 0);
	const char *lake;

	lake_defer(arena, free, here);
	lake = lake_printf(arena, "%s/test/data/lake", here);
	path_rules_add_map(arena, &fixture->rules,
					   lake_printf(arena, "file:///srv/lake=%s", lake));
	fixture->store = store_local_create(arena, &fixture->rules);
	fixture->table =
		iceberg_format.open(arena, fixture->store,
							file_catalog_find(arena, fixture->store, lake,
											  "py", "measures"));
	return fixture;
}

static const LakeField *
field(const Fixture *fixture, const char *name)
{
	return lake_schema_find_name(fixture->table->schema, name);
}

static ColumnEstimate
estimate(LakeArena *arena, const Fixture *fixture, const LakeField *column)
{
	ColumnEstimate result;

	iceberg_format.estimate(arena, fixture->table, fixture->store,
							fixture->table->current_snapshot, &column, 1,
							&result);
	return result;
}

static int32_t
int_at(const ColumnEstimate *result, int i)
{
	return ((const int32_t *) result->quantiles.values)[i];
}

static void
all_files_count(LakeArena *arena)
{
	Fixture    *fixture = open_measures(arena);
	const LakeField *columns[] = {
		field(fixture, "id"), field(fixture, "value"), field(fixture, "unit"),
		field(fixture, "town")
	};
	ColumnEstimate results[4];
	const LakeBytes *ends;

	iceberg_format.estimate(arena, fixture->table, fixture->store,
							fixture->table->current_snapshot, columns, 4,
							results);
	CHECK_INT(int_at(&results[0], 0), 0);
	CHECK(abs(int_at(&results[0], 25) - 10000) < 50);
	CHECK(abs(int_at(&results[0], 50) - 20000) < 50);
	CHECK_INT(int_at(&results[0], 100), 39999);
	CHECK(results[0].distinct > 39000 && results[0].distinct < 41000);
	CHECK(results[0].null_fraction == 0);
	CHECK(results[1].null_fraction > 0.24 && results[1].null_fraction < 0.26);
	CHECK(results[1].distinct == 200);
	CHECK_INT(results[2].quantiles.count, 1);
	CHECK_INT(results[3].quantiles.count, 2);
	ends = results[3].quantiles.values;
	CHECK(ends[0].len == 6 && memcmp(ends[0].data, "town 0", 6) == 0);
	CHECK(ends[1].len == 6 && memcmp(ends[1].data, "town 9", 6) == 0);
}

static void
what_is_known_is_not_read_again(LakeArena *arena)
{
	Fixture    *fixture = open_measures(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	ColumnEstimate first;
	ColumnEstimate again;
	uint64_t	bytes;

	fixture->store->cache = cache_create(lake_arena_create(arena, "cache"));
	first = estimate(holder, fixture, field(fixture, "id"));
	bytes = fixture->store->bytes_read;
	again = estimate(holder, fixture, field(fixture, "id"));
	CHECK_INT(fixture->store->bytes_read, bytes);
	CHECK_INT(int_at(&again, 77), int_at(&first, 77));
	lake_arena_destroy(holder);
}

static void
columns_are_added_to_what_is_known(LakeArena *arena)
{
	Fixture    *fixture = open_measures(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	ColumnEstimate id;
	ColumnEstimate zip;
	size_t		entries;

	fixture->store->cache = cache_create(lake_arena_create(arena, "cache"));
	id = estimate(holder, fixture, field(fixture, "id"));
	entries = cache_statistics(fixture->store->cache).entries;
	zip = estimate(holder, fixture, field(fixture, "zip"));
	CHECK_INT(cache_statistics(fixture->store->cache).entries, entries);
	CHECK_INT(int_at(&id, 100), 39999);
	CHECK_INT(int_at(&zip, 100), 99);
	CHECK(zip.distinct == 100);
	lake_arena_destroy(holder);
}

static void
another_type_is_another_column(LakeArena *arena)
{
	static const LakeType promoted = {.kind = LAKE_LONG};
	Fixture    *fixture = open_measures(arena);
	LakeArena  *holder = lake_arena_create(arena, "holder");
	LakeField	wide = *field(fixture, "id");
	ColumnEstimate narrow;
	ColumnEstimate result;

	fixture->store->cache = cache_create(lake_arena_create(arena, "cache"));
	narrow = estimate(holder, fixture, field(fixture, "id"));
	wide.type = &promoted;
	result = estimate(holder, fixture, &wide);
	CHECK_INT(narrow.quantiles.layout, VECTOR_I32);
	CHECK_INT(result.quantiles.layout, VECTOR_I64);
	CHECK_INT(((const int64_t *) result.quantiles.values)[100], 39999);
	lake_arena_destroy(holder);
}

static void
a_column_that_no_file_has_is_unknown(LakeArena *arena)
{
	Fixture    *fixture = open_measures(arena);
	LakeField	added = *field(fixture, "id");
	ColumnEstimate result;

	added.id = 77;
	result = estimate(arena, fixture, &added);
	CHECK_INT(result.quantiles.count, 0);
	CHECK(result.null_fraction == -1);
}

static const UnitTest tests[] = {
	UNIT(all_files_count),
	UNIT(what_is_known_is_not_read_again),
	UNIT(columns_are_added_to_what_is_known),
	UNIT(another_type_is_another_column),
	UNIT(a_column_that_no_file_has_is_unknown),
};

UNIT_MAIN(tests)
