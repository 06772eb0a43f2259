#!/usr/bin/env bash
# ranks.sh FOLDER WAY: where ranks are. processes: one process each, on one GPU and on all that are there, memory by IPC.
# cpu: one rank is a CPU thread, in one process and in several. Results right, counts of the trace those of the kernels.
source "$(dirname "$0")/../common/common.sh"
[ "$BACKEND" = cuda ] || exit 77
export XS_BACKEND=cuda XS_WAIT_NS=30000000000
check() { # name, program, words...
    local run=$work/$1 program=$2
    shift 2
    "$XS" record -o "$run" -- "$EXAMPLES/$program" --counts "$run.counts" "$@" >"$run.out" 2>"$run.err" ||
        { cat "$run.out" "$run.err"; fail "$program $*"; }
    agrees "$run" "$run.counts"
}
case $2 in
processes)
    export CUDA_VISIBLE_DEVICES=0
    check barrier_1 barrier --processes --ranks 2 --rounds 20
    check pipeline_1 pipeline --processes --rounds 20
    check combine_1 combine --processes --ranks 2 --rounds 3
    unset CUDA_VISIBLE_DEVICES
    [ "$gpus" -lt 2 ] || { check barrier_all barrier --processes --ranks 4 --rounds 50
                           check combine_all combine --processes --ranks 4 --rounds 5; }
    ;;
cpu)
    export XS_CPU_RANKS=0
    check barrier_cpu barrier --ranks 3 --rounds 50
    check pipeline_cpu_produces pipeline --rounds 50
    check combine_cpu combine --ranks 3 --rounds 5
    check barrier_cpu_processes barrier --processes --ranks 2 --rounds 50
    XS_CPU_RANKS=1 check pipeline_cpu_consumes pipeline --rounds 50
    XS_CPU_RANKS=1 check barrier_between barrier --ranks 3 --rounds 50 # two launches on one GPU
    same "ranks on the CPU" "$(ask "$work/barrier_cpu" 'select count(*) from rank where device < 0')" 1
    ;;
esac
