#!/usr/bin/env bash
# sim under `xs record` decodes to the event stream of sim with its collector fibre; the same seed gives the same capture.
source "$(dirname "$0")/common.sh"
options=(--scheduler sim --rounds 4 --rows 200 --work 5000 --seed 11)
XS_CAPTURE=$work/a "$EXAMPLES/combine" "${options[@]}" > /dev/null
XS_CAPTURE=$work/b "$EXAMPLES/combine" "${options[@]}" > /dev/null
cmp "$work/a.xs" "$work/b.xs" || fail "the same seed gave two captures"
"$XS" record --no-export -o "$work/c" -- "$EXAMPLES/combine" "${options[@]}" > /dev/null
stream='select time_ns, event, rank, writer, role, epoch, slot_label, name, value, need, detail, sequence from events order by rank, writer, sequence'
for run in a c; do ask "$work/$run" "$stream" > "$work/$run.events"; done
[ "$(wc -l < "$work/a.events")" -gt 1000 ] || fail "only $(wc -l < "$work/a.events") events"
cmp "$work/a.events" "$work/c.events" || { diff "$work/a.events" "$work/c.events" | head; fail "recorded and in-process streams differ"; }
same "how long the recorded run lasted" "$(ask "$work/c" 'select duration_ns from run')" "$(ask "$work/a" 'select duration_ns from run')"
XS_CAPTURE=$work/d "$EXAMPLES/combine" --scheduler sim --rounds 4 --rows 200 --work 5000 --seed 12 > /dev/null
! cmp -s "$work/a.xs" "$work/d.xs" || fail "another seed gave the same capture"
echo ok
