# Sourced: functions that the scripts share.

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "neither root nor sudo, which this needs: $*" >&2
		return 127
	fi
}

# runs a command up to four times, waiting longer each time; one that is not
# there (127) will not come
retry()
{
	local delay=5 try status
	for try in 1 2 3 4; do
		status=0
		"$@" || status=$?
		case $status in 0 | 127) return $status ;; esac
		echo "retrying ($try): $*" >&2
		sleep $delay
		delay=$((delay * 2))
	done
	return 1
}
