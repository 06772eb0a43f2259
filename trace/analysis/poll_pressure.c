/* D21: many who poll one slot at a time, and polls over a link: a slot is polled where it lives. */
#include "detectors.h"

#define CROWD 256u     /* waits for one slot at a time */
#define FAR_POLLS 64u  /* polls of another rank's memory */

typedef struct crowd { uint32_t now, most; uint64_t event; int64_t time; uint64_t far_polls, far_wait; uint32_t far_writer, far_line; int64_t far_begin, far_end; } crowd;
typedef struct pressure { crowd *slots; uint32_t room; } pressure;

static crowd *crowd_of(an *a, pressure *p, uint32_t slot) {
    uint32_t had = p->room;
    if (RD_ROOM(p->slots, p->room, a->slot_count) < 0)
        return NULL;
    if (p->room > had)
        memset(&p->slots[had], 0, (p->room - had) * sizeof *p->slots);
    return &p->slots[slot];
}

static int on_event(an *a, void *state, const xsr_event *e) {
    crowd *c = e->slot == XSR_NONE ? NULL : crowd_of(a, state, e->slot);
    if (!c)
        return e->slot == XSR_NONE ? 0 : XS_E_MEMORY;
    if (e->kind == XS_EV_WAIT_END) {
        c->now -= c->now > 0;
    } else if (++c->now > c->most) {
        c->most = c->now;
        c->event = e->id;
        c->time = e->time;
    }
    return 0;
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    uint32_t owner = an_rank_of(a, a->model->slots[w->slot].owner);
    if (w->passed || owner == XSR_NONE || a->ranks[owner].device_key == a->ranks[w->rank].device_key)
        return 0;
    crowd *c = crowd_of(a, state, w->slot);
    if (!c)
        return XS_E_MEMORY;
    c->far_begin = c->far_polls ? c->far_begin : w->begin;
    c->far_polls += w->polls;
    c->far_wait = w->id;
    c->far_writer = w->writer;
    c->far_line = w->line;
    c->far_end = w->open ? a->last_time : w->end;
    return 0;
}

static int say_crowd(an *a, uint32_t slot, const crowd *c) {
    xsa_finding f = an_like(XSA_POLL_PRESSURE, XSA_WARNING, XSA_HIGH);
    f.slot = slot;
    f.owes_rank = f.rank = a->model->slots[slot].owner;
    f.begin = f.end = c->time;
    f.cure = "one that polls and tells the others (a barrier of the block, a shared word), and a back-off";
    an_finding *out = an_find(a, &f, an_key(XSA_POLL_PRESSURE, a->model->slots[slot].pad, f.rank, 1), "%u writers poll %s of rank %u at a time, %s", c->most, an_slot_name(a, slot),
                              a->model->slots[slot].owner, an_since(a, c->time));
    return an_evidence(a, out, c->event, "wait of the last of them");
}

static int say_far(an *a, uint32_t slot, const crowd *c) {
    xsa_finding f = an_like(XSA_POLL_PRESSURE, XSA_WARNING, XSA_HIGH);
    f.slot = slot;
    an_culprit(a, &f, XSR_NONE, c->far_writer);
    an_victim(a, &f, XSR_NONE, c->far_writer);
    f.begin = c->far_begin;
    f.end = c->far_end;
    f.line = c->far_line;
    f.cure = "let the signal be stored into the waiter's own copy, and poll that";
    an_finding *out = an_find(a, &f, an_key(XSA_POLL_PRESSURE, a->model->slots[slot].pad, f.owes_rank, 2), "%s polls %s in the memory of rank %u, over the link: %llu polls%s",
                              an_who(a, XSR_NONE, c->far_writer), an_slot_name(a, slot), a->model->slots[slot].owner, (unsigned long long)c->far_polls,
                              an_site(a, c->far_writer, c->far_line));
    return an_evidence(a, out, c->far_wait, "wait");
}

static int finish(an *a, void *state) {
    const pressure *p = state;
    for (uint32_t i = 0; i < p->room && i < a->slot_count; i++) {
        if (p->slots[i].most >= CROWD)
            TRY(say_crowd(a, i, &p->slots[i]));
        if (p->slots[i].far_polls >= FAR_POLLS)
            TRY(say_far(a, i, &p->slots[i]));
    }
    return 0;
}

static void release(void *state) { free(((pressure *)state)->slots); }

const an_ops an_poll_pressure = {.id = XSA_POLL_PRESSURE, .needs = AN_WAITS, .kinds = AN_KIND(WAIT_START) | AN_KIND(WAIT_END), .state = sizeof(pressure),
                                 .on_event = on_event, .on_wait = on_wait, .finish = finish, .release = release, .cannot = "pollers that note nothing"};
