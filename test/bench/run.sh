#!/usr/bin/env bash
# Benchmarks: our scans beside DuckDB's (one thread) and a heap table's, in one
# run on the same data.  Prints machine, versions and ratios of CPU time, medians
# of RUNS (7).  ROWS (6,000,000) sizes the data, which BENCH_DIR keeps.
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP"
. test/support/cluster.sh
. test/interop/engines.sh
"$ENGINES_PYTHON" -c 'import psycopg2, fastavro' 2>/dev/null ||
	retry "$ENGINES_PYTHON" -m pip install --quiet psycopg2-binary fastavro

finish()
{
	local status=$?

	trap - EXIT
	trap '' INT TERM
	cluster_destroy
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

install_extension >/dev/null
BENCH_DIR=${BENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/lakefdw-bench}
mkdir -p "$BENCH_DIR"
cluster_create "shared_buffers = 3GB" "jit = off" \
	"max_parallel_workers_per_gather = 0" "work_mem = 64MB" \
	"autovacuum = off" "max_wal_size = 16GB"
# the server's user must reach the data: files are written into its directory
BENCH_LAKE=$CLUSTER_DIR/bench
mkdir "$BENCH_LAKE"
chmod 755 "$BENCH_LAKE"
"$ENGINES_PYTHON" test/bench/bench.py "$BENCH_DIR" "$BENCH_LAKE" "$@"
