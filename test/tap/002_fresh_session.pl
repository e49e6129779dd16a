# Whatever the first statement of a session is, it works: the library may be
# loaded by it, by the server, or not at all.  And what pg_dump writes restores.
use strict;
use warnings;
use Lake;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = lake_copy();
my $node = lake_node('fresh');
$node->safe_psql('postgres', import_lake($dir, 'shop', 'cases'));
$node->safe_psql('postgres', q{
	CREATE VIEW statuses AS SELECT status, count(*) FROM shop.orders GROUP BY 1;
	CREATE FUNCTION counted() RETURNS bigint LANGUAGE plpgsql AS
		$$ BEGIN RETURN (SELECT count(id) FROM shop.orders); END $$});

# each statement is the first of a session of its own
sub first_statements
{
	my ($how) = @_;
	my $table = 'OPTIONS (namespace \'shop\', "table" \'products\')';
	my @cases = (
		[ 'SELECT count(*) FROM shop.events', qr/^432$/ ],
		[ 'SELECT sum(id) FROM shop.orders WHERE id < 3', qr/^3$/ ],
		[ 'EXPLAIN (COSTS off) SELECT id FROM shop.orders WHERE id < 3',
			qr/Pushed Filter: .*id < 3/ ],
		[ 'EXPLAIN SELECT count(*) FROM cases.some_nulls',
			qr/Pushed Aggregate/ ],
		[ 'SELECT count(*) > 1 FROM statuses', qr/^t$/ ],
		[ 'SELECT counted() > 1000', qr/^t$/ ],
		[ 'ANALYZE shop.orders', qr/^$/ ],
		[ 'CREATE FOREIGN TABLE own () SERVER lake ' . $table, qr/^$/ ],
		[ 'SELECT count(*) FROM own WHERE title IS NOT NULL', qr/^5$/ ],
		[ 'DROP FOREIGN TABLE own', qr/^$/ ],
		[ "IMPORT FOREIGN SCHEMA shop LIMIT TO (products) FROM SERVER lake
			INTO public", qr/^$/ ],
		[ 'SELECT count(title) FROM products', qr/^5$/ ],
		[ 'DROP FOREIGN TABLE products', qr/^$/ ],
		[ "SET lakefdw.metadata_cache = '1MB'", qr/^$/ ],
		[ "SELECT count(*) FROM pg_foreign_server WHERE srvname = 'lake'",
			qr/^1$/ ],
		[ "ALTER SERVER lake OPTIONS (SET catalog 'file')", qr/^$/ ],
		[ 'CREATE FOREIGN TABLE bare (id bigint) SERVER lake ' . $table, qr/^$/ ],
		[ 'ALTER FOREIGN TABLE bare OPTIONS (SET namespace \'cases\')', qr/^$/ ],
		[ 'DROP FOREIGN TABLE bare', qr/^$/ ]);

	foreach my $case (@cases)
	{
		my ($sql, $expected) = @$case;
		my ($out, $err);

		$node->psql('postgres', $sql, stdout => \$out, stderr => \$err);
		like($out, $expected, "$how: $sql");
		is($err, '', "$how: ... without a word");
	}
	# refused by the library's own check as well if nothing has loaded it before
	my ($out, $err);
	$node->psql('postgres', "ALTER SERVER lake OPTIONS (ADD warehose '/x')",
		stdout => \$out, stderr => \$err);
	like($err, qr/invalid option "warehose"/, "$how: a wrong option");
}
first_statements('loaded by the statement');

# an own table under the other modes of triggers
$node->safe_psql('postgres', 'SET session_replication_role = replica;
	CREATE FOREIGN TABLE replica () SERVER lake
	OPTIONS (namespace \'shop\', "table" \'products\');');
is($node->safe_psql('postgres', 'SELECT count(title) FROM replica'), 5,
	'session_replication_role = replica: the lake\'s columns are taken over');
$node->safe_psql('postgres', 'DROP FOREIGN TABLE replica');

# a parallel-minded server finds nothing to share and the same rows
is($node->safe_psql('postgres', "SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SELECT count(id) FROM shop.orders"),
	$node->safe_psql('postgres', 'SELECT counted()'), 'parallel settings');

# dump, restore, and the same rows under the same definitions
sub definitions
{
	my ($database) = @_;
	return $node->safe_psql($database, q{
		SELECT c.oid::regclass, a.attname, format_type(atttypid, atttypmod),
			a.attnotnull, a.attfdwoptions, t.ftoptions
		FROM pg_class c JOIN pg_foreign_table t ON t.ftrelid = c.oid
		LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
			AND NOT a.attisdropped
		ORDER BY c.oid::regclass::text, attnum});
}
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE kept () SERVER lake
		OPTIONS (namespace 'shop', "table" 'products');
	ALTER FOREIGN TABLE kept DROP COLUMN stock;
	ALTER FOREIGN TABLE kept RENAME COLUMN title TO heading});
my $dumps = PostgreSQL::Test::Utils::tempdir();
foreach my $format ('plain', 'custom')
{
	my $file = "$dumps/dump.$format";

	$node->safe_psql('postgres', "CREATE DATABASE restored_$format");
	$node->command_ok([ 'pg_dump', '-F', $format, '-f', $file,
			'-d', $node->connstr('postgres') ], "dumps, $format");
	rename $dir, "$dir.away" or BAIL_OUT("$dir: $!");
	$node->command_ok($format eq 'plain' ?
		[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $file,
			'-d', $node->connstr("restored_$format") ] :
		[ 'pg_restore', '-e', '-d', $node->connstr("restored_$format"), $file ],
		"restores without the lake, $format");
	rename "$dir.away", $dir or BAIL_OUT("$dir: $!");
	is(definitions("restored_$format"), definitions('postgres'),
		"the same definitions, $format");
	is($node->safe_psql("restored_$format", 'SELECT counted()'),
		$node->safe_psql('postgres', 'SELECT counted()'),
		"the same rows, $format");
	is($node->safe_psql("restored_$format", 'SELECT count(heading) FROM kept'), 5,
		"columns found by their ids, $format");
}
# the lake's data is not dumped
unlike(slurp("$dumps/dump.plain"), qr/^COPY (?!lake\.iceberg_)/m,
	'the dump holds no rows but a hosted catalog\'s');

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'lakefdw'\n");
$node->restart;
first_statements('loaded by the server');
$node->stop;
done_testing();
