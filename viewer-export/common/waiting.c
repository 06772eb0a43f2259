#include "waiting.h"

#include <stdlib.h>

#include "room.h"
#include "waiting_lists.h"

#define STEPS_MOST 8 /* local waits behind each other */

/* ---- which wait counts ---- */

static bool earlier(const xsv_waiter *a, const xsv_waiter *b) {
    return a->begin != b->begin ? a->begin < b->begin : a->start < b->start;
}

/* From a role over what its writers wait for, to a remote wait. 0: somebody there waits for nobody, and works. */
static uint32_t resolve(const xsv_waiting *o, const xsv_rank_waits *r, uint32_t role) {
    for (int step = 0; role != XSR_NONE && step < STEPS_MOST; step++) {
        const xsv_role_waits *waits = xsv_role_find(r, role);
        uint32_t w = waits ? waits->own.first : 0;
        if (!w || o->pool[w].remote)
            return w;
        role = o->pool[w].supplier;
    }
    return 0;
}

static uint32_t find_counting(const xsv_waiting *o, const xsv_rank_waits *r) {
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

static xsv_waited piece_of(const xsv_waiting *o, uint32_t w) {
    const xsv_waiter *p = &o->pool[w];
    return (xsv_waited){.start_event = p->start, .rank = p->rank, .slot = p->slot, .begin = o->ranks[p->rank].since};
}

static int update(xsv_waiting *o, uint32_t rank, int64_t time) {
    xsv_rank_waits *r = &o->ranks[rank];
    uint32_t counts = find_counting(o, r);
    if (counts == r->counts)
        return XS_OK;
    xsv_waited over = piece_of(o, r->counts);
    over.end = time;
    bool any = r->counts && over.end > over.begin;
    r->counts = counts;
    r->since = time;
    return any ? o->ops->piece(o->user, &over) : XS_OK;
}

static int moved(xsv_waiting *o, uint32_t rank, int64_t time) {
    return o->ops->moved ? o->ops->moved(o->user, rank, o->ranks[rank].open, time) : XS_OK;
}

/* Its piece is told before its place can be taken again. */
static int close_wait(xsv_waiting *o, uint32_t w, int64_t time) {
    xsv_rank_waits *r = &o->ranks[o->pool[w].rank];
    uint32_t rank = o->pool[w].rank;
    xsv_waited over = piece_of(o, w);
    over.end = time;
    bool told = r->counts == w && over.end > over.begin;
    if (r->counts == w)
        r->counts = 0;
    xsv_waiter_remove(o, w);
    int rc = told ? o->ops->piece(o->user, &over) : XS_OK;
    if (!rc)
        rc = update(o, rank, time);
    return rc ? rc : moved(o, rank, time);
}

/* ---- events ---- */

static bool is_remote(const xsv_waiting *o, const xsr_event *e) {
    uint32_t owes = xsv_slot_owes(o->suppliers, e->slot);
    if (owes != XSR_NONE)
        return owes != o->model->ranks[e->rank].rank;
    return !(o->model->pads[o->model->slots[e->slot].pad].flags & XS_PAD_SHARED);
}

/* Those of one writer at one slot (XSR_NONE: at any) are over. */
static int close_of_writer(xsv_waiting *o, uint32_t writer, uint32_t slot, int64_t time) {
    int rc = XS_OK;
    for (uint32_t w = o->writers[writer].first, after; w && !rc; w = after) {
        after = o->pool[w].chain[XSV_OF_WRITER].after;
        if (slot == XSR_NONE || o->pool[w].slot == slot)
            rc = close_wait(o, w, time);
    }
    return rc;
}

static int wait_starts(xsv_waiting *o, const xsr_event *e) {
    int rc = close_of_writer(o, e->writer, e->slot, e->time); /* the end of the one before is lost */
    if (rc)
        return rc;
    xsv_waiter wait = {.start = e->id,
                       .begin = e->time,
                       .writer = e->writer,
                       .slot = e->slot,
                       .rank = e->rank,
                       .role = e->role,
                       .remote = is_remote(o, e)};
    if (!xsv_waiter_add(o, &wait))
        return XS_E_MEMORY;
    rc = update(o, e->rank, e->time);
    return rc ? rc : moved(o, e->rank, e->time);
}

/* The first arrival or signal at a slot says which role it is that local waits there wait for. */
static int resolve_waits(xsv_waiting *o, uint32_t slot, int64_t time) {
    for (uint32_t rank = 0; rank < o->rank_count; rank++)
        for (uint32_t w = o->ranks[rank].unresolved.first, after; w; w = after) {
            after = o->pool[w].chain[XSV_OF_RANK].after;
            if (o->pool[w].slot != slot)
                continue;
            int rc = xsv_waiter_resolve(o, w);
            if (!rc)
                rc = update(o, rank, time);
            if (rc)
                return rc;
        }
    return XS_OK;
}

int xsv_waiting_event(xsv_waiting *o, const xsr_event *e) {
    if (o->suppliers->told != XSR_NONE)
        return resolve_waits(o, e->slot, e->time);
    bool start = e->kind == XS_EV_WAIT_START, end = e->kind == XS_EV_WAIT_END, over = e->kind == XS_EV_WRITER_END;
    if (e->rank >= o->rank_count || e->writer == XSR_NONE || !(start || end || over) || (!over && e->slot == XSR_NONE))
        return XS_OK;
    if (xsv_room(&o->writers, &o->writer_room, e->writer, sizeof *o->writers, 0))
        return XS_E_MEMORY;
    return start ? wait_starts(o, e) : close_of_writer(o, e->writer, end ? e->slot : XSR_NONE, e->time);
}

int xsv_waiting_close(xsv_waiting *o, const xsr_wait *wait, int64_t time) {
    uint32_t w = wait->writer < o->writer_room ? o->writers[wait->writer].first : 0;
    while (w && o->pool[w].start != wait->start_event)
        w = o->pool[w].chain[XSV_OF_WRITER].after;
    return w ? close_wait(o, w, time) : XS_OK;
}

bool xsv_waiting_now(const xsv_waiting *o, uint32_t rank, xsv_waited *piece) {
    if (o->ranks[rank].counts)
        *piece = piece_of(o, o->ranks[rank].counts);
    return o->ranks[rank].counts != 0;
}

xsv_waiting *xsv_waiting_make(const xsr_model *model, const xsv_suppliers *suppliers, const xsv_waiting_ops *ops,
                              void *user) {
    xsv_waiting *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    *o = (xsv_waiting){
        .model = model, .suppliers = suppliers, .ops = ops, .user = user, .rank_count = model->rank_count};
    o->ranks = calloc(model->rank_count + 1, sizeof *o->ranks);
    /* index 0 is read where no wait counts */
    if (o->ranks && !xsv_room(&o->pool, &o->pool_room, 0, sizeof *o->pool, 0))
        return o;
    xsv_waiting_free(o);
    return NULL;
}

void xsv_waiting_free(xsv_waiting *o) {
    if (!o)
        return;
    for (uint32_t i = 0; o->ranks && i < o->rank_count; i++)
        free(o->ranks[i].roles);
    free(o->ranks);
    free(o->writers);
    free(o->pool);
    free(o);
}
