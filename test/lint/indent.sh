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

sources()
{
	git ls-files -co --exclude-standard -- 'src/*.[ch]' 'test/*.[ch]'
}

if [ "${1:-}" = --typedefs ]; then
	{
		# shellcheck disable=SC2046
		ctags -x --c-kinds=t $(sources) | awk '{print $1}'
		cat test/lint/server.typedefs
	} | LC_ALL=C sort -u >"$list.new"
	mv "$list.new" "$list"
	exit 0
fi

# what pgindent gives to the program, see PostgreSQL's src/tools/pgindent
indent_one()
{
	pg_bsd_indent -bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 \
		-nfc1 -i4 -l79 -lp -lpl -nip -npro -sac -tpg -ts4 "-U$list" \
		<"$1"
}

status=0
temporary=$(mktemp)
trap 'rm -f "$temporary"' EXIT
for file in $(sources); do
	indent_one "$file" >"$temporary" 2>/dev/null || {
		echo "$file: pg_bsd_indent fails on it"
		status=1
		continue
	}
	cmp -s "$file" "$temporary" && continue
	if [ "${1:-}" = --check ]; then
		echo "$file: not indented"
		diff "$file" "$temporary" | head -n 6
		status=1
	else
		cat "$temporary" >"$file"
	fi
done
exit $status
