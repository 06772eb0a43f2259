/* D9: arrivals and what was expected differ: more than expected (from each arrival), the plan against what kernels
 * count with or report, and, where waits stand still, fewer. Signals and arrivals of each epoch against the plan:
 * recount_compare.c. */
#include "detectors.h"
#include "recount.h"

static const char *owner_words(an *a, uint32_t counter) {
    return an_print(a, "%s of rank %u", an_slot_name(a, counter), a->model->slots[counter].owner);
}

static xsa_finding like_of(const an *a, uint32_t counter, uint32_t rank, uint32_t writer, int64_t time) {
    xsa_finding f = an_like(XSA_COUNT_MISMATCH, XSA_ERROR, XSA_HIGH);
    f.slot = counter;
    an_culprit(a, &f, rank, writer);
    f.begin = time;
    return f;
}

const an_arriver *an_added_more(const an *a, uint32_t counter) {
    const an_arriver *found = NULL;
    for (uint32_t i = 0; i < a->slots[counter].arriver_count; i++) {
        const an_arriver *r = &a->slots[counter].arrivers[i];
        found = r->more && (!found || r->more < found->more) ? r : found;
    }
    return found;
}

static int say_more(an *a, const xsr_event *e, uint64_t count) {
    const an_arriver *more = an_added_more(a, e->slot);
    xsa_finding f = like_of(a, e->slot, e->rank, e->writer, e->time);
    f.end = e->time;
    if (more)
        an_culprit(a, &f, XSR_NONE, more->writer);
    const char *who =
        more ? an_print(a, "; %s had added more than in each round before", an_who(a, XSR_NONE, more->writer)) : "";
    f.cure = "count again who arrives in an epoch: expected is too small, or somebody arrives twice";
    an_finding *out = an_find(a, &f, an_key(XSA_COUNT_MISMATCH, e->slot, 1, 0),
                              "%s at %s is number %llu where %llu are expected, %s%s", an_who(a, e->rank, e->writer),
                              owner_words(a, e->slot), (unsigned long long)count, (unsigned long long)e->detail,
                              an_since(a, e->time), who);
    TRY(more ? an_evidence(a, out, more->more, "more than usual") : 0);
    return an_evidence(a, out, e->id, "arrival beyond what is expected");
}

static int say_other(an *a, const xsr_event *e, const an_plan *p) {
    xsa_finding f = like_of(a, e->slot, e->rank, e->writer, e->time);
    f.end = e->time;
    f.confidence = an_confidence(p->arrivals_origin, 0);
    f.cure = "make host and kernel compute it by one function, and compare both with a plain loop";
    an_finding *out =
        an_find(a, &f, an_key(XSA_COUNT_MISMATCH, e->slot, 2, 0), "%s counts with %llu arrivals at %s, but %s %llu",
                an_who(a, e->rank, e->writer), (unsigned long long)e->detail, owner_words(a, e->slot),
                p->arrivals_origin == XS_PLAN_DECLARED ? "the plan declares" : "the kernel reported",
                (unsigned long long)p->arrivals);
    return an_evidence(a, out, e->id, "arrival");
}

static int say_report(an *a, const xsr_event *e, uint64_t epoch, uint32_t origin, uint64_t other,
                      uint64_t other_event) {
    xsa_finding f = like_of(a, e->slot, e->rank, e->writer, e->time);
    f.end = e->time;
    f.confidence = an_confidence(origin, 0);
    f.cure = "make host and kernel compute it by one function, and compare both with a plain loop";
    an_finding *out = an_find(
        a, &f, an_key(XSA_COUNT_MISMATCH, e->slot, 2, 0), "%s reports %llu arrivals at %s for epoch %llu, but %s %llu",
        an_who(a, e->rank, e->writer), (unsigned long long)e->value, owner_words(a, e->slot), (unsigned long long)epoch,
        origin == XS_PLAN_DECLARED ? "the plan declares" : "an earlier report of this launch says",
        (unsigned long long)other);
    TRY(an_evidence(a, out, e->id, "report"));
    return other_event == XSR_NO_ID ? 0 : an_evidence(a, out, other_event, "earlier report");
}

/* Against the declared entry, or the last report of the same launch for the same epoch. */
static int take_report(an *a, const xsr_event *e) {
    const an_slot *s = &a->slots[e->slot];
    /* the record holds its low word */
    uint64_t epoch = (uint32_t)e->epoch == (uint32_t)e->detail ? e->epoch : e->detail;
    uint32_t row =
        an_plan_has(a, e->slot, XS_PLAN_ARRIVALS) ? an_plan_row(a, e->slot, XS_PLAN_ARRIVALS, epoch) : XSR_NONE;
    if (row != XSR_NONE) {
        uint64_t declared = a->model->plan[row].entry.a;
        return declared == e->value ? 0 : say_report(a, e, epoch, XS_PLAN_DECLARED, declared, XSR_NO_ID);
    }
    if (!s->is_reported || s->reported_epoch != e->detail || s->reported == e->value || e->writer == XSR_NONE ||
        s->reported_by == XSR_NONE)
        return 0;
    bool one_launch = a->model->writers[e->writer].launch == a->model->writers[s->reported_by].launch;
    return one_launch ? say_report(a, e, epoch, XS_PLAN_REPORTED, s->reported, s->reported_event) : 0;
}

/* old counts from the epoch's base, wherever the reader put that. */
static int on_event(an *a, void *state, const xsr_event *e) {
    (void)state;
    if (e->slot != XSR_NONE && e->kind == XS_EV_EXPECT)
        return take_report(a, e);
    if (e->slot == XSR_NONE || e->further[1] < e->detail)
        return 0;
    uint64_t base = e->further[1] - e->detail, count = e->value - base + e->further[0];
    if (e->further[1] && e->value >= base && count > e->detail)
        TRY(say_more(a, e, count));
    an_plan p = an_plan_of(a, e->slot, e->epoch);
    return p.has_arrivals && p.arrivals != e->detail ? say_other(a, e, &p) : 0;
}

/* ---- fewer: from waits that stand still ---- */

static const char *who_lacks(an *a, const an_stuck *s) {
    if (s->absent)
        return an_print(a, "%u of the %u who arrive there now and then have not in this epoch", s->absent, s->arrivers);
    if (s->left_out)
        return an_print(a, "%s has gone past %llu of its rounds without arriving there", an_who(a, XSR_NONE, s->owes),
                        (unsigned long long)s->left_out);
    if (s->owes != XSR_NONE)
        return an_print(a, s->beyond ? "%s has gone past the place where it arrives" : "%s does not arrive any more",
                        an_who(a, XSR_NONE, s->owes));
    if (a->slots[s->counter].arriver_count)
        return "all who arrive there have done so";
    return a->slots[s->counter].arrivals ? "nobody is left to arrive" : "nobody has arrived there";
}

/* Several ranks add: what some of them added may be gone, and only all of their records tell. */
static bool added_from_afar(const an *a, uint32_t slot) {
    const an_slot *x = &a->slots[slot];
    for (uint32_t i = 1; i < x->arriver_count; i++)
        if (a->model->writers[x->arrivers[i].writer].rank != a->model->writers[x->arrivers[0].writer].rank)
            return true;
    return false;
}

/* A gate, whose records are counts in full: with what that one adds in each round the waiter would have what it
 * needs. */
static bool lacks_what_it_adds(const an_stuck *s, const an_slot *x) {
    for (uint32_t i = 0; i < x->arriver_count && s->beyond && s->counter == s->w.slot; i++)
        if (x->arrivers[i].writer == s->owes)
            return !s->w.open && !s->w.end_lost && s->w.observed + x->arrivers[i].now >= s->w.need;
    return false;
}

/* Arrivals of one record are counted from the base of their epoch: the begin of one counts as well. */
static void whole_counter(an *a) {
    an_whole(a, XSR_NONE, INT64_MIN, INT64_MAX);
    an_only_by(a, AN_MOVES | AN_ENTERS);
}

static int say_fewer(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->counter];
    uint64_t have = 0, expected = 0, lost = an_stuck_lost(a, s);
    bool elects = an_round_of(a, s->counter, s->w.epoch, &have, &expected);
    if (!elects) { /* a gate: its waiter says how many it needs */
        have = s->w.observed;
        expected = s->w.need;
    }
    xsa_finding f = an_stuck_like(a, s, XSA_COUNT_MISMATCH, XSA_ERROR);
    f.slot = s->counter;
    f.cure = expected == 0
                 ? "name who publishes where nothing is expected (XS_PLAN_NO_ARRIVALS), or leave the wait out "
                   "(xs_wait_expected)"
                 : "count again who arrives in an epoch: expected is too large, or an arrival is left out on some path";
    bool reported = x->is_reported && x->reported_epoch == (uint32_t)s->w.epoch;
    if (s->owes == XSR_NONE && reported &&
        added_from_afar(a, s->counter)) /* who says how many come is one, who come are several */
        an_culprit(a, &f, XSR_NONE, x->reported_by);
    else if (s->absent || (s->owes == XSR_NONE && added_from_afar(a, s->counter)))
        f.owes_rank = f.owes_block = f.owes_writer = XSR_NONE;
    else if (s->owes == XSR_NONE)
        an_culprit(a, &f, s->supplier, x->arrival.writer);
    if (!lacks_what_it_adds(s, x) &&
        (s->owes == XSR_NONE || (s->left_out && !s->counted) || have >= expected ||
         added_from_afar(a, s->counter))) /* put together wrongly, or an increment vanished on its way */
        whole_counter(a);
    if (!s->certain) {
        an_unknown(a, XSA_COUNT_MISMATCH, lost, "arrivals at %s may be lost (%llu records)",
                   an_slot_name(a, s->counter), (unsigned long long)lost);
        return 0;
    }
    an_finding *out =
        an_find(a, &f, an_key(XSA_COUNT_MISMATCH, s->counter, 3, 0), "%s has %llu of %llu arrivals and %s, so %s",
                owner_words(a, s->counter), (unsigned long long)have, (unsigned long long)expected, who_lacks(a, s),
                an_stuck_words(a, s));
    TRY(an_evidence(a, out, x->arrival.event, "last arrival"));
    return an_evidence(a, out, s->w.id, "wait");
}

/* The plan, or the kernel's report, expects nothing, and nobody publishes in its place. */
static int say_zero(an *a, const an_stuck *s, bool *said) {
    uint32_t counter = s->counter != XSR_NONE ? s->counter : s->w.slot;
    an_plan p = an_plan_of(a, counter, s->w.epoch), own = an_plan_of(a, s->w.slot, s->w.epoch);
    bool zero = (p.has_arrivals && p.arrivals == 0) || (own.has_arrivals && own.arrivals == 0) ||
                (own.has_signals && own.signals == 0);
    if (!zero || own.without_arrivals != XSR_NONE || p.without_arrivals != XSR_NONE)
        return 0;
    *said = true;
    xsa_finding f = an_stuck_like(a, s, XSA_COUNT_MISMATCH, XSA_ERROR);
    f.slot = counter;
    f.cure =
        "leave the wait out where nothing is expected (xs_wait_expected), or name who publishes (XS_PLAN_NO_ARRIVALS)";
    an_finding *out =
        an_find(a, &f, an_key(XSA_COUNT_MISMATCH, counter, 4, 0),
                "%s, but nothing is expected in this epoch and nobody publishes it", an_stuck_words(a, s));
    TRY(an_evidence(a, out, a->slots[counter].reported_event, "expected"));
    return an_evidence(a, out, s->w.id, "wait");
}

static int finish(an *a, void *state) {
    (void)state;
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        bool said = false;
        if (s->late || s->why == AN_WHY_DEAD || s->why == AN_WHY_NO_RANK || s->why == AN_WHY_SIGNALLED)
            continue;
        TRY(say_zero(a, s, &said));
        if (!said && s->why == AN_WHY_COUNT)
            TRY(say_fewer(a, s));
    }
    return an_recount_compare(a);
}

const an_ops an_count_mismatch = {
    .id = XSA_COUNT_MISMATCH,
    .needs = AN_NEED_ARRIVALS | AN_NEED_SIGNALS | AN_NEED_WAITS,
    .kinds = AN_KIND(ARRIVE) | AN_KIND(EXPECT),
    .on_event = on_event,
    .finish = finish,
    .cannot = "whether the expected count or the arrivals are wrong, where no plan tells; whether plan or kernel is, "
              "where they differ; "
              "signals and arrivals outside of epochs, and of epochs older than the newest 14 runs of one count"};
