#!/usr/bin/env bash
# Interoperability: engines write a lake, we read it, and every row, every older
# snapshot and the answers to random predicates must be the engines' own; and we
# write, alone and at the same time as they, and they must read our rows.
# Closes with "N passed, N failed".  Fails when an engine cannot be had.
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP"
. test/support/cluster.sh
. test/interop/engines.sh

warehouse=
hosted=
written=
out=
finish()
{
	local status=$?

	trap - EXIT
	trap '' INT TERM
	cluster_destroy
	rm -rf ${warehouse:+"$warehouse"} ${hosted:+"$hosted"} \
		${written:+"$written"} ${out:+"$out"}
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

# runs a comparison; its own closing line goes into the totals
compare()
{
	local line

	"$ENGINES_PYTHON" "$@" >"$out" 2>>"$log" || true
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out" | tail -1 || true)
	if [ -z "$line" ]; then
		cat "$out"
		tail -n 40 "$log"
		line="0 passed, 1 failed"
	fi
	grep -vE '^[0-9]+ passed, [0-9]+ failed$' "$out" || true
	passed=$((passed + ${line%% *}))
	line=${line#*, }
	failed=$((failed + ${line%% *}))
}

install_extension >/dev/null
# Spark and PyIceberg reach the hosted catalog by TCP
port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cluster_create "listen_addresses = '127.0.0.1'" "port = $port"
export PGPORT=$port
warehouse=$(mktemp -d "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
hosted=$(mktemp -d "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
written=$(mktemp -d "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
out=$(mktemp "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
chmod 755 "$warehouse" "$hosted"
# both sides create files here, as different users
chmod 777 "$written"
passed=0
failed=0

export HADOOP_USER_NAME=lake TZ=UTC
mkdir -p build/log
log=build/log/interop-engines.log
echo "writing a lake with Spark, PyIceberg and DuckDB"
"$ENGINES_PYTHON" test/interop/write_lake.py "$warehouse" \
	"$SPARK_ICEBERG_JAR" >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
echo "comparing rows"
compare test/interop/compare.py "$warehouse" "$SPARK_ICEBERG_JAR" \
	"$PG_BIN/psql" "$LAKE_DIR"
echo "comparing metadata tables"
compare test/interop/metadata_tables.py "$warehouse" "$SPARK_ICEBERG_JAR" \
	"$PG_BIN/psql"
echo "committing through the hosted catalog, and comparing every version"
cluster_psql -q -c "CREATE DATABASE hosted" -d postgres
compare test/interop/hosted.py "$hosted" "$SPARK_ICEBERG_JAR" \
	"$POSTGRESQL_JAR" "$PG_BIN/psql"
echo "writing: what Spark, PyIceberg and DuckDB read, and write at once"
cluster_psql -q -c "CREATE DATABASE writes" -d postgres
compare test/interop/writes.py "$written" "$SPARK_ICEBERG_JAR" \
	"$POSTGRESQL_JAR" "$PG_BIN/psql"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
