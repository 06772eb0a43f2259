#!/usr/bin/env bash
# A wait of 10 s is reported as 10 s, and so is a silence of 10 s between two records of a writer: 32 bits of nanoseconds wrap
# after 4.29 s. Also without a recorder, and on sim.
source "$(dirname "$0")/common.sh"
check() { # run, longest ns
    for what in "select latency_ns from wait where passed = 0" \
        "select max(time_ns) - min(time_ns) from events where event = 'mark'"; do
        ns=$(ask "$1" "$what")
        [ "$ns" -ge 9999000000 ] && [ "$ns" -le "$2" ] || fail "$what: $ns ns of at most $2"
        echo "ok: $ns ns"
    done
}
"$XS" record --no-export -o "$work/recorded" -- "$LONG" 10 > "$work/recorded.ns" &
XS_CAPTURE=$work/alone "$LONG" 10 > "$work/alone.ns" &
wait
XS_SCHEDULER=sim XS_CAPTURE=$work/sim "$LONG" 10 > "$work/sim.ns"
for run in recorded alone sim; do check "$work/$run" "$(grep -E '^[0-9]+$' "$work/$run.ns")"; done
