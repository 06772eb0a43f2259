/* D2: waits whose signal never came, by the rung of the ladder (ladder.c) on which they end. Rungs that other
 * detectors name are theirs; a wait that waits for another one that stands still is evidence of that one. */
#include "detectors.h"

/* Nobody is known to owe it, and one slot of the same memory is signalled and waited for by nobody: what the waiter
 * should look at. */
static uint32_t only_unwatched(const an *a, const an_stuck *s) {
    uint32_t found = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count && s->supplier_number == XSR_NONE; i++) {
        const an_slot *x = &a->slots[i];
        if (i == s->w.slot || a->model->slots[i].owner != a->model->slots[s->w.slot].owner || !x->signals || x->waits ||
            x->signal.writer == XSR_NONE || !an_holds(s->w.cmp, x->max_value, s->w.need))
            continue;
        if (found != XSR_NONE)
            return XSR_NONE;
        found = i;
    }
    return found;
}

static const char *what(an *a, const an_stuck *s, uint32_t wrong, const char **cure) {
    const char *who = an_who(a, s->supplier, s->owes);
    if (wrong != XSR_NONE) {
        bool waited = a->slots[wrong].waits != 0;
        *cure = waited ? "check owner, row and column of the signal: it went to another slot of the pad"
                       : "check owner, row and column of the signal: it went to a slot that nobody waits for";
        return an_print(a, "%s signalled %s instead%s", who, a->model->slots[wrong].label,
                        waited ? "" : ", for which nobody waits");
    }
    switch (s->why) {
    case AN_WHY_HOST:
        *cure = "the host signals it: look for a call that needs what the kernel holds (a copy, a module load, a "
                "synchronisation)";
        return an_print(a, "the host of rank %u owes it", s->supplier_number);
    case AN_WHY_ENDED:
        *cure = "look for an early exit, a skipped branch or a loop that ends one round too soon";
        return an_print(a, "%s owes it and ended without signalling", who);
    case AN_WHY_MOVED_ON:
        *cure = "look for a branch that leaves the signal out in this epoch";
        if (a->writers[s->owes].epoch <= s->round)
            return an_print(a, "%s owes it and has gone past the place where it signals it", who);
        return an_print(a, "%s owes it and went on to epoch %llu without signalling", who,
                        (unsigned long long)a->writers[s->owes].epoch);
    case AN_WHY_SILENT:
        *cure = "look what it does there: it neither waits by a primitive nor ends";
        return an_print(a, "%s owes it and has recorded nothing since %s", who,
                        s->owes == XSR_NONE ? "its start" : an_since(a, a->writers[s->owes].last_time));
    default:
        if (s->supplier_number == XSR_NONE && a->slots[s->w.slot].signals) {
            *cure = "look who took that turn, and for a path on which it does not signal";
            return "those who signal it in turn have all done so, and none of them has left early";
        }
        *cure = "declare who signals the slot (XS_PLAN_WRITER), or check that anybody does";
        return s->supplier_number == XSR_NONE ? "nobody has ever signalled it, and the plan names nobody"
                                              : an_print(a, "rank %u owes it", s->supplier_number);
    }
}

static bool is_ours(const an_stuck *s) {
    return s->why == AN_WHY_UNKNOWN || s->why == AN_WHY_HOST || s->why == AN_WHY_ENDED || s->why == AN_WHY_MOVED_ON ||
           s->why == AN_WHY_SILENT;
}

/* Records that are lost could be the end of the wait (then there is nothing), or tell why the signal did not come. */
static int say(an *a, const an_stuck *s) {
    xsa_finding f = an_stuck_like(a, s, XSA_LOST_SUPPLIER, XSA_ERROR);
    uint32_t wrong = an_misdirected(a, s);
    const char *cure = "", *why = what(a, s, wrong, &cure);
    uint32_t other = only_unwatched(a, s);
    if (other != XSR_NONE) {
        const an_touch *t = &a->slots[other].signal;
        an_culprit(a, &f, t->rank, t->writer);
        cure = "wait for the slot that is signalled, or let what is waited for be signalled: a copy is not renewed by "
               "itself";
        why = an_print(a, "nobody has ever signalled it; %s signals %s, for which nobody waits",
                       an_who(a, t->rank, t->writer), a->model->slots[other].label);
    }
    if (!s->certain) {
        an_unknown(a, XSA_LOST_SUPPLIER, f.lost, "%s, but %llu lost records could hold the end of that wait",
                   an_stuck_words(a, s), (unsigned long long)f.lost);
        return 0;
    }
    f.cure = cure;
    /* Many who wait for one: the one that began first speaks for all. */
    bool of_host = s->why == AN_WHY_HOST && s->supplier != XSR_NONE; /* a process is the host of all its ranks */
    uint64_t who = of_host ? a->model->ranks[s->supplier].process : (uint64_t)s->supplier_number << 32 | s->owes;
    uint64_t key = an_key(XSA_LOST_SUPPLIER, who, a->model->slots[s->w.slot].pad, s->why);
    an_finding *out = an_find(a, &f, key, "%s; %s", an_stuck_words(a, s), why);
    if (out && wrong != XSR_NONE)
        out->beside = wrong + 1;
    TRY(an_evidence(a, out, s->w.id, "wait"));
    if (s->owes != XSR_NONE)
        TRY(an_evidence(a, out, a->writers[s->owes].last_event, "last event of who owes it"));
    return an_evidence(a, out, a->slots[s->w.slot].signal.event, "last signal");
}

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (!a->stuck[i].late && is_ours(&a->stuck[i]))
            TRY(say(a, &a->stuck[i]));
    return 0;
}

const an_ops an_lost_supplier = {
    .id = XSA_LOST_SUPPLIER,
    .needs = AN_NEED_WAITS,
    .finish = finish,
    .cannot = "who owes a slot that nobody has signalled, where neither a plan nor the other slots of its pad tell; "
              "whether a supplier that gave no sign would have signalled later"};
