/* Did who owes a signal go past the place where it makes it? Told from its own habit: how many waits it passes from
 * one signal of the slot to the next. In a circle of waits nobody has got so far; whoever has left its signal out,
 * and what it waits for now is an effect of that. It is a matter of counts: records that are lost make it count for
 * less. */
#include "analysis.h"

#define LEAST_EPOCHS 3u /* times that a slot was signalled after as many epochs as before */
#define LEAST_AGAIN 2u /* times that as many waits came between two signals of a slot as before */
#define LEAST_LOST 3u /* times that a habit must have been seen whole where records of that writer are lost */

/* The slot of the pad that went along with this one and to which it has signalled the round in question since its
 * last signal to this one: of several the last. XSR_NONE: there is none. */
static uint32_t signalled_beside(const an *a, uint32_t slot, uint64_t need, uint32_t writer) {
    const an_slot *x = &a->slots[slot];
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const an_slot *y = &a->slots[i];
        bool behind = !x->signals || y->signal.event > x->signal.event;
        if (i != slot && a->model->slots[i].pad == a->model->slots[slot].pad && y->signal.writer == writer &&
            y->signal.value == need && behind && (y->signals > 1 ? y->before_signal.value : 0) == x->signal.value &&
            (best == XSR_NONE || y->signal.event > a->slots[best].signal.event))
            best = i;
    }
    return best;
}

/* What that writer has lost since; what is not in the capture for another reason than that it was lost is no number. */
static uint64_t lost_since(const an *a, uint32_t writer, int64_t time) {
    return a->model->trimmed || a->model->triggered ? UINT32_MAX : an_lost_by(a, writer, time, INT64_MAX);
}

/* It has passed that wait before, be it that others have since. */
static bool stands_again(const an *a, uint32_t writer, uint32_t waits) {
    const an_slot *x = waits == XSR_NONE ? NULL : &a->slots[a->stuck[waits].w.slot];
    return x && (x->wait.writer == writer || (a->writer_count <= 64 && x->passers >> writer & 1));
}

/* It signals it every so many epochs, and has been through one more than that. */
static bool epoch_without(const an *a, const an_slot *x, uint32_t writer) {
    const an_writer *w = &a->writers[writer];
    return x->gap_steady >= LEAST_EPOCHS && x->signal.writer == writer && w->epoch > x->signal.epoch + x->gap &&
           !lost_since(a, writer, INT64_MIN);
}

/* waits: the wait that it stands at, which it has passed in earlier rounds; one that is new to it (a credit, once
 * the ring is full) belongs to no habit. Each record lost since its last signal may have been one; those lost before
 * leave the most that it passes between two in doubt where there are few. */
bool an_has_skipped(const an *a, uint32_t slot, uint64_t need, uint32_t writer, uint32_t waits) {
    const an_slot *x = &a->slots[slot];
    if (epoch_without(a, x, writer))
        return true;
    uint64_t lost = lost_since(a, writer, INT64_MIN), since = a->writers[writer].passes - x->passes,
             behind = lost ? lost_since(a, writer, x->signal.time) : 0;
    if (!stands_again(a, writer, waits) || (x->signals && x->signal.writer != writer) ||
        (lost && x->whole < LEAST_LOST))
        return false;
    if (x->repeats >= 2 && x->passes_most && behind < since && since > (behind + 1) * x->passes_most)
        return true;
    if (x->signals && x->repeats >= 1 && since < x->passes_most)
        return false;
    /* behind: its last signal may be lost, and that beside be of the round before */
    uint32_t beside = behind ? XSR_NONE : signalled_beside(a, slot, need, writer);
    if (beside == XSR_NONE)
        return false;
    /* it has waited for something since */
    return x->repeats >= 1 ? x->passes_most != 0 : a->writers[writer].passes > a->slots[beside].passes;
}

/* What it waits for is signalled in an earlier round, as a credit is: whoever owes it may be past that round. Epochs
 * tell so only where nothing is lost. */
static bool is_of_round_before(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return x->lag_lead > 0 && s->w.epoch && a->lost_records && !an_capture_is_whole(a);
}

/* It has passed more waits than as a rule, be it by signals that are lost. Signals to others of the pad in this
 * round are kept or not. */
bool an_may_have_skipped(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    uint32_t writer = s->owes;
    if (is_of_round_before(a, s))
        return true;
    if (s->counter != XSR_NONE)
        return !s->counted && s->counter == s->w.slot && a->lost_records && !an_capture_is_whole(a);
    if (writer == XSR_NONE || !lost_since(a, writer, INT64_MIN) || !stands_again(a, writer, s->next))
        return false;
    uint64_t since = a->writers[writer].passes - x->passes;
    if (x->signals && x->signal.writer == writer && x->passes_lead && since > x->passes_usual)
        return true;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const an_touch *t = &a->slots[i].signal;
        if (i != s->w.slot && a->model->slots[i].pad == a->model->slots[s->w.slot].pad && t->writer == writer &&
            t->value == s->w.need && (!x->signals || t->event > x->signal.event))
            return true;
    }
    return false;
}

/* As many waits ahead of it in each round lately: else how many it has passed tells nothing. */
static bool is_even(const an_arriver *r, uint64_t round) {
    /* of several arrivals in a round some may be there */
    bool begun = r->epoch == round, same = begun || r->passed == r->passed_before;
    return r->epochs < 3 || (same && (begun ? r->passed_before : r->passed) == r->reach && (r->epochs < 4 || r->even));
}

/* In the round that s waits for it passes no wait any more before it arrives: it is past the place, with nothing to
 * add, or has left it out. Also where it waits first for once: what it does not do before that wait others cannot
 * have waited for. */
bool an_is_beyond(const an *a, const an_stuck *s, const an_arriver *r, uint32_t waits) {
    const an_writer *w = &a->writers[r->writer];
    bool same_round = s->round && w->epoch == s->round && waits != XSR_NONE && a->stuck[waits].w.epoch == s->round;
    if (!same_round || !is_even(r, s->round) || !stands_again(a, r->writer, waits) ||
        (lost_since(a, r->writer, INT64_MIN) ? r->whole < LEAST_LOST : r->epochs < 2))
        return false;
    return lost_since(a, r->writer, w->epoch_time) == 0 && w->passes - w->epoch_passes >= r->reach;
}

/* Each time so far it had made that signal before it came to the wait at which it stands now: it has left it out, or
 * has turned the two around. As many waits behind the last signal as ever, and no more, so that it may still be ahead
 * of the next one only by another order than its own. */
bool an_stands_behind(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->counter == XSR_NONE ? s->w.slot : s->counter];
    if (s->owes == XSR_NONE || s->next == XSR_NONE || s->owes == s->w.writer)
        return false;
    for (uint32_t i = 0; s->counter != XSR_NONE && i < x->arriver_count; i++)
        if (x->arrivers[i].writer == s->owes)
            return an_is_beyond(a, s, &x->arrivers[i], s->next);
    uint64_t since = a->writers[s->owes].passes - x->passes;
    return s->counter == XSR_NONE && x->signals && x->signal.writer == s->owes && x->passes_lead >= LEAST_AGAIN &&
           since && since == x->passes_usual && since == x->passes_most && stands_again(a, s->owes, s->next) &&
           !lost_since(a, s->owes, INT64_MIN);
}
