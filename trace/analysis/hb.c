/* Each agent's events in their order, each wait behind the signal that it read, each arrival behind the one that it
 * found. Almost always that is the order in which they come; what has to wait is queued (hb_queue.c), for a bounded
 * time and in bounded memory (hb_force.c). */
#include "hb_internal.h"

#define MOST_APART \
    (1ll << 58) /* ns: nine years, which no two stamps are apart; also the most that a clock has (rd_bound) */
#define GRACE 10000            /* ns of merged time; more where clocks or schedulers are loose */

static const uint64_t wanted = AN_KIND(SIGNAL) | AN_KIND(WATERMARK) | AN_KIND(ARRIVE) | AN_KIND(GATE_ARRIVE) |
                               AN_KIND(RESET) | AN_KIND(PASS) | AN_KIND(WAIT_START) | AN_KIND(WAIT_END) |
                               AN_KIND(FENCE) | AN_KIND(READ_BEGIN) | AN_KIND(WRITE_BEGIN) | AN_KIND(PAYLOAD_END) |
                               AN_KIND(BARRIER_ENTER) | AN_KIND(BARRIER_LEAVE) | AN_KIND(BLOCK_ENTER) |
                               AN_KIND(BLOCK_LEAVE) | AN_KIND(PUBLISH) | AN_KIND(CONSUME) | AN_KIND(WRITER_BEGIN) |
                               AN_KIND(WRITER_END) | AN_KIND(WORK_BEGIN) | AN_KIND(EPOCH);

static void set_grace(an_hb *hb, const xsr_model *m) {
    int64_t bound = 0;
    bool real = false;
    for (uint32_t i = 0; i < m->clock_count && bound < MOST_APART; i++)
        bound += m->clocks[i].bound_ns < 0 ? 1000000 : m->clocks[i].bound_ns;
    for (uint32_t i = 0; i < m->rank_count; i++)
        real |= !m->processes[m->ranks[i].process].virtual_time && m->ranks[i].device < 0;
    hb->stamps = 2 * bound + (real ? 20000000 : 0);
    for (uint32_t i = 0; i < m->process_count; i++)
        real |= !m->processes[i].virtual_time && m->processes[i].device < 0;
    hb->clocks = 2 * bound + (real ? 20000000 : 0); /* a thread may be set aside between its atomic and its stamp */
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
    TRY(RD_ROWS(hb->slots, hb->slot_room, a->slot_count));
    hb->slot_count = a->slot_count;
    return 0;
}

/* The agent of a writer's block. A block of a later launch goes on as the agent of its place if all that was there
 * is over. */
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
        hb->agents[at] =
            (an_agent){.rank = w->rank, .block = w->block, .launch = w->launch, .epoch = 1, .heard = NO_TIME};
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
    return writer == XSR_NONE || writer >= a->writer_count || !a->writers[writer].agent ? XSR_NONE
                                                                                        : a->writers[writer].agent - 1;
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
    /* the stamp of something behind what it may have heard by, in the order of its writer */
    int64_t heard = a->hb->agents[agent].heard;
    return heard != NO_TIME && (heard >= time || time - heard <= an_clocks_apart(a));
}

uint64_t an_hb_older(const an *a) { return a->hb->older; }

int64_t an_clocks_apart(const an *a) {
    int64_t most = 0;
    for (uint32_t i = 0; i < a->model->clock_count; i++) {
        int64_t bound = a->model->clocks[i].bound_ns;
        most = bound < 0 && most < 1000000 ? 1000000 : bound > most ? bound : most;
    }
    return 2 * (most < MOST_APART ? most : MOST_APART);
}

/* Not where it is known to be something that orders nothing. */
int an_hb_lost(an *a, const xsr_loss *loss) {
    an_hb *hb = a->hb;
    uint32_t ring = loss->ring;
    if (loss->kind && !(AN_ORDERS >> loss->kind & 1))
        return 0;
    TRY(RD_ROWS(hb->gap, hb->gap_room, ring + 1));
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
    if ((a->hb->blocked_count && ++a->hb->tick % 64 == 0) || hb_is_full(a->hb))
        TRY(hb_force_old(a, e->time));
    an_item probe;
    probe.e = *e;
    probe.has_wait = false;
    if (a->hb->agents[agent].count == 0 && !(hb_is_wait(e->kind) && e->slot != XSR_NONE) && hb_is_ready(a, &probe)) {
        TRY(hb_process(a, agent, e, NULL, false));
        return a->hb->blocked_count ? hb_wake(a) : 0;
    }
    TRY(hb_push(a, agent, e));
    return hb_is_wait(e->kind) && e->slot != XSR_NONE ? 0 : hb_drain(a, agent);
}

int an_hb_wait(an *a, const xsr_wait *w) {
    uint32_t agent = an_hb_agent_of(a, w->writer);
    if (agent == XSR_NONE || w->open || w->end_lost)
        return 0;
    TRY(room_for_slots(a));
    an_agent *g = &a->hb->agents[agent];
    for (uint32_t i = g->count; i-- > 0;) {
        an_item *item = hb_item(g, i);
        if (item->e.id != w->id)
            continue;
        item->w = *w;
        item->has_wait = true;
        if (a->hb->last_forced != NO_TIME && a->hb->last_forced >= w->end) {
            /* somebody has gone on without what waits here */
            TRY(hb_note_forced(a->hb, w->end, a->last_time));
            hb_hear(g, a->last_time);
        }
        TRY(hb_drain(a, agent));
        return a->hb->blocked_count ? hb_wake(a) : 0;
    }
    return 0;
}

int an_hb_finish(an *a) {
    TRY(room_for_slots(a));
    return hb_force_all(a);
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
        for (uint32_t k = 0; k < hb->slots[i].count; k++)
            for (uint32_t l = 0; l < AN_LEVELS; l++)
                an_vector_drop(hb->slots[i].releases[(hb->slots[i].first + k) & (hb->slots[i].room - 1)].clock[l]);
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
    free(hb->late);
    free(hb->gap);
    free(hb);
}
