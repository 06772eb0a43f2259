#!/usr/bin/env bash
# Blame on runs whose culprit is known: the slow rank of combine leads, and in pipeline the slot that the slow one gives back (or fills).
source "$(dirname "$0")/common.sh"

sim() { # name, example, options
    local name=$1 example=$2
    shift 2
    XS_CAPTURE=$work/$name "$EXAMPLES/$example" --scheduler sim "$@" > /dev/null
    "$XS" export --quiet "$work/$name"
}
whole() { # the path has no hole, and sums, spans and parts are the same time
    local run=$work/$1
    same "$1: path without a hole" "$(ask "$run" 'select count(*) from critical_path p where not exists (select 1 from critical_path q where q.begin_ns = p.end_ns)')" 1
    same "$1: spans" "$(ask "$run" 'select sum(duration_ns) from critical_path')" "$(ask "$run" 'select end_ns - begin_ns from blame_path')"
    same "$1: blame" "$(ask "$run" 'select sum(blamed_ns) from blame')" "$(ask "$run" 'select end_ns - begin_ns from blame_path')"
    same "$1: parts" "$(ask "$run" 'select sum(blamed_ns) from blame_parts')" "$(ask "$run" 'select end_ns - begin_ns from blame_path')"
    same "$1: ranks" "$(ask "$run" 'select sum(blamed_ns) from blame_ranks')" "$(ask "$run" 'select end_ns - begin_ns from blame_path')"
    same "$1: not known" "$(ask "$run" "select count(*) from blame where part = 'unknown' and blamed_ns > 1000")" 0
}

for seed in 1 2 3; do
    for slow in 1 2; do
        sim combine combine --ranks 4 --rounds 8 --rows 256 --work 20000 --slow $slow --slow-percent 300 --seed $seed
        whole combine
        same "combine, seed $seed: who is blamed" "$(ask "$work/combine" 'select rank from blame_ranks limit 1')" $slow
        same "combine, seed $seed: whose slots lead" "$(ask "$work/combine" 'select owes_rank from blame_slots group by 1 order by sum(blamed_ns) desc limit 1')" $slow
        same "combine, seed $seed: who works too long" "$(ask "$work/combine" 'select rank from blame_ranks where slow > 1.2 order by slow desc limit 1')" $slow
    done
    sim pipeline pipeline --rounds 40 --slow 1 --slow-percent 300 --work 20000 --seed $seed
    whole pipeline
    same "slow consumer, seed $seed" "$(ask "$work/pipeline" 'select slot, owes_rank from blame_slots limit 1')" 'rank 0 room,1'
    sim pipeline pipeline --rounds 40 --slow 0 --slow-percent 300 --work 20000 --seed $seed
    whole pipeline
    same "slow producer, seed $seed" "$(ask "$work/pipeline" 'select slot, owes_rank from blame_slots limit 1')" 'rank 1 full,0'
done
# Who ends last is a warp that waits for nobody: its block's first warp does, and the others are joined to it. What the slow producer worked is on
# the path all the same, whichever warp ends last and however threads are run.
slow_producer() { # run
    same "$1: the slow producer is on the path" "$(ask "$work/$1" "select sum(blamed_ns) > 1000000 from blame where part = 'compute' and owes_rank = 0")" 1
}
for example in pipeline publish; do
    XS_CAPTURE=$work/$example.threads "$EXAMPLES/$example" --rounds 20 --work 500000 --slow 0 --slow-percent 200 --scheduler threads > /dev/null
    "$XS" export --quiet "$work/$example.threads"
    slow_producer "$example.threads"
    XS_CAPTURE=$work/$example.apart "$EXAMPLES/$example" --rounds 20 --work 500000 --slow 0 --slow-percent 200 --processes > /dev/null
    "$XS" export --quiet "$work/$example".apart.rank*.xs -o "$work/$example.apart"
    slow_producer "$example.apart"
    sim "$example" "$example" --rounds 20 --work 20000 --slow 0 --slow-percent 200
    whole "$example"
    slow_producer "$example"
    same "$example: who is blamed" "$(ask "$work/$example" 'select rank from blame_ranks limit 1')" 0
done
# The report and the JSON forms are the same numbers.
"$XS" report "$work/pipeline" > "$work/report"
grep -q '^Where the time went' "$work/report" || fail "the report has no blame"
grep -Eq '^  rank 0 +rank 1 full ' "$work/report" || fail "the report does not name the slot"
"$XS" check --json "$work/pipeline" > "$work/check" || true
grep -q '"blame_slots"' "$work/check" || fail "xs check --json has no blame"
# A hang: the path ends at the wait that holds up the others.
"$XS" record -o "$work/hang" -- "$FAULTS" producer_stops --scheduler threads > /dev/null 2>&1 || true
same "a run that gave up" "$(ask "$work/hang" "select count(*) > 0 from blame where part = 'owed' and owes_rank = 0")" 1
# Starvation: a server that always begins its scan at the same clients.
XS_CAPTURE=$work/scan "$FAULTS" unfair_scan --scheduler sim --seed 1 > /dev/null 2>&1 || true
same "the clients that are not served" "$(ask "$work/scan" 'select group_concat(peer) from (select peer from starvation where waits <= 1 and finding is not null and longest_bypass > 16 order by peer)')" '"3,4"'
