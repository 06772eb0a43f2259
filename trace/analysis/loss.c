/* What is missing from the trace, by rank and time. Gaps of a rank beyond GAPS are joined, which can only make more unknown. */
#include "analysis.h"

#define GAPS 256u

typedef struct gap { int64_t from, to; uint64_t records; } gap;
struct an_losses { gap *gaps; uint32_t count, room; };

static int add_gap(an *a, uint32_t rank, gap g) {
    struct an_losses *l = &a->losses[rank];
    gap *last = l->count ? &l->gaps[l->count - 1] : NULL;
    if (last && (l->count == GAPS || (g.from <= last->to && g.to >= last->from))) {
        last->from = g.from < last->from ? g.from : last->from;
        last->to = g.to > last->to ? g.to : last->to;
        last->records += g.records;
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
    if (rank >= a->model->rank_count)
        return 0;
    if (!a->losses && !(a->losses = calloc(a->model->rank_count + 1, sizeof *a->losses)))
        return XS_E_MEMORY;
    a->losses_count = a->model->rank_count;
    an_rank *r = &a->ranks[rank];
    r->lost += records;
    r->ends_in_loss |= loss->after == INT64_MAX;
    return add_gap(a, rank, (gap){loss->before, loss->after, records});
}

static uint64_t lost_of(const an *a, uint32_t rank, int64_t from, int64_t to) {
    const xsr_process *p = &a->model->processes[a->model->ranks[rank].process];
    uint64_t n = p->no_ring + p->foreign;
    const struct an_losses *l = a->losses ? &a->losses[rank] : NULL;
    for (uint32_t i = 0; l && i < l->count; i++)
        if (l->gaps[i].from <= to && l->gaps[i].to >= from)
            n += l->gaps[i].records;
    return n;
}

uint64_t an_lost(const an *a, uint32_t rank, int64_t from, int64_t to) {
    uint64_t n = a->model->damaged_frames + a->model->missing_frames + a->model->windowed;
    if (rank != XSR_NONE)
        return n + lost_of(a, rank, from, to) + an_torn(a, rank);
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        n += lost_of(a, i, from, to) + an_torn(a, i);
    return n;
}

/* Kept records of events that are not whole. Where they lie is not told: they count at all times. */
uint64_t an_torn(const an *a, uint32_t rank) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < a->model->ring_count; i++)
        n += a->model->rings[i].rank == rank ? a->model->rings[i].torn : 0;
    return n;
}

bool an_capture_is_whole(const an *a) { return an_lost(a, XSR_NONE, INT64_MIN, INT64_MAX) == 0 && !a->model->trimmed && !a->model->triggered; }

bool an_tail_unknown(const an *a, uint32_t rank) { return a->model->processes[a->model->ranks[rank].process].tail_unknown; }

void an_loss_free(an *a) {
    for (uint32_t i = 0; i < a->losses_count; i++)
        free(a->losses[i].gaps);
    free(a->losses);
}
