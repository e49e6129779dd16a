/*
 * The truth table of conflicts (reference, 6.8): one commit after the other,
 * both planned on the same snapshot, for every pair of operations that the
 * table names; and what decides at level snapshot.
 */
#include "commit_fixture.h"

/*
 * The table that both have read: f, g and h, of which h is in another
 * partition; ids 1 to 10 in each.  Statements look for id = 5.
 */
typedef struct Case
{
	Lake	   *lake;
	int			version;
	int64_t		before;			/* the snapshot before the last one */
	const Predicate *filter;
} Case;

static Case
make_case(LakeArena *arena, int version)
{
	Case		c = {.lake = lake_create(arena, version, 1, ""),
	.version = version};
	const LakeField *id = &lake_head(c.lake)->schema->fields[0];
	LakeValue  *five = lake_alloc(arena, sizeof *five);
	LakeChanges *changes = lake_changes(c.lake);

	five->i = 5;
	c.filter = predicate_normalize(arena,
								   predicate_leaf(arena, PREDICATE_EQ, id,
												  five, 1));
	lake_add(changes, lake_data(c.lake, "/g", 10, 1, 1, 10));
	lake_add(changes, lake_data(c.lake, "/h", 10, 2, 1, 10));
	c.before = lake_commit(c.lake, changes);
	lake_append(c.lake, lake_data(c.lake, "/f", 10, 1, 1, 10));
	return c;
}

/* ---- what is committed first ---- */

typedef enum First
{
	INSERT_MATCHING,
	INSERT_OTHER,
	COW_REWRITES_F,
	COW_REMOVES_F,
	COW_REWRITES_G,
	COW_REMOVES_G,
	MOR_DELETES_F,				/* row 3 */
	MOR_DELETES_G,
	MOR_DELETES_SEVERAL,		/* f's partition, not f alone; v2 */
	MOR_UPDATES_F,				/* row 3 */
	UPSERT,						/* equality deletes and data */
	EQUALITY_DELETES,
	COMPACTS_F,
	COMPACTS_G,
	PROPERTIES,
	ROLLBACK,
	FIRST_COUNT
} First;

static const char *const first_names[FIRST_COUNT] = {
	[INSERT_MATCHING] = "INSERT that may match",
	[INSERT_OTHER] = "INSERT that cannot match",
	[COW_REWRITES_F] = "copy-on-write that rewrites f",
	[COW_REMOVES_F] = "copy-on-write that removes f",
	[COW_REWRITES_G] = "copy-on-write that rewrites another file",
	[COW_REMOVES_G] = "copy-on-write that removes another file",
	[MOR_DELETES_F] = "merge-on-read DELETE in f",
	[MOR_DELETES_G] = "merge-on-read DELETE in another file",
	[MOR_DELETES_SEVERAL] = "merge-on-read DELETE in several files",
	[MOR_UPDATES_F] = "merge-on-read UPDATE in f",
	[UPSERT] = "streaming upsert",
	[EQUALITY_DELETES] = "equality deletes",
	[COMPACTS_F] = "compaction of f",
	[COMPACTS_G] = "compaction of another file",
	[PROPERTIES] = "property change",
	[ROLLBACK] = "rollback",
};

/* a file is replaced by another one with the same bounds */
static void
replace_file(Lake *lake, const char *path)
{
	lake_commit(lake, lake_add(lake_drop(lake_changes(lake), path),
							   lake_data(lake, "/new", 10, 1, 1, 10)));
}

/* a snapshot with equality deletes, which we never write */
static void
commit_equality_deletes(Lake *lake, bool adds_data)
{
	const LakeTable *head = lake_head(lake);
	const LakePartitionSpec *spec = iceberg_find_spec(head, 1);
	static const int64_t ids[] = {1};
	LakeValue	part = {.i = 1};
	IcebergEntry entry = {.snapshot_id = 77, .sequence_number = 9,
		.file_sequence_number = 9, .content = CONTENT_EQUALITY_DELETES,
		.path = {(const uint8_t *) "/e", 2},
		.format = {(const uint8_t *) "PARQUET", 7}, .record_count = 1,
		.size = 100, .equality_ids = {1, ids}, .sort_order_id = ICEBERG_NONE,
		.first_row_id = ICEBERG_NONE, .content_offset = ICEBERG_NONE,
	.content_size = ICEBERG_NONE};
	NewSnapshot snapshot = {.id = 77, .parent_id = head->current_snapshot->id,
		.sequence_number = 9, .operation = adds_data ? "overwrite" : "delete",
		.manifest_list = lake_printf(lake->arena, "%s/metadata/list",
									 lake->directory)};
	MetadataUpdate update = {.snapshot_count = 1, .snapshots = &snapshot,
	.ref = "main", .ref_snapshot_id = 77};
	ManifestListHeader header = {.format_version = head->format_version,
		.snapshot_id = 77, .parent_id = snapshot.parent_id,
	.sequence_number = 9};
	ListedManifest rows[16] = {{0}};
	size_t		count;
	const ManifestFile *old = manifest_list_read(lake->arena, lake->store,
												 head->current_snapshot,
												 &count);
	ManifestWriter *writer;
	LakeBytes	text;

	header.first_row_id = iceberg_table(head)->next_row_id;
	snapshot.first_row_id = header.first_row_id;
	snapshot.timestamp_ms = iceberg_last_updated_ms(head) + 1;
	update.last_updated_ms = snapshot.timestamp_ms;
	for (size_t i = 0; i < count; i++)
		rows[i].old = &old[i];
	for (int i = 0; i < 1 + adds_data; i++)
	{
		writer = manifest_writer_create(lake->arena, lake->store,
										lake_printf(lake->arena,
													"%s/metadata/e%d",
													lake->directory, i),
										head->format_version, head->schema,
										spec, i == 0, 77, CODEC_NONE, 0);
		if (i == 0)
			manifest_writer_carry(writer, &entry, &part, STATUS_EXISTING);
		else
			manifest_writer_add(writer, lake_data(lake, "/u", 1, 1, 5, 5));
		rows[count++].added = manifest_writer_finish(writer);
	}
	snapshot.added_rows =
		manifest_list_write(lake->arena, lake->store, snapshot.manifest_list,
							&header, rows, count, CODEC_NONE, 0) -
		snapshot.first_row_id;
	text = iceberg_read_metadata_text(lake->arena, lake->store, lake->pointer);
	text = metadata_apply(lake->arena, text, lake->pointer, &update);
	lake->pointer = metadata_put(lake->arena, lake->store, head->location,
								 lake->pointer, false, text);
	put_set_publish(lake->store, lake->store->puts);
}

static void
commit_first(const Case *c, First first)
{
	static const uint64_t row[] = {3};
	static const char *const pair[] = {"a", "b"};
	Lake	   *lake = c->lake;
	LakeChanges *changes = lake_changes(lake);
	CommitAttempt attempt;

	switch (first)
	{
		case INSERT_MATCHING:
			lake_append(lake, lake_data(lake, "/i", 10, 1, 1, 10));
			break;
		case INSERT_OTHER:
			lake_append(lake, lake_data(lake, "/i", 10, 1, 100, 110));
			break;
		case COW_REWRITES_F:
			replace_file(lake, "/f");
			break;
		case COW_REWRITES_G:
			replace_file(lake, "/g");
			break;
		case COW_REMOVES_F:
			lake_commit(lake, lake_drop(changes, "/f"));
			break;
		case COW_REMOVES_G:
			lake_commit(lake, lake_drop(changes, "/g"));
			break;
		case MOR_DELETES_F:
			lake_append(lake, lake_delete_rows(c->lake, "/f", 1, true, row, 1));
			break;
		case MOR_DELETES_G:
			lake_append(lake, lake_delete_rows(c->lake, "/g", 1, true, row, 1));
			break;
		case MOR_DELETES_SEVERAL:
			lake_append(lake, lake_delete_rows(c->lake, "/f", 1, false, row, 1));
			break;
		case MOR_UPDATES_F:
			lake_add(changes, lake_data(lake, "/n", 1, 1, 5, 5));
			lake_commit(lake, lake_add(changes, lake_delete_rows(c->lake, "/f", 1, true,
																 row, 1)));
			break;
		case UPSERT:
			commit_equality_deletes(lake, true);
			break;
		case EQUALITY_DELETES:
			commit_equality_deletes(lake, false);
			break;
		case COMPACTS_F:
		case COMPACTS_G:
			replace_file(lake, first == COMPACTS_F ? "/f" : "/g");
			lake_edit(lake, "\"operation\":\"overwrite\"",
					  "\"operation\":\"replace\"");
			break;
		case PROPERTIES:
			attempt = iceberg_commit_build(lake_begin(lake, NULL, pair, 1),
										   lake_head(lake));
			lake_swap(lake, &attempt);
			break;
		case ROLLBACK:
			lake_roll_back(lake, c->before);
			break;
		case FIRST_COUNT:
			break;
	}
}

/* ---- what is committed second ---- */

typedef enum Second
{
	INSERT,
	COW_SERIALIZABLE,
	COW_SNAPSHOT,
	DELETE_SERIALIZABLE,		/* merge-on-read, row 3 of f */
	DELETE_SNAPSHOT,
	UPDATE_SERIALIZABLE,
	UPDATE_SNAPSHOT,
	DELETE_OTHER_ROW,			/* at level snapshot, row 4 of f */
	UPDATE_OTHER_ROW,
	TRUNCATE,
	SECOND_COUNT
} Second;

static const char *const second_names[SECOND_COUNT] = {
	[INSERT] = "INSERT",
	[COW_SERIALIZABLE] = "copy-on-write, serializable",
	[COW_SNAPSHOT] = "copy-on-write, snapshot",
	[DELETE_SERIALIZABLE] = "DELETE, serializable",
	[DELETE_SNAPSHOT] = "DELETE, snapshot",
	[UPDATE_SERIALIZABLE] = "UPDATE, serializable",
	[UPDATE_SNAPSHOT] = "UPDATE, snapshot",
	[DELETE_OTHER_ROW] = "DELETE of another row, snapshot",
	[UPDATE_OTHER_ROW] = "UPDATE of another row, snapshot",
	[TRUNCATE] = "TRUNCATE",
};

static const struct
{
	bool		is_serializable;
	bool		is_update;
	bool		is_rewrite;
	uint64_t	row;
}			seconds[SECOND_COUNT] =

{
	[COW_SERIALIZABLE] = {true, true, true, 0},
	[COW_SNAPSHOT] = {false, true, true, 0},
	[DELETE_SERIALIZABLE] = {true, false, false, 3},
	[DELETE_SNAPSHOT] = {false, false, false, 3},
	[UPDATE_SERIALIZABLE] = {true, true, false, 3},
	[UPDATE_SNAPSHOT] = {false, true, false, 3},
	[DELETE_OTHER_ROW] = {false, false, false, 4},
	[UPDATE_OTHER_ROW] = {false, true, false, 4},
};

static LakeChanges *
plan_second(const Case *c, Second second)
{
	LakeChanges *changes = lake_changes(c->lake);

	if (second == TRUNCATE)
	{
		changes->set.removes_all = true;
		return changes;
	}
	if (second == INSERT || seconds[second].is_update)
		lake_add(changes, lake_data(c->lake, "/second", 1, 1, 5, 5));
	if (second == INSERT)
		return changes;
	lake_read(changes, seconds[second].is_update, seconds[second].is_rewrite,
			  seconds[second].is_serializable ? CHANGE_SERIALIZABLE :
			  CHANGE_SNAPSHOT, c->filter);
	if (seconds[second].is_rewrite)
		lake_drop(changes, "/f");
	else
		lake_add(changes, lake_delete_rows(c->lake, "/f", 1, true, &seconds[second].row,
										   1));
	return changes;
}

/* ---- the table ---- */

/* the one thing that a sentence says, by check */
static const struct
{
	char		letter;
	const char *text;
}			reasons[] =

{
	{'1', "added by a concurrent commit, may have rows that match (id = 5), "
	"which this transaction's"},
	{'3', "of which this transaction deletes or updates rows, has been "
	"removed by a concurrent commit."},
	{'4', "added by a concurrent commit, may delete rows that match (id = 5)"},
	{'5', "A concurrent commit has deleted rows of data file \"/f\", which "
	"this transaction replaces or removes"},
	{'6', "A concurrent commit has deleted rows of data file \"/f\", of which "
	"this transaction deletes or updates rows, too."},
	{'7', "\"/f\", which this transaction replaces or removes, has been "
	"removed by a concurrent commit."},
	{'p', "has deleted or updated the row at position 3 of data file \"/f\""},
	{'h', "is not known as an ancestor"},
};

/* the letter of what happened; '.': committed, '?': an unknown sentence */
static char
outcome(const CommitAttempt *attempt)
{
	if (attempt->conflict == NULL)
		return '.';
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
	{
		if (strstr(attempt->conflict, reasons[i].text) != NULL)
			return reasons[i].letter;
	}
	fprintf(stderr, "unexpected: %s\n", attempt->conflict);
	return '?';
}

/*
 * In the order of Second.  '.': it commits, else the check that refuses it.
 * Differences to Java: a DELETE minds that its file is gone (3), and at level
 * snapshot the row counts (p).
 */
static const char *const truth_v2[FIRST_COUNT] = {
	[INSERT_MATCHING] = ".1.1.1....",
	[INSERT_OTHER] = "..........",
	[COW_REWRITES_F] = ".17131333.",
	[COW_REMOVES_F] = ".77333333.",
	[COW_REWRITES_G] = ".1.1.1....",
	[COW_REMOVES_G] = "..........",
	[MOR_DELETES_F] = ".55..4p...",
	[MOR_DELETES_G] = ".....4....",
	[MOR_DELETES_SEVERAL] = ".55..4p...",
	[MOR_UPDATES_F] = ".151p1p...",
	[UPSERT] = ".151.14.4.",
	[EQUALITY_DELETES] = ".55..44.4.",
	[COMPACTS_F] = ".77333333.",
	[COMPACTS_G] = "..........",
	[PROPERTIES] = "..........",
	[ROLLBACK] = ".hhhhhhhh.",
};

/* where v3 differs: one vector a file */
static const char *const truth_v3[FIRST_COUNT] = {
	[MOR_DELETES_F] = ".556p6p...",
	[MOR_UPDATES_F] = ".151p1p...",
	[MOR_DELETES_SEVERAL] = "skip",
};

static void
check_cell(int version, First first, Second second, char expected)
{
	LakeArena  *arena = lake_arena_create(NULL, "cell");
	Case		c = make_case(arena, version);
	LakeChanges *changes = plan_second(&c, second);
	LakeCommit *commit = lake_begin(c.lake, &changes->set, NULL, 0);
	CommitAttempt attempt;
	char		actual;

	commit_first(&c, first);
	attempt = iceberg_commit_build(commit, lake_head(c.lake));
	actual = outcome(&attempt);
	if (actual != expected)
	{
		unit_failed = true;
		fprintf(stderr, "v%d, %s, then %s: %c, expected %c\n", version,
				first_names[first], second_names[second], actual, expected);
	}
	/* what commits can be read, and the next commit works */
	if (attempt.conflict == NULL)
	{
		lake_swap(c.lake, &attempt);
		lake_files(c.lake);
		lake_append(c.lake, lake_data(c.lake, "/next", 1, 1, 1, 1));
	}
	lake_arena_destroy(arena);
}

static void
check_table(int version)
{
	for (int first = 0; first < FIRST_COUNT; first++)
	{
		const char *row = truth_v2[first];

		if (version == 3 && truth_v3[first] != NULL)
			row = truth_v3[first];
		if (strcmp(row, "skip") == 0)
			continue;
		CHECK_INT(strlen(row), SECOND_COUNT);
		for (int second = 0; second < SECOND_COUNT; second++)
			check_cell(version, (First) first, (Second) second, row[second]);
	}
}

static void
the_truth_table_of_v2(LakeArena *arena)
{
	(void) arena;
	check_table(2);
}

static void
the_truth_table_of_v3(LakeArena *arena)
{
	(void) arena;
	check_table(3);
}

/* ---- what the table has no column for ---- */

static char
commit_outcome(const Case *c, LakeChanges *changes)
{
	CommitAttempt attempt =
		iceberg_commit_build(lake_begin(c->lake, &changes->set, NULL, 0),
						 lake_head(c->lake));

	return outcome(&attempt);
}

static void
who_read_an_empty_table_minds_all_that_came(LakeArena *arena)
{
	Case		c = {.lake = lake_create(arena, 2, 1, ""), .version = 2};
	LakeChanges *changes = lake_add(lake_changes(c.lake),
									lake_data(c.lake, "/n", 1, 1, 5, 5));
	LakeChanges *other = lake_add(lake_changes(c.lake),
								  lake_data(c.lake, "/o", 1, 1, 5, 5));
	CommitAttempt attempt;

	lake_read(changes, true, true, CHANGE_SERIALIZABLE, NULL);
	lake_read(other, true, true, CHANGE_SNAPSHOT, NULL);
	lake_append(c.lake, lake_data(c.lake, "/i", 10, 1, 1, 10));
	attempt = iceberg_commit_build(lake_begin(c.lake, &changes->set, NULL, 0),
								   lake_head(c.lake));
	CHECK_STRING(attempt.conflict,
				 "Data file \"/i\", added by a concurrent commit, may have "
				 "rows that this transaction's UPDATE should have seen.");
	CHECK_INT(commit_outcome(&c, other), '.');
}

static void
a_compaction_does_not_hide_what_was_inserted(LakeArena *arena)
{
	Case		c = make_case(arena, 2);
	LakeChanges *changes = plan_second(&c, DELETE_SERIALIZABLE);

	commit_first(&c, INSERT_MATCHING);
	replace_file(c.lake, "/i");
	lake_edit(c.lake, "\"operation\":\"overwrite\"",
			  "\"operation\":\"replace\"");
	CHECK_INT(commit_outcome(&c, changes), '1');
}

static void
a_word_that_is_not_known_may_mean_anything(LakeArena *arena)
{
	Case		c = make_case(arena, 2);
	LakeChanges *inserts = plan_second(&c, DELETE_SERIALIZABLE);
	LakeChanges *removes = plan_second(&c, DELETE_SNAPSHOT);

	commit_first(&c, COW_REWRITES_F);
	lake_edit(c.lake, "\"operation\":\"overwrite\"",
			  "\"operation\":\"magic\"");
	CHECK_INT(commit_outcome(&c, inserts), '1');
	CHECK_INT(commit_outcome(&c, removes), '3');
}

static void
a_delete_of_a_whole_file_minds_updates_of_its_rows_alone(LakeArena *arena)
{
	for (int version = 2; version <= 3; version++)
	{
		Case		c = make_case(arena, version);
		Case		d = make_case(arena, version);
		LakeChanges *first = lake_drop(lake_changes(c.lake), "/f");
		LakeChanges *second = lake_drop(lake_changes(d.lake), "/f");
		LakeChanges *update = lake_drop(lake_changes(c.lake), "/f");

		lake_read(first, false, false, CHANGE_SNAPSHOT, c.filter);
		lake_read(second, false, false, CHANGE_SNAPSHOT, d.filter);
		lake_read(update, true, false, CHANGE_SNAPSHOT, c.filter);
		commit_first(&c, MOR_DELETES_F);
		commit_first(&d, MOR_UPDATES_F);
		CHECK_INT(commit_outcome(&c, update), '5');
		CHECK_INT(commit_outcome(&d, second), '5');
		lake_commit(c.lake, first);
		CHECK(strstr(lake_files(c.lake), "/f") == NULL);
	}
}

/* the vector of the deletion has the updated row's position, too */
static void
a_deletion_does_not_hide_an_update_that_it_took_over(LakeArena *arena)
{
	static const uint64_t rows[] = {3, 4};
	Case		c = make_case(arena, 3);
	LakeChanges *second = lake_drop(lake_changes(c.lake), "/f");
	LakeChanges *deletion = lake_changes(c.lake);
	const WrittenFile *update = lake_delete_rows(c.lake, "/f", 1, true, rows,
												 1);

	lake_read(second, false, false, CHANGE_SNAPSHOT, c.filter);
	lake_add(deletion, lake_data(c.lake, "/u", 1, 1, 100, 100));
	lake_commit(c.lake, lake_add(deletion, update));
	deletion = lake_add(lake_changes(c.lake),
						lake_delete_rows(c.lake, "/f", 1, true, rows, 2));
	lake_drop_deletes(deletion, update->path, update->content_offset);
	lake_commit(c.lake, deletion);
	CHECK_STRING(lake_summary(c.lake, "operation"), "delete");
	CHECK_INT(commit_outcome(&c, second), '5');
}

static void
the_strictest_statement_of_a_transaction_counts(LakeArena *arena)
{
	Case		c = make_case(arena, 3);
	LakeChanges *changes = plan_second(&c, DELETE_OTHER_ROW);
	LakeChanges *strict = plan_second(&c, DELETE_OTHER_ROW);
	const Predicate *nothing = predicate_constant(arena, false);

	/* it looks for nothing, and minds the vector all the same */
	lake_read(strict, false, false, CHANGE_SERIALIZABLE, nothing);
	commit_first(&c, MOR_DELETES_F);
	CHECK_INT(commit_outcome(&c, strict), '6');
	CHECK_INT(commit_outcome(&c, changes), '.');
}

static void
a_base_that_has_expired_is_a_conflict(LakeArena *arena)
{
	Case		c = make_case(arena, 2);
	LakeChanges *changes = plan_second(&c, DELETE_SNAPSHOT);
	LakeChanges *insert = plan_second(&c, INSERT);

	commit_first(&c, INSERT_OTHER);
	changes->set.base_snapshot_id = 12345;
	insert->set.base_snapshot_id = 12345;
	CHECK_INT(commit_outcome(&c, changes), 'h');
	CHECK_INT(commit_outcome(&c, insert), '.');
}

static const UnitTest tests[] = {
	UNIT(the_truth_table_of_v2),
	UNIT(the_truth_table_of_v3),
	UNIT(who_read_an_empty_table_minds_all_that_came),
	UNIT(a_compaction_does_not_hide_what_was_inserted),
	UNIT(a_word_that_is_not_known_may_mean_anything),
	UNIT(a_delete_of_a_whole_file_minds_updates_of_its_rows_alone),
	UNIT(a_deletion_does_not_hide_an_update_that_it_took_over),
	UNIT(the_strictest_statement_of_a_transaction_counts),
	UNIT(a_base_that_has_expired_is_a_conflict),
};

UNIT_MAIN(tests)
