/* Whose turn it is: a wait after the signal that it read, an arrival after the one that it found. */
#include "hb_internal.h"

#define WARPS 64u /* items of an agent among which an earlier arrival is looked for */

/* An event of that writer that has not had its turn. */
static bool is_queued(const an *a, uint32_t writer, uint64_t event) {
    uint32_t agent = an_hb_agent_of(a, writer);
    const an_agent *g = agent == XSR_NONE ? NULL : &a->hb->agents[agent];
    for (uint32_t i = 0; g && i < g->count && hb_item(g, i)->e.id <= event; i++)
        if (hb_item(g, i)->e.id == event)
            return true;
    return false;
}

/* Where several signal a slot, a later one may have had its turn before. */
static bool wait_ready(const an *a, const xsr_wait *w) {
    const hb_slot *s = &a->hb->slots[w->slot];
    if (w->reads_from.reason == XSR_REASON_ARRIVALS)
        return w->reads_from.writer == XSR_NONE || (s->chained && s->post >= w->reads_from.value);
    if (w->reads_from.reason != XSR_REASON_FOUND || w->reads_from.writer == XSR_NONE)
        return true;
    return hb_find(s, w->reads_from.event) ||
           (s->newest >= w->reads_from.event && !is_queued(a, w->reads_from.writer, w->reads_from.event));
}

/* The first arrival that is seen at a counter may have found a seed. */
static bool arrival_ready(const an *a, const xsr_event *e) {
    const hb_slot *s = &a->hb->slots[e->slot];
    if (a->lost_records) /* the one before may be among them: it goes on with all that is known */
        return true;
    return s->chained ? e->value <= s->post : e->value == 0;
}

bool hb_is_ready(const an *a, const an_item *item) {
    if (item->e.slot == XSR_NONE)
        return true;
    if (hb_is_wait(item->e.kind))
        return item->has_wait && wait_ready(a, &item->w);
    return !an_arrives(item->e.kind) || arrival_ready(a, &item->e);
}

/* An event that does not wait for its wait to be settled, but for another event. */
static bool waits_for_event(const an_item *item) { return !hb_is_wait(item->e.kind) || item->has_wait; }

int hb_take_head(an *a, uint32_t agent, bool guessed) {
    an_item item = *hb_item(&a->hb->agents[agent], 0); /* queues may move while it has its turn */
    hb_pop(a, agent);
    return hb_process(a, agent, &item.e, item.has_wait ? &item.w : NULL, guessed);
}

/* Warps of a block arrive at one counter, and the one that came first has the later stamp, or the same: what the
 * head waits for stands behind it, in its own queue. That writer's events come first then, in their order. The index
 * of the next of them; 0: it is not there. */
static uint32_t ahead_of_head(const an_agent *g) {
    const an_item *head = hb_item(g, 0);
    uint32_t arrival = 0;
    for (uint32_t i = 1; i < g->count && i < WARPS && an_arrives(head->e.kind) && !arrival; i++) {
        const xsr_event *e = &hb_item(g, i)->e;
        if (an_arrives(e->kind) && e->slot == head->e.slot && e->writer != head->e.writer && e->value < head->e.value)
            arrival = i;
    }
    for (uint32_t i = 1; i < arrival; i++)
        if (hb_item(g, i)->e.writer == hb_item(g, arrival)->e.writer)
            return i;
    return arrival;
}

static bool makes_way(const an *a, an_agent *g) {
    uint32_t at = ahead_of_head(g);
    if (!at || !hb_is_ready(a, hb_item(g, at)))
        return false;
    hb_move_to_head(g, at);
    return true;
}

int hb_drain(an *a, uint32_t agent) {
    while (a->hb->agents[agent].count) {
        const an_item *head = hb_item(&a->hb->agents[agent], 0);
        if (!hb_is_ready(a, head) && !makes_way(a, &a->hb->agents[agent]))
            return waits_for_event(head) ? hb_set_blocked(a->hb, agent) : hb_set_unsettled(a->hb, agent);
        TRY(hb_take_head(a, agent, false));
    }
    hb_set_free(a->hb, agent);
    return 0;
}

static bool blocked_is_ready(const an *a, uint32_t agent) {
    const an_agent *g = &a->hb->agents[agent];
    return g->count == 0 || hb_is_ready(a, hb_item(g, 0)) ||
           (ahead_of_head(g) && hb_is_ready(a, hb_item(g, ahead_of_head(g))));
}

/* Those whose event has come. Each turn may free others. */
int hb_wake(an *a) {
    an_hb *hb = a->hb;
    for (uint32_t i = 0; i < hb->blocked_count;) {
        uint32_t agent = hb->blocked[i];
        if (!blocked_is_ready(a, agent)) {
            i++;
            continue;
        }
        TRY(hb_drain(a, agent));
        i = 0;
    }
    return 0;
}
