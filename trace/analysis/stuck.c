/* Waits that never ended or gave up, and the graph of who waits for whom. */
#include "analysis.h"

#include <xs/backoff.h>

static uint64_t stuck_key(uint32_t writer, uint32_t slot) { return (uint64_t)writer << 32 | slot; }

/* Of a wait whose start is lost: rather too early, since what was lost after it may be what it waited for, and not
 * cut at the run's begin: nothing would be left there that tells such waits apart. Where nothing was slept the polls
 * tell the time that they would have taken with back-off. */
static int64_t begun(const xsr_wait *w) {
    uint64_t took = w->slept_ns || !w->polls
                        ? w->slept_ns
                        : xs_backoff_slept(w->polls < UINT32_MAX ? (uint32_t)w->polls : UINT32_MAX);
    return w->end - (int64_t)took;
}

int an_stuck_add(an *a, const xsr_wait *w) {
    uint64_t key = stuck_key(w->writer, w->slot);
    uint32_t at = rd_map_get(&a->stuck_of, key);
    if (!w->open && w->result != XS_RESULT_OK && w->end < a->failed_at)
        a->failed_at = w->end;
    if (!w->open && w->result == XS_RESULT_ABORTED && w->end < a->aborted_at)
        a->aborted_at = w->end;
    if (at == XSR_NONE) {
        at = a->stuck_count;
        if (RD_ROOM(a->stuck, a->stuck_room, at + 1) < 0 || rd_map_put(&a->stuck_of, key, at) < 0)
            return XS_E_MEMORY;
        a->stuck_count++;
    } else if (!a->stuck[at].late && a->stuck[at].w.result != XS_RESULT_ABORTED) {
        int64_t begin = a->stuck[at].w.begin; /* tried again: the same wait goes on */
        a->stuck[at].w = *w;
        if (w->need <= a->stuck[at].w.need)
            a->stuck[at].w.begin = begin;
        return 0;
    }
    an_stuck *n = &a->stuck[at];
    *n = (an_stuck){.w = *w,
                    .certain = !w->maybe_over,
                    .supplier = XSR_NONE,
                    .supplier_number = XSR_NONE,
                    .role = XSR_NONE,
                    .owes = XSR_NONE,
                    .owes_block = XSR_NONE,
                    .counter = XSR_NONE,
                    .next = XSR_NONE,
                    .root = at};
    if (w->start_lost && !w->open) {
        /* it needed more than it saw, if it waits for more, and began about so much before */
        n->w.need = w->observed + 1;
        n->certain = w->cmp == XS_CMP_GE || w->cmp == XS_CMP_GT; /* else what it needed may have been passed over */
        n->w.begin = begun(w);
    }
    return 0;
}

int an_stuck_settled(an *a, const xsr_wait *w) {
    uint32_t at = a->stuck_count ? rd_map_get(&a->stuck_of, stuck_key(w->writer, w->slot)) : XSR_NONE;
    if (at != XSR_NONE && !a->stuck[at].w.open && a->stuck[at].w.end <= w->end)
        a->stuck[at].late = true;
    return 0;
}

uint32_t an_rank_of(const an *a, uint32_t number) {
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        if (a->model->ranks[i].rank == number)
            return i;
    return XSR_NONE;
}

int64_t an_still(const an *a) { return a->failed_at != INT64_MAX ? a->failed_at : a->last_time; }

/* An open wait ends with the capture, or with its process: what came afterwards nobody there could see. */
int64_t an_stuck_end(const an *a, const an_stuck *s) {
    const xsr_process *p = &a->model->processes[a->model->ranks[s->w.rank].process];
    int64_t end = a->last_time > a->model->end ? a->last_time : a->model->end;
    if (p->ended && p->end_time != NO_TIME && p->end_time < end)
        end = p->end_time;
    return !s->w.open ? s->w.end : end > s->w.begin ? end : s->w.begin;
}

uint32_t an_stuck_of_writer(const an *a, uint32_t writer) {
    uint32_t best = XSR_NONE;
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (a->stuck[i].w.writer == writer && !a->stuck[i].late &&
            (best == XSR_NONE || a->stuck[i].w.begin < a->stuck[best].w.begin))
            best = i;
    return best;
}

bool an_is_counter(const an *a, uint32_t slot) {
    const an_slot *s = &a->slots[slot];
    return s->arrivals > 0 || ((an_pad(a, slot)->flags & XS_PAD_SHARED) && !s->signals);
}

uint32_t an_slot_at(const an *a, uint32_t pad, uint32_t owner, uint32_t row, uint32_t column) {
    for (uint32_t i = 0; i < a->model->slot_count; i++) {
        const xsr_slot *s = &a->model->slots[i];
        if (s->pad == pad && s->owner == owner && s->row == row && s->column == column)
            return i;
    }
    return XSR_NONE;
}

/* What the host does is in no ring. */
uint64_t an_stuck_lost(const an *a, const an_stuck *s) {
    int64_t end = an_stuck_end(a, s);
    uint64_t n = s->certain ? 0 : an_lost(a, s->w.rank, s->w.begin, end);
    return s->why == AN_WHY_HOST ? n : n + an_lost(a, s->supplier, INT64_MIN, end);
}

const char *an_stuck_words(an *a, const an_stuck *s) {
    const xsr_wait *w = &s->w;
    const char *how = w->open ? "waits" : w->result == XS_RESULT_TIMEOUT     ? "gave up waiting"
                                      : w->result == XS_RESULT_PEER_DEAD ? "gave up on a dead peer, waiting"
                                                                         : "waited until the world was aborted";
    return an_print(a, "%s %s for %s (has %llu, needs %llu) since %s%s", an_who(a, w->rank, w->writer), how,
                    an_slot_name(a, w->slot), (unsigned long long)w->observed, (unsigned long long)w->need,
                    an_since(a, w->begin), an_site(a, w->writer, w->source));
}

static int64_t end_of_writer(const an *a, uint32_t writer) {
    int64_t end = a->model->writers[writer].end;
    return end == NO_TIME ? INT64_MAX : end;
}

/* Who owes it is the writer that signalled the slot before. Else it was chosen among those of its rank by what each
 * of them did. */
static bool is_known(const an *a, const an_stuck *s) {
    return s->owes != XSR_NONE && s->counter == XSR_NONE && a->slots[s->w.slot].signal.writer == s->owes;
}

/* What holds it up is a wait that is told in full: nothing is missing between its begin and its end, nor between the
 * last signal and it, where the value might have fallen. */
static bool is_held_by(const an *a, const an_stuck *s) {
    const an_stuck *next = s->why == AN_WHY_WAITS && s->next != XSR_NONE ? &a->stuck[s->next] : NULL;
    /* none that no gap tells of */
    return next && next->certain && !next->w.start_lost && an_lost_records(a, next->w.writer, 1, 0, 0) == 0;
}

static bool is_held(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    return is_held_by(a, s) && x->signal.value >= x->max_value &&
           an_lost_by(a, a->stuck[s->next].w.writer, x->signal.time, a->stuck[s->next].w.begin) == 0;
}

/* Its writer entered the epoch of the wait there: it cannot have waited before, also where the record of its start
 * is lost. NO_TIME: not known. */
static int64_t entered_at(const an *a, const an_stuck *s) {
    const an_writer *w = s->w.epoch && s->w.writer != XSR_NONE ? &a->writers[s->w.writer] : NULL;
    return w && w->epoch == s->w.epoch ? w->epoch_time : NO_TIME;
}

/* Its round is told by the record that entered it. */
static void whole_epoch(an *a, const an_stuck *s) {
    if (!s->w.epoch || s->w.writer == XSR_NONE)
        return;
    int64_t entered = entered_at(a, s), by = s->w.start_lost ? s->w.end : s->w.begin; /* the begin is guessed there */
    bool known = entered != NO_TIME && entered <= by;
    an_whole_own(a, s->w.writer, known ? entered : INT64_MIN, by);
    an_only_by(a, AN_ENTERS);
    if (known)
        an_only_between(a, s->w.writer, a->writers[s->w.writer].epoch_record, XSR_NONE, 0);
}

/* A gate's arrivals say in full what they found, so that the last one tells the count, and a writer's last one
 * whether it is missing. What the waiter saw in the end tells that nobody had arrived until then. */
static void whole_gate(an *a, const an_stuck *s, const an_slot *c) {
    const an_arriver *own = NULL;
    bool seen = !s->w.open && !s->w.end_lost && s->counter == s->w.slot && s->w.observed == c->post &&
                s->w.end > c->arrival.time;
    for (uint32_t i = 0; i < c->arriver_count; i++)
        own = c->arrivers[i].writer == s->owes ? &c->arrivers[i] : own;
    an_whole(a, XSR_NONE, seen ? s->w.end : c->arrival.time, INT64_MAX);
    an_only_by(a, AN_MOVES);
    if (!seen)
        an_only_between(a, c->arrival.writer, c->arrival.record, XSR_NONE, 0);
    if (s->owes == XSR_NONE)
        return;
    an_whole(a, s->owes, own ? own->time : INT64_MIN, INT64_MAX);
    an_only_by(a, AN_MOVES | AN_ENTERS);
    if (own)
        an_only_between(a, s->owes, own->record, XSR_NONE, 0);
}

/* Its last arrival says itself that it made the round complete, and those that win here are known to signal
 * themselves: only what the elected one did from there on could tell otherwise. */
static bool is_elected(const an *a, const an_stuck *s, const an_slot *c) {
    return s->why == AN_WHY_ELECTED && a->slots[s->w.slot].counter == s->counter && c->arrival.writer == s->owes &&
           s->owes != XSR_NONE && c->target && c->old + c->weight == c->target && !a->ranks[s->supplier].crowded;
}

/* Arrivals of an election count from the base of their round. */
static void whole_count(an *a, const an_stuck *s, int64_t before) {
    const an_slot *c = s->counter == XSR_NONE ? NULL : &a->slots[s->counter];
    if (c && c->arrival.kind == XS_EV_GATE_ARRIVE) {
        whole_gate(a, s, c);
    } else if (c && is_elected(a, s, c)) {
        an_whole(a, s->owes, c->arrival.time, INT64_MAX);
        an_only_by(a, AN_MOVES);
        an_only_between(a, s->owes, c->arrival.record, XSR_NONE, 0);
    } else {
        an_whole_rank(a, s->supplier, before, INT64_MAX);
        an_only_by(a, AN_MOVES | AN_ENTERS);
    }
}

/* Where records would have to be lost for another story to be true. */
void an_whole_stuck(an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    int64_t begin = s->w.start_lost ? entered_at(a, s) : s->w.begin,
            before = x->signal.time < begin ? x->signal.time : begin, still = an_still(a);
    bool handed = (an_pad(a, s->w.slot)->flags & XS_PAD_SHARED) && x->signals && !x->arrivals;
    if (handed) { /* somebody else may have entered, or handed on */
        an_whole(a, XSR_NONE, x->signal.time, still);
        an_only_by(a, AN_MOVES | AN_KIND(PASS) | AN_KIND(WAIT_END));
    }
    if (s->why == AN_WHY_MOVED_ON || s->why == AN_WHY_ELECTED || s->why == AN_WHY_COUNT)
        whole_epoch(a, s);
    if (s->supplier != XSR_NONE && s->why != AN_WHY_HOST && a->ranks[s->supplier].unnamed != NO_TIME) {
        /* behind a gap nobody knows whose records are whose */
        an_whole_rank(a, s->supplier, INT64_MIN, INT64_MAX);
        return;
    }
    switch (s->why) {
    case AN_WHY_UNKNOWN: /* what it saw in the end shows that nobody had signalled it by then */
        an_whole(a, XSR_NONE, s->w.observed || x->resets || s->w.start_lost ? INT64_MIN : an_stuck_end(a, s),
                 INT64_MAX);
        an_only_by(a, AN_MOVES);
        return;
    case AN_WHY_ENDED:
    case AN_WHY_MOVED_ON:
    case AN_WHY_SILENT:
    case AN_WHY_RUNNING:
    case AN_WHY_WAITS:
        if (s->counter != XSR_NONE && s->counted && is_held_by(a, s))
            return;
        else if (s->counter != XSR_NONE) /* whoever arrives */
            an_whole(a, XSR_NONE, before, still);
        else if (is_known(a, s) && is_held(a, s))
            return;
        else if (is_known(a, s))
            /* not its signal, which would have been seen, unless values fall: that it stood still itself, for about as
             * long; from a begin that is guessed nothing is told */
            an_whole_long(a, s->owes, before, end_of_writer(a, s->owes),
                          x->signal.value < x->max_value || s->w.start_lost ? 0
                                                                            : (an_stuck_end(a, s) - s->w.begin) / 4);
        else if (s->supplier != XSR_NONE)
            an_whole_rank(a, s->supplier, before, still);
        if (s->why == AN_WHY_RUNNING && s->supplier != XSR_NONE) /* it may have begun only then, for want of room */
            an_whole_rank(a, s->supplier, before, still);
        return;
    case AN_WHY_SIGNALLED: /* what was written over it */
        an_whole(a, XSR_NONE, x->before_signal.time < x->signal.time ? x->before_signal.time : x->signal.time,
                 an_stuck_end(a, s));
        return;
    case AN_WHY_ELECTED:
    case AN_WHY_COUNT: whole_count(a, s, before); return;
    case AN_WHY_NO_RANK:
        if (s->supplier != XSR_NONE)
            an_whole_rank(a, s->supplier, INT64_MIN, still);
        return;
    case AN_WHY_NO_BLOCK: an_whole_rank(a, s->supplier, begin, still); return;
    default: return;
    }
}

xsa_finding an_stuck_like(an *a, const an_stuck *s, uint32_t detector, uint32_t severity) {
    an_windows_clear(a);
    an_whole_stuck(a, s);
    xsa_finding f = an_like(detector, severity, XSA_HIGH);
    f.lost = an_stuck_lost(a, s);
    f.confidence = an_confidence(s->origin, f.lost);
    f.slot = s->w.slot;
    an_victim(a, &f, s->w.rank, s->w.writer);
    an_culprit(a, &f, s->supplier, s->owes);
    if (s->supplier == XSR_NONE)
        f.owes_rank = s->supplier_number;
    if (s->owes == XSR_NONE)
        f.owes_block = s->owes_block;
    f.begin = s->w.begin;
    f.end = s->w.open ? NO_TIME : s->w.end;
    an_source(a, &f, s->w.source);
    return f;
}

/* ---- circles: every wait has at most one that holds it up ---- */

static void number_cycles(an *a) {
    uint32_t cycles = 0, n = a->stuck_count;
    for (uint32_t start = 0; start < n; start++) {
        if (a->stuck[start].cycle)
            continue;
        uint32_t slow = start, fast = start;
        do { /* Floyd: two that walk at different speeds meet on a circle */
            slow = a->stuck[slow].next;
            fast = a->stuck[fast].next;
            fast = fast == XSR_NONE ? fast : a->stuck[fast].next;
        } while (fast != XSR_NONE && slow != fast);
        if (fast == XSR_NONE || a->stuck[fast].cycle)
            continue;
        cycles++;
        for (uint32_t at = fast; !a->stuck[at].cycle; at = a->stuck[at].next)
            a->stuck[at].cycle = cycles;
    }
}

static void find_roots(an *a) {
    for (uint32_t i = 0; i < a->stuck_count; i++) {
        uint32_t at = i;
        for (uint32_t steps = 0; steps <= a->stuck_count && a->stuck[at].next != XSR_NONE && !a->stuck[at].cycle;
             steps++)
            at = a->stuck[at].next;
        a->stuck[i].root = at;
    }
}

static int by_begin(const void *left, const void *right) {
    const an_stuck *x = left, *y = right;
    if (x->w.begin != y->w.begin)
        return x->w.begin < y->w.begin ? -1 : 1;
    return (x->w.id > y->w.id) - (x->w.id < y->w.id);
}

/* Those do not hang. */
static void drop_broken_off(an *a) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (!an_broken_off(a, &a->stuck[i]))
            a->stuck[left++] = a->stuck[i];
    a->stuck_count = left;
}

int an_stuck_graph(an *a) {
    drop_broken_off(a);
    if (a->stuck_count) /* who began first speaks for those of the same cause; stuck_of is not asked from here on */
        qsort(a->stuck, a->stuck_count, sizeof *a->stuck, by_begin);
    for (uint32_t i = 0; i < a->stuck_count; i++)
        if (!a->stuck[i].late)
            an_ladder(a, &a->stuck[i]);
    number_cycles(a);
    find_roots(a);
    return 0;
}
