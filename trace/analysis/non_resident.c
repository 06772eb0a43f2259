/* D4: the block that owes the signal never began, while all that began on its rank wait: they hold what it needs to
 * run. */
#include "detectors.h"

static int say(an *a, const an_stuck *s) {
    xsa_finding f = an_stuck_like(a, s, XSA_NON_RESIDENT, XSA_ERROR);
    f.cure =
        "a grid no larger than what is resident at once, waits that end, or the supplier in blocks that start first";
    if (!s->certain) {
        an_unknown(a, XSA_NON_RESIDENT, f.lost, "%llu lost records could hold the end of a wait",
                   (unsigned long long)f.lost);
        return 0;
    }
    uint64_t key = an_key(XSA_NON_RESIDENT, s->supplier, s->owes_block, 0);
    an_finding *out =
        an_find(a, &f, key, "%s; block %u of rank %u owes it and was never started: all that were started wait",
                an_stuck_words(a, s), s->owes_block, an_number(a, s->supplier));
    return an_evidence(a, out, s->w.id, "wait");
}

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (!a->stuck[i].late && a->stuck[i].why == AN_WHY_NO_BLOCK)
            TRY(say(a, &a->stuck[i]));
    return 0;
}

const an_ops an_non_resident = {.id = XSA_NON_RESIDENT, .needs = AN_NEED_WAITS, .finish = finish,
                                .cannot = "blocks that record nothing, and what else holds the device's processors"};
