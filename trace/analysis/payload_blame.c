/* Two accesses to a chunk that nothing orders: who is to blame. The last wait of each block tells: whether it was
 * told by the other, behind the other's access or before it, and whether it had given back what it was told. */
#include "payload.h"

#define CURE_ORDER \
    "let the signal come behind the last write, with a release, and the read behind the wait, with an acquire"
#define CURE_CREDIT "wait for a credit of every reader before a buffer is written again, or make the ring deeper"
#define CURE_HOLD \
    "touch what a lock or a turn guards between the wait for it and the signal that gives it on, and nowhere else"

static verdict of(uint32_t detector, uint32_t culprit, uint32_t victim, uint32_t slot, const char *cure) {
    return (verdict){.detector = detector, .culprit = culprit, .victim = victim, .slot = slot, .cure = cure};
}

/* `waits` was told by `signals` behind its access, so that one side of that edge is too weak. Where both are, the
 * release is. */
static verdict weak_side(an *a, const access *waits, const access *signals) {
    const guard *g = &waits->guard;
    bool wait_is = g->released && !g->acquired;
    verdict v = of(XSA_PAYLOAD_RACE, wait_is ? waits->writer : signals->writer,
                   wait_is ? signals->writer : waits->writer, g->slot, CURE_ORDER);
    v.named = XSA_ORDER_SCOPE;
    v.told = waits;
    v.source = g->source;
    v.why = an_print(a,
                     wait_is ? "; the wait for %s before it does not acquire that far"
                             : "; the signal at %s does not release that far",
                     an_slot_name(a, g->slot));
    return v;
}

/* One of both had given back what the other holds. */
static bool is_past(const access *x, const access *holds) {
    return x->guard.any && x->guard.spent && holds->guard.any && !holds->guard.spent &&
           x->guard.slot == holds->guard.slot;
}

static verdict not_held(an *a, const access *x, const access *holds) {
    verdict v = of(XSA_PAYLOAD_RACE, x->writer, holds->writer, x->guard.slot, CURE_HOLD);
    v.told = x;
    v.source = x->guard.source;
    v.why = an_print(a, "; %s has waited for %s, but given it on before", an_who(a, XSR_NONE, x->writer),
                     an_slot_name(a, x->guard.slot));
    return v;
}

/* Both hold: somebody has let in two. Who gave on a turn that it had not waited for, or more than one. NULL: not
 * known. */
static const turn *both_hold(const an *a, const tellings *t, const access *x, const access *y) {
    const guard *g = &x->guard, *h = &y->guard;
    bool both = g->any && h->any && !g->spent && !h->spent && g->slot == h->slot;
    return both && a->slots[g->slot].resets == 0 ? tellings_turn(t, g->slot) : NULL;
}

static verdict let_in_two(an *a, const turn *wrong, const access *x, const access *y) {
    verdict v =
        of(XSA_COUNT_MISMATCH, wrong->wrong_by, x->writer, x->guard.slot, "signal each turn once, by who holds it");
    v.told = y;
    v.why = an_print(a, "; both have waited for %s, which %s signalled %llu though that was not its turn, %s",
                     an_slot_name(a, x->guard.slot), an_who(a, XSR_NONE, wrong->wrong_by),
                     (unsigned long long)wrong->wrong_value, an_since(a, wrong->wrong_time));
    return v;
}

/* The counter that a block has waited at, or at whose election's slot; XSR_NONE. */
static uint32_t counter_of(const an *a, const guard *g) {
    uint32_t slot = g->any ? g->slot : XSR_NONE;
    return slot == XSR_NONE || a->slots[slot].arrivals ? slot : a->slots[slot].counter;
}

/* The block passed the counter behind that arrival. */
static bool is_heard(const an_arriver *r, uint32_t counter, const guard *g) {
    return counter == g->slot ? r->left <= g->value : r->event <= g->signal;
}

/* The reader passed a counter, and the writer had arrived there in the round of its write: it has told of it. NULL:
 * no, or not known. */
static const an_arriver *arrival_heard(const an *a, const tellings *t, const access *reads, const access *writes) {
    uint32_t counter = counter_of(a, &reads->guard);
    const an_arriver *r = reads->guard.agent == writes->agent ? NULL : tellings_arriver(t, counter, writes->writer);
    return r && writes->epoch && r->epoch == writes->epoch && is_heard(r, counter, &reads->guard) ? r : NULL;
}

/* Somebody has arrived more often in a round than in those before: since then the count is reached one arrival too
 * early. */
static const an_arriver *arrived_twice(const an *a, const tellings *t, const access *reads) {
    uint32_t counter = counter_of(a, &reads->guard);
    for (uint32_t i = 0; counter != XSR_NONE && i < a->slots[counter].arriver_count; i++) {
        const an_arriver *r = tellings_arriver(t, counter, a->slots[counter].arrivers[i].writer);
        if (r && r->more)
            return r;
    }
    return NULL;
}

static verdict counted_twice(an *a, const an_arriver *r, const access *reads) {
    uint32_t counter = counter_of(a, &reads->guard);
    verdict v = of(XSA_COUNT_MISMATCH, r->writer, reads->writer, counter, "arrive once for each batch that is written");
    v.told = reads;
    v.of_habits = true;
    v.why = an_print(a, "; %s had arrived more often at %s than in each round before", an_who(a, XSR_NONE, r->writer),
                     an_slot_name(a, counter));
    return v;
}

/* What it was told is that the generation is there: by the value, or, of a flag that flips, by the round. */
static bool tells_of(const an *a, const guard *g, const access *writes, uint64_t generation) {
    const an_slot *s = &a->slots[g->slot];
    return g->value >= generation || (s->is_state && s->comes_again && g->epoch && g->epoch == writes->epoch);
}

/* Of a place that several read each has a copy of the slot that tells of it. */
static bool is_copy(const xsr_slot *x, const xsr_slot *y) {
    return x->pad == y->pad && x->row == y->row && x->column == y->column;
}

/* Slots of a lock that is handed on from one to the next tell of the same place in turn. */
static bool is_usual(const an *a, uint32_t usual, uint32_t slot) {
    bool turns = usual && an_pad(a, slot)->flags & XS_PAD_SHARED && !a->slots[slot].arrivals &&
                 a->model->slots[usual - 1].pad == a->model->slots[slot].pad;
    return usual == 0 || is_copy(&a->model->slots[usual - 1], &a->model->slots[slot]) || turns;
}

/* Neither of the two did another thing than ever, but one who stands between them: it passed on what it had not waited
 * for. */
static verdict passed_on(an *a, const omission *o, uint32_t detector, uint32_t victim, const access *told) {
    verdict v = of(detector, o->writer, victim, o->slot, "wait for all that is passed on, before the signal, in each round");
    v.told = told;
    v.of_habits = true;
    v.why = an_print(a, "; %s had signalled %s behind fewer waits than ever before, %s", an_who(a, XSR_NONE, o->writer),
                     an_slot_name(a, o->slot), an_since(a, o->time));
    return v;
}

/* The reader has waited as ever, for somebody who was to know: it is not to blame. The writer is, if it signalled
 * that generation before it wrote it, as it never did; else it may be whoever stands between the two. */
static verdict told_between(an *a, const tellings *t, const access *reads, const access *writes, uint64_t generation,
                            bool ahead) {
    const omission *o = tellings_omission(a, t, reads->agent, writes->epoch, reads->epoch);
    if (o && o->writer != reads->writer)
        return passed_on(a, o, XSA_PAYLOAD_RACE, reads->writer, reads);
    bool early = !ahead && writes->signalled >= generation && writes->writer != XSR_NONE;
    verdict v = of(early ? XSA_PARTIAL_PUBLISH : XSA_PAYLOAD_RACE, early ? writes->writer : XSR_NONE, reads->writer,
                   early ? a->writers[writes->writer].signal_slot : reads->guard.slot,
                   early ? "signal behind the last write, and behind the end of asynchronous ones" : CURE_ORDER);
    v.told = reads;
    v.of_habits = true;
    v.why = an_print(a, "; %s waited for %s as it always does: what is missing lies between the write and that signal",
                     an_who(a, XSR_NONE, reads->writer), an_slot_name(a, reads->guard.slot));
    return v;
}

/* If the reader was told by the writer's block that the generation is there, the writer told it too early, or too
 * weakly; else the reader did not ask. */
verdict payload_blame_read(an *a, const tellings *t, const access *reads, const access *writes, uint64_t generation,
                           uint32_t usual, bool ahead) {
    const an_arriver *arrival = arrival_heard(a, t, reads, writes), *twice;
    const turn *wrong;
    if (arrival && arrival->event < writes->event && arrival->count == arrival->epochs) {
        /* once a round: not for another part */
        verdict v = of(XSA_PARTIAL_PUBLISH, writes->writer, reads->writer, reads->guard.slot,
                       "arrive behind the last write, and behind the end of asynchronous ones");
        v.told = reads;
        return v;
    }
    if (arrival && arrival->event > writes->last)
        return weak_side(a, reads, writes);
    /* that signal told of an earlier round */
    bool of_before = reads->guard.epoch && writes->epoch && reads->guard.epoch < writes->epoch;
    bool told = reads->guard.any && reads->guard.agent == writes->agent &&
                tells_of(a, &reads->guard, writes, generation) && !of_before && is_usual(a, usual, reads->guard.slot);
    if (told && (writes->active || writes->last > reads->guard.signal)) {
        verdict v = of(XSA_PARTIAL_PUBLISH, writes->writer, reads->writer, reads->guard.slot,
                       "signal behind the last write, and behind the end of asynchronous ones");
        v.told = reads;
        return v;
    }
    /* It signalled behind its last write and was heard: only its release or the other's acquire can be too weak,
     * also where they look strong enough, as a relaxed store behind the fence of the round before. */
    if (told)
        return weak_side(a, reads, writes);
    if (is_past(writes, reads))
        return not_held(a, writes, reads);
    if (is_past(reads, writes))
        return not_held(a, reads, writes);
    if ((wrong = both_hold(a, t, reads, writes)))
        return let_in_two(a, wrong, reads, writes);
    if (!arrival && (twice = arrived_twice(a, t, reads)))
        return counted_twice(a, twice, reads);
    if (usual == 0 && !of_before && reads->guard.any && reads->guard.as_ever &&
        reads->guard.agent != writes->agent) /* nobody who wrote there ever told it itself */
        return told_between(a, t, reads, writes, generation, ahead);
    verdict v = of(XSA_PAYLOAD_RACE, reads->writer, writes->writer, reads->guard.any ? reads->guard.slot : XSR_NONE,
                   "wait for the signal of that batch before it is read, in every block that reads it");
    v.told = reads;
    v.of_before = of_before;
    v.unasked = true;
    v.source = reads->guard.source;
    return v;
}

/* The event by which `from` had told the writer something before it wrote; 0: it had not. */
static uint64_t heard_from(const an *a, const tellings *t, const guard *g, const access *from) {
    if (!g->any || g->agent == from->agent)
        return g->any ? g->signal : 0;
    uint32_t counter = counter_of(a, g);
    const an_arriver *r = tellings_arriver(t, counter, from->writer);
    return r && is_heard(r, counter, g) ? r->event : 0;
}

verdict payload_blame_lapped(an *a, const tellings *t, const access *reads, const access *write) {
    const guard *g = &write->guard;
    if (is_past(reads, write))
        return not_held(a, reads, write);
    uint64_t heard = heard_from(a, t, g, reads);
    if (heard && !reads->active && heard > reads->last && !g->unsure)
        return weak_side(a, write, reads);
    const promise *r = heard ? tellings_promise(a, t, g->slot, reads->writer) : NULL;
    /* by the slot that told the reader, or that the writer signalled last */
    bool told = reads->guard.any && reads->guard.agent == write->agent;
    verdict v = of(XSA_LAPPING, write->writer, reads->writer, told ? reads->guard.slot : XSR_NONE, CURE_CREDIT);
    v.source = g->source;
    if (r && r->broken && r->broken <= heard) {
        v = of(XSA_LAPPING, reads->writer, write->writer, g->slot,
               "give a credit back behind the last read, and once for each");
        v.told = write;
        v.why = an_print(a, "; %s had signalled %s behind fewer reads than ever before",
                         an_who(a, XSR_NONE, reads->writer), an_slot_name(a, g->slot));
        return v;
    }
    const omission *o = tellings_omission(a, t, write->agent, reads->epoch, write->epoch);
    return o && o->writer != write->writer ? passed_on(a, o, XSA_LAPPING, reads->writer, write) : v;
}

verdict payload_blame_rewritten(an *a, const tellings *t, const access *before, const access *write) {
    uint64_t heard = heard_from(a, t, &write->guard, before);
    const turn *wrong;
    if (heard && !before->active && heard > before->last && !write->guard.spent)
        return weak_side(a, write, before);
    if (is_past(before, write))
        return not_held(a, before, write);
    if (is_past(write, before))
        return not_held(a, write, before);
    if ((wrong = both_hold(a, t, before, write)))
        return let_in_two(a, wrong, before, write);
    return of(XSA_PAYLOAD_RACE, write->writer, before->writer, XSR_NONE, CURE_ORDER);
}
