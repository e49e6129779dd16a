/*
 * What a snapshot's summary says: counts of what it added and removed, in all
 * and by partition, and totals that go on from its parent's.
 *
 * Summaries are told, not believed: a total that the parent does not say, or
 * says wrongly, is left out from then on, as in Java.
 *
 * Iceberg spec, "Optional Snapshot Summary Fields".
 */
#include "iceberg/iceberg_int.h"

#include <errno.h>
#include <stdlib.h>

typedef enum CounterKind
{
	COUNT_FILES_SIZE,
	COUNT_DATA_FILES,
	COUNT_EQUALITY_DELETE_FILES,
	COUNT_POSITION_DELETE_FILES,
	COUNT_DELETE_FILES,
	COUNT_VECTORS,
	COUNT_RECORDS,
	COUNT_POSITION_DELETES,
	COUNT_EQUALITY_DELETES,
	COUNTER_KINDS
} CounterKind;

/* columns of the next table and of Counters */
typedef enum Direction
{
	ADDED,
	REMOVED
} Direction;

static const struct
{
	const char *names[2];
	const char *total;			/* NULL: there is none */
}			counters[COUNTER_KINDS] =

{
	[COUNT_FILES_SIZE] = {{"added-files-size", "removed-files-size"},
	"total-files-size"},
	[COUNT_DATA_FILES] = {{"added-data-files", "deleted-data-files"},
	"total-data-files"},
	[COUNT_EQUALITY_DELETE_FILES] = {{"added-equality-delete-files",
	"removed-equality-delete-files"}, NULL},
	[COUNT_POSITION_DELETE_FILES] = {{"added-position-delete-files",
	"removed-position-delete-files"}, NULL},
	[COUNT_DELETE_FILES] = {{"added-delete-files", "removed-delete-files"},
	"total-delete-files"},
	[COUNT_VECTORS] = {{"added-dvs", "removed-dvs"}, NULL},
	[COUNT_RECORDS] = {{"added-records", "deleted-records"}, "total-records"},
	[COUNT_POSITION_DELETES] = {{"added-position-deletes",
	"removed-position-deletes"}, "total-position-deletes"},
	[COUNT_EQUALITY_DELETES] = {{"added-equality-deletes",
	"removed-equality-deletes"}, "total-equality-deletes"},
};

typedef struct Counters
{
	int64_t		counts[COUNTER_KINDS][2];
} Counters;

typedef struct PartitionChange
{
	LakeBytes	path;			/* NUL-terminated, for all that */
	Counters	counters;
} PartitionChange;

struct SnapshotSummary
{
	LakeArena  *arena;
	Counters	counters;
	BytesMap	partitions;		/* path -> PartitionChange */
	LakeBuffer	order;			/* of PartitionChange * */
};

SnapshotSummary *
summary_create(LakeArena *arena)
{
	SnapshotSummary *summary = lake_alloc(arena, sizeof *summary);

	summary->arena = arena;
	bytes_map_init(&summary->partitions, arena);
	buffer_init(&summary->order, arena);
	return summary;
}

/* ---- counting ---- */

static void
count(Counters *to, CounterKind kind, Direction direction, int64_t number)
{
	int64_t    *counter = &to->counts[kind][direction];

	/* what a manifest does not say, or says wrongly, is not counted */
	if (number > 0 && __builtin_add_overflow(*counter, number, counter))
		*counter = INT64_MAX;
}

static void
add_counters(Counters *to, const Counters *from)
{
	for (int i = 0; i < COUNTER_KINDS; i++)
	{
		count(to, (CounterKind) i, ADDED, from->counts[i][ADDED]);
		count(to, (CounterKind) i, REMOVED, from->counts[i][REMOVED]);
	}
}

static void
count_deletes(Counters *to, Direction direction, CounterKind files,
			  CounterKind rows, int64_t record_count)
{
	count(to, COUNT_DELETE_FILES, direction, 1);
	count(to, files, direction, 1);
	count(to, rows, direction, record_count);
}

/* path: NUL-terminated, of an arena that may end before the summary */
static PartitionChange *
find_partition(SnapshotSummary *summary, const char *path)
{
	LakeBytes	key = {(const uint8_t *) path, strlen(path)};
	PartitionChange *change = bytes_map_find(&summary->partitions, key);

	if (change != NULL)
		return change;
	change = lake_alloc(summary->arena, sizeof *change);
	change->path.data = (const uint8_t *) lake_strdup(summary->arena, path);
	change->path.len = key.len;
	bytes_map_add(&summary->partitions, change->path, change);
	buffer_append(&summary->order, &change, sizeof change);
	return change;
}

/* counts one file, in all and in its partition */
static void
add_file(SnapshotSummary *summary, const LakePartitionSpec *spec,
		 const LakeValue *partition, const Counters *file)
{
	LakeArena  *scratch = lake_arena_create(summary->arena, "partition path");
	const char *path = iceberg_partition_path(scratch, spec, partition);

	add_counters(&summary->counters, file);
	add_counters(&find_partition(summary, path)->counters, file);
	lake_arena_destroy(scratch);
}

void
summary_add_file(SnapshotSummary *summary, const WrittenFile *file)
{
	Counters	counts = {0};
	int64_t		size = file->size;

	switch (file->kind)
	{
		case WRITTEN_DATA:
			count(&counts, COUNT_DATA_FILES, ADDED, 1);
			count(&counts, COUNT_RECORDS, ADDED, file->record_count);
			break;
		case WRITTEN_POSITION_DELETES:
			count_deletes(&counts, ADDED, COUNT_POSITION_DELETE_FILES,
						  COUNT_POSITION_DELETES, file->record_count);
			break;
		case WRITTEN_DELETION_VECTOR:
			count_deletes(&counts, ADDED, COUNT_VECTORS,
						  COUNT_POSITION_DELETES, file->record_count);
			/* its file has others too */
			size = file->content_size;
			break;
	}
	count(&counts, COUNT_FILES_SIZE, ADDED, size);
	add_file(summary, file->spec, file->partition, &counts);
}

void
summary_remove_entry(SnapshotSummary *summary, const IcebergEntry *entry,
					 const LakePartitionSpec *spec,
					 const LakeValue *partition)
{
	Counters	counts = {0};
	int64_t		size = entry->size;

	switch (entry->content)
	{
		case CONTENT_DATA:
			count(&counts, COUNT_DATA_FILES, REMOVED, 1);
			count(&counts, COUNT_RECORDS, REMOVED, entry->record_count);
			break;
		case CONTENT_POSITION_DELETES:
			if (avro_field_is_word(entry->format, "puffin"))
			{
				count_deletes(&counts, REMOVED, COUNT_VECTORS,
							  COUNT_POSITION_DELETES, entry->record_count);
				size = entry->content_size;
			}
			else
				count_deletes(&counts, REMOVED, COUNT_POSITION_DELETE_FILES,
							  COUNT_POSITION_DELETES, entry->record_count);
			break;
		case CONTENT_EQUALITY_DELETES:
			count_deletes(&counts, REMOVED, COUNT_EQUALITY_DELETE_FILES,
						  COUNT_EQUALITY_DELETES, entry->record_count);
			break;
	}
	count(&counts, COUNT_FILES_SIZE, REMOVED, size);
	add_file(summary, spec, partition, &counts);
}

void
summary_merge(SnapshotSummary *summary, const SnapshotSummary *other)
{
	PartitionChange *const *changes = (const void *) other->order.data;

	add_counters(&summary->counters, &other->counters);
	for (size_t i = 0; i < other->partitions.count; i++)
		add_counters(&find_partition(summary,
									 (const char *) changes[i]->path.data)->counters,
					 &changes[i]->counters);
}

bool
summary_is_empty(const SnapshotSummary *summary)
{
	return summary->partitions.count == 0;
}

const char *
summary_operation(const SnapshotSummary *summary)
{
	const int64_t (*counts)[2] = summary->counters.counts;
	bool		adds_data = counts[COUNT_DATA_FILES][ADDED] > 0;
	bool		has_deletes = counts[COUNT_DATA_FILES][REMOVED] > 0 ||
		counts[COUNT_DELETE_FILES][ADDED] > 0 ||
		counts[COUNT_DELETE_FILES][REMOVED] > 0;

	if (!has_deletes)
		return "append";
	return adds_data ? "overwrite" : "delete";
}

/* ---- pairs ---- */

static void
put(LakeBuffer *pairs, const char *key, const char *value)
{
	buffer_append(pairs, &key, sizeof key);
	buffer_append(pairs, &value, sizeof value);
}

static void
put_number(LakeBuffer *pairs, const char *key, int64_t value)
{
	put(pairs, key, lake_printf(pairs->arena, "%lld", (long long) value));
}

static void
put_counters(LakeBuffer *pairs, const Counters *from)
{
	for (int i = 0; i < COUNTER_KINDS; i++)
	{
		for (int j = ADDED; j <= REMOVED; j++)
		{
			if (from->counts[i][j] > 0)
				put_number(pairs, counters[i].names[j], from->counts[i][j]);
		}
	}
}

/* "k=v,k=v" */
static const char *
partition_text(LakeArena *arena, const Counters *from)
{
	LakeBuffer	text;

	buffer_init(&text, arena);
	for (int i = 0; i < COUNTER_KINDS; i++)
	{
		for (int j = ADDED; j <= REMOVED; j++)
		{
			if (from->counts[i][j] > 0)
				buffer_printf(&text, "%s%s=%lld", text.len == 0 ? "" : ",",
							  counters[i].names[j],
							  (long long) from->counts[i][j]);
		}
	}
	buffer_append_byte(&text, '\0');
	return (const char *) text.data;
}

static void
put_partitions(LakeBuffer *pairs, const SnapshotSummary *summary,
			   int64_t limit)
{
	PartitionChange *const *changes = (const void *) summary->order.data;
	size_t		changed = summary->partitions.count;

	put_number(pairs, "changed-partition-count", (int64_t) changed);
	if (changed == 0 || (uint64_t) changed > (uint64_t) limit)
		return;
	put(pairs, "partition-summaries-included", "true");
	for (size_t i = 0; i < changed; i++)
		put(pairs, lake_printf(pairs->arena, "partitions.%s",
							   (const char *) changes[i]->path.data),
			partition_text(pairs->arena, &changes[i]->counters));
}

/* a total of the parent's; false when it does not say it */
static bool
parent_total(const IcebergSnapshotInfo *parent, const char *key,
			 int64_t *total)
{
	*total = 0;
	if (parent == NULL)
		return true;
	for (int i = 0; i < parent->summary_count; i++)
	{
		const char *value = parent->summary[2 * i + 1];
		char	   *end;

		if (strcmp(parent->summary[2 * i], key) != 0 || value == NULL)
			continue;
		errno = 0;
		*total = strtoll(value, &end, 10);
		return end != value && *end == '\0' && errno == 0 && *total >= 0;
	}
	return false;
}

static void
put_totals(LakeBuffer *pairs, const SnapshotSummary *summary,
		   const IcebergSnapshotInfo *parent)
{
	for (int i = 0; i < COUNTER_KINDS; i++)
	{
		const int64_t *change = summary->counters.counts[i];
		int64_t		total;

		if (counters[i].total != NULL &&
			parent_total(parent, counters[i].total, &total) &&
			!__builtin_add_overflow(total, change[ADDED], &total) &&
			!__builtin_sub_overflow(total, change[REMOVED], &total) &&
			total >= 0)
			put_number(pairs, counters[i].total, total);
	}
}

const char *const *
summary_pairs(SnapshotSummary *summary, const IcebergSnapshotInfo *parent,
			  int64_t partition_limit, const ManifestCounts *manifests,
			  const char *const *extra, int extra_count, int *pair_count)
{
	LakeBuffer	pairs;

	buffer_init(&pairs, summary->arena);
	put_counters(&pairs, &summary->counters);
	put_partitions(&pairs, summary, partition_limit);
	put_totals(&pairs, summary, parent);
	put_number(&pairs, "manifests-created", manifests->created);
	put_number(&pairs, "manifests-kept", manifests->kept);
	put_number(&pairs, "manifests-replaced", manifests->replaced);
	put(&pairs, "engine-name", "postgres-lakefdw");
	for (int i = 0; i < extra_count; i++)
		put(&pairs, extra[2 * i], extra[2 * i + 1]);
	*pair_count = (int) (pairs.len / sizeof(const char *) / 2);
	return (const char *const *) (const void *) pairs.data;
}
