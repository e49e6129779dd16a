# A hot standby reads hosted tables as of what it has replayed: pins hold while
# the pointer moves, versions and metadata are read, and nothing is written.
use strict;
use warnings;
use IPC::Run;
use Lake;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = lake_copy();
my $primary = PostgreSQL::Test::Cluster->new('primary');

$primary->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C' ]);
$primary->start;
$primary->safe_psql('postgres', qq{
	CREATE EXTENSION lakefdw;
	CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw
		OPTIONS (warehouse '$dir', path_map 'file:///srv/lake=$dir');
	SELECT lake.register_table('hosted', 'shop.orders',
		'file:///srv/lake/shop/orders/metadata/v2.metadata.json');
	CREATE FOREIGN TABLE orders () SERVER hosted OPTIONS (namespace 'shop', "table" 'orders');
	CREATE TABLE expected AS SELECT 1000 AS rows;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $together = q{SELECT count(id) = (SELECT rows FROM expected), count(id) FROM orders};

sub move
{
	my ($version, $rows) = @_;

	$primary->safe_psql('postgres', qq{BEGIN;
		UPDATE lake.iceberg_tables SET metadata_location =
			regexp_replace(metadata_location, 'v\\d', 'v$version');
		UPDATE expected SET rows = $rows;
		COMMIT;});
	$primary->wait_for_catchup($standby);
}

$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $together), 't|1000', 'reads what was there');

# a transaction of the standby, before and after the replay of a commit
my ($in, $held) = ('', '');
my $session = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $standby->connstr('postgres'), '-f', '-' ],
	'<', \$in, '>', \$held, '2>&1', IPC::Run::timeout(60));
$in = q{BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT 'before ' || count(id) FROM orders;
};
$session->pump until $held =~ /before \d+\n/ || $held =~ /ERROR/;
move(3, 916);
is($standby->safe_psql('postgres', $together), 't|916',
	'a new statement sees what was replayed, lake and local together');
$in = q{SELECT 'after ' || count(id) || '|' || (SELECT rows FROM expected) FROM orders;
	SELECT 'pin ' || scope FROM lake.pins();
	COMMIT;
	SELECT 'then ' || count(id) FROM orders;
};
$session->finish;
like($held, qr/before 1000/, 'the transaction has read the old version');
like($held, qr/after 1000\|1000/, 'and keeps it while a commit is replayed');
like($held, qr/pin transaction/, 'as lake.pins shows');
like($held, qr/then 916/, 'until it ends');

is($standby->safe_psql('postgres', q{SELECT count(*) FROM lake.at(NULL::orders, snapshot =>
	(SELECT snapshot_id FROM lake.snapshots('orders') WHERE parent_id IS NULL))}), 1000,
	'versions are read');
is($standby->safe_psql('postgres', q{SELECT count(*), (SELECT count(*) FROM lake.files('orders')) > 0
	FROM lake.history('orders')}), '2|t', 'metadata is read');
foreach my $write (q{SELECT lake.register_table('hosted', 'a.b', 'file:///srv/lake/x')},
	q{UPDATE lake.iceberg_tables SET table_name = 'x'})
{
	my ($status, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\n$write");

	like($err, qr/25006/, 'refused on a standby: ' . substr($write, 0, 30));
}

$standby->promote;
is($standby->safe_psql('postgres', q{UPDATE lake.iceberg_tables SET metadata_location =
		regexp_replace(metadata_location, 'v\d', 'v5');
	SELECT count(id) FROM orders}), 1016, 'a promoted standby moves its pointer');
is($primary->safe_psql('postgres', $together), 't|916', 'and not the former primary\'s');

done_testing();
