/* The ladder of a wait that stands still: who owes its signal, and what that one did instead. First the facts that
 * need no supplier (the host owes it, the signal was made), then the supplier's rank, its blocks, its counter, and
 * what its writers do. */
#include "ladder.h"

#define LEAST_LAGS 2u /* times that signals came as many epochs ahead of their waits as the time before */

/* Let in by the abort alone: a block that began when all else had stood still, for which waits that gave up made
 * room. */
static bool let_in(const an *a, const an_stuck *s, uint32_t writer) {
    return s->w.result == XS_RESULT_ABORTED && !s->w.open && writer != XSR_NONE && !ladder_had_begun(a, s, writer);
}

static bool is_flipped(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return s->w.cmp == XS_CMP_EQ && x->is_state && x->comes_again;
}

/* One of the last two signals brought the slot to what was needed before `time`, whatever their clocks are off by. */
static bool signalled_by(const an *a, const an_stuck *s, int64_t time) {
    const an_slot *x = &a->slots[s->w.slot];
    const an_touch *last[2] = {&x->signal, &x->before_signal};
    for (uint32_t i = 0; i < (is_flipped(a, s) ? 1u : 2u);
         i++) /* of a flag that flips the one before was of another round */
        if (last[i]->rank != XSR_NONE && last[i]->time < time - an_clock_bound(a, last[i]->rank, s->w.rank) &&
            !let_in(a, s, last[i]->writer) && an_holds(s->w.cmp, last[i]->value, s->w.need))
            return true;
    return false;
}

/* Its last poll came behind the signal: between that and its end it did not look. */
static bool was_signalled(const an *a, const an_stuck *s) {
    int64_t end = an_stuck_end(a, s),
            looked = !s->w.open && s->w.last_fail != NO_TIME && s->w.last_fail < end ? s->w.last_fail : end;
    return !an_is_counter(a, s->w.slot) && signalled_by(a, s, looked);
}

/* It gave up, and the signal came afterwards. */
static bool came_late(const an *a, const an_stuck *s) {
    return !s->w.open && s->w.result != XS_RESULT_ABORTED && !an_is_counter(a, s->w.slot) &&
           signalled_by(a, s, INT64_MAX);
}

static bool jumped_over(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return s->w.cmp == XS_CMP_EQ && !is_flipped(a, s) &&
           (s->w.observed > s->w.need || x->max_value > s->w.need || x->post > s->w.need);
}

/* Waits of a run that was ended from outside are open because of that. One hangs where it stood still for as long as
 * the two looks of xs hang lie apart: since its begin, or since it was given what it needs. For one that died alone
 * it waits for ever. */
static bool has_what_it_needs(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    if (!an_is_counter(a, s->w.slot))
        return signalled_by(a, s, INT64_MAX);
    return x->arrivals && an_holds(s->w.cmp, x->least_old + x->arrived_weight, s->w.need);
}

bool an_broken_off(an *a, an_stuck *s) {
    const xsr_process *p = &a->model->processes[a->model->ranks[s->w.rank].process];
    int64_t since = s->w.begin, given = a->slots[s->w.slot].signal.time, arrived = a->slots[s->w.slot].arrival.time;
    if (!s->w.open || (p->ended && p->clean))
        return false;
    ladder_find_supplier(a, s);
    if (s->supplier != XSR_NONE && ladder_supplier_died(a, s))
        return false;
    given = arrived > given ? arrived : given;
    if (has_what_it_needs(a, s) && given > since)
        since = given;
    return an_stuck_end(a, s) - since < STANDS_NS;
}

/* Epochs are certain only where nothing is lost. */
static uint64_t round_of(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    bool steady = x->lag_steady >= LEAST_LAGS && x->lag != UINT64_MAX && x->lag < s->w.epoch && an_capture_is_whole(a);
    return steady ? s->w.epoch - x->lag : s->w.epoch;
}

void an_ladder(an *a, an_stuck *s) {
    s->round = round_of(a, s);
    ladder_find_supplier(a, s);
    const an_slot *x = &a->slots[s->w.slot];
    uint32_t writer;
    if (jumped_over(a, s)) {
        s->why = AN_WHY_PASSED_BY;
        s->owes = x->signal.writer != XSR_NONE ? x->signal.writer : x->arrival.writer;
    } else if (ladder_is_of_host(a, s)) {
        s->why = s->supplier != XSR_NONE && ladder_supplier_died(a, s) ? AN_WHY_DEAD : AN_WHY_HOST;
    } else if (was_signalled(a, s)) {
        s->why = AN_WHY_SIGNALLED;
        s->owes = x->signal.writer;
    } else if (came_late(a, s) && ladder_began_late(a, s, x->signal.writer)) {
        s->why = ladder_late_starter(a, s, x->signal.writer);
    } else if (came_late(a, s)) {
        s->why = AN_WHY_RUNNING;
        s->owes = x->signal.writer;
    } else if (s->supplier_number == XSR_NONE) {
        s->why = AN_WHY_UNKNOWN;
    } else if (s->supplier == XSR_NONE || ladder_had_not_begun(a, s)) {
        s->why = ladder_rank_without_start(a, s);
    } else if (ladder_supplier_died(a, s)) {
        s->why = AN_WHY_DEAD;
        s->owes = x->signal.writer;
    } else if (ladder_lacks_block(a, s)) {
        s->why = AN_WHY_NO_BLOCK;
    } else if (s->counter != XSR_NONE) {
        s->why = ladder_counter(a, s);
    } else if ((writer = ladder_known_writer(a, s)) != XSR_NONE) {
        s->why = ladder_writer(a, s, writer);
    } else {
        s->why = ladder_candidates(a, s);
    }
    if (s->why != AN_WHY_WAITS)
        s->next = XSR_NONE;
}
