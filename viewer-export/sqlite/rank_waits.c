#include "rank_waits.h"

#include <stdlib.h>

#include "room.h"

static uint32_t take(xsv_rank_pieces *p) {
    uint32_t at = p->free_list ? p->free_list : p->used + 1;
    if (xsv_room(&p->pieces, &p->room, at, sizeof *p->pieces, 0))
        return 0;
    if (p->free_list)
        p->free_list = p->pieces[at].next;
    else
        p->used = at;
    return at;
}

/* Behind the pieces that its wait has already. */
static int keep(void *user, const xsv_waited *piece) {
    xsv_rank_pieces *p = user;
    uint32_t at = take(p);
    uint64_t *ends = at ? xsv_map_put(&p->of_wait, piece->start_event) : NULL;
    if (!ends)
        return XS_E_MEMORY;
    uint32_t first = (uint32_t)(*ends >> 32), last = (uint32_t)*ends;
    p->pieces[at] = (xsv_piece){piece->begin, piece->end, 0};
    if (last)
        p->pieces[last].next = at;
    *ends = (uint64_t)(last ? first : at) << 32 | at;
    return XS_OK;
}

int xsv_rank_waits_begin(xsv_rank_pieces *p, const xsr_model *model) {
    static const xsv_waiting_ops ops = {.piece = keep};
    p->suppliers.model = model;
    p->waiting = xsv_waiting_make(model, &p->suppliers, &ops, p);
    return p->waiting ? XS_OK : XS_E_MEMORY;
}

int xsv_rank_waits_event(xsv_rank_pieces *p, const xsr_event *e) {
    int rc = xsv_suppliers_event(&p->suppliers, e);
    return rc ? rc : xsv_waiting_event(p->waiting, e);
}

uint32_t xsv_rank_waits_supplier(const xsv_rank_pieces *p, const xsr_wait *wait) {
    uint32_t arrived = xsv_supply_of(&p->suppliers, wait->slot).arrive_rank;
    return wait->supplier_rank != XSR_NONE || arrived == XSV_SEVERAL ? wait->supplier_rank : arrived;
}

static int tell(xsv_rank_pieces *p, const xsr_wait *wait, uint32_t first, int64_t end, xsv_rank_piece piece,
                void *user) {
    int rc = XS_OK;
    for (uint32_t at = first; at && !rc; at = p->pieces[at].next) {
        int64_t until = p->pieces[at].end < end ? p->pieces[at].end : end;
        if (until > p->pieces[at].begin)
            rc = piece(user, wait, p->pieces[at].begin, until);
    }
    return rc;
}

int xsv_rank_waits_settle(xsv_rank_pieces *p, const xsr_wait *wait, int64_t end, xsv_rank_piece piece, void *user) {
    if (wait->start_event == XSR_NO_ID)
        return XS_OK; /* its start is lost: how long it was open is not known */
    int rc = xsv_waiting_close(p->waiting, wait, end);
    uint64_t *ends = rc ? NULL : xsv_map_get(&p->of_wait, wait->start_event);
    if (!ends)
        return rc;
    uint32_t first = (uint32_t)(*ends >> 32), last = (uint32_t)*ends;
    if (xsv_rank_waits_supplier(p, wait) != p->suppliers.model->ranks[wait->rank].rank)
        rc = tell(p, wait, first, end, piece, user);
    xsv_map_remove(&p->of_wait, wait->start_event);
    p->pieces[last].next = p->free_list;
    p->free_list = first;
    return rc;
}

void xsv_rank_waits_free(xsv_rank_pieces *p) {
    xsv_waiting_free(p->waiting);
    xsv_suppliers_free(&p->suppliers);
    xsv_map_free(&p->of_wait);
    free(p->pieces);
    *p = (xsv_rank_pieces){0};
}
