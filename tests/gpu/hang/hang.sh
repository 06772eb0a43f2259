#!/usr/bin/env bash
# hang.sh FOLDER WAY RANKS WAITS WORDS...: a kernel that hangs in a known way, under xs record. xs hang names it within a
# second; after SIGKILL the process is gone, and its capture names the open waits.
source "$(dirname "$0")/../common/common.sh"
way=$2 ranks=$3 waits=$4 run=$work/run
shift 4
words="$*"
case $way in # what the hang itself is about: before it others may wait, for earlier values
away) need=5 ;;
self) need=1 ;;
*) need=3 ;;
esac
export XS_BACKEND=$BACKEND HANG_PID=$work/pid
"$XS" record -o "$run" -- bash -c 'echo $$ > "$HANG_PID"; exec "$0" "$@"' "$BIN/gpu_hanging" "$way" "$ranks" plan one > "$work/out" 2>&1 &
recorder=$!
trap 'kill -9 "$(cat "$work/pid" 2>/dev/null)" $recorder 2>/dev/null || true' EXIT
until_so 20000 test -s "$work/pid" || fail "the program does not start"
pid=$(cat "$work/pid")
hung() {
    "$XS" hang "$pid" > "$work/hang" 2> "$work/hang.err" || [ $? -eq 2 ] || return 1
    [ "$(grep -c "needs >= $need; owes: " "$work/hang")" -eq "$waits" ] && [ "$(grep -c ' owes: ' "$work/hang")" -eq "$waits" ]
}
until_so 20000 hung || { cat "$work/out" "$work/hang" "$work/hang.err"; fail "no hang with $waits open waits is seen"; }
best=100000
for _ in 1 2 3; do
    begin=$(milliseconds)
    "$XS" hang "$pid" > "$work/hang" || [ $? -eq 2 ] || fail "exit code of xs hang"
    took=$(($(milliseconds) - begin))
    [ "$took" -ge "$best" ] || best=$took
done
[ "$best" -lt 1000 ] || [ "$BACKEND" = host ] || [ -n "${XS_GPU_SANITIZED:-}" ] || fail "xs hang took $best ms"
printf 'ok: answer after %s ms: %s\n' "$best" "$(head -n 1 "$work/hang")"
has "$work/hang" "$words"
has "$work/hang" "Hung so far"
begin=$(milliseconds)
kill -9 "$pid"
until_so 10000 gone "$pid" || fail "the process is not gone 10 s after SIGKILL"
printf 'ok: gone %s ms after SIGKILL\n' $(($(milliseconds) - begin))
wait $recorder || true
same "open waits" "$(ask "$run" 'select count(*) from open_waits')" "$waits"
same "open waits without a slot" "$(ask "$run" "select count(*) from open_waits where slot_label is null or slot_label = ''")" 0
same "rings that do not add up" "$(ask "$run" 'select count(*) from ring where kept + lost <> emitted')" 0
same "records lost" "$(ask "$run" 'select coalesce(sum(lost), 0) from ring')" 0
"$XS" report "$run" > "$work/report"
has "$work/report" killed
