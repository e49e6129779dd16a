# A statement that is cancelled ends at once, whatever it is doing inside of the
# scan: the aim is 100 ms, a test on a busy machine asks for less than 2 s.
use strict;
use warnings;
use Lake;
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $dir = lake_copy();
my $leaf = "$dir/nested/deep/leaf";
my $data = only_file("$leaf/data/*.parquet");
my $manifest = only_file("$leaf/metadata/*-m0.avro");
my $list = only_file("$leaf/metadata/snap-*.avro");
my $slowest = 0;

# ---- files that keep a scan busy ----

# Thrift's compact protocol: [id, type, value]..., in the order of their ids
sub thrift
{
	my $out = '';
	my $last = 0;

	foreach my $field (@_)
	{
		my ($id, $type, $value) = @$field;
		$out .= chr($id - $last << 4 | { int => 5, long => 6, text => 8,
			list => 9, struct => 12 }->{$type});
		$out .= $type eq 'int' || $type eq 'long' ? zigzag($value)
			: $type eq 'text' ? varint(length $value) . $value : $value;
		$last = $id;
	}
	return $out . "\0";
}

sub structs { return chr(@_ << 4 | 12) . join('', @_); }

# A page of "rows" times the integer 1, plain (encoding 0), or as one run of a
# dictionary's code (8) after the dictionary.
sub page
{
	my ($rows, $encoding) = @_;
	my $dictionary = pack 'l<', 1;
	# width 1, one run of zeros
	my $values = $encoding == 8 ? "\1" . varint($rows << 1) . "\0"
		: $dictionary x $rows;
	my $head = thrift([ 1, int => 0 ], [ 2, int => length $values ],
		[ 3, int => length $values ],
		[ 5, struct => thrift([ 1, int => $rows ], [ 2, int => $encoding ],
			[ 3, int => 3 ], [ 4, int => 3 ]) ]);

	return $head . $values if $encoding == 0;
	return (thrift([ 1, int => 2 ], [ 2, int => 4 ], [ 3, int => 4 ],
		[ 7, struct => thrift([ 1, int => 1 ], [ 2, int => 0 ]) ]) .
		$dictionary, $head . $values);
}

# a Parquet file of one column "id" and one row group, out of its pages
sub parquet
{
	my ($rows, $dictionary, $pages) = @_;
	my $start = 4 + length $dictionary;
	my @chunk = ([ 1, int => 1 ], [ 2, list => "\x25" . zigzag(0) . zigzag(8) ],
		[ 3, list => "\x18\x02id" ], [ 4, int => 0 ], [ 5, long => $rows ],
		[ 6, long => length($dictionary) + length $pages ],
		[ 7, long => length($dictionary) + length $pages ],
		[ 9, long => $start ]);
	push @chunk, [ 11, long => 4 ] if length $dictionary;
	my $footer = thrift([ 1, int => 1 ],
		[ 2, list => structs(
			thrift([ 4, text => 'table' ], [ 5, int => 1 ]),
			thrift([ 1, int => 1 ], [ 3, int => 0 ], [ 4, text => 'id' ],
				[ 9, int => 1 ])) ],
		[ 3, long => $rows ],
		[ 4, list => structs(thrift(
			[ 1, list => structs(thrift([ 2, long => 0 ],
				[ 3, struct => thrift(@chunk) ])) ],
			[ 2, long => length $pages ], [ 3, long => $rows ])) ]);

	return "PAR1$dictionary$pages$footer" . pack('V', length $footer) . 'PAR1';
}

# ---- the tests ----

my $node = lake_node('cancel');
$node->safe_psql('postgres', import_lake($dir, 'nested.deep', 'shop'));

# begins the statement, lets it work and cancels it
sub is_cancelled
{
	my ($name, $sql) = @_;
	my $session = begin_sql($node, 'victim', $sql);
	my $began;

	sleep 0.3;
	$began = time;
	is($node->safe_psql('postgres', "SELECT pg_cancel_backend(pid)
		FROM pg_stat_activity WHERE query LIKE '/* victim */%'
			AND leader_pid IS NULL"), 't',
		"$name: still at work");
	like(finish_sql($session), qr/canceling statement due to user request/,
		"$name: is cancelled");
	my $took = time - $began;
	note sprintf('%s: %.0f ms, with the session that asks for it',
		$name, 1000 * $took);
	cmp_ok($took, '<', 2, "$name: at once");
	return;
}

# Ends by its timeout of 300 ms; afterwards its session goes on.  The session's
# own clock is the exact measure.
sub times_out
{
	my ($name, $sql) = @_;
	my $clock = 'SELECT 1000 * extract(epoch FROM clock_timestamp())';
	my ($out, $err);

	$node->psql('postgres', "SET statement_timeout = '300ms'; $clock; $sql;
		$clock; RESET statement_timeout;
		SELECT 'goes on', count(*) FROM shop.events",
		on_error_stop => 0, stdout => \$out, stderr => \$err);
	like($err, qr/canceling statement due to statement timeout/,
		"$name: times out");
	like($out, qr/^goes on\|432$/m, "$name: the session goes on");
	my ($began, $ended) = split /\n/, $out;
	my $took = $ended - $began - 300;
	$slowest = max($slowest, $took);
	note sprintf('%s: %.0f ms after the timeout', $name, $took);
	cmp_ok($took, '<', 2000, "$name: at once");
	return;
}

sub both
{
	my ($name, $sql) = @_;

	is_cancelled($name, $sql);
	times_out($name, $sql);
	return;
}

my $good = slurp($data);

# 20 pages of 2 billion rows in one run each; the manifest still bounds them by
# 1 and 2, and without a cancel they would take longer than the limit
my ($dictionary, $page) = page(2000000000, 8);
spew($data, parquet(40000000000, $dictionary, $page x 20));
is($node->safe_psql('postgres',
		'SELECT count(*) FROM (SELECT id FROM deep.leaf WHERE id = 1 LIMIT 9) l'),
	9, 'the file of a long run is read');
both('rows for an aggregate', 'SELECT sum(id) FROM deep.leaf');
both('rows that the scan removes', 'SELECT id FROM deep.leaf WHERE id > 1');
both('rows that a filter above removes',
	'SELECT id FROM deep.leaf WHERE id % 7 = 3');
both('rows that are passed over',
	'SELECT id FROM deep.leaf OFFSET 39999999999');
both('the inner side of a join', 'SELECT count(*) FROM shop.events e, LATERAL
	(SELECT id FROM deep.leaf WHERE id > 1 + 0 * e.id) l');

# a table by many names
mkdir "$dir/many" or BAIL_OUT("many: $!");
symlink $leaf, "$dir/many/t$_" or BAIL_OUT("t$_: $!") for 1 .. 3000;
both('an import', 'IMPORT FOREIGN SCHEMA many FROM SERVER lake INTO public');

# pages of 40 MB each, all of which has to be read
my $plain = page(10000000, 0);
spew($data, parquet(80000000, '', $plain x 8));
both('large pages', 'SELECT sum(id) FROM deep.leaf');
spew($data, $good);

# the same small file 300,000 times
my $entry = slurp($manifest);
my $listed = slurp($list);
spew($manifest, repeat_records($entry, 300000));
is($node->safe_psql('postgres', 'SELECT count(id) FROM
		(SELECT id FROM deep.leaf LIMIT 9) l'), 9,
	'the manifest of many files is read');
both('many files', 'SELECT sum(id) FROM deep.leaf');
# the workers end with their leader
both('many files by several processes', 'SET parallel_setup_cost = 0;
	SET min_parallel_table_scan_size = 0; SELECT sum(id) FROM deep.leaf');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'parallel worker'"), 0, 'no worker is left');
both('lookups among many files', 'SET enable_hashjoin = off;
	SET enable_mergejoin = off; SELECT count(*) FROM generate_series(1, 9) g
	LEFT JOIN deep.leaf ON id = g % 3');
# of the rows that the manifest counts: two in each file
both('a sample', 'ANALYZE deep.leaf');
both('many files without a row',
	'SELECT id FROM deep.leaf WHERE id + 0 = 7 AND id <> 1');
# 3 million times, and 60 million times where none of them is kept
spew($list, repeat_records($listed, 10));
both('planning', 'EXPLAIN SELECT id FROM deep.leaf');
spew($list, repeat_records($listed, 200));
both('planning with a condition', 'SELECT id FROM deep.leaf WHERE id > 5');
both('estimating', 'EXPLAIN SELECT id FROM deep.leaf WHERE id > 5');
spew($list, $listed);
spew($manifest, $entry);

is($node->safe_psql('postgres', 'SELECT sum(id) FROM deep.leaf'), 3,
	'the table is well again');
note sprintf('the slowest: %.0f ms after the timeout', $slowest);
$node->stop;
done_testing();
