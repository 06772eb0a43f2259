#!/usr/bin/env bash
# budget.sh BUILD FOLDER SECONDS [TABLE]: all that a GPU has to show, in one go that ends in time; tests/gpu/run.sh all-in-budget calls it.
# First the tests that failed or did not run in TABLE, that of an earlier run, then the others for as long as leaves the benchmarks their time, then these in the
# order of their bars, each with a bound of its own, then what is left. FOLDER/table.txt has a row for each, and the benchmarks' tables.
set -uo pipefail
build=$1 out=$2 budget=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
table=$out/table.txt
failed_before=''
if [ -n "${4:-}" ]; then
    failed_before=$({ sed -nE '/\(bench\)$/d; s/^FAIL ([^ ]+).*/\1/p' "$4"; sed -n 's/^NOT RUN: //p' "$4" | tr ' ' '\n'; } | grep . | sort -u | sed 's/\./\\./g' | paste -sd '|' -)
fi
[ -z "$failed_before" ] || failed_before="^($failed_before)\$"
# name, its bound in seconds, words
benches=(
    'record_cost|60|'
    'primitive_cost|60|'
    'example_overhead|100|60'
    'clock_residual|60|15'
    'ring_rate|110|seconds=0.4'
    'hang_answer|60|'
    'order_faults|90|'
    'host_word|15|'
)
bench_seconds=$((budget < 600 ? budget / 2 : 300)) # kept for them
mkdir -p "$out"
: > "$table"
say() { printf '%s\n' "$*" | tee -a "$table"; }
left() { echo $((budget - SECONDS)); }
lines=()
phase() { # name, seconds from now, further words of run.sh...
    local name=$1 seconds=$2 bound
    shift 2
    bound=$((seconds + 60 < $(left) ? seconds + 60 : $(left))) # a test that has begun may end
    [ "$seconds" -gt 0 ] || { say "-- $name: no time left"; return; }
    say "-- $name, at $SECONDS s"
    timeout -k 10 "$bound" bash "$here/run.sh" -b "$build" -o "$out/$name" -s "$seconds" "$@" 2>&1 | tee -a "$table"
}
# Names of tests that have a result, as an alternative of a regular expression.
done_tests() {
    find "$out" -name '*.code' -printf '%f\n' | sed 's/\.code$//; s/\./\\./g' | paste -sd '|' -
}
program() {
    local name
    for name in "bench_gpu_$1" "bench_$1"; do
        [ ! -x "$build/tests/bench/$name" ] || { echo "$build/tests/bench/$name"; return; }
    done
}
bench() { # name, bound, words
    local name=$1 bound=$2 begin=$SECONDS code=0 call
    read -ra call <<<"$3"
    local path
    path=$(program "$name")
    [ -n "$path" ] || { say "MISSING bench $name"; lines+=("MISSING $name"); return; }
    [ "$bound" -le "$(left)" ] || bound=$(left)
    [ "$bound" -gt 5 ] || { say "NOT RUN bench $name: no time left"; lines+=("NOT RUN $name"); return; }
    say "-- bench $name, at $SECONDS s, at most $bound s"
    timeout -k 5 "$bound" stdbuf -oL "$path" "${call[@]}" > "$out/bench.$name.txt" 2>&1 < /dev/null || code=$?
    tee -a "$table" < "$out/bench.$name.txt"
    case $code in
    0) lines+=("DONE $name ($((SECONDS - begin)) s)") ;;
    77) lines+=("SKIP $name") ;;
    124 | 137) lines+=("CUT OFF $name at $bound s") ;;
    *) lines+=("FAIL $name (exit code $code)") ;;
    esac
    say "${lines[-1]}"
}

say "budget: $budget s"
[ -z "$failed_before" ] || phase first "$(left)" "$failed_before"
phase rest $((budget - bench_seconds - SECONDS)) -n "$failed_before"
for line in "${benches[@]}"; do
    IFS='|' read -r name bound words <<<"$line"
    bench "$name" "$bound" "$words"
done
[ "$(left)" -lt 20 ] || phase last $(($(left) - 15)) -n "^($(done_tests))\$"
say "-- in all, after $SECONDS s of $budget"
for code in "$out"/*/*.code; do
    [ -e "$code" ] || continue
    name=${code##*/}
    case $(cat "$code") in 0) word=PASS ;; 77) word=SKIP ;; *) word=FAIL ;; esac
    say "$word ${name%.code}"
done
for line in "${lines[@]}"; do say "$line (bench)"; done
not_run=$(comm -23 <(cut -d '|' -f 1 "$build/tests/gpu/tests.list" | sort) <(find "$out" -name '*.code' -printf '%f\n' | sed 's/\.code$//' | sort))
[ -z "$not_run" ] || say "NOT RUN: $(tr '\n' ' ' <<<"$not_run")"
grep -qE '^(PASS|DONE|FAIL|CUT OFF|MISSING) ' "$table" || exit 77 # no GPU: all were skipped
grep -qE '^PASS ' "$table" && ! grep -qE '^(FAIL|CUT OFF|MISSING) ' "$table"
