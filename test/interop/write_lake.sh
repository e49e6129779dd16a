#!/usr/bin/env bash
# Rewrites test/data/lake with real engines (see write_lake.py).
#
# The engines write below /srv/lake, so that the paths inside of the metadata
# are neutral; that directory must be absent or empty.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../data/lake
warehouse=/srv/lake

if [ -n "$(ls -A "$warehouse" 2>/dev/null)" ]; then
	echo "$warehouse is not empty: move it away first" >&2
	exit 1
fi
mkdir -p "$warehouse"
trap 'rm -rf "${warehouse:?}"' EXIT

. "$here/engines.sh"
HADOOP_USER_NAME=lake "$ENGINES_PYTHON" "$here/write_lake.py" "$warehouse" \
	"$SPARK_ICEBERG_JAR"

rm -rf "$target"
cp -r "$warehouse" "$target"
find "$target" -name '.*.crc' -delete
find "$target" -type d -empty -delete
chmod -R u+rwX,go+rX "$target"
du -sh "$target"
