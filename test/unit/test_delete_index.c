/*
 * Which deletes reach which data files: the scopes of the specification, and
 * paths that are spelled differently in manifests and delete files.
 */
#include "iceberg_fixture.h"
#include "unit.h"

typedef struct Setup
{
	LakeArena  *arena;
	DeleteIndex *index;
	ScanPlan	plan;
	LakePartitionSpec unpartitioned;
	LakePartitionSpec by_p;
	PartitionField p;
	Partition	none;			/* of the unpartitioned spec */
	Partition	one;			/* two partitions of the other */
	Partition	two;
} Setup;

static void
init_partition(Partition *partition, const LakePartitionSpec *spec,
			   LakeArena *arena)
{
	partition->spec = spec;
	delete_list_init(&partition->position_deletes, arena);
	delete_list_init(&partition->equality_deletes, arena);
}

static Setup *
setup(LakeArena *arena)
{
	Setup	   *s = lake_alloc(arena, sizeof *s);

	s->arena = arena;
	s->index = delete_index_create(arena, arena);
	s->p.transform.kind = TRANSFORM_IDENTITY;
	s->by_p.id = 1;
	s->by_p.field_count = 1;
	s->by_p.fields = &s->p;
	init_partition(&s->none, &s->unpartitioned, arena);
	init_partition(&s->one, &s->by_p, arena);
	init_partition(&s->two, &s->by_p, arena);
	return s;
}

static LakeBytes
text(const char *string)
{
	return (LakeBytes)
	{
		(const uint8_t *) string, strlen(string)
	};
}

static ManifestEntry
delete_entry(FileContent content, const char *path, int64_t sequence_number)
{
	static const AvroSlot equality_ids[] = {{.kind = AVRO_INT, .i = 1}};
	ManifestEntry entry = {.content = content, .path = text(path),
		.format = text("parquet"), .sequence_number = sequence_number,
		.record_count = 3, .size = 100, .content_offset = -1, .content_size = -1,
		.equality_count = content == CONTENT_EQUALITY_DELETES,
	.equality_ids = equality_ids};

	return entry;
}

static void
add_positions(Setup *s, Partition *partition, const char *path,
			  int64_t sequence_number)
{
	ManifestEntry entry = delete_entry(CONTENT_POSITION_DELETES, path,
									   sequence_number);

	delete_index_add(s->index, &entry, partition);
}

static void
add_equality(Setup *s, Partition *partition, const char *path,
			 int64_t sequence_number)
{
	ManifestEntry entry = delete_entry(CONTENT_EQUALITY_DELETES, path,
									   sequence_number);

	delete_index_add(s->index, &entry, partition);
}

static void
add_bounded(Setup *s, Partition *partition, const char *path,
			const char *lower, const char *upper)
{
	ManifestEntry entry = delete_entry(CONTENT_POSITION_DELETES, path, 9);

	entry.lower_path = text(lower);
	entry.upper_path = text(upper);
	delete_index_add(s->index, &entry, partition);
}

static void
add_vector(Setup *s, Partition *partition, const char *path,
		   const char *data_file, int64_t sequence_number)
{
	ManifestEntry entry = delete_entry(CONTENT_POSITION_DELETES, path,
									   sequence_number);

	entry.format = text("PUFFIN");
	entry.referenced_file = text(data_file);
	entry.content_offset = 4;
	entry.content_size = 40;
	delete_index_add(s->index, &entry, partition);
}

/* names of the deletes of a data file, joined by spaces */
static const char *
deletes_of(Setup *s, Partition *partition, const char *path,
		   int64_t sequence_number)
{
	ScanTask	task = {.path = path, .sequence_number = sequence_number};
	const char *names = "";

	delete_index_attach(s->index, &task, partition, &s->plan);
	for (int i = 0; i < task.delete_count; i++)
		names = lake_printf(s->arena, "%s%s%s", names, i == 0 ? "" : " ",
							task.deletes[i]->path);
	return names;
}

static void
position_deletes_reach_their_own_commit(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_positions(s, &s->none, "p5", 5);
	add_positions(s, &s->none, "p3", 3);
	CHECK_STRING(deletes_of(s, &s->none, "/d", 2), "p3 p5");
	CHECK_STRING(deletes_of(s, &s->none, "/d", 5), "p5");
	CHECK_STRING(deletes_of(s, &s->none, "/d", 6), "");
}

static void
equality_deletes_reach_older_files_only(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_equality(s, &s->one, "e5", 5);
	add_equality(s, &s->one, "e3", 3);
	CHECK_STRING(deletes_of(s, &s->one, "/d", 2), "e3 e5");
	CHECK_STRING(deletes_of(s, &s->one, "/d", 3), "e5");
	CHECK_STRING(deletes_of(s, &s->one, "/d", 5), "");
	CHECK_STRING(deletes_of(s, &s->one, "/d", INT64_MAX), "");
}

static void
partitioned_deletes_stay_in_their_partition(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_equality(s, &s->one, "e", 5);
	add_positions(s, &s->one, "p", 5);
	CHECK_STRING(deletes_of(s, &s->one, "/d", 1), "p e");
	CHECK_STRING(deletes_of(s, &s->two, "/d", 1), "");
	CHECK_STRING(deletes_of(s, &s->none, "/d", 1), "");
}

static void
equality_deletes_of_unpartitioned_specs_are_global(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_equality(s, &s->none, "e", 5);
	add_positions(s, &s->none, "p", 5);
	CHECK_STRING(deletes_of(s, &s->one, "/d", 1), "e");
	CHECK_STRING(deletes_of(s, &s->none, "/d", 1), "p e");
}

static void
a_spec_of_void_fields_is_unpartitioned(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	s->p.transform.kind = TRANSFORM_VOID;
	add_equality(s, &s->one, "e", 5);
	CHECK_STRING(deletes_of(s, &s->two, "/d", 1), "e");
}

static void
a_vector_supersedes_position_deletes(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_positions(s, &s->none, "p", 5);
	add_equality(s, &s->none, "e", 5);
	add_vector(s, &s->none, "v", "/d", 5);
	CHECK_STRING(deletes_of(s, &s->none, "/d", 1), "v e");
	CHECK_STRING(deletes_of(s, &s->none, "/other", 1), "p e");
	CHECK_INT(s->plan.delete_files, 3);
}

static void
vectors_that_contradict_the_table_are_corrupt(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_vector(s, &s->none, "v1", "/two", 5);
	add_vector(s, &s->none, "v2", "/two", 6);
	add_vector(s, &s->one, "v3", "/moved", 5);
	add_vector(s, &s->none, "v4", "/young", 5);
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "several deletion vectors",
				 deletes_of(s, &s->none, "/two", 1));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "another partition",
				 deletes_of(s, &s->two, "/moved", 1));
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "older than its data file",
				 deletes_of(s, &s->none, "/young", 6));
	/* but a file that is gone is no concern of ours */
	CHECK_STRING(deletes_of(s, &s->none, "/fine", 1), "");
}

static void
incomplete_vectors_are_corrupt(LakeArena *arena)
{
	Setup	   *s = setup(arena);
	ManifestEntry entry = delete_entry(CONTENT_POSITION_DELETES, "v", 5);

	entry.format = text("puffin");
	entry.content_offset = 4;
	entry.content_size = 40;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "referenced_data_file",
				 delete_index_add(s->index, &entry, &s->none));
	entry.referenced_file = text("/d");
	entry.content_size = -1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "content_size_in_bytes",
				 delete_index_add(s->index, &entry, &s->none));
	entry.content_size = 40;
	entry.record_count = -1;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "record_count",
				 delete_index_add(s->index, &entry, &s->none));
	entry.record_count = 1;
	entry.content = CONTENT_EQUALITY_DELETES;
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "equality",
				 delete_index_add(s->index, &entry, &s->none));
}

static void
schemes_and_authorities_do_not_matter(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_vector(s, &s->none, "v", "hdfs://host:20500/w/d.parquet", 5);
	add_bounded(s, &s->none, "p", "hdfs://host:20500/w/e.parquet",
				"hdfs://host:20500/w/e.parquet");
	CHECK_STRING(deletes_of(s, &s->none, "/w/d.parquet", 1), "v");
	CHECK_STRING(deletes_of(s, &s->none, "s3://b/w/d.parquet", 1), "v");
	CHECK_STRING(deletes_of(s, &s->none, "/w/e.parquet", 1), "p");
	CHECK_STRING(deletes_of(s, &s->none, "/w/f.parquet", 1), "");
}

static void
bounds_of_paths_exclude_files(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_bounded(s, &s->none, "p", "s3://b/w/c", "s3://b/w/f");
	CHECK_STRING(deletes_of(s, &s->none, "s3://b/w/a", 1), "");
	CHECK_STRING(deletes_of(s, &s->none, "s3://b/w/c", 1), "p");
	CHECK_STRING(deletes_of(s, &s->none, "/w/d", 1), "p");
	CHECK_STRING(deletes_of(s, &s->none, "s3://b/w/g", 1), "");
}

/* what cannot be believed must not lose deletes */
static void
bounds_that_cannot_be_believed_exclude_nothing(LakeArena *arena)
{
	static const char *const bounds[][2] = {
		{"/w/f", "/w/c"},		/* inverted */
		{"/w/a", "hdfs://h/w/b"},	/* of two schemes */
		{"s3://b/w/a", "hdfs:"},	/* cut inside of the scheme */
		{"/w//a", "/w//b"},		/* not in comparable form */
	};
	Setup	   *s = setup(arena);

	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
		add_bounded(s, &s->none, "p", bounds[i][0], bounds[i][1]);
	CHECK_STRING(deletes_of(s, &s->none, "/w/x", 1), "p p p p");
}

static void
equal_bounds_that_look_cut_exclude_nothing_below_them(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	/* a full path is indexed by it, a cut one stays in the partition */
	add_bounded(s, &s->none, "full", "/w/d.parquet", "/w/d.parquet");
	CHECK_STRING(deletes_of(s, &s->none, "/w/d.parquet", 1), "full");
	CHECK_INT(s->none.position_deletes.entries.len, 0);
	add_bounded(s, &s->none, "cut", "/warehouse/v1.0/ta",
				"/warehouse/v1.0/ta");
	CHECK_INT(s->none.position_deletes.entries.len, sizeof(DeleteEntry *));
}

static void
deletes_of_one_file_must_be_of_its_partition(LakeArena *arena)
{
	Setup	   *s = setup(arena);
	ManifestEntry entry = delete_entry(CONTENT_POSITION_DELETES, "p", 5);

	entry.referenced_file = text("/d");
	delete_index_add(s->index, &entry, &s->one);
	CHECK_STRING(deletes_of(s, &s->one, "/d", 1), "p");
	CHECK_STRING(deletes_of(s, &s->two, "/e", 1), "");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "another partition",
				 deletes_of(s, &s->two, "/d", 1));
	/* it does not apply to a younger file: nothing to complain of */
	CHECK_STRING(deletes_of(s, &s->two, "/d", 6), "");
}

static void
formats_are_refused_when_they_are_needed(LakeArena *arena)
{
	Setup	   *s = setup(arena);
	ManifestEntry entry = delete_entry(CONTENT_POSITION_DELETES, "p", 5);

	entry.format = text("ORC");
	delete_index_add(s->index, &entry, &s->one);
	entry.format = text("parquet\0x");
	entry.format.len = 9;
	delete_index_add(s->index, &entry, &s->two);
	CHECK_STRING(deletes_of(s, &s->none, "/d", 1), "");
	CHECK_STRING(deletes_of(s, &s->one, "/d", 6), "");
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "\"p\" has the format ORC",
				 deletes_of(s, &s->one, "/d", 1));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "has the format",
				 deletes_of(s, &s->two, "/d", 1));
}

static void
equality_deletes_in_orc_are_refused_too(LakeArena *arena)
{
	Setup	   *s = setup(arena);
	ManifestEntry entry = delete_entry(CONTENT_EQUALITY_DELETES, "e", 5);

	entry.format = text("avro");
	delete_index_add(s->index, &entry, &s->none);
	add_equality(s, &s->none, "f", 7);
	CHECK_STRING(deletes_of(s, &s->one, "/d", 5), "f");
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "avro",
				 deletes_of(s, &s->one, "/d", 4));
}

static void
deletes_without_sequence_number_are_corrupt(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	CHECK_THROWS(LAKE_ERROR_CORRUPT, "sequence number",
				 add_positions(s, &s->none, "p", -1));
}

static void
data_without_sequence_number_has_position_deletes_only(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_positions(s, &s->none, "p", 5);
	CHECK_STRING(deletes_of(s, &s->none, "/d", -1), "p");
	add_equality(s, &s->one, "e", 5);
	CHECK_STRING(deletes_of(s, &s->none, "/d", -1), "p");
	CHECK_THROWS(LAKE_ERROR_CORRUPT, "no sequence number",
				 deletes_of(s, &s->one, "/d", -1));
}

static void
each_delete_file_is_counted_once(LakeArena *arena)
{
	Setup	   *s = setup(arena);

	add_positions(s, &s->none, "p", 5);
	add_vector(s, &s->none, "v", "/v", 5);
	CHECK_STRING(deletes_of(s, &s->none, "/d", 1), "p");
	CHECK_STRING(deletes_of(s, &s->none, "/e", 1), "p");
	CHECK_STRING(deletes_of(s, &s->none, "/v", 1), "v");
	CHECK_INT(s->plan.delete_files, 2);
	CHECK_INT(s->plan.rows_deleted, 6);
	CHECK(!s->plan.has_equality_deletes);
	add_equality(s, &s->none, "e", 5);
	CHECK_STRING(deletes_of(s, &s->none, "/e", 1), "p e");
	CHECK_INT(s->plan.delete_files, 3);
	CHECK_INT(s->plan.rows_deleted, 6);
	CHECK(s->plan.has_equality_deletes);
}

static void
tasks_share_their_arrays(LakeArena *arena)
{
	Setup	   *s = setup(arena);
	ScanTask	tasks[4] = {{.path = "/a", .sequence_number = 3},
	{.path = "/b", .sequence_number = 1}, {.path = "/c"}, {.path = "/d"}};

	for (int i = 1; i <= 9; i++)
		add_equality(s, &s->none, "e", i);
	delete_index_attach(s->index, &tasks[0], &s->none, &s->plan);
	delete_index_attach(s->index, &tasks[1], &s->none, &s->plan);
	CHECK_INT(tasks[0].delete_count, 6);
	CHECK_INT(tasks[1].delete_count, 8);
	/* a tail of the one list */
	CHECK(tasks[0].deletes == tasks[1].deletes + 2);
	CHECK_INT(s->plan.delete_files, 8);

	add_positions(s, &s->none, "p", 5);
	delete_index_attach(s->index, &tasks[2], &s->none, &s->plan);
	delete_index_attach(s->index, &tasks[3], &s->none, &s->plan);
	CHECK_INT(tasks[2].delete_count, 10);
	CHECK(tasks[2].deletes == tasks[3].deletes);
}

static const UnitTest tests[] = {
	UNIT(position_deletes_reach_their_own_commit),
	UNIT(equality_deletes_reach_older_files_only),
	UNIT(partitioned_deletes_stay_in_their_partition),
	UNIT(equality_deletes_of_unpartitioned_specs_are_global),
	UNIT(a_spec_of_void_fields_is_unpartitioned),
	UNIT(a_vector_supersedes_position_deletes),
	UNIT(vectors_that_contradict_the_table_are_corrupt),
	UNIT(incomplete_vectors_are_corrupt),
	UNIT(schemes_and_authorities_do_not_matter),
	UNIT(bounds_of_paths_exclude_files),
	UNIT(bounds_that_cannot_be_believed_exclude_nothing),
	UNIT(equal_bounds_that_look_cut_exclude_nothing_below_them),
	UNIT(deletes_of_one_file_must_be_of_its_partition),
	UNIT(formats_are_refused_when_they_are_needed),
	UNIT(equality_deletes_in_orc_are_refused_too),
	UNIT(deletes_without_sequence_number_are_corrupt),
	UNIT(data_without_sequence_number_has_position_deletes_only),
	UNIT(each_delete_file_is_counted_once),
	UNIT(tasks_share_their_arrays),
};

UNIT_MAIN(tests)
