#!/usr/bin/env bash
# Records of two words, end to end: the events are those of records of one, on sim and on threads, in the process and under xs record; and
# kernels of one form in a world of the other are refused by one line.
source "$(dirname "$0")/common.sh"
options=(--rounds 4 --rows 200 --work 5000 --seed 11)
XS_CAPTURE=$work/one "$EXAMPLES/combine" --scheduler sim "${options[@]}" > /dev/null
export XS_RECORD_WORDS=2
XS_CAPTURE=$work/two "$WORDS" --scheduler sim "${options[@]}" > /dev/null
"$XS" record --no-export -o "$work/recorded" -- "$WORDS" --scheduler sim "${options[@]}" > /dev/null
stream='select time_ns, event, rank, writer, role, epoch, slot_label, name, value, need, detail, sequence from events order by rank, writer, sequence'
for run in one two recorded; do ask "$work/$run" "$stream" > "$work/$run.events"; done
[ "$(wc -l < "$work/one.events")" -gt 1000 ] || fail "only $(wc -l < "$work/one.events") events"
for run in two recorded; do
    cmp "$work/one.events" "$work/$run.events" || { diff "$work/one.events" "$work/$run.events" | head; fail "the events of $run differ"; }
done
for placement in mapped device; do
    for how in "" --processes; do
        run=$work/threads.$placement$how
        # shellcheck disable=SC2086
        XS_PLACEMENT=$placement "$XS" record -o "$run" -- "$WORDS" --rounds 5 --rows 256 --work 20000 --slow 2 --counts "$run.counts" $how
        agrees "$run" "$run.counts"
    done
done
refused() { # program, words of the world, words of its kernels
    ! XS_RECORD_WORDS=$2 "$1" --rounds 1 > "$work/refused.out" 2> "$work/refused.err" || fail "$1 ran in a world of $2"
    grep -q "compiled with XS_RECORD_WORDS=$3" "$work/refused.err" || fail "not told why: $(cat "$work/refused.err")"
}
refused "$EXAMPLES/combine" 2 1
refused "$WORDS" 1 2
echo ok
