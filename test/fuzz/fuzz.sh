#!/usr/bin/env bash
# Coverage-guided fuzzing of one harness with clang's libFuzzer.
#
#   fuzz.sh TARGET [SECONDS]     TARGET: avro for test/fuzz/fuzz_avro.c
#
# New inputs go to build-fuzz/TARGET, findings to build-fuzz/TARGET-crash-*.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${1:?name a harness, e.g. avro}
seconds=${2:-60}

make -s -j"$(nproc)" BUILD=build-fuzz CC=clang \
	CFLAGS_EXTRA="-fsanitize=fuzzer-no-link,address,undefined" \
	build-fuzz/liblakecore.a build-fuzz/support/seam_std.o
clang -std=c11 -D_GNU_SOURCE -O1 -g -Isrc -Itest/support \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	"test/fuzz/fuzz_$target.c" build-fuzz/support/seam_std.o \
	build-fuzz/liblakecore.a -ljson-c -lzstd -llz4 -lsnappy -lbrotlidec -lbrotlienc \
	-ldeflate -lz -lm -o "build-fuzz/fuzz_$target"
mkdir -p "build-fuzz/$target"
exec "build-fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 \
	-rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 \
	-artifact_prefix="build-fuzz/$target-" "build-fuzz/$target" \
	"test/fuzz/corpus/$target"
