# lake.stat_commits: of the cluster when the library is preloaded, of the session
# otherwise.  Races are held at stop points, so every number is exact; times are
# compared with times that the test has seen pass.
use strict;
use warnings;
use Lake;
use LakeWrite;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = write_node('commit_stats', stop_points => 1, settings => [
	"shared_preload_libraries = 'lakefdw_stop'", 'max_connections = 30',
	'restart_after_crash = on' ]);
my $session = open_session($node);
my $other = open_session($node);

lake_table($node, $_) foreach 't', 'u', 'busy';

# of one table, from a session that has committed nothing; what it lacks is 0
sub stat_of
{
	my ($what, $table, $database) = @_;

	return $node->safe_psql($database // 'postgres', "SELECT coalesce((SELECT $what
		FROM lake.stat_commits WHERE ident = 'db.$table'), 0)");
}

# each number, in the order of the view, times as they must be
sub numbers
{
	my ($table) = @_;

	return $node->safe_psql('postgres', "SELECT scope, commits, rebases, conflicts,
		cas_losses, retry_ms > 0, bytes_rewritten > 0
		FROM lake.stat_commits WHERE ident = 'db.$table'");
}

# a session that waits at a place until let_go
sub held
{
	my ($place, $sql) = @_;

	do_sql($other, "SELECT pg_advisory_lock(hashtext('$place'));");
	do_sql($session, "SET lakefdw.stop_point = '$place';");
	send_sql($session, $sql);
	return ok(wait_blocked($node, $session), "a session is held $place");
}

sub let_go
{
	my ($sql) = @_;

	do_sql($other, 'SELECT pg_advisory_unlock_all();');
	my $said = result_of($session);
	do_sql($session, "ROLLBACK; SET lakefdw.stop_point = '';");
	return $said;
}

# ---- nobody else ----

is($node->safe_psql('postgres', 'SELECT count(*) FROM lake.stat_commits'), '0',
	'no table has counters yet');
do_sql($session, 'INSERT INTO t SELECT g, 0 FROM generate_series(1, 10) g;');
is(numbers('t'), 'cluster|1|0|{}|0|f|f', 'a commit, as another session sees it');

# ---- races ----

held('before-swap', 'INSERT INTO t VALUES (11, 0);');
do_sql($other, 'INSERT INTO t VALUES (12, 0);');
is(stat_of('commits', 't'), '2', '... and another one commits');
is(let_go(), '', '... the first commits too, on top of it');
is(numbers('t'), 'cluster|3|1|{}|1|t|t', '... one swap was lost, one commit made anew');

# twice, so that the last try is made under the lock
do_sql($other, "SELECT pg_advisory_lock(hashtext('before-swap'));");
do_sql($session, "SET lakefdw.stop_point = 'before-swap';");
send_sql($session, 'INSERT INTO u VALUES (1, 0);');
wait_blocked($node, $session);
do_sql($other, 'INSERT INTO u VALUES (2, 0);');
my $third = open_session($node);
# whoever waits next, the session at its second try, waits for the third one
send_sql($third, "SELECT pg_advisory_lock(hashtext('before-swap'));");
wait_blocked($node, $session, $third);
do_sql($other, 'SELECT pg_advisory_unlock_all();');
is(result_of($third), '', 'the third session holds the second try')
	if wait_until($node, "count(*) = 2 FROM pg_locks WHERE locktype = 'advisory' AND pid IN ($third->{pid}, $session->{pid})");
wait_blocked($node, $session);
do_sql($other, 'INSERT INTO u VALUES (3, 0);');
do_sql($third, 'SELECT pg_advisory_unlock_all();');
is(result_of($session), '', '... it commits at the third try');
do_sql($session, "SET lakefdw.stop_point = '';");
is(numbers('u'), 'cluster|3|2|{}|2|t|t', '... two swaps were lost, two commits made anew');

# ---- conflicts ----

do_sql($session, 'BEGIN; UPDATE t SET v = 1 WHERE id = 1;');
do_sql($other, 'UPDATE t SET v = 2 WHERE id = 1;');
like(do_sql($session, 'COMMIT;'), qr/40001/, 'an update is refused');
is(numbers('t'), 'cluster|4|1|{"added_rows": 1}|1|t|t', '... and is no commit');
held('before-swap', 'UPDATE t SET v = 1 WHERE id = 1;');
do_sql($other, 'DELETE FROM t WHERE id = 1;');
like(let_go(), qr/40001/, '... one that has lost its swap, too');
is(numbers('t'), 'cluster|5|1|{"added_rows": 1, "removed_file": 1}|2|t|t',
	'... and its lost swap counts');

# ---- what ends after the swap is no commit ----

held('after-swap', 'INSERT INTO t VALUES (20, 0);');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
like(let_go(), qr/57014/, '... and is cancelled');
is(stat_of('commits', 't'), '5', '... that is no commit');
held('before-commit-record', 'BEGIN; INSERT INTO t VALUES (20, 0); INSERT INTO u VALUES (20, 0); COMMIT;');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
like(let_go(), qr/57014/, '... and is cancelled');
is(stat_of('commits', 't') . ' ' . stat_of('commits', 'u'), '5 3', '... that is none either');
do_sql($session, 'BEGIN; INSERT INTO t VALUES (20, 0); INSERT INTO u VALUES (20, 0); COMMIT;');
is(stat_of('commits', 't') . ' ' . stat_of('commits', 'u'), '6 4', 'a commit of two tables counts for both');

# ---- waits ----

held('after-swap', 'INSERT INTO t VALUES (21, 0);');
send_sql($third, 'INSERT INTO t VALUES (22, 0);');
wait_blocked($node, $session, $third);
my $before = stat_of('lock_wait_ms_total', 't');
my $since = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
# time for it to wait
my $passed = $node->safe_psql('postgres', "SELECT pg_sleep(0.1),
	extract(epoch FROM clock_timestamp() - '$since') * 1000");
$passed =~ s/^\|//;
is(let_go(), '', 'whoever held the pointer has committed');
is(result_of($third), '', '... and whoever has waited for it');
cmp_ok(stat_of('lock_wait_ms_total', 't') - $before, '>=', $passed, '... has waited that long');
cmp_ok(stat_of('lock_wait_ms_max', 't'), '>=', $passed, '... at once');
is(stat_of('commits', 't'), '8', '... both count');

# waits that end in an error
held('after-swap', 'INSERT INTO u VALUES (30, 0);');
do_sql($third, "SET lock_timeout = '80ms';");
$before = stat_of('lock_wait_ms_total', 'u');
like(do_sql($third, 'INSERT INTO u VALUES (31, 0);'), qr/55P03/, 'a wait that is given up');
cmp_ok(stat_of('lock_wait_ms_total', 'u') - $before, '>=', 80, '... counts as well');
is(let_go(), '', '... and the other one commits');
do_sql($session, "BEGIN; SELECT lake.lock_table('u');");
$before = stat_of('lock_wait_ms_total', 'u');
like(do_sql($third, "SELECT lake.lock_table('u');"), qr/55P03/, "a wait for the table's lock");
cmp_ok(stat_of('lock_wait_ms_total', 'u') - $before, '>=', 80, '... counts, too');
do_sql($session, 'ROLLBACK;');

# ---- many at once ----

my $script = PostgreSQL::Test::Utils::tempdir() . '/append.sql';
spew($script, "INSERT INTO busy VALUES (:client_id, 1);\n");
$node->command_ok([ 'pgbench', '-n', '-c', '6', '-j', '2', '-t', '15',
	'-f', $script, '-d', 'postgres' ], 'six sessions append 15 times each');
is(stat_of('commits', 'busy'), $node->safe_psql('postgres', 'SELECT count(*) FROM busy'),
	'... as many commits as rows');
is(stat_of('commits', 'busy'), '90', '... which are all');
is(stat_of('commits', 'busy'), $node->safe_psql('postgres',
	"SELECT count(*) FROM lake.snapshots('busy')"), '... and as many snapshots');
cmp_ok(stat_of('rebases', 'busy'), '>=', stat_of('cas_losses', 'busy'),
	'... each lost swap made a commit anew');

# one row: whoever loses tries again, and pgbench counts how often that was
sub add_up
{
	my ($option) = @_;

	local $ENV{PGOPTIONS} = $option;
	$node->safe_psql('postgres', 'TRUNCATE busy; INSERT INTO busy VALUES (1, 0)');
	my $commits = stat_of('commits', 'busy');
	my $conflicts = stat_of('(SELECT sum(value::int) FROM jsonb_each_text(conflicts))', 'busy') || 0;
	spew($script, "UPDATE busy SET v = v + 1 WHERE id = 1;\n");
	my ($out, $err) = run_command([ 'pgbench', '-n', '-c', '4', '-j', '2', '-t', '10',
		'--max-tries', '1000', '-f', $script, '-d', $node->connstr('postgres') ]);
	my ($retries) = $out =~ /^total number of retries: (\d+)$/m;
	is($node->safe_psql('postgres', 'SELECT v FROM busy'), '40', 'no update is lost');
	is(stat_of('commits', 'busy') - $commits, 40, '... each is a commit');
	is(stat_of('(SELECT sum(value::int) FROM jsonb_each_text(conflicts))', 'busy') - $conflicts,
		$retries, '... each that was tried again a conflict');
	return $retries;
}

add_up('');
is(add_up('-c lakefdw.write_lock=on'), '0', 'with the lock there are none');

# ---- how long the pointer is locked ----

like(do_sql($session, "SET client_min_messages = debug1; INSERT INTO t VALUES (40, 0);
	RESET client_min_messages;"),
	qr/DEBUG:  00000: lake table "db\.t": commit of snapshot \d+ is ready after 1 tries; its pointer has been locked for \d+\.\d\d\d ms/,
	'DEBUG1 says how long the pointer has been locked');

# ---- databases ----

do_sql($_, '\c template1') foreach $session, $other, $third;
$node->safe_psql('template1', 'CREATE DATABASE another TEMPLATE postgres');
do_sql($_, '\c postgres') foreach $session, $other, $third;
$before = stat_of('commits', 't');
$node->safe_psql('another', 'INSERT INTO t VALUES (50, 0)');
is(stat_of('commits', 't', 'another'), '1', 'a table of that name in another database');
is(stat_of('commits', 't'), $before, '... has counters of its own');
is($node->safe_psql('another', 'SELECT count(*) FROM lake.stat_commits'), '1',
	'... and sees no others');

# ---- more tables than there are places ----

$node->safe_psql('another', q{
	INSERT INTO lake.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)
	SELECT catalog_name, table_namespace, 'many' || g, metadata_location, iceberg_type
	FROM lake.iceberg_tables, generate_series(1, 1100) g WHERE table_name = 't';
	DO $$
	BEGIN
		FOR i IN 1..1100 LOOP
			EXECUTE format('CREATE FOREIGN TABLE many%1$s (id int) SERVER lake
				OPTIONS (namespace ''db'', "table" ''many%1$s'')', i);
			PERFORM lake.lock_table('many' || i);
		END LOOP;
	END $$});
my $places = $node->safe_psql('another', 'SELECT count(*) FROM lake.stat_commits WHERE ident IS NOT NULL') +
	$node->safe_psql('postgres', 'SELECT count(*) FROM lake.stat_commits WHERE ident IS NOT NULL');
is($places, '1000', 'a thousand tables have counters');
$before = stat_of('commits', 't');
do_sql($session, 'INSERT INTO t VALUES (51, 0);');
is(stat_of('commits', 't'), $before + 1, '... who has a place keeps it');
$node->safe_psql('another', 'INSERT INTO many1100 VALUES (1)');
is($node->safe_psql('postgres', 'SELECT commits FROM lake.stat_commits WHERE ident IS NULL'),
	'1', '... and nothing is lost of who has none');

# ---- restart ----

kill 'KILL', do_sql($third, 'SELECT pg_backend_pid();');
result_of($third);
ok(wait_until($node, "NOT EXISTS (SELECT FROM lake.stat_commits)"),
	'a crash begins anew');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (60, 0)');
is(numbers('t'), 'cluster|1|0|{}|0|f|f', '... and goes on');
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(*) FROM lake.stat_commits'), '0',
	'so does a restart');
$node->stop;

# ---- without the library preloaded ----

$node = write_node('session_stats');
lake_table($node, 't');
$session = open_session($node);
$other = open_session($node);
my $query = 'SELECT scope, ident, commits, rebases, conflicts FROM lake.stat_commits;';
do_sql($session, 'INSERT INTO t SELECT g, 0 FROM generate_series(1, 3) g;');
is(do_sql($session, $query), 'backend|db.t|1|0|{}', 'a session sees its own commits');
is(do_sql($other, $query), '', '... and no others');
do_sql($session, 'BEGIN; UPDATE t SET v = 1;');
do_sql($other, 'INSERT INTO t VALUES (4, 0);');
like(do_sql($session, 'COMMIT;'), qr/40001/, 'one loses');
is(do_sql($session, $query), 'backend|db.t|1|0|{"added_rows": 1}', '... and counts the conflict');
is(do_sql($other, $query), 'backend|db.t|1|0|{}', '... the other one the commit');
do_sql($session, "LOAD 'lakefdw'; DISCARD ALL;");
is(do_sql($session, $query), 'backend|db.t|1|0|{"added_rows": 1}', 'counters stay as long as the session');

done_testing();
