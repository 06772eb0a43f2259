/* What is missing from the trace, by ring and time. Gaps of a ring beyond GAPS are joined, which can only make more
 * unknown. */
#include "analysis.h"

#define GAPS 256u

/* first, last: of the ring's records; kind: of the one event in it, or 0 */
typedef struct gap { int64_t from, to; uint64_t records, first, last; uint8_t kind; } gap;
struct an_losses { gap *gaps; uint32_t count, room; uint64_t records; };

static int add_gap(struct an_losses *l, gap g) {
    gap *last = l->count ? &l->gaps[l->count - 1] : NULL;
    if (last && l->count == GAPS) {
        last->from = g.from < last->from ? g.from : last->from;
        last->to = g.to > last->to ? g.to : last->to;
        last->records += g.records;
        last->last = g.last;
        last->kind = 0;
        return 0;
    }
    if (RD_ROOM(l->gaps, l->room, l->count + 1) < 0)
        return XS_E_MEMORY;
    l->gaps[l->count++] = g;
    return 0;
}

int an_loss_add(an *a, const xsr_loss *loss) {
    uint32_t rank = a->model->rings[loss->ring].rank;
    uint64_t records = loss->last - loss->first + 1;
    a->lost_records += records;
    a->lost_by[loss->cause < XS_LOSS_COUNT ? loss->cause : 0] += records;
    if (!a->losses && !(a->losses = calloc(a->model->ring_count + 1u, sizeof *a->losses)))
        return XS_E_MEMORY;
    a->losses[loss->ring].records += records;
    if (rank < a->model->rank_count) {
        a->ranks[rank].lost += records;
        a->ranks[rank].ends_in_loss |= loss->after == INT64_MAX;
    }
    /* Stamps are read before what they stamp: two records may lie the other way round. */
    bool turned = loss->before > loss->after;
    return add_gap(&a->losses[loss->ring],
                   (gap){turned ? loss->after : loss->before, turned ? loss->before : loss->after, records, loss->first,
                         loss->last, loss->kind});
}

/* What no gap tells of: damaged frames, windows, writers without a ring. They count at all times. */
static uint64_t without_gaps(const an *a, uint32_t rank) {
    uint64_t n = a->model->damaged_frames + a->model->missing_frames + a->model->windowed;
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        if (rank == XSR_NONE || rank == i)
            n += a->model->processes[a->model->ranks[i].process].no_ring +
                 a->model->processes[a->model->ranks[i].process].foreign;
    return n;
}

/* The capture ends before a process does: of what it recorded from known_until on, some is there and some is not. In
 * a run that stood still by then nothing of that could change what is said of it. */
static int64_t
set_aside(const xsr_process *p) { /* ns between a stamp and its store; a thread may lose its turn in between */
    return p->virtual_time ? 0 : p->device < 0 ? 1000000000 : 20000000;
}

static uint64_t tails(const an *a, uint32_t rank, int64_t to) {
    int64_t last = to < a->last_time ? to : a->last_time;
    uint64_t n = 0;
    for (uint32_t i = 0; i < a->model->process_count; i++) {
        const xsr_process *p = &a->model->processes[i];
        n += p->known_until != INT64_MAX && (rank == XSR_NONE || a->model->ranks[rank].process == i) &&
             (p->known_until == NO_TIME || last > p->known_until - set_aside(p));
    }
    return n;
}

/* A gap of the same ring that lies wholly before or behind the events that bound the window, though it shares their
 * times. */
static bool lies_outside(const gap *g, const an_window *w, uint32_t ring) {
    bool own = w->from != INT64_MIN && w->own_ends && g->from < w->from && g->to == w->from;
    bool behind = w->to != INT64_MAX && w->own_ends && g->to > w->to && g->from == w->to;
    return own || behind || (ring == w->from_ring && g->last < w->from_record) ||
           (ring == w->to_ring && g->first > w->to_record);
}

static bool hides(const gap *g, uint64_t kinds) { return !g->kind || !kinds || kinds >> g->kind & 1; }

static bool is_long(const gap *g, int64_t least) {
    return least == 0 || g->from == NO_TIME || g->to == INT64_MAX || g->to - g->from >= least;
}

static uint64_t lost_in(const an *a, uint32_t ring, const an_window *w) {
    const struct an_losses *l = a->losses ? &a->losses[ring] : NULL;
    int64_t clocks = w->own_ends ? 0 : an_clocks_apart(a);
    int64_t from = w->from < INT64_MIN + clocks ? INT64_MIN : w->from - clocks,
            to = w->to > INT64_MAX - clocks ? INT64_MAX : w->to + clocks;
    uint64_t n = 0;
    for (uint32_t i = 0; l && i < l->count; i++) {
        const gap *g = &l->gaps[i];
        if (g->from <= to && g->to >= from && hides(g, w->kinds) && is_long(g, w->least) && !lies_outside(g, w, ring))
            n += g->records;
    }
    return n;
}

static an_window window_of(int64_t from, int64_t to) {
    return (an_window){
        .writer = XSR_NONE, .rank = XSR_NONE, .from = from, .to = to, .from_ring = XSR_NONE, .to_ring = XSR_NONE};
}

uint64_t an_lost(const an *a, uint32_t rank, int64_t from, int64_t to) {
    an_window w = window_of(from, to);
    w.rank = rank;
    return an_lost_in(a, &w);
}

uint64_t an_lost_in(const an *a, const an_window *w) {
    const xsr_writer *writer = w->writer == XSR_NONE ? NULL : &a->model->writers[w->writer];
    if (writer)
        return without_gaps(a, writer->rank) + tails(a, writer->rank, w->to) + lost_in(a, writer->ring, w);
    uint64_t n = without_gaps(a, w->rank) + tails(a, w->rank, w->to);
    for (uint32_t i = 0; i < a->model->ring_count; i++)
        if (w->rank == XSR_NONE || a->model->rings[i].rank == w->rank)
            n += lost_in(a, i, w);
    return n;
}

uint64_t an_lost_by(const an *a, uint32_t writer, int64_t from, int64_t to) {
    an_window w = window_of(from, to);
    w.writer = writer;
    return an_lost_in(a, &w);
}

uint64_t an_lost_so_far(const an *a, uint32_t writer) {
    return a->losses ? a->losses[a->model->writers[writer].ring].records : 0;
}

bool an_loss_is_counted(const an *a) {
    for (uint32_t i = 0; i < a->model->ring_count; i++)
        if (a->model->rings[i].at_least || a->model->rings[i].tail_unknown)
            return false;
    return without_gaps(a, XSR_NONE) + tails(a, XSR_NONE, INT64_MAX) == 0;
}

uint64_t an_lost_beside(const an *a, const an_window *w) {
    uint64_t n = without_gaps(a, XSR_NONE) + tails(a, XSR_NONE, w->to);
    for (uint32_t i = 0; a->losses && i < a->model->ring_count; i++) {
        uint32_t rank = a->model->rings[i].rank;
        const struct an_losses *l = &a->losses[i];
        bool silent = l->count == 1 && l->gaps[0].from == NO_TIME && l->gaps[0].to == INT64_MAX;
        if (silent || rank >= a->model->rank_count || a->ranks[rank].crowded)
            n += lost_in(a, i, w);
    }
    return n;
}

uint64_t an_lost_records(const an *a, uint32_t writer, uint64_t first, uint64_t last, uint64_t kinds) {
    const xsr_writer *w = &a->model->writers[writer];
    const struct an_losses *l = a->losses ? &a->losses[w->ring] : NULL;
    uint64_t n = without_gaps(a, w->rank);
    for (uint32_t i = 0; l && i < l->count; i++)
        if (l->gaps[i].first <= last && l->gaps[i].last >= first && hides(&l->gaps[i], kinds))
            n += l->gaps[i].records;
    return n;
}

bool an_capture_is_whole(const an *a) {
    return an_lost(a, XSR_NONE, INT64_MIN, INT64_MAX) == 0 && !a->model->trimmed && !a->model->triggered;
}

/* So many signals of this slot were kept, and not one reset in its pad: were it reset between two of them, some of
 * those would have been kept too. */
bool an_never_reset(const an *a, uint32_t slot) {
    if (without_gaps(a, XSR_NONE))
        return false;
    double lost = (double)a->lost_records / ((double)a->lost_records + (double)a->events + 1), none = 1;
    for (uint64_t i = 0; i + 1 < a->slots[slot].signals && none > 1e-9; i++)
        none *= lost;
    for (uint32_t i = 0; i < a->slot_count && none <= 1e-9; i++)
        if (a->model->slots[i].pad == a->model->slots[slot].pad && a->slots[i].resets)
            return false;
    return none <= 1e-9;
}

bool an_tail_unknown(const an *a, uint32_t rank) {
    return a->model->processes[a->model->ranks[rank].process].tail_unknown;
}

void an_loss_free(an *a) {
    for (uint32_t i = 0; a->losses && i < a->model->ring_count; i++)
        free(a->losses[i].gaps);
    free(a->losses);
}
