#!/usr/bin/env bash
# burst.sh FOLDER: writers that emit as fast as they go, each into a ring of its own, no more than that holds: whole at the end.
source "$(dirname "$0")/rings.sh"
[ "$BACKEND" = cuda ] || exit 77 # host writers share rings
run=$work/run
XS_RING_RECORDS=4096 record "$run" ranks=2 grid=8 records=4000
exact "$run"
same "lost" "$(ask "$run" 'select sum(lost) from ring')" 0
