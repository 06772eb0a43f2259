#!/usr/bin/env bash
# combine as 4 processes of one rank each gives the same released-by edges as one process of 4 ranks.
source "$(dirname "$0")/common.sh"
edges='select rank, slot_label, need, released_by_rank, released_by_value from waits order by 1, 2, 3, 4, 5'
for how in "" --processes; do
    run=$work/run$how
    # shellcheck disable=SC2086
    "$XS" record --no-export -o "$run" -- "$EXAMPLES/combine" --rounds 6 --rows 320 --work 10000 --seed 7 $how
    # Gates and elections are released by arrivals, in any order: their edges have no one signal.
    ask "$run" "$edges" > "$run.edges"
done
[ "$(wc -l < "$work/run.edges")" -gt 400 ] || fail "only $(wc -l < "$work/run.edges") edges"
cmp "$work/run.edges" "$work/run--processes.edges" || { diff "$work/run.edges" "$work/run--processes.edges" | head; fail "edges differ"; }
same "processes" "$(ask "$work/run--processes" 'select count(*) from process')" 4
