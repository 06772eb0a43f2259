/* Rows `rank N waits for`: at each moment the rank that owes the wait that counts, by the rule of
 * ../common/waiting.h. */
#include <stdlib.h>
#include <string.h>

#include "lane.h"
#include "waiting.h"

#define JOIN_NS 2500 /* neighbours of equal rank as close as this are one piece */
#define DROP_NS 1200 /* shorter pieces are not drawn */

typedef struct piece {
    uint32_t owes; /* rank number; valid if waits > 0 */
    uint32_t slot;
    int64_t begin, end;
    uint64_t waits;
} piece;

typedef struct blame_rank {
    uint32_t row, counter; /* tracks */
    piece kept, current;
    bool drawn;
    uint64_t *owed; /* ns, per rank number */
} blame_rank;

struct blame {
    blame_rank *ranks;
    xsv_waiting *waiting;
};

/* ---- pieces ---- */

static int write_piece(drawing *d, uint32_t rank, const piece *p, bool forever) {
    blame_rank *r = &d->blame->ranks[rank];
    args a = {.count = 0};
    arg_text(d, &a, KEY_owed_by, slot_supplier(d, p->slot, p->owes, d->model->slots[p->slot].supplier_role));
    arg_uint(d, &a, KEY_waits, p->waits);
    slice s = {.track = r->row, .begin = p->begin, .end = forever ? INT64_MIN : p->end};
    s.name = p->owes == XSR_NONE ? strings_id(&d->texts, forever ? "rank ? - forever" : "rank ?")
                                 : strings_format(&d->texts, forever ? "rank %u - forever" : "rank %u", p->owes);
    s.category = d->category[CATEGORY_blame];
    s.correlation = correlation_of(d, p->owes);
    s.args = a.list;
    s.arg_count = a.count;
    r->drawn = true;
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

/* A piece is over: it joins the one kept before, replaces it, or is too short to be drawn. */
static int settle(drawing *d, uint32_t rank) {
    blame_rank *r = &d->blame->ranks[rank];
    piece *p = &r->current, *kept = &r->kept;
    if (!p->waits)
        return XS_OK;
    if (kept->waits && kept->owes == p->owes && p->begin - kept->end <= JOIN_NS) {
        kept->end = p->end;
        kept->waits += p->waits;
    } else if (p->end - p->begin >= DROP_NS) {
        if (kept->waits)
            TRY(write_piece(d, rank, kept, false));
        *kept = *p;
    }
    p->waits = 0;
    return XS_OK;
}

static int add_piece(void *drawn_into, const xsv_waited *waited) {
    drawing *d = drawn_into;
    blame_rank *r = &d->blame->ranks[waited->rank];
    uint32_t owes = xsv_slot_owes(&d->suppliers, waited->slot);
    if (owes == d->ranks[waited->rank].number)
        return XS_OK;
    if (owes < d->correlation_count)
        r->owed[owes] += (uint64_t)(waited->end - waited->begin);
    if (r->current.waits && r->current.owes == owes && waited->begin - r->current.end <= JOIN_NS) {
        r->current.end = waited->end;
        r->current.waits++;
        return XS_OK;
    }
    TRY(settle(d, waited->rank));
    r->current = (piece){.owes = owes, .slot = waited->slot, .begin = waited->begin, .end = waited->end, .waits = 1};
    return XS_OK;
}

static int count_open(void *drawn_into, uint32_t rank, uint64_t open, int64_t time) {
    drawing *d = drawn_into;
    event ev = {.type = EVENT_COUNTER, .track = d->blame->ranks[rank].counter, .time = time, .counter = (int64_t)open};
    return draw_event(d, TO_OVERVIEW, &ev);
}

int blame_event(drawing *d, const xsr_event *ev) { return xsv_waiting_event(d->blame->waiting, ev); }

/* ---- rows ---- */

static int rows_new(drawing *d, uint32_t rank) {
    blame_rank *r = &d->blame->ranks[rank];
    track_info row = {.name = rank_text(d, "rank %s waits for", rank), .child_ordering = ORDER_LEXICOGRAPHIC};
    row.description = strings_id(&d->texts, "The rank that owes this rank's oldest open remote wait, at each moment. "
                                            "Coloured by that rank. Pieces under 1.2 us "
                                            "are left out, neighbours within 2.5 us joined.");
    r->row = track_add(d, &row);
    track_info counter = {
        .parent = r->row, .name = strings_id(&d->texts, "open waits"), .unit = strings_id(&d->texts, "waits")};
    r->counter = track_add(d, &counter);
    r->owed = calloc(d->correlation_count + 1, sizeof *r->owed);
    return r->owed && r->counter ? XS_OK : XS_E_MEMORY;
}

int blame_begin(drawing *d) {
    static const xsv_waiting_ops ops = {.piece = add_piece, .moved = count_open};
    d->blame = calloc(1, sizeof *d->blame);
    if (!d->blame)
        return XS_E_MEMORY;
    d->blame->ranks = calloc(d->model->rank_count + 1, sizeof *d->blame->ranks);
    d->blame->waiting = xsv_waiting_make(d->model, &d->suppliers, &ops, d);
    if (!d->blame->ranks || !d->blame->waiting)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < d->model->rank_count; i++)
        TRY(rows_new(d, i));
    return XS_OK;
}

/* A row without a piece says so: an empty one would be put away by the viewer. */
static int draw_nothing(drawing *d, const blame_rank *r) {
    slice s = {
        .track = r->row, .begin = drawing_begin(d), .end = drawing_end(d), .category = d->category[CATEGORY_health]};
    s.name = strings_id(&d->texts, "no remote wait of 1.2 us or longer");
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

static int draw_forever(drawing *d, const xsv_waited *last) {
    piece p = {.owes = xsv_slot_owes(&d->suppliers, last->slot),
               .slot = last->slot,
               .begin = last->begin,
               .end = last->end,
               .waits = 1};
    if (p.owes < d->correlation_count)
        d->blame->ranks[last->rank].owed[p.owes] += (uint64_t)(p.end - p.begin);
    return p.owes == d->ranks[last->rank].number ? XS_OK : write_piece(d, last->rank, &p, true);
}

static int finish_rank(drawing *d, uint32_t rank) {
    blame_rank *r = &d->blame->ranks[rank];
    xsv_waited last;
    bool waits = xsv_waiting_now(d->blame->waiting, rank, &last), forever = waits && d->ranks[rank].drawn_waits_open;
    last.end = drawing_end(d);
    if (waits && !forever && last.end > last.begin)
        TRY(add_piece(d, &last));
    TRY(settle(d, rank));
    if (r->kept.waits)
        TRY(write_piece(d, rank, &r->kept, false));
    if (forever)
        TRY(draw_forever(d, &last));
    if (!r->drawn)
        TRY(draw_nothing(d, r));
    event ev = {.type = EVENT_COUNTER, .track = r->counter, .time = drawing_end(d)};
    ev.counter = (int64_t)d->ranks[rank].drawn_waits_open;
    return draw_event(d, TO_OVERVIEW, &ev);
}

int blame_finish(drawing *d) {
    for (uint32_t i = 0; i < d->model->rank_count; i++)
        TRY(finish_rank(d, i));
    return XS_OK;
}

void blame_worst(const drawing *d, uint32_t *victim, uint32_t *supplier) {
    uint64_t worst = 0;
    *victim = *supplier = XSR_NONE;
    for (uint32_t i = 0; i < d->model->rank_count; i++)
        for (uint32_t n = 0; n < d->correlation_count; n++)
            if (d->blame->ranks[i].owed[n] > worst) {
                worst = d->blame->ranks[i].owed[n];
                *victim = d->ranks[i].number;
                *supplier = n;
            }
}

void blame_free(drawing *d) {
    struct blame *b = d->blame;
    if (!b)
        return;
    for (uint32_t i = 0; b->ranks && i < d->model->rank_count; i++)
        free(b->ranks[i].owed);
    free(b->ranks);
    xsv_waiting_free(b->waiting);
    free(b);
}
