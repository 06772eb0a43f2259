#!/usr/bin/env bash
# Every fault of the zoo ends, on both schedulers; a healthy twin never reads stale payload; faults of order show it. The same seed
# gives the same capture.
source "$(dirname "$0")/common.sh"
names=$("$FAULTS" --list | awk '{print $1}')
[ "$(wc -w <<< "$names")" -ge 50 ] || fail "only $(wc -w <<< "$names") faults"
for name in $names; do
    grep -qw "$name" "$(dirname "$0")/../../docs/fault-zoo.md" || fail "$name has no story in docs/fault-zoo.md"
    timeout 600 "$FAULTS" "$name" --scheduler sim --runs 10 > "$work/$name.fault" || fail "$name on sim: $(tail -n 1 "$work/$name.fault")"
    timeout 600 "$FAULTS" "$name" --twin --scheduler sim --runs 20 > "$work/$name.twin" || fail "$name, twin on sim"
    ! grep "stale payload" "$work/$name.twin" || fail "$name: its twin reads stale payload"
    timeout 600 "$FAULTS" "$name" --scheduler threads --bound 200000000 > "$work/$name.threads" || fail "$name on threads"
    timeout 600 "$FAULTS" "$name" --twin --scheduler threads > "$work/$name.twin" || fail "$name, twin on threads"
    ! grep "stale payload" "$work/$name.twin" || fail "$name: its twin reads stale payload on threads"
done
for name in missing_fence missing_acquire narrow_release flag_before_data store_before_commit missing_join double_buffer kernel_boundary broadcast_unset; do
    grep -q "stale payload" "$work/$name.fault" || fail "$name: ten seeds and no stale payload"
done
"$FAULTS" missing_acquire --twin --scheduler sim --runs 1000 > "$work/acquired" || fail "missing_acquire, 1 000 twins"
! grep "stale payload" "$work/acquired" || fail "missing_acquire: a twin reads stale payload"
for name in missing_acquire missing_fence; do
    for run in a b; do XS_CAPTURE=$work/$run "$FAULTS" $name --scheduler sim --seed 7 > "$work/$run.said"; done
    cmp "$work/a.xs" "$work/b.xs" && cmp "$work/a.said" "$work/b.said" || fail "$name: the same seed gave two runs"
done
XS_CAPTURE=$work/a "$FAULTS" leader_reset --scheduler sim --seed 5 > /dev/null
XS_CAPTURE=$work/b "$FAULTS" leader_reset --scheduler sim --seed 5 > /dev/null
cmp "$work/a.xs" "$work/b.xs" || fail "the same seed gave two captures"
[ "$("$FAULTS" no_such_fault > /dev/null 2>&1; echo $?)" = 64 ] || fail "an unknown name is no usage error"
echo ok
