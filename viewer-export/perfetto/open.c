/* Waits that never ended. Each is drawn open to the end, and points to what its supplier does instead of signalling:
 * its own oldest open wait, else its last arrival at the counter whose election would signal. */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

#define EDGE_IDS (1ull << 62) /* apart from event ids */

typedef struct edges {
    uint64_t *starts, *ends;
    uint32_t start_count, end_count;
} edges;

typedef struct picture {
    drawing *d;
    edges *of_wait; /* per open wait, by index in d->open */
    int64_t *begin; /* as drawn */
    uint32_t *row;  /* track */
    uint64_t next_id;
} picture;

static int add_id(uint64_t **ids, uint32_t *count, uint64_t id) {
    if ((*count & (*count - 1)) == 0) { /* room doubles at powers of two */
        uint64_t *more = realloc(*ids, (*count ? *count * 2u : 1u) * sizeof *more);
        if (!more)
            return XS_E_MEMORY;
        *ids = more;
    }
    (*ids)[(*count)++] = id;
    return XS_OK;
}

static int by_begin(const void *a, const void *b) {
    const xsr_wait *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Index in ranks and role of whoever should signal the slot; false if nobody is known. */
static bool supplier_of(drawing *d, const xsr_wait *w, uint32_t *rank, uint32_t *role) {
    uint32_t owes = wait_owes(d, w);
    *role = xsv_slot_role(&d->suppliers, w->slot);
    for (*rank = 0; *rank < d->model->rank_count; (*rank)++)
        if (d->ranks[*rank].number == owes)
            return true;
    return false;
}

static uint32_t oldest_wait_of(const drawing *d, uint32_t rank, uint32_t role, uint32_t except) {
    for (uint32_t i = 0; i < d->open_count; i++)
        if (i != except && d->open[i].rank == rank &&
            (role == XSR_NONE || d->model->writers[d->open[i].writer].role == role))
            return i;
    return XSR_NONE;
}

/* Where a chain of open waits ends: its supplier waits for nobody. In a circle, somewhere on it. */
const xsr_wait *open_root(drawing *d) {
    uint32_t at = 0, rank, role;
    for (uint32_t steps = 0; steps < d->open_count; steps++) {
        if (!supplier_of(d, &d->open[at], &rank, &role))
            break;
        uint32_t next = oldest_wait_of(d, rank, role, at);
        if (next == XSR_NONE)
            break;
        at = next;
    }
    return d->open_count ? &d->open[at] : NULL;
}

/* From whichever starts first: the other order would be dropped by the reader. */
static int join_waits(picture *p, uint32_t a, uint32_t b) {
    uint64_t id = EDGE_IDS + p->next_id++;
    uint32_t first = p->begin[a] <= p->begin[b] ? a : b, second = first == a ? b : a;
    if (p->begin[a] == p->begin[b] && second < first) { /* drawn in order of index: the file decides at equal times */
        uint32_t swap = first;
        first = second;
        second = swap;
    }
    TRY(add_id(&p->of_wait[first].starts, &p->of_wait[first].start_count, id));
    return add_id(&p->of_wait[second].ends, &p->of_wait[second].end_count, id);
}

static int join_arrival(picture *p, uint32_t wait, uint32_t counter, edges *of_arrival) {
    uint64_t id = EDGE_IDS + p->next_id++;
    edges *w = &p->of_wait[wait];
    if (p->d->slots[counter].last.time < p->begin[wait]) {
        TRY(add_id(&of_arrival->starts, &of_arrival->start_count, id));
        return add_id(&w->ends, &w->end_count, id);
    }
    TRY(add_id(&w->starts, &w->start_count, id));
    return add_id(&of_arrival->ends, &of_arrival->end_count, id);
}

static int join(picture *p, uint32_t wait, edges *of_arrival) {
    drawing *d = p->d;
    const xsr_wait *w = &d->open[wait];
    uint32_t rank, role;
    if (!supplier_of(d, w, &rank, &role))
        return XS_OK;
    uint32_t other = oldest_wait_of(d, rank, role, wait);
    if (other != XSR_NONE)
        return join_waits(p, wait, other);
    uint32_t counter = is_counter(d, w->slot) ? w->slot : d->slots[w->slot].elects_by;
    if (counter == XSR_NONE || !d->slots[counter].last.id || d->split)
        return XS_OK; /* in a split trace the arrival may lie in a window before the last */
    return join_arrival(p, wait, counter, &of_arrival[counter]);
}

/* Rows: the first open wait of a writer follows what it did; its further ones get rows of their own. */
static int place(picture *p, uint32_t index) {
    drawing *d = p->d;
    const xsr_wait *w = &d->open[index];
    lane *l = lane_of_writer(d, w->writer);
    if (!l || !slot_of(d, w->slot))
        return XS_E_MEMORY;
    bool first = !l->open_drawn;
    p->row[index] = lane_open_row(d, l);
    p->begin[index] = w->begin;
    if (first) {
        p->begin[index] = w->begin > l->cursor ? w->begin : l->cursor;
        TRY(lane_cut_work(d, l, p->begin[index]));
    }
    d->ranks[w->rank].drawn_waits_open++;
    return XS_OK;
}

static void open_args(drawing *d, const lane *l, const xsr_wait *w, args *a) {
    uint32_t rank, role;
    bool known = supplier_of(d, w, &rank, &role);
    arg_text(d, a, KEY_supplier, slot_supplier(d, w->slot, known ? d->ranks[rank].number : XSR_NONE, role));
    arg_uint(d, a, KEY_need, w->need);
    arg_uint(d, a, KEY_observed, w->observed);
    arg_chars(d, a, KEY_result, "OPEN");
    arg_uint(d, a, KEY_polls, w->polls);
    arg_uint(d, a, KEY_slept_ns, w->slept_ns);
    arg_text(d, a, KEY_slot, slot_label(d, w->slot));
    arg_uint(d, a, KEY_slot_id, w->slot);
    arg_text(d, a, KEY_writer, l->writer_text);
    arg_uint(d, a, KEY_epoch, w->epoch);
    if (w->last_fail != INT64_MIN)
        arg_int(d, a, KEY_last_poll_ts_ns, w->last_fail);
}

static int draw_one(picture *p, uint32_t index) {
    drawing *d = p->d;
    const xsr_wait *w = &d->open[index];
    const edges *e = &p->of_wait[index];
    flow_lists flows = {e->starts, e->ends, e->start_count, e->end_count, NULL};
    TRY(evidence_join(d, w->id, p->begin[index], true, &flows));
    char text[1024];
    args a = {.count = 0};
    open_args(d, lane_of_writer(d, w->writer), w, &a);
    snprintf(text, sizeof text, "%.900s %s: has %llu, needs %llu", d->model->slots[w->slot].name,
             w->maybe_over ? "end not known, records are lost" : "never released", (unsigned long long)w->observed,
             (unsigned long long)w->need);
    slice s = {.track = p->row[index], .begin = p->begin[index], .end = INT64_MIN, .text = text};
    s.category = d->category[CATEGORY_wait];
    s.correlation = correlation_of(d, wait_owes(d, w));
    s.args = a.list;
    s.arg_count = a.count;
    s.flows = flows.starts;
    s.flow_count = flows.start_count;
    s.begin_flow_ends = flows.ends;
    s.begin_flow_end_count = flows.end_count;
    d->summary.open_waits++;
    int rc = draw_slice(d, SPAN | TO_OVERVIEW, &s);
    free(flows.own);
    return rc;
}

static int draw_counters(drawing *d, const edges *of_arrival) {
    for (uint32_t i = 0; i < d->slot_room; i++)
        if (d->slots[i].last.id && i < d->model->slot_count)
            TRY(draw_arrival(d, i, &d->slots[i].last, of_arrival[i].starts, of_arrival[i].start_count,
                             of_arrival[i].ends, of_arrival[i].end_count));
    return XS_OK;
}

static int draw_all(picture *p, edges *of_arrival) {
    drawing *d = p->d;
    for (uint32_t i = 0; i < d->open_count; i++)
        TRY(place(p, i));
    for (uint32_t i = 0; i < d->open_count; i++)
        TRY(join(p, i, of_arrival));
    for (uint32_t i = 0; i < d->open_count; i++)
        TRY(draw_one(p, i));
    return draw_counters(d, of_arrival);
}

static void edges_free(edges *list, uint32_t count) {
    for (uint32_t i = 0; list && i < count; i++) {
        free(list[i].starts);
        free(list[i].ends);
    }
    free(list);
}

int draw_open_waits(drawing *d) {
    if (d->open_count)
        qsort(d->open, d->open_count, sizeof *d->open, by_begin);
    if (d->model->slot_count && !slot_of(d, d->model->slot_count - 1))
        return XS_E_MEMORY;
    picture p = {.d = d};
    uint32_t n = d->open_count + 1, slots = d->slot_room + 1;
    p.of_wait = calloc(n, sizeof *p.of_wait);
    p.begin = calloc(n, sizeof *p.begin);
    p.row = calloc(n, sizeof *p.row);
    edges *of_arrival = calloc(slots, sizeof *of_arrival);
    int rc = p.of_wait && p.begin && p.row && of_arrival ? draw_all(&p, of_arrival) : XS_E_MEMORY;
    edges_free(p.of_wait, n);
    edges_free(of_arrival, slots);
    free(p.begin);
    free(p.row);
    return rc;
}
