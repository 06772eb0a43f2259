/* Which counter elects who signals a slot, and how far a round of it has come. */
#include "ladder.h"

typedef struct place { uint32_t part[4]; } place; /* owner, row, column of a slot, and the rank that signals it */

static place place_of(const an *a, uint32_t slot) {
    const xsr_slot *s = &a->model->slots[slot];
    return (place){{s->owner, s->row, s->column, s->supplier_rank}};
}

/* part i of the counter's place equals part from[i] of the slot's place (4: it is the same everywhere: its own). */
static bool fits(const an *a, uint32_t slot, uint32_t counter, const uint32_t from[3]) {
    place s = place_of(a, slot), c = place_of(a, counter);
    for (uint32_t i = 0; i < 3; i++)
        if (c.part[i] != s.part[from[i]])
            return false;
    return true;
}

static bool rule_holds(const an *a, uint32_t slot, const uint32_t from[3]) {
    for (uint32_t i = 0, seen = 0; i < a->slot_count && seen < 64; i++) {
        uint32_t c = a->slots[i].counter;
        if (c == XSR_NONE || a->model->slots[i].pad != a->model->slots[slot].pad)
            continue;
        if (!fits(a, i, c, from))
            return false;
        seen++;
    }
    return true;
}

/* A rule that holds for all slots of the pad whose counter was seen. Slots are few here: it runs for waits that
 * stand still. */
static bool rule_of(const an *a, uint32_t slot, uint32_t *pad, uint32_t from[3]) {
    *pad = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count && *pad == XSR_NONE; i++)
        if (a->slots[i].counter != XSR_NONE && a->model->slots[i].pad == a->model->slots[slot].pad)
            *pad = a->model->slots[a->slots[i].counter].pad;
    for (uint32_t rule = 0; rule < 64 && *pad != XSR_NONE; rule++) {
        from[0] = rule & 3, from[1] = rule >> 2 & 3, from[2] = rule >> 4;
        if (rule_holds(a, slot, from))
            return true;
    }
    return false;
}

uint32_t ladder_open_counter(const an *a, uint32_t rank, uint64_t epoch) {
    uint32_t found = XSR_NONE;
    uint64_t have, expected;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const an_slot *s = &a->slots[i];
        if (s->arrival.rank != rank || s->arrival.kind != XS_EV_ARRIVE || s->publishes != XSR_NONE ||
            !an_round_of(a, i, epoch, &have, &expected) || have == 0 || have == expected)
            continue;
        if (found != XSR_NONE)
            return XSR_NONE;
        found = i;
    }
    return found;
}

uint32_t an_counter_of(const an *a, uint32_t slot) {
    uint32_t pad, from[3];
    if (a->slots[slot].counter != XSR_NONE)
        return a->slots[slot].counter;
    place s = place_of(a, slot);
    if (!rule_of(a, slot, &pad, from))
        return XSR_NONE;
    return an_slot_at(a, pad, s.part[from[0]], s.part[from[1]], s.part[from[2]]);
}

bool an_round_of(const an *a, uint32_t counter, uint64_t epoch, uint64_t *have, uint64_t *expected) {
    const an_slot *s = &a->slots[counter];
    if (s->arrival.kind == XS_EV_ARRIVE && s->target) {
        uint64_t base = s->target - s->expected;
        *expected = s->expected;
        *have = s->post > base ? s->post - base : 0;
        return true;
    }
    an_plan p = an_plan_of(a, counter, epoch);
    *expected = p.arrivals;
    *have = 0;
    return p.has_arrivals && s->arrivals == 0;
}
