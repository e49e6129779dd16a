# Whatever ends a transaction, wherever it is: the table's pointer names a
# complete snapshot, lake and local tables agree, nothing committed is missing,
# nothing aborted is there, and the next commit works.
#
# Each transaction also writes its number into a local table, which so says what
# each lake table must hold.  All kinds of writes are held at the same place, and
# ended at the same time.
use strict;
use warnings;
use Lake;
use LakeWrite;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = write_node('crash', stop_points => 1, settings => [
	'max_wal_senders = 4', 'wal_level = replica', 'autovacuum = off',
	'restart_after_crash = on' ]);
my $number = 0;

# ---- the kinds of writes ----

my $cow = { map { +"write.$_.mode" => 'copy-on-write' } 'update', 'delete' };
my $mor = { map { +"write.$_.mode" => 'merge-on-read' } 'update', 'delete' };
lake_table($node, 'added');
lake_table($node, 'cow', properties => $cow);
lake_table($node, 'mor', properties => $mor);
lake_table($node, 'vectors', properties => $mor, version => 3);
lake_table($node, 'emptied');
lake_table($node, 'spilled', columns => [ id => 'int', t => 'string' ]);
lake_table($node, $_) foreach 'from_lake', 'to_lake';
$node->safe_psql('postgres', "CREATE TABLE log (n int, kind text);
	CREATE TABLE account (id int, v int); CREATE TABLE noise (n int)");
$node->safe_psql('postgres', "
	INSERT INTO $_ SELECT g, 0 FROM generate_series(1, 50) g")
	foreach 'cow', 'mor', 'vectors', 'from_lake', 'to_lake', 'account';

# n is the transaction's number
my %kinds = (
	added => 'INSERT INTO added SELECT n, g FROM generate_series(1, 3) g',
	cow => 'UPDATE cow SET v = n WHERE id % 2 = 0',
	mor => 'UPDATE mor SET v = n WHERE id > 0 AND id % 7 = 0;
		INSERT INTO mor VALUES (-n, n)',
	vectors => 'UPDATE vectors SET v = n WHERE id % 7 = 0',
	emptied => 'TRUNCATE emptied; INSERT INTO emptied VALUES (n, n)',
	spilled => "SET LOCAL lakefdw.write_memory = '1MB';
		INSERT INTO spilled SELECT n, repeat(md5(g::text), 40) FROM generate_series(1, 1200) g",
	transfer => 'UPDATE from_lake SET v = v - 2 WHERE id = 1;
		UPDATE to_lake SET v = v + 1 WHERE id = 1;
		UPDATE account SET v = v + 1 WHERE id = 1');

# each: the lake table is what the log says
my $agree = q{SELECT concat_ws(' ',
	CASE WHEN (SELECT array_agg((id, v) ORDER BY id, v) FROM added) IS DISTINCT FROM
		(SELECT array_agg((n, g) ORDER BY n, g) FROM log, generate_series(1, 3) g
		WHERE kind = 'added') THEN 'added' END,
	CASE WHEN (SELECT array_agg((id, v) ORDER BY id) FROM cow) IS DISTINCT FROM
		(SELECT array_agg((g, CASE WHEN g % 2 = 0 THEN n ELSE 0 END) ORDER BY g)
		FROM generate_series(1, 50) g, (SELECT coalesce(max(n), 0) n FROM log
		WHERE kind = 'cow') l) THEN 'cow' END,
	CASE WHEN (SELECT array_agg((id, v) ORDER BY id) FROM mor) IS DISTINCT FROM
		(SELECT array_agg((g, v) ORDER BY g) FROM (SELECT g, CASE WHEN g % 7 = 0 THEN n
		ELSE 0 END v FROM generate_series(1, 50) g, (SELECT coalesce(max(n), 0) n
		FROM log WHERE kind = 'mor') l UNION ALL SELECT -n, n FROM log
		WHERE kind = 'mor') x) THEN 'mor' END,
	CASE WHEN (SELECT array_agg((id, v) ORDER BY id) FROM vectors) IS DISTINCT FROM
		(SELECT array_agg((g, CASE WHEN g % 7 = 0 THEN n ELSE 0 END) ORDER BY g)
		FROM generate_series(1, 50) g, (SELECT coalesce(max(n), 0) n FROM log
		WHERE kind = 'vectors') l) THEN 'vectors' END,
	CASE WHEN (SELECT array_agg((id, v)) FROM emptied) IS DISTINCT FROM
		(SELECT array_agg((n, n)) FROM (SELECT max(n) n FROM log
		WHERE kind = 'emptied') l WHERE n IS NOT NULL) THEN 'emptied' END,
	CASE WHEN (SELECT array_agg((id, c) ORDER BY id) FROM (SELECT id, count(*) c
		FROM spilled GROUP BY id) s) IS DISTINCT FROM (SELECT array_agg((n,
		1200::bigint) ORDER BY n) FROM log WHERE kind = 'spilled') THEN 'spilled' END,
	CASE WHEN (SELECT (count(*), sum(v)) FROM from_lake) IS DISTINCT FROM
		(SELECT (50::bigint, -2 * count(*)) FROM log WHERE kind = 'transfer')
		THEN 'from_lake' END,
	CASE WHEN (SELECT (count(*), sum(v)) FROM to_lake) IS DISTINCT FROM
		(SELECT (50::bigint, count(*)) FROM log WHERE kind = 'transfer')
		THEN 'to_lake' END,
	CASE WHEN (SELECT sum(v) FROM account) IS DISTINCT FROM
		(SELECT count(*) FROM log WHERE kind = 'transfer') THEN 'account' END)};

my @tables = ('added', 'cow', 'mor', 'vectors', 'emptied', 'spilled',
	'from_lake', 'to_lake');

sub transaction
{
	my ($kind, $more) = @_;
	my $sql = $kinds{$kind} =~ s/\bn\b/$number/gr;

	return "BEGIN; INSERT INTO log VALUES ($number, '$kind'); $sql; $more COMMIT;";
}

# ---- where and how ----

# each kind's session, held at a place; and what holds them
sub hold
{
	my ($place) = @_;
	my $holder = open_session($node);
	my @sessions;
	my %also = (setting => '', within => '');

	if ($place eq 'before-commit-record')
	{
		# who notifies waits, after our callback, for others who do
		do_sql($holder, "SET synchronous_commit = 'on';");
		$also{within} = 'NOTIFY place;';
	}
	elsif ($place eq 'after-commit-record')
	{
		$also{setting} = "SET synchronous_commit = 'on';";
	}
	else
	{
		do_sql($holder, "SELECT pg_advisory_lock(hashtext('$place'));");
		$also{setting} = "SET lakefdw.stop_point = '$place';";
	}
	foreach my $kind (sort keys %kinds)
	{
		push @sessions, open_session($node, "
			SET synchronous_commit = 'local'; $also{setting}");
	}
	if ($place =~ /commit-record/)
	{
		$node->safe_psql('postgres', "SET synchronous_commit = 'local';
			ALTER SYSTEM SET synchronous_standby_names = 'nobody';
			SELECT pg_reload_conf()");
		wait_until($node, "current_setting('synchronous_standby_names') = 'nobody'");
		send_sql($holder, 'BEGIN; INSERT INTO noise VALUES (1); NOTIFY place; COMMIT;') if $also{within};
		wait_blocked($node, $holder) if $also{within};
	}
	$number++;
	my $at = 0;
	send_sql($sessions[$at++], transaction($_, $also{within}))
		foreach sort keys %kinds;
	ok(wait_blocked($node, @sessions), "all are held $place");
	return ($holder, @sessions);
}

sub let_go
{
	my ($place, $holder) = @_;

	if ($place =~ /commit-record/)
	{
		$node->safe_psql('postgres', "SET synchronous_commit = 'local';
			ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()");
		wait_until($node, "current_setting('synchronous_standby_names') = ''");
	}
	send_sql($holder, 'SELECT pg_advisory_unlock_all();');
	return;
}

my %ends = (
	'kill -9' => sub {
		kill 'KILL', map { $_->{pid} } @_;
		result_of($_) foreach @_;
	},
	'stop immediate' => sub {
		$node->stop('immediate');
		$node->start;
	},
	terminate => sub {
		$node->safe_psql('postgres', 'SELECT ' .
			join(',', map { "pg_terminate_backend($_->{pid})" } @_));
		result_of($_) foreach @_;
	},
	cancel => sub {
		$node->safe_psql('postgres', 'SELECT ' .
			join(',', map { "pg_cancel_backend($_->{pid})" } @_));
		$_->{said} = result_of($_) foreach @_;
	});

foreach my $place ('before-put', 'after-put', 'before-swap', 'after-swap',
	'before-commit-record', 'after-commit-record')
{
	foreach my $end ('cancel', 'terminate', 'kill -9', 'stop immediate')
	{
		my $name = "$end, $place";
		my %files = map { $_ => scalar all_files($node, $_) } @tables;
		my %temporary = map { $_ => scalar temporary_files($node, $_) } @tables;
		my ($holder, @sessions) = hold($place);
		my $is_durable = $place eq 'after-commit-record';

		$ends{$end}->(@sessions);
		wait_until($node, 'true');
		let_go($place, $holder);
		is($node->safe_psql('postgres', "SELECT count(*) FROM log
			WHERE n = $number"), $is_durable ? scalar keys %kinds : 0,
			"$name: " . ($is_durable ? 'all are committed' : 'none is committed'));
		is($node->safe_psql('postgres', $agree), '',
			'... and lake tables agree with local ones');
		is(damage_of($node, @tables), '', '... and are complete');
		if ($end eq 'cancel' && !$is_durable)
		{
			is(join(' ', map { scalar all_files($node, $_) - $files{$_} } @tables),
				'0 0 0 0 0 0 0 0', '... with no file more');
			is(scalar(grep { $_->{said} =~ /ERROR:  57014/ } @sessions),
				scalar @sessions, '... and 57014 for each');
		}
		is(join(' ', map { scalar temporary_files($node, $_) - $temporary{$_} } @tables),
			'0 0 0 0 0 0 0 0', '... with no temporary file more')
			if $end eq 'terminate' || $end eq 'cancel';
		$number++;
		$node->safe_psql('postgres', transaction($_, '')) foreach sort keys %kinds;
		is($node->safe_psql('postgres', $agree), '', '... the next commits work');
		is(damage_of($node, @tables), '', '... and complete tables');
		$_->{handle}->kill_kill foreach @sessions, $holder;
	}
}
is(join('', map { damage_of_history($node, $_) } @tables), '',
	'every snapshot can be read');
cmp_ok(scalar(grep { /\.tmp$/ } map { all_files($node, $_) } @tables), '>', 0,
	'kills have left temporary files, which nobody took for data');
$node->stop;
done_testing();
