#!/usr/bin/env bash
# barrier_all of 8 ranks: when one stays away, 7 waits ended and 1 open on each of the others; when two, 2 open. The open ones
# say who owes them.
source "$(dirname "$0")/common.sh"
for away in 1 2; do
    run=$work/away$away
    "$XS" record -o "$run" -- "$AWAY" $away > /dev/null 2>&1 || true
    same "ranks that wait" "$(ask "$run" 'select count(distinct rank) from wait')" $((8 - away))
    same "ranks with other than $away open" "$(ask "$run" "select count(*) from (select sum(open) n from wait group by rank) where n <> $away")" 0
    same "ranks with other than $((8 - away)) ended" "$(ask "$run" "select count(*) from (select sum(open = 0) n from wait group by rank) where n <> $((8 - away))")" 0
    same "who owes" "$(ask "$run" 'select group_concat(peer) from (select distinct peer from open_waits order by peer)' | tr -d '"')" \
        "$([ $away = 1 ] && echo 7 || echo 6,7)"
done
