#!/usr/bin/env bash
# Compiles the server half against the headers of newer servers: those of
# Debian's newer suites, unpacked from their server-dev packages.  Compile only.
#
#   compile_newer.sh [17=trixie 18=sid]
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/support/shell.sh
cache=${ENGINES_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/lakefdw-engines}/headers

# this machine's package archive, whatever it is
archive()
{
	cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		sed -n -e 's/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' \
			-e 's/^URIs: \([^ ]*\).*/\1/p' | grep '/debian/*$' | head -1
}

# unpacks the package of one major version below $cache/MAJOR
unpack()
{
	local major=$1 suite=$2 root=$cache/apt-$2

	mkdir -p "$root/lists/partial" "$root/cache/archives/partial"
	echo "deb [trusted=yes] $(archive) $suite main" >"$root/sources.list"
	local options=(-o "Dir::Etc::SourceList=$root/sources.list"
		-o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$root/lists"
		-o "Dir::Cache=$root/cache" -o Acquire::Languages=none
		-o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
	retry apt-get -qq "${options[@]}" update
	(cd "$root" &&
		retry apt-get -qq "${options[@]}" download \
			"postgresql-server-dev-$major")
	mkdir -p "$cache/$major"
	dpkg -x "$root"/postgresql-server-dev-"$major"_*.deb "$cache/$major"
	rm -rf "$root"
}

status=0
for pair in "${@:-17=trixie 18=sid}"; do
	for one in $pair; do
		major=${one%=*}
		include=$cache/$major/usr/include/postgresql/$major/server
		[ -d "$include" ] || unpack "$major" "${one#*=}"
		for source in src/{server,fdw,functions}/*.c; do
			[ -f "$source" ] || continue
			gcc -std=gnu11 -O2 -D_GNU_SOURCE -DLAKE_STOP_POINTS -fPIC -Isrc \
				-I"$include" -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
				-Wno-missing-field-initializers -Werror -c "$source" \
				-o /dev/null || status=1
		done
		if [ $status = 0 ]; then
			echo "compiles against PostgreSQL $major"
		fi
	done
done
exit $status
