/* Did who owes a signal go past the place where it makes it? Told from its own habit: how many waits it passes from one signal of the slot to
 * the next. In a circle of waits nobody has got so far; whoever has left its signal out, and what it waits for now is an effect of that. It is
 * a matter of counts, which only a whole capture has. */
#include "analysis.h"

/* The slot of the pad that went along with this one and to which it has signalled the round in question since its last signal to this one: of
 * several the last. XSR_NONE: there is none. */
static uint32_t signalled_beside(const an *a, uint32_t slot, uint64_t need, uint32_t writer) {
    const an_slot *x = &a->slots[slot];
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const an_slot *y = &a->slots[i];
        bool behind = !x->signals || y->signal.event > x->signal.event;
        if (i != slot && a->model->slots[i].pad == a->model->slots[slot].pad && y->signal.writer == writer && y->signal.value == need && behind &&
            (y->signals > 1 ? y->before_signal.value : 0) == x->signal.value && (best == XSR_NONE || y->signal.event > a->slots[best].signal.event))
            best = i;
    }
    return best;
}

/* waits: the wait that it stands at, which it has passed in earlier rounds; one that is new to it (a credit, once the ring is full) belongs to
 * no habit. */
bool an_has_skipped(const an *a, uint32_t slot, uint64_t need, uint32_t writer, uint32_t waits) {
    const an_slot *x = &a->slots[slot];
    if (!an_capture_is_whole(a) || waits == XSR_NONE || a->slots[a->stuck[waits].w.slot].wait.writer != writer || (x->signals && x->signal.writer != writer))
        return false;
    uint64_t passes = a->writers[writer].passes, since = passes - x->passes;
    if (x->repeats >= 2 && x->passes_most && since > x->passes_most)
        return true;
    if (x->signals && x->repeats >= 1 && since < x->passes_most)
        return false;
    uint32_t beside = signalled_beside(a, slot, need, writer);
    if (beside == XSR_NONE)
        return false;
    return x->repeats >= 1 ? x->passes_most != 0 : passes > a->slots[beside].passes; /* it has waited for something since */
}
