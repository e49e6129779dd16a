/*
 * The file catalog: which metadata file is the newest, for every kind of hint
 * and name.
 */
#include "metastore/metastore.h"

#include "memory_store.h"
#include "unit.h"

#define META "/lake/ns/t/metadata/"

static MemoryStore *
store_with(LakeArena *arena, const char *const *names, int count)
{
	MemoryStore *memory = memory_store_create(arena);

	for (int i = 0; i < count; i++)
		memory_store_put_text(memory, lake_printf(arena, "/lake/%s", names[i]),
							  "{\"last-updated-ms\":5}");
	return memory;
}

static const char *
find(LakeArena *arena, MemoryStore *memory)
{
	return file_catalog_find(arena, &memory->store, "/lake", "ns", "t");
}

#define STORE(...) \
	store_with(arena, (const char *const[]) {__VA_ARGS__}, \
			   (int) (sizeof((const char *const[]) {__VA_ARGS__}) / \
					  sizeof(char *)))
#define M "ns/t/metadata/"

static MemoryStore *
with_hint(MemoryStore *memory, const char *hint)
{
	memory_store_put_text(memory, META "version-hint.text", hint);
	return memory;
}

static void
the_highest_number_wins_not_the_last_name(LakeArena *arena)
{
	CHECK_STRING(find(arena, STORE(M "v9.metadata.json",
								   M "v10.metadata.json")),
				 META "v10.metadata.json");
	CHECK_STRING(find(arena, STORE(M "00010-a.metadata.json",
								   M "00009-b.metadata.json")),
				 META "00010-a.metadata.json");
	CHECK_STRING(find(arena, STORE(M "100000-a.metadata.json",
								   M "99999-b.metadata.json")),
				 META "100000-a.metadata.json");
}

static void
gzip_names_count_in_both_spellings(LakeArena *arena)
{
	CHECK_STRING(find(arena, STORE(M "v1.metadata.json",
								   M "v2.gz.metadata.json",
								   M "v3.metadata.json.gz")),
				 META "v3.metadata.json.gz");
	CHECK_STRING(find(arena, STORE(M "00001-x.gz.metadata.json",
								   M "00000-y.metadata.json")),
				 META "00001-x.gz.metadata.json");
}

static void
a_good_hint_spares_the_listing(LakeArena *arena)
{
	MemoryStore *memory = with_hint(STORE(M "v1.metadata.json",
										  M "v2.gz.metadata.json"), " 2\n");

	CHECK_STRING(find(arena, memory), META "v2.gz.metadata.json");
	CHECK_INT(memory->listed, 0);
}

static void
a_hint_behind_is_followed_forward(LakeArena *arena)
{
	CHECK_STRING(find(arena, with_hint(STORE(M "v1.metadata.json",
											 M "v2.metadata.json",
											 M "v3.metadata.json.gz"), "1")),
				 META "v3.metadata.json.gz");
}

static void
a_hint_stops_at_a_gap(LakeArena *arena)
{
	CHECK_STRING(find(arena, with_hint(STORE(M "v1.metadata.json",
											 M "v3.metadata.json"), "1")),
				 META "v1.metadata.json");
}

static void
a_useless_hint_is_ignored(LakeArena *arena)
{
	static const char *const hints[] = {
		"", " ", "garbage", "7", "-1", "99999999999999999999999", "1.5",
		"v1", "\xff\xfe", "../../x"
	};

	for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
		CHECK_STRING(find(arena, with_hint(STORE(M "v1.metadata.json",
												 M "v2.metadata.json"),
										   hints[i])),
					 META "v2.metadata.json");
}

static void
a_hint_may_name_a_file(LakeArena *arena)
{
	CHECK_STRING(find(arena, with_hint(STORE(M "00001-aa.metadata.json",
											 M "00000-bb.metadata.json"),
									   "00001-aa")),
				 META "00001-aa.metadata.json");
}

static void
equal_numbers_are_decided_by_their_time(LakeArena *arena)
{
	MemoryStore *memory = STORE(M "00003-a.metadata.json",
								M "00003-c.metadata.json");

	memory_store_put_text(memory, META "00003-b.metadata.json",
						  "{\"last-updated-ms\":6}");
	CHECK_STRING(find(arena, memory), META "00003-b.metadata.json");
	CHECK_STRING(find(arena, STORE(M "00003-a.metadata.json",
								   M "00003-c.metadata.json")),
				 META "00003-c.metadata.json");
}

static void
two_schemes_are_decided_by_their_time(LakeArena *arena)
{
	MemoryStore *memory = STORE(M "v7.metadata.json");

	memory_store_put_text(memory, META "00001-b.metadata.json",
						  "{\"last-updated-ms\":6}");
	CHECK_STRING(find(arena, memory), META "00001-b.metadata.json");
	CHECK_STRING(find(arena, with_hint(memory, "7")),
				 META "v7.metadata.json");
	CHECK_STRING(find(arena, STORE(M "v1.metadata.json",
								   M "00009-b.metadata.json")),
				 META "v1.metadata.json");
}

static void
other_files_are_no_metadata(LakeArena *arena)
{
	CHECK(find(arena, STORE(M "vfinal.metadata.json", M ".v1.metadata.json",
							M "v1.metadata.json.crc", M "v3.1.metadata.json",
							M "snap-1.avro", M "0001.metadata.json",
							M "v.metadata.json",
							M "v1.metadata.json/x")) == NULL);
	CHECK(find(arena, memory_store_create(arena)) == NULL);
}

static void
other_formats_are_refused_by_name(LakeArena *arena)
{
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "Delta",
				 find(arena, STORE("ns/t/_delta_log/0.json")));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "Hudi",
				 find(arena, STORE("ns/t/.hoodie/hoodie.properties")));
	/* a Delta table that publishes Iceberg metadata too */
	CHECK(find(arena, STORE("ns/t/_delta_log/0.json",
							M "v1.metadata.json")) != NULL);
}

static void
namespaces_nest(LakeArena *arena)
{
	MemoryStore *memory = STORE("a/b/t/metadata/v1.metadata.json");

	CHECK_STRING(file_catalog_find(arena, &memory->store, "/lake/", "a.b",
								   "t"),
				 "/lake/a/b/t/metadata/v1.metadata.json");
}

static void
hive_directories_are_namespaces_unless_there_is_a_plain_one(LakeArena *arena)
{
	MemoryStore *memory = STORE("ns.db/t/metadata/v1.metadata.json");

	CHECK_STRING(find(arena, memory), "/lake/ns.db/t/metadata/v1.metadata.json");
	memory_store_put_text(memory, "/lake/ns/other/x", "");
	CHECK(find(arena, memory) == NULL);
}

static void
names_do_not_leave_the_warehouse(LakeArena *arena)
{
	MemoryStore *memory = STORE(M "v1.metadata.json");
	static const char *const namespaces[] = {
		"", "..", ".", "a..b", ".a", "a.", "a/b", "../lake/ns"
	};
	static const char *const tables[] = {"", ".", "..", "a/b", "../t"};

	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
		CHECK_THROWS(LAKE_ERROR_INVALID, "namespace",
					 file_catalog_find(arena, &memory->store, "/lake",
									   namespaces[i], "t"));
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		CHECK_THROWS(LAKE_ERROR_INVALID, "table name",
					 file_catalog_find(arena, &memory->store, "/lake", "ns",
									   tables[i]));
}

static void
listing_finds_tables_only(LakeArena *arena)
{
	MemoryStore *memory = STORE("ns/b/metadata/v1.metadata.json",
								"ns/a/metadata/00000-x.metadata.json",
								"ns/inner/c/metadata/v1.metadata.json",
								"ns/empty/metadata/x", "ns/file",
								"ns/delta/_delta_log/0.json",
								"ns/hudi/.hoodie/hoodie.properties");
	CatalogTable *tables;
	size_t		count;

	CHECK(file_catalog_list(arena, &memory->store, "/lake", "ns", &tables,
							&count));
	CHECK_INT(count, 4);
	CHECK_STRING(tables[0].name, "a");
	CHECK_STRING(tables[1].name, "b");
	CHECK_STRING(tables[1].name_space, "ns");
	/* not ours, but to be refused by name, not overlooked */
	CHECK_STRING(tables[2].name, "delta");
	CHECK_STRING(tables[3].name, "hudi");
	CHECK(!file_catalog_list(arena, &memory->store, "/lake", "nowhere",
							 &tables, &count));
	CHECK(file_catalog_list(arena, &memory->store, "/lake", "ns.inner",
							&tables, &count));
	CHECK_INT(count, 1);
}

static void
listing_all_finds_nested_and_hive_namespaces(LakeArena *arena)
{
	MemoryStore *memory = STORE("b/t/metadata/v1.metadata.json",
								"a/inner/c/metadata/v1.metadata.json",
								"a/t/metadata/v1.metadata.json",
								"a/t/data/x/y.parquet",
								"hive.db/t/_delta_log/0.json",
								"no.name/t/metadata/v1.metadata.json",
								"t/metadata/v1.metadata.json");
	static const char *const expected[] = {"a.t", "b.t", "hive.t", "a.inner.c"};
	CatalogTable *tables;
	size_t		count;

	CHECK(file_catalog_list(arena, &memory->store, "/lake", NULL, &tables,
							&count));
	CHECK_INT(count, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_STRING(lake_printf(arena, "%s.%s", tables[i].name_space,
								 tables[i].name), expected[i]);
	CHECK_STRING(tables[2].other_format, "Delta");
	CHECK(tables[3].other_format == NULL);
}

static const UnitTest tests[] = {
	UNIT(the_highest_number_wins_not_the_last_name),
	UNIT(gzip_names_count_in_both_spellings),
	UNIT(a_good_hint_spares_the_listing),
	UNIT(a_hint_behind_is_followed_forward),
	UNIT(a_hint_stops_at_a_gap),
	UNIT(a_useless_hint_is_ignored),
	UNIT(a_hint_may_name_a_file),
	UNIT(equal_numbers_are_decided_by_their_time),
	UNIT(two_schemes_are_decided_by_their_time),
	UNIT(other_files_are_no_metadata),
	UNIT(other_formats_are_refused_by_name),
	UNIT(namespaces_nest),
	UNIT(hive_directories_are_namespaces_unless_there_is_a_plain_one),
	UNIT(names_do_not_leave_the_warehouse),
	UNIT(listing_finds_tables_only),
	UNIT(listing_all_finds_nested_and_hive_namespaces),
};

UNIT_MAIN(tests)
