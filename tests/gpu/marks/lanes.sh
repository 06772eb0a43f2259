#!/usr/bin/env bash
# lanes.sh FOLDER: the lanes of a warp go on together from xs_writer_begin. Where they do not, those that only spin run first, through
# the whole kernel, and the lane that records comes behind them: nothing is seen in the meantime, and the kernel takes twice as long.
source "$(dirname "$0")/marks.sh"
run=$work/run
record "$run" ranks=2 grid=4 records=300 pace=1000000
exact "$run"
took=$(ask "$run" 'select (max(end_ns) - min(begin_ns)) / 1000000 from writer')
at_least "ms of 300 marks, one a ms" "$took" 290
[ "$BACKEND" = host ] || [ "$took" -lt 400 ] || fail "300 marks, one a ms, took $took ms"
