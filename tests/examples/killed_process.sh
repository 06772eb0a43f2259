#!/usr/bin/env bash
# kill -9 of one of four processes: all four stay readable and named, and the report says who died.
source "$(dirname "$0")/common.sh"
export run=$work/run
# Killed when all four have waited, as the capture tells so far; the others when they wait for the one that is gone.
"$XS" record -o "$run" -- bash -c '
    "$0" --processes --rounds 100000 --rows 256 --work 1000000 & main=$!
    until cp "$run.xs" "$run.so_far.xs" && [ "$("$XS" query --csv "$run.so_far" "select count(distinct rank) from wait" | tail -n 1 | tr -d "\r")" = 4 ]; do
        sleep 0.1
    done
    victim=$(pgrep -P $main | sed -n 3p)
    kill -9 "$victim"
    until "$XS" hang $main | grep -q "is gone"; do sleep 0.1; done
    pkill -9 -P $main; kill -9 $main; wait' "$EXAMPLES/combine" > "$work/out" 2>&1 || true
same "processes" "$(ask "$run" 'select count(*) from process')" 4
same "ranks" "$(ask "$run" 'select group_concat(rank) from (select rank from rank order by rank)')" '"0,1,2,3"'
same "clean ends" "$(ask "$run" 'select coalesce(sum(clean), 0) from process')" 0
same "ranks without waits" "$(ask "$run" 'select count(*) from rank where id not in (select rank from wait)')" 0
same "slots without a name" "$(ask "$run" "select count(*) from slot where name is null or name = ''")" 0
[ "$(ask "$run" 'select count(*) from open_waits')" -gt 0 ] || fail "nobody waits, though a process died"
same "rings that do not add up" "$(ask "$run" 'select count(*) from ring where kept + lost <> emitted')" 0
"$XS" report "$run" > "$work/report"
grep -qi 'killed' "$work/report" || { head -20 "$work/report"; fail "the report does not say that processes were killed"; }
