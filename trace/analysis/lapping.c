/* D16: a producer that publishes into a slot of its ring before the reader gave it back (channels), or signals more
 * than a ring's depth ahead of what its reader has waited for (a declared depth). Payload that is overwritten while
 * it is read: see payload_race.c. */
#include "detectors.h"
#include "hb.h"

#define WAITS 8u /* of a slot that are kept; credits too */

typedef struct waited { an_stamp stamp; uint64_t need, event; int64_t time; uint32_t writer; } waited;
typedef struct given { an_stamp stamp; uint64_t value, event; int64_t time; } given; /* back by a reader */
typedef struct ring {
    given acks[WAITS];
    uint64_t depth; /* 0: a channel's, or not declared */
    waited waits[WAITS];
    uint32_t ack_count, wait_count;
    uint64_t sent[WAITS];
    uint32_t sent_count;
} ring;
typedef struct lap { ring *ring; bool asked; } lap; /* ring: NULL: it is of none, as most slots */
typedef struct rings { lap *slots; uint32_t room; bool *pads_acked; } rings;

static int room_for(an *a, rings *s) {
    TRY(RD_ROWS(s->slots, s->room, a->slot_count));
    if (!s->pads_acked && !(s->pads_acked = calloc(a->model->pad_count + 1, sizeof *s->pads_acked)))
        return XS_E_MEMORY;
    return 0;
}

static int say(an *a, const an_step *step, const char *what, uint64_t other, int64_t since) {
    const xsr_event *e = step->e;
    an_whole_order(a, step->agent, since, step->agent, e->time); /* what the reader gave back, and how that was heard */
    xsa_finding f = an_like(XSA_LAPPING, XSA_ERROR, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, e->rank, e->writer);
    f.rank = a->model->slots[e->slot].owner;
    f.begin = f.end = e->time;
    f.cure = "wait for a credit of every reader before a buffer is written again, or make the ring deeper";
    an_finding *out =
        an_find(a, &f, 0, "%s publishes %llu at %s of rank %u %s, %s", an_who(a, e->rank, e->writer),
                (unsigned long long)e->value, an_slot_name(a, e->slot), f.rank, what, an_since(a, e->time));
    TRY(an_evidence(a, out, other, "what the reader did last"));
    return an_evidence(a, out, e->id, "publish");
}

/* The credit for that batch, or a later one, which the producer has heard of. The record of a publication stands
 * behind its store: its reader may have given back that very batch by then. *last: the newest for it that was not
 * heard of, or else of all. *since: when that batch was given back; where its credit is not there, of the newest
 * before it, behind which it would be. */
static bool is_given(const an *a, const ring *r, uint64_t freed, uint32_t agent, const given **last, int64_t *since) {
    bool enough = false;
    *last = NULL;
    *since = INT64_MIN;
    for (uint32_t i = 0; i < WAITS && i < r->ack_count; i++) {
        const given *g = &r->acks[i];
        if (g->value >= freed && an_hb_before(a, g->stamp, agent))
            return true;
        bool first = g->value >= freed && (!enough || g->value < (*last)->value);
        if (first || (!enough && (!*last || g->value > (*last)->value)))
            *last = g;
        enough |= g->value >= freed;
        *since = g->value <= freed && g->time > *since ? g->time : *since;
    }
    return false;
}

static bool older_are_gone(const ring *r, uint64_t freed) {
    uint64_t oldest = r->ack_count > WAITS ? r->acks[r->ack_count % WAITS].value : 0;
    return oldest > freed;
}

static int take_publish(an *a, rings *s, const an_step *step) {
    const xsr_event *e = step->e;
    const ring *r = s->slots[e->slot].ring;
    uint64_t depth = e->further[0];
    if (depth == 0 || e->value <= depth ||
        !s->pads_acked[a->model->slots[e->slot].pad]) /* readers that give nothing back are not judged by that */
        return 0;
    uint64_t freed = e->value - depth;
    const given *last;
    int64_t since;
    if (is_given(a, r, freed, step->agent, &last, &since) || older_are_gone(r, freed))
        return 0;
    bool unheard = last && last->value >= freed;
    const char *how = unheard ? an_print(a, "without having heard that %llu was given back", (unsigned long long)freed)
                              : an_print(a, "before %llu was given back", (unsigned long long)freed);
    return say(a, step, how, last ? last->event : XSR_NO_ID, since);
}

/* Its reader has waited as often as was signalled, and this producer knows: it asks for too little. */
static bool asks_too_little(const an *a, const ring *r, uint64_t freed, uint32_t agent, const waited **by) {
    uint32_t later = 0;
    for (uint32_t i = 0; i < WAITS && i < r->sent_count; i++)
        later += r->sent[i] > freed;
    for (uint32_t i = 0; i < WAITS && i < r->wait_count; i++) { /* from the newest */
        const waited *w = &r->waits[(r->wait_count - 1 - i) % WAITS];
        *by = w;
        if (an_hb_before(a, w->stamp, agent))
            return r->wait_count - i >= r->sent_count - later;
    }
    return false;
}

static int say_behind(an *a, const an_step *step, const waited *w, uint64_t freed) {
    const xsr_event *e = step->e;
    an_whole(a, XSR_NONE, INT64_MIN, e->time); /* waits and signals are counted */
    xsa_finding f = an_like(XSA_EARLY_PASS, XSA_ERROR, XSA_HIGH);
    f.slot = e->slot;
    an_culprit(a, &f, XSR_NONE, w->writer);
    an_victim(a, &f, XSR_NONE, w->writer);
    f.begin = w->time;
    f.end = e->time;
    f.cure = "wait for this round's value: one that an earlier round left lets the wait pass at once";
    an_finding *out = an_find(
        a, &f, an_key(XSA_EARLY_PASS, e->slot, 3, 0),
        "%s waited for %llu at %s, and has waited there as often as it was signalled: for %llu it never asked, %s",
        an_who(a, XSR_NONE, w->writer), (unsigned long long)w->need, an_slot_name(a, e->slot),
        (unsigned long long)freed, an_since(a, w->time));
    TRY(an_evidence(a, out, w->event, "wait"));
    return an_evidence(a, out, e->id, "signal of the next round");
}

/* A plain slot with a declared depth: its reader's wait for (value - depth) must be known to the producer. */
static int take_signal(an *a, rings *s, const an_step *step) {
    const xsr_event *e = step->e;
    const ring *r = s->slots[e->slot].ring;
    if (!r->depth || a->slots[e->slot].is_channel || e->value <= r->depth || !r->wait_count)
        return 0;
    uint64_t freed = e->value - r->depth;
    const waited *last = &r->waits[(r->wait_count - 1) % WAITS];
    int64_t since = INT64_MIN; /* waits come in the order of what they need: this one's would be behind these */
    bool older_ones_gone = r->wait_count > WAITS;
    for (uint32_t i = 0; i < WAITS && i < r->wait_count; i++) {
        const waited *w = &r->waits[i];
        if (w->need >= freed && an_hb_before(a, w->stamp, step->agent))
            return 0;
        older_ones_gone &= w->need > freed;
        if (w->need < freed && w->time > since)
            since = w->time;
    }
    const waited *by = last;
    if (asks_too_little(a, r, freed, step->agent, &by) && !a->lost_records)
        return say_behind(a, step, by, freed);
    if (older_ones_gone)
        return 0; /* who waited for that one is not kept any more */
    return say(a, step,
               an_print(a, "%llu deep, and has not heard that its reader is done with %llu",
                        (unsigned long long)r->depth, (unsigned long long)freed),
               last->event, since);
}

/* *out NULL: it is of no ring. */
static int ring_of(an *a, rings *s, const xsr_event *e, ring **out) {
    lap *l = &s->slots[e->slot];
    bool channel = e->kind == XS_EV_CONSUME || e->kind == XS_EV_PUBLISH;
    uint64_t depth = l->asked ? 0 : an_plan_of(a, e->slot, e->epoch).depth;
    *out = l->ring;
    if (l->ring || (l->asked && !channel))
        return 0;
    l->asked = true;
    if (!depth && !channel)
        return 0;
    a->seen |= AN_NEED_RINGS;
    *out = l->ring = calloc(1, sizeof *l->ring);
    if (l->ring)
        l->ring->depth = depth;
    return l->ring ? 0 : XS_E_MEMORY;
}

static int on_step(an *a, void *state, const an_step *step) {
    rings *s = state;
    const xsr_event *e = step->e;
    ring *r;
    if (e->slot == XSR_NONE)
        return 0;
    TRY(room_for(a, s));
    TRY(ring_of(a, s, e, &r));
    if (!r)
        return 0;
    switch (e->kind) {
    case XS_EV_CONSUME:
        s->pads_acked[a->model->slots[e->slot].pad] = true;
        r->acks[r->ack_count++ % WAITS] = (given){{step->agent, step->epoch}, e->value, e->id, e->time};
        return 0;
    case XS_EV_PUBLISH: return take_publish(a, s, step);
    case XS_EV_SIGNAL:
        TRY(take_signal(a, s, step));
        r->sent[r->sent_count++ % WAITS] = e->value;
        return 0;
    case XS_EV_PASS:
    case XS_EV_WAIT_END:
        if (!step->w || step->w->result != XS_RESULT_OK)
            return 0;
        /* Where its start is lost, so is what it needed: no more than it saw. */
        r->waits[r->wait_count++ % WAITS] = (waited){{step->agent, step->epoch},
                                                     step->w->start_lost ? step->w->observed : step->w->need,
                                                     e->id,
                                                     e->time,
                                                     e->writer};
        return 0;
    default: return 0;
    }
}

static void release(void *state) {
    for (uint32_t i = 0; i < ((rings *)state)->room; i++)
        free(((rings *)state)->slots[i].ring);
    free(((rings *)state)->slots);
    free(((rings *)state)->pads_acked);
}

const an_ops an_lapping = {
    .id = XSA_LAPPING,
    .needs = AN_NEED_RINGS | AN_NEED_PAYLOAD,
    .state = sizeof(rings),
    .on_step = on_step,
    .release = release,
    .cannot = "readers that may skip versions, and rings whose depth nobody declares and whose payload is not noted"};
