/*
 * Deletion vectors that two transactions have given to one data file: what is
 * written, what is removed, and what a further lost race makes of it.
 */
#include "commit_fixture.h"
#include "table/deletes.h"

/* the positions that a scan would not show of each file: "/f:1,3 /g:" */
static const char *
deleted_rows(const Lake *lake)
{
	const LakeTable *head = lake_head(lake);
	const ScanPlan *plan = iceberg_format.plan(lake->arena, head, lake->store,
											   head->current_snapshot, NULL);
	const char *text = "";

	for (int i = 0; i < plan->task_count; i++)
	{
		const ScanTask *task = &plan->tasks[i];
		uint64_t	rows[16];
		size_t		count = 0;

		if (task->delete_count > 0)
		{
			LakeFile   *file = lake_file_open(lake->store, lake->arena,
											  task->deletes[0]->path, "test");

			CHECK_INT(task->delete_count, 1);
			count = bitmap_list(deletes_read_vector(lake->arena, file,
													task->deletes[0]), 0,
								rows, 16);
		}
		text = lake_printf(lake->arena, "%s%s%s:", text, i == 0 ? "" : " ",
						   task->path);
		for (size_t j = 0; j < count; j++)
			text = lake_printf(lake->arena, "%s%s%d", text, j == 0 ? "" : ",",
							   (int) rows[j]);
	}
	return text;
}

/* a vector of these rows of f, which replaces the one that f has */
static LakeChanges *
delete_from_f(Lake *lake, const uint64_t *rows, int count)
{
	const LakeTable *head = lake_head(lake);
	const ScanPlan *plan = iceberg_format.plan(lake->arena, head, lake->store,
											   head->current_snapshot, NULL);
	LakeChanges *changes = lake_changes(lake);

	for (int i = 0; i < plan->task_count; i++)
	{
		const ScanTask *task = &plan->tasks[i];

		if (strcmp(task->path, "/f") == 0 && task->delete_count > 0)
			lake_drop_deletes(changes, task->deletes[0]->path,
							  task->deletes[0]->content_offset);
	}
	lake_read(changes, false, false, CHANGE_SNAPSHOT, NULL);
	return lake_add(changes, lake_delete_rows(lake, "/f", 1, true, rows,
											  count));
}

static int
data_files(const Lake *lake)
{
	LakeListEntry *entries;
	size_t		count = 0;

	lake_store_list(lake->store, lake->arena,
					lake_printf(lake->arena, "%s/data", lake->directory),
					&entries, &count);
	return (int) count;
}

static Lake *
make_lake(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3, 1, "");

	lake_append(lake, lake_data(lake, "/f", 10, 1, 1, 10));
	return lake;
}

static void
both_get_a_vector_of_all_positions(LakeArena *arena)
{
	static const uint64_t ours[] = {4};
	static const uint64_t theirs[] = {3, 5};
	Lake	   *lake = make_lake(arena);
	LakeChanges *changes = delete_from_f(lake, ours, 1);

	lake_commit(lake, delete_from_f(lake, theirs, 2));
	lake_commit(lake, changes);
	CHECK_STRING(deleted_rows(lake), "/f:3,4,5");
	CHECK_STRING(lake_summary(lake, "operation"), "delete");
	CHECK_STRING(lake_summary(lake, "added-dvs"), "1");
	CHECK_STRING(lake_summary(lake, "removed-dvs"), "1");
	CHECK_STRING(lake_summary(lake, "total-position-deletes"), "3");
	/* theirs and the new one: what we wrote first is not published */
	CHECK_INT(data_files(lake), 2);
}

static void
what_both_replace_is_removed_once(LakeArena *arena)
{
	static const uint64_t before[] = {1};
	static const uint64_t ours[] = {1, 4};
	static const uint64_t theirs[] = {1, 3};
	Lake	   *lake = make_lake(arena);
	LakeChanges *changes;

	lake_commit(lake, delete_from_f(lake, before, 1));
	changes = delete_from_f(lake, ours, 2);
	CHECK_INT(changes->set.removed_count, 1);
	lake_commit(lake, delete_from_f(lake, theirs, 2));
	lake_commit(lake, changes);
	CHECK_STRING(deleted_rows(lake), "/f:1,3,4");
	CHECK_STRING(lake_summary(lake, "total-delete-files"), "1");
	CHECK_STRING(lake_summary(lake, "total-position-deletes"), "3");
}

static void
a_lost_race_after_that_starts_from_the_new_vector(LakeArena *arena)
{
	static const uint64_t ours[] = {4};
	static const uint64_t theirs[] = {3};
	static const uint64_t theirs_later[] = {3, 7};
	static const uint64_t same[] = {3, 7, 4};
	Lake	   *lake = make_lake(arena);
	LakeChanges *changes = delete_from_f(lake, ours, 1);
	LakeCommit *commit = lake_begin(lake, &changes->set, NULL, 0);
	CommitAttempt attempt = iceberg_commit_build(commit, lake_head(lake));

	/* each attempt has been published when it turns out to be too late */
	put_set_publish(lake->store, lake->store->puts);
	lake_commit(lake, delete_from_f(lake, theirs, 1));
	attempt = iceberg_commit_build(commit, lake_head(lake));
	CHECK(attempt.conflict == NULL);
	put_set_publish(lake->store, lake->store->puts);
	lake_commit(lake, delete_from_f(lake, theirs_later, 2));
	attempt = iceberg_commit_build(commit, lake_head(lake));
	lake_swap(lake, &attempt);
	CHECK_STRING(deleted_rows(lake), "/f:3,4,7");
	CHECK_INT(data_files(lake), 3);

	/* a row that both delete stays a conflict, however often it was tried */
	changes = delete_from_f(lake, same, 3);
	changes->set.base_snapshot_id = lake_snapshot(lake)->parent_id;
	changes->set.base_sequence_number--;
	changes->set.removed_count = 0;
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.conflict != NULL &&
		  strstr(attempt.conflict, "position 4") != NULL);
}

static void
vectors_of_other_files_stay_as_they_are(LakeArena *arena)
{
	static const uint64_t ours[] = {4};
	static const uint64_t theirs[] = {3};
	Lake	   *lake = make_lake(arena);
	LakeChanges *changes;
	const WrittenFile *g;

	lake_append(lake, lake_data(lake, "/g", 10, 1, 1, 10));
	changes = delete_from_f(lake, ours, 1);
	g = lake_delete_rows(lake, "/g", 1, true, ours, 1);
	lake_add(changes, g);
	lake_commit(lake, delete_from_f(lake, theirs, 1));
	lake_commit(lake, changes);
	CHECK(strstr(deleted_rows(lake), "/f:3,4") != NULL);
	CHECK(strstr(deleted_rows(lake), "/g:4") != NULL);
	CHECK(strstr(lake_files(lake), g->path) != NULL);
}

static const UnitTest tests[] = {
	UNIT(both_get_a_vector_of_all_positions),
	UNIT(what_both_replace_is_removed_once),
	UNIT(a_lost_race_after_that_starts_from_the_new_vector),
	UNIT(vectors_of_other_files_stay_as_they_are),
};

UNIT_MAIN(tests)
