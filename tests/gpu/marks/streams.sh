#!/usr/bin/env bash
# Launches that xs did not make, on four streams at once: each is told apart.
source "$(dirname "$0")/marks.sh"
[ "$BACKEND" = cuda ] || exit 77
record "$work/run" grid=4 records=50 pace=2000 launches=40 streams=4
exact "$work/run"
same "records lost" "$(ask "$work/run" 'select sum(lost) from ring')" 0
same "launches" "$(ask "$work/run" 'select count(*) from launch')" 40
same "launches with another number of marks" "$(ask "$work/run" "select count(*) from (select count(*) n from event e join writer w on w.id = e.writer where e.kind = (select id from word where class = 'event' and name = 'mark') group by w.launch) where n <> 800")" 0
