/* What does not come: who goes on without it, and when that was. */
#include "hb_internal.h"

#define MOST_QUEUED (1u << 16) /* items of all agents: then what is at the root of it goes on as it is */
#define MOST_SEARCHED 4096u    /* items of all agents: among more of them nothing is looked for */
#define FORCED 1024u           /* spans that are kept */

/* Stamps of two clocks may disagree on what lies between two events. */
bool an_hb_forced(const an *a, int64_t from, int64_t to) {
    const an_hb *hb = a->hb;
    int64_t clocks = hb->stamps;
    from = from > INT64_MIN + clocks ? from - clocks : from;
    to = to < INT64_MAX - clocks ? to + clocks : to;
    for (uint32_t i = 0; i < hb->forced_count; i++)
        if (hb->forced[i].from <= to && hb->forced[i].to >= from)
            return true;
    return false;
}

/* What is off by so much may be off by as much again. */
bool an_hb_late(const an *a, int64_t from, int64_t to) {
    const an_hb *hb = a->hb;
    for (uint32_t i = 0; i < hb->late_count; i++) {
        int64_t around = hb->stamps + hb->late[i].to - hb->late[i].from;
        if (hb->late[i].from - around <= to && hb->late[i].to + around >= from)
            return true;
    }
    return false;
}

static bool grow_last(hb_span *list, uint32_t count, int64_t from, int64_t to) {
    if (count < FORCED)
        return false;
    hb_span *last = &list[FORCED - 1];
    last->from = from < last->from ? from : last->from;
    last->to = to > last->to ? to : last->to;
    return true;
}

/* From the time of an event that was forced to where others had come by then; beyond FORCED the last span grows. */
int hb_note_forced(an_hb *hb, int64_t time, int64_t now) {
    hb_span span = {time, now > time ? now : time};
    if (grow_last(hb->forced, hb->forced_count, span.from, span.to))
        return 0;
    if (RD_ROOM(hb->forced, hb->forced_room, hb->forced_count + 1) < 0)
        return XS_E_MEMORY;
    hb->forced[hb->forced_count++] = span;
    return 0;
}

int hb_note_late(an_hb *hb, int64_t time, int64_t now) {
    hb_span span = {time < now ? time : now, now > time ? now : time};
    if (grow_last(hb->late, hb->late_count, span.from, span.to))
        return 0;
    if (RD_ROOM(hb->late, hb->late_room, hb->late_count + 1) < 0)
        return XS_E_MEMORY;
    hb->late[hb->late_count++] = span;
    return 0;
}

static uint32_t oldest_of(const an_hb *hb, const uint32_t *list, uint32_t count) {
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (best == XSR_NONE || hb_item(&hb->agents[list[i]], 0)->e.id < hb_item(&hb->agents[best], 0)->e.id)
            best = list[i];
    return best;
}

static int force_one(an *a, uint32_t agent, int64_t now) {
    a->hb->last_forced = now;
    hb_hear(&a->hb->agents[agent], now);
    TRY(hb_note_forced(a->hb, hb_item(&a->hb->agents[agent], 0)->e.time, now));
    TRY(hb_take_head(a, agent, true));
    TRY(hb_drain(a, agent));
    return hb_wake(a);
}

/* What that event waits for. */
static bool waits_for(const xsr_event *e, const xsr_wait *w, const xsr_event *other) {
    if (w)
        return w->reads_from.event == other->id;
    return an_arrives(e->kind) && an_arrives(other->kind) && e->slot == other->slot &&
           other->value + an_weight(other) == e->value;
}

static uint32_t queue_of(const an_hb *hb, const an_item *waits) {
    for (uint32_t i = 0; i < hb->agent_count; i++)
        for (uint32_t k = 0; k < hb->agents[i].count; k++)
            if (waits_for(&waits->e, waits->has_wait ? &waits->w : NULL, &hb_item(&hb->agents[i], k)->e))
                return i;
    return XSR_NONE;
}

/* What the agent waits for may stand in a queue behind an event that waits itself: that one is first. Not where
 * queues are so long that looking takes longer than it is worth. */
static uint32_t deepest(const an_hb *hb, uint32_t agent) {
    for (uint32_t steps = 0; steps < hb->agent_count && hb->queued < MOST_SEARCHED; steps++) {
        uint32_t next = queue_of(hb, hb_item(&hb->agents[agent], 0));
        if (next == XSR_NONE || next == agent)
            return agent;
        agent = next;
    }
    return agent;
}

/* Whose next event all others may wait for. What a blocked agent waits for may lie behind a wait whose signal the
 * reader still looks for (the host wrote the slot, or its record is lost): the reader tells of it after a grace of
 * its own, longer than ours, and until then nothing is missing. That wait is then the older one, as far as clocks
 * tell. */
static uint32_t root_of(const an_hb *hb, bool *told_later) {
    uint32_t blocked = oldest_of(hb, hb->blocked, hb->blocked_count),
             unsettled = oldest_of(hb, hb->unsettled, hb->unsettled_count);
    int64_t clocks = hb->clocks;
    *told_later = unsettled != XSR_NONE &&
                  (blocked == XSR_NONE || hb_item(&hb->agents[unsettled], 0)->e.time - clocks <=
                                              hb_item(&hb->agents[blocked], 0)->e.time);
    return *told_later ? unsettled : blocked;
}

bool hb_is_full(const an_hb *hb) { return hb->queued >= MOST_QUEUED; }

int hb_force_old(an *a, int64_t now) {
    an_hb *hb = a->hb;
    bool told_later;
    for (uint32_t agent; (agent = root_of(hb, &told_later)) != XSR_NONE;) {
        if (!hb_is_full(hb) && (told_later || hb_item(&hb->agents[agent], 0)->e.time >= now - hb->grace))
            return 0;
        agent = deepest(hb, agent);
        if (!hb_is_full(hb) && hb->agents[agent].unsettled)
            return 0;
        TRY(force_one(a, agent, now));
    }
    return 0;
}

int hb_force_all(an *a) {
    an_hb *hb = a->hb;
    bool told_later;
    for (uint32_t agent; (agent = root_of(hb, &told_later)) != XSR_NONE;)
        TRY(force_one(a, deepest(hb, agent), INT64_MAX));
    for (uint32_t i = 0; i < hb->agent_count; i++) /* waits that were never settled */
        while (hb->agents[i].count) {
            if (!hb_is_ready(a, hb_item(&hb->agents[i], 0))) {
                TRY(hb_note_forced(hb, hb_item(&hb->agents[i], 0)->e.time, INT64_MAX));
                hb_hear(&hb->agents[i], INT64_MAX);
            }
            TRY(hb_take_head(a, i, true));
        }
    return 0;
}
