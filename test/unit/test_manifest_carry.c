/*
 * Lists and manifests of real engines, written again by us: nothing is lost.
 * Run from the project's directory, which has the sample lake.
 */
#include "manifest_fixture.h"
#include "metastore/metastore.h"

static const char *const namespaces[] = {
	"shop", "cases", "transforms", "nested.deep", "py"
};

/* writes go to a directory of their own */
typedef struct Sample
{
	Lake	   *lake;
	char	   *directory;
	int			lists;
	int			manifests;
	int			entries;
} Sample;

static void
free_memory(void *arg)
{
	free(arg);
}

static Sample
open_sample(LakeArena *arena)
{
	Sample		sample = {.lake = lake_create(arena, 3)};
	char	   *here = getcwd(NULL, 0);

	lake_defer(arena, free_memory, here);
	sample.directory = lake_printf(arena, "%s/test/data/lake", here);
	path_rules_add_map(arena, &sample.lake->rules,
					   lake_printf(arena, "file:///srv/lake=%s",
								   sample.directory));
	return sample;
}

static void
check_list(Sample *sample, const LakeTable *table,
		   const ManifestFile *manifests, size_t count)
{
	Lake	   *lake = sample->lake;
	ListedManifest *listed = lake_alloc_array(lake->arena, count,
											  sizeof *listed);
	const char *name = lake_printf(lake->arena, "list%d.avro",
								   sample->lists++);
	ManifestListHeader header = {.format_version = table->format_version,
	.snapshot_id = 1, .parent_id = -1, .sequence_number = 1000};
	const ManifestFile *written;
	size_t		found;

	for (size_t i = 0; i < count; i++)
		listed[i].old = &manifests[i];
	lake_write_list(lake, name, header, listed, count);
	written = lake_read_list(lake, name, &found);
	CHECK_INT(found, count);
	for (size_t i = 0; i < count && i < found; i++)
	{
		ManifestFile expected = manifests[i];

		/* of before an upgrade to v3 */
		if (expected.first_row_id == -1)
			expected.first_row_id = written[i].first_row_id;
		lake_check_row(&written[i], &expected);
	}
}

static EntryWalk *
walk(Sample *sample, const LakeTable *table, const ManifestFile *manifest)
{
	return entry_walk_open(sample->lake->arena, table, sample->lake->store,
						   manifest,
						   iceberg_find_spec(table, manifest->spec_id), true);
}

/* snapshot 1 removes what was removed before, which is all the same here */
static ManifestFile
carry(Sample *sample, const LakeTable *table, const ManifestFile *manifest)
{
	Lake	   *lake = sample->lake;
	EntryWalk  *entries = walk(sample, table, manifest);
	const char *name = lake_printf(lake->arena, "m%d.avro",
								   sample->manifests++);
	ManifestWriter *writer =
		manifest_writer_create(lake->arena, lake->store, lake_at(lake, name),
						   table->format_version, table->schema,
						   iceberg_find_spec(table, manifest->spec_id),
						   manifest->has_deletes, 1, CODEC_DEFLATE,
						   CODEC_DEFAULT_LEVEL);
	const IcebergEntry *entry;
	ManifestFile result;

	while ((entry = entry_walk_next(entries)) != NULL)
		manifest_writer_carry(writer, entry,
							  entry_walk_partition(entries, lake->arena),
							  entry->status == STATUS_DELETED ?
							  STATUS_DELETED : STATUS_EXISTING);
	result = manifest_writer_finish(writer)->file;
	/* nothing may inherit these */
	result.sequence_number = table->format_version == 1 ? 0 : 1000;
	result.first_row_id = manifest->first_row_id == -1 ? -1 : 1000000;
	return result;
}

static void
check_summaries(const ManifestFile *a, const ManifestFile *b)
{
	CHECK_INT(a->summary_count, b->summary_count);
	for (int i = 0; i < a->summary_count && i < b->summary_count; i++)
	{
		CHECK_INT(a->summaries[i].has_null, b->summaries[i].has_null);
		CHECK(lake_is_same_bytes(a->summaries[i].lower,
								 b->summaries[i].lower));
		CHECK(lake_is_same_bytes(a->summaries[i].upper,
								 b->summaries[i].upper));
	}
}

static void
check_manifest(Sample *sample, const LakeTable *table,
			   const ManifestFile *manifest)
{
	const LakePartitionSpec *spec = iceberg_find_spec(table,
													  manifest->spec_id);
	ManifestFile carried = carry(sample, table, manifest);
	EntryWalk  *before = walk(sample, table, manifest);
	EntryWalk  *after = walk(sample, table, &carried);
	const IcebergEntry *old;

	while ((old = entry_walk_next(before)) != NULL)
	{
		const IcebergEntry *entry = entry_walk_next(after);

		CHECK(entry != NULL);
		if (entry == NULL)
			return;
		sample->entries++;
		lake_check_entry(old, entry);
		lake_check_partition(spec,
							 entry_walk_partition(before, sample->lake->arena),
							 entry_walk_partition(after, sample->lake->arena));
	}
	CHECK(entry_walk_next(after) == NULL);
	if (manifest->has_summaries)
		check_summaries(&carried, manifest);
}

static void
check_table(Sample *sample, const LakeTable *table)
{
	const ManifestFile *manifests;
	size_t		count;

	if (table->current_snapshot == NULL)
		return;
	manifests = manifest_list_read(sample->lake->arena, sample->lake->store,
								   table->current_snapshot, &count);
	check_list(sample, table, manifests, count);
	for (size_t i = 0; i < count; i++)
		check_manifest(sample, table, &manifests[i]);
}

static void
what_real_engines_wrote_is_carried_unchanged(LakeArena *arena)
{
	Sample		sample = open_sample(arena);

	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
	{
		CatalogTable *tables;
		size_t		count;

		CHECK(file_catalog_list(arena, sample.lake->store, sample.directory,
								namespaces[i], &tables, &count));
		for (size_t j = 0; j < count; j++)
			check_table(&sample,
						iceberg_format.open(arena, sample.lake->store,
											file_catalog_find(arena,
															  sample.lake->store,
															  sample.directory,
															  namespaces[i],
															  tables[j].name)));
	}
	CHECK(sample.lists > 20);
	CHECK(sample.manifests > 30);
	CHECK(sample.entries > 50);
}

static const UnitTest tests[] = {
	UNIT(what_real_engines_wrote_is_carried_unchanged),
};

UNIT_MAIN(tests)
