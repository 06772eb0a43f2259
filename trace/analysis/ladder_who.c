/* Who owes the signal of a wait that stands still: the rank, the role, the writer. */
#include "ladder.h"

/* A slot that many signal in turn, and somebody passed its wait after the last signal. Those who signal it wait for
 * it themselves, but for the first: a queue's slot, which its producers signal and one consumer waits for, is none
 * of these. */
static bool is_handed_over(const an *a, uint32_t slot, uint32_t waiter) {
    const an_slot *x = &a->slots[slot];
    if (!(an_pad(a, slot)->flags & XS_PAD_SHARED) || !x->signals || x->arrivals || x->entered.writer == XSR_NONE ||
        x->entered.value != x->max_value)
        return false;
    return x->entered.writer != waiter &&
           (x->signals == 1 || (x->signal.writer != XSR_NONE && x->waiters >> x->signal.writer % 64 & 1));
}

/* over the slots of a pad at one owner */
typedef struct turns { uint64_t signals, most, slots, waiters; an_touch entered; } turns;

static turns turns_of(const an *a, uint32_t slot) {
    turns t = {.entered = {.writer = XSR_NONE}};
    for (uint32_t i = 0; i < a->slot_count; i++) {
        const an_slot *x = &a->slots[i];
        if (a->model->slots[i].pad != a->model->slots[slot].pad ||
            a->model->slots[i].owner != a->model->slots[slot].owner)
            continue;
        t.slots += x->signals != 0;
        t.signals += x->signals;
        t.waiters |= x->waiters;
        t.most = x->max_value > t.most ? x->max_value : t.most;
        if (x->entered.writer != XSR_NONE && (t.entered.writer == XSR_NONE || x->entered.value > t.entered.value))
            t.entered = x->entered;
    }
    return t;
}

static bool somebody_needs(const an *a, uint32_t slot, uint64_t need) {
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (!a->stuck[i].late && a->stuck[i].w.need == need &&
            a->model->slots[a->stuck[i].w.slot].pad == a->model->slots[slot].pad &&
            a->model->slots[a->stuck[i].w.slot].owner == a->model->slots[slot].owner)
            return true;
    return false;
}

/* A turn that is handed on from slot to slot (an array lock): each number is signalled once, by one who waits there
 * too. Whoever entered on the highest has the turn, and has not given it on, or to a slot at which nobody waits for
 * it. */
static uint32_t holder_of_turns(const an *a, uint32_t slot) {
    if (!(an_pad(a, slot)->flags & XS_PAD_SHARED) || a->slots[slot].arrivals)
        return XSR_NONE;
    turns t = turns_of(a, slot);
    bool by_turns =
        t.slots > 1 && t.signals == t.most && t.entered.writer != XSR_NONE && t.waiters >> t.entered.writer % 64 & 1;
    return by_turns && t.most <= t.entered.value + 1 && somebody_needs(a, slot, t.entered.value + 1) ? t.entered.writer
                                                                                                     : XSR_NONE;
}

static uint32_t holder(const an *a, uint32_t slot, uint32_t waiter) {
    return is_handed_over(a, slot, waiter) ? a->slots[slot].entered.writer : holder_of_turns(a, slot);
}

bool ladder_asks_again(const an *a, const an_stuck *s, uint32_t writer, uint32_t waits) {
    return waits != XSR_NONE && a->model->slots[a->stuck[waits].w.slot].pad == a->model->slots[s->w.slot].pad &&
           holder_of_turns(a, s->w.slot) == writer;
}

/* Many signal it, and whose turn it is shows in none of their signals. Who has ended in an epoch that others went on
 * from, if it is one alone: its writer. */
static uint32_t left_early(const an *a, const an_stuck *s) {
    uint64_t last = 0;
    uint32_t found = XSR_NONE, pad = a->model->slots[s->w.slot].pad;
    for (uint32_t i = 0; i < a->writer_count; i++)
        if (a->writers[i].signal_slot != XSR_NONE && a->model->slots[a->writers[i].signal_slot].pad == pad &&
            a->writers[i].epoch > last)
            last = a->writers[i].epoch;
    for (uint32_t i = 0; i < a->writer_count; i++) {
        uint32_t to = a->writers[i].signal_slot;
        if (i == s->w.writer || to == XSR_NONE || a->model->slots[to].pad != pad ||
            !ladder_ended_by(a, i, an_still(a)) || an_stuck_of_writer(a, i) != XSR_NONE || a->writers[i].epoch >= last)
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

/* The plan names the host, and no kernel: what a counter holds of the host is its seed, where kernels arrive they
 * owe the rest. */
bool ladder_is_of_host(const an *a, const an_stuck *s) {
    return an_plan_of(a, s->w.slot, s->w.epoch).host && !a->slots[s->w.slot].arrivals &&
           !an_plan_declares_writer(a, s->w.slot, s->w.epoch, NULL);
}

void ladder_find_supplier(an *a, an_stuck *s) {
    uint32_t slot = s->w.slot;
    const an_slot *x = &a->slots[slot];
    an_plan p = an_plan_of(a, slot, s->w.epoch);
    s->origin = p.writer_origin;
    s->role = p.writer_role;
    s->supplier_number = p.writer;
    if (ladder_is_of_host(a, s)) {
        s->supplier_number = a->model->slots[slot].owner;
        s->supplier = an_rank_of(a, s->supplier_number);
        s->origin = p.host_origin;
        return;
    }
    uint32_t has_turn = holder(a, slot, s->w.writer);
    if (has_turn != XSR_NONE) { /* a lock: whoever entered last and has not handed it on */
        s->supplier_number = an_number(a, a->model->writers[has_turn].rank);
        s->role = XSR_NONE;
    } else if (an_is_counter(a, slot)) { /* whoever arrives */
        s->counter = slot;
        if (s->supplier_number == XSR_NONE)
            s->supplier_number =
                x->arrival.rank != XSR_NONE ? an_number(a, x->arrival.rank) : a->model->slots[slot].owner;
        if (s->role == XSR_NONE && x->arrival.writer != XSR_NONE)
            s->role = a->writers[x->arrival.writer].role;
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
        s->counter = ladder_open_counter(a, s->supplier, s->w.epoch);
}

/* May this writer be the one? By role, by what it did to the slot or the counter before, at least by rank. */
bool ladder_is_candidate(const an *a, const an_stuck *s, uint32_t writer, bool by_role) {
    const xsr_writer *w = &a->model->writers[writer];
    if (w->rank != s->supplier || !ladder_had_begun(a, s, writer))
        return false;
    /* its own may be lost */
    uint32_t launch = s->w.writer == XSR_NONE ? w->launch : a->model->writers[s->w.writer].launch;
    if (w->end != NO_TIME && w->end < s->w.begin && w->launch != launch)
        return false; /* of an earlier launch */
    return !by_role || s->role == XSR_NONE || a->writers[writer].role == s->role || w->role == s->role;
}

static uint32_t only_writer_of(const an *a, const an_stuck *s, uint32_t block) {
    uint32_t found = XSR_NONE;
    for (uint32_t i = 0; i < a->writer_count && block != XSR_NONE; i++) {
        if (an_block(a, i) != block || !ladder_is_candidate(a, s, i, true))
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
uint32_t ladder_known_writer(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    uint32_t has_turn = holder(a, s->w.slot, s->w.writer);
    if (has_turn != XSR_NONE)
        return has_turn;
    if (signalled_by_several(a, s->w.slot) && s->owes != XSR_NONE)
        return s->owes;
    uint32_t w = x->signal.writer;
    if (s->counter == XSR_NONE && w == XSR_NONE)
        w = neighbour_writer(a, s);
    else if (s->counter == XSR_NONE && !ladder_is_candidate(a, s, w, false))
        w = only_writer_of(a, s, an_block(a, w)); /* of an earlier launch */
    if (s->counter != XSR_NONE || w == XSR_NONE || !ladder_is_candidate(a, s, w, false))
        return XSR_NONE;
    return w;
}
