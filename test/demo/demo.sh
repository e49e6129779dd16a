#!/usr/bin/env bash
# Builds, installs, starts a private cluster and runs the guided tour on the
# sample lake.  The cluster is gone afterwards, also after a failure or Ctrl-C;
# KEEP=1 leaves it running and says how to reach it.
#
#   demo.sh [stop]
set -euo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP"
kept=build/demo.cluster

if [ "${1:-}" = stop ] && [ ! -f "$kept" ]; then
	echo "no demo is running"
	exit 0
fi
. test/support/cluster.sh
if [ "${1:-}" = stop ]; then
	CLUSTER_DIR=$(cat "$kept")
	cluster_destroy
	rm -f "$kept"
	echo "the demo's cluster is stopped and removed"
	exit 0
fi

finish()
{
	local status=$?

	trap - EXIT
	trap '' INT TERM
	if [ "${KEEP:-}" = 1 ] && [ $status = 0 ]; then
		echo "$CLUSTER_DIR" >"$kept"
		echo
		echo "The cluster is running.  Connect:  psql -h $CLUSTER_DIR -U postgres"
		echo "Stop and remove it:                make demo-stop"
	else
		cluster_destroy
	fi
	exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

[ ! -f "$kept" ] || "$0" stop
echo "building and installing lakefdw for $("$PG_CONFIG" --version)"
install_extension >/dev/null
cluster_create
# the tour runs a psql of its own as another session
export PATH="$PG_BIN:$PATH"
cluster_psql -q -v ON_ERROR_STOP=1 -v lake="$LAKE_DIR" -P pager=off -e \
	-d postgres -f test/demo/tour.sql </dev/null
