/* The plan: who owes a slot. Declared entries by pad and place; where none was declared, the one writer seen. */
#include "internal.h"

static bool says_supplier(uint32_t kind) {
    return kind == XS_PLAN_WRITER || kind == XS_PLAN_HOST_SUPPLIER || kind == XS_PLAN_NO_ARRIVALS;
}

#define SUPPLIER 0u /* all that says who supplies is one kind here */

/* The first entry of a place wins (HOST_SUPPLIER and WRITER rarely meet); of those that leave something open the
 * first one. */
int rd_plan_index_make(xsr_reader *reader) {
    const xsr_model *m = &reader->model;
    int rc = rd_planned_open(&reader->planned, m->pad_count);
    for (uint32_t i = 0; i < reader->declared_plan && rc == 0; i++)
        if (m->plan[i].pad != XSR_NONE && says_supplier(m->plan[i].entry.kind))
            rc = rd_planned_add(&reader->planned, &m->plan[i], SUPPLIER, UINT64_MAX, i);
    return rc;
}

void rd_plan_slot(xsr_reader *reader, uint32_t slot) {
    xsr_slot *s = &reader->model.slots[slot];
    uint32_t at = rd_planned_find(&reader->planned, s, SUPPLIER, UINT64_MAX);
    if (at == XSR_NONE)
        return;
    const xsr_plan *p = &reader->model.plan[at];
    uint64_t rank = p->entry.a;
    if (p->entry.kind == XS_PLAN_HOST_SUPPLIER) {
        reader->slots[slot].host_supplier = true;
        return;
    }
    s->supplier_rank = rank == XS_PLAN_ROW      ? s->row
                       : rank == XS_PLAN_COLUMN ? s->column
                       : rank == XS_PLAN_OWNER  ? s->owner
                                                : (uint32_t)rank;
    s->supplier_origin = p->entry.origin;
    if (p->entry.kind == XS_PLAN_WRITER && p->entry.b && p->entry.b <= reader->model.name_count)
        s->supplier_role = (uint32_t)p->entry.b - 1;
}

void rd_infer(xsr_reader *reader, const xsr_event *e) {
    rd_slot *in = &reader->slots[e->slot];
    xsr_slot *s = &reader->model.slots[e->slot];
    uint32_t rank = reader->model.ranks[e->rank].rank;
    if (in->conflict || in->is_shared || in->arrived)
        return;
    if (in->inferred_rank != XSR_NONE && in->inferred_rank != rank) {
        in->conflict = true;
        rank = XSR_NONE;
    }
    if (in->inferred_role != e->role)
        in->inferred_role = in->inferred_rank == XSR_NONE ? e->role : XSR_NONE;
    in->inferred_rank = rank;
    uint32_t role = rank == XSR_NONE ? XSR_NONE : in->inferred_role;
    if (s->supplier_origin != XS_PLAN_INFERRED || (s->supplier_rank == rank && s->supplier_role == role))
        return;
    s->supplier_rank = rank;
    s->supplier_role = role;
    rd_feed_slot(reader, e->slot);
}

uint32_t rd_pad_first(const xsr_reader *reader, uint32_t pad) {
    for (uint32_t p = 0; p < reader->model.process_count; p++)
        for (uint32_t i = 0; i < reader->processes[p].pad_count; i++)
            if (reader->processes[p].pads[i].pad == pad)
                return reader->processes[p].pads[i].first;
    return XS_PLAN_ANY;
}

int rd_plan_append(xsr_reader *reader, const xsr_plan *row) {
    xsr_model *m = &reader->model;
    if (RD_ROOM(m->plan, reader->room.plan, m->plan_count + 1) < 0)
        return XS_E_MEMORY;
    m->plan[m->plan_count++] = *row;
    return 0;
}

/* Inferred rows fill the same table as declared ones. */
int rd_infer_finish(xsr_reader *reader) {
    const xsr_model *m = &reader->model;
    for (uint32_t i = 0; i < m->slot_count; i++) {
        const xsr_slot *s = &m->slots[i];
        if (s->supplier_origin != XS_PLAN_INFERRED || s->supplier_rank == XSR_NONE)
            continue;
        xsr_plan row = {s->pad,
                        {.kind = XS_PLAN_WRITER,
                         .origin = XS_PLAN_INFERRED,
                         .pad_first = rd_pad_first(reader, s->pad),
                         .owner = s->owner,
                         .row = s->row,
                         .column = s->column,
                         .epoch = UINT64_MAX,
                         .a = s->supplier_rank,
                         .b = s->supplier_role == XSR_NONE ? 0 : (uint64_t)s->supplier_role + 1}};
        if (rd_plan_append(reader, &row) < 0)
            return XS_E_MEMORY;
    }
    return 0;
}
