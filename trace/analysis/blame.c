/* Where the walk begins, and what is said of the path. */
#include "blame.h"

int an_blame_begin(an *a) {
    an_blame *b = a->blame = calloc(1, sizeof *b);
    if (!b)
        return XS_E_MEMORY;
    b->first = b->next = 1;
    b->newest = b->first_rank = b->settled_on = XSR_NONE;
    b->settled = NO_TIME;
    b->ranks = calloc(a->model->rank_count + 1u, sizeof *b->ranks);
    if (!b->ranks)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        b->ranks[i].first = NO_TIME;
    return 0;
}

static blame_end newest(const an *a) {
    return (blame_end){a->blame->newest, a->blame->writers[a->blame->newest].last, a->last_time};
}

int blame_halve(an *a) {
    an_blame *b = a->blame;
    uint64_t half = b->first + (b->next - b->first) / 2;
    b->settled = b->settled == NO_TIME ? a->first_time : b->settled;
    TRY(blame_walk(a, newest(a)));
    TRY(blame_slack(a, half, a->last_time, false));
    TRY(blame_settle(a, blame_at(b, half)->time));
    b->first = half;
    return 0;
}

/* ---- a run that ended in waits that did not ---- */

static const an_stuck *hanging(const an *a) {
    for (uint32_t i = 0; i < a->stuck_count; i++) /* the oldest first */
        if (a->stuck[i].w.open && a->stuck[i].certain && !a->stuck[i].late) {
            const an_stuck *root = &a->stuck[a->stuck[i].root];
            return root->w.open ? root : &a->stuck[i];
        }
    return NULL;
}

static int64_t end_of(const an *a, bool hangs) {
    for (uint32_t i = 0; i < a->model->process_count; i++)
        if (a->model->processes[i].virtual_time) /* the capture's end is of another clock */
            return a->last_time;
    return hangs && a->model->end > a->last_time ? a->model->end : a->last_time;
}

/* From when on nothing but the root's signal was missing: its supplier had done its last, and the root waited. */
static int walk_from_root(an *a, const an_stuck *s) {
    an_blame *b = a->blame;
    bool by_owner = s->owes != XSR_NONE && a->writers[s->owes].last_time > s->w.begin;
    int64_t since = by_owner ? a->writers[s->owes].last_time : s->w.begin;
    since = since > b->settled ? since : b->settled;
    blame_end from = {by_owner ? s->owes : s->w.writer, 0, since};
    xsa_span p = {.begin = since,
                  .end = b->result.end,
                  .epoch = s->w.epoch,
                  .part = XSA_PART_OWED,
                  .rank = an_number(a, s->w.rank),
                  .owes_rank = s->supplier_number,
                  .slot = s->w.slot,
                  .writer = s->w.writer,
                  .pieces = 1};
    TRY(blame_piece(b, &p));
    if (from.writer == XSR_NONE)
        return 0;
    from.number = b->writers[from.writer].last;
    return blame_walk(a, from);
}

static int walk_all(an *a) {
    an_blame *b = a->blame;
    const an_stuck *s = hanging(a);
    if (b->newest == XSR_NONE)
        return 0;
    b->settled = b->settled == NO_TIME ? a->first_time : b->settled;
    b->result.begin = a->first_time;
    b->result.end = end_of(a, s != NULL);
    b->result.hang = s != NULL;
    TRY(s ? walk_from_root(a, s) : blame_walk(a, newest(a)));
    if (!s)
        TRY(blame_slack(a, b->next, b->result.end, true));
    return blame_settle(a, b->result.end);
}

static int by_ns(const void *left, const void *right) {
    const xsa_blamed *x = left, *y = right;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->slot != y->slot ? (x->slot > y->slot) - (x->slot < y->slot) : (x->rank > y->rank) - (x->rank < y->rank);
}

static int list_ranks(an *a, bool whole) {
    an_blame *b = a->blame;
    b->listed_ranks = calloc(a->model->rank_count + 1u, sizeof *b->listed_ranks);
    if (!b->listed_ranks)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < a->model->rank_count; i++)
        b->listed_ranks[i].rank = an_number(a, i);
    for (uint32_t i = 0; i < b->sum_count; i++) {
        uint32_t rank = an_rank_of(a, b->sums[i].owes_rank);
        if (rank != XSR_NONE)
            b->listed_ranks[rank].ns[b->sums[i].part] += b->sums[i].ns;
    }
    return whole ? blame_slow(a, b->listed_ranks) : 0;
}

int an_blame_finish(an *a) {
    an_blame *b = a->blame;
    TRY(blame_room(a));
    TRY(walk_all(a));
    bool whole = an_capture_is_whole(a) && !b->result.hang;
    if (b->sum_count)
        qsort(b->sums, b->sum_count, sizeof *b->sums, by_ns);
    TRY(blame_slots(a, whole));
    TRY(list_ranks(a, whole));
    xsa_blame *r = &b->result;
    r->spans = b->spans, r->span_count = b->span_count;
    r->sums = b->sums, r->sum_count = b->sum_count;
    r->slots = b->listed, r->slot_count = b->listed_count;
    r->ranks = b->listed_ranks, r->rank_count = a->model->rank_count;
    r->cuts = b->cuts;
    r->joined_ns = b->least;
    a->result.blame = r;
    free(b->entries);
    b->entries = NULL;
    return 0;
}

void an_blame_free(an *a) {
    an_blame *b = a->blame;
    if (!b)
        return;
    rd_map_free(&b->sum_of);
    an_classes_free(&b->busy_of);
    an_classes_free(&b->block_of);
    void *const all[] = {b->entries, b->writers, b->slots,        b->ranks, b->pieces,    b->items, b->sums,
                         b->spans,   b->listed,  b->listed_ranks, b->busy,  b->newest_of, b};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}
