/* What an event orders, once it has its turn. */
#include "hb_internal.h"

static const an_release *at(const hb_slot *s, uint32_t i) { return &s->releases[(s->first + i) & (s->room - 1)]; }

const an_release *hb_find(const hb_slot *s, uint64_t event) {
    for (uint32_t i = s->count; i-- > 0;)
        if (at(s, i)->event == event)
            return at(s, i);
    return NULL;
}

const an_release *hb_find_value(const hb_slot *s, uint64_t value) {
    for (uint32_t i = s->count; i-- > 0;)
        if (at(s, i)->value == value)
            return at(s, i);
    return NULL;
}

static const an_release *newest(const hb_slot *s) { return s->count ? at(s, s->count - 1) : NULL; }

static an_release *new_release(hb_slot *s) {
    if (s->count == RELEASES) {
        for (uint32_t l = 0; l < AN_LEVELS; l++)
            an_vector_drop(s->releases[s->first].clock[l]);
        s->first = (s->first + 1) & (s->room - 1);
        s->count--;
    }
    if (RD_CIRCLE(s->releases, s->room, s->first, s->count) < 0)
        return NULL;
    an_release *r = &s->releases[(s->first + s->count++) & (s->room - 1)];
    memset(r, 0, sizeof *r);
    return r;
}

static bool not_known(const xsr_event *e) { return e->order == XS_ORDER_NONE || e->fence == XS_FENCE_UNKNOWN; }

static uint8_t level_of_fence(uint32_t fence) {
    return fence == XS_FENCE_SYS || fence == XS_FENCE_UNKNOWN ? 2 : fence == XS_FENCE_GPU ? 1 : 0;
}

/* Volatile is relaxed at system scope; weak is nothing that another thread may rely on. */
static uint8_t level_of_access(const xsr_event *e) {
    if (not_known(e) || e->order == XS_VOLATILE)
        return 2;
    return e->order == XS_WEAK ? 0 : an_level_of_scope(e->scope);
}

static void release_at(const an_agent *g, an_release *r, const xsr_event *e) {
    uint8_t access = level_of_access(e), now = 0;
    if (not_known(e))
        now = 2;
    else if (an_releases(e->order))
        now = access;
    else
        now = level_of_fence(e->fence) < access ? level_of_fence(e->fence) : access;
    for (uint8_t l = 0; l < AN_LEVELS; l++) {
        if (l < now) {
            r->clock[l] = an_vector_hold(g->known);
            r->self[l] = (an_stamp){r->stamp.agent, g->epoch};
        } else if (l < access && g->fence_epoch[l]) {
            r->clock[l] = an_vector_hold(g->fence[l]);
            r->self[l] = (an_stamp){r->stamp.agent, g->fence_epoch[l]};
            r->fenced[l] = true;
        }
    }
}

/* An arrival carries on what those before it released. */
static int carry_on(an_release *r, const an_release *before) {
    for (uint32_t l = 0; before && l < AN_LEVELS; l++) {
        if (before->self[l].epoch == 0 && !before->clock[l])
            continue;
        TRY(an_vector_join(&r->clock[l], before->clock[l], before->self[l]));
    }
    return 0;
}

static int take_release(an *a, an_step *step, const an_release *before) {
    const xsr_event *e = step->e;
    hb_slot *s = &a->hb->slots[e->slot];
    an_agent *g = &a->hb->agents[step->agent];
    /* `before` lies in the ring that the new one may push it out of */
    an_release carried = {.heard = before ? before->heard : NO_TIME};
    TRY(carry_on(&carried, before));
    an_release *r = new_release(s);
    if (!r)
        return XS_E_MEMORY;
    r->event = e->id;
    r->value = an_arrives(e->kind) ? e->value + an_weight(e) : e->value;
    r->epoch = e->epoch;
    r->time = e->time;
    r->stamp = (an_stamp){step->agent, g->epoch};
    r->writer = e->writer;
    r->rank = e->rank;
    r->kind = e->kind;
    r->order = e->order;
    r->scope = e->scope;
    r->fence = e->fence;
    r->heard = carried.heard > g->heard ? carried.heard : g->heard;
    s->heard = r->heard > s->heard ? r->heard : s->heard;
    release_at(g, r, e);
    for (uint32_t l = 0; l < AN_LEVELS; l++) {
        TRY(an_vector_join(&r->clock[l], carried.clock[l], (an_stamp){0, 0}));
        an_vector_drop(carried.clock[l]);
    }
    s->newest = e->id > s->newest ? e->id : s->newest;
    g->epoch++;
    return 0;
}

static int take_edge(an *a, an_step *step, const an_release *from, uint8_t access, bool acquired) {
    an_agent *g = &a->hb->agents[step->agent];
    if (!from)
        return 0;
    step->read = *from; /* an arrival's own release may move the ring, or push this one out */
    memset(step->read.clock, 0, sizeof step->read.clock);
    step->from = &step->read;
    hb_hear(g, from->heard);
    if (from->stamp.agent == step->agent) {
        step->edge = AN_EDGE_LOCAL;
        return an_vector_join(&g->known, from->clock[AN_GPU], (an_stamp){0, 0});
    }
    step->need = an_level_between(a, from->rank, g->rank);
    step->released = from->self[step->need].epoch; /* of its own; it may also carry on what others released */
    bool reaches = access > step->need;
    step->acquired = acquired && reaches;
    step->edge = AN_EDGE_WEAK;
    if (!reaches)
        return 0;
    if (step->released)
        step->edge = acquired ? AN_EDGE_ORDERED : AN_EDGE_PENDING;
    return an_vector_join(acquired ? &g->known : &g->read[step->need], from->clock[step->need], from->self[step->need]);
}

/* What it read is not there any more, or never came: all that the slot has released stands in. */
static int guess(an *a, an_step *step) {
    const an_release *r = newest(&a->hb->slots[step->e->slot]);
    an_agent *g = &a->hb->agents[step->agent];
    step->guessed = true;
    hb_hear(g, step->e->time);
    hb_hear(g, a->hb->slots[step->e->slot].heard);
    for (uint32_t l = 0; r && l < AN_LEVELS; l++)
        TRY(an_vector_join(&g->known, r->clock[l], r->self[l]));
    return r ? an_vector_join(&g->known, NULL, r->stamp) : 0;
}

/* Somebody goes on behind a count that nobody has left yet. */
static void skip(hb_slot *s, uint64_t count, int64_t time) {
    uint64_t post = s->chained ? s->post : 0;
    if (count <= post)
        return;
    s->skipped_at = s->skipped[0] == s->skipped[1] || time < s->skipped_at ? time : s->skipped_at;
    s->skipped[0] = s->skipped[0] == s->skipped[1] || post < s->skipped[0] ? post : s->skipped[0];
    s->skipped[1] = count > s->skipped[1] ? count : s->skipped[1];
}

static int process_wait(an *a, an_step *step) {
    const xsr_wait *w = step->w;
    hb_slot *s = &a->hb->slots[w->slot];
    const an_release *from = NULL;
    if (w->result != XS_RESULT_OK)
        return 0;
    if (w->reads_from.reason != XSR_REASON_FOUND)
        hb_hear(&a->hb->agents[step->agent], step->e->time);
    if (w->reads_from.reason == XSR_REASON_AMBIGUOUS) { /* what it read may come yet */
        a->hb->last_forced = a->last_time;
        TRY(hb_note_forced(a->hb, step->e->time, a->last_time));
    }
    if (w->reads_from.reason == XSR_REASON_FOUND)
        from = hb_find(s, w->reads_from.event);
    else if (w->reads_from.reason == XSR_REASON_ARRIVALS)
        from = a->lost_records ? NULL : hb_find_value(s, w->reads_from.value);
    else if (w->reads_from.reason == XSR_REASON_INITIAL || w->reads_from.reason == XSR_REASON_HOST)
        return 0;
    if (step->guessed && w->reads_from.reason == XSR_REASON_ARRIVALS)
        skip(s, w->reads_from.value, step->e->time);
    a->hb->older += !from && !step->guessed && w->reads_from.reason == XSR_REASON_FOUND && !a->lost_records;
    if (!from || step->guessed)
        return guess(a, step);
    return take_edge(a, step, from, level_of_access(step->e),
                     not_known(step->e) || an_acquires(step->e->order) || w->fence != XS_FENCE_NONE);
}

static int process_arrival(an *a, an_step *step) {
    const xsr_event *e = step->e;
    hb_slot *s = &a->hb->slots[e->slot];
    /* Where records are lost, counts of one record are put together by the reader, and may be off by an epoch: all
     * before it stands in. */
    hb_hear(&a->hb->agents[step->agent], e->time); /* also where that is told only later */
    if (a->lost_records) /* it has not waited for the one before */
        a->hb->last_forced = a->last_time;
    const an_release *before = !s->chained ? NULL : a->lost_records ? newest(s) : hb_find_value(s, e->value);
    if (before && (e->kind == XS_EV_ARRIVE || an_acquires(e->order))) /* a gate's arrivals release alone, as a rule */
        TRY(take_edge(a, step, before, level_of_access(e), not_known(e) || an_acquires(e->order)));
    else if (!before && s->chained && e->value != s->post)
        step->guessed = true;
    if (step->guessed)
        before = newest(s);
    TRY(take_release(a, step, before));
    uint64_t post = e->value + an_weight(e);
    if (!a->lost_records && !a->slots[e->slot].resets && post > s->skipped[0] && post <= s->skipped[1])
        TRY(hb_note_late(a->hb, s->skipped_at, e->time));
    if (step->guessed)
        skip(s, e->value, e->time);
    s->post = post > s->post || !s->chained ? post : s->post;
    s->chained = true;
    return 0;
}

static int process_fence(an *a, an_step *step) {
    const xsr_event *e = step->e;
    an_agent *g = &a->hb->agents[step->agent];
    uint8_t reach = an_level_of_scope(e->scope);
    for (uint8_t l = 0; l < reach; l++) {
        if (an_acquires(e->order)) {
            TRY(an_vector_join(&g->known, g->read[l], (an_stamp){0, 0}));
            an_vector_drop(g->read[l]);
            g->read[l] = NULL;
        }
    }
    for (uint8_t l = 0; l < reach && an_releases(e->order); l++) {
        an_vector_drop(g->fence[l]);
        g->fence[l] = an_vector_hold(g->known);
        g->fence_epoch[l] = g->epoch;
    }
    g->epoch++;
    return 0;
}

static int process(an *a, an_step *step) {
    const xsr_event *e = step->e;
    an_agent *g = &a->hb->agents[step->agent];
    switch (e->kind) {
    case XS_EV_PASS:
    case XS_EV_WAIT_END:
        if (e->slot == XSR_NONE)
            return 0;
        return step->w ? process_wait(a, step) : guess(a, step); /* it went on before the reader told of it */
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK: return e->slot == XSR_NONE ? 0 : take_release(a, step, NULL);
    case XS_EV_ARRIVE:
    case XS_EV_GATE_ARRIVE: return e->slot == XSR_NONE ? 0 : process_arrival(a, step);
    case XS_EV_RESET: /* the chain of a counter begins anew */
        if (e->slot != XSR_NONE)
            a->hb->slots[e->slot].post = e->value;
        g->epoch++;
        return 0;
    case XS_EV_FENCE: return process_fence(a, step);
    default: return 0;
    }
}

int hb_process(an *a, uint32_t agent, const xsr_event *e, const xsr_wait *w, bool guessed) {
    an_step step = {.e = e, .w = w, .agent = agent, .guessed = guessed, .epoch = a->hb->agents[agent].epoch};
    TRY(process(a, &step));
    TRY(an_step_tell(a, &step));
    return e->kind == XS_EV_WRITER_END ? hb_writer_ends(a, agent) : 0;
}

/* ---- launches ---- */

/* Every launch of the process that began before this one had ended when the host began it. */
static bool host_saw_all(const an *a, uint32_t launch) {
    const xsr_launch *l = &a->model->launches[launch];
    for (uint32_t i = 0; i < a->model->launch_count; i++) {
        const xsr_launch *o = &a->model->launches[i];
        if (i != launch && o->process == l->process && o->begin <= l->begin && o->id < l->id &&
            (o->end == NO_TIME || o->end > l->begin))
            return false;
    }
    return true;
}

/* A writer of a launch begins on an agent: what its stream, or the host, ordered before it. */
int hb_launch_begins(an *a, uint32_t agent, uint32_t launch) {
    an_hb *hb = a->hb;
    an_agent *g = &hb->agents[agent];
    const xsr_model *m = a->model;
    hb_hear(g, a->last_time); /* ends of writers may be lost */
    if (launch == XSR_NONE)
        return 0;
    if (host_saw_all(a, launch))
        return an_vector_join(&g->known, hb->done[m->launches[launch].process], (an_stamp){0, 0});
    /* streams: one launch of a rank after the other */
    return an_vector_join(&g->known, hb->done[m->process_count + g->rank], (an_stamp){0, 0});
}

int hb_writer_ends(an *a, uint32_t agent) {
    an_hb *hb = a->hb;
    an_agent *g = &hb->agents[agent];
    uint32_t process = a->model->ranks[g->rank].process;
    an_stamp self = {agent, g->epoch++};
    TRY(an_vector_join(&hb->done[process], g->known, self));
    return an_vector_join(&hb->done[a->model->process_count + g->rank], g->known, self);
}
