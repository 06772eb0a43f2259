/* What is missing from the trace, by ring and time. Gaps of a ring beyond GAPS are joined, which can only make more unknown. */
#include "analysis.h"

#define GAPS 256u

typedef struct gap { int64_t from, to; uint64_t records, first, last; } gap; /* first, last: of the ring's records */
struct an_losses { gap *gaps; uint32_t count, room; };

static int add_gap(struct an_losses *l, gap g) {
    gap *last = l->count ? &l->gaps[l->count - 1] : NULL;
    if (last && l->count == GAPS) {
        last->from = g.from < last->from ? g.from : last->from;
        last->to = g.to > last->to ? g.to : last->to;
        last->records += g.records;
        last->last = g.last;
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
    if (rank < a->model->rank_count) {
        a->ranks[rank].lost += records;
        a->ranks[rank].ends_in_loss |= loss->after == INT64_MAX;
    }
    /* Stamps are read before what they stamp: two records may lie the other way round. */
    bool turned = loss->before > loss->after;
    return add_gap(&a->losses[loss->ring], (gap){turned ? loss->after : loss->before, turned ? loss->before : loss->after, records, loss->first, loss->last});
}

/* What no gap tells of: damaged frames, windows, writers without a ring. They count at all times. */
static uint64_t without_gaps(const an *a, uint32_t rank) {
    uint64_t n = a->model->damaged_frames + a->model->missing_frames + a->model->windowed;
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        if (rank == XSR_NONE || rank == i)
            n += a->model->processes[a->model->ranks[i].process].no_ring + a->model->processes[a->model->ranks[i].process].foreign;
    return n;
}

static bool is_long(const gap *g, int64_t least) { return least == 0 || g->from == NO_TIME || g->to == INT64_MAX || g->to - g->from >= least; }

static uint64_t lost_in(const an *a, uint32_t ring, int64_t from, int64_t to, int64_t least) {
    const struct an_losses *l = a->losses ? &a->losses[ring] : NULL;
    uint64_t n = 0;
    for (uint32_t i = 0; l && i < l->count; i++)
        if (l->gaps[i].from <= to && l->gaps[i].to >= from && is_long(&l->gaps[i], least))
            n += l->gaps[i].records;
    return n;
}

uint64_t an_lost(const an *a, uint32_t rank, int64_t from, int64_t to) {
    uint64_t n = without_gaps(a, rank);
    for (uint32_t i = 0; i < a->model->ring_count; i++)
        if (rank == XSR_NONE || a->model->rings[i].rank == rank)
            n += lost_in(a, i, from, to, 0);
    return n;
}

uint64_t an_lost_by(const an *a, uint32_t writer, int64_t from, int64_t to, int64_t least) {
    if (writer == XSR_NONE)
        return an_lost(a, XSR_NONE, from, to);
    const xsr_writer *w = &a->model->writers[writer];
    return without_gaps(a, w->rank) + lost_in(a, w->ring, from, to, least);
}

bool an_loss_is_counted(const an *a) {
    for (uint32_t i = 0; i < a->model->ring_count; i++)
        if (a->model->rings[i].at_least || a->model->rings[i].tail_unknown)
            return false;
    return without_gaps(a, XSR_NONE) == 0;
}

uint64_t an_lost_beside(const an *a, int64_t from, int64_t to) {
    uint64_t n = without_gaps(a, XSR_NONE);
    for (uint32_t i = 0; a->losses && i < a->model->ring_count; i++) {
        uint32_t rank = a->model->rings[i].rank;
        const struct an_losses *l = &a->losses[i];
        bool silent = l->count == 1 && l->gaps[0].from == NO_TIME && l->gaps[0].to == INT64_MAX;
        if (silent || rank >= a->model->rank_count || a->ranks[rank].crowded)
            n += lost_in(a, i, from, to, 0);
    }
    return n;
}

uint64_t an_lost_records(const an *a, uint32_t writer, uint64_t first, uint64_t last) {
    const xsr_writer *w = &a->model->writers[writer];
    const struct an_losses *l = a->losses ? &a->losses[w->ring] : NULL;
    uint64_t n = without_gaps(a, w->rank);
    for (uint32_t i = 0; l && i < l->count; i++)
        if (l->gaps[i].first <= last && l->gaps[i].last >= first)
            n += l->gaps[i].records;
    return n;
}

bool an_capture_is_whole(const an *a) {
    return an_lost(a, XSR_NONE, INT64_MIN, INT64_MAX) == 0 && !a->model->trimmed && !a->model->triggered;
}

/* So many signals of this slot were kept, and not one reset in its pad: were it reset between two of them, some of those would have been
 * kept too. */
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

bool an_tail_unknown(const an *a, uint32_t rank) { return a->model->processes[a->model->ranks[rank].process].tail_unknown; }

void an_loss_free(an *a) {
    for (uint32_t i = 0; a->losses && i < a->model->ring_count; i++)
        free(a->losses[i].gaps);
    free(a->losses);
}
