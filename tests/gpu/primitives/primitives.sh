#!/usr/bin/env bash
# primitives.sh FOLDER CASE [one]: plain, traced and traced with few registers, several numbers of ranks, on one GPU and on all that are there (one: scope gpu,
# so one GPU). Payload is compared in the kernel; counts kept in other memory are those of the trace.
source "$(dirname "$0")/../common/common.sh"
name=$2
# life: a peer is dead after so long without a beat; threads of a busy machine may be away for longer than those of a GPU.
silence=20000000
[ "$BACKEND" = cuda ] || silence=2000000000
options=(--backend "$BACKEND" --rounds 100 --work "$silence")
run_case() { # ranks, visible GPUs ("" for all)
    local kind run
    [ -z "$2" ] || export CUDA_VISIBLE_DEVICES=$2
    "$BIN/gpu_prims_plain" "$name" "${options[@]}" --ranks "$1"
    for kind in traced saving; do
        run=$work/$1.${2:-all}.$kind
        "$XS" record -o "$run" -- "$BIN/gpu_prims_$kind" "$name" "${options[@]}" --ranks "$1" --counts "$run.counts"
        counts_agree "$run"
    done
    unset CUDA_VISIBLE_DEVICES
}
counts_agree() {
    [ "$name" != life ] || { ended "$1"; return 0; }
    agrees "$1" "$1.counts"
}
# Waits that end as they must end have no releasing signal.
ended() {
    same "records lost" "$(ask "$1" 'select coalesce(sum(lost), 0) from ring')" 0
    same "waits" "$(ask "$1" 'select count(*) from wait')" "$(kept "$1.counts" waits)"
    same "signals" "$(ask "$1" "select count(*) from events where event = 'signal'")" "$(kept "$1.counts" signals)"
    local how
    for how in "0 1 ok" "1 2 timeout" "2 1 peer_dead"; do # xs_result, how many of the four waits of a rank
        read -r result times words <<< "$how"
        same "waits ended $words" "$(ask "$1" "select count(*) from wait where result = $result")" $((times * $(kept "$1.counts" waits) / 4))
    done
}
mask=""
[ "$gpus" -lt 2 ] || mask=0
run_case 2 "$mask"
run_case 5 "$mask"
if [ "$gpus" -ge 2 ] && [ "${3:-}" != one ]; then
    run_case $((gpus + 1)) ""
fi
