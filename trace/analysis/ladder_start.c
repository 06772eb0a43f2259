/* Ranks, blocks and launches that were not there when their signal was needed: dead, without room, behind another
 * launch, late. */
#include "ladder.h"

static const xsr_process *process_of(const an *a, uint32_t rank) {
    return &a->model->processes[a->model->ranks[rank].process];
}

/* It was gone when the wait had not stood still yet: nobody had a hang to end. And the other outlived it by as long. */
static bool died_first(const an_stuck *s, const xsr_process *p, const xsr_process *waits) {
    return p->end_time != NO_TIME && waits->end_time != NO_TIME && p->end_time < s->w.begin + STANDS_NS &&
           waits->end_time - p->end_time >= STANDS_NS;
}

/* Its process died, and that is why the signal did not come: not where the waiting process is the same, or went the
 * same way. Then somebody ended a run that hung. */
bool ladder_supplier_died(const an *a, const an_stuck *s) {
    const xsr_process *p = process_of(a, s->supplier), *waits = process_of(a, s->w.rank);
    if (p == waits || !p->ended || p->clean || p->exit_status == 0)
        return false;
    return !waits->ended || waits->clean || waits->exit_status != p->exit_status || died_first(s, p, waits);
}

/* What the wait saw was signalled by that writer: it had begun, whatever clocks say. */
static bool was_seen(const an *a, const an_stuck *s, uint32_t writer) {
    const an_touch *last = &a->slots[s->w.slot].signal, *before = &a->slots[s->w.slot].before_signal;
    return (last->writer == writer && last->value <= s->w.observed && last->value) ||
           (before->writer == writer && before->value <= s->w.observed && before->value);
}

/* When the wait stood still, as far as clocks tell. */
bool ladder_had_begun(const an *a, const an_stuck *s, uint32_t writer) {
    const xsr_writer *w = &a->model->writers[writer];
    return w->begin <= an_still(a) ||
           (w->begin <= an_still(a) + an_clock_bound(a, w->rank, s->w.rank) && was_seen(a, s, writer));
}

bool ladder_had_not_begun(const an *a, const an_stuck *s) {
    int64_t first = a->ranks[s->supplier].first_begin;
    uint32_t writer = a->slots[s->w.slot].signal.writer;
    if (writer != XSR_NONE && a->model->writers[writer].rank == s->supplier && was_seen(a, s, writer))
        return false;
    return first == NO_TIME || first > an_still(a);
}

static uint64_t *blocks_begun(const an *a, const an_stuck *s, uint32_t launch, uint32_t grid) {
    uint64_t *bits = calloc(grid / 64 + 1, sizeof *bits);
    for (uint32_t i = 0; bits && i < a->model->writer_count; i++) {
        const xsr_writer *w = &a->model->writers[i];
        if (w->rank == s->supplier && w->launch == launch && w->block < grid && ladder_had_begun(a, s, i))
            bits[w->block / 64] |= 1ull << w->block % 64;
    }
    return bits;
}

/* The newest launch of a rank that had begun; XSR_NONE. */
static uint32_t launch_of(const an *a, uint32_t rank) {
    uint32_t number = a->model->ranks[rank].rank, best = XSR_NONE;
    for (uint32_t i = 0; i < a->model->launch_count; i++) {
        const xsr_launch *l = &a->model->launches[i];
        if (l->process == a->model->ranks[rank].process && number >= l->first_rank &&
            number - l->first_rank < l->ranks && (best == XSR_NONE || l->id > a->model->launches[best].id))
            best = i;
    }
    return best;
}

/* A block of the supplier that never began while all that began there wait. */
bool ladder_lacks_block(const an *a, an_stuck *s) {
    uint32_t launch = launch_of(a, s->supplier), first = 0, count;
    if (launch == XSR_NONE || a->model->processes[a->model->ranks[s->supplier].process].no_ring)
        return false;
    uint32_t grid = a->model->launches[launch].grid, writers = 0;
    count = grid;
    bool told = an_plan_role_blocks(a, s->role, &first, &count);
    for (uint32_t i = 0; i < a->model->writer_count; i++) {
        const xsr_writer *w = &a->model->writers[i];
        if (w->rank != s->supplier || w->launch != launch || !ladder_had_begun(a, s, i))
            continue;
        if (s->role != XSR_NONE && !told && (w->role == s->role || a->writers[i].role == s->role))
            return false; /* blocks of that role are there */
        writers++;
        if (!ladder_ended_by(a, i, an_still(a)) && an_stuck_of_writer(a, i) == XSR_NONE)
            return false;
    }
    uint64_t *bits = grid && writers ? blocks_begun(a, s, launch, grid) : NULL;
    uint32_t missing = XSR_NONE;
    for (uint32_t b = first; bits && b < first + count && b < grid && missing == XSR_NONE; b++)
        if (!(bits[b / 64] >> b % 64 & 1))
            missing = b;
    free(bits);
    s->owes_block = missing;
    return missing != XSR_NONE;
}

/* Somebody of its process ended while the wait stood still and before that writer began, as far as their clocks
 * tell: it had to wait for room. */
static bool had_no_room(const an *a, const an_stuck *s, uint32_t writer) {
    const xsr_writer *w = &a->model->writers[writer];
    for (uint32_t i = 0; i < a->model->writer_count; i++) {
        const xsr_writer *o = &a->model->writers[i];
        if (i != writer && o->process == w->process && o->end != NO_TIME &&
            o->end >= s->w.begin - an_clock_bound(a, o->rank, s->w.rank) &&
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
        if (v && o != s && v->rank == w->rank && v->launch != w->launch && an_stuck_end(a, o) >= s->w.begin &&
            o->w.begin <= an_stuck_end(a, s))
            return i;
    }
    return XSR_NONE;
}

/* Who signalled in the end began only after the wait had given up: behind another launch, for want of room, or late. */
uint8_t ladder_late_starter(an *a, an_stuck *s, uint32_t writer) {
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
        if (a->model->writers[i].rank == rank &&
            (best == XSR_NONE || a->model->writers[i].begin < a->model->writers[best].begin))
            best = i;
    return best;
}

uint8_t ladder_rank_without_start(an *a, an_stuck *s) {
    if (s->supplier == XSR_NONE)
        return AN_WHY_NO_RANK;
    if (ladder_supplier_died(a, s))
        return AN_WHY_DEAD;
    uint32_t first = first_writer_of(a, s->supplier);
    return first == XSR_NONE ? AN_WHY_NO_RANK : ladder_late_starter(a, s, first);
}

static bool began_behind(const an *a, const an_stuck *s, uint32_t writer) {
    if (writer == XSR_NONE)
        return false;
    const xsr_writer *w = &a->model->writers[writer];
    if (w->begin + an_clock_bound(a, w->rank, s->w.rank) >= an_stuck_end(a, s))
        return true;
    for (uint32_t i = 0; i < a->stuck_count && w->begin > s->w.begin;
         i++) { /* bounds end one after the other: any tells that the run stood still */
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
    return before != XSR_NONE && !a->stuck[before].w.open && begin >= an_stuck_end(a, &a->stuck[before]) &&
           begin >= s->w.begin;
}

bool ladder_began_late(const an *a, const an_stuck *s, uint32_t writer) {
    return !(writer != XSR_NONE && was_seen(a, s, writer)) &&
           (began_behind(a, s, writer) || began_behind_another(a, s, writer));
}
