#!/usr/bin/env bash
# Rewrites test/data/races.tar.gz with real engines (see write_races.py).
#
# The engines write below /srv/lake, so that the paths inside of the metadata
# are neutral; that directory must be absent or empty.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../data/races.tar.gz
warehouse=/srv/lake

if [ -n "$(ls -A "$warehouse" 2>/dev/null)" ]; then
	echo "$warehouse is not empty: move it away first" >&2
	exit 1
fi
mkdir -p "$warehouse"
trap 'rm -rf "${warehouse:?}"' EXIT

. "$here/engines.sh"
HADOOP_USER_NAME=lake "$ENGINES_PYTHON" "$here/write_races.py" "$warehouse" \
	"$SPARK_ICEBERG_JAR"

# the newest metadata has all branches
find "$warehouse" -name '.*.crc' -delete
for metadata in "$warehouse"/races/*/metadata; do
	newest=$(cat "$metadata/version-hint.text")
	find "$metadata" -name 'v*.metadata.json' ! -name "v$newest.*" -delete
	mv "$metadata/v$newest.metadata.json" "$metadata/races.metadata.json"
	rm "$metadata/version-hint.text"
done
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX \
	--mtime=@0 -C "$warehouse" -cf - races | gzip -9n >"$target"
du -h "$target"
