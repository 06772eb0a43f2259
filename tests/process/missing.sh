#!/usr/bin/env bash
# A world of which some processes never came was waited for without a word: xs record says for whom. missing.sh XS APP
set -uo pipefail
xs=$(realpath "$1") app=$(realpath "$2") folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
: >said
fail() { echo "FAILED: $*" >&2; cat said >&2; exit 1; }
end() { printf '\1' | dd of=counters bs=1 seek=$((62 * 8)) conv=notrunc status=none; } # the application destroys its world
running() { [ -e counters ] && [ "$(stat -c %s counters)" = 512 ]; }

XS_WORLD=missing.$$ XS_RANK=1 XS_RANKS=4 "$xs" record --no-export -o lone -- "$app" counters 100 1000 told 2>said &
recorder=$!
for ((i = 0; i < 600; i++)); do
    grep -q '^xs: process [0-9]* waits for ranks 0, 2-3 of 4, no process has come for them: start them with the same XS_WORLD and XS_RANKS=4$' said && break
    sleep 0.1
done
[ $i -lt 600 ] || { end; fail "nothing was said of the ranks that never came"; }
end
wait $recorder || fail "xs record gave $?"
[ "$(grep -c 'waits for' said)" = 1 ] || fail "said more than once"

rm counters
"$xs" record --no-export -o alone -- "$app" counters 100 1000 told 2>said & # a world that is whole
recorder=$!
until running; do sleep 0.1; done
sleep 3
end
wait $recorder || fail "xs record gave $?"
! grep -q 'waits for' said || fail "a world that is whole waits for nobody"
echo PASS
