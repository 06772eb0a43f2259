#!/usr/bin/env bash
# ThreadSanitizer on the whole zoo: what `faults --list` calls a race it reports, within some runs, and nothing else: neither the races
# that it cannot see (docs/limits.md says why), nor other faults, nor a healthy twin. That the order and payload detectors call the same
# faults races is findings_say.sh's.
source "$(dirname "$0")/common.sh"
export TSAN_OPTIONS="exitcode=66 halt_on_error=1"
run() { # fault, options: 0: it ended; 1: a race was reported
    local status=0
    timeout 600 "$FAULTS" "$@" --scheduler threads --rounds 40 --work 200000 --pollers 16 > /dev/null 2> "$work/report" || status=$?
    [ $status -eq 0 ] && return 0
    [ $status -eq 66 ] && grep -q 'data race' "$work/report" && return 1
    fail "$*: status $status: $(head -n 20 "$work/report")"
}
reported() { # fault, within so many runs; waits that hang give up soon
    local seed
    for ((seed = 1; seed <= $2; seed++)); do
        run "$1" --bound 100000000 --seed $seed || return 0
    done
    return 1
}
races=0
while read -r name race; do
    case $race in
    race) reported "$name" 60 || fail "$name: no race in 60 runs"; runs=3 races=$((races + 1)) ;;
    unseen) ! reported "$name" 10 || fail "$name: the sanitizer sees it now; say so in docs/limits.md and in the fault's file"; runs=3 ;;
    -) ! reported "$name" 2 || fail "$name: a race that its file says nothing of: $(head -n 40 "$work/report")"; runs=1 ;;
    *) fail "$name: '$race' is no word of the list" ;;
    esac
    for ((seed = 1; seed <= runs; seed++)); do
        run "$name" --twin --seed $seed || fail "$name, twin: $(head -n 40 "$work/report")"
    done
    echo "ok: $name, $race; its twin is none"
done < <("$FAULTS" --list | awk '{print $1, $6}')
[ "$races" -ge 15 ] || fail "only $races races"
echo ok
