/* The ladder of a wait that stands still: who owes its signal, and what that one did instead. First the facts that need no supplier
 * (the host owes it, the signal was made), then the supplier's rank, its blocks, its counter, and what its writers do. */
#include "class.h"

/* ---- which counter ---- */

typedef struct place { uint32_t part[4]; } place; /* owner, row, column of a slot, and the rank that signals it */

static place place_of(const an *a, uint32_t slot) {
    const xsr_slot *s = &a->model->slots[slot];
    return (place){{s->owner, s->row, s->column, s->supplier_rank}};
}

/* part i of the counter's place equals part from[i] of the slot's place (4: it is the same everywhere: its own). */
static bool fits(const an *a, uint32_t slot, uint32_t counter, const uint32_t from[3]) {
    place s = place_of(a, slot), c = place_of(a, counter);
    for (uint32_t i = 0; i < 3; i++)
        if (c.part[i] != s.part[from[i]])
            return false;
    return true;
}

static bool rule_holds(const an *a, uint32_t slot, const uint32_t from[3]) {
    for (uint32_t i = 0, seen = 0; i < a->slot_count && seen < 64; i++) {
        uint32_t c = a->slots[i].counter;
        if (c == XSR_NONE || a->model->slots[i].pad != a->model->slots[slot].pad)
            continue;
        if (!fits(a, i, c, from))
            return false;
        seen++;
    }
    return true;
}

/* A rule that holds for all slots of the pad whose counter was seen. Slots are few here: it runs for waits that stand still. */
static bool rule_of(const an *a, uint32_t slot, uint32_t *pad, uint32_t from[3]) {
    *pad = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count && *pad == XSR_NONE; i++)
        if (a->slots[i].counter != XSR_NONE && a->model->slots[i].pad == a->model->slots[slot].pad)
            *pad = a->model->slots[a->slots[i].counter].pad;
    for (uint32_t rule = 0; rule < 64 && *pad != XSR_NONE; rule++) {
        from[0] = rule & 3, from[1] = rule >> 2 & 3, from[2] = rule >> 4;
        if (rule_holds(a, slot, from))
            return true;
    }
    return false;
}

static uint32_t only_open_counter(const an *a, uint32_t rank, uint64_t epoch) {
    uint32_t found = XSR_NONE;
    uint64_t have, expected;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const an_slot *s = &a->slots[i];
        if (s->arrival.rank != rank || s->arrival.kind != XS_EV_ARRIVE || s->publishes != XSR_NONE || !an_round_of(a, i, epoch, &have, &expected) ||
            have == 0 || have == expected)
            continue;
        if (found != XSR_NONE)
            return XSR_NONE;
        found = i;
    }
    return found;
}

uint32_t an_counter_of(const an *a, uint32_t slot) {
    uint32_t pad, from[3];
    if (a->slots[slot].counter != XSR_NONE)
        return a->slots[slot].counter;
    place s = place_of(a, slot);
    if (!rule_of(a, slot, &pad, from))
        return XSR_NONE;
    return an_slot_at(a, pad, s.part[from[0]], s.part[from[1]], s.part[from[2]]);
}

bool an_round_of(const an *a, uint32_t counter, uint64_t epoch, uint64_t *have, uint64_t *expected) {
    const an_slot *s = &a->slots[counter];
    if (s->arrival.kind == XS_EV_ARRIVE && s->target) {
        uint64_t base = s->target - s->expected;
        *expected = s->expected;
        *have = s->post > base ? s->post - base : 0;
        return true;
    }
    an_plan p = an_plan_of(a, counter, epoch);
    *expected = p.arrivals;
    *have = 0;
    return p.has_arrivals && s->arrivals == 0;
}

/* ---- who ---- */

static bool ended_by(const an *a, uint32_t writer, int64_t time) {
    return a->model->writers[writer].end != NO_TIME && a->model->writers[writer].end <= time;
}

/* A slot that many signal in turn, and somebody passed its wait after the last signal. Those who signal it wait for it themselves, but for the
 * first: a queue's slot, which its producers signal and one consumer waits for, is none of these. */
static bool is_handed_over(const an *a, uint32_t slot, uint32_t waiter) {
    const an_slot *x = &a->slots[slot];
    if (!(an_pad(a, slot)->flags & XS_PAD_SHARED) || !x->signals || x->arrivals || x->entered.writer == XSR_NONE || x->entered.value != x->max_value)
        return false;
    return x->entered.writer != waiter && (x->signals == 1 || (x->signal.writer != XSR_NONE && x->waiters >> x->signal.writer % 64 & 1));
}

/* Many signal it, and whose turn it is shows in none of their signals. Who has ended in an epoch that others went on from, if it is one alone:
 * its writer. */
static uint32_t left_early(const an *a, const an_stuck *s) {
    uint64_t last = 0;
    uint32_t found = XSR_NONE, pad = a->model->slots[s->w.slot].pad;
    for (uint32_t i = 0; i < a->writer_count; i++)
        if (a->writers[i].signal_slot != XSR_NONE && a->model->slots[a->writers[i].signal_slot].pad == pad && a->writers[i].epoch > last)
            last = a->writers[i].epoch;
    for (uint32_t i = 0; i < a->writer_count; i++) {
        uint32_t to = a->writers[i].signal_slot;
        if (i == s->w.writer || to == XSR_NONE || a->model->slots[to].pad != pad || !ended_by(a, i, an_still(a)) || an_stuck_of_writer(a, i) != XSR_NONE ||
            a->writers[i].epoch >= last)
            continue;
        if (found != XSR_NONE)
            return XSR_NONE;
        found = i;
    }
    return found;
}

static bool signalled_by_several(const an *a, uint32_t slot) {
    return (an_pad(a, slot)->flags & XS_PAD_SHARED) && a->slots[slot].signals && !a->slots[slot].arrivals;
}

static void find_supplier(an *a, an_stuck *s) {
    uint32_t slot = s->w.slot;
    const an_slot *x = &a->slots[slot];
    an_plan p = an_plan_of(a, slot, s->w.epoch);
    s->origin = p.writer_origin;
    s->role = p.writer_role;
    s->supplier_number = p.writer;
    if (an_is_counter(a, slot)) { /* whoever arrives */
        s->counter = slot;
        if (s->supplier_number == XSR_NONE)
            s->supplier_number = x->arrival.rank != XSR_NONE ? an_number(a, x->arrival.rank) : a->model->slots[slot].owner;
        if (s->role == XSR_NONE && x->arrival.writer != XSR_NONE)
            s->role = a->writers[x->arrival.writer].role;
    } else if (is_handed_over(a, slot, s->w.writer)) { /* a lock: whoever entered last and has not handed it on */
        s->supplier_number = an_number(a, x->entered.rank);
        s->role = XSR_NONE;
    } else if (signalled_by_several(a, slot) && s->supplier_number == XSR_NONE) {
        s->owes = left_early(a, s);
        s->supplier_number = s->owes == XSR_NONE ? XSR_NONE : an_number(a, a->model->writers[s->owes].rank);
        s->role = XSR_NONE;
    } else {
        if (s->supplier_number == XSR_NONE && x->signal.rank != XSR_NONE)
            s->supplier_number = an_number(a, x->signal.rank);
        s->counter = an_counter_of(a, slot);
        if (s->supplier_number == XSR_NONE && s->counter == XSR_NONE && !x->signals)
            s->supplier_number = an_writer_by_pattern(a, slot);
    }
    s->supplier = an_rank_of(a, s->supplier_number);
    if (s->counter == XSR_NONE && s->supplier != XSR_NONE && !x->signals)
        s->counter = only_open_counter(a, s->supplier, s->w.epoch);
}

/* May this writer be the one? By role, by what it did to the slot or the counter before, at least by rank. */
static bool is_candidate(const an *a, const an_stuck *s, uint32_t writer, bool by_role) {
    const xsr_writer *w = &a->model->writers[writer];
    if (w->rank != s->supplier || w->begin > an_still(a))
        return false;
    uint32_t launch = s->w.writer == XSR_NONE ? w->launch : a->model->writers[s->w.writer].launch; /* its own may be lost */
    if (w->end != NO_TIME && w->end < s->w.begin && w->launch != launch)
        return false; /* of an earlier launch */
    return !by_role || s->role == XSR_NONE || a->writers[writer].role == s->role || w->role == s->role;
}

static uint32_t only_writer_of(const an *a, const an_stuck *s, uint32_t block) {
    uint32_t found = XSR_NONE;
    for (uint32_t i = 0; i < a->writer_count && block != XSR_NONE; i++) {
        if (an_block(a, i) != block || !is_candidate(a, s, i, true))
            continue;
        if (found != XSR_NONE)
            return XSR_NONE;
        found = i;
    }
    return found;
}

/* Nobody has signalled it yet: the one writer of the block that would, as neighbours in the pad have theirs. */
static uint32_t neighbour_writer(const an *a, const an_stuck *s) {
    uint32_t beside = an_writer_beside(a, s->w.slot, s->supplier);
    if (beside != XSR_NONE)
        return beside;
    return only_writer_of(a, s, an_block_by_pattern(a, s->w.slot));
}

/* The writer that signalled the slot before, if it is still the one: no election chooses another. */
static uint32_t known_writer(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    if (is_handed_over(a, s->w.slot, s->w.writer))
        return x->entered.writer;
    if (signalled_by_several(a, s->w.slot) && s->owes != XSR_NONE)
        return s->owes;
    uint32_t w = x->signal.writer;
    if (s->counter == XSR_NONE && w == XSR_NONE)
        w = neighbour_writer(a, s);
    else if (s->counter == XSR_NONE && !is_candidate(a, s, w, false))
        w = only_writer_of(a, s, an_block(a, w)); /* of an earlier launch */
    if (s->counter != XSR_NONE || w == XSR_NONE || !is_candidate(a, s, w, false))
        return XSR_NONE;
    return w;
}

static bool is_past(const an *a, uint32_t writer, const an_stuck *s) { return s->w.epoch && a->writers[writer].epoch > s->w.epoch; }

/* ---- rungs ---- */

/* Let in by the abort alone: a block that began when all else had stood still, for which waits that gave up made room. */
static bool let_in(const an *a, const an_stuck *s, uint32_t writer) {
    return s->w.result == XS_RESULT_ABORTED && !s->w.open && writer != XSR_NONE && a->model->writers[writer].begin > an_still(a);
}

static bool is_flipped(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return s->w.cmp == XS_CMP_EQ && x->is_state && x->comes_again;
}

/* One of the last two signals brought the slot to what was needed before `time`. */
static bool signalled_by(const an *a, const an_stuck *s, int64_t time) {
    const an_slot *x = &a->slots[s->w.slot];
    const an_touch *last[2] = {&x->signal, &x->before_signal};
    for (uint32_t i = 0; i < (is_flipped(a, s) ? 1u : 2u); i++) /* of a flag that flips the one before was of another round */
        if (last[i]->rank != XSR_NONE && last[i]->time < time && !let_in(a, s, last[i]->writer) && an_holds(s->w.cmp, last[i]->value, s->w.need))
            return true;
    return false;
}

/* Its last poll came behind the signal: between that and its end it did not look. */
static bool was_signalled(const an *a, const an_stuck *s) {
    int64_t end = an_stuck_end(a, s), looked = !s->w.open && s->w.last_fail != NO_TIME && s->w.last_fail < end ? s->w.last_fail : end;
    return !an_is_counter(a, s->w.slot) && signalled_by(a, s, looked);
}

/* It gave up, and the signal came afterwards. */
static bool came_late(const an *a, const an_stuck *s) {
    return !s->w.open && s->w.result != XS_RESULT_ABORTED && !an_is_counter(a, s->w.slot) && signalled_by(a, s, INT64_MAX);
}

static bool jumped_over(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return s->w.cmp == XS_CMP_EQ && !is_flipped(a, s) && (s->w.observed > s->w.need || x->max_value > s->w.need || x->post > s->w.need);
}

static const xsr_process *process_of(const an *a, uint32_t rank) { return &a->model->processes[a->model->ranks[rank].process]; }

/* Its process died, and that is why the signal did not come: not where the waiting process is the same, or went the same way. Then somebody
 * ended a run that hung. */
static bool supplier_died(const an *a, const an_stuck *s) {
    const xsr_process *p = process_of(a, s->supplier), *waits = process_of(a, s->w.rank);
    if (p == waits || !p->ended || p->clean || p->exit_status == 0)
        return false;
    return !waits->ended || waits->clean || waits->exit_status != p->exit_status;
}

static uint64_t *blocks_begun(const an *a, uint32_t rank, uint32_t launch, uint32_t grid) {
    uint64_t *bits = calloc(grid / 64 + 1, sizeof *bits);
    for (uint32_t i = 0; bits && i < a->model->writer_count; i++) {
        const xsr_writer *w = &a->model->writers[i];
        if (w->rank == rank && w->launch == launch && w->block < grid && w->begin <= an_still(a))
            bits[w->block / 64] |= 1ull << w->block % 64;
    }
    return bits;
}

/* The newest launch of a rank that had begun; XSR_NONE. */
static uint32_t launch_of(const an *a, uint32_t rank) {
    uint32_t number = a->model->ranks[rank].rank, best = XSR_NONE;
    for (uint32_t i = 0; i < a->model->launch_count; i++) {
        const xsr_launch *l = &a->model->launches[i];
        if (l->process == a->model->ranks[rank].process && number >= l->first_rank && number - l->first_rank < l->ranks &&
            (best == XSR_NONE || l->id > a->model->launches[best].id))
            best = i;
    }
    return best;
}

/* A block of the supplier that never began while all that began there wait. */
static bool lacks_block(const an *a, an_stuck *s) {
    uint32_t launch = launch_of(a, s->supplier), first = 0, count;
    if (launch == XSR_NONE || a->model->processes[a->model->ranks[s->supplier].process].no_ring)
        return false;
    uint32_t grid = a->model->launches[launch].grid, writers = 0;
    count = grid;
    bool told = an_plan_role_blocks(a, s->role, &first, &count);
    for (uint32_t i = 0; i < a->model->writer_count; i++) {
        const xsr_writer *w = &a->model->writers[i];
        if (w->rank != s->supplier || w->launch != launch || w->begin > an_still(a))
            continue;
        if (s->role != XSR_NONE && !told && (w->role == s->role || a->writers[i].role == s->role))
            return false; /* blocks of that role are there */
        writers++;
        if (!ended_by(a, i, an_still(a)) && an_stuck_of_writer(a, i) == XSR_NONE)
            return false;
    }
    uint64_t *bits = grid && writers ? blocks_begun(a, s->supplier, launch, grid) : NULL;
    uint32_t missing = XSR_NONE;
    for (uint32_t b = first; bits && b < first + count && b < grid && missing == XSR_NONE; b++)
        if (!(bits[b / 64] >> b % 64 & 1))
            missing = b;
    free(bits);
    s->owes_block = missing;
    return missing != XSR_NONE;
}

static bool arrives_always(const an_arriver *r, uint64_t until) { return r->epochs >= until - r->first; }

/* Who arrived in earlier rounds and not in this one: rather somebody who did so in each. Where several come and go, and that is all there is to
 * it, it could be any of them: they are counted, and none is named. */
static uint32_t missing_arriver(const an *a, an_stuck *s) {
    const an_slot *x = &a->slots[s->counter];
    uint32_t best = XSR_NONE, absent = 0;
    for (uint32_t i = 0; i < x->arriver_count && s->w.epoch; i++) {
        const an_arriver *r = &x->arrivers[i];
        if (r->epoch >= s->w.epoch || r->writer == s->w.writer) /* it does not arrive while it waits */
            continue;
        absent++;
        bool better = best == XSR_NONE || arrives_always(r, s->w.epoch) > arrives_always(&x->arrivers[best], s->w.epoch) ||
                      (arrives_always(r, s->w.epoch) == arrives_always(&x->arrivers[best], s->w.epoch) && r->time < x->arrivers[best].time);
        best = better ? i : best;
    }
    if (best == XSR_NONE)
        return XSR_NONE;
    if (absent > 1 && !arrives_always(&x->arrivers[best], s->w.epoch))
        s->absent = absent, s->arrivers = x->arriver_count;
    return x->arrivers[best].writer;
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

static uint8_t what_it_does(an *a, an_stuck *s, uint32_t writer) {
    int64_t still = an_still(a);
    uint32_t waits = waits_beside(a, writer, s);
    s->owes = writer;
    if (is_past(a, writer, s) || an_has_skipped(a, s->w.slot, s->w.need, writer, waits) ||
        (an_capture_is_whole(a) && an_misdirected(a, s) != XSR_NONE))
        return AN_WHY_MOVED_ON;
    if (waits != XSR_NONE) { /* bounded waits of a circle give up one after the other: at the same time they stood still */
        s->next = waits;
        return AN_WHY_WAITS;
    }
    bool ended = a->model->writers[writer].end != NO_TIME && a->aborted_at == INT64_MAX; /* an abort ends whoever goes on */
    if (ended || ended_by(a, writer, still))
        return AN_WHY_ENDED;
    bool goes_on = a->writers[writer].last_time > s->w.begin && still - a->writers[writer].last_time <= a->options.silent_ns;
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

/* Of all that may be the one: whoever may yet signal decides. First those that have arrived at its counter before, then those of the role,
 * then any of the rank, and at last the waiter itself. */
static uint8_t judge_candidates(an *a, an_stuck *s) {
    an_stuck best = *s;
    uint8_t why = AN_WHY_UNKNOWN;
    for (uint32_t round = 0; round < 4 && why == AN_WHY_UNKNOWN; round++)
        for (uint32_t i = 0; i < a->writer_count; i++) {
            if (!is_candidate(a, s, i, round != 2) || (i == s->w.writer) != (round == 3) || (round == 0 && !has_arrived(a, s, i)))
                continue;
            an_stuck now = *s;
            uint8_t w = what_it_does(a, &now, i), wins = why == AN_WHY_UNKNOWN ? w : worse(why, w);
            bool older = w == AN_WHY_WAITS && why == w && a->stuck[now.next].w.begin < a->stuck[best.next].w.begin;
            if (wins != why || older)
                best = now;
            why = wins;
        }
    *s = best;
    return why;
}

/* Everybody has arrived in this round, and it is not enough. Only who has yet to add what it added in the round before may still do so: a wait
 * that holds that one up holds this one up. The waiter itself does not arrive while it waits. */
static uint8_t judge_arrivers(an *a, an_stuck *s) {
    const an_slot *x = &a->slots[s->counter];
    an_stuck best = *s;
    uint8_t why = AN_WHY_UNKNOWN;
    for (uint32_t i = 0; i < x->arriver_count; i++) {
        const an_arriver *r = &x->arrivers[i];
        an_stuck now = *s;
        if (r->writer == s->w.writer)
            continue;
        now.supplier = a->model->writers[r->writer].rank;
        now.supplier_number = an_number(a, now.supplier);
        uint8_t w = what_it_does(a, &now, r->writer);
        if (w == AN_WHY_WAITS && s->w.epoch && r->now >= r->before)
            w = AN_WHY_ENDED; /* done with this round */
        uint8_t wins = why == AN_WHY_UNKNOWN ? w : worse(why, w);
        best = wins != why ? now : best;
        why = wins;
    }
    if (why != AN_WHY_RUNNING && why != AN_WHY_SILENT && why != AN_WHY_WAITS) {
        s->owes = XSR_NONE;
        return AN_WHY_COUNT;
    }
    *s = best;
    return why;
}

static uint8_t judge_counter(an *a, an_stuck *s) {
    uint64_t have, expected;
    const an_slot *x = &a->slots[s->counter];
    if (s->counter != s->w.slot && x->arrival.rank != XSR_NONE)
        s->supplier = x->arrival.rank, s->supplier_number = an_number(a, x->arrival.rank);
    bool known = an_round_of(a, s->counter, s->w.epoch, &have, &expected), this_round = x->arrival.epoch >= s->w.epoch;
    bool full = s->counter != s->w.slot && known && have == expected && expected && (this_round || !s->w.epoch);
    uint32_t missing = full ? XSR_NONE : missing_arriver(a, s);
    if (missing != XSR_NONE) {
        s->supplier = a->model->writers[missing].rank;
        s->supplier_number = an_number(a, s->supplier);
        uint8_t why = what_it_does(a, s, missing);
        return why == AN_WHY_MOVED_ON || why == AN_WHY_ENDED ? AN_WHY_COUNT : why;
    }
    if (full) {
        s->owes = x->arrival.writer;
        uint8_t why = s->owes == XSR_NONE ? AN_WHY_ELECTED : what_it_does(a, s, s->owes);
        return why == AN_WHY_WAITS || why == AN_WHY_RUNNING ? why : AN_WHY_ELECTED;
    }
    if (s->counter == s->w.slot && x->arriver_count)
        return judge_arrivers(a, s);
    if (s->counter == s->w.slot && s->supplier == s->w.rank && an_plan_of(a, s->w.slot, s->w.epoch).writer == XSR_NONE)
        return AN_WHY_COUNT; /* its owner was as good a guess as any */
    uint8_t why = judge_candidates(a, s);
    return why == AN_WHY_ENDED || why == AN_WHY_MOVED_ON || why == AN_WHY_UNKNOWN ? AN_WHY_COUNT : why;
}

/* Somebody of its process ended while the wait stood still and before that writer began, as far as their clocks tell: it had to wait for
 * room. */
static bool had_no_room(const an *a, const an_stuck *s, uint32_t writer) {
    const xsr_writer *w = &a->model->writers[writer];
    for (uint32_t i = 0; i < a->model->writer_count; i++) {
        const xsr_writer *o = &a->model->writers[i];
        if (i != writer && o->process == w->process && o->end != NO_TIME && o->end >= s->w.begin - an_clock_bound(a, o->rank, s->w.rank) &&
            o->end <= w->begin + an_clock_bound(a, o->rank, w->rank))
            return true;
    }
    return false;
}

/* A wait of another launch on that rank, which stood still too: launches of a rank run one behind the other. */
static uint32_t launch_before(const an *a, const an_stuck *s, uint32_t writer) {
    const xsr_writer *w = &a->model->writers[writer];
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *o = &a->stuck[i];
        const xsr_writer *v = o->w.writer == XSR_NONE ? NULL : &a->model->writers[o->w.writer];
        if (v && o != s && v->rank == w->rank && v->launch != w->launch && an_stuck_end(a, o) >= s->w.begin && o->w.begin <= an_stuck_end(a, s))
            return i;
    }
    return XSR_NONE;
}

/* Who signalled in the end began only after the wait had given up: behind another launch, for want of room, or late. */
static uint8_t judge_late_starter(an *a, an_stuck *s, uint32_t writer) {
    uint32_t before = launch_before(a, s, writer);
    s->supplier = a->model->writers[writer].rank;
    s->supplier_number = an_number(a, s->supplier);
    if (before != XSR_NONE) {
        s->owes = a->stuck[before].w.writer;
        s->next = before;
        return AN_WHY_WAITS;
    }
    if (!had_no_room(a, s, writer))
        return AN_WHY_NO_RANK;
    s->owes_block = an_block(a, writer);
    return AN_WHY_NO_BLOCK;
}

static uint32_t first_writer_of(const an *a, uint32_t rank) {
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < a->model->writer_count; i++)
        if (a->model->writers[i].rank == rank && (best == XSR_NONE || a->model->writers[i].begin < a->model->writers[best].begin))
            best = i;
    return best;
}

static uint8_t judge_rank_without_start(an *a, an_stuck *s) {
    if (s->supplier == XSR_NONE)
        return AN_WHY_NO_RANK;
    if (supplier_died(a, s))
        return AN_WHY_DEAD;
    uint32_t first = first_writer_of(a, s->supplier);
    return first == XSR_NONE ? AN_WHY_NO_RANK : judge_late_starter(a, s, first);
}

static bool began_behind(const an *a, const an_stuck *s, uint32_t writer) {
    if (writer == XSR_NONE)
        return false;
    const xsr_writer *w = &a->model->writers[writer];
    if (w->begin + an_clock_bound(a, w->rank, s->w.rank) >= an_stuck_end(a, s))
        return true;
    for (uint32_t i = 0; i < a->stuck_count && w->begin > s->w.begin; i++) { /* bounds end one after the other: any tells that the run stood still */
        const an_stuck *o = &a->stuck[i];
        if (!o->w.open && !o->late && w->begin + an_clock_bound(a, w->rank, o->w.rank) >= an_stuck_end(a, o))
            return true;
    }
    return false;
}

/* It began only when a wait of the launch before it on its rank had given up, while this one still stood. */
static bool began_behind_another(const an *a, const an_stuck *s, uint32_t writer) {
    uint32_t before = writer == XSR_NONE ? XSR_NONE : launch_before(a, s, writer);
    int64_t begin = writer == XSR_NONE ? NO_TIME : a->model->writers[writer].begin;
    return before != XSR_NONE && !a->stuck[before].w.open && begin >= an_stuck_end(a, &a->stuck[before]) && begin >= s->w.begin;
}

/* Waits of a run that was ended from outside are open because of that. One hangs where it stood still for as long as the two looks of xs hang
 * lie apart: since its begin, or since it was given what it needs. For one
 * that died alone it waits for ever. */
#define STANDS_NS 200000000

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
    find_supplier(a, s);
    if (s->supplier != XSR_NONE && supplier_died(a, s))
        return false;
    given = arrived > given ? arrived : given;
    if (has_what_it_needs(a, s) && given > since)
        since = given;
    return an_stuck_end(a, s) - since < STANDS_NS;
}

void an_ladder(an *a, an_stuck *s) {
    find_supplier(a, s);
    an_plan p = an_plan_of(a, s->w.slot, s->w.epoch);
    const an_slot *x = &a->slots[s->w.slot];
    uint32_t writer;
    if (jumped_over(a, s)) {
        s->why = AN_WHY_PASSED_BY;
        s->owes = x->signal.writer != XSR_NONE ? x->signal.writer : x->arrival.writer;
    } else if (p.host) {
        s->why = AN_WHY_HOST;
    } else if (was_signalled(a, s)) {
        s->why = AN_WHY_SIGNALLED;
        s->owes = x->signal.writer;
    } else if (came_late(a, s) && (began_behind(a, s, x->signal.writer) || began_behind_another(a, s, x->signal.writer))) {
        s->why = judge_late_starter(a, s, x->signal.writer);
    } else if (came_late(a, s)) {
        s->why = AN_WHY_RUNNING;
        s->owes = x->signal.writer;
    } else if (s->supplier_number == XSR_NONE) {
        s->why = AN_WHY_UNKNOWN;
    } else if (s->supplier == XSR_NONE || a->ranks[s->supplier].first_begin == NO_TIME || a->ranks[s->supplier].first_begin > an_still(a)) {
        s->why = judge_rank_without_start(a, s);
    } else if (supplier_died(a, s)) {
        s->why = AN_WHY_DEAD;
        s->owes = x->signal.writer;
    } else if (lacks_block(a, s)) {
        s->why = AN_WHY_NO_BLOCK;
    } else if (s->counter != XSR_NONE) {
        s->why = judge_counter(a, s);
    } else if ((writer = known_writer(a, s)) != XSR_NONE) {
        s->why = what_it_does(a, s, writer);
    } else {
        s->why = judge_candidates(a, s);
    }
    if (s->why != AN_WHY_WAITS)
        s->next = XSR_NONE;
}
