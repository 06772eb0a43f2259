/* What happened, epoch by epoch. Only epochs that writers enter count: 0 is none. */
#include "recount.h"

typedef struct seen { uint64_t epoch; uint32_t role; } seen; /* of a writer, when it was last looked at */

struct an_recount {
    an_tally *tallies[AN_TALLIED]; /* by slot */
    uint32_t room[AN_TALLIED];
    seen *writers;
    uint32_t writer_room;
    /* by (rank, role), with each of them or both left out as well */
    struct entered { an_runs runs, now; uint32_t launch; } *entered;
    uint32_t entered_count, entered_room;
    rd_map entered_of;
    uint64_t *closed; /* by rank, and of all of them */
    rd_map hangs;     /* slot -> an_hang */
};

int an_recount_begin(an *a) {
    a->recount = calloc(1, sizeof *a->recount);
    return a->recount ? 0 : XS_E_MEMORY;
}

/* ---- epochs ---- */

static uint64_t entered_key(uint32_t rank, uint32_t role) { return (uint64_t)rank << 32 | role; }

/* Once a launch: `now` are the epochs that this one entered. */
static int enter(an_recount *r, uint32_t rank, uint32_t role, uint32_t launch, uint64_t epoch) {
    uint64_t key = entered_key(rank, role);
    uint32_t at = rd_map_get(&r->entered_of, key);
    if (at == XSR_NONE) {
        at = r->entered_count;
        if (RD_ROOM(r->entered, r->entered_room, at + 1) < 0 || rd_map_put(&r->entered_of, key, at) < 0)
            return XS_E_MEMORY;
        r->entered[at] = (struct entered){.launch = launch};
        r->entered_count++;
    }
    struct entered *e = &r->entered[at];
    if (e->launch != launch)
        e->now.count = 0, e->now.from = 0;
    e->launch = launch;
    if (an_runs_count(&e->now, epoch))
        return 0;
    TRY(an_runs_add(&e->now, epoch, 1));
    return an_runs_add(&e->runs, epoch, 1);
}

static int look_at_writer(an *a, const xsr_event *e) {
    an_recount *r = a->recount;
    if (e->writer == XSR_NONE)
        return 0;
    TRY(RD_ROWS(r->writers, r->writer_room, e->writer + 1));
    seen *w = &r->writers[e->writer];
    if (e->epoch == 0 || (w->epoch == e->epoch && w->role == e->role))
        return 0;
    *w = (seen){e->epoch, e->role};
    uint32_t launch = a->model->writers[e->writer].launch;
    TRY(enter(r, e->rank, e->role, launch, e->epoch));
    TRY(e->role == XSR_NONE ? 0 : enter(r, e->rank, XSR_NONE, launch, e->epoch));
    return enter(r, XSR_NONE, XSR_NONE, launch, e->epoch);
}

const an_runs *an_entered(const an *a, uint32_t rank, uint32_t role) {
    uint32_t at = rd_map_get(&a->recount->entered_of, entered_key(rank, role));
    return at == XSR_NONE ? NULL : &a->recount->entered[at].runs;
}

/* ---- slots ---- */

static int tally(an *a, uint32_t tallied, const xsr_event *e, uint64_t n) {
    an_recount *r = a->recount;
    TRY(RD_ROWS(r->tallies[tallied], r->room[tallied], e->slot + 1));
    an_tally *t = &r->tallies[tallied][e->slot];
    t->rank = t->any && t->rank != e->rank ? XSR_NONE : e->rank;
    t->role = t->any && t->role != e->role ? XSR_NONE : e->role;
    if (!t->any || t->now.epoch != e->epoch) {
        t->now.epoch = e->epoch;
        t->now.first = e->sequence;
        t->now.count = 0;
        t->now.writer = e->writer;
        t->now.one = true;
    }
    t->now.one &= t->now.writer == e->writer;
    t->now.count += n;
    t->any = true;
    TRY(an_runs_add(&t->runs, e->epoch, n));
    uint64_t count = an_runs_count(&t->runs, e->epoch);
    if (count <= t->most)
        return 0;
    t->most = count;
    t->event = e->id;
    t->writer = e->writer;
    t->first = t->now.first;
    t->last = t->now.one && t->now.count == count ? e->sequence : 0;
    t->most_epoch = e->epoch;
    return 0;
}

/* Signals are counted where a plan speaks of their number: there may be very many slots. */
int an_recount_event(an *a, const xsr_event *e) {
    TRY(look_at_writer(a, e));
    if (e->slot == XSR_NONE || e->epoch == 0)
        return 0;
    if (an_arrives(e->kind))
        return tally(a, AN_ARRIVALS, e, an_weight(e));
    return an_signals(e->kind) && an_plan_has(a, e->slot, XS_PLAN_SIGNALS) ? tally(a, AN_SIGNALS, e, 1) : 0;
}

const an_tally *an_tally_of(const an *a, uint32_t slot, uint32_t tallied) {
    const an_recount *r = a->recount;
    return slot < r->room[tallied] && r->tallies[tallied][slot].any ? &r->tallies[tallied][slot] : NULL;
}

/* ---- what is over ---- */

/* The world was aborted, or a launch failed, and no record need say when. */
static void note_broken(const an *a, bool *broken) {
    const xsr_model *m = a->model;
    for (uint32_t i = 0; i < m->process_count; i++)
        broken[i] = m->processes[i].abort_reason != 0;
    for (uint32_t i = 0; i < m->launch_count; i++)
        broken[m->launches[i].process] |= m->launches[i].result != 0;
}

/* The epoch that a writer may still have been in when the run ended or failed; UINT64_MAX: it had ended. */
static uint64_t epoch_left_open(const an *a, uint32_t writer, bool broken) {
    const an_writer *own = &a->writers[writer];
    if (a->model->writers[writer].end != NO_TIME && own->last_time < a->failed_at && !broken)
        return UINT64_MAX;
    return own->epoch_time < a->failed_at ? own->epoch : 0; /* entered behind a failure: nothing need be as planned */
}

static int note_hangs(an *a) {
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        const an_stuck *s = &a->stuck[i];
        bool of_numbers =
            s->why == AN_WHY_UNKNOWN || s->why == AN_WHY_ENDED || s->why == AN_WHY_MOVED_ON || s->why == AN_WHY_RUNNING;
        if (!s->late)
            TRY(rd_map_put(&a->recount->hangs, s->w.slot,
                           an_hang_at(a, s->w.slot) | AN_HANGS | (of_numbers ? 0 : AN_HANGS_OTHERWISE)));
    }
    return 0;
}

uint32_t an_hang_at(const an *a, uint32_t slot) {
    uint32_t hangs = rd_map_get(&a->recount->hangs, slot);
    return hangs == XSR_NONE ? 0 : hangs;
}

int an_recount_close(an *a) {
    an_recount *r = a->recount;
    uint32_t ranks = a->model->rank_count;
    bool *broken = calloc(a->model->process_count + 1u, sizeof *broken);
    uint64_t *closed = r->closed = calloc(ranks + 1u, sizeof *r->closed);
    if (!broken || !closed) {
        free(broken);
        return XS_E_MEMORY;
    }
    memset(closed, 0xff, (ranks + 1u) * sizeof *closed);
    note_broken(a, broken);
    for (uint32_t i = 0; i < a->writer_count; i++) {
        const xsr_writer *w = &a->model->writers[i];
        uint64_t open = epoch_left_open(a, i, broken[w->process]);
        closed[w->rank] = open < closed[w->rank] ? open : closed[w->rank];
        closed[ranks] = open < closed[ranks] ? open : closed[ranks];
    }
    free(broken);
    return note_hangs(a);
}

uint64_t an_closed_below(const an *a, uint32_t rank) {
    return a->recount->closed[rank == XSR_NONE ? a->model->rank_count : rank];
}

void an_recount_free(an *a) {
    an_recount *r = a->recount;
    if (!r)
        return;
    for (uint32_t k = 0; k < AN_TALLIED; k++) {
        for (uint32_t i = 0; i < r->room[k]; i++)
            free(r->tallies[k][i].runs.list);
        free(r->tallies[k]);
    }
    for (uint32_t i = 0; i < r->entered_count; i++)
        free(r->entered[i].runs.list), free(r->entered[i].now.list);
    free(r->entered);
    free(r->writers);
    free(r->closed);
    rd_map_free(&r->entered_of);
    rd_map_free(&r->hangs);
    free(r);
}
