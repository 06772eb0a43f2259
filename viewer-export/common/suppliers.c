#include "suppliers.h"

#include <stdlib.h>

#include "room.h"

xsv_supply xsv_supply_of(const xsv_suppliers *s, uint32_t slot) {
    return slot < s->room ? s->slots[slot] : (xsv_supply){XSR_NONE, XSR_NONE, XSR_NONE, XSR_NONE};
}

uint32_t xsv_slot_owes(const xsv_suppliers *s, uint32_t slot) {
    const xsr_slot *planned = &s->model->slots[slot];
    if (planned->supplier_rank != XSR_NONE)
        return planned->supplier_rank;
    xsv_supply seen = xsv_supply_of(s, slot);
    return seen.arrive_role != XSR_NONE ? planned->owner : seen.signal_rank;
}

uint32_t xsv_slot_role(const xsv_suppliers *s, uint32_t slot) {
    xsv_supply seen = xsv_supply_of(s, slot);
    if (seen.arrive_role != XSR_NONE)
        return seen.arrive_role;
    uint32_t planned = s->model->slots[slot].supplier_role;
    return planned != XSR_NONE || seen.signal_writer == XSR_NONE ? planned : s->model->writers[seen.signal_writer].role;
}

static void arrived(xsv_supply *slot, uint32_t rank, uint32_t role) {
    slot->arrive_role = role;
    slot->arrive_rank = slot->arrive_rank == XSR_NONE || slot->arrive_rank == rank ? rank : XSV_SEVERAL;
}

int xsv_suppliers_event(xsv_suppliers *s, const xsr_event *e) {
    int arrives = e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE;
    s->told = XSR_NONE;
    if (e->slot == XSR_NONE || e->rank >= s->model->rank_count)
        return XS_OK;
    if (!arrives && e->kind != XS_EV_SIGNAL && e->kind != XS_EV_WATERMARK)
        return XS_OK;
    if (xsv_room(&s->slots, &s->room, e->slot, sizeof *s->slots, 0xff)) /* all bits: XSR_NONE */
        return XS_E_MEMORY;
    uint32_t known = xsv_slot_role(s, e->slot), rank = s->model->ranks[e->rank].rank;
    if (arrives) {
        arrived(&s->slots[e->slot], rank, e->role);
    } else {
        s->slots[e->slot].signal_rank = rank;
        s->slots[e->slot].signal_writer = e->writer;
    }
    if (known == XSR_NONE && xsv_slot_role(s, e->slot) != XSR_NONE)
        s->told = e->slot;
    return XS_OK;
}

void xsv_suppliers_free(xsv_suppliers *s) {
    free(s->slots);
    *s = (xsv_suppliers){.model = s->model};
}
