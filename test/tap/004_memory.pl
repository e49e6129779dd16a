# Small files whose rows are large: memory follows a row, not the file's claims.
use strict;
use warnings;
use File::Copy;
use Lake;
use Test::More;

my $dir = lake_copy();
my $node = lake_node('memory');

# 1,024 rows, each a list of 20 times the dictionary's entry of 1 MiB
copy("$ENV{LAKE_DIR}/../reader/repeated.parquet",
	only_file("$dir/cases/nested_types/data/*.parquet"))
  or BAIL_OUT("repeated.parquet: $!");
$node->safe_psql('postgres', import_lake($dir, 'cases') . "
	CREATE FOREIGN TABLE arrays (ls text[]) SERVER lake
	OPTIONS (namespace 'cases', \"table\" 'nested_types');
	CREATE FOREIGN TABLE documents (ls jsonb) SERVER lake
	OPTIONS (namespace 'cases', \"table\" 'nested_types')");

# what the query gives, and whether its backend has stayed below 512 MiB
sub result_and_memory
{
	my ($sql) = @_;

	return $node->safe_psql('postgres', "$sql;
		SELECT (regexp_match(pg_read_file('/proc/self/status'),
			'VmHWM:\\s*(\\d+)'))[1]::bigint < 512 * 1024");
}

is(result_and_memory('SELECT sum(cardinality(ls)), sum(length(ls[20]))
	FROM (SELECT * FROM arrays LIMIT 100) rows'), "2000|104857600\nt", 'arrays');
is(result_and_memory('SELECT sum(jsonb_array_length(ls))
	FROM (SELECT * FROM documents LIMIT 100) rows'), "2000\nt", 'jsonb');

# the same three rows of the manifest 60 times: the sample is thinned out
my $list = only_file("$dir/cases/nested_types/metadata/snap-*.avro");
spew($list, repeat_records(slurp($list), 60));
is(result_and_memory('ANALYZE arrays'), 't', 'a sample');
is($node->safe_psql('postgres', "SELECT reltuples, null_frac
		FROM pg_class, pg_stats WHERE oid = 'arrays'::regclass
		AND tablename = 'arrays'"), '180|0', 'it has rows');

done_testing();
