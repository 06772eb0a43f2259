/* What a block has heard from others by its waits: of several that it waits for before it reads, each. */
#include "payload.h"

int hearing_note(hearing *h, uint32_t agent, const guard *g) {
    TRY(RD_ROWS(h->blocks, h->room, agent + 1));
    heard_by *b = &h->blocks[agent];
    uint32_t at = 0;
    while (at < b->count && (b->of[at].slot != g->slot || b->of[at].agent != g->agent))
        at++;
    if (at == PAYLOAD_HEARD)
        at = b->next++ % PAYLOAD_HEARD;
    TRY(RD_ROWS(b->of, b->room, at + 1));
    b->count = b->count > at ? b->count : at + 1;
    b->of[at] = *g;
    return 0;
}

/* Several reads behind one wait are as the first. */
int hearing_read(hearing *h, uint32_t agent, const guard *last) {
    TRY(RD_ROWS(h->customs, h->custom_room, agent + 1));
    custom *c = &h->customs[agent];
    if (!last->any || last->unsure || last->record == c->record) {
        c->as_ever &= last->any && !last->unsure;
        return 0;
    }
    uint64_t rise = last->need - c->need;
    bool same = c->record && c->slot == last->slot && c->step == rise && rise;
    *c = (custom){last->record, last->need, rise, same ? c->times + 1 : 0, last->slot, same && c->times >= 2};
    return 0;
}

bool hearing_as_ever(const hearing *h, uint32_t agent) { return agent < h->custom_room && h->customs[agent].as_ever; }

void hearing_spend(hearing *h, uint32_t agent, uint32_t slot) {
    for (uint32_t i = 0; agent < h->room && i < h->blocks[agent].count; i++)
        h->blocks[agent].of[i].spent |= h->blocks[agent].of[i].slot == slot;
}

void hearing_acquire(hearing *h, uint32_t agent, uint8_t level) {
    for (uint32_t i = 0; agent < h->room && i < h->blocks[agent].count; i++)
        h->blocks[agent].of[i].acquired |= level > h->blocks[agent].of[i].level;
}

bool hearing_is_count(const an *a, const guard *g) {
    return a->slots[g->slot].arrivals || a->slots[g->slot].counter != XSR_NONE;
}

const guard *hearing_of(const an *a, const hearing *h, uint32_t agent, uint32_t other, uint32_t slot,
                        uint64_t generation, uint64_t behind) {
    const heard_by *b = agent < h->room ? &h->blocks[agent] : NULL;
    const guard *best = NULL;
    for (uint32_t i = 0; b && i < b->count; i++) {
        const guard *g = &b->of[i];
        bool by = !hearing_is_count(a, g) && g->agent == other && (slot == XSR_NONE || g->slot == slot);
        if (by && g->value >= generation && g->signal > behind && (!best || g->record > best->record))
            best = g;
    }
    return best;
}

void hearing_free(hearing *h) {
    for (uint32_t i = 0; i < h->room; i++)
        free(h->blocks[i].of);
    free(h->blocks);
    free(h->customs);
}
