#!/bin/sh
# check.sh off_is_free|growth ARCH: compiles cubins of this folder's kernels and compares them (cubin.c). Exit 77: no nvcc.
set -eu
check=$1 arch=$2
here=$(dirname "$0")
nvcc=${XS_NVCC:-$(command -v nvcc || true)}
if [ -z "$nvcc" ]; then
    echo "no nvcc"
    [ -z "${CI:-}" ] && exit 77
    exit 1
fi
work=$XS_WORK/$check.sm_$arch
mkdir -p "$work"

compile() { # output source options...
    output=$work/$1 source=$here/$2
    shift 2
    "$nvcc" -std=c++17 -arch="sm_$arch" -cubin "$@" -o "$output" "$source"
}

# shellcheck disable=SC2086 # XS_INCLUDES is two options
compile plain.cubin primitives.cu -DXS_TRACE=0 $XS_INCLUDES
case $check in
off_is_free)
    compile hand.cubin by_hand.cu
    "$XS_CUBIN" compare "$work/plain.cubin" "$work/hand.cubin"
    ;;
growth)
    compile traced.cubin primitives.cu -DXS_TRACE=1 $XS_INCLUDES
    # The bar is 8 registers. What is over it today may not become more: waits, since a wait that has to wait keeps the
    # writer, its note and a status line beside the poll loop, and what is made of several waits.
    "$XS_CUBIN" growth "$work/plain.cubin" "$work/traced.cubin" 8 wait_slot=36 wait_ge_bounded=38 wait_expected=34 \
        watermark_wait=32 gate_wait=36 elect=40 elect_warp=40 gate_arrive=32 pub_release=34 watermark_advance=34 \
        signal_slot=34 bus_flush=34 kernel_abort=34 heartbeat=34 try_consume=40 consume=40 publish=40 barrier_all=38
    ;;
*)
    echo "usage: check.sh off_is_free|growth ARCH"
    exit 64
    ;;
esac
