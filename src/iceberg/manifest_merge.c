/*
 * Merging: every commit adds a manifest, and planning reads all of them; so
 * small ones are put together now and then.
 *
 * The packing is Java's: bins are filled from the end of the list, so that the
 * one that is not full is the first, which has the newest manifests and waits
 * until there are enough of them.
 *
 * Iceberg spec, "Manifests"; reference, 2.9.
 */
#include "iceberg/iceberg_int.h"

struct ManifestMerge
{
	LakeArena  *arena;
	BytesMap	merged;			/* what went into it -> OwnManifest ** */
	LakeBuffer	key;
};

/* a run of manifests of one spec */
typedef struct Bin
{
	CommitManifest *manifests;
	size_t		count;
} Bin;

ManifestMerge *
manifest_merge_create(LakeArena *arena)
{
	ManifestMerge *merge = lake_alloc(arena, sizeof *merge);

	merge->arena = arena;
	bytes_map_init(&merge->merged, arena);
	buffer_init(&merge->key, arena);
	return merge;
}

/* ---- one bin ---- */

/* what went into a merged manifest; a retry may find the same again */
static LakeBytes
bin_key(ManifestMerge *merge, const Bin *bin)
{
	merge->key.len = 0;
	for (size_t i = 0; i < bin->count; i++)
	{
		const CommitManifest *manifest = &bin->manifests[i];

		if (manifest->own != NULL)
			buffer_append_text(&merge->key,
							   manifest->own->manifest->file.path);
		else
			commit_source_key(manifest->source, &merge->key);
		buffer_append_byte(&merge->key, '\n');
	}
	return (LakeBytes) {merge->key.data, merge->key.len};
}

static OwnManifest **
find_merged(ManifestMerge *merge, const Bin *bin)
{
	LakeBytes	key = bin_key(merge, bin);
	OwnManifest **merged = bytes_map_find(&merge->merged, key);

	if (merged == NULL)
	{
		merged = lake_alloc(merge->arena, sizeof *merged);
		key.data = (const uint8_t *)
			lake_strndup(merge->arena, (const char *) key.data, key.len);
		bytes_map_add(&merge->merged, key, merged);
	}
	return merged;
}

/* from what the manifests were made of, not from those just written */
static OwnManifest *
write_merged(LakeCommit *commit, const Bin *bin)
{
	OwnManifest *own = own_manifest_create(commit);
	const ManifestFile *first = commit_manifest_file(&bin->manifests[0]);
	const LakePartitionSpec *spec = commit_source_spec(commit, first);
	ManifestWriter *writer = own_manifest_begin(commit, own, spec,
												first->has_deletes);

	for (size_t i = 0; i < bin->count; i++)
	{
		const CommitManifest *manifest = &bin->manifests[i];

		lake_check_interrupts();
		if (manifest->source != NULL)
			removal_copy(commit, manifest->source, writer, NULL);
		else
		{
			for (int j = 0; j < manifest->own->file_count; j++)
				manifest_writer_add(writer, manifest->own->files[j]);
		}
	}
	own_manifest_finish(own, writer);
	return own;
}

static void
merge_bin(LakeCommit *commit, const Bin *bin, LakeBuffer *rows)
{
	OwnManifest **merged = find_merged(commit->merge, bin);
	CommitManifest row = {0};

	if (*merged == NULL || (*merged)->manifest == NULL)
		*merged = write_merged(commit, bin);
	row.own = *merged;
	for (size_t i = 0; i < bin->count; i++)
		row.replaced += bin->manifests[i].source != NULL;
	buffer_append(rows, &row, sizeof row);
}

/* ---- bins ---- */

/*
 * Appends the bins of a group in order.  has_newest: the group's first manifest
 * is the list's.
 */
static void
pack_group(LakeCommit *commit, const Bin *group, bool has_newest,
		   LakeBuffer *rows)
{
	uint64_t	target = (uint64_t)
	iceberg_property_int64(commit->head,
						   "commit.manifest.target-size-bytes", 1,
						   8388608);
	uint64_t	min_count = (uint64_t)
	iceberg_property_int64(commit->head,
						   "commit.manifest.min-count-to-merge", 0, 100);
	size_t	   *starts = lake_alloc_array(commit->scratch, group->count + 1,
										  sizeof *starts);
	size_t		bin_count = 0;
	uint64_t	size = 0;

	/* from the end: starts[0] is where the last bin begins */
	for (size_t i = group->count; i-- > 0;)
	{
		uint64_t	length = (uint64_t)
		commit_manifest_file(&group->manifests[i])->length;

		if (i + 1 < group->count && size < target && length <= target - size)
			size += length;
		else
		{
			size = length;
			bin_count++;
		}
		starts[bin_count - 1] = i;
	}
	for (size_t i = bin_count; i-- > 0;)
	{
		size_t		end = i == 0 ? group->count : starts[i - 1];
		Bin			bin = {&group->manifests[starts[i]], end - starts[i]};

		if (bin.count == 1 ||
			(has_newest && starts[i] == 0 && bin.count < min_count))
			buffer_append(rows, bin.manifests,
						  bin.count * sizeof *bin.manifests);
		else
			merge_bin(commit, &bin, rows);
	}
}

/* the next spec id below that one among the rows; false if there is none */
static bool
next_spec(const CommitManifest *rows, size_t count, int64_t below,
		  int64_t *spec_id)
{
	bool		found = false;

	for (size_t i = 0; i < count; i++)
	{
		int64_t		id = commit_manifest_file(&rows[i])->spec_id;

		if (id < below && (!found || id > *spec_id))
		{
			*spec_id = id;
			found = true;
		}
	}
	return found;
}

void
manifest_merge_apply(LakeCommit *commit, LakeBuffer *rows)
{
	CommitManifest *all = (CommitManifest *) (void *) rows->data;
	size_t		count = rows->len / sizeof *all;
	int64_t		spec_id = INT64_MAX;
	LakeBuffer	result;

	if (count < 2 ||
		!iceberg_property_bool(commit->head, "commit.manifest-merge.enabled",
							   true))
		return;
	buffer_init(&result, commit->scratch);
	while (next_spec(all, count, spec_id, &spec_id))
	{
		Bin			group;

		group.manifests = lake_alloc_array(commit->scratch, count,
										   sizeof *group.manifests);
		group.count = 0;
		for (size_t i = 0; i < count; i++)
		{
			if (commit_manifest_file(&all[i])->spec_id == spec_id)
				group.manifests[group.count++] = all[i];
		}
		pack_group(commit, &group,
				   commit_manifest_file(&all[0])->spec_id == spec_id, &result);
	}
	*rows = result;
}
