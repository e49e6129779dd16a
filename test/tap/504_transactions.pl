# What a transaction that has written to a lake table is refused, and that
# servers of postgres_fdw do not commit what the lake's lost race undoes.
use strict;
use warnings;
use Lake;
use LakeWrite;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = write_node('transactions',
	settings => [ 'max_prepared_transactions = 4' ]);

lake_table($node, 't');
$node->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw;
	CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host \'' .
	$node->host . '\', port \'' . $node->port . '\', dbname \'postgres\');
	CREATE USER MAPPING FOR CURRENT_USER SERVER other;
	CREATE TABLE kept (n int);
	CREATE FOREIGN TABLE remote (n int) SERVER other OPTIONS (table_name \'kept\')');

# ---- refused ----

my $session = open_session($node);

foreach my $refused (
	[ 'PREPARE TRANSACTION', '0A000', "BEGIN; INSERT INTO t VALUES (1, 1);
		PREPARE TRANSACTION 'p';" ],
	[ 'READ ONLY', '25006', 'BEGIN READ ONLY; INSERT INTO t VALUES (2, 2); COMMIT;' ])
{
	my ($name, $code, $sql) = @$refused;
	my $before = pointer($node, 't');

	like(do_sql($session, $sql), qr/ERROR:  $code/, "$name is refused");
	do_sql($session, 'ROLLBACK;');
	is(pointer($node, 't'), $before, '... and the pointer stays');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, '... with no row');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), 0,
		'... and nothing prepared');
}
is(do_sql($session, "BEGIN; SELECT count(*) FROM t; PREPARE TRANSACTION 'r';
	COMMIT PREPARED 'r';"), '0', 'who has only read may PREPARE');

# ---- before other wrappers ----

my $number = 0;

foreach my $use ('INSERT INTO remote VALUES (N);',
	"COPY remote FROM STDIN;\nN\n\\.", "TRUNCATE remote;")
{
	my $racer = open_session($node);
	my $writes = $use =~ s/\bN\b/++$number/er;

	$node->safe_psql('postgres', 'TRUNCATE kept; INSERT INTO kept VALUES (0)');
	is(do_sql($racer, 'BEGIN ISOLATION LEVEL SERIALIZABLE;
		INSERT INTO t VALUES (-1, -1);'), '', 'a row is staged');
	$node->safe_psql('postgres', 'INSERT INTO t VALUES (10, 10)');
	is(do_sql($racer, $writes), '', 'then: ' . substr($use, 0, 20));
	like(do_sql($racer, 'COMMIT;'), qr/ERROR:  40001/, '... the race is lost');
	is($node->safe_psql('postgres', 'SELECT n FROM kept'), 0,
		'... and nothing of it is at the other server');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE id = -1'), 0,
		'... nor in the lake');
	$racer->{handle}->kill_kill;
}
$session->{handle}->kill_kill;
$node->stop;
done_testing();
