#!/usr/bin/env bash
# A traced launch says how many blocks of it an SM holds, and how many of the same kernel untraced: what the driver says of both.
source "$(dirname "$0")/../common/common.sh"
for e in combine pipeline barrier publish; do
    run=$work/$e
    "$XS" record -o "$run" -- "$EXAMPLES/$e" --backend cuda --rounds 3
    IFS=, read -r blocks plain registers plain_registers changed <<< "$(ask "$run" 'select blocks_per_sm, plain_blocks_per_sm, registers, plain_registers, changed from residency')"
    at_least "$e: blocks per SM" "$blocks" 1
    at_least "$e: blocks per SM, plain" "$plain" "$blocks"
    at_least "$e: registers" "$registers" 16
    at_least "$e: registers, plain" "$plain_registers" 16
    same "$e: changed by tracing" "$changed" "$((plain > blocks))"
    same "$e: bytes of local memory" "$(ask "$run" 'select local_bytes from residency')" 0
    same "$e: kernels of which CUPTI says otherwise" "$(ask "$run" "select count(*) from kernels where launch is not null and registers <> $registers")" 0
    "$XS" report "$run" > "$run.report"
    has "$run.report" "$e, traced: $blocks block"
    has "$run.report" "plain: $plain (registers $registers and $plain_registers"
done
# Stopped, with nothing spent on tracing: the plain kernel runs, is right, and records nothing.
run=$work/stopped
XS_TRACE_START=0 XS_PLAIN_STOPPED=1 "$XS" record -o "$run" -- "$EXAMPLES/combine" --backend cuda --rounds 3
same "stopped: writers" "$(ask "$run" 'select count(*) from writer')" 0
same "stopped: registers of the kernel" "$(ask "$run" "select max(registers) from kernels where kernel like 'combine%'")" \
    "$(ask "$work/combine" 'select plain_registers from residency')"
"$XS" report "$run" > "$run.report"
has "$run.report" "ran without tracing, which was stopped (XS_PLAIN_STOPPED): 1"
