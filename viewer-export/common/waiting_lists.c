#include "waiting_lists.h"

#include <stdlib.h>

#include "room.h"

static void list_add(xsv_waiting *o, xsv_list *l, enum xsv_chain c, uint32_t w) {
    o->pool[w].chain[c].before = l->last;
    o->pool[w].chain[c].after = 0;
    *(l->last ? &o->pool[l->last].chain[c].after : &l->first) = w;
    l->last = w;
}

static void list_remove(xsv_waiting *o, xsv_list *l, enum xsv_chain c, uint32_t w) {
    uint32_t before = o->pool[w].chain[c].before, after = o->pool[w].chain[c].after;
    *(before ? &o->pool[before].chain[c].after : &l->first) = after;
    *(after ? &o->pool[after].chain[c].before : &l->last) = before;
}

xsv_role_waits *xsv_role_find(const xsv_rank_waits *r, uint32_t role) {
    for (uint32_t i = 0; i < r->role_count; i++)
        if (r->roles[i].role == role)
            return &r->roles[i];
    return NULL;
}

static xsv_role_waits *role_of(xsv_rank_waits *r, uint32_t role) {
    xsv_role_waits *found = xsv_role_find(r, role);
    if (found)
        return found;
    xsv_role_waits *more = realloc(r->roles, (r->role_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->roles = more;
    more[r->role_count] = (xsv_role_waits){.role = role};
    return &more[r->role_count++];
}

/* By who releases it: another rank, a role of its own, or nobody knows yet. */
static int file_by_supplier(xsv_waiting *o, uint32_t w) {
    xsv_waiter *p = &o->pool[w];
    xsv_rank_waits *r = &o->ranks[p->rank];
    uint32_t role = p->remote ? XSR_NONE : xsv_slot_role(o->suppliers, p->slot);
    xsv_role_waits *supplier = role == XSR_NONE ? NULL : role_of(r, role);
    p->supplier = supplier ? role : XSR_NONE;
    if (supplier)
        list_add(o, &supplier->supplied, XSV_OF_SUPPLIER, w);
    else
        list_add(o, p->remote ? &r->remote : &r->unresolved, XSV_OF_RANK, w);
    return role == XSR_NONE || supplier ? XS_OK : XS_E_MEMORY;
}

static void unfile_by_supplier(xsv_waiting *o, uint32_t w) {
    xsv_waiter *p = &o->pool[w];
    xsv_rank_waits *r = &o->ranks[p->rank];
    if (p->supplier == XSR_NONE)
        list_remove(o, p->remote ? &r->remote : &r->unresolved, XSV_OF_RANK, w);
    else
        list_remove(o, &xsv_role_find(r, p->supplier)->supplied, XSV_OF_SUPPLIER, w);
}

int xsv_waiter_resolve(xsv_waiting *o, uint32_t w) {
    unfile_by_supplier(o, w);
    return file_by_supplier(o, w);
}

uint32_t xsv_waiter_add(xsv_waiting *o, const xsv_waiter *wait) {
    uint32_t w = o->pool_free ? o->pool_free : o->pool_used + 1;
    xsv_role_waits *role = role_of(&o->ranks[wait->rank], wait->role);
    if (!role || xsv_room(&o->pool, &o->pool_room, w, sizeof *o->pool, 0))
        return 0;
    if (o->pool_free)
        o->pool_free = o->pool[w].chain[XSV_OF_WRITER].after;
    else
        o->pool_used = w;
    o->pool[w] = *wait;
    list_add(o, &o->writers[wait->writer], XSV_OF_WRITER, w);
    list_add(o, &role->own, XSV_OF_ROLE, w);
    o->ranks[wait->rank].open++;
    return file_by_supplier(o, w) ? 0 : w;
}

void xsv_waiter_remove(xsv_waiting *o, uint32_t w) {
    xsv_waiter *p = &o->pool[w];
    unfile_by_supplier(o, w);
    list_remove(o, &xsv_role_find(&o->ranks[p->rank], p->role)->own, XSV_OF_ROLE, w);
    list_remove(o, &o->writers[p->writer], XSV_OF_WRITER, w);
    o->ranks[p->rank].open--;
    p->chain[XSV_OF_WRITER].after = o->pool_free;
    o->pool_free = w;
}
