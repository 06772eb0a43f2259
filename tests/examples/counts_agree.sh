#!/usr/bin/env bash
# Database, report and Perfetto agree with counts that the kernels keep in other memory: threads, one process and several.
# BACKEND: host (default) or cuda.
source "$(dirname "$0")/common.sh"
on="--backend ${BACKEND:-host}"
ways=("" --processes --skew)
[ "${BACKEND:-host}" = host ] || ways=("" --skew)
for how in "${ways[@]}"; do
    run=$work/combine$how
    # shellcheck disable=SC2086
    "$XS" record -o "$run" -- "$EXAMPLES/combine" --rounds 5 --rows 256 --work 20000 --slow 2 --counts "$run.counts" $on $how 2> "$run.said"
    same "records that xs record tells of" "$(sed -nE 's/^xs: .*: ([0-9]+) records of .*/\1/p' "$run.said")" "$(ask "$run" 'select sum(kept) from ring')"
    agrees "$run" "$run.counts"
    same "ranks" "$(ask "$run" 'select count(*) from rank')" 4
    same "wait_tally" "$(ask "$run" 'select sum(waits) from wait_tally')" "$(ask "$run" 'select count(*) from wait where open = 0')"
    "$XS" report "$run" > "$run.report"
    grep -qF -- "--work 20000 --slow 2 --counts $run.counts" "$run.report" || fail "the report cuts the command off"
    [ -s "$run.perfetto" ] || fail "no Perfetto file"
done
run=$work/barrier
# shellcheck disable=SC2086
"$XS" record -o "$run" -- "$EXAMPLES/barrier" --ranks 8 --rounds 3 --work 1000 --counts "$run.counts" $on
agrees "$run" "$run.counts"
same "waits a rank and barrier that are not 8" "$(ask "$run" 'select count(*) from (select count(*) n from waits group by rank, need) where n <> 8')" 0
same "waits without start or end" "$(ask "$run" 'select count(*) from wait where passed = 0 and (begin_ns is null or end_ns is null)')" 0
for e in pipeline publish; do
    # shellcheck disable=SC2086
    "$XS" record -o "$work/$e" -- "$EXAMPLES/$e" --rounds 20 --work 1000 --counts "$work/$e.counts" $on
    agrees "$work/$e" "$work/$e.counts"
done
[ "${BACKEND:-host}" = host ] || exit 0
"$XS" record -o "$work/own" -- "$EXAMPLES/own_traced"
same "own: signals" "$(ask "$work/own" "select count(*) from events where event = 'signal'")" 300
same "own: waits" "$(ask "$work/own" 'select count(*) from wait')" 300
"$XS" record --no-export -o "$work/own3" -- "$EXAMPLES/own_traced" --ranks 3 --rows 100 --rounds 20 --work 1000000 --slow 1 --seed 9
same "own: ranks" "$(ask "$work/own3" "select count(*) from rank")" 3
same "own: signals of 3 ranks" "$(ask "$work/own3" "select count(*) from events where event = 'signal'")" 80
same "own: waits paired" "$(ask "$work/own" "select count(*) from waits where released_by_reason = 'found' and reads_from_reason = 'found'")" 300
# Payload and work are opt-in: recorded where a kernel notes them, and by none of the primitives.
noted="event in ('read_begin', 'write_begin', 'work_begin')"
[ "$(ask "$work/combine" "select count(distinct name) from events where $noted")" = 3 ] || fail "combine: not its three kinds of work and payload"
same "combine: payload that its kernel did not note" "$(ask "$work/combine" "select count(*) from events where $noted
    and (name is null or name not in ('push chunk', 'scatter chunk', 'gemm tile'))")" 0
for e in pipeline publish; do
    same "$e: likewise" "$(ask "$work/$e" "select count(*) from events where $noted and (name is null or name not glob 'write *' and name not glob 'read *')")" 0
done
same "barrier, which notes none" "$(ask "$work/barrier" "select count(*) from events where $noted")" 0
XS_PAYLOAD=0 "$XS" record --no-export -o "$work/bare" -- "$EXAMPLES/combine" --rounds 5 --rows 256 --work 20000 --counts "$work/bare.counts"
same "XS_PAYLOAD=0: payload" "$(ask "$work/bare" "select count(*) from events where $noted or event = 'payload_end'")" 0
agrees "$work/bare" "$work/bare.counts"
# A run that recorded nothing says so, and what to look at.
XS_TRACE_START=0 "$XS" record -o "$work/off" -- "$EXAMPLES/barrier" --rounds 2 2> "$work/off.said"
grep -q 'no kernel recorded anything: was it built with XS_TRACE=1' "$work/off.said" || fail "a run without records is not told: $(cat "$work/off.said")"
