/* D5: a signal that was made and that the waiter's later polls do not see; increments that the counter does not
 * have. Two arrivals that found the same count prove that one of them was lost. */
#include "detectors.h"

/* The only rank that adds from afar; XSR_NONE: there is none, or several: then nobody can tell by that whose
 * increment is gone. */
static uint32_t only_far(const an *a, uint32_t slot, bool *several) {
    const an_slot *s = &a->slots[slot];
    uint32_t far = XSR_NONE;
    *several = false;
    for (uint32_t i = 0; i < s->arriver_count; i++) {
        uint32_t adder = a->model->writers[s->arrivers[i].writer].rank;
        if (an_number(a, adder) == a->model->slots[slot].owner || adder == far)
            continue;
        *several |= far != XSR_NONE;
        far = adder;
    }
    return *several ? XSR_NONE : far;
}

static void blame_adder(const an *a, xsa_finding *f, uint32_t slot, uint32_t rank, uint32_t writer) {
    bool several;
    uint32_t far = only_far(a, slot, &several);
    if (!several)
        an_culprit(a, f, far == XSR_NONE ? rank : far, far == XSR_NONE || far == rank ? writer : XSR_NONE);
}

static int say_twice(an *a, uint32_t slot, const an_touch *first, const an_touch *e) {
    if (e->kind == XS_EV_ARRIVE) /* the base that an epoch began with */
        an_whole_order(a, XSR_NONE, first->time, XSR_NONE, e->time);
    an_whole(a, XSR_NONE, first->time, e->time);
    an_only_by(a, AN_KIND(RESET));
    an_only_between(a, first->writer, first->record, e->writer, e->record);
    xsa_finding f = an_like(XSA_VANISHED_SIGNAL, XSA_ERROR, XSA_HIGH);
    f.slot = slot;
    blame_adder(a, &f, slot, e->rank, e->writer);
    f.rank = a->model->slots[slot].owner;
    f.begin = f.end = e->time;
    f.cure = "no atomics over a link that does not carry them: count locally, elect, and signal a slot of your own";
    an_finding *out =
        an_find(a, &f, an_key(XSA_VANISHED_SIGNAL, slot, 1, 0),
                "%s arrived at %s of rank %u and found %llu, as %s did before: an increment was lost, %s",
                an_who(a, e->rank, e->writer), an_slot_name(a, slot), a->model->slots[slot].owner,
                (unsigned long long)e->value, an_who(a, first->rank, first->writer), an_since(a, e->time));
    TRY(an_evidence(a, out, first->event, "arrival"));
    return an_evidence(a, out, e->event, "arrival that found the same count");
}

/* ---- gates: all that they found lately, in whatever order their stamps lie ---- */

#define FOUND 16u /* arrivals of a counter that are kept */

/* first, second: found the same; left: what the last one left; fell: writers that found less than that, and how
 * often. */
typedef struct found {
    an_touch list[FOUND], first, second;
    uint64_t count, left;
    uint32_t fell[FOUND], times[FOUND], writers;
    bool twice;
} found;
typedef struct adders { found **slots; uint32_t room; } adders;

static found *found_of(an *a, adders *all, uint32_t slot) {
    if (RD_ROWS(all->slots, all->room, a->slot_count) < 0)
        return NULL;
    if (!all->slots[slot])
        all->slots[slot] = calloc(1, sizeof *all->slots[slot]);
    return all->slots[slot];
}

static an_touch touch_of(const xsr_event *e) {
    return (an_touch){e->id,   e->value, e->epoch, e->sequence, e->time, e->writer,
                      e->rank, e->order, e->scope, e->fence,    e->kind};
}

static void note_fall(found *f, uint32_t writer) {
    for (uint32_t i = 0; i < f->writers; i++)
        if (f->fell[i] == writer) {
            f->times[i]++;
            return;
        }
    if (f->writers < FOUND)
        f->fell[f->writers] = writer, f->times[f->writers++] = 1;
}

/* Who sets the count back most often: it adds to what it has read before others added. Who adds just then, or whose
 * stamps lie in another order, seems to do so too. XSR_NONE: none stands out. */
static uint32_t sets_back(const found *f) {
    uint32_t most = 0, next = 0, who = XSR_NONE;
    for (uint32_t i = 0; i < f->writers; i++) {
        next = f->times[i] > most ? most : f->times[i] > next ? f->times[i] : next;
        who = f->times[i] > most ? f->fell[i] : who;
        most = f->times[i] > most ? f->times[i] : most;
    }
    return most && most >= 2 * next ? who : XSR_NONE;
}

static int note_found(an *a, adders *all, const xsr_event *e) {
    found *f = found_of(a, all, e->slot);
    if (!f)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < FOUND && i < f->count && !f->twice; i++)
        if (f->list[i].value == e->value) {
            f->first = f->list[i];
            f->second = touch_of(e);
            f->twice = true;
        }
    if (f->count && e->value < f->left)
        note_fall(f, e->writer);
    f->left = e->value + an_weight(e);
    f->list[f->count++ % FOUND] = touch_of(e);
    return 0;
}

/* Counts of packed arrivals are put together by the reader: not where records are lost, nor where more arrive than
 * are expected. */
static bool counts_hold(const an *a, uint32_t slot) {
    return !an_found(a, XSA_COUNT_MISMATCH, an_key(XSA_COUNT_MISMATCH, slot, 1, 0));
}

/* Records of one counter come in the order of their stamps, which two devices may see differently; a value below all
 * that was left before by the last arrival, and equal to what it found, is no matter of order. */
static int on_event(an *a, void *state, const xsr_event *e) {
    if (e->slot == XSR_NONE || an_weight(e) == 0)
        return 0;
    if (e->kind == XS_EV_GATE_ARRIVE)
        TRY(note_found(a, state, e));
    if (e->kind == XS_EV_GATE_ARRIVE && !a->slots[e->slot].resets) /* in the end, when it is known who adds there */
        return 0;
    const an_slot *s = &a->slots[e->slot];
    if (!counts_hold(a, e->slot))
        return 0;
    bool reset = s->reset.event != XSR_NO_ID && s->reset.time >= s->arrival.time;
    an_touch now = touch_of(e);
    return s->arrivals && !reset && s->weight && s->old == e->value && s->arrival.event != e->id
               ? say_twice(a, e->slot, &s->arrival, &now)
               : 0;
}

/* Of all who add there the stamps tell the order: they are of one clock. */
static bool share_clock(const an *a, uint32_t slot) {
    const an_slot *s = &a->slots[slot];
    for (uint32_t i = 1; i < s->arriver_count; i++) {
        const xsr_rank *x = &a->model->ranks[a->model->writers[s->arrivers[0].writer].rank],
                       *y = &a->model->ranks[a->model->writers[s->arrivers[i].writer].rank];
        if (x->process != y->process || x->device != y->device)
            return false;
    }
    return true;
}

static const char *one_adds_otherwise(an *a, uint32_t slot, const found *f) {
    return an_print(a,
                    "%s set %s of rank %u back: it and %s found %llu there, %s. Increments were lost: it loads and "
                    "stores where others add, or its link "
                    "carries no atomics",
                    an_who(a, XSR_NONE, sets_back(f)), an_slot_name(a, slot), a->model->slots[slot].owner,
                    sets_back(f) == f->first.writer ? an_who(a, XSR_NONE, f->second.writer)
                                                    : an_who(a, XSR_NONE, f->first.writer),
                    (unsigned long long)f->first.value, an_since(a, f->second.time));
}

/* A counter that is never reset has each value once. */
static int say_found(an *a, const adders *all) {
    for (uint32_t i = 0; i < all->room; i++)
        if (all->slots[i] && all->slots[i]->twice && !a->slots[i].resets) {
            const found *f = all->slots[i];
            bool several;
            uint32_t far = only_far(a, i, &several), by = share_clock(a, i) ? sets_back(f) : XSR_NONE;
            TRY(say_twice(a, i, &f->first, &f->second));
            if (by != XSR_NONE && (several || a->model->writers[by].rank == far))
                TRY(an_accuse(a, an_key(XSA_VANISHED_SIGNAL, i, 1, 0), XSR_NONE, sets_back(f),
                              one_adds_otherwise(a, i, f)));
        }
    return 0;
}

/* More was added than the counter ever showed. */
static int say_short(an *a, uint32_t slot) {
    const an_slot *s = &a->slots[slot];
    uint64_t base = s->least_old, should = base + s->arrived_weight;
    if (!s->arrivals || s->resets || s->post >= should || !counts_hold(a, slot) ||
        an_lost(a, XSR_NONE, INT64_MIN, INT64_MAX))
        return 0;
    xsa_finding f = an_like(XSA_VANISHED_SIGNAL, XSA_ERROR, XSA_HIGH);
    f.slot = slot;
    blame_adder(a, &f, slot, s->arrival.rank, s->arrival.writer);
    f.rank = a->model->slots[slot].owner;
    f.begin = s->arrival.time;
    f.cure = "no atomics over a link that does not carry them: count locally, elect, and signal a slot of your own";
    an_finding *out = an_find(a, &f, an_key(XSA_VANISHED_SIGNAL, slot, 1, 0),
                              "%s of rank %u shows %llu after arrivals of %llu: %llu were lost", an_slot_name(a, slot),
                              a->model->slots[slot].owner, (unsigned long long)(s->post - base),
                              (unsigned long long)s->arrived_weight, (unsigned long long)(should - s->post));
    return an_evidence(a, out, s->arrival.event, "last arrival");
}

static int say_overwritten(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    xsa_finding f = an_stuck_like(a, s, XSA_REGRESSION, XSA_ERROR);
    an_culprit(a, &f, x->signal.rank, x->signal.writer);
    f.cure =
        "sequences only rise: let each who signals the slot know of the one before, or give each a slot of its own";
    if (!s->certain)
        return 0;
    an_finding *out = an_find(a, &f, an_key(XSA_REGRESSION, s->w.slot, 0, 0),
                              "%s; it had %llu, and then %s signalled %llu over it, %s", an_stuck_words(a, s),
                              (unsigned long long)x->max_value, an_who(a, x->signal.rank, x->signal.writer),
                              (unsigned long long)x->signal.value, an_since(a, x->signal.time));
    TRY(an_evidence(a, out, x->signal.event, "signal"));
    return an_evidence(a, out, s->w.id, "wait");
}

/* It was seen not because a lower value was signalled over it: that is a regression. */
static bool is_overwritten(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return an_found(a, XSA_REGRESSION, an_key(XSA_REGRESSION, s->w.slot, 0, 0)) ||
           !an_holds(s->w.cmp, x->signal.value, s->w.need);
}

static int say_unseen(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    if (is_overwritten(a, s))
        return say_overwritten(a, s);
    xsa_finding f = an_stuck_like(a, s, XSA_VANISHED_SIGNAL, XSA_ERROR);
    f.cure =
        "check the address that is signalled, peer access and the path of the store; read the slot back at its owner";
    if (!s->certain) {
        an_unknown(a, XSA_VANISHED_SIGNAL, f.lost, "%llu lost records could hold the end of a wait",
                   (unsigned long long)f.lost);
        return 0;
    }
    an_finding *out = an_find(a, &f, an_key(XSA_VANISHED_SIGNAL, s->w.slot, 2, 0),
                              "%s; %s signalled %llu there %s, and it is not seen", an_stuck_words(a, s),
                              an_who(a, x->signal.rank, x->signal.writer), (unsigned long long)x->max_value,
                              an_since(a, x->signal.time));
    TRY(an_evidence(a, out, x->signal.event, "signal"));
    return an_evidence(a, out, s->w.id, "wait");
}

/* A gate that needs no more than what was added to it. */
static int say_arrived(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    if (!an_is_counter(a, s->w.slot) || !x->arrivals || x->resets || s->w.cmp != XS_CMP_GE ||
        x->least_old + x->arrived_weight < s->w.need || !s->certain || !counts_hold(a, s->w.slot))
        return 0;
    xsa_finding f = an_stuck_like(a, s, XSA_VANISHED_SIGNAL, XSA_ERROR);
    an_whole(a, XSR_NONE, INT64_MIN, an_still(a));
    an_only_by(a, AN_KIND(RESET));
    f.owes_rank = f.owes_block = f.owes_writer = XSR_NONE;
    blame_adder(a, &f, s->w.slot, x->arrival.rank, x->arrival.writer);
    f.cure = "no atomics over a link that does not carry them: count locally, elect, and signal a slot of your own";
    an_finding *out = an_find(a, &f, an_key(XSA_VANISHED_SIGNAL, s->w.slot, 1, 0),
                              "%s; arrivals of %llu were made, and it shows %llu", an_stuck_words(a, s),
                              (unsigned long long)x->arrived_weight, (unsigned long long)s->w.observed);
    TRY(an_evidence(a, out, x->arrival.event, "last arrival"));
    return an_evidence(a, out, s->w.id, "wait");
}

static int finish(an *a, void *state) {
    TRY(say_found(a, state));
    for (uint32_t i = 0; i < a->slot_count; i++)
        TRY(say_short(a, i));
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        if (a->stuck[i].late)
            continue;
        if (a->stuck[i].why == AN_WHY_SIGNALLED)
            TRY(say_unseen(a, &a->stuck[i]));
        TRY(say_arrived(a, &a->stuck[i]));
    }
    return 0;
}

static void release(void *state) {
    adders *all = state;
    for (uint32_t i = 0; i < all->room; i++)
        free(all->slots[i]);
    free(all->slots);
}

const an_ops an_vanished_signal = {
    .id = XSA_VANISHED_SIGNAL,
    .needs = AN_NEED_SIGNALS | AN_NEED_ARRIVALS,
    .kinds = AN_KIND(ARRIVE) | AN_KIND(GATE_ARRIVE),
    .state = sizeof(adders),
    .on_event = on_event,
    .finish = finish,
    .release = release,
    .cannot = "whether the address, the link or another writer is to blame: no slot is read back"};
