#!/usr/bin/env bash
# Indents the C sources with pg_bsd_indent, as PostgreSQL's own are, with our
# typedef list.
#
#   indent.sh              rewrites
#   indent.sh --check      reports what it would rewrite, exits 1 if anything
#   indent.sh --typedefs   regenerates the list from the sources
set -euo pipefail
cd "$(dirname "$0")/../.."
list=test/lint/lakefdw.typedefs
# "text" is a type in the server half and a variable's name in the core half
server_list=$(mktemp)
temporary=$(mktemp)
trap 'rm -f "$temporary" "$server_list"' EXIT
cat "$list" test/lint/server.typedefs >"$server_list"

sources()
{
	git ls-files -co --exclude-standard -- 'src/*.[ch]' 'test/*.[ch]'
}

if [ "${1:-}" = --typedefs ]; then
	# shellcheck disable=SC2046
	{
		ctags -x --c-kinds=t $(sources) | awk '{print $1}'
		printf '%s\n' bool size_t ssize_t va_list uintptr_t sigjmp_buf \
			{u,}int{8,16,32,64}_t __m128i __m256i
	} | LC_ALL=C sort -u >"$temporary"
	cp "$temporary" "$list"
	exit 0
fi

# what pgindent gives to the program, see PostgreSQL's src/tools/pgindent; its
# exit status is no news (1 after compound literals), its messages are
indent_one()
{
	local types=$list

	case $1 in
		src/server/* | src/fdw/* | src/functions/*) types=$server_list ;;
	esac
	pg_bsd_indent -bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 \
		-nfc1 -i4 -l79 -lp -lpl -nip -npro -sac -tpg -ts4 "-U$types" \
		<"$1" || true
}

status=0
for file in $(sources); do
	message=$(indent_one "$file" 2>&1 >"$temporary")
	if [ -n "$message" ]; then
		echo "$file: $message"
		status=1
		continue
	fi
	cmp -s "$file" "$temporary" && continue
	if [ "${1:-}" = --check ]; then
		echo "$file: not indented"
		diff "$file" "$temporary" | head -n 6 || true
		status=1
	else
		cat "$temporary" >"$file"
	fi
done
exit $status
