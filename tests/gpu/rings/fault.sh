#!/usr/bin/env bash
# fault.sh FOLDER KIND: a fault takes records in device memory along. What was copied before is whole, the rest is counted or
# called unknown, the report says why; status lines and ring headers are in mapped memory and stay.
source "$(dirname "$0")/rings.sh"
[ "$BACKEND" = cuda ] || exit 77
run=$work/run
code=0
"$XS" record --no-export -o "$run" -- "$marks" ranks=2 grid=8 records=20000 pace=50000 fault="$2" > "$run.out" 2> "$run.err" || code=$?
cat "$run.out" "$run.err"
same "exit code" "$code" 7
sound "$run"
same "writers seen" "$(ask "$run" 'select count(*) from writer')" 64
same "process with an unknown tail" "$(ask "$run" 'select sum(tail_unknown) from process')" 1
"$XS" report "$run" > "$work/report"
has "$work/report" "records in device memory that were not copied yet are lost"
echo "records that came out before the fault: $(ask "$run" 'select sum(kept) from ring')"
