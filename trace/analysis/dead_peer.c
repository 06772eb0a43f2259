/* D22: a rank whose process died, or whose heartbeat stands still while others go on and wait for it. */
#include "detectors.h"

static int say_stuck(an *a, const an_stuck *s, const char *why) {
    xsa_finding f = an_stuck_like(a, s, XSA_DEAD_PEER, XSA_ERROR);
    f.cure = "look why that rank died: its last events and status lines are in the capture";
    uint64_t key = an_key(XSA_DEAD_PEER, s->supplier_number, 0, 0);
    uint64_t last = s->supplier == XSR_NONE ? XSR_NO_ID : a->ranks[s->supplier].last_event;
    an_finding *out = an_find(a, &f, key, "%s; rank %u %s", an_stuck_words(a, s), s->supplier_number, why);
    TRY(an_evidence(a, out, s->w.id, "wait"));
    return an_evidence(a, out, last, "its last event");
}

/* Its beats stopped while other ranks recorded on for long. */
static bool beats_stopped(const an *a, uint32_t rank) {
    const an_rank *r = &a->ranks[rank];
    return r->beats && r->ended < r->writers && an_still(a) - r->last_beat > a->options.silent_ns && an_still(a) - r->last_time > a->options.silent_ns;
}

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        if (s->late || s->supplier == XSR_NONE)
            continue;
        const an_rank *r = &a->ranks[s->supplier];
        if (s->why == AN_WHY_DEAD)
            TRY(say_stuck(a, s, an_print(a, "owes it and its process died%s", r->last_time == NO_TIME ? "" : an_print(a, ", last heard of %s", an_since(a, r->last_time)))));
        else if (s->w.result == XS_RESULT_PEER_DEAD && s->why != AN_WHY_NO_RANK && r->last_time <= s->w.end)
            TRY(say_stuck(a, s, an_print(a, "owes it and its heartbeat stood still%s", r->beats ? an_print(a, " after beat %s", an_since(a, r->last_beat)) : "")));
        else if (beats_stopped(a, s->supplier))
            TRY(say_stuck(a, s, an_print(a, "owes it and has been silent since %s", an_since(a, r->last_time))));
    }
    return 0;
}

const an_ops an_dead_peer = {.id = XSA_DEAD_PEER, .needs = AN_WAITS, .finish = finish,
                             .cannot = "a rank that computes for long without a heartbeat from one that is dead"};
