#!/usr/bin/env bash
# Interoperability: engines write a lake, we read it, and every row, every older
# snapshot and the answers to random predicates must be the engines' own.
# Closes with "N passed, N failed".  Fails when an engine cannot be had.
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP"
. test/support/cluster.sh
. test/interop/engines.sh

warehouse=
finish()
{
	local status=$?

	trap - EXIT
	trap '' INT TERM
	cluster_destroy
	[ -z "$warehouse" ] || rm -rf "$warehouse"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

install_extension >/dev/null
cluster_create
warehouse=$(mktemp -d "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
chmod 755 "$warehouse"

export HADOOP_USER_NAME=lake TZ=UTC
mkdir -p build/log
log=build/log/interop-engines.log
echo "writing a lake with Spark, PyIceberg and DuckDB"
"$ENGINES_PYTHON" test/interop/write_lake.py "$warehouse" \
	"$SPARK_ICEBERG_JAR" >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
echo "comparing"
"$ENGINES_PYTHON" test/interop/compare.py "$warehouse" "$SPARK_ICEBERG_JAR" \
	"$PG_BIN/psql" "$LAKE_DIR" 2>>"$log" || { tail -n 20 "$log"; exit 1; }
