/* What the one that owes a signal does instead, and who of several it is that may yet make it. */
#include "ladder.h"

static bool is_past(const an *a, uint32_t writer, const an_stuck *s) {
    return s->round && a->writers[writer].epoch > s->round;
}

/* A wait of that writer which stood still while this one did. */
static uint32_t waits_beside(const an *a, uint32_t writer, const an_stuck *s) {
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *o = &a->stuck[i];
        if (o->w.writer == writer && !o->late && an_stuck_end(a, o) >= s->w.begin && o->w.begin <= an_stuck_end(a, s) &&
            (best == XSR_NONE || o->w.begin < a->stuck[best].w.begin))
            best = i;
    }
    return best;
}

uint8_t ladder_writer(an *a, an_stuck *s, uint32_t writer) {
    int64_t still = an_still(a);
    uint32_t waits = waits_beside(a, writer, s);
    s->owes = writer;
    if (is_past(a, writer, s) || ladder_asks_again(a, s, writer, waits) ||
        an_has_skipped(a, s->w.slot, s->w.need, writer, waits) ||
        (an_capture_is_whole(a) && an_misdirected(a, s) != XSR_NONE))
        return AN_WHY_MOVED_ON;
    if (waits != XSR_NONE) {
        /* bounded waits of a circle give up one after the other: at the same time they stood still */
        s->next = waits;
        return AN_WHY_WAITS;
    }
    /* an abort ends whoever goes on */
    bool ended = a->model->writers[writer].end != NO_TIME && a->aborted_at == INT64_MAX;
    if (ended || ladder_ended_by(a, writer, still))
        return AN_WHY_ENDED;
    bool goes_on =
        a->writers[writer].last_time > s->w.begin && still - a->writers[writer].last_time <= a->options.silent_ns;
    return goes_on ? AN_WHY_RUNNING : AN_WHY_SILENT;
}

static uint8_t worse(uint8_t x, uint8_t y) { /* any that still may signal comes first */
    static const uint8_t order[] = {AN_WHY_RUNNING, AN_WHY_SILENT, AN_WHY_WAITS, AN_WHY_MOVED_ON, AN_WHY_ENDED};
    for (uint32_t i = 0; i < sizeof order; i++)
        if (order[i] == x || order[i] == y)
            return order[i];
    return AN_WHY_UNKNOWN;
}

static bool has_arrived(const an *a, const an_stuck *s, uint32_t writer) {
    return s->counter != XSR_NONE && rd_map_get(&a->arriver_of, (uint64_t)s->counter << 32 | writer) != XSR_NONE;
}

/* Of all that may be the one: whoever may yet signal decides. First those that have arrived at its counter before,
 * then those of the role, then any of the rank, and at last the waiter itself. */
uint8_t ladder_candidates(an *a, an_stuck *s) {
    an_stuck best = *s;
    uint8_t why = AN_WHY_UNKNOWN;
    for (uint32_t round = 0; round < 4 && why == AN_WHY_UNKNOWN; round++)
        for (uint32_t i = 0; i < a->writer_count; i++) {
            if (!ladder_is_candidate(a, s, i, round != 2) || (i == s->w.writer) != (round == 3) ||
                (round == 0 && !has_arrived(a, s, i)))
                continue;
            an_stuck now = *s;
            uint8_t w = ladder_writer(a, &now, i), wins = why == AN_WHY_UNKNOWN ? w : worse(why, w);
            bool older = w == AN_WHY_WAITS && why == w && a->stuck[now.next].w.begin < a->stuck[best.next].w.begin;
            if (wins != why || older)
                best = now;
            why = wins;
        }
    *s = best;
    return why;
}

/* But for what is lost. */
static bool arrives_always(const an *a, const an_arriver *r, uint64_t until) {
    uint64_t lost =
        until - r->first > r->epochs && a->lost_records ? an_lost_by(a, r->writer, INT64_MIN, INT64_MAX) : 0;
    return r->epochs + (lost < r->epochs / 2 ? lost : 0) >= until - r->first;
}

static bool comes_and_goes(const an *a, const an_slot *x) {
    for (uint32_t i = 0; i < x->arriver_count; i++)
        if (x->arrivers[i].first && !arrives_always(a, &x->arrivers[i], x->arrivers[i].epoch + 1))
            return true;
    return false;
}

typedef struct lacking { uint32_t arriver; bool beyond, always; } lacking;

static bool comes_first(const an_slot *x, lacking m, lacking best) {
    if (best.arriver == XSR_NONE || m.beyond != best.beyond)
        return best.arriver == XSR_NONE || m.beyond;
    return m.always != best.always ? m.always : x->arrivers[m.arriver].time < x->arrivers[best.arriver].time;
}

/* Who arrived in earlier rounds and not in this one: first who stands behind the place where it always does, then
 * somebody who did so in each. Where several come and go, and that is all there is to it, it could be any of them:
 * they are counted, and none is named. Those of them who are past the place had nothing to add, or have left it out. */
static uint32_t missing_arriver(const an *a, an_stuck *s) {
    const an_slot *x = &a->slots[s->counter];
    lacking best = {.arriver = XSR_NONE};
    uint32_t absent = 0;
    bool routed = comes_and_goes(a, x); /* that one came each time so far may be luck then */
    for (uint32_t i = 0; i < x->arriver_count && s->round; i++) {
        const an_arriver *r = &x->arrivers[i];
        if (r->epoch >= s->round || r->writer == s->w.writer) /* it does not arrive while it waits */
            continue;
        lacking m = {i, an_is_beyond(a, s, r, waits_beside(a, r->writer, s)),
                     !routed && arrives_always(a, r, s->round)};
        absent++;
        if ((m.always || !m.beyond) && comes_first(x, m, best))
            best = m;
    }
    if (absent > 1 || best.arriver == XSR_NONE)
        s->absent = best.always ? 0 : absent, s->arrivers = x->arriver_count;
    s->beyond = best.beyond;
    return best.arriver == XSR_NONE ? XSR_NONE : x->arrivers[best.arriver].writer;
}

/* It has added less in this round than in each before, and stands behind the place where it does. */
static bool falls_short(const an *a, const an_stuck *s, const an_arriver *r, uint32_t waits) {
    return s->round && r->epoch == s->round && r->steady >= 2 && r->now < r->before && an_is_beyond(a, s, r, waits);
}

/* Everybody has arrived in this round, and it is not enough. Only who has yet to add what it added in the round
 * before may still do so: a wait that holds that one up holds this one up. The waiter itself does not arrive while
 * it waits. */
static uint8_t judge_arrivers(an *a, an_stuck *s) {
    const an_slot *x = &a->slots[s->counter];
    an_stuck best = *s;
    uint8_t why = AN_WHY_UNKNOWN;
    uint32_t shorts = 0, one = XSR_NONE;
    for (uint32_t i = 0; i < x->arriver_count; i++) {
        const an_arriver *r = &x->arrivers[i];
        an_stuck now = *s;
        if (r->writer == s->w.writer)
            continue;
        now.supplier = a->model->writers[r->writer].rank;
        now.supplier_number = an_number(a, now.supplier);
        uint8_t w = ladder_writer(a, &now, r->writer);
        if (w == AN_WHY_WAITS && falls_short(a, s, r, now.next))
            shorts++, one = r->writer;
        if (w == AN_WHY_WAITS && s->round && (r->now >= r->before || an_is_beyond(a, s, r, now.next)))
            w = AN_WHY_ENDED; /* done with this round */
        uint8_t wins = why == AN_WHY_UNKNOWN ? w : worse(why, w);
        best = wins != why ? now : best;
        why = wins;
    }
    if (why != AN_WHY_RUNNING && why != AN_WHY_SILENT && why != AN_WHY_WAITS) {
        s->owes = shorts == 1 ? one : XSR_NONE;
        s->beyond = shorts == 1;
        if (shorts == 1)
            s->supplier = a->model->writers[one].rank, s->supplier_number = an_number(a, s->supplier);
        return AN_WHY_COUNT;
    }
    *s = best;
    return why;
}

/* The waiter waits for a count that it adds to itself, in each round but in this one. */
static bool lacks_its_own(const an *a, const an_stuck *s) {
    uint32_t at =
        s->counter != s->w.slot ? XSR_NONE : rd_map_get(&a->arriver_of, (uint64_t)s->counter << 32 | s->w.writer);
    const an_arriver *r = at == XSR_NONE ? NULL : &a->slots[s->counter].arrivers[at];
    return r && s->round && r->epochs > 1 && r->epoch < s->round && arrives_always(a, r, s->round) &&
           an_capture_is_whole(a);
}

uint8_t ladder_counter(an *a, an_stuck *s) {
    uint64_t have, expected;
    const an_slot *x = &a->slots[s->counter];
    if (s->counter != s->w.slot && x->arrival.rank != XSR_NONE)
        s->supplier = x->arrival.rank, s->supplier_number = an_number(a, x->arrival.rank);
    bool known = an_round_of(a, s->counter, s->w.epoch, &have, &expected), this_round = x->arrival.epoch >= s->round;
    bool full = s->counter != s->w.slot && known && have == expected && expected && (this_round || !s->round);
    uint32_t missing = full ? XSR_NONE : missing_arriver(a, s);
    if (missing != XSR_NONE) {
        s->supplier = a->model->writers[missing].rank;
        s->supplier_number = an_number(a, s->supplier);
        uint8_t why = ladder_writer(a, s, missing);
        s->left_out = ladder_rounds_left_out(a, s);
        return why == AN_WHY_MOVED_ON || why == AN_WHY_ENDED || s->left_out || s->beyond ? AN_WHY_COUNT : why;
    }
    if (full) {
        s->owes = x->arrival.writer;
        uint8_t why = s->owes == XSR_NONE ? AN_WHY_ELECTED : ladder_writer(a, s, s->owes);
        return why == AN_WHY_WAITS || why == AN_WHY_RUNNING ? why : AN_WHY_ELECTED;
    }
    if (lacks_its_own(a, s)) {
        s->owes = s->w.writer;
        s->supplier = s->w.rank;
        s->supplier_number = an_number(a, s->supplier);
        return AN_WHY_COUNT;
    }
    if (s->counter == s->w.slot && x->arriver_count)
        return judge_arrivers(a, s);
    if (s->counter == s->w.slot && s->supplier == s->w.rank && an_plan_of(a, s->w.slot, s->w.epoch).writer == XSR_NONE)
        return AN_WHY_COUNT; /* its owner was as good a guess as any */
    uint8_t why = ladder_candidates(a, s);
    return why == AN_WHY_ENDED || why == AN_WHY_MOVED_ON || why == AN_WHY_UNKNOWN ? AN_WHY_COUNT : why;
}
