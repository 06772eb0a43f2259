/* Pieces of the path that will not change: sums, which are exact, and spans, of which the short ones are joined
 * where they are many. */
#include "blame.h"

static int count_piece(an_blame *b, const xsa_span *p) {
    uint64_t key = an_key(p->part, (uint64_t)p->rank << 32 | p->owes_rank, p->slot, p->why);
    uint32_t at = rd_map_get(&b->sum_of, key);
    b->result.ns[p->part] += p->end - p->begin;
    if (at != XSR_NONE) {
        b->sums[at].ns += p->end - p->begin;
        return 0;
    }
    if (RD_ROOM(b->sums, b->sum_room, b->sum_count + 1) < 0 || rd_map_put(&b->sum_of, key, b->sum_count) < 0)
        return XS_E_MEMORY;
    b->sums[b->sum_count++] = (xsa_blamed){p->part, p->why, p->rank, p->owes_rank, p->slot, p->end - p->begin};
    return 0;
}

static bool goes_on(const xsa_span *x, const xsa_span *y) {
    return x->end == y->begin && x->part == y->part && x->why == y->why && x->rank == y->rank &&
           x->owes_rank == y->owes_rank && x->slot == y->slot && x->writer == y->writer && x->epoch == y->epoch;
}

/* Neighbours are joined until they are long enough; of them the longest tells what it was. */
static void join_short(an_blame *b) {
    uint32_t count = 0;
    int64_t longest = 0;
    for (uint32_t i = 0; i < b->span_count; i++) {
        xsa_span s = b->spans[i], *last = count ? &b->spans[count - 1] : NULL;
        int64_t length = s.end - s.begin;
        if (!last || last->end - last->begin >= b->least || length >= b->least || last->end != s.begin) {
            b->spans[count++] = s;
            longest = length;
            continue;
        }
        s.begin = last->begin;
        s.pieces += last->pieces;
        if (length <= longest) { /* what the last one is stays */
            last->end = s.end;
            last->pieces = s.pieces;
        } else {
            *last = s;
            longest = length;
        }
    }
    b->span_count = count;
}

static int keep_span(an *a, const xsa_span *p) {
    an_blame *b = a->blame;
    if (b->span_count && goes_on(&b->spans[b->span_count - 1], p)) {
        b->spans[b->span_count - 1].end = p->end;
        return 0;
    }
    if (b->span_count == BLAME_SPANS) {
        int64_t length = p->end - b->spans[0].begin, enough = 4 * (length / BLAME_SPANS + 1);
        b->least = enough > b->least ? enough : b->least * 2;
        join_short(b);
    }
    if (RD_ROOM(b->spans, b->span_room, b->span_count + 1) < 0)
        return XS_E_MEMORY;
    b->spans[b->span_count++] = *p;
    return 0;
}

/* The path was counted up to a moment on another writer than the one that the rest of it comes from. */
static void look_for_cut(an_blame *b, const xsa_span *oldest) {
    if (b->settled_on != XSR_NONE && oldest->begin <= b->settled && oldest->writer != b->settled_on)
        b->cuts++;
}

int blame_settle(an *a, int64_t to) {
    an_blame *b = a->blame;
    if (b->piece_count)
        look_for_cut(b, &b->pieces[b->piece_count - 1]);
    for (uint32_t i = b->piece_count; i-- > 0;) {
        xsa_span p = b->pieces[i];
        b->settled_on = p.writer; /* at last of the one behind `to` */
        if (p.begin < to) {
            p.end = p.end < to ? p.end : to;
            TRY(count_piece(b, &p));
            TRY(keep_span(a, &p));
        }
        if (b->pieces[i].end > to)
            break;
    }
    b->settled = to;
    b->piece_count = 0;
    return 0;
}

/* ---- by slot ---- */

static xsa_slot_blame *slot_row(an_blame *b, uint32_t *row_of, uint32_t slot) {
    if (row_of[slot] == 0) {
        b->listed[b->listed_count] = (xsa_slot_blame){.slot = slot, .owes_rank = XSR_NONE, .slack_ns = -1};
        row_of[slot] = ++b->listed_count;
    }
    return &b->listed[row_of[slot] - 1];
}

static int by_time(const void *left, const void *right) {
    const xsa_slot_blame *x = left, *y = right;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    if (x->slack_ns != y->slack_ns)
        return (uint64_t)x->slack_ns < (uint64_t)y->slack_ns ? -1 : 1; /* not known: last */
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool is_lag(const xsa_blamed *s) {
    return s->part == XSA_PART_LINK || s->part == XSA_PART_LAG ||
           (s->part == XSA_PART_UNKNOWN && s->why == XSA_BLAME_CLOCK);
}

static void fill_slots(an *a, uint32_t *row_of, int64_t *most) {
    an_blame *b = a->blame;
    for (uint32_t i = 0; i < b->sum_count; i++) {
        const xsa_blamed *s = &b->sums[i];
        if (s->slot == XSR_NONE)
            continue;
        xsa_slot_blame *row = slot_row(b, row_of, s->slot);
        row->ns += s->ns;
        row->lag_ns += is_lag(s) ? s->ns : 0;
        if (s->part != XSA_PART_LAG && s->ns > most[s->slot]) { /* lag is the waiter's own */
            most[s->slot] = s->ns;
            row->owes_rank = s->owes_rank;
        }
    }
}

/* Slots on the path, and those that somebody waited for. */
int blame_slots(an *a, bool whole) {
    an_blame *b = a->blame;
    uint32_t *row_of = calloc(a->slot_count + 1u, sizeof *row_of);
    int64_t *most = calloc(a->slot_count + 1u, sizeof *most);
    b->listed = calloc(a->slot_count + 1u, sizeof *b->listed);
    if (!row_of || !most || !b->listed) {
        free(row_of);
        free(most);
        return XS_E_MEMORY;
    }
    fill_slots(a, row_of, most);
    for (uint32_t i = 0; i < a->slot_count && i < b->slot_room; i++) {
        if (b->slots[i].slack == NO_SLACK && !b->slots[i].awaited)
            continue;
        xsa_slot_blame *row = slot_row(b, row_of, i);
        row->awaited = b->slots[i].awaited;
        row->slack_ns = whole && b->slots[i].slack != NO_SLACK ? b->slots[i].slack : -1;
        if (row->owes_rank == XSR_NONE)
            row->owes_rank = a->model->slots[i].supplier_rank;
    }
    free(row_of);
    free(most);
    if (b->listed_count)
        qsort(b->listed, b->listed_count, sizeof *b->listed, by_time);
    return 0;
}
