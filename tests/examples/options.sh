#!/usr/bin/env bash
# Options of the examples. own had none, took any, and with XS_RANKS=2 stood for ever without a word; an unknown backend was no usage error, and sim in
# several processes was refused by each of them.
source "$(dirname "$0")/common.sh"
refused() { # program, option...
    local status=0
    timeout 60 "$EXAMPLES/$@" > "$work/out" 2> "$work/said" || status=$?
    [ "$status" = 64 ] || fail "$*: $status, not 64: $(cat "$work/said")"
    [ ! -s "$work/out" ] && [ "$(grep -cv '^Try ' "$work/said")" = 1 ] || fail "$*: not one line: $(cat "$work/out" "$work/said")"
}
for name in combine pipeline barrier publish own_plain own_traced; do
    for wrong in "--ranks 0" "--ranks -1" "--ranks 5000" "--rounds 0" "--rounds 1e9" "--rows 0" "--work x" "--slow 9" "--seed -1" "--nope" "more"; do
        # shellcheck disable=SC2086
        refused $name $wrong
    done
    for option in ranks rows rounds work slow slow-percent seed; do
        "$EXAMPLES/$name" --help | grep -q -e "--$option=" || fail "$name has no --$option"
    done
done
for name in combine pipeline barrier publish; do
    refused $name --backend nope
    refused $name --scheduler nope
    refused $name --scheduler sim --processes
done
# own: what it is told is what it does.
for name in own_plain own_traced; do
    said=$("$EXAMPLES/$name" --ranks 5 --rows 300 --rounds 7 --work 1000 --slow 2 --slow-percent 50 --seed 3)
    same "$name" "$said" "own: 5 ranks, result right"
done
status=0
XS_RANKS=2 timeout 60 "$EXAMPLES/own_traced" 2> "$work/said" || status=$?
same "status where the world has fewer ranks" $status 1
same "what is said of it" "$(cat "$work/said")" "own: ranks 0 to 3 run here, but the world has 2"
lines=$(diff "$OWN/own_plain.c" "$OWN/own_traced.c" | grep -c '^[<>]' || true)
[ "$lines" -le 20 ] && [ "$lines" -gt 5 ] || fail "own_traced.c differs from own_plain.c by $lines lines, not 20 at most"
echo PASS
