# Sourced: a private cluster under an unprivileged user.
#
#   cluster_create [setting ...]   makes CLUSTER_DIR and starts a server in it
#   cluster_psql ARG ...           psql on it
#   cluster_destroy                stops the server, removes the directory
#   install_extension              builds and puts it into the server's places
#   install_stop_points            the same with the version "stop" of it, which
#                                  tests can hold; uninstall_stop_points
#
# CLUSTER_DIR/lake is a copy of the sample lake that the server may read
# wherever the checkout is.  The server listens on a socket in CLUSTER_DIR only.

. "$(dirname "${BASH_SOURCE[0]}")/../support/shell.sh"

# absolute: sudo has a PATH of its own
PG_CONFIG=${PG_CONFIG:-pg_config}
if ! command -v "$PG_CONFIG" >/dev/null; then
	echo "$PG_CONFIG is missing: run 'make deps', or set PG_CONFIG" >&2
	exit 1
fi
PG_CONFIG=$(command -v "$PG_CONFIG")
PG_BIN=$("$PG_CONFIG" --bindir)

if [ "$(id -u)" = 0 ]; then
	CLUSTER_USER=postgres
else
	CLUSTER_USER=$(id -un)
fi

# servers refuse root
as_server()
{
	if [ "$(id -u)" = 0 ]; then
		(cd / && runuser -u "$CLUSTER_USER" -- "$@")
	else
		"$@"
	fi
}

# sudo drops the environment, and with it what make was told
install_extension()
{
	make -s -j"$(nproc)" PG_CONFIG="$PG_CONFIG" all &&
		as_root make -s PG_CONFIG="$PG_CONFIG" install >/dev/null
}

install_stop_points()
{
	make -s -j"$(nproc)" PG_CONFIG="$PG_CONFIG" STOP_POINTS=1 all &&
		as_root make -s PG_CONFIG="$PG_CONFIG" STOP_POINTS=1 install >/dev/null
}

uninstall_stop_points()
{
	as_root make -s PG_CONFIG="$PG_CONFIG" uninstall-stop
}

cluster_create()
{
	CLUSTER_DIR=$(mktemp -d "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
	chmod 755 "$CLUSTER_DIR"
	cp -r "$TOP/test/data/lake" "$CLUSTER_DIR/lake"
	mkdir "$CLUSTER_DIR/work"
	if [ "$(id -u)" = 0 ]; then
		chown -R "$CLUSTER_USER" "$CLUSTER_DIR"
	fi
	as_server "$PG_BIN/initdb" -D "$CLUSTER_DIR/data" -U postgres -A trust \
		-E UTF8 --locale=C --no-sync >"$CLUSTER_DIR/initdb.log"
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$CLUSTER_DIR'"
		echo "fsync = off"
		echo "timezone = 'UTC'"
		for setting in "$@"; do echo "$setting"; done
	} >>"$CLUSTER_DIR/data/postgresql.conf"
	# before the start: programs that the server runs see them too
	export LAKE_DIR=$CLUSTER_DIR/lake LAKE_WORK=$CLUSTER_DIR/work
	as_server "$PG_BIN/pg_ctl" -D "$CLUSTER_DIR/data" -w -s \
		-l "$CLUSTER_DIR/server.log" start </dev/null
	export PGHOST=$CLUSTER_DIR PGPORT=5432 PGUSER=postgres
}

cluster_psql()
{
	"$PG_BIN/psql" -X "$@"
}

cluster_destroy()
{
	local data

	if [ -n "${CLUSTER_DIR:-}" ] && [ -d "$CLUSTER_DIR" ]; then
		# a suite that makes servers of its own has them deeper down
		find "$CLUSTER_DIR" -name postmaster.pid -printf '%h\n' |
			while IFS= read -r data; do
				as_server "$PG_BIN/pg_ctl" -D "$data" -m immediate -w -s \
					stop </dev/null || true
			done
		rm -rf "${CLUSTER_DIR:?}"
	fi
	CLUSTER_DIR=
}
