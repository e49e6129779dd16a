/*
 * Manifests that a commit has written itself: of its new files, and those that
 * take the place of older ones.
 *
 * They are kept from attempt to attempt and given up when one does not list
 * them: then their file goes, and who wants them again has to write them.
 */
#include "iceberg/iceberg_int.h"

#include <stdlib.h>

OwnManifest *
own_manifest_create(LakeCommit *commit)
{
	OwnManifest *own = lake_alloc(commit->arena, sizeof *own);

	own->next = commit->manifests;
	commit->manifests = own;
	own->arena = lake_arena_create(commit->arena, "new manifest");
	return own;
}

ManifestWriter *
own_manifest_begin(LakeCommit *commit, OwnManifest *own,
				   const LakePartitionSpec *spec, bool has_deletes)
{
	const CommitOptions *options = commit->options;
	const char *name = lake_printf(own->arena, "%s-m%d.avro",
								   options->file_prefix,
								   commit->manifest_count++);
	const char *location = location_join(own->arena,
										 metadata_directory(own->arena,
															commit->head),
										 name);

	return manifest_writer_create(own->arena, options->store, location,
								  commit->format_version,
								  commit->head->schema, spec, has_deletes,
								  commit->snapshot_id, commit->codec,
								  commit->level);
}

void
own_manifest_finish(OwnManifest *own, ManifestWriter *writer)
{
	own->manifest = manifest_writer_finish(writer);
}

static void
give_up(LakeCommit *commit, OwnManifest *own)
{
	put_set_discard(commit->options->store->puts, own->manifest->file.path);
	own->manifest = NULL;
	lake_arena_destroy(own->arena);
	own->arena = NULL;
}

void
own_manifests_give_up(LakeCommit *commit, int attempt)
{
	for (OwnManifest *own = commit->manifests; own != NULL; own = own->next)
	{
		if (own->manifest != NULL && own->attempt != attempt)
			give_up(commit, own);
	}
}

/* ---- new files ---- */

static bool
is_deletes(const WrittenFile *file)
{
	return file->kind != WRITTEN_DATA;
}

/* deletes after data, then by spec; the rest as they were given */
static int
compare_files(const void *a, const void *b)
{
	const WrittenFile *const *x = *(const WrittenFile *const *const *) a;
	const WrittenFile *const *y = *(const WrittenFile *const *const *) b;

	if (is_deletes(*x) != is_deletes(*y))
		return is_deletes(*x) - is_deletes(*y);
	if ((*x)->spec->id != (*y)->spec->id)
		return (*x)->spec->id > (*y)->spec->id ? 1 : -1;
	return (x > y) - (x < y);
}

/*
 * Begins a manifest with the first of the files and ends it where it has grown
 * beyond a size, or where another spec begins; returns how many files it has.
 */
static int
write_files(LakeCommit *commit, OwnManifest *own,
			const WrittenFile *const *files, int count, uint64_t target)
{
	const LakePartitionSpec *spec = files[0]->spec;
	ManifestWriter *writer = own_manifest_begin(commit, own, spec,
												is_deletes(files[0]));
	int			written = 0;

	do
	{
		lake_check_interrupts();
		manifest_writer_add(writer, files[written++]);
	} while (written < count && files[written]->spec->id == spec->id &&
			 is_deletes(files[written]) == is_deletes(files[0]) &&
			 manifest_writer_size(writer) < target);
	own_manifest_finish(own, writer);
	return written;
}

static void
group_files(LakeCommit *commit)
{
	const ChangeSet *changes = commit->changes;
	size_t		count = (size_t) changes->added_count;
	const WrittenFile *const **order = lake_alloc_array(commit->scratch,
														count, sizeof *order);
	const WrittenFile **files = lake_alloc_array(commit->arena, count,
												 sizeof *files);
	int64_t		target =
		iceberg_property_int64(commit->head,
						   "commit.manifest.target-size-bytes", 1,
						   8388608);
	LakeBuffer	added[2];

	for (size_t i = 0; i < count; i++)
		order[i] = &changes->added[i];
	if (count > 1)
		qsort(order, count, sizeof *order, compare_files);
	for (size_t i = 0; i < count; i++)
		files[i] = *order[i];
	buffer_init(&added[0], commit->arena);
	buffer_init(&added[1], commit->arena);
	for (int i = 0; i < changes->added_count;)
	{
		OwnManifest *own = own_manifest_create(commit);

		own->files = &files[i];
		own->file_count = write_files(commit, own, own->files,
									  changes->added_count - i,
									  (uint64_t) target);
		buffer_append(&added[is_deletes(files[i])], &own, sizeof own);
		i += own->file_count;
	}
	for (int i = 0; i < 2; i++)
	{
		commit->added[i] = (OwnManifest **) (void *) added[i].data;
		commit->added_count[i] = (int) (added[i].len / sizeof(OwnManifest *));
	}
}

void
own_manifests_add_files(LakeCommit *commit, bool has_deletes,
						LakeBuffer *rows)
{
	if (commit->added[0] == NULL && commit->added[1] == NULL)
		group_files(commit);
	for (int i = 0; i < commit->added_count[has_deletes]; i++)
	{
		OwnManifest *own = commit->added[has_deletes][i];
		CommitManifest row = {.own = own};

		if (own->manifest == NULL)
		{
			own->arena = lake_arena_create(commit->arena, "new manifest");
			write_files(commit, own, own->files, own->file_count, UINT64_MAX);
		}
		buffer_append(rows, &row, sizeof row);
	}
}
