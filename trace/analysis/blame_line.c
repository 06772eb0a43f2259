/* Head of line: a writer waited for one slot of a pad while others of that pad, which it took afterwards, were
 * ready. What it then worked on those it could have done while it waited, as far as that wait reached. */
#include "blame.h"

/* a wait and the work behind it, newest first */
struct blame_item { int64_t from, to, ready; uint64_t epoch; uint32_t slot; };

int blame_line_add(an_blame *b, const blame_entry *e, int64_t to) {
    if (e->released == NO_TIME || e->failed || e->time >= to)
        return 0;
    if (RD_ROOM(b->items, b->item_room, b->item_count + 1) < 0)
        return XS_E_MEMORY;
    b->items[b->item_count++] = (struct blame_item){e->time, to, e->released, e->epoch, e->slot};
    return 0;
}

/* How much of the item's work fits into the wait, beside what others took of it. */
static int64_t fits(const an *a, const blame_entry *wait, const struct blame_item *i, int64_t taken) {
    if (i->epoch != wait->epoch || i->slot == wait->slot ||
        a->model->slots[i->slot].pad != a->model->slots[wait->slot].pad || i->ready >= wait->time)
        return 0;
    int64_t idle = wait->time - (i->ready > wait->from ? i->ready : wait->from) - taken, work = i->to - i->from;
    return idle <= 0 ? 0 : work < idle ? work : idle;
}

/* The part of a piece that lies in the item becomes head-of-line. */
static int split(an_blame *b, const xsa_span *p, const struct blame_item *i) {
    xsa_span after = *p, inside = *p, before = *p;
    inside.begin = before.end = p->begin > i->from ? p->begin : i->from;
    inside.end = after.begin = p->end < i->to ? p->end : i->to;
    inside.part = XSA_PART_LINE;
    TRY(blame_piece(b, &after));
    TRY(blame_piece(b, &inside));
    return blame_piece(b, &before);
}

static int rewrite(an_blame *b, uint32_t first) {
    uint32_t count = b->piece_count - first, at = 0;
    xsa_span *old = malloc((count + 1u) * sizeof *old);
    int rc = old ? 0 : XS_E_MEMORY;
    if (old)
        memcpy(old, b->pieces + first, count * sizeof *old);
    b->piece_count = first;
    for (uint32_t k = 0; k < count && !rc; k++) { /* both newest first; what an item took is [from, to) */
        while (at < b->item_count && (b->items[at].from >= old[k].end || b->items[at].from >= b->items[at].to))
            at++;
        bool here = at < b->item_count && b->items[at].to > old[k].begin && old[k].part == XSA_PART_COMPUTE;
        rc = here ? split(b, &old[k], &b->items[at]) : blame_piece(b, &old[k]);
    }
    free(old);
    return rc;
}

int blame_line(an *a, const blame_entry *wait, uint32_t first) {
    an_blame *b = a->blame;
    int64_t taken = 0;
    for (uint32_t i = b->item_count; i-- > 0;) { /* in the order in which it took them */
        int64_t h = fits(a, wait, &b->items[i], taken);
        b->items[i].to = b->items[i].from + h;
        taken += h;
    }
    return taken ? rewrite(b, first) : 0;
}
