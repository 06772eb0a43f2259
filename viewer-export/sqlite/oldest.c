#include "oldest.h"

#include <stdlib.h>
#include <string.h>

#define MANY (XSR_NONE - 1)
#define STEPS_MOST 8 /* local waits behind each other */

enum chain { OF_RANK, OF_ROLE, OF_SUPPLIER, OF_WRITER, CHAINS };

typedef struct list {
    uint32_t first, last; /* 0: none */
} list;

typedef struct piece {
    int64_t begin, end;
    uint32_t next;
} piece;

typedef struct waiting { /* index 0 is no wait */
    uint64_t start;      /* event */
    int64_t begin;
    uint32_t writer, slot, rank, role;
    uint32_t supplier; /* role; local waits alone, XSR_NONE: not known yet */
    int remote, over;
    struct {
        uint32_t before, after;
    } chain[CHAINS];
    uint32_t first_piece, last_piece;
} waiting;

typedef struct role_waits {
    uint32_t role;
    list own, supplied; /* waits of its writers; local waits that it supplies */
} role_waits;

typedef struct rank_state {
    list remote, unresolved; /* unresolved: local, their supplier is not known yet */
    role_waits *roles;
    uint32_t role_count;
    uint32_t counts; /* the wait that counts now */
    int64_t since;
} rank_state;

typedef struct slot_state { /* XSR_NONE: none yet */
    uint32_t arrives, signals; /* role of the last arrival; of the last signal's writer */
    uint32_t signal_rank;      /* number */
    uint32_t arrive_rank;      /* number; MANY: of several ranks */
} slot_state;

struct xsv_oldest {
    const xsr_model *model;
    rank_state *ranks;
    slot_state *slots;
    list *writers;
    waiting *pool;
    piece *pieces;
    uint32_t rank_room, slot_room, writer_room, pool_room, pool_used, pool_free, piece_room, piece_used, piece_free;
};

/* Room for index `at`; new bytes are `fill`. */
static int room(void *array, uint32_t *have, uint32_t at, size_t size, int fill) {
    void **elements = array;
    if (at < *have)
        return XS_OK;
    uint32_t count = at + at / 2 + 16;
    void *bigger = realloc(*elements, count * size);
    if (!bigger)
        return XS_E_MEMORY;
    memset((char *)bigger + *have * size, fill, (count - *have) * size);
    *elements = bigger;
    *have = count;
    return XS_OK;
}

/* ---- lists, in order of begin ---- */

static void list_add(xsv_oldest *o, list *l, enum chain c, uint32_t w) {
    o->pool[w].chain[c].before = l->last;
    o->pool[w].chain[c].after = 0;
    *(l->last ? &o->pool[l->last].chain[c].after : &l->first) = w;
    l->last = w;
}

static void list_remove(xsv_oldest *o, list *l, enum chain c, uint32_t w) {
    uint32_t before = o->pool[w].chain[c].before, after = o->pool[w].chain[c].after;
    *(before ? &o->pool[before].chain[c].after : &l->first) = after;
    *(after ? &o->pool[after].chain[c].before : &l->last) = before;
}

static role_waits *role_find(const rank_state *r, uint32_t role) {
    for (uint32_t i = 0; i < r->role_count; i++)
        if (r->roles[i].role == role)
            return &r->roles[i];
    return NULL;
}

static role_waits *role_of(rank_state *r, uint32_t role) {
    role_waits *found = role_find(r, role);
    if (found)
        return found;
    role_waits *more = realloc(r->roles, (r->role_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->roles = more;
    more[r->role_count] = (role_waits){.role = role};
    return &more[r->role_count++];
}

static uint32_t supplier_role(const xsv_oldest *o, uint32_t slot) {
    const slot_state *s = &o->slots[slot];
    uint32_t planned = o->model->slots[slot].supplier_role;
    return s->arrives != XSR_NONE ? s->arrives : planned != XSR_NONE ? planned : s->signals;
}

/* By who releases it: another rank, a role of its own, or nobody knows yet. */
static int file_by_supplier(xsv_oldest *o, uint32_t w) {
    waiting *p = &o->pool[w];
    rank_state *r = &o->ranks[p->rank];
    p->supplier = p->remote ? XSR_NONE : supplier_role(o, p->slot);
    if (p->supplier == XSR_NONE) {
        list_add(o, p->remote ? &r->remote : &r->unresolved, OF_RANK, w);
        return XS_OK;
    }
    role_waits *supplier = role_of(r, p->supplier);
    if (!supplier)
        return XS_E_MEMORY;
    list_add(o, &supplier->supplied, OF_SUPPLIER, w);
    return XS_OK;
}

static int file(xsv_oldest *o, uint32_t w) {
    role_waits *role = role_of(&o->ranks[o->pool[w].rank], o->pool[w].role);
    if (!role)
        return XS_E_MEMORY;
    list_add(o, &role->own, OF_ROLE, w);
    return file_by_supplier(o, w);
}

static void take_out(xsv_oldest *o, uint32_t w) {
    waiting *p = &o->pool[w];
    rank_state *r = &o->ranks[p->rank];
    list_remove(o, &role_find(r, p->role)->own, OF_ROLE, w);
    if (p->supplier == XSR_NONE)
        list_remove(o, p->remote ? &r->remote : &r->unresolved, OF_RANK, w);
    else
        list_remove(o, &role_find(r, p->supplier)->supplied, OF_SUPPLIER, w);
}

/* ---- which wait counts ---- */

static int earlier(const waiting *a, const waiting *b) {
    return a->begin != b->begin ? a->begin < b->begin : a->start < b->start;
}

/* From a role over what its writers wait for, to a remote wait. 0: somebody there waits for nobody, and works. */
static uint32_t resolve(const xsv_oldest *o, const rank_state *r, uint32_t role) {
    for (int step = 0; role != XSR_NONE && step < STEPS_MOST; step++) {
        const role_waits *waits = role_find(r, role);
        uint32_t w = waits ? waits->own.first : 0;
        if (!w || o->pool[w].remote)
            return w;
        role = o->pool[w].supplier;
    }
    return 0;
}

static uint32_t find_counting(const xsv_oldest *o, const rank_state *r) {
    uint32_t oldest = r->remote.first, best = 0, counts = oldest;
    for (uint32_t i = 0; i < r->role_count && oldest; i++) {
        uint32_t local = r->roles[i].supplied.first;
        if (!local || o->pool[local].begin >= o->pool[oldest].begin ||
            (best && !earlier(&o->pool[local], &o->pool[best])))
            continue;
        uint32_t through = resolve(o, r, r->roles[i].role);
        if (through) {
            best = local;
            counts = through;
        }
    }
    return counts;
}

static int add_piece(xsv_oldest *o, uint32_t w, int64_t begin, int64_t end) {
    uint32_t at = o->piece_free ? o->piece_free : o->piece_used + 1;
    if (end <= begin)
        return XS_OK;
    if (room(&o->pieces, &o->piece_room, at, sizeof *o->pieces, 0))
        return XS_E_MEMORY;
    if (o->piece_free)
        o->piece_free = o->pieces[at].next;
    else
        o->piece_used = at;
    waiting *p = &o->pool[w];
    o->pieces[at] = (piece){begin, end, 0};
    *(p->last_piece ? &o->pieces[p->last_piece].next : &p->first_piece) = at;
    p->last_piece = at;
    return XS_OK;
}

static int update(xsv_oldest *o, uint32_t rank, int64_t time) {
    rank_state *r = &o->ranks[rank];
    uint32_t counts = find_counting(o, r), before = r->counts;
    if (counts == before)
        return XS_OK;
    int64_t since = r->since;
    r->counts = counts;
    r->since = time;
    return before ? add_piece(o, before, since, time) : XS_OK;
}

/* It stays in its writer's list until it is settled. */
static int close_wait(xsv_oldest *o, uint32_t w, int64_t time) {
    take_out(o, w);
    o->pool[w].over = 1;
    return update(o, o->pool[w].rank, time);
}

/* ---- events ---- */

static int is_remote(const xsv_oldest *o, const xsr_event *e) {
    const xsr_slot *s = &o->model->slots[e->slot];
    const slot_state *state = &o->slots[e->slot];
    uint32_t owes = s->supplier_rank;
    if (owes == XSR_NONE)
        owes = state->arrives != XSR_NONE ? s->owner : state->signal_rank;
    if (owes != XSR_NONE)
        return owes != o->model->ranks[e->rank].rank;
    return !(o->model->pads[s->pad].flags & XS_PAD_SHARED);
}

/* Those of one writer at one slot (XSR_NONE: at any) are over. */
static int close_of_writer(xsv_oldest *o, const xsr_event *e, uint32_t slot) {
    int rc = XS_OK;
    for (uint32_t w = o->writers[e->writer].first; w && !rc; w = o->pool[w].chain[OF_WRITER].after)
        if (!o->pool[w].over && (slot == XSR_NONE || o->pool[w].slot == slot))
            rc = close_wait(o, w, e->time);
    return rc;
}

static int wait_starts(xsv_oldest *o, const xsr_event *e) {
    if (close_of_writer(o, e, e->slot)) /* the end of the one before is lost */
        return XS_E_MEMORY;
    uint32_t w = o->pool_free ? o->pool_free : o->pool_used + 1;
    if (room(&o->pool, &o->pool_room, w, sizeof *o->pool, 0))
        return XS_E_MEMORY;
    if (o->pool_free)
        o->pool_free = o->pool[w].chain[OF_WRITER].after;
    else
        o->pool_used = w;
    o->pool[w] = (waiting){.start = e->id, .begin = e->time, .writer = e->writer, .slot = e->slot, .rank = e->rank,
                           .role = e->role, .remote = is_remote(o, e)};
    list_add(o, &o->writers[e->writer], OF_WRITER, w);
    return file(o, w) ? XS_E_MEMORY : update(o, e->rank, e->time);
}

/* The first arrival or signal at a slot says which role it is that local waits there wait for. */
static int resolve_waits(xsv_oldest *o, const xsr_event *e) {
    for (uint32_t rank = 0; rank < o->rank_room; rank++)
        for (uint32_t w = o->ranks[rank].unresolved.first, after; w; w = after) {
            after = o->pool[w].chain[OF_RANK].after;
            if (o->pool[w].slot != e->slot)
                continue;
            list_remove(o, &o->ranks[rank].unresolved, OF_RANK, w);
            if (file_by_supplier(o, w) || update(o, rank, e->time))
                return XS_E_MEMORY;
        }
    return XS_OK;
}

static int supplied(xsv_oldest *o, const xsr_event *e) {
    uint32_t known = supplier_role(o, e->slot);
    slot_state *s = &o->slots[e->slot];
    if (e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE) {
        uint32_t rank = o->model->ranks[e->rank].rank;
        s->arrives = e->role;
        s->arrive_rank = s->arrive_rank == XSR_NONE || s->arrive_rank == rank ? rank : MANY;
    } else {
        s->signal_rank = o->model->ranks[e->rank].rank;
        s->signals = e->writer == XSR_NONE ? XSR_NONE : o->model->writers[e->writer].role;
    }
    return known == XSR_NONE && supplier_role(o, e->slot) != XSR_NONE ? resolve_waits(o, e) : XS_OK;
}

static int supplies(uint32_t kind) {
    return kind == XS_EV_SIGNAL || kind == XS_EV_WATERMARK || kind == XS_EV_ARRIVE || kind == XS_EV_GATE_ARRIVE;
}

int xsv_oldest_event(xsv_oldest *o, const xsr_event *e) {
    if (e->slot != XSR_NONE && room(&o->slots, &o->slot_room, e->slot, sizeof *o->slots, 0xff))
        return XS_E_MEMORY;
    if (e->slot != XSR_NONE && supplies(e->kind))
        return supplied(o, e);
    if (e->kind != XS_EV_WAIT_START && e->kind != XS_EV_WAIT_END && e->kind != XS_EV_WRITER_END)
        return XS_OK;
    if (e->writer == XSR_NONE || (e->slot == XSR_NONE && e->kind != XS_EV_WRITER_END))
        return XS_OK;
    if (room(&o->writers, &o->writer_room, e->writer, sizeof *o->writers, 0) ||
        room(&o->ranks, &o->rank_room, e->rank, sizeof *o->ranks, 0))
        return XS_E_MEMORY;
    if (e->kind == XS_EV_WAIT_START)
        return wait_starts(o, e);
    return close_of_writer(o, e, e->kind == XS_EV_WAIT_END ? e->slot : XSR_NONE);
}

/* ---- waits ---- */

uint32_t xsv_oldest_supplier(const xsv_oldest *o, const xsr_wait *wait) {
    if (wait->supplier_rank != XSR_NONE || wait->slot >= o->slot_room || o->slots[wait->slot].arrive_rank == MANY)
        return wait->supplier_rank;
    return o->slots[wait->slot].arrive_rank;
}

static void release(xsv_oldest *o, uint32_t w) {
    waiting *p = &o->pool[w];
    if (p->last_piece) {
        o->pieces[p->last_piece].next = o->piece_free;
        o->piece_free = p->first_piece;
    }
    list_remove(o, &o->writers[p->writer], OF_WRITER, w);
    p->chain[OF_WRITER].after = o->pool_free;
    o->pool_free = w;
}

static uint32_t find(const xsv_oldest *o, const xsr_wait *wait) {
    if (wait->writer >= o->writer_room || wait->start_event == XSR_NO_ID)
        return 0;
    uint32_t w = o->writers[wait->writer].first;
    while (w && o->pool[w].start != wait->start_event)
        w = o->pool[w].chain[OF_WRITER].after;
    return w;
}

int xsv_oldest_wait(xsv_oldest *o, const xsr_wait *wait, int64_t end, xsv_oldest_piece put, void *user) {
    uint32_t w = find(o, wait);
    if (!w)
        return XS_OK; /* its start is lost: how long it was open is not known */
    int rc = o->pool[w].over ? XS_OK : close_wait(o, w, end);
    int local = xsv_oldest_supplier(o, wait) == o->model->ranks[wait->rank].rank;
    for (uint32_t at = o->pool[w].first_piece; at && !rc && !local; at = o->pieces[at].next) {
        const piece *p = &o->pieces[at];
        int64_t until = p->end < end ? p->end : end;
        if (until > p->begin)
            rc = put(user, wait, p->begin, until);
    }
    release(o, w);
    return rc;
}

xsv_oldest *xsv_oldest_make(const xsr_model *model) {
    xsv_oldest *o = calloc(1, sizeof *o);
    if (o)
        o->model = model;
    return o;
}

void xsv_oldest_free(xsv_oldest *o) {
    if (!o)
        return;
    for (uint32_t i = 0; i < o->rank_room; i++)
        free(o->ranks[i].roles);
    free(o->ranks);
    free(o->slots);
    free(o->writers);
    free(o->pool);
    free(o->pieces);
    free(o);
}
