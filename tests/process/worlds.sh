#!/usr/bin/env bash
# Two worlds in one capture had each other's slots and ranks: of a program that ran twice under xs record the report told 124 errors. A third one took the
# place of the second, whose capture was closed, and the recorder crashed.
# worlds.sh XS COMBINE
set -uo pipefail
xs=$(realpath "$1") combine=$(realpath "$2") folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "FAILED: $*" >&2; cat said >&2; exit 1; }
kept() { sed -n "$2s/.* signals \([0-9]*\) .*/\1/p" "$1"; } # signals that the kernels of line $2 counted
# A capture of one world: no error, and the signals that its kernels counted in memory of their own.
is_world() { # NAME SIGNALS PROCESSES
    "$xs" check "$1" >found || [ $? = 2 ] || fail "$1: $(cat found)" # 2: something is not known, on a busy machine
    [ "$("$xs" query "$1" "select count(*) as n from events where event in ('signal', 'watermark')" | tail -1 | tr -d ' ')" = "$2" ] || fail "$1 has not $2 signals"
    grep -q "^xs: $1.xs: [0-9]* records of $3 process" said || fail "$1 is not of $3 processes"
}

for how in "--scheduler sim" "--scheduler threads"; do # one after the other
    "$xs" record -o one -- sh -c "for n in 2 3 1 4; do '$combine' $how --rounds \$n; done >counts" 2>said || fail "xs record gave $?"
    is_world one "$(kept counts 1)" 1
    for i in 2 3 4; do is_world one.world$i "$(kept counts $i)" 1; done
    [ ! -e one.world5.xs ] || fail "a fifth world"
done

# At once, and each with a process a rank: those of one world have one capture.
"$xs" record -o many -- sh -c "'$combine' -p --ranks 3 --rounds 2 >a & '$combine' -p --ranks 2 --rounds 3 >b; wait" 2>said || fail "xs record gave $?"
[ "$(ls many*.xs | wc -l)" = 2 ] || fail "not two captures: $(ls)"
sum() { awk '{ for (i = 1; i < NF; i++) if ($i == "signals") n += $(i + 1) } END { print n }' "$1"; }
if [ "$("$xs" query many "select max(rank) as n from events" | tail -1 | tr -d ' ')" = 2 ]; then
    is_world many "$(sum a)" 3 && is_world many.world2 "$(sum b)" 2
else
    is_world many "$(sum b)" 2 && is_world many.world2 "$(sum a)" 3
fi
grep -q '^xs: 2 worlds were made' said || fail "nothing was said of two worlds"

"$xs" record --no-export -o alone -- "$combine" --scheduler sim --rounds 1 >counts 2>said || fail "xs record gave $?"
! grep -q 'worlds' said || fail "one world is two"
# The second capture looked as if it were of this run.
"$xs" record --no-export -o one -- "$combine" --scheduler sim --rounds 1 >counts 2>said || fail "xs record gave $?"
grep -q '^xs: of an earlier run, which made more worlds: .*one.world2.xs$' said || fail "nothing was said of the earlier world"
echo PASS
