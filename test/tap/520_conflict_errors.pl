# What a conflict's error says: SQLSTATE, table, the snapshot that was read and the
# one that is there now, both operations, what stands in the way, and the cure.
use strict;
use warnings;
use Lake;
use LakeWrite;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = write_node('conflict_errors', stop_points => 1);
my $number = 0;
my $table;

my %cow = map { +"write.$_.mode" => 'copy-on-write' } 'update', 'delete';
my %mor = map { +"write.$_.mode" => 'merge-on-read' } 'update', 'delete';
my %snapshot = map { +"write.$_.isolation-level" => 'snapshot' } 'update', 'delete';

my $session = open_session($node);
my $other = open_session($node);

# a table of two files for a case of its own
sub next_table
{
	my (%options) = @_;

	$table = 't' . ++$number;
	lake_table($node, $table, %options);
	$node->safe_psql('postgres', "INSERT INTO $table SELECT g, 0 FROM generate_series(1, 10) g;
		INSERT INTO $table SELECT g, 0 FROM generate_series(11, 20) g")
		unless $options{empty};
	return;
}

sub current
{
	return $node->safe_psql('postgres', "SELECT snapshot_id
		FROM lake.refs('$table') WHERE name = 'main'");
}

# One session has done something, another one commits, and the first is refused;
# TABLE stands for the table's name.
sub refused
{
	my ($name, $mine, $theirs, %expect) = @_;
	my ($before, $after, $said);

	$before = current();
	$mine =~ s/\bTABLE\b/$table/g;
	$theirs =~ s/\bTABLE\b/$table/g;
	is(do_sql($session, $mine), '', "$name: begins");
	is(do_sql($other, $theirs), '', '... another session commits');
	$after = current();
	$said = do_sql($session, $expect{last} // 'COMMIT;');
	do_sql($session, 'ROLLBACK;') if $expect{last};
	like($said, qr/^(psql:\S+ )?ERROR:  40001: could not serialize access to lake table "db\.$table" due to a concurrent commit$/m,
		'... SQLSTATE and table');
	like($said, qr/^DETAIL:  $expect{reason} /m, '... what stands in the way');
	like($said, qr/^DETAIL:.* The transaction$expect{operation} is based on snapshot $before of table "db\.$table"\. The table's current snapshot is $after, operation $expect{theirs}\.$/m,
		'... snapshots and operations');
	like($said, qr/^HINT:  The transaction might succeed if retried\.$expect{hint}$/m, '... the cure');
	return;
}

my $file = qr/"[^"]*\.parquet"/;
my $wait = qr/ With lakefdw\.write_lock on, sessions that write to the table wait for each other instead\./;

next_table(properties => \%cow);
refused('rows that may match',
	'BEGIN; UPDATE TABLE SET v = 1 WHERE id < 4;', 'INSERT INTO TABLE VALUES (2, 2);',
	reason => qr/Data file $file, added by a concurrent commit, may have rows that match \(id < 4\), which this transaction's UPDATE has looked for\./,
	operation => "'s UPDATE", theirs => 'append',
	hint => qr/ Rows that others add are no conflict if .*isolation-level is snapshot\./);

next_table(properties => { %cow, %snapshot });
refused('a file that is written anew',
	'BEGIN; INSERT INTO TABLE VALUES (30, 0); DELETE FROM TABLE WHERE id = 3;',
	'UPDATE TABLE SET v = 2 WHERE id = 4;',
	reason => qr/Data file $file, which this transaction replaces or removes, has been removed by a concurrent commit\./,
	operation => "'s INSERT, DELETE", theirs => 'overwrite', hint => $wait);

next_table(properties => { %mor, %snapshot });
refused('the same row',
	'BEGIN; UPDATE TABLE SET v = 1 WHERE id = 3;', 'DELETE FROM TABLE WHERE id = 3;',
	reason => qr/A concurrent commit has deleted or updated the row at position 2 of data file $file, which this transaction deletes or updates, too\./,
	operation => "'s UPDATE", theirs => 'delete', hint => $wait);

next_table(properties => \%mor, version => 3);
refused('a vector of the same file',
	'BEGIN; DELETE FROM TABLE WHERE id = 3;', 'DELETE FROM TABLE WHERE id = 4;',
	reason => qr/A concurrent commit has deleted rows of data file $file, of which this transaction deletes or updates rows, too\./,
	operation => "'s DELETE", theirs => 'delete', hint => $wait);

next_table(properties => \%mor);
refused('a file that is rewritten',
	'BEGIN; DELETE FROM TABLE WHERE id = 3;', 'DELETE FROM TABLE WHERE id <= 10;',
	reason => qr/Data file $file, of which this transaction deletes or updates rows, has been removed by a concurrent commit\./,
	operation => "'s DELETE", theirs => 'delete', hint => $wait);

next_table();
refused('SERIALIZABLE',
	'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT FROM TABLE WHERE false; INSERT INTO TABLE VALUES (30, 0);',
	'INSERT INTO TABLE VALUES (31, 0);',
	reason => qr/The table has changed since this SERIALIZABLE transaction began\./,
	operation => "'s INSERT", theirs => 'append',
	hint => qr/ In REPEATABLE READ, changes that do not concern each other are both committed\./);

next_table();
refused('FOR UPDATE',
	'BEGIN; SELECT FROM TABLE WHERE id = -1 FOR UPDATE;', 'INSERT INTO TABLE VALUES (31, 0);',
	reason => qr/The table has changed since its rows were locked by SELECT FOR UPDATE or SHARE\./,
	operation => "'s SELECT FOR UPDATE or SHARE", theirs => 'append',
	hint => qr/ lake\.lock_table\(\) waits for other sessions that lock instead\./);

next_table();
refused('a lock that comes too late',
	'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM TABLE WHERE false;',
	'INSERT INTO TABLE VALUES (31, 0);',
	last => "SELECT lake.lock_table('$table');",
	reason => qr/The table has changed between the transaction's snapshot and its lock on the table\./,
	operation => '', theirs => 'append',
	hint => qr/ In READ COMMITTED it would go on with what the table has now\./);

# ---- a race that is lost, and no second try ----

next_table(properties => { 'commit.retry.num-retries' => 0 });
do_sql($other, "SELECT pg_advisory_lock(hashtext('before-swap'));");
do_sql($session, "SET lakefdw.stop_point = 'before-swap';");
my $before = current();
send_sql($session, "INSERT INTO $table VALUES (30, 0);");
wait_blocked($node, $session);
is(do_sql($other, "INSERT INTO $table VALUES (31, 0);"), '', 'no more tries: another session commits');
my $after = current();
do_sql($other, 'SELECT pg_advisory_unlock_all();');
my $said = result_of($session);
do_sql($session, "SET lakefdw.stop_point = '';");
like($said, qr/ERROR:  40001: could not serialize access to lake table "db\.$table" due to a concurrent commit$/m,
	'... SQLSTATE and table');
like($said, qr/^DETAIL:  Others committed first, and the table's commit\.retry\.num-retries allows no further try\. The transaction's INSERT is based on snapshot $before of table "db\.$table"\. The table's current snapshot is $after, operation append\.$/m,
	'... reason, snapshots and operations');
like($said, qr/^HINT:.* The table's property commit\.retry\.num-retries allows more tries/m, '... the cure');

# ---- no snapshot before, or after ----

next_table(empty => 1);
do_sql($session, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT FROM $table; INSERT INTO $table VALUES (1, 0);");
do_sql($other, "INSERT INTO $table VALUES (2, 0);");
$after = current();
like(do_sql($session, 'COMMIT;'),
	qr/^DETAIL:.* is based on table "db\.$table" without a snapshot\. The table's current snapshot is $after, operation append\.$/m,
	'a table that was empty');

next_table();
my $first = pointer($node, $table);
$before = current();
do_sql($session, "BEGIN; DELETE FROM $table WHERE id = 3;");
$node->safe_psql('postgres', "UPDATE lake.iceberg_tables
	SET metadata_location = regexp_replace(metadata_location, '[^/]*\$', '00000-first.metadata.json')
	WHERE table_name = '$table'");
like(do_sql($session, 'COMMIT;'),
	qr/^DETAIL:  The table has no snapshot any more; this transaction has read snapshot $before\. The transaction's DELETE is based on snapshot $before of table "db\.$table"\. The table has no snapshot now\.$/m,
	'a table that is rolled back to nothing');

# ---- an error while the pointer is waited for ends the transaction ----

next_table();
my $third = open_session($node, "SET lock_timeout = '20ms';");
do_sql($other, "SELECT pg_advisory_lock(hashtext('after-swap'));");
do_sql($session, "SET lakefdw.stop_point = 'after-swap';");
send_sql($session, "INSERT INTO $table VALUES (30, 0);");
wait_blocked($node, $session);
like(do_sql($third, "INSERT INTO $table VALUES (31, 0);"), qr/55P03/, 'a wait that is given up');
is(do_sql($third, 'SELECT 1;'), '1', '... and no transaction is left');
do_sql($third, "BEGIN; INSERT INTO $table VALUES (31, 0);");
like(do_sql($third, 'COMMIT;'), qr/55P03/, '... nor of a block');
is(do_sql($third, 'BEGIN; SELECT 1; COMMIT;'), '1', '... the session goes on');
do_sql($other, 'SELECT pg_advisory_unlock_all();');
is(result_of($session), '', '... and the other one commits');

done_testing();
