/*
 * Commits through the real store: what they list and write, what a retry keeps,
 * what a moved head makes of them.  Our own planning is the judge of what is
 * live.
 */
#include "commit_fixture.h"

/* ---- the worked trace (reference, appendix E) ---- */

static void
the_worked_trace_of_v2(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes = lake_changes(lake);
	const IcebergSnapshotInfo *info;
	int64_t		first;
	int64_t		second;

	lake_add(changes, lake_data(lake, "/A", 100, -1, 1, 100));
	lake_add(changes, lake_data(lake, "/B", 50, -1, 101, 150));
	first = lake_commit(lake, changes);
	CHECK_STRING(lake_manifests(lake),
				 "data 1 1 2/0/0 150/0/0 -1: +/A(1,1) +/B(1,1)\n");
	info = lake_snapshot(lake);
	CHECK(!info->has_parent);
	CHECK_INT(info->sequence_number, 1);
	CHECK_INT(info->schema_id, 0);
	CHECK_STRING(info->operation, "append");
	CHECK_STRING(lake_summary(lake, "added-data-files"), "2");
	CHECK_STRING(lake_summary(lake, "added-records"), "150");
	CHECK_STRING(lake_summary(lake, "changed-partition-count"), "1");
	CHECK_STRING(lake_summary(lake, "total-records"), "150");
	CHECK_STRING(lake_summary(lake, "manifests-created"), "1");
	CHECK_STRING(lake_summary(lake, "engine-name"), "postgres-lakefdw");

	second = lake_append(lake, lake_positions(lake, "/P", 3, -1, "/A"));
	CHECK_STRING(lake_manifests(lake),
				 "data 1 1 2/0/0 150/0/0 -1: +/A(1,1) +/B(1,1)\n"
				 "deletes 2 2 1/0/0 3/0/0 -1: +/P(2,2)\n");
	CHECK_STRING(lake_summary(lake, "operation"), "delete");
	CHECK_STRING(lake_summary(lake, "total-records"), "150");
	CHECK_STRING(lake_summary(lake, "total-delete-files"), "1");
	CHECK_STRING(lake_summary(lake, "total-position-deletes"), "3");
	CHECK_STRING(lake_summary(lake, "manifests-kept"), "1");
	CHECK_STRING(lake_files(lake), "/A|/P /B");
	CHECK_INT(lake_snapshot(lake)->parent_id, first);

	/* as step 3, but with a sequence number of its own, and P is garbage */
	changes = lake_changes(lake);
	lake_drop(lake_drop(changes, "/A"), "/B");
	lake_add(changes, lake_data(lake, "/C", 147, -1, 1, 150));
	lake_commit(lake, changes);
	CHECK_STRING(lake_manifests(lake),
				 "data 3 3 1/0/0 147/0/0 -1: +/C(3,3)\n"
				 "data 3 3 0/0/2 0/0/150 -1: -/A(1,1) -/B(1,1)\n"
				 "deletes 2 2 1/0/0 3/0/0 -1: +/P(2,2)\n");
	CHECK_STRING(lake_summary(lake, "operation"), "overwrite");
	CHECK_STRING(lake_summary(lake, "total-records"), "147");
	CHECK_STRING(lake_summary(lake, "total-data-files"), "1");

	lake_append(lake, lake_data(lake, "/D", 10, -1, 1, 10));
	CHECK_STRING(lake_manifests(lake),
				 "data 4 4 1/0/0 10/0/0 -1: +/D(4,4)\n"
				 "data 3 3 1/0/0 147/0/0 -1: +/C(3,3)\n"
				 "deletes 2 2 1/0/0 3/0/0 -1: +/P(2,2)\n");
	CHECK_STRING(lake_summary(lake, "total-records"), "157");

	lake_roll_back(lake, second);
	CHECK_STRING(lake_files(lake), "/A|/P /B");
	lake_append(lake, lake_data(lake, "/E", 7, -1, 1, 7));
	CHECK_STRING(lake_manifests(lake),
				 "data 5 5 1/0/0 7/0/0 -1: +/E(5,5)\n"
				 "data 1 1 2/0/0 150/0/0 -1: +/A(1,1) +/B(1,1)\n"
				 "deletes 2 2 1/0/0 3/0/0 -1: +/P(2,2)\n");
	CHECK_INT(lake_snapshot(lake)->parent_id, second);
	CHECK_STRING(lake_summary(lake, "total-records"), "157");
	CHECK_STRING(lake_files(lake), "/A|/P /B /E");
}

static void
the_worked_trace_of_v3(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3, 0, "");
	LakeChanges *changes = lake_changes(lake);

	lake_add(changes, lake_data(lake, "/A", 100, -1, 1, 100));
	lake_add(changes, lake_data(lake, "/B", 50, -1, 101, 150));
	lake_commit(lake, changes);
	CHECK_STRING(lake_manifests(lake),
				 "data 1 1 2/0/0 150/0/0 0: +/A(1,1,0) +/B(1,1,100)\n");
	CHECK_INT(iceberg_table(lake_head(lake))->next_row_id, 150);

	lake_append(lake, lake_vector(lake, "/V", 3, -1, "/A", 4));
	CHECK_STRING(lake_manifests(lake),
				 "data 1 1 2/0/0 150/0/0 0: +/A(1,1,0) +/B(1,1,100)\n"
				 "deletes 2 2 1/0/0 3/0/0 -1: +/V(2,2)\n");
	CHECK_INT(iceberg_table(lake_head(lake))->next_row_id, 150);
	CHECK_STRING(lake_summary(lake, "added-dvs"), "1");
	CHECK_STRING(lake_summary(lake, "added-files-size"), "40");

	/* the vector of A goes with it */
	changes = lake_changes(lake);
	lake_drop(lake_drop(changes, "/A"), "/B");
	lake_add(changes, lake_data(lake, "/C", 147, -1, 1, 150));
	lake_commit(lake, changes);
	CHECK_STRING(lake_manifests(lake),
				 "data 3 3 1/0/0 147/0/0 150: +/C(3,3,150)\n"
				 "data 3 3 0/0/2 0/0/150 297: -/A(1,1,0) -/B(1,1,100)\n"
				 "deletes 3 3 0/0/1 0/0/3 -1: -/V(2,2)\n");
	CHECK_INT(iceberg_table(lake_head(lake))->next_row_id, 297);
	CHECK_STRING(lake_summary(lake, "removed-dvs"), "1");
	CHECK_STRING(lake_summary(lake, "removed-delete-files"), "1");
	CHECK_STRING(lake_summary(lake, "removed-position-deletes"), "3");
	CHECK_STRING(lake_summary(lake, "total-delete-files"), "0");

	lake_append(lake, lake_data(lake, "/D", 10, -1, 1, 10));
	CHECK_STRING(lake_manifests(lake),
				 "data 4 4 1/0/0 10/0/0 297: +/D(4,4,297)\n"
				 "data 3 3 1/0/0 147/0/0 150: +/C(3,3,150)\n");
	CHECK_INT(iceberg_table(lake_head(lake))->next_row_id, 307);
}

static void
v1_appends_and_removes_whole_files(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 1, 0, "");
	LakeChanges *changes;

	lake_append(lake, lake_data(lake, "/A", 100, -1, 1, 100));
	lake_append(lake, lake_data(lake, "/B", 50, -1, 1, 100));
	CHECK_STRING(lake_manifests(lake),
				 "data 0 0 1/0/0 50/0/0 -1: +/B(0,0)\n"
				 "data 0 0 1/0/0 100/0/0 -1: +/A(0,0)\n");
	CHECK_INT(lake_snapshot(lake)->sequence_number, 0);
	lake_commit(lake, lake_drop(lake_changes(lake), "/A"));
	CHECK_STRING(lake_files(lake), "/B");
	CHECK_STRING(lake_summary(lake, "operation"), "delete");
	CHECK_STRING(lake_summary(lake, "total-records"), "50");
	changes = lake_add(lake_changes(lake),
					   lake_positions(lake, "/P", 3, -1, "/B"));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "version 1",
				 lake_commit(lake, changes));
}

/* ---- moved heads ---- */

static void
an_append_follows_another_one(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3, 0, "");
	LakeChanges *changes = lake_add(lake_changes(lake),
									lake_data(lake, "/A", 5, -1, 1, 5));
	LakeCommit *commit = lake_begin(lake, &changes->set, NULL, 0);
	CommitAttempt attempt = iceberg_commit_build(commit, lake_head(lake));
	int64_t		id = attempt.snapshot_id;
	int			files;

	/* published, then another one is faster */
	put_set_publish(lake->store, lake->store->puts);
	lake_append(lake, lake_data(lake, "/B", 7, -1, 1, 5));
	files = lake_metadata_files(lake);
	attempt = iceberg_commit_build(commit, lake_head(lake));
	CHECK_INT(attempt.snapshot_id, id);
	lake_swap(lake, &attempt);
	CHECK_STRING(lake_manifests(lake),
				 "data 2 2 1/0/0 5/0/0 7: +/A(2,2,7)\n"
				 "data 1 1 1/0/0 7/0/0 0: +/B(1,1,0)\n");
	CHECK_STRING(lake_summary(lake, "total-records"), "12");
	CHECK_STRING(lake_files(lake), "/A /B");
	CHECK(strstr(((const IcebergSnapshot *)
				  lake_head(lake)->current_snapshot)->manifest_list,
				 "-2-c1.avro") != NULL);
	/* the manifest was used again; list and metadata took others' places */
	CHECK_INT(lake_metadata_files(lake), files);
	CHECK_INT(iceberg_table(lake_head(lake))->next_row_id, 12);
}

static void
a_swap_that_was_done_after_all_is_not_done_again(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes = lake_add(lake_changes(lake),
									lake_data(lake, "/A", 5, -1, 1, 5));
	LakeCommit *commit = lake_begin(lake, &changes->set, NULL, 0);
	CommitAttempt attempt = iceberg_commit_build(commit, lake_head(lake));

	lake_swap(lake, &attempt);
	lake_append(lake, lake_data(lake, "/B", 7, -1, 1, 5));
	attempt = iceberg_commit_build(commit, lake_head(lake));
	CHECK_STRING(attempt.metadata_location, lake->pointer);
	CHECK_STRING(lake_files(lake), "/A /B");
}

static void
a_removed_file_that_is_gone_is_a_conflict(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *same;
	LakeChanges *other;
	CommitAttempt attempt;

	lake_append(lake, lake_data(lake, "/A", 5, -1, 1, 5));
	lake_append(lake, lake_data(lake, "/B", 5, -1, 1, 5));
	same = lake_drop(lake_changes(lake), "/A");
	other = lake_drop(lake_changes(lake), "/B");
	lake_commit(lake, lake_drop(lake_changes(lake), "/A"));
	attempt = iceberg_commit_build(lake_begin(lake, &same->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.metadata_location == NULL);
	CHECK_STRING(attempt.conflict,
				 "Data file \"/A\", which this transaction replaces or "
				 "removes, has been removed by a concurrent commit.");
	lake_commit(lake, other);
	CHECK_STRING(lake_files(lake), "");
	CHECK_STRING(lake_summary(lake, "total-data-files"), "0");
}

static void
a_removed_delete_file_must_be_live_too(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes;
	CommitAttempt attempt;

	lake_append(lake, lake_data(lake, "/A", 5, -1, 1, 5));
	lake_append(lake, lake_positions(lake, "/P", 1, -1, "/A"));
	changes = lake_add(lake_changes(lake),
					   lake_positions(lake, "/Q", 2, -1, "/A"));
	lake_drop_deletes(changes, "/P", -1);
	lake_commit(lake, changes);
	CHECK_STRING(lake_files(lake), "/A|/Q");
	CHECK_STRING(lake_summary(lake, "operation"), "delete");
	CHECK_STRING(lake_summary(lake, "total-position-deletes"), "2");
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.conflict != NULL &&
		  strstr(attempt.conflict, "Delete file \"/P\"") != NULL);
}

static void
truncate_removes_what_others_have_added(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 1, "");
	LakeChanges *changes;

	lake_append(lake, lake_data(lake, "/A", 5, 1, 1, 5));
	lake_append(lake, lake_positions(lake, "/P", 1, 1, "/A"));
	changes = lake_changes(lake);
	changes->set.removes_all = true;
	lake_append(lake, lake_data(lake, "/B", 5, 2, 1, 5));
	lake_add(changes, lake_data(lake, "/C", 9, 3, 1, 5));
	lake_commit(lake, changes);
	CHECK_STRING(lake_files(lake), "/C");
	CHECK_STRING(lake_summary(lake, "operation"), "overwrite");
	CHECK_STRING(lake_summary(lake, "deleted-records"), "10");
	CHECK_STRING(lake_summary(lake, "total-records"), "9");
	CHECK_STRING(lake_summary(lake, "total-delete-files"), "0");
	CHECK_STRING(lake_summary(lake, "changed-partition-count"), "3");
	lake_append(lake, lake_data(lake, "/D", 1, 3, 1, 5));
	CHECK_STRING(lake_manifests(lake),
				 "data 5 5 1/0/0 1/0/0 -1: +/D(5,5)\n"
				 "data 4 4 1/0/0 9/0/0 -1: +/C(4,4)\n");
}

static void
nothing_to_change_makes_no_snapshot(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "\"a\":\"1\"");
	LakeChanges *changes = lake_changes(lake);
	const char *const same[] = {"a", "1", "b", NULL};
	CommitAttempt attempt;

	changes->set.removes_all = true;
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, NULL, 0),
								   lake_head(lake));
	CHECK_STRING(attempt.metadata_location, lake->pointer);
	CHECK_INT(attempt.snapshot_id, -1);
	changes->set.removes_all = false;
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, same, 2),
								   lake_head(lake));
	CHECK_STRING(attempt.metadata_location, lake->pointer);
	put_set_publish(lake->store, lake->store->puts);
	CHECK_INT(lake_metadata_files(lake), 1);
}

static void
properties_change_without_a_snapshot(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "\"a\":\"1\"");
	const char *const pairs[] = {"a", NULL, "b", "2"};
	CommitAttempt attempt;

	attempt = iceberg_commit_build(lake_begin(lake, NULL, pairs, 2),
								   lake_head(lake));
	lake_swap(lake, &attempt);
	CHECK(lake_head(lake)->current_snapshot == NULL);
	CHECK(iceberg_property(lake_head(lake), "a") == NULL);
	CHECK_STRING(iceberg_property(lake_head(lake), "b"), "2");
}

static void
properties_and_files_change_together(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	const char *const pairs[] = {"b", "2"};
	LakeChanges *changes = lake_add(lake_changes(lake),
									lake_data(lake, "/A", 5, -1, 1, 5));
	CommitAttempt attempt =
		iceberg_commit_build(lake_begin(lake, &changes->set, pairs, 1),
						 lake_head(lake));

	lake_swap(lake, &attempt);
	CHECK_STRING(lake_files(lake), "/A");
	CHECK_STRING(iceberg_property(lake_head(lake), "b"), "2");
}

static void
another_table_by_the_same_name_is_a_conflict(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes = lake_add(lake_changes(lake),
									lake_data(lake, "/A", 5, -1, 1, 5));
	LakeCommit *commit = lake_begin(lake, &changes->set, NULL, 0);
	CommitAttempt attempt = iceberg_commit_build(commit, lake_head(lake));

	lake_edit(lake, "9c12d441", "00000000");
	attempt = iceberg_commit_build(commit, lake_head(lake));
	CHECK(attempt.conflict != NULL &&
		  strstr(attempt.conflict, "uuid") != NULL);
}

static void
an_upgrade_to_v3_leaves_no_room_for_position_delete_files(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *deletes;
	LakeChanges *append;
	LakeCommit *commit;
	CommitAttempt attempt;

	lake_append(lake, lake_data(lake, "/A", 5, -1, 1, 5));
	deletes = lake_add(lake_changes(lake),
					   lake_positions(lake, "/P", 1, -1, "/A"));
	append = lake_add(lake_changes(lake), lake_data(lake, "/B", 5, -1, 1, 5));
	commit = lake_begin(lake, &append->set, NULL, 0);
	iceberg_commit_build(commit, lake_head(lake));
	lake_edit(lake, "\"format-version\":2",
			  "\"format-version\":3,\"next-row-id\":0");
	attempt = iceberg_commit_build(lake_begin(lake, &deletes->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.conflict != NULL &&
		  strstr(attempt.conflict, "\"/P\"") != NULL);
	/* an append goes on, in the new format; old manifests get row ids */
	attempt = iceberg_commit_build(commit, lake_head(lake));
	lake_swap(lake, &attempt);
	CHECK_STRING(lake_manifests(lake),
				 "data 2 2 1/0/0 5/0/0 0: +/B(2,2,0)\n"
				 "data 1 1 1/0/0 5/0/0 5: +/A(1,1,5)\n");
}

static void
vectors_need_v3(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes;

	lake_append(lake, lake_data(lake, "/A", 5, -1, 1, 5));
	changes = lake_add(lake_changes(lake),
					   lake_vector(lake, "/V", 1, -1, "/A", 4));
	CHECK_THROWS(LAKE_ERROR_UNSUPPORTED, "version 2",
				 lake_commit(lake, changes));
}

static void
a_data_file_never_gets_a_second_vector(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3, 0, "");
	LakeChanges *changes;
	CommitAttempt attempt;

	lake_append(lake, lake_data(lake, "/A", 5, -1, 1, 5));
	lake_append(lake, lake_vector(lake, "/V", 1, -1, "/A", 4));
	changes = lake_add(lake_changes(lake),
					   lake_vector(lake, "/W", 2, -1, "/A", 4));
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.conflict != NULL && strstr(attempt.conflict, "\"/A\"") != NULL);
	/* vectors share files: the offset tells which one goes */
	lake_drop_deletes(changes, "/V", 5);
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.conflict != NULL);
	changes->removed[0].content_offset = 4;
	lake_commit(lake, changes);
	CHECK_STRING(lake_files(lake), "/A|/W");
	lake_add(changes, lake_vector(lake, "/W", 2, -1, "/A", 60));
	CHECK_THROWS(LAKE_ERROR_INTERNAL, "two deletion vectors",
				 lake_begin(lake, &changes->set, NULL, 0));
}

/* ---- filtering ---- */

static void
carried_entries_keep_what_they_had(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3, 1, "");
	LakeChanges *changes = lake_changes(lake);

	lake_add(changes, lake_data(lake, "/A", 10, 1, 1, 5));
	lake_add(changes, lake_data(lake, "/B", 20, 2, 1, 5));
	lake_add(changes, lake_data(lake, "/C", 30, 3, 1, 5));
	lake_commit(lake, changes);
	lake_append(lake, lake_data(lake, "/D", 40, -1, 1, 5));
	lake_commit(lake, lake_drop(lake_changes(lake), "/B"));
	/* manifests of newer specs come first */
	CHECK_STRING(lake_manifests(lake),
				 "data 3 1 0/2/1 0/40/20 100: =/A(1,1,0) -/B(1,1,10) "
				 "=/C(1,1,30)\n"
				 "data 2 2 1/0/0 40/0/0 60: +/D(2,2,60)\n");
	/* once more: what an earlier snapshot deleted is not told again */
	lake_commit(lake, lake_drop(lake_changes(lake), "/A"));
	CHECK_STRING(lake_manifests(lake),
				 "data 4 1 0/1/1 0/30/10 140: -/A(1,1,0) =/C(1,1,30)\n"
				 "data 2 2 1/0/0 40/0/0 60: +/D(2,2,60)\n");
	CHECK_STRING(lake_summary(lake, "manifests-created"), "1");
	CHECK_STRING(lake_summary(lake, "manifests-kept"), "1");
	CHECK_STRING(lake_summary(lake, "manifests-replaced"), "1");
}

static void
deletes_older_than_all_data_go_with_the_last_of_it(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes;

	lake_append(lake, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_append(lake, lake_positions(lake, "/P", 1, -1, "/A"));
	lake_append(lake, lake_data(lake, "/B", 10, -1, 1, 5));
	changes = lake_drop(lake_changes(lake), "/A");
	lake_add(changes, lake_data(lake, "/C", 9, -1, 1, 5));
	lake_commit(lake, changes);
	/* B has the number 3, P has 2 */
	CHECK_STRING(lake_files(lake), "/B /C");
	CHECK_STRING(lake_summary(lake, "removed-delete-files"), "1");
	CHECK_STRING(lake_summary(lake, "total-delete-files"), "0");
	lake_append(lake, lake_data(lake, "/D", 10, -1, 1, 5));
	CHECK(strstr(lake_manifests(lake), "deletes") == NULL);
}

static void
a_retry_filters_again_only_what_is_new(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes = lake_changes(lake);
	LakeCommit *commit;
	CommitAttempt attempt;
	const char *first;
	size_t		count;

	lake_add(changes, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_add(changes, lake_data(lake, "/B", 10, -1, 1, 5));
	lake_commit(lake, changes);
	changes = lake_drop(lake_changes(lake), "/A");
	commit = lake_begin(lake, &changes->set, NULL, 0);
	attempt = iceberg_commit_build(commit, lake_head(lake));
	CHECK(attempt.conflict == NULL);
	first = commit->manifests->manifest->file.path;
	lake_append(lake, lake_data(lake, "/C", 10, -1, 1, 5));
	attempt = iceberg_commit_build(commit, lake_head(lake));
	lake_swap(lake, &attempt);
	CHECK_STRING(manifest_list_read(arena, lake->store,
									lake_head(lake)->current_snapshot,
									&count)[1].path, first);
	CHECK_STRING(lake_summary(lake, "total-records"), "20");
	CHECK_STRING(lake_files(lake), "/B /C");
	/* what another commit has filtered is another manifest */
	changes = lake_drop(lake_changes(lake), "/B");
	commit = lake_begin(lake, &changes->set, NULL, 0);
	iceberg_commit_build(commit, lake_head(lake));
	lake_append(lake, lake_data(lake, "/D", 10, -1, 1, 5));
	lake_commit(lake, lake_drop(lake_changes(lake), "/C"));
	attempt = iceberg_commit_build(commit, lake_head(lake));
	lake_swap(lake, &attempt);
	CHECK_STRING(lake_files(lake), "/D");
	CHECK_STRING(lake_summary(lake, "total-data-files"), "1");
}

/* ---- merging ---- */

static void
small_manifests_are_merged_when_there_are_enough(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 3, 0,
								   "\"commit.manifest.min-count-to-merge\":"
								   "\"3\"");

	lake_append(lake, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_append(lake, lake_data(lake, "/B", 20, -1, 1, 5));
	lake_append(lake, lake_data(lake, "/C", 30, -1, 1, 5));
	CHECK_STRING(lake_manifests(lake),
				 "data 3 1 1/2/0 30/30/0 30: +/C(3,3,30) =/B(2,2,10) "
				 "=/A(1,1,0)\n");
	CHECK_STRING(lake_summary(lake, "manifests-created"), "1");
	CHECK_STRING(lake_summary(lake, "manifests-kept"), "0");
	CHECK_STRING(lake_summary(lake, "manifests-replaced"), "2");
	CHECK_INT(iceberg_table(lake_head(lake))->next_row_id, 90);
	CHECK_STRING(lake_files(lake), "/A /B /C");
}

static void
merged_manifests_have_what_the_commit_itself_removes(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0,
								   "\"commit.manifest.min-count-to-merge\":"
								   "\"2\"");
	LakeChanges *changes = lake_changes(lake);
	int			files;

	lake_add(changes, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_add(changes, lake_data(lake, "/B", 20, -1, 1, 5));
	lake_commit(lake, changes);
	files = lake_metadata_files(lake);
	changes = lake_drop(lake_changes(lake), "/A");
	lake_add(changes, lake_data(lake, "/C", 5, -1, 1, 5));
	lake_commit(lake, changes);
	CHECK_STRING(lake_manifests(lake),
				 "data 2 1 1/1/1 5/20/10 -1: +/C(2,2) -/A(1,1) =/B(1,1)\n");
	/* metadata, list and one manifest; those that went into it are not kept */
	CHECK_INT(lake_metadata_files(lake), files + 3);
	lake_append(lake, lake_data(lake, "/D", 5, -1, 1, 5));
	CHECK_STRING(lake_manifests(lake),
				 "data 3 1 1/2/0 5/25/0 -1: +/D(3,3) =/C(2,2) =/B(1,1)\n");
}

static void
full_bins_are_merged_whatever_their_count(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0,
								   "\"commit.manifest-merge.enabled\":"
								   "\"false\"");
	const ManifestFile *manifests;
	size_t		count;

	for (int i = 0; i < 5; i++)
		lake_append(lake, lake_data(lake,
									lake_printf(arena, "/%d", i), 1, -1, 1,
									5));
	manifests = manifest_list_read(arena, lake->store,
								   lake_head(lake)->current_snapshot, &count);
	CHECK_INT(count, 5);
	lake_edit(lake, "\"commit.manifest-merge.enabled\":\"false\"",
			  lake_printf(arena,
						  "\"commit.manifest.target-size-bytes\":\"%lld\"",
						  (long long) manifests[0].length * 5 / 2));
	lake_append(lake, lake_data(lake, "/5", 1, -1, 1, 5));
	/* bins from the end: (1 0), (3 2), and (5 4), which waits for more */
	CHECK_STRING(lake_manifests(lake),
				 "data 6 6 1/0/0 1/0/0 -1: +/5(6,6)\n"
				 "data 5 5 1/0/0 1/0/0 -1: +/4(5,5)\n"
				 "data 6 3 0/2/0 0/2/0 -1: =/3(4,4) =/2(3,3)\n"
				 "data 6 1 0/2/0 0/2/0 -1: =/1(2,2) =/0(1,1)\n");
}

/* the path of the current snapshot's last manifest */
static const char *
last_manifest(const Lake *lake)
{
	size_t		count;
	const ManifestFile *manifests =
		manifest_list_read(lake->arena, lake->store,
					   lake_head(lake)->current_snapshot, &count);

	return manifests[count - 1].path;
}

static void
a_retry_merges_again_only_what_is_new(LakeArena *arena)
{
	static const char off[] = "\"commit.manifest-merge.enabled\":\"false\"";
	static const char on[] = "\"commit.manifest-merge.enabled\":\"true\"";
	Lake	   *lake = lake_create(arena, 2, 0,
								   lake_printf(arena, "%s,"
											   "\"commit.manifest."
											   "min-count-to-merge\":\"3\"",
											   off));
	LakeChanges *changes = lake_add(lake_changes(lake),
									lake_data(lake, "/new", 1, -1, 1, 5));
	LakeCommit *commit = lake_begin(lake, &changes->set, NULL, 0);
	CommitAttempt attempt;
	const ManifestFile *manifests;
	size_t		count;
	const char *merged;
	int			files;

	for (int i = 0; i < 4; i++)
		lake_append(lake, lake_data(lake, lake_printf(arena, "/%d", i), 1, -1,
									1, 5));
	manifests = manifest_list_read(arena, lake->store,
								   lake_head(lake)->current_snapshot, &count);
	lake_edit(lake, off,
			  lake_printf(arena, "%s,\"commit.manifest.target-size-bytes\":"
						  "\"%lld\"", on,
						  (long long) manifests[0].length * 5 / 2));
	attempt = iceberg_commit_build(commit, lake_head(lake));
	CHECK(attempt.conflict == NULL);
	put_set_publish(lake->store, lake->store->puts);
	merged = commit->manifests->manifest->file.path;
	/* somebody appends without merging */
	lake_edit(lake, on, off);
	lake_append(lake, lake_data(lake, "/other", 1, -1, 1, 5));
	lake_edit(lake, off, on);
	files = lake_metadata_files(lake);
	attempt = iceberg_commit_build(commit, lake_head(lake));
	lake_swap(lake, &attempt);
	CHECK_STRING(last_manifest(lake), merged);
	CHECK_STRING(lake_summary(lake, "manifests-created"), "3");
	CHECK_STRING(lake_files(lake), "/0 /1 /2 /3 /new /other");
	CHECK_INT(lake_metadata_files(lake), files);
}

static void
manifests_of_specs_and_contents_stay_apart(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 1,
								   "\"commit.manifest.min-count-to-merge\":"
								   "\"2\"");
	LakeChanges *changes = lake_changes(lake);

	lake_add(changes, lake_data(lake, "/A", 1, -1, 1, 5));
	lake_add(changes, lake_data(lake, "/B", 1, 1, 1, 5));
	lake_commit(lake, changes);
	changes = lake_changes(lake);
	lake_add(changes, lake_positions(lake, "/P", 1, 1, "/B"));
	lake_add(changes, lake_data(lake, "/C", 1, 1, 1, 5));
	lake_add(changes, lake_data(lake, "/D", 1, 1, 1, 5));
	lake_commit(lake, changes);
	CHECK_STRING(lake_manifests(lake),
				 "data 2 1 2/1/0 2/1/0 -1: +/C(2,2) +/D(2,2) =/B(1,1)\n"
				 "data 1 1 1/0/0 1/0/0 -1: +/A(1,1)\n"
				 "deletes 2 2 1/0/0 1/0/0 -1: +/P(2,2)\n");
	CHECK_STRING(lake_files(lake), "/A /B|/P /C /D");
}

static void
partitions_are_summed_up_when_the_table_says_so(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 1,
								   "\"write.summary.partition-limit\":\"1\"");
	LakeChanges *changes;

	lake_append(lake, lake_data(lake, "/A", 1, 4, 1, 5));
	CHECK_STRING(lake_summary(lake, "partitions.part=4"),
				 "added-files-size=1000,added-data-files=1,added-records=1");
	changes = lake_changes(lake);
	lake_add(changes, lake_data(lake, "/B", 1, 1, 1, 5));
	lake_add(changes, lake_data(lake, "/C", 1, 2, 1, 5));
	lake_commit(lake, changes);
	CHECK_STRING(lake_summary(lake, "changed-partition-count"), "2");
	CHECK_STRING(lake_summary(lake, "partition-summaries-included"), "");
}

static void
time_never_goes_back(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	int64_t		times[3];

	lake_edit(lake, "\"last-updated-ms\":1000",
			  "\"last-updated-ms\":9999999999999");
	for (int i = 0; i < 3; i++)
	{
		lake_append(lake, lake_data(lake, lake_printf(arena, "/%d", i), 1, -1,
									1, 5));
		times[i] = lake_snapshot(lake)->timestamp_ms;
	}
	CHECK_INT(times[0], INT64_C(9999999999999));
	CHECK_INT(times[1], INT64_C(10000000000000));
	CHECK_INT(times[2], INT64_C(10000000000001));
}

/* the current snapshot names its manifests itself */
static void
make_list_inline(Lake *lake)
{
	const LakeSnapshot *snapshot = lake_head(lake)->current_snapshot;
	size_t		count;
	const ManifestFile *manifests = manifest_list_read(lake->arena,
													   lake->store, snapshot,
													   &count);
	const char *list =
		lake_printf(lake->arena, "\"manifest-list\":\"%s\"",
				((const IcebergSnapshot *) snapshot)->manifest_list);
	const char *text = "\"manifests\":[";

	for (size_t i = 0; i < count; i++)
		text = lake_printf(lake->arena, "%s%s\"%s\"", text, i == 0 ? "" : ",",
						   manifests[i].path);
	lake_edit(lake, list, lake_printf(lake->arena, "%s]", text));
}

static void
inline_manifests_of_v1_get_a_list(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 1, 1, "");

	lake_append(lake, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_append(lake, lake_data(lake, "/B", 20, 1, 1, 5));
	make_list_inline(lake);
	CHECK_STRING(lake_files(lake), "/A /B");
	lake_append(lake, lake_data(lake, "/C", 30, 1, 1, 5));
	CHECK_STRING(lake_manifests(lake),
				 "data 0 0 1/0/0 30/0/0 -1: +/C(0,0)\n"
				 "data 0 0 0/1/0 0/20/0 -1: =/B(0,0)\n"
				 "data 0 0 0/1/0 0/10/0 -1: =/A(0,0)\n");
	make_list_inline(lake);
	lake_commit(lake, lake_drop(lake_changes(lake), "/A"));
	CHECK_STRING(lake_files(lake), "/B /C");
	CHECK_STRING(lake_summary(lake, "total-records"), "50");
}

static void
an_entry_that_is_there_twice_goes_as_a_whole(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes = lake_changes(lake);

	lake_append(lake, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_append(lake, lake_data(lake, "/B", 10, -1, 1, 5));
	lake_add(changes, lake_data(lake, "/A", 10, -1, 1, 5));
	lake_commit(lake, lake_add(changes, lake_data(lake, "/C", 10, -1, 1, 5)));
	CHECK_STRING(lake_files(lake), "/A /A /B /C");
	lake_commit(lake, lake_drop(lake_changes(lake), "/A"));
	CHECK_STRING(lake_files(lake), "/B /C");
	CHECK_STRING(lake_summary(lake, "deleted-data-files"), "2");
}

static void
large_commits_have_several_manifests(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0,
								   "\"commit.manifest.target-size-bytes\":"
								   "\"1\"");
	LakeChanges *changes = lake_changes(lake);

	for (int i = 0; i < 4; i++)
		lake_add(changes, lake_data(lake, lake_printf(arena, "/%d", i), 1, -1,
									1, 5));
	lake_commit(lake, changes);
	CHECK_STRING(lake_summary(lake, "manifests-created"), "4");
	CHECK_STRING(lake_files(lake), "/0 /1 /2 /3");
}

static void
a_spec_that_the_table_has_lost_is_a_conflict(LakeArena *arena)
{
	Lake	   *lake = lake_create(arena, 2, 0, "");
	LakeChanges *changes = lake_add(lake_changes(lake),
									lake_data(lake, "/A", 5, 1, 1, 5));
	CommitAttempt attempt;

	lake_edit(lake, ",{\"spec-id\":1,\"fields\":[{\"name\":\"part\","
			  "\"transform\":\"identity\",\"source-id\":2,"
			  "\"field-id\":1000}]}", "");
	attempt = iceberg_commit_build(lake_begin(lake, &changes->set, NULL, 0),
								   lake_head(lake));
	CHECK(attempt.conflict != NULL &&
		  strstr(attempt.conflict, "Partition spec 1") != NULL);
}

static const UnitTest tests[] = {
	UNIT(the_worked_trace_of_v2),
	UNIT(the_worked_trace_of_v3),
	UNIT(v1_appends_and_removes_whole_files),
	UNIT(an_append_follows_another_one),
	UNIT(a_swap_that_was_done_after_all_is_not_done_again),
	UNIT(a_removed_file_that_is_gone_is_a_conflict),
	UNIT(a_removed_delete_file_must_be_live_too),
	UNIT(truncate_removes_what_others_have_added),
	UNIT(nothing_to_change_makes_no_snapshot),
	UNIT(properties_change_without_a_snapshot),
	UNIT(properties_and_files_change_together),
	UNIT(another_table_by_the_same_name_is_a_conflict),
	UNIT(an_upgrade_to_v3_leaves_no_room_for_position_delete_files),
	UNIT(vectors_need_v3),
	UNIT(a_data_file_never_gets_a_second_vector),
	UNIT(carried_entries_keep_what_they_had),
	UNIT(deletes_older_than_all_data_go_with_the_last_of_it),
	UNIT(a_retry_filters_again_only_what_is_new),
	UNIT(small_manifests_are_merged_when_there_are_enough),
	UNIT(merged_manifests_have_what_the_commit_itself_removes),
	UNIT(full_bins_are_merged_whatever_their_count),
	UNIT(a_retry_merges_again_only_what_is_new),
	UNIT(manifests_of_specs_and_contents_stay_apart),
	UNIT(partitions_are_summed_up_when_the_table_says_so),
	UNIT(time_never_goes_back),
	UNIT(inline_manifests_of_v1_get_a_list),
	UNIT(an_entry_that_is_there_twice_goes_as_a_whole),
	UNIT(large_commits_have_several_manifests),
	UNIT(a_spec_that_the_table_has_lost_is_a_conflict),
};

UNIT_MAIN(tests)
