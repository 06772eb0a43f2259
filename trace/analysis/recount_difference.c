/* One slot: what was counted in the epochs that are over, against what the plan promises of them, and whether that
 * is a fault. */
#include "recount.h"

#define STEPS 4096u /* epochs of a slot that are compared one by one, where the plan names epochs */

/* Of entries for one slot each, and of what kernels report, all of a pad are a group: one piece of code makes them. */
#define REPORTED 0x80000000u
#define EXACT 0x40000000u

/* ---- what the plan promises ---- */

typedef struct promise { bool has; uint64_t count; uint32_t group; uint8_t origin; } promise;

static promise promise_of(const an *a, uint32_t slot, uint32_t tallied, uint64_t epoch) {
    uint32_t kind = tallied == AN_SIGNALS ? XS_PLAN_SIGNALS : XS_PLAN_ARRIVALS;
    if (tallied == AN_ARRIVALS && a->slots[slot].is_reported) {
        an_plan p = an_plan_of(a, slot, epoch);
        if (p.has_arrivals && p.arrivals_origin == XS_PLAN_REPORTED)
            return (promise){true, p.arrivals, REPORTED | a->model->slots[slot].pad, XS_PLAN_REPORTED};
    }
    uint32_t row = an_plan_has(a, slot, kind) ? an_plan_row(a, slot, kind, epoch) : XSR_NONE;
    if (row == XSR_NONE)
        return (promise){0};
    const xs_plan_entry *e = &a->model->plan[row].entry;
    bool exact = e->owner < XS_PLAN_OWNER && e->row < XS_PLAN_OWNER && e->column < XS_PLAN_OWNER;
    return (promise){true, e->a, exact ? EXACT | a->model->slots[slot].pad : row, (uint8_t)e->origin};
}

static bool names_epochs(const an *a, uint32_t slot, uint32_t tallied) {
    return tallied == AN_SIGNALS ? an_plan_dated(a, slot, XS_PLAN_SIGNALS)
                                 : a->slots[slot].is_reported || an_plan_dated(a, slot, XS_PLAN_ARRIVALS);
}

/* ---- one slot ---- */

/* Those who do it, or else those who are to. Several ranks: then epochs of all of them count, which need all to be
 * there. */
static bool find_supplier(const an *a, an_difference *d, const an_tally *t) {
    const xsr_slot *s = &a->model->slots[d->slot];
    bool declared = s->supplier_rank != XSR_NONE && s->supplier_origin == XS_PLAN_DECLARED && d->tallied == AN_SIGNALS;
    if (t && (t->rank != XSR_NONE || !declared)) {
        d->rank = t->rank;
        d->role = t->rank == XSR_NONE ? XSR_NONE : t->role;
        return t->rank != XSR_NONE || a->model->rank_count == a->model->processes[0].world_ranks;
    }
    d->rank = declared ? an_rank_of(a, s->supplier_rank) : XSR_NONE;
    d->role = declared ? s->supplier_role : XSR_NONE;
    return d->rank != XSR_NONE;
}

/* launches: in each of which it may have been done, or in one of them. */
static void take(const an *a, an_difference *d, an_run run, promise p, uint64_t launches) {
    uint64_t n = run.last - run.first + 1;
    bool right = run.count == p.count || (run.count > p.count && run.count <= p.count * launches);
    d->judged += n;
    d->group = d->differing ? d->group : p.group;
    d->planned += n * (right ? run.count : p.count);
    d->counted += n * run.count;
    d->last = run.last;
    if (right) {
        d->right = true;
        return;
    }
    d->leading &= run.count == 0 && !d->right;
    if (!d->differing || (a->lost_records && d->count < d->promised && run.count > p.count)) {
        /* records that are lost take away; they add nothing */
        d->epoch = run.first;
        d->count = run.count;
        d->promised = p.count;
        d->origin = p.origin;
    }
    d->differing += n;
}

static void compare(const an *a, an_difference *d, const an_runs *entered, const an_tally *t) {
    static const an_runs nothing = {0};
    const an_runs *runs = t ? &t->runs : &nothing;
    uint64_t below = an_closed_below(a, d->rank), from = entered->from > runs->from ? entered->from : runs->from;
    bool one_by_one = names_epochs(a, d->slot, d->tallied);
    uint32_t steps = 0;
    for (uint32_t i = 0; i < entered->count; i++) {
        uint64_t epoch = entered->list[i].first > from ? entered->list[i].first : from;
        uint64_t end = entered->list[i].last < below ? entered->list[i].last + 1 : below;
        for (; epoch < end && steps < STEPS; steps += one_by_one) {
            an_run run = an_runs_at(runs, epoch, one_by_one ? epoch : end - 1);
            promise p = promise_of(a, d->slot, d->tallied, epoch);
            if (p.has)
                take(a, d, run, p, entered->list[i].count);
            epoch = run.last + 1;
        }
    }
}

static bool is_told_otherwise(const an *a, const an_difference *d) {
    for (uint32_t told = 1; told <= 4 && d->tallied == AN_ARRIVALS; told++)
        if (an_found(a, XSA_COUNT_MISMATCH, an_key(XSA_COUNT_MISMATCH, d->slot, told, 0)))
            return true;
    return an_hang_at(a, d->slot) & AN_HANGS_OTHERWISE;
}

/* Whoever does in epoch e what an earlier one is owed begins late, or has the same sum: to be known, no fault. In
 * its last epoch a rank may leave off before it has done all; and where somebody waits for the one that is missing,
 * that finding tells more. */
static bool weigh(const an *a, an_difference *d, const an_runs *entered) {
    uint64_t newest = entered->count ? entered->list[entered->count - 1].last : 0;
    if (!d->differing || is_told_otherwise(a, d))
        return false;
    bool one_is_missing = d->differing == 1 && d->count < d->promised;
    if (one_is_missing && ((d->right && d->epoch == newest) || an_hang_at(a, d->slot)))
        return false;
    bool unused = !a->slots[d->slot].signals && !a->slots[d->slot].arrivals && !a->slots[d->slot].waits;
    bool shifted = d->right && (d->leading || d->planned == d->counted);
    d->severity = unused || shifted ? XSA_WARNING : XSA_ERROR;
    return true;
}

bool an_differs(an *a, an_difference *d) {
    const an_tally *t = an_tally_of(a, d->slot, d->tallied);
    if (d->tallied == AN_ARRIVALS && !t)
        return false; /* what nobody arrives at, waits tell of */
    if (d->tallied == AN_SIGNALS &&
        (!an_plan_has(a, d->slot, XS_PLAN_SIGNALS) || an_plan_of(a, d->slot, UINT64_MAX).host))
        return false;
    const an_runs *entered = find_supplier(a, d, t) ? an_entered(a, d->rank, d->role) : NULL;
    if (!entered)
        return false;
    compare(a, d, entered, t);
    return weigh(a, d, entered);
}
