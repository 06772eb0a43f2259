/* D23: an election was won and the signal that it should publish never came. */
#include "detectors.h"

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        if (s->late || s->why != AN_WHY_ELECTED)
            continue;
        xsa_finding f = an_stuck_like(a, s, XSA_STUCK_CHAIN, XSA_ERROR);
        f.cure = "the elected one must signal on every path";
        if (!s->certain) {
            an_unknown(a, XSA_STUCK_CHAIN, f.lost, "%llu lost records could hold the end of a wait",
                       (unsigned long long)f.lost);
            continue;
        }
        uint64_t key = an_key(XSA_STUCK_CHAIN, s->counter, s->owes, 0);
        an_finding *out = an_find(a, &f, key, "%s; %s was elected at %s (all arrived) and did not signal",
                                  an_stuck_words(a, s), an_who(a, s->supplier, s->owes), an_slot_name(a, s->counter));
        TRY(an_evidence(a, out, a->slots[s->counter].arrival.event, "arrival that elected"));
        TRY(an_evidence(a, out, s->w.id, "wait"));
    }
    return 0;
}

const an_ops an_stuck_chain = {
    .id = XSA_STUCK_CHAIN,
    .needs = AN_NEED_WAITS,
    .finish = finish,
    .cannot = "elections that publish nothing, on purpose or not, and holes in watermarks, if nobody waits for them"};
