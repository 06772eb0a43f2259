/* Elections: an ARRIVE of one record holds old from the base of its epoch; here it becomes absolute. The base of the
 * next election is the base plus what this one expected. An arrival belongs to the next one if its writer has
 * entered a later epoch, or if all that were expected have arrived (the merge may show them in another order than
 * they came). */
#include "internal.h"

static void turn(rd_slot *s) {
    s->base += s->base_expected;
    s->base_arrived = 0;
}

/* Base that holds for an arrival of `epoch`. */
static uint64_t base_for(rd_slot *s, uint64_t epoch, uint32_t weight, uint32_t expected) {
    if (!s->arrived)
        s->base_epoch = epoch;
    if (epoch < s->base_epoch) /* late in the merge: the epoch before */
        return s->base >= expected ? s->base - expected : 0;
    if (s->base_arrived && (epoch > s->base_epoch || s->base_arrived + weight > s->base_expected))
        turn(s);
    s->base_epoch = epoch;
    s->base_expected = expected;
    return s->base;
}

void rd_arrive_packed(rd_slot *s, xsr_event *e, uint32_t word) {
    uint32_t old = word & 0xfffu, weight = word >> 12 & 0xffu, expected = word >> 20;
    uint64_t base = base_for(s, e->epoch, weight, expected);
    if (base == s->base)
        s->base_arrived += weight;
    e->value = base + old;
    e->detail = expected;
    e->further[0] = weight;
    e->further[1] = base + expected;
    s->arrived = true;
}

/* Absolute as recorded: sets the base for those that follow. */
void rd_arrive_full(rd_slot *s, const xsr_event *e) {
    uint64_t weight = e->further[0], target = e->further[1];
    if (target >= e->detail && target && (!s->arrived || e->epoch >= s->base_epoch)) {
        uint64_t base = target - e->detail;
        s->base_arrived = (base == s->base ? s->base_arrived : 0) + weight;
        s->base = base;
        s->base_epoch = e->epoch;
        s->base_expected = (uint32_t)e->detail;
    }
    s->arrived = true;
}
