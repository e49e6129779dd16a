# A node with the sample lake mapped, and the lake's files for tests to change.
package Lake;

use strict;
use warnings;
use Compress::Raw::Zlib;
use Exporter 'import';
use IPC::Run;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(lake_node lake_copy import_lake only_file slurp spew varint
	zigzag repeat_records begin_sql finish_sql);

# a running node; its server "lake" has a copy of the sample lake of its own
sub lake_node
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	$node->append_conf('postgresql.conf', "$_\n") foreach @settings;
	$node->start;
	return $node;
}

# the directory of a copy of the sample lake
sub lake_copy
{
	my $dir = PostgreSQL::Test::Utils::tempdir() . '/lake';

	system_or_bail('cp', '-r', $ENV{LAKE_DIR}, $dir);
	return $dir;
}

# the SQL that maps namespaces of a lake into schemas of their last names
sub import_lake
{
	my ($dir, @namespaces) = @_;
	my $sql = "CREATE EXTENSION IF NOT EXISTS lakefdw;
		CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw OPTIONS
		(catalog 'file', warehouse '$dir', path_map 'file:///srv/lake=$dir');\n";

	foreach my $namespace (@namespaces)
	{
		my $schema = $namespace =~ s/.*\.//r;
		$sql .= "CREATE SCHEMA $schema;
			IMPORT FOREIGN SCHEMA \"$namespace\" FROM SERVER lake INTO $schema;\n";
	}
	return $sql;
}

# the only file that a pattern finds
sub only_file
{
	my ($pattern) = @_;
	my @files = glob $pattern;

	BAIL_OUT("$pattern: " . scalar(@files) . ' files') if @files != 1;
	return $files[0];
}

sub slurp
{
	my ($path) = @_;
	open my $file, '<:raw', $path or BAIL_OUT("$path: $!");
	local $/;
	return scalar <$file>;
}

sub spew
{
	my ($path, @parts) = @_;
	open my $file, '>:raw', $path or BAIL_OUT("$path: $!");
	print $file @parts;
	close $file or BAIL_OUT("$path: $!");
	return;
}

# ---- Avro and Thrift ----

sub varint
{
	my ($value) = @_;
	my $out = '';

	for (; $value > 127; $value >>= 7)
	{
		$out .= chr($value & 127 | 128);
	}
	return $out . chr($value);
}

sub zigzag { return varint($_[0] << 1); }

sub take_long
{
	my ($bytes, $at) = @_;
	my ($value, $shift, $byte) = (0, 0);

	do
	{
		$byte = ord substr $$bytes, $$at++, 1;
		$value |= ($byte & 127) << $shift;
		$shift += 7;
	} while ($byte & 128);
	return $value >> 1 ^ -($value & 1);
}

sub take_text
{
	my ($bytes, $at) = @_;
	my $len = take_long($bytes, $at);

	$$at += $len;
	return substr $$bytes, $$at - $len, $len;
}

# an Avro file of one block of deflated records, with them over and over
sub repeat_records
{
	my ($bytes, $times) = @_;
	my $at = 4;
	my %header;

	while (my $count = take_long(\$bytes, \$at))
	{
		for (1 .. $count)
		{
			my $key = take_text(\$bytes, \$at);
			$header{$key} = take_text(\$bytes, \$at);
		}
	}
	my $sync = substr $bytes, $at, 16;
	$at += 16;
	my $count = take_long(\$bytes, \$at);
	my $block = take_text(\$bytes, \$at);
	if (($header{'avro.codec'} // 'null') eq 'deflate')
	{
		my $inflate = Compress::Raw::Zlib::Inflate->new(-WindowBits => -15);
		my $records;
		$inflate->inflate($block, $records);
		$block = $records;
	}
	$header{'avro.codec'} = 'null';
	my $out = "Obj\1" . zigzag(scalar keys %header);
	$out .= zigzag(length $_) . $_ . zigzag(length $header{$_}) . $header{$_}
		foreach sort keys %header;
	$out .= zigzag(0) . $sync;
	# ten to a block
	my $many = zigzag(10 * $count) . zigzag(10 * length $block) .
		$block x 10 . $sync;
	return $out . $many x ($times / 10);
}

# ---- sessions ----

# a statement in a session of its own, awaited until it is at work
sub begin_sql
{
	my ($node, $mark, $sql) = @_;
	my %session = (out => '', err => '');

	$session{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
			'-c', "/* $mark */ $sql" ],
		'<', \undef, '>', \$session{out}, '2>', \$session{err});
	for (1 .. 100)
	{
		last if $node->safe_psql('postgres', "SELECT count(*)
			FROM pg_stat_activity WHERE query LIKE '/* $mark */%'
			AND leader_pid IS NULL
			AND state = 'active'") == 1;
		sleep 0.05;
	}
	return \%session;
}

# waits for its end; gives what it wrote
sub finish_sql
{
	my ($session) = @_;

	$session->{handle}->finish;
	return $session->{out} . $session->{err};
}

1;
