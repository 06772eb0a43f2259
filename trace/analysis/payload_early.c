/* Reads of what nobody has written yet: told of when the write comes, or when another one comes in its place. */
#include "payload_race.h"

/* The writer comes to that place in steps of one length, and never with the generation that is looked for there: who
 * reads it there looks at the wrong place. behind: a generation that was, or is, written there. */
bool payload_no_place(const chunk *c, uint64_t read, uint64_t behind, uint64_t period) {
    return c->written && period > 1 && period == c->period &&
           (behind > read ? behind - read : read - behind) % period != 0;
}

int payload_say_elsewhere(an *a, const access *read, uint32_t told, const xsr_event *e, uint32_t name,
                                uint64_t generation, uint64_t period) {
    xsa_finding f = an_like(XSA_PAYLOAD_RACE, XSA_ERROR, XSA_HIGH);
    an_culprit(a, &f, XSR_NONE, read->writer);
    an_victim(a, &f, XSR_NONE, told);
    f.slot = read->guard.any ? read->guard.slot : XSR_NONE;
    f.begin = f.end = read->since;
    f.cure = "compute the place from the round that was waited for, on both sides by one function";
    an_source(a, &f, read->guard.source);
    an_whole_rank(a, a->model->writers[told].rank, INT64_MIN, e->time);
    an_only_by(a, AN_KIND(WRITE_BEGIN));
    if (a->model->clock_count > 1) { /* what orders the writes of others there */
        an_whole(a, XSR_NONE, INT64_MIN, e->time);
        an_only_by(a, AN_ORDERS | AN_KIND(WRITE_BEGIN));
    }
    an_finding *out =
        an_find(a, &f, 0, "%s reads %s %llu of generation %llu, where %s writes one in %llu and never that one, %s%s",
                an_who(a, XSR_NONE, read->writer), name == XSR_NONE ? "payload" : a->model->names[name].text,
                (unsigned long long)e->value, (unsigned long long)generation, an_who(a, XSR_NONE, told),
                (unsigned long long)period, an_since(a, read->since), an_site(a, read->writer, read->guard.source));
    TRY(an_evidence(a, out, read->event, "access"));
    TRY(an_evidence(a, out, read->guard.any ? read->guard.signal : XSR_NO_ID, "signal"));
    return an_evidence(a, out, e->id, "the next one");
}

/* It was told of, and whoever told of it writes the next one there: that one it never wrote. */
static int say_unwritten(an *a, early *x, const an_step *step, const chunk *c) {
    const xsr_event *e = step->e;
    const access *read = &x->reads;
    uint32_t told = x->told;
    if (x->generation >= e->detail || told == XSR_NONE || !read->stamps || c->matched < 2 ||
        an_hb_agent_of(a, told) != step->agent)
        return 0;
    x->told = XSR_NONE;
    if (payload_no_place(c, x->generation, c->generation, e->detail - c->generation))
        return payload_say_elsewhere(a, read, told, e, x->name, x->generation, c->period);
    an_whole_rank(a, e->rank, INT64_MIN, e->time);
    an_only_by(a, AN_KIND(WRITE_BEGIN));
    xsa_finding f = an_like(XSA_PARTIAL_PUBLISH, XSA_ERROR, XSA_HIGH);
    an_culprit(a, &f, XSR_NONE, told);
    an_victim(a, &f, XSR_NONE, read->writer);
    f.slot = read->guard.slot;
    f.begin = f.end = read->since;
    f.cure = "write each batch to the place that its reader looks at, before the signal that tells of it";
    an_source(a, &f, read->guard.source);
    an_finding *out =
        an_find(a, &f, 0, "%s reads %s %llu of generation %llu, which %s told of at %s and never wrote there, %s%s",
                an_who(a, XSR_NONE, read->writer), x->name == XSR_NONE ? "payload" : a->model->names[x->name].text,
                (unsigned long long)e->value, (unsigned long long)x->generation, an_who(a, XSR_NONE, told),
                an_slot_name(a, f.slot), an_since(a, read->since), an_site(a, read->writer, read->guard.source));
    TRY(an_evidence(a, out, read->event, "access"));
    TRY(an_evidence(a, out, read->guard.signal, "signal"));
    return an_evidence(a, out, e->id, "the next one");
}

int payload_take_early(an *a, races *r, const an_step *step, uint32_t src, uint32_t dst, const chunk *c) {
    const xsr_event *e = step->e;
    uint32_t at = rd_map_get(&r->early_of, payload_key(src, dst, e->value, XSR_NONE));
    bool active;
    if (at == XSR_NONE || payload_other_name(r, r->earlies[at].name, e->object))
        return 0;
    if (r->earlies[at].generation != e->detail)
        return say_unwritten(a, &r->earlies[at], step, c);
    early *x = &r->earlies[at];
    const access *race = payload_unordered(a, &x->reads, step->agent, &active), *reads = race ? race : &x->reads;
    if (!race && x->reads.agent == step->agent) /* its own buffer, which it looks at before it fills it */
        return 0;
    access write = payload_begins(a, r, step);
    verdict v = payload_of_read(a, r, reads, &write, e->detail, c);
    v.unwritten = !payload_is_shared(r, e->object); /* else another rank may have written it */
    /* Nobody had written that generation: it was read too early, also where what the reader did next came round to
     * the writer. */
    if (!race && !(v.unwritten && payload_is_ahead(a, &x->reads, e)))
        an_whole_rank(a, e->rank, INT64_MIN, e->time); /* another block's write of it */
    return payload_say(a, v, step, reads, e->detail, "only after it was read by");
}

/* Who of the rank that the reader names has told it of this round: by the signal that it saw last, or at the
 * counter. XSR_NONE: nobody. */
static uint32_t teller(const an *a, const races *r, const guard *g, const xsr_event *e) {
    if (!g->any || g->spent || payload_peer(e) == PAYLOAD_ANY)
        return XSR_NONE;
    const an_slot *s = &a->slots[g->slot];
    for (uint32_t i = 0; i < s->arriver_count; i++) {
        const an_arriver *x = tellings_arriver(&r->told, g->slot, s->arrivers[i].writer);
        if (x && an_number(a, a->model->writers[x->writer].rank) == payload_peer(e))
            return x->left <= g->value && x->epoch == e->epoch ? x->writer : XSR_NONE;
    }
    return an_number(a, a->model->writers[g->writer].rank) == payload_peer(e) && g->value >= e->detail ? g->writer
                                                                                                  : XSR_NONE;
}

int payload_note_early(an *a, races *r, const an_step *step, const chunk *c) {
    const xsr_event *e = step->e;
    uint32_t self = an_number(a, e->rank), from = payload_peer(e) == PAYLOAD_ANY ? self : payload_peer(e);
    uint64_t key = payload_key(from, self, e->value, XSR_NONE);
    uint32_t at = rd_map_get(&r->early_of, key);
    if (at == XSR_NONE) {
        at = r->early_count;
        if (RD_ROOM(r->earlies, r->early_room, at + 1) < 0 || rd_map_put(&r->early_of, key, at) < 0)
            return XS_E_MEMORY;
        r->earlies[r->early_count++] = (early){.told = XSR_NONE};
    }
    if (r->earlies[at].generation != e->detail)
        payload_clear(&r->earlies[at].reads);
    r->earlies[at].generation = e->detail;
    r->earlies[at].name = e->object;
    guard g = payload_guard_of_read(a, r, step, c);
    r->earlies[at].told = teller(a, r, &g, e);
    return payload_add(&r->earlies[at].reads, step, &g);
}
