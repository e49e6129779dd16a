# Files of a mapped table that go away: an error that names them, a backend
# that goes on, and no descriptor left open.
use strict;
use warnings;
use Lake;
use Test::More;

my $dir = lake_copy();
my $node = lake_node('missing');
$node->safe_psql('postgres', import_lake($dir, 'cases', 'nested.deep'));
my $static = "$dir/cases/deletion_vectors/metadata/v3.metadata.json";
$node->safe_psql('postgres', "CREATE FOREIGN TABLE static () SERVER lake
	OPTIONS (metadata_location '$static')");

# what the session of a query on that file's table says of its absence
sub answer_without
{
	my ($path, $sql) = @_;
	my ($out, $err);

	rename $path, "$path.away" or BAIL_OUT("$path: $!");
	$node->psql('postgres', "\\set VERBOSITY verbose
		$sql;
		SELECT 'goes on', count(*) FROM deep.leaf",
		on_error_stop => 0, stdout => \$out, stderr => \$err);
	rename "$path.away", $path or BAIL_OUT("$path: $!");
	like($out, qr/^goes on\|2$/m, 'the session goes on');
	return $err;
}

# id and manifest list of a version's snapshot
sub snapshot
{
	my ($t, $version) = @_;
	my ($id) = slurp("$t/metadata/v$version.metadata.json") =~
		/"current-snapshot-id":(\d+)/;

	return ($id, only_file("$t/metadata/snap-$id-*.avro"));
}

# what the current snapshots of two tables need: rows were added by version 2
my %current;
foreach my $table ('pos_deletes', 'deletion_vectors')
{
	my $t = "$dir/cases/$table";
	my ($id, $list) = snapshot($t, 4);
	my ($added) = (snapshot($t, 2))[1] =~ /-1-([0-9a-f-]+)\.avro$/;

	$current{$table} = {
		data => only_file("$t/data/*-0-00001.parquet"),
		deletes => (sort glob "$t/data/*-deletes.*")[-1],
		list => $list,
		manifest => "$t/metadata/$added-m0.avro",
		snapshot => $id
	};
}

my @cases = (
	# what, table, query, words of the message or its context
	[ 'data', 'pos_deletes', 'SELECT sum(id) FROM cases.pos_deletes' ],
	[ 'data', 'deletion_vectors', 'SELECT sum(id) FROM cases.deletion_vectors' ],
	[ 'deletes', 'pos_deletes', 'SELECT count(*) FROM cases.pos_deletes' ],
	[ 'deletes', 'deletion_vectors', 'SELECT id FROM cases.deletion_vectors' ],
	[ 'list', 'pos_deletes', 'SELECT count(*) FROM cases.pos_deletes' ],
	[ 'list', 'pos_deletes', 'EXPLAIN SELECT count(*) FROM cases.pos_deletes' ],
	[ 'manifest', 'pos_deletes', 'SELECT val FROM cases.pos_deletes' ],
	[ 'manifest', 'pos_deletes', 'EXPLAIN SELECT val FROM cases.pos_deletes' ],
	[ 'manifest', 'deletion_vectors', 'ANALYZE cases.deletion_vectors' ]);
foreach my $case (@cases)
{
	my ($what, $table, $sql) = @$case;
	my $path = $current{$table}->{$what};
	my ($name) = $path =~ m{([^/]+)$};
	my $err = answer_without($path, $sql);

	like($err, qr/ERROR:  58P01: /, "$sql without $what is 58P01");
	like($err, qr/\Q$name\E/, '... names the file');
	like($err, qr/\b$table\b/, '... and the table');
	like($err, qr/\b$current{$table}->{snapshot}\b/, '... and the snapshot')
		if $what eq 'data';
}

# a metadata file: by its name, and by the catalog, which has nothing else
like(answer_without($static, 'SELECT count(*) FROM static'),
	qr/ERROR:  58P01: .*\Q$static\E/, 'a static metadata file is 58P01');
like(answer_without("$dir/cases/pos_deletes/metadata",
		'SELECT count(*) FROM cases.pos_deletes'),
	qr/ERROR:  42P01: .*pos_deletes/, 'a table without metadata is 42P01');
like(answer_without("$dir/cases/pos_deletes/metadata/v4.metadata.json",
		'SELECT count(*) FROM cases.pos_deletes'),
	qr/^$/, 'the catalog goes back from a hint to what there is');

# everything is back: nothing remembers that it was away
is($node->safe_psql('postgres', 'SELECT count(*) FROM cases.pos_deletes'),
	287, 'all rows are back');

# descriptors of a backend, in which statements fail by themselves and in
# subtransactions
SKIP:
{
	skip 'needs /proc', 8 unless -d '/proc/self/fd';
	my $count = "SELECT count(*) FROM pg_ls_dir('/proc/self/fd');\n";
	my $fail = "SELECT sum(id) FROM cases.pos_deletes;\n";
	my $fail_within = "DO \$\$
		BEGIN
			FOR i IN 1 .. %d LOOP
				BEGIN
					PERFORM sum(id) FROM cases.pos_deletes;
					RAISE 'is not missing';
				EXCEPTION WHEN undefined_file THEN
				END;
			END LOOP;
		END \$\$;\n";

	foreach my $what ('data', 'deletes', 'manifest', 'list')
	{
		my $path = $current{pos_deletes}->{$what};
		my ($out, $err);

		rename $path, "$path.away" or BAIL_OUT("$path: $!");
		# once before, since the server keeps files of its own open
		$node->psql('postgres', join('', $fail, sprintf($fail_within, 1), $count,
				$fail x 100, sprintf($fail_within, 100), $count),
			on_error_stop => 0, stdout => \$out, stderr => \$err);
		rename "$path.away", $path or BAIL_OUT("$path: $!");
		my ($before, $after) = split /\n/, $out;
		is($after, $before, "200 failures without $what leave no descriptor");
		is(scalar(() = $err =~ /ERROR:/g), 101, '... and each failed');
	}
}

# an old version whose files another engine has removed, and the others
{
	my $old = $node->safe_psql('postgres',
		q{SELECT snapshot_id FROM lake.snapshots('cases.refs') WHERE parent_id IS NULL});
	my $list = only_file("$dir/cases/refs/metadata/snap-$old-*.avro");

	unlink $list or BAIL_OUT("$list: $!");
	foreach my $sql ("SELECT count(id) FROM lake.at(NULL::cases.refs, snapshot => $old)",
		"SELECT count(id) FROM lake.at(NULL::cases.refs, ref => 'v1')",
		"SELECT count(*) FROM lake.files('cases.refs', $old)")
	{
		my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

		like($err, qr/58P01: manifest list "[^"]*snap-$old-[^"]*" does not exist/,
			"a version without its manifest list: $sql");
		like($err, qr/reading snapshot $old/, '... and which it is');
	}
	is($node->safe_psql('postgres', q{SELECT count(id), (SELECT count(*)
		FROM lake.snapshots('cases.refs')) FROM cases.refs}), '2|3',
		'the newest version and the history are there');
}
$node->stop;
done_testing();
