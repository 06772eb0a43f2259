#!/usr/bin/env bash
# overload.sh FOLDER MODE RING [PLACEMENT]: far more records than a ring holds, at full rate, on rings of RING records. What is lost is
# counted exactly, per ring, against what the kernels counted; then with more writers than rings.
source "$(dirname "$0")/marks.sh"
export XS_RING_RECORDS=$3 XS_PLACEMENT=${4:-mapped}
run=$work/$2.$3
record "$run" mode="$2" ranks=2 grid=8 records=20000
exact "$run"
same "rings that emitted anything but 20005 a writer" "$(ask "$run" 'select count(*) from ring where emitted % 20005 <> 0')" 0
[ "$3" -ge 4096 ] || at_least "records lost" "$(ask "$run" 'select sum(lost) from ring')" 1000
if [ "$2" = discard ]; then
    same "lost, but not since the ring was full" "$(ask "$run" "select count(*) from loss_gaps where cause <> 'discarded'")" 0
fi
run=$work/$2.$3.few
XS_RINGS=64 record "$run" mode="$2" grid=96 records=3000 launches=3
exact "$run"
[ "$BACKEND" = host ] || at_least "writers without a ring" "$(word "$run.out" without)" 1
