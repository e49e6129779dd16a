/*
 * A place for the files that a test writes: a directory that ends with the
 * test, a local store with a put set, and the options of a table.
 */
#ifndef LAKE_SINK_FIXTURE_H
#define LAKE_SINK_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "table/table.h"

typedef struct SinkFixture
{
	LakeArena  *arena;
	char	   *top;
	LakePathRules rules;
	LakeStore  *store;
	LakePartitionSpec no_partition;
	WriteOptions write;
	FileSinkOptions options;
	int			file_number;
} SinkFixture;

static inline void
sink_fixture_remove(void *arg)
{
	char		command[256];

	snprintf(command, sizeof command, "rm -rf '%s'", (char *) arg);
	if (system(command) != 0)
		abort();
}

/* <top>/data/<spec id>/<name> */
static inline const char *
sink_fixture_locate(LakeArena *arena, const WriteOptions *write,
					const LakePartitionSpec *spec,
					const LakeValue *partition, const char *name)
{
	(void) partition;
	return lake_printf(arena, "%s/%d/%s", write->data_directory,
					   (int) spec->id, name);
}

static inline SinkFixture *
sink_fixture_create(LakeArena *arena, const LakeSchema *schema)
{
	SinkFixture *fixture = lake_alloc(arena, sizeof *fixture);
	const char *tmp = getenv("TMPDIR");
	WriteOptions *write = &fixture->write;

	fixture->arena = arena;
	fixture->top = lake_printf(arena, "%s/lake_sink_XXXXXX",
							   tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(fixture->top) == NULL)
		abort();
	lake_defer(arena, sink_fixture_remove, fixture->top);
	path_rules_allow(arena, &fixture->rules, fixture->top);
	fixture->store = store_local_create(arena, &fixture->rules);
	fixture->store->puts = put_set_create(arena);
	write->format_version = 2;
	write->schema = schema;
	write->spec = &fixture->no_partition;
	write->data_directory = lake_printf(arena, "%s/data", fixture->top);
	write->table_location = fixture->top;
	write->locate = sink_fixture_locate;
	write->created_by = "lakefdw version 0.0.0";
	write->codec = write->delete_codec = CODEC_ZSTD;
	write->level = write->delete_level = CODEC_DEFAULT_LEVEL;
	write->row_group_bytes = (uint64_t) 128 << 20;
	write->page_bytes = 1 << 20;
	write->page_rows = 20000;
	write->dictionary_bytes = 2 << 20;
	write->bloom_max_bytes = 1 << 20;
	write->target_file_bytes = (uint64_t) 512 << 20;
	write->target_delete_bytes = (uint64_t) 64 << 20;
	fixture->options = (FileSinkOptions)
	{
		.store = fixture->store, .write = write, .file_prefix = "test",
			.file_number = &fixture->file_number,
			.memory_limit = (size_t) 64 << 20
	};
	return fixture;
}

/* a written file as a task of a scan */
static inline ScanTask
sink_fixture_task(const WrittenFile *file)
{
	return (ScanTask)
	{
		.path = file->path, .record_count = file->record_count,
			.size = file->size, .spec = file->spec,
			.partition = file->partition, .first_row_id = -1
	};
}

#endif							/* LAKE_SINK_FIXTURE_H */
