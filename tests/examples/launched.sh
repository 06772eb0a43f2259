#!/usr/bin/env bash
# Started by a launcher, each process ran all ranks, though --ranks said as many as there were processes; told XS_RANK, it was refused.
source "$(dirname "$0")/common.sh"
export run=$work/run name
launch() { # what one process gets in its environment, by its number; program and arguments
    "$XS" record -o "$run" -- bash -c '
        environment=$1 pids=; shift
        for ((i = 0; i < 3; i++)); do env $(eval "echo $environment") "$@" --counts "$run.counts" & pids="$pids $!"; done
        for p in $pids; do wait $p || exit; done' launch "$@" > "$work/out" 2>&1 || { cat "$work/out" >&2; fail "$* gave $?"; }
}
for who in 'RANK=$i WORLD_SIZE=3 MASTER_ADDR=here MASTER_PORT=$$' 'OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=3 PMIX_NAMESPACE=$$' \
    'SLURM_PROCID=$i SLURM_STEP_NUM_TASKS=3 SLURM_JOB_ID=$$ SLURM_STEP_ID=0' 'XS_RANK=$i XS_RANKS=3 XS_WORLD=$$'; do
    for name in combine barrier publish; do
        rm -rf "$run".*
        launch "$who" "$EXAMPLES/$name" --ranks 3 --rounds 5
        same "$name: processes by rank" "$(ask "$run" "select group_concat(first_rank || ':' || ranks) from (select first_rank, ranks from process order by 1)")" '"0:1,1:1,2:1"'
        same "$name: right" "$(grep -c "result right" "$run.counts")" 3
        agrees "$run" "$run.counts"
        [ ! -e "$run.world2.xs" ] || fail "they are not of one world"
    done
done
# Without --ranks each of two processes ran the four ranks of the default, in two worlds, and nobody said so.
two='RANK=$i WORLD_SIZE=3 MASTER_ADDR=here MASTER_PORT=$$'
for name in combine barrier publish; do
    rm -rf "$run".*
    launch "$two" "$EXAMPLES/$name" --rounds 5
    same "$name, told no number: ranks" "$(ask "$run" "select count(*) from rank")" 3
    agrees "$run" "$run.counts"
    [ ! -e "$run.world2.xs" ] || fail "they are not of one world"
done
rm -rf "$run".*
launch "$two" "$EXAMPLES/combine" --rounds 2 --ranks 4
same "told another number: worlds" "$(ls "$run"*.xs | wc -l)" 3
same "what is said of it" "$(grep -c '^combine: 3 processes were started, and --ranks says 4: each of them runs all ranks' "$work/out")" 1
RANK=0 WORLD_SIZE=1 "$EXAMPLES/combine" --rounds 2 > "$work/alone" # a shell of srun's is one task
grep -q 'ranks 0..3 result right' "$work/alone" || fail "$(cat "$work/alone")"
# How many there are is the environment's to say.
XS_RANKS=2 "$EXAMPLES/combine" --rounds 2 > "$work/two"
grep -q 'ranks 0..1 result right' "$work/two" || fail "$(cat "$work/two")"
status=0
XS_RANKS=2 "$EXAMPLES/combine" --rounds 2 --slow 2 2> "$work/slow" || status=$?
same "status of a slow rank that is not there" $status 64
# All processes would have been rank 1, and have waited for the others.
status=0
XS_RANK=1 XS_RANKS=4 "$EXAMPLES/combine" --rounds 2 --ranks 4 --processes 2> "$work/told" || status=$?
same "status of processes that are told elsewhere who they are" $status 64
same "what is said of it" "$(cat "$work/told")" "combine: --processes starts all ranks itself, and XS_RANK is set"
echo PASS
