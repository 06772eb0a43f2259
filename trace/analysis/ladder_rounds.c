/* Rounds that the only one who arrives at a counter has gone past without doing so, where it did in most, and each
 * time the same; the waiter's needs rise as evenly as if it always did. With those arrivals it would have what it
 * needs: what that one waits for now is an effect, however much it looks like a circle. */
#include "ladder.h"

/* A gate's arrivals say what they found, so that its count is known however many of their records are lost, and
 * rounds are told by the records that enter them: one that is missing ahead of the first arrival, or behind the last
 * entry, could move them. */
static bool values_tell(const an *a, const an_slot *x, const an_arriver *r) {
    if (x->arrival.kind != XS_EV_GATE_ARRIVE || x->resets || !r->now || r->now != r->before)
        return false;
    return !an_lost_records(a, r->writer, r->entered, r->found, AN_ENTERS) &&
           !an_lost_records(a, r->writer, a->writers[r->writer].epoch_record, UINT64_MAX, AN_ENTERS | AN_MOVES);
}

static bool needs_as_if_always(const an_stuck *s, const an_slot *x, uint64_t arrived, uint64_t missing) {
    const an_arriver *r = x->arrivers;
    return !x->needs_odd && x->need_step && r->now == x->need_step && r->before == r->now && 2 * missing < arrived &&
           x->post + missing * x->need_step >= s->w.need;
}

/* Two that are sure of it: everything is there; or the values account for every round, those without an arrival
 * among them, so that nobody else adds to it. */
uint64_t ladder_rounds_left_out(const an *a, an_stuck *s) {
    const an_slot *x = &a->slots[s->counter];
    const an_arriver *r = x->arrivers;
    if (s->counter != s->w.slot || x->arriver_count != 1 || !r->first)
        return 0;
    uint64_t epoch = a->writers[r->writer].epoch, done = epoch - r->first + (r->epoch == epoch);
    uint64_t count = s->w.observed > x->post ? s->w.observed : x->post, arrived = r->epochs;
    bool by_values =
        values_tell(a, x, r) && done > 1 && (count - r->from) % r->now == 0 && (count - r->from) / r->now <= done;
    if (by_values)
        arrived = (count - r->from) / r->now;
    else if (!an_capture_is_whole(a))
        return 0;
    uint64_t missing = done > arrived ? done - arrived : 0;
    bool as_if = missing && needs_as_if_always(s, x, arrived, missing);
    s->counted = by_values && (!missing || as_if);
    return as_if ? missing : 0;
}
