# A hosted catalog in a database of another encoding: names of tables, refs and
# locations are UTF-8 for other engines, and the database's own here.
use strict;
use warnings;
use utf8;
use Lake;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = lake_copy();
my $node = lake_node('encoding');
my $metadata = "$dir/cases/refs/metadata";

# a ref with a name that LATIN1 has, and one that it has not
my $json = slurp("$metadata/v6.metadata.json");
$json =~ s/"audit":/"\x{c3}\x{a9}t\x{c3}\x{a9}":/ or die 'no ref audit';
spew("$metadata/v7.metadata.json", $json);
$json =~ s/"v1":/"\x{e2}\x{82}\x{ac}":/ or die 'no ref v1';
spew("$metadata/v8.metadata.json", $json);

sub answer
{
	my ($database, $sql) = @_;
	my ($out, $err);

	$node->psql($database, "SET client_encoding = 'UTF8';\n$sql", stdout => \$out,
		stderr => \$err);
	return $err ne '' ? $err : $out;
}

foreach my $encoding ('UTF8', 'LATIN1')
{
	my $name = lc $encoding;

	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0
		ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql($name, qq{
		CREATE EXTENSION lakefdw;
		CREATE SERVER hosted FOREIGN DATA WRAPPER lakefdw
			OPTIONS (warehouse '$dir', path_map 'file:///srv/lake=$dir');});
	like(answer($name, "SELECT count(*) FROM lake.register_table('hosted', 'fa\x{c3}\x{a7}ade.\x{c3}\x{a9}t\x{c3}\x{a9}',
			'file:///srv/lake/cases/refs/metadata/v7.metadata.json')"), qr/^1$/,
		"$encoding: registers a name");
	is(answer($name, qq{CREATE SCHEMA s;
		IMPORT FOREIGN SCHEMA "fa\x{c3}\x{a7}ade" FROM SERVER hosted INTO s;
		SELECT count(id) FROM s."\x{c3}\x{a9}t\x{c3}\x{a9}"}), '2', "$encoding: imports and reads it");
	is(answer($name, qq{SELECT octet_length(table_name) FROM lake.iceberg_tables}),
		$encoding eq 'UTF8' ? 5 : 3, "$encoding: the row is in the database's encoding");
	is(answer($name, qq{SELECT count(id) FROM lake.at(NULL::s."\x{c3}\x{a9}t\x{c3}\x{a9}", ref => '\x{c3}\x{a9}t\x{c3}\x{a9}')}),
		'2', "$encoding: a ref is found by its name");
	is(answer($name, qq{SELECT string_agg(name, ',' ORDER BY type, name COLLATE "C") FROM lake.refs('s."\x{c3}\x{a9}t\x{c3}\x{a9}"')}),
		"main,\x{c3}\x{a9}t\x{c3}\x{a9},v1", "$encoding: refs are shown");
	answer($name, "UPDATE lake.iceberg_tables SET metadata_location = replace(metadata_location, 'v7', 'v8')");
	is(answer($name, qq{SELECT count(id) FROM s."\x{c3}\x{a9}t\x{c3}\x{a9}"}), '2',
		"$encoding: a ref that is not asked for does not matter");
	like(answer($name, qq{SELECT name FROM lake.refs('s."\x{c3}\x{a9}t\x{c3}\x{a9}"') WHERE type = 'TAG'}),
		$encoding eq 'UTF8' ? qr/^\x{e2}\x{82}\x{ac}$/ : qr/has no equivalent in encoding "LATIN1"/,
		"$encoding: one that it cannot show is an error");
}

done_testing();
