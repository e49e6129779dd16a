#!/usr/bin/env bash
# Runs the test suites and closes with "N passed, N failed".
#
#   run_tests.sh [suite ...]     unit fuzz lint regress isolation tap corpus
#
# Each suite writes a log below build/log; a failure shows the log's end.
set -uo pipefail
TOP=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TOP" || exit 1
. test/support/cluster.sh

SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
LOG=$TOP/build/log
JOBS=$(nproc)
total_passed=0
total_failed=0
mkdir -p "$LOG"
trap "trap '' INT TERM; cluster_destroy" EXIT
trap 'exit 130' INT TERM

# takes a suite's closing line from its log into the totals
count()
{
	local suite=$1 status=$2 line passed failed

	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$LOG/$suite.log" | tail -1)
	passed=$(echo "$line" | sed -n 's/^\([0-9]*\) passed.*/\1/p')
	failed=$(echo "$line" | sed -n 's/.* \([0-9]*\) failed.*/\1/p')
	passed=${passed:-0}
	failed=${failed:-0}
	if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
		failed=1
	fi
	if [ "$failed" -ne 0 ]; then
		echo "---- $suite: the end of $LOG/$suite.log"
		tail -n 60 "$LOG/$suite.log"
		echo "----"
	fi
	printf '%-10s %5d passed, %d failed (%d s)\n' "$suite" "$passed" \
		"$failed" $((SECONDS - started))
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
}

# runs programs that close with "N passed, N failed" and adds them up
add_up()
{
	local passed=0 failed=0 output status line

	for program in "$@"; do
		echo "== $program"
		# shellcheck disable=SC2086
		output=$($program 2>&1)
		status=$?
		echo "$output"
		line=$(echo "$output" | grep -E '^[0-9]+ passed, [0-9]+ failed' |
			tail -1)
		p=$(echo "$line" | sed -n 's/^\([0-9]*\) passed.*/\1/p')
		f=$(echo "$line" | sed -n 's/.* \([0-9]*\) failed.*/\1/p')
		passed=$((passed + ${p:-0}))
		failed=$((failed + ${f:-0}))
		if [ $status -ne 0 ] && [ "${f:-0}" -eq 0 ]; then
			echo "FAILED $program: exit $status"
			failed=$((failed + 1))
		fi
	done
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}

suite_unit()
{
	local names

	names=$(basename -s .c test/unit/test_*.c)
	make -s -j"$JOBS" unit-tests &&
	make -s -j"$JOBS" BUILD=build-asan CFLAGS_EXTRA="$SANITIZE" unit-tests &&
	# shellcheck disable=SC2086
	add_up $(printf 'build/unit/%s ' $names) \
		$(printf 'build-asan/unit/%s ' $names)
}

suite_fuzz()
{
	local programs=()

	make -s -j"$JOBS" BUILD=build-asan CFLAGS_EXTRA="$SANITIZE" fuzz-tests ||
		return 1
	for harness in test/fuzz/fuzz_*.c; do
		name=$(basename "$harness" .c)
		programs+=("build-asan/fuzz/$name test/fuzz/corpus/${name#fuzz_}")
	done
	add_up "${programs[@]}"
}

suite_lint()
{
	make -s lint && echo "1 passed, 0 failed"
}

pgxs_dir()
{
	dirname "$(dirname "$(dirname "$("$PG_CONFIG" --pgxs)")")"
}

# counts of a run of pg_regress or isolationtester
regress_counts()
{
	local passed failed

	passed=$(grep -cE '^(test|ok|     ) .*(\.\.\. ok|- )' "$1" || true)
	failed=$(grep -cE '^(test|not ok|     ) .*\.\.\. FAILED|^not ok' "$1" ||
		true)
	echo "$passed passed, $failed failed"
}

suite_regress()
{
	local out status

	install_extension && cluster_create || return 1
	out=$CLUSTER_DIR/regress
	mkdir "$out"
	cp -r sql expected test/schedule "$out"
	[ "$(id -u)" != 0 ] || chown -R "$CLUSTER_USER" "$out"
	as_server env PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER" \
		LAKE_DIR="$LAKE_DIR" LAKE_WORK="$LAKE_WORK" \
		"$(pgxs_dir)/src/test/regress/pg_regress" --inputdir="$out" \
		--outputdir="$out" --bindir="$PG_BIN" --dbname=regression \
		--schedule="$out/schedule" >"$out/run.log" 2>&1
	status=$?
	cat "$out/run.log"
	if [ -f "$out/regression.diffs" ]; then
		cat "$out/regression.diffs"
		mkdir -p results && cp "$out"/results/*.out results/
	fi
	if grep -qE 'terminated by signal|PANIC|TRAP:' "$CLUSTER_DIR/server.log"
	then
		grep -nE 'terminated by signal|PANIC|TRAP:' "$CLUSTER_DIR/server.log"
		status=1
	fi
	regress_counts "$out/run.log"
	cluster_destroy
	return $status
}

# run_specs DATABASE GREP-ARG ...: those that grep finds in the schedule
run_specs()
{
	local database=$1 out=$CLUSTER_DIR/isolation status

	shift
	grep "$@" "$out/schedule" >"$out/$database.schedule"
	as_server env PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER" \
		LAKE_DIR="$LAKE_DIR" LAKE_WORK="$LAKE_WORK" \
		"$(pgxs_dir)/src/test/isolation/pg_isolation_regress" \
		--inputdir="$out" --outputdir="$out" --bindir="$PG_BIN" \
		--use-existing --dbname="$database" \
		--schedule="$out/$database.schedule" >>"$out/run.log" 2>&1
	status=$?
	if [ -f "$out/regression.diffs" ]; then
		mv "$out/regression.diffs" "$out/$database.diffs"
	fi
	return $status
}

# run_histories SEED COUNT: random ones, whose rows a model knows
run_histories()
{
	local spec=$CLUSTER_DIR/isolation/histories.spec status

	python3 test/isolation/histories.py write "$@" >"$spec"
	as_server env PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER" \
		LAKE_DIR="$LAKE_DIR" LAKE_WORK="$LAKE_WORK" \
		"$(pgxs_dir)/src/test/isolation/isolationtester" dbname=races \
		<"$spec" >"$CLUSTER_DIR/histories.out" &&
		python3 test/isolation/histories.py check "$@" \
			"$CLUSTER_DIR/histories.out"
}

suite_isolation()
{
	local out status=0

	install_stop_points && cluster_create || return 1
	cluster_psql -q -d postgres -c 'CREATE DATABASE isolation' \
		-c 'CREATE DATABASE races' &&
		tar -xzf test/data/races.tar.gz -C "$LAKE_DIR" &&
		for database in isolation races; do
			cluster_psql -q -v ON_ERROR_STOP=1 -d $database \
				-f test/support/lake_tables.sql || return 1
		done &&
		cluster_psql -q -v ON_ERROR_STOP=1 -d races \
			-f test/support/races.sql || return 1
	out=$CLUSTER_DIR/isolation
	cp -r test/isolation "$out"
	[ "$(id -u)" != 0 ] || chown -R "$CLUSTER_USER" "$out" "$LAKE_DIR/races"
	# the tables of races are there once for all
	run_specs isolation -v '^test: conflicts_' || status=1
	run_specs races -e '^test: conflicts_' || status=1
	python3 test/isolation/conflicts.py check || status=1
	run_histories "${SEED:-2}" "${HISTORIES:-100}" || status=1
	cat "$out/run.log"
	if ls "$out"/*.diffs >/dev/null 2>&1; then
		cat "$out"/*.diffs
		mkdir -p results && cp "$out"/results/*.out results/
	fi
	regress_counts "$out/run.log"
	cluster_destroy
	uninstall_stop_points
	return $status
}

suite_tap()
{
	local dir status

	install_stop_points || return 1
	dir=$(mktemp -d "${TMPDIR:-/tmp}/lakefdw.XXXXXX")
	CLUSTER_DIR=$dir
	cp -r test/tap test/data/lake test/data/reader test/support/lake_tables.sql \
		"$dir"
	[ "$(id -u)" != 0 ] || chown -R "$CLUSTER_USER" "$dir"
	# TESTDIR is for 15, the other two are for later versions
	as_server env PATH="$PG_BIN:$PATH" TMPDIR="$dir" TESTDIR="$dir" \
		TESTDATADIR="$dir/tmp_check" TESTLOGDIR="$dir/tmp_check/log" \
		LAKE_DIR="$dir/lake" \
		PG_REGRESS="$(pgxs_dir)/src/test/regress/pg_regress" \
		prove -I "$(pgxs_dir)/src/test/perl" -I "$dir/tap" "$dir"/tap/*.pl \
		>"$dir/run.log" 2>&1
	status=$?
	cat "$dir/run.log"
	[ $status -eq 0 ] || tail -n 40 "$dir"/tmp_check/log/regress_log_*
	sed -n 's/^Files=[0-9]*, Tests=\([0-9]*\),.*/\1/p' "$dir/run.log" |
		awk -v s=$status '{n = $1} END {
			if (s == 0) print n + 0 " passed, 0 failed";
			else print (n > 1 ? n - 1 : 0) " passed, 1 failed"}'
	cluster_destroy
	uninstall_stop_points
	return $status
}

suite_corpus()
{
	make -s build/parquet_digest && install_extension && cluster_create ||
		return 1
	add_up "python3 test/corpus/run_parquet.py" \
		"python3 test/corpus/run_iceberg.py"
	local status=$?
	cluster_destroy
	return $status
}

suites=${*:-unit fuzz lint regress isolation tap corpus}
for suite in $suites; do
	if [ "$suite" = corpus ] && [ -z "${LAKEFDW_CORPUS:-}" ]; then
		echo "corpus: not run, LAKEFDW_CORPUS names no directory"
		continue
	fi
	started=$SECONDS
	"suite_$suite" >"$LOG/$suite.log" 2>&1
	count "$suite" $?
done
echo "$total_passed passed, $total_failed failed"
[ $total_failed -eq 0 ]
