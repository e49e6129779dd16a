# Sourced: functions that the scripts share.

as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# runs a command up to four times, waiting longer each time
retry()
{
	local delay=5 try
	for try in 1 2 3 4; do
		"$@" && return 0
		echo "retrying ($try): $*" >&2
		sleep $delay
		delay=$((delay * 2))
	done
	return 1
}
