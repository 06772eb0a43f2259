#!/usr/bin/env bash
# All wait for what never comes; the host aborts, or the library does after XS_WAIT_NS: every wait ends softly, the kernel with
# it, and the GPU is still of use.
source "$(dirname "$0")/marks.sh"
XS_CAPTURE=$work/abort "$marks" ranks=2 grid=4 records=10 end=abort:300 | tee "$work/abort.out"
bound=300000000
[ "$BACKEND" = cuda ] || bound=5000000000 # until then every thread must have come to its wait
XS_CAPTURE=$work/wait XS_WAIT_NS=$bound "$marks" ranks=2 grid=4 records=10 end=wait | tee "$work/wait.out"
most=1.5
[ "$BACKEND" = cuda ] && [ -z "${XS_GPU_SANITIZED:-}" ] || most=300 # other load decides there
for run in "$work/abort" "$work/wait"; do
    sound "$run"
    same "waits" "$(ask "$run" 'select count(*) from wait')" 32
    same "waits that did not end as aborted" "$(ask "$run" 'select count(*) from wait where result <> 3 or open = 1')" 0
    awk -v most="$most" '/gave up/ { found = $3 <= most } END { exit !found }' "$run.out" || fail "it took too long"
done
