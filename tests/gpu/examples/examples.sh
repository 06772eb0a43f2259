#!/usr/bin/env bash
# The examples on the GPU, as tests/examples/counts_agree.sh runs them on the host: on one GPU, and on all that are there.
source "$(dirname "$0")/../common/common.sh"
agree() { bash "$(dirname "$0")/../../examples/counts_agree.sh" "$work/$1"; }
if [ "$gpus" -ge 2 ]; then
    CUDA_VISIBLE_DEVICES=0 agree one
fi
agree all
