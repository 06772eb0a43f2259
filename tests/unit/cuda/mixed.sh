#!/usr/bin/env bash
# mixed.sh FOLDER: a capture of GPU ranks with a CPU rank beside them: every rank says where it is, the times of both kinds are on one
# axis, every wait has its signal.
source "$(dirname "$0")/../../examples/common.sh"
run=$work/run
"$MIXED" "$run"
same "where the ranks are" "$(ask "$run" 'select group_concat(rank || ":" || device, " ") from (select rank, device from rank order by rank)')" '0:0 1:-1 2:1'
same "waits" "$(ask "$run" 'select count(*) from wait')" 360
same "open waits" "$(ask "$run" 'select count(*) from open_waits')" 0
same "waits without a supplier" "$(ask "$run" 'select count(*) from waits where released_by_rank is null')" 0
same "records lost" "$(ask "$run" 'select coalesce(sum(lost), 0) from ring')" 0
same "launches" "$(ask "$run" 'select count(*) from launch')" 1
# A thread may be late by as long as the machine is busy; before its signal it can only be by an error of clocks.
same "waits that end 50 ms before their signal" "$(ask "$run" 'select count(*) from waits where lag_ns < -50000000')" 0
same "waits whose signal is 5 s away" "$(ask "$run" 'select count(*) from waits where lag_ns > 5000000000')" 0

# Killed in mid-kernel under xs record: all that was written is there.
killed=$work/killed code=0
"$XS" record --no-export -o "$killed" -- "$MIXED" - 200 2> "$killed.err" || code=$?
same "exit code" "$code" 137
same "writers of the killed process" "$(ask "$killed" 'select count(*) from writer')" 3
same "its ranks that came to round 100" "$(ask "$killed" "select count(*) from (select rank from event where kind = (select id from word where class = 'event' and name = 'epoch') group by rank having max(value) >= 100)")" 3
same "its records lost" "$(ask "$killed" 'select coalesce(sum(lost), 0) from ring')" 0
