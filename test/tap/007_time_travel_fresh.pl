# Versions in sessions that have not loaded the library: lake.at is called as a
# function first and planned as a table afterwards, lakefdw.as_of is a
# placeholder first; prepared statements and views outlive what they were made on.
use strict;
use warnings;
use Lake;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = lake_copy();
my $node = lake_node('travel');
$node->safe_psql('postgres', import_lake($dir, 'shop', 'cases'));
my $first = $node->safe_psql('postgres',
	q{SELECT snapshot_id FROM lake.snapshots('shop.orders') WHERE parent_id IS NULL});
my $time = $node->safe_psql('postgres',
	q{SELECT committed_at FROM lake.snapshots('shop.orders') WHERE parent_id IS NULL});
my $plan = "EXPLAIN (COSTS off) SELECT id FROM lake.at(NULL::shop.orders, snapshot => $first)";

sub outcome
{
	my ($sql, %params) = @_;
	my ($out, $err);

	$node->psql($params{database} // 'postgres', $sql, stdout => \$out,
		stderr => \$err, connstr => $params{connstr},
		extra_params => $params{extra} // []);
	return $err ne '' ? $err : $out;
}

# the first statement of a session
foreach my $case (
	[ "SELECT count(*), sum(amount) FROM lake.at(NULL::shop.orders, snapshot => $first)",
		qr/^1000\|241085\.00$/ ],
	[ "SELECT count(*) FROM lake.at(NULL::shop.orders, as_of => '$time')", qr/^1000$/ ],
	[ "SELECT count(*) FROM lake.at(NULL::shop.orders, ref => 'end-of-week') WHERE id > 1000",
		qr/^100$/ ],
	[ "SELECT count(*) FROM lake.at(NULL::shop.orders, ref => 'main') a JOIN
		lake.at(NULL::shop.orders, snapshot => $first) b USING (id)", qr/^916$/ ],
	[ "SELECT count(*) FROM (VALUES ($first)) v(s), lake.at(NULL::shop.orders, snapshot => v.s)",
		qr/^1000$/ ],
	[ 'SELECT count(*) FROM lake.at(NULL::shop.orders)', qr/needs one of/ ],
	[ "SELECT count(*) FROM lake.at(NULL::shop.orders, snapshot => $first, ref => 'main')",
		qr/takes only one/ ],
	[ 'SELECT count(*) FROM lake.at(NULL::shop.orders, snapshot => (SELECT NULL::bigint))',
		qr/needs one of/ ],
	[ "SELECT count(*) FROM lake.at(NULL::pg_class, ref => 'main')", qr/not a lake table/ ],
	[ "SELECT count(*) FROM lake.at(NULL::shop.orders, ref => 'nothing')",
		qr/branch or tag "nothing" does not exist/ ])
{
	like(outcome($case->[0]), $case->[1], "first: $case->[0]");
}

# the same session: a function first, then a table
like(outcome($plan), qr/Function Scan on at/, 'a first plan calls the function');
like(outcome("SELECT count(*) FROM lake.at(NULL::shop.orders, snapshot => $first); $plan"),
	qr/^1000\nForeign Scan on orders.*Snapshot Id: $first/s, 'later ones scan the table');
# rows of a transaction's snapshot, and a cursor over the function's rows
like(outcome("BEGIN ISOLATION LEVEL REPEATABLE READ;
	DECLARE c CURSOR FOR SELECT id FROM lake.at(NULL::shop.orders, snapshot => $first);
	MOVE 999 FROM c; FETCH 2 FROM c; COMMIT"), qr/^\d+$/, 'a cursor over the function');
# attributes dropped here, in the function's rows
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE narrow () SERVER lake OPTIONS (namespace 'shop', "table" 'products');
	ALTER FOREIGN TABLE narrow DROP COLUMN price;
	CREATE SCHEMA "odd ""name"; CREATE FOREIGN TABLE "odd ""name"."Ta ble" ("I d" bigint OPTIONS (column_name 'id'))
		SERVER lake OPTIONS (namespace 'shop', "table" 'orders')});
is(outcome(q{SELECT * FROM lake.at(NULL::narrow, ref => 'main') WHERE title = 'easel'}),
	'E-5|easel|12|{}', 'dropped attributes');
is(outcome(q{SELECT max("I d") FROM lake.at(NULL::"odd ""name"."Ta ble", ref => 'main')}),
	'1100', 'names that need quotes');

# a statement prepared before the library was there goes on, through DDL
is(outcome("PREPARE p(bigint) AS SELECT count(*), max(id) FROM lake.at(NULL::shop.orders, snapshot => \$1);
	SET plan_cache_mode = force_generic_plan; EXECUTE p($first);
	ALTER FOREIGN TABLE shop.orders ADD COLUMN _file text; EXECUTE p($first);
	ALTER FOREIGN TABLE shop.orders DROP COLUMN _file; EXECUTE p($first)"),
	join("\n", ('1000|1000') x 3), 'prepared before, executed after');

# rights of the user, as the function has no other
$node->safe_psql('postgres', q{
	CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA shop TO reader;
	CREATE VIEW seen AS SELECT id FROM lake.at(NULL::shop.orders, ref => 'main');
	GRANT SELECT ON seen TO reader});
my $as_reader = $node->connstr('postgres') . ' user=reader';
like(outcome("SELECT count(*) FROM lake.at(NULL::shop.orders, snapshot => $first)",
		connstr => $as_reader), qr/permission denied for foreign table orders/,
	'no grant, called as a function');
like(outcome('SELECT count(*) FROM seen', connstr => $as_reader),
	qr/permission denied/, 'a view called as a function: the user\'s rights');
$node->safe_psql('postgres', "ALTER ROLE reader SET session_preload_libraries = 'lakefdw'");
is(outcome('SELECT count(*) FROM seen', connstr => $as_reader), '1016',
	'with the library loaded first: the owner\'s');

# lakefdw.as_of set before the library is loaded
sub with_options
{
	my ($options, $sql) = @_;
	local $ENV{PGOPTIONS} = $options;
	return outcome($sql);
}
my $day = $time =~ s/ /\\ /r;
is(with_options("-c lakefdw.as_of=$day", 'SELECT count(*) FROM shop.orders'),
	'1000', 'as_of by PGOPTIONS');
like(with_options('-c lakefdw.as_of=garbage', 'SELECT count(*) FROM shop.orders'),
	qr/invalid input syntax.*"garbage"/, 'garbage is an error, not today');
unlike(with_options('-c lakefdw.as_of=garbage', 'SELECT count(*) FROM shop.orders'),
	qr/^\d+$/m, '... and no rows');
is(with_options('-c lakefdw.as_of=garbage', "LOAD 'lakefdw'; SHOW lakefdw.as_of"),
	'garbage', 'the library leaves it as it is');
$node->safe_psql('postgres', "CREATE ROLE past SUPERUSER LOGIN;
	ALTER ROLE past SET lakefdw.as_of = '$time'");
my $as_past = $node->connstr('postgres') . ' user=past';
is(outcome('SELECT count(*) FROM shop.orders', connstr => $as_past), '1000',
	'as_of by ALTER ROLE');
is(outcome("SELECT count(*) FROM lake.at(NULL::shop.orders, ref => 'main')",
		connstr => $as_past), '1016', '... behind lake.at, called as a function');
is(outcome("SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SELECT count(id), sum(amount) FROM shop.orders", connstr => $as_past),
	'1000|241085.00', '... in parallel workers');
$node->safe_psql('postgres', q{ALTER ROLE past SET lakefdw.as_of = 'rubbish'});
like(outcome('SELECT count(*) FROM shop.orders', connstr => $as_past),
	qr/invalid input syntax/, 'rubbish by ALTER ROLE is an error as well');

# views, tables at a version and their options are dumped and restored
$node->safe_psql('postgres', q{
	CREATE VIEW diff AS SELECT n.id FROM shop.orders n LEFT JOIN
		lake.at(NULL::shop.orders, snapshot => } . $first . q{) o USING (id) WHERE o.id IS NULL;
	CREATE FOREIGN TABLE tagged () SERVER lake OPTIONS (namespace 'cases', "table" 'refs', ref 'v1');
	CREATE MATERIALIZED VIEW kept AS SELECT count(*) FROM lake.at(NULL::shop.orders, ref => 'end-of-week')});
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dumps');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump,
		'-d', $node->connstr('restored') ], 'restores');
foreach my $query ('SELECT count(*) FROM diff', 'SELECT * FROM tagged',
	'SELECT * FROM kept', "SELECT pg_get_viewdef('diff')")
{
	is(outcome($query, database => 'restored'), outcome($query),
		"restored: $query");
}
is(outcome('SELECT count(*) FROM diff', database => 'restored'), '100',
	'rows new since then');

$node->stop;
done_testing();
