#!/usr/bin/env bash
# As many blocks as the GPU holds at once, every warp a writer.
source "$(dirname "$0")/marks.sh"
[ "$BACKEND" = cuda ] || exit 77
export XS_RING_RECORDS=64
record "$work/run" grid=0 records=100 pace=2000000
exact "$work/run"
same "writers without a ring" "$(word "$work/run.out" without)" 0
at_least "writers" "$(word "$work/run.out" writers)" 1000
