# A node with the sample lake mapped, and the lake's files for tests to change.
package Lake;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(lake_node lake_copy import_lake only_file slurp spew begin_sql
	finish_sql);

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
