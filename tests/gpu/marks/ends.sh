#!/usr/bin/env bash
# ends.sh FOLDER exit|leave|kill: an application that exits without stopping, leaves in mid-kernel, or is killed there. It is
# gone at once and what it recorded is whole.
source "$(dirname "$0")/marks.sh"
run=$work/run
case $2 in
exit) how=exit wanted=0 pace=2000 ;;
leave) how=leave:500 wanted=0 pace=1000000 ;;
kill) how=kill:500 wanted=137 pace=1000000 ;;
esac
begin=$(milliseconds) code=0
"$XS" record --no-export -o "$run" -- "$marks" ranks=2 grid=4 records=5000 pace=$pace end=$how > "$run.out" 2> "$run.err" || code=$?
cat "$run.err"
same "exit code" "$code" "$wanted"
[ $(($(milliseconds) - begin)) -lt 15000 ] || fail "it took $(($(milliseconds) - begin)) ms"
if [ "$2" = exit ]; then
    exact "$run"
else
    sound "$run"
    same "writers" "$(ask "$run" 'select count(*) from writer')" 32
    at_least "marks" "$(ask "$run" "select min(n) from (select max(value) n from event where kind = (select id from word where class = 'event' and name = 'mark') group by writer)")" 50
fi
same "clean ends" "$(ask "$run" 'select coalesce(sum(clean), 0) from process')" 0
