#!/usr/bin/env bash
# A test that hangs ends, with all its processes, and the log says where it was; of others the exit code is passed on.
# watch_test.sh WATCH
set -uo pipefail
watch=$1 folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A process that was killed takes a while to end on a busy machine.
gone() { # file with a pid
    local tries
    for tries in $(seq 600); do
        grep -q '^State:.*[RSDT] ' "/proc/$(cat "$1")/status" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}
fail() { echo "FAILED: $*" >&2; cat "$folder/log" >&2; exit 1; }

bash "$watch" 4 sh -c 'sleep 3600 & echo $! >"$0"; wait' "$folder/pid" >"$folder/log" 2>&1
[ $? = 124 ] || fail "a hang must give 124"
grep -q '^HANGS: sh -c' "$folder/log" || fail "the log does not say what hangs"
for words in '^== process [0-9]*, parent [0-9]*: sh -c' '^== process [0-9]*, parent [0-9]*: sleep 3600' '^thread [0-9]* sleep: S .*nanosleep'; do
    grep -q "$words" "$folder/log" || fail "the log has no line $words"
done
gone "$folder/pid" || fail "a process of the test is left"
for code in 0 7 77; do
    bash "$watch" 600 sh -c "exit $code" >"$folder/log" 2>&1
    [ $? = $code ] || fail "exit code $code is not passed on"
done
bash "$watch" 600 sh -c 'kill -INT $$; exit 0' >"$folder/log" 2>&1
[ $? = 130 ] || fail "the test ignores SIGINT"
bash "$watch" 600 sh -c 'sleep 3600 & echo $! >"$0"' "$folder/pid" >"$folder/log" 2>&1 || fail "a process left behind spoils the test"
gone "$folder/pid" || fail "a process is left behind"
echo PASS
