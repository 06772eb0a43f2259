#!/usr/bin/env bash
# budget_test.sh FOLDER: budget.sh on a build that is made up: what failed before comes first, nothing counts as passed that was not
# run, what is too long is cut off with what it had said, and the time is kept.
set -euo pipefail
work=$1 here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rm -rf "$work"
mkdir -p "$work/build/tests/gpu/bin" "$work/build/tests/bench"
program() { # path, lines...
    printf '#!/bin/sh\n' > "$work/build/tests/$1"
    printf '%s\n' "${@:2}" >> "$work/build/tests/$1"
    chmod +x "$work/build/tests/$1"
}
fail() { cat "$work/said"; echo "FAILED: $1"; exit 1; }
said() { grep -qxE -- "$1" "$work/said" || fail "no line '$1'"; }
program gpu/bin/good 'echo "$0 $*"'
program gpu/bin/bad 'echo "went wrong"; exit 3'
program gpu/bin/none 'exit 77'
program bench/bench_gpu_record_cost 'echo "the first row"; exec sleep 1000'
program bench/bench_gpu_primitive_cost 'echo "all rows"'
for test in alpha:good beta:bad ends.leave:good replay.graph:none; do
    echo "${test%:*}|20|gpu,|build:tests/gpu/bin/${test#*:}|"
done > "$work/build/tests/gpu/tests.list"
printf '%s\n' 'PASS alpha' 'FAIL ends.leave (exit code 1, 3 s)' 'FAIL ends.leave' 'FAIL host_word (exit code 1) (bench)' 'NOT RUN: replay.graph ' > "$work/before"
run() { # seconds, table of an earlier run
    local begin=$SECONDS code=0
    rm -rf "$work/out"
    OUT=$work/out bash "$here/run.sh" -b "$work/build" all-in-budget "$@" > "$work/said" 2>&1 || code=$?
    [ $code -eq 1 ] || fail "exit code $code"
    [ $((SECONDS - begin)) -lt $(($1 + 300)) ] || fail "it took $((SECONDS - begin)) s"
    cmp -s "$work/said" "$work/out/table.txt" || fail "the table is not what was said"
}
run 30 "$work/before"
said 'PASS ends.leave'
said 'SKIP replay.graph'
said 'PASS alpha'
said 'FAIL beta'
said 'the first row'
said 'CUT OFF record_cost at [0-9]+ s \(bench\)'
said 'NOT RUN primitive_cost \(bench\)'
said 'MISSING hang_answer \(bench\)'
[ "$(grep -n 'ends.leave' "$work/said" | head -n 1 | cut -d : -f 1)" -lt "$(grep -n 'alpha' "$work/said" | head -n 1 | cut -d : -f 1)" ] || fail "the order"
[ -e "$work/out/first/replay.graph.code" ] || fail "what did not run before is not among the first"
program bench/bench_gpu_record_cost 'echo "the first row"'
run 40
! grep -q '^-- first' "$work/said" || fail "a first phase without a table of an earlier run"
said 'all rows'
said 'DONE primitive_cost \([0-9]+ s\) \(bench\)'
for program in "$work"/build/tests/gpu/bin/* "$work"/build/tests/bench/*; do program "${program#"$work/build/tests/"}" 'exit 77'; done
for name in example_overhead clock_residual ring_rate hang_answer order_faults host_word; do program "bench/bench_gpu_$name" 'exit 77'; done
code=0
OUT=$work/out bash "$here/run.sh" -b "$work/build" all-in-budget 30 > "$work/said" 2>&1 || code=$?
[ $code -eq 77 ] || fail "exit code $code where all is skipped"
code=0
bash "$here/run.sh" -b "$work/build" all-in-budget 30 "$work/none" > "$work/said" 2>&1 || code=$?
[ $code -eq 66 ] || fail "exit code $code for a table that is not there"
rm -rf "$work"
echo PASS
