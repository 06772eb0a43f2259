#!/usr/bin/env bash
# clock.sh FOLDER true|planted: the clock of a GPU against the kernels that CUPTI tells of. true: every kernel encloses what was stamped
# inside it. planted: errors of 5 and 10 us in the GPU's answers are found. What the answers' brackets and the kernels' slacks hide of an
# error differs from machine to machine and is the same for both, so that their contradictions are 5 us apart.
source "$(dirname "$0")/../common/common.sh"
bench=$build/tests/bench/bench_clock_residual run=$work/run
[ -x "$bench" ] || { echo "skipped: benchmarks are not built"; exit 77; }
clock() { ask "$run" "select $1 from clock where device >= 0"; }
record() { # error planted, ns; for 10 s: in 5 the two contradictions differed by up to 530 ns from what was planted more
    XS_TEST_CLOCK_OFFSET_NS=$1 "$bench" 10 "$run.xs" > "$work/out" 2>&1 || true
    cat "$work/out"
    state=$(ask "$run" 'select state from cupti')
    [ "$state" = ENDED ] || { echo "skipped: CUPTI $state: $(ask "$run" 'select why from cupti')"; exit 77; }
    at_least "kernels behind the fit" "$(clock kernels)" 100
    at_least "step, ns" "$(clock step_ns)" 1
}
found() { # error planted, ns
    record "$1"
    fault=$(clock fault_ns)
    at_least "contradiction of $1 ns planted" "$fault" 500 # answers agree with each other, and kernels too, within 150
    at_least "bound, ns" "$(clock bound_ns)" "$fault"
    "$XS" report "$run" > "$work/report"
    has "$work/report" "clock fault of GPU 0"
}
if [ "$2" = true ]; then
    record 0
    same "contradiction, ns" "$(clock fault_ns)" 0
    same "writers outside of their kernel by more than the bound" "$(ask "$run" "select count(*) from writer w join gpu_kernel k on k.id = \
w.gpu_kernel where w.begin_ns < k.begin_ns - (select bound_ns from clock where device >= 0) or w.end_ns > k.end_ns + (select bound_ns from clock \
where device >= 0)")" 0
    same "writers in no kernel" "$(ask "$run" 'select count(*) from writer where gpu_kernel is null')" 0
else
    found 5000
    of_5=$fault
    rm -rf "$run" "$run".*
    found 10000
    at_least "more contradiction for 5 us more" $((fault - of_5)) 4500
    at_least "and no more than that" $((5500 - (fault - of_5))) 0
fi
