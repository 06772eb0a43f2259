/* Who signals a slot that nobody has signalled yet, and that no plan speaks of: as it is with its neighbours in the
 * pad. A law names the rank by the slot's place; it counts if it holds for all slots of the pad that were signalled,
 * and if no other law that does so names somebody else. */
#include "analysis.h"

#define LEAST 2u  /* slots that show it */
#define MOST 256u /* slots that are looked at */

enum law { BY_ROW, BY_COLUMN, BY_DISTANCE, BY_CONSTANT, LAWS };

static uint32_t world_ranks(const an *a, uint32_t slot) { return a->model->pads[a->model->slots[slot].pad].owners; }

/* `base`: the distance from the owner, or the rank itself. */
static uint32_t named(const an *a, enum law law, uint32_t slot, uint32_t base) {
    const xsr_slot *s = &a->model->slots[slot];
    switch (law) {
    case BY_ROW: return s->row;
    case BY_COLUMN: return s->column;
    case BY_DISTANCE: return (s->owner + base) % world_ranks(a, slot);
    default: return base;
    }
}

/* The one rank that signals it; XSR_NONE. */
static uint32_t signaller(const an *a, uint32_t slot) {
    return a->slots[slot].signals ? a->model->slots[slot].supplier_rank : XSR_NONE;
}

static bool holds(const an *a, enum law law, uint32_t slot, uint32_t *who) {
    uint32_t seen = 0, base = 0, first = XSR_NONE, ranks = world_ranks(a, slot);
    bool differ = false;
    for (uint32_t i = 0; i < a->slot_count && seen < MOST; i++) {
        uint32_t by = a->model->slots[i].pad == a->model->slots[slot].pad ? signaller(a, i) : XSR_NONE;
        if (by == XSR_NONE)
            continue;
        if (seen == 0)
            base = law == BY_DISTANCE ? (by + ranks - a->model->slots[i].owner % ranks) % ranks : by, first = by;
        if (named(a, law, i, base) != by)
            return false;
        differ |= by != first;
        seen++;
    }
    *who = named(a, law, slot, base);
    return seen >= LEAST && *who < ranks && (differ || law == BY_CONSTANT);
}

/* Several share the row: the one that signals the next columns on both sides, at that owner. */
static uint32_t writer_around(const an *a, uint32_t slot, uint32_t rank) {
    const xsr_slot *s = &a->model->slots[slot];
    uint32_t side[2] = {XSR_NONE, XSR_NONE};
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const xsr_slot *o = &a->model->slots[i];
        if (o->pad == s->pad && o->owner == s->owner && o->row == s->row && a->slots[i].signal.rank == rank &&
            (o->column + 1 == s->column || o->column == s->column + 1))
            side[o->column > s->column] = a->slots[i].signal.writer;
    }
    return side[0] == side[1] ? side[0] : XSR_NONE;
}

/* The one writer of that rank that signals other slots of the same row, there or at other owners. */
uint32_t an_writer_beside(const an *a, uint32_t slot, uint32_t rank) {
    const xsr_slot *s = &a->model->slots[slot];
    uint32_t found = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const xsr_slot *o = &a->model->slots[i];
        const an_touch *t = &a->slots[i].signal;
        if (i == slot || o->pad != s->pad || o->row != s->row || t->rank != rank || t->writer == XSR_NONE ||
            t->writer == found)
            continue;
        if (found != XSR_NONE)
            return writer_around(a, slot, rank);
        found = t->writer;
    }
    return found;
}

static uint32_t block_named(const an *a, enum law law, uint32_t slot, uint32_t base) {
    const xsr_slot *s = &a->model->slots[slot];
    return law == BY_ROW ? s->row : law == BY_COLUMN ? s->column : base;
}

uint32_t an_block_by_pattern(const an *a, uint32_t slot) {
    static const enum law laws[] = {BY_CONSTANT, BY_ROW, BY_COLUMN};
    for (uint32_t l = 0; l < 3; l++) {
        uint32_t seen = 0, base = 0;
        bool right = true;
        for (uint32_t i = 0; i < a->slot_count && right && seen < MOST; i++) {
            uint32_t block =
                a->model->slots[i].pad == a->model->slots[slot].pad ? an_block(a, a->slots[i].signal.writer) : XSR_NONE;
            if (block == XSR_NONE)
                continue;
            base = seen++ ? base : block;
            right = block_named(a, laws[l], i, base) == block;
        }
        if (right && seen >= LEAST)
            return block_named(a, laws[l], slot, base);
    }
    return XSR_NONE;
}

uint32_t an_writer_by_pattern(const an *a, uint32_t slot) {
    uint32_t found = XSR_NONE, who;
    if (world_ranks(a, slot) == 0 || an_is_counter(a, slot) || (an_pad(a, slot)->flags & XS_PAD_SHARED))
        return XSR_NONE;
    for (uint32_t law = 0; law < LAWS; law++) {
        if (!holds(a, (enum law)law, slot, &who))
            continue;
        if (found != XSR_NONE && found != who)
            return XSR_NONE;
        found = who;
    }
    return found;
}
