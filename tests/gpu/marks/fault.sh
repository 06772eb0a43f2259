#!/usr/bin/env bash
# fault.sh FOLDER KIND: one warp faults while all others go on recording: the host is told, and what the warp recorded up to its
# fault is there, with the marks of the others.
source "$(dirname "$0")/marks.sh"
[ "$BACKEND" = cuda ] || exit 77
run=$work/run
code=0
"$XS" record --no-export -o "$run" -- "$marks" ranks=2 grid=8 records=20000 pace=50000 fault="$2" > "$run.out" 2> "$run.err" || code=$?
cat "$run.out" "$run.err"
same "exit code" "$code" 7
sound "$run"
mark="kind = (select id from word where class = 'event' and name = 'mark')"
victim="(select id from writer where rank = 0 and block = 0 and warp = 1)"
same "last mark of the one that faulted" "$(ask "$run" "select max(value) from event where $mark and writer = $victim")" 10000
same "lost of the one that faulted" "$(ask "$run" "select coalesce(sum(lost), 0) from ring where id in (select ring from event where $mark and writer = $victim)")" 0
same "writers seen" "$(ask "$run" 'select count(*) from writer')" 64
echo "marks of the others: $(ask "$run" "select min(n), max(n) from (select max(value) n from event where $mark and writer <> $victim group by writer)")"
"$XS" report "$run" > "$work/report"
