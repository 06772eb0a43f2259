#!/usr/bin/env bash
# What findings say of the whole zoo, on sim: each error finding says where in the source, if any wait or fence of who it names, or any wait
# for its slot, has a place there; and the order and payload detectors call those faults races that `faults --list` calls so (faults_tsan.sh:
# ThreadSanitizer does, too).
source "$(dirname "$0")/common.sh"
races="select count(*) from findings, (select column1 as kind from (values ('order-scope'), ('partial-publish'), ('payload-race'), ('lapping')))
    where severity = 'error' and (detector = kind or ', ' || explains || ',' like '%, ' || kind || ',%')"
placeless="select f.detector || ': ' || f.verdict from findings f where severity = 'error' and (file is null or instr(verdict, file || ':' || line) = 0) and (
    exists (select 1 from waits w where w.file is not null and w.slot_label = f.slot)
    or exists (select 1 from waits w join writer on writer.name = w.writer and writer.rank = w.rank where w.file is not null
               and (w.rank = f.rank and writer.block = f.block or w.rank = f.owes_rank and writer.block = f.owes_block)))"
finds_race() { # fault, within so many seeds
    local seed
    for ((seed = 1; seed <= $2; seed++)); do
        XS_CAPTURE=$work/run timeout 600 "$FAULTS" "$1" --scheduler sim --seed $seed > /dev/null || fail "$1 on sim, seed $seed"
        [ "$(ask "$work/run" "$races")" = 0 ] || return 0
    done
    return 1
}
with_place=0
while read -r name race; do
    if [ "$race" = - ]; then
        ! finds_race "$name" 1 || fail "$name: its file does not say that it is a race: $(ask "$work/run" "select verdict from findings")"
    else
        finds_race "$name" 40 || fail "$name: no race in 40 seeds"
    fi
    said=$(ask "$work/run" "$placeless")
    [ -z "$said" ] || fail "$name: no file:line in $said"
    with_place=$((with_place + $(ask "$work/run" "select count(*) > 0 from findings where severity = 'error' and line > 0")))
done < <("$FAULTS" --list | awk '{print $1, $6}')
[ "$with_place" -ge 50 ] || fail "only $with_place faults with a place"
echo "ok: $with_place faults with a place"
