#!/usr/bin/env bash
# ends.sh FOLDER exit|leave|kill: an application that exits without stopping, leaves in mid-kernel, or is killed there. It is
# gone at once and what it recorded is whole. In mid-kernel: when every warp has told the host of so many marks, however long the
# first launch takes; the program says how far it saw the launch come.
source "$(dirname "$0")/marks.sh"
run=$work/run
marks_each=100 # the host has 32 threads for few cores
[ "$BACKEND" = host ] || marks_each=400
load="records=5000 pace=2000" at_end=0
[ "$2" = exit ] || load="records=60000 pace=1000000"
case $2 in
exit) how=exit wanted=0 ;;
leave) how=leave:$marks_each wanted=0 ;;
kill) how=kill:$marks_each wanted=137 ;;
esac
code=0
# shellcheck disable=SC2086 # words
"$XS" record --no-export -o "$run" -- "$marks" ranks=2 grid=4 $load end=$how > "$run.out" 2> "$run.err" || code=$?
over=$(milliseconds)
cat "$run.out" "$run.err"
printf 'capture: %s\n' "$(ask "$run" "select (select count(*) from writer) || ' writers, ' || coalesce(sum(kept), 0) || ' records kept, ' || coalesce(sum(lost), 0) || ' lost, ' || coalesce(sum(emitted), 0) || ' emitted' from ring")"
same "exit code" "$code" "$wanted"
if [ "$2" = exit ]; then
    exact "$run"
else
    at_end=$(sed -n 's/^ends at \([0-9]*\) ms$/\1/p' "$run.out")
    [ $((over - at_end)) -lt $([ "$BACKEND" = host ] && echo 150000 || echo 15000) ] || fail "the end took $((over - at_end)) ms"
    sound "$run"
    same "writers" "$(ask "$run" 'select count(*) from writer')" 32
    # In memory of the device the last tenths of a second are not copied yet.
    least=$((marks_each - 10))
    [ "${XS_PLACEMENT:-}" != device ] || least=50
    at_least "marks" "$(ask "$run" "select min(n) from (select max(value) n from event where kind = (select id from word where class = 'event' and name = 'mark') group by writer)")" $least
fi
same "clean ends" "$(ask "$run" 'select coalesce(sum(clean), 0) from process')" 0
