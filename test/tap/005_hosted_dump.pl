# A database with a hosted catalog is dumped and restored with its pointers, and
# an update from the first version leaves what a fresh installation has.
use strict;
use warnings;
use Lake;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = lake_copy();
my $node = lake_node('hosted');
my $v3 = 'file:///srv/lake/shop/orders/metadata/v3.metadata.json';
my $v5 = 'file:///srv/lake/shop/orders/metadata/v5.metadata.json';

$node->safe_psql('postgres', qq{
	CREATE EXTENSION lakefdw;
	CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw
		OPTIONS (warehouse '$dir', path_map 'file:///srv/lake=$dir');
	SELECT lake.register_table('hosted', 'shop.orders', '$v5');
	CREATE SCHEMA shop;
	IMPORT FOREIGN SCHEMA shop FROM SERVER hosted INTO shop;
	CREATE FOREIGN TABLE shop.tagged () SERVER hosted
		OPTIONS (namespace 'shop', "table" 'orders', ref 'main');
	CREATE VIEW shop.first AS SELECT * FROM lake.at(NULL::shop.orders,
		as_of => (SELECT min(made_current_at) FROM lake.history('shop.orders')));
	CREATE MATERIALIZED VIEW shop.counted AS SELECT status, count(*) FROM shop.first GROUP BY 1;
});
my $rows = q{SELECT (SELECT count(*) FROM shop.orders), (SELECT count(*) FROM shop.tagged),
	(SELECT count(*) FROM shop.first), (SELECT count(*) FROM shop.counted),
	(SELECT string_agg(metadata_location, ',') FROM lake.iceberg_tables),
	(SELECT string_agg(namespace || property_key, ',') FROM lake.iceberg_namespace_properties)};
my $expected = $node->safe_psql('postgres', $rows);
like($expected, qr/^1016\|1016\|1000\|4\|/, 'rows before the dump');

foreach my $format ('plain', 'custom')
{
	my $file = PostgreSQL::Test::Utils::tempdir() . "/$format";

	$node->command_ok([ 'pg_dump', '-F', $format, '-f', $file, '-d',
			$node->connstr('postgres') ], "dumps, $format");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$format");
	$node->command_ok($format eq 'plain' ?
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, '-d',
			$node->connstr("restored_$format") ] :
		[ 'pg_restore', '-e', '-d', $node->connstr("restored_$format"), $file ],
		"restores, $format");
	is($node->safe_psql("restored_$format", $rows), $expected,
		"the same rows and pointers, $format");
	# the copy's pointer is its own
	$node->safe_psql("restored_$format",
		"UPDATE lake.iceberg_tables SET metadata_location = '$v3'");
	is($node->safe_psql("restored_$format", 'SELECT count(*) FROM shop.orders'),
		916, "the restored catalog moves, $format");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM shop.orders'), 1016,
	'and the original does not');

# objects of the extension: what, definition, rights, comment
my $objects = q{SELECT pg_describe_object(d.classid, d.objid, 0) AS object,
	coalesce(obj_description(d.objid, d.classid::regclass::text::name), '-'),
	coalesce(pg_get_functiondef(p.oid), ''), coalesce(p.proacl::text, ''),
	coalesce(c.relacl::text, ''), coalesce(c.reloptions::text, '')
	FROM pg_depend d LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
	LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND
	d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'lakefdw')
	ORDER BY 1};
my $columns = q{SELECT a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod),
	a.attnotnull, a.attcollation, col_description(a.attrelid, a.attnum)
	FROM pg_attribute a WHERE a.attnum > 0 AND
	a.attrelid IN ('lake.iceberg_tables'::regclass, 'lake.iceberg_namespace_properties'::regclass)
	ORDER BY a.attrelid::regclass::text, a.attnum};
my $config = q{SELECT array_length(extconfig, 1), extcondition FROM pg_extension WHERE extname = 'lakefdw'};

$node->safe_psql('postgres', 'CREATE DATABASE updated; ');
$node->safe_psql('updated', qq{
	CREATE EXTENSION lakefdw VERSION '0.1.0';
	CREATE SERVER old FOREIGN DATA WRAPPER lakefdw
		OPTIONS (catalog 'file', warehouse '$dir', path_map 'file:///srv/lake=$dir');
	CREATE FOREIGN TABLE orders () SERVER old OPTIONS (namespace 'shop', "table" 'orders');
});
is($node->safe_psql('updated', 'SELECT count(*) FROM orders'), 1016,
	'objects of the first version serve the library of this one');
$node->safe_psql('updated', 'ALTER EXTENSION lakefdw UPDATE');
is($node->safe_psql('updated', q{SELECT count(*) FROM lake.at(NULL::orders, ref => 'end-of-week')}),
	1016, 'and the update brings what is new');
foreach my $query ($objects, $columns, $config)
{
	my $fresh = $node->safe_psql('postgres', $query);

	isnt($fresh, '', 'there are objects');
	is($node->safe_psql('updated', $query), $fresh,
		'updated and fresh are the same');
}

done_testing();
