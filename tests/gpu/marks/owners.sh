#!/usr/bin/env bash
# Rings go from owner to owner, from launch to launch, and on: sequences continue, nothing is lost at a leisurely rate.
source "$(dirname "$0")/marks.sh"
launches=20
# Threads that the machine runs one after the other share few rings, and the recorder may be away meanwhile: one holds them all.
[ "$BACKEND" = cuda ] || export XS_RING_RECORDS=32768 launches=4
record "$work/run" ranks=2 grid=8 records=100 pace=2000 launches=$launches
exact "$work/run"
same "records lost" "$(ask "$work/run" 'select sum(lost) from ring')" 0
same "launches" "$(ask "$work/run" 'select count(*) from launch')" $launches
same "launches with another number of marks" "$(ask "$work/run" "select count(*) from (select count(*) n from event e join writer w on w.id = e.writer where e.kind = (select id from word where class = 'event' and name = 'mark') group by w.launch) where n <> 6400")" 0
