#!/bin/sh
# check.sh off_is_free|growth|words|caps|examples ARCH: compiles cubins of this folder's kernels, or of the examples', and compares them (cubin.c). Exit 77: no nvcc.
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
[ "$check" = examples ] || compile plain.cubin primitives.cu -DXS_TRACE=0 $XS_INCLUDES
case $check in
off_is_free)
    compile hand.cubin by_hand.cu
    "$XS_CUBIN" compare "$work/plain.cubin" "$work/hand.cubin"
    ;;
growth)
    compile traced.cubin primitives.cu -DXS_TRACE=1 $XS_INCLUDES
    # The bar is 8 registers, as ptxas compiles it when nobody asks it to save any. What is over it may not become more.
    known="elect=39 elect_warp=40 try_consume=40 publish=37 barrier_all=36"
    if [ "$arch" = 120 ]; then # the begin of a writer takes one more there than fills an SM
        for kernel in bus_flush kernel_abort heartbeat gate_wait gate_arrive watermark_wait watermark_advance wait_expected \
            wait_ge_bounded pub_release wait_slot signal_slot; do
            known="$known $kernel=33"
        done
    fi
    "$XS_CUBIN" growth "$work/plain.cubin" "$work/traced.cubin" 8 $known
    ;;
words) # records of two words: no stack frame, and 40 registers at most
    compile words.cubin primitives.cu -DXS_TRACE=1 -DXS_RECORD_WORDS=2 $XS_INCLUDES
    known=""
    for kernel in elect elect_warp try_consume consume publish barrier_all bus_flush kernel_abort heartbeat gate_wait gate_arrive \
        watermark_wait watermark_advance wait_expected wait_ge_bounded pub_release wait_slot signal_slot; do
        known="$known $kernel=40"
    done
    "$XS_CUBIN" growth "$work/plain.cubin" "$work/words.cubin" 8 $known
    ;;
caps)
    # At most 8 registers more where the kernel is told to: XS_SAVE_REGISTERS and -maxrregcount of the file here, XS_KERNEL_CAPPED of a
    # kernel. None has a stack frame then.
    for cap in 24 32 40; do
        compile traced.$cap.cubin primitives.cu -DXS_TRACE=1 -DXS_SAVE_REGISTERS=1 $XS_INCLUDES -maxrregcount=$cap
    done
    "$XS_CUBIN" caps "$work/plain.cubin" 8 "$work/traced"
    compile capped.cubin capped.cu -DXS_TRACE=1 $XS_INCLUDES
    "$XS_CUBIN" within "$work/capped.cubin" capped 24
    ;;
examples)
    # As they are built.
    failed=0
    for example in combine pipeline barrier publish; do
        for trace in 0 1; do
            compile $example.$trace.cubin example.cu -DXS_TRACE=$trace -O3 $XS_INCLUDES \
                "-DEXAMPLE=\"../../examples/$example/$example.kernel.h\""
        done
        "$XS_CUBIN" resident "$work/$example.0.cubin" "$work/$example.1.cubin" 8 || failed=1
    done
    exit $failed
    ;;
*)
    echo "usage: check.sh off_is_free|growth|words|caps|examples ARCH"
    exit 64
    ;;
esac
