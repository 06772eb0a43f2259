/* The plan: who owes a slot. Declared entries by pad and place; where none was declared, the one writer seen. */
#include "internal.h"

static bool says_supplier(uint32_t kind) { return kind == XS_PLAN_WRITER || kind == XS_PLAN_HOST_SUPPLIER || kind == XS_PLAN_NO_ARRIVALS; }

static bool exact(const xs_plan_entry *e) { return e->owner < XS_PLAN_COLUMN && e->row < XS_PLAN_COLUMN && e->column < XS_PLAN_COLUMN; }

static uint64_t place_key(const xsr_model *m, uint32_t pad, uint32_t owner, uint32_t row, uint32_t column) {
    const xsr_pad *p = &m->pads[pad];
    return (uint64_t)pad << 40 | (uint32_t)((owner * p->rows + row) * p->columns + column);
}

/* The first entry of a place wins (HOST_SUPPLIER and WRITER rarely meet); entries with ANY are tried in order. */
int rd_plan_index_make(xsr_reader *reader) {
    const xsr_model *m = &reader->model;
    rd_plan_index *index = &reader->plan_index;
    for (uint32_t i = 0; i < reader->declared_plan; i++) {
        const xs_plan_entry *e = &m->plan[i].entry;
        if (m->plan[i].pad == XSR_NONE || !says_supplier(e->kind))
            continue;
        uint64_t key = exact(e) ? place_key(m, m->plan[i].pad, e->owner, e->row, e->column) : 0;
        if (exact(e) && rd_map_get(&index->exact, key) == XSR_NONE && rd_map_put(&index->exact, key, i) < 0)
            return XS_E_MEMORY;
        if (exact(e))
            continue;
        if (RD_ROOM(index->any, index->any_room, index->any_count + 1) < 0)
            return XS_E_MEMORY;
        index->any[index->any_count++] = i;
    }
    return 0;
}

static bool matches(uint32_t wanted, uint32_t have) { return wanted == XS_PLAN_ANY || wanted == have; }

static const xsr_plan *find_entry(const xsr_reader *reader, const xsr_slot *s) {
    const rd_plan_index *index = &reader->plan_index;
    uint32_t at = rd_map_get(&index->exact, place_key(&reader->model, s->pad, s->owner, s->row, s->column));
    if (at != XSR_NONE)
        return &reader->model.plan[at];
    for (uint32_t i = 0; i < index->any_count; i++) {
        const xsr_plan *p = &reader->model.plan[index->any[i]];
        if (p->pad == s->pad && matches(p->entry.owner, s->owner) && matches(p->entry.row, s->row) && matches(p->entry.column, s->column))
            return p;
    }
    return NULL;
}

void rd_plan_slot(xsr_reader *reader, uint32_t slot) {
    xsr_slot *s = &reader->model.slots[slot];
    const xsr_plan *p = find_entry(reader, s);
    if (!p)
        return;
    uint64_t rank = p->entry.a;
    if (p->entry.kind == XS_PLAN_HOST_SUPPLIER) {
        reader->slots[slot].host_supplier = true;
        return;
    }
    s->supplier_rank = rank == XS_PLAN_ROW ? s->row : rank == XS_PLAN_COLUMN ? s->column : rank == XS_PLAN_OWNER ? s->owner : (uint32_t)rank;
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
        xsr_plan row = {s->pad, {.kind = XS_PLAN_WRITER, .origin = XS_PLAN_INFERRED,
            .pad_first = rd_pad_first(reader, s->pad), .owner = s->owner, .row = s->row, .column = s->column, .epoch = UINT64_MAX,
            .a = s->supplier_rank, .b = s->supplier_role == XSR_NONE ? 0 : (uint64_t)s->supplier_role + 1}};
        if (rd_plan_append(reader, &row) < 0)
            return XS_E_MEMORY;
    }
    return 0;
}
