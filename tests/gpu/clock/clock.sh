#!/usr/bin/env bash
# clock.sh FOLDER true|planted: the clock of a GPU against the kernels that CUPTI tells of. true: every kernel encloses what was stamped
# inside it. planted: an error of 5 us in the GPU's answers is found, and the bound holds it.
source "$(dirname "$0")/../common/common.sh"
bench=$build/tests/bench/bench_clock_residual run=$work/run
[ -x "$bench" ] || { echo "skipped: benchmarks are not built"; exit 77; }
[ "$2" = true ] || export XS_TEST_CLOCK_OFFSET_NS=5000
"$bench" 5 "$run.xs" > "$work/out" 2>&1 || true
cat "$work/out"
state=$(ask "$run" 'select state from cupti')
[ "$state" = ENDED ] || { echo "skipped: CUPTI $state: $(ask "$run" 'select why from cupti')"; exit 77; }
clock() { ask "$run" "select $1 from clock where device >= 0"; }
at_least "kernels behind the fit" "$(clock kernels)" 100
at_least "step, ns" "$(clock step_ns)" 1
if [ "$2" = true ]; then
    same "contradiction, ns" "$(clock fault_ns)" 0
    same "writers outside of their kernel by more than the bound" "$(ask "$run" "select count(*) from writer w join gpu_kernel k on k.id = \
w.gpu_kernel where w.begin_ns < k.begin_ns - (select bound_ns from clock where device >= 0) or w.end_ns > k.end_ns + (select bound_ns from clock \
where device >= 0)")" 0
    same "writers in no kernel" "$(ask "$run" 'select count(*) from writer where gpu_kernel is null')" 0
else
    at_least "contradiction, ns" "$(clock fault_ns)" 2500
    at_least "bound, ns" "$(clock bound_ns)" 4500
    "$XS" report "$run" > "$work/report"
    has "$work/report" "clock fault of GPU 0"
fi
