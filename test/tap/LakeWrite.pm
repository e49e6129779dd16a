# A node with tables of the hosted catalog to write to, sessions that are held
# in the middle of a commit, and what must hold of a table whatever happened.
package LakeWrite;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use Time::HiRes qw(sleep time);
use Lake;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(write_node lake_table table_json pointer open_session
	send_sql result_of do_sql pid_of wait_until wait_blocked damage_of
	damage_of_history all_files temporary_files);

# A running node with a warehouse of its own in $node->{warehouse}.  With
# stop_points, commits can be held.
sub write_node
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $dir = PostgreSQL::Test::Utils::tempdir() . '/warehouse';

	mkdir $dir or BAIL_OUT("$dir: $!");
	$node->{warehouse} = $dir;
	$node->init(extra => [ '--encoding=UTF8', '--locale=C' ],
		allows_streaming => $options{streaming} // 0);
	$node->append_conf('postgresql.conf', "$_\n")
		foreach @{ $options{settings} // [] };
	$node->start;
	my $version = $options{stop_points} ? "VERSION 'stop'" : '';
	$node->safe_psql('postgres', "CREATE EXTENSION lakefdw $version;
		CREATE SERVER lake FOREIGN DATA WRAPPER lakefdw
			OPTIONS (warehouse '$dir')");
	return $node;
}

# ---- tables ----

my %sql_types = (
	int => 'int',
	long => 'bigint',
	string => 'text',
	date => 'date');

# the first metadata of a table; columns is a list of names and types
sub table_json
{
	my ($location, %options) = @_;
	my $version = $options{version} // 2;
	my @columns = @{ $options{columns} // [ id => 'int', v => 'int' ] };
	my %properties = %{ $options{properties} // {} };
	my @fields;
	my $uuid = sprintf '9c12d441-03fe-4693-9a96-%012x', int rand(1 << 40);

	while (my ($name, $type) = splice @columns, 0, 2)
	{
		push @fields, sprintf '{"id":%d,"name":"%s","required":false,"type":"%s"}',
			@fields + 1, $name, $type;
	}
	my $partition = $options{partition} // '';
	return sprintf '{"format-version":%d,"table-uuid":"%s","location":"%s",%s
		"last-sequence-number":0,"last-updated-ms":1602638573590,"last-column-id":%d,
		"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,"fields":[%s]}],
		"default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[%s]}],
		"last-partition-id":%d,"default-sort-order-id":0,
		"sort-orders":[{"order-id":0,"fields":[]}],"properties":{%s},
		"current-snapshot-id":-1,"refs":{},"snapshots":[],"snapshot-log":[],
		"metadata-log":[]}', $version, $uuid, $location,
		$version > 2 ? '"next-row-id":0,' : '', scalar @fields,
		join(',', @fields), $partition, $partition ? 1000 : 999,
		join(',', map { "\"$_\":\"$properties{$_}\"" } sort keys %properties);
}

# makes the lake table db.NAME, and the foreign table NAME that maps it
sub lake_table
{
	my ($node, $name, %options) = @_;
	my $location = "$node->{warehouse}/db/$name";
	my $metadata = "$location/metadata/00000-first.metadata.json";
	my @columns = @{ $options{columns} // [ id => 'int', v => 'int' ] };
	my @declared;

	system_or_bail('mkdir', '-p', "$location/metadata");
	spew($metadata, table_json($location, %options));
	while (my ($column, $type) = splice @columns, 0, 2)
	{
		push @declared, "$column $sql_types{$type}";
	}
	$node->safe_psql('postgres', "
		SELECT lake.register_table('lake', 'db.$name', '$metadata');
		CREATE FOREIGN TABLE $name (" . join(', ', @declared) . ") SERVER lake
			OPTIONS (namespace 'db', \"table\" '$name')");
	return;
}

# where a table's pointer is
sub pointer
{
	my ($node, $name) = @_;

	return $node->safe_psql('postgres', "SELECT metadata_location
		FROM lake.iceberg_tables WHERE table_name = '$name'");
}

sub all_files
{
	my ($node, $name) = @_;
	my $found = `find '$node->{warehouse}/db/$name' -type f`;

	return sort split /\n/, $found;
}

sub temporary_files
{
	return grep { /\.tmp$/ } all_files(@_);
}

# What is wrong with tables: '' when each pointer names metadata, and the newest
# snapshot a list, manifests and files that are there and can be read.
sub damage_of
{
	my ($node, @tables) = @_;
	my ($out, $err);
	my $status = $node->psql('postgres', join('', map { "
		SELECT metadata_location FROM lake.iceberg_tables WHERE table_name = '$_';
		SELECT manifest_list FROM lake.snapshots('$_') ORDER BY committed_at DESC LIMIT 1;
		SELECT path FROM lake.manifests('$_');
		SELECT file_path FROM lake.files('$_');
		SELECT '', count(t::text) FROM $_ t;" } @tables),
		stdout => \$out, stderr => \$err);

	return $err if $status != 0;
	return 'a pointer is missing' if scalar(() = $out =~ /metadata\.json$/gm) < @tables;
	foreach my $file (grep { !/^\|\d+$/ } split /\n/, $out)
	{
		return "$file is missing" if !-e $file;
		return "$file is a temporary file" if $file =~ /\.tmp$/;
	}
	return '';
}

# the same of all snapshots of a table
sub damage_of_history
{
	my ($node, $name) = @_;
	my $err;
	my $status = $node->psql('postgres', "DO \$\$
		DECLARE s record; n bigint;
		BEGIN
			FOR s IN SELECT snapshot_id FROM lake.snapshots('$name') LOOP
				EXECUTE format('SELECT count(t::text) FROM
					lake.at(NULL::$name, snapshot => %s) t', s.snapshot_id) INTO n;
			END LOOP;
		END \$\$", stderr => \$err);

	return $status == 0 ? '' : $err;
}

# ---- sessions ----

# a psql that stays, with full error reports
sub open_session
{
	my ($node, $first) = @_;
	my $session = { in => '', out => '', err => '', number => 0 };

	$session->{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', '-' ],
		'<', \$session->{in}, '>', \$session->{out}, '2>', \$session->{err},
		$session->{timer} = IPC::Run::timer(60));
	do_sql($session, '\set VERBOSITY verbose');
	$session->{pid} = do_sql($session, 'SELECT pg_backend_pid();');
	do_sql($session, $first) if defined $first;
	return $session;
}

sub pid_of { return $_[0]->{pid}; }

# begins something; its result is asked for by result_of
sub send_sql
{
	my ($session, $sql) = @_;

	$session->{out} = $session->{err} = '';
	$session->{number}++;
	$session->{in} .= "$sql\n\\echo end $session->{number}\n" .
		"\\warn end $session->{number}\n";
	# its server can be gone already
	eval { $session->{handle}->pump_nb };
	return;
}

# what it has said, errors included; also when its server has died
sub result_of
{
	my ($session) = @_;
	my $end = qr/^end $session->{number}\n/m;

	$session->{timer}->start(60);
	while ($session->{out} !~ $end || $session->{err} !~ $end)
	{
		last if $session->{timer}->is_expired;
		last if !eval { $session->{handle}->pumpable } ||
			!eval { $session->{handle}->pump; 1 };
	}
	$session->{timer}->reset;
	my $said = $session->{out} . $session->{err};
	$said =~ s/$end//g;
	$said .= "no answer\n" if $session->{timer}->is_expired;
	chomp $said;
	return $said;
}

sub do_sql
{
	my ($session, $sql) = @_;

	send_sql($session, $sql);
	return result_of($session);
}

sub wait_until
{
	my ($node, $condition) = @_;

	for (1 .. 300)
	{
		my ($status, $out, $err) = $node->psql('postgres', "SELECT $condition");
		return 1 if ($out // '') eq 't';
		sleep 0.03;
	}
	diag("has not come: $condition");
	return 0;
}

# until these sessions wait for a lock, or for a standby
sub wait_blocked
{
	my ($node, @sessions) = @_;

	return wait_until($node, "count(*) = " . scalar(@sessions) . " FROM
		pg_stat_activity WHERE pid IN (" . join(',', map { $_->{pid} } @sessions) .
		") AND (wait_event_type = 'Lock' OR wait_event = 'SyncRep')");
}

1;
