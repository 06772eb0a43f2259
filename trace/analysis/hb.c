/* Whose turn it is: each agent's events in their order, each wait behind the signal that it read, each arrival behind the one that it
 * found. Almost always that is the order in which they come; what has to wait is queued, for a bounded time and in bounded memory. */
#include "hb_internal.h"

#define MOST_QUEUED (1u << 16) /* items of all agents: then what is at the root of it goes on as it is */
#define MOST_SEARCHED 4096u    /* items of all agents: among more of them nothing is looked for */
#define WARPS 64u              /* items of an agent among which an earlier arrival is looked for */
#define FORCED 1024u           /* spans that are kept */
#define MOST_APART (1ll << 58) /* ns: nine years, which no two stamps are apart; also the most that a clock has (rd_bound) */
#define GRACE 10000            /* ns of merged time; more where clocks or schedulers are loose */

static const uint64_t wanted = AN_KIND(SIGNAL) | AN_KIND(WATERMARK) | AN_KIND(ARRIVE) | AN_KIND(GATE_ARRIVE) | AN_KIND(RESET) | AN_KIND(PASS) |
                               AN_KIND(WAIT_START) | AN_KIND(WAIT_END) | AN_KIND(FENCE) | AN_KIND(READ_BEGIN) | AN_KIND(WRITE_BEGIN) |
                               AN_KIND(PAYLOAD_END) | AN_KIND(BARRIER_ENTER) | AN_KIND(BARRIER_LEAVE) | AN_KIND(BLOCK_ENTER) |
                               AN_KIND(BLOCK_LEAVE) | AN_KIND(PUBLISH) | AN_KIND(CONSUME) | AN_KIND(WRITER_BEGIN) | AN_KIND(WRITER_END) |
                               AN_KIND(WORK_BEGIN) | AN_KIND(EPOCH);

static void set_grace(an_hb *hb, const xsr_model *m) {
    int64_t bound = 0;
    bool real = false;
    for (uint32_t i = 0; i < m->clock_count && bound < MOST_APART; i++)
        bound += m->clocks[i].bound_ns < 0 ? 1000000 : m->clocks[i].bound_ns;
    for (uint32_t i = 0; i < m->process_count; i++)
        real |= !m->processes[i].virtual_time && m->processes[i].device < 0;
    hb->bound = 2 * bound;
    hb->clocks = hb->bound + (real ? 20000000 : 0); /* a thread may be set aside between its atomic and its stamp */
    hb->grace = GRACE + hb->clocks;
    hb->last_forced = NO_TIME;
}

int an_hb_begin(an *a) {
    const xsr_model *m = a->model;
    an_hb *hb = a->hb = calloc(1, sizeof *hb);
    if (!hb || !(hb->done = calloc(m->process_count + m->rank_count + 1u, sizeof *hb->done)))
        return XS_E_MEMORY;
    hb->done_count = m->process_count + m->rank_count;
    set_grace(hb, m);
    return 0;
}

void hb_hear(an_agent *g, int64_t until) { g->heard = until > g->heard ? until : g->heard; }

static int room_for_slots(an *a) {
    an_hb *hb = a->hb;
    if (hb->slot_count == a->slot_count)
        return 0;
    if (RD_ROOM(hb->slots, hb->slot_room, a->slot_count) < 0)
        return XS_E_MEMORY;
    memset(&hb->slots[hb->slot_count], 0, (a->slot_count - hb->slot_count) * sizeof *hb->slots);
    hb->slot_count = a->slot_count;
    return 0;
}

/* The agent of a writer's block. A block of a later launch goes on as the agent of its place if all that was there is over. */
static int agent_of(an *a, uint32_t writer, uint32_t *out) {
    an_hb *hb = a->hb;
    const xsr_writer *w = &a->model->writers[writer];
    if (a->writers[writer].agent) {
        *out = a->writers[writer].agent - 1;
        return 0;
    }
    uint64_t key = an_place(w->rank, w->block);
    uint32_t at = rd_map_get(&hb->agent_at, key);
    /* Lost records may hold the end: then it is the same one, which can only order more. */
    bool fresh = at == XSR_NONE || (hb->agents[at].launch != w->launch && hb->agents[at].writers && !a->lost_records);
    if (fresh) {
        at = hb->agent_count;
        if (RD_ROOM(hb->agents, hb->agent_room, at + 1) < 0 || rd_map_put(&hb->agent_at, key, at) < 0)
            return XS_E_MEMORY;
        hb->agents[at] = (an_agent){.rank = w->rank, .block = w->block, .launch = w->launch, .epoch = 1, .heard = NO_TIME};
        hb->agent_count++;
    }
    if (fresh || hb->agents[at].launch != w->launch)
        TRY(hb_launch_begins(a, at, w->launch));
    if (hb->agents[at].launch != w->launch)
        hb->agents[at].writers = 0;
    hb->agents[at].writers++;
    a->ranks[w->rank].crowded |= hb->agents[at].writers > 1;
    hb->agents[at].launch = w->launch;
    a->writers[writer].agent = at + 1;
    *out = at;
    return 0;
}

uint32_t an_hb_agent_of(const an *a, uint32_t writer) {
    return writer == XSR_NONE || writer >= a->writer_count || !a->writers[writer].agent ? XSR_NONE : a->writers[writer].agent - 1;
}

const an_agent *an_hb_agent(const an *a, uint32_t agent) { return &a->hb->agents[agent]; }

/* The host saw the end of x before it began y. Whether all records of x have had their turn does not matter. */
static bool host_ordered(const an *a, uint32_t x, uint32_t y) {
    if (x == XSR_NONE || y == XSR_NONE || x == y)
        return false;
    const xsr_launch *l = &a->model->launches[x], *m = &a->model->launches[y];
    return l->process == m->process && l->end != NO_TIME && m->begin != NO_TIME && l->end <= m->begin;
}

bool an_hb_before(const an *a, an_stamp s, uint32_t agent) {
    const an_agent *x = &a->hb->agents[s.agent], *y = &a->hb->agents[agent];
    return s.agent == agent || an_vector_epoch(y->known, s.agent) >= s.epoch || host_ordered(a, x->launch, y->launch);
}

bool an_hb_may_know(const an *a, uint32_t agent, int64_t time) {
    if (agent == XSR_NONE)
        return true;
    int64_t heard = a->hb->agents[agent].heard; /* the stamp of something behind what it may have heard by, in the order of its writer */
    return heard != NO_TIME && (heard >= time || time - heard <= a->hb->bound);
}

uint64_t an_hb_guesses(const an *a) { return a->hb->guesses; }

/* Stamps of two clocks may disagree on what lies between two events. */
bool an_hb_forced(const an *a, int64_t from, int64_t to) {
    const an_hb *hb = a->hb;
    int64_t clocks = hb->clocks;
    from = from > INT64_MIN + clocks ? from - clocks : from;
    to = to < INT64_MAX - clocks ? to + clocks : to;
    for (uint32_t i = 0; i < hb->forced_count; i++)
        if (hb->forced[i].from <= to && hb->forced[i].to >= from)
            return true;
    return false;
}

/* From the time of an event that was forced to where others had come by then; beyond FORCED the last span grows. */
static int note_forced(an_hb *hb, int64_t time, int64_t now) {
    if (hb->forced_count == FORCED) {
        hb_span *last = &hb->forced[FORCED - 1];
        last->from = time < last->from ? time : last->from;
        last->to = now > last->to ? now : last->to;
        return 0;
    }
    if (RD_ROOM(hb->forced, hb->forced_room, hb->forced_count + 1) < 0)
        return XS_E_MEMORY;
    hb->forced[hb->forced_count++] = (hb_span){time, now > time ? now : time};
    return 0;
}

/* ---- queues ---- */

static an_item *item_at(const an_agent *g, uint32_t i) { return &g->items[(g->first + i) & (g->room - 1)]; }

static int grow(an_agent *g) {
    uint32_t room = g->room ? g->room * 2 : 4;
    an_item *bigger = malloc(room * sizeof *bigger);
    if (!bigger)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < g->count; i++)
        bigger[i] = *item_at(g, i);
    free(g->items);
    g->items = bigger;
    g->room = room;
    g->first = 0;
    return 0;
}

static int push(an *a, uint32_t agent, const xsr_event *e) {
    an_agent *g = &a->hb->agents[agent];
    if (g->count == g->room)
        TRY(grow(g));
    an_item *item = item_at(g, g->count++);
    item->e = *e;
    item->has_wait = false;
    a->hb->queued++;
    return 0;
}

static void pop(an *a, uint32_t agent) {
    an_agent *g = &a->hb->agents[agent];
    g->first = (g->first + 1) & (g->room - 1);
    g->count--;
    a->hb->queued--;
}

static int enter(uint32_t **list, uint32_t *room, uint32_t *count, bool *in, uint32_t agent) {
    if (*in)
        return 0;
    if (RD_ROOM(*list, *room, *count + 1) < 0)
        return XS_E_MEMORY;
    (*list)[(*count)++] = agent;
    *in = true;
    return 0;
}

static void leave(uint32_t *list, uint32_t *count, bool *in, uint32_t agent) {
    for (uint32_t i = 0; *in && i < *count; i++)
        if (list[i] == agent) {
            list[i] = list[--*count];
            break;
        }
    *in = false;
}

static int set_blocked(an_hb *hb, uint32_t agent) {
    leave(hb->unsettled, &hb->unsettled_count, &hb->agents[agent].unsettled, agent);
    return enter(&hb->blocked, &hb->blocked_room, &hb->blocked_count, &hb->agents[agent].blocked, agent);
}

static int set_unsettled(an_hb *hb, uint32_t agent) {
    leave(hb->blocked, &hb->blocked_count, &hb->agents[agent].blocked, agent);
    return enter(&hb->unsettled, &hb->unsettled_room, &hb->unsettled_count, &hb->agents[agent].unsettled, agent);
}

static void set_free(an_hb *hb, uint32_t agent) {
    leave(hb->blocked, &hb->blocked_count, &hb->agents[agent].blocked, agent);
    leave(hb->unsettled, &hb->unsettled_count, &hb->agents[agent].unsettled, agent);
}

/* ---- whose turn ---- */

static bool is_wait(uint32_t kind) { return kind == XS_EV_PASS || kind == XS_EV_WAIT_END; }

static bool wait_ready(const an *a, const xsr_wait *w) {
    const hb_slot *s = &a->hb->slots[w->slot];
    if (w->reads_from.reason == XSR_REASON_ARRIVALS)
        return w->reads_from.writer == XSR_NONE || (s->chained && s->post >= w->reads_from.value);
    if (w->reads_from.reason != XSR_REASON_FOUND || w->reads_from.writer == XSR_NONE)
        return true;
    return s->newest >= w->reads_from.event || hb_find(s, w->reads_from.event) != NULL;
}

/* The first arrival that is seen at a counter may have found a seed. */
static bool arrival_ready(const an *a, const xsr_event *e) {
    const hb_slot *s = &a->hb->slots[e->slot];
    if (a->lost_records) /* the one before may be among them: it goes on with all that is known */
        return true;
    return s->chained ? e->value <= s->post : e->value == 0;
}

static bool is_ready(const an *a, const an_item *item) {
    if (item->e.slot == XSR_NONE)
        return true;
    if (is_wait(item->e.kind))
        return item->has_wait && wait_ready(a, &item->w);
    return !an_arrives(item->e.kind) || arrival_ready(a, &item->e);
}

/* An event that does not wait for its wait to be settled, but for another event. */
static bool waits_for_event(const an_item *item) { return !is_wait(item->e.kind) || item->has_wait; }

static int take_head(an *a, uint32_t agent, bool guessed) {
    an_item item = *item_at(&a->hb->agents[agent], 0); /* queues may move while it has its turn */
    pop(a, agent);
    return hb_process(a, agent, &item.e, item.has_wait ? &item.w : NULL, guessed);
}

/* Warps of a block arrive at one counter, and the one that came first has the later stamp, or the same: what the head waits for stands behind it,
 * in its own queue. That writer's events come first then, in their order. The index of the next of them; 0: it is not there. */
static uint32_t ahead_of_head(const an_agent *g) {
    const an_item *head = item_at(g, 0);
    uint32_t arrival = 0;
    for (uint32_t i = 1; i < g->count && i < WARPS && an_arrives(head->e.kind) && !arrival; i++) {
        const xsr_event *e = &item_at(g, i)->e;
        if (an_arrives(e->kind) && e->slot == head->e.slot && e->writer != head->e.writer && e->value < head->e.value)
            arrival = i;
    }
    for (uint32_t i = 1; i < arrival; i++)
        if (item_at(g, i)->e.writer == item_at(g, arrival)->e.writer)
            return i;
    return arrival;
}

static void move_to_head(an_agent *g, uint32_t at) {
    an_item item = *item_at(g, at);
    for (uint32_t i = at; i > 0; i--)
        *item_at(g, i) = *item_at(g, i - 1);
    *item_at(g, 0) = item;
}

static bool makes_way(const an *a, an_agent *g) {
    uint32_t at = ahead_of_head(g);
    if (!at || !is_ready(a, item_at(g, at)))
        return false;
    move_to_head(g, at);
    return true;
}

static int drain(an *a, uint32_t agent) {
    while (a->hb->agents[agent].count) {
        const an_item *head = item_at(&a->hb->agents[agent], 0);
        if (!is_ready(a, head) && !makes_way(a, &a->hb->agents[agent]))
            return waits_for_event(head) ? set_blocked(a->hb, agent) : set_unsettled(a->hb, agent);
        TRY(take_head(a, agent, false));
    }
    set_free(a->hb, agent);
    return 0;
}

static bool blocked_is_ready(const an *a, uint32_t agent) {
    const an_agent *g = &a->hb->agents[agent];
    return g->count == 0 || is_ready(a, item_at(g, 0)) || (ahead_of_head(g) && is_ready(a, item_at(g, ahead_of_head(g))));
}

/* Those whose event has come. Each turn may free others. */
static int wake(an *a) {
    an_hb *hb = a->hb;
    for (uint32_t i = 0; i < hb->blocked_count;) {
        uint32_t agent = hb->blocked[i];
        if (!blocked_is_ready(a, agent)) {
            i++;
            continue;
        }
        TRY(drain(a, agent));
        i = 0;
    }
    return 0;
}

static uint32_t oldest_of(const an_hb *hb, const uint32_t *list, uint32_t count) {
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (best == XSR_NONE || item_at(&hb->agents[list[i]], 0)->e.id < item_at(&hb->agents[best], 0)->e.id)
            best = list[i];
    return best;
}
static int force_one(an *a, uint32_t agent, int64_t now) {
    a->hb->guesses++;
    a->hb->last_forced = now;
    hb_hear(&a->hb->agents[agent], now);
    TRY(note_forced(a->hb, item_at(&a->hb->agents[agent], 0)->e.time, now));
    TRY(take_head(a, agent, true));
    TRY(drain(a, agent));
    return wake(a);
}

/* What that event waits for. */
static bool waits_for(const xsr_event *e, const xsr_wait *w, const xsr_event *other) {
    if (w)
        return w->reads_from.event == other->id;
    return an_arrives(e->kind) && an_arrives(other->kind) && e->slot == other->slot && other->value + an_weight(other) == e->value;
}

static uint32_t queue_of(const an_hb *hb, const an_item *waits) {
    for (uint32_t i = 0; i < hb->agent_count; i++)
        for (uint32_t k = 0; k < hb->agents[i].count; k++)
            if (waits_for(&waits->e, waits->has_wait ? &waits->w : NULL, &item_at(&hb->agents[i], k)->e))
                return i;
    return XSR_NONE;
}

/* What the agent waits for may stand in a queue behind an event that waits itself: that one is first. Not where queues are so long that looking takes
 * longer than it is worth. */
static uint32_t deepest(const an_hb *hb, uint32_t agent) {
    for (uint32_t steps = 0; steps < hb->agent_count && hb->queued < MOST_SEARCHED; steps++) {
        uint32_t next = queue_of(hb, item_at(&hb->agents[agent], 0));
        if (next == XSR_NONE || next == agent)
            return agent;
        agent = next;
    }
    return agent;
}

/* Whose next event all others may wait for. What a blocked agent waits for may lie behind a wait whose signal the reader still looks for
 * (the host wrote the slot, or its record is lost): the reader tells of it after a grace of its own, longer than ours, and until then nothing
 * is missing. That wait is then the older one, as far as clocks tell. */
static uint32_t root_of(const an_hb *hb, bool *told_later) {
    uint32_t blocked = oldest_of(hb, hb->blocked, hb->blocked_count), unsettled = oldest_of(hb, hb->unsettled, hb->unsettled_count);
    int64_t clocks = hb->clocks;
    *told_later = unsettled != XSR_NONE && (blocked == XSR_NONE || item_at(&hb->agents[unsettled], 0)->e.time - clocks <= item_at(&hb->agents[blocked], 0)->e.time);
    return *told_later ? unsettled : blocked;
}

static int force_old(an *a, int64_t now) {
    an_hb *hb = a->hb;
    bool told_later;
    for (uint32_t agent; (agent = root_of(hb, &told_later)) != XSR_NONE;) {
        if (hb->queued < MOST_QUEUED && (told_later || item_at(&hb->agents[agent], 0)->e.time >= now - hb->grace))
            return 0;
        agent = deepest(hb, agent);
        if (hb->queued < MOST_QUEUED && hb->agents[agent].unsettled)
            return 0;
        TRY(force_one(a, agent, now));
    }
    return 0;
}

/* Not where it is known to be something that orders nothing. */
int an_hb_lost(an *a, const xsr_loss *loss) {
    an_hb *hb = a->hb;
    uint32_t had = hb->gap_room, ring = loss->ring;
    if (loss->kind && !(AN_ORDERS >> loss->kind & 1))
        return 0;
    if (RD_ROOM(hb->gap, hb->gap_room, ring + 1) < 0)
        return XS_E_MEMORY;
    if (hb->gap_room > had)
        memset(&hb->gap[had], 0, (hb->gap_room - had) * sizeof *hb->gap);
    hb->gap[ring] = true;
    return 0;
}

static void hear_behind_gap(an *a, uint32_t agent, const xsr_event *e) {
    an_hb *hb = a->hb;
    if (e->ring >= hb->gap_room || !hb->gap[e->ring])
        return;
    hb->gap[e->ring] = false;
    hb_hear(&hb->agents[agent], e->time);
}

int an_hb_event(an *a, const xsr_event *e) {
    uint32_t agent;
    if (e->writer == XSR_NONE || !(wanted >> e->kind & 1))
        return 0;
    TRY(room_for_slots(a));
    TRY(agent_of(a, e->writer, &agent));
    hear_behind_gap(a, agent, e);
    if (e->kind == XS_EV_WRITER_END)
        a->hb->agents[agent].writers -= a->hb->agents[agent].writers > 0;
    if ((a->hb->blocked_count && ++a->hb->tick % 64 == 0) || a->hb->queued >= MOST_QUEUED)
        TRY(force_old(a, e->time));
    an_item probe;
    probe.e = *e;
    probe.has_wait = false;
    if (a->hb->agents[agent].count == 0 && !(is_wait(e->kind) && e->slot != XSR_NONE) && is_ready(a, &probe)) {
        TRY(hb_process(a, agent, e, NULL, false));
        return a->hb->blocked_count ? wake(a) : 0;
    }
    TRY(push(a, agent, e));
    return is_wait(e->kind) && e->slot != XSR_NONE ? 0 : drain(a, agent);
}

int an_hb_wait(an *a, const xsr_wait *w) {
    uint32_t agent = an_hb_agent_of(a, w->writer);
    if (agent == XSR_NONE || w->open || w->end_lost)
        return 0;
    TRY(room_for_slots(a));
    an_agent *g = &a->hb->agents[agent];
    for (uint32_t i = g->count; i-- > 0;) {
        an_item *item = item_at(g, i);
        if (item->e.id != w->id)
            continue;
        item->w = *w;
        item->has_wait = true;
        if (a->hb->last_forced != NO_TIME && a->hb->last_forced >= w->end) { /* somebody has gone on without what waits here */
            TRY(note_forced(a->hb, w->end, a->last_time));
            hb_hear(g, a->last_time);
        }
        TRY(drain(a, agent));
        return a->hb->blocked_count ? wake(a) : 0;
    }
    return 0;
}

int an_hb_finish(an *a) {
    an_hb *hb = a->hb;
    bool told_later;
    TRY(room_for_slots(a));
    for (uint32_t agent; (agent = root_of(hb, &told_later)) != XSR_NONE;)
        TRY(force_one(a, deepest(hb, agent), INT64_MAX));
    for (uint32_t i = 0; i < hb->agent_count; i++) /* waits that were never settled */
        while (hb->agents[i].count) {
            if (!is_ready(a, item_at(&hb->agents[i], 0))) {
                TRY(note_forced(hb, item_at(&hb->agents[i], 0)->e.time, INT64_MAX));
                hb_hear(&hb->agents[i], INT64_MAX);
            }
            TRY(take_head(a, i, true));
        }
    return 0;
}

static void free_agent(an_agent *g) {
    an_vector_drop(g->known);
    for (uint32_t l = 0; l < AN_LEVELS; l++) {
        an_vector_drop(g->fence[l]);
        an_vector_drop(g->read[l]);
    }
    free(g->items);
}

void an_hb_free(an *a) {
    an_hb *hb = a->hb;
    if (!hb)
        return;
    for (uint32_t i = 0; i < hb->agent_count; i++)
        free_agent(&hb->agents[i]);
    for (uint32_t i = 0; i < hb->slot_count; i++) {
        for (uint32_t k = 0; hb->slots[i].releases && k < RELEASES; k++)
            for (uint32_t l = 0; l < AN_LEVELS; l++)
                an_vector_drop(hb->slots[i].releases[k].clock[l]);
        free(hb->slots[i].releases);
    }
    for (uint32_t i = 0; hb->done && i < hb->done_count; i++)
        an_vector_drop(hb->done[i]);
    rd_map_free(&hb->agent_at);
    free(hb->done);
    free(hb->agents);
    free(hb->slots);
    free(hb->blocked);
    free(hb->unsettled);
    free(hb->forced);
    free(hb->gap);
    free(hb);
}
