#!/usr/bin/env bash
# reader.sh FOLDER stops|dies: the recorder is away for a second, or for good, while kernels go on.
source "$(dirname "$0")/marks.sh"
run=$work/run
records=30000
[ "$BACKEND" = cuda ] || [ "$2" = stops ] || records=100000 # a busy machine needs time to look while it runs
export MARKS_PID=$work/pid MARKS_CODE=$work/code
"$XS" record --no-export -o "$run" -- bash -c '"$@" & echo $! > "$MARKS_PID"; wait $!; echo $? > "$MARKS_CODE"' bash \
    "$marks" ranks=2 grid=4 records=$records pace=100000 > "$run.out" 2> "$run.err" &
recorder=$!
trap 'kill -9 $recorder "$(cat "$MARKS_PID" 2>/dev/null)" 2>/dev/null || true' EXIT
until_so 20000 test -s "$MARKS_PID" || fail "the program does not start"
pid=$(cat "$MARKS_PID")
runs() { "$XS" hang "$pid" > "$work/hang" 2>&1 || [ $? -le 2 ]; }
until_so 20000 runs || { cat "$work/hang"; fail "no world is seen"; }
sleep 0.5
if [ "$2" = stops ]; then
    kill -STOP $recorder
    sleep 1
    kill -CONT $recorder
    wait $recorder || { cat "$run.err"; fail "the recorder's exit code"; }
    exact "$run"
    exit
fi
kill -9 $recorder
gone "$pid" && fail "the application went with its recorder"
runs || { cat "$work/hang"; fail "another reader finds nothing"; }
until_so 60000 test -s "$MARKS_CODE" || fail "the application does not come to its end"
same "exit code of the application" "$(cat "$MARKS_CODE")" 0
same "marks counted" "$(word "$run.out" marks)" $((2 * 4 * 4 * records))
sound "$run"
same "what the dead recorder saw of the end" "$(ask "$run" 'select coalesce(sum(clean), 0) from process')" 0
