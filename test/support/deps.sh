#!/usr/bin/env bash
# Installs the Debian packages that building and testing need, if any is
# missing.  Nothing else: not one byte from anywhere but the package archive.
set -euo pipefail
. "$(dirname "$0")/shell.sh"

installed()
{
	dpkg-query -W -f '${Status}\n' "$@" 2>/dev/null |
		grep -c '^install ok installed$'
}

if ! command -v apt-get >/dev/null; then
	echo "make deps knows Debian only; README.md lists the packages" >&2
	exit 0
fi

packages="build-essential libjson-c-dev libzstd-dev liblz4-dev
	libsnappy-dev libbrotli-dev libdeflate-dev zlib1g-dev libssl-dev
	libipc-run-perl python3 pg-bsd-indent universal-ctags"

# the server that is there, however it was installed, else the packaged one of
# the same version, else the distribution's own; a client's package may have
# pg_config and PGXS without the headers
config=${PG_CONFIG:-pg_config}
major=$("$config" --version 2>/dev/null |
	sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p' || true)
if [ -z "$major" ] || [ ! -f "$("$config" --pgxs)" ] ||
	[ ! -f "$("$config" --includedir-server)/postgres.h" ] ||
	[ ! -x "$("$config" --bindir)/initdb" ]; then
	server="postgresql-${major:-none} postgresql-server-dev-${major:-none}"
fi
wanted="$packages ${server:-}"

count=$(echo $wanted | wc -w)
# shellcheck disable=SC2086
if [ "$(installed $wanted || true)" = "$count" ]; then
	exit 0
fi

export DEBIAN_FRONTEND=noninteractive
echo "installing the Debian packages that are missing"
retry as_root apt-get update -qq
if [ -z "$major" ]; then
	major=$(apt-cache depends postgresql |
		sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
	server="postgresql-$major postgresql-server-dev-$major"
fi
# shellcheck disable=SC2086
retry as_root apt-get install -qq -y --no-install-recommends $packages \
	${server:-} >/dev/null
