/* Rows `rank N waits for`: at each moment the rank that owes N's oldest open remote wait. A local wait (a gate) counts only
 * if its own supplier waits for a remote slot, and then as that one. Runs on the events as they come, in time order. */
#include <stdlib.h>
#include <string.h>

#include "lane.h"

#define JOIN_NS 2500 /* neighbours of equal rank as close as this are one piece */
#define DROP_NS 1200 /* shorter pieces are not drawn */
#define CHAIN_MAX 8  /* local waits behind each other */

typedef struct waiting { /* an open wait; index 0 is no wait */
    uint32_t writer, slot, role, rank;
    bool remote;
    int64_t begin;
    uint32_t before, after;           /* in the rank's list of remote, or of local waits; by begin */
    uint32_t role_before, role_after; /* in the list of its role */
} waiting;

typedef struct list {
    uint32_t first, last;
} list;

typedef struct role_list {
    uint32_t role;
    list waits;
} role_list;

typedef struct piece {
    uint32_t owes; /* rank number; valid if waits > 0 */
    uint32_t slot;
    int64_t begin, end;
    uint64_t waits;
} piece;

typedef struct blame_rank {
    uint32_t row, counter; /* tracks */
    list remote, local;
    role_list *roles;
    uint32_t role_count;
    uint64_t open;
    uint32_t culprit, culprit_slot; /* the wait that counts now, since when */
    int64_t since;
    piece kept, current;
    bool drawn;
    uint64_t *owed; /* ns, per rank number */
} blame_rank;

struct blame {
    blame_rank *ranks;
    waiting *pool;
    uint32_t pool_room, pool_used, free_list;
    table by_key; /* writer, slot -> waiting */
};

static uint64_t key_of(uint32_t writer, uint32_t slot) { return ((uint64_t)(writer + 1) << 32) | slot; }

/* ---- lists ---- */

static void list_add(struct blame *b, list *l, uint32_t w) {
    b->pool[w].before = l->last;
    b->pool[w].after = 0;
    *(l->last ? &b->pool[l->last].after : &l->first) = w;
    l->last = w;
}

static void list_remove(struct blame *b, list *l, uint32_t w) {
    waiting *p = &b->pool[w];
    *(p->before ? &b->pool[p->before].after : &l->first) = p->after;
    *(p->after ? &b->pool[p->after].before : &l->last) = p->before;
}

static list *role_waits(blame_rank *r, uint32_t role) {
    for (uint32_t i = 0; i < r->role_count; i++)
        if (r->roles[i].role == role)
            return &r->roles[i].waits;
    return NULL;
}

static list *role_waits_new(blame_rank *r, uint32_t role) {
    list *found = role_waits(r, role);
    if (found)
        return found;
    role_list *more = realloc(r->roles, (r->role_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->roles = more;
    more[r->role_count] = (role_list){.role = role};
    return &more[r->role_count++].waits;
}

static void role_add(struct blame *b, list *l, uint32_t w) {
    b->pool[w].role_before = l->last;
    b->pool[w].role_after = 0;
    *(l->last ? &b->pool[l->last].role_after : &l->first) = w;
    l->last = w;
}

static void role_remove(struct blame *b, list *l, uint32_t w) {
    waiting *p = &b->pool[w];
    *(p->role_before ? &b->pool[p->role_before].role_after : &l->first) = p->role_after;
    *(p->role_after ? &b->pool[p->role_after].role_before : &l->last) = p->role_before;
}

static uint32_t pool_take(struct blame *b) {
    uint32_t w = b->free_list;
    if (w) {
        b->free_list = b->pool[w].after;
        return w;
    }
    if (grow_zeroed(&b->pool, &b->pool_room, b->pool_used + 1, sizeof *b->pool))
        return 0;
    return ++b->pool_used;
}

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

static int add_piece(drawing *d, uint32_t rank, uint32_t slot, int64_t begin, int64_t end) {
    blame_rank *r = &d->blame->ranks[rank];
    uint32_t owes = slot_owes(d, slot);
    if (end <= begin || owes == d->ranks[rank].number)
        return XS_OK;
    if (owes < d->correlation_count)
        r->owed[owes] += (uint64_t)(end - begin);
    if (r->current.waits && r->current.owes == owes && begin - r->current.end <= JOIN_NS) {
        r->current.end = end;
        r->current.waits++;
        return XS_OK;
    }
    TRY(settle(d, rank));
    r->current = (piece){.owes = owes, .slot = slot, .begin = begin, .end = end, .waits = 1};
    return XS_OK;
}

/* ---- who counts now ---- */

static uint32_t supplier_role(const drawing *d, uint32_t slot) {
    const slot_state *s = &d->slots[slot];
    uint32_t role = s->arrive_role != XSR_NONE ? s->arrive_role : d->model->slots[slot].supplier_role;
    if (role == XSR_NONE && s->signal_writer != XSR_NONE)
        role = d->model->writers[s->signal_writer].role;
    return role;
}

/* From a local wait over what its supplier waits for, to a remote wait. 0: its supplier waits for nobody, it works. */
static uint32_t resolve_local(const drawing *d, blame_rank *r, uint32_t w) {
    const waiting *pool = d->blame->pool;
    for (int step = 0; w && !pool[w].remote; step++) {
        uint32_t role = supplier_role(d, pool[w].slot);
        list *waits = role == XSR_NONE || step == CHAIN_MAX ? NULL : role_waits(r, role);
        w = waits ? waits->first : 0;
    }
    return w;
}

static uint32_t find_culprit(const drawing *d, blame_rank *r) {
    const struct blame *b = d->blame;
    uint32_t oldest = r->remote.first;
    if (!oldest)
        return 0; /* then no supplier of a gate waits for a remote slot either */
    for (uint32_t w = r->local.first; w && b->pool[w].begin < b->pool[oldest].begin; w = b->pool[w].after) {
        uint32_t through = resolve_local(d, r, w);
        if (through)
            return through;
    }
    return oldest;
}

static int update(drawing *d, uint32_t rank, int64_t time) {
    blame_rank *r = &d->blame->ranks[rank];
    uint32_t culprit = find_culprit(d, r);
    if (culprit != r->culprit || (culprit && d->blame->pool[culprit].slot != r->culprit_slot)) {
        if (r->culprit)
            TRY(add_piece(d, rank, r->culprit_slot, r->since, time));
        r->culprit = culprit;
        r->culprit_slot = culprit ? d->blame->pool[culprit].slot : 0;
        r->since = time;
    }
    event ev = {.type = EVENT_COUNTER, .track = r->counter, .time = time, .counter = (int64_t)r->open};
    return draw_event(d, TO_OVERVIEW, &ev);
}

static bool is_remote(drawing *d, const xsr_event *ev) {
    uint32_t owes = slot_owes(d, ev->slot);
    if (owes != XSR_NONE)
        return owes != d->ranks[ev->rank].number;
    return !(d->model->pads[d->model->slots[ev->slot].pad].flags & XS_PAD_SHARED);
}

static int wait_over(drawing *d, uint32_t writer, uint32_t slot, int64_t time) {
    struct blame *b = d->blame;
    uint64_t *found = table_get(&b->by_key, key_of(writer, slot));
    if (!found)
        return XS_OK; /* its start is lost */
    uint32_t w = (uint32_t)*found, rank = b->pool[w].rank;
    blame_rank *r = &b->ranks[rank];
    table_remove(&b->by_key, key_of(writer, slot));
    list_remove(b, b->pool[w].remote ? &r->remote : &r->local, w);
    role_remove(b, role_waits(r, b->pool[w].role), w);
    b->pool[w].after = b->free_list;
    b->free_list = w;
    r->open--;
    if (r->culprit == w) { /* its place in the pool may be taken again before anybody looks */
        TRY(add_piece(d, rank, r->culprit_slot, r->since, time));
        r->culprit = 0;
    }
    return update(d, rank, time);
}

static int wait_starts(drawing *d, const xsr_event *ev) {
    struct blame *b = d->blame;
    if (table_get(&b->by_key, key_of(ev->writer, ev->slot)))
        TRY(wait_over(d, ev->writer, ev->slot, ev->time)); /* the end of the one before is lost */
    blame_rank *r = &b->ranks[ev->rank];
    uint32_t w = pool_take(b);
    uint64_t *at = w ? table_put(&b->by_key, key_of(ev->writer, ev->slot)) : NULL;
    list *of_role = at ? role_waits_new(r, ev->role) : NULL;
    if (!of_role)
        return XS_E_MEMORY;
    *at = w;
    b->pool[w] = (waiting){.writer = ev->writer, .slot = ev->slot, .role = ev->role, .rank = ev->rank, .begin = ev->time};
    b->pool[w].remote = is_remote(d, ev);
    list_add(b, b->pool[w].remote ? &r->remote : &r->local, w);
    role_add(b, of_role, w);
    r->open++;
    return update(d, ev->rank, ev->time);
}

/* Waits of a writer that is gone have no end that could come any more. Rare: only where records are lost. */
static int writer_over(drawing *d, const xsr_event *ev) {
    struct blame *b = d->blame;
    blame_rank *r = &b->ranks[ev->rank];
    list *const both[] = {&r->remote, &r->local};
    for (int i = 0; i < 2; i++)
        for (uint32_t w = both[i]->first, after; w; w = after) {
            after = b->pool[w].after;
            if (b->pool[w].writer == ev->writer)
                TRY(wait_over(d, ev->writer, b->pool[w].slot, ev->time));
        }
    return XS_OK;
}

int blame_event(drawing *d, const xsr_event *ev) {
    if (ev->writer == XSR_NONE)
        return XS_OK;
    if (ev->kind == XS_EV_WRITER_END)
        return writer_over(d, ev);
    if (ev->slot == XSR_NONE)
        return XS_OK;
    if (ev->kind == XS_EV_WAIT_START)
        return wait_starts(d, ev);
    return ev->kind == XS_EV_WAIT_END ? wait_over(d, ev->writer, ev->slot, ev->time) : XS_OK;
}

/* ---- rows ---- */

static int rows_new(drawing *d, uint32_t rank) {
    blame_rank *r = &d->blame->ranks[rank];
    track_info row = {.name = rank_text(d, "rank %s waits for", rank), .child_ordering = ORDER_LEXICOGRAPHIC};
    row.description = strings_id(&d->texts,
        "The rank that owes this rank's oldest open remote wait, at each moment. Coloured by that rank. Pieces under 1.2 us "
        "are left out, neighbours within 2.5 us joined.");
    r->row = track_add(d, &row);
    track_info counter = {.parent = r->row, .name = strings_id(&d->texts, "open waits"), .unit = strings_id(&d->texts, "waits")};
    r->counter = track_add(d, &counter);
    r->owed = calloc(d->correlation_count + 1, sizeof *r->owed);
    return r->owed && r->counter ? XS_OK : XS_E_MEMORY;
}

int blame_begin(drawing *d) {
    d->blame = calloc(1, sizeof *d->blame);
    if (!d->blame)
        return XS_E_MEMORY;
    d->blame->ranks = calloc(d->model->rank_count + 1, sizeof *d->blame->ranks);
    if (!d->blame->ranks)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < d->model->rank_count; i++)
        TRY(rows_new(d, i));
    return XS_OK;
}

/* A row without a piece says so: an empty one would be put away by the viewer. */
static int draw_nothing(drawing *d, const blame_rank *r) {
    slice s = {.track = r->row, .begin = drawing_begin(d), .end = drawing_end(d), .category = d->category[CATEGORY_health]};
    s.name = strings_id(&d->texts, "no remote wait of 1.2 us or longer");
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

static int finish_rank(drawing *d, uint32_t rank) {
    blame_rank *r = &d->blame->ranks[rank];
    bool forever = d->ranks[rank].drawn_waits_open != 0 && r->culprit;
    piece last = {.slot = r->culprit_slot, .begin = r->since, .end = drawing_end(d), .waits = 1};
    if (r->culprit && !forever)
        TRY(add_piece(d, rank, r->culprit_slot, r->since, drawing_end(d)));
    TRY(settle(d, rank));
    if (r->kept.waits)
        TRY(write_piece(d, rank, &r->kept, false));
    if (forever) {
        last.owes = slot_owes(d, last.slot);
        if (last.owes < d->correlation_count)
            r->owed[last.owes] += (uint64_t)(last.end - last.begin);
        if (last.owes != d->ranks[rank].number)
            TRY(write_piece(d, rank, &last, true));
    }
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
    for (uint32_t i = 0; b->ranks && i < d->model->rank_count; i++) {
        free(b->ranks[i].roles);
        free(b->ranks[i].owed);
    }
    free(b->ranks);
    free(b->pool);
    table_free(&b->by_key);
    free(b);
}
