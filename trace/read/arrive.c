/* Elections: an ARRIVE of one record holds old from the base of its epoch; here it becomes absolute. The base of the
 * next epoch is the base plus what this one expected. Which epoch an arrival belongs to says its writer's epoch where
 * writers enter epochs, else that the last one was elected (or counts again what was counted). */
#include "internal.h"

static void turn(rd_slot *s, uint64_t epochs) {
    s->base += (uint64_t)s->base_expected * epochs;
    s->elected_seen = false;
    s->base_top = 0;
}

/* Base that holds for an arrival of `epoch`. */
static uint64_t base_for(rd_slot *s, uint64_t epoch, uint32_t old, uint32_t weight, uint32_t expected) {
    if (!s->arrived)
        s->base_epoch = epoch;
    if (epoch < s->base_epoch) /* late in the merge: the epoch before */
        return s->base >= expected ? s->base - expected : 0;
    if (epoch > s->base_epoch) {
        turn(s, s->base_top || s->elected_seen ? 1 : 0);
        s->base_epoch = epoch;
    } else if (s->elected_seen && old + weight <= s->base_top) {
        turn(s, 1);
    }
    s->base_expected = expected;
    return s->base;
}

void rd_arrive_packed(rd_slot *s, xsr_event *e, uint32_t word) {
    uint32_t old = word & 0xfffu, weight = word >> 12 & 0xffu, expected = word >> 20;
    uint64_t base = base_for(s, e->epoch, old, weight, expected);
    if (base == s->base) {
        s->base_top = old + weight > s->base_top ? old + weight : s->base_top;
        s->elected_seen |= old + weight == expected;
    }
    e->value = base + old;
    e->detail = expected;
    e->further[0] = weight;
    e->further[1] = base + expected;
    s->arrived = true;
}

/* Absolute as recorded: sets the base for those that follow. */
void rd_arrive_full(rd_slot *s, const xsr_event *e) {
    uint64_t weight = e->further[0], target = e->further[1];
    if (target >= e->detail && (!s->arrived || e->epoch >= s->base_epoch)) {
        s->base = target - e->detail;
        s->base_epoch = e->epoch;
        s->base_expected = (uint32_t)e->detail;
        s->base_top = e->value + weight > s->base ? (uint32_t)(e->value + weight - s->base) : 0;
        s->elected_seen = e->value + weight == target;
    }
    s->arrived = true;
}
