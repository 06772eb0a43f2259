#!/usr/bin/env bash
# ThreadSanitizer on the zoo: planted fence and payload faults are races, healthy twins are not. What it cannot see (docs/limits.md):
# scopes (narrow_release).
source "$(dirname "$0")/common.sh"
export TSAN_OPTIONS="exitcode=66 halt_on_error=1"
run() { timeout 600 "$FAULTS" "$@" --scheduler threads --rounds 40 --work 200000 > /dev/null 2> "$work/report"; }
reported() { # fault: within ten runs
    local seed
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        run "$1" --seed $seed || { grep -q 'data race' "$work/report" && return 0; fail "$1: $(head -n 3 "$work/report")"; }
    done
    return 1
}
for name in missing_acquire missing_fence fence_after_add flag_before_data store_before_commit missing_join double_buffer kernel_boundary \
    broadcast_unset expected_low; do
    reported "$name" || fail "$name: no race in ten runs"
    for seed in 1 2 3; do
        run "$name" --twin --seed $seed || fail "$name, twin: $(head -n 20 "$work/report")"
    done
    echo "ok: $name is a race, its twin is not"
done
! reported narrow_release || fail "narrow_release: the sanitizer sees scopes now; say so in docs/limits.md"
echo ok
