#!/usr/bin/env bash
# Healthy runs whose capture ends anywhere, as after a SIGKILL of whoever wrote it: what is missing of one rank and not of another is no
# error of theirs. Found by cutting the demo's: every second cut gave an early pass, a lapped reader or a payload race.
source "$(dirname "$0")/common.sh"
cuts=${CUTS:-24}
for example in combine pipeline barrier publish; do
    XS_CAPTURE=$work/whole "$EXAMPLES/$example" --scheduler sim --rounds 6 --work 400000 --seed 7 > /dev/null
    "$XS" check -q "$work/whole" || fail "$example: whole, and not clean"
    size=$(stat -c %s "$work/whole.xs")
    for ((i = 1; i <= cuts; i++)); do
        rm -f "$work"/cut.*
        head -c $((size * i / (cuts + 1))) "$work/whole.xs" > "$work/cut.xs"
        code=0
        "$XS" check "$work/cut" > "$work/said" 2>&1 || code=$?
        case $code in 0 | 2) ;; *) cat "$work/said"; fail "$example, cut at part $i of $((cuts + 1)): exit code $code" ;; esac
    done
done
echo ok
